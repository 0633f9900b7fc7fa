"""Simulations with a prediction after every label: CPU seconds and seconds of this version and of another one, in one run.

ASKGRAPH_DATA=folder python benchmarks/simulation.py [--runs 50] [--labels 100] [--against OTHER/src]

Cora (the dataset of the paper), the sampler and the readout of a learner by default. Each version runs in a process of its own, in
turns, 50 runs at a time, after one short run that is not counted, so all code is compiled. The records of both must be equal
but for seconds and versions; the script fails where they are not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from measure import SMOKE, machine

HERE = Path(__file__).parents[1] / "src"
TURN = 50  # runs of one version before it is the other's turn; each turn makes the inverse of its graph once
RUNS = """
import json, os, sys, time
import askgraph as ag
from askgraph.simulate.runs import Problem, Run, simulate_all
name, first, last, labels = sys.argv[1], *map(int, sys.argv[2:])
if name == "toy":
    problem = Problem(*ag.communities((20, 30), rng=0))
else:
    from askgraph.paper.datasets import load
    data = load(name)
    problem = Problem(data.graph, list(data.labels))
list(simulate_all(problem, [Run("influence", 999, min(3, labels))]))
start, wall = sum(os.times()[:2]), time.perf_counter()
records = list(simulate_all(problem, [Run("influence", seed, labels) for seed in range(first, last)]))
spent = sum(os.times()[:2]) - start, time.perf_counter() - wall
print(json.dumps([*spent, records]))
"""
OWN = ("ask_seconds", "tell_seconds", "versions")  # what records of two versions need not share


def made(source, name, first, last, labels):
    """Return CPU seconds, seconds and records of some runs by the source of one version."""
    env = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", RUNS, name, *map(str, (first, last, labels))]
    done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    cpu, wall, records = json.loads(done.stdout.splitlines()[-1])
    return cpu, wall, [{key: value for key, value in record.items() if key not in OWN} for record in records]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50 if not SMOKE else 2)
    parser.add_argument("--labels", type=int, default=100 if not SMOKE else 4)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    options = parser.parse_args()
    sources = {"before": options.against} if options.against else {}
    sources["now"] = HERE
    print(f"Machine: {machine()}.\n")
    spent = {name: [0.0, 0.0] for name in sources}
    for first in range(0, options.runs, TURN):
        last, records = min(first + TURN, options.runs), []
        for name, source in sources.items():
            cpu, wall, found = made(source, "toy" if SMOKE else "cora", first, last, options.labels)
            spent[name] = [spent[name][0] + cpu, spent[name][1] + wall]
            records.append(found)
        if records[0] != records[-1]:
            raise SystemExit(f"the records of runs {first} to {last - 1} differ")
    print(f"| {options.runs} runs of {options.labels} labels | CPU s | s |\n|---|---|---|")
    for name, (cpu, wall) in spent.items():
        print(f"| {name} | {cpu:.1f} | {wall:.1f} |")
    if options.against:
        before, now = spent["before"], spent["now"]
        print(f"| before / now | {before[0] / now[0]:.1f} x | {before[1] / now[1]:.1f} x |")


if __name__ == "__main__":
    main()
