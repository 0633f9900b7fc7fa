"""What a new project is made of: its items and what joins them, answers and guesses that came with them, settings."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from askgraph.errors import FileError, SettingError
from askgraph.graph import Graph
from askgraph.io.annotations import Annotated, Annotation, read_annotated
from askgraph.io.text import FilePath
from askgraph.kinds import Kind as AnswerKind
from askgraph.kinds import as_kind
from askgraph.kinds.numbers import Numbers
from askgraph.learner.settings import Settings
from askgraph.support.arguments import file_path
from askgraph.support.wording import few
from askgraph.workbench.answer_cells import guessed_elsewhere, said_elsewhere
from askgraph.workbench.answers import Answer, Kind
from askgraph.workbench.backup_files import restore_advice
from askgraph.workbench.cells import is_storable, one_name
from askgraph.workbench.forms import Label, count_classes, form_of
from askgraph.workbench.guesses import Guess, read_guesses
from askgraph.workbench.items import Items, read_items
from askgraph.workbench.names import check_name
from askgraph.workbench.source import Source

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.Z+-]{0,24}$")  # a time as other tools write it

ABOUT_TYPES: dict[str, type] = {
    **dict.fromkeys(("project", "uid"), str),
    **dict.fromkeys(("classes", "graph", "hidden", "compared"), list),
    **dict.fromkeys(("fields", "settings"), dict),
    **dict.fromkeys(("seed", "overlap"), int),
}


SPOT_CHECKS = 8  # every how many questions one is a spot check, unless the settings of a new project say otherwise


class NewProject(NamedTuple):
    """What is written to a new file."""

    items: Items
    graph: Graph
    about: dict[str, Any]
    answers: list[Answer]
    guesses: list[Guess]


def read_new_project(
    name: str,
    source: Source,
    classes: Sequence[str],
    settings: Settings,
    seed: int,
    overlap: int,
    guesses: Sequence[FilePath],
) -> NewProject:
    """Read all files that a new project is made of; `askgraph.Project.create` says what the options are."""
    form = form_of(settings.answers)
    if guesses:
        form.kind.check_guesses()
    items, graph, notes = read_items(source, form, classes)
    if not classes and isinstance(columns := items.columns.get("label"), list):
        classes = form.declare([one_name(name) or "" for name in columns])
    places, imported = (
        {id: k for k, id in enumerate(items.ids)},
        count_classes(one for one in items.labels or () if one),
    )
    known = classes or sorted(map(str, imported))
    read = [read_guesses(file_path(file), places, known, items.columns.get("id")) for file in guesses]
    came, path = _annotations_of(source.table), source.table or ""
    said = said_elsewhere(path, came, form, lambda label: form.check(label, classes))
    guesses_there, left_out = guessed_elsewhere(path, came, form)
    about = {
        "project": name,
        "uid": str(uuid.uuid4()),
        "classes": classes,
        "fields": items.kinds,
        "hidden": list(items.hidden),
        "compared": list(items.compared),
        "images": items.folder,
        "source": items.columns,
        "read": [*items.notes, *(line for _, left in read for line in left), *left_out],
        "graph": [*notes, *graph.notes],
        "settings": settings.to_json(),
        "seed": seed,
        "overlap": overlap,
    }
    lines = [_imported(k, one, label) for k, (one, label) in enumerate(said)]
    theirs = [Guess(one.row, one.source, str(one.label), one.score) for one in guesses_there]
    guessed = [*(one for found, _ in read for one in found), *theirs]
    return NewProject(items, graph, about, lines, guessed)


def usual_settings(answers: str | AnswerKind, sampler: str | None = None, spot_checks: int = SPOT_CHECKS) -> Settings:
    """Return the settings of a project with answers of this kind; by default with its usual sampler."""
    kind = as_kind(answers)
    sampler = sampler or kind.usual_sampler(False, lambda: True)
    return Settings.of(sampler, answers=kind, **{**kind.usual_options, "spot_checks": spot_checks})


def kind_named(name: str, unit: str | None = None, link: str | None = None) -> AnswerKind:
    """Return a kind of answers by its name; numbers may have a unit and a link."""
    if name == Numbers.name:
        return Numbers(unit=(unit or "").strip() or None, link=link or "identity")
    if unit is not None or link is not None:
        raise SettingError(f"--unit and --link are for numbers; answers={name!r} have neither")
    return as_kind(name)


def check_about(about: dict[str, Any], path: Path) -> None:
    """Raise an error if an entry of a project that is opened is not of the type that it was made with."""
    given = {"hidden": [], "compared": [], **about}  # projects of earlier versions do not say these
    if odd := [name for name, kind in ABOUT_TYPES.items() if not isinstance(given.get(name), kind)]:
        raise FileError(f"{path}: its entry {few(odd)} is damaged; {restore_advice(path)}")


def _annotations_of(table: FilePath | None) -> Annotated:
    """Return the answers and guesses that come with the items of a JSON file; none for other tables."""
    if table is None or Path(table).suffix.casefold() != ".json":
        return Annotated([], [], [])
    return read_annotated(table)


def _imported(k: int, one: Annotation, label: Label | None) -> Answer:
    """Return an answer that was given in another tool as a line of the log."""
    kind: Kind = "cannot" if label is None else "label"
    at = one.at if MOMENT.match(one.at) and is_storable(one.at) else ""
    return Answer(0, f"annotation-{k}", check_name(one.who, "person"), at, kind, one.row, label, one.seconds)
