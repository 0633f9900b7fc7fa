"""Rounding error of thousands of labels told one by one, against the same labels folded in at once (promise 16 at length).

python benchmarks/drift.py [grid] [road] ["power law"]     # all by default; prints a Markdown table, some minutes per row
"""

from __future__ import annotations

import sys
import time

import numpy as np
from measure import SMOKE, Meter, in_own_process, machine
from scale import built

CASES = {"grid": (20_000, 10_000), "road": (100_000, 5_000), "power law": (100_000, 5_000)}
if SMOKE:
    CASES = {"grid": (1_600, 60), "road": (1_000, 60), "power law": (1_000, 60)}


def told(kind, n, labels):
    """Tell random labels at random nodes; return seconds, the rounding error, and the smallest variance left."""
    import askgraph as ag
    from askgraph.answers.coding import means
    from askgraph.field import Field

    graph = ag.grid(160, n // 160) if kind == "grid" else built(kind, n)
    rng, prior, meter = np.random.default_rng(0), ag.prior(graph, 0.005), Meter()
    field = Field.start(prior, 3, squares=False)
    start = time.perf_counter()
    for node in rng.permutation(graph.n_nodes)[:labels].tolist():
        field = field.observe(node, int(rng.integers(3)))
    seconds, megabytes = time.perf_counter() - start, meter.megabytes
    fresh = Field.start(prior, 3, squares=False).extended(field.observations)
    gap, least = np.abs(means(field.votes) - means(fresh.votes)).max(), field.spread.variance[~field.labeled].min()
    return graph.n_nodes, prior.name, seconds, gap, least, megabytes


if __name__ == "__main__":
    print(f"Machine: {machine()}.\n")
    print(
        "| graph | engine | labels | seconds | largest difference of the mean | smallest variance left | peak memory |"
    )
    print("|---|---|---|---|---|---|---|")
    for kind in [kind for kind in sys.argv[1:] if kind != "--smoke"] or CASES:
        n, labels = CASES[kind]
        nodes, engine, seconds, gap, least, megabytes = in_own_process(told, kind, n, labels)
        name = f"{kind}, {nodes:,} nodes"
        print(
            f"| {name} | {engine} | {labels:,} | {seconds:.0f} | {gap:.1e} | {least:.3f} | {megabytes:.0f} MB |",
            flush=True,
        )
