"""Remark 2: compare a ±1 field and a {0, 1} field of the same labels, with the names of the two classes exchanged or not."""

from __future__ import annotations

import numpy as np

from askgraph.learner import Learner
from askgraph.paper.plan import Experiment
from askgraph.simulate import Problem
from askgraph.simulate.runs import Record

KINDS = ("plus_minus", "zero_one")


def key(experiment: Experiment, seed: int, name: str) -> str:
    """Return the key of a record; ``name`` is the name of the graph."""
    return f"{experiment.name}, {name}, delta {experiment.delta:g}, budget {experiment.budget}, seed {seed}"


def symmetry(experiment: Experiment, seed: int, problem: Problem) -> Record:
    """Return the accuracies of both models after each random label, with the names as they are and exchanged."""
    first, second = problem.classes
    record: Record = {"experiment": experiment.name, "seed": seed}
    for words, classes in (("", [first, second]), ("_swapped", [second, first])):
        curves = _curves(problem, classes, experiment, seed)
        record |= {f"{kind}{words}": curve for kind, curve in zip(KINDS, curves, strict=True)}
    return record


def _curves(problem: Problem, classes: list[object], experiment: Experiment, seed: int) -> tuple[list[float], ...]:
    learner = Learner(problem.graph, "random", delta=experiment.delta, rng=seed, classes=classes)
    truth = np.array([classes.index(x) for x in problem.truth])
    curves: tuple[list[float], ...] = ([], [])
    for step in learner.run(lambda node: problem.truth[problem.graph.index(node)], experiment.budget):
        votes, rest = step.field.votes, ~step.field.labeled
        lead = np.sign(np.round(votes[:, 1] - votes[:, 0], 9))  # ±1 field; 0 counts as half right
        cut = np.where(votes[:, 1] > 0.5, 1, -1)  # a zero-mean field of {0, 1} labels, cut at 1/2 (Zhu et al.)
        for curve, side in zip(curves, (lead, cut), strict=True):
            right = (1 + side * (2 * truth - 1)) / 2
            curve.append(round(float(right[rest].mean()), 6))
    return curves
