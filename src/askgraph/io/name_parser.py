"""A compiled parser for lines of named ends and plain weights: nodes get numbers in the order in which their names appear."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from askgraph.io.cell_parser import cell_start, line_end, parse_weight, skip_spaces
from askgraph.support import hashing
from askgraph.support.jit import jit
from askgraph.types import AnyArray, Array, IntArray

MAX_NAME_BYTES = 4096  # a line with a longer name goes to the general parser
LINE_FEED = 10  # ends a name in the table: the one byte that no name has
FNV_PRIME = np.uint64(1099511628211)  # the multiplier of the hash FNV-1a for 64 bits
SLOTS_PER_NAME = 2  # at least, so that most names are found at the first slot looked at

finalize: Any = jit()(hashing.finalize)


class NameTable:
    """The distinct names met so far, in order of appearance: a hash table over their UTF-8 bytes."""

    def __init__(self) -> None:
        self._seed = np.uint64(secrets.randbits(64))  # another one each time: no file can be written to make it slow
        self._count = 0
        self._letters = np.empty(0, dtype=np.uint8)  # the names, a line feed after each
        self._stops = np.zeros(1, dtype=np.int64)  # name k is letters[stops[k] : stops[k + 1] - 1]
        self._hashes = np.empty(0, dtype=np.uint64)
        self._slots = np.empty(0, dtype=np.int64)  # numbers of names, -1 where free; a power of two

    def parse_edges(
        self,
        text: AnyArray,
        mark: int,
        width: int,
        ends: IntArray,
        weights: Array,
        k: int,
        deferred: IntArray,
        words: AnyArray,
    ) -> tuple[int, int]:
        """Write the edges of a text into ``ends`` and ``weights``, as ``edge_parser.parse_edges`` does for integer ids."""
        self._reserve(2 * (int(np.count_nonzero(text == LINE_FEED)) + 1), text.size)
        table = self._letters, self._stops, self._hashes, self._slots
        k, count, self._count = parse_named_edges(
            text, mark, width, ends, weights, k, deferred, words, self._seed, self._count, *table
        )
        return k, count

    def names(self, apart: bool) -> list[str] | None:
        """Return all names; None if one is not UTF-8, or has white space that Python strips, or splits at if ``apart``."""
        try:
            text = self._letters[: max(self._stops[self._count] - 1, 0)].tobytes().decode("utf-8")
        except UnicodeDecodeError:
            return None
        names = text.split("\n")
        if text.isascii():  # the parser has looked for the white space of ASCII
            return names
        whole = all(name.split() == [name] for name in names) if apart else all(name.strip() == name for name in names)
        return names if whole else None

    def _reserve(self, names: int, size: int) -> None:
        """Make room for as many names as a text of this number of bytes can have."""
        needed, letters = self._count + names, int(self._stops[self._count]) + size + names
        self._letters = _grown(self._letters, letters)
        self._stops = _grown(self._stops, needed + 1)
        self._hashes = _grown(self._hashes, needed)
        if self._slots.size < SLOTS_PER_NAME * needed:
            self._slots = np.full(1 << (2 * SLOTS_PER_NAME * needed).bit_length(), -1, dtype=np.int64)
            fill_slots(self._slots, self._hashes, self._count)


def _grown(values: AnyArray, size: int) -> AnyArray:
    """Return an array of at least this size that begins with the values; twice as large if it has to grow."""
    if values.size >= size:
        return values
    larger = np.empty(2 * size, dtype=values.dtype)
    larger[: values.size] = values
    return larger


@jit("void(int64[::1], uint64[::1], int64)")
def fill_slots(slots: IntArray, hashes: AnyArray, count: int) -> None:
    """Enter the names that there are into empty slots."""
    for name in range(count):
        slot = np.int64(hashes[name] & np.uint64(slots.size - 1))
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = name


@jit()
def _parse_name(text: AnyArray, at: int, mark: int) -> tuple[int, int, int]:
    """Return where a name begins and ends, and the place after it; -1 for a name that needs the general parser."""
    quoted = mark >= 0 and at < text.size and text[at] == 34
    if quoted and at > 0 and text[at - 1] in (32, 9) and text[at - 1] != mark:  # there a quote is a letter
        return 0, 0, -1
    start = at = at + quoted
    if quoted:
        while at < text.size and text[at] != 34 and text[at] >= 32:
            at += 1
    else:
        end, quote = (mark, 34) if mark >= 0 else (32, 32)
        while at < text.size and text[at] >= 32 and text[at] != end and text[at] != quote:
            at += 1
    stop = at
    if quoted:
        if at == text.size or text[at] != 34:
            return 0, 0, -1
        at += 1
        if at < text.size and text[at] not in (mark, 10, 13):
            return 0, 0, -1
        while start < stop and text[start] == 32:
            start += 1
    while stop > start and text[stop - 1] == 32:
        stop -= 1
    return start, stop, (at if 0 < stop - start <= MAX_NAME_BYTES else -1)


@jit()
def _hash(text: AnyArray, start: int, stop: int, seed: np.uint64) -> np.uint64:
    """Return the hash FNV-1a of a name, from a seed on."""
    state = seed
    for k in range(start, stop):
        state = (state ^ np.uint64(text[k])) * FNV_PRIME
    return finalize(state)


@jit()
def _is_name(text: AnyArray, start: int, stop: int, letters: AnyArray, first: int) -> bool:
    at = start
    while at < stop and letters[first + at - start] == text[at]:
        at += 1
    return at == stop


@jit()
def _number_name(
    text: AnyArray,
    start: int,
    stop: int,
    seed: np.uint64,
    known: int,
    letters: AnyArray,
    stops: IntArray,
    hashes: AnyArray,
    slots: IntArray,
) -> int:
    """Return the number of a name; a new one is entered into the table as number ``known``."""
    code, length = _hash(text, start, stop, seed), stop - start
    slot = np.int64(code & np.uint64(slots.size - 1))
    while slots[slot] >= 0:
        name = slots[slot]
        same = hashes[name] == code and stops[name + 1] - 1 - stops[name] == length
        if same and _is_name(text, start, stop, letters, stops[name]):
            return name
        slot = (slot + 1) & (slots.size - 1)
    slots[slot], hashes[known], first = known, code, stops[known]
    letters[first : first + length] = text[start:stop]
    letters[first + length] = LINE_FEED
    stops[known + 1] = first + length + 1
    return known


@jit(
    "UniTuple(int64, 3)(uint8[::1], int64, int64, int64[:,::1], float64[::1], int64, int64[::1], uint8[:,::1],"
    "uint64, int64, uint8[::1], int64[::1], uint64[::1], int64[::1])"
)
def parse_named_edges(
    text: AnyArray,
    mark: int,
    width: int,
    ends: IntArray,
    weights: Array,
    k: int,
    deferred: IntArray,
    words: AnyArray,
    seed: np.uint64,
    known: int,
    letters: AnyArray,
    stops: IntArray,
    hashes: AnyArray,
    slots: IntArray,
) -> tuple[int, int, int]:
    """Write the edges of a text, numbered from k on, into ``ends`` and ``weights``, and new names into the table.

    The table must have room for all names that the text can have. Returns the number of the next edge, or -1 if a line
    needs the general parser, the number of deferred weights, and the number of names known.
    """
    at, count = 0, 0
    while at < text.size:
        at = skip_spaces(text, at, mark)
        end = line_end(text, at)
        if end >= 0:
            at = end
            continue
        for column in range(width):
            at = start = cell_start(text, at, mark, column)
            if at < 0:
                return -1, 0, known
            if column == 2:
                weights[k], at = parse_weight(text, at)
                if at < 0 or at - start > words.shape[1]:
                    return -1, 0, known
                if weights[k] < 0:
                    words[count, : at - start] = text[start:at]
                    deferred[count] = k
                    count += 1
            else:
                start, stop, at = _parse_name(text, at, mark)
                if at < 0:
                    return -1, 0, known
                name = _number_name(text, start, stop, seed, known, letters, stops, hashes, slots)
                known = max(known, name + 1)
                ends[column, k] = name
            at = skip_spaces(text, at, mark)
        at = line_end(text, at)
        if at < 0:
            return -1, 0, known
        k += 1
    return k, count, known
