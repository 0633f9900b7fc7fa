"""The posterior, a value: conditioning returns a new one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, cast

import numpy as np
from scipy.linalg import solve_triangular

from askgraph.answers.coding import Coding, as_coding, by_class, parts
from askgraph.errors import ConvergenceError, LabelError
from askgraph.field.old_names import OLD_NAMES
from askgraph.linalg.column_stack import ColumnStack
from askgraph.priors.base import Prior
from askgraph.priors.summaries import Spread, Unread
from askgraph.spaces.base import Space
from askgraph.support.later import Later
from askgraph.support.moved import finds_old_names
from askgraph.support.notebook import card
from askgraph.types import Array, BoolArray, IntArray

WORN = 1e-4  # of the variance at the last rebase: a variance below this share has lost digits, and a rebase is due
MAX_FACTOR_BYTES = 1_000_000_000  # of V in one process; a rebase is due when V is as large, but not before 16 columns
MAX_FACTOR_COLUMNS = 512  # of V; a rebase is due when V has as many


P = ParamSpec("P")
T = TypeVar("T")


class Observation(NamedTuple):
    """What was said about one node.

    Attributes
    ----------
    node : int
        The index of the node.
    said : object
        The answer, as the coding takes it: for classes, the index of the class. None while the answer is pending.
    noise : float
        The label noise γ that was given with the answer; 0 for one that is exact.
    scale : float
        √(g_kk + γ²), what a discount adds included, when the answer came; 0 for one that was folded in together with others.
    """

    node: int
    said: Any
    noise: float = 0.0
    scale: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the answer stands at its node as it was given: it is there, and nothing is said of its noise."""
        return self.said is not None and self.noise == 0


class Discount(Protocol):
    """A rule by which answers count for less at some nodes: it adds to their variance."""

    def __call__(self, prior: Prior, take: Callable[[Array], Array]) -> Array:
        """Return the variance that is added to an answer at some nodes.

        Parameters
        ----------
        prior : Prior
            The engine without answers, which knows the degrees of all nodes.
        take : callable
            A function that takes these nodes from an array with one number per node.

        Returns
        -------
        array
            One variance per node taken.
        """
        ...


class Folded(tuple[Observation, ...]):
    """Observations that many fields share, so that what is asked of all of them is collected once."""

    @cached_property
    def known(self) -> tuple[Observation, ...]:
        """Those whose answer is not pending."""
        return known(self)


@dataclass(frozen=True, eq=False)
class Field:
    r"""ψ given what was said: one mean per column of the coding, and one covariance :math:`G_t = G_0 - V V^T` that is never formed.

    A field is a value: a method that adds, changes or removes a label returns a new field and leaves this one as it is.
    Make a field with :meth:`start` or :meth:`given`. Nodes and answers are indices here; :class:`Learner` knows them by name.
    What an answer means as numbers is the coding's business: the covariance does not depend on it.
    A node with an exact label (label noise 0) has that label as its mean, and variance 0.

    Attributes
    ----------
    origin : Prior
        The engine before any label.
    prior : Prior
        The engine in use: ``origin`` with the folded labels inside its precision.
    base : array
        The votes of the folded answers alone, one row per node, one column per column of the coding.
    votes : array
        The votes h of all answers, in the same shape: the mean of the field.
    spread : Spread
        The summaries of the covariance: ``spread.variance``, ``spread.influence_l1`` and ``spread.influence_l2`` have one
        number per node, g_ii, ‖g_i‖₁ and ‖g_i‖₂.
    squares : bool
        Whether ‖g_i‖₂ is kept up to date as labels come.
    noise : float
        The label noise γ of labels to come; 0 is the paper.
    chosen : bool
        Whether a rule chose the label noise, so that nobody who answered said that the answer is unsure.
    discount : Discount, optional
        What a rule adds to the variance of an answer at some nodes, so that it counts for less; None is the paper.
    fresh : Later
        The variance of each node when V was last empty, computed when ``fresh.value`` is first read.
    stack : ColumnStack
        The columns of V.
    labeled : array of bool
        True where a label is known or its answer is pending.
    free : array
        0.0 where an exact label pins the field, 1.0 elsewhere.
    coding : Coding
        How answers become rows of numbers; a number of classes where one was given.
    folded : tuple of Observation
        The observations inside the precision of ``prior``, oldest first.
    recent : tuple of Observation
        The observations in V, one column each, oldest first.

    Examples
    --------
    A chain of five nodes with a different class at either end: the votes between them fall off in a straight line.

    >>> import askgraph as ag
    >>> start = ag.Field.start(ag.prior(ag.chain(5), delta=1e-6), 2)
    >>> field = start.observe(0, 0).observe(4, 1)
    >>> field.votes[1:4].round(2).tolist()
    [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    >>> field.spread.variance[1:4].round(2).tolist()
    [0.75, 1.0, 0.75]
    >>> start.held, field.held
    (0, 2)
    """

    origin: Prior
    prior: Prior
    base: Array
    votes: Array  # each column contiguous in memory
    spread: Spread
    squares: bool
    noise: float
    fresh: Later[Array]
    stack: ColumnStack
    labeled: BoolArray
    free: Array
    coding: Coding
    folded: Folded
    recent: tuple[Observation, ...]
    discount: Discount | None = None
    chosen: bool = False
    _results: dict[Any, Any] = attribute(default_factory=dict, init=False, repr=False)  # of `once_per_field`

    def __post_init__(self) -> None:
        object.__setattr__(self, "votes", by_class(self.votes))

    @classmethod
    def start(
        cls,
        prior: Prior,
        coding: Coding | int = 0,
        noise: float = 0.0,
        squares: bool = True,
        discount: Discount | None = None,
    ) -> Field:
        """Return the field before any label.

        Parameters
        ----------
        prior : Prior
            An engine, as :func:`askgraph.prior` returns it.
        coding : Coding or int
            How answers become rows of numbers, or the number of classes known beforehand; an answer may add classes.
        noise : float
            The label noise γ, a standard deviation; 0 pins a labeled node.
        squares : bool
            Whether to keep ‖g_i‖₂ up to date, which the samplers msd, vm, mc and mcvopt read.
        discount : Discount, optional
            What a rule adds to the variance of answers.

        Returns
        -------
        Field
            The field, with mean 0.

        Examples
        --------
        >>> import askgraph as ag
        >>> ag.Field.start(ag.prior(ag.chain(5)), 2).votes.shape
        (5, 2)
        """
        coding = as_coding(coding)
        return cls._fresh(prior, prior, prior.space.zeros(coding.width), coding, (), noise, squares, discount)

    @classmethod
    def given(
        cls,
        prior: Prior,
        observations: Sequence[Observation],
        coding: Coding | int,
        noise: float = 0.0,
        squares: bool = True,
        discount: Discount | None = None,
    ) -> Field:
        r"""Return the field of many labels at once: :math:`h_U = -Q_{UU}^{-1} Q_{UL} Y_L` (5), folded into the precision.

        Parameters
        ----------
        prior : Prior
            An engine without labels.
        observations : sequence of Observation
            What was said, once per node at most.
        coding : Coding or int
            How answers become rows of numbers, or the number of classes.
        noise : float
            The label noise γ of labels to come.
        squares : bool
            Whether to keep ‖g_i‖₂ up to date.
        discount : Discount, optional
            What a rule adds to the variance of answers.

        Returns
        -------
        Field
            The field of these labels; V is empty.

        Examples
        --------
        >>> import askgraph as ag
        >>> from askgraph.field import Observation
        >>> field = ag.Field.given(ag.prior(ag.chain(5), delta=1e-6), [Observation(0, 0), Observation(4, 1)], 2)
        >>> field.votes[1:4].round(2).tolist()
        [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
        """
        coding = as_coding(coding)
        nodes, said = nodes_of(observations), [x.said for x in known(observations)]
        gamma = label_noise(prior, observations, discount)
        Y = rows_of(coding, observations)
        inner, exact = prior.fold(nodes, gamma), gamma == 0
        noisy = nodes[~exact]

        def solved(some: Any) -> Array:
            told = Y[:, some]
            pinned = prior.space.put(prior.space.zeros(told.shape[1]), nodes[exact], told[exact])
            b = -inner.times(pinned)
            b = prior.space.put(b, noisy, prior.space.pick(b, noisy) + told[~exact] * gamma[~exact, None] ** -2.0)
            return inner.solve(b * inner.free[:, None]) + pinned

        votes = _by_column(prior.space, coding.width, lambda: coding.touched(said), solved)
        return cls._fresh(prior, inner, votes, coding, tuple(observations), noise, squares, discount)

    @classmethod
    def _fresh(
        cls,
        origin: Prior,
        prior: Prior,
        votes: Array,
        coding: Coding,
        folded: tuple[Observation, ...],
        noise: float,
        squares: bool,
        discount: Discount | None,
    ) -> Field:
        spread = _summaries(prior, squares)
        return cls(
            origin=origin,
            prior=prior,
            base=votes,
            votes=votes,
            spread=spread,
            squares=squares,
            noise=noise,
            fresh=Later(lambda: spread.variance),
            stack=ColumnStack.like(prior.free),
            labeled=prior.labeled,
            free=prior.free,
            coding=coding,
            folded=Folded(folded),
            recent=(),
            discount=discount,
        )

    @property
    def space(self) -> Space:
        """Where the arrays of this field live."""
        return self.prior.space

    @property
    def observations(self) -> tuple[Observation, ...]:
        """All that was said and what is pending, oldest first."""
        return self.folded + self.recent

    @cached_property
    def known(self) -> tuple[Observation, ...]:
        """All that was said, oldest first."""
        return self.folded.known + known(self.recent)

    @property
    def held(self) -> int:
        """The number of answers; a pending one does not count."""
        return len(self.known)

    @property
    def factor(self) -> Array:
        """V (n × t), one column per label since the last rebase."""
        return self.stack.array

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return columns of the covariance, G_t[:, nodes] = G₀[:, nodes] − V V[nodes]ᵀ.

        Parameters
        ----------
        nodes : array of int
            The nodes.
        rough : float
            The relative residual at which an engine that iterates may stop; 0 for the accuracy of the engine.

        Returns
        -------
        array
            One row per node of the graph, one column per node asked for.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5), delta=1e-6), 2).observe(0, 0).observe(4, 1)
        >>> field.columns(np.array([2]))[:, 0].round(2).tolist()
        [0.0, 0.5, 1.0, 0.5, 0.0]
        """
        V = self.factor
        G = self.prior.columns(nodes, rough).T  # a fresh array, one row per node, contiguous like V's columns
        if len(self.recent):
            G -= self.space.asarray(self.space.pick(V, nodes)) @ V.T
        if not self.prior.signed:
            np.maximum(G, 0.0, out=G)
        G[:, self.free == 0] = 0.0
        return G.T

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return the variances G_t[i, i] of some nodes, without keeping their columns.

        Parameters
        ----------
        nodes : array of int
            The nodes.
        rough : float
            The relative residual at which an engine that iterates may stop; 0 for the accuracy of the engine.

        Returns
        -------
        array
            One variance per node asked for.
        """
        told = self.space.pick(self.factor, nodes)
        return np.asarray(np.maximum(self.prior.variances(nodes, rough) - np.einsum("ij,ij->i", told, told), 0.0))

    def apply(self, x: Array) -> Array:
        """Return G_t x.

        Parameters
        ----------
        x : array
            One row per node.

        Returns
        -------
        array
            The product, of the shape of x.
        """
        V = self.factor
        return self.prior.solve(x) - V @ self.space.asarray(self.space.inner(V, x))

    def _repr_html_(self) -> str:
        """Return a card for notebooks."""
        exact = "exact" if self.prior.exact else "estimated, exact where it was solved for"
        rows: dict[str, object] = {
            "nodes": f"{self.prior.n_nodes:,}",
            "answers": f"{self.held:,}",
            "columns": self.coding.width,
        }
        rows |= {
            "engine": self.origin.name,
            "ridge δ": f"{self.origin.delta:.4g}",
            "label noise γ": f"{self.noise:.4g}",
        }
        return card("Field", rows | {"columns of V": len(self.recent), "variances": exact})

    def observe(self, node: int, said: Any, noise: float | None = None) -> Field:
        """Return the field after the answer at one node.

        Parameters
        ----------
        node : int
            The node, which must not be labeled.
        said : object
            The answer, as the coding takes it: the index of a class, and an index beyond those known adds classes.
        noise : float, optional
            The label noise γ of this label; by default that of the field.

        Returns
        -------
        Field
            The field with this label.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), 2)
        >>> field.observe(4, 1).votes[4].tolist(), field.observe(4, 2).coding.width
        ([0.0, 1.0], 3)
        """
        return self.awaiting(node, noise).answered(said)

    def await_answer(self, node: int) -> Field:
        """Return the field as if the answer at a node will be what is expected: the covariance shrinks, the mean stays.

        A batch of questions is chosen this way. Unlike :meth:`awaiting`, this method also rebases where that is due.

        Parameters
        ----------
        node : int
            The node, which must not be labeled.

        Returns
        -------
        Field
            The field with a pending answer at the node.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), 2).await_answer(4)
        >>> bool(field.labeled[4]), field.held
        (True, 0)
        """
        return self.awaiting(node)._fresh_if_worn()

    def awaiting(self, node: int, noise: float | None = None) -> Field:
        """Return the field between a question and its answer: the covariance is that after the answer (10), the mean is not.

        Parameters
        ----------
        node : int
            The node, which must not be labeled.
        noise : float, optional
            The label noise γ of the answer; by default that of the field.

        Returns
        -------
        Field
            The field with a pending answer at the node; :meth:`answered` gives the answer.
        """
        if self.space.pick(self.labeled, node):
            raise LabelError(f"node {node} is labeled already: relabel it, or forget its label first")
        asked = Observation(node, None, self.noise if noise is None else noise)
        gamma = float(self.label_noise([asked])[0])
        g = self.columns(np.array([node]))[:, 0]
        scale = float(np.sqrt(max(float(self.space.pick(g, node)) + gamma**2, 0.0)))
        if not scale > 0:
            raise ConvergenceError(
                f"the variance of node {node} is lost in rounding: raise delta, or rescale or clip the weights"
            )
        return self._pushed(asked._replace(scale=scale), g / scale, gamma)

    def _pushed(self, new: Observation, v: Array, gamma: float) -> Field:
        """Return the field with one observation more, v its column of V and γ its noise, discount included; the votes stay (10)."""
        here = self.space.unit(new.node)
        return replace(
            self,
            spread=self.spread.observed(self, new.node, v, new.scale, gamma),
            stack=self.stack.push(v),
            labeled=self.labeled | here,
            free=np.where(here, 0.0, self.free) if gamma == 0 else self.free,
            recent=(*self.recent, new),
        )

    def answered(self, said: Any) -> Field:
        """Return the field after the answer at the node that was last passed to :meth:`awaiting`.

        Parameters
        ----------
        said : object
            The answer, as the coding takes it: the index of a class, and an index beyond those known adds classes.

        Returns
        -------
        Field
            The field with this label.

        Examples
        --------
        >>> import askgraph as ag
        >>> asked = ag.Field.start(ag.prior(ag.chain(5)), 2).awaiting(4)
        >>> [asked.answered(label).votes[4].tolist() for label in (0, 1)]
        [[1.0, 0.0], [0.0, 1.0]]
        """
        wide, asked = self._widened([said]), self.recent[-1]
        gap = wide.coding.rows([said])[0] - self.space.pick(wide.votes, asked.node)
        v = self.factor[:, -1] / asked.scale

        def moved(some: Any) -> Array:
            return wide.votes[:, some] + (self.space.asarray(gap[some])[:, None] * v).T  # (9)

        recent = (*self.recent[:-1], asked._replace(said=said))
        votes = _by_column(self.space, wide.coding.width, lambda: wide._touched(recent), moved)
        return replace(wide, votes=votes, recent=recent)._fresh_if_worn()

    def _fresh_if_worn(self) -> Field:
        return self.rebase() if self.worn else self

    def extended(self, observations: Sequence[Observation], coding: Coding | None = None) -> Field:
        """Return the field after many more answers at once; all, old and new, are folded into the precision.

        Parameters
        ----------
        observations : sequence of Observation
            What is new, at nodes that are not labeled.
        coding : Coding, optional
            A wider coding, where there are columns that no answer names; by default that of the field.

        Returns
        -------
        Field
            The field with these labels; V is empty.
        """
        wide = (coding or self.coding).widened([x.said for x in known(observations)])
        return self._again((*self.observations, *observations), wide)

    def relabel(self, node: int, said: Any) -> Field:
        """Return the field with another answer at a labeled node.

        The covariance does not depend on answers, so a label in V is changed without a solve.

        Parameters
        ----------
        node : int
            The labeled node.
        said : object
            The answer, as the coding takes it: the index of a class, and an index beyond those known adds classes.

        Returns
        -------
        Field
            The field with the other answer.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), 2).observe(0, 0).observe(4, 1)
        >>> field.relabel(4, 0).votes[4].tolist()
        [1.0, 0.0]
        """
        at = self._position(node)
        if at < len(self.folded):
            return self._again(_replaced(self.observations, at, said), self.coding.widened([said]))
        wide = self._widened([said])
        recent = _replaced(wide.recent, at - len(self.folded), said)
        return replace(wide, recent=recent, votes=wide._harmonic(recent))

    def forget(self, node: int) -> Field:
        """Return the field without the label of one node: the Cholesky factor of the labels loses a row, V a column.

        Parameters
        ----------
        node : int
            The labeled node.

        Returns
        -------
        Field
            The field without the label; the number of columns stays.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), 2).observe(0, 0).observe(4, 1)
        >>> [told.node for told in field.forget(4).known]
        [0]
        """
        at = self._position(node)
        if at < len(self.folded):
            return self._again(_without(self.observations, at), self.coding)
        at -= len(self.folded)
        V, root, turn = _without_label(self, at)
        here = self.space.unit(node)
        shrunk = replace(
            self,
            spread=self.spread.forgot(self, V[:, -1], at, turn),
            stack=ColumnStack.of(V[:, :-1]),
            labeled=self.labeled & ~here,
            free=np.where(here, 1.0, self.free),
            recent=tuple(
                x._replace(scale=s) for x, s in zip(_without(self.recent, at), np.diagonal(root), strict=True)
            ),
        )
        return replace(shrunk, votes=shrunk._harmonic(shrunk.recent))

    def reweighted(self, discount: Discount | None) -> Field:
        """Return the field of the same answers with another discount.

        Answers in V change without a solve: V Rᵀ are the columns of G₀ whatever the noise, and only R is factorized again.

        Parameters
        ----------
        discount : Discount or None
            What a rule adds to the variance of answers; None for nothing.

        Returns
        -------
        Field
            The field of the same answers; none may be pending.

        Examples
        --------
        A rule that trusts no answer much: each one says less about the other nodes.

        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), 2).observe(0, 0).observe(4, 1)
        >>> doubtful = field.reweighted(lambda prior, take: take(prior.degrees) + 1.0)
        >>> bool(doubtful.votes[1, 0] < field.votes[1, 0])
        True
        """
        return self if discount == self.discount else self._with(self.observations, self.noise, discount)

    def with_noise(self, noise: float, own: Collection[int] = ()) -> Field:
        """Return the field of the same answers with another label noise, chosen by a rule.

        As for :meth:`reweighted`, answers in V change without a solve.

        Parameters
        ----------
        noise : float
            The label noise γ of the answers, and of those to come.
        own : collection of int
            Nodes whose answers keep the noise that they have.

        Returns
        -------
        Field
            The field; no answer may be pending.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), 2).observe(0, 0).observe(4, 1)
        >>> [told.noise for told in field.with_noise(0.5, own=[4]).known]
        [0.5, 0.0]
        """
        told = tuple(x if x.node in own else x._replace(noise=noise) for x in self.observations)
        if noise == self.noise and told == self.observations:
            return replace(self, chosen=True)
        return replace(self._with(told, noise, self.discount), chosen=True)

    def _with(self, observations: Sequence[Observation], noise: float, discount: Discount | None) -> Field:
        """Return the field of the same answers, perhaps each with another noise, with this noise to come and this discount."""
        if self.folded:
            field = Field.given(self.origin, observations, self.coding, noise, self.squares, discount)
            return replace(field, chosen=self.chosen)
        field = replace(Field.start(self.origin, self.coding, noise, self.squares, discount), chosen=self.chosen)
        gamma = label_noise(self.origin, observations, discount)
        for told, one, (v, scale) in zip(observations, gamma.tolist(), _other_factor(self, gamma), strict=True):
            v = v if self.origin.signed else np.maximum(v, 0.0)
            field = field._pushed(told._replace(scale=scale), v * field.free, one)
        return replace(field, votes=field._harmonic(field.recent))._fresh_if_worn()

    def label_noise(self, observations: Sequence[Observation]) -> Array:
        """Return the label noise of some answers, what the discount adds included.

        Parameters
        ----------
        observations : sequence of Observation
            The answers.

        Returns
        -------
        array
            One standard deviation per answer.
        """
        return label_noise(self.origin, observations, self.discount)

    def arranged(self, columns: Sequence[int]) -> Field:
        """Return the field with some of its columns, in a given order.

        Parameters
        ----------
        columns : sequence of int
            The columns to keep, by their indices in the new order; one that is left out must have no answer.

        Returns
        -------
        Field
            The field, its columns renumbered from 0 in this order.
        """
        told = [
            x if x.said is None else x._replace(said=self.coding.renumbered(x.said, columns)) for x in self.observations
        ]
        wide, order, cut = self._padded(max(columns, default=-1) + 1), list(columns), len(self.folded)
        return replace(
            wide,
            coding=self.coding.arranged(columns),
            base=wide.base[:, order],
            votes=wide.votes[:, order],
            folded=Folded(told[:cut]),
            recent=tuple(told[cut:]),
        )

    def sharpen(self, nodes: IntArray) -> Field:
        """Return the same field with summaries that are exact at some nodes.

        Parameters
        ----------
        nodes : array of int
            The nodes; an engine that estimates summaries solves for those that are not exact yet.

        Returns
        -------
        Field
            The field; on an engine whose summaries are exact everywhere, nothing changes.
        """
        return replace(self, spread=self.spread.sharpened(self, nodes))

    def rebase(self) -> Field:
        """Return the same field with all labels folded into the precision: V is empty, and its rounding errors are gone.

        Returns
        -------
        Field
            The same field, computed anew.
        """
        field = self._again(self.observations, self.coding)
        if len(self.known) < len(self.observations):
            return replace(field, votes=self.votes, base=self.votes)  # an answer that is awaited moves no mean
        return field

    @property
    def worn(self) -> bool:
        """Whether a rebase is due, because V is long or a variance has lost digits to cancellation."""
        limit = min(MAX_FACTOR_COLUMNS, max(16, MAX_FACTOR_BYTES // (8 * self.space.most_rows)))
        return len(self.recent) >= limit or self._cancelled()

    def _widened(self, said: Sequence[Any]) -> Field:
        """Return the field with columns for these answers, too."""
        coding = self.coding.widened(said)
        return self if coding == self.coding else replace(self._padded(coding.width), coding=coding)

    def _padded(self, width: int) -> Field:
        """Return the field with as many columns of votes; the new ones are empty."""
        if (more := width - self.votes.shape[1]) <= 0:
            return self
        wider = ((0, 0), (0, more))
        return replace(self, base=np.pad(self.base, wider), votes=np.pad(self.votes, wider))

    def _position(self, node: int) -> int:
        for at, told in enumerate(self.observations):
            if told.node == node:
                return at
        raise LabelError(f"node {node} has no label to change")

    def _again(self, observations: Sequence[Observation], coding: Coding) -> Field:
        field = Field.given(self.origin, observations, coding, self.noise, self.squares, self.discount)
        return replace(field, chosen=self.chosen)

    def _touched(self, recent: tuple[Observation, ...]) -> IntArray:
        """Return the columns that any answer touches, with these in V."""
        return self.coding.touched([x.said for x in (*self.folded.known, *known(recent))])

    def _harmonic(self, recent: tuple[Observation, ...]) -> Array:
        """Return h = base + V R⁻¹ (Y − base[K])."""
        if not recent:
            return self.base  # LAPACK need not accept a triangle of size 0
        gap = rows_of(self.coding, recent) - self.space.pick(self.base, nodes_of(recent))
        told = solve_triangular(_root(self, recent), gap, lower=True)

        def harmonic(some: Any) -> Array:
            return self.base[:, some] + self.factor @ self.space.asarray(told[:, some])

        return _by_column(self.space, self.coding.width, lambda: self._touched(recent), harmonic)

    def _cancelled(self) -> bool:
        if not self.recent:  # nothing was subtracted, and variances may not have been computed yet
            return False
        return bool(self.space.total((self.spread.variance < WORN * self.fresh.value) & ~self.labeled) > 0)

    if not TYPE_CHECKING:
        __getattr__ = finds_old_names(OLD_NAMES)


def once_per_field(compute: Callable[Concatenate[Field, P], T]) -> Callable[Concatenate[Field, P], T]:
    """Return the function, which computes each result once per field: a field never changes, and keeps what was computed of it.

    A result must not hold the field: the two would then hold each other, and much memory, until Python looks for such pairs.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def found(field: Field, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key, kept = (name, *args), field._results
        if key not in kept:
            kept[key] = compute(field, *args, **kwargs)
        result: T = kept[key]
        return result

    return found


def _summaries(prior: Prior, squares: bool) -> Spread:
    """Return the summaries of a prior, computed when they are first read, unless processes must compute them together."""
    prior.check_summaries(squares)
    return cast(Spread, Unread(lambda: prior.spread(squares))) if prior.space.alone else prior.spread(squares)


def known(observations: Sequence[Observation]) -> tuple[Observation, ...]:
    """Return those whose answer is not pending."""
    return tuple(x for x in observations if x.said is not None)


def nodes_of(observations: Sequence[Observation]) -> IntArray:
    """Return the nodes of some observations."""
    return np.array([x.node for x in observations], dtype=np.int64)


def rows_of(coding: Coding, observations: Sequence[Observation]) -> Array:
    """Return what is observed, one row each; 0 where the answer is pending."""
    answers = known(observations)
    rows = coding.rows([x.said for x in answers])
    if len(answers) == len(observations):
        return rows
    every = np.zeros((len(observations), coding.width))
    every[[x.said is not None for x in observations]] = rows
    return every


def _by_column(space: Space, width: int, touched: Callable[[], IntArray], compute: Callable[[Any], Array]) -> Array:
    """Return the votes that ``compute`` gives for the columns it gets: for all at once, or for many columns part by part.

    Only columns that an answer touches have votes. Of the others nothing is computed, and no memory is used where there are many.
    """
    if len(parts(space.most_rows, width)) <= 1:
        return compute(slice(None))
    votes, some = space.zeros(width, order="F"), touched()
    for part in parts(space.most_rows, some.size):
        chosen = some[part].tolist()
        votes[:, chosen] = compute(chosen)
    return votes


def known_root(field: Field) -> tuple[tuple[Observation, ...], Array]:
    """Return the observations in V that are not pending, which come first, and R over them."""
    told = known(field.recent)
    return told, _root(field, told)


def _root(field: Field, recent: tuple[Observation, ...]) -> Array:
    """Return R, the Cholesky factor of G₀[K, K] + diag γ² over the observations in V, in their order."""
    rows = field.space.pick(field.factor, nodes_of(recent))[:, : len(recent)]
    return np.tril(rows, -1) + np.diag([x.scale for x in recent])


def _other_factor(field: Field, gamma: Array) -> list[tuple[Array, float]]:
    """Return the columns of V, and the scales, that the labels in V would have with other label noise."""
    if not field.recent:
        return []
    root, now = _root(field, field.recent), field.label_noise(field.recent)
    other = np.linalg.cholesky(root @ root.T + np.diag(gamma**2 - now**2))
    turned = solve_triangular(other, root, lower=True).T
    V = field.factor @ field.space.asarray(turned)
    return [(V[:, at], float(scale)) for at, scale in enumerate(np.diagonal(other))]


def label_noise(prior: Prior, observations: Sequence[Observation], discount: Discount | None) -> Array:
    """Return the label noise of answers, that of the prior and what the discount adds included."""
    gamma = np.array([x.noise for x in observations], dtype=float)
    if prior.noise:
        gamma = np.hypot(gamma, prior.noise)
    if discount is None or not observations:
        return gamma
    return np.asarray(np.sqrt(gamma**2 + _added(prior, nodes_of(observations), discount)))


def answer_weights(prior: Prior, nodes: IntArray, discount: Discount | None) -> Array:
    """Return how much answers count beside what the neighbors of their nodes say: 1/(1 + d v) with v the variance added."""
    if discount is None:
        return np.ones(nodes.size)
    return np.asarray(1 / (1 + prior.space.pick(prior.degrees, nodes) * _added(prior, nodes, discount)))


def _added(prior: Prior, nodes: IntArray, discount: Discount) -> Array:
    return discount(prior, lambda x: prior.space.pick(x, nodes))


def _without_label(field: Field, at: int) -> tuple[Array, Array, Array]:
    """Return V and R without one label, and the rotation of V's columns that removes the label.

    Deleting a row of R leaves a Hessenberg matrix; the rotation that makes R triangular again moves what this label alone
    told into the last column of the V returned, which the caller drops.
    """
    V, R = field.factor, _root(field, field.recent)
    turn, triangle = np.linalg.qr(R[at + 1 :, at:].T, mode="complete")
    turn[:, : triangle.shape[1]] *= np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
    V, R = V.copy(), np.delete(R, at, axis=0)
    V[:, at:], R[:, at:] = V[:, at:] @ field.space.asarray(turn), R[:, at:] @ turn
    return V, R[:, :-1], turn


def _replaced(told: tuple[Observation, ...], at: int, said: Any) -> tuple[Observation, ...]:
    return (*told[:at], told[at]._replace(said=said), *told[at + 1 :])


def _without(told: tuple[Observation, ...], at: int) -> tuple[Observation, ...]:
    return told[:at] + told[at + 1 :]
