"""Sheets of xlsx and xlsm files, read by calamine once a look at their parts has shown that they are not too large.

Calamine keeps a whole rectangle of cells in memory, and a copy of a shared text for each cell that shows it. So it is given an
archive that holds no more than the sheet, whose cells were counted, and short keys for the shared texts, which are read here.
"""

from __future__ import annotations

import io
import posixpath
import re
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat
from zipfile import ZIP_STORED

from askgraph.errors import FileError, MissingExtraError
from askgraph.io.packed import COMPILED_TAG_BYTES, TAG_BYTES, Archive, Part, open_archive, pack
from askgraph.io.sheets import Sheet, choose_sheet, column_number, plain, row_number
from askgraph.io.text import FilePath

MAIN, LINKS = (
    "http://schemas.openxmlformats.org/{}/2006/main",
    "http://schemas.openxmlformats.org/{}/2006/relationships",
)
CELL = re.compile(  # its place, as programs write it; nothing where it is missing, or written in any other way
    rb'[<:]c(?:\s+r="([A-Za-z]+[0-9]+)"(?:\s+[a-qs-z][a-z]?="\w*")*\s*/?>|[\s/>])'
)
PLACE = re.compile(rb"r\s*=\s*[\"']\s*([A-Za-z]*[0-9]+)")  # of a cell or a row, in any way
ROW = re.compile(rb"<[^<>\s/:]*:?row[\s/>][^<]*")
MERGED = re.compile(  # with bounds, for nothing may be tried for long in vain
    rb"<[^<>\s]{0,50}mergeCell\s[^<>]{0,200}?ref\s{0,9}=\s{0,9}[\"']([A-Za-z]{1,3})([0-9]{1,7}):[A-Za-z]{1,3}([0-9]{1,7})[\"']"
)
ERROR = b't="e"'
DIGITS, LETTERS = b"0123456789", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")  # a character that XML cannot hold
MAX_DEPTH = 50  # of tags in each other in shared texts; programs write 5
KEY = "\ue000{}"  # of a shared text
SQUARE_BYTES, CELL_BYTES, TEXT_BYTES = 32, 70, 100  # of memory: of a place in the rectangle, a cell, a text


class Book(NamedTuple):
    """The parts of a file: sheets by their names, those that are hidden last, texts and styles; and what day dates begin on."""

    sheets: dict[str, str]
    texts: str
    styles: str
    since_1904: bool


def read_xlsx(path: FilePath, sheet: str | None = None) -> Sheet:
    """Return a sheet, by default the first."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise MissingExtraError(f'{path}: spreadsheets need calamine: pip install "askgraph[tables]"') from None
    with open_archive(path) as archive:
        book = _look_at_book(archive)
        names = tuple(book.sheets)
        name = choose_sheet(path, names, sheet)
        cells = archive.find(book.sheets[name])
        if cells is None:
            raise FileError(f"{path}: the sheet {name!r} is missing in it; save it again")
        look = _Look(archive, cells)
        texts = _shared_texts(archive, book)
        content = pack(_parts(archive, book, cells, len(texts)))
        with _without_panic():
            found: Any = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0)
            rows = dict(_rows(found, {KEY.format(k): text for k, text in enumerate(texts)}))
    return Sheet(names, name, rows, look.merged, look.errors, archive.budget)


def _look_at_book(archive: Archive) -> Book:
    """Find the parts by the links from one to the next, as the format wants it."""
    path = next((path for kind, path in _links(archive, "").values() if kind == "officeDocument"), "xl/workbook.xml")
    book, links = ElementTree.fromstring(archive.text(path)), _links(archive, path)
    found: list[tuple[bool, str, str]] = []
    for one in book.iter():
        key = next((value for name, value in one.attrib.items() if name.endswith("}id")), "")
        if one.tag.endswith("}sheet") and links.get(key, ("", ""))[0] == "worksheet":
            found.append((one.get("state", "visible") != "visible", one.get("name", ""), links[key][1]))
    if not found:
        raise FileError(f"{archive.path}: has no sheet with cells; save it again as xlsx")
    sheets = {name: part for _, name, part in sorted(found, key=lambda sheet: sheet[0])}
    other = dict(links.values())
    since_1904 = any(one.get("date1904") in ("1", "true") for one in book.iter() if one.tag.endswith("}workbookPr"))
    return Book(sheets, other.get("sharedStrings", ""), other.get("styles", ""), since_1904)


def _links(archive: Archive, path: str) -> dict[str, tuple[str, str]]:
    """Return the kinds and paths of the parts that a part names, by their keys."""
    folder, name = posixpath.split(path)
    found = ElementTree.fromstring(archive.text(posixpath.join(folder, "_rels", f"{name}.rels")))
    return {
        link.get("Id", ""): (
            posixpath.basename(link.get("Type", "")),
            posixpath.normpath(posixpath.join(f"/{folder}", link.get("Target", ""))).lstrip("/"),
        )
        for link in found
    }


def _parts(archive: Archive, book: Book, cells: Part, texts: int) -> Iterator[Part]:
    """Yield the parts of a file with one sheet and keys for its texts."""
    main, links = MAIN.format("spreadsheetml"), LINKS.format("officeDocument")
    since = int(book.since_1904)
    listed = "".join(f"<si><t>{KEY.format(k)}</t></si>" for k in range(texts))
    yield _made("_rels/.rels", _written_links(officeDocument="xl/workbook.xml"))
    sheet = f'<workbookPr date1904="{since}"/><sheets><sheet name="sheet" sheetId="1" r:id="worksheet"/></sheets>'
    yield _made("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{links}">{sheet}</workbook>')
    kinds = {"worksheet": "sheet.xml", "sharedStrings": "sharedStrings.xml", "styles": "styles.xml"}
    yield _made("xl/_rels/workbook.xml.rels", _written_links(**kinds))
    yield _made("xl/sharedStrings.xml", f'<sst xmlns="{main}">{listed}</sst>')
    if styles := archive.find(book.styles):
        deque(archive.unpack(styles, COMPILED_TAG_BYTES), maxlen=0)
        yield styles._replace(name="xl/styles.xml")
    yield cells._replace(name="xl/sheet.xml")


def _written_links(**targets: str) -> str:
    kinds = LINKS.format("officeDocument")
    each = "".join(f'<Relationship Id="{k}" Type="{kinds}/{k}" Target="{path}"/>' for k, path in targets.items())
    return f'<Relationships xmlns="{LINKS.format("package")}">{each}</Relationships>'


def _made(name: str, content: str) -> Part:
    raw = content.encode()
    return Part(name, ZIP_STORED, raw, zlib.crc32(raw), len(raw))


class _Look:
    """What a sheet holds: how large the rectangle of its cells is, merged cells, errors. The budget pays for it."""

    def __init__(self, archive: Archive, part: Part) -> None:
        self.merged: list[tuple[int, int, int]] = []
        self.errors: int = 0
        self._last: tuple[int, int] = (0, 0)  # row and column
        self._top = 0  # the largest number that a row says, which cells without a place in it or below count on from
        self._rows = self._open = self._longest = self._area = 0  # of cells without a place: those of a row
        for chunk in archive.unpack(part, COMPILED_TAG_BYTES):
            places = CELL.findall(chunk)
            archive.budget.spend(CELL_BYTES * len(places))
            self._find_last(chunk, places)
            below = max(self._last[0], self._top) + self._rows if self._longest else self._last[0]
            area = below * (self._last[1] + self._longest)
            archive.budget.spend(SQUARE_BYTES * (area - self._area))
            self._area = area
            self.errors += chunk.count(ERROR)
            for left, top, bottom in MERGED.findall(chunk) if b"mergeCell" in chunk else ():
                archive.budget.spend(TEXT_BYTES)
                self.merged.append((int(top), int(bottom), column_number(left) - 1))

    def _find_last(self, chunk: bytes, places: list[bytes]) -> None:
        rows = ROW.findall(chunk)
        self._rows += len(rows)
        self._top = max(self._top, *_numbers(PLACE.findall(b" ".join(rows))), 0)
        if b"" in places:
            counts = [CELL.findall(row).count(b"") for row in ROW.split(chunk)]
            counts[0] += self._open
            self._open, self._longest = counts[-1], max(self._longest, *counts)
            places = [*places, *PLACE.findall(chunk)]
        columns = map(column_number, set(b" ".join(places).translate(None, DIGITS).split()))
        self._last = max(self._last[0], *_numbers(places), 0), max(self._last[1], *columns, 0)


def _numbers(places: list[bytes]) -> Iterator[int]:
    """Return the different numbers of the rows that places are in."""
    return map(row_number, set(b" ".join(places).translate(None, LETTERS).split()))


def _shared_texts(archive: Archive, book: Book) -> list[str | None]:
    """Return the texts that cells refer to by their number."""
    part = archive.find(book.texts)
    texts: list[str | None] = []
    open_text: list[str] = []
    inside: list[str] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(name: str, _: dict[str, str]) -> None:
        inside.append(name.rpartition(":")[2])
        if len(inside) > MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} tags in each other in {book.texts}")

    def text(some: str) -> None:
        if inside[-1] == "t" and "rPh" not in inside:  # which says how to pronounce it
            open_text.append(some)

    def end(name: str) -> None:
        if inside.pop() == "si":
            texts.append(plain(_unescaped("".join(open_text))))
            open_text.clear()
            archive.budget.spend(TEXT_BYTES)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    if part:
        for chunk in archive.unpack(part, TAG_BYTES):
            parser.Parse(chunk)
        parser.Parse(b"", True)
    return texts


def _unescaped(text: str) -> str:
    """Return a text with the characters that it names by their codes; half of one that takes two codes is U+FFFD."""
    if not ESCAPED.search(text):
        return text
    named = ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return named.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@contextmanager
def _without_panic() -> Iterator[None]:
    """Turn a panic of compiled code, which is not an Exception, into one."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(str(error)) from None


def _rows(sheet: Any, texts: dict[str, str | None]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows that are not empty with their numbers."""
    left = [None] * (sheet.start[1] if sheet.start else 0)
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = [None if cell == "" else texts[cell] if cell in texts else plain(cell) for cell in row]
        if any(cell is not None for cell in cells):
            yield number, left + cells
