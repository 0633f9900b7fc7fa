"""The graphs of the paper's tests, each with all its labels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from askgraph.graph import Graph
from askgraph.graph.build import pearson
from askgraph.graph.toys import communities, two_squares
from askgraph.paper.datasets import Dataset, load
from askgraph.simulate import Problem

SYNTHETIC = ("grid", "lfr")
TABLES = ("colon", "ionosphere", "leukemia", "australian", "parkinsons", "ecoli")  # Figs. 5 to 10, in this order
NETWORKS = ("cora", "citeseer", "polblogs")
SMALLEST_NETWORK = ("polblogs",)
ALL = (*SYNTHETIC, *TABLES, *NETWORKS)
BINARY = ("grid", *TABLES, "polblogs")
MIXING = 0.1  # share of edges between the communities of the LFR graph: an assumption, the paper does not give it
SIZES = (250, 350, 400)  # nodes in each community of the LFR graph


@dataclass(frozen=True)
class Source:
    """A graph of the paper: its dataset, and how the graph is made from it."""

    data: str
    threshold: float = 0.0  # similarity graphs: smaller weights are cut
    centered: bool = False  # similarity graphs: Pearson's correlation; the paper's formula does not center
    largest: bool = False  # take the largest component only
    border: Literal["row", "ring"] = "row"  # grid: where coins decide the class
    mixing: float = MIXING  # LFR
    seed: int = 0  # grid and LFR: of what is drawn at random

    def __str__(self) -> str:
        """Return the name of this source in records."""
        if self.data in TABLES:
            return f"{self.data} {'pearson' if self.centered else 'cosine'} > {self.threshold:g}"
        if self.data == "grid":
            return f"grid {self.border} {self.seed}"
        if self.data == "lfr":
            return f"lfr mixing {self.mixing:g} seed {self.seed}"
        return f"{self.data}{' largest component' if self.largest else ''}"

    def problem(self, folder: str | os.PathLike[str] | None = None) -> Problem:
        """Return the graph and its labels; read datasets from a folder."""
        if self.data == "grid":
            return _problem(*two_squares(self.seed, self.border))
        if self.data == "lfr":
            return _problem(*communities(SIZES, self.mixing, rng=self.seed))
        data = _load(self.data, None if folder is None else os.fspath(folder))
        return _similarity(data, self) if self.data in TABLES else _network(data, self)


@cache
def _load(name: str, folder: str | None) -> Dataset:
    return load(name, folder)


def _problem(graph: Graph, labels: Any) -> Problem:
    """Return a problem whose classes come in the order of their size, so that no figure depends on their names."""
    truth: Sequence[Hashable] = np.asarray(labels).tolist() if isinstance(labels, np.ndarray) else list(labels)
    count = Counter(truth)
    return Problem(graph, truth, sorted(count, key=lambda label: (-count[label], str(label))))


def _similarity(data: Dataset, source: Source) -> Problem:
    labels = ["cp" if x == "cp" else "other" for x in data.labels] if data.name == "ecoli" else list(data.labels)
    return _problem(pearson(data.features, source.threshold, source.centered), labels)


def _network(data: Dataset, source: Source) -> Problem:
    assert data.graph is not None
    if not source.largest:
        return _problem(data.graph, list(data.labels))
    graph = data.graph.largest_component()
    return _problem(graph, [data.labels[data.graph.index(name)] for name in graph.names or ()])


def facts(source: Source, problem: Problem) -> dict[str, Any]:
    """Return the figures on a graph that Table II and the report print."""
    graph = problem.graph
    codes = np.array([problem.classes.index(x) for x in problem.truth])
    sizes = np.sort(np.bincount(codes))[::-1]
    ends = graph.weights.tocoo()
    return {
        "source": str(source),
        "name": f"{source} {problem.fingerprint}",
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "isolated": int((graph.degrees == 0).sum()),
        "components": int(graph.components().max()) + 1,
        "classes": sizes.tolist(),
        "share": round(float(sizes[0] / graph.n_nodes), 4),
        "homophily": round(float((codes[ends.row] == codes[ends.col]).mean()), 4) if ends.nnz else 1.0,
    }
