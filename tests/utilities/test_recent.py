"""The later criteria against their definitions, written with dense matrices."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import askgraph as ag
from askgraph.errors import SettingError
from askgraph.readouts import Reweighted
from askgraph.utilities import CRITERIA, recent
from tests.helpers.engines import ENGINES
from tests.helpers.graphs import random_graph

pytestmark = pytest.mark.slow

DELTA = 0.05


def uneven():
    """A chain with shortcuts whose weights span four orders of magnitude."""
    rng, W = np.random.default_rng(2), np.zeros((10, 10))
    for i, j in [*((i, i + 1) for i in range(9)), (0, 4), (2, 7), (3, 9)]:
        W[i, j] = W[j, i] = 10 ** rng.uniform(-2, 2)
    return W


def parts(*sizes):
    """Components of these sizes, one after the other."""
    rng, end, W = np.random.default_rng(3), np.cumsum(sizes), np.zeros((sum(sizes), sum(sizes)))
    for size, stop in zip(sizes, end, strict=True):
        W[stop - size : stop, stop - size : stop] = random_graph(rng, size, 1.0)
    return W


GRAPHS = {  # weights, and the nodes that are labeled
    "dense": (random_graph(np.random.default_rng(1), 9, 0.9), [3, 0, 7, 5]),
    "uneven": (uneven(), [6, 0, 9, 2, 4]),
    "two parts": (parts(5, 6), [7, 1, 3, 5, 10]),
    "a part without labels": (parts(8, 3), [5, 1, 3, 0]),
    "isolated nodes": (parts(1, 8, 1), [5, 0, 2, 8]),
}


def told(name, classes):
    """{node: class}; at four classes one of them may have no label."""
    return {node: (3 * at + 1) % classes for at, node in enumerate(GRAPHS[name][1])}


def fields(engine, name, classes, noise=0.0):
    """The same labels in V, some or all of them folded; without and with an answer that is awaited."""
    for field in built(engine, name, classes, noise):
        yield field.sharpen(np.arange(len(GRAPHS[name][0])))


@cache
def built(engine, name, classes, noise):
    """These fields before they are exact at every node, for all tests: a field never changes."""
    W, nodes = GRAPHS[name]
    made = []
    for folds in (0, 2, len(nodes)):
        field = engine.start(ag.Graph(W), DELTA, classes, noise=noise)
        for at, (node, label) in enumerate(told(name, classes).items()):
            field = field.observe(node, label)
            field = field.rebase() if at + 1 == folds else field
        assert len(field.folded) == folds
        made += [field, field.await_answer(int(open_nodes(field)[-1]))]
    return [*made, made[-1].rebase()]


def open_nodes(field):
    return np.flatnonzero(~field.labeled)


def cases(test):
    test = pytest.mark.parametrize("engine", ENGINES, ids=str)(test)
    return pytest.mark.parametrize("name", GRAPHS)(pytest.mark.parametrize("classes", [2, 4])(test))


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def posterior(name, field, classes):
    """G and h as conditioning gives them: an awaited answer shrinks G, and moves no mean."""
    W, labels = GRAPHS[name][0], told(name, classes)
    K = np.linalg.inv(laplacian(W) + DELTA * np.eye(len(W)))

    def regression(nodes):
        return K[:, nodes] @ np.linalg.inv(K[np.ix_(nodes, nodes)] + field.noise**2 * np.eye(len(nodes)))

    seen = [x.node for x in field.observations]
    return K - regression(seen) @ K[seen], regression(list(labels)) @ np.eye(classes)[list(labels.values())]


@pytest.mark.parametrize("noise", [0.0, 0.3])
@cases
def test_model_change_is_the_least_change_of_the_votes(engine, name, classes, noise):
    for field in fields(engine, name, classes, noise):
        (G, h), want = posterior(name, field, classes), []
        for i in open_nodes(field):
            changes = [np.outer(G[i], answer - h[i]) / (G[i, i] + noise**2) for answer in np.eye(classes)]
            want.append(min(np.linalg.norm(change) for change in changes))
        close(recent.model_change(field, open_nodes(field), None), want)


@pytest.mark.parametrize("name", GRAPHS)
def test_model_change_exceeds_min_msd_where_labels_do_not_reach(name):
    for field in fields(ENGINES[0], name, 2):
        nodes = open_nodes(field)
        least = CRITERIA["msd"].score(field, nodes, 0.0, "derived", "min")
        short = (1 - field.votes[nodes].sum(axis=1)) * field.spread.influence_l2[nodes] / field.spread.variance[nodes]
        close(recent.model_change(field, nodes, None), np.sqrt((least + short**2) / 2))


@pytest.mark.parametrize("noise", [0.0, 0.3])
@cases
def test_mcvopt_is_the_margin_times_the_variance_that_goes(engine, name, classes, noise):
    for field in fields(engine, name, classes, noise):
        (G, h), want = posterior(name, field, classes), []
        for i in open_nodes(field):
            *_, second, first = sorted(h[i])
            want.append((1 - (first - second)) * (G[i] ** 2).sum() / (G[i, i] + noise**2))
        close(recent.mcvopt(field, open_nodes(field), None), want)


def dirichlet_variance(name, classes, prior):
    """Σ_c Var p_c of Dirichlet(α)."""
    W = GRAPHS[name][0]
    n, alpha = len(W), np.full((len(W), classes), prior)
    for node, label in told(name, classes).items():
        P = np.linalg.solve(laplacian(W) + DELTA * np.eye(n), np.eye(n)[node] - 1 / n)
        alpha[:, label] += (P - P.min()) / (P - P.min())[node]
    share = alpha / alpha.sum(axis=1, keepdims=True)
    return (share * (1 - share)).sum(axis=1) / (alpha.sum(axis=1) + 1)


@cases
def test_dirichlet_is_the_variance_of_what_labels_lend(engine, name, classes, monkeypatch):
    monkeypatch.setattr(recent, "CHUNK_BYTES", 2 * 8 * len(GRAPHS[name][0]))  # two columns at a time
    for field in fields(engine, name, classes):
        nodes = open_nodes(field)
        close(recent.dirichlet(field, nodes, None), dirichlet_variance(name, classes, 1.0)[nodes])
        close(recent.dirichlet(field, nodes, None, 0.2), dirichlet_variance(name, classes, 0.2)[nodes])


def poisson_votes(name, classes):
    """PWLL-τ; Σ_l (e_l − 1/n), 1/n of the component, is what the pseudo-inverse makes of Σ_l e_l."""
    W, labels = GRAPHS[name][0], told(name, classes)
    n, known = len(W), list(labels)
    w = np.linalg.pinv(laplacian(W), hermitian=True) @ np.eye(n)[known].sum(axis=0)
    w = w - w.min() + 1e-5
    tau = max(1e-9, 1e-3 * ((1e-9 / 1e-3) ** (1 / (2 * classes))) ** len(known))
    Q = laplacian(np.diag(w) @ W @ np.diag(w)) + tau * np.eye(n)
    u, rest = np.zeros((n, classes)), np.setdiff1d(np.arange(n), known)
    u[known] = np.eye(classes)[list(labels.values())]
    u[rest] = np.linalg.solve(Q[np.ix_(rest, rest)], -Q[np.ix_(rest, known)] @ u[known])
    return u


@pytest.mark.slow
@cases
def test_minimum_norm_and_its_readout_are_of_the_reweighted_graph(engine, name, classes):
    u = poisson_votes(name, classes)
    odds = (1 + 2 * u - u.sum(axis=1, keepdims=True)) / 2
    for field in fields(engine, name, classes, noise=0.3):  # which plays no part
        nodes = open_nodes(field)
        close(recent.reweighted(field), u)
        close(recent.minimum_norm(field, nodes, None), 1 - np.sqrt((u[nodes] ** 2).sum(axis=1)))
        close(Reweighted()(field), odds / odds.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_a_part_without_labels_scores_highest(engine):
    for field in fields(engine, "a part without labels", 4):
        far, nodes = np.array([8, 9]), np.setdiff1d(open_nodes(field), [8, 9, 10])
        for utility, most in ((recent.minimum_norm, 1.0), (recent.dirichlet, (1 - 1 / 4) / (1 + 4))):
            close(utility(field, far, None), most)
            assert (utility(field, nodes, None) < most - 1e-3).all()


def test_before_any_label_nothing_is_told_apart():
    field = ENGINES[1].start(ag.Graph(uneven()), DELTA)
    nodes = np.arange(10)
    assert field.coding.width == 0
    np.testing.assert_array_equal(recent.minimum_norm(field, nodes, None), 1.0)
    close(recent.dirichlet(field, nodes, None), 1 / 6)
    close(recent.mcvopt(field, nodes, None), CRITERIA["vm"].utility(field, nodes, None))
    declared = ENGINES[1].start(ag.Graph(uneven()), DELTA, 3)
    close(Reweighted()(declared), 1 / 3)


def test_the_ridge_falls_to_its_floor_in_two_labels_a_class():
    ridges = [recent._ridge(held, 3) for held in range(9)]
    np.testing.assert_allclose(ridges, [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-9, 1e-9])


def test_the_reweighted_readout_reads_nodes_of_the_graph_only():
    field = next(fields(ENGINES[0], "dense", 2))
    with pytest.raises(SettingError, match="nodes of the graph only"):
        Reweighted()(field, field.votes)
