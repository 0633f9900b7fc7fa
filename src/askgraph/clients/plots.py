"""Pictures in matplotlib: a graph, a learner on its graph, and how accuracy grew. Reached as methods of Graph and Learner."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from askgraph.errors import LabelError, SettingError, TooLargeError
from askgraph.graph import Graph
from askgraph.kinds import Kind
from askgraph.kinds.numbers import Numbers
from askgraph.kinds.one_class import OneClass
from askgraph.kinds.ordered import Ordered
from askgraph.kinds.several import Several
from askgraph.layout import layout
from askgraph.learner import Learner
from askgraph.support.arguments import listed
from askgraph.support.notebook import pyplot
from askgraph.types import Array, IntArray

MOST_NODES = 50_000  # more dots than a figure has pixels for
MOST_EDGES = 20_000  # more lines hide the nodes; the heaviest are drawn
# told apart by color-blind readers too, ten of them; further classes begin again with another marker
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#117733", "#6A3D9A", "#999933")
MARKERS = "os^vDPX"
SCALE, LIGHTEST = (
    "viridis",
    0.93,
)  # the map of colors of what has an order, and how far steps go on it: yellow is faint on white
EDGES, UNKNOWN = "#9AA0A6", "#B8BDC2"


def plot_graph(graph: Graph, axes: Any = None) -> Any:
    """Draw a graph: nodes at the places that the page's map gives them, heavier edges darker."""
    axes, places = _prepared(graph, axes)
    axes.scatter(*places.T, s=_size(graph), color=COLORS[0], zorder=2, linewidths=0)
    axes.set_title(f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges", loc="left", fontsize=10)
    return axes


def plot_learner(learner: Learner, axes: Any = None) -> Any:
    """Draw what a learner predicts; labeled nodes ringed, the next question a star."""
    graph, kind = learner.graph, learner.answers
    draw = _drawing(kind)
    axes, places = _prepared(graph, axes)
    size = _size(graph)
    if not learner.labels and not (learner.classes and isinstance(kind, OneClass)):
        axes.scatter(*places.T, s=size, color=UNKNOWN, zorder=2, linewidths=0)
        about = ""
    else:
        about = draw(learner, axes, places, size)
    _draw_told(learner, axes, places, size)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, borderpad=1.0, fontsize=9)
    told = (
        f"{len(learner.labels)} labels, {len(learner.classes)} classes"
        if kind.by_class
        else f"{len(learner.labels)} numbers"
    )
    axes.set_title(f"{told}{about}", loc="left", fontsize=10)
    return axes


def _drawing(kind: Kind) -> Callable[[Learner, Any, Array, float], str]:
    """Return the function that draws predictions of this kind, and returns what is to be said of colors."""
    if isinstance(kind, Ordered):
        return _draw_steps
    if isinstance(kind, OneClass):
        return _draw_classes
    if isinstance(kind, Several):
        return _draw_sets
    if isinstance(kind, Numbers):
        return _draw_numbers
    raise SettingError(
        f"answers={kind.name!r}: there is no picture of such predictions; draw predict() over askgraph.layout"
    )


def _draw_classes(learner: Learner, axes: Any, places: Array, size: float) -> str:
    p, colors = learner.probabilities(), [COLORS[k % len(COLORS)] for k in range(len(learner.classes))]
    _dots(axes, places, size, p.argmax(axis=1), _sureness(p), learner.classes, colors)
    return ""


def _draw_steps(learner: Learner, axes: Any, places: Array, size: float) -> str:
    """Draw ordered classes, the lowest dark and the highest light, as the legend lists them."""
    kind: Any = learner.answers
    p, ranks = learner.probabilities(), kind.ranks(learner.classes)
    order = np.argsort(-ranks)
    shades = pyplot().get_cmap(SCALE)(np.linspace(0, LIGHTEST, len(order)))[::-1]
    decided = np.argsort(order)[kind.decide(p, learner.classes)]
    _dots(axes, places, size, decided, _sureness(p), [learner.classes[k] for k in order], list(shades), markers="o")
    return "; the median"


def _draw_sets(learner: Learner, axes: Any, places: Array, size: float) -> str:
    """Draw the likeliest of the classes that each node has; gray where it has none."""
    kind: Any = learner.answers
    has, p = kind.decide(learner._moment), learner.probabilities()
    none = ~has.any(axis=1)
    first = np.where(has, p, -1.0).argmax(axis=1)
    sure = np.where(none, 1.0, p[np.arange(len(p)), first])
    names, colors = [*learner.classes, "none of them"], [COLORS[k % len(COLORS)] for k in range(len(learner.classes))]
    _dots(
        axes,
        places,
        size,
        np.where(none, len(learner.classes), first),
        np.clip(sure, 0.15, 1.0),
        names,
        [*colors, UNKNOWN],
    )
    return "; the likeliest of the classes of each node"


def _draw_numbers(learner: Learner, axes: Any, places: Array, size: float) -> str:
    """Draw numbers, low ones dark and high ones light, with a bar that says which."""
    kind: Any = learner.answers
    dots = axes.scatter(*places.T, s=size, c=learner.predict(), cmap=SCALE, zorder=2, linewidths=0)
    bar = axes.figure.colorbar(dots, ax=axes, location="bottom", shrink=0.6, pad=0.02)
    bar.set_label(kind.unit or "number", fontsize=9)
    bar.outline.set_visible(False)
    return "; the predicted number"


def _dots(
    axes: Any,
    places: Array,
    size: float,
    decided: IntArray,
    faint: Array,
    names: Sequence[Hashable],
    colors: Sequence[Any],
    markers: str = MARKERS,
) -> None:
    """Draw nodes in the color of what is decided, and the names for the legend."""
    for k, (name, color) in enumerate(zip(names, colors, strict=True)):
        mine, marker = decided == k, markers[k // len(COLORS) % len(markers)]
        if mine.any():
            axes.scatter(*places[mine].T, s=size, color=color, alpha=faint[mine], marker=marker, zorder=2, linewidths=0)
        axes.scatter([], [], s=30, color=color, marker=marker, label=str(name))


def _sureness(p: Array) -> Array:
    """Return how opaque nodes are: 1 where one class is sure, 0.15 where all are as likely."""
    sure, least = p.max(axis=1), 1 / p.shape[1]
    return np.clip((sure - least) / (1 - least), 0.15, 1.0) if p.shape[1] > 1 else sure


def _draw_told(learner: Learner, axes: Any, places: Array, size: float) -> None:
    """Draw rings around labeled nodes, and a star at the next question."""
    graph = learner.graph
    labeled = np.array([graph.index(node) for node in learner.labels], dtype=np.int64)
    rings = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.1, "zorder": 3, "label": "labeled"}
    if labeled.size:
        axes.scatter(*places[labeled].T, s=2.5 * size, **rings)
    if (node := learner.ask()) is not None:
        at = places[[graph.index(node)]]
        axes.scatter(*at.T, s=6 * size, marker="*", color="black", zorder=4, label="next question")


def plot_curve(learner: Learner, truth: Mapping[Any, Hashable] | Sequence[Hashable], axes: Any = None) -> Any:
    """Draw how right the predictions for the unlabeled nodes were after each label that was told."""
    found, words = curve(learner, truth), _judging(learner.answers, ())[0]
    axes = axes if axes is not None else pyplot().subplots(figsize=(6, 3.6), layout="constrained")[1]
    labels = [count for count, _ in found]
    axes.plot(labels, [value for _, value in found], color=COLORS[0], linewidth=1.6, marker="o", markersize=3)
    axes.set_xlabel("labels told")
    axes.set_ylabel(f"{words} the unlabeled")
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


Judged = Callable[[Sequence[Any], Sequence[Any]], float]  # (predicted, true) of some nodes


def _judging(kind: Kind, names: Sequence[Any]) -> tuple[str, Judged]:
    """Return how predictions of this kind are judged, of one of these classes: in words, and as a function."""
    if isinstance(kind, Ordered):
        return "steps off, on average, among", partial(_steps_off, dict(zip(names, kind.ranks(names), strict=True)))
    if isinstance(kind, OneClass):
        return "right among", lambda made, true: float(np.mean([a == b for a, b in zip(made, true, strict=True)]))
    if isinstance(kind, Several):
        return "F1 of", _f1
    if isinstance(kind, Numbers):
        return f"RMSE{f' ({kind.unit})' if kind.unit else ''} of", _root_mean_square
    raise SettingError(f"answers={kind.name!r}: there is no curve of such predictions; undo() and judge predict()")


def _steps_off(ranks: Mapping[Any, int], made: Sequence[Any], true: Sequence[Any]) -> float:
    return float(np.mean([abs(ranks[a] - ranks[b]) for a, b in zip(made, true, strict=True)]))


def _f1(made: Sequence[Any], true: Sequence[Any]) -> float:
    both = sum(len(set(a) & set(b)) for a, b in zip(made, true, strict=True))
    every = sum(len(a) + len(b) for a, b in zip(made, true, strict=True))
    return 2 * both / every if every else 1.0


def _root_mean_square(made: Sequence[Any], true: Sequence[Any]) -> float:
    return float(np.sqrt(np.mean((np.array(made, dtype=float) - np.array(true, dtype=float)) ** 2)))


def curve(learner: Learner, truth: Mapping[Any, Hashable] | Sequence[Hashable]) -> list[tuple[int, float]]:
    """Return the number of labels and how right the predictions for the unlabeled were, from the first label on.

    What was told is undone in a copy, one thing after another.
    """
    known = _truth(learner, truth)
    _, judge = _judging(learner.answers, list(dict.fromkeys([*learner.classes, *known.values()])))
    again, found = deepcopy(learner), dict[int, float]()
    while again.labels:
        open_ = np.ones(learner.graph.n_nodes, dtype=bool)
        open_[[learner.graph.index(node) for node in again.labels]] = False
        there = [at for at in np.flatnonzero(open_).tolist() if at in known]
        if there:
            made = again.predict()[there].tolist()
            found.setdefault(len(again.labels), judge(made, [known[at] for at in there]))
        again.undo()
    if not found:
        raise LabelError("no label was told, or none is left to predict: there is no curve to draw")
    return sorted(found.items())


def _truth(learner: Learner, truth: Any) -> dict[int, Hashable]:
    """Return answers as they really are by the indices of nodes; other kinds than one class as plain as what was told."""
    known, kind = _by_node(learner, truth), learner.answers
    plain = isinstance(kind, OneClass) and not isinstance(kind, Ordered)
    return known if plain else {at: kind.checked(label, learner.classes) for at, label in known.items()}


def _by_node(learner: Learner, truth: Any) -> dict[int, Any]:
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
