"""Algorithm 1 as the paper costs it: the full matrix G, updated in O(n²), and retraining for every candidate and answer.

Set-up inverts L + δI, O(n³) (the paper's Jacobi sweeps, O(|E| n), approximate the same matrix). ``tell`` is (9) and (10) on the
whole matrix and then one pass over it for the norms of its columns, O(n²); so tv, msd, klg, unc, vm and sigma are asked in
O(C n), as Table I counts them. eer, tsa, fl and kl compute all C means at all n nodes after each of C answers at each of n
candidates, O(C² n²).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import eye_array
from scipy.special import log_expit, softmax

from askgraph.graph import Graph
from askgraph.types import Array, BoolArray, IntArray

TIE = 2e-9  # means that differ by no more are tied
FLOOR = 1e-12  # smaller probabilities count as this in logarithms
BLOCK = 100_000  # numbers in one array of look-ahead means, so that it stays in the CPU cache


class Costed:
    """The field as matrices: ``covariance`` G (n × n), zero at labeled nodes, and ``mean`` μ (C × n).

    >>> from askgraph import chain
    >>> field = Costed(chain(5), 0.005, 2)
    >>> field.tell(0, 0)
    >>> field.ask("vm")
    3
    """

    def __init__(self, graph: Graph, delta: float, n_classes: int) -> None:
        n = graph.n_nodes
        self.covariance: Array = np.linalg.inv((graph.laplacian() + delta * eye_array(n)).toarray())
        self.mean: Array = np.zeros((n_classes, n))
        self.labeled: BoolArray = np.zeros(n, dtype=bool)
        self._measure()

    @property
    def unlabeled(self) -> IntArray:
        """The unlabeled nodes, which are the candidates."""
        return np.flatnonzero(~self.labeled)

    def tell(self, node: int, label: int) -> None:
        """Update μ ← μ + (y_k − μ_k) g_k / g_kk (9), G ← G − g_k g_kᵀ / g_kk (10), and the norms of G's columns."""
        G, mu = self.covariance, self.mean
        g, y = G[node].copy(), _answers(len(mu))[label]
        mu += np.outer(y - mu[:, node], g / g[node])
        G -= np.outer(g, g / g[node])
        mu[:, node], G[node], G[:, node] = y, 0.0, 0.0
        self.labeled[node] = True
        self._measure()

    def ask(self, sampler: str) -> int:
        """Return the unlabeled node with the highest score; of equal ones the first."""
        nodes = self.unlabeled
        return int(nodes[self.score(sampler, nodes).argmax()])

    def score(self, sampler: str, nodes: IntArray) -> Array:
        """Return the scores of some unlabeled nodes; larger is better."""
        if sampler in CLOSED:
            return CLOSED[sampler](self, nodes)
        p = _softened(self.mean[:, nodes], self.variance[nodes]) if sampler == "tsa" else _chances(self.mean[:, nodes])
        step = max(1, BLOCK // (len(self.mean) * self.mean.size))
        blocks = [slice(at, at + step) for at in range(0, nodes.size, step)]
        return np.concatenate([self._expected(RETRAINED[sampler], nodes[rows], p[:, rows]) for rows in blocks])

    def _measure(self) -> None:
        """Compute g_ii, ‖g_i‖₁ (G ≥ 0) and ‖g_i‖₂² of every column."""
        G = self.covariance
        self.variance: Array = np.diagonal(G).copy()
        self.influence: Array = G.sum(axis=0)
        self.squares: Array = np.einsum("ij,ij->i", G, G)

    def _expected(self, change: Callable[[Costed, Array, Array], Array], nodes: IntArray, p: Array) -> Array:
        r"""Return Σ_y p_i(y) Σ_{j ∈ U \ i} change_j, with means retrained as μ + (y − μ_i) g_i / g_ii."""
        G = self.covariance[nodes]
        R = G / self.variance[nodes, None]
        step = _answers(len(self.mean)) - self.mean[:, nodes].T[:, None]  # candidates × answers × classes
        after = step[..., None] * R[:, None, None]
        after += self.mean
        variance = np.maximum(self.variance - G * R, FLOOR * np.maximum(self.variance, FLOOR))
        counted = np.repeat(~self.labeled[None], nodes.size, axis=0)
        counted[np.arange(nodes.size), nodes] = False
        changes = (change(self, after, variance) * counted[:, None]).sum(axis=2)
        return np.asarray((changes * p.T).sum(axis=1))


def _answers(classes: int) -> Array:
    """Return the ±1 labels, one row per class."""
    return 2 * np.eye(classes) - 1


def _chances(mu: Array) -> Array:
    """Return p_c ∝ (1 + μ_c)/2 (6); classes are on the axis before the last."""
    odds = np.maximum(1 + mu, 0.0)
    odds /= odds.sum(axis=-2, keepdims=True)
    return odds


def _softened(mu: Array, variance: Array) -> Array:
    """Return p_c ∝ σ(2 μ_c / g), the marginals of tsa."""
    return np.asarray(softmax(log_expit(2 * mu / variance), axis=-2))


def _decided(mu: Array) -> IntArray:
    """Return argmax_c μ_c (7); a tie goes to the class that was named first."""
    return np.asarray((mu >= mu.max(axis=-2, keepdims=True) - TIE).argmax(axis=-2))


def _surprise(field: Costed, nodes: IntArray) -> Array:
    """Return u = 1 − μ² for two classes, Σ_c (1 − p_c²) for more (30)."""
    mu = field.mean[:, nodes]
    return np.asarray(1 - mu[0] ** 2 if len(mu) == 2 else (1 - _chances(mu) ** 2).sum(axis=0))


def _margin(field: Costed, nodes: IntArray) -> Array:
    second, first = np.partition(field.mean[:, nodes], -2, axis=0)[-2:]
    return np.asarray(second - first)


def _flips(field: Costed, after: Array, variance: Array) -> Array:
    return np.asarray(_decided(after) != _decided(field.mean), dtype=float)


def _divergence(field: Costed, after: Array, variance: Array) -> Array:
    p, now = _chances(after), np.maximum(_chances(field.mean), FLOOR)
    return np.asarray((p * np.log(np.maximum(p, FLOOR) / now)).sum(axis=2))


def _gain(field: Costed, after: Array, variance: Array) -> Array:
    return np.asarray(_chances(after).max(axis=2) - 1)


def _two_step_gain(field: Costed, after: Array, variance: Array) -> Array:
    return np.asarray(_softened(after, variance[:, None, None]).max(axis=2) - 1)


CLOSED: dict[str, Callable[[Costed, IntArray], Array]] = {
    "tv": lambda field, i: _surprise(field, i) * field.influence[i] / field.variance[i],  # (24)
    "msd": lambda field, i: _surprise(field, i) * field.squares[i] / field.variance[i] ** 2,  # (27)
    "klg": lambda field, i: _surprise(field, i) / (2 * field.variance[i]),  # (16)
    "unc": _margin,
    "vm": lambda field, i: field.squares[i] / field.variance[i],
    "sigma": lambda field, i: field.influence[i] ** 2 / field.variance[i],
}
RETRAINED: dict[str, Callable[[Costed, Array, Array], Array]] = {
    "fl": _flips,  # (12)
    "kl": _divergence,  # (19)–(22)
    "eer": _gain,
    "tsa": _two_step_gain,
}
