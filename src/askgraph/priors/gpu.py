"""The engines on a GPU: the inverse where it fits, conjugate gradients elsewhere. Arrays stay on the device."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import Any

import numpy as np

from askgraph.graph import Graph
from askgraph.linalg.blocked_cg import Less
from askgraph.linalg.cuda.cg import Pattern, Solver
from askgraph.linalg.cuda.runtime import cupy, fits, free_bytes, guarded
from askgraph.linalg.cuda.sparse import Weights
from askgraph.priors.base import Prior, check_residual
from askgraph.priors.noise.cuda import CudaFieldNoise, CudaSignNoise
from askgraph.priors.noise.host import SignNoise
from askgraph.priors.precision import Precision
from askgraph.priors.probed import Sample, Samples
from askgraph.priors.probing import ACCURATE, MAX_PROBES, Block, ProbedPrior, columns_from, equal_weights
from askgraph.priors.summaries import Exact
from askgraph.spaces.cuda import CudaSpace
from askgraph.support.progress import bar
from askgraph.types import Array, IntArray

DENSE_UP_TO = 20_000  # nodes: the inverse takes half a second
EXACT, EXACT_UP_TO = 1e-13, 20_000  # relative residual up to this number of nodes: ties of symmetric graphs stay ties
FLAT_PROBES = 512  # probes of ‖g‖₂: cheap here, so that no groups are needed


class GpuDense(Prior):
    """G₀ = Q⁻¹ on the device, by Cholesky."""

    name = "gpu-dense"

    def __init__(self, precision: Precision) -> None:
        super().__init__(precision, CudaSpace(precision.graph.n_nodes))
        n = self.n_nodes
        fits(dense_bytes(n), f"the inverse of {n:,} nodes", f"{dense_limit():,} nodes would fit; ask for 'gpu-sparse'")
        self._weights = Weights(precision.graph.weights)
        with guarded(f"the inverse of {n:,} nodes", "ask for 'gpu-sparse'"):
            self._inverse = _inverted(self._dense())
        self._check()
        pinned = self.space.asarray(precision.pinned)
        self._inverse[pinned] = 0.0
        self._inverse[:, pinned] = 0.0

    @property
    def weights(self) -> Weights:
        """W on the device."""
        return self._weights

    def solve(self, b: Array) -> Array:
        """Return G₀ b."""
        return self._inverse @ b

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[:, nodes], a fresh array."""
        return cupy().take(self._inverse, cupy().asarray(nodes), axis=1)

    def spread(self, squares: bool) -> Exact:
        """Return the diagonal, row sums and row norms of the inverse."""
        G = self._inverse if self.magnitude == 1 or not squares else self._inverse / self.magnitude
        norms = cupy().einsum("ij,ij->i", G, G) if squares else None
        return Exact(self._inverse.diagonal().copy(), self.influence(), norms, self.magnitude)

    def _dense(self) -> Any:
        """Return Q, pinned rows and columns replaced by the identity's."""
        from cupyx.scipy.sparse import csr_matrix

        Q = self.precision.matrix
        return csr_matrix(tuple(map(self.space.asarray, (Q.data, Q.indices, Q.indptr))), shape=Q.shape).toarray()

    def _check(self) -> None:
        z = np.random.default_rng(0).choice([-1.0, 1.0], size=self.n_nodes)
        gap = self.precision.matrix @ self.space.to_numpy(self._inverse @ self.space.asarray(z)) - z
        check_residual(float(np.linalg.norm(gap) / np.linalg.norm(z)), "the dense inverse")


class GpuSparse(ProbedPrior):
    """Solves by conjugate gradients on the device, with probes there and an exact shortlist."""

    name = "gpu-sparse"
    flat_probes: int

    def __init__(
        self,
        precision: Precision,
        probes: int | None = None,
        flat_probes: int = FLAT_PROBES,
        sharp: float = 1.0,
        probing: float = 1e-3,
    ) -> None:
        super().__init__(precision, CudaSpace(precision.graph.n_nodes), probes, flat_probes, sharp, probing)
        graph = precision.graph
        fits_sparse(graph, MAX_PROBES if probes is None else probes)
        self._pattern: Pattern | None = None
        self._weights: Weights | None = None

    @property
    def weights(self) -> Weights:
        """W on the device, copied there when first needed."""
        if self._weights is None:
            self._weights = Weights(self.precision.graph.weights)
        return self._weights

    @cached_property
    def _solver(self) -> Solver:
        graph, precision = self.precision.graph, self.precision
        if self._pattern is None:
            self._pattern = Pattern(graph.weights, graph.components())
        return Solver(self._pattern, precision.delta + precision.extra, precision.pinned)

    def prepare(self) -> None:
        """Order the nodes and copy the matrix to the device."""
        _ = self._solver

    def conditioned(self, precision: Precision) -> GpuSparse:
        """Return the same engine and settings on another precision; the matrix of the same graph stays on the device."""
        prior = super().conditioned(precision)
        if precision.graph is self.precision.graph:
            prior._pattern, prior._weights = self._pattern, self._weights
        return prior

    def solve(self, b: Array) -> Array:
        """Return G₀ b, to a relative residual of 3e-9, or 1e-13 on small graphs."""
        with self._guarded():
            return self._solver.solve(b, self._accurate)

    @property
    def _accurate(self) -> float:
        """The relative residual of what enters the field."""
        return EXACT if self.n_nodes <= EXACT_UP_TO else ACCURATE

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[:, nodes], a fresh array."""
        residual = min(rough, self.sharp) or self._accurate
        units = self.space.put(self.space.zeros(len(nodes)), nodes, np.eye(len(nodes)))
        with self._guarded():
            return self._solver.solve(units, residual)

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[i, i] at these nodes."""
        return np.asarray(self.space.pick(self.columns(nodes, rough), nodes).diagonal())

    def check_summaries(self, squares: bool) -> None:
        """Raise `TooLargeError` if norms are wanted and their probes would not fit on the device."""
        size = 4.0 * self.n_nodes * self.flat_probes * squares
        fits(size, f"probes of |g|_2 at {self.n_nodes:,} nodes", "take tv, sigma or influence")

    def _guarded(self) -> AbstractContextManager[None]:
        return guarded(f"{self.n_nodes:,} nodes", "take fewer probes, a sparser graph, or a larger device")

    def _field_noise(self) -> CudaFieldNoise:
        return CudaFieldNoise(self.precision, self.weights)

    def _norm_samples(self) -> Samples:
        count = self.flat_probes
        signs = CudaSignNoise(SignNoise(self.precision.graph.components(), ~self.precision.pinned))
        return Samples.of(self.space, self._probes(signs.block, count), equal_weights(count), signs, self._alone)

    def _probe(self, block: Block, first: int, out: Sample, less: Less) -> None:
        count = out.shape[1]
        with self._guarded(), bar(count, f"probing the covariance of {self.n_nodes:,} nodes") as tick:
            sides = columns_from(block, first)
            self._solver.rough(sides, self.probing, count, True, partial(tick, self._solver.width), out)


def dense_bytes(n: int) -> float:
    """Return the peak memory of the inverse: Q, which becomes its factor, and the inverse."""
    return 2.1 * 8 * n * n


def dense_limit() -> int:
    """Return the number of nodes whose inverse fits the device."""
    return int((free_bytes() / dense_bytes(1)) ** 0.5)


def sparse_bytes(graph: Graph, probes: int) -> float:
    """Return the peak memory of the sparse engine: the matrix in two orders and precisions, the probes, blocks of columns."""
    return 2 * graph.n_edges * 40.0 + graph.n_nodes * (4.0 * probes + 6_500)


def fits_sparse(graph: Graph, probes: int = MAX_PROBES) -> None:
    """Raise `TooLargeError` if the sparse engine would not fit on the device."""
    fits(
        sparse_bytes(graph, probes),
        f"the GPU engine on {graph.n_nodes:,} nodes and {graph.n_edges:,} edges",
        "take a larger device, a sparser graph, or fewer probes with "
        "engine=GpuSparse(Precision.of(graph, delta), probes=64) from askgraph.priors.gpu",
    )


def _inverted(Q: Any) -> Any:
    """Return Q⁻¹ by potrf and potrs; Q is overwritten by its factor."""
    from cupy.cuda import cublas, cusolver, device

    cp, n = cupy(), len(Q)
    handle, half = device.get_cusolver_handle(), cublas.CUBLAS_FILL_MODE_LOWER
    work = cp.empty(max(cusolver.dpotrf_bufferSize(handle, half, n, Q.data.ptr, n), 1))
    failed = cp.zeros(1, np.int32)
    cusolver.dpotrf(handle, half, n, Q.data.ptr, n, work.data.ptr, work.size, failed.data.ptr)
    if int(failed[0]):
        check_residual(np.inf, "the Cholesky factorization")
    inverse = cp.eye(n)
    cusolver.dpotrs(handle, half, n, n, Q.data.ptr, n, inverse.data.ptr, n, failed.data.ptr)
    return inverse


def gpu(graph: Graph, columns: bool) -> tuple[type[GpuDense] | type[GpuSparse], str]:
    """Return which of the two engines to use, and why."""
    n, limit = graph.n_nodes, dense_limit()
    name = cupy().cuda.runtime.getDeviceProperties(0)["name"].decode()
    if n <= (limit if columns else min(limit, DENSE_UP_TO)):
        return (
            GpuDense,
            f"gpu-dense: {n:,} nodes on {name}, the inverse takes {8e-9 * n * n:.2g} GB (at most {limit:,} fit)",
        )
    gb = sparse_bytes(graph, MAX_PROBES) / 1e9
    return GpuSparse, f"gpu-sparse: {n:,} nodes on {name}, at most {gb:.2g} GB; the inverse fits up to {limit:,}"
