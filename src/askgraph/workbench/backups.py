"""Backups that are made by themselves: rolling copies beside a project, each checked before it counts."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from askgraph.errors import FileError, SettingError
from askgraph.workbench.backup_files import TIME, Backup, list_backups
from askgraph.workbench.store import Store

log: logging.Logger = logging.getLogger("askgraph")
LOOK_SECONDS = 2.0  # how often a server looks whether a backup is due
MEGABYTE = 2**20


def _now() -> datetime:
    return datetime.now(UTC)


class BackupPlan(NamedTuple):
    """How often a backup is made, and how many are kept: ``keep`` of them, in ``megabytes`` all together."""

    keep: int = 3
    answers: int = 100
    minutes: float = 10.0
    megabytes: float = 1000.0

    @classmethod
    def from_environment(cls) -> BackupPlan:
        """Return the plan that ASKGRAPH_BACKUPS, ASKGRAPH_BACKUP_ANSWERS and the like set; the usual one without them."""
        return cls(
            int(_variable("ASKGRAPH_BACKUPS", 3)),
            int(_variable("ASKGRAPH_BACKUP_ANSWERS", 100)),
            _variable("ASKGRAPH_BACKUP_MINUTES", 10.0),
            _variable("ASKGRAPH_BACKUP_MEGABYTES", 1000.0),
        )

    def is_due(self, made: Sequence[Backup], lines: int, now: datetime) -> bool:
        """Return whether a backup is due: enough new answers, or one new answer and enough minutes; the first answer makes one.

        What is new is counted from the last backup of this log or a part of it: one with more lines is of a log that was put
        aside, where an older copy was put back.
        """
        if not self.keep or not lines:
            return False
        last = next((backup for backup in reversed(made) if backup.lines <= lines), None)
        if last is None or last.lines == lines:
            return last is None
        in_time = timedelta(0) <= now - last.at < timedelta(minutes=self.minutes)  # not where the clock was set back
        return lines - last.lines >= self.answers or not in_time


class Backups:
    """The backups of a project that this process holds open to write."""

    def __init__(self, store: Store, plan: BackupPlan, clock: Callable[[], datetime] = _now) -> None:
        self._store, self._plan, self._clock = store, plan, clock

    def make_if_due(self, lines: int) -> Path | None:
        """Make a backup if one is due at this number of lines in the log; a failure is logged and does not stop the labeling."""
        try:
            due = self._plan.is_due(list_backups(self._store.path), lines, self._clock())
            return self._make() if due else None
        except (FileError, OSError) as error:
            log.warning("no backup was made: %s", error)
            return None

    def _make(self) -> Path | None:
        """Copy what is saved, check the copy, put it in place, and then remove those with the fewest lines."""
        self._store.check_in_place()
        if (size := self._store.path.stat().st_size) > self._plan.megabytes * MEGABYTE:
            raise FileError(
                f"{self._store.path}: {size / MEGABYTE:.0f} MB, more than ASKGRAPH_BACKUP_MEGABYTES={self._plan.megabytes:g}"
            )
        with Store.open(self._store.path) as reader:
            path = self._store.path.resolve()
            made = path.with_name(f"{path.name}.{self._clock().strftime(TIME)}.{reader.lines}.backup")
            reader.put_at(made, part=path.with_name(f"{path.name}.backup.part"))
        self._store.check_in_place()
        self._remove_others(made)
        return made

    def _remove_others(self, made: Path) -> None:
        """Remove all but the backups that fit in the plan: the one just made, and those with the most lines."""
        others = [backup.path for backup in list_backups(self._store.path) if backup.path != made]
        room = self._plan.megabytes * MEGABYTE - made.stat().st_size
        for k, path in enumerate(reversed(others), 1):
            room -= path.stat().st_size
            if k >= self._plan.keep or room < 0:
                path.unlink()


class BackupThread:
    """Makes backups beside a server's work, from a connection of its own: no answer waits for one."""

    backups: Backups

    def __init__(self, store: Store, plan: BackupPlan) -> None:
        self.backups, self._store = Backups(store, plan), store
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="askgraph-backups", daemon=True)

    def __enter__(self) -> BackupThread:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            self.backups.make_if_due(self._store.lines)


def _variable(name: str, default: float) -> float:
    said = os.environ.get(name, "")
    try:
        value = float(said) if said else default
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise SettingError(f"{name}={said}: give a number from 0 on, or leave it out for {default:g}")
    return value
