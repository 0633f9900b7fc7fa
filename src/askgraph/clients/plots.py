"""Pictures in matplotlib: a graph, a learner on its graph, and how accuracy grew. Reached as methods of Graph and Learner."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import scipy.sparse as sp

from askgraph.errors import LabelError, TooLargeError
from askgraph.graph import Graph
from askgraph.layout import layout
from askgraph.learner import Learner
from askgraph.support.arguments import listed
from askgraph.support.notebook import pyplot
from askgraph.types import Array

MOST_NODES = 50_000  # more dots than a figure has pixels for
MOST_EDGES = 20_000  # more lines hide the nodes; the heaviest are drawn
# told apart by color-blind readers too, ten of them; further classes begin again with another marker
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#117733", "#6A3D9A", "#999933")
MARKERS = "os^vDPX"
EDGES, UNKNOWN = "#9AA0A6", "#B8BDC2"


def plot_graph(graph: Graph, axes: Any = None) -> Any:
    """Draw a graph: nodes at the places that the page's map gives them, heavier edges darker."""
    axes, places = _prepared(graph, axes)
    axes.scatter(*places.T, s=_size(graph), color=COLORS[0], zorder=2, linewidths=0)
    axes.set_title(f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges", loc="left", fontsize=10)
    return axes


def plot_learner(learner: Learner, axes: Any = None) -> Any:
    """Draw what a learner predicts: a color per class, paler where less sure; labeled nodes ringed, the next question a star."""
    graph = learner.graph
    axes, places = _prepared(graph, axes)
    classes, size = learner.classes, _size(graph)
    labeled = np.array([graph.index(node) for node in learner.labels], dtype=np.int64)
    if not classes:
        axes.scatter(*places.T, s=size, color=UNKNOWN, zorder=2, linewidths=0)
    else:
        p = learner.probabilities()
        decided, sure = p.argmax(axis=1), p.max(axis=1)
        faint = (
            np.clip((sure - 1 / len(classes)) / max(1 - 1 / len(classes), 1e-9), 0.15, 1.0)
            if len(classes) > 1
            else sure
        )
        for k, name in enumerate(classes):
            mine, marker = decided == k, MARKERS[k // len(COLORS) % len(MARKERS)]
            color = COLORS[k % len(COLORS)]
            axes.scatter(*places[mine].T, s=size, color=color, alpha=faint[mine], marker=marker, zorder=2, linewidths=0)
            axes.scatter([], [], s=30, color=color, marker=marker, label=str(name))
    if labeled.size:
        axes.scatter(
            *places[labeled].T,
            s=2.5 * size,
            facecolors="none",
            edgecolors="black",
            linewidths=1.1,
            zorder=3,
            label="labeled",
        )
    if (node := learner.ask()) is not None:
        at = places[[graph.index(node)]]
        axes.scatter(*at.T, s=6 * size, marker="*", color="black", zorder=4, label="next question")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, borderpad=1.0, fontsize=9)
    axes.set_title(f"{len(learner.labels)} labels, {len(classes)} classes", loc="left", fontsize=10)
    return axes


def plot_curve(learner: Learner, truth: Mapping[Any, Hashable] | Sequence[Hashable], axes: Any = None) -> Any:
    """Draw the share of right predictions among the unlabeled nodes after each label that was told."""
    right = curve(learner, truth)
    axes = axes if axes is not None else pyplot().subplots(figsize=(6, 3.6), layout="constrained")[1]
    labels = [count for count, _ in right]
    axes.plot(labels, [share for _, share in right], color=COLORS[0], linewidth=1.6, marker="o", markersize=3)
    axes.set_xlabel("labels told")
    axes.set_ylabel("right among the unlabeled")
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def curve(learner: Learner, truth: Mapping[Any, Hashable] | Sequence[Hashable]) -> list[tuple[int, float]]:
    """Return the number of labels and the share of right predictions among the unlabeled, from the first label on.

    What was told is undone in a copy, one thing after another.
    """
    known = _truth(learner, truth)
    again, found = deepcopy(learner), dict[int, float]()
    while again.labels:
        open_ = np.ones(learner.graph.n_nodes, dtype=bool)
        open_[[learner.graph.index(node) for node in again.labels]] = False
        predicted = again.predict()
        there = [at for at in np.flatnonzero(open_).tolist() if at in known]
        if there:
            found.setdefault(len(again.labels), float(np.mean([predicted[at] == known[at] for at in there])))
        again.undo()
    if not found:
        raise LabelError("no label was told, or none is left to predict: there is no curve to draw")
    return sorted(found.items())


def _truth(learner: Learner, truth: Any) -> dict[int, Hashable]:
    if isinstance(truth, Mapping):
        return {learner.graph.index(node): label for node, label in truth.items()}
    truth = listed(truth, "truth", LabelError)
    if len(truth) != learner.graph.n_nodes:
        raise LabelError(
            f"{len(truth)} labels for {learner.graph.n_nodes} nodes: give one per node, or {{node: label}}"
        )
    return dict(enumerate(truth))


def _prepared(graph: Graph, axes: Any) -> tuple[Any, Array]:
    """Return axes with the edges drawn, and the places of the nodes."""
    if graph.n_nodes > MOST_NODES:
        raise TooLargeError(
            f"{graph.n_nodes:,} nodes: a picture has room for {MOST_NODES:,}; draw a part, graph.subgraph(nodes)"
        )
    plt = pyplot()
    from matplotlib.collections import LineCollection

    axes = axes if axes is not None else plt.subplots(figsize=(6.4, 5), layout="constrained")[1]
    places = np.asarray(layout(graph), dtype=float)
    upper = sp.triu(graph.weights, 1).tocoo()
    keep = np.argsort(-upper.data, kind="stable")[:MOST_EDGES]
    lines = np.stack([places[upper.row[keep]], places[upper.col[keep]]], axis=1)
    strength = upper.data[keep] / upper.data.max() if keep.size else upper.data
    faint = min(1.0, 60 / np.sqrt(max(keep.size, 1)))
    axes.add_collection(
        LineCollection(list(lines), colors=EDGES, linewidths=0.6, alpha=faint * (0.3 + 0.7 * strength), zorder=1)
    )
    axes.set_aspect("equal")
    axes.margins(0.04)
    axes.set_axis_off()
    return axes, places


def _size(graph: Graph) -> float:
    """Return the area of a dot, in square points."""
    return float(np.clip(12_000 / graph.n_nodes, 4, 60))
