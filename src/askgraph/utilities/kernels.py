"""The look-ahead utilities, compiled: for each candidate row of G, a sum over all other unlabeled nodes.

The same arithmetic as ``lookahead``'s array form, a pair at a time; the tests hold the two equal.
"""

from __future__ import annotations

import numpy as np

from askgraph.compiled import compiled
from askgraph.types import Array, IntArray

TIE = 1e-9
FLOOR = 1e-12


@compiled()
def risk(
    G: Array,
    scale: Array,
    nodes: IntArray,
    p: Array,
    votes: Array,
    now: Array,
    before: IntArray,
    variance: Array,
    counted: Array,
) -> Array:
    """Expected risk after the answer; classes outside, nodes inside, so that the loops over nodes use vector registers."""
    n, C = votes.shape
    out = np.zeros(len(nodes))
    reach = votes.sum(axis=1)
    columns = np.ascontiguousarray(votes.T)
    R, best, top = np.empty(n), np.empty(n), np.empty(n)
    for i in range(len(nodes)):
        own = votes[nodes[i]]
        rest = 1 - reach[nodes[i]]
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
        k = nodes[i]
        H = reach[k] + rest * R[k]
        out[i] = total - counted[k] * (1 - (2 * top[k] + 1 - H) / (C + (2 - C) * H))
    return out


@compiled()
def flips(
    G: Array,
    scale: Array,
    nodes: IntArray,
    p: Array,
    votes: Array,
    now: Array,
    before: IntArray,
    variance: Array,
    counted: Array,
) -> Array:
    """Expected number of predictions that change."""
    n, C = votes.shape
    out = np.zeros(len(nodes))
    base = np.empty(C)
    for i in range(len(nodes)):
        own = votes[nodes[i]]
        for j in range(n):
            if counted[j] == 0 or j == nodes[i]:
                continue
            R = G[i, j] / scale[i]
            best = -np.inf
            for c in range(C):
                base[c] = votes[j, c] - own[c] * R
                best = max(best, base[c])
            rival = 0
            while base[rival] < best - TIE:
                rival += 1
            for y in range(C):
                lead = base[y] + R - best
                after = rival
                if lead > TIE or (lead >= -TIE and y < rival):
                    after = y
                if after != before[j]:
                    out[i] += p[i, y]
    return out


@compiled()
def divergence(
    G: Array,
    scale: Array,
    nodes: IntArray,
    p: Array,
    votes: Array,
    now: Array,
    before: IntArray,
    variance: Array,
    counted: Array,
) -> Array:
    """Expected KL divergence of the labels."""
    n, C = votes.shape
    out = np.zeros(len(nodes))
    reach = votes.sum(axis=1)
    for i in range(len(nodes)):
        own = votes[nodes[i]]
        rest = 1 - reach[nodes[i]]
        certain = p[i].sum()
        for j in range(n):
            if counted[j] == 0 or j == nodes[i]:
                continue
            R = G[i, j] / scale[i]
            H = reach[j] + rest * R
            Z = (C + (2 - C) * H) / 2
            for c in range(C):
                if_not = max(votes[j, c] - own[c] * R + (1 - H) / 2, 0.0) / Z
                if_so = if_not + R / Z
                term = if_not * np.log(max(if_not, FLOOR) / now[j, c])
                out[i] += certain * term + p[i, c] * (if_so * np.log(max(if_so, FLOOR) / now[j, c]) - term)
    return out


@compiled()
def relative(a: float, b: float) -> float:
    """σ(a)/σ(b) for a ≤ b, by one exponential that may overflow only towards 0."""
    if b > 0:
        return (1 + np.exp(-b)) / (1 + np.exp(-a))  # type: ignore[no-any-return]
    e = np.exp(b)
    return (e + 1) / (e + np.exp(b - a))  # type: ignore[no-any-return]


@compiled()
def two_step_risk(
    G: Array,
    scale: Array,
    nodes: IntArray,
    p: Array,
    votes: Array,
    now: Array,
    before: IntArray,
    variance: Array,
    counted: Array,
    beta: float,
) -> Array:
    """Expected risk after the answer under marginals that count variance."""
    n, C = votes.shape
    out = np.zeros(len(nodes))
    reach = votes.sum(axis=1)
    odds = np.empty(C)
    for i in range(len(nodes)):
        own = votes[nodes[i]]
        rest = 1 - reach[nodes[i]]
        for j in range(n):
            if counted[j] == 0 or j == nodes[i]:
                continue
            R = G[i, j] / scale[i]
            H = reach[j] + rest * R
            gain = 2 * beta / max(variance[j] - G[i, j] * R, 1e-12 * max(variance[j], 1e-12))
            best = -np.inf
            for c in range(C):
                best = max(best, votes[j, c] - own[c] * R)
            first = gain * (2 * best - H)
            total = 0.0
            for c in range(C):
                odds[c] = relative(gain * (2 * (votes[j, c] - own[c] * R) - H), first)
                total += odds[c]
            for y in range(C):
                answered = gain * (2 * (votes[j, y] - own[y] * R + R) - H)
                if answered > first:
                    norm = (total - odds[y]) * relative(first, answered) + 1
                else:
                    norm = total - odds[y] + relative(answered, first)
                out[i] += p[i, y] * (1 - 1 / norm)
    return out
