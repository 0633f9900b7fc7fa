"""On a large graph the sampler influence scores a handful of nodes drawn at random, and hubs are not ahead of others by far."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.plan.handful import FEW, Handful
from askgraph.utilities import closed
from askgraph.utilities.shortlist import COLUMNS
from tests.helpers.engines import here

SIZE = Handful().size
LARGE = 3_000  # less than the limit, which is set to it here: tests are quick


@pytest.fixture(autouse=True)
def lower(monkeypatch):
    monkeypatch.setattr(closed, "LARGE", LARGE)


def turn_of(learner, number=1):
    """Return the turn to choose a question, as the learner's plan gets it."""
    return ag.plan.Turn.of(learner.field, number, 0, classes=learner.classes)


@pytest.fixture(scope="module")
def large():
    """A graph of a few hubs and many others, of more than LARGE nodes, and a label for each node."""
    edges = [
        (int(at), int(other)) for at, other in np.random.default_rng(0).integers(0, 3_400, (8_000, 2)) ** 2 // 3_400
    ]
    graph = ag.Graph.from_edges(edges, nodes=range(3_400))
    return graph, ["left" if node < 1_700 else "right" for node in range(3_400)]


def learner_of(large, engine="direct", rng=0, answers=3):
    graph, truth = large
    learner = ag.Learner(graph, engine=engine, rng=rng, classes=["left", "right"])
    for node in range(0, 3_400, 3_400 // answers):
        learner.tell(node, truth[node])
    return learner


@pytest.mark.parametrize("more", [0, 1])
def test_all_are_scored_on_a_graph_of_few_times_as_many_as_are_drawn(more):
    turn = turn_of(ag.Learner(ag.chain(FEW * SIZE + more), engine="direct", rng=0, classes=["left", "right"]), 2)
    assert (Handful().narrows(turn) is turn.rows) == (not more)


@pytest.mark.parametrize("more", [0, 1])
def test_up_to_the_limit_nodes_are_scored_by_their_own_variance(more):
    learner = ag.Learner(ag.chain(LARGE + more), engine="direct", rng=0)
    learner.tell_all({0: "left", LARGE - 1: "right"})
    turn, field = turn_of(learner), learner.field
    rows, votes = turn.rows, field.votes[turn.rows]
    added = bool(more) / 2  # nodes of a chain have two edges of weight 1, but for its ends
    shares = votes + (1 - votes.sum(axis=1, keepdims=True)) / 2
    variance = closed.innovation(field, rows) + added
    expected = (1 - (shares**2).sum(axis=1)) ** 2 * field.spread.influence_l1[rows] ** 2 / variance
    np.testing.assert_allclose(closed.uncertain_influence(field, rows, votes), expected, rtol=1e-12)


def test_a_large_graph_has_about_so_many_candidates(large):
    turn = turn_of(learner_of(large))
    rows = Handful().narrows(turn)
    assert abs(rows.size - SIZE) < 0.1 * SIZE
    assert np.isin(rows, turn.rows).all()


def test_where_few_candidates_are_left_all_are_scored(large):
    turn = turn_of(learner_of(large))
    some = turn.narrowed(turn.rows[:SIZE])
    assert Handful().narrows(some) is some.rows


@pytest.mark.parametrize("engine", ["dense", "iterative"])
def test_every_engine_draws_the_same_nodes(large, engine):
    mine, other = (Handful().narrows(turn_of(learner_of(large, name))) for name in ("direct", engine))
    np.testing.assert_array_equal(here(mine), here(other))


def test_the_question_is_the_best_of_the_handful(large):
    learner = learner_of(large, "dense")
    turn = turn_of(learner, number=len(learner.labels))
    plan = learner.plan
    nodes = plan.narrowed(turn).nodes
    _, scores = plan.scores(turn, nodes)
    assert learner.question().node == nodes[scores.argmax()]


def test_a_question_is_the_same_when_asked_again_and_draws_differ_between_questions(large):
    learner = learner_of(large)
    assert learner.question() == learner.question()
    first, second = (set(Handful().narrows(turn_of(learner, number)).tolist()) for number in (3, 4))
    assert len(first & second) < 0.5 * SIZE


def test_questions_chosen_at_the_same_time_are_the_peaks_of_all_nodes(large):
    learner = learner_of(large, "dense")
    asked = [question.node for question in learner.question(SIZE + 100, batch="now")]
    assert len(asked) == len(set(asked)) == SIZE + 100


def test_before_answers_the_best_hub_is_hardly_more_than_twice_as_good_as_a_node_in_the_middle():
    graph = ag.star(2 * LARGE)
    learner = ag.Learner(graph, engine="direct", rng=0, classes=["left", "right"])
    scores = learner.scores()
    assert 1 < scores.max() / np.median(scores) <= 2.2


def test_a_question_on_an_engine_that_estimates_takes_few_solves(large):
    learner = learner_of(large, "iterative")
    assert not learner.field.prior.exact
    before = int(learner.field.spread.known.sum())
    learner.question()
    assert int(learner.field.spread.known.sum()) - before <= COLUMNS


def test_the_rule_comes_with_influence_alone_and_is_no_option():
    assert Handful() in ag.Plan.of("influence").rules
    assert not any(isinstance(rule, Handful) for rule in ag.Plan.of("tv").rules)
    assert ag.Plan.of(**ag.Plan.of().options()) == ag.Plan.of()
    with pytest.raises(ag.SettingError, match="size"):
        Handful(0)
