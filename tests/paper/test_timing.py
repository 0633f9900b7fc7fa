"""The paper's algorithm as costed chooses what the learner chooses; costs are measured whole and fitted right."""

from __future__ import annotations

import json

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers.coding import means
from askgraph.paper import timing
from askgraph.paper.textbook import CLOSED, RETRAINED, Costed
from askgraph.simulate import Problem
from tests.helpers.graphs import random_graph, random_labels

SAMPLERS = (*CLOSED, *RETRAINED)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_paper_as_costed_scores_as_the_learner_does(sampler, classes):
    # Equations (7), (9), (10), (12), (16), (19)–(22), (24), (27) and (30)
    rng = np.random.default_rng(classes)
    n = int(rng.integers(20, 40))
    graph = ag.Graph(random_graph(rng, n, 0.2))
    how = {"doubt": None, "delta": 0.005, "engine": "dense", "first": "utility"}
    learner = ag.Learner(graph, sampler, rng=0, classes=range(classes), **how)
    plain = Costed(graph, 0.005, classes)
    for node, label in random_labels(rng, n, classes, 6):
        want = learner.plan.sampler.score(learner.field, plain.unlabeled)
        got = plain.score(sampler, plain.unlabeled)
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())
        assert want[plain.unlabeled == plain.ask(sampler)] >= want.max() - 1e-9 * np.abs(want).max()
        learner.tell(node, label)
        plain.tell(node, label)
    np.testing.assert_allclose(plain.mean.T, means(learner.field.votes), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(plain.covariance, learner.field.columns(np.arange(n)), rtol=1e-9, atol=1e-9)


def record(over, size, ask, **other):
    sizes = {"n": 100, "classes": 4, {"n": "n", "C": "classes"}[over]: size}
    values = {"setup_seconds": size**3.0, "ask_seconds": ask, "tell_seconds": 1.0, "bytes": size**2}
    return {"kind": "growth", "sampler": "eer", "how": "paper", "over": over, **sizes, **values, **other}


def test_exponents_are_the_slopes_of_the_larger_sizes():
    sizes = (10, 20, 40, 80, 160, 320)
    rows = timing.exponents(
        [record("n", n, n**2 if n > 20 else 900) for n in sizes]
        + [record("C", c, c**1.5) for c in sizes]
        + [{"kind": "runtime", "sampler": "eer"}]
    )
    assert len(rows) == 2 * len(timing.COSTS)
    slopes = {(row["over"], row["cost"]): row for row in rows}
    for key, slope in {
        ("n", "setup"): 3,
        ("n", "ask"): 2,
        ("n", "tell"): 0,
        ("C", "ask"): 1.5,
        ("n", "memory"): 2,
    }.items():
        assert slopes[key]["exponent"] == pytest.approx(slope, abs=1e-9)
        assert slopes[key]["error"] == pytest.approx(0, abs=1e-6)
    assert slopes["n", "ask"]["sizes"] == [80, 160, 320]
    assert slopes["n", "ask"]["paper"] == "O(|C|^2N^2)"
    assert slopes["n", "memory"]["paper"] == "O(N^2)"


def test_the_error_of_an_exponent_is_that_of_least_squares():
    noisy = [record("n", n, n**2 * f) for n, f in ((100, 1.1), (200, 0.9), (400, 1.05))]
    x, y = np.log([100, 200, 400]), np.log([r["ask_seconds"] for r in noisy])
    (slope, _), covariance = np.polyfit(x, y, 1, cov="unscaled")
    rest = y - np.polyval(np.polyfit(x, y, 1), x)
    row = next(row for row in timing.exponents(noisy) if row["cost"] == "ask")
    assert row["exponent"] == pytest.approx(slope, abs=1e-3)
    assert row["error"] == pytest.approx(np.sqrt(covariance[0, 0] * (rest @ rest)), abs=1e-3)


@pytest.mark.parametrize(
    ("sampler", "how"), [("tv", "dense"), ("msd", "iterative"), ("eer", "dense"), ("eer", "paper")]
)
def test_a_point_gives_a_whole_record(sampler, how):
    point = timing.Point("growth", sampler, how, over="n", n=60, classes=3, labels=4, repeats=2)
    record = timing.measure(point)
    assert json.loads(json.dumps(record)) == record
    assert record["key"] == point.key
    assert (record["n"], record["classes"], record["share"]) == (60, 3, 1.0)
    assert record["edges"] > 60
    assert all(record[name] > 0 for name in timing.COSTS.values())
    assert record["bytes"] > 60 * 3 * 8


def test_a_long_question_is_timed_on_a_share_of_its_candidates(monkeypatch):
    monkeypatch.setattr(timing, "WORK_UP_TO", 60 * 60 * 9 / 4)
    point = timing.Point("growth", "eer", "paper", over="n", n=60, classes=3, labels=4, repeats=1)
    assert timing.measure(point)["share"] == pytest.approx(1 / 4, abs=0.03)


def test_runtimes_are_measured_on_named_problems():
    problem = Problem(*ag.two_squares(rng=0))
    todo = timing.runtime_points(["squares"], quick=True)
    assert len({point.key for point in todo}) == len(todo) == 2 * len(timing.COMPARED)
    found = [timing.measure(point, problem) for point in todo if point.sampler in ("tv", "fl")]
    assert {(r["kind"], r["data"], r["how"], r["n"], r["classes"]) for r in found} == {
        ("runtime", "squares", how, 100, 2) for how in ("ours", "paper")
    }


def test_keys_tell_points_apart():
    for quick in (True, False):
        keys = [point.key for point in timing.growth_points(quick)]
        assert len(set(keys)) == len(keys)
