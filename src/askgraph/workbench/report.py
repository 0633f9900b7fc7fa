"""Reports on a project as plain dictionaries, for the commands and the page."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np

from askgraph.field import coding
from askgraph.learner.stopping import enough, more_labels
from askgraph.support.wording import counted
from askgraph.why import why
from askgraph.workbench.answers import Answer
from askgraph.workbench.backup_files import restore_advice
from askgraph.workbench.project import Predictions, Project
from askgraph.workbench.store import Item

TARGET_ERROR = 0.05  # share of wrong labels: at or below, there are enough labels; above, more are advised
MAX_VOTERS = 8  # labels listed as voting for an item
MAX_PROBABILITIES = 2_000_000  # items × classes: beyond, the effect of an answer is not counted, as it takes too long
MAX_SHOWN = 50  # suspicious labels listed, and disputed items listed


def progress(project: Project, found: Predictions) -> dict[str, Any]:
    """Return counts of labels, the expected error, the labels still needed, and advice."""
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
        "checks": None,
        "engine": learner.engine,
        "sampler": project.about["settings"]["utility"],
        "readout": str(project.about["settings"]["readout"]),
    }
    if len(found.classes) > 1:
        error = learner.expected_error()
        low, high = more_labels(error, learner.field.held, TARGET_ERROR)
        said |= {
            "error": error._asdict(),
            "stop": project.finished or enough(error, TARGET_ERROR),
            "advice": learner.advice(),
        }
        if checks := learner.spot_checks:
            said["checks"] = {"count": len(checks), "right": sum(check.right for check in checks)}
        said["needed"] = {"target": TARGET_ERROR, "low": low, "high": high} if high else None
    return said


def item_line(project: Project, item: Item) -> dict[str, Any]:
    """Return what a list shows of an item: its id, its title, and the address of its image."""
    return {"item": item.id, "title": project.title(item), "image": image_address(project, item)}


def image_address(project: Project, item: Item) -> str | None:
    """Return the address of an item's image on the server, or None."""
    return f"/images/{item.place}" if item.image and project.about["images"] else None


def suspects(project: Project) -> list[dict[str, Any]]:
    """Return the labels that contradict all others, the least likely first."""
    found = project.learner.suspects()[:MAX_SHOWN] if len(project.learner.classes) > 1 else []
    items = project.store.items(int(str(one.node)) for one in found)
    return [
        {**item_line(project, item), "label": one.label, "instead": one.instead, "chance": one.chance}
        for item, one in zip(items, found, strict=True)
    ]


def explain(project: Project, place: int) -> dict[str, Any]:
    """Explain a question: probabilities of the item, labels that vote for them, effect of an answer, neighborhood."""
    learner, answers = project.learner, project.answers
    quick = learner.field.votes.size <= MAX_PROBABILITIES
    found = why(learner.field, learner.settings.decide if quick else None, place)
    p = learner.probabilities() if learner.classes else np.empty((project.n_items, 0))
    decided = coding.decide(p) if learner.classes else None
    items = {
        item.place: item for item in project.store.items({*found.nodes.tolist(), *found.voters[:MAX_VOTERS].tolist()})
    }
    at = {node: k for k, node in enumerate(found.nodes.tolist())}

    def describe_node(node: int, x: float, y: float) -> dict[str, Any]:
        guess = None if decided is None else int(decided[node])
        return {
            **item_line(project, items[node]),
            "x": x,
            "y": y,
            "label": answers.labels.get(node),
            "predicted": None if guess is None else str(learner.classes[guess]),
            "p": None if guess is None else float(p[node, guess]),
            "center": node == place,
        }

    votes = zip(found.voters[:MAX_VOTERS].tolist(), found.weights[:MAX_VOTERS].tolist(), strict=True)
    likely = np.argsort(-p[place], kind="stable")
    return {
        "item": items[place].id,
        "probabilities": [{"class": str(learner.classes[c]), "p": float(p[place, c])} for c in likely],
        "voters": [
            {**item_line(project, items[l]), "label": answers.labels[l], "weight": w} for l, w in votes if w > 0
        ],
        "changes": found.changes if quick else None,
        "counts_for": found.counts_for,
        "nodes": [describe_node(node, *xy) for node, xy in zip(at, found.positions.tolist(), strict=True)],
        "edges": [[at[a], at[b], w] for (a, b), w in zip(found.edges.tolist(), found.strengths.tolist(), strict=True)],
    }


def people(project: Project) -> dict[str, Any]:
    """Return the number of answers of each person, how far people agree, and the items they disagree on."""
    answers = project.answers
    agreed = answers.agreement()
    split = [item for item, labels in answers.opinions().items() if len(set(labels)) > 1][:MAX_SHOWN]
    return {
        "people": [{"name": who, "answers": n, "seconds": _median(answers, who)} for who, n in answers.people.items()],
        "agreement": agreed and {"items": agreed[0], "share": agreed[1]},
        "disputed": [
            {
                **item_line(project, item),
                "answers": [{"who": who, "label": a.label} for who, a in answers.of(item.place).items() if a.label],
            }
            for item in project.store.items(split)
        ],
    }


def history(project: Project, limit: int, before: int | None = None, who: str | None = None) -> list[dict[str, Any]]:
    """Return the newest lines of the log, at most ``limit``, older than line ``before``, of one person or of all."""
    lines: list[Answer] = []
    for answer in reversed(project.answers.log.values()):
        if (before is None or answer.seq < before) and (who is None or answer.who == who):
            lines.append(answer)
            if len(lines) == limit:
                break
    return describe(project, lines)


def describe(project: Project, lines: list[Answer]) -> list[dict[str, Any]]:
    """Return lines of the log with the ids and titles of their items."""
    items = {item.place: item for item in project.store.items({a.item for a in lines})}
    return [
        {
            **{name: getattr(a, name) for name in ("seq", "at", "who", "kind", "label", "seconds", "predicted")},
            **item_line(project, items[a.item]),
            "undone": a.seq in project.answers.undone,
            "current": project.answers.counts(a),
        }
        for a in lines
    ]


def checkup(project: Project) -> dict[str, Any]:
    """Check the file and the graph; return what was found, what to improve, and the damage if there is any."""
    damage = project.store.damage()
    report = project.graph.report()
    improve = list(project.learner.advice()) if len(project.learner.classes) > 1 else []
    if report.isolated:
        improve.append(
            f"{counted(report.isolated, 'item')} without a neighbor: nothing can be predicted for them; add edges"
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
        "damage": damage and f"{project.store.path}: {damage}; {restore_advice(project.store.path)}",
    }


def _median(answers: Any, who: str) -> float | None:
    times = [a.seconds for a in answers.log.values() if a.who == who and a.seconds is not None]
    return float(np.median(times)) if times else None


def suggested(project: Project, place: int) -> list[dict[str, Any]]:
    """Return the labels that models suggest for an item, the one with the most sources first, and who suggests each."""
    found: dict[str, list[str]] = {}
    for one in project.store.suggestions(place):
        sure = "" if one.score is None else f" ({one.score:.0%} sure)"
        found.setdefault(one.label, []).append(f"{one.source}{sure}")
    ranked = sorted(found.items(), key=lambda label: -len(label[1]))
    return [{"label": label, "by": ", ".join(sources)} for label, sources in ranked]


def suspect_suggestions(project: Project, n: int) -> list[dict[str, Any]]:
    """Return the suggestions that are most likely wrong, as :meth:`askgraph.Learner.suspect_suggestions` ranks them."""
    found = project.learner.suspect_suggestions(n)
    items = project.store.items(int(str(one.node)) for one in found)
    return [
        {"item": item.id, "title": project.title(item), **{k: v for k, v in one._asdict().items() if k != "node"}}
        for item, one in zip(items, found, strict=True)
    ]
