"""exp and log for compiled loops: without branches or calls, so that loops over arrays use vector registers.

Within 2 units in the last place over the ranges stated. Importing this module loads numba.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from askgraph.support.jit import jit_inline

LOG2E = 1.4426950408889634
# ln 2 as a sum: the last bits of the first term are 0, so that its product with a small integer is exact
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # √½ as a float64
MAX_EXPONENT, MIN_EXPONENT = 709.0, -708.0  # exp clips its argument to this range, in which results are normal numbers
# coefficients of the series of exp and of artanh
E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13 = (1 / math.factorial(k) for k in range(2, 14))
A3, A5, A7, A9, A11, A13, A15, A17, A19, A21 = (1 / k for k in range(3, 22, 2))


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def _as_bits(context: Any, x: Any) -> Any:
    def cast(_: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), cast


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def _as_float(context: Any, x: Any) -> Any:
    def cast(_: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), cast


@jit_inline(contract=True)
def exp(x: float) -> float:
    """Return e^x, with x clipped to [−708, 709]: x = k ln 2 + r, then Taylor's series of r to the 13th power."""
    x = min(max(x, MIN_EXPONENT), MAX_EXPONENT)
    k = math.floor(x * LOG2E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    first = (E2 + E3 * r) + (E4 + E5 * r) * r2
    second = (E6 + E7 * r) + (E8 + E9 * r) * r2
    third = (E10 + E11 * r) + (E12 + E13 * r) * r2
    p = first + (second + third * r4) * r4
    power: float = _as_float((int(k) + 1023) << 52)
    return (p * r2 + r + 1.0) * power


@jit_inline(contract=True)
def log(x: float) -> float:
    """Return ln x of a normal number x > 0: x = 2^k (1 + s)/(1 − s), then the series of 2 artanh s."""
    bits: int = _as_bits(x)
    k: int = (bits - SQRT_HALF_BITS) >> 52
    m: float = _as_float(bits - (k << 52))  # between √½ and √2
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    first = (A3 + A5 * z) + (A7 + A9 * z) * z2
    second = (A11 + A13 * z) + (A15 + A17 * z) * z2
    p = first + (second + (A19 + A21 * z) * z4) * z4
    return k * LN2_HIGH + (2.0 * s + (2.0 * s * z * p + k * LN2_LOW))
