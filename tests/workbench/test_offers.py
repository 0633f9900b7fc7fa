"""A kind of answers is offered where a column of labels looks like it, and nowhere else."""

from __future__ import annotations

import csv

import pytest
from sklearn import datasets

from askgraph.errors import SettingError
from askgraph.workbench.items import read_items
from askgraph.workbench.offers import offer_answers
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source, read_columns
from askgraph.workbench.suitability import examine

N = 48


def table_of(folder, **columns):
    path = folder / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    return path


def cycle(*cells):
    return [cells[k % len(cells)] for k in range(N)]


def offered(folder, cells, name="kind"):
    found = offer_answers(read_columns(table_of(folder, x=range(len(cells)), **{name: cells})), [name])
    return found and (found.answers, found.classes)


@pytest.mark.parametrize(("cells", "offer"), [
    (cycle("a|b", "b", "", "c|a"), ("several", ["a", "b", "c"])),
    (cycle("a; b", "b", "c;a"), ("several", ["a", "b", "c"])),
    (cycle("sports, money", "money", "sports", "war, money"), ("several", ["money", "sports", "war"])),
    ([k / 7 for k in range(N)], ("numbers", [])),
    ([3 * k for k in range(N)], ("numbers", [])),
    (cycle("3", "1", "5", "2", "4"), ("ordered", ["1", "2", "3", "4", "5"])),
    (cycle("High", "low", "medium", ""), ("ordered", ["low", "medium", "High"])),
    (cycle("gut", "sehr gut", "schlecht"), ("ordered", ["schlecht", "gut", "sehr gut"])),
    (cycle("poor", "excellent", "good", "fair"), ("ordered", ["poor", "fair", "good", "excellent"])),
], ids=str)  # fmt: skip
def test_a_column_is_offered_as_the_kind_it_looks_like(tmp_path, cells, offer):
    assert offered(tmp_path, cells) == offer


@pytest.mark.parametrize("cells", [
    cycle("setosa", "virginica", "versicolor"),
    cycle("Doe, John", "Roe, Jane"),
    cycle("Paris", "New York, NY", "London, UK", "Rome, IT"),
    cycle("red, large", "red, small", "blue, large", "blue, small"),
    [f"a sentence, number {k}" if k % 2 else f"words {k}" for k in range(N)],
    [f"{k},5" if k % 2 else str(k) for k in range(N)],
    cycle("1", "0"), cycle("good", "bad"), cycle("positive", "negative", "neutral"), cycle(*range(10)), cycle(*range(1, 8)),
    list(range(N)), cycle("", "x"), [""] * N,
], ids=lambda cells: str(cells[:3]))  # fmt: skip
def test_classes_names_places_and_numbered_classes_are_left_alone(tmp_path, cells):
    assert offered(tmp_path, cells) is None


@pytest.mark.parametrize(("load", "answers"), [
    (datasets.load_iris, None), (datasets.load_wine, None), (datasets.load_digits, None), (datasets.load_breast_cancer, None),
    (datasets.load_diabetes, "numbers"),
])  # fmt: skip
def test_known_tables_are_told_apart(tmp_path, load, answers):
    found = offered(tmp_path, [f"{value:g}" for value in load().target])
    assert (found and found[0]) == answers


def test_whole_numbers_of_a_column_called_a_rating_are_steps(tmp_path):
    cells = cycle(*range(3, 9))
    assert offered(tmp_path, cells, "quality") == ("ordered", list("345678"))
    assert offered(tmp_path, cells, "kind") is None


def test_init_and_doctor_say_it_and_change_nothing(tmp_path):
    path = table_of(tmp_path, x=range(N), topic=cycle("a;b", "b", "a", "c;a"))
    source = Source(path, features=["x"], label="topic", neighbors=2)
    said = "topic holds 3 classes joined by ';' ('a', 'b', 'c'): if items have several classes, give --answers several"
    Project.create(tmp_path / "t.ask", source)
    with Project.open(tmp_path / "t.ask") as project:
        assert said in project.about["read"]
        assert project.answers.kind.name == "classes"
        assert project.answers.labels[0] == "a;b"
    found = examine(source).found
    assert said in found
    assert "labels in 'topic' are not judged here: only one class per item is" in found


def test_declared_classes_are_not_asked_about(tmp_path):
    path = table_of(tmp_path, x=range(N), size=cycle("small", "large", "medium"))
    source = Source(path, features=["x"], label="size", neighbors=2)
    assert any("--answers ordered" in note for note in read_items(source)[0].notes)
    assert not any("--answers" in note for note in read_items(source, classes=["small", "medium", "large"])[0].notes)


def test_a_column_called_labels_is_offered_with_its_kind(tmp_path):
    path = table_of(tmp_path, x=range(N), labels=cycle("a;b", "b", "a", "c;a"), genres=cycle("a;b", "b", "a", "c;a"))
    notes = [note for note in read_items(Source(path, features=["x"], neighbors=2))[0].notes if "--answers" in note]
    assert len(notes) == 1
    assert notes[0].endswith("if items have several classes, give --label labels --answers several")


def test_a_column_per_class_needs_items_with_several(tmp_path):
    path = table_of(tmp_path, x=range(N), a=cycle(1, 0), b=cycle(0, 0, 1))
    source = Source(path, features=["x"], label="a,b", neighbors=2)
    with pytest.raises(SettingError, match="add --answers several"):
        Project.create(tmp_path / "t.ask", source)
    found = examine(source).found
    assert any(line.startswith("'a', 'b' hold yes or no: ") for line in found)
    assert "no labels yet" in found


@pytest.mark.parametrize(
    "cells", [[k / 7 for k in range(N)], cycle("a|b", "b", "", "c|a"), cycle("low", "high", "medium")]
)
def test_doctor_takes_labels_of_every_kind(tmp_path, cells):
    path = table_of(tmp_path, x=range(N), y=cells)
    assert examine(Source(path, features=["x"], label="y", neighbors=2)).verdict
