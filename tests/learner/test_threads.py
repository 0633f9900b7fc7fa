"""Threads that share a learner: each call happens as a whole, so no label is lost and nothing is read half changed."""

from __future__ import annotations

import copy
import pickle
import sys
import threading

import numpy as np
import pytest

import askgraph as ag
from tests.helpers.interrupts import GRAPH, LEARNERS, TRUTH, alarm, replayed

pytestmark = pytest.mark.slow
REPEATS = 6


@pytest.fixture(autouse=True)
def impatient():
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*functions):
    """Run functions in threads that begin together; return the errors that came of them."""
    gate, errors = threading.Barrier(len(functions)), []

    def run(function):
        gate.wait()
        try:
            function()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.parametrize("threads", [2, 4])
def test_promise_37_no_label_is_lost_where_threads_tell_one_learner(threads):
    for _ in range(REPEATS):
        learner = ag.Learner(GRAPH, rng=0)

        def tell(nodes, learner=learner):
            for node in nodes:
                learner.tell(node, int(TRUTH[node]))

        assert not at_once(*(lambda first=first: tell(range(first, 60, threads)) for first in range(threads)))
        assert learner.labels == {node: int(TRUTH[node]) for node in range(60)}
        assert len(learner.history.log) == 60
        assert replayed(learner.history.log) == learner.labels


@pytest.mark.parametrize("kind", LEARNERS)
def test_any_mixture_of_calls_from_threads_leaves_log_and_labels_in_agreement(kind, tmp_path):
    learner, node = LEARNERS[kind](), iter(range(5, 40))

    def answer():
        for _ in range(4):
            learner.prefetch()
            learner.tell(learner.ask(), "a")

    def change():
        learner.relabel(12, "new")
        learner.retract(23)
        learner.undo()
        learner.skip(next(x for x in node if x not in learner.labels))

    def look():
        for _ in range(4):
            assert learner.probabilities().shape[0] == learner.graph.n_nodes == len(learner.predict())
            _ = (
                learner.prefetch().questions,
                learner.prefetch().running,
                learner.guesses.sources,
                learner.judge.expected_error(),
                repr(learner),
            )

    errors = at_once(answer, change, look, lambda: learner.save(tmp_path / "learner.npz"))
    others = [
        error for error in errors if not isinstance(error, ag.LabelError)
    ]  # two threads answered the same question
    assert others == []
    assert replayed(learner.history.log) == {learner.graph.index(x): label for x, label in learner.labels.items()}
    alone = pickle.loads(pickle.dumps(learner))
    assert alone.ask() == learner.ask()
    learner.prefetch().stop()


def test_the_second_of_two_threads_that_label_one_node_gets_an_error_that_says_so():
    for _ in range(REPEATS):
        learner = ag.Learner(GRAPH, rng=0)
        (error,) = at_once(lambda x=learner: x.tell(7, "a"), lambda x=learner: x.tell(7, "b"))
        assert isinstance(error, ag.LabelError)
        assert "is labeled" in str(error)
        assert len(learner.labels) == len(learner.history.log) == 1


def test_who_reads_while_another_thread_tells_sees_all_before_or_all_after():
    learner, rows = ag.Learner(GRAPH, rng=0, classes=["a"]), []

    def tell():
        for k in range(12):
            learner.tell(k, f"class {k}")
            learner.undo()

    def read():
        while writer.is_alive():
            labels, p = learner.predict(top=2)
            assert labels.shape == p.shape
            assert len(learner.labels) <= 1  # never a label without its class
            rows.append(learner.probabilities().sum(axis=1))

    writer = threading.Thread(target=tell)
    writer.start()
    assert not at_once(read, read)
    writer.join()
    np.testing.assert_allclose(rows, 1.0)


def test_what_waits_for_its_turn_can_be_interrupted_and_changes_nothing():
    learner, there, go = ag.Learner(GRAPH, rng=0), threading.Event(), threading.Event()

    def hold():
        with learner._turn:
            there.set()
            go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    there.wait()
    with pytest.raises(KeyboardInterrupt), alarm(0.02):
        learner.tell(7, "a")
    assert not learner.history.log
    assert copy.deepcopy(learner).ask() is not None  # a copy waits for nobody
    go.set()
    thread.join()
    assert not at_once(lambda: learner.tell(7, "a"))
    assert learner.labels == {7: "a"}


def test_no_label_is_lost_where_threads_fit_one_classifier():
    X = np.random.default_rng(0).normal(size=(60, 2))
    for _ in range(3):
        model = ag.GraphClassifier(k=3, random_state=0).fit(X, [0, 1, *[-1] * 58])

        def fit(rows, model=model):
            for row in rows:
                model.partial_fit(X[[row]], [row % 2])
                model.query(2)
                model.predict_proba(X[:5])

        assert not at_once(*(lambda first=first: fit(range(2 + first, 20, 2)) for first in range(2)))
        assert model.learner_.labels == {row: row % 2 for row in range(20)}


def test_no_row_is_lost_where_threads_add_rows_to_one_classifier():
    X = np.random.default_rng(0).normal(size=(40, 2))
    for _ in range(3):
        model = ag.GraphClassifier(k=3, random_state=0).fit(X[:20], [0, 1, *[-1] * 18])

        def add(rows, model=model):
            for row in rows:
                model.partial_fit(X[[row]], [row % 2])
                model.predict_proba(X[:5])

        assert not at_once(*(lambda first=first: add(range(20 + first, 28, 2)) for first in range(2)))
        assert len(model.X_) == 28
        assert sorted(model.learner_.labels) == [0, 1, *range(20, 28)]
