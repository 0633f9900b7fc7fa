"""The compiled loops of ``cg``; importing this module loads numba.

A row of a block of columns is one SIMD value, `Block`. A loop over 8 columns would be unrolled before it is vectorized, and
numba switches off the pass that could repair that: such loops ran 2 to 4 times slower.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

F = TypeVar("F", bound=Callable[..., Any])
OVERSHOOT = 1.5  # piecewise constants are too stiff; the V-cycle stays positive definite for any factor > 0


class Rows(NamedTuple):
    """Q = Laplacian(weight) + diag(excess), row by row."""

    first: Any
    node: Any
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


def compiled(function: F) -> F:
    """Compile on first use, keep it on disk, let other threads run."""
    result: F = njit(cache=True, nogil=True, error_model="numpy")(function)
    return result


def inlined(function: F) -> F:
    """Compile into its callers only, which halves the time that takes."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
    result: F = njit(nogil=True, error_model="numpy", **options)(function)
    return result


class Block(types.Type):  # type: ignore[misc]
    """The k numbers of a row."""

    def __init__(self, dtype: Any, k: int) -> None:
        self.dtype, self.k = dtype, k
        super().__init__(name=f"Block({dtype}, {k})")


@register_model(Block)
class BlockModel(models.PrimitiveModel):  # type: ignore[misc]
    """A block is an LLVM vector."""

    def __init__(self, manager: Any, kind: Block) -> None:
        scalar = ir.FloatType() if kind.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, kind, ir.VectorType(scalar, kind.k))


def _cast(context: Any, builder: Any, value: Any, source: Any, target: Block) -> Any:
    """A block in another precision, or a scalar in every place of a block."""
    vector = context.get_value_type(target)
    if isinstance(source, Block):
        if source.dtype == target.dtype:
            return value
        return (builder.fpext if target.dtype == types.float64 else builder.fptrunc)(value, vector)
    scalar, zeros = context.cast(builder, value, source, target.dtype), ir.VectorType(ir.IntType(32), target.k)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, single, ir.Constant(zeros, [0] * target.k))


def _address(context: Any, builder: Any, sig: Any, args: Any, block: Block) -> tuple[Any, int]:
    row = context.cast(builder, args[1], sig.args[1], types.int64)
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    start = builder.gep(data, [builder.mul(row, ir.Constant(row.type, block.k))])
    scalar = context.get_value_type(block.dtype)
    return builder.bitcast(start, context.get_value_type(block).as_pointer()), context.get_abi_sizeof(scalar)


@intrinsic  # type: ignore[untyped-decorator]
def load(_: Any, array: Any, row: Any, one: Any) -> Any:
    """array[row]; `one` is a tuple as long as a block, since the length of a tuple is part of its type."""
    block = Block(array.dtype, len(one))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer, align = _address(context, builder, sig, args, block)
        return builder.load(pointer, align=align)

    return block(array, row, one), generate


@intrinsic  # type: ignore[untyped-decorator]
def zero(_: Any, array: Any, one: Any) -> Any:
    """A block of zeros in the array's precision."""
    block = Block(array.dtype, len(one))
    return block(array, one), lambda context, *_: ir.Constant(context.get_value_type(block), None)


@intrinsic  # type: ignore[untyped-decorator]
def store(_: Any, array: Any, row: Any, block: Any) -> Any:
    """array[row] = block, rounded to the array's precision."""
    target = Block(array.dtype, block.k)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer, align = _address(context, builder, sig, args, target)
        builder.store(_cast(context, builder, args[2], block, target), pointer, align=align)
        return context.get_dummy_value()

    return types.none(array, row, block), generate


def _define(symbol: Any, instruction: str) -> None:
    """x symbol y for blocks and scalars: a scalar takes the block's precision, of two blocks the wider one counts."""

    @infer_global(symbol)
    class Combine(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            blocks = [a for a in args if isinstance(a, Block)]
            return signature(max(blocks, key=lambda b: bool(b.dtype == types.float64)), *args) if blocks else None

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pair = [_cast(context, builder, v, kind, sig.return_type) for v, kind in zip(args, sig.args, strict=True)]
        return getattr(builder, instruction)(*pair, flags=("contract",))

    for left in (Block, types.Float):
        lower_builtin(symbol, left, Block)(generate)


for _symbol, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _define(_symbol, _instruction)

ONE = np.uint64(1)  # unsigned, as all indices: signed ones are tested for being negative
CHUNK = np.uint64(64)  # rows that float32 may sum before float64 takes over


@inlined
def multiply(one: Any, rows: Rows, p: Any, q: Any, sums: Any) -> None:
    """q = Q p by differences, (Qp)_i = excess_i p_i + Σ_j w_ij (p_i - p_j); sums[2] = pᵀq."""
    total, n = zero(sums, one), np.uint64(len(p))
    for start in range(np.uint64(0), n, CHUNK):
        part = zero(p, one)
        for i in range(start, min(start + CHUNK, n)):
            mine = load(p, i, one)
            value = rows.excess[i] * mine
            for t in range(rows.first[i], rows.first[i + ONE]):
                value = value + rows.weight[t] * (mine - load(p, rows.node[t], one))
            store(q, i, value)
            part = part + mine * value
        total = total + part
    store(sums, 2, total)


@inlined
def descend(one: Any, rows: Rows, coarse: Coarse, r: Any, q: Any, factor: Any, low: Any, sums: Any) -> None:
    """r -= step q; low = Pᵀr on the first coarse level; sums[:2] = rᵀr, rᵀD⁻¹r."""
    step, square, scaled = load(factor, 0, one), zero(sums, one), zero(sums, one)
    for a in range(coarse.level[1]):
        total = zero(sums, one)
        for start in range(coarse.child[a], coarse.end[a], CHUNK):
            p0, p1, p2 = zero(r, one), zero(r, one), zero(r, one)
            for i in range(start, min(start + CHUNK, coarse.end[a])):
                value = load(r, i, one) - step * load(q, i, one)
                store(r, i, value)
                p0 = p0 + value
                p1 = p1 + value * value
                p2 = p2 + rows.inverse[i] * value * value
            total, square, scaled = total + p0, square + p1, scaled + p2
        store(low, a, total)
    store(sums, 0, square)
    store(sums, 1, scaled)


@inlined
def advance(one: Any, rows: Rows, coarse: Coarse, r: Any, high: Any, factor: Any, x: Any, p: Any) -> None:
    """x += step p; p = D⁻¹r + P high + turn p."""
    step, turn = load(factor, 0, one), load(factor, 1, one)
    for a in range(coarse.level[1]):
        shift = load(high, a, one)
        for i in range(coarse.child[a], coarse.end[a]):
            old = load(p, i, one)
            store(x, i, load(x, i, one) + step * old)
            store(p, i, shift + rows.inverse[i] * load(r, i, one) + turn * old)


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


@compiled
def iterate(
    one: Any,
    rows: Rows,
    coarse: Coarse,
    r: Any,
    x: Any,
    p: Any,
    q: Any,
    low: Any,
    high: Any,
    factor: Any,
    sums: Any,
    goal: Any,
    limit: int,
) -> int:
    """Conjugate gradients on Q x = r until rᵀr <= goal in every column; all else starts at 0. The number of steps."""
    steps, sound = 0, True
    while True:
        descend(one, rows, coarse, r, q, factor, low, sums)
        going = False
        for c in range(len(one)):
            going = going or not sums[0, c] <= goal[c]
        if not (going and sound and steps < limit):
            break
        cycle(one, coarse, low, high)
        add_constants(one, coarse, low, high, sums)
        for c in range(len(one)):
            now = sums[1, c] + sums[2, c]
            factor[1, c] = now / sums[3, c] if steps > 0 and sums[0, c] > goal[c] else 0.0
            sums[3, c] = now
        advance(one, rows, coarse, r, high, factor, x, p)
        multiply(one, rows, p, q, sums)
        for c in range(len(one)):
            factor[0, c] = sums[3, c] / sums[2, c] if sums[0, c] > goal[c] and sums[2, c] > 0.0 else 0.0
            sound = sound and (sums[0, c] <= goal[c] or sums[2, c] > 0.0)
        steps += 1
    advance(one, rows, coarse, r, high, factor, x, p)
    return steps


@compiled
def settle(one: Any, rows: Rows, coarse: Coarse, b: Any, x: Any, r: Any, sums: Any, flat: bool) -> None:
    """x += 1_c (1_cᵀ(b - Qx)) / (1_cᵀQ 1_c), then r = b - Qx; if x is flat on components, Qx = excess x.

    Along the constants a float32 solve drifts; 1_cᵀQx = excessᵀx sees them without a product with Q.
    """
    for c in range(np.uint64(len(coarse.total))):
        first, last = coarse.child[coarse.component[c]], coarse.end[coarse.component[c + ONE] - ONE]
        mean = zero(sums, one)
        for i in range(first, last):
            mean = mean + (load(b, i, one) - rows.excess[i] * load(x, i, one))
        mean = coarse.total[c] * mean
        for i in range(first, last):
            store(x, i, load(x, i, one) + mean)
    if not flat:
        multiply(one, rows, x, r, sums)
    for i in range(np.uint64(len(r))):
        value = rows.excess[i] * load(x, i, one) if flat else load(r, i, one)
        store(r, i, load(b, i, one) - value)


@compiled
def aggregate(first: Any, node: Any, weight: Any, top: Any, strong: float, group: Any, tie: Any) -> int:
    """Groups of a node and its strong neighbors; who is left joins the group it is tied to most. `top` is its best weight."""
    count = 0
    for i in range(len(group)):
        free = group[i] < 0 and first[i] < first[i + 1]
        for t in range(first[i], first[i + 1]):
            free = free and (group[node[t]] < 0 or weight[t] < strong * top[i])
        if free:
            group[i] = count
            for t in range(first[i], first[i + 1]):
                j = node[t]
                if group[j] < 0 and weight[t] >= strong * max(top[i], top[j]):
                    group[j] = count
            count += 1
    for i in range(len(group)):
        if group[i] == -1 and first[i] < first[i + 1]:
            best = -1
            for t in range(first[i], first[i + 1]):
                a = group[node[t]]
                if a >= 0:
                    tie[a] += weight[t]
                    best = a if best < 0 or tie[a] > tie[best] else best
            for t in range(first[i], first[i + 1]):
                if group[node[t]] >= 0:
                    tie[group[node[t]]] = 0.0
            group[i] = -2 - best
    for i in range(len(group)):
        group[i] = -2 - group[i] if group[i] < -1 else group[i]
    return count


@compiled
def contract(
    first: Any, node: Any, weight: Any, group: Any, member: Any, end: Any, slot: Any, start: Any, to: Any, total: Any
) -> int:
    """Weights between groups, Σ w_ij over i in a, j in b, by rows: start, to, total. Group a is member[end[a]:end[a + 1]]."""
    size = 0
    for a in range(len(end) - 1):
        for m in range(end[a], end[a + 1]):
            for t in range(first[member[m]], first[member[m] + 1]):
                b = group[node[t]]
                if b != a and slot[b] < start[a]:
                    slot[b], to[size], total[size] = size, b, 0.0
                    size += 1
                if b != a:
                    total[slot[b]] += weight[t]
        start[a + 1] = size
    return size
