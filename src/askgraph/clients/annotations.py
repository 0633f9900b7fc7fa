"""Predictions of a learner as columns of an AnnData."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from askgraph.errors import LabelError
from askgraph.kinds.measured import LEVEL
from askgraph.kinds.ordered import Ordered
from askgraph.kinds.several import Several
from askgraph.learner import Learner
from askgraph.support.arguments import listed


def annotate(adata: Any, learner: Learner, key: str = "askgraph") -> None:
    """Write the predictions of a learner into the observations of an AnnData.

    ``obs[key]`` is the predicted label, a category; ``obs[f"{key}_probability"]`` its probability; ``obs[f"{key}_told"]`` says
    which labels were told. Categories of ordered classes have their order. Where a cell may have several classes, ``obs[key]``
    has their names with a comma between them, and ``obs[f"{key}_CLASS"]`` the probability of each class. Of numbers, ``obs[key]``
    is the mean, and ``obs[f"{key}_low"]`` and ``obs[f"{key}_high"]`` are the ends of a range that holds nine in ten answers.

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
    write = _write_classes if learner.answers.by_class else _write_numbers
    (_write_sets if isinstance(learner.answers, Several) else write)(adata.obs, learner, cells, key)
    told = learner.labels
    adata.obs[f"{key}_told"] = np.array([cell in told for cell in cells])


def _write_classes(obs: Any, learner: Learner, cells: list[Hashable], key: str) -> None:
    p, kind = learner.probabilities(cells), learner.answers
    obs[key] = learner.predict(cells)
    obs[key] = obs[key].astype("category")
    if isinstance(kind, Ordered):
        steps = [learner.classes[k] for k in np.argsort(kind.ranks(learner.classes))]
        obs[key] = obs[key].cat.set_categories(steps, ordered=True)
        found = np.array([learner.classes.index(label) for label in learner.predict(cells)])
        obs[f"{key}_probability"] = p[np.arange(len(p)), found]
    else:
        obs[f"{key}_probability"] = p.max(axis=1)


def _write_sets(obs: Any, learner: Learner, cells: list[Hashable], key: str) -> None:
    obs[key] = [", ".join(map(str, names)) for names in learner.predict(cells)]
    obs[key] = obs[key].astype("category")
    for name, p in zip(learner.classes, learner.probabilities(cells).T, strict=True):
        obs[f"{key}_{name}"] = p


def _write_numbers(obs: Any, learner: Learner, cells: list[Hashable], key: str) -> None:
    obs[key], obs[f"{key}_low"], obs[f"{key}_high"] = learner.predict(cells, interval=LEVEL)


def _plain(name: Any) -> Hashable:
    """Return a name as a graph keeps it."""
    return name.item() if isinstance(name, np.generic) else name
