"""Parts of work run in threads: in order, and an error does not wait for parts in the queue."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from askgraph.support.threads import Budget, in_threads, n_cores


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_parts(count):
    assert in_threads(lambda part: part**2, range(count)) == [part**2 for part in range(count)]


def test_after_an_error_no_part_in_the_queue_is_begun():
    begun = []

    def fail(part):
        begun.append(part)
        time.sleep(0.05)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(fail, range(1000))
    assert len(begun) < 500


def test_threads_together_never_hold_more_than_their_budget():
    budget, held, most = Budget(10), [], []

    def hold(amount):
        with budget.take(amount):
            held.append(amount)
            most.append(sum(held))
            time.sleep(0.001)
            held.remove(amount)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(hold, [3, 10, 1, 6, 7, 2, 10, 4] * 5))
    assert len(most) == 40
    assert max(most) <= 10
    with pytest.raises(KeyError), budget.take(10):
        raise KeyError
    with budget.take(10):  # what an error left is there again
        pass


BLAS = """
from threadpoolctl import threadpool_info, threadpool_limits
from askgraph.support.threads import one_blas_thread

def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

with one_blas_thread():
    within = blas_threads()
assert len(within) > 0 and set(within) == {1}, within
threadpool_limits(2, "blas")
before = blas_threads()
"""
LIMITED = """
with one_blas_thread():
    assert blas_threads() == within, blas_threads()
assert blas_threads() == before, (before, blas_threads())
"""
OVERLAPPING = """
first, last = one_blas_thread(), one_blas_thread()
first.__enter__()
last.__enter__()  # as another thread may
first.__exit__(None, None, None)
assert blas_threads() == within, blas_threads()
last.__exit__(None, None, None)
assert blas_threads() == before, (before, blas_threads())
"""


@pytest.mark.slow
@pytest.mark.parametrize("contexts", [LIMITED, OVERLAPPING], ids=["one", "overlapping"])
def test_every_blas_of_numpy_and_scipy_is_limited_and_gets_its_threads_back(contexts):
    # In a process of its own: other tests load libraries with a BLAS that is not ours to limit (faiss), and leave threads behind.
    done = subprocess.run([sys.executable, "-c", BLAS + contexts], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which cores a process may use")
def test_cores_that_the_process_may_not_use_are_not_counted():
    script = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
        "from askgraph.support.threads import n_cores; print(n_cores())"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout == "1\n"
    assert n_cores() == len(os.sched_getaffinity(0))
