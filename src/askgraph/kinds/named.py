"""The kinds of answers by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from askgraph.errors import SettingError
from askgraph.kinds.kind import Kind
from askgraph.kinds.numbers import Numbers
from askgraph.kinds.one_class import OneClass
from askgraph.kinds.ordered import Ordered
from askgraph.kinds.several import Several

KINDS: dict[str, Kind] = {"classes": OneClass(), "ordered": Ordered(), "several": Several(), "numbers": Numbers()}


def kind_of(plain: Mapping[str, Any]) -> Kind:
    """Return the kind that ``to_json`` of a kind gave."""
    if plain["name"] not in KINDS:
        raise SettingError(f"no kind of answers called {plain['name']!r} in this version; it knows {', '.join(KINDS)}")
    how = {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items() if key != "name"}
    return type(KINDS[plain["name"]])(**how)


def as_kind(answers: str | Kind) -> Kind:
    """Return a kind by its name, or the one given."""
    if isinstance(answers, Kind):
        return answers
    if isinstance(answers, str) and answers in KINDS:
        return KINDS[answers]
    if isinstance(answers, type) and issubclass(answers, Kind):
        raise SettingError(f"answers={answers.__name__}: make one, as in {answers.__name__}(...)")
    raise SettingError(f"answers={answers!r}: choose one of {', '.join(map(repr, KINDS))}")
