"""Choosing the graph or the ridge as labels come: accuracy over the learning curve with tune=True beside each candidate alone.

python benchmarks/tuning.py [--cases development,words,neighbours] [--seeds 5]      # and validation, once
Records go to --output (a curve that is there is not run again; begin a new file when a method changes); tables are printed.
Files of the datasets are looked for in the folder ASKGRAPH_DATA; a case without its files is left out.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from label_efficiency import first_node, names_in, right
from labeled_graphs import GROUPS, TABLES, budget, papers, problem
from measure import SMOKE, machine

import askgraph as ag
from askgraph.errors import FileError
from askgraph.graph.combine import merge
from askgraph.paper.datasets import load
from askgraph.priors import features
from askgraph.simulate import Problem
from askgraph.simulate.records import Lines, mean_curve
from askgraph.simulate.runs import versions
from askgraph.support.progress import bar

NEIGHBOURS = (10, 5, 20)  # numbers of neighbors to choose from; the first is the default
TUNED = "tuned"


_engines = {}


def engine(graph, *how):
    """Return the engine of a graph, shared by all ways and seeds: making it takes longer than all questions."""
    W = graph.weights
    same = W.indices.tobytes(), W.indptr.tobytes(), W.data.tobytes(), how
    if same not in _engines:
        _engines[same] = ag.prior(graph, *how)
    return _engines[same]


class Case(NamedTuple):
    """Graphs over the same labeled nodes; with a single graph, tuning chooses the ridge."""

    graphs: dict[str, ag.Graph]
    truth: list
    labels: int

    @property
    def ways(self):
        """Return, for each way, the graphs that the learner gets, and whether it chooses among them."""
        alone = {name: (graph, False) for name, graph in self.graphs.items()}
        if len(alone) == 1:
            return {**alone, TUNED: (*self.graphs.values(), True)}
        return {**alone, "their sum": (merge(list(self.graphs.values())), False), TUNED: (self.graphs, True)}


def single(name):
    whole = problem(name)
    return Case({"default": whole.graph}, whole.truth, budget(name, whole))


def words(name, smooth):
    """Return citations, the ten nearest by words, and perhaps both with the words averaged along citations."""
    cited, X = papers(name)
    graphs = {"citations": cited.graph, "words": nearest_words(X, cited.graph.names)}
    if smooth:
        graphs["words along citations"] = ag.with_features(cited.graph, X)
    return Case(graphs, cited.truth, budget(name, cited))


def nearest_words(X, names):
    return ag.Graph(ag.nearest_neighbors(X, k=10, metric="cosine", bandwidth=None).weights, names=names)


def neighbours(name):
    """Return a table as graphs of more or fewer neighbors."""
    X, truth = digits() if name == "digits" else rows(TABLES[name])
    graphs = {f"{k} neighbours": ag.nearest_neighbors(X, k=k, scale=name != "digits") for k in NEIGHBOURS}
    return Case(graphs, truth, budget(name, Problem(graphs["10 neighbours"], truth)))


def digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, y.tolist()


def rows(name):
    data = load(name)
    return data.features, data.labels


CASES = {
    **{
        f"{group}/{name}": (group, lambda name=name: single(name))
        for group in ("development", "validation")
        for name in GROUPS[group]
    },
    **{f"words/{name}": ("words", lambda name=name: words(name, smooth=False)) for name in ("cora", "citeseer")},
    **{
        f"words, also along citations/{name}": ("words", lambda name=name: words(name, smooth=True))
        for name in ("cora", "citeseer")
    },
    **{
        f"neighbours/{name}": ("neighbours", lambda name=name: neighbours(name))
        for name in ("digits", "iono", "park", "ecoli8")
    },
}


def curve(case, way, seed):
    """Return the accuracy on the unlabeled nodes after every label, and the choices made."""
    given, tune = case.ways[way]
    classes = list(dict.fromkeys(case.truth))
    codes = np.array([classes.index(label) for label in case.truth])
    learner = ag.Learner(given, rng=seed, classes=classes, tune=tune)
    node, accuracy, choices = learner.graph.name(first_node(learner, seed)), [], []
    for _ in range(case.labels):
        learner.tell(node, case.truth[learner.graph.index(node)])
        accuracy.append(right(learner.probabilities(), codes, np.flatnonzero(~learner.field.labeled)))
        if learner.judge.choice and learner.judge.choice.labels == len(accuracy):
            choices.append((learner.judge.choice.name, str(learner.judge.choice)))
        node = learner.ask()
    return {"accuracy": accuracy, "choices": choices}


def area(records):
    mean = mean_curve(records)
    return float(np.mean((mean[1:] + mean[:-1]) / 2))


def key(record):
    return tuple(record[name] for name in ("case", "way", "seed"))


def filled(path, name, seeds, tick):
    """Return the records of each way; make and append those that are missing."""
    lines, case = Lines(path), CASES[name][1]()
    _engines.clear()
    done = {key(record): record for record in lines.read()}
    with lines.appending() as append:
        for way in case.ways:
            for seed in range(seeds):
                same = {"case": name, "way": way, "seed": seed}
                if key(same) not in done:
                    done[key(same)] = {**same, **curve(case, way, seed), "versions": versions()}
                    append(done[key(same)])
            tick()
    return {way: [done[name, way, seed] for seed in range(seeds)] for way in case.ways}


def table(title, found):
    """Print one row per case and one column per way; for tuned ways, the last choice of each seed."""
    ways = list(next(iter(found.values())))
    print(f"\n### {title}\n\n| | {' | '.join(ways)} | chosen at the end |\n|---|{'---|' * (len(ways) + 1)}")
    areas = {name: [area(records) for records in by_way.values()] for name, by_way in found.items()}
    for name, row in areas.items():
        print(f"| {name.partition('/')[2]} | {' | '.join(f'{x:.3f}' for x in row)} | {last(found[name][TUNED])} |")
    print(f"| **mean** | {' | '.join(f'**{x:.3f}**' for x in np.mean(list(areas.values()), axis=0))} | |")


def last(records):
    chosen = Counter(record["choices"][-1][0] if record["choices"] else "–" for record in records)
    return ", ".join(f"{name} ({count})" for name, count in chosen.most_common())


def main():
    features.choose_prior = engine
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="development,words,neighbours")
    parser.add_argument("--seeds", type=int, default=5 if not SMOKE else 1)
    parser.add_argument("--output", type=Path, default=Path("tuning.jsonl"))
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    options = parser.parse_args()
    groups = names_in(options.cases, list(dict.fromkeys(group for group, _ in CASES.values())), "group of cases")
    print(f"Machine: {machine()}.", flush=True)
    names, titles = [name for name, (group, _) in CASES.items() if group in groups], {}
    names = names if not SMOKE else ["development/grid"]
    with bar(len(names), "tuning") as tick:
        for name in names:
            try:
                titles.setdefault(name.partition("/")[0], {})[name] = filled(
                    options.output, name, options.seeds, lambda: None
                )
            except FileError as error:
                print(f"{name} is left out: {error}", flush=True)
            tick()
    for title, found in titles.items():
        if found:
            table(title, found)


if __name__ == "__main__":
    main()
