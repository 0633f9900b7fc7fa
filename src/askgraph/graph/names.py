"""Node names and indices, checked and as plain values."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable

import numpy as np

from askgraph.errors import GraphError
from askgraph.support.arguments import is_missing, listed
from askgraph.support.wording import counted, few

NUMPY_SCALARS = (np.integer, np.floating, np.str_, np.bool_)  # converted to the Python values they stand for
MAX_NAMES_FOR_HINT = 10_000  # names compared with an unknown one; the names after them are not suggested


def as_index(name: object, n: int) -> int | None:
    """Return a whole number from 0 to n − 1 as an int, and None for anything else."""
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < n:
        return int(name)
    return None


def check_names(names: Iterable[Hashable] | None, n: int) -> tuple[Hashable, ...] | None:
    """Return the names as a tuple of Python values, or None where they are 0…n−1; raise an error if one is not usable."""
    if names is None or (isinstance(names, range) and names == range(n)):
        return None
    named = tuple(x.item() if isinstance(x, NUMPY_SCALARS) else x for x in listed(names, "names", GraphError))
    if len(named) != n:
        raise GraphError(f"{counted(len(named), 'name')} for {counted(n, 'node')}: give one name for each node")
    if (i := next((i for i, name in enumerate(named) if is_missing(name)), None)) is not None:
        raise GraphError(f"node {i} has {named[i]!r} as its name: give every node a name")
    _check_distinct(named)
    return None if all(type(x) is int and x == i for i, x in enumerate(named)) else named


def _check_distinct(names: tuple[Hashable, ...]) -> None:
    try:
        if len(set(names)) == len(names):
            return
    except TypeError as error:
        raise GraphError(f"a node name is not usable ({error}): names are text, numbers or other hashables") from None
    seen: set[Hashable] = set()
    for name in names:
        if name in seen:
            raise GraphError(f"the name {name!r} is given twice: node names must differ")
        seen.add(name)


def hint(name: object, names: tuple[Hashable, ...] | None, n: int) -> str:
    """Return what to say after an unknown name: the nearest known one, or which nodes there are."""
    if names is None:
        return f"; it has no names, its nodes are 0 to {n - 1}"
    known = {str(known).strip().casefold(): known for known in names[:MAX_NAMES_FOR_HINT]}
    near = difflib.get_close_matches(str(name).strip().casefold(), known, n=1, cutoff=0.7)
    return f"; did you mean {known[near[0]]!r}?" if near else f"; its nodes are {few(names)}"
