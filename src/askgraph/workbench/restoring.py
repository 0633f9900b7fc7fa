"""Put a copy back in the place of a project; what was there is kept."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from askgraph.errors import FileError
from askgraph.workbench.old_log import dated
from askgraph.workbench.project import Project
from askgraph.workbench.store import BESIDE, Store
from askgraph.workbench.writer_lock import WriterLock


class Restored(NamedTuple):
    """How many labels there are now, and where the project is that was there before."""

    labels: int
    kept: Path | None


def restore(copy: str | os.PathLike[str], path: str | os.PathLike[str]) -> Restored:
    """Put a copy that is sound in the place of a project that nobody writes to."""
    labels, project = _labels(copy), Path(path).resolve()
    if project.exists() and project.samefile(copy):
        raise FileError(f"{copy}: is the project itself; name a copy of it")
    lock = WriterLock(project)
    lock.take(wait=0.5)
    try:
        return Restored(labels, _replace(project, Path(copy)))
    finally:
        lock.release()


def _labels(copy: str | os.PathLike[str]) -> int:
    """Count the labels of a copy that is sound."""
    with Project.open(copy) as opened:
        if damage := opened.store.damage():
            raise FileError(f"{copy}: damaged ({damage}); choose another copy")
        _ = opened.graph
        return len(opened.answers.labels)


def _replace(project: Path, copy: Path) -> Path | None:
    """Put the copy in its place in one step, and only then its log aside: whenever this is ended, what is there opens."""
    kept = _kept(project)
    try:
        with Store.open(copy) as store:
            store.put_at(project)
    except BaseException:
        kept.unlink(missing_ok=True)
        raise
    for name in BESIDE:
        if (beside := Path(f"{project}{name}")).exists():
            beside.rename(f"{kept}{name}")
    return kept if kept.exists() else None


def _kept(project: Path) -> Path:
    """Copy what is there to another name, if something is there."""
    kept = dated(project)
    if project.exists():
        try:
            _copy(project, kept)
        except OSError as error:
            kept.unlink(missing_ok=True)
            raise FileError(f"{kept}: cannot be written ({error.strerror}); make room, and try again") from None
    return kept


def _copy(path: Path, other: Path) -> None:
    """Copy a file to the disk, for the same people to read."""
    with open(path, "rb") as file, open(other, "xb") as new:
        shutil.copymode(path, other)
        shutil.copyfileobj(file, new)
        new.flush()
        os.fsync(new.fileno())
