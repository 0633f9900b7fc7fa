"""JSON of labeling tools (Label Studio, Argilla) and plain lists of objects -> rows, answers of people, guesses of models."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import FileError
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.support.files import reading
from askgraph.support.wording import few
from askgraph.types import Array

OURSELVES = "askgraph"  # guesses of this program are not read back: they are no evidence of anybody else
WHO = "askgraph_who"  # the entry of an Argilla record's metadata that has the names of the people who answered


class Annotation(NamedTuple):
    """An answer of a person to the item of a row; no label means that the person could not tell."""

    row: int
    who: str
    label: str | None
    at: str = ""
    seconds: float | None = None


class Guess(NamedTuple):
    """A label that a model guesses for the item of a row."""

    row: int
    source: str
    label: str
    score: float | None = None


class Annotated(NamedTuple):
    """The items of a file by rows, with the answers and guesses that came with them."""

    rows: list[dict[str, Any]]
    answers: list[Annotation]
    guesses: list[Guess]


def read_annotated(path: FilePath) -> Annotated:
    """Read a list of Label Studio tasks, of Argilla records, or of other objects, which are rows without answers."""
    with reading(path, "JSON", "give a list of objects, as Label Studio and Argilla export it"):
        found = json.loads(Path(path).read_text("utf-8-sig"))
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise FileError(
            f"{path}: not a list of objects; export JSON from Label Studio or Argilla, or give one list of rows"
        )
    for inside, read in (("data", _label_studio), ("fields", _argilla)):
        if all(isinstance(one.get(inside), dict) for one in found):
            return read(path, found)
    return Annotated(found, [], [])


def json_table(path: FilePath) -> Table:
    """Read the rows of a JSON file as a table; its columns are the keys of all objects."""
    rows = read_annotated(path).rows
    header = list(dict.fromkeys(key for row in rows for key in row))

    def cells(name: str) -> list[Any]:
        return [row.get(name) for row in rows]

    def values(name: str) -> list[Hashable]:
        odd = next((k for k, cell in enumerate(cells(name)) if not isinstance(cell, int | str) or cell == ""), None)
        if odd is not None:
            raise FileError(f"{path}, object {odd + 1}: {name!r} is {cells(name)[odd]!r}; give integers or text")
        return cells(name)

    def numbers(name: str) -> Array:
        with reading(path, f"numbers in {name!r}", "fix the values or leave the column out"):
            return np.array([float(cell) for cell in cells(name)])

    return Table(header, numbers, values, cells, lambda k: f"object {k + 1}")


def _label_studio(path: FilePath, tasks: list[dict[str, Any]]) -> Annotated:
    answers, guesses = [], []
    for row, task in enumerate(tasks):
        where = f"{path}, task {row + 1}"
        for one in _objects(task.get("annotations")):
            label = None if one.get("was_cancelled") else _choice(where, one)
            if label is not None or one.get("was_cancelled"):
                answers.append(
                    Annotation(row, _annotator(one), label, _text(one.get("created_at")), _number(one.get("lead_time")))
                )
        for one in _objects(task.get("predictions")):
            source, label = _text(one.get("model_version")) or "model", _choice(where, one)
            if source != OURSELVES and label is not None:
                guesses.append(Guess(row, source, label, _share(one.get("score"))))
    rows = [{"id": task["id"], **task["data"]} if "id" in task else task["data"] for task in tasks]
    return Annotated(rows, answers, guesses)


def _choice(where: str, annotation: dict[str, Any]) -> str | None:
    """Return the class of an annotation; None if it chooses none."""
    chosen = [
        label
        for one in _objects(annotation.get("result"))
        if one.get("type") == "choices" and isinstance(one.get("value"), dict)
        for label in one["value"].get("choices") or ()
    ]
    if len(chosen) > 1:
        raise FileError(f"{where}: several classes for one item ({few(chosen)}); an item has one class here")
    return str(chosen[0]) if chosen else None


def _annotator(annotation: dict[str, Any]) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("first_name") or by.get("username") or by.get("id")
    return f"annotator {by}" if isinstance(by, int) else _text(by) or "annotator"


def _argilla(path: FilePath, records: list[dict[str, Any]]) -> Annotated:
    answers, guesses = [], []
    question = _question(path, records)
    for row, record in enumerate(records):
        names: Any = _part(record, "metadata").get(WHO)
        said = _objects(_part(record, "responses").get(question or ""))
        for k, one in enumerate(said):
            named = isinstance(names, list) and len(names) == len(said)
            who = _text(names[k] if named else one.get("user_id"))
            discarded = one.get("status") == "discarded"
            if discarded or one.get("value") is not None:
                answers.append(Annotation(row, who or "annotator", None if discarded else _text(one["value"])))
        for one in _objects(_part(record, "suggestions").get(question or "")):
            source, label = _text(one.get("agent")) or "model", one.get("value")
            if source != OURSELVES and label is not None:
                guesses.append(Guess(row, source, _text(label), _share(one.get("score"))))
    rows = [{"id": record["id"], **record["fields"]} if "id" in record else record["fields"] for record in records]
    return Annotated(rows, answers, guesses)


def _question(path: FilePath, records: list[dict[str, Any]]) -> str | None:
    """Return the name of the one question that is answered by a text."""
    asked = {
        name: None
        for record in records
        for part in ("responses", "suggestions")
        for name, said in _part(record, part).items()
        if any(isinstance(one.get("value"), str) for one in _objects(said))
    }
    if len(asked) > 1:
        raise FileError(
            f"{path}: several questions ({few(list(asked))}); an item has one class here, so export one of them"
        )
    return next(iter(asked), None)


def _part(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object within a record; an empty one where there is none."""
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _objects(part: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, or one object as a list; nothing for anything else."""
    listed = [part] if isinstance(part, dict) else part if isinstance(part, list) else []
    return [one for one in listed if isinstance(one, dict)]


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9 else None


def _share(value: Any) -> float | None:
    found = _number(value)
    return found if found is not None and found <= 1 else None
