"""Pools that make runs on other machines: anything with ``map``; a Dask cluster as such a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from askgraph.errors import EngineError, MissingExtraError, SettingError
from askgraph.support.progress import log

Task = TypeVar("Task")
Done = TypeVar("Done")
MAX_TRIES = 5  # give up on a task after its worker died this often: the task itself is then the likely cause
CONNECT_TIMEOUT_SECONDS = 10  # a scheduler that has not answered by then is taken to be down
SCHEME = "dask://"


class Pool(Protocol):
    """Anything that applies a function to many tasks: an executor, a process pool, an MPI pool, a cluster."""

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any], /) -> Iterable[Any]:
        """Return the results, in any order."""
        ...


class Dask:
    """A Dask cluster as a pool, for :func:`askgraph.simulate.simulate_all`.

    The function, with the data it holds, is sent to each worker once. Tasks of a worker that is lost are done again.
    Use it in a ``with`` statement, which closes the connection.

    Parameters
    ----------
    address : str
        The address of the scheduler, such as "dask://127.0.0.1:8786".
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise MissingExtraError(f'{address}: needs Dask: pip install "askgraph[dask]"') from None
        try:
            self._client = Client(
                address.replace(SCHEME, "tcp://", 1), timeout=CONNECT_TIMEOUT_SECONDS, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise EngineError(
                f"{address}: no Dask scheduler answers there ({error}); start it, or check the address"
            ) from None

    def __enter__(self) -> Dask:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def map(self, function: Callable[[Task], Done], tasks: Iterable[Task], /) -> Iterator[Done]:
        """Yield the results as they come.

        Parameters
        ----------
        function : callable
            The function to apply to each task.
        tasks : iterable
            The tasks.

        Yields
        ------
        object
            The result of one task.
        """
        from distributed import as_completed

        pending = {number: (task, 1) for number, task in enumerate(tasks)}
        sent = self._send(function)
        numbers = {self._submit(sent, task): number for number, (task, _) in pending.items()}
        completed = as_completed(list(numbers), loop=self._client.loop)
        for future in completed:
            number = numbers.pop(future)
            task, tries = pending.pop(number)
            if not _was_lost(future):
                yield future.result()
                continue
            if tries == MAX_TRIES:
                raise EngineError(
                    f"a task was lost with its worker {MAX_TRIES} times; do workers have the memory that it takes?"
                )
            log.warning("a worker was lost; its task is done again")
            again = self._submit(self._send(function), task)
            numbers[again], pending[number] = number, (task, tries + 1)
            completed.add(again)

    def _send(self, function: Callable[[Task], Done]) -> Any:
        """Send a function to all workers, and return its name there."""
        return self._client.scatter(function, broadcast=True, hash=False)

    def _submit(self, sent: Any, task: Any) -> Any:
        return self._client.submit(_call, sent, task, pure=False)


def pool_at(address: str) -> Dask:
    """Return the pool at an address such as "dask://127.0.0.1:8786"."""
    if not address.startswith(SCHEME):
        raise SettingError(f"--pool {address}: give the address of a Dask scheduler, such as dask://127.0.0.1:8786")
    return Dask(address)


def _call(function: Callable[[Task], Done], task: Task) -> Done:
    return function(task)


def _was_lost(future: Any) -> bool:
    """Return whether a task has no result because its worker was lost, rather than because the task failed."""
    from distributed import KilledWorker

    return future.cancelled() or (future.status == "error" and isinstance(future.exception(), KilledWorker))
