"""The scikit-learn face."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import askgraph as ag

PLUS_MINUS = {"check_classifiers_classes": "feeds {-1, +1} as classes; -1 means unlabeled here"}


@parametrize_with_checks([ag.GraphClassifier(random_state=0)], expected_failed_checks=lambda estimator: PLUS_MINUS)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_the_string_half_of_check_classifiers_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["one", "two", "three"])
    for labels in (names[y], names[y].astype(object)):
        model = ag.GraphClassifier(random_state=0).fit(X, labels)
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        np.testing.assert_array_equal(model.predict(X), labels)


def iris(known):
    X, y = load_iris(return_X_y=True)
    hidden = np.where(np.isin(np.arange(len(y)), known), y, -1)
    return X, y, hidden


def test_few_labels_classify_the_rest():
    X, y, hidden = iris([0, 10, 60, 70, 110, 120])
    model = ag.GraphClassifier(random_state=0).fit(X, hidden)
    assert (model.predict(X) == y).mean() > 0.85
    assert (model.predict(X[[0, 60]]) == [0, 1]).all()
    np.testing.assert_array_equal(model.transduction_, model.predict(X))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_query_and_partial_fit_are_a_loop():
    X, y, hidden = iris([0])
    model = ag.GraphClassifier(random_state=0).fit(X, hidden)
    asked = [0]
    for _ in range(15):
        (row,) = model.query()
        assert row not in asked
        asked.append(row)
        model.partial_fit(X[[row]], y[[row]])
    assert (model.predict(X) == y).mean() > 0.9
    assert list(model.classes_) == [0, 1, 2]
    assert len(set(model.query(5))) == 5


def test_rows_that_are_not_in_the_graph_read_the_field_there():
    X, y, _ = iris([])
    rng = np.random.default_rng(0)
    train = rng.permutation(150)[:100]
    test = np.setdiff1d(np.arange(150), train)
    model = ag.GraphClassifier(random_state=0).fit(X[train], y[train])
    assert (model.predict(X[test]) == y[test]).mean() > 0.9
    far = model.predict_proba(X[:1] + 1e6)
    assert np.isfinite(far).all()


def test_partial_fit_adds_rows_and_corrects_labels():
    X, y, _ = iris([])
    model = ag.GraphClassifier(random_state=0)
    model.partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    assert list(model.classes_) == [0, 1, 2]
    model.partial_fit(X[60:], y[60:])
    assert model.learner_.graph.n_nodes == len(np.unique(X[60:], axis=0)) + 60 or model.learner_.graph.n_nodes == 150
    assert (model.predict(X) == y).mean() > 0.98
    model.partial_fit(X[:1], [2])
    assert model.predict(X[:1])[0] == 2


def test_a_given_graph():
    graph, labels = ag.communities((30, 30), mean_degree=8, rng=0)
    hidden = np.full(60, -1)
    hidden[[0, 5, 31, 40]] = labels[[0, 5, 31, 40]] + 3
    model = ag.GraphClassifier(graph="precomputed", random_state=0).fit(graph.weights, hidden)
    assert (model.transduction_ == labels + 3).mean() > 0.9
    new = np.zeros((1, 60))
    new[0, :5] = 1.0
    assert model.predict(new)[0] == labels[0] + 3
    model.partial_fit(graph.weights, np.where(np.arange(60) == 50, labels + 3, -1))
    assert 50 in model.learner_.labels


def test_minus_one_and_plus_one_get_advice():
    X, y, _ = iris([])
    with pytest.raises(ag.LabelError, match="recode"):
        ag.GraphClassifier().fit(X, np.where(y == 0, -1, 1))


def test_no_labels_can_be_asked_for_but_not_predicted():
    X, _, hidden = iris([])
    model = ag.GraphClassifier(random_state=0).fit(X, hidden)
    assert 0 <= model.query()[0] < 150
    with pytest.raises(ag.LabelError, match="query"):
        model.predict(X)


def test_equal_rows_are_answered_together():
    X, y, hidden = iris([0, 60, 120])  # rows 101 and 142 of iris are equal
    model = ag.GraphClassifier(random_state=0).fit(X, hidden)
    asked = []
    while (rows := model.query()).size:
        asked.append(int(rows[0]))
        model.partial_fit(X[rows], y[rows])
    assert len(asked) == len(set(asked)) <= 147
    assert len(model.learner_.labels) == 150


def test_unknown_graphs_and_text_for_unlabeled_get_advice():
    X, y, _ = iris([])
    with pytest.raises(ag.SettingError, match="precomputed"):
        ag.GraphClassifier(graph="precompute").fit(X, y)
    with pytest.raises(ag.LabelError, match="None"):
        ag.GraphClassifier().fit(X, np.where(y == 0, "-1", y.astype(str)))
