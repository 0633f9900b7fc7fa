"""What changes a learner: labels told, changed, taken back, nodes set aside."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from askgraph.answers.classes import Classes
from askgraph.answers.plain import plain_label
from askgraph.errors import LabelError
from askgraph.field import Field, Observation
from askgraph.learner.events import Event
from askgraph.learner.history import History
from askgraph.learner.hubs import HubRule
from askgraph.learner.predictor import Predictor
from askgraph.learner.settings import checked_noise
from askgraph.learner.state import State
from askgraph.learner.suggestions import MODEL
from askgraph.learner.tuning import Choice, Tuner
from askgraph.support.turns import in_turn


class Told(Predictor):
    """A predictor that can be told labels; `Learner` adds the questions."""

    _tuner: Tuner | None
    _hub_rule: HubRule | None

    @property
    @in_turn
    def choice(self) -> Choice | None:
        """The graph or ridge that ``tune=True`` chose; ``str(choice)`` says why. None before eight labels or without tuning."""
        return None if self._tuner is None else self._tuner.choice(self._history.log, self._history.declared)

    @in_turn
    def tell(
        self, node: Hashable, label: Hashable, noise: float | None = None, predicted: Hashable | None = None
    ) -> None:
        """Tell the label of a node, whether it was asked for or not.

        Parameters
        ----------
        node : hashable
            The node, which must not be labeled; :meth:`relabel` changes a label.
        label : hashable
            The label; a new label is a new class.
        noise : float, optional
            The label noise of this label, a standard deviation; by default that of the learner.
        predicted : hashable, optional
            The label that was predicted before, where the node was drawn at random: this makes the answer a spot check. One
            that :meth:`ask` drew is known as such without it.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell(0, "left")
        >>> learner.tell(4, "right", noise=0.3)
        >>> learner.labels
        {0: 'left', 4: 'right'}
        """
        at, label = self.graph.index(node), plain_label(label)
        if self._is_labeled(at):
            raise LabelError(
                f"node {node!r} is labeled {self.labels[node]!r} already; change it with relabel({node!r}, ...)"
            )
        noise = None if noise is None else checked_noise(noise)
        event = Event("tell", at, label, noise=noise, predicted=self._foretold(at) if predicted is None else predicted)
        history = self._history.after(event)
        field, known = self._observed(at, history.classes.index(label), noise)
        self._publish(self._tuned(field, history), history, known)

    @in_turn
    def tell_all(
        self,
        labels: Mapping[Any, Hashable],
        predicted: Mapping[Any, Hashable] | None = None,
        noise: Mapping[Any, float] | None = None,
    ) -> None:
        """Tell many labels at once, which takes one factorization instead of one solve per label.

        Parameters
        ----------
        labels : mapping
            {node: label}, for nodes that are not labeled.
        predicted : mapping, optional
            {node: label predicted before}, for those of the nodes that were spot checks.
        noise : mapping, optional
            {node: label noise}, for those of the labels whose noise is not that of the learner; see :meth:`tell`.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell_all({0: "left", 4: "right"})
        >>> learner.classes
        ['left', 'right']
        """
        _check_mappings(labels, predicted=predicted, noise=noise)
        told = {self.graph.index(node): plain_label(label) for node, label in labels.items()}
        taken = [at for at in told if self._is_labeled(at)]
        if taken:
            raise LabelError(f"node {self.graph.name(taken[0])!r} is labeled already: leave it out, or relabel it")
        gamma = {self.graph.index(node): checked_noise(value) for node, value in (noise or {}).items()}
        before = {self.graph.index(node): plain_label(label) for node, label in (predicted or {}).items()}
        events = [Event("tell", at, told[at], noise=gamma.get(at), predicted=before.get(at)) for at in told]
        history = self._history.after(*events)
        place = {label: k for k, label in enumerate(history.classes)}
        new = [Observation(at, place[label], gamma.get(at, self._field.noise)) for at, label in told.items()]
        field = self._field.extended(new, Classes(max(self._field.coding.width, len(history.classes))))
        self._publish(self._tuned(field, history, at_once=True), history)

    @in_turn
    def suggest(self, node: Hashable, label: Hashable, source: str = MODEL, score: float | None = None) -> None:
        """Suggest the label of a node, as a model guesses it: evidence for predictions, not a label.

        How often a source is right, and what it takes for what, is estimated from the labels told and from the graph, so a
        source that guesses at random changes next to nothing. A node with a suggestion is asked for like any other, and
        questions do not depend on suggestions.

        Parameters
        ----------
        node : hashable
            The node.
        label : hashable
            The label suggested; one that is not a class yet is not made one.
        source : str
            Who suggests it; a source has one suggestion per node, the last one.
        score : float, optional
            How sure the source is, from 0 to 1. Suggestions with like scores are judged together, so scores need not be
            probabilities.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.tell_all({0: "left", 8: "right"})
        >>> for node in (4, 5, 6, 7):
        ...     learner.suggest(node, "right", source="a model")
        >>> print(learner.sources[0])
        a model: 4 suggestions, about 94 % right; none compared with a label yet
        """
        name = self.graph.name(self.graph.index(node))
        self.suggest_all({name: label}, source, None if score is None else {name: score})

    @in_turn
    def suggest_all(
        self, labels: Mapping[Any, Hashable], source: str = MODEL, scores: Mapping[Any, float] | None = None
    ) -> None:
        """Suggest the labels of many nodes.

        Parameters
        ----------
        labels : mapping
            {node: label}.
        source : str
            Who suggests them.
        scores : mapping, optional
            {node: score}, how sure the source is, from 0 to 1.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.suggest_all({1: "left", 7: "right"}, source="a model", scores={1: 0.9, 7: 0.6})
        >>> learner.sources[0].suggestions
        2
        """
        _check_mappings(labels, scores=scores)
        index = self.graph.index
        told = {index(node): score for node, score in (scores or {}).items()}
        self._suggestions.add(source, {index(node): label for node, label in labels.items()}, told)

    @in_turn
    def relabel(self, node: Hashable, label: Hashable) -> None:
        """Give a labeled node another label.

        Parameters
        ----------
        node : hashable
            The labeled node.
        label : hashable
            The new label; a class that then has no label is dropped, unless it was declared.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell(0, "lfet")
        >>> learner.relabel(0, "left")
        >>> learner.labels, learner.classes
        ({0: 'left'}, ['left'])
        """
        at, label = self.graph.index(node), plain_label(label)
        before = self.labels.get(node)
        if before is None:
            raise LabelError(f"node {node!r} has no label yet: tell({node!r}, {label!r})")
        history = self._history.after(Event("relabel", at, label, before))
        field = self._tuned(self._field.relabel(at, history.classes.index(label)), history)
        self._publish(*_with_used_classes(field, history))

    @in_turn
    def skip(self, node: Hashable) -> None:
        """Set a node aside: it is not asked for again, and is predicted like any other node.

        Parameters
        ----------
        node : hashable
            The node, which must not be labeled.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(2), rng=0)
        >>> learner.skip(0)
        >>> learner.ask()
        1
        """
        at = self.graph.index(node)
        if self._is_labeled(at):
            raise LabelError(f"node {node!r} is labeled: only an unlabeled node can be skipped")
        self._publish(self._field, self._history.after(Event("skip", at)))

    @in_turn
    def retract(self, node: Hashable) -> None:
        """Take back what was told of a node, however long ago: its label, or that it was set aside.

        Parameters
        ----------
        node : hashable
            A node that is labeled or set aside.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell_all({0: "left", 4: "right"})
        >>> learner.retract(0)
        >>> learner.labels
        {4: 'right'}
        """
        at = self.graph.index(node)
        if self._is_labeled(at):
            told = next(x for x in self._field.observations if x.node == at)
            event = Event("retract", at, before=self._history.classes[told.said], noise=told.noise)
            history = self._history.after(event)
            self._publish(*_with_used_classes(self._tuned(self._field.forget(at), history), history))
        elif at in self._history.set_aside:
            self._publish(self._field, self._history.after(Event("retract", at)))
        else:
            raise LabelError(f"node {node!r} has no label and is not set aside: there is nothing to take back")

    @in_turn
    def undo(self) -> Event | None:
        """Take back the last thing told.

        Returns
        -------
        Event or None
            What was taken back; None where nothing was told.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell(0, "left")
        >>> learner.undo().label, learner.labels
        ('left', {})
        """
        if not self._history.log:
            return None
        event, before, field = self._history.log[-1], self._history.before_last, self._field
        names = self._history.classes if event.before is None else self._history.classes_with(event.before)
        if event.kind == "tell":
            field = field.forget(event.node)
        elif event.kind == "relabel":
            field = field.relabel(event.node, names.index(event.before))
        elif event.before is not None:
            field = field.observe(event.node, names.index(event.before), event.noise)
        field = field.arranged([names.index(name) for name in before.classes])
        self._publish(self._tuned(field, before), before)
        return event

    @in_turn
    def tell_audit(self, node: Hashable, label: Hashable) -> None:
        """Tell the label of a node that :meth:`audit` drew: it predicts nothing, and :meth:`expected_error` counts it.

        Parameters
        ----------
        node : hashable
            The node, which must not be labeled.
        label : hashable
            Its label.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(6), rng=0)
        >>> learner.tell_all({0: "left", 5: "right"})
        >>> for node in learner.audit(2):
        ...     learner.tell_audit(node, "left" if node < 3 else "right")
        >>> learner.expected_error().audited, len(learner.labels)
        (2, 2)
        """
        at, label = self.graph.index(node), plain_label(label)
        if self._is_labeled(at):
            raise LabelError(f"node {node!r} is labeled: only an unlabeled node can be audited")
        self._publish(self._field, self._history.after(Event("audit", at, label)))

    @abstractmethod
    def _foretold(self, node: int) -> Hashable:
        """Return what is predicted for a node where it is a spot check that was asked for; else None."""

    def _observed(self, node: int, label: int, noise: float | None) -> tuple[Field, list[int]]:
        """Return the field after a label, and the next questions where they are known already."""
        return self._field.observe(node, label, noise if noise is None else checked_noise(noise)), []

    def _tuned(self, field: Field, history: History, at_once: bool = False) -> Field:
        """Return the field of the candidate graph, and with the weight of hubs, that this history speaks for."""
        if self._tuner is not None:
            field = self._tuner.refit(field, history.log, history.declared, at_once)
        return field if self._hub_rule is None else self._hub_rule.refit(field)

    def _publish(self, field: Field, history: History, questions: Sequence[int] = ()) -> None:
        """Set all that changed in one assignment, the last thing that a change does; then end what was computed ahead."""
        ahead = self._prefetch
        self._state = State(field, history, tuple(questions))
        if ahead:
            ahead.stop()


def _with_used_classes(field: Field, history: History) -> tuple[Field, History]:
    """Return both with those of their classes that are declared or in use."""
    used, declared = {x.said for x in field.known}, set(history.declared)
    kept = [at for at, name in enumerate(history.classes) if at in used or name in declared]
    return field.arranged(kept), history.with_classes([history.classes[at] for at in kept])


def _check_mappings(labels: Any, **others: Any) -> None:
    """Raise an error for what is not a mapping from nodes; others than the labels may be None."""
    for name, given in {"labels": labels, **others}.items():
        if not isinstance(given, Mapping) and (given is not None or name == "labels"):
            raise LabelError(f"{name}={given!r}: give {{node: label}}, such as {{0: 'spam', 7: 'ham'}}")
