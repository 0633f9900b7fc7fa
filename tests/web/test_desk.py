"""Leases, questions and titles without a server: the parts behind the requests."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import numpy as np
import pytest

from askgraph.errors import ReusedKeyError
from askgraph.plan import Question
from askgraph.web import app, offers, views
from askgraph.web.demo import make_demo
from askgraph.web.desk import Desk
from askgraph.web.leases import Leases
from askgraph.web.questions import Agenda, Picture
from askgraph.web.serve import listen
from askgraph.web.together import selection
from askgraph.workbench import report
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.export import answer_rows, prediction_rows
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.serving import make_project


def test_an_abandoned_item_comes_back():
    # Promise 9
    now = [0.0]
    leases = Leases(60, lambda: now[0])
    assert leases.take("ann", 7)
    assert not leases.take("bob", 7)
    now[0] = 59
    leases.renew("ann")
    now[0] = 100
    assert not leases.take("bob", 7)
    now[0] = 120
    assert leases.take("bob", 7)
    assert leases.take("ann", 8)  # what ann had is gone, and hers no more
    assert not leases.take("ann", 7)


def test_small_answers_go_out_at_once():
    """Only on a socket that names its protocol does asyncio do so; held back, the second request of a connection took 40 ms."""
    # Promise 19
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


@pytest.mark.slow
def test_what_stands_for_an_item_in_a_list(tmp_path):
    table = tmp_path / "measures.csv"
    table.write_text("wide,long\n1.5,2\n1.25,3\n")
    Project.create(tmp_path / "measures.ask", Source(table, features=["wide", "long"]))
    with Project.open(tmp_path / "measures.ask") as project:
        assert project.items.title(project.items.item(0)) == "wide 1.5, long 2"
    with Project.open(make_demo(tmp_path / "demo")) as project:
        line = report.item_line(project, project.items.item(7))
    assert line == {"item": "7", "title": "7", "image": "/images/7?of=634348f2"}


def test_a_date_names_no_item(tmp_path):
    table = tmp_path / "visits.csv"
    table.write_text("code,visit,ward,weight\nA1,2024-03-01,north,2\nA2,2024-03-02,south,3\n")
    Project.create(tmp_path / "visits.ask", Source(table, features=["weight"]))
    with Project.open(tmp_path / "visits.ask") as project:
        assert project.items.naming_field == "ward"
        assert project.items.title(project.items.item(0)) == "north"
    table.write_text("code,visit,weight\nA1,01.03.2024,2\nA2,02.03.2024,3\n")
    Project.create(tmp_path / "again.ask", Source(table, features=["weight"]))
    with Project.open(tmp_path / "again.ask") as project:
        assert project.items.naming_field is None
        assert project.items.title(project.items.item(0)) == "weight 2"


@pytest.mark.parametrize(("header", "numbered"), [("long", True), ("id", False), ("code", False)])
def test_an_item_says_whether_its_id_is_only_the_number_of_a_row(tmp_path, header, numbered):
    table = tmp_path / "measures.csv"
    table.write_text(f"{header},wide\n101,2\n102,3\n")
    Project.create(tmp_path / "measures.ask", Source(table, features=["wide"]))
    with Project.open(tmp_path / "measures.ask") as project:
        shown = views.show(project, project.items.item(0))
    assert (shown["id"], shown["numbered"]) == ("1" if numbered else "101", numbered)


def pictures_ahead(desk):
    return views.pictures_ahead(desk.project, desk.thinker.agenda, desk.leases.held())["pictures"]


@pytest.mark.slow
def test_pictures_ahead_are_those_of_what_follows_then_of_what_waits(tmp_path):
    with Project.open(make_demo(tmp_path / "demo"), write=True) as project:
        project.say("bob", "9", "label", "9")
        desk = Desk(project, Quiet(agenda(1, 5, 7, 9, 2, 4, follows={"0": 8, "1": 8, "2": None, "3": 6})))
        assert views.looks_ahead(project) == (1, 4)  # of ten classes, the likeliest
        assert desk.ask("ann")["question"]["item"]["id"] == "5"
        places = [int(address.split("/")[2].split("?")[0]) for address in pictures_ahead(desk)]
        assert places == [8, 6, 7, 2]  # 5 is on the screen, 9 is labeled
        project.log.change("ann", "find", "3")
        assert views.looks_ahead(project) == (1, 0)  # nothing is computed for each answer then
        assert pictures_ahead(Desk(project, Quiet(None))) == []
    with Project.open(make_project(tmp_path), write=True) as project:
        assert pictures_ahead(Desk(project, Quiet(agenda(0, 0, 1)))) == []


def test_who_comes_when_all_items_on_the_agenda_are_taken_gets_any_open_one(tmp_path):
    # Promise 27
    with Project.open(make_project(tmp_path), write=True) as project:
        project.say_all("cy", [(f"n{k}", "label", "east") for k in range(1, 30)])
        desk = Desk(project, Quiet(agenda(29, 0)))
        assert desk.ask("bob")["question"]["item"]["id"] == "n0"
        assert desk.ask("ann")["waiting"] == "the next question is being computed"  # bob and ann were not yet several
        assert desk.thinker.times == 1
        got = [desk.ask(f"person {k}")["question"]["item"]["id"] for k in range(30)]
        assert len(set(got)) == 30  # nobody gets what another holds
        assert set(got) == {f"n{k}" for k in range(30, 60)}
        assert "all items that are left" in desk.ask("ann", hurry=True)["waiting"]


def test_one_person_alone_waits_for_the_agenda_unless_it_takes_long(tmp_path):
    with Project.open(make_project(tmp_path), write=True) as project:
        desk = Desk(project, Quiet(agenda(0, 0)))
        desk.answer("ann", "n0", "label", "east", None, "key of ann's")
        assert desk.ask("ann")["waiting"] == "the next question is being computed"
        assert desk.ask("ann", hurry=True)["question"]["item"]["id"] != "n0"


def test_an_open_item_is_searched_in_bounded_time(tmp_path, monkeypatch):
    monkeypatch.setattr(offers, "MAX_LOOKS", 7)
    with Project.open(make_project(tmp_path), write=True) as project:
        project.say_all("cy", [(f"n{k}", "label", "east") for k in range(59)])
        desk = Desk(project, Quiet(None))
        tries = [desk.ask("ann", hurry=True)["question"] for _ in range(9)]
        found = [question["item"]["id"] for question in tries if question]
        assert found[:1] == ["n59"]  # sixty items, seven looked at each time
        assert set(found) == {"n59"}


def test_what_another_has_labeled_meanwhile_is_not_asked_again(tmp_path):
    with Project.open(make_project(tmp_path), write=True) as project:
        desk = Desk(project, Quiet(agenda(0, 0, 1)))
        assert desk.ask("ann")["question"]["item"]["id"] == "n0"
        desk.answer("bob", "n0", "label", "east", None, "key of bob's")
        assert desk.ask("ann", holding="n0")["question"]["item"]["id"] == "n1"


def test_what_is_asked_says_who_asks(tmp_path):
    with Project.open(make_project(tmp_path, overlap=2), write=True) as project:
        project.say("bob", "n0", "label", "east")
        asked = [Question(place, by) for place, by in enumerate(("influence", "find", "explore"), 1)]
        desk = Desk(project, Quiet(Agenda(1, asked, {})))

        def by(who, **how):
            return desk.ask(who, **how)["question"]["by"]

        assert [by(who) for who in ("ann", "bob", "cy", "di")] == ["second opinion", "influence", "find", "explore"]
        assert by("eve", hurry=True) == "any open"
        assert by("bob", holding="n1") == "influence"  # also when the page is opened again
        desk.answer("bob", "n1", "label", "east", None, "a key of bob's")
        desk.undo("bob", "a key of the undo")
        assert by("bob", holding="n1") == "by hand"


def test_people_who_are_gone_are_forgotten():
    now = [0.0]
    leases = Leases(60, lambda: now[0])
    for k in range(1000):
        leases.renew(f"person {k}")
    assert leases.take("person 7", 7)
    now[0] = 61
    leases.renew("ann")
    assert leases.active() == {"ann"}
    assert [len(kept) for kept in (leases._held, leases._item, leases._until)] == [0, 1, 1]
    assert leases.take("ann", 7)


def test_made_up_names_do_not_fill_what_everybody_sees(tmp_path):
    with Project.open(make_project(tmp_path), write=True) as project:
        desk = Desk(project, Quiet(None))
        for k in range(500):
            desk.check_in(f"nobody {k:03}")
        project.say("bob", "n0", "label", "east")
        named = [one["name"] for one in desk.check_in("zoe")["people"]]
        assert {"bob", "zoe"} <= set(named)
        assert len(named) == 1 + views.MAX_NEWCOMERS


def test_predictions_confirmed_again_under_one_key_are_saved_as_at_first(tmp_path):
    with Project.open(make_project(tmp_path), write=True) as project:
        desk = Desk(project, Quiet(None))
        for picture in ("east", "west"):  # another prediction when the request comes a second time
            desk.thinker.picture = Picture(
                0, {}, [], [picture], [picture], np.zeros(60, dtype=np.uint32), np.ones(60), None, None
            )
            assert desk.confirm("ann", [4, 5], None, "table", "one key for both")["saved"] == 2
        assert project.answers.labels == {4: "east", 5: "east"}
        with pytest.raises(ReusedKeyError):
            desk.confirm("ann", [4, 6], None, "table", "one key for both")


def predicting(label="east", sure=None):
    """A thinker whose predictions are all of one class, as sure as this."""
    thinker = Quiet(None)
    thinker.picture = Picture(
        0,
        {},
        [],
        [label],
        [label],
        np.zeros(60, dtype=np.uint32),
        np.full(60, 0.6) if sure is None else sure,
        None,
        None,
    )
    return thinker


def send(desk, way, who, places, label, key, at_least=0.0):
    """An answer to many items, as the page sends it from the map, the table and the groups."""
    if way == "group":
        return desk.confirm_group(who, label or "east", [f"n{place}" for place in places], [], 4.0, key)
    return desk.confirm(who, places, label, way, key, at_least=at_least)


@pytest.mark.slow
@pytest.mark.parametrize("label", ["west", None], ids=["a class", "as predicted"])
@pytest.mark.parametrize("way", ["map", "table", "group"])
def test_an_answer_to_many_items_is_marked_by_its_way_and_one_undo_takes_it_back(tmp_path, way, label):
    """Also when each request comes twice and the server was restarted in between."""
    path = make_project(tmp_path)
    with Project.open(path, write=True) as project:
        project.say("ann", "n0", "label", "north")
        for _ in range(2):
            said = send(Desk(project, predicting()), way, "ann", list(range(1, 31)), label, "one key for all")
            assert (said["saved"], said["state"]["labels"]) == (30, 31)
        assert {a.how for a in project.answers.log.values()} == {None, way}
        assert {row["how"] for row in answer_rows(project)} == {None, way}
        rows = {row["id"]: (row["source"], row["how"]) for row in prediction_rows(project)}
        assert [rows[f"n{k}"] for k in (0, 1, 31)] == [("answered", None), ("answered", way), ("predicted", None)]
        assert "Of these answers, 1 was given one by one, 30 given to" in how_labeled(project)
        assert "(in 1 step)" in how_labeled(project)
        assert (report.progress(project, project.predictions())["together"], project.answers.together()) == (30, 30)
    with Project.open(path, write=True) as project:
        for _ in range(2):
            desk = Desk(project, predicting())
            undone = desk.undo("ann", "one key for the undo", holding="n50")
            assert undone["undone"]["together"] == 30
            assert undone["question"]["item"]["id"] == "n50"  # the card that was there stays
            assert project.answers.labels == {0: "north"}
        assert send(desk, way, "ann", list(range(1, 31)), label, "one key for all")["state"]["labels"] == 1  # came late
        assert desk.undo("ann", "a key of its own")["undone"]["item"] == "n0"


@pytest.mark.parametrize("label", ["west", None], ids=["a class", "as predicted"])
@pytest.mark.parametrize("way", ["map", "table"])
def test_what_was_answered_is_left_out_of_an_answer_to_many_and_not_counted_again(tmp_path, way, label):
    with Project.open(make_project(tmp_path), write=True) as project:
        project.say("ann", "n0", "label", "north")
        project.say("bob", "n1", "label", "north")
        project.say("bob", "n2", "invalid")
        desk = Desk(project, predicting())
        before = len(project.answers.log)
        assert send(desk, way, "ann", [0, 1, 2, 3, 4, 4], label, "first key")["saved"] == 2
        assert send(desk, way, "ann", [0, 1, 2, 3, 4], label, "second key")["saved"] == 0
        assert len(project.answers.log) == before + 2
        assert {place: project.answers.labels.get(place) for place in range(5)} == {
            0: "north", 1: "north", 2: None, 3: label or "east", 4: label or "east"
        }  # fmt: skip


def test_a_second_person_can_answer_many_items_where_two_are_asked_but_not_confirm_what_the_first_said(tmp_path):
    with Project.open(make_project(tmp_path, overlap=2), write=True) as project:
        project.say_all("bob", [("n1", "label", "north"), ("n2", "label", "north")])
        desk = Desk(project, predicting())
        assert send(desk, "table", "ann", [1, 2, 3], None, "as predicted")["saved"] == 1
        assert send(desk, "table", "ann", [1, 2, 3], "west", "one class for all")["saved"] == 2


def test_a_selection_says_how_many_are_new_and_how_sure_their_predictions_are(tmp_path):
    sure = np.full(60, 0.5)
    sure[10:14] = 0.95
    with Project.open(make_project(tmp_path), write=True) as project:
        project.say("ann", "n0", "label", "north")
        project.say("bob", "n1", "later")
        desk = Desk(project, predicting(sure=sure))
        found = selection(project, desk.thinker.picture, "ann", [0, 1, 2, *range(10, 14)])
        assert (found["selected"], found["new"]) == (7, 6)  # what was put off can be labeled, but is not predicted
        predicted = found["predicted"]
        assert (predicted["new"], predicted["classes"]) == (5, [{"label": "east", "count": 5}])
        assert predicted["right"] == pytest.approx((0.5 + 4 * 0.95) / 5)
        assert predicted["certain"] == {"least": 0.9, "new": 4}
        said = send(desk, "table", "ann", [0, 1, 2, 10, 11, 12, 13], None, "only the sure", at_least=0.9)
        assert (said["saved"], sorted(project.answers.labels)) == (4, [0, 10, 11, 12, 13])
        assert selection(project, desk.thinker.picture, "ann", [0])["predicted"]["right"] is None
        assert selection(project, None, "ann", [9])["predicted"]["new"] == 0


def test_predictions_that_are_not_there_yet_are_not_confirmed(tmp_path):
    with Project.open(make_project(tmp_path), write=True) as project:
        assert send(Desk(project, Quiet(None)), "map", "ann", [1, 2], None, "too early")["saved"] == 0
        assert not project.answers.log


def test_who_waits_for_others_keeps_nobody_busy(tmp_path):
    with Project.open(make_project(tmp_path, n=3), write=True) as project:
        project.say_all("bob", [("n1", "label", "east"), ("n2", "cannot", None)])
        desk = Desk(project, Quiet(agenda(2, 0)))
        assert desk.ask("bob")["question"]["item"]["id"] == "n0"
        assert "all items that are left" in desk.ask("ann")["waiting"]
        assert desk.thinker.times == 0


def test_what_a_killed_server_was_exporting_is_removed_by_the_next_of_its_project(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "kept").touch()
    mine, other = (app._export_prefix(tmp_path / name) for name in ("p.ask", "q.ask"))
    left = [Path(tempfile.mkdtemp(prefix=prefix)) for prefix in (mine, mine, other)]
    (left[0] / "labels.csv").touch()
    (tmp_path / f"{mine}link").symlink_to(victim)
    app.remove_old_exports(tmp_path / "p.ask")
    assert [folder.exists() for folder in left] == [False, False, True]
    assert (victim / "kept").exists()


def agenda(seq, *places, follows=()):
    """Questions about items at these places, asked by the sampler after this line of the log, and those that follow."""
    after = {label: None if place is None else Question(place, "influence") for label, place in dict(follows).items()}
    return Agenda(seq, [Question(place, "influence") for place in places], after)


class Quiet:
    """A thinker that has said one thing and nothing else."""

    status, picture = "ready", None

    def __init__(self, agenda):
        self.agenda, self.times = agenda, 0

    def notify(self, people):
        self.times += 1
