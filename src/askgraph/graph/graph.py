"""Graph: the input, checked once (symmetric weights, node names, notes on what cleaning changed)."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from askgraph.errors import AskgraphError, FileError, GraphError, LabelError, MissingExtraError
from askgraph.graph.clean import Symmetrize, stored_entries
from askgraph.graph.clean import symmetrize as symmetrize_weights
from askgraph.graph.foreign import as_edge_index, from_graph_object, plain
from askgraph.graph.names import as_index, check_names, hint
from askgraph.graph.report import Report
from askgraph.graph.sources import Raw, count_nodes, from_edges, from_object, matrix_entries
from askgraph.linalg.components import symmetric_components
from askgraph.support.arguments import listed, one_of
from askgraph.support.notebook import card, drawn
from askgraph.support.npz import as_json, from_json, load_arrays, save_arrays
from askgraph.support.wording import counted, few
from askgraph.types import AnyArray, Array, BoolArray, IntArray


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Graph:
    """Symmetric non-negative weights with zero diagonal, node names, and notes on what cleaning changed.

    Parameters
    ----------
    source : matrix, graph, frame or list of tuples
        A dense or sparse matrix (NumPy, SciPy, PyTorch, CuPy), a graph of networkx, igraph, rustworkx, PyTorch Geometric or DGL,
        a (2, m) edge_index, an AnnData with neighbors, the distances and indices that a neighbor search returns, a frame of
        edges (pandas, polars, pyarrow), a pandas adjacency frame, or a list of tuples (see :meth:`from_edges`).
    names : iterable, optional
        One name per node, all different; without names the nodes are called 0 … n−1.
    symmetrize : {"mean", "max", "sum"}, optional
        How to make an asymmetric matrix symmetric: (W + Wᵀ)/2, max(W, Wᵀ) or W + Wᵀ. A symmetric matrix stays as it is;
        without this argument an asymmetric one is refused.

    Attributes
    ----------
    weights : scipy.sparse.csr_array
        W, one row and one column per node.
    names : tuple or None
        The node names; None where the nodes are called 0 … n−1.
    notes : tuple of str
        What cleaning changed.

    Examples
    --------
    >>> graph = Graph([[0, 1, 0], [1, 0, 2], [0, 2, 0]], names=["a", "b", "c"])
    >>> graph
    Graph(3 nodes, 2 edges)
    >>> graph.degrees.tolist(), graph.index("c")
    ([1.0, 3.0, 2.0], 2)
    """

    weights: sp.csr_array
    names: tuple[Hashable, ...] | None
    notes: tuple[str, ...]

    def __init__(
        self, source: object, names: Iterable[Hashable] | None = None, symmetrize: Symmetrize | None = None
    ) -> None:
        one_of(symmetrize, "symmetrize", ("mean", "max", "sum", None))
        raw = source if isinstance(source, Raw) else _raw(source)
        named = check_names(raw.names if names is None else names, count_nodes(raw.weights.shape))
        weights, notes = symmetrize_weights(raw, named, symmetrize)
        for field, value in (("weights", weights), ("names", named), ("notes", raw.notes + notes)):
            object.__setattr__(self, field, value)

    @classmethod
    def from_edges(
        cls, edges: object, nodes: int | Iterable[Hashable] | None = None, symmetrize: Symmetrize | None = None
    ) -> Graph:
        """Return a graph from a list of edges.

        Integer ids that fill 0…n−1 are indices. Other ids are names: integers are sorted, other names stay in the order
        in which they first appear. An edge is undirected, listed in whichever direction. The weights of an edge that is
        listed again in the same direction add up; an edge that is listed in both directions counts once.

        Parameters
        ----------
        edges : iterable of tuples, array or frame
            Pairs (source, target) or triples (source, target, weight), an (m, 2) or (m, 3) array, or a frame.
        nodes : int or iterable, optional
            All nodes in order, isolated ones too; an integer n means 0…n−1.
        symmetrize : {"mean", "max", "sum"}, optional
            Which weight an edge gets that is listed in both directions with two different weights; by default the mean.

        Returns
        -------
        Graph
            The graph of these edges.

        Examples
        --------
        >>> Graph.from_edges([("ann", "bob"), ("bob", "cy", 2.5)]).names
        ('ann', 'bob', 'cy')
        >>> Graph.from_edges([(0, 1), (1, 2)], nodes=5).report().isolated
        2
        """
        return cls(from_edges(plain(edges), nodes), symmetrize=symmetrize)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return int(self.weights.shape[0])

    @property
    def n_edges(self) -> int:
        """The number of undirected edges."""
        return int(self.weights.nnz) // 2

    @cached_property
    def degrees(self) -> Array:
        """The degree of each node, d_i = Σ_j w_ij."""
        degrees: Array = np.asarray(self.weights.sum(axis=1), dtype=np.float64)
        degrees.flags.writeable = False
        return degrees

    @property
    def mean_degree(self) -> float:
        """The mean degree of the nodes that have an edge; 1 if no node has one."""
        degrees = self.degrees[self.degrees > 0]
        return float(degrees.mean()) if degrees.size else 1.0

    def laplacian(self) -> sp.csr_array:
        """Return L = diag(d) − W.

        Returns
        -------
        scipy.sparse.csr_array
            The Laplacian, one row and one column per node.

        Examples
        --------
        >>> Graph([[0, 2], [2, 0]]).laplacian().toarray().tolist()
        [[2.0, -2.0], [-2.0, 2.0]]
        """
        return sp.csr_array(sp.diags_array(self.degrees, format="csr") - self.weights)

    @cached_property
    def _components(self) -> IntArray:
        labels: IntArray = symmetric_components(self.weights)[1].astype(np.int64)
        labels.flags.writeable = False
        return labels

    def components(self) -> IntArray:
        """Return the component of each node, numbered from 0.

        Returns
        -------
        array of int
            One number per node.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (2, 3)]).components().tolist()
        [0, 0, 1, 1]
        """
        return self._components

    def largest_component(self) -> Graph:
        """Return the largest component; its nodes keep their names, or get their old indices as names.

        Returns
        -------
        Graph
            The largest component, or this graph if it is connected.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (2, 3), (3, 4)]).largest_component().names
        (2, 3, 4)
        """
        sizes = np.bincount(self.components())
        return self if sizes.size == 1 else self._take(np.flatnonzero(self.components() == sizes.argmax()))

    def subgraph(self, nodes: Iterable[Hashable] | BoolArray) -> Graph:
        """Return some of the nodes and the edges between them.

        Parameters
        ----------
        nodes : iterable or boolean array
            The names of the nodes, in the order wanted, or a mask with one entry per node.

        Returns
        -------
        Graph
            The nodes with their names, or with their old indices as names.

        Examples
        --------
        >>> Graph.from_edges([("a", "b"), ("b", "c")]).subgraph(["c", "b"])
        Graph(2 nodes, 1 edge)
        """
        if not (isinstance(nodes, np.ndarray) and nodes.dtype == bool):
            return self._take(
                np.array([self.index(node) for node in listed(nodes, "nodes", GraphError)], dtype=np.int64)
            )
        if nodes.shape != (self.n_nodes,):
            raise GraphError(f"a mask of shape {nodes.shape}: give one entry for each of the {self.n_nodes} nodes")
        return self._take(np.flatnonzero(nodes))

    def _take(self, index: IntArray) -> Graph:
        kept = Graph(self.weights[index][:, index], [self.name(i) for i in index.tolist()])
        return kept.noted(*self.notes, f"kept {index.size} of {self.n_nodes} nodes")

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self.names or ())}

    def index(self, name: Hashable) -> int:
        """Return the index of a node.

        Parameters
        ----------
        name : hashable
            The name of the node, or its index where the graph has no names.

        Returns
        -------
        int
            The index, from 0.

        Examples
        --------
        >>> Graph.from_edges([("ann", "bob")]).index("bob")
        1
        """
        if self.names is None and (index := as_index(name, self.n_nodes)) is not None:
            return index
        try:
            return self._places[name]
        except (KeyError, TypeError):
            raise LabelError(f"no node {name!r} in this graph{hint(name, self.names, self.n_nodes)}") from None

    def name(self, index: int) -> Hashable:
        """Return the name of a node, or its index where the graph has no names.

        Parameters
        ----------
        index : int
            The index of the node, from 0.

        Returns
        -------
        hashable
            The name.

        Examples
        --------
        >>> Graph.from_edges([("ann", "bob")]).name(1)
        'bob'
        """
        at = as_index(index, self.n_nodes)
        if at is None:
            raise LabelError(f"no node with index {index!r}: indices run from 0 to {self.n_nodes - 1}")
        return at if self.names is None else self.names[at]

    def noted(self, *notes: str) -> Graph:
        """Return the same graph with these notes added.

        Parameters
        ----------
        *notes : str
            The notes to add.

        Returns
        -------
        Graph
            A copy that shares its arrays with this graph.

        Examples
        --------
        >>> Graph([[0, 1], [1, 0]]).noted("from my table").notes
        ('from my table',)
        """
        graph = copy.copy(self)
        object.__setattr__(graph, "notes", (*self.notes, *notes))
        return graph

    def report(self) -> Report:
        """Return the number of nodes, edges and components, degrees, weights, and notes on what cleaning changed.

        Returns
        -------
        Report
            The figures as attributes; prints as a few lines.

        Examples
        --------
        >>> print(Graph.from_edges([(0, 1), (1, 1)], nodes=3).report())
        3 nodes, 1 edge, 1 isolated
        2 components, the largest of 2 nodes
        degree 0 to 1, mean 0.6667, median 1
        weight 1 to 1
        note: dropped 1 self-loop
        """
        d, w, sizes = self.degrees, self.weights.data, np.bincount(self.components())
        low, high = (float(w.min()), float(w.max())) if w.size else (0.0, 0.0)
        isolated = int(np.count_nonzero(np.diff(self.weights.indptr) == 0))
        degree = (float(d.min()), float(np.median(d)), float(d.mean()), float(d.max()))
        parts = sizes.size, int(sizes.max())
        return Report(self.n_nodes, self.n_edges, *parts, isolated, *degree, low, high, self.notes)

    def to_networkx(self) -> Any:
        """Return this graph as a ``networkx.Graph``.

        Returns
        -------
        networkx.Graph
            The same nodes and edges; weights are in the attribute ``weight``.

        Examples
        --------
        >>> sorted(Graph.from_edges([("a", "b", 2)]).to_networkx().edges(data="weight"))
        [('a', 'b', 2.0)]
        """
        try:
            import networkx
        except ImportError:
            raise MissingExtraError('networkx is not installed: pip install "askgraph[networkx]"') from None
        names, upper = self.names or range(self.n_nodes), sp.triu(self.weights).tocoo()
        ends = ([names[i] for i in side.tolist()] for side in (upper.row, upper.col))
        graph = networkx.Graph()
        graph.add_nodes_from(names)
        graph.add_weighted_edges_from(zip(*ends, upper.data.tolist(), strict=True))
        return graph

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one npz file in the layout of ``scipy.sparse.save_npz``, with names and notes as JSON inside.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Graph.from_edges([("ann", "bob")]).save(f"{folder}/friends.npz")
        ...     Graph.load(f"{folder}/friends.npz").names
        ('ann', 'bob')
        """
        save_arrays(path, **self.arrays())

    def arrays(self) -> dict[str, Any]:
        """Return the arrays that :meth:`save` writes: the layout of ``scipy.sparse.save_npz``, names and notes as JSON.

        Returns
        -------
        dict
            {name: array}.
        """
        W = self.weights
        extra = {"names": as_json(self.names, "names"), "notes": as_json(self.notes, "notes")}
        return {
            "_is_array": True,
            "format": b"csr",
            "shape": W.shape,
            "data": W.data,
            "indices": W.indices,
            "indptr": W.indptr,
            **extra,
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str], symmetrize: Symmetrize | None = None) -> Graph:
        """Read an npz file that :meth:`save` or ``scipy.sparse.save_npz`` wrote, or one of edges; unpickle nothing.

        Checksums, indices, signs and symmetry are checked; weights that are clean already are not cleaned again. The
        arrays of a file that :meth:`save` wrote stay in the file and are read as they are used, so do not change the
        file meanwhile (:meth:`save` puts a new file in its place, which does no harm).

        Parameters
        ----------
        path : str or path
            The file. Edges are arrays called source, target and perhaps weight, or one array called edges with two or
            three columns.
        symmetrize : {"mean", "max", "sum"}, optional
            How to make an asymmetric matrix symmetric, as in :class:`Graph`.

        Returns
        -------
        Graph
            The graph with its names and notes.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Graph.from_edges([("ann", "bob"), ("bob", "cy")]).save(f"{folder}/friends.npz")
        ...     Graph.load(f"{folder}/friends.npz").names
        ('ann', 'bob', 'cy')
        """
        return cls.stored(path, load_arrays(path), symmetrize)

    @classmethod
    def stored(
        cls, path: str | os.PathLike[str], stored: dict[str, AnyArray], symmetrize: Symmetrize | None = None
    ) -> Graph:
        """Return the graph among the arrays of an npz file.

        Parameters
        ----------
        path : str or path
            The file, which errors name.
        stored : dict
            {name: array}, as :meth:`arrays` returns them, or as :meth:`load` takes them.
        symmetrize : {"mean", "max", "sum"}, optional
            How to make an asymmetric matrix symmetric, as in :class:`Graph`.

        Returns
        -------
        Graph
            The graph with its names and notes.
        """
        try:
            names, notes = (from_json(str(stored[key])) if key in stored else None for key in ("names", "notes"))
            return cls(stored_entries(stored), names, symmetrize).noted(*map(str, notes or ()))
        except AskgraphError as error:
            raise FileError(f"{path}: {error}") from None
        except Exception as error:  # a damaged file can raise nearly anything
            raise FileError(f"{path}: not a saved graph ({error!r}); write it with Graph.save or save_npz") from None

    def plot(self, axes: Any = None) -> Any:
        """Draw the graph with matplotlib (``pip install "askgraph[plot]"``).

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes, without ticks: only nearness in the picture has a meaning.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 2)]).plot()  # doctest: +SKIP
        """
        return drawn("plot_graph", self, axes)

    def _repr_html_(self) -> str:
        """Return a card for notebooks."""
        report = self.report()
        rows: dict[str, object] = {"nodes": f"{self.n_nodes:,}", "edges": f"{self.n_edges:,}"}
        rows["components"] = f"{report.components:,}, the largest of {counted(report.largest, 'node')}"
        rows["degree"] = f"{report.degree_min:.4g} to {report.degree_max:.4g}, median {report.degree_median:.4g}"
        rows |= {"weight": f"{report.weight_min:.4g} to {report.weight_max:.4g}"}
        rows |= {"nodes are called": few(self.names)} if self.names else {}
        return card("Graph", rows | {f"note {k}": note for k, note in enumerate(self.notes, 1)})

    def __repr__(self) -> str:
        """Return one line with the number of nodes and edges."""
        return f"Graph({counted(self.n_nodes, 'node')}, {counted(self.n_edges, 'edge')})"


def _raw(source: Any) -> Raw:
    if isinstance(source, Graph):
        return Raw(source.weights, source.names, "clean", source.notes)
    if found := from_graph_object(source):
        return found
    source = plain(source)
    if found := as_edge_index(source):
        return found
    if sp.issparse(source) or isinstance(source, np.ndarray):
        return Raw(matrix_entries(source))
    return from_object(source) or Raw(matrix_entries(source))
