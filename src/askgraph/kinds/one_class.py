"""One class per answer: the kind of answers that a learner expects unless told otherwise."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from askgraph.answers import coding
from askgraph.answers.coding import Classes, Said, parts_of
from askgraph.answers.plain import declared_classes, label_array, plain_label
from askgraph.answers.shares import OneOf, Shares, as_shares, check_known
from askgraph.answers.sought import AtLeast
from askgraph.errors import LabelError
from askgraph.field import Field, Observation
from askgraph.field.leave_one_out import Supposed, left_out
from askgraph.kinds.changes import expected_changes
from askgraph.kinds.diagnostics import SUSPICIOUS, Suspect, advice, doubtful, said_of_numbers, said_of_wrong
from askgraph.kinds.kind import Kind, Making, Moment
from askgraph.kinds.stopping import ErrorEstimate, expected_error, wrong_without
from askgraph.plan import Plan
from askgraph.plan.loss import loss
from askgraph.plan.noise import ChosenNoise
from askgraph.priors.base import Prior
from askgraph.readouts import Cautious, Consensus, Tempered
from askgraph.readouts.hearing import surprise_heard
from askgraph.readouts.temperature import surprise
from askgraph.types import AnyArray, Array, BoolArray, IntArray

READ_ALIKE = (Cautious, Consensus, Tempered)  # readouts whose decisions leave-one-out follows


@dataclass(frozen=True)
class OneClass(Kind):
    """One class per answer; ``answers="classes"``."""

    name: ClassVar[str] = "classes"
    stop_at: ClassVar[float | None] = 0.05
    guessed: ClassVar[bool] = True
    grouped: ClassVar[bool] = True
    judges_anew: ClassVar[bool] = True

    def checked(self, answer: Any, classes: Sequence[Hashable]) -> Hashable:
        """Return a class, one of several, or shares, as a plain value."""
        if isinstance(answer, Set) and not isinstance(answer, frozenset):
            raise LabelError(
                f"{answer!r} is a set: if the node is one of them, tell one_of(...); if it has all of them, make a learner "
                "with answers='several'"
            )
        if isinstance(answer, AtLeast):
            raise LabelError(f"{answer} is what may be sought among ordered answers, and no answer: tell a class")
        if isinstance(answer, Mapping):
            answer = as_shares(answer)
        if isinstance(answer, OneOf | Shares):
            check_known(answer, classes)
            return answer
        return plain_label(answer)

    def named(self, answer: Any) -> tuple[Hashable, ...]:
        """Return the class, or those that have a share."""
        return answer.names if isinstance(answer, OneOf | Shares) else (answer,)

    def declared(self, classes: Iterable[Hashable] | None) -> list[Hashable]:
        """Return the classes known before any label."""
        return declared_classes(classes)

    def coding(self, classes: Sequence[Hashable]) -> Classes:
        """Return a column per class."""
        return Classes(len(classes))

    def coded(self, answer: Any, classes: Sequence[Hashable]) -> Said:
        """Return the index of the class, or shares by indices."""
        places = list(classes)
        if not isinstance(answer, OneOf | Shares):
            return places.index(answer)
        return tuple(sorted((places.index(name), share) for name, share in answer.shares))

    def check_sought(self, sought: Any) -> Hashable:
        """Return one class."""
        if isinstance(sought, OneOf | Shares | AtLeast):
            raise LabelError(f"{sought} cannot be sought among classes: name one class")
        return plain_label(sought)

    def foreseen(self, moment: Moment, node: int) -> dict[Any, Hashable]:
        """Return the classes, the likeliest first; before any class, the first one that may come."""
        field, classes = moment.field, moment.history.classes
        if not classes:
            return {0: None}
        votes = field.space.pick(field.votes, np.array([node]))
        likely = np.argsort(-coding.chances(votes)[0], kind="stable")
        return {code: classes[code] for code in likely.tolist()}

    def with_rules(self, plan: Plan, making: Making) -> Plan:
        """Return the plan, which chooses the label noise unless it is given."""
        return super().with_rules(plan.with_noise_chosen() if isinstance(making.noise, str) else plan, making)

    def price(self, prior: Prior, labels: Sequence[Observation], coding: Classes, features: bool) -> tuple[float, int]:
        """Return what labels cost that are not alone in their class; with features, neighbors are heard where that is better."""
        return (surprise_heard if features else surprise)(prior, labels, coding)

    def loss(self, told: Supposed) -> float:
        """Return what labels cost that are not alone in their class."""
        return loss(told)

    def predict(self, moment: Moment) -> AnyArray:
        """Return the likeliest class of each node; None for every node while no class is known."""
        p, classes = moment.chances, moment.history.classes
        if not classes:
            return np.full(len(p), None, dtype=object)
        return label_array(classes)[self._among(moment, self.decide(p, classes))]

    def _among(self, moment: Moment, decided: IntArray) -> IntArray:
        """Return the same, where a node was told to be one of several classes: the one of them that the other labels speak for."""
        some = {node for node, answer in moment.history.told.items() if isinstance(answer, OneOf)}
        if not some:
            return decided
        left = left_out(moment.field, every=True)
        for node, said, votes in zip(left.nodes.tolist(), left.said.tolist(), left.votes, strict=True):
            if node in some:
                places = [place for place, _ in parts_of(said)]
                decided[node] = places[int(coding.decide(votes[None, places])[0])]
        return decided

    def predicted(self, moment: Moment, node: int) -> Hashable:
        """Return the likeliest class of a node; None while no class is known."""
        classes = moment.history.classes
        if not classes:
            return None
        p = moment.field.space.pick(moment.read(), np.array([node]))
        return classes[int(self.decide(p, classes)[0])]

    def decide(self, p: Array, classes: Sequence[Hashable]) -> IntArray:
        """Return the index of the class that is predicted for each row of probabilities.

        Parameters
        ----------
        p : array
            The class probabilities, one row per node.
        classes : sequence of hashable
            The classes, one per column.

        Returns
        -------
        array of int
            One index per row.
        """
        return coding.decide(p)

    def has(self, moment: Moment) -> BoolArray:
        """Return which class each node is predicted to have."""
        classes = moment.history.classes
        return np.asarray(self.decide(moment.chances, classes)[:, None] == np.arange(len(classes)))

    def expected_error(self, moment: Moment) -> ErrorEstimate:
        """Return the expected share of wrong predictions."""
        p, audited = moment.chances, moment.history.audited
        wrong = [made != told for made, told in self._audited(moment, p)] if audited else []
        by_shares = moment.readout.weight_of_shares(moment.field) if moment.readout else 0.0
        return expected_error(moment.field, p, moment.rest, wrong, self.checks_wrong(moment), by_shares)

    def _audited(self, moment: Moment, p: Array) -> list[tuple[int, int]]:
        """Return (predicted, told) of audited nodes, as indices of classes; -1 for a class that is not there."""
        classes, audited = moment.history.classes, moment.history.audited
        places = [classes.index(answer) if answer in classes else -1 for answer in audited.values()]
        made = self.decide(p[list(audited)], classes).tolist() if classes else [0] * len(places)
        return list(zip(made, places, strict=True))

    def checks_wrong(self, moment: Moment) -> list[bool]:
        """Return of each spot check whether it is predicted wrong: by all other labels now, where leave-one-out says so.

        Leave-one-out reads votes as the usual readouts do, and knows no guesses; else what was predicted before counts.
        """
        usual = isinstance(moment.readout, READ_ALIKE) and not moment.guessed
        now = wrong_without(moment.field) if usual else {}
        return [now.get(node, before != label) for node, (before, label) in moment.drawn.items()]

    def changes(self, moment: Moment, node: int, after: Field | None = None) -> float:
        """Return how many other nodes are expected to be predicted otherwise."""
        assert moment.readout is not None
        space, classes = moment.field.space, moment.history.classes

        def decide(p: Array) -> IntArray:
            found: IntArray = space.asarray(self.decide(space.to_numpy(p), classes))
            return found

        return expected_changes(moment.field, moment.readout, node, after, decide)

    def suspects(self, moment: Moment, every: bool) -> list[Suspect]:
        """Return the labels that another class beats by what all other labels say, the least likely first."""
        found = zip(*(part.tolist() for part in doubtful(moment.field, 0.0 if every else SUSPICIOUS)), strict=True)
        classes = moment.history.classes
        return [Suspect(node, classes[label], classes[other], p) for node, label, other, p in found]

    def advice(self, moment: Moment) -> list[str]:
        """Return sentences about the graph, that many answers look wrong, and that classes look like numbers."""
        pairs = self._audited(moment, moment.chances) if moment.history.audited else []
        predicted, told = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        chosen = [rule for rule in moment.plan.rules if isinstance(rule, ChosenNoise)]
        wrong = [said_of_wrong(*rule.wrong(moment.field, moment.history)) for rule in chosen]
        numbers = said_of_numbers(list(moment.history.told.values())) if self.name == OneClass.name else []
        return [*numbers, *advice(moment.field, predicted, told), *chain.from_iterable(wrong)]
