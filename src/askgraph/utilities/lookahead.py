"""Utilities that look one answer ahead at every other node: O(C n²), in chunks of candidate columns.

With R_ji = g_ji / g_ii, the answer y at node i moves class y of node j by (1 − h_iy) R_ji and every other class c by −h_ic R_ji.
So all classes after "not the answer", base_jc = h_jc − h_ic R_ji, are computed once a pair, and each answer adds R_ji to one
of them: O(C) a pair, not O(C²). The normaliser of the probabilities does not depend on the answer either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field
from askgraph.spaces.cuda import CudaSpace
from askgraph.support.progress import Tick, bar, compiling
from askgraph.support.threads import one_blas_thread
from askgraph.types import Array, IntArray
from askgraph.utilities import lookahead_cuda
from askgraph.utilities.closed import innovation

CHUNK_BYTES = 64_000_000  # columns of G that a thread holds and solves together: eight at a million nodes
PLAIN_BYTES = 250_000  # the same for the array form, whose temporaries must stay in cache
COMPILE_FROM = 200_000  # pairs times classes; from here on kernels are compiled, below that NumPy is faster
BAR_FROM = 100_000_000  # pairs times classes; from here on a question may take seconds, and a progress bar is shown
FLOOR = 1e-12  # probabilities below this count as this in logarithms


class Candidates(NamedTuple):
    """The candidates of all processes, one row per candidate."""

    nodes: IntArray
    own: Array  # votes
    p: Array
    scale: Array  # g_ii + γ²

    @classmethod
    def of(cls, field: Field, rows: IntArray, p: Array) -> Candidates:
        """Return the candidates of all processes."""
        every = field.space.allgather
        nodes, own = every(field.space.nodes_of(rows)), every(coding.at_least_two(field.votes)[rows])
        return cls(nodes, own, every(p), every(innovation(field, rows)))

    def part(self, some: slice) -> Candidates:
        """Return some of the candidates."""
        return Candidates(self.nodes[some], self.own[some], self.p[some], self.scale[some])


class Pairs:
    """One chunk of candidates i (rows) against all nodes j that live here (columns)."""

    nodes: IntArray
    own: Array
    p: Array
    scale: Array
    rows: IntArray
    variance: Array
    counted: Array

    def __init__(self, field: Field, candidates: Candidates, votes: Array) -> None:
        self.nodes, self.own, self.p, self.scale = candidates
        self.rows = field.space.rows_of(self.nodes)
        self.votes = votes
        to_numpy = field.space.to_numpy
        self.G = np.ascontiguousarray(to_numpy(field.columns(self.nodes, rough=1e-3)).T)
        self.variance = to_numpy(field.spread.variance)
        self.counted = np.where(to_numpy(field.labeled), 0.0, 1.0)

    @property
    def R(self) -> Array:
        """g_ij / (g_ii + γ²), one row per candidate i, one column per node j."""
        return self.G / self.scale[:, None]

    def base(self, R: Array, c: int) -> Array:
        """Return the votes for class c at every node when the answer is not c."""
        return self.votes[:, c] - self.own[:, c, None] * R

    def reach(self, R: Array) -> Array:
        """Return H of every node after the answer, which does not depend on what the answer is."""
        H = self.votes.sum(axis=1)
        return np.asarray(H + (1 - self.own.sum(axis=1))[:, None] * R)

    def sum_over_others(self, contributions: Array) -> Array:
        """Return the sum over all unlabeled nodes but the candidate itself, one number per candidate."""
        here = np.flatnonzero(self.rows >= 0)
        contributions[here, self.rows[here]] = 0.0
        return np.asarray(contributions @ self.counted)


def expected_error_reduction(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return minus the expected risk after the answer, :math:`-\sum_y p_i(y) \sum_j (1 - \max_c p_j^{+(i,y)}(c))` (Zhu 2003)."""
    return -_over_chunks(field, rows, p, _risk, "risk")


def flips(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return the expected number of changed predictions, :math:`\sum_y p_i(y)\, \#\{j \ne i: \hat y_j \text{ changes}\}` (12).

    Where classes tie, a prediction is the set of classes in the lead, and the share of the classes in either set that are not in
    both counts as changed: what a guess among them would change, whatever the order of the classes.
    """
    return _over_chunks(field, rows, p, _flips, "flips")


def label_kl(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return the expected KL of the labels, :math:`\sum_y p_i(y) \sum_j KL(p_j^{+(i,y)} \| p_j)` (19)–(22)."""
    return _over_chunks(field, rows, p, _divergence, "divergence")


def two_step(field: Field, rows: IntArray, p: Array, beta: float = 1.0) -> Array:
    r"""Return minus the expected risk with marginals :math:`p_c \propto \sigma(2\beta\mu_c/g)` (Jun & Nowak 2016)."""
    return -_over_chunks(field, rows, p, partial(_two_step_risk, beta=beta), "two_step_risk", beta)


def two_step_marginals(field: Field, rows: IntArray, beta: float = 1.0) -> Array:
    r"""Return class probabilities that count variance, :math:`p_c \propto \sigma(2\beta\mu_c/g_{ii})`."""
    mu = coding.means(coding.at_least_two(field.votes)[rows])
    variance = np.maximum(field.spread.variance[rows], np.finfo(float).tiny)
    x = 2 * beta * mu / variance[:, None]
    logs = np.minimum(x, 0.0) - np.log1p(np.exp(-abs(x)))  # ln σ: every σ underflows where the variance is small
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    return odds / coding.row_sums(odds)


def _risk(pairs: Pairs) -> Array:
    R = pairs.R
    H = pairs.reach(R)
    classes = pairs.votes.shape[1]
    best = np.maximum.reduce([pairs.base(R, c) for c in range(classes)])
    top = sum(pairs.p[:, y, None] * np.maximum(pairs.base(R, y) + R, best) for y in range(classes))
    return np.asarray(1 - (top + (1 - H) / 2) / ((classes + (2 - classes) * H) / 2))


def _flips(pairs: Pairs) -> Array:
    R = pairs.R
    classes = pairs.votes.shape[1]
    base = np.stack([pairs.base(R, c) for c in range(classes)], axis=2)
    best = base.max(axis=2, keepdims=True)
    without, before = base >= best - coding.TIE, coding.leading(pairs.votes)
    out = np.zeros_like(R)
    for y, answer in enumerate(np.eye(classes, dtype=bool)):
        lead = (base[:, :, y] + R)[:, :, None] - best
        after = np.where(lead > coding.TIE, answer, without | (answer & (lead >= -coding.TIE)))
        out += pairs.p[:, y, None] * (1 - (after & before).sum(axis=2) / (after | before).sum(axis=2))
    return out


def _divergence(pairs: Pairs) -> Array:
    R = pairs.R
    H = pairs.reach(R)
    classes = pairs.votes.shape[1]
    Z = (classes + (2 - classes) * H) / 2
    now = np.maximum(coding.chances(pairs.votes), FLOOR)
    rest, out = np.zeros_like(R), np.zeros_like(R)
    for c in range(classes):
        if_not = np.maximum(pairs.base(R, c) + (1 - H) / 2, 0.0) / Z
        term = if_not * np.log(np.maximum(if_not, FLOOR) / now[:, c])
        if_so = if_not + R / Z
        rest += term
        out += pairs.p[:, c, None] * (if_so * np.log(np.maximum(if_so, FLOOR) / now[:, c]) - term)
    return np.asarray(out + rest * pairs.p.sum(axis=1)[:, None])


def _two_step_risk(pairs: Pairs, beta: float) -> Array:
    from scipy.special import log_expit

    R = pairs.R
    H = pairs.reach(R)
    classes = pairs.votes.shape[1]
    gain = 2 * beta / _left(pairs.variance, pairs.G, R)
    best = np.maximum.reduce([pairs.base(R, c) for c in range(classes)])
    first = log_expit(gain * (2 * best - H))
    odds = [np.exp(log_expit(gain * (2 * pairs.base(R, c) - H)) - first) for c in range(classes)]
    total = sum(odds)
    out = np.zeros_like(R)
    for y in range(classes):
        answered = log_expit(gain * (2 * (pairs.base(R, y) + R) - H))
        top = np.maximum(answered, first)
        out += pairs.p[:, y, None] * (1 - 1 / ((total - odds[y]) * np.exp(first - top) + np.exp(answered - top)))
    return out


def _left(variance: Array, G: Array, R: Array) -> Array:
    """Return g_jj after the answer; floored, since it is 0 at the node itself and at labeled ones, which are not counted."""
    return np.maximum(variance - G * R, 1e-12 * np.maximum(variance, 1e-12))


def _over_chunks(
    field: Field, rows: IntArray, p: Array, plain: Callable[[Pairs], Array], name: str, *settings: float
) -> Array:
    space, votes = field.space, coding.at_least_two(field.votes)
    if isinstance(space, CudaSpace):
        return lookahead_cuda.scores(field, rows, p, votes, name, *settings)
    votes = np.ascontiguousarray(space.to_numpy(votes))
    candidates = Candidates.of(field, rows, p)
    count, n, workers = len(candidates.nodes), space.most_rows, space.threads
    work = count * space.n_nodes * p.shape[1]
    heavy = work >= COMPILE_FROM
    size = max(1, min((CHUNK_BYTES if heavy else PLAIN_BYTES) // (8 * n), -(-count // workers)))

    def score(start: int) -> Array:
        pairs = Pairs(field, candidates.part(slice(start, start + size)), votes)
        return _compiled(name, pairs, *settings) if heavy else pairs.sum_over_others(plain(pairs))

    starts = range(0, count, size)
    threaded = heavy and workers > 1
    parts = _in_threads(score, starts, workers, name, work >= BAR_FROM) if threaded else map(score, starts)
    return space.local_part(space.allreduce(np.concatenate([np.empty(0), *parts])), rows)


def _in_threads(score: Callable[[int], Array], starts: range, workers: int, name: str, slow: bool) -> Iterator[Array]:
    with _bar(len(starts)) if slow else _note(name) as tick, one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        for part in pool.map(score, starts):
            yield part
            tick()


def _bar(steps: int) -> AbstractContextManager[Tick]:
    return bar(steps, "looking ahead")


@contextmanager
def _note(name: str) -> Iterator[Tick]:
    with compiling(name.replace("_", " ")):
        yield lambda amount=1: None


def _compiled(name: str, pairs: Pairs, *settings: float) -> Array:
    from askgraph.utilities import lookahead_kernels

    now = np.maximum(coding.chances(pairs.votes), FLOOR)
    fixed = (pairs.votes, now, pairs.votes.max(axis=1), pairs.variance, pairs.counted)
    kernel: Callable[..., Array] = getattr(lookahead_kernels, name)
    mine = np.ascontiguousarray(pairs.own), np.ascontiguousarray(pairs.p)
    return kernel(pairs.G, pairs.scale, pairs.rows, *mine, *fixed, *settings)
