"""What features cost: seconds of a question, its answer included, with 64 columns of features and without, on the same graph.

python benchmarks/features_speed.py [--nodes 100000] [--columns 64] [--questions 12] [--engine auto]

The graph joins random points in three dimensions to their ten nearest. CPU seconds count all threads; those of setting up are
given too. At a million nodes a question with features should cost at most 1.2 times one without.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from measure import SMOKE, in_own_process, machine

import askgraph as ag
from askgraph.priors.features import Features


def measured(nodes, columns, questions, engine):
    """Return the engine, CPU seconds and seconds of setting up, and the median of both over questions after the first two."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(nodes, 3))
    graph, truth = ag.nearest_neighbors(points, 10), np.digitize(points[:, 0], [-0.5, 0.5]).tolist()
    phi = rng.normal(size=(nodes, columns)) / max(columns, 1) ** 0.5 if columns else None
    start = time.process_time(), time.perf_counter()
    features = None if phi is None else Features(phi.astype(np.float32), from_start=True)
    learner = ag.Learner(graph, engine=engine, rng=0, features=features)
    setup, steps = (time.process_time() - start[0], time.perf_counter() - start[1]), []
    for _ in range(questions):
        start = time.process_time(), time.perf_counter()
        node = learner.ask()
        learner.tell(node, truth[node])
        steps.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    return learner.field.prior.name, setup, [statistics.median(x) for x in zip(*steps[2:], strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=300 if SMOKE else 100_000)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--questions", type=int, default=4 if SMOKE else 12)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    print(machine())
    print("| columns | engine | set-up, CPU s | set-up, s | question, CPU s | question, s |\n|---|---|---|---|---|---|")
    found = []
    for columns in (0, options.columns):
        name, setup, question = in_own_process(measured, options.nodes, columns, options.questions, options.engine)
        found.append(question)
        print(f"| {columns} | {name} | {setup[0]:.1f} | {setup[1]:.1f} | {question[0]:.3f} | {question[1]:.3f} |")
    print(
        f"\n{options.nodes:,} nodes: with features a question takes {found[1][0] / found[0][0]:.2f} times the CPU seconds"
    )


if __name__ == "__main__":
    main()
