"""Work shared among threads, and limits on the threads that libraries start."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Condition, Lock
from typing import Any, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")


def n_cores() -> int:
    """Return the number of cores that this process may use, 1 if the system does not tell."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def in_threads(function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Return the results of a function over parts, in order, computed by up to one thread per core.

    >>> in_threads(lambda part: 2 * part, [1, 2, 3])
    [2, 4, 6]
    """
    if len(parts) < 2:
        return [function(part) for part in parts]
    with ThreadPoolExecutor(min(len(parts), n_cores())) as pool:
        try:
            return list(pool.map(function, parts))
        except BaseException:  # after an interrupt, too: wait for the parts that run, not for those in the queue
            pool.shutdown(cancel_futures=True)
            raise


class Budget:
    """Bytes that threads share: a thread that wants more than is left waits until others have given theirs back."""

    def __init__(self, whole: int) -> None:
        self.whole, self._left, self._given_back = whole, whole, Condition()

    @contextmanager
    def take(self, amount: int) -> Iterator[None]:
        """Return a context that holds this part of the budget, waited for; more than the whole would be waited for forever."""
        with self._given_back:
            self._given_back.wait_for(lambda: amount <= self._left)
            self._left -= amount
        try:
            yield
        finally:
            with self._given_back:
                self._left += amount
                self._given_back.notify_all()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Return a context in which matrix products use one thread.

    BLAS threads spin while they wait. Where another thread has the core, an inverse of 11 ms took 1.4 s. The limit is one of
    the process: where contexts of several threads overlap, it holds until the last of them ends.
    """
    _blas_limit.enter()
    try:
        yield
    finally:
        _blas_limit.leave()


def one_thread_from_now_on() -> None:
    """Limit BLAS and OpenMP to one thread for the rest of this process: its siblings have the other cores."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


class _BlasLimit:
    """The number of contexts that want one BLAS thread, and how many threads to give back after the last of them."""

    def __init__(self) -> None:
        self._lock, self._contexts = Lock(), 0
        self._limited: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._contexts == 0:
                self._limited = _thread_pools().limit(limits=1, user_api="blas")
            self._contexts += 1

    def leave(self) -> None:
        with self._lock:
            self._contexts -= 1
            if self._contexts == 0:
                self._limited.restore_original_limits()


_blas_limit = _BlasLimit()


@cache
def _thread_pools() -> Any:
    """Return the libraries of NumPy and SciPy found in this process, kept: the search takes longer than a small matrix product."""
    import scipy.linalg  # noqa: F401 -- it loads a BLAS of its own, which must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
