"""A copy put back after a crash opens with what the copy holds; a log that is the file's own is always played."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.errors import BusyError, FileError, FullError
from askgraph.workbench import old_log, restoring, schema
from askgraph.workbench.project import Project
from askgraph.workbench.report import checkup
from askgraph.workbench.store import Store
from askgraph.workbench.writer_lock import WriterLock
from tests.helpers.projects import a_folder_for_all, answer, hurt, log_of, make, plain_user, say

pytestmark = pytest.mark.slow
posix = pytest.mark.skipif(os.name != "posix", reason="kills and permissions as POSIX has them")
WRITER = """
import sys, time
from askgraph.workbench.project import Project
with Project.open(sys.argv[1], write=True) as project:
    start = len(project.answers.log)
    for k in range(start, start + int(sys.argv[2])):
        project.say("ann", f"i{k}", "label", "ab"[k % 2], key=f"k{k}")
    print("done", flush=True)
    time.sleep(600)
"""


def label(path, count):
    """So many labels more, and a clean stop."""
    with Project.open(path, write=True) as project:
        start = len(project.answers.log)
        for k in range(start, start + count):
            project.say("ann", f"i{k}", "label", "ab"[k % 2], key=f"k{k}")


def crash(path, count, before_kill=lambda: None):
    """So many labels more, and kill -9."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(count)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"done\n"
        before_kill()
        process.send_signal(signal.SIGKILL)
    assert Path(f"{path}-wal").stat().st_size > 0


def keys(path):
    return [a.key for a in log_of(path)]


def first(count):
    return [f"k{k}" for k in range(count)]


def old_logs(path):
    return sorted(path.parent.glob(f"{path.name}-wal.*.old"))


def is_sound(path):
    with Project.open(path) as project:
        found = checkup(project)
    return found["damage"] is None and "file: sound" in found["checked"][0]


def copied(path, other):
    """As cp does: into the file that is there."""
    shutil.copyfile(path, other)


def moved(path, other):
    """As mv does: another file by the same name."""
    between = shutil.copyfile(path, f"{path}.moved")
    os.replace(between, other)


def by_backup(path, other):
    """As sqlite3 p.ask ".backup copy.ask" does."""
    with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(other)) as to:
        db.backup(to)


def by_vacuum(path, other):
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM INTO ?", (str(other),))


@pytest.mark.long
@pytest.mark.slow
@posix
@pytest.mark.parametrize("put_back", [copied, moved])
@pytest.mark.parametrize("before", [0, 120])
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_a_copy_put_back_after_a_kill_opens_with_what_the_copy_holds(tmp_path, caplog, put_back, before, write):
    path, copy = make(tmp_path / "p.ask", 250), tmp_path / "backup.ask"
    if before == 0:
        shutil.copy(path, copy)
    label(path, 120)
    if before == 120:
        shutil.copy(path, copy)
    crash(path, 60)
    left = Path(f"{path}-wal").read_bytes()
    put_back(copy, path)
    with caplog.at_level(logging.WARNING, logger="askgraph"), Project.open(path, write=write) as project:
        assert [a.key for a in project.answers.log.values()] == first(before)
    (old,) = old_logs(path)
    assert old.read_bytes() == left
    assert old.name in caplog.text
    assert is_sound(path)
    label(path, 10)
    assert keys(path) == first(before + 10)
    assert is_sound(path)
    assert old_logs(path) == [old]


@posix
@pytest.mark.parametrize("make_copy", [by_backup, by_vacuum])
@pytest.mark.parametrize("more", [0, 7])
def test_a_copy_that_sqlite_made_while_it_was_served_opens_with_what_the_copy_holds(tmp_path, make_copy, more):
    path, copy = make(tmp_path / "p.ask", 250), tmp_path / "backup.ask"
    label(path, 20)
    with Project.open(path, write=True) as project:
        for k in range(20, 20 + more):
            project.say("ann", f"i{k}", "label", "a", key=f"k{k}")
        make_copy(path, copy)
        for k in range(20 + more, 60):
            project.say("ann", f"i{k}", "label", "a", key=f"k{k}")
        left = left_by_a_kill(path, tmp_path / "left")
    copied(copy, left)
    assert keys(left) == first(20 + more)
    assert is_sound(left)
    assert len(old_logs(left)) == 1
    label(left, 5)
    assert keys(left) == first(25 + more)


def left_by_a_kill(path, folder):
    """The files as they are now, in a folder of their own."""
    folder.mkdir()
    for name in ("", "-wal", "-shm"):
        if Path(f"{path}{name}").exists():
            shutil.copy(f"{path}{name}", folder)
    return folder / path.name


@pytest.mark.slow
@posix
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_after_a_kill_the_log_is_played(tmp_path, write):
    path = make(tmp_path / "p.ask", 250)
    label(path, 120)
    for k in range(3):
        crash(path, 20)
        with Store.open(path, write=write) as found:
            assert [a.key for a in found.answers()] == first(140 + 20 * k)
    assert is_sound(path)
    assert old_logs(path) == []


@pytest.mark.slow
@posix
@pytest.mark.parametrize("kept", [False, True], ids=["one log", "a log that was begun anew"])
def test_a_log_of_which_a_part_is_in_the_file_is_played(tmp_path, kept):
    path = make(tmp_path / "p.ask", 250)

    def a_part():
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA wal_checkpoint(RESTART)" if kept else "PRAGMA wal_checkpoint(PASSIVE)")

    crash(path, 30, a_part)
    assert keys(path) == first(30)
    with Store.open(path, write=True) as store:
        for round in range(3):
            with reading(path) as reader:
                old = len(reader.execute("SELECT seq FROM answers").fetchall())
                for k in range(20):
                    store.append([answer(f"r{round} {k}", k)])
                _, log, done = store._rows("PRAGMA wal_checkpoint(PASSIVE)")[0]
                assert done < log
                left = left_by_a_kill(path, tmp_path / f"left{round}")
                assert len(keys(left)) == old + 20
                assert old_logs(left) == []


@contextmanager
def reading(path):
    """A reader that stays at what it has seen first: the log cannot be brought into the file beyond that."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM answers").fetchall()
        yield db


def test_a_log_with_a_torn_end_is_played_as_far_as_it_goes(tmp_path):
    path = make(tmp_path / "p.ask")
    with Store.open(path, write=True) as store:
        for k in range(5):
            store.append([answer(f"k{k}")])
        size = Path(f"{path}-wal").stat().st_size
        assert size == 32 + 5 * 3 * (24 + 4096)
        for k, cut in enumerate((1, 100, 4120, 5000, 12_359, size - 5000, size - 40, size - 31, size - 10)):
            left = left_by_a_kill(path, tmp_path / f"left{k}")
            log = Path(f"{left}-wal")
            log.write_bytes(log.read_bytes()[:-cut])
            found = keys(left)
            assert found == first(4 if cut < size // 2 else 0)
            assert old_logs(left) == []


def test_the_log_of_another_project_is_put_aside(tmp_path):
    path, other = make(tmp_path / "p.ask"), make(tmp_path / "other.ask", 90)
    with Store.open(path, write=True) as store:
        store.append([answer("k0")])
        left = left_by_a_kill(path, tmp_path / "left")
    say(other, ("i80", "a"))
    copied(other, left)
    with Project.open(left) as project:
        assert (project.items.n_items, len(project.answers.log)) == (90, 1)
    assert is_sound(left)


def old_version(path, monkeypatch, number):
    with monkeypatch.context() as patch:
        patch.setattr(schema, "LATEST", number)
        make(path)
    return path


@pytest.mark.parametrize("number", [1, 2])
def test_a_copy_of_an_older_version_opens_with_what_the_copy_holds(tmp_path, monkeypatch, number):
    path = old_version(tmp_path / "p.ask", monkeypatch, number)
    hurt(path, "INSERT INTO answers (key, who, at, kind, item, label) VALUES ('k0', 'ann', '', 'label', 3, 'a')")
    copy = shutil.copy(path, tmp_path / "copy.ask")
    with Store.open(path, write=True) as store:
        for k in range(1, 9):
            store.append([answer(f"k{k}", k)])
        left = left_by_a_kill(path, tmp_path / "left")
    copied(copy, left)
    assert keys(left) == ["k0"]
    assert len(old_logs(left)) == 1
    with Store.open(left, write=True) as store:
        assert [a.key for a in store.answers()] == ["k0"]
        assert store.damage() is None


@pytest.mark.parametrize("number", [1, 2])
def test_the_log_of_an_older_program_is_played(tmp_path, monkeypatch, number):
    path = old_version(tmp_path / "p.ask", monkeypatch, number)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for k in range(5):
            db.execute(
                "INSERT INTO answers (key, who, at, kind, item, label) VALUES (?, 'ann', '', 'label', 3, 'a')",
                (f"k{k}",),
            )
        left = left_by_a_kill(path, tmp_path / "left")
    assert keys(left) == first(5)
    with Store.open(left, write=True) as store:
        assert [a.key for a in store.answers()] == first(5)
    assert old_logs(left) == []


def test_a_log_that_begins_with_an_upgrade_is_played(tmp_path, monkeypatch):
    path = old_version(tmp_path / "p.ask", monkeypatch, 1)
    with reading(path), closing(sqlite3.connect(path, isolation_level=None)) as db:
        schema.upgrade(db, 1)
        Store(path, db).append([answer("k0")])
        left = left_by_a_kill(path, tmp_path / "left")
    assert keys(left) == ["k0"]
    assert old_logs(left) == []


@pytest.mark.parametrize("what", ["not a log", "", "\x37\x7f\x06\x82"])
def test_what_is_no_log_is_left_to_sqlite(tmp_path, what):
    path = make(tmp_path / "p.ask")
    say(path, ("i0", "a"))
    Path(f"{path}-wal").write_text(what * 50, encoding="latin-1")
    assert len(log_of(path)) == 1
    assert old_logs(path) == []


def test_the_log_of_another_kind_of_database_is_left_alone(tmp_path):
    path, left = tmp_path / "p.ask", tmp_path / "left" / "p.ask"
    project = make(tmp_path / "project.ask")
    hurt(path, "CREATE TABLE t (x)")
    with Store.open(project, write=True) as store:
        store.append([answer("k0")])
        left.parent.mkdir()
        shutil.copy(path, left)
        shutil.copy(f"{project}-wal", f"{left}-wal")
    before = Path(f"{left}-wal").read_bytes()
    with pytest.raises(FileError):
        log_of(left)
    assert Path(f"{left}-wal").read_bytes() == before


def test_what_people_write_is_not_taken_for_the_name_of_a_commit(tmp_path):
    path = make(tmp_path / "p.ask")
    with Store.open(path, write=True) as store:
        ((this, before),) = store._rows("SELECT this, before FROM commits")
        for k, text in enumerate((this + before, "\x44\x01\x04\0\x4d\x4d" + "0" * 64, "D\x01\x04" + "f" * 64)):
            store.append([answer(f"k{k}", label=text)])
        left = left_by_a_kill(path, tmp_path / "left")
    assert keys(left) == first(3)


def put_back_beside_a_log(folder, count=8):
    """A project as somebody finds it who has put a copy back after a crash."""
    path = make(folder / "p.ask", 250)
    label(path, count)
    copy = shutil.copy(path, folder / "copy.ask")
    with Store.open(path, write=True) as store:
        store.append([answer("gone")])
        left = left_by_a_kill(path, folder / "left")
    copied(copy, left)
    return left


def test_many_who_look_at_the_same_time_all_see_the_copy(tmp_path):
    path, found = put_back_beside_a_log(tmp_path), []
    ready = threading.Barrier(8)

    def look(write):
        ready.wait()
        if write:
            with Project.open(path, write=True) as project:
                found.append(len(project.answers.log))
        else:
            found.append(len(log_of(path)))

    threads = [threading.Thread(target=look, args=(k == 0,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [8] * 8
    assert len(old_logs(path)) == 1


def test_the_log_of_a_writer_at_work_is_left_alone(tmp_path, monkeypatch):
    """Also when it looks like another file's, as it may for a moment."""
    monkeypatch.setattr(old_log, "LOCK_SECONDS", 0.1)
    path = put_back_beside_a_log(tmp_path)
    lock = WriterLock(path)
    lock.take()
    try:
        with Store.open(path):
            assert old_logs(path) == []
    finally:
        lock.release()


@posix
def test_a_log_that_cannot_be_put_aside_is_named(tmp_path):
    with a_folder_for_all() as folder:
        path = put_back_beside_a_log(tmp_path)
        for name in ("", "-wal"):
            Path(shutil.copy(f"{path}{name}", folder)).chmod(0o644)
        folder.chmod(0o555)
        with plain_user(), pytest.raises(FileError, match=r"copy p\.ask, without p\.ask-wal, to where you may write"):
            log_of(folder / "p.ask")
        folder.chmod(0o777)
        assert old_logs(folder / "p.ask") == []


@posix
def test_a_project_that_another_name_links_to_is_looked_after_too(tmp_path):
    path, other = put_back_beside_a_log(tmp_path), tmp_path / "other.ask"
    other.symlink_to(path)
    assert keys(other) == first(8)
    assert len(old_logs(path)) == 1


@posix
def test_a_project_on_a_full_disk_opens_and_says_so_when_an_answer_comes(tmp_path):
    import resource

    path = make(tmp_path / "p.ask")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**15, hard))  # room for what SQLite keeps beside the file, not in it
    try:
        with Project.open(path, write=True) as project, pytest.raises(FullError, match="make room"):
            project.say_all("ann", [("i0", "label", "a" * 190)] * 200)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    label(path, 3)
    assert keys(path) == first(3)
    assert old_logs(path) == []


def test_a_commit_of_nothing_writes_nothing(tmp_path):
    path = make(tmp_path / "p.ask")
    with Store.open(path, write=True) as store:
        store.append([answer("k")])
        before = Path(f"{path}-wal").read_bytes()
        store.append([answer("k")])
        assert Path(f"{path}-wal").read_bytes() == before


class Life:
    """A project that is written, brought into its file, copied, killed and put back, in any order."""

    def __init__(self, folder, rng):
        self.folder, self.rng = folder, rng
        folder.mkdir()
        self.path, self.copies, self.count, self.reader = make(folder / "p.ask"), [], 0, None
        self.store, self.kills, self.put_back = Store.open(self.path, write=True), 0, 0

    def step(self):
        steps = [self.commit] * 4 + [self.copy, self.put_a_copy_back] * 3
        steps += [
            self.keep,
            self.checkpoint,
            self.checkpoint,
            self.read,
            self.stop_reading,
            self.stop_and_start,
            self.kill,
        ]
        steps[self.rng.integers(len(steps))]()

    def commit(self):
        self.store.append([answer(f"k{self.count}")])
        self.count += 1

    def keep(self):
        self.store.keep("layout", self.rng.random(self.rng.integers(30_000)))

    def checkpoint(self):
        self.store._execute("PRAGMA busy_timeout = 0")
        self.store._rows(f"PRAGMA wal_checkpoint({self.rng.choice(['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'])})")

    def read(self):
        """A reader stays at what it sees now: the log is not brought into the file beyond that."""
        self.stop_reading()
        self.reader = sqlite3.connect(self.path, isolation_level=None)
        self.reader.execute("BEGIN")
        self.reader.execute("SELECT count(*) FROM answers").fetchall()

    def stop_reading(self):
        if self.reader is not None:
            self.reader.close()
            self.reader = None

    def copy(self):
        """Only a copy of a copy by .backup has the layout's number of what it was made of."""
        how = (copied, by_backup, by_vacuum)[self.rng.integers(3)]
        ((layout,),) = self.store._rows("PRAGMA schema_version")
        how(self.path, copy := self._next_copy())
        self._remember(copy, exact=how is by_vacuum or (how is by_backup and layout != 1))

    def stop_and_start(self):
        self.stop()
        self._remember(shutil.copy(self.path, self._next_copy()), exact=True)
        self.store = Store.open(self.path, write=True)

    def kill(self):
        newest, left = first(self.count), self._left()
        assert self._go_on_with(left) == newest
        assert not old_logs(left)

    def put_a_copy_back(self):
        if not self.copies:
            return
        copy, held, exact = self.copies[self.rng.integers(len(self.copies))]
        newest, left = first(self.count), self._left()
        (copied, moved)[self.rng.integers(2)](copy, left)
        found = self._go_on_with(left)
        assert found == held or (not exact and not old_logs(left) and found == newest)
        self.put_back += len(old_logs(left))

    def stop(self):
        self.stop_reading()
        self.store.close()

    def _next_copy(self):
        return self.folder / f"copy{len(self.copies)}.ask"

    def _remember(self, copy, exact):
        self.copies.append((copy, keys(Path(shutil.copy(copy, self.folder / "alone.ask"))), exact))

    def _left(self):
        self.kills += 1
        return left_by_a_kill(self.path, self.folder / f"left{self.kills}")

    def _go_on_with(self, left):
        self.stop()
        self.path, found = left, keys(left)
        self.count, self.store = len(found), Store.open(left, write=True)
        assert [a.key for a in self.store.answers()] == found
        assert self.store.damage() is None
        return found


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_any_life_leaves_the_copy_or_the_newest_and_never_a_mixture(tmp_path, seed):
    """A copy made with the project closed, or by SQLite, is always found as it is."""
    rng, kills, put_back = np.random.default_rng(seed), 0, 0
    for k in range(12):
        life = Life(tmp_path / str(k), rng)
        for _ in range(40):
            life.step()
        life.stop()
        kills, put_back = kills + life.kills, put_back + life.put_back
    print(f"{kills} kills, {put_back} logs put aside")
    assert put_back > kills / 10


# The command


def run(*args):
    found = CliRunner().invoke(app, [str(arg) for arg in args], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


@pytest.fixture
def crashed(tmp_path):
    """A project with 8 labels in a copy, 11 before a crash that has left its log."""
    path = make(tmp_path / "first.ask", 250)
    label(path, 8)
    copy = Path(shutil.copy(path, tmp_path / "copy.ask"))
    with Store.open(path, write=True) as store:
        store.append([answer(f"k{k}", k) for k in range(8, 11)])
        left = left_by_a_kill(path, tmp_path / "here")
    left = left.rename(left.with_name("p.ask"))
    for name in ("-wal", "-shm"):
        left.with_name(f"first.ask{name}").rename(f"{left}{name}")
    return left, copy


def test_restore_puts_a_copy_back_and_keeps_what_was_there(crashed):
    path, copy = crashed
    path.chmod(0o600)
    held = copy.read_bytes()
    said = run("restore", copy, "-p", path)
    assert f"{path}: 8 labels now, as in {copy}\n" in said
    (kept,) = path.parent.glob("p.ask.*.old")
    assert f"what was there before is kept as {kept}\n" in said
    assert (keys(path), keys(kept)) == (first(8), first(11))
    assert is_sound(path)
    assert is_sound(kept)
    assert copy.read_bytes() == held
    assert path.stat().st_mode == kept.stat().st_mode
    assert not list(path.parent.glob("*.part*"))
    label(path, 2)
    assert keys(path) == first(10)
    run("restore", kept, "-p", path)
    assert keys(path) == first(11)
    assert old_logs(path) == []


def test_restore_takes_the_log_of_the_copy_with_it(crashed):
    crash_and_log, copy = crashed
    run("restore", crash_and_log, "-p", copy)
    assert keys(copy) == first(11)
    assert is_sound(copy)


def test_restore_also_where_there_is_no_project_or_a_damaged_one(crashed, tmp_path):
    path, copy = crashed
    assert "kept" not in run("restore", copy, "-p", tmp_path / "new.ask")
    assert keys(tmp_path / "new.ask") == first(8)
    path.write_bytes(b"no project")
    assert "8 labels now" in run("restore", copy, "-p", path)
    assert keys(path) == first(8)
    path.unlink()
    Path(f"{path}-wal").write_bytes(b"the log of what was removed")
    run("restore", copy, "-p", path)
    assert keys(path) == first(8)


def test_restore_is_refused_while_somebody_writes(crashed):
    path, copy = crashed
    before = sorted((p.name, p.read_bytes()) for p in path.parent.iterdir())
    lock = WriterLock(path)
    lock.take()
    lock.tell("http://127.0.0.1:1", "t" * 43)
    with pytest.raises(BusyError, match=r"p\.ask: a server has it open at http"):
        run("restore", copy, "-p", path)
    lock.release()
    assert sorted((p.name, p.read_bytes()) for p in path.parent.iterdir() if p.suffix != ".lock") == before


def test_restore_refuses_what_is_no_sound_copy_and_changes_nothing(crashed, tmp_path):
    path, copy = crashed
    before = sorted((p.name, p.read_bytes()) for p in path.parent.iterdir() if p.name != "p.ask-shm")
    damaged = bytearray(copy.read_bytes())
    at = damaged.find(b"i249")
    damaged[at : at + 4] = b"i001"  # an id that its index does not have
    (tmp_path / "damaged.ask").write_bytes(damaged)
    (tmp_path / "text.ask").write_text("text")
    for name, says in (("damaged", "choose another copy"), ("text", "not"), ("none", "no such project")):
        with pytest.raises(FileError, match=says):
            run("restore", tmp_path / f"{name}.ask", "-p", path)
    with pytest.raises(FileError, match="the project itself"):
        run("restore", path, "-p", path)
    assert sorted((p.name, p.read_bytes()) for p in path.parent.iterdir() if p.name != "p.ask-shm") == before


def test_restore_without_room_leaves_the_project_as_it_is(crashed, monkeypatch):
    path, copy = crashed

    def full(*_):
        raise OSError(28, "No space left on device")

    for where in ("askgraph.workbench.restoring.shutil.copyfileobj", "askgraph.workbench.store.make_durable"):
        with monkeypatch.context() as patch:
            patch.setattr(where, full)
            with pytest.raises(FileError, match="No space left"):
                restoring.restore(copy, path)
        assert sorted(p.name for p in path.parent.iterdir() if p.suffix != ".lock") == [
            "p.ask",
            "p.ask-shm",
            "p.ask-wal",
        ]
    assert keys(path) == first(11)


def test_a_restore_that_was_killed_leaves_the_project_or_the_copy(crashed, monkeypatch):
    path, copy = crashed

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)  # the copy is in its place, the log of what was there still beside it
        with pytest.raises(KeyboardInterrupt):
            restoring.restore(copy, path)
    assert Path(f"{path}-wal").stat().st_size > 0
    assert keys(path) == first(8)
    assert len(old_logs(path)) == 1
