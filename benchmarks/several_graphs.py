"""A graph beside items that can be compared: accuracy within 20 labels by either alone, by both, and with a random graph.

python benchmarks/several_graphs.py [--sets debian,cora] [--seeds 2]      # prints a Markdown table; data from ASKGRAPH_DATA

Debian packages (descriptions and dependencies, folder trial), Cora and CiteSeer (words and citations, folders cora and citeseer),
amazon_photo and blogcatalog (words and links, folder attributed). The random graph has ten edges per node. Joined as
``askgraph init`` joins them; the share is what an edge of the given graph counts for beside one between neighbors.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from pathlib import Path

import numpy as np
from measure import SMOKE, machine
from scipy.sparse import csr_array

import askgraph as ag
from askgraph.graph.several import add_alike, add_graphs, alikeness
from askgraph.graph.texts import join_written, text_rows
from askgraph.priors.features import linear_part

DATA = Path(os.environ.get("ASKGRAPH_DATA", ""))
MARKS = (5, 10, 15, 20)  # labels


def graph_of(pairs, n):
    pairs = np.array([pair for pair in pairs if pair[0] != pair[1]], dtype=np.int64)
    W = csr_array((np.ones(2 * len(pairs)), (pairs.ravel(), pairs[:, ::-1].ravel())), shape=(n, n))
    W.data[:] = 1.0  # an edge that is given twice counts once
    return ag.Graph(W)


def debian():
    with gzip.open(DATA / "trial" / "packages.csv.gz", "rt", encoding="utf-8", newline="") as file:
        packages = list(csv.DictReader(file))
    with gzip.open(DATA / "trial" / "packages_sections.csv.gz", "rt", encoding="utf-8", newline="") as file:
        sections = dict(row[:2] for row in csv.reader(file))
    with gzip.open(DATA / "trial" / "depends.csv.gz", "rt", encoding="utf-8", newline="") as file:
        edges = [row[:2] for row in csv.reader(file)]
    place = {one["id"]: k for k, one in enumerate(packages)}
    pairs = [(place[a], place[b]) for a, b in edges if a in place and b in place]
    rows = text_rows([one["description"] for one in packages])
    truth = np.unique([sections[one["id"]] for one in packages], return_inverse=True)[1]
    return rows, join_written(rows, 10), graph_of(pairs, len(packages)), truth


def citations(name):
    with gzip.open(DATA / name / f"{name}.content.gz", "rt") as file:
        lines = [line.split() for line in file]
    place = {line[0]: k for k, line in enumerate(lines)}
    cites = [line.split() for line in (DATA / name / f"{name}.cites").read_text().splitlines()]
    pairs = [(place[a], place[b]) for a, b in cites if a in place and b in place]
    rows = csr_array(np.array([line[1:-1] for line in lines], dtype=float))
    truth = np.unique([line[-1] for line in lines], return_inverse=True)[1]
    return rows, ag.nearest_neighbors(rows, 10, "cosine"), graph_of(pairs, len(lines)), truth


def attributed(name):
    with np.load(DATA / "attributed" / f"{name}_part.npz") as x:
        rows = csr_array((x["X_data"], x["X_indices"], x["X_indptr"]), shape=tuple(x["X_shape"])).astype(float)
        edges, truth = x["edges"], x["y"].astype(np.int64)
    return rows, ag.nearest_neighbors(rows, 10, "cosine"), graph_of(edges, truth.size), truth


def toy():
    graph, truth = ag.communities((40, 30, 30), rng=0)
    rows = np.eye(3)[truth] + 0.5 * np.random.default_rng(0).random((100, 3))
    return rows, ag.nearest_neighbors(rows, 5, "cosine"), graph, truth


SETS = {
    "debian": debian,
    "amazon_photo": lambda: attributed("amazon_photo"),
    "blogcatalog": lambda: attributed("blogcatalog"),
}
SETS |= {name: (lambda name=name: citations(name)) for name in ("cora", "citeseer")}
SETS = {"toy": toy} if SMOKE else SETS


def accuracy(graph, features, truth, seeds):
    """Return the accuracy on unlabeled nodes, averaged over seeds: the mean over the marks, at 10 labels, and at 20."""
    found = []
    for seed in range(seeds):
        learner = ag.Learner(graph, features=features, rng=seed, classes=range(int(truth.max()) + 1))
        steps = enumerate(learner.run(lambda node: int(truth[node]), max(MARKS)), 1)
        found.append([(learner.predict() == truth)[~learner.field.labeled].mean() for k, _ in steps if k in MARKS])
    _, ten, _, twenty = np.mean(found, axis=0)
    return f"{np.mean(found):.3f} ({ten:.2f}, {twenty:.2f})"


def joined(compared, rows, graphs, shares):
    """Return the graph and the features of items, as ``askgraph init`` makes them."""
    along = add_graphs(graphs, shares) if any(shares) else compared
    return add_alike(compared, rows, graphs, shares), linear_part(along, rows, from_start=False)


def row(name, seeds):
    rows, compared, given, truth = SETS[name]()
    random = graph_of(np.random.default_rng(0).integers(0, truth.size, (5 * truth.size, 2)), truth.size)
    shares = [alikeness(graph, compared, rows) for graph in (given, random)]
    both, three = (joined(compared, rows, [given, random][:k], shares[:k]) for k in (1, 2))
    ways = [joined(compared, rows, [], []), (given, None), both, three]
    cells = [accuracy(graph, features, truth, seeds) for graph, features in ways]
    return f"| {name} | {' | '.join(cells)} | {shares[0]:.2f}, {shares[1]:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 2)
    parser.add_argument("--smoke", action="store_true", help="a toy graph, to see that everything runs")
    options = parser.parse_args()
    print(f"{machine()}, mean of {options.seeds} seeds, accuracy over 5, 10, 15 and 20 labels (at 10, at 20)\n")
    heads = ("items", "text or features", "graph", "both", "both and a random graph", "shares")
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for name in options.sets.split(","):
        print(row(name, options.seeds), flush=True)


if __name__ == "__main__":
    main()
