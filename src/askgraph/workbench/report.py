"""Where a project is, in plain values: for commands and the page alike."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np

from askgraph.field import coding
from askgraph.graph.sources import counted
from askgraph.learner.stopping import enough, more_labels
from askgraph.why import why
from askgraph.workbench.answers import Answer
from askgraph.workbench.project import Predictions, Project
from askgraph.workbench.store import RESTORE, Item

TARGET = 0.05  # the error that "enough" means
VOTERS = 8
MANY = 2_000_000  # probabilities beyond which counting what an answer would change takes too long to wait for
SHOWN = 50  # labels that look wrong, and items that are disputed


def progress(project: Project, found: Predictions) -> dict[str, Any]:
    """Labels, the expected error, what is still needed, and what to know, where this is predicted."""
    answers, learner = project.answers, project.learner
    open_ = np.ones(len(found.decided), dtype=bool)
    open_[list(answers.labels)] = False
    predicted = np.bincount(np.maximum(found.decided[open_], 0), minlength=max(len(found.classes), 1))
    given = list(answers.labels.values())
    said: dict[str, Any] = {
        "items": len(found.decided),
        "labels": len(answers.labels),
        "aside": len(answers.aside),
        "classes": [
            {"name": name, "count": given.count(name), "predicted": int(predicted[k])}
            for k, name in enumerate(found.classes)
        ],
        "error": None,
        "needed": None,
        "stop": project.finished,
        "advice": [],
        "engine": learner.engine,
        "sampler": project.about["settings"]["utility"],
        "readout": str(project.about["settings"]["readout"]),
    }
    if len(found.classes) > 1:
        error = learner.expected_error()
        low, high = more_labels(error, learner.field.held, TARGET)
        said |= {
            "error": error._asdict(),
            "stop": project.finished or enough(error, TARGET),
            "advice": learner.advice(),
        }
        said["needed"] = {"target": TARGET, "low": low, "high": high} if high else None
    return said


def glance(project: Project, item: Item) -> dict[str, Any]:
    """An item in a line of a list: its id, what stands for it, and where the page has its picture."""
    return {"item": item.id, "title": project.title(item), "image": picture(project, item)}


def picture(project: Project, item: Item) -> str | None:
    """Where the page has an item's picture."""
    return f"/images/{item.place}" if item.image and project.about["images"] else None


def suspects(project: Project) -> list[dict[str, Any]]:
    """Labels that all others contradict, the least likely first."""
    found = project.learner.suspects()[:SHOWN] if len(project.learner.classes) > 1 else []
    items = project.store.items(int(str(one.node)) for one in found)
    return [
        {**glance(project, item), "label": one.label, "instead": one.instead, "chance": one.chance}
        for item, one in zip(items, found, strict=True)
    ]


def explained(project: Project, place: int) -> dict[str, Any]:
    """Why an item: what it may be, who votes for that, what its answer would change, and what is around it."""
    learner, answers = project.learner, project.answers
    quick = learner.field.votes.size <= MANY
    found = why(learner.field, learner.settings.decide if quick else None, place)
    p = learner.probabilities() if learner.classes else np.empty((project.n_items, 0))
    decided = coding.decide(p) if learner.classes else None
    items = {item.place: item for item in project.store.items({*found.nodes.tolist(), *found.voters[:VOTERS].tolist()})}
    at = {node: k for k, node in enumerate(found.nodes.tolist())}

    def drawn(node: int, x: float, y: float) -> dict[str, Any]:
        guess = None if decided is None else int(decided[node])
        return {
            **glance(project, items[node]),
            "x": x,
            "y": y,
            "label": answers.labels.get(node),
            "predicted": None if guess is None else str(learner.classes[guess]),
            "p": None if guess is None else float(p[node, guess]),
            "center": node == place,
        }

    votes = zip(found.voters[:VOTERS].tolist(), found.weights[:VOTERS].tolist(), strict=True)
    likely = np.argsort(-p[place], kind="stable")
    return {
        "item": items[place].id,
        "probabilities": [{"class": str(learner.classes[c]), "p": float(p[place, c])} for c in likely],
        "voters": [{**glance(project, items[l]), "label": answers.labels[l], "weight": w} for l, w in votes if w > 0],
        "changes": found.changes if quick else None,
        "nodes": [drawn(node, *xy) for node, xy in zip(at, found.positions.tolist(), strict=True)],
        "edges": [[at[a], at[b], w] for (a, b), w in zip(found.edges.tolist(), found.strengths.tolist(), strict=True)],
    }


def people(project: Project) -> dict[str, Any]:
    """Who answered how much, how far people agree, and where they do not."""
    answers = project.answers
    agreed = answers.agreement()
    split = [item for item, labels in answers.opinions().items() if len(set(labels)) > 1][:SHOWN]
    return {
        "people": [{"name": who, "answers": n, "seconds": _median(answers, who)} for who, n in answers.people.items()],
        "agreement": agreed and {"items": agreed[0], "share": agreed[1]},
        "disputed": [
            {
                **glance(project, item),
                "answers": [{"who": who, "label": a.label} for who, a in answers.of(item.place).items() if a.label],
            }
            for item in project.store.items(split)
        ],
    }


def history(project: Project, limit: int, before: int | None = None, who: str | None = None) -> list[dict[str, Any]]:
    """The newest lines of the log."""
    lines: list[Answer] = []
    for answer in reversed(project.answers.log.values()):
        if (before is None or answer.seq < before) and (who is None or answer.who == who):
            lines.append(answer)
            if len(lines) == limit:
                break
    return described(project, lines)


def described(project: Project, lines: list[Answer]) -> list[dict[str, Any]]:
    """Lines of the log with the ids and titles of their items."""
    items = {item.place: item for item in project.store.items({a.item for a in lines})}
    return [
        {
            **{name: getattr(a, name) for name in ("seq", "at", "who", "kind", "label", "seconds")},
            **glance(project, items[a.item]),
            "undone": a.seq in project.answers.undone,
            "current": project.answers.counts(a),
        }
        for a in lines
    ]


def checkup(project: Project) -> dict[str, Any]:
    """What was checked, what to improve, and what is damaged."""
    damage = project.store.damage()
    report = project.graph.report()
    improve = list(project.learner.advice()) if len(project.learner.classes) > 1 else []
    if report.isolated:
        improve.append(
            f"{counted(report.isolated, 'item')} without a neighbour: nothing can be predicted for them; add edges"
        )
    if report.components - report.isolated > 1:
        improve.append(f"{counted(report.components, 'part')} not joined to each other: each needs labels of its own")
    if not project.answers.classes:
        improve.append("no class is declared yet: the first answer makes one")
    checked = [
        f"file: {'damaged' if damage else 'sound'}, SQLite {sqlite3.sqlite_version}, one writer at a time",
        f"log: {counted(len(project.answers.log), 'answer')}, {counted(len(project.answers.undone), 'undone one')}",
        *(f"graph: {line}" for line in str(report).splitlines()),
        f"engine: {project.learner.engine}",
    ]
    return {
        "checked": checked,
        "improve": improve,
        "damage": damage and f"{project.store.path}: {damage}; {RESTORE}",
    }


def _median(answers: Any, who: str) -> float | None:
    times = [a.seconds for a in answers.log.values() if a.who == who and a.seconds is not None]
    return float(np.median(times)) if times else None
