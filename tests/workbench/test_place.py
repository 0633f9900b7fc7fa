"""Promise 31: A project is one file by one name, as askgraph makes it; what lies beside it or takes its place loses no answer."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.errors import BusyError, FileError
from askgraph.workbench.project import Project
from askgraph.workbench.restoring import copy_project, restore
from askgraph.workbench.store import Store
from askgraph.workbench.writer_lock import WriterLock
from tests.helpers.projects import NOBODY, answer, hurt, log_of, make, say

posix = pytest.mark.skipif(os.name != "posix", reason="links, owners and permissions as POSIX has them")


@pytest.fixture
def path(tmp_path):
    return make(tmp_path / "p.ask")


@posix
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_a_project_of_two_hard_links_is_refused_by_either_name(path, tmp_path, write):
    other = tmp_path / "q.ask"
    os.link(path, other)
    for name in (path, other):
        with pytest.raises(FileError, match=rf"{name.name}: has another name.*hard link"), Project.open(name, write):
            pass
    other.unlink()
    say(path, ("i0", "a"))


@posix
@pytest.mark.parametrize("name", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("linked", [os.symlink, os.link])
def test_a_link_where_sqlite_keeps_its_files_is_refused_by_name(path, tmp_path, name, linked):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    linked(victim, f"{path}{name}")
    for write in (False, True):
        with pytest.raises(FileError, match=rf"p\.ask{name}: is .*link.*remove it"), Project.open(path, write):
            pass
    assert victim.read_text() == "mine"


def test_the_journal_of_another_program_is_never_played(path):
    before = path.read_bytes()
    Path(f"{path}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(2000))
    with pytest.raises(FileError, match=r"p\.ask-journal: the log of another program"):
        say(path, ("i0", "a"))
    assert path.read_bytes() == before


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="needs root, to make a file of another user")
def test_the_lock_of_another_user_is_refused_unless_the_project_is_theirs(path):
    lock = WriterLock(path)
    lock.path.touch()
    os.chown(lock.path, NOBODY, -1)
    with pytest.raises(FileError, match=r"p\.ask\.lock: belongs to another user"):
        lock.take()
    os.chown(path, NOBODY, -1)
    lock.take()
    lock.release()


@posix
def test_a_lock_of_two_names_is_refused(path, tmp_path):
    (tmp_path / "other").touch()
    os.link(tmp_path / "other", f"{path}.lock")
    with pytest.raises(FileError, match=r"p\.ask\.lock: is a file of several names"):
        say(path, ("i0", "a"))


@posix
def test_what_a_project_writes_is_for_its_user_only(path):
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", "a")
        modes = {name: Path(f"{path}{name}").stat().st_mode & 0o777 for name in ("", "-wal", "-shm", ".lock")}
    assert set(modes.values()) == {0o600}


def test_who_only_reads_changes_nothing_and_leaves_nothing_beside(path):
    before = path.read_bytes()
    with Project.open(path) as project:
        with Project.open(path) as other:
            assert project.items.n_items == other.items.n_items == 12
        assert Path(f"{path}-shm").exists()  # the first one needs it still
        assert project.items.n_items == 12
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["p.ask"]


def test_who_only_reads_leaves_the_log_of_a_writer_as_it_is(path):
    with Project.open(path, write=True) as project:
        log_of(path)
        project.say("ann", "i0", "label", "a", key="k")
        log_of(path)
        killed = {name: Path(f"{path}{name}").read_bytes() for name in ("", "-wal")}
        assert killed["-wal"]
    for name, content in killed.items():
        Path(f"{path}{name}").write_bytes(content)
    assert [a.key for a in log_of(path)] == ["k"]
    assert Path(f"{path}-wal").read_bytes() == killed["-wal"]


# Files that are taken away


def take_away(path):
    path.rename(path.with_name("elsewhere.ask"))


def remove(path):
    path.unlink()


def replace(path):
    os.replace(copy_beside(path), path)


def overwrite(path):
    time.sleep(0.01)  # so that its time of change is another
    other = make(path.with_name("other.ask"), 20)
    shutil.copyfile(other, path)


def copy_beside(path):
    return make(path.with_name("other.ask"), 20)


@posix
@pytest.mark.parametrize("happens", [take_away, remove, replace, overwrite])
def test_no_answer_is_acknowledged_once_the_file_is_taken_away(path, happens):
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", "a", key="before")
        happens(path)
        for _ in range(2):
            with pytest.raises(
                BusyError, match=r"p\.ask: was (renamed, replaced or removed|overwritten) while it was open"
            ):
                project.say("ann", "i1", "label", "b", key="after")
    kept = list(path.parent.glob("p.ask.*.old"))
    if happens is not overwrite:
        assert [a.key for a in log_of(kept[0])] == ["before"]
        assert len(kept) == 1


@posix
def test_a_file_that_comes_back_goes_on(path):
    with Project.open(path, write=True) as project:
        take_away(path)
        with pytest.raises(BusyError):
            project.say("ann", "i0", "label", "a")
        path.with_name("elsewhere.ask").rename(path)
        project.say("ann", "i0", "label", "a", key="k")
    assert [a.key for a in log_of(path)] == ["k"]


@posix
def test_an_answer_is_not_acknowledged_if_the_file_goes_while_it_is_written(path, monkeypatch):
    with Store.open(path, write=True) as store:
        execute = store._execute

        def then_goes(query, *values):
            execute(query, *values)
            if query == "COMMIT":
                take_away(path)

        monkeypatch.setattr(store, "_execute", then_goes)
        with pytest.raises(BusyError, match="was renamed"):
            store.append([answer("k")])


def test_a_file_that_only_its_times_were_changed_of_goes_on(path):
    with Project.open(path, write=True) as project:
        for k in range(3):
            os.utime(path, (k, k))
            project.say("ann", f"i{k}", "label", "a")
    assert len(log_of(path)) == 3


# Copies


def test_a_copy_of_a_project_in_use_holds_all_that_was_acknowledged(path, tmp_path):
    copy = tmp_path / "copy.ask"
    with Project.open(path, write=True) as project:
        for k in range(5):
            project.say("ann", f"i{k}", "label", "a", key=f"k{k}")
        assert copy_project(path, copy) == 5
        project.say("ann", "i7", "label", "a", key="later")
    assert [a.key for a in log_of(copy)] == [f"k{k}" for k in range(5)]
    with pytest.raises(FileError, match="is there already"):
        copy_project(path, copy)
    assert restore(copy, path).labels == 5
    assert len(log_of(path)) == 5


def test_the_command_copies_what_is_there(path, tmp_path):
    say(path, ("i0", "a"))
    said = CliRunner().invoke(app, ["copy", str(tmp_path / "copy.ask"), "-p", str(path)])
    assert "1 label, as in" in said.output


# The schema, word for word

ENDLESS = "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k) SELECT count(*) FROM k"
FOREIGN = {
    "a trigger that drops answers": "CREATE TRIGGER t BEFORE INSERT ON answers BEGIN SELECT RAISE(IGNORE); END",
    "a trigger that never ends": f"CREATE TRIGGER t AFTER INSERT ON answers BEGIN {ENDLESS}; END",
    "a generated column": "ALTER TABLE answers ADD COLUMN x TEXT AS (printf('%.*c', 500000000, 'x')) VIRTUAL",
    "a view": f"CREATE VIEW v AS {ENDLESS}",
    "a virtual table": "CREATE VIRTUAL TABLE v USING fts5(x)",
    "another table": "CREATE TABLE t (x)",
    "an index over an expression": "CREATE INDEX i ON items (length(hex(zeroblob(100000))))",
    "a trigger less": "DROP TRIGGER answers_keep",
    "a table less": "DROP TABLE curve",
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_a_schema_that_is_not_ours_word_for_word_is_refused_at_once(path, kind, write):
    hurt(path, FOREIGN[kind])
    before, start = path.read_bytes(), time.process_time()
    with pytest.raises(FileError, match="is missing or not as askgraph makes it"), Project.open(path, write):
        pass
    assert time.process_time() - start < 2  # seconds of CPU time: the statement was not run
    assert path.read_bytes() == before


@pytest.mark.parametrize("seq", [3, 2**63 - 1, -5])
def test_a_gap_in_the_log_is_damage(path, seq):
    say(path, ("i0", "a"))
    query = "INSERT INTO answers (seq, key, who, at, kind, item, label) VALUES (?, 'k', 'a', '', 'label', 3, 'x')"
    hurt(path, query, seq)
    with pytest.raises(FileError, match="2 answers in lines"):
        log_of(path)


@pytest.mark.parametrize("version", [0, -1])
def test_a_version_that_never_was_is_refused(path, version):
    hurt(path, f"PRAGMA user_version = {version}")
    with pytest.raises(FileError, match="does not exist"):
        log_of(path)
