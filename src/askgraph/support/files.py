"""Files that are written whole or not at all, locked, and never opened through a link that somebody has put in the way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

AT = 2**30  # the byte that Windows locks, beyond anything written


@contextmanager
def replacing(path: str | os.PathLike[str], part: Path | None = None, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a new file beside this one; it takes its place when all went well, and goes when not.

    What is there by the name of the part (left by a program that was killed, or a link that leads elsewhere) is removed,
    never opened: a link's target stays as it is.
    """
    part = Path(f"{os.fspath(path)}.part") if part is None else part
    part.unlink(missing_ok=True)
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def straight(path: str, flags: int) -> int:
    """Open what is there by this very name, as an ``opener``: without following a link, or waiting at a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)


def locked(file: BinaryIO, shared: bool = False) -> bool:
    """Try to lock an open file, where the system can also together with others; it stays locked until it is closed."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(AT)
            getattr(msvcrt, "locking")(file.fileno(), getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009 -- not there elsewhere
            file.seek(0)
        else:
            import fcntl

            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
