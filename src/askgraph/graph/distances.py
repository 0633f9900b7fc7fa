"""Whether a matrix given as weights holds distances: a sign test on a sample of its edges."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from askgraph.types import AnyArray, Array

EDGES = 1_000  # sampled; fewer than FEWEST tell nothing
FEWEST = 50
STRENGTH, CERTAINTY = -0.1, -4.5  # the correlation must be below the one, and the other many standard deviations from 0
NOTE = (
    "these weights look like distances: nodes with like neighbors have small ones. A weight says how near two nodes are: turn "
    "distances d into weights, for example np.exp(-(d / scale)**2), or give the points to askgraph.nearest_neighbors"
)


def look_like_distances(W: sp.csr_array) -> bool:
    """Return whether the ends of an edge have the more alike neighbors the smaller its weight is.

    With weights it is the other way round: near nodes have a large weight and like neighbors. Numbers of neighbors are
    partialled out, since dividing weights by degrees makes weights small where neighbors are many. Ranks are compared, of the
    weights and of the cosines of the rows of both ends.

    >>> x = np.random.default_rng(0).random(60)
    >>> d = np.abs(x[:, None] - x)
    >>> look_like_distances(sp.csr_array(d)), look_like_distances(sp.csr_array(np.exp(-d)))
    (True, False)
    """
    if W.nnz < 2 * FEWEST or np.ptp(W.data) == 0:
        return False
    at = np.random.default_rng(0).choice(W.nnz, min(EDGES, W.nnz), replace=False)
    i, j, w = np.searchsorted(W.indptr, at, side="right") - 1, W.indices[at], W.data[at] / W.data.max()
    one, other = W[i] / W.data.max(), W[j] / W.data.max()
    shared, own = (np.asarray(x.sum(axis=1)).ravel() for x in (one.multiply(other), one.multiply(one)))
    rest = (own - w**2) * (np.asarray(other.multiply(other).sum(axis=1)).ravel() - w**2)  # without the edge itself
    alike = np.where(shared > 0, shared / np.sqrt(np.maximum(rest, np.finfo(float).tiny)), 0.0)
    count = np.diff(W.indptr)
    few, many = np.minimum(count[i], count[j]), np.maximum(count[i], count[j])
    r = _partial_correlation(_ranks(w), _ranks(alike), [_ranks(few), _ranks(many), _ranks(few * many)])
    return r < STRENGTH and r * math.sqrt(at.size) < CERTAINTY


def _ranks(x: AnyArray) -> Array:
    """Return the rank of each number among the different ones, from 0 to 1."""
    found, place = np.unique(x, return_inverse=True)
    return place / max(found.size - 1, 1)


def _partial_correlation(x: Array, y: Array, others: list[Array]) -> float:
    """Return the correlation of what linear functions of the others leave of x and y; 0 where they leave nothing."""
    Z = np.column_stack([np.ones_like(x), *others])
    x, y = (v - Z @ np.linalg.lstsq(Z, v, rcond=None)[0] for v in (x, y))
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / size if size > 1e-6 * len(x) else 0.0
