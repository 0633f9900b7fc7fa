"""A sampler: what scores candidates, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from askgraph.errors import ConvergenceError, SettingError
from askgraph.field import Field
from askgraph.options import Scoring
from askgraph.plan.schedule import check_schedule, scheduled
from askgraph.plan.turn import Question, Turn
from askgraph.support.arguments import listed, one_of, real_number, whole_number
from askgraph.support.wording import kind_and_size
from askgraph.types import Array, IntArray
from askgraph.utilities import Criterion, Utility, criterion
from askgraph.utilities.shortlist import shortlist

SHARES_SUM = 1e-6  # class shares may miss a sum of 1 by this much


@dataclass(frozen=True)
class Sampler(Scoring):
    """Scores candidates by a utility and asks for the best.

    Parameters
    ----------
    by : str, Criterion or callable
        A sampler's short name, or a function ``(field, rows, p) -> scores``, larger is better. "random" scores nothing and
        draws.
    doubt, class_shares, form, expect, ahead
        As in :class:`askgraph.Options`.

    Examples
    --------
    >>> sampler = Sampler("tv")
    >>> sampler.doubts(labels=1), sampler.doubts(labels=4)
    (1.0, 0.5)
    """

    by: str | Criterion | Utility = "influence"

    def __post_init__(self) -> None:
        check_schedule(self.doubt, "doubt")
        one_of(self.form, "form", ("printed", "derived", "means"))
        one_of(self.expect, "expect", ("mean", "min"))
        whole_number(self.ahead, "ahead", 1)
        if self.class_shares is not None:
            object.__setattr__(self, "class_shares", _checked_shares(self.class_shares))
        _ = self.criterion

    @property
    def random(self) -> bool:
        """Whether questions are drawn at random."""
        return isinstance(self.by, str) and self.by == "random"

    @property
    def criterion(self) -> Criterion:
        """The utility to ask by, and what it needs; for "random", one that needs no summaries."""
        return criterion("unc" if self.random else self.by)

    @property
    def name(self) -> str:
        """The short name, or the name of the function."""
        return self.by if isinstance(self.by, str) else str(getattr(self.by, "__name__", type(self.by).__name__))

    def doubts(self, labels: int) -> float:
        """Return α_t: the share of the uniform distribution in expectations after this number of labels; 1 before the first.

        Parameters
        ----------
        labels : int
            The number of labels.

        Returns
        -------
        float
            A share from 0 to 1.
        """
        return scheduled(self.doubt, "doubt", labels)

    def score(self, field: Field, rows: IntArray) -> Array:
        """Return the scores of some rows; raise an error where one is not a finite number.

        Parameters
        ----------
        field : Field
            The field.
        rows : array of int
            The rows in the arrays of this process.

        Returns
        -------
        array
            One score per row, larger is better.
        """
        shares, classes = self.class_shares, max(2, field.coding.width)
        if shares is not None and len(shares) != classes:
            raise SettingError(
                f"class_shares has {len(shares)} numbers for {classes} classes: give one per class and name all classes"
            )
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what comes of these is looked for below
            scores = self.criterion.score(field, rows, self.doubts(field.held), self.form, self.expect, shares)
        if getattr(scores, "shape", None) != (rows.size,):
            raise SettingError(
                f"{self.name}: gave {kind_and_size(scores)} for {rows.size} rows; return an array, one number for every row"
            )
        self._check_finite(field, rows, scores)
        return scores

    def best(self, turn: Turn) -> tuple[Field, list[Question]]:
        """Return the best of the candidates, and the field with what was solved for it.

        Parameters
        ----------
        turn : Turn
            The turn.

        Returns
        -------
        tuple
            The field, and a list of one question.
        """
        field, rows = turn.field, turn.rows
        if self.random:
            return field, [Question(node, self.name) for node in turn.draw()]
        if not field.prior.exact:
            field, rows = shortlist(field, rows, self.score, self.criterion, self.ahead)
        return field, [Question(field.space.best(rows, self.score(field, rows), turn.rng, field.prior.tie), self.name)]

    def peaks(self, turn: Turn, n: int) -> list[Question]:
        """Return the best n of the candidates that no neighbor beats (LocalMax), then the best of the others.

        Parameters
        ----------
        turn : Turn
            The turn.
        n : int
            The number of questions.

        Returns
        -------
        list of Question
            Up to n questions, by one pass over the scores; for "random", questions drawn at random.
        """
        if self.random:
            return [Question(node, self.name) for node in turn.draw(n)]
        space, rows = turn.field.space, turn.rows
        scores = space.zeros() - np.inf
        scores[rows] = self.score(turn.field, rows)
        peak = (scores >= turn.field.origin.highest_neighbor(scores))[rows]
        parts = [space.top(some, scores[some], n) for some in (rows[peak], rows[~peak])]
        return [Question(int(node), self.name) for node in np.concatenate(parts)[:n]]

    def _check_finite(self, field: Field, rows: IntArray, scores: Array) -> None:
        odd = field.space.count(rows[~np.isfinite(scores)])
        if not odd:
            return
        if isinstance(self.by, str):
            advice = "the weights are too far from 1, or from each other: divide them by a typical one, or raise delta"
            raise ConvergenceError(f"{self.by}: {odd} scores are not finite numbers; {advice}")
        raise SettingError(f"{self.name}: {odd} scores are NaN or infinite; return a finite number for every row")


def _checked_shares(shares: Any) -> tuple[float, ...]:
    """Return the shares of the classes as plain numbers, checked."""
    values = np.array([real_number(share, "class_shares") for share in listed(shares, "class_shares")])
    if values.ndim != 1 or values.size < 2 or not (values >= 0).all() or abs(values.sum() - 1) > SHARES_SUM:
        raise SettingError(f"class_shares={shares!r}: give one number per class, none below 0, that add up to 1")
    return tuple(values.tolist())
