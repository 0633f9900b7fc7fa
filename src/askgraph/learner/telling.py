"""What changes a learner: labels told, changed, taken back, nodes set aside."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any

from askgraph.errors import LabelError
from askgraph.field import Field, Label
from askgraph.learner.events import Event
from askgraph.learner.labels import plain_label
from askgraph.learner.predictor import Predictor
from askgraph.learner.settings import checked_noise
from askgraph.learner.tuning import Choice, Tuner


class Told(Predictor):
    """A predictor that can be told labels; `Learner` adds the questions."""

    _tuner: Tuner | None
    _questions: list[int]  # known for the next question, best first

    @property
    def choice(self) -> Choice | None:
        """What ``tune`` chose, and why (``str`` of it is a sentence); None before eight labels, and without ``tune``."""
        return None if self._tuner is None else self._tuner.choice(self._history.log, self._history.declared)

    def tell(self, node: Hashable, label: Hashable, noise: float | None = None) -> None:
        """Tell the label of a node, asked for or not; a new label is a new class. ``noise`` is this label's own."""
        at, label = self.graph.index(node), plain_label(label)
        if self._is_labeled(at):
            raise LabelError(
                f"node {node!r} is labeled {self.labels[node]!r} already; change it with relabel({node!r}, ...)"
            )
        classes, event = self._history.classes_with(label), Event("tell", at, label, noise=noise)
        field, known = self._observed(at, classes.index(label), noise)
        self._field = self._tuned(field, [*self._history.log, event])
        self._done(event, classes)
        self._questions = known

    def tell_all(self, labels: Mapping[Any, Hashable]) -> None:
        """Tell many labels, {node: label}, folded into the field at once: one factorization instead of one solve per label."""
        told = {self.graph.index(node): plain_label(label) for node, label in labels.items()}
        taken = [at for at in told if self._is_labeled(at)]
        if taken:
            raise LabelError(f"node {self.graph.name(taken[0])!r} is labeled already: leave it out, or relabel it")
        classes = self._history.classes_with(*told.values())
        new = [Label(at, classes.index(label), self._field.noise) for at, label in told.items()]
        events = [Event("tell", at, label) for at, label in told.items()]
        field = self._field.extended(new, len(classes))
        self._field = self._tuned(field, [*self._history.log, *events], at_once=True)
        for event in events:
            self._done(event, self._history.classes_with(event.label))

    def relabel(self, node: Hashable, label: Hashable) -> None:
        """Give a labeled node another label."""
        at, label = self.graph.index(node), plain_label(label)
        before = self.labels.get(node)
        if before is None:
            raise LabelError(f"node {node!r} has no label yet: tell({node!r}, {label!r})")
        classes = self._history.classes_with(label)
        self._field = self._field.relabel(at, classes.index(label))
        self._done(Event("relabel", at, label, before), classes)
        self._keep_used(classes)

    def skip(self, node: Hashable) -> None:
        """Set a node aside: it is not asked for again, and is predicted like any other."""
        at = self.graph.index(node)
        if self._is_labeled(at):
            raise LabelError(f"node {node!r} is labeled: only an unlabeled node can be skipped")
        self._done(Event("skip", at), self._history.classes)

    def retract(self, node: Hashable) -> None:
        """Take back what was told of a node, however long ago: its label, or that it was set aside."""
        at, classes = self.graph.index(node), self._history.classes
        if self._is_labeled(at):
            told = next(x for x in self._field.labels if x.node == at)
            self._field = self._field.forget(at)
            self._done(Event("retract", at, before=classes[told.label], noise=told.noise), classes)
            self._keep_used(classes)
        elif at in self._history.set_aside:
            self._done(Event("retract", at), classes)
        else:
            raise LabelError(f"node {node!r} has no label and is not set aside: there is nothing to take back")

    def undo(self) -> Event | None:
        """Take back the last thing told; return it, or None when there is nothing."""
        if not self._history.log:
            return None
        self._forget_questions()
        event, classes = self._history.pop()
        if event.kind == "tell":
            self._field = self._field.forget(event.node)
        elif event.before is not None:
            self._history.classes = self._history.classes_with(event.before)
            before = self._history.classes.index(event.before)
            if event.kind == "relabel":
                self._field = self._field.relabel(event.node, before)
            else:
                self._field = self._field.observe(event.node, before, event.noise)
        self._arrange(classes)
        self._field = self._tuned(self._field, self._history.log)
        return event

    def tell_audit(self, node: Hashable, label: Hashable) -> None:
        """Tell the label of a node that :meth:`audit` drew: it predicts nothing, and :meth:`expected_error` counts it."""
        at, label = self.graph.index(node), plain_label(label)
        if self._is_labeled(at):
            raise LabelError(f"node {node!r} is labeled: only an unlabeled node can be audited")
        self._done(Event("audit", at, label), self._history.classes)

    def _observed(self, node: int, label: int, noise: float | None) -> tuple[Field, list[int]]:
        """Return the field after a label, and the next questions where they are known already."""
        return self._field.observe(node, label, noise if noise is None else checked_noise(noise)), []

    @abstractmethod
    def _forget_questions(self) -> None:
        """Forget what was computed for the next question: the field is about to change."""

    def _tuned(self, field: Field, log: list[Event], at_once: bool = False) -> Field:
        """Return the field of the candidate that this log speaks for; without tuning, the field as it is."""
        return field if self._tuner is None else self._tuner.refit(field, log, self._history.declared, at_once)

    def _done(self, event: Event, classes: list[Hashable]) -> None:
        self._forget_questions()
        self._history.append(event, classes)

    def _keep_used(self, classes: list[Hashable]) -> None:
        """Keep those of these classes that are declared or in use."""
        used = {classes[x.label] for x in self._field.labels} | set(self._history.declared)
        self._arrange([name for name in classes if name in used])

    def _arrange(self, classes: list[Hashable]) -> None:
        """Put the classes in this order; those left out have no label any more."""
        self._field = self._field.arranged([self._history.classes.index(name) for name in classes])
        self._history.classes = list(classes)
