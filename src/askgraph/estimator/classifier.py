"""Classes of rows: one per row, ordered or not, or any of several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from askgraph.answers.plain import label_array
from askgraph.errors import LabelError, SettingError
from askgraph.estimator.base import Given, GraphEstimator, Told
from askgraph.estimator.rows import within_floats
from askgraph.estimator.targets import labels_of, sets_of, width_of
from askgraph.kinds import Kind, as_kind
from askgraph.kinds.one_class import OneClass
from askgraph.kinds.several import Several
from askgraph.learner.settings import AUTO, checked_noise
from askgraph.options import with_options
from askgraph.readouts.each_class import thresholds
from askgraph.support.moved import with_new_names
from askgraph.support.turns import in_turn
from askgraph.types import AnyArray, Array, BoolArray

FAINT = float(
    np.finfo(float).eps
)  # probabilities of several classes are between this and one less this, as scikit-learn checks


def _checked_weights(sample_weight: Any, X: Any) -> Array:
    """Return one weight per row as scikit-learn checks it; complex numbers are refused, where numpy would drop a part."""
    if np.asarray(sample_weight).dtype.kind == "c":
        raise SettingError("sample_weight has complex numbers: give one real number per row")
    with within_floats("sample_weight"):
        weights: Array = _check_sample_weight(sample_weight, X, dtype=float, ensure_non_negative=True)
    return weights


class GraphClassifier(ClassifierMixin, GraphEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Semi-supervised classification on a nearest-neighbor graph of the rows, or on a graph that is given.

    ``fit(X, y)`` takes all rows; −1, None, NaN or NA in y says that the label is not known. ``query(n)`` says which rows to
    label next, ``partial_fit(X, y)`` adds labels or rows. ``predict`` and ``predict_proba`` take any rows: a row of the
    training data gets the answer of its node (the mean, where it repeats), another row is joined to its nearest training
    rows and reads the field there.

    A row may have any of several classes: y has a column per class then, 1 where the row has it and 0 where not, and a row of
    −1 or of NaN where they are not known. ``predict`` returns such columns, and ``predict_proba`` one probability per column,
    each by itself.

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
        does; for ordered and several classes smooth functions too, each as much as the labels speak for. For
        ``graph="neighbors"`` only; with ``graph="precomputed"`` pass features to :meth:`fit`.
    noise : float or "auto"
        The label noise γ, a standard deviation, as in :class:`Learner`; a label of sample weight w has the noise γ/√w, and with
        "auto" all labels of weights above 0 count alike.
    delta : float, optional
        The ridge of the field; None for a thousandth of the mean degree.
    sampler : str, Criterion, callable or Plan
        How :meth:`query` chooses rows, as in :class:`Learner`.
    readout : str, Readout or callable, optional
        As in :class:`Learner`; leave it out where a row may have several classes.
    engine
        As in :class:`Learner`.
    answers : {"classes", "ordered"} or Ordered
        Whether the classes of one label per row have an order: then they are numbers, or the steps of :class:`Ordered`, and
        ``predict`` returns the median.
    random_state : int, RandomState or None
        The seed.
    doubt, class_shares, form, expect, ahead, explore, first, batch, small_components, hubs, spot_checks
        Options of the plan, as in :class:`Learner`; see :class:`askgraph.Options`.

    Attributes
    ----------
    classes_ : array
        The classes in sorted order, which is that of the columns of :meth:`predict_proba`; where y has columns, their numbers.
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
    >>> y = [[1, 0], [-1, -1], [-1, -1], [-1, -1], [-1, -1], [1, 1]]  # everything is red, some is round
    >>> GraphClassifier(k=2).fit([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], y).predict([[0.15], [5.15]]).tolist()
    [[1, 0], [1, 1]]
    """

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
        readout: Any = None,
        engine: Any = "auto",
        random_state: Any = None,
        answers: Any = "classes",
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
        self.answers = answers

    @in_turn
    def fit(self, X: Any, y: Any, features: Any = None, sample_weight: Any = None) -> Self:
        """Build the graph and learn from the labels that are known.

        Parameters
        ----------
        X : array or sparse matrix
            One row per sample, labeled or not; with ``graph="precomputed"`` the symmetric weight matrix.
        y : array, or column of pandas, polars or pyarrow
            One label per row; −1, None, NaN or NA where the label is not known. Labels keep their type beside gaps. Or a
            table of 0 and 1 with a column per class; a row of −1 or of NaN where nothing is known.
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
        X = self._validated(X)
        kind, classes = self._kind(y)
        told = self._told(X, y, sample_weight, kind)
        return self._fit(X, told, kind, [*classes, *_names_of(told, kind)], features)

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
            One label per row, or a table of 0 and 1, as in :meth:`fit`; −1, None, NaN or NA where nothing is told. A label of
            a labeled row replaces the old one.
        classes : array, optional
            All classes; read by the first call only, and not where y has a column per class.
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
        kind, columns = self._kind(y) if fresh else self._same_kind(y)
        told = self._told(X, y, sample_weight, kind)
        if fresh:
            declared = [] if classes is None or columns else np.asarray(classes).tolist()
            return self._fit(X, told, kind, [*columns, *declared, *_names_of(told, kind)])
        self._add(X, told)
        self.classes_ = _sorted_array(self.learner_.classes)
        return self

    @in_turn
    def predict(self, X: Any) -> AnyArray:
        """Predict the label of each row, or which classes it has.

        Parameters
        ----------
        X : array or sparse matrix
            Any rows; with ``graph="precomputed"`` one row of weights to the nodes per sample.

        Returns
        -------
        array
            One label per row; or 0 and 1, one row per sample and one column per class.

        Examples
        --------
        >>> import askgraph as ag
        >>> model = ag.GraphClassifier(k=1, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]], [0, -1, 1, -1])
        >>> model.predict([[0.4], [10.6]]).tolist()
        [0, 1]
        """
        self._check_told()
        X, kind = self._validated(X, False), self.learner_.answers
        if isinstance(kind, Several):
            return self._sets(X, kind).astype(np.int64)
        assert isinstance(kind, OneClass)
        return np.asarray(self.classes_[kind.decide(self._read(X), self.classes_.tolist())])

    @in_turn
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class; rows add up to 1 unless a row may have several classes.

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
        self._check_told()
        p = self._read(self._validated(X, False))
        return np.clip(p, FAINT, 1 - FAINT) if isinstance(self.learner_.answers, Several) else p

    @property
    @in_turn
    def transduction_(self) -> AnyArray:
        """The label of every training row, or which classes it has."""
        check_is_fitted(self)
        kind, moment = self.learner_.answers, self.learner_._moment
        return kind.decide(moment).astype(np.int64) if isinstance(kind, Several) else self.learner_.predict()

    def __sklearn_tags__(self) -> Any:
        """Say that a row may have several classes, beside what the regressor says too."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _how(self) -> dict[str, Any]:
        return {**super()._how(), "noise": self.noise, "readout": self.readout}

    @property
    def _own_noise(self) -> bool:
        return not self._chooses_noise

    @property
    def _chooses_noise(self) -> bool:
        return isinstance(self.noise, str) and self.noise == AUTO

    def _kind(self, y: Any) -> tuple[Kind, range]:
        """Return the kind of answers that y has, and the numbers of its columns where each is a class."""
        width = width_of(y)
        if width is not None:
            return Several(), range(width)
        kind = as_kind(self.answers)
        if not isinstance(kind, OneClass):
            raise SettingError(
                f"answers={self.answers!r}: choose 'classes' or 'ordered'; for several classes give y a column per class, for "
                "numbers take GraphRegressor"
            )
        return kind, range(0)

    def _same_kind(self, y: Any) -> tuple[Kind, range]:
        """Return the same of more labels; raise an error where they are not like those before."""
        kind, width = self.learner_.answers, width_of(y)
        before = self.classes_.size if isinstance(kind, Several) else None
        if width != before:
            was, now = ("one label per row" if n is None else f"{n} columns" for n in (before, width))
            raise LabelError(f"y has {now}, and had {was} when this classifier was fitted: give the same, or fit again")
        return kind, range(width or 0)

    def _told(self, X: Any, y: Any, sample_weight: Any, kind: Kind) -> Told:
        """Return the labels that are known, by row, each with its noise."""
        labels, known = (sets_of if isinstance(kind, Several) else labels_of)(y, X.shape[0])
        gamma: Any = np.full(X.shape[0], None if self._chooses_noise else checked_noise(self.noise))
        if sample_weight is not None:
            weights = _checked_weights(sample_weight, X)
            known = known & (weights > 0)
            gamma = gamma if self._chooses_noise else gamma / np.sqrt(np.where(weights > 0, weights, 1.0))
        at = np.flatnonzero(known).tolist()
        pairs = zip(labels[known].tolist(), gamma[known].tolist(), strict=True)
        return {row: Given(*pair) for row, pair in zip(at, pairs, strict=True)}

    def _fit(self, X: Any, told: Told, kind: Kind, classes: Iterable[Any], features: Any = None) -> Self:
        ordered = bool(kind.declared(None))  # steps, which the kind declares itself
        names = None if ordered else _sorted_array(set(classes)).tolist()
        self._learner(X, told, kind, names, features)
        self.classes_ = _sorted_array(self.learner_.classes)
        return self

    def _again(self, X: Any, told: Told) -> None:
        kind = self.learner_.answers
        self._fit(X, told, kind, [*self.classes_.tolist(), *_names_of(told, kind)])

    def _check_told(self) -> None:
        """Raise an error where nothing can be predicted yet."""
        check_is_fitted(self)
        held, several = self.learner_.field.held, isinstance(self.learner_.answers, Several)
        if not len(self.classes_) or (several and not held):
            raise LabelError("no label is known yet: fit with at least one, or ask for rows to label with query()")

    def _read(self, X: Any) -> Array:
        """Return the probabilities of training rows, and of other rows by their votes; columns are those of ``classes_``."""
        learner, rows = self.learner_, self._rows(X)
        order = [learner.classes.index(label) for label in self.classes_.tolist()]
        known = rows >= 0
        if known.all():
            return self._known(learner.probabilities(), rows)[:, order]
        links = self._links(X)
        p = learner.field.space.to_numpy(learner.answers.probabilities(learner._moment, self._votes(links), links))
        p[known] = self._known(learner.probabilities(), rows[known])
        return p[:, order]

    def _sets(self, X: Any, kind: Several) -> BoolArray:
        """Return which classes rows have: training rows as the learner says, most copies of each; others by its thresholds."""
        learner, rows = self.learner_, self._rows(X)
        known = rows >= 0
        has = self._read(X) > thresholds(learner.field, learner.probabilities())
        has[known] = self._known(kind.decide(learner._moment).astype(float), rows[known]) > 0.5
        return has


def _names_of(told: Told, kind: Kind) -> list[Any]:
    """Return the classes that are told."""
    return [name for given in told.values() for name in kind.named(given.label)]


def _sorted_array(labels: Iterable[Any]) -> AnyArray:
    """Return classes in sorted order, mixed types by the name of their type first."""
    ordered = sorted(
        labels, key=lambda label: ("", label) if isinstance(label, int | float) else (type(label).__name__, label)
    )
    return label_array(ordered)
