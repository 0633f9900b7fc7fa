"""Find all items of a rare class: recall after a few answers, work saved, and whether ranges and certificates hold.

ASKGRAPH_DATA=folder python benchmarks/recall.py [--sets spam,mail,sports,short,clusters,scattered] [--seeds 2] [--runs 200]

It prints Markdown tables.

Texts, in the folders trial and attributed of ASKGRAPH_DATA: SMS Spam (sms.tsv.gz: 5,574 messages, 13 % spam), Debian packages
(packages.csv.gz and packages_sections.csv.gz: 5,111 descriptions, 7 % in the section mail), AG News (ag_test.csv.gz) with all but
115 sports items left out (5,815, 2 % sports) and questions of TREC (trec.jsonl.gz: 1,500, 2 % of which ask what something is short
for). Items are joined as ``askgraph init --text`` joins them: by their words, and by a linear function of these once leave-one-out
asks for it. Everybody starts from one item of the class and one other, drawn by the seed, and answers ten items between two
rankings. Beside askgraph (``Learner.likeliest``, every eighth item drawn at random as a spot check): TF-IDF of words and logistic
regression, the likeliest first, without spot checks, as screening tools do; and items in random order.

Two sets are made: 1,000 points around 30 centers, of which two are in the class (clusters), and the same where a fifth of the
class lies anywhere (scattered).

A certificate is tried in each run: a search is stopped at an answer drawn at random, as many items as
``learner.judge.to_read`` says for 80, 90 or 95 % are drawn from the rest and read, and what is then certified is compared with the
truth. It fails where less is found than it says; 95 % confidence allows for one in twenty.

WSS@95 is the share of items that nobody looks at when 95 % of the class is found, less 5 %: what is saved over random order. A set
whose files are not here is left out, and the reason is printed.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
from pathlib import Path

import numpy as np
from measure import SMOKE, machine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import askgraph as ag
from askgraph.graph.texts import join_written, text_rows
from askgraph.kinds.certificate import MOST, SHARES, Sample, certify, to_read
from askgraph.kinds.recall import left_to_find
from askgraph.priors.features import NEIGHBORS
from askgraph.support.progress import bar
from askgraph.workbench.joining import directed_features

TOGETHER = 10  # answers between two rankings
CHECKS = 8  # every how many items askgraph draws one at random
PART = 0.3  # of the items that are looked at
LOOKS = (0.05, 0.1, 0.2)  # shares of the items after which recall is given
RANGES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # and after which the range of what is left is compared with the truth
CURVE = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # and after which the curve of recall is given
# of the sets that are made: points, centers, and how many of these are in the class
POINTS, CENTERS, WANTED = 1000, 30, 2
SPORTS = 115
ABBREVIATIONS = 0  # the class of questions that ask for them


def lines_of(name, folder="trial"):
    folder = Path(os.environ.get("ASKGRAPH_DATA", "")) / folder
    if not (folder / name).exists():
        raise FileNotFoundError(f"{folder / name} is not there: name the folder with the datasets in ASKGRAPH_DATA")
    return gzip.open(folder / name, "rt", encoding="utf-8", newline="\n")


def texts_of(name):
    """Return texts, and whether each is in the class."""
    if SMOKE:
        return [f"{('red apple', 'blue sky')[k % 10 > 0]} {k}" for k in range(60)], np.arange(60) % 10 == 0
    if name == "spam":
        rows = [line.rstrip("\n").split("\t", 1) for line in lines_of("sms.tsv.gz")]
        rows = [row for row in rows if row[0] != "Label"]
        return [row[1] for row in rows], np.array([row[0] == "spam" for row in rows])
    if name == "mail":
        sections = dict(csv.reader(lines_of("packages_sections.csv.gz")))
        rows = list(csv.DictReader(lines_of("packages.csv.gz")))
        return [row["description"] for row in rows], np.array([sections[row["id"]] == "mail" for row in rows])
    if name == "short":
        found = [json.loads(line) for line in lines_of("trec.jsonl.gz", "attributed")]
        return [row["text"] for row in found], np.array([row["label"] == ABBREVIATIONS for row in found])
    rows = list(csv.reader(lines_of("ag_test.csv.gz")))
    sports = np.array([row[0] == "2" for row in rows])
    few = np.random.default_rng(0).choice(np.flatnonzero(sports), SPORTS, replace=False)
    keep = np.sort(np.concatenate([np.flatnonzero(~sports), few]))
    return [" ".join(rows[k][1:]) for k in keep], sports[keep]


def points_of(name):
    """Return points around centers, and whether each is in the class; a fifth of it lies anywhere in the set "scattered"."""
    rng, n = np.random.default_rng(7), 60 if SMOKE else POINTS
    center = rng.integers(CENTERS, size=n)
    y = center < WANTED if not SMOKE else np.arange(n) % 10 == 0
    points = rng.normal(size=(CENTERS, 8))[center] * 4 + rng.normal(size=(n, 8))
    if name == "scattered":
        lost = rng.choice(np.flatnonzero(y), y.sum() // 5, replace=False)
        points[lost] = rng.permutation(points)[: lost.size] + rng.normal(size=(lost.size, 8))
    return points, y


def set_of(name):
    """Return the graph of a set, its features, its rows for a linear model, and whether each item is in the class."""
    if name in ("clusters", "scattered"):
        points, y = points_of(name)
        return ag.nearest_neighbors(points, k=5 if SMOKE else NEIGHBORS), None, points, y
    texts, y = texts_of(name)
    words = text_rows(texts)
    graph = join_written(words, NEIGHBORS)
    return graph, directed_features(graph, words), TfidfVectorizer(sublinear_tf=True).fit_transform(texts), y


def certificate_row(name, method, y, orders, runs):
    """Return a row of the third table: how many certificates of some searches failed, and how much was read for them."""
    rng, failed, sizes, reached, most = np.random.default_rng(11), 0, [], 0, 0
    for run in range(runs):
        order, share = orders[run % len(orders)], SHARES[run % len(SHARES)]
        stop = int(rng.integers(2, len(order)))
        told = {k: bool(y[k]) for k in order[:stop]}
        rest = np.setdiff1d(np.arange(len(y)), order[:stop])
        n = to_read(sum(told.values()), rest.size, share)
        drawn = tuple(rng.choice(rest, n, replace=False).tolist())
        sample = Sample(True, drawn, rest.size, frozenset(told))
        found = certify(sample, told | {k: bool(y[k]) for k in drawn})
        failed += found.found / y.sum() < found.share
        reached += found.share >= share
        most += n > MOST * rest.size
        sizes.append(n)
    return f"| {name} | {method} | {failed} of {runs} | {reached} | {np.median(sizes):.0f} of {len(y):,} | {most} |"


def curve_rows(name, y, by_method):
    """Return rows of the last table: mean recall after shares of the items, one row per order."""
    rows = []
    for method, orders in by_method.items():
        found = [np.cumsum(y[order]) / y.sum() for order in orders]
        cells = [
            f"{np.mean([one[min(max(int(part * len(y)), 1), len(one)) - 1] for one in found]):.2f}" for part in CURVE
        ]
        rows.append(f"| {name} | {method} | {' | '.join(cells)} |")
    return rows


def first_two(y, seed):
    rng = np.random.default_rng(seed)
    return [int(rng.choice(np.flatnonzero(y))), int(rng.choice(np.flatnonzero(~y)))]


def by_askgraph(graph, features, y, seed):
    """Return the items in the order in which they are asked, and after each ranking what is said to be left."""
    learner = ag.Learner(graph, rng=seed, spot_checks=CHECKS, features=features)
    order, drawn, left = first_two(y, seed), [False, False], {}
    learner.tell_all({k: bool(y[k]) for k in order})
    while len(order) < PART * len(y):
        questions = learner.question(TOGETHER, plan=learner.plan.finding(True))
        asked, random = [one.node for one in questions], [one.by == "spot check" for one in questions]
        wrong = {k: not y[k] for k, check in zip(asked, random, strict=True) if check}  # any guess marks a spot check
        learner.tell_all({k: bool(y[k]) for k in asked}, wrong)
        order, drawn = [*order, *asked], [*drawn, *random]
        rest = np.setdiff1d(np.arange(len(y)), order)
        expected = learner.probabilities()[rest, learner.classes.index(True)].sum()
        left[len(order)] = left_to_find(y[order], drawn, len(y), float(expected))
    return order, left


def by_regression(rows, y, seed):
    """Return the items in the order of logistic regression."""
    order = first_two(y, seed)
    while len(order) < PART * len(y):
        fitted = LogisticRegression(C=10.0, class_weight="balanced", max_iter=1000).fit(rows[order], y[order])
        rest = np.setdiff1d(np.arange(len(y)), order)
        order += rest[np.argsort(-fitted.decision_function(rows[rest]), kind="stable")[:TOGETHER]].tolist()
    return order


def recall_row(name, method, y, orders):
    """Return a row of the first table: mean recall after some items, and the work saved."""
    found = [np.cumsum(y[order]) / y.sum() for order in orders]
    shares = [np.mean([one[min(int(part * len(y)), len(one)) - 1] for one in found]) for part in LOOKS]
    needed = [np.argmax(one >= 0.95) + 1 if one[-1] >= 0.95 else None for one in found]
    saved = f"{np.mean([0.95 - k / len(y) for k in needed]):.2f}" if None not in needed else "not reached"
    return f"| {name} | {method} | {' | '.join(f'{share:.2f}' for share in shares)} | {saved} |"


def range_row(name, y, runs):
    """Return a row of the second table: how often the range held, and its middle width by share of items looked at."""
    held, cells = [], []
    for part in RANGES:
        said = [(left, y.sum() - left.found) for run in runs for left in [_at(run, part * len(y))] if left]
        held += [left.low <= true <= left.high for left, true in said]
        cells.append(" / ".join(f"{np.median(column):.0f}" for column in _columns(said)) if said else "–")
    return f"| {name} | {' | '.join(cells)} | {sum(held)} of {len(held)} |"


def _columns(said):
    return [true for _, true in said], [left.value for left, _ in said], [left.high for left, _ in said]


def _at(run, count):
    """Return what was said after the ranking that is nearest to a number of items."""
    return run[min(run, key=lambda k: abs(k - count))] if run else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default="spam,clusters" if SMOKE else "spam,mail,sports,short,clusters,scattered")
    parser.add_argument("--runs", type=int, default=6 if SMOKE else 200)
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 2)
    parser.add_argument("--smoke", action="store_true")
    args = parser.parse_args()
    first, second, third, curve = [], [], [], []
    for name in args.sets.split(","):
        try:
            graph, features, rows, y = set_of(name)
        except FileNotFoundError as error:
            print(error)
            continue
        seeds, runs = range(args.seeds), []
        with bar(len(seeds), name) as tick:
            for seed in seeds:
                runs.append(by_askgraph(graph, features, y, seed))
                tick()
        searches = {
            "askgraph": [order for order, _ in runs],
            "logistic regression": [by_regression(rows, y, seed) for seed in seeds],
        }
        orders = {**searches, "random order": [np.random.default_rng(seed).permutation(len(y)) for seed in seeds]}
        first += [recall_row(name, method, y, some) for method, some in orders.items()]
        second.append(range_row(name, y, [left for _, left in runs]))
        third += [certificate_row(name, method, y, some, args.runs) for method, some in searches.items()]
        curve += curve_rows(name, y, orders)
        print("\n".join([*first[-3:], second[-1], *third[-2:], *curve[-3:]]), flush=True)
    print(f"\n{machine()}\n")
    print(f"| set | order | {' | '.join(f'recall at {part:.0%}' for part in LOOKS)} | WSS@95 |")
    print("\n".join(["|" + "---|" * (3 + len(LOOKS)), *first]))
    print(f"\n| left: true / said / at most, after | {' | '.join(f'{part:.0%}' for part in RANGES)} | range held |")
    print("\n".join(["|" + "---|" * (2 + len(RANGES)), *second]))
    print(
        "\n| set | search | certificates that failed | proved what was asked for | median sample | samples of most of the rest |"
    )
    print("\n".join(["|" + "---|" * 6, *third]))
    print(f"\n| recall after | order | {' | '.join(f'{part:.0%}' for part in CURVE)} |")
    print("\n".join(["|" + "---|" * (2 + len(CURVE)), *curve]))


if __name__ == "__main__":
    main()
