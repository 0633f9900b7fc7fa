"""The projects of a folder: which there are, how far each is, and which of them holds the rows of a table."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from askgraph.errors import AskgraphError
from askgraph.io.tables import Table
from askgraph.workbench.cells import is_storable
from askgraph.workbench.database import naming_errors, refuse_links, reporting_damage
from askgraph.workbench.growing import rows_there
from askgraph.workbench.project import Project
from askgraph.workbench.schema import version
from askgraph.workbench.server_file import find_server

MAX_READ = 5  # projects whose rows are compared with those of a table
FAR_MORE = 4  # times the rows of a table: a project of more is not compared with it
PROJECT = ".ask"  # how the name of a project ends
ROLE_OF = """coalesce((SELECT value FROM changes WHERE changes.kind = 'role' AND name = last.who AND changes.answers < last.seq
                        ORDER BY changes.seq DESC LIMIT 1), '')"""  # the role of a person at the time of a line
LABELED = f"""
WITH gone AS (SELECT undoes FROM answers WHERE undoes IS NOT NULL
              AND seq NOT IN (SELECT undoes FROM answers WHERE undoes IS NOT NULL)),
     live AS (SELECT seq, item, kind = 'label' AS named FROM answers
              WHERE kind <> 'undo' AND seq NOT IN (SELECT undoes FROM gone)),
     once AS (SELECT 1 FROM live GROUP BY item HAVING count(*) = 1 AND max(named)),
     often AS (SELECT item FROM live GROUP BY item HAVING count(*) > 1),
     last AS (SELECT item, kind, label, who, max(seq) AS seq FROM answers
              WHERE seq IN (SELECT seq FROM live WHERE item IN often) GROUP BY item, who),
     words AS (SELECT item, kind, max(seq) FROM last WHERE kind <> 'later' AND {ROLE_OF} = 'lead' GROUP BY item),
     votes AS (SELECT item, kind = 'label' AS named, count(*) AS n FROM last
               WHERE kind <> 'later' AND item NOT IN (SELECT item FROM words) GROUP BY item, kind, label),
     decided AS (SELECT 1 FROM votes GROUP BY item HAVING max(named) AND max(n * named) >= max(n * (1 - named)))
SELECT (SELECT count(*) FROM once) + (SELECT count(*) FROM decided) + (SELECT count(*) FROM words WHERE kind = 'label')
"""  # as Answers decides: a lead's word, or a label that as many give as set the item aside; most have one answer, and are quick


class Listed(NamedTuple):
    """A project of a folder: its file name, items, those with a label, when it was last written, and what keeps it from opening."""

    name: str
    items: int
    labels: int
    used: str
    wrong: str | None
    is_open: bool


def list_projects(folder: Path) -> list[Listed]:
    """Return the projects of a folder, the one that was written last first, and what cannot be opened at the end.

    Nothing is written, upgraded or kept waiting, and only counts are read. Links are left out: they lead elsewhere.
    """
    found = [(max(map(_changed, (path, Path(f"{path}-wal")))), path) for path in _project_files(folder)]
    return sorted(
        (_look(path, changed) for changed, path in sorted(found, reverse=True)), key=lambda one: bool(one.wrong)
    )


def find_project(folder: Path, name: str) -> Path | None:
    """Return the path of a project of a folder by its name, as it is listed; None for every other name."""
    return next((path for path in _project_files(folder) if path.name == name), None)


def find_copy(folder: Path, path: Path) -> Path | None:
    """Return the project of a folder that holds all answers of the project at ``path``: a copy of it, or one that went on.

    One that cannot be opened does not count.
    """
    with reading_counts(path) as db:
        ((lines,),) = db.execute("SELECT coalesce(max(seq), 0) FROM answers").fetchall()
        sought = _named(db, lines)
    for known in filter(lambda known: is_storable(known.name), _project_files(folder)):
        with suppress(AskgraphError):  # the others are looked at all the same
            with reading_counts(known) as db:
                found = _named(db, lines)
            if found == sought:
                with Project.open(known):
                    return known
    return None


def find_rows(folder: Path, table: Table, count: int) -> tuple[Listed, int] | None:
    """Return the project of a folder that has most of the ``count`` rows of a table, and how many; None if none has half of them.

    Only projects with no other columns than the table, and not of far more rows, are read, the ones used last.
    """
    able = [one for one in list_projects(folder) if one.wrong is None and 0 < one.items <= FAR_MORE * count]
    able = [one for one in able if _has_columns(folder / one.name, table)][:MAX_READ]
    found = [(_rows_there(folder / one.name, table), one) for one in able]
    rows, one = max(found, key=lambda pair: pair[0], default=(0, None))
    return None if one is None or rows < min(count, one.items) / 2 else (one, rows)


def _rows_there(path: Path, table: Table) -> int:
    with suppress(AskgraphError), Project.open(path) as project:
        return rows_there(project, table)
    return 0


def _has_columns(path: Path, table: Table) -> bool:
    """Return whether a table has all columns of which a project keeps the cells; a damaged project has none."""
    with suppress(AskgraphError), reporting_damage(path), reading_counts(path) as db:
        fields = json.loads(db.execute("SELECT value FROM about WHERE name = 'fields'").fetchone()[0])
        return set(fields) <= set(table.header)
    return False


def _named(db: Any, line: int) -> list[Any]:
    """Return what tells a project from every other, and what tells the answer in one line of its log."""
    uid = db.execute("SELECT value FROM about WHERE name = 'uid'").fetchall()
    return [uid, db.execute("SELECT key FROM answers WHERE seq = ?", (line,)).fetchall()]


def _project_files(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        paths = [Path(entry.path) for entry in entries if entry.name.casefold().endswith(PROJECT)]
    return [path for path in sorted(paths) if path.is_file() and not path.is_symlink()]


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _look(path: Path, changed: float) -> Listed:
    used = datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")
    if not is_storable(path.name):
        name = os.fsencode(path.name).decode(errors="backslashreplace")
        return Listed(name, 0, 0, used, f"{name}: its name is not text in UTF-8; rename the file", False)
    try:
        with reading_counts(path) as db:
            ((last,),) = db.execute("SELECT max(place) FROM items").fetchall()
            known = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'changes'").fetchall()
            ((labels,),) = db.execute(LABELED if known else LABELED.replace(ROLE_OF, "''")).fetchall()
        server = find_server(path.resolve())
        return Listed(path.name, 0 if last is None else last + 1, labels, used, None, server is not None)
    except AskgraphError as error:
        return Listed(path.name, 0, 0, used, str(error), False)


@contextmanager
def reading_counts(path: Path) -> Iterator[Any]:
    """Yield a connection that leaves a project and all files beside it as they are."""
    with naming_errors(path.name):
        refuse_links(path)
        used = "" if Path(f"{path}-shm").exists() else "&immutable=1"  # somebody has it open, and its log holds answers
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{used}", uri=True)) as db:
            db.execute("PRAGMA trusted_schema = OFF")
            version(db, path.name)
            yield db
