"""Files -> Graph, labels, tables: the format follows from the file's suffix; an error names the file and the line."""

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
from askgraph.graph.clean import MAX_NODES_WITHOUT_EDGES, Symmetrize
from askgraph.io.annotations import json_table
from askgraph.io.edge_lists import read_text_edges
from askgraph.io.jsonl import jsonl_table, read_jsonl_edges
from askgraph.io.parquet import parquet_table, read_parquet_edges
from askgraph.io.ris import ris_table
from askgraph.io.spreadsheets import SPREADSHEETS, sheet_table
from askgraph.io.tables import Table, label_list, npz_table, text_table
from askgraph.io.text import TEXT, FilePath, naming_file, parse_integers, read_all_rows, read_lines, suffix, text_column
from askgraph.support.arguments import listed
from askgraph.support.files import reading
from askgraph.support.label_names import FILE_LABELS
from askgraph.support.npz import load_arrays
from askgraph.support.progress import working
from askgraph.support.wording import counted, few
from askgraph.types import AnyArray, Array

EDGES = {".jsonl": read_jsonl_edges, ".parquet": read_parquet_edges}  # readers of edge lists that are not text
TABLES = {  # readers of tables that are not text
    ".jsonl": jsonl_table,
    ".parquet": parquet_table,
    ".json": json_table,
    ".ris": ris_table,
    **dict.fromkeys(SPREADSHEETS, sheet_table),
}


def read_graph(path: FilePath, symmetrize: Symmetrize | None = None) -> Graph:
    r"""Read a graph from a file.

    Parameters
    ----------
    path : str or path
        An edge list (csv, tsv, txt, edges, jsonl, parquet), npz (see :meth:`Graph.load`), Matrix Market (mtx), graphml
        or gml. An edge list has columns source, target and perhaps weight. In text, a header is optional, ids are text
        unless all are integers, and comments (# or %) may stand at the start of a txt or edges file.
    symmetrize : {"mean", "max", "sum"}, optional
        How to make an asymmetric matrix symmetric, as in :class:`Graph`.

    Returns
    -------
    Graph
        The graph; its notes say what cleaning changed.

    Examples
    --------
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
    with naming_file(path):
        if kind == ".mtx":
            return Graph(_read_matrix_market(path), symmetrize=symmetrize)
        if kind in (*TEXT, *EDGES):
            return Graph(EDGES.get(kind, read_text_edges)(path), symmetrize=symmetrize)
        graph = _read_networkx(path, kind)
        return Graph(graph, parse_integers(list(graph.nodes)), symmetrize)


def read_labels(path: FilePath, graph: Graph) -> list[Hashable]:
    r"""Read one label for each node of a graph.

    Parameters
    ----------
    path : str or path
        A file (text, xlsx, ods, jsonl, parquet) with columns node and label, or with one label per line or row in node order; or
        an npy file, or an npz file with an array y.
    graph : Graph
        The graph whose nodes have these labels.

    Returns
    -------
    list
        One label per node, in node order.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.csv")
    ...     _ = path.write_text("node,label\nbob,spam\nann,ham\n")
    ...     read_labels(path, Graph.from_edges([("ann", "bob")]))
    ['ham', 'spam']
    """
    kind = suffix(path, (*TEXT, *TABLES, ".npy", ".npz"))
    if kind in (".npy", ".npz"):
        labels = label_list(path, _read_array(path))
    elif (listed := _text_labels(path, graph) if kind in TEXT else _column_labels(path, TABLES[kind](path))).nodes:
        return _sort_labels(path, listed, graph)
    else:
        labels = listed.labels
    if len(labels) != graph.n_nodes:
        raise FileError(f"{path}: {counted(len(labels), 'label')} for {graph.n_nodes} nodes; give one for each node")
    return labels


def read_table(
    path: FilePath, features: Sequence[str] | None = None, label: str | None = None, id: str | None = None
) -> tuple[Array, list[Hashable] | None, list[Hashable] | None]:
    r"""Read features, labels and names from a table.

    Parameters
    ----------
    path : str or path
        A csv, tsv, txt, xlsx, ods, jsonl or parquet file, or an npz file with arrays X and perhaps y and names. The first row of
        text is a header if no cell in it is a number; else the columns are called "0", "1", ….
    features : sequence of str, optional
        The columns of features; by default all but ``label`` and ``id``.
    label : str, optional
        The column of labels.
    id : str, optional
        The column of names.

    Returns
    -------
    X : array
        The features, one row per row of the table.
    labels : list or None
        The labels, if there are any.
    names : list or None
        The names, if there are any.

    Examples
    --------
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
    features = None if features is None else listed(features, "features")
    has_columns(path, header, *(features or ()), label, id)
    chosen = list(features) if features is not None else [c for c in header if c not in (label, id)]
    if not chosen:
        raise FileError(f"{path}: no feature columns are left; its columns are {few(header)}")
    X = np.column_stack([table.numbers(name) for name in chosen])
    labels, names = (None if name is None else table.values(name) for name in (label, id))
    return X, labels, names


def has_columns(path: FilePath, header: Sequence[str], *names: str | None) -> None:
    """Raise an error for a column that the file does not have; None stands for no column."""
    known = set(header)
    for name in names:
        if name is not None and (not isinstance(name, str) or name not in known):
            raise FileError(f"{path}: no column {name!r}; its columns are {few(list(header))}")


def _read_networkx(path: FilePath, kind: str) -> Any:
    try:
        import networkx
    except ImportError:
        raise MissingExtraError(f'{path}: {kind} needs networkx: pip install "askgraph[networkx]"') from None
    text = "".join(read_lines(path))
    if kind == ".graphml" and ("<!DOCTYPE" in text or "<!ENTITY" in text):
        raise FileError(f"{path}: declares a DOCTYPE or entities, which can unpack without end; remove them")
    with reading(path, kind[1:], "export it again"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ports and of keys without a type; a weight that is read as text is refused
        return networkx.parse_graphml(text) if kind == ".graphml" else _parse_gml(networkx, text)


def _parse_gml(networkx: Any, text: str) -> Any:
    """Parse gml with nodes named by label, or by id if labels are missing or repeated.

    The text is read as a multigraph, so that repeated edges are added up and noted instead of refused.
    """
    if "multigraph" not in text:
        text = re.sub(r"\bgraph\s*\[", "graph [\nmultigraph 1\n", text, count=1)
    try:
        return networkx.parse_gml(text, label="label")
    except networkx.NetworkXError:
        return networkx.parse_gml(text, label="id")


def _read_matrix_market(path: FilePath) -> Any:
    from scipy.io import mminfo, mmread

    with reading(path, "mtx", "export it again"):
        content = Path(path).read_bytes() + b"\n"  # scipy's parser crashes without a last line end, or at a zero
        if b"\0" in content:
            raise FileError(f"{path}: binary data; Matrix Market files are text")
        rows, columns, count, form, _, _ = mminfo(io.BytesIO(content))
        if (rows * columns if form == "array" else count) > len(content):
            raise FileError(f"{path}: {rows} rows and {count} entries in so small a file; export it again")
        if max(rows, columns) > max(MAX_NODES_WITHOUT_EDGES, count):
            raise FileError(f"{path}: {rows} nodes but only {count} entries: is the shape right?")
        with working(f"reading {Path(path).name}"):
            return mmread(io.BytesIO(content))


class Labels(NamedTuple):
    """Labels as they are listed in a file."""

    labels: list[Hashable]
    nodes: list[str]  # the nodes of these labels; empty if the file does not name them
    where: Callable[[int], str]  # the place of the k-th row, such as "line 5"


def _text_labels(path: FilePath, graph: Graph) -> Labels:
    found = read_all_rows(path)
    if (width := len(found[0].cells)) > 2:
        raise FileError(f"{path}: {width} columns; give node and label, or one label per line")
    if width == 1:
        named = len(found) == graph.n_nodes + 1 and found[0].cells[0].casefold() in FILE_LABELS
        return Labels(text_column(path, found[named:], 0), [], str)
    place = {str(graph.name(i)) for i in range(graph.n_nodes)}
    named = len(found) > 1 and found[0].cells[0] not in place and found[1].cells[0] in place
    nodes = [row.cells[0] for row in found[named:]]
    return Labels(text_column(path, found[named:], 1), nodes, lambda k: f"line {found[k + named].line}")


def _column_labels(path: FilePath, table: Table) -> Labels:
    if (width := len(table.header)) > 2:
        raise FileError(f"{path}: {width} columns; give node and label, or label alone")
    *nodes, labels = (table.values(name) for name in table.header)
    return Labels(labels, list(map(str, nodes[0])) if nodes else [], table.where)


def _sort_labels(path: FilePath, listed: Labels, graph: Graph) -> list[Hashable]:
    """Return the labels in node order; raise an error unless every node has exactly one."""
    place = {str(graph.name(i)): i for i in range(graph.n_nodes)}
    if len(place) < graph.n_nodes:
        raise FileError(f"{path}: some node names look alike as text (1 and '1'); give one label per line instead")
    rows: dict[int, int] = {}
    for k, node in enumerate(listed.nodes):
        if (i := place.get(node)) is None:
            raise FileError(f"{path}, {listed.where(k)}: {_describe_unknown(graph, node)}")
        if i in rows:
            raise FileError(f"{path}, {listed.where(k)}: {node!r} has a label on {listed.where(rows[i])} already")
        rows[i] = k
    if missing := [graph.name(i) for i in range(graph.n_nodes) if i not in rows]:
        raise FileError(f"{path}: no label for {few(missing)}; give one for each node")
    return [listed.labels[rows[i]] for i in range(graph.n_nodes)]


def _describe_unknown(graph: Graph, name: str) -> str:
    try:
        return f"no node {name!r}, only {graph.index(name)}"
    except LabelError as error:
        return f"{error} (a node without an edge is not in an edge list: leave its line out)"


def _read_array(path: FilePath) -> AnyArray:
    if Path(path).suffix.casefold() == ".npz":
        stored = load_arrays(path)
        keys = [key for key in stored if key in FILE_LABELS or len(stored) == 1]
        if not keys:
            raise FileError(f"{path}: which of {few(list(stored))} are the labels? name that array y")
        return stored[keys[0]]
    with reading(path, "npy", "write it again, not as objects"):
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False))
