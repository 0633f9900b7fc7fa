"""Multifrontal L D Lᵀ of an M-matrix and its selected inverse, compiled.

Nothing here cancels. The matrix comes as weights m_ij = -q_ij >= 0 and row sums r, a pivot is d_j = r_j + Σ_i m_ij (Grassmann,
Taksar and Heyman 1985), and every later number is a sum of terms of one sign. So the factor, both diagonals and a solve with
b >= 0 are right to rounding entry by entry, however badly Q is conditioned.

Lᵀ = I - N. A supernode of w columns of L is a block of w rows of N, each of length w + h: its own columns, then the h rows
below. All flops are in `multiply`: BLAS would start threads for blocks this small, at twenty times the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from askgraph.linalg.elimination import analyze, link_supernodes
from askgraph.linalg.supernodes import MAX_COLUMNS, Floats, Ints, Tree
from askgraph.support.jit import jit, jit_inner

__all__ = ["analyze", "diagonals", "factorize", "link_supernodes", "solver"]


@jit("void(f8[::1],i8,f8[::1],i8,i8,f8[::1],i8,i8,i8,i8,i8)")
def multiply(
    C: Floats, c: int, A: Floats, down: int, along: int, B: Floats, b: int, m: int, inner: int, n: int, reach: int
) -> None:
    """Add A B to C where j < i + reach.

    C is (m, n), A (m, inner), B (inner, n); their row strides are c, down and b, and ``along`` is the column stride of A.
    """
    for lo in range(0, n, 512):
        hi = min(lo + 512, n)
        for k in range(0, inner - 3, 4):
            b0, b1 = B[k * b + lo : k * b + hi], B[(k + 1) * b + lo : (k + 1) * b + hi]
            b2, b3 = B[(k + 2) * b + lo : (k + 2) * b + hi], B[(k + 3) * b + lo : (k + 3) * b + hi]
            for i in range(m):
                p = i * down + k * along
                x0, x1, x2, x3 = A[p], A[p + along], A[p + 2 * along], A[p + 3 * along]
                row = C[i * c + lo : i * c + min(i + reach, hi)]
                for j in range(len(row)):
                    row[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j]
        for k in range(inner - inner % 4, inner):
            b0 = B[k * b + lo : k * b + hi]
            for i in range(m):
                x0 = A[i * down + k * along]
                row = C[i * c + lo : i * c + min(i + reach, hi)]
                for j in range(len(row)):
                    row[j] += x0 * b0[j]


@jit("void(f8[::1],f8[::1],i8)")
def copy(to: Floats, source: Floats, n: int) -> None:
    """Copy n numbers, by a loop: slice assignment is slow to compile."""
    for i in range(n):
        to[i] = source[i]


@jit("void(f8[::1],i8)")
def clear(x: Floats, n: int) -> None:
    """Set n numbers to 0."""
    for i in range(n):
        x[i] = 0.0


@jit_inner()
def front(tree: Tree, s: int) -> tuple[int, int, int, int, Ints]:
    """Return the first column of supernode s, its width w, its height h, w + h, and its rows."""
    o, R = tree.first[s], tree.rows[tree.start[s] : tree.start[s + 1]]
    w = tree.first[s + 1] - o
    return o, w, len(R), w + len(R), R


@jit_inner()
def locate(tree: Tree, s: int, at: Ints) -> None:
    """Write into ``at`` the position of each column of the matrix in the front of s."""
    o, w, h, _, R = front(tree, s)
    for i in range(w):
        at[o + i] = i
    for i in range(h):
        at[R[i]] = w + i


@jit_inner()
def collect_updates(tree: Tree, s: int, w: int, h: int, at: Ints, B: Floats, U: Floats, stack: Floats, top: int) -> int:
    """Pop the updates of the children, add them to the rows B and the update U of s, and return the new top."""
    clear(U, h * h)
    c = tree.last_child[s]
    while c != -1:
        R = tree.rows[tree.start[c] : tree.start[c + 1]]
        m = len(R)
        top -= m * m
        q = 0
        for a in range(m):
            i = at[R[a]]
            q += i < w
            V = stack[top + a * m : top + a * m + a + 1]
            for b in range(min(a + 1, q)):
                B[at[R[b]] * (w + h) + i] += V[b]
            for b in range(q, a + 1):
                U[(i - w) * h + at[R[b]] - w] += V[b]
        c = tree.previous[c]
    return top


def factorize(Q: csr_array, order: Ints, place: Ints, tree: Tree, r: Floats) -> tuple[Floats, Floats, int]:
    """Return N, d, and the column without a positive pivot, or -1. Overwrites r, the row sums in elimination order."""
    N, d, at = np.zeros(tree.block[-1]), np.ones(len(r)), np.empty(len(r), np.int32)
    U, M = np.empty(tree.max_rows**2), np.empty((tree.max_rows + MAX_COLUMNS) * MAX_COLUMNS)
    matrix = Q.indptr.astype(np.int32), Q.indices.astype(np.int32), Q.data, order, place
    room = np.empty(tree.stack_size), U, M
    return N, d, fill_factor(*matrix, tree, r, N, d, at, *room)


@jit()
def fill_factor(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    order: Ints,
    place: Ints,
    tree: Tree,
    r: Floats,
    N: Floats,
    d: Floats,
    at: Ints,
    stack: Floats,
    U: Floats,
    M: Floats,
) -> int:
    """Write N and d, and return what `factorize` does; the last four are room to work in.

    Arrays are made by the caller: compiled code takes long to compile where it makes them itself.
    """
    top = 0 * tree.stack_size  # an int64: a literal zero would compile the callee twice
    for s in range(len(tree.first) - 1):
        o, w, h, f, R = front(tree, s)
        locate(tree, s, at)
        B = N[tree.block[s] : tree.block[s + 1]]
        for j in range(w):
            for t in range(indptr[order[o + j]], indptr[order[o + j] + 1]):
                i = place[indices[t]]
                if i > o + j:
                    B[j * f + at[i]] -= data[t]
        top = collect_updates(tree, s, w, h, at, B, U, stack, top)
        for j in range(w):
            B[j * f + j] = 0.0
            row = B[j * f + j + 1 : j * f + f]
            multiply(row, f, M[j:], 0, f, B[j + 1 :], f, 1, j, len(row), len(row))
            copy(M[j * f + j + 1 :], row, len(row))
            pivot = r[o + j]
            for i in range(len(row)):
                pivot += row[i]
            if not 0 < pivot < np.inf:
                return o + j
            d[o + j] = pivot
            for i in range(len(row)):
                row[i] /= pivot
            for i in range(j + 1, w):
                r[o + i] += row[i - j - 1] * r[o + j]
            for i in range(h):
                r[R[i]] += row[w - j - 1 + i] * r[o + j]
        multiply(U, h, M[w:], 1, f, B[w:], f, h, w, h, 1)
        copy(stack[top:], U, h * h)
        top += h * h
    return -1


@jit()
def tangent(N: Floats, d: Floats, tree: Tree) -> tuple[Floats, Floats]:
    """Return dN and dd for dQ = I. With n = m/d and e = dm - n dd = d dn: dm += dm nᵀ + n eᵀ, all of one sign."""
    dN, dd, at = np.zeros(len(N)), np.empty(len(d)), np.empty(len(d), np.int32)
    stack, U, E = (
        np.empty(tree.stack_size),
        np.empty(tree.max_rows**2),
        np.empty((tree.max_rows + MAX_COLUMNS) * MAX_COLUMNS),
    )
    top = 0 * tree.stack_size  # an int64: a literal zero would compile the callee twice
    for s in range(len(tree.first) - 1):
        o, w, h, f, _ = front(tree, s)
        locate(tree, s, at)
        A, B = N[tree.block[s] : tree.block[s + 1]], dN[tree.block[s] : tree.block[s + 1]]
        top = collect_updates(tree, s, w, h, at, B, U, stack, top)
        for j in range(w):
            p = j * f + j
            multiply(B[p:], f, A[j:], 0, f, B[j:], f, 1, j, f - j, f)
            multiply(B[p:], f, E[j:], 0, f, A[j:], f, 1, j, f - j, f)
            dd[o + j] = 1.0 - B[p]
            B[p] = 0.0
            for i in range(p, j * f + f):
                E[i] = B[i] - A[i] * dd[o + j]
        multiply(U, h, A[w:], 1, f, B[w:], f, h, w, h, 1)
        multiply(U, h, E[w:], 1, f, A[w:], f, h, w, h, 1)
        copy(stack[top:], U, h * h)
        top += h * h
        for j in range(w):
            for i in range(j * f + j, j * f + f):
                B[i] = E[i] / d[o + j]
    return dN, dd


@jit_inner()
def hand_down(tree: Tree, s: int, w: int, h: int, at: Ints, Z: Floats, ZR: Floats, stack: Floats, top: int) -> int:
    """Push for each child its part of the inverse, the last child on top, and return the new top.

    Z (w, w + h) are the rows of the inverse that belong to s, ZR (h, h) those of its ancestors.
    """
    f = w + h
    c = tree.last_child[s]
    while c != -1:
        top += (tree.start[c + 1] - tree.start[c]) ** 2
        c = tree.previous[c]
    end = top
    c = tree.last_child[s]
    while c != -1:
        R = tree.rows[tree.start[c] : tree.start[c + 1]]
        m = len(R)
        top -= m * m
        q = 0
        for a in range(m):
            i = at[R[a]]
            V = stack[top + a * m : top + a * m + m]
            if i < w:
                q += 1
                row = Z[i * f : i * f + f]
                for b in range(m):
                    V[b] = row[at[R[b]]]
                    stack[top + b * m + a] = V[b]
            else:
                row = ZR[(i - w) * h : (i - w) * h + h]
                for b in range(q, m):
                    V[b] = row[at[R[b]] - w]
        c = tree.previous[c]
    return end


@jit_inner()
def solve_triangle(A: Floats, X: Floats, w: int, f: int) -> None:
    """Replace X by L_JJ⁻ᵀ X for the triangle within a block A."""
    for j in range(w - 2, -1, -1):
        multiply(X[j * f :], f, A[j * f + j + 1 :], 0, 1, X[(j + 1) * f :], f, 1, w - 1 - j, f, f)


@jit_inner()
def add_product(T: Floats, Y: Floats, v: Floats, Z: Floats, w: int, h: int) -> None:
    """Add Y blockdiag(v, Z) to T."""
    for i in range(w):
        for k in range(i, w):
            T[i * (w + h) + k] += Y[i * (w + h) + k] * v[k]
    multiply(T[w:], w + h, Y[w:], w + h, 1, Z, h, w, h, h, h)


@jit_inner()
def add_products_of_rows(out: Floats, X: Floats, Y: Floats, w: int, f: int) -> None:
    """Add X Yᵀ to out."""
    for i in range(w):
        x = X[i * f : i * f + f]
        for j in range(w):
            y = Y[j * f : j * f + f]
            total = 0.0
            for k in range(f):
                total += x[k] * y[k]
            out[i * w + j] += total


@jit_inner()
def finish_diagonal(Z: Floats, ZJ: Floats, g: Floats, w: int, f: int) -> None:
    """Move the diagonal block ZJ into its rows Z, its diagonal into g, and set ZJ to 0."""
    for i in range(w):
        copy(Z[i * f :], ZJ[i * w :], w)
        g[i] = abs(ZJ[i * w + i])
    clear(ZJ, w * w)


def diagonals(N: Floats, d: Floats, tree: Tree, squares: bool) -> tuple[Floats, Floats | None]:
    """Return diag(G) and, if ``squares``, diag(G²) = -d diag(G), by the tangent."""
    g = np.empty(len(d))
    if not squares:
        fill_inverse(N, d, tree, np.empty(len(d), np.int32), g, _room(tree), None)
        return g, None
    dg = np.empty(len(d))
    fill_inverse(N, d, tree, np.empty(len(d), np.int32), g, _room(tree), (*tangent(N, d, tree), dg, *_room(tree)))
    return g, dg


def _room(tree: Tree) -> tuple[Floats, ...]:
    """Return room for the parts of the inverse: those on the stack, ZR, Y, Z, ZJ and v."""
    wide = (tree.max_rows + MAX_COLUMNS) * MAX_COLUMNS
    inner = np.empty(tree.stack_size), np.empty(tree.max_rows**2), np.empty(wide), np.empty(wide)
    return *inner, np.zeros(MAX_COLUMNS**2), np.empty(MAX_COLUMNS)


@jit()
def fill_inverse(N: Floats, d: Floats, tree: Tree, at: Ints, g: Floats, room: Any, more: Any) -> None:
    """Write diag(G), from the root down (Takahashi 1973); ``more`` is None, or the tangent, -diag(G²) to be and its room.

    With Y = L_JJ⁻ᵀ [I N_JR] and T = Y blockdiag(D⁻¹, Z_RR): Z_JR = T_R and Z_JJ = T Yᵀ. What ``more`` needs is compiled only
    where it is not None.
    """
    stack, ZR, Y, Z, ZJ, v = room
    if more is not None:
        dN, dd, dg, dstack, dZR, dY, dZ, dZJ, dv = more
    top = 0 * tree.stack_size  # an int64: a literal zero would compile the callee twice
    for s in range(len(tree.first) - 2, -1, -1):
        o, w, h, f, _ = front(tree, s)
        locate(tree, s, at)
        A = N[tree.block[s] : tree.block[s + 1]]
        top -= h * h
        copy(ZR, stack[top:], h * h)
        copy(Y, A, w * f)
        clear(Z, w * f)
        for i in range(w):
            v[i] = 1 / d[o + i]
            clear(Y[i * f :], w)
            Y[i * f + i] = 1.0
        solve_triangle(A, Y, w, f)
        add_product(Z, Y, v, ZR, w, h)
        add_products_of_rows(ZJ, Z, Y, w, f)
        if more is not None:
            B = dN[tree.block[s] : tree.block[s + 1]]
            copy(dZR, dstack[top:], h * h)
            copy(dY, B, w * f)
            clear(dZ, w * f)
            for i in range(w):
                dv[i] = -dd[o + i] * v[i] * v[i]
                clear(dY[i * f :], w)
            multiply(dY, f, B, f, 1, Y, f, w, w, f, f)
            solve_triangle(A, dY, w, f)
            add_product(dZ, dY, v, ZR, w, h)
            add_product(dZ, Y, dv, dZR, w, h)
            add_products_of_rows(dZJ, dZ, Y, w, f)
            add_products_of_rows(dZJ, Z, dY, w, f)
            finish_diagonal(dZ, dZJ, dg[o:], w, f)
            hand_down(tree, s, w, h, at, dZ, dZR, dstack, top)
        finish_diagonal(Z, ZJ, g[o:], w, f)
        top = hand_down(tree, s, w, h, at, Z, ZR, stack, top)


@jit()
def solve(N: Floats, d: Floats, tree: Tree, X: Floats) -> None:
    """Replace each row x of X (k, n), in elimination order, by L⁻ᵀ D⁻¹ L⁻¹ x."""
    t = np.empty(tree.max_rows)
    for c in range(len(X)):
        forward(N, tree, X[c], t)
        backward(N, d, tree, X[c], t)


def solver(N: Floats, d: Floats, tree: Tree) -> Callable[[Floats], None]:
    """Return a function that replaces each row x of an array, in elimination order, by L⁻ᵀ D⁻¹ L⁻¹ x."""
    return partial(solve, N, d, tree)


@jit_inner()
def forward(N: Floats, tree: Tree, x: Floats, t: Floats) -> None:
    """Replace x by L⁻¹ x; with indices instead of slices, since most supernodes are a few numbers."""
    first, start, block, rows = tree.first, tree.start, tree.block, tree.rows
    for s in range(len(first) - 1):
        o, r, A = first[s], start[s], block[s]
        w, h = first[s + 1] - o, start[s + 1] - r
        if w == 1:
            xj = x[o]
            for i in range(h):
                x[rows[r + i]] += N[A + 1 + i] * xj
            continue
        for i in range(h):
            t[i] = 0.0
        for j in range(w):
            xj, row = x[o + j], A + j * (w + h)
            for i in range(j + 1, w):
                x[o + i] += N[row + i] * xj
            for i in range(h):
                t[i] += N[row + w + i] * xj
        for i in range(h):
            x[rows[r + i]] += t[i]


@jit_inner()
def backward(N: Floats, d: Floats, tree: Tree, x: Floats, t: Floats) -> None:
    """Replace x by L⁻ᵀ D⁻¹ x."""
    first, start, block, rows = tree.first, tree.start, tree.block, tree.rows
    for s in range(len(first) - 2, -1, -1):
        o, r, A = first[s], start[s], block[s]
        w, h = first[s + 1] - o, start[s + 1] - r
        for i in range(h):
            t[i] = x[rows[r + i]]
        for j in range(w - 1, -1, -1):
            total, row = x[o + j] / d[o + j], A + j * (w + h)
            for i in range(h):
                total += N[row + w + i] * t[i]
            for i in range(j + 1, w):
                total += N[row + i] * x[o + i]
            x[o + j] = total
