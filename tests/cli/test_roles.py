"""The commands about people: roles with their passwords, and taking back what somebody said since a time."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.errors import LabelError
from askgraph.workbench.passwords import Passwords
from askgraph.workbench.project import Project
from tests.helpers.projects import make
from tests.helpers.serving import answer, make_project, serving


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("ASKGRAPH_PROJECT", str(tmp_path / "items.ask"))
    return make(tmp_path / "items.ask", classes=["a", "b"])


def run(*words, typed=None):
    found = CliRunner().invoke(app, list(words), input=typed, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


def test_a_role_comes_with_a_password_that_is_shown_once(path):
    assert "nobody has a role" in run("role")
    said = run("role", "ann", "lead")
    password = re.search("shown this once: ([a-z0-9-]{23})", said)[1]
    assert Passwords(path).fits("ann", password)
    assert password not in run("role")
    assert json.loads(run("role", "--json")) == [{"person": "ann", "role": "lead", "password": True}]
    assert run("role", "ann", "lead") != said  # a lost one is set anew
    assert not Passwords(path).fits("ann", password)
    run("role", "emil", "labeler", "--ask", typed="my own words\nmy own words\n")
    assert Passwords(path).fits("emil", "my own words")
    assert "has no role anymore" in run("role", "ann", "none")
    assert Passwords(path).people == ["emil"]
    with Project.open(path) as project:
        assert project.answers.roles == {"emil": "labeler"}


@pytest.mark.parametrize("words", [("ann",), ("ann", "boss"), ("ann", "none"), ("", "lead"), ("Emil", "lead")])
def test_a_role_that_cannot_be_given_says_what_to_do(path, words):
    run("role", "emil", "labeler")
    with pytest.raises(LabelError, match=r"give|write 'emil'|has no role"):
        run("role", *words)


def test_what_a_person_said_since_a_time_is_counted_asked_for_and_taken_back(path):
    with Project.open(path, write=True) as project:
        for k in range(3):
            project.say("emil", f"i{k}", "label", "a")
    said = run("undo", "--who", "emil", "--since", "2020-01-01", typed="n\n")
    assert "emil gave 3 answers to 3 items since 2020-01-01 00:00" in said
    assert "nothing was taken back" in said
    assert "taken back: 3 answers of emil; askgraph undo --who emil --back" in run(
        "undo", "--who", "emil", "--since", "2020-01-01 00:00", typed="y\n"
    )
    assert "no answer since" in run("undo", "--who", "emil", "--since", "2020-01-01")
    assert "given back: 3 answers of emil" in run("undo", "--who", "emil", "--back")
    assert "nothing of emil was taken back" in run("undo", "--who", "emil", "--back")
    for words in (("--since", "soon"), ("--since", "2999-01-01"), ("--since", "2020-01-01", "--back")):
        with pytest.raises(Exception, match=r"is not a time|still to come|leave one of them out"):
            run("undo", "--who", "emil", *words)
    with Project.open(path) as project:
        assert len(project.answers.labels) == 3


@pytest.mark.server
def test_beside_a_running_server_the_commands_go_through_it(tmp_path, monkeypatch):
    path = make_project(tmp_path)
    monkeypatch.setenv("ASKGRAPH_PROJECT", str(path))
    with serving(path) as server, server.client() as client:
        answer(client, "n1", "east", "emil")
        password = re.search("shown this once: ([a-z0-9-]+)", run("role", "emil", "labeler"))[1]
        entered = client.post("/login", data={"who": "emil", "password": password})
        assert entered.status_code == 303
        assert "taken back: 1 answer of emil" in run("undo", "--who", "emil", "--since", "2020-01-01", "--yes")
        assert client.get("/api/state?who=me").json()["labels"] == 0
        assert "given back: 1 answer of emil" in run("undo", "--who", "emil", "--back")
        assert client.get("/api/state?who=me").json()["labels"] == 1
        run("role", "emil", "none")
        server.process.terminate()
        said, _ = server.process.communicate(timeout=60)
    assert password not in said


@pytest.mark.server
def test_a_public_address_needs_a_password_of_all_or_of_somebody(path):
    run("role", "ann", "lead")
    with serving(path, "--host", "0.0.0.0", "--port", "0") as server:
        assert "token" not in server.url
