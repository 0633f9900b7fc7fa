"""The model of a project: a learner that follows the answers, what it asks next, and what it predicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from askgraph.graph import Graph
from askgraph.kinds import Kind
from askgraph.kinds.numbers import HIGHEST, LOWEST
from askgraph.kinds.one_class import OneClass
from askgraph.learner import Learner
from askgraph.learner.prefetch import Ahead
from askgraph.learner.settings import Settings
from askgraph.plan import Plan, Question
from askgraph.plan.chance import Explore, SpotChecks
from askgraph.plan.set_aside import SetAside
from askgraph.plan.turn import each_once
from askgraph.priors.base import Prior
from askgraph.priors.features import Features
from askgraph.support.arguments import whole_number
from askgraph.types import AnyArray, Array, IntArray
from askgraph.workbench.answers import OPEN, Answers, Decision
from askgraph.workbench.care import label_noise, raters
from askgraph.workbench.database import reporting_damage
from askgraph.workbench.forms import Label, named
from askgraph.workbench.rules import standing_guesses
from askgraph.workbench.sampling import Sampling
from askgraph.workbench.store import Store
from askgraph.workbench.stored_items import StoredItems

RANGE = 0.9  # the probability with which a range holds another answer
ENOUGH = 3  # items of what is sought: once so many are known, they say more than words that describe it
TELL_TOGETHER_FROM = 30  # labels: more of them are told to the learner in one call, which is faster; fewer one by one


class Untold(NamedTuple):
    """A decision on an item that changed, of which the learner was not told yet."""

    item: int
    before: Decision
    after: Decision


class Predictions(NamedTuple):
    """What is known of each item, one row each.

    Attributes
    ----------
    classes
        The classes, in the order of the columns of ``probabilities``.
    probabilities
        Class probabilities by the model; no columns for numbers. Where people err, it may think another class likelier at an
        item than the label given.
    labels
        The label given, else the one predicted; None while nothing is known.
    sure
        How probable that label is; of several classes, how probable what is said of the one in doubt most. Of numbers, how wide
        the narrowest range is, over the width of the item's range.
    low, high
        The ends of a range that holds another answer with a probability of 0.9, where answers have an order; else None.
    variance
        The variance of the field.
    """

    classes: list[str]
    probabilities: Array
    labels: AnyArray
    sure: Array
    low: AnyArray | None
    high: AnyArray | None
    variance: Array

    def coded(self) -> tuple[list[Label | None], IntArray]:
        """Return the different labels, and which of them each item has."""
        return distinct(self.labels)


class Model:
    """The learner of a project: made when it is first needed, then told what changed since."""

    def __init__(self, store: Store, items: StoredItems, about: dict[str, Any], answers: Answers) -> None:
        self._store, self._items, self._about, self._answers = store, items, about, answers
        self.sampling: Sampling = Sampling(store, answers)
        self._untold: list[Untold] = []
        self._learner: Learner | None = None
        self._ahead: Ahead | None = None  # what the learner computes ahead
        self._prior: Prior | None = None  # of the last learner, for the next one
        self._heard: dict[int, float] = {}  # the label noise of labels of people who err, as the learner was told
        self._wrong_at = (-1, -1)  # the lines of both logs by which it was computed

    @cached_property
    def graph(self) -> Graph:
        """The graph over the items."""
        return self._store.graph()

    @property
    def learner(self) -> Learner:
        """The learner, after all answers that were read."""
        noise = self._noise()
        if self._learner is not None and self._heard_otherwise(noise):
            self.forget()
        if self._learner is None:
            self._heard = noise
            self._learner, self._untold = self._new_learner(), []
        self._heard = noise
        if len(self._untold) > TELL_TOGETHER_FROM:
            self._tell_together(self._learner)
        while self._untold:
            item, before, after = self._untold[0]
            _tell_change(self._learner, item, before, after, self._answers.predicted(item), noise.get(item))
            self._untold.pop(0)
        return self._learner

    def hear(self, item: int, before: Decision, after: Decision) -> None:
        """Note that the decision on an item may have changed; the learner is told when it is next needed."""
        if before != after:
            self._untold.append(Untold(item, before, after))

    def forget(self) -> None:
        """End the learner; the next one is made from all answers."""
        if self._ahead is not None:
            self._ahead.stop()
        self._learner, self._ahead, self._untold = None, None, []

    def prefetch(self) -> Ahead:
        """Compute what follows each answer to the next question, in a thread that ends with the learner."""
        self._ahead = self.learner.prefetch()
        return self._ahead

    @property
    def sought(self) -> Hashable:
        """What all items are sought of, by the name that it has now, as a plan takes it; None if everything is asked for."""
        return self._answers.sought

    def questions(self, n: int, at_once: bool = False) -> list[Question]:
        """Choose the questions to ask next; see `askgraph.Project.questions`."""
        sampled = self.sampling.questions(n := whole_number(n, "n", 1))
        if len(sampled) == n:
            return sampled
        asked = self.learner.question(n, plan=self._finding(), batch="now" if at_once else None)
        return each_once([*sampled, *asked])[:n]

    def _finding(self) -> Plan | None:
        """Return the plan that asks for what is sought; None while nothing says which items may be that."""
        like = self._likeness()
        if like is None and (self._items.apart or not self._begun(1)):
            return None
        plan = self._settings().plan if self._items.apart else self.learner.plan
        return plan.finding(self.sought, like)

    def _likeness(self) -> Array | None:
        """Return how alike items are to the words that describe what is sought; None where these do not count."""
        words = self._answers.naming.like
        if words is None or self._begun(ENOUGH):
            return None
        found = self._items.likeness.of(words)
        return found if found is not None and found.any() else None

    def _begun(self, enough: int) -> bool:
        """Return whether enough of what is sought and another item are known; of the highest numbers, any two."""
        kind, sought, labels = self._answers.kind, self.sought, self._answers.labels.values()
        if sought is None or (sought in (HIGHEST, LOWEST) and not kind.by_class):
            return sought is not None and len(labels) > 1
        return enough <= sum(kind.is_found(label, sought) for label in labels) < len(labels)

    def predictions(self) -> Predictions:
        """Predict the label of every item; see `askgraph.Project.predictions`."""
        learner, names = self.learner, self._answers.classes  # in the order of the log: a restart does not change it
        kind, held, n = self._answers.kind, learner.field.held, self.graph.n_nodes
        p = (
            learner.probabilities()[:, [learner.classes.index(name) for name in names]]
            if kind.by_class
            else np.zeros((n, 0))
        )
        labels = self._labels(learner, p, names)
        low, high = learner.predict(interval=RANGE)[1:] if held and kind.ranged else (None, None)
        sure = _sureness(p, names, labels, self._answers.form.exclusive) if kind.by_class else _narrowness(n, low, high)
        variance = learner.field.space.gather(learner.field.spread.variance)
        return Predictions(names, p, labels, sure, low, high, variance)

    def _labels(self, learner: Learner, p: Array, names: list[str]) -> AnyArray:
        """Return the label of each item, given or predicted; None while nothing is known."""
        kind, labels = self._answers.kind, np.full(self.graph.n_nodes, None, dtype=object)
        if isinstance(kind, OneClass) and names:
            labels[:] = np.array(names, dtype=object)[kind.decide(p, names)]
        elif learner.field.held:
            labels[:] = learner.predict()
        for item, label in self._answers.labels.items():
            labels[item] = label
        return labels

    def _noise(self) -> dict[int, float]:
        """Return the label noise of the labels of people who err: {item: noise}; none while people are careful, or one is alone."""
        answers = self._answers
        if not answers.form.exclusive:
            return {}
        if len(answers.people) < 2 or self._wrong_at == (answers.seq, answers.changes):
            return self._heard if len(answers.people) > 1 else {}
        known, k, degrees = raters(answers), max(len(answers.classes), 2), self.graph.degrees
        self._wrong_at = (answers.seq, answers.changes)
        wrong = {
            item: known.wrongness(given, answers.labels[item])
            for item, given in answers.given().items()
            if item in answers.labels and answers.word(item) is None  # what a lead says is not doubted
        }
        return {item: label_noise(e, k, degrees[item]) for item, e in wrong.items() if e > 0 and degrees[item] > 0}

    def _heard_otherwise(self, noise: dict[int, float]) -> bool:
        """Return whether labels that the learner was told have another noise now."""
        new = {item for item, before, _ in self._untold if before.label is None}
        changed = {item for item in {*noise, *self._heard} if noise.get(item) != self._heard.get(item)}
        return any(item in self._answers.labels for item in changed - new)

    def _tell_together(self, learner: Learner) -> None:
        """Tell new labels in one call, which costs as much as a few single ones; leave other changes to be told one by one."""
        first = {item: before for item, before, _ in reversed(self._untold)}
        new = {
            item: label for item, label in self._answers.labels.items() if item in first and first[item].label is None
        }  # in the order in which items got their labels, as one by one
        learner.tell_all(new, self._predicted(new), {item: self._heard[item] for item in new if item in self._heard})
        rest = {item: before for item, before in first.items() if item not in new}
        self._untold = [Untold(item, before, self._answers.decision(item)) for item, before in rest.items()]

    def _new_learner(self) -> Learner:
        settings = self._settings()
        kind, declared = self._answers.kind, self._answers.declared
        classes = declared if kind.by_class and not self._answers.form.ranked else None
        features = self._features() if settings.plan.takes_features and kind.name == "classes" else None
        how: dict[str, Any] = {"readout": settings.readout, "delta": settings.delta, "noise": settings.noise}
        how |= {"tune": settings.tune, "rng": self._about["seed"], "classes": classes, "features": features}
        how |= {"answers": kind}
        engine = "auto" if self._prior is None or features is not None or settings.tune else self._prior
        plan = _at_random(settings.plan, kind) if self._items.apart else settings.plan
        learner = Learner(self.graph, plan, engine=engine, **how)
        self._prior = learner.field.origin
        for source, guesses in groupby(standing_guesses(self._store, self._answers.naming), key=attrgetter("source")):
            said = list(guesses)
            scores = {one.item: one.score for one in said if one.score is not None}
            learner.guesses.tell_all({one.item: one.label for one in said}, source, scores)
        if self._answers.labels:
            learner.tell_all(self._answers.labels, self._predicted(self._answers.labels), self._heard)
        for item in self._answers.aside:
            learner.skip(item)
        return learner

    def _settings(self) -> Settings:
        with reporting_damage(self._store.path):
            return Settings.from_json(self._about["settings"])

    def _features(self) -> Features | None:
        found = self._store.features()
        return None if found is None else Features(found, from_start=False)

    def _predicted(self, items: Iterable[int]) -> dict[int, Label]:
        """Return what was predicted before for those of these items that were spot checks."""
        found = {item: self._answers.predicted(item) for item in items}
        return {item: label for item, label in found.items() if label is not None}


def _at_random(plan: Plan, kind: Kind) -> Plan:
    """Return the plan that draws every question at random, for items that nothing joins yet.

    Each is a spot check where all other labels judge it later; where only the prediction made before does, none is.
    """
    return replace(plan, rules=(SetAside(), SpotChecks(1) if kind.judges_anew else Explore(1.0)))


def distinct(labels: Iterable[Label | None]) -> tuple[list[Label | None], IntArray]:
    """Return the different labels of items in the order in which they come, and which of them each item has.

    >>> distinct(["b", "a", "b"])
    (['b', 'a'], array([0, 1, 0]))
    """
    place: dict[Label | None, int] = {}
    codes = np.fromiter((place.setdefault(label, len(place)) for label in labels), dtype=np.int64)
    return list(place), codes


def _sureness(p: Array, names: list[str], labels: AnyArray, exclusive: bool) -> Array:
    """Return how probable labels are; where items have several classes, what they say of the class in doubt most."""
    different, codes = distinct(labels)
    sets = [() if label is None else named(label) for label in different]
    has = np.array([[name in some for name in names] for some in sets], dtype=bool).reshape(len(sets), len(names))[
        codes
    ]
    if exclusive:
        return np.asarray(p.sum(axis=1, where=has))
    return np.asarray(np.where(has, p, 1 - p).min(axis=1, initial=1.0))


def _narrowness(n: int, low: AnyArray | None, high: AnyArray | None) -> Array:
    """Return how wide the narrowest range is over the width of each; 1 for what is known, 0 for a range without end."""
    if low is None or high is None:
        return np.zeros(n)
    width = (high - low).astype(float)
    open_ = width[width > 0]
    return (
        np.divide(open_.min(initial=np.inf), width, out=np.ones(n), where=width > 0)
        if np.isfinite(open_).any()
        else np.zeros(n)
    )


def _tell_change(
    learner: Learner, item: int, before: Decision, after: Decision, predicted: Label | None, noise: float | None
) -> None:
    """Tell the learner that the decision on an item changed; ``predicted`` is what was predicted before a spot check."""
    if before.label is not None and after.label is not None:
        learner.relabel(item, after.label)
    elif after.label is not None:
        learner.tell(item, after.label, noise, predicted)
    elif (before == OPEN) != (after == OPEN) or before.label is not None:
        if before != OPEN:
            learner.retract(item)
        if after.aside is not None:
            learner.skip(item)
