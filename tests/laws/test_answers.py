"""A field observes rows of numbers, whatever they mean: answers that are not one class each follow the same laws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers.coding import Classes
from askgraph.field import Observation
from askgraph.field.leave_one_out import left_out
from askgraph.readouts import View
from tests.helpers.draws import given, settings, st
from tests.helpers.engines import ABROAD, ENGINES, PETSC_BLOCKS, SPARSE, close, here
from tests.helpers.graphs import random_graph

over_engines = pytest.mark.parametrize("engine", [*ENGINES, *SPARSE, *ABROAD, PETSC_BLOCKS], ids=str)


@dataclass(frozen=True)
class Numbers:
    """An answer is a tuple of numbers, one per column: shares of classes, several classes, or a measurement."""

    width: int

    def rows(self, said):
        return np.array(said, dtype=float).reshape(-1, self.width)

    def touched(self, said):
        return np.flatnonzero(self.rows(said).any(axis=0))

    def totals(self, said, weights=None):
        rows = self.rows(said)
        return (rows if weights is None else rows * weights[:, None]).sum(axis=0)

    def widened(self, said):
        return self

    def arranged(self, columns):
        return Numbers(len(columns))

    def renumbered(self, said, columns):
        return tuple(said[column] for column in columns)


@dataclass(frozen=True)
class Several:
    """An answer is a set of classes: 1 in the column of each, and a row of zeros for none of them."""

    width: int

    def rows(self, said):
        return np.array([[float(column in one) for column in range(self.width)] for one in said]).reshape(
            -1, self.width
        )

    def touched(self, said):
        return np.array(sorted(set().union(*said)), dtype=np.int64)

    def totals(self, said, weights=None):
        rows = self.rows(said)
        return (rows if weights is None else rows * weights[:, None]).sum(axis=0)

    def widened(self, said):
        return Several(max([self.width, *(column + 1 for one in said for column in one)]))

    def arranged(self, columns):
        return Several(len(columns))

    def renumbered(self, said, columns):
        return frozenset(list(columns).index(column) for column in said)


CODINGS = {  # by kind of answer: a function from a width to a coding, and one that draws an answer
    "classes": (Classes, lambda rng, width: int(rng.integers(width))),
    "numbers": (Numbers, lambda rng, width: tuple(rng.normal(size=width).tolist())),
    "several classes": (Several, lambda rng, width: frozenset(np.flatnonzero(rng.random(width) < 0.5).tolist())),
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
    coding, kept = make(4), [3, 0, 1]
    answers = [one for one in (draw(rng, 4) for _ in range(40)) if coding.rows([one])[0, 2] == 0 or kind == "numbers"]
    turned = [coding.renumbered(one, kept) for one in answers]
    assert np.array_equal(coding.arranged(kept).rows(turned), coding.rows(answers)[:, kept])
    weights = rng.random(len(answers))
    close(coding.totals(answers, weights), weights @ coding.rows(answers), 1e-12)
    assert set(np.flatnonzero(coding.rows(answers).any(axis=0))) <= set(coding.touched(answers).tolist())
    assert coding.widened(answers).width >= coding.width


@over_engines
def test_columns_are_taken_and_put_in_another_order(engine):
    field = engine.start(ag.chain(6), 0.1, Numbers(3)).observe(0, (1.0, 0.5, 0.0)).observe(5, (0.0, 0.5, 2.0))
    turned = field.arranged([2, 0])
    close(turned.votes, field.votes[:, [2, 0]], 1e-12)
    assert turned.observations[1] == Observation(5, (2.0, 0.0), 0.0, field.observations[1].scale)
