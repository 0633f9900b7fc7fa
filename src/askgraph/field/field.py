"""The posterior, a value: conditioning returns a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.linalg import solve_triangular

from askgraph.answers import coding
from askgraph.errors import ConvergenceError, LabelError
from askgraph.linalg.column_stack import ColumnStack
from askgraph.priors.base import Prior
from askgraph.priors.summaries import Spread, Unread
from askgraph.spaces.base import Space
from askgraph.support.later import Later
from askgraph.support.notebook import card
from askgraph.types import Array, BoolArray, IntArray

OPEN = -1  # the label of a node whose answer is pending
WORN = 1e-4  # of the variance at the last rebase: a variance below this share has lost digits, and a rebase is due
MAX_FACTOR_BYTES = 1_000_000_000  # of V in one process; a rebase is due when V is as large, but not before 16 columns
MAX_FACTOR_COLUMNS = 512  # of V; a rebase is due when V has as many


class Label(NamedTuple):
    """One label of a field.

    Attributes
    ----------
    node : int
        The index of the node.
    label : int
        The index of the class; ``OPEN`` (−1) while the answer is pending.
    noise : float
        The label noise γ that was given with the label; 0 for a label that is exact.
    scale : float
        √(g_kk + γ²), noise by ``hub_power`` included, when the label came; 0 for a label that was folded in together with others.
    """

    node: int
    label: int
    noise: float = 0.0
    scale: float = 0.0


class Folded(tuple[Label, ...]):
    """Labels that many fields share, so that what is asked of all of them is collected once."""

    @cached_property
    def known(self) -> tuple[IntArray, IntArray]:
        """The nodes and the classes of the labels that are not pending."""
        known = [x for x in self if x.label != OPEN]
        return np.array([x.node for x in known], np.int64), np.array([x.label for x in known], np.int64)


@dataclass(frozen=True, eq=False)
class Field:
    r"""ψ given labels: one mean per class, and one covariance :math:`G_t = G_0 - V V^T` that is never formed.

    A field is a value: a method that adds, changes or removes a label returns a new field and leaves this one as it is.
    Make a field with :meth:`start` or :meth:`given`. Nodes and classes are indices here; :class:`Learner` knows them by name.
    A node with an exact label (label noise 0) has that label as its mean, and variance 0.

    Attributes
    ----------
    origin : Prior
        The engine before any label.
    prior : Prior
        The engine in use: ``origin`` with the folded labels inside its precision.
    base : array
        The votes of the folded labels alone, one row per node, one column per class.
    votes : array
        The votes h of all labels, one row per node, one column per class: the mean in 0/1 coding.
    spread : Spread
        The summaries of the covariance: ``spread.variance``, ``spread.influence_l1`` and ``spread.influence_l2`` have one
        number per node, g_ii, ‖g_i‖₁ and ‖g_i‖₂.
    squares : bool
        Whether ‖g_i‖₂ is kept up to date as labels come.
    noise : float
        The label noise γ of labels to come; 0 is the paper.
    hub_power : float
        How much less the label of a hub counts: with x times as many neighbors as twice the median, it has the label noise
        γ² + (x^power − 1)/d, so about one x^power-th of the weight. 0 is the paper.
    fresh : Later
        The variance of each node when V was last empty, computed when first read; ``ample`` reads it.
    stack : ColumnStack
        The columns of V.
    labeled : array of bool
        True where a label is known or its answer is pending.
    free : array
        0.0 where an exact label pins the field, 1.0 elsewhere.
    folded : tuple of Label
        The labels inside the precision of ``prior``, oldest first.
    recent : tuple of Label
        The labels in V, one column per label, oldest first.

    Examples
    --------
    A chain of five nodes with a different class at either end: the votes between them fall off in a straight line.

    >>> import askgraph as ag
    >>> start = ag.Field.start(ag.prior(ag.chain(5), delta=1e-6), classes=2)
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
    votes: Array  # each class contiguous in memory
    spread: Spread
    squares: bool
    noise: float
    fresh: Later[Array]
    stack: ColumnStack
    labeled: BoolArray
    free: Array
    folded: Folded
    recent: tuple[Label, ...]
    hub_power: float = 0.0
    _results: dict[str, Any] = attribute(
        default_factory=dict, init=False, repr=False
    )  # of `once`; a new field starts empty

    def __post_init__(self) -> None:
        object.__setattr__(self, "votes", coding.by_class(self.votes))

    @classmethod
    def start(
        cls, prior: Prior, classes: int = 0, noise: float = 0.0, squares: bool = True, hub_power: float = 0.0
    ) -> Field:
        """Return the field before any label.

        Parameters
        ----------
        prior : Prior
            An engine, as :func:`askgraph.prior` returns it.
        classes : int
            The number of classes known beforehand; a label may add classes.
        noise : float
            The label noise γ, a standard deviation; 0 pins a labeled node.
        squares : bool
            Whether to keep ‖g_i‖₂ up to date, which the samplers msd, vm, mc and mcvopt read.
        hub_power : float
            How much less labels of hubs count; 0 for not at all.

        Returns
        -------
        Field
            The field, with mean 0.

        Examples
        --------
        >>> import askgraph as ag
        >>> ag.Field.start(ag.prior(ag.chain(5)), classes=2).votes.shape
        (5, 2)
        """
        return cls._fresh(prior, prior, prior.space.zeros(classes), (), noise, squares, hub_power)

    @classmethod
    def given(
        cls,
        prior: Prior,
        labels: Sequence[Label],
        classes: int,
        noise: float = 0.0,
        squares: bool = True,
        hub_power: float = 0.0,
    ) -> Field:
        r"""Return the field of many labels at once: :math:`h_U = -Q_{UU}^{-1} Q_{UL} Y_L` (5), folded into the precision.

        Parameters
        ----------
        prior : Prior
            An engine without labels.
        labels : sequence of Label
            The labels, one per node at most.
        classes : int
            The number of classes.
        noise : float
            The label noise γ of labels to come.
        squares : bool
            Whether to keep ‖g_i‖₂ up to date.
        hub_power : float
            How much less labels of hubs count; 0 for not at all.

        Returns
        -------
        Field
            The field of these labels; V is empty.

        Examples
        --------
        >>> import askgraph as ag
        >>> from askgraph.field import Label
        >>> field = ag.Field.given(ag.prior(ag.chain(5), delta=1e-6), [Label(0, 0), Label(4, 1)], classes=2)
        >>> field.votes[1:4].round(2).tolist()
        [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
        """
        nodes = np.array([x.node for x in labels], dtype=np.int64)
        gamma = label_noise(prior, labels, hub_power)
        Y = _one_hot([x.label for x in labels], classes)
        inner, exact = prior.fold(nodes, gamma), gamma == 0
        noisy = nodes[~exact]

        def solved(some: Any) -> Array:
            told = Y[:, some]
            pinned = prior.space.put(prior.space.zeros(told.shape[1]), nodes[exact], told[exact])
            b = -inner.times(pinned)
            b = prior.space.put(b, noisy, prior.space.pick(b, noisy) + told[~exact] * gamma[~exact, None] ** -2.0)
            return inner.solve(b * inner.free[:, None]) + pinned

        votes = _for_classes(prior.space, classes, np.flatnonzero(Y.any(axis=0)), solved)
        return cls._fresh(prior, inner, votes, tuple(labels), noise, squares, hub_power)

    @classmethod
    def _fresh(
        cls,
        origin: Prior,
        prior: Prior,
        votes: Array,
        folded: tuple[Label, ...],
        noise: float,
        squares: bool,
        hub_power: float,
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
            folded=Folded(folded),
            recent=(),
            hub_power=hub_power,
        )

    @property
    def ample(self) -> Array:
        """The variance of each node when V was last empty."""
        return self.fresh.value

    @property
    def space(self) -> Space:
        """Where the arrays of this field live."""
        return self.prior.space

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result that is kept under this name; the first time, compute it and keep it.

        A field never changes, so a result that was computed from this field stays true.

        Parameters
        ----------
        name : str
            The name of the result.
        compute : callable
            A function without arguments that returns the result.

        Returns
        -------
        object
            The result.
        """
        if name not in self._results:
            self._results[name] = compute()
        return self._results[name]

    @property
    def labels(self) -> tuple[Label, ...]:
        """All labels, oldest first."""
        return self.folded + self.recent

    @property
    def held(self) -> int:
        """The number of labels that are known; a pending answer does not count."""
        return int(self._known[0].size)

    @property
    def factor(self) -> Array:
        """V (n × t), one column per label since the last rebase."""
        return self.stack.array

    @property
    def n_classes(self) -> int:
        """The number of classes C: those given at the start and those that labels added."""
        return int(self.votes.shape[1])

    @property
    def mean(self) -> Array:
        r"""The ±1 mean of each class against the rest, :math:`\mu_c = 2 h_c - H`."""
        return coding.means(self.votes)

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
            "labels": f"{self.held:,}",
            "classes": self.n_classes,
        }
        rows |= {
            "engine": self.origin.name,
            "ridge δ": f"{self.origin.delta:.4g}",
            "label noise γ": f"{self.noise:.4g}",
        }
        return card("Field", rows | {"columns of V": len(self.recent), "variances": exact})

    def observe(self, node: int, label: int, noise: float | None = None) -> Field:
        """Return the field after the label of one node.

        Parameters
        ----------
        node : int
            The node, which must not be labeled.
        label : int
            The index of the class; an index beyond the known classes adds classes.
        noise : float, optional
            The label noise γ of this label; by default that of the field.

        Returns
        -------
        Field
            The field with this label.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), classes=2)
        >>> field.observe(4, 1).counts.tolist(), field.observe(4, 2).n_classes
        ([0.0, 1.0], 3)
        """
        return self.awaiting(node, noise).answered(label)

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
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), classes=2).await_answer(4)
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
        asked = Label(node, OPEN, self.noise if noise is None else noise)
        gamma = float(self.label_noise([asked])[0])
        g = self.columns(np.array([node]))[:, 0]
        scale = float(np.sqrt(max(float(self.space.pick(g, node)) + gamma**2, 0.0)))
        if not scale > 0:
            raise ConvergenceError(
                f"the variance of node {node} is lost in rounding: raise delta, or rescale or clip the weights"
            )
        return self._pushed(asked._replace(scale=scale), g / scale, gamma)

    def _pushed(self, label: Label, v: Array, gamma: float) -> Field:
        """Return the field with one more label, v its column of V and γ its noise, hub or not; the votes stay (10)."""
        here = self.space.unit(label.node)
        return replace(
            self,
            spread=self.spread.observed(self, label.node, v, label.scale, gamma),
            stack=self.stack.push(v),
            labeled=self.labeled | here,
            free=np.where(here, 0.0, self.free) if gamma == 0 else self.free,
            recent=(*self.recent, label),
        )

    def answered(self, label: int) -> Field:
        """Return the field after the answer at the node that was last passed to :meth:`awaiting`.

        Parameters
        ----------
        label : int
            The index of the class; an index beyond the known classes adds classes.

        Returns
        -------
        Field
            The field with this label.

        Examples
        --------
        >>> import askgraph as ag
        >>> asked = ag.Field.start(ag.prior(ag.chain(5)), classes=2).awaiting(4)
        >>> [asked.answered(label).counts.tolist() for label in (0, 1)]
        [[1.0, 0.0], [0.0, 1.0]]
        """
        wide = self._with_classes(label + 1)
        node, _, noise, scale = self.recent[-1]
        gap = _one_hot([label], wide.n_classes)[0] - self.space.pick(wide.votes, node)
        v = self.factor[:, -1] / scale

        def moved(some: Any) -> Array:
            return wide.votes[:, some] + (self.space.asarray(gap[some])[:, None] * v).T  # (9)

        votes = _for_classes(self.space, wide.n_classes, np.append(self._known[1], label), moved)
        known = replace(wide, votes=votes, recent=(*self.recent[:-1], Label(node, label, noise, scale)))
        return known._fresh_if_worn()

    def _fresh_if_worn(self) -> Field:
        return self.rebase() if self.worn else self

    def extended(self, labels: Sequence[Label], classes: int = 0) -> Field:
        """Return the field after many more labels at once; all labels, old and new, are folded into the precision.

        Parameters
        ----------
        labels : sequence of Label
            The new labels, at nodes that are not labeled.
        classes : int
            The number of classes to have at least.

        Returns
        -------
        Field
            The field with these labels; V is empty.
        """
        classes = max([self.n_classes, classes, *(x.label + 1 for x in labels)])
        return self._again((*self.labels, *labels), classes)

    def relabel(self, node: int, label: int) -> Field:
        """Return the field with another answer at a labeled node.

        The covariance does not depend on answers, so a label in V is changed without a solve.

        Parameters
        ----------
        node : int
            The labeled node.
        label : int
            The index of the class; an index beyond the known classes adds classes.

        Returns
        -------
        Field
            The field with the other answer.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), classes=2).observe(0, 0).observe(4, 1)
        >>> field.relabel(4, 0).counts.tolist()
        [2.0, 0.0]
        """
        at = self._position(node)
        if at < len(self.folded):
            labels = _replaced(self.labels, at, label)
            return self._again(labels, max(self.n_classes, label + 1))
        wide = self._with_classes(label + 1)
        recent = _replaced(wide.recent, at - len(self.folded), label)
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
            The field without the label; the number of classes stays.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5)), classes=2).observe(0, 0).observe(4, 1)
        >>> field.forget(4).counts.tolist()
        [1.0, 0.0]
        """
        at = self._position(node)
        if at < len(self.folded):
            return self._again(_without(self.labels, at), self.n_classes)
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

    def with_hub_power(self, power: float) -> Field:
        """Return the field in which labels of hubs count more or less than they do here.

        Labels in V change without a solve: V Rᵀ are the columns of G₀ whatever the noise, and only R is factorized again.

        Parameters
        ----------
        power : float
            The power; see ``hub_power``.

        Returns
        -------
        Field
            The field of the same labels; no answer may be pending.

        Examples
        --------
        Node 0 is a hub with eight neighbors. With power 1 its label says less about node 1.

        >>> import askgraph as ag
        >>> star = ag.Graph.from_edges([*((0, i) for i in range(1, 9)), (8, 9), (9, 10), (10, 11)])
        >>> field = ag.Field.start(ag.prior(star), classes=2).observe(0, 0).observe(11, 1)
        >>> (field.with_hub_power(1.0).votes[1] < field.votes[1]).tolist()
        [True, False]
        """
        if power == self.hub_power:
            return self
        if self.folded:
            return Field.given(self.origin, self.labels, self.n_classes, self.noise, self.squares, power)
        field = Field.start(self.origin, self.n_classes, self.noise, self.squares, power)
        gamma = label_noise(self.origin, self.recent, power)
        for label, noise, (v, scale) in zip(self.recent, gamma.tolist(), _other_factor(self, gamma), strict=True):
            v = v if self.origin.signed else np.maximum(v, 0.0)
            field = field._pushed(label._replace(scale=scale), v * field.free, noise)
        return replace(field, votes=field._harmonic(field.recent))._fresh_if_worn()

    def label_noise(self, labels: Sequence[Label]) -> Array:
        """Return the label noise of some labels, that of hubs included.

        Parameters
        ----------
        labels : sequence of Label
            The labels.

        Returns
        -------
        array
            One standard deviation per label.
        """
        return label_noise(self.origin, labels, self.hub_power)

    def hub_variance(self, rows: IntArray) -> Array:
        """Return what ``hub_power`` adds to the variance of a label at some rows.

        Parameters
        ----------
        rows : array of int
            The rows.

        Returns
        -------
        array
            One variance per row; 0 for a node that is not a hub.
        """
        return _hub_variance(self.origin.crowding[rows], self.origin.degrees[rows], self.hub_power)

    def arranged(self, classes: Sequence[int]) -> Field:
        """Return the field with some of its classes, in a given order.

        Parameters
        ----------
        classes : sequence of int
            The indices of the classes to keep, in the new order; a class that is left out must have no label.

        Returns
        -------
        Field
            The field, its classes renumbered from 0 in this order.
        """
        wide = self._with_classes(max(classes, default=-1) + 1)
        place = {label: at for at, label in enumerate(classes)}
        labels = tuple(x._replace(label=place[x.label]) for x in self.labels)
        folded, recent = labels[: len(self.folded)], labels[len(self.folded) :]
        order = list(classes)
        return replace(wide, base=wide.base[:, order], votes=wide.votes[:, order], folded=Folded(folded), recent=recent)

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
        field = self._again(self.labels, self.n_classes)
        if any(x.label == OPEN for x in self.labels):
            return replace(field, votes=self.votes, base=self.votes)  # an answer that is awaited moves no mean
        return field

    @property
    def worn(self) -> bool:
        """Whether a rebase is due, because V is long or a variance has lost digits to cancellation."""
        limit = min(MAX_FACTOR_COLUMNS, max(16, MAX_FACTOR_BYTES // (8 * self.space.most_rows)))
        return len(self.recent) >= limit or self._cancelled()

    @property
    def counts(self) -> Array:
        """The number of known labels of each class."""
        return np.bincount(self._known[1], minlength=self.n_classes).astype(float)

    @property
    def weighted_counts(self) -> Array:
        """The known labels of each class, a label of a hub counting for less where ``hub_power`` is above 0."""
        nodes, labels = self._known
        return np.asarray(np.bincount(labels, self.label_weights(nodes), minlength=self.n_classes), dtype=float)

    @property
    def _known(self) -> tuple[IntArray, IntArray]:
        """The nodes and the classes of all known labels, oldest first; those of folded labels are collected once."""

        def collect() -> tuple[IntArray, IntArray]:
            (nodes, labels), (later, told) = self.folded.known, Folded(self.recent).known
            return np.concatenate([nodes, later]), np.concatenate([labels, told])

        found: tuple[IntArray, IntArray] = self.once("known", collect)
        return found

    def label_weights(self, nodes: IntArray, power: float | None = None) -> Array:
        """Return how much labels at some nodes count: 1, and x^(−power) at a hub.

        Parameters
        ----------
        nodes : array of int
            The nodes.
        power : float, optional
            The power; by default ``hub_power``.

        Returns
        -------
        array
            One weight per node.
        """
        power = self.hub_power if power is None else power
        return np.asarray(self.space.pick(self.origin.crowding, nodes) ** -power) if power else np.ones(nodes.size)

    @property
    def mass(self) -> Array:
        """The sum of each class's votes, where they are above 0, over the unlabeled nodes."""
        return self._over_unlabeled(self.space.total)

    @property
    def highest(self) -> Array:
        """The highest vote for each class, at least 0, over the unlabeled nodes."""
        return self._over_unlabeled(self.space.highest)

    def _over_unlabeled(self, summed: Callable[[Array], Any]) -> Array:
        """Return what becomes of the votes of each class, 0 where a node is labeled or they are below 0."""
        rest, parts = ~self.labeled[:, None], coding.parts(self.space.most_rows, self.n_classes)
        clipped = (np.maximum(self.votes[:, part], 0.0) * rest for part in parts)
        return np.concatenate([np.zeros(0), *map(summed, clipped)])

    @property
    def clipped_votes(self) -> Array:
        """The votes, at least 0: on a graph they are, with features they may be below."""
        return np.maximum(self.votes, 0.0) if self.origin.signed else self.votes

    @property
    def certain(self) -> BoolArray:
        """True where a label is taken as it was told: where it pins the field, and where only the prior makes it noisy."""
        if not self.origin.noise:
            return self.free == 0
        nodes = [x.node for x in self.labels if x.noise == 0 and x.label != OPEN]
        return self.space.put(self.space.zeros(dtype=bool), np.array(nodes, dtype=np.int64), True)

    def certain_votes(self, classes: Sequence[int] | None = None) -> Array:
        """Return the votes, 1 for its label and 0 for other classes at a node whose label is certain.

        Parameters
        ----------
        classes : sequence of int, optional
            The classes; by default all.

        Returns
        -------
        array
            One row per node, one column per class.
        """
        votes = self.votes if classes is None else self.votes[:, list(classes)]
        votes = np.minimum(np.maximum(votes, 0.0), 1.0)  # roundoff may leave -1e-17
        if not self.origin.noise:
            return votes
        known = [x for x in self.labels if x.noise == 0 and x.label != OPEN]
        nodes, labels = np.array([x.node for x in known], dtype=np.int64), np.array([x.label for x in known])
        return self.space.put(
            votes, nodes, 1.0 * (labels[:, None] == (range(self.n_classes) if classes is None else classes))
        )

    def probabilities(self) -> Array:
        """Return the field's own class probabilities (6); a readout returns other ones.

        Returns
        -------
        array
            One row per node, one column per class.

        Examples
        --------
        >>> import askgraph as ag
        >>> field = ag.Field.start(ag.prior(ag.chain(5), delta=1e-6), 2).observe(0, 0).observe(4, 1)
        >>> field.probabilities()[1:4].round(2).tolist()
        [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
        """
        return coding.chances(self.votes) if self.n_classes else self.votes

    def _with_classes(self, classes: int) -> Field:
        more = classes - self.n_classes
        if more <= 0:
            return self
        wider = ((0, 0), (0, more))
        return replace(self, base=np.pad(self.base, wider), votes=np.pad(self.votes, wider))

    def _position(self, node: int) -> int:
        for at, label in enumerate(self.labels):
            if label.node == node:
                return at
        raise LabelError(f"node {node} has no label to change")

    def _again(self, labels: Sequence[Label], classes: int) -> Field:
        return Field.given(self.origin, labels, classes, self.noise, self.squares, self.hub_power)

    def _harmonic(self, recent: tuple[Label, ...]) -> Array:
        """Return h = base + V R⁻¹ (Y − base[K])."""
        if not recent:
            return self.base  # LAPACK need not accept a triangle of size 0
        nodes = np.array([x.node for x in recent], dtype=np.int64)
        gap = _one_hot([x.label for x in recent], self.n_classes) - self.space.pick(self.base, nodes)
        told = solve_triangular(_root(self, recent), gap, lower=True)

        def harmonic(some: Any) -> Array:
            return self.base[:, some] + self.factor @ self.space.asarray(told[:, some])

        seen = np.concatenate([self.folded.known[1], Folded(recent).known[1]])
        return _for_classes(self.space, self.n_classes, seen, harmonic)

    def _cancelled(self) -> bool:
        if not self.recent:  # nothing was subtracted, and variances may not have been computed yet
            return False
        return bool(self.space.total((self.spread.variance < WORN * self.ample) & ~self.labeled) > 0)


def _summaries(prior: Prior, squares: bool) -> Spread:
    """Return the summaries of a prior, computed when they are first read, unless processes must compute them together."""
    prior.check_summaries(squares)
    return cast(Spread, Unread(lambda: prior.spread(squares))) if prior.space.alone else prior.spread(squares)


def _for_classes(space: Space, classes: int, seen: IntArray, compute: Callable[[Any], Array]) -> Array:
    """Return the votes that ``compute`` gives for the classes it gets: for all at once, or for many classes part by part.

    Only classes that were seen have votes. Of the others nothing is computed, and no memory is touched where there are many.
    """
    if len(coding.parts(space.most_rows, classes)) <= 1:
        return compute(slice(None))
    votes, some = space.zeros(classes, order="F"), np.unique(seen)
    for part in coding.parts(space.most_rows, some.size):
        chosen = some[part].tolist()
        votes[:, chosen] = compute(chosen)
    return votes


def known_root(field: Field) -> tuple[tuple[Label, ...], Array]:
    """Return the labels in V that are not pending, which come first, and R over them."""
    known = tuple(x for x in field.recent if x.label != OPEN)
    return known, _root(field, known)


def _root(field: Field, recent: tuple[Label, ...]) -> Array:
    """Return R, the Cholesky factor of G₀[K, K] + diag γ² over the labels in V, in label order."""
    nodes = np.array([x.node for x in recent], dtype=np.int64)
    rows = field.space.pick(field.factor, nodes)[:, : len(recent)]
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


def label_noise(prior: Prior, labels: Sequence[Label], power: float) -> Array:
    """Return the label noise of labels, that of the prior and of hubs included."""
    gamma = np.array([x.noise for x in labels], dtype=float)
    if prior.noise:
        gamma = np.hypot(gamma, prior.noise)
    if not power or not labels:
        return gamma
    nodes = np.array([x.node for x in labels], dtype=np.int64)
    more = _hub_variance(prior.space.pick(prior.crowding, nodes), prior.space.pick(prior.degrees, nodes), power)
    return np.asarray(np.sqrt(gamma**2 + more))


def _hub_variance(crowding: Array, degrees: Array, power: float) -> Array:
    """Return (x^power − 1)/d."""
    return (crowding**power - 1) / np.maximum(degrees, np.finfo(float).tiny)


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


def _one_hot(labels: Sequence[int], classes: int) -> Array:
    return np.asarray(np.array(labels, dtype=np.int64)[:, None] == np.arange(classes), dtype=float)


def _replaced(labels: tuple[Label, ...], at: int, label: int) -> tuple[Label, ...]:
    return (*labels[:at], labels[at]._replace(label=label), *labels[at + 1 :])


def _without(labels: tuple[Label, ...], at: int) -> tuple[Label, ...]:
    return labels[:at] + labels[at + 1 :]
