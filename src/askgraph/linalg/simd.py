"""The k numbers of a row as one SIMD value, for numba.

A loop over 8 columns would be unrolled before it is vectorized, and numba switches off the pass that could repair that: such
loops ran 2 to 4 times slower.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model


class Block(types.Type):  # type: ignore[misc]  # numba has no types
    """The numba type of the k numbers of a row."""

    dtype: Any
    k: int

    def __init__(self, dtype: Any, k: int) -> None:
        self.dtype, self.k = dtype, k
        super().__init__(name=f"Block({dtype}, {k})")


@register_model(Block)
class BlockModel(models.PrimitiveModel):  # type: ignore[misc]  # numba has no types
    """The LLVM type of a block: a vector."""

    def __init__(self, manager: Any, kind: Block) -> None:
        scalar = ir.FloatType() if kind.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, kind, ir.VectorType(scalar, kind.k))


def _cast(context: Any, builder: Any, value: Any, source: Any, target: Block) -> Any:
    """Return a block in another precision, or a block with a scalar in every place."""
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


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def load(_: Any, array: Any, row: Any, lanes: Any) -> Any:
    """Return array[row] as a block; `lanes` is a tuple as long as the block, since the length of a tuple is part of its type."""
    block = Block(array.dtype, len(lanes))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer, align = _address(context, builder, sig, args, block)
        return builder.load(pointer, align=align)

    return block(array, row, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def gather(_: Any, array: Any, at: Any, row: Any, lanes: Any) -> Any:
    """Return the numbers of an array at the unsigned places at[row] as a block, by single loads: some processors gather slowly."""
    block = Block(array.dtype, len(lanes))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, places = (
            context.make_array(kind)(context, builder, v).data for kind, v in zip(sig.args, args[:2], strict=False)
        )
        first = context.cast(builder, args[2], sig.args[2], types.int64)
        first = builder.mul(first, ir.Constant(first.type, block.k))
        value = ir.Constant(context.get_value_type(block), ir.Undefined)
        for lane in range(block.k):
            place = builder.load(builder.gep(places, [builder.add(first, ir.Constant(first.type, lane))]))
            number = builder.load(builder.gep(data, [builder.zext(place, first.type)]))
            value = builder.insert_element(value, number, ir.Constant(ir.IntType(32), lane))
        return value

    return block(array, at, row, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def zero(_: Any, array: Any, lanes: Any) -> Any:
    """Return a block of zeros in the precision of the array."""
    block = Block(array.dtype, len(lanes))
    return block(array, lanes), lambda context, *_: ir.Constant(context.get_value_type(block), None)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def store(_: Any, array: Any, row: Any, block: Any) -> Any:
    """Set array[row] = block, rounded to the precision of the array."""
    target = Block(array.dtype, block.k)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer, align = _address(context, builder, sig, args, target)
        builder.store(_cast(context, builder, args[2], block, target), pointer, align=align)
        return context.get_dummy_value()

    return types.none(array, row, block), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def prefetch(_: Any, array: Any, row: Any, lanes: Any) -> Any:
    """Prefetch array[row] into the cache."""
    block = Block(array.dtype, len(lanes))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = builder.bitcast(_address(context, builder, sig, args, block)[0], ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        call_prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(call_prefetch, [pointer, *(ir.Constant(number, k) for k in (0, 3, 1))])  # read, keep, data
        return context.get_dummy_value()

    return types.none(array, row, lanes), generate


def _define(symbol: Any, instruction: str) -> None:
    """Define an operator for blocks and scalars: a scalar takes the precision of the block, two blocks the higher one."""

    @infer_global(symbol)
    class Combine(AbstractTemplate):  # type: ignore[misc]  # numba has no types
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
