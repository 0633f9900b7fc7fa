"""Work spread over other machines: anything with ``map``, and a Dask cluster as such a thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from askgraph.errors import EngineError, MissingExtraError, SettingError
from askgraph.support.progress import log

Task = TypeVar("Task")
Done = TypeVar("Done")
TRIES = 5  # how often a task is begun before whatever kills its workers is taken to be the task
PATIENCE = 10  # seconds in which the scheduler must answer
SCHEME = "dask://"


class Pool(Protocol):
    """What can apply a function to many tasks: an executor, a process pool, an MPI pool, a cluster."""

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any], /) -> Iterable[Any]:
        """The results, in any order."""
        ...


class Dask:
    """A Dask cluster: the function, with all it carries, travels to each worker once, and what a lost worker had is done again."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise MissingExtraError(f'{address}: needs Dask: pip install "askgraph[dask]"') from None
        try:
            self._client = Client(address.replace(SCHEME, "tcp://", 1), timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise EngineError(
                f"{address}: no Dask scheduler answers there ({error}); start it, or check the address"
            ) from None

    def __enter__(self) -> Dask:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def map(self, function: Callable[[Task], Done], tasks: Iterable[Task], /) -> Iterator[Done]:
        """The results as they come."""
        from distributed import as_completed

        left = {number: (task, 1) for number, task in enumerate(tasks)}
        carried = self._carried(function)
        names = {self._submitted(carried, task): number for number, (task, _) in left.items()}
        coming = as_completed(list(names), loop=self._client.loop)
        for future in coming:
            number = names.pop(future)
            task, tries = left.pop(number)
            if not _lost(future):
                yield future.result()
                continue
            if tries == TRIES:
                raise EngineError(
                    f"a task was lost with its worker {TRIES} times; do workers have the memory that it takes?"
                )
            log.warning("a worker was lost; what it did is done again")
            again = self._submitted(self._carried(function), task)
            names[again], left[number] = number, (task, tries + 1)
            coming.add(again)

    def _carried(self, function: Callable[[Task], Done]) -> Any:
        return self._client.scatter(function, broadcast=True, hash=False)

    def _submitted(self, carried: Any, task: Any) -> Any:
        return self._client.submit(_call, carried, task, pure=False)


def pool_at(address: str) -> Dask:
    """The pool that an address names."""
    if not address.startswith(SCHEME):
        raise SettingError(f"--pool {address}: give the address of a Dask scheduler, such as dask://127.0.0.1:8786")
    return Dask(address)


def _call(function: Callable[[Task], Done], task: Task) -> Done:
    return function(task)


def _lost(future: Any) -> bool:
    """Whether it has no result for a reason that is not its own."""
    from distributed import KilledWorker

    return future.cancelled() or (future.status == "error" and isinstance(future.exception(), KilledWorker))
