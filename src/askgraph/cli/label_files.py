"""Labels from files: tables of ids and labels, and what people answered in other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from askgraph.cli.options import find_project, say
from askgraph.errors import FileError


def read_labels(file: Path, sheet: str | None = None, encoding: str | None = None) -> list[tuple[str, str]]:
    """Read ids and labels from a table; leave out rows without a label, which nobody has answered yet."""
    from askgraph.io.readers import has_columns
    from askgraph.workbench.export import unescape_formula
    from askgraph.workbench.source import read_columns

    table = read_columns(file, sheet, encoding)
    for note in table.notes:
        say(f"{file}: {note}")
    items = "node" if "node" in table.header and "id" not in table.header else "id"
    has_columns(file, table.header, items, "label")
    pairs = zip(table.cells(items), table.cells("label"), strict=True)
    said = [(str(item), str(label)) for item, label in pairs if item is not None and label is not None]
    if file.suffix.casefold() != ".csv":
        return said
    return [(unescape_formula(item), unescape_formula(label)) for item, label in said]  # as askgraph writes csv files


def save_annotations(project: Path | None, file: Path) -> None:
    """Save what people answered in Label Studio or Argilla, each under their own name."""
    from askgraph.io.annotations import read_annotated
    from askgraph.workbench.client import open_writer

    found = read_annotated(file)
    by_name: dict[str, list[Any]] = {}
    for one in found.answers:
        kind = "label" if one.label is not None else "cannot"
        by_name.setdefault(one.who, []).append((str(found.rows[one.row].get("id", one.row + 1)), kind, one.label))
    if not by_name:
        raise FileError(f"{file}: no answers of people in it; export annotations from Label Studio or Argilla as JSON")
    with open_writer(find_project(project)) as writer:
        saved = {name: writer.say(name, said) for name, said in by_name.items()}
    say(f"saved: {', '.join(f'{n} of {name}' for name, n in saved.items())}")
