"""The model of a project: a learner that follows the answers, what it asks next, and what it predicts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.graph import Graph
from askgraph.learner import Learner
from askgraph.learner.prefetch import Ahead
from askgraph.learner.settings import Settings
from askgraph.plan import Question
from askgraph.priors.base import Prior
from askgraph.priors.features import Features
from askgraph.types import Array, IntArray
from askgraph.workbench.answers import OPEN, Answers, Decision
from askgraph.workbench.care import label_noise, raters
from askgraph.workbench.database import reporting_damage
from askgraph.workbench.store import Store

TELL_TOGETHER_FROM = 30  # labels: more of them are told to the learner in one call, which is faster; fewer one by one


class Untold(NamedTuple):
    """A decision on an item that changed, of which the learner was not told yet."""

    item: int
    before: Decision
    after: Decision


class Predictions(NamedTuple):
    """One row per item: class probabilities, the column of the given or predicted label (−1 for none), the variance.

    Probabilities are the model's. Where people err, it may think another class likelier at an item than the label given.
    """

    classes: list[str]
    probabilities: Array
    decided: Any
    variance: Array


class Model:
    """The learner of a project: made when it is first needed, then told what changed since."""

    def __init__(self, store: Store, about: dict[str, Any], answers: Answers) -> None:
        self._store, self._about, self._answers = store, about, answers
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
    def sought(self) -> str | None:
        """The class all of whose items are to be found, by the name that it has now; None if every class is asked for."""
        return self._answers.naming.sought

    def questions(self, n: int, at_once: bool = False) -> list[Question]:
        """Choose the questions to ask next; see `askgraph.Project.questions`."""
        plan = self.learner.plan.finding(self.sought) if self._finds else None
        return self.learner.question(n, plan=plan, batch="now" if at_once else None)

    @property
    def _finds(self) -> bool:
        """Whether the likeliest items of the class sought are asked for: one of it and one of another class are known."""
        known = set(self._answers.labels.values()) if self.sought is not None else ()
        return self.sought in known and len(known) > 1

    def predictions(self) -> Predictions:
        """Predict the label of every item; see `askgraph.Project.predictions`."""
        learner, names = self.learner, self._answers.classes  # in the order of the log: a restart does not change it
        p = learner.probabilities()[:, [learner.classes.index(name) for name in names]]
        field = learner.field
        return Predictions(names, p, self._decided(p, names), field.space.gather(field.spread.variance))

    def _decided(self, p: Array, names: list[str]) -> IntArray:
        """Return the column of each item's label: the given one, else the likeliest; −1 while there are no classes."""
        if not names:
            return np.full(len(p), -1)
        decided, column, labels = coding.decide(p), {name: k for k, name in enumerate(names)}, self._answers.labels
        decided[list(labels)] = [column[label] for label in labels.values()]
        return decided

    def _noise(self) -> dict[int, float]:
        """Return the label noise of the labels of people who err: {item: noise}; none while people are careful, or one is alone."""
        answers = self._answers
        if len(answers.people) < 2 or self._wrong_at == (answers.seq, answers.changes):
            return self._heard if len(answers.people) > 1 else {}
        known, k, degrees = raters(answers), max(len(answers.classes), 2), self.graph.degrees
        self._wrong_at = (answers.seq, answers.changes)
        wrong = {
            item: known.wrongness(given, answers.labels[item])
            for item, given in answers.given().items()
            if item in answers.labels
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
            item: label for item, label in self._answers.labels.items() if item in first and not first[item].label
        }  # in the order in which items got their labels, as one by one
        learner.tell_all(new, self._predicted(new), {item: self._heard[item] for item in new if item in self._heard})
        rest = {item: before for item, before in first.items() if item not in new}
        self._untold = [Untold(item, before, self._answers.decision(item)) for item, before in rest.items()]

    def _new_learner(self) -> Learner:
        with reporting_damage(self._store.path):
            settings, classes = Settings.from_json(self._about["settings"]), self._answers.declared
        features = self._features() if settings.plan.takes_features else None
        how: dict[str, Any] = {"readout": settings.readout, "delta": settings.delta, "noise": settings.noise}
        how |= {"tune": settings.tune, "rng": self._about["seed"], "classes": classes, "features": features}
        engine = "auto" if self._prior is None or features is not None or settings.tune else self._prior
        learner = Learner(self.graph, settings.plan, engine=engine, **how)
        self._prior = learner.field.origin
        meant = self._answers.naming.meant
        for source, guesses in groupby(self._store.guesses(), key=attrgetter("source")):
            said = list(guesses)
            scores = {one.item: one.score for one in said if one.score is not None}
            learner.guesses.tell_all({one.item: meant(one.label) for one in said}, source, scores)
        if self._answers.labels:
            learner.tell_all(self._answers.labels, self._predicted(self._answers.labels), self._heard)
        for item in self._answers.aside:
            learner.skip(item)
        return learner

    def _features(self) -> Features | None:
        found = self._store.features()
        return None if found is None else Features(found, from_start=False)

    def _predicted(self, items: Iterable[int]) -> dict[int, str]:
        """Return what was predicted before for those of these items that were spot checks."""
        found = {item: self._answers.predicted(item) for item in items}
        return {item: label for item, label in found.items() if label is not None}


def _tell_change(
    learner: Learner, item: int, before: Decision, after: Decision, predicted: str | None, noise: float | None
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
