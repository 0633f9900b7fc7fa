"""Files -> Graph, labels, tables; whatever is wrong is named with its file and line."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.archive import load_arrays
from askgraph.clean import Symmetrize
from askgraph.edges import text_edges
from askgraph.errors import FileError, LabelError, MissingExtraError, SettingError
from askgraph.foreign import counted, few
from askgraph.graph import Graph
from askgraph.text import TEXT, FilePath, Row, about, is_number, lines, numbers, rows, suffix, texts, typed
from askgraph.types import AnyArray, Array

LABELS = {"label", "labels", "class", "y"}


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
    kind = suffix(path, (".npz", *TEXT, ".graphml", ".gml"))
    if kind == ".npz":
        return Graph.load(path, symmetrize)
    with about(path):
        if kind in TEXT:
            return Graph(text_edges(path), symmetrize=symmetrize)
        graph = _parsed_networkx(path, kind)
        return Graph(graph, typed(list(graph.nodes)), symmetrize)


def read_labels(path: FilePath, graph: Graph) -> list[Hashable]:
    r"""One label for each node, in node order: from columns node, label; one label a line; npy; or npz (y).

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.csv")
    ...     _ = path.write_text("node,label\nbob,spam\nann,ham\n")
    ...     read_labels(path, Graph.from_edges([("ann", "bob")]))
    ['ham', 'spam']
    """
    if suffix(path, (*TEXT, ".npy", ".npz")) not in TEXT:
        labels = _label_list(path, _one_array(path))
    else:
        found = list(rows(path))
        if len(found[0].cells) == 2:
            return _paired_labels(path, found, graph)
        if len(found[0].cells) > 2:
            raise FileError(f"{path}: {len(found[0].cells)} columns; give node and label, or one label a line")
        named = len(found) == graph.n_nodes + 1 and found[0].cells[0].casefold() in LABELS
        labels = texts(path, found[named:], 0)
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
    if suffix(path, (".csv", ".tsv", ".txt", ".npz")) == ".npz":
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
    X = np.column_stack([numbers(path, rows, header.index(c), f", column {c!r}") for c in chosen])
    labels, names = (None if c is None else texts(path, rows, header.index(c)) for c in (label, id))
    return X, labels, names


def _parsed_networkx(path: FilePath, kind: str) -> Any:
    try:
        import networkx
    except ImportError:
        raise MissingExtraError(f'{path}: {kind} needs networkx: pip install "askgraph[networkx]"') from None
    text = "".join(lines(path))
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
    labels = dict(zip(lines, texts(path, rows[named:], 1), strict=True))
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
    found = list(rows(path))
    if any(is_number(cell) for cell in found[0].cells):
        return [str(k) for k in range(len(found[0].cells))], found
    header = [cell or str(k) for k, cell in enumerate(found[0].cells)]
    if len(set(header)) < len(header):
        twice = next(cell for cell in header if header.count(cell) > 1)
        raise FileError(f"{path}, line {found[0].line}: two columns are called {twice!r}; rename one")
    if len(found) == 1:
        raise FileError(f"{path}: a header and no rows; give at least one row")
    return header, found[1:]
