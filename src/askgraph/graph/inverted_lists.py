"""Compiled search for the nearest rows of a sparse matrix: candidates by the heaviest entries of each row, then exact products.

For each column the rows that have it among their heaviest entries are listed. A row goes through the lists of its own heaviest
entries, the heaviest first, until it has met about as many rows as it may; the rows with the largest sums of products are its
candidates, and perhaps some that were found otherwise. Of these the k with the largest product of whole rows are kept.
A matrix is given by its starts, places and values, as in ``csr_array``; values are in single precision but for distances.
"""

from __future__ import annotations

import numpy as np

from askgraph.support.jit import jit, jit_inner
from askgraph.types import AnyArray, Array, IntArray

Matrix = tuple[IntArray, AnyArray, AnyArray]
LIGHTEST = 1e-18  # a lighter entry leads to no candidates: products of such entries could be 0 in single precision
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
def search_rows(
    rows: IntArray,
    k: int,
    candidates: int,
    work: int,
    matrix: Matrix,
    heavy: Matrix,
    lists: Matrix,
    dense: AnyArray,
    also: AnyArray,
) -> IntArray:
    """Return the k nearest other rows of each of these rows, -1 where too few rows share a heavy entry with it.

    ``dense`` has further columns of the whole rows, and ``also`` further candidates of each row, or -1.
    """
    n = matrix[0].size - 1
    found = np.full((rows.size, k), -1, dtype=np.int64)
    sums, touched = np.zeros(n, dtype=np.float32), np.empty(n + 1, dtype=np.int32)
    counts, whole = np.empty(BINS, dtype=np.int32), np.zeros(lists[0].size - 1, dtype=np.float32)
    for at in range(rows.size):
        count = _add_up(rows[at], k, work, heavy, lists, sums, touched)
        some = _candidates(rows[at], candidates, touched[:count], sums, counts)
        some = _with_others(rows[at], some, also[rows[at]], sums)
        products = _products(rows[at], some, matrix, dense, whole)
        best = some[np.argsort(-products)][:k]
        found[at, : best.size] = best
    return found


@jit()
def add_up_rows(rows: IntArray, matrix: Matrix, lists: Matrix) -> AnyArray:
    """Return the products of some rows with all rows."""
    n = matrix[0].size - 1
    sums, touched = np.zeros((rows.size, n), dtype=np.float32), np.empty(n + 1, dtype=np.int32)
    for at in range(rows.size):
        _add_up(rows[at], n, 0, matrix, lists, sums[at], touched)
    return sums


@jit_inner()
def _add_up(row: int, least: int, work: int, heavy: Matrix, lists: Matrix, sums: AnyArray, touched: AnyArray) -> int:
    """Add up products of heavy entries with those of all rows; write the rows that share some, and return their number.

    The heaviest entries come first; one whose list is longer than what is left of ``work`` ends it, once there are more than
    ``least`` rows.
    """
    first, last = heavy[0][row], heavy[0][row + 1]
    count, left = 0, work
    for e in first + np.argsort(-heavy[2][first:last]):
        weight, column = heavy[2][e], heavy[1][e]
        start, end = lists[0][column], lists[0][column + 1]
        if count > least and end - start > left:
            break
        left -= end - start
        for entry in range(start, end):
            other = lists[1][entry]
            before = sums[other]
            touched[count] = other  # stays only if the row is new: quicker than a branch that is hard to predict
            count += before == 0.0
            sums[other] = before + weight * lists[2][entry]
    return count


@jit_inner()
def _candidates(row: int, most: int, touched: AnyArray, sums: AnyArray, counts: AnyArray) -> AnyArray:
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
    some, scores, size = np.empty(above, dtype=np.int32), np.empty(above, dtype=np.float32), 0
    for other in touched:
        if sums[other] * BINS >= cut and other != row:
            some[size], scores[size] = other, sums[other]
            size += 1
        sums[other] = 0.0
    some, scores = some[:size], scores[:size]
    return some if size <= most else some[scores >= np.partition(scores, size - most)[size - most]]


@jit_inner()
def _with_others(row: int, some: AnyArray, also: AnyArray, marks: AnyArray) -> AnyArray:
    """Return some rows and those of others that are not among them, each once, without the row itself; ``marks`` stays zero."""
    found, size = np.empty(some.size + also.size, dtype=np.int32), some.size
    found[:size] = some
    for other in some:
        marks[other] = 1.0
    for other in also:
        if other >= 0 and other != row and marks[other] == 0.0:
            marks[other] = 1.0
            found[size] = other
            size += 1
    for other in found[:size]:
        marks[other] = 0.0
    return found[:size]


@jit_inner()
def _products(row: int, others: AnyArray, matrix: Matrix, dense: AnyArray, whole: AnyArray) -> AnyArray:
    """Return the products of a row with others; ``whole`` is zero before and after."""
    starts, places, values = matrix
    for e in range(starts[row], starts[row + 1]):
        whole[places[e]] = values[e]
    products = np.zeros(others.size, dtype=np.float32)
    for c in range(others.size):
        product = np.float32(0.0)
        for e in range(starts[others[c]], starts[others[c] + 1]):
            product += whole[places[e]] * values[e]
        for column in range(dense.shape[1]):
            product += dense[row, column] * dense[others[c], column]
        products[c] = product
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
