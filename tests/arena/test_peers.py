"""The peers that come with the benchmarks do what their papers say, on small graphs where that can be seen."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from askgraph.arena.contest import answers, first_node
from askgraph.arena.sets import _papers, choose_sets
from benchmarks import arena_peers as peers

QUESTIONS = ("random", "margin", "age", "featprop", "grain", "rim_90")
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


def test_a_label_is_as_reliable_as_others_that_are_alike_say():
    method, one = labeled("sgc_rim_90", 12)
    liar = next(iter(method.told))
    truthful = peers.reliability(method)[0]
    method.told[liar] = (int(one.truth[liar]) + 1) % 3
    doubted = peers.reliability(method)
    before = [
        sum(s for s, label in zip(row, method.told.values(), strict=True) if label == said) / sum(row)
        for row, said in zip(_alike(method), method.told.values(), strict=True)
    ]
    np.testing.assert_allclose(doubted, [0.9 * b / (0.9 * b + 0.1 * (1 - b) / 2) for b in before])
    assert doubted[0] < truthful
    assert peers.reliability(labeled("sgc_margin", 5)[0]).tolist() == [1.0] * 5  # it is not told


def _alike(method):
    nodes = list(method.told)
    alike = np.maximum(method.smoothed[nodes] @ method.smoothed[nodes].T, 1e-12)
    return (alike * (1 - np.eye(len(nodes)))).tolist()


def test_rim_asks_for_the_node_that_moves_most_nodes_that_are_not_moved():
    method, one = labeled("sgc_rim_90", 4)
    two = (method.along @ method.along).toarray()
    share = two / two.max(axis=1, keepdims=True)  # one column per node that moves
    weights = peers.reliability(method)
    nodes = list(method.told)
    moved = ((share[:, nodes] * weights) > peers.INFLUENCED).any(axis=1)

    def gain(node):
        return ((0.9 * share[:, node] > peers.INFLUENCED) & ~moved).sum()

    assert gain(method.ask()) == max(gain(node) for node in method.open())
    assert one.truth.size == len(moved)


def test_equal_values_have_equal_percentiles():
    assert peers.percentile(np.array([3.0, 1.0, 1.0, 2.0])).tolist() == [0.75, 0.0, 0.0, 0.5]


def test_margin_asks_at_random_while_one_class_is_known():
    one = one_set()
    method = peers.sgc_margin(one.graph, one.features, [0, 1, 2], 0)
    method.tell(0, 0)
    assert len({method.ask() for _ in range(20)}) > 10


@pytest.mark.parametrize("name", ["rows_random", "rows_margin", "rows_medoids"])
def test_rows_are_read_without_a_graph(name):
    (one,) = choose_sets("rows", ["wine"], None)
    method = getattr(peers, name)(None, one.features, [0, 1, 2], 0)
    node = first_node(one, 0)
    for _ in range(24):
        method.tell(node, int(one.truth[node]))
        node = method.ask()
        assert node not in method.told
    assert (method.predict() == one.truth).mean() > 0.9


@pytest.mark.parametrize("name", ["spreading", "poisson", "laplace", "pwll"])
@pytest.mark.parametrize(("track", "some"), [("graph", "wine graph"), ("rows", "wine")])
def test_peers_of_graphs_alone_learn(name, track, some):
    pytest.importorskip("graphlearning", reason='no graphlearning here: pip install ".[bench]"')
    (one,) = choose_sets(track, [some], None)
    method = getattr(peers, name)(one.graph, one.features, [0, 1, 2], 0)
    node = first_node(one, 0)
    for _ in range(18):
        method.tell(node, int(one.truth[node]))
        node = method.ask()
        assert node not in method.nodes
    assert (method.predict() == one.truth).mean() > 0.8


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
