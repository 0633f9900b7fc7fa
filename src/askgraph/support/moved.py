"""Names that changed: the old ones work for one release, with a warning that says the new one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from operator import attrgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Instead(NamedTuple):
    """What to write in place of an old name, and how to read what the old name stood for."""

    new: str
    read: Callable[[Any], Any]
    elsewhere: bool = False  # whether the new name is none of the same object's


def warn_of_old_name(old: str, new: str, calls_between: int = 2) -> None:
    """Say that a name changed, at the line of who used it."""
    warnings.warn(
        f"{old} is called {new} now; the old name goes with the next release", FutureWarning, calls_between + 1
    )


def finds_old_names(names: Mapping[str, str | Instead]) -> Callable[[Any, str], Any]:
    """Return a ``__getattr__`` that finds attributes by their old names: {old: the path to the new one}.

    >>> class Box:
    ...     lid = "red"
    ...     __getattr__ = finds_old_names({"cover": "lid"})
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     print(Box().cover, "-", said[0].message)
    red - Box.cover is called Box.lid now; the old name goes with the next release
    """

    def __getattr__(self: Any, name: str) -> Any:
        kind = type(self).__name__
        if name not in names:
            raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)
        found = names[name]
        new, read, elsewhere = Instead(found, attrgetter(found)) if isinstance(found, str) else found
        warn_of_old_name(f"{kind}.{name}", new if elsewhere else f"{kind}.{new}")
        return read(self)

    return __getattr__


def with_new_names(names: Mapping[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator of functions whose keywords changed: {old: new}.

    >>> @with_new_names({"size": "width"})
    ... def draw(width):
    ...     return width
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     print(draw(size=3), "-", said[0].message)
    3 - size= is called width= now; the old name goes with the next release
    """

    def renamed(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in names.keys() & kwargs.keys():
                warn_of_old_name(f"{old}=", f"{names[old]}=")
                kwargs[names[old]] = kwargs.pop(old)
            return function(*args, **kwargs)

        return called

    return renamed
