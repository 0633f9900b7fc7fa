"""Read a table of items: their ids, the fields to show, labels that exist already, and the graph that joins the items."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from askgraph.errors import FileError, SettingError
from askgraph.graph import Graph
from askgraph.graph.meaning import find_words
from askgraph.io.pictures import is_picture
from askgraph.io.readers import has_columns, read_graph
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.priors.features import Features
from askgraph.support.progress import working
from askgraph.support.wording import few
from askgraph.types import AnyArray
from askgraph.workbench.answer_cells import read_answers
from askgraph.workbench.cells import is_missing, is_numeric, is_storable, number, one_line, to_stored
from askgraph.workbench.columns import (
    Kind,
    choose_columns,
    find_kinds,
    find_offered,
    find_uses,
    is_there,
    say_what_is_not_compared,
)
from askgraph.workbench.forms import Form, Label, form_of
from askgraph.workbench.formulas import without_marks
from askgraph.workbench.joining import can_wait, join_items, leave_apart, vector_columns
from askgraph.workbench.offers import notes_on_labels, offers_in
from askgraph.workbench.source import Source, read_columns

MAX_SHOWN_FEATURES = (
    12  # columns of numbers to compare by: more of them, or any beside a picture, are not shown on the card
)
MAX_OFFERS = 3  # columns that are offered as labels; where more look like it, a longer list would not be read
NOT_ENGLISH = "what the texts mean is left out: they are not in English (--meaning wordllama takes it all the same)"
LATER_FROM = 20_000  # texts or pictures from which on people need not wait until these are compared
ONE_CLASS = form_of("classes")
GIVEN_VECTORS = "vectors/given"  # the array of vectors that the items came with, one row per item


@dataclass(frozen=True)
class Items:
    """Items by columns: ids, fields to show, file names of images and their folder, and labels that the items came with."""

    ids: list[str]
    fields: dict[str, list[Any]] = field(default_factory=dict)
    images: list[str | None] | None = None
    labels: Sequence[Label | None] | None = None
    features: Features | None = None  # what items are compared by, beside their graph
    folder: str | None = None
    columns: dict[str, Any] = field(default_factory=dict)  # of the source, by what they are for
    hidden: tuple[str, ...] = ()  # fields that are kept and not shown
    compared: tuple[str, ...] = ()  # columns that items are compared by
    arrays: dict[str, AnyArray] = field(default_factory=dict)  # what a project keeps beside the graph, by name
    notes: tuple[str, ...] = ()  # sentences that say how the table was read

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each field: "number" or "text"."""
        compared = set(self.columns.get("features") or ())  # read as numbers already, or as yes and no
        return {
            name: "number" if (_begins_with_number if name in compared else is_numeric)(cells) else "text"
            for name, cells in self.fields.items()
        }

    def json_rows(self) -> Iterator[str]:
        """Yield the fields of each item as JSON, like ``row``. Must be fast: tables can be wide."""
        names = [json.dumps(name, ensure_ascii=False).replace("%", "%%") for name in self.fields]
        form = "{" + ", ".join(f'{name}: "%s"' for name in names) + "}"
        rows = zip(*self.fields.values(), strict=True) if self.fields else repeat((), len(self.ids))
        for k, cells in enumerate(rows):
            yield form % cells if _is_plain_text(cells) else json.dumps(self.row(k), ensure_ascii=False)

    def row(self, k: int) -> dict[str, Any]:
        """Return the fields of the k-th item that are not empty."""
        return {name: cells[k] for name, cells in self.fields.items() if cells[k] is not None}


def _begins_with_number(cells: list[Any]) -> bool:
    """Return whether the first cell that is there is a number."""
    return number(next((cell for cell in cells if not is_missing(cell)), None)) is not None


def _is_plain_text(cells: tuple[Any, ...]) -> bool:
    """Return whether all cells are text in which JSON escapes nothing; some odd spaces count as if it did."""
    try:
        text = "".join(cells)
    except TypeError:  # a number, or an empty cell
        return False
    return text.isprintable() and '"' not in text and "\\" not in text


def read_items(source: Source, form: Form = ONE_CLASS, classes: Sequence[str] = ()) -> tuple[Items, Graph, list[str]]:
    """Return the items, the graph over them in the same order, and sentences that say how the graph was made.

    ``form`` is that of the answers, by which labels that are there are read; ``classes`` are those that were declared.
    """
    items, graph, notes = make_items(*(found := find_items(source)))
    source, table = found
    if table is None or not source.labels:
        return items, graph, notes
    labels = read_labels(without_marks(table, source.table or ""), source.labels, form, classes)
    offers = notes_on_labels(table, source.labels, form, classes)
    return replace(items, labels=labels, notes=(*items.notes, *offers)), graph, notes


def read_labels(table: Table, columns: Sequence[str], form: Form, classes: Sequence[str]) -> list[Label | None]:
    """Return what the cells of a column say, or those of one per class, checked; None for empty ones."""
    known = list(classes)
    return read_answers(table, columns, form, known, lambda label: form.check(label, known))


def find_items(source: Source) -> tuple[Source, Table | None]:
    """Return the source with its columns chosen, and its table; None where items are the nodes of a graph."""
    if (path := source.table) is None:
        if source.sheet is not None or source.encoding is not None:
            raise SettingError("--sheet and --encoding say how a table is read; give a table, or leave them out")
        return source, None
    with working(f"reading {Path(path).name}"):
        table = read_columns(path, source.sheet, source.encoding)
    if odd := [name for name in table.header if not is_storable(name)]:
        raise FileError(f"{path}: the column name {odd[0]!r} is not valid text; rename the column")
    if not table.header:
        raise FileError(f"{path}: the first row names no column; give it the names of the fields")
    source = _split_vectors(_split_label(source, table.header), table)
    named = (
        *(source.features or ()),
        *(source.show or ()),
        *(source.texts or ()),
        source.image,
        source.pictures,
        *source.labels,
    )
    has_columns(path, table.header, *named, source.id or None)
    return choose_columns(source, table), table


def _split_label(source: Source, header: Sequence[str]) -> Source:
    """Return a source whose columns of labels are a list where it names them separated by commas."""
    parts = [part.strip() for part in source.label.split(",")] if isinstance(source.label, str) else []
    return replace(source, label=parts) if len(parts) > 1 and source.label not in header else source


def _split_vectors(source: Source, table: Table) -> Source:
    """Return a source whose column of pictures is apart from vectors, where it names both, separated by a comma."""
    named = "" if source.vectors is None or source.vectors in table.header else source.vectors
    parts = [part.strip() for part in named.split(",")]
    pictures = [part for part in parts if part in table.header and any(map(is_picture, table.cells(part)))]
    if len(parts) != 2 or len(pictures) != 1 or source.image not in (None, *pictures):
        return source
    (column,), (vectors,) = pictures, set(parts) - set(pictures)
    return replace(source, image=column, pictures=column, vectors=vectors)


def make_items(source: Source, table: Table | None) -> tuple[Items, Graph, list[str]]:
    """Return what `read_items` does, from a source whose columns are chosen and its table."""
    if source.table is None or table is None:
        return _items_of_graph(source)
    uses = find_uses(source, table)
    kinds = find_kinds(table, (name for name in table.header if name not in uses))
    offered = find_offered(source, table, kinds) if source.hide is None else {}
    vectors = _vector_places(source, table)
    items = _make_items(source, table, list(offered) if source.hide is None else source.hide, vectors)
    later = source.later == "always" or (source.later == "auto" and _takes_long(source, len(items.ids)))
    joined = (leave_apart if later else join_items)(source, table, items.ids)
    kept = {} if joined.vectors is None else {GIVEN_VECTORS: joined.vectors.ravel()}
    columns = {**_columns_of(source), "offered": list(offered), "vector_columns": vectors, "meaning": joined.meaning}
    columns |= {"later": True} if later else {}
    left = say_what_is_not_compared(source, kinds, offered)
    said = _say_offers(table, kinds, offered) if source.hide is None and not source.labels else []
    foreign = [NOT_ENGLISH] if source.texts and source.meaning == "auto" and not joined.meaning and find_words() else []
    notes = (*table.notes, _say_ids(source.id), *left, *foreign, *said[:MAX_OFFERS])
    items = replace(items, features=joined.features, columns=columns, arrays=kept, notes=notes)
    return items, joined.graph, joined.notes


def _takes_long(source: Source, n: int) -> bool:
    """Return whether it takes people's time to compare so many items, and whether that can wait."""
    return n >= LATER_FROM and can_wait(source) and (source.texts is not None or source.vectors is not None)


def _say_offers(table: Table, kinds: Mapping[str, Kind], offered: Mapping[str, str]) -> list[str]:
    """Return the sentences that offer columns as labels, of another kind where they look like it."""
    kinds_of = offers_in(table, kinds, offered)
    taken = {name for offer in kinds_of for name in offer.columns}
    return [*(offer.sentence for offer in kinds_of), *(said for name, said in offered.items() if name not in taken)]


def _say_ids(column: str | None) -> str:
    """Return the sentence that says where ids come from."""
    if column is None:
        return "ids are row numbers, from 1; --id names a column instead"
    return f"ids are those of {column!r}" + ("" if column.casefold() == "id" else "; --id names another column")


def _items_of_graph(source: Source) -> tuple[Items, Graph, list[str]]:
    if not source.graphs:
        raise SettingError("what are the items? give a table, or a graph with --graph")
    if len(source.graphs) > 1:
        raise SettingError("several graphs: give a table with the ids of the items too, or one --graph")
    (path,) = source.graphs
    graph = read_graph(path)
    names = [graph.name(k) for k in range(graph.n_nodes)]
    ids = check_ids(path, names, lambda k: f"node {k}")
    return Items(ids, columns=_columns_of(source)), graph, [f"items are the nodes of {Path(path).name}"]


def _columns_of(source: Source) -> dict[str, Any]:
    """Return what is needed to add rows later: columns by what they are for, how items are compared, and given graphs."""
    names = ("id", "image", "label", "features", "vectors", "pictures", "scale", "neighbors")
    graphs = [str(Path(graph).absolute()) for graph in source.graphs]
    found = {name: getattr(source, name) for name in names}
    return {**found, "text": source.texts, "graphs": graphs, "weights": dict(source.weights)}


def _vector_places(source: Source, table: Table) -> dict[str, int | None]:
    """Return the columns whose cells are stored among the vectors, each with its number in them; None for a column of lists.

    Columns of a range that hold more than numbers are kept as fields.
    """
    names = vector_columns(source.vectors, table.header) if source.show is None else []
    if names == [source.vectors]:
        return {} if any(map(is_picture, table.cells(names[0]))) else {names[0]: None}
    return {name: k for k, name in enumerate(names) if table.floats(name) is not None}


def _make_items(source: Source, table: Table, unseen: Sequence[str], vectors: dict[str, int | None]) -> Items:
    path = source.table or ""
    n = len(table.cells(table.header[0]))
    named = None if source.id is None else table.cells(source.id)
    ids = [str(k + 1) for k in range(n)] if named is None else check_ids(path, named, table.where)
    left = {source.id, source.image, *vectors} - set(source.labels)
    kept = [name for name in table.header if name not in left] if source.show is None else source.show
    fields = {name: _stored(table, name) for name in (*kept, *source.labels)}
    images = None if source.image is None else [one_line(cell) for cell in table.cells(source.image)]
    if images is not None and not is_there(source, images):
        raise SettingError(
            f"column {source.image!r} names images, and none of them ({few(images)}) is in {source.image_folder.absolute()}; "
            "name their folder with --images"
        )
    folder = None if images is None else str(source.image_folder.absolute())
    beside = vector_columns(source.vectors, table.header) if source.show is None else []
    hidden = _hidden(source, [name for name in (*unseen, *beside) if name in fields])
    return Items(ids, fields, images, folder=folder, hidden=hidden, compared=_compared(source))


def _stored(table: Table, name: str) -> list[Any]:
    """Return the cells of a column as they are stored; finite numbers, and text that says them, are stored as they are."""
    cells = table.cells(name)
    return cells if table.floats(name) is not None else [to_stored(cell) for cell in cells]


def _compared(source: Source) -> tuple[str, ...]:
    """Return the columns of numbers and of text that items are compared by."""
    return (*(source.features or ()), *(source.texts or ()))


def _hidden(source: Source, unseen: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are kept and not shown.

    Those are the labels that are there, as they are the answer; those that are hidden by choice, or since they look like
    labels; and the columns that items are compared by where there are too many to read, or a picture says more.
    """
    answers = [name for name in (*source.labels, *unseen) if name not in (source.show or ())]
    unread = len(source.features or ()) > MAX_SHOWN_FEATURES or source.image is not None
    return (*answers, *(source.features or ())) if unread and source.show is None else tuple(answers)


def check_ids(path: FilePath, cells: Sequence[Any], where: Callable[[int], str]) -> list[str]:
    """Return ids as text; raise an error if one is empty or occurs twice."""
    seen: dict[str, int] = {}
    for k, cell in enumerate(cells):
        id = one_line(cell)
        if id is None:
            raise FileError(f"{path}, {where(k)}: the id is empty; every item needs one")
        if id in seen:
            raise FileError(
                f"{path}, {where(k)}: the id {id!r} is on {where(seen[id])} already; give each item its own id"
            )
        seen[id] = k
    return list(seen)
