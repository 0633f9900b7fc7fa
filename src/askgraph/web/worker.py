"""The thinking process as the server sees it: started, listened to, and started again when it dies."""

from __future__ import annotations

import itertools
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from askgraph.errors import BusyError
from askgraph.types import Array
from askgraph.web.suggestions import Picture, Suggestion, lay_out, run

log = logging.getLogger("askgraph")
PATIENCE = (0.2, 5.0)  # seconds before the first and before later starts after a death
GRACE = 2.0  # seconds in which a process that was told to end must have ended
MOST = 100  # requests that wait to be computed
SPAWN = multiprocessing.get_context("spawn")  # nothing of the server's threads and locks is inherited


class Outbox:
    """What is to be sent to the process, by a thread of its own: nobody else waits for a process that does not read.

    At most one "heard" and one request are under way, so that the pipe never fills: of what was heard the latest waits, and
    requests can be withdrawn until it is their turn.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._connection: Connection | None = None  # to the process that is at work
        self._people: int | None = None
        self._unsaid = False
        self._under_way: set[str] = set()
        self._requests: dict[int, tuple[int, str, Any]] = {}
        self._thread = threading.Thread()

    def open(self, connection: Connection) -> None:
        """Send to this process from now on; it is new, and is told what was heard last."""
        with self._changed:
            self._connection, self._unsaid = connection, self._people is not None
            self._under_way.clear()
        self._thread = threading.Thread(target=self._send, args=(connection,), name="askgraph-outbox", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send nothing more; the process is gone, so that what is being sent fails."""
        with self._changed:
            self._connection = None
            self._requests.clear()
            self._changed.notify()
        self._thread.join()

    def heard(self, people: int) -> None:
        """Something was said; so many people are at work."""
        with self._changed:
            self._people, self._unsaid = people, True
            self._changed.notify()

    def answered(self, name: str) -> None:
        """The process has seen to what it was sent last: to "heard", or to a "request"."""
        with self._changed:
            self._under_way.discard(name)
            self._changed.notify()

    def request(self, number: int, name: str, what: Any) -> bool:
        """Put a request last in the queue; false where there is no process to send it to."""
        with self._changed:
            if self._connection is None:
                return False
            self._requests[number] = (number, name, what)
            self._changed.notify()
            return True

    def drop(self, number: int) -> None:
        """Nobody waits for this any more."""
        with self._changed:
            self._requests.pop(number, None)

    def _send(self, connection: Connection) -> None:
        with suppress(OSError):  # the process is gone; who listens to it sees to that
            while (message := self._next(connection)) is not None:
                connection.send(message)

    def _next(self, connection: Connection) -> tuple[int, str, Any] | None:
        """Wait for something to send; None when this process is not the one at work."""
        with self._changed:
            while self._connection is connection:
                if self._unsaid and "heard" not in self._under_way:
                    self._unsaid = False
                    self._under_way.add("heard")
                    return 0, "heard", self._people
                if self._requests and "request" not in self._under_way:
                    self._under_way.add("request")
                    return self._requests.pop(next(iter(self._requests)))
                self._changed.wait()
            return None


class Worker:
    """Holds the latest suggestion and picture; ``request`` asks for something else. No method waits for the process."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self.status = "starting"
        self.suggestion: Suggestion | None = None
        self.picture: Picture | None = None
        self.news: Callable[[], None] = lambda: None  # called whenever there is a new suggestion or picture
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}
        self._stopped = threading.Event()
        self._outbox = Outbox()
        self._start()
        self._thread = threading.Thread(target=self._keep, name="askgraph-worker", daemon=True)
        self._thread.start()

    def heard(self, people: int) -> None:
        """Something was said; so many people are at work."""
        self._outbox.heard(people)

    def request(self, name: str, what: Any) -> Future[Any]:
        """What the process answers to this; cancel it to withdraw it."""
        number, future = next(self._numbers), Future[Any]()
        if len(self._waiting) >= MOST:
            future.set_exception(BusyError(f"{MOST} requests wait to be computed already; try in a moment"))
            return future
        self._waiting[number] = future
        future.add_done_callback(lambda _: self._withdraw(number))
        if not self._outbox.request(number, name, what):
            self._forget(number)
        return future

    def stop(self) -> None:
        """End the process, also one that was stopped and so hears of nothing."""
        self._stopped.set()
        self._process.terminate()
        self._thread.join(GRACE)
        if self._thread.is_alive():
            self._process.kill()
            self._thread.join(10)

    def _start(self) -> None:
        here, there = SPAWN.Pipe()
        self._process = SPAWN.Process(target=run, args=(self._path, there), name="askgraph-ranker", daemon=True)
        with _deaf():
            self._process.start()
        there.close()
        self._connection = here
        self._outbox.open(here)

    def _keep(self) -> None:
        """Listen; when the process ends before its time, start another."""
        patience = PATIENCE[0]
        while True:
            began = time.monotonic()
            self._listen()
            self._end()
            if self._stopped.is_set():
                return
            patience = PATIENCE[0] if time.monotonic() - began > 60 else min(2 * patience, PATIENCE[1])
            self.status = "restarting"
            log.warning(
                "the process that chooses questions ended (exit code %s); starting it again", self._process.exitcode
            )
            if self._stopped.wait(patience):
                return
            self._start()

    def _end(self) -> None:
        """Be done with a process that does not talk to us any more, and with all who wait for it."""
        self._process.join(GRACE)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        self._outbox.close()
        self._connection.close()
        for number in list(self._waiting):
            self._forget(number)

    def _listen(self) -> None:
        while True:
            try:
                number, name, what = self._connection.recv()
            except (EOFError, OSError):
                return
            if number:
                self._outbox.answered("request")
                self._settle(number, name, what)
            else:
                self._take(name, what)

    def _settle(self, number: int, name: str, what: Any) -> None:
        future = self._waiting.pop(number, None)
        if future is not None and future.set_running_or_notify_cancel():
            future.set_result(what) if name == "done" else future.set_exception(BusyError(what))

    def _take(self, name: str, what: Any) -> None:
        if name == "trouble":
            log.error("the process that chooses questions: %s", what)
            return
        setattr(self, name, what)
        if name == "suggestion":
            self._outbox.answered("heard")
        self.status = "ready"
        self.news()

    def _forget(self, number: int) -> None:
        self._settle(number, "failed", "suggestions are being computed again; try in a moment")

    def _withdraw(self, number: int) -> None:
        self._waiting.pop(number, None)
        self._outbox.drop(number)


@contextmanager
def _deaf() -> Iterator[None]:
    """What is started here does not hear Ctrl-C: the server says when to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def laid_out(path: str | os.PathLike[str]) -> Array:
    """All items in two dimensions; takes its time, in a process of its own."""
    here, there = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=lay_out, args=(os.fspath(path), there), name="askgraph-layout", daemon=True)
    process.start()
    there.close()
    try:
        found: Array = here.recv()
        return found
    except EOFError:
        raise BusyError("the map could not be computed; look at it again to try once more") from None
    finally:
        here.close()
        process.join()
