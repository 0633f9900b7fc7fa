"""What is computed ahead is what would have been computed in its turn."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import askgraph as ag
from askgraph.learner.prefetch import Prefetch
from askgraph.priors import Iterative

pytestmark = pytest.mark.slow

GRAPHS = {
    "dense": ag.communities((60, 90), rng=0),
    "direct": ag.communities((60, 90), rng=1),
    "iterative": ag.communities((900, 900), rng=2),
}


def asked(learner, truth, budget, every=None):
    nodes = []
    for k in range(budget):
        if every and k % every == 0:
            learner.prefetch()
            if k % 2:
                learner._state.prefetch and learner._state.prefetch.wait()
        node = learner.ask()
        nodes.append(node)
        learner.tell(node, int(truth[node]))
    return nodes, learner


@pytest.mark.parametrize("engine", GRAPHS)
@pytest.mark.parametrize("sampler", ["tv", "msd", "eer", "random"])
def test_questions_are_the_same_with_and_without(engine, sampler):
    graph, truth = GRAPHS[engine]
    runs = [asked(ag.Learner(graph, sampler, rng=3, engine=engine), truth, 8, every) for every in (None, 1, 3)]
    assert runs[0][0] == runs[1][0] == runs[2][0]
    assert runs[0][1].ask() == runs[1][1].ask() == runs[2][1].ask()
    for _, learner in runs[1:]:
        np.testing.assert_array_equal(learner.probabilities(), runs[0][1].probabilities())
        np.testing.assert_array_equal(learner.field.spread.variance, runs[0][1].field.spread.variance)


def test_a_tell_takes_what_is_ready():
    graph, truth = GRAPHS["dense"]
    learner = ag.Learner(graph, rng=0, classes=[0, 1])
    learner.prefetch()
    ahead, node = learner._state.prefetch, learner.ask()
    ahead.wait()
    after = ahead._found[int(truth[node])].result()
    learner.tell(node, int(truth[node]))
    assert learner.field is after[0]
    assert learner.ask() == after[1][0].node


def test_other_answers_and_changes_of_mind_are_fine():
    graph, _ = GRAPHS["dense"]
    plain, keen = (ag.Learner(graph, rng=5, classes=[0, 1]) for _ in range(2))
    for learner in (plain, keen):

        def go(x):
            if x is keen:
                keen.prefetch()

        go(learner)
        learner.tell(7, "new")  # another node, a class nobody thought of
        go(learner)
        learner.tell(learner.ask(), "newer")  # the node asked for, a class nobody thought of
        go(learner)
        learner.undo()
        go(learner)
        learner.skip(learner.ask())
        go(learner)
        learner.relabel(7, 0)
        go(learner)
        learner.prefetch()
        learner.tell(learner.ask(), 1)
    assert plain.ask() == keen.ask()
    np.testing.assert_array_equal(plain.probabilities(), keen.probabilities())


def test_nothing_is_left_running_when_there_is_nothing_to_ask():
    learner = ag.Learner(ag.chain(2), rng=0)
    learner.tell(0, "a")
    learner.prefetch()
    learner.tell(1, "b")
    learner.prefetch()
    assert learner._state.prefetch is None
    assert not [thread for thread in threading.enumerate() if thread.name == "askgraph-prefetch"]


def test_a_learner_is_pickled_without_what_is_computed_ahead():
    graph, _ = GRAPHS["dense"]
    learner = ag.Learner(graph, rng=0, classes=[0, 1])
    learner.tell(3, 0)
    learner.prefetch()
    copy = pickle.loads(pickle.dumps(learner))
    assert copy.ask() == learner.ask()
    copy.tell(copy.ask(), 1)
    learner.tell(learner.ask(), 1)
    assert copy.ask() == learner.ask()


def test_what_fails_ahead_fails_in_its_turn():
    def broken(state, answer):
        raise ValueError("no")

    ahead = Prefetch(0, lambda: "state", broken, [0, 1])
    ahead.wait()
    assert ahead.take(0) == ("state", None)


def test_stopping_leaves_out_the_rest():
    started, go, seen = threading.Event(), threading.Event(), []

    def follow(state, answer):
        seen.append(answer)
        started.set()
        go.wait()
        ahead._enough.wait()
        return answer

    ahead = Prefetch(0, lambda: "state", follow, [0, 1, 2])
    started.wait()
    go.set()
    assert ahead.take(2) == ("state", None)
    assert seen == [0]


def test_what_was_computed_before_a_stop_is_used_and_the_next_prefetch_begins_anew():
    learner = ag.Learner(ag.chain(9), rng=0, classes=["left", "right"], first="utility")
    ahead = learner.prefetch()
    while ahead.running:
        pass
    ahead.stop()
    node, expected = learner.ask(), ahead.questions["left"]
    again = learner.prefetch()
    assert learner._state.prefetch is not ahead._thread
    again.stop()
    assert not again.running
    learner.tell(node, "left")
    assert learner.question() == expected


def test_the_first_question_drawn_at_random_needs_no_probes(monkeypatch):
    made = []
    probes = Iterative._probes
    monkeypatch.setattr(Iterative, "_probes", lambda *given: made.append(given) or probes(*given))
    learner = ag.Learner(ag.grid(12, 12), rng=0, engine="iterative")
    first = learner.ask()
    assert first is not None
    assert not made
    learner.prefetch()
    learner._state.prefetch.wait()
    assert made  # while a person thinks
    count = len(made)
    learner.tell(first, "a")
    assert learner.ask() is not None
    assert len(made) == count


def test_a_learner_is_pickled_before_and_after_its_probes_are_made():
    learner = ag.Learner(ag.grid(12, 12), rng=0, engine="iterative")
    early = pickle.loads(pickle.dumps(learner))
    for each in (learner, early):
        each.tell_all({0: "a", 143: "b"})
    assert early.ask() == learner.ask() == pickle.loads(pickle.dumps(learner)).ask()
