"""One SQLite file: the items, their graph, the settings, and an append-only log of answers."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unicodedata import normalize
from uuid import uuid4

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import AskgraphError, BusyError, FileError, FullError
from askgraph.graph import Graph
from askgraph.graph.sources import check_structure
from askgraph.priors.features import Features
from askgraph.support.files import replacing
from askgraph.support.memory import fits
from askgraph.support.progress import working
from askgraph.types import AnyArray
from askgraph.workbench.answers import IMPORT, Answer
from askgraph.workbench.backup_files import restore_advice
from askgraph.workbench.cells import is_storable
from askgraph.workbench.classes import Change
from askgraph.workbench.database import (
    BUSY_SECONDS,
    Place,
    connect,
    find_damage,
    make_durable,
    naming_errors,
    refuse_links,
    remove_empty_log,
    remove_side_files,
    reporting_damage,
)
from askgraph.workbench.forms import ONE_OF, Label, from_row, to_row
from askgraph.workbench.guesses import Guess
from askgraph.workbench.items import Items
from askgraph.workbench.names import check_same
from askgraph.workbench.notes import NOTES
from askgraph.workbench.old_log import dated_name, holds_commit, put_old_log_aside
from askgraph.workbench.schema import APPLICATION, NAME_COMMIT, NAMED, NO_COMMIT, upgrade, version
from askgraph.workbench.stored_arrays import pack, unpack

log: logging.Logger = logging.getLogger("askgraph")
ITEMS_PER_READ = 1000  # a slow reader of all items releases the file after each batch, so that SQLite can empty its log
LOG = "seq, key, who, at, kind, item, label, seconds, undoes, predicted, how"
CHANGES = 'seq, key, who, at, answers, kind, name, value, undoes, "like"'
GUESSES = "item, source, label, score, prompt"
GRAPH_ARRAYS = ("data", "indices", "indptr")  # as stored arrays are called
FEATURES = "features"  # the array of features, one row per item


class Item(NamedTuple):
    """One item as it is stored: its place in the graph, its id, the fields to show, the file name of its image."""

    place: int
    id: str
    fields: dict[str, Any]
    image: str | None


class Store:
    """An open project file; who opens it to write must hold the writer's lock.

    ``lines`` is the number of lines of the log: of all of them for who writes, for a reader of those at the start.
    """

    path: Path
    lines: int

    def __init__(self, path: str | os.PathLike[str], connection: Any) -> None:
        self.path = Path(path)
        self._db = connection
        with naming_errors(path):  # a file of an earlier version that is only read lacks some columns
            tables = (("answers", LOG), ("changes", CHANGES), ("suggestions", GUESSES))
            self._log, self._changes, self._guesses = (_there(connection, *table) for table in tables)
        self._has_changes = "how" in self._log
        self.lines = self._count_lines("answers")
        if self._has_changes:
            self._count_lines("changes")
        self._place: Place | None = None  # of the file as this process left it; None for a reader
        self._commit = NO_COMMIT  # the last one that this process wrote
        self._rescued: Path | None = None  # what was saved, if the file itself was taken away

    @classmethod
    def create(cls, path: str | os.PathLike[str], items: Items, graph: Graph, about: dict[str, Any]) -> None:
        """Make a new file; raise an error if one exists already, and leave none if this fails."""
        if Path(path).exists():
            raise FileError(f"{path}: is there already; open it, or choose another name with -o")
        with naming_errors(path), replacing(path, mode=0o600) as file:
            file.close()  # the file exists now and is ours; SQLite opens it by its name
            remove_side_files(file.name)
            with working(f"writing {len(items.ids):,} items"):
                _fill(Path(file.name), items, graph, about)
            remove_side_files(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str], write: bool = False) -> Store:
        """Open an existing file to read it, or to write it while holding the writer's lock."""
        if not os.path.isfile(path):
            raise FileError(f"{path}: no such project; make one with askgraph init")
        if not os.access(path, os.R_OK):
            raise FileError(f"{path}: you may not read it; ask its owner to let you (chmod)")
        refuse_links(Path(path).resolve())
        with naming_errors(path):
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
                    store._note_place()
            except BaseException:
                db.close()
                raise
            return store

    def close(self) -> None:
        """Close the file."""
        self._db.close()
        remove_empty_log(self.path)

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
            raise FileError(f"{self.path}: {n} items in places {first} to {last}; {restore_advice(self.path)}")
        return int(n)

    def append(self, answers: Sequence[Answer]) -> list[Answer]:
        """Write answers to the log, all or none, except those whose key is there already; return them as logged."""
        with self._transaction():
            written = [self._append_one(answer) for answer in answers]
        self.lines = max(self.lines, *(answer.seq for answer in written)) if written else self.lines
        return written

    def answers(self, after: int = 0) -> list[Answer]:
        """Return the lines of the log after line ``after``."""
        rows = self._rows(f"SELECT {self._log} FROM answers WHERE seq > ? ORDER BY seq", after)
        with reporting_damage(self.path):
            return [_answer(*row) for row in rows]

    def news(self, after: int, changes_after: int) -> tuple[list[Answer], list[Change]]:
        """Return the lines of both logs after these lines, as they were at one moment."""
        self._execute("BEGIN")
        try:
            return self.answers(after), self.changes(changes_after)
        finally:
            self._execute("COMMIT")

    def changes(self, after: int = 0) -> list[Change]:
        """Return the lines of the log of changes after line ``after``; none where the file has no such log yet."""
        if not self._has_changes:
            return []
        rows = self._rows(f"SELECT {self._changes} FROM changes WHERE seq > ? ORDER BY seq", after)
        with reporting_damage(self.path):
            return [_change(*row) for row in rows]

    def changed(self, key: str) -> Change | None:
        """Return the change that has this key, or None."""
        found = self._rows(f"SELECT {self._changes} FROM changes WHERE key = ?", key)
        return _change(*found[0]) if found else None

    def append_change(self, change: Change) -> Change:
        """Write a change to the log of changes, unless its key is there already; return it as logged."""
        with self._transaction():
            if seen := self.changed(change.key):
                return check_same(
                    seen, who=change.who, kind=change.kind, name=change.name, value=change.value, like=change.like
                )
            values = (change.key, change.who, change.at or now(), *change[5:])
            count = "(SELECT count(*) FROM answers)"
            query = f"INSERT INTO changes ({CHANGES}) VALUES (NULL, ?, ?, ?, {count}, ?, ?, ?, ?, ?)"
            ((seq, at, answers),) = self._rows(f"{query} RETURNING seq, at, answers", *values)
        return change._replace(seq=seq, at=at, answers=answers)

    def logged(self, key: str) -> Answer | None:
        """Return the answer that has this key, or None."""
        found = self._rows(f"SELECT {self._log} FROM answers WHERE key = ?", key)
        with reporting_damage(self.path):
            return _answer(*found[0]) if found else None

    def logged_together(self, key: str) -> list[Answer]:
        """Return the lines that were written in one step under this key."""
        query = f"SELECT {self._log} FROM answers WHERE key = ? OR (key > ? AND key < ?) ORDER BY seq"
        rows = self._rows(query, key, f"{key}:", f"{key};")  # ";" follows ":"
        with reporting_damage(self.path):
            return [_answer(*row) for row in rows]

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

    def same(self, without: Iterable[str] = ()) -> list[list[int]]:
        """Return the places of items that are exact copies but for some fields, one list per set of copies."""
        gone = json.dumps(dict.fromkeys(without))  # a null of a patch deletes the field
        seen = "fields" if gone == "{}" else "json_patch(fields, ?1)"
        query = f"""SELECT json_group_array(place) FROM (SELECT place, image, {seen} AS seen FROM items)
                    WHERE length(seen) > 2 OR image IS NOT NULL GROUP BY seen, image HAVING count(*) > 1"""
        return [sorted(json.loads(places)) for (places,) in self._rows(query, *([] if gone == "{}" else [gone]))]

    def every(self) -> Iterator[Item]:
        """Yield all items in the order of places."""
        for start in range(0, n := self.n_items, ITEMS_PER_READ):
            yield from self.items(range(start, min(start + ITEMS_PER_READ, n)))

    def search(self, text: str, without: Iterable[str] = ()) -> list[int]:
        """Return the places of the items that hold this text in their id or a field, but for some fields."""
        if not is_storable(text):
            return []
        searched = "instr(lower(value), lower(?1)) AND key NOT IN (SELECT value FROM json_each(?2))"
        inside = f"EXISTS (SELECT 1 FROM json_each(items.fields) WHERE {searched})"
        query = f"SELECT place FROM items WHERE instr(lower(id), lower(?1)) OR {inside} ORDER BY place"
        return [place for (place,) in self._rows(query, text, json.dumps(list(without)))]

    def by_field(self, name: str) -> list[int]:
        """Return the places of all items, sorted by a field."""
        value = "(SELECT value FROM json_each(items.fields) WHERE key = ?)"
        return [place for (place,) in self._rows(f"SELECT place FROM items ORDER BY {value}, place", name)]

    def graph(self) -> Graph:
        """Read the graph; its nodes are the places of the items."""
        n = self.n_items
        with reporting_damage(self.path):
            indptr = self.array("indptr", n + 1)
            m = int(indptr[-1])
            fits(24.0 * m, f"{self.path}: its graph", "open it on a machine with more memory")
            W = csr_array((self.array("data", m), self.array("indices", m), indptr), shape=(n, n))
            check_structure(W)  # compiled code does not check the indices
        try:
            return Graph(W)
        except AskgraphError as error:
            raise FileError(f"{self.path}: its graph is damaged ({error}); {restore_advice(self.path)}") from None

    def features(self) -> AnyArray | None:
        """Read the features beside the graph, one row per item; None where the file has none, as those of earlier versions."""
        n = self.n_items
        with reporting_damage(self.path), suppress(KeyError):
            found = self.array(FEATURES)
            if found.size % n or not np.isfinite(found).all():
                raise FileError(f"{self.path}: its features are damaged; {restore_advice(self.path)}")
            return found.reshape(n, -1)
        return None

    def array(self, name: str, length: int | None = None) -> AnyArray:
        """Read a stored array; raise an error before unpacking it if its length is not the expected one."""
        ((parts, found),) = self._rows("SELECT count(*), sum(length) FROM arrays WHERE name = ?", name)
        if not parts:
            raise KeyError(name)
        if length not in (None, found):
            raise FileError(f"{self.path}: {name} has length {found}, not {length}; {restore_advice(self.path)}")
        rows = self._rows("SELECT dtype, length, data FROM arrays WHERE name = ? ORDER BY part", name)
        return np.concatenate([unpack(self.path, *row) for row in rows])

    def keep(self, name: str, array: AnyArray) -> None:
        """Store an array that can be computed again, and replace the stored one."""
        with self._transaction():
            self._execute("DELETE FROM arrays WHERE name = ?", name)
            pack(self._db, name, array)

    def drop(self, start: str, but: str = "") -> None:
        """Delete the stored arrays whose names start like this, but for one."""
        with self._transaction():
            self._execute("DELETE FROM arrays WHERE substr(name, 1, ?) = ? AND name <> ?", len(start), start, but)

    def note(self, name: str, value: Any) -> None:
        """Store an entry of ``about``, and replace the one of this name."""
        with self._transaction():
            self._execute("INSERT OR REPLACE INTO about VALUES (?, ?)", name, json.dumps(value))

    def noted(self, name: str) -> dict[str, Any]:
        """Return the entry of ``about`` of this name, {} if there is none."""
        with reporting_damage(self.path):
            rows = self._rows("SELECT name, value FROM about WHERE name = ?", name)
            return {name: json.loads(value) for name, value in rows}

    def rejoin(self, graph: Graph, features: Features | None, notes: list[str], source: dict[str, Any]) -> None:
        """Replace the graph and the features, and what follows from them, in one step; the answers stay.

        ``source`` are the columns that the items came from, as they are compared now.
        """
        with self._transaction():
            self._execute("DELETE FROM arrays WHERE substr(name, 1, 8) <> 'vectors/'")
            _pack_joined(self._db, graph, features)
            self._execute("INSERT OR REPLACE INTO about VALUES ('graph', ?)", json.dumps(notes))
            self._execute("INSERT OR REPLACE INTO about VALUES ('source', ?)", json.dumps(source))

    @property
    def fingerprint(self) -> str:
        """A text that changes when items come or go."""
        return sha256("\n".join(self.ids()).encode()).hexdigest()

    def digest(self, answers: int, changes: int) -> str:
        """Return the sha256 of the ids of the items, and of both logs up to these lines."""
        found = sha256(self.fingerprint.encode())
        logs = [(self._log, "answers", answers), *([(self._changes, "changes", changes)] if self._has_changes else [])]
        for columns, table, last in logs:
            for row in self._rows(f"SELECT {columns} FROM {table} WHERE seq <= ? ORDER BY seq", last):
                found.update(f"{json.dumps(row)}\n".encode())
        return found.hexdigest()

    def take_in(self, addition: Store) -> int:
        """Add the items of another file, with the graph over all items that it brings, in one step; return their number.

        ``addition`` is what ``workbench.growing`` writes and checks. Labels that the new items came with become lines of the log.
        """
        about, n = addition.about, self.n_items
        labels = [
            (f"import-{uuid4()}", IMPORT, answer.at, what, n + answer.item, text)
            for answer in addition.answers()
            if answer.label is not None
            for what, text in [to_row(answer.label)]
        ]
        with self._transaction():
            for item in addition.every():
                fields = json.dumps(item.fields, ensure_ascii=False)
                self._execute("INSERT INTO items VALUES (?, ?, ?, ?)", n + item.place, item.id, fields, item.image)
            self._execute("DELETE FROM arrays WHERE substr(name, 1, 8) <> 'vectors/'")
            for name, *row in addition._rows("SELECT name, part, dtype, length, data FROM arrays ORDER BY name, part"):
                if row[0] == 0:
                    self._execute("DELETE FROM arrays WHERE name = ?", name)
                self._execute("INSERT INTO arrays VALUES (?, ?, ?, ?, ?)", name, *row)
            self._execute("INSERT OR REPLACE INTO about VALUES ('graph', ?)", json.dumps(about["graph"]))
            self._execute("INSERT OR REPLACE INTO about VALUES ('source', ?)", json.dumps(about["source"]))
            for row in labels:
                self._execute("INSERT INTO answers (key, who, at, kind, item, label) VALUES (?, ?, ?, ?, ?, ?)", *row)
            for one in addition.guesses():
                query = f"INSERT INTO suggestions ({GUESSES}, at) VALUES (?, ?, ?, ?, ?, ?)"
                self._execute(query, n + one.item, *one[1:], now())
        self.lines = self._count_lines("answers")
        return addition.n_items

    def erase(self, places: Sequence[int], arrays: dict[str, AnyArray]) -> int:
        """Delete items for good, with all lines of the log about them; return the number of lines.

        ``arrays`` replace all stored ones. Items and lines that stay move up, so that there is no gap. This is the one way in
        which lines leave the log: the triggers that forbid it are dropped and made again in the same transaction. What is
        deleted is overwritten with zeros, and SQLite's log is emptied.
        """
        self._execute("PRAGMA secure_delete = ON")
        lines, gone = self.lines, json.dumps(sorted(places))
        with self._transaction():
            self._execute("PRAGMA defer_foreign_keys = ON")  # numbers of items change on both sides
            triggers = self._rows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            for name, _ in triggers:
                self._execute(f"DROP TRIGGER {name}")
            for table in self._tables_about_items():
                self._execute(f"DELETE FROM {table} WHERE item IN (SELECT value FROM json_each(?))", gone)
            self._execute("DELETE FROM items WHERE place IN (SELECT value FROM json_each(?))", gone)
            self._close_gaps()
            for _, made in triggers:
                self._execute(made)
            self._execute("DELETE FROM arrays")
            for name, array in arrays.items():
                pack(self._db, name, array)
        self.lines = self._count_lines("answers")
        self._empty_log()
        return lines - self.lines

    def _tables_about_items(self) -> list[str]:
        """Return the tables that have a column ``item`` with the place of an item."""
        query = """SELECT DISTINCT s.name FROM sqlite_schema s, pragma_foreign_key_list(s.name) f
                   WHERE s.type = 'table' AND f."table" = 'items'"""
        return [name for (name,) in self._rows(query)]

    def _close_gaps(self) -> None:
        """Number items from 0 and lines of the log from 1 again, and what refers to them."""
        self._renumber("items", "place", 0, [(name, "item") for name in self._tables_about_items()])
        # a change of classes notes how many lines the log had
        count = "SELECT count(*) FROM answers WHERE seq <= changes.answers"
        self._execute(f"UPDATE changes SET answers = ({count})")
        self._renumber("answers", "seq", 1, [("answers", "undoes")])

    def _renumber(self, table: str, column: str, first: int, refers: list[tuple[str, str]]) -> None:
        """Number the rows of a table from ``first`` on, and the columns that refer to them, each (table, column)."""
        self._execute("CREATE TEMP TABLE moved (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
        number = f"row_number() OVER (ORDER BY {column}) - 1 + {first}"
        self._execute(f"INSERT INTO moved SELECT {column}, {number} FROM {table}")
        for name, where in refers:
            new = f"(SELECT new FROM moved WHERE old = {name}.{where})"
            self._execute(f"UPDATE {name} SET {where} = {new} WHERE {where} IS NOT NULL")
        new = f"(SELECT new FROM moved WHERE old = {table}.{column})"
        self._execute(f"UPDATE {table} SET {column} = -1 - {new}")  # below 0 first: no two ever have one number
        self._execute(f"UPDATE {table} SET {column} = -1 - {column}")
        self._execute("DROP TABLE moved")

    def _empty_log(self) -> None:
        """Bring SQLite's log into the file and empty it; a reader at work can delay that for a while."""
        end = time.monotonic() + BUSY_SECONDS
        while self._rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] and time.monotonic() < end:
            time.sleep(0.05)

    def curve(self) -> list[tuple[int, float, float, float]]:
        """Return one (labels, expected error, low, high) per number of labels."""
        return self._rows("SELECT labels, value, low, high FROM curve ORDER BY labels")

    def add_to_curve(self, labels: int, value: float, low: float, high: float) -> None:
        """Store the expected error at a number of labels."""
        with self._transaction():
            self._execute("INSERT OR REPLACE INTO curve VALUES (?, ?, ?, ?)", labels, value, low, high)

    def add_guesses(self, guesses: Sequence[Guess]) -> None:
        """Store what models guess, all or none; one of the same source for the same item is replaced."""
        query = f"INSERT OR REPLACE INTO suggestions ({GUESSES}, at) VALUES (?, ?, ?, ?, ?, ?)"
        at = now()
        with self._transaction():
            for one in guesses:
                self._execute(query, *one, at)

    def guesses(self, place: int | None = None) -> list[Guess]:
        """Return the guesses for the item at a place, or for all items; none where the file has no table of them yet.

        Those of rules that were taken back are among them: `askgraph.workbench.rules.standing_guesses` leaves them out.
        """
        if "item" not in self._guesses:
            return []
        query, one = f"SELECT {self._guesses} FROM suggestions", () if place is None else (place,)
        rows = self._rows(f"{query}{' WHERE item = ?' * len(one)} ORDER BY source, item", *one)
        return [Guess(item, source, normalize("NFC", label), *rest) for item, source, label, *rest in rows]

    def damage(self) -> str | None:
        """Run SQLite's integrity check; return what it finds wrong, or None."""
        return find_damage(self._rows)

    def put_at(self, path: Path, part: Path | None = None) -> None:
        """Write a copy of this file to ``path`` in one step, checked, under a new commit name.

        Who could read the file that is replaced can read the new one; without one, who can read this file.
        """
        mode = next((file.stat().st_mode & 0o777 for file in (path, self.path) if file.exists()), 0o600)
        with naming_errors(path), replacing(path, part, mode) as file:
            file.close()
            remove_side_files(file.name)
            with closing(sqlite3.connect(file.name, isolation_level=None)) as db:
                self._db.backup(db)
                make_durable(db)
                if version(db, path) >= NAMED:
                    db.execute(NAME_COMMIT)  # so that the log of the replaced file does not continue from here
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                if damage := find_damage(db.execute):
                    raise FileError(
                        f"{self.path}: damaged ({damage}), so no copy was made; {restore_advice(self.path)}"
                    )

    def check_in_place(self) -> None:
        """Raise an error if the path no longer leads to this file: an answer saved now would be where nobody looks for it."""
        if self._place is None or (now := Place.of(self.path)) == self._place:
            return
        if not self._place.is_same_file(now):
            raise BusyError(f"{self.path}: was renamed, replaced or removed while it was open; {self._rescue()}")
        if not holds_commit(self.path.resolve(), self._commit):  # it was written to, and not by this process
            raise BusyError(
                f"{self.path}: was overwritten while it was open; nothing more is saved. Stop the server, then "
                f"{restore_advice(self.path)}"
            )
        self._note_place()

    def _rescue(self) -> str:
        """Copy what was saved until now to another name, once; return the advice."""
        try:
            if self._rescued is None:
                self._rescued = dated_name(self.path.resolve())
                self.put_at(self._rescued)
        except (FileError, OSError) as error:
            log.warning("%s: could not be copied to another name (%s)", self.path, error)
            self._rescued = None
        kept = (
            f"what was saved before is in {self._rescued.name}"
            if self._rescued
            else "what was saved before is in that file"
        )
        return f"nothing more is saved until it is back. {kept[0].upper()}{kept[1:]}: stop the server, and put it in its place"

    def _note_place(self) -> None:
        """Remember the file as this process left it."""
        ((self._commit,),) = self._rows("SELECT this FROM commits")
        self._place = Place.of(self.path)

    def _count_lines(self, table: Literal["answers", "changes"]) -> int:
        """Return the number of lines of a log; raise an error if some are missing."""
        ((n, first, last),) = self._rows(f"SELECT count(*), min(seq), max(seq) FROM {table}")
        if n and (first, last) != (1, n):
            raise FileError(
                f"{self.path}: {n} {table} in lines {first} to {last} of the log; {restore_advice(self.path)}"
            )
        return int(n)

    def _part_from_copies(self) -> None:
        """Name a commit and bring it into the file itself: a copy made until now is then told from it, whatever the log holds."""
        with suppress(BusyError, FullError):  # what cannot be written can be read, and says so when an answer comes
            self._execute(NAME_COMMIT)
            self._rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _append_one(self, answer: Answer) -> Answer:
        if seen := self.logged(answer.key):
            said = {name: getattr(answer, name) for name in ("who", "kind", "item", "label", "text")}
            return check_same(seen, **said)
        values = (answer.key, answer.who, answer.at or now(), *_row(answer))
        query = f"INSERT INTO answers ({LOG}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq, at"
        ((seq, at),) = self._rows(query, *values)
        return answer._replace(seq=seq, at=at)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.check_in_place()
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
        if self._place is not None:
            if not self._place.is_same_file(Place.of(self.path)):
                self.check_in_place()  # it was taken away meanwhile: nobody is told that this is saved
            self._note_place()

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with naming_errors(self.path):
            return list(self._db.execute(query, values).fetchall())

    def _execute(self, query: str, *values: Any) -> None:
        with naming_errors(self.path):
            self._db.execute(query, values)


def _there(connection: Any, table: str, columns: str) -> str:
    """Return the columns of a log to be read, NULL for those that the file lacks."""
    there = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall()}
    return ", ".join(name if name.strip('"') in there else "NULL" for name in columns.split(", "))


def now() -> str:
    """Return the time in UTC, to the millisecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _row(answer: Answer) -> tuple[Any, ...]:
    """Return the columns of an answer from ``kind`` on: of a label, what it is says how it and the prediction are written.

    What a note says stands where an answer has its label.
    """
    if answer.label is None:
        return answer.kind, answer.item, answer.text, answer.seconds, answer.undoes, answer.predicted, answer.how
    what, text = to_row(answer.label)
    predicted = None if answer.predicted is None else to_row(answer.predicted)[1]
    return what, answer.item, text, answer.seconds, answer.undoes, predicted, answer.how


def _answer(seq: int, key: str, who: str, at: str, what: str, item: int, label: str | None, *rest: Any) -> Answer:
    """Return a line of the log, with repeated texts interned to save memory, and accents in names composed."""
    seconds, undoes, predicted, how = rest
    if what in NOTES:
        who = sys.intern(normalize("NFC", who))
        return Answer(seq, key, who, at, what, item, None, seconds, undoes, None, how, label)
    given = None if label is None else _shared(from_row(what, label))
    foretold = None if predicted is None else _shared(from_row("label" if what == ONE_OF else what, predicted))
    kind, who = sys.intern("label" if label is not None else what), sys.intern(normalize("NFC", who))
    return Answer(seq, key, who, at, kind, item, given, seconds, undoes, foretold, how)  # type: ignore[arg-type]  # still a Kind


def _shared(label: Label) -> Label:
    return sys.intern(label) if isinstance(label, str) else label


def _change(*row: Any) -> Change:
    """Return a line of the log of changes, with accents in names composed."""
    change = Change(*row)
    name, value = (None if text is None else normalize("NFC", text) for text in (change.name, change.value))
    value = value if change.kind in ("rename", "merge", "order") else change.value
    return change._replace(who=normalize("NFC", change.who), name=name, value=value)


def _item(place: int, id: str, fields: str, image: str | None) -> Item:
    return Item(place, id, dict(json.loads(fields)), image)


def _pack_joined(db: Any, graph: Graph, features: Features | None) -> None:
    """Store what joins the items: a graph, and perhaps features."""
    for name in GRAPH_ARRAYS:
        pack(db, name, getattr(graph.weights, name))
    if features is not None:
        pack(db, FEATURES, features.columns.ravel())


def _fill(part: Path, items: Items, graph: Graph, about: dict[str, Any]) -> None:
    db = sqlite3.connect(part, isolation_level=None)
    try:
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        upgrade(db, 0)
        db.execute("BEGIN")
        db.executemany("INSERT INTO about VALUES (?, ?)", [(name, json.dumps(value)) for name, value in about.items()])
        images = items.images or [None] * len(items.ids)
        rows = zip(range(len(items.ids)), items.ids, items.json_rows(), images, strict=True)
        db.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", rows)
        _pack_joined(db, graph, items.features)
        for name, array in items.arrays.items():
            pack(db, name, array)
        imported = [(k, *to_row(label)) for k, label in enumerate(items.labels or []) if label is not None]
        at = now()
        db.executemany(
            "INSERT INTO answers (key, who, at, kind, item, label) VALUES (?, ?, ?, ?, ?, ?)",
            ((f"import-{k}", IMPORT, at, what, k, label) for k, what, label in imported),
        )
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")
    finally:
        db.close()
