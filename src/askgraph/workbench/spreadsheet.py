"""Rows -> an xlsx file: text stays text, whatever it begins with, and numbers are numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from typing import Any, BinaryIO

from askgraph.errors import FileError, MissingExtraError
from askgraph.io.text import FilePath, is_number

MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 1_048_576, 16_384, 32_767  # of a sheet, and of a cell
MAX_EXACT = 10**15  # a larger integer would lose digits in a spreadsheet, and is written as text
NOT_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")  # control characters are escaped, these cannot be
CODE = re.compile(r"[+]|-?0[0-9]|-?[0-9]{16}")  # how digits begin that are no number, or one that would lose digits
OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": False,
}
INSTEAD = "export csv, jsonl or parquet instead"


def write_sheet(file: BinaryIO, path: FilePath, rows: Iterable[dict[str, Any]], numbers: Collection[str] = ()) -> None:
    """Write rows to an open file, one sheet with a bold header that stays in sight.

    Text in a column among ``numbers`` that says a number is written as one. What a spreadsheet cannot hold is an error that names
    ``path``.
    """
    try:
        from xlsxwriter import Workbook
        from xlsxwriter.exceptions import FileCreateError
    except ImportError:
        raise MissingExtraError('xlsx needs XlsxWriter: pip install "askgraph[tables]"') from None
    book: Any = Workbook(file, OPTIONS)
    book.use_zip64()
    sheet, bold = book.add_worksheet("labels"), book.add_format({"bold": True})
    sheet.freeze_panes(1, 0)
    try:
        for k, row in enumerate(rows, 1):
            if k == 1:
                _check_columns(path, row)
                for column, name in enumerate(row):
                    sheet.write_string(0, column, _text(path, 1, name, name), bold)
            if k == MAX_ROWS:
                raise FileError(f"{path}: more than {MAX_ROWS - 1:,} rows, which a sheet cannot hold; {INSTEAD}")
            for column, (name, cell) in enumerate(row.items()):
                _write(sheet, path, k, column, name, _number(cell) if name in numbers else cell)
    finally:
        try:
            book.close()
        except FileCreateError as error:  # which holds what the system said
            raise error.args[0] from None


def _check_columns(path: FilePath, row: dict[str, Any]) -> None:
    if len(row) > MAX_COLUMNS:
        raise FileError(f"{path}: {len(row):,} columns, and a sheet holds {MAX_COLUMNS:,}; {INSTEAD}")


def _write(sheet: Any, path: FilePath, row: int, column: int, name: str, cell: Any) -> None:
    if isinstance(cell, bool):
        sheet.write_boolean(row, column, cell)
    elif (isinstance(cell, float) and math.isfinite(cell)) or (isinstance(cell, int) and abs(cell) <= MAX_EXACT):
        sheet.write_number(row, column, cell)
    elif cell is not None and cell != "":
        sheet.write_string(row, column, _text(path, row + 1, name, str(cell)))


def _text(path: FilePath, row: int, name: str, text: str) -> str:
    if len(text.encode("utf-16-le", "surrogatepass")) > 2 * MAX_CHARACTERS:
        where = f"{path}, row {row}, column {name[:60]!r}"
        raise FileError(
            f"{where}: {len(text):,} characters, and a cell of a spreadsheet holds {MAX_CHARACTERS:,}; {INSTEAD}"
        )
    return NOT_XML.sub("\ufffd", text)


def _number(cell: Any) -> Any:
    """Return text that says a number as one, whole if it is written so; anything else, and codes such as 007, unchanged.

    >>> _number("12"), _number("1.50"), _number("007"), _number("+49"), _number("1234567890123456")
    (12, 1.5, '007', '+49', '1234567890123456')
    """
    if not isinstance(cell, str) or not is_number(cell) or CODE.match(cell):
        return cell
    return int(cell) if re.fullmatch("-?[0-9]+", cell) else float(cell)
