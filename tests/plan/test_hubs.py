"""Hubs: their labels count for less, by as much as other labels say; any sampler may leave them out."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.plan.hubs import POINTS, POWERS, HubDiscount, discount_of, power_of
from askgraph.readouts.temperature import from_all_others, from_others
from askgraph.utilities import CRITERIA
from tests.helpers.engines import ABROAD, ENGINES, SHUFFLED, close, here
from tests.helpers.graphs import random_labels

over_engines = pytest.mark.parametrize("engine", [*ENGINES, *ABROAD, SHUFFLED], ids=str)


def hubbed(seed=0, n=60, hubs=4):
    """A ring with weights, and a few nodes that are tied to a third of all others."""
    rng = np.random.default_rng(seed)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, (i + 1) % n] = W[(i + 1) % n, i] = rng.uniform(0.5, 2.0)
    for hub in rng.choice(n, hubs, replace=False):
        for other in np.flatnonzero(rng.random(n) < 1 / 3):
            if other != hub:
                W[hub, other] = W[other, hub] = rng.uniform(0.5, 2.0)
    return W


def crowding(W):
    counts = (W > 0).sum(axis=1)
    return np.maximum(counts / (2 * max(np.median(counts), 1)), 1)


def labels_of(seed, n=60, classes=3, count=14):
    """Labels at random nodes, two of them hubs."""
    W, rng = hubbed(seed), np.random.default_rng(seed)
    hubs = np.flatnonzero(crowding(W) > 1)[:2].tolist()
    others = [(node, label) for node, label in random_labels(rng, n, classes, count) if node not in hubs]
    return W, [(hubs[0], 0), *others, (hubs[1], 2)]


def told(engine, W, labels, power, noise=0.0, fold=0):
    field = engine.start(ag.Graph(W), 0.05, 3, noise=noise, discount=discount_of(power))
    for at, (node, label) in enumerate(labels):
        field = field.observe(node, label)
        field = field.rebase() if at + 1 == fold else field
    return field


def literally(W, labels, power, noise):
    """The votes and the covariance, with the label noise of each node as it is written down."""
    G = np.linalg.inv(np.diag(W.sum(axis=1) + 0.05) - W)
    nodes, Y = [node for node, _ in labels], np.eye(3)[[label for _, label in labels]]
    variance = noise**2 + (crowding(W) ** power - 1) / W.sum(axis=1)
    K = G[np.ix_(nodes, nodes)] + np.diag(variance[nodes])
    columns = G[:, nodes]
    return columns @ np.linalg.solve(K, Y), G - columns @ np.linalg.solve(K, columns.T), variance


@pytest.mark.slow
@over_engines
@pytest.mark.parametrize(("power", "noise", "fold"), [(1.0, 0.0, 0), (2.0, 0.0, 6), (0.5, 0.2, 0)])
def test_a_field_with_hubs_is_what_is_written_down(engine, power, noise, fold):
    for seed in range(2):
        W, labels = labels_of(seed)
        field = told(engine, W, labels, power, noise, fold).sharpen(np.arange(60))
        votes, G, variance = literally(W, labels, power, noise)
        whole = field.space.gather
        close(whole(field.votes), votes, 10 * engine.tolerance)
        close(whole(field.columns(np.arange(60))), G, 10 * engine.tolerance)
        close(whole(field.spread.variance), np.diag(G), 10 * engine.tolerance)
        close(whole(field.spread.influence_l1), G.sum(axis=0), 10 * engine.tolerance)
        rows = np.flatnonzero(~field.labeled)
        nodes = here(field.space.nodes_of(rows))
        want = G.sum(axis=0)[nodes] ** 2 / (np.diag(G) + variance)[nodes]
        close(CRITERIA["sigma"].score(field, rows, 0.0, "derived", "mean"), want, 10 * engine.tolerance)


@pytest.mark.slow
@over_engines
@pytest.mark.parametrize("fold", [0, 6, 16])
def test_another_power_is_as_if_it_had_been_so_from_the_start(engine, fold):
    W, labels = labels_of(3)
    field, other = told(engine, W, labels, 1.0, fold=fold), told(engine, W, labels, 2.0)
    changed = field.reweighted(HubDiscount(2.0))
    every = np.arange(60)
    changed, other = changed.sharpen(every), other.sharpen(every)
    close(changed.votes, other.votes, 10 * engine.tolerance)
    close(changed.columns(every), other.columns(every), 10 * engine.tolerance)
    close(changed.spread.variance, other.spread.variance, 10 * engine.tolerance)
    close(changed.spread.influence_l1, other.spread.influence_l1, 10 * engine.tolerance)
    assert field.reweighted(HubDiscount(1.0)) is field
    more = [f.observe(int(np.setdiff1d(every, [node for node, _ in labels])[0]), 1).votes for f in (changed, other)]
    close(*more, 10 * engine.tolerance)


def losses_literally(learner, labels):
    """-Σ ln p at labels of nodes that are no hubs, each from a field without the label."""
    codes = {node: learner.classes.index(label) for node, label in labels.items()}
    counts = np.bincount(list(codes.values()), minlength=len(learner.classes))
    found = {}
    for power in POWERS:
        field = ag.Field.start(learner.field.origin, len(learner.classes), discount=discount_of(power))
        for node, code in codes.items():
            field = field.observe(node, code)
        left, p = from_others(field)
        ordinary = [
            at
            for at, (node, code) in enumerate(zip(left.nodes.tolist(), left.said.tolist(), strict=True))
            if field.origin.crowding[node] == 1 and counts[code] > 1
        ]
        found[power] = -sum(np.log(0.98 * p[at, left.said[at]] + 0.02 / len(counts)) for at in ordinary)
    return found


@pytest.mark.slow
def test_labels_of_other_nodes_choose_how_much_hubs_count():
    powers = set()
    for seed in range(12):
        W, rng = hubbed(seed, 120, 8), np.random.default_rng(seed)
        hub = crowding(W) > 1
        truth = np.repeat([0, 1], 60)
        if seed % 3 == 0:
            truth = np.where(hub, 1 - truth, truth)  # hubs say the opposite of their neighbors
        elif seed % 3 == 1:
            truth = rng.integers(0, 2, 120)
        learner = ag.Learner(ag.Graph(W), rng=seed, classes=[0, 1])
        assert power_of(learner.field) == POWERS[0]
        for step in learner.run(lambda node, truth=truth: int(truth[node]), 20):
            if step.field.held in POINTS:
                losses = losses_literally(learner, learner.labels)
                best = min(losses, key=losses.get)
                want = best if losses[best] + 0.5 < losses[1.0] else 1.0
                assert power_of(learner.field) == want
        powers.add(power_of(learner.field))
        assert (learner.predict(list(learner.labels)) == list(learner.labels.values())).all()
    assert len(powers) > 1


def test_a_choice_is_undone_with_the_label_it_rests_on_and_is_the_same_told_at_once(tmp_path):
    W, truth = hubbed(2, 120, 8), np.random.default_rng(2).integers(0, 2, 120)
    learner, before = ag.Learner(ag.Graph(W), rng=0, classes=[0, 1]), []
    for _ in range(13):
        before.append((learner.ask(), power_of(learner.field), learner.field.votes))
        learner.tell(learner.ask(), int(truth[learner.ask()]))
    at_once = ag.Learner(ag.Graph(W), rng=0, classes=[0, 1])
    at_once.tell_all(learner.labels)
    assert power_of(at_once.field) == power_of(learner.field)
    np.testing.assert_allclose(at_once.field.votes, learner.field.votes, atol=1e-9)
    for state in (False, True):
        learner.save(tmp_path / "learner.npz", state=state)
        again = ag.Learner.load(tmp_path / "learner.npz")
        assert again.ask() == learner.ask()
        assert power_of(again.field) == power_of(learner.field)
        np.testing.assert_allclose(again.probabilities(), learner.probabilities(), atol=1e-9)
    for question, power, votes in reversed(before):
        learner.undo()
        assert (learner.ask(), power_of(learner.field)) == (question, power)
        np.testing.assert_allclose(learner.field.votes, votes, atol=1e-9)


def test_only_labels_that_are_held_choose():
    W, truth = hubbed(2, 120, 8), np.random.default_rng(2).integers(0, 2, 120)
    learner = ag.Learner(ag.Graph(W), rng=0, classes=[0, 1])
    for step in learner.run(lambda node: int(truth[node]), 20):
        if step.field.held % 3 == 0:
            learner.relabel(step.node, 1 - int(truth[step.node]))
            learner.relabel(step.node, int(truth[step.node]))
        if step.field.held % 5 == 0:
            learner.retract(step.node)
            learner.tell(step.node, int(truth[step.node]))
    plain = ag.Learner(ag.Graph(W), rng=0, classes=[0, 1])
    for node, label in learner.labels.items():
        plain.tell(node, label)
    assert power_of(plain.field) == power_of(learner.field)
    assert plain.ask() == learner.ask()
    np.testing.assert_allclose(plain.field.votes, learner.field.votes, atol=1e-9)


def test_prefetch_changes_no_question():
    W, truth = hubbed(5, 120, 8), np.random.default_rng(5).integers(0, 2, 120)
    plain, ahead = (ag.Learner(ag.Graph(W), rng=0, classes=[0, 1]) for _ in range(2))
    for _ in range(14):
        assert plain.ask() == ahead.ask()
        node = plain.ask()
        ahead.prefetch()
        while ahead._following.running:
            pass
        for learner in (plain, ahead):
            learner.tell(node, int(truth[node]))
        assert power_of(plain.field) == power_of(ahead.field)


@over_engines
def test_every_engine_asks_the_same_about_hubs(engine):
    W = hubbed(1, 60)
    hub = crowding(W) > 1
    for how in ("skip", "discount"):
        learner = ag.Learner(
            ag.Graph(W), engine=engine.prior(ag.Graph(W), 0.05), delta=0.05, hubs=how, rng=0, classes=[0, 1, 2]
        )
        asked = [step.node for step in learner.run(lambda node: node % 3, 12)]
        assert not hub[[node for node in asked[1:] if how == "skip"]].any()
        assert not hub[asked[3::4]].any()


@pytest.mark.parametrize("sampler", ["tv", "msd", "vm", "sigma", "unc", "klg", "influence", "eer", "mc", "dial"])
def test_any_sampler_may_skip_hubs_until_nothing_else_is_left(sampler):
    W = hubbed(0, 30, 3)
    hub = crowding(W) > 1
    learner = ag.Learner(ag.Graph(W), sampler, hubs="skip", first="utility", delta=0.05, rng=0, classes=[0, 1])
    assert not hub[learner.ask(5)].any()
    assert not hub[[found.node for found in learner.question(5, batch="now")]].any()
    asked = [step.node for step in learner.run(lambda node: node % 2, 30)]
    assert hub[asked].tolist() == sorted(hub.tolist())
    assert power_of(learner.field) == 0


def test_the_papers_samplers_know_no_hubs():
    W = hubbed(0)
    for sampler in ("tv", "msd", "sigma", "random"):
        assert power_of(ag.Learner(ag.Graph(W), sampler).field) == 0
    assert power_of(ag.Learner(ag.Graph(W)).field) == POWERS[0]
    assert power_of(ag.Learner(ag.grid(5, 5)).field) == 0
    with pytest.raises(ag.SettingError, match="'discount' or 'skip' or 'ask'"):
        ag.Learner(ag.Graph(W), hubs="leave")


@pytest.mark.slow
@over_engines
@pytest.mark.parametrize("seed", range(3))
def test_ranking_all_labels_hears_hubs_like_other_nodes(engine, seed):
    W, labels = labels_of(seed)
    (left, p), (want, q) = (
        from_all_others(told(engine, W, labels, 2.0)),
        from_others(told(engine, W, labels, 0.0), True),
    )
    assert left.nodes.tolist() == want.nodes.tolist()
    close(p, q, 100 * engine.tolerance)


def test_a_first_question_drawn_at_random_needs_no_inverse(monkeypatch):
    def inverted(_):
        raise AssertionError("the inverse was computed before a label came")

    monkeypatch.setattr("askgraph.priors.dense._inverted", inverted)
    learner = ag.Learner(ag.Graph(hubbed()), engine="dense", rng=0)
    assert (learner.field.origin.crowding > 1).any()
    node = learner.ask()
    with pytest.raises(AssertionError, match="before a label"):
        learner.tell(node, "a")
