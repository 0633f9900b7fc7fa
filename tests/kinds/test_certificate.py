"""Certifying what share of a class is found: exact by enumeration, and only once the whole sample is read."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

import askgraph as ag
from askgraph.errors import SettingError
from askgraph.kinds.certificate import ALPHA, Sample, certify, most_in_rest, percent, proven, to_read

LARGEST = 24  # nodes left, in the enumeration


def chance(left, wanted, read, hits):
    """The probability of a number of hits, by fractions of whole numbers."""
    return Fraction(comb(wanted, hits) * comb(left - wanted, read - hits), comb(left, read))


def plain_most(left, read, hits):
    """The largest number of the class with which so few hits are not too improbable, in whole numbers."""
    tails = [sum(chance(left, wanted, read, k) for k in range(hits + 1)) for wanted in range(left + 1)]
    return max(
        wanted for wanted, tail in enumerate(tails) if tail >= Fraction(1, 20) and hits <= wanted <= left - read + hits
    )


def test_every_small_case_is_covered_with_95_percent():
    least = Fraction(1)
    for left in range(LARGEST + 1):
        for read in range(left + 1):
            most = [most_in_rest(left, read, hits) for hits in range(read + 1)]
            for wanted in range(left + 1):
                held = sum(chance(left, wanted, read, k) for k in range(min(read, wanted) + 1) if wanted <= most[k])
                least = min(least, held)
    assert Fraction(95, 100) <= least < Fraction(96, 100)  # and not by being far too wide


def test_the_bound_is_that_of_whole_numbers():
    for left in range(LARGEST + 1):
        for read in range(left + 1):
            for hits in range(read + 1):
                assert most_in_rest(left, read, hits) == plain_most(left, read, hits), (left, read, hits)


def test_the_bound_of_a_large_rest():
    assert most_in_rest(1_000_000, 3000, 0) == pytest.approx(-1_000_000 * (ALPHA ** (1 / 3000) - 1), rel=5e-3)
    for left, read, hits in ((5000, 700, 3), (20_000, 60, 0)):
        most = most_in_rest(left, read, hits)
        tails = [sum(chance(left, wanted, read, k) for k in range(hits + 1)) for wanted in (most, most + 1)]
        assert tails[0] >= ALPHA > tails[1]


def test_the_number_to_read_is_the_smallest_that_suffices():
    for found, left in ((1, 30), (5, 60), (40, 400), (300, 90), (0, 25)):
        for share in (0.5, 0.8, 0.9, 0.95, 1.0):
            n = to_read(found, left, share)
            assert n == left or proven(found, left, n, 0) >= share
            assert n == 0 or proven(found, left, n - 1, 0) < share
    assert to_read(0, 25, 0.8) == 24  # the last one is of the class with less than 5 %
    assert to_read(400, 20, 0.95) == 0  # whatever is left, 95 % are found
    assert (to_read(7, 0, 0.95), proven(7, 0, 0, 0), proven(0, 0, 0, 0)) == (0, 1.0, 1.0)


def test_a_sample_proves_nothing_before_it_is_read_and_other_answers_count():
    sample = Sample("a", (4, 5, 6), 8, frozenset({0, 1, 2, 3}))  # 12 nodes; 0 and 1 are found
    told = {0: True, 1: True, 2: False, 3: False, 4: False, 5: False}
    begun = certify(sample, told)
    assert (begun.share, begun.missed, begun.read, begun.sample) == (None, None, 2, 3)
    told[6] = False
    most = most_in_rest(8, 3, 0)
    read = certify(sample, told)
    assert (read.found, read.missed, read.share, read.confidence) == (2, most, 2 / (2 + most), 0.95)
    further = certify(sample, {**told, 7: True, 8: False})  # outside of the sample: found, and none of those missed
    assert (further.found, further.missed, further.hits) == (3, min(most - 1, 3), 0)
    every = certify(sample, {**told, **dict.fromkeys(range(7, 12), True)})
    assert (every.found, every.missed, every.share) == (7, 0, 1.0)
    assert certify(sample, told, samples=2).confidence == pytest.approx(0.9)
    undone = {node: yes for node, yes in told.items() if node != 1}  # an answer from before the sample is taken back
    assert certify(sample, undone)[:2] == (1, most + 1)
    aside = {node: yes for node, yes in told.items() if node != 5}
    assert certify(sample, aside).share is None
    assert certify(sample, aside, {5})[:2] == (2, most)  # nobody could tell: not of the class


def test_where_answers_contradict_a_sample_all_that_is_unread_may_be_missed():
    sample = Sample("a", tuple(range(2, 42)), 100, frozenset({0, 1}))
    told = {0: True, 1: True, **dict.fromkeys(range(2, 42), False)}
    most = most_in_rest(100, 40, 0)
    told |= dict.fromkeys(range(42, 42 + most + 1), True)
    assert certify(sample, told).missed == 60 - most - 1


def test_a_learner_draws_and_certifies():
    graph, group = ag.communities((30, 170), rng=1)
    learner = ag.Learner(graph, rng=3)
    wanted = [node for node in range(200) if group[node] == group[0]]
    other = [node for node in range(200) if group[node] != group[0]]
    learner.tell_all(dict.fromkeys(wanted[:28], "a") | {other[0]: "b"})
    learner.skip(other[1])
    learner.judge.tell_audit(other[2], "b")
    n = learner.judge.to_read("a", 0.8)
    sample = learner.judge.sample("a", n)
    assert (len(sample.nodes), sample.left, len(sample.answered)) == (n, 169, 31)
    assert sample == learner.judge.sample("a", n) != learner.judge.sample("a", n - 1)
    assert not set(sample.nodes) & sample.answered
    assert "no certificate before all are" in str(learner.judge.certify(sample))
    learner.tell_all({node: "a" if node in wanted else "b" for node in sample.nodes})
    found = learner.judge.certify(sample)
    assert (found.found, found.hits) == (28 + found.hits, sum(node in wanted for node in sample.nodes))
    assert found.share == found.found / (found.found + found.missed)
    assert str(found).startswith(f"at least {percent(found.share)} found, with 95% confidence")
    learner.retract(sample.nodes[0])
    assert learner.judge.certify(sample).share is None
    several = ag.Learner(ag.chain(40), answers="several", rng=0)
    several.tell_all({0: ["a", "b"], 1: ["b"], 2: ["a"], 3: []})
    assert several.judge.certify(several.judge.sample("a", 1)).found == 2


def test_what_cannot_be_certified_is_refused():
    learner = ag.Learner(ag.chain(12), rng=0)
    learner.tell_all({0: "a", 11: "b"})
    for wrong in ("0.9", float("nan"), -0.1, 1.1, None):
        with pytest.raises(SettingError, match="share"):
            learner.judge.to_read("a", wrong)
    for wrong in (0, 2.5, "few", -1):
        with pytest.raises(SettingError, match="n="):
            learner.judge.sample("a", wrong)
    with pytest.raises(SettingError, match="not a sample"):
        learner.judge.certify(["a"])
    numbers = ag.Learner(ag.chain(12), answers="numbers", rng=0)
    numbers.tell_all({0: 1.0, 1: 2.0, 2: 5.0})
    with pytest.raises(SettingError, match="at_least"):
        numbers.judge.to_read("highest")
    assert numbers.judge.to_read(ag.at_least(2.0)) > 0
