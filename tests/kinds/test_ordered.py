"""Ordered classes: the median of the votes, ranges of steps, and steps as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import askgraph as ag
from askgraph.kinds.ordered import _shortest
from tests.helpers.draws import given, settings, st
from tests.helpers.engines import close

STEPS = ["a", "b", "c", "d"]


def probabilities(seed, n=12):
    return np.random.default_rng(seed).dirichlet(np.full(4, 0.7), n)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_median_is_the_lowest_step_with_half_of_the_probability(seed):
    p = probabilities(seed)
    order = np.random.default_rng(seed).permutation(4)
    kind, columns = ag.Ordered(STEPS), [STEPS[k] for k in order]
    decided = [columns[c] for c in kind.decide(p[:, order], columns)]
    assert decided == [STEPS[int(np.flatnonzero(np.cumsum(row) >= 0.5 - 1e-9)[0])] for row in p]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_of_two_steps_the_median_is_the_likelier_one(seed):
    p = probabilities(seed)[:, :2]
    p /= p.sum(axis=1, keepdims=True)
    assert np.array_equal(ag.Ordered(["no", "yes"]).decide(p, ["no", "yes"]), p.argmax(axis=1))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_other_way_round_the_median_is_the_same(seed):
    p = probabilities(seed)
    there, back = ag.Ordered(STEPS).decide(p, STEPS), ag.Ordered(STEPS[::-1]).decide(p, STEPS)
    assert np.array_equal(there, back)  # but for ties, which go to the lower step


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.8, 0.95]))
def test_no_shorter_range_holds_as_much(seed, share):
    p = probabilities(seed)
    low, high = _shortest(np.cumsum(p, axis=1), share)
    for row, first, last in zip(p, low.tolist(), high.tolist(), strict=True):
        assert row[first : last + 1].sum() >= share - 1e-9
        many = last - first
        assert not any(row[at : at + many].sum() >= share - 1e-9 for at in range(5 - many)) or many == 0


def test_votes_of_classes_add_up_to_those_of_at_least():
    graph, truth = ag.communities((20, 25, 30), rng=0)
    learner = ag.Learner(graph, answers=ag.Ordered([0, 1, 2]), rng=0)
    learner.tell_all({node: int(truth[node]) for node in range(0, 75, 7)})
    p = learner.answers.likely(learner._moment, ag.at_least(1))
    close(p, learner.probabilities()[:, 1:].sum(axis=1), 1e-12)


def fifths():
    X, y = load_diabetes(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:300]
    return X[rows] / X.std(axis=0), np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y[rows], side="right")


def test_steps_off_are_fewer_than_with_classes_on_diabetes_in_fifths():
    X, y = fifths()
    graph, off = ag.nearest_neighbors(X, 10), {}
    for answers in ("ordered", "classes"):
        learner, errors = ag.Learner(graph, answers=answers, features=X, rng=0), []
        for count in range(1, 81):
            node = learner.ask()
            learner.tell(node, int(y[node]))
            if count in (20, 40, 80):
                rest = [node for node in range(300) if node not in learner.labels]
                errors.append(np.abs(learner.predict(rest) - y[rest]).mean())
                if answers == "ordered":
                    value, low, high = learner.predict(rest, interval=0.8)
                    assert ((low <= y[rest]) & (y[rest] <= high)).mean() >= 0.75
                    assert ((low <= value) & (value <= high)).all()
                    error = learner.judge.expected_error()
                    assert error.low <= errors[-1] <= error.high
        off[answers] = np.mean(errors)
    assert off["ordered"] < off["classes"] - 0.05


def test_several_steps_count_as_their_middle_and_stay_among_them():
    kind = ag.Ordered(STEPS)
    assert kind.values(["a", ag.one_of("b", "d"), kind.checked({"a": 0.25, "c": 0.25}, STEPS)]).tolist() == [
        [0.0],
        [2.0],
        [1.0],
    ]
    learner = ag.Learner(ag.chain(9), answers=kind, rng=0)
    learner.tell_all({0: "a", 8: "d", 6: ag.one_of("c", "d")})
    assert learner.predict([6]).tolist()[0] in ("c", "d")


def test_what_is_sought_may_be_a_step_or_all_from_one_on():
    learner = ag.Learner(ag.chain(9), answers=ag.Ordered(STEPS), rng=0)
    learner.tell_all({0: "a", 4: "c", 8: "d"})
    assert learner.question(plan=learner.plan.finding(ag.at_least("d"))).node == 7
    assert learner.question(plan=learner.plan.finding("a")).node == 1
    assert learner.judge.left_to_find(ag.at_least("c")).found == 2
    with pytest.raises(ag.LabelError, match="no step"):
        learner.question(plan=learner.plan.finding(ag.at_least("z")))


def test_a_label_that_is_steps_off_is_suspected():
    rows = fifths()[0][:, [2]]
    steps = np.searchsorted(np.quantile(rows[:, 0], [0.2, 0.4, 0.6, 0.8]), rows[:, 0], side="right")
    told = {node: int(steps[node]) for node in range(60)}
    wrong = next(node for node in told if told[node] == 4)
    told[wrong] = 0
    learner = ag.Learner(ag.nearest_neighbors(rows, 8), answers="ordered", rng=0)
    learner.tell_all(told)
    assert [one.node for one in learner.judge.suspects()] == [wrong]


def test_few_spot_checks_that_came_out_wrong_are_not_contradicted(monkeypatch):
    learner = ag.Learner(ag.communities((30, 30), rng=0)[0], answers=ag.Ordered(["low", "high"]), rng=0)
    learner.tell_all({node: "low" if node < 30 else "high" for node in range(0, 60, 6)})
    assert learner.judge.expected_error().value < 0.2
    monkeypatch.setattr(ag.Ordered, "_checked_off", lambda self, moment: [1.0, 1.0, 1.0])
    assert learner.judge.expected_error().value >= 0.05 ** (1 / 3)
