"""Tune delta and threshold as the paper describes, on seeds that no figure uses."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from askgraph.paper.plan import BUDGETS, DELTAS, SAMPLERS, SMALL, Experiment, Tuned
from askgraph.paper.problems import SYNTHETIC, TABLES, Source
from askgraph.paper.run import Results, fill

SHARES = (0.0, 0.5, 0.75, 0.9, 0.95, 0.98)  # shares of the positive weights that the thresholds cut
FIRST_SEED = 1000
RUNS_SYNTHETIC = 50  # runs of random sampling per delta, on graphs that are drawn again in every run
RUNS, RUNS_OF_METHODS = 10, 5  # runs of random sampling per threshold and delta, and of each sampler per threshold


def tune(folder: Path, data: str | os.PathLike[str] | None, workers: int, centered: bool = False) -> Tuned:
    """Choose the delta that is best for random sampling; for similarity graphs, then the threshold where the best sampler peaks."""
    sources = [Source(name) for name in SYNTHETIC]
    sources += [source for name in TABLES for source in _thresholds(name, data, centered)]
    ridges = [x for source in sources for x in _ridges(source)]
    passive = fill(folder, ridges, data, workers, "tuning", "random sampling")
    best = {source: _best(passive, [x for x in ridges if x.source == source]) for source in sources}
    methods = [replace(x, samplers=SAMPLERS, repeats=RUNS_OF_METHODS) for x in best.values() if x.source.data in TABLES]
    active = fill(folder, methods, data, workers, "tuning", "all samplers")
    synthetic = {source.data: {"delta": x.delta} for source, x in best.items() if source.data in SYNTHETIC}
    return synthetic | {name: _chosen(active, [x for x in methods if x.source.data == name]) for name in TABLES}


def _thresholds(name: str, data: str | os.PathLike[str] | None, centered: bool) -> list[Source]:
    whole = Source(name, 0.0, centered)
    weights = whole.problem(data).graph.weights.data
    cuts = [0.0, *(round(float(np.quantile(weights, share)), 3) for share in SHARES[1:])]
    return [replace(whole, threshold=cut) for cut in dict.fromkeys(cuts)]


def _ridges(source: Source) -> list[Experiment]:
    drawn = source.data in SYNTHETIC
    doubt = "sqrt" if source.data in SMALL or drawn else None
    like = Experiment("", source, BUDGETS[source.data], RUNS_SYNTHETIC if drawn else RUNS, ("random",), doubt=doubt)
    like = replace(like, first_seed=FIRST_SEED, redrawn=drawn)
    return [replace(like, name=f"{source} delta {delta:g}", delta=delta) for delta in DELTAS]


def _best(results: Results, wanted: Sequence[Experiment]) -> Experiment:
    return max(wanted, key=lambda x: _mean(results, x, "random"))


def _chosen(results: Results, wanted: Sequence[Experiment]) -> dict[str, float]:
    peak = max(wanted, key=lambda x: max(_mean(results, x, sampler) for sampler in x.samplers))
    whole = next(x for x in wanted if x.source.threshold == 0)
    return {"threshold": peak.source.threshold, "delta": peak.delta, "delta_whole": whole.delta}


def _mean(results: Results, experiment: Experiment, sampler: str) -> float:
    """Return the mean accuracy over runs and labels."""
    return float(results.curves(experiment.name, sampler).mean())
