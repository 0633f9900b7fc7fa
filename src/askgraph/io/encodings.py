"""How the bytes of a text file stand for characters: UTF-8, what a mark at the start says, or Windows text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import BinaryIO, TypeVar

from askgraph.errors import FileError, SettingError

Read = TypeVar("Read")
UTF_8, WINDOWS = "utf-8", "windows-1252"
MARKS = {  # how a file in another encoding begins; of two that begin alike, the longer comes first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
NOT_OF_FILES = {"unicode-escape", "raw-unicode-escape", "utf-7", "punycode", "idna"}  # some make halves of characters
UTF_8_CHARACTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
NOT_WINDOWS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")  # controls, and bytes without a meaning
BEYOND_ASCII = bytes(range(128, 256))
WORD = re.compile(r"\w*[^\W\x00-\x7f]\w*")  # with a letter beyond ASCII
MAX_SHARE = 0.1  # of bytes beyond ASCII that read as UTF-8, too: by chance in Windows text; above, it is damaged UTF-8
EXAMPLES = 3  # words that show what was guessed
CHUNK_BYTES = 2**20  # read at a time


class NotUtf8Error(FileError):
    """A text file that is not UTF-8 where nothing says what it is."""


@contextmanager
def open_text(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a text file for its bytes; raise an error that names it if that fails."""
    try:
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def find_mark(path: str | PathLike[str]) -> str:
    """Return the encoding that the mark at the start of a file names, and UTF-8 where there is none."""
    with open_text(path) as file:
        start = file.read(4)
    return next((name for mark, name in MARKS.items() if start.startswith(mark)), UTF_8)


def check_encoding(name: str) -> str:
    """Return the name by which Python knows a text encoding; raise an error if it knows none.

    >>> check_encoding("Windows-1252"), check_encoding("UTF8")
    ('cp1252', 'utf-8')
    """
    try:
        "".encode(name)
        if (codec := codecs.lookup(name).name) not in NOT_OF_FILES:
            return codec
    except (LookupError, UnicodeError, ValueError):
        pass
    raise SettingError(
        f"encoding {name!r} is not known; use {UTF_8}, utf-16, {WINDOWS}, iso-8859-2, cp850, shift_jis or another of Python's"
    )


def decode_as_found(
    path: str | PathLike[str], encoding: str | None, read: Callable[[str], Read]
) -> tuple[Read, str, tuple[str, ...]]:
    """Return what ``read`` makes of a file in an encoding, that encoding, and a note if it had to be guessed.

    It is the one given, else what the mark at the start says, else UTF-8, else Windows text: only then is a file read again.
    """
    known = encoding or find_mark(path)
    marked = () if encoding is not None or known == UTF_8 else (f"read as {known.upper()}, by its mark",)
    try:
        return read(known), known, marked
    except NotUtf8Error as wrong:
        if encoding is not None:
            raise
        words = ", ".join(_words_of_windows_text(path, wrong))
        note = f"read as Windows text: {words}" if words else "read as Windows text"
        return read(WINDOWS), WINDOWS, (note,)


def _words_of_windows_text(path: str | PathLike[str], wrong: NotUtf8Error) -> list[str]:
    """Return a few words with letters beyond ASCII; raise the error if the file is not text of Windows, or damaged UTF-8."""
    words: dict[str, None] = {}
    valid = beyond = 0
    with open_text(path) as file:
        while chunk := file.read(CHUNK_BYTES):
            chunk += file.readline(CHUNK_BYTES)
            if NOT_WINDOWS.search(chunk):
                raise wrong
            valid += sum(map(len, UTF_8_CHARACTER.findall(chunk)))
            beyond += len(chunk) - len(chunk.translate(None, BEYOND_ASCII))
            if len(words) < EXAMPLES:
                words |= dict.fromkeys(WORD.findall(chunk.decode(WINDOWS)))
    if valid > MAX_SHARE * beyond:
        raise wrong
    return list(words)[:EXAMPLES]
