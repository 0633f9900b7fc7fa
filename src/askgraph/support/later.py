"""Values that are computed when they are first read, and those of them that are kept."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")
KEPT = 64  # results of a kind: enough to undo and tell again without computing, while thousands would fill memory


class Later(Generic[T]):
    """A value that is computed when it is first read, and once only where several threads read it.

    >>> later = Later(lambda: print("computed") or 3)
    >>> later.value, later.value
    computed
    (3, 3)
    """

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute: Callable[[], T] | None = compute
        self._value: Any = None
        self._lock = Lock()

    @property
    def value(self) -> T:
        """The value; where computing it fails, the next read tries again."""
        with self._lock:
            if self._compute is not None:
                self._value, self._compute = self._compute(), None
        return self._value

    def __getstate__(self) -> T:
        return self.value

    def __setstate__(self, value: T) -> None:
        self._compute, self._value, self._lock = None, value, Lock()


def remember(known: dict[K, T], key: K, value: T) -> None:
    """Add one more result to a dictionary, and drop the oldest where there are more than 64.

    >>> known = {k: 0 for k in range(64)}
    >>> remember(known, "new", 1)
    >>> len(known), 0 in known
    (64, False)
    """
    known[key] = value
    while len(known) > KEPT:
        known.pop(next(iter(known)), None)
