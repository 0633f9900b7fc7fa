"""The tables of a project file, version by version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from typing import Any

from askgraph.errors import FileError, NewerError
from askgraph.workbench.backup_files import restore_advice

APPLICATION = 0x41534B47  # "ASKG"
NO_COMMIT = "0" * 32  # the name that stands before the first commit
VERSIONS = [
    [
        "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
        "CREATE TABLE items (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, fields TEXT NOT NULL, image TEXT) STRICT",
        """CREATE TABLE arrays (name TEXT NOT NULL, part INTEGER NOT NULL, dtype TEXT NOT NULL, length INTEGER NOT NULL,
           data BLOB NOT NULL, PRIMARY KEY (name, part)) STRICT""",
        """CREATE TABLE answers (seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, who TEXT NOT NULL, at TEXT NOT NULL,
           kind TEXT NOT NULL, item INTEGER NOT NULL REFERENCES items, label TEXT, seconds REAL, undoes INTEGER) STRICT""",
        """CREATE TRIGGER answers_stay BEFORE DELETE ON answers
           BEGIN SELECT RAISE(ABORT, 'answers are never deleted'); END""",
        """CREATE TRIGGER answers_keep BEFORE UPDATE ON answers
           BEGIN SELECT RAISE(ABORT, 'answers are never changed'); END""",
        """CREATE TRIGGER answers_once BEFORE INSERT ON answers  -- REPLACE would delete without a word
           WHEN EXISTS (SELECT 1 FROM answers WHERE seq = NEW.seq OR key = NEW.key)
           BEGIN SELECT RAISE(ABORT, 'answers are never changed'); END""",
    ],
    [  # the expected error by number of labels
        """CREATE TABLE curve (labels INTEGER PRIMARY KEY, value REAL NOT NULL, low REAL NOT NULL,
           high REAL NOT NULL) STRICT""",
    ],
    [  # the last commit, by which a log that was left beside the file is recognized (old_log.py)
        """CREATE TABLE commits (one INTEGER PRIMARY KEY CHECK (one = 1), this TEXT NOT NULL, before TEXT NOT NULL) STRICT""",
        f"INSERT INTO commits VALUES (1, '{NO_COMMIT}', '{NO_COMMIT}')",
    ],
    [  # what was predicted before the answer to a spot check
        "ALTER TABLE answers ADD COLUMN predicted TEXT",
    ],
    [  # labels that models suggest
        """CREATE TABLE suggestions (item INTEGER NOT NULL REFERENCES items, source TEXT NOT NULL, label TEXT NOT NULL,
           score REAL, at TEXT NOT NULL, PRIMARY KEY (item, source)) STRICT""",
    ],
    [  # changes of classes and guidelines, and answers that were given to several items at once
        "ALTER TABLE answers ADD COLUMN how TEXT",
        """CREATE TABLE changes (seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, who TEXT NOT NULL, at TEXT NOT NULL,
           answers INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT, value TEXT, undoes INTEGER) STRICT""",
        """CREATE TRIGGER changes_stay BEFORE DELETE ON changes
           BEGIN SELECT RAISE(ABORT, 'changes are never deleted'); END""",
        """CREATE TRIGGER changes_keep BEFORE UPDATE ON changes
           BEGIN SELECT RAISE(ABORT, 'changes are never changed'); END""",
        """CREATE TRIGGER changes_once BEFORE INSERT ON changes
           WHEN EXISTS (SELECT 1 FROM changes WHERE seq = NEW.seq OR key = NEW.key)
           BEGIN SELECT RAISE(ABORT, 'changes are never changed'); END""",
    ],
    [],  # answers of other kinds than one class: lines of the log whose kind is "one of", "several" or "number"
    [  # the words that describe what is to be found
        'ALTER TABLE changes ADD COLUMN "like" TEXT',
    ],
    [  # random samples that certify a search, and rules: lines of the log of changes whose kind is "certify" or "rule"
        "ALTER TABLE suggestions ADD COLUMN prompt TEXT",  # which request a model answered
    ],
]
LATEST = len(VERSIONS)
NAMED = 3  # the version from which commits have names
# SQLite's schema number, which it changes in the copies it makes
LAYOUT = "printf('%08x', (SELECT schema_version & 0xffffffff FROM pragma_schema_version))"
NAME_COMMIT = f"UPDATE commits SET before = this, this = {LAYOUT} || lower(hex(randomblob(12)))"
SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema"


def version(connection: Any, path: object) -> int:
    """Return the version of an open file; raise an error if it is not a project that this program can read.

    The schema must be that of its version, word for word: a view, a trigger or a generated column of somebody else's could
    compute without end, or drop answers that were acknowledged.
    """
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((found,),) = connection.execute("PRAGMA user_version").fetchall()
    if application != APPLICATION:
        raise FileError(f"{path}: not an askgraph project; make one with askgraph init")
    if found > LATEST:
        raise NewerError(
            f"{path}: made by a newer askgraph (version {found} of the file, this program knows {LATEST}); "
            "upgrade with pip install -U askgraph; the file was left as it is"
        )
    if found < 1:
        raise FileError(f"{path}: version {found} of the file, which does not exist; make a project with askgraph init")
    if odd := _tables(found) ^ frozenset(connection.execute(SCHEMA).fetchall()):
        kind, name = min((str(kind), str(name)) for kind, name, *_ in odd)
        raise FileError(
            f"{path}: the {kind} {name} is missing or not as askgraph makes it, so this is not a project; {restore_advice(path)}"
        )
    return int(found)


@cache
def _tables(number: int) -> frozenset[tuple[str, str, str, str | None]]:
    """Return the tables, indexes and triggers of a version, with their statements as SQLite stores them."""
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in (statement for statements in VERSIONS[:number] for statement in statements):
            db.execute(statement)
        return frozenset(db.execute(SCHEMA).fetchall())


def upgrade(connection: Any, start: int) -> None:
    """Upgrade a file from one version to the latest, one transaction per version."""
    for number in range(start, LATEST):
        connection.execute("BEGIN IMMEDIATE")
        name = [NAME_COMMIT] if number + 1 >= NAMED else []
        for statement in (*VERSIONS[number], *name, f"PRAGMA user_version = {number + 1}"):
            connection.execute(statement)
        connection.execute("COMMIT")
