"""The posterior, a value: conditioning returns a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from askgraph.errors import ConvergenceError, LabelError
from askgraph.field import coding
from askgraph.linalg.column_stack import ColumnStack
from askgraph.priors.base import Prior
from askgraph.priors.summaries import Spread
from askgraph.spaces.base import Space
from askgraph.types import Array, BoolArray, IntArray

OPEN = -1  # the label of a node whose answer is pending
WORN = 1e-4  # a variance that fell by more than this has lost digits to cancellation
MAX_FACTOR_BYTES = 1_000_000_000
MAX_FACTOR_COLUMNS = 512


class Label(NamedTuple):
    """One observed label: class index, noise γ, and √(g_kk + γ²) when it came, if it came alone."""

    node: int
    label: int
    noise: float = 0.0
    scale: float = 0.0


@dataclass(frozen=True, eq=False)
class Field:
    r"""ψ given labels: one mean per class, and one covariance :math:`G_t = G_0 - V V^T` that is never formed.

    Node indices never change. A labeled node has its label as mean and variance 0.
    """

    origin: Prior  # before any label
    prior: Prior  # after the folded labels
    base: Array  # votes of the folded labels alone
    votes: Array  # (n, C), 0/1 coding, each class contiguous
    spread: Spread
    squares: bool  # whether |g|_2 is followed
    noise: float  # γ of the labels to come; 0 is the paper
    ample: Array  # the variance when V was last empty
    stack: ColumnStack  # V
    labeled: BoolArray  # a label was observed, or is pending
    free: Array  # 1.0 where no exact label pins the field
    folded: tuple[Label, ...]  # labels inside the prior
    recent: tuple[Label, ...]  # labels in V, one column per label
    _results: dict[str, Any] = attribute(
        default_factory=dict, init=False, repr=False
    )  # of `once`; a new field starts empty

    def __post_init__(self) -> None:
        object.__setattr__(self, "votes", coding.by_class(self.votes))

    @classmethod
    def start(cls, prior: Prior, classes: int = 0, noise: float = 0.0, squares: bool = True) -> Field:
        """Return the field before any label; ``squares`` says whether ‖g‖₂ is followed (msd and vm read it)."""
        return cls._fresh(prior, prior, prior.space.zeros(classes), (), noise, squares)

    @classmethod
    def given(
        cls, prior: Prior, labels: Sequence[Label], classes: int, noise: float = 0.0, squares: bool = True
    ) -> Field:
        r"""Return the field of many labels at once: :math:`h_U = -Q_{UU}^{-1} Q_{UL} Y_L` (5), folded into the precision."""
        nodes = np.array([x.node for x in labels], dtype=np.int64)
        gamma = np.array([x.noise for x in labels])
        Y = _one_hot([x.label for x in labels], classes)
        inner, exact = prior.fold(nodes, gamma), gamma == 0
        pinned = prior.space.put(prior.space.zeros(classes), nodes[exact], Y[exact])
        b, noisy = -inner.times(pinned), nodes[~exact]
        b = prior.space.put(b, noisy, prior.space.pick(b, noisy) + Y[~exact] * gamma[~exact, None] ** -2.0)
        votes = inner.solve(b * inner.free[:, None]) + pinned
        return cls._fresh(prior, inner, votes, tuple(labels), noise, squares)

    @classmethod
    def _fresh(
        cls, origin: Prior, prior: Prior, votes: Array, folded: tuple[Label, ...], noise: float, squares: bool
    ) -> Field:
        spread = prior.spread(squares)
        return cls(
            origin=origin,
            prior=prior,
            base=votes,
            votes=votes,
            spread=spread,
            squares=squares,
            noise=noise,
            ample=spread.variance,
            stack=ColumnStack.like(spread.variance),
            labeled=prior.labeled,
            free=prior.free,
            folded=folded,
            recent=(),
        )

    @property
    def space(self) -> Space:
        """Where the arrays of this field live."""
        return self.prior.space

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what this name was computed as before, or compute it now and keep it: a field is a value, so it stays true."""
        if name not in self._results:
            self._results[name] = compute()
        return self._results[name]

    @property
    def labels(self) -> tuple[Label, ...]:
        """All labels, oldest first."""
        return self.folded + self.recent

    @property
    def held(self) -> int:
        """How many labels are known; one that is awaited does not count."""
        return sum(x.label != OPEN for x in self.labels)

    @property
    def factor(self) -> Array:
        """V (n × t), a column a label since the last rebase."""
        return self.stack.array

    @property
    def n_classes(self) -> int:
        """C: the classes declared plus those seen."""
        return int(self.votes.shape[1])

    @property
    def mean(self) -> Array:
        r"""The ±1 mean of each class against the rest, :math:`\mu_c = 2 h_c - H`."""
        return coding.means(self.votes)

    def columns(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G_t[:, nodes] = G₀[:, nodes] − V V[nodes]ᵀ; an engine that iterates may stop at the residual ``rough``."""
        V = self.factor
        G = self.prior.columns(nodes, rough).T  # a fresh array, a row a node: V's columns are contiguous too
        if len(self.recent):
            G -= self.space.asarray(self.space.pick(V, nodes)) @ V.T
        np.maximum(G, 0.0, out=G)
        G[:, self.free == 0] = 0.0
        return G.T

    def variances(self, nodes: IntArray, rough: float = 0.0) -> Array:
        """Return G_t[i, i] at these nodes, without keeping their columns."""
        told = self.space.pick(self.factor, nodes)
        return np.asarray(np.maximum(self.prior.variances(nodes, rough) - np.einsum("ij,ij->i", told, told), 0.0))

    def apply(self, x: Array) -> Array:
        """Return G_t x."""
        V = self.factor
        return self.prior.solve(x) - V @ self.space.asarray(self.space.inner(V, x))

    def observe(self, node: int, label: int, noise: float | None = None) -> Field:
        """Return the field after the label of one node; a class index beyond the known ones adds classes."""
        return self.awaiting(node, noise).answered(label)

    def await_answer(self, node: int) -> Field:
        """Return the field as if this node's answer will be what is expected: G shrinks, the mean stays (for batches)."""
        return self.awaiting(node)._fresh_if_worn()

    def awaiting(self, node: int, noise: float | None = None) -> Field:
        """Return the field between the question and its answer: G is already that of after (10), the mean is not."""
        if self.space.pick(self.labeled, node):
            raise LabelError(f"node {node} is labeled already: relabel it, or forget its label first")
        noise = self.noise if noise is None else noise
        g = self.columns(np.array([node]))[:, 0]
        scale = float(np.sqrt(float(self.space.pick(g, node)) + noise**2))
        if not scale > 0:
            raise ConvergenceError(
                f"the variance of node {node} is lost in rounding: raise delta, or rescale or clip the weights"
            )
        v = g / scale
        here = self.space.unit(node)
        return replace(
            self,
            spread=self.spread.observed(self, node, v, scale, noise),  # (10)
            stack=self.stack.push(v),
            labeled=self.labeled | here,
            free=np.where(here, 0.0, self.free) if noise == 0 else self.free,
            recent=(*self.recent, Label(node, OPEN, noise, scale)),
        )

    def answered(self, label: int) -> Field:
        """Return the field after the answer that was pending last."""
        wide = self._with_classes(label + 1)
        node, _, noise, scale = self.recent[-1]
        gap = _one_hot([label], wide.n_classes)[0] - self.space.pick(wide.votes, node)
        votes = wide.votes + (self.space.asarray(gap)[:, None] * (self.factor[:, -1] / scale)).T  # (9)
        known = replace(wide, votes=votes, recent=(*self.recent[:-1], Label(node, label, noise, scale)))
        return known._fresh_if_worn()

    def _fresh_if_worn(self) -> Field:
        return self.rebase() if self.worn else self

    def extended(self, labels: Sequence[Label], classes: int = 0) -> Field:
        """Return the field after many labels at once, all folded into the precision."""
        classes = max([self.n_classes, classes, *(x.label + 1 for x in labels)])
        return self._again((*self.labels, *labels), classes)

    def relabel(self, node: int, label: int) -> Field:
        """Return the field with another answer at a labeled node; G does not depend on answers, so no solve is needed."""
        at = self._position(node)
        if at < len(self.folded):
            labels = _replaced(self.labels, at, label)
            return self._again(labels, max(self.n_classes, label + 1))
        wide = self._with_classes(label + 1)
        recent = _replaced(wide.recent, at - len(self.folded), label)
        return replace(wide, recent=recent, votes=wide._harmonic(recent))

    def forget(self, node: int) -> Field:
        """Return the field without the label of one node: the Cholesky factor loses a row, V a direction."""
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

    def arranged(self, classes: Sequence[int]) -> Field:
        """Return the field with some of its classes, in this order; a class that is left out must have no label."""
        wide = self._with_classes(max(classes, default=-1) + 1)
        place = {label: at for at, label in enumerate(classes)}
        labels = tuple(x._replace(label=place[x.label]) for x in self.labels)
        folded, recent = labels[: len(self.folded)], labels[len(self.folded) :]
        order = list(classes)
        return replace(wide, base=wide.base[:, order], votes=wide.votes[:, order], folded=folded, recent=recent)

    def sharpen(self, nodes: IntArray) -> Field:
        """Return the same field with summaries that are exact at these nodes."""
        return replace(self, spread=self.spread.sharpened(self, nodes))

    def rebase(self) -> Field:
        """Return the same field with its labels folded into the precision: V is empty again, and rounding errors are gone."""
        field = self._again(self.labels, self.n_classes)
        if any(x.label == OPEN for x in self.labels):
            return replace(field, votes=self.votes, base=self.votes)  # an answer that is awaited moves no mean
        return field

    @property
    def worn(self) -> bool:
        """Whether V is long, or cancellation has cost digits, so that a rebase is due."""
        limit = min(MAX_FACTOR_COLUMNS, max(16, MAX_FACTOR_BYTES // (8 * self.space.most_rows)))
        return len(self.recent) >= limit or self._cancelled()

    @property
    def counts(self) -> Array:
        """How many labels each class has."""
        known = [x.label for x in self.labels if x.label != OPEN]
        return np.bincount(known, minlength=self.n_classes).astype(float)

    @property
    def mass(self) -> Array:
        """The sum of each class's votes over the unlabeled nodes."""
        return np.asarray(self.space.total(self.votes * ~self.labeled[:, None]))

    def probabilities(self) -> Array:
        """Return the field's own class probabilities (6), (n × C); readouts return others."""
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
        return Field.given(self.origin, labels, classes, self.noise, self.squares)

    def _harmonic(self, recent: tuple[Label, ...]) -> Array:
        """Return h = base + V R⁻¹ (Y − base[K])."""
        if not recent:
            return self.base  # LAPACK need not accept a triangle of size 0
        nodes = np.array([x.node for x in recent], dtype=np.int64)
        gap = _one_hot([x.label for x in recent], self.n_classes) - self.space.pick(self.base, nodes)
        told = solve_triangular(_root(self, recent), gap, lower=True)
        return self.base + self.factor @ self.space.asarray(told)

    def _cancelled(self) -> bool:
        return bool(self.space.total((self.spread.variance < WORN * self.ample) & ~self.labeled) > 0)


def known_root(field: Field) -> tuple[tuple[Label, ...], Array]:
    """Return the labels in V that are not pending, which come first, and R over them."""
    known = tuple(x for x in field.recent if x.label != OPEN)
    return known, _root(field, known)


def _root(field: Field, recent: tuple[Label, ...]) -> Array:
    """Return R, the Cholesky factor of G₀[K, K] + diag γ² over the labels in V, in label order."""
    nodes = np.array([x.node for x in recent], dtype=np.int64)
    rows = field.space.pick(field.factor, nodes)[:, : len(recent)]
    return np.tril(rows, -1) + np.diag([x.scale for x in recent])


def _without_label(field: Field, at: int) -> tuple[Array, Array, Array]:
    """Return V and R without one label, and the rotation of V's columns that removes it.

    Deleting a row of R leaves a Hessenberg matrix; the turn that makes it triangular again moves what this label alone told
    into V's last column, which is still there.
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
