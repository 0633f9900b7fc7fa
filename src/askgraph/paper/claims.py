"""The claims of the paper, each with a test on records. The rules were written before the records were made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from askgraph.paper.evidence import (
    MARGIN,
    Check,
    Evidence,
    accuracy,
    best_of,
    better,
    equal,
    no_worse,
    reaches,
    unequal,
)
from askgraph.paper.plan import DELTAS, SAMPLERS
from askgraph.paper.problems import ALL, BINARY, TABLES
from askgraph.paper.timing import ADAPTIVE
from askgraph.types import Array

_BOTH = ("tv", "msd")  # the paper's main samplers
Needs = Literal["runs", "runtimes", "symmetry"]
Verdict = Literal["holds", "partly", "does not hold", "undecided"]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, the rule it is tested by, and the experiments that the test reads."""

    number: int
    text: str
    rule: str
    reads: tuple[str, ...]
    checks: Callable[[Evidence], list[Check]]
    only: tuple[str, ...] = SAMPLERS  # the samplers whose records the test reads
    most: bool = False  # the claim holds if more than half of the checks say yes, not only if all do
    needs: Needs = "runs"

    def verdict(self, checks: Sequence[Check]) -> Verdict:
        """Return "holds" if all checks say yes (with ``most``: over half), "partly" if some do, "undecided" if none tells."""
        says = [check.says for check in checks if check.counts]
        yes, no = says.count("yes"), says.count("no")
        if yes > len(says) / 2 if self.most else yes == len(says):
            return "holds"
        if self.most and no > len(says) / 2:
            return "does not hold"
        return "partly" if yes else "does not hold" if no else "undecided"


_WHOLE = "Mean accuracy over all labels, run by run"
_NEAR = f"within ± {MARGIN}"
CLAIMS: dict[int, Claim] = {}
Judge = Callable[[Evidence], list[Check]]


def claim(
    number: int,
    text: str,
    rule: str,
    reads: tuple[str, ...] = (),
    only: tuple[str, ...] = SAMPLERS,
    most: bool = False,
    needs: Needs = "runs",
) -> Callable[[Judge], Judge]:
    """Return a decorator that adds a function to the claims."""

    def put(checks: Judge) -> Judge:
        CLAIMS[number] = Claim(number, text, rule, reads, checks, only, most, needs)
        return checks

    return put


def _all(*words: str, data: Sequence[str] = ALL) -> tuple[str, ...]:
    return tuple(" ".join(filter(None, (name, word))) for name in data for word in words)


def _of(evidence: Evidence, experiment: str, sampler: str, first: float = 0.0, last: float = 1.0) -> Array:
    """Return one mean accuracy per run; eer and tsa as their authors define them, without the paper's doubt."""
    plain = sampler in ("eer", "tsa")
    return accuracy(evidence.results, f"{experiment} plain" if plain else experiment, sampler, first, last)


def _versus(evidence: Evidence, experiment: str, a: str, b: str, test: Callable[..., Check] = better) -> Check:
    return test(f"{experiment}: {a} − {b}", _of(evidence, experiment, a), _of(evidence, experiment, b))


@claim(
    1,
    "On the grid most samplers outperform random sampling.",
    f"{_WHOLE}: sampler − random above 0, for more than half of the ten.",
    reads=("grid", "grid plain"),
    most=True,
)
def _grid_beats_random(evidence: Evidence) -> list[Check]:
    return [_versus(evidence, "grid", name, "random") for name in SAMPLERS if name != "random"]


@claim(
    2,
    "On the grid VM and Σ-opt lead for few labels and are surpassed by adaptive methods.",
    "First fifth of the labels: vm and sigma above the mean of "
    "the adaptive samplers; last fifth: tv, msd and tsa above both.",
    reads=("grid", "grid plain"),
)
def _early_and_late(evidence: Evidence) -> list[Check]:
    adaptive = np.mean([_of(evidence, "grid", name, 0, 0.2) for name in ADAPTIVE], axis=0)
    early = [
        better(f"first fifth: {name} − mean of the adaptive", _of(evidence, "grid", name, 0, 0.2), adaptive)
        for name in ("vm", "sigma")
    ]
    late = [
        better(f"last fifth: {a} − {b}", _of(evidence, "grid", a, 0.8), _of(evidence, "grid", b, 0.8))
        for a in ("tv", "msd", "tsa")
        for b in ("vm", "sigma")
    ]
    return early + late


@claim(
    3,
    "On the grid TV with doubt t^(−1/2) performs as well as TSA.",
    f"tv − tsa {_NEAR}, over all labels and over the last fifth.",
    reads=("grid", "grid plain"),
)
def _tv_equals_tsa(evidence: Evidence) -> list[Check]:
    tv, tsa = (_of(evidence, "grid", name, 0.8) for name in ("tv", "tsa"))
    return [_versus(evidence, "grid", "tv", "tsa", equal), equal("last fifth: tv − tsa", tv, tsa)]


@claim(
    4,
    "On the grid EER is poor: it is trapped in one of the two regions.",
    f"{_WHOLE}: tv, msd, tsa, vm and sigma each above eer.",
    reads=("grid", "grid plain"),
)
def _eer_is_poor(evidence: Evidence) -> list[Check]:
    others = [_versus(evidence, "grid", name, "eer") for name in ("tv", "msd", "tsa", "vm", "sigma")]
    passive = better("grid: random − eer", _of(evidence, "grid", "random"), _of(evidence, "grid", "eer"), counts=False)
    words = "runs in which {} asks nothing in one of the squares during the first half, at least half of them"
    trapped = [
        reaches(words.format(name), _trapped(evidence, experiment, name), 0.5, counts=False)
        for experiment, name in (("grid plain", "eer"), ("grid", "tv"))
    ]
    return [*others, passive, *trapped]


def _trapped(evidence: Evidence, experiment: str, sampler: str) -> Array:
    """Return 1 for each run that asks nothing in one of the two squares of class 1 in the first half of its labels, else 0."""
    at = np.arange(100).reshape(10, 10)
    squares = (at[1:4, 1:4], at[6:9, 6:9])
    asked = [x["nodes"][: len(x["nodes"]) // 2] for x in evidence.results.of(experiment, sampler)]
    return np.array([float(any(not np.isin(square, nodes).any() for square in squares)) for nodes in asked])


@claim(
    5,
    "On the LFR graph VM and Σ-opt reach 90 % by 5 labels.",
    "Mean accuracy after 5 labels at least 0.9, with the paper's readout; the class-mass readout is given for information.",
    reads=("lfr",),
)
def _ninety_by_five(evidence: Evidence) -> list[Check]:
    return [
        reaches(
            f"{name} after 5 labels, {readout} readout",
            evidence.results.curves("lfr", name, readout)[:, 4],
            0.9,
            readout == "map",
        )
        for readout in ("map", "mass")
        for name in ("vm", "sigma")
    ]


@claim(
    6,
    "On the LFR graph MSD and TV are superior between 5 and 10 labels, then converge to 100 %.",
    "Labels 5 to 10: tv and msd above the best of vm, sigma, eer, tsa, unc and random; at the end at least 0.99.",
    reads=("lfr", "lfr plain"),
)
def _lead_on_lfr(evidence: Evidence) -> list[Check]:
    def middle(name: str) -> Array:
        experiment = "lfr plain" if name in ("eer", "tsa") else "lfr"
        return np.asarray(evidence.results.curves(experiment, name)[:, 4:10].mean(axis=1))

    best, others = best_of({name: middle(name) for name in ("vm", "sigma", "eer", "tsa", "unc", "random")})
    lead = [better(f"labels 5 to 10: {name} − {best}, the best of the others", middle(name), others) for name in _BOTH]
    ends = [evidence.results.curves("lfr", name)[:, -1] for name in _BOTH]
    return lead + [
        reaches(f"{name} at the end, at least 0.99", end, 0.99) for name, end in zip(_BOTH, ends, strict=True)
    ]


@claim(
    7,
    "On the six similarity graphs TV and MSD are comparable or superior to the alternatives.",
    f"{_WHOLE}: tv and msd at most {MARGIN} below the best of vm, sigma, eer, tsa and unc, on each.",
    reads=_all("", "plain", data=TABLES),
)
def _comparable_on_tables(evidence: Evidence) -> list[Check]:
    checks = []
    for data in TABLES:
        best, others = best_of({name: _of(evidence, data, name) for name in ("vm", "sigma", "eer", "tsa", "unc")})
        checks += [
            no_worse(f"{data}: {name} − {best}, the best of the others", _of(evidence, data, name), others)
            for name in _BOTH
        ]
    return checks


@claim(
    8,
    "On Cora TV equals EER, TSA and Σ-opt.",
    f"{_WHOLE}: tv − each {_NEAR}.",
    reads=("cora", "cora plain"),
)
def _cora_level(evidence: Evidence) -> list[Check]:
    return [_versus(evidence, "cora", "tv", name, equal) for name in ("eer", "tsa", "sigma")]


@claim(
    9,
    "On CiteSeer TV slightly surpasses the competing methods.",
    f"{_WHOLE}: tv above eer, tsa, sigma, vm, unc and random.",
    reads=("citeseer", "citeseer plain"),
)
def _citeseer_ahead(evidence: Evidence) -> list[Check]:
    return [_versus(evidence, "citeseer", "tv", name) for name in ("eer", "tsa", "sigma", "vm", "unc", "random")]


@claim(
    10,
    "On political blogs the non-adaptive VM and Σ-opt are poor, and MSD is at least as good as TSA.",
    f"{_WHOLE}, all 1,490 blogs: msd above vm and sigma, and at "
    f"most {MARGIN} below tsa; random sampling and the largest component are given for information.",
    reads=("polblogs", "polblogs plain", "polblogs largest", "polblogs largest plain"),
)
def _blogs(evidence: Evidence) -> list[Check]:
    def on(experiment: str, counts: bool) -> list[Check]:
        def of(name: str) -> Array:
            return _of(evidence, experiment, name)

        poor = [better(f"{experiment}: msd − {name}", of("msd"), of(name), counts) for name in ("vm", "sigma")]
        passive = [better(f"{experiment}: random − {name}", of("random"), of(name), False) for name in ("vm", "sigma")]
        return [*poor, no_worse(f"{experiment}: msd − tsa", of("msd"), of("tsa"), counts), *passive]

    return on("polblogs", True) + on("polblogs largest", False)


@claim(
    11,
    "MSD and TV are two orders of magnitude faster than EER and TSA on the citation graphs, one on political blogs.",
    "Seconds of a question and its update over the median of the other's, interval over successive questions; the algorithms "
    "as the paper costs them (O(C² n²) for eer and tsa; a question of theirs is timed on a share of the candidates and scaled up): "
    "ratios of at least 100 and 10. Ours, O(C n²), is given for information.",
    needs="runtimes",
)
def _orders_faster(evidence: Evidence) -> list[Check]:
    checks = []
    for how, counts in (("paper", True), ("ours", False)):
        for data, factor in (("cora", 100), ("citeseer", 100), ("polblogs", 10)):
            for slow in ("eer", "tsa"):
                for fast in _BOTH:
                    ratios = _ratios(evidence, data, how, slow, fast)
                    words = f"{data}, {'as the paper costs it' if how == 'paper' else 'ours'}: {slow} / {fast}"
                    checks.append(reaches(f"{words}, at least {factor}", ratios, factor, counts))
    return checks


def _ratios(evidence: Evidence, data: str, how: str, slow: str, fast: str) -> Array:
    """Return one ratio per question: seconds of a question and its update of one sampler over the median of another."""
    times = {
        record["sampler"]: np.add(record["asks"], record["tells"])
        for record in evidence.runtimes
        if record["data"] == data and record["how"] == how
    }
    return np.asarray(times[slow] / np.median(times[fast]))


@claim(
    12,
    "Accuracy stays high over delta in [0.001, 0.1].",
    f"Random sampling, six deltas: the best − the worst {_NEAR}, on each graph; tv is given for information.",
    reads=_all(*(f"delta {d:g}" for d in DELTAS)),
    only=("random", "tv"),
)
def _flat_in_delta(evidence: Evidence) -> list[Check]:
    return [_range_over_delta(evidence, data, sampler) for sampler in ("random", "tv") for data in ALL]


def _range_over_delta(evidence: Evidence, data: str, sampler: str) -> Check:
    means = {f"{d:g}": accuracy(evidence.results, f"{data} delta {d:g}", sampler) for d in DELTAS}
    best, top = best_of(means)
    worst, bottom = min(means.items(), key=lambda item: float(item[1].mean()))
    words = f"{data}, {sampler}: delta {best} − delta {worst}, the best and the worst of six"
    return equal(words, top, bottom, counts=sampler == "random")


@claim(
    13,
    "Mixing in random questions greatly enhances uncertainty sampling.",
    f"{_WHOLE}: unc with probability t^(−1/2) of a random question above unc, on more than half of the graphs.",
    reads=_all("", "mixed"),
    only=("unc",),
    most=True,
)
def _mixing_helps(evidence: Evidence) -> list[Check]:
    return [
        better(
            f"{data}: unc mixed with random − unc",
            mixed := accuracy(evidence.results, f"{data} mixed", "unc"),
            _of(evidence, data, "unc")[: mixed.size],
        )
        for data in ALL
    ]


@claim(
    14,
    "Maximizing the least change over the answers does not produce satisfying results.",
    f"{_WHOLE}: tv and msd by the expectation above the same by the minimum, both without doubt and in the "
    "derived form, in more than half of the cases.",
    reads=_all("expected", "least"),
    only=_BOTH,
    most=True,
)
def _least_change(evidence: Evidence) -> list[Check]:
    return [
        better(
            f"{data}: {name} − its max–min",
            accuracy(evidence.results, f"{data} expected", name),
            accuracy(evidence.results, f"{data} least", name),
        )
        for data in ALL
        for name in _BOTH
    ]


@claim(
    15,
    "Sparsifying the similarity graphs generally improves accuracy.",
    f"{_WHOLE}: the thresholded graph above the whole one, each with the "
    "delta that random sampling likes best, in more than half of the cases. "
    "The threshold is the tuned one, and was tuned for this.",
    reads=_all("", "whole", data=TABLES),
    only=("random", "tv"),
    most=True,
)
def _sparse_is_better(evidence: Evidence) -> list[Check]:
    return [
        better(
            f"{data}: {name} on the thresholded graph − on the whole",
            _of(evidence, data, name),
            _of(evidence, f"{data} whole", name),
        )
        for data in TABLES
        for name in ("random", "tv")
    ]


@claim(
    16,
    "The ±1 field treats both classes alike; the {0, 1} field of Zhu et al. depends on which class is called 1.",
    f"Random sampling: exchanging the names changes the ±1 field's accuracy by less than {MARGIN}, and the {{0, 1}} "
    "field's by more. A node between the classes counts as half right.",
    reads=BINARY,
    only=(),
    needs="symmetry",
)
def _classes_alike(evidence: Evidence) -> list[Check]:
    checks = []
    for data in BINARY:
        records = [x for x in evidence.symmetry if x["experiment"] == data]
        for kind, test, words in (("plus_minus", equal, "±1"), ("zero_one", unequal, "{0, 1}")):
            one, other = (np.array([np.mean(x[key]) for x in records]) for key in (kind, f"{kind}_swapped"))
            checks.append(test(f"{data}, {words}: names exchanged", one, other))
    return checks
