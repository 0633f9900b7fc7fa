"""A typed program of a user passes the strictest checks."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = '''
"""A program with most of what a first user writes."""

import numpy as np

import askgraph as ag

X = np.random.default_rng(0).normal(size=(40, 3))
graph: ag.Graph = ag.nearest_neighbors(X, k=5)
learner = ag.Learner(graph, rng=0)
for _ in range(4):
    node = learner.ask()
    assert isinstance(node, int)
    learner.tell(node, "a" if X[node, 0] > 0 else "b")
estimate: ag.ErrorEstimate = learner.judge.expected_error()
print(learner.predict(), learner.probabilities().shape, estimate.value, ag.chain(5).n_nodes)
y = np.where(X[:, 0] > 0, 1, 0)
y[10:] = -1
print(ag.GraphClassifier().fit(X, y).predict(X))
try:
    learner.tell(99, "a")
except ag.LabelError as error:
    print(error)
'''


@pytest.mark.long
@pytest.mark.slow
def test_a_program_of_a_user_passes_mypy_strict(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--ignore-missing-imports",
        "--cache-dir",
        str(tmp_path),
        "program.py",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False)
    assert done.returncode == 0, done.stdout
    ran = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stderr
