"""Numbers of rows, such as prices or temperatures, with how sure they are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, diags_array
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from askgraph.errors import LabelError
from askgraph.estimator.base import Given, GraphEstimator, Told
from askgraph.estimator.targets import numbers_of
from askgraph.kinds.numbers import Numbers
from askgraph.options import with_usual_options
from askgraph.priors.base import SOLVES_AT_ONCE
from askgraph.support.arguments import flag
from askgraph.support.turns import in_turn
from askgraph.types import Array


class GraphRegressor(RegressorMixin, GraphEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Semi-supervised regression on a nearest-neighbor graph of the rows, or on a graph that is given.

    ``fit(X, y)`` takes all rows; NaN, None or NA in y says that the number is not known (−1 is a number). ``query(n)`` says
    which rows to ask for next, ``partial_fit(X, y)`` adds numbers or rows. ``predict`` takes any rows: a training row gets what
    was told of it, or the mean of its node; another row is joined to its nearest training rows and reads the field there. How
    sure an answer is, and what the numbers vary by, the numbers say themselves: there is no noise and no sample weight to give.

    ``graph="precomputed"`` is as in :class:`GraphClassifier`.

    Parameters
    ----------
    graph : {"neighbors", "precomputed"}
        Whether to join each row to its nearest rows, or to take X as the weight matrix.
    k : int
        The number of neighbors of each row.
    metric : {"euclidean", "cosine"}
        The distance between rows.
    bandwidth : float, "self-tuning" or None
        The weight of an edge, as in :func:`nearest_neighbors`.
    scale : bool
        Whether to scale every column of the training rows to [−1, 1] first.
    linear : bool
        Whether to add linear and smooth functions of the rows to the field, each as much as the numbers speak for, as
        ``Learner(features=X)`` does; for ``graph="neighbors"`` only. With ``graph="precomputed"`` pass features to :meth:`fit`.
    link : {"identity", "log", "auto"}
        Whether numbers are read as they are or by their logarithms, as in :class:`Numbers`.
    delta : float, optional
        The ridge of the field; None for a thousandth of the mean degree.
    sampler : str, Criterion, callable or Plan, optional
        How :meth:`query` chooses rows: "vm", "sigma", "influence", "random" or your own; by default as in :class:`Learner`.
    engine
        As in :class:`Learner`.
    random_state : int, RandomState or None
        The seed.
    doubt, class_shares, form, expect, ahead, explore, first, batch, small_components, hubs, spot_checks
        Options of the plan, as in :class:`Learner`; see :class:`askgraph.Options`.

    Attributes
    ----------
    learner_ : Learner
        The learner; its nodes are the training rows.
    X_ : array or sparse matrix
        The training rows, or the weight matrix.
    n_features_in_ : int
        The number of columns of X.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [10.0, np.nan, np.nan, 16.0, np.nan, 20.0]
    >>> model = GraphRegressor(k=2).fit(X, y)
    >>> bool(10 < model.predict([[1.5]])[0] < 16)
    True
    >>> value, deviation = model.predict([[1.5]], return_std=True)
    >>> value.shape, bool(deviation[0] > 0)
    ((1,), True)
    """

    @with_usual_options(first="utility")
    def __init__(
        self,
        graph: str = "neighbors",
        k: int = 10,
        metric: Any = "euclidean",
        bandwidth: Any = "self-tuning",
        scale: bool = False,
        linear: bool = False,
        link: str = "identity",
        delta: float | None = None,
        sampler: Any = None,
        engine: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.graph = graph
        self.k = k
        self.metric = metric
        self.bandwidth = bandwidth
        self.scale = scale
        self.linear = linear
        self.link = link
        self.delta = delta
        self.sampler = sampler
        self.engine = engine
        self.random_state = random_state

    @in_turn
    def fit(self, X: Any, y: Any, features: Any = None) -> Self:
        """Build the graph and learn from the numbers that are known.

        Parameters
        ----------
        X : array or sparse matrix
            One row per sample, known or not; with ``graph="precomputed"`` the symmetric weight matrix.
        y : array, or column of pandas, polars or pyarrow
            One number per row; NaN, None or NA where it is not known.
        features : array or sparse matrix, optional
            With ``graph="precomputed"``, features of the nodes, one row per node, as in :class:`Learner`.

        Returns
        -------
        GraphRegressor
            This regressor.

        Examples
        --------
        >>> import askgraph as ag
        >>> model = ag.GraphRegressor(graph="precomputed").fit(ag.chain(5).weights, [1.0, None, None, None, 3.0])
        >>> model.transduction_.round(1).tolist()
        [1.0, 1.5, 2.0, 2.5, 3.0]
        """
        X = self._validated(X)
        self._learner(X, self._told(X, y), Numbers(link=self.link), None, features)
        return self

    @in_turn
    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add numbers to training rows, or new rows; with new rows, the graph is built anew.

        Where no row is new, a number goes to all training rows that equal the row. Without an earlier ``fit``, this method
        fits.

        Parameters
        ----------
        X : array or sparse matrix
            Training rows or new rows, as in :meth:`fit`; with ``graph="precomputed"`` the same matrix as in :meth:`fit`.
        y : array
            One number per row; NaN, None or NA where nothing is told. A number of a row that has one replaces the old one.

        Returns
        -------
        GraphRegressor
            This regressor.

        Examples
        --------
        >>> import askgraph as ag
        >>> model = ag.GraphRegressor(k=2).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, None, None, None])
        >>> model.partial_fit([[3.0]], [7.0]).predict([[0.0], [3.0]]).tolist()
        [1.0, 7.0]
        """
        if not hasattr(self, "learner_"):
            return self.fit(X, y)
        X = self._validated(X, False)
        return self._add(X, self._told(X, y))

    @in_turn
    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict the number of each row.

        Parameters
        ----------
        X : array or sparse matrix
            Any rows; with ``graph="precomputed"`` one row of weights to the nodes per sample.
        return_std : bool
            Whether to return also by how much another answer may differ, a standard deviation; infinite before two numbers.
            A row that is not in the graph takes one solve with an engine that is exact; with another one, it is a bound from
            above, as if the errors at its neighbors were the same error. What functions of features add at such a row is taken
            to be what they add at its neighbors, on average, and to be no less sure.

        Returns
        -------
        mean : array
            One number per row.
        deviation : array
            With ``return_std``, one standard deviation per row, in the unit of the numbers.

        Examples
        --------
        >>> import askgraph as ag
        >>> model = ag.GraphRegressor(k=2).fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, None, 3.0, None, 5.5])
        >>> near, far = model.predict([[2.1], [40.0]], return_std=True)[1]
        >>> bool(near < far)
        True
        """
        check_is_fitted(self)
        learner, return_std = self.learner_, flag(return_std, "return_std")
        if not learner.field.held:
            raise LabelError("no number is known yet: fit with at least one, or ask for rows with query()")
        X = self._validated(X, False)
        rows = self._rows(X)
        links = None if (rows >= 0).all() else self._links(X)
        mean = self._means(rows, links)
        return (mean, self._deviations(rows, links)) if return_std else mean

    @property
    @in_turn
    def transduction_(self) -> Array:
        """The number of every training row."""
        check_is_fitted(self)
        return self.learner_.predict()

    def _means(self, rows: Any, links: csr_array | None) -> Array:
        """Return the predictions of training rows, and those by votes of others."""
        learner, known = self.learner_, rows >= 0
        kind: Any = learner.answers
        mean = np.empty(len(rows))
        if links is not None:
            mean[:] = kind.mean_beyond(learner._moment, learner.field.space.to_numpy(self._votes(links)))
        mean[known] = self._known(learner.predict()[:, None], rows[known])[:, 0]
        return mean

    def _deviations(self, rows: Any, links: csr_array | None) -> Array:
        """Return the standard deviations of another answer about training rows, and about other rows."""
        learner, known = self.learner_, rows >= 0
        kind: Any = learner.answers
        found = np.empty(len(rows))
        if links is not None:
            votes = learner.field.space.to_numpy(self._votes(links))
            found[:] = kind.deviation_beyond(learner._moment, votes, self._variances(links))
        own = kind.deviation(learner._moment)[:, None]
        found[known] = self._known(own**2, rows[known])[:, 0] ** 0.5
        return found

    def _variances(self, links: csr_array) -> Array:
        r"""Return the variances of the field at rows with these links w.

        They are :math:`1/d + w^\top G_t w / d^2` with :math:`d = \sum_j w_j + \delta`. Where the engine estimates variances,
        :math:`(\sum_j w_j \sqrt{g_{jj}})^2`, which is never less, stands for :math:`w^\top G_t w`.
        """
        field = self.learner_.field
        prior, space = field.origin, field.space
        d = prior.scale * links.sum(axis=1) + prior.delta
        mean = csr_array(diags_array(prior.scale / d) @ links)
        if not field.prior.exact:
            return np.asarray(1 / d + (mean @ np.sqrt(space.gather(field.spread.variance))) ** 2)
        parts = [mean[at : at + SOLVES_AT_ONCE].toarray() for at in range(0, mean.shape[0], SOLVES_AT_ONCE)]
        solved = [space.to_numpy(field.apply(space.asarray(part.T))) for part in parts]
        spread = [np.einsum("ij,ji->i", part, G) for part, G in zip(parts, solved, strict=True)]
        return np.asarray(1 / d + np.maximum(np.concatenate(spread), 0.0))

    def _told(self, X: Any, y: Any) -> Told:
        """Return the numbers that are known, by row."""
        numbers, known = numbers_of(y, X.shape[0])
        return {row: Given(float(numbers[row]), None) for row in np.flatnonzero(known).tolist()}

    def _again(self, X: Any, told: Told) -> None:
        self._learner(X, told, self.learner_.answers, None)
