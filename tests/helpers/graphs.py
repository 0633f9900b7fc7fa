"""Graphs and label sets for tests: the toy graphs by name, and random ones by strategy."""

from __future__ import annotations

import numpy as np

import askgraph as ag
from tests.helpers.draws import st

TOYS = {
    "grid": lambda: ag.grid(4, 4),
    "two_squares": lambda: ag.two_squares(rng=0)[0],
    "communities": lambda: ag.communities((12, 14, 10), mean_degree=4, rng=0)[0],
    "chain": lambda: ag.chain(9),
    "star": lambda: ag.star(9),
}


def random_graph(rng, n, density=0.4, low=0.1, high=3.0):
    W = np.triu(rng.uniform(low, high, (n, n)) * (rng.random((n, n)) < density), 1)
    return W + W.T


def random_labels(rng, n, classes, count):
    nodes = rng.permutation(n)[:count]
    return [(int(node), int(rng.integers(classes))) for node in nodes]


@st.composite
def problems(draw, most=9):
    """(weights, delta, classes, labels in order): odd graphs included, disconnected ones too."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, most))
    W = random_graph(rng, n, draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])))
    delta = draw(st.sampled_from([0.005, 0.05, 1.0]))
    classes = draw(st.integers(2, 4))
    return W, delta, classes, random_labels(rng, n, classes, draw(st.integers(0, n - 1)))
