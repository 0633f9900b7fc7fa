"""Accuracy over the learning curve against the number of questions asked at once, for both ways to make a batch.

python benchmarks/batches.py [--graphs cora,grid] [--seeds 5]     # prints a Markdown table; data from the folder ASKGRAPH_DATA
"""

from __future__ import annotations

import argparse

import numpy as np
from labeled_graphs import GROUPS, budget, problem
from measure import SMOKE

import askgraph as ag
from askgraph.errors import FileError
from askgraph.support.progress import bar

SIZES = (1, 5, 20, 50) if not SMOKE else (5, 20)
WAYS = ("sequence", "local")


def area(problem, labels, size, way, seed):
    """Return the mean accuracy from the first label to the last; a batch's questions are fixed, its answers count one by one."""
    truth = np.array(problem.truth, dtype=object)
    learner, accuracy = ag.Learner(problem.graph, rng=seed, classes=problem.classes, batch=way), []
    while (told := len(learner.labels)) < labels:
        for node in learner.ask(min(size, labels - told) if told else 1):
            learner.tell(node, problem.truth[problem.graph.index(node)])
            accuracy.append((learner.predict() == truth)[~learner.field.labeled].mean())
    curve = np.array(accuracy)
    return float((curve[1:] + curve[:-1]).mean() / 2)


def row(name, seeds, tick):
    whole = problem(name)
    labels, cells = budget(name, whole), []
    for way in WAYS:
        for size in SIZES:
            cells.append(
                np.mean([area(whole, labels, size, way, seed) for seed in range(seeds)]) if size < labels else np.nan
            )
            tick()
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GROUPS["development"]) if not SMOKE else "grid")
    parser.add_argument("--seeds", type=int, default=5 if not SMOKE else 1)
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    asked = parser.parse_args()
    names, rows = asked.graphs.split(","), {}
    with bar(len(names) * len(WAYS) * len(SIZES), "batches") as tick:
        for name in names:
            try:
                rows[name] = row(name, asked.seeds, tick)
            except FileError as error:
                print(f"{name} is left out: {error}")
    print("| graph | " + " | ".join(f"{way}, {size}" for way in WAYS for size in SIZES) + " |")
    print("|---" * (1 + len(WAYS) * len(SIZES)) + "|")
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join("" if np.isnan(x) else f"{x:.3f}" for x in cells) + " |")
    everywhere = np.array([cells for cells in rows.values() if not np.isnan(cells).any()])
    if not len(everywhere):
        return
    print(f"| **mean of {len(everywhere)}** | " + " | ".join(f"**{x:.3f}**" for x in everywhere.mean(axis=0)) + " |")


if __name__ == "__main__":
    main()
