"""Numbers and lists in words, for messages."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from difflib import get_close_matches


def counted(k: int, word: str) -> str:
    """Return a number and its noun.

    >>> counted(1, "node"), counted(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{k} {word}" if k == 1 else f"{k} {word}s"


def brief(number: float, sign: str = "") -> str:
    """Return a number in three digits, written out unless it is huge or tiny; ``sign`` is that of a format, such as "+".

    >>> brief(3128.4), brief(0.0512345), brief(12.0, "+"), brief(2.5e19)
    ('3,130', '0.0512', '+12', '2.5e+19')
    """
    return f"{float(f'{number:.3g}'):{sign},.15g}"


def as_wide(low: float, high: float) -> tuple[float, float]:
    """Return the ends of a range, rounded to two digits of its width.

    >>> as_wide(179.6431, 258.1), as_wide(1234567.0, 1234999.0)
    ((180.0, 258.0), (1234570.0, 1235000.0))
    """
    digits = 1 - math.floor(math.log10(high - low)) if high > low else 12
    return round(low, digits), round(high, digits)


def few(items: Sequence[object]) -> str:
    """Return the first five items of a list, and how many there are if there are more.

    >>> few("abcdefgh")
    "'a', 'b', 'c', 'd', 'e', … (8 in all)"
    """
    return ", ".join(map(repr, items[:5])) + (f", … ({len(items)} in all)" if len(items) > 5 else "")


def nearest(word: str, names: Sequence[str]) -> str | None:
    """Return the name that a word is most like, whatever the case of its letters; None if it is like none.

    >>> nearest("lable", ["label", "relabel"]), nearest("americas", ["Asia", "Americas"]), nearest("x", ["label"])
    ('label', 'Americas', None)
    """
    folded = {name.casefold(): name for name in reversed(names)}
    found = get_close_matches(word.casefold(), list(folded), n=1)
    return folded[found[0]] if found else None


def kind_and_size(value: object) -> str:
    """Return what a value is, without its content: its type, and its shape and numbers or its length if it has some.

    >>> kind_and_size([1.0] * 119), kind_and_size(3), kind_and_size(None)
    ('a list of length 119', 'an object of type int', 'None')
    """
    if value is None:
        return "None"
    name, shape = type(value).__name__, getattr(value, "shape", None)
    if shape is not None:
        return f"an array of shape {shape} and type {getattr(value, 'dtype', name)}"
    return f"a {name} of length {len(value)}" if isinstance(value, Sized) else f"an object of type {name}"
