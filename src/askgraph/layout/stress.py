"""Positions of a few hundred points from all their pairs: stress majorization, then the forces of ``layout``."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from askgraph.support.threads import one_blas_thread
from askgraph.types import Array

MAX_ROUNDS = 100  # of majorization
SMALLEST_GAIN = 1e-4  # majorization also ends when a round lowers stress by a smaller share
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))  # radians; points that are rotated by multiples of it never line up
SOFTENING = 0.001  # added to a squared distance, so that the repulsion stays finite
NUDGE = 0.02  # equal points start this far apart, as a share of the longest distance


def path_lengths(lengths: csr_array) -> Array:
    """Return the length of the shortest path between any two nodes; without a path, that of the longest, at least 1.

    >>> path_lengths(csr_array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[0.0, 2.0, 2.0], [2.0, 0.0, 2.0], [2.0, 2.0, 0.0]]
    """
    D = np.asarray(shortest_path(lengths, directed=False))
    connected = np.isfinite(D)
    D[~connected] = max(D[connected].max(initial=0.0), 1.0)
    return D


def minimize_stress(D: Array, middle: float = 1.0) -> Array:
    r"""Return positions (n, 2) with little stress :math:`\sum_{i<j} d_{ij}^{-2} (\|x_i - x_j\| - d_{ij})^2`.

    D are the distances wanted, > 0 between different points. Majorization (Gansner, Koren, North 2004) starts from
    classical scaling; pairs with node 0 count ``middle`` times.

    >>> x = minimize_stress(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]))
    >>> round(float(np.linalg.norm(x[0] - x[2])), 2)
    2.0
    """
    if len(D) < 2:
        return np.zeros((len(D), 2))
    w = _inverse(D) ** 2
    w[0], w[:, 0] = middle * w[0], middle * w[:, 0]
    with one_blas_thread():  # on so few numbers, several would only wait for each other
        return _majorize(D, w, _classical_scaling(D))


def _majorize(D: Array, w: Array, x: Array) -> Array:
    V = np.linalg.inv(np.diag(w.sum(axis=1)) - w + 1 / len(D))  # on centered points, the pseudoinverse
    before = np.inf
    for _ in range(MAX_ROUNDS):
        d = distances(x)
        stress = float((w * (d - D) ** 2).sum())
        if before - stress <= SMALLEST_GAIN * stress:
            break
        before, B = stress, w * D * _inverse(d)
        x = V @ (B.sum(axis=1)[:, None] * x - B @ x)
    return x


def distances(x: Array) -> Array:
    """Return the distances between all pairs of points."""
    d = np.subtract.outer(x[:, 0], x[:, 0]) ** 2
    d += np.subtract.outer(x[:, 1], x[:, 1]) ** 2
    return np.asarray(np.sqrt(d, out=d))


def apply_mean_forces(W: csr_array, x: Array, pulls: float, pushes: float, rounds: int) -> Array:
    """Return the points after the forces of ``kernels.apply_forces``, here their means over all pairs."""
    share = W.toarray() / W.sum(axis=1)[:, None]
    A, repulsion = pulls * (share + share.T), pulls * pushes / len(x)
    width = 2 * A.sum(axis=1)[:, None]
    with one_blas_thread():
        for step in np.linspace(1, 0, rounds, endpoint=False):
            d = distances(x) ** 2
            F = (repulsion / (d + SOFTENING) - A) * 2 / (1 + d)
            np.fill_diagonal(F, 0.0)
            x = x + step * (F.sum(axis=1)[:, None] * x - F @ x) / width
    return x


def spiral(n: int) -> Array:
    """Return n points that fill the unit disk evenly.

    >>> spiral(2).round(2).tolist()
    [[0.5, 0.0], [-0.64, 0.58]]
    """
    angle = GOLDEN_ANGLE * np.arange(n)
    return np.asarray(np.sqrt((np.arange(n) + 0.5) / max(n, 1))[:, None] * np.c_[np.cos(angle), np.sin(angle)])


def _classical_scaling(D: Array) -> Array:
    """Return the two directions in which −D²/2, centered, varies most."""
    S = -0.5 * D**2
    S -= S.mean(axis=0)
    S -= S.mean(axis=1)[:, None]
    values, vectors = np.linalg.eigh(S)
    x = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    return np.asarray(x + NUDGE * D.max() * spiral(len(D)))


def _inverse(D: Array) -> Array:
    return np.divide(1.0, D, out=np.zeros_like(D), where=D > 0)
