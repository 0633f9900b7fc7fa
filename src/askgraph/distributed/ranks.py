"""The processes of an MPI job, which all run the same program, each on its own rows."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NoReturn, TypeVar

import numpy as np

from askgraph.errors import AskgraphError, MissingExtraError
from askgraph.types import AnyArray, IntArray

Made = TypeVar("Made")
LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")  # what mpiexec tells the processes that it starts
PATIENCE = 1.0  # seconds that a later rank leaves to the first one to say what is wrong
INSTALL = (
    'pip install "askgraph[petsc]" with an MPI and a C compiler (it compiles for some 20 minutes), or on Debian and Ubuntu '
    "apt install python3-petsc4py python3-mpi4py; the page on the petsc engine has both in full"
)


class Ranks:
    """Who takes part; ``rank`` of ``size`` is this process. Every method is called by all of them together."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, int(comm.rank), int(comm.size)

    @property
    def first(self) -> bool:
        """Whether this process is the one that speaks and writes."""
        return self.rank == 0

    def total(self, x: AnyArray) -> AnyArray:
        """The sum over ranks."""
        return self._reduced(x, "SUM")

    def highest(self, x: AnyArray) -> AnyArray:
        """The maximum over ranks."""
        return self._reduced(x, "MAX")

    def before(self, count: int) -> int:
        """The sum over the ranks before this one."""
        return int(sum(self.comm.allgather(count)[: self.rank]))

    def joined(self, x: AnyArray) -> AnyArray:
        """The arrays of all ranks, one after another."""
        return np.concatenate(self.comm.allgather(x))

    def blocks(self, n: int) -> IntArray:
        """Where the blocks of n things begin that ranks would share evenly; the last number is n."""
        return np.array([n * rank // self.size for rank in range(self.size + 1)], dtype=np.int64)

    def sent(self, home: IntArray, *columns: AnyArray) -> tuple[AnyArray, ...]:
        """Rows of these columns to the ranks that are their homes: what came here, from the first rank on."""
        order = np.argsort(home, kind="stable")
        counts = np.bincount(home, minlength=self.size)
        coming = np.array(self.comm.alltoall(counts.tolist()), dtype=np.int64)
        return tuple(self._moved(column[order], counts, coming) for column in columns)

    def asked(self, home: IntArray, keys: AnyArray, answer: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """What the homes of these keys answer, in their order."""
        order = np.argsort(home, kind="stable")
        counts = np.bincount(home, minlength=self.size)
        coming = np.array(self.comm.alltoall(counts.tolist()), dtype=np.int64)
        answers = self._moved(answer(self._moved(keys[order], counts, coming)), coming, counts)
        back = np.empty_like(answers)
        back[order] = answers
        return back

    def on_this_machine(self, x: float) -> float:
        """The sum over the ranks that share this one's memory."""
        from mpi4py import MPI

        near = self.comm.Split_type(MPI.COMM_TYPE_SHARED)
        total = near.allreduce(x)
        near.Free()
        return float(total)

    def agreed(self, make: Callable[[], Made]) -> Made:
        """What each rank makes alone; where one fails, all raise its error, so that none waits for it."""
        made, error = None, None
        try:
            made = make()
        except AskgraphError as found:
            error = found
        if failed := [found for found in self.comm.allgather(error) if found is not None]:
            raise failed[0]
        return made  # type: ignore[return-value]  # nothing failed

    def _reduced(self, x: AnyArray, how: str) -> AnyArray:
        from mpi4py import MPI

        x = np.array(x, order="C")
        out = np.empty_like(x)
        self.comm.Allreduce(x, out, getattr(MPI, how))
        return out

    def _moved(self, x: AnyArray, counts: IntArray, coming: IntArray) -> AnyArray:
        if x.dtype == object:
            ends = np.cumsum(counts)
            parts = self.comm.alltoall([x[end - count : end] for end, count in zip(ends, counts, strict=True)])
            return np.concatenate(parts)
        from mpi4py import MPI

        x = np.ascontiguousarray(x)
        unit = MPI.BYTE.Create_contiguous(x.dtype.itemsize * int(np.prod(x.shape[1:], dtype=np.int64))).Commit()
        out = np.empty((int(coming.sum()), *x.shape[1:]), x.dtype)
        self.comm.Alltoallv([x, (counts, None), unit], [out, (coming, None), unit])
        unit.Free()
        return out


@cache
def world() -> Ranks:
    """All processes that mpiexec started, or this one alone; from now on an error that one of them does not catch ends all."""
    try:
        from mpi4py import MPI
    except ImportError:
        raise MissingExtraError(f"mpi4py is not installed: {INSTALL}") from None
    ranks = Ranks(MPI.COMM_WORLD)
    if ranks.size > 1:
        _one_thread_each()
        sys.excepthook = lambda kind, error, trace: _ended(ranks, kind, error, trace)
    return ranks


def launched() -> int:
    """How many processes mpiexec started, told without loading MPI; 1 without it."""
    return max((int(os.environ[name]) for name in LAUNCHERS if os.environ.get(name, "").isdigit()), default=1)


def silent_but_first() -> None:
    """From now on only the first process prints."""
    if not world().first:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 -- it stays open as long as the process


def end_all(message: str, code: int = 1) -> NoReturn:
    """One message, and every process of the job is gone: a rank that only left would be waited for without end."""
    ranks = world() if "mpi4py.MPI" in sys.modules else None
    if ranks is not None and not ranks.first:
        time.sleep(PATIENCE)  # what fails on all ranks is said by the first, which ends the others
    print(message, file=sys.stderr, flush=True)
    if ranks is not None and ranks.size > 1:
        ranks.comm.Abort(code)
    sys.exit(code)


def _ended(ranks: Ranks, kind: type[BaseException], error: BaseException, trace: Any) -> None:
    if not issubclass(kind, AskgraphError):
        sys.__excepthook__(kind, error, trace)
    end_all(f"askgraph: rank {ranks.rank} of {ranks.size} failed: {error or kind.__name__}")


def _one_thread_each() -> None:
    """Ranks are a core each: threads of matrix products would take the cores from other ranks."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def shared_out(items: Sequence[Made], ranks: Ranks) -> Sequence[Made]:
    """The run of these that is this rank's, in order."""
    first = ranks.blocks(len(items))
    return items[first[ranks.rank] : first[ranks.rank + 1]]
