"""Promises 1, 2, 3, 5 and 11: killed, without power, without room, read-only, two writers, an old file, a newer one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from askgraph.errors import AskgraphError, BusyError, FileError, FullError, NewerError
from askgraph.workbench import schema, store
from askgraph.workbench.export import prediction_rows, write_rows
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from askgraph.workbench.store import Store
from askgraph.workbench.writer_lock import WriterLock
from tests.helpers.faults import darkened, killed, size, traced, without_power
from tests.helpers.projects import a_folder_for_all, answer, hurt, log_of, make, make_old, plain_user, say

pytestmark = pytest.mark.slow

posix = pytest.mark.skipif(os.name != "posix", reason="limits and permissions as POSIX has them")
LONG = "x" * 190
TOKEN = "t" * 43


@pytest.mark.slow
@posix
def test_promise_1_a_killed_writer_loses_nothing_it_acknowledged(tmp_path):
    found = killed(make(tmp_path / "p.ask"), writes=300, kills=3, rng=np.random.default_rng(1))
    print(f"promise 1: {found}")
    assert found.acknowledged >= 300
    assert (found.lost, found.damage) == (0, None)
    assert found.work < 5  # seconds of CPU time, which other programs do not lengthen


@pytest.mark.parametrize("torn", [False, True], ids=["dropped", "torn"])
def test_promise_2_a_power_loss_loses_nothing_acknowledged(tmp_path, torn):
    found = darkened(make(tmp_path / "p.ask"), 80, 60, np.random.default_rng(2), torn)
    print(f"promise 2, unsynced writes {'torn' if torn else 'dropped'}: {found}")
    assert (found.lost, found.unreadable) == (0, 0)


def test_without_syncs_a_power_loss_does_lose_labels(tmp_path):
    """That the shim bites: the same labels, not synced."""
    found = darkened(make(tmp_path / "p.ask"), 40, 20, np.random.default_rng(3), False, synchronous="OFF")
    assert found.lost > 0


def labels_until_full(project):
    """Write until there is no room; what was acknowledged."""
    told = []

    def go_on():
        for k in range(5000):
            told.append(project.say("ann", f"i{k % 12}", "label", LONG + str(k % 7)).key)

    with pytest.raises(FullError, match="make room") as raised:
        go_on()
    return told, str(raised.value)


def test_promise_3_a_full_disk_is_said_and_nothing_is_half_written(tmp_path):
    path = make(tmp_path / "p.ask")
    with Project.open(path, write=True) as project:
        ((pages,),) = project.store._rows("PRAGMA page_count")
        project.store._execute(f"PRAGMA max_page_count = {pages + 8}")
        told, said = labels_until_full(project)
        assert "p.ask" in said
        assert [a.key for a in project.answers.log.values()] == told
        with pytest.raises(FullError):
            project.say_all("ann", [(f"i{k}", "label", LONG) for k in range(12)] * 20)
        assert [a.key for a in project.store.answers()] == told
        assert project.finished  # it still answers
        project.store._execute("PRAGMA max_page_count = 100000")
        project.say("ann", "i0", "label", "room again")
        assert project.store.damage() is None
    assert len(log_of(path)) == len(told) + 1
    print(f"promise 3: full after {len(told)} labels, all of them there, the next one too once there is room")


@posix
def test_promise_3_a_file_that_may_not_grow(tmp_path):
    import resource

    path = make(tmp_path / "p.ask")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", "a")
        resource.setrlimit(resource.RLIMIT_FSIZE, (size(path) + 40_000, hard))
        try:
            told, _ = labels_until_full(project)
            with pytest.raises(FullError):
                make(tmp_path / "large.ask", 3000)
            with pytest.raises(FileError, match="cannot be written"):
                write_rows(tmp_path / "labels.csv", ({"id": LONG} for _ in range(3000)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert {a.key for a in project.store.answers()} >= set(told)
        project.say("ann", "i0", "label", "room again")
        assert project.store.damage() is None
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.ask", "p.ask.lock"]
    assert len(log_of(path)) == len(told) + 2


@posix
def test_promise_3_read_only_is_said():
    with a_folder_for_all() as folder:
        path = make(folder / "p.ask")
        path.chmod(0o444)
        with plain_user():
            with pytest.raises(BusyError, match="read-only"):
                say(path, ("i0", "a"))
            with Project.open(path) as project:
                assert project.ask()
        (folder / "p.ask.lock").unlink()
        for left in folder.glob("p.ask-*"):
            left.unlink()
        before = path.read_bytes()
        folder.chmod(0o555)
        with plain_user():
            with pytest.raises(FileError, match="read-only"):
                say(path, ("i0", "a"))
            with pytest.raises(FileError, match="a place to write"):
                WriterLock(path).take()
            with pytest.raises(BusyError, match="copy it to where you may write"):
                log_of(path)
            with pytest.raises(FileError, match="other"):
                make(folder / "other.ask")
            with pytest.raises(FileError, match="choose another place"):
                write_rows(folder / "labels.csv", [{"id": 1}])
        folder.chmod(0o777)
        assert path.read_bytes() == before
        assert [p.name for p in folder.iterdir()] == ["p.ask"]


def test_promise_5_two_writers_wait_or_are_refused(tmp_path):
    path = make(tmp_path / "p.ask")
    first, second = WriterLock(path), WriterLock(path)
    first.take()
    with pytest.raises(BusyError, match=r"p\.ask: another program is writing"):
        second.take(wait=0.1)
    assert second.server() is None  # a writer, no server
    first.tell(url="http://127.0.0.1:1", token=TOKEN)
    assert second.server()[:2] == ("http://127.0.0.1:1", TOKEN)
    threading.Timer(0.1, first.release).start()
    second.take()
    assert first.server() is None
    second.release()
    assert first.server() is None
    assert (tmp_path / "p.ask.lock").stat().st_mode & 0o77 == 0 or os.name != "posix"


@posix
def test_promise_5_a_project_of_two_names_has_one_lock(tmp_path):
    path, other = make(tmp_path / "p.ask"), tmp_path / "other.ask"
    other.symlink_to(path)
    lock = WriterLock(path)
    lock.take()
    with pytest.raises(BusyError):
        WriterLock(other).take(wait=0)
    lock.release()


@posix
def test_what_a_killed_server_left_is_not_taken_for_a_server(tmp_path):
    """Not even while another program looks, too."""
    import fcntl

    lock, other = (WriterLock(make(tmp_path / name)) for name in ("p.ask", "q.ask"))
    lock.take()
    lock.tell("http://127.0.0.1:1", TOKEN)
    lock.release()
    assert lock.server() is None
    with lock.path.open("r+b") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        assert lock.server() is None
    lock.take()  # to write, without serving
    assert (lock.server(), lock.token(), other.token()) == (None, TOKEN, None)
    lock.release()


@posix
def test_promise_5_a_lock_goes_with_its_process(tmp_path):
    path = make(tmp_path / "p.ask")
    assert subprocess.run([sys.executable, "-c", LOCKER, str(path)], check=False).returncode == -9
    say(path, ("i0", "a"))
    assert len(log_of(path)) == 1


LOCKER = """
import os, sys
from askgraph.workbench.writer_lock import WriterLock
WriterLock(sys.argv[1]).take()
os.kill(os.getpid(), 9)
"""
READER = """
import sys
from askgraph.workbench.store import Store
seen = 0
for line in sys.stdin:
    with Store.open(sys.argv[1]) as store:
        answers = store.answers()
        assert [a.seq for a in answers] == list(range(1, len(answers) + 1)), "gaps"
        assert len(answers) >= seen, "went back"
        assert store.damage() is None
        seen = len(answers)
    print(seen, flush=True)
"""


@pytest.mark.slow
def test_promise_5_many_readers_beside_one_writer(tmp_path):
    """One writer that commits and restarts the log all the time, readers in threads and in another process."""
    path = make(tmp_path / "p.ask")
    wrong, stop, reads = [], threading.Event(), []

    def read():
        seen = 0
        while not stop.is_set():
            try:
                found = len(log_of(path))
                assert found >= seen
                seen = found
                reads.append(found)
                time.sleep(0.002)
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        for thread in threads:
            thread.start()
        with Project.open(path, write=True) as project:
            project.store._execute("PRAGMA wal_autocheckpoint = 4")
            for k in range(150):
                project.say("ann", f"i{k % 12}", "label", "ab"[k % 2])
                if k % 30 == 0:
                    reader.stdin.write("\n")
                    reader.stdin.flush()
                    assert int(reader.stdout.readline()) == k + 1
                if k % 50 == 0:
                    project.store._rows("PRAGMA wal_checkpoint(TRUNCATE)")
            stop.set()
            for thread in threads:
                thread.join()
            assert project.store.damage() is None
        reader.stdin.close()
        assert reader.wait() == 0
    assert wrong == []
    print(f"promise 5: 150 commits beside {len(reads)} reads, integrity ok, SQLite {sqlite3.sqlite_version}")


def test_the_log_of_a_deleted_project_is_not_taken_for_a_new_ones(tmp_path):
    path = make(tmp_path / "p.ask")
    say(path, ("i0", "a"))
    with Project.open(path, write=True) as project:
        project.say("ann", "i1", "label", "b")
        wal = Path(f"{path}-wal").read_bytes()
    path.unlink()
    Path(f"{path}-wal").write_bytes(wal)  # its writer was killed
    make(path, 300)
    with Project.open(path) as project:
        assert (project.items.n_items, len(project.answers.log), project.store.damage()) == (300, 0, None)


def test_a_project_that_was_being_made_is_made_again(tmp_path):
    (tmp_path / "p.ask.part").write_bytes(b"half a file")
    (tmp_path / "p.ask.part-journal").write_bytes(b"half a journal")
    path = make(tmp_path / "p.ask")
    with Project.open(path) as project:
        assert project.items.n_items == 12
    with pytest.raises(FileError, match="is there already"):
        make(path)
    assert not list(tmp_path.glob("*.part"))


class Watched:
    """A connection that shows every statement before it runs."""

    def __init__(self, connection, before):
        self._connection, self._before = connection, before

    def execute(self, statement, *values):
        self._before(statement)
        return self._connection.execute(statement, *values)

    def __getattr__(self, name):
        return getattr(self._connection, name)


def version_of(path):
    db = store.connect(path, write=False)
    try:
        return schema.version(db, path)
    finally:
        db.close()


def test_promise_11_an_upgrade_killed_anywhere_leaves_the_old_or_the_new(tmp_path, monkeypatch):
    """What a killed program leaves is what its files hold at that moment."""
    path = make_old(tmp_path / "p.ask", monkeypatch)
    assert version_of(path) == 1
    hurt(path, "INSERT INTO answers (key, who, at, kind, item, label) VALUES ('k', 'ann', '', 'label', 3, 'a')")
    left = []

    def snapshot(statement):
        folder = tmp_path / f"killed{len(left)}"
        folder.mkdir()
        for name in ("p.ask", "p.ask-wal"):
            if (tmp_path / name).exists():
                shutil.copy(tmp_path / name, folder / name)
        left.append(folder / "p.ask")

    opened = store.connect
    monkeypatch.setattr(store, "connect", lambda path, write: Watched(opened(path, write), snapshot))
    Store.open(path, write=True).close()
    monkeypatch.undo()
    versions = [version_of(one) for one in left]
    assert {1, schema.LATEST} <= set(versions) <= set(range(1, schema.LATEST + 1))
    assert versions == sorted(versions)
    for one in (*left, path):
        assert [a.key for a in log_of(one)] == ["k"]
        assert not list(one.parent.glob("*.old"))  # what was left is its own
        with Store.open(one, write=True) as found:
            found.add_to_curve(1, 0.5, 0.4, 0.6)
            assert found.curve() == [(1, 0.5, 0.4, 0.6)]
            assert found.damage() is None
        assert version_of(one) == schema.LATEST
    print(f"promise 11: killed at each of {len(left)} statements, always the old or the new")


def test_promise_11_an_upgrade_without_power_leaves_the_old_or_the_new(tmp_path, monkeypatch):
    import apsw

    from tests.helpers.faults import Trace

    path = make_old(tmp_path / "p.ask", monkeypatch)
    start, trace = path.read_bytes(), Trace()
    db = apsw.Connection(str(path), vfs="trace", flags=apsw.SQLITE_OPEN_READWRITE)
    store.make_durable(db)
    schema.upgrade(db, 1)
    db.close()
    trace.unregister()
    rng = np.random.default_rng(4)
    for end in range(1, len(trace.steps) + 1):
        for torn in (None, rng):
            without_power(path, start, trace.steps, end, torn)
            assert version_of(path) in range(1, schema.LATEST + 1)
            with Store.open(path, write=True) as found:
                assert found.curve() == []


def test_an_upgrade_that_fails_is_undone(tmp_path, monkeypatch):
    path = make_old(tmp_path / "p.ask", monkeypatch)
    wrong = [*schema.VERSIONS[:1], ["CREATE TABLE curve (x)", "CREATE TABLE curve (x)"]]
    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSIONS", wrong)
        with pytest.raises(FileError, match="already exists"):
            Store.open(path, write=True)
    assert version_of(path) == 1
    Store.open(path, write=True).close()
    assert version_of(path) == schema.LATEST


def test_an_old_file_is_read_as_it_is(tmp_path, monkeypatch):
    path = make_old(tmp_path / "p.ask", monkeypatch, labels=["a", *[None] * 10, "b"])
    with Project.open(path) as project:
        assert len(list(prediction_rows(project))) == 12
    assert version_of(path) == 1


@pytest.mark.parametrize("write", [False, True])
def test_promise_11_a_newer_file_is_refused_and_left_alone(tmp_path, write):
    path = make(tmp_path / "p.ask")
    say(path, ("i0", "a"))
    hurt(path, "PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(NewerError, match="pip install -U askgraph"), Project.open(path, write=write):
        pass
    assert path.read_bytes() == before


def other_database(path):
    hurt(path, "CREATE TABLE t (x)")


NO_PROJECTS = {
    "another database": (other_database, "not an askgraph project"),
    "an empty file": (lambda path: path.write_bytes(b""), "not an askgraph project"),
    "random bytes": (lambda path: path.write_bytes(np.random.default_rng(5).bytes(9000)), "not a database"),
    "text": (lambda path: path.write_text("id,label\n1,a\n" * 99), "not a database"),
    "half a header": (lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(30)), "not"),
    "a folder": (lambda path: path.mkdir(), "no such project"),
    "nothing": (lambda path: None, "no such project"),
}


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("kind", NO_PROJECTS)
def test_what_is_no_project_is_named_and_left_alone(tmp_path, kind, write):
    make_it, says = NO_PROJECTS[kind]
    path = tmp_path / "p.ask"
    make_it(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(FileError, match=says) as raised, Project.open(path, write=write):
        pass
    assert "p.ask" in str(raised.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [p.name for p in tmp_path.iterdir() if p.name != "p.ask"] == []


def test_what_would_compute_without_end_is_refused(tmp_path):
    path = make(tmp_path / "p.ask")
    endless = "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k) SELECT n AS place, n AS id, '' AS fields FROM k"
    hurt(path, "ALTER TABLE items RENAME TO others")
    hurt(path, f"CREATE VIEW items AS {endless}")
    with pytest.raises(FileError, match="not as askgraph makes it"), Project.open(path):
        pass


def test_a_file_that_goes_while_it_is_open_is_an_error_of_ours(tmp_path):
    path = make(tmp_path / "p.ask")
    with Project.open(path, write=True) as project:
        project.store._execute("PRAGMA query_only = ON")
        with pytest.raises(BusyError, match="readonly"):
            project.say("ann", "i0", "label", "a")
        project.store._execute("PRAGMA query_only = OFF")
        project.say("ann", "i0", "label", "a")
    with pytest.raises(AskgraphError, match="nowhere"):
        Project.create(tmp_path / "nowhere" / "p.ask", Source(table=_table(tmp_path)))


def _table(folder):
    path = folder / "t.csv"
    path.write_text("id,x\na,1\nb,2\nc,4\n")
    return path


def test_answers_come_back_as_they_were_written(tmp_path):
    path = make(tmp_path / "p.ask")
    with Store.open(path, write=True) as opened:
        written = opened.append([answer("k", 3, "ümläut ☃ 名前", "zoë")])
        assert opened.answers() == written
        assert written[0].at.endswith("Z")
    assert log_of(path) == written
    assert traced(path, 2)[-1][0] == "delete"
