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
from contextlib import contextmanager
from typing import Any

from askgraph.errors import BusyError
from askgraph.types import Array
from askgraph.web.ranker import Picture, Suggestion, lay_out, run

log = logging.getLogger("askgraph")
PATIENCE = (0.2, 5.0)  # seconds before the first and before later starts after a death
SPAWN = multiprocessing.get_context("spawn")  # nothing of the server's threads and locks is inherited


class Worker:
    """Holds the latest suggestion and picture; ``request`` asks for something else."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self.status = "starting"
        self.suggestion: Suggestion | None = None
        self.picture: Picture | None = None
        self.news: Callable[[], None] = lambda: None  # called whenever there is a new suggestion or picture
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}
        self._stopped = threading.Event()
        self._sending = threading.Lock()
        self._start()
        self._thread = threading.Thread(target=self._keep, name="askgraph-worker", daemon=True)
        self._thread.start()

    def heard(self, people: int) -> None:
        """Something was said; so many people are at work."""
        self._post((0, "heard", people))

    def request(self, name: str, what: Any) -> Future[Any]:
        """What the process answers to this."""
        number, future = next(self._numbers), Future[Any]()
        self._waiting[number] = future
        if not self._post((number, name, what)):
            self._forget(number)
        return future

    def stop(self) -> None:
        """End the process."""
        self._stopped.set()
        self._process.terminate()
        self._thread.join(10)
        self._process.join(10)

    def _start(self) -> None:
        here, there = SPAWN.Pipe()
        self._process = SPAWN.Process(target=run, args=(self._path, there), name="askgraph-ranker", daemon=True)
        with _deaf():
            self._process.start()
        there.close()
        self._connection = here

    def _keep(self) -> None:
        """Listen; when the process ends before its time, start another."""
        patience = PATIENCE[0]
        while True:
            began = time.monotonic()
            self._listen()
            self._connection.close()
            self._process.join()
            for number in list(self._waiting):
                self._forget(number)
            if self._stopped.is_set():
                return
            patience = PATIENCE[0] if time.monotonic() - began > 60 else min(2 * patience, PATIENCE[1])
            self.status = "restarting"
            log.warning(
                "the process that chooses questions ended (exit code %s); starting it again", self._process.exitcode
            )
            if self._stopped.wait(patience):
                return
            with self._sending:
                self._start()

    def _listen(self) -> None:
        while True:
            try:
                number, name, what = self._connection.recv()
            except (EOFError, OSError):
                return
            if number:
                self._settle(number, name, what)
            else:
                self._take(name, what)

    def _settle(self, number: int, name: str, what: Any) -> None:
        future = self._waiting.pop(number, None)
        if future is not None:
            future.set_result(what) if name == "done" else future.set_exception(BusyError(what))

    def _take(self, name: str, what: Any) -> None:
        if name == "trouble":
            log.error("the process that chooses questions: %s", what)
            return
        setattr(self, name, what)
        self.status = "ready"
        self.news()

    def _post(self, message: tuple[int, str, Any]) -> bool:
        try:
            with self._sending:
                self._connection.send(message)
            return True
        except OSError:
            return False

    def _forget(self, number: int) -> None:
        future = self._waiting.pop(number, None)
        if future is not None:
            future.set_exception(BusyError("suggestions are being computed again; try in a moment"))


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
