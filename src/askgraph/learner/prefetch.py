"""What follows each possible answer to a question, computed while a person thinks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Event, Thread
from typing import Any, Generic, TypeVar

from askgraph.field import Field
from askgraph.plan import Question

State = TypeVar("State")
Next = TypeVar("Next")


class Prefetch(Generic[State, Next]):
    """A thread that computes what all answers share, then what follows each of them, the likeliest first."""

    def __init__(
        self,
        node: int,
        prepare: Callable[[], State],
        follow: Callable[[State, Any], Next],
        answers: Mapping[Any, Hashable],
    ) -> None:
        self.node, self.answers = node, answers
        self._prepare, self._follow = prepare, follow
        self._shared: Future[State] = Future()
        self._found: dict[Any, Future[Next]] = {answer: Future() for answer in answers}
        self._enough = Event()
        self._thread = Thread(target=self._run, name="askgraph-prefetch", daemon=True)
        self._thread.start()

    @property
    def found(self) -> dict[Any, Next]:
        """What follows each answer, {answer as coded: result}, as far as results are computed."""
        ready = {answer: _result(future) for answer, future in self._found.items()}
        return {answer: what for answer, what in ready.items() if what is not None}

    @property
    def running(self) -> bool:
        """Whether there is more to come."""
        return self._thread.is_alive()

    @property
    def stopped(self) -> bool:
        """Whether it was stopped, so that not all results will come."""
        return self._enough.is_set()

    def wait(self) -> None:
        """Wait until everything is computed."""
        self._thread.join()

    def stop(self) -> None:
        """Compute nothing more, and wait until the thread has ended."""
        self._enough.set()
        self._thread.join()

    def take(self, answer: Any) -> tuple[State | None, Next | None]:
        """Return what all answers share and what follows this answer, None for what is not computed; stop the thread."""
        if answer not in self._found or not self._found[answer].done():
            self.stop()
        self._enough.set()
        return _result(self._shared), _result(self._found.get(answer))

    def _run(self) -> None:
        _compute(self._shared, self._prepare)
        state = _result(self._shared)
        for answer, future in self._found.items():
            if state is None or self._enough.is_set():
                return
            _compute(future, partial(self._follow, state, answer))


class Ahead:
    """What follows each answer to the next question, as far as :meth:`askgraph.Learner.prefetch` has come.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(5), rng=0, classes=["left", "right"], first="utility")
    >>> ahead = learner.prefetch()
    >>> while ahead.running:
    ...     pass
    >>> sorted(ahead.questions), ahead.questions["left"].by
    (['left', 'right'], 'influence')
    """

    def __init__(
        self,
        thread: Prefetch[Field, tuple[Field, list[Question]]] | None,
        name: Callable[[int], Any],
    ) -> None:
        self._thread, self._name = thread, name

    @property
    def running(self) -> bool:
        """Whether there is more to come."""
        return self._thread is not None and self._thread.running

    def stop(self) -> None:
        """Compute nothing more, for a learner that is not needed any longer; what is computed already is still used.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> ahead = learner.prefetch()
        >>> ahead.stop()
        >>> ahead.running
        False
        """
        if self._thread:
            self._thread.stop()

    @property
    def questions(self) -> dict[Hashable, Question | None]:
        """The question that follows each answer, {label: question}, None where nothing is left to ask."""
        if not self._thread:
            return {}
        answers = self._thread.answers
        return {
            answers[code]: self._named(questions)
            for code, (_, questions) in self._thread.found.items()
            if answers[code] is not None
        }

    def _named(self, questions: Sequence[Question]) -> Question | None:
        return questions[0]._replace(node=self._name(questions[0].node)) if questions else None


def _compute(future: Future[Next], function: Callable[[], Next]) -> None:
    try:
        future.set_result(function())
    except Exception as error:  # what cannot be had ahead is computed, and fails, in its turn
        future.set_exception(error)


def _result(future: Future[Next] | None) -> Next | None:
    if future is None or not future.done() or future.exception() is not None:
        return None
    return future.result()
