"""Answers that are wrong: accuracy with fixed label noises and with the one that labels choose, at 20 labels per class.

python benchmarks/noise.py [--graphs cora,grid] [--crowds right,30] [--seeds 2] [--test]      # Markdown tables; ASKGRAPH_DATA

Of the answers of a crowd 10, 20 or 30 % are wrong, each any other class alike ("10", "20", "30") or the class that most edges
tie to the true one ("10 alike", …), or one person of three gives 40 % wrong ("one of three"); which answers are wrong depends on
their number, not on the node. A learner with noise=0 asks; fixed noises and "auto" are told the same answers. "asks" is a
learner with noise="auto" that asks for itself. "thinks" is the share of answers that it holds to be wrong. cora_split and
citeseer_split have features, and accuracy is over the nodes that the split of Yang, Cohen and Salakhutdinov (2016) has for
validation, with --test over its test nodes; neither is asked for.
"""

from __future__ import annotations

import argparse
import itertools
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from labeled_graphs import GROUPS, budget, problem
from measure import SMOKE, machine
from scipy.sparse import csr_array

import askgraph as ag
from askgraph.errors import FileError
from askgraph.learner.graphs import joined_graphs
from askgraph.plan.noise import ChosenNoise

FIXED = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
SPLITS = ("cora_split", "citeseer_split")
SHARES = {"10": 0.1, "20": 0.2, "30": 0.3}
CROWDS = ("right", *SHARES, *(f"{share} alike" for share in SHARES), "one of three")
CARELESS = 0.4  # wrong answers of the careless person


class Items(NamedTuple):
    """A graph, the class of each node, the nodes that are never asked for, and those that accuracy is over; None for the rest."""

    graph: ag.Graph
    features: object
    truth: np.ndarray
    apart: np.ndarray
    judged: np.ndarray | None
    budget: int


@cache
def items(name, test):
    if name in SPLITS:
        return split(name.removesuffix("_split"), test)
    whole = problem(name)
    truth = np.array([whole.classes.index(label) for label in whole.truth])
    return Items(whole.graph, None, truth, np.zeros(0, int), None, budget(name, whole))


def split(name, test):
    path = Path(os.environ.get("ASKGRAPH_DATA", "")) / "planetoid" / f"{name}.npz"
    if not path.is_file():
        raise FileError(f"{path} is not there: name the folder with the datasets in ASKGRAPH_DATA")
    with np.load(path) as stored:
        n, edges, truth = int(stored["n"]), stored["edges"], stored["y"]
        ends = np.concatenate([edges, edges[:, ::-1]]).T
        words = stored["data"], stored["indices"], stored["indptr"]
        X = csr_array(words, shape=(n, int(stored["columns"])))
        apart = np.concatenate([stored["validation"], stored["test"]])
        judged = stored["test" if test else "validation"]
    graph = ag.Graph(csr_array((np.ones(ends.shape[1]), ends), shape=(n, n)))
    graphs, linear = joined_graphs(graph, X, tune=False)
    return Items(next(iter(graphs.values())), linear, truth, apart, judged, 20 * (int(truth.max()) + 1))


def said(given, crowd, seed):
    """Return what a crowd says: a function of a node, that counts how often it was asked."""
    truth, rng, count = given.truth, np.random.default_rng(1000 + seed), itertools.count()
    share, _, alike = crowd.partition(" ")
    mine = rng.permutation(given.budget) % 3 == 0 if crowd == "one of three" else np.ones(given.budget, dtype=bool)
    wrong = rng.permutation(np.flatnonzero(mine))
    wrong = set(wrong[: round(SHARES.get(share, CARELESS * (crowd == "one of three")) * wrong.size)].tolist())
    further, others = rng.integers(1, truth.max() + 1, given.budget), nearest(given.graph, truth)

    def answer(node):
        at = next(count)
        if at not in wrong:
            return int(truth[node])
        return int(
            others[truth[node]] if alike and share in SHARES else (truth[node] + further[at]) % (truth.max() + 1)
        )

    return answer


def nearest(graph, truth):
    """Return the class that most edges tie to each class, beside how many edges both have."""
    member = csr_array((np.ones(truth.size), (np.arange(truth.size), truth)))
    ties = (member.T @ graph.weights @ member).toarray()
    ends = np.maximum(ties.sum(axis=0), np.finfo(float).tiny)
    ties /= np.sqrt(np.outer(ends, ends))
    np.fill_diagonal(ties, -1.0)
    return ties.argmax(axis=1)


def asked(given, crowd, noise, seed):
    """Return a learner of this noise after a crowd answered its questions."""
    learner = ag.Learner(
        given.graph, features=given.features, classes=range(given.truth.max() + 1), noise=noise, rng=seed
    )
    for node in given.apart.tolist():
        learner.skip(given.graph.name(node))
    answer = said(given, crowd, seed)
    for _ in learner.run(lambda name: answer(given.graph.index(name)), given.budget):
        pass
    return learner


def measured(given, crowd, seed):
    """Return accuracies with fixed noises and with the chosen one, by the same answers and by its own questions, and the share."""
    plain, auto = (asked(given, crowd, noise, seed) for noise in (0.0, "auto"))
    chooser = next(rule for rule in auto.plan.rules if isinstance(rule, ChosenNoise))
    told = [plain.field.with_noise(noise) for noise in FIXED] + [chooser.reviews(plain.field, plain.history)]
    fields = [*(settled(plain, field) for field in told), auto.field]
    rest = [~field.labeled if given.judged is None else given.judged for field in (plain.field, auto.field)]
    rows = [rest[0]] * len(told) + [rest[1]]
    right = [
        (plain.readout(field).argmax(axis=1) == given.truth)[some].mean()
        for field, some in zip(fields, rows, strict=True)
    ]
    return [*right, chooser.wrong(auto.field, auto.history).share]


def settled(learner, field):
    """Return the field that the rules of a learner speak for."""
    for rule in learner.plan.rules:
        field = rule.reviews(field, learner.history)
    return field


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="grid" if SMOKE else ",".join((*GROUPS["development"], *SPLITS)))
    parser.add_argument("--crowds", default="right,30 alike" if SMOKE else ",".join(CROWDS))
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 2)
    parser.add_argument("--test", action="store_true", help="accuracy over the test nodes of the splits")
    parser.add_argument("--smoke", action="store_true", help="a toy graph, to see that everything runs")
    options = parser.parse_args()
    print(f"{machine()}, mean of {options.seeds} seeds\n")
    print(f"| answers | graph | {' | '.join(map(str, FIXED))} | auto | asks | thinks |")
    print(f"|---|---|{'---|' * (len(FIXED) + 3)}")
    for crowd in options.crowds.split(","):
        rows = []
        for name in options.graphs.split(","):
            given = items(name, options.test)
            rows.append(np.mean([measured(given, crowd, seed) for seed in range(options.seeds)], axis=0))
            print(f"| {crowd} | {name} | {' | '.join(f'{x:.3f}' for x in rows[-1])} |", flush=True)
        if len(rows) > 1:
            print(f"| {crowd} | **mean** | {' | '.join(f'**{x:.3f}**' for x in np.mean(rows, axis=0))} |", flush=True)


if __name__ == "__main__":
    main()
