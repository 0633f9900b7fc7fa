"""Numbers: the mean, the interval, leave-one-out and the likelihood are those of the textbook; nothing depends on unit or mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes

import askgraph as ag
from askgraph.answers.numbers import Values
from askgraph.field.leave_one_out import supposed_in
from askgraph.graph.kernel_columns import kernel_columns
from askgraph.graph.kernels import variance_of
from askgraph.plan.mixture import NOISES, PULL, USUAL, Mixture, _mixtures
from askgraph.readouts.number import by_others, cost, fit, loss, spread
from tests.helpers.draws import given, settings, st
from tests.helpers.engines import ABROAD, ENGINES, close
from tests.helpers.graphs import random_graph

over_engines = pytest.mark.parametrize("engine", [*ENGINES, *ABROAD], ids=str)
NOISE = 0.5


def problem(seed):
    rng = np.random.default_rng(seed)
    W, nodes = random_graph(rng, 9), rng.permutation(9)[:5].tolist()
    return W, 0.2, dict(zip(nodes, rng.lognormal(1, 0.6, 5).tolist(), strict=True))


def told(engine, W, delta, answers, logs=False):
    field = engine.start(ag.Graph(W), delta, Values(logs), noise=NOISE)
    for node, y in answers.items():
        field = field.observe(node, y)
    return field


def by_the_book(W, delta, answers):
    """The trend m, s², and the mean and variance of another answer at every node, by dense formulas."""
    G = np.linalg.inv(np.diag(W.sum(axis=0)) - W + delta * np.eye(len(W)))
    L, y = list(answers), np.array(list(answers.values()))
    inverse = np.linalg.inv(G[np.ix_(L, L)] + NOISE**2 * np.eye(len(L)))
    one = np.ones(len(L))
    precision = one @ inverse @ one
    m = one @ inverse @ y / precision
    s2 = (y - m) @ inverse @ (y - m) / (len(L) - 1)
    mean = m + G[:, L] @ inverse @ (y - m)
    left = np.diag(G) - np.einsum("ij,jk,ik->i", G[:, L], inverse, G[:, L])
    unreached = 1 - G[:, L] @ inverse @ one
    return m, s2, mean, s2 * (left + NOISE**2 + unreached**2 / precision)


@over_engines
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_means_and_intervals_are_those_of_the_textbook(engine, seed):
    if not engine.whole:
        return
    W, delta, answers = problem(seed)
    field = told(engine, W, delta, answers)
    for now in (field, field.rebase()):
        m, s2, mean, variance = by_the_book(W, delta, answers)
        found, at = fit(now, "identity"), spread(now, "identity")
        close(found.mean, m, 10 * engine.tolerance)
        close(found.variance, s2, 10 * engine.tolerance)
        close(at.mean, mean, 10 * engine.tolerance)
        if now.prior.exact:
            close(at.scale**2, variance, 100 * engine.tolerance)


@over_engines
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_leave_one_out_is_deleting_the_answer(engine, seed):
    if not engine.whole:
        return
    W, delta, answers = problem(seed)
    field = told(engine, W, delta, answers)
    for now in (field, field.rebase()):
        left = by_others(now, "identity", every=True)
        for node, mean, gap in zip(left.nodes.tolist(), left.mean, left.gap, strict=True):
            rest = {other: y for other, y in answers.items() if other != node}
            close(mean, by_the_book(W, delta, rest)[2][node], 100 * engine.tolerance)
            assert mean + gap == pytest.approx(answers[node], rel=1e-6)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_likelihood_is_that_of_contrasts(seed):
    """Up to a constant, −ln of the density of y less its trend, in which the unit is integrated out."""
    W, delta, answers = problem(seed)
    prior, y = ag.prior(ag.Graph(W), delta), np.array(list(answers.values()))
    K = prior.columns(np.array(list(answers)))[list(answers)] + NOISE**2 * np.eye(y.size)
    free = np.linalg.svd(np.ones((1, y.size)))[2][1:]  # contrasts: rows that add up to 0
    part = free @ K @ free.T
    quadratic = (free @ y) @ np.linalg.solve(part, free @ y)
    book = np.linalg.slogdet(part)[1] / 2 + (y.size - 1) / 2 * np.log(quadratic)
    constant = (y.size - 1) / 2 * np.log(y.size - 1) - np.log(y.size) / 2
    assert cost(K, y[:, None]) == pytest.approx(book - constant, abs=1e-8)
    field = told(ENGINES[0], W, delta, answers)
    assert loss(supposed_in(prior, field.observations, Values()), "identity") == pytest.approx(cost(K, y[:, None]))


def learner_of(X, y, nodes, link="identity", features=True, **more):
    graph = ag.nearest_neighbors(X, 5)
    learner = ag.Learner(graph, answers=ag.Numbers(link=link), features=X if features else None, rng=0, **more)
    for node in nodes:
        learner.tell(int(node), float(y[node]))
    return learner


DIABETES = load_diabetes(return_X_y=True)
X, Y = DIABETES[0][:90], DIABETES[1][:90]


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize(("times", "plus"), [(1000.0, 0.0), (0.01, 5.0), (1.0, 1e6), (-3.0, 1.0)])
def test_the_unit_and_the_mean_play_no_part(features, times, plus):
    nodes = np.random.default_rng(0).permutation(90)[:25]
    one = learner_of(X, Y, nodes, features=features)
    other = learner_of(X, times * Y + plus, nodes, features=features)
    value, low, high = one.predict(interval=0.9)
    moved, *ends = other.predict(interval=0.9)
    close(moved, times * value + plus, 1e-6)
    close(np.sort(ends, axis=0), np.sort([times * low + plus, times * high + plus], axis=0), 1e-5)
    assert one.ask() == other.ask()
    assert other.judge.expected_error().value == pytest.approx(abs(times) * one.judge.expected_error().value, rel=1e-4)


def test_logarithms_are_read_where_numbers_vary_by_factors_in_any_unit():
    rng = np.random.default_rng(1)
    points = rng.random((90, 2))
    price = np.exp(4 * points[:, 0] + 0.2 * rng.normal(size=90))
    for unit in (1.0, 1e4, 1e-4):
        learner = learner_of(points, unit * price, range(40), "auto")
        assert fit(learner.field, "auto").logs
        assert (learner.predict(interval=0.9)[1] > 0).all()
    assert not fit(learner_of(points, price - price.mean(), range(40), "auto").field, "auto").logs
    assert not fit(learner_of(X, Y + 1000, range(40), "auto").field, "auto").logs


def test_numbers_that_are_all_equal_say_nothing_of_how_far_others_are():
    learner = learner_of(X, np.full(90, 7.3), range(12))
    value, low, high = learner.predict([50], interval=0.9)
    assert (value[0], low[0], high[0]) == (pytest.approx(7.3), -np.inf, np.inf)
    error = learner.judge.expected_error()
    assert (error.value, error.low, error.high) == (np.inf, 0, np.inf)
    assert learner_of(X, np.full(90, 7.3), range(30)).judge.advice() == []
    learner.tell(50, 7.4)
    assert np.isfinite(learner.predict([60], interval=0.9)).all()


def test_questions_do_not_depend_on_the_answers_so_their_list_is_known_beforehand():
    graph = ag.nearest_neighbors(X, 5)
    learner = ag.Learner(graph, answers="numbers", rng=0)
    plan = learner.ask(4)
    for node in plan:
        assert learner.ask() == node
        learner.tell(node, float(Y[node]))


def test_vm_is_the_fall_of_the_variances():
    learner = learner_of(X, Y, range(12))
    assert learner.plan.sampler.name == "vm"
    field, scores = learner.field, learner.scores()
    for node in (20, 50, 80):
        after = field.awaiting(node)
        assert scores[node] == pytest.approx(float((field.spread.variance - after.spread.variance).sum()), rel=1e-6)


def test_a_mixture_is_weighed_by_its_likelihood():
    learner = learner_of(X, Y, range(20))
    (mixture,) = [rule for rule in learner.plan.rules if isinstance(rule, Mixture)]
    kernels = [part @ part.T for part in kernel_columns(learner.graph, X)]
    G = ag.prior(learner.graph).columns(np.arange(90))
    parts = [G / (np.trace(G) / 90 - G.mean()), *kernels]
    assert [round(np.trace(K) / 90 - K.mean(), 6) for K in parts] == [1.0] * 4
    logs = np.array(
        [
            [
                -cost(
                    sum(a * K for a, K in zip(shares, parts, strict=True))[:20, :20] + noise * np.eye(20), Y[:20, None]
                )
                - PULL * np.log(noise / USUAL) ** 2
                for noise in NOISES
            ]
            for shares in _mixtures(4)
        ]
    )
    chances = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    mix = mixture.mix(learner.field, learner.history)
    close(mix.shares, chances.sum(axis=1) @ _mixtures(4), 1e-3)
    assert mix.noise == pytest.approx(float(np.exp(chances.sum(axis=0) @ np.log(NOISES))), rel=1e-3)
    total = sum(a * K for a, K in zip(mix.shares, parts, strict=True))
    close(learner.field.origin.columns(np.arange(90)), total, 1e-3)


def test_kernels_have_variance_one_and_few_columns():
    for rows in (X, X[:, :1], np.hstack([X, np.ones((90, 1))]), np.random.default_rng(0).normal(size=(90, 70))):
        parts = kernel_columns(ag.nearest_neighbors(rows, 5), rows)
        assert [round(variance_of(part), 6) for part in parts] == [1.0, 1.0, 1.0]
        assert max(part.shape[1] for part in parts) <= 48
    with pytest.raises(ag.GraphError, match="all rows of features are the same"):
        kernel_columns(ag.chain(5), np.ones((5, 2)))


def test_intervals_hold_and_questions_beat_ridge_on_diabetes():
    from sklearn.linear_model import RidgeCV

    points, truth = DIABETES[0] / DIABETES[0].std(axis=0), DIABETES[1]
    graph = ag.nearest_neighbors(points, 10)
    learner = ag.Learner(graph, answers="numbers", features=points, rng=0)
    errors, held, ridge, rng = [], [], [], np.random.default_rng(0)
    at_random = rng.permutation(len(truth))
    for count in range(1, 81):
        node = learner.ask()
        learner.tell(node, float(truth[node]))
        if count in (10, 20, 40, 80):
            rest = [node for node in range(len(truth)) if node not in learner.labels]
            value, low, high = learner.predict(rest, interval=0.9)
            errors.append(np.sqrt(((value - truth[rest]) ** 2).mean()) / truth.std())
            held.append(((low <= truth[rest]) & (truth[rest] <= high)).mean())
            known, others = at_random[:count], at_random[count:]
            made = RidgeCV(np.logspace(-3, 4, 15)).fit(points[known], truth[known]).predict(points[others])
            ridge.append(np.sqrt(((made - truth[others]) ** 2).mean()) / truth.std())
    assert np.mean(errors) < 0.80
    assert np.mean(errors) < np.mean(ridge)
    assert all(0.8 <= share <= 0.98 for share in held)


def test_a_number_that_is_far_off_is_suspected_first():
    y = Y.copy()
    y[7] += 8 * Y.std()
    learner = learner_of(X, y, range(60))
    assert learner.judge.suspects()[0].node == 7
    every = learner.judge.suspects(every=True)
    assert (every[0].node, len(every)) == (7, 60)


def test_a_graph_that_says_nothing_is_noticed():
    rng = np.random.default_rng(3)
    learner = learner_of(rng.normal(size=(90, 3)), rng.normal(size=90), range(50), features=False)
    fits = learner_of(X[:, [2, 8]], X[:, 2] + X[:, 8], range(50))
    assert any("does not predict" in sentence for sentence in learner.judge.advice()) == (
        learner.answers.explained(learner._moment) <= 0
    )
    assert fits.judge.advice() == []
    assert fits.answers.explained(fits._moment) > 0.5


def test_the_highest_are_found_and_those_left_are_counted():
    points = np.random.default_rng(2).random((150, 2))
    y = points[:, 0] + points[:, 1]
    learner = learner_of(points, y, range(10))
    high = ag.at_least(float(np.quantile(y, 0.9)))
    for sought in (high, "highest"):
        now = learner_of(points, y, range(10))
        plan = now.plan.finding(sought)
        for _ in range(25):
            question = now.question(plan=plan)
            now.tell(question, float(y[question.node]))
        assert sum(answer >= high.value for answer in now.labels.values()) >= 13  # of 15
        left = now.judge.left_to_find(high)
        assert left.low <= 15 - left.found <= left.high
    for wrong in ("best", 3.0, ag.at_least("high")):
        with pytest.raises(ag.AskgraphError):
            learner.question(plan=learner.plan.finding(wrong))
    with pytest.raises(ag.SettingError, match="at_least"):
        learner.judge.left_to_find("highest")


def test_spot_checks_and_audits_measure_the_error():
    learner = learner_of(X, Y, range(30), spot_checks=2)
    for _ in range(20):
        question = learner.question()
        learner.tell(question, float(Y[question.node]))
    error = learner.judge.expected_error()
    assert error.measured >= 8
    assert error.kind == f"measured on {error.measured} random items"
    for node in learner.judge.audit(12):
        learner.judge.tell_audit(node, float(Y[node]))
    error = learner.judge.expected_error()
    assert (error.audited, error.measured) == (12, 12)
    made = learner.predict()
    drawn = np.array([made[node] - Y[node] for node in learner.history.audited])
    assert error.value == pytest.approx(np.sqrt((drawn**2).mean()))
    low, high = (np.sqrt((drawn**2).sum() / stats.chi2.ppf(at, 12)) for at in (0.95, 0.05))
    assert (error.low, error.high) == pytest.approx((low, high))
