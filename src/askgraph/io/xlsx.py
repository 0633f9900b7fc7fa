"""Sheets of xlsx and xlsm files, read by calamine."""

from __future__ import annotations

from typing import Any

from askgraph.errors import MissingExtraError
from askgraph.io.sheets import Sheet, choose_sheet, plain
from askgraph.io.text import FilePath
from askgraph.support.files import reading


def read_xlsx(path: FilePath, sheet: str | None = None) -> Sheet:
    """Return a sheet, by default the first."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise MissingExtraError(f'{path}: spreadsheets need calamine: pip install "askgraph[tables]"') from None
    with reading(path, "a spreadsheet", "save it again"):
        book: Any = CalamineWorkbook.from_path(path)
        names = tuple(book.sheet_names)
        name = choose_sheet(path, names, sheet)
        found = book.get_sheet_by_name(name)
        rows = {k: [plain(cell) for cell in row] for k, row in enumerate(found.iter_rows(), 1)}
        rows = {k: row for k, row in rows.items() if any(cell is not None for cell in row)}
        merged = [(a[0] + 1, b[0] + 1, a[1]) for a, b in found.merged_cell_ranges or () if b[0] > a[0]]
        return Sheet(names, name, rows, merged, 0)
