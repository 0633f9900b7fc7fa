"""Everything a learner was told, in order, and the classes that this leaves."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import copy

import numpy as np

from askgraph.answers.events import Event, KeptApart
from askgraph.types import IntArray


class History:
    """The log of events, and the classes in the order of the columns of ``probabilities``; a value, once it is made.

    Parameters
    ----------
    declared : sequence of hashable
        The classes known before any label; they stay, whether a label uses them or not.

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

    def __init__(self, declared: Sequence[Hashable]) -> None:
        self.declared = list(declared)
        self.classes = list(declared)
        self.log: list[Event] = []
        self._orders: list[list[Hashable]] = []  # the classes before each event
        self._apart = KeptApart()

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
        self.log = list(log)
        self._apart = KeptApart().after(self.log)
        *self._orders, self.classes = map(list, orders)

    def after(self, *events: Event) -> History:
        """Return the history with more events; a label that is told is a class from then on.

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
        new._apart = KeptApart().after(new.log)
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
        """Return the classes and, after them, the labels that are not among the classes.

        Parameters
        ----------
        *labels : hashable
            Labels, new or not.

        Returns
        -------
        list of hashable
            The classes; the history does not change.

        Examples
        --------
        >>> History(["spam"]).classes_with("ham", "spam")
        ['spam', 'ham']
        """
        return list(dict.fromkeys([*self.classes, *labels]))

    @property
    def set_aside(self) -> set[int]:
        """The nodes that are not asked for: skipped, or kept apart for an audit."""
        return {*self._apart.skipped, *self._apart.audited}

    @property
    def audits(self) -> tuple[IntArray, IntArray]:
        """The audited nodes, and the index of each node's class in ``classes``; -1 for a class that is not there."""
        apart = self._apart.audited
        places = [self.classes.index(label) if label in self.classes else -1 for label in apart.values()]
        return np.array(list(apart), dtype=np.int64), np.array(places, dtype=np.int64)
