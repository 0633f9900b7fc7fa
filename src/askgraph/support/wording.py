"""Numbers and lists in words, for messages."""

from __future__ import annotations

from collections.abc import Sequence


def counted(k: int, word: str) -> str:
    """Return a number and its noun.

    >>> counted(1, "node"), counted(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{k} {word}" if k == 1 else f"{k} {word}s"


def few(items: Sequence[object]) -> str:
    """Return the first five items of a list, and how many there are if there are more.

    >>> few("abcdefgh")
    "'a', 'b', 'c', 'd', 'e', … (8 in all)"
    """
    return ", ".join(map(repr, items[:5])) + (f", … ({len(items)} in all)" if len(items) > 5 else "")
