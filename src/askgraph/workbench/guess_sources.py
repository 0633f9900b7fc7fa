"""The sources of guesses side by side: how many items each speaks of, how often it is right, where it errs, and against whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from askgraph.kinds.random_answers import Drawn
from askgraph.workbench.answers import TOGETHER
from askgraph.workbench.project import Project
from askgraph.workbench.report import item_line
from askgraph.workbench.rules import standing_guesses, standing_rules

MAX_SHOWN = 50  # items listed on which a source disagrees with people or with another source
Plain = dict[str, Any]


def sources(project: Project) -> Plain:
    """Return all sources of guesses, the pairs of them that contradict each other, and the items on which one disagrees.

    What a source guesses is compared with labels that people gave one by one: those given many at once often follow it. Its
    precision has the range that holds if the items compared are a random sample of those that it speaks of.
    """
    rules, people = standing_rules(project.answers.naming), _labels_one_by_one(project)
    said: dict[str, dict[int, str]] = {source: {} for source in rules}
    for one in standing_guesses(project.store, project.answers.naming):
        said.setdefault(one.source, {})[one.item] = one.label
    right = {one.name: one.right for one in project.learner.guesses.sources if one.right == one.right}
    rows = []
    for source, guesses in said.items():
        rule = rules.get(source)
        made = rule and {"number": rule[0].seq, "class": rule[2], "who": rule[0].who, "text": str(rule[1])}
        share = len(guesses) / project.items.n_items
        row = {"name": source, "rule": made, "guesses": len(guesses), "share": share, "about": right.get(source)}
        rows.append(row | _compared(guesses, people))
    return {"sources": rows, "pairs": _pairs(said), **_disputed(project, said, people)}


def _labels_one_by_one(project: Project) -> dict[int, str]:
    """Return the classes that people gave to items, not those given together with others in one step alone."""
    answers, found = project.answers, {}
    for item, label in answers.labels.items():
        ways = answers.ways(item)
        if isinstance(label, str) and not (ways and TOGETHER.issuperset(ways)):
            found[item] = label
    return found


def _compared(guesses: Mapping[int, str], people: Mapping[int, str]) -> Plain:
    """Return how many guesses are of items that people labeled, how many of them agree, and the range of that share."""
    compared = [item for item in guesses if item in people]
    agreed = sum(guesses[item] == people[item] for item in compared)
    low, high = Drawn(len(compared), len(compared) - agreed).range(len(guesses), 0.5) if compared else (0.0, 1.0)
    ends = {"low": 1 - high, "high": 1 - low} if compared else {"low": None, "high": None}
    return {"compared": len(compared), "agreed": agreed, **ends}


def _pairs(said: Mapping[str, Mapping[int, str]]) -> list[Plain]:
    """Return the pairs of sources that speak of the same items and contradict each other, those that do so most first."""
    found = []
    for one, other in combinations(said, 2):
        both = said[one].keys() & said[other].keys()
        if differ := sum(said[one][item] != said[other][item] for item in both):
            found.append({"sources": [one, other], "both": len(both), "differ": differ})
    return sorted(found, key=lambda pair: -pair["differ"])


def _disputed(project: Project, said: Mapping[str, Mapping[int, str]], people: Mapping[int, str]) -> Plain:
    """Return the items on which a source disagrees with people, then those on which sources disagree; and how many there are."""
    wrong = Counter[int]()
    by_item: dict[int, dict[str, str]] = {}
    for source, guesses in said.items():
        for item, label in guesses.items():
            by_item.setdefault(item, {})[source] = label
            wrong[item] += item in people and people[item] != label
    against = sorted((item for item, n in wrong.items() if n), key=lambda item: (-wrong[item], item))
    between = sorted(i for i, labels in by_item.items() if i not in people and len(set(labels.values())) > 1)
    lines = [
        {
            **item_line(project, item),
            "label": people.get(item.place),
            "guesses": [{"source": source, "label": label} for source, label in by_item[item.place].items()],
        }
        for item in project.store.items([*against, *between][:MAX_SHOWN])
    ]
    return {"against": len(against), "between": len(between), "items": lines}
