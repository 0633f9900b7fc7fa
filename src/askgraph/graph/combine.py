"""A graph that is given, and features of its nodes: both at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array, issparse

from askgraph.errors import GraphError, SettingError
from askgraph.graph.build import nearest_neighbors
from askgraph.graph.graph import Graph
from askgraph.graph.sources import coordinates


def with_features(graph: Graph, X: Any, k: int = 10, hops: int = 2) -> Graph:
    r"""The graph's own edges, and edges between nodes whose features are alike once they were averaged along its edges.

    Features are smoothed once, twice, … ``hops`` times by :math:`D^{-1/2} (W + I) D^{-1/2}`; after each the k nearest by cosine
    are joined with weight 1. The graph and each of these count alike: their weights are scaled to the same sum.

    >>> import askgraph as ag
    >>> with_features(ag.chain(4), [[1.0, 0.0], [1.0, 0.1], [0.1, 1.0], [0.0, 1.0]], k=1)
    Graph(4 nodes, 3 edges)
    """
    rows = coordinates(X).tocsr() if issparse(X) else np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[0] != graph.n_nodes:
        raise GraphError(
            f"features of shape {rows.shape} for {graph.n_nodes} nodes: give a row a node, in the graph's order"
        )
    if not isinstance(hops, int) or hops < 1:
        raise SettingError(f"hops={hops!r}: smooth features along edges at least once")
    joined = graph.weights + eye_array(graph.n_nodes)
    root = diags_array(1 / np.sqrt(joined.sum(axis=1)))
    parts, average = [graph], root @ joined @ root
    for _ in range(hops):
        rows = average @ rows
        parts.append(nearest_neighbors(rows, k, "cosine", bandwidth=None))
    return summed(parts)


def summed(graphs: Sequence[Graph]) -> Graph:
    """The edges of several graphs over the same nodes, the weights of each scaled to the same sum; named as the first."""
    parts, n = [graph.weights for graph in graphs], graphs[0].n_nodes
    scaled = [part * (n / part.sum()) for part in parts if part.nnz]
    return Graph(csr_array(sum(scaled, csr_array((n, n)))), names=graphs[0].names)
