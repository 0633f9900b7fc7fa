"""The experiments that the figures and claims are made of, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from importlib.resources import files

from askgraph.options import Options, options_of
from askgraph.paper.problems import ALL, NETWORKS, TABLES, Source
from askgraph.simulate import Problem, Run

PROPOSED = ("tv", "msd", "klg", "fl", "kl")
OTHERS = ("sigma", "vm", "eer", "tsa", "unc", "random")
SAMPLERS = (*PROPOSED, *OTHERS)
WITHOUT_DOUBT = ("vm", "sigma", "unc", "random")  # samplers whose formula has no doubt in it
DELTAS = (0.001, 0.003, 0.005, 0.01, 0.03, 0.1)
USUAL_DELTA = 0.005  # what the paper takes for the graphs that it does not tune
MIXINGS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1)  # of the LFR graph, which the paper does not give
MIXING_GRAPHS = 10  # graphs drawn for each mixing
CHEAP_RUNS = 200  # runs of uncertainty sampling, the cheapest sampler, whose runs differ most
BUDGETS = {"grid": 50, "lfr": 30, "colon": 30, "leukemia": 30, "parkinsons": 60}
BUDGETS |= {"ionosphere": 80, "australian": 80, "ecoli": 80} | dict.fromkeys(NETWORKS, 100)
QUICK_BUDGETS = {"lfr": 5} | dict.fromkeys(NETWORKS, 2)  # labels of a quick run where a question is slow; elsewhere 5
# The smaller tables take doubt t^(-1/2), the larger none; the paper does not say which are the smaller.
SMALL = ("colon", "leukemia", "parkinsons")
READOUTS = ("map", "mass")
Tuned = dict[str, dict[str, float]]
Names = Mapping[str, str]  # source -> the name of its graph in records, which holds the graph's fingerprint


TITLES = {
    "grid": "The 10 × 10 grid of Fig. 1",
    "lfr": "The LFR graph of Fig. 2",
    "colon": "Colon cancer",
    "ionosphere": "Ionosphere",
    "leukemia": "Leukemia",
    "australian": "Australian credit",
    "parkinsons": "Parkinsons",
    "ecoli": "Ecoli, cp against the rest",
    "cora": "Cora, largest component",
    "citeseer": "CiteSeer, largest component",
    "polblogs": "Political blogs, largest component",
}


@dataclass(frozen=True)
class Figure:
    """A figure of learning curves: one row of panels per experiment."""

    number: int
    data: str
    rows: Mapping[str, str]  # title of a row -> its experiment

    @property
    def plain(self) -> str | None:
        """The experiment that the first row takes eer and tsa from, without doubt; None for the grid, which has both as rows."""
        return None if self.data == "grid" else f"{self.data} plain"

    @property
    def experiments(self) -> list[str]:
        """The experiments that the figure is drawn from."""
        return [*self.rows.values(), *([self.plain] if self.plain else [])]

    @property
    def title(self) -> str:
        """The title above the figure."""
        return f"Fig. {self.number}. {TITLES[self.data]}"


def _figure(number: int, data: str) -> Figure:
    if data == "grid":
        return Figure(number, data, {"doubt $t^{-1/2}$": data, "no doubt": "grid sure"})
    if data in TABLES:
        return Figure(number, data, {"tuned": data, "untuned": f"{data} untuned"})
    return Figure(number, data, {"": data})


FIGURES = {number: _figure(number, data) for number, data in enumerate(ALL, 3)}
FIGURE_OF = {figure.data: number for number, figure in FIGURES.items()}
RUNTIMES = 14  # the number of the figure of runtimes


@dataclass(frozen=True)
class Experiment(Options):
    """Learning curves of several samplers under one set of settings, over seeds."""

    name: str
    source: Source
    budget: int
    repeats: int
    samplers: tuple[str, ...] = SAMPLERS
    _: KW_ONLY
    delta: float = USUAL_DELTA
    first_seed: int = 0
    redrawn: bool = False  # whether the graph is drawn again in every run

    @property
    def seeds(self) -> range:
        """The seeds, one per run."""
        return range(self.first_seed, self.first_seed + self.repeats)

    def source_of(self, seed: int) -> Source:
        """Return the graph of one run."""
        return replace(self.source, seed=seed) if self.redrawn else self.source

    @property
    def sources(self) -> set[Source]:
        """All graphs that the experiment runs on."""
        return {self.source_of(seed) for seed in self.seeds}

    def runs(self, sampler: str, readout: str, names: Names) -> list[Run]:
        """Return the runs of one curve, one per seed."""
        options = options_of(self) | ({"doubt": None} if sampler in WITHOUT_DOUBT else {})
        like = Run(sampler, 0, self.budget, delta=self.delta, readout=readout, **options)
        return [replace(like, seed=seed, data=names[str(self.source_of(seed))]) for seed in self.seeds]

    def all_runs(self, names: Names) -> list[Run]:
        """Return the runs of all curves."""
        curves = ((sampler, readout) for sampler in self.samplers for readout in READOUTS)
        return [run for curve in curves for run in self.runs(*curve, names)]


def tuned(centered: bool = False) -> Tuned:
    """Return the shipped thresholds and deltas, as ``askgraph paper --tune`` found them."""
    stored: dict[str, Tuned] = json.loads(files("askgraph.paper").joinpath("tuned.json").read_text())
    return stored["pearson" if centered else "cosine"]


def experiments(
    settings: Tuned, centered: bool = False, repeats: int = 0, quick: bool = False
) -> dict[str, Experiment]:
    """Return every experiment by name; ``repeats`` other than 0 replaces each number of runs."""
    main = [_main(data, settings[data], centered) for data in ALL if data not in NETWORKS]
    main += [_main(data, {}, centered) for data in NETWORKS]
    every = [x for base in main for x in (base, *_of_data(base, settings), *_extras(base))]
    return {x.name: x for x in (_scaled(x, repeats, quick) for x in every)}


def _main(data: str, values: Mapping[str, float], centered: bool) -> Experiment:
    """Return the experiment of a figure's first row."""
    delta = values.get("delta", USUAL_DELTA)
    if data in TABLES:
        source, doubt = Source(data, values["threshold"], centered), "sqrt" if data in SMALL else None
        return Experiment(data, source, BUDGETS[data], 20, doubt=doubt, delta=delta)
    source = Source(data, largest=data in NETWORKS)
    return Experiment(data, source, BUDGETS[data], 10 if data in NETWORKS else 50, delta=delta, redrawn=data == "grid")


def _of_data(base: Experiment, settings: Tuned) -> list[Experiment]:
    """Return the experiments that a dataset has besides those that all have: other graphs of it, other readings."""
    if base.name == "grid":
        return [replace(base, name="grid sure", doubt=None), *_grid_readings(base)]
    if base.name == "lfr":
        return _lfr_readings(base)
    if base.name in TABLES:
        return _table_graphs(base, settings[base.name])
    if base.name == "polblogs":
        every = replace(base, name="polblogs all", source=Source("polblogs"), samplers=("msd", "sigma", "vm", "random"))
        return [every, _plain(every, ("tsa",))]
    return [replace(base, name=f"{base.name} means", form="means", samplers=("tv",))]


def _grid_readings(base: Experiment) -> list[Experiment]:
    """Return the grid with coins on a ring, and both grids with two other deltas: random sampling hardly tells deltas apart."""
    ring = replace(base, name="grid ring", source=replace(base.source, border="ring"))
    deltas = {"usual delta": USUAL_DELTA, "large delta": max(DELTAS)}
    others = [replace(x, name=f"{x.name} {how}", delta=d) for x in (base, ring) for how, d in deltas.items()]
    return [x for other in (ring, *others) for x in (other, _plain(other))]


def _lfr_readings(base: Experiment) -> list[Experiment]:
    few = replace(base, repeats=MIXING_GRAPHS, redrawn=True, samplers=("tv", "msd", "sigma", "vm", "unc", "random"))
    found = []
    for mixing in MIXINGS:
        like = replace(few, name=f"lfr mixing {mixing:g}", source=replace(base.source, mixing=mixing))
        usual = replace(like, name=f"{like.name} usual delta", delta=USUAL_DELTA)
        found += [x for one in (like, usual) for x in (one, _plain(one, ("eer", "tsa")))]
    return found


def _table_graphs(base: Experiment, values: Mapping[str, float]) -> list[Experiment]:
    whole = replace(base, source=replace(base.source, threshold=0.0))
    untuned = replace(whole, name=f"{base.name} untuned", delta=USUAL_DELTA)
    return [untuned, replace(whole, name=f"{base.name} whole", delta=values["delta_whole"], samplers=("tv", "random"))]


def _plain(base: Experiment, samplers: tuple[str, ...] = ("eer", "tsa", "eer01")) -> Experiment:
    """Return the same experiment with the samplers that others define, as they define them: without the paper's doubt."""
    return replace(base, name=f"{base.name} plain", samplers=samplers, doubt=None)


def _extras(base: Experiment) -> list[Experiment]:
    """Return the experiments that only claims need: eer and tsa without doubt, other deltas, mixing, max–min."""
    two_classes = base.name not in ("lfr", "cora", "citeseer")
    plain = _plain(base) if two_classes else _plain(base, ("eer", "tsa"))
    few = replace(base, repeats=min(base.repeats, 20))
    ridges = [replace(few, name=f"{base.name} delta {d:g}", delta=d, samplers=("tv", "random")) for d in DELTAS]
    many = replace(base, name=f"{base.name} unmixed", samplers=("unc",), repeats=CHEAP_RUNS)
    mixed = replace(many, name=f"{base.name} mixed", explore="sqrt")
    expected = replace(few, name=f"{base.name} expected", samplers=("tv", "msd"), form="derived", doubt=None)
    least = replace(expected, name=f"{base.name} least", expect="min")
    return [plain, *ridges, many, mixed, expected, least]


def _scaled(experiment: Experiment, repeats: int, quick: bool) -> Experiment:
    most = QUICK_BUDGETS.get(experiment.source.data, 5)
    budget = min(experiment.budget, most) if quick else experiment.budget
    return replace(experiment, repeats=repeats or (2 if quick else experiment.repeats), budget=budget)


# CPU seconds of a look-ahead question at 2,500 nodes and 7 classes, from which the remaining time is estimated.
_LOOK_AHEAD_SECONDS = {"fl": 0.2, "kl": 0.7, "eer": 0.1, "eer01": 0.4, "tsa": 1.0}


def cost(sampler: str, budget: int, problem: Problem) -> float:
    """Estimate the seconds of a run, for the progress bar and the order of work."""
    n, classes = problem.graph.n_nodes, len(problem.classes)
    look = _LOOK_AHEAD_SECONDS.get(sampler, 0.0) * (n / 2500) ** 2 * classes / 7
    return budget * (look + 1e-3 + 1e-6 * n)
