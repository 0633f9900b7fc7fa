"""Write labels for other tools: Label Studio, Argilla, Hugging Face datasets, spaCy, fastText, a folder per class, RIS."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from uuid import NAMESPACE_DNS, uuid5

from askgraph.answers.shares import OneOf
from askgraph.errors import FileError, MissingExtraError, SettingError
from askgraph.io.annotations import ONE_OF_THESE, OURSELVES, WHO
from askgraph.io.pictures import find_picture
from askgraph.io.ris import NAMES
from askgraph.io.text import FilePath
from askgraph.kinds import Kind
from askgraph.kinds.numbers import HIGHEST, LOWEST
from askgraph.support.arguments import file_path
from askgraph.support.files import replacing, safe_name
from askgraph.support.wording import counted
from askgraph.workbench.answer_cells import TAKEN, column_of_class
from askgraph.workbench.answers import Answer
from askgraph.workbench.cells import is_numeric, number
from askgraph.workbench.export import (
    DIGITS,
    NOTED,
    Row,
    answer_rows,
    joined,
    note_cells,
    note_columns,
    number_columns,
    own_columns,
    short,
    to_json,
    to_jsonl,
    write_rows,
)
from askgraph.workbench.format_names import FORMAT_NAMES
from askgraph.workbench.forms import Label, as_json, named, rounded
from askgraph.workbench.model import Predictions
from askgraph.workbench.project import Project
from askgraph.workbench.rules import standing_guesses
from askgraph.workbench.store import Item
from askgraph.workbench.stored_items import NAMING

QUESTION = "label"  # the name of the one question that other tools show
MAX_RATING = 10  # the highest rating that Argilla knows
NO_CLASSES = "these answers are numbers: export them to csv, xlsx, jsonl or parquet, or with --for huggingface"
RIS_TAG = re.compile("[A-Z][A-Z0-9]")
PER_TAG = {name: tag for tag, name in reversed(NAMES.items())}  # column -> RIS tag


class Labeled(NamedTuple):
    """An item, its label and how likely that is; whether a person or a file gave the label."""

    item: Item
    label: Label
    probability: float
    given: bool


def labeled_items(project: Project, answered: bool = False) -> Iterator[Labeled]:
    """Yield the items that have a label, given or predicted; those with a given one only if ``answered``.

    Where all that people say is one of some classes, the likeliest of these counts as predicted.
    """
    found = project.predictions()
    for item in project.store.every():
        label, sure, given = found.labels[item.place], found.sure[item.place], item.place in project.answers.labels
        if isinstance(label, OneOf):
            label, sure, given = *_likeliest(found, item.place, label), False
        if label is None or (not given and (answered or project.answers.aside.get(item.place) == "invalid")):
            continue
        yield Labeled(item, label, round(float(sure), DIGITS), given)


def _likeliest(found: Predictions, place: int, label: OneOf) -> tuple[str, float]:
    """Return the class that is the likeliest of some at an item, and how likely it is."""
    row = dict(zip(found.classes, found.probabilities[place].tolist(), strict=True))
    chances = {str(name): float(row[str(name)]) for name in label.names}
    name = max(chances, key=lambda name: chances[name])
    return name, chances[name]


def refuse(project: Project, odd: Collection[str], what: str) -> None:
    """Raise an error if the answers of a project are of one of these kinds; ``what`` says why they cannot be, and what to do."""
    if project.answers.kind.name in odd:
        raise SettingError(what)


def label_studio_tasks(project: Project) -> Iterator[Row]:
    """Yield one Label Studio task per item, for a project with one control: Choices, Number or Rating.

    Answers are annotations, also those of people who could not tell; predictions and what models guess are predictions.
    """
    found, own = project.predictions(), own_columns(project, ["id"])
    rated, sure = are_stars(project), project.answers.kind.by_class
    for item in project.store.every():
        said = _in_order(project, item)
        ours = _predicted(project, found, item.place)
        guesses = [] if ours is None else [_prediction(OURSELVES, ours.label, ours.score if sure else None, rated)]
        for one in standing_guesses(project.store, project.answers.naming, item.place):
            guesses.append(_prediction(one.source, one.label, one.score, rated))
        yield {
            "id": item.place + 1,
            "data": {"id": item.id, **{name: cell for name, cell in own(item).items() if cell is not None}},
            "annotations": [_annotation(answer, rated) for answer in said if answer.kind != "later"],
            "predictions": guesses,
            **({"meta": noted} if (noted := _noted(project, item)) else {}),
        }


def _noted(project: Project, item: Item) -> Row:
    """Return what people noted on an item, without what is empty."""
    return {name: cell for name, cell in note_cells(project, item.place, NOTED).items() if cell is not None}


def _in_order(project: Project, item: Item) -> list[Answer]:
    """Return the answers of people to an item, the newest last, as they count when they come back."""
    return sorted(project.answers.of(item.place).values(), key=attrgetter("seq"))


def are_stars(project: Project, least: int = 1, most: int | None = None) -> bool:
    """Return whether answers are whole numbers in order, from ``least`` to ``most``, as other tools have them as ratings."""
    steps = project.answers.classes
    if not project.answers.form.ranked or not all(name.isascii() and name.isdecimal() for name in steps):
        return False
    numbers = [int(name) for name in steps]
    able = all(least <= k and (most is None or k <= most) for k in numbers)
    return able and numbers == sorted(numbers) and steps == [str(k) for k in numbers]


def _annotation(answer: Answer, rated: bool) -> Row:
    said: Row = {
        "completed_by": {"first_name": answer.who},
        "created_at": answer.at,
        "lead_time": answer.seconds,
        "result": [] if answer.label is None else [_result(answer.label, rated)],
    }
    return {**said, "was_cancelled": True} if answer.label is None else said


def _prediction(source: str, label: Label, score: float | None, rated: bool) -> Row:
    return {"model_version": source, "score": score, "result": [_result(label, rated)]}


def _result(label: Label, rated: bool) -> Row:
    """Return an answer as Label Studio holds it; one of some classes are these as choices, with a note that says so."""
    result: Row = {"from_name": QUESTION, "to_name": "item"}
    if isinstance(label, float):
        return {**result, "type": "number", "value": {"number": label}}
    if rated and isinstance(label, str):
        return {**result, "type": "rating", "value": {"rating": int(label)}}
    result |= {"type": "choices", "value": {"choices": list(named(label))}}
    return {**result, "meta": {"text": [ONE_OF_THESE]}} if isinstance(label, OneOf) else result


class _Ours(NamedTuple):
    label: Label
    score: float


def _predicted(project: Project, found: Predictions, place: int) -> _Ours | None:
    """Return what this program predicts for an item, or None while nothing is known."""
    label, sure = found.labels[place], found.sure[place]
    if isinstance(label, OneOf):
        label, sure = _likeliest(found, place, label)
    label = short(label) if isinstance(label, float) and place not in project.answers.labels else label
    return None if label is None else _Ours(label, round(float(sure), DIGITS))


def argilla_records(project: Project) -> Iterator[Row]:
    """Yield one Argilla record per item, as ``dataset.records.from_json`` reads it, for one question called "label".

    That asks for a label, for several, for a rating where answers are steps from 0 to 10, and for text where they are numbers.
    It cannot hold that an item is one of some classes: such answers are left out. Fields are texts. Argilla knows people by ids,
    so these are made of their names, and the names are among the metadata.
    """
    found, own, rated = project.predictions(), own_columns(project), are_stars(project, 0, MAX_RATING)
    for item in project.store.every():
        said = [a for a in _in_order(project, item) if a.label is not None]
        held = [(a.who, _value(a.label, rated)) for a in said if not isinstance(a.label, OneOf | None)]
        responses = [{"value": value, "user_id": str(uuid5(NAMESPACE_DNS, who))} for who, value in held]
        guess: Row = {}
        if ours := _predicted(project, found, item.place):
            score = ours.score if project.answers.form.exclusive else None
            guess = {"value": _value(ours.label, rated), "score": score, "agent": OURSELVES}
        yield {
            "id": item.id,
            "fields": {name: str(cell) for name, cell in own(item).items() if cell is not None} or {"id": item.id},
            "metadata": ({WHO: [who for who, _ in held]} if held else {}) | _noted(project, item),
            "suggestions": {QUESTION: guess} if guess else {},
            "responses": {QUESTION: responses} if responses else {},
            "vectors": {},
            "status": "completed" if responses else "pending",
        }


def _value(label: Label, rated: bool) -> Any:
    """Return an answer as Argilla holds it."""
    if isinstance(label, float):
        return f"{label:g}" if float(f"{label:g}") == label else repr(label)
    return int(label) if rated and isinstance(label, str) else as_json(label)


def compared_texts(project: Project) -> list[str]:
    """Return the columns of text that items are compared by."""
    return [name for name in project.items.columns.get("text") or () if name in project.about["fields"]]


def text_of(project: Project, item: Item) -> str:
    """Return the text of an item: that of the columns it is compared by, else of all columns of text that are shown."""
    names = compared_texts(project) or [name for name, kind in project.items.shown.items() if kind == "text"]
    return "\n".join(str(item.fields[name]) for name in names if item.fields.get(name) is not None)


def spacy_rows(project: Project, answered: bool = False) -> Iterator[Row]:
    """Yield one object per labeled item with its text and ``cats``, 1 for each class it has and 0 for the others."""
    refuse(project, ["numbers"], f"spaCy's categories are classes, and {NO_CLASSES}")
    classes = project.answers.classes
    for one in labeled_items(project, answered):
        cats = {name: float(name in named(one.label)) for name in classes}
        yield {"text": text_of(project, one.item), "cats": cats}


def fasttext_lines(project: Project, answered: bool = False) -> Iterator[str]:
    """Yield one line per labeled item: ``__label__`` with each of its classes, then its text on one line.

    White space in a class becomes "_", and classes that would be one by that are told apart by a number; a text that says
    ``__label__`` itself loses the underscores.
    """
    refuse(project, ["numbers"], f"fastText learns classes, and {NO_CLASSES}")
    classes = project.answers.classes
    exact_first = sorted(
        classes, key=lambda name: any(map(str.isspace, name))
    )  # names without white space stay as they are
    names = told_apart(exact_first, lambda name: "_".join(name.split()), "_", str)
    for one in labeled_items(project, answered):
        words = " ".join(text_of(project, one.item).split()).replace("__label__", "label ")
        yield " ".join([*(f"__label__{names[name]}" for name in named(one.label)), words]) + "\n"


def ris_lines(project: Project, answered: bool = False) -> Iterator[str]:
    """Yield the lines of one RIS record per item; classes are keywords, and notes for ASReview where they are its own.

    A number is in a note alone.
    """
    tags, form, kind = ris_tags(project), project.answers.form, project.answers.kind
    labels = {one.item.place: one for one in labeled_items(project, answered)}
    for item in project.store.every():
        cells: Row = {str(project.items.columns.get("id")): item.id, **item.fields}
        yield f"TY  - {_one_line(item.fields.get('type', 'JOUR'))}\r\nID  - {_one_line(item.id)}\r\n"
        for name, tag in tags.items():
            parts = str(cells.get(name, "")).split("; ") if tag in ("AU", "KW", "N1") else [cells.get(name)]
            yield from (f"{tag}  - {_one_line(part)}\r\n" for part in parts if part)
        if one := labels.get(item.place):
            sure = f", {one.probability:.2f}" if kind.by_class else ""
            how = "answered" if one.given else f"predicted{sure}"
            yield from (f"KW  - {_one_line(name)}\r\n" for name in named(one.label))
            yield f"N1  - askgraph: {_one_line(form.text(one.label if one.given else rounded(one.label)))} ({how})\r\n"
            if one.given:
                yield from (f"N1  - ASReview_{said}\r\n" for said in _verdicts(kind, project.model.sought, one.label))
        yield from (f"N1  - {_one_line(said)}\r\n" for said in _noted_lines(project, item.place))
        yield "ER  - \r\n\r\n"


def _noted_lines(project: Project, place: int) -> list[str]:
    """Return what people noted on an item as notes of a record."""
    reasons = project.answers.reasons(place)
    comments = [f"{one.who}: {one.text}" for one in project.answers.notes.comments(place)]
    return [*([f"reasons: {'; '.join(reasons)}"] if reasons else []), *comments]


def _verdicts(kind: Kind, sought: Hashable, label: Label) -> list[str]:
    """Return "relevant" or "irrelevant": whether a label is what is sought, else the classes that are called so."""
    if sought is None or (sought in (HIGHEST, LOWEST) and not kind.by_class):
        return [name for name in named(label) if name in ("relevant", "irrelevant")]
    return ["relevant" if kind.is_found(label, sought) else "irrelevant"]


def ris_tags(project: Project) -> dict[str, str]:
    """Return the RIS tag of each column that has one, by its name in small letters or large.

    Without a column of that name, titles are what names the items, and abstracts the texts that these are compared by.
    """
    listed = [name for name in (project.items.columns.get("id"), *project.about["fields"]) if name is not None]
    tags = {name: tag for name in listed if (tag := PER_TAG.get(name) or (name if RIS_TAG.fullmatch(name) else None))}
    tags |= {name: tag for name in listed if (tag := PER_TAG.get(name.casefold())) and tag not in tags.values()}
    if not _is_there("title", tags):
        called = (name for name in listed if name.casefold() in NAMING)
        title = next(called, None) or project.items.naming_field
        if title is None:
            raise SettingError(
                "no column is called title: RIS needs one; rename the column of titles to title, or export csv"
            )
        tags[title] = "TI"
    if not _is_there("abstract", tags):
        tags |= {name: "AB" for name in compared_texts(project) if name not in tags}
    return {name: tags[name] for name in listed if tags.get(name) not in (None, "TY", "ID")}


def has_titles(project: Project) -> bool:
    """Return whether some column has the titles that RIS needs."""
    try:
        return bool(ris_tags(project))
    except SettingError:
        return False


def _is_there(column: str, tags: dict[str, str]) -> bool:
    return any(NAMES.get(tag) == column for tag in tags.values())


def asreview_rows(project: Project) -> Iterator[Row]:
    """Yield one row per item with ``included``, as ASReview reads it: 1, 0, or nothing where nobody has answered.

    Nothing too where people say that the item is one of some classes, and the one that is sought is among these.
    """
    sought, kind = _to_include(project), project.answers.kind
    own = own_columns(project, ["id", "included"])
    for item in project.store.every():
        given = project.answers.labels.get(item.place)
        open_ = given is None or (isinstance(given, OneOf) and any(kind.is_found(name, sought) for name in given.names))
        yield {"id": item.id, **own(item), "included": None if open_ else int(kind.is_found(given, sought))}


def _to_include(project: Project) -> Hashable:
    """Return what is sought, else the class that is called relevant or alike; raise an error if there is neither."""
    sought, form = project.model.sought, project.answers.form
    if project.answers.kind.name == "numbers" and sought in (None, HIGHEST, LOWEST):
        raise SettingError("from which number on is an item to be included? say it with askgraph find NUMBER")
    if sought is None and not form.ranked:
        sought = next((name for name in ("relevant", "included", "1") if name in project.answers.classes), None)
    if sought is None:
        raise SettingError("which class is to be included? name it with askgraph find CLASS")
    return sought


def column_rows(project: Project, answered: bool = False) -> Iterator[Row]:
    """Yield one row per item with a column per class: 1 where its label has the class, 0 where not, nothing without a label.

    Of one of some classes, these are left empty and the others are 0.
    """
    refuse(project, ["numbers"], f"a column per class needs classes, and {NO_CLASSES}")
    found, classes = project.predictions(), project.answers.classes
    taken = {*TAKEN, project.items.columns.get("id") or "id"}
    columns = {name: column_of_class(name, taken) for name in classes}
    own = own_columns(project, ["id", *columns.values()])
    for item in project.store.every():
        label = found.labels[item.place]
        if item.place not in project.answers.labels and (
            answered or project.answers.aside.get(item.place) == "invalid"
        ):
            label = None
        yield {"id": item.id, **own(item), **{columns[name]: _has(label, name) for name in classes}}


def _has(label: Label | None, name: str) -> int | None:
    """Return whether a label has a class; None where nobody knows."""
    if label is None or (isinstance(label, OneOf) and name in label.names):
        return None
    return int(name in named(label))


def _one_line(cell: Any) -> str:
    return " ".join(str(cell).split())


def hugging_face_parquet(project: Project, answered: bool = False) -> bytes:
    """Return a parquet file that ``datasets`` loads with a ClassLabel, and with pictures where the project has some."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import write_table
    except ImportError:
        raise MissingExtraError('parquet needs pyarrow: pip install "askgraph[tables]"') from None
    classes, kind, found = project.answers.classes, project.answers.kind, project.predictions()
    noted = note_columns(project)
    own = own_columns(project, ["id", "image", "label", "probability", "low", "high", "source", *noted])
    rows = list(labeled_items(project, answered))
    cells = [own(one.item) for one in rows]
    mine = {name: _typed([row[name] for row in cells]) for name in own(Item(0, "", {}, None))}
    columns = {
        "id": pa.array([one.item.id for one in rows], pa.string()),
        **{name: pa.array(values, getattr(pa, kind)()) for name, (values, kind) in mine.items()},
    }
    notes = [note_cells(project, one.item.place, noted) for one in rows]
    columns |= {name: pa.array([joined(row[name]) for row in notes], pa.string()) for name in noted}
    features: Row = {name: {"dtype": "string", "_type": "Value"} for name in (*columns, "source")}
    features |= {name: {"dtype": kind, "_type": "Value"} for name, (_, kind) in mine.items()}
    numbers: dict[str, list[Any]] = {"probability": [one.probability for one in rows]}
    if kind.by_class:
        of_class: Row = {"names": classes, "_type": "ClassLabel"}
        said = [[classes.index(name) for name in named(one.label)] for one in rows]
        several = not project.answers.form.exclusive
        columns["label"] = (
            pa.array(said, pa.list_(pa.int64())) if several else pa.array([one for (one,) in said], pa.int64())
        )
        features["label"] = {"feature": of_class, "_type": "Sequence"} if several else of_class
    else:
        numbers = {"label": [one.label for one in rows]}
        for name, ends in (("low", found.low), ("high", found.high)):
            numbers[name] = [None if ends is None else float(ends[one.item.place]) for one in rows]
    columns |= {name: pa.array(values, pa.float64()) for name, values in numbers.items()}
    features |= {name: {"dtype": "float64", "_type": "Value"} for name in numbers}
    columns["source"] = pa.array(["answered" if one.given else "predicted" for one in rows], pa.string())
    features = {name: features[name] for name in columns}
    if project.about["images"] is not None:
        columns["image"] = pa.array(
            [_picture(project, one.item) for one in rows], pa.struct({"bytes": pa.binary(), "path": pa.string()})
        )
        features["image"] = {"_type": "Image"}
    table = pa.table(columns).replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    file = io.BytesIO()
    write_table(table, file)
    return file.getvalue()


def _typed(cells: list[Any]) -> tuple[list[Any], str]:
    """Return a column as numbers if every cell is one or is empty, else as text; and the name of its type."""
    there = [cell for cell in cells if cell is not None]
    if not there or not is_numeric(there):
        return [None if cell is None else str(cell) for cell in cells], "string"
    values = [None if cell is None else number(cell) for cell in cells]
    whole = all(value is None or (value.is_integer() and abs(value) < 2**53) for value in values)
    return ([None if value is None else int(value) for value in values], "int64") if whole else (values, "float64")


def _picture(project: Project, item: Item) -> Row:
    found = picture_file(project, item)
    return {"bytes": None if found is None else found.read_bytes(), "path": item.image}


def picture_file(project: Project, item: Item) -> Path | None:
    """Return the file of an item's picture, or None if it does not lie in the project's folder of pictures."""
    folder = project.about["images"]
    return None if folder is None or item.image is None else find_picture(item.image, folder)


def write_folders(project: Project, folder: FilePath, answered: bool = False) -> str:
    """Copy the pictures of labeled items into one folder per class; return a sentence that says what was done."""
    refuse(project, ["numbers"], f"there is a folder per class, and {NO_CLASSES}")
    refuse(
        project, ["several"], "a picture with several classes cannot lie in one folder: export --for columns instead"
    )
    root, missing, copied = Path(file_path(folder)), 0, 0
    if project.about["images"] is None:
        raise SettingError(f"{project.store.path}: has no pictures; folders per class are for projects that have some")
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise FileError(f"{root}: is there already and not an empty folder; choose another name with -o")
    names = folder_names(project.answers.classes)
    try:
        for one in labeled_items(project, answered):
            if (file := picture_file(project, one.item)) is None:
                missing += 1
                continue
            home = root / names[str(one.label)]
            home.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, home / _picture_name(one.item, file))
            copied += 1
    except OSError as error:
        raise FileError(f"{root}: cannot be written ({error.strerror}); choose another place") from None
    lost = f"; {counted(missing, 'picture')} not found" if missing else ""
    return f"{counted(copied, 'picture')} in {root}{lost}"


def folder_names(classes: Iterable[str]) -> dict[str, str]:
    """Return a name for the folder of each class that every system takes; no two are alike.

    >>> folder_names(["cat", "a/b", "a:b", "..", "CAT"])
    {'cat': 'cat', 'a/b': 'a_b', 'a:b': 'a_b 2', '..': '_', 'CAT': 'CAT 2'}
    """
    return told_apart(classes, safe_name, " ", str.casefold)


def told_apart(
    names: Iterable[str], plain: Callable[[str], str], mark: str, alike: Callable[[str], str]
) -> dict[str, str]:
    """Return the plain form of each name; where ``alike`` of two is the same, the later one gets ``mark`` and a number.

    >>> told_apart(["x_y", "x y"], lambda name: name.replace(" ", "_"), "_", str)
    {'x_y': 'x_y', 'x y': 'x_y_2'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        free, k = plain(name), 1
        while alike(free) in taken:
            k += 1
            free = f"{plain(name)}{mark}{k}"
        taken.add(alike(free))
        found[name] = free
    return found


def _picture_name(item: Item, file: Path) -> str:
    """Return a name for the copy of a picture: its place, which no other has, and the name that it had."""
    return f"{item.place + 1:06} {safe_name(file.name[-60:])}"


class Format(NamedTuple):
    """A file for another tool: the name it gets, and the function that writes it and returns what it did."""

    name: str
    write: Callable[[Project, Path, bool], None]


def _json(rows: Callable[[Project], Iterator[Row]]) -> Callable[[Project, Path, bool], None]:
    return lambda project, path, answered: write_parts(path, to_json(rows(project)))


def _lines(lines: Callable[[Project, bool], Iterator[str]]) -> Callable[[Project, Path, bool], None]:
    return lambda project, path, answered: write_parts(path, lines(project, answered))


def write_parts(path: Path, parts: Iterable[str]) -> None:
    """Write a text, part by part; a write that fails leaves no file."""
    _write(path, (part.encode() for part in parts))


def _write(path: Path, parts: Iterable[bytes]) -> None:
    try:
        with replacing(path) as file:
            file.writelines(parts)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None


FORMATS = {  # by the name of the tool
    "answers": Format(
        FORMAT_NAMES["answers"],
        lambda project, path, _: write_rows(path, answer_rows(project), numbers=number_columns(project)),
    ),
    "columns": Format(
        FORMAT_NAMES["columns"],
        lambda project, path, answered: write_rows(
            path, column_rows(project, answered), numbers=number_columns(project)
        ),
    ),
    "asreview": Format(FORMAT_NAMES["asreview"], lambda project, path, _: write_rows(path, asreview_rows(project))),
    "labelstudio": Format(FORMAT_NAMES["labelstudio"], _json(label_studio_tasks)),
    "argilla": Format(FORMAT_NAMES["argilla"], _json(argilla_records)),
    "huggingface": Format(
        FORMAT_NAMES["huggingface"],
        lambda project, path, answered: _write(path, [hugging_face_parquet(project, answered)]),
    ),
    "spacy": Format(FORMAT_NAMES["spacy"], _lines(lambda project, answered: to_jsonl(spacy_rows(project, answered)))),
    "fasttext": Format(FORMAT_NAMES["fasttext"], _lines(fasttext_lines)),
    "ris": Format(FORMAT_NAMES["ris"], _lines(ris_lines)),
}
