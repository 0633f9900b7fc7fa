"""A field observes rows of numbers, whatever they mean: answers that are not one class each follow the same laws."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers.coding import Classes
from askgraph.answers.numbers import Values
from askgraph.answers.several import ClassSets
from askgraph.field.leave_one_out import left_out
from askgraph.readouts import View
from tests.helpers.draws import given, settings, st
from tests.helpers.engines import ABROAD, ENGINES, PETSC_BLOCKS, SPARSE, close, here
from tests.helpers.graphs import random_graph

over_engines = pytest.mark.parametrize("engine", [*ENGINES, *SPARSE, *ABROAD, PETSC_BLOCKS], ids=str)


def a_set(rng, classes):
    return tuple(np.flatnonzero(rng.random(classes) < 0.5).tolist())


def shares(rng, classes):
    parts = rng.dirichlet(np.ones(classes)) * rng.choice([0.6, 1.0])
    return tuple(enumerate(parts.tolist()))


CODINGS = {  # by kind of answer: a function from a number of classes to a coding, and one that draws an answer
    "classes": (Classes, lambda rng, classes: int(rng.integers(classes))),
    "shares": (Classes, shares),
    "numbers": (lambda classes: Values(), lambda rng, classes: float(rng.normal())),
    "numbers and logarithms": (lambda classes: Values(logs=True), lambda rng, classes: float(rng.lognormal())),
    "several classes": (lambda classes: ClassSets(classes + 1), a_set),
}


def by_the_book(W, delta, coding, told, noise):
    """h = G₀[:, L] (G₀[L, L] + γ²)⁻¹ Y."""
    G = np.linalg.inv(np.diag(W.sum(axis=0)) - W + delta * np.eye(len(W)))
    nodes = list(told)
    Y = coding.rows(list(told.values()))
    return G[:, nodes] @ np.linalg.solve(G[np.ix_(nodes, nodes)] + noise**2 * np.eye(len(nodes)), Y)


@over_engines
@pytest.mark.parametrize("kind", CODINGS)
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.4]))
def test_any_answers_are_observed_changed_forgotten_and_left_out(engine, kind, seed, noise):
    rng, (make, draw) = np.random.default_rng(seed), CODINGS[kind]
    W, delta, width = random_graph(rng, 9), 0.2, int(rng.integers(1, 4))
    coding, answers = make(width), [draw(rng, width) for _ in range(5)]
    nodes = [int(node) for node in rng.permutation(9)[:5]]
    field = engine.start(ag.Graph(W), delta, coding, noise=noise)
    for node, said in zip(nodes, answers, strict=True):
        field = field.observe(node, said)
    told = dict(zip(nodes, answers, strict=True))
    want = by_the_book(W, delta, coding, told, noise)
    close(field.votes, want, engine.tolerance)
    close(field.rebase().votes, want, 10 * engine.tolerance)
    close(View.of(field).counts, coding.rows(answers).sum(axis=0), 1e-12)
    other = {**told, nodes[1]: draw(rng, width)}
    close(field.relabel(nodes[1], other[nodes[1]]).votes, by_the_book(W, delta, coding, other, noise), engine.tolerance)
    rest = {node: said for node, said in told.items() if node != nodes[2]}
    close(field.forget(nodes[2]).votes, by_the_book(W, delta, coding, rest, noise), engine.tolerance)
    for now in (field, field.rebase()):
        left = left_out(now, every=True)
        at = here(left.nodes).tolist().index(nodes[2])
        close(left.votes[at], by_the_book(W, delta, coding, rest, noise)[nodes[2]], 10 * engine.tolerance)
        assert left.said[at] == told[nodes[2]]


@pytest.mark.parametrize("kind", CODINGS)
def test_columns_of_any_coding_are_taken_and_put_in_another_order(kind):
    rng, (make, draw) = np.random.default_rng(0), CODINGS[kind]
    coding = make(4)
    whole = kind.startswith("numbers")
    kept = list(range(coding.width)) if whole else [0, 4, 1] if kind.startswith("several") else [3, 0, 1]
    gone = [column for column in range(coding.width) if column not in kept]
    answers = [
        one for one in (draw(rng, 4) for _ in range(40)) if kind == "shares" or not coding.rows([one])[0, gone].any()
    ]
    answers = [tuple(part for part in one if part[0] in kept) for one in answers] if kind == "shares" else answers
    turned = [coding.renumbered(one, kept) for one in answers]
    assert np.array_equal(coding.arranged(kept).rows(turned), coding.rows(answers)[:, kept])
    assert [coding.answer(row) for row in coding.rows(answers)] == answers
    weights = rng.random(len(answers))
    close(coding.totals(answers, weights), weights @ coding.rows(answers), 1e-12)
    assert set(np.flatnonzero(coding.rows(answers).any(axis=0))) <= set(coding.touched(answers).tolist())
    assert coding.widened(answers).width >= coding.width


@over_engines
def test_columns_are_taken_and_put_in_another_order(engine):
    field = engine.start(ag.chain(6), 0.1, Classes(3)).observe(0, ((0, 0.5), (2, 0.5))).observe(5, 2)
    turned = field.arranged([2, 0])
    close(turned.votes, field.votes[:, [2, 0]], 1e-12)
    assert [x.said for x in turned.observations] == [((0, 0.5), (1, 0.5)), 0]
