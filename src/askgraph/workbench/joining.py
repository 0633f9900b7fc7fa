"""Build the graph that joins the items of a table: by given edges, texts, vectors, pictures and columns of numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import FileError, GraphError, LabelError, SettingError
from askgraph.graph import Graph
from askgraph.graph.blocks import centered, graded, join_blocks, side_by_side
from askgraph.graph.build import nearest_neighbors, place_nodes, scale_features
from askgraph.graph.pictures import PARTS
from askgraph.graph.several import add_alike, add_graphs, alikeness
from askgraph.graph.texts import choose_words, join_written, text_rows
from askgraph.io.pictures import is_picture, named_picture_rows
from askgraph.io.readers import read_graph
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.priors.features import Features, linear_part
from askgraph.support.files import reading
from askgraph.support.npz import load_arrays
from askgraph.support.progress import working
from askgraph.support.wording import counted, few
from askgraph.types import AnyArray, Array
from askgraph.workbench.cells import is_missing, number, one_line, truths
from askgraph.workbench.source import Source

# columns have the same unit if there are MANY_COLUMNS or more and the widest range is at most ALIKE times the median range
MANY_COLUMNS, ALIKE = 16, 4.0
NUMBERS = 2.0  # blocks that columns of numbers count as beside others: as much as words and their fragments
SCALES = (None, "none", "unit", "range")
NOT_YET = "items are not compared yet: askgraph serve does it while people label items drawn at random"


class Joined(NamedTuple):
    """What joins items: their graph, sentences that say how it was made, features beside it, and vectors that were given.

    ``meaning`` describes the vectors of words by which texts were compared, too.
    """

    graph: Graph
    notes: list[str]
    features: Features | None = None
    vectors: Array | None = None
    meaning: dict[str, str] | None = None


class Compared(NamedTuple):
    """What items are compared by: one row of numbers per item, how rows are joined, and where the numbers come from.

    ``blocks`` returns the rows as blocks of unit length, to be compared beside others; they count ``weight`` times.
    """

    rows: Any
    blocks: Callable[[], Any]
    of: str  # what is compared, such as "the words of title"
    alone: str  # the same, and how it is compared where nothing else is
    join: Callable[[Any, int], Graph] = join_blocks
    directed: bool = True  # whether rows are compared by their directions
    weight: float = 1.0
    vectors: Array | None = None  # where the rows are vectors that were given
    meaning: dict[str, str] | None = None  # the vectors of words that count beside words, as a project keeps them
    reads_texts: bool = False  # whether the rows are what a model makes of texts
    notes: tuple[str, ...] = ()  # further sentences


def join_items(source: Source, table: Table, ids: list[str], embedded: Compared | None = None) -> Joined:
    """Return what joins the items, in the order of ``ids``; ``source`` says what they are compared by.

    ``embedded`` are vectors of the items from a model, which count beside what the source names.
    """
    _check_ways(source)
    given = [place_graph(graph, ids) for graph in source.graphs]
    names = [f"edges of {Path(graph).name}" for graph in source.graphs]
    if (source.features, source.texts, source.vectors, embedded) == (None, None, None, None):
        if not given:
            raise SettingError(
                "what should items be compared by? name --features, --text or --vectors, or give --graph FILE"
            )
        return Joined(given[0] if len(given) == 1 else add_graphs(given), names)
    with working("comparing items"):
        compared = _compare(source, table, embedded)
        nearest = compared.join(compared.rows, source.neighbors)
        shares = [alikeness(graph, nearest, compared.rows) for graph in given]
        found, beside = _with_given(nearest, compared, given, shares, source.neighbors)
    note = f"{counted(source.neighbors, 'nearest neighbor')} of each item by {compared.alone}"
    said = [note, *compared.notes, *map(_note_given, names, shares)]
    return Joined(found, said, beside, compared.vectors, compared.meaning)


def leave_apart(source: Source, table: Table, ids: list[str]) -> Joined:
    """Return items that nothing joins yet, after a look at whether they can be compared; `rejoining` compares them later."""
    _check_ways(source)
    if not can_wait(source):
        raise SettingError("--later always: items with given vectors or edges are joined at once; leave --later out")
    if source.features is not None:
        _number_columns(source.table or "", table, source.features)
    words = None if source.texts is None else choose_words(joined_texts(table, source.texts), source.meaning)
    apart = Graph(csr_array((len(ids), len(ids))), ids)
    return Joined(apart, [NOT_YET], meaning=words.describe() if words else None)


def can_wait(source: Source) -> bool:
    """Return whether items can be compared later, by what a project keeps of them: not if vectors or edges are given."""
    given = source.vectors is not None and source.vectors != source.image
    return not given and not source.graphs and (source.features, source.texts, source.vectors) != (None, None, None)


def _check_ways(source: Source) -> None:
    """Raise an error for a way to compare items that does not go with the columns that are named."""
    if source.scale not in SCALES or (source.scale is not None and source.features is None):
        raise SettingError(f"--scale {source.scale}: say none, unit or range, of columns of numbers (--features)")
    if source.meaning not in ("none", "auto") and source.texts is None:
        raise SettingError(f"--meaning {source.meaning}: only texts are compared by what they mean (--text)")
    _check_named(source)


def _check_named(source: Source) -> None:
    """Raise an error for a column that is named twice, and for a weight of what is not compared or that changes nothing."""
    texts, numbers = source.texts or [], list(source.features or ())
    single = [[name] for name in (source.vectors, source.pictures) if name]
    known = [name for names in (texts, *single, numbers) for name in names]
    if twice := [name for name, count in Counter(known).items() if count > 1]:
        raise SettingError(
            f"{twice[0]!r}: named twice to compare items by; name it once (--features, --text, --vectors)"
        )
    if odd := [name for name in source.weights if name not in known]:
        raise SettingError(f"--weights {odd[0]}: items are not compared by it; name one of {few(known)}")
    if source.weights and not numbers and len([names for names in (texts, *single) if names]) < 2:
        raise SettingError(
            f"--weights: {few(known)} is all that items are compared by, as one; name something beside it"
        )


def _with_given(
    nearest: Graph, compared: Compared, given: Sequence[Graph], shares: Sequence[float], neighbors: int
) -> tuple[Graph, Features | None]:
    """Return the graph of compared items with the given graphs that join items that are alike, and features beside it."""
    along = add_graphs(given, shares) if any(shares) else nearest
    features = directed_features(along, compared.rows) if compared.directed else None
    return add_alike(nearest, compared.rows, given, shares, neighbors), features


def _note_given(edges: str, share: float) -> str:
    if not share:
        return f"without the {edges}: they join items that are no more alike than any two"
    return f"together with the {edges}, which count for {share:.0%} of an edge between neighbors: so alike are the items they join"


def directed_features(graph: Graph, rows: Any) -> Features | None:
    """Return rows that are compared by direction as features, which a learner adds once leave-one-out asks for it.

    None where all rows have one direction, which says nothing.
    """
    try:
        with working(f"features of {graph.n_nodes:,} items"):
            return linear_part(graph, rows, from_start=False)
    except GraphError:
        return None


def _compare(source: Source, table: Table, embedded: Compared | None = None) -> Compared:
    """Return what items are compared by: one thing as it is, several as blocks side by side."""
    parts = [] if source.texts is None else [_compare_texts(source, table, source.texts)]
    if source.vectors is not None:
        parts.append(_compare_vectors(source, table, source.vectors))
    if source.pictures is not None:
        parts.append(_compare_pictures(source, table, source.pictures))
    if source.features is not None:
        parts.append(_compare_numbers(source, table, source.features))
    parts += [] if embedded is None else [embedded]
    return parts[0] if len(parts) == 1 else _together(parts)


def _together(parts: Sequence[Compared]) -> Compared:
    """Return several things that items are compared by as one, each a block or several."""
    rows = side_by_side([part.blocks() for part in parts], [part.weight for part in parts])
    vectors = next((part.vectors for part in parts if part.vectors is not None), None)
    meaning = next((part.meaning for part in parts if part.meaning is not None), None)
    notes = tuple(note for part in parts for note in part.notes)
    of = reduce(lambda one, other: f"{one} and, beside that, by {other}", [part.of for part in parts])
    return Compared(
        rows,
        lambda: rows,
        of,
        f"{of} (cosine)",
        vectors=vectors,
        meaning=meaning,
        notes=notes,
    )


def _weight(source: Source, names: Sequence[str]) -> float:
    """Return how often the columns count that are compared as one: the mean of their weights."""
    return float(np.mean([source.weights.get(name, 1.0) for name in names]))


def _compare_vectors(source: Source, table: Table, vectors: str) -> Compared:
    if vectors in table.header and any(map(is_picture, table.cells(vectors))):
        return _compare_pictures(source, table, vectors)
    weight = _weight(source, [vectors])
    rows = read_vectors(source.table or "", table, vectors)
    of = f"{vectors}, {rows.shape[1]:,} numbers each"
    join = partial(nearest_neighbors, metric="cosine")
    return Compared(rows, lambda: centered(rows)[0], of, f"{of} (cosine)", join, weight=weight, vectors=rows)


def _compare_pictures(source: Source, table: Table, column: str) -> Compared:
    files = [one_line(cell) or "" for cell in table.cells(column)]
    rows, unread = named_picture_rows(files, source.image_folder)
    of = f"the edges, light and colors of the pictures in {column!r}"
    join, weight = partial(join_blocks, what="picture"), _weight(source, [column])
    return Compared(rows, lambda: rows / np.sqrt(PARTS), of, f"{of} (cosine)", join, weight=weight, notes=tuple(unread))


def _compare_numbers(source: Source, table: Table, names: Sequence[str]) -> Compared:
    columns, filled = _number_columns(source.table or "", table, names)
    weights = np.array([source.weights.get(name, 1.0) for name in names])
    scaled, how = _scaled(columns, source.scale)
    of, notes = (
        few(list(names)),
        (f"{counted(filled, 'empty cell')} filled with the median of the column",) if filled else (),
    )
    return Compared(
        scaled * np.sqrt(weights), lambda: graded(columns, weights), of, f"{of}, {how}", nearest_neighbors,
        directed=False, weight=NUMBERS * _weight(source, names), notes=notes,
    )  # fmt: skip


def _compare_texts(source: Source, table: Table, names: Sequence[str]) -> Compared:
    """Return one row per item for its texts in these columns, one after the other."""
    texts = joined_texts(table, names)
    words = choose_words(texts, source.meaning)
    rows = text_rows(texts, words)
    if not rows.nnz:
        raise SettingError(f"no words in {few(list(names))}; choose another column with --text")
    weight, blocks = _weight(source, names), lambda: rows
    if words is None:
        of = f"the words and word fragments of {few(names)}"
        return Compared(rows, blocks, of, f"{of} (TF-IDF, cosine)", join_written, weight=weight)
    of = f"the words, word fragments and meaning ({words}) of {few(names)}"
    return Compared(rows, blocks, of, f"{of} (cosine)", join_written, weight=weight, meaning=words.describe())


def joined_texts(table: Table, names: Sequence[str]) -> list[str]:
    """Return one text per row: the cells of these columns, one after the other."""
    columns = [["" if cell is None else str(cell) for cell in table.cells(name)] for name in names]
    return ["\n".join(cells) for cells in zip(*columns, strict=True)]


def vector_columns(vectors: str | None, header: list[str]) -> list[str]:
    """Return the columns that ``vectors`` names: a column of lists, or first:last for a range; none for a file.

    >>> vector_columns("b:c", ["a", "b", "x", "c"]), vector_columns("b.npy", ["a", "b"])
    (['b', 'x', 'c'], [])
    """
    if vectors is None or vectors in header:
        return [vectors] if vectors else []
    first, colon, last = vectors.partition(":")
    if not colon or first not in header or last not in header:
        return []
    start, end = sorted(map(header.index, (first, last)))
    return header[start : end + 1]


def read_vectors(path: FilePath, table: Table, vectors: str) -> Array:
    """Return one vector per item: from an npy or npz file, from a column of lists, or from a range of columns."""
    if vectors in table.header:
        return _listed(path, table, vectors)
    if names := vector_columns(vectors, table.header):
        return _number_columns(path, table, names)[0]
    rows, n = _stored_vectors(vectors, table.header), len(table.cells(table.header[0]))
    if rows.ndim != 2 or rows.shape[0] != n or rows.dtype.kind not in "biuf":
        raise FileError(
            f"{vectors}: an array of shape {rows.shape} and type {rows.dtype} for {n:,} items; give one row of numbers per item, "
            "in the order of the table"
        )
    return rows.astype(np.float64)


def _stored_vectors(file: str, header: Sequence[str]) -> AnyArray:
    if not Path(file).is_file():
        raise SettingError(
            f"--vectors {file}: neither a file nor a column; give an npy or npz file, a column of lists or pictures, or FIRST:LAST "
            f"for a range of columns (columns: {few(list(header))})"
        )
    arrays = _arrays(file)
    if len(arrays) != 1:
        raise FileError(
            f"{file}: {counted(len(arrays), 'array')} ({few(list(arrays))}); store one array of vectors in a file"
        )
    return next(iter(arrays.values()))


def _arrays(file: str) -> dict[str, AnyArray]:
    if Path(file).suffix != ".npy":
        return load_arrays(file)
    with reading(file, "npy", "write it again with numpy.save, without object arrays"):
        return {"vectors": np.load(file, allow_pickle=False)}


def _listed(path: FilePath, table: Table, name: str) -> Array:
    """Return a column whose cells are lists of numbers, or such lists as text."""
    rows: list[Any] = []
    for k, cell in enumerate(table.cells(name)):
        row = _list_of_numbers(cell)
        if row is None or (rows and len(row) != len(rows[0])):
            wanted = f"{len(rows[0])} numbers, as the first row has" if rows else "a list of numbers"
            raise FileError(f"{path}, {table.where(k)}, column {name!r}: {few([str(cell)[:60]])} is not {wanted}")
        rows.append(row)
    return np.array(rows, dtype=float)


def _list_of_numbers(cell: Any) -> list[float] | None:
    try:
        found = json.loads(cell) if isinstance(cell, str) else list(cell)
        return [float(value) for value in found] if found else None
    except (TypeError, ValueError):
        return None


def _scaled(columns: Array, scale: str | None) -> tuple[Array, str]:
    """Return columns on one scale, and words that say which; None scales to deviation 1 unless units seem to be the same."""
    if scale == "range":
        return scale_features(columns), "scaled to [−1, 1]"
    peaks = np.abs(columns).max(axis=0)
    if scale == "none":
        return columns, "as they are"
    if scale is None and _same_units(columns / (peaks.max() or 1.0)):
        return columns, "as they are, since their ranges are alike (--scale unit scales them)"
    columns = columns / np.where(peaks > 0, peaks, 1.0)  # so that means and squares cannot overflow
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0), "scaled (--scale none leaves them)"


def _same_units(columns: Array) -> bool:
    """Return whether columns are many and of like ranges, as pixels and counts are."""
    ranges = np.ptp(columns, axis=0)
    varied = ranges[ranges > 0]
    return bool(ranges.size >= MANY_COLUMNS and varied.size and varied.max() <= ALIKE * np.median(varied))


def _number_columns(path: FilePath, table: Table, names: Sequence[str]) -> tuple[Array, int]:
    """Return columns of numbers with gaps filled by the median of the column, and the number of gaps."""
    columns, filled = [], 0
    for name in names:
        if (values := table.floats(name)) is None or not values.size:
            cells = table.cells(name)
            found = truths(cells) or map(number, cells)
            values = np.array([np.nan if value is None else value for value in found])
            _check_gaps(path, table, name, values)
            filled += _fill_gaps(path, name, values)
        columns.append(values)
    return np.column_stack(columns), filled


def _fill_gaps(path: FilePath, name: str, values: Array) -> int:
    """Set gaps to the median of the column, and return their number."""
    gaps = np.isnan(values)
    if gaps.all():
        raise FileError(f"{path}: column {name!r} is empty; leave it out of --features")
    peak = np.abs(values[~gaps]).max() or 1.0  # a median of the largest numbers would overflow
    values[gaps] = np.median(values[~gaps] / peak) * peak
    return int(gaps.sum())


def _check_gaps(path: FilePath, table: Table, name: str, values: Array) -> None:
    """Raise an error if a cell is neither a number nor missing."""
    cells = table.cells(name)
    odd = next((k for k, cell in enumerate(cells) if np.isnan(values[k]) and not is_missing(cell)), None)
    if odd is not None:
        raise FileError(
            f"{path}, {table.where(odd)}, column {name!r}: {cells[odd]!r} is not a finite number; fix it or leave it out"
        )


def place_graph(path: FilePath, ids: list[str]) -> Graph:
    """Read a graph and put its nodes in the order of the items; items that the graph does not name get no edge."""
    graph = read_graph(path)
    place = {one: k for k, one in enumerate(ids)}
    at = np.empty(graph.n_nodes, dtype=np.int64)
    for k in range(graph.n_nodes):
        name = one_line(graph.name(k)) or ""
        if name not in place:
            raise LabelError(
                f"{path}: the graph has a node {name!r} and no item has that id; name the column of ids with --id"
            )
        at[k] = place[name]
    return place_nodes(graph, at, len(ids))
