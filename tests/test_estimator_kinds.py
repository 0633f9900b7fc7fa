"""Several classes and ordered classes by GraphClassifier, and numbers by GraphRegressor."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import askgraph as ag
from askgraph.kinds.measured import quantile
from askgraph.readouts.number import fit

MISSING = {"check_supervised_y_no_nan": "NaN in y means not known; infinity is refused, which another test checks"}


@pytest.mark.slow
@parametrize_with_checks(
    [ag.GraphRegressor(random_state=0), ag.GraphRegressor(linear=True, random_state=0)],
    expected_failed_checks=lambda estimator: MISSING,
)
def test_scikit_learns_own_checks_of_the_regressor(estimator, check):
    # Promise 15
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([ag.GraphRegressor(graph="precomputed", random_state=0)])
def test_scikit_learns_own_checks_of_the_regressor_on_a_given_graph(estimator, check):
    # Promise 15
    check(estimator)


def digits(n=400, known=60, rng=0):
    """Return images of digits, which of four properties each digit has, and a table of these with rows of −1."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:n], y[:n]
    has = np.column_stack([y % 2 == 0, y > 6, y % 3 == 0, y == 1]).astype(int)
    hidden = np.where(np.isin(np.arange(n), np.random.default_rng(rng).permutation(n)[:known])[:, None], has, -1)
    return X, has, hidden


def test_several_classes_are_columns_of_y():
    X, has, hidden = digits(600, 80)
    model = ag.GraphClassifier(random_state=0).fit(X[:450], hidden[:450])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    made, p = model.predict(X), model.predict_proba(X)
    assert made.shape == p.shape == has.shape
    assert made.dtype.kind == "i"
    assert f1_score(has[450:], made[450:], average="micro") > 0.8
    assert model.score(X[450:], has[450:]) == (made[450:] == has[450:]).all(axis=1).mean()
    told = hidden[:450, 0] >= 0
    np.testing.assert_array_equal(made[:450][told], has[:450][told])
    np.testing.assert_array_equal(model.transduction_, made[:450])
    np.testing.assert_allclose(p[:450], model.learner_.probabilities(), atol=1e-12)
    assert not np.allclose(p.sum(axis=1), 1)


def test_rows_outside_the_graph_get_each_class_as_often_as_rows_inside():
    X, has, hidden = digits(1200, 100)
    model = ag.GraphClassifier(random_state=0).fit(X[:600], hidden[:600])
    rest = hidden[:600, 0] < 0
    inside, outside = model.predict(X[:600])[rest], model.predict(X[600:])
    np.testing.assert_allclose(inside.mean(axis=0), outside.mean(axis=0), atol=0.08)
    right = [f1_score(*pair, average="micro") for pair in ((has[:600][rest], inside), (has[600:], outside))]
    assert right[1] > right[0] - 0.08


def test_with_every_row_labeled_a_class_is_cut_by_what_the_labels_say_of_each_other():
    X, has, _ = digits(600)
    model = ag.GraphClassifier(random_state=0).fit(X[:400], has[:400])
    assert f1_score(has[400:], model.predict(X[400:]), average="micro") > 0.85


def test_functions_of_the_rows_may_be_added_for_every_kind_of_answers():
    X, has, hidden = digits(450, 60)
    model = ag.GraphClassifier(linear=True, random_state=0).fit(X[:350], hidden[:350])
    assert f1_score(has[350:], model.predict(X[350:]), average="micro") > 0.75
    x, y, numbers = diabetes()
    plain, linear = (ag.GraphRegressor(linear=how, random_state=0).fit(x[:300], numbers[:300]) for how in (False, True))
    assert linear.score(x[300:], y[300:]) > plain.score(x[300:], y[300:])
    mean, std = linear.predict(x[300:], return_std=True)
    half = quantile(0.95, fit(linear.learner_.field, "identity").degrees) * std
    assert 0.8 < (np.abs(y[300:] - mean) <= half).mean() < 1


def test_several_classes_are_asked_for_and_told_row_by_row():
    X, has, _ = digits(200)
    model = ag.GraphClassifier(random_state=0).fit(X, np.full((200, 4), np.nan))
    with pytest.raises(ag.LabelError, match="query"):
        model.predict(X)
    for _ in range(30):
        rows = model.query(2)
        model.partial_fit(X[rows], has[rows])
    assert len(model.learner_.labels) == 60
    assert f1_score(has, model.predict(X), average="micro") > 0.85
    model.partial_fit(X[rows[:1]], 1 - has[rows[:1]])
    np.testing.assert_array_equal(model.predict(X[rows[:1]]), 1 - has[rows[:1]])
    grown = model.partial_fit(np.vstack([X[:3], X[:3] + 0.5]), np.vstack([has[:3], has[:3]]))
    assert grown.learner_.graph.n_nodes == 203
    assert grown.predict(X[:3] + 0.5).tolist() == has[:3].tolist()


@pytest.mark.parametrize("kind", ["list", "nan", "bool", "sparse", "pandas", "gaps of pandas", "polars"])
def test_a_table_of_classes_is_the_same_whatever_holds_it(kind):
    X, has, hidden = digits(120, 30)
    want = ag.GraphClassifier(random_state=0).fit(X, hidden).predict(X)
    with_nan = np.where(hidden < 0, np.nan, hidden)
    given = {
        "list": hidden.tolist(),
        "nan": with_nan,
        "bool": has.astype(bool),
        "sparse": csr_array(has),
        "pandas": pd.DataFrame(with_nan),
        "gaps of pandas": pd.DataFrame(with_nan).astype("Int64"),
        "polars": pl.DataFrame({str(c): [None if x < 0 else int(x) for x in hidden[:, c]] for c in range(4)}),
    }[kind]
    if kind in ("bool", "sparse"):
        want = has
    np.testing.assert_array_equal(ag.GraphClassifier(random_state=0).fit(X, given).predict(X), want)


def test_tables_of_classes_that_do_not_fit_get_a_sentence():
    X, has, _ = digits(60)
    model = ag.GraphClassifier(random_state=0)
    partly = has.copy()
    partly[5, 1] = -1
    with pytest.raises(ag.LabelError, match=r"row 5 of y says only of some classes"):
        model.fit(X, partly)
    with pytest.raises(ag.LabelError, match="y has 2"):
        model.fit(X, 2 * has)
    with pytest.raises(ag.LabelError, match="not numbers"):
        model.fit(X, [["a", "b"]] * 60)
    with pytest.raises(ValueError, match="60 rows and y 59"):
        model.fit(X, has[:-1])
    with pytest.raises(ag.SettingError, match="one way only"):
        ag.GraphClassifier(readout="map").fit(X, has)
    model.fit(X, has)
    with pytest.raises(ag.LabelError, match="3 columns, and had 4"):
        model.partial_fit(X, has[:, :3])
    with pytest.raises(ag.LabelError, match="one label per row, and had 4"):
        model.partial_fit(X, has[:, 0])
    with pytest.raises(ag.LabelError, match="4 columns, and had one label"):
        ag.GraphClassifier(random_state=0).fit(X, has[:, 0]).partial_fit(X, has)


def test_a_column_of_labels_is_still_one_label_per_row():
    X, has, _ = digits(60)
    with pytest.warns(UserWarning, match="column-vector"):
        model = ag.GraphClassifier(random_state=0).fit(X, has[:, :1])
    assert model.classes_.tolist() == [0, 1]
    assert model.predict(X).shape == (60,)


def test_ordered_classes_are_predicted_by_their_median():
    graph = ag.chain(7)
    y = [1, -1, -1, -1, -1, -1, 5]
    model = ag.GraphClassifier(graph="precomputed", answers="ordered", delta=1e-6)
    model.fit(graph.weights, y).partial_fit(graph.weights, [-1, -1, -1, 3, -1, -1, -1])
    learner = ag.Learner(graph, answers="ordered", delta=1e-6, rng=0)
    learner.tell_all({0: 1, 6: 5, 3: 3})
    assert model.predict(graph.weights).tolist() == learner.predict().tolist()
    new = np.zeros((1, 7))
    new[0, [0, 3, 6]] = 1.0
    assert model.predict(new).tolist() == [3]
    steps = ag.GraphClassifier(graph="precomputed", answers=ag.Ordered(["low", "mid", "high"]), delta=1e-6)
    steps.fit(graph.weights, ["low", None, None, "mid", None, None, "high"])
    assert steps.predict(new).tolist() == ["mid"]
    assert steps.classes_.tolist() == ["high", "low", "mid"]
    assert clone(steps).answers == steps.answers
    for answers in ("numbers", "several", "best"):
        with pytest.raises(ag.SettingError, match="answers="):
            ag.GraphClassifier(answers=answers).fit([[0.0], [1.0]], [0, 1])


def diabetes(n=442, known=80):
    X, y = load_diabetes(return_X_y=True)
    rows = np.random.default_rng(0).permutation(442)[:n]
    X, y = X[rows] * 20, y[rows]
    return X, y, np.where(np.arange(n) < known, y, np.nan)


def test_numbers_are_predicted_inside_and_outside_the_graph():
    X, y, hidden = diabetes()
    model = ag.GraphRegressor(random_state=0).fit(X[:300], hidden[:300])
    learner = model.learner_
    np.testing.assert_array_equal(model.predict(X[:300]), learner.predict())
    np.testing.assert_array_equal(model.transduction_, learner.predict())
    np.testing.assert_array_equal(model.predict(X[:80]), y[:80])
    assert model.score(X[300:], y[300:]) > 0.2
    mean, std = model.predict(X[300:], return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X[300:]))
    half = quantile(0.95, fit(learner.field, "identity").degrees) * std
    assert 0.84 < (np.abs(y[300:] - mean) <= half).mean() < 1
    np.testing.assert_allclose(model.predict(X[:300], return_std=True)[1], learner.answers.deviation(learner._moment))


def kriged(Q, d, w, nodes, y, noise):
    """Universal kriging of one node more, by its joint covariance with the others: its mean and its variance, in s² and all."""
    G = np.linalg.inv(Q)
    cross = G @ (w / d)
    own = 1 / d + (w / d) @ G @ (w / d)
    K = G[np.ix_(nodes, nodes)] + noise**2 * np.eye(len(nodes))
    one, inverse = np.ones(len(nodes)), np.linalg.inv(K)
    m = one @ inverse @ y / (one @ inverse @ one)
    s2 = (y - m) @ inverse @ (y - m) / (len(nodes) - 1)
    k = cross[nodes]
    left = own - k @ inverse @ k + noise**2 + (1 - one @ inverse @ k) ** 2 / (one @ inverse @ one)
    return m + k @ inverse @ (y - m), np.sqrt(s2 * left)


@pytest.mark.parametrize("engine", ["dense", "direct"])
def test_a_row_outside_the_graph_is_kriged(engine):
    graph, _ = ag.communities((25, 25), mean_degree=6, rng=0)
    rng = np.random.default_rng(0)
    nodes, y = np.arange(0, 50, 4), rng.normal(size=13) * 3 + 100
    hidden = np.full(50, np.nan)
    hidden[nodes] = y
    model = ag.GraphRegressor(graph="precomputed", delta=0.05, engine=engine, random_state=0).fit(graph.weights, hidden)
    new = np.zeros((3, 50))
    new[0, [1, 7, 30]], new[1, :3] = (1.0, 2.0, 0.5), 3.0  # the last one is joined to nothing
    W = graph.weights.toarray()
    Q = np.diag(W.sum(axis=1) + 0.05) - W
    want = [kriged(Q, w.sum() + 0.05, w, nodes, y, model.learner_.field.noise) for w in new]
    np.testing.assert_allclose(np.column_stack(model.predict(new, return_std=True)), want, rtol=1e-8)


def test_where_variances_are_estimated_the_deviation_outside_the_graph_is_a_bound():
    X, _, hidden = diabetes()
    exact, rough = (ag.GraphRegressor(engine=name, delta=0.05, random_state=0).fit(X[:300], hidden[:300])
                    for name in ("dense", "iterative"))  # fmt: skip
    for model in (exact, rough):
        model.learner_._publish(model.learner_.field.with_noise(1.0), model.learner_.history)  # the same noise for both
    (mean, std), (other, bound) = (model.predict(X[300:], return_std=True) for model in (exact, rough))
    np.testing.assert_allclose(mean, other, rtol=1e-5)
    assert (bound > 0.95 * std).all()  # what it is made of is estimated
    assert np.median(bound / std) < 1.5


def test_nothing_depends_on_the_unit_or_on_the_mean():
    X, _, hidden = diabetes(200, 40)
    one, other = (ag.GraphRegressor(random_state=0).fit(X[:150], y[:150]) for y in (hidden, 1000 - 7 * hidden))
    (mean, std), (turned, wide) = (model.predict(X, return_std=True) for model in (one, other))
    np.testing.assert_allclose(1000 - 7 * mean, turned, rtol=1e-7)
    np.testing.assert_allclose(7 * std, wide, rtol=1e-7)
    np.testing.assert_array_equal(one.query(3), other.query(3))


def test_numbers_are_asked_for_and_told_row_by_row():
    X, y, _ = diabetes(200)
    model = ag.GraphRegressor(random_state=0).fit(X, np.full(200, np.nan))
    with pytest.raises(ag.LabelError, match="query"):
        model.predict(X)
    rows = model.query()
    model.partial_fit(X[rows], y[rows])
    assert model.predict(X[:2] + 0.1, return_std=True)[1].tolist() == [np.inf, np.inf]
    for _ in range(20):
        rows = model.query(2)
        model.partial_fit(X[rows], y[rows])
    assert len(model.learner_.labels) == 41
    model.partial_fit(X[rows[:1]], [-1.0])
    assert model.predict(X[rows[:1]])[0] == -1
    model.partial_fit(X[:5] + 0.01, y[:5])
    assert model.learner_.graph.n_nodes == 205
    assert len(model.learner_.labels) == 46
    assert ag.GraphRegressor().partial_fit(X, y).predict(X[:1])[0] == y[0]


@pytest.mark.parametrize("kind", ["list", "objects", "masked", "pandas", "gaps of pandas", "polars"])
def test_numbers_are_the_same_whatever_holds_them(kind):
    X, y, _ = diabetes(60)
    y[0] = -1.0
    hidden = np.where(np.arange(60) < 20, y, np.nan)
    given = {
        "list": [*hidden[:20].tolist(), *[None] * 40],
        "objects": np.array([*hidden[:20].tolist(), *[None] * 40], dtype=object),
        "masked": np.ma.MaskedArray(np.nan_to_num(hidden), mask=np.isnan(hidden)),
        "pandas": pd.Series(hidden),
        "gaps of pandas": pd.Series(hidden).astype("Float64"),
        "polars": pl.Series([*hidden[:20].tolist(), *[None] * 40]),
    }[kind]
    model = ag.GraphRegressor(random_state=0).fit(X, given)
    assert len(model.learner_.labels) == 20
    np.testing.assert_allclose(model.predict(X), ag.GraphRegressor(random_state=0).fit(X, hidden).predict(X))


def test_numbers_that_are_none_are_refused():
    X, y, _ = diabetes(30)
    for wrong, words in ((np.full(30, np.inf), "infinity"), (["x"] * 30, "numbers"), (y + 1j, "Complex|numbers")):
        with pytest.raises(ValueError, match=words):
            ag.GraphRegressor().fit(X, wrong)
    with pytest.raises(ValueError, match="29 labels"):
        ag.GraphRegressor().fit(X, y[:29])
    with pytest.raises(ag.LabelError, match="above 0"):
        ag.GraphRegressor(link="log").fit(X, -y)
    with pytest.raises(ag.SettingError, match="link"):
        ag.GraphRegressor(link="sqrt").fit(X, y)
    with pytest.raises(ag.SettingError, match="sampler"):
        ag.GraphRegressor(sampler="unc").fit(X, y)
    with pytest.raises(ValueError, match="1d array"):
        ag.GraphRegressor().fit(X, np.column_stack([y, y]))


def test_positive_numbers_may_be_read_by_their_logarithms():
    X, y, hidden = diabetes()
    model = ag.GraphRegressor(link="log", random_state=0).fit(X[:300], hidden[:300])
    mean, std = model.predict(X[300:], return_std=True)
    assert (mean > 0).all()
    assert np.isfinite(std).all()
    assert np.corrcoef(mean, y[300:])[0, 1] > 0.4


def test_a_row_that_repeats_gets_the_mean_of_its_numbers():
    X = np.repeat([[0.0], [1.0], [5.0], [6.0]], 3, axis=0)
    y = np.full(12, np.nan)
    y[[0, 1, 9]] = [10.0, 20.0, 40.0]
    model = ag.GraphRegressor(k=2, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict([[0.0]]), model.learner_.predict()[:3].mean())
    own = model.learner_.answers.deviation(model.learner_._moment)[:3]
    np.testing.assert_allclose(model.predict([[0.0]], return_std=True)[1], np.sqrt((own**2).mean()))


def test_a_regressor_is_copied_pickled_and_cross_validated():
    X, y, hidden = diabetes(150, 60)
    model = ag.GraphRegressor(k=7, random_state=0).fit(X, hidden)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X + 0.01), model.predict(X + 0.01))
    assert clone(model).get_params()["first"] == "utility"
    assert clone(model.set_params(first="random")).get_params()["first"] == "random"
    assert cross_val_score(ag.GraphRegressor(random_state=0), X, y, cv=3).mean() > 0.2
    rows = csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    sparse, dense = (ag.GraphRegressor(random_state=0).fit(x, hidden) for x in (rows, rows.toarray()))
    np.testing.assert_allclose(sparse.predict(rows), dense.predict(rows.toarray()), rtol=1e-6)
