"""From a file to the first question, and from an empty cache of compiled code to it: CPU seconds, and seconds.

python benchmarks/start.py [--cases "10,000 x 8" "3,000 x 785"] [--cold 5000 60000] [--against OTHER/src] [--draw start.png]

Files are made in a temporary folder: tables of random numbers; news and shuffled news (ASKGRAPH_DATA/trial/ag_test.csv.gz);
digits as PNG files (ASKGRAPH_DATA/trial/mnist_3000.npz). Each case runs in a process of its own, what `askgraph label` does until
a person sees a question, but for the server. It runs twice, and the second run counts: all code is compiled then. With --against,
the source of another version runs in turns with this one. --cold gives numbers of rows, in 3 and in 30 dimensions; --draw makes a
picture of what they took. PYTHONDONTWRITEBYTECODE is ignored: who uses a package has its bytecode.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measure import SMOKE, machine

DATA = Path(os.environ.get("ASKGRAPH_DATA", "")) / "trial"
HERE = Path(__file__).parents[1] / "src"
NUMBERS = {
    "10,000 x 8": (10_000, 8),
    "3,000 x 785": (3_000, 785),
    "100,000 x 50": (100_000, 50),
    "1,000,000 x 3": (10**6, 3),
}
TEXTS = {"7,600 texts": 7_600, "100,000 texts": 100_000}
CASES = [*NUMBERS, *TEXTS, "3,000 pictures"]
FROM_FILE = """
from askgraph.workbench.source import Source
from askgraph.workbench.project import Project
Project.create(sys.argv[2], Source(sys.argv[1]))
with Project.open(sys.argv[2], write=True) as project:
    project.learner.ask()
"""
FROM_POINTS = """
import numpy as np
import askgraph as ag
points = np.random.default_rng(0).random((int(sys.argv[1]), int(sys.argv[2])))
ag.Learner(ag.nearest_neighbors(points), rng=0).ask()
"""
TIMED = """
import os, sys, time
start = time.perf_counter()
{}
print(*os.times()[:2], time.perf_counter() - start)
"""


def seconds(code, source, *arguments, cache):
    """Return the CPU seconds, imports included, and the seconds of a fresh process that runs this code."""
    env = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", TIMED.format(code), *map(str, arguments)],
        env=env,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    user, system, wall = map(float, done.stdout.split()[-3:])
    return user + system, wall


def made(case, folder):
    """Write the file of a case; return its path, or None where the data is not here."""
    path, rng = folder / "items.csv", np.random.default_rng(0)
    if case in NUMBERS:
        rows, columns = (60, 3) if SMOKE else NUMBERS[case]
        header = ",".join(f"x{k}" for k in range(columns))
        np.savetxt(path, rng.random((rows, columns)), "%.6f", ",", header=header, comments="")
        return path
    if SMOKE:
        texts = [(f"red apple {k}", f"a long text about {k} apples and pears") for k in range(40)]
        return _written(path, texts)
    if case in TEXTS and (file := DATA / "ag_test.csv.gz").exists():
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            news = np.array([row[1:3] for row in csv.reader(lines)])
        if (n := TEXTS[case]) > len(news):
            news = np.column_stack([rng.choice(news[:, 0], n), rng.choice(news[:, 1], n)])
        return _written(path, news)
    if case not in TEXTS and (file := DATA / "mnist_3000.npz").exists():
        return _pictures(folder / "pictures", file)
    return None


def _written(path, texts):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("title", "description"), *texts])
    return path


def _pictures(folder, file):
    from PIL import Image

    folder.mkdir()
    arrays = np.load(file)
    pixels = max((arrays[name] for name in arrays), key=np.size).reshape(-1, 28, 28)
    for k, picture in enumerate(pixels):
        Image.fromarray(np.asarray(picture, dtype=np.uint8)).save(folder / f"{k}.png")
    return folder


def from_files(cases, sources):
    """Print a table: CPU seconds and seconds of each case, by each source."""
    print(
        f"| file | {' | '.join(f'{name}: CPU s | {name}: s' for name in sources)} |\n|{'---|' * (1 + 2 * len(sources))}"
    )
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = made(case, Path(folder))
            if path is None:
                print(f"| {case} | its data is not in ASKGRAPH_DATA |")
                continue
            cells = []
            for turn in range(1 if SMOKE else 2):
                found = [
                    seconds(FROM_FILE, source, path, f"{folder}/{name}{turn}.ask", cache=f"{folder}/{name}")
                    for name, source in sources.items()
                ]
                cells = [f"{value:.1f}" for pair in found for value in pair]
            print(f"| {case} | {' | '.join(cells)} |", flush=True)


def from_nothing(sizes, sources):
    """Print and return a table: CPU seconds with an empty cache and with a full one."""
    table = []
    print("\n| rows | dimensions | version | cold, CPU s | warm, CPU s | ratio |\n|---|---|---|---|---|---|")
    for rows in sizes:
        for dimensions in (3,) if SMOKE else (3, 30):
            for name, source in sources.items():
                with tempfile.TemporaryDirectory() as cache:
                    cold, warm = (seconds(FROM_POINTS, source, rows, dimensions, cache=cache)[0] for _ in range(2))
                print(f"| {rows:,} | {dimensions} | {name} | {cold:.1f} | {warm:.1f} | {cold / warm:.1f} |", flush=True)
                table.append((rows, dimensions, name, cold, warm))
    return table


def draw(table, path):
    """Draw the CPU seconds to the first question, cold and warm, by the number of rows, one panel for each dimension."""
    from matplotlib import pyplot as plt

    panels = sorted({row[1] for row in table})
    figure, axes = plt.subplots(1, len(panels), figsize=(4.5 * len(panels), 3.4), sharey=True, squeeze=False)
    for axis, dimensions in zip(axes[0], panels, strict=True):
        for name, color in (("before", "0.6"), ("now", "C0")):
            found = sorted(row for row in table if row[1:3] == (dimensions, name))
            for k, style in ((3, "-"), (4, "--")):
                label = f"{name}, {'empty cache' if k == 3 else 'all compiled'}"
                if found:
                    axis.plot(
                        [row[0] for row in found],
                        [row[k] for row in found],
                        style,
                        marker="o",
                        color=color,
                        label=label,
                    )
        axis.set(xscale="log", xlabel="rows", title=f"{dimensions} dimensions")
        sizes = sorted({row[0] for row in table})
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axis.set_xticks([], minor=True)
    axes[0, 0].set(ylabel="CPU seconds to the first question", ylim=(0, None))
    axes[0, -1].legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=150, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=["10,000 x 8", "7,600 texts"] if SMOKE else CASES, choices=CASES)
    parser.add_argument("--cold", nargs="*", type=int, default=[60] if SMOKE else [5_000, 60_000])
    parser.add_argument("--against", type=Path)
    parser.add_argument("--draw", type=Path, metavar="FILE")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    sources = {"before": options.against} if options.against else {}
    sources["now"] = HERE
    print(machine() + "\n")
    from_files(options.cases, sources)
    table = from_nothing(options.cold, sources)
    if options.draw:
        draw(table, options.draw)


if __name__ == "__main__":
    main()
