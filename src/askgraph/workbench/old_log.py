"""Detect a write-ahead log that a crash left beside a project whose file was replaced by a copy since.

SQLite replays any log (p.ask-wal) that lies beside a file. A log replayed over a copy that was put back damages the copy, or
brings back answers that were meant to be gone. So every commit has a random name, and stores the name of the commit before
it. A log belongs to the file if the last commit in the file, without the log, is the one before the log's first commit or
one of the log's own; this also holds when a part of the log is in the file already. A commit name begins with SQLite's
schema number, which ``.backup`` and ``VACUUM INTO`` change in the copies they make: such a copy holds the name of a commit
that another file made.

In doubt (an older program wrote the log, or the file cannot be read without it) the log is replayed: no answer that was
acknowledged may be lost.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from askgraph.errors import BusyError, FileError
from askgraph.support.files import open_no_follow
from askgraph.workbench.schema import LAYOUT, NAMED, NO_COMMIT, version
from askgraph.workbench.writer_lock import RETRY_SECONDS, WriterLock

log: logging.Logger = logging.getLogger("askgraph")
LOCK_SECONDS = 10.0  # another program that puts the same log aside is done by then, on a busy machine too
MAGIC = (0x377F0682, 0x377F0683)  # the first four bytes of a log
HEADER_BYTES, FRAME_BYTES = 32, 24  # before the first frame, and before the page in each frame
PAGE_BYTES = tuple(2**k for k in range(9, 17))  # the page sizes that SQLite allows
LEAF_OF_ONE = re.compile(rb"\x0d..\x00\x01...(..)", re.DOTALL)  # the page of a table with one row, and the row's offset
ROW = re.compile(
    rb"\x44\x01\x04\x00\x4d\x4d([0-9a-f]{32})([0-9a-f]{32})"
)  # the row of table commits, as SQLite writes it
NAME = re.compile(r"[0-9a-f]{32}")


class State(NamedTuple):
    """The last commit of a file, and its schema number as SQLite counts it."""

    commit: str
    layout: str


def put_old_log_aside(path: str | os.PathLike[str], held: bool) -> None:
    """Rename the log beside a project if it belongs to another file; ``held`` says that the caller holds the writer's lock.

    The lock is needed because a log that a writer has just begun would look like an old one.
    """
    file = Path(path).resolve()
    if not _is_foreign(file):
        return
    if held:
        _rename(file)
        return
    end = time.monotonic() + LOCK_SECONDS
    while not _put_aside_unless_held(file) and _is_foreign(file) and time.monotonic() < end:
        time.sleep(RETRY_SECONDS)  # whoever holds the lock puts the log aside, or has begun one of its own


def holds_commit(file: Path, commit: str) -> bool:
    """Return whether a file without its log holds this commit, or one from which the log beside it continues."""
    state = _read_state(file)
    try:
        with open(f"{file}-wal", "rb", opener=open_no_follow) as beside:
            return state is not None and (state.commit == commit or _continues(beside, state, without_names=False))
    except OSError:
        return state is not None and state.commit == commit


def dated_name(path: str | os.PathLike[str]) -> Path:
    """Return the name that a file is kept under when it is replaced now."""
    return Path(f"{os.fspath(path)}.{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.old")


def _put_aside_unless_held(file: Path) -> bool:
    """Rename a log of another file; return False if somebody holds the writer's lock."""
    lock = WriterLock(file)
    try:
        lock.take(wait=0)
    except BusyError:
        return False
    except FileError as error:
        raise _cannot_rename(file, str(error)) from None
    try:
        if _is_foreign(file):
            _rename(file)
    finally:
        lock.release()
    return True


def _rename(file: Path) -> None:
    old, aside = Path(f"{file}-wal"), dated_name(f"{file}-wal")
    try:
        old.rename(aside)
        Path(f"{file}-shm").unlink(missing_ok=True)  # the index of that log
    except OSError as error:
        raise _cannot_rename(file, str(error.strerror)) from None
    log.warning(
        "%s: a copy was put back, and beside it was the log of the file that it replaced; the copy is opened without the "
        "log, which is kept as %s",
        file,
        aside.name,
    )


def _cannot_rename(file: Path, why: str) -> FileError:
    return FileError(
        f"{file}: a copy was put back, and the log of the file that it replaced lies beside it and cannot be renamed "
        f"({why}); copy {file.name}, without {file.name}-wal, to where you may write"
    )


def _is_foreign(file: Path) -> bool:
    """Return whether there is a log beside this file that certainly belongs to another one."""
    try:
        with open(f"{file}-wal", "rb", opener=open_no_follow) as old:
            if not os.fstat(old.fileno()).st_size:
                return False
            state = _read_state(file)
            return state is not None and not _continues(old, state)
    except OSError:  # it is gone, or cannot be read: SQLite will report it
        return False


def _read_state(file: Path) -> State | None:
    """Read the last commit of a file without its log; None if it is not a project, or cannot be read without the log."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            db.execute("PRAGMA trusted_schema = OFF")
            commit, ((layout,),) = NO_COMMIT, db.execute(f"SELECT {LAYOUT}").fetchall()
            if version(db, file) >= NAMED:
                ((commit,),) = db.execute("SELECT this FROM commits").fetchall()
            return State(commit, layout) if NAME.fullmatch(commit) else None
    except (sqlite3.Error, FileError, ValueError, TypeError):
        return None


def _continues(old: BinaryIO, state: State, without_names: bool = True) -> bool:
    """Return whether a log continues from the last commit of a file; ``without_names`` is the reply for one without names."""
    commits, layouts = set(), set()
    for number, page in _read_pages(old):
        if number == 1:
            layouts.add(page[40:44].hex())
        if names := _commit_names(page):
            commits |= names
            layouts |= {name[:8] for name in names}
        if state.commit in commits and (state.layout in layouts or state.commit == NO_COMMIT):
            return True
    return without_names and not commits


def _read_pages(old: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield page numbers and pages of a log as they were written; stop at frames left over from an earlier use of the log."""
    header = old.read(HEADER_BYTES)
    size = int.from_bytes(header[8:12])
    if int.from_bytes(header[:4]) not in MAGIC or size not in PAGE_BYTES:
        return
    while len(frame := old.read(FRAME_BYTES + size)) == FRAME_BYTES + size and frame[8:16] == header[16:24]:
        yield int.from_bytes(frame[:4]), frame[FRAME_BYTES:]


def _commit_names(page: bytes) -> set[str]:
    """Return the names of a commit and of the one before it if the page holds them, else nothing."""
    leaf = LEAF_OF_ONE.match(page)
    row = ROW.match(page, int.from_bytes(leaf[1])) if leaf else None
    return {name.decode() for name in row.groups()} if row else set()
