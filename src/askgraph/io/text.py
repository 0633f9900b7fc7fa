"""Text files -> rows of cells, cells -> numbers or text; whatever is wrong is named with its file and line."""

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
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import FileError, GraphError
from askgraph.graph.sources import counted
from askgraph.support.progress import Tick
from askgraph.types import Array

FilePath = str | os.PathLike[str]
TEXT = (".csv", ".tsv", ".txt", ".edges")
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")  # "007" is text: as a number it would become another id
MAX_LINE = 2**24
CHUNK = 2**20


class Row(NamedTuple):
    """One row of a text file and the line it ends on."""

    line: int
    cells: list[str]


@contextmanager
def about(path: FilePath) -> Iterator[None]:
    """Whatever is wrong with a file's content, the message names the file."""
    try:
        yield
    except GraphError as error:
        raise FileError(f"{path}: {error}") from None


def suffix(path: FilePath, known: tuple[str, ...]) -> str:
    """The type of a file, one of those known here."""
    kind = Path(path).suffix.casefold()
    if kind not in known:
        raise FileError(f"{path}: a file of type {kind or '(none)'} is not read here; use {', '.join(known)}")
    return kind


def lines(path: FilePath, tick: Tick | None = None) -> Iterator[str]:
    """The lines of a text file in UTF-8, some at a time; a bar ticks by bytes."""
    number = 1
    try:
        with open(path, "rb") as file:
            while chunk := file.read(min(CHUNK, MAX_LINE)):
                rest = file.readline(MAX_LINE)
                chunk += rest
                if len(rest) == MAX_LINE or b"\0" in chunk:
                    number += chunk.count(b"\n", 0, chunk.find(b"\0") if b"\0" in chunk else None)
                    raise FileError(f"{path}, line {number}: binary data or an endless line; give text in UTF-8")
                yield from io.StringIO(chunk.decode("utf-8-sig" if number == 1 else "utf-8"), newline="\n")
                number += chunk.count(b"\n")
                if tick:
                    tick(len(chunk))
    except UnicodeDecodeError as error:
        number, what = number + error.object.count(b"\n", 0, error.start), f"byte 0x{error.object[error.start]:02x}"
        raise FileError(f"{path}, line {number}: {what} is not UTF-8 text; save the file as UTF-8") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def rows(path: FilePath, tick: Tick | None = None) -> Iterator[Row]:
    """The rows that are not blank, at least one, all of one width, cells stripped; opening comments are passed over."""
    source, head = lines(path, tick), []
    comments = ("#", "%") if Path(path).suffix.casefold() in (".txt", ".edges") else ()
    for line in source:
        head.append("\n" if comments and line.startswith(comments) else line)
        if head[-1].strip():
            break
    mark, source = delimiter(path, head[-1] if head else ""), itertools.chain(head, source)
    reader = csv.reader(source, delimiter=mark or ",", strict=True)
    split = map(str.split, source) if mark is None else reader
    try:
        yield from _even(path, split, itertools.count(1) if mark is None else iter(lambda: reader.line_num, -1))
    except csv.Error as error:
        raise FileError(f"{path}, line {reader.line_num}: {error}; mend the quotes or the line ends") from None


def _even(path: FilePath, split: Iterable[list[str]], numbers: Iterator[int]) -> Iterator[Row]:
    first = None
    for raw, number in zip(split, numbers, strict=False):
        row = Row(number, list(map(str.strip, raw)))
        if row.cells in ([], [""]):
            continue
        first = first or row
        if len(row.cells) != len(first.cells):
            came, width = counted(len(row.cells), "column"), len(first.cells)
            raise FileError(f"{path}, line {row.line}: {came} where line {first.line} has {width}; mend the row")
        yield row
    if first is None:
        raise FileError(f"{path}: the file is empty; give at least one row")


def delimiter(path: FilePath, line: str) -> str | None:
    """The most frequent of comma, semicolon and tab; None is any white space."""
    kind = Path(path).suffix.casefold()
    mark = "\t" if kind == ".tsv" else max(",;\t", key=line.count)
    return mark if mark in line or kind in (".csv", ".tsv") else None


def is_number(cell: str) -> bool:
    """Whether a cell is a number, infinity too.

    >>> is_number("1e3"), is_number("1_000"), is_number("nan")
    (True, False, False)
    """
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return False


def numbers(path: FilePath, rows: list[Row], k: int, where: str = "") -> Array:
    """The k-th column as finite numbers."""
    try:
        values = np.array([float(row.cells[k]) for row in rows])
        if np.isfinite(values).all() and not any("_" in row.cells[k] for row in rows):
            return values
    except ValueError:
        pass
    bad = next(row for row in rows if not (is_number(row.cells[k]) and math.isfinite(float(row.cells[k]))))
    raise FileError(f"{path}, line {bad.line}{where}: {bad.cells[k]!r} is no finite number; mend or leave it out")


def texts(path: FilePath, rows: list[Row], k: int) -> list[Hashable]:
    """The k-th column as integers if all are, else as text; no cell is empty."""
    for row in rows:
        if not row.cells[k]:
            raise FileError(f"{path}, line {row.line}: column {k + 1} is empty; fill it in or drop the row")
    return typed([row.cells[k] for row in rows])


def typed(cells: list[Any]) -> list[Hashable]:
    """Integers if all cells are, else the cells."""
    whole = all(isinstance(cell, str) and INTEGER.fullmatch(cell) for cell in cells)
    return [int(cell) for cell in cells] if whole else cells
