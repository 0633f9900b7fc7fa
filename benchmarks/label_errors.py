"""Labels that are wrong: suspects() beside cleanlab, on the same labels and rows.

python benchmarks/label_errors.py [--sets digits,cora,sms,ag] [--seeds 10] [--csv FOLDER]   # pip install cleanlab; ASKGRAPH_DATA

Of 120 or 600 labels of rows drawn at random 5 % get another class: any ("uniform"), or the class that most edges tie to the true
one ("alike"). Listed: what a method lists by itself, how much of that is wrong (precision), and how many of the wrong ones are
in it (recall). First: how many of the wrong ones are among as many at the top, where the method ranks all labels. cleanlab goes by
the probabilities of a classifier of the labeled rows, out of five folds; the graph of suspects() has the other rows, too, without
their labels.
"""

from __future__ import annotations

import argparse
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from features import papers, rows_of
from measure import SMOKE, machine, write_csv
from noise import nearest

import askgraph as ag
from askgraph.errors import FileError

SHARE = 0.05
LABELS = (120, 600) if not SMOKE else (40,)
FLIPS = ("uniform", "alike")
SETS = {"digits": "digits", "cora": "Cora, citations and words", "sms": "SMS Spam", "ag": "AG News", "smoke": "made"}
HEADS = ("set", "labels", "wrong ones", "method", "listed", "precision", "recall", "first")


class Items(NamedTuple):
    """All rows of a set: the graph, features beside it, the rows themselves, their metric, and the class of each."""

    graph: ag.Graph
    features: Any
    X: Any
    metric: str
    truth: Any


@cache
def items(name):
    if name == "digits":
        from sklearn.datasets import load_digits

        X, digits = load_digits(return_X_y=True)
        return Items(ag.nearest_neighbors(X, k=10), None, X, "euclidean", digits)
    if name == "cora":
        graph, words, labels = papers(name)
        return Items(graph, words, words, "cosine", np.unique(labels, return_inverse=True)[1])
    rows = rows_of(name)
    return Items(rows.graph, rows.features if name != "smoke" else None, rows.X, "cosine", rows.truth)


def labeled(one, labels, how, seed):
    """Return rows drawn at random, the labels told of them, and whether each is wrong."""
    rng, classes = np.random.default_rng(seed), int(one.truth.max()) + 1
    rows = np.sort(rng.permutation(one.truth.size)[:labels])
    wrong = np.isin(np.arange(labels), rng.permutation(labels)[: round(SHARE * labels)])
    further = rng.integers(1, max(classes, 2), labels)
    other = (
        (one.truth[rows] + further) % classes if how == "uniform" else nearest(one.graph, one.truth)[one.truth[rows]]
    )
    return rows, np.where(wrong, other, one.truth[rows]), wrong


def ours(one, rows, told):
    """Return the places of the labels that suspects() lists, and of all, the most doubtful first."""
    learner = ag.Learner(one.graph, features=one.features, rng=0, classes=range(int(one.truth.max()) + 1))
    learner.tell_all({int(node): int(label) for node, label in zip(rows, told, strict=True)})
    place = {int(node): at for at, node in enumerate(rows)}
    return [[place[x.node] for x in learner.judge.suspects(every=every)] for every in (False, True)]


def cleanlab(one, rows, told, model):
    """Return the same of cleanlab, with the probabilities of a classifier of these rows, out of five folds."""
    from cleanlab.filter import find_label_issues
    from sklearn.model_selection import cross_val_predict

    classes, codes = np.unique(told, return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class with fewer rows than folds
        p = np.zeros((len(rows), len(classes)))
        p[:] = cross_val_predict(model, one.X[rows], codes, cv=5, method="predict_proba")
        listed = find_label_issues(codes, p, return_indices_ranked_by="self_confidence", n_jobs=1)
    return listed.tolist(), np.argsort(p[np.arange(len(codes)), codes], kind="stable").tolist()


def methods(one):
    """Yield the name of each method and a function of rows and labels."""
    yield "suspects()", lambda rows, told: ours(one, rows, told)
    if find_spec("cleanlab") is None:
        return
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    scale = 1 / 16 if one.metric == "euclidean" else 1.0  # pixels from 0 to 16
    scaled = one._replace(X=one.X * scale)
    regression = LogisticRegression(C=1.0 if scale < 1 else 300.0, max_iter=2000)
    yield "cleanlab, logistic regression", lambda rows, told: cleanlab(scaled, rows, told, regression)
    nearest_ten = KNeighborsClassifier(10, metric=one.metric)
    yield "cleanlab, ten nearest", lambda rows, told: cleanlab(one, rows, told, nearest_ten)


def measured(one, labels, how, seeds):
    """Yield the name of each method, and how many it lists, its precision, its recall, and its share of the first."""
    for name, find in methods(one):
        listed, hits, first, wrong_ones = 0, 0, 0, 0
        for seed in range(seeds):
            rows, told, wrong = labeled(one, labels, how, seed)
            short, ranked = find(rows, told)
            listed, hits = listed + len(short), hits + int(wrong[short].sum())
            first, wrong_ones = first + int(wrong[ranked[: int(wrong.sum())]].sum()), wrong_ones + int(wrong.sum())
        precision = f"{hits / listed:.2f}" if listed else "–"
        yield name, f"{listed / seeds:.1f}", precision, f"{hits / wrong_ones:.2f}", f"{first / wrong_ones:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="digits,cora,sms,ag" if not SMOKE else "smoke")
    parser.add_argument("--seeds", type=int, default=10 if not SMOKE else 1)
    parser.add_argument("--csv", type=Path, help="a folder for the table of the site")
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    asked = parser.parse_args()
    print(f"Machine: {machine()}.\n\n| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}", flush=True)
    found = []
    for name in asked.sets.split(","):
        try:
            one = items(name)
        except FileError as error:
            print(f"{name} is left out: {error}")
            continue
        for labels in (count for count in LABELS if count <= one.truth.size // 2 or SMOKE):
            for how in FLIPS:
                for cells in measured(one, labels, how, asked.seeds):
                    found.append((SETS[name], labels, how, *cells))
                    print(f"| {' | '.join(map(str, found[-1]))} |", flush=True)
    if asked.csv:
        write_csv(asked.csv / "label_errors.csv", HEADS, found)


if __name__ == "__main__":
    main()
