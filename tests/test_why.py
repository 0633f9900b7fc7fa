"""Why a node: votes add up to the mean, changes are those of every answer tried, neighbourhoods can be drawn."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askgraph as ag
from askgraph import why as module
from askgraph.answers.coding import decide, means
from askgraph.field import Field
from askgraph.kinds import changes as changes_module
from askgraph.layout.neighborhood import MAX_NODES, arrange
from askgraph.layout.stress import distances
from askgraph.priors.precision import Precision
from askgraph.why import votes, why
from tests.helpers.engines import ENGINES
from tests.helpers.graphs import problems, random_graph

pytestmark = pytest.mark.slow

over_engines = pytest.mark.parametrize("engine", ENGINES, ids=str)
few = settings(max_examples=25, deadline=None)
NOISES = st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=9, max_size=9)


def told(engine, problem, noises, fold):
    """A field with labels of mixed noise, the first ones folded in."""
    W, delta, classes, labels = problem
    field = engine.start(ag.Graph(W), delta, classes)
    for step, ((node, label), noise) in enumerate(zip(labels, noises, strict=False)):
        field = field.observe(node, label, noise)
        if step == fold:
            field = field.rebase()
    return field


def summed(field, voters, weights):
    """Σ_l w_l [label l is c]."""
    label, h = {x.node: x.said for x in field.observations}, np.zeros(field.coding.width)
    for voter, weight in zip(voters.tolist(), weights, strict=True):
        h[label[voter]] += weight
    return h


@over_engines
@few
@given(problems(), NOISES, st.integers(-1, 6))
def test_votes_add_up_to_the_mean(engine, problem, noises, fold):
    field = told(engine, problem, noises, fold)
    for node in np.flatnonzero(~field.labeled).tolist():
        voters, weights = votes(field, node)
        assert (weights >= 0).all()
        assert (np.diff(weights) <= 0).all()
        h = summed(field, voters, weights)
        np.testing.assert_allclose(h, field.votes[node], atol=20 * engine.tolerance)
        np.testing.assert_allclose(2 * h - weights.sum(), means(field.votes)[node], atol=40 * engine.tolerance)


@over_engines
@few
@given(problems(), NOISES, st.integers(-1, 6))
def test_votes_are_those_of_an_explicit_solve(engine, problem, noises, fold):
    W, delta, _, labels = problem
    field = told(engine, problem, noises, fold)
    G0 = np.linalg.inv(np.diag(W.sum(axis=1) + delta) - W)
    at, gamma = np.array([node for node, _ in labels], dtype=int), np.array(noises[: len(labels)])
    want = G0[:, at] @ np.linalg.inv(G0[np.ix_(at, at)] + np.diag(gamma**2))
    for node in np.flatnonzero(~field.labeled).tolist():
        voters, weights = votes(field, node)
        assert sorted(voters) == sorted(at)
        for voter, weight in zip(voters, weights, strict=True):
            assert weight == pytest.approx(want[node, at == voter][0], abs=20 * engine.tolerance)


@over_engines
@few
@given(problems(), NOISES, st.integers(-1, 6))
def test_votes_at_a_labeled_node_are_those_of_the_others(engine, problem, noises, fold):
    field = told(engine, problem, noises, fold)
    for node, *_ in field.observations:
        voters, weights = votes(field, node)
        assert node not in voters
        h = summed(field, voters, weights)
        np.testing.assert_allclose(h, field.forget(node).votes[node], atol=100 * engine.tolerance)


@over_engines
def test_awaited_answers_have_their_share(engine):
    field = engine.start(ag.chain(9), 0.01, 2).observe(0, 0).observe(8, 1).await_answer(4)
    voters, weights = votes(field, 3)
    share = (ag.chain(9).weights @ module.without_own(field, 3))[4]
    assert voters.tolist() == [0, 8]
    np.testing.assert_allclose(summed(field, voters, weights) + share * field.votes[4], field.votes[3], atol=1e-6)


@over_engines
@pytest.mark.parametrize("readout", [ag.Map(), ag.Consensus()], ids=["map", "consensus"])
@settings(max_examples=10, deadline=None)
@given(problems(), NOISES, st.integers(-1, 6))
def test_changes_are_those_of_every_answer_tried(engine, readout, problem, noises, fold):
    field = told(engine, problem, noises, fold)
    p = readout(field)
    for node in np.flatnonzero(~field.labeled)[:3].tolist():
        others = np.arange(len(p)) != node
        after = [decide(readout(field.observe(node, c))) for c in range(field.coding.width)]
        want = sum(p[node, c] * (a != decide(p))[others].sum() for c, a in enumerate(after))
        assert why(field, readout, node).changes == pytest.approx(want, abs=1e-6)


def test_of_many_answers_the_likely_ones_are_tried(monkeypatch):
    graph, truth = ag.communities((40, 60, 50), rng=0)
    learner = ag.Learner(graph, classes=range(30), rng=0)
    for node in range(0, 150, 10):
        learner.tell(node, int(truth[node]))
    field, readout = learner.field, ag.Consensus()
    exact, tried = why(field, readout, 3).changes, []
    assert np.isnan(why(field, None, 3).changes)
    monkeypatch.setattr(changes_module, "LARGE", 1)
    monkeypatch.setattr(changes_module, "_changed", lambda field, *_: tried.append(field.observations[-1].said) or 7)
    assert why(field, readout, 3).changes == pytest.approx(7)
    p = readout(field)[3]
    assert sorted(p[tried]) == sorted(p)[-len(tried) :]
    assert len(tried) == changes_module.TRIED or (
        len(tried) < changes_module.TRIED and p[tried].sum() >= changes_module.LIKELY
    )
    assert 0 <= exact <= 149


def test_a_long_factor_is_folded_in_once(monkeypatch):
    monkeypatch.setattr("askgraph.field.field.MAX_FACTOR_COLUMNS", 5)
    field = ENGINES[0].start(ag.grid(5, 5), 0.01, 3)
    for node, label in ((0, 0), (24, 1), (4, 2), (20, 0)):
        field = field.observe(node, label)
    made = []
    given = Field.given.__func__
    monkeypatch.setattr(Field, "given", classmethod(lambda cls, *args: made.append(1) or given(cls, *args)))
    changes = why(field, ag.Map(), 12).changes
    assert len(made) == 1
    assert changes == pytest.approx(why(field.rebase(), ag.Map(), 12).changes)


def check(found, graph, field):
    nodes, k = found.nodes.tolist(), found.nodes.size
    assert nodes[0] == found.node
    assert 1 <= k == len(set(nodes)) <= MAX_NODES
    W = graph.weights.toarray()
    pairs = {(a, b) for a in nodes for b in nodes if a < b and W[a, b] > 0}
    assert {(min(e), max(e)) for e in found.edges.tolist()} == pairs
    assert len(found.edges) == len(pairs) == found.strengths.size
    assert ((found.strengths > 0) & (found.strengths <= 1)).all()
    assert found.positions.shape == (k, 2)
    assert ((found.positions >= 0) & (found.positions <= 1)).all()
    np.testing.assert_allclose(found.positions[0], 0.5, atol=1e-12)
    assert (distances(found.positions) + np.eye(k)).min() > 0.06 / np.sqrt(k)
    assert np.isfinite(found.changes)
    assert 0 <= found.changes <= graph.n_nodes - 1 + 1e-9
    assert np.isfinite(found.weights).all()
    assert set(found.voters[: module.weighty(found.weights)].tolist()) <= set(nodes)


@pytest.mark.long
@pytest.mark.slow
@over_engines
@few
@given(problems(most=14), NOISES, st.integers(-1, 6))
def test_any_node_of_any_graph(engine, problem, noises, fold):
    graph, field = ag.Graph(problem[0]), told(engine, problem, noises, fold)
    for node in range(0, graph.n_nodes, 3):
        found, again = (why(field, ag.Consensus(), node) for _ in range(2))
        check(found, graph, field)
        for a, b in zip(found, again, strict=True):
            np.testing.assert_array_equal(a, b)


def sparse_ones():
    rng = np.random.default_rng(3)
    yield "clique", ag.Graph(np.ones((80, 80)) - np.eye(80))
    yield "star", ag.star(200)
    yield "chain", ag.chain(300)
    yield "grid", ag.grid(20, 20)
    yield "isolated", ag.Graph(np.zeros((7, 7)))
    yield "weights", ag.Graph(random_graph(rng, 90, 0.1) ** 6)
    yield "blobs", ag.nearest_neighbors(rng.normal(size=(300, 2)), k=6)
    yield "copies", ag.nearest_neighbors(np.repeat(rng.normal(size=(20, 2)), 10, axis=0), k=6)
    yield "tree", ag.Graph.from_edges([(i, (i - 1) // 3) for i in range(1, 250)])


GRAPHS = dict(sparse_ones())


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("count", [0, 1, 3, 6])
def test_larger_neighbourhoods_can_be_drawn(name, count):
    graph = GRAPHS[name]
    field = ENGINES[0].start(graph, 0.005, 3)
    for at in np.random.default_rng(count).permutation(graph.n_nodes)[:count].tolist():
        field = field.observe(at, at % 3)
    for node in (0, 1, graph.n_nodes - 1):
        check(why(field, ag.Map(), node), graph, field)


def test_voters_come_with_the_way_to_them():
    graph = ag.grid(20, 20)
    field = ENGINES[0].start(graph, 0.005, 2).observe(5 * 20 + 5, 0).observe(12 * 20 + 14, 1)
    found = why(field, ag.Map(), 8 * 20 + 8)
    part = graph.subgraph(found.nodes.tolist())
    assert {105, 254} <= set(found.nodes.tolist())
    assert part.components().max() == 0


def test_nothing_is_drawn_behind_a_label():
    field = ENGINES[0].start(ag.chain(30), 0.005, 2).observe(10, 0).observe(15, 1)
    assert sorted(why(field, ag.Map(), 12).nodes) == [10, 11, 12, 13, 14, 15]


def test_odd_states():
    nothing = ENGINES[0].start(ag.grid(3, 3), 0.01)
    found = why(nothing, ag.Consensus(), 4)
    assert found.voters.size == found.weights.size == 0
    assert found.changes == 0
    assert found.nodes.size == 9
    one = why(nothing.observe(0, 0), ag.Consensus(), 4)
    assert one.voters.tolist() == [0]
    assert one.changes == 0
    full = nothing
    for node in range(9):
        full = full.observe(node, node % 2)
    done = why(full, ag.Consensus(), 4)
    assert done.changes == 0
    assert sorted(done.nodes) == [1, 3, 4, 5, 7]
    assert 4 not in done.voters
    for node in (-1, 9):
        with pytest.raises(ag.LabelError, match="indices run from 0 to 8"):
            why(full, ag.Consensus(), node)


def test_what_is_known_already_is_not_solved_for_again():
    field = ENGINES[0].start(ag.grid(6, 6), 0.01, 2).observe(0, 0).observe(35, 1)
    one, other = why(field, ag.Map(), 14), why(field, ag.Map(), 14, field.awaiting(14))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_drawing_takes_a_moment():
    graph = ag.nearest_neighbors(np.random.default_rng(0).normal(size=(60, 3)), k=5)
    arrange(graph.weights, np.arange(60))
    best = np.inf
    for _ in range(5):
        start = time.thread_time()
        arrange(graph.weights, np.arange(60))
        best = min(best, time.thread_time() - start)
    assert best < 0.1  # seconds of CPU time; 0.01 is usual


def test_one_solve(monkeypatch):
    graph = ag.grid(30, 30)
    engine = ENGINES[2]
    field = Field.start(engine.make(Precision.of(graph, 0.01)), 3, squares=False)
    for node in (0, 450, 899):
        field = field.observe(node, node % 3)
    solved = []
    columns = type(field.prior).columns
    monkeypatch.setattr(type(field.prior), "columns", lambda self, *a: solved.append(1) or columns(self, *a))
    why(field, ag.Map(), 333)
    assert len(solved) == 1
