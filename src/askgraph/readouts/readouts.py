"""Readouts: from the field to class probabilities."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from scipy.sparse import csr_array

from askgraph.answers import coding
from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.readouts.by_class import Block, ByClass, blended, row_highest, row_totals
from askgraph.readouts.hearing import HEARD, hears
from askgraph.readouts.temperature import Reading, tempered, tempered_or_plain
from askgraph.spaces.base import Space
from askgraph.support.arguments import listed, real_number
from askgraph.types import Array, IntArray
from askgraph.utilities.recent import reweighted

SAMPLE, SHARPNESS = 1000, (0.25, 32.0)  # unlabeled nodes that the exponent of a consensus is set by, and its range
CELLS = 2**20  # steps of the exponent, each the same factor
USUAL = (CELLS * 2 // 7, CELLS * 5 // 7)  # the steps at which the exponent is 1 and 8


class Readout(Protocol):
    """A function from a field to class probabilities; pass one to ``Learner(graph, readout=...)``.

    Examples
    --------
    A readout of your own: the votes as they are, scaled to the sum 1.

    >>> import askgraph as ag
    >>> def plain(field, votes=None, links=None):
    ...     votes = 1e-9 + np.maximum(field.votes if votes is None else votes, 0.0)
    ...     return votes / votes.sum(axis=1, keepdims=True)
    >>> learner = ag.Learner(ag.chain(4), readout=plain, rng=0)
    >>> learner.tell_all({0: "left", 3: "right"})
    >>> learner.predict().tolist()
    ['left', 'left', 'right', 'right']
    """

    def __call__(self, field: Field, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return the class probabilities of the nodes, or of samples outside the graph.

        Parameters
        ----------
        field : Field
            The field.
        votes : array, optional
            The votes of samples outside the graph, one row per sample; by default the votes of the nodes.
        links : scipy.sparse.csr_array, optional
            The weights that tie these samples to nodes, one row per sample, one column per node.

        Returns
        -------
        array
            One row per node (or sample), one column per class.
        """
        ...


@dataclass(frozen=True)
class Map:
    """The paper's decision: argmax of the mean (7), probabilities (6).

    Examples
    --------
    >>> import askgraph as ag
    >>> field = ag.Field.start(ag.prior(ag.chain(5), delta=1e-6), 2).observe(0, 0).observe(4, 1)
    >>> ag.Map()(field)[1:4].round(2).tolist()
    [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    """

    def __call__(self, field: Field, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return p_c ∝ (1 + μ_c)/2."""
        return coding.chances(field.votes if votes is None else votes)

    def _by_class(self, field: Field, blocks: Sequence[Block]) -> ByClass:
        """Return the same probabilities of the nodes as a function of a block of classes."""
        reach = row_totals(blocks, lambda block: field.votes[:, block.classes])

        def odds(block: Block) -> Array:
            return np.maximum(field.votes[:, block.classes] + (1 - reach) / 2, 0.0)

        total = row_totals(blocks, odds)
        return lambda block: coding.ratio(odds(block), total, 1 / field.coding.width)


@dataclass(frozen=True)
class Mass:
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

    def __call__(self, field: Field, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return H · (normalized votes) + (1 − H)/C."""
        votes = np.maximum(field.votes if votes is None else votes, 0.0)
        return _blended(votes, votes * field.space.asarray(self._weights(field)))

    def _by_class(self, field: Field, blocks: Sequence[Block]) -> ByClass:
        """Return the same probabilities of the nodes as a function of a block of classes."""
        weights = self._weights(field)

        def votes(block: Block) -> Array:
            return np.maximum(field.votes[:, block.classes], 0.0)

        def scores(block: Block) -> Array:
            return votes(block) * field.space.asarray(weights[block.classes])

        return blended(field, blocks, votes, scores)

    def _weights(self, field: Field) -> Array:
        """Return what the votes of each class are multiplied by: q over the sum of its votes."""
        return self._prior(field.counts) / coding.divisor(field.mass, field.highest)

    def _prior(self, counts: Array) -> Array:
        if self.prior == "uniform":
            return np.ones(counts.size)
        if self.prior == "frequency":
            return coding.frequencies(counts, counts.size)
        if len(self.prior) != counts.size:
            raise SettingError(f"the class prior has {len(self.prior)} numbers, there are {counts.size} classes")
        return np.asarray(self.prior, dtype=float)


@dataclass(frozen=True)
class Tempered:
    r"""Class-mass normalization with a temperature: :math:`p_c \propto q_c (h_c / \bar h_c)^\tau` over the classes seen.

    q are the label frequencies, h̄ the mean votes over the unlabeled nodes that votes reach. Where the graph mixes fast, what
    labels tell is a few percent of a constant: τ must be large there, and is 1 where votes fall off by themselves.

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

    def __call__(self, field: Field, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return H p + (1 − H)/C: a node that no label reaches is at 1/C, and a class without labels keeps its part of 1 − H."""
        return _read(field, tempered(field, self.tau), votes)

    def _by_class(self, field: Field, blocks: Sequence[Block]) -> ByClass:
        """Return the same probabilities of the nodes as a function of a block of classes."""
        return _read_by_class(field, tempered(field, self.tau), blocks)


@dataclass(frozen=True)
class Consensus:
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

    def __call__(self, field: Field, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return probabilities of all nodes; with ``votes`` and ``links``, of samples that links tie to nodes."""
        if votes is None or links is None:
            return self.of_nodes(field).copy()
        reading, origin, space = tempered_or_plain(field), field.origin, field.space
        if not hears(field):
            return _read(field, reading, votes)
        p = _read(field, reading, None)
        sharpness = _sharpness_of(field, p, _heard(p, origin.neighbors(p), origin.degrees))
        weight = space.asarray(np.asarray(links.sum(axis=1)).ravel())
        return _sharpened(_heard(_read(field, reading, votes), space.linked(links, p), weight), sharpness)

    @staticmethod
    def of_nodes(field: Field) -> Array:
        """Return the probabilities of all nodes, computed once per field.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        array
            One row per node, one column per class. The field keeps this array: do not write to it.
        """

        def compute() -> Array:
            p = _read(field, tempered_or_plain(field), None)
            if not hears(field):
                return p
            heard = _heard(p, field.origin.neighbors(p), field.origin.degrees)
            return np.where(field.certain[:, None], p, _sharpened(heard, _sharpness_of(field, p, heard)))

        found: Array = field.once("consensus", compute)
        return found

    def _by_class(self, field: Field, blocks: Sequence[Block]) -> ByClass:
        """Return the same probabilities of the nodes as a function of a block of classes."""
        own, origin, certain = _read_by_class(field, tempered_or_plain(field), blocks), field.origin, field.certain
        if not hears(field):
            return own
        some, mine, around = _sampled(field), list[Array](), list[Array]()

        def averaged(block: Block) -> Array:
            p = own(block)
            found = _heard(p, origin.neighbors(p), origin.degrees)
            if len(mine) < len(blocks):  # the first pass
                mine.append(p[some])
                around.append(found[some])
            return found

        heard = coding.kept(blocks, averaged)
        highest = row_highest(blocks, heard)
        repeats = field.space.to_numpy(np.concatenate([block.repeats for block in blocks]))
        power = _sharpness(field.space, np.concatenate(mine, axis=1), np.concatenate(around, axis=1), repeats)
        scores = coding.kept(blocks, lambda block: (heard(block) / highest) ** power)
        total = row_totals(blocks, scores)
        return coding.kept(blocks, lambda block: np.where(certain[:, None], own(block), scores(block) / total))

    @staticmethod
    def steps(field: Field) -> tuple[Array, Callable[[Array, Array], Array]]:
        """Return the two steps of a consensus, for who has more to say of nodes between them.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        tuple of array and callable
            The probabilities of nodes by their own votes, and the function that averages such probabilities with those of the
            neighbors, its second argument, and makes them as sure as a consensus is.
        """
        p, origin = _read(field, tempered_or_plain(field), None), field.origin
        power = _sharpness_of(field, p, _heard(p, origin.neighbors(p), origin.degrees))
        return p, lambda own, others: _sharpened(_heard(own, origin.neighbors(others), origin.degrees), power)


def _read(field: Field, reading: Reading | None, votes: Array | None) -> Array:
    """Return probabilities by this reading of the votes; a labeled node has its label."""
    mine = field.clipped_votes if votes is None else votes
    mine = np.maximum(mine, 0.0) if field.origin.signed else mine
    p = _blended(mine, np.maximum(mine, 0.0) if reading is None else reading(mine))
    if votes is not None:
        return p
    return np.where(field.certain[:, None], field.certain_votes(), p)


def _read_by_class(field: Field, reading: Reading | None, blocks: Sequence[Block]) -> ByClass:
    """Return the probabilities of all nodes by this reading as a function of a block of classes."""

    def votes(block: Block) -> Array:
        return np.maximum(field.votes[:, block.classes], 0.0)

    scores = votes if reading is None else _shares_by_class(reading, votes, blocks)
    p, certain = blended(field, blocks, votes, scores), field.certain[:, None]
    return coding.kept(blocks, lambda block: np.where(certain, field.certain_votes(block.classes), p(block)))


def _shares_by_class(reading: Reading, votes: ByClass, blocks: Sequence[Block]) -> ByClass:
    """Return shares by this reading, up to one factor per node."""

    def logits(block: Block) -> Array:
        return reading.logits(votes(block), block.classes)

    highest = row_highest(blocks, logits)
    return coding.kept(blocks, lambda block: np.exp(logits(block) - highest))


def _heard(own: Array, around: Array, weight: Array) -> Array:
    """Return 0.1 of a node's own probabilities and 0.9 of the mean over its neighbors; its own where it has none."""
    return (1 - HEARD) * own + HEARD * coding.ratio(around, weight[:, None], own)


def _sampled(field: Field) -> IntArray:
    """Return the rows of some unlabeled nodes."""
    return field.space.sample(np.flatnonzero(~field.labeled), SAMPLE)


def _sharpness_of(field: Field, p: Array, heard: Array) -> float:
    """Return the exponent of a consensus by the probabilities of all nodes, their own and averaged ones."""
    some = _sampled(field)
    return _sharpness(field.space, p[some], heard[some], np.ones((p.shape[1], 1)))


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


def _sharpened(p: Array, power: float) -> Array:
    scores = (p / p.max(axis=1, keepdims=True)) ** power
    return scores / coding.row_sums(scores)


def _blended(votes: Array, scores: Array) -> Array:
    """Return H p + (1 − H)/C with p ∝ scores: where no label reaches, all classes are alike."""
    classes, reach, total = votes.shape[1], np.clip(coding.row_sums(votes), 0.0, 1.0), coding.row_sums(scores)
    return reach * coding.ratio(scores, total, 1 / classes) + (1 - reach) / classes


@dataclass(frozen=True)
class Reweighted:
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

    def __call__(self, field: Field, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return p_c ∝ u_c + (1 − Σ_c u_c)/2."""
        if votes is not None:
            raise SettingError(
                "the reweighted readout reads nodes of the graph only: choose another one for other rows"
            )
        return coding.chances(reweighted(field))
