"""Projects whose items have features beside a graph: kept in the file, used by the learner, and not missed in older files."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import askgraph as ag
from askgraph.errors import FileError
from askgraph.learner.settings import Settings
from askgraph.priors.summed import Summed
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source

WORDS = {"animal": "cat dog mouse fur tail paw".split(), "sea": "ship wave sail harbor salt storm".split()}  # noqa: SIM905 -- two lists of words
TRUTH = ["animal" if k % 2 else "sea" for k in range(30)]


def table(folder):
    rng = np.random.default_rng(0)
    lines = [f"{k},{' '.join(rng.choice(WORDS[kind], 5))}" for k, kind in enumerate(TRUTH)]
    (folder / "t.csv").write_text("id,about\n" + "\n".join(lines) + "\n")
    ag.Graph.from_edges([(str(k), str((k + 2) % 30)) for k in range(30)]).save(folder / "rings.npz")
    return folder / "t.csv"


def answered(path, source, count=10, **options):
    Project.create(path, source, **options)
    with Project.open(path, write=True) as project:
        for _ in range(count):
            (place,) = project.ask()
            project.say("me", str(place), "label", TRUTH[place])
        right = project.predictions().labels.tolist()
        return project.learner.field.origin, np.mean(np.array(right) == TRUTH)


def test_text_beside_a_graph_is_kept_and_counts_where_labels_ask_for_it(tmp_path):
    path, source = tmp_path / "p.ask", Source(table(tmp_path), graph=tmp_path / "rings.npz", text="about")
    _, right = answered(path, source)
    assert right > 0.9
    with Project.open(path) as project:
        features, again = project.store.features(), project.learner
        assert len(again.judge.choice.losses) == 2
        assert len(again.labels) == 10
        assert features.shape[0] == 30


def test_text_alone_counts_once_leave_one_out_asks_for_it(tmp_path):
    _, right = answered(tmp_path / "p.ask", Source(table(tmp_path), text="about"))
    with Project.open(tmp_path / "p.ask") as project:
        assert len(project.learner.judge.choice.losses) == 2
        assert project.learner.judge.choice.labels == 8
    assert right > 0.9


def test_a_sampler_that_cannot_use_features_goes_without(tmp_path):
    source = Source(table(tmp_path), graph=tmp_path / "rings.npz", text="about")
    origin, _ = answered(tmp_path / "p.ask", source, settings=Settings.of("tv"))
    assert not isinstance(origin, Summed)


def test_numbers_alone_and_files_of_the_version_before_have_none(tmp_path):
    shutil.copy(Path(__file__).parents[1] / "data" / "project.ask", tmp_path / "old.ask")
    with Project.open(tmp_path / "old.ask", write=True) as project:
        assert project.store.features() is None
        assert project.ask()
    (tmp_path / "n.csv").write_text("a,b\n" + "\n".join(f"{k % 5},{k}" for k in range(20)) + "\n")
    Project.create(tmp_path / "n.ask", Source(tmp_path / "n.csv", features=["a", "b"]))
    with Project.open(tmp_path / "n.ask") as project:
        assert project.store.features() is None


def test_damaged_features_are_reported(tmp_path):
    Project.create(tmp_path / "p.ask", Source(table(tmp_path), text="about"))
    with Project.open(tmp_path / "p.ask", write=True) as project:
        project.store.keep("features", np.zeros(31, dtype=np.float32))
        with pytest.raises(FileError, match="features are damaged"):
            project.store.features()
