"""Cleaning: entries of a matrix -> symmetric non-negative weights, and notes on what was changed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from askgraph.errors import FileError, GraphError
from askgraph.graph.distances import NOTE, look_like_distances
from askgraph.graph.sources import Raw, check_structure, from_arrays, index_type, matrix_entries
from askgraph.support.wording import counted
from askgraph.types import AnyArray, IntArray

Symmetrize = Literal["mean", "max", "sum"]
MIRROR_ROUNDOFF = 1e-12  # relative; a weight and its mirror that differ by less are one weight
LARGEST_WEIGHT = 1e300  # larger weights are refused: their sums would overflow
ENTRIES_PER_BLOCK = 2**21  # matrix entries compared with their mirrors at a time
MAX_NODES_WITHOUT_EDGES = 10_000_000  # a file of more nodes than this and than entries is refused as a mistake


def symmetrize(
    raw: Raw, names: tuple[Hashable, ...] | None, how: Symmetrize | None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return checked symmetric weights without loops, zeros and repeats, and notes on what was changed."""
    if raw.kind == "clean":
        return raw.weights, ()
    check_values(raw.weights, names)
    D, notes = _sum_repeats(raw.weights)
    S, more = _symmetrize_list(D, how) if raw.kind == "edges" else _symmetrize_matrix(D, raw.kind, how, names)
    odd = (NOTE,) if raw.kind == "matrix" and look_like_distances(S) else ()
    return S, (*notes, *more, *odd)


def _sum_repeats(W: sp.coo_array) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return the matrix without loops and zeros, repeated entries added up, and notes on what was changed."""
    loop, zero = W.row == W.col, W.data == 0
    loops, zeros = (int(np.count_nonzero(bad)) for bad in (loop & ~zero, zero & ~loop))
    drop, kind = loop | zero, index_type(W.shape[0], W.nnz)
    data, row, col = (part[~drop] if drop.any() else part for part in (W.data, W.row, W.col))
    D = sp.csr_array((data, (row.astype(kind, copy=False), col.astype(kind, copy=False))), shape=W.shape)
    return D, repeat_notes(loops, zeros, data.size - D.nnz)


def repeat_notes(loops: int, zeros: int, repeated: int) -> tuple[str, ...]:
    """Return notes on dropped self-loops and zeros and on repeated edges that were added up."""
    notes = [f"dropped {counted(k, what)}" for k, what in ((loops, "self-loop"), (zeros, "zero weight")) if k]
    return (*notes, f"added up {counted(repeated, 'repeated edge')}") if repeated else tuple(notes)


def check_values(W: sp.coo_array, names: Sequence[Hashable] | None) -> None:
    """Raise an error for weights that are negative, missing or too large."""
    if W.data.min(initial=0) >= 0 and W.data.max(initial=0) <= LARGEST_WEIGHT:
        return
    bad = np.flatnonzero(~((W.data >= 0) & (W.data <= LARGEST_WEIGHT)))
    where, w = _describe_edge(W.row[bad[0]], W.col[bad[0]], names), W.data[bad[0]]
    advice = "drop it, or use abs(w) or max(w, 0)" if -LARGEST_WEIGHT < w < 0 else "drop the edge or fix its weight"
    many = f" ({bad.size} such weights in all)" if bad.size > 1 else ""
    raise GraphError(
        f"edge {where} has weight {w}{many}: weights are finite and ≥ 0, at most {LARGEST_WEIGHT:g}; {advice}"
    )


def _symmetrize_matrix(
    D: sp.csr_array, kind: str, how: Symmetrize | None, names: tuple[Hashable, ...] | None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return a symmetric matrix, and a note on how it was made."""
    T = D.T.tocsr()
    if _are_equal(D, T):
        return D, ()
    i, j = _find_asymmetric(D, T)
    if i.size == 0:
        return _scale_weights(D + T, 0.5), ()
    if kind == "matrix" and how is None:
        there, back = D[i[0], j[0]], D[j[0], i[0]]
        raise GraphError(
            f"weights are not symmetric: {i.size} of {D.nnz + T.nnz} entries differ from their mirror, first "
            f"{_describe_edge(i[0], j[0], names)} with {there} there and {back} back; "
            'make it symmetric, for example by W.maximum(W.T), or by Graph(W, symmetrize="max") (or "mean", "sum")'
        )
    formula = {"mean": "(W + W^T)/2", "max": "max(W, W^T)", "sum": "W + W^T"}[how or "mean"]
    note = f"{'directed' if kind == 'directed' else 'asymmetric'} input: symmetrized as {formula}"
    return D.maximum(T) if how == "max" else _scale_weights(D + T, 1.0 if how == "sum" else 0.5), (note,)


def _are_equal(D: sp.csr_array, T: sp.csr_array) -> bool:
    return all(np.array_equal(getattr(D, part), getattr(T, part)) for part in ("indptr", "indices", "data"))


def _scale_weights(S: sp.csr_array, factor: float) -> sp.csr_array:
    S.data *= factor
    return S


def _find_asymmetric(D: sp.csr_array, T: sp.csr_array) -> tuple[IntArray, IntArray]:
    """Return where a weight and its mirror differ by more than roundoff.

    Roundoff is relative to the weight itself, or to the largest weights of both nodes, as a matrix product leaves it.
    """
    largest = np.maximum(*(A.max(axis=1).toarray().ravel() for A in (D, T)))
    found, step = [], max(1, D.shape[0] * ENTRIES_PER_BLOCK // max(D.nnz, 1))
    for start in range(0, D.shape[0], step):
        d, t = D[start : start + step], T[start : start + step]
        excess = (abs(d - t) - MIRROR_ROUNDOFF * d.maximum(t)).tocoo()
        i, j = excess.row + start, excess.col
        bad = excess.data > 8 * np.finfo(float).eps * np.minimum(largest[i], largest[j])
        found.append((i[bad], j[bad]))
    i, j = (np.concatenate(side) for side in zip(*found, strict=True))
    return i, j


def _symmetrize_list(D: sp.csr_array, how: Symmetrize | None) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return the symmetric weights of an edge list, and notes; an edge listed in both directions is one edge."""
    T = D.T.tocsr()
    if how != "sum" and D.nnz and _are_equal(D, T):
        return D, direction_notes(D.nnz // 2, 0, how)
    S, both, differ = merge_directions(D, T, how)
    return S, direction_notes(both // 2, differ // 2, how)


def merge_directions(D: sp.csr_array, T: sp.csr_array, how: Symmetrize | None) -> tuple[sp.csr_array, int, int]:
    """Merge some rows of an edge list, D, with the same rows of its transpose, T.

    Returns the symmetric rows, the number of entries listed in both directions, and how many of these had two different
    weights (with ``how="sum"``: all of them).
    """
    S = D + T
    if S.nnz == D.nnz + T.nnz:
        return S, 0, 0
    twice = (_ones_like(D) + _ones_like(T)).data == 2
    common = _ones_like(D).multiply(_ones_like(T))
    largest = np.maximum(D.multiply(common).data, T.multiply(common).data)
    differ = largest.size if how == "sum" else int(np.count_nonzero(largest * 2 != S.data[twice]))
    if how != "sum":
        S.data[twice] = largest if how == "max" else S.data[twice] / 2
    return S, largest.size, differ


def direction_notes(both: int, differ: int, how: Symmetrize | None) -> tuple[str, ...]:
    """Return notes on edges that were listed in both directions."""
    notes = [f"counted once {counted(both - differ, 'edge')} listed in both directions"] if both > differ else []
    if differ:
        notes.append(f"took the {how or 'mean'} for {counted(differ, 'edge')} listed in both directions")
    return tuple(notes)


def _ones_like(A: sp.csr_array) -> sp.csr_array:
    """Return a matrix with a one-byte 1 for every entry of A."""
    return sp.csr_array((np.ones(A.nnz, dtype=np.int8), A.indices, A.indptr), shape=A.shape)


def stored_entries(stored: dict[str, AnyArray]) -> Raw:
    """Return the entries or edges among the arrays of an npz file, indices checked: compiled code trusts them."""
    if "format" not in stored:
        return from_arrays(stored)
    form, shape = stored["format"].item().decode("ascii"), tuple(int(k) for k in stored["shape"])
    if form not in ("csr", "csc", "coo"):
        raise FileError(f"sparse format {form!r}; save it as csr")
    if form == "coo":
        matrix = sp.coo_array((stored["data"], (stored["row"], stored["col"])), shape=shape)
    else:
        make = sp.csr_array if form == "csr" else sp.csc_array
        matrix = make((stored["data"], stored["indices"], stored["indptr"]), shape=shape)
        check_structure(matrix)
    if shape[0] > max(MAX_NODES_WITHOUT_EDGES, matrix.nnz):
        raise FileError(f"{shape[0]} nodes but only {matrix.nnz} entries: is the shape right?")
    return Raw(matrix, kind="clean") if _is_clean(matrix) else Raw(matrix_entries(matrix))


def _is_clean(A: Any) -> bool:
    """Return whether cleaning would return exactly this matrix."""
    if A.format != "csr" or A.dtype != np.float64 or A.shape[0] != A.shape[1]:
        return False
    if not A.indices.dtype == A.indptr.dtype == index_type(A.shape[0], A.nnz) or not A.has_canonical_format:
        return False
    positive = A.data.min(initial=1) > 0 and A.data.max(initial=1) <= LARGEST_WEIGHT
    return bool(positive) and not A.diagonal().any() and _is_symmetric(A)


def _is_symmetric(A: sp.csr_array) -> bool:
    """Return whether A = Aᵀ bit for bit, without building Aᵀ: check Bx = Bᵀx modulo 2⁶⁴ for random x, B the bits of A.

    One differing weight goes unnoticed with a probability of at most 2⁻³⁴. The high bits are folded into the low ones,
    because a product modulo 2⁶⁴ loses high bits.
    """
    bits = A.data.view(np.uint64)
    B = sp.csr_array((bits ^ (bits >> np.uint64(32)), A.indices, A.indptr), shape=A.shape)
    x = np.random.default_rng().integers(2**64, size=A.shape[0], dtype=np.uint64)
    return np.array_equal(B @ x, B.T @ x)


def _describe_edge(i: int, j: int, names: Sequence[Hashable] | None) -> str:
    return f"({i}, {j})" if names is None else f"({names[i]!r}, {names[j]!r})"
