"""Everything a learner was told, in order, and the classes that this leaves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy

from askgraph.answers.events import Event, KeptApart, told_now


def itself(answer: Hashable) -> tuple[Hashable, ...]:
    """Return the one class that an answer names: itself."""
    return (answer,)


class History:
    """The log of events, and the classes in the order of the columns of ``probabilities``; a value, once it is made.

    Parameters
    ----------
    declared : sequence of hashable
        The classes known before any label; they stay, whether a label uses them or not.
    named : callable
        A function that returns the classes that an answer names.

    Attributes
    ----------
    declared : list of hashable
        The classes known before any label.
    classes : list of hashable
        The classes now.
    log : list of Event
        The events, oldest first.
    """

    declared: list[Hashable]
    classes: list[Hashable]

    def __init__(self, declared: Sequence[Hashable], named: Callable[[Hashable], Sequence[Hashable]] = itself) -> None:
        self.declared, self._named = list(declared), named
        self.classes = list(declared)
        self.log: list[Event] = []
        self._orders: list[list[Hashable]] = []  # the classes before each event
        self._apart = KeptApart()
        self._told: dict[int, Hashable] | None = None  # once it was asked for

    @property
    def orders(self) -> tuple[tuple[Hashable, ...], ...]:
        """The classes before each event, and the classes now."""
        return tuple(map(tuple, (*self._orders, self.classes)))

    def restore(self, log: Iterable[Event], orders: Iterable[Iterable[Hashable]]) -> None:
        """Take over a log and its class orders, as they were saved.

        Parameters
        ----------
        log : iterable of Event
            The events, oldest first.
        orders : iterable
            The classes before each event, and the classes now.
        """
        self.log, self._told = list(log), None
        self._apart = KeptApart().after(self.log)
        *self._orders, self.classes = map(list, orders)

    def after(self, *events: Event) -> History:
        """Return the history with more events; the classes that an answer names are classes from then on.

        Parameters
        ----------
        *events : Event
            The events, oldest first.

        Returns
        -------
        History
            A new history; this one does not change.

        Examples
        --------
        >>> History(["spam"]).after(Event("tell", 0, "ham")).classes
        ['spam', 'ham']
        """
        new = copy(self)
        new.log, new._orders, new._apart = [*self.log, *events], list(self._orders), self._apart.after(events)
        new._told = None
        for event in events:
            new._orders.append(new.classes)
            new.classes = new.classes_with(event.label) if event.kind in ("tell", "relabel") else new.classes
        return new

    @property
    def before_last(self) -> History:
        """The history without its last event."""
        new = copy(self)
        *new.log, _ = self.log
        *new._orders, new.classes = self._orders
        new._apart, new._told = KeptApart().after(new.log), None
        return new

    def with_classes(self, classes: list[Hashable]) -> History:
        """Return the history with other classes.

        Parameters
        ----------
        classes : list of hashable
            The classes now.

        Returns
        -------
        History
            A new history; this one does not change.
        """
        new = copy(self)
        new.classes = classes
        return new

    def classes_with(self, *labels: Hashable) -> list[Hashable]:
        """Return the classes and, after them, those that labels name and that are not among the classes.

        Parameters
        ----------
        *labels : hashable
            Labels, of classes that are new or not.

        Returns
        -------
        list of hashable
            The classes; the history does not change.

        Examples
        --------
        >>> History(["spam"]).classes_with("ham", "spam")
        ['spam', 'ham']
        """
        return list(dict.fromkeys([*self.classes, *(name for label in labels for name in self._named(label))]))

    @property
    def told(self) -> dict[int, Hashable]:
        """The labels now, {node: label}, in the order in which nodes were labeled."""
        if self._told is None:
            self._told = told_now(self.log)
        return self._told

    @property
    def set_aside(self) -> set[int]:
        """The nodes that are not asked for: skipped, or kept apart for an audit."""
        return {*self._apart.skipped, *self._apart.audited}

    @property
    def audited(self) -> dict[int, Hashable]:
        """The labels of nodes that were audited, {node: label}."""
        return dict(self._apart.audited)
