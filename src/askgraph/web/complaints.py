"""Errors that nobody foresaw, as lines of the log: at most one per minute, whatever is sent to the server."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from askgraph.errors import AskgraphError

log: logging.Logger = logging.getLogger("askgraph")
SECONDS_BETWEEN_LINES = 60.0


class Complaints:
    """Writes what failed and where as one line; what fails within a minute of the last line is only counted."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = -float("inf")
        self._left_out = 0

    def __call__(self, what: str, error: BaseException) -> None:
        """Log one line, unless there was one in this minute."""
        if self._clock() < self._next:
            self._left_out += 1
            return
        before = f"; {self._left_out} more since the line before" if self._left_out else ""
        self._next, self._left_out = self._clock() + SECONDS_BETWEEN_LINES, 0
        log.error("%s", AskgraphError(f"{what} failed: {_in_words(error)}{before}"))


def _in_words(error: BaseException) -> str:
    """Return the kind of an error, the line that raised it, and what it says."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" in {Path(frame.filename).name}, line {frame.lineno}" for frame in last)
    return f"{type(error).__name__}{where} ({error})"


complain = Complaints()  # of this process
