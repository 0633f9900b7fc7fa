"""Join the items of a project anew, perhaps with further ones: by the columns that it was made with, from the cells it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import FileError, SettingError
from askgraph.graph.meaning import find_words
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.support.wording import few
from askgraph.types import Array
from askgraph.workbench.columns import compare_by, find_kinds
from askgraph.workbench.items import GIVEN_VECTORS
from askgraph.workbench.joining import Compared, Joined, join_items
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source


class Further(NamedTuple):
    """Items after those of a project: ids, cells by column (vectors among them), the file they are read from, graphs of all."""

    path: FilePath | None = None
    ids: Sequence[str] = ()
    cells: Mapping[str, Sequence[Any]] = {}
    graphs: Sequence[FilePath] = ()


def columns_of(project: Project) -> dict[str, Any]:
    """Return the columns that items came from, by what they are for."""
    columns = project.items.columns or _columns_of_old(project)
    made_by = project.about.get("vectors")
    if made_by and not made_by.get("beside"):  # an earlier version compared by the vectors of a model alone
        return {**columns, "vectors": None, "graphs": []}
    if made_by and columns["vectors"] not in (None, columns["image"]) and not has_given_vectors(project):
        return {**columns, "vectors": None}  # an earlier version put those of a model in their place
    return columns


def now_compared(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of items that are compared now, if that was left for later."""
    return {name: value for name, value in columns.items() if name != "later"}


def has_given_vectors(project: Project) -> bool:
    """Return whether a project holds the vectors that its items came with."""
    try:
        project.store.array(GIVEN_VECTORS)
    except KeyError:
        return False
    return True


def _columns_of_old(project: Project) -> dict[str, Any]:
    """Return the columns by which a project of an earlier version was made, as far as its items show; see ``Items.columns``."""
    fields = project.about["fields"]
    if not fields:
        raise SettingError(
            f"{project.store.path}: made by an earlier version, which did not note what joins its items; make it anew with init"
        )
    stored = stored_cells(project, list(fields))
    image = "image" if project.about["images"] is not None else None
    kinds = find_kinds(_table(stored), fields)
    by = compare_by(
        Source(project.store.path, image=image), {name: kind for name, kind in kinds.items() if kind != "boolean"}
    )
    if by is None:
        raise SettingError(f"{project.store.path}: what its items are compared by is not known; make it anew with init")
    chosen = {"features": None if by.texts else by.features, "text": by.texts, "image": image}
    numbered = project.store.ids() == [str(k + 1) for k in range(project.items.n_items)]
    return {
        "id": None if numbered else "id",
        "label": None,
        "vectors": None,
        "scale": None,
        "neighbors": 10,
        "graphs": [],
        **chosen,
    }


def compared_columns(project: Project, columns: dict[str, Any]) -> list[str]:
    """Return the columns of numbers and of text that items are compared by; raise an error if the project does not keep one."""
    names = [*(columns["features"] or ()), *(columns["text"] or ())]
    if hidden := [name for name in names if name not in project.about["fields"]]:
        raise SettingError(
            f"{project.store.path}: its items are compared by {few(hidden)}, which --show left out; make it anew with init"
        )
    return names


def compares(columns: dict[str, Any]) -> bool:
    """Return whether items are compared by columns, and not joined by edges alone."""
    return any(columns[way] is not None for way in ("features", "text", "vectors"))


def join_again(
    project: Project, columns: dict[str, Any], further: Further | None = None, embedded: Compared | None = None
) -> Joined:
    """Return what joins the items of a project and further ones, as `join_items` does for a new project of all of them.

    ``embedded`` are vectors from a model, which count beside the columns; where they are made of texts, these are not compared
    by the vectors of their words, too.
    """
    further = further or Further()
    stored = stored_cells(project, compared_columns(project, columns))
    if columns["vectors"] is not None:
        stored[columns["vectors"]] = _stored_vectors(project, columns)
    if (pictures := columns.get("pictures")) is not None:
        stored[pictures] = _stored_pictures(project)
    files = [*columns["graphs"], *further.graphs]
    if missing := [file for file in files if not Path(file).is_file()]:
        raise FileError(f"{missing[0]}: gone, and the items were joined by these edges too; put the file back")
    ways = {name: columns[name] for name in ("features", "text", "vectors", "scale", "neighbors")}
    read_by_model = embedded is not None and embedded.reads_texts
    meaning = "none" if read_by_model else _check_meaning(project, columns.get("meaning"))
    weights = columns.get("weights") or {}
    source = Source(
        further.path, files, images=project.about["images"], meaning=meaning, pictures=pictures, weights=weights, **ways
    )
    table = _table({name: [*cells, *further.cells.get(name, ())] for name, cells in stored.items()})
    return join_items(source, table, [*project.store.ids(), *further.ids], embedded)


def _stored_vectors(project: Project, columns: dict[str, Any]) -> list[Any]:
    """Return the vectors of the items, or the names of their pictures where these are compared."""
    if columns["vectors"] == columns["image"]:
        return _stored_pictures(project)
    return list(given_vectors(project))


def _stored_pictures(project: Project) -> list[str | None]:
    return [item.image for item in project.store.every()]


def given_vectors(project: Project) -> Array:
    """Return the vectors that the items came with; raise an error if the project does not hold them."""
    try:
        return project.store.array(GIVEN_VECTORS).reshape(project.items.n_items, -1)
    except KeyError:
        raise SettingError(
            f"{project.store.path}: does not hold the vectors it was made with; make it anew with init"
        ) from None


def stored_cells(project: Project, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the cells of some fields of all items, by column."""
    cells: dict[str, list[Any]] = {name: [] for name in names}
    for item in project.store.every():
        for name in names:
            cells[name].append(item.fields.get(name))
    return cells


def _table(cells: dict[str, list[Any]]) -> Table:
    """Return columns as a table."""
    return Table(
        list(cells), lambda name: np.array(cells[name], float), cells.__getitem__, cells.__getitem__,
        lambda k: f"row {k + 1}",
    )  # fmt: skip


def _check_meaning(project: Project, made_with: dict[str, str] | None) -> str:
    """Return the vectors of words by which the texts of a project are compared; raise an error if they are not those here."""
    if made_with is None:
        return "none"
    here = find_words()
    if here is None or here.describe() != made_with:
        named = f"{made_with['name']} {made_with['version']}"
        found = "it is not installed" if here is None else f"{here} is installed, which may compare them otherwise"
        raise SettingError(
            f"{project.store.path}: its texts are compared by the vectors of {named}, and {found}; "
            f"pip install {made_with['name']}=={made_with['version']} tokenizers"
        )
    return here.package
