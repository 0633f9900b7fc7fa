"""What a learner predicts, as a pandas frame."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from askgraph.errors import LabelError, MissingExtraError
from askgraph.kinds.measured import LEVEL
from askgraph.kinds.ordered import Ordered
from askgraph.kinds.several import Several


def predictions_frame(learner: Any, nodes: Sequence[Hashable] | None = None) -> Any:
    """Return what is predicted as a frame, one row per node; see `askgraph.Learner.to_frame`."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise MissingExtraError('a frame needs pandas: pip install "askgraph[frames]"') from None
    if not learner.labels:
        raise LabelError("no label was told yet: there is nothing to write")
    nodes = list(learner.graph.names or range(learner.graph.n_nodes)) if nodes is None else list(nodes)
    kind, told = learner.answers, learner.labels
    columns = _numbers if not kind.by_class else _sets if isinstance(kind, Several) else _classes
    return DataFrame({**columns(learner, nodes), "told": [node in told for node in nodes]}, index=nodes)


def _numbers(learner: Any, nodes: list[Hashable]) -> dict[str, Any]:
    return dict(zip(("label", "low", "high"), learner.predict(nodes, interval=LEVEL), strict=True))


def _sets(learner: Any, nodes: list[Hashable]) -> dict[str, Any]:
    each = zip(learner.classes, learner.probabilities(nodes).T, strict=True)
    return {"label": learner.predict(nodes), **{f"probability_{name}": p for name, p in each}}


def _classes(learner: Any, nodes: list[Hashable]) -> dict[str, Any]:
    from pandas import Categorical

    classes, kind, best = learner.classes, learner.answers, learner.predict(nodes)
    ordered, place = isinstance(kind, Ordered), {name: k for k, name in enumerate(classes)}
    steps = [classes[k] for k in np.argsort(kind.ranks(classes))] if ordered else classes
    p = learner.probabilities(nodes)[np.arange(len(nodes)), [place[label] for label in best]]
    return {"label": Categorical(best, steps, ordered=ordered), "probability": p}
