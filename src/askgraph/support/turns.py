"""One caller at a time: what changes an object, or reads several of its parts, waits for its turn."""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


class Turn(RLock):  # type: ignore[misc]  # CPython lets it be inherited from
    """A lock that the thread which holds it may take again; a copy, and what is unpickled, is a lock of its own.

    It inherits from the lock in C: where a context manager of Python's takes a lock, an interrupt may come before the block
    that gives it back.

    >>> with Turn() as taken:
    ...     taken
    True
    """

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()


def in_turn(method: Method) -> Method:
    """Return a method that waits until no other thread is in such a method of the same object; its lock is ``_turn``."""

    @wraps(method)
    def alone(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._turn:
            return method(self, *args, **kwargs)

    return cast(Method, alone)
