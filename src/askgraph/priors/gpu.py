"""The engines on a GPU: the inverse where it fits, conjugate gradients elsewhere. Rows stay on the device."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import numpy as np

from askgraph.field import coding
from askgraph.graph import Graph
from askgraph.priors import gpu_ahead
from askgraph.priors.base import Precision, checked
from askgraph.priors.device import OnDevice, Weights, cupy, fits, free_bytes, guarded
from askgraph.priors.gpu_cg import Pattern, Solver
from askgraph.priors.gpu_noise import DeviceNoise, FlatNoise
from askgraph.priors.iterative import ACCURATE, MOST, Iterative
from askgraph.priors.probed import Probed, Samples
from askgraph.priors.summaries import Exact
from askgraph.types import Array, IntArray

CHUNK_BYTES = 4_000_000_000  # of columns of G held at a time
FLOOR = 1e-12  # probabilities below this count as this in logarithms
DENSE_UP_TO = 20_000  # nodes: the inverse takes half a second
EXACT, EXACT_UP_TO = 1e-13, 20_000  # the residual up to so many nodes: ties of symmetric graphs stay ties
FLAT = 512  # probes of ‖g‖₂: cheap here, so that no groups are needed


class Gpu(OnDevice):
    """What both engines share."""

    def look_ahead(self, name: str, field: Any, votes: Array, rows: IntArray, p: Array, *settings: float) -> Array:
        """Scores by columns of G, some candidates at a time."""
        cp, every = cupy(), []
        logs = np.log(np.maximum(coding.chances(votes), FLOOR))
        fixed = votes, logs, coding.decide(votes), field.spread.variance, field.labeled
        scale = np.maximum(field.spread.variance[rows] + field.noise**2, np.finfo(float).tiny)
        size = max(1, int(min(CHUNK_BYTES, free_bytes() / 4) // (8 * self.n_nodes)))
        for at in range(0, rows.size, size):
            some = slice(at, at + size)
            with guarded("looking ahead", "take a sampler that reads summaries, such as tv"):
                G, own = self.columns_of(field, rows[some]), votes[rows[some]]
                every.append(gpu_ahead.scored(name, G, scale[some], rows[some], own, p[some], fixed, *settings))
        return cp.concatenate(every) if every else self.lift(np.empty(0))

    def columns_of(self, field: Any, rows: IntArray) -> Array:
        """G_t[:, rows], n × m; where it is not positive it counts as 0."""
        G, V = self._columns(rows, 1e-3), field.factor
        if V.shape[1]:
            from cupy import cublas

            cublas.gemm("N", "T", V, V[rows], out=G, alpha=-1.0, beta=1.0)
        return G

    @abstractmethod
    def _columns(self, rows: IntArray, rough: float) -> Array:
        """A fresh array of columns of G₀."""


class GpuDense(Gpu):
    """G₀ = Q⁻¹ on the device, by Cholesky."""

    name = "gpu-dense"

    def __init__(self, precision: Precision) -> None:
        super().__init__(precision)
        n = self.n_nodes
        fits(dense_bytes(n), f"the inverse of {n:,} nodes", f"{dense_limit():,} nodes would fit; ask for 'gpu-sparse'")
        self.weights = Weights(precision.graph.weights)
        with guarded(f"the inverse of {n:,} nodes", "ask for 'gpu-sparse'"):
            self._inverse = _inverted(self._dense())
        self._check()
        pinned = self.lift(precision.pinned)
        self._inverse[pinned] = 0.0
        self._inverse[:, pinned] = 0.0

    def solve(self, b: Array) -> Array:
        """G₀ b."""
        return self._inverse @ b

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[:, nodes]: rows of a symmetric matrix."""
        return self.take(self._inverse, nodes).T

    def _columns(self, rows: IntArray, rough: float) -> Array:
        return cupy().take(self._inverse, rows, axis=1)

    def spread(self, squares: bool) -> Exact:
        """The diagonal, row sums and row norms of the inverse."""
        G = self._inverse if self.magnitude == 1 or not squares else self._inverse / self.magnitude
        norms = cupy().einsum("ij,ij->i", G, G) if squares else None
        return Exact(self._inverse.diagonal().copy(), self.influence(), norms, self.magnitude)

    def _dense(self) -> Any:
        """Q, pinned rows and columns replaced by the identity's."""
        from cupyx.scipy.sparse import csr_matrix

        Q = self.precision.matrix
        return csr_matrix(tuple(map(self.lift, (Q.data, Q.indices, Q.indptr))), shape=Q.shape).toarray()

    def _check(self) -> None:
        z = np.random.default_rng(0).choice([-1.0, 1.0], size=self.n_nodes)
        gap = self.precision.matrix @ self.gather(self._inverse @ self.lift(z)) - z
        checked(float(np.linalg.norm(gap) / np.linalg.norm(z)), "the dense inverse")


class GpuSparse(Gpu, Iterative):
    """Solves by conjugate gradients on the device, with probes there and an exact shortlist."""

    name = "gpu-sparse"

    def __init__(
        self,
        precision: Precision,
        probes: int | None = None,
        flat_probes: int = FLAT,
        sharp: float = 1.0,
        probing: float = 1e-3,
    ) -> None:
        super().__init__(precision, probes, flat_probes, sharp, probing)
        self._pattern: Pattern | None = None
        self._weights: Weights | None = None

    def _make_room(self, probes: int) -> None:
        graph = self.precision.graph
        fits(
            sparse_bytes(graph, probes),
            f"the GPU engine on {self.n_nodes:,} nodes and {graph.n_edges:,} edges",
            "take a larger device, a sparser graph, or fewer probes with "
            "engine=GpuSparse(Precision.of(graph, delta), probes=64) from askgraph.priors.gpu",
        )

    @property
    def weights(self) -> Weights:  # type: ignore[override]  # made when first needed
        """W, in the order of nodes."""
        if self._weights is None:
            self._weights = Weights(self.precision.graph.weights)
        return self._weights

    @cached_property
    def _solver(self) -> Solver:  # type: ignore[override]  # the same calls
        graph, precision = self.precision.graph, self.precision
        if self._pattern is None:
            self._pattern = Pattern(graph.weights, graph.components())
        return Solver(self._pattern, precision.delta + precision.extra, precision.pinned)

    def conditioned(self, precision: Precision) -> GpuSparse:
        """The same engine and settings on another precision; of the same graph, it stays on the device."""
        prior = super().conditioned(precision)
        if precision.graph is self.precision.graph:
            prior._pattern, prior._weights = self._pattern, self._weights
        return prior

    def solve(self, b: Array) -> Array:
        """G₀ b, to a relative residual of 3e-9, or 1e-13 on small graphs."""
        with self._guarded():
            return self._solver.solve(b, self._accurate)

    @property
    def _accurate(self) -> float:
        """The residual of what enters the field."""
        return EXACT if self.n_nodes <= EXACT_UP_TO else ACCURATE

    def spread(self, squares: bool) -> Probed:
        """Probes of the field and, when asked for, of ‖g‖₂."""
        with self._guarded():
            return super().spread(squares)

    def _guarded(self) -> AbstractContextManager[None]:
        return guarded(f"{self.n_nodes:,} nodes", "take fewer probes, a sparser graph, or a larger device")

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[:, nodes]."""
        residual = min(rough, self._settings["sharp"]) or self._accurate
        with self._guarded():
            return self._solver.solve(self.put(self.zeros(len(nodes)), nodes, np.eye(len(nodes))), residual)

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """G₀[i, i] at these nodes: their error is of the order of the residual squared."""
        return np.asarray(self.pick(self.columns(nodes, rough), nodes).diagonal())

    def _columns(self, rows: IntArray, rough: float) -> Array:
        return self.columns(self.gather(rows), rough)

    def _noise(self) -> DeviceNoise:
        return DeviceNoise(self.precision, self.weights)

    def _flat_probes(self, component: IntArray) -> Samples:
        free, count = ~self.precision.pinned, int(self._settings["flat_probes"])
        fits(4.0 * self.n_nodes * count, f"probes of |g|_2 at {self.n_nodes:,} nodes", "take tv, sigma or influence")
        flat = FlatNoise(component, free)
        return Samples.of(self, self._solved([(flat.block, count)]), np.full(count, 1 / count), flat)


def dense_bytes(n: int) -> float:
    """Peak memory of the inverse: Q, which becomes its factor, and the inverse."""
    return 2.1 * 8 * n * n


def dense_limit() -> int:
    """How many nodes fit the device as an inverse."""
    return int((free_bytes() / dense_bytes(1)) ** 0.5)


def sparse_bytes(graph: Graph, probes: int) -> float:
    """Peak memory of the sparse engine: the matrix in two orders and precisions, the probes, blocks of columns at work."""
    return 2 * graph.n_edges * 40.0 + graph.n_nodes * (4.0 * probes + 6_500)


def _inverted(Q: Any) -> Any:
    """Q⁻¹ by potrf and potrs; Q becomes its factor."""
    from cupy.cuda import cublas, cusolver, device

    cp, n = cupy(), len(Q)
    handle, half = device.get_cusolver_handle(), cublas.CUBLAS_FILL_MODE_LOWER
    work = cp.empty(max(cusolver.dpotrf_bufferSize(handle, half, n, Q.data.ptr, n), 1))
    failed = cp.zeros(1, np.int32)
    cusolver.dpotrf(handle, half, n, Q.data.ptr, n, work.data.ptr, work.size, failed.data.ptr)
    if int(failed[0]):
        checked(np.inf, "the Cholesky factorisation")
    inverse = cp.eye(n)
    cusolver.dpotrs(handle, half, n, n, Q.data.ptr, n, inverse.data.ptr, n, failed.data.ptr)
    return inverse


def gpu(graph: Graph, columns: bool) -> tuple[Callable[[Precision], Gpu], str]:
    """Which of the two, and why."""
    n, limit = graph.n_nodes, dense_limit()
    name = cupy().cuda.runtime.getDeviceProperties(0)["name"].decode()
    if n <= (limit if columns else min(limit, DENSE_UP_TO)):
        return (
            GpuDense,
            f"gpu-dense: {n:,} nodes on {name}, the inverse takes {8e-9 * n * n:.2g} GB (at most {limit:,} fit)",
        )
    gb = sparse_bytes(graph, MOST) / 1e9
    return GpuSparse, f"gpu-sparse: {n:,} nodes on {name}, at most {gb:.2g} GB; the inverse fits up to {limit:,}"
