"""Parquet files, read by pyarrow -> edges, tables; values keep the types they have in the file."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import FileError, MissingExtraError
from askgraph.graph.sources import Raw, check_ends, find_edge_columns, from_numbered, ignored_columns_note, number_nodes
from askgraph.io.parquet_pages import Page, pages
from askgraph.io.tables import Table, check_header, label_list
from askgraph.io.text import FilePath
from askgraph.support.files import check_unpacked_size, reading
from askgraph.support.progress import bar
from askgraph.types import Array, IntArray

ROWS_PER_BATCH = 2**19  # edges read at a time; a file with more gets a progress bar
CELLS_PER_BATCH = 2**12  # cells of a column read at a time, where they are neither numbers nor text
PREFIX_BATCH_BYTES = 2**23  # bytes that the texts read at a time may take where each can repeat all of its page


def read_parquet_edges(path: FilePath) -> Raw:
    """Read edges, batch by batch; columns are found by their names, else the first two or three are taken."""
    with _open_parquet(path) as file:
        header, m, start = file.schema_arrow.names, file.metadata.num_rows, 0
        check_header(str(path), header)
        columns = find_edge_columns(header)
        used = [header[k] for k in columns if k is not None]
        kind = _id_type(path, file.schema_arrow, used[:2])
        text, place, unpacked = kind == "large_string", dict[Hashable, int](), 0
        ends, weights = np.empty((2, m), np.int64 if text else kind), np.empty(m) if used[2:] else None
        with bar(m if m > ROWS_PER_BATCH else 0, f"reading {Path(path).name}") as tick:
            for batch in file.iter_batches(_rows_per_batch(path, file, ROWS_PER_BATCH), columns=used):
                unpacked += sum(map(_unpacked_bytes, batch.columns))
                _check_unpacked(path, unpacked)
                both = [_check_filled(path, batch.column(name), name, start).cast(kind) for name in used[:2]]
                rows = slice(start, start + batch.num_rows)
                ends[:, rows] = _number_words(path, both, place, start) if text else [end.to_numpy() for end in both]
                if weights is not None:
                    column = _check_filled(path, batch.column(used[2]), used[2], start)
                    weights[rows] = _as_numbers(path, column, used[2])
                start += batch.num_rows
                tick(batch.num_rows)
        if start != m or m == 0:
            raise FileError(f"{path}: {start} rows where its header says {m}; give at least one, and all of them")
    notes = ignored_columns_note(header, columns)
    if text:
        return from_numbered(list(place), ends[0], ends[1], weights, notes)
    return number_nodes(*check_ends(ends[0], ends[1]), weights, notes)


def parquet_table(path: FilePath) -> Table:
    """Return a table; each column is read from the file when it is asked for."""
    with _open_parquet(path) as file:
        header, m, classes = file.schema_arrow.names, file.metadata.num_rows, _class_names(file.schema_arrow)
    check_header(str(path), header)
    if m == 0 or not header:
        raise FileError(f"{path}: a header and no rows; give at least one row")

    def whole(file: Any, name: str) -> Any:
        found = _read_column(path, file, name)
        if len(found) != m:
            raise FileError(f"{path}: {len(found)} rows where its header says {m}; write it again")
        return found

    def filled(file: Any, name: str) -> Any:
        return _check_filled(path, whole(file, name), name)

    def cells(name: str) -> list[Any]:
        with _open_parquet(path) as file:
            found: list[Any] = whole(file, name).to_pylist()
        return [_named(cell, classes[name]) for cell in found] if name in classes else found

    def numbers(name: str) -> Array:
        with _open_parquet(path) as file:
            values = _as_numbers(path, filled(file, name), name)
        if (bad := np.flatnonzero(~np.isfinite(values))).size:
            k = int(bad[0])
            raise FileError(
                f"{path}, {_row(k)}, column {name!r}: {values[k]} is not a finite number; fix it or leave it out"
            )
        return values

    def values(name: str) -> list[Hashable]:
        with _open_parquet(path) as file:
            found = filled(file, name)
            if not _is_type("string", found.type):
                return label_list(path, found.to_numpy(zero_copy_only=False))
            words: list[Hashable] = found.to_pylist()
        if "" in words:
            raise FileError(f"{path}, {_row(words.index(''))}: column {name!r} is empty; fill it in or drop the row")
        return words

    return Table(header, numbers, values, cells, _row)


def _class_names(schema: Any) -> dict[str, list[str]]:
    """Return the names of the classes that columns hold the numbers of, as datasets of Hugging Face say them."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        kinds = {name: kind.get("feature", kind) for name, kind in features.items()}
        found = {name: kind["names"] for name, kind in kinds.items() if kind.get("_type") == "ClassLabel"}
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: names for name, names in found.items() if isinstance(names, list) and {*map(type, names)} == {str}}


def _named(cell: Any, names: Sequence[str]) -> Any:
    """Return the class that a number stands for, or those of a list; -1 stands for none that is known.

    >>> _named(1, ["cat", "dog"]), _named([0, 1], ["cat", "dog"]), _named(-1, ["cat", "dog"]), _named(7, ["cat", "dog"])
    ('dog', ['cat', 'dog'], None, 7)
    """
    if isinstance(cell, list):
        return [_named(one, names) for one in cell]
    if not isinstance(cell, int) or cell >= len(names):
        return cell
    return names[cell] if cell >= 0 else None


@contextmanager
def _open_parquet(path: FilePath) -> Iterator[Any]:
    """Open a parquet file; refuse one that would unpack to far more than its size, and report damage with its name."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtraError(f'{path}: parquet needs pyarrow: pip install "askgraph[tables]"') from None
    with reading(path, "parquet", "write it again"):
        with ParquetFile(path) as file:
            groups = (file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups))
            _check_unpacked(path, max(8 * file.metadata.num_rows, sum(groups)))
            _check_unpacked(path, sum(max(page.unpacked, 8 * page.values) for page in _all_pages(path, file.metadata)))
            texts = [name for name in file.schema_arrow.names if _is_type("string", file.schema_arrow.field(name).type)]
            if _longest_of_prefixes(path, file):  # which pyarrow reads as plain text only
                texts = []
        # texts that repeat stay stored once, so that their length in full is known before it is written out
        with ParquetFile(path, read_dictionary=texts) as file:
            yield file


def _all_pages(path: FilePath, metadata: Any) -> Iterator[Page]:
    """Yield what the header of every page says."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for k in range(metadata.num_row_groups):
            group = metadata.row_group(k)
            for column in range(group.num_columns):
                yield from pages(content, group.column(column))


def _longest_of_prefixes(path: FilePath, file: Any) -> int:
    """Return the bytes of the largest page in which a text can repeat the one before it; 0 if there is none."""
    return max((page.unpacked for page in _all_pages(path, file.metadata) if page.prefixes), default=0)


def _rows_per_batch(path: FilePath, file: Any, most: int) -> int:
    """Return how many rows to read at a time: few where every text may be as long as its whole page."""
    longest = _longest_of_prefixes(path, file)
    return max(1, min(most, PREFIX_BATCH_BYTES // longest)) if longest else most


def _check_unpacked(path: FilePath, unpacked: int) -> None:
    check_unpacked_size(path, os.path.getsize(path), unpacked, "write it with less compression")


def _read_column(path: FilePath, file: Any, name: str) -> Any:
    """Read a column, batch by batch; stop where it becomes far larger than the file."""
    import pyarrow

    kind = file.schema_arrow.field(name).type
    plain = _is_type("dictionary", kind) or _is_type("number", kind)
    rows = _rows_per_batch(path, file, ROWS_PER_BATCH if plain else CELLS_PER_BATCH)
    parts, unpacked = [], 0
    for batch in file.iter_batches(rows, columns=[name]):
        unpacked += _unpacked_bytes(batch.column(0))
        _check_unpacked(path, unpacked)
        parts.append(batch.column(0))
    joined = pyarrow.chunked_array(parts, kind)
    return (joined.unify_dictionaries() if _is_type("dictionary", kind) else joined).combine_chunks()


def _unpacked_bytes(column: Any) -> int:
    """Return the bytes of a column when every cell is written out, also where equal texts are stored once."""
    import pyarrow.compute as compute

    if not _is_type("dictionary", column.type) or not _is_type("string", column.type.value_type):
        return int(column.nbytes)
    return int(compute.sum(compute.binary_length(column.dictionary).take(column.indices)).as_py() or 0)


def _is_type(what: str, kind: Any) -> bool:
    """Return whether a pyarrow type is a "string", "integer", "number" or "dictionary", of any width."""
    import pyarrow

    wide = {"string": ("string", "large_string", "string_view"), "number": ("integer", "floating", "decimal")}
    tests = (getattr(pyarrow.types, f"is_{word}", None) for word in wide.get(what, (what,)))
    return any(test(kind) for test in tests if test)


def _value_type(kind: Any) -> Any:
    return kind.value_type if _is_type("dictionary", kind) else kind


def _id_type(path: FilePath, schema: Any, names: list[str]) -> str:
    """Return the type that both ends are read as: text, integers, or whole numbers as floats."""
    kinds = [_value_type(schema.field(name).type) for name in names]
    for what, wide in (("string", "large_string"), ("integer", "int64"), ("number", "float64")):
        if all(_is_type(what, kind) for kind in kinds):
            return wide
    ends = " and ".join(f"{name!r} is of type {kind}" for name, kind in zip(names, kinds, strict=True))
    raise FileError(f"{path}: {ends}; give both as integers or both as text")


def _row(k: int) -> str:
    return f"row {k} (counted from 0)"


def _check_filled(path: FilePath, column: Any, name: str, start: int = 0) -> Any:
    """Return a column without dictionary encoding; raise an error if a cell is empty."""
    if column.null_count:
        k = start + int(np.argmin(column.is_valid().to_numpy(zero_copy_only=False)))
        raise FileError(f"{path}, {_row(k)}: column {name!r} is empty; fill it in or drop the row")
    return column.dictionary_decode() if _is_type("dictionary", column.type) else column


def _as_numbers(path: FilePath, column: Any, name: str) -> Array:
    if not _is_type("number", column.type):
        raise FileError(f"{path}: column {name!r} is of type {column.type}; give numbers")
    values: Array = column.cast("float64", safe=False).to_numpy()
    return values


def _number_words(path: FilePath, ends: list[Any], place: dict[Hashable, int], start: int) -> IntArray:
    """Return the places of both ends among the names in ``place``, adding new names as they first appear."""
    import pyarrow

    both = pyarrow.concat_arrays(ends).dictionary_encode()
    codes, words = both.indices.to_numpy().reshape(2, -1), both.dictionary.to_pylist()
    if "" in words:
        k = start + int(np.argmax((codes == words.index("")).any(axis=0)))
        raise FileError(f"{path}, {_row(k)}: an endpoint is empty; fill it in or drop the row")
    along, first = codes.T.ravel(), np.empty(len(words), dtype=np.int64)
    first[along[::-1]] = np.arange(along.size)[::-1]
    places = np.empty(len(words), dtype=np.int64)
    order = np.argsort(first)
    places[order] = [place.setdefault(words[k], len(place)) for k in order.tolist()]
    found: IntArray = places[codes]
    return found
