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
from askgraph.support.files import replacing
from askgraph.support.memory import fits
from askgraph.types import AnyArray
from askgraph.workbench.answers import Answer, Kind
from askgraph.workbench.items import Items, writable
from askgraph.workbench.old_log import put_old_log_aside
from askgraph.workbench.schema import APPLICATION, NAME_COMMIT, NAMED, upgrade, version

PART = 2**25  # bytes of an array in one row
SOME = 1000  # items read at a time: a reader that takes its time does not hold up the log
TYPES = ("int32", "int64", "float32", "float64")
LOG = "seq, key, who, at, kind, item, label, seconds, undoes"
FULL = ("database or disk is full", "disk I/O error")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps in files of its own
BUSY = ("readonly", "read-only", "locked", "unable to open")
RESTORE = "restore it from a copy with askgraph restore COPY"


class Item(NamedTuple):
    """One item as it is stored: its place in the graph, its id, what to show of it, its image."""

    place: int
    id: str
    fields: dict[str, Any]
    image: str | None


class Store:
    """A project file that is open; with ``write``, the caller holds the writer's lock."""

    def __init__(self, path: str | os.PathLike[str], connection: Any) -> None:
        self.path = Path(path)
        self._db = connection

    @classmethod
    def create(cls, path: str | os.PathLike[str], items: Items, graph: Graph, about: dict[str, Any]) -> None:
        """A new file, whole or not at all; one that is there stays."""
        if Path(path).exists():
            raise FileError(f"{path}: is there already; open it, or choose another name with -o")
        with _named(path), replacing(path, mode=0o644) as file:
            file.close()  # it is there, and ours: SQLite opens it by its name
            _clear_beside(file.name)
            _fill(Path(file.name), items, graph, about)
            _clear_beside(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str], write: bool = False) -> Store:
        """A file that is there, to read or, holding the writer's lock, to write."""
        if not Path(path).is_file():
            raise FileError(f"{path}: no such project; make one with askgraph init")
        with _named(path):
            put_old_log_aside(path, held=write)
            with closing(connect(path, write=False)) as db:
                found = version(db, path)  # seen before anything is written: what is not ours stays as it is
            store = cls(path, connect(path, write))
            try:
                if write:
                    upgrade(store._db, found)
                    store._part_from_copies()
            except BaseException:
                store.close()
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
        with sound(self.path):
            return {name: json.loads(value) for name, value in self._rows("SELECT name, value FROM about")}

    @property
    def n_items(self) -> int:
        """How many items."""
        ((n, first, last),) = self._rows("SELECT count(*), min(place), max(place) FROM items")
        if n and (first, last) != (0, n - 1):
            raise FileError(f"{self.path}: {n} items in places {first} to {last}; {RESTORE}")
        return int(n)

    def append(self, answers: Sequence[Answer]) -> list[Answer]:
        """Write answers to the log, all or none; one whose key is there already is not written again. Returns them as logged."""
        with self._transaction():
            return [self._appended(answer) for answer in answers]

    def answers(self, after: int = 0) -> list[Answer]:
        """The log from here on."""
        return [_answer(*row) for row in self._rows(f"SELECT {LOG} FROM answers WHERE seq > ? ORDER BY seq", after)]

    def logged(self, key: str) -> Answer | None:
        """The answer that has this key."""
        found = self._rows(f"SELECT {LOG} FROM answers WHERE key = ?", key)
        return _answer(*found[0]) if found else None

    def place(self, id: str) -> int | None:
        """Where an item is in the graph."""
        found = self._rows("SELECT place FROM items WHERE id = ?", id)
        return int(found[0][0]) if found else None

    def items(self, places: Iterable[int]) -> list[Item]:
        """Items by their places, in the order given."""
        query = "SELECT place, id, fields, image FROM items WHERE place IN (SELECT value FROM json_each(?))"
        with sound(self.path):
            wanted = [int(place) for place in places]
            found = {row[0]: _item(*row) for row in self._rows(query, json.dumps(wanted))}
            return [found[place] for place in wanted]

    def ids(self) -> list[str]:
        """All ids, by place."""
        return [id for (id,) in self._rows("SELECT id FROM items ORDER BY place")]

    def every(self) -> Iterator[Item]:
        """All items, by place."""
        for start in range(0, n := self.n_items, SOME):
            yield from self.items(range(start, min(start + SOME, n)))

    def search(self, text: str) -> list[int]:
        """The places of the items that hold this text in their id or a field."""
        if not writable(text):
            return []
        inside = "EXISTS (SELECT 1 FROM json_each(items.fields) WHERE instr(lower(value), lower(?1)))"
        query = f"SELECT place FROM items WHERE instr(lower(id), lower(?1)) OR {inside} ORDER BY place"
        return [place for (place,) in self._rows(query, text)]

    def by_field(self, name: str) -> list[int]:
        """The places of all items in the order of a field."""
        value = "(SELECT value FROM json_each(items.fields) WHERE key = ?)"
        return [place for (place,) in self._rows(f"SELECT place FROM items ORDER BY {value}, place", name)]

    def graph(self) -> Graph:
        """The graph, by the items' places."""
        n = self.n_items
        with sound(self.path):
            indptr = self.array("indptr", n + 1)
            m = int(indptr[-1])
            fits(24.0 * m, f"{self.path}: its graph", "open it on a larger machine")
            W = csr_array((self.array("data", m), self.array("indices", m), indptr), shape=(n, n))
            W.check_format(full_check=True)  # compiled code trusts the indices
        try:
            return Graph(W)
        except AskgraphError as error:
            raise FileError(f"{self.path}: its graph is damaged ({error}); {RESTORE}") from None

    def array(self, name: str, length: int | None = None) -> AnyArray:
        """A stored array; one that is not of the length it should be is refused before it is unpacked."""
        ((parts, found),) = self._rows("SELECT count(*), sum(length) FROM arrays WHERE name = ?", name)
        if not parts:
            raise KeyError(name)
        if length not in (None, found):
            raise FileError(f"{self.path}: {name} has length {found}, not {length}; {RESTORE}")
        rows = self._rows("SELECT dtype, length, data FROM arrays WHERE name = ? ORDER BY part", name)
        return np.concatenate([_unpacked(self.path, *row) for row in rows])

    def keep(self, name: str, array: AnyArray) -> None:
        """Store an array that can be computed again, in place of what is there."""
        with self._transaction():
            self._execute("DELETE FROM arrays WHERE name = ?", name)
            _pack(self._db, name, array)

    def curve(self) -> list[tuple[int, float, float, float]]:
        """How the expected error came down: labels, value, low, high."""
        return self._rows("SELECT labels, value, low, high FROM curve ORDER BY labels")

    def add_to_curve(self, labels: int, value: float, low: float, high: float) -> None:
        """The expected error at so many labels."""
        with self._transaction():
            self._execute("INSERT OR REPLACE INTO curve VALUES (?, ?, ?, ?)", labels, value, low, high)

    def damage(self) -> str | None:
        """What is wrong with the file itself, by SQLite's own check, or None."""
        found = [line for (line,) in self._rows("PRAGMA integrity_check(5)")]
        return None if found == ["ok"] else "; ".join(found)

    def put_at(self, path: Path) -> None:
        """Put all that is here in the place of another file, whole or not at all, and at a commit of its own."""
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644  # for the same people to read
        with _named(path), replacing(path, mode=mode) as file:
            file.close()
            _clear_beside(file.name)
            with closing(sqlite3.connect(file.name, isolation_level=None)) as db:
                self._db.backup(db)
                make_durable(db)
                if version(db, path) >= NAMED:
                    db.execute(NAME_COMMIT)  # the log of the file that was there does not go on from here
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _part_from_copies(self) -> None:
        """Name a commit and bring it into the file itself: a copy made until now is then told from it, whatever the log holds."""
        with suppress(BusyError, FullError):  # what cannot be written can be read, and says so when an answer comes
            self._execute(NAME_COMMIT)
            self._rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _appended(self, answer: Answer) -> Answer:
        if seen := self.logged(answer.key):
            return seen
        values = (answer.key, answer.who, answer.at or now(), *answer[4:])
        query = f"INSERT INTO answers ({LOG}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq, at"
        ((seq, at),) = self._rows(query, *values)
        return answer._replace(seq=seq, at=at)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._execute("BEGIN IMMEDIATE")
        try:
            ((before,),) = self._rows("SELECT total_changes()")
            yield
            self._execute(f"{NAME_COMMIT} WHERE total_changes() > ?", before)  # a commit of nothing stays one
            self._execute("COMMIT")
        except BaseException:
            if getattr(self._db, "in_transaction", False):
                self._db.execute("ROLLBACK")
            raise

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with _named(self.path):
            return list(self._db.execute(query, values).fetchall())

    def _execute(self, query: str, *values: Any) -> None:
        with _named(self.path):
            self._db.execute(query, values)


def connect(path: str | os.PathLike[str], write: bool) -> sqlite3.Connection:
    """A connection that syncs every commit to the disk, or one that cannot write."""
    mode = "rw" if write else "ro&immutable=1" if _frozen(Path(path)) else "ro"
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=10)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        if write:
            make_durable(db)
    except BaseException:
        db.close()
        raise
    return db


def _frozen(path: Path) -> bool:
    """Whether nobody can write here, and nothing is half-way: SQLite then needs no files of its own beside it."""
    return not os.access(path.absolute().parent, os.W_OK) and not Path(f"{path}-wal").exists()


def make_durable(db: Any) -> None:
    """What is committed stays, whatever happens to the machine."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")


def now() -> str:
    """The time, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


@contextmanager
def _named(path: object) -> Iterator[None]:
    """Whatever goes wrong below, in words."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # a message may quote what is damaged, and not be text itself
        said = str(error)
        if any(word in said for word in FULL):
            raise FullError(f"{path}: the disk is full or fails ({said}); make room, nothing is lost") from None
        if any(word in said for word in BUSY):
            raise BusyError(
                f"{path}: cannot be written now ({said}); is the file or its folder read-only? copy it to where you may write"
            ) from None
        raise FileError(f"{path}: not readable as an askgraph project ({said}); {RESTORE}") from None
    except OSError as error:
        kind = FullError if error.errno in NO_ROOM else FileError
        raise kind(f"{path}: cannot be written ({error.strerror}); choose another place") from None


@contextmanager
def sound(path: object) -> Iterator[None]:
    """What cannot be made sense of is damage."""
    try:
        yield
    except AskgraphError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(f"{path}: damaged ({error!r}); {RESTORE}") from None


def _answer(seq: int, key: str, who: str, at: str, kind: Kind, item: int, label: str | None, *rest: Any) -> Answer:
    """A line of the log; words that come again and again are kept once."""
    name = None if label is None else sys.intern(label)
    return Answer(seq, key, sys.intern(who), at, sys.intern(kind), item, name, *rest)  # type: ignore[arg-type]  # still a Kind


def _item(place: int, id: str, fields: str, image: str | None) -> Item:
    return Item(place, id, dict(json.loads(fields)), image)


def _clear_beside(path: str | os.PathLike[str]) -> None:
    """Remove what SQLite kept beside a file that is gone: it would take them for those of the one that is made."""
    for name in BESIDE:
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
    step = PART // array.dtype.itemsize
    for part, start in enumerate(range(0, max(array.size, 1), step)):
        some = np.ascontiguousarray(array[start : start + step])
        little = some.astype(some.dtype.newbyteorder("<"), copy=False)
        packed = zlib.compress(little.tobytes(), 1)
        db.execute("INSERT INTO arrays VALUES (?, ?, ?, ?, ?)", (name, part, some.dtype.name, some.size, packed))


def _unpacked(path: Path, dtype: str, length: int, data: bytes) -> AnyArray:
    """One part; what unpacks to more or less than it says is refused."""
    if dtype not in TYPES or not 0 <= length * np.dtype(dtype).itemsize <= PART:
        raise FileError(f"{path}: an array of type {dtype} and length {length} does not belong there; {RESTORE}")
    size = length * np.dtype(dtype).itemsize
    try:
        raw = zlib.decompressobj().decompress(data, size + 1)
    except zlib.error as error:
        raise FileError(f"{path}: an array is damaged ({error}); {RESTORE}") from None
    if len(raw) != size:
        raise FileError(f"{path}: an array is not of the length it says; {RESTORE}")
    return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)
