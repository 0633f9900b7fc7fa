"""Printed or derived form, with doubt or without: mean accuracy over the learning curve, on graphs that need no download.

python benchmarks/forms.py     # prints a Markdown table, about two minutes on two cores
"""

from __future__ import annotations

import os

import numpy as np
from measure import SMOKE

import askgraph as ag
from askgraph.simulate import Problem, Run, simulate_all

RUNS = 10 if not SMOKE else 1
PAPER = {"delta": 0.005, "readout": "map"}


def problems():
    from sklearn.datasets import load_digits, load_iris, load_wine

    for name, load in (
        ("digits, 10 classes", load_digits),
        ("wine, 3 classes", load_wine),
        ("iris, 3 classes", load_iris),
    )[2 if SMOKE else 0 :]:
        data = load()
        yield (
            name,
            Problem(ag.nearest_neighbors(data.data, k=10, scale=True), data.target.tolist()),
            60 if not SMOKE else 5,
        )
    if SMOKE:
        return
    graph, labels = ag.two_squares(rng=0)
    yield "the paper's grid, 2 classes", Problem(graph, labels.tolist()), 40
    graph, labels = ag.communities(rng=0)
    yield "communities, 3 classes", Problem(graph, labels.tolist()), 40


def main():
    columns = [(u, f, d) for u in ("tv", "msd") for f in ("printed", "derived") for d in ("sqrt", None)]
    print("| graph | " + " | ".join(f"{u}, {f}, doubt {d or 'none'}" for u, f, d in columns) + " | random |")
    print("|---" * (len(columns) + 2) + "|")
    table = []
    for name, problem, budget in problems():
        runs = [Run(u, seed, budget, doubt=d, form=f, **PAPER) for u, f, d in columns for seed in range(RUNS)]
        runs += [Run("random", seed, budget, **PAPER) for seed in range(RUNS)]
        records = list(simulate_all(problem, runs, os.cpu_count() if not SMOKE else 1))
        keys = [*columns, ("random", "printed", "sqrt")]
        row = [_mean([r for r in records if (r["sampler"], r["form"], r["doubt"]) == key]) for key in keys]
        table.append(row)
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |", flush=True)
    print("| **mean** | " + " | ".join(f"**{value:.3f}**" for value in np.mean(table, axis=0)) + " |")


def _mean(records):
    return float(np.mean([np.mean(record["accuracy"]) for record in records]))


if __name__ == "__main__":
    main()
