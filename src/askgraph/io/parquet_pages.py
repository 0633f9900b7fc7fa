"""How much the pages of a parquet file say they unpack to, read from the headers of the pages themselves.

The sizes in the footer are the writer's word; what a reader allocates is what each page says, in front of its packed bytes.
Headers are in the compact protocol of Thrift, of which only numbers and structures are read here.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any, NamedTuple

STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, STRUCT = 0, 1, 2, 3, 7, 8, 12  # types of fields
NUMBERS = (4, 5, 6)  # types of fields: whole numbers of 16, 32 and 64 bits
UNPACKED, PACKED = 2, 3  # fields of the header of a page: bytes after and before unpacking
DATA_PAGES = (5, 8)  # fields that hold what is said of a data page, in its two versions
VALUES = 1  # field of that: the number of values
ENCODING = {5: 2, 8: 4}  # field of that: how the values are written
PREFIXES = 7  # the encoding DELTA_BYTE_ARRAY, where a text is the beginning of the one before it and a rest
MAX_DEPTH, MAX_FIELDS = 8, 1000  # of a header; a sound one has three levels and a dozen fields


class Page(NamedTuple):
    """What the header of a page says: its bytes when unpacked, its number of values, whether texts share their beginnings."""

    unpacked: int
    values: int
    prefixes: bool


def pages(content: mmap.mmap, chunk: Any) -> Iterator[Page]:
    """Yield the pages of one column of a row group, as its metadata says where they lie; raise ValueError for damage."""
    start, values = chunk.data_page_offset, 0
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    end = start + chunk.total_compressed_size
    while values < chunk.num_values and start < end:
        header, start = _structure(content, start, 0)
        said = next(((kind, header[kind]) for kind in DATA_PAGES if kind in header), None)
        page = Page(
            header[UNPACKED],
            said[1][VALUES] if said else 0,
            said is not None and said[1].get(ENCODING[said[0]]) == PREFIXES,
        )
        if min(page.unpacked, page.values, header[PACKED]) < 0:
            raise ValueError("a page of a size below 0")
        yield page
        start += header[PACKED]
        values += page.values


def _structure(content: mmap.mmap, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the numbers and structures in a structure by their fields, and where it ends."""
    if depth > MAX_DEPTH:
        raise ValueError("the header of a page is too deep")
    found: dict[int, Any] = {}
    field = 0
    for _ in range(MAX_FIELDS):
        byte, at = content[at], at + 1
        if byte == STOP:
            return found, at
        if byte >> 4:
            field += byte >> 4
        else:
            field, at = _number(content, at)
        found[field], at = _value(content, at, byte & 15, depth)
    raise ValueError("the header of a page has too many fields")


def _value(content: mmap.mmap, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """Return a number or a structure, or None for anything else, and where it ends."""
    if kind in (TRUE, FALSE):
        return None, at
    if kind in NUMBERS:
        return _number(content, at)
    if kind == STRUCT:
        return _structure(content, at, depth + 1)
    if kind in (BYTE, DOUBLE):
        return None, at + (1 if kind == BYTE else 8)
    if kind == BINARY:
        length, at = _unsigned(content, at)
        return None, at + length
    raise ValueError(f"a field of type {kind} in the header of a page")  # lists, sets and maps: parquet has none here


def _number(content: mmap.mmap, at: int) -> tuple[int, int]:
    number, at = _unsigned(content, at)
    return (number >> 1) ^ -(number & 1), at


def _unsigned(content: mmap.mmap, at: int) -> tuple[int, int]:
    """Return a number of seven bits per byte, the lowest first, and where it ends."""
    number = 0
    for shift in range(0, 70, 7):
        byte, at = content[at], at + 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise ValueError("a number that does not end in the header of a page")
