"""Look-ahead utilities on a GPU: one thread per candidate, which sums over all other nodes by itself.

G is symmetric, so candidates lie next to each other in memory and no sums cross threads. The arithmetic is that of the array form
in ``utilities.lookahead``, one pair at a time; the laws hold the two equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field
from askgraph.linalg.cuda.runtime import compiled, cupy, free_bytes, guarded
from askgraph.types import Array, IntArray
from askgraph.utilities.closed import innovation

CHUNK_BYTES = 4_000_000_000  # of columns of G held at a time
FLOOR = 1e-12  # smaller probabilities count as this in logarithms
ROUGH = 1e-3  # relative residual of the columns
THREADS, TILE = 128, 32  # candidates per thread block, and nodes that a thread block reads together
SPLITS = 64  # parts that the nodes are cut into, at most; each is summed by thread blocks of its own


def scores(field: Field, rows: IntArray, p: Array, votes: Array, name: str, *settings: float) -> Array:
    """Return the scores of these rows by columns of G, some candidates at a time."""
    logs = np.log(np.maximum(coding.chances(votes), FLOOR))
    fixed = votes, logs, votes.max(axis=1), field.spread.variance, field.labeled
    scale, every = innovation(field, rows), []
    size = max(1, int(min(CHUNK_BYTES, free_bytes() / 4) // (8 * field.space.n_rows)))
    for at in range(0, rows.size, size):
        some = slice(at, at + size)
        with guarded("looking ahead", "take a sampler that reads summaries, such as tv"):
            G, own = _columns(field, rows[some]), votes[rows[some]]
            every.append(_summed(name, G, scale[some], rows[some], own, p[some], fixed, *settings))
    return cupy().concatenate(every) if every else field.space.asarray(np.empty(0))


def _columns(field: Field, rows: IntArray) -> Array:
    """Return G_t[:, rows]; entries that are not positive count as 0 in the kernels."""
    G, V = field.prior.columns(field.space.to_numpy(rows), ROUGH), field.factor
    if V.shape[1]:
        from cupy import cublas

        cublas.gemm("N", "T", V, V[rows], out=G, alpha=-1.0, beta=1.0)
    return G


def _summed(
    name: str, G: Any, scale: Any, rows: Any, own: Any, p: Any, field: tuple[Any, ...], beta: float = 1.0
) -> Any:
    """Return the sums of a utility for some candidates, G being one column per candidate."""
    cp, (n, m) = cupy(), G.shape
    options = f"-DUTILITY={name}", f"-DC={own.shape[1]}", f"-DBETA={beta!r}", f"-DTHREADS={THREADS}", f"-DTILE={TILE}"
    splits = min(SPLITS, -(-n // TILE))
    out = cp.empty((splits, m))
    arrays = (cp.ascontiguousarray(x) for x in (G, scale, rows, own, p, *field))
    kernel = compiled("utilities/lookahead_cuda.cu", "ahead", options, "looking ahead on the GPU")
    kernel((-(-m // THREADS), splits), (THREADS,), (np.int32(n), np.int32(m), *arrays, out))
    return out.sum(axis=0)
