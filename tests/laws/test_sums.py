"""The laws of a field on a graph plus a linear function of features, over the same table of engines."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers.coding import means
from askgraph.errors import ConvergenceError, EngineError
from askgraph.field import Field, Observation
from askgraph.field.leave_one_out import left_out
from askgraph.field.saved_state import from_arrays, to_arrays
from askgraph.plan.hubs import HubDiscount
from askgraph.priors.summed import Summed, mean_variance
from askgraph.utilities import CRITERIA
from tests.helpers.draws import given, settings
from tests.helpers.engines import ABROAD, ENGINES, close, here
from tests.helpers.graphs import problems, random_graph, random_labels
from tests.helpers.reference import SumReference, score

NOISE = 0.3
WHOLE = [engine for engine in (*ENGINES, *ABROAD) if "petsc" not in str(getattr(engine, "values", engine))]
over_engines = pytest.mark.parametrize("engine", WHOLE, ids=str)
few = settings(max_examples=15, deadline=None)


def phi(n, d=3):
    return np.random.default_rng(n).normal(size=(n, d))


def start(engine, W, delta, classes, squares=None):
    prior = Summed(engine.prior(ag.Graph(W), delta), phi(len(W)), NOISE)
    return Field.start(prior, classes, squares=prior.exact if squares is None else squares)


def posterior(engine, W, delta, classes, labels):
    field = start(engine, W, delta, classes)
    for node, label in labels:
        field = field.observe(node, label)
    return field


def plain(W, delta, classes, labels):
    return SumReference(W, delta, dict(labels), classes, phi(len(W)), NOISE)


def sharp(field):
    return field.sharpen(np.arange(len(field.votes)))


def equals(field, want, tolerance):
    field = sharp(field)
    close(means(field.votes), want.mu, tolerance)
    close(field.columns(np.arange(len(want.G))), want.G, tolerance)
    close(field.spread.variance, np.diag(want.G), tolerance)
    close(field.spread.influence_l1, want.G.sum(axis=0), tolerance)
    if field.squares:
        close(field.spread.influence_l2, np.linalg.norm(want.G, axis=0), tolerance)


@pytest.mark.slow
@over_engines
@few
@given(problems())
def test_a_sum_is_the_dense_formula_label_by_label_and_folded_in(engine, problem):
    W, delta, classes, labels = problem
    field, want = posterior(engine, W, delta, classes, labels), plain(W, delta, classes, labels)
    equals(field, want, engine.tolerance)
    equals(field.rebase(), want, 10 * engine.tolerance)
    both = posterior(engine, W, delta, classes, labels[:1]).rebase()
    for node, label in labels[1:]:
        both = both.observe(node, label)
    equals(both, want, 10 * engine.tolerance)
    assert here(field.columns(np.arange(len(W)))).min() < 0 or want.G.min() >= 0


@over_engines
@few
@given(problems(most=7))
def test_scores_are_those_of_the_dense_formula(engine, problem):
    W, delta, classes, labels = problem
    field, want = sharp(posterior(engine, W, delta, classes, labels)), plain(W, delta, classes, labels)
    rows, lift = np.flatnonzero(~here(field.labeled)), field.space.asarray
    for name in ("sigma", "unc", *(("msd", "vm") if field.squares else ())):
        found = CRITERIA[name].score(field, lift(rows), 0.0, "derived", "mean")
        close(found, [score(name, want, node) for node in want.U], 10 * engine.tolerance)
    found = CRITERIA["influence"].score(field, lift(rows), 0.0, "printed", "mean")
    close(found, [signed_influence(want, node) for node in want.U], 10 * engine.tolerance)


def signed_influence(field, node):
    """u² max((G1)_i, 0)² / (g_ii + γ²), u by votes that count as 0 below 0 and add up to 1 at most."""
    C, mu, H = field.classes, field.mu[node], votes_of(field)[node].sum()
    h = np.maximum((mu + H) / 2, 0.0)
    p = h / h.sum() if h.sum() > 1 else h + (1 - h.sum()) / C
    reach = max(field.G[node].sum(), 0.0)
    return (1 - (p**2).sum()) ** 2 * reach**2 / (field.G[node, node] + NOISE**2)


def votes_of(field):
    """The votes: means of labels that are 0 and 1, not ±1."""
    L, told = sorted(field.labels), (field.Y + 1) / 2
    G0 = np.linalg.inv(np.diag(field.W.sum(axis=1)) - field.W + field.delta * np.eye(len(field.W)))
    G0 = G0 + field.features @ field.features.T
    return G0[:, L] @ np.linalg.solve(G0[np.ix_(L, L)] + field.noise**2 * np.eye(len(L)), told)


@pytest.mark.slow
@over_engines
@few
@given(problems(most=7))
def test_a_label_left_out_is_predicted_as_if_it_were_not_there(engine, problem):
    W, delta, classes, labels = problem
    field = posterior(engine, W, delta, classes, labels)
    for now in (field, field.rebase()):
        left = left_out(now)
        for node, votes in zip(left.nodes.tolist(), left.votes, strict=True):
            without = posterior(engine, W, delta, classes, [x for x in labels if x[0] != node])
            close(votes, here(without.votes)[node], 100 * engine.tolerance)


@over_engines
def test_labels_are_taken_back_changed_and_weighed_anew(engine):
    rng = np.random.default_rng(2)
    W, labels = random_graph(rng, 20), random_labels(rng, 20, 3, 5)
    field = posterior(engine, W, 0.05, 3, labels)
    for begin in (field, field.rebase()):
        node, label = labels[2]
        rest = [x for x in labels if x[0] != node]
        equals(begin.forget(node), plain(W, 0.05, 3, rest), 100 * engine.tolerance)
        changed = [*rest, (node, (label + 1) % 3)]
        equals(begin.relabel(node, (label + 1) % 3), plain(W, 0.05, 3, changed), 100 * engine.tolerance)
    heavier = field.reweighted(HubDiscount(2.0))
    close(heavier.votes, heavier.rebase().votes, 100 * engine.tolerance)
    close(heavier.reweighted(None).votes, field.votes, 100 * engine.tolerance)


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_a_sum_is_saved_and_read_as_it_was(engine):
    rng = np.random.default_rng(3)
    W, labels = random_graph(rng, 15), random_labels(rng, 15, 2, 4)
    field = posterior(engine, W, 0.05, 2, labels[:2]).rebase().observe(*labels[2])
    prior = Summed(engine.prior(ag.Graph(W), 0.05), phi(15), NOISE)
    again = from_arrays(prior, to_arrays(field), field.coding, 0.0, field.squares, field.discount)
    equals(again.observe(*labels[3]), plain(W, 0.05, 2, labels), 10 * engine.tolerance)


@over_engines
def test_the_field_of_the_graph_is_scaled_to_variance_one(engine):
    W = random_graph(np.random.default_rng(4), 30)
    prior = engine.prior(ag.Graph(W), 0.05)
    G = np.linalg.inv(np.diag(W.sum(axis=1)) - W + 0.05 * np.eye(30))
    want = np.trace(G) / 30 - G.mean()
    assert mean_variance(prior) == pytest.approx(want, rel=1e-9)
    made = Summed.over(prior, phi(30), NOISE, want)
    close(made.columns(np.arange(30)), G / want + phi(30) @ phi(30).T, engine.tolerance)


def fraction_variance(W, delta):
    """Trace of PGP / n in fractions, by Gauss-Jordan elimination."""
    n, W = len(W), [[Fraction(float(w)) for w in row] for row in W]
    rows = [[(sum(W[i]) + Fraction(delta) if i == j else -W[i][j]) for j in range(n)] for i in range(n)]
    rows = [row + [Fraction(i == j) for j in range(n)] for i, row in enumerate(rows)]
    for i in range(n):
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in set(range(n)) - {i}:
            rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    trace = sum(rows[i][n + i] for i in range(n))
    return float((trace - sum(sum(row[n:]) for row in rows) / n) / n)


@over_engines
@pytest.mark.parametrize("delta", [1.0, 1e-3, 2e-5, 2e-7, 1e-12])
@pytest.mark.parametrize("parts", [1, 3])
def test_the_variance_of_a_field_about_its_mean_is_that_of_fractions(engine, delta, parts):
    W = np.diag([1.0, 0.3, 1.0, 2.0, 0.7], 1)
    W[range(5), range(1, 6)] *= [1, 1, parts == 1, 1, 1]
    W = np.pad(W + W.T, (0, parts // 3))  # with three parts the last one is a node alone
    try:
        prior = engine.prior(ag.Graph(W), delta)
        found = mean_variance(prior)
    except ConvergenceError:
        assert delta < 1e-7  # which a dense inverse cannot hold
        return
    assert found == pytest.approx(fraction_variance(W, delta), rel=1e-9)


@pytest.mark.slow
def test_where_the_variance_is_estimated_the_reason_says_so():
    graph = ag.communities((1500, 1500), mean_degree=6, rng=0)[0]
    exact, estimated = (ag.prior(graph, engine=name) for name in ("direct", "iterative"))
    assert mean_variance(estimated) == pytest.approx(mean_variance(exact), rel=0.03)
    assert "estimated" in Summed.over(estimated, phi(3000), NOISE).reason
    assert "estimated" not in Summed.over(exact, phi(3000), NOISE, 1.0).reason


def test_a_variance_that_the_weights_cannot_be_scaled_by_is_said():
    one_edge = ag.Graph.from_edges([(0, 1)], nodes=3)
    with pytest.raises(ConvergenceError, match="raise delta"):
        Summed.over(ag.prior(one_edge, 1e-307, "direct"), phi(3), NOISE)


def test_norms_on_estimates_are_refused_with_a_reason():
    engine = ENGINES[-1]
    with pytest.raises(EngineError, match="take influence or sigma"):
        start(engine, random_graph(np.random.default_rng(5), 12), 0.1, 2, squares=True)


def test_a_pending_answer_moves_no_mean():
    W = random_graph(np.random.default_rng(6), 12)
    field = start(ENGINES[0], W, 0.1, 2).observe(0, 0).await_answer(5)
    close(field.votes, posterior(ENGINES[0], W, 0.1, 2, [(0, 0)]).votes, 1e-12)
    given = Field.given(field.origin, [Observation(0, 0), Observation(5, 1)], 2)
    close(given.votes, posterior(ENGINES[0], W, 0.1, 2, [(0, 0), (5, 1)]).votes, 1e-9)
