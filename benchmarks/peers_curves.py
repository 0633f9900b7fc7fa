"""Learning curves of peers: graphlearning from PyPI and scikit-learn's LabelSpreading, each with a sampler of its own field.

A peer is fitted again after every label, on the classes seen so far: graphlearning needs classes numbered without gaps. While
only one class is seen, there is no margin and all nodes score alike, so margin asks at random and MCVOPT by variance alone. Ties
are broken at random, by the seed. On a disconnected graph Poisson's equation has no solution (graphlearning's conjugate gradients
run 100,000 steps and end in noise), so Poisson learning is fitted in each component that has labels. Those conjugate gradients
also divide zero by zero where a class has no unlabeled neighbor, and stop for all classes; here the other classes go on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from scipy.special import softmax

EIGENVECTORS = 50  # of the truncated covariance, as in graphlearning's examples
# an alpha of 0.9 is better than the default 0.2, and than 0.99, on seven graphs
SPREADING = {"alpha": 0.9, "max_iter": 1000, "tol": 1e-6}
TAU, LEAST = 1e-3, 1e-9  # of PWLL: the first zeroth-order term, and the value below which the term counts as 0


def shares(scores):
    """Return votes divided by their sum; where no label reaches, all classes seen get the same share."""
    votes = np.maximum(scores, 0.0)
    total = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, total, out=np.full_like(votes, 1 / votes.shape[1]), where=total > 0)


@dataclass
class Peer:
    """A classifier by its ``fit(nodes, codes) -> scores`` and a graphlearning acquisition function, on one graph."""

    fit: Callable[[Any, Any], Any]
    acquisition: Any
    classes: int
    probabilities: Callable[[Any], Any] = shares
    alone: bool = False  # whether its scores are usable while only one class is seen

    def read(self, nodes, codes):
        """Return the scores of the classes seen, and the probabilities of all classes, after these labels."""
        seen, told = np.unique(codes, return_inverse=True)
        scores = self.fit(nodes, told)
        if not np.isfinite(scores).all():
            raise FloatingPointError(f"scores are not finite after {len(nodes)} labels")
        p = np.zeros((len(scores), self.classes))
        p[:, seen] = self.probabilities(scores)
        if len(seen) == 1 and not self.alone:
            scores = np.zeros((len(scores), 2))
        return scores, p

    def ask(self, scores, waiting, rng):
        worth = self.acquisition.compute(scores, waiting)
        return int(rng.choice(waiting[worth == worth.max()]))


def curve(peer, codes, first, budget, seed):
    """Yield the nodes labeled so far and the probabilities, label by label."""
    rng, nodes = np.random.default_rng([seed, 1]), [first]
    while True:
        peer.acquisition.update(nodes[-1:], codes[nodes[-1:]])
        scores, p = peer.read(np.array(nodes), codes[nodes])
        yield nodes, p
        if len(nodes) == budget:
            return
        nodes.append(peer.ask(scores, np.setdiff1d(np.arange(len(codes)), nodes), rng))


def mended(conjgrad):
    """Solve many right-hand sides as graphlearning does, but solve zeros by zeros, and let none that is done stop the others."""

    def solve(A, b, **options):
        sides = b if b.ndim == 2 else b[:, None]
        x, some = np.zeros_like(sides), np.flatnonzero(sides.any(axis=0))
        x[:, some] = conjgrad(A, sides[:, some], **options)
        for k in some if not np.isfinite(x).all() else ():
            x[:, k] = conjgrad(A, sides[:, k], **options)
        return x.reshape(b.shape)

    return solve


@cache
def package():
    """Return the graphlearning package with its solver fixed."""
    import graphlearning

    graphlearning.utils.conjgrad = mended(graphlearning.utils.conjgrad)
    return graphlearning


def by_component(W, make):
    """Return a fit of the whole graph from ``make(W)``, the fit of a connected one; zeros where a component has no label."""
    part = connected_components(W, directed=False)[1]
    places = [np.flatnonzero(part == k) for k in range(part.max() + 1)]
    fits = [make(W[place][:, place]) for place in places]

    def fit(nodes, codes):
        scores = np.zeros((W.shape[0], codes.max() + 1))
        for k in np.unique(part[nodes]):
            inside = part[nodes] == k
            seen, told = np.unique(codes[inside], return_inverse=True)
            scores[np.ix_(places[k], seen)] = fits[k](np.searchsorted(places[k], nodes[inside]), told, len(nodes))
        return scores

    return fit


def poisson(W, classes):
    """Return Poisson learning (Calder et al. 2020) and the smallest margin; softmax turns signed scores into probabilities."""
    gl = package()

    def make(W):
        model = gl.ssl.poisson(W)
        return lambda nodes, codes, _: model.fit(nodes, codes) if codes.any() else np.ones((W.shape[0], 1))

    return Peer(by_component(W, make), gl.active_learning.unc_sampling(), classes, lambda u: softmax(u, axis=1))


def laplace(W, classes):
    """Return Laplace learning and model change with variance (Miller & Bertozzi 2021) on a truncated covariance.

    The eigenvectors are those of the smooth end of the spectrum, as intended, and the same every time: graphlearning's
    eigen_decomp takes singular vectors, which are of both ends, from a random start.
    """
    gl = package()

    D = gl.graph(W).degree_matrix(p=-0.5)
    start = np.random.default_rng(0).random(W.shape[0])
    values, vectors = eigsh(D @ W @ D, k=min(EIGENVECTORS, W.shape[0] - 2), which="LA", v0=start)
    covariance = np.diag(1 / (1 - values + 1e-11))
    return Peer(gl.ssl.laplace(W).fit, gl.active_learning.model_change_var_opt(covariance, vectors), classes)


def reweighted(W, classes):
    """Return Poisson-reweighted Laplace learning and the smallest norm (Miller & Calder 2023); τ = 0 after two labels per class."""
    gl = package()

    def make(W):
        model = gl.ssl.laplace(W, reweighting="poisson", tau=TAU)

        def fit(nodes, codes, held):
            tau = TAU * (LEAST / TAU) ** ((held - 1) / (2 * classes))
            model.tau = np.full(W.shape[0], tau if tau >= LEAST else 0.0)
            return model.fit(nodes, codes)

        return fit

    return Peer(by_component(W, make), gl.active_learning.unc_sampling("unc_2norm"), classes, alone=True)


def spreading(W, classes):
    """Return LabelSpreading (Zhou et al. 2004) with this graph as its kernel, and the smallest margin."""
    from sklearn.semi_supervised import LabelSpreading

    gl, n = package(), W.shape[0]

    def fit(nodes, codes):
        told = np.full(n, -1)
        told[nodes] = codes
        model = LabelSpreading(kernel=lambda *_: W, **SPREADING)
        return model.fit(np.arange(n)[:, None], told).label_distributions_

    return Peer(fit, gl.active_learning.unc_sampling(), classes)


PEERS = {
    "poisson+margin": poisson,
    "laplace+mcvopt": laplace,
    "pwll+norm": reweighted,
    "spreading+margin": spreading,
}


def peer(name, problem):
    """Return the peer of this name, ready for labels."""
    warnings.simplefilter("ignore")  # LabelSpreading misses its tolerance, graphlearning calls deprecated scipy
    return PEERS[name](csr_matrix(problem.graph.weights), len(problem.classes))
