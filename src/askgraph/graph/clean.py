"""Entries of a matrix -> symmetric non-negative weights, and notes on what was done to them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from askgraph.errors import FileError, GraphError
from askgraph.graph.sources import Raw, counted, edge_arrays, entries, index_type
from askgraph.types import AnyArray, IntArray

Symmetrize = Literal["mean", "max", "sum"]
ROUNDOFF = 1e-12  # two mirrored weights this close, relative, are one weight
HUGE = 1e300  # larger weights would not add up
BLOCK = 2**21  # entries that are compared at a time


def cleaned(
    raw: Raw, names: tuple[Hashable, ...] | None, how: Symmetrize | None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Checked and symmetric, without loops, zeros and repeats, and what was done."""
    if raw.kind == "clean":
        return raw.weights, ()
    check_values(raw.weights, names)
    D, notes = _added_up(raw.weights)
    S, more = _listed(D, how) if raw.kind == "edges" else _mirrored(D, raw.kind, how, names)
    return S, (*notes, *more)


def _added_up(W: sp.coo_array) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Each entry once, without loops and zeros, and what was done."""
    loop, zero = W.row == W.col, W.data == 0
    loops, zeros = (int(np.count_nonzero(bad)) for bad in (loop & ~zero, zero & ~loop))
    drop, kind = loop | zero, index_type(W.shape[0], W.nnz)
    data, row, col = (part[~drop] if drop.any() else part for part in (W.data, W.row, W.col))
    D = sp.csr_array((data, (row.astype(kind, copy=False), col.astype(kind, copy=False))), shape=W.shape)
    return D, adding_notes(loops, zeros, data.size - D.nnz)


def adding_notes(loops: int, zeros: int, repeated: int) -> tuple[str, ...]:
    """What was done to make each entry come once."""
    notes = [f"dropped {counted(k, what)}" for k, what in ((loops, "self-loop"), (zeros, "zero weight")) if k]
    return (*notes, f"added up {counted(repeated, 'repeated edge')}") if repeated else tuple(notes)


def check_values(W: sp.coo_array, names: Sequence[Hashable] | None) -> None:
    """Refuse weights that are negative, missing or too large."""
    if W.data.min(initial=0) >= 0 and W.data.max(initial=0) <= HUGE:
        return
    bad = np.flatnonzero(~((W.data >= 0) & (W.data <= HUGE)))
    where, w = _edge(W.row[bad[0]], W.col[bad[0]], names), W.data[bad[0]]
    advice = "drop it, or use abs(w) or max(w, 0)" if -HUGE < w < 0 else "drop the edge or mend it"
    many = f" ({bad.size} such weights in all)" if bad.size > 1 else ""
    raise GraphError(f"edge {where} has weight {w}{many}: weights are finite and ≥ 0; {advice}")


def _mirrored(
    D: sp.csr_array, kind: str, how: Symmetrize | None, names: tuple[Hashable, ...] | None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """A matrix made symmetric, and how."""
    T = D.T.tocsr()
    if _same(D, T):
        return D, ()
    i, j = _unlike(D, T)
    if i.size == 0:
        return _scaled(D + T, 0.5), ()
    if kind == "matrix" and how is None:
        there, back = D[i[0], j[0]], D[j[0], i[0]]
        raise GraphError(
            f"weights are not symmetric: {i.size} of {D.nnz + T.nnz} entries differ from their mirror, first "
            f'{_edge(i[0], j[0], names)} with {there} there and {back} back; pass symmetrize="max" (or "mean", "sum")'
        )
    formula = {"mean": "(W + W^T)/2", "max": "max(W, W^T)", "sum": "W + W^T"}[how or "mean"]
    note = f"{'directed' if kind == 'directed' else 'asymmetric'} input: symmetrised as {formula}"
    return D.maximum(T) if how == "max" else _scaled(D + T, 1.0 if how == "sum" else 0.5), (note,)


def _same(D: sp.csr_array, T: sp.csr_array) -> bool:
    return all(np.array_equal(getattr(D, part), getattr(T, part)) for part in ("indptr", "indices", "data"))


def _scaled(S: sp.csr_array, factor: float) -> sp.csr_array:
    S.data *= factor
    return S


def _unlike(D: sp.csr_array, T: sp.csr_array) -> tuple[IntArray, IntArray]:
    """Where a weight and its mirror differ by more than roundoff, of the weight or of a product that gave its row."""
    largest = np.maximum(*(A.max(axis=1).toarray().ravel() for A in (D, T)))
    found, step = [], max(1, D.shape[0] * BLOCK // max(D.nnz, 1))
    for start in range(0, D.shape[0], step):
        d, t = D[start : start + step], T[start : start + step]
        excess = (abs(d - t) - ROUNDOFF * d.maximum(t)).tocoo()
        i, j = excess.row + start, excess.col
        bad = excess.data > 8 * np.finfo(float).eps * np.minimum(largest[i], largest[j])
        found.append((i[bad], j[bad]))
    i, j = (np.concatenate(side) for side in zip(*found, strict=True))
    return i, j


def _listed(D: sp.csr_array, how: Symmetrize | None) -> tuple[sp.csr_array, tuple[str, ...]]:
    """An edge list made symmetric: one direction is enough; where both came, they are one edge."""
    T = D.T.tocsr()
    if how != "sum" and D.nnz and _same(D, T):
        return D, listing_notes(D.nnz // 2, 0, how)
    S, both, differ = joined(D, T, how)
    return S, listing_notes(both // 2, differ // 2, how)


def joined(D: sp.csr_array, T: sp.csr_array, how: Symmetrize | None) -> tuple[sp.csr_array, int, int]:
    """Entries as listed and their mirrors, over some rows or all: how many came both ways, and of these, how many differ."""
    S = D + T
    if S.nnz == D.nnz + T.nnz:
        return S, 0, 0
    twice = (_counts(D) + _counts(T)).data == 2
    common = _counts(D).multiply(_counts(T))
    largest = np.maximum(D.multiply(common).data, T.multiply(common).data)
    differ = largest.size if how == "sum" else int(np.count_nonzero(largest * 2 != S.data[twice]))
    if how != "sum":
        S.data[twice] = largest if how == "max" else S.data[twice] / 2
    return S, largest.size, differ


def listing_notes(both: int, differ: int, how: Symmetrize | None) -> tuple[str, ...]:
    """What was done with edges that were listed in both directions."""
    notes = [f"counted once {counted(both - differ, 'edge')} listed in both directions"] if both > differ else []
    if differ:
        notes.append(f"took the {how or 'mean'} for {counted(differ, 'edge')} listed in both directions")
    return tuple(notes)


def _counts(A: sp.csr_array) -> sp.csr_array:
    """A one for every entry, in a byte."""
    return sp.csr_array((np.ones(A.nnz, dtype=np.int8), A.indices, A.indptr), shape=A.shape)


def stored_entries(stored: dict[str, AnyArray]) -> Raw:
    """The entries of a ``save_npz`` file (or its edges), the indices checked: compiled code trusts them."""
    if "format" not in stored:
        return edge_arrays(stored)
    form, shape = stored["format"].item().decode("ascii"), tuple(int(k) for k in stored["shape"])
    if form not in ("csr", "csc", "coo"):
        raise FileError(f"sparse format {form!r}; save it as csr")
    if form == "coo":
        matrix = sp.coo_array((stored["data"], (stored["row"], stored["col"])), shape=shape)
    else:
        make = sp.csr_array if form == "csr" else sp.csc_array
        matrix = make((stored["data"], stored["indices"], stored["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
    if shape[0] > max(10_000_000, matrix.nnz):
        raise FileError(f"{shape[0]} nodes but only {matrix.nnz} entries: is the shape right?")
    return Raw(matrix, kind="clean") if _is_clean(matrix) else Raw(entries(matrix))


def _is_clean(A: Any) -> bool:
    """Whether cleaning would give this very matrix back."""
    if A.format != "csr" or A.dtype != np.float64 or A.shape[0] != A.shape[1]:
        return False
    if not A.indices.dtype == A.indptr.dtype == index_type(A.shape[0], A.nnz) or not A.has_canonical_format:
        return False
    positive = A.data.min(initial=1) > 0 and A.data.max(initial=1) <= HUGE
    return bool(positive) and not A.diagonal().any() and _is_symmetric(A)


def _is_symmetric(A: sp.csr_array) -> bool:
    """Whether A = Aᵀ bit for bit, told without making Aᵀ: by Bx = Bᵀx modulo 2⁶⁴ for random x, B the bits of A.

    One differing weight passes with a chance of 2⁻³⁴ at most: the high bits are folded into the low ones, as a product
    tells numbers apart by their low bits.
    """
    bits = A.data.view(np.uint64)
    B = sp.csr_array((bits ^ (bits >> np.uint64(32)), A.indices, A.indptr), shape=A.shape)
    x = np.random.default_rng().integers(2**64, size=A.shape[0], dtype=np.uint64)
    return np.array_equal(B @ x, B.T @ x)


def _edge(i: int, j: int, names: Sequence[Hashable] | None) -> str:
    return f"({i}, {j})" if names is None else f"({names[i]!r}, {names[j]!r})"
