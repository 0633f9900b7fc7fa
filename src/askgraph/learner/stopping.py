"""How often predictions are wrong, as far as labels can tell, and when to stop asking.

Labels that were asked for are not a random sample, and their neighborhoods are not average ones: the mean of 1 − max p is too
low, leave-one-out too high. The estimate is about the mean of the two, never below the share of nodes whose prediction changes
in the consensus with their neighbors. Only an audit, labels drawn at random and kept apart, can make the estimate sure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.readouts import Consensus
from askgraph.readouts.temperature import from_others, tempered_or_plain
from askgraph.types import Array, BoolArray, IntArray

WORTH = 0.5  # random labels that one label that was asked for counts as, in the range of the error
PRIOR = 8.0  # audited labels that the estimate from the other labels counts as, beside an audit
JEFFREYS = 0.25  # added to both parameters of the beta distribution, so that a range is never empty
AUDITED, ASKED = 2, 3  # times the target: too early to stop if the range ends above that, with and without an audit
TAILS = (0.05, 0.95)  # the quantiles at which the range ends


class Error(NamedTuple):
    """The expected share of wrong predictions among the unlabeled nodes; ``str`` of it is a line with percentages.

    Attributes
    ----------
    value : float
        The expected share, from 0 to 1.
    low, high : float
        A range that should hold the true share in 90 % of cases.
    audited : int
        The number of audited labels that were counted.

    Examples
    --------
    >>> import askgraph as ag
    >>> print(ag.Error(0.059, 0.005, 0.203, 20))
    5.9% (0.5% to 20.3%, 20 audited)
    """

    value: float
    low: float
    high: float
    audited: int

    def __str__(self) -> str:
        """Return the figure and its range in percent."""
        rests = f", {self.audited} audited" if self.audited else ""
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%}{rests})"


def expected_error(field: Field, p: Array, unlabeled: BoolArray, audit: tuple[IntArray, IntArray]) -> Error:
    """Return the expected error of predictions with these probabilities; ``audit`` is audited nodes and their classes."""
    rest, labels = int(unlabeled.sum()), field.held
    if not rest:
        return Error(0.0, 0.0, 0.0, 0)
    if not labels:
        return Error(1.0, 0.0, 1.0, 0)
    loo = _left_out_error(field)
    guess = 0.5 * float(1 - p[unlabeled].max(axis=1).mean())
    guess += 0.5 * (1 - 1 / max(field.n_classes, 2)) * rest / (rest + labels) * loo
    guess = max(guess, _swayed(field))
    nodes, told = audit
    if not nodes.size:
        low, high = _range(WORTH * labels * guess, WORTH * labels * (1 - guess), rest)
        return Error(guess, low, max(high, loo), 0)
    wrong = float((p[nodes].argmax(axis=1) != told).sum())
    bad, good = PRIOR * guess + wrong, PRIOR * (1 - guess) + nodes.size - wrong
    return Error(bad / (bad + good), *_range(bad, good, rest), nodes.size)


def more_labels(error: Error, held: int, target: float) -> tuple[int, int]:
    """Return how many more labels bring the error down to a target: if it falls as 1/t, and if it falls as 1/√t.

    A rule of thumb: on graphs whose curve was known, such forecasts were off by a factor of two as often as not.
    """
    if target <= 0:
        raise SettingError("target=0: no number of labels makes predictions perfect; give a share such as 0.05")
    ratio = max(error.value / target, 1.0)
    return int(np.ceil(held * (ratio - 1))), int(np.ceil(held * (ratio**2 - 1)))


def enough(error: Error, target: float) -> str | None:
    """Return why it is time to stop, or None."""
    if error.value > target or error.high > (AUDITED if error.audited else ASKED) * target:
        return None
    advice = "" if error.audited else "; an audit, labels of items drawn at random, would make that sure"
    return f"enough: the expected error is {error}, not above {target:.1%}{advice}"


def _left_out_error(field: Field) -> float:
    left, p = from_others(field)
    return float((p.argmax(axis=1) != left.labels).mean())


def _swayed(field: Field) -> float:
    """Return the share of unlabeled nodes whose prediction the consensus with their neighbors changes."""
    alone = tempered_or_plain(field)
    if alone is None:
        return 0.0
    before, after = alone(field.votes).argmax(axis=1), Consensus.of_nodes(field).argmax(axis=1)
    total, rest = field.space.total, ~field.labeled
    return float(total((before != after) & rest) / total(rest))


def _range(bad: float, good: float, rest: int) -> tuple[float, float]:
    """Return the 5 % and the 95 % point of a beta distribution, rounded outwards to whole nodes."""
    low, high = betaincinv(bad + JEFFREYS, good + JEFFREYS, TAILS)
    return float(np.floor(low * rest) / rest), float(np.ceil(high * rest) / rest)
