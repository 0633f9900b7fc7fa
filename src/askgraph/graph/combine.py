"""Several graphs over the same nodes added up: a given graph and graphs of its nodes' features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import GraphError
from askgraph.graph.build import nearest_neighbors, unit_rows
from askgraph.graph.graph import Graph
from askgraph.graph.kernels import checked_rows, in_median_edges, smoothed


def with_features(graph: Graph, X: Any, k: int = 10, hops: int = 2) -> Graph:
    r"""Add to a graph edges between nodes whose features, averaged along the graph's edges, are alike.

    Rows of features are scaled to length 1, then smoothed by :math:`D^{-1/2} (W + I) D^{-1/2}`, ``hops`` times, with weights W
    over their median. After each
    time, each node is joined to the k nearest by cosine with weight 1, which gives one more graph. The given graph and these
    graphs are added up, the weights of each scaled to the same sum.

    Parameters
    ----------
    graph : Graph
        The given graph.
    X : array or sparse matrix
        Features: one row per node, in the graph's order.
    k : int
        The number of neighbors of each node by its features.
    hops : int
        How often features are smoothed, at least once.

    Returns
    -------
    Graph
        The sum of the graphs, with the names of the given graph.

    Examples
    --------
    >>> import askgraph as ag
    >>> with_features(ag.chain(4), [[1.0, 0.0], [1.0, 0.1], [0.1, 1.0], [0.0, 1.0]], k=1)
    Graph(4 nodes, 3 edges)
    """
    if not isinstance(graph, Graph):
        raise GraphError(f"a {type(graph).__name__} is not a Graph: make one first, with askgraph.Graph")
    _, *rows = smoothed(in_median_edges(graph), unit_rows(checked_rows(graph, X))[:, :-1], hops)
    parts = [graph, *(nearest_neighbors(some, k, "cosine", bandwidth=None) for some in rows)]
    return merge(parts)


def merge(graphs: Sequence[Graph]) -> Graph:
    """Add up several graphs over the same nodes, the weights of each scaled to the same sum; keep the first one's names."""
    n = graphs[0].n_nodes
    scaled = [graph.weights * merging_factor(graph) for graph in graphs if graph.n_edges]
    return Graph(csr_array(sum(scaled, csr_array((n, n)))), names=graphs[0].names)


def merging_factor(graph: Graph) -> float:
    """Return by what ``merge`` multiplies the weights of a graph: a ridge in their unit is multiplied by the same."""
    if not graph.n_edges:
        return 1.0
    total = float(graph.weights.sum())
    if not np.isfinite(factor := graph.n_nodes / total):
        raise GraphError(f"the weights of a graph add up to {total:.0e}, too little to scale them: multiply them first")
    return factor
