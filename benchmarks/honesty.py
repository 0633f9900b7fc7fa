"""Honesty: expected errors, their ranges, probabilities and warnings against the truth, on families of graphs left out.

python benchmarks/honesty.py [--graphs cora,grid] [--seeds 5] [--workers 1] [--output honesty.jsonl]
    [--suspects]      # prints Markdown tables; data from ASKGRAPH_DATA

Each graph is labeled twice, without spot checks and with one in four questions a spot check. At those of 2, 5, 10 and 20 labels
per class that the budget of label_efficiency.py reaches, and at its end, the signs of the error, the truth, the spot checks and how
sure predictions were are recorded in --output, a line a run; runs that are there are not made again, and --seeds 0 makes none.

From the record: the constants of the estimate and its range are fitted without each family, and that family is judged by them.
The estimate is the regression of the true error on the signs by least squares, no weight below 0, the graphs of a family weighing
alike and a family by the root of their number; beyond each end of the range lie 3.5 of 100 errors of the families it is fitted on.
Audits are drawn from the nodes that are not labeled. Ranges by random answers are judged from 5 labels per class on, beside the
exact binomial (Clopper and Pearson) of the same answers. Sure: predictions with a probability from 0.90 to 0.95, and how many of
them are right, as the mean over graphs.

With --suspects, not recorded: warned is the share of runs in which advice says within 25 labels that the graph hardly predicts the
labels; named, the share of truthful labels that suspects() lists at the end of a run. Flipped: 5 % of 120 random labels get another
class; the share of them among as many at the top of suspects(every=True).
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from labeled_graphs import FAMILIES, FAMILY, NAMES, budget, problem, seeds_of
from measure import SMOKE, machine, write_csv
from scipy.optimize import linprog, nnls
from scipy.special import betaincinv

import askgraph as ag
from askgraph.errors import FileError
from askgraph.kinds.stopping import FITTED, MEASURED, Model, Signs, estimate, signs, wrong_without
from askgraph.simulate.records import Lines
from askgraph.support.progress import bar

MARKS, LATE = (2, 5, 10, 20), 5  # labels per class; from the second on, random answers and probabilities are judged
EVERY = (0, 4)  # questions of which one is a spot check
AUDITS, DRAWS = (8, 12, 20), 4  # audited labels, and how often each number of them is drawn for a case
INSIDE = 0.93  # the share of errors in training that lies within the range: more than the nine in ten promised, as others are new
FEW = 20  # cases of a graph: with fewer it is listed, and not judged
READINGS = 12  # of the accuracy in a run
SURE = 0.90, 0.95
WARNED_BY = 25  # labels
LABELS, FLIPPED = 120, 6
FLIPS = ("digits_knn", "cora", "polblogs", "lfr8") if not SMOKE else ("grid",)
known = cache(problem)


def run(name, seed, every):
    """Return the record of one run."""
    whole = known(name)
    truth, C, cases, accuracy = np.array(whole.truth, dtype=object), len(whole.classes), [], []
    learner, labels = ag.Learner(whole.graph, rng=seed, classes=whole.classes, spot_checks=every), budget(name, whole)
    marks, step = {*(mark * C for mark in MARKS), labels}, max(labels // READINGS, 1)
    for t, _ in enumerate(learner.run(lambda node: whole.truth[whole.graph.index(node)], labels), 1):
        if t in marks:
            cases.append(case(learner, truth, t >= LATE * C))
        if t % step == 0:
            accuracy.append(float((learner.predict() == truth)[~learner.field.labeled].mean()))
    return {"graph": name, "seed": seed, "every": every, "accuracy": float(np.mean(accuracy)), "cases": cases}


def case(learner, truth, late):
    """Return what the signs, the random answers and the probabilities are, and the truth."""
    field, p = learner.field, learner.probabilities()
    rest = ~field.labeled
    wrong, now = learner.predict()[rest] != truth[rest], wrong_without(field)
    checks = [(learner.graph.index(check.node), not check.right) for check in learner.judge.spot_checks]
    return {
        "late": late,
        "rest": int(rest.sum()),
        "wrong": int(wrong.sum()),
        "signs": signs(field, p[rest], learner.readout.weight_of_shares(field)),
        "checked": [int(now.get(node, before)) for node, before in checks],
        "sure": sure(p[rest].max(axis=1), wrong),
    }


def sure(p, wrong):
    """Return how many predictions have a probability in the band, and how many of them are wrong."""
    band = (SURE[0] <= p) & (p < SURE[1])
    return [int(band.sum()), int(wrong[band].sum())]


class Cases:
    """The cases of some runs, as arrays."""

    def __init__(self, records):
        found = [(record, one) for record in records for one in record["cases"] if one["rest"]]
        self.graph = np.array([record["graph"] for record, _ in found])
        self.family = np.array([FAMILY[record["graph"]] for record, _ in found])
        self.late = np.array([one["late"] for _, one in found], dtype=bool)
        self.rest = np.array([one["rest"] for _, one in found])
        self.true = np.array([one["wrong"] / one["rest"] for _, one in found])
        self.signs = [Signs(*one["signs"]) for _, one in found]
        self.checked = [one["checked"] for _, one in found]
        self.sure = np.array([one["sure"] for _, one in found]).reshape(-1, 2)
        self.weights = np.array([1 / (self.graph == graph).sum() for graph in self.graph])
        for family in set(self.family):
            self.weights[self.family == family] /= len(set(self.graph[self.family == family])) ** 0.5


def fit(cases, chosen):
    """Return the model that these cases speak for."""
    S, true, weights = np.array(cases.signs)[chosen], cases.true[chosen], cases.weights[chosen]
    trusted = 1 - S[:, 4]  # as far as the class shares are predicted, no constant is at work
    fixed = trusted * S[:, 3] + S[:, 4] * S[:, 5]
    root = np.sqrt(weights)
    weighed, _ = nnls((root * trusted)[:, None] * S[:, :3], root * (true - fixed))
    model = Model(*weighed.tolist(), low=1.0, below=0.0, high=1.0)
    value = np.array([model.value(cases.signs[at]) for at in np.flatnonzero(chosen)])
    low, below = quantile(np.stack([value, -np.ones_like(value)], axis=1), true, (1 - INSIDE) / 2, weights)
    (high,) = quantile(np.sqrt(value)[:, None], true, (1 + INSIDE) / 2, weights)
    return model._replace(low=float(low), below=float(below), high=float(high))


def quantile(columns, true, share, weights):
    """Return the weights of columns, not negative, whose sum has this share of the true values below it."""
    n, k = columns.shape
    cost = np.concatenate([np.zeros(k), share * weights, (1 - share) * weights])
    return linprog(cost, A_eq=np.hstack([columns, np.eye(n), -np.eye(n)]), b_eq=true, method="highs").x[:k]


class Judged:
    """Estimates and the truth."""

    def __init__(self):
        self.rows = defaultdict(list)

    def add(self, family, graph, value, low, high, true):
        row = value, low <= true + 1e-12 and true <= high + 1e-12, high - low, true
        for whose in (family, graph, "all"):
            self.rows[whose].append(row)

    def cells(self, whose):
        """Return the cells of a row: cases, estimate, true, off by, holds, width."""
        value, holds, width, true = np.array(self.rows[whose], dtype=float).T
        figures = value.mean(), true.mean(), abs(value - true).mean()
        return [len(value), *(f"{x:.3f}" for x in figures), f"{holds.mean():.2f}", f"{width.mean():.3f}"]


def without_answers(cases, models):
    """Judge estimates from the model, each by the constants that were fitted without its family."""
    judged = Judged()
    for at, one in enumerate(cases.signs):
        found = estimate(one, int(cases.rest[at]), model=models[cases.family[at]])
        judged.add(cases.family[at], cases.graph[at], *found[:3], cases.true[at])
    return judged


def with_audits(cases, models, items, rng):
    """Judge estimates with this number of audited labels, and the exact binomial of the same labels."""
    ours, exact = Judged(), Judged()
    for at in np.flatnonzero(cases.late & (cases.rest >= items)):
        rest, family, graph, true = int(cases.rest[at]), cases.family[at], cases.graph[at], cases.true[at]
        bad = round(true * rest)
        for wrong in rng.hypergeometric(bad, rest - bad, items, DRAWS).tolist():
            audited = [True] * wrong + [False] * (items - wrong)
            ours.add(family, graph, *estimate(cases.signs[at], rest, audited, model=models[family])[:3], true)
            exact.add(family, graph, wrong / items, *binomial(wrong, items), true)
    return ours, exact


def with_checks(cases, models):
    """Judge estimates with spot checks where there are enough of them, and the exact binomial of the same answers."""
    ours, exact = Judged(), Judged()
    for at in np.flatnonzero(cases.late):
        checked, family, graph, true = cases.checked[at], cases.family[at], cases.graph[at], cases.true[at]
        if len(checked) >= MEASURED:
            found = estimate(cases.signs[at], int(cases.rest[at]), (), checked, model=models[family])
            ours.add(family, graph, *found[:3], true)
            exact.add(family, graph, np.mean(checked), *binomial(sum(checked), len(checked)), true)
    return ours, exact


def binomial(wrong, items):
    """Return the exact 90 % range of Clopper and Pearson."""
    low = betaincinv(wrong, items - wrong + 1, 0.05) if wrong else 0.0
    return low, betaincinv(wrong + 1, items - wrong, 0.95) if wrong < items else 1.0


def right(cases, family):
    """Return the share right of the predictions in the band, from 5 labels per class on: the mean over graphs, or a dash."""
    chosen = cases.late & ((cases.family == family) | (family == "all"))
    sums = [cases.sure[chosen & (cases.graph == graph)].sum(axis=0) for graph in set(cases.graph[chosen])]
    shares = [1 - wrong / count for count, wrong in sums if count]
    return f"{np.mean(shares):.3f}" if shares else "–"


def report(records, folder=None):
    """Print the tables; write that of all graphs into a folder."""
    plain, checked = (Cases([record for record in records if record["every"] == every]) for every in EVERY)
    families = [family for family in FAMILIES if family in plain.family]
    every = np.ones(len(plain.true), dtype=bool)
    models = {family: fit(plain, plain.family != family if len(families) > 1 else every) for family in families}
    print("Constants: " + ", ".join(Model._fields) + f"; shipped {', '.join(map(str, FITTED))}\n")
    for family, model in [("all families", fit(plain, every)), *((f"without {f}", m) for f, m in models.items())]:
        print(f"- {family}: {', '.join(f'{x:.2f}' for x in model)}")
    judged = without_answers(plain, models)
    print(f"\n| family | graphs | {CASES} |\n|{'---|' * 8}")
    for family in (*families, "all"):
        graphs = len(set(plain.graph[plain.family == family])) if family != "all" else len(set(plain.graph))
        print(row(family, graphs, *judged.cells(family)))
    rng = np.random.default_rng(0)
    pairs = {f"{items} audited": with_audits(plain, models, items, rng) for items in AUDITS}
    pairs[f"{MEASURED} or more spot checks"] = with_checks(checked, models)
    for what, (ours, exact) in pairs.items():
        print(f"\n{what}, from {LATE}C:\n\n| family | {CASES} | exact binomial: holds | width |\n|{'---|' * 9}")
        for family in (f for f in (*families, "all") if f in ours.rows):
            print(row(family, *ours.cells(family), *exact.cells(family)[-2:]))
    print(f"\n| family | {SURE[0]:.2f} to {SURE[1]:.2f} sure: right | with spot checks |\n|{'---|' * 3}")
    for family in (*families, "all"):
        print(row(family, right(plain, family), right(checked, family)))
    print(f"\n| graph | {CASES} |\n|{'---|' * 7}")
    for graph in (g for f in families for g in FAMILIES[f] if g in plain.graph):
        few = " (too few to judge)" if len(judged.rows[graph]) < FEW else ""
        print(row(graph + few, *judged.cells(graph)))
    cost_of_checks(records, families)
    if folder is not None:
        graphs = [graph for family in families for graph in FAMILIES[family] if graph in plain.graph]
        found = [(NAMES[graph], *judged.cells(graph)) for graph in graphs]
        write_csv(folder / "expected_error_by_graph.csv", ("graph", *CASES.split(" | ")), found)


def cost_of_checks(records, families):
    """Print the mean accuracy over the curve without spot checks, and by how much it differs with them, paired."""
    found = {(one["graph"], one["seed"], one["every"]): one["accuracy"] for one in records}
    pairs = defaultdict(list)
    for (graph, seed, every), accuracy in found.items():
        if every == 0 and (graph, seed, EVERY[1]) in found:
            for whose in (FAMILY[graph], "all"):
                pairs[whose].append((accuracy, found[graph, seed, EVERY[1]] - accuracy))
    print(f"\n| family | runs | accuracy | with one spot check in {EVERY[1]} | 95 % |\n|{'---|' * 5}")
    for family in (f for f in (*families, "all") if pairs[f]):
        accuracy, more = np.array(pairs[family]).T
        print(
            row(
                family,
                len(more),
                f"{accuracy.mean():.3f}",
                f"{more.mean():+.3f}",
                f"± {1.96 * more.std() / len(more) ** 0.5:.3f}",
            )
        )


CASES = "cases | estimate | true | off by | ranges that hold | width"


def row(*cells):
    return f"| {' | '.join(map(str, cells))} |"


def watched(name, seed):
    """Return whether a warning came in time, and the share of truthful labels among the suspects at the end."""
    whole, warned = known(name), False
    learner = ag.Learner(whole.graph, rng=seed, classes=whole.classes)
    for t, _ in enumerate(learner.run(lambda node: whole.truth[whole.graph.index(node)], budget(name, whole)), 1):
        warned = warned or (t <= WARNED_BY and any("hardly predicts" in line for line in learner.judge.advice()))
    return warned, len(learner.judge.suspects()) / learner.field.held


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


def suspects(names, seeds, folder=None):
    """Print how often people are warned, and truthful and flipped labels among the suspects; write the first two into a folder."""
    rows = []
    print(f"\n| graph | warned | truthful labels named | flipped labels found |\n|{'---|' * 4}")
    for name in names:
        warned, named = np.array([watched(name, seed) for seed in range(seeds or seeds_of(known(name)))], dtype=float).T
        found = f"{np.mean([flips(name, seed) for seed in range(seeds or 20)]):.2f}" if name in FLIPS else "–"
        print(row(name, f"{warned.sum():.0f}/{len(warned)}", f"{named.mean():.3f}", found), flush=True)
        rows.append((NAMES[name], f"{warned.sum():.0f}", len(warned), f"{named.mean():.3f}"))
    if folder is not None:
        heads = ("graph", "runs with a warning", "runs", "truthful labels named")
        write_csv(folder / "warnings_by_graph.csv", heads, rows)


def tasks(names, seeds, done):
    """Return the runs to make, one seed of all graphs after another; a graph without its files is left out."""
    found = []
    for name in names:
        try:
            count = seeds if seeds is not None else seeds_of(known(name))
        except FileError as error:
            print(f"{name} is left out: {error}")
            continue
        found += [(name, seed, every) for seed in range(count) for every in EVERY]
    return sorted((task for task in found if task not in done), key=lambda task: task[1])


def record(names, seeds, workers, file):
    """Make the runs that are not in the file, and append them to it; return nothing."""
    done = {(one["graph"], one["seed"], one["every"]) for one in file.read()}
    wanted = tasks(names, seeds, done) if seeds != 0 else []
    with ProcessPoolExecutor(workers) as pool, file.appending() as append, bar(len(wanted), "runs") as tick:
        for found in pool.map(run, *zip(*wanted, strict=True)) if wanted else ():
            append(found)
            tick()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(FAMILY) if not SMOKE else "grid")
    parser.add_argument("--seeds", type=int, default=None if not SMOKE else 1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--output", default="honesty.jsonl")
    parser.add_argument("--suspects", action="store_true")
    parser.add_argument(
        "--csv", type=Path, default=Path() if SMOKE else None, help="a folder for the tables of the site"
    )
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    asked = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    print(f"Machine: {machine()}.\n", flush=True)
    file, wanted = Lines(asked.output), asked.graphs.split(",")
    record(wanted, asked.seeds, asked.workers, file)
    report([one for one in file.read() if one["graph"] in wanted], asked.csv)
    if asked.suspects or SMOKE:
        suspects(wanted, asked.seeds, asked.csv)


if __name__ == "__main__":
    main()
