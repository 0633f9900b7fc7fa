"""Arguments as people give them, checked: a value that does not fit is an error that names the argument and what fits."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from askgraph.errors import AskgraphError, FileError, LabelError, SettingError

MAX_PATH = 4000  # characters; systems allow no more


def whole_number(value: Any, name: str, least: int = 0, most: int = 2**62) -> int:
    """Return a whole number in a range as an int."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and least <= value <= most:
        return int(value)
    upper = f" and at most {most}" if most < 2**62 else ""
    raise SettingError(f"{name}={value!r}: give a whole number of at least {least}{upper}")


def real_number(value: Any, name: str, least: float = -math.inf, most: float = math.inf, advice: str = "") -> float:
    """Return a finite number in a range as a float."""
    if isinstance(value, Real | np.floating | np.integer) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and least <= number <= most:
            return number
    fits = f" in [{least:g}, {most:g}]" if most < math.inf else f" of at least {least:g}" if least > -math.inf else ""
    raise SettingError(f"{name}={value!r}: give {advice or 'a finite number' + fits}")


def share(value: Any, name: str) -> float:
    """Return a number from 0 to 1 as a float."""
    return real_number(value, name, 0.0, 1.0)


def one_of(value: Any, name: str, allowed: tuple[str | None, ...]) -> Any:
    """Return a word that is among those allowed."""
    if (value is None or isinstance(value, str)) and value in allowed:
        return value
    raise SettingError(f"{name}={value!r}: choose {' or '.join(map(repr, allowed))}")


def flag(value: Any, name: str) -> bool:
    """Return True or False, as Python and NumPy have them."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise SettingError(f"{name}={value!r}: give True or False")


def listed(values: Any, name: str, error: type[AskgraphError] = SettingError) -> list[Any]:
    """Return the values of anything that can be gone through as a list."""
    if isinstance(values, Iterable) and getattr(values, "ndim", 1) > 0 and not isinstance(values, type):
        try:
            return list(values.tolist() if hasattr(values, "tolist") else values)
        except TypeError:
            pass
    raise error(f"{name}={values!r}: give a list")


def node_mapping(given: Any, name: str, needed: bool = False) -> Mapping[Any, Any]:
    """Return what maps nodes to something, also a pandas Series, whose cells may be empty; None is an empty one, unless needed."""
    if isinstance(given, Mapping):
        return given
    if given is None and not needed:
        return {}
    if type(given).__name__ == "Series" and hasattr(given, "index") and hasattr(given, "items"):
        return _series_mapping(given, name)
    raise LabelError(f"{name}={given!r}: give {{node: label}}, such as {{0: 'spam', 7: 'ham'}}, or a pandas Series")


def _series_mapping(series: Any, name: str) -> Mapping[Any, Any]:
    """Return {node: value} of a series whose index names nodes; empty cells say nothing."""
    if not series.index.is_unique:
        twice = series.index[series.index.duplicated()].tolist()[0]
        raise LabelError(f"{name}: {twice!r} comes twice in the index: give each node one row")
    return {node: value for node, value in series.items() if not is_missing(value)}


def generator(rng: Any, name: str = "rng") -> np.random.Generator:
    """Return a generator of random numbers: the one given, one of this seed, or a fresh one."""
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise SettingError(f"{name}={rng!r}: give a seed (a whole number from 0 on), a numpy.random.Generator, or None")


def file_path(path: Any) -> str:
    """Return a path as text."""
    try:
        text = str(os.fspath(path)) if isinstance(path, str | os.PathLike) else ""
        os.fsencode(text)
    except (UnicodeError, TypeError):
        text = ""
    if not text or "\0" in text or len(text) > MAX_PATH:
        raise FileError(f"{path!r} is not a path: give the name of a file")
    return text


def is_missing(value: object) -> bool:
    """Return whether a value stands for a missing one: None, NaN, or NA and NaT of pandas."""
    nan = isinstance(value, float | np.floating) and value != value
    return value is None or nan or type(value).__name__ in ("NAType", "NaTType")
