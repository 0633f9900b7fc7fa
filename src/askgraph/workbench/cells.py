"""Read single cells of a table: numbers, gaps, one line of text, what a project can store."""

from __future__ import annotations

import html
import json
import math
import re
import sys
import unicodedata
from typing import Any

from askgraph.io.text import MISSING, is_number, plain_numbers

YES_AND_NO = (("true", "false"), ("yes", "no"), ("ja", "nein"), ("wahr", "falsch"))  # of a column of two values

JOINERS = "\u200c\u200d"  # which some scripts and emoji need between two characters
BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and marks that cannot be seen
BARE_ENTITY = re.compile(
    r"((?<!&)#\d{2,4}|(?<![&\w#])(?:amp|quot|lt|gt|nbsp));"
)  # one that lost its ampersand on the way


def readable(text: str) -> str:
    """Return a text as people read it: entities of HTML decoded, also those that lost their ampersand.

    >>> readable("AT&amp;T #39;s shares"), readable("a;b")
    ("AT&T 's shares", 'a;b')
    """
    return html.unescape(BARE_ENTITY.sub(r"&\1;", text)) if ";" in text else text


def is_numeric(cells: list[Any]) -> bool:
    """Return whether every cell is a number or means that there is none, and some are numbers."""
    if plain_numbers(cells) is not None:
        return True
    some = False
    for cell in cells:
        if number(cell) is not None:
            some = True
        elif not is_missing(cell):
            return False
    return some


def is_missing(cell: Any) -> bool:
    """Return whether a cell is empty or says that the number is missing."""
    return cell is None or (isinstance(cell, str) and (not (word := cell.strip()) or word.lower() in MISSING))


def number(cell: Any) -> float | None:
    """Return a cell as a finite float, or None."""
    if isinstance(cell, str):
        cell = float(cell) if is_number(cell) else None
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not abs(cell) <= sys.float_info.max:
        return None
    return float(cell)


def truths(cells: list[Any]) -> list[float | None] | None:
    """Return 1 for yes, 0 for no and None for gaps; None unless a column holds both of one pair and nothing else.

    >>> truths([True, None, False]), truths(["Ja", "NEIN", "n/a"]), truths(["yes", "nein"])
    ([1.0, None, 0.0], [1.0, 0.0, None], None)
    """
    words: list[str | None] = []
    found: set[str] = set()
    for cell in cells:
        word = None if is_missing(cell) else str(cell).strip().casefold()
        words.append(word)
        if word is not None:
            found.add(word)
        if len(found) > 2:
            return None
    pair = next((pair for pair in YES_AND_NO if found == set(pair)), None)
    return None if pair is None else [None if word is None else float(word == pair[0]) for word in words]


def one_line(cell: Any) -> str | None:
    """Return a cell as one line of text that can be stored and typed; None for an empty cell.

    >>> one_line("  two  words "), one_line(7), one_line(" ")
    ('two words', '7', None)
    """
    line = " ".join(str(cell).split()) if cell is not None else ""
    return line.encode(errors="replace").decode().replace("\0", "?") or None


def one_name(cell: Any) -> str | None:
    """Return a cell as the name of a class or a person: one line, its accents composed; None for an empty cell.

    >>> one_name(" cafe\u0301  noir") == "caf\u00e9 noir"
    True
    """
    line = one_line(cell)
    return None if line is None else unicodedata.normalize("NFC", line)


def find_invisible(name: str) -> str | None:
    """Return what to call the first character of a name that nobody sees, or None.

    A joiner is seen by its effect between two characters beyond ASCII.

    >>> find_invisible("spam\u200b"), find_invisible("\u0915\u094d\u200d\u0937")
    ('U+200B (ZERO WIDTH SPACE)', None)
    """
    for before, character, after in zip(f" {name}", name, f"{name[1:]} ", strict=False):
        if character in JOINERS and not before.isascii() and not after.isascii():
            continue
        if unicodedata.category(character) in ("Cc", "Cf") or character in BLANKS:
            return f"U+{ord(character):04X} ({unicodedata.name(character, 'a control character')})"
    return None


def is_storable(text: str) -> bool:
    """Return whether SQLite can store this text."""
    try:
        text.encode()
        return "\0" not in text
    except UnicodeEncodeError:
        return False


def to_stored(cell: Any) -> Any:
    """Return a cell as it is stored: text and numbers unchanged, lists and objects as JSON, anything else as text."""
    if isinstance(cell, str) and cell.isascii():
        return cell
    if cell is None or isinstance(cell, bool | int) or (isinstance(cell, float) and math.isfinite(cell)):
        return cell
    nested = isinstance(cell, list | tuple | dict)
    kept = json.dumps(cell, ensure_ascii=False, default=str) if nested else str(cell)
    return kept.encode(errors="replace").decode()
