"""Seconds and memory of askgraph, the paper's algorithm and graphlearning, each in a process of its own.

python benchmarks/speed.py [small] [ahead] [imports]     # all by default; prints Markdown tables
The compile that numba does once is left out of all figures.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np
from measure import SMOKE, Meter, in_own_process, machine
from scipy.sparse import csr_array

KINDS = {"3-d neighbours": 3, "16-d neighbours": 16, "power law": 0}


def problem(kind, n):
    """Return a graph and labels ±1 that follow it."""
    import askgraph as ag

    rng = np.random.default_rng(0)
    if kind == "power law":
        graph = ag.power_law(n, 5, rng=0)
        return graph, np.where(np.arange(n) % 2, 1, -1)
    X = rng.random((n, 3)) if KINDS[kind] == 3 else rng.normal(size=(n, KINDS[kind]))
    return ag.nearest_neighbors(X, k=10, bandwidth=None), np.where(X[:, 0] > np.median(X[:, 0]), 1, -1)


def ours(kind, n, budget, utility, warm):
    """Run askgraph from the graph to the last label; a first run on a smaller graph of the same kind compiles."""
    import askgraph as ag

    if warm:
        small, labels = problem(kind, 4_000 if n > 4_000 else n)
        list(ag.Learner(small, utility, rng=0).run(lambda node: int(labels[node]), 3))
    graph, labels = problem(kind, n)
    meter, steps = Meter(), []
    learner = ag.Learner(graph, utility, rng=0, classes=[-1, 1])
    for _ in learner.run(lambda node: int(labels[node]), budget):
        steps.append(meter.seconds)
    learner.ask()
    steps.append(meter.seconds)
    return steps[1:], meter.megabytes, learner.engine


def theirs(kind, n, budget, contender, *args):
    import peers

    graph, labels = problem(kind, n)
    function = getattr(peers, contender)
    if contender == "graphlearning":
        import graphlearning  # noqa: F401 -- whether it is there, and before anything is measured
    W = csr_array(graph.weights)
    meter = Meter()
    steps = function(W, labels, budget, *args)
    return steps, meter.megabytes, ""


def row(name, result, against=None):
    steps, megabytes, note = result
    later = statistics.median(np.diff(steps)) * 1e3
    ratio = f"{against[0][-1] / steps[-1]:.1f} x" if against else ""
    memory = f"{megabytes:.0f} MB" + (f" ({megabytes / max(against[1], 0.001):.2f})" if against else "")
    print(
        f"| {name} | {steps[0]:.2f} s | {later:.2f} ms | {steps[-1]:.2f} s | {ratio} | {memory} | {note} |", flush=True
    )


def small(n=5_000 if not SMOKE else 200, budget=100 if not SMOKE else 5):
    """Compare the whole loop at 5,000 nodes."""
    print(f"\n### {n:,} nodes, {budget} labels, set-up included\n")
    print("| | first question | next (median) | all | against the paper's | peak memory (share) | engine |")
    print("|---|---|---|---|---|---|---|")
    for kind in KINDS:
        for utility in ("tv", "msd"):
            plain = in_own_process(theirs, kind, n, budget, "paper", utility)
            row(f"{kind}: the paper's algorithm, {utility}", plain)
            row(f"{kind}: **askgraph, {utility}**", in_own_process(ours, kind, n, budget, utility, True), plain)
    try:
        import graphlearning  # noqa: F401 -- whether it is there, and before anything is measured
    except ImportError:
        print("\ngraphlearning is not installed (pip install 'askgraph[bench]'): left out")
        return
    for criterion, pairs in (("var_opt", None), ("var_opt", 200), ("sigma_opt", None), ("sigma_opt", 200)):
        name = f"3-d neighbours: graphlearning {criterion}, {f'{pairs} eigenpairs' if pairs else 'dense covariance'}"
        row(name, in_own_process(theirs, "3-d neighbours", n, budget, "graphlearning", criterion, pairs))


def naive_eer(G, h, nodes):
    """Ask one question by expected error reduction at the paper's cost, O(C² n²): every answer, every class, every node."""
    C = h.shape[1]
    H = h.sum(axis=1)
    p = h + (1 - H[:, None]) / 2
    p /= p.sum(axis=1, keepdims=True)
    scores = np.empty(len(nodes))
    for at, i in enumerate(nodes):
        R, risk = G[i] / G[i, i], 0.0
        for y in range(C):
            answer = np.zeros(C)
            answer[y] = 1.0
            new = h + np.outer(R, answer - h[i])
            odds = new + (1 - new.sum(axis=1, keepdims=True)) / 2
            risk += p[i, y] * (1 - odds.max(axis=1) / odds.sum(axis=1)).sum()
        scores[at] = -risk
    return scores


def ahead_times(n, C):
    import askgraph as ag

    rng = np.random.default_rng(0)
    graph = ag.nearest_neighbors(rng.normal(size=(n, 8)), k=5)
    truth = rng.integers(C, size=n)
    times = {}
    prior = ag.prior(graph, 0.005)
    for utility in ("tv", "msd", "eer", "fl", "kl", "tsa"):
        learner = ag.Learner(graph, utility, engine=prior, rng=0, classes=range(C))
        steps = [
            step.seconds for step in learner.run(lambda node: int(truth[node]), 40 if utility in ("tv", "msd") else 8)
        ]
        times[utility] = statistics.median(steps[2:])
    field = learner.field
    nodes = np.flatnonzero(~field.labeled)
    G = field.columns(np.arange(n))
    start = time.perf_counter()
    naive_eer(G, field.votes, nodes)
    times["eer, naive O(C² n²)"] = time.perf_counter() - start
    return times


def ahead(n=2_500 if not SMOKE else 60, C=7 if not SMOKE else 3):
    """Compare one question and its update at Cora's size."""
    print(f"\n### One question and update, {n:,} nodes, {C} classes, dense engine\n")
    times = in_own_process(ahead_times, n, C)
    print("| sampler | milliseconds | tv is faster by |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {seconds * 1e3:.2f} | {seconds / times['tv']:.0f} x |")


def seconds_of(code):
    runs = []
    for _ in range(5 if not SMOKE else 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, *code], check=True, capture_output=True)
        runs.append(time.perf_counter() - start)
    return min(runs)


def imports():
    """Measure the seconds of imports and of a first command."""
    base = seconds_of(["-c", "import numpy, scipy.sparse, scipy.linalg"])
    print("\n### Start-up (best of five)\n\n| | seconds |\n|---|---|")
    alone = seconds_of(["-c", "import numpy, scipy.sparse, scipy.linalg, askgraph"]) - base
    print(f"| import askgraph, beyond numpy and scipy | {alone:.2f} |")
    everything = seconds_of(["-c", "import numpy, scipy.sparse, scipy.linalg, askgraph; askgraph.Learner"]) - base
    print(f"| import askgraph and its Learner, beyond numpy and scipy | {everything:.2f} |")
    print(f"| askgraph --help | {seconds_of(['-m', 'askgraph', '--help']):.2f} |")


if __name__ == "__main__":
    print(f"Machine: {machine()}.")
    for name in [part for part in sys.argv[1:] if part != "--smoke"] or ["small", "ahead", "imports"]:
        {"small": small, "ahead": ahead, "imports": imports}[name]()
