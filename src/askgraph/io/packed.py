"""Parts of zip archives, unpacked bit by bit within a budget: what the directory of an archive says of sizes is not trusted."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from askgraph.errors import FileError
from askgraph.io.text import FilePath
from askgraph.support.files import reading

MAX_BYTES = 2**27  # of memory that a small file may take
MAX_TIMES = 100  # a larger file may take 100 times its size; spreadsheets take about 20 times
CHUNK_BYTES = 2**20  # unpacked at a time
TAG_BYTES = 50  # of the budget, for a tag that Python parses: it takes time rather than memory
COMPILED_TAG_BYTES = 6  # for one that compiled code parses
OLD_OR_LOCKED = b"\xd0\xcf\x11\xe0"  # begins an xls file, and one that a password protects
DECLARES = (b"<!DOCTYPE", b"<!ENTITY")


class Budget:
    """What reading a file may take, in bytes: it is refused when that is spent."""

    def __init__(self, path: FilePath) -> None:
        self.path: FilePath = path
        self.size: int = os.path.getsize(path)
        self.whole: int = max(MAX_BYTES, MAX_TIMES * self.size)
        self.left: int = self.whole

    def spend(self, count: int) -> None:
        """Take something from the budget; raise an error if it is not there."""
        self.left -= count
        if self.left < 0:
            raise FileError(
                f"{self.path}: {self.size:,} bytes would unpack to more than {self.whole:,}; "
                "delete empty rows and columns that are formatted, or save it as csv"
            )


class Part(NamedTuple):
    """A part as it lies in an archive, packed."""

    name: str
    method: int
    raw: bytes
    crc: int
    size: int  # unpacked, as its directory says


class Archive:
    """A zip archive that is open for reading."""

    def __init__(self, path: FilePath, file: ZipFile) -> None:
        self.path: FilePath = path
        self.budget: Budget = Budget(path)
        self._file: ZipFile = file
        self._entries: dict[str, str] = {name.casefold(): name for name in file.namelist()}

    def find(self, name: str) -> Part | None:
        """Return a part, whatever the case of its name; None if there is none."""
        if name.casefold() not in self._entries:
            return None
        entry, file = self._file.getinfo(self._entries[name.casefold()]), self._file.fp
        if entry.flag_bits & 1:
            raise FileError(f"{self.path}: protected by a password; save it without one")
        if file is None or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise FileError(f"{self.path}: packed in a way that is not read here; save it again")
        file.seek(entry.header_offset)
        lengths = struct.unpack("<26x2H", file.read(30))
        file.seek(sum(lengths), os.SEEK_CUR)
        raw = file.read(entry.compress_size)
        self.budget.spend(len(raw))
        return Part(name, entry.compress_type, raw, entry.CRC, entry.file_size)

    def unpack(self, part: Part, per_tag: int = 0) -> Iterator[bytes]:
        """Yield the XML of a part in pieces; raise an error if it is too large, damaged, or declares entities.

        A piece ends before a "<", so that no tag is split. The budget pays for its bytes, and ``per_tag`` for each tag.
        """
        rest, crc, size = b"", 0, 0
        for chunk in _inflate(part):
            self.budget.spend(len(chunk) + per_tag * chunk.count(b"<"))
            crc, size, rest = zlib.crc32(chunk, crc), size + len(chunk), rest + chunk
            if any(word in rest for word in DECLARES):
                raise FileError(
                    f"{self.path}: declares a DOCTYPE or entities, which can unpack without end; save it again"
                )
            if b"\0" in chunk or len(rest) > 3 * CHUNK_BYTES:
                raise FileError(f"{self.path}: {part.name} is not XML that is read here; save it again")
            cut = max(rest.rfind(b"<"), 0)
            yield rest[:cut]
            rest = rest[cut:]
        yield rest
        if (crc, size) != (part.crc, part.size):
            raise FileError(f"{self.path}: damaged at {part.name}; get another copy")

    def text(self, name: str) -> bytes:
        """Return a small part as a whole; raise an error if it is not there."""
        if (part := self.find(name)) is None:
            raise FileError(f"{self.path}: has no part {name}; save it again")
        content = bytearray()
        for chunk in self.unpack(part):
            content += chunk
            if len(content) > 4 * CHUNK_BYTES:
                raise FileError(f"{self.path}: {name} is too long; save it again")
        return bytes(content)


@contextmanager
def open_archive(path: FilePath) -> Iterator[Archive]:
    """Open a spreadsheet, which is a zip archive; whatever is wrong with it is an error that names it."""
    with reading(path, "a spreadsheet", "save it again as xlsx"), open(path, "rb") as file:
        if file.read(len(OLD_OR_LOCKED)) == OLD_OR_LOCKED:
            raise FileError(f"{path}: protected by a password, or an old xls file; save it as xlsx without a password")
        with ZipFile(file) as archive:
            yield Archive(path, archive)


def _inflate(part: Part) -> Iterator[bytes]:
    if part.method == ZIP_STORED:
        yield from (part.raw[k : k + CHUNK_BYTES] for k in range(0, len(part.raw), CHUNK_BYTES))
        return
    pump, rest = zlib.decompressobj(-zlib.MAX_WBITS), part.raw
    while chunk := pump.decompress(rest, CHUNK_BYTES):
        rest = pump.unconsumed_tail
        yield chunk


def pack(parts: Iterable[Part]) -> bytes:
    """Return an archive of parts that lie packed already."""
    body, directory, count = bytearray(), bytearray(), 0
    for name, method, raw, crc, size in parts:
        said = struct.pack("<5H3L2H", 20, 0x800, method, 0, 0x21, crc, len(raw), size, len(name.encode()), 0)
        rest = struct.pack("<3H2L", 0, 0, 0, 0, len(body))
        directory += b"PK\1\2" + struct.pack("<H", 20) + said + rest + name.encode()
        body += b"PK\3\4" + said + name.encode() + raw
        count += 1
    end = struct.pack("<4H2LH", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + b"PK\5\6" + end)
