"""Draw the pictures of docs/answers.md and of docs/questions: each from the example beside it, or from one like it.

python docs/make_pictures.py [FOLDER] [--only questions/think,answers-numbers]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Rectangle, Wedge
from PIL import Image
from sklearn.datasets import load_digits, load_iris

import askgraph as ag
from askgraph.layout import layout

DOCS = Path(__file__).resolve().parent
SIZE = (4.8, 2.7)  # inches: letters of 9 points stay readable where the picture is 360 pixels wide
DOTS = 200  # per inch
COLORS = 64  # of a picture, which keeps its file small
BLUE, ORANGE, GREEN, INK, PALE = "#0072B2", "#E08214", "#00876C", "#1B1B1B", "#C9CED6"
STEPS = ("#FFF3C4", "#F9C46B", "#E8743B", "#8C1C2B")  # light to dark, so that the order shows without color
STYLE = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlepad": 4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#7A828E",
    "axes.labelcolor": INK,
    "xtick.color": "#4A515C",
    "ytick.color": "#4A515C",
    "legend.frameon": False,
}


def iris() -> tuple[np.ndarray, np.ndarray, ag.Graph]:
    """Return the petals of 150 flowers, their species, and the graph of flowers that are alike."""
    data = load_iris()
    rng = np.random.default_rng(0)
    petals = data.data[:, 2:] + rng.uniform(-0.04, 0.04, size=(150, 2))  # many flowers measure the same to a millimeter
    return petals, data.target_names[data.target], ag.nearest_neighbors(data.data, k=10)


SPECIES = {"setosa": BLUE, "versicolor": ORANGE, "virginica": GREEN}


def one_class() -> Figure:
    """Flowers in the color of their prediction, faint where it is doubtful; rings are those that were asked for."""
    petals, species, graph = iris()
    learner = ag.Learner(graph, rng=0)
    for _ in learner.run(lambda flower: str(species[flower]), budget=12):
        pass
    figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
    flowers(axes, petals, learner)
    asked = list(learner.labels)
    axes.scatter(*petals[asked].T, s=95, facecolors="none", edgecolors=INK, linewidths=1.3, zorder=4)
    legend(axes, [ring("asked")])
    return figure


def one_of() -> Figure:
    """The same where some answers are one of two species: these are drawn in both colors."""
    petals, species, graph = iris()
    learner = ag.Learner(graph, classes=list(SPECIES), rng=0)
    for _ in learner.run(lambda flower: botanist(flower, str(species[flower])), budget=12):
        pass
    figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
    flowers(axes, petals, learner)
    figure.canvas.draw()
    for flower, said in learner.labels.items():
        pie(axes, petals[flower], [(said, 1.0)] if isinstance(said, str) else said.shares)
    legend(axes, [ring("asked: sure, or one of two")])
    return figure


def botanist(flower: int, species: str) -> object:
    """Say which species a flower is, or of every other one of two that look alike, that it is one of them."""
    return species if species == "setosa" or flower % 2 else ag.one_of("versicolor", "virginica")


def flowers(axes: Axes, petals: np.ndarray, learner: ag.Learner) -> None:
    """Draw a dot per flower, in the color of its prediction."""
    sure = (learner.probabilities().max(axis=1) - 1 / 3) * 1.5
    predicted = learner.predict()
    for name, color in SPECIES.items():
        here = predicted == name
        axes.scatter(*petals[here].T, s=22, color=color, alpha=np.clip(sure[here], 0.15, 1.0), linewidths=0)
    axes.set(xlabel="length of the petals in cm", ylabel="width in cm")


def legend(axes: Axes, more: list[Line2D]) -> None:
    """Name the colors."""
    dots = [Line2D([], [], marker="o", linestyle="", color=color, label=name) for name, color in SPECIES.items()]
    axes.legend(handles=[*dots, *more], loc="upper left", handletextpad=0.2, borderaxespad=0)


def ring(words: str) -> Line2D:
    """Return the entry of a legend for what was asked."""
    return Line2D([], [], marker="o", linestyle="", markersize=9, markerfacecolor="none", color=INK, label=words)


def pie(axes: Axes, at: np.ndarray, shares: object) -> None:
    """Draw a circle with as much of each color as the answer gives to the class; as round as the axes are not square."""
    x, y = axes.transData.transform(at)
    begin = 90.0
    for name, share in shares:
        end = begin + 360 * share
        axes.add_artist(Wedge((x, y), 13, begin, end, color=SPECIES[name], transform=None, zorder=4, linewidth=0))
        begin = end
    axes.add_artist(plt.Circle((x, y), 13, fill=False, color=INK, linewidth=1.3, transform=None, zorder=5))


DAMAGE = ["none", "light", "heavy", "ruin"]


def houses() -> np.ndarray:
    """Return how much each house of a town of 12 by 18 has suffered: a step from 0 to 3, by the distance from one place."""
    row, column = np.divmod(np.arange(12 * 18), 18)
    return np.digitize(np.hypot(row - 4, column - 5), [10.0, 7.0, 4.0])


def ordered() -> Figure:
    """A town in the colors of its damage, and the chances of one house with its median and range."""
    damage, learner = houses(), ag.Learner(ag.grid(12, 18), answers=ag.Ordered(DAMAGE), rng=0)
    for _ in learner.run(lambda house: DAMAGE[damage[house]], budget=20):
        pass
    figure, (town, chances) = plt.subplots(1, 2, figsize=(SIZE[0], 2.3), layout="constrained", width_ratios=(1.9, 1))
    step = {name: k for k, name in enumerate(DAMAGE)}
    colors = mpl.colors.ListedColormap(STEPS)
    town.imshow(
        [[step[name] for name in part] for part in learner.predict().reshape(12, 18)], cmap=colors, vmin=0, vmax=3
    )
    asked = np.array(list(learner.labels))
    town.scatter(asked % 18, asked // 18, s=22, facecolors="none", edgecolors=INK, linewidths=1.2)
    house = 8 * 18 + 9
    town.add_patch(Rectangle((house % 18 - 0.5, house // 18 - 0.5), 1, 1, fill=False, linewidth=2, color=BLUE))
    town.set(xticks=[], yticks=[], title="the town: 20 houses asked")
    town.spines[:].set_visible(False)

    p = learner.probabilities([house])[0]
    (median,), (low,), (high,) = learner.predict([house], interval=0.8)
    bars = chances.barh(range(4), p, color=STEPS, edgecolor="#7A828E", linewidth=0.6)
    bars[step[median]].set(edgecolor=BLUE, linewidth=2)
    end = p.max() * 1.12
    chances.plot([end, end], [step[low] - 0.35, step[high] + 0.35], color=BLUE, linewidth=2, solid_capstyle="butt")
    chances.set(yticks=range(4), yticklabels=DAMAGE, xticks=[], title="one of the others")
    chances.tick_params(axis="y", length=0)
    chances.spines["bottom"].set_visible(False)
    chances.text(end * 1.04, (step[low] + step[high]) / 2, "80 %", color=BLUE, va="center")
    chances.set_xlim(0, end * 1.45)
    return figure


TAGS = ["loop", "even", "above 4"]


def tags_of(digit: int) -> list[str]:
    """Return what a digit has: a loop, no remainder, a size."""
    has = (digit in (0, 6, 8, 9), digit % 2 == 0, digit > 4)
    return [tag for tag, one in zip(TAGS, has, strict=True) if one]


def several() -> Figure:
    """Digits that nobody was asked about, with how likely they have each of three classes."""
    X, digits = load_digits(return_X_y=True)
    learner = ag.Learner(ag.nearest_neighbors(X, k=10), answers="several", classes=TAGS, rng=0)
    for _ in learner.run(lambda node: tags_of(int(digits[node])), budget=40):
        pass
    shown = [
        next(k for k in range(1000, 1797) if digits[k] == digit and k not in learner.labels)
        for digit in (0, 1, 4, 6, 7, 9)
    ]
    p, predicted = learner.probabilities(shown), learner.predict(shown)
    figure, axes = plt.subplots(1, len(shown), figsize=(SIZE[0], 1.75), layout="constrained")
    for one, node, chances, has in zip(axes, shown, p, predicted, strict=True):
        one.imshow(X[node].reshape(8, 8), cmap="Greys", extent=(0, 1, 1.25, 2.25), interpolation="bilinear")
        for line, (tag, chance) in enumerate(zip(TAGS, chances, strict=True)):
            chip(one, 0.82 - 0.4 * line, tag, float(chance), tag in has)
        one.set(xlim=(-0.02, 1.02), ylim=(-0.05, 2.27), aspect="equal")
        one.axis("off")
    return figure


def chip(axes: Axes, bottom: float, words: str, chance: float, has: bool) -> None:
    """Draw a class as a box that is filled as far as it is likely."""
    shape = {"boxstyle": "round,pad=0,rounding_size=0.08", "linewidth": 1.2 if has else 0.6}
    edge = BLUE if has else PALE
    box = FancyBboxPatch((0, bottom), 1, 0.3, facecolor="white", edgecolor=edge, zorder=1, **shape)
    axes.add_patch(box)
    filled = Rectangle((0, bottom), chance, 0.3, facecolor=BLUE, alpha=0.25, linewidth=0, zorder=2)
    axes.add_patch(filled)
    filled.set_clip_path(box)
    color = INK if has else "#6A727D"
    axes.text(0.5, bottom + 0.145, words, ha="center", va="center", fontsize=8, color=color, zorder=3)


def numbers() -> Figure:
    """The flowers again, by the width of their petals: what is predicted of three other measures, with a range, and the truth."""
    data = load_iris().data
    others, width = data[:, :3], data[:, 3]
    learner = ag.Learner(ag.nearest_neighbors(others, k=10), answers=ag.Numbers(unit="cm"), features=others, rng=0)
    for _ in learner.run(lambda flower: float(width[flower]), budget=16):
        pass
    value, low, high = learner.predict(interval=0.9)
    rest = np.setdiff1d(np.arange(150), list(learner.labels))
    rest = rest[np.argsort(value[rest])]
    place = np.arange(rest.size)
    figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
    axes.fill_between(place, low[rest], high[rest], color=BLUE, alpha=0.18, linewidth=0, label="holds 9 of 10")
    axes.plot(place, value[rest], color=BLUE, linewidth=1.8, label="predicted")
    axes.scatter(place, width[rest], s=7, color=INK, linewidths=0, label="the truth", zorder=3)
    axes.set(
        xlabel="flowers, by what is predicted", ylabel="width of the petals in cm", xticks=[], xlim=(0, rest.size - 1)
    )
    axes.legend(loc="upper left", borderaxespad=0, handlelength=1.4)
    return figure


WIDE = (7.2, 2.7)  # inches: the pictures of questions are 640 pixels wide or more


def think() -> Figure:
    """A chain of five nodes, labeled at both ends: what each label says of the nodes between, and what is asked next."""
    learner = ag.Learner(ag.chain(5), classes=["ham", "spam"], rng=0)
    learner.tell(0, "ham")
    learner.tell(4, "spam")
    votes, place = learner.field.votes, np.arange(5)
    figure, axes = plt.subplots(figsize=WIDE, layout="constrained")
    axes.plot([0, 4], [-0.22, -0.22], color=PALE, linewidth=2, zorder=1)
    for column, (name, color) in enumerate((("ham", BLUE), ("spam", ORANGE))):
        axes.plot(place, votes[:, column], "o-", color=color, linewidth=2, markersize=5)
        axes.text(4 * column, 1.07, f"a person said {name}", color=color, ha="right" if column else "left", va="bottom")
    for node, share in enumerate(votes[:, 0] / votes.sum(axis=1)):
        color = BLUE if share > 0.6 else ORANGE if share < 0.4 else PALE
        axes.scatter(node, -0.22, s=420, color=color, edgecolors=INK, linewidths=1.6 if node in (0, 4) else 0, zorder=2)
        axes.text(node, -0.225, str(node), ha="center", va="center", color=INK if color == PALE else "white", zorder=3)
    asked = learner.ask()
    arrow = {"arrowstyle": "->", "shrinkB": 12}
    axes.annotate("asked next", (asked, -0.22), (asked + 0.3, 0.16), va="center", arrowprops=arrow)
    axes.set(xticks=[], yticks=[0, 0.5, 1], ylabel="votes", xlim=(-0.35, 4.35), ylim=(-0.42, 1.25))
    axes.spines["bottom"].set_visible(False)
    return figure


TOPICS = np.array([BLUE, ORANGE, GREEN])


def small_graph() -> tuple[ag.Graph, np.ndarray, np.ndarray]:
    """Return three communities of 20, 30 and 40 nodes, where each node is drawn, and its community."""
    graph, home = ag.communities((20, 30, 40), mixing=0.12, rng=3)
    return graph, layout(graph), home


def nodes(axes: Axes, graph: ag.Graph, place: np.ndarray, colors: object, alpha: float = 1.0) -> None:
    """Draw edges and nodes."""
    edges = graph.weights.tocoo()
    ends = [place[[edges.row, edges.col], axis] for axis in (0, 1)]
    axes.plot(*ends, color=PALE, linewidth=0.4, zorder=0)
    axes.scatter(*place.T, color=colors, s=16, linewidths=0, alpha=alpha, zorder=1)
    axes.set_aspect("equal")
    axes.axis("off")


def number(axes: Axes, at: np.ndarray, words: str, color: str = INK) -> None:
    """Write a number in a circle."""
    circle = {"boxstyle": "circle,pad=0.22", "facecolor": "white", "edgecolor": color, "linewidth": 1.3}
    axes.annotate(words, at, ha="center", va="center", fontsize=8, color=color, bbox=circle, zorder=4)


def ask() -> Figure:
    """The first six questions of four samplers on one small graph, in their order."""
    graph, place, home = small_graph()
    figure, panels = plt.subplots(1, 4, figsize=(8.4, 2.5), layout="constrained")
    for axes, sampler in zip(panels, ("influence", "vm", "unc", "random"), strict=True):
        learner = ag.Learner(graph, sampler, rng=3)
        asked = [step.node for step in learner.run(lambda node: int(home[node]), budget=6)]
        nodes(axes, graph, place, TOPICS[home])
        for order, node in enumerate(asked, 1):
            number(axes, place[node], str(order))
        axes.set_title(sampler)
    return figure


def sure() -> Figure:
    """The share of wrong predictions as labels come: the truth, the estimate of the model, and what an audit proves."""
    X, digits = load_digits(return_X_y=True)
    learner = ag.Learner(ag.nearest_neighbors(X[:600], k=10), rng=0, classes=range(10))
    labels, estimates, truth = [], [], []
    for count, _ in enumerate(learner.run(lambda node: int(digits[node]), budget=60), 1):
        if count >= 10 and count % 2 == 0:
            rest = np.setdiff1d(np.arange(600), list(learner.labels))
            labels.append(count)
            estimates.append(learner.judge.expected_error())
            truth.append(np.mean(learner.predict(rest) != digits[rest]))
    audits = []
    for draws in (20, 40):
        for node in learner.judge.audit(draws):
            learner.judge.tell_audit(node, int(digits[node]))
        audits.append((learner.judge.expected_error(), sum((20, 40)[: len(audits) + 1])))
    figure, axes = plt.subplots(figsize=WIDE, layout="constrained")
    low, value, high = (np.array([getattr(one, part) for one in estimates]) * 100 for part in ("low", "value", "high"))
    axes.fill_between(labels, low, high, color=BLUE, alpha=0.18, linewidth=0, label="from the model, with its range")
    axes.plot(labels, value, color=BLUE, linewidth=1.8)
    axes.plot(labels, np.array(truth) * 100, color=INK, linewidth=1.4, label="the truth, which nobody knows")
    for at, (error, drawn) in zip((65, 70), audits, strict=True):
        bounds = [[100 * (error.value - error.low)], [100 * (error.high - error.value)]]
        axes.errorbar(at, 100 * error.value, bounds, fmt="o", color=ORANGE, capsize=3, markersize=4)
        axes.text(at, 100 * error.high + 1.5, f"{drawn}", color=ORANGE, ha="center")
    axes.text(67.5, 100 * audits[0][0].high + 8, "measured on items\ndrawn at random", color=ORANGE, ha="center")
    axes.set(xlabel="labels", ylabel="wrong predictions in %", xlim=(10, 88), ylim=(0, None), xticks=range(10, 61, 10))
    axes.legend(loc="upper right", borderaxespad=0)
    return figure


def neighbors_differ() -> Figure:
    """Accuracy as labels come on a graph whose neighbors share a label, and where labels have nothing to do with the edges."""
    graph, home = ag.communities((60, 90, 120), mixing=0.12, rng=0)
    shuffled = np.random.default_rng(0).permutation(home)
    figure, panels = plt.subplots(1, 2, figsize=WIDE, layout="constrained", sharey=True)
    edges = graph.weights.tocoo()
    for axes, truth in zip(panels, (home, shuffled), strict=True):
        learner = ag.Learner(graph, rng=0, classes=range(3))
        answers = learner.run(lambda node, truth=truth: int(truth[node]), budget=40)
        right = [100 * np.mean(learner.predict() == truth) for _ in answers]
        commonest = 100 * np.bincount(truth).max() / truth.size
        axes.plot(range(1, 41), right, color=BLUE, linewidth=1.8)
        axes.axhline(commonest, color="#4A515C", linestyle=":", linewidth=1.2)
        axes.text(40, commonest - 9, "always the commonest class", ha="right", color="#4A515C", fontsize=8)
        same = np.mean(truth[edges.row] == truth[edges.col])
        axes.set(title=f"{same:.0%} of the edges join one class", xlabel="labels", ylim=(0, 104), xlim=(1, 40))
    panels[0].set_ylabel("right in %")
    return figure


def rare_digits() -> tuple[ag.Graph, np.ndarray]:
    """Return the graph of all digits but most eights, and for each whether it is one of the 40 that are left."""
    X, digits = load_digits(return_X_y=True)
    eights = np.random.default_rng(0).choice(np.flatnonzero(digits == 8), 40, replace=False)
    kept = np.sort(np.r_[np.flatnonzero(digits != 8), eights])
    return ag.nearest_neighbors(X[kept], k=10), np.where(digits[kept] == 8, "eight", "other")


def unequal() -> Figure:
    """How many of 40 rare digits among 1,663 are found by the number of answers: sought, asked as usual, and at random."""
    graph, truth = rare_digits()
    first = {int(np.flatnonzero(truth == name)[0]): name for name in ("eight", "other")}
    figure, axes = plt.subplots(figsize=WIDE, layout="constrained")
    ways = {"sought: plan.finding": BLUE, "influence, as usual": GREEN, "drawn at random": "#6A727D"}
    for (words, color), sampler in zip(ways.items(), ("influence", "influence", "random"), strict=True):
        learner = ag.Learner(graph, sampler, rng=0)
        learner.tell_all(first)
        plan, found = learner.plan.finding("eight") if words.startswith("sought") else learner.plan, [1]
        for _ in range(98):
            node = learner.question(plan=plan).node
            learner.tell(node, str(truth[node]))
            found.append(found[-1] + int(truth[node] == "eight"))
        axes.plot(np.arange(2, 101), found, color=color, linewidth=1.8)
        axes.text(101, found[-1], words, color=color, va="center")
    axes.set(xlabel="answers", ylabel="rare items found, of 40", xlim=(0, 132), ylim=(0, 43), xticks=range(0, 101, 20))
    return figure


def copies() -> Figure:
    """A survey of two questions: each row a node; neighbors among distinct rows only, or among all rows."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 4, (60, 2)).astype(float)
    apart = X + 0.27 * np.column_stack([f(rng.uniform(0, 2 * np.pi, 60)) for f in (np.cos, np.sin)])
    figure, panels = plt.subplots(1, 2, figsize=(6.4, 3.0), layout="constrained")
    plain = np.argsort(((X[:, None] - X) ** 2).sum(axis=2) + 1e9 * np.eye(60), axis=1, kind="stable")[:, :3]
    among_all = ag.Graph.from_edges(np.column_stack([np.repeat(np.arange(60), 3), plain.ravel()]))
    for axes, graph, title in (
        (panels[0], among_all, "neighbors among all rows"),
        (panels[1], ag.nearest_neighbors(X, k=3), "askgraph: among distinct rows"),
    ):
        parts = graph.components()
        nodes(axes, graph, apart, [mpl.colormaps["tab20"](part % 20) for part in parts])
        axes.set_title(f"{title}: {'one part' if parts.max() == 0 else f'{parts.max() + 1} parts'}")
    return figure


def people() -> Figure:
    """Three people at once: each has a question of their own."""
    graph, place, home = small_graph()
    learner = ag.Learner(graph, rng=3)
    for _ in learner.run(lambda node: int(home[node]), budget=4):
        pass
    figure, axes = plt.subplots(figsize=(5.2, 2.9), layout="constrained")
    sure = learner.probabilities().max(axis=1)
    nodes(axes, graph, place, TOPICS[learner.predict().astype(int)], alpha=0.25 + 0.75 * (sure - 1 / 3) * 1.5)
    labeled = list(learner.labels)
    axes.scatter(*place[labeled].T, s=60, facecolors="none", edgecolors=INK, linewidths=1.2, zorder=3)
    for who, question in zip(("Ann", "Bo", "Cy"), learner.question(3, batch="now"), strict=True):
        box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": INK, "linewidth": 1.2}
        axes.annotate(who, place[question.node], ha="center", va="center", fontsize=9, bbox=box, zorder=4)
    return figure


def folds() -> Figure:
    """Five folds: labeled rows are held out in turn, and rows without a label are in every training part."""
    figure, axes = plt.subplots(figsize=WIDE, layout="constrained")
    for fold in range(5):
        for part in range(9):
            color = PALE if part > 4 else ORANGE if part == fold else BLUE
            axes.add_patch(Rectangle((part, -fold), 0.94, 0.8, color=color, linewidth=0))
        axes.text(-0.15, 0.4 - fold, f"fold {fold + 1}", ha="right", va="center")
    for x, words, color in ((2.5, "rows with a label", BLUE), (7, "rows without", "#4A515C")):
        axes.text(x, 1.0, words, ha="center", va="bottom", color=color)
    axes.text(9.1, 0.4, "trained on: blue and gray", va="center", color=INK)
    axes.text(9.1, -0.6, "scored on: orange", va="center", color="#A85400")
    axes.set(xlim=(-1.1, 12.2), ylim=(-4.2, 1.6))
    axes.axis("off")
    return figure


def spreading() -> Figure:
    """Right predictions of 1,797 digits by the number of labels: LabelSpreading with random labels, and askgraph."""
    from sklearn.semi_supervised import LabelSpreading

    X, digits = load_digits(return_X_y=True)
    graph, budgets = ag.nearest_neighbors(X, k=10), np.array([10, 20, 30, 40, 50, 60])
    theirs, ours = np.zeros((5, 6)), np.zeros((5, 6))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(digits.size)
        learner = ag.Learner(graph, rng=seed, classes=range(10))
        for column, budget in enumerate(budgets):
            y = np.full(digits.size, -1)
            y[order[:budget]] = digits[order[:budget]]
            model = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.9, max_iter=1000).fit(X, y)
            theirs[seed, column] = np.mean(model.transduction_[y == -1] == digits[y == -1])
            for _ in learner.run(lambda node: int(digits[node]), budget=int(budget - len(learner.labels))):
                pass
            rest = np.setdiff1d(np.arange(digits.size), list(learner.labels))
            ours[seed, column] = np.mean(learner.predict(rest) == digits[rest])
    figure, axes = plt.subplots(figsize=WIDE, layout="constrained")
    for found, color, words in ((ours, BLUE, "askgraph asks"), (theirs, ORANGE, "LabelSpreading,\nrandom labels")):
        axes.fill_between(budgets, *(100 * np.quantile(found, (0, 1), axis=0)), color=color, alpha=0.18, linewidth=0)
        axes.plot(budgets, 100 * found.mean(axis=0), "o-", color=color, linewidth=1.8, markersize=4)
        axes.text(61, 100 * found.mean(axis=0)[-1], words, color=color, va="center")
    axes.set(xlabel="labels", ylabel="right in %", xlim=(8, 74), ylim=(40, 101), xticks=budgets)
    return figure


def seeds() -> Figure:
    """Twelve seeds on the digits: another first question, other questions, and much the same predictions."""
    X, digits = load_digits(return_X_y=True)
    graph = ag.nearest_neighbors(X, k=10)
    figure, axes = plt.subplots(figsize=WIDE, layout="constrained")
    ends = []
    for seed in range(12):
        learner = ag.Learner(graph, rng=seed, classes=range(10))
        right = [
            100 * np.mean(learner.predict() == digits) for _ in learner.run(lambda node: int(digits[node]), budget=30)
        ]
        axes.plot(range(1, 31), right, color=BLUE, linewidth=0.9, alpha=0.6)
        ends.append(right[-1])
    axes.text(30.3, np.mean(ends), f"{min(ends):.1f} to {max(ends):.1f} %\nafter 30 labels", color=BLUE, va="center")
    axes.set(xlabel="labels", ylabel="right in %", xlim=(1, 36), ylim=(0, 103), xticks=range(5, 31, 5))
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "answers-one-class": one_class,
    "answers-one-of": one_of,
    "answers-ordered": ordered,
    "answers-several": several,
    "answers-numbers": numbers,
    "questions/think": think,
    "questions/ask": ask,
    "questions/sure": sure,
    "questions/neighbors_differ": neighbors_differ,
    "questions/unequal": unequal,
    "questions/copies": copies,
    "questions/people": people,
    "questions/folds": folds,
    "questions/spreading": spreading,
    "questions/seeds": seeds,
}


def main() -> None:
    """Write all pictures, or some."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DOCS)
    parser.add_argument("--only", default=",".join(PICTURES), help="names with commas between them")
    asked = parser.parse_args()
    plt.switch_backend("Agg")
    for name in asked.only.split(","):
        path = asked.folder / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        with mpl.rc_context({**STYLE, "figure.dpi": DOTS}):
            figure = PICTURES[name]()
            figure.savefig(path, dpi=DOTS)
        Image.open(path).convert("RGB").quantize(COLORS).save(path, optimize=True)
        plt.close(figure)
        print(f"{path.name} is written, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
