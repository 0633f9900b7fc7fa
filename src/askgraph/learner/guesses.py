"""Labels that models guess: who guessed what, how surely, and how good the guesses are."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.answers.plain import plain_label
from askgraph.errors import LabelError
from askgraph.learner.state import Whole
from askgraph.readouts.guesses import OTHER, SILENT, Witness
from askgraph.spaces.base import Space
from askgraph.support.arguments import node_mapping, whole_number
from askgraph.support.turns import in_turn
from askgraph.types import Array, IntArray

MODEL = "model"  # the source of guesses that name none
GROUPS = 3  # guesses of a source with scores are counted in as many groups of like scores, each with its own confusions


class GuessSource(NamedTuple):
    """How good the guesses of a source are, by the labels so far.

    Attributes
    ----------
    name : str
        The source.
    guesses : int
        The number of nodes that it guesses the label of.
    compared : int
        The number of these nodes that are labeled.
    agreed : int
        The number of labels that are as guessed.
    right : float
        The estimated share of its guesses that are right, over all nodes; NaN before the first label.

    Examples
    --------
    >>> print(GuessSource("a model", 7600, 20, 14, 0.71))
    a model: 7,600 guesses, about 71 % right; 14 of 20 agree with labels
    """

    name: str
    guesses: int
    compared: int
    agreed: int
    right: float

    def __str__(self) -> str:
        """Return a line for a person."""
        about = "" if np.isnan(self.right) else f", about {100 * self.right:.0f} % right"
        compared = (
            f"{self.agreed} of {self.compared} agree with labels" if self.compared else "none compared with a label yet"
        )
        return f"{self.name}: {self.guesses:,} guesses{about}; {compared}"


class SuspectGuess(NamedTuple):
    """A guess, and how likely it is right.

    Attributes
    ----------
    node : hashable
        The node, which is not labeled.
    source : str
        Who guessed the label.
    label : hashable
        The label guessed.
    instead : hashable
        The likeliest class by labels, the graph and all guesses.
    chance : float
        The probability of ``label`` by the same; 0 for a label that is not a class.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(9), rng=0)
    >>> learner.guesses.tell_all({1: "left", 2: "right", 3: "left", 6: "right"})
    >>> learner.tell_all({0: "left", 8: "right"})
    >>> learner.guesses.suspects(1)[0][:4]
    (2, 'model', 'right', 'left')
    """

    node: Hashable
    source: str
    label: Hashable
    instead: Hashable
    chance: float


class Guesses:
    """What models guess, by source; ``learner.guesses``: evidence for predictions, not labels.

    How often a source is right, and what it takes for what, is estimated from the labels told and from the graph, so a source
    that guesses at random changes next to nothing. A node with a guess is asked for like any other, and questions do not depend
    on guesses.

    Attributes
    ----------
    by_source : dict
        {source: {node: (label, score)}}, by the indices of nodes; the last guess of a source for a node counts.
    version : int
        A number that grows with every change.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(9), rng=0)
    >>> learner.tell_all({0: "left", 8: "right"})
    >>> learner.guesses.tell_all({4: "right", 5: "right", 6: "right", 7: "right"}, source="a model")
    >>> print(learner.guesses.sources[0])
    a model: 4 guesses, about 94 % right; none compared with a label yet
    """

    by_source: dict[str, dict[int, tuple[Hashable, float | None]]]
    version: int

    def __init__(self, learner: Whole) -> None:
        self.by_source, self.version = {}, 0
        self._learner, self._turn = learner, learner._turn

    def __bool__(self) -> bool:
        return bool(self.by_source)

    @in_turn
    def tell(self, node: Hashable, label: Hashable, source: str = MODEL, score: float | None = None) -> None:
        """Tell what a model guesses of a node.

        Parameters
        ----------
        node : hashable
            The node.
        label : hashable
            The label guessed; one that is not a class yet is not made one.
        source : str
            Who guesses; a source has one guess per node, the last one.
        score : float, optional
            How sure the source is, from 0 to 1. Guesses with like scores are judged together, so scores need not be
            probabilities.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.guesses.tell(4, "right", source="a model", score=0.9)
        >>> learner.guesses.sources[0].guesses
        1
        """
        name = self._learner.graph.name(self._learner.graph.index(node))
        self.tell_all({name: label}, source, None if score is None else {name: score})

    @in_turn
    def tell_all(
        self, labels: Mapping[Any, Hashable], source: str = MODEL, scores: Mapping[Any, float] | None = None
    ) -> None:
        """Tell what a model guesses of many nodes: all or none of it.

        Parameters
        ----------
        labels : mapping
            {node: label}.
        source : str
            Who guesses.
        scores : mapping, optional
            {node: score}, how sure the source is, from 0 to 1.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.guesses.tell_all({1: "left", 7: "right"}, source="a model", scores={1: 0.9, 7: 0.6})
        >>> learner.guesses.sources[0].guesses
        2
        """
        index = self._learner.graph.index
        sure = {index(node): score for node, score in node_mapping(scores, "scores").items()}
        said = {index(node): label for node, label in node_mapping(labels, "labels", needed=True).items()}
        self._add(source, said, sure)

    def _add(self, source: str, labels: Mapping[int, Hashable], scores: Mapping[int, float]) -> None:
        """Add guesses of a source, checked, in one step that an interrupt cannot divide."""
        self._learner.answers.check_guesses()
        new = {node: (plain_label(label), _score(scores.get(node))) for node, label in labels.items()}
        if new:
            source = _name(source)
            self.version += 1  # before the change: what was computed by the version before is never taken for later
            if source in self.by_source:
                self.by_source[source].update(new)
            else:
                self.by_source[source] = new

    @property
    @in_turn
    def sources(self) -> list[GuessSource]:
        """Who guessed, and how good the guesses are by the labels so far."""
        if not self.by_source:  # as of numbers, which have no probabilities
            return []
        told, p = self._learner.history.told, self._learner.probabilities()
        return [self._source(name, said, told, p) for name, said in self.by_source.items()]

    @in_turn
    def suspects(self, n: int = 100) -> list[SuspectGuess]:
        """Return the guesses that are most likely wrong, by labels, the graph and all guesses; look at these first.

        Parameters
        ----------
        n : int
            The number of guesses.

        Returns
        -------
        list of SuspectGuess
            Up to n guesses of nodes that are not labeled, the least likely first; none before the first label.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.guesses.tell_all({1: "left", 2: "right", 3: "left", 6: "right"}, source="a model")
        >>> learner.tell_all({0: "left", 8: "right"})
        >>> learner.guesses.suspects(1)[0][:4]
        (2, 'a model', 'right', 'left')
        """
        n, learner = whole_number(n, "n"), self._learner
        if not learner.field.held or not self.by_source:
            return []
        p, labeled = learner.probabilities(), {x.node for x in learner.field.observations}
        likeliest, found = coding.decide(p), []
        for source, said in self.by_source.items():
            for (node, (label, _)), chance in zip(said.items(), self._chances(said, p).tolist(), strict=True):
                if node not in labeled:
                    found.append((chance, node, source, label))
        found.sort(key=lambda one: one[:2])
        name, classes = learner.graph.name, learner.history.classes
        return [
            SuspectGuess(name(node), source, label, classes[likeliest[node]], chance)
            for chance, node, source, label in found[:n]
        ]

    def witnesses(self, classes: Sequence[Hashable], space: Space) -> list[Witness]:
        """Return what each source says of each node.

        Parameters
        ----------
        classes : sequence of hashable
            The classes.
        space : Space
            Where the rows live.

        Returns
        -------
        list of Witness
            One per source.
        """
        return [_witness(said, classes, space) for said in self.by_source.values()]

    def to_rows(self) -> tuple[Any, ...]:
        """Return plain values that can be saved.

        Returns
        -------
        tuple
            One (source, ((node, label, score), ...)) per source.
        """
        return tuple(
            (source, tuple((node, *rest) for node, rest in said.items())) for source, said in self.by_source.items()
        )

    def restore(self, rows: Iterable[Any]) -> None:
        """Take over the guesses that ``to_rows`` gave.

        Parameters
        ----------
        rows : iterable
            One (source, ((node, label, score), ...)) per source.
        """
        for source, said in rows:
            scores = {node: score for node, _, score in said if score is not None}
            self._add(source, {node: label for node, label, _ in said}, scores)

    def _source(self, name: str, said: Mapping[int, Any], told: Mapping[int, Hashable], p: Array) -> GuessSource:
        compared = [node for node in said if node in told]
        agreed = sum(said[node][0] == told[node] for node in compared)
        right = float(self._chances(said, p).mean()) if told else math.nan
        return GuessSource(name, len(said), len(compared), agreed, right)

    def _chances(self, said: Mapping[int, Any], p: Array) -> Array:
        """Return the probability of each label guessed; 0 for a label that is not a class."""
        place = {label: k for k, label in enumerate(self._learner.history.classes)}
        nodes, codes = np.fromiter(said, np.int64, len(said)), [place.get(label, -1) for label, _ in said.values()]
        return np.column_stack([p, np.zeros(len(p))])[nodes, codes]


def _name(source: str) -> str:
    if not isinstance(source, str) or not source.strip():
        raise LabelError(f"source={source!r}: name who guesses, in a text such as 'gpt'")
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
    """Return 0 for a guess without a score, and from 1 on, by its score, for the others."""
    known = scores[~np.isnan(scores)]
    edges = np.unique(np.quantile(known, np.arange(1, GROUPS) / GROUPS)) if known.size else known
    return np.where(np.isnan(scores), 0, 1 + np.searchsorted(edges, scores, side="right"))
