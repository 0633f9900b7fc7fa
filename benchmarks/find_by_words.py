"""Find a class that nobody has an example of: when the first item of it is asked for, with a sentence that describes it or without.

ASKGRAPH_DATA=folder python benchmarks/find_by_words.py [--classes mail,web,Sports] [--draws 10]     # prints a Markdown table

Texts, in the folder trial of ASKGRAPH_DATA: Debian packages (packages.csv.gz and packages_sections.csv.gz: 5,111 descriptions of
six sections) and AG News (ag_test.csv.gz: 7,600 news of four subjects). Of the class that is sought only 60 items are kept, drawn
anew in each draw. Items are joined to the ten that are most alike, as ``askgraph init --text`` joins them, but by rows of all
items, and by a linear function of these once leave-one-out asks for it. Nobody knows an item of the class at first. Without a
sentence questions are chosen as usual until one of it and another one are known, then the likeliest are asked for; with it, the
most alike are asked for until three of it and another one are known, as in a project. Every eighth item is a spot check. Each
sentence was written once, from the name of the class, before anything was run.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from pathlib import Path

import numpy as np
from measure import SMOKE, machine

import askgraph as ag
from askgraph.graph.texts import Texts
from askgraph.support.progress import bar
from askgraph.workbench.joining import directed_features
from askgraph.workbench.model import ENOUGH

KEPT = 60  # items of the class that is sought
QUESTIONS = 50
NEIGHBORS = 10
CHECKS = 8
SENTENCES = {
    "games": "a game to play, such as a puzzle, arcade or board game",
    "graphics": "view, edit or convert images and photos",
    "mail": "an SMTP server or client that delivers e-mail",
    "science": "scientific computation, such as chemistry, biology or physics",
    "sound": "play, record or edit sound and music",
    "web": "a web server, a browser or a tool for web sites",
    "World": "war, elections and politics between countries",
    "Sports": "a match, a team and who won the game",
    "Business": "companies, markets, oil prices and profits",
    "Sci/Tech": "software, computers, the internet and space",
}
SUBJECTS = {"1": "World", "2": "Sports", "3": "Business", "4": "Sci/Tech"}


def lines_of(name):
    path = Path(os.environ.get("ASKGRAPH_DATA", "")) / "trial" / name
    if not path.exists():
        raise SystemExit(f"{path} is not there: name the folder with the datasets in ASKGRAPH_DATA")
    return gzip.open(path, "rt", encoding="utf-8", newline="")


def read_set(news):
    """Return texts and the class of each."""
    if SMOKE:
        kinds = np.array(["mail"] * 70 + ["web"] * 80)
        words = {"mail": "e-mail server delivers", "web": "browser for web sites"}
        return [f"{words[kind]} {k % 7}" for k, kind in enumerate(kinds)], kinds
    if news:
        rows = list(csv.reader(lines_of("ag_test.csv.gz")))
        return [" ".join(row[1:]) for row in rows], np.array([SUBJECTS[row[0]] for row in rows])
    sections = dict(csv.reader(lines_of("packages_sections.csv.gz")))
    rows = list(csv.DictReader(lines_of("packages.csv.gz")))
    return [row["description"] for row in rows], np.array([sections[row["id"]] for row in rows])


def all_cosines(rows):
    """Return the cosines of all pairs, and −1 of each text with itself."""
    unit = rows / np.sqrt((rows * rows).sum(axis=1))[:, None]
    unit = unit.astype(np.float32).tocsr()
    found = np.vstack([(unit[at : at + 500] @ unit.T).toarray() for at in range(0, unit.shape[0], 500)])
    np.fill_diagonal(found, -1.0)
    return found


def join(cosines):
    nearest = np.argpartition(-cosines, NEIGHBORS, axis=1)[:, :NEIGHBORS]
    return ag.from_neighbors(np.maximum(1 - np.take_along_axis(cosines, nearest, axis=1), 0), nearest)


def search(graph, features, is_sought, like, seed):
    """Return at which questions an item of the class came."""
    learner, hits, asked = ag.Learner(graph, rng=seed, spot_checks=CHECKS, features=features), [], 0
    while asked < QUESTIONS:
        known = len(hits)
        words = like if not ENOUGH <= known < asked else None
        seeks = words is not None or 0 < known < asked
        question = learner.question(plan=learner.plan.finding(True, words) if seeks else None)
        asked += 1
        learner.tell(question, bool(is_sought[question.node]))
        hits += [asked] * bool(is_sought[question.node])
    return hits


def row(name, way, found):
    """Return a row of the table: the first hit, and how many hits there are."""
    first = sorted(hits[0] if hits else QUESTIONS + 1 for hits in found)
    said = [f"> {QUESTIONS}" if k > QUESTIONS else f"{k:.0f}" for k in (np.median(first), first[-1])]
    soon = sum(k <= 10 for k in first)
    return f"| {name} | {way} | {said[0]} | {said[1]} | {soon} of {len(first)} | {np.mean([len(hits) for hits in found]):.1f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", default="mail" if SMOKE else ",".join(SENTENCES))
    parser.add_argument("--draws", type=int, default=1 if SMOKE else 10)
    parser.add_argument("--smoke", action="store_true")
    args = parser.parse_args()
    wanted, table = args.classes.split(","), []
    for news in (False, True):
        names = [name for name in wanted if (name in SUBJECTS.values()) == news]
        if not names:
            continue
        texts, classes = read_set(news)
        read = Texts(texts)
        cosines = all_cosines(read.rows)
        for name in names:
            like, found = read.cosines(SENTENCES[name]), {"as usual": [], "with a sentence": []}
            with bar(args.draws, name) as tick:
                for seed in range(args.draws):
                    some = np.random.default_rng(seed).choice(np.flatnonzero(classes == name), KEPT, replace=False)
                    kept = np.sort(np.concatenate([np.flatnonzero(classes != name), some]))
                    graph, sought = join(cosines[np.ix_(kept, kept)]), classes[kept] == name
                    features = directed_features(graph, read.rows[kept])
                    for way, words in zip(found, (None, like[kept]), strict=True):
                        found[way].append(search(graph, features, sought, words, seed))
                    tick()
            table += [row(name, way, hits) for way, hits in found.items()]
            print("\n".join(table[-2:]), flush=True)
    print(f"\n{machine()}\n")
    print(f"| class | questions | first hit, median | latest | within 10 | hits within {QUESTIONS} |")
    print("\n".join(["|" + "---|" * 6, *table]))


if __name__ == "__main__":
    main()
