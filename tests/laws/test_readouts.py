"""Every readout says the same of the same labels, however they were told and wherever they were computed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import askgraph as ag
from askgraph.priors import ENGINES as NAMED
from askgraph.readouts import READOUTS
from askgraph.readouts.by_class import best_classes
from tests.helpers.engines import ABROAD, ENGINES, SPARSE, here

CLASSES = ("a", "b", "c")
SHAPES = {"tree": lambda rng, i: rng.integers(i), "star": lambda rng, i: 0, "chain": lambda rng, i: i - 1}


def problem(shape, seed):
    """A small graph of this shape, in which labels screen classes from all unlabeled nodes, and labels."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    edges = [(i, int(SHAPES[shape](rng, i)), rng.uniform(0.1, 1)) for i in range(1, n)]
    nodes = rng.permutation(n)[: rng.integers(2, n)]
    return ag.Graph.from_edges(edges, nodes=range(n)), {int(node): CLASSES[rng.integers(3)] for node in nodes}


def told(graph, labels, engine, at_once):
    learner = ag.Learner(graph, engine=engine, rng=0, classes=CLASSES, hubs="ask")
    if at_once:
        learner.tell_all(labels)
    else:
        for node, label in labels.items():
            learner.tell(node, label)
    return learner


def read(learner, whole=True):
    """The probabilities by every readout and the estimate of the error; and the likeliest classes, read a few at a time."""
    field, found = learner.field, {}
    for name, readout in READOUTS.items():
        if whole or name != "reweighted":  # which needs all weights of a graph
            found[name] = here(readout(field))
            top = here(best_classes(field, readout, 3)[1])
            np.testing.assert_allclose(top, -np.sort(-found[name], axis=1), atol=1e-9)
    return found | {"error": np.array(learner.judge.expected_error()[:5])}


@cache
def plainly(shape, seed):
    graph, labels = problem(shape, seed)
    return read(told(graph, labels, ag.prior(graph, engine="dense"), at_once=True))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("engine", [*ENGINES, *SPARSE, *ABROAD], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_readout_says_the_same_of_labels_told_one_by_one_at_once_and_saved(engine, shape, tmp_path):
    # Promise 38
    for seed in (6, 18, 19, 26):
        graph, labels = problem(shape, seed)
        tolerance = 1e-6 if engine.tolerance < 1e-6 else 1e-4
        learners = [told(graph, labels, engine.prior(graph, None), at_once) for at_once in (False, True)]
        if NAMED.get(learners[0].field.origin.name) is type(learners[0].field.origin) and engine.whole:
            for learner, state in zip(tuple(learners), (True, False), strict=True):
                learner.save(tmp_path / "work.npz", state=state)
                learners.append(ag.Learner.load(tmp_path / "work.npz"))
        for learner in learners:
            for name, p in read(learner, engine.whole).items():
                np.testing.assert_allclose(p, plainly(shape, seed)[name], atol=tolerance, err_msg=f"{name}, {seed}")
