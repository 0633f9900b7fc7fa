"""Programs run one after the other by the processes of one MPI job, since starting a job takes longer than most of them.

``mpiexec -n 3 python -m tests.helpers.over_ranks programs.json printed.jsonl`` reads a list of names, folders and programs. Each
program finds askgraph as ag, numpy as np, world(), and ``patch`` for what must not outlive it. What the first process prints is
written as soon as the program ends.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys

import numpy as np
import pytest

import askgraph as ag
from askgraph.distributed.ranks import world


def run(name: str, folder: str, program: str) -> str:
    """Run a program in its folder; return what it prints."""
    os.chdir(folder)
    with contextlib.redirect_stdout(io.StringIO()) as printed, pytest.MonkeyPatch.context() as patch:
        names = {"ag": ag, "json": json, "np": np, "world": world, "patch": patch, "__name__": name}
        exec(compile(program, name, "exec"), names)
    return printed.getvalue()


def run_all(programs: str, printed: str) -> None:
    """Run all programs; an error in one of them ends the job."""
    world()
    with open(programs) as file:
        listed = json.load(file)
    with open(printed if world().first else os.devnull, "w") as out:
        for name, folder, program in listed:
            print(json.dumps([name, run(name, folder, program)]), file=out, flush=True)


if __name__ == "__main__":
    run_all(*sys.argv[1:])
