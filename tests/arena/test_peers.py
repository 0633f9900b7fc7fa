"""The peers that come with the benchmarks do what their papers say, on small graphs where that can be seen."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from askgraph.arena.contest import answers, first_node
from askgraph.arena.sets import _papers
from benchmarks import arena_peers as peers

QUESTIONS = ("random", "margin", "age", "featprop", "grain")
SGC = [f"sgc_{name}" for name in QUESTIONS]
GCN = [pytest.param(f"gcn_{name}", marks=pytest.mark.slow) for name in QUESTIONS]


def one_set():
    return _papers((100, 200, 300), 0.15, 0.5, 1)("clear papers")


def labeled(name, n):
    """A peer after n labels, and its set."""
    one = one_set()
    said, method = answers(one, 0.0, 0), getattr(peers, name)(one.graph, one.features, list(range(3)), 0)
    for node in range(500, 600):
        method.skip(node)
    node = first_node(one, 1)
    for _ in range(n):
        method.tell(node, int(said[node]))
        node = method.ask()
        assert node not in method.told
        assert not 500 <= node < 600
    return method, one


@pytest.mark.parametrize("name", [*SGC, *GCN])
def test_a_peer_asks_for_open_nodes_and_learns(name):
    if name.startswith("gcn") and find_spec("torch") is None:
        pytest.skip("no torch here: pip install torch==2.13.0")
    method, one = labeled(name, 24)
    rest = np.setdiff1d(np.arange(one.truth.size), list(method.told))
    assert (method.predict()[rest] == one.truth[rest]).mean() > 0.8  # all in the largest class: 0.5


def test_smoothing_is_that_of_a_graph_convolution():
    one = one_set()
    edges = (one.graph.weights.toarray() > 0) + np.eye(one.truth.size)
    scale = 1 / np.sqrt(edges.sum(axis=1))
    np.testing.assert_allclose(peers.smoothing(one.graph).toarray(), scale[:, None] * edges * scale, rtol=1e-6)


def test_featprop_asks_for_the_node_that_brings_others_nearest():
    method, _one = labeled("sgc_featprop", 3)
    alike = method.smoothed @ method.smoothed.T

    def total(medoids):
        return alike[:, list(medoids)].max(axis=1).sum()

    asked = method.ask()
    best = max(total({*method.told, int(node)}) for node in method.open())
    assert total({*method.told, asked}) == pytest.approx(best)


def test_grain_asks_for_the_node_that_moves_and_reaches_most():
    method, _one = labeled("sgc_grain", 3)
    two = (method.along @ method.along).toarray()
    moves = (two / two.max(axis=1, keepdims=True) > peers.INFLUENCED).T
    apart = np.linalg.norm(method.smoothed[:, None] - method.smoothed[None], axis=2)
    reach = (moves.astype(int) @ (apart <= peers.RADIUS * apart.max()).astype(int)) > 0

    def gain(nodes):
        shares = [rows[list(nodes)].any(axis=0).sum() / rows.any(axis=0).sum() for rows in (moves, reach)]
        return sum(shares)

    asked = method.ask()
    assert gain({*method.told, asked}) == pytest.approx(max(gain({*method.told, int(node)}) for node in method.open()))


def test_pagerank_is_that_of_networkx():
    nx = pytest.importorskip("networkx")
    one = one_set()
    along = peers.smoothing(one.graph)
    theirs = nx.pagerank(nx.from_scipy_sparse_array(along), alpha=0.85, tol=1e-10, max_iter=500)
    np.testing.assert_allclose(peers.pagerank(along), [theirs[k] for k in range(one.truth.size)], rtol=1e-3)


def test_margin_asks_where_the_two_likeliest_classes_are_closest():
    method, _ = labeled("sgc_margin", 9)
    p = np.sort(method.chances(), axis=1)
    gaps = (p[:, -1] - p[:, -2])[method.open()]
    assert method.open()[gaps.argmin()] == method.ask()
