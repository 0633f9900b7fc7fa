"""From neighbors of scanpy to annotated cells."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import askgraph as ag
from tests.helpers.clients import client


def cells(n=60):
    anndata = client("anndata")
    graph, kind = ag.communities((n // 2, n - n // 2), mean_degree=6, rng=0)
    adata = anndata.AnnData(np.zeros((n, 3)))
    adata.obs_names = [f"cell{k}" for k in range(n)]
    adata.obsp["connectivities"] = sp.csr_matrix(graph.weights, dtype=np.float32)
    return adata, np.array(["B cell", "T cell"])[kind]


def test_neighbors_are_the_graph_and_predictions_come_back():
    adata, truth = cells()
    learner = ag.Learner(ag.Graph(adata), rng=0)
    learner.tell_all({f"cell{k}": truth[k] for k in (0, 5, 40, 50)})
    ag.annotate(adata, learner, key="type")
    assert str(adata.obs["type"].dtype) == "category"
    assert (adata.obs["type"] == learner.predict()).all()
    np.testing.assert_allclose(adata.obs["type_probability"], learner.probabilities().max(axis=1))
    assert adata.obs_names[adata.obs["type_told"]].tolist() == ["cell0", "cell5", "cell40", "cell50"]
    part = adata[10:20].copy()
    ag.annotate(part, learner, key="again")
    assert (part.obs["again"].astype(str) == part.obs["type"].astype(str)).all()


def test_what_is_missing_is_named():
    adata, _ = cells()
    learner = ag.Learner(ag.Graph(adata), rng=0)
    with pytest.raises(ag.LabelError, match="no label"):
        ag.annotate(adata, learner)
    del adata.obsp["connectivities"]
    with pytest.raises(ag.GraphError, match=r"scanpy\.pp\.neighbors"):
        ag.Graph(adata)


def test_neighbors_under_another_key():
    scanpy = client("scanpy")
    adata, _ = cells()
    adata.X = np.random.default_rng(0).normal(size=(60, 3))
    del adata.obsp["connectivities"]
    scanpy.pp.neighbors(adata, n_neighbors=5)
    graph = ag.Graph(adata)
    assert graph.names[:2] == ("cell0", "cell1")
    assert graph.notes == ()
    assert graph.n_edges == sp.triu(adata.obsp["connectivities"], 1).nnz


def test_every_kind_of_answers_is_written():
    names = [f"cell{k}" for k in range(9)]
    graph = ag.chain(9)
    adata = SimpleNamespace(obs_names=list(range(9)), obs=pd.DataFrame(index=names))
    numbers, several, ordered = (ag.Learner(graph, answers=kind, rng=0) for kind in ("numbers", "several", "ordered"))
    numbers.tell_all({0: 1.0, 4: 2.0, 8: 4.0})
    several.tell_all({0: ["a", "b"], 4: ["b"], 8: []})
    ordered.tell_all({0: 3, 8: 1})
    for key, learner in (("dose", numbers), ("types", several), ("stage", ordered)):
        ag.annotate(adata, learner, key=key)
    obs = adata.obs
    assert (obs["dose_low"] <= obs["dose"]).all()
    assert (obs["dose"] <= obs["dose_high"]).all()
    np.testing.assert_array_equal(obs["dose"], numbers.predict())
    assert obs["types"].tolist()[0] == "a, b"
    np.testing.assert_array_equal(obs["types_b"], several.probabilities()[:, several.classes.index("b")])
    assert obs["stage"].cat.categories.tolist() == [1, 3]
    assert obs["stage"].cat.ordered
    assert [obs[f"{key}_told"].sum() for key in ("dose", "types", "stage")] == [3, 3, 2]
