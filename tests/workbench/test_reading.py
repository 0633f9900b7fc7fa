"""A project that is read while others write: frames, learner and report are those of the commands, at every look."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli.app import app
from askgraph.workbench.client import open_writer
from askgraph.workbench.growing import discard, prepare_addition
from askgraph.workbench.report import to_sign
from askgraph.workbench.source import Source

ROWS = [f"f{k},{k % 2 * 9 + k / 10},note {k}" for k in range(20)]
KINDS = {
    "classes": (("tall", "wide"), "tall", "wide"),
    "ordered": (("low", "mid", "high"), "low", "high"),
    "several": (("a", "b"), ("a",), ("a", "b")),
    "numbers": ((), 1.5, 9.0),
}


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def made(kind="classes"):
        (tmp_path / "items.csv").write_text("\n".join(["id,width,note", *ROWS]))
        source = Source(tmp_path / "items.csv", features=["width"], neighbors=3)
        ag.Project.create(tmp_path / "items.ask", source, classes=KINDS[kind][0], answers=kind)
        return tmp_path / "items.ask"

    return made


@pytest.mark.parametrize("kind", KINDS)
def test_frames_are_what_predict_writes(make, tmp_path, kind):
    path, (_, one, other) = make(kind), KINDS[kind]
    with ag.Project.open(path, write=True) as project:
        project.say_all("ann", [("f0", "label", one), ("f1", "label", other)])
    assert CliRunner().invoke(app, ["predict", "-p", str(path), "-o", "out.csv"]).exit_code == 0
    with (tmp_path / "out.csv").open() as file:
        written = list(csv.DictReader(file))
    with ag.open_project(path) as opened:
        frame, polars = opened.to_pandas(), opened.to_polars()
        assert frame.index.tolist() == polars["id"].to_list() == [row["id"] for row in written]
        assert [frame.index.name, *frame.columns] == polars.columns == list(written[0])
        assert frame["source"].tolist() == [row["source"] for row in written]
        text = ["|".join(label) if isinstance(label, list) else str(label) for label in frame["label"]]
        assert text == [row["label"].replace("(none)", "") for row in written]
        assert opened.report().figures == to_sign(opened.project)
        assert np.allclose(opened.learner.field.spread.variance, frame["variance"], rtol=1e-3)


def test_it_sees_what_others_write_meanwhile(make, tmp_path):
    path = make()
    with ag.open_project(path) as opened:
        assert opened.learner.labels == {}
        assert repr(opened).endswith("20 items, 0 labels)")
        with open_writer(path) as writer:
            writer.say("ann", [("f0", "label", "tall"), ("f1", "label", "wide")])
        assert opened.learner.labels == {0: "tall", 1: "wide"}
        assert opened.to_pandas().loc["f1", "label"] == "wide"
        with open_writer(path) as writer:
            writer.change("ann", "rename", "wide", "broad")
        assert opened.to_pandas().loc["f1", "label"] == "broad"
        with open_writer(path) as writer:
            writer.undo("ann")
        assert opened.learner.labels == {0: "tall"}
        (tmp_path / "more.csv").write_text("id,width,note\nnew,3.5,more\n")
        with ag.Project.open(path) as project:
            addition = prepare_addition(project, tmp_path / "more.csv")
        with open_writer(path) as writer:
            assert writer.add(addition.path) == 1
        discard(addition.path)
        assert "new" in opened.to_pandas().index
        with open_writer(path) as writer:
            writer.remove(["f3", "f4"])
        assert len(opened.to_pandas()) == 19
        assert opened.to_polars().height == 19


def test_it_writes_nothing_and_locks_nobody_out(make):
    path = make()
    with ag.open_project(path) as opened, ag.Project.open(path, write=True) as project:
        project.say("ann", "f0", "label", "tall")
        with pytest.raises(ag.BusyError, match="readonly"):
            opened.project.store._execute("DELETE FROM about")
        assert opened.learner.labels == {0: "tall"}


def test_a_notebook_shows_a_card_and_the_report_without_scripts(make):
    with ag.open_project(make()) as opened:
        assert "20" in opened._repr_html_()
        shown = opened.report("de")._repr_html_()
        assert shown.startswith('<iframe sandbox srcdoc="&lt;!doctype html&gt;')
        assert opened.report("de").html != opened.report().html
        with pytest.raises(ag.SettingError, match="choose from en, de"):
            opened.report("fr")


def test_no_project_is_said(tmp_path):
    with pytest.raises(ag.FileError, match=r"nothing\.ask"):
        ag.open_project(tmp_path / "nothing.ask")
