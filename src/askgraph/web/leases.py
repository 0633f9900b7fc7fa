"""Who is looking at what: one item a person, for as long as that person gives a sign of life."""

from __future__ import annotations

import time
from collections.abc import Callable


class Leases:
    """An item is held by at most one person; what is held too long without a sign comes back.

    >>> clock = iter([0, 0, 200]).__next__
    >>> leases = Leases(120, clock)
    >>> leases.take("ann", 7), leases.take("bob", 7), leases.take("bob", 7)
    (True, False, True)
    """

    def __init__(self, seconds: float = 120.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._held: dict[int, str] = {}
        self._item: dict[str, int | None] = {}
        self._until: dict[str, float] = {}

    def sign(self, who: str) -> None:
        """A sign of life."""
        self._until[who] = self._clock() + self._seconds
        self._item.setdefault(who, None)

    def take(self, who: str, item: int) -> bool:
        """Whether this person may look at this item; then nobody else does, and what was held before is free."""
        now = self._clock()
        holder = self._held.get(item)
        if holder is not None and holder != who and self._until[holder] > now:
            return False
        self.release(who)
        if holder is not None:
            self._item[holder] = None
        self._held[item], self._item[who], self._until[who] = who, item, now + self._seconds
        return True

    def release(self, who: str) -> None:
        """Look at nothing."""
        item = self._item.get(who)
        if item is not None and self._held.get(item) == who:
            del self._held[item]
        self._item[who] = None

    def of_others(self, who: str) -> set[int]:
        """What others hold."""
        now = self._clock()
        return {item for item, holder in self._held.items() if holder != who and self._until[holder] > now}

    def active(self) -> set[str]:
        """Who gave a sign of life lately."""
        now = self._clock()
        return {who for who, until in self._until.items() if until > now}
