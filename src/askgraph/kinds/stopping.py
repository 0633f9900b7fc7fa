"""How often predictions are wrong, as far as labels can tell, and when to stop asking.

Labels that were asked for are not a random sample, and their neighborhoods are not average ones: the mean of 1 − max p is too
low, leave-one-out too high. The model's estimate is a weighted sum of both, of the share of nodes at which another readout decides
otherwise, and of the share that a class without any label has by the rule of succession. Its range ends at two curves that 93 % of
the errors on the graphs of the benchmarks lie between: docs/measured says which, and how well that holds on a family of graphs
that was left out. Only items drawn at random make an estimate sure: no rule that reads labels that were asked for knows a graph
that says nothing from one that says everything. From eight of them on, the range is what they prove (see random_answers).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.kinds.measured import MEASURED, random_items
from askgraph.kinds.random_answers import Drawn, drawn
from askgraph.readouts import View, doubt
from askgraph.readouts.temperature import from_others
from askgraph.support.wording import brief
from askgraph.types import Array, BoolArray

# labels per class: later ones are asked for where the field hesitates, and leave-one-out counts none of them
EARLY = 10
CHECKED = 16.0  # random answers that the model's estimate counts as, where there are fewer than that
WIDEST = 3  # times the target: too early to stop if the range ends above that
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
    measured : int
        The number of random answers, audited labels and spot checks, that the range is measured on; 0 where it is from the model.
    unit : str or None
        What the error is in, such as "steps"; None for a share.

    Examples
    --------
    >>> import askgraph as ag
    >>> print(ag.ErrorEstimate(0.059, 0.005, 0.203, 20, 20))
    5.9% (0.5% to 20.3%, measured on 20 random items)
    """

    value: float
    low: float
    high: float
    audited: int
    measured: int = 0
    unit: str | None = None

    @property
    def kind(self) -> str:
        """What the estimate rests on: "from the model", or "measured on 20 random items"."""
        return f"measured on {self.measured:,} random items" if self.measured else "from the model"

    def __str__(self) -> str:
        """Return the figure, its range in percent, and what it rests on."""
        if self.unit is None:
            return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%}, {self.kind})"
        value = f"{brief(self.value)} {self.unit}".strip()
        return f"{value} ({brief(self.low)} to {brief(self.high)}, {self.kind})"


class Signs(NamedTuple):
    """What labels that were asked for, and the probabilities, say about the error.

    Attributes
    ----------
    unsure : float
        The mean of 1 − max p over the unlabeled nodes.
    left_out : float
        The share of early labels that the others predict wrong.
    apart : float
        The share of unlabeled nodes at which class-mass normalization decides otherwise than consensus.
    unseen : float
        The share of nodes in classes without a label, by the rule of succession.
    by_shares : float
        The weight of the class shares in the predictions.
    rare : float
        The share of labels that are not of the commonest class.
    """

    unsure: float
    left_out: float
    apart: float
    unseen: float
    by_shares: float
    rare: float


class Model(NamedTuple):
    """The estimate from signs, and its range, by constants that benchmarks/honesty.py fits.

    Attributes
    ----------
    unsure, left_out, apart : float
        The weights of these signs in the estimate.
    low, below : float
        The range begins at low · estimate − below.
    high : float
        The range ends at high √estimate.
    """

    unsure: float
    left_out: float
    apart: float
    low: float
    below: float
    high: float

    def value(self, signs: Signs) -> float:
        """Return the estimate: as far as the class shares are predicted, what is not of the commonest class is wrong."""
        read = self.unsure * signs.unsure + self.left_out * signs.left_out + self.apart * signs.apart + signs.unseen
        return min((1 - signs.by_shares) * read + signs.by_shares * signs.rare, 1.0)

    def range(self, value: float) -> tuple[float, float]:
        """Return the range around an estimate."""
        return max(self.low * value - self.below, 0.0), min(max(self.high * value**0.5, value), 1.0)


FITTED = Model(0.51, 0.29, 0.27, 0.54, 0.05, 0.92)


def expected_error(
    field: Field,
    p: Array,
    unlabeled: BoolArray,
    audited: Sequence[bool] = (),
    checked: Sequence[bool] = (),
    by_shares: float = 0.0,
) -> ErrorEstimate:
    """Return the expected error of predictions with these probabilities.

    ``audited`` and ``checked`` say of each audited label and of each spot check whether its prediction is wrong; ``by_shares`` is
    the weight of the class shares in the predictions.
    """
    rest = int(unlabeled.sum())
    if not rest:
        return ErrorEstimate(0.0, 0.0, 0.0, 0)
    if not field.held:
        return ErrorEstimate(1.0, 0.0, 1.0, 0)
    return estimate(signs(field, p[unlabeled], by_shares), rest, audited, checked)


def signs(field: Field, p: Array, by_shares: float = 0.0) -> Signs:
    """Return the signs of the error of predictions, given the probabilities of the unlabeled nodes."""
    known = doubt(field)
    left_out, unseen = _left_out_error(field), _of_unseen_classes(field)
    return Signs(float(1 - p.max(axis=1).mean()), left_out, known.apart, unseen, by_shares, 1 - known.largest)


def estimate(
    signs: Signs, rest: int, audited: Sequence[bool] = (), checked: Sequence[bool] = (), model: Model = FITTED
) -> ErrorEstimate:
    """Return the expected error of ``rest`` nodes by signs and by random answers, each said to be predicted wrong or not.

    Enough audited labels stand alone: for them the proof holds as it is. A spot check is a label, too, and teaches: without it the
    others predict wrong a little more often, so with spot checks the range begins where it would with one wrong answer fewer.
    """
    guess, alone = model.value(signs), len(audited) >= MEASURED
    found = drawn(random_items(audited, checked))
    if found.items < MEASURED:
        guess = (CHECKED * guess + found.wrong) / (CHECKED + found.items)
        guess = max(guess, found.least())  # else one could stop at "84 % right" where none of three was
        return ErrorEstimate(guess, *_whole_nodes(*model.range(guess), rest), len(audited))
    low, high = found.range(rest if alone else rest + len(checked), guess)
    if not alone and checked and found.wrong:
        low = min(low, Drawn(found.items, found.wrong - 1).range(rest + len(checked), guess)[0])
    value = min(max(found.value(guess), low), high)
    return ErrorEstimate(value, *_whole_nodes(low, high, rest), len(audited), found.items)


def more_labels(error: ErrorEstimate, held: int, target: float, left: int) -> tuple[int, int]:
    """Return how many more labels bring the error down to a target: if it falls as 1/t, and if it falls as 1/√t.

    Never more than the ``left`` nodes that can still be labeled. A rule of thumb: on graphs whose curve was known, such
    forecasts were off by a factor of two as often as not.
    """
    if target < SMALLEST_TARGET:
        raise SettingError(
            f"target={target:g}: no number of labels makes predictions perfect; give a share such as 0.05"
        )
    if not math.isfinite(error.value):
        return left, left
    ratio = max(error.value / target, 1.0)
    few, many = (int(np.ceil(held * (times - 1))) for times in (ratio, ratio**2))
    return min(few, left), min(many, left)


def enough(error: ErrorEstimate, target: float) -> str | None:
    """Return why it is time to stop, or None."""
    if error.value > target or error.high > WIDEST * target:
        return None
    advice = "" if error.measured else "; an audit, labels of items drawn at random, would make that sure"
    wanted = f"{target:.1%}" if error.unit is None else brief(target)
    return f"enough: the expected error is {error}, not above {wanted}{advice}"


def labels_until_enough(error: ErrorEstimate, held: int, target: float, left: int) -> tuple[int, int] | None:
    """Return how many more labels it takes until ``enough`` says so: if the error falls as 1/t, and if it falls as 1/√t.

    Never more than the ``left`` nodes that can still be labeled. What the range leaves open beyond the error shrinks as 1/√t in
    both cases. None if even a thousand times the labels do not do. A rule of thumb, as :func:`more_labels`.
    """
    times = np.geomspace(1, MOST_TIMES, 2000)
    found = []
    for power in (1.0, 0.5):
        value = error.value * times**-power
        done = (value <= target) & (value + (error.high - error.value) * times**-0.5 <= WIDEST * target)
        if not done.any():
            return None
        found.append(min(int(np.ceil(held * (times[done.argmax()] - 1))), left))
    return found[0], found[1]


def wrong_without(field: Field) -> dict[int, bool]:
    """Return {node: whether all other labels predict it wrong} of the labels that leave-one-out knows."""
    left, p = from_others(field)
    return dict(zip(left.nodes.tolist(), (coding.decide(p) != left.said).tolist(), strict=True))


def _left_out_error(field: Field) -> float:
    """Return the share of labels that the others predict wrong: of early labels, and not of hubs, which agree with each other."""
    left, p = from_others(field)
    early = {x.node for x in field.observations[: EARLY * int(np.count_nonzero(View.of(field).counts))]}
    counted = np.array([node in early for node in left.nodes.tolist()], dtype=bool)
    ordinary = counted & (field.space.pick(field.origin.crowding, left.nodes) == 1)
    counted = ordinary if ordinary.any() else counted if counted.any() else np.ones_like(counted)
    return float((coding.decide(p) != left.said)[counted].mean()) if counted.size else 1.0


def _of_unseen_classes(field: Field) -> float:
    """Return the share of nodes in classes that have no label yet, of at least two: one in (labels + classes) each."""
    classes = max(field.coding.width, 2)
    return (classes - int(np.count_nonzero(View.of(field).counts))) / (field.held + classes)


def _whole_nodes(low: float, high: float, rest: int) -> tuple[float, float]:
    """Return a range in [0, 1], rounded outwards to whole nodes."""
    return max(float(np.floor(low * rest) / rest), 0.0), min(float(np.ceil(high * rest) / rest), 1.0)
