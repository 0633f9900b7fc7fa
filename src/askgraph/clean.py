"""Entries of a matrix -> symmetric non-negative weights, and notes on what was done to them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from askgraph.errors import FileError, GraphError
from askgraph.foreign import Raw, counted
from askgraph.types import AnyArray, IntArray

Symmetrize = Literal["mean", "max", "sum"]
ROUNDOFF = 1e-12  # two mirrored weights this close, relative, are one weight
HUGE = 1e300  # larger weights would not add up


def cleaned(
    raw: Raw, names: tuple[Hashable, ...] | None, how: Symmetrize | None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Checked and symmetric, without loops, zeros and repeats, and what was done."""
    W, n, notes = raw.weights, raw.weights.shape[0], []
    _check_values(W, names)
    loop, zero = W.row == W.col, W.data == 0
    for bad, what in ((loop & ~zero, "self-loop"), (~loop & zero, "zero weight")):
        if bad.any():
            notes.append(f"dropped {counted(int(np.count_nonzero(bad)), what)}")
    keep, kind = ~(loop | zero), np.int32 if max(n, 2 * W.nnz) < 2**31 else np.int64
    D = sp.csr_array((W.data[keep], (W.row[keep].astype(kind), W.col[keep].astype(kind))), shape=(n, n))
    if repeated := np.count_nonzero(keep) - D.nnz:
        notes.append(f"added up {counted(repeated, 'repeated edge')}")
    S, more = _listed(D, how) if raw.kind == "edges" else _mirrored(D, raw.kind, how, names)
    return S, (*notes, *more)


def _check_values(W: sp.coo_array, names: tuple[Hashable, ...] | None) -> None:
    bad = np.flatnonzero(~((W.data >= 0) & (W.data <= HUGE)))
    if bad.size:
        where, w = _edge(W.row[bad[0]], W.col[bad[0]], names), W.data[bad[0]]
        advice = "drop it, or use abs(w) or max(w, 0)" if -HUGE < w < 0 else "drop the edge or mend it"
        many = f" ({bad.size} such weights in all)" if bad.size > 1 else ""
        raise GraphError(f"edge {where} has weight {w}{many}: weights are finite and ≥ 0; {advice}")


def _mirrored(
    D: sp.csr_array, kind: str, how: Symmetrize | None, names: tuple[Hashable, ...] | None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """A matrix made symmetric, and how."""
    T = D.T.tocsr()
    if all(np.array_equal(getattr(D, part), getattr(T, part)) for part in ("indptr", "indices", "data")):
        return D, ()
    i, j = _unlike(D, T)
    if i.size == 0:
        return (D + T) * 0.5, ()
    if kind == "matrix" and how is None:
        there, back = D[i[0], j[0]], D[j[0], i[0]]
        raise GraphError(
            f"weights are not symmetric: {i.size} of {D.nnz + T.nnz} entries differ from their mirror, first "
            f'{_edge(i[0], j[0], names)} with {there} there and {back} back; pass symmetrize="max" (or "mean", "sum")'
        )
    formula = {"mean": "(W + W^T)/2", "max": "max(W, W^T)", "sum": "W + W^T"}[how or "mean"]
    note = f"{'directed' if kind == 'directed' else 'asymmetric'} input: symmetrised as {formula}"
    return D.maximum(T) if how == "max" else (D + T) * (1.0 if how == "sum" else 0.5), (note,)


def _unlike(D: sp.csr_array, T: sp.csr_array) -> tuple[IntArray, IntArray]:
    """Where a weight and its mirror differ by more than roundoff, of the weight or of a product that gave its row."""
    M = D.maximum(T)
    excess, row = (abs(D - T) - ROUNDOFF * M).tocoo(), M.max(axis=1).toarray().ravel()
    bad = excess.data > 8 * np.finfo(float).eps * np.minimum(row[excess.row], row[excess.col])
    return excess.row[bad], excess.col[bad]


def _listed(D: sp.csr_array, how: Symmetrize | None) -> tuple[sp.csr_array, tuple[str, ...]]:
    """An edge list made symmetric: one direction is enough; where both came, they are one edge."""
    T = D.T.tocsr()
    S, M, ways = D + T, D.maximum(T), (D.sign() + T.sign()).data
    both = int(np.count_nonzero(ways == 2)) // 2
    differ = both if how == "sum" else int(np.count_nonzero((ways == 2) & (M.data * 2 != S.data))) // 2
    if how in (None, "mean"):
        S.data /= ways
    notes = [f"counted once {counted(both - differ, 'edge')} listed in both directions"] if both > differ else []
    if differ:
        notes.append(f"took the {how or 'mean'} for {counted(differ, 'edge')} listed in both directions")
    return M if how == "max" else S, tuple(notes)


def stored_matrix(stored: dict[str, AnyArray]) -> Any:
    """The matrix of a ``save_npz`` file, checked: scipy's compiled code trusts its indices."""
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
    return matrix


def _edge(i: int, j: int, names: tuple[Hashable, ...] | None) -> str:
    return f"({i}, {j})" if names is None else f"({names[i]!r}, {names[j]!r})"
