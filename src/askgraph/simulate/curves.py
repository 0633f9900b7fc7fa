"""Pictures of learning curves: means over runs, and bands around them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.simulate.records import by_sampler
from askgraph.simulate.runs import Record
from askgraph.support.notebook import pyplot
from askgraph.types import Array

# One style per sampler, on every figure: no two share a color, and colors that are close to color-blind readers differ in marker.
STYLES: dict[str, dict[str, Any]] = {
    "influence": {"color": "#A50026", "marker": "h"},
    "tv": {"color": "#0072B2", "marker": "o"},
    "msd": {"color": "#D55E00", "marker": "s"},
    "klg": {"color": "#6A3D9A", "marker": "^"},
    "fl": {"color": "#009E73", "marker": "v"},
    "kl": {"color": "#CC79A7", "marker": "D"},
    "sigma": {"color": "#117733", "marker": "P"},
    "vm": {"color": "#882255", "marker": "X"},
    "eer": {"color": "#E69F00", "marker": "<"},
    "tsa": {"color": "#56B4E9", "marker": ">"},
    "unc": {"color": "#000000", "marker": "*"},
    "random": {"color": "#888888", "marker": "|"},
    "mc": {"color": "#44AA99", "marker": "d"},
    "mcvopt": {"color": "#332288", "marker": "p"},
    "dial": {"color": "#999933", "marker": "8"},
    "pwll": {"color": "#AA4499", "marker": "H"},
}
Size = tuple[float, float]  # width and height in inches


def learning_curves(records: Sequence[Record], path: str | os.PathLike[str], title: str = "") -> None:
    """Draw the mean accuracy against the number of labels: one line per sampler, with a band of two standard errors."""
    groups = {sampler: accuracies(runs) for sampler, runs in by_sampler(records).items()}
    figure, [[axes]] = canvas(1, 1, (7, 4.2))
    draw_curves(axes, groups)
    fit([[axes]], [groups])
    name_ends(axes, groups)
    most = max(len(runs) for runs in groups.values())
    words = f" (means of {most} runs, ± 2 standard errors)" if most > 1 else ""
    axes.set_title(title + words, loc="left", fontsize=10)
    axes.set_ylabel("accuracy on the unlabeled")
    save(figure, path)


def accuracies(runs: Sequence[Record]) -> Array:
    """Return the accuracies: one row per run, one column per label, up to the length of the shortest run."""
    shortest = min(len(run["accuracy"]) for run in runs)
    return np.array([run["accuracy"][:shortest] for run in runs])


def canvas(rows: int, columns: int, size: Size) -> tuple[Any, Any]:
    """Return a figure and its panels, one row of columns after another, which share their axes."""
    plt = pyplot()
    plt.switch_backend("Agg")
    plt.rcParams["svg.hashsalt"] = "askgraph"  # the same figure is the same file
    figure, axes = plt.subplots(
        rows, columns, figsize=size, dpi=150, layout="constrained", sharex=True, sharey=True, squeeze=False
    )
    for panel in axes.flat:
        panel.grid(alpha=0.25, linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
    return figure, axes


def draw_curves(axes: Any, groups: Mapping[str, Array], also: Mapping[str, Array] | None = None) -> None:
    """Draw one line and one band per sampler; ``also`` are further curves, dotted, named after a sampler and more words."""
    for words, runs in (also or {}).items():
        axes.plot(_labels(runs), runs.mean(axis=0), color=_color(words), linewidth=0.9, linestyle=(0, (1, 1.5)))
    for at, (sampler, runs) in enumerate(groups.items()):
        _draw_line(axes, sampler, runs, at)
    axes.set_xlabel("labels given")


def fit(panels: Any, every: Sequence[Mapping[str, Array]]) -> None:
    """Set the range of accuracies that all panels share: every mean fits in, bands may leave it."""
    means = np.concatenate([runs.mean(axis=0) for groups in every for runs in groups.values()])
    pad = 0.04 * (means.max() - means.min()) + 1e-3
    panels[0][0].set_ylim(means.min() - pad, means.max() + pad)


def name_ends(axes: Any, groups: Mapping[str, Array]) -> None:
    """Write the name of each sampler where its curve ends, moved apart where ends are close."""
    low, high = axes.get_ylim()
    ends = sorted(((runs.mean(axis=0)[-1], runs.shape[1], sampler) for sampler, runs in groups.items()), reverse=True)
    rows = axes.get_subplotspec().get_gridspec().nrows
    gap = 11.5 / (axes.figure.get_figheight() / rows * 0.72 * 72) * (high - low)
    for (end, size, sampler), place in zip(ends, _move_apart([end for end, _, _ in ends], gap, low), strict=True):
        line = {
            "arrowstyle": "-",
            "color": _color(sampler),
            "linewidth": 0.6,
            "shrinkA": 0,
            "shrinkB": 0,
            "patchA": None,  # the line begins at the word's edge anyway: clipping it there takes a second per figure
            "relpos": (0, 0.5),
        }
        words = {"va": "center", "fontsize": 9, "color": _color(sampler), "annotation_clip": False}
        axes.annotate(sampler, (size, end), (size * 1.07, place), arrowprops=line, **words)


def _draw_line(axes: Any, sampler: str, runs: Array, at: int) -> None:
    mean, labels = runs.mean(axis=0), _labels(runs)
    every = max(1, mean.size // 8)
    marks = {"markevery": (at * every // 7 % every, every), "markersize": 4}
    axes.plot(labels, mean, linewidth=1.6, **marks, **STYLES.get(sampler, {}))
    if len(runs) > 1:
        band = 2 * np.std(runs, axis=0, ddof=1) / np.sqrt(len(runs))
        axes.fill_between(labels, mean - band, mean + band, color=_color(sampler), alpha=0.13, linewidth=0)


def _move_apart(ends: Sequence[float], gap: float, low: float) -> list[float]:
    """Return places near the ends, from the top down, at least a gap apart and above the axis."""
    places: list[float] = []
    for end in ends:
        places.append(min(end, places[-1] - gap) if places else end)
    for k in range(len(places) - 1, -1, -1):
        floor = low if k == len(places) - 1 else places[k + 1] + gap
        places[k] = max(places[k], floor)
    return places


def _labels(runs: Array) -> Any:
    return np.arange(1, runs.shape[1] + 1)


def _color(words: str) -> str:
    """Return the color of the sampler that is the first of these words."""
    return str(STYLES.get(words.split()[0].rstrip(","), {}).get("color", "black"))


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file whose suffix says the format, and close the figure."""
    plt, path = pyplot(), Path(path)
    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".") not in kinds:
        raise FileError(f"{path}: cannot draw that kind of file; end the name in .png, .svg or .pdf")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    finally:
        plt.close(figure)
