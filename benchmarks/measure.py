"""Wall seconds and peak memory of a function, in a process of its own, above what its imports and its input take."""

from __future__ import annotations

import csv
import gc
import multiprocessing
import platform
import resource
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

SMOKE = (
    "--smoke" in sys.argv
)  # every script takes it: all parts at their smallest size, in one process, to see that they run


def in_own_process(function, *args, **options):
    """Return function(*args), called in a fresh process that has nothing else to do; in this one for a smoke test."""
    if SMOKE:
        return function(*args, **options)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, args, options)


class Meter:
    """Seconds since the start, and peak resident bytes above the start."""

    def __init__(self) -> None:
        gc.collect()
        self._can_reset = _reset_peak()
        self._base = _resident()
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start

    @property
    def megabytes(self) -> float:
        peak = _status("VmHWM") if self._can_reset else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return (peak - self._base) / 1024


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _resident() -> int:
    return _status("VmRSS")


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise OSError(f"no {key} in /proc/self/status")


def machine() -> str:
    """Return one line about the machine."""
    cpu = platform.machine()
    info = Path("/proc/cpuinfo")
    names = (
        [x.split(":")[1].strip() for x in info.read_text().splitlines() if x.startswith("model name")]
        if info.exists()
        else []
    )
    cores = multiprocessing.cpu_count()
    import numpy
    import scipy

    versions = f"Python {platform.python_version()}, numpy {numpy.__version__}, scipy {scipy.__version__}"
    return f"{cores} cores, {names[0] if names else cpu}, {versions}"


def write_csv(path: Path, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table that the site shows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(rows)
    print(f"{path} is written")
