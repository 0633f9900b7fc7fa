"""Draw the pictures of docs/answers.md: one per kind of answers, each from the example beside it.

python docs/make_pictures.py [FOLDER]
"""

from __future__ import annotations

import sys
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


PICTURES = {"one-class": one_class, "one-of": one_of, "ordered": ordered, "several": several, "numbers": numbers}


def main() -> None:
    """Write all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS
    plt.switch_backend("Agg")
    for name, draw in PICTURES.items():
        path = folder / f"answers-{name}.png"
        with mpl.rc_context({**STYLE, "figure.dpi": DOTS}):
            figure = draw()
            figure.savefig(path, dpi=DOTS)
        Image.open(path).convert("RGB").quantize(COLORS).save(path, optimize=True)
        plt.close(figure)
        print(f"{path.name} is written, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
