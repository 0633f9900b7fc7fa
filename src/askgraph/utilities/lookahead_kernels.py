"""The look-ahead utilities, compiled: for each candidate row of G, a sum over all other unlabeled nodes that live here.

A candidate's own row is ``rows[i]``, -1 where it lives elsewhere; ``mine[i]`` are its votes.

The same arithmetic as ``lookahead``'s array form, a pair at a time; the tests hold the two equal.
"""

from __future__ import annotations

import numpy as np

from askgraph.linalg import vector_math
from askgraph.support.jit import jit
from askgraph.types import Array, IntArray

TIE = 1e-9  # votes that differ by less count as equal
FLOOR = 1e-12  # smaller probabilities count as this in logarithms


@jit()
def risk(
    G: Array,
    scale: Array,
    rows: IntArray,
    mine: Array,
    p: Array,
    votes: Array,
    now: Array,
    top: Array,
    variance: Array,
    counted: Array,
) -> Array:
    """Return the expected risk after the answer; classes outside, nodes inside, so that loops over nodes use vector registers."""
    n, C = votes.shape
    out = np.zeros(len(rows))
    reach = votes.sum(axis=1)
    columns = np.ascontiguousarray(votes.T)
    R, best, top = np.empty(n), np.empty(n), np.empty(n)
    for i in range(len(rows)):
        own = mine[i]
        rest = 1 - own.sum()
        share = 1 / scale[i]
        for j in range(n):
            R[j] = G[i, j] * share
            best[j] = columns[0, j] - own[0] * R[j]
            top[j] = 0.0
        for c in range(1, C):
            h, own_c = columns[c], own[c]
            for j in range(n):
                base = h[j] - own_c * R[j]
                best[j] = base if base > best[j] else best[j]
        for y in range(C):
            h, p_y, left = columns[y], p[i, y], 1 - own[y]
            for j in range(n):
                answered = h[j] + left * R[j]
                top[j] += p_y * (answered if answered > best[j] else best[j])
        total = 0.0
        for j in range(n):
            H = reach[j] + rest * R[j]
            total += counted[j] * (1 - (2 * top[j] + 1 - H) / (C + (2 - C) * H))
        out[i] = total
        k = rows[i]
        if k >= 0:
            H = reach[k] + rest * R[k]
            out[i] -= counted[k] * (1 - (2 * top[k] + 1 - H) / (C + (2 - C) * H))
    return out


@jit()
def flips(
    G: Array,
    scale: Array,
    rows: IntArray,
    mine: Array,
    p: Array,
    votes: Array,
    now: Array,
    top: Array,
    variance: Array,
    counted: Array,
) -> Array:
    """Return the expected number of predictions that change; ``top`` are the highest votes of each node before the answer."""
    n, C = votes.shape
    out = np.zeros(len(rows))
    base, leads = np.empty(C), np.empty(C, dtype=np.bool_)
    for i in range(len(rows)):
        own = mine[i]
        for j in range(n):
            if counted[j] == 0 or j == rows[i]:
                continue
            R = G[i, j] / scale[i]
            best = -np.inf
            for c in range(C):
                base[c] = votes[j, c] - own[c] * R
                best = max(best, base[c])
            before, without, common = (
                0,
                0,
                0,
            )  # classes in the lead now, when the answer is of none of them, and in both
            for c in range(C):
                leads[c] = votes[j, c] >= top[j] - TIE
                rival = base[c] >= best - TIE
                before += leads[c]
                without += rival
                common += leads[c] and rival
            for y in range(C):
                lead = base[y] + R - best
                both, after = common, without
                if lead > TIE:
                    both, after = int(leads[y]), 1
                elif lead >= -TIE and base[y] < best - TIE:
                    both, after = common + leads[y], without + 1
                if both < before or both < after:
                    out[i] += p[i, y] * (1 - both / (before + after - both))
    return out


@jit()
def divergence(
    G: Array,
    scale: Array,
    rows: IntArray,
    mine: Array,
    p: Array,
    votes: Array,
    now: Array,
    top: Array,
    variance: Array,
    counted: Array,
) -> Array:
    """Return the expected KL divergence of the labels; loops as in ``risk``."""
    n, C = votes.shape
    out = np.zeros(len(rows))
    reach = votes.sum(axis=1)
    columns = np.ascontiguousarray(votes.T)
    logs = np.log(np.ascontiguousarray(now.T))
    R, share, half, sums = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(len(rows)):
        own = mine[i]
        rest = 1 - own.sum()
        certain = p[i].sum()
        inverse = 1 / scale[i]
        for j in range(n):
            R[j] = G[i, j] * inverse
            H = reach[j] + rest * R[j]
            share[j] = 2 / (C + (2 - C) * H)
            half[j] = (1 - H) / 2
            sums[j] = 0.0
        for c in range(C):
            h, log_now, own_c, p_c = columns[c], logs[c], own[c], p[i, c]
            for j in range(n):
                if_not = max(h[j] - own_c * R[j] + half[j], 0.0) * share[j]
                if_so = if_not + R[j] * share[j]
                term = if_not * (vector_math.log(max(if_not, FLOOR)) - log_now[j])
                changed = if_so * (vector_math.log(max(if_so, FLOOR)) - log_now[j])
                sums[j] += (certain - p_c) * term + p_c * changed
        total = 0.0
        for j in range(n):
            total += counted[j] * sums[j]
        out[i] = total - (counted[rows[i]] * sums[rows[i]] if rows[i] >= 0 else 0.0)
    return out


@jit()
def two_step_risk(
    G: Array,
    scale: Array,
    rows: IntArray,
    mine: Array,
    p: Array,
    votes: Array,
    now: Array,
    top: Array,
    variance: Array,
    counted: Array,
    beta: float,
) -> Array:
    """Return the expected risk after the answer under marginals that count variance; loops as in ``risk``.

    With a the class that leads and odds σ(x)/σ(a) of the others, each exponential is taken times exp(min(a, 0)): what
    overflows then has odds of 0.
    """
    n, C = votes.shape
    out = np.zeros(len(rows))
    reach = votes.sum(axis=1)
    columns = np.ascontiguousarray(votes.T)
    R, H, gain, best, low = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    one, whole, total, sums = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    less, weight = np.empty((C, n)), np.empty((C, n))
    for i in range(len(rows)):
        own = mine[i]
        rest = 1 - own.sum()
        inverse = 1 / scale[i]
        for j in range(n):
            R[j] = G[i, j] * inverse
            H[j] = reach[j] + rest * R[j]
            gain[j] = 2 * beta / max(variance[j] - G[i, j] * R[j], 1e-12 * max(variance[j], 1e-12))
            best[j] = columns[0, j] - own[0] * R[j]
            total[j] = 0.0
            sums[j] = 0.0
        for c in range(1, C):
            h, own_c = columns[c], own[c]
            for j in range(n):
                best[j] = max(best[j], h[j] - own_c * R[j])
        for j in range(n):
            first = gain[j] * (2 * best[j] - H[j])
            low[j] = min(first, 0.0)
            one[j] = vector_math.exp(low[j])
            whole[j] = one[j] + vector_math.exp(low[j] - first)
        for c in range(C):
            h, own_c, x, w = columns[c], own[c], less[c], weight[c]
            for j in range(n):
                x[j] = low[j] - gain[j] * (2 * (h[j] - own_c * R[j]) - H[j])
                w[j] = whole[j] / (one[j] + vector_math.exp(x[j]))
                total[j] += w[j]
        for y in range(C):
            x, w, p_y = less[y], weight[y], p[i, y]
            for j in range(n):
                answered = one[j] + vector_math.exp(x[j] - 2 * gain[j] * R[j])
                among = (total[j] - w[j]) * answered + whole[j]
                sums[j] += p_y * (1 - max(whole[j], answered) / among)
        risk = 0.0
        for j in range(n):
            risk += counted[j] * sums[j]
        out[i] = risk - (counted[rows[i]] * sums[rows[i]] if rows[i] >= 0 else 0.0)
    return out
