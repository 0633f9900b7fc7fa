"""Roles: who has which, whose word decides for every kind of answers, and what is taken back since a time."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta

import pytest

from askgraph.errors import LabelError, ReusedKeyError
from askgraph.workbench import report
from askgraph.workbench.care import Raters
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.export import answer_rows, prediction_rows
from askgraph.workbench.moments import read_moment
from askgraph.workbench.passwords import Passwords, give_role
from askgraph.workbench.project import Project
from askgraph.workbench.report_page import page
from askgraph.workbench.report_words import LANGUAGES
from askgraph.workbench.restoring import copy_project
from askgraph.workbench.shelf import list_projects
from tests.helpers.projects import make, make_of

NOW = datetime(2026, 11, 19, 12, 30, tzinfo=UTC)


@pytest.fixture
def project(tmp_path):
    with Project.open(make(tmp_path / "one.ask", classes=["a", "b", "c"]), write=True) as opened:
        yield opened


def again(project):
    """The same log read from its first line."""
    with Project.open(project.store.path) as opened:
        return opened.answers


def test_a_project_without_roles_decides_as_ever(project):
    project.say("ann", "i0", "label", "a")
    project.say("bob", "i0", "label", "b")
    assert (project.answers.roles, project.answers.labels[0]) == ({}, "b")
    assert project.answers.decided_by(0) is None
    assert project.answers.disagreements() == [0]


@pytest.mark.parametrize(
    ("kind", "said", "word"),
    [
        ("classes", ("good", "good", "bad"), "bad"),
        ("ordered", ("good", "good", "bad"), "bad"),
        ("several", (["good"], ["good", "fair"], []), ()),
        ("numbers", (1.0, 2.0, 0.0), 0.0),
    ],
)
def test_the_word_of_a_lead_decides_for_every_kind_of_answers(tmp_path, kind, said, word):
    with Project.open(make_of(tmp_path / "kinds.ask", kind), write=True) as project:
        project.log.set_role("me", "ann", "lead")
        for who, label in zip(("bob", "cy", "ann"), said, strict=True):
            project.say(who, "i3", "label", label)
        project.say("cy", "i3", "label", said[0])  # a later word of somebody else changes nothing
        for answers in (project.answers, again(project)):
            assert answers.labels[3] == word
            assert answers.decided_by(3) == "ann"
            assert answers.decided() == {3: "ann"}
            assert answers.disagreements() == []
        project.say("bob", "i4", "label", said[0])
        project.say("ann", "i4", "label", said[0])
        assert project.answers.decided_by(4) is None  # nobody said otherwise
        project.learner.predict()
        assert project.learner.field.held == 2


@pytest.mark.parametrize("kind", ["cannot", "invalid"])
def test_a_lead_may_set_an_item_aside_against_all_others(project, kind):
    project.log.set_role("me", "ann", "lead")
    for who in ("bob", "cy"):
        project.say(who, "i0", "label", "a")
    project.say("ann", "i0", kind)
    assert project.answers.aside == {0: kind}
    assert project.answers.labels == {}
    (listed,) = list_projects(project.store.path.parent)
    assert listed.labels == 0
    project.undo("ann")
    assert project.answers.labels == {0: "a"}


def test_a_lead_who_puts_an_item_off_decides_nothing_and_of_two_leads_the_newest_word_counts(project):
    project.log.set_role("me", "ann", "lead")
    project.log.set_role("me", "dan", "lead")
    project.say("bob", "i0", "label", "a")
    project.say("ann", "i0", "later")
    assert project.answers.labels == {0: "a"}
    project.say("ann", "i0", "label", "b")
    project.say("dan", "i0", "label", "c")
    assert (project.answers.labels[0], project.answers.decided_by(0)) == ("c", "dan")
    project.undo("dan")
    assert (project.answers.labels[0], project.answers.decided_by(0)) == ("b", "ann")


def test_the_role_at_the_time_of_an_answer_counts(project):
    project.say("ann", "i0", "label", "a")  # before the role
    project.log.set_role("me", "ann", "lead")
    project.say("ann", "i1", "label", "a")
    project.log.set_role("me", "ann", None)
    project.say("ann", "i2", "label", "a")
    for place in range(3):
        for who in ("bob", "cy"):
            project.say(who, f"i{place}", "label", "b")
    for answers in (project.answers, again(project)):
        assert answers.roles == {}
        assert answers.labels == {0: "b", 1: "a", 2: "b"}
        assert answers.decided() == {1: "ann"}
    project.log.set_role("me", "ann", "labeler")
    project.say("ann", "i1", "label", "c")  # said again without the role, the word is an answer like others
    assert (project.answers.labels[1], project.answers.decided()) == ("b", {})


def test_the_word_of_a_lead_follows_merges_renames_and_undo(project):
    project.log.set_role("me", "ann", "lead")
    project.say("bob", "i0", "label", "a")
    project.say("ann", "i0", "label", "b")
    project.log.change("ann", "rename", "b", "better")
    assert (project.answers.labels[0], project.answers.decided_by(0)) == ("better", "ann")
    project.log.change("ann", "merge", "a", "better")
    assert (project.answers.labels[0], project.answers.decided_by(0)) == ("better", None)  # now both say the same
    project.log.undo_change("ann")
    assert project.answers.decided_by(0) == "ann"


def test_what_a_lead_says_is_not_doubted(project):
    project.log.set_role("me", "ann", "lead")
    for k in range(10):
        for who, label in (("bob", "a"), ("cy", "b"), ("ann", "ab"[k % 2])):
            project.say(who, f"i{k}", "label", label)
    assert project.model._noise() == {}


@pytest.mark.parametrize(
    ("name", "role", "said"),
    [
        ("", "lead", "give a name"),
        ("a" * 201, "lead", "give a name"),
        ("ann\u200b", "lead", "nobody sees"),
        ("\u202eann", "lead", "nobody sees"),
        ("ann", "boss", "choose labeler or lead"),
        ("ann", "", "choose labeler or lead"),
        ("EMIL", "lead", "write 'emil'"),
        ("\uff45mil", "lead", "write 'emil'"),
        ("BOB", "labeler", "write 'bob'"),
        ("import", "lead", "came with a file"),
        ("cy", None, "has no role"),
        ("Emil", None, "did you mean 'emil'"),
    ],
)
def test_a_role_that_cannot_be_given_is_refused_in_a_sentence(project, name, role, said):
    project.say("bob", "i0", "label", "a")
    project.log.set_role("me", "emil", "lead")
    with pytest.raises(LabelError, match=said):
        project.log.set_role("me", name, role)
    assert project.answers.roles == {"emil": "lead"}


def test_a_role_is_one_line_of_the_log_however_often_it_is_sent(project):
    for _ in range(2):
        project.log.set_role("me", "ann", "lead", key="one key of mine")
    assert project.answers.changes == 1
    with pytest.raises(ReusedKeyError):
        project.log.set_role("me", "ann", "labeler", key="one key of mine")
    assert project.log.undo_change("me") is None  # a role is no change of classes
    assert project.log.set_role("me", "e\u0301mil", "lead").name == "\u00e9mil"


# Undo since a time


def test_answers_since_a_time_are_taken_back_in_one_step_and_given_back(project):
    project.say("emil", "i0", "label", "a")
    time.sleep(0.01)
    since = project.say("emil", "i1", "label", "b").at
    project.say("emil", "i0", "label", "c")
    project.say("bob", "i2", "label", "b")
    project.say("emil", "i3", "label", "b")
    project.undo("emil")  # already taken back: not counted
    before = dict(project.answers.labels)
    assert len(project.answers.since("emil", since)) == 2
    taken = project.log.undo_since("ann", "emil", since, key="the step of ann")
    assert [answer.label for answer in taken] == ["b", "c"]
    for answers in (project.answers, again(project)):
        assert answers.labels == {0: "a", 2: "b"}
        assert answers.people == {"emil": 1, "bob": 1}
        assert answers.since("emil", since) == []
    lines = project.answers.seq
    assert project.log.undo_since("ann", "emil", since, key="the step of ann") == taken  # the reply was lost
    assert project.log.undo_since("ann", "emil", since) == []
    assert project.answers.seq == lines
    given = project.log.give_back("ann", "emil", key="back again, ann")
    assert given == taken
    assert project.log.give_back("ann", "emil", key="back again, ann") == taken
    for answers in (project.answers, again(project)):
        assert answers.labels == before
        assert answers.last("emil").label == "c"
    assert project.log.give_back("ann", "emil") == []
    (listed,) = list_projects(project.store.path.parent)
    assert listed.labels == len(before)
    assert len(project.log.undo_since("ann", "emil", since)) == 2  # and taken back anew


def test_an_older_answer_given_back_stays_behind_a_newer_one(project):
    since = project.say("emil", "i0", "label", "a").at
    project.log.undo_since("ann", "emil", since)
    project.say("emil", "i0", "label", "b")
    project.log.give_back("ann", "emil")
    for answers in (project.answers, again(project)):
        assert answers.labels == {0: "b"}
        assert answers.last("emil").label == "b"
    project.undo("emil")
    assert project.answers.labels == {0: "a"}


def test_exact_copies_go_along(tmp_path):
    from askgraph.workbench.source import Source

    (tmp_path / "items.csv").write_text("id,text\n" + "".join(f"{k},same words here {k // 2}\n" for k in range(20)))
    Project.create(tmp_path / "items.ask", Source(tmp_path / "items.csv", text=["text"]), ["a", "b"])
    with Project.open(tmp_path / "items.ask", write=True) as project:
        since = project.say("emil", "4", "label", "a").at
        assert project.answers.labels == {4: "a", 5: "a"}
        assert len(project.log.undo_since("ann", "emil", since)) == 2
        assert project.answers.labels == {}
        project.log.give_back("ann", "emil")
        assert project.answers.labels == {4: "a", 5: "a"}


def test_the_key_of_a_step_stands_for_one_person(project):
    since = project.say("emil", "i0", "label", "a").at
    project.say("bob", "i0", "label", "a")
    project.log.undo_since("ann", "emil", since, key="a key of ann's")
    for by, who in (("ann", "bob"), ("cy", "emil")):
        with pytest.raises(ReusedKeyError):
            project.log.undo_since(by, who, since, key="a key of ann's")
    with pytest.raises(ReusedKeyError):
        project.log.give_back("ann", "emil", key="a key of ann's")


@pytest.mark.parametrize(
    "text",
    ["", "soon", "25:00", "14:60", "14", "2026-13-01", "2026-02-30 10:00", "0001-01-01", "9" * 10**6, "14:00; --"],
)
def test_a_time_that_is_none_is_refused(text):
    with pytest.raises(LabelError, match="is not a time: write a time of today such as 14:00"):
        read_moment(text, NOW)


def test_times_are_by_the_clock_of_this_machine(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert read_moment("13:00", NOW) == "2026-11-19T12:00:00.000Z"
        assert read_moment("9:05", NOW) == "2026-11-19T08:05:00.000Z"
        assert read_moment("2026-07-01 09:00", NOW) == "2026-07-01T07:00:00.000Z"  # in summer
        assert read_moment("2026-11-19", NOW) == "2026-11-18T23:00:00.000Z"
        assert read_moment("2026-11-19T12:00:00Z", NOW) == "2026-11-19T12:00:00.000Z"
        for text in ("14:00", "2026-11-20", (NOW + timedelta(seconds=1)).isoformat()):
            with pytest.raises(LabelError, match="still to come"):
                read_moment(text, NOW)
    finally:
        monkeypatch.undo()
        time.tzset()


# Marks


def decided(project):
    project.log.set_role("me", "ann", "lead")
    project.say("bob", "i0", "label", "a")
    project.say("cy", "i0", "label", "a")
    project.say("ann", "i0", "label", "b")
    project.say("bob", "i1", "label", "c")


def test_the_word_of_a_lead_is_marked_wherever_it_decides(project):
    from askgraph.web import views
    from askgraph.web.listing import Query, list_items

    decided(project)
    rows = {row["id"]: row for row in prediction_rows(project)}
    assert [rows[id]["decided by"] for id in ("i0", "i1", "i2")] == ["lead ann", None, None]
    given = {(row["id"], row["who"]): row["role"] for row in answer_rows(project)}
    assert given == {("i0", "bob"): None, ("i0", "cy"): None, ("i0", "ann"): "lead", ("i1", "bob"): None}
    assert {row["id"]: row["decided"] for row in list_items(project, None, Query())[1]}["i0"] == "ann"
    assert views.item(project, None, 0)["decided"] == "ann"
    assert [row["who"] for row in report.history(project, 10) if row["lead"]] == ["ann"]
    found = report.people(project)
    assert (found["decided"], found["disputed"]) == ({"ann": 1}, [])
    assert {row["who"]: (row["role"], row["decided"]) for row in report.care(project)} == {
        "bob": (None, 0),
        "cy": (None, 0),
        "ann": ("lead", 1),
    }
    assert report.review(project, [], [])["queue"] == []
    assert "the word of a lead decided on 1 item (ann 1)" in how_labeled(project)
    assert "decided by lead ann" in page(report.to_sign(project), LANGUAGES["en"])


def test_nothing_is_marked_where_nobody_leads(project):
    project.say("bob", "i0", "label", "a")
    project.say("cy", "i0", "label", "b")
    assert "decided by" not in next(prediction_rows(project))
    assert "role" not in next(answer_rows(project))
    assert "lead" not in how_labeled(project)
    assert "decided" not in page(report.to_sign(project), LANGUAGES["en"])


def test_a_column_of_the_table_called_as_ours_keeps_its_cells(tmp_path):
    from askgraph.workbench.source import Source

    (tmp_path / "t.csv").write_text("id,x,decided by,role\n" + "".join(f"{k},{k},chance,cook\n" for k in range(9)))
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv", features=["x"]), ["a", "b"])
    with Project.open(tmp_path / "t.ask", write=True) as project:
        assert next(prediction_rows(project))["decided by"] == "chance"
        project.log.set_role("me", "ann", "lead")
        project.say("ann", "0", "label", "a")
        row = next(prediction_rows(project))
        assert (row["decided by"], row["decided by (table)"]) == (None, "chance")
        assert (next(answer_rows(project))["role"], next(answer_rows(project))["role (table)"]) == ("lead", "cook")


def test_no_password_is_in_what_leaves_a_project(project, tmp_path):
    # Promise 39
    decided(project)
    give_role(project, "me", "emil", "labeler", "correct horse battery")
    stamp = Passwords(project.store.path).stamp("emil")
    copied = tmp_path / "copy.ask"
    copy_project(project.store.path, copied)
    said = [
        json.dumps([*prediction_rows(project), *answer_rows(project)]),
        json.dumps(report.to_sign(project)),
        how_labeled(project),
        page(report.to_sign(project), LANGUAGES["en"]),
        copied.read_bytes().decode("latin-1"),
        project.store.path.read_bytes().decode("latin-1"),
    ]
    for text in said:
        assert stamp not in text
        assert stamp[:32] not in text
        assert "correct horse" not in text
    assert Passwords(copied).people == []


# Care


def test_who_errs_is_judged_by_the_word_of_a_lead(project):
    rows = [{"bob": "a", "cy": "a"}] * 20
    by_majority = Raters(rows, ["a", "b"]).care("bob").errs
    led = Raters([{**row, "ann": "b"} for row in rows], ["a", "b"], truth=["b"] * 20)
    assert by_majority < 0.1
    assert led.care("bob").errs > 0.4
    assert led.care("ann").errs < 0.1
    project.log.set_role("me", "ann", "lead")
    for k in range(10):
        for who, label in (("bob", "a"), ("cy", "a"), ("ann", "b")):
            project.say(who, f"i{k}", "label", label)
    found = {row["who"]: row["errs"] for row in report.care(project)}
    assert found["ann"] < 0.1 < found["bob"] == found["cy"]


def test_where_items_have_several_classes_the_word_of_a_lead_is_true_of_each(tmp_path):
    with Project.open(make_of(tmp_path / "several.ask", "several"), write=True) as project:
        project.log.set_role("me", "ann", "lead")
        for k in range(10):
            for who, label in (("bob", ["good"]), ("cy", ["good"]), ("ann", ["bad"])):
                project.say(who, f"i{k}", "label", label)
        found = {row["who"]: row["errs"] for row in report.care(project)}
        assert found["ann"] < 0.1 < found["bob"]
