"""Splitmix64 (Steele, Lea, Flood 2014): integers to integers that look random, the same on every machine.

Each function takes arrays of uint64. Compiled loops use the same functions on numbers: ``finalize = jit()(hashing.finalize)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: the step from one state to the next
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # the multipliers of splitmix64


def finalize(x: Any) -> Any:
    """Return the output that splitmix64 gives for a state.

    >>> finalize(np.array([GOLDEN])).tolist()
    [16294208416658607535]
    """
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))
