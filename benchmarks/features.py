"""Rows with features: accuracy per label on graphs with features and on texts, beside peers that use the same features.

python benchmarks/features.py [--sets cora,sms] [--methods "graph and features,LR margin"] [--seeds 4]
    [--workers 1] [--output features.jsonl]

Every method gets the same first node. Up to min(20 C, 150, n/2) labels are given, C classes and n rows; AUC is the mean accuracy
on unlabeled rows over 1 to that many labels (trapezoid rule), read at 1 to 16 labels, then at every sixth, and at 2C, 5C, 10C, 20C.
"error at 5C" is the expected calibration error there, over ten bins. Records go to --output; what is there is not run again.

Peers: multinomial logistic regression (LR, C = 300) on rows of length 1, for a graph smoothed along its edges twice, asking at
random, by the smallest margin, or for the rows nearest to the centers of k-means with as many clusters as labels (k-medoids,
clustered anew for every budget, in its favor); and label spreading (Zhou et al. 2004, alpha = 0.9) by the smallest margin, on the
graph that askgraph uses.

Files are looked for in the folder ASKGRAPH_DATA; a set without its files is left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from measure import SMOKE, machine
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array, diags_array, issparse

import askgraph as ag
from askgraph.errors import FileError
from askgraph.graph.build import unit_rows
from askgraph.graph.kernels import smoothed
from askgraph.graph.texts import choose_words, join_written, text_rows
from askgraph.paper.datasets import load
from askgraph.paper.problems import Source
from askgraph.priors.features import join_features, linear_part
from askgraph.readouts import hearing
from askgraph.simulate.records import Lines
from askgraph.support.progress import bar

GRAPHS = ("cora", "citeseer", "amazon_photo_part", "blogcatalog_part")
# where one of the two misleads: other features beside a graph, another graph beside features, and halves of columns
MISLED = (
    "cora/noise",
    "cora/clusters",
    "cora/graph",
    "citeseer/words",
    "amazon_photo_part/noise",
    "blogcatalog_part/words",
    "ionosphere/halves",
    "australian/halves",
    "parkinsons/halves",
    "ecoli/halves",
)
# of the same kinds, and not looked at when the rules for features were chosen
LEFT_OUT = (
    "cora/strangers",
    "citeseer/clusters",
    "amazon_photo_part/graph",
    "blogcatalog_part/noise",
    "colon/halves",
    "leukemia/halves",
)
TEXTS = ("sms", "ag", "trec", "bbc2")
MARKS, BINS, EVERY = (2, 5, 10, 20), 10, 6
ALPHA = 0.9  # of label spreading
AXES = 100  # principal axes in which k-means clusters rows


class Rows(NamedTuple):
    """A set: the graph that was given (None for texts), features, the class of each row; and what askgraph makes of them."""

    given: Any
    X: Any
    truth: Any
    graph: Any
    features: Any

    @property
    def classes(self):
        return int(self.truth.max()) + 1

    @property
    def budget(self):
        return 6 if SMOKE else min(20 * self.classes, 150, len(self.truth) // 2)

    @property
    def measured(self):
        some = {mark * self.classes for mark in MARKS}
        return sorted(t for t in {*range(1, 17), *range(16, 151, EVERY), *some, self.budget} if t <= self.budget)


@cache
def rows_of(name, meaning="none"):
    """Return a set by its name; texts are compared by what they mean, too, if that is asked for."""
    if name == "smoke":
        graph, truth = ag.communities((20, 20), mean_degree=5, rng=0)
        X = np.eye(2)[truth] + np.random.default_rng(0).normal(size=(40, 2))
        return Rows(graph, X, np.asarray(truth), *join_features(graph, X))
    if name in TEXTS:
        lines = [json.loads(line) for line in gzip.decompress(file_of(f"{name}.jsonl.gz").read_bytes()).splitlines()]
        texts = [line["text"] for line in lines]
        X = text_rows(texts, choose_words(texts, meaning))
        graph = join_written(X, 10)
        return Rows(None, X, codes([line["label"] for line in lines]), graph, linear_part(graph, X, from_start=False))
    graph, X, labels = misled(*name.split("/")) if "/" in name else given(name)
    return Rows(graph, X, codes(labels), *join_features(graph, X))


def given(name):
    return papers(name) if name in ("cora", "citeseer") else part(name)


def misled(name, how):
    """Return a graph, features and labels of which the graph or the features say little, or both say something else."""
    rng = np.random.default_rng(7)
    if how == "halves":
        data = load(name)
        X = np.asarray(data.features, float)
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        return ag.nearest_neighbors(X[:, ::2], 8), X[:, 1::2], data.labels
    graph, X, labels = given(name)
    n, order = len(labels), rng.permutation(len(labels))
    if how == "graph":
        return ag.Graph(csr_array(graph.weights[order][:, order])), X, labels
    other = {
        "noise": lambda: rng.normal(size=(n, 50)),
        "strangers": lambda: X[order],
        "clusters": lambda: np.eye(12)[rng.integers(12, size=n)] + 0.3 * rng.normal(size=(n, 12)),
        "words": lambda: csr_array(X[:, rng.permutation(X.shape[1])[:100]]),
    }
    return graph, other[how](), labels


def codes(labels):
    return np.unique(labels, return_inverse=True)[1]


def file_of(name):
    path = Path(os.environ.get("ASKGRAPH_DATA", "")) / "attributed" / name
    if not path.is_file():
        raise FileError(f"{path} is not there: name the folder with the datasets in ASKGRAPH_DATA")
    return path


def papers(name):
    """Return the largest component of a citation graph, the words of its papers, and their classes."""
    cited, data = Source(name, largest=True).problem(), load(name)
    X = csr_array(data.features[[data.graph.index(paper) for paper in cited.graph.names]])
    return ag.Graph(cited.graph.weights), X, cited.truth


def part(name):
    with np.load(file_of(f"{name}.npz")) as stored:
        edges, labels = stored["edges"], stored["y"]
        X = csr_array((stored["X_data"], stored["X_indices"], stored["X_indptr"]), shape=tuple(stored["X_shape"]))
    ends = np.concatenate([edges, edges[:, ::-1]]).T
    return ag.Graph(csr_array((np.ones(2 * len(edges)), ends), shape=(labels.size,) * 2)), X.astype(float), labels


def ours(rows, seed, first, graph, **options):
    """Yield the nodes labeled so far and the probabilities."""
    learner = ag.Learner(graph, rng=seed, classes=range(rows.classes), **options)
    nodes = [first]
    learner.tell(first, int(rows.truth[first]))
    while True:
        yield nodes, (lambda: learner.probabilities())
        node = learner.ask()
        learner.tell(node, int(rows.truth[node]))
        nodes.append(node)


def graph_alone(rows, seed, first):
    return ours(rows, seed, first, rows.graph if rows.given is None else rows.given)


def rows_alone(rows, seed, first):
    return ours(rows, seed, first, ag.nearest_neighbors(rows.X, 10, "cosine"))


def neighbors_added(rows, seed, first):
    return ours(rows, seed, first, rows.graph)


def graph_and_features(rows, seed, first):
    return ours(rows, seed, first, rows.graph, features=rows.features)


def hubs_asked(rows, seed, first):
    return ours(rows, seed, first, rows.graph, features=rows.features, hubs="ask")


def sum_at_once(rows, seed, first):
    return ours(rows, seed, first, rows.graph, features=rows.features._replace(from_start=True))


def always_heard(rows, seed, first):
    with patch.object(hearing, "MARGIN", np.inf):
        yield from graph_and_features(rows, seed, first)


@cache
def smooth(name):
    """Return the cosines of rows, for a graph smoothed along its edges twice, and the rows in a few principal axes."""
    from sklearn.decomposition import TruncatedSVD

    rows = rows_of(name)
    X = unit_rows(rows.X)[:, :-1]
    X = X if rows.given is None else unit_rows(list(smoothed(rows.given, X, 2))[-1])[:, :-1]
    X = X.toarray() if issparse(X) and X.nnz > 0.1 * np.prod(X.shape) else X
    axes = TruncatedSVD(min(AXES, X.shape[1] - 1), random_state=0).fit_transform(X) if X.shape[1] > AXES else X
    return (X @ X.T).toarray() if issparse(X) else X @ X.T, axes


def regression(K, nodes, truth, classes):
    """Return the probabilities of logistic regression after these labels.

    With a ridge, its weights are a sum of the labeled rows, so it is fitted on coordinates in the space that these span, by the
    Cholesky factor of their cosines: the same model, with as many columns as labels.
    """
    from sklearn.linear_model import LogisticRegression

    told, p = truth[nodes], np.zeros((len(K), classes))
    if len(np.unique(told)) == 1:
        p[:, told[0]] = 1.0
        return p
    root = np.linalg.cholesky(K[np.ix_(nodes, nodes)] + 1e-9 * np.eye(len(nodes)))
    rows = solve_triangular(root, K[nodes], lower=True).T
    model = LogisticRegression(C=300, max_iter=200, tol=1e-3).fit(rows[nodes], told)
    p[:, model.classes_] = model.predict_proba(rows)
    return p


def lr(name, seed, first, margin):
    """Yield the nodes and probabilities of logistic regression; beyond 30 labels it is fitted after every second."""
    rows, (X, _) = rows_of(name), smooth(name)
    rng, nodes, p = np.random.default_rng([seed, 1]), [first], None
    while True:
        if margin and (p is None or len(nodes) <= 30 or len(nodes) % 2 == 0):
            p = regression(X, nodes, rows.truth, rows.classes)
        yield nodes, (lambda: regression(X, nodes, rows.truth, rows.classes))
        nodes.append(least_margin(p, nodes, rng) if margin else waiting(nodes, rows, rng))


def waiting(nodes, rows, rng):
    return int(rng.choice(np.setdiff1d(np.arange(len(rows.truth)), nodes)))


def least_margin(p, nodes, rng):
    second, first = np.partition(p, -2, axis=1)[:, -2:].T
    score = first - second
    score[nodes] = np.inf
    return int(rng.choice(np.flatnonzero(score == score.min())))


def medoids(name, seed, first):
    """Yield the rows nearest to the centers of as many clusters as there are labels, clustered anew where accuracy is measured."""
    from sklearn.cluster import KMeans

    rows, (X, axes) = rows_of(name), smooth(name)
    for count in rows.measured:
        centers = KMeans(count, n_init=1, random_state=seed).fit(axes).transform(axes)
        nodes = np.unique(centers.argmin(axis=0)).tolist()
        yield nodes, (lambda nodes=nodes: regression(X, nodes, rows.truth, rows.classes))


@cache
def spreading_matrix(name):
    """Return what label spreading multiplies votes by on the graph that askgraph uses."""
    return spreading_of(rows_of(name).graph)


def spreading_of(graph):
    """Return (1 − α)(I − αS)⁻¹, S the normalized weights of a graph."""
    W = graph.weights
    root = diags_array(1 / np.sqrt(np.maximum(W.sum(axis=1), 1e-12)))
    return (1 - ALPHA) * np.linalg.inv(np.eye(W.shape[0]) - ALPHA * (root @ W @ root).toarray())


def spreading(name, seed, first):
    rows, M, rng, nodes = rows_of(name), spreading_matrix(name), np.random.default_rng([seed, 1]), [first]
    while True:
        votes = M[:, nodes] @ np.eye(rows.classes)[rows.truth[nodes]] + 1e-12
        p = votes / votes.sum(axis=1, keepdims=True)
        yield nodes, (lambda p=p: p)
        nodes.append(least_margin(p.copy(), nodes, rng))


OURS = {
    "graph alone": graph_alone,
    "rows alone": rows_alone,
    "with_features": neighbors_added,
    "graph and features": graph_and_features,
    "and meaning": graph_and_features,
    "always heard": always_heard,
    "hubs asked": hubs_asked,
    "sum at once": sum_at_once,
}
PEERS = {
    "LR random": lambda name, seed, first: lr(name, seed, first, False),
    "LR margin": lambda name, seed, first: lr(name, seed, first, True),
    "LR k-medoids": medoids,
    "label spreading": spreading,
}
ALONE = ("graph alone", "rows alone")
OF_GRAPHS = (*ALONE, "with_features", "graph and features", "always heard", "hubs asked")
OF_MISLED = (*ALONE, "graph and features")
OF_TEXTS = ("graph alone", "graph and features", "and meaning", "sum at once")


def methods_of(name):
    if name in (*MISLED, *LEFT_OUT):
        return OF_MISLED
    return (*(OF_TEXTS if name in TEXTS else OF_GRAPHS), *PEERS)


def curve(name, method, seed):
    """Return the record of one run."""
    rows = rows_of(name, "auto" if method == "and meaning" else "none")
    first = int(np.random.default_rng(seed).integers(len(rows.truth)))
    steps = OURS[method](rows, seed, first) if method in OURS else PEERS[method](name, seed, first)
    counts = rows.measured if method == "LR k-medoids" else range(1, rows.budget + 1)
    accuracy, off = {}, None
    for count, (nodes, read) in zip(counts, steps, strict=False):
        if count in rows.measured:
            p, rest = read(), np.setdiff1d(np.arange(len(rows.truth)), nodes)
            accuracy[count] = float((p.argmax(axis=1) == rows.truth)[rest].mean())
            off = calibration(p[rest], rows.truth[rest]) if count == 5 * rows.classes else off
    return {"set": name, "method": method, "seed": seed, "classes": rows.classes, "accuracy": accuracy, "off": off}


def results(tasks, workers):
    """Yield the record of each task, or the error of a set without its files."""
    if workers == 1:
        yield from map(record_or_error, tasks)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(record_or_error, tasks)


def record_or_error(task):
    try:
        return curve(*task)
    except FileError as error:
        return error


def calibration(p, truth):
    """Return the expected calibration error over ten bins of the largest probability."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == truth
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    some = [place == k for k in range(BINS) if (place == k).any()]
    return float(sum(abs(sure[k].mean() - right[k].mean()) * k.mean() for k in some))


def area(record):
    """Return the mean accuracy over 1 to the last number of labels."""
    counts, values = zip(*sorted((int(t), a) for t, a in record["accuracy"].items()), strict=True)
    return float(np.trapezoid(values, counts) / max(counts[-1] - counts[0], 1))


def table(records, sets):
    """Print one line per method: AUC of each set, their mean, accuracy at the marks, calibration error at 5C, spread of seeds."""
    every = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record["set"] in sets:
            every[record["method"]][record["set"]].append(record)
    marks = " | ".join(f"{mark}C" for mark in MARKS)
    print(f"\n| method | {' | '.join(sets)} | mean AUC | {marks} | error at 5C | seed deviation |")
    print(f"|---|{'---|' * (len(sets) + len(MARKS) + 3)}")
    for method, found in every.items():
        if set(found) < set(sets):
            continue
        aucs = {name: [area(record) for record in found[name]] for name in sets}
        at = [mean_at(found, sets, mark) for mark in MARKS]
        off = [record["off"] for name in sets for record in found[name] if record["off"] is not None]
        cells = [np.mean(aucs[name]) for name in sets] + [np.mean([np.mean(x) for x in aucs.values()]), *at]
        cells += [np.mean(off) if off else np.nan, np.mean([np.std(x) for x in aucs.values()])]
        print(f"| {method} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")


def ahead(records, sets):
    """Print by how much graph and features are ahead of the better of the two alone, per set."""
    found = defaultdict(list)
    for record in records:
        found[record["set"], record["method"]].append(area(record))
    for name in sets:
        if all(found[name, method] for method in (*ALONE, "graph and features")):
            better = max(np.mean(found[name, method]) for method in ALONE)
            more = np.mean(found[name, "graph and features"]) - better
            print(f"{name}: {more:+.3f} beside the better of the two alone")


def mean_at(found, sets, mark):
    """Return the mean accuracy at this number of labels per class, over the sets that reach it."""
    key = [[r["accuracy"].get(str(mark * r["classes"])) for r in found[name]] for name in sets]
    some = [np.mean(x) for x in key if None not in x]
    return np.mean(some) if some else np.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join((*GRAPHS, *MISLED, *LEFT_OUT, *TEXTS)))
    parser.add_argument("--methods")
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 4)
    parser.add_argument("--workers", type=int, default=1, help="processes; give each one thread, OMP_NUM_THREADS=1")
    parser.add_argument("--output", default="features.jsonl")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    sets = ["smoke"] if SMOKE else options.sets.split(",")
    wanted = options.methods.split(",") if options.methods else None
    tasks = [
        (name, method, seed)
        for name in sets
        for method in methods_of(name)
        for seed in range(options.seeds)
        if wanted is None or method in wanted
    ]
    file = Lines(options.output)
    done = {(record["set"], record["method"], record["seed"]) for record in file.read()}
    tasks = [task for task in tasks if task not in done]
    missing = set()
    with file.appending() as append, bar(len(tasks), "learning curves") as tick:
        for task, found in zip(tasks, results(tasks, options.workers), strict=True):
            if isinstance(found, FileError):
                print(found)
                missing.add(task[0])
            else:
                append(found)
            tick()
    print(machine())
    records = file.read()
    for group in (GRAPHS, MISLED, LEFT_OUT, TEXTS, ("smoke",)):
        if some := [name for name in group if name in sets and name not in missing]:
            table(records, some)
            ahead(records, some)


if __name__ == "__main__":
    main()
