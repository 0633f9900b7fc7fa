"""The compiled loops of conjugate gradients; importing this module loads numba.

A row of a block of columns is one SIMD value. ``lanes`` is a tuple with one entry per column: its type tells the width.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from askgraph.linalg.simd import gather, load, prefetch, store, zero
from askgraph.support.jit import jit, jit_inline

OVERSHOOT = 1.7  # factor of coarse corrections, as piecewise constants are too stiff; below 2 keeps the cycle definite
ONE = np.uint64(1)  # unsigned, like all indices: numba tests signed ones for being negative
CHUNK_ROWS = np.uint64(64)  # rows summed in float32 before the sum is added to one in float64
EIGHT = (0,) * 8  # lanes of a slice
PREFETCH_ENTRIES = 16  # entries of Q between prefetch and use: 1.6 times faster where neighbors lie anywhere in memory


class Matrix(NamedTuple):
    """Q = Laplacian(weight) + diag(excess), row by row."""

    first: Any  # row i has the entries first[i]:first[i + 1]
    node: Any  # the column of each entry, followed by PREFETCH_ENTRIES zeros
    weight: Any
    excess: Any
    diagonal: Any
    inverse: Any  # 1 / diagonal


class Coarse(NamedTuple):
    """The coarse levels, their nodes numbered one after another: the fields of `Matrix`, and how the levels are linked."""

    first: Any
    node: Any
    weight: Any
    excess: Any
    diagonal: Any
    inverse: Any  # 1 / diagonal; 0 at a node without neighbors, which the constants solve
    child: Any  # node a stands for the nodes child[a]:end[a] one level below
    end: Any
    level: Any  # level l is level[l]:level[l + 1]
    component: Any  # component c is component[c]:component[c + 1] of the first level
    total: Any  # 1 / (1_cᵀ Q 1_c)
    dense: Any  # the inverse on the last level, without the constants


class Scattered(NamedTuple):
    """The entries of Q by pieces of rows, in a piece roughly by column, then by row, so that reads stay in cache."""

    first: Any  # piece k has the entries first[k]:first[k + 1]
    begin: Any  # and the rows begin[k]:begin[k + 1]
    row: Any
    node: Any
    weight: Any


class Sliced(NamedTuple):
    """The entries of Q by slices of eight rows, an entry of each row beside those of the others: eight are summed at once."""

    first: Any  # slice s has the groups of eight entries first[s]:first[s + 1]
    node: Any
    weight: Any  # of each entry, or one row for all; where a row is shorter than others of its slice, its own node fills it up


class Work(NamedTuple):
    """The vectors and scalars that a step of conjugate gradients updates."""

    r: Any  # residual
    x: Any  # solution, or an array without rows if it is not wanted
    p: Any  # direction
    q: Any  # Q p
    low: Any  # residual on the coarse levels
    high: Any  # correction on the coarse levels
    factor: Any  # the step along p, and how much of p the next direction keeps
    sums: Any  # rᵀr, rᵀD⁻¹r, then rᵀz on the coarse levels or pᵀq, rᵀz of the step before
    energy: Any  # xᵀQx after this step, and after each of the three steps before


@jit_inline()
def multiply(lanes: Any, Q: Matrix, p: Any, q: Any, sums: Any, start: Any, stop: Any) -> None:
    """Set q = Q p by differences, (Qp)_i = excess_i p_i + Σ_j w_ij (p_i - p_j), in rows start to stop; sums[2] = pᵀq there."""
    total, far = zero(sums, lanes), np.uint64(PREFETCH_ENTRIES)
    for begin in range(start, stop, CHUNK_ROWS):
        part = zero(p, lanes)
        for i in range(begin, min(begin + CHUNK_ROWS, stop)):
            mine = load(p, i, lanes)
            value = Q.excess[i] * mine
            for t in range(Q.first[i], Q.first[i + ONE]):
                if len(lanes) > 1:
                    prefetch(p, Q.node[t + far], lanes)
                value = value + Q.weight[t] * (mine - load(p, Q.node[t], lanes))
            store(q, i, value)
            part = part + mine * value
        total = total + part
    store(sums, 2, total)


@jit_inline()
def restrict_residual(lanes: Any, Q: Matrix, coarse: Coarse, work: Work, sums: Any, start: Any, stop: Any) -> None:
    """Set r -= step q and low = Pᵀr for the aggregates start to stop; sums[:2] = rᵀr, rᵀD⁻¹r there."""
    r, step, square, scaled = work.r, load(work.factor, 0, lanes), zero(sums, lanes), zero(sums, lanes)
    for a in range(start, stop):
        total = zero(sums, lanes)
        for begin in range(coarse.child[a], coarse.end[a], CHUNK_ROWS):
            p0, p1, p2 = zero(r, lanes), zero(r, lanes), zero(r, lanes)
            for i in range(begin, min(begin + CHUNK_ROWS, coarse.end[a])):
                value = load(r, i, lanes) - step * load(work.q, i, lanes)
                store(r, i, value)
                p0 = p0 + value
                p1 = p1 + value * value
                p2 = p2 + Q.inverse[i] * value * value
            total, square, scaled = total + p0, square + p1, scaled + p2
        store(work.low, a, total)
    store(sums, 0, square)
    store(sums, 1, scaled)


@jit_inline()
def update_direction(lanes: Any, Q: Matrix, coarse: Coarse, work: Work, start: Any, stop: Any) -> None:
    """Set x += step p, if x has rows, then p = D⁻¹r + P high + keep p, for the aggregates start to stop."""
    x, p, step, keep = work.x, work.p, load(work.factor, 0, lanes), load(work.factor, 1, lanes)
    solves = len(x) > 0
    for a in range(start, stop):
        shift = load(work.high, a, lanes)
        for i in range(coarse.child[a], coarse.end[a]):
            old = load(p, i, lanes)
            if solves:
                store(x, i, load(x, i, lanes) + step * old)
            store(p, i, shift + Q.inverse[i] * load(work.r, i, lanes) + keep * old)


@jit_inline()
def add_neighbors(lanes: Any, coarse: Coarse, r: Any, z: Any, i: Any) -> Any:
    """Return r_i + Σ_j w_ij z_j."""
    value = load(r, i, lanes)
    for t in range(coarse.first[i], coarse.first[i + ONE]):
        value = value + coarse.weight[t] * load(z, coarse.node[t], lanes)
    return value


@jit_inline()
def restrict_level(lanes: Any, coarse: Coarse, r: Any, z: Any, k: Any) -> None:
    """Run Gauss-Seidel up the rows of a coarse level, and set r of the next to what is left."""
    level = coarse.level
    for i in range(level[k], level[k + 1]):
        store(z, i, coarse.inverse[i] * add_neighbors(lanes, coarse, r, z, i))
    for a in range(level[k + 1], level[k + 2]):
        part = zero(r, lanes)
        for i in range(coarse.child[a], coarse.end[a]):
            part = part + (add_neighbors(lanes, coarse, r, z, i) - coarse.diagonal[i] * load(z, i, lanes))
        store(r, a, part)


@jit_inline()
def correct_level(lanes: Any, coarse: Coarse, r: Any, z: Any, k: Any) -> None:
    """Add the correction of the next level to a coarse one, and run Gauss-Seidel down its rows."""
    level = coarse.level
    for a in range(level[k + 1], level[k + 2]):
        shift = OVERSHOOT * load(z, a, lanes)
        for i in range(coarse.child[a], coarse.end[a]):
            store(z, i, load(z, i, lanes) + shift)
    for j in range(level[k + 1] - level[k]):
        i = level[k + 1] - ONE - j
        store(z, i, coarse.inverse[i] * add_neighbors(lanes, coarse, r, z, i))


@jit_inline()
def cycle(lanes: Any, coarse: Coarse, r: Any, z: Any) -> None:
    """Run a symmetric W-cycle, z ≈ A₁⁻¹r: the first coarse level is corrected once, the small ones below twice, the last is exact.

    Twice makes 1 - e² of an error e in (-1, 1), so OVERSHOOT times it stays below 2, which keeps all levels definite.
    """
    last, k, down, second = len(coarse.level) - 2, 0, True, np.uint64(0)  # bit k of second: level k is corrected again
    while k >= 0:
        bit = ONE << np.uint64(k)
        if k == last:
            solve_last(lanes, coarse.dense, r, z, coarse.level[last], coarse.level[last + 1])
            down, k = False, k - 1
        elif down:
            if not second & bit:
                for i in range(coarse.level[k], coarse.level[k + 1]):
                    store(z, i, zero(z, lanes))
            restrict_level(lanes, coarse, r, z, k)
            k += 1
        else:
            correct_level(lanes, coarse, r, z, k)
            down = k > 0 and not second & bit
            second ^= bit
            k -= 0 if down else 1


@jit_inline()
def solve_last(lanes: Any, dense: Any, r: Any, z: Any, start: Any, end: Any) -> None:
    """Set z = dense r, and 0 beyond; four rows at a time share the loads of r."""
    for i in range(start, end):
        store(z, i, zero(z, lanes))
    for i in range(np.uint64(0), np.uint64(len(dense)), np.uint64(4)):
        s0, s1, s2, s3 = zero(z, lanes), zero(z, lanes), zero(z, lanes), zero(z, lanes)
        for j in range(np.uint64(dense.shape[1])):
            value = load(r, start + j, lanes)
            s0 = s0 + dense[i, j] * value
            s1 = s1 + dense[i + ONE, j] * value
            s2 = s2 + dense[i + np.uint64(2), j] * value
            s3 = s3 + dense[i + np.uint64(3), j] * value
        store(z, start + i, s0)
        store(z, start + i + ONE, s1)
        store(z, start + i + np.uint64(2), s2)
        store(z, start + i + np.uint64(3), s3)


@jit_inline()
def add_constants(lanes: Any, coarse: Coarse, r: Any, z: Any, sums: Any) -> None:
    """Set z += 1_c (1_cᵀr) / (1_cᵀQ 1_c) for every component c; sums[2] = rᵀz on the first coarse level."""
    for c in range(np.uint64(len(coarse.total))):
        mean = zero(sums, lanes)
        for a in range(coarse.component[c], coarse.component[c + ONE]):
            mean = mean + load(r, a, lanes)
        mean = coarse.total[c] * mean
        for a in range(coarse.component[c], coarse.component[c + ONE]):
            store(z, a, load(z, a, lanes) + mean)
    total = zero(sums, lanes)
    for a in range(coarse.level[1]):
        total = total + load(r, a, lanes) * load(z, a, lanes)
    store(sums, 2, total)


@jit_inline()
def above_goal(lanes: Any, sums: Any, goal: Any) -> bool:
    """Return whether rᵀr is above its goal in some column."""
    above = False
    for c in range(len(lanes)):
        above = above or not sums[0, c] <= goal[c]
    return above


@jit_inline()
def choose_direction(lanes: Any, coarse: Coarse, work: Work, goal: Any, steps: int) -> None:
    """Compute the coarse part of the preconditioned residual, and how much of the last direction to keep."""
    sums = work.sums
    cycle(lanes, coarse, work.low, work.high)
    add_constants(lanes, coarse, work.low, work.high, sums)
    for c in range(len(lanes)):
        now = sums[1, c] + sums[2, c]
        work.factor[1, c] = now / sums[3, c] if steps > 0 and sums[0, c] > goal[c] else 0.0
        sums[3, c] = now


@jit_inline()
def choose_step(lanes: Any, work: Work, goal: Any) -> bool:
    """Compute the step along the direction; return False if rounding makes pᵀQp ≤ 0 in an unfinished column."""
    sums, sound = work.sums, True
    for c in range(len(lanes)):
        work.factor[0, c] = sums[3, c] / sums[2, c] if sums[0, c] > goal[c] and sums[2, c] > 0.0 else 0.0
        if work.factor[0, c] > 0.0:
            for k in range(3, 0, -1):
                work.energy[k, c] = work.energy[k - 1, c]
            work.energy[0, c] += work.factor[0, c] * sums[3, c]
        sound = sound and (sums[0, c] <= goal[c] or sums[2, c] > 0.0)
    return sound


@jit(reorder=False)
def iterate(lanes: Any, Q: Matrix, coarse: Coarse, work: Work, goal: Any, limit: int) -> int:
    """Run conjugate gradients on Q x = r until rᵀr <= goal in every column, and return the number of steps.

    All of ``work`` but r must be 0 at the start.
    """
    steps, sound, none = 0 * limit, True, np.uint64(0)  # not a literal 0, for which the callee would be compiled twice
    n, groups = np.uint64(len(work.p)), coarse.level[1]
    while True:
        restrict_residual(lanes, Q, coarse, work, work.sums, none, groups)
        if not (above_goal(lanes, work.sums, goal) and sound and steps < limit):
            break
        choose_direction(lanes, coarse, work, goal, steps)
        update_direction(lanes, Q, coarse, work, none, groups)
        multiply(lanes, Q, work.p, work.q, work.sums, none, n)
        sound = choose_step(lanes, work, goal)
        steps += 1
    if len(work.x) > 0:
        update_direction(lanes, Q, coarse, work, none, groups)
    return steps


@jit(reorder=False)
def piece_restrict(lanes: Any, Q: Matrix, coarse: Coarse, work: Work, sums: Any, start: Any, stop: Any) -> None:
    """Run `restrict_residual` on a piece, in a thread."""
    restrict_residual(lanes, Q, coarse, work, sums, start, stop)


@jit(reorder=False)
def add_step(lanes: Any, work: Work) -> None:
    """Set x += step p."""
    x, step = work.x, load(work.factor, 0, lanes)
    for i in range(np.uint64(len(x))):
        store(x, i, load(x, i, lanes) + step * load(work.p, i, lanes))


@jit(reorder=False)
def piece_update(lanes: Any, Q: Matrix, coarse: Coarse, work: Work, sums: Any, start: Any, stop: Any) -> None:
    """Run `update_direction` on a piece, in a thread; ``sums`` is not used."""
    update_direction(lanes, Q, coarse, work, start, stop)


@jit(reorder=False)
def piece_multiply(lanes: Any, Q: Matrix, p: Any, q: Any, sums: Any, start: Any, stop: Any) -> None:
    """Run `multiply` on a piece, in a thread."""
    multiply(lanes, Q, p, q, sums, start, stop)


@jit(reorder=False)
def piece_sliced(lanes: Any, Q: Matrix, entries: Sliced, p: Any, q: Any, sums: Any, start: Any, stop: Any) -> None:
    """Set q = Q p of one column in the slices start to stop; beyond the last, in the rows after it, too; sums[2] = pᵀq there."""
    parts, slices, alike = np.zeros((1, 8)), np.uint64(len(entries.first) - 1), len(entries.weight) == 1
    total, weight = zero(parts, EIGHT), load(entries.weight, 0, EIGHT)
    for s in range(start, min(stop, slices)):
        mine, value = load(p, s, EIGHT), zero(p, EIGHT)
        if alike:
            for t in range(entries.first[s], entries.first[s + ONE]):
                value = value + (mine - gather(p, entries.node, t, EIGHT))
            value = weight * value
        else:
            for t in range(entries.first[s], entries.first[s + ONE]):
                value = value + load(entries.weight, t, EIGHT) * (mine - gather(p, entries.node, t, EIGHT))
        value = value + load(Q.excess, s, EIGHT) * mine
        store(q, s, value)
        total = total + mine * value
    store(parts, 0, total)
    sums[2, 0] = 0.0
    if stop > slices:
        multiply(lanes, Q, p, q, sums, np.uint64(8) * slices, np.uint64(len(p)))
    sums[2, 0] += parts.sum()


@jit_inline()
def scatter(Q: Matrix, entries: Scattered, x: Any, y: Any, piece: Any) -> None:
    """Set y = Q x of one column in a piece: 1.7 times faster than `multiply` if neighbors lie anywhere in a million nodes."""
    for i in range(entries.begin[piece], entries.begin[piece + ONE]):
        y[i] = Q.excess[i] * x[i]
    for t in range(entries.first[piece], entries.first[piece + ONE]):
        i = entries.row[t]
        y[i] += entries.weight[t] * (x[i] - x[entries.node[t]])


@jit(reorder=False)
def piece_scattered(lanes: Any, Q: Matrix, entries: Scattered, p: Any, q: Any, sums: Any, piece: Any, _: Any) -> None:
    """Run `scatter` on a piece of one column, in a thread; sums[2] = pᵀq there."""
    x, y = p.ravel(), q.ravel()
    scatter(Q, entries, x, y, piece)
    start, stop, total = entries.begin[piece], entries.begin[piece + ONE], 0.0
    for begin in range(start, stop, CHUNK_ROWS):
        part: Any = np.float32(0)
        for i in range(begin, min(begin + CHUNK_ROWS, stop)):
            part += x[i] * y[i]
        total += part
    sums[2, 0] = total


@jit(reorder=False)
def residual_scattered(Q: Matrix, entries: Scattered, columns: Any, piece: Any) -> None:
    """Set r = b - Qx of one column in a piece; ``columns`` are b, x and r."""
    b, x, r = columns
    scatter(Q, entries, x, r, piece)
    for i in range(entries.begin[piece], entries.begin[piece + ONE]):
        r[i] = b[i] - r[i]


@jit(reorder=False)
def choose_direction_outside(lanes: Any, coarse: Coarse, work: Work, goal: Any, steps: int) -> bool:
    """Run the part of `iterate` between its loops over rows: return False at the goal, else call `choose_direction`."""
    if not above_goal(lanes, work.sums, goal):
        return False
    choose_direction(lanes, coarse, work, goal, steps)
    return True


@jit(reorder=False)
def choose_step_outside(lanes: Any, work: Work, goal: Any) -> bool:
    """Run `choose_step`, called from outside compiled code."""
    return choose_step(lanes, work, goal)


@jit(reorder=False)
def residual(lanes: Any, Q: Matrix, b: Any, x: Any, r: Any, sums: Any, start: Any, stop: Any) -> None:
    """Set r = b - Qx in rows start to stop."""
    multiply(lanes, Q, x, r, sums, start, stop)
    for i in range(start, stop):
        store(r, i, load(b, i, lanes) - load(r, i, lanes))


@jit(reorder=False)
def residual_and_smooth(lanes: Any, Q: Matrix, b: Any, x: Any, r: Any, y: Any, sums: Any) -> None:
    """Set y = D⁻¹W x, r = b - Qx and sums[0] = rᵀr: with q = Qx, D⁻¹W x = x - D⁻¹q, so one product serves for both."""
    multiply(lanes, Q, x, r, sums, np.uint64(0), np.uint64(len(r)))
    square = zero(sums, lanes)
    for begin in range(np.uint64(0), np.uint64(len(r)), CHUNK_ROWS):
        part = zero(r, lanes)
        for i in range(begin, min(begin + CHUNK_ROWS, np.uint64(len(r)))):
            q = load(r, i, lanes)
            left = load(b, i, lanes) - q
            store(y, i, load(x, i, lanes) - Q.inverse[i] * q)
            store(r, i, left)
            part = part + left * left
        square = square + part
    store(sums, 0, square)
