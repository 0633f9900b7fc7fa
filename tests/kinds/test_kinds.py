"""Every kind of answers: the same laws, by walks of everything that can be told, over engines, with features and without."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.priors import Dense
from askgraph.priors.precision import Precision
from tests.helpers.draws import given, settings, st
from tests.helpers.elsewhere import Elsewhere
from tests.helpers.engines import close
from tests.helpers.shuffled import Shuffled

N = 24
X = np.random.default_rng(4).normal(size=(N, 3))
GRAPH = ag.nearest_neighbors(X, 4)
ENGINES = {"dense": 1e-7, "direct": 1e-7, "iterative": 1e-4}
CLASSES = ["a", "b", "c"]


def a_class(rng):
    kind = rng.integers(6)
    if kind == 0:
        return ag.one_of(*rng.permutation(CLASSES)[:2])
    return {"a": 0.5, "c": 0.25} if kind == 1 else str(rng.choice(CLASSES))


KINDS = {  # the settings of a learner, and an answer drawn
    "classes": ({"classes": CLASSES}, a_class),
    "ordered": (
        {"answers": ag.Ordered(["low", "middle", "high"])},
        lambda rng: str(rng.choice(["low", "middle", "high"])),
    ),
    "ordered numbers": ({"answers": "ordered"}, lambda rng: int(rng.integers(1, 6))),
    "several": ({"answers": "several"}, lambda rng: [name for name in CLASSES if rng.random() < 0.4]),
    "numbers": ({"answers": "numbers"}, lambda rng: float(rng.normal(5, 2))),
    "logarithms": ({"answers": ag.Numbers(link="auto")}, lambda rng: float(rng.lognormal())),
}
over_kinds = pytest.mark.parametrize("kind", KINDS)


def learner_of(kind, **more):
    return ag.Learner(GRAPH, rng=0, **{**KINDS[kind][0], **more})


def finding(sought):
    learner = learner_of("classes")
    learner.tell(0, "a")
    learner.question(plan=learner.plan.finding(sought))


def shown(learner):
    """What is predicted, as numbers."""
    if learner.answers.by_class:
        return learner.probabilities()
    if len(learner.labels) < 2:
        return np.zeros(1)
    found = np.column_stack(learner.predict(interval=0.9))
    return found if learner.field.prior.exact else found[:, 0]  # variances are estimated there


def walked(learner, kind, rng, steps):
    """Tell, change, take back, skip, audit and undo."""
    draw = KINDS[kind][1]
    for _ in range(steps):
        node, labeled = int(rng.integers(N)), list(learner.labels)
        what = rng.integers(8)
        if what == 0 and labeled:
            learner.relabel(labeled[int(rng.integers(len(labeled)))], draw(rng))
        elif what == 1 and labeled:
            learner.retract(labeled[int(rng.integers(len(labeled)))])
        elif what == 2:
            learner.undo()
        elif node not in learner.labels and what == 3:
            learner.skip(node)
        elif node not in learner.labels and what == 4:
            learner.judge.tell_audit(node, draw(rng))
        elif node not in learner.labels:
            learner.tell(node, draw(rng))


def told_anew(learner, kind, **more):
    other = learner_of(kind, **more)
    for event in learner.history.log:
        if event.kind == "skip":
            other.skip(event.node)
        elif event.kind == "retract":
            other.retract(event.node)
        else:
            how = {"tell": other.tell, "relabel": other.relabel, "audit": other.judge.tell_audit}
            how[event.kind](event.node, event.label)
    return other


@over_kinds
@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_what_was_taken_back_leaves_no_trace(engine, features, kind, seed):
    more = {"engine": engine, "features": X if features else None}
    learner, rng = learner_of(kind, **more), np.random.default_rng(seed)
    walked(learner, kind, rng, 25)
    other = told_anew(learner, kind, **more)
    assert other.labels == learner.labels
    assert other.classes == learner.classes
    close(shown(learner), shown(other), ENGINES[engine])


@over_kinds
@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_answers_told_together_or_one_by_one_come_to_the_same(kind, seed):
    rng = np.random.default_rng(seed)
    one, names = learner_of(kind), rng.permutation(N)[:14].tolist()
    told = {name: KINDS[kind][1](rng) for name in names}
    together = learner_of(kind)
    together.tell_all(told)
    for name, answer in told.items():
        one.tell(name, answer)
    assert one.labels == together.labels
    close(shown(one), shown(together), 1e-7)


@over_kinds
@pytest.mark.parametrize("state", [False, True])
def test_a_saved_learner_goes_on(tmp_path, kind, state):
    learner, rng = learner_of(kind, spot_checks=3), np.random.default_rng(1)
    for _ in range(12):
        learner.tell(learner.question(), KINDS[kind][1](rng))
    learner.save(tmp_path / "work.npz", state=state)
    again = ag.Learner.load(tmp_path / "work.npz")
    assert again.labels == learner.labels
    assert again.answers == learner.answers
    assert again.ask() == learner.ask()
    assert [check.right for check in again.judge.spot_checks] == [check.right for check in learner.judge.spot_checks]
    close(shown(again), shown(learner), 1e-9)
    again.undo()
    again.relabel(next(iter(again.labels)), KINDS[kind][1](rng))
    again.predict()


@over_kinds
def test_the_judge_speaks_of_every_kind(kind):
    learner, rng = learner_of(kind, spot_checks=4), np.random.default_rng(2)
    for _ in range(20):
        learner.tell(learner.question(), KINDS[kind][1](rng))
    error = learner.judge.expected_error()
    assert error.low <= error.value <= error.high
    for node in learner.judge.audit(3):
        learner.judge.tell_audit(node, KINDS[kind][1](rng))
    assert learner.judge.expected_error().audited == 3
    assert all(one.node in learner.labels for one in learner.judge.suspects(every=True))
    assert all(isinstance(sentence, str) for sentence in learner.judge.advice())
    if learner.answers.by_class:
        assert all(0 <= error <= 1 for error in learner.judge.errors_by_class().values())
    assert learner.judge.enough(target=1.0 if learner.answers.stop_at else 1e9).startswith("enough")
    assert len(learner.ask(3)) == 1  # three are set aside by the audit
    ahead = learner.prefetch()
    while ahead.running:
        pass
    learner.tell(learner.ask(), KINDS[kind][1](rng))
    while (node := learner.ask()) is not None:
        learner.tell(node, KINDS[kind][1](rng))
    assert learner.judge.finished


@over_kinds
def test_nothing_told_is_nothing_known(kind):
    learner = learner_of(kind)
    assert len(learner.predict()) == N
    assert learner.judge.suspects() == []
    assert learner.judge.advice() == []
    assert learner.judge.expected_error().high > 0
    few, many = learner.judge.labels_needed(0.1)
    assert 0 <= few <= many <= N
    assert learner.ask() is not None


BAD = [  # what is said, of which kinds it is no answer, and what the sentence says
    ({"a"}, ["classes", "ordered", "numbers"], "one_of|not a number"),
    (float("nan"), list(KINDS), "nan"),
    (None, list(KINDS), "None"),
    ("3,5", ["ordered", "ordered numbers", "numbers"], r"3\.5|no step"),
    (10**400, ["ordered numbers", "numbers"], "too large"),
    (float("inf"), ["ordered numbers", "numbers"], "too large"),
    (True, ["ordered numbers", "numbers"], "not a number"),
    ({"a": -0.1}, ["classes"], "from 0 to 1"),
    ({"a": 0.8, "b": 0.3}, ["classes"], "adds up to 1.1"),
    ({"a": float("nan")}, ["classes"], "from 0 to 1"),
    ({}, ["classes", "numbers"], "adds up to 0|not a number"),
    (ag.one_of("a", "zebra"), list(KINDS), "zebra|not a number|tell those"),
    ("gigantic", ["ordered"], "'low', 'middle', 'high'"),
    ([["a"]], list(KINDS), "list"),
]


@pytest.mark.parametrize(("said", "kinds", "sentence"), BAD, ids=[str(said)[:20] for said, *_ in BAD])
def test_what_is_no_answer_is_refused_and_nothing_is_stored(said, kinds, sentence):
    for kind in kinds:
        learner, rng = learner_of(kind), np.random.default_rng(0)
        for node in range(6):
            learner.tell(node, KINDS[kind][1](rng))
        before = learner.labels, len(learner.history.log), shown(learner)
        for door in (
            lambda learner=learner: learner.tell(9, said),
            lambda learner=learner: learner.tell_all({9: said}),
            lambda learner=learner: learner.relabel(0, said),
            lambda learner=learner: learner.judge.tell_audit(9, said),
        ):
            with pytest.raises(ag.LabelError, match=sentence):
                door()
        assert (learner.labels, len(learner.history.log)) == before[:2]
        close(shown(learner), before[2], 1e-12)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: ag.one_of(), "two or more"),
        (lambda: ag.one_of("a", "a"), "two or more"),
        (lambda: ag.one_of(["a", "b"]), "one by one"),
        (lambda: ag.Ordered(["a"]), "two or more"),
        (lambda: ag.Ordered("good"), "give a list"),
        (lambda: ag.Learner(GRAPH, answers=ag.Ordered), "make one"),
        (lambda: ag.Learner(GRAPH).tell(0, ag.at_least("a")), "no answer"),
        (lambda: finding(ag.one_of("a", "b")), "name one class"),
        (lambda: finding(ag.at_least("a")), "name one class"),
        (lambda: ag.Ordered(["a", "a"]), "twice"),
        (lambda: ag.Numbers(link="root"), "link"),
        (lambda: ag.Numbers(unit=3), "unit"),
        (lambda: ag.Learner(GRAPH, answers="stars"), "'ordered', 'several', 'numbers'"),
        (lambda: ag.Learner(GRAPH, answers="numbers", classes=["a"]), "no classes"),
        (lambda: ag.Learner(GRAPH, answers=ag.Ordered(["a", "b"]), classes=["a"]), "are the classes"),
        (lambda: ag.Learner(GRAPH, "eer", answers="several"), "take 'influence', 'sigma', 'vm', 'random'"),
        (lambda: ag.Learner(GRAPH, "tsa", answers="numbers"), "take 'vm', 'sigma', 'influence', 'random'"),
        (lambda: ag.Learner(GRAPH, answers="several", readout="map"), "leave it out"),
        (lambda: ag.Learner(GRAPH, answers="numbers", noise=0.3), "leave noise out"),
        (lambda: ag.Learner(GRAPH, answers="numbers").tell(0, 3.0, noise=0.1), "the same for all"),
        (lambda: ag.Learner(GRAPH, answers="numbers").probabilities(), "interval"),
        (lambda: ag.Learner(GRAPH, answers="numbers").predict(top=2), "interval"),
        (lambda: ag.Learner(GRAPH, answers="numbers").judge.group(), "no groups"),
        (lambda: learner_of("numbers").judge.errors_by_class(), "answers='numbers' have no classes"),
        (lambda: ag.Learner(GRAPH, answers="several").judge.group(), "no groups"),
        (lambda: ag.Learner(GRAPH, answers="several").guesses.tell(0, "a"), "single classes only"),
        (lambda: ag.Learner(GRAPH, answers="numbers").judge.enough(), "target"),
        (lambda: ag.Learner(GRAPH).predict(interval=0.9), "no order"),
        (lambda: ag.Learner(GRAPH, answers="ordered").predict(interval=1.5), "interval"),
    ],
)
def test_what_a_kind_cannot_do_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(ag.AskgraphError, match=sentence):
        wrong()


@over_kinds
@pytest.mark.parametrize(
    "abroad", [lambda precision: Elsewhere(Dense(precision)), Shuffled], ids=["elsewhere", "shuffled"]
)
def test_the_same_where_rows_are_elsewhere_or_in_another_order(kind, abroad):
    pair = [learner_of(kind), learner_of(kind, engine=abroad(Precision.of(GRAPH)))]
    for learner in pair:
        rng = np.random.default_rng(6)
        learner.tell_all({node: KINDS[kind][1](rng) for node in range(0, N, 2)})
        learner.tell(learner.ask(), KINDS[kind][1](rng))
    here, there = pair
    assert there.labels == here.labels
    close(shown(there), shown(here), 1e-7)
    assert (
        there.predict().tolist() == pytest.approx(here.predict().tolist())
        if kind in ("numbers", "logarithms")
        else True
    )
    errors = [learner.judge.expected_error() for learner in pair]
    assert errors[1].value == pytest.approx(errors[0].value, abs=1e-6)
    sought = {"several": "a", "classes": "a", "ordered": ag.at_least("middle")}.get(kind, ag.at_least(3))
    plans = [learner.plan.finding(sought) for learner in pair]
    assert pair[1].question(plan=plans[1]) == pair[0].question(plan=plans[0])
    assert pair[1].judge.left_to_find(sought).value == pytest.approx(pair[0].judge.left_to_find(sought).value, abs=1e-5)
    assert pair[1].judge.changes(1) == pytest.approx(pair[0].judge.changes(1), abs=1e-6)


def test_numbers_that_count_as_classes_are_noticed():
    learner = ag.Learner(GRAPH, rng=0)
    learner.tell_all({node: round(3.7 * node, 1) for node in range(10)})
    assert "answers='numbers'" in learner.judge.advice()[0]
    other = ag.Learner(GRAPH, rng=0)
    other.tell_all({node: node % 4 for node in range(20)})
    assert not any("numbers" in sentence for sentence in other.judge.advice())
