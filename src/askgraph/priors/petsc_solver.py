"""Q as a distributed matrix of PETSc's, and solves with it: conjugate gradients, preconditioned by multigrid or by the diagonal."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from askgraph.distributed.ranks import INSTALL
from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import ConvergenceError, EngineError, MissingExtraError
from askgraph.priors.noise.host import signs
from askgraph.types import AnyArray, Array, BoolArray

PREFIX = "askgraph_"  # of the options that PETSC_OPTIONS may hold for these solves, such as -askgraph_ksp_monitor
QUICK = 40  # steps; where the diagonal alone gets to TRIAL in fewer, the graph mixes fast and has nothing to coarsen
TRIAL = 1e-6  # relative residual of the trial with the diagonal alone
EVEN = 2.0  # mean neighbors of a neighbor over those of a node; above it hubs would fill in smoothed interpolation
ADVICE = 'raise delta, narrow the range of the weights, or use engine="direct"'
STEPS, AGAIN = 2_000, 3  # most steps of a round, and most rounds of a solve
NEAR = 8 * np.finfo(float).eps  # relative to the terms of Qx: a smaller residual is not told from rounding


def petsc() -> Any:
    """Return the module petsc4py.PETSc; PETSc starts when the module is first loaded."""
    try:
        from petsc4py import PETSc
    except ImportError:
        raise MissingExtraError(f"the petsc engine needs petsc4py: {INSTALL}") from None
    except ValueError as error:  # Debian 12's is built for numpy 1
        raise EngineError(
            f'petsc4py does not fit this numpy ({error}): pip install "numpy<2" where it was built so'
        ) from None
    return PETSc


class Ksp:
    """Solves with Q = L + δI, the rows of pinned nodes those of the identity, over the rows of a sharded graph."""

    def __init__(self, graph: ShardedGraph, diagonal: Array, pinned: BoolArray) -> None:
        self._graph, self._diagonal, self._pinned = graph, diagonal, pinned
        petsc().garbage_cleanup(graph.ranks.comm)  # what Python let go of on all ranks is freed only here
        self._b, self._x, self._r = (self._matrix.createVecLeft() for _ in range(3))

    def solve(self, B: AnyArray, rtol: float) -> tuple[Array, Array]:
        """Return X with ‖Qx - b‖ ≤ rtol ‖b‖ for every column, or as near as float64 can hold x, and xᵀQx of each."""
        X, energy = np.empty(B.shape), np.empty(B.shape[1])
        for c in range(B.shape[1]):
            self._b.setArray(np.ascontiguousarray(B[:, c], dtype=float))
            energy[c] = self._solve(rtol)
            X[:, c] = self._x.getArray(readonly=True)
        return X, energy

    @property
    def preconditioner(self) -> str:
        """What was chosen: jacobi, gamg, or gamg with plain aggregates."""
        return self._chosen[1]

    def _solve(self, rtol: float) -> float:
        aim, steps = rtol * self._b.norm(), 0
        self._x.zeroEntries()
        self._b.copy(self._r)
        left = aim / rtol
        for _ in range(AGAIN):
            if left <= aim or not np.isfinite(left):
                break
            steps += self._improve(0.9 * aim / left)
            left = self._residual()
        if not (left <= aim or left <= self._rounding()):
            raise ConvergenceError(
                f"conjugate gradients stopped at a relative residual of {left * rtol / aim:.1e} after {steps} steps, {rtol:g} "
                f"was asked for ({self.preconditioner}): {ADVICE}"
            )
        return float(self._x.dot(self._b) - self._x.dot(self._r))

    def _improve(self, rtol: float) -> int:
        """Add Q⁻¹ r to x, up to a relative residual, and return the number of steps."""
        ksp, step = self._chosen[0], self._r.duplicate()
        ksp.setTolerances(rtol=max(rtol, 1e-14), atol=0.0, max_it=STEPS)
        ksp.solve(self._r, step)
        self._x.axpy(1.0, step)
        step.destroy()
        return int(ksp.getIterationNumber())

    def _residual(self) -> float:
        self._matrix.mult(self._x, self._r)
        self._r.aypx(-1.0, self._b)
        return float(self._r.norm())

    def _rounding(self) -> float:
        """Return the residual that rounding in Qx leaves."""
        terms = self._diagonal * self._x.getArray(readonly=True)
        return NEAR * float(np.sqrt(self._graph.ranks.sum(np.array(terms @ terms))))

    @cached_property
    def _matrix(self) -> Any:
        graph, PETSc = self._graph, petsc()
        here = self._entries()
        columns = graph.columns.astype(PETSc.IntType)
        csr = (here.indptr.astype(PETSc.IntType), columns[here.indices], here.data)
        size = (graph.n_rows, graph.n_nodes)
        matrix = PETSc.Mat().createAIJ(size=(size, size), csr=csr, comm=graph.ranks.comm)
        matrix.setOption(PETSc.Mat.Option.SPD, True)
        matrix.setNearNullSpace(PETSc.NullSpace().create(constant=True, comm=graph.ranks.comm))
        return matrix

    def _entries(self) -> csr_array:
        """Return the rows of Q in this process, columns like those of the graph."""
        graph, free = self._graph, (~self._pinned).astype(float)
        every = np.concatenate([free, graph.halo.fetched(free)])
        W, count = graph.local, np.diff(graph.local.indptr)
        joined = csr_array((-W.data * np.repeat(free, count) * every[W.indices], W.indices, W.indptr), shape=W.shape)
        diagonal = diags_array(np.where(self._pinned, 1.0, self._diagonal), shape=(graph.n_rows, graph.n_rows))
        diagonal = csr_array(diagonal, dtype=float)
        whole = csr_array((diagonal.data, diagonal.indices, diagonal.indptr), shape=W.shape)
        return csr_array(whole + joined)

    @cached_property
    def _chosen(self) -> tuple[Any, str]:
        """The solver and the name of its preconditioner, chosen by steps, not seconds: the same input gives the same result."""
        if self.mixes_fast:
            return self._made("jacobi"), "jacobi"
        return (
            (self._made("gamg"), "gamg") if self._even() else (self._made("gamg", plain=True), "gamg, plain aggregates")
        )

    @cached_property
    def mixes_fast(self) -> bool:
        """Whether the diagonal alone gets to TRIAL in QUICK steps: then the graph has nothing to coarsen."""
        ksp = self._made("jacobi")
        z = signs(self._graph.nodes, self._graph.nodes, slice(0, 1))[:, 0].astype(float)
        b, x = self._matrix.createVecLeft(), self._matrix.createVecRight()
        b.setArray(np.where(self._pinned, 0.0, z))
        ksp.setTolerances(rtol=TRIAL, atol=0.0, max_it=QUICK)
        ksp.solve(b, x)
        quick = ksp.getConvergedReason() > 0
        for used in (ksp, b, x):
            used.destroy()
        return bool(quick)

    def _even(self) -> bool:
        """Return whether no hub joins so many nodes that smoothed aggregates would all overlap."""
        count = np.diff(self._graph.local.indptr).astype(float)
        nodes, ends, squares = self._graph.ranks.sum(np.array([self._graph.n_rows, count.sum(), count @ count]))
        return bool(squares * nodes <= EVEN * ends**2)

    def _made(self, kind: str, plain: bool = False) -> Any:
        PETSc = petsc()
        options = PETSc.Options()
        if plain:
            for name, value in (("agg_nsmooths", 0), ("square_graph", 0), ("aggressive_coarsening", 0)):
                options[f"{PREFIX}plain_pc_gamg_{name}"] = value
        ksp = PETSc.KSP().create(self._graph.ranks.comm)
        ksp.setOptionsPrefix(f"{PREFIX}plain_" if plain else PREFIX)
        ksp.setOperators(self._matrix)
        ksp.setType("cg")
        ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
        ksp.getPC().setType(kind)
        ksp.setFromOptions()
        try:
            ksp.setUp()
        except PETSc.Error as error:
            raise ConvergenceError(f"PETSc's {kind} could not be set up (error {error.ierr}): {ADVICE}") from None
        return ksp
