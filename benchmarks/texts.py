"""Texts with and without what they mean, beside peers: python benchmarks/texts.py [--sets ag,trec] [--texts 1000] [--seeds 4]

Accuracy on the texts without a label, after 10, 20, 50 and 100 labels and on average over 1 to 100. Texts are joined by words and
fragments of words, or by these and by what they mean. The texts of a set are drawn once; runs of a seed begin with the same one.
Datasets are those of ASKGRAPH_DATA: titles, and titles with descriptions, of news (AG News), descriptions of Debian packages,
questions (TREC), and short messages (SMS).

Peers read words and fragments, or what texts mean alone: logistic regression (LR) and label spreading of benchmarks/features.py,
and the majority of the five labeled texts that are nearest; they ask by the smallest margin or at random.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import time
from functools import partial
from pathlib import Path

import numpy as np
from features import least_margin, regression, spreading_of
from measure import SMOKE, machine

import askgraph as ag
from askgraph.graph.meaning import find_words, meaning_rows
from askgraph.graph.texts import bare_text, choose_words, join_written, text_rows
from askgraph.priors.features import linear_part

SETS = ("ag", "agtitle", "debian", "trec", "sms")
OURS = {"words and fragments": "none", "and meaning": "wordllama"}
PEERS = (
    "LR on words and fragments, margin",
    "LR on meaning, margin",
    "LR on meaning, random",
    "label spreading on meaning, margin",
    "5 nearest labels by meaning, random",
)
NEAREST = 5
MARKS = (10, 20, 50, 100)


def read(*parts):
    path = Path(os.environ.get("ASKGRAPH_DATA", ""), *parts)
    return gzip.decompress(path.read_bytes()).decode()


def news(*columns):
    rows = list(csv.reader(read("trial", "ag_test.csv.gz").splitlines()))
    return ["\n".join(row[k] for k in columns) for row in rows], [row[0] for row in rows]


def packages():
    sections = dict(csv.reader(read("trial", "packages_sections.csv.gz").splitlines()))
    rows = csv.DictReader(read("trial", "packages.csv.gz").splitlines())
    return zip(*[(row["description"], sections[row["id"]]) for row in rows], strict=True)


def lines(name):
    rows = [json.loads(line) for line in read("attributed", f"{name}.jsonl.gz").splitlines()]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def load(name, count, draw=1):
    """Return ``count`` texts of a set, and the number of the class of each."""
    if name == "smoke":
        return [f"{'the cat purrs' if k % 2 else 'a ship sails'} {k}" for k in range(40)], np.arange(40) % 2
    readers = {"ag": lambda: news(1, 2), "agtitle": lambda: news(1), "debian": packages}
    texts, labels = map(list, readers.get(name, lambda: lines(name))())
    order = np.random.default_rng(draw).permutation(len(texts))[:count]
    return [texts[k] for k in order], np.unique(labels, return_inverse=True)[1][order]


def first_of(truth, seed):
    return int(np.random.default_rng(seed).integers(truth.size))


def right(predicted, truth, nodes):
    """Return the accuracy on the texts without a label."""
    rest = np.setdiff1d(np.arange(truth.size), nodes)
    return float((np.asarray(predicted)[rest] == truth[rest]).mean())


def our_curve(graph, features, truth, budget, seed):
    """Return the accuracy after each label, as a project asks and predicts."""
    learner = ag.Learner(graph, features=features, rng=seed, classes=range(truth.max() + 1))
    learner.tell(first := first_of(truth, seed), int(truth[first]))
    found = []
    for _ in range(budget):
        found.append(right(learner.predict(), truth, list(learner.labels)))
        node = learner.ask()
        learner.tell(node, int(truth[node]))
    return found


def peer_curve(shares, margin, truth, budget, seed):
    """Return the accuracy after each label of a peer that makes shares of the classes of labeled texts."""
    rng, nodes, found = np.random.default_rng([seed, 1]), [first_of(truth, seed)], []
    for _ in range(budget):
        p = shares(nodes)
        found.append(right(p.argmax(axis=1), truth, nodes))
        waiting = np.setdiff1d(np.arange(truth.size), nodes)
        nodes.append(least_margin(p, nodes, rng) if margin else int(rng.choice(waiting)))
    return found


def spread(matrix, truth, nodes):
    """Return the shares of the votes that labels spread to each text."""
    votes = matrix[:, nodes] @ np.eye(truth.max() + 1)[truth[nodes]] + 1e-12
    return votes / votes.sum(axis=1, keepdims=True)


def nearest(cosines, truth, nodes):
    """Return the shares of classes among the nearest labeled texts of each."""
    told = np.array(nodes)
    near = told[np.argsort(-cosines[:, told], axis=1, kind="stable")[:, :NEAREST]]
    return np.eye(truth.max() + 1)[truth[near]].mean(axis=1)


def peer_shares(way, texts, truth):
    """Return a function from labeled texts to shares of the classes, one row per text."""
    meant = "meaning" in way
    rows = meaning_rows([bare_text(text) for text in texts], find_words())[0] if meant else text_rows(texts)
    if way.startswith("label spreading"):
        return partial(spread, spreading_of(ag.nearest_neighbors(rows, 10, "cosine")), truth)
    cosines = rows @ rows.T if meant else (rows @ rows.T).toarray() / 2
    if way.startswith("LR"):
        return lambda nodes: regression(cosines, nodes, truth, truth.max() + 1)
    return partial(nearest, cosines, truth)


def measure_ours(texts, truth, way, budget):
    """Return a function from a seed to a curve, and two cells: the share of edges within a class, and CPU seconds."""
    start = time.process_time()
    rows = text_rows(texts, choose_words(texts, OURS[way]))
    graph = join_written(rows, 10)
    features = linear_part(graph, rows, from_start=False)
    seconds = time.process_time() - start
    edges = graph.weights.tocoo()
    same = float((truth[edges.row] == truth[edges.col]).mean())
    return partial(our_curve, graph, features, truth, budget), f"{same:.3f} | {seconds:.1f}"


def measure(name, way, options, budget):
    texts, truth = load(name, options.texts, options.draw)
    if way in OURS:
        curve, cells = measure_ours(texts, truth, way, budget)
    else:
        curve, cells = partial(peer_curve, peer_shares(way, texts, truth), "margin" in way, truth, budget), "– | –"
    curves = np.array([curve(seed) for seed in range(options.seeds)])
    at = " | ".join(f"{curves[:, mark - 1].mean():.3f}" for mark in MARKS if mark <= budget)
    print(f"| {name} | {way} | {curves.mean():.3f} | {at} | {cells} |", flush=True)
    return curves.mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="smoke" if SMOKE else ",".join(SETS))
    parser.add_argument(
        "--ways",
        help="of these and of the peers, separated by semicolons",
        default=";".join((*list(OURS)[:1], PEERS[0]) if SMOKE else (*OURS, *PEERS)),
    )
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--draw", type=int, default=1, help="the seed of the texts that are drawn")
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 4)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    budget = 12 if SMOKE else options.labels
    print(machine(), f"; {options.texts:,} texts a set, {options.seeds} seeds")
    marks = [mark for mark in MARKS if mark <= budget]
    print(f"| set | compared by | mean | {' | '.join(map(str, marks))} | edges in a class | CPU s to the graph |")
    print("|---|---|---|" + "---|" * len(marks) + "---|---|")
    found = {
        way: [measure(name, way, options, budget) for name in options.sets.split(",")]
        for way in options.ways.split(";")
    }
    for way, means in found.items():
        print(f"| mean of the sets | {way} | {np.mean(means):.3f} |")


if __name__ == "__main__":
    main()
