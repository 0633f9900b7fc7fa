"""From a graph of PyTorch Geometric to its masks and predictions."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from tests.helpers.clients import client

EDGES = [(k, k + 1) for k in range(11)]
TOLD = {
    "classes": {0: "left", 11: "right"},
    "ordered": {0: 1, 11: 3, 5: 2},
    "several": {0: ("a",), 11: ("a", "b"), 5: ()},
    "numbers": {0: 1.5, 11: 9.0, 5: 4.0},
}


def annotated(kind, key="askgraph"):
    torch, Data = client("torch"), client("torch_geometric.data").Data
    data = Data(edge_index=torch.tensor(EDGES).T, x=torch.zeros(12, 2))
    learner = ag.Learner(ag.Graph(data), answers=kind, classes=[1, 2, 3] if kind == "ordered" else None, rng=0)
    learner.tell_all(TOLD[kind])
    ag.annotate(data, learner, key)
    data.validate()
    return torch, data, learner


@pytest.mark.parametrize("kind", ["classes", "ordered"])
def test_classes_are_places_among_their_names(kind):
    torch, data, learner = annotated(kind)
    assert data.askgraph.dtype == torch.int64
    assert [data.askgraph_classes[k] for k in data.askgraph] == learner.predict().tolist()
    np.testing.assert_allclose(data.askgraph_probabilities.numpy(), learner.probabilities(), rtol=1e-6)


@pytest.mark.parametrize("kind", TOLD)
def test_the_mask_says_what_was_told_and_serves_to_train(kind):
    torch, data, _ = annotated(kind)
    assert data.askgraph_told.dtype == torch.bool
    assert data.askgraph_told.nonzero().ravel().tolist() == sorted(TOLD[kind])
    assert data.subgraph(data.askgraph_told).num_nodes == len(TOLD[kind])


def test_several_classes_have_a_column_each():
    torch, data, learner = annotated("several", key="topic")
    assert data.topic.dtype == torch.bool
    for row, names in zip(data.topic, learner.predict(), strict=True):
        assert tuple(name for name, there in zip(data.topic_classes, row, strict=True) if there) == names
    np.testing.assert_allclose(data.topic_probabilities.numpy(), learner.probabilities(), rtol=1e-6)


def test_numbers_have_their_range():
    _, data, learner = annotated("numbers")
    for name, values in zip(("askgraph", "askgraph_low", "askgraph_high"), learner.predict(interval=0.9), strict=True):
        np.testing.assert_allclose(data[name].numpy(), values, rtol=1e-6)
    assert "askgraph_classes" not in data


def test_another_graph_and_one_of_several_types_are_refused():
    torch, pyg = client("torch"), client("torch_geometric.data")
    learner = ag.Learner(ag.chain(5), rng=0)
    data = pyg.Data(edge_index=torch.tensor(EDGES).T, num_nodes=12)
    with pytest.raises(ag.LabelError, match="no label was told"):
        ag.annotate(data, learner)
    learner.tell(0, "a")
    with pytest.raises(ag.LabelError, match="12 nodes, and the learner has 5"):
        ag.annotate(data, learner)
    with pytest.raises(ag.LabelError, match="give an AnnData or a torch_geometric Data"):
        ag.annotate({"x": 1}, learner)
    assert "askgraph" not in data
    mixed = pyg.HeteroData()
    mixed["paper"].num_nodes = 3
    mixed["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(ag.GraphError, match=r"several types: give one graph of it, such as data\.to_homogeneous\(\)"):
        ag.Graph(mixed)
    assert ag.Graph(mixed.to_homogeneous()).n_edges == 2
