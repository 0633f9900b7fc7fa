"""Compiled search for the nearest rows of a sparse matrix: candidates by the heaviest entries of each row, then exact products.

For each column the rows that have it among their heaviest entries are listed. A row's candidates are the rows that its own
heaviest entries lead to, the largest sums of products first; of these the k with the largest product of whole rows are kept.
A matrix is given by its starts, places and values, as in ``csr_array``.
"""

from __future__ import annotations

import numpy as np

from askgraph.support.jit import jit
from askgraph.types import AnyArray, Array, IntArray

Matrix = tuple[IntArray, IntArray, Array]


@jit()
def mark_heaviest(starts: IntArray, values: Array, keep: int) -> AnyArray:
    """Return for each entry whether it is among the ``keep`` largest of its row."""
    kept = np.zeros(values.size, dtype=np.bool_)
    for row in range(starts.size - 1):
        first, last = starts[row], starts[row + 1]
        least = -np.inf if last - first <= keep else np.sort(values[first:last])[last - first - keep]
        for at in range(first, last):
            kept[at] = values[at] >= least
    return kept


@jit()
def search_rows(rows: IntArray, k: int, candidates: int, matrix: Matrix, heavy: Matrix, lists: Matrix) -> IntArray:
    """Return the k nearest other rows of each of these rows, -1 where too few rows share a heavy entry with it."""
    found = np.full((rows.size, k), -1, dtype=np.int64)
    sums, touched = np.zeros(matrix[0].size - 1), np.empty(matrix[0].size - 1, dtype=np.int64)
    whole = np.zeros(lists[0].size - 1)
    for at in range(rows.size):
        some = _candidates(rows[at], candidates, heavy, lists, sums, touched)
        products = _products(rows[at], some, matrix, whole)
        best = some[np.argsort(-products)][:k]
        found[at, : best.size] = best
    return found


@jit()
def _candidates(row: int, most: int, heavy: Matrix, lists: Matrix, sums: Array, touched: IntArray) -> IntArray:
    """Return about ``most`` other rows, those with the largest sums over heavy entries; ``sums`` is zero before and after."""
    count = 0
    for e in range(heavy[0][row], heavy[0][row + 1]):
        column = heavy[1][e]
        for entry in range(lists[0][column], lists[0][column + 1]):
            other = lists[1][entry]
            if other != row:
                if sums[other] == 0.0:
                    touched[count] = other
                    count += 1
                sums[other] += heavy[2][e] * lists[2][entry]
    some = touched[:count].copy()
    scores = sums[some]
    sums[some] = 0.0
    return some if count <= most else some[scores >= np.partition(scores, count - most)[count - most]]


@jit()
def _products(row: int, others: IntArray, matrix: Matrix, whole: Array) -> Array:
    """Return the products of a row with others; ``whole`` is zero before and after."""
    starts, places, values = matrix
    mine = slice(starts[row], starts[row + 1])
    whole[places[mine]] = values[mine]
    products = np.zeros(others.size)
    for c in range(others.size):
        for e in range(starts[others[c]], starts[others[c] + 1]):
            products[c] += whole[places[e]] * values[e]
    whole[places[mine]] = 0.0
    return products
