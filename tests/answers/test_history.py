"""The log of a learner, and what it keeps beside the log so that no label makes it read the whole log again."""

from __future__ import annotations

import pickle
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.answers.events import Event
from askgraph.answers.history import History
from askgraph.learner.learner import read_with_guesses
from tests.helpers.interrupts import LEARNERS

KINDS, NODES = ("tell", "relabel", "audit", "skip", "retract", "undo"), 4


def apart(log, kind):
    """Return the nodes of this kind of event without those labeled or retracted since, by reading the whole log."""
    found = {}
    for event in log:
        if event.kind == kind:
            found[event.node] = event.label
        elif event.kind in ("tell", "retract"):
            found.pop(event.node, None)
    return list(found)


@given(st.lists(st.integers(0, len(KINDS) * NODES - 1), max_size=30))
def test_what_is_set_aside_is_what_the_whole_log_says(drawn):
    history = History(["a"])
    for kind, node in ((KINDS[one // NODES], one % NODES) for one in drawn):
        if kind != "undo":
            history = history.after(Event(kind, node, "a"))
        elif history.log:
            history = history.before_last
        assert history.set_aside == {*apart(history.log, "skip"), *apart(history.log, "audit")}
        assert list(history.audited) == apart(history.log, "audit")
    again = History(["a"])
    again.restore(history.log, history.orders)
    assert again.set_aside == history.set_aside


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hubs", "several graphs", "features"])
def test_nothing_grows_over_many_labels_that_are_taken_back(kind, monkeypatch):
    monkeypatch.setattr("askgraph.support.later.KEPT", 4, raising=False)
    learner, k = LEARNERS[kind](), count(100)

    def back_and_forth():
        for node in range(14, 21):
            new = next(k)
            learner.tell(node, f"class {new}", noise=new / 1000)
            learner.guesses.tell(7, "ab"[node % 2])
            learner.undo()
        return len(pickle.dumps(learner))

    first, *others = (back_and_forth() for _ in range(3))
    assert max(others) <= first + 100


def test_one_array_is_kept_for_predictions_with_suggestions_however_often_they_change():
    learner = LEARNERS["dense"]()
    for k in range(20):
        learner.guesses.tell(7, "ab"[k % 2])
        learner.probabilities()
    assert len(read_with_guesses(learner.field)) == 1
