"""Tables and a plot of the records of label_efficiency.py."""

from __future__ import annotations

import numpy as np
from labeled_graphs import GROUPS, NAMES, majority
from measure import write_csv
from peers_curves import PEERS
from scipy import stats

from askgraph.simulate import curves
from askgraph.simulate.records import labels_needed, mean_curve

MARKS = (2, 5, 10, 20)  # labels per class at which accuracy and calibration are read
LEVELS = (0.8, 0.9, 0.95)  # shares of the accuracy with all labels
LOOKS = {  # methods that are drawn: colors that color-blind readers can tell apart, peers dashed
    "influence+cautious": {"color": "#0072B2", "linewidth": 2.4},
    "influence+tempered": {"color": "#56B4E9"},
    "paper": {"color": "#D55E00"},
    "random+cautious": {"color": "#888888"},
    "random+map": {"color": "#888888", "linestyle": ":"},
    "poisson+margin": {"color": "#009E73", "linestyle": "--"},
    "laplace+mcvopt": {"color": "#CC79A7", "linestyle": "--"},
    "pwll+norm": {"color": "#E69F00", "linestyle": "--"},
    "spreading+margin": {"color": "#000000", "linestyle": "--"},
}


def trapezoid(curve):
    return float(np.mean((curve[1:] + curve[:-1]) / 2))


class Cell:
    """The records of a method on a graph, one per seed; none of them failed."""

    def __init__(self, records, classes):
        self.records, self.classes, self.curve = records, classes, mean_curve(records)
        self.aucs = np.array([trapezoid(np.array(record["accuracy"])) for record in records])  # one per seed
        self.auc = trapezoid(self.curve)
        self.all = np.mean([record["all"] for record in records])
        self.seconds = np.mean([record["seconds"] for record in records])

    def at(self, mark):
        """Return the accuracy at a number of labels per class, or None beyond the budget."""
        return self.curve[mark * self.classes - 1] if mark * self.classes <= len(self.curve) else None

    def calibration(self, mark):
        found = [record["calibration"].get(str(mark)) for record in self.records]
        return None if None in found else np.mean(found)

    def needed(self, accuracy):
        """Return the labels per class at which the mean curve reaches an accuracy, or None."""
        labels = labels_needed(self.records, accuracy)
        return labels and labels / self.classes


def cells_of(records, problems):
    """Return {graph: {method: cell}}, without methods that failed."""
    cells = {graph: {} for graph in problems}
    for graph, method in dict.fromkeys((r["graph"], r["method"]) for r in records):
        mine = [r for r in records if (r["graph"], r["method"]) == (graph, method)]
        if not any("failed" in r for r in mine):
            cells[graph][method] = Cell(mine, len(problems[graph].classes))
    return cells


def grouped(cells):
    """Return the graphs of each group that have records."""
    for group, graphs in GROUPS.items():
        if present := [graph for graph in graphs if cells.get(graph)]:
            yield group, {graph: cells[graph] for graph in present}


def regrets(cells, method):
    """Return {graph: distance of the mean curve below that of the best method}, without graphs on which the method failed."""
    return {g: max(c.auc for c in row.values()) - row[method].auc for g, row in cells.items() if method in row}


def ranks(cells, method):
    """Return the rank of a method on each graph; equal methods share a rank, and one that failed ranks behind all others."""
    for row in cells.values():
        others, mine = [c.auc for m, c in row.items() if m != method], row[method].auc if method in row else -1.0
        yield 1 + sum(auc > mine for auc in others) + sum(auc == mine for auc in others) / 2


HEADS = (
    "method | mean AUC | mean rank | worst regret | at 2C | 5C | 10C | 20C | labels per class to 80 % | 90 % | 95 % | "
    "calibration error at 5C | 10C | seconds"
)
WORDS = """
- AUC: trapezoid mean of the accuracy on unlabeled nodes over 1 … T labels, T = min(20 C, 150, n/2), C classes (ecoli8_short:
  T = 24); mean of seeds.
- Regret: how far below the best method here on that graph.
- At 2C: after two labels per class; mean of the graphs whose budget goes so far.
- To 80 %: labels per class until the mean curve first reaches 80 % of the accuracy with all labels: what the best method here
  gets on a random tenth of the nodes when all others are labeled. Where the budget ends first, all of it counts, and (8/10)
  says that 8 of 10 graphs got there.
- Calibration error: ten equal bins of the top probability, over unlabeled nodes.
- Seconds: a curve on one core, set-up and a readout after every label included.
- A method with * failed on some graphs: there it ranks last, and its other figures are without them.
"""


def tables(cells, methods):
    for group, mine in grouped(cells):
        print(f"\n### {group.capitalize()}: {', '.join(mine)}\n\n| {HEADS} |\n|{'---|' * 14}")
        for method in methods:
            if any(method in row for row in mine.values()):
                print(f"| {' | '.join(row_of(mine, method))} |")
    print(WORDS)
    for group, mine in grouped(cells):
        print(f"\n### AUC, {group}\n\n| graph | {' | '.join(methods)} |\n|---|{'---|' * len(methods)}")
        for graph, row in mine.items():
            print(f"| {graph} | {' | '.join(auc_of(row, method) for method in methods)} |")


DEFAULT, RANDOM = "influence+cautious", "random+cautious"
SMOOTHED = 20  # labels over which the difference is smoothed
READ, FROM = 5, 2  # labels between two readings; labels per class at the first one
LARGE = 1_000  # nodes of the graphs whose falls are looked at


def against_random(cells, problems):
    """Print the default beside random questions with the same readout, how it falls, and the commonest class at the end."""
    rows = {graph: row for graph, row in cells.items() if DEFAULT in row and RANDOM in row}
    heads = (
        "graph | seeds | AUC | random | difference (95 %) | least over 20 labels | largest fall | accuracy at the end | "
        "commonest class of as many random labels"
    )
    print(f"\n### {DEFAULT} against {RANDOM}, and against the commonest class\n\n| {heads} |\n|{'---|' * 9}")
    for graph, row in rows.items():
        mine, random, (gap, low, high) = row[DEFAULT], row[RANDOM], difference(row)
        interval = f"{gap:+.3f} ({low:+.3f} to {high:+.3f})"
        fall = f"{largest_fall(mine):.3f}" if problems[graph].graph.n_nodes >= LARGE else "–"
        commonest = majority(problems[graph], len(mine.curve))
        lowest = least(mine.curve - random.curve)
        print(
            f"| {graph} | {mine.aucs.size} | {mine.auc:.3f} | {random.auc:.3f} | {interval} | {lowest:+.3f} | {fall} | "
            f"{mine.curve[-1]:.3f} | {commonest:.3f} |"
        )
    print(
        f"\n- Least over {SMOOTHED} labels: the least mean of the difference over {SMOOTHED} labels in a row."
        f"\n- Largest fall: from {FROM} labels per class on, between readings {READ} labels apart; mean of seeds; on graphs of at "
        f"least {LARGE:,} nodes."
    )


def difference(row):
    """Return how far the default is ahead of random questions, paired by seed, and the ends of the 95 % interval."""
    gap = row[DEFAULT].aucs - row[RANDOM].aucs
    reach = stats.t.ppf(0.975, gap.size - 1) * gap.std(ddof=1) / gap.size**0.5 if gap.size > 1 else np.nan
    return gap.mean(), gap.mean() - reach, gap.mean() + reach


def write_tables(cells, problems, methods, folder):
    """Write what docs/measured/every_graph.md shows: every graph and method, in csv files."""
    every, by_graph, beside_random, reached, means = [], [], [], [], []
    for group, mine in grouped(cells):
        for graph, row in mine.items():
            every += [(group, NAMES[graph], method, f"{row[method].auc:.3f}") for method in methods if method in row]
            by_graph.append((group, NAMES[graph], *(read(row, method) for method in SHOWN), *best_peer(row)))
            if DEFAULT in row and RANDOM in row:
                gap = [f"{x:+.3f}" for x in difference(row)]
                commonest = f"{majority(problems[graph], len(row[DEFAULT].curve)):.3f}"
                end = f"{row[DEFAULT].curve[-1]:.3f}"
                both = (read(row, DEFAULT), read(row, RANDOM))
                beside_random.append((NAMES[graph], row[DEFAULT].aucs.size, *both, *gap, end, commonest))
        for method in (method for method in methods if any(method in row for row in mine.values())):
            name, auc, rank, worst, *others = row_of(mine, method)
            regret, on = worst.removesuffix(")").split(" (")
            means.append((group, name, auc, rank, regret, NAMES[on], *others[:4], others[-1]))
            reached.append((group, name, *others[4:-1]))
    write_csv(folder / "accuracy_all.csv", ("group", "graph", "method", "accuracy"), every)
    write_csv(folder / "accuracy_by_graph.csv", GRAPH_HEADS, by_graph)
    write_csv(folder / "accuracy_beside_random.csv", RANDOM_HEADS, beside_random)
    write_csv(folder / "accuracy_methods.csv", MEANS_HEADS, means)
    write_csv(folder / "accuracy_reached.csv", REACHED_HEADS, reached)


SHOWN = (DEFAULT, RANDOM, "paper")
GRAPH_HEADS = ("group", "graph", "askgraph", "random questions", "the paper's TV", "best peer", "which peer")
RANDOM_HEADS = (
    *("graph", "seeds", "askgraph", "random questions", "difference", "from", "to"),
    *("at the end", "commonest class"),
)
MEANS_HEADS = (
    *("group", "method", "accuracy", "rank", "worst regret", "on"),
    *("at 2 labels per class", "at 5", "at 10", "at 20", "seconds"),
)
REACHED_HEADS = (
    *("group", "method", "labels per class to 80 %", "to 90 %", "to 95 %"),
    *("calibration error at 5 labels per class", "at 10"),
)


def read(row, method):
    return f"{row[method].auc:.3f}" if method in row else ""


def best_peer(row):
    """Return the accuracy and the name of the best method that is not ours; nothing where none was run."""
    best = max((method for method in PEERS if method in row), key=lambda method: row[method].auc, default=None)
    return (read(row, best), best) if best else ("", "")


def least(difference):
    """Return the least mean of a difference over SMOOTHED labels in a row."""
    width = min(SMOOTHED, difference.size)
    return np.convolve(difference, np.full(width, 1 / width), "valid").min()


def largest_fall(cell):
    """Return the largest fall of each curve between two readings, as the mean of seeds."""
    read = [np.array(record["accuracy"])[FROM * cell.classes - 1 :: READ] for record in cell.records]
    return np.mean([max(0.0, -np.diff(curve).min(initial=0.0)) for curve in read])


FALLS = (("influence+cautious", "influence+consensus"), ("random+cautious", "random+consensus"))  # read the same labels
APART = 4  # labels between two readings
STEEP = (0.05, 0.15)


def falls(cells, problems):
    """Print how often a readout loses more from one reading to the next than another one does with the same labels."""
    print(f"\n### Falls between readings {APART} labels apart, on graphs of at least {LARGE:,} nodes\n")
    print(f"| falls by more than the other | pairs | by {STEEP[0]} | by {STEEP[1]} | most |\n|---|---|---|---|---|")
    for one, other in FALLS:
        pairs = [
            np.array(other_record["accuracy"]) - np.array(record["accuracy"])
            for graph, row in cells.items()
            if one in row and other in row and problems[graph].graph.n_nodes >= LARGE
            for record, other_record in zip(row[one].records, row[other].records, strict=True)
        ]
        if pairs:
            lost = np.concatenate([np.diff(behind[APART - 1 :: APART]) for behind in pairs])
            steep = " | ".join(str(int((lost > step).sum())) for step in STEEP)
            print(f"| {one} than {other} | {lost.size:,} | {steep} | {lost.max():.3f} |")


def row_of(cells, method):
    mine, regret = [row[method] for row in cells.values() if method in row], regrets(cells, method)
    worst = max(regret, key=regret.get)
    return [
        method + ("" if len(mine) == len(cells) else " *"),
        f"{np.mean([cell.auc for cell in mine]):.3f}",
        f"{np.mean(list(ranks(cells, method))):.1f}",
        f"{regret[worst]:.3f} ({worst})",
        *(mean_of([cell.at(mark) for cell in mine]) for mark in MARKS),
        *(needed_by(cells, method, level) for level in LEVELS),
        *(mean_of([cell.calibration(mark) for cell in mine]) for mark in (5, 10)),
        f"{np.mean([cell.seconds for cell in mine]):.2f}",
    ]


def mean_of(values):
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.3f}" if known else "–"


def needed_by(cells, method, level):
    rows = [row for row in cells.values() if method in row]
    found = [row[method].needed(level * max(cell.all for cell in row.values())) for row in rows]
    spent = [x or len(row[method].curve) / row[method].classes for x, row in zip(found, rows, strict=True)]
    reached = len(found) - found.count(None)
    return f"{np.mean(spent):.1f}" + ("" if reached == len(found) else f" ({reached}/{len(found)})")


def auc_of(row, method):
    if method not in row:
        return "failed"
    best = row[method].auc == max(cell.auc for cell in row.values())
    return f"**{row[method].auc:.3f}**" if best else f"{row[method].auc:.3f}"


def failures(records):
    for record in records:
        if "failed" in record:
            print(f"- {record['method']} failed on {record['graph']}, seed {record['seed']}: {record['failed']}")


def plot(cells, methods, path):
    """Draw one column per group: mean accuracy against labels per class, and the distance of each method below the best."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    groups, drawn = list(grouped(cells)), [method for method in LOOKS if method in methods]
    size = {"figsize": (1.2 + 3.9 * len(groups), 6.6), "height_ratios": (3, 2), "layout": "constrained", "dpi": 150}
    figure, axes = plt.subplots(2, len(groups), squeeze=False, **size)
    for (upper, lower), (group, mine) in zip(axes.T, groups, strict=True):
        draw_curves(upper, mine, drawn)
        upper.set_title(f"{group}, mean of {len(mine)}", loc="left", fontsize=11)
        draw_regrets(lower, mine, drawn)
    for axis in axes.flat:
        axis.grid(alpha=0.25, linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("accuracy on the unlabeled")
    lines = {line.get_label(): line for axis in axes[0] for line in axis.get_lines()}
    columns = {"ncols": min(5, 2 * len(groups)), "loc": "outside lower center"}
    figure.legend(lines.values(), lines.keys(), frameon=False, fontsize=9, **columns)
    curves.save(figure, path)


def draw_curves(axis, cells, methods):
    """Draw the mean over graphs, up to the shortest curve; a method that failed on one of them has no line."""
    some = [next(iter(row.values())) for row in cells.values()]
    low, high = max(1 / cell.classes for cell in some), min(len(cell.curve) / cell.classes for cell in some)
    x = np.linspace(low, high, 200)
    for method in methods:
        mine = [row[method] for row in cells.values() if method in row]
        if len(mine) == len(cells):
            y = [np.interp(x, np.arange(1, len(cell.curve) + 1) / cell.classes, cell.curve) for cell in mine]
            axis.plot(x, np.mean(y, axis=0), label=method, **{"linewidth": 1.5, **LOOKS[method]})
    axis.set_xlabel("labels per class")


def draw_regrets(axis, cells, methods):
    """Draw the mean regret as bars, and the regret on each graph as dots."""
    for place, method in enumerate(methods):
        found, color = list(regrets(cells, method).values()), LOOKS[method]["color"]
        axis.barh(place, np.mean(found) if found else 0.0, color=color, alpha=0.35, height=0.7)
        axis.plot(found, [place] * len(found), "o", color=color, markersize=3.5, alpha=0.9)
    axis.set_yticks(range(len(methods)), methods if axis.get_subplotspec().is_first_col() else [""] * len(methods))
    axis.invert_yaxis()
    axis.set_xlabel("AUC below the best (bar: mean, dot: a graph)")
