"""Learning curves as pictures: reads records, computes nothing but means and bands."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.simulate import Record, by_sampler, mean_curve

# One look a sampler, on every figure; colours that colour-blind readers tell apart (Okabe & Ito), doubled by line styles.
STYLES: dict[str, dict[str, Any]] = {
    "tv": {"color": "#0072B2"},
    "msd": {"color": "#D55E00"},
    "random": {"color": "#777777", "linestyle": ":"},
    "sigma": {"color": "#009E73"},
    "vm": {"color": "#CC79A7"},
    "eer": {"color": "#E69F00", "linestyle": "--"},
    "tsa": {"color": "#56B4E9", "linestyle": "--"},
    "fl": {"color": "#009E73", "linestyle": "-."},
    "kl": {"color": "#CC79A7", "linestyle": "-."},
    "klg": {"color": "#000000", "linestyle": "-."},
    "unc": {"color": "#000000", "linestyle": ":"},
}


def learning_curves(records: Sequence[Record], path: str | os.PathLike[str], title: str = "") -> None:
    """Mean accuracy against the number of labels, a line a sampler, with a band of two standard errors."""
    figure, axes = _canvas()
    groups = by_sampler(records)
    for sampler, runs in groups.items():
        _curve(axes, sampler, runs)
    _end_labels(axes, groups)
    axes.set_xlabel("labels given")
    axes.set_ylabel("accuracy on the unlabeled")
    most = max(len(runs) for runs in groups.values())
    axes.set_title(
        title + (f" (means of {most} runs, ± 2 standard errors)" if most > 1 else ""), loc="left", fontsize=10
    )
    _save(figure, Path(path))


def _canvas() -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), dpi=150, layout="constrained")
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _curve(axes: Any, sampler: str, runs: Sequence[Record]) -> None:
    mean = mean_curve(runs)
    labels = np.arange(1, mean.size + 1)
    style = STYLES.get(sampler, {})
    (line,) = axes.plot(labels, mean, linewidth=1.8, **style)
    if len(runs) > 1:
        spread = np.std([run["accuracy"][: mean.size] for run in runs], axis=0, ddof=1) / np.sqrt(len(runs))
        axes.fill_between(labels, mean - 2 * spread, mean + 2 * spread, color=line.get_color(), alpha=0.15, linewidth=0)


def _end_labels(axes: Any, groups: dict[str, list[Record]]) -> None:
    """Each curve is named where it ends, the names moved apart where ends are close."""
    low, high = axes.get_ylim()
    ends = sorted(
        ((mean_curve(runs)[-1], mean_curve(runs).size, sampler) for sampler, runs in groups.items()), reverse=True
    )
    place = high
    for end, size, sampler in ends:
        place = min(end, place - 0.055 * (high - low))
        color = STYLES.get(sampler, {}).get("color", "black")
        axes.annotate(sampler, (size, end), (size * 1.02, place), va="center", color=color, annotation_clip=False)


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot as plt

    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".") not in kinds:
        raise FileError(f"{path}: cannot draw that kind of file; end the name in .png, .svg or .pdf")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    finally:
        plt.close(figure)
