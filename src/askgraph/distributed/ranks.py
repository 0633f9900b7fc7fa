"""The processes of an MPI job: all run the same program, each on its own rows."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NoReturn, TypeVar

import numpy as np

from askgraph.errors import AskgraphError, MissingExtraError
from askgraph.support.threads import one_thread_from_now_on
from askgraph.types import AnyArray, IntArray

Made = TypeVar("Made")
SIZE_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")  # set by mpiexec to the number of processes
FIRST_RANK_SECONDS = (
    1.0  # a later rank waits this long before it prints an error, so that the first rank prints it once
)
INSTALL = (
    'pip install "askgraph[petsc]" with an MPI and a C compiler (it compiles for some 20 minutes), or on Debian and Ubuntu '
    "apt install python3-petsc4py python3-mpi4py; the page on the petsc engine has both in full"
)


class Ranks:
    """The processes that work together; this one is number ``rank`` of ``size``. All of them call a method together."""

    comm: Any
    rank: int
    size: int

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, int(comm.rank), int(comm.size)

    @property
    def first(self) -> bool:
        """Whether this is the process that prints and writes files."""
        return self.rank == 0

    def sum(self, x: AnyArray) -> AnyArray:
        """Return the sum of an array over all ranks (allreduce)."""
        return self._allreduce(x, "SUM")

    def max(self, x: AnyArray) -> AnyArray:
        """Return the maximum of an array over all ranks (allreduce)."""
        return self._allreduce(x, "MAX")

    def exscan(self, count: int) -> int:
        """Return the sum of a number over the ranks before this one (exclusive scan)."""
        return int(sum(self.comm.allgather(count)[: self.rank]))

    def allgather(self, x: AnyArray) -> AnyArray:
        """Return the arrays of all ranks, one after another (allgather)."""
        return np.concatenate(self.comm.allgather(x))

    def block_starts(self, n: int) -> IntArray:
        """Return where the block of each rank begins if n things are shared evenly; the last number is n."""
        return np.array([n * rank // self.size for rank in range(self.size + 1)], dtype=np.int64)

    def send(self, home: IntArray, *columns: AnyArray) -> tuple[AnyArray, ...]:
        """Send row k of each column to rank ``home[k]``; return the rows that arrive here, in the order of their senders."""
        order = self._by_home(home)
        counts = np.bincount(home, minlength=self.size)
        coming = np.array(self.comm.alltoall(counts.tolist()), dtype=np.int64)
        return tuple(self._alltoall(column[order], counts, coming) for column in columns)

    def ask(self, home: IntArray, keys: AnyArray, answer: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """Send key k to rank ``home[k]``; return the answers, one row per key, that those ranks compute by ``answer``."""
        order = self._by_home(home)
        counts = np.bincount(home, minlength=self.size)
        coming = np.array(self.comm.alltoall(counts.tolist()), dtype=np.int64)
        answers = self._alltoall(answer(self._alltoall(keys[order], counts, coming)), coming, counts)
        back = np.empty_like(answers)
        back[order] = answers
        return back

    def on_this_machine(self, x: float) -> float:
        """Return the sum of a number over the ranks that share memory with this one."""
        from mpi4py import MPI

        near = self.comm.Split_type(MPI.COMM_TYPE_SHARED)
        total = near.allreduce(x)
        near.Free()
        return float(total)

    def all_or_error(self, make: Callable[[], Made]) -> Made:
        """Return what each rank makes alone; if one rank fails, raise its error on all, so that none waits for it."""
        made: list[Made] = []
        error: AskgraphError | None = None
        try:
            made.append(make())
        except AskgraphError as found:
            error = found
        if failed := [found for found in self.comm.allgather(error) if found is not None]:
            raise failed[0]
        return made[0]

    def _by_home(self, home: IntArray) -> IntArray:
        """Return the order of rows by the rank that they go to; numbers of 16 bits are sorted in a tenth of the time."""
        return np.argsort(home.astype(np.int16) if self.size < 2**15 else home, kind="stable")

    def _allreduce(self, x: AnyArray, how: str) -> AnyArray:
        from mpi4py import MPI

        x = np.array(x, order="C")
        out = np.empty_like(x)
        self.comm.Allreduce(x, out, getattr(MPI, how))
        return out

    def _alltoall(self, x: AnyArray, counts: IntArray, coming: IntArray) -> AnyArray:
        """Send ``counts[r]`` rows of x to each rank r, and receive ``coming[r]`` rows from it."""
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
    """Return all processes that mpiexec started, or this one alone; from now on an uncaught error in one ends them all."""
    try:
        from mpi4py import MPI
    except ImportError:
        raise MissingExtraError(f"mpi4py is not installed: {INSTALL}") from None
    ranks = Ranks(MPI.COMM_WORLD)
    if ranks.size > 1:
        one_thread_from_now_on()
        sys.excepthook = lambda kind, error, trace: _end_on_error(ranks, kind, error, trace)
    return ranks


def launched() -> int:
    """Return the number of processes that mpiexec started, without loading MPI; 1 without mpiexec."""
    return max((int(os.environ[name]) for name in SIZE_VARIABLES if os.environ.get(name, "").isdigit()), default=1)


def silent_but_first() -> None:
    """Let only the first process print from now on."""
    if not world().first:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 -- it stays open as long as the process


def end_all(message: str, code: int = 1) -> NoReturn:
    """Print a message and end every process of the job: if one rank only exited, the others would wait for it forever."""
    ranks = world() if "mpi4py.MPI" in sys.modules else None
    if ranks is not None and not ranks.first:
        time.sleep(FIRST_RANK_SECONDS)  # an error of all ranks is printed by the first, which ends the others
    print(message, file=sys.stderr, flush=True)
    if ranks is not None and ranks.size > 1:
        ranks.comm.Abort(code)
    sys.exit(code)


def _end_on_error(ranks: Ranks, kind: type[BaseException], error: BaseException, trace: Any) -> None:
    if not issubclass(kind, AskgraphError):
        sys.__excepthook__(kind, error, trace)
    end_all(f"askgraph: rank {ranks.rank} of {ranks.size} failed: {error or kind.__name__}")


def own_share(items: Sequence[Made], ranks: Ranks) -> Sequence[Made]:
    """Return the items of this rank if all ranks share them evenly, in order."""
    start = ranks.block_starts(len(items))
    return items[start[ranks.rank] : start[ranks.rank + 1]]
