"""What a person sees while waiting: a spinner or a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

log = logging.getLogger("askgraph")
EVERY = 60.0  # seconds between lines where there is no terminal


@contextmanager
def working(message: str) -> Iterator[None]:
    """Say what is going on while the block runs."""
    log.info(message)
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


_compiled: set[str] = set()


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Around code that numba compiles on first use and keeps on disk; said once a process."""
    if what in _compiled:
        yield
        return
    _compiled.add(what)
    with working(f"{what}: compiling takes some seconds, once"):
        yield


class Tick(Protocol):
    """Moves a bar on."""

    def __call__(self, amount: float = 1) -> None:
        """By one step, or by an amount."""


@contextmanager
def bar(total: float, what: str) -> Iterator[Tick]:
    """A progress bar with an estimate of the time left; call what it gives once a step, or with how many."""
    if total == 0 or not sys.stderr.isatty():
        yield _spoken(total, what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total)
        yield lambda amount=1: progress.advance(task, amount)


def _spoken(total: float, what: str) -> Tick:
    """Where there is no terminal: a line a minute."""
    start = last = time.monotonic()
    done = 0.0

    def tick(amount: float = 1) -> None:
        nonlocal done, last
        done, now = done + amount, time.monotonic()
        if total > 0 and now - last >= EVERY:
            left = (now - start) * (total - done) / done / 60
            print(f"{what}: {done / total:.0%}, about {left:.0f} minutes left", file=sys.stderr, flush=True)
            last = now

    return tick
