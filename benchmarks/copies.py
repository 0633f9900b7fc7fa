"""Accuracy on tables whose rows repeat: surveys, categories, logs; of the rows of a project, and of rows that come later.

ASKGRAPH_DATA=folder python benchmarks/copies.py [--sets survey,cancer] [--seeds 5]     # prints Markdown tables

Surveys are made from tables of numbers: some columns in two to four bins of equal counts, one 0/1 column per answer. "survey" is
made up: four questions with three answers, and a label that is wrong in every tenth row; in "one answer" six in ten people said the
same. Texts: the first 1,500 messages of SMS Spam, which repeat by themselves, and 500 questions of TREC as a log would hold
them, the r-th most frequent one 300/r times. How the graph ties copies was chosen on the first group of sets and judged on the
second.
Files come from the folder ASKGRAPH_DATA, the rest from scikit-learn; a set whose file is not there is left out.

curve: a person labels the row that askgraph asks for; accuracy on all rows without a label, mean over the curve (20 labels per
class, at most 100). new rows: a fifth of the distinct rows is held out with all their copies, a tenth of the others has a
label drawn at random; accuracy, mean log loss, and the share of held-out rows whose probabilities are all the same.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import warnings
from pathlib import Path

import numpy as np
from measure import SMOKE, machine
from sklearn import datasets
from sklearn.preprocessing import KBinsDiscretizer

import askgraph as ag
from askgraph.graph.texts import text_rows
from askgraph.support.progress import bar

PER_CLASS, MOST = (3, 6) if SMOKE else (20, 100)  # labels of a curve
LABELED, HELD = 0.1, 0.2  # shares of rows with a label, and of distinct rows that come later
GROUPS = {
    "chosen on": ("survey", "one answer", "cancer", "digits", "abalone"),
    "judged on": ("messages", "australian", "wine", "diabetes", "ionosphere", "ecoli", "questions"),
}


def rows_of(name):
    """Return one row of numbers per item, their labels, and whether they are texts."""
    rng = np.random.default_rng(0)
    if name in ("survey", "one answer"):
        answers = rng.integers(0, 3, (60 if SMOKE else 2000, 4))
        if name == "one answer":
            answers[rng.random(len(answers)) < 0.6] = 1
        y = (answers.sum(axis=1) > 4) ^ (rng.random(len(answers)) < 0.1)
        return np.eye(3)[answers].reshape(len(answers), 12), y.astype(int), False
    if name in ("messages", "questions"):
        texts, y = messages() if name == "messages" else questions(rng)
        return text_rows(texts), np.asarray(y), True
    X, y, bins = {
        "cancer": cancer, "digits": digits, "abalone": abalone, "australian": australian,
        "wine": wine, "diabetes": diabetes, "ionosphere": ionosphere, "ecoli": ecoli,
    }[name]()  # fmt: skip
    with warnings.catch_warnings():  # bins of columns with few values fall together
        warnings.simplefilter("ignore")
        how = {"encode": "onehot-dense", "quantile_method": "averaged_inverted_cdf"}
        return KBinsDiscretizer(bins, **how).fit_transform(X), np.asarray(y), False


def cancer():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return X[:, :5], y, 3


def digits():
    X, y = datasets.load_digits(return_X_y=True)
    return X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)[:, [1, 2, 4, 5, 6, 7, 9, 10, 13]], y, 2


def abalone():
    with np.load(folder() / "answers" / "numbers_abalone.npz") as found:
        return found["X"][:, [0, 1, 2, 3, 9]], found["y"] > 9, 4


def australian():
    table = np.loadtxt(folder() / "australian" / "australian.dat")
    return table[:, [0, 1, 3, 4, 7, 8]], table[:, -1].astype(int), 3


def wine():
    with np.load(folder() / "answers" / "numbers_wine-red.npz") as found:
        return found["X"][:, [1, 6, 9, 10]], found["y"] > 5, 4


def diabetes():
    X, y = datasets.load_diabetes(return_X_y=True)
    return X[:, [1, 2, 3, 8]], y > np.median(y), 3


def ionosphere():
    cells = np.genfromtxt(folder() / "ionosphere" / "ionosphere.data", delimiter=",", dtype=str)
    return cells[:, [2, 3, 4, 5, 6]].astype(float), cells[:, -1], 3


def ecoli():
    cells = np.loadtxt(folder() / "ecoli" / "ecoli.data", dtype=str)
    cells = cells[~np.isin(cells[:, -1], ["omL", "imL", "imS"])]  # classes of five rows or fewer
    return cells[:, [1, 2, 5, 6, 7]].astype(float), cells[:, -1], 3


def messages():
    path = folder() / "trial" / "sms.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [row for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if row[0] != "Label"][:1500]
    return [row[1] for row in rows], [row[0] for row in rows]


def questions(rng):
    with gzip.open(folder() / "attributed" / "trec.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines][:500]
    times = np.maximum(300 // np.arange(1, 501), 1)
    places = rng.permutation(np.repeat(np.arange(len(found)), times))
    return [found[k]["text"] for k in places], [found[k]["label"] for k in places]


def folder():
    return Path(os.environ.get("ASKGRAPH_DATA", "../shared/data"))


def metric_of(texts):
    return "cosine" if texts else "euclidean"


def curve(X, y, texts, seed):
    """Return the mean accuracy on rows without a label over the questions of one run."""
    learner = ag.Learner(ag.nearest_neighbors(X, metric=metric_of(texts)), rng=seed)
    node, free, found = int(np.random.default_rng(seed).integers(len(y))), np.ones(len(y), dtype=bool), []
    for _ in range(min(PER_CLASS * np.unique(y).size, MOST, len(y) // 2)):
        learner.tell(node, y[node])
        free[node] = False
        found.append((learner.predict()[free] == y[free]).mean())
        node = learner.ask()
    return np.mean(found)


def newcomers(X, y, texts, seed):
    """Return accuracy, log loss and the share of uniform probabilities of rows that come later."""
    rng, of = np.random.default_rng(seed), distinct(X)
    held = np.isin(of, rng.choice(of.max() + 1, int(HELD * (of.max() + 1)), replace=False))
    codes = np.unique(y, return_inverse=True)[1]
    known = np.where(rng.random((~held).sum()) < LABELED, codes[~held], -1)
    for label in set(codes) - set(known):  # every class is known
        known[rng.choice(np.flatnonzero(codes[~held] == label))] = label
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ag.GraphClassifier(metric=metric_of(texts), random_state=seed).fit(X[~held], known)
        p = model.predict_proba(X[held])
    right = p[np.arange(len(p)), codes[held]]
    uniform = (np.ptp(p, axis=1) < 1e-12).mean()
    return (p.argmax(axis=1) == codes[held]).mean(), -np.log(np.maximum(right, 1e-3)).mean(), uniform


def distinct(X):
    """Return the number of the distinct row that each row is."""
    rows = X.toarray() if hasattr(X, "toarray") else X
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="survey" if SMOKE else ",".join(sum(GROUPS.values(), ())))
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 5)
    parser.add_argument("--smoke", action="store_true", help="all parts at their smallest size")
    given = parser.parse_args()
    print(machine())
    print("\n| set | rows | distinct | most copies | parts | curve | new rows: accuracy | log loss | all the same |")
    print("|---|---|---|---|---|---|---|---|---|")
    names = given.sets.split(",")
    with bar(len(names), "sets") as tick:
        for name in names:
            try:
                X, y, texts = rows_of(name)
            except FileNotFoundError as error:
                print(f"{name} is left out: {error}")
                continue
            parts = ag.nearest_neighbors(X, metric=metric_of(texts)).components().max() + 1
            mean = np.mean([curve(X, y, texts, seed) for seed in range(given.seeds)])
            later = np.mean([newcomers(X, y, texts, seed) for seed in range(given.seeds)], axis=0)
            copies = np.bincount(distinct(X))
            cells = [f"{len(y):,}", f"{copies.size:,}", f"{copies.max():,}", f"{parts:,}", f"{mean:.3f}"]
            cells += [f"{later[0]:.3f}", f"{later[1]:.3f}", f"{later[2]:.1%}"]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
            tick()


if __name__ == "__main__":
    main()
