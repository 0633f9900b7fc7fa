"""exp and log of compiled loops are those of numpy, to two units in the last place."""

from __future__ import annotations

import numpy as np
import pytest

from askgraph.linalg import vector_math
from askgraph.support.jit import jit


@jit()
def all_exp(x, out):
    for j in range(x.size):
        out[j] = vector_math.exp(x[j])


@jit()
def all_log(x, out):
    for j in range(x.size):
        out[j] = vector_math.log(x[j])


def computed(loop, x):
    out = np.empty_like(x)
    loop(x, out)
    return out


@pytest.mark.parametrize("width", [1e-9, 0.3, 40.0, 708.0])
def test_exp(width):
    x = np.random.default_rng(0).uniform(-width, width, 100_001)
    np.testing.assert_allclose(computed(all_exp, x), np.exp(x), rtol=5e-16)


@pytest.mark.parametrize("width", [1e-9, 0.3, 1.5, 40.0, 700.0])
def test_log(width):
    x = np.exp(np.random.default_rng(1).uniform(-width, width, 100_001))
    np.testing.assert_allclose(computed(all_log, x), np.log(x), rtol=5e-16)


def test_far_arguments_stay_finite():
    out = computed(all_exp, np.array([-np.inf, -1e5, 0.0, -0.0, 1e5, np.inf]))
    np.testing.assert_array_equal(out[2:4], 1.0)
    assert (out[:2] < 1e-300).all()
    assert (np.isfinite(out) & (out > 0)).all()


def test_whole_powers_of_two_are_exact():
    x = 2.0 ** np.arange(-1000, 1000)
    np.testing.assert_allclose(computed(all_log, x), np.log(x), rtol=3e-16)
    assert computed(all_log, np.array([1.0]))[0] == 0.0
