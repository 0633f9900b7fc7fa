"""The compiled loops of ``cg``; importing this module loads numba. A row of a block of columns is one SIMD value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from askgraph.linalg.simd import compiled, fetch, inlined, load, store, zero

OVERSHOOT = 1.5  # piecewise constants are too stiff; the V-cycle stays positive definite for any factor > 0
ONE = np.uint64(1)  # unsigned, as all indices: signed ones are tested for being negative
CHUNK = np.uint64(64)  # rows that float32 may sum before float64 takes over
FAR = 16  # entries ahead that memory is asked for: 1.6 times faster where neighbors lie anywhere


class Rows(NamedTuple):
    """Q = Laplacian(weight) + diag(excess), row by row."""

    first: Any
    node: Any  # followed by FAR zeros
    weight: Any
    excess: Any
    diagonal: Any
    inverse: Any  # 1 / diagonal


class Coarse(NamedTuple):
    """The coarse levels, numbered one after another: the same, and how they hang together."""

    first: Any
    node: Any
    weight: Any
    excess: Any
    diagonal: Any
    inverse: Any  # 0 at a node without neighbors: the constants see to it
    child: Any  # node a stands for the nodes child[a]:end[a] one level below
    end: Any
    level: Any  # level l is level[l]:level[l + 1]
    component: Any  # component c is component[c]:component[c + 1] of the first level
    total: Any  # 1 / (1_cᵀ Q 1_c)
    dense: Any  # the inverse on the last level, without the constants


class Scattered(NamedTuple):
    """The entries of Q piece by piece of rows, within a piece by column, roughly, then by row: what is read stays in cache."""

    first: Any  # piece k is first[k]:first[k + 1]
    begin: Any  # and rows begin[k]:begin[k + 1]
    row: Any
    node: Any
    weight: Any


class Work(NamedTuple):
    """What conjugate gradients move on each step: residual, solution, direction and Q times it; coarse vectors; scalars."""

    r: Any
    x: Any
    p: Any
    q: Any
    low: Any
    high: Any
    factor: Any  # step and turn
    sums: Any  # rᵀr, rᵀD⁻¹r, then rᵀz on the coarse level or pᵀq, and the last rᵀz of all


@inlined
def multiply(one: Any, rows: Rows, p: Any, q: Any, sums: Any, start: Any, stop: Any) -> None:
    """q = Q p by differences, (Qp)_i = excess_i p_i + Σ_j w_ij (p_i - p_j), in rows start to stop; sums[2] = pᵀq there."""
    total, far = zero(sums, one), np.uint64(FAR)
    for begin in range(start, stop, CHUNK):
        part = zero(p, one)
        for i in range(begin, min(begin + CHUNK, stop)):
            mine = load(p, i, one)
            value = rows.excess[i] * mine
            for t in range(rows.first[i], rows.first[i + ONE]):
                if len(one) > 1:
                    fetch(p, rows.node[t + far], one)
                value = value + rows.weight[t] * (mine - load(p, rows.node[t], one))
            store(q, i, value)
            part = part + mine * value
        total = total + part
    store(sums, 2, total)


@inlined
def descend(one: Any, rows: Rows, coarse: Coarse, work: Work, sums: Any, start: Any, stop: Any) -> None:
    """r -= step q and low = Pᵀr for the aggregates start to stop; sums[:2] = rᵀr, rᵀD⁻¹r there."""
    r, step, square, scaled = work.r, load(work.factor, 0, one), zero(sums, one), zero(sums, one)
    for a in range(start, stop):
        total = zero(sums, one)
        for begin in range(coarse.child[a], coarse.end[a], CHUNK):
            p0, p1, p2 = zero(r, one), zero(r, one), zero(r, one)
            for i in range(begin, min(begin + CHUNK, coarse.end[a])):
                value = load(r, i, one) - step * load(work.q, i, one)
                store(r, i, value)
                p0 = p0 + value
                p1 = p1 + value * value
                p2 = p2 + rows.inverse[i] * value * value
            total, square, scaled = total + p0, square + p1, scaled + p2
        store(work.low, a, total)
    store(sums, 0, square)
    store(sums, 1, scaled)


@inlined
def advance(one: Any, rows: Rows, coarse: Coarse, work: Work, start: Any, stop: Any) -> None:
    """x += step p; p = D⁻¹r + P high + turn p, for the aggregates start to stop."""
    x, p, step, turn = work.x, work.p, load(work.factor, 0, one), load(work.factor, 1, one)
    for a in range(start, stop):
        shift = load(work.high, a, one)
        for i in range(coarse.child[a], coarse.end[a]):
            old = load(p, i, one)
            store(x, i, load(x, i, one) + step * old)
            store(p, i, shift + rows.inverse[i] * load(work.r, i, one) + turn * old)


@inlined
def pull(one: Any, coarse: Coarse, r: Any, z: Any, i: Any) -> Any:
    """r_i + Σ_j w_ij z_j."""
    value = load(r, i, one)
    for t in range(coarse.first[i], coarse.first[i + ONE]):
        value = value + coarse.weight[t] * load(z, coarse.node[t], one)
    return value


@inlined
def cycle(one: Any, coarse: Coarse, r: Any, z: Any) -> None:
    """A symmetric V-cycle, z ≈ A₁⁻¹r: Gauss-Seidel down and up the coarse levels, a dense inverse on the last."""
    level, last = coarse.level, len(coarse.level) - 2
    for k in range(last):
        for i in range(level[k], level[k + 1]):
            store(z, i, zero(z, one))
        for i in range(level[k], level[k + 1]):
            store(z, i, coarse.inverse[i] * pull(one, coarse, r, z, i))
        for a in range(level[k + 1], level[k + 2]):
            part = zero(r, one)
            for i in range(coarse.child[a], coarse.end[a]):
                part = part + (pull(one, coarse, r, z, i) - coarse.diagonal[i] * load(z, i, one))
            store(r, a, part)
    solve_last(one, coarse.dense, r, z, level[last], level[last + 1])
    for k in range(last - 1, -1, -1):
        for a in range(level[k + 1], level[k + 2]):
            shift = OVERSHOOT * load(z, a, one)
            for i in range(coarse.child[a], coarse.end[a]):
                store(z, i, load(z, i, one) + shift)
        for j in range(level[k + 1] - level[k]):
            i = level[k + 1] - ONE - j
            store(z, i, coarse.inverse[i] * pull(one, coarse, r, z, i))


@inlined
def solve_last(one: Any, dense: Any, r: Any, z: Any, start: Any, end: Any) -> None:
    """z = dense r, and 0 beyond; four rows at a time share the loads of r."""
    for i in range(start, end):
        store(z, i, zero(z, one))
    for i in range(np.uint64(0), np.uint64(len(dense)), np.uint64(4)):
        s0, s1, s2, s3 = zero(z, one), zero(z, one), zero(z, one), zero(z, one)
        for j in range(np.uint64(dense.shape[1])):
            value = load(r, start + j, one)
            s0 = s0 + dense[i, j] * value
            s1 = s1 + dense[i + ONE, j] * value
            s2 = s2 + dense[i + np.uint64(2), j] * value
            s3 = s3 + dense[i + np.uint64(3), j] * value
        store(z, start + i, s0)
        store(z, start + i + ONE, s1)
        store(z, start + i + np.uint64(2), s2)
        store(z, start + i + np.uint64(3), s3)


@inlined
def add_constants(one: Any, coarse: Coarse, r: Any, z: Any, sums: Any) -> None:
    """z += 1_c (1_cᵀr) / (1_cᵀQ 1_c) for every component c; sums[2] = rᵀz on the first coarse level."""
    for c in range(np.uint64(len(coarse.total))):
        mean = zero(sums, one)
        for a in range(coarse.component[c], coarse.component[c + ONE]):
            mean = mean + load(r, a, one)
        mean = coarse.total[c] * mean
        for a in range(coarse.component[c], coarse.component[c + ONE]):
            store(z, a, load(z, a, one) + mean)
    total = zero(sums, one)
    for a in range(coarse.level[1]):
        total = total + load(r, a, one) * load(z, a, one)
    store(sums, 2, total)


@inlined
def going(one: Any, sums: Any, goal: Any) -> bool:
    """Whether rᵀr is above its goal in some column."""
    above = False
    for c in range(len(one)):
        above = above or not sums[0, c] <= goal[c]
    return above


@inlined
def turn(one: Any, coarse: Coarse, work: Work, goal: Any, steps: int) -> None:
    """The coarse part of the preconditioned residual, and how much of the last direction to keep."""
    sums = work.sums
    cycle(one, coarse, work.low, work.high)
    add_constants(one, coarse, work.low, work.high, sums)
    for c in range(len(one)):
        now = sums[1, c] + sums[2, c]
        work.factor[1, c] = now / sums[3, c] if steps > 0 and sums[0, c] > goal[c] else 0.0
        sums[3, c] = now


@inlined
def stride(one: Any, work: Work, goal: Any) -> bool:
    """How far to go in this direction; False where rounding has left no way to tell."""
    sums, sound = work.sums, True
    for c in range(len(one)):
        work.factor[0, c] = sums[3, c] / sums[2, c] if sums[0, c] > goal[c] and sums[2, c] > 0.0 else 0.0
        sound = sound and (sums[0, c] <= goal[c] or sums[2, c] > 0.0)
    return sound


@compiled
def iterate(one: Any, rows: Rows, coarse: Coarse, work: Work, goal: Any, limit: int) -> int:
    """Conjugate gradients on Q x = r until rᵀr <= goal in every column; all but r and x starts at 0. The number of steps."""
    steps, sound, none = 0, True, np.uint64(0)
    n, groups = np.uint64(len(work.p)), coarse.level[1]
    while True:
        descend(one, rows, coarse, work, work.sums, none, groups)
        if not (going(one, work.sums, goal) and sound and steps < limit):
            break
        turn(one, coarse, work, goal, steps)
        advance(one, rows, coarse, work, none, groups)
        multiply(one, rows, work.p, work.q, work.sums, none, n)
        sound = stride(one, work, goal)
        steps += 1
    advance(one, rows, coarse, work, none, groups)
    return steps


@compiled
def piece_down(one: Any, rows: Rows, coarse: Coarse, work: Work, sums: Any, start: Any, stop: Any) -> None:
    """`descend`, for a thread."""
    descend(one, rows, coarse, work, sums, start, stop)


@compiled
def piece_on(one: Any, rows: Rows, coarse: Coarse, work: Work, sums: Any, start: Any, stop: Any) -> None:
    """`advance`, for a thread; it has nothing to add up."""
    advance(one, rows, coarse, work, start, stop)


@compiled
def piece_times(one: Any, rows: Rows, p: Any, q: Any, sums: Any, start: Any, stop: Any) -> None:
    """`multiply`, for a thread."""
    multiply(one, rows, p, q, sums, start, stop)


@inlined
def scatter(rows: Rows, entries: Scattered, x: Any, y: Any, piece: Any) -> None:
    """y = Q x of one column over a piece: 1.7 times faster where neighbors lie anywhere in a million nodes."""
    for i in range(entries.begin[piece], entries.begin[piece + ONE]):
        y[i] = rows.excess[i] * x[i]
    for t in range(entries.first[piece], entries.first[piece + ONE]):
        i = entries.row[t]
        y[i] += entries.weight[t] * (x[i] - x[entries.node[t]])


@compiled
def piece_scattered(one: Any, rows: Rows, entries: Scattered, p: Any, q: Any, sums: Any, piece: Any, _: Any) -> None:
    """`multiply` of one column, for a thread."""
    x, y = p.ravel(), q.ravel()
    scatter(rows, entries, x, y, piece)
    start, stop, total = entries.begin[piece], entries.begin[piece + ONE], 0.0
    for begin in range(start, stop, CHUNK):
        part: Any = np.float32(0)
        for i in range(begin, min(begin + CHUNK, stop)):
            part += x[i] * y[i]
        total += part
    sums[2, 0] = total


@compiled
def residual_scattered(rows: Rows, entries: Scattered, columns: Any, piece: Any) -> None:
    """r = b - Qx of one column over a piece; columns are b, x and r."""
    b, x, r = columns
    scatter(rows, entries, x, r, piece)
    for i in range(entries.begin[piece], entries.begin[piece + ONE]):
        r[i] = b[i] - r[i]


@compiled
def between_down(one: Any, coarse: Coarse, work: Work, goal: Any, steps: int) -> bool:
    """What `iterate` does between `descend` and `advance`."""
    if not going(one, work.sums, goal):
        return False
    turn(one, coarse, work, goal, steps)
    return True


@compiled
def between_times(one: Any, work: Work, goal: Any) -> bool:
    """What `iterate` does after `multiply`."""
    return stride(one, work, goal)


@compiled
def balance(one: Any, rows: Rows, coarse: Coarse, mass: Any, x: Any, r: Any) -> None:
    """x += 1_c (mass_c - 1_cᵀQx) / (1_cᵀQ 1_c) and r -= excess times that, for every component; mass_c = 1_cᵀb.

    Along the constants a float32 solve drifts; 1_cᵀQx = excessᵀx sees them without a product with Q.
    """
    for c in range(np.uint64(len(coarse.total))):
        first, last = coarse.child[coarse.component[c]], coarse.end[coarse.component[c + ONE] - ONE]
        mean = load(mass, c, one)
        for begin in range(first, last, CHUNK):
            part = zero(x, one)
            for i in range(begin, min(begin + CHUNK, last)):
                part = part + rows.excess[i] * load(x, i, one)
            mean = mean - part
        mean = coarse.total[c] * mean
        for i in range(first, last):
            store(x, i, load(x, i, one) + mean)
            store(r, i, load(r, i, one) - rows.excess[i] * mean)


@compiled
def masses(one: Any, coarse: Coarse, b: Any, mass: Any) -> None:
    """mass_c = 1_cᵀb."""
    for c in range(np.uint64(len(coarse.total))):
        total = zero(mass, one)
        for i in range(coarse.child[coarse.component[c]], coarse.end[coarse.component[c + ONE] - ONE]):
            total = total + load(b, i, one)
        store(mass, c, total)


@compiled
def residual(one: Any, rows: Rows, b: Any, x: Any, r: Any, sums: Any, start: Any, stop: Any) -> None:
    """r = b - Qx in rows start to stop."""
    multiply(one, rows, x, r, sums, start, stop)
    for i in range(start, stop):
        store(r, i, load(b, i, one) - load(r, i, one))


@compiled
def smoothed(one: Any, rows: Rows, b: Any, x: Any, r: Any, y: Any, sums: Any) -> None:
    """y = D⁻¹W x, r = b - Qx and sums[0] = rᵀr: with q = Qx, D⁻¹W x = x - D⁻¹q, so one product serves for both."""
    multiply(one, rows, x, r, sums, np.uint64(0), np.uint64(len(r)))
    square = zero(sums, one)
    for begin in range(np.uint64(0), np.uint64(len(r)), CHUNK):
        part = zero(r, one)
        for i in range(begin, min(begin + CHUNK, np.uint64(len(r)))):
            q = load(r, i, one)
            left = load(b, i, one) - q
            store(y, i, load(x, i, one) - rows.inverse[i] * q)
            store(r, i, left)
            part = part + left * left
        square = square + part
    store(sums, 0, square)
