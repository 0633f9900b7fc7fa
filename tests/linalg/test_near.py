"""Inverses on neighborhoods: each row is that of a small inverse, and what they leave of a variance adds up to it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import askgraph as ag
from askgraph.linalg.multigrid import Level
from askgraph.linalg.near import Near
from askgraph.linalg.near_kernels import BUSY, MOST
from askgraph.priors.precision import Precision
from tests.helpers.graphs import random_graph

NOBODY = np.zeros(0, dtype=np.int64)


def star(n):
    """A hub with more neighbors than a node in a neighborhood may have, and a chain through the others."""
    W = np.zeros((n, n))
    W[0, 1:] = 1.0
    W[np.arange(1, n - 1), np.arange(2, n)] = 2.0
    return ag.Graph(W + W.T)


GRAPHS = {
    "weighted": lambda: ag.Graph(random_graph(np.random.default_rng(0), 60, 0.1)),
    "more neighbors than a neighborhood holds": lambda: ag.Graph(random_graph(np.random.default_rng(1), 50, 0.9)),
    "power law": lambda: ag.power_law(80, 3, rng=0),
    "hub": lambda: star(int(BUSY) + 20),
    "pairs": lambda: ag.Graph(np.kron(np.eye(6), [[0.0, 1.0], [1.0, 0.0]])),
    "no edges": lambda: ag.Graph(csr_array((5, 5))),
}


def near(precision, seed=0):
    """C, with the nodes of Q in some order."""
    order = np.random.default_rng(seed).permutation(precision.graph.n_nodes)
    place = np.argsort(order)
    level = Level.of(precision.matrix, precision.excess).permuted(order)
    return Near(level.matrix(), order, place)


def as_matrix(rows, n):
    return csr_array((rows.value, rows.node, rows.first), shape=(rows.size.size, n)).toarray()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("left_out", [(), (3,), (0, 3, 4)])
def test_rows_are_those_of_small_inverses_and_leave_the_rest_of_the_variance(name, left_out):
    graph = GRAPHS[name]()
    precision, out = Precision.of(graph, 0.1), np.array(left_out, dtype=np.int64)
    kept = np.setdiff1d(np.arange(graph.n_nodes), out)
    rows, Q = near(precision).rows(kept, out), precision.matrix.toarray()
    for i, start, stop in zip(kept, rows.first[:-1], rows.first[1:], strict=True):
        block = rows.node[start:stop]
        assert block[-1] == i
        assert len(set(block)) == len(block) <= MOST
        assert not set(block) & set(left_out)
        np.testing.assert_allclose(rows.value[start:stop], np.linalg.inv(Q[np.ix_(block, block)])[-1], rtol=1e-9)
    G, C = np.linalg.inv(Q[np.ix_(kept, kept)]), as_matrix(rows, graph.n_nodes)[:, kept]
    rest = np.eye(kept.size) - C @ Q[np.ix_(kept, kept)]
    np.testing.assert_allclose(rows.own + np.diagonal(rest @ G @ rest.T), np.diagonal(G), rtol=1e-9)
    np.testing.assert_allclose(rows.sums, C.sum(axis=1), rtol=1e-9)


@pytest.mark.parametrize("name", GRAPHS)
def test_all_rows_at_once_are_the_rows_one_by_one(name):
    graph = GRAPHS[name]()
    found, n = near(Precision.of(graph, 0.1)), graph.n_nodes
    rows = found.rows(np.arange(n), NOBODY)
    np.testing.assert_array_equal(found.diagonal, rows.own)
    np.testing.assert_array_equal(found.sums, rows.sums)
    C = as_matrix(rows, n)
    for node in range(n):
        others = np.flatnonzero(C[:, node])
        assert set(found.around(node)) == set(others[others != node])
    x, y = np.random.default_rng(0).normal(size=(2, n, 8)).astype(np.float32)
    order = found._order
    found.subtract(x[order], y[order], left := np.zeros_like(x))
    np.testing.assert_allclose(left[np.argsort(order)], x - C @ y, atol=1e-4)
    np.testing.assert_allclose(found.times(y[order])[np.argsort(order)], C @ y, atol=1e-4)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_node_that_is_left_out_changes_the_rows_around_it_and_no_others(name):
    graph = GRAPHS[name]()
    found, everyone = near(Precision.of(graph, 0.1)), np.arange(graph.n_nodes)
    for gone in (NOBODY, np.array([0, 3])):
        for node in (1, 4):
            before, after = (as_matrix(found.rows(everyone, x), graph.n_nodes) for x in (gone, np.append(gone, node)))
            assert set(np.flatnonzero((before != after).any(axis=1))) <= {*found.around(node)}


def test_a_hub_stays_alone():
    found = near(Precision.of(star(int(BUSY) + 20), 0.1))
    assert found.around(0).size == 0
    assert found.rows(np.array([0]), NOBODY).node.tolist() == [0]


def test_where_an_inverse_would_lose_its_digits_a_node_is_alone():
    graph = ag.Graph(1e14 * np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    rows = near(Precision.of(graph, 1e-3)).rows(np.arange(3), NOBODY)
    assert rows.size[1] == 1
    assert np.isfinite(rows.value).all()
