"""Whether a table or a graph suits: what speaks against it is named, and the verdict follows the labels."""

from __future__ import annotations

import re

import numpy as np
import pytest

from askgraph.errors import SettingError
from askgraph.workbench.source import Source
from askgraph.workbench.suitability import Trial, examine, is_graph_file


def table(path, rows, header="x,y,kind"):
    path.write_text(header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def blobs(rng, labels):
    """Forty points around each of two centers; the label of a point is that of its center, or a coin."""
    for k in range(80):
        center = k % 2
        yield f"{rng.normal(4 * center):.3f}", f"{rng.normal(4 * center):.3f}", labels(center)


def test_a_table_whose_labels_follow_its_columns_suits(tmp_path):
    rng = np.random.default_rng(0)
    path = table(tmp_path / "t.csv", blobs(rng, lambda center: "ab"[center]))
    found = examine(Source(path, label="kind"))
    assert found.verdict.startswith("does it suit? Yes")
    assert found.homophily > 0.9
    assert found.trial.helps
    assert found.trial.labels == 40
    assert min(found.trial.right, found.trial.by_questions) > 0.9
    assert found.lines()[-1].startswith("for experts: sampler influence, readout cautious, ridge ")
    others = "\n".join(found.lines()[:-1])
    assert not re.search("ridge|engine|hub|readout|sampler|shape", others), others
    assert "measured here" in found.speed
    assert found.improve == []


def test_a_table_whose_labels_are_coins_does_not_suit(tmp_path):
    rng = np.random.default_rng(1)
    path = table(tmp_path / "t.csv", blobs(rng, lambda center: rng.choice(["a", "b"])))
    found = examine(Source(path, label="kind"))
    assert found.verdict.startswith("does it suit? Not")
    assert any("no more often than chance" in line for line in found.improve)


def test_without_labels_only_labels_would_tell(tmp_path):
    path = table(tmp_path / "t.csv", [(k, k % 7, f"{k % 3}") for k in range(40)], "x,y,label")
    found = examine(Source(path))
    assert "only labels tell" in found.verdict
    assert found.trial is None
    assert "label has 3 values and no empty cell: labels that you have already? then give --label label" in found.found


def test_it_is_said_how_many_rows_repeat(tmp_path):
    path = table(tmp_path / "t.csv", [(k % 5, k % 2, "ab"[k % 2]) for k in range(40)])
    assert any(line.startswith("75% of the rows repeat") for line in examine(Source(path, label="kind")).found)


def test_columns_that_mislead_are_named(tmp_path):
    rows = [(k % 9 / 10, k % 5, 100000 * k, 7, "note") for k in range(40)] * 2
    path = table(tmp_path / "t.csv", rows, "x,y,serial,flat,remark")
    found = examine(Source(path, features=["x", "y", "serial", "flat"], scale="none"))
    said = "\n".join(found.lines())
    assert "'serial' is far wider than the others" in said
    assert "'flat' the same in every item" in said
    assert "40 items like an earlier one" in said
    assert "not compared: remark (short text)" in said
    assert "far wider" not in "\n".join(examine(Source(path, features=["x", "y", "serial"])).lines())


def test_a_graph_in_pieces_hardly_suits(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("source,target\n" + "".join(f"a{k},b{k}\n" for k in range(30)))
    assert is_graph_file(path)
    found = examine(Source(None, path))
    assert found.verdict.startswith("does it suit? Hardly")
    assert any("60 items in parts of fewer than 6" in line for line in found.improve)


def test_labels_of_a_graph_go_by_names(tmp_path):
    path = tmp_path / "g.csv"
    rng = np.random.default_rng(0)
    inside = [(f"{side}{a}", f"{side}{b}") for side in "lr" for a, b in rng.integers(0, 30, (120, 2)) if a != b]
    path.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in [*inside, ("l0", "r0")]))
    names = sorted({name for edge in inside for name in edge})
    found = examine(Source(None, path), {name: name[0] for name in names})
    assert found.verdict.startswith("does it suit? Yes")
    with pytest.raises(SettingError, match="no item has that id"):
        examine(Source(None, path), {"nobody": "l"})


def test_a_lead_that_may_be_chance_does_not_count():
    assert not Trial(10, 10, right=0.75, commonest=0.5).helps
    assert Trial(50, 1000, right=0.75, commonest=0.5).helps


def test_tables_and_graphs_are_told_apart(tmp_path):
    assert is_graph_file(tmp_path / "g.mtx")
    assert not is_graph_file(table(tmp_path / "t.csv", [(1, 2, 3)]))
    assert not is_graph_file(tmp_path / "pictures")


def test_no_more_labels_are_asked_for_than_there_are_items(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{k},{k % 3}\n" for k in range(12)))
    said = "\n".join(examine(Source(path)).lines())
    assert "Label all 12: they are few." in said
    assert not re.search(r"\b(20|50) (items|labels)", said), said
