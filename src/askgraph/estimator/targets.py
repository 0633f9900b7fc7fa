"""What y says of each row, and of which rows it says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from askgraph.answers.plain import plain_label
from askgraph.errors import LabelError
from askgraph.estimator.rows import within_floats
from askgraph.kinds.kind import as_objects
from askgraph.support.arguments import is_missing
from askgraph.types import AnyArray, Array, BoolArray

UNLABELED = -1  # in y: the label of this row is not known


def labels_of(y: Any, n: int) -> tuple[AnyArray, BoolArray]:
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


def _check_count(y: Sequence[Any] | AnyArray, n: int, unknown: str = "-1") -> None:
    if len(y) != n:
        raise ValueError(f"X has {n} rows and y {len(y)} labels: give one a row, {unknown} where it is not known")


def _split_cells(cells: Sequence[Any], n: int) -> tuple[AnyArray, BoolArray]:
    """Return what `labels_of` does; beside a gap integers and booleans stay what they are, where NumPy would make floats."""
    _check_count(cells, n)
    known = np.array([not is_missing(cell) for cell in cells], dtype=bool)
    there = [cell for cell, given in zip(cells, known, strict=True) if given]
    numbers = all(type(cell) in (int, float) for cell in there)
    labels = np.array(there) if numbers and there else np.fromiter(there, dtype=object, count=len(there))
    labels, told = labels_of(labels, len(there))
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
    with np.errstate(invalid="ignore"):  # of a number too large for an integer
        check_classification_targets(y)
    return y, y != UNLABELED


def width_of(y: Any) -> int | None:
    """Return the number of columns of y where a row says of several classes whether it has them; None for one label per row.

    >>> width_of([[0, 1], [1, 1]]), width_of([0, 1]), width_of([["a"], ["b"]])
    (2, None, None)
    """
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple):
        try:
            shape = np.shape(y)
        except ValueError:  # rows of different lengths
            return None
    return int(shape[1]) if isinstance(shape, tuple) and len(shape) == 2 and shape[1] > 1 else None


def sets_of(y: Any, n: int) -> tuple[AnyArray, BoolArray]:
    """Return the columns that each row has, as tuples of their numbers, and where they are known: a row of −1 or NaN is not.

    >>> sets_of([[0, 1, 1], [-1, -1, -1], [0, 0, 0]], 3)[0].tolist()
    [(1, 2), (), ()]
    """
    cells = _cells_of(y)
    _check_count(cells, n)
    unknown = np.isnan(cells) | (cells == UNLABELED)
    known: BoolArray = ~unknown.all(axis=1)
    partly = np.flatnonzero(unknown.any(axis=1) & known)
    if partly.size:
        raise LabelError(
            f"row {partly[0]} of y says only of some classes whether it has them: give 0 or 1 in every column, or -1 (or NaN) in "
            "all of them where the row is not labeled"
        )
    wrong = cells[known & ~np.isin(cells, (0, 1)).all(axis=1)]
    if wrong.size:
        raise LabelError(
            f"y has {wrong[~np.isin(wrong, (0, 1))][0]:g}: where y has several columns, each is a class, 1 where the row has it, "
            "else 0"
        )
    return as_objects([tuple(np.flatnonzero(row == 1).tolist()) for row in cells]), known


def _cells_of(y: Any) -> Array:
    """Return a table of numbers, NaN for whatever says that nothing is known."""
    cells = np.asarray(y.toarray() if issparse(y) else _unmasked(y))
    if cells.dtype == object:
        cells = np.array([[np.nan if is_missing(cell) else cell for cell in row] for row in cells])
    return _as_floats(cells)


def numbers_of(y: Any, n: int) -> tuple[Array, BoolArray]:
    """Return one number per row, and where they are known: None, NaN and NA mean not known, −1 is a number.

    >>> numbers_of([2.5, None, -1], 3)[1].tolist()
    [True, False, True]
    """
    if y is None:
        raise ValueError(
            "this regressor requires y to be passed, but the target y is None; mark rows without a number with NaN"
        )
    cells = _cells_with_gaps(y)
    y = _unmasked(y) if cells is None else np.fromiter(cells, dtype=object, count=len(cells))
    y = column_or_1d(y, warn=True)
    _check_count(y, n, "NaN")
    if y.dtype == object:
        y = np.array([np.nan if is_missing(cell) else cell for cell in y.tolist()])
    y = _as_floats(y)
    known = ~np.isnan(y)
    assert_all_finite(y[known], input_name="y")
    return y, known


def _unmasked(y: Any) -> Any:
    """Return y with None where it is masked."""
    if not isinstance(y, np.ma.MaskedArray):
        return y
    cells = y.data.astype(object)
    cells[np.ma.getmaskarray(y)] = None
    return cells


def _as_floats(cells: AnyArray) -> Array:
    """Return an array of numbers as floats."""
    if cells.dtype.kind not in "biufO":
        raise LabelError(f"y holds {cells.dtype} values, not numbers: give numbers, NaN where nothing is known")
    with within_floats("y"):
        try:
            return cells.astype(float)
        except (TypeError, ValueError):
            raise LabelError("y holds what is not a number: give numbers, NaN where nothing is known") from None
