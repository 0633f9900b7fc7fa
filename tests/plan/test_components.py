"""Small components wait until their next label would stand for as many nodes as one in the large components."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from tests.helpers.engines import ABROAD, ENGINES, SHUFFLED

LARGE = 300


def scattered(single=40, pairs=5):
    """A chain of 300 nodes, then pairs, then nodes without an edge."""
    n = LARGE + 2 * pairs + single
    edges = [(k, k + 1) for k in range(LARGE - 1)] + [(LARGE + 2 * k, LARGE + 2 * k + 1) for k in range(pairs)]
    return ag.Graph.from_edges(edges, nodes=n)


def asked(learner, count, truth=lambda node: node % 2):
    return [step.node for step in learner.run(truth, count)]


@pytest.mark.parametrize("sampler", ["tv", "msd", "vm", "sigma", "unc", "klg", "influence", "eer", "mc", "dial"])
def test_no_sampler_begins_with_components_that_teach_little(sampler):
    for seed in range(3):
        learner = ag.Learner(scattered(), sampler, rng=seed, delta=0.005, classes=[0, 1])
        assert max(asked(learner, 12)) < LARGE
        assert max(found.node for found in learner.question(5, batch="now")) < LARGE
        assert max(learner.ask(3)) < LARGE


def test_small_components_are_asked_for_when_that_is_said():
    learner = ag.Learner(scattered(), "vm", rng=0, delta=0.005, classes=[0, 1], small_components="ask")
    assert sum(node >= LARGE for node in asked(learner, 12)) > 6


def test_random_questions_are_drawn_from_all_nodes():
    for how in ({"sampler": "random"}, {"sampler": "tv", "explore": 1.0}):
        learner = ag.Learner(scattered(), rng=0, classes=[0, 1], **how)
        assert sum(node >= LARGE for node in asked(learner, 60)) > 3


@pytest.mark.slow
def test_a_small_component_is_asked_for_once_it_stands_for_as_many_nodes():
    # 101 nodes in the large component and 4 in each small one: those are due once 101 / (t + 1) <= 4
    edges = [(k, k + 1) for k in range(100)]
    for start in range(101, 901, 4):
        edges += [(start, start + 1), (start + 1, start + 2), (start + 2, start + 3)]
    graph = ag.Graph.from_edges(edges)
    learner = ag.Learner(graph, "sigma", rng=0, delta=1e-6, classes=[0, 1])
    nodes = asked(learner, 40)
    assert max(nodes[:25]) <= 100
    assert min(nodes[26:]) > 100
    homes = [(node - 101) // 4 for node in nodes[26:]]
    assert len(set(homes)) == len(homes)  # each small component once


def test_nothing_waits_where_nothing_is_larger():
    graph = ag.Graph.from_edges([(k, k + 1) for k in range(0, 600, 2)])
    assert len(set(asked(ag.Learner(graph, "sigma", rng=0, classes=[0, 1]), 20))) == 20
    done = ag.Learner(scattered(single=2, pairs=1), rng=0, classes=[0, 1])
    done.tell_all({node: node % 2 for node in range(LARGE)})
    assert sorted(asked(done, 9)) == [300, 301, 302, 303]
    assert done.ask() is None


@pytest.mark.parametrize("engine", [*ENGINES, *ABROAD, SHUFFLED], ids=str)
def test_the_same_nodes_wait_on_every_engine(engine):
    graph = scattered(single=8, pairs=3)
    labels = {5: 0, 200: 1, LARGE: 0}
    want, got = [], []
    for each, found in ((ENGINES[0], want), (engine, got)):
        learner = ag.Learner(graph, "sigma", engine=each.prior(graph, 0.005), delta=0.005, classes=[0, 1], rng=0)
        for node, label in labels.items():
            learner.tell(node, label)
        found += [step.node < LARGE for step in learner.run(lambda node: node % 2, 4)]
    assert want == got == [True] * 4


def test_advice_says_what_isolated_nodes_cost():
    learner = ag.Learner(scattered(), "sigma", rng=0, classes=[0, 1])
    asked(learner, 12)
    said = " ".join(learner.judge.advice())
    assert "45 of 46 components, 50 of 350 items, have no label" in said
    assert "40 of them have no neighbour at all" in said
    assert np.unique(learner.predict()[LARGE:]).size == 1
