"""The names of backups beside a project, and the advice to put one back."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

TIME = "%Y%m%dT%H%M%S.%fZ"
NAME = re.compile(
    r"\.(\d{8}T\d{6}\.\d{6}Z)\.(\d+)\.backup"
)  # after the name of the project: when, and how many answers


class Backup(NamedTuple):
    """A copy that was made by itself: when, the number of lines in its log of answers, and where it lies."""

    at: datetime
    lines: int
    path: Path


def list_backups(project: str | os.PathLike[str]) -> list[Backup]:
    """Return the backups of a project, that with the fewest lines first: clocks are set back and ahead, the log only grows."""
    path = Path(project).resolve()
    try:
        found = [
            (NAME.fullmatch(name[len(path.name) :]), name)
            for name in os.listdir(path.parent)
            if name.startswith(path.name)
        ]
        backups = (
            Backup(datetime.strptime(named[1], TIME).replace(tzinfo=UTC), int(named[2]), path.with_name(name))
            for named, name in found
            if named
        )
        return sorted(backups, key=lambda backup: (backup.lines, backup.at))
    except (OSError, ValueError):
        return []


def restore_advice(project: object) -> str:
    """Return what to do about a damaged project; name the backup with the most lines if there is one."""
    found = list_backups(str(project))
    return f"restore it from a copy with askgraph restore {found[-1].path.name if found else 'COPY'}"
