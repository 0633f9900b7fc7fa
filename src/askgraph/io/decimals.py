"""Numbers as many countries write them, 1.234,5, in text whose cells are separated by semicolons."""

from __future__ import annotations

import re

from askgraph.io.text import MISSING, Row

DECIMAL = re.compile(r"[+-]?(?:(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)?|,[0-9]+)(?:[eE][+-]?[0-9]+)?")
ONLY_SO = re.compile(r",|\.[0-9]+\.")  # a decimal comma, or points that can only part thousands
SHOWN = 5  # columns that the note names


def is_decimal(cell: str) -> bool:
    """Return whether a cell is a number with a decimal comma, or a plain one; points part thousands in it.

    >>> is_decimal("794,4"), is_decimal("1.234,5"), is_decimal("1.23,5"), is_decimal("1,2,3")
    (True, True, False, False)
    """
    return DECIMAL.fullmatch(cell) is not None


def read_decimal_commas(header: list[str], rows: list[Row]) -> list[str]:
    """Change the cells of columns whose numbers have decimal commas, 1.234,5 to 1234.5; return a note that names them.

    Every cell of such a column is a number written so, a whole number, or says that there is none. A number with a point that
    does not part thousands makes it a column of text.
    """
    changed = []
    for k, column in enumerate(zip(*(row.cells for row in rows), strict=True)):
        if ONLY_SO.search("\n".join(column)) and all(is_decimal(cell) or _is_missing(cell) for cell in column):
            changed.append(header[k])
            for row in rows:
                if not _is_missing(row.cells[k]):
                    row.cells[k] = row.cells[k].replace(".", "").replace(",", ".")
    if not changed:
        return []
    more = f" and {len(changed) - SHOWN} more columns" if len(changed) > SHOWN else ""
    return [f"{', '.join(changed[:SHOWN])}{more}: decimal commas are read as points"]


def _is_missing(cell: str) -> bool:
    return not cell or cell.lower() in MISSING
