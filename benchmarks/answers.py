"""Answers that are not one class: numbers, several classes, ordered classes and "one of two", beside peers in the same run.

python benchmarks/answers.py [--kinds numbers,several] [--sets boston,emotions] [--methods askgraph] [--seeds 5]
    [--output answers.jsonl]

Every seed draws a pool of at most 400 rows (600 of the digits), the same for all methods. Each method is told 10, 20, 40, 80 and
150 answers, and is judged on the rows that it was not told; figures are means over these budgets. Columns are standardized, the
graph joins the ten nearest rows. Records go to --output; what is there is not run again. Last come the figures that decide, with
"holds" or "FAILS".

Numbers are judged by the root of the mean squared error (RMSE) and the mean absolute error (MAE), over the standard deviation of
the pool, and by the share of rows that the 90 % intervals hold, and their width. Peers that ask at random: nearest neighbors (k by
leave-one-out), ridge regression (its ridge by leave-one-out), a forest of 50 trees, and a Gaussian process (Matérn 3/2 and noise,
fitted at 5, 10, 20, 40, 80 and 150 answers), which also asks where its variance is largest.

Several classes are judged by F1 over all pairs of row and class (micro) and over classes (macro), the precision of the ranking of
classes (LRAP) and the Brier score. Peers: logistic regression for each class, which predicts a class for as large a share of rows
as has it, as askgraph does, asking at random or for the row with the probability nearest to one half; and MLkNN (Zhang & Zhou
2007), k = 10, at random.

Ordered classes are judged by accuracy, the steps that predictions are off (MAE) and Cohen's kappa with quadratic weights. Peers
that ask at random: logistic regression on classes, and ridge regression, rounded. "votes of classes" are the same answers told to
a learner that knows of no order, whose largest vote counts.

"One of two" replaces 30 % of the answers by two classes, the true one and another: dropped, told, or, to compare, all told in full,
after 10 to 80 answers to askgraph's questions or to random ones; a dropped answer counts as one.

Files are looked for in the folder ASKGRAPH_DATA; a set without its files is left out.
"""

from __future__ import annotations

import argparse
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import SMOKE, machine
from scipy.spatial.distance import cdist

import askgraph as ag
from askgraph.errors import FileError
from askgraph.simulate.records import Lines
from askgraph.support.progress import bar

NUMBERS = ("diabetes", "boston", "concrete", "abalone", "wine-red", "quakes-depth")
SETS = {
    "numbers": NUMBERS,
    "several": ("emotions", "yeast"),
    "ordered": ("wine-red", "boston", "diabetes"),
    "one of": ("digits",),
}
BUDGETS = (5, 10) if SMOKE else (10, 20, 40, 80, 150)
OF_PAIRS = BUDGETS[:4]  # budgets of "one of two"
POOL, DIGITS = (60, 80) if SMOKE else (400, 600)
FITTED = (5, 10, 20, 40, 80, 150)  # answers at which the length and the noise of the Gaussian process are fitted
SHARE, PAIRS = 0.9, 0.3  # of rows in an interval; of answers that are one of two
FIFTHS = 5
NEIGHBORS = 10  # of MLkNN
RIDGE = 0.1  # C of logistic regression for each class: of 0.01 to 10 the best for these sets
HOW = ("full", "dropped", "told")
RIDGES = np.logspace(-3, 4, 15)


class Rows(NamedTuple):
    """A pool: its columns, what is true of each row, and the names of the classes."""

    X: Any
    truth: Any
    classes: tuple = ()


@cache
def whole(kind, name):
    """Return the columns of a set, and what is true of each row."""
    from sklearn.datasets import load_diabetes, load_digits

    if name in ("diabetes", "digits"):
        data = load_diabetes() if name == "diabetes" else load_digits()
        return data.data, data.target
    path = (
        Path(os.environ.get("ASKGRAPH_DATA", ""))
        / "answers"
        / f"{'several' if kind == 'several' else 'numbers'}_{name}.npz"
    )
    if not path.is_file():
        raise FileError(f"{path} is not there: name the folder with the datasets in ASKGRAPH_DATA")
    with np.load(path) as stored:
        return stored["X"].astype(float), stored["y"].astype(int if kind == "several" else float)


@cache
def pool(kind, name, seed):
    """Return the rows that a seed draws."""
    X, y = whole(kind, name)
    some = np.random.default_rng(seed).permutation(len(y))[: DIGITS if kind == "one of" else POOL]
    X, y = X[some], y[some]
    X = X if kind == "one of" else standardized(X)
    if kind == "several":
        return Rows(X, y, tuple(f"class {c}" for c in range(y.shape[1])))
    if kind == "ordered":
        steps = y if name == "wine-red" else np.searchsorted(np.quantile(y, np.arange(1, FIFTHS) / FIFTHS), y)
        return Rows(X, steps.astype(int), tuple(range(int(steps.min()), int(steps.max()) + 1)))
    return Rows(X, y, tuple(range(10)) if kind == "one of" else ())


def standardized(X):
    spread = X.std(axis=0)
    return ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0]


@cache
def graph_of(kind, name, seed):
    return ag.nearest_neighbors(pool(kind, name, seed).X, 10)


def at_random(rows, seed, read):
    """Yield the rows told so far, and what a model predicts from them; the rows are drawn."""
    order = np.random.default_rng([seed, 1]).permutation(len(rows.X)).tolist()
    for count in range(1, len(order)):
        yield order[:count], (lambda told=order[:count]: read(rows, told))


def asked(learner, answer, read):
    """Yield the rows told so far, and what a learner predicts that is given what ``answer(row)`` says."""
    told = []
    while True:
        node = learner.ask()
        learner.tell(node, answer(node))
        told.append(node)
        yield told, (lambda: read(learner))


# numbers: what is predicted is (value, low, high); low and high are None without an interval


def number_learner(features, **options):
    def method(rows, key, seed):
        more = {"features": rows.X} if features else {}
        learner = ag.Learner(graph_of(*key), answers="numbers", rng=seed, **more, **options)
        return asked(learner, lambda node: float(rows.truth[node]), lambda x: x.predict(interval=SHARE))

    return method


def regression(make):
    def read(rows, told):
        return make(len(told)).fit(rows.X[told], rows.truth[told]).predict(rows.X), None, None

    return lambda rows, key, seed: at_random(rows, seed, read)


def ridge(count):
    from sklearn.linear_model import RidgeCV

    return RidgeCV(alphas=RIDGES)


def forest(count):
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(50, random_state=0)


def nearest(rows, told):
    """Predict by the mean of the k nearest; k has the least squared error of leave-one-out."""
    there, y = rows.X[told], rows.truth[told]
    apart = cdist(there, there)
    np.fill_diagonal(apart, np.inf)
    sorted_left = y[np.argsort(apart, axis=1)[:, :-1]]
    means = np.cumsum(sorted_left, axis=1) / np.arange(1, len(told))
    k = 1 + int(((means - y[:, None]) ** 2).mean(axis=0).argmin())
    order = np.argsort(cdist(rows.X, there), axis=1)[:, :k]
    return y[order].mean(axis=1), None, None


def process(rows, told, kernel=None):
    """Return a Gaussian process that is fitted to these rows, or takes a kernel as it is."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    start = ConstantKernel(1.0, (1e-2, 1e2)) * Matern(rows.X.shape[1] ** 0.5, (1e-1, 1e3), nu=1.5)
    start += WhiteKernel(0.1, (1e-4, 1e1))
    optimizer = "fmin_l_bfgs_b" if kernel is None else None
    model = GaussianProcessRegressor(kernel or start, normalize_y=True, optimizer=optimizer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows.X[told], rows.truth[told])


def by_process(rows, told, kernel=None):
    from scipy.special import ndtri

    mean, deviation = process(rows, told, kernel).predict(rows.X, return_std=True)
    half = ndtri((1 + SHARE) / 2) * deviation
    return mean, mean - half, mean + half


def process_random(rows, key, seed):
    return at_random(rows, seed, by_process)


def process_variance(rows, key, seed):
    """Ask where the variance of a Gaussian process is largest; the first row is drawn."""
    told, kernel = [int(np.random.default_rng([seed, 1]).integers(len(rows.X)))], None
    while True:
        if len(told) in FITTED or kernel is None:
            kernel = process(rows, told, None if len(told) in FITTED else kernel).kernel_
        yield told, (lambda kernel=kernel: by_process(rows, told, kernel))
        deviation = process(rows, told, kernel).predict(rows.X, return_std=True)[1]
        deviation[told] = -np.inf
        told.append(int(deviation.argmax()))


def judge_numbers(rows, told, found):
    value, low, high = (None if x is None else np.asarray(x, float) for x in found)
    rest = np.setdiff1d(np.arange(len(rows.X)), told)
    off, unit = (rows.truth - value)[rest], rows.truth.std()
    figures = {"RMSE": (off**2).mean() ** 0.5 / unit, "MAE": np.abs(off).mean() / unit}
    if low is None:
        return figures
    holds = (low <= rows.truth) & (rows.truth <= high)
    return {**figures, "holds": holds[rest].mean(), "width": (high - low)[rest].mean() / unit}


# several classes: what is predicted is (probabilities, whether rows have classes)


def several_learner(features, **options):
    def method(rows, key, seed):
        more = {"features": rows.X} if features else {}
        learner = ag.Learner(graph_of(*key), answers="several", classes=rows.classes, rng=seed, **more, **options)
        return asked(
            learner, lambda node: names_of(rows, node), lambda x: (x.probabilities(), matrix_of(rows, x.predict()))
        )

    return method


def names_of(rows, node):
    return [rows.classes[c] for c in np.flatnonzero(rows.truth[node])]


def matrix_of(rows, sets):
    return np.array([[name in found for name in rows.classes] for found in sets])


def each_class(rows, told):
    """Return the probabilities of logistic regression for each class by itself; its share, where all or none have it."""
    from sklearn.linear_model import LogisticRegression

    p = np.empty(rows.truth.shape)
    for c, y in enumerate(rows.truth[told].T):
        if y.min() == y.max():
            p[:, c] = (y.sum() + 0.5) / (len(told) + 1)
        else:
            p[:, c] = LogisticRegression(C=RIDGE, max_iter=300).fit(rows.X[told], y).predict_proba(rows.X)[:, 1]
    return p


def cut(rows, told, p):
    """Return the probabilities, and for each class the rows where it is likeliest: as large a share as has it."""
    rest = np.setdiff1d(np.arange(len(p)), told)
    shares = (rows.truth[told].sum(axis=0) + 0.5) / (len(told) + 1)
    has = np.zeros(p.shape, dtype=bool)
    for c, many in enumerate(np.round(shares * len(rest)).astype(int)):
        has[rest[np.argsort(-p[rest, c], kind="stable")[:many]], c] = True
    return p, has


def logistic_random(rows, key, seed):
    return at_random(rows, seed, lambda rows, told: cut(rows, told, each_class(rows, told)))


def logistic_margin(rows, key, seed):
    """Ask for the row with the probability nearest to one half; beyond 40 answers the model is fitted after every fifth."""
    told, p = [int(np.random.default_rng([seed, 1]).integers(len(rows.X)))], None
    while True:
        if p is None or len(told) <= 40 or len(told) % 5 == 0:
            p = each_class(rows, told)
        yield told, (lambda: cut(rows, told, each_class(rows, told)))
        margin = np.abs(p - 0.5).min(axis=1)
        margin[told] = np.inf
        told.append(int(margin.argmin()))


def neighbors_of_each(rows, told):
    """Return the probabilities of MLkNN: Bayes' rule on how many of the k nearest have a class, counts smoothed by 1."""
    y, k = rows.truth[told], min(NEIGHBORS, len(told) - 1)
    apart = cdist(rows.X[told], rows.X[told])
    np.fill_diagonal(apart, np.inf)
    left = y[np.argsort(apart, axis=1)[:, :k]].sum(axis=1)
    near = y[np.argsort(cdist(rows.X, rows.X[told]), axis=1)[:, :k]].sum(axis=1)
    prior = (y.sum(axis=0) + 1) / (len(told) + 2)
    p = np.empty(rows.truth.shape)
    for c in range(y.shape[1]):
        yes, no = (np.bincount(left[y[:, c] == has, c], minlength=k + 1) + 1 for has in (1, 0))
        on, off = prior[c] * (yes / yes.sum())[near[:, c]], (1 - prior[c]) * (no / no.sum())[near[:, c]]
        p[:, c] = on / (on + off)
    return p


def mlknn_random(rows, key, seed):
    return at_random(rows, seed, lambda rows, told: cut(rows, told, neighbors_of_each(rows, told)))


def judge_several(rows, told, found):
    from sklearn.metrics import f1_score, label_ranking_average_precision_score

    rest = np.setdiff1d(np.arange(len(rows.X)), told)
    truth, p, has = rows.truth[rest], found[0][rest], found[1][rest]
    return {
        "micro F1": f1_score(truth, has, average="micro", zero_division=0),
        "macro F1": f1_score(truth, has, average="macro", zero_division=0),
        "LRAP": label_ranking_average_precision_score(truth, p),
        "Brier": ((p - truth) ** 2).mean(),
    }


# ordered classes: what is predicted is the step of each row


def ordered_learner(rows, key, seed):
    learner = ag.Learner(graph_of(*key), answers=ag.Ordered(rows.classes), features=rows.X, rng=seed)
    return asked(learner, lambda node: int(rows.truth[node]), lambda x: x.predict())


def class_learner(rows, key, seed):
    learner = ag.Learner(graph_of(*key), classes=rows.classes, features=rows.X, rng=seed)
    return asked(learner, lambda node: int(rows.truth[node]), lambda x: x.predict())


def votes_of_the_same(rows, key, seed):
    """Tell what the learner of ordered classes asks to one that knows of no order."""
    for told, _ in ordered_learner(rows, key, seed):
        yield told, (lambda told=told: largest_votes(rows, key, seed, told))


def largest_votes(rows, key, seed, told):
    learner = ag.Learner(graph_of(*key), classes=rows.classes, features=rows.X, rng=seed, readout="votes")
    learner.tell_all({node: int(rows.truth[node]) for node in told})
    return learner.predict()


def logistic_steps(rows, key, seed):
    from sklearn.linear_model import LogisticRegression

    def read(rows, told):
        y = rows.truth[told]
        one = np.full(len(rows.X), y[0])
        return one if y.min() == y.max() else LogisticRegression(max_iter=300).fit(rows.X[told], y).predict(rows.X)

    return at_random(rows, seed, read)


def ridge_rounded(rows, key, seed):
    def read(rows, told):
        found = ridge(len(told)).fit(rows.X[told], rows.truth[told]).predict(rows.X)
        return np.clip(np.rint(found), rows.classes[0], rows.classes[-1])

    return at_random(rows, seed, read)


def judge_ordered(rows, told, found):
    from sklearn.metrics import cohen_kappa_score

    rest = np.setdiff1d(np.arange(len(rows.X)), told)
    truth, found = rows.truth[rest], np.asarray(found)[rest].astype(int)
    kappa = cohen_kappa_score(truth, found, weights="quadratic", labels=list(rows.classes))
    return {"MAE": np.abs(truth - found).mean(), "accuracy": (truth == found).mean(), "kappa": np.nan_to_num(kappa)}


# one of two: what is predicted is the class of each row


def pairs_learner(how, **options):
    """Return a method that is told 30 % of the answers as one of two, drops these, or is told all in full."""

    def method(rows, key, seed):
        rng = np.random.default_rng([seed, 2])
        unsure = rng.random(len(rows.X)) < (0.0 if how == "full" else PAIRS)
        other = (rows.truth + rng.integers(1, 10, len(rows.X))) % 10
        learner, told = ag.Learner(graph_of(*key), classes=rows.classes, rng=seed, **options), []
        while True:
            node = learner.ask()
            if unsure[node] and how == "dropped":
                learner.skip(node)
            elif unsure[node]:
                learner.tell(node, ag.one_of(*sorted((int(rows.truth[node]), int(other[node])))))
            else:
                learner.tell(node, int(rows.truth[node]))
            told.append(node)
            yield told, learner.predict

    return method


def judge_one_of(rows, told, found):
    rest = np.setdiff1d(np.arange(len(rows.X)), told)
    return {"accuracy": np.mean([found[node] == rows.truth[node] for node in rest])}


METHODS = {
    "numbers": {
        "askgraph": number_learner(True),
        "graph alone": number_learner(False),
        "askgraph random": number_learner(True, sampler="random"),
        "nearest random": lambda rows, key, seed: at_random(rows, seed, nearest),
        "ridge random": regression(ridge),
        "forest random": regression(forest),
        "process random": process_random,
        "process variance": process_variance,
    },
    "several": {
        "askgraph": several_learner(True),
        "graph alone": several_learner(False),
        "askgraph random": several_learner(True, sampler="random"),
        "logistic random": logistic_random,
        "logistic margin": logistic_margin,
        "MLkNN random": mlknn_random,
    },
    "ordered": {
        "askgraph": ordered_learner,
        "classes": class_learner,
        "votes of classes": votes_of_the_same,
        "logistic random": logistic_steps,
        "ridge rounded random": ridge_rounded,
    },
    "one of": {
        **{how: pairs_learner(how) for how in HOW},
        **{f"{how} random": pairs_learner(how, sampler="random") for how in HOW},
    },
}
OURS = ("askgraph", "graph alone", "askgraph random", "classes", "votes of classes")
JUDGES = {"numbers": judge_numbers, "several": judge_several, "ordered": judge_ordered, "one of": judge_one_of}


def curve(kind, name, method, seed):
    """Return the record of one run: the figures at each budget."""
    rows, found = pool(kind, name, seed), {}
    budgets = OF_PAIRS if kind == "one of" else BUDGETS
    for count, (told, read) in enumerate(METHODS[kind][method](rows, (kind, name, seed), seed), 1):
        if count in budgets:
            found[count] = {key: float(x) for key, x in JUDGES[kind](rows, told, read()).items()}
        if count == budgets[-1]:
            break
    return {"kind": kind, "set": name, "method": method, "seed": seed, "figures": found}


def figures(records, kind, method, name, figure):
    """Return one row per seed, one column per budget; NaN where a method has no such figure."""
    some = [r["figures"] for r in records if (r["kind"], r["method"], r["set"]) == (kind, method, name)]
    return np.array([[at.get(figure, np.nan) for _, at in sorted(x.items(), key=lambda x: int(x[0]))] for x in some])


class Summary:
    """Means over seeds: a number per set and budget."""

    def __init__(self, records, kind, sets):
        self.sets = sets
        every = {r["method"] for r in records if r["kind"] == kind}
        self.methods = [m for m in METHODS[kind] if m in every and self._complete(records, kind, m)]
        first = [r for r in records if r["kind"] == kind]
        keys = dict.fromkeys(key for r in first for at in r["figures"].values() for key in at)
        self.found = {
            (m, key): np.array([figures(records, kind, m, name, key).mean(axis=0) for name in sets])
            for m in self.methods
            for key in keys
        }
        self.keys = list(keys)

    def _complete(self, records, kind, method):
        return {r["set"] for r in records if (r["kind"], r["method"]) == (kind, method)} >= set(self.sets)

    def mean(self, method, key):
        return float(self.found[method, key].mean())

    def have(self, *methods):
        return set(methods) <= set(self.methods)


def table(kind, summary):
    """Print one line per method: the first figure at each budget and of each set, and the means of all figures."""
    first, *others = summary.keys
    budgets = OF_PAIRS if kind == "one of" else BUDGETS
    heads = [f"{first} at {t}" for t in budgets] + [f"{first}, {name}" for name in summary.sets]
    print(f"\n{kind}\n\n| method | {' | '.join([*heads, f'mean {first}', *others])} |")
    print(f"|---|{'---|' * (len(heads) + len(summary.keys))}")
    for m in summary.methods:
        at = summary.found[m, first]
        cells = [*at.mean(axis=0), *at.mean(axis=1), at.mean(), *(summary.mean(m, key) for key in others)]
        print(f"| {m} | {' | '.join('–' if np.isnan(x) else f'{x:.3f}' for x in cells)} |")


def verdicts(kind, summary):
    """Yield what should hold, whether it does, and the figures it is read from."""
    mean = summary.mean
    peers = [m for m in summary.methods if m not in OURS]
    if kind == "numbers" and summary.have("askgraph"):
        for m in peers:
            yield (
                f"RMSE below {m}",
                mean("askgraph", "RMSE") < mean(m, "RMSE"),
                (mean("askgraph", "RMSE"), mean(m, "RMSE")),
            )
        holds = summary.found["askgraph", "holds"]
        yield (
            "90 % intervals hold 0.85 to 0.95 at each budget",
            within(holds.mean(axis=0), 0.85, 0.95),
            holds.mean(axis=0),
        )
        yield "they hold at least 0.75 on every set", within(holds.mean(axis=1), 0.75, 1.0), holds.mean(axis=1)
        if "diabetes" in summary.sets:
            here = summary.found["askgraph", "RMSE"][summary.sets.index("diabetes")].mean()
            yield "RMSE of diabetes below 0.77", here < 0.77, (here,)
    if kind == "several" and summary.have("askgraph"):
        for m in peers:
            for key in ("micro F1", "macro F1", "LRAP"):
                yield f"{key} above {m}", mean("askgraph", key) > mean(m, key), (mean("askgraph", key), mean(m, key))
            yield (
                f"Brier below {m}",
                mean("askgraph", "Brier") < mean(m, "Brier"),
                (mean("askgraph", "Brier"), mean(m, "Brier")),
            )
    if kind == "ordered" and summary.have("askgraph"):
        for m, gain in (("classes", 0.05), *((m, 0.0) for m in peers)):
            if summary.have(m):
                both = mean("askgraph", "MAE"), mean(m, "MAE")
                yield f"MAE {f'{gain} ' if gain else ''}below {m}", both[0] + gain <= both[1], both
                both = mean("askgraph", "kappa"), mean(m, "kappa")
                yield f"kappa above {m}", both[0] > both[1], both
    if kind == "one of":
        for more in ("", " random"):
            if summary.have(*(how + more for how in HOW)):
                full, dropped, told = (summary.found[how + more, "accuracy"].mean(axis=0) for how in HOW)
                last = full[-1], told[-1]
                yield (
                    f"pairs told within 0.02 of all in full after {OF_PAIRS[-1]} answers{more}",
                    last[0] - last[1] < 0.02,
                    last,
                )
                means = dropped.mean(), told.mean()
                yield f"pairs dropped worse than told, mean{more}", means[0] < means[1], means


def within(values, low, high):
    return bool(((values >= low) & (values <= high)).all())


def run(tasks, file):
    """Run what has no record; return the sets without files."""
    missing = set()
    with file.appending() as append, bar(len(tasks), "learning curves") as tick:
        for kind, name, method, seed in tasks:
            try:
                append(curve(kind, name, method, seed))
            except FileError as error:
                if (kind, name) not in missing:
                    print(error)
                missing.add((kind, name))
            tick()
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(SETS))
    parser.add_argument("--sets")
    parser.add_argument("--methods")
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 5)
    parser.add_argument("--output", default="answers.jsonl")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    wanted = options.sets.split(",") if options.sets else None
    methods = options.methods.split(",") if options.methods else None
    sets = {
        kind: [name for name in SETS[kind] if wanted is None or name in wanted] for kind in options.kinds.split(",")
    }
    file = Lines(options.output)
    done = {(r["kind"], r["set"], r["method"], r["seed"]) for r in file.read()}
    tasks = [
        (kind, name, method, seed)
        for kind, some in sets.items()
        for name in some
        for method in METHODS[kind]
        for seed in range(options.seeds)
        if (methods is None or method in methods) and (kind, name, method, seed) not in done
    ]
    missing = run(tasks, file)
    print(machine())
    records = [r for r in file.read() if r["seed"] < options.seeds]
    for kind, some in sets.items():
        names = [name for name in some if (kind, name) not in missing]
        if names and not {r["set"] for r in records if r["kind"] == kind}.isdisjoint(names):
            summary = Summary(records, kind, names)
            table(kind, summary)
            print()
            for what, holds, read in verdicts(kind, summary):
                print(f"- {what}: {'holds' if holds else 'FAILS'} ({', '.join(f'{x:.3f}' for x in read)})")


if __name__ == "__main__":
    main()
