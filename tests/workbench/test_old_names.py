"""Names of a project that moved to its parts: the old ones work for a release, and say the new one."""

from __future__ import annotations

import pytest

from askgraph.workbench.old_names import OLD_NAMES
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.projects import make


@pytest.fixture
def project(tmp_path):
    with Project.open(make(tmp_path / "p.ask", 12, classes=("a", "b")), write=True) as opened:
        yield opened


@pytest.mark.parametrize("name", OLD_NAMES)
def test_an_old_name_works_and_says_the_new_one(project, name):
    with pytest.warns(FutureWarning, match=rf"Project\.{name} is called Project\."):
        getattr(project, name)


def test_old_names_do_what_they_did(project):
    with pytest.warns(FutureWarning, match="old name"):
        assert project.item(project.place("i3")) == project.items.item(3)
    with pytest.warns(FutureWarning, match="old name"):
        project.change("ann", "rename", "a", "c")
    assert project.answers.classes == ["c", "b"]
    with pytest.warns(FutureWarning, match="old name"):
        assert len(project.alternatives(3)) == 3


def test_files_of_guesses_were_called_suggestions(tmp_path):
    (tmp_path / "t.csv").write_text("id,x\n" + "".join(f"i{k},{k}\n" for k in range(9)))
    (tmp_path / "gpt.csv").write_text("id,label\ni1,low\ni8,high\n")
    with pytest.warns(FutureWarning, match="guesses="):
        Project.create(
            tmp_path / "p.ask", Source(tmp_path / "t.csv", features=["x"]), suggestions=[tmp_path / "gpt.csv"]
        )
    with Project.open(tmp_path / "p.ask") as project:
        assert project.answers.classes == ["high", "low"]
