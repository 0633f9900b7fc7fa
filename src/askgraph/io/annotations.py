"""JSON of labeling tools (Label Studio, Argilla) and plain lists of objects -> rows, answers of people, guesses of models."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.answers.shares import OneOf, one_of
from askgraph.errors import FileError
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.support.files import reading
from askgraph.support.wording import few
from askgraph.types import Array

OURSELVES = "askgraph"  # guesses of this program are not read back: they are no evidence of anybody else
ONE_OF_THESE = "one of these, nobody knows which"  # the note at choices in Label Studio of which an item has one
WHO = "askgraph_who"  # the entry of an Argilla record's metadata that has the names of the people who answered


ASKS = ("choices", "number", "rating")  # controls of Label Studio that an answer is read from
Said = str | float | tuple[str, ...] | OneOf  # a name, a number or a rating, several names or none, one of some


class Annotation(NamedTuple):
    """An answer of a person to the item of a row; no label means that the person could not tell.

    ``where`` is the place in the file, such as "task 3".
    """

    row: int
    who: str
    label: Said | None
    at: str = ""
    seconds: float | None = None
    where: str = ""


class Guess(NamedTuple):
    """A label that a model guesses for the item of a row."""

    row: int
    source: str
    label: Said
    score: float | None = None
    where: str = ""


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
        where = f"task {row + 1}"
        for one in _objects(task.get("annotations")):
            label = None if one.get("was_cancelled") else _said(f"{path}, {where}", one)
            if label is not None or one.get("was_cancelled"):
                at, seconds = _text(one.get("created_at")), _number(one.get("lead_time"))
                answers.append(Annotation(row, _annotator(one), label, at, seconds, where))
        for one in _objects(task.get("predictions")):
            source, label = _text(one.get("model_version")) or "model", _said(f"{path}, {where}", one)
            if source != OURSELVES and label is not None:
                guesses.append(Guess(row, source, label, _share(one.get("score")), where))
    rows = [{"id": task["id"], **task["data"]} if "id" in task else task["data"] for task in tasks]
    return Annotated(rows, answers, guesses)


def _said(where: str, annotation: dict[str, Any]) -> Said | None:
    """Return what an annotation says: the names it chooses, none where it is empty, or a number; None if it asks for others."""
    results = annotation.get("result")
    found = [one for one in _objects(results) if one.get("type") in ASKS and isinstance(one.get("value"), dict)]
    found = [one for one in found if one["type"] == "choices"] or found
    if len(asked := {_text(one.get("from_name")) for one in found}) > 1:
        raise FileError(
            f"{where}: several questions ({few(sorted(asked))}); an item has one answer here, so export one of them"
        )
    if not found:
        return () if results == [] else None
    if (kind := found[0]["type"]) != "choices":
        return _value(found[0]["value"].get(kind))
    names = tuple(str(name) for one in found for name in one["value"].get("choices") or ())
    if len(names) > 1 and _part(found[0], "meta").get("text") == [ONE_OF_THESE]:
        return one_of(*names)
    return names[0] if len(names) == 1 else names


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
        where = f"record {row + 1}"
        said = _objects(_part(record, "responses").get(question or ""))
        for k, one in enumerate(said):
            named = isinstance(names, list) and len(names) == len(said)
            who = _text(names[k] if named else one.get("user_id"))
            discarded = one.get("status") == "discarded"
            label = None if discarded else _value(one.get("value"))
            if discarded or label is not None:
                answers.append(Annotation(row, who or "annotator", label, where=where))
        for one in _objects(_part(record, "suggestions").get(question or "")):
            source, label = _text(one.get("agent")) or "model", _value(one.get("value"))
            if source != OURSELVES and label is not None:
                guesses.append(Guess(row, source, label, _share(one.get("score")), where))
    rows = [{"id": record["id"], **record["fields"]} if "id" in record else record["fields"] for record in records]
    return Annotated(rows, answers, guesses)


def _question(path: FilePath, records: list[dict[str, Any]]) -> str | None:
    """Return the name of the one question that is answered by names or text, or else of the one that is by numbers."""
    asked: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for record in records:
        for part in ("responses", "suggestions"):
            for name, said in _part(record, part).items():
                for value in (_value(one.get("value")) for one in _objects(said)):
                    if value is not None:
                        asked[isinstance(value, str | tuple)][name] = None
    names = list(asked[True] or asked[False])
    if len(names) > 1:
        raise FileError(f"{path}: several questions ({few(names)}); an item has one answer here, so export one of them")
    return next(iter(names), None)


def _value(value: Any) -> str | float | tuple[str, ...] | None:
    """Return a name, a number, or a list of names; None for anything else."""
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        return tuple(map(str, value))
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else None


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
