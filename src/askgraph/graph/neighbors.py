"""Search for the nearest neighbors of points: exact, or approximate in large tables of many columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from askgraph.errors import MissingExtraError, SettingError
from askgraph.support.progress import Tick, bar, log, working
from askgraph.support.threads import in_threads, one_blas_thread
from askgraph.types import AnyArray, Array, BoolArray, IntArray

EXACT_UP_TO = (
    50_000  # rows of many columns: up to here all pairs are compared, beyond faiss searches if it is installed
)
EXACT_WORK = 6e11  # rows² · columns: up to here, too, such as 100,000 rows of 60 columns, for no index is built faster
FEW_COLUMNS = (
    10  # up to here a k-d tree finds the exact neighbors of millions of points; with more, all pairs are faster
)
PAIRS_PER_BLOCK = (
    1_000_000  # pairs of points compared at a time (8 MB), unless there are fewer than ROWS_PER_BLOCK points
)
ROWS_PER_BLOCK = (
    64  # points compared at a time with all others, at least: a product of fewer rows takes twice as long a row
)
SPARSE_UP_TO = 5_000  # rows; up to here all pairs of sparse rows are compared, beyond those that share heavy entries
HEAVIEST = 40  # entries of a sparse row that lead to others
WORK, CANDIDATES = 5_000, 60  # rows that a sparse row meets in lists, and candidates compared as whole rows, or more
MOSTLY = 0.5  # of the entries of signed columns: with more, they are multiplied as a dense table
SHORTLIST = 30  # nearest by columns of any sign, such as meaning, which are candidates too
CELL, CELLS, ROUNDS = 500, 12, 3  # rows of a cell, cells around a row, and rounds that place rows in cells
RECALL = 0.95  # the share of true neighbors at which an approximate search looks no further
TEXTS_RECALL = 0.92  # the same share for texts, where 0.95 would take twice as long
RECALL_SAMPLE, TEXTS_SAMPLED = 500, 100  # points, and sparse rows, on which recall is measured
ROWS_PER_PART = 200  # sparse rows whose neighbors a thread searches for at a time
ROWS_PER_SEARCH = 20_000  # points whose neighbors are searched for at a time
DIFFERENCES_PER_BLOCK = 250_000  # coordinate differences computed at a time (2 MB, which stay in cache)
SPARE = 8  # neighbors beyond k that are found in float32: the nearest k of all are then chosen in float64


def find_neighbors(points: Any, k: int, approximate: bool | None) -> tuple[IntArray, IntArray, Array, list[str]]:
    """Return each point i with its k nearest j ≠ i, their distances, and notes on how they were found; none for k = 0."""
    n, columns = points.shape
    if not k:
        return np.arange(0), np.arange(0), np.zeros(0), []
    few = columns <= FEW_COLUMNS and not sp.issparse(points)
    many_rows = sp.issparse(points) and n > SPARSE_UP_TO and approximate is None
    if many_rows and (blocks := _text_blocks(points)) is not None:
        return np.repeat(np.arange(n), k), *_search_texts(points, *blocks, k)
    if approximate is None:
        large = n > EXACT_UP_TO and n * n * float(columns) > EXACT_WORK
        approximate = large and not few and not sp.issparse(points) and _has_faiss(n)
    if approximate:
        found, notes = _search_lists(points, k)
    else:
        search = _search_tree if few else _search_sparse if sp.issparse(points) else _search_dense
        found, notes = search(points, k), list[str]()
    return np.repeat(np.arange(n), k), found.ravel(), _distances(points, np.arange(n), found).ravel(), notes


def _search_sparse(points: Any, k: int) -> IntArray:
    with bar(points.shape[0], f"neighbors of {points.shape[0]:,} points") as tick:
        return _search_all(points, np.arange(points.shape[0]), k, tick)


def _search_dense(points: Array, k: int) -> IntArray:
    """Compare every point with all others in float32, which takes half the time, and choose the nearest by their distances.

    A point for which rounding could hide a neighbor is compared again in float64.
    """
    n, columns = points.shape
    centered = points - points.mean(axis=0)  # near 0 little cancels
    scale = float(np.abs(centered).max()) or 1.0
    X = (centered / scale).astype(np.float32)
    squares, most = _sums_of_squares(X.astype(np.float64)), min(k + SPARE, n - 1)
    # the rounding error of |y|² − 2xy, relative to |x|² + |y|²: y's part is taken off
    error = (columns + 8) * float(np.finfo(np.float32).eps)
    across = np.vstack([np.float32(-2) * X.T, (squares * (1 - error)).astype(np.float32)])
    X = np.column_stack([X, np.ones(n, np.float32)])

    def part(rows: IntArray) -> tuple[IntArray, BoolArray]:
        scores = X[rows] @ across
        at = np.arange(rows.size)
        scores[at, rows] = np.inf  # a point is not its own neighbor
        near = _lowest(scores, most)
        bound = scores[at, near[:, -1]] + squares[rows] * (1 - error)  # no other point is nearer than its root
        found, reach = _nearest(points, rows, near, k)
        tick(rows.size)
        return found, ((reach / scale) ** 2 <= bound) | (most == n - 1)

    with bar(n, f"neighbors of {n:,} points") as tick, one_blas_thread():
        parts = in_threads(part, _blocks(np.arange(n), n))
    found, sure = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    if (rows := np.flatnonzero(~sure)).size:
        found[rows] = _nearest(points, rows, _search_all(centered, rows, most, lambda _=1: None), k)[0]
    return found


def _nearest(points: Array, rows: IntArray, near: IntArray, k: int) -> tuple[IntArray, Array]:
    """Return the nearest k of the neighbors found for each of some points, the nearest first, and the farthest distance of each."""
    distances = _distances(points, rows, near)
    order = np.lexsort((near, distances))[:, :k]
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(distances, order[:, -1:], axis=1)[:, 0]


def _blocks(rows: IntArray, n: int) -> list[IntArray]:
    """Return rows in blocks, each compared with n others at a time."""
    step = max(ROWS_PER_BLOCK, PAIRS_PER_BLOCK // n)
    return [rows[start : start + step] for start in range(0, rows.size, step)]


def _search_all(points: Any, rows: IntArray, k: int, tick: Tick) -> IntArray:
    """Compare some points with all others by |y|² − 2xy, blocks of points in threads."""
    squares, blocks = (
        _sums_of_squares(points),
        [(block, -2.0 * block.T) for block in _by_sign(points) if block is not None],
    )

    def part(some: IntArray) -> IntArray:
        scores = squares
        for block, across in blocks:
            pairs: Any = block[some] @ across
            scores = (pairs.toarray() if sp.issparse(pairs) else pairs) + scores
        scores[np.arange(some.size), some] = np.inf  # a point is not its own neighbor
        tick(some.size)
        return _lowest(scores, k)

    with one_blas_thread():
        return np.concatenate(in_threads(part, _blocks(rows, points.shape[0])))


def _by_sign(points: Any) -> tuple[Any, Array | None]:
    """Return the columns of a sparse matrix without a negative number, and the others as a dense table, if they are mostly full.

    Any other matrix, and a dense table, is returned as it is, and None.
    """
    if not sp.issparse(points):
        return points, None
    signed = np.zeros(points.shape[1], dtype=bool)
    signed[points.indices[points.data < 0]] = True
    filled = int(signed[points.indices].sum())
    full = signed.any() and filled >= MOSTLY * points.shape[0] * signed.sum()
    return (points[:, ~signed], points[:, signed].toarray()) if full else (points, None)


def _sums_of_squares(points: Any) -> Array:
    squares = points.power(2).sum(axis=1) if sp.issparse(points) else np.einsum("ij,ij->i", points, points)
    return np.asarray(squares)


def _lowest(scores: Array, k: int) -> IntArray:
    """Return the places of the k lowest scores of each row, the lowest first.

    They lie in the k groups of columns whose lowest scores are lowest, so that only these are sorted out.
    """
    count, n = scores.shape
    size = max(1, int(np.sqrt(n / k)))
    m = n // size  # groups; group g has the columns g, g + m, g + 2m, …, and the last columns are in none
    lowest = scores[:, : size * m].reshape(count, size, m).min(axis=1)
    groups = np.argpartition(lowest, k - 1, axis=1)[:, None, :k]
    inside = (groups + m * np.arange(size)[:, None]).reshape(count, -1)
    places = np.hstack([inside, np.broadcast_to(np.arange(size * m, n), (count, n - size * m))])
    near = np.take_along_axis(scores, places, axis=1)
    best = np.argpartition(near, k - 1, axis=1)[:, :k]
    places, near = np.take_along_axis(places, best, axis=1), np.take_along_axis(near, best, axis=1)
    return np.take_along_axis(places, np.lexsort((places, near)), axis=1)


def _search_in_blocks(n: int, search: Callable[[slice], Any]) -> IntArray:
    """Return the neighbors of n points, searched block by block with a progress bar.

    ``search(rows)`` returns k + 1 neighbors of each of these points, the point itself among them.
    """
    parts = []
    with bar(n, f"neighbors of {n:,} points") as tick:
        for start in range(0, n, ROWS_PER_SEARCH):
            rows = slice(start, min(start + ROWS_PER_SEARCH, n))
            parts.append(_without_self(search(rows), np.arange(rows.start, rows.stop)))
            tick(rows.stop - rows.start)
    return np.concatenate(parts)


def _search_tree(points: Array, k: int) -> IntArray:
    from scipy.spatial import KDTree

    tree = KDTree(points)
    return _search_in_blocks(len(points), lambda rows: tree.query(points[rows], k + 1, workers=-1)[1])


def _search_lists(points: Any, k: int) -> tuple[IntArray, list[str]]:
    """Search inverted lists of faiss: twice as many, until most of the true neighbors of a sample are found."""
    faiss = _import_faiss()
    if sp.issparse(points):
        raise SettingError("approximate neighbors need a dense table: pass X.toarray(), or approximate=False")
    X = np.ascontiguousarray(points - points.mean(axis=0), dtype=np.float32)
    n, columns = X.shape
    lists = max(1, int(2 * np.sqrt(n)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(columns), columns, lists)
    index.cp.min_points_per_centroid = 1
    with working(f"sorting {n:,} points into {lists:,} lists"):
        index.train(X)
        index.add(X)
    some = np.random.default_rng(0).choice(n, min(n, RECALL_SAMPLE), replace=False)
    true = _search_brute(faiss, X, some, k)
    index.nprobe, recall = 1, 0.0
    while recall < RECALL and index.nprobe < lists:
        index.nprobe = min(2 * index.nprobe, lists)
        recall = _recall(true, _without_self(index.search(X[some], k + 1)[1], some))
    found = _search_in_blocks(n, lambda rows: index.search(X[rows], k + 1)[1])
    short = np.flatnonzero((found < 0).any(axis=1))  # points whose lists hold fewer than k others
    found[short] = _search_brute(faiss, X, short, k)
    return found, [f"approximate neighbors, {recall:.1%} of the true ones found (measured on {some.size} points)"]


def _text_blocks(points: Any) -> tuple[Any, Array | None] | None:
    """Return the blocks of rows of texts, as `_by_sign` does; None for rows that have another length than 1, or other signs."""
    if not np.allclose(points.power(2).sum(axis=1), 1.0):
        return None
    written, meant = _by_sign(points)
    return (written, meant) if (written.data >= 0).all() else None


def _search_texts(points: Any, written: Any, meant: Array | None, k: int) -> tuple[IntArray, Array, list[str]]:
    """Search rows of texts by the heaviest entries of each, and by meaning, and measure on a sample what that misses.

    It is searched twice as far until most of the true neighbors are found.
    """
    n, by_column = points.shape[0], _lists(written.tocsc(), np.float32)
    matrices = entries, *_ = _matrices(written)
    dense = np.empty((n, 0), np.float32) if meant is None else meant.astype(np.float32)
    also = np.empty((n, 0), np.int32) if meant is None else _search_cells(dense, min(SHORTLIST, n - 1))
    some = np.random.default_rng(0).choice(n, min(n, TEXTS_SAMPLED), replace=False)
    true, more = _search_whole(entries, by_column, dense, some, k), 1
    while True:
        further = k, more * CANDIDATES, more * WORK, *matrices, dense, also
        recall = _recall(true, _search_by(some, *further))
        if recall >= TEXTS_RECALL or more * WORK >= n * HEAVIEST:
            break
        more *= 2
    found = _search_by(np.arange(n), *further)
    short = np.flatnonzero((found < 0).any(axis=1))  # rows that share a heavy entry with fewer than k others
    if short.size:
        found[short] = _search_whole(entries, by_column, dense, short, k)
    by = "" if meant is None else f" and the {also.shape[1]} nearest by all else"
    how = f"neighbors by the heaviest words and fragments of each text{by}, {recall:.1%} of the true ones found"
    return found.ravel(), _sparse_distances(points, found).ravel(), [f"{how} (measured on {some.size} texts)"]


def _matrices(written: Any) -> list[Any]:
    """Return sparse rows, their heaviest entries and these by column, in single precision."""
    from askgraph.graph.inverted_lists import mark_heaviest

    kept = mark_heaviest(written.indptr.astype(np.int64), written.data, HEAVIEST)
    heavy = sp.csr_array((written.data * kept, written.indices, written.indptr), shape=written.shape, copy=True)
    heavy.eliminate_zeros()
    return [_lists(matrix, np.float32) for matrix in (written, heavy, heavy.tocsc())]


def _lists(rows: Any, kind: Any) -> tuple[IntArray, AnyArray, AnyArray]:
    """Return the starts, places and values of a compressed matrix, in types that compiled loops are made for."""
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), rows.data.astype(kind, copy=False)


def _search_by(rows: IntArray, *args: Any) -> IntArray:
    """Return what the compiled search finds for some rows, a part of them in each thread."""
    from askgraph.graph.inverted_lists import search_rows

    with bar(rows.size, f"neighbors of {rows.size:,} rows") as tick:

        def part(some: IntArray) -> IntArray:
            found = search_rows(some, *args)
            tick(some.size)
            return np.asarray(found)

        return np.concatenate(in_threads(part, np.array_split(rows, -(-rows.size // ROWS_PER_PART))))


def _search_whole(entries: Any, by_column: Any, dense: AnyArray, rows: IntArray, k: int) -> IntArray:
    """Return the k nearest others of some rows by all of their entries, which are given by row and by column, and by dense ones."""
    from askgraph.graph.inverted_lists import add_up_rows

    def part(some: IntArray) -> IntArray:
        products = add_up_rows(some, entries, by_column) + dense[some] @ dense.T
        products[np.arange(some.size), some] = -np.inf
        return _lowest(-products, k)

    with working(f"true neighbors of {rows.size:,} rows"), one_blas_thread():
        return np.concatenate(in_threads(part, _blocks(rows, len(dense))))


def _search_cells(points: AnyArray, k: int) -> AnyArray:
    """Return up to k others near each dense row: the nearest of those in the cells around it.

    A row lacks some, which are -1, only where the cells hold fewer.
    """
    n = len(points)
    with bar(n, f"neighbors of {n:,} rows by all else") as tick, one_blas_thread():
        cell, centers = _cells(points)
        members = np.split(np.argsort(cell, kind="stable"), np.cumsum(np.bincount(cell, minlength=len(centers)))[:-1])
        near = np.argsort(-(centers @ centers.T), axis=1, kind="stable")[:, :CELLS]
        found = np.full((n, k), -1, dtype=np.int32)

        def part(here: int) -> None:
            others = np.concatenate([members[there] for there in near[here]])
            for rows in _blocks(members[here], max(others.size, 1)):
                scores = -(points[rows] @ points[others].T)
                scores[rows[:, None] == others] = np.inf
                most = min(k, others.size)
                found[rows, :most] = others[_lowest(scores, most)]
                tick(rows.size)

        in_threads(part, range(len(centers)))
    return found


def _cells(points: AnyArray) -> tuple[IntArray, AnyArray]:
    """Return the cell of each row, and the centers of cells: rows drawn at random, then means of the rows nearest to a center."""
    n = len(points)
    centers = points[np.random.default_rng(0).choice(n, -(-n // CELL), replace=False)]
    for _ in range(ROUNDS):
        cell = np.concatenate(
            [np.argmax(points[rows] @ centers.T, axis=1) for rows in _blocks(np.arange(n), len(centers))]
        )
        sums = sp.csr_array((np.ones(n, np.float32), (cell, np.arange(n))), shape=(len(centers), n)) @ points
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centers = sums / np.where(lengths > 0, lengths, 1)
    return cell, centers


def _sparse_distances(points: Any, found: IntArray) -> Array:
    """Return the distances of sparse rows to their neighbors, from differences, so that nothing cancels."""
    from askgraph.graph.inverted_lists import row_distances

    points.sort_indices()
    blocks, matrix = np.array_split(np.arange(len(found)), -(-len(found) // ROWS_PER_PART)), _lists(points, np.float64)
    with working(f"distances of {len(found):,} rows"):
        return np.concatenate(in_threads(lambda rows: row_distances(rows, found, *matrix), blocks))


def _search_brute(faiss: Any, X: Any, rows: IntArray, k: int) -> IntArray:
    if not rows.size:
        return np.empty((0, k), dtype=np.int64)
    return _without_self(faiss.knn(X[rows], X, k + 1)[1], rows)


def _without_self(found: Any, rows: IntArray) -> IntArray:
    """Return the first k of k + 1 neighbors without the point itself, which copies of it may have pushed out."""
    itself = found == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(found[~itself].reshape(len(found), -1), dtype=np.int64)


def _recall(true: IntArray, found: IntArray) -> float:
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(true, found, strict=True)]))


def _distances(points: Any, rows: IntArray, found: IntArray) -> Array:
    """Return the distances of some points to their neighbors, from differences, so that nothing cancels."""
    k = found.shape[1]
    step, distances = max(1, DIFFERENCES_PER_BLOCK // (k * points.shape[1])), np.empty(found.shape)
    for start in range(0, rows.size, step):
        i, j = rows[start : start + step], found[start : start + step]
        if sp.issparse(points):
            gaps = points[np.repeat(i, k)] - points[j.ravel()]
            squares = gaps.power(2).sum(axis=1).reshape(j.shape)
        else:
            gaps = points[i, None, :] - points[j]
            squares = np.einsum("ijk,ijk->ij", gaps, gaps)
        distances[start : start + step] = np.sqrt(squares)
    return distances


def _import_faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise MissingExtraError('approximate neighbors need faiss: pip install "askgraph[ann]"') from None
    return faiss


def _has_faiss(n: int) -> bool:
    """Return whether faiss is installed; if not, log that the exact search of n rows may take long."""
    try:
        _import_faiss()
    except MissingExtraError:
        log.warning(
            'exact neighbors of %s rows may take long; pip install "askgraph[ann]" for approximate ones', f"{n:,}"
        )
        return False
    return True
