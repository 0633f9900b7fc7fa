"""Compiled steps from cell to cell of a line, and the weight in one: numbers are exactly those that Python reads."""

from __future__ import annotations

import numpy as np

from askgraph.support.jit import jit
from askgraph.types import AnyArray

MAX_CELL_BYTES = 40  # a line with a longer number goes to the general parser
MAX_SPACES = 100  # spaces skipped in a row; a line with more goes to the general parser
EXACT_POWERS = np.array([float(f"1e{k}") for k in range(23)])  # the powers of ten that a float holds exactly


@jit()
def skip_spaces(text: AnyArray, at: int, mark: int) -> int:
    """Return the place after spaces, and after tabs unless they are the delimiter."""
    for k in range(at, min(at + MAX_SPACES, text.size)):
        if not (text[k] == 32 or (text[k] == 9 and mark != 9)):
            return k
    return min(at + MAX_SPACES, text.size)


@jit()
def cell_start(text: AnyArray, at: int, mark: int, column: int) -> int:
    """Return the place where a cell begins, given the place after the cell before it and its spaces, or -1 without a delimiter."""
    if column == 0:
        return at
    if mark < 0:
        return at if text[at - 1] == 32 or text[at - 1] == 9 else -1
    return skip_spaces(text, at + 1, mark) if at < text.size and text[at] == mark else -1


@jit()
def line_end(text: AnyArray, at: int) -> int:
    """Return the place after the line end at this place, or -1 if there is none."""
    if at == text.size:
        return at
    if text[at] == 13 and at + 1 < text.size:
        at += 1
    return at + 1 if text[at] == 10 else -1


@jit()
def parse_weight(text: AnyArray, at: int) -> tuple[float, int]:
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
