"""Ways to lose what was written: the program killed, the machine without power."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import apsw

from askgraph.errors import FileError
from askgraph.workbench.backup_files import list_backups
from askgraph.workbench.database import make_durable
from askgraph.workbench.project import Project
from askgraph.workbench.store import Store
from tests.helpers.projects import answer

SECTOR = 512
WRITER = """
import os, sys
from askgraph.errors import FileError
from askgraph.workbench.backup_files import list_backups
from askgraph.workbench.project import Project
with Project.open(sys.argv[1], write=True) as project:
    k = len(project.answers.log)
    while True:
        project.say("ann", f"i{k % 12}", "label", "ab"[k % 2], key=f"k{k}")
        os.write(1, f"k{k}\\n".encode())  # it is acknowledged
        k += 1
"""


class Killed(NamedTuple):
    kills: int
    acknowledged: int
    lost: int
    damage: str | None
    slowest: float  # seconds until the project answered again
    work: float  # the same in seconds of CPU time

    def __str__(self) -> str:
        found = f"integrity {self.damage or 'ok'}, ready again in {self.slowest:.2f} s at most"
        return f"{self.kills} kills over {self.acknowledged} acknowledged labels: {self.lost} lost, {found}"


def killed(path, writes, kills, rng) -> Killed:
    """Kill -9 a program that writes labels, at random moments, and look what is left."""
    told: list[str] = []
    damage, slowest, work = None, 0.0, 0.0
    for k in range(kills):
        wanted = max(1, (writes - len(told)) // (kills - k))
        told += _killed_once(path, wanted, rng.uniform(0, 0.005))
        start, busy = time.monotonic(), time.process_time()
        with Project.open(path, write=True) as project:
            project.ask()
            slowest, work = max(slowest, time.monotonic() - start), max(work, time.process_time() - busy)
            damage = damage or project.store.damage()
            there = [a.key for a in project.answers.log.values()]
    return Killed(kills, len(told), len(set(told) - set(there)), damage, slowest, work)


def _killed_once(path, wanted, later) -> list[str]:
    """What a writer had acknowledged, at least so much, when it was killed."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        told = [process.stdout.readline() for _ in range(wanted)]
        time.sleep(later)
        process.send_signal(signal.SIGKILL)
        told += process.stdout.readlines()
    return [line.decode().strip() for line in told if line.endswith(b"\n")]


class Trace(apsw.VFS):
    """Writes files as ever, and remembers what was written, what was synced and what was said to be safe, in order."""

    def __init__(self) -> None:
        self.steps: list[tuple] = []
        super().__init__("trace", "")

    def xOpen(self, name, flags):
        return _Traced(self.steps, name, flags)

    def xDelete(self, name, sync):
        self.steps.append(("delete", name))
        super().xDelete(name, sync)


class _Traced(apsw.VFSFile):
    def __init__(self, steps, name, flags) -> None:
        self._steps = steps
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else name
        super().__init__("", name, flags)

    def xWrite(self, data, offset):
        self._steps.append(("write", self._name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size):
        self._steps.append(("truncate", self._name, size))
        super().xTruncate(size)

    def xSync(self, flags):
        self._steps.append(("sync", self._name))
        super().xSync(flags)


def traced(path, labels, synchronous="FULL"):
    """Labels written one after another through a trace: the steps, "safe" with its key among them."""
    trace = Trace()
    db = apsw.Connection(str(path), vfs="trace", flags=apsw.SQLITE_OPEN_READWRITE)
    make_durable(db)
    db.execute(f"PRAGMA synchronous = {synchronous}")
    db.execute("PRAGMA wal_autocheckpoint = 25")
    store = Store(path, db)
    for k in range(labels):
        store.append([answer(f"k{k}", k % 12, "ab"[k % 2])])
        trace.steps.append(("safe", f"k{k}"))
    store.close()
    trace.unregister()
    return trace.steps


def without_power(path, start, steps, end, rng=None):
    """Leave the files as a disk holds them when the power goes after so many steps.

    What was not synced is gone; with ``rng``, any part of it is there, down to single sectors.
    Returns what had been acknowledged.
    """
    disk = {str(path): bytearray(start)}
    waiting: dict[str, list[tuple]] = {}
    safe = []
    for step in steps[:end]:
        if step[0] == "safe":
            safe.append(step[1])
        elif step[0] == "delete":
            disk.pop(step[1], None)
            waiting.pop(step[1], None)
        elif step[0] == "sync":
            for one in waiting.pop(step[1], []):
                _apply(disk, one)
        else:
            waiting.setdefault(step[1], []).append(step)
    unsynced = [part for some in waiting.values() for step in some for part in _parts(step)]
    for one in unsynced:
        if rng is not None and rng.random() < 0.5:
            _apply(disk, one)
    for name in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{name}").unlink(missing_ok=True)
    for name, content in disk.items():
        Path(name).write_bytes(content)
    return safe


def _apply(disk, step):
    content = disk.setdefault(step[1], bytearray())
    if step[0] == "truncate":
        del content[step[2] :]
        return
    _, _, offset, data = step
    content.extend(bytes(max(0, offset + len(data) - len(content))))
    content[offset : offset + len(data)] = data


def _parts(step):
    """A write by sectors."""
    if step[0] != "write":
        return [step]
    _, name, offset, data = step
    return [("write", name, offset + k, data[k : k + SECTOR]) for k in range(0, len(data), SECTOR)]


class Dark(NamedTuple):
    points: int
    acknowledged: int
    lost: int
    unreadable: int

    def __str__(self) -> str:
        return (
            f"power lost at {self.points} points of {self.acknowledged} acknowledged labels: "
            f"{self.lost} lost, {self.unreadable} files that do not open"
        )


def darkened(path, labels, points, rng, torn, synchronous="FULL") -> Dark:
    """The power goes at random moments of so many labels; what is left is opened and read."""
    start = Path(path).read_bytes()
    steps = traced(path, labels, synchronous)
    lost = unreadable = 0
    for end in sorted(rng.integers(1, len(steps) + 1, points).tolist()):
        safe = without_power(path, start, steps, end, rng if torn else None)
        try:
            with Store.open(path, write=True) as store:
                lost += len(set(safe) - {a.key for a in store.answers()})
                unreadable += store.damage() is not None
        except ValueError:
            unreadable += 1
    return Dark(points, labels, lost, unreadable)


def size(path) -> int:
    """The largest of a project's files."""
    return max(os.path.getsize(f"{path}{name}") for name in ("", "-wal") if os.path.exists(f"{path}{name}"))


BACKUP_WRITER = """
import sys
from askgraph.workbench.backups import BackupPlan, Backups
from askgraph.errors import FileError
from askgraph.workbench.backup_files import list_backups
from askgraph.workbench.project import Project
with Project.open(sys.argv[1], write=True) as project:
    backups = Backups(project.store, BackupPlan(keep=3, answers=1))
    print("ready", flush=True)
    while True:
        project.say("ann", f"i{len(project.answers.log) % 250}", "label", "a")
        backups.make_if_due(project.store.lines)
"""


class BackupsKilled(NamedTuple):
    """What was left after a process that makes backups was killed so often."""

    kills: int
    midway: int  # kills that left a half-made copy
    torn: int  # backups that did not open, were damaged or held fewer answers than they say
    most: int  # the most backups at any time

    def __str__(self):
        return f"{self.kills} kills, {self.midway} while a copy was written: {self.torn} torn, at most {self.most} at a time"


def backups_killed(path, kills, rng) -> BackupsKilled:
    """Kill a process that saves answers and makes a backup after each, at random moments; check every backup that is left."""
    midway = torn = most = 0
    for _ in range(kills):
        with subprocess.Popen([sys.executable, "-c", BACKUP_WRITER, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            while not list_backups(path):
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
        midway += Path(f"{path}.backup.part").exists()
        left = list_backups(path)
        most = max(most, len(left))
        torn += not left or not all(map(_is_whole, left))
    return BackupsKilled(kills, midway, torn, most)


def _is_whole(backup) -> bool:
    try:
        with Store.open(backup.path) as store:
            return store.damage() is None and len(store.answers()) >= backup.lines
    except FileError:
        return False
