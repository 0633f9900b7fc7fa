"""Intervals of numbers and probabilities of several classes are what docs/equations.md says, written without shortcuts."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student

import askgraph as ag
from askgraph.readouts.each_class import calibrated
from askgraph.readouts.number import spread
from tests.helpers.engines import close
from tests.helpers.graphs import random_graph

N = 12


def told(answers, kind, seed):
    """A learner that was told these answers, and the nodes without one."""
    rng = np.random.default_rng(seed)
    learner = ag.Learner(ag.Graph(random_graph(rng, N)), answers=kind, rng=0)
    nodes = rng.permutation(N)[: len(answers)].tolist()
    learner.tell_all(dict(zip(nodes, answers, strict=True)))
    return learner, np.setdiff1d(np.arange(N), nodes)


def test_the_range_of_a_number_is_that_of_students_t():
    learner, rest = told([3.0, 5.5, 4.0, 7.0, 2.5, 6.0], "numbers", 3)
    _, low, high = learner.predict(interval=0.9)
    made, times = spread(learner.field, "identity"), student.ppf(0.95, 5)
    close(high[rest], (made.mean + times * made.scale)[rest], 1e-10)
    close(low[rest], (made.mean - times * made.scale)[rest], 1e-10)


def test_votes_of_several_classes_become_probabilities_by_their_logits():
    learner, rest = told([["a"], ["a", "b"], [], ["b"], ["a"], ["a", "b"]], "several", 4)
    found, votes = calibrated(learner.field), learner.field.votes
    shares, (a, b, c) = (np.array([4, 3]) + 0.5) / 7, found.weights
    h = np.clip(votes[:, 1:] + (1 - np.clip(votes[:, :1], 0, 1)) * shares, 1e-3, 1 - 1e-3)
    p = np.clip(expit(a + b * logit(h) + c * logit(shares)), 1e-3, 1 - 1e-3)
    close(found.shares, shares, 1e-12)
    close(learner.probabilities()[rest], p[rest], 1e-10)
