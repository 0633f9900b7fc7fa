"""The projects of a folder: listed by counts alone, and left as they are."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from askgraph.errors import FileError
from askgraph.io.tables import text_table
from askgraph.workbench import shelf
from askgraph.workbench.project import Project
from askgraph.workbench.shelf import find_copy, find_project, find_rows, list_projects
from askgraph.workbench.source import Source
from askgraph.workbench.store import Store
from tests.helpers.projects import make, make_old

DATA = Path(__file__).parents[1] / "data"


def state(folder):
    """Every file of a folder: its content, and when it was written."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}


def say(path, *said):
    with Project.open(path, write=True) as project:
        for who, item, kind, label in said:
            if kind == "undo":
                project.undo(who)
            else:
                project.say(who, item, kind, label)


def never(*_):
    raise AssertionError("a project was opened, or its graph read")


def test_projects_are_listed_by_what_people_said_the_last_used_first(tmp_path, monkeypatch):
    said = [
        ("ann", "i0", "label", "a"), ("ann", "i1", "label", "a"), ("ann", "i1", "cannot", None), ("bob", "i1", "label", "b"),
        ("ann", "i2", "label", "a"), ("ann", "i2", "undo", None), ("ann", "i3", "later", None), ("ann", "i4", "cannot", None),
        ("bob", "i4", "cannot", None), ("cy", "i4", "label", "a"), ("ann", "i5", "label", "c"), ("ann", "i5", "label", "a"),
    ]  # fmt: skip
    say(make(tmp_path / "much.ask"), *said)
    make(tmp_path / "none.ask", n=5)
    make_old(tmp_path / "old.ask", monkeypatch)
    (tmp_path / "other.ask").write_bytes(b"of another program" * 50)
    (tmp_path / "link.ask").symlink_to(tmp_path / "much.ask")
    (tmp_path / "folder.ask").mkdir()
    for k, name in enumerate(("old", "none", "much", "other")):
        os.utime(tmp_path / f"{name}.ask", (1e9 + k, 1e9 + k))
    with Project.open(tmp_path / "much.ask") as project:
        labeled = len(project.answers.labels)
    before = state(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Store, "open", never)
        patch.setattr(Store, "graph", never)
        found = list_projects(tmp_path)
    assert [(one.name, one.items, one.labels, one.is_open) for one in found] == [
        ("much.ask", 12, labeled, False), ("none.ask", 5, 0, False), ("old.ask", 12, 0, False), ("other.ask", 0, 0, False)
    ]  # fmt: skip
    assert labeled == 3
    assert found[0].used == "2001-09-09T01:46:42+00:00"
    assert [one.wrong is None for one in found] == [True, True, True, False]
    assert "other.ask: " in found[3].wrong
    assert state(tmp_path) == before  # nothing is upgraded, and no file comes


def test_answers_that_a_running_program_has_only_in_its_log_are_counted(tmp_path):
    path = make(tmp_path / "p.ask")
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", "a")
        assert [one.labels for one in list_projects(tmp_path)] == [1]


def test_a_project_of_the_version_before_is_listed(tmp_path):
    shutil.copy(DATA / "project.ask", tmp_path / "before.ask")
    with Project.open(tmp_path / "before.ask") as project:
        expected = (project.items.n_items, len(project.answers.labels))
    assert [(one.items, one.labels, one.wrong) for one in list_projects(tmp_path)] == [(*expected, None)]


def test_listing_reads_no_more_of_a_large_project_than_of_a_small_one(tmp_path, monkeypatch):
    """Items are counted by the last place, not one by one."""
    steps = {}
    for n in (20, 4000):
        make(tmp_path / "p.ask", n=n)
        with shelf.reading_counts(tmp_path / "p.ask") as db:
            counted = []
            db.set_progress_handler(lambda counted=counted: counted.append(1), 1)
            db.execute("SELECT max(place) FROM items").fetchall()
            db.execute(shelf.LABELED).fetchall()
        steps[n] = len(counted)
        (tmp_path / "p.ask").unlink()
    assert steps[4000] == steps[20]


@pytest.mark.parametrize("name", ["../p.ask", "p", "p.ask/", "/etc/passwd", "", "link.ask", "p.ask\0", "P.ASK"])
def test_a_project_is_found_by_the_name_it_is_listed_by_and_by_no_path(tmp_path, name):
    inner = tmp_path / "inner"
    inner.mkdir()
    for folder in (tmp_path, inner):
        make(folder / "p.ask")
    (inner / "link.ask").symlink_to(tmp_path / "p.ask")
    assert find_project(inner, name) is None
    assert find_project(inner, "p.ask") == inner / "p.ask"


def test_a_copy_is_the_same_project_as_one_with_the_same_answers_or_more(tmp_path):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    path = make(here / "p.ask")
    say(path, ("ann", "i0", "label", "a"))
    copy = Path(shutil.copy(path, elsewhere / "copy.ask"))
    assert find_copy(here, copy) == path
    say(path, ("ann", "i1", "label", "b"))
    assert find_copy(here, copy) == path  # it went on
    assert find_copy(elsewhere, path) is None  # the copy lacks an answer
    say(copy, ("bob", "i2", "label", "b"))
    assert find_copy(here, copy) is None  # both went on, each its own way
    with closing(sqlite3.connect(copy)) as db, db:
        db.execute("UPDATE about SET value = '\"another\"' WHERE name = 'uid'")
    assert find_copy(here, copy) is None
    (elsewhere / "no.ask").write_bytes(b"no project")
    with pytest.raises(FileError, match=r"no\.ask"):
        find_copy(here, elsewhere / "no.ask")


def test_only_projects_with_the_columns_of_a_table_are_read_to_find_its_rows(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    rows = [f"{k},the team won the match number {k},{k % 3}" for k in range(40)]
    table = tmp_path / "news.csv"
    table.write_text("\n".join(["nr,title,size", *rows[:30]]))
    Project.create(folder / "news.ask", Source(table, id="nr", text="title"))
    say(folder / "news.ask", ("ann", "3", "label", "sport"))
    other = tmp_path / "other.csv"
    other.write_text("\n".join(["nr,text,size", *rows[:30]]))
    Project.create(folder / "other.ask", Source(other, id="nr", text="text"))
    opened, original = [], Project.open.__func__
    monkeypatch.setattr(Project, "open", classmethod(lambda cls, path: opened.append(path.name) or original(cls, path)))

    def found(lines, header="nr,title,size"):
        table.write_text("\n".join([header, *lines]))
        one = find_rows(folder, text_table(table), len(lines))
        return one and (one[0].name, one[0].labels, one[1])

    assert found(rows[:30]) == ("news.ask", 1, 30)
    assert found(rows) == ("news.ask", 1, 30)  # ten are new
    assert opened == ["news.ask"] * 2
    assert found([row.replace("team", "club") for row in rows]) is None
    assert found(rows[:2]) is None  # far fewer than the project has
    assert found(rows[:30], "nr,titles,size") is None
    assert opened == ["news.ask"] * 3


@pytest.mark.parametrize(
    "damage", ["UPDATE about SET value = '5' WHERE name = 'fields'", "DELETE FROM about WHERE name = 'fields'"]
)
def test_a_damaged_project_is_passed_over_when_a_copy_or_rows_are_sought(tmp_path, damage):
    folder, table = tmp_path / "here", tmp_path / "news.csv"
    folder.mkdir()
    table.write_text("\n".join(["nr,title", *(f"{k},the team won the match number {k}" for k in range(12))]))
    good = tmp_path / "good.ask"
    Project.create(good, Source(table, id="nr", text="title"))
    damaged = Path(shutil.copy(good, folder / "a.ask"))
    with closing(sqlite3.connect(damaged)) as db, db:
        db.execute(damage)
    assert find_rows(folder, text_table(table), 12) is None
    assert find_copy(folder, good) is None
    shutil.copy(good, folder / "b.ask")
    assert find_rows(folder, text_table(table), 12)[0].name == "b.ask"
    assert find_copy(folder, good) == folder / "b.ask"
