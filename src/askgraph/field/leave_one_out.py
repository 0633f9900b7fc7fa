"""What the field would say at each label without it: exact leave-one-out, without a field anew.

With K the covariance of the labels, noise included, and h = G₀[:, L] K⁻¹ Y: the label l and its prediction from all others
differ by e_l = (K⁻¹Y)_l / (K⁻¹)_ll, that prediction has the variance 1/(K⁻¹)_ll, and without l the votes are h − (∂h/∂Y_l) e_l.
Labels in V give all this by their Cholesky factor. For one that was folded into the precision, (K⁻¹Y)_l = (Qh)_l and
(K⁻¹)_ll = Q_ll − q_l G q_lᵀ; that takes a solve a label, once, so of many some stand for all. Without any field, K itself is
solved for: a solve a label too, and nothing is factorised but K.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from askgraph.answers.coding import Coding
from askgraph.errors import ConvergenceError
from askgraph.field.field import Discount, Field, Observation, known, known_root, label_noise, nodes_of, rows_of
from askgraph.priors.base import SOLVES_AT_ONCE, LeaveOneOutTerms, Prior
from askgraph.types import AnyArray, Array, BoolArray, IntArray


class LeftOut(NamedTuple):
    """Leave-one-out of labels, one row per label."""

    nodes: IntArray
    said: AnyArray  # the answers, as the coding takes them
    votes: Array  # h of the other labels at the node, one column per class
    lost: Array  # by how much the sum of h over the unlabeled nodes falls without the label, one column per class
    variance: Array  # of the label given the other labels, label noise included


def left_out(field: Field, every: bool = False) -> LeftOut:
    """Return leave-one-out of some of the folded labels (of all with ``every``), then of all labels in V."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what comes of these is looked for below
        left = _recent(field)
        if field.folded:
            prior = field.prior
            folded = _folded(field, prior.leave_one_out_terms(prior.folded) if every else prior.leave_one_out_sample)
            joined: list[Any] = [np.concatenate(parts) for parts in zip(folded, left, strict=True)]
            left = LeftOut(*joined)
    if not np.isfinite(left.votes).all():
        raise ConvergenceError(
            "leaving a label out is lost in rounding: the weights are too far from each other; clip them, or raise delta"
        )
    return left


def pulls(field: Field, nodes: IntArray, ends: Sequence[IntArray]) -> list[Array]:
    """Return how the votes at some nodes, ``ends``, move with the label of each of these nodes: ∂h/∂Y_l, one array per label.

    The prior must be a sum, and a label that was folded in must be one of the sample, its ends the node's neighbors.
    """
    told, root = known_root(field)
    inverse = solve_triangular(root, np.eye(len(told)), lower=True) if told else root
    column = {x.node: at for at, x in enumerate(told)}
    V, found = field.factor[:, : len(told)], []
    for node, some in zip(nodes.tolist(), ends, strict=True):
        there = field.space.pick(V, some)
        if node in column:
            found.append(there @ inverse[:, column[node]])
        else:
            G = field.prior.neighbor_columns[node] - there @ field.space.pick(V, node)
            found.append(G * field.prior.precision.extra[node])
    return found


def left_out_alone(
    prior: Prior, labels: Sequence[Observation], coding: Coding, ends: Sequence[IntArray] = ()
) -> tuple[Array, LeftOut, list[Array]]:
    """Return the votes that these labels give in a prior without labels, leave-one-out of the labels, both by K, and ∂h/∂Y_l.

    The last is at the nodes ``ends`` of each label, where they are given.
    """
    nodes = nodes_of(labels)
    rows = np.unique(np.concatenate([nodes, *ends]))
    wide = np.hstack([prior.space.pick(prior.columns(part), rows) for part in _parts(nodes)])
    G, Y = wide[np.searchsorted(rows, nodes)], rows_of(coding, labels)
    inverse = np.linalg.inv(np.linalg.cholesky(G + np.diag(label_noise(prior, labels, None) ** 2)))
    beyond = prior.space.pick(prior.influence(), nodes) - G.sum(axis=0)
    weights = prior.space.put(prior.space.zeros(coding.width), nodes, inverse.T @ (inverse @ Y))
    moved = [wide[np.searchsorted(rows, some)] @ (inverse.T @ inverse[:, at]) for at, some in enumerate(ends)]
    return prior.solve(weights), _by_inverse(labels, Y, Y, inverse, inverse @ beyond), moved


def _parts(nodes: IntArray) -> list[IntArray]:
    return [nodes[at : at + SOLVES_AT_ONCE] for at in range(0, nodes.size, SOLVES_AT_ONCE)]


def left_out_with(field: Field, discount: Discount | None, count: int) -> tuple[Array, BoolArray, LeftOut]:
    """Return the votes, the labeled nodes and leave-one-out as if there were the oldest labels only, with another discount.

    All labels must be in V; ``count`` of them are kept. Nothing is solved for: the first columns of V and R are those of the
    oldest labels, and V Rᵀ are the columns of G₀ at the labels whatever their noise.
    """
    told, root = known_root(field)
    told, root, V = told[:count], root[:count, :count], field.factor[:, :count]
    now, other = (label_noise(field.origin, told, rule) for rule in (field.discount, discount))
    inverse = np.linalg.inv(np.linalg.cholesky(root @ root.T + np.diag(other**2 - now**2)))
    Y = rows_of(field.coding, told)
    votes = V @ field.space.asarray(root.T @ (inverse.T @ (inverse @ Y)))
    labeled = field.space.put(field.space.zeros(dtype=bool), nodes_of(told), True)
    beyond = inverse @ root @ field.space.inner(V, (~labeled).astype(float))
    return votes, labeled, _by_inverse(told, Y, Y, inverse, beyond)


def _recent(field: Field) -> LeftOut:
    """Return leave-one-out of the labels in V."""
    told, root = known_root(field)
    inverse = solve_triangular(root, np.eye(len(told)), lower=True) if told else root
    Y = rows_of(field.coding, told)
    beyond = field.space.inner(field.factor[:, : len(told)], (~field.labeled).astype(float))
    return _by_inverse(told, Y, Y - field.space.pick(field.base, nodes_of(told)), inverse, beyond)


def _by_inverse(told: Sequence[Observation], Y: Array, new: Array, inverse: Array, beyond: Array) -> LeftOut:
    """Return leave-one-out by the inverse of the Cholesky factor of K, K⁻¹ = R⁻ᵀR⁻¹.

    ``new`` is what the labels say beyond what was known before them, and R⁻ᵀ ``beyond`` the sum over the unlabeled nodes of ∂h/∂Y.
    """
    precision = (inverse**2).sum(axis=0)
    gap = inverse.T @ (inverse @ new) / precision[:, None]
    lost = (inverse.T @ beyond)[:, None] * gap
    return LeftOut(nodes_of(told), _said(told), Y - gap, lost, 1 / precision)


def _folded(field: Field, terms: LeaveOneOutTerms) -> LeftOut:
    """Return leave-one-out of folded labels: their terms as they were folded in, corrected for the columns of V added since."""
    at = {x.node: x for x in field.folded}
    told = [at[node] for node in terms.nodes.tolist()]
    here = np.array([x.said is not None for x in told], dtype=bool)
    at_ends = partial(field.space.pick, node=terms.ends)
    Y, since = rows_of(field.coding, told), terms.links @ at_ends(field.factor)
    precision = terms.precision + (since**2).sum(axis=1)
    gap = (terms.own[:, None] * Y - terms.links @ at_ends(field.votes)) / precision[:, None]
    lost = (terms.links @ at_ends(_shadow(field)))[:, None] * gap
    return LeftOut(terms.nodes[here], _said(known(told)), (Y - gap)[here], lost[here], 1 / precision[here])


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
