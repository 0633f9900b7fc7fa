"""Parts of work run in threads: in order, and an error does not wait for parts in the queue."""

from __future__ import annotations

import time

import pytest
from threadpoolctl import threadpool_info

from askgraph.support.threads import in_threads, one_blas_thread


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_parts(count):
    assert in_threads(lambda part: part**2, range(count)) == [part**2 for part in range(count)]


def test_after_an_error_no_part_in_the_queue_is_begun():
    begun = []

    def fail(part):
        begun.append(part)
        time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(fail, range(1000))
    assert len(begun) < 500


def test_every_blas_is_limited_and_gets_its_threads_back():
    with one_blas_thread():
        within = blas_threads()
    before = blas_threads()
    with one_blas_thread():
        assert blas_threads() == within == [1] * len(within)
    assert len(within) > 0
    assert blas_threads() == before
