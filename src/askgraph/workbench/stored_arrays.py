"""Arrays in a project file: packed in parts, and checked when they are read."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.types import AnyArray
from askgraph.workbench.backup_files import restore_advice

PART_BYTES = 2**25  # a larger array is stored in several rows
TYPES = ("int32", "int64", "float32", "float64")


def pack(db: Any, name: str, array: AnyArray) -> None:
    """Store an array under a name, in parts of at most ``PART_BYTES``."""
    step = PART_BYTES // array.dtype.itemsize
    for part, start in enumerate(range(0, max(array.size, 1), step)):
        some = np.ascontiguousarray(array[start : start + step])
        little = some.astype(some.dtype.newbyteorder("<"), copy=False)
        packed = zlib.compress(little.tobytes(), 1)
        db.execute("INSERT INTO arrays VALUES (?, ?, ?, ?, ?)", (name, part, some.dtype.name, some.size, packed))


def unpack(path: Path, dtype: str, length: int, data: bytes) -> AnyArray:
    """Return one part of an array; raise an error if it does not have the stated length."""
    if dtype not in TYPES or not 0 <= length * np.dtype(dtype).itemsize <= PART_BYTES:
        raise FileError(
            f"{path}: an array of type {dtype} and length {length} does not belong there; {restore_advice(path)}"
        )
    size = length * np.dtype(dtype).itemsize
    try:
        raw = zlib.decompressobj().decompress(data, size + 1)
    except zlib.error as error:
        raise FileError(f"{path}: an array is damaged ({error}); {restore_advice(path)}") from None
    if len(raw) != size:
        raise FileError(f"{path}: an array is not of the length that the file says; {restore_advice(path)}")
    return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)
