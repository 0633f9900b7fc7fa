"""Frames of pandas in and out: labels as a Series, predictions as a frame, and a note on a column that holds the answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import askgraph as ag

NAMES = [f"n{k}" for k in range(12)]
EDGES = [(NAMES[k], NAMES[k + 1]) for k in range(11)]
TOLD = {
    "classes": {"n0": "left", "n11": "right", "n5": "left"},
    "ordered": {"n0": 1, "n11": 3, "n5": 2},
    "several": {"n0": ("a",), "n11": ("a", "b"), "n5": ()},
    "numbers": {"n0": 1.5, "n11": 9.0, "n5": 4.0},
}


def told(kind):
    classes = [1, 2, 3] if kind == "ordered" else None
    learner = ag.Learner(ag.Graph.from_edges(EDGES, nodes=NAMES), answers=kind, classes=classes, rng=0)
    learner.tell_all(TOLD[kind])
    return learner


@pytest.mark.parametrize("kind", TOLD)
@pytest.mark.parametrize("nodes", [None, ["n7", "n0", "n7"]])
def test_a_frame_has_what_the_learner_says(kind, nodes):
    learner = told(kind)
    frame, asked = learner.to_frame(nodes), nodes or NAMES
    assert frame.index.tolist() == asked
    assert frame["told"].tolist() == [node in TOLD[kind] for node in asked]
    assert frame["label"].tolist() == learner.predict(asked).tolist()
    if kind == "numbers":
        _, low, high = learner.predict(asked, interval=0.9)
        np.testing.assert_array_equal(frame[["low", "high"]].to_numpy(), np.column_stack([low, high]))
    elif kind == "several":
        p = frame[[f"probability_{name}" for name in learner.classes]].to_numpy()
        np.testing.assert_array_equal(p, learner.probabilities(asked))
    else:
        p = learner.probabilities(asked)
        found = [learner.classes.index(label) for label in learner.predict(asked)]
        np.testing.assert_array_equal(frame["probability"], p[np.arange(len(p)), found])
    assert frame["label"].dtype == ("category" if kind in ("classes", "ordered") else frame["label"].dtype)


def test_categories_of_ordered_classes_have_their_order():
    learner = ag.Learner(ag.chain(5), answers=ag.Ordered(["low", "mid", "high"]), rng=0)
    learner.tell_all({0: "high", 4: "low"})
    labels = learner.to_frame()["label"]
    assert labels.cat.ordered
    assert labels.cat.categories.tolist() == ["low", "mid", "high"]
    assert labels.max() == "high"


def test_without_a_label_there_is_no_frame():
    with pytest.raises(ag.LabelError, match="no label was told yet"):
        ag.Learner(ag.chain(5)).to_frame()


def test_a_frame_goes_in_and_comes_back_by_its_index():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)) + 6 * np.repeat([[0], [1]], 20, axis=0), columns=["x", "y2"])
    frame.index = [f"row {k}" for k in rng.permutation(40)]
    learner = ag.Learner(ag.nearest_neighbors(frame), rng=0)
    labels = pd.Series(pd.NA, index=frame.index, dtype="object")
    labels.iloc[[0, 39]] = ["one", "two"]
    learner.tell_all(labels)
    assert learner.labels == {frame.index[0]: "one", frame.index[39]: "two"}
    joined = frame.join(learner.to_frame())
    assert joined["label"].tolist() == ["one"] * 20 + ["two"] * 20


@pytest.mark.parametrize(("dtype", "kind"), [("Int64", int), ("boolean", bool), ("category", str), ("string", str)])
def test_a_series_of_any_type_tells_what_its_cells_say(dtype, kind):
    values = {"Int64": [1, 0], "boolean": [True, False], "category": ["a", "b"], "string": ["a", "b"]}[dtype]
    learner = ag.Learner(ag.chain(5), rng=0)
    learner.tell_all(pd.Series([values[0], None, values[1]], index=[0, 2, 4], dtype=dtype))
    assert learner.labels == {0: values[0], 4: values[1]}
    assert {type(label) for label in learner.labels.values()} == {kind}


def test_spot_checks_and_noise_come_as_series_too():
    one, other = (ag.Learner(ag.chain(6), rng=0) for _ in range(2))
    labels, noise, before = {0: "a", 5: "b"}, {0: 0.5}, {5: "a"}
    one.tell_all(labels, before, noise)
    other.tell_all(*map(pd.Series, (labels, before, noise)))
    assert other.history.log == one.history.log
    np.testing.assert_array_equal(other.probabilities(), one.probabilities())


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (pd.Series(["a", "b"], index=[1, 1]), "1 comes twice in the index"),
        (pd.Series(["a"], index=["ann"]), "ann"),
        (pl.Series(["a", "b"]), "or a pandas Series"),
        (["a", "b"], "or a pandas Series"),
    ],
)
def test_a_series_that_names_no_node_is_refused(labels, said):
    learner = ag.Learner(ag.chain(5), rng=0)
    with pytest.raises(ag.AskgraphError, match=said):
        learner.tell_all(labels)
    assert learner.labels == {}


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("name", ["label", "Class", "target", "species"])
def test_a_column_that_may_hold_the_answer_is_noted(frame_of, name):
    x = np.random.default_rng(0).normal(size=20)
    frame, plain = frame_of({"x": x, name: np.arange(20) % 2}), frame_of({"x": x, "width": np.arange(20) % 2})
    makers = (
        ag.nearest_neighbors,
        lambda X: ag.radial_basis(X, 1.0),
        ag.pearson,
        lambda X: ag.Learner(features=X).graph,
        lambda X: ag.Learner(ag.chain(20), features=X).graph,
    )
    for make in makers:
        assert [note for note in make(frame).notes if f"column {name!r} may hold labels" in note]
        assert not [note for note in make(plain).notes if "may hold labels" in note]
