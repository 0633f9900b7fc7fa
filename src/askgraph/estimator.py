"""The scikit-learn face: rows in, labels out, and which row to label next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse, vstack
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    check_random_state,
    column_or_1d,
    validate_data,
)

from askgraph.answers import coding
from askgraph.answers.plain import label_array, plain_label
from askgraph.errors import GraphError, LabelError, SettingError
from askgraph.graph import Graph
from askgraph.graph.build import nearest_neighbors, unit_rows
from askgraph.graph.copies import find_copies
from askgraph.graph.pairs import self_tuned
from askgraph.graph.sources import coordinates
from askgraph.learner import Learner
from askgraph.learner.settings import AUTO, checked_noise
from askgraph.options import options_of, with_options
from askgraph.plan import Plan
from askgraph.priors.features import linear_part
from askgraph.support.arguments import flag, is_missing, one_of, whole_number
from askgraph.support.moved import with_new_names
from askgraph.support.turns import Turn, in_turn
from askgraph.types import AnyArray, Array, BoolArray, IntArray

FARTHEST = (
    1e300  # the largest power of a weight exp(−power): differences of larger ones could be infinite less infinite
)
UNLABELED = -1  # in y: the label of this row is not known


@contextmanager
def within_floats(name: str) -> Iterator[None]:
    """Say of an argument that a number in it is too large for a float."""
    try:
        yield
    except OverflowError:
        raise SettingError(f"{name} has a number that is too large for a float: give smaller numbers") from None


def _checked_weights(sample_weight: Any, X: Any) -> Array:
    """Return one weight per row as scikit-learn checks it; complex numbers are refused, where numpy would drop a part."""
    if np.asarray(sample_weight).dtype.kind == "c":
        raise SettingError("sample_weight has complex numbers: give one real number per row")
    with within_floats("sample_weight"):
        weights: Array = _check_sample_weight(sample_weight, X, dtype=float, ensure_non_negative=True)
    return weights


class _Given(NamedTuple):
    """A label and its noise; None where the labels choose it."""

    label: Any
    noise: float | None


class GraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Semi-supervised classification on a nearest-neighbor graph of the rows, or on a graph that is given.

    ``fit(X, y)`` takes all rows; −1, None, NaN or NA in y says that the label is not known. ``query(n)`` says which rows to
    label next, ``partial_fit(X, y)`` adds labels or rows. ``predict`` and ``predict_proba`` take any rows: a row of the
    training data gets the answer of its node (the mean, where it repeats), another row is joined to its nearest training
    rows and reads the field there.

    With ``graph="precomputed"`` X is the symmetric weight matrix in ``fit``, and one row of weights to its nodes per sample
    in ``predict``. The matrix given to ``fit``, equal entry by entry, gets each node's answer; of any other matrix, a row gets
    a node's answer only if it equals the weights of that node and of no other. A row of zeros is joined to nothing.

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
        Whether to add a linear function of the rows to the field once leave-one-out asks for it, as ``Learner(features=X)``
        does; for ``graph="neighbors"`` only. With ``graph="precomputed"`` pass features to :meth:`fit`.
    noise : float or "auto"
        The label noise γ, a standard deviation, as in :class:`Learner`; a label of sample weight w has the noise γ/√w, and with
        "auto" all labels of weights above 0 count alike.
    delta : float, optional
        The ridge of the field; None for a thousandth of the mean degree.
    sampler : str, Criterion, callable or Plan
        How :meth:`query` chooses rows, as in :class:`Learner`.
    readout, engine
        As in :class:`Learner`.
    random_state : int, RandomState or None
        The seed.
    doubt, class_shares, form, expect, ahead, explore, first, batch, small_components, hubs, spot_checks
        Options of the plan, as in :class:`Learner`; see :class:`askgraph.Options`.

    Attributes
    ----------
    classes_ : array
        The classes in sorted order, which is that of the columns of :meth:`predict_proba`.
    learner_ : Learner
        The learner; its nodes are the training rows.
    X_ : array or sparse matrix
        The training rows, or the weight matrix.
    n_features_in_ : int
        The number of columns of X.

    Examples
    --------
    >>> model = GraphClassifier(k=2).fit([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], [0, -1, -1, -1, -1, 1])
    >>> model.predict([[0.15], [4.0]]).tolist()
    [0, 1]
    """

    learner_: Learner
    classes_: AnyArray

    @with_new_names({"utility": "sampler"})
    @with_options
    def __init__(
        self,
        graph: str = "neighbors",
        k: int = 10,
        metric: Any = "euclidean",
        bandwidth: Any = "self-tuning",
        scale: bool = False,
        linear: bool = False,
        noise: float | Literal["auto"] = "auto",
        delta: float | None = None,
        sampler: Any = "influence",
        readout: Any = "cautious",
        engine: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.graph = graph
        self.k = k
        self.metric = metric
        self.bandwidth = bandwidth
        self.scale = scale
        self.linear = linear
        self.noise = noise
        self.delta = delta
        self.sampler = sampler
        self.readout = readout
        self.engine = engine
        self.random_state = random_state

    @in_turn
    def fit(self, X: Any, y: Any, features: Any = None, sample_weight: Any = None) -> Self:
        """Build the graph and learn from the labels that are known.

        Parameters
        ----------
        X : array or sparse matrix
            One row per sample, labeled or not; with ``graph="precomputed"`` the symmetric weight matrix.
        y : array, or column of pandas, polars or pyarrow
            One label per row; −1, None, NaN or NA where the label is not known. Labels keep their type beside gaps.
        features : array or sparse matrix, optional
            With ``graph="precomputed"``, features of the nodes, one row per node, as in :class:`Learner`.
        sample_weight : array, optional
            One weight w ≥ 0 per row: its label has the noise γ/√w, γ being ``noise``. Where that is "auto" or 0, all
            weights above 0 count alike. A label of weight 0 is left out: the row stays in the graph, unlabeled.

        Returns
        -------
        GraphClassifier
            This classifier.

        Examples
        --------
        >>> W, X = np.diag([1.0, 1.0, 1.0], 1), [[1.0, 0.0], [0.9, 0.1], [0.1, 0.9], [0.0, 1.0]]
        >>> model = GraphClassifier(graph="precomputed", readout="map").fit(W + W.T, ["a", None, None, "b"], features=X)
        >>> model.transduction_.tolist()
        ['a', 'a', 'b', 'b']
        """
        if features is not None and not self._given:
            raise SettingError(
                "features go with graph='precomputed': rows of graph='neighbors' are features themselves"
            )
        X = self._validated(X)
        told = self._told(X, y, sample_weight)
        return self._fit(X, told, _classes_of(told), features)

    @in_turn
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add labels to training rows, or new rows; with new rows, the graph is built anew.

        Where no row is new, a label goes to all training rows that equal the row. Without an earlier ``fit``, this method
        fits.

        Parameters
        ----------
        X : array or sparse matrix
            Training rows or new rows, as in :meth:`fit`; with ``graph="precomputed"`` the same matrix as in :meth:`fit`.
        y : array
            One label per row; −1, None, NaN or NA where nothing is told. A label of a labeled row replaces the old one.
        classes : array, optional
            All classes; read by the first call only.
        sample_weight : array, optional
            One weight per row, as in :meth:`fit`.

        Returns
        -------
        GraphClassifier
            This classifier.

        Examples
        --------
        >>> model = GraphClassifier(k=2).fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, -1, -1, -1, -1])
        >>> model.partial_fit([[4.0]], [1]).predict([[1.0], [3.0]]).tolist()
        [0, 1]
        """
        fresh = not hasattr(self, "learner_")
        X = self._validated(X, fresh)
        told = self._told(X, y, sample_weight)
        if fresh:
            return self._fit(X, told, {*([] if classes is None else np.asarray(classes).tolist()), *_classes_of(told)})
        rows = self._rows(X)
        if (rows < 0).any():
            return self._grown(X, told, rows)
        for at, given in told.items():
            self._tell(int(rows[at]), given)
        self.classes_ = _sorted_array(self.learner_.classes)
        return self

    @in_turn
    def predict(self, X: Any) -> AnyArray:
        """Predict the label of each row.

        Parameters
        ----------
        X : array or sparse matrix
            Any rows; with ``graph="precomputed"`` one row of weights to the nodes per sample.

        Returns
        -------
        array
            One label per row.

        Examples
        --------
        >>> import askgraph as ag
        >>> model = ag.GraphClassifier(k=1, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]], [0, -1, 1, -1])
        >>> model.predict([[0.4], [10.6]]).tolist()
        [0, 1]
        """
        p = self.predict_proba(X)
        return np.asarray(self.classes_[coding.decide(p)])

    @in_turn
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class.

        Parameters
        ----------
        X : array or sparse matrix
            Any rows; with ``graph="precomputed"`` one row of weights to the nodes per sample.

        Returns
        -------
        array
            One row per sample, one column per class of ``classes_``.

        Examples
        --------
        >>> model = GraphClassifier(k=2, readout="map").fit([[0.0], [1.0], [2.0]], ["a", None, "b"])
        >>> model.predict_proba([[1.0]]).round(2).tolist()
        [[0.5, 0.5]]
        """
        check_is_fitted(self)
        if not len(self.classes_):
            raise LabelError("no label is known yet: fit with at least one, or ask for rows to label with query()")
        X = self._validated(X, False)
        p = self._read(X)
        order = [self.learner_.classes.index(label) for label in self.classes_.tolist()]
        return p[:, order]

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
        >>> model = GraphClassifier(k=2, random_state=0).fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, -1, -1, -1, -1])
        >>> model.query().tolist()
        [4]
        """
        check_is_fitted(self)
        return np.array(self.learner_.ask(n), dtype=np.int64)

    @property
    @in_turn
    def transduction_(self) -> AnyArray:
        """The label of every training row."""
        check_is_fitted(self)
        return self.learner_.predict()

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
        return _entries(X) if issparse(X) or (not reset and issparse(self.X_)) else X

    @property
    def _chooses_noise(self) -> bool:
        return isinstance(self.noise, str) and self.noise == AUTO

    def _told(self, X: Any, y: Any, sample_weight: Any) -> dict[int, _Given]:
        """Return the labels that are known, by row, each with its noise."""
        labels, known = _split(y, X.shape[0])
        gamma: Any = np.full(X.shape[0], None if self._chooses_noise else checked_noise(self.noise))
        if sample_weight is not None:
            weights = _checked_weights(sample_weight, X)
            known = known & (weights > 0)
            gamma = gamma if self._chooses_noise else gamma / np.sqrt(np.where(weights > 0, weights, 1.0))
        at = np.flatnonzero(known).tolist()
        pairs = zip(labels[known].tolist(), gamma[known].tolist(), strict=True)
        return {row: _Given(*pair) for row, pair in zip(at, pairs, strict=True)}

    def _fit(self, X: Any, told: dict[int, _Given], classes: Iterable[Any], features: Any = None) -> Self:
        if not isinstance(self.graph, str) or self.graph not in ("neighbors", "precomputed"):
            raise SettingError(f"graph={self.graph!r}: choose 'neighbors' or 'precomputed'")
        self.X_ = X
        self._weights = _entries(X) if self._given else None
        self._lookup: dict[bytes, list[int]] = {}
        for at, key in enumerate(_row_keys(X if self._weights is None else self._weights)):
            self._lookup.setdefault(key, []).append(at)
        graph = Graph(X) if self._given else self._neighbors(X)
        if flag(self.linear, "linear") and not self._given:
            features = linear_part(graph, self._scaled(X), from_start=False)
        seed = check_random_state(self.random_state).randint(2**31)
        names = _sorted_array(set(classes))
        how: dict[str, Any] = {"delta": self.delta, "noise": self.noise, "readout": self.readout, "engine": self.engine}
        options = {} if isinstance(self.sampler, Plan) else options_of(self)
        self.learner_ = Learner(
            graph, self.sampler, classes=names.tolist(), features=features, rng=seed, **how, **options
        )
        self.learner_.tell_all(
            {row: given.label for row, given in told.items()},
            noise={row: given.noise for row, given in told.items() if given.noise is not None},
        )
        self.classes_ = names
        return self

    def _grown(self, X: Any, told: dict[int, _Given], rows: IntArray) -> Self:
        """Fit again, on the old rows and the new ones."""
        if self._given:
            raise LabelError("partial_fit with graph='precomputed' adds labels, not nodes: pass the same matrix again")
        new = rows < 0
        place = np.where(new, self.X_.shape[0] + np.cumsum(new) - 1, rows)
        chosen = self._chooses_noise
        labels = self.learner_.history.told
        held = {x.node: _Given(labels[x.node], None if chosen else x.noise) for x in self.learner_.field.known}
        held.update({int(place[row]): given for row, given in told.items()})
        merged = vstack([self.X_, X[new]], format="csr") if issparse(X) else np.vstack([self.X_, X[new]])
        return self._fit(merged, held, {*self.classes_.tolist(), *_classes_of(held)})

    def _tell(self, row: int, given: _Given) -> None:
        """Tell the label of this row and of all rows equal to it, so that none of them is asked for."""
        held = {x.node: x for x in self.learner_.field.observations}
        for twin in [row] if self._given else self._lookup[next(_row_keys(self.X_[[row]]))]:
            if twin in held and given.noise is not None and held[twin].noise != given.noise:
                self.learner_.retract(twin)
            if twin not in self.learner_.labels:
                self.learner_.tell(twin, given.label, given.noise)
            elif self.learner_.labels[twin] != given.label:
                self.learner_.relabel(twin, given.label)

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
            return np.array([self._lookup.get(key, [-1])[0] for key in _row_keys(X)], dtype=np.int64)
        rows = _entries(X)
        if _equal(rows, self._weights):
            return np.arange(X.shape[0])
        found = [self._lookup.get(key, []) if key else [] for key in _row_keys(rows)]
        return np.array([places[0] if len(places) == 1 else -1 for places in found], dtype=np.int64)

    def _read(self, X: Any) -> Array:
        r"""Return those of a training row, or another row's, :math:`\sum_j w_j h_j / (\sum_j w_j + \delta)`, its links w."""
        field, rows = self.learner_.field, self._rows(X)
        if (rows >= 0).all():
            return self._known(rows)
        prior, W = field.origin, _entries(X) if self._given else self._joined(X)
        votes = prior.space.linked(W, field.votes) / prior.space.asarray(
            W.sum(axis=1)[:, None] + prior.delta / prior.scale
        )
        p = prior.space.to_numpy(self.learner_.answers.probabilities(self.learner_._moment, votes, W))
        p[rows >= 0] = self._known(rows[rows >= 0])
        return p

    def _known(self, rows: IntArray) -> Array:
        """Return the probabilities of training rows, the mean over the copies of each."""
        p = self.learner_.probabilities()
        return p[rows] if self._given else self._copies.means(p)[self._copies.of[rows]]


def _entries(X: Any) -> csr_array:
    """Return a matrix as its entries that are not zero, each once and in order: equal matrices give equal arrays."""
    W = coordinates(X if issparse(X) else coo_array(X)).tocsr()
    W.sum_duplicates()
    W.eliminate_zeros()
    return W


def _equal(A: csr_array, B: csr_array) -> bool:
    same = A.shape == B.shape and np.array_equal(A.indptr, B.indptr)
    return same and np.array_equal(A.indices, B.indices) and np.array_equal(A.data, B.data)


def _row_keys(X: Any) -> Iterator[bytes]:
    """Yield the content of each row as bytes; of a row without entries, nothing."""
    if not issparse(X):
        yield from (row.tobytes() for row in X + 0.0)  # -0.0 is 0.0
        return
    for start, stop in pairwise(X.indptr.tolist()):
        yield X.indices[start:stop].astype(np.int64).tobytes() + X.data[start:stop].tobytes()


def _classes_of(told: dict[int, _Given]) -> list[Any]:
    return [given.label for given in told.values()]


def _split(y: Any, n: int) -> tuple[AnyArray, BoolArray]:
    """Return the labels, and where they are known: −1, None, NaN and NA mean unlabeled."""
    if y is None:
        raise ValueError(
            "this classifier requires y to be passed, but the target y is None; mark unlabeled rows with -1"
        )
    if (cells := _cells_with_gaps(y)) is not None:
        return _split_cells(cells, n)
    y = column_or_1d(y, warn=True)
    _check_count(y, n)
    if y.dtype.kind in "iuf":
        return _numbers(y)
    known = np.array([not is_missing(label) and not _is(label, UNLABELED) for label in y], dtype=bool)
    if any(_is(label, "-1") for label in y[known]):
        raise LabelError(
            "y holds the text '-1': mark unlabeled rows with None (in an array of objects) or with the number -1"
        )
    if y.dtype == object:  # scalars of other libraries may be equal and yet be different keys
        plain = [plain_label(label) if there else None for label, there in zip(y, known, strict=True)]
        y = np.fromiter(plain, dtype=object, count=len(plain))
    return y, known


def _check_count(y: Sequence[Any] | AnyArray, n: int) -> None:
    if len(y) != n:
        raise ValueError(f"X has {n} rows and y {len(y)} labels: give one a row, -1 where it is not known")


def _split_cells(cells: Sequence[Any], n: int) -> tuple[AnyArray, BoolArray]:
    """Return what `_split` does; labels beside a gap stay what they are, where NumPy would make floats of integers and booleans."""
    _check_count(cells, n)
    known = np.array([not is_missing(cell) for cell in cells], dtype=bool)
    there = [cell for cell, given in zip(cells, known, strict=True) if given]
    numbers = all(type(cell) in (int, float) for cell in there)
    labels = np.array(there) if numbers and there else np.fromiter(there, dtype=object, count=len(there))
    labels, told = _split(labels, len(there))
    y = np.zeros(n, dtype=labels.dtype)
    y[known], known[known] = labels, told
    return y, known


def _cells_with_gaps(y: Any) -> list[Any] | None:
    """Return the cells of a column that marks gaps in its own way; None for what NumPy reads as it is."""
    kind = getattr(y, "dtype", None)
    if hasattr(y, "to_pylist"):  # pyarrow
        return list(y.to_pylist())
    if hasattr(kind, "na_value"):  # a type of pandas's own
        return list(y.tolist())
    if hasattr(y, "to_list") and not isinstance(kind, np.dtype):  # polars
        return list(y.to_list())
    return None


def _is(label: Any, value: Any) -> bool:
    return bool(np.all(label == value))


def _numbers(y: AnyArray) -> tuple[AnyArray, BoolArray]:
    missing = np.isnan(y)
    if set(np.unique(y[~missing])) == {-1, 1}:
        raise LabelError(
            "y holds only -1 and +1, and -1 means unlabeled: recode two classes, for example with (y + 1) // 2 for {0, 1}; "
            "if +1 is the one class known so far, give it another name"
        )
    y = np.where(missing, UNLABELED, y) if missing.any() else y
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return y, y != UNLABELED


def _sorted_array(labels: Iterable[Any]) -> AnyArray:
    """Return classes in sorted order, mixed types by the name of their type first."""
    ordered = sorted(
        labels, key=lambda label: ("", label) if isinstance(label, int | float) else (type(label).__name__, label)
    )
    return label_array(ordered)
