"""The second reading: another person reads a drawn share of what was answered, and sees nothing of the first answer."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest
from typer.testing import CliRunner

from askgraph.cli.app import app
from askgraph.errors import LabelError
from askgraph.plan import Question
from askgraph.web import views
from askgraph.web.desk import Desk
from askgraph.web.listing import Query, list_items
from askgraph.web.questions import Agenda
from askgraph.workbench import report
from askgraph.workbench.figures import second_readings
from askgraph.workbench.project import Project
from askgraph.workbench.second import drawn_below
from tests.helpers.projects import make, make_of
from tests.helpers.serving import answer, ask, key, make_project, serving, until

N = 40
LABELS = {
    "classes": ["bad", "good"], "ordered": ["bad", "good"], "several": [["bad"], ["bad", "good"]], "numbers": [1.0, 9.0],
}  # fmt: skip


class Quiet:
    """A thinker that thinks of nothing but some questions."""

    status, picture = "ready", None

    def __init__(self, *places):
        self.agenda = Agenda(0, [Question(place, "tv") for place in places], {})

    def notify(self, people):
        """Do nothing."""


@pytest.fixture
def desk(tmp_path):
    with Project.open(make(tmp_path / "p.ask", N, ["bad", "good"]), write=True) as project:
        yield Desk(project, Quiet(*range(N)))


def say(desk, who, item, label="good", key=None, **more):
    return desk.answer(who, item, "label", label, 1.0, key or f"{who}-{item}-{label}", **more)


def drawn(project, share):
    return [k for k, edge in enumerate(drawn_below(project.about["seed"], project.store.ids())) if edge < share]


def test_the_draw_can_be_made_again_by_anybody_and_grows_with_the_share():
    edges = drawn_below(7, [f"i{k}" for k in range(4000)])
    assert edges[17] == int(sha256(b"7:i17").hexdigest()[:16], 16) / 2**64
    assert abs(np.mean(edges < 0.1) - 0.1) < 0.02
    assert not np.array_equal(edges, drawn_below(8, [f"i{k}" for k in range(4000)]))


@pytest.mark.parametrize("share", ["-1", "101%", "nan", "many", "10", ""])
def test_what_is_no_share_is_refused(desk, share):
    with pytest.raises(LabelError, match="share"):
        desk.project.log.change("ann", "second", None, share)
    assert desk.project.second.share == 0


def test_a_person_alone_is_never_asked_twice(desk):
    desk.project.log.change("ann", "second", None, "100%")
    for k in range(N):
        asked = desk.ask("ann")["question"]
        assert (asked["by"], asked["opinions"]) == ("tv", 0)
        say(desk, "ann", asked["item"]["id"], key=f"alone-{k}-of-{N}")
    assert desk.ask("ann")["finished"]
    assert list_items(desk.project, None, Query(reader="ann", status="unseen"))[0] == 0


def test_another_person_reads_what_was_drawn_and_sees_nothing_of_it(desk):
    project = desk.project
    for k in range(N):
        say(desk, "ann", f"i{k}", ["bad", "good"][k % 2])
        project.notes.comment("ann", f"i{k}", "my secret")
    project.log.change("ann", "second", None, "30%")
    wanted = drawn(project, 0.3)
    assert 5 < len(wanted) < 20
    assert project.second.due("ben") == wanted
    assert project.second.due("ann") == []
    got = []
    while question := desk.ask("ben")["question"]:
        place = project.items.place(question["item"]["id"])
        assert question["by"] == "second reading"
        assert (question["opinions"], question["suggested"], question["comments"]) == (0, [], [])
        seen = views.item(project, None, place, "ben")
        assert (seen["answers"], seen["label"], seen["status"], seen["comments"]) == ([], None, "unseen", [])
        rows = list_items(project, None, Query(reader="ben", search=f"item {place}", limit=1000))[1]
        (row,) = [row for row in rows if row["id"] == f"i{place}"]
        assert (row["label"], row["status"], row["who"], row["comments"]) == (None, "unseen", [], 0)
        assert not any(one["item"] == f"i{place}" for one in report.history(project, 1000, reader="ben"))
        assert "secret" not in str(views.review(project, None, "ben"))
        say(desk, "ben", question["item"]["id"], "good")
        assert views.item(project, None, place, "ben")["comments"][0]["text"] == "my secret"
        got.append(place)
    assert sorted(got) == wanted
    assert desk.ask("cy")["question"] is None  # two have read it: nobody else is asked
    found = second_readings(project)
    assert (found["share"], found["read"], found["left"]) == (0.3, len(wanted), 0)
    assert found["same"] == sum(k % 2 for k in wanted)
    assert {project.answers.of(k)["ben"].how for k in wanted} == {"second"}


def test_why_another_item_is_asked_says_nothing_of_what_is_unseen(desk):
    project = desk.project
    project.log.change("ann", "second", None, "100%")
    for k in (3, 5):
        say(desk, "ann", f"i{k}", "bad")
    why = report.explain(project, 4)
    assert {one["item"] for one in why["voters"]} == {"i3", "i5"}
    shown = views.without(project, why, views.hidden(project, "ben"))
    assert shown["voters"] == []
    assert not any(one["label"] or one["predicted"] for one in shown["nodes"] if one["item"] in ("i3", "i5"))
    assert views.hidden(project, "ann") == []


def test_second_readings_and_new_items_take_turns(desk):
    project = desk.project
    for k in range(20):
        say(desk, "ann", f"i{k}")
    project.log.change("ann", "second", None, "100%")
    by = []
    for k in range(6):
        question = desk.ask("ben")["question"]
        by.append(question["by"])
        say(desk, "ben", question["item"]["id"], key=f"in turns {k}")
    assert by == ["second reading", "tv"] * 3


def test_what_was_seen_is_no_second_reading(desk):
    project = desk.project
    project.log.change("ann", "second", None, "100%")
    say(desk, "ann", "i0")
    say(desk, "ben", "i0", "bad", review=True)  # a second look, from the queue of disagreements
    say(desk, "ann", "i1")
    project.say("ben", "i1", "label", "bad")  # by a command
    assert second_readings(project)["read"] == 0
    say(desk, "ann", "i2")
    say(desk, "ben", "i2", "bad", key="the second one")
    say(desk, "ben", "i2", "bad", key="the second one")  # the reply was lost
    assert second_readings(project)["read"] == 1
    say(desk, "ann", "i2", "bad", key="ann changed it")  # having seen what ben said
    assert second_readings(project)["same"] == 0
    desk.undo("ben", "ben takes it back")
    assert second_readings(project)["read"] == 0
    assert desk.ask("ben", "i2")["question"]["by"] == "second reading"
    desk.answer("ben", "i2", "later", None, 1.0, "ben does not know")
    assert second_readings(project)["read"] == 0
    assert desk.ask("ben")["question"]["by"] == "tv"
    desk.answer("ben", "i2", "cannot", None, 1.0, "ben cannot tell")
    assert (second_readings(project)["read"], second_readings(project)["same"]) == (1, 0)
    assert 2 in project.answers.disagreements()


def test_labels_that_came_with_the_data_were_read_by_nobody(tmp_path):
    labels = ["bad"] * 10 + [None] * 10
    with Project.open(make(tmp_path / "p.ask", 20, ["bad", "good"], labels=labels), write=True) as project:
        project.log.change("ann", "second", None, "1")
        assert project.second.due("ann") == project.second.due() == []
        project.say("ann", "i12", "label", "bad")
        assert project.second.due("ben") == [12]


@pytest.mark.parametrize("kind", list(LABELS))
def test_the_second_reading_of_each_kind_of_answers(tmp_path, kind):
    one, other = LABELS[kind]
    with Project.open(make_of(tmp_path / "p.ask", kind, 20), write=True) as project:
        desk = Desk(project, Quiet())
        project.log.change("ann", "second", None, "100%")
        for k in range(12):
            say(desk, "ann", f"i{k}", one if k % 3 else other)
            say(desk, "ben", f"i{k}", one if k % 2 else other)
        found, said = second_readings(project), report.to_sign(project)
        assert found["read"] == found["alpha"]["items"] == 12
        assert found["same"] == (None if kind == "numbers" else 6)
        assert (found["apart"] is None) == (kind in ("classes", "several"))
        assert said["second"] == found
        if kind != "numbers":  # usual differences of numbers are not listed
            assert sorted(project.answers.disagreements()) == [k for k in range(12) if (k % 3 == 0) != (k % 2 == 0)]


def test_two_against_one_is_listed_until_somebody_looks_again(desk):
    project = desk.project
    for who, label in (("ann", "bad"), ("ben", "bad"), ("cy", "good")):
        project.say(who, "i0", "label", label)
    for who, label in (("ann", "bad"), ("ben", "good")):
        project.say(who, "i1", "label", label)
    project.say("ann", "i2", "label", "bad")
    project.say("ben", "i2", "invalid")
    project.say("ann", "i3", "label", "bad")
    project.say("ben", "i3", "label", "bad")
    project.notes.comment("cy", "i0", "it says so below")
    found = report.review(project, [], [], "ann", "disagree")
    assert [one["item"] for one in found["queue"]] == ["i1", "i2", "i0"]
    assert (found["total"], found["counts"]) == (3, {"disagree": 3})
    assert found["queue"][2]["comments"][0]["text"] == "it says so below"
    assert [one["who"] for one in found["queue"][2]["answers"]] == ["ann", "ben", "cy"]
    say(desk, "di", "i0", "good", review=True)
    assert [one["item"] for one in report.review(project, [], [])["queue"]] == ["i1", "i2"]
    desk.undo("di", "di takes it back")
    assert [one["item"] for one in report.review(project, [], [])["queue"]] == ["i1", "i2", "i0"]
    assert project.answers.labels[0] == "bad"


def test_the_commands_of_the_second_reading(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make("p.ask", classes=["bad", "good"])

    def run(*words, code=0):
        done = CliRunner(env={"COLUMNS": "200", "ASKGRAPH_WHO": "ann"}).invoke(app, list(words))
        assert done.exit_code == code, done.output
        return done.stdout

    assert "no item is read twice" in run("second")
    assert "0.1 of the answered items; 0 read, 0 to be read" in run("second", "10%")
    assert "10% of answered items" in run("classes", "history")
    run("second", "11", code=1)
    run("tell", "i0", "bad")
    run("tell", "i0", "good", "--who", "ben")
    assert "people disagree on 1 item" in run("review")
    assert "settled: i0 bad" in run("review", "i0", "bad", "--who", "cy")
    assert "disagree" not in run("review")
    run("review", "i0", code=1)
    run("review", "i0", "bat", code=1)
    assert "no item is read twice" in run("second", "0")


@pytest.mark.server
def test_commands_note_and_settle_through_the_server(tmp_path):
    path = make_project(tmp_path)

    def run(*words):
        done = CliRunner(env={"COLUMNS": "200", "ASKGRAPH_WHO": "ann"}).invoke(app, [*words, "-p", str(path)])
        assert done.exit_code == 0, done.output
        return done.stdout

    with serving(path) as server, server.client() as client:
        run("classes", "reasons", "north", "too far,too near")
        run("second", "100%")
        answer(client, "n0", "north", "ann")
        run("note", "n0", "look again", "--reasons", "too far")
        run("mark", "n0")
        asked = ask(client, "ben")["question"]
        assert (asked["item"]["id"], asked["by"], asked["comments"]) == ("n0", "second reading", [])
        answer(client, "n0", "east", "ben")
        found = until(client, "/api/review", lambda said: said.get("queue") is not None)
        (row,) = [one for one in found["queue"] if one["why"] == "disagree"]
        assert {one["who"]: one["reasons"] for one in row["answers"]} == {"ann": ["too far"], "ben": []}
        assert [one["text"] for one in row["comments"]] == ["look again"]
        assert client.get("/api/review", params={"reader": "ann"}).json()["counts"]["return"] == 1
        run("review", "n0", "east", "--who", "cy")
        assert client.get("/api/review").json()["counts"].get("disagree", 0) == 0
        assert client.get("/api/item", params={"id": "n0"}).json()["label"] == "east"
        run("mark", "n0", "--off")
        run("note", "--undo", str(row["comments"][0]["seq"]))
        said = client.get("/api/item", params={"id": "n0", "reader": "ann"}).json()
        assert (said["comments"], said["marked"]) == ([], False)
        for path_, body in {
            "/api/comment": {"item": "n0", "text": "x" * 2001},
            "/api/comment/undo": {"seq": 1},
            "/api/mark": {"item": "n99", "on": True},
            "/api/reasons": {"item": "n0", "reasons": ["nowhere"]},
        }.items():
            refused = client.post(path_, json={"key": key(), "who": "ann", **body})
            assert refused.status_code == (404 if path_ == "/api/mark" else 422), refused.text
