"""What a question costs by kind of answer: CPU seconds of a question, its answer included, on the same graph.

python benchmarks/answers_speed.py [--nodes 1000000] [--questions 12] [--engine auto]

The graph joins random points in three dimensions to their ten nearest. All learners share one engine, and take turns, a question
each, so that all of them meet the same load; the first four questions are left out. Twenty classes are compared with any of twenty
classes, numbers with two classes.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from measure import SMOKE, machine

import askgraph as ag

WARM = 4  # questions that are left out
CLASSES = [f"class {k}" for k in range(20)]
KINDS = {  # the settings of a learner, and the answer at a point
    "20 classes": ({"classes": CLASSES}, lambda x: CLASSES[int(20 * x[0])]),
    "any of 20 classes": (
        {"answers": "several", "classes": CLASSES},
        lambda x: [CLASSES[int(20 * x[0])], CLASSES[int(20 * x[1])]],
    ),
    "20 ordered classes": ({"answers": ag.Ordered(CLASSES)}, lambda x: CLASSES[int(20 * x[0])]),
    "two classes": ({"classes": CLASSES[:2]}, lambda x: CLASSES[int(2 * x[0])]),
    "numbers": ({"answers": "numbers"}, lambda x: float(x[0])),
}
BESIDE = {
    "any of 20 classes": "20 classes",
    "20 ordered classes": "20 classes",
    "numbers": "two classes",
}


def step(learner, points, answer):
    """Ask and tell, and return the CPU seconds."""
    start = time.process_time()
    node = learner.ask()
    learner.tell(node, answer(points[node]))
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=300 if SMOKE else 1_000_000)
    parser.add_argument("--questions", type=int, default=6 if SMOKE else 12)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    points = np.random.default_rng(0).random((options.nodes, 3))
    graph = ag.nearest_neighbors(points, 10)
    prior = ag.prior(graph, engine=options.engine)
    learners = {kind: ag.Learner(graph, engine=prior, rng=0, **how) for kind, (how, _) in KINDS.items()}
    seconds = {kind: [] for kind in KINDS}
    for _ in range(options.questions):
        for kind, learner in learners.items():
            seconds[kind].append(step(learner, points, KINDS[kind][1]))
    middle = {kind: statistics.median(some[WARM:]) for kind, some in seconds.items()}
    print(machine())
    print(f"{options.nodes:,} nodes, engine {prior.name}\n\n| answers | CPU s a question | beside |\n|---|---|---|")
    for kind, found in middle.items():
        other = BESIDE.get(kind)
        print(f"| {kind} | {found:.3f} | {f'{found / middle[other]:.2f} times {other}' if other else ''} |")


if __name__ == "__main__":
    main()
