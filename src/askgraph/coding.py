"""Classes as one-vs-rest columns: votes, means, probabilities, readouts.

Votes h (n × C) are the field in 0/1 coding; H = Σ_c h_c is how far labels reach a node. The paper's ±1 mean is μ_c = 2 h_c − H.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from askgraph.errors import LabelError, SettingError
from askgraph.types import AnyArray, Array, IntArray

TIE = 1e-9


def at_least_two(votes: Array) -> Array:
    """Votes with unseen classes added up to two: with one class seen, the rest is 'something else'."""
    missing = 2 - votes.shape[1]
    return np.pad(votes, ((0, 0), (0, missing))) if missing > 0 else votes


def summed(rows: Array) -> Array:
    """The sum of each short row, as a column: a product is faster than ``sum`` along so short an axis."""
    return np.asarray(rows @ np.ones((rows.shape[1], 1)))


def means(votes: Array) -> Array:
    r"""The ±1 mean of each one-vs-rest field, :math:`\mu_c = 2 h_c - H`."""
    return np.asarray(2 * votes - summed(votes))


def chances(votes: Array) -> Array:
    r"""Class probabilities :math:`p_c \propto (1 + \mu_c)/2 = h_c + (1 - H)/2` (6)."""
    odds = votes + (1 - summed(votes)) / 2
    np.maximum(odds, 0.0, out=odds)  # roundoff may leave -1e-17
    odds /= summed(odds)
    return odds


def soften(p: Array, alpha: float) -> Array:
    r"""The doubt blend :math:`\alpha/C + (1-\alpha)\,p` (34)."""
    return p if alpha == 0 else alpha / p.shape[1] + (1 - alpha) * p


def decide(scores: Array) -> IntArray:
    """The class with the highest score in each row; a tie (within 1e-9) goes to the class that was named first."""
    near = scores >= scores.max(axis=1, keepdims=True) - TIE
    return np.asarray(near.argmax(axis=1))


class Readout(Protocol):
    """From votes to class probabilities; ``mass`` is Σ over unlabeled nodes of the votes, ``counts`` the labels a class."""

    def __call__(self, votes: Array, mass: Array, counts: Array) -> Array:
        """Probabilities (n × C)."""
        ...


@dataclass(frozen=True)
class Map:
    """The paper's decision: argmax of the mean (7), probabilities (6)."""

    def __call__(self, votes: Array, mass: Array, counts: Array) -> Array:
        """p_c ∝ (1 + μ_c)/2; the masses play no part."""
        return chances(votes)


@dataclass(frozen=True)
class Mass:
    r"""Class-mass normalisation (Zhu 2003): :math:`q_c h_{ic} / \sum_{j \in U} h_{jc}`, q the class prior.

    A node keeps the share 1 − H of the uniform distribution: what no label reaches stays at 1/C. A class without labels
    has no votes, so it is never decided for, but keeps its part of that share.
    """

    prior: Literal["uniform", "frequency"] | tuple[float, ...] = "uniform"

    def __post_init__(self) -> None:
        if isinstance(self.prior, str):
            if self.prior not in ("uniform", "frequency"):
                raise SettingError(f"class prior {self.prior!r}: give 'uniform', 'frequency' or one number a class")
        elif not all(np.isfinite(q) and q > 0 for q in self.prior):
            raise SettingError(f"class prior {self.prior!r}: every class needs a positive number")

    def __call__(self, votes: Array, mass: Array, counts: Array) -> Array:
        """H · (normalised votes) + (1 − H)/C."""
        reach = np.clip(votes.sum(axis=1, keepdims=True), 0.0, 1.0)
        scaled = np.maximum(votes, 0.0) * self._weights(mass, counts)
        total = scaled.sum(axis=1, keepdims=True)
        shares = np.divide(scaled, total, out=np.full_like(scaled, 1 / votes.shape[1]), where=total > 0)
        return np.asarray(reach * shares + (1 - reach) / votes.shape[1])

    def _weights(self, mass: Array, counts: Array) -> Array:
        q = self._prior(counts)
        if not (mass > 0).any():  # nothing is left to normalise over
            return q
        return np.divide(q, mass, out=np.zeros_like(mass), where=mass > 0)

    def _prior(self, counts: Array) -> Array:
        if self.prior == "uniform":
            return np.ones(counts.size)
        if self.prior == "frequency":
            return np.asarray((counts + 1) / (counts.sum() + counts.size))
        if len(self.prior) != counts.size:
            raise SettingError(f"the class prior has {len(self.prior)} numbers, there are {counts.size} classes")
        return np.asarray(self.prior, dtype=float)


READOUTS: dict[str, Readout] = {"map": Map(), "mass": Mass()}


def as_readout(readout: str | Readout) -> Readout:
    """A readout by name, or the one given."""
    if not isinstance(readout, str):
        return readout
    if readout in READOUTS:
        return READOUTS[readout]
    raise SettingError(f"no readout called {readout!r}: choose {' or '.join(map(repr, READOUTS))}, or pass a function")


def plain_label(label: Any) -> Hashable:
    """A label as a plain Python value; None and NaN are no labels."""
    label = label.item() if isinstance(label, np.generic) else label
    if label is None or label != label:
        raise LabelError(f"{label} is no label: tell a class, or skip the node")
    try:
        hash(label)
    except TypeError:
        raise LabelError(f"{label!r} ({type(label).__name__}) cannot be a label: give something hashable") from None
    return label  # type: ignore[no-any-return]


def label_array(classes: list[Hashable]) -> AnyArray:
    """Labels as an array of their own type where they share one, of objects where not."""
    kinds = {type(label) for label in classes}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(classes)
    array = np.empty(len(classes), dtype=object)
    array[:] = classes
    return array
