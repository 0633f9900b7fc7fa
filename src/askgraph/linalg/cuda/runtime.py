"""CuPy on a GPU: the device, its memory limits, and kernels compiled for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

from askgraph.errors import EngineError, MissingExtraError, TooLargeError
from askgraph.support.progress import compiling

USABLE = 0.95  # share of the free memory of a device that may be taken


@cache
def cupy() -> Any:
    """Return the module cupy; raise an error if it is not installed or no device answers."""
    try:
        import cupy
    except ImportError as error:
        raise MissingExtraError(
            f'the GPU engine needs CuPy ({error}): pip install "askgraph[gpu]", or the CuPy wheel for your CUDA'
        ) from error
    try:
        cupy.zeros(1).sum().get()
    except Exception as error:  # CuPy has an exception for every library that may be missing
        raise EngineError(f"no GPU to work on: {_reason(str(error))}") from error
    return cupy


def _reason(message: str) -> str:
    known = {
        "NoDevice": "no NVIDIA device is visible here; check nvidia-smi and CUDA_VISIBLE_DEVICES, or leave engine='auto'",
        "InsufficientDriver": "the NVIDIA driver is older than this CuPy's CUDA; update the driver, or install the CuPy wheel "
        "for the CUDA version that nvidia-smi shows (cupy-cuda11x, cupy-cuda12x, cupy-cuda13x)",
        "SystemDriverMismatch": "the NVIDIA driver and its libraries differ in version; restart the machine or reinstall them",
        "MemoryAllocation": "another program holds the memory of the device; see nvidia-smi",
    }
    return next((advice for word, advice in known.items() if word in message), message) + f" (CUDA says: {message})"


def free_bytes() -> float:
    """Return the bytes of device memory that can still be allocated."""
    cp = cupy()
    return float(USABLE * (cp.cuda.runtime.memGetInfo()[0] + cp.get_default_memory_pool().free_bytes()))


def fits(size: float, what: str, advice: str) -> None:
    """Raise `TooLargeError` if an allocation of ``size`` bytes would not fit on the device."""
    if size > (free := free_bytes()):
        raise TooLargeError(
            f"{what} would take about {size / 1e9:,.1f} GB on the GPU, and {free / 1e9:,.1f} GB are free there: {advice}"
        )


@contextmanager
def guarded(what: str, advice: str) -> Iterator[None]:
    """Raise `TooLargeError`, which says what did not fit, if the device runs out of memory in the block."""
    try:
        yield
    except cupy().cuda.memory.OutOfMemoryError as error:
        cupy().get_default_memory_pool().free_all_blocks()
        free = free_bytes() / 1e9
        raise TooLargeError(
            f"the GPU ran out of memory at {what}; {free:,.1f} GB are free now: {advice} ({error})"
        ) from error


@cache
def compiled(file: str, name: str, options: tuple[str, ...] = (), what: str = "the GPU engine") -> Any:
    """Return a kernel of a .cu file, named by its path in the package, compiled for this device and cached on disk by CuPy."""
    source = files("askgraph").joinpath(file).read_text()
    kernel = cupy().RawKernel(source, name, options=("--std=c++17", *options))
    with compiling(what):
        kernel.compile()
    return kernel
