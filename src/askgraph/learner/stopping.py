"""How often predictions are wrong, as far as labels can tell, and when to stop asking.

Labels that were asked for are not a random sample, and their neighborhoods are not average ones: the mean of 1 − max p is too
low, leave-one-out too high. The estimate is 0.65 of the first and 0.35 of the second, never below the share of nodes whose
prediction changes in the consensus with their neighbors. The ends of the range are two lines that 90 % of the errors on 35 graphs
lie between: docs/accuracy.md says which, and how they were fitted. Only an audit, labels drawn at random and kept apart, can make
the estimate sure: no rule that reads labels that were asked for knows a graph that says nothing from one that says everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.readouts import Consensus, doubt
from askgraph.readouts.temperature import from_others, tempered_or_plain
from askgraph.types import Array, BoolArray, IntArray

CLAIMED = 0.65  # the share of 1 − max p in the estimate; the rest is that of leave-one-out
EARLY = (
    10  # labels per class: later ones are asked for where the field hesitates, and leave-one-out counts none of them
)
LOW, BELOW = 0.7, 0.08  # the range begins at LOW · estimate − BELOW
ROOT, APART, SWAYED, FEW = 0.55, 0.2, 0.5, 0.45  # it ends at ROOT √estimate + APART · D + SWAYED · S + FEW/√labels
CHECKED = (
    16.0  # spot checks that the estimate from the other labels counts as, beside the later half of the spot checks
)
PRIOR = 4.0  # audited labels that the estimate from the other labels counts as, beside an audit
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


def expected_error(
    field: Field,
    p: Array,
    unlabeled: BoolArray,
    audit: tuple[IntArray, IntArray],
    checks: Sequence[bool] = (),
    by_shares: bool = False,
) -> Error:
    """Return the expected error of predictions with these probabilities.

    ``audit`` is audited nodes and their classes; ``checks`` says of each spot check, oldest first, whether the prediction was
    right; ``by_shares`` says that the class shares are predicted everywhere.
    """
    rest = int(unlabeled.sum())
    if not rest:
        return Error(0.0, 0.0, 0.0, 0)
    if not field.held:
        return Error(1.0, 0.0, 1.0, 0)
    guess, low, high = _of_shares(field) if by_shares else _of_predictions(field, p[unlabeled], checks)
    nodes, told = audit
    if not nodes.size:
        return Error(guess, *_whole_nodes(min(low, guess), max(high, guess), rest), 0)
    wrong = float((p[nodes].argmax(axis=1) != told).sum())
    bad, good = PRIOR * guess + wrong, PRIOR * (1 - guess) + nodes.size - wrong
    low, high = betaincinv(bad + JEFFREYS, good + JEFFREYS, TAILS)
    return Error(bad / (bad + good), *_whole_nodes(low, high, rest), nodes.size)


def _of_predictions(field: Field, p: Array, checks: Sequence[bool]) -> tuple[float, float, float]:
    """Return the estimate and its range, by these probabilities of the unlabeled nodes, by the labels and by spot checks.

    Of the spot checks the later half counts: earlier ones judge predictions that were worse.
    """
    swayed, late = _swayed(field), checks[len(checks) // 2 :]
    guess = CLAIMED * float(1 - p.max(axis=1).mean()) + (1 - CLAIMED) * _left_out_error(field)
    guess = (CHECKED * max(guess, swayed) + late.count(False)) / (CHECKED + len(late))
    high = ROOT * guess**0.5 + APART * doubt(field).apart + SWAYED * swayed + FEW * field.held**-0.5
    return guess, LOW * guess - BELOW, high


def _of_shares(field: Field) -> tuple[float, float, float]:
    """Return the same where the commonest class is predicted everywhere."""
    guess, slack = 1 - doubt(field).largest, field.held**-0.5
    return guess, guess - slack, guess + slack


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
    """Return the share of labels that the others predict wrong: of early labels, and not of hubs, which agree with each other."""
    left, p = from_others(field)
    early = {x.node for x in field.labels[: EARLY * int(np.count_nonzero(field.counts))]}
    counted = np.array([node in early for node in left.nodes.tolist()])
    ordinary = counted & (field.space.pick(field.origin.crowding, left.nodes) == 1)
    counted = ordinary if ordinary.any() else counted if counted.any() else np.ones_like(counted)
    return float((p.argmax(axis=1) != left.labels)[counted].mean())


def _swayed(field: Field) -> float:
    """Return the share of unlabeled nodes whose prediction the consensus with their neighbors changes."""
    alone = tempered_or_plain(field)
    if alone is None:
        return 0.0
    before, after = alone(field.votes).argmax(axis=1), Consensus.of_nodes(field).argmax(axis=1)
    total, rest = field.space.total, ~field.labeled
    return float(total((before != after) & rest) / total(rest))


def _whole_nodes(low: float, high: float, rest: int) -> tuple[float, float]:
    """Return a range in [0, 1], rounded outwards to whole nodes."""
    return max(float(np.floor(low * rest) / rest), 0.0), min(float(np.ceil(high * rest) / rest), 1.0)
