"""Progress messages: a spinner or a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

log: logging.Logger = logging.getLogger("askgraph")
SECONDS_BETWEEN_LINES = 60.0  # at least, if there is no terminal
Watcher = Callable[[str, float | None], None]  # is told what is being done, and which share of it is, if that is known
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Tell ``watcher`` of every message and every step of a bar while the block runs."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show a message while the block runs."""
    log.info(message)
    if watcher := _watcher.get():
        watcher(message, None)
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


_compiled: set[str] = set()


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Show, once per process, that the block takes longer because numba compiles it; put it around such code."""
    if what in _compiled:
        yield
        return
    _compiled.add(what)
    with working(f"{what}: compiling takes some seconds, once"):
        yield


class Tick(Protocol):
    """A function that moves a progress bar."""

    def __call__(self, amount: float = 1) -> None:
        """Move the bar by an amount."""


@contextmanager
def bar(total: float, what: str) -> Iterator[Tick]:
    """Show a progress bar with the time left; yield a function to call after each step, or with a number of steps."""
    with _bar(total, what) as tick:
        watcher = _watcher.get()
        yield tick if watcher is None or total == 0 else _watched(tick, total, what, watcher)


def _watched(tick: Tick, total: float, what: str, watcher: Watcher) -> Tick:
    """Return a function that moves a bar and tells a watcher of it."""
    done = 0.0

    def told(amount: float = 1) -> None:
        nonlocal done
        done += amount
        watcher(what, min(1.0, done / total))
        tick(amount)

    watcher(what, 0.0)
    return told


@contextmanager
def _bar(total: float, what: str) -> Iterator[Tick]:
    if total == 0 or not sys.stderr.isatty():
        yield _lines(total, what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total)
        yield lambda amount=1: progress.advance(task, amount)


def _lines(total: float, what: str) -> Tick:
    """Return a function that prints a line per minute, for use without a terminal."""
    start = last = time.monotonic()
    done = 0.0

    def tick(amount: float = 1) -> None:
        nonlocal done, last
        done, now = done + amount, time.monotonic()
        if total > 0 and now - last >= SECONDS_BETWEEN_LINES:
            left = (now - start) * (total - done) / done / 60
            said = f"about {left:.0f} minutes" if left >= 1 else "less than a minute"
            print(f"{what}: {done / total:.0%}, {said} left", file=sys.stderr, flush=True)
            last = now

    return tick
