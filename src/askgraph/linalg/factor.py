"""Q = L D Lᵀ for a sparse M-matrix: solves, diag(Q⁻¹) and diag(Q⁻²) from one factor; and a guess of its size beforehand."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import spilu

from askgraph.errors import ConvergenceError, EngineError, TooLargeError
from askgraph.support.progress import log
from askgraph.types import AnyArray, Array, BoolArray

DENSE_UP_TO = 600  # nodes: below, compiled code gains less than loading it costs
PANEL = 48
SHALLOW = 12  # levels of a search: so shallow a graph mixes fast
SPEED = 2e9  # multiplications a second, about
ROUNDING = 16 * np.finfo(float).eps
REFINE, FAIL = 1e-10, 1e-8  # relative residuals


class Factor:
    """P Q Pᵀ = L D Lᵀ of a positive definite M-matrix Q, built without cancellation.

    ``excess`` are the row sums of Q. Given exactly (δ, plus the weights to pinned neighbors), results are right to rounding
    even where δ is lost in the diagonal of Q, as 1e-12 is beside 1e12; left out, they are summed from Q.
    ``limit`` is the most bytes the factor may take, ``most_work`` the most multiplications: both are known before it is computed.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> factor = Factor(csr_array([[2.0, -1.0], [-1.0, 2.0]]))
    >>> factor.solve(np.array([3.0, 0.0])).round(12).tolist()
    [2.0, 1.0]
    """

    def __init__(self, Q: Any, excess: Array | None = None, limit: float = np.inf, most_work: float = np.inf) -> None:
        Q = csr_array(Q, dtype=np.float64)
        if not (Q.has_canonical_format and Q.data.all()):  # zeros left where nodes were pinned would fill all the same
            Q = Q.copy()
            Q.sum_duplicates()
            Q.eliminate_zeros()
        r = np.asarray(Q.sum(axis=1)).ravel() if excess is None else np.asarray(excess, dtype=np.float64)
        self._Q, self._diagonal = Q, Q.diagonal()
        self._method: _Method = _Dense(Q, r) if len(r) <= DENSE_UP_TO else _Sparse(Q, r, limit, most_work)
        self.fill = 2 * self._method.entries / (Q.nnz + Q.shape[0])
        self.nbytes = self._method.nbytes

    def arrays(self) -> dict[str, AnyArray]:
        """What `restored` needs: the factor itself; none where it is so small that it is made again."""
        return self._method.arrays()

    @classmethod
    def restored(cls, Q: csr_array, arrays: dict[str, AnyArray]) -> Factor:
        """From arrays, checked so far that no index in them is out of range."""
        if Q.shape[0] <= DENSE_UP_TO:
            return cls(Q)
        made = cls.__new__(cls)
        made._Q, made._diagonal = csr_array(Q, dtype=np.float64), Q.diagonal()
        made._method = _Sparse.restored(Q.shape[0], arrays)
        made.fill, made.nbytes = 2 * made._method.entries / (Q.nnz + Q.shape[0]), made._method.nbytes
        return made

    def solve(self, b: Array) -> Array:
        """Q⁻¹ b, b (n,) or (n, k)."""
        b = np.asarray(b, dtype=np.float64)
        x = self._method.solve(b)
        if not self._residual(b, x) <= REFINE:
            x = x + self._method.solve(b - self._Q @ x)
            if not (left := self._residual(b, x)) <= FAIL:
                raise ConvergenceError(
                    f"a direct solve left a relative residual of {left:.1e} after refinement (at most {FAIL:.0e} is accepted): "
                    "check b for nan or inf; raise delta, or rescale weights that span too many orders of magnitude"
                )
        return x

    def diagonals(self, squares: bool) -> tuple[Array, Array | None]:
        """diag(Q⁻¹) and, where squares is set, diag(Q⁻²)."""
        return self._method.diagonals(squares)

    def _residual(self, b: Array, x: Array) -> float:
        """The worst relative residual of a column (1-norm), less what rounding x alone would leave."""
        with np.errstate(invalid="ignore", over="ignore"):
            left = np.abs(b - self._Q @ x).sum(axis=0) - ROUNDING * (self._diagonal * np.abs(x.T)).sum(axis=-1)
            return float(np.max(left / np.maximum(np.abs(b).sum(axis=0), np.finfo(float).tiny), initial=0.0))


class _Method(Protocol):
    entries: int
    nbytes: int

    def solve(self, b: Array) -> Array: ...
    def diagonals(self, squares: bool) -> tuple[Array, Array | None]: ...
    def arrays(self) -> dict[str, AnyArray]: ...


class _Dense:
    """The same elimination in numpy: Lᵀ = U with a unit diagonal."""

    def __init__(self, Q: csr_array, r: Array) -> None:
        M = -Q.toarray()
        r, d = r.copy(), np.empty(len(r))
        for start in range(0, len(d), PANEL):
            stop = start + PANEL
            for j in range(start, min(stop, len(d))):
                row = M[j, j + 1 :]
                d[j] = r[j] + row.sum()
                if not 0 < d[j] < np.inf:
                    raise _indefinite(j)
                share = row / d[j]
                M[j + 1 : stop, j + 1 :] += np.multiply.outer(share[: stop - j - 1], row)
                r[j + 1 :] += share * r[j]
                row[:] = share
            N = M[start:stop, stop:]
            M[stop:, stop:] += (N.T * d[start:stop]) @ N
        self._U, self._d = -M, d
        self.entries, self.nbytes = len(d) * (len(d) + 1) // 2, M.nbytes + d.nbytes

    def solve(self, b: Array) -> Array:
        y = self._triangle(b, 1)
        return self._triangle((y.T / self._d).T, 0)

    def diagonals(self, squares: bool) -> tuple[Array, Array | None]:
        V = np.triu(dtrtri(self._U, unitdiag=1)[0], 1) + np.eye(len(self._d))
        scaled = V / self._d
        return np.sum(V * scaled, axis=1), np.square(scaled @ V.T).sum(axis=0) if squares else None

    def arrays(self) -> dict[str, AnyArray]:
        return {}

    def _triangle(self, b: Array, trans: int) -> Array:
        return np.asarray(solve_triangular(self._U, b, trans=trans, unit_diagonal=True, check_finite=False))


class _Sparse:
    """Compiled, on the supernodes of a minimum-degree order."""

    def __init__(self, Q: csr_array, r: Array, limit: float, most_work: float) -> None:
        from askgraph.linalg import elimination, multifrontal

        indptr, indices = Q.indptr.astype(np.int32), Q.indices.astype(np.int32)
        self._order, self._place, counts, self._tree = elimination.analyze(indptr, indices, _positions(Q))
        self.entries, work = int(counts.sum()), float(np.square(counts.astype(float)).sum())
        self.nbytes = 8 * int(self._tree.block[-1]) + 16 * len(r) + sum(a.nbytes for a in self._tree[:6])
        if self.nbytes > limit:
            raise TooLargeError(
                f"the factor of {len(r):,} nodes would take {self.nbytes / 1e9:.2g} GB, more than the limit of "
                f"{limit / 1e9:.2g} GB: use engine='iterative'"
            )
        if work > most_work:
            raise TooLargeError(
                f"the factor of {len(r):,} nodes would take {work:.1e} multiplications, more than the limit of {most_work:.1e}: "
                "use engine='iterative'"
            )
        log.info("factorising: %s numbers, %.1e multiplications, about %.0f s", f"{self.entries:,}", work, work / SPEED)
        matrix = indptr, indices, Q.data, self._order, self._place
        self._N, self._d, bad = multifrontal.factorize(*matrix, self._tree, r[self._order])
        if bad >= 0:
            raise _indefinite(self._order[bad])

    def arrays(self) -> dict[str, AnyArray]:
        tree = self._tree
        return {
            "order": self._order,
            "first": tree.first,
            "start": tree.start,
            "rows": tree.rows,
            "N": self._N,
            "d": self._d,
            "entries": np.array(self.entries),
        }

    @classmethod
    def restored(cls, n: int, arrays: dict[str, AnyArray]) -> _Sparse:
        from askgraph.linalg import elimination

        made = cls.__new__(cls)
        order, first, start, rows = (arrays[key] for key in ("order", "first", "start", "rows"))
        sound = (
            np.array_equal(np.sort(order), np.arange(n))
            and (first[0], first[-1], start[0], start[-1], first.size) == (0, n, 0, rows.size, start.size)
            and (np.diff(first) > 0).all()
            and (np.diff(start) >= 0).all()
            and (rows.size == 0 or (rows.min() >= 0 and rows.max() < n))
        )
        if not sound:
            raise EngineError("this is no factor of a matrix of that size")
        made._order = order.astype(np.int32)
        made._place = np.empty(n, np.int32)
        made._place[order] = np.arange(n, dtype=np.int32)
        node = np.repeat(np.arange(first.size - 1, dtype=np.int32), np.diff(first))
        made._tree = elimination.link(first.astype(np.int64), start.astype(np.int64), rows.astype(np.int32), node)
        made._N, made._d, made.entries = arrays["N"], arrays["d"], int(arrays["entries"])
        if (made._N.size, made._d.size) != (int(made._tree.block[-1]), n):
            raise EngineError("this is no factor of a matrix of that size")
        made.nbytes = 8 * made._N.size + 16 * n
        return made

    def solve(self, b: Array) -> Array:
        from askgraph.linalg import multifrontal

        X = np.atleast_2d(b.T.take(self._order, axis=-1))
        multifrontal.solve(self._N, self._d, self._tree, X)
        return X.take(self._place, axis=-1).T.reshape(b.shape)

    def diagonals(self, squares: bool) -> tuple[Array, Array | None]:
        from askgraph.linalg import multifrontal

        none = np.empty(0)
        dN, dd = multifrontal.tangent(self._N, self._d, self._tree) if squares else (none, none)
        g, g2 = multifrontal.invert(self._N, self._d, dN, dd, self._tree)
        return g[self._place], g2[self._place] if squares else None


def _indefinite(node: int) -> EngineError:
    return EngineError(
        f"Q is not a positive definite M-matrix at node {node}: weights must be finite and >= 0, and delta > 0 large enough "
        "to change the diagonal; else give the row sums as excess"
    )


def _hubs(Q: csr_array) -> BoolArray:
    """Nodes that touch so many others that they are best eliminated last, as in AMD; minimum degree is quadratic in them."""
    return np.asarray(np.diff(Q.indptr) > max(16.0, 10 * np.sqrt(Q.shape[0])))


def _positions(Q: csr_array) -> AnyArray:
    """Each node's position in a minimum-degree order; SuperLU tells it along with an incomplete factor that keeps nothing."""
    hubs = _hubs(Q)
    core = Q[~hubs][:, ~hubs] if hubs.any() else Q
    place = np.empty(len(hubs), np.int32)
    place[hubs] = np.arange(core.shape[0], len(hubs))
    pattern = csc_array((np.full(core.nnz, -1.0), core.indices, core.indptr), core.shape)
    pattern.setdiag(np.diff(core.indptr) + 1.0)
    lu = spilu(
        pattern,
        drop_tol=1.0,
        fill_factor=1.0,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        panel_size=1,
        options={"SymmetricMode": True},
    )
    place[~hubs] = lu.perm_c
    return place


def predicted_fill(Q: Any) -> float:
    """About nnz(L) / nnz(tril Q), within a factor of two on most graphs and never slow; long-range links read too high.

    A component of m nodes is cut by a level of a breadth-first search, of width w; its halves by levels that shrink as
    m^a, a = log w / log m; so nnz(L) ≈ c w² Σ_k 2^(k (1 - 2a)). The constants are a fit to 90 graphs of 15 kinds.
    """
    Q = csr_array(Q)
    n, hubs = Q.shape[0], _hubs(Q)
    core = ~hubs & (np.diff(Q.indptr) > 2)  # a node with one neighbor fills nothing
    A, entries, most = Q if core.all() else Q[core][:, core], (Q.nnz + n) / 2, n * (n + 1) / 2
    if A.shape[0] == 0:
        return float(min(1 + hubs.sum() * hubs.sum() / 2 / entries, most / entries))
    m, degree, width = _widths(A)
    w = np.maximum(np.minimum(np.minimum(width, m * degree / (degree + 45)), m * (degree / 2 - 1) + 1), 1e-9)
    a = np.log(np.maximum(w, 1)) / np.log(np.maximum(m, 2))
    steps = np.arange(int(np.log2(m.max())) + 1)[:, None]
    cuts = np.sum(2.0 ** (steps * (1 - 2 * a)) * (steps <= np.log2(m)), axis=0)
    bulk = 2 * np.exp(-3 * _closed(A)) * np.maximum(1 - 2 / np.maximum(degree, 1), 0.05) ** 1.2 * w**2 * cuts
    return float(min(1 + (bulk.sum() + hubs.sum() * (A.shape[0] + hubs.sum() / 2)) / entries, most / entries))


def _widths(A: csr_array) -> tuple[Array, Array, Array]:
    """Of each component: nodes, mean degree, and the widest level of a search from a far node."""
    if (level := _levels(A, np.array([A.shape[0] - 1]))) is not None and level.max() < SHALLOW:  # no search is narrow
        return (
            np.array([float(level.size)]),
            np.array([A.nnz / level.size - 1]),
            np.array([float(np.bincount(level).max())]),
        )
    k, label = connected_components(A, directed=False)
    far = np.empty(k, dtype=np.int64)
    far[label] = np.arange(len(label))
    nearest_first = np.argsort(_reached(_levels(A, far)), kind="stable")
    far[label[nearest_first]] = nearest_first
    level = _reached(_levels(A, far))
    key, size = np.unique(label * np.int64(level.max() + 1) + level, return_counts=True)
    width = np.zeros(k)
    np.maximum.at(width, key // (level.max() + 1), size)
    m = np.bincount(label, minlength=k).astype(float)
    return m, np.bincount(label, np.diff(A.indptr), k) / m - 1, width


def _reached(level: AnyArray | None) -> AnyArray:
    assert level is not None  # every component has a root
    return level


def _levels(A: csr_array, roots: AnyArray) -> AnyArray | None:
    """Steps from each node to the root of its component, one root each; None if a component has none."""
    n = A.shape[0]
    indices = np.concatenate([A.indices, roots]).astype(np.int32)
    rooted = csr_array((np.ones(len(indices), np.int8), indices, np.append(A.indptr, len(indices))), (n + 1, n + 1))
    order, before = breadth_first_order(rooted, n)
    if order.size <= n:
        return None
    rank = np.empty(n + 1, np.int64)
    rank[order] = np.arange(n + 1)
    up, depth = np.append(0, rank[before[order[1:]]]), np.append(0, np.ones(n, np.int64))
    while up.any():  # pointer doubling: a chain of a million nodes takes twenty rounds
        depth += depth[up]
        up = up[up]
    return depth[rank[:n]] - 1


def _closed(A: csr_array) -> float:
    """The share of pairs of neighbors that are neighbors themselves, over a sample of nodes."""
    P = csr_array((np.ones(A.nnz), A.indices, A.indptr), A.shape)
    rows = P[np.unique(np.linspace(0, A.shape[0] - 1, 300).astype(int))]
    d = np.diff(rows.indptr) - 1
    return float(((rows @ P) * rows).sum() - (3 * d + 1).sum()) / max(1, int((d * (d - 1)).sum()))
