"""A stack of columns is a value: whatever is appended to it, here or in another thread, it stays as it was."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from askgraph.linalg.column_stack import ColumnStack
from askgraph.support.threads import in_threads


def test_branches_do_not_see_each_other():
    base = ColumnStack.like(np.zeros(4)).push(np.full(4, 1.0))
    left, right = base.push(np.full(4, 2.0)), base.push(np.full(4, 3.0))
    assert base.array.tolist() == [[1.0]] * 4
    assert left.array.tolist() == [[1.0, 2.0]] * 4
    assert right.array.tolist() == [[1.0, 3.0]] * 4
    with pytest.raises(ValueError, match="read-only"):
        base.array[0, 0] = 5.0


def test_threads_that_append_to_one_stack_get_a_branch_each():
    base = ColumnStack.of(np.ones((1000, 3)))

    def grow(number):
        stack = base
        for _ in range(20):
            stack = stack.push(np.full(1000, float(number)))
        return stack.array

    for number, array in enumerate(in_threads(grow, range(16))):
        assert (array[:, :3] == 1).all()
        assert (array[:, 3:] == number).all()


def test_a_stack_can_be_pickled():
    stack = ColumnStack.of(np.arange(6.0).reshape(3, 2))
    assert (pickle.loads(pickle.dumps(stack)).array == stack.array).all()
