"""Draw the paper's figures from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.paper.plan import MIXINGS, OTHERS, PROPOSED, READOUTS, TITLES, Figure
from askgraph.paper.problems import Source
from askgraph.paper.run import Results
from askgraph.simulate.curves import STYLES, canvas, draw_curves, fit, name_ends, save
from askgraph.types import Array, IntArray

SIDES: dict[str, tuple[str, ...]] = {"proposed in the paper": (*PROPOSED, "random"), "the methods of others": OTHERS}
READOUT_TITLES = {"map": "the paper's readout", "mass": "class-mass readout"}
Times = Mapping[tuple[str, str], Array]  # seconds of each question and its update, by (graph, sampler)


def draw_figure(figure: Figure, results: Results, path: Path) -> None:
    """Draw learning curves: one row per experiment, the last the class-mass readout of the first; one column per proposer."""
    rows = [(words, name, "map") for words, name in figure.rows.items()]
    rows.append(("class-mass readout", figure.data, "mass"))
    whole, panels = canvas(len(rows), len(SIDES), (9, 3.5 * len(rows)))
    drawn = []
    for row, (words, name, readout) in zip(panels, rows, strict=True):
        for axes, (side, samplers) in zip(row, SIDES.items(), strict=True):
            solid = _curves(results, figure, name, samplers, readout)
            dotted = _doubted(results, figure, name, samplers) if readout == "map" else {}
            draw_curves(axes, solid, dotted)
            drawn.append((axes, {**solid, **dotted}))
            axes.set_title(", ".join(filter(None, (side, words))), loc="left", fontsize=9)
            axes.tick_params(labelbottom=True)
        row[0].set_ylabel("accuracy on the unlabeled", fontsize=9)
    fit(panels, [curves for _, curves in drawn])
    for axes, curves in drawn:
        name_ends(axes, curves)
    first = results.experiments[next(iter(figure.rows.values()))]
    whole.suptitle(f"{figure.title} (means of {first.repeats} runs)", fontsize=10)
    save(whole, path)


def _curves(
    results: Results, figure: Figure, experiment: str, samplers: Sequence[str], readout: str
) -> dict[str, Array]:
    """Return accuracies by sampler; eer and tsa without doubt, unless the figure compares doubt with none."""
    main = figure.plain if figure.plain and experiment == figure.data else experiment
    homes = {sampler: main if sampler in ("eer", "tsa") else experiment for sampler in samplers}
    return {sampler: results.curves(home, sampler, readout) for sampler, home in homes.items()}


def _doubted(results: Results, figure: Figure, experiment: str, samplers: Sequence[str]) -> dict[str, Array]:
    """Return eer and tsa with the paper's doubt, where they are drawn without."""
    if results.experiments[experiment].doubt is None or experiment != figure.data or not figure.plain:
        return {}
    return {f"{name}, doubt": results.curves(experiment, name) for name in samplers if name in ("eer", "tsa")}


def draw_mixing(results: Results, path: Path) -> None:
    """Draw the accuracy after 5 labels of the LFR graph against its mixing, for both readouts."""
    figure, panels = canvas(1, len(READOUTS), (9, 3.5))
    names = {f"lfr mixing {mixing:g}": mixing for mixing in MIXINGS}
    for axes, (readout, words) in zip(panels[0], READOUT_TITLES.items(), strict=True):
        for sampler in ("sigma", "vm", "tv", "msd", "random"):
            runs = np.array([results.curves(name, sampler, readout)[:, 4] for name in names])
            error = 2 * runs.std(axis=1, ddof=1) / np.sqrt(runs.shape[1]) if runs.shape[1] > 1 else None
            axes.errorbar(names.values(), runs.mean(axis=1), error, label=sampler, capsize=2, **STYLES[sampler])
        axes.axhline(0.9, color="#888888", linewidth=0.8, linestyle="--")
        axes.annotate("90 %", (max(MIXINGS), 0.9), (0, 3), textcoords="offset points", fontsize=8, ha="right")
        axes.set_xlabel("mixing: share of edges between the communities", fontsize=9)
        axes.set_title(words, loc="left", fontsize=9)
    panels[0][0].set_ylabel("accuracy after 5 labels", fontsize=9)
    panels[0][1].legend(fontsize=8, frameon=False)
    figure.suptitle(f"LFR graphs of other mixings (means of {runs.shape[1]} graphs, ± 2 standard errors)", fontsize=10)
    save(figure, path)


def draw_grid(path: Path) -> None:
    """Draw Fig. 1: the grid, class 1 as dots."""
    labels: IntArray = np.array(Source("grid").problem().truth).reshape(10, 10)
    figure, [[axes]] = canvas(1, 1, (3.6, 3.6))
    axes.hlines(range(10), 0, 9, color="#bbbbbb", linewidth=0.8)
    axes.vlines(range(10), 0, 9, color="#bbbbbb", linewidth=0.8)
    rows, columns = np.nonzero(labels)
    axes.scatter(columns, rows, color="#D55E00", s=45, zorder=3)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.set(xlabel="column", ylabel="row", xticks=range(10), yticks=range(10))
    axes.set_title("Fig. 1. The grid of seed 0; dots are class 1", loc="left", fontsize=9)
    save(figure, path)


def draw_adjacency(path: Path) -> None:
    """Draw Fig. 2: the adjacency matrix of the LFR graph."""
    entries = Source("lfr").problem().graph.weights.tocoo()
    figure, [[axes]] = canvas(1, 1, (4.2, 4.2))
    axes.plot(entries.col, entries.row, ",", color="#0072B2", rasterized=True)
    for edge in (250, 600):
        axes.axhline(edge, color="#888888", linewidth=0.6)
        axes.axvline(edge, color="#888888", linewidth=0.6)
    axes.set(xlim=(0, 1000), ylim=(1000, 0), aspect="equal", xlabel="node", ylabel="node")
    axes.set_title(f"Fig. 2. LFR graph: 1,000 nodes, {entries.nnz // 2:,} edges, 3 classes", loc="left", fontsize=9)
    save(figure, path)


def draw_runtimes(ours: Times, papers: Times, path: Path) -> None:
    """Draw Fig. 14: the time of a question and its update relative to tv, for the paper's algorithms and for ours."""
    figure, panels = canvas(1, 2, (9, 3.8))
    for axes, (words, times) in zip(panels[0], {"as the paper costs them": papers, "ours": ours}.items(), strict=True):
        _bars(axes, times)
        axes.set_title(words, loc="left", fontsize=9)
    panels[0][0].set_ylabel("time relative to tv", fontsize=9)
    figure.suptitle("Fig. 14. A question and its update, adaptive samplers (log scale)", fontsize=10)
    save(figure, path)


def _bars(axes: Any, times: Times) -> None:
    graphs = list(dict.fromkeys(graph for graph, _ in times))
    samplers = [name for name in STYLES if any((graph, name) in times for graph in graphs)]
    width = 0.8 / len(samplers)
    for k, name in enumerate(samplers):
        ratios = np.array([_quartiles(times[graph, name]) / np.median(times[graph, "tv"]) for graph in graphs])
        at = np.arange(len(graphs)) + (k - (len(samplers) - 1) / 2) * width
        axes.bar(at, ratios[:, 1], width * 0.9, color=STYLES[name]["color"])
        axes.vlines(at, ratios[:, 0], ratios[:, 2], color="#222222", linewidth=0.8)
        for x, (_, ratio, top) in zip(at, ratios, strict=True):
            axes.annotate(f"{name} {_short(ratio)}", (x, top), (0, 3), textcoords="offset points", **_UPRIGHT)
    axes.set_yscale("log")
    medians = [float(np.median(seconds)) for seconds in times.values()]
    axes.set_ylim(0.4, 12 * max(medians) / min(medians))
    axes.set_xticks(range(len(graphs)), [TITLES[graph].split(",")[0] for graph in graphs])


def _quartiles(seconds: Array) -> Array:
    return np.asarray(np.quantile(seconds, (0.25, 0.5, 0.75)))


_UPRIGHT: dict[str, Any] = {"rotation": 90, "ha": "center", "va": "bottom", "fontsize": 7}


def _short(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
