"""The best classes of each node, read a few classes at a time, are those of the whole array of probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers import coding
from askgraph.readouts import READOUTS, Cautious, View, doubt, shares_preferred
from askgraph.readouts.by_class import best_classes, first_highest, ranked
from tests.helpers.draws import given, settings
from tests.helpers.engines import ABROAD, ENGINES, SHUFFLED, here
from tests.helpers.graphs import problems

WIDTHS = [2, 1_000]  # classes of a part


def narrow(monkeypatch, rows, classes):
    """Let a part have this many classes."""
    monkeypatch.setattr(coding, "PART_BYTES", 8 * rows * classes)


def same_best(p, found, best, tolerance=1e-11):
    """Raise AssertionError unless these classes are the best of each row of p, up to ties, and these are their probabilities."""
    p, found, best = here(p), here(found), here(best)
    np.testing.assert_allclose(np.take_along_axis(p, found, axis=1), best, atol=tolerance)
    np.testing.assert_allclose(best, -np.sort(-p, axis=1)[:, : best.shape[1]], atol=coding.TIE + tolerance)
    assert all(len(set(row)) == len(row) for row in found.tolist())


def told(engine, readout, classes, **options):
    graph, truth = ag.communities((20, 24, 16, 30), mean_degree=6, rng=1)
    learner = ag.Learner(graph, readout=readout, engine=engine.prior(graph, 0.05), classes=classes, rng=0, **options)
    learner.tell_all({node: int(truth[node]) for node in (0, 30, 50)})
    for node in (7, 40, 21, 66):
        learner.tell(node, int(truth[node]), noise=0.3 if node == 40 else None)
    return learner


@pytest.mark.slow
@pytest.mark.parametrize("engine", [*ENGINES, *ABROAD, SHUFFLED], ids=str)
@pytest.mark.parametrize("readout", [name for name in READOUTS if name != "reweighted"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_best_classes_are_those_of_all_probabilities(engine, readout, width, monkeypatch):
    narrow(monkeypatch, 90, width)
    learner = told(engine, readout, range(9))
    labels, best = learner.predict(top=3)
    same_best(learner.probabilities(), labels, best)
    assert labels[:, 0].tolist() == learner.predict().tolist()
    some, p = learner.predict([5, 3], top=3)
    assert some.tolist() == labels[[5, 3]].tolist()
    assert p.tolist() == best[[5, 3]].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, ids=str)
@settings(max_examples=25, deadline=None)
@given(problems())
def test_the_best_classes_on_any_graph(engine, problem):
    W, delta, classes, labels = problem
    field = engine.start(ag.Graph(W), delta, classes + 3)
    for node, label in labels:
        field = field.observe(node, label)
        for name, readout in READOUTS.items():
            if name == "reweighted":
                continue
            for top in (1, 2, classes + 3):
                p, (found, best) = readout(field), best_classes(field, readout, top)
                same_best(p, found, best)
                assert found[:, 0].tolist() == coding.decide(p).tolist()


@pytest.mark.parametrize("width", WIDTHS)
def test_doubt_by_class_is_doubt(width, monkeypatch):
    """Every neighbor is of another class: the class shares are mixed in, and both ways find the same signs of it."""
    whole, parts = (ag.Learner(ag.grid(8, 10), classes=range(5), rng=0) for _ in range(2))
    for learner in (whole, parts):
        learner.tell_all({node: (node // 10 + 2 * (node % 10)) % 3 for node in range(30)})
    signs, p = doubt(whole.field), Cautious()(whole.field)
    assert shares_preferred(whole.field) > 0.1
    narrow(monkeypatch, 80, width)
    assert doubt(parts.field) == pytest.approx(signs, abs=1e-12)
    same_best(p, *best_classes(parts.field, Cautious(), 2))


def test_classes_without_a_label_stand_for_each_other(monkeypatch):
    learner = told(ENGINES[0], "map", range(1_000))
    blocks = View.in_parts(learner.field, 2).blocks
    assert sum(len(block.classes) for block in blocks) == 6  # four with labels, and two of 996
    assert sum(float(block.repeats.sum()) for block in blocks) == 1_000
    labels, best = learner.predict(top=6)
    same_best(learner.probabilities(), labels, best)


def test_certain_labels_of_hubs_and_features():
    graph, truth = ag.communities((20, 24, 16, 30), mean_degree=6, rng=1)
    features = np.random.default_rng(0).standard_normal((90, 5)) + np.eye(5)[truth]
    for learner in (
        ag.Learner(ag.power_law(90, 3, rng=0), hubs="discount", rng=0),
        ag.Learner(graph, features=features, rng=0),
    ):
        for node in range(0, 45, 5):
            learner.tell(node, int(truth[node]))
        labels, best = learner.predict(top=3)
        same_best(learner.probabilities(), labels, best)
        assert best[:45:5, 0].tolist() == [1.0] * 9


def test_readouts_of_ones_own_and_suggestions_are_read_as_a_whole():
    def plain(field, votes=None, links=None):
        return coding.chances(field.votes)

    for readout in (plain, "reweighted"):
        learner = told(ENGINES[0], readout, None)
        same_best(learner.probabilities(), *learner.predict(top=2))
    learner = told(ENGINES[0], "cautious", None)
    learner.guesses.tell_all(dict.fromkeys(range(60, 80), 3))
    same_best(learner.probabilities(), *learner.predict(top=2))


def test_before_any_class_and_with_few():
    learner = ag.Learner(ag.chain(4), rng=0)
    labels, best = learner.predict(top=3)
    assert labels.shape == best.shape == (4, 0)
    learner.tell(0, "left")
    assert learner.predict(top=3)[0].tolist() == [["left"]] * 4
    for wrong in (0, -1, 1.5, "3"):
        with pytest.raises(ag.SettingError, match="top="):
            learner.predict(top=wrong)


def test_ties_go_to_the_class_named_first():
    p = np.array([[0.2, 0.4, 0.4 + 1e-12], [1 / 3, 1 / 3, 1 / 3]])
    found, best = ranked(p, 2)
    assert found.tolist() == [[1, 2], [0, 1]]
    assert best.tolist() == [[p[0, 1], p[0, 2]], [1 / 3, 1 / 3]]


def test_the_first_of_equal_values_across_parts(monkeypatch):
    narrow(monkeypatch, 90, 1)
    field = told(ENGINES[0], "map", range(9)).field
    view = View.in_parts(field, 1)
    decided, highest = first_highest(view, READOUTS["map"].by_block(view))
    p = READOUTS["map"](field)
    np.testing.assert_allclose(highest, p.max(axis=1), atol=1e-12)
    np.testing.assert_allclose(p[np.arange(90), decided], highest, atol=1e-12)


@pytest.mark.parametrize("utility", ["tv", "msd", "influence", "unc", "mc", "klg"])
def test_many_classes_change_no_question_and_no_vote(utility, monkeypatch):
    """Votes and scores that are computed part by part are those computed at once, before and after a rebase."""
    graph, truth = ag.communities((20, 24, 16, 30), mean_degree=6, rng=1)
    found = []
    for width in (3, 1_000):
        narrow(monkeypatch, 90, width)
        learner = ag.Learner(graph, utility, classes=range(9), rng=0, noise=0.1)
        asked = []
        for t in range(12):
            asked.append(learner.ask())
            learner.tell(asked[-1], int(truth[asked[-1]]), noise=0.0 if t % 2 else None)
            learner._state = learner._state._replace(field=learner.field.rebase() if t == 6 else learner.field)
        learner.relabel(asked[-1], 8)
        learner.retract(asked[-2])
        found.append((asked, learner.field.votes, learner.scores()))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12)
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-9)
