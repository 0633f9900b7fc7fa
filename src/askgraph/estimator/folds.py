"""Folds for cross-validation where some rows have no label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state, indexable

from askgraph.errors import LabelError
from askgraph.estimator.targets import labels_of, numbers_of, sets_of, width_of
from askgraph.support.arguments import flag, whole_number
from askgraph.support.wording import counted
from askgraph.types import AnyArray, BoolArray, IntArray


class LabeledKFold(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn has no types
    """Split labeled rows into folds; rows without a label are in every training part, and in no test part.

    So a score counts rows whose label is known, and a model that learns from unlabeled rows has them. Rows are sorted by their
    labels and dealt to the folds in turn, so the folds have equal sizes and equal shares of each class, but for one row, and
    numbers of all sizes. A class may have fewer rows than there are folds.

    Parameters
    ----------
    n_splits : int
        The number of folds, at least 2.
    numbers : bool
        Whether y holds numbers, where −1 is a number and NaN or None means not labeled; else −1 does, too.
    shuffle : bool
        Whether to shuffle the labeled rows first.
    random_state : int, RandomState or None
        The seed, where they are shuffled.

    Examples
    --------
    >>> import askgraph as ag
    >>> for train, test in ag.LabeledKFold(2).split([[0], [1], [2], [3], [4]], [0, 1, -1, 0, 1]):
    ...     print(train, test)
    [2 3 4] [0 1]
    [0 1 2] [3 4]

    With scikit-learn, ``cross_val_score(ag.GraphClassifier(), X, y, cv=ag.LabeledKFold(5))``, and the same for
    ``GridSearchCV``.
    """

    def __init__(
        self, n_splits: int = 5, *, numbers: bool = False, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = whole_number(n_splits, "n_splits", 2)
        self.numbers = flag(numbers, "numbers")
        self.shuffle = flag(shuffle, "shuffle")
        self.random_state = random_state

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows to train with and those to test with, fold by fold.

        Parameters
        ----------
        X : array
            One row per sample, labeled or not.
        y : array
            One label per row, where it is known.
        groups : None
            Not read.

        Yields
        ------
        train : array of int
            The rows to train with, in order.
        test : array of int
            The rows to test with, in order.

        Examples
        --------
        >>> import askgraph as ag
        >>> [test.tolist() for _, test in ag.LabeledKFold(2).split([[0], [1], [2]], ["a", None, "a"])]
        [[0], [2]]
        """
        X, y = indexable(X, y)
        labels, known = self._labels(y, X.shape[0] if hasattr(X, "shape") else len(X))
        at = np.flatnonzero(known)
        if at.size < self.n_splits:
            raise LabelError(
                f"{counted(at.size, 'row')} with a label for n_splits={self.n_splits}: label more, or split less"
            )
        order = check_random_state(self.random_state).permutation(at.size) if self.shuffle else np.arange(at.size)
        order = order[np.argsort(labels[at][order], kind="stable")]
        fold = np.full(len(known), -1)
        fold[at[order]] = np.arange(at.size) % self.n_splits
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def _labels(self, y: Any, n: int) -> tuple[AnyArray, BoolArray]:
        """Return what to sort rows by, and which of them have a label."""
        if self.numbers:
            return numbers_of(y, n)
        labels, known = labels_of(y, n) if width_of(y) is None else sets_of(y, n)
        return np.array([str(label) for label in labels]), known

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X : object
            Not read.
        y : object
            Not read.
        groups : object
            Not read.

        Returns
        -------
        int
            The number of folds.

        Examples
        --------
        >>> import askgraph as ag
        >>> ag.LabeledKFold(3).get_n_splits()
        3
        """
        return self.n_splits
