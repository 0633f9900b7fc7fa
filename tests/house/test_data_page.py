"""The page Bring your data keeps its word: the files it makes and the two commands of each kind lead to a first question."""

from __future__ import annotations

import shlex

import pytest
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.workbench.project import Project
from tests.house.test_docs import ROOT, SHELL, blocks

pytestmark = pytest.mark.slow
PAGE = ROOT / "docs" / "data.md"


def test_two_commands_lead_from_each_kind_of_data_to_the_first_question(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (files,) = blocks(PAGE)
    exec(compile(files.code, str(PAGE), "exec"), {"__name__": "__main__"})
    kinds = [[shlex.split(line) for line in block.splitlines()] for block in SHELL.findall(PAGE.read_text())]
    assert len(kinds) >= 7
    for first, second in kinds:
        done = CliRunner().invoke(app, first[1:], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        assert second[:2] == ["askgraph", "label"]  # what opens the browser is only looked at: the project asks
        assert f"Label them in the browser with: {shlex.join(second)}" in done.output
        with Project.open(second[2]) as project:
            assert project.ask(), first
