"""The scikit-learn face."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csc_array, csr_array
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import askgraph as ag
from askgraph.graph.texts import text_rows

WEIGHTS = "a row of weight 0 stays in the graph, unlabeled, and a row that comes twice is two nodes"
OTHERWISE = {
    "check_classifiers_classes": "feeds {-1, +1} as classes; -1 means unlabeled here",
    "check_supervised_y_no_nan": "NaN in y means unlabeled here; infinity is refused, which another test checks",
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
ON_A_GRAPH = {
    "check_classifiers_classes": OTHERWISE["check_classifiers_classes"],
    "check_classifiers_one_label_sample_weights": "feeds weights that are not symmetric",
}


@pytest.mark.slow
@parametrize_with_checks([ag.GraphClassifier(random_state=0)], expected_failed_checks=lambda estimator: OTHERWISE)
def test_scikit_learns_own_checks(estimator, check):
    # Promise 15
    check(estimator)


@pytest.mark.long
@pytest.mark.slow
@parametrize_with_checks(
    [
        ag.GraphClassifier(metric="cosine", scale=True, random_state=0),
        ag.GraphClassifier(linear=True, random_state=0),
    ],
    expected_failed_checks=lambda estimator: OTHERWISE,
)
def test_scikit_learns_own_checks_in_other_modes(estimator, check):
    # Promise 15
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


def repeated(kind):
    """Return rows that repeat many times, their labels, and rows that are none of them."""
    rng = np.random.default_rng(0)
    if kind == "texts":
        words = np.array([["dog", "cat", "pet"], ["bank", "price", "market"]])
        texts = [" ".join(rng.permutation(some)[:2]) for some in words for _ in range(30)]
        rows = text_rows([*texts, "dog cat pet", "bank price market"])
        return rows[:60], np.repeat([0, 1], 30), rows[60:]
    answers = rng.integers(0, 3, (900, 4))
    X, y = np.eye(3)[answers].reshape(900, 12), (answers.sum(axis=1) > 4).astype(int)
    held = np.isin(answers @ [27, 9, 3, 1], rng.choice(81, 20, replace=False))
    return X[~held], y[~held], X[held]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("kind", ["survey", "texts"])
@pytest.mark.parametrize("bandwidth", ["self-tuning", 0.5, None], ids=str)
def test_new_rows_beside_rows_that_repeat_are_joined_to_something(kind, metric, bandwidth):
    X, y, new = repeated(kind)
    known = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    model = ag.GraphClassifier(metric=metric, bandwidth=bandwidth, random_state=0).fit(X, known)
    p = model.predict_proba(new)
    assert (np.ptp(p, axis=1) > 1e-6).all()
    if kind == "texts" and bandwidth == "self-tuning":
        assert p.argmax(axis=1).tolist() == [0, 1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bandwidth", ["self-tuning", 1.0, None], ids=str)
def test_a_row_far_from_all_others_gets_the_answer_of_the_nearest(bandwidth):
    X = np.random.default_rng(0).normal(size=(80, 2)) + 30 * (np.arange(80) >= 60)[:, None]
    y = np.where(np.arange(80) % 3 == 0, np.arange(80) >= 60, -1)
    model = ag.GraphClassifier(bandwidth=bandwidth, random_state=0).fit(X, y)
    assert model.predict([[-1e6, 0.0], [1e6, 0.0], [-1e100, 0.0]]).tolist() == [0, 1, 0]
    assert np.ptp(model.predict_proba([[-1e6, 0.0], [1e6, 0.0]]), axis=1).min() > 0.01


@pytest.mark.filterwarnings("error")
def test_rows_that_are_all_the_same_get_the_mean_of_their_answers_and_new_rows_too():
    model = ag.GraphClassifier(random_state=0).fit(np.ones((40, 3)), [0, 0, 0, 1, *[-1] * 36])
    p = model.predict_proba([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    np.testing.assert_allclose(p[0], model.learner_.probabilities().mean(axis=0))
    assert (p[:, 0] > p[:, 1]).all()


def test_a_row_that_repeats_gets_the_mean_answer_of_its_copies():
    X = np.repeat([[0.0], [1.0], [5.0], [6.0]], 10, axis=0)
    y = np.full(40, -1)
    y[[0, 1, 2, 3, 39]] = [1, 0, 0, 0, 1]  # the first copy says otherwise
    model = ag.GraphClassifier(k=2, random_state=0).fit(X, y)
    assert model.predict([[0.0], [6.0]]).tolist() == [0, 1]
    np.testing.assert_allclose(model.predict_proba([[0.0]])[0], model.learner_.probabilities()[:10].mean(axis=0))


def test_unknown_graphs_and_text_for_unlabeled_get_advice():
    X, y, _ = iris([])
    with pytest.raises(ag.SettingError, match="precomputed"):
        ag.GraphClassifier(graph="precompute").fit(X, y)
    with pytest.raises(ag.LabelError, match="None"):
        ag.GraphClassifier().fit(X, np.where(y == 0, "-1", y.astype(str)))


@pytest.mark.slow
@parametrize_with_checks(
    [ag.GraphClassifier(graph="precomputed", random_state=0)], expected_failed_checks=lambda estimator: ON_A_GRAPH
)
def test_scikit_learns_own_checks_on_a_given_graph(estimator, check):
    # Promise 15
    check(estimator)


def digits_graph(n=200):
    X, y = load_digits(return_X_y=True)
    return ag.nearest_neighbors(X[:n], 10).weights.toarray(), y[:n]


def test_rows_of_a_given_graph_are_told_by_what_they_hold():
    W, y = digits_graph()
    model = ag.GraphClassifier(graph="precomputed", random_state=0).fit(W, y)
    np.testing.assert_array_equal(model.predict(W), y)
    np.testing.assert_array_equal(model.predict(W[::-1]), y[::-1])
    np.testing.assert_array_equal(model.predict(csr_array(W[50:90])), y[50:90])
    other = W[np.random.default_rng(0).permutation(len(W))][:, ::-1]  # another matrix of the same shape
    assert (model.predict(other) == y).mean() < 0.5


def test_a_given_graph_that_is_changed_in_place_is_not_taken_for_the_old_one():
    W, y = digits_graph()
    model = ag.GraphClassifier(graph="precomputed", random_state=0).fit(W, y)
    W[:] = W[::-1]
    np.testing.assert_array_equal(model.predict(W), y[::-1])


def test_twins_and_rows_of_zeros_are_nobody_unless_the_whole_graph_comes():
    star = np.zeros((4, 4))
    star[0, 1:3] = star[1:3, 0] = 1.0  # 1 and 2 have the same weights, 3 has none
    model = ag.GraphClassifier(graph="precomputed", random_state=0).fit(star, ["hub", "one", "two", "alone"])
    assert model.predict(star).tolist() == ["hub", "one", "two", "alone"]
    assert model.predict(star[:1]).tolist() == ["hub"]
    assert model.predict_proba(star[1:2]).max() < 1
    np.testing.assert_array_equal(model.predict_proba(star[1:2]), model.predict_proba(star[2:3]))
    np.testing.assert_allclose(model.predict_proba(star[3:]), 1 / 4)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("folds", [2, 3, 4, 5])
def test_noise_is_at_chance_under_cross_validation(folds, shuffle):
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(5):
        noise = rng.random((120, 120))
        y = np.tile([0, 1], 60) if folds % 2 else np.repeat([0, 1], 60)  # as in the report: sorted, and in equal halves
        split = StratifiedKFold(folds, shuffle=shuffle, random_state=0 if shuffle else None)
        model = ag.GraphClassifier(graph="precomputed", random_state=0)
        scores.append(cross_val_score(model, noise + noise.T, y, cv=split).mean())
    assert 0.38 < np.mean(scores) < 0.62


def test_a_broken_sparse_matrix_is_refused_at_every_door():
    W, y = digits_graph(60)
    model = ag.GraphClassifier(graph="precomputed", random_state=0).fit(W, y)
    broken = csc_array(W)
    broken.indptr = np.r_[broken.indptr[:-1], 400_000].astype(np.int32)
    for use in (model.fit, lambda X, _: model.predict(X), lambda X, _: ag.with_features(ag.chain(60), X)):
        with pytest.raises(ag.GraphError, match="index arrays"):
            use(broken, y)


class Scalar:
    """A value as array libraries hold it: without dimensions, compared by value, hashed by identity."""

    shape = ()

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, Scalar) else other)

    __hash__ = object.__hash__


def test_labels_that_are_equal_are_one_class_whatever_library_holds_them():
    X, _, hidden = iris([0, 1, 60, 61, 120])
    held = np.fromiter((Scalar(int(label)) if label >= 0 else None for label in hidden), dtype=object)
    model = ag.GraphClassifier(random_state=0).fit(X, held)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (150, 3)


def test_features_count_beside_a_given_graph_and_rows_may():
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    X = np.eye(2)[truth] @ rng.normal(size=(2, 8)) + 0.5 * rng.normal(size=(60, 8))
    W = np.triu(rng.random((60, 60)) < 0.08, 1).astype(float)
    y = np.where(np.arange(60) < 16, truth, -1)
    plain = ag.GraphClassifier(graph="precomputed").fit(W + W.T, y)
    both = ag.GraphClassifier(graph="precomputed").fit(W + W.T, y, features=X)
    assert (both.transduction_ == truth).mean() > max(0.8, (plain.transduction_ == truth).mean())
    np.testing.assert_allclose(both.predict_proba((W + W.T)[:5] * 0.5).sum(axis=1), 1)
    rows = ag.GraphClassifier(k=5, metric="cosine", linear=True).fit(X, y)
    assert set(rows.learner_.judge.choice.losses) == {"the graph", "the graph + features"}
    assert (rows.predict(X + 0.01) == truth).mean() > 0.8
    with pytest.raises(ag.SettingError, match="precomputed"):
        ag.GraphClassifier().fit(X, y, features=X)


@pytest.mark.parametrize(
    "unlabeled",
    [
        lambda y: np.where(y < 0, np.nan, y),
        lambda y: np.where(y < 0, None, y.astype(object)),
        lambda y: np.where(y < 0, np.nan, y.astype(object)),
        lambda y: pd.Series(np.where(y < 0, np.nan, y)).astype("Int64"),
        lambda y: pd.Series(np.where(y < 0, None, y.astype(str))).astype("category"),
        lambda y: pd.Series(np.where(y < 0, None, y.astype(str))).astype("string"),
    ],
    ids=["float", "None", "object", "Int64", "category", "string"],
)
def test_nan_na_and_none_mean_unlabeled_as_minus_one_does(unlabeled):
    X, _, hidden = iris([0, 10, 60, 70, 110, 120])
    want = ag.GraphClassifier(random_state=0).fit(X, hidden)
    got = ag.GraphClassifier(random_state=0).fit(X, unlabeled(hidden))
    assert len(got.learner_.labels) == 6
    assert got.transduction_.astype(float).tolist() == want.transduction_.tolist()
    assert got.partial_fit(X[[60]], unlabeled(hidden)[[60]]).query().tolist() == want.query().tolist()


def with_gaps(y, value, missing=None):
    """Labels as a list of plain values, with gaps where y is below 0."""
    return [missing if label < 0 else value(label) for label in y.tolist()]


COLUMNS = {
    "pandas Int64": (lambda y: pd.Series(with_gaps(y, int), dtype="Int64"), [0, 1, 2]),
    "pandas Int8 array": (lambda y: pd.array(with_gaps(y, int), dtype="Int8"), [0, 1, 2]),
    "pandas Float64": (lambda y: pd.Series(with_gaps(y, float), dtype="Float64"), [0.0, 1.0, 2.0]),
    "pandas boolean": (lambda y: pd.Series(with_gaps(y, bool), dtype="boolean"), [False, True]),
    "pandas category of int": (lambda y: pd.Series(pd.Categorical(with_gaps(y, int))), [0, 1, 2]),
    "pandas category of bool": (lambda y: pd.Series(pd.Categorical(with_gaps(y, bool))), [False, True]),
    "pandas category of text": (lambda y: pd.Categorical(with_gaps(y, str)), ["0", "1", "2"]),
    "pandas and arrow": (lambda y: pd.Series(with_gaps(y, int), dtype="int64[pyarrow]"), [0, 1, 2]),
    "pyarrow": (lambda y: pa.array(with_gaps(y, int)), [0, 1, 2]),
    "pyarrow chunks of bool": (lambda y: pa.chunked_array([with_gaps(y, bool)]), [False, True]),
    "polars": (lambda y: pl.Series(with_gaps(y, int)), [0, 1, 2]),
    "polars bool": (lambda y: pl.Series(with_gaps(y, bool)), [False, True]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_labels_beside_gaps_keep_their_type(kind):
    make, classes = COLUMNS[kind]
    X, _, hidden = iris([0, 10, 60, 70, 110, 120])
    model = ag.GraphClassifier(random_state=0).fit(X, make(hidden))
    assert model.classes_.tolist() == classes
    assert {type(label) for label in model.classes_.tolist()} == {type(classes[0])}
    assert model.predict(X[[0, 120]]).tolist() == [classes[0], classes[-1]]
    assert len(model.learner_.labels) == 6
    whole = ag.GraphClassifier(random_state=0).fit(X[hidden >= 0], make(hidden[hidden >= 0]))
    assert whole.classes_.tolist() == classes
    model.partial_fit(X[[61, 62]], make(np.array([1, -1])))
    assert model.classes_.tolist() == classes
    assert len(model.learner_.labels) == 7
    with pytest.raises(ValueError, match="X has 150 rows and y 149 labels"):
        ag.GraphClassifier().fit(X, make(hidden[1:]))
    assert not len(ag.GraphClassifier().fit(X, make(np.full(len(X), -1))).classes_)


def test_minus_one_means_unlabeled_in_columns_with_gaps_too():
    X, _, hidden = iris([0, 60])
    y = pd.Series(hidden, dtype="Int64")
    y[5] = pd.NA
    assert ag.GraphClassifier().fit(X, y).classes_.tolist() == [0, 1]
    y[:] = pd.NA
    y[0] = 1
    assert ag.GraphClassifier().fit(X, y).classes_.tolist() == [1]
    y[1] = -1
    with pytest.raises(ag.LabelError, match="only -1 and"):
        ag.GraphClassifier().fit(X, y)


def test_one_may_be_the_one_class_known_so_far():
    X, _, _ = iris([])
    y = np.full(len(X), np.nan)
    y[0] = 1
    assert set(ag.GraphClassifier().fit(X, y).transduction_) == {1}
    with pytest.raises(ag.LabelError, match="only -1 and"):
        ag.GraphClassifier().fit(X, np.where(np.isnan(y), -1, y))


def test_infinite_labels_are_refused():
    X, y, _ = iris([])
    with pytest.raises(ValueError, match="infinity"):
        ag.GraphClassifier().fit(X, np.where(y == 0, np.inf, y))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_are_the_same_rows(metric):
    X, y = load_digits(return_X_y=True)
    X = X[:200] * np.random.default_rng(0).uniform(0.9, 1.1, (200, 64))  # no two distances are equal
    hidden = np.where(np.arange(200) < 30, y[:200], -1)
    dense = ag.GraphClassifier(metric=metric, random_state=0).fit(X[:150], hidden[:150])
    sparse = ag.GraphClassifier(metric=metric, random_state=0).fit(csc_array(X[:150]), hidden[:150])
    want = dense.predict_proba(X)
    for model in (dense, sparse):
        for rows in (X, csr_array(X)):
            np.testing.assert_allclose(model.predict_proba(rows), want, atol=1e-6)
    assert sparse.query().tolist() == dense.query().tolist()
    again = sparse.partial_fit(csr_array(X[150:]), hidden[150:])
    assert again.learner_.graph.n_nodes == 200
    with pytest.raises(ag.SettingError, match="sparse"):
        ag.GraphClassifier(scale=True).fit(csr_array(X), hidden)


def test_a_sample_weight_is_label_noise():
    X, _, hidden = iris([0, 10, 60, 70, 110, 120])
    w = np.where(hidden == 1, 0.25, 1.0)
    model = ag.GraphClassifier(noise=0.3, random_state=0).fit(X, hidden, sample_weight=w)
    by_hand = ag.Learner(ag.nearest_neighbors(X, 10), noise=0.3, classes=[0, 1, 2], rng=0)
    by_hand.tell_all({0: 0, 10: 0, 110: 2, 120: 2})
    for node in (60, 70):
        by_hand.tell(node, 1, noise=0.3 / np.sqrt(0.25))
    np.testing.assert_allclose(model.learner_.probabilities(), by_hand.probabilities(), atol=1e-7)
    assert {x.noise for x in model.learner_.field.observations} == {0.3, 0.6}
    model.partial_fit(X[[60]], [1], sample_weight=[1.0])
    assert {x.node: x.noise for x in model.learner_.field.observations}[60] == 0.3


def test_a_sample_weight_of_zero_is_no_label_and_exact_labels_have_no_weight():
    X, _, hidden = iris([0, 10, 60, 70, 110, 120])
    exact = ag.GraphClassifier(random_state=0).fit(X, hidden)
    weighted = ag.GraphClassifier(random_state=0).fit(X, hidden, sample_weight=np.arange(1.0, 151))
    np.testing.assert_array_equal(weighted.predict_proba(X), exact.predict_proba(X))
    for noise in (0.0, 0.3):
        zero = ag.GraphClassifier(noise=noise).fit(X, hidden, sample_weight=np.where(np.arange(150) == 60, 0.0, 1.0))
        assert sorted(zero.learner_.labels) == [0, 10, 70, 110, 120]
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        ag.GraphClassifier().fit(X, hidden, sample_weight=-np.ones(150))


def test_an_asymmetric_graph_gets_advice_that_can_be_followed():
    W, y = digits_graph(60)
    with pytest.raises(ag.GraphError, match=r"W\.maximum\(W\.T\)"):
        ag.GraphClassifier(graph="precomputed").fit(np.triu(W), y)
    ag.GraphClassifier(graph="precomputed").fit(csr_array(np.triu(W)).maximum(csr_array(np.triu(W)).T), y)
