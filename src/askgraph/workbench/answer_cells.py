"""Read answers of a kind from the columns of a table, and from what other tools say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from askgraph.errors import FileError, LabelError, SettingError
from askgraph.io.annotations import Annotated, Annotation
from askgraph.io.annotations import Guess as ToolGuess
from askgraph.io.decimals import is_decimal
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.support.wording import counted, few
from askgraph.workbench.cells import is_missing, number, one_name, to_stored
from askgraph.workbench.forms import MARK, MAX_SHOWN, NONE, Form, Label, as_json, in_words
from askgraph.workbench.formulas import unescape_formula

NAMES = ("label", "labels")  # of the column of answers in a table that comes back
TAKEN = ("id", "item", "node", *NAMES)  # columns beside those of classes in such a table
OF_CLASS = " (class)"  # ends the name of the column of a class that is called as another column
YES, NO = {"1", "true", "yes", "ja", "wahr"}, {"0", "false", "no", "nein", "falsch"}  # of a column of one class
MARKS = ("|", ";", ",")  # what may join the classes of an item
MAX_PARTS, MAX_PART_CHARACTERS = 30, 60  # different classes in cells that join them, and characters of one
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+")  # where a comma may part thousands or begin the decimals
Check = Callable[[Label], Label]


def read_answers(
    table: Table, columns: Sequence[str], form: Form, known: Collection[str], check: Check
) -> list[Label | None]:
    """Return what each row of a table says, checked, None where it says nothing; an error names the row.

    One column holds whole answers, several hold 1 or 0 for a class each. ``known`` are the classes that a cell may join.
    """
    if len(columns) > 1:
        return _read_class_columns(table, columns, form, check)
    (column,) = columns
    cells = table.cells(column)
    if form.kind.name == "numbers":
        cells = with_points(cells, getattr(form.kind, "unit", None) or "", table.where)
    if form.kind.name == "several" and (mark := find_mark(cells, known)) != MARK:
        cells = [_with_our_mark(cell, mark) for cell in cells]
    seen: dict[Any, Label | None] = {}  # equal cells say the same: tables can be long
    labels = []
    for row, cell in enumerate(cells):
        key = (type(cell), str(cell))
        if key not in seen:
            try:
                found = read_cell(cell, form, known)
                seen[key] = None if found is None else check(found)
            except LabelError as error:
                raise LabelError(f"{table.where(row)}, {column!r}: {error}") from None
        labels.append(seen[key])
    return labels


def read_cell(cell: Any, form: Form, known: Collection[str]) -> Label | None:
    """Return what a cell says, which may be a list where items have several classes; None for an empty one."""
    if isinstance(cell, float) and cell != cell:
        return None
    if isinstance(cell, dict) and form.kind.by_class:
        return form.parse(_of_cats(cell, form), known) if cell else None
    if isinstance(cell, list | tuple):
        return from_tool(tuple(cell), form) if form.kind.name != "several" else form.read(list(cell), known)
    if form.ranked and isinstance(cell, float) and cell.is_integer() and one_name(cell) not in known:
        cell = int(cell)
    return form.read(to_stored(cell) if isinstance(cell, dict) else cell, known)


def _of_cats(cats: dict[Any, Any], form: Form) -> Any:
    """Return the classes that the categories of spaCy give a 1, and not those that have a 0."""
    if not all(_truth(value) is not None for value in cats.values()):
        raise LabelError(f"{to_stored(cats)[:MAX_SHOWN]} is not an answer: give each class 1 or 0")
    names = tuple(str(name) for name, value in cats.items() if _truth(value))
    if form.exclusive and len(names) != 1:
        raise LabelError(f"{to_stored(cats)[:MAX_SHOWN]} has {len(names)} times 1, where an item has one class")
    return names[0] if form.exclusive else names


def find_mark(cells: Sequence[Any], known: Collection[str]) -> str:
    """Return what joins the classes of a column: ours, or another one where cells joined by it hold few or known classes.

    >>> find_mark(["a;b", "b"], ()), find_mark(["a|b"], ()), find_mark(["a;b"], ["a;b"]), find_mark(["Doe, John"], ())
    (';', '|', '|', '|')
    >>> find_mark(["a;b", "a;d"], ["a", "b"])
    ';'
    """
    counts = Counter(text for cell in cells if isinstance(cell, str) and (text := one_name(cell)) is not None)
    counts.pop(NONE, 0)
    if any(MARK in text or text.startswith("[") for text in counts) or all(text in known for text in counts):
        return MARK
    for mark in MARKS:
        if _joins_known(counts, mark, known) if known else joined_parts(counts, mark):
            return mark
    return MARK


def _joins_known(texts: Iterable[str], mark: str, known: Collection[str]) -> bool:
    """Return whether a cell that is not a class itself consists of known classes with the mark between them.

    Other cells may name new classes.
    """
    split = [{part.strip() for part in text.split(mark)} - {""} for text in texts if text not in known]
    return any(len(parts) > 1 and parts <= set(known) for parts in split)


def joined_parts(counts: Mapping[str, int], mark: str, per_class: int = 1) -> list[str]:
    """Return the different parts of cells that a mark joins, in the order of their names; none if cells are no sets of classes.

    Sets differ in size, and have few parts that come again in other sets; each ``per_class`` times on average. ``counts`` says how
    often each cell comes.
    """
    split = {text: [part.strip() for part in text.split(mark) if part.strip()] for text in counts}
    parts = Counter[str]()
    for text, some in split.items():
        parts.update(dict.fromkeys(some, counts[text]))
    sizes = {len(some) for some in split.values()}
    if len(sizes) < 2 or not 2 <= len(parts) <= min(MAX_PARTS, len(counts)) or parts.total() < per_class * len(parts):
        return []
    if any(len(set(some)) < len(some) for some in split.values()) or (
        mark == "," and all(number(part) is not None for part in parts)  # decimals
    ):
        return []
    return sorted(parts) if max(map(len, parts)) <= MAX_PART_CHARACTERS else []


def _with_our_mark(cell: Any, mark: str) -> Any:
    """Return a cell with our mark between its classes instead of another one."""
    if not isinstance(cell, str):
        return cell
    return MARK.join(part for part in cell.split(mark) if part.strip())


def with_points(cells: Sequence[Any], unit: str, where: Callable[[int], str]) -> list[Any]:
    """Return the cells of a column of numbers without their unit, and with a point where they have a decimal comma.

    >>> with_points(["1.234,5 EUR", "7 EUR", None, 2], "EUR", str)
    ['1234.5', '7', None, 2]
    """
    plain = [cell.strip().removesuffix(unit).strip() if isinstance(cell, str) else cell for cell in cells]
    texts = [cell for cell in plain if isinstance(cell, str) and not is_missing(cell)]
    commas = [text for text in texts if "," in text]
    if not commas or not all(map(is_decimal, texts)):
        return plain
    if all(map(THOUSANDS.fullmatch, commas)):
        raise LabelError(
            f"{where(plain.index(commas[0]))}: {commas[0]!r} may be {commas[0].replace(',', '.')} or "
            f"{commas[0].replace(',', '')}: write numbers with a point, and nothing between thousands"
        )
    return [
        cell.replace(".", "").replace(",", ".") if isinstance(cell, str) and not is_missing(cell) else cell
        for cell in plain
    ]


def _read_class_columns(table: Table, columns: Sequence[str], form: Form, check: Check) -> list[Label | None]:
    """Return the classes that each row has a 1 for; a row without any cell says nothing, one with gaps is an error."""
    check_class_columns(columns, form)
    said = [[_yes(table, name, row, cell) for row, cell in enumerate(table.cells(name))] for name in columns]
    labels: list[Label | None] = []
    for row, cells in enumerate(zip(*said, strict=True)):
        if all(cell is None for cell in cells):
            labels.append(None)
            continue
        if None in cells:
            raise LabelError(
                f"{table.where(row)}: {columns[cells.index(None)]!r} is empty and other classes are not; an empty cell is no "
                "answer, so write 0 where an item does not have a class, or leave the whole row empty"
            )
        try:
            names = [class_of_column(name) for name, cell in zip(columns, cells, strict=True) if cell]
            labels.append(check(form.parse(names, ())))
        except LabelError as error:
            raise LabelError(f"{table.where(row)}: {error}") from None
    return labels


def column_of_class(name: str, taken: Collection[str]) -> str:
    """Return what the column of a class is called, where some names are those of other columns.

    >>> column_of_class("bug", ["id"]), column_of_class("id", ["id"]), class_of_column("id (class)")
    ('bug', 'id (class)', 'id')
    """
    return f"{name}{OF_CLASS}" if name in taken else name


def class_of_column(name: str) -> str:
    """Return the class of a column that `column_of_class` has named, as a csv file may have it."""
    return (one_name(unescape_formula(name)) or "").removesuffix(OF_CLASS)


def check_class_columns(columns: Sequence[str], form: Form) -> None:
    """Raise an error unless items can have several classes, a column for each."""
    if form.kind.name != "several":
        raise SettingError(
            f"{few(list(columns))}: one column per class is for items with several classes; add --answers several, or name one "
            "column of labels"
        )


def is_yes_or_no(cells: Sequence[Any]) -> bool:
    """Return whether cells are 1 and 0, or yes and no, or empty, and there are both."""
    said = {_truth(cell) for cell in cells if not is_missing(cell)}
    return said == {True, False}


def _truth(cell: Any) -> bool | None:
    """Return whether a cell says yes; None if it says neither yes nor no."""
    if (value := number(cell)) in (0, 1):
        return bool(value)
    word = str(cell).strip().casefold()
    return word in YES if word in YES | NO else None


def _yes(table: Table, name: str, row: int, cell: Any) -> bool | None:
    """Return whether a cell of a column of one class says yes; None for an empty one."""
    if is_missing(cell) or (isinstance(cell, float) and cell != cell):
        return None
    if (found := _truth(cell)) is not None:
        return found
    raise LabelError(f"{table.where(row)}, {name!r}: {cell!r} is neither 1 nor 0, and no empty cell")


def answer_columns(
    path: FilePath, header: Sequence[str], form: Form, classes: Sequence[str], meant: Callable[[str], str]
) -> list[str]:
    """Return the column of answers of a table that comes back, or the columns of its classes, in their order.

    Raises an error if there is neither, or if a class has no column.
    """
    if called := [name for name in NAMES if name in header]:
        return called[:1]
    named: Mapping[str, str] = {meant(class_of_column(name)): name for name in header}
    there = [named[name] for name in classes if name in named]
    if form.kind.name != "several" or not there:
        raise FileError(f"{path}: no column 'label' (columns: {few(list(header))})")
    if missing := [name for name in classes if name not in named]:
        raise FileError(
            f"{path}: columns for {few(there)} and none for {few(missing)}; give each class one, or a column called label"
        )
    return there


def from_tool(said: Any, form: Form) -> Any:
    """Return what was said in another tool as an answer of this kind says it: a rating as a step, a text as a number.

    Raises `LabelError` where items have one class and several are chosen.
    """
    if form.kind.name == "numbers" and isinstance(said, str):
        return form.read(said, ())
    if form.ranked and isinstance(said, int | float) and not isinstance(said, bool) and float(said).is_integer():
        return str(int(said))
    if form.kind.name != "several" and isinstance(said, tuple):
        raise LabelError(
            f"several classes for one item ({few(list(said))}), where an item has one answer of the kind {form.kind.name!r}; "
            "a project of --answers several takes them"
        )
    return said


def said_elsewhere(
    path: FilePath, annotated: Annotated, form: Form, check: Check
) -> list[tuple[Annotation, Label | None]]:
    """Return the answers that came from another tool, checked; an error names the file and the task.

    Where nothing was chosen, that is an answer only where items may have none of the classes.
    """
    said = [one for one in annotated.answers if one.label != () or form.kind.name == "several"]
    return [(one, None if one.label is None else _checked(path, one, form, check)) for one in said]


def guessed_elsewhere(path: FilePath, annotated: Annotated, form: Form) -> tuple[list[ToolGuess], list[str]]:
    """Return the guesses of models that came from another tool, and a sentence on those that are left out."""
    if annotated.guesses and not form.kind.guessed:
        left = counted(len(annotated.guesses), "prediction")
        return [], [f"{left} of models left out: they can suggest single classes only"]
    said = [one for one in annotated.guesses if one.label != ()]
    return [one._replace(label=_checked(path, one, form, _single)) for one in said], []


def _checked(path: FilePath, one: Annotation | ToolGuess, form: Form, check: Check) -> Label:
    try:
        return check(from_tool(one.label, form))
    except LabelError as error:
        raise LabelError(f"{path}, {one.where}: {error}") from None


def _single(label: Label) -> str:
    """Return the class that a model guesses; raise an error for what is none."""
    if not isinstance(label, str):
        raise LabelError(f"a model guesses {in_words(as_json(label))}, and it can suggest single classes only")
    return label
