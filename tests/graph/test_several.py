"""Given graphs beside rows: they count as far as they join rows that are alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import askgraph as ag
from askgraph.graph.several import add_alike, add_graphs, alikeness


@pytest.fixture
def rows():
    """Three bundles of directions, sixty rows."""
    rng = np.random.default_rng(0)
    return np.repeat(np.eye(3), 20, axis=0) + 0.3 * rng.random((60, 3))


def at_random(n, edges, rng):
    pairs = np.array([pair for pair in rng.integers(0, n, (edges, 2)) if pair[0] != pair[1]])
    return _graph(pairs, n)


def _graph(pairs, n):
    W = np.zeros((n, n))
    W[pairs[:, 0], pairs[:, 1]] = W[pairs[:, 1], pairs[:, 0]] = 1.0
    return ag.Graph(W)


@pytest.mark.parametrize("sparse", [False, True])
def test_alikeness_is_one_among_neighbors_and_none_at_random(rows, sparse):
    X = csr_array(rows) if sparse else rows
    compared = ag.nearest_neighbors(rows, 5, "cosine")
    assert alikeness(compared, compared, X) == 1.0
    rng = np.random.default_rng(1)
    assert alikeness(at_random(60, 400, rng), compared, X) < 0.15
    inside = np.array([(a, b) for a in range(60) for b in rng.integers(0, 20, 2) + 20 * (a // 20) if a != b])
    mixed = np.vstack([inside, rng.integers(0, 60, inside.shape)])
    good, half = (alikeness(_graph(pairs[pairs[:, 0] != pairs[:, 1]], 60), compared, X) for pairs in (inside, mixed))
    assert good > 0.8
    assert 0.2 < half < 0.8


def test_a_useless_graph_changes_nothing_and_an_empty_one_neither(rows):
    compared = ag.nearest_neighbors(rows, 5, "cosine")
    opposite = _graph(np.array([(a, (a + 20) % 60) for a in range(60)]), 60)
    for graph in (opposite, ag.Graph(np.zeros((60, 60)))):
        assert alikeness(graph, compared, rows) == 0.0
        assert add_alike(compared, rows, [graph], [0.0]) is compared


def test_the_sum_equals_the_formula(rows):
    rng = np.random.default_rng(2)
    compared, given = ag.nearest_neighbors(rows, 5, "cosine"), [at_random(60, 90, rng), at_random(60, 40, rng)]
    got = add_alike(compared, rows, given, [0.5, 0.2], k=4).weights.toarray()
    even = [g.weights.toarray() / g.weights.data.mean() for g in (compared, *given)]
    W = 0.5 * even[1] + 0.2 * even[2]
    looped = W + np.eye(60)
    d = looped.sum(axis=1)
    X, want = rows / np.linalg.norm(rows, axis=1)[:, None], even[0] + W
    for _ in range(2):
        X = looped / np.sqrt(np.outer(d, d)) @ X
        near = ag.nearest_neighbors(X, 4, "cosine", bandwidth=None).weights
        want = want + near.toarray() / near.data.mean()
    np.testing.assert_allclose(got, want, atol=1e-12)


def test_graphs_alone_are_added_by_their_edges():
    one, other = _graph(np.array([(0, 1), (1, 2)]), 4), ag.Graph(7.0 * _graph(np.array([(2, 3)]), 4).weights)
    np.testing.assert_allclose(add_graphs([one, other]).weights.toarray(), ag.chain(4).weights.toarray())
