"""Honesty: expected errors and warnings against the truth, and truthful and flipped labels among the suspects.

python benchmarks/honesty.py [--graphs cora,grid] [--seeds 5] [--workers 2]      # prints Markdown tables; data from ASKGRAPH_DATA

At those of 2, 5, 10 and 20 labels per class that the budget of label_efficiency.py reaches: the estimate and its range against
the true error, without an audit and with 12 labels drawn at random and kept apart. Warned: the share of runs in which advice
says within 25 labels that the graph hardly predicts these labels. Named: the share of truthful labels that suspects() lists at
the end of a run. Flipped: 5 % of 120 random labels get another class; the share of them among as many at the top of
suspects(every=True). Without --seeds there are 20 below 3,000 nodes, five below 20,000 and two above.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from labeled_graphs import GROUP, GROUPS, budget, problem, seeds_of
from measure import SMOKE, machine

import askgraph as ag
from askgraph.errors import FileError
from askgraph.support.progress import bar

AUDIT, LABELS, FLIPPED = 12, 120, 6
MARKS, LATE = (2, 5, 10, 20), 10  # labels per class
WARNED_BY = 25  # labels
FLIPS = ("digits_knn", "cora", "polblogs", "lfr8") if not SMOKE else ("grid",)
known = cache(problem)


class Case(NamedTuple):
    """An estimate and the truth."""

    late: bool
    value: float
    low: float
    high: float
    true: float

    @property
    def holds(self):
        return self.low <= self.true <= self.high


class Run(NamedTuple):
    """Cases without and with an audit, whether a warning came in time, and the share of truthful labels named as suspects."""

    plain: list
    audited: list
    warned: bool
    named: float


def run(name, seed):
    whole = known(name)
    truth, C, plain, audited, warned = np.array(whole.truth, dtype=object), len(whole.classes), [], [], False
    learner = ag.Learner(whole.graph, rng=seed, classes=whole.classes)
    for t, _ in enumerate(learner.run(lambda node: whole.truth[whole.graph.index(node)], budget(name, whole)), 1):
        warned = warned or (t <= WARNED_BY and any("hardly predicts" in line for line in learner.judge.advice()))
        if t in [mark * C for mark in MARKS]:
            plain.append(case(learner, truth, t >= LATE * C))
            audited.append(with_audit(learner, whole, truth, t >= LATE * C))
    return Run(plain, audited, warned, len(learner.judge.suspects()) / learner.field.held)


def case(learner, truth, late):
    wrong = (learner.predict() != truth)[~learner.field.labeled].mean()
    return Case(late, *learner.judge.expected_error()[:3], float(wrong))


def with_audit(learner, whole, truth, late):
    nodes = learner.judge.audit(AUDIT)
    for node in nodes:
        learner.judge.tell_audit(node, whole.truth[whole.graph.index(node)])
    found = case(learner, truth, late)
    for _ in nodes:
        learner.undo()
    return found


def flips(name, seed):
    """Return the share of flipped labels at the top of all suspects."""
    whole, rng = known(name), np.random.default_rng(seed)
    nodes = rng.permutation(whole.graph.n_nodes)[:LABELS]
    learner = ag.Learner(whole.graph, rng=0, classes=whole.classes)
    for at, node in enumerate(nodes.tolist()):
        others = [x for x in whole.classes if x != whole.truth[node]]
        label = others[rng.integers(len(others))] if at < FLIPPED else whole.truth[node]
        learner.tell(whole.graph.name(node), label)
    worst = {whole.graph.index(x.node) for x in learner.judge.suspects(every=True)[:FLIPPED]}
    return len(worst & set(nodes[:FLIPPED].tolist())) / FLIPPED


def row(name, runs):
    plain, audited = ([one for run in runs for one in run[k]] for k in (0, 1))
    late = [one for one in plain if one.late]
    figures = (
        f"{mean(x.value for x in plain):.3f}",
        f"{mean(x.true for x in plain):.3f}",
        f"{off(plain):.3f}",
        f"{off(late):.3f}" if late else "–",
        f"{mean(x.holds for x in plain):.2f}",
        f"{width(plain):.3f}",
        f"{width(late):.3f}" if late else "–",
        f"{mean(x.holds for x in audited):.2f}",
        f"{width(audited):.3f}",
        f"{sum(run.warned for run in runs)}/{len(runs)}",
        f"{mean(run.named for run in runs):.3f}",
    )
    return f"| {name} | {' | '.join(figures)} |"


def mean(values):
    return float(np.mean(list(values)))


def off(cases):
    return mean(abs(x.value - x.true) for x in cases)


def width(cases):
    return mean(x.high - x.low for x in cases)


HEADS = (
    "graph | estimate | true | off by | off from 10C | ranges that hold | width | width from 10C | "
    "12 audited: ranges that hold | width | warned | truthful labels named"
)


def report(names, seeds, pool):
    """Print one row per graph, and one over all runs; return nothing."""
    print(f"| {HEADS} |\n|{'---|' * 12}")
    every = []
    for name in names:
        try:
            count = seeds or seeds_of(known(name))
        except FileError as error:
            print(f"{name} is left out: {error}")
            continue
        with bar(count, name) as tick:
            runs = []
            for found in pool.map(partial(run, name), range(count)):
                runs.append(found)
                tick()
        every += runs
        print(row(name, runs), flush=True)
    if every:
        print(row("**all runs**", every) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GROUP) if not SMOKE else "grid")
    parser.add_argument("--seeds", type=int, default=None if not SMOKE else 1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() if not SMOKE else 1)
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    asked = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    print(f"Machine: {machine()}.\n", flush=True)
    wanted = asked.graphs.split(",")
    with ProcessPoolExecutor(asked.workers) as pool:
        report([name for names in GROUPS.values() for name in names if name in wanted], asked.seeds, pool)
        print("| graph | flipped labels found |\n|---|---|")
        for name in (x for x in FLIPS if x in wanted):
            print(f"| {name} | {mean(pool.map(partial(flips, name), range(asked.seeds or 20))):.2f} |", flush=True)


if __name__ == "__main__":
    main()
