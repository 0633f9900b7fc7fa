"""LabeledKFold: every labeled row is tested once, and no row without a label ever is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score

import askgraph as ag

X, TRUTH = load_digits(return_X_y=True)
X, TRUTH = X[:400], TRUTH[:400]


@given(
    st.lists(st.sampled_from([-1, 0, 2, 3]), min_size=1, max_size=60),
    st.integers(2, 4),
    st.booleans(),
    st.integers(0, 3),
)
def test_labeled_rows_are_tested_once_and_all_others_train(y, n, shuffle, seed):
    y = np.array(y)
    known = y != -1
    folds = ag.LabeledKFold(n, shuffle=shuffle, random_state=seed if shuffle else None)
    assert folds.get_n_splits() == n
    if known.sum() < n:
        with pytest.raises(ag.LabelError, match="n_splits"):
            list(folds.split(np.zeros((len(y), 1)), y))
        return
    parts = list(folds.split(np.zeros((len(y), 1)), y))
    assert len(parts) == n
    assert sorted(np.concatenate([test for _, test in parts])) == np.flatnonzero(known).tolist()
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(len(y)))
        assert train.tolist() == sorted(train)
        assert known[test].all()


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=8, max_size=60), st.integers(2, 4), st.booleans())
def test_folds_have_equal_shares_of_each_class(y, n, shuffle):
    known = [label for label in y if label is not None]
    if len(known) < n:
        return
    parts = list(ag.LabeledKFold(n, shuffle=shuffle, random_state=0).split(np.zeros((len(y), 1)), y))
    sizes = [len(test) for _, test in parts]
    assert max(sizes) - min(sizes) <= 1
    for name in set(known):
        counts = [sum(y[k] == name for k in test) for _, test in parts]
        assert max(counts) - min(counts) <= 1


def test_a_seed_shuffles_and_numbers_are_spread():
    one, same, other = (
        [test.tolist() for _, test in ag.LabeledKFold(3, shuffle=True, random_state=seed).split(X, TRUTH)]
        for seed in (0, 0, 1)
    )
    assert one == same != other
    y = np.random.default_rng(0).normal(size=90)
    means = [y[test].mean() for _, test in ag.LabeledKFold(3, numbers=True).split(np.zeros((90, 1)), y)]
    assert np.ptp(means) < 0.2


@pytest.mark.parametrize(
    "gaps",
    [
        lambda y: np.where(y < 0, np.nan, y),
        lambda y: [None if one < 0 else f"class {one}" for one in y],
        lambda y: pd.Series(y).mask(y < 0).astype("Int64"),
        lambda y: pd.Series([None if one < 0 else str(one) for one in y], dtype="category"),
    ],
)
def test_gaps_of_any_kind_are_no_labels(gaps):
    y = np.where(np.arange(400) % 4, -1, TRUTH)
    for ours, plain in zip(ag.LabeledKFold(3).split(X, gaps(y)), ag.LabeledKFold(3).split(X, y), strict=True):
        np.testing.assert_array_equal(np.sort(ours[1]), np.sort(plain[1]))


def test_numbers_and_tables_of_classes():
    y = np.array([-1.0, 2.0, np.nan, 0.5, -1.0, 3.0])
    tested = np.concatenate([test for _, test in ag.LabeledKFold(2, numbers=True).split(np.zeros((6, 1)), y)])
    assert sorted(tested) == [0, 1, 3, 4, 5]
    sets = np.array([[0, 1], [-1, -1], [1, 1], [0, 0]])
    tested = np.concatenate([test for _, test in ag.LabeledKFold(3).split(np.zeros((4, 1)), sets)])
    assert sorted(tested) == [0, 2, 3]


def test_a_score_counts_labeled_rows_only():
    y = np.where(np.arange(400) < 100, TRUTH, -1)
    model = ag.GraphClassifier(random_state=0)
    scores = cross_val_score(model, X, y, cv=ag.LabeledKFold(5))
    assert scores.mean() > 0.8
    assert cross_val_score(model, X, y, cv=5).mean() < 0.3  # unlabeled rows are counted as wrong
    found = GridSearchCV(model, {"k": [5, 10]}, cv=ag.LabeledKFold(3)).fit(X, y)
    assert found.best_score_ > 0.8
    assert (found.predict(X) == TRUTH).mean() > 0.8


@pytest.mark.parametrize("how", [{"n_splits": 1}, {"n_splits": 2.5}, {"shuffle": "no"}, {"numbers": 1}])
def test_odd_options_are_refused(how):
    with pytest.raises(ag.SettingError):
        ag.LabeledKFold(**how)


def test_it_says_what_it_is():
    assert repr(ag.LabeledKFold(3, shuffle=True, random_state=0)) == (
        "LabeledKFold(n_splits=3, numbers=False, random_state=0, shuffle=True)"
    )
