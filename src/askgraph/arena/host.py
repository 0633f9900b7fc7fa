"""A method in a process of its own: it gets what it may see, and answers requests one by one.

The process never holds the classes of the set. Messages to it are (name, arguments); it replies ("done", value, CPU seconds,
peak megabytes) or ("failed", reason, ...).
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import AskgraphError, SettingError
from askgraph.graph import Graph

MOST_WORDS = 300  # characters of a reason


class Reply(NamedTuple):
    """What a process replies: "done" or "failed", a value or a reason, its CPU seconds so far and the most memory it took."""

    name: str
    value: Any
    seconds: float
    megabytes: float


def find_method(path: str) -> Any:
    """Return the function that makes a method, by its import path, such as "mymodule:make"."""
    module, _, name = path.partition(":")
    if not module or not name:
        raise SettingError(f"{path!r}: name a function by its import path, such as mymodule:make")
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SettingError(f"{path}: {error}; is the module in this folder or installed?") from None


def answer_requests(connection: Connection, path: str) -> None:
    """Make a method and answer requests until the connection is closed; runs in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what a method prints is not ours
    seat = _Seat(path)
    while True:
        try:
            name, arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            said = "done", getattr(seat, name)(*arguments)
        except MemoryError:
            said = "failed", "out of memory"
        except AskgraphError as error:
            said = "failed", str(error)[:MOST_WORDS]
        except BaseException as error:
            said = "failed", f"{type(error).__name__}: {error}"[:MOST_WORDS]
        with suppress(OSError):  # nobody reads on: the run was ended
            connection.send(Reply(*said, time.process_time(), _most_megabytes()))


def _most_megabytes() -> float:
    """Return the most memory that this process had; elsewhere than on Linux that counts what its parent had when it began."""
    with suppress(OSError):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


class _Seat:
    """One method and what is asked of it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._method: Any = None

    def make(self, weights: Any, features: Any, classes: list[int], seed: int, closed: list[int]) -> None:
        graph = None if weights is None else Graph(weights)
        self._method = find_method(self._path)(graph, features, classes, seed)
        for node in closed:
            self._method.skip(node)

    def ask(self) -> int:
        return int(self._method.ask())

    def tell(self, node: int, label: int) -> None:
        self._method.tell(node, label)

    def predict(self) -> tuple[list[float], list[float] | None]:
        """Return a class for each node, and the error that the method states, with a range where it has one."""
        predicted = np.asarray(self._method.predict(), dtype=float).ravel().tolist()
        judge = getattr(self._method, "judge", self._method)  # a learner has a judge
        if not hasattr(judge, "expected_error"):
            return predicted, None
        stated = judge.expected_error()
        return predicted, [float(x) for x in (stated[:3] if isinstance(stated, tuple | list) else (stated,))]
