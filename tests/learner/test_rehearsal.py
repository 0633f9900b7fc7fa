"""A rehearsal on a GPU: asked for once where little is compiled, never elsewhere; the questions it asks are real ones."""

from types import SimpleNamespace

import pytest

import askgraph as ag
from askgraph.learner import rehearsal
from askgraph.plan import Sampler


@pytest.fixture
def started(monkeypatch):
    """Record the samplers of rehearsals that would be started."""
    found = []
    monkeypatch.setattr(rehearsal, "_started", lambda learner, utility: found.append(utility))
    return found


def prior(name):
    return SimpleNamespace(name=name)


def test_a_rehearsal_is_for_the_sparse_engine_where_little_is_compiled(started, monkeypatch, tmp_path):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "none"))
    for name in ("iterative", "gpu-dense", "gpu-sparse"):
        rehearsal.rehearse(ag.Learner, Sampler("msd"), prior(name))
    assert started == ["msd"]
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    for k in range(rehearsal.COMPILED):
        (tmp_path / f"{k}.cubin").touch()
    rehearsal.rehearse(ag.Learner, Sampler(), prior("gpu-sparse"))
    assert started == ["msd"]


def test_a_function_of_the_user_is_not_called_in_a_rehearsal(started, monkeypatch, tmp_path):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    rehearsal.rehearse(ag.Learner, Sampler(lambda field, rows, p: rows), prior("gpu-sparse"))
    assert started == ["influence"]


def test_a_rehearsal_asks_answers_and_predicts(monkeypatch):
    made = []

    def learner(*arguments, engine, **options):
        made.append(ag.Learner(*arguments, engine="dense", **options))
        return made[0]

    rehearsal._ask(learner, "tv")
    assert len(made[0].labels) == rehearsal.QUESTIONS
