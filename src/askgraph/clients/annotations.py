"""Predictions of a learner as columns of an AnnData."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from askgraph.errors import LabelError
from askgraph.learner import Learner
from askgraph.support.arguments import listed


def annotate(adata: Any, learner: Learner, key: str = "askgraph") -> None:
    """Write the predictions of a learner into the observations of an AnnData.

    ``obs[key]`` is the predicted label, a category; ``obs[f"{key}_probability"]`` its probability; ``obs[f"{key}_told"]`` says
    which labels were told.

    Parameters
    ----------
    adata : AnnData
        The cells; every one of them is a node of the learner's graph, as in ``askgraph.Graph(adata)``.
    learner : Learner
        A learner that was told at least one label.
    key : str
        The name of the column, and the beginning of the names of the others.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.Graph([(0, 1), (1, 2)], names=["c1", "c2", "c3"]), rng=0)
    >>> learner.tell("c1", "B cell")
    >>> ag.annotate(adata, learner)  # doctest: +SKIP
    """
    if not hasattr(adata, "obs_names") or not isinstance(learner, Learner):
        raise LabelError(
            f"a {type(adata).__name__} and a {type(learner).__name__}: give an AnnData, and a learner whose nodes are its cells"
        )
    cells = [_plain(name) for name in listed(adata.obs_names, "obs_names", LabelError)]
    if not learner.labels:
        raise LabelError("no label was told yet: there is nothing to write")
    predicted, p = learner.predict(cells), learner.probabilities(cells)
    adata.obs[key] = predicted
    adata.obs[key] = adata.obs[key].astype("category")
    adata.obs[f"{key}_probability"] = p.max(axis=1)
    adata.obs[f"{key}_told"] = np.array([cell in learner.labels for cell in cells])


def _plain(name: Any) -> Hashable:
    """Return a name as a graph keeps it."""
    return name.item() if isinstance(name, np.generic) else name
