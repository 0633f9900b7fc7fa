"""A few hundred points in the plane, every pair looked at: stress majorisation, then the forces of ``layout``."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from threadpoolctl import ThreadpoolController

from askgraph.types import Array

ROUNDS, STILL = 100, 1e-4  # of majorisation at most, and the gain below which one was the last
TWIST = np.pi * (3 - np.sqrt(5))  # turns by the golden angle never line up
SOFT = 0.001  # keeps the repulsion finite
NUDGE = 0.02  # what tells equal points apart, as a share of the longest distance


def path_lengths(lengths: csr_array) -> Array:
    """The length of the shortest path between any two nodes; without one, that of the longest, at least 1.

    >>> path_lengths(csr_array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[0.0, 2.0, 2.0], [2.0, 0.0, 2.0], [2.0, 2.0, 0.0]]
    """
    D = np.asarray(shortest_path(lengths, directed=False))
    joined = np.isfinite(D)
    D[~joined] = max(D[joined].max(initial=0.0), 1.0)
    return D


def arranged(D: Array, middle: float = 1.0) -> Array:
    r"""Positions (n, 2) with little stress :math:`\sum_{i<j} d_{ij}^{-2} (\|x_i - x_j\| - d_{ij})^2`, for distances D > 0.

    Majorisation (Gansner, Koren, North 2004) from classical scaling; pairs with node 0 count ``middle`` times.

    >>> x = arranged(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]))
    >>> round(float(np.linalg.norm(x[0] - x[2])), 2)
    2.0
    """
    if len(D) < 2:
        return np.zeros((len(D), 2))
    w = _inverse(D) ** 2
    w[0], w[:, 0] = middle * w[0], middle * w[:, 0]
    with _threads().limit(limits=1):  # on so few numbers, they only wait for each other
        return _majorised(D, w, _scaled(D))


@cache
def _threads() -> Any:
    return ThreadpoolController()  # looking for them takes longer than a small picture


def _majorised(D: Array, w: Array, x: Array) -> Array:
    V = np.linalg.inv(np.diag(w.sum(axis=1)) - w + 1 / len(D))  # on centred points, the pseudoinverse
    before = np.inf
    for _ in range(ROUNDS):
        d = distances(x)
        stress = float((w * (d - D) ** 2).sum())
        if before - stress <= STILL * stress:
            break
        before, B = stress, w * D * _inverse(d)
        x = V @ (B.sum(axis=1)[:, None] * x - B @ x)
    return x


def distances(x: Array) -> Array:
    """Between all pairs of points."""
    d = np.subtract.outer(x[:, 0], x[:, 0]) ** 2
    d += np.subtract.outer(x[:, 1], x[:, 1]) ** 2
    return np.asarray(np.sqrt(d, out=d))


def settled(W: csr_array, x: Array, pulls: float, pushes: float, rounds: int) -> Array:
    """Points after the forces that ``layout_kernels.moved`` draws at random, here on average and over all pairs."""
    share = W.toarray() / W.sum(axis=1)[:, None]
    A, repulsion = pulls * (share + share.T), pulls * pushes / len(x)
    width = 2 * A.sum(axis=1)[:, None]
    with _threads().limit(limits=1):
        for step in np.linspace(1, 0, rounds, endpoint=False):
            d = distances(x) ** 2
            F = (repulsion / (d + SOFT) - A) * 2 / (1 + d)
            np.fill_diagonal(F, 0.0)
            x = x + step * (F.sum(axis=1)[:, None] * x - F @ x) / width
    return x


def spiral(n: int) -> Array:
    """n points that fill the unit disc evenly.

    >>> spiral(2).round(2).tolist()
    [[0.5, 0.0], [-0.64, 0.58]]
    """
    turn = TWIST * np.arange(n)
    return np.asarray(np.sqrt((np.arange(n) + 0.5) / max(n, 1))[:, None] * np.c_[np.cos(turn), np.sin(turn)])


def _scaled(D: Array) -> Array:
    """Classical scaling: the two directions in which −D²/2, centred, varies most."""
    S = -0.5 * D**2
    S -= S.mean(axis=0)
    S -= S.mean(axis=1)[:, None]
    values, vectors = np.linalg.eigh(S)
    x = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    return np.asarray(x + NUDGE * D.max() * spiral(len(D)))


def _inverse(D: Array) -> Array:
    return np.divide(1.0, D, out=np.zeros_like(D), where=D > 0)
