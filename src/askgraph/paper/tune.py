"""Tune delta and threshold of the similarity graphs as the paper describes, on seeds that no figure uses."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from askgraph.paper.plan import BUDGETS, DELTAS, SAMPLERS, SMALL, Experiment, Tuned
from askgraph.paper.problems import TABLES, Source
from askgraph.paper.run import Results, fill

SHARES = (0.0, 0.5, 0.75, 0.9, 0.95, 0.98)  # shares of the positive weights that the thresholds cut
FIRST_SEED = 1000


def tune(folder: Path, data: str | os.PathLike[str] | None, workers: int, centered: bool = False) -> Tuned:
    """Choose for each threshold the delta that is best for random sampling, then the threshold where the best sampler peaks."""
    ridges = [x for name in TABLES for source in _sources(name, data, centered) for x in _ridges(source)]
    passive = fill(folder, ridges, data, workers, "tuning")
    best = {source: _best(passive, [x for x in ridges if x.source == source]) for source in _distinct(ridges)}
    methods = [replace(x, samplers=SAMPLERS, repeats=5) for x in best.values()]
    active = fill(folder, methods, data, workers, "tuning")
    return {name: _chosen(active, [x for x in methods if x.source.data == name]) for name in TABLES}


def _sources(name: str, data: str | os.PathLike[str] | None, centered: bool) -> list[Source]:
    whole = Source(name, 0.0, centered)
    weights = whole.problem(data).graph.weights.data
    cuts = [0.0, *(round(float(np.quantile(weights, share)), 3) for share in SHARES[1:])]
    return [replace(whole, threshold=cut) for cut in dict.fromkeys(cuts)]


def _ridges(source: Source) -> list[Experiment]:
    doubt = "sqrt" if source.data in SMALL else None
    like = Experiment("", source, BUDGETS[source.data], 10, ("random",), doubt, first_seed=FIRST_SEED)
    return [replace(like, name=f"{source} delta {delta:g}", delta=delta) for delta in DELTAS]


def _distinct(wanted: Sequence[Experiment]) -> list[Source]:
    return list(dict.fromkeys(x.source for x in wanted))


def _best(results: Results, wanted: Sequence[Experiment]) -> Experiment:
    return max(wanted, key=lambda x: _mean(results, x, "random"))


def _chosen(results: Results, wanted: Sequence[Experiment]) -> dict[str, float]:
    peak = max(wanted, key=lambda x: max(_mean(results, x, sampler) for sampler in x.samplers))
    whole = next(x for x in wanted if x.source.threshold == 0)
    return {"threshold": peak.source.threshold, "delta": peak.delta, "delta_whole": whole.delta}


def _mean(results: Results, experiment: Experiment, sampler: str) -> float:
    """Return the mean accuracy over runs and labels."""
    return float(results.curves(experiment.name, sampler).mean())
