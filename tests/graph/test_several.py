"""Given graphs beside rows: they count as far as they join rows that are alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import askgraph as ag
from askgraph.graph.several import add_graphs, alikeness, unrelated


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


def test_a_graph_is_unrelated_to_rows_that_its_many_edges_join_at_random():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    assert unrelated(at_random(200, 4000, rng), X)
    assert not unrelated(at_random(200, 20, rng), X)  # these few edges could be those of any graph
    assert not unrelated(ag.nearest_neighbors(X, 5, "cosine"), X)
    assert not unrelated(ag.Graph(csr_array((200, 200))), X)
    two, across = np.repeat(np.eye(2), 100, axis=0), np.array([(a, 100 + b) for a in range(100) for b in range(100)])
    assert not unrelated(_graph(across, 200), two)  # it joins rows that are less alike than any two


@pytest.mark.parametrize("sparse", [False, True])
def test_alikeness_is_one_among_neighbors_and_none_at_random(rows, sparse):
    X = csr_array(rows) if sparse else rows
    compared = ag.nearest_neighbors(rows, 5, "cosine")
    assert alikeness(compared, compared, X) == 1.0
    rng = np.random.default_rng(1)
    assert alikeness(at_random(60, 400, rng), compared, X) == 0.0
    inside = np.array([(a, b) for a in range(60) for b in rng.integers(0, 20, 2) + 20 * (a // 20) if a != b])
    mixed = np.vstack([inside, rng.integers(0, 60, inside.shape)])
    good, half = (alikeness(_graph(pairs[pairs[:, 0] != pairs[:, 1]], 60), compared, X) for pairs in (inside, mixed))
    assert good > 0.8
    assert 0.2 < half < 0.8


def test_a_useless_graph_counts_for_nothing_and_an_empty_one_neither(rows):
    compared = ag.nearest_neighbors(rows, 5, "cosine")
    opposite = _graph(np.array([(a, (a + 20) % 60) for a in range(60)]), 60)
    for graph in (opposite, ag.Graph(np.zeros((60, 60)))):
        assert alikeness(graph, compared, rows) == 0.0


def test_graphs_at_random_count_for_nothing_nearly_always(rows):
    compared, rng = ag.nearest_neighbors(rows, 5, "cosine"), np.random.default_rng(3)
    shares = [alikeness(at_random(60, int(rng.integers(20, 400)), rng), compared, rows) for _ in range(200)]
    assert np.count_nonzero(shares) <= 2


def test_graphs_are_added_by_their_shares(rows):
    rng = np.random.default_rng(2)
    given = [at_random(60, 90, rng), at_random(60, 40, rng)]
    even = [g.weights.toarray() / g.weights.data.mean() for g in given]
    np.testing.assert_allclose(
        add_graphs(given, [0.5, 0.2]).weights.toarray(), 0.5 * even[0] + 0.2 * even[1], atol=1e-12
    )


def test_graphs_alone_are_added_by_their_edges():
    one, other = _graph(np.array([(0, 1), (1, 2)]), 4), ag.Graph(7.0 * _graph(np.array([(2, 3)]), 4).weights)
    np.testing.assert_allclose(add_graphs([one, other]).weights.toarray(), ag.chain(4).weights.toarray())
