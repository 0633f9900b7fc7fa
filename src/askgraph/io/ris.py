"""RIS files of reference managers -> a table with one row per record."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.io.tables import Table
from askgraph.io.text import FilePath, read_lines
from askgraph.support.files import reading
from askgraph.types import Array

TAG = re.compile(r"([A-Z][A-Z0-9])  -(?: (.*))?")
NAMES = {  # tag -> column; several tags of a column: the first that is there
    **dict.fromkeys(("TI", "T1", "CT"), "title"),
    **dict.fromkeys(("AB", "N2"), "abstract"),
    **dict.fromkeys(("AU", "A1"), "authors"),
    **dict.fromkeys(("PY", "Y1", "DA"), "year"),
    **dict.fromkeys(("JO", "JF", "T2", "JA"), "journal"),
    "KW": "keywords",
    "DO": "doi",
    "UR": "url",
    "N1": "notes",
    "ID": "id",
    "TY": "type",
}
LISTS = ("authors", "keywords", "notes")  # columns of which a record has several lines
ASREVIEW = {"ASReview_relevant": "relevant", "ASReview_irrelevant": "irrelevant"}  # notes of ASReview, and their labels


def ris_table(path: FilePath) -> Table:
    """Read records; several authors, keywords or notes are joined by "; ".

    Records that ASReview has marked as relevant or irrelevant have that as their ``included``.
    """
    records = _read_records(path)
    header = list(dict.fromkeys(name for _, record in records for name in record))

    def cells(name: str) -> list[Any]:
        return [record.get(name) for _, record in records]

    def values(name: str) -> list[Hashable]:
        odd = next((k for k, cell in enumerate(cells(name)) if cell is None), None)
        if odd is not None:
            raise FileError(f"{path}, line {records[odd][0]}: no {name!r}; fill it in or drop the record")
        return cells(name)

    def numbers(name: str) -> Array:
        with reading(path, f"numbers in {name!r}", "leave the column out"):
            return np.array([float(cell) for cell in cells(name)])

    return Table(header, numbers, values, cells, lambda k: f"line {records[k][0]}")


def _read_records(path: FilePath) -> list[tuple[int, dict[str, str]]]:
    """Return the records, each with the line that it begins on."""
    records: list[tuple[int, dict[str, str]]] = []
    lines: list[list[str]] = []  # (tag, text) of the record that is open
    start = 1
    for number, line in enumerate(read_lines(path), 1):
        found = TAG.fullmatch(line.rstrip("\r\n"))
        if found and found[1] == "ER":
            if lines:
                records.append((start, _record(lines)))
            lines = []
        elif found:
            start = start if lines else number
            lines.append([found[1], (found[2] or "").strip()])
        elif line.strip() and lines:  # a text goes on in the next line
            lines[-1][1] += f" {line.strip()}"
        elif line.strip():
            raise FileError(f"{path}, line {number}: {line.strip()[:40]!r} is not a line of RIS; export it anew as RIS")
    if lines:
        raise FileError(f"{path}: the last record has no end (ER  - ); export the file anew as RIS")
    if not records:
        raise FileError(f"{path}: holds no records; export it anew as RIS")
    return records


def _record(lines: list[list[str]]) -> dict[str, str]:
    """Return a record by columns; tags without a name of their own keep their letters."""
    record: dict[str, str] = {}
    for tag, text in lines:
        name = NAMES.get(tag, tag)
        if not text:
            continue
        if name in LISTS and name in record:
            record[name] += f"; {text}"
        else:
            record.setdefault(name, text)
    marks = [mark for mark in ASREVIEW if mark in record.get("notes", "")]
    return {**record, "included": ASREVIEW[marks[-1]]} if marks else record
