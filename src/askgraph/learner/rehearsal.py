"""Questions on a tiny graph, asked in a thread while a large graph is probed on a GPU.

CuPy compiles every small operation when it is first used on a machine, a tenth of a second each, and keeps it on disk. A
rehearsal has most of those that questions, answers and predictions need compiled by the time they are due.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

from askgraph.errors import AskgraphError
from askgraph.graph.toys import grid
from askgraph.plan import Sampler
from askgraph.priors.base import Prior

QUESTIONS = 3  # the first two compile; the third may go another way
COMPILED = 100  # operations on disk: where there are as many, questions were asked before


def rehearse(learner: Callable[..., Any], sampler: Sampler, prior: Prior) -> None:
    """Start a rehearsal in a thread if this prior works on a GPU by iteration and little is compiled yet.

    ``learner`` is the class to rehearse with.
    """
    if prior.name == "gpu-sparse" and _operations_on_disk() < COMPILED:
        _started(learner, sampler.by if isinstance(sampler.by, str) else "influence")


def _operations_on_disk() -> int:
    """Return the number of files that CuPy keeps compiled code in."""
    folder = Path(os.environ.get("CUPY_CACHE_DIR") or "~/.cupy/kernel_cache").expanduser()
    return sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0


@cache
def _started(learner: Callable[..., Any], sampler: str) -> Thread:
    """Return the thread of the rehearsal with this sampler, started once per process."""
    thread = Thread(target=_ask, args=(learner, sampler), name="askgraph-rehearsal")
    thread.start()
    return thread


def _ask(learner: Callable[..., Any], sampler: str) -> None:
    try:
        small = learner(grid(4, 4), sampler, rng=0, engine="gpu-dense", classes=[0, 1])
        for label in range(QUESTIONS):
            small.tell(small.ask(), label % 2)
        small.predict()
    except AskgraphError:  # such as a full device: the learner itself meets it and says so
        return
