"""How often predictions are wrong, as far as labels can tell, and when to stop asking.

Labels that were asked for are not a random sample, and their neighborhoods are not average ones: the mean of 1 − max p is too
low, leave-one-out too high. The estimate is a weighted sum of both, of the share of nodes at which another readout decides
otherwise, of the share whose prediction the consensus with their neighbors changes, and of the share that a class without any
label has by the rule of succession. The ends of the range are two curves that 90 % of the errors on 34 graphs lie between:
docs/accuracy.md says which, and how they were fitted. Only an audit, labels drawn at random and kept apart, can make the estimate
sure: no rule that reads labels that were asked for knows a graph that says nothing from one that says everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.readouts import View, doubt
from askgraph.readouts.readouts import consensus_of_nodes
from askgraph.readouts.temperature import from_others, tempered_or_plain
from askgraph.types import Array, BoolArray, IntArray

UNSURE, LEFT_OUT = 0.4, 0.35  # weights in the estimate of 1 − max p and of leave-one-out
APART, SWAYED = 0.3, 0.3  # of the nodes that another readout decides otherwise, and of those that the consensus changes
# labels per class: later ones are asked for where the field hesitates, and leave-one-out counts none of them
EARLY = 10
LOW, BELOW = 0.8, 0.12  # the range begins at LOW · estimate − BELOW
ROOT, HIGH, FEW = 0.45, 0.4, 0.4  # it ends at ROOT √estimate + HIGH · estimate + FEW/√labels
SHARES = 1.3  # as far as the class shares are predicted, the range is SHARES/√labels to both sides
# spot checks that the estimate from the other labels counts as, beside the later half of the spot checks
CHECKED = 16.0
PRIOR = 4.0  # audited labels that the estimate from the other labels counts as, beside an audit
JEFFREYS = 0.25  # added to both parameters of the beta distribution, so that a range is never empty
AUDITED, ASKED = 2, 3  # times the target: too early to stop if the range ends above that, with and without an audit
TAILS = (0.05, 0.95)  # the quantiles at which the range ends
MOST_TIMES = 1000.0  # times the labels so far: beyond, no forecast is made
SMALLEST_TARGET = 1e-9  # an expected error below it is not asked for in earnest


class ErrorEstimate(NamedTuple):
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
    >>> print(ag.ErrorEstimate(0.059, 0.005, 0.203, 20))
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
    by_shares: float = 0.0,
) -> ErrorEstimate:
    """Return the expected error of predictions with these probabilities.

    ``audit`` is audited nodes and their classes; ``checks`` says of each spot check, oldest first, whether the prediction was
    right; ``by_shares`` is the weight of the class shares in the predictions.
    """
    rest = int(unlabeled.sum())
    if not rest:
        return ErrorEstimate(0.0, 0.0, 0.0, 0)
    if not field.held:
        return ErrorEstimate(1.0, 0.0, 1.0, 0)
    ends = np.array(_of_predictions(field, p[unlabeled], checks))
    guess, low, high = ((1 - by_shares) * ends + by_shares * np.array(_of_shares(field))).tolist()
    nodes, told = audit
    if not nodes.size:
        return ErrorEstimate(guess, *_whole_nodes(min(low, guess), max(high, guess), rest), 0)
    wrong = float((coding.decide(p[nodes]) != told).sum())
    bad, good = PRIOR * guess + wrong, PRIOR * (1 - guess) + nodes.size - wrong
    from scipy.special import betaincinv

    low, high = betaincinv(bad + JEFFREYS, good + JEFFREYS, TAILS)
    return ErrorEstimate(bad / (bad + good), *_whole_nodes(low, high, rest), nodes.size)


def _of_predictions(field: Field, p: Array, checks: Sequence[bool]) -> tuple[float, float, float]:
    """Return the estimate and its range, by these probabilities of the unlabeled nodes, by the labels and by spot checks.

    Of the spot checks the later half counts: earlier ones judge predictions that were worse.
    """
    late = checks[len(checks) // 2 :]
    guess = UNSURE * float(1 - p.max(axis=1).mean()) + LEFT_OUT * _left_out_error(field)
    guess += APART * doubt(field).apart + SWAYED * _swayed(field) + _of_unseen_classes(field)
    guess = (CHECKED * min(guess, 1.0) + late.count(False)) / (CHECKED + len(late))
    return guess, LOW * guess - BELOW, ROOT * guess**0.5 + HIGH * guess + FEW * field.held**-0.5


def _of_shares(field: Field) -> tuple[float, float, float]:
    """Return the same where the commonest class is predicted everywhere."""
    guess, slack = 1 - doubt(field).largest, SHARES * field.held**-0.5
    return guess, guess - slack, guess + slack


def more_labels(error: ErrorEstimate, held: int, target: float, left: int) -> tuple[int, int]:
    """Return how many more labels bring the error down to a target: if it falls as 1/t, and if it falls as 1/√t.

    Never more than the ``left`` nodes that can still be labeled. A rule of thumb: on graphs whose curve was known, such
    forecasts were off by a factor of two as often as not.
    """
    if target < SMALLEST_TARGET:
        raise SettingError(
            f"target={target:g}: no number of labels makes predictions perfect; give a share such as 0.05"
        )
    ratio = max(error.value / target, 1.0)
    few, many = (int(np.ceil(held * (times - 1))) for times in (ratio, ratio**2))
    return min(few, left), min(many, left)


def enough(error: ErrorEstimate, target: float) -> str | None:
    """Return why it is time to stop, or None."""
    if error.value > target or error.high > (AUDITED if error.audited else ASKED) * target:
        return None
    advice = "" if error.audited else "; an audit, labels of items drawn at random, would make that sure"
    return f"enough: the expected error is {error}, not above {target:.1%}{advice}"


def labels_until_enough(error: ErrorEstimate, held: int, target: float, left: int) -> tuple[int, int] | None:
    """Return how many more labels it takes until ``enough`` says so: if the error falls as 1/t, and if it falls as 1/√t.

    Never more than the ``left`` nodes that can still be labeled. What the range leaves open beyond the error shrinks as 1/√t in
    both cases. None if even a thousand times the labels do not do. A rule of thumb, as :func:`more_labels`.
    """
    times = np.geomspace(1, MOST_TIMES, 2000)
    widest = (AUDITED if error.audited else ASKED) * target
    found = []
    for power in (1.0, 0.5):
        value = error.value * times**-power
        done = (value <= target) & (value + (error.high - error.value) * times**-0.5 <= widest)
        if not done.any():
            return None
        found.append(min(int(np.ceil(held * (times[done.argmax()] - 1))), left))
    return found[0], found[1]


def _left_out_error(field: Field) -> float:
    """Return the share of labels that the others predict wrong: of early labels, and not of hubs, which agree with each other."""
    left, p = from_others(field)
    early = {x.node for x in field.observations[: EARLY * int(np.count_nonzero(View.of(field).counts))]}
    counted = np.array([node in early for node in left.nodes.tolist()])
    ordinary = counted & (field.space.pick(field.origin.crowding, left.nodes) == 1)
    counted = ordinary if ordinary.any() else counted if counted.any() else np.ones_like(counted)
    return float((coding.decide(p) != left.said)[counted].mean())


def _of_unseen_classes(field: Field) -> float:
    """Return the share of nodes in classes that have no label yet, of at least two: one in (labels + classes) each."""
    classes = max(field.coding.width, 2)
    return (classes - int(np.count_nonzero(View.of(field).counts))) / (field.held + classes)


def _swayed(field: Field) -> float:
    """Return the share of unlabeled nodes whose prediction the consensus with their neighbors changes."""
    alone = tempered_or_plain(field)
    if alone is None:
        return 0.0
    view = View.of(field)
    before, after = coding.decide(alone.shares(view)(view.blocks[0])), coding.decide(consensus_of_nodes(field))
    total, rest = field.space.total, ~field.labeled
    return float(total((before != after) & rest) / total(rest))


def _whole_nodes(low: float, high: float, rest: int) -> tuple[float, float]:
    """Return a range in [0, 1], rounded outwards to whole nodes."""
    return max(float(np.floor(low * rest) / rest), 0.0), min(float(np.ceil(high * rest) / rest), 1.0)
