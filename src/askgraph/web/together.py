"""Answers to many items in one step: which items they would label, and how."""

from __future__ import annotations

from collections import Counter
from typing import Any

from askgraph.errors import ReusedKeyError
from askgraph.web.listing import columns
from askgraph.web.offers import can_answer
from askgraph.web.questions import Picture
from askgraph.workbench.answers import How
from askgraph.workbench.forms import Label, as_json
from askgraph.workbench.project import Project

CERTAIN = 0.9  # the probability from which on it is offered to confirm only these predictions of many


def selection(project: Project, picture: Picture | None, who: str, places: list[int]) -> dict[str, Any]:
    """Return what an answer to selected items would do: how many it would label, and how sure their predictions are."""
    predicted = as_predicted(project, picture, places)
    sure = columns(project, picture).sure[list(predicted)]
    return {
        "selected": len(set(places)),
        "new": len(answerable(project, who, places)),
        "predicted": {
            "new": len(predicted),
            "right": float(sure.mean()) if predicted else None,
            "classes": [{"label": as_json(one), "count": n} for one, n in Counter(predicted.values()).most_common()],
            "certain": {"least": CERTAIN, "new": int((sure >= CERTAIN).sum())},
        },
    }


def answerable(project: Project, who: str, places: list[int]) -> list[int]:
    """Return those of some places that this person would be asked about: an answer to many changes none that was given."""
    return [place for place in dict.fromkeys(places) if can_answer(project, who, place)]


def as_predicted(
    project: Project, picture: Picture | None, places: list[int], at_least: float = 0.0
) -> dict[int, Label]:
    """Return what is predicted for those of some places that nobody has answered, where that is at least so likely.

    Numbers are never confirmed so: a prediction is hardly ever the number itself.
    """
    known = columns(project, picture)
    predicted = known.are("predicted") & project.answers.kind.by_class
    return {p: known.labels[known.code[p]] for p in places if predicted[p] and known.sure[p] >= at_least}


def was_sent(project: Project, who: str, places: list[int], label: Label | None, how: How, key: str) -> bool:
    """Return whether answers to these items were saved under this key; raise an error if it belongs to others."""
    lines, meant = project.store.logged_together(key), set(places)
    if any(
        line.who != who
        or label not in (None, line.label)
        or (line.how != "copy" and (line.how != how or line.item not in meant))
        for line in lines
    ):
        raise ReusedKeyError(f"the key {key!r} belongs to other answers, so nothing was saved; use a new key")
    return bool(lines)
