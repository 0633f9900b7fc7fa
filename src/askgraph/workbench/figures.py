"""Figures of a project, each counted once: commands, the page, the paragraph for a paper and the report all say these."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from askgraph.answers.plain import plain_number
from askgraph.kinds.random_answers import Drawn
from askgraph.workbench.agreement import alpha
from askgraph.workbench.answers import IMPORT, KINDS, TOGETHER, Answer, Answers, How
from askgraph.workbench.forms import named, sure
from askgraph.workbench.project import Project

MANY: tuple[How, ...] = ("map", "table", "group")  # ways to answer many items in one step, beside exact copies
Plain = dict[str, Any]


def standing(answers: Answers) -> list[Answer]:
    """Return the lines of the log that people wrote and nobody took back; not labels that came with the data."""
    lines = answers.log.values()
    return [a for a in lines if a.who != IMPORT and a.kind in KINDS and a.seq not in answers.undone]


def imported(answers: Answers) -> int:
    """Return how many labels came with the data, and nobody else gave one."""
    return sum(set(answers.of(place)) == {IMPORT} for place in answers.labels)


def work(answers: Answers) -> dict[str, Plain]:
    """Return of each person how many answers they gave in which way, how many to spot checks, and from which day to which."""
    by_person: dict[str, list[Answer]] = {}
    for answer in standing(answers):
        by_person.setdefault(answer.who, []).append(answer)
    return {who: _work_of(said) for who, said in by_person.items()}


def _work_of(said: list[Answer]) -> Plain:
    return {
        "answers": len(said),
        "single": sum(a.how not in TOGETHER for a in said),
        "many": sum(a.how in MANY for a in said),
        "copies": sum(a.how == "copy" for a in said),
        "checks": sum(a.predicted is not None for a in said),
        "first": min(a.at for a in said)[:10],
        "last": max(a.at for a in said)[:10],
    }


def decided(answers: Answers) -> dict[str, int]:
    """Return on how many items the word of each lead decides against others."""
    return dict(Counter(answers.decided().values()))


def ways(answers: Answers) -> Plain:
    """Return how many answers were given one by one, how many in which way to many items, in how many steps, and to copies."""
    said = standing(answers)
    steps = {how: {a.key.partition(":")[0] for a in said if a.how == how} for how in MANY}
    count = Counter(a.how for a in said)
    many = {how: {"answers": count[how], "steps": len(keys)} for how, keys in steps.items()}
    return {"single": sum(a.how not in TOGETHER for a in said), "many": many, "copies": count["copy"]}


def numbers(answers: Answers) -> dict[str, float] | None:
    """Return the least, the median and the largest number that counts; None where answers are classes, or there is none."""
    given = [] if answers.kind.by_class else sorted(map(plain_number, answers.labels.values()))
    return {"least": given[0], "median": statistics.median(given), "largest": given[-1]} if given else None


def guideline_versions(answers: Answers) -> list[Plain]:
    """Return the versions of the guidelines, oldest first, and how many answers that stand were given under each.

    Version 0 stands for the time without guidelines, where somebody answered then.
    """
    given = Counter(answers.version(a) for a in standing(answers))
    known = [
        {"version": k, "who": one.who, "at": one.at, "answers": given[k], "text": one.value or ""}
        for k, one in enumerate(answers.guidelines, 1)
    ]
    without = [{"version": 0, "who": None, "at": None, "answers": given[0], "text": ""}] if given[0] else []
    return [*without, *known] if known else []


def spot_checks(project: Project) -> Plain | None:
    """Return how items drawn at random came out; None where there are none.

    ``right`` are predicted right by all other answers, ``before`` were predicted right before the answer, as the log has it;
    both are None of numbers, whose predictions were ``off`` by so much, in the root of the mean square.
    """
    judge = project.learner.judge
    if not (checks := judge.spot_checks):
        return None
    if not project.answers.kind.by_class:
        squares = [(plain_number(one.predicted) - plain_number(one.label)) ** 2 for one in checks]
        return {"count": len(checks), "right": None, "before": None, "off": statistics.fmean(squares) ** 0.5}
    before = sum(one.predicted == one.label for one in checks)
    return {"count": len(checks), "right": judge.spot_checks_right, "before": before, "off": None}


def hits(project: Project) -> list[bool]:
    """Return of each labeled item whether it is of what is sought, in the order in which items were first labeled."""
    answers = project.answers
    given = dict.fromkeys(a.item for a in answers.log.values() if a.label is not None and a.seq not in answers.undone)
    labels = [answers.labels[item] for item in given if item in answers.labels]
    return [answers.kind.is_found(label, project.model.sought) for label in labels]


def quality_of_classes(project: Project, counts: Iterable[Plain]) -> list[Plain]:
    """Return the counts of each class with its expected F1 among unlabeled items, and how its spot checks came out.

    The F1 rests on the model's probabilities alone. Of the spot checks that are of the class, ``right`` are predicted so: by all
    other answers, or where items have several classes, before the answer. ``low`` to ``high`` is the range of that share.
    """
    judge, answers = project.learner.judge, project.answers
    held = project.learner.field.held
    judged = held > 0 and answers.kind.by_class and answers.form.can_judge(answers.classes, held)
    errors = judge.errors_by_class() if judged and held < project.items.n_items else {}
    checks = list(zip(judge.spot_checks, judge.spot_checks_wrong, strict=True)) if judged else []
    rows = []
    for one in counts:
        name, error = one["name"], errors.get(one["name"])
        of_class = [(check, wrong) for check, wrong in checks if name in named(check.label)]  # type: ignore[arg-type]
        missed = [
            wrong if answers.form.exclusive else name not in named(check.predicted)  # type: ignore[arg-type]
            for check, wrong in of_class
        ]
        rows.append(
            one
            | {
                "f1": None if error is None or not one["predicted"] else 1 - error,
                "checks": _share_right(missed, project.items.n_items, error),
            }
        )
    return rows


def _share_right(missed: list[bool], items: int, error: float | None) -> Plain | None:
    """Return how many spot checks are right, and the range of their share among all items; None without spot checks."""
    if not missed:
        return None
    low, high = Drawn(len(missed), sum(missed)).range(items, 0.5 if error is None else error)
    return {"count": len(missed), "right": len(missed) - sum(missed), "low": 1 - high, "high": 1 - low}


def second_readings(project: Project) -> Plain | None:
    """Return how many items a second person read without seeing the first answer, and how far both agree; None without any.

    ``share`` is that of answered items to be read so, ``left`` how many of these nobody has read yet. ``same`` counts the pairs of
    answers that are the same, None of numbers; ``apart`` is how far two labels are apart, ``alpha`` Krippendorff's of these pairs.
    The first answer is as it was when the second came.
    """
    answers, pairs = project.answers, project.answers.second_readings()
    if not pairs and not project.second.share:
        return None
    labels = [(one.label, other.label) for one, other in pairs if one.label is not None and other.label is not None]
    known = [pair for pair in labels if len(sure(pair)) == len(pair)]
    same = sum((one.kind, one.label) == (other.kind, other.label) for one, other in pairs)
    place: dict[Any, int] = {step: k for k, step in enumerate(answers.steps)} if answers.form.ranked else {}
    found = alpha([[place.get(one, one) for one in pair] for pair in known], answers.form.distance)
    return {
        "share": project.second.share,
        "left": len(project.second.due()),
        "read": len(pairs),
        "same": same if answers.kind.by_class else None,
        "apart": answers.form.apart(known, answers.steps) if known else None,
        "alpha": found and found._asdict(),
    }


def reasons(answers: Answers) -> list[Plain]:
    """Return how many items have which of the declared reasons for the label that counts, by class."""
    given: Counter[tuple[str, str]] = Counter()
    for item, label in answers.labels.items():
        for reason in answers.reasons(item):
            given.update([(name, reason) for name in named(label) if reason in answers.naming.reasons(name)])
    declared = [(name, reason) for name in answers.classes for reason in answers.naming.reasons(name)]
    return [{"class": name, "reason": reason, "count": given[name, reason]} for name, reason in declared]


def unseen(project: Project) -> Plain:
    """Return what nobody has looked at, or could be compared."""
    answers = project.answers
    used = {name for label in answers.labels.values() for name in named(label)}
    outdated = standing(answers) if answers.guidelines else []
    return {
        "left": project.log.left,
        "together": answers.together(),
        "imported": imported(answers),
        "classes": [name for name in answers.classes if name not in used],
        "alone": int(np.count_nonzero(np.diff(project.graph.weights.indptr) == 0)),
        "outdated": sum(answers.version(a) < len(answers.guidelines) for a in outdated),
    }
