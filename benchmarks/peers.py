"""Peers to compare with: the paper's algorithm written well, and the PyPI package graphlearning."""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import blas, lapack


def paper(W, truth, budget, utility, delta=0.005):
    """Run Algorithm 1 with an n × n inverse (potrf, potri), an in-place BLAS rank-one update, and utilities from G.

    Binary, doubt t^(-1/2) in the printed form, like our defaults. Returns seconds: first question, and the steps after it.
    """
    start = time.perf_counter()
    n = W.shape[0]
    G = np.asfortranarray(-W.toarray())
    G[np.diag_indices(n)] += np.asarray(W.sum(axis=1)).ravel() + delta
    G, _ = lapack.dpotrf(G, lower=1, overwrite_a=1)
    G, _ = lapack.dpotri(G, lower=1, overwrite_c=1)
    if utility == "msd":  # column norms need the whole matrix
        G += np.tril(G, -1).T
    mu, waiting, ones = np.zeros(n), np.ones(n, dtype=bool), np.ones(n)
    k, steps = int(np.random.default_rng(0).integers(n)), []
    for t in range(1, budget + 1):
        column = G[:, k].copy() if utility == "msd" else np.r_[G[k, :k], G[k:, k]]
        mu += (truth[k] - mu[k]) / column[k] * column
        if utility == "msd":
            G = blas.dger(-1 / column[k], column, column, a=G, overwrite_a=1)
        else:
            G = blas.dsyr(-1 / column[k], column, a=G, lower=1, overwrite_a=1)
        waiting[k] = False
        g = np.where(waiting, np.diagonal(G), 1.0)
        alpha = t**-0.5
        if utility == "msd":
            norm = np.einsum("ij,ij->j", G, G)
            scores = (alpha / 2 + (1 - alpha) * (1 - mu**2) / g) * norm / g
        else:
            norm = blas.dsymv(1.0, G, ones, lower=1)
            scores = (alpha / 2 * norm + (1 - alpha) * (1 - mu**2)) * norm / g
        k = int(np.where(waiting, scores, -np.inf).argmax())
        steps.append(time.perf_counter() - start)
    return steps


def graphlearning(W, truth, budget, criterion, eigenpairs=None):
    """Run graphlearning's loop: Laplace learning refitted per label, var_opt or sigma_opt on a dense or truncated covariance."""
    import graphlearning as gl
    from scipy import sparse

    start = time.perf_counter()
    labels = (truth > 0).astype(int)
    W = sparse.csr_matrix(W)
    first = np.array([int(np.flatnonzero(labels == c)[0]) for c in (0, 1)])
    if eigenpairs:
        values, vectors = gl.graph(W).eigen_decomp(normalization="normalized", k=eigenpairs)
        options = {"C": np.diag(1 / (values + 1e-11)), "V": vectors}
    else:
        L = np.diag(np.asarray(W.sum(axis=1)).ravel()) - W.toarray()
        options = {"C": np.linalg.inv(L + 0.005 * np.eye(len(L)))}
    acquisition = getattr(gl.active_learning, criterion)
    learner = gl.active_learning.active_learner(gl.ssl.laplace(W), acquisition, first, labels[first], **options)
    steps = []
    for _ in range(budget):
        query = learner.select_queries(batch_size=1)
        learner.update(query, labels[query])
        steps.append(time.perf_counter() - start)
    return steps
