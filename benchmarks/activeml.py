"""askgraph's sampler in a loop of scikit-activeml, beside its margin sampling and random sampling: digits, ten seeds.

python benchmarks/activeml.py [--seeds 10] [--questions 40] [--rows 600]      # needs pip install "askgraph[activeml]"
The classifier is the same for all: logistic regression on the labels so far. One label to begin with, drawn at random; after each
question the share of right predictions among all rows. The last line reads the labels of influence by askgraph's own classifier.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from measure import SMOKE, machine
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import RandomSampling, UncertaintySampling
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import askgraph as ag
from askgraph.clients.activeml import GraphQueryStrategy
from askgraph.support.progress import bar

OWN = "influence, read by GraphClassifier"


def strategies(seed):
    """Return each way to ask, as a function of the rows, the labels and the classifier so far."""
    margin, chance = UncertaintySampling("margin_sampling", random_state=seed), RandomSampling(random_state=seed)
    ways = {name: GraphQueryStrategy(name, random_state=seed).query for name in ("influence", "unc")}
    return {
        **{name: lambda X, y, model, ask=ask: ask(X, y) for name, ask in ways.items()},
        "margin": lambda X, y, model: margin.query(X, y, clf=model, fit_clf=False),
        "random": lambda X, y, model: chance.query(X, y),
    }


def curves(X, truth, questions, seed):
    """Return {way: share right after each label}."""
    found, first = {}, int(np.random.default_rng(seed).integers(len(X)))
    for name, ask in strategies(seed).items():
        y, right, own = np.full(len(X), np.nan), [], []
        row = np.array([first])
        for _ in range(questions):
            y[row] = truth[row]
            regression = LogisticRegression(max_iter=300)
            model = SklearnClassifier(regression, classes=np.unique(truth), random_state=seed).fit(X, y)
            right.append((model.predict(X) == truth).mean())
            if name == "influence":
                own.append((ag.GraphClassifier(random_state=seed).fit(X, y).transduction_ == truth).mean())
            row = ask(X, y, model)
        found[name] = right
        if own:
            found[OWN] = own
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--smoke", action="store_true")
    args = parser.parse_args()
    if SMOKE:
        args.seeds, args.questions, args.rows = 1, 3, 60
    X, truth = load_digits(return_X_y=True)
    X, truth = X[: args.rows] / 16, truth[: args.rows]
    warnings.simplefilter("ignore")  # scikit-activeml warns of newer scikit-learn, the regression of few steps
    runs = []
    with bar(args.seeds, "asking") as tick:
        for seed in range(args.seeds):
            runs.append(curves(X, truth, args.questions, seed))
            tick()
    print(f"{machine()}; {args.rows} digits, {args.seeds} seeds; mean of the share right ± standard error")
    points = [n for n in (1, 10, 20, 40) if n <= args.questions]
    print("| way | " + " | ".join(f"{n} labels" for n in points) + " | mean of the curve |")
    print("|---" * (len(points) + 2) + "|")
    for name in runs[0]:
        every = np.array([run[name] for run in runs])
        cells = [every[:, n - 1] for n in points] + [every.mean(axis=1)]
        error = max(len(runs), 2) ** 0.5
        print(f"| {name} | " + " | ".join(f"{x.mean():.3f} ± {x.std() / error:.3f}" for x in cells) + " |")


if __name__ == "__main__":
    main()
