"""The noise of edges, compiled: hashed as it is added up, so that nothing the size of all edges is ever held."""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.support import hashing
from askgraph.support.hashing import GOLDEN
from askgraph.support.jit import jit

finalize: Any = jit()(hashing.finalize)


@jit()
def mixed(x: Any, part: Any) -> Any:
    """Return the hash after one more number: a round of splitmix64."""
    return finalize(x * GOLDEN + part + np.uint64(1))


@jit()
def edges(first: Any, node: Any, root: Any, word: Any, shift: Any, out: Any) -> None:
    """Add ±√w_ij to out_ic for all neighbors j of i; the sign is bit c of the edge's hash, reversed at its second end."""
    one = np.uint64(1)
    for i in range(len(out)):
        row = out[i]
        for t in range(first[i], first[i + 1]):
            j = node[t]
            bits = mixed(mixed(word, np.uint64(min(i, j))), np.uint64(max(i, j))) >> shift
            size = np.float32(root[t] if i < j else -root[t])
            for c in range(len(row)):
                row[c] += np.float32(2) * size * np.float32((bits >> np.uint64(c)) & one) - size


@jit()
def shard_edges(first: Any, column: Any, ids: Any, root: Any, word: Any, shift: Any, out: Any) -> None:
    """Do the same as ``edges`` where rows are not nodes: ``ids`` are the nodes of the rows and columns."""
    one = np.uint64(1)
    for t in range(len(out)):
        row, i = out[t], ids[t]
        for at in range(first[t], first[t + 1]):
            j = ids[column[at]]
            bits = mixed(mixed(word, np.uint64(min(i, j))), np.uint64(max(i, j))) >> shift
            size = np.float32(root[at] if i < j else -root[at])
            for c in range(len(row)):
                row[c] += np.float32(2) * size * np.float32((bits >> np.uint64(c)) & one) - size
