"""The loop: questions, answers, names, batches, undo, and the states at the edges."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askgraph as ag
from askgraph.answers.coding import chances, decide
from askgraph.priors import dense
from askgraph.readouts import Map, Mass
from askgraph.utilities import SAMPLERS
from tests.helpers.graphs import random_graph
from tests.helpers.reference import UTILITIES, Reference, score

GRAPH, TRUTH = ag.two_squares(rng=0)


def truth(node):
    return int(TRUTH[node])


def ask_and_tell(learner, budget, oracle=truth):
    return [step.node for step in learner.run(oracle, budget)]


@pytest.mark.parametrize("sampler", [*UTILITIES, "random"])
@pytest.mark.parametrize("form", ["printed", "derived"])
def test_questions_are_the_best_by_the_paper(sampler, form):
    # Equation (8)
    learner = ag.Learner(ag.grid(4, 4), sampler, form=form, delta=0.01, rng=0, classes=[0, 1])
    W = learner.graph.weights.toarray()
    labels = {}
    for t, step in enumerate(learner.run(lambda node: node % 3 % 2, 6)):
        plain = Reference(W, 0.01, labels, 2)
        if t > 0 and sampler != "random":
            alpha = t**-0.5
            want = {node: score(sampler, plain, node, alpha, form) for node in plain.U}
            assert want[step.node] >= max(want.values()) - 1e-8 * max(map(abs, want.values()))
        labels[step.node] = step.label
    assert len(labels) == 6


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_same_seed_same_questions(sampler):
    runs = [ask_and_tell(ag.Learner(GRAPH, sampler, rng=seed), 8) for seed in (3, 3, 4)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_asking_again_changes_nothing():
    learner = ag.Learner(GRAPH, rng=1)
    learner.tell(5, "a")
    assert learner.ask() == learner.ask() == learner.ask(4)[0]


def test_ties_are_drawn_from_the_sorted_tied_nodes():
    star = ag.star(30)  # the leaves are all alike
    firsts = {ag.Learner(star, "vm", first="utility", doubt=None, rng=seed).ask() for seed in range(60)}
    assert firsts == {0}
    chosen = set()
    for seed in range(60):
        learner = ag.Learner(star, "klg", doubt=None, rng=seed)
        learner.tell(0, "hub")
        chosen.add(learner.ask())
    assert len(chosen) > 15


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_batch_has_no_repeats_and_conditions_on_its_own_questions(sampler):
    learner = ag.Learner(GRAPH, sampler, rng=0)
    ask_and_tell(learner, 3)
    batch = learner.ask(10)
    assert len(set(batch)) == 10
    assert not set(batch) & set(learner.labels)
    for node in reversed(batch):
        learner.tell(node, truth(node))
    assert len(learner.labels) == 13


@pytest.mark.parametrize("delta", [0.005, 1e-7])
def test_a_batch_by_variance_is_what_asking_one_by_one_would_give(delta):
    together, single = (ag.Learner(GRAPH, "vm", delta=delta, rng=5, first="utility") for _ in range(2))
    assert together.ask(6) == ask_and_tell(single, 6)


def test_names_are_spoken_everywhere():
    graph = ag.Graph.from_edges([("ann", "bob"), ("bob", "cy"), ("cy", "dé")])
    learner = ag.Learner(graph, rng=0)
    assert learner.ask() in graph.names
    learner.tell("ann", ("tuple", 1))
    learner.tell("dé", "other")
    assert learner.labels == {"ann": ("tuple", 1), "dé": "other"}
    assert list(learner.predict(["bob", "cy"])) == [("tuple", 1), "other"]
    with pytest.raises(ag.AskgraphError, match="eve"):
        learner.tell("eve", "x")


def test_labels_are_of_any_hashable_type_and_classes_come_in_order():
    learner = ag.Learner(ag.chain(6), classes=["no", "yes"], rng=0)
    learner.tell(0, "maybe")
    learner.tell(np.int64(5), np.str_("yes"))
    assert learner.classes == ["no", "yes", "maybe"]
    assert learner.probabilities().shape == (6, 3)
    np.testing.assert_allclose(learner.probabilities().sum(axis=1), 1)
    for bad in (None, float("nan"), ["list"]):
        with pytest.raises(ag.LabelError):
            learner.tell(2, bad)
    assert learner.classes == ["no", "yes", "maybe"]


def test_undo_takes_back_labels_relabels_and_skips():
    learner = ag.Learner(ag.chain(7), rng=0)
    learner.tell(0, "a")
    learner.tell(6, "b")
    before = learner.probabilities()
    learner.relabel(6, "c")
    assert learner.classes == ["a", "c"]
    learner.skip(3)
    learner.tell(2, "d")
    assert [learner.undo().kind for _ in range(3)] == ["tell", "skip", "relabel"]
    assert learner.classes == ["a", "b"]
    np.testing.assert_allclose(learner.probabilities(), before, atol=1e-12)
    while learner.undo():
        pass
    assert learner.labels == {}
    assert learner.classes == []
    assert learner.undo() is None


def test_mistakes_get_advice():
    learner = ag.Learner(ag.chain(4), rng=0)
    learner.tell(1, "a")
    with pytest.raises(ag.LabelError, match="relabel"):
        learner.tell(1, "b")
    with pytest.raises(ag.LabelError, match="tell"):
        learner.relabel(2, "b")
    with pytest.raises(ag.LabelError, match="labeled"):
        learner.skip(1)
    for count in (0, -1, 2.0, "3"):
        with pytest.raises(ag.SettingError, match="at least one"):
            learner.ask(count)
    for options in (
        {"sampler": "tvv"},
        {"doubt": "often"},
        {"doubt": 2.0},
        {"form": "drawn"},
        {"delta": 0},
        {"delta": float("nan")},
        {"readout": "tarot"},
        {"explore": -1},
        {"first": "last"},
        {"noise": -1},
        {"engine": "steam"},
        {"expect": "max"},
        {"rng": -1},
    ):
        with pytest.raises(ag.SettingError):
            ag.Learner(ag.chain(4), **options)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("first", ["random", "utility"])
def test_the_states_at_the_edges(sampler, first):
    # Promise 18
    learner = ag.Learner(ag.Graph(np.pad(ag.chain(3).weights.toarray(), (0, 1))), sampler, first=first, rng=0)
    assert list(learner.predict()) == [None] * 4
    assert learner.probabilities().shape == (4, 0)
    node = learner.ask()
    learner.tell(node, "only")
    assert learner.ask() is not None  # one class
    assert set(learner.predict()) == {"only"}
    rest = [n for n in range(4) if n != node]
    for n in rest:
        learner.skip(n)
    assert learner.ask() is None
    assert learner.ask(3) == []
    assert "set aside" in learner.judge.finished
    for n in rest:
        learner.tell(n, "only")
    assert learner.ask() is None
    assert "every node" in learner.judge.finished
    assert np.isfinite(learner.probabilities()).all()


def test_an_unreached_node_keeps_one_over_classes():
    for readout in ("map", "mass"):
        learner = ag.Learner(ag.Graph(np.pad(ag.chain(5).weights.toarray(), (0, 2))), readout=readout, rng=0)
        for node, label in ((0, "a"), (2, "b"), (4, "c")):
            learner.tell(node, label)
        np.testing.assert_allclose(learner.probabilities([5, 6]), 1 / 3)


def test_mass_normalisation_is_zhus():
    learner = ag.Learner(ag.grid(5, 5), readout=Mass("frequency"), rng=0, delta=0.01)
    for node, label in ((0, "a"), (1, "a"), (24, "b")):
        learner.tell(node, label)
    h = learner.field.votes
    U = ~learner.field.labeled
    q = np.array([3, 2]) / 5
    want = q * h / h[U].sum(axis=0)
    assert (learner.predict() == np.array(["a", "b"])[want.argmax(axis=1)]).all()
    with pytest.raises(ag.SettingError, match="2 classes"):
        ag.Learner(ag.chain(3), readout=Mass((1.0, 2.0, 3.0)), classes=[0, 1]).probabilities()
    with pytest.raises(ag.SettingError, match="positive"):
        Mass((0.0, 1.0))


def test_mass_repairs_map_on_a_community_graph():
    graph, communities = ag.communities(rng=1)
    learner = ag.Learner(graph, "sigma", rng=0, readout="mass")
    ask_and_tell(learner, 8, lambda node: int(communities[node]))
    mass = (learner.predict() == communities).mean()
    decided = decide(Map()(learner.field))
    plain = (np.array(learner.classes)[decided] == communities).mean()
    assert mass > 0.85
    assert mass > plain + 0.1


def test_run_skips_when_the_oracle_does_not_know():
    learner = ag.Learner(ag.chain(6), rng=0)
    steps = list(learner.run(lambda node: None if node == 3 else "x", 50))
    assert len(steps) == 5
    assert all(step.seconds >= 0 for step in steps)
    assert "set aside" in learner.judge.finished


def test_exploring_is_uniform_over_unlabeled_nodes():
    # Equation (32)
    seen = set()
    for seed in range(40):
        learner = ag.Learner(ag.chain(5), "tv", explore=1.0, rng=seed)
        learner.tell(2, "x")
        seen.add(learner.ask())
    assert seen == {0, 1, 3, 4}


def test_doubt_schedules():
    seen = []
    learner = ag.Learner(ag.chain(8), doubt=lambda t: seen.append(t) or 0.5, rng=0)
    ask_and_tell(learner, 4, lambda node: node % 2)
    assert seen == [1, 2, 3]
    questions = {}
    for doubt in ("sqrt", "inverse", 0.3, None):
        questions[doubt] = ask_and_tell(ag.Learner(GRAPH, "msd", doubt=doubt, rng=0), 15)
    assert len({tuple(q) for q in questions.values()}) > 1
    with pytest.raises(ag.SettingError, match="doubt"):
        ask_and_tell(ag.Learner(ag.chain(4), doubt=lambda t: 7, rng=0), 3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from(["tell", "undo", "skip", "relabel"]), max_size=25))
def test_any_walk_of_events_equals_a_fresh_field(seed, walk):
    # Promise 8
    rng = np.random.default_rng(seed)
    graph = ag.Graph(random_graph(rng, 9))
    learner = ag.Learner(graph, "msd", rng=seed)
    for kind in walk:
        node = learner.ask()
        labels = list(learner.labels)
        if kind == "undo":
            learner.undo()
        elif kind == "relabel" and labels:
            learner.relabel(labels[rng.integers(len(labels))], int(rng.integers(3)))
        elif kind == "skip" and node is not None:
            learner.skip(node)
        elif kind == "tell" and node is not None:
            learner.tell(node, int(rng.integers(3)))
    fresh = ag.Learner(graph, "msd", rng=seed, classes=learner.classes)
    for node, label in learner.labels.items():
        fresh.tell(node, label)
    np.testing.assert_allclose(learner.probabilities(), fresh.probabilities(), atol=1e-8)
    np.testing.assert_allclose(learner.field.spread.variance, fresh.field.spread.variance, atol=1e-8)


def test_tsa_marginals_are_near_the_exact_binary_field():
    """All 2^16 labelings of a 4 × 4 grid under exp(−β/2 yᵀQy), δ = 0.005, β = 0.5; the Gaussian ones are further off."""
    from askgraph.utilities.lookahead import two_step_marginals

    graph, beta = ag.grid(4, 4), 0.5
    L = graph.laplacian().toarray() + 0.005 * np.eye(16)
    Y = np.array(list(itertools.product([-1, 1], repeat=16)))
    log_weight = -beta / 2 * np.einsum("ij,jk,ik->i", Y, L, Y)
    two_step, harmonic = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        field = ag.Field.start(ag.prior(graph, 0.005, "dense"), 2)
        fits = np.ones(len(Y), dtype=bool)
        for node in rng.choice(16, 4, replace=False):
            label = int(rng.integers(2))
            field = field.observe(int(node), label)
            fits &= Y[:, node] == 1 - 2 * label
        weight = np.exp(log_weight[fits] - log_weight[fits].max())
        exact = weight @ (Y[fits] == 1) / weight.sum()
        U = np.flatnonzero(~field.labeled)
        two_step.append(np.abs(two_step_marginals(field, U, beta)[:, 0] - exact[U]).mean())
        harmonic.append(np.abs(chances(field.votes)[U, 0] - exact[U]).mean())
    assert np.mean(two_step) <= 0.03
    assert np.mean(two_step) < np.mean(harmonic)


def test_a_saved_learner_goes_on_as_if_nothing_had_happened(tmp_path):
    graph = ag.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", ("e", 1)), (("e", 1), "f")])
    options = {"doubt": 0.3, "form": "derived", "readout": Mass((0.3, 0.7)), "noise": 0.1, "explore": 0.2}
    learner = ag.Learner(graph, "msd", rng=7, classes=["yes", "no"], **options)
    learner.tell("a", "no")
    learner.tell(("e", 1), "yes")
    learner.relabel("a", "yes")
    learner.skip("c")
    learner.tell("d", "no")
    learner.undo()
    learner.save(tmp_path / "work.npz")
    again = ag.Learner.load(tmp_path / "work.npz")
    assert again._settings == learner._settings
    assert again.labels == learner.labels
    assert again.classes == learner.classes
    assert again.ask(3) == learner.ask(3)
    np.testing.assert_allclose(again.probabilities(), learner.probabilities(), atol=1e-12)
    assert again.undo().kind == "skip"
    with np.load(tmp_path / "work.npz", allow_pickle=False) as stored:
        assert all(stored[key].dtype != object for key in stored.files)


def test_what_cannot_be_saved_is_said(tmp_path):
    learner = ag.Learner(ag.chain(4), doubt=lambda t: 0.5, rng=0)
    with pytest.raises(ag.SettingError, match="doubt"):
        learner.save(tmp_path / "x.npz")
    learner = ag.Learner(ag.chain(4), rng=0)
    learner.tell(0, frozenset("ab"))
    with pytest.raises(ag.FileError, match="labels of type frozenset"):
        learner.save(tmp_path / "x.npz")
    ag.chain(3).save(tmp_path / "graph.npz")
    with pytest.raises(ag.FileError, match=r"Learner\.save"):
        ag.Learner.load(tmp_path / "graph.npz")
    with pytest.raises(ag.FileError, match=r"nowhere\.npz"):
        ag.Learner.load(tmp_path / "nowhere.npz")


def test_many_labels_at_once_are_the_same_as_one_by_one():
    one, many = ag.Learner(GRAPH, "msd", rng=0), ag.Learner(GRAPH, "msd", rng=0)
    told = {node: truth(node) for node in range(0, 100, 3)}
    for node, label in told.items():
        one.tell(node, label)
    many.tell_all(told)
    np.testing.assert_allclose(one.probabilities(), many.probabilities(), atol=1e-10)
    assert one.ask() == many.ask()
    with pytest.raises(ag.LabelError, match="already"):
        many.tell_all({0: 1})
    many.undo()
    assert len(many.labels) == len(told) - 1


def test_undo_restores_the_order_of_classes():
    learner = ag.Learner(ag.chain(6), rng=0)
    learner.tell(0, "a")
    learner.tell(5, "b")
    before = learner.probabilities()
    learner.relabel(0, "b")
    assert learner.classes == ["b"]
    learner.relabel(0, "z")
    assert learner.classes == ["b", "z"]
    learner.undo()
    learner.undo()
    assert learner.classes == ["a", "b"]
    np.testing.assert_allclose(learner.probabilities(), before, atol=1e-12)


def test_retract_takes_back_a_label_or_a_skip_however_old():
    learner = ag.Learner(ag.chain(7), rng=0, classes=["a"])
    learner.tell(0, "a")
    learner.skip(3)
    alone = learner.probabilities(), learner.field.spread.variance, learner.ask()
    learner.tell(6, "b")
    learner.tell(2, "a")
    learner.retract(6)
    learner.retract(2)
    assert (learner.labels, learner.classes) == ({0: "a"}, ["a"])
    np.testing.assert_allclose(learner.probabilities(), alone[0], atol=1e-12)
    np.testing.assert_allclose(learner.field.spread.variance, alone[1], atol=1e-12)
    assert learner.ask() == alone[2]
    learner.retract(3)
    assert "set aside" not in str(learner.judge.finished)
    for node in (3, 5):
        with pytest.raises(ag.LabelError, match="nothing to take back"):
            learner.retract(node)
    with pytest.raises(ag.LabelError, match="99"):
        learner.retract(99)
    learner.tell(3, "c")
    assert learner.labels == {0: "a", 3: "c"}


def test_undo_of_a_retract_brings_back_label_class_noise_and_skip():
    learner = ag.Learner(ag.chain(7), rng=0)
    learner.tell(0, "a")
    learner.tell(6, "b", noise=0.5)
    learner.tell(2, "a")
    learner.skip(4)
    before = learner.probabilities(), learner.ask(), learner.classes
    learner.retract(6)
    assert learner.classes == ["a"]
    learner.retract(4)
    assert learner.undo().kind == "retract"
    assert learner.undo() == ("retract", 6, None, "b", 0.5, None)
    np.testing.assert_allclose(learner.probabilities(), before[0], atol=1e-12)
    assert (learner.ask(), learner.classes) == before[1:]
    assert [event.kind for event in learner.history.log] == ["tell", "tell", "tell", "skip"]
    while learner.undo():
        pass
    assert (learner.labels, learner.classes) == ({}, [])


@pytest.mark.parametrize("state", [False, True])
def test_a_learner_is_saved_with_what_was_retracted(tmp_path, state):
    learner = ag.Learner(GRAPH, "msd", rng=3)
    for node in (0, 44, 99):
        learner.tell(node, truth(node))
    learner.skip(50)
    learner.skip(51)
    learner.retract(50)
    learner.retract(44)
    learner.save(tmp_path / "work.npz", state)
    again = ag.Learner.load(tmp_path / "work.npz")
    assert (again.labels, again.classes, again.history.log) == (learner.labels, learner.classes, learner.history.log)
    assert again.ask(3) == learner.ask(3)
    np.testing.assert_allclose(again.probabilities(), learner.probabilities(), atol=1e-12)
    for one in (learner, again):
        assert [one.undo().node, one.undo().node] == [44, 50]
    assert again.labels == learner.labels == {0: truth(0), 44: truth(44), 99: truth(99)}
    assert again.ask() == learner.ask()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from(["tell", "undo", "skip", "relabel", "retract"]), max_size=25))
def test_any_walk_with_retracts_equals_a_fresh_field_and_undoes_to_nothing(seed, walk):
    rng = np.random.default_rng(seed)
    learner = ag.Learner(ag.Graph(random_graph(rng, 9)), "msd", rng=seed, readout="map")
    states = [({}, [])]
    for kind in walk:
        labels, free = list(learner.labels), learner.ask()
        if kind == "undo":
            learner.undo()
            states = states[:-1] or states
        elif kind == "tell" and free is not None:
            learner.tell(free, int(rng.integers(3)))
        elif kind == "skip" and free is not None:
            learner.skip(free)
        elif kind == "relabel" and labels:
            learner.relabel(labels[rng.integers(len(labels))], int(rng.integers(3)))
        elif kind == "retract" and labels:
            learner.retract(labels[rng.integers(len(labels))])
        else:
            continue
        if kind != "undo":
            states.append((learner.labels, learner.classes))
        assert (learner.labels, learner.classes) == states[-1]
    fresh = ag.Learner(learner.graph, "msd", rng=seed, classes=learner.classes, readout="map")
    for node, label in learner.labels.items():
        fresh.tell(node, label)
    np.testing.assert_allclose(learner.probabilities(), fresh.probabilities(), atol=1e-8)
    np.testing.assert_allclose(learner.field.spread.variance, fresh.field.spread.variance, atol=1e-8)
    for expected in reversed(states[:-1]):
        learner.undo()
        assert (learner.labels, learner.classes) == expected
    assert learner.undo() is None


def test_next_questions_are_those_that_will_be_asked():
    learner = ag.Learner(GRAPH, "tv", rng=0, classes=["in", "out"])
    assert learner._following.questions == {}
    learner.tell(0, "out")
    learner.prefetch()
    learner._state.prefetch.wait()
    node, ahead = learner.ask(), learner._following.questions
    assert set(ahead) == {"in", "out"}
    for label, expected in ahead.items():
        learner.tell(node, label)
        assert learner._following.questions == {}
        assert learner.ask() == expected.node
        learner.undo()
        assert learner.ask() == node
    learner.retract(0)
    assert learner._following.questions == {}


def test_next_questions_at_the_end_are_none():
    learner = ag.Learner(ag.chain(2), rng=0)
    learner.prefetch()
    assert learner._following.questions == {}  # no class yet
    learner.tell(learner.ask(), "a")
    learner.prefetch()
    learner._state.prefetch.wait()
    assert learner._following.questions == {"a": None}


def test_a_matrix_is_taken_for_a_graph_and_a_string_is_not_taken_for_classes():
    assert ag.Learner(np.ones((4, 4)) - np.eye(4), rng=0).ask() in range(4)
    with pytest.raises(ag.SettingError, match="list"):
        ag.Learner(ag.chain(3), classes="ab")


def question_at(scale, sampler, engine):
    """What a path of five is asked for once its ends are labeled; without doubt, whose printed form has a unit."""
    path = np.diag(np.ones(4), 1) * scale
    learner = ag.Learner(ag.Graph(path + path.T), sampler, doubt=None, rng=0, engine=engine)
    learner.tell_all({0: "a", 4: "b"})
    return learner.ask()


SCALES = [1e-300, 1e-200, 1e-160, 1e-100, 1e-40, 1e40, 1e100, 1e160, 1e200, 1e290]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dense", "direct"])
@pytest.mark.parametrize("sampler", ["influence", "tv", "vm", "msd", "sigma", "mc", "mcvopt", "klg", "eer"])
def test_a_question_does_not_depend_on_the_unit_of_the_weights(sampler, engine):
    assert {question_at(scale, sampler, engine) for scale in SCALES} == {question_at(1.0, sampler, engine)}


@pytest.mark.parametrize("engine", ["dense", "direct"])
def test_norms_are_right_however_far_the_weights_are_from_1(engine):
    W = random_graph(np.random.default_rng(0), 12)
    fields = []
    for scale in (1.0, 2.0**600, 2.0**-600):
        field = ag.Field.start(ag.prior(ag.Graph(W * scale), engine=engine), 2, squares=True)
        field = field.observe(3, 0).observe(5, 1).forget(3)
        fields.append((field.spread.influence_l2 * scale, field.spread.variance * scale))
    for scaled in fields[1:]:
        for got, want in zip(scaled, fields[0], strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9)


@pytest.mark.parametrize("scale", [s for s in SCALES if not 1e-12 < s < 1e12])
def test_single_precision_refuses_weights_it_cannot_hold(scale):
    with pytest.raises(ag.ConvergenceError, match="divide the weights"):
        question_at(scale, "influence", "iterative")


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), orders=st.lists(st.sampled_from([-300, -100, 0, 100, 300]), min_size=1, max_size=3))
def test_weights_of_all_sizes_give_an_answer_or_a_named_error(seed, orders):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((6, 6)) * 10.0 ** rng.choice(orders, (6, 6)), 1)
    for engine in ("dense", "direct", "iterative"):
        try:
            learner = ag.Learner(ag.Graph(W + W.T), str(rng.choice(SAMPLERS)), rng=0, engine=engine)
            learner.tell(0, "a")
            learner.tell(1, "b")
            assert learner.ask() in range(2, 6)
            p = learner.probabilities()
            assert np.isfinite(p).all()
            assert (p >= 0).all()
        except ag.AskgraphError as error:
            assert str(error)  # noqa: PT017 -- whatever else is raised fails the test


def test_a_sampler_of_ones_own_must_return_finite_scores():
    for odd in (np.nan, np.inf, -np.inf):
        learner = ag.Learner(ag.chain(5), lambda field, nodes, p, odd=odd: np.where(nodes == 2, odd, 1.0), rng=0)
        learner.tell(0, "a")
        with pytest.raises(ag.SettingError, match="finite"):
            learner.ask()


def test_the_last_label_can_be_taken_back_where_lapack_refuses_a_triangle_of_size_0(monkeypatch):
    from askgraph.field import field, leave_one_out

    plain = field.solve_triangular

    def strict(a, b, **options):  # as in scipy 1.13
        if not a.size:
            raise ValueError("illegal value in 7th argument of internal trtrs")
        return plain(a, b, **options)

    monkeypatch.setattr(field, "solve_triangular", strict)
    monkeypatch.setattr(leave_one_out, "solve_triangular", strict)
    learner = ag.Learner(ag.chain(5), rng=0, classes=["a", "b"])
    learner.tell(0, "a")
    learner.undo()
    assert learner.labels == {}
    learner.tell_all({0: "a", 4: "b"})
    assert learner.predict()[1] == "a"


class Scalar:
    """A value as array libraries hold it: without dimensions, compared by value, hashed by identity."""

    def __init__(self, value, shape=()):
        self.value, self.shape = value, shape

    def item(self):
        return self.value

    def __eq__(self, other):
        return self.value == getattr(other, "value", other)

    __hash__ = object.__hash__


@pytest.mark.parametrize("held", [Scalar, np.int64, np.array, float], ids=["scalar", "int64", "array", "float"])
def test_equal_labels_are_one_class_whatever_holds_them(held):
    learner = ag.Learner(ag.chain(6), rng=0, classes=[held(0)])
    for node, label in ((0, 0), (1, 0), (5, 1), (4, 1)):
        learner.tell(node, held(label))
    learner.relabel(1, held(1))
    learner.relabel(1, held(0))
    assert learner.classes == [0, 1]
    assert learner.probabilities().shape == (6, 2)
    assert all(type(label) in (int, float) for label in learner.classes)


@pytest.mark.parametrize(
    "label", [Scalar(0, (1,)), np.zeros(1), np.array(["a", "b"]), np.array(None), [1], pd.NA, None]
)
def test_an_array_or_nothing_is_not_a_label(label):
    learner = ag.Learner(ag.chain(3), rng=0)
    with pytest.raises(ag.LabelError):
        learner.tell(0, label)
    assert learner.classes == []


@pytest.mark.parametrize(
    ("given", "came"),
    [
        (lambda rows, p: 3, "an object of type int"),
        (lambda rows, p: p, "an array of shape"),
        (lambda rows, p: None, "None"),
        (lambda rows, p: [0.123] * len(rows), "a list of length 300"),
    ],
)
def test_a_sampler_that_gives_no_score_per_row_is_named(given, came):
    learner = ag.Learner(ag.chain(300), lambda field, rows, p: given(rows, p), first="utility", rng=0)
    with pytest.raises(ag.SettingError, match=f"gave {came}.* for 300 rows; .*one number for every row") as raised:
        learner.ask()
    assert len(str(raised.value)) < 150


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_an_oracle_that_does_not_know_sets_the_node_aside(missing):
    learner = ag.Learner(ag.chain(6), rng=0)
    list(learner.run(lambda node: missing if node % 2 else "even", budget=6))
    assert sorted(learner.labels) == [0, 2, 4]


def test_labels_told_together_may_have_noise_of_their_own():
    one, other = (ag.Learner(ag.chain(9), noise=0.1, rng=0) for _ in range(2))
    one.tell_all({0: "a", 4: "b", 8: "b"}, noise={4: 0.5})
    other.tell(0, "a")
    other.tell(4, "b", noise=0.5)
    other.tell(8, "b")
    np.testing.assert_allclose(one.probabilities(), other.probabilities(), atol=1e-9)
    assert [event.noise for event in one.history.log] == [None, 0.5, None]
    with pytest.raises(ag.LabelError, match="noise"):
        one.tell_all({3: "a"}, noise=0.5)


def test_a_group_is_alike_sure_and_open():
    graph, truth = ag.communities((40, 40), rng=0)
    learner = ag.Learner(graph, rng=0)
    assert learner.judge.group() is None
    learner.tell_all({0: "a", 1: "a", 2: "a", 50: "b"})
    learner.skip(60)
    group = learner.judge.group(10, without=[61, 62])
    assert group.label == "b"  # the class with fewer labels
    assert len(set(group.nodes)) == 10
    assert not {0, 1, 2, 50, 60, 61, 62} & set(group.nodes)
    assert min(learner.probabilities(group.nodes)[:, 1]) >= 0.9
    assert set(truth[group.nodes]) == {1}
    assert learner.judge.group(10, without=range(80)) is None


def test_a_first_question_drawn_at_random_inverts_nothing_and_an_inverse_that_may_fail_does_not_wait(monkeypatch):
    inverted, invert = [], dense._inverted
    monkeypatch.setattr(dense, "_inverted", lambda Q: inverted.append(len(Q)) or invert(Q))
    learner = ag.Learner(ag.chain(5), engine="dense", rng=0)
    learner.ask()
    assert not inverted
    learner.tell(learner.ask(), "a")
    learner.predict()
    assert inverted == [5]
    with pytest.raises(ag.ConvergenceError, match="dense inverse"):
        ag.prior(ag.Graph(1e9 * ag.chain(6).weights), delta=1.0, engine="dense")
