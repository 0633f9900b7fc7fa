"""Promises 31 to 33 at length: values that do not belong, damaged files, broken sparse matrices, and what checking these costs.

python benchmarks/inputs.py values              # every value in every place of the public functions
python benchmarks/inputs.py files [count]       # 10,000 damaged files by default
python benchmarks/inputs.py matrices [count]    # 5,000 broken matrices by default, 250 per process
python benchmarks/inputs.py cost                # the check of a matrix beside building the graph and its field
python benchmarks/inputs.py --smoke             # forty files and ten matrices, to see that it runs
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from measure import SMOKE

sys.path.insert(0, str(Path(__file__).parents[1]))
import askgraph as ag
from askgraph.graph.sources import check_structure
from tests.helpers.bad_inputs import bad_inputs, tried
from tests.helpers.mutated import megabytes, mutated_files, summary

PER_PROCESS = 250


def values(folder):
    counts = summary(tried(name, call) for name, call in bad_inputs(folder))
    return _report("values", counts)


def files(folder, count=10_000):
    return _report("damaged files", summary(mutated_files(folder, count, np.random.default_rng(0))))


def matrices(folder, count=5_000):
    crashed, counts = 0, Counter()
    for seed in range(max(1, count // PER_PROCESS)):
        command = [sys.executable, "-m", "tests.helpers.mutated", "matrices", str(seed), str(min(count, PER_PROCESS))]
        done = subprocess.run(
            command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=600, check=False
        )
        crashed += done.returncode != 0
        counts["escaped"] += done.stdout.count(" | ") // 2
        counts["tried"] += min(count, PER_PROCESS)
    print(f"matrices: {counts['tried']} tried, {crashed} processes crashed or hung, {counts['escaped']} escaped")
    return crashed == counts["escaped"] == 0


def cost(folder, nodes=200_000):
    W = ag.power_law(nodes, 5, rng=0).weights
    seconds = []
    for work in (lambda: check_structure(W), lambda: ag.Graph(W), lambda: ag.prior(ag.Graph(W))):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    check, graph, field = seconds
    print(
        f"{nodes:,} nodes: check {1e3 * check:.0f} ms, graph {1e3 * graph:.0f} ms, graph and field {1e3 * field:.0f} ms (CPU)"
    )
    return check < field


def _report(what, counts):
    print(f"{what}: {counts.total():,} tried, {dict(counts)}, at most {megabytes():.0f} MB")
    return set(counts) <= {"result", "refused"}


if __name__ == "__main__":
    given = sys.argv[1:]
    what = {"values": values, "files": files, "matrices": matrices, "cost": cost}
    with tempfile.TemporaryDirectory() as folder:
        if SMOKE:
            kept = files(Path(folder), 40) and matrices(Path(folder), 10)
        else:
            kept = what[given[0]](Path(folder), *map(int, given[1:]))
    sys.exit(0 if kept else "a promise is not kept")
