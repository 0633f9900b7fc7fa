"""Lines of integer ids and plain weights -> numbers, compiled: what is taken is read exactly as Python reads it."""

from __future__ import annotations

import numpy as np

from askgraph.support.jit import compiled
from askgraph.types import AnyArray, Array, IntArray

WORD = 40  # bytes of a weight that is left to Python
GAP = 100  # spaces in a row
EXACT = np.array([float(f"1e{k}") for k in range(23)])  # the powers of ten that a float holds exactly


@compiled()
def _after_spaces(text: AnyArray, at: int, mark: int) -> int:
    for k in range(at, min(at + GAP, text.size)):
        if not (text[k] == 32 or (text[k] == 9 and mark != 9)):
            return k
    return min(at + GAP, text.size)


@compiled()
def _line_end(text: AnyArray, at: int) -> int:
    """The place after a line end that is here, or -1."""
    if at == text.size:
        return at
    if text[at] == 13 and at + 1 < text.size:
        at += 1
    return at + 1 if text[at] == 10 else -1


@compiled()
def _integer(text: AnyArray, at: int) -> tuple[int, int]:
    """An integer of up to 18 digits, with neither +5 nor 007 nor -0, and the place after it, or -1."""
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


@compiled()
def _weight(text: AnyArray, at: int) -> tuple[float, int]:
    """A decimal number without sign and the place after it, or -1; where a product would round twice, -1.0."""
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
    return (value * EXACT[power] if power >= 0 else value / EXACT[-power]), at


@compiled("UniTuple(int64, 2)(uint8[::1], int64, int64, int64[:,::1], float64[::1], int64, int64[::1], uint8[:,::1])")
def parse_edges(
    text: AnyArray, mark: int, width: int, ends: IntArray, weights: Array, k: int, left: IntArray, words: AnyArray
) -> tuple[int, int]:
    """Edges from number k on into ``ends`` and ``weights``: the next number (or -1 for lines that are not so plain).

    ``mark`` stands between the cells, -1 for white space. Weights that are left to Python go as text into ``words``,
    their edges' numbers into ``left``; the second result says how many.
    """
    at, many = 0, 0
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
                ends[column, k], at = _integer(text, at)
            else:
                weights[k], at = _weight(text, at)
            if at < 0 or at - start > WORD:
                return -1, 0
            if column == 2 and weights[k] < 0:
                words[many, : at - start] = text[start:at]
                left[many] = k
                many += 1
            at = _after_spaces(text, at, mark)
        at = _line_end(text, at)
        if at < 0:
            return -1, 0
        k += 1
    return k, many
