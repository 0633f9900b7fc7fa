"""The table of all items with labels and predictions: searched, filtered and sorted."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from askgraph.types import BoolArray, IntArray
from askgraph.web.questions import NO_CLASS, Picture
from askgraph.workbench.project import Project
from askgraph.workbench.report import image_address

Status = Literal["labeled", "predicted", "later", "cannot", "invalid", "open"]
STATUSES: tuple[Status, ...] = ("labeled", "predicted", "later", "cannot", "invalid", "open")


class Query(NamedTuple):
    """The search, filters, order and page of the table."""

    search: str = ""
    label: str = ""
    status: str = ""
    sort: str = "id"
    order: str = "asc"
    offset: int = 0
    limit: int = 100
    inside: str = ""  # corners of a polygon on the map: x,y,x,y,…
    among: BoolArray | None = None  # which items lie in it


class Columns(NamedTuple):
    """One entry per item: the index of its class in ``classes``, the probability of that class, its status."""

    classes: list[str]
    label: IntArray
    sure: Any
    status: IntArray

    def are(self, *statuses: Status) -> BoolArray:
        """Return which items have one of these statuses."""
        return np.isin(self.status, [STATUSES.index(status) for status in statuses])


def columns(project: Project, picture: Picture | None) -> Columns:
    """Combine the last computed predictions with the answers as they are now."""
    n, answers = project.items.n_items, project.answers
    drawn = [answers.naming.meant(name) for name in picture.classes] if picture else []  # under names they have now
    classes = list(dict.fromkeys([*drawn, *answers.classes]))
    label, sure = np.full(n, NO_CLASS), np.zeros(n, dtype=np.float32)
    if picture:  # items that were added since then have no prediction yet
        label[: picture.decided.size], sure[: picture.sure.size] = picture.decided, picture.sure
    if picture and drawn != classes[: len(drawn)]:
        label = np.array([*map(classes.index, drawn), NO_CLASS])[np.minimum(label, len(drawn))]
    status = np.where(label == NO_CLASS, STATUSES.index("open"), STATUSES.index("predicted"))
    place = {name: k for k, name in enumerate(classes)}
    for item, name in answers.labels.items():
        label[item], sure[item], status[item] = place[name], 1.0, STATUSES.index("labeled")
    for item, kind in answers.aside.items():
        status[item] = STATUSES.index(kind)
    return Columns(classes, label, sure, status)


def list_items(project: Project, picture: Picture | None, query: Query) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of items that match a query, and one page of them."""
    known = columns(project, picture)
    kept = _filter(project, known, query)
    order = _sort(project, known, kept, query.sort)
    if query.order == "desc":
        order = order[::-1]
    places = order[query.offset : query.offset + query.limit].tolist()
    return int(order.size), [_row(project, known, place) for place in places]


def _filter(project: Project, known: Columns, query: Query) -> IntArray:
    keep = np.ones(known.label.size, dtype=bool)
    if query.label:
        keep &= known.label == (known.classes.index(query.label) if query.label in known.classes else -1)
    if query.status:
        keep &= known.status == (STATUSES.index(query.status) if query.status in STATUSES else -1)
    if query.among is not None:
        keep &= query.among
    if query.search:
        found = np.zeros(keep.size, dtype=bool)
        found[project.items.search(query.search)] = True
        keep &= found
    return np.flatnonzero(keep)


def _sort(project: Project, known: Columns, kept: IntArray, sort: str) -> IntArray:
    if sort == "title":
        rank = np.empty(known.label.size, dtype=np.int64)
        rank[_by_title(project)] = np.arange(rank.size)
        return kept[np.argsort(rank[kept], kind="stable")]
    names = np.array([*known.classes, ""])
    keys: dict[str, Any] = {"label": names[np.minimum(known.label, len(known.classes))], "probability": known.sure}
    keys["status"] = np.array(STATUSES)[known.status]
    return kept if sort not in keys else kept[np.argsort(keys[sort][kept], kind="stable")]


def _by_title(project: Project) -> list[int]:
    if project.items.named_by_id:
        ids = project.store.ids()
        return sorted(range(len(ids)), key=lambda place: ids[place])
    return project.store.by_field(project.items.naming_field or next(iter(project.items.shown), ""))


def _row(project: Project, known: Columns, place: int) -> dict[str, Any]:
    item, code = project.items.item(place), int(known.label[place])
    open_ = code == NO_CLASS
    return {
        "id": item.id,
        "title": project.items.title(item),
        "image": image_address(project, item),
        "label": None if open_ else known.classes[code],
        "probability": None if open_ else float(known.sure[place]),
        "status": STATUSES[known.status[place]],
        "who": list(project.answers.of(place)),
    }
