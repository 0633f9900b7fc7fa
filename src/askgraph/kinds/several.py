"""Several classes per item, or none of them: each class is predicted for as many items as are expected to have it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from askgraph.answers.plain import declared_classes, plain_label
from askgraph.answers.several import ClassSets
from askgraph.answers.shares import OneOf, Shares
from askgraph.errors import LabelError
from askgraph.field import Field
from askgraph.field.leave_one_out import Supposed, left_out
from askgraph.graph import Graph
from askgraph.kinds.by_likelihood import mixed
from askgraph.kinds.diagnostics import REMEDY, WARN_FROM, Suspect
from askgraph.kinds.kind import Kind, Making, Moment, as_objects, one_less_f1
from askgraph.kinds.measured import MEASURED, random_items, ratio_of
from askgraph.kinds.stopping import ErrorEstimate
from askgraph.plan import Plan
from askgraph.priors.features import join_kernels
from askgraph.readouts.each_class import USUAL, Calibrated, calibrated, chances_of_each, cut_as_expected
from askgraph.readouts.number import cost
from askgraph.support.arguments import is_missing
from askgraph.types import AnyArray, Array, BoolArray

SUSPICIOUS = (
    0.03  # the probability of what was said, by all other labels, below which it is on the short list of suspects
)
UNIT = "below an F1 of 1"  # what the error, 1 − F1, is in
BELOW, ABOVE, BESIDE = 0.6, 1.6, 0.03  # the range by the model: times the estimate, less and more this


@dataclass(frozen=True)
class Several(Kind):
    """Any of several classes per answer, or none of them; ``answers="several"``.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(9), answers="several", rng=0)
    >>> learner.tell_all({0: ["sports"], 4: ["sports", "money"], 8: []})
    >>> learner.predict([1, 7]).tolist(), learner.labels[8]
    ([('sports',), ()], ())
    """

    name: ClassVar[str] = "several"
    usual_readout: ClassVar[str | None] = None
    samplers: ClassVar[tuple[str, ...] | None] = ("influence", "sigma", "vm", "random")

    def checked(self, answer: Any, classes: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """Return the classes of an answer, each once, in the order of their texts."""
        if is_missing(answer):
            raise LabelError(f"{answer} is not an answer: tell [] for none of the classes, or skip the node")
        if isinstance(answer, Mapping | Shares | OneOf):
            raise LabelError(
                f"{answer}: tell those of the classes that the node has, in a list; shares are for answers='classes'"
            )
        if isinstance(answer, str) or not isinstance(answer, Iterable):
            answer = [answer]
        found = dict.fromkeys(map(plain_label, answer))
        return tuple(sorted(found, key=str))

    def named(self, answer: Any) -> tuple[Hashable, ...]:
        """Return the classes of an answer."""
        return tuple(answer)

    def declared(self, classes: Iterable[Hashable] | None) -> list[Hashable]:
        """Return the classes known before any label."""
        return declared_classes(classes)

    def coding(self, classes: Sequence[Hashable]) -> ClassSets:
        """Return a column of 1, and one per class."""
        return ClassSets(len(classes) + 1)

    def coded(self, answer: Any, classes: Sequence[Hashable]) -> tuple[int, ...]:
        """Return the indices of the classes."""
        places = list(classes)
        return tuple(sorted(places.index(name) for name in answer))

    def columns(self, places: Sequence[int]) -> list[int]:
        """Return the columns of some classes, after the column of 1."""
        return [0, *(place + 1 for place in places)]

    def foreseen(self, moment: Moment, node: int) -> dict[Any, Hashable]:
        """Return what is predicted: of many sets, the one that is likeliest."""
        if not moment.field.held:
            return {}
        likely: Any = self.predicted(moment, node)
        return {self.coded(likely, moment.history.classes): likely}

    def probabilities(self, moment: Moment, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return the probability of each class."""
        return chances_of_each(moment.field, votes)

    def join(self, graph: Graph | None, X: Any) -> tuple[Graph, Any]:
        """Return the graph, and kernels of the features."""
        return join_kernels(graph, X)

    def with_rules(self, plan: Plan, making: Making) -> Plan:
        """Return the plan, which chooses the label noise, and how much the graph and the features count."""
        return mixed(plan, making, self.values, cost, self)

    def values(self, answers: Sequence[Any]) -> Array:
        """Return 0 or 1 for each class that some answers have and others lack.

        Parameters
        ----------
        answers : sequence of tuple
            Answers, checked.

        Returns
        -------
        array
            One row per answer, one column per class.
        """
        names = sorted({name for answer in answers for name in answer}, key=str)
        rows = np.array([[float(name in answer) for name in names] for answer in answers]).reshape(len(answers), -1)
        return rows[:, rows.std(axis=0) > 0]

    def loss(self, told: Supposed) -> float:
        """Return −Σ ln p of what was said of each class, p by the votes of the others; no share of 0 or 1 is believed."""
        left = left_out(told)
        rows = told.coding.rows(left.said.tolist())[:, 1:]
        shares = (rows.sum(axis=0) - rows + 0.5) / max(len(rows), 1)
        return _cost(rows, Calibrated(np.array(USUAL), shares).chances(left.votes))

    def predict(self, moment: Moment) -> AnyArray:
        """Return the classes of each node; None for every node while no class is known."""
        classes = moment.history.classes
        if not moment.field.held:
            return np.full(moment.field.prior.n_nodes, None, dtype=object)
        return self.sets(self.decide(moment), classes)

    def sets(self, has: BoolArray, classes: Sequence[Hashable]) -> AnyArray:
        """Return answers as people give them.

        Parameters
        ----------
        has : array of bool
            Whether nodes have classes, one row per node, one column per class.
        classes : sequence of hashable
            The classes.

        Returns
        -------
        array
            One tuple of classes per node.
        """
        return as_objects([tuple(sorted((classes[c] for c in np.flatnonzero(row).tolist()), key=str)) for row in has])

    def decide(self, moment: Moment) -> BoolArray:
        """Return which classes each node has: as many nodes have each one as are expected to.

        Parameters
        ----------
        moment : Moment
            What is known.

        Returns
        -------
        array of bool
            One row per node, one column per class.
        """
        return self._decided(moment.field, ~moment.rest)

    def _decided(self, field: Field, labeled: BoolArray) -> BoolArray:
        """Return which classes nodes have by a field, where these nodes are labeled."""
        counts = field.coding.totals([x.said for x in field.known])[1:]
        chances = field.space.gather(chances_of_each(field))
        return cut_as_expected(chances, labeled, counts)

    def check_sought(self, sought: Any) -> Hashable:
        """Return one class."""
        return plain_label(sought)

    def is_found(self, answer: Any, sought: Any) -> bool:
        """Return whether an answer has the class."""
        return sought in answer

    def expected_error(self, moment: Moment) -> ErrorEstimate:
        """Return the expected 1 − F1, over all pairs of a node and a class."""
        if not moment.history.classes or not moment.rest.any():
            return ErrorEstimate(float(moment.rest.any()), 0.0, float(moment.rest.any()), 0, unit=UNIT)
        value = one_less_f1(moment.chances[moment.rest], self.decide(moment)[moment.rest])
        audited, checks = self._audited(moment), [(told, before) for before, told in moment.drawn.values()]
        drawn = random_items(audited, checks)
        if len(drawn) < MEASURED:
            low, high = max(BELOW * value - BESIDE, 0.0), min(ABOVE * value + BESIDE, 1.0)
            return ErrorEstimate(value, low, high, len(audited), unit=UNIT)
        return ErrorEstimate(*ratio_of(*_wrong_of(drawn)), len(audited), len(drawn), unit=UNIT)

    def _audited(self, moment: Moment) -> list[tuple[Any, Any]]:
        """Return (told, predicted) of the audited nodes."""
        told = moment.history.audited
        made = self.predict(moment)[list(told)].tolist() if told else []
        return list(zip(told.values(), made, strict=True))

    def has(self, moment: Moment) -> BoolArray:
        """Return which classes each node is predicted to have."""
        return self.decide(moment)

    def changes(self, moment: Moment, node: int, after: Field | None = None) -> float:
        """Return how many classes are expected to be added to other nodes or taken from them, by the answer about each class."""
        field, classes = moment.field, moment.history.classes
        if not field.held or not classes or field.space.pick(field.labeled, node):
            return 0.0
        now, p, after = self.decide(moment), moment.chances[node], after or field.awaiting(node)
        others, changed = np.arange(len(now)) != node, 0.0
        for c in range(len(classes)):
            for has, chance in ((True, p[c]), (False, 1 - p[c])):
                then = after.answered((c,) if has else ())
                marks = self._decided(then, ~moment.rest)[:, c] != now[:, c]
                changed += float(chance * (marks & others).sum())
        return changed

    def suspects(self, moment: Moment, every: bool) -> list[Suspect]:
        """Return the classes that labels have or lack against what all other labels say: each with the better set."""
        classes, field = moment.history.classes, moment.field
        left = left_out(field, every=True)
        if not left.nodes.size or not classes:
            return []
        p, rows = calibrated(field).chances(left.votes), field.coding.rows(left.said.tolist())[:, 1:] > 0
        said = np.where(rows, p, 1 - p)
        found = []
        for at, c in np.argwhere(said < (0.5 if every else SUSPICIOUS)).tolist():
            instead = rows[at].copy()
            instead[c] = ~instead[c]
            sets = self.sets(np.array([rows[at], instead]), classes)
            found.append(Suspect(int(left.nodes[at]), sets[0], sets[1], float(said[at, c])))
        return sorted(found, key=lambda one: one.chance)

    def advice(self, moment: Moment) -> list[str]:
        """Return a sentence where leave-one-out predicts the classes no better than their shares do."""
        field, left = moment.field, left_out(moment.field)
        if left.nodes.size < WARN_FROM or not moment.history.classes:
            return []
        rows = field.coding.rows(left.said.tolist())[:, 1:]
        p, shares = calibrated(field).chances(left.votes), np.clip(rows.mean(axis=0), 1e-3, 1 - 1e-3)
        by_others, by_shares = _cost(rows, p), _cost(rows, np.broadcast_to(shares, rows.shape))
        if by_others < by_shares:
            return []
        return [
            f"The graph hardly predicts these classes: {left.nodes.size} labels predict each other no better than the share of "
            f"each class does. {REMEDY}"
        ]


def _cost(rows: Array, p: Array) -> float:
    """Return −Σ ln p of what was said of each class."""
    return float(-np.log(np.where(rows > 0, p, 1 - p)).sum())


def _wrong_of(pairs: Sequence[tuple[Any, Any]]) -> tuple[Array, Array]:
    """Return of each (told, predicted) how many classes differ, and how many there are in both together."""
    wrong = [len(set(told) ^ set(made or ())) for told, made in pairs]
    both = [len(told) + len(made or ()) for told, made in pairs]
    return np.array(wrong, dtype=float), np.array(both, dtype=float)
