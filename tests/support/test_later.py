"""Values computed when first read: once, also by several threads, and again after a failure."""

import pickle
import threading

import pytest

from askgraph.support.later import Later


def test_threads_that_read_together_compute_once():
    made, together = [], threading.Barrier(4)
    later = Later(lambda: made.append(1) or len(made))

    def read():
        together.wait()
        assert later.value == 1

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_a_failure_is_raised_and_the_next_read_tries_again():
    answers = [ZeroDivisionError(), 7]

    def compute():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    later = Later(compute)
    with pytest.raises(ZeroDivisionError):
        _ = later.value
    assert later.value == 7


def test_a_pickle_holds_the_value():
    assert pickle.loads(pickle.dumps(Later(lambda: 5))).value == 5
