"""A learner does the same wherever its engine keeps rows."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import askgraph as ag
from askgraph import priors
from askgraph.priors import Dense
from askgraph.priors.precision import Precision
from askgraph.readouts import READOUTS
from askgraph.utilities import SAMPLERS
from tests.helpers.engines import ABROAD, SHUFFLED, close

over_abroad = pytest.mark.parametrize("engine", ABROAD, ids=str)
over_all = pytest.mark.parametrize("engine", [*ABROAD, SHUFFLED], ids=str)
by_node = "reweights the graph node by node, which the shuffled engine keeps in the order of rows"
in_shards = pytest.raises(ag.EngineError, match="all weights of a graph")


def learners(engine, graph, **options):
    """The same learner here and elsewhere."""
    priors = Dense(Precision.of(graph, 0.05)), engine.prior(graph, 0.05)
    return [ag.Learner(graph, rng=3, engine=prior, **options) for prior in priors]


@cache
def community_graph():
    return ag.communities((20, 24, 16), mean_degree=6, rng=1)


@pytest.mark.slow
@over_all
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("first", ["random", "utility"])
def test_the_same_questions_and_predictions(engine, sampler, first):
    graph, truth = community_graph()
    if engine is SHUFFLED and sampler == "pwll":
        pytest.skip(by_node)
    here, there = learners(engine, graph, sampler=sampler, first=first, classes=[0, 1, 2])
    if sampler == "pwll" and not engine.whole:
        there.tell(0, 1)
        with in_shards:
            there.ask()
        return
    for _ in range(4):
        node = here.ask()
        assert there.ask() == node
        for learner in (here, there):
            learner.tell(node, int(truth[node]))
    assert here.predict().tolist() == there.predict().tolist()
    close(there.probabilities(), here.probabilities(), 1e-5)


@over_all
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_the_same_readouts(engine, readout, noise):
    graph, truth = community_graph()
    if engine is SHUFFLED and readout == "reweighted":
        pytest.skip(by_node)
    pair = learners(engine, graph, readout=readout, noise=noise)
    for learner in pair:
        learner.tell_all({node: int(truth[node]) for node in (0, 30, 50)})
        for node in (7, 40, 21):
            learner.tell(node, int(truth[node]))
    if readout == "reweighted" and not engine.whole:
        with in_shards:
            pair[1].probabilities()
        return
    close(pair[1].probabilities(), pair[0].probabilities(), 1e-5)


@over_all
@pytest.mark.parametrize("readout", ["cautious", "map"])
def test_the_same_suggestions(engine, readout):
    graph, truth = community_graph()
    pair = learners(engine, graph, readout=readout, classes=[0, 1, 2])
    for learner in pair:
        learner.guesses.tell_all(
            {node: int(truth[node + 1]) for node in range(0, 58, 2)}, "next", {4: 0.2, 6: 0.9, 8: 0.4}
        )
        learner.guesses.tell_all({node: int(truth[node]) for node in range(1, 60, 3)}, "right")
        learner.tell_all({node: int(truth[node]) for node in (0, 30, 50)})
    close(pair[1].probabilities(), pair[0].probabilities(), 1e-5)
    assert [x[:4] for x in pair[1].guesses.suspects(5)] == [x[:4] for x in pair[0].guesses.suspects(5)]


@over_all
def test_a_sampler_of_ones_own_gets_rows_and_finds_their_nodes(engine):
    """Rows index arrays of this process, and nodes_of tells their nodes: the same question on every engine."""
    graph, truth = community_graph()
    wanted = 1.0 * (np.arange(60) % 17)  # a score per node

    def by_node(field, rows, p):
        nodes = field.space.to_numpy(field.space.nodes_of(rows))
        return field.space.asarray(wanted[nodes])

    def by_row(field, rows, p):
        return field.spread.variance[rows] * p[:, 0]

    for sampler in (by_node, by_row):
        here, there = learners(engine, graph, sampler=sampler, classes=[0, 1, 2])
        for _ in range(5):
            node = here.ask()
            assert there.ask() == node
            for learner in (here, there):
                learner.tell(node, int(truth[node]))


@over_all
def test_the_same_judgements(engine):
    graph, truth = community_graph()
    pair = learners(engine, graph)
    for learner in pair:
        for node in range(0, 60, 5):
            learner.tell(node, int(truth[node]) if node != 25 else int(truth[node] + 1) % 3)
        learner.judge.tell_audit(1, int(truth[1]))
    for judged in (
        lambda one: tuple(np.round(one.judge.expected_error()[:5], 6)),
        lambda one: [(x.node, x.label, x.instead) for x in one.judge.suspects()],
        lambda one: one.judge.advice(),
        lambda one: one.ask(4),
        lambda one: one.judge.audit(3),
        lambda one: one.judge.finished,
    ):
        assert judged(pair[1]) == judged(pair[0])
    if pair[1].field.prior.exact:  # elsewhere they are read off estimates
        assert pair[1].question(5, batch="now") == pair[0].question(5, batch="now")


@over_all
def test_the_same_undo_retract_relabel_and_prefetch(engine):
    graph, _ = community_graph()
    pair = learners(engine, graph)
    for learner in pair:
        learner.tell(0, "a")
        learner.tell(30, "b")
        learner.prefetch()
        learner.tell(learner.ask(), "a")
        learner.relabel(30, "c")
        learner.tell(55, "b")
        learner.retract(0)
        learner.skip(4)
        learner.undo()
        learner.undo()
    assert pair[0].labels == pair[1].labels
    assert pair[0].ask() == pair[1].ask()
    close(pair[1].probabilities(), pair[0].probabilities(), 1e-5)


@over_abroad
def test_the_same_reasons(engine):
    from askgraph.why import why

    graph, truth = community_graph()
    if not engine.whole:
        with in_shards:
            why(engine.start(graph, 0.05, 2).observe(0, 1), None, 5)
        return
    found = []
    for learner in learners(engine, graph):
        learner.tell_all({node: int(truth[node]) for node in (0, 30, 50)})
        found.append([why(learner.field, learner.readout, node) for node in (5, 30)])
    for here, there in zip(*found, strict=True):
        assert here.voters.tolist() == there.voters.tolist()
        close(there.weights, here.weights, 1e-5)
        assert there.changes == pytest.approx(here.changes, rel=1e-4)


@pytest.mark.slow
@over_abroad
def test_the_same_classifier_for_new_rows_too(engine, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(center, 0.4, (25, 2)) for center in ((0, 0), (2, 0), (0, 2))])
    y, new = np.repeat([0, 1, 2], 25), rng.normal(1, 1, (9, 2))
    labels = np.where(rng.random(75) < 0.2, y, -1)
    monkeypatch.setitem(priors.ENGINES, "abroad", engine.make)
    found = [ag.GraphClassifier(engine=name, random_state=0).fit(X, labels) for name in ("dense", "abroad")]
    for rows in (X, new, np.concatenate([X[:3], new])):
        close(found[1].predict_proba(rows), found[0].predict_proba(rows), 1e-5)


@over_all
@pytest.mark.parametrize("sampler", ["influence", "klg", "random"])
def test_the_same_scores(engine, sampler):
    graph, truth = community_graph()
    pair = learners(engine, graph, sampler=sampler)
    for learner in pair:
        learner.tell_all({node: int(truth[node]) for node in (0, 30, 50)})
        learner.skip(7)
    here, there = (learner.scores() for learner in pair)
    assert np.flatnonzero(np.isnan(there)).tolist() == [0, 7, 30, 50]
    close(np.nan_to_num(there), np.nan_to_num(here), 1e-5)
    close(pair[1].scores([5, 3]), here[[5, 3]], 1e-5)
