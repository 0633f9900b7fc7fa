"""Draw the paper's figures from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.paper.plan import OTHERS, PROPOSED, READOUTS, TITLES, Figure
from askgraph.paper.problems import Source
from askgraph.paper.run import Results
from askgraph.simulate.curves import STYLES, canvas, draw_curves, fit, name_ends, save
from askgraph.types import Array, IntArray

SIDES = {"proposed in the paper": (*PROPOSED, "random"), "the methods of others": OTHERS}
Times = Mapping[tuple[str, str], float]  # seconds of a question and its update, by (graph, sampler)


def draw_figure(figure: Figure, results: Results, path: Path) -> None:
    """Draw learning curves: rows are experiments, columns who proposed the samplers; dashed is the class-mass readout."""
    whole, panels = canvas(len(figure.rows), len(SIDES), (9, 3.5 * len(figure.rows)))
    drawn = []
    for row, (words, name) in zip(panels, figure.rows.items(), strict=True):
        for axes, (side, samplers) in zip(row, SIDES.items(), strict=True):
            solid, dashed = (_curves(results, figure, name, samplers, readout) for readout in READOUTS)
            draw_curves(axes, solid, dashed, _doubted(results, figure, name, samplers))
            drawn.append((axes, solid, dashed))
            axes.set_title(", ".join(filter(None, (side, words))), loc="left", fontsize=9)
        row[0].set_ylabel("accuracy on the unlabeled", fontsize=9)
    fit(panels, [groups for _, *both in drawn for groups in both])
    for axes, solid, _ in drawn:
        name_ends(axes, solid)
    dotted = "; dotted: with doubt" if any(_doubted(results, figure, x, ("eer",)) for x in figure.rows.values()) else ""
    first = results.experiments[next(iter(figure.rows.values()))]
    whole.suptitle(f"{figure.title} (means of {first.repeats} runs; dashed: class-mass readout{dotted})", fontsize=10)
    save(whole, path)


def _curves(
    results: Results, figure: Figure, experiment: str, samplers: Sequence[str], readout: str
) -> dict[str, Array]:
    """Return accuracies by sampler; eer and tsa without doubt, unless the figure compares doubt with none."""
    main = figure.plain if figure.plain and experiment == figure.data else experiment
    homes = {sampler: main if sampler in ("eer", "tsa") else experiment for sampler in samplers}
    return {sampler: results.curves(home, sampler, readout) for sampler, home in homes.items()}


def _doubted(results: Results, figure: Figure, experiment: str, samplers: Sequence[str]) -> dict[str, Array]:
    """eer and tsa with the paper's doubt, where they are drawn without."""
    if results.experiments[experiment].doubt is None or experiment != figure.data or not figure.plain:
        return {}
    return {sampler: results.curves(experiment, sampler) for sampler in samplers if sampler in ("eer", "tsa")}


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
    axes.set_axis_off()
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
    axes.set(xlim=(0, 1000), ylim=(1000, 0), aspect="equal")
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
        ratios = [times[graph, name] / times[graph, "tv"] for graph in graphs]
        at = np.arange(len(graphs)) + (k - (len(samplers) - 1) / 2) * width
        axes.bar(at, ratios, width * 0.9, color=STYLES[name]["color"], hatch=_HATCH.get(name))
        for x, ratio in zip(at, ratios, strict=True):
            axes.annotate(f"{name} {_short(ratio)}", (x, ratio), (0, 3), textcoords="offset points", **_UPRIGHT)
    axes.set_yscale("log")
    axes.set_ylim(0.4, 8 * max(times.values()) / min(times.values()))
    axes.set_xticks(range(len(graphs)), [TITLES[graph].split(",")[0] for graph in graphs])


_HATCH = {"fl": "///", "kl": "///", "unc": "///"}  # these share their color with another sampler
_UPRIGHT: dict[str, Any] = {"rotation": 90, "ha": "center", "va": "bottom", "fontsize": 7}


def _short(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
