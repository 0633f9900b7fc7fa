"""Texts with and without what they mean: python benchmarks/texts.py [--sets ag,trec] [--texts 1000] [--seeds 4]

Accuracy on the texts without a label, after 10, 20, 50 and 100 labels and on average over 1 to 100. Texts are joined by words and
fragments of words, or by these and by what they mean. The texts of a set are drawn once; runs of a seed begin with the same one.
Datasets are those of ASKGRAPH_DATA: titles, and titles with descriptions, of news (AG News), descriptions of Debian packages,
questions (TREC), and short messages (SMS).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import time
from pathlib import Path

import numpy as np
from measure import SMOKE, machine

import askgraph as ag
from askgraph.graph.texts import choose_words, join_written, text_rows
from askgraph.priors.features import linear_part

SETS = ("ag", "agtitle", "debian", "trec", "sms")
WAYS = {"words and fragments": "none", "and meaning": "wordllama"}
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


def curve(graph, features, truth, seed, budget):
    """Return the accuracy after each label, as a project asks and predicts."""
    learner = ag.Learner(graph, features=features, rng=seed, classes=range(truth.max() + 1))
    learner.tell(first := int(np.random.default_rng(seed).integers(truth.size)), int(truth[first]))
    found = []
    for _ in range(budget):
        open_ = np.ones(truth.size, dtype=bool)
        open_[list(learner.labels)] = False
        found.append(float((np.asarray(learner.predict())[open_] == truth[open_]).mean()))
        node = learner.ask()
        learner.tell(node, int(truth[node]))
    return found


def measure(name, way, options, budget):
    texts, truth = load(name, options.texts, options.draw)
    start = time.process_time()
    rows = text_rows(texts, choose_words(texts, WAYS[way]))
    graph = join_written(rows, 10)
    features = linear_part(graph, rows, from_start=False)
    seconds = time.process_time() - start
    edges = graph.weights.tocoo()
    same = float((truth[edges.row] == truth[edges.col]).mean())
    curves = np.array([curve(graph, features, truth, seed, budget) for seed in range(options.seeds)])
    at = " | ".join(f"{curves[:, mark - 1].mean():.3f}" for mark in MARKS if mark <= budget)
    print(f"| {name} | {way} | {curves.mean():.3f} | {at} | {same:.3f} | {seconds:.1f} |", flush=True)
    return curves.mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="smoke" if SMOKE else ",".join(SETS))
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--draw", type=int, default=1, help="the seed of the texts that are drawn")
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 4)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    budget = 12 if SMOKE else options.labels
    ways = list(WAYS)[:1] if SMOKE else list(WAYS)
    print(machine(), f"; {options.texts:,} texts a set, {options.seeds} seeds")
    marks = [mark for mark in MARKS if mark <= budget]
    print(f"| set | compared by | mean | {' | '.join(map(str, marks))} | edges in a class | CPU s to the graph |")
    print("|---|---|---|" + "---|" * len(marks) + "---|---|")
    found = {way: [measure(name, way, options, budget) for name in options.sets.split(",")] for way in ways}
    for way, means in found.items():
        print(f"| mean of the sets | {way} | {np.mean(means):.3f} |")


if __name__ == "__main__":
    main()
