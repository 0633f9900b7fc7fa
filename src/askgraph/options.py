"""The options of a plan, the short way to write it: what each is, and what it is by default.

``Learner``, ``GraphClassifier``, the query strategy, samplers, simulations, the paper's experiments and the commands take them
from here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, TypedDict

from askgraph.errors import SettingError
from askgraph.support.wording import nearest

Schedule = float | str | Callable[[int], float] | None  # a constant, the name of a schedule, or a function of labels
Form = Literal["printed", "derived", "means"]
Expect = Literal["mean", "min"]
First = Literal["random", "utility"]
Batch = Literal["sequence", "local"]
SmallComponents = Literal["wait", "ask"]
HubsOption = Literal["discount", "skip", "ask"] | None


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """The options that say how candidates are scored; :class:`Options` says what each is."""

    doubt: Schedule = "sqrt"
    class_shares: Sequence[float] | None = None
    form: Form = "printed"
    expect: Expect = "mean"
    ahead: int = 64


@dataclass(frozen=True, kw_only=True)
class Options(Scoring):
    """The options of a plan, the short way to write it; others take the same by name.

    Parameters
    ----------
    doubt : float, str, callable or None
        How much to distrust the field in expectations: "sqrt" (t^(-1/2)), "inverse", a constant, a function of t, or None.
    class_shares : sequence of float, optional
        The shares of the classes that ``doubt`` leans to, in the order of ``classes``; None for equal shares. With shares of
        their own, tv and msd are the exact expectations under (34): the paper prints (35) for equal shares only.
    form : {"printed", "derived", "means"}
        The paper's printed formulas, the exact expectations, or, for tv and msd above two classes, the printed formulas with
        Σ_c (1 − μ_c²) in place of Σ_c (1 − p_c²). Two classes are the same in all three.
    expect : {"mean", "min"}
        The mean over answers, or the minimum (max–min).
    ahead : int
        The number of nodes that a look-ahead sampler scores where summaries are estimates: the best by tv.
    explore : float, str or callable
        The probability that a question is drawn at random, a number or a schedule as for ``doubt``.
    first : {"random", "utility"}
        How the first question is chosen.
    batch : {"sequence", "local"}
        Whether nodes asked for together are chosen one after another, or are maxima among their neighbors.
    small_components : {"wait", "ask"}
        Whether nodes of small components wait. A component with less than 1 % of the nodes is not asked for while it has fewer
        nodes per label than the larger components have: its label would teach about few nodes. On a connected graph, and where
        every component is small, nothing waits. Questions drawn at random never wait.
    hubs : {"discount", "skip", "ask"}, optional
        What to do about hubs, nodes with more than twice the median number of neighbors. "discount": their labels count for
        less, by as much as the labels of other nodes say, and every fourth question goes to a node that is not a hub. "skip":
        hubs are asked for when no other node is left. "ask": hubs are nodes like any other, as in the paper. None is
        "discount" for the sampler influence and "ask" for any other. Questions drawn at random take no notice of hubs.
    spot_checks : int
        Every how many questions one is a spot check: drawn at random from all unlabeled nodes, so that the answer judges the
        prediction made before it. Its label counts as any other. 0 for no spot checks.

    Examples
    --------
    >>> import askgraph as ag
    >>> ag.Options(hubs="skip").form
    'printed'
    """

    explore: Schedule = 0.0
    first: First = "random"
    batch: Batch = "sequence"
    small_components: SmallComponents = "wait"
    hubs: HubsOption = None
    spot_checks: int = 0


class OptionKeywords(TypedDict, total=False):
    """The fields of :class:`Options` as keywords, for those who check types."""

    doubt: Schedule
    class_shares: Sequence[float] | None
    form: Form
    expect: Expect
    ahead: int
    explore: Schedule
    first: First
    batch: Batch
    small_components: SmallComponents
    hubs: HubsOption
    spot_checks: int


DEFAULTS: dict[str, Any] = vars(Options())
EARLIER = {"hubs": "ask"}  # what versions did that had no such option
MEANT = {
    "seed": "rng",
    "random_state": "rng",
    "temperature": "readout",
    "strategy": "sampler",
    "labels": "classes",
    "n_neighbors": "k",
    "rules": "sampler",
}


def check_names(given: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise an error for a keyword that is neither an option of a plan nor one of these names."""
    known = [*names, *DEFAULTS]
    for name in given:
        if name not in known:
            meant = MEANT.get(name) if MEANT.get(name) in known else nearest(name, known)
            found = f"did you mean {meant!r}?" if meant else f"choose among {', '.join(known)}"
            raise SettingError(f"no option {name!r}; {found}")


def with_options(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that takes the options of a plan too, as parameters and attributes, as scikit-learn wants them."""
    return with_usual_options()(init)


def with_usual_options(**usual: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what makes such a constructor, some options of which are usually others."""
    defaults = {**DEFAULTS, **usual}
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in defaults.items()]

    def taking(init: Callable[..., None]) -> Callable[..., None]:
        given = inspect.signature(init)

        @wraps(init)
        def made(self: Any, *args: Any, **kwargs: Any) -> None:
            vars(self).update({name: kwargs.pop(name, default) for name, default in defaults.items()})
            check_names(kwargs, list(given.parameters)[1:])
            init(self, *args, **kwargs)

        made.__signature__ = given.replace(parameters=[*given.parameters.values(), *more])  # type: ignore[attr-defined]
        return made

    return taking


def options_of(thing: Any) -> dict[str, Any]:
    """Return the options that an object has as attributes."""
    return {name: getattr(thing, name) for name in DEFAULTS if hasattr(thing, name)}
