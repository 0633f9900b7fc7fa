"""A compiled parser for lines of integer ids and plain weights: numbers are exactly those that Python reads."""

from __future__ import annotations

from askgraph.io.cell_parser import MAX_CELL_BYTES, cell_start, line_end, parse_weight, skip_spaces
from askgraph.support.jit import jit
from askgraph.types import AnyArray, Array, IntArray


@jit()
def _parse_integer(text: AnyArray, at: int) -> tuple[int, int]:
    """Return an integer of up to 18 digits and the place after it, or -1 for anything else, such as +5, 007 and -0."""
    negative = at < text.size and text[at] == 45
    start = at = at + negative
    value = 0
    while at < text.size and at < start + 19 and 48 <= text[at] <= 57:
        value = 10 * value + (text[at] - 48)
        at += 1
    digits = at - start
    if not 0 < digits < 19 or (text[start] == 48 and (digits > 1 or negative)):
        return 0, -1
    return (-value if negative else value), at


@jit("UniTuple(int64, 2)(uint8[::1], int64, int64, int64[:,::1], float64[::1], int64, int64[::1], uint8[:,::1])")
def parse_edges(
    text: AnyArray, mark: int, width: int, ends: IntArray, weights: Array, k: int, deferred: IntArray, words: AnyArray
) -> tuple[int, int]:
    """Write the edges of a text, numbered from k on, into ``ends`` and ``weights``.

    ``mark`` is the delimiter, -1 for white space. Weights that Python has to parse go as text into ``words``, and the
    numbers of their edges into ``deferred``. Returns the number of the next edge, or -1 if a line needs the general
    parser, and the number of deferred weights.
    """
    at, count = 0, 0
    while at < text.size:
        at = skip_spaces(text, at, mark)
        end = line_end(text, at)
        if end >= 0:
            at = end
            continue
        for column in range(width):
            at = start = cell_start(text, at, mark, column)
            if at < 0:
                return -1, 0
            if column < 2:
                ends[column, k], at = _parse_integer(text, at)
            else:
                weights[k], at = parse_weight(text, at)
            if at < 0 or at - start > MAX_CELL_BYTES:
                return -1, 0
            if column == 2 and weights[k] < 0:
                words[count, : at - start] = text[start:at]
                deferred[count] = k
                count += 1
            at = skip_spaces(text, at, mark)
        at = line_end(text, at)
        if at < 0:
            return -1, 0
        k += 1
    return k, count
