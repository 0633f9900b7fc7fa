"""Files -> Graph, labels, tables; whatever is wrong is named with its file and line."""

from __future__ import annotations

import csv
import itertools
import math
import mmap
import os
import re
import warnings
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.archive import load_arrays
from askgraph.errors import FileError, GraphError, LabelError, MissingExtraError, SettingError
from askgraph.foreign import SOURCES, TARGETS, Raw, assembled, both_ends, counted, edge_columns, few
from askgraph.graph import Graph, Symmetrize
from askgraph.types import AnyArray, Array

FilePath = str | os.PathLike[str]
TEXT = (".csv", ".tsv", ".txt", ".edges")
LABELS = {"label", "labels", "class", "y"}
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")  # "007" is text: as a number it would become another id
ODD = re.compile(rb"[^0-9eE.,;\t\r\n +-]|(?<![0-9.eE+-])0[0-9]|(?<![eE])(?:\+|-0)")  # what numpy would read amiss
MAX_LINE = 2**24
LARGE = 2**20  # a file from which numpy's parser pays


def read_graph(path: FilePath, symmetrize: Symmetrize | None = None) -> Graph:
    r"""A graph from an npz file, an edge list (csv, tsv, txt, edges), graphml or gml.

    An edge list has columns source, target and perhaps weight, with or without a header; ids are text unless all are
    integers. Lines of comment (# or %) may open a txt or edges file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "friends.csv")
    ...     _ = path.write_text("source,target,weight\nann,bob,1\nbob,cy,2.5\n")
    ...     read_graph(path)
    Graph(3 nodes, 2 edges)
    """
    kind = _suffix(path, (".npz", *TEXT, ".graphml", ".gml"))
    if kind == ".npz":
        return Graph.load(path, symmetrize)
    with _about(path):
        if kind in TEXT:
            raw = _fast_edges(path) or _slow_edges(path)
            return Graph(raw, symmetrize=symmetrize)
        graph = _parsed_networkx(path, kind)
        return Graph(graph, _typed(list(graph.nodes)), symmetrize)


def read_labels(path: FilePath, graph: Graph) -> list[Hashable]:
    r"""One label for each node, in node order: from columns node, label; one label a line; npy; or npz (y).

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.csv")
    ...     _ = path.write_text("node,label\nbob,spam\nann,ham\n")
    ...     read_labels(path, Graph.from_edges([("ann", "bob")]))
    ['ham', 'spam']
    """
    if _suffix(path, (*TEXT, ".npy", ".npz")) not in TEXT:
        labels = _label_list(path, _one_array(path))
    else:
        rows = _rectangle(path)
        if len(rows[0].cells) == 2:
            return _paired_labels(path, rows, graph)
        if len(rows[0].cells) > 2:
            raise FileError(f"{path}: {len(rows[0].cells)} columns; give node and label, or one label a line")
        named = len(rows) == graph.n_nodes + 1 and rows[0].cells[0].casefold() in LABELS
        labels = _texts(path, rows[named:], 0)
    if len(labels) != graph.n_nodes:
        raise FileError(f"{path}: {counted(len(labels), 'label')} for {graph.n_nodes} nodes; give one for each node")
    return labels


def read_table(
    path: FilePath, features: Sequence[str] | None = None, label: str | None = None, id: str | None = None
) -> tuple[Array, list[Hashable] | None, list[Hashable] | None]:
    r"""Features, labels and names of the rows: a csv or tsv table, or an npz file with X and perhaps y and names.

    The first row is a header if nothing in it is a number; else the columns are "0", "1", …; ``features=None`` takes
    all columns but ``label`` and ``id``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "iris.csv")
    ...     _ = path.write_text("width,height,kind\n1,2,setosa\n3,4,virginica\n")
    ...     X, labels, names = read_table(path, label="kind")
    >>> X.tolist(), labels, names
    ([[1.0, 2.0], [3.0, 4.0]], ['setosa', 'virginica'], None)
    """
    if _suffix(path, (".csv", ".tsv", ".txt", ".npz")) == ".npz":
        if not (features is label is id is None):
            raise SettingError(f"{path}: an npz table has no columns to choose; it holds X, and perhaps y and names")
        return _npz_table(path)
    header, rows = _table(path)
    for name in (*(features or ()), label, id):
        if name is not None and name not in header:
            raise FileError(f"{path}: no column {name!r}; its columns are {few(header)}")
    chosen = list(features) if features is not None else [c for c in header if c not in (label, id)]
    if not chosen:
        raise FileError(f"{path}: no feature columns are left; its columns are {few(header)}")
    X = np.column_stack([_numbers(path, rows, header.index(c), f", column {c!r}") for c in chosen])
    labels, names = (None if c is None else _texts(path, rows, header.index(c)) for c in (label, id))
    return X, labels, names


class Row(NamedTuple):
    """One row of a text file and the line it ends on."""

    line: int
    cells: list[str]


@contextmanager
def _about(path: FilePath) -> Iterator[None]:
    """Whatever is wrong with a file's content, the message names the file."""
    try:
        yield
    except GraphError as error:
        raise FileError(f"{path}: {error}") from None


def _suffix(path: FilePath, known: tuple[str, ...]) -> str:
    suffix = Path(path).suffix.casefold()
    if suffix not in known:
        raise FileError(f"{path}: a file of type {suffix or '(none)'} is not read here; use {', '.join(known)}")
    return suffix


def _lines(path: FilePath) -> Iterator[str]:
    number = 0
    try:
        with open(path, "rb") as file:
            while line := file.readline(MAX_LINE):
                number += 1
                if len(line) == MAX_LINE or b"\0" in line:
                    raise FileError(f"{path}, line {number}: binary data or an endless line; give text in UTF-8")
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        what = f"byte 0x{error.object[error.start]:02x}"
        raise FileError(f"{path}, line {number}: {what} is not UTF-8 text; save the file as UTF-8") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def _rows(path: FilePath) -> Iterator[Row]:
    """The rows that are not blank, cells stripped; comments that open a txt or edges file are passed over."""
    lines, head = _lines(path), []
    comments = ("#", "%") if Path(path).suffix.casefold() in (".txt", ".edges") else ()
    for line in lines:
        head.append("\n" if comments and line.startswith(comments) else line)
        if head[-1].strip():
            break
    mark, lines = _delimiter(path, head[-1] if head else ""), itertools.chain(head, lines)
    reader = csv.reader(lines, delimiter=mark or ",", strict=True)
    try:
        split = ((k, line.split()) for k, line in enumerate(lines, 1)) if mark is None else _numbered(reader)
        stripped = ((k, [cell.strip() for cell in cells]) for k, cells in split)
        yield from (Row(k, cells) for k, cells in stripped if cells not in ([], [""]))
    except csv.Error as error:
        raise FileError(f"{path}, line {reader.line_num}: {error}; mend the quotes or the line ends") from None


def _numbered(reader: Any) -> Iterator[tuple[int, list[str]]]:
    for cells in reader:
        yield reader.line_num, cells


def _delimiter(path: FilePath, line: str) -> str | None:
    """The most frequent of comma, semicolon and tab; None is any white space."""
    suffix = Path(path).suffix.casefold()
    mark = "\t" if suffix == ".tsv" else max(",;\t", key=line.count)
    return mark if mark in line or suffix in (".csv", ".tsv") else None


def _rectangle(path: FilePath) -> list[Row]:
    """All rows, at least one, all of one width."""
    rows = list(_rows(path))
    if not rows:
        raise FileError(f"{path}: the file is empty; give at least one row")
    width = len(rows[0].cells)
    for row in rows:
        if len(row.cells) != width:
            came = counted(len(row.cells), "column")
            raise FileError(f"{path}, line {row.line}: {came} where line {rows[0].line} has {width}; mend the row")
    return rows


def _is_number(cell: str) -> bool:
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return False


def _numbers(path: FilePath, rows: list[Row], k: int, where: str = "") -> Array:
    try:
        values = np.array([float(row.cells[k]) for row in rows])
        if np.isfinite(values).all() and not any("_" in row.cells[k] for row in rows):
            return values
    except ValueError:
        pass
    bad = next(row for row in rows if not (_is_number(row.cells[k]) and math.isfinite(float(row.cells[k]))))
    raise FileError(f"{path}, line {bad.line}{where}: {bad.cells[k]!r} is no finite number; mend or leave it out")


def _texts(path: FilePath, rows: list[Row], k: int) -> list[Hashable]:
    for row in rows:
        if not row.cells[k]:
            raise FileError(f"{path}, line {row.line}: column {k + 1} is empty; fill it in or drop the row")
    return _typed([row.cells[k] for row in rows])


def _typed(cells: list[Any]) -> list[Hashable]:
    """Integers if all cells are, else the cells."""
    whole = all(isinstance(cell, str) and INTEGER.fullmatch(cell) for cell in cells)
    return [int(cell) for cell in cells] if whole else cells


def _slow_edges(path: FilePath) -> Raw:
    """An edge list, with a message for any line that is wrong."""
    rows = _rectangle(path)
    named = _has_edge_header(rows)
    a, b, w = edge_columns(rows[0].cells if named else ["?"] * len(rows[0].cells))
    notes = _edge_notes(rows[0], named, [k for k in (a, b, w) if k is not None])
    if not (rows := rows[named:]):
        raise FileError(f"{path}: a header and no edges; give at least one edge")
    for row in rows:
        if not (row.cells[a] and row.cells[b]):
            raise FileError(f"{path}, line {row.line}: an endpoint is empty; fill it in or drop the row")
    ends = _typed([row.cells[a] for row in rows] + [row.cells[b] for row in rows])
    weights = None if w is None else _numbers(path, rows, w, ", weight")
    if weights is not None and (weights < 0).any():
        k = int(np.argmax(weights < 0))
        raise FileError(f"{path}, line {rows[k].line}: weight {weights[k]} is negative; weights are ≥ 0")
    return assembled(*both_ends(ends[: len(rows)], ends[len(rows) :]), weights, notes)


def _has_edge_header(rows: list[Row]) -> bool:
    """Usual column names, words over weights, or words over integers."""
    first, words = rows[0].cells, {cell.casefold() for cell in rows[0].cells}
    if len(first) < 2:
        return False
    whole = all(INTEGER.fullmatch(cell) for row in rows[1:] for cell in row.cells[:2])
    over = len(rows) > 1 and whole and not any(INTEGER.fullmatch(cell) for cell in first[:2])
    return bool(words & SOURCES and words & TARGETS) or over or (len(first) == 3 and not _is_number(first[2]))


def _edge_notes(first: Row, named: bool, used: list[int]) -> tuple[str, ...]:
    ignored = [cell for k, cell in enumerate(first.cells) if k not in used]
    notes = [f"passed over {counted(first.line - 1, 'opening line')}"] if first.line > 1 else []
    notes += [f"read line {first.line} as a header: {', '.join(first.cells)}"] if named else []
    return (*notes, f"ignored columns: {', '.join(ignored)}") if ignored else tuple(notes)


def _fast_edges(path: FilePath) -> Raw | None:
    """A large list of integer ids by numpy's parser; None, for the slow way, wherever that does not fit exactly."""
    try:
        if os.path.getsize(path) < LARGE:
            return None
        rows = list(itertools.islice(_rows(path), 3))
        named, width = _has_edge_header(rows), len(rows[0].cells)
        if edge_columns(rows[0].cells if named else ["?"] * width) != (0, 1, 2 if width == 3 else None):
            return None
        columns = [("a", np.int64), ("b", np.int64), ("w", np.float64)][:width]
        table = _loadtxt(path, columns, rows[named].line - 1)
        weights = table["w"] if width == 3 else None
        if weights is not None and not (np.isfinite(weights) & (weights >= 0)).all():
            return None
        return assembled(table["a"], table["b"], weights, _edge_notes(rows[0], named, list(range(width))))
    except (OSError, ValueError, Warning, IndexError):
        return None


def _loadtxt(path: FilePath, columns: list[Any], skip: int) -> AnyArray:
    """Numbers only: numpy's integer parser runs out of bounds beyond ASCII (numpy/numpy#31586), and 007 is text here."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = sum(len(file.readline()) for _ in range(skip))
        mark = _delimiter(path, file.readline().decode("utf-8"))
        if ODD.search(content, start):
            raise ValueError("not numbers alone")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.loadtxt(path, columns, delimiter=mark, skiprows=skip, comments=None, encoding="utf-8-sig", ndmin=1)


def _parsed_networkx(path: FilePath, kind: str) -> Any:
    try:
        import networkx
    except ImportError:
        raise MissingExtraError(f'{path}: {kind} needs networkx: pip install "askgraph[networkx]"') from None
    text = "".join(_lines(path))
    if kind == ".graphml" and ("<!DOCTYPE" in text or "<!ENTITY" in text):
        raise FileError(f"{path}: declares a DOCTYPE or entities, which can unpack without end; remove them")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return networkx.parse_graphml(text) if kind == ".graphml" else _parsed_gml(networkx, text)
    except Exception as error:  # a parser fails in many ways; all of them mean this
        raise FileError(f"{path}: not readable as {kind[1:]} ({error}); export it anew") from None


def _parsed_gml(networkx: Any, text: str) -> Any:
    """Nodes by label where labels serve, else by id; repeated edges are let in, to be added up and noted."""
    if "multigraph" not in text:
        text = re.sub(r"\bgraph\s*\[", "graph [\nmultigraph 1\n", text, count=1)
    try:
        return networkx.parse_gml(text, label="label")
    except networkx.NetworkXError:
        return networkx.parse_gml(text, label="id")


def _paired_labels(path: FilePath, rows: list[Row], graph: Graph) -> list[Hashable]:
    place = {str(graph.name(i)): i for i in range(graph.n_nodes)}
    if len(place) < graph.n_nodes:
        raise FileError(f"{path}: some node names look alike as text (1 and '1'); give one label a line instead")
    named = len(rows) > 1 and rows[0].cells[0] not in place and rows[1].cells[0] in place
    lines: dict[int, int] = {}
    for row in rows[named:]:
        if (i := place.get(row.cells[0])) is None:
            raise FileError(f"{path}, line {row.line}: {_unknown(graph, row.cells[0])}")
        if i in lines:
            raise FileError(f"{path}, line {row.line}: {row.cells[0]!r} has a label on line {lines[i]} already")
        lines[i] = row.line
    if missing := [graph.name(i) for i in range(graph.n_nodes) if i not in lines]:
        raise FileError(f"{path}: no label for {few(missing)}; give one for each node")
    labels = dict(zip(lines, _texts(path, rows[named:], 1), strict=True))
    return [labels[i] for i in range(graph.n_nodes)]


def _unknown(graph: Graph, name: str) -> str:
    try:
        return f"no node {name!r}, only {graph.index(name)}"
    except LabelError as error:
        return f"{error} (a node without an edge is not in an edge list: leave its line out)"


def _one_array(path: FilePath) -> AnyArray:
    if Path(path).suffix.casefold() == ".npz":
        stored = load_arrays(path)
        keys = [key for key in stored if key in LABELS or len(stored) == 1]
        if not keys:
            raise FileError(f"{path}: which of {few(list(stored))} are the labels? name that array y")
        return stored[keys[0]]
    try:
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False))
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
    except Exception as error:  # damage shows in many ways below; all of them mean this
        raise FileError(f"{path}: not a readable npy file ({error!r}); write it anew, not as objects") from None


def _label_list(path: FilePath, array: AnyArray) -> list[Hashable]:
    if array.ndim != 1 or array.dtype.kind not in "biufU":
        raise FileError(f"{path}: labels of shape {array.shape} and type {array.dtype}; give one line of ints or text")
    if array.dtype.kind == "f":
        if (odd := np.flatnonzero(array != np.round(array))).size:
            raise FileError(f"{path}: label {odd[0]} is {array[odd[0]]}; give integers or text")
        array = array.astype(np.int64)
    labels: list[Hashable] = array.tolist()
    return labels


def _npz_table(path: FilePath) -> tuple[Array, list[Hashable] | None, list[Hashable] | None]:
    stored = load_arrays(path)
    X = stored.get("X", np.empty(0))
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise FileError(f"{path}: no table of numbers X in {few(list(stored))}; save it as X, with labels as y")
    X = X.astype(np.float64)
    if (bad := np.argwhere(~np.isfinite(X))).size:
        raise FileError(f"{path}: X[{bad[0][0]}, {bad[0][1]}] is {X[tuple(bad[0])]}; fill it in or drop the row")
    labels, names = (_label_list(path, stored[key]) if key in stored else None for key in ("y", "names"))
    for key, column in (("y", labels), ("names", names)):
        if column is not None and len(column) != len(X):
            raise FileError(f"{path}: {key} has {len(column)} entries for {len(X)} rows of X; give one for each")
    return X, labels, names


def _table(path: FilePath) -> tuple[list[str], list[Row]]:
    rows = _rectangle(path)
    if any(_is_number(cell) for cell in rows[0].cells):
        return [str(k) for k in range(len(rows[0].cells))], rows
    header = [cell or str(k) for k, cell in enumerate(rows[0].cells)]
    if len(set(header)) < len(header):
        twice = next(cell for cell in header if header.count(cell) > 1)
        raise FileError(f"{path}, line {rows[0].line}: two columns are called {twice!r}; rename one")
    if len(rows) == 1:
        raise FileError(f"{path}: a header and no rows; give at least one row")
    return header, rows[1:]
