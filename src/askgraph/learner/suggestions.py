"""Labels that models suggest: who suggested what, and how surely."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askgraph.answers.plain import plain_label
from askgraph.errors import LabelError
from askgraph.readouts.suggested import OTHER, SILENT, Witness
from askgraph.spaces.base import Space
from askgraph.types import Array, IntArray

MODEL = "model"  # the source of suggestions that name none
GROUPS = (
    3  # suggestions of a source with scores are counted in as many groups of like scores, each with its own confusions
)


class SuggestionSource(NamedTuple):
    """How good the suggestions of a source are, by the labels so far.

    Attributes
    ----------
    name : str
        The source.
    suggestions : int
        The number of nodes that it suggests a label for.
    compared : int
        The number of these nodes that are labeled.
    agreed : int
        The number of labels that are as suggested.
    right : float
        The estimated share of its suggestions that are right, over all nodes; NaN before the first label.

    Examples
    --------
    >>> print(SuggestionSource("a model", 7600, 20, 14, 0.71))
    a model: 7,600 suggestions, about 71 % right; 14 of 20 agree with labels
    """

    name: str
    suggestions: int
    compared: int
    agreed: int
    right: float

    def __str__(self) -> str:
        """Return a line for a person."""
        about = "" if np.isnan(self.right) else f", about {100 * self.right:.0f} % right"
        compared = (
            f"{self.agreed} of {self.compared} agree with labels" if self.compared else "none compared with a label yet"
        )
        return f"{self.name}: {self.suggestions:,} suggestions{about}; {compared}"


class SuspectSuggestion(NamedTuple):
    """A suggestion, and how likely it is right.

    Attributes
    ----------
    node : hashable
        The node, which is not labeled.
    source : str
        Who suggested the label.
    label : hashable
        The label suggested.
    instead : hashable
        The likeliest class by labels, the graph and all suggestions.
    chance : float
        The probability of ``label`` by the same; 0 for a label that is not a class.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(9), rng=0)
    >>> learner.suggest_all({1: "left", 2: "right", 3: "left", 6: "right"})
    >>> learner.tell_all({0: "left", 8: "right"})
    >>> learner.suspect_suggestions(1)[0][:4]
    (2, 'model', 'right', 'left')
    """

    node: Hashable
    source: str
    label: Hashable
    instead: Hashable
    chance: float


class Suggestions:
    """What each source suggests, {source: {node: (label, score)}}; the last suggestion of a source for a node counts."""

    def __init__(self) -> None:
        self.by_source: dict[str, dict[int, tuple[Hashable, float | None]]] = {}
        self.version: int = 0  # grows with every change

    def __bool__(self) -> bool:
        return bool(self.by_source)

    def add(self, source: str, labels: Mapping[int, Hashable], scores: Mapping[int, float]) -> None:
        """Add suggestions of a source, checked: all or none, in one step that an interrupt cannot divide."""
        new = {node: (plain_label(label), _score(scores.get(node))) for node, label in labels.items()}
        if new:
            source = _name(source)
            self.version += 1  # before the change: what was computed by the version before is never taken for later
            if source in self.by_source:
                self.by_source[source].update(new)
            else:
                self.by_source[source] = new

    def of(self, node: int) -> list[tuple[str, Hashable, float | None]]:
        """Return (source, label, score) of the suggestions for a node."""
        return [(source, *said[node]) for source, said in self.by_source.items() if node in said]

    def witnesses(self, classes: Sequence[Hashable], space: Space) -> list[Witness]:
        """Return what each source says of each node."""
        return [_witness(said, classes, space) for said in self.by_source.values()]

    def to_rows(self) -> tuple[Any, ...]:
        """Return plain values that can be saved: one (source, ((node, label, score), ...)) per source."""
        return tuple(
            (source, tuple((node, *rest) for node, rest in said.items())) for source, said in self.by_source.items()
        )

    @classmethod
    def from_rows(cls, rows: Iterable[Any]) -> Suggestions:
        """Return the suggestions that ``to_rows`` gave."""
        made = cls()
        for source, said in rows:
            scores = {node: score for node, _, score in said if score is not None}
            made.add(source, {node: label for node, label, _ in said}, scores)
        return made


def _name(source: str) -> str:
    if not isinstance(source, str) or not source.strip():
        raise LabelError(f"source={source!r}: name who suggests, in a text such as 'gpt'")
    return source


def _score(score: float | None) -> float | None:
    if score is None:
        return None
    if not isinstance(score, int | float | np.number) or not 0 <= score <= 1:
        raise LabelError(f"score={score!r}: a score is a number from 0 (a guess) to 1 (sure)")
    return float(score)


def _witness(said: Mapping[int, tuple[Hashable, float | None]], classes: Sequence[Hashable], space: Space) -> Witness:
    """Return what a source says: a label, with a score like others' or without one, or nothing."""
    nodes, spoken = np.fromiter(said, np.int64, len(said)), [label for label, _ in said.values()]
    groups = _groups(np.array([np.nan if score is None else score for _, score in said.values()]))
    labels = list(dict.fromkeys([*classes, *spoken]))
    place = {label: k for k, label in enumerate(labels)}
    codes = np.array([place[label] for label in spoken], dtype=np.int64) + len(labels) * groups
    used, codes = np.unique(codes, return_inverse=True)
    stands = np.where(used % len(labels) < len(classes), used % len(labels), OTHER)
    matrix = space.put(space.zeros(used.size + 1), nodes, np.eye(used.size, used.size + 1)[codes])
    matrix[:, -1] = matrix.sum(axis=1) == 0
    return Witness(matrix, np.append(stands, SILENT))


def _groups(scores: Array) -> IntArray:
    """Return 0 for a suggestion without a score, and from 1 on, by its score, for the others."""
    known = scores[~np.isnan(scores)]
    edges = np.unique(np.quantile(known, np.arange(1, GROUPS) / GROUPS)) if known.size else known
    return np.where(np.isnan(scores), 0, 1 + np.searchsorted(edges, scores, side="right"))
