"""A given graph and features of its nodes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import askgraph as ag


def plain(W, X, k, hops):
    """The definition, in dense loops."""
    n, A = len(W), W / np.median(W[W > 0]) + np.eye(len(W))
    d = A.sum(axis=1)
    parts, X = [W], X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    for _ in range(hops):
        X = np.array([sum(A[i, j] / np.sqrt(d[i] * d[j]) * X[j] for j in range(n)) for i in range(n)])
        U = X / np.linalg.norm(X, axis=1, keepdims=True)
        near = np.zeros((n, n))
        for i in range(n):
            others = sorted((j for j in range(n) if j != i), key=lambda j: -(U[i] @ U[j]))[:k]
            near[i, others] = near[others, i] = 1.0
        parts.append(near)
    return sum(part * n / part.sum() for part in parts)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_it_is_what_is_written_down(seed, hops):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((14, 14)) * (rng.random((14, 14)) < 0.3), 1)
    W, X = W + W.T, rng.random((14, 5))
    names = [f"n{i}" for i in range(14)]
    X[3] = 0.0  # a node without features
    W[3, 4] = W[4, 3] = 1.0
    for rows in (X, csr_array(X)):
        graph = ag.with_features(ag.Graph(W, names=names), rows, k=3, hops=hops)
        np.testing.assert_allclose(graph.weights.toarray(), plain(W, X, 3, hops), atol=1e-12)
        assert list(graph.names) == names


@pytest.mark.parametrize("power", [-900, -3, 1, 10, 900])
def test_the_unit_of_the_weights_says_nothing_about_features(power):
    rng = np.random.default_rng(0)
    W, X = np.triu(rng.random((14, 14)) * (rng.random((14, 14)) < 0.3), 1), rng.random((14, 5))
    one, other = (ag.with_features(ag.Graph((W + W.T) * factor), X, k=3) for factor in (1.0, 2.0**power))
    np.testing.assert_array_equal(one.weights.toarray(), other.weights.toarray())


def test_weights_that_are_far_apart_smooth_features_without_a_warning():
    W = np.diag([1e-300, 1e-300, 1e300], 1)
    assert np.isfinite(ag.with_features(ag.Graph(W + W.T), np.eye(4), k=1).weights.data).all()


def test_features_without_edges_and_what_is_refused():
    X = np.random.default_rng(0).random((6, 3))
    alone = ag.with_features(ag.Graph(np.zeros((6, 6))), X, k=2)
    assert alone.n_edges >= 6
    with pytest.raises(ag.GraphError, match="6 nodes"):
        ag.with_features(ag.Graph(np.zeros((6, 6))), X[:5])
    with pytest.raises(ag.SettingError, match="hops=0: give a whole number of at least 1"):
        ag.with_features(ag.Graph(np.zeros((6, 6))), X, hops=0)
