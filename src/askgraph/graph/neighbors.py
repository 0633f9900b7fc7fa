"""The nearest neighbours of points: exact, or approximate in large tables of many columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from askgraph.errors import MissingExtraError, SettingError
from askgraph.support.progress import bar, log, working
from askgraph.types import Array, IntArray

EXACT_UP_TO = 50_000  # rows; beyond it the search is a matter of its own
FEW_COLUMNS = 10  # up to which a tree finds the exact neighbours of millions
RECALL = 0.95  # the share of true neighbours to be found
SAMPLE = 500  # points on which recall is measured
ROWS = 20_000  # whose neighbours are searched for at a time
CHUNK = 4_000_000  # numbers in one block of differences (32 MB)


def neighbors(points: Any, k: int, approximate: bool | None) -> tuple[IntArray, IntArray, Array, list[str]]:
    """Each point i with its k nearest j, itself left out, their distances, and notes on how they were found."""
    n, columns = points.shape
    plain = n <= EXACT_UP_TO or sp.issparse(points)
    if approximate is None:
        approximate = not plain and columns > FEW_COLUMNS and _faiss_is_there(n)
    if approximate:
        found, notes = _approximate(points, k)
    elif plain or columns > FEW_COLUMNS:
        found, notes = _exact(points, k), list[str]()
    else:
        found, notes = _by_tree(points, k), list[str]()
    return np.repeat(np.arange(n), k), found.ravel(), _distances(points, found), notes


def _exact(points: Any, k: int) -> IntArray:
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=k).fit(points)
    if points.shape[0] <= ROWS:
        return np.asarray(index.kneighbors(return_distance=False), dtype=np.int64)
    return _by_rows(points.shape[0], lambda rows: index.kneighbors(points[rows], k + 1, return_distance=False))


def _by_rows(n: int, search: Callable[[slice], Any]) -> IntArray:
    """Neighbours of some points at a time, themselves among them, with a bar."""
    parts = []
    with bar(n, f"neighbours of {n:,} points") as tick:
        for start in range(0, n, ROWS):
            rows = slice(start, min(start + ROWS, n))
            parts.append(_without_self(search(rows), np.arange(rows.start, rows.stop)))
            tick(rows.stop - rows.start)
    return np.concatenate(parts)


def _by_tree(points: Array, k: int) -> IntArray:
    from scipy.spatial import KDTree

    tree = KDTree(points)
    return _by_rows(len(points), lambda rows: tree.query(points[rows], k + 1, workers=-1)[1])


def _approximate(points: Any, k: int) -> tuple[IntArray, list[str]]:
    """By inverted lists, as many of them looked through as it takes to find most of the true neighbours of a sample."""
    faiss = _faiss()
    if sp.issparse(points):
        raise SettingError("approximate neighbours need a dense table: pass X.toarray(), or approximate=False")
    X = np.ascontiguousarray(points - points.mean(axis=0), dtype=np.float32)
    n, columns = X.shape
    lists = max(1, int(2 * np.sqrt(n)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(columns), columns, lists)
    index.cp.min_points_per_centroid = 1
    with working(f"sorting {n:,} points into {lists:,} lists"):
        index.train(X)
        index.add(X)
    some = np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False)
    true = _brute(faiss, X, some, k)
    index.nprobe, recall = 1, 0.0
    while recall < RECALL and index.nprobe < lists:
        index.nprobe = min(2 * index.nprobe, lists)
        recall = _recall(true, _without_self(index.search(X[some], k + 1)[1], some))
    found = _by_rows(n, lambda rows: index.search(X[rows], k + 1)[1])
    short = np.flatnonzero((found < 0).any(axis=1))
    found[short] = _brute(faiss, X, short, k)
    return found, [f"approximate neighbours, {recall:.1%} of the true ones found (measured on {some.size} points)"]


def _brute(faiss: Any, X: Any, rows: IntArray, k: int) -> IntArray:
    if not rows.size:
        return np.empty((0, k), dtype=np.int64)
    return _without_self(faiss.knn(X[rows], X, k + 1)[1], rows)


def _without_self(found: Any, rows: IntArray) -> IntArray:
    """The first k of k + 1 neighbours that are not the point itself, which copies of it may have pushed out."""
    itself = found == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(found[~itself].reshape(len(found), -1), dtype=np.int64)


def _recall(true: IntArray, found: IntArray) -> float:
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(true, found, strict=True)]))


def _distances(points: Any, found: IntArray) -> Array:
    """Free of cancellation, block by block."""
    n, k = found.shape
    step, parts = max(1, CHUNK // (k * points.shape[1])), []
    for start in range(0, n, step):
        j = found[start : start + step].ravel()
        gap = points[np.repeat(np.arange(start, start + j.size // k), k)] - points[j]
        parts.append(np.sqrt(gap.power(2).sum(axis=1)) if sp.issparse(gap) else np.linalg.norm(gap, axis=1))
    return np.concatenate(parts)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise MissingExtraError('approximate neighbours need faiss: pip install "askgraph[ann]"') from None
    return faiss


def _faiss_is_there(n: int) -> bool:
    try:
        _faiss()
    except MissingExtraError:
        log.warning(
            'exact neighbours of %s rows may take long; pip install "askgraph[ann]" for approximate ones', f"{n:,}"
        )
        return False
    return True
