"""The log that a crash left beside a project, when somebody has put a copy of the project back since.

SQLite plays whatever log (p.ask-wal) is beside a file. Played over a copy that was put back, it damages it, or brings back
what was meant to be gone. So every commit has a name that is drawn at random, and also says the name of the one before it.
A log belongs to the file if the commit that the file is at, without the log, is the one before the log's first or one of the
log's own; this holds also when a part of the log is in the file already. A name begins with SQLite's number of the layout,
which ``.backup`` and ``VACUUM INTO`` change in the copies they make: they say the name of a commit, and are not its file.

In doubt (an older program wrote the log, the file cannot be read without it) the log is played: nothing that was
acknowledged may be lost.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from askgraph.errors import BusyError, FileError
from askgraph.support.files import straight
from askgraph.workbench.schema import LAYOUT, NAMED, NOTHING, version
from askgraph.workbench.writer_lock import WriterLock

log = logging.getLogger("askgraph")
WAIT = 1.0  # seconds for another reader that looks at the same log; a writer takes longer
MAGIC = (0x377F0682, 0x377F0683)
HEADER, FRAME = 32, 24  # bytes before the frames, and before the page in each
SIZES = tuple(2**k for k in range(9, 17))  # of a page
LEAF_OF_ONE = re.compile(rb"\x0d..\x00\x01...(..)", re.DOTALL)  # the page of a table with one row, and where that is
ROW = re.compile(rb"\x44\x01\x04\x00\x4d\x4d([0-9a-f]{32})([0-9a-f]{32})")  # the row of commits, as SQLite writes it
NAME = re.compile(r"[0-9a-f]{32}")


class State(NamedTuple):
    """Where a file is: its last commit, and its layout as SQLite counts it."""

    commit: str
    layout: str


def put_old_log_aside(path: str | os.PathLike[str], held: bool) -> None:
    """Rename the log beside a project if it is not the file's own; ``held`` where the caller holds the writer's lock.

    Nobody else writes meanwhile: a log that somebody has just begun would look like an old one.
    """
    file = Path(path).resolve()
    if not _is_strange(file):
        return
    if held:
        _rename(file)
        return
    lock = WriterLock(file)
    try:
        _take(lock, file)
        if _is_strange(file):
            _rename(file)
    except BusyError:  # the log is that of a writer at work, caught between two looks
        return
    finally:
        lock.release()


def dated(path: str | os.PathLike[str]) -> Path:
    """Name a file anew, as old at this time."""
    return Path(f"{os.fspath(path)}.{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.old")


def _take(lock: WriterLock, file: Path) -> None:
    try:
        lock.take(WAIT)
    except BusyError:
        raise
    except FileError as error:
        raise _stuck(file, str(error)) from None


def _rename(file: Path) -> None:
    old, aside = Path(f"{file}-wal"), dated(f"{file}-wal")
    try:
        old.rename(aside)
        Path(f"{file}-shm").unlink(missing_ok=True)  # it says where to find what in that log
    except OSError as error:
        raise _stuck(file, str(error.strerror)) from None
    log.warning(
        "%s: a copy was put back, and beside it was the log of the file that it replaced; the copy is opened as it is, and "
        "the log is kept as %s",
        file,
        aside.name,
    )


def _stuck(file: Path, why: str) -> FileError:
    return FileError(
        f"{file}: a copy that was put back, and beside it the log of the file that it replaced, which cannot be renamed "
        f"({why}); copy {file.name}, without {file.name}-wal, to where you may write"
    )


def _is_strange(file: Path) -> bool:
    """Whether there is a log beside this file that is certainly not its own."""
    try:
        with open(f"{file}-wal", "rb", opener=straight) as old:
            if not os.fstat(old.fileno()).st_size:
                return False
            state = _state(file)
            return state is not None and not _goes_on(old, state)
    except OSError:  # it has just gone, or is not to be read: SQLite will say so
        return False


def _state(file: Path) -> State | None:
    """Read where a file is without its log; None where it is no project, or cannot be read so."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            db.execute("PRAGMA trusted_schema = OFF")
            commit, ((layout,),) = NOTHING, db.execute(f"SELECT {LAYOUT}").fetchall()
            if version(db, file) >= NAMED:
                ((commit,),) = db.execute("SELECT this FROM commits").fetchall()
            return State(commit, layout) if NAME.fullmatch(commit) else None
    except (sqlite3.Error, FileError, ValueError, TypeError):
        return None


def _goes_on(old: BinaryIO, state: State) -> bool:
    """Whether a log goes on from where a file is; one that does not say is taken to."""
    commits, layouts = set(), set()
    for number, page in _pages(old):
        if number == 1:
            layouts.add(page[40:44].hex())
        if names := _names(page):
            commits |= names
            layouts |= {name[:8] for name in names}
        if state.commit in commits and (state.layout in layouts or state.commit == NOTHING):
            return True
    return not commits


def _pages(old: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Read the numbers and pages of a log in the order they were written; what an earlier round left behind them is not read."""
    header = old.read(HEADER)
    size = int.from_bytes(header[8:12])
    if int.from_bytes(header[:4]) not in MAGIC or size not in SIZES:
        return
    while len(frame := old.read(FRAME + size)) == FRAME + size and frame[8:16] == header[16:24]:
        yield int.from_bytes(frame[:4]), frame[FRAME:]


def _names(page: bytes) -> set[str]:
    """Read the names of a commit and the one before it from the page that holds them; nothing from any other."""
    leaf = LEAF_OF_ONE.match(page)
    row = ROW.match(page, int.from_bytes(leaf[1])) if leaf else None
    return {name.decode() for name in row.groups()} if row else set()
