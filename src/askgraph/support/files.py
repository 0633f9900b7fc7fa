"""Files that are written whole or not at all, read with errors that name them, locked, and not opened through links."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from askgraph.errors import AskgraphError, FileError

LOCKED_BYTE = 2**30  # position of the one byte that Windows locks, beyond anything written
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)  # Windows has none
UNSAFE = re.compile(
    r'[\x00-\x1f\x7f<>:"/\\|?*\u202a-\u202e\u2066-\u2069\ud800-\udfff]'
)  # in no name of a file, on any system
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # names that Windows keeps for devices
LONGEST_NAME = 150  # bytes of the name of a file that is made up here: with what is added to it, every system takes it
LONGEST_SUFFIX = 10  # characters after the last dot of a name, else they are not its suffix
LINK, MANY_NAMES = "a link", "a file of several names (a hard link)"
MAX_UNPACKED_BYTES, MAX_RATIO = 2**26, 200  # a file that unpacks to more bytes and to more times its size is refused


@contextmanager
def replacing(path: str | os.PathLike[str], part: Path | None = None, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a new file ``part`` for writing; it replaces ``path`` if the block succeeds, and is removed if not.

    A plain file named like ``part``, left by a program that was killed, is removed; a link there is refused, never followed.
    """
    part = Path(f"{os.fspath(path)}.part") if part is None else part
    if (kind := name_odd_file(part)) in (LINK, MANY_NAMES):
        raise FileError(f"{part}: is {kind}, where a file is to be written; remove it, and try again")
    part.unlink(missing_ok=True)
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags | NO_FOLLOW, mode)) as file:
            yield file
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def reading(path: str | os.PathLike[str], kind: str, advice: str) -> Iterator[None]:
    """Raise `FileError` with the path for any other error in the block: a damaged file makes parsers fail in many ways.

    ``kind`` is the file format, ``advice`` says what to do about a damaged file.
    """
    try:
        yield
    except AskgraphError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno:
            raise FileError(f"{path}: cannot be read ({os.strerror(error.errno)}); check the path") from None
        raise FileError(f"{path}: not readable as {kind} ({str(error) or type(error).__name__}); {advice}") from None


def check_unpacked_size(path: str | os.PathLike[str], packed: int, unpacked: int, advice: str) -> None:
    """Raise `FileError` if a file would unpack to far more bytes than it has."""
    if unpacked > MAX_UNPACKED_BYTES and unpacked > MAX_RATIO * packed:
        raise FileError(f"{path}: {packed} bytes would unpack to {unpacked}; {advice}")


def name_odd_file(path: Path) -> str | None:
    """Return what lies at this path if it is not a plain file of one name, else None."""
    try:
        found = path.lstat()
    except OSError:
        return None
    if stat.S_ISREG(found.st_mode):
        return MANY_NAMES if found.st_nlink > 1 else None
    return {stat.S_IFLNK: LINK, stat.S_IFDIR: "a folder"}.get(stat.S_IFMT(found.st_mode), "a pipe or a device")


def safe_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name for a file or a folder that every system takes, and that leads to no other folder.

    Of one with more than ``longest`` bytes, the end before the suffix is left out.

    >>> safe_name("a/b: c?"), safe_name(".."), safe_name("nul.txt"), safe_name("a long name.csv", 10)
    ('a_b_ c_', '_', 'nul.txt_', 'a long.csv')
    """
    plain = UNSAFE.sub("_", name).strip(". ") or "_"
    plain = f"{plain}_" if RESERVED.fullmatch(plain) else plain
    stem, suffix = os.path.splitext(plain)
    if len(suffix) > LONGEST_SUFFIX:
        stem, suffix = plain, ""
    kept = stem.encode()[: longest - len(suffix.encode())].decode(errors="ignore")
    return plain if kept == stem else kept.rstrip(". ") + suffix


def open_no_follow(path: str, flags: int) -> int:
    """Open a file without following a link or waiting for a pipe; use it as the ``opener`` of ``open``."""
    return os.open(path, flags | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0), 0o600)


def try_lock(file: BinaryIO, shared: bool = False) -> bool:
    """Try to lock an open file until it is closed, and return whether that worked.

    On POSIX several programs can hold a ``shared`` lock at once; on Windows every lock is exclusive.
    """
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(LOCKED_BYTE)
            getattr(msvcrt, "locking")(file.fileno(), getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009 -- mypy knows it on Windows only
            file.seek(0)
        else:
            import fcntl

            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
