"""Files of the version before open and go on with the same question: tests/data was written before modules moved into packages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import askgraph as ag

DATA = Path(__file__).parents[1] / "data"
SAID = json.loads((DATA / "said.json").read_text())


@pytest.mark.parametrize("name", ["plain", "state", "probes", "tuned", "features"])
def test_a_learner_of_the_version_before_goes_on_with_the_same_question(name):
    learner, said = ag.Learner.load(DATA / f"learner_{name}.npz"), SAID[name]
    assert [[node, label] for node, label in learner.labels.items()] == said["labels"]
    assert learner.ask(3) == said["ask"]
    assert learner.predict().tolist() == said["predict"]
    error = learner.judge.expected_error()  # another estimate than that version made
    assert error.low <= error.value <= error.high
    learner.tell(said["ask"][0], "a")
    learner.undo()
    assert learner.ask(3) == said["ask"]


def test_features_of_the_version_before_keep_their_ridge_and_scale():
    """That version took a given δ as it was, in the unit of the merged graph; what it computed goes on with that."""
    learner = ag.Learner.load(DATA / "learner_features.npz")
    np.testing.assert_allclose(learner.probabilities(), SAID["features"]["probabilities"], atol=1e-6)
    origin = learner.field.origin
    assert origin.delta / origin.scale == pytest.approx(learner._settings.delta)


def test_a_project_of_the_version_before_goes_on_with_the_same_question(tmp_path):
    path, said = tmp_path / "project.ask", SAID["project"]
    shutil.copy(DATA / "project.ask", path)
    with ag.Project.open(path) as project:
        assert [int(item) for item in project.ask(2)] == said["ask"]
        assert [[item, label] for item, label in project.answers.labels.items()] == said["labels"]
        found = project.predictions()
        assert found.labels.tolist() == [found.classes[code] for code in said["decided"]]
    with ag.Project.open(path, write=True) as project:  # upgrades the file
        project.say("ann", "i25", "label", "right")
    with ag.Project.open(path) as project:
        assert len(project.answers.labels) == len(said["labels"]) + 1
