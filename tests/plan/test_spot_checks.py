"""Spot checks: questions drawn at random, told like any other, recorded with what was predicted before."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from tests.helpers.engines import ABROAD, ENGINES, SHUFFLED


def communities(seed=0):
    return ag.communities((60, 60, 60), mixing=0.2, rng=seed)


def test_one_question_in_so_many_is_drawn_at_random_and_recorded_with_its_prediction():
    graph, truth = communities()
    learner, before = ag.Learner(graph, spot_checks=4, rng=0), {}
    for number in range(24):
        node = learner.ask()
        if number % 4 == 3:
            before[node] = learner.predict([node])[0]
        learner.tell(node, int(truth[node]))
    assert [(check.node, check.predicted) for check in learner.judge.spot_checks] == list(before.items())
    assert all(check.label == learner.labels[check.node] == truth[check.node] for check in learner.judge.spot_checks)
    assert all(type(check.predicted) is int for check in learner.judge.spot_checks)
    assert [event.predicted is not None for event in learner.history.log] == [number % 4 == 3 for number in range(24)]
    assert sorted(learner.labels) == sorted({*learner.labels})
    assert learner.field.held == 24


@pytest.mark.slow
def test_they_are_uniform_over_all_unlabeled_nodes_with_any_sampler():
    graph = ag.Graph.from_edges([*((0, i) for i in range(1, 30)), *((i, i + 1) for i in range(30, 59))])
    for sampler in ("influence", "tv"):
        drawn = []
        for seed in range(150):
            learner = ag.Learner(graph, sampler, spot_checks=2, rng=seed, hubs="skip")
            learner.tell(learner.ask(), 0)
            drawn.append(learner.ask())
        assert len(set(drawn)) > 45
        assert 0.35 < np.mean(np.array(drawn) < 30) < 0.65


def test_what_is_told_without_being_asked_is_no_spot_check_unless_said():
    graph, truth = communities()
    learner = ag.Learner(graph, spot_checks=2, rng=0)
    learner.tell(learner.ask(), 0)
    other = next(node for node in range(180) if node != learner.ask() and node not in learner.labels)
    learner.tell(other, int(truth[other]))
    assert learner.judge.spot_checks == []
    learner.tell(next(n for n in range(180) if n not in learner.labels), 1, predicted=2)
    ((_, predicted, label),) = learner.judge.spot_checks
    assert (predicted, label) == (2, 1)
    assert not learner.judge.spot_checks[0].right


def test_they_are_saved_undone_relabeled_and_retracted(tmp_path):
    graph, truth = communities()
    learner = ag.Learner(graph, spot_checks=3, rng=0)
    for _ in learner.run(lambda node: int(truth[node]), 12):
        pass
    found = learner.judge.spot_checks
    assert len(found) == 4
    for state in (False, True):
        learner.save(tmp_path / "learner.npz", state=state)
        again = ag.Learner.load(tmp_path / "learner.npz")
        assert again.judge.spot_checks == found
        assert again.ask() == learner.ask()
        assert again.judge.expected_error() == pytest.approx(learner.judge.expected_error())
    learner.relabel(found[1].node, (int(truth[found[1].node]) + 1) % 3)
    assert learner.judge.spot_checks[1].label != found[1].label
    learner.undo()
    assert learner.judge.spot_checks == found
    learner.retract(found[0].node)
    assert learner.judge.spot_checks == found[1:]
    learner.undo()
    learner.undo()
    assert learner.judge.spot_checks == found[:-1]


def test_wrong_predictions_raise_the_expected_error():
    graph, truth = communities()
    errors = []
    for wrong in (False, True):
        learner = ag.Learner(graph, spot_checks=2, rng=0, readout="map")
        for node in range(0, 60):
            label = int(truth[3 * node])
            learner.tell(3 * node, label, predicted=None if node % 2 else (label + 1) % 3 if wrong else label)
        errors.append(learner.judge.expected_error())
    assert errors[0].value < errors[1].value
    assert errors[0].high < errors[1].high


def test_what_the_other_labels_say_now_counts_and_not_what_was_predicted_before():
    graph, truth = communities()
    learner = ag.Learner(graph, rng=0)
    learner.tell_all({node: int(truth[node]) for node in range(0, 180, 6)})
    for node in range(1, 180, 18):
        learner.tell(node, int(truth[node]), predicted=(int(truth[node]) + 1) % 3)
    found = learner.judge.expected_error()
    assert (found.measured, found.kind) == (10, "measured on 10 random items")
    assert found.value < 0.2
    for check in learner.judge.spot_checks:
        learner.relabel(check.node, (check.label + 1) % 3)
    assert learner.judge.expected_error().value > 0.5


def test_few_spot_checks_leave_the_range_to_the_model():
    graph, truth = communities()
    learner = ag.Learner(graph, spot_checks=3, rng=0)
    kinds = [learner.judge.expected_error().kind for _ in learner.run(lambda node: int(truth[node]), 24)]
    assert kinds == ["from the model"] * 23 + ["measured on 8 random items"]


@pytest.mark.parametrize("engine", [*ENGINES, *ABROAD, SHUFFLED], ids=str)
def test_every_engine_draws_the_same(engine):
    graph, truth = communities()
    want, got = [], []
    for each, found in ((ENGINES[0], want), (engine, got)):
        learner = ag.Learner(graph, engine=each.prior(graph, 0.05), delta=0.05, spot_checks=2, rng=5)
        learner.tell(0, int(truth[0]))
        found += [learner.ask(), learner.ask()]
        learner.tell(learner.ask(), int(truth[learner.ask()]))
        found += [check[1:] for check in learner.judge.spot_checks]
    assert want == got


def test_numbers_that_make_no_sense_are_refused():
    for odd in (-1, 0.125, "8"):
        with pytest.raises(ag.SettingError, match="spot_checks="):
            ag.Learner(ag.chain(3), spot_checks=odd)
