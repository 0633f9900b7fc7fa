"""What would be said at each labeled node without its own label: exact leave-one-out, without a field anew.

With K the covariance of the labels, noise included, and h = G₀[:, L] K⁻¹ Y: the label l and its prediction from all others
differ by e_l = (K⁻¹Y)_l / (K⁻¹)_ll, that prediction has the variance 1/(K⁻¹)_ll, and without l the votes are h − (∂h/∂Y_l) e_l.
Labels in V give all this by their Cholesky factor. For one that was folded into the precision, (K⁻¹Y)_l = (Qh)_l and
(K⁻¹)_ll = Q_ll − q_l G q_lᵀ; that takes one solve per label, once, so of many labels some stand for all. Where labels are only
supposed, no field is made: the columns of K are read off V, or solved for, one solve per label, and nothing is factorised but K.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from askgraph.answers.coding import Coding, is_class
from askgraph.errors import ConvergenceError
from askgraph.field.field import Discount, Field, Observation, known, known_root, label_noise, nodes_of, rows_of
from askgraph.priors.base import SOLVES_AT_ONCE, Prior
from askgraph.spaces.base import Space
from askgraph.types import AnyArray, Array, BoolArray, IntArray

LOST = "leaving a label out is lost in rounding: the weights are too far from each other; clip them, or raise delta"


class LeftOut(NamedTuple):
    """Leave-one-out of labels, one row per label."""

    nodes: IntArray
    said: AnyArray  # the answers, as the coding takes them
    votes: Array  # h of the other labels at the node, one column per class
    lost: Array  # by how much the sum of h over the unlabeled nodes falls without the label, one column per class
    variance: Array  # of the label given the other labels, label noise included
    moved: list[Array]  # ∂h/∂Y_l at the neighbors of each label's node; empty unless asked for

    @property
    def of_one_class(self) -> LeftOut:
        """Those of the labels that name one class: shares of several are a class neither predicted right nor wrong."""
        some = np.array([is_class(said) for said in self.said.tolist()], dtype=bool)
        if some.all():
            return self
        nodes, votes, lost, variance = (x[some] for x in (self.nodes, self.votes, self.lost, self.variance))
        moved = [x for x, kept in zip(self.moved, some.tolist(), strict=True) if kept] if self.moved else []
        return LeftOut(nodes, self.said[some].astype(np.int64), votes, lost, variance, moved)


class Columns(NamedTuple):
    """Labels as columns of V = G₀[:, L] R⁻ᵀ, with K = R Rᵀ."""

    gaps: Array  # Y beyond what was known before these labels
    inverse: Array  # R⁻¹
    beyond: Array  # Vᵀ1 over the unlabeled nodes
    times: Callable[[IntArray, Array], Array]  # V[nodes] x
    ends: list[IntArray]  # the neighbors of each label's node where votes there are asked for; else empty


class Supposed(NamedTuple):
    """Labels as if a prior had been told these and no others; no field is made of them."""

    origin: Prior
    coding: Coding
    discount: Discount | None
    known: tuple[Observation, ...]
    votes: Array  # h, one row per node
    labeled: BoolArray
    columns: Columns

    @property
    def space(self) -> Space:
        """Where the arrays live."""
        return self.origin.space


Told = Field | Supposed  # what labels were told to


class _Terms(NamedTuple):
    """What leave-one-out is computed from, one row per label."""

    labels: Sequence[Observation]
    pull: Array  # (K⁻¹Y)_l, one column per class
    precision: Array  # (K⁻¹)_ll
    reach: Array  # ∂h/∂Y_l, summed over the unlabeled nodes
    moved: list[Array]  # as in `LeftOut`


def left_out(told: Told, every: bool = False, around: bool = False) -> LeftOut:
    """Return leave-one-out of some of the folded labels (of all with ``every``), then of all labels in columns.

    ``around`` asks a field for ∂h/∂Y_l at the neighbors, too: of folded labels it takes one more solve each, and goes without
    ``every``. Supposed labels have it where it was asked for as they were made.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what comes of these is looked for below
        terms = _of_field(told, every, around) if isinstance(told, Field) else _of_columns(told.known, told.columns)
        gap = terms.pull / terms.precision[:, None]
        votes, lost = rows_of(told.coding, terms.labels) - gap, terms.reach[:, None] * gap
        left = LeftOut(nodes_of(terms.labels), _said(terms.labels), votes, lost, 1 / terms.precision, terms.moved)
    if not np.isfinite(left.votes).all():
        raise ConvergenceError(LOST)
    return left


def supposed(field: Field, discount: Discount | None, count: int, noise: Sequence[float] | None = None) -> Supposed:
    """Return the oldest labels of a field, ``count`` of them, as if there were no others, with another discount.

    ``noise`` is one label noise per label, in place of its own. All labels must be in V. Nothing is solved for: the first columns
    of V and R are those of the oldest labels, and V Rᵀ are the columns of G₀ at the labels whatever their noise.
    """
    labels, root = known_root(field)
    labels, root = labels[:count], root[:count, :count]
    now = field.label_noise(labels)
    if noise is not None:
        labels = tuple(x._replace(noise=gamma) for x, gamma in zip(labels, noise, strict=True))
    other = label_noise(field.origin, labels, discount)
    inverse = _inverse_root(root @ root.T + np.diag(other**2 - now**2))
    turn, labeled = root.T @ inverse.T, _labeled(field.origin, labels)
    columns = _in_field(field, labels, inverse, turn, labeled)
    told = turn @ (inverse @ columns.gaps)
    votes = field.factor[:, : len(labels)] @ field.space.asarray(told)
    return Supposed(field.origin, field.coding, discount, labels, votes, labeled, columns)


def supposed_in(
    prior: Prior,
    labels: Sequence[Observation],
    coding: Coding,
    around: bool = False,
    discount: Discount | None = None,
) -> Supposed:
    """Return labels as if a prior without labels had been told them, by one solve per label and one for their votes.

    ``around`` asks for ∂h/∂Y_l at the neighbors, too.
    """
    nodes = nodes_of(labels)
    ends = _neighbors(prior, nodes) if around else []
    rows = np.unique(np.concatenate([nodes, *ends]))
    parts = [nodes[at : at + SOLVES_AT_ONCE] for at in range(0, nodes.size, SOLVES_AT_ONCE)]
    wide = np.hstack([prior.space.pick(prior.columns(part), rows) for part in parts])

    def covariance(some: IntArray) -> Array:
        return wide[np.searchsorted(rows, some)]

    G, Y = covariance(nodes), rows_of(coding, labels)
    inverse = _inverse_root(G + np.diag(label_noise(prior, labels, discount) ** 2))
    beyond = inverse @ (prior.space.pick(prior.influence(), nodes) - G.sum(axis=0))
    columns = Columns(Y, inverse, beyond, lambda some, x: covariance(some) @ (inverse.T @ x), ends)
    votes = prior.solve(prior.space.put(prior.space.zeros(coding.width), nodes, inverse.T @ (inverse @ Y)))
    return Supposed(prior, coding, discount, tuple(labels), votes, _labeled(prior, labels), columns)


def _labeled(prior: Prior, labels: Sequence[Observation]) -> BoolArray:
    return prior.space.put(prior.space.zeros(dtype=bool), nodes_of(labels), True)


def _in_field(field: Field, labels: Sequence[Observation], inverse: Array, turn: Array, labeled: BoolArray) -> Columns:
    """Return labels whose columns are the first ones of a field's V, times ``turn``."""
    V, space = field.factor[:, : len(labels)], field.space
    gaps = rows_of(field.coding, labels) - space.pick(field.base, nodes_of(labels))
    beyond = turn.T @ space.inner(V, (~labeled).astype(float))
    return Columns(gaps, inverse, beyond, lambda some, x: space.pick(V, some) @ (turn @ x), [])


def _of_field(field: Field, every: bool, around: bool) -> _Terms:
    """Return the terms of all labels in V, after those of folded ones."""
    labels, root = known_root(field)
    columns = _in_field(field, labels, _inverted(root), np.eye(len(labels)), field.labeled)
    if around:
        columns = columns._replace(ends=_neighbors(field.origin, nodes_of(labels)))
    recent = _of_columns(labels, columns)
    if not field.folded:
        return recent
    folded = _of_folded(field, every, around)
    pull, precision, reach = (np.concatenate(both) for both in zip(folded[1:4], recent[1:4], strict=True))
    return _Terms((*folded.labels, *labels), pull, precision, reach, [*folded.moved, *recent.moved])


def _of_columns(labels: Sequence[Observation], columns: Columns) -> _Terms:
    """Return the terms of labels in columns, by K⁻¹ = R⁻ᵀR⁻¹."""
    inverse = columns.inverse
    pull, precision = inverse.T @ (inverse @ columns.gaps), (inverse**2).sum(axis=0)
    moved = [columns.times(some, inverse[:, at]) for at, some in enumerate(columns.ends)]
    return _Terms(labels, pull, precision, inverse.T @ columns.beyond, moved)


def _of_folded(field: Field, every: bool, around: bool) -> _Terms:
    """Return the terms of folded labels: as they were folded in, corrected for the labels in V since.

    A column of V whose answer is pending moves no votes, so it plays no part.
    """
    prior, pick, V = field.prior, field.space.pick, field.factor[:, : len(known(field.recent))]
    terms = prior.leave_one_out_terms(prior.folded) if every else prior.leave_one_out_sample
    at = {x.node: x for x in field.folded}
    told = [at[node] for node in terms.nodes.tolist()]
    here = np.array([x.said is not None for x in told], dtype=bool)
    since = terms.links @ pick(V, terms.ends)
    pull = terms.own[:, None] * rows_of(field.coding, told) - terms.links @ pick(field.votes, terms.ends)
    reach = terms.links @ pick(_shadow(field), terms.ends)
    precision, moved = terms.precision + (since**2).sum(axis=1), list[Array]()
    if around:
        nodes = terms.nodes[here]
        pulls = zip(nodes.tolist(), _neighbors(prior, nodes), since[here], strict=True)
        moved = [prior.neighbor_pulls[node] - pick(V, some) @ x for node, some, x in pulls]
    return _Terms(known(told), pull[here], precision[here], reach[here], moved)


def _neighbors(prior: Prior, nodes: IntArray) -> list[IntArray]:
    W = prior.precision.graph.weights
    return [W.indices[W.indptr[node] : W.indptr[node + 1]] for node in nodes.tolist()]


def _inverse_root(covariance: AnyArray) -> Array:
    """Return the inverse of the Cholesky factor of a covariance of labels; raise an error where rounding has left none."""
    try:
        return _inverted(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        raise ConvergenceError(LOST) from None


def _inverted(root: AnyArray) -> Array:
    """Return R⁻¹; LAPACK need not accept a triangle of size 0."""
    return solve_triangular(root, np.eye(len(root)), lower=True) if len(root) else root


def _shadow(field: Field) -> Array:
    """Return G_t 1 over the unlabeled nodes: the summary itself, unless noisy labels left their nodes in the field."""
    noisy = field.space.total(field.labeled & (field.free > 0))
    return field.apply((~field.labeled).astype(float)) if noisy else field.spread.influence_l1


def _said(observations: Sequence[Observation]) -> AnyArray:
    """Return the answers, one entry each: indices as integers, anything else as it is."""
    said = [x.said for x in observations]
    found: AnyArray = np.empty(len(said), np.int64 if all(isinstance(one, int) for one in said) else object)
    for at, one in enumerate(said):
        found[at] = one
    return found
