"""Agreement of people: the textbook's figures, the definition written out, another library's, and intervals that hold the truth."""

from __future__ import annotations

import time
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import askgraph as ag
from askgraph.workbench.agreement import MAX_SETS, alpha, kappa

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve units
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
UNITS = [[int(label) for label in unit if label != "."] for unit in zip(*OBSERVERS, strict=True)]


def jaccard(one, other):
    return 1 - len({*one} & {*other}) / len({*one} | {*other}) if {*one} | {*other} else 0


def plain_alpha(items, square):
    """Alpha by its definition: squared distances of all pairs of an item, over those of all pairs there are."""
    items = [item for item in items if len(item) > 1]
    labels = [label for item in items for label in item]
    within = sum(square(a, b) / (len(item) - 1) for item in items for a, b in permutations(item, 2))
    return 1 - within * (len(labels) - 1) / sum(square(a, b) for a, b in permutations(labels, 2))


def ordinal(items):
    """Krippendorff's square of the labels between two steps."""
    n = Counter(label for item in items if len(item) > 1 for label in item)
    return lambda a, b: (sum(n[g] for g in range(min(a, b), max(a, b) + 1)) - (n[a] + n[b]) / 2) ** 2


def squares(distance, items):
    known = {"nominal": lambda a, b: a != b, "interval": lambda a, b: (a - b) ** 2, "sets": jaccard}
    return ordinal(items) if distance == "ordinal" else known[distance]


def drawn(distance, rng):
    """Labels of up to four people of each of some items, with gaps."""
    label = {
        "nominal": lambda: "abc"[rng.integers(3)],
        "ordinal": lambda: int(rng.integers(5)),
        "interval": lambda: float(rng.choice([1, -3, 2.5, rng.normal()])),
        "sets": lambda: tuple(name for name in "abc" if rng.random() < 0.4),
    }[distance]
    return [[label() for _ in range(rng.integers(0, 5))] for _ in range(rng.integers(3, 14))]


@pytest.mark.parametrize(("distance", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_that_of_the_textbook(distance, value):
    assert alpha(UNITS, distance).value == pytest.approx(value, abs=6e-4)
    assert alpha(UNITS, distance).items == 11  # one unit has a single label


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval", "sets"])
def test_alpha_is_its_definition_over_all_pairs(distance):
    rng, compared = np.random.default_rng(0), 0
    for _ in range(60):
        items = drawn(distance, rng)
        if len({label for item in items if len(item) > 1 for label in item}) > 1:
            expected = plain_alpha(items, squares(distance, items))
            assert alpha(items, distance).value == pytest.approx(expected, abs=1e-10)
            compared += 1
    assert compared > 40


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval", "sets"])
def test_an_interval_is_that_of_items_drawn_again(distance):
    """Of alpha by its definition, over as many samples of the items, though not the same ones."""
    rng = np.random.default_rng(3)
    items = [item for _ in range(4) for item in drawn(distance, rng) if len(item) > 1]
    samples = [[items[k] for k in rng.integers(len(items), size=len(items))] for _ in range(200)]
    values = [plain_alpha(sample, squares(distance, sample)) for sample in samples]
    found = alpha(items, distance)
    assert [found.low, found.high] == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=0.1)
    assert found.low < found.value < found.high


def test_kappa_is_that_of_another_library():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 4, 200)
    other = np.where(rng.random(200) < 0.7, one, rng.integers(0, 4, 200))
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    for distance, weights in (("nominal", None), ("ordinal", "quadratic")):
        found = kappa(pairs, distance)
        assert found.value == pytest.approx(cohen_kappa_score(one, other, weights=weights), abs=1e-12)
        assert found.low < found.value < found.high


def test_kappa_of_sets_is_one_less_their_distance_over_that_by_chance():
    rng = np.random.default_rng(1)
    pairs = [tuple(tuple(c for c in "abc" if rng.random() < 0.5) for _ in range(2)) for _ in range(30)]
    apart = np.mean([jaccard(*pair) for pair in pairs])
    by_chance = np.mean([jaccard(one, other) for one, _ in pairs for _, other in pairs])
    assert kappa(pairs, "sets").value == pytest.approx(1 - apart / by_chance)


def test_one_class_alone_and_no_overlap_have_no_agreement():
    assert alpha([]) is kappa([]) is None
    assert alpha([["a"], ["b"]]) is None
    assert alpha([["a", "a"], ["a", "a"]]) is kappa([("a", "a")] * 3) is None
    assert alpha([[(), ()]], "sets") is alpha([[0.0, -0.0]], "interval") is alpha([[2, 2]], "ordinal") is None
    assert alpha([["a", "a"], ["b", "b"]]).value == kappa([("a", "a"), ("b", "b")]).value == 1


def test_who_says_one_of_two_classes_neither_agrees_nor_differs():
    unsure = ag.one_of("a", "b")
    items = [["a", "a"], ["b", "b"], ["a", "b"]]
    assert alpha([[*item, unsure] for item in items] + [["a", unsure]]) == alpha(items)
    assert kappa([*map(tuple, items), ("a", unsure), (unsure, unsure)]) == kappa(map(tuple, items))


def test_huge_and_tiny_numbers_agree_as_others_do():
    numbers = [[1.0, 1.5], [2.0, 2.5], [7.0, 7.0]]
    expected = alpha(numbers, "interval").value
    for times in (1e150 / 7, 1e-300):
        found = alpha([[times * x for x in item] for item in numbers], "interval")
        assert found.value == pytest.approx(expected)


def test_a_few_items_have_no_narrow_interval():
    for measure in (alpha, kappa):
        assert measure([("a", "a"), ("b", "b"), ("a", "b")])[1:] == (-1, 1, 3)


def test_of_very_many_different_sets_a_sample_is_compared():
    rng = np.random.default_rng(0)
    names = [f"c{k}" for k in range(30)]
    items = []
    for _ in range(3000):
        has = rng.random(30) < 0.3
        items.append([tuple(np.array(names)[has ^ (rng.random(30) < 0.05)].tolist()) for _ in range(2)])
    found = alpha(items, "sets")
    assert found.items == MAX_SETS // 2
    assert found.low < alpha(items[:300], "sets").value < found.high


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval"])
def test_ten_thousand_items_take_seconds(distance):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(10_000, 1)) + rng.normal(size=(10_000, 3)) / 4
    items = truth.tolist() if distance == "interval" else np.digitize(truth, [-1, 0, 1]).tolist()
    start = time.perf_counter()
    assert alpha(items, distance).items == 10_000
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize("measure", [alpha, kappa])
def test_intervals_hold_the_truth_about_as_often_as_they_say(measure):
    """The value over very many items, and intervals from 60 of them."""

    def labels(rng, n):
        one = rng.integers(0, 3, n)
        other = np.where(rng.random(n) < 0.6, one, rng.integers(0, 3, n))
        return list(zip(one.tolist(), other.tolist(), strict=True))

    truth = measure(labels(np.random.default_rng(0), 20_000)).value
    found = [measure(labels(np.random.default_rng(k), 60)) for k in range(1, 101)]
    assert 88 <= sum(one.low <= truth <= one.high for one in found) <= 100
