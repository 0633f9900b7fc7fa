"""Suggestions of models: accuracy with them beside ignoring and trusting them, and wrong ones among the first to review.

python benchmarks/suggestions.py [--seeds 3]      # prints a Markdown table; data from the folder trial of ASKGRAPH_DATA

AG News (7,600 news, title and description) and 3,000 pictures of MNIST (pixels as they are). Every item has one suggestion.
Wrong ones: "random", 30 % of all, any other class; "systematic", 30 % of each class taken for the next one; "one class", 30 %
of the first class taken for the second; "region", whole neighborhoods taken for the next class until 30 % are wrong; "chance",
any class. Ignoring is the learner without suggestions, trusting is each item as suggested. Errors found: the number of wrong
suggestions among the first 100 of suspect_suggestions, over that among 100 at random.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from pathlib import Path

import numpy as np
from measure import SMOKE, machine

import askgraph as ag
from askgraph.graph.texts import join_written, text_rows

DATA = Path(os.environ.get("ASKGRAPH_DATA", Path(__file__).parents[2] / "shared" / "data")) / "trial"
SHARE, MARKS, REVIEWED = 0.3, (20, 50), 100


def ag_news():
    with gzip.open(DATA / "ag_test.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    texts = text_rows([f"{title}\n{description}" for _, title, description in rows])
    return join_written(texts, 10), np.array([int(row[0]) - 1 for row in rows])


def mnist():
    with np.load(DATA / "mnist_3000.npz") as stored:
        images, digits = stored["images"], stored["y"]
    return ag.nearest_neighbors(images.reshape(len(images), -1).astype(float), 10), digits.astype(np.int64)


def toy():
    return ag.communities((60, 50, 40), rng=0)


SETS = {"AG News": ag_news, "mnist_3000": mnist} if not SMOKE else {"communities": toy}


def sources(graph, truth, rng):
    """Return {kind of error: one suggestion per item}."""
    n, classes = truth.size, int(truth.max()) + 1
    after, drawn = (truth + 1) % classes, rng.random(n) < SHARE
    region, around = np.zeros(n, dtype=bool), graph.weights
    while region.mean() < SHARE:
        near = np.zeros(n)
        near[rng.integers(n)] = 1.0
        region |= near + around @ near + around @ (around @ near) > 0
    return {
        "random": np.where(drawn, (truth + rng.integers(1, classes, n)) % classes, truth),
        "systematic": np.where(rng.random(n) < SHARE, after, truth),
        "one class": np.where((rng.random(n) < SHARE) & (truth == 0), after, truth),
        "region": np.where(region, after, truth),
        "chance": rng.integers(0, classes, n),
    }


def measured(learner, suggested, truth):
    """Return the accuracy on unlabeled items and the errors found, of a learner before its suggestions."""
    again = ag.Learner(learner.graph, engine=learner.field.origin, classes=learner.classes, rng=0)
    again.guesses.tell_all(dict(enumerate(suggested.tolist())))
    again.tell_all(learner.labels)
    rest = ~again.field.labeled
    worst = [one.node for one in again.guesses.suspects(REVIEWED)]
    wrong = suggested != truth
    found = wrong[worst].mean() / wrong[rest].mean()
    return [
        (learner.predict() == truth)[rest].mean(),
        (~wrong)[rest].mean(),
        (again.predict() == truth)[rest].mean(),
        found,
    ]


def rows(name, seeds):
    graph, truth = SETS[name]()
    suggested, prior = sources(graph, truth, np.random.default_rng(7)), ag.prior(graph)
    found = {(kind, mark): [] for kind in suggested for mark in MARKS}
    for seed in range(seeds):
        learner = ag.Learner(graph, engine=prior, rng=seed, classes=range(int(truth.max()) + 1))
        for count, _ in enumerate(learner.run(lambda node: int(truth[node]), max(MARKS)), 1):
            for kind in suggested if count in MARKS else ():
                found[kind, count].append(measured(learner, suggested[kind], truth))
    for (kind, mark), cases in found.items():
        ignoring, trusting, together, errors = np.mean(cases, axis=0)
        yield f"| {name} | {kind} | {mark} | {ignoring:.3f} | {trusting:.3f} | **{together:.3f}** | {errors:.1f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 3)
    parser.add_argument("--smoke", action="store_true", help="a toy graph, to see that everything runs")
    seeds = parser.parse_args().seeds
    print(f"{machine()}, mean of {seeds} seeds\n")
    print("| items | wrong suggestions | labels | ignoring | trusting | with suggestions | errors found |")
    print("|---|---|---|---|---|---|---|")
    for name in SETS:
        for row in rows(name, seeds):
            print(row, flush=True)


if __name__ == "__main__":
    main()
