"""Samplers to compare with that a learner does not offer by name: each a function (field, rows, p), larger is better."""

from __future__ import annotations

import numpy as np

from askgraph.errors import SettingError
from askgraph.field import Field
from askgraph.types import Array, IntArray
from askgraph.utilities import Utility
from askgraph.utilities.closed import innovation


def zero_one_risk(field: Field, rows: IntArray, p: Array) -> Array:
    r"""Return minus the expected risk after the answer on the field f of {0, 1} labels (Zhu 2003; the paper's Remark 2).

    f is the zero-mean field of labels that are 1 for the class named second and 0 for the first, and the probability of that
    class: the risk is :math:`\sum_j \min(f_j, 1 - f_j)` over the other unlabeled nodes. Far from labels f is near 0, surely
    the first class, so that the order of the classes matters. It reads f alone, so p plays no part.
    """
    if field.coding.width != 2:
        raise SettingError(f"eer01 is defined for two classes, not {field.coding.width}")
    f, own = field.votes[:, 1], field.votes[rows, 1]
    steps = field.columns(field.space.nodes_of(rows)) / innovation(field, rows)
    counted = ~field.labeled[:, None] & (np.arange(len(f))[:, None] != rows)

    def risk(answer: int) -> Array:
        after = f[:, None] + (answer - own) * steps
        return np.asarray((np.minimum(after, 1 - after) * counted).sum(axis=0))

    return -((1 - own) * risk(0) + own * risk(1))


COMPARED: dict[str, Utility] = {"eer01": zero_one_risk}
