"""Labels, classes and seeds as a person gives them, checked and as plain values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from numbers import Real
from typing import Any

import numpy as np

from askgraph.errors import LabelError, SettingError
from askgraph.support.arguments import generator, is_missing, listed
from askgraph.types import AnyArray

LARGEST = 1e150  # of a number that is an answer: its square must be a finite number


def plain_label(label: Any) -> Hashable:
    """Return a label as a plain Python value; a scalar of NumPy, PyTorch or the like becomes what it holds.

    Labels that are equal must have equal hashes, or one class would count as several; an array has no such hash.
    """
    if (shape := getattr(label, "shape", None)) is not None:
        if tuple(shape) != () or not hasattr(label, "item"):
            raise LabelError(f"a {type(label).__name__} of shape {tuple(shape)} is not a label: give one value")
        label = label.item()
    if is_missing(label):
        raise LabelError(f"{label} is not a label: tell a class, or skip the node")
    try:
        hash(label)
    except TypeError:
        raise LabelError(f"{label!r} ({type(label).__name__}) cannot be a label: give something hashable") from None
    return label


def plain_number(answer: Any) -> float:
    """Return a number that somebody said as a float; raise `LabelError` for what is none, or too large to be squared."""
    if getattr(answer, "shape", None) == () and hasattr(answer, "item"):
        answer = answer.item()
    if is_missing(answer):
        raise LabelError(f"{answer} is not a number: tell a number, or skip the node")
    if isinstance(answer, bool) or not isinstance(answer, Real):
        raise LabelError(
            f"{answer!r} ({type(answer).__name__}) is not a number: tell one, such as {_as_number(answer)}"
        )
    try:
        number = float(answer)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > LARGEST:
        raise LabelError(f"{str(answer)[:20]} is too large a number: tell one of at most {LARGEST:g}")
    return number


def _as_number(answer: Any) -> float:
    """Return the number that a text means, with a comma or a point; 3.5 where it means none."""
    try:
        number = float(answer.replace(",", ".")) if isinstance(answer, str) else 3.5
    except ValueError:
        return 3.5
    return number if math.isfinite(number) else 3.5


def label_array(classes: list[Hashable]) -> AnyArray:
    """Return labels as an array of their own type where they share one, of objects where not."""
    kinds = {type(label) for label in classes}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(classes)
    array = np.empty(len(classes), dtype=object)
    array[:] = classes
    return array


def as_seed(rng: int | np.random.Generator | None) -> int:
    """Return a seed that can be saved: the one given, one drawn from a generator, or a fresh one."""
    if rng is None or isinstance(rng, np.random.Generator):
        return int(generator(rng).integers(2**63))
    generator(rng)
    return int(rng)


def declared_classes(classes: Iterable[Hashable] | None) -> list[Hashable]:
    """Return the classes known before any label as plain values."""
    if isinstance(classes, str):
        raise SettingError(f"classes={classes!r}: give a list of classes, such as [{classes!r}]")
    names = [] if classes is None else [plain_label(label) for label in listed(classes, "classes")]
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise LabelError(f"classes: {twice!r} is declared twice; name each class once")
    return names
