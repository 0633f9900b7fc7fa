"""Leases: each person holds at most one item, for as long as their page is open."""

from __future__ import annotations

import time
from collections.abc import Callable


class Leases:
    """The items that people look at. An item is held by one person; it is free again when that person was silent for too long.

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

    def renew(self, who: str) -> None:
        """Extend the lease of a person whose page has just sent a request."""
        self._until[who] = self._clock() + self._seconds
        self._item.setdefault(who, None)

    def take(self, who: str, item: int) -> bool:
        """Give an item to a person and release the one they held; return False if somebody else holds the item."""
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
        """Release the item that a person holds."""
        item = self._item.get(who)
        if item is not None and self._held.get(item) == who:
            del self._held[item]
        self._item[who] = None

    def release_all(self) -> None:
        """Release all items: they have other places now."""
        self._held.clear()
        self._item = dict.fromkeys(self._item)

    def of_others(self, who: str) -> set[int]:
        """Return the items that other people hold."""
        now = self._clock()
        return {item for item, holder in self._held.items() if holder != who and self._until[holder] > now}

    def held(self) -> list[int]:
        """Return the items that people hold."""
        now = self._clock()
        return [item for item, holder in self._held.items() if self._until[holder] > now]

    def active(self) -> set[str]:
        """Return the people whose lease has not expired; forget the others."""
        now = self._clock()
        for who in [who for who, until in self._until.items() if until <= now]:
            self.release(who)
            del self._item[who], self._until[who]
        return set(self._until)
