"""The noise of edges, compiled: hashed as it is added up, so that nothing the size of all edges is ever held."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.linalg.simd import load, store
from askgraph.support import hashing
from askgraph.support.hashing import GOLDEN
from askgraph.support.jit import jit

LANES = (0,) * 8  # eight columns are one SIMD value
BYTE = np.uint64(255)
finalize: Any = jit()(hashing.finalize)


@jit()
def mixed(x: Any, part: Any) -> Any:
    """Return the hash after one more number: a round of splitmix64."""
    return finalize(x * GOLDEN + part + np.uint64(1))


@jit(reorder=False)
def edges(first: Any, node: Any, ids: Any, root: Any, word: Any, shift: Any, signs: Any, out: Any) -> None:
    """Add ±√w_ij to out_ic for all neighbors j of i; the sign is bit c of the edge's hash, reversed at its second end.

    ``out`` has eight columns, and ``signs`` the eight signs of each byte. ``ids`` are the nodes of rows and columns, None if
    they are nodes already.
    """
    for r in range(len(out)):
        i = np.uint64(r if ids is None else ids[r])
        mine, value = mixed(word, i), load(out, r, LANES)
        for t in range(first[r], first[r + 1]):
            j = np.uint64(node[t] if ids is None else ids[node[t]])
            bits = (mixed(mine, j) if i < j else mixed(mixed(word, j), i)) >> shift
            size = np.float32(root[t] if i < j else -root[t])
            value = value + size * load(signs, bits & BYTE, LANES)
        store(out, r, value)
