"""Many texts to their first question: python benchmarks/many_texts.py [--texts 1000,7600,200000] [--against OTHER/src | --page]

CPU seconds by stage, memory, and the share of true neighbors that the notes of the graph tell, each number of texts in a process of
its own. Texts are the sentences of the descriptions of Debian packages (ASKGRAPH_DATA), varied by a seed until there are enough:
some words are dropped, some are others of the same texts, and some sentences end as another one does. With --against, another
checkout does the same in turns. With --page, somebody labels them on the page while they are compared.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from measure import SMOKE, machine
from workbench import Running, asked

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
DROPPED, OTHER, JOINED = (
    0.1,
    0.1,
    0.3,
)  # the share of words left out, of words exchanged, and of sentences with another end
STAGES = ("rows", "neighbors", "graph", "features", "question")
THINKS = 2.0 if not SMOKE else 0.0  # seconds that somebody thinks
WAYS = {"none": "words and fragments", "wordllama": "and meaning"}


def described():
    """Return sentences of package descriptions, each once."""
    if SMOKE:
        return [
            f"{a} {b} {c} the {a} and no {b}"
            for a in ["cat", "dog", "bird"]
            for b in ["sails", "runs"]
            for c in ["off", "up"]
        ]
    path = Path(os.environ.get("ASKGRAPH_DATA", ""), "trial", "packages.csv.gz")
    rows = csv.DictReader(gzip.decompress(path.read_bytes()).decode().splitlines())
    found = [sentence.strip() for row in rows for sentence in SENTENCE.split(row["description"])]
    return list(dict.fromkeys(sentence for sentence in found if len(sentence.split()) > 3))


def sentences(count, seed=0):
    """Return ``count`` distinct sentences: the described ones in any order, then variants of them."""
    rng = np.random.default_rng(seed)
    split = [sentence.split() for sentence in described()]
    words = [word for sentence in split for word in sentence]
    found = dict.fromkeys(" ".join(split[k]) for k in rng.permutation(len(split)))
    while len(found) < count:
        one = split[rng.integers(len(split))]
        if rng.random() < JOINED:
            other = split[rng.integers(len(split))]
            one = one[: len(one) // 2] + other[len(other) // 2 :]
        draw = rng.random(len(one))
        kept = [
            words[rng.integers(len(words))] if d < OTHER else w
            for w, d in zip(one, draw, strict=True)
            if d < 1 - DROPPED
        ]
        found[" ".join(kept)] = None
    return list(found)[:count]


class Stopwatch:
    """CPU seconds by stage; a stage within another does not count for that one."""

    def __init__(self):
        self.seconds = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def stage(self, name, within=None):
        start = time.process_time()
        yield
        spent = time.process_time() - start
        self.seconds[name] += spent
        if within:
            self.seconds[within] -= spent


def child(count, meaning):
    """Take texts to their first question; print the seconds of each stage, and what the graph says of itself, as JSON."""
    import askgraph as ag
    from askgraph.graph import build
    from askgraph.graph.texts import choose_words, join_written, text_rows
    from askgraph.priors.features import linear_part

    watch, search = Stopwatch(), build.find_neighbors

    def timed(*args):
        with watch.stage("neighbors", within="graph"):
            return search(*args)

    build.find_neighbors = timed
    texts = sentences(count)
    start = time.process_time()
    with watch.stage("rows"):
        rows = text_rows(texts, choose_words(texts, meaning))
    with watch.stage("graph"):
        graph = join_written(rows, 10)
    with watch.stage("features"):
        features = linear_part(graph, rows, from_start=False)
    with watch.stage("question"):
        asked = ag.Learner(graph, features=features, rng=0, classes=range(6)).ask()
    total = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({**watch.seconds, "all": total, "GB": peak, "asked": int(asked), "notes": list(graph.notes)}))


def run(source, count, meaning):
    """Return what a child process with this source finds."""
    path = os.pathsep.join([str(source), str(source.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, __file__, "--child", str(count), meaning, *["--smoke"][: int(SMOKE)]]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def row_of(count, way, name, found):
    """Return a row of the table."""
    recall = next((part for note in found["notes"] for part in re.findall(r"[\d.]+%(?= of the true)", note)), "all")
    cells = [f"{found[stage]:.1f}" for stage in (*STAGES, "all")]
    return " | ".join(["", f"{count:,}", WAYS[way], name, *cells, f"{found['GB']:.2f}", recall, ""]).strip()


def on_the_page(count):
    """Print how long somebody waits who labels texts: for the first question, for the next ones, and until texts are compared."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "sentences.csv")
        with table.open("w", newline="") as file:
            csv.writer(file).writerows([["text"], *([one] for one in sentences(count))])
        running = Running(table, "--text", "text", "--classes", "a,b")
        start, waits, compared = time.perf_counter(), [], None
        try:
            with running.client() as client:
                said = asked(client, "ann")
                while compared is None:
                    time.sleep(THINKS)
                    item, before = said["question"]["item"]["id"], time.perf_counter()
                    body = {"key": str(uuid.uuid4()), "who": "ann", "item": item, "kind": "label", "seconds": THINKS}
                    said = client.post("/api/answer", json={**body, "label": "ab"[int(item) % 2]}).json()
                    said = said if said["question"] else asked(client, "ann")
                    waits.append(1e3 * (time.perf_counter() - before))
                    if client.get("/api/state", params={"who": "ann"}).json()["comparing"] is None:
                        compared = running.first + time.perf_counter() - start
        finally:
            running.stop()
    cells = f"{running.first:.1f} | {np.median(waits):.0f} | {max(waits):.0f} | {len(waits)} | {compared:.0f}"
    print(f"| {count:,} | {cells} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", default="40" if SMOKE else "1000,7600,100000,200000")
    parser.add_argument("--meaning", default="none" if SMOKE else ",".join(WAYS))
    parser.add_argument("--against", type=Path)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--child", nargs=2)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    if options.child:
        return child(int(options.child[0]), options.child[1])
    if options.page or SMOKE:
        print(machine())
        print(
            "| texts | first question, s | next one, median ms | longest ms | answers until compared | compared after s |"
        )
        print("|" + "---|" * 6)
        for count in map(int, options.texts.split(",")):
            on_the_page(count)
        if options.page:
            return None
    sources = {"now": Path(__file__).parents[1] / "src"}
    sources |= {"before": options.against.resolve()} if options.against else {}
    print(machine())
    print(f"| texts | compared by | source | {' | '.join(STAGES)} | CPU s in all | GB | true neighbors found |")
    print("|" + "---|" * (len(STAGES) + 6))
    for count in map(int, options.texts.split(",")):
        for way in options.meaning.split(","):
            for name, source in sources.items():
                print(row_of(count, way, name, run(source, count, way)), flush=True)
    return None


if __name__ == "__main__":
    main()
