"""Splitmix64 is the published one, the same in numpy and in compiled loops."""

from __future__ import annotations

import numpy as np

from askgraph.priors.noise import host, kernels
from askgraph.support import hashing
from askgraph.support.jit import jit

PUBLISHED = [
    16294208416658607535,
    7960286522194355700,
    487617019471545679,
]  # first outputs of java.util.SplittableRandom(0)


def test_numpy_and_compiled_loops_give_the_published_numbers():
    states = np.arange(1, 4, dtype=np.uint64) * hashing.GOLDEN
    assert hashing.finalize(states).tolist() == PUBLISHED
    compiled = jit()(hashing.finalize)
    assert [compiled(state) for state in states] == PUBLISHED


def test_noise_of_edges_is_hashed_alike_in_numpy_and_compiled():
    i, j = np.arange(50), np.arange(50)[::-1].copy()
    for a, b, expected in zip(i.astype(np.uint64), j.astype(np.uint64), host.hashed(i, j, 7), strict=True):
        assert kernels.mixed(np.uint64(kernels.mixed(np.uint64(7), a)), b) == expected
