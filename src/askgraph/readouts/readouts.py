"""Readouts: from the field to class probabilities."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import numpy as np

from askgraph.answers import coding
from askgraph.errors import SettingError
from askgraph.field import Field, once_per_field
from askgraph.readouts.hearing import HEARD, hears
from askgraph.readouts.readout import Readout, Steps
from askgraph.readouts.temperature import Reading, tempered, tempered_or_plain
from askgraph.readouts.view import ByBlock, View
from askgraph.spaces.base import Space
from askgraph.support.arguments import listed, real_number
from askgraph.types import Array
from askgraph.utilities.recent import reweighted

SAMPLE, SHARPNESS = 1000, (0.25, 32.0)  # unlabeled nodes that the exponent of a consensus is set by, and its range
CELLS = 2**20  # steps of the exponent, each the same factor
USUAL = (CELLS * 2 // 7, CELLS * 5 // 7)  # the steps at which the exponent is 1 and 8


@dataclass(frozen=True)
class Map(Readout):
    """The paper's decision: argmax of the mean (7), probabilities (6).

    Examples
    --------
    >>> import askgraph as ag
    >>> field = ag.Field.start(ag.prior(ag.chain(5), delta=1e-6), 2).observe(0, 0).observe(4, 1)
    >>> ag.Map()(field)[1:4].round(2).tolist()
    [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    """

    def by_block(self, view: View) -> ByBlock:
        """Return p_c ∝ (1 + μ_c)/2 = h_c + (1 − H)/2."""
        spare = (1 - view.row_totals(lambda block: view.rows[:, block.columns])) / 2
        odds = view.kept(
            lambda block: np.maximum(view.rows[:, block.columns] + spare, 0.0)
        )  # roundoff may leave -1e-17
        return view.shares(odds)


@dataclass(frozen=True)
class Mass(Readout):
    r"""Class-mass normalization (Zhu 2003): :math:`q_c h_{ic} / \sum_{j \in U} h_{jc}`, q the class prior.

    A node keeps the share 1 − H of the uniform distribution: a node that no label reaches stays at 1/C. A class without
    labels has no votes, so it is never decided for, but it keeps its part of that share.

    Parameters
    ----------
    prior : {"uniform", "frequency"} or tuple of float
        The class prior q: the same for all classes, by the labels so far, or one positive number per class, in the order of
        the classes.

    Examples
    --------
    Node 1 is halfway between the two labels. Class 0 has few votes in all, so each of them counts for more.

    >>> import askgraph as ag
    >>> field = ag.Field.start(ag.prior(ag.chain(7), delta=1e-6), 2).observe(0, 0).observe(2, 1)
    >>> ag.Map()(field)[1].round(2).tolist(), ag.Mass()(field)[1].round(2).tolist()
    ([0.5, 0.5], [0.9, 0.1])
    """

    prior: Literal["uniform", "frequency"] | tuple[float, ...] = "uniform"

    def __post_init__(self) -> None:
        if isinstance(self.prior, str):
            if self.prior not in ("uniform", "frequency"):
                raise SettingError(f"class prior {self.prior!r}: give 'uniform', 'frequency' or one number a class")
        elif not isinstance(self.prior, tuple | list) or not all(
            real_number(q, "class prior", 0.0) for q in listed(self.prior, "class prior")
        ):
            raise SettingError(f"class prior {self.prior!r}: every class needs a positive number")

    def by_block(self, view: View) -> ByBlock:
        """Return H · (normalized votes) + (1 − H)/C."""
        weights = view.field.space.asarray(self._prior(view.counts) / coding.divisor(*view.masses))
        return view.blended(view.kept(lambda block: view.votes(block) * weights[block.columns]))

    def _prior(self, counts: Array) -> Array:
        if self.prior == "uniform":
            return np.ones(counts.size)
        if self.prior == "frequency":
            return coding.frequencies(counts, counts.size)
        if len(self.prior) != counts.size:
            raise SettingError(f"the class prior has {len(self.prior)} numbers, there are {counts.size} classes")
        return np.asarray(self.prior, dtype=float)


@dataclass(frozen=True)
class Votes(Readout):
    """The votes as they are: the share of each class in them, and 1 − H of the uniform distribution.

    Where classes have an order, a class in the middle should get more than the same share as its neighbors.

    Examples
    --------
    >>> import askgraph as ag
    >>> field = ag.Field.start(ag.prior(ag.chain(5), delta=1e-6), 2).observe(0, 0).observe(4, 1)
    >>> ag.Votes()(field)[1:4].round(2).tolist()
    [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    """

    def by_block(self, view: View) -> ByBlock:
        """Return H p + (1 − H)/C with p ∝ h."""
        return view.blended(view.votes)


@dataclass(frozen=True)
class Tempered(Readout):
    r"""Class-mass normalization with a temperature: :math:`p_c \propto q_c (h_c / \bar h_c)^\tau` over the classes seen.

    h̄ are the mean votes over the unlabeled nodes that votes reach, and q the class prior: the label frequencies f, drawn to the
    mean votes by a third, :math:`q_c \propto f_c^{2/3} \bar h_c^{1/3}`, since labels that were asked for are no sample of the
    classes. Where the graph mixes fast, what labels tell is a few percent of a constant: τ must be large there, and is 1 where
    votes fall off by themselves.

    Parameters
    ----------
    tau : float, optional
        The temperature τ, a positive number. By default the one at which the labels are best predicted from each other,
        drawn toward 2/σ, where σ is the spread of ln(h/h̄) over classes.

    Examples
    --------
    The higher the temperature, the surer the probabilities.

    >>> import askgraph as ag
    >>> field = ag.Field.start(ag.prior(ag.chain(6), delta=1e-6), 2).observe(0, 0).observe(5, 1)
    >>> [ag.Tempered(tau)(field)[2].round(2).tolist() for tau in (1.0, 4.0)]
    [[0.6, 0.4], [0.84, 0.16]]
    """

    tau: float | None = None

    def __post_init__(self) -> None:
        if self.tau is not None:
            advice = "a temperature, a positive number, or None to have it chosen"
            real_number(self.tau, "tau", sys.float_info.min, 1e6, advice)

    def by_block(self, view: View) -> ByBlock:
        """Return H p + (1 − H)/C: a node that no label reaches is at 1/C, and a class without labels keeps its part of 1 − H."""
        return _own(view, tempered(view.field, self.tau))


@dataclass(frozen=True)
class Consensus(Readout):
    r"""Tempered probabilities, averaged with the neighbors': :math:`p_i \leftarrow 0.1\, p_i + 0.9 \sum_j w_{ij} p_j / d_i`.

    Votes are read by class mass, or as they are where the labels are predicted better that way. A mean over neighbors is
    right more often, but less sure: one exponent for all nodes makes up for that, so that on average the probability of the
    likeliest class is what it was before. A labeled node keeps its label. With features, a node keeps its own probabilities
    where leave-one-out speaks for that.

    Examples
    --------
    >>> import askgraph as ag
    >>> field = ag.Field.start(ag.prior(ag.chain(6)), 2).observe(0, 0).observe(5, 1)
    >>> ag.Consensus()(field).argmax(axis=1).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def by_block(self, view: View) -> ByBlock:
        """Return probabilities of nodes; of samples outside the graph, with those of the nodes that links tie them to."""
        if not view.whole:
            return _averaged(view)
        p = consensus_of_nodes(view.field)
        return lambda block: p.copy()

    def steps(self, field: Field) -> Steps:
        """Return the probabilities of nodes by their own votes, and what averages and sharpens them as a consensus does.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        tuple of array and callable
            The probabilities, and the function of these and of those that the neighbors have.
        """
        view = View.of(field)
        own, (every,) = _own(view, tempered_or_plain(field)), view.blocks
        _, power = _sureness(view, own, lambda block: _heard_at(field, own(block), own(block)))

        def hear(mine: Array, others: Array) -> Array:
            heard = _heard_at(field, mine, others)
            return _sharpened(view, lambda block: heard, heard.max(axis=1, keepdims=True), power)(every)

        return own(every), hear


@once_per_field
def consensus_of_nodes(field: Field) -> Array:
    """Return the probabilities of all nodes by consensus; the field keeps this array: do not write to it."""
    view = View.of(field)
    return _averaged(view)(view.blocks[0])


def _averaged(view: View) -> ByBlock:
    """Return the probabilities of a consensus as a function of a block of classes."""
    field, nodes = view.field, view.nodes
    reading, space = tempered_or_plain(field), field.space
    own = _own(nodes, reading)
    if not hears(field):
        return _own(view, reading) if view.outside else own
    heard = nodes.kept(lambda block: _heard_at(field, own(block), own(block)))
    highest, power = _sureness(nodes, own, heard)
    if view.links is None:
        return _sharpened(view, heard, highest, power)
    links, weight = view.links, space.asarray(np.asarray(view.links.sum(axis=1)).ravel())
    mine = _own(view, reading)
    around = view.kept(lambda block: _heard(mine(block), space.linked(links, own(block)), weight))
    return _sharpened(view, around, view.row_highest(around), power)


def _own(view: View, reading: Reading | None) -> ByBlock:
    """Return probabilities by this reading of the votes alone; where neighbors hear a label as it was given, the node has it."""
    scores = view.votes if reading is None else reading.shares(view)
    return view.kept(view.standing(view.blended(scores), view.pinned))


def _heard_at(field: Field, own: Array, others: Array) -> Array:
    """Return what nodes say with these probabilities of their own, and their neighbors with the others."""
    return _heard(own, field.origin.neighbors(others), field.origin.degrees)


def _heard(own: Array, around: Array, weight: Array) -> Array:
    """Return 0.1 of a row's own probabilities and 0.9 of the mean over its neighbors; its own where it has none."""
    return (1 - HEARD) * own + HEARD * coding.ratio(around, weight[:, None], own)


def _sharpened(view: View, heard: ByBlock, highest: Array, power: float) -> ByBlock:
    """Return averaged probabilities, made surer by an exponent."""
    return view.shares(view.kept(lambda block: (heard(block) / highest) ** power))


def _sureness(view: View, own: ByBlock, heard: ByBlock) -> tuple[Array, float]:
    """Return the highest averaged probability of each node, and the exponent of a consensus: by one pass over the blocks."""
    field = view.field
    some = field.space.sample(np.flatnonzero(~field.labeled), SAMPLE)
    mine, around, highest = list[Array](), list[Array](), list[Array]()
    for block in view.blocks:
        found = heard(block)
        mine.append(own(block)[some])
        around.append(found[some])
        highest.append(found.max(axis=1, keepdims=True))
    repeats = field.space.to_numpy(np.concatenate([block.repeats for block in view.blocks]))
    power = _sharpness(field.space, np.concatenate(mine, axis=1), np.concatenate(around, axis=1), repeats)
    return reduce(np.maximum, highest), power


def _sharpness(space: Space, p: Array, heard: Array, repeats: Array) -> float:
    """Return the exponent that makes averaged probabilities as sure as a node's own, on average over these nodes."""
    aims, part = space.allgather(p.max(axis=1)), space.allgather(heard)
    if not aims.size:
        return 1.0
    aim = aims.mean()
    logs = np.log(np.maximum(part / part.max(axis=1, keepdims=True), np.finfo(float).tiny))
    low, high = np.log(SHARPNESS)
    step, scores = (high - low) / CELLS, np.empty_like(logs)

    def short(cell: int) -> float:
        np.exp(np.multiply(logs, np.exp(low + step * cell), out=scores), out=scores)
        return float(aim - (1 / (scores @ repeats)).mean())

    return float(np.exp(low + step * zero_of(short, CELLS, USUAL)))


def zero_of(falling: Callable[[int], float], cells: int, guesses: Sequence[int] = ()) -> float:
    """Return where a falling function of the numbers 0 to ``cells`` is 0, on the line between two numbers next to each other.

    0 where it is above 0 nowhere, ``cells`` where it is so everywhere. By false position, after numbers that are likely on
    either side; a step that leaves more than half of the numbers is followed by one in their middle, so that a flat function
    takes few steps, too.
    """
    low, high, known = 0, cells, dict[int, float]()
    for guess in guesses:
        if low < guess < high:
            known[guess] = falling(guess)
            low, high = (guess, high) if known[guess] > 0 else (low, guess)
    above, below = (known[end] if end in known else falling(end) for end in (low, high))
    if above <= 0 or below > 0:
        return 0.0 if above <= 0 else float(cells)
    middle = False  # whether the next step is in the middle
    while (width := high - low) > 1:
        at = low + round(width * (0.5 if middle else above / (above - below)))
        at = min(max(at, low + 1), high - 1)
        value = falling(at)
        low, above, high, below = (at, value, high, below) if value > 0 else (low, above, at, value)
        middle = not middle and 2 * (high - low) > width
    return low + above / (above - below)


@dataclass(frozen=True)
class Reweighted(Readout):
    """The readout that goes with the sampler ``pwll``: the paper's, of votes in the graph that Poisson's equation reweights.

    It reads the nodes of the graph only, and raises an error for other votes.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(6), "pwll", readout=ag.Reweighted(), rng=0)
    >>> learner.tell_all({0: "left", 5: "right"})
    >>> learner.predict().tolist()
    ['left', 'left', 'left', 'right', 'right', 'right']
    """

    @property
    def whole(self) -> bool:
        """Whether all classes must be read at once: yes, one solve is for all."""
        return True

    def by_block(self, view: View) -> ByBlock:
        """Return p_c ∝ u_c + (1 − Σ_c u_c)/2."""
        if view.outside:
            raise SettingError(
                "the reweighted readout reads nodes of the graph only: choose another one for other rows"
            )
        return Map().by_block(replace(view, rows=reweighted(view.field)))
