"""What to ask for: the paper's samplers and later ones by their short names, as functions of the field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from askgraph.answers import coding
from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.options import Form
from askgraph.support.threads import in_threads
from askgraph.types import Array, IntArray
from askgraph.utilities import closed, lookahead, recent

Utility = Callable[[Field, IntArray, Array], Array]
"""scores = utility(field, rows, p): no state, no randomness; p (len(rows) × C) are the probabilities of the answers.

Rows are indices into the arrays of this process, on every engine; ``field.space.nodes_of(rows)`` gives the nodes.
"""


def field_chances(field: Field, rows: IntArray) -> Array:
    """Return the field's own class probabilities (6) of some rows.

    Parameters
    ----------
    field : Field
        The field.
    rows : array of int
        The rows in the arrays of this process.

    Returns
    -------
    array
        One row per row asked for, one column per class, at least two columns.
    """
    return coding.chances(coding.at_least_two(field.votes)[rows])


@dataclass(frozen=True)
class Criterion:
    """A utility and what a learner must know to use it; pass one to ``Learner(graph, sampler=...)``.

    A plain function may be passed to a learner as well. A criterion says more, so that the learner computes no more than
    the utility reads.

    Parameters
    ----------
    utility : callable
        A function ``(field, rows, p) -> scores``, larger is better.
    exact : callable, optional
        The utility in a form that is linear in p, for ``form="derived"`` and ``expect="min"``; by default the utility.
    calm : callable, optional
        What the printed form becomes at full doubt; by default the utility itself, with p softened by doubt.
    marginals : callable
        A function ``(field, rows) -> p``: the probabilities of the answers, one row per row, one column per class.
    squares : bool
        Whether the utility reads ‖g_i‖₂.
    columns : bool
        Whether the utility looks ahead through columns of the covariance.
    summaries : bool
        Whether the utility reads g_ii, ‖g_i‖₁ or ‖g_i‖₂ at all.
    sliced : bool
        Whether the utility scores each row by itself and takes a slice for rows too: this spares copies where nearly all nodes
        are candidates, and memory where there are many classes.
    positive : bool
        Whether the formulas need covariances that are not negative.
    means : callable, optional
        The utility with Σ_c (1 − μ_c²) where the printed form has Σ_c (1 − p_c²); by default the utility.

    Examples
    --------
    A sampler of your own: ask where the variance is largest.

    >>> import askgraph as ag
    >>> def widest(field, rows, p):
    ...     return field.spread.variance[rows]
    >>> learner = ag.Learner(ag.chain(5), ag.Criterion(widest), rng=0)
    >>> learner.tell(0, "left")
    >>> learner.ask()
    4
    """

    utility: Utility
    exact: Utility | None = None
    calm: Utility | None = None
    marginals: Callable[[Field, IntArray], Array] = field_chances
    squares: bool = False
    columns: bool = False
    summaries: bool = True
    sliced: bool = False
    positive: bool = False
    means: Utility | None = None

    def score(
        self,
        field: Field,
        rows: IntArray,
        alpha: float,
        form: Form,
        expect: str,
        shares: Sequence[float] | None = None,
    ) -> Array:
        """Return the scores of some rows.

        Parameters
        ----------
        field : Field
            The field.
        rows : array of int
            The rows of the candidates in the arrays of this process.
        alpha : float
            The doubt α, from 0 to 1.
        form : {"printed", "derived", "means"}
            The paper's printed formulas, the exact expectations, or the printed formulas with means for probabilities.
        expect : {"mean", "min"}
            The mean over answers, or the minimum.
        shares : sequence of float, optional
            The class shares that doubt leans to; None for equal shares.

        Returns
        -------
        array
            One score per row, larger is better.
        """
        if not self.sliced:
            return self._score(field, rows, alpha, form, expect, shares)
        every = rows.size > SCORE_ALL_FROM * len(field.votes)
        parts = _row_parts(field, len(field.votes) if every else rows.size)

        def score(part: slice) -> Array:
            # scores of labeled nodes may be anything; they are dropped
            with np.errstate(all="ignore" if every else None):
                return self._score(field, part if every else rows[part], alpha, form, expect, shares)

        found = [score(parts[0])]  # computes what all parts share
        found += in_threads(score, parts[1:]) if field.space.alone else map(score, parts[1:])
        scores = found[0] if len(found) == 1 else np.concatenate(found)
        return scores[rows] if every else scores

    def _score(
        self, field: Field, rows: Any, alpha: float, form: Form, expect: str, shares: Sequence[float] | None
    ) -> Array:
        p = self.marginals(field, rows)
        linear = self.exact or self.utility
        if expect == "min":
            return reduce(np.minimum, (linear(field, rows, q) for q in _certain(p)))  # (33)
        softened = coding.soften(p, alpha, None if shares is None else field.space.asarray(np.array(shares)))
        if form == "derived" or (shares is not None and self.calm):  # (35) is printed for equal shares only
            return linear(field, rows, softened)  # (34)
        utility = (self.means if form == "means" else None) or self.utility
        if self.calm is None:
            return utility(field, rows, softened)
        return alpha / 2 * self.calm(field, rows, p) + (1 - alpha) * utility(field, rows, p)  # (35)


def _row_parts(field: Field, rows: int) -> list[slice]:
    """Return the rows in parts, in each process as many: the more classes, the fewer rows of a part."""
    count = 1 + 8 * field.space.most_rows * field.coding.width // field.space.part_bytes
    ends = np.linspace(0, rows, count + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def no_chances(field: Field, rows: IntArray) -> Array:
    """Return one column of zeros, for utilities in which the probabilities of the answers play no part."""
    return field.spread.variance[rows][:, None] * 0.0


# share of nodes that are candidates; above it all nodes are scored, which is cheaper than copying arrays
SCORE_ALL_FROM = 0.9


def _certain(p: Array) -> Iterator[Array]:
    """Yield one distribution per answer: that answer for sure."""
    for c in range(p.shape[1]):
        sure = np.zeros_like(p)
        sure[:, c] = 1.0
        yield sure


def two_step_approximation(beta: float = 1.0) -> Criterion:
    r"""Return the criterion of the sampler tsa with a β of your own (Jun & Nowak 2016).

    Parameters
    ----------
    beta : float
        The factor β in the marginals :math:`p_c \propto \sigma(2\beta\mu_c/g_{ii})`: the larger, the surer.

    Returns
    -------
    Criterion
        The criterion; ``sampler="tsa"`` is the one with β = 1.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.star(6), ag.two_step_approximation(beta=0.5), rng=0)
    >>> learner.tell_all({1: "left", 2: "right"})
    >>> learner.ask()  # the hub
    0
    """
    return Criterion(
        partial(lookahead.two_step, beta=beta),
        marginals=partial(lookahead.two_step_marginals, beta=beta),
        columns=True,
    )


def _in_all_forms(
    utility: Callable[..., Array], calm: Utility, squares: bool = False, positive: bool = False
) -> Criterion:
    derived, means = partial(utility, form="derived"), partial(utility, form="means")
    return Criterion(utility, derived, calm, squares=squares, sliced=True, positive=positive, means=means)


CRITERIA: dict[str, Criterion] = {
    "tv": _in_all_forms(closed.total_variation, closed.sigma_optimality, positive=True),
    "msd": _in_all_forms(closed.mean_square_deviation, closed.variance_minimization, squares=True),
    "klg": Criterion(closed.field_kl, partial(closed.field_kl, form="derived"), sliced=True),
    "vm": Criterion(closed.variance_minimization, marginals=no_chances, squares=True, sliced=True),
    "sigma": Criterion(closed.sigma_optimality, marginals=no_chances, sliced=True),
    "influence": Criterion(closed.uncertain_influence, marginals=no_chances, sliced=True),
    "unc": Criterion(closed.margin, marginals=no_chances, summaries=False, sliced=True),
    "fl": Criterion(lookahead.flips, columns=True),
    "kl": Criterion(lookahead.label_kl, columns=True),
    "eer": Criterion(lookahead.expected_error_reduction, columns=True),
    "tsa": two_step_approximation(),
    "mc": Criterion(recent.model_change, marginals=no_chances, squares=True, sliced=True),
    "mcvopt": Criterion(recent.mcvopt, marginals=no_chances, squares=True, sliced=True),
    "dial": Criterion(recent.dirichlet, marginals=no_chances, summaries=False),
    "pwll": Criterion(recent.minimum_norm, marginals=no_chances, summaries=False),
}
SAMPLERS = (*CRITERIA, "random")


def criterion(utility: str | Criterion | Utility) -> Criterion:
    """Return a criterion by its short name, or the one given, or one made of a function."""
    if isinstance(utility, Criterion):
        return utility
    if callable(utility):
        return Criterion(utility, squares=True)
    if isinstance(utility, str) and utility in CRITERIA:
        return CRITERIA[utility]
    raise SettingError(f"no sampler called {utility!r}: choose one of {', '.join(SAMPLERS)}, or pass a function")
