"""Labels from files: tables of ids and labels, and what people answered in other tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askgraph.cli.options import find_project, say
from askgraph.errors import FileError

if TYPE_CHECKING:
    from askgraph.workbench.forms import Label
    from askgraph.workbench.project import Project


def read_labels(
    file: Path, ids: str | None, sheet: str | None = None, encoding: str | None = None
) -> list[tuple[str, str]]:
    """Read ids and labels from a table; leave out rows without a label, which nobody has answered yet.

    ``ids`` is the column that the ids of the project come from: the table may call the column of items so.
    """
    from askgraph.io.readers import has_columns
    from askgraph.workbench.formulas import without_marks
    from askgraph.workbench.guesses import item_column
    from askgraph.workbench.source import read_columns

    table = without_marks(read_columns(file, sheet, encoding), file)
    for note in table.notes:
        say(f"{file}: {note}")
    items = item_column(file, table.header, ids, ("id", "item", "node"))
    has_columns(file, table.header, "label")
    pairs = zip(table.cells(items), table.cells("label"), strict=True)
    return [(str(item), str(label)) for item, label in pairs if item is not None and label is not None]


def read_answers(
    project: Project, file: Path, sheet: str | None = None, encoding: str | None = None
) -> list[tuple[str, Label, str | None]]:
    """Read ids, answers of the kind of a project and who gave them from a table that comes back; leave out unanswered rows.

    Answers are in a column called label or labels; where items have several classes, perhaps in one column per class. A column
    called who names the person of each row, but in a table of predictions, where it lists all who answered an item.
    """
    from askgraph.workbench.answer_cells import answer_columns
    from askgraph.workbench.answer_cells import read_answers as read_rows
    from askgraph.workbench.formulas import without_marks
    from askgraph.workbench.guesses import item_column
    from askgraph.workbench.names import check_name
    from askgraph.workbench.source import read_columns

    table = without_marks(read_columns(file, sheet, encoding), file)
    for note in table.notes:
        say(f"{file}: {note}")
    form, naming, classes = project.answers.form, project.answers.naming, project.answers.classes
    items = item_column(file, table.header, project.items.columns.get("id"), ("id", "item", "node"))
    columns = answer_columns(file, table.header, form, classes, naming.meant)
    labels = read_rows(table, columns, form, naming.heard, lambda label: form.check(label, classes, naming.meant))
    named = "who" in table.header and "source" not in table.header and "who" not in columns  # a class may be called so
    people = table.cells("who") if named else [None] * len(labels)
    rows = zip(table.cells(items), labels, people, strict=True)
    return [
        (str(item), label, None if who is None else check_name(who, "person"))
        for item, label, who in rows
        if item is not None and label is not None
    ]


def check_classes(path: Path, labels: Iterable[Any]) -> None:
    """Raise an error if the project has classes and a label is not one of them."""
    from askgraph.workbench.project import Project

    if given := [label for label in labels if label is not None]:
        with Project.open(path) as project:
            project.log.check_classes(given)


def save_annotations(project: Path | None, file: Path, new: bool) -> None:
    """Save what people answered in Label Studio or Argilla, each under their own name; ``new`` allows new classes."""
    from askgraph.io.annotations import read_annotated
    from askgraph.workbench.answer_cells import said_elsewhere
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.project import Project

    path, found = find_project(project), read_annotated(file)
    with Project.open(path) as opened:
        ids, form, classes = opened.items.columns.get("id") or "id", opened.answers.form, opened.answers.classes
        meant = opened.answers.naming.meant
        answers = said_elsewhere(file, found, form, lambda label: form.check(label, classes, meant))
    turns: Counter[int] = Counter()  # of answers to an item, saved in their order: of two the later one may count
    by_turn: dict[tuple[int, str], list[Any]] = {}
    for one, label in answers:
        kind = "label" if label is not None else "cannot"
        row = found.rows[one.row]
        said = by_turn.setdefault((turns[one.row], one.who), [])
        said.append((str(row.get(ids, row.get("id", one.row + 1))), kind, label))
        turns[one.row] += 1
    if not by_turn:
        raise FileError(f"{file}: no answers of people in it; export annotations from Label Studio or Argilla as JSON")
    if not new:
        check_classes(path, [label for _, label in answers])
    with open_writer(path) as writer:
        saved = Counter[str]()
        for (_, name), said in sorted(by_turn.items(), key=lambda turn: turn[0][0]):
            saved[name] += writer.say(name, said)
    say(f"saved: {', '.join(f'{n} of {name}' for name, n in saved.items())}")
