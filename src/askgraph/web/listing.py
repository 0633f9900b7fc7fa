"""The table: all items with what they are, searched, filtered and sorted."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from askgraph.types import IntArray
from askgraph.web.suggestions import Picture
from askgraph.workbench.project import Project
from askgraph.workbench.report import picture

Status = Literal["labeled", "predicted", "later", "cannot", "invalid", "open"]
STATUSES: tuple[Status, ...] = ("labeled", "predicted", "later", "cannot", "invalid", "open")
NONE = 65535


class Wanted(NamedTuple):
    """Which items, in which order."""

    search: str = ""
    label: str = ""
    status: str = ""
    sort: str = "id"
    order: str = "asc"
    offset: int = 0
    limit: int = 100


class Columns(NamedTuple):
    """What is known of every item: the place of its class in ``classes``, how sure that is, its status."""

    classes: list[str]
    label: IntArray
    sure: Any
    status: IntArray


def columns(project: Project, picture: Picture | None) -> Columns:
    """Predictions as they are known, and answers as they are now."""
    n, answers = project.n_items, project.answers
    classes = list(dict.fromkeys([*(picture.classes if picture else ()), *answers.classes]))
    label = picture.decided.astype(np.int64) if picture else np.full(n, NONE)
    sure = picture.sure.copy() if picture else np.zeros(n, dtype=np.float32)
    status = np.where(label == NONE, STATUSES.index("open"), STATUSES.index("predicted"))
    place = {name: k for k, name in enumerate(classes)}
    for item, name in answers.labels.items():
        label[item], sure[item], status[item] = place[name], 1.0, STATUSES.index("labeled")
    for item, kind in answers.aside.items():
        status[item] = STATUSES.index(kind)
    return Columns(classes, label, sure, status)


def listed(project: Project, picture: Picture | None, wanted: Wanted) -> tuple[int, list[dict[str, Any]]]:
    """How many items there are of this kind, and some of them."""
    known = columns(project, picture)
    kept = _matching(project, known, wanted)
    order = _ordered(project, known, kept, wanted.sort)
    if wanted.order == "desc":
        order = order[::-1]
    places = order[wanted.offset : wanted.offset + wanted.limit].tolist()
    return int(order.size), [_row(project, known, place) for place in places]


def _matching(project: Project, known: Columns, wanted: Wanted) -> IntArray:
    keep = np.ones(known.label.size, dtype=bool)
    if wanted.label:
        keep &= known.label == (known.classes.index(wanted.label) if wanted.label in known.classes else -1)
    if wanted.status:
        keep &= known.status == (STATUSES.index(wanted.status) if wanted.status in STATUSES else -1)
    if wanted.search:
        found = np.zeros(keep.size, dtype=bool)
        found[project.store.search(wanted.search)] = True
        keep &= found
    return np.flatnonzero(keep)


def _ordered(project: Project, known: Columns, kept: IntArray, sort: str) -> IntArray:
    if sort == "title":
        rank = np.empty(known.label.size, dtype=np.int64)
        rank[project.store.by_field(next(iter(project.about["fields"]), ""))] = np.arange(rank.size)
        return kept[np.argsort(rank[kept], kind="stable")]
    names = np.array([*known.classes, ""])
    keys: dict[str, Any] = {"label": names[np.minimum(known.label, len(known.classes))], "probability": known.sure}
    keys["status"] = np.array(STATUSES)[known.status]
    return kept if sort not in keys else kept[np.argsort(keys[sort][kept], kind="stable")]


def _row(project: Project, known: Columns, place: int) -> dict[str, Any]:
    item, code = project.item(place), int(known.label[place])
    open_ = code == NONE
    return {
        "id": item.id,
        "title": project.title(item),
        "image": picture(project, item),
        "label": None if open_ else known.classes[code],
        "probability": None if open_ else float(known.sure[place]),
        "status": STATUSES[known.status[place]],
        "who": list(project.answers.of(place)),
    }
