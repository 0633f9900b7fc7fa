"""Sheets of ods files, read by Python's own parser of XML: cells that repeat are counted before they are made."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from xml.parsers import expat

from askgraph.errors import FileError
from askgraph.io.packed import TAG_BYTES, Archive, open_archive
from askgraph.io.sheets import Sheet, choose_sheet, plain
from askgraph.io.text import FilePath

NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TABLE, TEXT, DRAW = (f"{NAMES}{name}:1.0 " for name in ("office", "table", "text", "drawing"))
SHEET, ROW, PARAGRAPH, NOTE = f"{TABLE}table", f"{TABLE}table-row", f"{TEXT}p", f"{OFFICE}annotation"
CELL, COVERED = f"{TABLE}table-cell", f"{TABLE}covered-table-cell"
VALUE_TYPE, FORMULA = f"{OFFICE}value-type", f"{TABLE}formula"
CALC_TYPE = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0 value-type"
DURATION = re.compile(r"(-?)PT(\d+)H(\d+)M(\d+)(?:[.,]\d*)?S")
ERROR = re.compile(  # what a formula shows that fails, in English and in German
    r"#(?:N/A|NV|NAME\?|(?:DIV/0|NULL|NUM|ZAHL|REF|BEZUG|VALUE|WERT)!)|Err:\d+"
)
CELL_BYTES, PLACE_BYTES = 100, 8  # of memory: of a cell, of a place for one
BLANK = {f"{TEXT}s": " ", f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}


def read_ods(path: FilePath, sheet: str | None = None) -> Sheet:
    """Return a sheet, by default the first."""
    with open_archive(path) as archive:
        content = archive.find("content.xml")
        manifest = archive.find("META-INF/manifest.xml")
        if content is None:
            raise FileError(f"{path}: has no part content.xml; save it again as xlsx or ods")
        if manifest and any(b"encryption-data" in chunk for chunk in archive.unpack(manifest)):
            raise FileError(f"{path}: protected by a password; save it without one")
        reader = _Reader(archive, sheet)
        for chunk in archive.unpack(content, TAG_BYTES):
            reader.parser.Parse(chunk)
        reader.parser.Parse(b"", True)
    names = tuple(dict.fromkeys(reader.names))
    return Sheet(names, choose_sheet(path, names, sheet), reader.rows, reader.merged, reader.errors, archive.budget)


class _Reader:
    """The state between tags: which sheet, row and cell is open."""

    def __init__(self, archive: Archive, sheet: str | None) -> None:
        self.names: list[str] = []
        self.rows: dict[int, list[Any]] = {}
        self.merged: list[tuple[int, int, int]] = []
        self.errors: int = 0
        self._budget, self._sheet, self._is_open = archive.budget, sheet, False
        self._row, self._row_times, self._column = 1, 1, 0  # the open row and how often it comes, the place in it
        self._cells: list[Any] = []
        self._cell: dict[str, str] | None = None  # attributes of the open cell
        self._text: list[str] = []
        self._paragraphs = self._skipped = 0  # of the open cell; depth in a note or a drawing on it
        self.parser: expat.XMLParserType = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler = self._characters

    def _start(self, name: str, said: dict[str, str]) -> None:
        if self._skipped or name == NOTE or (self._cell is not None and name.startswith(DRAW)):
            self._skipped += 1
        elif name == SHEET:
            self.names.append(said.get(f"{TABLE}name", ""))
            self._row = 1
            self._is_open = self.names[-1] == self._sheet or (self._sheet is None and len(self.names) == 1)
        elif not self._is_open:
            return
        elif name == ROW:
            self._row_times, self._column, self._cells = _times(said, "number-rows-repeated"), 0, []
        elif name in (CELL, COVERED):
            self._cell, self._paragraphs = said, 0
            self._text.clear()
        elif name == PARAGRAPH and self._cell is not None:
            self._paragraphs += 1
            if self._paragraphs > 1:
                self._text.append("\n")
        elif name in BLANK:
            count = _times(said, "c", TEXT)
            self._budget.spend(count)
            self._text.append(BLANK[name] * count)

    def _characters(self, some: str) -> None:
        if self._cell is not None and self._paragraphs and not self._skipped:
            self._text.append(some)

    def _end(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif name in (CELL, COVERED) and self._cell is not None:
            self._end_cell(self._cell, name == COVERED)
            self._cell = None
        elif name == ROW and self._is_open:
            if self._cells:
                self._budget.spend(self._row_times * (CELL_BYTES + PLACE_BYTES * len(self._cells)))
                self.rows |= dict.fromkeys(range(self._row, self._row + self._row_times), self._cells)
            self._row += self._row_times

    def _end_cell(self, said: dict[str, str], covered: bool) -> None:
        times, value = _times(said, "number-columns-repeated"), None if covered else self._value(said)
        if value is not None:
            self._budget.spend(PLACE_BYTES * (self._column + times - len(self._cells)) + CELL_BYTES)
            self._cells += [None] * (self._column - len(self._cells)) + [value] * times
        if (down := _times(said, "number-rows-spanned")) > 1:
            self._budget.spend(CELL_BYTES)
            self.merged.append((self._row, self._row + down - 1, self._column))
        self._column += times

    def _value(self, said: dict[str, str]) -> Any:
        """Return the value of the open cell: its attributes say it, but of text."""
        kind, text = said.get(VALUE_TYPE), "".join(self._text)
        if said.get(CALC_TYPE) == "error" or (FORMULA in said and ERROR.fullmatch(text)):
            self.errors += 1
            return None
        if kind in ("float", "percentage", "currency"):
            return plain(float(said[f"{OFFICE}value"]))
        if kind == "boolean":
            return said[f"{OFFICE}boolean-value"] == "true"
        if kind == "date":
            return plain(datetime.fromisoformat(said[f"{OFFICE}date-value"]))
        if kind == "time" and (found := DURATION.fullmatch(said[f"{OFFICE}time-value"])):
            hours, minutes, seconds = map(int, found.groups()[1:])
            return plain((-1 if found[1] else 1) * timedelta(hours=hours, minutes=minutes, seconds=seconds))
        return plain(said.get(f"{OFFICE}string-value", text)) if kind else plain(text)


def _times(said: dict[str, str], name: str, names: str = TABLE) -> int:
    """Return how often something comes, as an attribute says it."""
    return max(int(said.get(f"{names}{name}", 1)), 1)
