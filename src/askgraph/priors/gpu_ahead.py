"""The utilities that look ahead, on a GPU: a thread a candidate, which adds up all other nodes by itself.

G is symmetric, so candidates lie next to each other in memory and no sums cross threads. The same arithmetic as the array form
of ``utilities.lookahead``, a pair at a time; the laws hold the two equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.priors.device import compiled, cupy

THREADS, TILE = 128, 32  # candidates of a thread block; nodes that it reads together
SPLITS = 64  # parts of the nodes that are added up apart


def scored(
    name: str, G: Any, scale: Any, rows: Any, own: Any, p: Any, field: tuple[Any, ...], beta: float = 1.0
) -> Any:
    """The sums of a utility for candidates: G is n × m, ``field`` votes, ln p, decisions, variance and labeled of all nodes."""
    cp, (n, m) = cupy(), G.shape
    options = f"-DUTILITY={name}", f"-DC={own.shape[1]}", f"-DBETA={beta!r}", f"-DTHREADS={THREADS}", f"-DTILE={TILE}"
    splits = min(SPLITS, -(-n // TILE))
    out = cp.empty((splits, m))
    arrays = (cp.ascontiguousarray(x) for x in (G, scale, rows, own, p, *field))
    kernel = compiled("gpu_ahead.cu", "ahead", options, "looking ahead on the GPU")
    kernel((-(-m // THREADS), splits), (THREADS,), (np.int32(n), np.int32(m), *arrays, out))
    return out.sum(axis=0)
