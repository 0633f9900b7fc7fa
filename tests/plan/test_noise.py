"""The label noise that labels choose: 0 where they agree, above where many are wrong, and a function of what was told."""

from __future__ import annotations

import dataclasses
import time
from functools import cache

import numpy as np
import pytest

import askgraph as ag
from askgraph.field import Field, Observation
from askgraph.learner.settings import Settings
from askgraph.plan import noise as choosing
from askgraph.plan.noise import FEW, POINTS, ChosenNoise, noises
from tests.helpers.engines import ABROAD, ENGINES, SHUFFLED, close

GRAPH, TRUTH = ag.communities((50,) * 6, mean_degree=8, rng=1)
CLASSES = 6
over_engines = pytest.mark.parametrize("engine", [*ENGINES, *ABROAD, SHUFFLED], ids=str)


@cache
def said(share):
    """What people say of each node who are wrong with this probability."""
    rng = np.random.default_rng(0)
    wrong = rng.random(GRAPH.n_nodes) < share
    return ((np.asarray(TRUTH) + wrong * rng.integers(1, CLASSES, GRAPH.n_nodes)) % CLASSES).tolist()


def answered(share, noise="auto", budget=50, **options):
    learner = ag.Learner(GRAPH, noise=noise, classes=range(CLASSES), rng=0, **options)
    for _ in learner.run(lambda node: said(share)[node], budget):
        pass
    return learner


def alike(one, other):
    assert one.field.noise == other.field.noise
    assert one.ask() == other.ask()
    close(one.probabilities(), other.probabilities(), 1e-9)


@over_engines
@pytest.mark.parametrize("fold", [0, 5])
def test_another_noise_is_as_if_labels_had_been_told_so(engine, fold):
    graph = ag.grid(4, 5)
    told = [Observation(0, 0), Observation(3, 1), Observation(7, 2, 0.3), Observation(12, 1), Observation(19, 0)]
    for before, after in ((0.0, 0.7), (0.7, 0.0), (0.2, 1.5)):
        field, want = (engine.start(graph, 0.1, 3, noise=gamma) for gamma in (before, after))
        for x in told:
            own = x.noise or None
            field, want = field.observe(x.node, x.said, own), want.observe(x.node, x.said, own)
        field = (field.rebase() if fold else field).with_noise(after, own={7})
        assert [x.noise for x in field.known] == [x.noise for x in want.known]
        field, want = (one.observe(5, 2).sharpen(np.arange(20)) for one in (field, want))
        close(field.votes, want.votes, 10 * engine.tolerance)
        close(field.spread.variance, want.spread.variance, 10 * engine.tolerance)
        assert field.noise == after


def test_a_field_that_has_this_noise_already_is_returned_as_it_is():
    field = Field.start(ag.prior(GRAPH), 2, 0.5).observe(0, 0).observe(5, 1, 0.1)
    same = field.with_noise(0.5, own={5})
    assert same.votes is field.votes
    assert same.stack is field.stack


def test_labels_that_agree_choose_no_noise_and_change_nothing():
    auto, exact = answered(0.0), answered(0.0, noise=0.0)
    assert auto.field.noise == 0
    assert list(auto.labels) == list(exact.labels)
    assert (auto.probabilities() == exact.probabilities()).all()
    assert auto.judge.advice() == exact.judge.advice()


def test_where_many_labels_are_wrong_noise_is_chosen_and_a_person_is_told():
    auto, exact = answered(0.3), answered(0.3, noise=0.0)
    right = [(one.predict() == np.asarray(TRUTH))[~one.field.labeled].mean() for one in (auto, exact)]
    assert auto.field.noise > 0
    assert right[0] > right[1]
    assert any("of the answers look wrong" in sentence for sentence in auto.judge.advice())


def test_the_share_of_wrong_answers_is_about_right():
    for share in (0.1, 0.2, 0.3):
        learner = answered(share, budget=96)
        ((rule),) = (one for one in learner.plan.rules if isinstance(one, ChosenNoise))
        wrong = np.mean([said(share)[node] != TRUTH[node] for node in learner.labels])
        assert abs(rule.wrong(learner.field, learner.history).share - wrong) < 0.08


def test_undo_replay_and_telling_at_once_come_to_the_same(tmp_path):
    learner = answered(0.3)
    labels = dict(learner.labels)
    again, together = (ag.Learner(GRAPH, noise="auto", classes=range(CLASSES), rng=0) for _ in range(2))
    for node, label in labels.items():
        again.tell(node, label)
    together.tell_all(labels)
    for other in (again, together):
        alike(learner, other)
    for _ in range(40):
        again.undo()
    for node, label in list(labels.items())[10:]:
        again.tell(node, label)
    alike(learner, again)
    for state in (False, True):
        learner.save(tmp_path / "work.npz", state=state)
        loaded = ag.Learner.load(tmp_path / "work.npz")
        assert loaded.judge.advice() == learner.judge.advice()
        alike(learner, loaded)
        node = loaded.ask()
        loaded.tell(node, said(0.3)[node])
        again.tell(node, said(0.3)[node])
        alike(again, loaded)
        again.undo()


@pytest.mark.parametrize("readout", ["cautious", "map", "tempered"])
def test_a_labeled_node_keeps_its_label_unless_the_label_was_said_to_be_unsure(readout, tmp_path):
    learner = answered(0.3, budget=64, readout=readout)
    free = [node for node in range(GRAPH.n_nodes) if node not in learner.labels]
    other = (int(learner.predict(free[:1])[0]) + 1) % CLASSES
    learner.tell(free[0], other, noise=50.0)
    learner.save(tmp_path / "work.npz", state=True)
    for one in (learner, ag.Learner.load(tmp_path / "work.npz")):
        assert one.field.noise > 0
        assert one.predict(free[:1])[0] != other
        certain = {node: label for node, label in one.labels.items() if node != free[0]}
        assert one.predict(list(certain)).tolist() == list(certain.values())
        assert one.predict(list(certain), top=1)[1].min() == 1
    relabeled = next(iter(certain))
    learner.relabel(relabeled, (certain[relabeled] + 1) % CLASSES)
    assert learner.predict([relabeled])[0] == (certain[relabeled] + 1) % CLASSES


def test_what_is_prefetched_is_what_is_computed_later():
    learner, other = answered(0.3, budget=15), answered(0.3, budget=15)
    for _ in range(3):
        node = learner.ask()
        ahead = learner.prefetch()
        while ahead.running:
            time.sleep(0.01)
        for one in (learner, other):
            one.tell(node, said(0.3)[node])
        alike(learner, other)


def test_a_label_with_a_noise_of_its_own_keeps_it():
    learner = answered(0.3, budget=64)
    free = [node for node in range(GRAPH.n_nodes) if node not in learner.labels][:2]
    learner.tell(free[0], 0, noise=0.0)
    learner.tell(free[1], 0, noise=7.0)
    for node in free:
        learner.relabel(node, 1)
    noise = {x.node: x.noise for x in learner.field.known}
    assert [noise.pop(node) for node in free] == [0.0, 7.0]
    assert set(noise.values()) == {learner.field.noise} != {0.0}
    learner.retract(free[1])
    learner.undo()
    assert {x.node: x.noise for x in learner.field.known}[free[1]] == 7.0


def test_a_label_that_comes_back_has_the_noise_that_the_others_have_by_then():
    learner = answered(0.3, budget=64)
    node = next(iter(learner.labels))
    noise = learner.field.noise
    learner.retract(node)
    learner.undo()
    assert noise > 0
    assert {x.noise for x in learner.field.known} == {noise}


def test_the_unit_of_the_weights_does_not_matter():
    heavy = ag.Graph(GRAPH.weights * 1e6)
    learners = [ag.Learner(graph, noise="auto", classes=range(CLASSES), rng=0) for graph in (GRAPH, heavy)]
    for learner in learners:
        learner.tell_all({node: said(0.3)[node] for node in range(0, 300, 5)})
    assert learners[0].field.noise > 0
    assert learners[1].field.noise == pytest.approx(learners[0].field.noise / 1e3)


@pytest.mark.parametrize("graph", [GRAPH, ag.Graph(np.zeros((40, 40))), ag.chain(40)])
def test_no_label_one_class_and_all_labels_are_no_trouble(graph):
    learner = ag.Learner(graph, noise="auto", rng=0)
    assert learner.judge.advice() == []
    for node in range(40):
        learner.tell(node, "only")
        assert learner.field.noise == 0
    learner = ag.Learner(graph, noise="auto", rng=0)
    learner.tell_all({node: node % 2 for node in range(graph.n_nodes)})
    assert learner.ask() is None
    assert learner.field.noise in noises(learner.field.origin)
    assert np.isfinite(learner.probabilities()).all()


def test_folded_labels_choose_the_same_noise():
    learner, told = answered(0.3, budget=64), ag.Learner(GRAPH, noise=0.0, classes=range(CLASSES), rng=0)
    told.tell_all(learner.labels)
    ((rule),) = (one for one in learner.plan.rules if isinstance(one, ChosenNoise))
    history, (worn, fresh) = learner.history, (told.field, learner.field.with_noise(0.0))
    assert worn.folded
    assert not fresh.folded
    fresh_rule = dataclasses.replace(rule)
    assert rule.reviews(worn, history).noise == fresh_rule.reviews(fresh, history).noise > 0


def test_labels_that_wear_the_field_out_choose_too():
    graph = ag.Graph.from_edges([*((k, k + 1) for k in range(100)), (101, 102), (103, 104)])
    learner = ag.Learner(graph, delta=1e-6, rng=0)
    for node in range(0, 100, 3):
        learner.tell(node, node // 25)
    assert learner.field.folded
    assert learner.field.noise in noises(learner.field.origin)


def test_on_large_graphs_few_labels_choose(monkeypatch):
    learner = answered(0.3, budget=100)
    ((rule),) = (one for one in learner.plan.rules if isinstance(one, ChosenNoise))
    assert rule.wrong(learner.field, learner.history).labels == 96
    monkeypatch.setattr(choosing, "MANY_NODES", 200)
    assert rule.wrong(learner.field, learner.history).labels == FEW == POINTS[4]


def test_settings_say_auto():
    settings = Settings.of(noise="auto")
    assert Settings.from_json(settings.to_json()) == settings
    assert settings.first_noise == 0.0
    assert Settings.of() == settings
    before = {name: value for name, value in settings.to_json().items() if name != "noise"}
    assert Settings.from_json(before).noise == 0.0  # a file of a version that had no such setting
    assert Settings.from_json({**before, "noise": 0.0}).noise == 0.0
    with pytest.raises(ag.SettingError, match="noise"):
        Settings.of(noise="automatic")
    assert dataclasses.replace(settings, noise=0.5).first_noise == 0.5


def test_the_classifier_takes_auto():
    y = np.array(said(0.3))
    y[np.arange(300) % 5 > 0] = -1
    weights = np.where(np.arange(300) < 200, 2.0, 0.0)
    for sample_weight in (None, weights):
        model = ag.GraphClassifier(graph="precomputed", noise="auto", random_state=0)
        model.fit(GRAPH.weights, y, sample_weight=sample_weight)
        assert {x.noise for x in model.learner_.field.known} == {model.learner_.field.noise}
        model.partial_fit(GRAPH.weights, np.where(np.arange(300) == 61, 2, -1))
        assert {x.noise for x in model.learner_.field.known} == {model.learner_.field.noise}


@pytest.mark.parametrize("seed", range(4))
def test_a_label_that_is_taken_back_and_put_back_is_as_old_as_it_was(seed):
    rng = np.random.default_rng(seed)
    graph, truth = ag.communities((40, 40, 40), mean_degree=5, rng=seed)
    labels = {int(n): int(truth[n]) if rng.random() < 0.7 else int(rng.integers(3)) for n in rng.permutation(120)[:30]}
    one, other = (ag.Learner(graph, rng=0, classes=[0, 1, 2]) for _ in range(2))
    for learner in (one, other):
        for node, label in labels.items():
            learner.tell(node, label)
    for node in list(labels)[:5]:
        one.retract(node)
        one.undo()
    assert one.field.noise == other.field.noise
    np.testing.assert_allclose(one.probabilities(), other.probabilities(), atol=1e-9)
