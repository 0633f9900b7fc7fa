"""GraphQueryStrategy in scikit-activeml: its own template of tests, and a loop of its own."""

from __future__ import annotations

import pickle
import unittest
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

import askgraph as ag
from askgraph.utilities import SAMPLERS
from tests.helpers.bad_inputs import VALUES, bad_inputs, tried
from tests.helpers.clients import REQUIRED, client

X, TRUTH = make_blobs(60, centers=3, random_state=0)
Y = np.where(np.arange(60) < 6, TRUTH, np.nan)


@pytest.fixture(scope="module")
def strategy():
    client("skactiveml")
    from askgraph.clients.activeml import GraphQueryStrategy

    return GraphQueryStrategy


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_sampler_asks_what_a_learner_asks(strategy, sampler):
    (row,), scores = strategy(sampler, random_state=0).query(X, Y, return_utilities=True)
    learner = ag.GraphClassifier(sampler=sampler, random_state=0).fit(X, Y).learner_
    np.testing.assert_allclose(scores[0], learner.scores(), rtol=1e-6)
    assert np.isnan(Y[row])
    assert scores[0, row] == np.nanmax(scores)


def test_the_model_that_a_loop_hands_to_every_strategy_changes_nothing(strategy):
    from skactiveml.classifier import ParzenWindowClassifier

    model = ParzenWindowClassifier(classes=[0, 1, 2])
    want = strategy(random_state=0).query(X, Y, batch_size=3)
    assert strategy(random_state=0).query(X=X, y=Y, clf=model, batch_size=3).tolist() == want.tolist()
    assert not hasattr(model, "classes_")


def test_candidates_and_batches(strategy):
    ask = strategy(random_state=0).query
    rows, scores = ask(X, Y, candidates=[10, 20, 30], batch_size=2, return_utilities=True)
    assert set(rows) <= {10, 20, 30}
    assert np.flatnonzero(~np.isnan(scores[0])).tolist() == [10, 20, 30]
    assert scores.shape == (2, 60)
    (at,), others = ask(X, Y, candidates=np.concatenate([X[[20, 30]], X[[40]] + 0.1]), return_utilities=True)
    assert at in (0, 1, 2)
    assert others.shape == (1, 3)
    assert len(set(ask(X, Y, batch_size=54))) == 54


def test_labels_of_any_kind(strategy):
    names = np.array(["a", "b", "c"], dtype=object)
    want = strategy(random_state=0).query(X, Y)
    told = np.where(np.isnan(Y), None, names[np.nan_to_num(Y).astype(int)])
    assert strategy(missing_label=None, random_state=0).query(X, told) == want
    minus = np.where(np.isnan(Y), np.nan, Y - 1)  # −1 is a class here
    assert strategy(random_state=0).query(X, minus) == want


@pytest.fixture(scope="module")
def regression():
    client("skactiveml")
    from askgraph.clients.activeml import GraphRegressionStrategy

    return GraphRegressionStrategy


NUMBERS = np.where(np.arange(60) < 6, X[:, 0] - 1.0, np.nan)


@pytest.mark.parametrize("sampler", [None, "vm", "sigma", "influence"])
def test_numbers_are_asked_for_as_a_learner_asks(regression, sampler):
    rows, scores = regression(sampler, random_state=0).query(X, NUMBERS, batch_size=3, return_utilities=True)
    model = ag.GraphRegressor(sampler=sampler, random_state=0).fit(X, NUMBERS)
    np.testing.assert_array_equal(rows, model.query(3))
    np.testing.assert_allclose(scores[0], model.learner_.scores(), rtol=1e-6)
    none = regression(missing_label=None, random_state=0)
    assert none.query(X, np.where(np.isnan(NUMBERS), None, NUMBERS)) == regression(random_state=0).query(X, NUMBERS)


def test_a_loop_of_regression(regression):
    y, ask = np.full(60, np.nan), regression(random_state=0)
    for _ in range(20):
        row = ask.query(X, y)
        y[row] = X[row, 1]
    assert ag.GraphRegressor(random_state=0).fit(X, y).score(X, X[:, 1]) > 0.8
    rows, scores = ask.query(X, y, candidates=X[[40, 50]] + 0.01, return_utilities=True)
    assert rows[0] in (0, 1)
    assert scores.shape == (1, 2)


def test_it_is_copied_and_pickled(strategy, regression):
    one = regression("vm", k=5, random_state=0)
    assert clone(one).query(X, NUMBERS) == pickle.loads(pickle.dumps(one)).query(X, NUMBERS)
    one = strategy("vm", k=5, random_state=0)
    for other in (clone(one), pickle.loads(pickle.dumps(one))):
        assert repr(other.get_params()) == repr(one.get_params())
        assert other.query(X, Y) == one.query(X, Y)


@pytest.mark.slow
def test_every_bad_value_is_a_result_or_a_sentence(strategy, tmp_path):
    # Promise 32
    every = [one for one in bad_inputs(tmp_path) if one[0].startswith(strategy.__name__)]
    assert len(every) == 19 * len(VALUES)
    found = [tried(*one) for one in every]
    assert [one for one in found if one.outcome not in ("result", "refused")] == []


def test_in_a_loop_of_theirs_it_is_ahead_of_uncertainty_sampling(strategy):
    from skactiveml.classifier import ParzenWindowClassifier
    from skactiveml.pool import UncertaintySampling

    def right(strategy, seed):
        y, ask = np.full(60, np.nan), strategy(random_state=seed)
        model = ParzenWindowClassifier(classes=[0, 1, 2], random_state=0)
        for _ in range(15):
            row = ask.query(X=X, y=y, clf=model)
            y[row] = TRUTH[row]
        return (model.fit(X, y).predict(X) == TRUTH).mean()

    ours, theirs = (np.mean([right(one, seed) for seed in range(5)]) for one in (strategy, UncertaintySampling))
    assert ours > max(theirs, 0.85)


def test_modal_asks_by_a_function():
    """ActiveLearner.query calls a function (learner, pool): which pool row to label, from the rows taught and the pool."""
    models = client("modAL.models")
    from sklearn.linear_model import LogisticRegression

    def ask(learner, pool, n=1):
        rows = np.concatenate([learner.X_training, pool])
        y = np.concatenate([learner.y_training.astype(float), np.full(len(pool), np.nan)])
        return ag.GraphClassifier(random_state=0).fit(rows, y).query(n) - len(learner.X_training)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # modAL calls what newer scikit-learn deprecates
        learner = models.ActiveLearner(LogisticRegression(), ask, X[:6], TRUTH[:6])
        at, row = learner.query(X[6:])
    np.testing.assert_array_equal(X[6:][at], row)


def template():
    """Their template of tests; their wheels left it out after 0.6.0, so make test-clients takes it from that one."""
    try:
        client("skactiveml")
        from skactiveml.tests.template_query_strategy import TemplateSingleAnnotatorPoolQueryStrategy
    except (ImportError, pytest.skip.Exception):
        if REQUIRED:
            raise
        return None
    return TemplateSingleAnnotatorPoolQueryStrategy


WRONG = {  # a value that each parameter refuses, and one that it takes
    "sampler": ("best", "vm"),
    "graph": ("links", "neighbors"),
    "k": (0, 3),
    "metric": ("manhattan", "cosine"),
    "bandwidth": (-1.0, 0.5),
    "scale": ("no", True),
    "linear": ("no", True),
    "delta": (-1.0, 0.1),
    "doubt": ("cube", "inverse"),
    "form": ("spoken", "derived"),
    "readout": ("loud", "map"),
    "engine": ("steam", "direct"),
}

if template() is not None:

    def checks(name):
        wrong, right = WRONG[name]
        return lambda self: self._test_param("init", name, [(wrong, (ValueError, TypeError)), (right, None)])

    class TestTheirTemplate(template(), unittest.TestCase):
        def setUp(self):
            from askgraph.clients.activeml import GraphQueryStrategy

            default = {"X": X[:20], "y": Y[:20]}
            super().setUp(GraphQueryStrategy, {"k": 4}, query_default_params_clf=default)

        def test_query(self):
            assert np.isnan(Y[self.qs_class(random_state=0).query(X, Y)]).all()

    for parameter in WRONG:
        setattr(TestTheirTemplate, f"test_init_param_{parameter}", checks(parameter))
