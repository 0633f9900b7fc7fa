"""What an engine is: a way to solve with Q = L + δI."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, diags_array

from askgraph.errors import ConvergenceError, SettingError
from askgraph.graph import Graph
from askgraph.progress import bar
from askgraph.spread import Spread
from askgraph.types import AnyArray, Array, BoolArray, IntArray

RESIDUAL = 1e-8
RIDGE = 0.001  # δ over the mean degree
MOST_HELD, AT_ONCE = 64, 16  # labels folded in that stand for all of them; solves that are made together
LONG = 10_000_000  # nodes times solves: some seconds


@dataclass(frozen=True, eq=False)
class Precision:
    """Q = L + δI, with labels that were folded in: exact ones leave the solve, noisy ones add 1/γ² to their diagonal entry."""

    graph: Graph
    delta: float
    pinned: BoolArray
    extra: Array

    @classmethod
    def of(cls, graph: Graph, delta: float | None = None) -> Precision:
        """Of a graph without labels; δ is a thousandth of the mean degree unless it is given."""
        delta = usual_delta(graph) if delta is None else delta
        if not (np.isfinite(delta) and delta > 0):
            raise SettingError(f"delta is {delta}: it must be a positive number, such as 0.005")
        n = graph.n_nodes
        return cls(graph, float(delta), np.zeros(n, dtype=bool), np.zeros(n))

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


def usual_delta(graph: Graph) -> float:
    """A thousandth of the mean degree, over the nodes that have an edge, so that isolated ones change nothing."""
    degrees = graph.degrees[graph.degrees > 0]
    return RIDGE * (float(degrees.mean()) if degrees.size else 1.0)


class Held(NamedTuple):
    """Labels folded in, a row each: their nodes, how they hang on the field, and how precisely it knows them.

    An exact label hangs on its neighbours by their weights, a noisy one on its own node by 1/γ².
    """

    nodes: IntArray
    links: csr_array
    own: Array  # d + δ, or 1/γ²
    precision: Array  # own − links G₀ linksᵀ


class Prior(ABC):
    """N(0, Q⁻¹), an engine: how to solve with Q, and the space its vectors live in.

    Arrays hold this process's rows. What looks across rows goes through ``total``, ``inner``, ``pick``, ``unit`` and
    ``best``, so the same field runs wherever an engine keeps its rows.
    """

    name: ClassVar[str]
    exact: ClassVar[bool] = True  # whether spread() is exact at every node
    tie: ClassVar[float] = 1e-9  # scores this close to the best, relatively, are tied
    reason: str = ""

    def __init__(self, precision: Precision) -> None:
        self.precision = precision

    @property
    def n_nodes(self) -> int:
        """How many nodes the field has."""
        return self.precision.graph.n_nodes

    @property
    def free(self) -> Array:
        """1.0 where a node is in the solve, 0.0 where an exact label was folded in."""
        return (~self.precision.pinned).astype(float)

    def prepare(self) -> None:  # noqa: B027 -- the dense engine has nothing to prepare
        """Do now what the first solve would do: factorise, order, coarsen."""

    @abstractmethod
    def solve(self, b: Array) -> Array:
        """G₀ b for b of shape (n,) or (n, k); zero at pinned nodes."""

    @abstractmethod
    def spread(self, squares: bool) -> Spread:
        """Summaries before any label; diag G² only when asked for."""

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[:, nodes]; an engine that iterates may stop at the relative residual ``rough``."""
        b = np.zeros((self.n_nodes, len(nodes)))
        b[nodes, np.arange(len(nodes))] = 1.0
        return self.solve(b)

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[i, i] at these nodes; an engine that iterates may stop at the relative residual ``rough``."""
        return np.asarray(self.columns(nodes)[nodes, np.arange(len(nodes))])

    def conditioned(self, precision: Precision) -> Self:
        """The same engine on a precision into which labels were folded."""
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
        pinned, extra = self.precision.pinned, self.precision.extra
        links = csr_array(
            (diags_array(pinned.astype(float)) @ self.precision.graph.weights + diags_array(extra))[nodes]
        )
        own = np.where(pinned, self.precision.full.diagonal(), extra)[nodes]
        known, long = [np.zeros(0)], self.n_nodes * nodes.size > LONG
        with bar(nodes.size if long else 0, f"leaving out {nodes.size} labels") as tick:
            for at in range(0, nodes.size, AT_ONCE):
                part = links[at : at + AT_ONCE].toarray()
                known.append(np.einsum("ij,ji->i", part, self.solve(part.T)))
                tick(len(part))
        return Held(nodes, links, own, own - np.concatenate(known))

    def influence(self) -> Array:
        """G₀1: 1/δ when no label is folded in, one solve otherwise."""
        if self.precision.plain:
            return np.full(self.n_nodes, 1 / self.precision.delta)
        return self.solve(self.free)

    def total(self, x: AnyArray) -> AnyArray:
        """Sum over all nodes."""
        return np.asarray(x.sum(axis=0))

    def inner(self, a: Array, b: Array) -> Array:
        """Aᵀ B, summed over all nodes."""
        return np.asarray(a.T @ b)

    def pick(self, x: AnyArray, node: int | IntArray) -> AnyArray:
        """Row(s) of x at a node, wherever it lives."""
        return np.asarray(x[node])

    def unit(self, node: int) -> BoolArray:
        """True at this node."""
        mask = np.zeros(self.n_nodes, dtype=bool)
        mask[node] = True
        return mask

    def best(self, nodes: IntArray, scores: Array, rng: np.random.Generator) -> int:
        """The node with the highest score; among ties, sorted by index, the generator draws one."""
        scale = np.abs(scores).max()
        tied = np.sort(nodes[scores >= scores.max() - self.tie * scale])
        return int(tied[rng.integers(tied.size)])


def checked(residual: float, what: str) -> None:
    """Raise when a relative residual is worse than promised."""
    if not residual <= RESIDUAL:
        raise ConvergenceError(
            f"{what} did not converge: relative residual {residual:.1e}, {RESIDUAL:g} was asked for. The weights span too "
            "many orders of magnitude for this delta: raise delta, or rescale or clip the weights"
        )
