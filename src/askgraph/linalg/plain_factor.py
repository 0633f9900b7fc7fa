"""The multifrontal factor of a small matrix and its selected inverse in NumPy: the numbers of `multifrontal`, without numba.

Compiling takes longer than the whole work on a few thousand nodes. Sums have terms of one sign here too, so nothing cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.sparse import csc_array, csr_array, tril, triu
from scipy.sparse.linalg import splu

from askgraph.linalg import supernodes
from askgraph.linalg.supernodes import Floats, Ints, Longs, Tree, inverted, unset
from askgraph.support.threads import one_blas_thread
from askgraph.types import Array

NEARLY_SINGULAR = (
    1e-6  # excess of the matrix in which SuperLU finds the entries of L: none is so small that it becomes 0
)


def analyze(Q: csr_array) -> tuple[Ints, Ints, Longs, Tree]:
    """Return order and place (both in postorder), the entries of each column of L, and the tree; SuperLU finds the entries."""
    n = Q.shape[0]
    pattern = csc_array((np.full(Q.nnz, -1.0), Q.indices, Q.indptr), Q.shape)
    pattern.setdiag((1 + NEARLY_SINGULAR) * np.maximum(np.diff(Q.indptr), 1.0))
    lu = splu(pattern, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    entries = csc_array(tril(lu.L, -1, format="csc"))
    entries.sort_indices()
    counts = np.diff(entries.indptr).astype(np.int64)
    parent, rank = unset(n), unset(n)
    parent[counts > 0] = entries.indices[entries.indptr[:-1][counts > 0]]
    supernodes.postorder(parent, unset(n + 1), unset(n), rank)
    before = inverted(rank)
    up, counts = np.where(parent < 0, -1, rank[parent])[before].astype(np.int32), counts[before] + 1
    first = np.empty(n + 1, np.int64)
    first = first[: supernodes.find_supernodes(up, counts, first, np.empty(n, np.int64)) + 1].copy()
    last = before[first[1:] - 1]
    rows = [np.sort(rank[entries.indices[entries.indptr[j] : entries.indptr[j + 1]]]) for j in last]
    start, place = np.append(0, np.cumsum(counts[first[1:] - 1] - 1)), rank[lu.perm_c]
    return inverted(place), place, counts, link_supernodes(first, start, np.concatenate(rows).astype(np.int32))


def link_supernodes(first: Longs, start: Longs, rows: Ints) -> Tree:
    """Return the tree of the supernodes."""
    return supernodes.linked(supernodes.link, first, start, rows)


def factorize(Q: csr_array, order: Ints, place: Ints, tree: Tree, r: Floats) -> tuple[Floats, Floats, int]:
    """Return N, d, and the column without a positive pivot, or -1. Overwrites r, the row sums in elimination order."""
    M = csr_array(triu(Q[order][:, order], 1))
    row = np.repeat(np.arange(len(r)), np.diff(M.indptr))
    N, d, at, updates = np.zeros(tree.block[-1]), np.ones(len(r)), np.empty(len(r), np.int64), dict[int, Array]()
    with one_blas_thread():
        for s in range(len(tree.first) - 1):
            o, w, columns = _front(tree, s)
            at[columns] = np.arange(columns.size)
            F = np.zeros((columns.size, columns.size))
            own = slice(M.indptr[o], M.indptr[o + w])
            F[row[own] - o, at[M.indices[own]]] = -M.data[own]
            for child in _children(tree, s):
                inside = at[tree.rows[tree.start[child] : tree.start[child + 1]]]
                entries = inside[:, None] * columns.size + inside
                F.put(entries, F.take(entries) + updates.pop(child))
            bad = _eliminate(F, w, r, columns, d[o : o + w])
            if bad >= 0:
                return N, d, o + bad
            B = F[:w]
            B[:, :w] *= _above_diagonal(w)
            N[tree.block[s] : tree.block[s + 1]] = B.ravel()
            updates[s] = F[w:, w:] + (B[:, w:].T * d[o : o + w]) @ B[:, w:]
    return N, d, -1


def _front(tree: Tree, s: int) -> tuple[int, int, Ints]:
    """Return the first column of supernode s, its width, and all columns of its front."""
    o, end = tree.first[s], tree.first[s + 1]
    return o, end - o, np.concatenate([np.arange(o, end), tree.rows[tree.start[s] : tree.start[s + 1]]])


def _children(tree: Tree, s: int) -> list[int]:
    found, child = [], tree.last_child[s]
    while child != -1:
        found.append(int(child))
        child = tree.previous[child]
    return found


@cache
def _above_diagonal(w: int) -> Array:
    return np.triu(np.ones((w, w)), 1)


def _eliminate(F: Array, w: int, r: Floats, columns: Ints, d: Floats) -> int:
    """Eliminate the first w columns of a front: leave N in its rows, and return the one without a positive pivot, or -1."""
    sums = r[columns]
    for j in range(w):
        row = F[j, j + 1 :]
        d[j] = pivot = sums[j] + row.sum()
        if not 0 < pivot < np.inf:
            return j
        share = row / pivot
        if j + 1 < w:
            F[j + 1 : w, j + 1 :] += np.multiply.outer(share[: w - j - 1], row)
        sums[j + 1 :] += share * sums[j]
        row[:] = share
    r[columns] = sums
    return -1


def diagonals(N: Floats, d: Floats, tree: Tree, squares: bool) -> tuple[Floats, Floats | None]:
    """Return diag(G), from the root down (Takahashi 1973), and if ``squares`` diag(G²), which is computed by compiled loops."""
    if squares:
        from askgraph.linalg import multifrontal

        return multifrontal.diagonals(N, d, tree, squares)
    g, parts = np.empty(len(d)), dict[int, Array]()
    with one_blas_thread():
        for s in range(len(tree.first) - 2, -1, -1):
            o, w, columns = _front(tree, s)
            Z = _front_inverse(N[tree.block[s] : tree.block[s + 1]].reshape(w, -1), d[o : o + w], parts.pop(s, None))
            g[o : o + w] = Z.diagonal()[:w]
            for child in _children(tree, s):
                inside = np.searchsorted(columns, tree.rows[tree.start[child] : tree.start[child + 1]])
                parts[child] = Z.take(inside, axis=0).take(inside, axis=1)
    return g, None


def _front_inverse(A: Array, d: Floats, rest: Array | None) -> Array:
    """Return G on the columns of a front; ``rest`` is G on its rows below, None at a root.

    With Y = L_JJ⁻ᵀ [I N_JR]: G_JR = Y_R G_RR and G_JJ = Y_J D⁻¹ Y_Jᵀ + G_JR Y_Rᵀ.
    """
    w, f = A.shape
    Y = np.eye(w, f)
    Y[:, w:] = A[:, w:]
    if w > 1:
        Y = dtrsm(1.0, np.eye(w) - A[:, :w], Y, diag=1)
    own, below = Y[:, :w], Y[:, w:]
    Z = np.empty((f, f))
    if rest is not None:
        Z[w:, w:] = rest
    Z[:w, w:] = below @ Z[w:, w:]
    Z[w:, :w] = Z[:w, w:].T
    Z[:w, :w] = (own / d) @ own.T + Z[:w, w:] @ below.T
    return Z


def solver(N: Floats, d: Floats, tree: Tree) -> Callable[[Array], None]:
    """Return a function that replaces each row x of an array, in elimination order, by L⁻ᵀ D⁻¹ L⁻¹ x.

    SuperLU solves with L: there is nothing to eliminate in a triangle.
    """
    rows, widths = [], []
    for s in range(len(tree.first) - 1):
        _, w, columns = _front(tree, s)
        for j in range(w):
            rows.append(columns[j:])
            widths.append(columns.size)
    size = np.array([row.size for row in rows])
    end = np.cumsum(widths)
    kept = np.concatenate([np.arange(stop - count, stop) for stop, count in zip(end, size, strict=True)])
    values, starts = -N[kept], np.append(0, np.cumsum(size))
    values[starts[:-1]] = 1.0
    L = splu(
        csc_array((values, np.concatenate(rows), starts), (len(d), len(d))), permc_spec="NATURAL", diag_pivot_thresh=0.0
    )

    def solve(X: Array) -> None:
        X[:] = L.solve(L.solve(X.T) / d[:, None], trans="T").T

    return solve
