"""Honesty of the error estimates: estimates against the true error, what audits add, and flipped labels among suspects.

python benchmarks/honesty.py [--seeds 20] [--validation-seeds 5]     # prints Markdown tables; data from the folder ASKGRAPH_DATA

From ten labels per class on, every half label per class: |estimate - true| and the share of 90 % ranges that hold the true
error, averaged over steps and seeds; the same with an audit of 20 random labels, drawn at ten labels per class and kept apart.
Flipped: 5 % of 120 random labels get another class; the share of them among the same number of worst suspects.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from labeled_graphs import GROUPS, budget, problem
from measure import SMOKE

import askgraph as ag
from askgraph.errors import FileError
from askgraph.support.progress import bar

AUDIT, LABELS, FLIPPED = 20, 120, 6
FLIPS = ("digits_knn", "cora", "polblogs", "lfr8") if not SMOKE else ("grid",)


def true_error(learner, truth):
    return float((learner.predict() != truth)[~learner.field.labeled].mean())


def curve(name, seed):
    """Return (estimate, low, high, true) at some steps, and the same with an audit drawn at the first of them."""
    whole = problem(name)
    truth, C, plain, audited = np.array(whole.truth, dtype=object), len(whole.classes), [], []
    learner = ag.Learner(whole.graph, rng=seed, classes=whole.classes)
    first = min(10 * C, budget(name, whole))
    for t, _ in enumerate(learner.run(lambda node: whole.truth[whole.graph.index(node)], budget(name, whole)), 1):
        if t < first or (t - first) % max(1, C // 2):
            continue
        plain.append((*learner.expected_error()[:3], true_error(learner, truth)))
        if t == first:
            audited.append(with_audit(learner, whole, truth))
    return plain, audited


def with_audit(learner, whole, truth):
    nodes = learner.audit(AUDIT)
    for node in nodes:
        learner.tell_audit(node, whole.truth[whole.graph.index(node)])
    row = (*learner.expected_error()[:3], true_error(learner, truth))
    for _ in nodes:
        learner.undo()
    return row


def flips(name, seed):
    """Return the share of flipped labels among the worst suspects."""
    whole, rng = problem(name), np.random.default_rng(seed)
    nodes = rng.permutation(whole.graph.n_nodes)[:LABELS]
    learner = ag.Learner(whole.graph, rng=0, classes=whole.classes)
    for at, node in enumerate(nodes.tolist()):
        others = [x for x in whole.classes if x != whole.truth[node]]
        label = others[rng.integers(len(others))] if at < FLIPPED else whole.truth[node]
        learner.tell(whole.graph.name(node), label)
    worst = {whole.graph.index(x.node) for x in learner.suspects()[:FLIPPED]}
    return len(worst & set(nodes[:FLIPPED].tolist())) / FLIPPED


def cells(rows):
    estimate, low, high, true = np.array(rows).T
    held = (low <= true) & (true <= high)
    return estimate.mean(), true.mean(), np.abs(estimate - true).mean(), held.mean(), (high - low).mean()


def report(names, seeds, pool):
    print("| graph | estimate | true | off by | ranges that hold | width | audited: off by | ranges that hold |")
    print("|---|---|---|---|---|---|---|---|")
    found = []
    for name in names:
        try:
            problem(name)
        except FileError as error:
            print(f"{name} is left out: {error}")
            continue
        with bar(seeds, name) as tick:
            runs = []
            for run in pool.map(partial(curve, name), range(seeds)):
                runs.append(run)
                tick()
        plain, audited = (cells([row for run in runs for row in run[i]]) for i in (0, 1))
        found.append((*plain, audited[2], audited[3]))
        print(f"| {name} | " + " | ".join(f"{x:.3f}" for x in found[-1]) + " |", flush=True)
    print("| **mean** | " + " | ".join(f"**{x:.3f}**" for x in np.mean(found, axis=0)) + " |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20 if not SMOKE else 1)
    parser.add_argument("--validation-seeds", type=int, default=5 if not SMOKE else 1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() if not SMOKE else 1)
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    asked = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(asked.workers) as pool:
        report(GROUPS["development"] if not SMOKE else ["grid"], asked.seeds, pool)
        if not SMOKE:
            report(GROUPS["validation"], asked.validation_seeds, pool)
        print("| graph | flipped labels found |\n|---|---|")
        for name in FLIPS:
            print(f"| {name} | {np.mean(list(pool.map(partial(flips, name), range(asked.seeds)))):.2f} |")


if __name__ == "__main__":
    main()
