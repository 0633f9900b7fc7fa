"""What a claim of the paper is: a sentence, a rule that tests it on records, the readings it is tested under, and a verdict.

The rules were written before the records were made. The claims themselves are in ``synthetic`` and ``real``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from askgraph.paper.evidence import MARGIN, Check, Evidence, accuracy, better
from askgraph.paper.plan import SAMPLERS
from askgraph.types import Array

BOTH = ("tv", "msd")  # the paper's main samplers
WHOLE = "Mean accuracy over all labels, run by run"
NO_WORSE = f"at most {MARGIN} below"
Needs = Literal["runs", "runtimes", "symmetry", "growth"]
Verdict = Literal["holds", "partly", "does not hold", "undecided", "depends"]
Judge = Callable[..., list[Check]]


@dataclass(frozen=True)
class Reading:
    """One way to read what the paper leaves open: the value of each open setting, and the arguments of the checks for it."""

    settings: Mapping[str, str] = field(default_factory=dict)
    how: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, the rule it is tested by, and the experiments that the test reads."""

    number: int
    text: str
    rule: str
    checks: Judge
    reads: tuple[str, ...] = ()
    only: tuple[str, ...] = SAMPLERS  # the samplers whose records the test reads
    most: bool = False  # the claim holds if more than half of the checks say yes, not only if all do
    needs: Needs = "runs"
    readings: tuple[Reading, ...] = (Reading(),)  # the first is the one that the figures show
    figures: tuple[int, ...] = ()  # that show it
    before: str = "not judged"  # the verdict of the report before
    changed: str = ""  # what changed in the rule since then, and why

    def judge(self, evidence: Evidence) -> Judged:
        """Return the claim with its checks under each reading."""
        return Judged(self, [(reading, self.checks(evidence, **reading.how)) for reading in self.readings])

    def verdict(self, checks: Sequence[Check]) -> Verdict:
        """Return "holds" if all checks say yes (with ``most``: over half), "partly" if some do, "undecided" if none tells."""
        says = [check.says for check in checks if check.counts]
        yes, no = says.count("yes"), says.count("no")
        if yes > len(says) / 2 if self.most else yes == len(says):
            return "holds"
        if self.most and no > len(says) / 2:
            return "does not hold"
        return "partly" if yes else "does not hold" if no else "undecided"


@dataclass(frozen=True)
class Judged:
    """A claim and its checks under each reading, the first the one that the figures show."""

    claim: Claim
    readings: Sequence[tuple[Reading, list[Check]]]

    @property
    def checks(self) -> list[Check]:
        """The checks under the first reading."""
        return self.readings[0][1]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict under each reading."""
        return [self.claim.verdict(checks) for _, checks in self.readings]

    @property
    def verdict(self) -> Verdict:
        """The verdict over all readings: "depends" where the claim holds under some and not under others that tell."""
        told = [verdict for verdict in self.verdicts if verdict != "undecided"]
        if "holds" in told:
            return "holds" if set(told) == {"holds"} else "depends"
        return self.verdicts[0]

    @property
    def deciding(self) -> list[str]:
        """The settings of which one, changed alone, turns a claim that holds into one that does not."""
        told = [
            (reading.settings, verdict == "holds")
            for (reading, _), verdict in zip(self.readings, self.verdicts, strict=True)
            if verdict != "undecided"
        ]
        return [
            name
            for name in self.readings[0][0].settings
            if any(a != b and _differ_in_one(one, other, name) for one, a in told for other, b in told)
        ]

    @property
    def words(self) -> str:
        """The verdict in words."""
        if self.verdict != "depends":
            return self.verdict
        *first, last = self.deciding or ["several settings together"]
        return f"depends on {', '.join(first)}{' and ' if first else ''}{last}, which the paper does not give"

    @property
    def why(self) -> str:
        """A sentence that says why the claim does not simply hold; empty where it does."""
        if self.verdict == "holds":
            return ""
        if self.verdict == "depends":
            held = self.verdicts.count("holds")
            return f"It holds under {held} of {len(self.readings)} readings: see the table of readings."
        counted = [check for check in self.checks if check.counts]
        against = [check for check in counted if check.says == "no"]
        if not against:
            unclear = sum(check.says == "cannot tell" for check in counted)
            return f"{unclear} of {len(counted)} checks cannot tell, most of all {_most(counted).phrase}."
        return f"{len(against)} of {len(counted)} checks speak against it, most of all {_most(against).phrase}."


def _most(checks: Sequence[Check]) -> Check:
    """Return the check that speaks against its claim most."""
    return min(checks, key=lambda check: check.lead)


def _differ_in_one(one: Mapping[str, str], other: Mapping[str, str], name: str) -> bool:
    return one[name] != other[name] and all(one[key] == other[key] for key in one if key != name)


DEFINED: dict[int, Claim] = {}


def claim(number: int, text: str, rule: str, **options: Any) -> Callable[[Judge], Judge]:
    """Return a decorator that adds a function to the defined claims; ``options`` are fields of `Claim`."""

    def put(checks: Judge) -> Judge:
        DEFINED[number] = Claim(number, text, rule, checks, **options)
        return checks

    return put


def on_each(*words: str, data: Sequence[str]) -> tuple[str, ...]:
    """Return the experiments with these words after the name of each dataset; an empty word is the dataset's own."""
    return tuple(" ".join(filter(None, (name, word))) for name in data for word in words)


def mean_accuracy(evidence: Evidence, experiment: str, sampler: str, first: float = 0.0, last: float = 1.0) -> Array:
    """Return one mean accuracy per run; eer and tsa as their authors define them, without the paper's doubt."""
    plain = sampler in ("eer", "tsa", "eer01")
    return accuracy(evidence.results, f"{experiment} plain" if plain else experiment, sampler, first, last)


def versus(evidence: Evidence, experiment: str, a: str, b: str, test: Callable[..., Check] = better) -> Check:
    """Compare two samplers by their mean accuracy over all labels."""
    pair = (mean_accuracy(evidence, experiment, name) for name in (a, b))
    return test(f"{experiment}: {a} − {b}", *pair)
