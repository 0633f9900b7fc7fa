"""Which rule an option stands for: one table, read both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from askgraph.errors import SettingError
from askgraph.options import Options
from askgraph.plan.chance import Explore, FirstAtRandom, SpotChecks
from askgraph.plan.components import SmallComponentsWait
from askgraph.plan.find import Find
from askgraph.plan.groups import Groups
from askgraph.plan.handful import Handful
from askgraph.plan.hubs import Hubs
from askgraph.plan.mixture import Mixture
from askgraph.plan.noise import ChosenNoise
from askgraph.plan.rule import Rule
from askgraph.plan.sampler import Sampler
from askgraph.plan.set_aside import SetAside
from askgraph.plan.tune import Tune
from askgraph.support.arguments import one_of, whole_number


class OptionRule(NamedTuple):
    """An option and the rule that it stands for."""

    option: str
    rule: type[Rule]
    made: Callable[[Any, Sampler], Rule | None]  # the rule of a value, which is checked; None for no rule
    said: Callable[[Any], Any]  # the value that a rule says
    without: Any  # the value that a plan without the rule says
    drawn: bool = False  # whether plans that draw all questions at random have the rule too


def _waiting(value: Any, sampler: Sampler) -> Rule | None:
    return SmallComponentsWait() if one_of(value, "small_components", ("wait", "ask")) == "wait" else None


def _hubs(value: Any, sampler: Sampler) -> Rule | None:
    how: Any = one_of(value, "hubs", ("discount", "skip", "ask", None))
    how = how or ("discount" if sampler.name == "influence" else "ask")
    return None if how == "ask" else Hubs(how)


def _first(value: Any, sampler: Sampler) -> Rule | None:
    return FirstAtRandom() if one_of(value, "first", ("random", "utility")) == "random" else None


def _spot_checks(value: Any, sampler: Sampler) -> Rule | None:
    return SpotChecks(value) if whole_number(value, "spot_checks") else None


# In the order in which the rules are gone through.
OPTION_RULES = (
    OptionRule("explore", Explore, lambda share, sampler: Explore(share), lambda rule: rule.share, 0.0, drawn=True),
    OptionRule("spot_checks", SpotChecks, _spot_checks, lambda rule: rule.every, 0, drawn=True),
    OptionRule("small_components", SmallComponentsWait, _waiting, lambda rule: "wait", "ask"),
    OptionRule("hubs", Hubs, _hubs, lambda rule: rule.how, "ask"),
    OptionRule("first", FirstAtRandom, _first, lambda rule: "random", "utility"),
)
WITHOUT_OPTION = (
    SetAside,
    Handful,
    Tune,
    Mixture,
    ChosenNoise,
    Find,
    Groups,
)  # rules of the package that no option stands for
OURS = frozenset({*(row.rule for row in OPTION_RULES), *WITHOUT_OPTION})


def rules_of(options: Options, sampler: Sampler) -> tuple[Rule, ...]:
    """Return the rules that options stand for, in the order in which they are gone through."""
    made = [(row, row.made(getattr(options, row.option), sampler)) for row in OPTION_RULES]
    by_option = (rule for row, rule in made if rule and (row.drawn or not sampler.random))
    return (SetAside(), *by_option, *((Handful(),) if sampler.name == "influence" else ()))


def said_by(rules: Sequence[Rule], sampler: Sampler) -> dict[str, Any]:
    """Return the options that stand for rules, by name; raise an error for a rule of the user's own."""
    for rule in filter(is_own, rules):
        name = type(rule).__name__
        raise SettingError(f"{name} is a rule of your own and cannot be saved: leave it out of the plan")
    by_kind = {type(rule): rule for rule in rules}
    rows = [row for row in OPTION_RULES if row.rule in by_kind or row.drawn or not sampler.random]
    return {row.option: row.said(by_kind[row.rule]) if row.rule in by_kind else row.without for row in rows}


def is_own(rule: Rule) -> bool:
    """Return whether a rule is of the user's own."""
    return type(rule) not in OURS
