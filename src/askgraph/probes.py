r"""Summaries estimated from random probes, exact at the nodes that were solved for.

With D = diag(d + δ), P = D⁻¹W and ξ of covariance Q, X = G₀ξ is a sample of the field, and
:math:`G = D^{-1} + P D^{-1} + P G P^T` leaves only :math:`(P G P^T)_{ii} = E (PX)_i^2` to the samples (Rao–Blackwell).
The constant mode of every component, of n_c nodes, is kept out of the samples, since G1 is known:
:math:`g_{ii} = 1/D_i + E(PX)_i^2 + \delta (P\,G1)_i^2/n_c` and :math:`\|g_i\|_2^2 = (G1)_i^2/n_c + E(Gz)_i^2`.
A label moves the samples, never the estimates: the sample of G_t is X − V U with one row of U a label, so that the state a
label costs is O(n).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askgraph.errors import EngineError
from askgraph.spread import Covariance, clipped, shifted_squares
from askgraph.types import Array, BoolArray, IntArray

Sample = NDArray[np.float32]
SHARP = 1e-2  # residual of a column whose g_ii counts: its error is of the order of the square
SHARP_SQUARES = 1e-3  # where ‖g‖₂ counts too, whose error is of the order of the residual


def signs(i: IntArray, j: IntArray, k: int, seed: int = 0) -> Sample:
    """k random signs for each pair (i, j): a hash of the pair, so that they belong to the edge and not to its place."""
    words = np.stack([_hashed(i, j, seed + word) for word in range(-(-k // 64))], axis=1)
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=k)
    return bits.astype(np.float32) * 2 - 1


def _hashed(i: IntArray, j: IntArray, seed: int) -> NDArray[np.uint64]:
    """splitmix64, three rounds of it."""
    x = np.full(len(i), seed, dtype=np.uint64)
    for part in (i, j):
        x = x * np.uint64(0x9E3779B97F4A7C15) + part.astype(np.uint64) + np.uint64(1)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return x


@dataclass(frozen=True, eq=False)
class Samples:
    """X_t = X − V U, read through a smoothing operator, and the running mean of its squares."""

    start: Sample  # X (n, k)
    smooth: Sample  # Y = P X, or X itself
    operator: Any  # P, or None
    told: Array  # U (t, k)
    mean_square: Array  # of Y_t, a value a node

    @classmethod
    def of(cls, start: Sample, operator: Any = None) -> Samples:
        """Before any label."""
        smooth = start if operator is None else np.asarray(operator.astype(np.float32) @ start)
        mean_square = np.einsum("ij,ij->i", smooth, smooth, dtype=np.float64) / start.shape[1]
        return cls(start, smooth, operator, np.zeros((0, start.shape[1])), mean_square)

    def at(self, field: Covariance, node: int) -> Array:
        """X_t at one node."""
        return np.asarray(field.prior.pick(self.start, node) - field.prior.pick(field.factor, node) @ self.told)

    def moved(self, field: Covariance, v: Array, u: Array, sign: int) -> Array:
        """The mean square of Y_t + sign · (P v) u."""
        Pv = self._through(v)
        Yu = self.smooth @ u.astype(np.float32) - self._through(field.factor @ (self.told @ u))
        moved = self.mean_square + (sign * 2 * Pv * Yu + Pv * Pv * (u @ u)) / u.size
        return np.maximum(moved, 0.0)

    def _through(self, x: Array) -> Array:
        return x if self.operator is None else np.asarray(self.operator @ x)


@dataclass(frozen=True, eq=False)
class Probed:
    """Estimated summaries; ``known`` marks the nodes where they are exact, and stay exact as labels come."""

    local: Array  # 1/D
    share: Array  # δ/n_c
    delta: float
    operator: Any  # P
    field_samples: Samples
    flat_samples: Samples | None  # G z, for ‖g‖₂
    influence_l1: Array
    known: BoolArray
    known_variance: Array
    known_squares: Array

    @cached_property
    def variance(self) -> Array:
        """g_ii: exact where known, estimated elsewhere, and never 0 there."""
        constant = self.share * (self.operator @ self.influence_l1) ** 2
        return np.where(self.known, self.known_variance, self.local + self.field_samples.mean_square + constant)

    @cached_property
    def influence_l2(self) -> Array:
        """‖g_i‖₂: exact where known, estimated elsewhere, and at least g_ii there."""
        if self.flat_samples is None:
            raise EngineError("this field does not follow |g|_2: start it with Field.start(prior, squares=True)")
        constant = self.share / self.delta * self.influence_l1**2
        estimate = np.maximum(constant + self.flat_samples.mean_square, self.variance**2)
        return np.sqrt(np.where(self.known, self.known_squares, estimate))

    def estimated(self) -> Probed:
        """The same summaries as if no node had been solved for."""
        return replace(self, known=np.zeros_like(self.known))

    def observed(self, field: Covariance, node: int, v: Array, scale: float, noise: float) -> Probed:
        """Of G − v vᵀ. A noisy label is a sample of the field plus noise, so the probes get a sign each of it."""
        kick = (
            noise * signs(np.array([node]), np.array([~node]), self.field_samples.start.shape[1])[0] if noise else 0.0
        )
        u = (self.field_samples.at(field, node) + kick) / scale
        w = None if self.flat_samples is None else self.flat_samples.at(field, node) / scale
        here = field.prior.unit(node)
        g2 = scale**2 * field.prior.total(v * v)
        met = replace(
            self,
            known=self.known | here,
            known_variance=np.where(here, scale**2 - noise**2, self.known_variance),
            known_squares=np.where(here, g2, self.known_squares),
        )
        return met._shifted(field, v, u, w, -1, here if noise == 0 else None)._kept(u, w)

    def forgot(self, field: Covariance, lost: Array, at: int, turn: Array) -> Probed:
        """Of G + lost lostᵀ."""
        turned, last = _turned(self.field_samples.told, at, turn)
        flat = None if self.flat_samples is None else _turned(self.flat_samples.told, at, turn)
        moved = self._shifted(field, lost, last, None if flat is None else flat[1], +1, None)
        return replace(
            moved,
            field_samples=replace(moved.field_samples, told=turned),
            flat_samples=None if flat is None else replace(moved.flat_samples, told=flat[0]),  # type: ignore[type-var]
        )

    def sharpened(self, field: Covariance, nodes: IntArray) -> Probed:
        """Exact at these nodes, by their columns."""
        new = nodes[~self.known[nodes]]
        if not new.size:
            return self
        G = field.columns(new, rough=SHARP if self.flat_samples is None else SHARP_SQUARES)
        known, variance, squares = self.known.copy(), self.known_variance.copy(), self.known_squares.copy()
        known[new], variance[new], squares[new] = True, G[new, np.arange(new.size)], field.prior.total(G * G)
        return replace(self, known=known, known_variance=variance, known_squares=squares)

    def _shifted(
        self, field: Covariance, v: Array, u: Array, w: Array | None, sign: int, gone: BoolArray | None
    ) -> Probed:
        samples = replace(self.field_samples, mean_square=self.field_samples.moved(field, v, u, sign))
        flat, squares = self.flat_samples, self.known_squares
        if flat is not None and w is not None:
            flat = replace(flat, mean_square=flat.moved(field, v, w, sign))
            squares = shifted_squares(squares, field, v, sign)
        return replace(
            self,
            field_samples=samples,
            flat_samples=flat,
            influence_l1=clipped(self.influence_l1 + sign * field.prior.total(v) * v, gone),
            known_variance=clipped(self.known_variance + sign * v * v, gone),
            known_squares=clipped(squares, gone),
        )

    def _kept(self, u: Array, w: Array | None) -> Probed:
        samples = replace(self.field_samples, told=np.vstack([self.field_samples.told, u]))
        flat = self.flat_samples
        if flat is not None and w is not None:
            flat = replace(flat, told=np.vstack([flat.told, w]))
        return replace(self, field_samples=samples, flat_samples=flat)


def _turned(told: Array, at: int, turn: Array) -> tuple[Array, Array]:
    rows = turn.T @ told[at:]
    return np.vstack([told[:at], rows[:-1]]), rows[-1]
