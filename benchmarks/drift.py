"""Promise 16, the long form: 10,000 labels one after another, against the same labels folded in at once.

python benchmarks/drift.py     # a few minutes; prints the largest difference of the mean and the smallest variance left
"""

from __future__ import annotations

import time

import numpy as np

import askgraph as ag
from askgraph.field import Field


def main(rows=160, columns=125, labels=10_000):
    graph = ag.grid(rows, columns)
    rng = np.random.default_rng(0)
    prior = ag.prior(graph, 0.005)
    field = Field.start(prior, 3, squares=False)
    start = time.perf_counter()
    for node in rng.permutation(graph.n_nodes)[:labels].tolist():
        field = field.observe(node, int(rng.integers(3)))
    seconds = time.perf_counter() - start
    fresh = Field.start(prior, 3, squares=False).extended(field.labels)
    print(f"{prior.reason}; {labels:,} labels in {seconds:.0f} s")
    print(f"largest difference of the mean: {np.abs(field.mean - fresh.mean).max():.1e}")
    print(f"smallest variance of an unlabeled node: {field.spread.variance[~field.labeled].min():.3f}")


if __name__ == "__main__":
    main()
