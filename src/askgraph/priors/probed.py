r"""Summaries estimated from random probes, exact at the nodes that were solved for.

With ξ of covariance Q, X = G₀ξ is a sample of the field, and :math:`g_{ii} = c_{ii} + E(X - C\xi)_i^2` leaves little to the
samples where C is near G (Rao–Blackwell; `nearby` says what C is). The constant mode of every component, of n_c nodes, is kept
out of the samples, since G1 is known: :math:`g_{ii} = c_{ii} + E(X - C\xi)_i^2 + \delta (G1 - C1)_i^2/n_c`. Likewise, with
D = diag(d + δ), P = D⁻¹W and random signs z,
:math:`\|g_i\|_2^2 = (2 g_{ii} - 1/D_i)/D_i + (P\,G1)_i^2/n_c + E(PGz)_i^2`; where a graph mixes slowly, whatever is constant
on groups of nodes is taken out of z as well, and is exact by a solve a group.
A label moves the samples, never the estimates: the sample of G_t is X − V U with one row of U a label, so that the state a
label costs is O(n). Q v vanishes at unlabeled nodes, so there P v = v, and P G1 = G1 − D⁻¹1: P is never needed again, and
neither is Q, but for the few rows of C that have labeled nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askgraph.errors import EngineError
from askgraph.priors.nearby import Local, Noise
from askgraph.priors.summaries import Arrays, Covariance, checked_array, clipped, shifted_squares
from askgraph.spaces.base import Space
from askgraph.types import Array, BoolArray, IntArray

Sample = NDArray[np.float32]
CHUNK = 65_536  # rows whose squares are in memory at a time
SHARP = 1e-2  # relative residual of a column that only g_ii is read of: the error of g_ii is of the order of its square
SHARP_SQUARES = 1e-3  # the same where ‖g‖₂ is read too: the error of ‖g‖₂ is of the order of the residual itself


@dataclass(frozen=True, eq=False)
class Samples:
    """Y_t = X_t − C_t ξ, one column per probe, and the weighted sum of its squares; X_t = X − V U."""

    values: Sample  # Y before any label
    weights: Array  # one per column: 1/k for each of k random columns
    noise: Noise  # ξ
    local: Local  # C_t
    told: Array  # U (t, k)
    square: Array  # weighted sum of the squares of Y_t, one number per node

    @classmethod
    def of(cls, space: Space, values: Sample, weights: Array, noise: Noise, local: Local) -> Samples:
        """Return the samples before any label."""
        narrow = space.asarray(weights.astype(np.float32))
        chunks = (values[at : at + CHUNK] for at in range(0, max(len(values), 1), CHUNK))
        square = np.concatenate([(chunk * chunk) @ narrow for chunk in chunks]).astype(np.float64)
        return cls(values, weights, noise, local, np.zeros((0, weights.size)), square)

    def arrays(self) -> Arrays:
        """Return the samples and their noise as arrays, to save them."""
        more = self.noise.arrays() | self.local.arrays()
        return {key: getattr(self, key) for key in ("values", "weights", "told", "square")} | more

    @classmethod
    def from_arrays(cls, stored: Arrays, name: str, n: int, labels: int, noise: Noise, local: Local) -> Samples:
        """Return the samples that ``arrays`` gave under this name, checked."""
        weights = checked_array(stored[f"{name}_weights"], (None,))
        values = checked_array(stored[f"{name}_values"], (n, weights.size))
        told, square = (stored[f"{name}_{key}"] for key in ("told", "square"))
        told, square = checked_array(told, (labels, weights.size)), checked_array(square, (n,))
        return cls(values, weights, noise, local, told, square)

    def at(self, field: Covariance, node: int) -> Array:
        """Return G_t ξ at one node."""
        known = self.local.times_noise(field.space, self.noise, node, self.weights.size)
        return np.asarray(
            field.space.pick(self.values, node) + known - field.space.pick(field.factor, node) @ self.told
        )

    def labeled(self, field: Covariance, node: int) -> Samples:
        """Return the samples of the same field with C after a label at this node."""
        return self._with(field, *self.local.labeled(node, self.noise, self.weights.size))

    def forgot(self, field: Covariance, at: int) -> Samples:
        """Return the samples of the same field with C without one of the labels."""
        return self._with(field, *self.local.forgot(at, self.noise, self.weights.size))

    def _with(self, field: Covariance, local: Local, rows: IntArray) -> Samples:
        """Return the same with another C, which differs in some rows."""
        square = self.square
        if rows.size:
            square = square.copy()
            Y = self.values[rows] - field.factor[rows] @ self.told + local.change[-rows.size :]
            square[rows] = (Y * Y) @ self.weights
        return replace(self, local=local, square=square)

    def moved(self, field: Covariance, v: Array, u: Array, sign: int) -> Array:
        """Return the squares of Y_t + sign · v u."""
        weighted = self.weights * u
        lift = field.space.asarray
        Yu = self.values @ lift(weighted.astype(np.float32)) - field.factor @ lift(self.told @ weighted)
        if self.local.changed.size:
            Yu[self.local.changed] += self.local.change @ weighted
        moved = self.square + v * (sign * 2 * Yu + v * float(u @ weighted))
        return np.maximum(moved, 0.0, out=moved)


@dataclass(frozen=True, eq=False)
class Probed:
    """Estimated summaries; ``known`` marks the nodes where they are exact, and stay exact as labels come."""

    share: Array  # δ/n_c
    delta: float
    field_samples: Samples
    flat_samples: Samples | None  # G z, for ‖g‖₂
    influence_l1: Array
    known: BoolArray
    known_variance: Array
    known_squares: Array

    @cached_property
    def variance(self) -> Array:
        """g_ii of each node: exact where ``known``, elsewhere an estimate above 0."""
        return np.where(self.known, self.known_variance, self.estimated_variance)

    @cached_property
    def estimated_variance(self) -> Array:
        """g_ii of each node by the probes."""
        local = self.field_samples.local
        constant = self.share * (self.influence_l1 - local.sums) ** 2
        return local.own + self.field_samples.square + constant

    @cached_property
    def influence_l2(self) -> Array:
        """‖g_i‖₂ of each node: exact where ``known``, elsewhere an estimate, at least g_ii."""
        if self.flat_samples is None:
            raise EngineError("this field does not follow |g|_2: start it with Field.start(prior, squares=True)")
        own = self.flat_samples.local.own
        constant = self.share / self.delta * (self.influence_l1 - own) ** 2
        known = own * (2 * self.variance - own) + constant
        estimate = np.maximum(known + self.flat_samples.square, self.variance**2)
        return np.sqrt(np.where(self.known, self.known_squares, estimate))

    def arrays(self) -> Arrays:
        """Return the summaries as arrays, to save them."""
        out: Arrays = {
            "influence": self.influence_l1,
            "known": self.known,
            "known_variance": self.known_variance,
            "known_squares": self.known_squares,
        }
        for name, samples in (("field", self.field_samples), ("flat", self.flat_samples)):
            if samples is not None:
                out |= {f"{name}_{key}": array for key, array in samples.arrays().items()}
        return out

    def estimated(self) -> Probed:
        """Return the same summaries as if no node had been solved for."""
        return self._with_known(np.zeros_like(self.known), self.known_variance, self.known_squares)

    def observed(self, field: Covariance, node: int, v: Array, scale: float, noise: float) -> Probed:
        """Return the summaries of G − v vᵀ; with label noise γ, each probe's virtual label gets its own ±γ, against a bias."""
        u = self.field_samples.at(field, node) / scale
        if noise:
            u += noise / scale * np.random.default_rng(node).choice([-1.0, 1.0], u.size)
        w = None if self.flat_samples is None else self.flat_samples.at(field, node) / scale
        here, squares = field.space.unit(node), self.known_squares
        if w is not None:
            squares = np.where(here, scale**2 * field.space.total(v * v), squares)
        met = replace(
            self,
            field_samples=self.field_samples.labeled(field, node),
            known=self.known | here,
            known_variance=np.where(here, scale**2 - noise**2, self.known_variance),
            known_squares=squares,
        )
        return met._shifted(field, v, u, w, -1, here if noise == 0 else None)._kept(u, w)

    def forgot(self, field: Covariance, lost: Array, at: int, turn: Array) -> Probed:
        """Return the summaries of G + lost lostᵀ."""
        turned, last = _turned(self.field_samples.told, at, turn)
        flat = None if self.flat_samples is None else _turned(self.flat_samples.told, at, turn)
        start = replace(self, field_samples=self.field_samples.forgot(field, at))
        moved = start._shifted(field, lost, last, None if flat is None else flat[1], +1, None)
        return replace(
            moved,
            field_samples=replace(moved.field_samples, told=turned),
            flat_samples=None if flat is None else replace(moved.flat_samples, told=flat[0]),  # type: ignore[type-var]  # there when flat is
        )

    def sharpened(self, field: Covariance, nodes: IntArray) -> Probed:
        """Return summaries that are exact at these nodes, by their columns."""
        put, new = field.space.put, nodes[~field.space.pick(self.known, nodes)]
        if not new.size:
            return self
        squares = self.known_squares
        if self.flat_samples is None:
            variance = field.variances(new, SHARP)
        else:
            G = field.columns(new, SHARP_SQUARES)
            variance, squares = field.space.pick(G, new).diagonal(), put(squares, new, field.space.total(G * G))
        known = put(self.known, new, True)
        return self._with_known(known, put(self.known_variance, new, variance), squares)

    def _with_known(self, known: BoolArray, variance: Array, squares: Array) -> Probed:
        """Return summaries that differ in what is known; their estimates are the same, and not computed again."""
        other = replace(self, known=known, known_variance=variance, known_squares=squares)
        vars(other)["estimated_variance"] = self.estimated_variance
        return other

    def _shifted(
        self, field: Covariance, v: Array, u: Array, w: Array | None, sign: int, gone: BoolArray | None
    ) -> Probed:
        samples = replace(self.field_samples, square=self.field_samples.moved(field, v, u, sign))
        flat, squares = self.flat_samples, self.known_squares
        if flat is not None and w is not None:
            flat = replace(flat, square=flat.moved(field, v, w, sign))
            squares = clipped(shifted_squares(squares, field, v, sign), gone)
        return replace(
            self,
            field_samples=samples,
            flat_samples=flat,
            influence_l1=clipped(self.influence_l1 + sign * field.space.total(v) * v, gone),
            known_variance=clipped(self.known_variance + sign * v * v, gone),
            known_squares=squares,
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
