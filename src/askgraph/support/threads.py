"""Work shared among threads, and limits on the threads that libraries start."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")


def n_cores() -> int:
    """Return the number of cores, 1 if the system does not tell."""
    return os.cpu_count() or 1


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


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which matrix products use one thread.

    BLAS threads spin while they wait. Where another thread has the core, an inverse of 11 ms took 1.4 s.
    """
    limit: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
    return limit


def one_thread_from_now_on() -> None:
    """Limit BLAS and OpenMP to one thread for the rest of this process: its siblings have the other cores."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


@cache
def _thread_pools() -> Any:
    """Return the libraries found in this process, kept: the search takes longer than a small matrix product."""
    import scipy.linalg  # noqa: F401 -- it loads a BLAS of its own, which must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
