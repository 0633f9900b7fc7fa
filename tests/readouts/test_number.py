"""Numbers and several classes are read as the formulas of docs/equations.md say, written without shortcuts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student

import askgraph as ag
from askgraph.answers.numbers import Values
from askgraph.field.leave_one_out import supposed_in
from askgraph.readouts.each_class import calibrated
from askgraph.readouts.number import fit, loss, numbers_left_out, spread
from tests.helpers.engines import close
from tests.helpers.graphs import random_graph

N, DELTA, NOISE = 12, 0.2, 0.4
over_links = pytest.mark.parametrize("link", ["identity", "log"])


def told(seed=0, t=6):
    rng = np.random.default_rng(seed)
    W = random_graph(rng, N)
    return W, rng.permutation(N)[:t].tolist(), rng.lognormal(2, 0.5, size=t).tolist()


def field_of(W, nodes, y):
    field = ag.Field.start(ag.prior(ag.Graph(W), delta=DELTA, engine="dense"), Values(logs=True), noise=NOISE)
    for node, number in zip(nodes, y, strict=True):
        field = field.observe(node, number)
    return field


def plain(W, nodes, y, link):
    """The trend, the unit, and the mean and the scale of another answer at every node."""
    z = np.log(y) if link == "log" else np.array(y)
    G = np.linalg.inv(np.diag(W.sum(axis=0)) - W + DELTA * np.eye(N))
    K, one = G[np.ix_(nodes, nodes)] + NOISE**2 * np.eye(len(nodes)), np.ones(len(nodes))
    inverse, S = np.linalg.inv(K), G[:, nodes] @ np.linalg.inv(K)
    m = one @ inverse @ z / (one @ inverse @ one)
    variance = (z - m) @ inverse @ (z - m) / (len(z) - 1)
    left = G.diagonal() - np.einsum("il,il->i", S, G[:, nodes]) + NOISE**2 + (1 - S @ one) ** 2 / (one @ inverse @ one)
    return m, variance, m + S @ (z - m), np.sqrt(variance * left), K


@over_links
def test_the_trend_the_unit_and_the_spread_of_numbers(link):
    W, nodes, y = told()
    m, variance, mean, scale, _ = plain(W, nodes, y, link)
    field = field_of(W, nodes, y)
    found = fit(field, link)
    close([found.mean, found.variance, found.degrees], [m, variance, 5], 1e-10)
    close(spread(field, link).mean, mean, 1e-10)
    close(spread(field, link).scale, scale, 1e-10)


@over_links
def test_a_number_left_out_is_what_all_others_say_of_it(link):
    W, nodes, y = told(1)
    left = numbers_left_out(field_of(W, nodes, y), link, every=True)
    at = left.nodes.tolist().index(nodes[2])
    others = [k for k in range(6) if k != 2]
    _, variance, mean, scale, _ = plain(W, [nodes[k] for k in others], [y[k] for k in others], link)
    close(left.mean[at], mean[nodes[2]], 1e-10)
    of_all = plain(W, nodes, y, link)[1]
    close(left.scale[at], scale[nodes[2]] * np.sqrt(of_all / variance), 1e-10)


def test_likelihoods_of_numbers_differ_as_those_of_the_plain_formula():
    W, nodes, y = told(2)
    prior = ag.prior(ag.Graph(W), delta=DELTA, engine="dense")
    labels = field_of(W, nodes, y).observations
    found, want = [], []
    for link, coding in (("identity", Values()), ("log", Values(logs=True))):
        _, variance, *_, K = plain(W, nodes, y, link)
        one = np.ones(6)
        cost = 2.5 * np.log(variance) + np.linalg.slogdet(K)[1] / 2 + np.log(one @ np.linalg.solve(K, one)) / 2
        want.append(cost + (5 * np.mean(np.log(y)) if link == "log" else 0))
        found.append(loss(supposed_in(prior, labels, coding), link))
    close(found, want, 1e-10)


def test_the_range_of_a_number_is_that_of_students_t():
    W, nodes, y = told(3)
    learner = ag.Learner(ag.Graph(W), answers="numbers", rng=0)
    learner.tell_all(dict(zip(nodes, y, strict=True)))
    _, low, high = learner.predict(interval=0.9)
    rest = [node for node in range(N) if node not in nodes]
    made = spread(learner.field, "identity")
    close(high[rest], (made.mean + student.ppf(0.95, 5) * made.scale)[rest], 1e-10)
    close(low[rest], (made.mean - student.ppf(0.95, 5) * made.scale)[rest], 1e-10)


def test_votes_of_several_classes_become_probabilities_by_their_logits():
    W, nodes, _ = told(4)
    learner = ag.Learner(ag.Graph(W), answers="several", rng=0)
    learner.tell_all(dict(zip(nodes, (["a"], ["a", "b"], [], ["b"], ["a"], ["a", "b"]), strict=True)))
    found, votes = calibrated(learner.field), learner.field.votes
    shares = (np.array([4, 3]) + 0.5) / 7
    a, b, c = found.weights
    h = np.clip(votes[:, 1:] + (1 - np.clip(votes[:, :1], 0, 1)) * shares, 1e-3, 1 - 1e-3)
    rest = [node for node in range(N) if node not in nodes]
    close(found.shares, shares, 1e-12)
    close(
        learner.probabilities()[rest], np.clip(expit(a + b * logit(h) + c * logit(shares)), 1e-3, 1 - 1e-3)[rest], 1e-10
    )
