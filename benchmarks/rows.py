"""Accuracy at a few labels on texts and pictures, beside what people do without a graph: the figures of the README.

ASKGRAPH_DATA=folder python benchmarks/rows.py [--sets news,spam,mnist,emoji] [--seeds 4]     # prints Markdown tables

Texts: AG News (the published test set: 7,600 titles with descriptions, four classes) and SMS Spam (5,574 messages, two classes), as
trial/ag_test.csv.gz and trial/sms.tsv.gz in the folder ASKGRAPH_DATA. Beside askgraph: TF-IDF of words and logistic regression,
with labels drawn at random and by the smallest margin.

Pictures: 3,000 of MNIST's test images (trial/mnist_3000.npz), written as PNG files, and 1,906 emoji by their nine groups, from the
npm package emoji-datasource-twitter (npm pack emoji-datasource-twitter; tar xzf emoji-datasource-twitter-*.tgz), whose folder
--emoji names. Beside askgraph's own rows: plain pixels, brought to one size and compared by their distance.

All methods of a seed start from the same item and ask one at a time; accuracy is measured on all items without a label. A set
whose files are not here is left out, and the reason is printed.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from measure import SMOKE, machine
from PIL import Image
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import askgraph as ag
from askgraph.io.pixels import read_picture
from askgraph.support.progress import bar
from askgraph.support.wording import counted

BUDGETS = (5, 8) if SMOKE else (20, 50)
PENALTY = 300.0  # C of logistic regression: the best of 10, 300 and 10,000 on other texts
PIXELS = 32  # of a picture each way, where pixels are compared


def texts_of(name):
    """Return texts and their classes, or the reason why they are not here."""
    if SMOKE:
        return [f"{('red apple', 'blue sky')[k % 2]} {k}" for k in range(40)], np.arange(40) % 2
    file = {"news": "ag_test.csv.gz", "spam": "sms.tsv.gz"}[name]
    path = Path(os.environ.get("ASKGRAPH_DATA", "")) / "trial" / file
    if not path.exists():
        return f"{path} is not there: name the folder with the datasets in ASKGRAPH_DATA"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:  # a message may hold a carriage return
        rows = list(csv.reader(lines)) if name == "news" else [line.rstrip("\n").split("\t", 1) for line in lines]
    rows = [row for row in rows if row[0] != "Label"]  # some copies of SMS Spam have a header
    return [" ".join(row[1:]) for row in rows], np.array([row[0] for row in rows])


def pictures_of(name, folder, emoji):
    """Return files of pictures and their classes, or the reason why they are not here."""
    if name == "mnist" or SMOKE:
        path = Path(os.environ.get("ASKGRAPH_DATA", "")) / "trial" / "mnist_3000.npz"
        if not SMOKE and not path.exists():
            return f"{path} is not there: name the folder with the datasets in ASKGRAPH_DATA"
        images, y = _squares() if SMOKE else _arrays(path)
        files = [folder / f"{name}{k}.png" for k in range(len(y))]
        for file, image in zip(files, images, strict=True):
            Image.fromarray(image).save(file)
        return files, y
    if not (emoji / "emoji.json").exists():
        return f"no emoji in {emoji}: npm pack emoji-datasource-twitter, unpack it, and name the folder with --emoji"
    listed = json.loads((emoji / "emoji.json").read_text())
    found = [one for one in listed if one["has_img_twitter"] and one["category"] != "Component"]
    files = [emoji / "img" / "twitter" / "64" / one["image"] for one in found]
    return files, np.array([one["category"] for one in found])


def _arrays(path):
    with np.load(path) as found:
        return found["images"].reshape(-1, 28, 28), found["y"]


def _squares():
    y = np.arange(30) % 2
    images = np.random.default_rng(0).integers(0, 60, (30, 12, 12), dtype=np.uint8)
    images[y == 1, 3:9, 3:9] += 180
    return images, y


def asked(graph, y, first, seed):
    """Yield the items in the order askgraph asks for them, and what it predicts for all."""
    learner = ag.Learner(graph, rng=seed)
    node = first
    for t in range(1, max(BUDGETS) + 1):
        learner.tell(node, y[node])
        yield node, learner.predict() if t in BUDGETS else None
        node = learner.ask()


def regressed(rows, y, first, seed, margin):
    """Do the same by logistic regression, with questions by the smallest margin or at random."""
    rng, known = np.random.default_rng(seed), [first]
    for t in range(1, max(BUDGETS) + 1):
        p, classes = _fitted(rows, y, known) if margin or t in BUDGETS else (None, None)
        yield known[-1], classes[p.argmax(axis=1)] if t in BUDGETS else None
        left = np.setdiff1d(np.arange(len(y)), known)
        if margin and p.shape[1] > 1:
            top = np.sort(p[left], axis=1)
            known.append(int(left[(top[:, -1] - top[:, -2]).argmin()]))
        else:
            known.append(int(rng.choice(left)))


def _fitted(rows, y, known):
    """Fit on words that occur in a labeled text: all other words would get weight 0 from the penalty."""
    classes = np.unique(y[known])
    if classes.size == 1:
        return np.ones((len(y), 1)), classes
    some = rows[:, np.unique(rows[known].indices)]
    fitted = LogisticRegression(C=PENALTY, max_iter=1000).fit(some[known], y[known])
    return fitted.predict_proba(some), fitted.classes_


def accuracies(run, y):
    """Return the accuracy on items without a label, at each budget."""
    free, found = np.ones(len(y), dtype=bool), []
    for node, predicted in run:
        free[node] = False
        if predicted is not None:
            found.append((predicted[free] == y[free]).mean())
    return found


def text_methods(texts):
    rows = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    return {
        "askgraph": partial(asked, ag.nearest_texts(texts, meaning="none")),
        "askgraph, with the extra meaning": partial(asked, ag.nearest_texts(texts)),
        "TF-IDF, logistic regression, margin": partial(regressed, rows, margin=True),
        "TF-IDF, logistic regression, random": partial(regressed, rows, margin=False),
    }


def picture_methods(files):
    pixels = [np.asarray(read_picture(file).resize((PIXELS, PIXELS))).ravel() / 255 for file in files]
    return {
        "askgraph": partial(asked, ag.nearest_pictures(files)),
        "askgraph on plain pixels": partial(asked, ag.nearest_neighbors(np.stack(pixels))),
    }


def table(title, methods, y, seeds):
    """Print the mean accuracy of each method at each budget, and the lowest of the seeds."""
    print(
        f"\n{title}: {len(y):,} items, {np.unique(y).size} classes, {counted(seeds, 'seed')}; mean accuracy (lowest of the seeds)\n"
    )
    print("| | " + " | ".join(f"{budget} labels" for budget in BUDGETS) + " |\n|---|" + "---|" * len(BUDGETS))
    first = [int(np.random.default_rng(seed).integers(len(y))) for seed in range(seeds)]
    with bar(seeds * len(methods), title) as tick:
        for name, method in methods.items():
            found = []
            for seed in range(seeds):
                found.append(accuracies(method(y=y, first=first[seed], seed=seed), y))
                tick()
            cells = [f"{mean:.3f} ({low:.3f})" for mean, low in zip(np.mean(found, 0), np.min(found, 0), strict=True)]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="news,spam,mnist,emoji")
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 4)
    parser.add_argument("--emoji", type=Path, default=Path("package"), help="the unpacked npm package")
    parser.add_argument("--smoke", action="store_true", help="all parts at their smallest size")
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets.split(","):
            texts = name in ("news", "spam")
            found = texts_of(name) if texts else pictures_of(name, Path(folder), given.emoji)
            if isinstance(found, str):
                print(f"\n{name} is left out: {found}")
                continue
            rows, y = found
            table(name, (text_methods if texts else picture_methods)(rows), y, given.seeds)


if __name__ == "__main__":
    main()
