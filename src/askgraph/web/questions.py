"""The thinker: a process that follows the log of a project and chooses questions ahead, so that saving an answer never waits.

It only reads the file. If it dies, nothing is lost: the server starts another one, which reads the log again.

Messages are tuples (number, name, value). The server sends (0, "news", people) when there are new answers, and numbered
requests by name, see ``Thinker``. The thinker sends (0, "agenda", Agenda), (0, "picture", Picture) and
(0, "trouble", sentence) by itself, and (number, "done" or "failed", value) in reply to a request.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Hashable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import AskgraphError
from askgraph.learner import Learner
from askgraph.plan import Question
from askgraph.plan.turn import each_once
from askgraph.types import AnyArray
from askgraph.workbench.answers import Answer
from askgraph.workbench.computed import COMPUTED
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.exchange import FORMATS
from askgraph.workbench.export import answer_rows, number_columns, prediction_rows, write_rows
from askgraph.workbench.forms import Label
from askgraph.workbench.guess_sources import sources
from askgraph.workbench.model import Predictions
from askgraph.workbench.project import Project
from askgraph.workbench.report import explain, progress, suspects, to_sign
from askgraph.workbench.report_page import page
from askgraph.workbench.report_words import LANGUAGES

POLL_SECONDS = 0.01  # between two looks at the questions that the learner prefetches
READ_SECONDS = 0.1  # between two looks at whether texts are read
# Several questions at a time are chosen jointly, each as if those before were answered, up to these numbers of people and of
# seconds per question. Beyond either, they are the best of one ranking, which is computed once.
MAX_JOINT_PEOPLE = 2
MAX_JOINT_SECONDS = 0.5
SPARE = 4  # questions computed beyond the number of people, for items that are set aside
GROUP = 20  # items shown together, to be confirmed in one step
NO_LABEL = 2**32 - 1  # the code of an item without a label


class Agenda(NamedTuple):
    """Questions to ask next, best first, after line ``seq`` of the log, by the places of their items.

    ``follows`` is the question after the first one, for each label that the first may get and that can be told beforehand;
    None where nothing is left.
    """

    seq: int
    questions: list[Question]
    follows: dict[Hashable, Question | None]

    def foresaw(self, answer: Answer) -> bool:
        """Return whether the question that follows this answer was computed before the answer came."""
        first = [question.node for question in self.questions[:1]]
        return self.seq == answer.seq - 1 and first == [answer.item] and answer.label in self.follows

    def after(self, answer: Answer | None) -> list[Question]:
        """Return the questions to ask whoever has just given this answer: what follows it comes first where it was foreseen."""
        if answer is None or answer.label is None or not self.foresaw(answer):
            return self.questions
        following = self.follows[answer.label]
        return self.questions if following is None else [following, *self.questions]


class Picture(NamedTuple):
    """Reports and predictions after line ``seq`` of the log: the label of every item, how sure it is, and its range.

    ``codes`` are indices of ``labels``, the different ones, or NO_LABEL. ``low`` and ``high`` are None where answers have no order.
    """

    seq: int
    progress: dict[str, Any]
    suspects: list[dict[str, Any]]
    classes: list[str]
    labels: list[Label]
    codes: AnyArray
    sure: AnyArray
    low: AnyArray | None
    high: AnyArray | None


def run(path: str, connection: Connection) -> None:
    """Choose questions until the server closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server says when to stop
    try:
        with Project.open(path) as project:
            Thinker(project, connection).work()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except AskgraphError as error:
        connection.send((0, "trouble", str(error)))


def known_labels(found: Predictions) -> tuple[list[Label], AnyArray]:
    """Return the different labels, and the index of that of each item; NO_LABEL for none."""
    labels, codes = found.coded()
    kept = np.array([label is not None for label in labels], dtype=bool)
    place = np.where(kept, np.cumsum(kept) - 1, NO_LABEL).astype(np.uint32)
    return [label for label in labels if label is not None], place[codes]


class Thinker:
    """Follows the log, sends questions, prefetches what follows each answer, and serves requests in between."""

    def __init__(self, project: Project, connection: Connection) -> None:
        self._project, self._connection = project, connection
        self._people, self._drawn = 1, (-1, -1)
        self._likeness = project.items.likeness
        self._likeness.waits = False
        self._queue: list[Question] = []  # first the best, then others that were queued behind an earlier best
        self._requests: dict[str, Callable[[Any], Any]] = {
            "why": self._explain,
            "export": self._export,
            "group": self._group,
            "like": self._likeness.of,
            "report": self._report,
            "sources": self._sources,
            "compute": self._compute,
        }

    def work(self) -> None:
        """Do one task after another, the most urgent first; wait for messages when there is nothing to do."""
        self._think()
        while True:
            first = self._prefetch if len(self._queue) > self._people else self._extend_queue
            tasks: tuple[Callable[[], bool], ...] = (
                first,
                self._prefetch,
                self._extend_queue,
                self._draw,
                self._await_texts,
            )
            if not any(task() for task in tasks):
                self._listen(None)

    def _listen(self, wait: float | None) -> bool:
        """Handle one message if one comes within some seconds (None: wait); return whether one came.

        The server sends the next message of a kind only after the reply to the last one.
        """
        if not self._connection.poll(wait):
            return False
        number, name, value = self._connection.recv()
        if name == "news":
            self._people = value
            self._think()
        else:
            self._reply(number, self._requests[name], value)
        return True

    def _reply(self, number: int, function: Callable[[Any], Any], value: Any) -> None:
        try:
            self._project.refresh()
            reply = ("done", function(value))
        except AskgraphError as error:
            reply = ("failed", str(error))
        self._connection.send((number, *reply))

    def _think(self) -> None:
        """Read new answers, and choose and send the best question."""
        self._project.refresh()
        start = time.perf_counter()
        best = self._project.questions(1)
        self._seconds = time.perf_counter() - start
        self._queue = each_once([*best, *(one for one in self._queue if self._project.log.open_at(one.node))])
        self._follows: dict[Hashable, Question | None] = {}
        self._prefetched = self._extended = False
        self._without_texts = self._likeness.reading
        self._send()

    def _send(self) -> None:
        agenda = Agenda(self._project.answers.seq, list(self._queue), dict(self._follows))
        self._connection.send((0, "agenda", agenda))

    def _prefetch(self) -> bool:
        """Compute and send the question that follows each answer; return False if that was done or is not possible."""
        if (
            self._prefetched
            or self._project.model.sought is not None
            or not self._queue
            or self._learner.ask() != self._queue[0].node
        ):
            return False
        ahead = self._project.model.prefetch()
        while not self._prefetched:
            if self._listen(POLL_SECONDS):
                return True
            self._prefetched = not ahead.running
            found = ahead.questions
            if len(found) > len(self._follows):
                self._follows = dict(found)
                self._send()
        return True

    def _extend_queue(self) -> bool:
        """Choose and send more questions, for other people and for items that are set aside; return False if that was done."""
        if self._extended or self._listen(0):
            return not self._extended
        self._extended = True
        slow = self._seconds > MAX_JOINT_SECONDS
        jointly = self._people <= MAX_JOINT_PEOPLE and not slow and bool(self._project.answers.labels)
        wanted = self._people + SPARE if jointly else SPARE * self._people
        self._queue = each_once([*self._queue[:1], *self._project.questions(wanted, at_once=not jointly)])
        self._send()
        return True

    def _draw(self) -> bool:
        """Compute and send the picture; return False if the last one is current."""
        seq = self._project.answers.seq
        version = (seq, self._project.answers.changes)
        if self._drawn == version or self._listen(0):
            return self._drawn != version
        found = self._project.predictions()
        reports = progress(self._project, found), suspects(self._project)
        labels, codes = known_labels(found)
        sure = found.sure.astype(np.float32)
        self._connection.send(
            (0, "picture", Picture(seq, *reports, found.classes, labels, codes, sure, found.low, found.high))
        )
        self._drawn = version
        return True

    def _await_texts(self) -> bool:
        """Choose again once the texts are read that questions were chosen without; return False if there are none."""
        if not self._without_texts:
            return False
        if not self._listen(READ_SECONDS) and not self._likeness.reading:
            self._think()
        return True

    def _explain(self, place: int) -> dict[str, Any]:
        return explain(self._project, place)

    def _group(self, without: list[int]) -> tuple[str, list[int], float] | None:
        """Return a label, places of items that look alike and are predicted so, and how surely; None if there are none."""
        found = self._learner.judge.group(GROUP, without) if len(self._learner.classes) > 1 else None
        return found and (str(found.label), [int(str(node)) for node in found.nodes], found.chance)

    def _export(self, wanted: tuple[str, str]) -> str:
        """Write a file in one of the formats of the page; return its path."""
        format, path = wanted
        if format == "how":
            Path(path).write_text(how_labeled(self._project), "utf-8")
        elif format in FORMATS and format != "answers":
            FORMATS[format].write(self._project, Path(path), False)
        else:
            rows = answer_rows if format == "answers" else prediction_rows
            encoding = "utf-8-sig" if path.endswith(".csv") else "utf-8"  # spreadsheets need the byte order mark
            write_rows(path, rows(self._project), encoding, number_columns(self._project))
        return path

    def _report(self, code: str) -> str:
        """Return the page that a person signs, in a language."""
        return page(to_sign(self._project), LANGUAGES[code])

    def _sources(self, _: None) -> dict[str, Any]:
        return sources(self._project)

    def _compute(self, wanted: tuple[str, dict[str, Any], str]) -> str:
        """Write the files of a command, and return what it prints as JSON."""
        name, options, output = wanted
        return json.dumps(COMPUTED[name](self._project, Path(output), **options))

    @property
    def _learner(self) -> Learner:
        return self._project.learner
