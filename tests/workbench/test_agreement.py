"""Agreement of people: the textbook's figures, another library's, and intervals that hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from askgraph.workbench.agreement import alpha, kappa

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve units, nominal data
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]


def test_alpha_is_that_of_the_textbook():
    units = [[label for label in unit if label != "."] for unit in zip(*OBSERVERS, strict=True)]
    assert alpha(units).value == pytest.approx(0.743, abs=5e-4)
    assert alpha(units).items == 11  # one unit has a single label


def test_kappa_is_that_of_another_library():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 4, 200)
    other = np.where(rng.random(200) < 0.7, one, rng.integers(0, 4, 200))
    found = kappa(list(zip(one.tolist(), other.tolist(), strict=True)))
    assert found.value == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)
    assert found.low < found.value < found.high


def test_for_two_people_alpha_is_the_plain_sum_over_pairs():
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 3, (50, 2))
    pairs[:30, 1] = pairs[:30, 0]
    values = pairs.ravel()
    differing = 2 * (pairs[:, 0] != pairs[:, 1]).sum() / values.size
    by_chance = (values[:, None] != values).sum() / (values.size * (values.size - 1))
    assert alpha(pairs.tolist()).value == pytest.approx(1 - differing / by_chance)


def test_one_class_alone_and_no_overlap_have_no_agreement():
    assert alpha([]) is kappa([]) is None
    assert alpha([["a"], ["b"]]) is None
    assert alpha([["a", "a"], ["a", "a"]]) is kappa([("a", "a")] * 3) is None
    assert alpha([["a", "a"], ["b", "b"]]).value == kappa([("a", "a"), ("b", "b")]).value == 1


def test_a_few_items_have_no_narrow_interval():
    for measure in (alpha, kappa):
        assert measure([("a", "a"), ("b", "b"), ("a", "b")])[1:] == (-1, 1, 3)


@pytest.mark.parametrize("measure", [alpha, kappa])
def test_intervals_hold_the_truth_about_as_often_as_they_say(measure):
    """The value over very many items, and intervals from 60 of them."""

    def drawn(rng, n):
        one = rng.integers(0, 3, n)
        other = np.where(rng.random(n) < 0.6, one, rng.integers(0, 3, n))
        return list(zip(one.tolist(), other.tolist(), strict=True))

    truth = measure(drawn(np.random.default_rng(0), 20_000)).value
    found = [measure(drawn(np.random.default_rng(k), 60)) for k in range(1, 101)]
    assert 88 <= sum(one.low <= truth <= one.high for one in found) <= 100
