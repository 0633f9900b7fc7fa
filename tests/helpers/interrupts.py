"""Ways to interrupt a learner, and what must be left of it: all before, or all after."""

from __future__ import annotations

import ast
import pickle
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import askgraph as ag

SOURCE = str(Path(ag.__file__).parent)
GRAPH, TRUTH = ag.communities((30, 30), rng=0)
OTHER = ag.communities((30, 30), rng=1)[0]
HUBS = ag.Graph.from_edges(
    [(0, k) for k in range(1, 20)] + [(1, k) for k in range(20, 40)] + [(k, k + 1) for k in range(2, 40)]
)
FEATURES = np.random.default_rng(0).normal(size=(60, 3)) + TRUTH[:, None]


def _told(*given, **options):
    """Return a learner with seven labels, a node set aside, an audit and suggestions; rules for hubs and graphs look at eight."""
    learner = ag.Learner(*given, rng=0, **options)
    for k, node in enumerate((0, 1, 12, 23, 31, 36, 38)):
        learner.tell(node, "abc"[k % 3])
    learner.skip(3)
    learner.judge.tell_audit(4, "a")
    learner.guesses.tell_all({node: "ab"[node % 2] for node in range(5, 30)}, source="a model")
    return learner


LEARNERS = {
    "dense": lambda: _told(GRAPH, engine="dense"),
    "direct": lambda: _told(GRAPH, "tv", engine="direct", spot_checks=2),
    "iterative": lambda: _told(GRAPH, engine="iterative"),
    "hubs": lambda: _told(HUBS),
    "features": lambda: _told(GRAPH, features=FEATURES),
    "several graphs": lambda: _told({"one": GRAPH, "other": OTHER}, tune=True),
}


def _ahead(learner):
    learner.prefetch()
    learner._state.prefetch.wait()


OPERATIONS = {  # name: (what comes before, what is interrupted)
    "tell": (None, lambda x: x.tell(5, "a")),
    "tell a new class": (None, lambda x: x.tell(5, "new")),
    "tell the next answer": (_ahead, lambda x: x.tell(x.ask(), "a")),
    "tell beside a prefetch": (lambda x: x.prefetch(), lambda x: x.tell(5, "b", noise=0.3)),
    "tell_all": (None, lambda x: x.tell_all({5: "a", 6: "new", 7: "b"})),
    "relabel": (None, lambda x: x.relabel(12, "new")),
    "retract": (None, lambda x: x.retract(12)),
    "retract a skip": (None, lambda x: x.retract(3)),
    "skip": (None, lambda x: x.skip(5)),
    "tell_audit": (None, lambda x: x.judge.tell_audit(5, "b")),
    "guess": (None, lambda x: x.guesses.tell(40 if x.graph.n_nodes > 40 else 2, "b", source="another", score=0.5)),
    "guess all": (None, lambda x: x.guesses.tell_all({7: "c", 8: "new"}, source="a model")),
    "undo a tell": (lambda x: x.tell(5, "new"), lambda x: x.undo()),
    "undo a relabel": (lambda x: x.relabel(12, "new"), lambda x: x.undo()),
    "undo a retract": (lambda x: x.retract(12), lambda x: x.undo()),
    "undo a skip": (lambda x: x.skip(5), lambda x: x.undo()),
    "ask": (None, lambda x: x.ask(3)),
    "scores": (None, lambda x: x.scores()),
    "prefetch": (None, lambda x: x.prefetch()),
    "run": (None, lambda x: next(x.run(lambda node: "a", 1))),
}


@dataclass(frozen=True, eq=False)
class Found:
    """What a person sees of a learner, and what decides its next question."""

    plain: tuple[Any, ...]
    probabilities: Any

    def __eq__(self, other):
        return self.plain == other.plain and np.allclose(self.probabilities, other.probabilities, rtol=0, atol=1e-9)

    @classmethod
    def of(cls, learner):
        told = {x.node: learner.classes[x.said] for x in learner.field.observations}
        assert told == {learner.graph.index(node): label for node, label in learner.labels.items()}
        assert told == replayed(learner.history.log)  # log and labels agree
        said, aside = learner.guesses.to_rows(), sorted(learner.history.set_aside)
        plain = (
            list(told.items()),
            learner.history.log,
            learner.classes,
            aside,
            said,
            learner.ask(),
            str(learner.judge.choice),
        )
        return cls(plain, learner.probabilities())


def replayed(log):
    """Return {node: label} by the log alone."""
    told = {}
    for event in log:
        if event.kind in ("tell", "relabel"):
            told[event.node] = event.label
        elif event.kind == "retract":
            told.pop(event.node, None)
    return told


@cache
def headers(path):
    """Return the lines that begin a with statement: a trace may interrupt one after its lock is taken, a signal cannot."""
    tree = ast.walk(ast.parse(Path(path).read_text()))
    return {
        line for x in tree if isinstance(x, ast.With) for line in range(x.lineno, max(x.body[0].lineno, x.lineno + 1))
    }


class Lines:
    """Counts the lines of askgraph that this thread runs, and interrupts at one of them."""

    def __init__(self, stop=None, error=KeyboardInterrupt):
        self.count, self._stop, self._error = 0, stop, error

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _enter(self, frame, event, given):
        return self._line if frame.f_code.co_filename.startswith(SOURCE) else None

    def _line(self, frame, event, given):
        if event == "line" and frame.f_lineno not in headers(frame.f_code.co_filename):
            self.count += 1
            if self.count == self._stop:
                raise self._error
        return self._line


@contextmanager
def alarm(seconds):
    """Interrupt this thread after some seconds, as Ctrl-C does."""

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Trial:
    """An operation on a learner, to be interrupted again and again; each time the learner is as fresh as the first time."""

    def __init__(self, learner, operation):
        prepare, self.act = OPERATIONS[operation]
        made = LEARNERS[learner]()
        if prepare is not None:
            prepare(made)
        self._ahead = made._state.prefetch is not None
        made.ask()
        self._pickled = pickle.dumps(made)
        self.before = Found.of(self.fresh())
        after, start = self.fresh(), time.perf_counter()
        self.act(after)
        self.seconds, self.after = time.perf_counter() - start, Found.of(after)

    def fresh(self):
        """Return a learner as it is before the operation."""
        learner = pickle.loads(self._pickled)
        if self._ahead:
            _ahead(learner)
        return learner

    def lines(self):
        """Return the number of lines of askgraph that the operation runs."""
        learner = self.fresh()
        with Lines() as lines:
            self.act(learner)
        return lines.count

    def is_whole(self, learner):
        """Return whether an interrupted learner is as before or as after, and goes on as if nothing had happened."""
        join_prefetch()
        found = Found.of(learner)
        if found == self.before and found != self.after:
            self.act(learner)
        join_prefetch()
        return Found.of(learner) == self.after and found in (self.before, self.after)


def join_prefetch():
    """Wait for threads that compute ahead."""
    for thread in threading.enumerate():
        if thread.name == "askgraph-prefetch" and thread.is_alive():
            thread.join()
