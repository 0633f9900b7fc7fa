"""What may be sought where answers have an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AtLeast:
    """Answers of at least this value; made by :func:`at_least`."""

    value: Any

    def __str__(self) -> str:
        """Return it in words."""
        return f"at least {self.value}"


def at_least(value: Any) -> AtLeast:
    """Return what to seek where answers are ordered classes or numbers: those of at least this value.

    Parameters
    ----------
    value : object
        The lowest step, or number, that is sought.

    Returns
    -------
    AtLeast
        What :meth:`Plan.finding` and :meth:`Judge.left_to_find` take.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(9), answers=ag.Ordered(["bad", "fair", "good"]), rng=0)
    >>> learner.tell_all({0: "good", 4: "fair", 8: "bad"})
    >>> learner.question(plan=learner.plan.finding(ag.at_least("good"))).node
    1
    """
    return AtLeast(value)
