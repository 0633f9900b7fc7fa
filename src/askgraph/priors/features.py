"""Features of nodes: the graph and the covariance that they make, with a graph beside them or alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import SettingError
from askgraph.graph import Graph
from askgraph.graph.build import check_features, nearest_neighbors
from askgraph.graph.combine import with_features
from askgraph.graph.kernel_columns import kernel_columns, standardized
from askgraph.graph.kernels import checked_rows, feature_columns, in_median_edges, variance_of
from askgraph.graph.several import unrelated
from askgraph.priors import prior as choose_prior
from askgraph.priors.base import Prior
from askgraph.priors.summed import Summed

NEIGHBORS = 10  # of each node by its features
TINY = 1e-3  # a label noise; answers beside kernels of features have their own
LEAST = 0.01  # the share of the graph beside kernels of features, since an engine must solve with it
NOISE = 0.1  # the variance of a label, where the graph and the features each have variance 1


class Features(NamedTuple):
    """The linear part of a field: Φ, one row per node, and whether it counts from the first label or once labels ask for it."""

    columns: NDArray[np.float32]
    from_start: bool
    given: Graph | None = None  # the graph without features, to go back to where they mislead
    rows: Graph | None = None  # the nearest by features alone, where these have nothing to do with the given graph

    def added(self, prior: Prior, scale: float | None = None) -> Summed:
        """Return the sum of a prior and of this linear part; what its columns lack of the variance 1 is label noise."""
        lacking = max(1 - variance_of(self.columns.astype(float)), 0.0)
        return Summed.over(prior, self.columns, (NOISE + lacking) ** 0.5, scale)


class Kernels(NamedTuple):
    """Kernels of features as columns, each of variance 1: how much each counts, and the graph beside them, the answers say."""

    columns: tuple[NDArray[np.float32], ...]

    def added(self, prior: Prior, shares: Sequence[float], scale: float) -> Summed:
        """Return the sum of a prior, whose variance is ``scale``, and of these kernels, by the shares of the variance of each."""
        first, *rest = shares
        wide = np.hstack([np.sqrt(share) * part.astype(float) for share, part in zip(rest, self.columns, strict=True)])
        return Summed.over(prior, wide, TINY, scale / max(first, LEAST))


def join_kernels(graph: Graph | None, X: Any) -> tuple[Graph, Kernels]:
    """Return the graph to use, by default of the nearest neighbors among standardized features, and kernels of the features."""
    check_whole(graph)
    if graph is None:
        rows = check_features(X)
        sparse = issparse(rows)
        graph = nearest_neighbors(
            rows if sparse else standardized(rows), NEIGHBORS, "cosine" if sparse else "euclidean"
        )
    return graph, Kernels(tuple(part.astype(np.float32) for part in kernel_columns(graph, X)))


def check_whole(graph: Any) -> None:
    """Raise an error for a graph that is spread over processes."""
    if isinstance(graph, ShardedGraph):
        raise SettingError("features are not spread over MPI ranks: take graph.gathered(), or no features")


def join_features(graph: Graph | None, X: Any) -> tuple[Graph, Features]:
    """Return the graph to use, and the linear part of its field.

    Beside a given graph, features join alike nodes too, and count from the first label, unless leave-one-out speaks against
    them. Where the graph has nothing to do with them, one of the two is likely to mislead: the graph counts alone, until
    leave-one-out asks for both or for the features alone. Without a graph they make one of nearest neighbors by cosine, and
    count besides only where leave-one-out asks for it: there, mostly, the graph says it all.
    """
    check_whole(graph)
    if graph is not None:
        joined, linear = with_features(graph, X, NEIGHBORS), linear_part(graph, X, from_start=True)
        if unrelated(graph, checked_rows(graph, X)):
            linear = linear._replace(from_start=False, rows=nearest_neighbors(X, NEIGHBORS, "cosine"))
        return joined, linear
    found = nearest_neighbors(X, NEIGHBORS, "cosine")
    return found, linear_part(found, X, from_start=False)


def linear_part(graph: Graph, X: Any, from_start: bool) -> Features:
    """Return the linear part of features that were smoothed along the edges of a graph: a given one, or that of the features."""
    along = in_median_edges(graph) if from_start else graph  # a graph of ours has edges of about 1
    return Features(feature_columns(along, X).astype(np.float32), from_start, graph if from_start else None)


def make_prior(graph: Graph, delta: float | None, engine: str, columns: bool, features: Features | None) -> Prior:
    """Return the engine for a graph, and the sum with features where they count."""
    prior = choose_prior(graph, delta, engine, columns)
    return prior if features is None else features.added(prior)
