"""Copy a project, also while it is written to, and replace one by a copy, keeping the replaced file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from askgraph.errors import FileError
from askgraph.workbench.database import SIDE_FILES
from askgraph.workbench.old_log import dated_name
from askgraph.workbench.project import Project
from askgraph.workbench.store import Store
from askgraph.workbench.writer_lock import WriterLock


class Restored(NamedTuple):
    """The number of labels after a restore, and the name under which the replaced file is kept."""

    labels: int
    kept: Path | None


def copy_project(path: str | os.PathLike[str], copy: str | os.PathLike[str]) -> int:
    """Write a checked copy of a project to a new file, also while somebody writes to it; return its number of labels."""
    if os.path.lexists(copy):
        raise FileError(f"{copy}: is there already; choose another name")
    with Store.open(path) as store:
        store.put_at(Path(copy))
    return _count_labels(copy)


def restore(copy: str | os.PathLike[str], path: str | os.PathLike[str]) -> Restored:
    """Replace a project that nobody writes to by an undamaged copy."""
    labels, project = _count_labels(copy), Path(path).resolve()
    if project.exists() and project.samefile(copy):
        raise FileError(f"{copy}: this is the project itself; name a copy of it")
    lock = WriterLock(project)
    lock.take(wait=0.5)
    try:
        return Restored(labels, _replace(project, Path(copy)))
    finally:
        lock.release()


def _count_labels(copy: str | os.PathLike[str]) -> int:
    """Return the number of labels of a copy; raise an error if it is damaged."""
    with Project.open(copy) as opened:
        if damage := opened.store.damage():
            raise FileError(f"{copy}: damaged ({damage}); choose another copy")
        _ = opened.graph
        return len(opened.answers.labels)


def _replace(project: Path, copy: Path) -> Path | None:
    """Put the copy in place in one step, and rename the old log after it: if this is killed midway, the file still opens."""
    kept = _keep_copy(project)
    try:
        with Store.open(copy) as store:
            store.put_at(project)
    except BaseException:
        kept.unlink(missing_ok=True)
        raise
    for name in SIDE_FILES:
        if (beside := Path(f"{project}{name}")).exists():
            beside.rename(f"{kept}{name}")
    return kept if kept.exists() else None


def _keep_copy(project: Path) -> Path:
    """Copy the project, if it exists, to another name; return that name."""
    kept = dated_name(project)
    if project.exists():
        try:
            _copy(project, kept)
        except OSError as error:
            kept.unlink(missing_ok=True)
            raise FileError(f"{kept}: cannot be written ({error.strerror}); make room, and try again") from None
    return kept


def _copy(path: Path, other: Path) -> None:
    """Copy a file with its permissions, and sync the copy to the disk."""
    with open(path, "rb") as file, open(other, "xb") as new:
        shutil.copymode(path, other)
        shutil.copyfileobj(file, new)
        new.flush()
        os.fsync(new.fileno())
