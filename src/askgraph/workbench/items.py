"""Read a table of items: their ids, the fields to show, labels that exist already, and the graph that joins the items."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from os import PathLike
from pathlib import Path
from typing import Any

from askgraph.errors import FileError, SettingError
from askgraph.graph import Graph
from askgraph.io.pictures import find_picture, folder_table, is_picture
from askgraph.io.readers import TABLES, has_columns, read_graph
from askgraph.io.tables import Table, text_table
from askgraph.io.text import FilePath, is_number, suffix
from askgraph.learner.features import Features
from askgraph.support.arguments import file_path, whole_number
from askgraph.support.progress import working
from askgraph.support.wording import few
from askgraph.types import AnyArray
from askgraph.workbench.cells import is_numeric, is_storable, one_line, one_name, to_stored
from askgraph.workbench.joining import join_items, vector_columns

MAX_SHOWN_FEATURES = (
    12  # columns of numbers to compare by: more of them, or any beside a picture, are not shown on the card
)
GIVEN_VECTORS = "vectors/given"  # the array of vectors that the items came with, one row per item
MAX_NAME = 4000  # characters of the name of a column or a file
MIN_TEXT_CHARACTERS = 25  # a column whose cells have fewer on average is not compared by its words unless named


@dataclass(frozen=True)
class Source:
    """The files and columns that items and their graph come from; ``read_items`` chooses where None is given.

    Parameters
    ----------
    table
        A csv, tsv, jsonl or parquet file with one row per item, or a folder of pictures, whose columns are "file" and
        "folder"; None where items are the nodes of ``graph``.
    graph
        A file with a graph whose nodes are the ids, or several.
    id
        The column of ids; by default the column called "id", else row numbers from 1.
    features
        Columns of numbers to compare items by.
    text
        The column of text to compare items by, or several.
    vectors
        Vectors to compare items by: an npy or npz file, a column of lists or of file names of pictures, or a range of
        columns, first:last.
    show
        Columns to show; by default all others but vectors.
    image
        The column of image file names; by default the first one where every cell is the name of a picture.
    label
        The column of labels that exist already; an empty cell means no label.
    neighbors
        Nearest neighbors per item.
    scale
        How ``features`` are scaled: "none", "unit" (mean 0, deviation 1) or "range" (to [−1, 1]); by default "unit" where
        their ranges differ much, else "none".
    images
        The folder of the images; by default the folder that ``table`` is or lies in.
    """

    table: FilePath | None = None
    graph: FilePath | Sequence[FilePath] | None = None
    id: str | None = None
    features: Sequence[str] | None = None
    text: str | Sequence[str] | None = None
    show: Sequence[str] | None = None
    image: str | None = None
    label: str | None = None
    neighbors: int = 10
    vectors: str | None = None
    scale: str | None = None
    images: FilePath | None = None

    def __post_init__(self) -> None:
        """Raise an error for what names no file or column."""
        for name in ("graph", "features", "text", "show"):
            value, single = getattr(self, name), PathLike if name == "graph" else str
            if not isinstance(value, single | Sequence | None) or value == "":
                raise SettingError(f"{name}={value!r}: give a list")
        for path in (*self.graphs, *(one for one in (self.table, self.images) if one is not None)):
            file_path(path)
        one = {name: getattr(self, name) for name in ("id", "image", "label", "vectors", "scale")}
        several = {"features": self.features, "text": self.texts, "show": self.show}
        names = {name: [value] for name, value in one.items()} | {
            name: list(value or ()) for name, value in several.items()
        }
        for name, values in names.items():
            if odd := [value for value in values if not isinstance(value, str | None) or len(value or "") > MAX_NAME]:
                raise SettingError(f"{name}={odd[0]!r}: give the name of a column, as text")
        if self.features is not None and not names["features"]:
            raise SettingError("features=[]: name at least one column of numbers, or leave it out")
        whole_number(self.neighbors, "neighbors", 1)

    @property
    def image_folder(self) -> Path:
        """The folder that file names of images start from."""
        table = Path(self.table or "")
        return Path(self.images) if self.images is not None else table if table.is_dir() else table.parent

    @property
    def graphs(self) -> list[FilePath]:
        """The files with graphs."""
        return [self.graph] if isinstance(self.graph, str | PathLike) else list(self.graph or ())

    @property
    def texts(self) -> list[str] | None:
        """The columns of text to compare items by, or None."""
        return [self.text] if isinstance(self.text, str) else None if self.text is None else list(self.text)


@dataclass(frozen=True)
class Items:
    """Items by columns: ids, fields to show, file names of images and their folder, and labels that the items came with."""

    ids: list[str]
    fields: dict[str, list[Any]] = field(default_factory=dict)
    images: list[str | None] | None = None
    labels: list[str | None] | None = None
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
        numbers = set(self.columns.get("features") or ())  # read as numbers already
        return {
            name: "number" if name in numbers or is_numeric(cells) else "text" for name, cells in self.fields.items()
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


def _is_plain_text(cells: tuple[Any, ...]) -> bool:
    """Return whether all cells are text in which JSON escapes nothing; some odd spaces count as if it did."""
    try:
        text = "".join(cells)
    except TypeError:  # a number, or an empty cell
        return False
    return text.isprintable() and '"' not in text and "\\" not in text


def read_items(source: Source) -> tuple[Items, Graph, list[str]]:
    """Return the items, the graph over them in the same order, and sentences that say how the graph was made."""
    return make_items(*find_items(source))


def find_items(source: Source) -> tuple[Source, Table | None]:
    """Return the source with its columns chosen, and its table; None where items are the nodes of a graph."""
    if (path := source.table) is None:
        return source, None
    with working(f"reading {Path(path).name}"):
        table = read_columns(path)
    if odd := [name for name in table.header if not is_storable(name)]:
        raise FileError(f"{path}: the column name {odd[0]!r} is not valid text; rename the column")
    if not table.header:
        raise FileError(f"{path}: the first row names no column; give it the names of the fields")
    has_columns(
        path,
        table.header,
        *(source.features or ()),
        *(source.show or ()),
        *(source.texts or ()),
        *(source.id, source.image, source.label),
    )
    return choose_columns(source, table), table


def make_items(source: Source, table: Table | None) -> tuple[Items, Graph, list[str]]:
    """Return what `read_items` does, from a source whose columns are chosen and its table."""
    if source.table is None or table is None:
        return _items_of_graph(source)
    items = _make_items(source, table)
    compared = (source.graphs, source.features, source.texts, source.vectors, source.scale)
    joined = join_items(source.table, table, items.ids, *compared, source.neighbors, source.image_folder)
    kept = {} if joined.vectors is None else {GIVEN_VECTORS: joined.vectors.ravel()}
    ids = f"ids are those of {source.id!r}" if source.id else "ids are row numbers, from 1; --id names a column instead"
    notes = (*table.notes, ids)
    items = replace(items, features=joined.features, columns=_columns_of(source), arrays=kept, notes=notes)
    return items, joined.graph, joined.notes


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
    names = ("id", "image", "label", "features", "vectors", "scale", "neighbors")
    graphs = [str(Path(graph).absolute()) for graph in source.graphs]
    return {**{name: getattr(source, name) for name in names}, "text": source.texts, "graphs": graphs}


def read_columns(path: FilePath) -> Table:
    """Read a table of any supported file type, or a folder of pictures."""
    if Path(path).is_dir():
        return folder_table(path)
    return TABLES.get(suffix(path, (".csv", ".tsv", ".txt", "", *TABLES)), text_table)(path)


def choose_columns(source: Source, table: Table) -> Source:
    """Find the id column by its name, and choose features or text where the source does not say how to compare items."""
    if Path(source.table or "").is_dir():
        source = replace(source, id="file", image="file", show=source.show or ())
        free = ["file"]
    else:
        found = source.id or next((name for name in table.header if name.casefold() == "id"), None)
        source = replace(source, id=found, image=source.image or _image_column(source, table))
        free = [name for name in table.header if name not in (found, source.image, source.label)]
    if any(given is not None for given in (source.features, source.text, source.vectors, source.graph or None)):
        return source
    numbers = [name for name in free if table.floats(name) is not None or is_numeric(table.cells(name))]
    known = set(numbers)
    if prose := [name for name in free if name not in known and _is_prose(table.cells(name))]:
        return replace(source, text=prose)
    if not numbers and source.image is not None:
        return replace(source, vectors=source.image)
    if not numbers:
        raise SettingError(
            f"{source.table}: what should items be compared by? no column holds numbers or text (columns: {few(table.header)}); "
            "name some with --features or --text, or give --vectors or --graph FILE"
        )
    return replace(source, features=numbers)


def _image_column(source: Source, table: Table) -> str | None:
    """Return the first column that holds nothing but names of pictures, if one of these files exists."""
    for name in table.header:
        if table.floats(name) is None and all(map(is_picture, cells := table.cells(name))) and _is_there(source, cells):
            return name
    return None


def _is_there(source: Source, cells: Sequence[Any]) -> bool:
    """Return whether any of these cells names a file in the folder of images."""
    return any(find_picture(line, source.image_folder) for cell in cells if (line := one_line(cell)))


def _is_prose(cells: list[Any]) -> bool:
    """Return whether the cells of a column are long enough to be compared by their words."""
    lengths = [len(cell) for cell in cells if isinstance(cell, str) and not is_number(cell)]
    return sum(lengths) >= MIN_TEXT_CHARACTERS * len(cells)


def _make_items(source: Source, table: Table) -> Items:
    path = source.table or ""
    n = len(table.cells(table.header[0]))
    named = None if source.id is None else table.cells(source.id)
    ids = [str(k + 1) for k in range(n)] if named is None else check_ids(path, named, table.where)
    hidden = {source.id, source.image, source.label, *vector_columns(source.vectors, table.header)}
    shown = [name for name in table.header if name not in hidden] if source.show is None else source.show
    fields = {name: _stored(table, name) for name in shown}
    images = None if source.image is None else [one_line(cell) for cell in table.cells(source.image)]
    labels = None if source.label is None else [one_name(cell) for cell in table.cells(source.label)]
    if images is not None and not _is_there(source, images):
        raise SettingError(
            f"column {source.image!r} names images, and none of them ({few(images)}) is in {source.image_folder.absolute()}; "
            "name their folder with --images"
        )
    folder = None if images is None else str(source.image_folder.absolute())
    return Items(ids, fields, images, labels, folder=folder, hidden=_hidden(source), compared=_compared(source))


def _stored(table: Table, name: str) -> list[Any]:
    """Return the cells of a column as they are stored; finite numbers, and text that says them, are stored as they are."""
    cells = table.cells(name)
    return cells if table.floats(name) is not None else [to_stored(cell) for cell in cells]


def _compared(source: Source) -> tuple[str, ...]:
    """Return the columns of numbers and of text that items are compared by."""
    return (*(source.features or ()), *(source.texts or ()))


def _hidden(source: Source) -> tuple[str, ...]:
    """Return the columns that items are compared by where there are too many to read, or a picture says more."""
    unread = len(source.features or ()) > MAX_SHOWN_FEATURES or source.image is not None
    return tuple(source.features or ()) if unread and source.show is None else ()


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
