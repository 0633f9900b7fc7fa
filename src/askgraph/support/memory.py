"""Free memory, and arrays on huge pages."""

from __future__ import annotations

import ctypes
import mmap
import os
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import TooLargeError
from askgraph.types import AnyArray

HUGE_PAGE_BYTES = 2**21
HUGE_PAGES_FROM_BYTES = 4 * HUGE_PAGE_BYTES  # smaller arrays are on ordinary pages


def zeros(shape: tuple[int, ...], dtype: Any) -> AnyArray:
    """Return zeros like ``np.zeros``, on huge pages if the system has them: random reads are 1.4 times faster there."""
    size = prod(shape) * np.dtype(dtype).itemsize
    if size < HUGE_PAGES_FROM_BYTES or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype)
    buffer = mmap.mmap(-1, size + HUGE_PAGE_BYTES)
    try:
        buffer.madvise(mmap.MADV_HUGEPAGE)
    except OSError:  # a kernel without huge pages
        return np.zeros(shape, dtype)
    data = np.frombuffer(buffer, np.uint8)
    start = -data.ctypes.data % HUGE_PAGE_BYTES
    return np.asarray(data[start : start + size].view(dtype).reshape(shape))


def free_bytes() -> float:
    """Return the bytes that can still be allocated: those the system calls available, or those left under the container's limit."""
    limits = [limit for limit in (_available(), _container_free()) if limit is not None]
    return min(limits) if limits else _physical()


def give_back() -> None:
    """Return freed memory to the system at once if the allocator can: after a large load about half of its memory is free."""
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):  # not glibc
        return


def fits(size: float, what: str, advice: str) -> None:
    """Raise `TooLargeError` if an allocation of ``size`` bytes would not fit in memory."""
    if size > (free := free_bytes()):
        raise TooLargeError(
            f"{what} would take about {size / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are free: {advice}"
        )


def _available() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    available = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024.0 * int(available[0]) if available else None


def _container_free() -> float | None:
    """Return the bytes left under the container's memory limit, counting reclaimable page cache as free; None without a limit."""
    group = Path("/sys/fs/cgroup")
    try:
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        used = float((group / "memory.current").read_text()) - float(stat["inactive_file"])
        return float((group / "memory.max").read_text()) - used
    except (OSError, ValueError, KeyError):  # no such limit, or "max"
        return None


def _physical() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
