"""What the classifier and the regressor share: a graph of the rows, a learner on it, and other rows joined to the graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from askgraph.errors import GraphError, LabelError, SettingError
from askgraph.estimator.rows import entries, equal, row_keys, within_floats
from askgraph.graph import Graph
from askgraph.graph.build import nearest_neighbors, unit_rows
from askgraph.graph.copies import find_copies
from askgraph.graph.pairs import self_tuned
from askgraph.graph.sources import coordinates
from askgraph.kinds import Kind
from askgraph.learner import Learner
from askgraph.options import options_of
from askgraph.plan import Plan
from askgraph.priors.features import linear_part
from askgraph.support.arguments import flag, one_of, whole_number
from askgraph.support.turns import Turn, in_turn
from askgraph.types import Array, IntArray

FARTHEST = (
    1e300  # the largest power of a weight exp(−power): differences of larger ones could be infinite less infinite
)


class Given(NamedTuple):
    """An answer and its noise; None where the answers choose it."""

    label: Any
    noise: float | None


Told = dict[int, Given]  # what is said, by row


class GraphEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A graph of the rows and a learner on it."""

    learner_: Learner

    @in_turn
    def query(self, n: int = 1) -> IntArray:
        """Choose the rows to label next.

        Parameters
        ----------
        n : int
            The number of rows.

        Returns
        -------
        array of int
            The indices of up to n training rows.

        Examples
        --------
        >>> import askgraph as ag
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0]]
        >>> ag.GraphClassifier(k=2, random_state=0).fit(X, [0, -1, -1, -1, -1]).query().tolist()
        [4]
        """
        check_is_fitted(self)
        return np.array(self.learner_.ask(n), dtype=np.int64)

    def __sklearn_tags__(self) -> Any:
        """Say that rows may be sparse unless they are scaled, and that a given graph is a matrix of non-negative weights."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._given or self.scale is not True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._given
        return tags

    @property
    def _turn(self) -> Turn:
        """The lock; made when it is first taken, since scikit-learn wants nothing but parameters in ``__init__``."""
        return self.__dict__.setdefault("_lock", Turn())

    @property
    def _given(self) -> bool:
        return isinstance(self.graph, str) and self.graph == "precomputed"

    def _validated(self, X: Any, reset: bool = True) -> Any:
        """Return X as scikit-learn checks it; a sparse matrix first as we do, since converting a broken one writes anywhere.

        Rows to predict come back sparse or dense as the training rows are.
        """
        X = coordinates(X).tocsr() if issparse(X) else X
        how = {"accept_sparse": "csr", "ensure_non_negative": self._given, "dtype": float}
        with within_floats("X"):
            X = validate_data(self, X, reset=reset, **how)
        if not reset and issparse(X) and not issparse(self.X_):
            return X.toarray()
        return entries(X) if issparse(X) or (not reset and issparse(self.X_)) else X

    def _learner(self, X: Any, told: Told, kind: Kind, classes: Iterable[Any] | None, features: Any = None) -> None:
        """Build the graph and learn from what is told."""
        if not isinstance(self.graph, str) or self.graph not in ("neighbors", "precomputed"):
            raise SettingError(f"graph={self.graph!r}: choose 'neighbors' or 'precomputed'")
        if features is not None and not self._given:
            raise SettingError(
                "features go with graph='precomputed': rows of graph='neighbors' are features themselves"
            )
        self.X_ = X
        self._weights = entries(X) if self._given else None
        self._lookup: dict[bytes, list[int]] = {}
        for at, key in enumerate(row_keys(X if self._weights is None else self._weights)):
            self._lookup.setdefault(key, []).append(at)
        graph = Graph(X) if self._given else self._neighbors(X)
        if flag(self.linear, "linear") and not self._given:
            features = _joined_features(kind, graph, self._scaled(X))
        seed = check_random_state(self.random_state).randint(2**31)
        options = {} if isinstance(self.sampler, Plan) else options_of(self)
        how = {"answers": kind, "classes": classes, "features": features, "rng": seed}
        self.learner_ = Learner(graph, self.sampler, **how, **self._how(), **options)
        self.learner_.tell_all(
            {row: given.label for row, given in told.items()},
            noise={row: given.noise for row, given in told.items() if given.noise is not None},
        )

    def _how(self) -> dict[str, Any]:
        """Return the settings of the learner that have the same name here."""
        return {"delta": self.delta, "engine": self.engine}

    @abstractmethod
    def _again(self, X: Any, told: Told) -> None:
        """Fit again, on other rows."""

    @property
    def _own_noise(self) -> bool:
        """Whether answers have a noise of their own."""
        return False

    def _add(self, X: Any, told: Told) -> Self:
        """Add what is told to training rows, or new rows."""
        rows = self._rows(X)
        if (rows < 0).any():
            self._again(*self._grown(X, told, rows))
            return self
        for at, given in told.items():
            self._tell(int(rows[at]), given)
        return self

    def _grown(self, X: Any, told: Told, rows: IntArray) -> tuple[Any, Told]:
        """Return the old rows and the new ones, and all that is told of them."""
        if self._given:
            raise LabelError("partial_fit with graph='precomputed' adds labels, not nodes: pass the same matrix again")
        new = rows < 0
        place = np.where(new, self.X_.shape[0] + np.cumsum(new) - 1, rows)
        labels, own = self.learner_.history.told, self._own_noise
        held = {x.node: Given(labels[x.node], x.noise if own else None) for x in self.learner_.field.known}
        held.update({int(place[row]): given for row, given in told.items()})
        return vstack([self.X_, X[new]], format="csr") if issparse(X) else np.vstack([self.X_, X[new]]), held

    def _tell(self, row: int, given: Given) -> None:
        """Tell the answer about this row and about all rows equal to it, so that none of them is asked for."""
        held = {x.node: x for x in self.learner_.field.observations}
        label = self.learner_.answers.checked(given.label, self.learner_.classes)
        for twin in [row] if self._given else self._lookup[next(row_keys(self.X_[[row]]))]:
            if twin in held and given.noise is not None and held[twin].noise != given.noise:
                self.learner_.retract(twin)
            if twin not in self.learner_.labels:
                self.learner_.tell(twin, label, given.noise)
            elif self.learner_.labels[twin] != label:
                self.learner_.relabel(twin, label)

    def _neighbors(self, X: Array) -> Graph:
        n = X.shape[0]
        if n < 2:
            raise GraphError("n_samples=1: neighbours need at least two rows")
        if flag(self.scale, "scale") and issparse(X):
            raise SettingError("scale=True would fill sparse rows: pass scale=False, or dense rows")
        self._range = None if issparse(X) else (X.min(axis=0), X.max(axis=0))
        points = self._scaled(X)
        whole_number(self.k, "k", 1)
        one_of(self.metric, "metric", ("euclidean", "cosine"))
        self._copies = find_copies(points if self.metric == "euclidean" else unit_rows(points))
        m = self._copies.first.size
        distinct = points if m == n else points[self._copies.first]
        self._nearest = NearestNeighbors(n_neighbors=max(1, min(self.k, m - 1)), metric=self.metric).fit(distinct)
        self._reach = self._nearest.kneighbors()[0][:, -1] if m > 1 else np.zeros(1)
        return nearest_neighbors(points, self.k, self.metric, self.bandwidth)

    def _scaled(self, X: Array) -> Array:
        """Return X with its columns scaled to [−1, 1] by the range of the training rows, where ``scale`` is set."""
        if not self.scale or self._range is None:
            return X
        low, high = self._range
        span = np.where(high > low, high - low, np.inf)
        return np.asarray(2 * (X - low) / span - np.where(high > low, 1.0, 0.0))

    def _joined(self, X: Array) -> csr_array:
        """Return weights of other rows to their nearest training rows, by the kernel of the graph; in all δ or more.

        A row far from all others is joined to the nearest all the same: the ridge takes half of what these say, no more.
        """
        d, j = self._nearest.kneighbors(self._scaled(X))
        powers, prior = np.minimum(self._powers(d, j), FARTHEST), self.learner_.field.origin
        w, least = np.exp(-powers), prior.delta / prior.scale
        faint = w.sum(axis=1) < least
        near = np.exp(powers[faint].min(axis=1, keepdims=True) - powers[faint])
        w[faint] = near * (least / near.sum(axis=1, keepdims=True))
        nodes, at = self._copies.some(j.ravel())
        return csr_array((w.ravel()[at], (at // d.shape[1], nodes)), shape=(d.shape[0], self.X_.shape[0]))

    def _powers(self, d: Array, j: IntArray) -> Array:
        """Return −log of the weights of rows at distances d of distinct training rows j, the nearest first."""
        if self.bandwidth is None:
            return np.zeros_like(d)
        if self.bandwidth == "self-tuning":
            return self_tuned(d, np.broadcast_to(d[:, -1:], d.shape), self._reach[j])
        with np.errstate(over="ignore"):
            return np.asarray((d / self.bandwidth) ** 2)

    def _rows(self, X: Any) -> IntArray:
        """Return where each row stands in the training data, or −1; told by what the rows hold, never by their number."""
        if self._weights is None:
            return np.array([self._lookup.get(key, [-1])[0] for key in row_keys(X)], dtype=np.int64)
        rows = entries(X)
        if equal(rows, self._weights):
            return np.arange(X.shape[0])
        found = [self._lookup.get(key, []) if key else [] for key in row_keys(rows)]
        return np.array([places[0] if len(places) == 1 else -1 for places in found], dtype=np.int64)

    def _links(self, X: Any) -> csr_array:
        """Return the weights of rows that are not in the graph to its nodes."""
        return entries(X) if self._given else self._joined(X)

    def _votes(self, links: csr_array) -> Array:
        r"""Return what the field says of rows with these links w, :math:`\sum_j w_j h_j / (\sum_j w_j + \delta)`."""
        field = self.learner_.field
        prior, space = field.origin, field.space
        reach = space.asarray(links.sum(axis=1)[:, None] + prior.delta / prior.scale)
        return space.linked(links, field.votes) / reach

    def _known(self, values: Array, rows: IntArray) -> Array:
        """Return the values of training rows, the mean over the copies of each; values have one row per node."""
        return values[rows] if self._given else self._copies.means(values)[self._copies.of[rows]]


def _joined_features(kind: Kind, graph: Graph, points: Any) -> Any:
    """Return what rows add to the graph that was made of them: a linear function, or what a kind has of its own."""
    if type(kind).join is Kind.join:
        return linear_part(graph, points, from_start=False)
    return kind.join(graph, points)[1]
