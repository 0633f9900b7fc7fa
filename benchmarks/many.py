"""Many labels, and many classes: what a label, a question and the three best classes cost.

python benchmarks/many.py [--nodes 100000] [--labels 20000] [--classes 1000] [--told 20] [--all]

Labels: on the road-like graph labels are told one by one, with a question every 100 labels, whose node is told next; all others
are drawn at random. The mean CPU seconds of the last 2,048 labels are set beside those of the first 2,048, questions included.
Classes: on the same graph, `told` labels of many classes are told one by one, a question before each, then the three best classes
are predicted: with these labels alone, and after a label of every class. --all adds all probabilities, which takes gigabytes.
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


def classes_told(nodes, classes, labels, every, whole):
    """Return the classes with a label, then (what, CPU seconds, peak megabytes) of a question with its label and of predictions."""
    import askgraph as ag

    graph, rng = built("road", nodes), np.random.default_rng(0)
    learner, meter, taken = ag.Learner(graph, classes=range(classes), rng=0), Meter(), []
    if every:
        learner.tell_all(dict(zip(rng.permutation(graph.n_nodes)[:classes].tolist(), range(classes), strict=True)))
    for _ in range(labels):
        start = time.process_time()
        learner.tell(learner.ask(), int(rng.integers(classes)))
        taken.append(time.process_time() - start)
    found = [("a question and its label", float(np.median(taken)), meter.megabytes)]
    reads = [("the best three classes", lambda: learner.predict(top=3)), ("all probabilities", learner.probabilities)]
    for name, read in reads[: 2 if whole else 1]:
        learner.tell(learner.ask(), 0)
        meter, start = Meter(), time.process_time()
        read()
        found.append((name, time.process_time() - start, meter.megabytes))
    return len({x.said for x in learner.field.observations}), found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000 if not SMOKE else 900)
    parser.add_argument("--labels", type=int, default=20_000 if not SMOKE else 60)
    parser.add_argument("--classes", type=int, default=1_000 if not SMOKE else 12)
    parser.add_argument("--told", type=int, default=20 if not SMOKE else 5)
    parser.add_argument("--all", action="store_true", default=SMOKE, help="predict all probabilities, too")
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
        print(
            f"| {options.classes:,} classes, {options.nodes:,} nodes | classes with a label | CPU s | peak memory more |"
        )
        print("|---|---|---|---|")
        for every in (False, True):
            how = options.nodes, options.classes, options.told, every, options.all
            seen, found = in_own_process(classes_told, *how)
            for name, seconds, megabytes in found:
                print(f"| {name} | {seen:,} | {seconds:.2f} | {megabytes:,.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
