"""Add rows to a project, and remove items from it for good.

An addition is prepared as a file of its own beside the project: the new items, and the graph over all items. That takes as
long as comparing items takes, and needs no lock; the writer of the project, a server perhaps, then takes it in at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import AskgraphError, BusyError, FileError, LabelError, SettingError
from askgraph.graph import Graph
from askgraph.io.readers import has_columns, read_graph
from askgraph.io.tables import Table
from askgraph.io.text import FilePath, is_number
from askgraph.support.arguments import listed
from askgraph.support.progress import working
from askgraph.types import AnyArray, Array
from askgraph.workbench.backup_files import list_backups
from askgraph.workbench.cells import number, one_line, to_stored
from askgraph.workbench.embedding import compared_by_model, embed_new, join_embedded, split_parts, stored_vectors
from askgraph.workbench.items import GIVEN_VECTORS, Items, check_ids, read_labels
from askgraph.workbench.joining import Joined, place_graph, read_vectors
from askgraph.workbench.project import Project
from askgraph.workbench.rejoining import (
    Further,
    columns_of,
    compared_columns,
    compares,
    given_vectors,
    join_again,
    now_compared,
)
from askgraph.workbench.rules import guesses_of_rules
from askgraph.workbench.source import read_columns
from askgraph.workbench.store import FEATURES, GRAPH_ARRAYS, Store

ADDITION = ".adding"  # how the name of an addition ends


class Addition(NamedTuple):
    """A file with new items, beside the project; their number, how many rows were there already, sentences about the graph."""

    path: Path
    items: int
    known: int
    notes: list[str]


class Removed(NamedTuple):
    """What was removed: items, lines of the log; and the files beside the project that still hold them."""

    items: int
    lines: int
    elsewhere: list[str]


class _New(NamedTuple):
    """New items, the table they come from and their rows in it, and how many rows were there already."""

    items: Items
    known: int
    table: Table | None = None
    rows: Sequence[int] = ()


def prepare_addition(
    project: Project,
    table: FilePath | None,
    graphs: Sequence[FilePath] = (),
    vectors: str | None = None,
    every: bool = False,
    sheet: str | None = None,
    encoding: str | None = None,
) -> Addition:
    """Read new rows, join them to the items of a project as these are joined, and write that to a file beside the project.

    The graph is the one that a new project of all rows would have. Rows that the project has are left out: those whose id it
    has, and where ids are row numbers those that it holds at least as often, unless ``every`` row is to be taken. ``graphs``
    are further edges over ids (row numbers count all rows then, so none is left out), ``vectors`` the vectors of the new rows,
    where the project has such; ``sheet`` and ``encoding`` say how the table is read, as in `read_columns`.
    """
    columns = columns_of(project)
    rows = None if table is None else _read_rows(project, table, sheet, encoding)
    new = _new_items(project, columns, table, rows, graphs, vectors, every)
    if not new.items.ids:
        more = "; --all takes them" if columns["id"] is None and table is not None else ""
        raise FileError(
            f"{table or graphs[0]}: all {new.known:,} rows are in {project.store.path} already; nothing to add{more}"
        )
    joined, arrays = _join_all(project, columns, new, table, graphs, vectors)
    columns = {**columns, "graphs": [*columns["graphs"], *(str(Path(graph).absolute()) for graph in graphs)]}
    path, notes = _write(project, columns, new.items, joined, arrays)
    left = _apply_rules(project, path) if project.answers.naming.rules else []
    return Addition(path, len(new.items.ids), new.known, [*(rows.notes if rows else ()), *notes, *left])


def _apply_rules(project: Project, path: Path) -> list[str]:
    """Let the rules of a project guess for the items of an addition; return sentences on those that could not be applied."""
    with Store.open(path, write=True) as addition:
        guesses, left = guesses_of_rules(project.answers.naming, project.items, list(addition.every()))
        addition.add_guesses(guesses)
    return left


def prepare_comparison(project: Project) -> Addition:
    """Compare the items of a project that were left for later; return an addition without items, which joins them."""
    columns = columns_of(project)
    path, notes = _write(project, columns, Items([]), join_again(project, columns), {})
    return Addition(path, 0, project.items.n_items, notes)


def _write(
    project: Project, columns: dict[str, Any], items: Items, joined: Joined, arrays: dict[str, AnyArray]
) -> tuple[Path, list[str]]:
    """Write an addition to a file beside the project; return its path, and sentences about the graph."""
    notes = [*joined.notes, *joined.graph.notes]
    about: dict[str, Any] = {"graph": notes, "source": now_compared(columns), "goes with": _state_of(project.store)}
    about["changes"] = project.answers.changes
    path = project.store.path.resolve()
    path = path.with_name(f"{path.name}.{uuid4().hex}{ADDITION}")
    Store.create(path, replace(items, features=joined.features, arrays=arrays), joined.graph, about)
    return path, notes


def _state_of(store: Store) -> str:
    """Return a text that changes when items come or go, and once they are compared."""
    return store.fingerprint + (" apart" if "later" in (store.about.get("source") or {}) else "")


def rows_there(project: Project, table: Table) -> int:
    """Return how many rows of a table a project has already: equal in what it keeps of them, ids too unless they are row numbers.

    Labels are not compared: they come and go. None is there if the table lacks a column that the project keeps.
    """
    try:
        return sum(_are_there(project, columns_of(project), table, "the table", None))
    except AskgraphError:  # vectors that are missing, or of another length
        return 0


def _are_there(
    project: Project, columns: dict[str, Any], table: Table, path: FilePath, vectors: str | None
) -> list[bool]:
    """Return for each row of a table whether the project has it; of equal rows, as many as it has."""
    kinds = {name: kind for name, kind in project.about["fields"].items() if name not in project.items.unseen}
    beside = {use: columns[use] for use in ("id", "image") if columns[use] is not None}
    by_vectors = columns["vectors"] is not None and columns["vectors"] != columns["image"]
    if not {*kinds, *beside.values()} <= set(table.header) or not (kinds or beside or by_vectors):
        return [False] * len(table.cells(table.header[0]))
    items = list(project.store.every())
    stored = [[_same(item.fields.get(name), kind) for item in items] for name, kind in kinds.items()]
    added = [[_same(to_stored(cell), kind) for cell in table.cells(name)] for name, kind in kinds.items()]
    stored += [[getattr(item, use) for item in items] for use in beside]
    added += [[one_line(cell) for cell in table.cells(name)] for name in beside.values()]
    if by_vectors:
        old, new = _both_vectors(project, columns, table, path, vectors)
        stored, added = [*stored, [row.tobytes() for row in old]], [*added, [row.tobytes() for row in new]]
    left = Counter(zip(*stored, strict=True))
    found = []
    for row in zip(*added, strict=True):
        found.append(left[row] > 0)
        left[row] -= 1
    return found


def _same(cell: Any, kind: str) -> Any:
    """Return a stored cell such that equal cells are equal, whichever type of file they come from.

    A decimal comma is a point: earlier versions stored it as it came.
    """
    if isinstance(cell, str) and cell.count(",") == 1 and is_number(point := cell.replace(",", ".")):
        cell = point
    if kind != "number" or cell is None or cell == "" or number(cell) is None:
        return None if cell is None or cell == "" else str(cell)
    whole = isinstance(cell, int) or (isinstance(cell, str) and re.fullmatch("-?[0-9]+", cell))
    return int(cell) if whole else number(cell)  # whole numbers of any length stay apart


def _read_rows(project: Project, path: FilePath, sheet: str | None, encoding: str | None) -> Table:
    if Path(path).is_dir() and Path(path).resolve() != Path(project.about["images"] or "").resolve():
        raise SettingError(
            f"{path}: pictures of this project lie in {project.about['images']}; put new ones there, and add that folder"
        )
    with working(f"reading {Path(path).name}"):
        return read_columns(path, sheet, encoding)


def _new_items(
    project: Project,
    columns: dict[str, Any],
    table: FilePath | None,
    found: Table | None,
    graphs: Sequence[FilePath],
    vectors: str | None,
    every: bool,
) -> _New:
    """Return the new items of a table, or else of the nodes of graphs."""
    known = {id: place for place, id in enumerate(project.store.ids())}
    if table is None or found is None:
        if not graphs:
            raise SettingError("add what? give a table with new rows (askgraph add more.csv), or edges with --graph")
        names = [one_line(graph.name(k)) or "" for graph in map(read_graph, graphs) for k in range(graph.n_nodes)]
        fresh = [name for name in dict.fromkeys(names) if name not in known]
        return _New(Items(fresh), len(set(names)) - len(fresh))
    if columns["id"] is not None:
        has_columns(table, found.header, columns["id"])
        ids = check_ids(table, found.cells(columns["id"]), found.where)
        there = [id in known for id in ids]
    else:
        last = max((int(id) for id in known if id.isdecimal()), default=project.items.n_items)
        none = [False] * len(found.cells(found.header[0]))
        there = none if every or graphs else _are_there(project, columns, found, table, vectors)
        ids = [str(last + count) for count in accumulate(not one for one in there)]
    keep = [k for k, one in enumerate(there) if not one]
    image, label = columns["image"], columns["label"]
    labeled = [label] if isinstance(label, str) else list(label or ())
    wanted = [name for name in {*project.about["fields"], image, *labeled} if name]
    header = set(found.header)
    cells = {name: _cells(found, name, keep) if name in header else [None] * len(keep) for name in wanted}
    fields = {name: [to_stored(cell) for cell in cells[name]] for name in project.about["fields"]}
    images = None if project.about["images"] is None else [one_line(cell) for cell in cells[image]]
    classes = project.answers.classes
    said = (
        read_labels(found, labeled, project.answers.form, classes) if labeled and header.issuperset(labeled) else None
    )
    labels = None if said is None else [said[k] for k in keep]
    return _New(Items([ids[k] for k in keep], fields, images, labels), len(ids) - len(keep), found, keep)


def _cells(table: Table, name: str, keep: Sequence[int]) -> list[Any]:
    cells = table.cells(name)
    return [cells[k] for k in keep]


def _join_all(
    project: Project,
    columns: dict[str, Any],
    new: _New,
    path: FilePath | None,
    graphs: Sequence[FilePath],
    vectors: str | None,
) -> tuple[Joined, dict[str, AnyArray]]:
    """Return what joins all items, and the vectors to keep: by a model, by the columns, or by edges alone."""
    items, made_by = new.items, project.about.get("vectors")
    ids = [*project.store.ids(), *items.ids]
    if not made_by and not compares(columns):
        return _join_edges(project, items, ids, graphs), {}
    embedded, kept = None, dict[str, AnyArray]()
    if made_by:
        found = embed_new(project, items)
        embedded, kept = compared_by_model(made_by, found), split_parts(found)
        if not made_by.get("beside"):  # an earlier version compared by these alone
            return join_embedded(embedded, columns["neighbors"]), kept
    further = Further(path, items.ids, _compared_cells(project, columns, new, path, vectors), graphs)
    joined = join_again(project, columns, further, embedded)
    return joined, kept if joined.vectors is None else {**kept, GIVEN_VECTORS: joined.vectors.ravel()}


def _compared_cells(
    project: Project, columns: dict[str, Any], new: _New, path: FilePath | None, vectors: str | None
) -> dict[str, Sequence[Any]]:
    """Return what new items are compared by: cells by column, the vectors or the names of pictures among them."""
    if not compares(columns):
        return {}
    if new.table is None or path is None:
        raise SettingError("the items of this project are compared by their columns: give a table with the new rows")
    names = compared_columns(project, columns)
    has_columns(path, new.table.header, *names)
    cells: dict[str, Sequence[Any]] = {name: new.items.fields[name] for name in names}
    if columns.get("pictures") is not None:
        cells[columns["pictures"]] = new.items.images or ()
    if columns["vectors"] is None:
        return cells
    if columns["vectors"] == columns["image"]:
        return {**cells, columns["vectors"]: new.items.images or ()}
    _, rows = _both_vectors(project, columns, new.table, path, vectors)
    return {**cells, columns["vectors"]: list(rows[new.rows])}


def _join_edges(project: Project, items: Items, ids: list[str], graphs: Sequence[FilePath]) -> Joined:
    """Return the stored edges and further ones over old and new items."""
    if not graphs:
        raise SettingError(
            "the items of this project are joined by edges alone: give those of the new ones with --graph"
        )
    edges = project.graph.weights.tocoo()
    total = csr_array((edges.data, (edges.row, edges.col)), shape=(len(ids), len(ids)))
    for graph in graphs:
        total = total + place_graph(graph, ids).weights
    names = ", ".join(Path(graph).name for graph in graphs)
    return Joined(Graph(csr_array(total)), [*project.about["graph"], f"then edges of {names}"])


def _both_vectors(
    project: Project, columns: dict[str, Any], table: Table, path: FilePath, vectors: str | None
) -> tuple[Array, Array]:
    """Return the vectors of the items, and those of the rows of a table."""
    old = given_vectors(project)
    if vectors is None and Path(columns["vectors"]).suffix in (".npy", ".npz"):
        raise SettingError(
            "the items of this project are compared by vectors: give those of the new rows with --vectors FILE"
        )
    new = read_vectors(path, table, vectors or columns["vectors"])
    if new.shape[1] != old.shape[1]:
        raise SettingError(f"vectors of {new.shape[1]} numbers, where those of the project have {old.shape[1]}")
    return old, new


def take_in(store: Store, name: str) -> int:
    """Take in an addition that lies beside the project, and delete its file; return the number of new items."""
    with open_addition(store, name) as addition:
        return store.take_in(addition)


@contextmanager
def open_addition(store: Store, name: str) -> Iterator[Store]:
    """Open an addition that lies beside the project, and delete its file in the end; raise an error if it cannot be taken in."""
    path = store.path.resolve()
    start, _, rest = name.rpartition(f"{path.name}.")
    if start or not rest.removesuffix(ADDITION).isalnum() or not rest.endswith(ADDITION):
        raise LabelError(f"no addition called {name!r}; askgraph add makes one")
    file = path.with_name(name)
    try:
        with Store.open(file) as addition:
            if addition.about.get("goes with") != _state_of(store):
                raise BusyError(
                    f"{store.path}: items came or went, or were compared meanwhile, so nothing was added; give the command again"
                )
            later = store.changes(addition.about.get("changes", 0))
            if addition.n_items and any(change.kind == "rule" for change in later):
                raise BusyError(
                    f"{store.path}: a rule was made meanwhile, so nothing was added; give the command again"
                )
            yield addition
    finally:
        discard(file)


def discard(addition: Path) -> None:
    """Delete the file of an addition, and what SQLite keeps beside it."""
    for end in ("", "-wal", "-shm"):
        Path(f"{addition}{end}").unlink(missing_ok=True)


def places_to_remove(project: Project, ids: Sequence[str]) -> list[int]:
    """Return the places of items that are to be removed; raise an error if one is not there, or if they are all items."""
    gone = sorted({project.items.place(id) for id in listed(ids, "ids")})
    if len(gone) == project.items.n_items:
        raise SettingError("these are all items: a project needs one; delete the file instead")
    return gone


def remove_items(project: Project, ids: Sequence[str]) -> Removed:
    """Delete items for good, with every answer to them; their neighbors lose the edges to them."""
    gone = places_to_remove(project, ids)
    store, keep = project.store, np.delete(np.arange(project.items.n_items), gone)
    weights = csr_array(project.graph.weights[keep][:, keep])
    arrays: dict[str, AnyArray] = {name: getattr(Graph(weights).weights, name) for name in GRAPH_ARRAYS}
    if (features := store.features()) is not None:
        arrays[FEATURES] = features[keep].ravel()
    arrays |= _vectors_without(project, keep)
    lines = store.erase(gone, arrays)
    held = [backup.path.name for backup in list_backups(store.path)]
    old = sorted(path.name for path in store.path.resolve().parent.glob(f"{store.path.name}*.old"))
    return Removed(len(gone), lines, [*held, *old])


def _vectors_without(project: Project, keep: AnyArray) -> dict[str, AnyArray]:
    """Return the stored vectors of the items that stay, by the names of their arrays."""
    kept: dict[str, AnyArray] = {}
    if project.about.get("vectors"):
        with suppress(KeyError):  # the run that embeds them was stopped: the next one begins anew
            kept |= split_parts(stored_vectors(project)[keep])
    with suppress(KeyError):
        given = project.store.array(GIVEN_VECTORS).reshape(project.items.n_items, -1)
        kept[GIVEN_VECTORS] = given[keep].ravel()
    return kept
