"""Rows on a GPU, through CuPy: what it takes to get there, and what looks across rows there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import EngineError, MissingExtraError, TooLargeError
from askgraph.priors.base import Prior
from askgraph.support.progress import compiling
from askgraph.types import Array, IntArray

SPARE = 0.95  # of the free memory of a device that may be taken
THREADS = 256


@cache
def cupy() -> Any:
    """CuPy, once a device answers."""
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
    """Memory of the device that can still be had."""
    cp = cupy()
    return float(SPARE * (cp.cuda.runtime.memGetInfo()[0] + cp.get_default_memory_pool().free_bytes()))


def fits(size: float, what: str, advice: str) -> None:
    """Raise before an allocation that would not fit."""
    if size > (free := free_bytes()):
        raise TooLargeError(
            f"{what} would take about {size / 1e9:,.1f} GB on the GPU, and {free / 1e9:,.1f} GB are free there: {advice}"
        )


@contextmanager
def guarded(what: str, advice: str) -> Iterator[None]:
    """Say what did not fit when the device runs out of memory all the same."""
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
    """A kernel of a file beside this one, compiled for this device and kept on disk by CuPy."""
    source = Path(__file__).with_name(file).read_text()
    kernel = cupy().RawKernel(source, name, options=("--std=c++17", *options))
    with compiling(what):
        kernel.compile()
    return kernel


class Weights:
    """W on the device."""

    def __init__(self, weights: csr_array) -> None:
        cp = cupy()
        self.first = cp.asarray(weights.indptr.astype(np.int64))
        self.node = cp.asarray(weights.indices.astype(np.int32))
        self.weight = cp.asarray(weights.data)

    def __matmul__(self, x: Any) -> Any:
        cp = cupy()
        x = cp.ascontiguousarray(x, dtype=np.float64)
        out = cp.empty_like(x)
        k = x.shape[1] if x.ndim == 2 else 1
        blocks = (-(-x.size // THREADS),)
        if x.size:
            compiled("gpu_rows.cu", "product")(
                blocks, (THREADS,), (np.int64(x.size), np.int32(k), self.first, self.node, self.weight, x, out)
            )
        return out


class OnDevice(Prior):
    """Rows on a GPU: row and node are the same number."""

    weights: Weights  # W, in the order of nodes

    def zeros(self, *more: int, dtype: Any = float) -> Any:
        """A row a node, at zero."""
        return cupy().zeros((self.n_rows, *more), dtype)

    def lift(self, x: Any) -> Any:
        """Something of numpy's on the device."""
        return cupy().asarray(x)

    def gather(self, x: Any) -> Any:
        """All rows, in numpy."""
        return x.get()

    def everyone(self, x: Any) -> Any:
        """A few rows, in numpy."""
        return x.get()

    def mine(self, x: Any, like: Any) -> Any:
        """The same on the device."""
        return self.lift(x)

    def total(self, x: Any) -> Any:
        """Sum over all nodes."""
        return x.sum(axis=0).get()[()]

    def inner(self, a: Any, b: Any) -> Array:
        """Aᵀ B."""
        return (a.T @ b).get()

    def highest(self, x: Any) -> Any:
        """The largest over all nodes, -inf without any."""
        return x.max(axis=0).get()[()] if len(x) else np.full(x.shape[1:], -np.inf)[()]

    def pick(self, x: Any, node: int | IntArray) -> Any:
        """Row(s) of x at a node, in numpy."""
        return self.take(x, node).get()

    def take(self, x: Any, node: int | IntArray) -> Any:
        """Row(s) of x at a node, on the device."""
        return x[node if isinstance(node, int) else cupy().asarray(node)]

    def put(self, x: Any, nodes: IntArray, values: Any) -> Any:
        """x with other values at these nodes."""
        x = x.copy()
        x[cupy().asarray(nodes)] = cupy().asarray(values)
        return x

    def linked(self, links: csr_array, x: Any) -> Any:
        """Rows outside the graph that hang on nodes by weights."""
        return self.lift(links @ self.gather(x))

    def neighbors(self, x: Array) -> Array:
        """W x."""
        return self.weights @ x

    def times(self, x: Array) -> Array:
        """(L + δI) x and what noisy labels add; rows of exact ones included."""
        diagonal = self.lift(self.precision.graph.degrees + self.precision.delta + self.precision.extra)
        return (diagonal if x.ndim == 1 else diagonal[:, None]) * x - self.weights @ x
