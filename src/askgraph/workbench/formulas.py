"""Cells of csv files that a spreadsheet would compute: marked where askgraph writes them, and read back as they were."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from askgraph.io.tables import Table
from askgraph.io.text import FilePath, is_number

FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")  # the start of a cell that a spreadsheet would compute, escaped or not
SPLIT = re.compile(r"([;\t\r\n]+)")  # where spreadsheets of some countries begin another cell, also within quotes


def escape_formula(cell: Any) -> Any:
    """Return a cell of which no spreadsheet takes a part for a formula, wherever it splits the line.

    >>> escape_formula("=1+1"), escape_formula("-5"), escape_formula("ham;=1+1")
    ("'=1+1", '-5', "ham;'=1+1")
    """
    if not isinstance(cell, str) or is_number(cell):
        return cell
    parts = SPLIT.split(cell)  # texts, and what separates them in every other place
    parts[2::2] = [f"'{part}" if FORMULA.match(part) and not is_number(part) else part for part in parts[2::2]]
    return ("'" if FORMULA.match(cell) else "") + "".join(parts)


def unescape_formula(cell: str) -> str:
    """Return the cell that ``escape_formula`` was given.

    >>> unescape_formula("'=1+1"), unescape_formula("'tis"), unescape_formula("ham;'=1+1")
    ('=1+1', "'tis", 'ham;=1+1')
    """
    parts = SPLIT.split(cell)
    parts[2::2] = [part[1:] if part[:1] == "'" and FORMULA.match(part) else part for part in parts[2::2]]
    return "".join(parts)[1 if cell[:1] == "'" and FORMULA.match(cell) else 0 :]


def without_marks(table: Table, path: FilePath) -> Table:
    """Return a table with its cells as they were before askgraph wrote them to a csv file."""
    if Path(path).suffix.casefold() != ".csv":
        return table
    cells = table.cells
    return replace(
        table, cells=lambda name: [unescape_formula(one) if isinstance(one, str) else one for one in cells(name)]
    )
