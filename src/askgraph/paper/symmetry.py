"""Remark 2: how many predictions change when the two classes exchange their names, on a ±1 field and on a {0, 1} field."""

from __future__ import annotations

import numpy as np

from askgraph.learner import Learner
from askgraph.paper.plan import Experiment
from askgraph.simulate import Problem
from askgraph.simulate.runs import Record
from askgraph.types import IntArray

KINDS = ("plus_minus", "zero_one")


def key(experiment: Experiment, seed: int, name: str) -> str:
    """Return the key of a record; ``name`` is the name of the graph."""
    return f"{experiment.name}, {name}, delta {experiment.delta:g}, budget {experiment.budget}, seed {seed}"


def symmetry(experiment: Experiment, seed: int, problem: Problem) -> Record:
    """Return the share of the unlabeled nodes whose prediction changes with the names, after each random label, for both fields."""
    first, second = problem.classes
    one, other = (_predictions(problem, order, experiment, seed) for order in ([first, second], [second, first]))
    record: Record = {"experiment": experiment.name, "seed": seed}
    for kind in KINDS:
        # 1 is the class named second, -1 the first, 0 between the two: the same class has the other sign in the other order
        changed = [float((a[kind] != -b[kind]).mean()) for a, b in zip(one, other, strict=True)]
        record[kind] = [round(share, 6) for share in changed]
    return record


def _predictions(problem: Problem, order: list[object], experiment: Experiment, seed: int) -> list[dict[str, IntArray]]:
    learner = Learner(problem.graph, "random", delta=experiment.delta, noise=0.0, rng=seed, classes=order)
    found = []
    for step in learner.run(lambda node: problem.truth[problem.graph.index(node)], experiment.budget):
        votes = step.field.votes[~step.field.labeled]
        lead = np.sign(np.round(votes[:, 1] - votes[:, 0], 9)).astype(int)
        cut = np.where(votes[:, 1] > 0.5, 1, -1)  # a zero-mean field of {0, 1} labels, cut at 1/2 (Zhu et al.)
        found.append(dict(zip(KINDS, (lead, cut), strict=True)))
    return found
