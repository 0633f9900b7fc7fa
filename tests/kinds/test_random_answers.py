"""Ranges that items drawn at random prove, and what an expected error rests on."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import betaincinv, gammaln

import askgraph as ag
from askgraph.kinds.random_answers import Drawn, drawn
from askgraph.kinds.stopping import MEASURED, Signs, enough, estimate


def chances(population, wrong, items):
    """Return how likely each number of wrong ones among the items drawn is."""
    ways = np.array([np.inf if k < 0 else gammaln(k + 1.0) for k in range(-items, population + 1)])

    def choose(of, some):
        return np.where(
            some <= of, ways[of + items] - ways[some + items] - ways[np.maximum(of - some, 0) + items], -np.inf
        )

    found = np.arange(items + 1)
    return np.exp(
        choose(wrong, found) + choose(population - wrong, items - found) - choose(population, np.array(items))
    )


@pytest.mark.parametrize("expected", [0.01, 0.3, 0.95])
@pytest.mark.parametrize(("population", "items"), [(20, 8), (60, 20), (450, 12), (3000, 9)])
def test_nine_in_ten_ranges_hold_whatever_the_truth_and_the_model_are(population, items, expected):
    ranges = [Drawn(items, wrong).range(population, expected) for wrong in range(items + 1)]
    for wrong in np.unique(np.linspace(0, population, 97).astype(int)).tolist():
        p, share = chances(population, wrong, items), wrong / population
        assert sum(p[k] for k, (low, high) in enumerate(ranges) if low - 1e-9 <= share <= high + 1e-9) >= 0.9 - 1e-9


@pytest.mark.parametrize("items", [8, 12, 20, 40])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_ranges_are_narrower_than_those_of_the_exact_binomial_where_the_model_is_right(items, share):
    p = chances(5000, round(5000 * share), items)
    ours = [Drawn(items, wrong).range(5000, share) for wrong in range(items + 1)]
    exact = [
        (betaincinv(k, items - k + 1, 0.05) if k else 0.0, betaincinv(k + 1, items - k, 0.95) if k < items else 1.0)
        for k in range(items + 1)
    ]
    wide, wider = (sum(at * (high - low) for at, (low, high) in zip(p, ends, strict=True)) for ends in (ours, exact))
    assert wide < 0.97 * wider


def test_a_range_holds_the_share_found_and_is_known_where_everything_was_drawn():
    for population in (9, 500, 10**9):
        for wrong in range(10):
            low, high = Drawn(9, wrong).range(population, 0.5)
            assert 0 <= low <= wrong / 9 <= high <= 1
    assert Drawn(9, 4).range(9, 0.0) == (4 / 9, 4 / 9)
    assert drawn([True, False, False]) == (3, 1)


def test_enough_audited_labels_stand_alone_and_fewer_are_counted_with_spot_checks():
    signs = Signs(0.1, 0.1, 0.05, 0.0, 0.0, 0.5)
    audited, checked = [True] + [False] * 7, [True] * 12
    assert estimate(signs, 200, audited, checked) == estimate(signs, 200, audited)
    assert estimate(signs, 200, audited).measured == MEASURED
    assert estimate(signs, 200, audited[:5], checked).measured == 17
    assert estimate(signs, 200, audited[:5]).measured == 0
    assert estimate(signs, 200, audited[:5]).audited == 5


def test_nobody_is_told_to_stop_where_spot_checks_say_otherwise():
    """A reader believes one or the other: "84 % right" beside "of 3 drawn at random, none was"."""
    from scipy.stats import binom

    stops = 0
    for n, guess in product(range(1, 31), (0.0, 0.02, 0.1, 0.3)):
        for wrong in range(n + 1):
            error = estimate(Signs(guess, guess, 0.0, 0.0, 0.0, 0.5), 2000, (), [True] * wrong + [False] * (n - wrong))
            stop = any(enough(error, target) for target in (0.2, 0.1, 0.05, 0.02))
            stops += stop
            assert not stop or binom.sf(wrong - 1, n, error.value) > 0.049, (n, wrong, guess)
    assert stops > 50
    none_right = estimate(Signs(0.0, 0.0, 0.0, 0.0, 0.0, 0.5), 2000, (), [True] * 3)
    assert none_right.value == pytest.approx(0.05 ** (1 / 3))


def test_with_spot_checks_the_range_begins_lower_and_ends_where_it_does_with_audited_labels():
    signs = Signs(0.02, 0.0, 0.0, 0.0, 0.0, 0.5)
    wrong = [True] * 10 + [False] * 10
    audited, checked = estimate(signs, 2000, wrong), estimate(signs, 2000, (), wrong)
    assert 0.2 < checked.low < audited.low
    assert checked.value == pytest.approx(audited.value)
    assert checked.high == pytest.approx(audited.high, abs=0.01)


def test_an_estimate_says_what_it_rests_on():
    graph, truth = ag.communities((60, 60), rng=0)
    learner = ag.Learner(graph, rng=0)
    for _ in learner.run(lambda node: int(truth[node]), 12):
        pass
    assert str(learner.judge.expected_error()).endswith("from the model)")
    for node in learner.judge.audit(9):
        learner.judge.tell_audit(node, int(truth[node]))
    found = learner.judge.expected_error()
    assert (found.audited, found.measured) == (9, 9)
    assert str(found).endswith("measured on 9 random items)")
