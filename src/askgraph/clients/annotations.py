"""Predictions of a learner, written into the objects of other libraries that its graph came from."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from askgraph.errors import LabelError
from askgraph.graph.foreign import library
from askgraph.kinds.measured import LEVEL
from askgraph.kinds.several import Several
from askgraph.learner import Learner
from askgraph.support.arguments import listed


def annotate(data: Any, learner: Learner, key: str = "askgraph") -> None:
    """Write the predictions of a learner into an AnnData, or into a graph of PyTorch Geometric.

    Of an AnnData, ``obs[key]`` is the predicted label, a category; ``obs[f"{key}_probability"]`` its probability;
    ``obs[f"{key}_told"]`` says which labels were told. Categories of ordered classes have their order. Where a cell may have
    several classes, ``obs[key]`` has their names with a comma between them, and ``obs[f"{key}_CLASS"]`` the probability of each
    class. Of numbers, ``obs[key]`` is the mean, and ``obs[f"{key}_low"]`` and ``obs[f"{key}_high"]`` are the ends of a range that
    holds nine in ten answers.

    Of a ``torch_geometric.data.Data``, all are tensors on its device: ``data[key]`` the place of the predicted class among
    ``data[f"{key}_classes"]``, ``data[f"{key}_probabilities"]`` one column per class, and ``data[f"{key}_told"]`` a mask, such as
    ``data.train_mask`` is. Where a node may have several classes, ``data[key]`` has one column per class; numbers have
    ``data[f"{key}_low"]`` and ``data[f"{key}_high"]`` beside the mean.

    Parameters
    ----------
    data : AnnData or torch_geometric.data.Data
        What the learner's graph came from, as in ``askgraph.Graph(data)``. Cells are found by their names, so they may be some
        of the nodes in any order; a graph has the learner's nodes.
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
    pyg = library(data) == "torch_geometric" and hasattr(data, "num_nodes")
    if not isinstance(learner, Learner) or not (pyg or hasattr(data, "obs_names")):
        raise LabelError(
            f"a {type(data).__name__} and a {type(learner).__name__}: give an AnnData or a torch_geometric Data, and a learner "
            "whose nodes are its cells or nodes"
        )
    if not learner.labels:
        raise LabelError("no label was told yet: there is nothing to write")
    (_write_tensors if pyg else _write_columns)(data, learner, key)


def _write_columns(adata: Any, learner: Learner, key: str) -> None:
    frame = learner.to_frame([_plain(name) for name in listed(adata.obs_names, "obs_names", LabelError)])
    labels = frame.pop("label")
    if isinstance(learner.answers, Several):
        frame.columns = frame.columns.str.removeprefix("probability_")
        labels = labels.map(lambda names: ", ".join(map(str, names))).astype("category")
    adata.obs[key] = labels.array
    for name in frame:
        adata.obs[f"{key}_{name}"] = frame[name].to_numpy()


def _write_tensors(data: Any, learner: Learner, key: str) -> None:
    import torch

    if data.num_nodes != learner.graph.n_nodes:
        raise LabelError(
            f"{data.num_nodes} nodes, and the learner has {learner.graph.n_nodes}: give the graph it was made of"
        )
    device, kind = data.edge_index.device, learner.answers

    def write(name: str, values: Any) -> None:
        data[f"{key}{name}"] = torch.as_tensor(np.asarray(values), device=device)

    if not kind.by_class:
        for name, values in zip(("", "_low", "_high"), learner.predict(interval=LEVEL), strict=True):
            write(name, values.astype(np.float32))
    else:
        classes = learner.classes
        several, place = isinstance(kind, Several), {name: k for k, name in enumerate(classes)}
        best = learner.predict()
        write("", [[name in names for name in classes] for names in best] if several else [place[one] for one in best])
        write("_probabilities", learner.probabilities().astype(np.float32))
        data[f"{key}_classes"] = classes
    told = np.zeros(data.num_nodes, dtype=bool)
    told[list(learner.history.told)] = True
    write("_told", told)


def _plain(name: Any) -> Hashable:
    """Return a name as a graph keeps it."""
    return name.item() if isinstance(name, np.generic) else name
