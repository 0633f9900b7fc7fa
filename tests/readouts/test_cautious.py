"""Where the graph does not predict the labels: signs and agreement as they are written down, and the readout that mixes."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers import coding
from askgraph.field.leave_one_out import left_out
from askgraph.priors.features import linear_part
from askgraph.readouts import Cautious, Consensus, Mass, doubt, shares_preferred
from askgraph.readouts.agreement import Agreement, neighbors_agree
from askgraph.readouts.cautious import class_shares
from askgraph.readouts.temperature import from_others
from tests.helpers.engines import ABROAD, ENGINES, SHUFFLED

over_engines = pytest.mark.parametrize("engine", [*ENGINES, *ABROAD, SHUFFLED], ids=str)


def saying_nothing(seed, shares=(0.5, 0.3, 0.2), n=150):
    """A graph of neighbors in the plane, and labels that have nothing to do with it."""
    rng = np.random.default_rng(seed)
    return ag.nearest_neighbors(rng.normal(size=(n, 2)), 10), rng.choice(len(shares), n, p=shares)


def differing():
    """A lattice on which every neighbor is of another class, of three."""
    return ag.grid(10, 15), np.add.outer(np.arange(10), 2 * np.arange(15)).ravel() % 3


def drawn(count, n=150):
    return np.random.default_rng(1).permutation(n)[:count].tolist()


def told(engine, graph, truth, count):
    field = engine.start(graph, 0.01, int(truth.max()) + 1, squares=False)
    for node in drawn(count, graph.n_nodes):
        field = field.observe(node, int(truth[node]))
    return field


@over_engines
@pytest.mark.parametrize("seed", [0, 1])
def test_the_signs_are_what_is_written_down(engine, seed):
    graph, truth = saying_nothing(seed)
    field = told(engine, graph, truth, 30)
    whole, rest = field.space.gather, field.space.gather(~field.labeled)
    p, mass = whole(Consensus()(field))[rest], whole(Mass()(field))[rest]
    left, others = from_others(field)
    assert left.nodes.tolist() == left_out(field).nodes.tolist()
    counts = np.bincount([x.said for x in field.observations])
    cost = [-np.log(0.98 * row[label] + 0.02 / 3) for row, label in zip(others, left.said, strict=True)]
    by_shares = [-np.log((counts[label] - 0.5) / (29 + 1.5)) for label in left.said]
    found = doubt(field)
    assert found.labels == 30
    assert found.apart == pytest.approx((p.argmax(axis=1) != mass.argmax(axis=1)).mean())
    assert found.unsure == pytest.approx(1 - p.max(axis=1).mean())
    assert found.surprising == pytest.approx(sum(cost) / sum(by_shares))
    assert found.largest == pytest.approx(counts.max() / 30)
    assert found.one_sided == pytest.approx(max((p.argmax(axis=1) == c).mean() for c in (0, 1, 2)))


@over_engines
@pytest.mark.parametrize("width", [1, 1_000])
def test_neighbors_agree_as_it_is_written_down(engine, width, monkeypatch):
    monkeypatch.setattr(coding, "PART_BYTES", 8 * 150 * width)
    graph, truth = saying_nothing(0)
    truth[drawn(1)] = 3  # alone in its class
    field = told(engine, graph, truth, 40)
    labels, W = {x.node: x.said for x in field.observations}, graph.weights.toarray()
    shares, chances = [], []
    for node, label in labels.items():
        others = [other for other in labels if W[node, other] > 0]
        alike = [other for other in labels if other != node and labels[other] == label]
        if others and alike:
            shares.append(sum(W[node, j] for j in others if labels[j] == label) / sum(W[node, j] for j in others))
            chances.append(len(alike) / (len(labels) - 1))
    found = neighbors_agree(field)
    assert found == pytest.approx((len(shares) / 2, sum(shares) / 2, np.mean(chances)))


@pytest.mark.parametrize(
    ("hits", "trials", "chance"), [(0, 3, 0.3), (2.5, 9, 0.3), (9, 30, 0.3), (4, 4, 0.1), (0, 1, 0.9)]
)
def test_doubt_is_what_trials_add_to_the_probability_of_chance(hits, trials, chance):
    rates = (np.arange(200_000) + 0.5) / 200_000
    likely = rates**hits * (1 - rates) ** (trials - hits)
    below, above = 0.05 * likely[rates < chance].mean(), 0.95 * likely[rates > chance].mean()
    added = (below / (below + above) - 0.05) / 0.95
    assert Agreement(trials, hits, chance).doubt == pytest.approx(max(added, 0.0), abs=1e-4)


def test_there_is_no_doubt_without_trials_and_it_falls_with_every_hit():
    assert Agreement(0.0, 0.0, 0.0).doubt == Agreement(5.0, 5.0, 1.0).doubt == 0.0
    for trials in (2, 10, 300):
        doubts = [Agreement(trials, hits, 0.4).doubt for hits in range(trials + 1)]
        assert doubts == sorted(doubts, reverse=True)
        assert 0.0 <= doubts[-1] < doubts[0] <= 1.0


@pytest.mark.slow
@over_engines
def test_class_shares_are_mixed_in_as_far_as_neighbors_do_not_share_labels(engine):
    weights = []
    for count in (10, 20, 40):
        field = told(engine, *differing(), count)
        weight, shares = shares_preferred(field), (np.bincount([x.said for x in field.observations]) + 1) / (count + 3)
        p, whole, rest = Cautious()(field), field.space.gather, ~field.space.gather(field.labeled)
        mixed = (1 - weight) * whole(Consensus()(field)) + weight * shares
        np.testing.assert_allclose(whole(p)[rest], mixed[rest], atol=1e-9)
        assert (whole(p)[~rest].argmax(axis=1) == differing()[1][~rest]).all()
        weights.append(weight)
    assert 0.0 < weights[1] < weights[2]
    assert weights[2] > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_predictions_do_not_go_over_to_one_class_and_back(seed):
    """Weak communities and labels drawn at random: no reading loses more than a twentieth that the consensus does not lose."""
    graph, truth = ag.communities((300, 330, 370), mean_degree=8, mixing=0.4, rng=seed)
    learner, behind = ag.Learner(graph, "random", rng=seed), []
    for step in learner.run(lambda node: int(truth[node]), 60):
        rest, classes = ~step.field.labeled, np.array(learner.classes)
        right = [
            (classes[p.argmax(axis=1)] == truth)[rest].mean() for p in (Consensus()(step.field), Cautious()(step.field))
        ]
        behind.append(right[0] - right[1])
    assert np.diff(behind[3::4]).max() < 0.05


def test_features_that_predict_are_heard_where_neighbors_differ():
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    graph, X = ag.chain(60), rng.normal(size=(60, 4)) + 3 * np.eye(2, 4)[truth]  # every neighbor is of the other class
    learner = ag.Learner(graph, features=X, rng=0)
    learner.tell_all({node: int(truth[node]) for node in range(30)})
    assert shares_preferred(learner.field) < 0.05
    assert (learner.predict() == truth).mean() > 0.9
    alone = ag.Learner(graph, rng=0)
    alone.tell_all({node: int(truth[node]) for node in range(30)})
    assert shares_preferred(alone.field) > 0.9


def test_leave_one_out_is_heard_beside_features_that_do_not_count_too(tmp_path):
    """Labels that lie where classes meet: neighbors differ, and all other labels predict each."""
    truth = np.repeat([0, 1], 30)
    graph, features = ag.chain(60), linear_part(ag.chain(60), np.random.default_rng(0).normal(size=(60, 4)), False)
    said = {node: int(truth[node]) for node in [*range(0, 24, 6), 29, 30, *range(36, 60, 6)]}
    described, alone = ag.Learner(graph, features=features, rng=0), ag.Learner(graph, rng=0)
    for learner in (described, alone):
        learner.tell_all(said)
    assert not described.field.origin.signed
    assert shares_preferred(alone.field) > 0.05
    assert shares_preferred(described.field) < 0.01
    described.save(tmp_path / "learner.npz")
    assert shares_preferred(ag.Learner.load(tmp_path / "learner.npz").field) == shares_preferred(described.field)


@pytest.mark.slow
def test_nothing_is_said_on_graphs_that_predict_their_labels():
    for seed in range(5):
        for graph, truth in (
            ag.communities((100, 100, 100), mixing=0.3, rng=seed),
            ag.communities((80, 220), rng=seed),
        ):
            learner = ag.Learner(graph, rng=seed)
            for step in learner.run(lambda node, truth=truth: int(truth[node]), 40):
                assert not doubt(step.field).warns
                assert shares_preferred(step.field) < 0.1


def test_few_labels_one_class_and_all_labeled_leave_no_doubt():
    graph, truth = saying_nothing(0)
    assert not doubt(told(ENGINES[0], graph, truth, 0)).grave
    assert not doubt(told(ENGINES[0], graph, truth, 17)).warns
    assert not doubt(told(ENGINES[0], graph, np.zeros_like(truth), 60)).warns
    assert not doubt(told(ENGINES[0], graph, truth, 150)).warns
    assert shares_preferred(told(ENGINES[0], graph, np.zeros_like(truth), 60)) == 0.0
    assert Cautious()(told(ENGINES[0], graph, truth, 150)).argmax(axis=1).tolist() == truth.tolist()


def test_shares_are_mixed_into_rows_outside_the_graph_too():
    X, y = np.argwhere(np.ones((10, 15))).astype(float), differing()[1]
    known, new = np.where(np.isin(np.arange(150), drawn(60)), y, -1), np.array([[0.4, 3.2], [7.5, 9.1]])
    cautious, consensus = (
        ag.GraphClassifier(k=4, readout=readout, random_state=0).fit(X, known) for readout in ("cautious", "consensus")
    )
    field = cautious.learner_.field
    weight = shares_preferred(field)
    assert weight > 0.2
    mixed = (1 - weight) * consensus.predict_proba(new) + weight * class_shares(field)
    np.testing.assert_allclose(cautious.predict_proba(new), mixed, atol=1e-12)
