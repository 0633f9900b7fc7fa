"""Remark 2: a ±1 field and a {0, 1} field of the same labels, with the classes named one way and the other."""

from __future__ import annotations

import numpy as np

from askgraph.learner import Learner
from askgraph.paper.plan import Experiment
from askgraph.simulate import Problem, Record

KINDS = ("plus_minus", "zero_one")


def symmetry(experiment: Experiment, seed: int, problem: Problem) -> Record:
    """Accuracies after each random label of both models, as the classes are named and with their names exchanged."""
    first, second = problem.classes
    record: Record = {
        "experiment": experiment.name,
        "budget": experiment.budget,
        "delta": experiment.delta,
        "seed": seed,
    }
    for words, classes in (("", [first, second]), ("_swapped", [second, first])):
        curves = _curves(problem, classes, experiment, seed)
        record |= {f"{kind}{words}": curve for kind, curve in zip(KINDS, curves, strict=True)}
    return record


def _curves(problem: Problem, classes: list[object], experiment: Experiment, seed: int) -> tuple[list[float], ...]:
    learner = Learner(problem.graph, "random", delta=experiment.delta, rng=seed, classes=classes)
    truth = np.array([classes.index(x) for x in problem.truth])
    curves: tuple[list[float], ...] = ([], [])
    for step in learner.run(lambda node: problem.truth[problem.graph.index(node)], experiment.budget):
        rest = ~step.field.labeled
        one = step.field.votes[:, 1] > 0.5  # the mean of a zero-mean field of {0, 1} labels, cut half way (Zhu et al.)
        for curve, decided in zip(curves, (step.field.predict(), one), strict=True):
            curve.append(round(float((decided == truth)[rest].mean()), 6))
    return curves
