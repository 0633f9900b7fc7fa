"""A plan: which node to ask for next, by rules in order over one sampler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from askgraph.answers.plain import plain_label
from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.options import DEFAULTS, OptionKeywords, Options, Scoring, check_names
from askgraph.plan.chance import Explore, SpotChecks
from askgraph.plan.find import Find
from askgraph.plan.hubs import POWERS, HubDiscount, Hubs, power_of
from askgraph.plan.noise import ChosenNoise
from askgraph.plan.rule import Rule
from askgraph.plan.rules import is_own, rules_of, said_by
from askgraph.plan.sampler import Sampler
from askgraph.plan.set_aside import SetAside, open_rows
from askgraph.plan.turn import Question, Turn, each_once
from askgraph.support.arguments import one_of
from askgraph.support.wording import kind_and_size
from askgraph.types import Array, IntArray
from askgraph.utilities import Criterion, Utility
from askgraph.utilities.shortlist import EXACT_UP_TO

Batch = Literal["sequence", "local", "now"]
HUB_POWER = "hub_power"  # the array that says how much less labels of hubs count


@dataclass(frozen=True)
class Plan:
    """A sampler, and rules about questions that are gone through in order; see :class:`askgraph.Rule`.

    Parameters
    ----------
    sampler : Sampler
        What scores the candidates that the rules leave.
    rules : tuple of Rule
        The rules, in their order.
    batch : {"sequence", "local"}
        How nodes asked for together are chosen.

    Examples
    --------
    >>> import askgraph as ag
    >>> plan = ag.Plan.of("tv", spot_checks=8)
    >>> [type(rule).__name__ for rule in plan.rules]
    ['SetAside', 'Explore', 'SpotChecks', 'SmallComponentsWait', 'FirstAtRandom']
    >>> ag.Learner(ag.chain(5), plan, noise=0.0, rng=0).plan == plan
    True
    """

    sampler: Sampler = field(default_factory=Sampler)
    rules: tuple[Rule, ...] = (SetAside(),)
    batch: Literal["sequence", "local"] = "sequence"

    def __post_init__(self) -> None:
        one_of(self.batch, "batch", ("sequence", "local"))
        if not isinstance(self.sampler, Sampler):
            raise SettingError(f"{self.sampler!r} is not a Sampler: write Plan.of({self.sampler!r}), or make one")
        for rule in self.rules:
            if not isinstance(rule, Rule):
                raise SettingError(f"{rule!r} is not a rule: its class must inherit from askgraph.Rule")

    @classmethod
    def of(cls, sampler: str | Criterion | Utility | Plan = "influence", **options: Unpack[OptionKeywords]) -> Plan:
        """Return the plan that a sampler and options stand for.

        Parameters
        ----------
        sampler : str, Criterion, callable or Plan
            A sampler's short name, or a function ``(field, rows, p) -> scores``; a plan is returned as it is.
        **options
            Options by name, see :class:`askgraph.Options`.

        Returns
        -------
        Plan
            The plan.

        Examples
        --------
        >>> Plan.of("sigma", hubs="skip").options()["hubs"]
        'skip'
        """
        check_names(options, ())
        if isinstance(sampler, Plan):
            if options:
                raise SettingError(f"{', '.join(options)} beside a plan: say it in the plan, with Plan.of")
            return sampler
        how = Options(**options)
        scoring = Sampler(sampler, **{one.name: getattr(how, one.name) for one in fields(Scoring)})
        return cls(scoring, rules_of(how, scoring), how.batch)

    def with_rule(self, rule: Rule) -> Plan:
        """Return the plan with one more rule, which comes before all others but the one about nodes set aside.

        Parameters
        ----------
        rule : Rule
            The rule.

        Returns
        -------
        Plan
            A new plan; this one does not change.
        """
        first = self.rules[:1] if self.rules and isinstance(self.rules[0], SetAside) else ()
        return replace(self, rules=(*first, rule, *self.rules[len(first) :]))

    def with_first(self, rule: Rule) -> Plan:
        """Return the plan with one more rule, which comes before all others.

        Parameters
        ----------
        rule : Rule
            The rule.

        Returns
        -------
        Plan
            A new plan; this one does not change.
        """
        return replace(self, rules=(rule, *self.rules))

    def with_noise_chosen(self) -> Plan:
        """Return the plan that goes on with the label noise that the labels speak for, before any other rule.

        Returns
        -------
        Plan
            A new plan; this one does not change.
        """
        discounts = any(isinstance(rule, Hubs) and rule.how == "discount" for rule in self.rules)
        return self.with_first(ChosenNoise(HubDiscount(POWERS[0]) if discounts else None))

    def finding(self, label: Any, like: ArrayLike | None = None) -> Plan:
        """Return the plan that asks for the nodes most likely in a class, with the same spot checks.

        Parameters
        ----------
        label : hashable
            The class; among ordered classes and numbers also ``at_least(value)``, and among numbers "highest" or "lowest".
        like : array, optional
            How alike each node is to a description of what is sought, such as the cosines of :func:`askgraph.search_texts`:
            the most alike are asked for, whatever is known. For the first questions, while labels say little.

        Returns
        -------
        Plan
            A new plan; this one does not change.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.question(plan=learner.plan.finding("wanted", like=[0, 0, 0, 0, 0, 0.2, 0.7, 0.1, 0])).node
        6
        >>> learner.tell_all({0: "wanted", 8: "other"})
        >>> [question.node for question in learner.question(3, plan=learner.plan.finding("wanted"))]
        [1, 2, 3]
        """
        rules = [Explore(0.0) if isinstance(rule, Explore) else rule for rule in self.rules]
        before = [k for k, rule in enumerate(rules, 1) if isinstance(rule, SetAside | SpotChecks) or is_own(rule)]
        at = max(before, default=0)
        return replace(self, rules=(*rules[:at], Find(plain_label(label), like), *rules[at:]))

    def fresh(self) -> Plan:
        """Return the same plan, its rules without what they remember of another learner, and without its choice of label noise.

        Returns
        -------
        Plan
            An equal plan.
        """
        kept = [rule for rule in self.rules if not isinstance(rule, ChosenNoise)]
        return replace(self, rules=tuple(replace(rule) if is_dataclass(rule) else rule for rule in kept))

    @property
    def passive(self) -> bool:
        """Whether every question is drawn at random."""
        return self.sampler.random or any(isinstance(rule, Explore) and rule.share == 1 for rule in self.rules)

    @property
    def squares(self) -> bool:
        """Whether the field must keep ‖g‖₂ up to date."""
        return self.sampler.criterion.squares and not self.passive

    @property
    def takes_features(self) -> bool:
        """Whether questions can be chosen beside features on any engine: with covariances below 0, and without ‖g‖₂."""
        return not self._needs_positive and not self.squares

    @property
    def _needs_positive(self) -> bool:
        read = self.sampler.criterion
        return read.positive or (read.columns and not self.passive)

    def check_signed(self) -> None:
        """Raise an error if the formulas need covariances that are not negative."""
        if self._needs_positive:
            raise SettingError(
                f"sampler={self.sampler.by!r} needs covariances that are not negative, and with features some are: "
                "take 'influence', 'sigma', 'msd', 'vm', 'klg', 'unc' or 'random'"
            )

    def ask(self, turn: Turn, n: int = 1, batch: Batch | None = None) -> tuple[Field, list[Question]]:
        """Return questions to ask together (8), and the field with what was solved for the first of them.

        Parameters
        ----------
        turn : Turn
            The turn to choose the first question.
        n : int
            The number of questions.
        batch : {"sequence", "local", "now"}, optional
            "sequence": each as if those before it were asked and their answers pending. "local": after the first, the peaks of
            the scores. "now": the peaks of the scores as they are. By default as the plan says. With a rule of the user's own,
            always "sequence", so that the rule sees every question.

        Returns
        -------
        tuple
            The field, and a list of up to n questions by the indices of nodes.
        """
        own, ends = any(map(is_own, self.rules)), any(rule.ends for rule in self.rules)
        batch = "sequence" if own else batch or self.batch
        if batch == "now" and not ends:
            return turn.field, self._at_once(turn, n)
        alone = not own and (ends or self.passive)  # questions do not depend on those before them
        known, chosen = turn.field, list[Question]()
        while len(chosen) < n:
            solved, found = self._one(turn)
            known = known if chosen else solved
            if not found:
                break
            if n > 1 and batch == "local" and not alone:
                return known, each_once([*found, *self._at_once(replace(turn, field=known), n)])[:n]
            chosen += found
            if len(chosen) < n:
                turn = turn.after(found, turn.field if alone else solved.await_answer(found[-1].node))
        return known, chosen[:n]

    def scores(self, turn: Turn, nodes: IntArray | None = None) -> tuple[Field, Array]:
        """Return the score of every node, and the field with what was solved for that.

        Parameters
        ----------
        turn : Turn
            The turn.
        nodes : array of int, optional
            The nodes; by default all.

        Returns
        -------
        tuple of Field and array
            One score per node: NaN where it is no candidate, 0 where questions are drawn at random.
        """
        field, space, rows = turn.field, turn.field.space, open_rows(turn.field, turn.aside)
        if nodes is not None:
            rows = rows[space.put(space.zeros(dtype=bool), nodes, True)[rows]]
        reads = self.sampler.criterion.summaries and not self.passive
        if reads and not field.prior.exact and (nodes is not None or space.count(rows) <= EXACT_UP_TO):
            field = field.sharpen(space.allgather(space.nodes_of(rows)))
        found = space.zeros() + np.nan
        if space.count(rows):
            found[rows] = 0.0 if self.passive else self.sampler.score(field, rows)
        every = space.gather(found)
        return field, every if nodes is None else every[nodes]

    def options(self) -> dict[str, Any]:
        """Return the options that stand for this plan, by name; raise an error for a rule of the user's own.

        Returns
        -------
        dict
            Plain values that :meth:`of` takes.
        """
        found = {one.name: getattr(self.sampler, one.name) for one in fields(Scoring)} | {"batch": self.batch}
        return {**DEFAULTS, **found, **said_by(self.rules, self.sampler)}

    def narrowed(self, turn: Turn) -> Turn:
        """Return the turn with the candidates that all rules leave.

        Parameters
        ----------
        turn : Turn
            The turn.

        Returns
        -------
        Turn
            The same turn, among fewer candidates.
        """
        for rule in self.rules:
            turn = _narrowed(turn, rule)
        return turn

    def _one(self, turn: Turn) -> tuple[Field, list[Question]]:
        """Return the questions of one turn, mostly one, and the field with what was solved for them."""
        for rule in self.rules:
            turn = _narrowed(turn, rule)
            if turn.empty:
                return turn.field, []
            if found := _taken(turn, rule, 1):
                return turn.field, found
        return self.sampler.best(turn)

    def _at_once(self, turn: Turn, n: int) -> list[Question]:
        """Return up to n questions by the scores as they are."""
        for rule in self.rules:
            if rule.now_and_then:
                continue
            turn = _narrowed(turn, rule)
            if turn.empty:
                return []
            if found := _taken(turn, rule, n):
                return found
        return self.sampler.peaks(turn, n)


def _narrowed(turn: Turn, rule: Rule) -> Turn:
    """Return the turn with the candidates that a rule leaves."""
    rows: Any = rule.narrows(turn)
    if getattr(getattr(rows, "dtype", None), "kind", None) not in ("i", "u"):
        name = type(rule).__name__
        raise SettingError(
            f"{name}.narrows returned {kind_and_size(rows)}: return some of turn.rows, an array of whole numbers"
        )
    return turn.narrowed(rows)


def _taken(turn: Turn, rule: Rule, n: int) -> list[Question]:
    """Return the questions of a rule that takes the turn, checked where the rule is the user's own."""
    found, name = rule.takes(turn, n), type(rule).__name__
    if not is_own(rule):
        return list(found)
    if not isinstance(found, list | tuple) or not all(isinstance(one, Question) for one in found):
        raise SettingError(f"{name}.takes returned {kind_and_size(found)}: return a list of askgraph.Question")
    for one in found:
        if one.node in turn.aside or turn.field.space.pick(turn.field.labeled, one.node):
            raise SettingError(
                f"{name}.takes asks for node {one.node!r}, which is no candidate: ask for one of turn.nodes"
            )
    return list(found)


def discount_to_arrays(field: Field) -> dict[str, Array]:
    """Return the discount that rules set in a field as arrays for a file."""
    return {HUB_POWER: np.array(power_of(field))}


def discount_of(arrays: Mapping[str, Any]) -> HubDiscount | None:
    """Return the discount that a file says; files of earlier versions say none."""
    power = float(arrays.get(HUB_POWER, np.zeros(())))
    return HubDiscount(power) if power else None
