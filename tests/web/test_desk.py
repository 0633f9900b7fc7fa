"""Leases, questions and titles without a server: the parts behind the requests."""

from __future__ import annotations

import socket

import pytest

from askgraph.web.demo import make_demo
from askgraph.web.desk import Desk
from askgraph.web.leases import Leases
from askgraph.web.serve import _listen
from askgraph.web.suggestions import Suggestion
from askgraph.workbench import report
from askgraph.workbench.items import Source
from askgraph.workbench.project import Project
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
    with _listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


@pytest.mark.slow
def test_what_stands_for_an_item_in_a_list(tmp_path):
    table = tmp_path / "measures.csv"
    table.write_text("wide,long\n1.5,2\n1.25,3\n")
    Project.create(tmp_path / "measures.ask", Source(table, features=["wide", "long"]))
    with Project.open(tmp_path / "measures.ask") as project:
        assert project.title(project.item(0)) == "wide 1.5, long 2"
    with Project.open(make_demo(tmp_path / "demo")) as project:
        line = report.item_line(project, project.item(7))
    assert line == {"item": "7", "title": "7", "image": "/images/7"}


def test_nothing_is_said_of_others_while_a_question_is_computed(tmp_path):
    """A queue that is short for a moment is not the end of the items."""
    with Project.open(make_project(tmp_path)) as project:
        desk = Desk(project, Quiet(Suggestion(0, [0], {}, {})))
        assert desk.ask("bob")["question"]["item"]["id"] == "n0"
        assert desk.ask("ann")["waiting"] == "the next question is being computed"
        assert desk.worker.times == 1


def test_who_waits_for_others_keeps_nobody_busy(tmp_path):
    with Project.open(make_project(tmp_path, n=3), write=True) as project:
        project.say_all("bob", [("n1", "label", "east"), ("n2", "cannot", None)])
        desk = Desk(project, Quiet(Suggestion(2, [0], {}, {})))
        assert desk.ask("bob")["question"]["item"]["id"] == "n0"
        assert "all items that are left" in desk.ask("ann")["waiting"]
        assert desk.worker.times == 0


class Quiet:
    """A worker that has said one thing and nothing else."""

    status, picture = "ready", None

    def __init__(self, suggestion):
        self.suggestion, self.times = suggestion, 0

    def notify(self, people):
        self.times += 1
