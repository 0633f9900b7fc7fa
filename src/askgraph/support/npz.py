"""Arrays and plain values in npz files: written whole or not at all, read without unpickling anything."""

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
from askgraph.support.files import replacing
from askgraph.types import AnyArray

LARGE = 2**16  # bytes from which an array is left in the file
PAGE = 64  # arrays start at multiples of it, so that they can be used where they lie in the file
MAPPED = os.name != "nt"  # on Windows a file in use could not be replaced
HEADER = 30 + 20 + 4  # bytes of a zip entry's header, of its sizes in 64 bits, of the field of room
PAD = 0xD935  # the zip field that holds nothing but room


def save_arrays(path: str | os.PathLike[str], **arrays: Any) -> None:
    """Write one npz file; a file that is there is replaced only once the new one is whole."""
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w") as packed:
            for key, value in arrays.items():
                _write(packed, zipfile.ZipInfo(f"{key}.npy"), file.tell(), np.asanyarray(value))
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None


def _write(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, at: int, array: AnyArray) -> None:
    """One array, as ``np.savez`` writes it, with room before it."""
    room = -(at + HEADER + len(entry.filename)) % PAGE
    entry.extra = struct.pack("<HH", PAD, room) + bytes(room)
    entry.external_attr = 0o600 << 16
    with packed.open(entry, "w", force_zip64=True) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)


def load_arrays(path: str | os.PathLike[str]) -> dict[str, AnyArray]:
    """The arrays of an npz file; never unpickles, and refuses what unpacks to far more than it should.

    Large arrays that are stored as they are, aligned, as ``save_arrays`` does, stay in the file and are read from there
    as they are used (copied where written to); every array, mapped or not, is checked against its checksum first.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            listed = packed.infolist()
            full, small = (sum(getattr(e, k) for e in listed) for k in ("file_size", "compress_size"))
            if full > 2**26 and full > 200 * small:
                raise FileError(f"{path}: {small} bytes would unpack to {full}; save it without compression")
            mapped = {e.filename: _mapped(path, e) for e in listed if MAPPED and _is_plain(e)}
        with np.load(path, allow_pickle=False) as stored:
            arrays = ((key, mapped.get(f"{key}.npy")) for key in stored.files)
            return {key: stored[key] if array is None else array for key, array in arrays}
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
    except Exception as error:  # damage shows in many ways below; all of them mean this
        raise FileError(f"{path}: not a readable npz file ({error!r}); write it anew, without object arrays") from None


def _is_plain(entry: zipfile.ZipInfo) -> bool:
    return entry.compress_type == zipfile.ZIP_STORED and entry.file_size > LARGE and not entry.flag_bits & 1


def _mapped(path: str | os.PathLike[str], entry: zipfile.ZipInfo) -> AnyArray | None:
    """An array where it lies in the file; None where it is not aligned, or not in the usual version of the format."""
    with open(path, "rb") as file:
        file.seek(entry.header_offset)
        start = entry.header_offset + 30 + sum(struct.unpack("<HH", file.read(30)[26:]))
        file.seek(start)
        if np.lib.format.read_magic(file) != (1, 0):
            return None
        shape, fortran, kind = np.lib.format.read_array_header_1_0(file)
        at, size = file.tell(), kind.itemsize * math.prod(shape)
        if kind.hasobject or at % PAGE or at + size != start + entry.file_size:
            return None
        file.seek(start)
        head = file.read(at - start)
    array: AnyArray = np.asarray(np.memmap(path, kind, "c", at, shape, "F" if fortran else "C"))
    if zlib.crc32(array.ravel(order="K").data, zlib.crc32(head)) != entry.CRC:
        raise zipfile.BadZipFile(f"bad checksum of {entry.filename}")
    return array


def as_json(values: Any, what: str) -> str:
    """Values as JSON, if JSON gives the same back; tuples come back as tuples."""
    try:
        text = json.dumps(values)
        if from_json(text) == values:
            return text
    except (TypeError, ValueError):
        pass
    kinds = sorted({type(value).__name__ for value in values or ()})
    raise FileError(f"{what} of type {', '.join(kinds)} cannot be saved: use text, numbers or tuples of them")


def from_json(text: str) -> Any:
    """What ``as_json`` was given, lists as tuples."""
    return _thawed(json.loads(text))


def _thawed(value: Any) -> Any:
    return tuple(map(_thawed, value)) if isinstance(value, list) else value
