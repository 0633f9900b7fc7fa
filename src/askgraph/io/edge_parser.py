"""A compiled parser for lines of integer ids and plain weights: numbers are exactly those that Python reads."""

from __future__ import annotations

import numpy as np

from askgraph.support.jit import jit
from askgraph.types import AnyArray, Array, IntArray

MAX_CELL_BYTES = 40  # a line with a longer cell goes to the general parser
MAX_SPACES = 100  # spaces skipped in a row; a line with more goes to the general parser
EXACT_POWERS = np.array([float(f"1e{k}") for k in range(23)])  # the powers of ten that a float holds exactly


@jit()
def _after_spaces(text: AnyArray, at: int, mark: int) -> int:
    for k in range(at, min(at + MAX_SPACES, text.size)):
        if not (text[k] == 32 or (text[k] == 9 and mark != 9)):
            return k
    return min(at + MAX_SPACES, text.size)


@jit()
def _line_end(text: AnyArray, at: int) -> int:
    """Return the place after the line end at this place, or -1 if there is none."""
    if at == text.size:
        return at
    if text[at] == 13 and at + 1 < text.size:
        at += 1
    return at + 1 if text[at] == 10 else -1


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


@jit()
def _parse_weight(text: AnyArray, at: int) -> tuple[float, int]:
    """Return a decimal number without sign and the place after it, or -1 for anything else.

    The number is -1.0 where computing it here would round twice: Python has to parse that one.
    """
    value, digits, fraction, power, falls = 0, 0, -1, 0, False
    while at < text.size and (48 <= text[at] <= 57 or (text[at] == 46 and fraction < 0)):
        if text[at] == 46:
            fraction = digits
        else:
            value = 10 * value + (text[at] - 48) if value < 10**15 else 2**60
            digits += 1
        at += 1
    power = fraction - digits if fraction >= 0 else 0
    if digits and at < text.size and text[at] in (69, 101):
        at += 1
        if at < text.size and text[at] in (43, 45):
            falls = text[at] == 45
            at += 1
        start, shift = at, 0
        while at < text.size and 48 <= text[at] <= 57:
            shift = min(10 * shift + (text[at] - 48), 10**6)
            at += 1
        digits, power = digits if at > start else 0, power - shift if falls else power + shift
    if not digits:
        return 0.0, -1
    if value > 2**53 or abs(power) > 22:
        return -1.0, at
    return (value * EXACT_POWERS[power] if power >= 0 else value / EXACT_POWERS[-power]), at


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
        at = _after_spaces(text, at, mark)
        end = _line_end(text, at)
        if end >= 0:
            at = end
            continue
        for column in range(width):
            if column:
                if mark < 0 and not (text[at - 1] == 32 or text[at - 1] == 9):
                    return -1, 0
                if mark >= 0:
                    if at == text.size or text[at] != mark:
                        return -1, 0
                    at = _after_spaces(text, at + 1, mark)
            start = at
            if column < 2:
                ends[column, k], at = _parse_integer(text, at)
            else:
                weights[k], at = _parse_weight(text, at)
            if at < 0 or at - start > MAX_CELL_BYTES:
                return -1, 0
            if column == 2 and weights[k] < 0:
                words[count, : at - start] = text[start:at]
                deferred[count] = k
                count += 1
            at = _after_spaces(text, at, mark)
        at = _line_end(text, at)
        if at < 0:
            return -1, 0
        k += 1
    return k, count
