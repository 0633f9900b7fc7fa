"""The process that thinks: it follows the log of a project and says what to ask next, so that saving an answer never waits for it.

It only reads the file. Should it die, nothing is lost: another one is started and reads the log again.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import AskgraphError
from askgraph.learner import Learner
from askgraph.types import AnyArray, Array
from askgraph.workbench.export import answered, label_studio, predicted, write_rows
from askgraph.workbench.project import Project
from askgraph.workbench.report import explained, progress, suspects

POLL = 0.01  # seconds between looks at what was computed ahead
SLOW = 0.5  # seconds a question may take for many of them to be computed one after another
FEW = 2  # people for whom that is done
SPARE = 4  # questions more than there are people


class Suggestion(NamedTuple):
    """What to ask next, by place, when the log was this long; and what follows each answer to the first of them."""

    seq: int
    items: list[int]
    follows: dict[str, int | None]


class Picture(NamedTuple):
    """All that is known, when the log was this long: reports, and for every item its class and how sure that is."""

    seq: int
    progress: dict[str, Any]
    suspects: list[dict[str, Any]]
    classes: list[str]
    decided: AnyArray
    sure: Array


def run(path: str, connection: Connection) -> None:
    """Work until nobody listens any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server says when to stop
    try:
        with Project.open(path) as project:
            Ranker(project, connection).work()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except AskgraphError as error:
        connection.send((0, "trouble", str(error)))


class Ranker:
    """Hears what was said, suggests, looks ahead; answers what it is asked in between."""

    def __init__(self, project: Project, connection: Connection) -> None:
        self._project, self._connection = project, connection
        self._people, self._drawn = 1, -1
        self._queue: list[int] = []  # what to ask: first the best, then what was once lined up behind another

    def work(self) -> None:
        """One thing after another, the most urgent first; waits when there is nothing to do."""
        self._suggest()
        while True:
            spare = self._look_ahead if len(self._queue) > self._people else self._line_up
            tasks: tuple[Callable[[], bool], ...] = (spare, self._look_ahead, self._line_up, self._draw)
            if not any(task() for task in tasks):
                self._listen(None)

    def _listen(self, wait: float | None) -> bool:
        """Take what comes within some time; whether anything did. The server sends no more before it has heard of this."""
        if not self._connection.poll(wait):
            return False
        number, name, what = self._connection.recv()
        if name == "heard":
            self._people = what
            self._suggest()
        else:
            self._answer(number, getattr(self, f"_{name}"), what)
        return True

    def _answer(self, number: int, function: Callable[[Any], Any], what: Any) -> None:
        try:
            self._project.refresh()
            reply = ("done", function(what))
        except AskgraphError as error:
            reply = ("failed", str(error))
        self._connection.send((number, *reply))

    def _suggest(self) -> None:
        """Hear what was said since, and say what to ask next."""
        self._project.refresh()
        start = time.perf_counter()
        asked = self._project.ask(1)
        self._seconds = time.perf_counter() - start
        self._queue = [*asked, *(place for place in self._queue if place not in asked and self._project.open_at(place))]
        self._follows: dict[str, int | None] = {}
        self._looked = self._lined = False
        self._send()

    def _send(self) -> None:
        found = Suggestion(self._project.answers.seq, list(self._queue), dict(self._follows))
        self._connection.send((0, "suggestion", found))

    def _look_ahead(self) -> bool:
        """What follows each answer; true when something else came up, or it was not done before."""
        if self._looked or not self._queue or not self._learner.classes or self._learner.ask() != self._queue[0]:
            return False
        self._learner.prefetch()
        while not self._looked:
            if self._listen(POLL):
                return True
            self._looked = not self._learner.prefetching
            found = {str(label): _place(node) for label, node in self._learner.next_questions.items()}
            if len(found) > len(self._follows):
                self._follows = found
                self._send()
        return True

    def _line_up(self) -> bool:
        """More questions, for others and for items that are set aside."""
        if self._lined or self._listen(0):
            return not self._lined
        self._lined = True
        many = self._people > FEW or self._seconds > SLOW or not self._project.answers.labels
        more = self._project.alternatives(SPARE * self._people) if many else self._project.ask(self._people + SPARE)
        self._queue = list(dict.fromkeys([*self._queue[:1], *more]))
        self._send()
        return True

    def _draw(self) -> bool:
        """The picture as it is now."""
        seq = self._project.answers.seq
        if self._drawn == seq or self._listen(0):
            return self._drawn != seq
        found = self._project.predictions()
        sure = found.probabilities.max(axis=1, initial=0.0).astype(np.float32)
        decided = np.where(found.decided < 0, 65535, found.decided).astype(np.uint16)
        picture = Picture(seq, progress(self._project, found), suspects(self._project), found.classes, decided, sure)
        self._connection.send((0, "picture", picture))
        self._drawn = seq
        return True

    def _why(self, place: int) -> dict[str, Any]:
        return explained(self._project, place)

    def _export(self, path: str) -> str:
        kinds = {"label-studio.json": label_studio, "answers.csv": answered}
        encoding = "utf-8-sig" if path.endswith(".csv") else "utf-8"  # by its mark spreadsheets know what it is
        write_rows(path, kinds.get(Path(path).name, predicted)(self._project), encoding)
        return path

    @property
    def _learner(self) -> Learner:
        return self._project.learner


def _place(node: Any) -> int | None:
    return None if node is None else int(node)


def lay_out(path: str, connection: Connection) -> None:
    """All items in two dimensions, computed in a process of its own."""
    from askgraph.layout import layout

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(5)
    with Project.open(path) as project:
        connection.send(layout(project.graph))
