"""Choosing among graphs and ridges: prices are leave-one-out, the choice is a function of what was told."""

from __future__ import annotations

import itertools
import json
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, dok_array

import askgraph as ag
from askgraph.answers.coding import Classes
from askgraph.field import Observation
from askgraph.graph.combine import merge
from askgraph.kinds import one_class
from askgraph.plan import tune as tuning
from askgraph.plan.tune import MARGIN, Choice
from askgraph.priors import Dense, features
from askgraph.priors.precision import Precision
from askgraph.readouts import View
from askgraph.readouts.temperature import surprise, tempered_or_plain
from askgraph.support.npz import load_arrays, save_arrays
from tests.helpers.graphs import random_graph

pytestmark = pytest.mark.slow

GOOD, TRUTH = ag.communities((24, 36, 20), rng=0)
OTHER = ag.communities((40, 40), rng=1)[0]  # joins other nodes than those of a class
BOTH = {"other": OTHER, "good": GOOD}


def truth(node):
    return int(TRUTH[node])


def told(learner, count):
    return [step.node for step in learner.run(truth, count)]


def test_a_price_is_the_loss_of_each_label_from_all_others():
    """By hand: what a field without the label says there, read by class mass at the temperature chosen."""
    learner = ag.Learner(GOOD, rng=0, classes=[0, 1, 2])
    told(learner, 30)
    loss, counted = surprise(learner.field.origin, learner.field.observations, Classes(3))
    tau = tempered_or_plain(learner.field).tau
    chances = []
    for node, label in learner.labels.items():
        without = learner.field.forget(node)
        votes, mean = without.votes[node], without.votes[~learner.field.labeled].mean(axis=0)
        prior = ((View.of(without).counts + 1) / 32) ** (2 / 3) * mean ** (1 / 3)
        scores = prior * (votes / mean) ** tau
        chances.append(scores[label] / scores.sum())
    plain = -np.log(0.98 * np.array(chances) + 0.02 / 3).sum()
    assert counted == 30
    assert plain <= loss <= plain + 0.1 * np.log(64) ** 2  # the temperature is drawn towards the likely one


def test_a_price_does_not_depend_on_scale_order_or_names_of_classes():
    labels = [Observation(node, truth(node)) for node in range(0, 80, 3)]
    loss, counted = surprise(ag.prior(OTHER, 0.01), labels, Classes(3))
    for graph, delta, same in (
        (ag.Graph(OTHER.weights * 7.0), 0.07, labels),
        (OTHER, 0.01, labels[::-1]),
        (OTHER, 0.01, [x._replace(said=(x.said + 1) % 3) for x in labels]),
    ):
        assert surprise(ag.prior(graph, delta), same, Classes(3)) == (pytest.approx(loss, rel=1e-6), counted)


def test_a_graph_without_edges_predicts_nothing():
    prior = ag.prior(ag.Graph(csr_array((6, 6))))
    assert surprise(prior, [Observation(0, 0), Observation(1, 0), Observation(2, 1)], Classes(2)) == (
        pytest.approx(2 * np.log(2)),
        2,
    )


@pytest.mark.parametrize("order", [["other", "good"], ["good", "other"]])
def test_the_graph_whose_neighbours_share_labels_is_chosen(order):
    learner = ag.Learner({name: BOTH[name] for name in order}, tune=True, rng=0)
    assert learner.judge.choice is None
    told(learner, 7)
    assert learner.judge.choice is None
    told(learner, 1)
    assert learner.judge.choice.name == "good"
    assert learner.judge.choice.losses["good"] + MARGIN < learner.judge.choice.losses["other"]
    told(learner, 12)
    assert learner.judge.choice.labels == 16
    assert (learner.predict() == TRUTH).mean() > 0.95


def test_the_first_stays_where_another_gains_too_little():
    learner = ag.Learner(BOTH, tune=True, rng=0)
    told(learner, 8)
    gain = learner.judge.choice.losses["other"] - learner.judge.choice.losses["good"]
    for margin, name in ((0.99 * gain, "good"), (1.01 * gain, "other")):
        with patch.object(tuning, "MARGIN", margin):
            again = ag.Learner(BOTH, tune=True, rng=0)
            again.tell_all(learner.labels)
            assert again.judge.choice.name == name


def test_a_label_that_was_changed_before_counts_as_changed():
    learner, right = (ag.Learner(BOTH, tune=True, rng=0) for _ in range(2))
    nodes = told(right, 8)
    for node in nodes[:7]:
        learner.tell(node, 0)
        learner.relabel(node, truth(node))
    learner.tell(nodes[7], 0)
    learner.retract(nodes[7])
    learner.tell(nodes[7], truth(nodes[7]))
    assert learner.judge.choice.losses == pytest.approx(right.judge.choice.losses)


def test_the_sum_is_of_parts_that_count_alike():
    heavy = ag.Graph(OTHER.weights * 1000)
    np.testing.assert_allclose(merge([GOOD, heavy]).weights.toarray(), merge([GOOD, OTHER]).weights.toarray())
    W, n = merge([GOOD, OTHER]).weights, GOOD.n_nodes
    assert W.sum() == pytest.approx(2 * n)
    only = GOOD.weights.toarray() * (OTHER.weights.toarray() == 0)
    np.testing.assert_allclose(W.toarray()[only > 0], (only * n / GOOD.weights.sum())[only > 0])


@pytest.mark.parametrize("engine", ["dense", "direct", "iterative"])
def test_after_a_change_all_is_as_if_that_graph_had_been_there_from_the_start(engine):
    tuned = ag.Learner(BOTH, tune=True, rng=0, engine=engine)
    nodes = told(tuned, 8)
    plain = ag.Learner(GOOD, rng=0, engine=engine)
    for node in nodes:
        plain.tell(node, truth(node))
    assert tuned.judge.choice.name == "good"
    assert tuned.ask(3) == plain.ask(3)
    np.testing.assert_array_equal(tuned.probabilities(), plain.probabilities())
    np.testing.assert_array_equal(tuned.field.spread.variance, plain.field.spread.variance)
    assert tuned.judge.expected_error() == plain.judge.expected_error()
    assert tuned.judge.advice() == plain.judge.advice()


def test_an_undo_restores_what_was_chosen_before():
    learner = ag.Learner(BOTH, tune=True, rng=0)
    told(learner, 7)
    before, question = learner.probabilities(), learner.ask()
    learner.tell(question, truth(question))
    assert learner.judge.choice.name == "good"
    learner.undo()
    assert learner.judge.choice is None
    assert learner.ask() == question
    np.testing.assert_allclose(learner.probabilities(), before, atol=1e-9)


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6), st.lists(st.sampled_from(["tell"] * 4 + ["undo", "skip", "relabel", "retract"]), max_size=25)
)
def test_any_walk_of_events_chooses_as_its_log_told_anew(tmp_path_factory, seed, walk):
    rng, path = np.random.default_rng(seed), tmp_path_factory.getbasetemp() / "walk.npz"
    graphs = {name: ag.Graph(random_graph(rng, 12, 0.2)) for name in "ab"}
    with patch.object(tuning, "POINTS", (3, 5, 7)), patch.object(tuning, "MARGIN", 0.1):
        learner = ag.Learner(graphs, tune=True, rng=seed)
        for kind in walk:
            node, labels = learner.ask(), list(learner.labels)
            if kind == "undo":
                learner.undo()
            elif kind == "relabel" and labels:
                learner.relabel(labels[rng.integers(len(labels))], int(rng.integers(2)))
            elif kind == "retract" and labels:
                learner.retract(labels[rng.integers(len(labels))])
            elif kind == "skip" and node is not None:
                learner.skip(node)
            elif kind == "tell" and node is not None:
                learner.tell(node, int(rng.integers(2)))
        learner.save(path)
        fresh = ag.Learner.load(path)
        assert fresh.judge.choice == learner.judge.choice
        assert fresh.field.origin.precision.delta == learner.field.origin.precision.delta
        np.testing.assert_allclose(fresh.probabilities(), learner.probabilities(), atol=1e-7)
        np.testing.assert_allclose(fresh.field.spread.variance, learner.field.spread.variance, atol=1e-8)
        if learner.judge.choice:
            graph = learner.plan.rules[0].candidates[learner.judge.choice.name].graph
            assert learner.field.origin.precision.graph is graph


def test_what_was_chosen_stays_until_labels_reach_a_point_again():
    learner = ag.Learner(BOTH, tune=True, rng=0)
    nodes = told(learner, 9)
    chosen = learner.judge.choice
    for node in nodes:
        learner.relabel(node, 0)
    for node in nodes[:2]:
        learner.retract(node)
    assert learner.judge.choice is chosen
    learner.tell(nodes[0], 0)
    assert learner.judge.choice.labels == 8
    assert learner.judge.choice.losses != chosen.losses


def test_questions_are_the_same_with_and_without_prefetch():
    plain, keen = (ag.Learner(BOTH, tune=True, rng=3) for _ in range(2))
    asked = told(plain, 18)
    for node, following in itertools.pairwise(asked):
        keen.prefetch()
        keen._state.prefetch and keen._state.prefetch.wait()
        assert keen.ask() == node
        found = keen.prefetch().questions.get(truth(node))
        assert found is None or found.node == following
        keen.tell(node, truth(node))
    keen.tell(asked[-1], truth(asked[-1]))
    assert keen.ask() == plain.ask()
    np.testing.assert_array_equal(keen.probabilities(), plain.probabilities())


def test_many_labels_at_once_choose_as_one_by_one():
    one, many = (ag.Learner(BOTH, tune=True, rng=0) for _ in range(2))
    nodes = told(one, 20)
    many.tell_all({node: truth(node) for node in nodes})
    assert many.judge.choice == one.judge.choice
    assert many.ask() == one.ask()
    np.testing.assert_allclose(many.probabilities(), one.probabilities(), atol=1e-9)


def test_nothing_is_factorised_or_priced_twice():
    made, priced = [], []

    def making(*args):
        made.append(args)
        return ag.prior(*args)

    def pricing(*args):
        priced.append(args)
        return surprise(*args)

    with patch.object(features, "choose_prior", making), patch.object(one_class, "surprise", pricing):
        learner = ag.Learner(BOTH, tune=True, rng=0)
        told(learner, 16)
        assert (len(made), len(priced)) == (3, 6)
        for _ in range(9):
            learner.undo()
        told(learner, 9)
        assert (len(made), len(priced)) == (3, 6)


@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize("count", [5, 10, 18])
def test_a_saved_learner_chooses_on(tmp_path, state, count):
    names = [f"item {node}" for node in range(GOOD.n_nodes)]
    graphs = {name: ag.Graph(graph.weights, names) for name, graph in BOTH.items()}
    learner = ag.Learner(graphs, tune=True, rng=0)
    for step in learner.run(lambda name: truth(names.index(name)), count):
        assert step.node in names
    learner.save(tmp_path / "work.npz", state=state)
    with patch.object(one_class, "surprise", None if state else surprise):  # what was computed is not computed again
        again = ag.Learner.load(tmp_path / "work.npz")
        assert again.judge.choice == learner.judge.choice
    was, now = (x.field.origin.precision.graph.weights for x in (learner, again))
    assert (was != now).nnz == 0
    assert str(again.judge.choice) == str(learner.judge.choice)
    for _ in range(8):
        assert again.ask() == learner.ask()
        learner.tell(node := learner.ask(), truth(names.index(node)))
        again.tell(node, truth(names.index(node)))
        assert again.judge.choice == learner.judge.choice
    while learner.undo():
        again.undo()
        assert again.judge.choice == learner.judge.choice
    with np.load(tmp_path / "work.npz", allow_pickle=False) as stored:
        assert all(stored[key].dtype != object for key in stored.files)


def test_a_file_from_before_still_loads(tmp_path):
    learner = ag.Learner(GOOD, rng=0)
    told(learner, 10)
    learner.save(tmp_path / "new.npz", state=True)
    stored = load_arrays(tmp_path / "new.npz")
    how = json.loads(str(stored["learner"]))
    del how["tune"], stored["graphs"], stored["state"]
    save_arrays(tmp_path / "old.npz", **{**stored, "learner": json.dumps(how)})
    again = ag.Learner.load(tmp_path / "old.npz")
    assert again.ask() == learner.ask()
    assert again.judge.choice is None


def test_of_one_graph_the_ridge_is_chosen():
    rough = ag.Learner(ag.two_squares(rng=0)[0], tune=True, delta=0.1, rng=0)
    for node in range(0, 64, 2):
        rough.tell(node, node % 8 // 4)
    assert list(rough.judge.choice.losses) == ["delta 0.1", "delta 0.01", "delta 1"]
    assert f"delta {rough.field.origin.precision.delta:.3g}" == rough.judge.choice.name
    usual = ag.Learner(GOOD, tune=True, rng=0)
    assert usual.field.origin.precision.delta == ag.Learner(GOOD, rng=0).field.origin.precision.delta


def test_a_choice_is_said_in_a_sentence():
    losses = {"edges": 12.0, "words": 24.0, "edges + words": 11.5}
    assert str(Choice("edges", 32, 30, losses)) == (
        "edges: leave-one-out loss 0.400 a label, over 30 of 32 labels; next edges + words, 0.383, too small a gain to change"
    )
    assert str(Choice("words", 32, 30, {"edges": 12.0, "words": 6.0})).endswith("next edges, 0.400")
    learner = ag.Learner(BOTH, tune=True, rng=0)
    for node in range(8):
        learner.tell(node, f"class {node}")
    assert str(learner.judge.choice) == "other: after 8 labels no class has two, so nothing speaks for another"


def test_every_node_may_be_labeled():
    graphs = {"a": ag.chain(9), "b": ag.star(9)}
    learner = ag.Learner(graphs, tune=True, rng=0)
    learner.tell_all({node: node % 2 for node in range(9)})
    assert learner.judge.finished
    assert learner.judge.choice.name in learner.judge.choice.losses


def test_a_matrix_that_is_a_mapping_is_one_graph():
    assert ag.Learner(dok_array(GOOD.weights), rng=0).graph.n_edges == GOOD.n_edges


def test_mistakes_get_advice():
    named = ag.Graph(GOOD.weights, [f"item {node}" for node in range(GOOD.n_nodes)])
    for graphs, options, error, match in (
        (BOTH, {}, ag.SettingError, "tune=True"),
        ({}, {"tune": True}, ag.GraphError, "at least one"),
        ({1: GOOD}, {"tune": True}, ag.GraphError, "text"),
        ({"a": GOOD, "b": ag.chain(3)}, {"tune": True}, ag.GraphError, "'a' has 80 nodes, 'b' 3"),
        ({"a": GOOD, "b": named}, {"tune": True}, ag.GraphError, "node 0 is 0 in 'a' and 'item 0' in 'b'"),
        (BOTH, {"tune": True, "engine": Dense(Precision.of(GOOD))}, ag.SettingError, "by its name"),
        (GOOD, {"tune": "ridge"}, ag.SettingError, "tune='ridge'"),
    ):
        with pytest.raises(error, match=match):
            ag.Learner(graphs, **options)
