"""Numbers that change with the number of labels: a constant, a named schedule, or a function."""

from __future__ import annotations

from collections.abc import Callable

from askgraph.errors import SettingError
from askgraph.options import Schedule
from askgraph.support.arguments import share

SCHEDULES: dict[str, Callable[[int], float]] = {"sqrt": lambda t: t**-0.5, "inverse": lambda t: 1 / t}


def check_schedule(value: Schedule, name: str) -> None:
    """Raise an error for what is neither a share, a schedule nor a function."""
    if isinstance(value, str) and value not in SCHEDULES:
        raise SettingError(f"{name}={value!r}: give 'sqrt', 'inverse', a number in [0, 1], a function, or None")
    if value is not None and not isinstance(value, str) and not callable(value):
        share(value, name)


def scheduled(value: Schedule, name: str, labels: int) -> float:
    """Return the number after this number of labels: a constant as it is, a schedule 1 before the first label."""
    if not isinstance(value, str) and not callable(value):
        return float(value or 0.0)
    rule = SCHEDULES[value] if isinstance(value, str) else value
    return 1.0 if labels == 0 else share(rule(labels), name)
