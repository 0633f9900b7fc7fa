"""What an engine is: a way to solve with Q = L + δI."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, diags_array

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import ConvergenceError, SettingError
from askgraph.graph import Graph
from askgraph.priors.summaries import Spread
from askgraph.spaces.local import Rows
from askgraph.support.progress import bar
from askgraph.types import Array, BoolArray, IntArray

RESIDUAL = 1e-8
FAR = 100  # binary orders of magnitude from 1: weights beyond 2^±100 would overflow when the covariance is squared
SINGLE = 1e12  # the same for engines that compute in single precision
RIDGE = 0.001  # δ over the mean degree
MOST_HELD, AT_ONCE = 64, 16  # labels folded in that stand for all of them; solves that are made together
LONG = 10_000_000  # nodes times solves: some seconds


@dataclass(frozen=True, eq=False)
class Precision:
    """Q = L + δI, with labels that were folded in: exact ones leave the solve, noisy ones add 1/γ² to their diagonal entry."""

    graph: Graph  # or some rows of it: a ShardedGraph has what is read of it there
    delta: float
    pinned: BoolArray
    extra: Array

    @classmethod
    def of(cls, graph: Graph | ShardedGraph, delta: float | None = None) -> Precision:
        """Of a graph without labels; δ is a thousandth of the mean degree unless it is given."""
        delta = usual_delta(graph) if delta is None else delta
        if not (np.isfinite(delta) and delta > 0):
            raise SettingError(f"delta is {delta}: it must be a positive number, such as 0.005")
        n = graph.degrees.size
        return cls(graph, float(delta), np.zeros(n, dtype=bool), np.zeros(n))  # type: ignore[arg-type]  # as above

    @property
    def plain(self) -> bool:
        """Whether no label is folded in."""
        return not (self.pinned.any() or self.extra.any())

    @cached_property
    def full(self) -> csr_array:
        """L + δI + diag(extra), pinned rows included."""
        return csr_array(self.graph.laplacian() + diags_array(self.delta + self.extra))

    @cached_property
    def matrix(self) -> csr_array:
        """Q with pinned rows and columns replaced by the identity's, so that it stays n × n and positive definite."""
        if not self.pinned.any():
            return self.full
        free = diags_array((~self.pinned).astype(float))
        return csr_array(free @ self.full @ free + diags_array(self.pinned.astype(float)))

    @cached_property
    def excess(self) -> Array:
        """The row sums of ``matrix``, exactly: what a node loses to the ridge and to pinned neighbours."""
        lost = self.delta + self.extra + self.graph.weights @ self.pinned.astype(float)
        return np.where(self.pinned, 1.0, lost)

    def folded(self, nodes: IntArray, noise: Array) -> Precision:
        """With labels at these nodes, γ = noise, folded in."""
        pinned, extra = self.pinned.copy(), self.extra.copy()
        exact = noise == 0
        pinned[nodes[exact]] = True
        np.add.at(extra, nodes[~exact], noise[~exact] ** -2.0)
        return replace(self, pinned=pinned, extra=extra)


def usual_delta(graph: Graph | ShardedGraph) -> float:
    """A thousandth of the mean degree, over the nodes that have an edge, so that isolated ones change nothing."""
    return RIDGE * graph.mean_degree


class Held(NamedTuple):
    """Labels folded in, a row each: their nodes, how they hang on the field, and how precisely it knows them.

    An exact label hangs on its neighbours by their weights, a noisy one on its own node by 1/γ².
    """

    nodes: IntArray
    ends: IntArray  # the nodes they hang on
    links: csr_array  # by these weights, a row a label, a column an end
    own: Array  # d + δ, or 1/γ²
    precision: Array  # own − links G₀ linksᵀ


class Prior(Rows, ABC):
    """N(0, Q⁻¹), an engine: how to solve with Q, and where the rows of its vectors live."""

    name: ClassVar[str]
    exact: ClassVar[bool] = True  # whether spread() is exact at every node
    look_ahead: ClassVar[Callable[..., Array] | None] = None  # an engine's own way to score by columns of G
    reason: str = ""

    def __init__(self, precision: Precision) -> None:
        self.precision = precision

    @property
    def n_nodes(self) -> int:  # type: ignore[override]  # it is only read
        """How many nodes the field has."""
        return self.precision.graph.n_nodes

    @property
    def delta(self) -> float:
        """The ridge δ."""
        return self.precision.delta

    @property
    def degrees(self) -> Array:
        """The sum of each node's weights."""
        return self.lift(self.precision.graph.degrees)

    @property
    def free(self) -> Array:
        """1.0 where a node is in the solve, 0.0 where an exact label was folded in."""
        return self.lift((~self.precision.pinned).astype(float))

    @property
    def labeled(self) -> BoolArray:
        """Where a label was folded in."""
        return self.lift(self.precision.pinned | (self.precision.extra > 0))

    @cached_property
    def magnitude(self) -> float:
        """A power of four near the entries of G₀ where weights are so far from 1 that squares of G₀ would overflow, else 1.

        It goes by the middle, in orders of magnitude, of all numbers in Q, so that none of them is lost on either side.
        """
        most = float(self.precision.graph.degrees.max() + self.delta)
        least = min(float(self.precision.graph.weights.data.min(initial=most)), self.delta or most)
        middle = (np.log2(least) + np.log2(most)) / 2
        return 1.0 if abs(middle) < FAR else float(4.0 ** -np.round(middle / 2))

    def neighbors(self, x: Array) -> Array:
        """W x."""
        return np.asarray(self.precision.graph.weights @ x)

    def highest_neighbor(self, x: Array) -> Array:
        """The highest x among each node's neighbours, -inf without any."""
        W = self.precision.graph.weights
        return self.scatter(highest(W.indptr, self.gather(x)[W.indices]))

    def times(self, x: Array) -> Array:
        """(L + δI) x and what noisy labels add; rows of exact ones included."""
        return np.asarray(self.precision.full @ x)

    @property
    def components(self) -> IntArray:
        """The smallest node of the component that each node is in."""
        part = self.precision.graph.components()
        return self.lift(np.unique(part, return_index=True)[1][part])

    def prepare(self) -> None:
        """Do now what the first solve would do: factorise, order, coarsen."""

    @abstractmethod
    def solve(self, b: Array) -> Array:
        """G₀ b for b of shape (n,) or (n, k); zero at pinned nodes."""

    @abstractmethod
    def spread(self, squares: bool) -> Spread:
        """Summaries before any label; diag G² only when asked for."""

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[:, nodes]; an engine that iterates may stop at the relative residual ``rough``."""
        return self.solve(self.put(self.zeros(len(nodes)), nodes, np.eye(len(nodes))))

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[i, i] at these nodes; an engine that iterates may stop at the relative residual ``rough``."""
        return np.asarray(self.pick(self.columns(nodes), nodes).diagonal())

    def fold(self, nodes: IntArray, noise: Array) -> Self:
        """The same engine with labels at these nodes, γ = noise, folded into its precision."""
        return self.conditioned(self.precision.folded(nodes, noise))

    def conditioned(self, precision: Precision) -> Self:
        """The same engine on another precision."""
        prior = type(self)(precision)
        prior.reason = self.reason
        return prior

    @cached_property
    def held(self) -> Held:
        """Labels folded in; of many, some that are evenly spaced."""
        every = self.folded
        return self.hold(every[np.linspace(0, every.size - 1, min(every.size, MOST_HELD)).round().astype(np.int64)])

    @property
    def folded(self) -> IntArray:
        """The nodes whose labels were folded in."""
        return np.flatnonzero(self.precision.pinned | (self.precision.extra > 0))

    def hold(self, nodes: IntArray) -> Held:
        """Of these nodes, whose labels were folded in: a solve each."""
        links, own = self.ties(nodes)
        ends, place = np.unique(links.indices, return_inverse=True)
        links = csr_array((links.data, place, links.indptr), shape=(nodes.size, ends.size))
        known, long = [np.zeros(0)], self.n_nodes * nodes.size > LONG
        with bar(nodes.size if long else 0, f"leaving out {nodes.size} labels") as tick:
            for at in range(0, nodes.size, AT_ONCE):
                part = links[at : at + AT_ONCE].toarray()
                solved = self.pick(self.solve(self.put(self.zeros(len(part)), ends, part.T)), ends)
                known.append(np.einsum("ij,ji->i", part, solved))
                tick(len(part))
        return Held(nodes, ends, links, own, own - np.concatenate(known))

    def ties(self, nodes: IntArray) -> tuple[csr_array, Array]:
        """How labels at these nodes hang on the field, a row each over all nodes, and their own d + δ or 1/γ²."""
        pinned, extra = self.precision.pinned[nodes], self.precision.extra[nodes]
        weights, own = self.precision.graph.weights[nodes], self.precision.graph.degrees[nodes] + self.precision.delta
        noisy = csr_array((extra, nodes, np.arange(nodes.size + 1)), shape=weights.shape)
        links = csr_array(diags_array(pinned.astype(float)) @ weights + noisy)
        links.eliminate_zeros()
        return links, np.where(pinned, own, extra)

    def influence(self) -> Array:
        """G₀1: 1/δ when no label is folded in, one solve otherwise."""
        if self.precision.plain:
            return self.zeros() + 1 / self.precision.delta
        return self.solve(self.free)


def check_single(precision: Precision, engine: str) -> None:
    """Refuse weights whose covariance single precision cannot hold."""
    typical = precision.graph.mean_degree + precision.delta
    if not 1 / SINGLE < typical < SINGLE:
        raise ConvergenceError(
            f"the weights add up to about {typical:.0e} per node, and the {engine} engine, which computes in single precision, "
            f"takes {1 / SINGLE:.0e} to {SINGLE:.0e}: divide the weights (and delta, where it is given) by {typical:.0e}"
        )


def highest(first: IntArray, x: Array) -> Array:
    """The highest in each run of x, -inf where it is empty; ``first`` says where runs begin."""
    some = np.flatnonzero(np.diff(first))
    out = np.full(len(first) - 1, -np.inf)
    if some.size:
        out[some] = np.maximum.reduceat(x, first[some])
    return out


def checked(residual: float, what: str) -> None:
    """Raise when a relative residual is worse than promised."""
    if not residual <= RESIDUAL:
        raise ConvergenceError(
            f"{what} did not converge: relative residual {residual:.1e}, {RESIDUAL:g} was asked for. The weights span too "
            "many orders of magnitude for this delta: raise delta, or rescale or clip the weights"
        )
