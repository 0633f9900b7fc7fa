"""The summaries of the covariance that closed-form utilities read: g_ii, ‖g_i‖₁, ‖g_i‖₂."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from askgraph.errors import EngineError, FileError
from askgraph.spaces.base import Space
from askgraph.support.later import Later
from askgraph.types import AnyArray, Array, BoolArray, IntArray

Arrays = dict[str, AnyArray]


class Covariance(Protocol):
    """What summaries read of the field that they belong to."""

    @property
    def space(self) -> Space:
        """The space that the arrays of the field live in."""
        ...

    @property
    def factor(self) -> Array:
        """V (n × t), one column per label since the last rebase."""
        ...

    def apply(self, x: Array) -> Array:
        """Return G_t x."""
        ...

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G_t[:, nodes]."""
        ...

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G_t[i, i] at these nodes."""
        ...


class Spread(Protocol):
    """Summaries of G_t: a value; conditioning returns a new one."""

    @property
    def variance(self) -> Array:
        """The variance g_ii of each node."""
        ...

    @property
    def influence_l1(self) -> Array:
        """The norm ‖g_i‖₁ of each node, which is (G1)_i since G ≥ 0."""
        ...

    @property
    def influence_l2(self) -> Array:
        """The norm ‖g_i‖₂ of each node."""
        ...

    def observed(self, field: Covariance, node: int, v: Array, scale: float, noise: float) -> Spread:
        """Return the summaries of G − v vᵀ, after a label at this node; ``scale`` is √(g_kk + γ²)."""
        ...

    def forgot(self, field: Covariance, lost: Array, at: int, turn: Array) -> Spread:
        """Return the summaries of G + lost lostᵀ, after V's columns from ``at`` on were rotated and the last was dropped."""
        ...

    def sharpened(self, field: Covariance, nodes: IntArray) -> Spread:
        """Return summaries that are exact at these nodes."""
        ...

    def arrays(self) -> Arrays:
        """Return the summaries as arrays, to save them."""
        ...


class Unread:
    """Summaries that are computed when they are first read: a question drawn at random needs none."""

    def __init__(self, compute: Callable[[], Spread]) -> None:
        self._found = Later(compute)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # such as those that pickle asks for
            raise AttributeError(name)
        return getattr(self._found.value, name)


@dataclass(frozen=True, eq=False)
class Exact:
    """Summaries that are exact everywhere; ``squares`` is diag G² / magnitude², or None when nothing will read it.

    ``magnitude`` is a power of four near the entries of G where these are so far from 1 that their squares would overflow.
    """

    variance: Array
    influence_l1: Array
    squares: Array | None
    magnitude: float = 1.0

    @property
    def influence_l2(self) -> Array:
        """‖g_i‖₂ = √(G²)_ii."""
        if self.squares is None:
            raise EngineError("this field does not follow |g|_2: start it with Field.start(prior, squares=True)")
        return np.sqrt(self.squares) * self.magnitude

    def observed(self, field: Covariance, node: int, v: Array, scale: float, noise: float) -> Exact:
        """Return the summaries of G − v vᵀ; nothing is left at a node whose label is exact."""
        return self._shifted(field, v, -1, field.space.unit(node) if noise == 0 else None)

    def forgot(self, field: Covariance, lost: Array, at: int, turn: Array) -> Exact:
        """Return the summaries of G + lost lostᵀ."""
        return self._shifted(field, lost, +1, None)

    def _shifted(self, field: Covariance, v: Array, sign: int, gone: BoolArray | None) -> Exact:
        v2 = v * v
        squares = None
        if self.squares is not None:
            squares = shifted_squares(self.squares, field, v, sign, self.magnitude)
        return Exact(
            clipped(self.variance + sign * v2, gone),
            clipped(self.influence_l1 + sign * field.space.total(v) * v, gone),
            None if squares is None else clipped(squares, gone),
            self.magnitude,
        )

    def sharpened(self, field: Covariance, nodes: IntArray) -> Exact:
        """Return these summaries, which are exact at all nodes."""
        return self

    def arrays(self) -> Arrays:
        """Return the summaries as arrays, to save them."""
        squares = {} if self.squares is None else {"squares": self.squares}
        return {"variance": self.variance, "influence": self.influence_l1, **squares}

    @classmethod
    def from_arrays(cls, stored: Arrays, n: int, squares: bool, magnitude: float) -> Exact:
        """Return the summaries that ``arrays`` gave, checked."""
        variance, influence = (checked_array(stored[key], (n,)) for key in ("variance", "influence"))
        return cls(variance, influence, checked_array(stored["squares"], (n,)) if squares else None, magnitude)


def shifted_squares(squares: Array, field: Covariance, v: Array, sign: int, magnitude: float = 1.0) -> Array:
    r"""Return the diagonal of (G + s v vᵀ)², :math:`\mathrm{diag}\, G^2 + 2 s\, v \circ Gv + (v^T v)\, v^2`, over magnitude²."""
    v = v / np.sqrt(magnitude)
    v2 = v * v
    return squares + 2 * sign * v * (field.apply(v) / magnitude) + field.space.total(v2) * v2


def clipped(x: Array, gone: BoolArray | None) -> Array:
    """Return x, at least 0, and 0 where ``gone``."""
    x = np.maximum(x, 0.0)  # G ≥ 0 entrywise; roundoff may leave -1e-17
    if gone is not None:
        x[gone] = 0.0
    return x


def checked_array(array: AnyArray, shape: tuple[int | None, ...]) -> Any:
    """Return a stored array; raise where it has another shape, or numbers that are not finite."""
    if array.ndim != len(shape) or any(a != b for a, b in zip(array.shape, shape, strict=True) if b is not None):
        raise FileError(f"an array of shape {array.shape} where {shape} is needed")
    if not np.isfinite(array.ravel()[:: max(1, array.size // 100_000)]).all():
        raise FileError("an array that is not finite")
    return array
