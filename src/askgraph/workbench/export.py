"""Export predictions and answers as csv, jsonl, parquet, or Label Studio's JSON."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from askgraph.errors import FileError, MissingExtraError
from askgraph.io.text import FilePath, is_number
from askgraph.support.files import replacing
from askgraph.workbench.answers import Answer
from askgraph.workbench.project import Project

FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")  # the start of a cell that a spreadsheet would compute, escaped or not
SPLIT = re.compile(r"([;\t\r\n]+)")  # where spreadsheets of some countries begin another cell, also within quotes
Row = dict[str, Any]


def prediction_rows(project: Project) -> Iterator[Row]:
    """Yield one row per item: label, whether it is predicted, probability of each class, variance, who labeled the item."""
    found, answers = project.predictions(), project.answers
    columns = [f"p({name})" for name in found.classes]
    for place, id in enumerate(project.store.ids()):
        p, given = found.probabilities[place], answers.labels.get(place)
        aside = answers.aside.get(place)
        guess = found.classes[found.decided[place]] if found.classes and aside != "invalid" else None
        label = guess if given is None else given
        sure = None if label is None else float(p[found.classes.index(label)])
        said = [who for who, a in answers.of(place).items() if a.label is not None] if given is not None else []
        yield {
            "id": id,
            "label": label,
            "probability": sure,
            "predicted": given is None and label is not None,
            "aside": aside,
            "variance": float(found.variance[place]),
            "who": ", ".join(said) or None,
            **dict(zip(columns, map(float, p), strict=True)),
        }


def answer_rows(project: Project) -> Iterator[Row]:
    """Yield one row per current answer: the item with its fields, who answered what and when."""
    answers = project.answers
    standing = [a for a in answers.log.values() if a.kind != "undo" and answers.counts(a)]
    items = {item.place: item for item in project.store.items({a.item for a in standing})}
    for a in standing:
        item = items[a.item]
        said = {"id": item.id, "answer": a.kind, "label": a.label, "who": a.who, "at": a.at, "seconds": a.seconds}
        said["predicted before"] = a.predicted  # of a spot check
        yield {**said, **{name: item.fields.get(name) for name in project.about["fields"] if name not in said}}


def label_studio_tasks(project: Project) -> Iterator[Row]:
    """Yield one Label Studio task per item with answers and prediction, for a project with one Choices control."""
    found = project.predictions()
    for item in project.store.every():
        given = [_annotation(a) for a in project.answers.of(item.place).values() if a.label is not None]
        guess = found.decided[item.place]
        guessed = [] if guess < 0 else [_choice(found.classes[guess])]
        score = float(found.probabilities[item.place, guess]) if guessed else None
        yield {
            "id": item.place + 1,
            "data": {"id": item.id, **item.fields},
            "annotations": given,
            "predictions": [{"model_version": "askgraph", "score": score, "result": guessed}] if guessed else [],
        }


def _annotation(answer: Answer) -> Row:
    result = [_choice(answer.label or "")]
    return {
        "completed_by": {"first_name": answer.who},
        "created_at": answer.at,
        "lead_time": answer.seconds,
        "result": result,
    }


def _choice(label: str) -> Row:
    return {"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": [label]}}


def escape_formula(cell: Any) -> Any:
    """Return a cell of which no spreadsheet takes a part for a formula, wherever it splits the line.

    >>> escape_formula("=1+1"), escape_formula("-5"), escape_formula("ham;=1+1")
    ("'=1+1", '-5', "ham;'=1+1")
    """
    if not isinstance(cell, str) or is_number(cell):
        return cell
    parts = SPLIT.split(cell)  # texts, and what separates them in every other place
    parts[2::2] = [f"'{part}" if FORMULA.match(part) and not is_number(part) else part for part in parts[2::2]]
    return ("'" if FORMULA.match(cell) else "") + "".join(parts)


def unescape_formula(cell: str) -> str:
    """Return the cell that ``escape_formula`` was given.

    >>> unescape_formula("'=1+1"), unescape_formula("'tis"), unescape_formula("ham;'=1+1")
    ('=1+1', "'tis", 'ham;=1+1')
    """
    parts = SPLIT.split(cell)
    parts[2::2] = [part[1:] if part[:1] == "'" and FORMULA.match(part) else part for part in parts[2::2]]
    return "".join(parts)[1 if cell[:1] == "'" and FORMULA.match(cell) else 0 :]


def to_csv(rows: Iterable[Row]) -> Iterator[str]:
    """Yield lines of csv with formulas made harmless."""
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\r\n")  # csv quotes cells with these characters: a lone \r, too
    for k, row in enumerate(rows):
        if k == 0:
            writer.writerow(map(escape_formula, row))
        writer.writerow(map(escape_formula, row.values()))
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def to_jsonl(rows: Iterable[Row]) -> Iterator[str]:
    """Yield one JSON object per line."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def to_json(rows: Iterable[Row]) -> Iterator[str]:
    """Yield one JSON list of objects, as Label Studio imports it."""
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


def write_rows(path: FilePath, rows: Iterable[Row], encoding: str = "utf-8") -> None:
    """Write rows to a file of the type that its name says; a write that fails leaves no file."""
    kind = Path(path).suffix.casefold()
    if kind not in (*TEXTS, ".parquet"):
        raise FileError(f"{path}: cannot write a file of type {kind or '(none)'}; use .csv, .jsonl, .parquet or .json")
    try:
        with replacing(path) as file:
            if kind == ".parquet":
                file.write(to_parquet(rows))
            else:
                file.writelines(codecs.iterencode(TEXTS[kind](rows), encoding))
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
