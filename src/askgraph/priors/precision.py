"""Q = L + δI, the precision of the field, with labels that were folded into it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import GraphError
from askgraph.graph import Graph
from askgraph.linalg.with_diagonal import with_diagonal
from askgraph.support.arguments import real_number
from askgraph.types import Array, BoolArray, IntArray

RIDGE = 0.001  # times the mean degree: δ where none is given


@dataclass(frozen=True, eq=False)
class Precision:
    """Q = L + δI, with labels that were folded in: exact ones leave the solve, noisy ones add 1/γ² to their diagonal entry."""

    graph: Graph  # or some rows of it: a ShardedGraph has what is read of it there
    delta: float
    pinned: BoolArray  # True where an exact label was folded in
    extra: Array  # 1/γ² where a noisy label was folded in, 0 elsewhere

    @classmethod
    def of(cls, graph: Graph | ShardedGraph, delta: float | None = None) -> Precision:
        """Return the precision of a graph without labels; δ is a thousandth of the mean degree by default."""
        if not isinstance(graph, Graph | ShardedGraph):
            raise GraphError(f"a {type(graph).__name__} is not a Graph: make one first, with askgraph.Graph")
        delta = usual_delta(graph) if delta is None else delta
        delta = real_number(delta, "delta", sys.float_info.min, advice="a positive number, such as 0.005")
        n = graph.degrees.size
        return cls(graph, float(delta), np.zeros(n, dtype=bool), np.zeros(n))  # type: ignore[arg-type]  # a ShardedGraph has what is read

    @cached_property
    def matrix(self) -> csr_array:
        """Q with pinned rows and columns replaced by the identity's, so that it stays n × n and positive definite."""
        W, diagonal = self.graph.weights, self.graph.degrees + (self.delta + self.extra)
        if self.pinned.any():
            W, diagonal = _without(W, self.pinned), np.where(self.pinned, 1.0, diagonal)
        return with_diagonal(diagonal, W)

    @cached_property
    def excess(self) -> Array:
        """The row sums of ``matrix``, exactly: what a node loses to the ridge and to pinned neighbors."""
        lost = self.delta + self.extra + self.graph.weights @ self.pinned.astype(float)
        return np.where(self.pinned, 1.0, lost)

    def folded(self, nodes: IntArray, noise: Array) -> Precision:
        """Return the precision with labels at these nodes, of label noise γ, folded in."""
        pinned, extra = self.pinned.copy(), self.extra.copy()
        exact = noise == 0
        pinned[nodes[exact]] = True
        np.add.at(extra, nodes[~exact], noise[~exact] ** -2.0)
        return replace(self, pinned=pinned, extra=extra)


def _without(W: csr_array, gone: BoolArray) -> csr_array:
    """Return W without the edges of some nodes."""
    kept = ~(np.repeat(gone, np.diff(W.indptr)) | gone[W.indices])
    first = np.append(0, np.cumsum(kept))[W.indptr].astype(W.indptr.dtype)
    return csr_array((W.data[kept], W.indices[kept], first), shape=W.shape)


def usual_delta(graph: Graph | ShardedGraph) -> float:
    """Return a thousandth of the mean degree over the nodes that have an edge, so that isolated nodes change nothing."""
    return RIDGE * graph.mean_degree
