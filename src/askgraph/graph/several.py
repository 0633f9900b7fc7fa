"""Given graphs beside items that can be compared: how far a graph joins what is alike, and the sum of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from askgraph.graph.build import nearest_neighbors, unit_rows
from askgraph.graph.graph import Graph
from askgraph.graph.kernels import smoothed
from askgraph.types import Array

LEAST = 0.01  # a graph whose edges are less alike than this share counts as one that has nothing to do with the rows
ERRORS = 3.0  # standard errors; the same where the share is less than this many above zero
ENOUGH = 0.1  # where these errors are more than this share of what may be found, a graph has too few edges to tell
EDGES = 100_000  # edges of a graph that are looked at, evenly spaced; more of them change nothing


def alikeness(graph: Graph, compared: Graph, rows: Any) -> float:
    """Return how much more alike the ends of a graph's edges are than any two nodes, by cosine, from 0 to 1.

    1 is what the edges of ``compared`` have, which joins the nearest rows; a graph whose edges have nothing to do with the rows
    has 0.
    """
    rows = unit_rows(rows)
    any_two = _any_two(rows)
    (here, error), (nearest, _) = (_mean_cosine(one, rows) for one in (graph, compared))
    more, most = here - any_two, nearest - any_two
    if more <= ERRORS * error:
        return 0.0
    share = min(more / most, 1.0) if most > 0 else 1.0
    return share if share >= LEAST else 0.0


def unrelated(graph: Graph, rows: Any) -> bool:
    """Return whether a graph joins rows as alike as any two are, neither more nor less, and has edges enough to tell."""
    rows = unit_rows(rows)
    any_two, (here, error) = _any_two(rows), _mean_cosine(graph, rows)
    return bool(graph.n_edges) and abs(here - any_two) <= ERRORS * error <= ENOUGH * (1 - any_two)


def _any_two(rows: Any) -> float:
    """Return the mean cosine of any two rows of length 1."""
    total = np.asarray(rows.sum(axis=0)).ravel()
    return float(total @ total) / rows.shape[0] ** 2


def add_graphs(graphs: Sequence[Graph], shares: Sequence[float] | None = None) -> Graph:
    """Return the sum of graphs over the same nodes, edges of each of mean weight 1 or its share; keep the first one's names."""
    weights = [1.0] * len(graphs) if shares is None else shares
    total = sum(share * _even(graph) for graph, share in zip(graphs, weights, strict=True))
    return Graph(csr_array(total), names=graphs[0].names)


def add_alike(
    compared: Graph, rows: Any, given: Sequence[Graph], shares: Sequence[float], k: int = 10, hops: int = 2
) -> Graph:
    r"""Return the sum of ``compared``, of given graphs, and of the nearest by rows smoothed along the given graphs.

    Rows of length 1 are smoothed by :math:`D^{-1/2} (W + I) D^{-1/2}`, ``hops`` times, with W the sum of the given graphs, edges
    of each of mean weight 1 times its share. After each time every node is joined to its k nearest by cosine. Edges of all these
    graphs have the same mean weight, those of a given graph its share of it. So a graph of few edges counts for few, and one
    with share 0 for nothing.
    """
    if not any(shares):
        return compared
    W = add_graphs(given, shares)
    _, *smooth = smoothed(W, unit_rows(rows)[:, :-1], hops)
    near = [_even(nearest_neighbors(some, k, "cosine", bandwidth=None)) for some in smooth]
    return Graph(csr_array(sum(near, _even(compared) + W.weights)), names=compared.names).noted(*compared.notes)


def _even(graph: Graph) -> csr_array:
    """Return the weights of a graph, scaled to mean 1 over its edges."""
    return csr_array(graph.weights / (graph.weights.data.mean() if graph.weights.nnz else 1.0))


def _mean_cosine(graph: Graph, rows: Any) -> tuple[float, float]:
    """Return the mean cosine of rows of length 1 over the ends of edges, weights counted, and its standard error."""
    edges = graph.weights.tocoo()
    if not edges.nnz:
        return 0.0, 0.0
    some = slice(None, None, max(1, edges.nnz // EDGES))
    a, b = rows[edges.row[some]], rows[edges.col[some]]
    product = a.multiply(b) if issparse(a) else a * b
    cosines: Array = np.asarray(product.sum(axis=1)).ravel()
    pairs = cosines.size / 2  # each edge is there in both directions
    return float(np.average(cosines, weights=edges.data[some])), float(cosines.std() / pairs**0.5)
