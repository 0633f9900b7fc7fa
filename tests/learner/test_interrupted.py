"""Whatever interrupts a learner, a signal or an error from a solve, leaves it as it was or as it would be (promise 36)."""

from __future__ import annotations

import os
import random
from functools import cache
from itertools import count

import pytest

import askgraph as ag
from askgraph.priors import Dense, Direct, Iterative
from askgraph.priors.summed import Summed
from tests.helpers.interrupts import LEARNERS, OPERATIONS, Lines, Trial, alarm

pytestmark = pytest.mark.slow

LONG = os.environ.get("ASKGRAPH_LONG") == "1"
SIGNALS, LINES = (500, 60) if LONG else (40, 2)  # in all; of each operation on each learner
SOLVES = ("tell a new class", "tell_all", "undo a retract", "ask")
OFTEN = ("tell", "tell_all", "undo a tell")
CASES = [(x, operation) for x in LEARNERS for operation in (OPERATIONS if LONG or x == "dense" else OFTEN)]
trial_of = cache(Trial)


@pytest.mark.parametrize(("learner", "operation"), CASES)
def test_promise_36_an_interrupt_at_any_line_leaves_all_before_or_all_after(learner, operation, tmp_path):
    trial, dice = trial_of(learner, operation), random.Random(f"{learner} {operation}")
    lines = trial.lines()
    for stop in {lines, *dice.sample(range(1, lines + 1), min(lines, LINES))}:
        left = trial.fresh()
        with pytest.raises(KeyboardInterrupt), Lines(stop):
            trial.act(left)
        assert trial.is_whole(left), stop
    if LONG or learner == "dense":
        left.save(tmp_path / "left.npz")
        again = ag.Learner.load(tmp_path / "left.npz")
        assert (again.history.log, again.labels, again.classes) == (left.history.log, left.labels, left.classes)


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Python drops one within a weak reference
def test_promise_36_signals_at_random_moments_leave_log_and_labels_in_agreement():
    trials, dice = [trial_of(*case) for case in CASES if case[0] in ("dense", "hubs")], random.Random(0)
    interrupted = whole = 0
    while interrupted < SIGNALS:
        trial = dice.choice(trials)
        left = trial.fresh()
        try:
            with alarm(max(1e-6, dice.uniform(0, 1.2) * trial.seconds)):
                trial.act(left)
        except KeyboardInterrupt:
            interrupted += 1
            whole += trial.is_whole(left)
    print(f"{whole} of {interrupted} interrupted learners are as before or as after")
    assert whole == interrupted


@pytest.mark.parametrize(("learner", "error"), [*((x, ag.ConvergenceError) for x in LEARNERS), ("dense", MemoryError)])
def test_promise_36_an_error_from_a_solve_leaves_all_before_or_all_after(learner, error, monkeypatch):
    failed = 0
    for operation in OPERATIONS if LONG else SOLVES:
        trial, call = trial_of(learner, operation), 1
        while fails(left := trial.fresh(), trial.act, call, error, monkeypatch):
            assert trial.is_whole(left), (operation, call)
            call, failed = call + 1 if LONG else 3 * call, failed + 1
    assert failed >= len(SOLVES) - 1  # where summaries are exact, a question needs no solve


def fails(learner, act, call, error, monkeypatch):
    """Return whether an operation ends with an error that this call of the engines, counted from 1, raises."""
    with monkeypatch.context() as patch:
        fail_at(patch, call, error)
        try:
            act(learner)
        except error:
            return True
    return False


def fail_at(patch, call, error):
    """Make one call of the engines fail: this one, counted from 1."""
    calls = count(1)

    def failing(method):
        def counted(*given, **options):
            if next(calls) == call:
                raise error("no more")
            return method(*given, **options)

        return counted

    for engine in (Dense, Direct, Iterative, Summed):
        for name in {"solve", "columns", "fold"} & vars(engine).keys():
            patch.setattr(engine, name, failing(getattr(engine, name)))
