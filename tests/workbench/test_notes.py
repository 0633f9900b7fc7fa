"""Comments, marks to come back to an item, and reasons: lines of the log that are no answers."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli.app import app
from askgraph.errors import LabelError, ReusedKeyError
from askgraph.workbench import report
from askgraph.workbench.exchange import argilla_records, label_studio_tasks, ris_lines
from askgraph.workbench.export import answer_rows, prediction_rows, write_rows
from askgraph.workbench.figures import reasons as count_reasons
from askgraph.workbench.figures import standing, work
from askgraph.workbench.growing import remove_items
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.projects import make, make_of

LABELS = {"classes": "good", "ordered": "good", "several": ("bad", "good"), "numbers": 3.5}
WHY = json.dumps(["wrong population", "wrong design"])


@pytest.fixture
def project(tmp_path):
    with Project.open(make(tmp_path / "p.ask", classes=["relevant", "not relevant"]), write=True) as project:
        yield project


def comments(project, place):
    return [(one.who, one.text) for one in project.answers.notes.comments(place)]


@pytest.mark.parametrize("kind", list(LABELS))
def test_notes_never_count_as_answers(tmp_path, kind):
    with Project.open(make_of(tmp_path / "p.ask", kind), write=True) as project:
        project.say("ann", "i0", "label", LABELS[kind])
        before, learner = project.predictions(), project.learner
        asked = project.questions(3)
        project.notes.comment("ann", "i0", "sure?")
        project.notes.comment("ben", "i5", "odd")
        project.notes.mark("ann", "i5")
        assert project.learner is learner
        assert project.questions(3) == asked
        assert project.predictions().labels.tolist() == before.labels.tolist()
        assert list(project.answers.labels) == [0]
        assert project.answers.people == {"ann": 1}
        assert len(standing(project.answers)) == work(project.answers)["ann"]["answers"] == 1
        assert project.answers.last("ann").label == LABELS[kind]
        assert project.undo("ann").item == 0  # the answer, not the notes that came after it
        assert project.undo("ben") is None
        assert comments(project, 0) == [("ann", "sure?")]
        assert project.answers.notes.marked("ann") == [5]


def test_a_comment_is_read_again_and_taken_back_by_its_author_alone(tmp_path, project):
    said = project.notes.comment(" ann ", "i3", "  two\r\nlines \t here ", key="comment-1")
    assert project.notes.comment("ann", "i3", "two\nlines   here", key="comment-1").seq == said.seq
    project.notes.comment("ben", "i3", "<b>no</b>")
    assert comments(project, 3) == [("ann", "two\nlines   here"), ("ben", "<b>no</b>")]
    with Project.open(project.store.path) as read:
        assert comments(read, 3) == comments(project, 3)
    with pytest.raises(ReusedKeyError):
        project.notes.comment("ann", "i3", "another one", key="comment-1")
    with pytest.raises(LabelError, match="'ann' alone"):
        project.notes.take_back("ben", said.seq)
    for _ in range(2):  # the reply was lost
        assert project.notes.take_back("ann", said.seq, key="take-back-1").text == said.text
    assert project.notes.take_back("ann", said.seq).text == said.text
    assert comments(project, 3) == [("ben", "<b>no</b>")]
    assert len(project.answers.log) == 3
    with pytest.raises(LabelError, match="not a comment"):
        project.notes.take_back("ann", 3)
    shown = report.history(project, 10)
    assert [(one["text"], one["undone"]) for one in shown] == [("<b>no</b>", False), (said.text, True)]


@pytest.mark.parametrize(
    "text", ["", " \n ", "x" * 2001, "nul \0", "bell \a", "zero\u200bwidth", "half \ud800", 7, None], ids=repr
)
def test_a_comment_that_cannot_be_read_is_refused(project, text):
    with pytest.raises(LabelError, match="comment"):
        project.notes.comment("ann", "i0", text)
    with pytest.raises(LabelError):
        project.notes.comment("", "i0", "fine")
    with pytest.raises(LabelError, match="i99"):
        project.notes.comment("ann", "i99", "fine")
    assert not project.answers.log


def test_one_person_cannot_fill_an_item_with_comments(project, monkeypatch):
    monkeypatch.setattr("askgraph.workbench.note_log.MAX_COMMENTS", 2)
    project.notes.comment("ann", "i0", "one")
    last = project.notes.comment("ann", "i0", "two", key="the second")
    with pytest.raises(LabelError, match="take one back"):
        project.notes.comment("ann", "i0", "three")
    assert project.notes.comment("ann", "i0", "two", key="the second").seq == last.seq
    project.notes.comment("ben", "i0", "mine")


def test_a_mark_is_each_persons_own(project):
    assert project.notes.mark("ann", "i3")
    assert project.notes.mark("ann", "i1", key="mark-1")
    assert project.notes.mark("ann", "i3")  # again: nothing is written
    assert not project.notes.mark("ben", "i3", on=False)
    assert len(project.answers.log) == 2
    assert project.answers.notes.marked("ann") == [3, 1]
    assert project.answers.notes.marked("ben") == []
    assert not project.notes.mark("ann", "i3", on=False, key="mark-2")
    assert not project.notes.mark("ann", "i3", on=False, key="mark-2")
    assert project.notes.mark("ann", "i1", key="mark-1")
    with pytest.raises(ReusedKeyError):
        project.notes.mark("ann", "i4", key="mark-1")
    assert project.answers.notes.marked("ann") == [1]
    assert [one["item"] for one in report.review(project, [], [], "ann")["queue"]] == ["i1"]
    assert report.review(project, [], [], "ben")["queue"] == report.review(project, [], [])["queue"] == []
    assert report.history(project, 10) == []  # marks are nobody else's business


def test_reasons_follow_the_class_through_renames_and_merges(project):
    log, notes = project.log, project.notes
    log.change("ann", "reasons", "not relevant", WHY)
    project.say("ann", "i0", "label", "not relevant")
    assert notes.give_reasons("ann", "i0", ["wrong design", "wrong population"], key="why-1") == (
        "wrong population",
        "wrong design",
    )
    assert notes.give_reasons("ann", "i0", ["wrong design", "wrong population"], key="why-1")
    log.change("ann", "rename", "not relevant", "out")
    log.change("ann", "add", "off topic")
    log.change("ann", "reasons", "off topic", json.dumps(["a novel"]))
    log.change("ann", "merge", "out", "off topic")
    assert project.answers.labels == {0: "off topic"}
    assert project.answers.naming.reasons("off topic") == ["a novel", "wrong population", "wrong design"]
    assert project.answers.reasons(0) == ["wrong population", "wrong design"]
    assert count_reasons(project.answers) == [
        {"class": "off topic", "reason": "a novel", "count": 0},
        {"class": "off topic", "reason": "wrong population", "count": 1},
        {"class": "off topic", "reason": "wrong design", "count": 1},
    ]
    with Project.open(project.store.path) as read:
        assert read.answers.reasons(0) == project.answers.reasons(0)
    notes.give_reasons("ann", "i0", ["a novel"])
    assert project.answers.reasons(0) == ["a novel"]
    notes.give_reasons("ann", "i0", [])
    assert project.answers.reasons(0) == []


def test_reasons_stand_as_long_as_their_answer(project):
    project.log.change("ann", "reasons", "not relevant", WHY)
    project.say("ann", "i0", "label", "not relevant")
    project.notes.give_reasons("ann", "i0", ["wrong design"])
    project.say("ann", "i0", "label", "relevant")
    assert project.answers.reasons(0) == []
    with pytest.raises(LabelError, match="no reason 'wrong design'"):
        project.notes.give_reasons("ann", "i0", ["wrong design"])
    project.undo("ann")
    assert project.answers.reasons(0) == ["wrong design"]
    project.undo("ann")
    assert project.answers.reasons(0) == []
    with pytest.raises(LabelError, match="label it first"):
        project.notes.give_reasons("ann", "i0", ["wrong design"])
    project.say("ann", "i1", "cannot")
    with pytest.raises(LabelError, match="label it first"):
        project.notes.give_reasons("ann", "i1", [])


@pytest.mark.parametrize(
    "names", ["nothing", '{"a": 1}', json.dumps(["a|b"]), json.dumps([""]), json.dumps(["x"] * 21), "[1]"]
)
def test_reasons_that_cannot_be_offered_are_refused(project, names):
    with pytest.raises(LabelError):
        project.log.change("ann", "reasons", "relevant", names)
    with pytest.raises(LabelError, match="no class"):
        project.log.change("ann", "reasons", "nowhere", WHY)
    project.log.change("ann", "reasons", "relevant", WHY)
    project.log.undo_change("ann")
    assert project.answers.naming.reasons("relevant") == []


def test_exact_copies_take_the_reasons_of_their_answer(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,text\na,alike words\nb,alike words\nc,other things\nd,more of it\n")
    Project.create(tmp_path / "p.ask", Source(table=table, text="text"), classes=["in", "out"])
    with Project.open(tmp_path / "p.ask", write=True) as project:
        project.log.change("ann", "reasons", "out", WHY)
        project.say("ann", "a", "label", "out")
        project.notes.give_reasons("ann", "a", ["wrong design"])
        assert project.answers.reasons(0) == project.answers.reasons(1) == ["wrong design"]
        project.undo("ann")
        assert project.answers.reasons(0) == project.answers.reasons(1) == []


@pytest.mark.parametrize("kind", ["several", "ordered", "numbers"])
def test_reasons_of_other_kinds_of_answers(tmp_path, kind):
    with Project.open(make_of(tmp_path / "p.ask", kind), write=True) as project:
        project.say("ann", "i0", "label", LABELS[kind])
        if kind == "numbers":
            with pytest.raises(LabelError, match="no classes"):
                project.log.change("ann", "reasons", "good", WHY)
            with pytest.raises(LabelError, match="no reason"):
                project.notes.give_reasons("ann", "i0", ["wrong design"])
            return
        project.log.change("ann", "reasons", "good", WHY)
        project.notes.give_reasons("ann", "i0", ["wrong design"])
        assert project.answers.reasons(0) == ["wrong design"]


def test_an_answer_that_leaves_classes_open_has_no_reasons(project):
    project.log.change("ann", "reasons", "relevant", WHY)
    project.say("ann", "i0", "label", ag.one_of("relevant", "not relevant"))
    with pytest.raises(LabelError, match="no reason"):
        project.notes.give_reasons("ann", "i0", ["wrong design"])


def test_notes_go_with_their_item(project):
    project.log.change("ann", "reasons", "relevant", WHY)
    for id in ("i0", "i1", "i2"):
        project.say("ann", id, "label", "relevant")
        project.notes.comment("ann", id, f"about {id}")
        project.notes.give_reasons("ann", id, ["wrong design"])
        project.notes.mark("ann", id)
    project.notes.mark("ann", "i2", on=False)
    remove_items(project, ["i1"])
    with Project.open(project.store.path) as read:
        assert [comments(read, place) for place in (0, 1)] == [[("ann", "about i0")], [("ann", "about i2")]]
        assert [read.answers.reasons(place) for place in (0, 1)] == [["wrong design"]] * 2
        assert read.answers.notes.marked("ann") == [0]


def test_exports_hold_what_was_noted(tmp_path, project):
    assert "comments" not in next(prediction_rows(project))
    assert "reasons" not in next(prediction_rows(project))
    project.log.change("ann", "reasons", "not relevant", WHY)
    project.say("ann", "i0", "label", "not relevant")
    project.say("ben", "i1", "label", "relevant")
    project.notes.give_reasons("ann", "i0", ["wrong design", "wrong population"])
    project.notes.comment("ann", "i0", "=cmd|' /C calc'!A0")
    project.notes.comment("ben", "i0", "so it is")
    rows = list(prediction_rows(project))
    assert rows[0]["reasons"] == ["wrong population", "wrong design"]
    assert rows[0]["comments"] == "ann: =cmd|' /C calc'!A0\nben: so it is"
    assert (rows[1]["reasons"], rows[1]["comments"]) == (None, None)
    first = next(answer_rows(project))
    assert (first["reasons"], first["who"]) == (["wrong population", "wrong design"], "ann")
    for name in ("t.csv", "t.xlsx", "t.jsonl", "t.parquet"):
        write_rows(tmp_path / name, prediction_rows(project))
    with (tmp_path / "t.csv").open(newline="") as file:
        read = next(csv.DictReader(file))
    assert read["reasons"] == "wrong population|wrong design"
    assert read["comments"] == rows[0]["comments"]
    assert next(label_studio_tasks(project))["meta"] == {name: rows[0][name] for name in ("reasons", "comments")}
    assert next(argilla_records(project))["metadata"]["comments"] == rows[0]["comments"]


def test_ris_holds_comments_as_notes(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,title\na,One study\nb,Another study\nc,A third one\n")
    Project.create(tmp_path / "p.ask", Source(table=table, text="title"), classes=["in", "out"])
    with Project.open(tmp_path / "p.ask", write=True) as project:
        project.log.change("ann", "reasons", "out", WHY)
        project.say("ann", "a", "label", "out")
        project.say("ann", "b", "label", "in")
        project.notes.give_reasons("ann", "a", ["wrong design"])
        project.notes.comment("ann", "a", "two\nlines")
        lines = "".join(ris_lines(project)).splitlines()
        assert "N1  - reasons: wrong design" in lines
        assert "N1  - ann: two lines" in lines


def test_a_random_sample_is_not_read_by_a_note(tmp_path):
    with Project.open(make(tmp_path / "p.ask", 60, ["yes", "no"]), write=True) as project:
        project.say("ann", "i0", "label", "yes")
        project.say("ann", "i1", "label", "no")
        project.log.change("ann", "find", "yes")
        drawn = project.log.change("ann", "certify", None, "0.5")
        asked = project.questions(3)
        assert {question.by for question in asked} == {"sample"}
        for question in asked:
            project.notes.comment("ann", f"i{question.node}", "not read yet")
        project.log.undo_change("ann", drawn.seq)
        before = project.model.sampling.next_confidence()
        project.log.change("ann", "certify", None, "0.5")
        project.say("ann", f"i{project.questions(1)[0].node}", "label", "no")
        assert project.model.sampling.next_confidence() < before == 0.95


def test_the_commands_for_notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make("p.ask", classes=["in", "out"])

    def run(*words, code=0):
        done = CliRunner(env={"COLUMNS": "200", "ASKGRAPH_WHO": "ann"}).invoke(app, list(words))
        assert done.exit_code == code, done.output
        return done.stdout

    assert "no comments yet" in run("note")
    assert "no item" in run("mark")
    assert "saved: comment on i3" in run("note", "i3", "look again")
    (row,) = json.loads(run("note", "i3", "--json"))
    assert (row["number"], row["who"], row["comment"]) == (1, "ann", "look again")
    assert "look again" in run("note")
    assert "look again" in run("history")
    assert "i4 is marked" in run("mark", "i4")
    assert "item 4" in run("mark")
    assert "not marked" in run("mark", "i4", "--off")
    assert "taken back" in run("note", "--undo", "1")
    assert "no comments yet" in run("note", "i3")
    assert "wrong design" in run("classes", "reasons", "out", "wrong population, wrong design")
    run("tell", "i0", "out")
    assert "saved: reasons on i0" in run("note", "i0", "--reasons", "wrong design")
    assert "1" in run("classes", "reasons", "out")
    assert "has no reasons" in run("classes", "reasons", "out", "")
    run("note", "i3", "--undo", "1", code=1)
