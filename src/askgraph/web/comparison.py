"""Compare the items of a project in a process of its own, while people label some that are drawn at random."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from askgraph.errors import AskgraphError, BusyError
from askgraph.support.progress import watching
from askgraph.web.thinker_process import SPAWN
from askgraph.workbench.client import open_writer
from askgraph.workbench.growing import discard, prepare_comparison
from askgraph.workbench.project import Project

SECONDS_BETWEEN_STAGES = 0.2  # at least, unless another stage begins
TRIES = 3  # where items came or went meanwhile, so that what was computed is of no use


class Comparison:
    """The process that compares the items of a project, and what it says it is doing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stage: tuple[str | None, float | None] = (None, None)
        self._failed: str | None = None
        self._process: Any = None
        self._stopped = False

    def state(self) -> dict[str, Any]:
        """Return what is being done, which share of it is, and why it failed, each None where there is nothing to say."""
        stage, share = self._stage
        return {"stage": stage, "share": share, "failed": self._failed}

    def start(self) -> None:
        """Begin, in a process that ends with this one."""
        threading.Thread(target=self._run, name="askgraph-comparison", daemon=True).start()

    def stop(self) -> None:
        """End the process; the next server begins anew."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()  # it writes to a file of its own alone; the server takes that in
            self._process.join()

    def _run(self) -> None:
        for _ in range(TRIES):
            self._failed = None
            if self._stopped or not self._once():
                return

    def _once(self) -> bool:
        """Compare the items; return whether that is to be tried again."""
        here, there = SPAWN.Pipe(duplex=False)
        process = SPAWN.Process(target=compare_items, args=(os.fspath(self._path), there), daemon=True)
        process.start()
        self._process = process
        there.close()
        again = False
        with here, suppress(EOFError):
            while True:
                name, value, share = here.recv()
                if name == "stage":
                    self._stage = value, share
                else:
                    self._failed, again = value, name == "busy"
        process.join()
        if process.exitcode and self._failed is None:
            self._failed = "the program that compares them ended; start the server again to retry"
        return again


def compare_items(path: str, connection: Connection) -> None:
    """Compare the items of a project and hand the result to its writer; runs in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(5)
    with connection:
        try:
            with watching(_Stages(connection)), Project.open(path) as project:
                found = prepare_comparison(project)
            try:
                with open_writer(path) as writer:
                    writer.add(found.path)
            finally:
                discard(found.path)
        except AskgraphError as error:
            connection.send(("busy" if isinstance(error, BusyError) else "failed", str(error), None))


class _Stages:
    """Sends what is being done, not too often."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._last, self._at = connection, "", 0.0

    def __call__(self, what: str, share: float | None) -> None:
        now = time.monotonic()
        if what != self._last or now - self._at > SECONDS_BETWEEN_STAGES:
            self._connection.send(("stage", what, share))
            self._last, self._at = what, now
