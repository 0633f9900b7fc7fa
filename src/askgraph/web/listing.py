"""The table of all items with labels and predictions: searched, filtered and sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from askgraph.graph.texts import best_first
from askgraph.types import AnyArray, Array, BoolArray, IntArray
from askgraph.web.questions import NO_LABEL, Picture
from askgraph.workbench.forms import Label, as_json, named, renamed
from askgraph.workbench.project import Project
from askgraph.workbench.report import excerpt, image_address

Status = Literal["labeled", "predicted", "later", "cannot", "invalid", "open", "unseen"]
STATUSES: tuple[Status, ...] = ("labeled", "predicted", "later", "cannot", "invalid", "open", "unseen")


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
    like: str = ""  # words
    noted: str = ""  # "comment" for items with a comment, "return" for those that the reader wants to come back to
    reader: str | None = None  # who looks
    likeness: Array | None = None  # how alike items are to them, as last computed; those that are most alike come first


class Columns(NamedTuple):
    """One entry per item: the index of its label in ``labels``, how sure that is, its status, and its range where there is one."""

    labels: list[Label]
    code: IntArray
    sure: Any
    status: IntArray
    low: AnyArray | None
    high: AnyArray | None

    def label(self, place: int) -> Label | None:
        """Return the label of an item, given or predicted; None where there is none."""
        code = int(self.code[place])
        return None if code == NO_LABEL else self.labels[code]

    def range(self, place: int) -> list[Any] | None:
        """Return the ends of the range of an item that is predicted; None where there is none."""
        if self.low is None or self.high is None or not self.are("predicted")[place] or place >= len(self.low):
            return None
        ends = [self.low[place], self.high[place]]
        return ends if all(isinstance(end, str) or np.isfinite(end) for end in ends) else None

    def are(self, *statuses: Status) -> BoolArray:
        """Return which items have one of these statuses."""
        return np.isin(self.status, [STATUSES.index(status) for status in statuses])


def columns(project: Project, picture: Picture | None, hidden: Sequence[int] = ()) -> Columns:
    """Combine the last computed predictions with the answers as they are now; of hidden items nothing is known."""
    n, answers = project.items.n_items, project.answers
    place: dict[Label, int] = {}
    code, sure = np.full(n, NO_LABEL), np.zeros(n, dtype=np.float32)
    if picture:  # labels have the names that classes have now; items that were added since then have no prediction yet
        drawn = [place.setdefault(renamed(label, answers.naming.meant), len(place)) for label in picture.labels]
        now = np.array([*drawn, NO_LABEL])
        code[: picture.codes.size] = now[np.minimum(picture.codes, len(drawn))]
        sure[: picture.sure.size] = picture.sure
    status = np.where(code == NO_LABEL, STATUSES.index("open"), STATUSES.index("predicted"))
    for item, label in answers.labels.items():
        code[item], sure[item], status[item] = place.setdefault(label, len(place)), 1.0, STATUSES.index("labeled")
    for item, kind in answers.aside.items():
        status[item] = STATUSES.index(kind)
    if hidden:
        places = list(hidden)
        code[places], sure[places], status[places] = NO_LABEL, 0.0, STATUSES.index("unseen")
    return Columns(list(place), code, sure, status, *((picture.low, picture.high) if picture else (None, None)))


def list_items(project: Project, picture: Picture | None, query: Query) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of items that match a query, and one page of them."""
    known = columns(project, picture, [] if query.reader is None else project.second.due(query.reader))
    kept = _filter(project, known, query)
    order = _sort(project, known, kept, query.sort)
    if query.order == "desc":
        order = order[::-1]
    if query.likeness is not None:
        order = best_first(query.likeness)
        order = order[np.isin(order, kept)]
    places = order[query.offset : query.offset + query.limit].tolist()
    common = _common(project, known, places)
    return int(order.size), [_row(project, known, place, query.reader) | {"common": common[place]} for place in places]


def _filter(project: Project, known: Columns, query: Query) -> IntArray:
    keep = np.ones(known.code.size, dtype=bool)
    if query.label:
        keep &= np.isin(known.code, [k for k, label in enumerate(known.labels) if query.label in named(label)])
    if query.status:
        keep &= known.status == (STATUSES.index(query.status) if query.status in STATUSES else -1)
    if query.noted:
        notes = project.answers.notes
        said = notes.commented if query.noted == "comment" else notes.marked(query.reader or "")
        keep &= np.isin(np.arange(keep.size), said) & (known.are("unseen") == 0 if query.noted == "comment" else True)
    if query.among is not None:
        keep &= query.among
    if query.search:
        found = np.zeros(keep.size, dtype=bool)
        found[project.items.search(query.search)] = True
        keep &= found
    return np.flatnonzero(keep)


def _sort(project: Project, known: Columns, kept: IntArray, sort: str) -> IntArray:
    if sort == "title":
        rank = np.empty(known.code.size, dtype=np.int64)
        rank[_by_title(project)] = np.arange(rank.size)
        return kept[np.argsort(rank[kept], kind="stable")]
    keys: dict[str, Any] = {"label": _ranks(project, known), "probability": known.sure}
    keys["status"] = np.array(STATUSES)[known.status]
    return kept if sort not in keys else kept[np.argsort(keys[sort][kept], kind="stable")]


def _ranks(project: Project, known: Columns) -> IntArray:
    """Return where the label of each item comes among all labels in their order; items without one come first."""
    steps = {name: k for k, name in enumerate(project.answers.steps)}
    order = sorted(range(len(known.labels)), key=lambda k: project.answers.form.rank(known.labels[k], steps))
    ranks = np.zeros(len(known.labels) + 1, dtype=np.int64)
    ranks[order] = np.arange(len(order)) + 1
    return ranks[np.minimum(known.code, len(known.labels))]


def _by_title(project: Project) -> list[int]:
    if project.items.named_by_id:
        ids = project.store.ids()
        return sorted(range(len(ids)), key=lambda place: ids[place])
    return project.store.by_field(project.items.naming_field or next(iter(project.items.shown), ""))


def _common(project: Project, known: Columns, places: list[int]) -> dict[int, dict[str, Any]]:
    """Return what each of these items has in common with others that have a class of its label, by its place."""
    excerpts = project.items.excerpts
    codes = known.code[excerpts.sample]
    labels: dict[int, Label | None] = {place: known.label(place) for place in places}
    classes = {name for label in labels.values() if label is not None for name in named(label)}
    having = {name: [k for k, label in enumerate(known.labels) if name in named(label)] for name in classes}
    of = {name: excerpts.common_in_sample(np.isin(codes, having[name])) for name in classes}
    found = {}
    for place, label in labels.items():
        mine = [of[name] for name in (named(label) if label is not None else ())]
        found[place] = {
            "words": [word for one in mine for word in one.words],
            "columns": [name for one in mine for name in one.columns],
        }
    return found


def _row(project: Project, known: Columns, place: int, reader: str | None) -> dict[str, Any]:
    item, label, notes = project.items.item(place), known.label(place), project.answers.notes
    unseen = STATUSES[known.status[place]] == "unseen"
    return {
        "id": item.id,
        "title": project.items.title(item),
        **excerpt(project, item),
        "image": image_address(project, item),
        "label": as_json(label),
        "probability": None if label is None or not project.answers.kind.by_class else float(known.sure[place]),
        "range": known.range(place),
        "status": STATUSES[known.status[place]],
        "who": [] if unseen else list(project.answers.of(place)),
        "decided": None if unseen else project.answers.decided_by(place),
        "comments": 0 if unseen else len(notes.comments(place)),
        "marked": reader is not None and notes.mark(reader, place) is not None,
    }
