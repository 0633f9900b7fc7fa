"""Promises 13, 14 and 16: odd graphs, ill-conditioning, many labels. (15, 17 and 18: test_estimator, test_laws, test_learner.)"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import askgraph as ag
from askgraph.answers.coding import chances, means
from askgraph.field.field import MAX_FACTOR_COLUMNS
from askgraph.readouts import READOUTS
from tests.helpers.engines import ENGINES, PETSC, SPARSE
from tests.helpers.graphs import random_graph

ODD = {
    "one node": lambda: ag.Graph(np.zeros((1, 1))),
    "no edges": lambda: ag.Graph(np.zeros((5, 5))),
    "disconnected": lambda: ag.Graph.from_edges([(0, 1), (2, 3), (3, 4)]),
    "isolated nodes": lambda: ag.Graph.from_edges([(0, 1)], nodes=6),
    "self-loops": lambda: ag.Graph(np.eye(4) + np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)),
    "repeated edges": lambda: ag.Graph.from_edges([(0, 1), (0, 1), (1, 2)]),
    "asymmetric": lambda: ag.Graph(np.triu(np.ones((4, 4)), 1), symmetrize="max"),
    "zero weights": lambda: ag.Graph(csr_array((np.zeros(2), ([0, 1], [1, 0])), shape=(3, 3))),
    "star": lambda: ag.star(50),
    "long path": lambda: ag.chain(100_000),
    "complete": lambda: ag.Graph(np.ones((2000, 2000)) - np.eye(2000)),
    "odd names": lambda: ag.Graph.from_edges([("Zoë", "名前"), ("名前", ""), ("", "\n")]),
    "huge weights": lambda: ag.Graph(1e12 * ag.grid(4, 4).weights),
    "tiny weights": lambda: ag.Graph(1e-12 * ag.grid(4, 4).weights),
}
REFUSED = {
    "empty": lambda: ag.Graph(np.zeros((0, 0))),
    "asymmetric": lambda: ag.Graph(np.triu(np.ones((4, 4)), 1)),
    "negative": lambda: ag.Graph(-ag.grid(2, 2).weights),
    "nan": lambda: ag.Graph(np.full((3, 3), np.nan)),
    "inf": lambda: ag.Graph(np.array([[0, np.inf], [np.inf, 0]])),
    "duplicate names": lambda: ag.Graph(np.zeros((2, 2)), names=["a", "a"]),
    "not square": lambda: ag.Graph(np.zeros((2, 3))),
}


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("utility", ["tv", "msd"])
def test_odd_graphs_are_answered_without_nan(odd, utility):
    # Promise 13
    learner = ag.Learner(ODD[odd](), utility, rng=0, first="utility")
    for t in range(4):
        node = learner.ask()
        if node is None:
            assert learner.judge.finished
            break
        learner.tell(node, "ab"[t % 2])
    p = learner.probabilities()
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert len(learner.predict()) == learner.graph.n_nodes


SMALL_ODD = {name: ODD[name] for name in ("one node", "no edges", "disconnected", "huge weights")} | {
    f"weights of {weight}": lambda weight=weight: ag.Graph(weight * ag.chain(4).weights)
    for weight in (5e-324, 1e-308, 1e-300, 1e-160, 1e160, 1e300)
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dense", "direct", "iterative"])
@pytest.mark.parametrize("odd", SMALL_ODD)
def test_odd_graphs_and_ridges_are_read_or_refused_without_a_warning(odd, engine):
    """Promise 32: tests take a warning for an error; a message names no weight that nobody gave."""
    graph, refused = SMALL_ODD[odd](), []
    rows = np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    for delta, features in product((None, 1e-305, 1e-12, 1.0), (None, rows)):
        try:
            learner = ag.Learner(graph, delta=delta, engine=engine, features=features, rng=0, classes=["a", "b"])
            for node in {0, graph.n_nodes - 1}:
                learner.tell(node, "ab"[node > 0])
        except ag.AskgraphError as error:
            refused.append(str(error))
            continue
        for readout in READOUTS.values():
            try:
                p = readout(learner.field)
            except ag.AskgraphError as error:
                refused.append(str(error))
            else:
                np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-9)
                assert ((p >= 0) & (p <= 1)).all()
    assert not [message for message in refused if "has weight" in message]


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("nodes", [1, 4])
def test_a_graph_without_edges_is_read_by_every_readout(readout, nodes):
    learner = ag.Learner(ag.Graph(np.zeros((nodes, nodes))), readout=readout, rng=0, classes=["a", "b"])
    learner.tell(0, "a")
    np.testing.assert_allclose(learner.probabilities(), [[1, 0]] + (nodes - 1) * [[0.5, 0.5]], atol=1e-9)


@pytest.mark.parametrize("refused", REFUSED)
def test_unusable_graphs_are_named_errors(refused):
    # Promise 13
    with pytest.raises(ag.GraphError):
        REFUSED[refused]()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("engine", [*ENGINES, *SPARSE, PETSC], ids=str)
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(-12, 12), st.floats(-12, 12), st.floats(-12, 0))
@example(0, 0.0, 5.75, -10.0)  # δ is a bit of the degrees' last
@example(326, 8.04, -4.47, -8.47)  # and below it
@example(0, 11.0, 12.0, 0.0)  # more than float32 takes
def test_ill_conditioning_is_solved_or_said(engine, seed, low, high, log_delta):
    """Weights 1e-12 … 1e12, δ 1e-12 … 1: the residual of the mean is at most 1e-8, or the error says what to do."""
    # Promise 14
    rng = np.random.default_rng(seed)
    W = random_graph(rng, 12, 0.4, 0, 1)
    span = sorted((low, high))
    W = np.where(W > 0, 10 ** (span[0] + W * (span[1] - span[0])), 0)
    graph, delta = ag.Graph(np.triu(W, 1) + np.triu(W, 1).T), 10**log_delta
    try:
        field = engine.start(graph, delta)
        for t in range(4):
            field = field.observe(3 * t, t % 2)
    except ag.ConvergenceError as error:
        advice = "raise delta", "divide the weights"
        assert any(what in str(error) for what in advice)  # noqa: PT017 -- an answer and this error are both right
        return
    assert np.isfinite(field.votes).all()
    assert ((chances(field.votes) >= 0) & (chances(field.votes) <= 1)).all()
    assert (field.spread.variance[~field.labeled] > 0).all()
    Q = graph.laplacian() + delta * np.eye(12)
    gap = (Q @ means(field.votes))[~field.labeled]
    scale = np.abs(Q @ np.abs(means(field.votes))).max() + np.linalg.norm(
        Q[:, field.labeled] @ means(field.votes)[field.labeled]
    )
    assert np.abs(gap).max() <= 1e-8 * scale


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("engine", [*ENGINES, PETSC], ids=str)
def test_thousands_of_labels_do_not_drift(engine):
    # Promise 16
    graph, n = ag.grid(45, 40), 1100  # too large for a dense inverse, and labels enough for two rebases
    rng = np.random.default_rng(0)
    order, labels = rng.permutation(graph.n_nodes)[:n], rng.integers(3, size=n)
    field = engine.start(graph, 0.005, 3, squares=False)
    for node, label in zip(order.tolist(), labels.tolist(), strict=True):
        field = field.observe(node, label)
    fresh = engine.start(graph, 0.005, 3, squares=False).extended(field.observations)
    np.testing.assert_allclose(field.votes, fresh.votes, atol=1e-8)
    assert (field.spread.variance[~field.labeled] > 0).all()
    assert len(field.recent) < n - MAX_FACTOR_COLUMNS, "fewer than two rebases happened"
