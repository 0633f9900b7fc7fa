"""Compiled search for the nearest rows of a sparse matrix: candidates by the heaviest entries of each row, then exact products.

For each column the rows that have it among their heaviest entries are listed. A row's candidates are the rows that its own
heaviest entries lead to, the largest sums of products first; of these the k with the largest product of whole rows are kept.
A matrix is given by its starts, places and values, as in ``csr_array``.
"""

from __future__ import annotations

import numpy as np

from askgraph.support.jit import jit, jit_inner
from askgraph.types import AnyArray, Array, IntArray

Matrix = tuple[IntArray, AnyArray, Array]
LIGHTEST = 1e-150  # a lighter entry leads to no candidates: products of such entries could be 0
BINS = 4096  # of equal width from 0 to 1, into which sums of products are counted


@jit()
def mark_heaviest(starts: IntArray, values: Array, keep: int) -> AnyArray:
    """Return for each entry whether it is among the ``keep`` largest of its row."""
    kept = np.zeros(values.size, dtype=np.bool_)
    for row in range(starts.size - 1):
        first, last = starts[row], starts[row + 1]
        least = LIGHTEST
        if last - first > keep:
            least = max(least, np.partition(values[first:last], last - first - keep)[last - first - keep])
        for at in range(first, last):
            kept[at] = values[at] >= least
    return kept


@jit()
def search_rows(rows: IntArray, k: int, candidates: int, matrix: Matrix, heavy: Matrix, lists: Matrix) -> IntArray:
    """Return the k nearest other rows of each of these rows, -1 where too few rows share a heavy entry with it."""
    n = matrix[0].size - 1
    found = np.full((rows.size, k), -1, dtype=np.int64)
    sums, touched, counts = np.zeros(n), np.empty(n + 1, dtype=np.int32), np.empty(BINS, dtype=np.int64)
    whole = np.zeros(lists[0].size - 1)
    for at in range(rows.size):
        count = _add_up(rows[at], heavy, lists, sums, touched)
        some = _candidates(rows[at], candidates, touched[:count], sums, counts)
        products = _products(rows[at], some, matrix, whole)
        best = some[np.argsort(-products)][:k]
        found[at, : best.size] = best
    return found


@jit_inner()
def _add_up(row: int, heavy: Matrix, lists: Matrix, sums: Array, touched: AnyArray) -> int:
    """Add up products of heavy entries with those of all rows; write the rows that share some, and return their number."""
    count = 0
    for e in range(heavy[0][row], heavy[0][row + 1]):
        weight, column = heavy[2][e], heavy[1][e]
        for entry in range(lists[0][column], lists[0][column + 1]):
            other = lists[1][entry]
            before = sums[other]
            touched[count] = other  # stays only if the row is new: quicker than a branch that is hard to predict
            count += before == 0.0
            sums[other] = before + weight * lists[2][entry]
    return count


@jit_inner()
def _candidates(row: int, most: int, touched: AnyArray, sums: Array, counts: IntArray) -> AnyArray:
    """Return about ``most`` other rows, those with the largest sums; ``sums`` is zero afterwards.

    Rows are counted by their sums first, so that only those near the largest are sorted out exactly.
    """
    counts[:] = 0
    for other in touched:
        counts[min(int(sums[other] * BINS), BINS - 1)] += 1
    cut, above = BINS, 0
    while cut > 0 and above <= most:  # one more than needed, for the row itself is counted too
        cut -= 1
        above += counts[cut]
    some, scores, size = np.empty(above, dtype=np.int32), np.empty(above), 0
    for other in touched:
        if sums[other] * BINS >= cut and other != row:
            some[size], scores[size] = other, sums[other]
            size += 1
        sums[other] = 0.0
    some, scores = some[:size], scores[:size]
    return some if size <= most else some[scores >= np.partition(scores, size - most)[size - most]]


@jit_inner()
def _products(row: int, others: AnyArray, matrix: Matrix, whole: Array) -> Array:
    """Return the products of a row with others; ``whole`` is zero before and after."""
    starts, places, values = matrix
    for e in range(starts[row], starts[row + 1]):
        whole[places[e]] = values[e]
    products = np.zeros(others.size)
    for c in range(others.size):
        for e in range(starts[others[c]], starts[others[c] + 1]):
            products[c] += whole[places[e]] * values[e]
    for e in range(starts[row], starts[row + 1]):
        whole[places[e]] = 0.0
    return products


@jit(reorder=False)
def row_distances(rows: IntArray, found: IntArray, starts: IntArray, places: AnyArray, values: Array) -> Array:
    """Return the distances of rows to others, from differences, so that nothing cancels; places are sorted within a row."""
    distances = np.zeros((rows.size, found.shape[1]))
    for at in range(rows.size):
        for c in range(found.shape[1]):
            i, end = starts[rows[at]], starts[rows[at] + 1]
            j, other_end = starts[found[rows[at], c]], starts[found[rows[at], c] + 1]
            square = 0.0
            while i < end or j < other_end:
                gap = 0.0
                first = i < end and (j == other_end or places[i] <= places[j])
                second = j < other_end and (i == end or places[j] <= places[i])
                if first:
                    gap += values[i]
                    i += 1
                if second:
                    gap -= values[j]
                    j += 1
                square += gap * gap
            distances[at, c] = np.sqrt(square)
    return distances
