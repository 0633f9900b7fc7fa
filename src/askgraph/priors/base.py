"""The engine interface: a way to solve with Q = L + δI, the precision of the field."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, diags_array

from askgraph.errors import ConvergenceError
from askgraph.priors.precision import Precision
from askgraph.priors.summaries import Arrays, Exact, Spread
from askgraph.spaces.base import Space
from askgraph.spaces.local import NumpySpace
from askgraph.support.progress import bar
from askgraph.types import Array, BoolArray, IntArray

MAX_RESIDUAL = 1e-8  # relative; a solve that leaves more raises ConvergenceError
FAR = 100  # binary orders of magnitude from 1: weights beyond 2^±100 would overflow when the covariance is squared
MOST_POWER = 511  # of four: the next one is not a number
SINGLE = 1e12  # single precision holds the covariance of degrees between 1/SINGLE and SINGLE
LEAST_RIDGE = 1e-36  # single precision holds 1/δ of a ridge from here on
MAX_LEFT_OUT = 64  # folded labels; where there are more, 64 evenly spaced ones stand for all of them in leave-one-out
HUB = 2.0  # times the median number of neighbors; a node with more is a hub
SOLVES_AT_ONCE = 16  # right-hand sides that are solved for together
BAR_FROM = 10_000_000  # nodes times solves: beyond it, some seconds, a progress bar is shown


class LeaveOneOutTerms(NamedTuple):
    """What leave-one-out needs of labels that are folded into the precision, one row per label.

    An exact label is coupled to its neighbors by their weights, a noisy one to its own node by 1/γ².
    """

    nodes: IntArray
    ends: IntArray  # the nodes that the labels are coupled to
    links: csr_array  # the couplings: one row per label, one column per end
    own: Array  # d + δ, or 1/γ² for a noisy label
    precision: Array  # conditional precision of the label: own − links G₀ linksᵀ


class Prior(ABC):
    """N(0, Q⁻¹) as an engine: how to solve with Q. Its arrays live in ``space``."""

    space: Space
    name: ClassVar[str]
    exact: ClassVar[bool] = True  # whether spread() is exact at every node
    tie: ClassVar[float] = 1e-9  # scores within this share of the best one count as equal
    signed: ClassVar[bool] = False  # whether covariances may be negative; those of a graph are not
    described: bool = False  # whether nodes have features, be it that labels speak for the graph alone
    scale: float = 1.0  # what the weights of the graph, and δ, were multiplied by
    noise: float = 0.0  # the label noise γ that every label has here, besides its own
    reason: str = ""  # the engine's name, and why it was chosen

    def __init__(self, precision: Precision, space: Space | None = None) -> None:
        self.precision = precision
        self.space = NumpySpace(precision.graph.n_nodes) if space is None else space

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return self.precision.graph.n_nodes

    @property
    def delta(self) -> float:
        """The ridge δ."""
        return self.precision.delta

    @property
    def degrees(self) -> Array:
        """The sum of each node's weights."""
        return self.space.asarray(self.precision.graph.degrees)

    @cached_property
    def middle_degree(self) -> float:
        """The median of the sums of weights of nodes that have an edge; 1 where none has."""
        d = self.space.allgather(self.degrees)
        return float(np.median(d[d > 0])) if (d > 0).any() else 1.0

    @cached_property
    def neighbor_counts(self) -> IntArray:
        """The number of each node's neighbors."""
        return self.space.asarray(np.diff(self.precision.graph.weights.indptr))

    @cached_property
    def crowding(self) -> Array:
        """The number of each node's neighbors over HUB times the median number, or 1 where that is less: above 1 at hubs."""
        median = max(float(np.median(self.space.allgather(self.neighbor_counts))), 1.0)
        return np.maximum(self.neighbor_counts / (HUB * median), 1.0)

    @property
    def diagonal(self) -> Array:
        """The diagonal of Q: d + δ, and 1/γ² where a noisy label was folded in."""
        return self.space.asarray(self.precision.graph.degrees + (self.delta + self.precision.extra))

    @property
    def free(self) -> Array:
        """1.0 where a node is in the solve, 0.0 where an exact label was folded in."""
        return self.space.asarray((~self.precision.pinned).astype(float))

    @property
    def labeled(self) -> BoolArray:
        """True where a label was folded in."""
        return self.space.asarray(self.precision.pinned | (self.precision.extra > 0))

    @cached_property
    def magnitude(self) -> float:
        """A power of four near the entries of G₀ where weights are so far from 1 that squares of G₀ would overflow, else 1.

        The power goes by the middle, in orders of magnitude, of all numbers in Q, so that none is lost on either side.
        """
        most = float(self.precision.graph.degrees.max() + self.delta)
        least = min(float(self.precision.graph.weights.data.min(initial=most)), self.delta or most)
        middle = (np.log2(least) + np.log2(most)) / 2 if most else 0.0  # without edges and a ridge Q has no number
        return 1.0 if abs(middle) < FAR else float(4.0 ** np.clip(-np.round(middle / 2), -MOST_POWER, MOST_POWER))

    @property
    def weights(self) -> Any:
        """W, in the memory of the space."""
        return self.precision.graph.weights

    def neighbors(self, x: Array) -> Array:
        """Return W x."""
        return self.weights @ x

    def highest_neighbor(self, x: Array) -> Array:
        """Return the highest x among each node's neighbors, -inf for a node without any."""
        W = self.precision.graph.weights
        return self.space.scatter(highest_in_runs(W.indptr, self.space.gather(x)[W.indices]))

    def times(self, x: Array) -> Array:
        """Return Q x, rows of pinned nodes included."""
        diagonal = self.diagonal
        return (diagonal if x.ndim == 1 else diagonal[:, None]) * x - self.neighbors(x)

    @cached_property
    def connected(self) -> bool:
        """Whether there is a path between any two nodes."""
        return bool(self.space.total(self.component_sizes < self.n_nodes) == 0)

    @cached_property
    def components(self) -> IntArray:
        """The smallest node of the component that each node is in."""
        part = self.precision.graph.components()
        return self.space.asarray(np.unique(part, return_index=True)[1][part])

    @cached_property
    def component_sizes(self) -> IntArray:
        """The number of nodes of the component that each node is in."""
        part = self.precision.graph.components()
        return self.space.asarray(np.bincount(part)[part])

    def prepare(self) -> None:  # noqa: B027 -- most engines have nothing to prepare
        """Do now what the first solve would do: factorize, order, coarsen."""

    def check_summaries(self, squares: bool) -> None:  # noqa: B027 -- most engines can do both
        """Raise an error if `spread` would refuse, before it computes anything."""

    def arrays(self) -> Arrays:
        """Return what was computed of Q, to save it; most engines compute it again."""
        return {}

    def restore(self, stored: Arrays) -> None:  # noqa: B027 -- most engines have nothing to restore
        """Take over what ``arrays`` returned, instead of computing it."""

    def spread_from(self, stored: Arrays, labels: int, squares: bool) -> Spread:
        """Return the summaries that were saved as arrays, after this number of labels in V."""
        return Exact.from_arrays(stored, self.n_nodes, squares, self.magnitude)

    @abstractmethod
    def solve(self, b: Array) -> Array:
        """Return G₀ b for b of shape (n,) or (n, k); zero at pinned nodes."""

    @abstractmethod
    def spread(self, squares: bool) -> Spread:
        """Return the summaries of G₀; those of ‖g‖₂ only with ``squares``."""

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[:, nodes]; an engine that iterates may stop at the relative residual ``rough``."""
        return self.solve(self.space.put(self.space.zeros(len(nodes)), nodes, np.eye(len(nodes))))

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[i, i] at these nodes; an engine that iterates may stop at the relative residual ``rough``."""
        return np.asarray(self.space.pick(self.columns(nodes), nodes).diagonal())

    def fold(self, nodes: IntArray, noise: Array) -> Self:
        """Return the same engine with labels at these nodes, of label noise γ, folded into its precision."""
        return self.conditioned(self.precision.folded(nodes, noise))

    def conditioned(self, precision: Precision) -> Self:
        """Return the same engine on another precision."""
        prior = type(self)(precision)
        prior.reason = self.reason
        return prior

    @property
    def folded(self) -> IntArray:
        """The nodes whose labels were folded in."""
        return np.flatnonzero(self.precision.pinned | (self.precision.extra > 0))

    @cached_property
    def leave_one_out_sample(self) -> LeaveOneOutTerms:
        """The leave-one-out terms of the folded labels, or of some of them where they are many."""
        every = self.folded
        places = np.linspace(0, every.size - 1, min(every.size, MAX_LEFT_OUT)).round().astype(np.int64)
        return self.leave_one_out_terms(every[places])

    def leave_one_out_terms(self, nodes: IntArray) -> LeaveOneOutTerms:
        """Return the leave-one-out terms of labels that were folded in at these nodes: one solve per label."""
        links, own = self.couplings(nodes)
        ends, place = np.unique(links.indices, return_inverse=True)
        links = csr_array((links.data, place, links.indptr), shape=(nodes.size, ends.size))
        known, long = [np.zeros(0)], self.n_nodes * nodes.size > BAR_FROM
        with bar(nodes.size if long else 0, f"leaving out {nodes.size} labels") as tick:
            for at in range(0, nodes.size, SOLVES_AT_ONCE):
                part = links[at : at + SOLVES_AT_ONCE].toarray()
                solved = self.space.pick(self.solve(self.space.put(self.space.zeros(len(part)), ends, part.T)), ends)
                known.append(np.einsum("ij,ji->i", part, solved))
                tick(len(part))
        return LeaveOneOutTerms(nodes, ends, links, own, own - np.concatenate(known))

    @cached_property
    def neighbor_pulls(self) -> dict[int, Array]:
        """∂h/∂Y of each folded label of the leave-one-out sample, at its neighbors in the graph: one solve per label."""
        nodes, W, found = self.leave_one_out_sample.nodes, self.precision.graph.weights, dict[int, Array]()
        for at in range(0, nodes.size, SOLVES_AT_ONCE):
            part = nodes[at : at + SOLVES_AT_ONCE]
            links, _ = self.couplings(part)
            pulls = self.solve(self.space.asarray(links.toarray().T))
            for k, node in enumerate(part.tolist()):
                found[node] = self.space.pick(pulls[:, k], W.indices[W.indptr[node] : W.indptr[node + 1]])
        return found

    def couplings(self, nodes: IntArray) -> tuple[csr_array, Array]:
        """Return how labels at these nodes are coupled to the field, one row per label, and their own d + δ or 1/γ²."""
        pinned, extra = self.precision.pinned[nodes], self.precision.extra[nodes]
        weights, own = self.precision.graph.weights[nodes], self.precision.graph.degrees[nodes] + self.precision.delta
        noisy = csr_array((extra, nodes, np.arange(nodes.size + 1)), shape=weights.shape)
        links = csr_array(diags_array(pinned.astype(float)) @ weights + noisy)
        links.eliminate_zeros()
        return links, np.where(pinned, own, extra)

    def influence(self) -> Array:
        """Return G₀1: 1/δ when no label is folded in, one solve otherwise."""
        if not self.folded.size:
            return self.space.zeros() + 1 / self.precision.delta
        return self.solve(self.free)


def check_single(precision: Precision, engine: str) -> None:
    """Raise `ConvergenceError` for weights, or a ridge, whose covariance single precision cannot hold."""
    typical = precision.graph.mean_degree + precision.delta
    if not 1 / SINGLE < typical < SINGLE:
        raise ConvergenceError(
            f"the weights add up to about {typical:.0e} per node, and the {engine} engine, which computes in single precision, "
            f"takes {1 / SINGLE:.0e} to {SINGLE:.0e}: divide the weights (and delta, where it is given) by {typical:.0e}"
        )
    if 0 < precision.delta < LEAST_RIDGE:
        raise ConvergenceError(
            f"the ridge is {precision.delta:.0e}, and the {engine} engine, which computes in single precision, takes "
            f"{LEAST_RIDGE:.0e} or more: raise delta"
        )


def highest_in_runs(first: IntArray, x: Array) -> Array:
    """Return the highest number in each run of x, -inf for an empty run; ``first`` says where runs begin."""
    some = np.flatnonzero(np.diff(first))
    out = np.full(len(first) - 1, -np.inf)
    if some.size:
        out[some] = np.maximum.reduceat(x, first[some])
    return out


def check_residual(residual: float, what: str) -> None:
    """Raise `ConvergenceError` where a relative residual is above MAX_RESIDUAL, or not a number."""
    if not residual <= MAX_RESIDUAL:
        raise ConvergenceError(
            f"{what} did not converge: relative residual {residual:.1e}, {MAX_RESIDUAL:g} was asked for. The weights span too "
            "many orders of magnitude for this delta: raise delta, or rescale or clip the weights"
        )
