"""Export predictions and answers as csv, xlsx, jsonl, json or parquet."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from askgraph.errors import FileError, MissingExtraError
from askgraph.io.text import FilePath
from askgraph.kinds import Kind
from askgraph.support.files import replacing
from askgraph.workbench.answers import IMPORT
from askgraph.workbench.forms import MARK, NONE, Form, Label
from askgraph.workbench.formulas import escape_formula
from askgraph.workbench.items import GIVEN_VECTORS
from askgraph.workbench.model import Predictions
from askgraph.workbench.project import Project
from askgraph.workbench.rejoining import has_given_vectors
from askgraph.workbench.spreadsheet import write_sheet
from askgraph.workbench.store import Item

DIGITS = 4  # decimals of probabilities
OURS = ("label", "probability", "source", "who", "how", "aside", "variance")  # columns beside those of the table
# columns of an answer; "predicted before" is of a spot check
DECIDED, ROLE = "decided by", "role"  # columns of predictions and of answers where leads have answered
ANSWER = ("id", "answer", "label", "who", "at", "seconds", "predicted before", "how", "guidelines")
NOTED = ("reasons", "comments")  # columns of a project in which some are given
Row = dict[str, Any]


def prediction_rows(project: Project) -> Iterator[Row]:
    """Yield one row per item: its own columns, then its label, how likely that is, who or what said so and how, and each class.

    Numbers have no probability; they and ordered classes have the ends of a range, "low" and "high". Several classes are a list.
    A column of the table that has one of our names is called "label (table)" and so on. Where leads have answered, "decided by"
    says whose word decides against others.
    """
    found, answers, kind = project.predictions(), project.answers, project.answers.kind
    ends = ["low", "high"] if kind.ranged else []
    columns, noted = [f"p({name})" for name in found.classes], note_columns(project)
    led, leads = [DECIDED] if answers.has_leads else [], answers.decided()
    own = own_columns(project, ["id", *OURS, *led, *ends, *noted, *columns])
    p, variance = np.round(found.probabilities, DIGITS), found.variance
    for item in project.store.every():
        place = item.place
        aside = answers.aside.get(place)
        label = found.labels[place] if aside != "invalid" else None
        given = answers.of(place).items() if place in answers.labels else ()
        said = [who for who, a in given if a.label is not None]
        ours = {
            "label": to_cell(answers.form, label, place in answers.labels),
            **_how_sure(kind, found, place, label),
            "source": None if label is None else source_of(said),
            "who": ", ".join(said) or None,
            "how": ", ".join(answers.ways(place)) or None,
            **dict.fromkeys(led, f"lead {leads[place]}" if place in leads else None),
            "aside": aside,
            "variance": float(f"{variance[place]:.{DIGITS}g}"),
            **note_cells(project, place, noted),
            **dict(zip(columns, map(float, p[place]), strict=True)),
        }
        yield {"id": item.id, **own(item), **ours}


def note_columns(project: Project) -> list[str]:
    """Return the columns of what people noted: reasons where a class can have some, comments where an item has some."""
    answers = project.answers
    reasoned = any(answers.naming.reasons(name) for name in answers.classes) or answers.notes.reasoned
    return [name for name, there in zip(NOTED, (reasoned, answers.notes.commented), strict=True) if there]


def note_cells(project: Project, place: int, noted: Collection[str]) -> Row:
    """Return what people noted on an item, for these columns: reasons as a list, comments as lines with their authors."""
    said = "\n".join(f"{one.who}: {one.text}" for one in project.answers.notes.comments(place))
    cells = {"reasons": project.answers.reasons(place) or None, "comments": said or None}
    return {name: cells[name] for name in noted}


def to_cell(form: Form, label: Label | None, given: bool = True) -> Any:
    """Return an answer as a row holds it: several classes as a list, which a table joins; a predicted number to a few digits."""
    if label is None or isinstance(label, tuple):
        return None if label is None else list(label)
    cell = form.write(label)
    return cell if given else short(cell)


def short(cell: Any) -> Any:
    """Return a number to a few digits, and text as it is.

    >>> short(12.3456789), short("good")
    (12.3457, 'good')
    """
    return float(f"{cell:.{DIGITS + 2}g}") if isinstance(cell, float) else str(cell)


def _how_sure(kind: Kind, found: Predictions, place: int, label: Label | None) -> Row:
    """Return how probable a label is, and the range that another answer would be in, as far as the kind of answers has these."""
    none = label is None
    sure: Row = {"probability": None if none else float(np.round(found.sure[place], DIGITS))} if kind.by_class else {}
    if not kind.ranged:
        return sure
    if none or found.low is None or found.high is None:
        return {**sure, "low": None, "high": None}
    return {**sure, "low": short(found.low[place]), "high": short(found.high[place])}


def source_of(said: list[str]) -> Literal["predicted", "imported", "answered"]:
    """Return where a label comes from, by the people who gave it: nobody, a file, or somebody."""
    return "predicted" if not said else "imported" if said == [IMPORT] else "answered"


def own_columns(project: Project, taken: Iterable[str] = ()) -> Callable[[Item], Row]:
    """Return a function from an item to the columns that the table had; its column of ids too, unless that is called id.

    A name that is ``taken`` gets an addition, so that no column is lost. Numbers of vectors are written as numbers.
    """
    fields, columns, vectors = project.about["fields"], project.items.columns, _vector_cells(project)
    id = None if columns.get("id") == "id" else columns.get("id")
    image = (columns.get("image") or "image") if project.about["images"] is not None else None
    written = _free_names([name for name in (id, *fields, image, *vectors) if name is not None], set(taken))

    def cell(item: Item, name: str) -> Any:
        if name in fields:
            return item.fields.get(name)
        return vectors[name](item.place) if name in vectors else item.image if name == image else item.id

    return lambda item: {free: cell(item, name) for name, free in written.items()}


def _free_names(names: Sequence[str], taken: set[str]) -> dict[str, str]:
    """Return the name that each column of the table is written by: its own, or with an addition where that is taken."""
    used, written = {*names, *taken}, {name: name for name in names}
    for name in taken.intersection(names):
        free = f"{name} (table)"
        while free in used:
            free = f"{free} (table)"
        used.add(free)
        written[name] = free
    return written


def lost_columns(project: Project) -> list[str]:
    """Return the columns of vectors that the project does not hold anymore, since an earlier version put others in their place."""
    names = list(project.items.columns.get("vector_columns") or ()) if project.about.get("vectors") else []
    return [] if names and has_given_vectors(project) else names


def _vector_cells(project: Project) -> dict[str, Callable[[int], Any]]:
    """Return a function from the place of an item to its cell, for each column that is stored among the vectors."""
    places: dict[str, int | None] = project.items.columns.get("vector_columns") or {}
    if not places or lost_columns(project):
        return {}
    rows = project.store.array(GIVEN_VECTORS).reshape(project.items.n_items, -1)

    def cell(k: int | None, place: int) -> Any:
        if k is None:
            return json.dumps(rows[place].tolist())
        value = float(rows[place, k])
        return int(value) if value.is_integer() and abs(value) < 2**53 else value

    return {name: partial(cell, k) for name, k in places.items()}


def answer_rows(project: Project) -> Iterator[Row]:
    """Yield one row per current answer: the item with its fields, who answered what and when, and whether as a lead."""
    answers, noted = project.answers, note_columns(project)
    led = [ROLE] if answers.has_leads else []
    own = own_columns(project, [*ANSWER, *led, *noted])
    standing = [a for a in answers.log.values() if answers.counts(a)]
    items = {item.place: item for item in project.store.items({a.item for a in standing})}
    for a in standing:
        item = items[a.item]
        label, predicted = (to_cell(answers.form, one) for one in (a.label, a.predicted))
        said = (item.id, a.kind, label, a.who, a.at, a.seconds, predicted, a.how, answers.version(a))
        mine = note_cells(project, a.item, noted) | {"reasons": list(answers.notes.reasons(a)) or None}
        role = dict.fromkeys(led, "lead" if answers.is_led(a) else None)
        yield {**dict(zip(ANSWER, said, strict=True)), **role, **{name: mine[name] for name in noted}, **own(item)}


def joined(cell: Any) -> Any:
    """Return a cell for a table, which joins a list of classes.

    >>> joined(["cat", "dog"]), joined([]), joined("cat")
    ('cat|dog', '(none)', 'cat')
    """
    return (MARK.join(cell) or NONE) if isinstance(cell, list) else cell


def to_csv(rows: Iterable[Row]) -> Iterator[str]:
    """Yield lines of csv with lists joined and formulas made harmless."""
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\r\n")  # csv quotes cells with these characters: a lone \r, too
    for k, row in enumerate(rows):
        if k == 0:
            writer.writerow(map(escape_formula, row))
        writer.writerow(map(escape_formula, map(joined, row.values())))
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def to_jsonl(rows: Iterable[Row]) -> Iterator[str]:
    """Yield one JSON object per line."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def to_json(rows: Iterable[Row]) -> Iterator[str]:
    """Yield one JSON list of objects."""
    opening = "[\n"
    for row in rows:
        yield opening + json.dumps(row, ensure_ascii=False)
        opening = ",\n"
    yield "[]\n" if opening == "[\n" else "\n]\n"


TEXTS: dict[str, Callable[[Iterable[Row]], Iterator[str]]] = {".csv": to_csv, ".jsonl": to_jsonl, ".json": to_json}


def to_parquet(rows: Iterable[Row]) -> bytes:
    """Return a parquet file; columns that mix text and numbers, or hold too large integers, become text."""
    try:
        import pyarrow
        from pyarrow.parquet import write_table
    except ImportError:
        raise MissingExtraError('parquet needs pyarrow: pip install "askgraph[tables]"') from None
    listed = list(rows)
    columns = {name: [row[name] for row in listed] for name in (listed[0] if listed else {})}
    table = pyarrow.table({name: _as_one_type(cells) for name, cells in columns.items()})
    file = io.BytesIO()
    write_table(table, file)
    return file.getvalue()


def _as_one_type(cells: list[Any]) -> list[Any]:
    kinds = {type(cell) for cell in cells if cell is not None}
    largest = 2**53 if float in kinds else 2**63 - 1  # beyond, a float64 or an int64 would change the number
    exact = all(abs(cell) <= largest for cell in cells if type(cell) is int)
    if exact and (len(kinds) < 2 or kinds == {int, float}):
        return cells
    return [cell if cell is None else str(cell) for cell in cells]


def _all_joined(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        yield {name: joined(cell) for name, cell in row.items()}


def number_columns(project: Project) -> set[str]:
    """Return how the columns of a project that hold numbers are called in an export."""
    numbers = [name for name, kind in project.about["fields"].items() if kind == "number"]
    return {
        *(name for name in numbers if name not in (*OURS, *ANSWER, *NOTED)),
        *(f"{name} (table)" for name in numbers),
    }


def write_rows(path: FilePath, rows: Iterable[Row], encoding: str = "utf-8", numbers: Collection[str] = ()) -> None:
    """Write rows to a file of the type that its name says; a write that fails leaves no file.

    In a spreadsheet, text that says a number is one in the columns called ``numbers`` only.
    """
    kind = Path(path).suffix.casefold()
    if kind not in (*TEXTS, ".parquet", ".xlsx"):
        raise FileError(
            f"{path}: cannot write a file of type {kind or '(none)'}; use .csv, .xlsx, .jsonl, .parquet or .json"
        )
    try:
        with replacing(path) as file:
            if kind == ".parquet":
                file.write(to_parquet(rows))
            elif kind == ".xlsx":
                write_sheet(file, path, _all_joined(rows), numbers)
            else:
                file.writelines(codecs.iterencode(TEXTS[kind](rows), encoding))
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
