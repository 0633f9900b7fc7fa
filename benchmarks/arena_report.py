"""The tables and the picture of docs/arena.md, from the records of the arena.

python benchmarks/arena_report.py

reads records/arena_*.jsonl, prints a table per track, and writes records/arena.csv (one row per track, set and method) and
docs/arena.png. The page with all tracks: askgraph arena report benchmarks/records/*.jsonl -o arena.html
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

from askgraph.arena.results import tables, write_summaries
from askgraph.arena.sets import TRACKS
from askgraph.simulate.records import Lines

HERE = Path(__file__).parent
DRAWN = {
    "graph": "A graph alone",
    "features": "A graph with features",
    "noisy-30": "30 % of the answers wrong",
    "rows": "Rows without a graph",
}
OURS, RANDOM = "askgraph", "askgraph, random"
BLUE, ORANGE, GRAY, INK = "#0072B2", "#D55E00", "#B9BEC6", "#1B1B1B"
TICKS = (2, 5, 10, 20)
STYLE = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#7A828E",
    "xtick.color": "#4A515C",
    "ytick.color": "#4A515C",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--smoke", action="store_true", help="write into this folder")
    here = Path.cwd() if parser.parse_args().smoke else None
    records = [one for path in sorted((HERE / "records").glob("arena_*.jsonl")) for one in Lines(path).read()]
    order = list(TRACKS)
    made = sorted(tables(records), key=lambda table: order.index(table.track))
    print(f"{overview(made)}\n")
    for table in made:
        print(f"### {table.track}\n\n{markdown(table)}\n")
    write_summaries((here or HERE / "records") / "arena.csv", records)
    draw({table.track: table for table in made}, (here or HERE.parent / "docs") / "arena.png")


def overview(made):
    """Return one row per track: accuracy over the curve in percent, of askgraph, of its random questions, and of the best peer."""
    lines = ["| track | sets | askgraph | its random questions | best peer | that peer |", "|---|---|---|---|---|---|"]
    for table in made:
        means = {row.name: row.mean.value for row in table.rows}
        best = best_peer(table)
        three = [f"{100 * means[OURS]:.1f}", f"{100 * means[RANDOM]:.1f}", best, f"{100 * means[best]:.1f}"]
        lines.append(f"| `{table.track}` | {len(table.sets)} | {' | '.join(three)} |")
    return "\n".join(lines)


def best_peer(table):
    """Return the peer with the highest mean over the curve."""
    return max((row for row in table.rows if row.name not in (OURS, RANDOM)), key=lambda row: row.mean.value).name


def markdown(table):
    """Return the accuracy over the curve, in percent, on each set and on average, with the range, the rank and CPU seconds."""
    heads = ["", *table.sets, "mean", "rank", "CPU s"]
    best = {one: max(scores.values()) for one, scores in table.by_set.items()}
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in table.rows:
        scores = [bold(table.by_set[one][row.name], best[one]) for one in table.sets]
        mean = f"{100 * row.mean.value:.1f}" + (
            "" if row.mean.low is None else f" ({100 * row.mean.low:.0f} to {100 * row.mean.high:.0f})"
        )
        lines.append(f"| {' | '.join([row.name, *scores, mean, f'{row.rank.value:.1f}', f'{row.seconds:.1f}'])} |")
    return "\n".join(lines)


def bold(score, best):
    return f"**{100 * score:.1f}**" if score == best else f"{100 * score:.1f}"


def draw(found, path):
    """Draw the mean accuracy over labels per class: a panel per track, the rival in color, other peers in gray."""
    plt.switch_backend("Agg")
    with mpl.rc_context(STYLE):
        figure, panels = plt.subplots(1, len(DRAWN), figsize=(11, 3.6), layout="constrained")
        for axes, (track, title) in zip(panels, DRAWN.items(), strict=True):
            panel(axes, found[track], f"{title}, {len(found[track].sets)} sets")
        panels[0].set_ylabel("accuracy, %")
        figure.savefig(path, dpi=160)
    print(f"{path.name} is written, {path.stat().st_size / 1000:.0f} kB")


def panel(axes, table, title):
    peers = [row.name for row in table.rows if row.name not in (OURS, RANDOM)]
    best = best_peer(table)
    for name in peers:
        if name != best:
            axes.plot(*percent(table.curves[name]), color=GRAY, linewidth=1, zorder=1)
    looks = {best: (ORANGE, "--", 1.8), RANDOM: (BLUE, ":", 1.8), OURS: (BLUE, "-", 2.6)}
    for name, (color, dashes, width) in looks.items():
        label = "askgraph, random questions" if name == RANDOM else name
        axes.plot(*percent(table.curves[name]), color=color, linestyle=dashes, linewidth=width, label=label)
    axes.set_xscale("log")
    axes.set_xticks(TICKS, TICKS)
    axes.minorticks_off()
    axes.set(title=title, xlabel="labels per class")
    axes.grid(axis="y", color="#E6E8EB")
    axes.set_axisbelow(True)
    handles = axes.get_legend_handles_labels()
    axes.legend(
        *(part[::-1] for part in handles), frameon=False, fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.19)
    )


def percent(curve):
    return curve[0], 100 * curve[1]


if __name__ == "__main__":
    main()
