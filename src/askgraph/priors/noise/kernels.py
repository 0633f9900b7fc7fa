"""The noise of edges, compiled: hashed as it is added up, so that nothing the size of all edges is ever held."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.linalg.simd import load, store
from askgraph.support import hashing
from askgraph.support.hashing import GOLDEN
from askgraph.support.jit import jit

LANES = (0,) * 8  # eight columns are one SIMD value
ONE, EIGHT, BYTE = np.uint64(1), np.uint64(8), np.uint64(255)
finalize: Any = jit()(hashing.finalize)


@jit()
def mixed(x: Any, part: Any) -> Any:
    """Return the hash after one more number: a round of splitmix64."""
    return finalize(x * GOLDEN + part + np.uint64(1))


@jit(reorder=False)
def edges(first: Any, node: Any, ids: Any, root: Any, word: Any, shift: Any, signs: Any, out: Any) -> None:
    """Add ±√w_ij to out_ic for all neighbors j of i; the sign is bit c of the edge's hash, reversed at its second end.

    ``out`` has eight columns, or sixteen as two rows of eight each; ``signs`` are the eight signs of each byte. ``ids`` are the
    nodes of rows and columns, None if they are nodes already.
    """
    rows = len(first) - 1
    wide, begun = len(out) > rows, np.empty(rows if ids is None else len(ids), np.uint64)
    for r in range(len(begun)):
        begun[r] = mixed(word, np.uint64(r if ids is None else ids[r]))
    for r in range(np.uint64(rows)):
        i, at = np.uint64(r if ids is None else ids[r]), r + r if wide else r
        low = load(out, at, LANES)
        high = load(out, at + ONE if wide else at, LANES)
        for t in range(first[r], first[r + ONE]):
            j = np.uint64(node[t] if ids is None else ids[node[t]])
            bits = (mixed(begun[r], j) if i < j else mixed(begun[node[t]], i)) >> shift
            size = np.float32(root[t] if i < j else -root[t])
            low = low + size * load(signs, bits & BYTE, LANES)
            if wide:
                high = high + size * load(signs, (bits >> EIGHT) & BYTE, LANES)
        store(out, at, low)
        if wide:
            store(out, at + ONE, high)
