"""The SQLite file of a project: how it is opened and made durable, what lies beside it, and what its errors say."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from askgraph.errors import AskgraphError, BusyError, FileError, FullError
from askgraph.support.files import name_odd_file
from askgraph.workbench.backup_files import restore_advice

BUSY_SECONDS = 10  # how long SQLite waits for a lock before it reports that the file is locked
DISK_FULL = ("database or disk is full", "disk I/O error")  # words of SQLite's messages
NOT_WRITABLE = ("readonly", "read-only", "locked", "unable to open")
DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SIDE_FILES = ("-wal", "-shm", "-journal")  # files that SQLite keeps beside a database


def connect(path: str | os.PathLike[str], write: bool) -> sqlite3.Connection:
    """Return a connection that syncs every commit to the disk, or one that cannot write."""
    mode = "rw" if write else "ro&immutable=1" if _is_read_only(Path(path)) else "ro"
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        if write:
            make_durable(db)
    except BaseException:
        db.close()
        raise
    return db


def _is_read_only(path: Path) -> bool:
    """Return whether the folder cannot be written and no log is there: SQLite must then do without side files."""
    return not os.access(path.absolute().parent, os.W_OK) and not Path(f"{path}-wal").exists()


def remove_empty_log(path: Path) -> None:
    """Remove the empty log that a connection leaves that only reads: SQLite does so when the last one closes that may write.

    Only SQLite knows whether somebody else has the file open; then, or in a folder that cannot be written, the log stays.
    """
    log = Path(f"{path}-wal")
    with suppress(OSError, sqlite3.Error):
        if log.stat().st_size == 0:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0)) as db:
                db.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def make_durable(db: Any) -> None:
    """Set a connection up so that committed answers survive a crash of the machine."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")


@contextmanager
def naming_errors(path: object) -> Iterator[None]:
    """Raise errors of SQLite and the system as ``BusyError``, ``FullError`` or ``FileError`` that name the file."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # a message that quotes damaged text may not decode
        said = str(error)
        if any(words in said for words in DISK_FULL):
            raise FullError(
                f"{path}: the disk is full or fails ({said}); make room and try again, no saved answer is lost"
            ) from None
        if any(words in said for words in NOT_WRITABLE):
            raise BusyError(
                f"{path}: cannot be written now ({said}); if the file or its folder is read-only, copy it to where you may write"
            ) from None
        raise FileError(f"{path}: cannot be read as an askgraph project ({said}); {restore_advice(path)}") from None
    except OSError as error:
        kind = FullError if error.errno in DISK_FULL_ERRNOS else FileError
        raise kind(f"{path}: cannot be written ({error.strerror}); choose another place") from None


@contextmanager
def reporting_damage(path: object) -> Iterator[None]:
    """Raise a ``FileError`` that reports damage where stored values cannot be decoded."""
    try:
        yield
    except AskgraphError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(f"{path}: damaged ({error!r}); {restore_advice(path)}") from None


class Place(NamedTuple):
    """A file on the disk: which one it is, and what changes when somebody writes to it."""

    device: int
    number: int
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Place | None:
        """Return the place of the file at a path; None if there is none."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def is_same_file(self, other: Place | None) -> bool:
        """Return whether both are one file, whatever was written to it."""
        return other is not None and self[:2] == other[:2]


def refuse_links(path: Path) -> None:
    """Raise an error for a project by two names, which would have two logs, and for links where SQLite keeps its files."""
    if os.stat(path).st_nlink > 1:
        raise FileError(
            f"{path}: has another name too (a hard link), under which it would get another log; remove one of the names, or "
            "replace one by a copy"
        )
    for beside in (Path(f"{path}{name}") for name in SIDE_FILES):
        if kind := name_odd_file(beside):
            raise FileError(f"{beside}: is {kind}, but must be a file that SQLite made; remove it, and try again")
    journal = Path(f"{path}-journal")
    if journal.exists() and journal.stat().st_size:
        raise FileError(
            f"{journal}: the log of another program, which would be played over the project; if that program wrote to it, open "
            "it there once, else move the log away"
        )


def find_damage(rows: Callable[[str], Iterable[Any]]) -> str | None:
    """Run SQLite's integrity check; return what it finds wrong, or None."""
    found = [line for (line,) in rows("PRAGMA integrity_check(5)")]
    return None if found == ["ok"] else "; ".join(found)


def remove_side_files(path: str | os.PathLike[str]) -> None:
    """Remove side files of an earlier database of this name: SQLite would take them for those of the new one."""
    for name in SIDE_FILES:
        Path(f"{os.fspath(path)}{name}").unlink(missing_ok=True)
