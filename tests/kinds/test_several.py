"""Several classes per item: each class is a field of its own; the cut, the calibration and the errors are what they say."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import askgraph as ag
from askgraph.answers.coding import Classes
from askgraph.answers.several import ClassSets
from askgraph.field import Field
from askgraph.readouts.each_class import PULL, USUAL, _fitted, calibrated, cut_as_expected
from tests.helpers.draws import given, settings, st
from tests.helpers.engines import close
from tests.helpers.graphs import random_graph


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_field_of_a_class_is_that_of_having_it_or_not(seed):
    rng = np.random.default_rng(seed)
    prior, nodes = ag.prior(ag.Graph(random_graph(rng, 9)), 0.3), rng.permutation(9)[:5].tolist()
    sets = [tuple(np.flatnonzero(rng.random(3) < 0.4).tolist()) for _ in nodes]
    several = Field.start(prior, ClassSets(4))
    for node, said in zip(nodes, sets, strict=True):
        several = several.observe(node, said)
    for c in range(3):
        one = Field.start(prior, Classes(2))
        for node, said in zip(nodes, sets, strict=True):
            one = one.observe(node, int(c in said))
        close(several.votes[:, c + 1], one.votes[:, 1], 1e-9)
        close(several.votes[:, 0], one.votes.sum(axis=1), 1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_calibration_is_the_maximum_of_its_likelihood(seed):
    rng = np.random.default_rng(seed)
    signs = np.column_stack([np.ones(200), rng.normal(size=(200, 2)) * 3])
    said = (rng.random(200) < 1 / (1 + np.exp(-signs @ rng.normal(size=3)))).astype(float)

    def cost(w):
        z = signs @ w
        return (np.logaddexp(0, z) - said * z).sum() + PULL / 2 * ((w - USUAL) ** 2).sum()

    best = _fitted(signs, said)
    assert all(cost(best) <= cost(best + step) + 1e-9 for step in 0.01 * rng.normal(size=(20, 3)))


def test_as_many_are_predicted_as_are_expected():
    rng = np.random.default_rng(0)
    p, labeled = rng.random((200, 3)), rng.random(200) < 0.3
    has = cut_as_expected(p, labeled, np.array([3, 20, 0]))
    rest = has[~labeled]
    assert rest.sum(axis=0).tolist() == [*np.round(p[~labeled].sum(axis=0)[:2]).astype(int).tolist(), 0]
    for c in range(2):
        assert p[~labeled, c][rest[:, c]].min() >= p[~labeled, c][~rest[:, c]].max()
    close(has[labeled], p[labeled] > 0.5, 0)


def digits(count=300):
    """Rows of digits: has a loop, is even, is large."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(1).permutation(len(y))[:count]
    sets = [
        [
            name
            for name, some in (("loop", (0, 6, 8, 9)), ("even", (0, 2, 4, 6, 8)), ("large", (5, 6, 7, 8, 9)))
            if digit in some
        ]
        for digit in y[rows].tolist()
    ]
    return ag.nearest_neighbors(X[rows], 8), sets


def test_digits_by_their_features():
    graph, sets = digits()
    learner = ag.Learner(graph, answers="several", rng=0)
    for _ in range(60):
        node = learner.ask()
        learner.tell(node, sets[node])
    rest = [node for node in range(300) if node not in learner.labels]
    made, truth = learner.predict(rest), [set(sets[node]) for node in rest]
    wrong = sum(len(set(one) ^ other) for one, other in zip(made, truth, strict=True))
    both = sum(len(one) + len(other) for one, other in zip(made, truth, strict=True))
    f1 = 1 - wrong / both
    assert f1 > 0.9
    error = learner.judge.expected_error()
    assert error.low <= 1 - f1 <= error.high
    assert str(error).startswith(f"{error.value:.3g} below an F1 of 1 (")
    by_class = learner.judge.errors_by_class()
    assert set(by_class) == {"loop", "even", "large"}
    assert all(0 <= value <= 1 for value in by_class.values())
    assert learner.judge.advice() == []
    p, top = learner.probabilities(), learner.predict(top=2)
    assert top[0].shape == (300, 2)
    close(top[1][:, 0], p.max(axis=1), 1e-12)
    found = [question.node for question in learner.question(10, plan=learner.plan.finding("loop"))]
    assert np.mean(["loop" in sets[node] for node in found]) > 0.8
    assert learner.judge.left_to_find("loop").found == sum("loop" in said for said in learner.labels.values())


def test_a_class_too_much_and_one_too_few_are_suspected():
    graph, sets = digits()
    sets[11] = [name for name in ("loop", "even", "large") if name not in sets[11]]
    learner = ag.Learner(graph, answers="several", rng=0)
    learner.tell_all({node: sets[node] for node in range(150)})
    worst = learner.judge.suspects()
    assert worst[0].node == 11
    assert set(worst[0].label) ^ set(worst[0].instead) <= {"loop", "even", "large"}


def test_a_first_answer_of_none_of_these_is_an_answer():
    learner = ag.Learner(ag.chain(6), answers="several", rng=0)
    learner.tell(0, [])
    assert learner.predict().tolist() == [()] * 6
    assert learner.probabilities().shape == (6, 0)
    learner.tell(5, ["a"])
    assert learner.predict([4]).tolist() == [("a",)]
    learner.relabel(5, [])
    assert learner.classes == []


def test_answers_are_the_same_however_they_are_given():
    for said in (["b", "a"], ("a", "b"), {"a", "b"}, np.array(["a", "b"]), frozenset("ab"), ["a", "a", "b"]):
        learner = ag.Learner(ag.chain(6), answers="several", rng=0)
        learner.tell(0, said)
        assert learner.labels == {0: ("a", "b")}
    learner.tell(1, "word")
    assert learner.labels[1] == ("word",)


def test_expected_changes_are_those_of_each_answer():
    graph, sets = digits(40)
    learner = ag.Learner(graph, answers="several", rng=0)
    learner.tell_all({node: sets[node] for node in range(0, 30, 2)})
    assert learner.judge.changes(0) == 0
    assert learner.judge.changes(1) >= 0
    field = learner.field
    assert calibrated(field).weights[1] > 0


@pytest.mark.parametrize("classes", [None, ["a", "b", "c"]])
def test_with_noise_answers_stand_at_their_nodes_in_what_is_predicted(classes):
    learner = ag.Learner(ag.grid(4, 5), answers="several", classes=classes, rng=0)
    told = {0: ("a",), 19: ("b",), 7: (), 12: ("a", "b")}
    learner.tell_all(told)
    assert dict(zip(told, learner.predict(list(told)).tolist(), strict=True)) == told
