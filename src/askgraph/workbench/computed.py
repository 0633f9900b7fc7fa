"""What commands compute of a project, each by a function of its own: called by the command, or for it by the server.

Each takes the project, the file to write if there is one, and options; it returns plain values that JSON holds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.kinds.stopping import ErrorEstimate
from askgraph.support.files import replacing
from askgraph.workbench.answers import Answers
from askgraph.workbench.datasheet import write_how_labeled
from askgraph.workbench.exchange import FORMATS, labeled_items
from askgraph.workbench.export import lost_columns, number_columns, prediction_rows, write_rows
from askgraph.workbench.figures import quality_of_classes
from askgraph.workbench.forms import rounded
from askgraph.workbench.guess_sources import sources
from askgraph.workbench.project import Project
from askgraph.workbench.report import least_sure, progress, suspect_guesses, suspects, to_sign
from askgraph.workbench.report import review as queue
from askgraph.workbench.report_page import page, summary
from askgraph.workbench.report_words import LANGUAGES

WITHOUT_UNLABELED = ("huggingface", "spacy", "fasttext")  # formats that leave items without a label out
Plain = dict[str, Any]
Compute = Callable[..., Plain]


def compute_status(project: Project, _: Path) -> Plain:
    """Return labels, the expected error and advice as figures, and the error in words, too."""
    found = progress(project, project.predictions())
    figures = {**found, "classes": quality_of_classes(project, found["classes"])}
    return {"figures": figures, "error": found["error"] and str(ErrorEstimate(**found["error"]))}


def compute_review(project: Project, _: Path, n: int, who: str) -> Plain:
    """Return what is worth a second look of a person: at most ``n`` items, and as many suggestions."""
    found = project.predictions()
    open_ = np.array([project.log.open_at(place) for place in range(project.items.n_items)], dtype=bool)
    asked = queue(project, suspects(project), least_sure(found, open_, n), who)
    rows = asked["queue"][:n]
    return {
        "items": rows,
        "disagree": asked["counts"]["disagree"],
        "suggestions": suspect_guesses(project, n),
        "sources": [str(source) for source in project.learner.guesses.sources],
        "texts": [_texts_of(row, project.answers) for row in rows],
    }


def _texts_of(row: Plain, answers: Answers) -> Plain:
    """Return the answers to an item, and what is rather said, as text."""

    def text(label: Any) -> str:
        return answers.form.text_of(label, answers.naming.heard)

    said = [f"{one['who']}: {one['kind'] if one['label'] is None else text(one['label'])}" for one in row["answers"]]
    instead = None if row["instead"] is None else text(rounded(row["instead"]))
    return {"answers": "; ".join(said), "instead": instead}


def compute_sources(project: Project, _: Path) -> Plain:
    """Return the sources of suggestions."""
    return sources(project)


def compute_predictions(project: Project, output: Path) -> Plain:
    """Write a label for every item, and beside it how they were labeled."""
    write_rows(output, prediction_rows(project), numbers=number_columns(project))
    labels = len(project.answers.labels)
    return {
        "labels": labels,
        "items": project.store.n_items,
        "known": bool(project.answers.classes or labels),
        "how": write_how_labeled(project, output).name,
        "lost": lost_columns(project),
    }


def compute_export(project: Project, output: Path, tool: str, answered: bool) -> Plain:
    """Write the answers of all people, or a file for another tool."""
    FORMATS[tool].write(project, output, answered)
    items = project.items.n_items
    return {
        "answers": sum(project.answers.people.values()),
        "items": sum(1 for _ in labeled_items(project, answered)) if tool in WITHOUT_UNLABELED else items,
        "told": project.log.count_answered(labels_only=tool == "argilla"),
        "lost": lost_columns(project),
    }


def compute_report(project: Project, output: Path, language: str) -> Plain:
    """Write a report to be signed; return its figures as text."""
    said = to_sign(project)
    try:
        with replacing(output) as file:
            file.write(page(said, LANGUAGES[language]).encode())
    except OSError as error:
        raise FileError(f"{output}: cannot be written ({error.strerror}); choose another place with -o") from None
    return {"summary": summary(said, LANGUAGES[language])}


def compute_figures(project: Project, _: Path) -> Plain:
    """Return all that a report to be signed says."""
    return to_sign(project)


COMPUTED: dict[str, Compute] = {
    "status": compute_status,
    "review": compute_review,
    "sources": compute_sources,
    "predict": compute_predictions,
    "export": compute_export,
    "report": compute_report,
    "figures": compute_figures,
}
