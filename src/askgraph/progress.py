"""What a person sees while waiting: a spinner on a terminal, a log line everywhere."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger("askgraph")


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


@contextmanager
def bar(total: int, what: str) -> Iterator[Callable[[], None]]:
    """A progress bar with an estimate of the time left; call what it gives once a step."""
    if total == 0 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)
