"""Guesses of models in a project: read, checked, stored, shown, and no answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from askgraph.cli.app import app
from askgraph.errors import FileError
from askgraph.workbench import report
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source

ROWS = "id,x\n" + "".join(f"n{k},{k}\n" for k in range(12))
GUESSES = "item,label,score\n" + "".join(f"n{k},{'low' if k < 6 else 'high'},0.{k % 5}\n" for k in range(1, 12))


@pytest.fixture
def made(tmp_path):
    """A project of twelve numbers, low and high, and a table of guesses."""
    (tmp_path / "items.csv").write_text(ROWS)
    (tmp_path / "gpt.csv").write_text(GUESSES)
    Project.create(tmp_path / "items.ask", Source(tmp_path / "items.csv", neighbors=2), classes=["low", "high"])
    return tmp_path


def test_guesses_are_evidence_and_not_answers(made):
    with Project.open(made / "items.ask", write=True) as project:
        project.say("me", "n0", "label", "low")
        (line,) = project.suggest(made / "gpt.csv")
        assert line.startswith("gpt: 11 guesses")
        assert project.answers.labels == {0: "low"}
        assert len({0, *project.ask(3)}) == 4
        found = project.predictions()
    with Project.open(made / "items.ask") as again:
        assert (again.predictions().probabilities == found.probabilities).all()
        assert again.learner.guesses.sources[0].guesses == 11
        assert report.suggested(again, 6) == [{"label": "high", "by": "gpt (10% sure)"}]
        assert report.suggested(again, 0) == []
        worst = report.suspect_guesses(again, 3)
    assert len(worst) == 3
    assert worst[0].keys() == {"item", "title", "source", "label", "instead", "chance"}


def test_several_sources_of_one_file_and_of_several(made):
    (made / "two.csv").write_text("id,label,source\nn3,low,a rule\nn3,high,a model\nn4,,a rule\n")
    with Project.open(made / "items.ask", write=True) as project:
        project.suggest(made / "two.csv")
        lines = project.suggest(made / "gpt.csv")
        assert [line.partition(":")[0] for line in lines] == ["a model", "a rule", "gpt"]
        assert report.suggested(project, 3) == [
            {"label": "low", "by": "a rule, gpt (30% sure)"},
            {"label": "high", "by": "a model"},
        ]


def test_a_later_guess_of_a_source_replaces_an_earlier_one(made):
    with Project.open(made / "items.ask", write=True) as project:
        project.suggest(made / "gpt.csv")
        (made / "gpt.csv").write_text("item,label\nn3,high\n")
        project.suggest(made / "gpt.csv")
        assert report.suggested(project, 3) == [{"label": "high", "by": "gpt"}]
        assert project.learner.guesses.sources[0].guesses == 11


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,label\nn99,low\n", "no item of the project has this id: 'n99' on line 2"),
        ("item,label\nn1,middling\n", "not a class of the project .'low', 'high'.*: 'middling' on line 2"),
        ("item,label,score\nn1,low,1.5\n", "not a number from 0 to 1.*: '1.5' on line 2"),
        ("item,label,score\nn1,low,nan\n", "from 0 to 1"),
        ("name,label\nn1,low\n", "no column called item or id .columns: 'name', 'label'"),
        ("item,guess\nn1,low\n", "label"),
        ("item,label\nn1,\n", "no row has a label"),
    ],
)
def test_a_bad_table_is_refused_with_a_reason_and_changes_nothing(made, text, words):
    (made / "bad.csv").write_text(text)
    with Project.open(made / "items.ask", write=True) as project:
        with pytest.raises(FileError, match=words):
            project.suggest(made / "bad.csv")
        assert project.learner.guesses.sources == []
    source = Source(made / "items.csv", neighbors=2)
    with pytest.raises(FileError, match=words):
        Project.create(made / "new.ask", source, classes=["low", "high"], guesses=[made / "bad.csv"])
    assert not (made / "new.ask").exists()


def test_guesses_that_fit_are_taken_and_the_rest_is_named(made):
    unknown = "".join(f"x{k},low,\n" for k in range(5))
    (made / "some.csv").write_text(
        f"item,label,score\nn1,low,0.5\n{unknown}n2,middling,\nn3,low,50\nn1,high,\nn4,high,0\n"
    )
    said = [
        "some.csv: 5 rows left out, no item of the project has this id: 'x0' on line 3, 'x1' on line 4, 'x2' on line 5, …",
        "some.csv: 1 row left out, not a class of the project ('low', 'high'); rename it, or label an item so first: "
        "'middling' on line 8",
        "some.csv: 1 row left out, the score is not a number from 0 to 1; divide percentages by 100: '50' on line 9",
        "some.csv: 1 row left out, a second suggestion of one source for an item; keep one of them: 'n1' on line 10",
    ]
    with Project.open(made / "items.ask", write=True) as project:
        first, *left = project.suggest(made / "some.csv")
        assert first.startswith("some: 2 guesses")
        assert left == said
        assert {(one.item, one.label) for one in project.store.guesses()} == {(1, "low"), (4, "high")}
    source = Source(made / "items.csv", neighbors=2)
    Project.create(made / "new.ask", source, classes=["low", "high"], guesses=[made / "some.csv"])
    with Project.open(made / "new.ask") as project:
        assert project.about["read"][-4:] == said
        assert len(project.store.guesses()) == 2


@pytest.mark.parametrize("column", ["code", "item", "id"])
def test_items_are_guessed_and_told_by_the_column_of_ids_of_the_project(tmp_path, monkeypatch, column):
    from typer.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("code,x\n" + "".join(f"n {k},{k}\n" for k in range(12)))
    Path("said.csv").write_text(f"{column},label\nn 1,low\nn 9,high\n")
    run = CliRunner()
    made = run.invoke(app, ["init", "t.csv", "--classes", "low,high"]).stdout
    assert "ids are those of 'code'; --id names another column" in made
    assert "said: 2 guesses" in run.invoke(app, ["suggest", "said.csv"]).stdout
    assert run.invoke(app, ["tell", "--file", "said.csv"]).stdout == "saved: 2 answers\n"
    for command in (["relabel", "n 1", "high"], ["skip", "n 3"], ["remove", "n 4", "--yes"], ["tell", "n 5", "low"]):
        assert run.invoke(app, command).exit_code == 0
    with Project.open("t.ask") as project:
        assert {project.items.item(place).id: label for place, label in project.answers.labels.items()} == {
            "n 1": "high", "n 9": "high", "n 5": "low"
        }  # fmt: skip
        assert "n 4" not in project.store.ids()


def test_without_classes_those_guessed_are_the_classes(made):
    source = Source(made / "items.csv", neighbors=2)
    Project.create(made / "a.ask", source, guesses=[made / "gpt.csv"])
    Project.create(made / "b.ask", source)
    with Project.open(made / "b.ask", write=True) as project:
        project.suggest(made / "gpt.csv")
        assert project.answers.classes == ["high", "low"]
    for name in ("a.ask", "b.ask"):
        with Project.open(made / name) as project:
            assert project.answers.classes == project.learner.classes == ["high", "low"]


def test_a_project_of_the_version_before_goes_on(tmp_path):
    """The file in tests/data has no table of guesses: it opens to read, and to write."""
    path = tmp_path / "old.ask"
    shutil.copy(Path(__file__).parents[1] / "data" / "project.ask", path)
    with Project.open(path) as project:
        assert project.store.guesses() == []
        before, id = project.predictions().probabilities, project.store.ids()[0]
        label = project.answers.classes[0]
    (tmp_path / "model.csv").write_text(f"item,label\n{id},{label}\n")
    with Project.open(path, write=True) as project:
        assert (project.predictions().probabilities == before).all()
        assert project.suggest(tmp_path / "model.csv")


def test_commands(made, capsys, monkeypatch):
    from typer.testing import CliRunner

    monkeypatch.chdir(made)
    run = CliRunner()
    assert "nothing is worth a second look" in run.invoke(app, ["review"]).stdout
    assert "gpt: 11 guesses" in run.invoke(app, ["suggest", "gpt.csv"]).stdout
    assert "none compared with a label yet" in run.invoke(app, ["review"]).stdout
    run.invoke(app, ["tell", "n0", "low"])
    assert "instead" in run.invoke(app, ["review", "-n", "2"]).stdout
    made_anew = run.invoke(app, ["init", "items.csv", "-o", "new.ask", "--suggestions", "gpt.csv"]).stdout
    assert "gpt: 11 guesses" in made_anew
