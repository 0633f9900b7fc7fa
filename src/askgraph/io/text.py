"""Text files -> rows of cells, cells -> numbers or text; an error names the file and the line."""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
import re
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from askgraph.errors import FileError, GraphError
from askgraph.io.encodings import UTF_8, NotUtf8Error, check_encoding, decode_as_found, find_mark, open_text
from askgraph.support.arguments import file_path
from askgraph.support.progress import Tick
from askgraph.support.wording import counted
from askgraph.types import Array

FilePath = str | os.PathLike[str]
TEXT = (".csv", ".tsv", ".txt", ".edges")
OTHER_SPREADSHEETS = (".xls", ".xlsb", ".numbers")  # which can be saved as one that is read
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")  # "007" is text: as a number it would become another id
MISSING = {"na", "n/a", "nan", "null", "none", "missing", "unknown", "-", "?", "."}  # cells that mean no number
MAX_LINE_BYTES = 2**24  # a longer line is refused: the file is hardly text
MAX_CELL_CHARACTERS = 2**24  # of a csv cell: a whole document fits; in a longer one a quote is not closed
CHUNK_BYTES = 2**20  # read at a time


class Row(NamedTuple):
    """One row of a text file and the line it ends on."""

    line: int
    cells: list[str]


@contextmanager
def naming_file(path: FilePath) -> Iterator[None]:
    """Re-raise a GraphError of the block as a FileError that names the file."""
    try:
        yield
    except GraphError as error:
        raise FileError(f"{path}: {error}") from None


def suffix(path: FilePath, known: tuple[str, ...]) -> str:
    """Return the suffix of a file in lower case; raise an error unless it is among those known."""
    kind = Path(file_path(path)).suffix.casefold()
    if kind in OTHER_SPREADSHEETS and ".xlsx" in known:
        raise FileError(f"{path}: a file of type {kind} is not read here; open it in a spreadsheet and save it as xlsx")
    if kind not in known:
        raise FileError(
            f"{path}: a file of type {kind or '(none)'} is not read here; use {', '.join(filter(None, known))}"
        )
    return kind


def read_lines(path: FilePath, tick: Tick | None = None, encoding: str | None = None) -> Iterator[str]:
    """Yield the lines of a text file; ``tick`` is called with the number of bytes read.

    It is in UTF-8 unless ``encoding``, or else a mark at its start, says otherwise.
    """
    codec = check_encoding(encoding or find_mark(path))
    with open_text(path) as file:
        yield from _utf_8_lines(path, file, tick) if codec in (UTF_8, "utf-8-sig") else _lines(path, file, codec, tick)


def _utf_8_lines(path: FilePath, file: BinaryIO, tick: Tick | None) -> Iterator[str]:
    number = 1
    try:
        while chunk := file.read(min(CHUNK_BYTES, MAX_LINE_BYTES)):
            rest = file.readline(MAX_LINE_BYTES)
            chunk += rest
            if len(rest) == MAX_LINE_BYTES or b"\0" in chunk:
                number += chunk.count(b"\n", 0, chunk.find(b"\0") if b"\0" in chunk else None)
                raise FileError(f"{path}, line {number}: binary data or an endless line; give text in UTF-8")
            yield from io.StringIO(chunk.decode("utf-8-sig" if number == 1 else UTF_8), newline="\n")
            number += chunk.count(b"\n")
            if tick:
                tick(len(chunk))
    except UnicodeDecodeError as error:
        number += error.object.count(b"\n", 0, error.start)
        raise NotUtf8Error(_not_text(path, number, f"byte 0x{error.object[error.start]:02x}", "UTF-8")) from None


def _lines(path: FilePath, file: BinaryIO, codec: str, tick: Tick | None) -> Iterator[str]:
    """Yield the lines of a file in another encoding; it is decoded before it is split, for a line end may be two bytes."""
    number = 0
    try:
        with io.TextIOWrapper(file, codec, newline="\n") as text:
            while line := text.readline(MAX_LINE_BYTES):
                number += 1
                if len(line) == MAX_LINE_BYTES or "\0" in line:
                    raise FileError(f"{path}, line {number}: binary data or an endless line; is it {codec} text?")
                yield line
                if tick:
                    tick(len(line))
    except UnicodeDecodeError as error:
        number += 1 + error.object[: error.start].decode(codec, "ignore").count("\n")
        raise FileError(_not_text(path, number, f"byte 0x{error.object[error.start]:02x}", codec)) from None
    except UnicodeError as error:
        raise FileError(_not_text(path, number + 1, str(error), codec)) from None


def _not_text(path: FilePath, number: int, what: str, codec: str) -> str:
    named = ", or name the encoding of a table with --encoding" if Path(path).suffix.casefold() in (*TEXT, "") else ""
    return f"{path}, line {number}: {what} is not {codec} text; save the file as UTF-8{named}"


def read_rows(
    path: FilePath, tick: Tick | None = None, quoted: bool = True, encoding: str | None = None
) -> Iterator[Row]:
    """Yield the rows that are not blank, their cells stripped; skip comments at the start of a txt or edges file.

    Quotes around a cell are part of it unless ``quoted``. Raises an error if there is no row, or if a row has more or fewer
    cells than the first.
    """
    source, head = read_lines(path, tick, encoding), []
    comments = ("#", "%") if Path(path).suffix.casefold() in (".txt", ".edges") else ()
    for line in source:
        head.append("\n" if comments and line.startswith(comments) else line)
        if head[-1].strip():
            break
    mark, source = find_delimiter(path, head[-1] if head else ""), itertools.chain(head, source)
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    # of the whole process, so only ever raised: what other code reads is refused no more than before
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_CHARACTERS))
    reader = csv.reader(source, delimiter=mark or ",", strict=True, quoting=quoting)
    split = map(str.split, source) if mark is None else reader
    try:
        yield from _check_widths(path, split, itertools.count(1) if mark is None else iter(lambda: reader.line_num, -1))
    except csv.Error as error:
        long = f"a cell is longer than {MAX_CELL_CHARACTERS:,} characters" if "field limit" in str(error) else error
        raise FileError(f"{path}, line {reader.line_num}: {long}; fix the quotes or the line ends") from None


def read_all_rows(path: FilePath) -> list[Row]:
    """Return the rows of a text file, whose encoding is found out."""
    return decode_as_found(path, None, lambda encoding: list(read_rows(path, encoding=encoding)))[0]


def _check_widths(path: FilePath, split: Iterable[list[str]], numbers: Iterator[int]) -> Iterator[Row]:
    first = None
    for raw, number in zip(split, numbers, strict=False):
        text = "".join(raw)
        spaced = text.split(None, 1) != [text]  # one test of a whole row: most rows of numbers have no space
        row = Row(number, list(map(str.strip, raw)) if spaced else raw)
        if row.cells in ([], [""]):
            continue
        first = first or row
        if len(row.cells) != len(first.cells):
            came, width = counted(len(row.cells), "column"), len(first.cells)
            raise FileError(f"{path}, line {row.line}: {came} where line {first.line} has {width}; fix the row")
        yield row
    if first is None:
        raise FileError(f"{path}: the file is empty; give at least one row")


def find_delimiter(path: FilePath, line: str) -> str | None:
    """Return the most frequent of comma, semicolon and tab; None means white space. Without a suffix, a tab comes first."""
    kind = Path(path).suffix.casefold()
    mark = "\t" if kind == ".tsv" or (not kind and "\t" in line) else max(",;\t", key=line.count)
    return mark if mark in line or kind in (".csv", ".tsv", "") else None


def is_number(cell: str) -> bool:
    """Return whether a cell is a number; infinity counts as one, NaN does not.

    >>> is_number("1e3"), is_number("1_000"), is_number("nan")
    (True, False, False)
    """
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return False


def plain_numbers(cells: list[Any]) -> Array | None:
    """Return a column as floats if every cell is a finite number, else None. Must be fast: tables can be wide."""
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))  # ends at the first cell that is none
    except (TypeError, ValueError, OverflowError):
        return None
    try:
        texts = "".join(cells)
    except TypeError:  # not all are text
        if not set(map(type, cells)) <= {str, int, float}:
            return None
        texts = "".join(cell for cell in cells if isinstance(cell, str))
    return values if "_" not in texts and np.isfinite(values).all() else None  # Python reads 1_000 as a number


def number_column(path: FilePath, rows: list[Row], k: int, where: str = "") -> Array:
    """Return the k-th column as finite numbers; raise an error that names the first other cell."""
    try:
        values = np.array([float(row.cells[k]) for row in rows])
        if np.isfinite(values).all() and not any("_" in row.cells[k] for row in rows):
            return values
    except ValueError:
        pass
    bad = next(row for row in rows if not (is_number(row.cells[k]) and math.isfinite(float(row.cells[k]))))
    raise FileError(f"{path}, line {bad.line}{where}: {bad.cells[k]!r} is not a finite number; fix it or leave it out")


def text_column(path: FilePath, rows: list[Row], k: int) -> list[Hashable]:
    """Return the k-th column as integers if all cells are, else as text; raise an error if a cell is empty."""
    for row in rows:
        if not row.cells[k]:
            raise FileError(f"{path}, line {row.line}: column {k + 1} is empty; fill it in or drop the row")
    return parse_integers([row.cells[k] for row in rows])


def parse_integers(cells: list[Any]) -> list[Hashable]:
    """Return the cells as integers if all of them are integers, else unchanged."""
    whole = all(isinstance(cell, str) and INTEGER.fullmatch(cell) for cell in cells)
    return [int(cell) for cell in cells] if whole else cells
