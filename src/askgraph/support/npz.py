"""Arrays and plain values in npz files: written whole or not at all, and read without pickle."""

from __future__ import annotations

import json
import math
import os
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.support.arguments import file_path
from askgraph.support.files import check_unpacked_size, reading, replacing
from askgraph.types import AnyArray

MAP_FROM_BYTES = 2**16  # larger arrays are mapped: they stay in the file until they are used; smaller ones are read
ALIGNMENT_BYTES = 64  # arrays are written at multiples of it, so that they can be mapped
CAN_MAP = os.name != "nt"  # on Windows a mapped file cannot be replaced
HEADER_BYTES = 30 + 20 + 4  # a zip entry's header, its sizes in 64 bits, and the head of the padding field
PADDING_FIELD = 0xD935  # id of the zip extra field that holds the padding


def save_arrays(path: str | os.PathLike[str], **arrays: Any) -> None:
    """Write arrays to an npz file; an existing file is replaced only once the new one is complete."""
    file_path(path)
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w") as packed:
            for key, value in arrays.items():
                _write(packed, zipfile.ZipInfo(f"{key}.npy"), file.tell(), np.asanyarray(value))
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None


def _write(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, at: int, array: AnyArray) -> None:
    """Write one array as ``np.savez`` does, with padding before it so that its data is aligned."""
    padding = -(at + HEADER_BYTES + len(entry.filename)) % ALIGNMENT_BYTES
    entry.extra = struct.pack("<HH", PADDING_FIELD, padding) + bytes(padding)
    entry.external_attr = 0o600 << 16
    with packed.open(entry, "w", force_zip64=True) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)


def load_arrays(path: str | os.PathLike[str]) -> dict[str, AnyArray]:
    """Return the arrays of an npz file; nothing is unpickled, and a file that unpacks to far more than its size is refused.

    Large arrays stored without compression and aligned, as ``save_arrays`` does, are mapped: they are read from the file when
    used, and copied when written to. The checksum of every array, mapped or not, is checked first.
    """
    file_path(path)
    with reading(path, "npz", "write it again, without object arrays"):
        with zipfile.ZipFile(path) as packed:
            listed = packed.infolist()
            unpacked = sum(entry.file_size for entry in listed)  # zipfile reads no more of an entry than that
            check_unpacked_size(path, os.path.getsize(path), unpacked, "save it without compression")
            mapped = {e.filename: _map_array(path, e) for e in listed if CAN_MAP and _can_be_mapped(e)}
        with np.load(path, allow_pickle=False) as stored:
            arrays = ((key, mapped.get(f"{key}.npy")) for key in stored.files)
            return {key: stored[key] if array is None else array for key, array in arrays}


def _can_be_mapped(entry: zipfile.ZipInfo) -> bool:
    return entry.compress_type == zipfile.ZIP_STORED and entry.file_size > MAP_FROM_BYTES and not entry.flag_bits & 1


def _map_array(path: str | os.PathLike[str], entry: zipfile.ZipInfo) -> AnyArray | None:
    """Return an array mapped from the file; None if it is not aligned, or in another version of the npy format."""
    with open(path, "rb") as file:
        file.seek(entry.header_offset)
        start = entry.header_offset + 30 + sum(struct.unpack("<HH", file.read(30)[26:]))
        file.seek(start)
        if np.lib.format.read_magic(file) != (1, 0):
            return None
        shape, fortran, kind = np.lib.format.read_array_header_1_0(file)
        at, size = file.tell(), kind.itemsize * math.prod(shape)
        if kind.hasobject or at % ALIGNMENT_BYTES or at + size != start + entry.file_size:
            return None
        file.seek(start)
        head = file.read(at - start)
    array: AnyArray = np.asarray(np.memmap(path, kind, "c", at, shape, "F" if fortran else "C"))
    if zlib.crc32(array.ravel(order="K").data, zlib.crc32(head)) != entry.CRC:
        raise zipfile.BadZipFile(f"bad checksum of {entry.filename}")
    return array


def as_json(values: Any, what: str) -> str:
    """Return values as JSON; raise `FileError` if `from_json` would not return the same values."""
    try:
        text = json.dumps(values)
        if from_json(text) == values:
            return text
    except (TypeError, ValueError):
        pass
    kinds = sorted({type(value).__name__ for value in values or ()})
    raise FileError(f"{what} of type {', '.join(kinds)} cannot be saved: use text, numbers or tuples of them")


def from_json(text: str) -> Any:
    """Return the values that ``as_json`` was given; lists become tuples."""
    return _lists_to_tuples(json.loads(text))


def _lists_to_tuples(value: Any) -> Any:
    return tuple(map(_lists_to_tuples, value)) if isinstance(value, list) else value
