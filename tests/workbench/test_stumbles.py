"""What strangers stumbled over in projects of every kind: each is refused in a sentence, or comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from askgraph.answers.shares import one_of
from askgraph.cli.app import app
from askgraph.errors import LabelError
from askgraph.kinds.numbers import Numbers
from askgraph.workbench import report
from askgraph.workbench.exchange import column_rows
from askgraph.workbench.export import write_rows
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source

N = 24


@pytest.fixture
def make(tmp_path):
    def made(kind, classes=(), name="p", **columns):
        rows = [[f"r{k}", str(k), *(str(cells[k % len(cells)]) for cells in columns.values())] for k in range(N)]
        table = tmp_path / f"{name}.csv"
        table.write_text(
            "\n".join(",".join(f'"{cell}"' for cell in row) for row in [["id", "x", *columns], *rows]) + "\n"
        )
        source = Source(table, features=["x"], label=next(iter(columns), None))
        Project.create(tmp_path / f"{name}.ask", source, classes, answers=kind)
        return tmp_path / f"{name}.ask"

    return made


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    return done.output


@pytest.mark.parametrize("kind", ["classes", "ordered"])
def test_an_answer_that_leaves_open_which_class_may_be_the_first(make, kind):
    with Project.open(make(kind, ["a", "b", "c"]), write=True) as project:
        project.say("ann", "r1", "label", one_of("a", "b"))
        assert report.progress(project, project.predictions())["labels"] == 1


@pytest.mark.parametrize("least", ["-5", "0", "nan", "  ", "x"])
def test_what_no_number_can_be_is_not_sought(make, least):
    with Project.open(make(Numbers(link="log")), write=True) as project:
        project.say("ann", "r1", "label", 3.0)
        with pytest.raises(LabelError):
            project.log.change("ann", "find", None, least)
        assert project.model.sought is None
        report.progress(project, project.predictions())


CELLS = ["a;b", "b;c", "a", "b", "c", "a;b;c", "", "b"]


@pytest.mark.parametrize(
    ("classes", "cells", "found"),
    [
        (["a", "b", "c"], [*CELLS, "a;d"], {"a", "b", "c", "d"}),
        ((), [*CELLS, "a;d"], {"a", "b", "c", "d"}),
        ((), ["1;2", "1", "2", "3;1"], {"1", "2", "3"}),
        (["a;b", "c"], ["a;b", "c"], {"a;b", "c"}),
    ],
    ids=["one undeclared", "none declared", "numbers", "a class with a mark"],
)
def test_cells_are_taken_apart_where_one_class_is_new_too(make, classes, cells, found):
    with Project.open(make("several", classes, lab=cells)) as project:
        assert set(project.answers.classes) == found


@pytest.mark.parametrize("kind", ["classes", "several", "ordered"])
@pytest.mark.parametrize("change", ["add", "rename", "merge", "describe", "key"])
def test_a_change_of_a_class_names_it(make, kind, change):
    with Project.open(make(kind, ["a", "b"]), write=True) as project:
        with pytest.raises(LabelError, match="name the class"):
            project.log.change("ann", change)
        assert project.answers.classes == ["a", "b"]


def test_a_scale_of_one_step_that_is_left_can_be_sought(make):
    with Project.open(make("ordered", ["bad", "fair", "good"]), write=True) as project:
        project.say("ann", "r1", "label", "good")
        project.say("ann", "r2", "label", "bad")
        project.log.change("ann", "find", "fair", "at least")
        project.log.change("ann", "merge", "bad", "fair")
        project.log.change("ann", "merge", "good", "fair")
        assert report.progress(project, project.predictions())["find"]["found"] == 2


@pytest.mark.parametrize(
    "classes", [["id", "bug"], ["label", "bug"], ["item", "labels"], ["1", "2", "3"], ["2019", "ok"], ["=a", "@z"]]
)
@pytest.mark.parametrize("suffix", ["csv", "xlsx", "jsonl", "parquet"])
def test_a_column_per_class_comes_back_whatever_classes_are_called(make, tmp_path, classes, suffix):
    path, file = make("several", classes), tmp_path / f"columns.{suffix}"
    told = {f"r{k}": tuple(sorted(name for j, name in enumerate(classes) if (k + j) % 3)) for k in range(12)}
    with Project.open(path, write=True) as project:
        for id, label in told.items():
            project.say("ann", id, "label", label)
        rows = list(column_rows(project, answered=True))
        write_rows(file, rows)
    assert [row["id"] for row in rows] == [f"r{k}" for k in range(N)]
    again = make("several", classes, name="again")
    run("tell", "--file", file, "-p", again, "--who", "bob")
    with Project.open(again) as project:
        assert {project.items.item(k).id: tuple(sorted(label)) for k, label in project.answers.labels.items()} == told


def test_a_class_that_a_spreadsheet_would_compute_comes_back_by_init(make, tmp_path):
    path, file = make("classes", ["a", "=c"]), tmp_path / "labels.csv"
    with Project.open(path, write=True) as project:
        project.say("ann", "r1", "label", "=c")
        project.say("ann", "r2", "label", "a")
    run("predict", "-p", path, "-o", file)
    Project.create(tmp_path / "again.ask", Source(file, features=["x"], label="label"), ["a", "=c"])
    with Project.open(tmp_path / "again.ask") as project:
        assert project.answers.classes == ["a", "=c"]


def test_numbers_are_shown_as_they_were_given(make):
    path = make(Numbers(unit="EUR"))
    run("tell", "r1", "1234567.89", "-p", path)
    run("tell", "r2", "1234568.89", "-p", path)
    said = run("history", "-p", path)
    assert "1234567.89 EUR" in said
    assert "1234568.89 EUR" in said


@pytest.mark.parametrize("text", ["inf", "5 USD", "EUR 5", "4 km", "1e400", "9" * 400])
def test_what_is_no_number_is_shown_as_it_was_typed(make, text):
    with Project.open(make(Numbers(unit="m"))) as project, pytest.raises(LabelError) as error:
        project.log.read(text)
    assert len(str(error.value)) < 150
    assert "such as inf" not in str(error.value)
    assert repr(text)[:6] in str(error.value) or text[:6] in str(error.value)


@pytest.mark.parametrize("said", [np.array("a"), np.array(2.5), np.array(["a"]), np.str_("a")])
def test_an_array_of_no_dimension_is_a_class_or_refused(make, said):
    with Project.open(make("several", ["a", "b"]), write=True) as project:
        try:
            project.say("ann", "r1", "label", said)
        except LabelError:
            assert not project.answers.labels
        else:
            assert project.answers.labels == {1: ("a",)}
