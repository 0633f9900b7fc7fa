"""The log of a learner, and what it keeps beside the log so that no label makes it read the whole log again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from askgraph.learner.events import Event
from askgraph.learner.history import History

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
        assert history.audits[0].tolist() == apart(history.log, "audit")
    again = History(["a"])
    again.restore(history.log, history.orders)
    assert again.set_aside == history.set_aside
