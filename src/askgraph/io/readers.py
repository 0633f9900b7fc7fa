"""Files -> Graph, labels, tables; whatever is wrong is named with its file and line."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import FileError, LabelError, MissingExtraError, SettingError
from askgraph.graph import Graph
from askgraph.graph.clean import Symmetrize
from askgraph.graph.sources import counted, few
from askgraph.io.edge_lists import text_edges
from askgraph.io.jsonl import jsonl_edges, jsonl_table
from askgraph.io.parquet import parquet_edges, parquet_table
from askgraph.io.tables import Table, label_list, npz_table, text_table
from askgraph.io.text import TEXT, FilePath, about, lines, rows, suffix, texts, typed
from askgraph.support.npz import load_arrays
from askgraph.support.progress import working
from askgraph.types import AnyArray, Array

EDGES = {".jsonl": jsonl_edges, ".parquet": parquet_edges}
TABLES = {".jsonl": jsonl_table, ".parquet": parquet_table}
LABELS = {"label", "labels", "class", "y"}


def read_graph(path: FilePath, symmetrize: Symmetrize | None = None) -> Graph:
    r"""A graph from npz, an edge list (csv, tsv, txt, edges, jsonl, parquet), Matrix Market (mtx), graphml or gml.

    An edge list has columns source, target and perhaps weight; in text, with or without a header, ids are text unless
    all are integers. Lines of comment (# or %) may open a txt or edges file. For npz see :meth:`Graph.load`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "friends.csv")
    ...     _ = path.write_text("source,target,weight\nann,bob,1\nbob,cy,2.5\n")
    ...     read_graph(path)
    Graph(3 nodes, 2 edges)
    """
    kind = suffix(path, (".npz", *TEXT, *EDGES, ".mtx", ".graphml", ".gml"))
    if kind == ".npz":
        return Graph.load(path, symmetrize)
    with about(path):
        if kind == ".mtx":
            return Graph(_matrix_market(path), symmetrize=symmetrize)
        if kind in (*TEXT, *EDGES):
            return Graph(EDGES.get(kind, text_edges)(path), symmetrize=symmetrize)
        graph = _parsed_networkx(path, kind)
        return Graph(graph, typed(list(graph.nodes)), symmetrize)


def read_labels(path: FilePath, graph: Graph) -> list[Hashable]:
    r"""One label for each node, in node order: from columns node and label (text, jsonl, parquet), or one label a line
    or row, or npy, or npz (y).

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.csv")
    ...     _ = path.write_text("node,label\nbob,spam\nann,ham\n")
    ...     read_labels(path, Graph.from_edges([("ann", "bob")]))
    ['ham', 'spam']
    """
    kind = suffix(path, (*TEXT, *TABLES, ".npy", ".npz"))
    if kind in (".npy", ".npz"):
        labels = label_list(path, _one_array(path))
    elif (pair := _text_labels(path, graph) if kind in TEXT else _column_labels(path, TABLES[kind](path))).nodes:
        return _paired_labels(path, pair, graph)
    else:
        labels = pair.labels
    if len(labels) != graph.n_nodes:
        raise FileError(f"{path}: {counted(len(labels), 'label')} for {graph.n_nodes} nodes; give one for each node")
    return labels


def read_table(
    path: FilePath, features: Sequence[str] | None = None, label: str | None = None, id: str | None = None
) -> tuple[Array, list[Hashable] | None, list[Hashable] | None]:
    r"""Features, labels and names of the rows: a table (csv, tsv, jsonl, parquet), or npz with X and perhaps y and names.

    The first row of text is a header if nothing in it is a number; else the columns are "0", "1", …; ``features=None`` takes
    all columns but ``label`` and ``id``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "iris.csv")
    ...     _ = path.write_text("width,height,kind\n1,2,setosa\n3,4,virginica\n")
    ...     X, labels, names = read_table(path, label="kind")
    >>> X.tolist(), labels, names
    ([[1.0, 2.0], [3.0, 4.0]], ['setosa', 'virginica'], None)
    """
    kind = suffix(path, (".csv", ".tsv", ".txt", *TABLES, ".npz"))
    if kind == ".npz":
        if not (features is label is id is None):
            raise SettingError(f"{path}: an npz table has no columns to choose; it holds X, and perhaps y and names")
        return npz_table(path)
    table = TABLES.get(kind, text_table)(path)
    header = table.header
    has_columns(path, header, *(features or ()), label, id)
    chosen = list(features) if features is not None else [c for c in header if c not in (label, id)]
    if not chosen:
        raise FileError(f"{path}: no feature columns are left; its columns are {few(header)}")
    X = np.column_stack([table.numbers(name) for name in chosen])
    labels, names = (None if name is None else table.values(name) for name in (label, id))
    return X, labels, names


def has_columns(path: FilePath, header: Sequence[str], *names: str | None) -> None:
    """Refuse a column that the file does not have; None is none."""
    for name in names:
        if name is not None and name not in header:
            raise FileError(f"{path}: no column {name!r}; its columns are {few(list(header))}")


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


def _matrix_market(path: FilePath) -> Any:
    from scipy.io import mminfo, mmread

    try:
        content = Path(path).read_bytes() + b"\n"  # scipy's parser crashes without a last line end, or at a zero
        if b"\0" in content:
            raise FileError(f"{path}: binary data; Matrix Market files are text")
        rows, columns, count, form, _, _ = mminfo(io.BytesIO(content))
        if (rows * columns if form == "array" else count) > len(content):
            raise FileError(f"{path}: {rows} rows and {count} entries in so small a file; export it anew")
        if max(rows, columns) > max(10_000_000, count):
            raise FileError(f"{path}: {rows} nodes but only {count} entries: is the shape right?")
        with working(f"reading {Path(path).name}"):
            return mmread(io.BytesIO(content))
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}); check the path") from None
    except Exception as error:  # a parser fails in many ways; all of them mean this
        raise FileError(f"{path}: not readable as mtx ({error}); export it anew") from None


class Labels(NamedTuple):
    """Labels and, if they are told, the nodes they belong to; ``where`` says which row is the k-th."""

    labels: list[Hashable]
    nodes: list[str]
    where: Callable[[int], str]


def _text_labels(path: FilePath, graph: Graph) -> Labels:
    found = list(rows(path))
    if (width := len(found[0].cells)) > 2:
        raise FileError(f"{path}: {width} columns; give node and label, or one label a line")
    if width == 1:
        named = len(found) == graph.n_nodes + 1 and found[0].cells[0].casefold() in LABELS
        return Labels(texts(path, found[named:], 0), [], str)
    place = {str(graph.name(i)) for i in range(graph.n_nodes)}
    named = len(found) > 1 and found[0].cells[0] not in place and found[1].cells[0] in place
    nodes = [row.cells[0] for row in found[named:]]
    return Labels(texts(path, found[named:], 1), nodes, lambda k: f"line {found[k + named].line}")


def _column_labels(path: FilePath, table: Table) -> Labels:
    if (width := len(table.header)) > 2:
        raise FileError(f"{path}: {width} columns; give node and label, or label alone")
    *nodes, labels = (table.values(name) for name in table.header)
    return Labels(labels, list(map(str, nodes[0])) if nodes else [], table.where)


def _paired_labels(path: FilePath, pair: Labels, graph: Graph) -> list[Hashable]:
    place = {str(graph.name(i)): i for i in range(graph.n_nodes)}
    if len(place) < graph.n_nodes:
        raise FileError(f"{path}: some node names look alike as text (1 and '1'); give one label a line instead")
    rows: dict[int, int] = {}
    for k, node in enumerate(pair.nodes):
        if (i := place.get(node)) is None:
            raise FileError(f"{path}, {pair.where(k)}: {_unknown(graph, node)}")
        if i in rows:
            raise FileError(f"{path}, {pair.where(k)}: {node!r} has a label on {pair.where(rows[i])} already")
        rows[i] = k
    if missing := [graph.name(i) for i in range(graph.n_nodes) if i not in rows]:
        raise FileError(f"{path}: no label for {few(missing)}; give one for each node")
    return [pair.labels[rows[i]] for i in range(graph.n_nodes)]


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
