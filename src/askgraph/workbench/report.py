"""Reports on a project as plain dictionaries, for the commands and the page."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, islice
from typing import Any
from zlib import crc32

import numpy as np

from askgraph.kinds.certificate import MOST, SHARES, proven, to_read
from askgraph.kinds.diagnostics import findings
from askgraph.kinds.stopping import ErrorEstimate, enough, labels_until_enough, more_labels
from askgraph.support.wording import counted, few
from askgraph.types import Array
from askgraph.why import why
from askgraph.workbench.agreement import Agreement, alpha, kappa
from askgraph.workbench.answers import KINDS, OPEN, Agreed, Answer
from askgraph.workbench.backup_files import restore_advice
from askgraph.workbench.care import cares
from askgraph.workbench.cells import readable
from askgraph.workbench.classes import CLASS_CHANGES, in_words
from askgraph.workbench.columns import MIN_TEXT_CHARACTERS
from askgraph.workbench.figures import (
    decided,
    guideline_versions,
    hits,
    numbers,
    quality_of_classes,
    reasons,
    second_readings,
    spot_checks,
    unseen,
    ways,
    work,
)
from askgraph.workbench.forms import Label, as_json, count_classes, named, sure
from askgraph.workbench.model import Predictions
from askgraph.workbench.notes import reasons_in
from askgraph.workbench.project import Project
from askgraph.workbench.rules import standing_guesses
from askgraph.workbench.sampling import read_draw
from askgraph.workbench.store import Item
from askgraph.workbench.suitability import describe_labels, homophily, look_at_degrees

TARGET_RECALL = 0.95  # share of a class that is sought: at or above, even by the range's upper end, the search can stop
RECALL_POINTS = 200  # most points of the curve of what is found
LAST = 30  # labels that say how often the last questions found something
HITS = (0, 1, 3)  # in a sample: what it proves then is told before it is drawn
MAX_VOTERS = 8  # labels listed as voting for an item
MAX_PROBABILITIES = 2_000_000  # items × classes: beyond, the effect of an answer is not counted, as it takes too long
COLUMN_SAMPLE = 200  # items looked at for what to say about columns
FAR_OFF = 2.0  # times as far off as its range reaches: then a person is asked whether a number is right
TINY = 1e-300  # in place of numbers that are not above 0, where factors count
BARS = 20  # of the histogram of numbers
ALIKE = 1e-9  # of their size: numbers that differ by less are a single bar
SHOWN = (*KINDS, "undo", "comment", "reasons")  # kinds of lines that the history shows
MAX_SHOWN = 50  # suspicious labels listed, and disputed items listed


def progress(project: Project, found: Predictions) -> dict[str, Any]:
    """Return counts of labels, the expected error, the labels still needed, and advice."""
    answers, learner = project.answers, project.learner
    open_ = np.ones(len(found.labels), dtype=bool)
    open_[list(answers.labels)] = False
    predicted = count_classes(label for label in found.labels[open_] if label is not None)
    given = count_classes(answers.labels.values())
    said: dict[str, Any] = {
        "items": len(found.labels),
        "labels": len(answers.labels),
        "together": answers.together(),
        "aside": len(answers.aside),
        "left": project.log.left,
        "classes": [{"name": name, "count": given[name], "predicted": predicted[name]} for name in found.classes],
        "answers": answers.kind.name,
        "error": None,
        "needed": None,
        "stop": project.finished,
        "advice": [],
        "hints": [],
        "checks": None,
        "find": None,
        "reasons": reasons(answers),
        "engine": learner.engine,
        "sampler": project.about["settings"]["utility"],
        "readout": str(project.about["settings"]["readout"] or ""),
    }
    if answers.form.can_judge(found.classes, learner.field.held):
        error, hints = learner.judge.expected_error(), _hints(project)
        said |= {
            "error": error._asdict() if math.isfinite(error.high) else None,
            "stop": project.finished or (project.target and enough(error, project.target)),
            "advice": list(hints.values()) if answers.kind.name == "classes" else learner.judge.advice(),
            "hints": list(hints),
        }
        said["checks"] = spot_checks(project)
        said["needed"] = _needed(project, error)
    if project.model.sought is not None:
        said |= search(project)
    if not answers.kind.by_class:
        said["numbers"] = _histogram(list(answers.labels.values()), found.labels[open_].tolist())
    return said


def _histogram(given: Sequence[Any], predicted: Sequence[Any]) -> dict[str, Any] | None:
    """Return how many numbers, given and predicted, lie between each two edges; None where there are none.

    >>> _histogram([3.0, 3.0], [3.0000000000000004])
    {'edges': [3.0, 3.0000000000000004], 'given': [2], 'predicted': [1]}
    """
    guesses = [number for number in predicted if number is not None]
    if not given:
        return None
    low, high = min([*given, *guesses]), max([*given, *guesses])
    alike = high - low <= ALIKE * max(-low, high)
    edges = np.linspace(low, high, 2 if alike else BARS + 1)
    counts = {"given": np.histogram(given, edges)[0], "predicted": np.histogram(guesses, edges)[0]}
    return {"edges": edges.tolist(), **{name: found.tolist() for name, found in counts.items()}}


def _hints(project: Project) -> dict[str, str]:
    """Return what a person should know about classes by the labels so far; other kinds of answers have sentences of their own."""
    if project.answers.kind.name != "classes":
        return {}
    none = np.empty(0, dtype=np.int64)
    return findings(project.learner.field, none, none)  # a project has no audits


def _needed(project: Project, error: ErrorEstimate) -> dict[str, Any] | None:
    """Return the target, and how many labels it takes to reach it; None where there is no target or nothing is needed."""
    if project.target is None:
        return None
    low, high = more_labels(error, project.learner.field.held, project.target, project.log.left)
    return {"target": project.target, "low": low, "high": high} if high else None


def can_judge(project: Project) -> bool:
    """Return whether there is something to predict, so that one may ask how well."""
    return project.answers.form.can_judge(project.answers.classes, project.learner.field.held)


def search(project: Project) -> dict[str, Any]:
    """Return how far the search for all items of a class is, and whether it can stop; the highest numbers are never all found."""
    name, value = project.answers.naming.sought or (None, None)
    text = project.answers.form.sought_text(name, value)
    like = project.answers.naming.like
    said: dict[str, Any] = {"class": name, "beside": value, "text": text, "like": like, "reached": False}
    if isinstance(project.model.sought, str) and not project.answers.kind.by_class:
        return {"find": said, "stop": project.finished, "needed": None}
    left = project.learner.judge.left_to_find(project.model.sought)
    share = left.found / max(left.found + left.high, 1)
    said |= {**left._asdict(), "known": left.known, "share": share, "reached": share >= TARGET_RECALL}
    said |= {**_recall(hits(project)), **certifying(project)}
    stop = f"you can stop: at least {share:.0%} of {text!r} is found" if said["reached"] else None
    return {"find": said, "stop": project.finished or stop, "needed": None}


def _recall(found: Sequence[bool]) -> dict[str, Any]:
    """Return how many were found after how many labels, and among the last of them, given of each label whether it is one.

    >>> _recall([False, True, True])
    {'recall': [[0, 0], [1, 0], [2, 1], [3, 2]], 'last': {'labels': 3, 'found': 2}}
    """
    sums = np.concatenate([[0], np.cumsum(found, dtype=np.int64)])
    at = np.unique(np.linspace(0, len(found), min(len(found), RECALL_POINTS) + 1).round().astype(np.int64))
    last = found[-LAST:]
    return {
        "recall": [[int(k), int(sums[k])] for k in at],
        "last": {"labels": len(last), "found": sum(map(bool, last))},
    }


def certifying(project: Project) -> dict[str, Any]:
    """Return what a random sample proves of a search, and how many items to read for each share that one may certify.

    ``certified`` says that the share is proven which the sample was drawn for, ``proves`` is what is proven if none, one and three
    of these items are of what is sought. While a sample is read, and where nothing is found or left, there is nothing to certify.
    ``lost`` says that items of a sample were removed.
    """
    sampling = project.model.sampling
    found, left, now = sampling.found(), sampling.left(), sampling.certificate()
    reading = now is not None and now.share is None
    sizes = {share: to_read(found, left, share) for share in SHARES if found and left and not reading}
    offers = [
        {
            "share": share,
            "read": n,
            "most": n > MOST * left,
            "proves": [proven(found, left, n, hits) for hits in HITS if hits <= n],
        }
        for share, n in sizes.items()
    ]
    drawn = project.answers.naming.sample
    wanted = read_draw(drawn)["share"] if drawn is not None and now is not None else 1.0
    return {
        "certificate": now and now._asdict(),
        "certified": now is not None and now.share is not None and now.share >= wanted,
        "offers": offers,
        "rest": left,
        "lost": drawn is not None and now is None,
        "confidence": sampling.next_confidence(),
    }


def goal(project: Project, said: dict[str, Any]) -> dict[str, Any]:
    """Return the target, whether it is reached by the error that a report on progress says, and the labels that it takes.

    The report may be older than the target. ``until`` is None where there is no error yet, or no forecast.
    """
    target, error = project.target, said["error"] and ErrorEstimate(**said["error"])
    until = error and target and labels_until_enough(error, said["labels"], target, said["left"])
    reached = bool(error and target and enough(error, target))
    return {
        "target": target,
        "reached": reached,
        "until": {"low": until[0], "high": until[1]} if until else None,
    }


def item_line(project: Project, item: Item) -> dict[str, Any]:
    """Return what a list shows of an item: its id, its title, and the address of its image."""
    return {"item": item.id, "title": project.items.title(item), "image": image_address(project, item)}


def excerpt(project: Project, item: Item) -> dict[str, Any]:
    """Return the start of what an item is compared by, for a list, and whether its title is a name."""
    parts = project.items.excerpts.of(item)
    return {"named": project.items.is_named(item), "about": [part._asdict() for part in parts]}


def image_address(project: Project, item: Item) -> str | None:
    """Return the address of an item's image on the server, or None.

    It also depends on the name of the image: when items go, others come to their places, and a page may have fetched images.
    """
    if not item.image or not project.about["images"]:
        return None
    return f"/images/{item.place}?of={crc32(item.image.encode()):08x}"


def suspects(project: Project) -> list[dict[str, Any]]:
    """Return the labels that contradict all others, the least likely first; not those that somebody gave again, or several gave."""
    doubted = project.learner.judge.suspects() if can_judge(project) else []
    standing = (a for a in project.answers.log.values() if a.label is not None and a.seq not in project.answers.undone)
    given: Counter[tuple[int, Any]] = Counter((a.item, a.label) for a in standing)
    found = [one for one in doubted if given[(int(str(one.node)), one.label)] < 2][:MAX_SHOWN]
    items = project.store.items(int(str(one.node)) for one in found)
    return [
        {
            **item_line(project, item),
            "label": as_json(one.label),
            "instead": as_json(one.instead),
            "chance": one.chance,
        }
        for item, one in zip(items, found, strict=True)
    ]


def review(
    project: Project, suspects: Sequence[dict[str, Any]], unsure: Sequence[int], who: str | None = None, only: str = ""
) -> dict[str, Any]:
    """Return the items worth a second look, without those that had one, and how many there are for which reason.

    First items that people disagree on, the farthest apart first, then those that this person wants to come back to, then labels
    that contradict all others, then items of which somebody could not tell, then the items in ``unsure``, whose predictions are
    the least sure. ``only`` is one of these reasons, for its items alone. What the person is to read unseen is left out.
    """
    answers = project.answers
    reviewed = {item for item in (*answers.labels, *answers.aside) if answers.was_reviewed(item)}
    places = {
        one["item"]: project.store.place(one["item"]) for one in suspects
    }  # None for an item that was removed since
    doubted = {place: one for one in suspects if (place := places[one["item"]]) is not None}
    queue = [(item, "disagree") for item in answers.disagreements() if item not in reviewed]
    queue += [(item, "return") for item in ([] if who is None else answers.notes.marked(who))]
    queue += [(item, "suspect") for item in doubted if item in answers.labels and item not in reviewed]
    queue += [(item, "cannot") for item, kind in answers.aside.items() if kind == "cannot" and item not in reviewed]
    queue += [(item, "unsure") for item in unsure if answers.labels and answers.decision(item) == OPEN]
    hidden = set() if who is None else set(project.second.due(who))
    queue = [(item, why) for item, why in queue if item not in hidden]
    why = {item: reason for item, reason in reversed(queue) if only in ("", reason)}
    first = [item for item in dict.fromkeys(item for item, _ in queue) if item in why][:MAX_SHOWN]
    rows = [_reviewed(project, item, why[item.place], doubted) for item in project.store.items(first)]
    return {"queue": rows, "counts": Counter(reason for _, reason in queue), "total": len(why)}


def _reviewed(project: Project, item: Item, why: str, doubted: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Return an item worth a second look, with who said what of it."""
    answers, notes = project.answers, project.answers.notes
    return {
        **item_line(project, item),
        "why": why,
        "label": as_json(answers.labels.get(item.place)),
        "instead": doubted[item.place]["instead"] if why == "suspect" else None,
        "answers": [
            {"who": who, "kind": a.kind, "label": as_json(a.label), "reasons": list(notes.reasons(a))}
            for who, a in answers.of(item.place).items()
        ],
        "comments": comments(project, item.place),
    }


def comments(project: Project, place: int) -> list[dict[str, Any]]:
    """Return the comments on an item, oldest first."""
    said = project.answers.notes.comments(place)
    return [{"seq": one.seq, "who": one.who, "at": one.at, "text": one.text or ""} for one in said]


def least_sure(found: Predictions, open_: Array, n: int) -> list[int]:
    """Return the places of the open items whose predictions are the least sure, the least sure first."""
    sure = np.where(open_, found.sure, np.inf)
    places = np.argsort(sure, kind="stable")[:n]
    return [int(place) for place in places if np.isfinite(sure[place])] if len(found.classes) != 1 else []


def agreement(project: Project) -> dict[str, Any]:
    """Return how far people agree, and beyond chance: alpha of all and of each class, kappa of each pair of people.

    Two people have no kappa of numbers, but the median difference. Answers "one of some classes" are left out.
    """
    answers = project.answers
    said = [{who: one for who, one in given.items() if sure([one])} for given in answers.given().values()]
    place = _places(project)
    coded = [[_coded(one, place) for one in given.values()] for given in said]
    pairs: dict[tuple[str, str], list[tuple[Label, Label]]] = {}
    for given in said:
        for one, other in combinations(sorted(given), 2):
            pairs.setdefault((one, other), []).append((given[one], given[other]))
    by_class = {
        name: alpha([[name in named(one) for one in given.values()] for given in said]) for name in answers.classes
    }
    return {
        "agreed": _plain(answers.agreement()),
        "alpha": _plain(alpha(coded, answers.form.distance)),
        "classes": [{"class": name, "alpha": _plain(found)} for name, found in by_class.items()],
        "pairs": [
            {"people": list(both), **_compared(project, labels, place)} for both, labels in sorted(pairs.items())
        ],
    }


def _places(project: Project) -> dict[str, int]:
    """Return the places of ordered classes; nothing for other answers."""
    return {step: k for k, step in enumerate(project.answers.steps)} if project.answers.form.ranked else {}


def _coded(label: Label, place: dict[str, int]) -> Label:
    """Return the place of an ordered class, or the answer as it is."""
    return place[label] if isinstance(label, str) and place else label


def _compared(project: Project, labels: list[tuple[Label, Label]], place: dict[str, int]) -> dict[str, Any]:
    """Return on how many items two people are compared, and how far they agree."""
    form, found = project.answers.form, None
    if form.kind.by_class:
        found = kappa([(_coded(one, place), _coded(other, place)) for one, other in labels], form.distance)
    return {"items": len(labels), "kappa": _plain(found), "apart": form.apart(labels, project.answers.steps)}


def care(project: Project) -> list[dict[str, Any]]:
    """Return how often each person errs, in all and by class, or by how much, as estimated from overlaps and spot checks.

    Beside that stands how many answers they gave, in which way and from which day to which.
    """
    answers = project.answers
    known, done, by = cares(answers), work(answers), decided(answers)
    return [
        known[who].to_json()
        | {"answers": n, "role": answers.roles.get(who), "decided": by.get(who, 0)}
        | done.get(who, {})
        for who, n in answers.people.items()
    ]


def _plain(found: Agreement | Agreed | None) -> dict[str, Any] | None:
    return found and found._asdict()


def explain(project: Project, place: int) -> dict[str, Any]:
    """Explain a question: probabilities of the item, labels that vote for them, effect of an answer, neighborhood."""
    learner, answers = project.learner, project.answers
    quick, one_class = learner.field.votes.size <= MAX_PROBABILITIES, answers.kind.name == "classes"
    found = why(learner.field, learner.readout if quick and one_class else None, place)
    changes = found.changes if one_class else learner.judge.changes(place) if quick else None
    known = project.predictions()
    items = {
        item.place: item for item in project.store.items({*found.nodes.tolist(), *found.voters[:MAX_VOTERS].tolist()})
    }
    at = {node: k for k, node in enumerate(found.nodes.tolist())}

    def describe_node(node: int, x: float, y: float) -> dict[str, Any]:
        return {
            **item_line(project, items[node]),
            "x": x,
            "y": y,
            "label": as_json(answers.labels.get(node)),
            "predicted": as_json(known.labels[node]),
            "p": None if known.labels[node] is None else float(known.sure[node]),
            "center": node == place,
        }

    votes = zip(found.voters[:MAX_VOTERS].tolist(), found.weights[:MAX_VOTERS].tolist(), strict=True)
    p = known.probabilities[place]
    likely = np.argsort(-p, kind="stable")
    return {
        "item": items[place].id,
        "predicted": as_json(known.labels[place]),
        "range": range_of(known, place),
        "probabilities": [{"class": known.classes[c], "p": float(p[c])} for c in likely],
        "voters": [
            {**item_line(project, items[l]), "label": as_json(answers.labels[l]), "weight": w}
            for l, w in votes
            if w > 0
        ],
        "changes": changes if quick else None,
        "counts_for": found.counts_for,
        "nodes": [describe_node(node, *xy) for node, xy in zip(at, found.positions.tolist(), strict=True)],
        "edges": [[at[a], at[b], w] for (a, b), w in zip(found.edges.tolist(), found.strengths.tolist(), strict=True)],
    }


def expected_otherwise(found: Predictions, place: int, said: float) -> tuple[float, float] | None:
    """Return the range that a number was expected in, if it lies twice as far off as that reaches; else None."""
    if found.low is None or found.high is None or found.labels[place] is None:
        return None
    return far_off(float(found.labels[place]), float(found.low[place]), float(found.high[place]), said)


def far_off(expected: float, low: float, high: float, said: float) -> tuple[float, float] | None:
    """Return the ends of a range if a number lies more than twice as far from what is expected as it reaches; else None.

    How far is a difference, or a factor, by whichever what is expected lies in the middle of the range.

    >>> far_off(200.0, 160.0, 240.0, 310.0), far_off(200.0, 160.0, 240.0, 270.0)
    ((160.0, 240.0), None)
    >>> far_off(200.0, 100.0, 400.0, 10.0), far_off(200.0, 100.0, 400.0, 700.0)
    ((100.0, 400.0), None)
    """
    if not low < expected < high:
        return None
    above, below = high - expected, expected - low
    if low > 0 and abs(math.log(high / expected) - math.log(expected / low)) < abs(above - below) / (high - low):
        away, reach = abs(math.log(max(said, TINY) / expected)), math.log(high / expected)
    else:
        away, reach = abs(said - expected), above
    return (low, high) if away > FAR_OFF * reach else None


def range_of(found: Predictions, place: int) -> list[Any] | None:
    """Return the ends of the range that holds another answer to an item with a probability of 0.9; None without an end."""
    if found.low is None or found.high is None:
        return None
    ends = [found.low[place], found.high[place]]
    return ends if all(isinstance(end, str) or math.isfinite(end) for end in ends) else None


def classes(project: Project) -> list[dict[str, Any]]:
    """Return the classes in their order, each with its key, its number of labels and its description."""
    answers, naming = project.answers, project.answers.naming
    given, keys = count_classes(answers.labels.values()), naming.keys(answers.classes, answers.form.keys)
    return [
        {
            "name": name,
            "key": keys[name],
            "count": given[name],
            "description": naming.description(name),
            "reasons": naming.reasons(name),
        }
        for name in answers.classes
    ]


def class_changes(project: Project) -> list[dict[str, Any]]:
    """Return the changes of classes, newest first."""
    naming = project.answers.naming
    return [
        {
            **{name: getattr(c, name) for name in ("seq", "at", "who", "kind", "name", "value", "like")},
            "what": in_words(c),
            "undone": c.seq in naming.undone,
        }
        for c in reversed(naming.log.values())
        if c.kind in CLASS_CHANGES
    ]


def people(project: Project) -> dict[str, Any]:
    """Return the answers of each person, how far people agree, what they disagree on, what leads decided, and second readings."""
    answers = project.answers
    agreed = answers.agreement()
    split = answers.disagreements()[:MAX_SHOWN]
    return {
        "people": [
            {"name": who, "answers": n, "seconds": _median(answers, who), "role": answers.roles.get(who)}
            for who, n in answers.people.items()
        ],
        "decided": decided(answers),
        "agreement": agreed and agreed._asdict(),
        "second": second_readings(project),
        "disputed": [
            {
                **item_line(project, item),
                "answers": [
                    {"who": who, "label": as_json(a.label), "kind": a.kind}
                    for who, a in answers.of(item.place).items()
                    if a.kind != "later"
                ],
            }
            for item in project.store.items(split)
        ],
    }


def history(
    project: Project,
    limit: int,
    before: int | None = None,
    who: str | None = None,
    label: str | None = None,
    reader: str | None = None,
) -> list[dict[str, Any]]:
    """Return the newest lines of the log, at most ``limit``, older than line ``before``, of one person or class or of all.

    Lines on what the ``reader`` is to read unseen are left out, and so are marks to come back, which are each person's own.
    """
    newest, hidden = (
        reversed(project.answers.log.values()),
        set() if reader is None else set(project.second.due(reader)),
    )
    wanted = (
        answer
        for answer in newest
        if (before is None or answer.seq < before)
        and answer.item not in hidden
        and answer.kind in SHOWN
        and who in (None, answer.who)
        and (label is None or (answer.label is not None and label in named(answer.label)))
    )
    return describe(project, list(islice(wanted, limit)))


def describe(project: Project, lines: list[Answer]) -> list[dict[str, Any]]:
    """Return lines of the log with the ids and titles of their items."""
    items = {item.place: item for item in project.store.items({a.item for a in lines})}
    return [
        {
            **{name: getattr(a, name) for name in ("seq", "at", "who", "kind", "seconds", "how")},
            "label": as_json(a.label),
            "predicted": as_json(a.predicted),
            "text": a.text if a.kind == "comment" else None,
            "reasons": list(reasons_in(a.text) if a.kind == "reasons" else project.answers.notes.reasons(a)),
            **item_line(project, items[a.item]),
            "undone": a.seq in project.answers.undone,
            "current": project.answers.counts(a),
            "lead": project.answers.is_led(a),
        }
        for a in lines
    ]


def checkup(project: Project) -> dict[str, Any]:
    """Check the file and the graph; return what was found, what to improve, and the damage if there is any."""
    damage = project.store.damage()
    report = project.graph.report()
    improve = list(project.learner.judge.advice()) if can_judge(project) else []
    if report.isolated:
        improve.append(
            f"{counted(report.isolated, 'item')} without a neighbor: nothing can be predicted for them; add edges"
        )
    if report.components - report.isolated > 1:
        improve.append(f"{counted(report.components, 'part')} not joined to each other: each needs labels of its own")
    improve += look_at_degrees(project.graph)
    if not project.answers.classes and project.answers.kind.by_class:
        improve.append("no class is declared yet: the first answer makes one")
    improve += _improve_columns(project)
    checked = [
        f"file: {'damaged' if damage else 'sound'}",
        f"log: {counted(len(project.answers.log), 'line')}, {counted(len(project.answers.undone), 'undone one')}",
        f"contents: {counted(project.answers.changes, 'change')} of classes and guidelines, sha256 {pin(project)}",
        *(f"joined: {note}" for note in project.about["graph"]),
        *(f"labels: {line}" for line in _describe_labels(project)),
    ]
    experts = [*str(report).splitlines(), f"engine {project.learner.engine}", f"SQLite {sqlite3.sqlite_version}"]
    return {
        "checked": checked,
        "experts": experts,
        "improve": improve,
        "damage": damage and f"{project.store.path}: {damage}; {restore_advice(project.store.path)}",
    }


def pin(project: Project) -> str:
    """Return the sha256 of the items' ids and of all lines of both logs that were read."""
    return project.store.digest(project.answers.seq, project.answers.changes)


def to_sign(project: Project) -> dict[str, Any]:
    """Return all that a report to be signed says, as the functions say it that commands and the page call, too."""
    answers, about = project.answers, project.about
    said = progress(project, project.predictions())
    return {
        "project": about["project"],
        "kind": answers.kind.name,
        "unit": getattr(answers.kind, "unit", None),
        **{name: said[name] for name in ("items", "labels", "left", "error", "checks", "find")},
        "aside": dict(Counter(answers.aside.values())),
        "numbers": numbers(answers),
        "classes": quality_of_classes(project, said["classes"]),
        "descriptions": {name: text for name in answers.classes if (text := answers.naming.description(name))},
        "people": work(answers),
        "decided": decided(answers),
        "ways": ways(answers),
        "guidelines": guideline_versions(answers),
        "agreement": agreement(project),
        "second": second_readings(project),
        "reasons": reasons(answers),
        "commented": len(answers.notes.commented),
        "unseen": unseen(project),
        "joined": about["graph"],
        "sampler": about["settings"]["utility"],
        "seed": about["seed"],
        "lines": len(answers.log),
        "undone": len(answers.undone),
        "changes": answers.changes,
        "sha256": pin(project),
    }


def _describe_labels(project: Project) -> list[str]:
    """Return sentences on the labels there are; of classes, on those of which somebody is sure."""
    labels = project.answers.labels
    if not project.answers.form.exclusive:
        return [counted(len(labels), "label")]
    known = {item: label for item, label in labels.items() if isinstance(label, str)}
    return describe_labels(known, *homophily(project.graph, known))


def _improve_columns(project: Project) -> list[str]:
    """Return what to know about the columns: text that is not compared, numbers that are not shown, leftovers of HTML."""
    compared = project.about.get("compared", [])
    hidden = [name for name in project.about.get("hidden", []) if name not in project.items.unseen]
    some = project.store.items(range(min(project.items.n_items, COLUMN_SAMPLE)))
    texts = {
        name: [str(item.fields.get(name, "")) for item in some]
        for name, kind in project.items.shown.items()
        if kind == "text"
    }
    prose = [name for name, cells in texts.items() if sum(map(len, cells)) >= MIN_TEXT_CHARACTERS * max(len(cells), 1)]
    left = [name for name in prose if name not in compared] if compared else []
    offered = project.items.columns.get("offered") or []
    marked = [name for name, cells in texts.items() if any(readable(cell) != cell for cell in cells)]
    said = [f"{few(offered)}: labels that you had already? then make it anew with --label"] if offered else []
    said += [f"{few(left)} holds text that items are not compared by; name it too with --text"] if left else []
    if hidden:
        said.append(
            f"{counted(len(hidden), 'column')} of numbers compared and not shown on the card; --show names what to show"
        )
    if marked:
        said.append(
            f"{few(marked)} holds leftovers of HTML (such as &amp; or #39;): the page shows them as people read them"
        )
    return said


def _median(answers: Any, who: str) -> float | None:
    times = [a.seconds for a in answers.log.values() if a.who == who and a.seconds is not None]
    return float(np.median(times)) if times else None


def suggested(project: Project, place: int) -> list[dict[str, Any]]:
    """Return the labels that models guess for an item, the one with the most sources first, and who guesses each."""
    found: dict[str, list[str]] = {}
    for one in standing_guesses(project.store, project.answers.naming, place):
        sure = "" if one.score is None else f" ({one.score:.0%} sure)"
        found.setdefault(one.label, []).append(f"{one.source}{sure}")
    ranked = sorted(found.items(), key=lambda label: -len(label[1]))
    return [{"label": label, "by": ", ".join(sources)} for label, sources in ranked]


def suspect_guesses(project: Project, n: int) -> list[dict[str, Any]]:
    """Return the guesses that are most likely wrong, as ``learner.guesses.suspects`` ranks them."""
    found = project.learner.guesses.suspects(n)
    items = project.store.items(int(str(one.node)) for one in found)
    return [
        {"item": item.id, "title": project.items.title(item), **{k: v for k, v in one._asdict().items() if k != "node"}}
        for item, one in zip(items, found, strict=True)
    ]
