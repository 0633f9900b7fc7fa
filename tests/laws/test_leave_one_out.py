"""Leave-one-out is what a field says that was never told the label, whatever the labels were told to."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers.coding import Classes
from askgraph.field import Field, Observation
from askgraph.field.leave_one_out import left_out, supposed, supposed_in
from askgraph.plan.hubs import HubDiscount
from askgraph.priors.summed import Summed
from tests.helpers.draws import given, settings, st
from tests.helpers.engines import ABROAD, ENGINES, PETSC_BLOCKS, SHUFFLED, SPARSE, close
from tests.helpers.graphs import random_graph

over_engines = pytest.mark.parametrize("engine", [*ENGINES, *SPARSE, *ABROAD, SHUFFLED, PETSC_BLOCKS], ids=str)
few = settings(max_examples=12, deadline=None)


@st.composite
def problems(draw):
    """(weights, observations, classes): parts without a tie, nodes alone, a hub, one class only, exact and noisy labels."""
    rng, n = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.integers(4, 12))
    W = random_graph(rng, n, draw(st.sampled_from([0.0, 0.2, 0.6])))
    if draw(st.booleans()):
        W[0, 1 : n - 1] = W[1 : n - 1, 0] = 1.0
    classes, noise = draw(st.integers(1, 3)), draw(st.sampled_from([(0.0,), (0.4,), (0.0, 0.4)]))
    nodes = rng.permutation(n)[: draw(st.integers(2, n - 1))].tolist()
    labels = [Observation(node, int(rng.integers(classes)), float(rng.choice(noise))) for node in nodes]
    return W, labels, classes


def observed(field, labels):
    return reduce(lambda now, x: now.observe(x.node, x.said, x.noise), labels, field)


def one_by_one(prior, labels, coding, discount, around):
    return observed(Field.start(prior, coding, squares=False, discount=discount), labels)


def half_folded(prior, labels, coding, discount, around):
    half = len(labels) // 2
    return observed(one_by_one(prior, labels[:half], coding, discount, around).rebase(), labels[half:])


def at_once(prior, labels, coding, discount, around):
    return Field.given(prior, labels, coding, squares=False, discount=discount)


def the_oldest(prior, labels, coding, discount, around):
    rest = np.setdiff1d(np.arange(prior.n_nodes), [x.node for x in labels])
    more = [Observation(int(rest[0]), 0, 0.1)]
    return supposed(one_by_one(prior, labels + more, coding, HubDiscount(2.0), around), discount, len(labels))


def in_a_prior(prior, labels, coding, discount, around):
    return supposed_in(prior, labels, coding, around)


WAYS = [(way, None) for way in (one_by_one, half_folded, at_once, the_oldest, in_a_prior)]
WAYS += [(way, HubDiscount(1.0)) for way in (one_by_one, half_folded, at_once, the_oldest)]
over_ways = pytest.mark.parametrize(("way", "discount"), WAYS, ids=lambda x: getattr(x, "__name__", str(x)))


def without_each(told, left, prior, labels, coding, discount, tolerance):
    """Compare leave-one-out with fields that were told all labels but one, and return these fields in the same order."""
    assert sorted(left.nodes.tolist()) == sorted(x.node for x in labels)
    whole, by_node, fields = at_once(prior, labels, coding, discount, around=False), {x.node: x for x in labels}, []
    gather = whole.space.gather
    close(told.votes, whole.votes, tolerance)
    for at, node in enumerate(left.nodes.tolist()):
        others = [x for x in labels if x.node != node]
        without = at_once(prior, others, coding, discount, around=False)
        fell = gather(whole.votes - without.votes)[~gather(whole.labeled)].sum(axis=0)
        noise = float(whole.label_noise([by_node[node]])[0])
        variance = without.variances(np.array([node]))[0] + noise**2
        assert left.said[at] == by_node[node].said
        close(left.votes[at], gather(without.votes)[node], tolerance)
        close(left.lost[at], fell, tolerance)
        close(left.variance[at], variance, tolerance)
        fields.append(without)
    return whole, fields


@pytest.mark.slow
@over_engines
@over_ways
@few
@given(problems())
def test_a_label_left_out_is_predicted_by_a_field_that_was_never_told_it(engine, way, discount, problem):
    W, labels, classes = problem
    prior, coding = engine.prior(ag.Graph(W), 0.2), Classes(classes)
    told = way(prior, labels, coding, discount, around=False)
    without_each(told, left_out(told, every=True), prior, labels, coding, discount, 100 * engine.tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("engine", ENGINES, ids=str)
@pytest.mark.parametrize("way", [one_by_one, half_folded, at_once, in_a_prior])
@few
@given(problems())
def test_votes_at_the_neighbors_move_as_if_the_label_had_not_been_told(engine, way, features, problem):
    W, labels, classes = problem
    prior, coding = engine.prior(ag.Graph(W), 0.2), Classes(classes)
    if features:
        prior = Summed(prior, np.random.default_rng(len(W)).normal(size=(len(W), 2)), 0.3)
    told = way(prior, labels, coding, None, around=True)
    left, tolerance = left_out(told, around=True), 100 * engine.tolerance
    whole, fields = without_each(told, left, prior, labels, coding, None, tolerance)
    gap = coding.rows(left.said) - left.votes
    for at, (node, without) in enumerate(zip(left.nodes.tolist(), fields, strict=True)):
        around = np.flatnonzero(W[node])
        close(left.moved[at][:, None] * gap[at], (whole.votes - without.votes)[around], tolerance)


@pytest.mark.parametrize("engine", ENGINES, ids=str)
@pytest.mark.parametrize("way", [one_by_one, half_folded, at_once])
def test_a_pending_answer_is_not_left_out_and_says_nothing_of_the_others(engine, way):
    labels = [Observation(0, 0), Observation(15, 1), Observation(6, 1), Observation(9, 0)]
    field = way(engine.prior(ag.grid(4, 4), 0.1), labels, Classes(2), None, around=True)
    now, then = (left_out(one, around=True) for one in (field, field.awaiting(5)))
    assert now.nodes.tolist() == then.nodes.tolist()
    close(then.votes, now.votes, engine.tolerance)
    close(then.variance, now.variance, engine.tolerance)
    close(np.concatenate(then.moved), np.concatenate(now.moved), engine.tolerance)
