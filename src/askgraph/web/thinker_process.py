"""The server's side of the thinker: start it, exchange messages with it, and restart it when it dies."""

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
from askgraph.web.questions import Agenda, Picture, run

log: logging.Logger = logging.getLogger("askgraph")
RESTART_SECONDS = (0.2, 5.0)  # the wait before a restart: the first value, then doubled up to the second
STABLE_SECONDS = 60.0  # a process that ran for longer is restarted after the first wait again
END_SECONDS = 2.0  # a process that has not ended by then after being told to is killed
KILL_SECONDS = 10.0  # how long to wait for a killed process
MAX_REQUESTS = 100  # requests that wait; more are refused
SPAWN = multiprocessing.get_context("spawn")  # a forked process would inherit the server's locks


class Outbox:
    """Messages to the thinker, sent by a thread of its own, so that nobody else waits for a process that does not read.

    At most one "news" and one request are sent before their replies come, so the pipe never fills: later news replace
    those that wait, and requests wait in a queue from which they can be withdrawn.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._connection: Connection | None = None  # to the process that runs now
        self._people: int | None = None
        self._unsent = False
        self._unanswered: set[str] = set()
        self._requests: dict[int, tuple[int, str, Any]] = {}
        self._thread = threading.Thread()

    def open(self, connection: Connection) -> None:
        """Send to a new process from now on, beginning with the latest news."""
        with self._changed:
            self._connection, self._unsent = connection, self._people is not None
            self._unanswered.clear()
        self._thread = threading.Thread(target=self._send, args=(connection,), name="askgraph-outbox", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send nothing more; called after the process has ended, so that a send that hangs fails."""
        with self._changed:
            self._connection = None
            self._requests.clear()
            self._changed.notify()
        self._thread.join()

    def notify(self, people: int) -> None:
        """Send that there are new answers, and how many people are at work."""
        with self._changed:
            self._people, self._unsent = people, True
            self._changed.notify()

    def answered(self, name: str) -> None:
        """Note that the reply to the last "news" or "request" has come."""
        with self._changed:
            self._unanswered.discard(name)
            self._changed.notify()

    def request(self, number: int, name: str, value: Any) -> bool:
        """Append a request to the queue; return False if there is no process to send it to."""
        with self._changed:
            if self._connection is None:
                return False
            self._requests[number] = (number, name, value)
            self._changed.notify()
            return True

    def drop(self, number: int) -> None:
        """Withdraw a request that nobody waits for anymore."""
        with self._changed:
            self._requests.pop(number, None)

    def _send(self, connection: Connection) -> None:
        with suppress(OSError):  # the process has ended; the listening thread restarts it
            while (message := self._next(connection)) is not None:
                connection.send(message)

    def _next(self, connection: Connection) -> tuple[int, str, Any] | None:
        """Wait for the next message; return None if another process has taken the place of this one."""
        with self._changed:
            while self._connection is connection:
                if self._unsent and "news" not in self._unanswered:
                    self._unsent = False
                    self._unanswered.add("news")
                    return 0, "news", self._people
                if self._requests and "request" not in self._unanswered:
                    self._unanswered.add("request")
                    return self._requests.pop(next(iter(self._requests)))
                self._changed.wait()
            return None


class ThinkerProcess:
    """The latest agenda and picture of the thinker, and requests to it. No method waits for the process except ``stop``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self.status: str = "starting"
        self.agenda: Agenda | None = None
        self.picture: Picture | None = None
        self.news: Callable[[], None] = lambda: None  # called whenever there is a new agenda or picture
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}
        self._stopped = threading.Event()
        self._may_start, self._taking, self._void = threading.Event(), threading.Lock(), False
        self._may_start.set()
        self._starting = threading.Lock()  # held while a process is started, so that nobody ends one that is half there
        self._outbox = Outbox()
        self._start()
        self._thread = threading.Thread(target=self._keep, name="askgraph-thinker", daemon=True)
        self._thread.start()

    def notify(self, people: int) -> None:
        """Tell the thinker that there are new answers, and how many people are at work."""
        self._outbox.notify(people)

    def request(self, name: str, value: Any) -> Future[Any]:
        """Send a request; return the future of its reply, to be cancelled to withdraw the request."""
        number, future = next(self._numbers), Future[Any]()
        if len(self._waiting) >= MAX_REQUESTS:
            future.set_exception(BusyError(f"{MAX_REQUESTS} requests wait already; try in a moment"))
            return future
        self._waiting[number] = future
        future.add_done_callback(lambda _: self._withdraw(number))
        if not self._outbox.request(number, name, value):
            self._fail(number)
        return future

    @contextmanager
    def away(self, forget: bool) -> Iterator[None]:
        """End the process while the items of the project change, and start it again after that.

        With ``forget``, what it has sent so far is void at once, since items have other places afterwards.
        """
        self._may_start.clear()
        try:
            with self._starting, self._taking:
                self._void = forget
                if forget:
                    self.agenda = self.picture = None
                self._process.kill()  # it only reads
            self._process.join(END_SECONDS)
            yield
        finally:
            self._may_start.set()

    def stop(self) -> None:
        """End the process; kill it if it does not end by itself, for example because it is suspended."""
        self._stopped.set()
        self._may_start.set()
        with self._starting:
            self._process.terminate()
        self._thread.join(END_SECONDS)
        if self._thread.is_alive():
            self._process.kill()
            self._thread.join(KILL_SECONDS)

    def _start(self) -> None:
        here, there = SPAWN.Pipe()
        self._void = False
        self._process = SPAWN.Process(target=run, args=(self._path, there), name="askgraph-thinker", daemon=True)
        with _ignoring_ctrl_c():
            self._process.start()
        there.close()
        self._connection = here
        self._outbox.open(here)

    def _keep(self) -> None:
        """Receive messages; start another process when this one ends before it is told to."""
        first, longest = RESTART_SECONDS
        wait = first
        while True:
            began = time.monotonic()
            self._listen()
            self._end()
            if self._stopped.is_set():
                return
            self.status = "restarting"
            if self._may_start.is_set():
                wait = first if time.monotonic() - began > STABLE_SECONDS else min(2 * wait, longest)
                log.warning(
                    "the thinker, which chooses questions, ended (exit code %s); starting it again",
                    self._process.exitcode,
                )
                self._stopped.wait(wait)
            while not self._start_if_allowed():
                if self._stopped.is_set():
                    return

    def _start_if_allowed(self) -> bool:
        """Wait until a process may be started, and start one; return False if it may not after all, or never again."""
        self._may_start.wait()
        with self._starting:
            if self._stopped.is_set() or not self._may_start.is_set():
                return False
            self._start()
            return True

    def _end(self) -> None:
        """Clean up after a process that has closed its connection, and fail the requests that wait for it."""
        self._process.join(END_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        self._outbox.close()
        self._connection.close()
        for number in list(self._waiting):
            self._fail(number)

    def _listen(self) -> None:
        while True:
            try:
                number, name, value = self._connection.recv()
            except (EOFError, OSError):
                return
            if number:
                self._outbox.answered("request")
                self._resolve(number, name, value)
            else:
                self._take(name, value)

    def _resolve(self, number: int, name: str, value: Any) -> None:
        future = self._waiting.pop(number, None)
        if future is not None and future.set_running_or_notify_cancel():
            future.set_result(value) if name == "done" else future.set_exception(BusyError(value))

    def _take(self, name: str, value: Any) -> None:
        if name == "trouble":
            log.error("the thinker, which chooses questions: %s", value)
            return
        with self._taking:
            if self._void:
                return
            if name == "agenda":
                self.agenda = value
            else:
                self.picture = value
        if name == "agenda":
            self._outbox.answered("news")
        self.status = "ready"
        self.news()

    def _fail(self, number: int) -> None:
        self._resolve(number, "failed", "predictions are being computed again; try in a moment")

    def _withdraw(self, number: int) -> None:
        self._waiting.pop(number, None)
        self._outbox.drop(number)


@contextmanager
def _ignoring_ctrl_c() -> Iterator[None]:
    """Make a process that is started here ignore Ctrl-C: the server tells it when to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
