"""Where the graph does not predict the labels: the signs as they are written down, and the readout that falls back."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.field.leave_one_out import left_out
from askgraph.readouts import Cautious, Consensus, Mass, doubt
from askgraph.readouts.temperature import from_others
from tests.helpers.engines import ABROAD, ENGINES, SHUFFLED

over_engines = pytest.mark.parametrize("engine", [*ENGINES, *ABROAD, SHUFFLED], ids=str)


def saying_nothing(seed, shares=(0.5, 0.3, 0.2), n=150):
    """A graph of neighbors in the plane, and labels that have nothing to do with it."""
    rng = np.random.default_rng(seed)
    return ag.nearest_neighbors(rng.normal(size=(n, 2)), 10), rng.choice(len(shares), n, p=shares)


def told(engine, graph, truth, count):
    field = engine.start(graph, 0.01, int(truth.max()) + 1, squares=False)
    for node in np.random.default_rng(1).permutation(graph.n_nodes)[:count].tolist():
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
    counts = np.bincount([x.label for x in field.labels])
    cost = [-np.log(0.98 * row[label] + 0.02 / 3) for row, label in zip(others, left.labels, strict=True)]
    by_shares = [-np.log((counts[label] - 0.5) / (29 + 1.5)) for label in left.labels]
    found = doubt(field)
    assert found.labels == 30
    assert found.apart == pytest.approx((p.argmax(axis=1) != mass.argmax(axis=1)).mean())
    assert found.unsure == pytest.approx(1 - p.max(axis=1).mean())
    assert found.surprising == pytest.approx(sum(cost) / sum(by_shares))
    assert found.largest == pytest.approx(counts.max() / 30)
    assert found.one_sided == pytest.approx(max((p.argmax(axis=1) == c).mean() for c in (0, 1, 2)))


@pytest.mark.slow
@over_engines
def test_class_shares_are_predicted_where_the_graph_says_nothing(engine):
    fell = 0
    for seed in range(6):
        graph, truth = saying_nothing(seed)
        field = told(engine, graph, truth, 40)
        p, labeled = field.space.gather(Cautious()(field)), field.space.gather(field.labeled)
        if doubt(field).falls_back:
            shares = (np.bincount([x.label for x in field.labels]) + 1) / 43
            np.testing.assert_allclose(p[~labeled], np.tile(shares, (110, 1)), atol=1e-9)
            assert (p[labeled].argmax(axis=1) == truth[labeled]).all()
            fell += 1
        else:
            np.testing.assert_array_equal(p, field.space.gather(Consensus()(field)))
    assert fell > 0


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
                assert not doubt(step.field).falls_back


def test_few_labels_one_class_and_all_labeled_leave_no_doubt():
    graph, truth = saying_nothing(0)
    assert not doubt(told(ENGINES[0], graph, truth, 0)).grave
    assert not doubt(told(ENGINES[0], graph, truth, 17)).warns
    assert not doubt(told(ENGINES[0], graph, np.zeros_like(truth), 60)).warns
    assert not doubt(told(ENGINES[0], graph, truth, 150)).warns
    assert Cautious()(told(ENGINES[0], graph, truth, 150)).argmax(axis=1).tolist() == truth.tolist()


def test_rows_outside_the_graph_take_the_shares_too():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(150, 2)), rng.choice(3, 150, p=(0.5, 0.3, 0.2))
    known = np.where(np.arange(150) < 60, y, -1)
    model = ag.GraphClassifier(k=10, random_state=0).fit(X, known)
    assert doubt(model.learner_.field).falls_back
    new = model.predict_proba(rng.normal(size=(4, 2)))
    np.testing.assert_allclose(new, np.tile(new[0], (4, 1)))
    assert new[0].argmax() == np.bincount(y[:60]).argmax()
