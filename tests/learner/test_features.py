"""Learners with features: beside a graph, alone, saved, told in any order, and what they refuse."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from scipy.sparse import csr_array

import askgraph as ag
from askgraph.errors import EngineError, GraphError, SettingError
from askgraph.graph.kernels import _largest, feature_columns, variance_of
from askgraph.kinds import one_class
from askgraph.plan.tune import candidates
from askgraph.priors.features import NOISE
from askgraph.priors.summed import Summed
from askgraph.readouts import hearing
from askgraph.readouts.temperature import Evidence


def problem(n=60, seed=0):
    """Two classes, a graph that says little, and features that say much."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    W = np.triu(rng.random((n, n)) < np.where(truth[:, None] == truth, 0.09, 0.06), 1).astype(float)
    X = np.eye(2)[truth] @ rng.normal(size=(2, 12)) + 0.7 * rng.normal(size=(n, 12))
    return ag.Graph(W + W.T), X, truth


def strangers(n=60, each=20):
    """A graph that has nothing to do with anything."""
    ends = np.random.default_rng(1).integers(n, size=(n * each, 2))
    return ag.Graph.from_edges([(a, b) for a, b in ends.tolist() if a != b])


def told(learner, truth, count=12):
    for step in learner.run(lambda node: int(truth[node]), count):
        assert step.label == truth[step.node]
    return learner


def accuracy(learner, truth):
    return (learner.predict() == truth).mean()


def test_the_columns_are_the_kernels_of_the_study():
    graph, X, _ = problem()
    W = graph.weights.toarray() + np.eye(60)
    S = W / np.sqrt(np.outer(W.sum(axis=0), W.sum(axis=0)))
    rows, want = X / np.linalg.norm(X, axis=1, keepdims=True), 0
    for hops in range(3):
        phi = np.linalg.matrix_power(S, hops) @ rows
        K = (phi := phi / np.linalg.norm(phi, axis=1, keepdims=True)) @ phi.T
        want = want + K / (np.trace(K) / 60 - K.mean()) / 3
    for given in (X, csr_array(X)):
        found = feature_columns(graph, given)
        np.testing.assert_allclose(found @ found.T, want, atol=1e-10)
        assert variance_of(found) == pytest.approx(1)
    few = feature_columns(graph, X, rank=20)
    assert np.linalg.norm(few @ few.T - want) == pytest.approx(np.linalg.norm(np.linalg.eigvalsh(want)[:-20]), rel=1e-3)


def test_the_largest_directions_of_blocks_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(40, 15)), csr_array(rng.normal(size=(40, 9)) * (rng.random((40, 9)) < 0.5))]
    whole = np.hstack([blocks[0], blocks[1].toarray()])
    left, values, _ = np.linalg.svd(whole, full_matrices=False)
    found, want = _largest(blocks, 5), (left * values)[:, :5]
    np.testing.assert_allclose(found @ found.T, want @ want.T, atol=0.05 * values[0] ** 2)
    np.testing.assert_allclose(_largest(blocks, 24) @ _largest(blocks, 24).T, whole @ whole.T, atol=1e-9)


def test_features_count_from_the_first_label_beside_a_graph():
    graph, X, truth = problem()
    alone, both = (told(ag.Learner(graph, rng=0, features=given), truth) for given in (None, X))
    assert isinstance(both.field.origin, Summed)
    assert both.field.origin.noise == pytest.approx(NOISE**0.5, rel=1e-3)
    assert accuracy(both, truth) > accuracy(alone, truth) + 0.1
    assert both.probabilities(list(both.labels)).max(axis=1).min() == 1  # a label is certain at its node
    assert "features add" in both.engine


def test_features_alone_make_a_graph_and_count_once_leave_one_out_asks_for_them():
    _, X, truth = problem()
    learner = ag.Learner(features=X, rng=0)
    told(learner, truth, 7)
    assert learner.judge.choice is None
    assert not isinstance(learner.field.origin, Summed)
    told(learner, truth, 9)
    assert list(learner.judge.choice.losses) == ["the graph", "the graph + features"]
    chosen = learner.judge.choice.name == "the graph + features"
    assert isinstance(learner.field.origin, Summed) is chosen
    assert accuracy(learner, truth) > 0.9


@pytest.mark.parametrize("given", ["graph", "other graph", None])
@pytest.mark.parametrize("state", [False, True])
def test_a_learner_with_features_is_saved_and_goes_on(tmp_path, given, state):
    graph, X, truth = problem()
    graph = {"graph": graph, "other graph": strangers(), None: None}[given]
    learner = told(ag.Learner(graph, features=X, rng=0), truth, 17)
    learner.save(tmp_path / "work.npz", state=state)
    again = ag.Learner.load(tmp_path / "work.npz")
    assert again.labels == learner.labels
    assert again.ask() == learner.ask()
    np.testing.assert_allclose(again.probabilities(), learner.probabilities(), atol=1e-9)
    assert accuracy(told(again, truth, 3), truth) > 0.8


def test_labels_at_once_one_by_one_and_taken_back_are_the_same():
    graph, X, truth = problem()
    labels = {node: int(truth[node]) for node in range(0, 60, 5)}
    one, many, back = (ag.Learner(graph, features=X, rng=0, classes=[0, 1]) for _ in range(3))
    many.tell_all(labels)
    for node, label in labels.items():
        one.tell(node, label)
        back.tell(node, label)
    back.tell(1, int(truth[1]))
    back.undo()
    for learner in (many, back):
        np.testing.assert_allclose(learner.field.votes, one.field.votes, atol=1e-8)
        np.testing.assert_allclose(learner.probabilities(), one.probabilities(), atol=1e-6)


def test_what_neighbors_say_without_a_label_is_what_they_would_say():
    graph, X, truth = problem(30)
    labels = {node: int(truth[node]) for node in range(0, 30, 3)}
    apart = ag.Learner(graph, features=X, rng=0, classes=[0, 1], hubs="ask")
    for node, label in labels.items():
        apart.tell(node, label)
    together = ag.Learner(graph, features=X, rng=0, classes=[0, 1], hubs="ask")
    together.tell_all(labels)
    found = []
    for learner in (apart, together):
        evidence = Evidence.of(learner.field)
        found.append(hearing.heard_without(learner.field, evidence)[np.argsort(evidence.left.nodes)])
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    evidence = Evidence.of(apart.field)
    tau, plain, _ = evidence.freely
    W = apart.graph.weights.toarray()
    for at, node in enumerate(evidence.left.nodes.tolist()):
        apart.retract(node)
        votes = np.maximum(apart.field.votes, 0.0)
        apart.tell(node, labels[node])
        mean, prior = (x[at] for x in evidence.without(plain))
        scores = (votes / mean + 1e-6) ** tau * prior
        reach = np.minimum(votes.sum(axis=1), 1.0)[:, None]
        p = reach * scores / scores.sum(axis=1, keepdims=True) + (1 - reach) / 2
        for other in set(labels) - {node}:
            p[other] = np.eye(2)[labels[other]]
        want = 0.1 * evidence.predicted[at] + 0.9 * W[node] @ p / W[node].sum()
        np.testing.assert_allclose(hearing.heard_without(apart.field, evidence)[at], want, atol=1e-6)


def test_neighbors_are_not_heard_where_leave_one_out_speaks_against_them():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=60)
    W = np.triu(rng.random((60, 60)) < np.where(truth[:, None] != truth, 0.25, 0.02), 1).astype(float)
    graph = ag.Graph(W + W.T)
    prior = Summed.over(ag.prior(graph), 2 * np.eye(2)[truth] + 0.2 * rng.normal(size=(60, 2)), NOISE**0.5)
    learner = told(ag.Learner(graph, engine=prior, rng=0), truth, 30)
    assert not hearing.hears(learner.field)
    assert accuracy(learner, truth) > 0.9


@pytest.mark.parametrize("utility", ["tv", "eer", "kl", "fl", "tsa"])
def test_samplers_that_need_covariances_above_zero_are_refused(utility):
    graph, X, _ = problem()
    with pytest.raises(SettingError, match="not negative"):
        ag.Learner(graph, utility, features=X)


@pytest.mark.parametrize("utility", ["influence", "sigma", "msd", "vm", "klg", "unc", "random", "mc", "mcvopt"])
def test_other_samplers_ask(utility):
    graph, X, truth = problem()
    learner = told(ag.Learner(graph, utility, features=X, rng=0, classes=[0, 1]), truth, 10)
    assert len(learner.labels) == 10
    np.testing.assert_allclose(learner.probabilities().sum(axis=1), 1)


def test_what_cannot_be_features_is_refused():
    graph, X, _ = problem()
    with pytest.raises(SettingError, match="give a graph, features, or both"):
        ag.Learner()
    with pytest.raises(GraphError, match="one row per node"):
        ag.Learner(graph, features=X[:-1])
    with pytest.raises(GraphError, match="finite"):
        ag.Learner(graph, features=np.where(X > 2, np.nan, X))
    with pytest.raises(GraphError, match="same direction"):
        ag.Learner(graph, features=np.ones((60, 3)))
    with pytest.raises(EngineError, match="take influence or sigma"):
        ag.Learner(graph, "msd", features=X, engine="iterative")


@pytest.mark.parametrize("engine", ["direct", "iterative"])
def test_engines_ask_alike(engine):
    graph, X, truth = problem()
    dense, other = (told(ag.Learner(graph, features=X, rng=0, engine=name), truth, 9) for name in ("dense", engine))
    assert dense.labels == other.labels
    off = 1e-8 if other.field.prior.exact else 1e-6
    np.testing.assert_allclose(dense.probabilities(), other.probabilities(), atol=off)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dense", "direct", "iterative"])
@pytest.mark.parametrize("delta", [None, 0.02, 2e-7])
def test_the_unit_of_the_weights_changes_nothing_beside_features(engine, delta):
    # Promise 34
    graph, X, truth = problem(20)

    def asked(factor):
        over, ridge = ag.Graph(graph.weights * factor), delta and delta * factor
        return told(ag.Learner(over, features=X, delta=ridge, rng=0, engine=engine), truth, 5)

    one = asked(1.0)
    for power in (-900, -20, 1, 10, 900):
        other = asked(2.0**power)
        assert (other.labels, other.ask()) == (one.labels, one.ask())
        np.testing.assert_allclose(other.probabilities(), one.probabilities(), atol=1e-9)


def test_a_ridge_is_in_the_unit_of_the_given_weights_after_graphs_are_merged():
    graph, X, _ = problem(20)
    factor = 20 / graph.weights.sum()
    origin = ag.Learner(graph, features=X, delta=0.02).field.origin
    assert origin.delta / origin.scale == pytest.approx(0.02 * factor)
    graphs = {"one": graph, "two": ag.Graph(4 * graph.weights)}
    ridges = [one.delta for one in candidates(graphs, 0.02, ridges=True).values()]
    assert ridges == pytest.approx([0.02, 0.02, 0.02 * factor * (1 + 1 / 4) / 2])
    assert ag.Learner(graph, delta=0.02).field.origin.delta == 0.02


def test_features_that_are_noise_are_dropped():
    graph, truth = ag.communities((40,) * 5, mean_degree=6, mixing=0.1, rng=0)
    noise, truth = np.random.default_rng(0).normal(size=(200, 40)), np.asarray(truth)
    learner = told(ag.Learner(graph, features=noise, rng=0), truth, 40)
    assert learner.judge.choice.name == "the graph"
    assert learner.field.origin.precision.graph is graph
    assert accuracy(learner, truth) > 0.9
    useful = told(ag.Learner(graph, features=noise + 2 * np.eye(40)[truth], rng=0), truth, 40)
    assert useful.judge.choice.name == "the graph + features"


def test_a_graph_that_has_nothing_to_do_with_features_counts_alone_until_labels_ask_for_more():
    _, X, truth = problem()
    other = strangers()
    learner = ag.Learner(other, features=X, rng=0)
    assert learner.field.origin.precision.graph is other
    told(learner, truth, 20)
    assert list(learner.judge.choice.losses) == ["the graph", "the graph + features", "features alone"]
    assert learner.judge.choice.name == "features alone"
    assert not learner.field.origin.signed
    assert accuracy(learner, truth) > 0.9


def test_features_are_dropped_where_they_cost_more_than_two_guesses_and_half_the_root_of_the_loss():
    graph, X, truth = problem()
    labels = told(ag.Learner(graph, features=X, rng=0), truth, 8).labels
    for more in (-0.01, 0.01):
        margin = 2 * np.log(2) + 9.0**0.5 / 2
        prices = iter([(9.0, 8), (9.0 - margin - more, 8)])  # with features, and of the graph alone
        with patch.object(one_class, "surprise_heard", lambda *_, prices=prices: next(prices)):
            learner = ag.Learner(graph, features=X, rng=0, classes=[0, 1])
            learner.tell_all(labels)
            assert learner.judge.choice.name == ("the graph" if more > 0 else "the graph + features")
