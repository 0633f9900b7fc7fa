"""Labels from files: tables of ids and labels, and what people answered in other tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from askgraph.cli.options import find_project, say
from askgraph.errors import FileError


def read_labels(
    file: Path, ids: str | None, sheet: str | None = None, encoding: str | None = None
) -> list[tuple[str, str]]:
    """Read ids and labels from a table; leave out rows without a label, which nobody has answered yet.

    ``ids`` is the column that the ids of the project come from: the table may call the column of items so.
    """
    from askgraph.io.readers import has_columns
    from askgraph.workbench.export import unescape_formula
    from askgraph.workbench.guesses import item_column
    from askgraph.workbench.source import read_columns

    table = read_columns(file, sheet, encoding)
    for note in table.notes:
        say(f"{file}: {note}")
    items = item_column(file, table.header, ids, ("id", "item", "node"))
    has_columns(file, table.header, "label")
    pairs = zip(table.cells(items), table.cells("label"), strict=True)
    said = [(str(item), str(label)) for item, label in pairs if item is not None and label is not None]
    if file.suffix.casefold() != ".csv":
        return said
    return [(unescape_formula(item), unescape_formula(label)) for item, label in said]  # as askgraph writes csv files


def check_classes(path: Path, labels: Iterable[str | None]) -> None:
    """Raise an error if the project has classes and a label is not one of them."""
    from askgraph.workbench.project import Project

    if given := [label for label in labels if label is not None]:
        with Project.open(path) as project:
            project.log.check_classes(given)


def save_annotations(project: Path | None, file: Path, new: bool) -> None:
    """Save what people answered in Label Studio or Argilla, each under their own name; ``new`` allows new classes."""
    from askgraph.io.annotations import read_annotated
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.project import Project

    path = find_project(project)
    with Project.open(path) as opened:
        ids = opened.items.columns.get("id") or "id"
    found = read_annotated(file)
    by_name: dict[str, list[Any]] = {}
    for one in found.answers:
        kind = "label" if one.label is not None else "cannot"
        row = found.rows[one.row]
        by_name.setdefault(one.who, []).append((str(row.get(ids, row.get("id", one.row + 1))), kind, one.label))
    if not by_name:
        raise FileError(f"{file}: no answers of people in it; export annotations from Label Studio or Argilla as JSON")
    if not new:
        check_classes(path, [one.label for one in found.answers])
    with open_writer(path) as writer:
        saved = {name: writer.say(name, said) for name, said in by_name.items()}
    say(f"saved: {', '.join(f'{n} of {name}' for name, n in saved.items())}")
