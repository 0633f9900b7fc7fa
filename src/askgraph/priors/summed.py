"""A field on a graph plus a linear function of features: G₀ = G + ΦΦᵀ, over any engine for G.

With f = g + Φw, g of covariance G and w standard normal, noisy labels at nodes E give (g, w) the precision
[[Q + EᵀE/γ², EᵀEΦ/γ²], [·, I + ΦᵀEᵀEΦ/γ²]]. With M = (Q + EᵀE/γ²)⁻¹, B = M EᵀEΦ/γ² and S the Schur complement of the second
block, f has the covariance M + (Φ − B) S⁻¹ (Φ − B)ᵀ: again a sum, so folding labels in takes one solve per column of Φ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from askgraph.errors import ConvergenceError, EngineError
from askgraph.graph import Graph
from askgraph.graph.clean import LARGEST_WEIGHT
from askgraph.priors.base import SOLVES_AT_ONCE, Prior
from askgraph.priors.direct import Direct
from askgraph.priors.precision import Precision
from askgraph.priors.probed import SHARP
from askgraph.priors.summaries import Arrays, Covariance, Spread, checked_array, shifted_squares
from askgraph.types import AnyArray, Array, BoolArray, IntArray

# random signs that the mean variance of a field is estimated from, where an engine that knows no variance has more nodes than
# EXACT_UP_TO; with fewer a factor takes a second at most
SIGNS, EXACT_UP_TO = 32, 2000


class Summed(Prior):
    """The sum of the field of a graph, on another engine, and a linear function of features.

    Covariances may be negative. Labels must be noisy to be folded in, so this prior has a label noise of its own.

    Parameters
    ----------
    inner : Prior
        The engine for the graph, before any label.
    features : array
        Φ: one row per node, as NumPy.
    noise : float
        The label noise γ that every label has at least, above 0.
    scale : float
        The factor by which the weights of the graph were multiplied, so that the field of the graph has variance 1.
    """

    inner: Prior
    features: Any
    noise: float
    scale: float
    reason: str
    name: str  # type: ignore[misc]  # this and the next two are those of the inner engine
    exact: bool  # type: ignore[misc]
    tie: float  # type: ignore[misc]
    signed = described = True

    def __init__(self, inner: Prior, features: AnyArray, noise: float, scale: float = 1.0) -> None:
        if not inner.space.alone:
            raise EngineError("features are not spread over MPI ranks: take another engine than petsc, or no features")
        super().__init__(inner.precision, inner.space)
        self.inner, self.noise, self.scale = inner, noise, scale
        self.name, self.exact, self.tie = inner.name, inner.exact, inner.tie
        self.reason = f"{inner.reason}; features add {features.shape[1]} columns"
        self.features = inner.space.scatter(np.ascontiguousarray(features, dtype=np.float64))

    @classmethod
    def over(cls, prior: Prior, features: AnyArray, noise: float, scale: float | None = None) -> Summed:
        """Return the sum of a prior, scaled to variance 1 about its mean, and a linear function of features.

        Parameters
        ----------
        prior : Prior
            The engine for the graph.
        features : array
            Φ: one row per node.
        noise : float
            The label noise γ, above 0.
        scale : float, optional
            The variance of the prior about its mean, where it is known.

        Returns
        -------
        Summed
            The sum.
        """
        estimated = scale is None and not _is_exact(prior)
        scale = mean_variance(prior) if scale is None else scale
        made = cls(prior.conditioned(scaled(prior.precision, scale)), features, noise, scale)
        made.reason += f", beside a graph whose variance is estimated from {SIGNS} random signs" if estimated else ""
        return made

    @property
    def weights(self) -> Any:
        """W, in the memory of the space."""
        return self.inner.weights

    def neighbors(self, x: Array) -> Array:
        """Return W x."""
        return self.inner.neighbors(x)

    def prepare(self) -> None:
        """Do now what the first solve would do."""
        self.inner.prepare()

    def arrays(self) -> Arrays:
        """Return what was computed of Q, and Φ."""
        return {**self.inner.arrays(), "features": self.features}

    def restore(self, stored: Arrays) -> None:
        """Take over what ``arrays`` returned."""
        self.inner.restore(stored)
        self.features = checked_array(stored["features"], (self.n_nodes, None))

    def solve(self, b: Array) -> Array:
        """Return G₀ b."""
        return self.inner.solve(b) + self._linear(b)

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[:, nodes]."""
        some = self.space.asarray(self.space.pick(self.features, nodes))
        return self.inner.columns(nodes, rough) + self.features @ some.T

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G₀[i, i] at these nodes."""
        some = self.space.pick(self.features, nodes)
        return self.inner.variances(nodes, rough) + np.einsum("ij,ij->i", some, some)

    def influence(self) -> Array:
        """Return G₀1."""
        return self.inner.influence() + self._linear(self.free)

    def check_summaries(self, squares: bool) -> None:
        """Raise an error if norms are wanted that the inner engine only estimates: they are not sums of estimates."""
        if squares and not self.exact:
            raise EngineError(
                f"msd, vm, mc and mcvopt read norms that the {self.name} engine only estimates, and with features they are not "
                "sums of estimates: take influence or sigma, or a smaller graph"
            )

    def spread(self, squares: bool) -> Spread:
        """Return the summaries of the sum, which are sums, except for diag G₀²: one solve per column of Φ."""
        inner = self.inner.spread(squares)
        variance, influence = inner.variance + (self.features * self.features).sum(axis=1), self.influence()
        known = None if self.exact else self.free == 0
        return Moved(variance, influence, self._squares(inner) if squares else None, known, variance)

    def spread_from(self, stored: Arrays, labels: int, squares: bool) -> Spread:
        """Return the summaries that were saved as arrays."""
        return Moved.from_saved(stored, self.n_nodes, squares, self.exact)

    def fold(self, nodes: IntArray, noise: Array) -> Summed:
        """Return the sum with labels at these nodes, of label noise γ > 0, folded in."""
        folded = self.conditioned(self.precision.folded(nodes, noise))
        folded.features = self._told(folded.inner, nodes, noise)
        return folded

    def conditioned(self, precision: Precision) -> Summed:
        """Return the sum on another precision of the graph; its features are those before any label."""
        other = Summed(self.inner.conditioned(precision), self.space.gather(self.features), self.noise, self.scale)
        other.reason = self.reason
        return other

    def _linear(self, b: Array) -> Array:
        return self.features @ self.space.asarray(self.space.inner(self.features, b))

    def _told(self, inner: Prior, nodes: IntArray, noise: Array) -> Array:
        """Return (Φ − B) S^(−1/2)."""
        here = self.space.pick(self.features, nodes)
        weighted = here * (noise**-2.0)[:, None]
        sides = self.space.put(self.space.zeros(here.shape[1]), nodes, weighted)
        B = _solved(inner, sides)
        S = np.eye(here.shape[1]) + here.T @ weighted - weighted.T @ self.space.pick(B, nodes)
        root = np.linalg.cholesky((S + S.T) / 2)
        inverse = solve_triangular(root, np.eye(len(root)), lower=True)
        return (self.features - B) @ self.space.asarray(inverse.T)

    def _squares(self, inner: Spread) -> Array:
        """Return diag (G + ΦΦᵀ)²."""
        phi = self.features
        crossed = _solved(self.inner, phi)
        again = phi @ self.space.asarray(self.space.inner(phi, phi))
        return inner.influence_l2**2 + (phi * (2 * crossed + again)).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Moved:
    """Summaries of a sum: exact, or where ``known`` is given, estimates except at the nodes that it marks.

    A label changes them exactly. Unlike those of a graph alone, G1 may be negative.
    """

    variance: Array
    influence_l1: Array  # G1, which is no norm here
    squares: Array | None
    known: BoolArray | None
    guess: Array  # the variance as if no node had been solved for

    @property
    def influence_l2(self) -> Array:
        """‖g_i‖₂ = √(G²)_ii."""
        if self.squares is None:
            raise EngineError("this field does not follow |g|_2: start it with Field.start(prior, squares=True)")
        return np.sqrt(self.squares)

    def observed(self, field: Covariance, node: int, v: Array, scale: float, noise: float) -> Moved:
        """Return the summaries of G − v vᵀ; the variance at the node itself is known then."""
        here = field.space.unit(node)
        moved = self._shifted(field, v, -1)
        left = np.where(here, scale**2 - noise**2 - v * v, moved.variance)
        known = None if self.known is None else self.known | here
        if noise:
            return replace(moved, variance=np.maximum(left, 0.0), known=known)
        gone = [np.where(here, 0.0, x) for x in (left, moved.influence_l1)]
        squares = None if moved.squares is None else np.where(here, 0.0, moved.squares)
        return Moved(np.maximum(gone[0], 0.0), gone[1], squares, known, moved.guess)

    def forgot(self, field: Covariance, lost: Array, at: int, turn: Array) -> Moved:
        """Return the summaries of G + lost lostᵀ."""
        return self._shifted(field, lost, +1)

    def sharpened(self, field: Covariance, nodes: IntArray) -> Moved:
        """Return summaries that are exact at these nodes."""
        if self.known is None:
            return self
        new = nodes[~field.space.pick(self.known, nodes)]
        if not new.size:
            return self
        variance = field.space.put(self.variance, new, field.variances(new, SHARP))
        return replace(self, variance=variance, known=field.space.put(self.known, new, True))

    def estimated(self) -> Moved:
        """Return the same summaries as if no node had been solved for."""
        return replace(self, variance=np.maximum(self.guess, 0.0))

    def arrays(self) -> Arrays:
        """Return the summaries as arrays, to save them."""
        more = {"squares": self.squares, "known": self.known}
        some = {name: x for name, x in more.items() if x is not None}
        return {"variance": self.variance, "influence": self.influence_l1, "guess": self.guess, **some}

    @classmethod
    def from_saved(cls, stored: Arrays, n: int, squares: bool, exact: bool) -> Moved:
        """Return the summaries that ``arrays`` gave, checked."""
        variance, influence, guess = (checked_array(stored[key], (n,)) for key in ("variance", "influence", "guess"))
        norms = checked_array(stored["squares"], (n,)) if squares else None
        known = None if exact else checked_array(stored["known"], (n,)).astype(bool)
        return cls(variance, influence, norms, known, guess)

    def _shifted(self, field: Covariance, v: Array, sign: int) -> Moved:
        v2 = sign * v * v
        squares = None if self.squares is None else shifted_squares(self.squares, field, v, sign)
        return Moved(
            np.maximum(self.variance + v2, 0.0),
            self.influence_l1 + sign * field.space.total(v) * v,
            None if squares is None else np.maximum(squares, 0.0),
            self.known,
            self.guess + v2,
        )


def mean_variance(prior: Prior) -> float:
    """Return the variance of a field about its mean, averaged over nodes: trace PGP / n, where P takes the mean from a vector.

    That is mean g_ii less 1/(nδ), but those may be so much larger than their difference that nothing is left of it.
    """
    if _is_exact(prior):
        return _exact_variance(prior if prior.exact else Direct(prior.precision)) / prior.n_nodes
    n, space, found = prior.n_nodes, prior.space, []
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (n, SIGNS))
    z = space.scatter(signs - signs.mean(axis=0))
    for k in range(SIGNS):
        x = prior.solve(z[:, k])
        found.append(space.total(z[:, k] * (x - space.total(x) / n)))
    return float(np.mean(found) / n)


def _is_exact(prior: Prior) -> bool:
    """Return whether the mean variance is computed, not estimated."""
    return prior.exact or prior.n_nodes <= EXACT_UP_TO


def _exact_variance(prior: Prior) -> float:
    """Return trace PGP by Γ, the covariance with one node of each component held at 0, which stays small where 1/δ is large.

    With u = Γ1, and n, s = 1ᵀu and ‖u‖² over the nodes of a component, G = Γ + (1 − δu)(1 − δu)ᵀ / (δ(n − δs)) there. So the
    trace of PGP is trace Γ − Σ (s − δ‖u‖²)/(n − δs), and 1/δ for each component but one.
    """
    part, delta = prior.precision.graph.components(), prior.delta
    order = np.lexsort((-prior.precision.graph.degrees, part))
    held = order[np.unique(part[order], return_index=True)[1]]  # the node with the highest degree of each component
    grounded = prior.fold(held, np.zeros(held.size))
    u, n = prior.space.gather(grounded.influence()), np.bincount(part)
    s, squares = np.bincount(part, u), np.bincount(part, u * (delta * u))
    trace = float(prior.space.total(grounded.spread(False).variance))
    return float((held.size - 1) / delta + trace - ((s - squares) / (n - delta * s)).sum())


def scaled(precision: Precision, factor: float) -> Precision:
    """Return the precision of the same graph with all weights, and the ridge, multiplied by a factor."""
    graph = precision.graph
    most = max(float(graph.degrees.max(initial=0.0)), precision.delta)
    if not 0 < factor < LARGEST_WEIGHT / most:
        raise ConvergenceError(
            f"beside features the field of a graph is scaled to variance 1, and its variance of {factor:.0e} is too far from that "
            "for its weights: raise delta, or rescale the weights"
        )
    return Precision.of(Graph(graph.weights * factor, names=graph.names), precision.delta * factor)


def _solved(prior: Prior, sides: Array) -> Array:
    """Return G₀ of several columns, some at a time."""
    parts = [prior.solve(sides[:, at : at + SOLVES_AT_ONCE]) for at in range(0, sides.shape[1], SOLVES_AT_ONCE)]
    return np.concatenate(parts, axis=1)
