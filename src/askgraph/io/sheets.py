"""What the readers of spreadsheets share: a sheet, its cells as plain values, and limits on what a file may unpack to."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from askgraph.errors import SettingError
from askgraph.io.packed import Budget
from askgraph.io.text import FilePath
from askgraph.support.wording import few

MAX_LETTERS, MAX_DIGITS = 3, 7  # of the last cell of the largest sheets, XFD1048576


class Sheet(NamedTuple):
    """One sheet of a spreadsheet."""

    names: tuple[str, ...]  # of all sheets
    name: str
    rows: dict[int, list[Any]]  # those that are not empty, by their numbers from 1; None is an empty cell
    merged: list[
        tuple[int, int, int]
    ]  # first and last row, from 1, and first column, from 0, of cells merged over rows
    errors: int  # cells that hold an error such as #N/A
    budget: Budget  # what is left of it, for the table


def choose_sheet(path: FilePath, names: tuple[str, ...], wanted: str | None) -> str:
    """Return the sheet of this name, by default the first; raise an error that names all if there is none."""
    if wanted is None and names:
        return names[0]
    if wanted not in names:
        raise SettingError(f"{path}: no sheet {wanted!r}; its sheets are {few(names)}")
    return str(wanted)


def column_letters(k: int) -> str:
    """Return how spreadsheets call the k-th column, from 0.

    >>> column_letters(0), column_letters(25), column_letters(26), column_letters(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    letters = ""
    while k >= 0:
        k, last = k // 26 - 1, k % 26
        letters = chr(65 + last) + letters
    return letters


def column_number(letters: bytes) -> int:
    """Return the number of a column, from 1, by its letters.

    >>> column_number(b"A"), column_number(b"aa"), column_number(b"XFD")
    (1, 27, 16384)
    """
    if len(letters) > MAX_LETTERS:
        raise ValueError(f"a cell in a column with {len(letters):,} letters, where {MAX_LETTERS} are the most")
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def row_number(digits: bytes) -> int:
    """Return the number of a row, from 1, by its digits.

    >>> row_number(b"1048576")
    1048576
    """
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a cell in a row with {len(digits):,} digits, where {MAX_DIGITS} are the most")
    return int(digits)


def plain(cell: Any) -> Any:
    """Return a cell as text, a number or a truth value; None if it is empty.

    >>> plain(3.0), plain(" a "), plain(" "), plain(date(2024, 3, 1)), plain(datetime(2024, 3, 1, 12, 30))
    (3, 'a', None, '2024-03-01', '2024-03-01 12:30:00')
    """
    if isinstance(cell, str):
        return cell.strip() or None
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell if abs(cell) < float("inf") else None
    if isinstance(cell, datetime):
        cell = (cell + timedelta(milliseconds=500)).replace(microsecond=0)
        return (cell.date() if cell.time() == time() else cell).isoformat(*() if cell.time() == time() else " ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        seconds = round(cell.total_seconds())
        return f"{'-' * (seconds < 0)}{abs(seconds) // 3600}:{abs(seconds) // 60 % 60:02}:{abs(seconds) % 60:02}"
    return cell
