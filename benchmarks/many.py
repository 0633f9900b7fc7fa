"""Many labels, and many classes: what a label, a question and the three best classes cost.

python benchmarks/many.py [--nodes 100000] [--labels 20000] [--classes 1000] [--told 200]

Labels: on the road-like graph labels are told one by one, with a question every 100 labels, whose node is told next; all others
are drawn at random. The mean CPU seconds of the last 2,048 labels are set beside those of the first 2,048, questions included.
Classes: on 3-d neighbors, `told` labels of many classes are told one by one, a question before each; then come the predictions,
all probabilities or the best three classes.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from measure import SMOKE, Meter, in_own_process, machine
from scale import built, labels_of

SPAN = 2_048 if not SMOKE else 20
EVERY = 100 if not SMOKE else 10


def labels_told(nodes, labels):
    """Return the number of nodes, CPU seconds and seconds of each label, and peak megabytes."""
    import askgraph as ag

    graph = built("road", nodes)
    truth, order = labels_of(graph), np.random.default_rng(0).permutation(graph.n_nodes).tolist()
    learner = ag.Learner(graph, rng=0)
    meter, taken, told = Meter(), [], set()
    for at in range(labels):
        start, wall = time.process_time(), time.perf_counter()
        node = learner.ask() if at % EVERY == 0 else next(node for node in iter(order.pop, None) if node not in told)
        told.add(node)
        learner.tell(node, int(truth[node]))
        taken.append((time.process_time() - start, time.perf_counter() - wall))
    return graph.n_nodes, np.array(taken), meter.megabytes


def classes_told(nodes, classes, labels):
    """Return CPU seconds of a label with its question, of all probabilities, and of the best three; megabytes of each stage."""
    import askgraph as ag

    graph, rng = built("3-d", nodes), np.random.default_rng(0)
    learner = ag.Learner(graph, classes=range(classes), rng=0)
    meter, taken = Meter(), []
    for _ in range(labels):
        start = time.process_time()
        learner.tell(learner.ask(), int(rng.integers(classes)))
        taken.append(time.process_time() - start)
    asked, stages = meter.megabytes, {}
    for name, read in (("best three", lambda: learner.predict(top=3)), ("all", learner.probabilities)):
        learner.tell(learner.ask(), 0)
        meter, start = Meter(), time.process_time()
        read()
        stages[name] = time.process_time() - start, meter.megabytes
    return float(np.median(taken)), asked, stages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000 if not SMOKE else 900)
    parser.add_argument("--labels", type=int, default=20_000 if not SMOKE else 60)
    parser.add_argument("--classes", type=int, default=1_000 if not SMOKE else 12)
    parser.add_argument("--told", type=int, default=200 if not SMOKE else 20)
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    options = parser.parse_args()
    print(f"Machine: {machine()}.\n")
    if options.labels:
        nodes, taken, megabytes = in_own_process(labels_told, options.nodes, options.labels)
        (first, first_wall), (last, last_wall) = taken[:SPAN].mean(axis=0), taken[-SPAN:].mean(axis=0)
        print(f"| nodes | labels | first {SPAN:,}: CPU ms, ms a label | last {SPAN:,} | ratio of CPU | peak memory |")
        print("|---|---|---|---|---|---|")
        print(
            f"| {nodes:,} | {options.labels:,} | {first * 1e3:.1f}, {first_wall * 1e3:.1f} | {last * 1e3:.1f}, "
            f"{last_wall * 1e3:.1f} | {last / first:.2f} | {megabytes:.0f} MB |\n",
            flush=True,
        )
    if options.classes:
        label, asked, stages = in_own_process(classes_told, options.nodes, options.classes, options.told)
        print(f"| {options.classes:,} classes, {options.nodes:,} nodes | CPU s | peak memory above the graph's |")
        print("|---|---|---|")
        print(f"| a question and its label (median of {options.told}) | {label:.3f} | {asked:.0f} MB |")
        for name, (seconds, megabytes) in stages.items():
            print(f"| predictions, {name} | {seconds:.2f} | {megabytes:.0f} MB more |")


if __name__ == "__main__":
    main()
