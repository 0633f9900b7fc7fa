"""One SQLite file: the items, their graph, the settings, and an append-only log of answers."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import AskgraphError, BusyError, FileError, FullError
from askgraph.graph import Graph
from askgraph.learner.features import Features
from askgraph.support.files import replacing
from askgraph.support.memory import fits
from askgraph.types import AnyArray
from askgraph.workbench.answers import Answer, Kind
from askgraph.workbench.cells import is_storable
from askgraph.workbench.items import Items
from askgraph.workbench.old_log import put_old_log_aside
from askgraph.workbench.schema import APPLICATION, NAME_COMMIT, NAMED, upgrade, version

PART_BYTES = 2**25  # a larger array is stored in several rows
ITEMS_PER_READ = 1000  # a slow reader of all items releases the file after each batch, so that SQLite can empty its log
BUSY_SECONDS = 10  # how long SQLite waits for a lock before it reports that the file is locked
TYPES = ("int32", "int64", "float32", "float64")
LOG = "seq, key, who, at, kind, item, label, seconds, undoes, predicted"
DISK_FULL = ("database or disk is full", "disk I/O error")  # words of SQLite's messages
NOT_WRITABLE = ("readonly", "read-only", "locked", "unable to open")
DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FEATURES = {True: "features", False: "features later"}  # those that count from the first label, and those that may not
SIDE_FILES = ("-wal", "-shm", "-journal")  # files that SQLite keeps beside a database
RESTORE = "restore it from a copy with askgraph restore COPY"


class Item(NamedTuple):
    """One item as it is stored: its place in the graph, its id, the fields to show, the file name of its image."""

    place: int
    id: str
    fields: dict[str, Any]
    image: str | None


class Store:
    """An open project file; who opens it to write must hold the writer's lock."""

    def __init__(self, path: str | os.PathLike[str], connection: Any) -> None:
        self.path = Path(path)
        self._db = connection
        with _naming_errors(path):  # a file of an earlier version that is only read has no such column
            columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(answers)").fetchall()]
        self._log = LOG if "predicted" in columns else LOG.replace("predicted", "NULL")

    @classmethod
    def create(cls, path: str | os.PathLike[str], items: Items, graph: Graph, about: dict[str, Any]) -> None:
        """Make a new file; raise an error if one exists already, and leave none if this fails."""
        if Path(path).exists():
            raise FileError(f"{path}: is there already; open it, or choose another name with -o")
        with _naming_errors(path), replacing(path, mode=0o644) as file:
            file.close()  # the file exists now and is ours; SQLite opens it by its name
            _remove_side_files(file.name)
            _fill(Path(file.name), items, graph, about)
            _remove_side_files(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str], write: bool = False) -> Store:
        """Open an existing file to read it, or to write it while holding the writer's lock."""
        if not Path(path).is_file():
            raise FileError(f"{path}: no such project; make one with askgraph init")
        with _naming_errors(path):
            put_old_log_aside(path, held=write)
            with closing(connect(path, write=False)) as db:
                found = version(db, path)  # before anything is written: a file of another program stays unchanged
            db = connect(path, write)
            try:
                if write:
                    upgrade(db, found)
                store = cls(path, db)
                if write:
                    store._part_from_copies()
            except BaseException:
                db.close()
                raise
            return store

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def about(self) -> dict[str, Any]:
        """The settings, and how the project was made."""
        with reporting_damage(self.path):
            return {name: json.loads(value) for name, value in self._rows("SELECT name, value FROM about")}

    @property
    def n_items(self) -> int:
        """The number of items."""
        ((n, first, last),) = self._rows("SELECT count(*), min(place), max(place) FROM items")
        if n and (first, last) != (0, n - 1):
            raise FileError(f"{self.path}: {n} items in places {first} to {last}; {RESTORE}")
        return int(n)

    def append(self, answers: Sequence[Answer]) -> list[Answer]:
        """Write answers to the log, all or none, except those whose key is there already; return them as logged."""
        with self._transaction():
            return [self._append_one(answer) for answer in answers]

    def answers(self, after: int = 0) -> list[Answer]:
        """Return the lines of the log after line ``after``."""
        return [
            _answer(*row) for row in self._rows(f"SELECT {self._log} FROM answers WHERE seq > ? ORDER BY seq", after)
        ]

    def logged(self, key: str) -> Answer | None:
        """Return the answer that has this key, or None."""
        found = self._rows(f"SELECT {self._log} FROM answers WHERE key = ?", key)
        return _answer(*found[0]) if found else None

    def place(self, id: str) -> int | None:
        """Return the place of an item in the graph, or None."""
        found = self._rows("SELECT place FROM items WHERE id = ?", id)
        return int(found[0][0]) if found else None

    def items(self, places: Iterable[int]) -> list[Item]:
        """Return the items at some places, in the order given."""
        query = "SELECT place, id, fields, image FROM items WHERE place IN (SELECT value FROM json_each(?))"
        with reporting_damage(self.path):
            wanted = [int(place) for place in places]
            found = {row[0]: _item(*row) for row in self._rows(query, json.dumps(wanted))}
            return [found[place] for place in wanted]

    def ids(self) -> list[str]:
        """Return all ids in the order of places."""
        return [id for (id,) in self._rows("SELECT id FROM items ORDER BY place")]

    def every(self) -> Iterator[Item]:
        """Yield all items in the order of places."""
        for start in range(0, n := self.n_items, ITEMS_PER_READ):
            yield from self.items(range(start, min(start + ITEMS_PER_READ, n)))

    def search(self, text: str) -> list[int]:
        """Return the places of the items that hold this text in their id or a field."""
        if not is_storable(text):
            return []
        inside = "EXISTS (SELECT 1 FROM json_each(items.fields) WHERE instr(lower(value), lower(?1)))"
        query = f"SELECT place FROM items WHERE instr(lower(id), lower(?1)) OR {inside} ORDER BY place"
        return [place for (place,) in self._rows(query, text)]

    def by_field(self, name: str) -> list[int]:
        """Return the places of all items, sorted by a field."""
        value = "(SELECT value FROM json_each(items.fields) WHERE key = ?)"
        return [place for (place,) in self._rows(f"SELECT place FROM items ORDER BY {value}, place", name)]

    def graph(self) -> Graph:
        """Read the graph; its nodes are the places of the items."""
        return self._graph("")

    def _graph(self, kind: str) -> Graph:
        n = self.n_items
        with reporting_damage(self.path):
            indptr = self.array(f"{kind}indptr", n + 1)
            m = int(indptr[-1])
            fits(24.0 * m, f"{self.path}: its graph", "open it on a machine with more memory")
            W = csr_array((self.array(f"{kind}data", m), self.array(f"{kind}indices", m), indptr), shape=(n, n))
            W.check_format(full_check=True)  # compiled code does not check the indices
        try:
            return Graph(W)
        except AskgraphError as error:
            raise FileError(f"{self.path}: its graph is damaged ({error}); {RESTORE}") from None

    def features(self) -> Features | None:
        """Read the features beside the graph, or None where the file has none, as those of earlier versions."""
        n = self.n_items
        for from_start, name in FEATURES.items():
            with reporting_damage(self.path), suppress(KeyError):
                found = self.array(name)
                if found.size % n or not np.isfinite(found).all():
                    raise FileError(f"{self.path}: its features are damaged; {RESTORE}")
                return Features(found.reshape(n, -1), from_start, self._graph("given ") if from_start else None)
        return None

    def array(self, name: str, length: int | None = None) -> AnyArray:
        """Read a stored array; raise an error before unpacking it if its length is not the expected one."""
        ((parts, found),) = self._rows("SELECT count(*), sum(length) FROM arrays WHERE name = ?", name)
        if not parts:
            raise KeyError(name)
        if length not in (None, found):
            raise FileError(f"{self.path}: {name} has length {found}, not {length}; {RESTORE}")
        rows = self._rows("SELECT dtype, length, data FROM arrays WHERE name = ? ORDER BY part", name)
        return np.concatenate([_unpack(self.path, *row) for row in rows])

    def keep(self, name: str, array: AnyArray) -> None:
        """Store an array that can be computed again, and replace the stored one."""
        with self._transaction():
            self._execute("DELETE FROM arrays WHERE name = ?", name)
            _pack(self._db, name, array)

    def curve(self) -> list[tuple[int, float, float, float]]:
        """Return one (labels, expected error, low, high) per number of labels."""
        return self._rows("SELECT labels, value, low, high FROM curve ORDER BY labels")

    def add_to_curve(self, labels: int, value: float, low: float, high: float) -> None:
        """Store the expected error at a number of labels."""
        with self._transaction():
            self._execute("INSERT OR REPLACE INTO curve VALUES (?, ?, ?, ?)", labels, value, low, high)

    def damage(self) -> str | None:
        """Run SQLite's integrity check; return what it finds wrong, or None."""
        found = [line for (line,) in self._rows("PRAGMA integrity_check(5)")]
        return None if found == ["ok"] else "; ".join(found)

    def put_at(self, path: Path) -> None:
        """Write a copy of this file to ``path`` in one step, under a new commit name; keep the permissions there."""
        mode = (
            path.stat().st_mode & 0o777 if path.exists() else 0o644
        )  # who could read the old file can read the new one
        with _naming_errors(path), replacing(path, mode=mode) as file:
            file.close()
            _remove_side_files(file.name)
            with closing(sqlite3.connect(file.name, isolation_level=None)) as db:
                self._db.backup(db)
                make_durable(db)
                if version(db, path) >= NAMED:
                    db.execute(NAME_COMMIT)  # so that the log of the replaced file does not continue from here
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _part_from_copies(self) -> None:
        """Name a commit and bring it into the file itself: a copy made until now is then told from it, whatever the log holds."""
        with suppress(BusyError, FullError):  # what cannot be written can be read, and says so when an answer comes
            self._execute(NAME_COMMIT)
            self._rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _append_one(self, answer: Answer) -> Answer:
        if seen := self.logged(answer.key):
            return seen
        values = (answer.key, answer.who, answer.at or now(), *answer[4:])
        query = f"INSERT INTO answers ({LOG}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq, at"
        ((seq, at),) = self._rows(query, *values)
        return answer._replace(seq=seq, at=at)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._execute("BEGIN IMMEDIATE")
        try:
            ((before,),) = self._rows("SELECT total_changes()")
            yield
            self._execute(f"{NAME_COMMIT} WHERE total_changes() > ?", before)  # an empty commit gets no new name
            self._execute("COMMIT")
        except BaseException:
            if getattr(self._db, "in_transaction", False):
                self._db.execute("ROLLBACK")
            raise

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with _naming_errors(self.path):
            return list(self._db.execute(query, values).fetchall())

    def _execute(self, query: str, *values: Any) -> None:
        with _naming_errors(self.path):
            self._db.execute(query, values)


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


def make_durable(db: Any) -> None:
    """Set a connection up so that committed answers survive a crash of the machine."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")


def now() -> str:
    """Return the time in UTC, to the millisecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


@contextmanager
def _naming_errors(path: object) -> Iterator[None]:
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
        raise FileError(f"{path}: cannot be read as an askgraph project ({said}); {RESTORE}") from None
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
        raise FileError(f"{path}: damaged ({error!r}); {RESTORE}") from None


def _answer(seq: int, key: str, who: str, at: str, kind: Kind, item: int, label: str | None, *rest: Any) -> Answer:
    """Return a line of the log, with repeated texts interned to save memory."""
    name = None if label is None else sys.intern(label)
    return Answer(seq, key, sys.intern(who), at, sys.intern(kind), item, name, *rest)  # type: ignore[arg-type]  # still a Kind


def _item(place: int, id: str, fields: str, image: str | None) -> Item:
    return Item(place, id, dict(json.loads(fields)), image)


def _remove_side_files(path: str | os.PathLike[str]) -> None:
    """Remove side files of an earlier database of this name: SQLite would take them for those of the new one."""
    for name in SIDE_FILES:
        Path(f"{os.fspath(path)}{name}").unlink(missing_ok=True)


def _fill(part: Path, items: Items, graph: Graph, about: dict[str, Any]) -> None:
    db = sqlite3.connect(part, isolation_level=None)
    try:
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        upgrade(db, 0)
        db.execute("BEGIN")
        db.executemany("INSERT INTO about VALUES (?, ?)", [(name, json.dumps(value)) for name, value in about.items()])
        images = items.images or [None] * len(items.ids)
        rows = ((k, id, json.dumps(items.row(k), ensure_ascii=False), images[k]) for k, id in enumerate(items.ids))
        db.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", rows)
        for name in ("data", "indices", "indptr"):
            _pack(db, name, getattr(graph.weights, name))
        if items.features is not None:
            _pack(db, FEATURES[items.features.from_start], items.features.columns.ravel())
            if (given := items.features.given) is not None:
                for name in ("data", "indices", "indptr"):
                    _pack(db, f"given {name}", getattr(given.weights, name))
        imported = [(k, label) for k, label in enumerate(items.labels or []) if label]
        at = now()
        db.executemany(
            "INSERT INTO answers (key, who, at, kind, item, label) VALUES (?, 'import', ?, 'label', ?, ?)",
            ((f"import-{k}", at, k, label) for k, label in imported),
        )
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")
    finally:
        db.close()


def _pack(db: Any, name: str, array: AnyArray) -> None:
    step = PART_BYTES // array.dtype.itemsize
    for part, start in enumerate(range(0, max(array.size, 1), step)):
        some = np.ascontiguousarray(array[start : start + step])
        little = some.astype(some.dtype.newbyteorder("<"), copy=False)
        packed = zlib.compress(little.tobytes(), 1)
        db.execute("INSERT INTO arrays VALUES (?, ?, ?, ?, ?)", (name, part, some.dtype.name, some.size, packed))


def _unpack(path: Path, dtype: str, length: int, data: bytes) -> AnyArray:
    """Return one part of an array; raise an error if it does not have the stated length."""
    if dtype not in TYPES or not 0 <= length * np.dtype(dtype).itemsize <= PART_BYTES:
        raise FileError(f"{path}: an array of type {dtype} and length {length} does not belong there; {RESTORE}")
    size = length * np.dtype(dtype).itemsize
    try:
        raw = zlib.decompressobj().decompress(data, size + 1)
    except zlib.error as error:
        raise FileError(f"{path}: an array is damaged ({error}); {RESTORE}") from None
    if len(raw) != size:
        raise FileError(f"{path}: an array is not of the length that the file says; {RESTORE}")
    return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)
