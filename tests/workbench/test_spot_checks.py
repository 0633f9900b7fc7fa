"""Spot checks in a project: one question in eight is drawn at random, marked, and logged with what was predicted before."""

from __future__ import annotations

from math import inf

import pytest

import askgraph as ag
from askgraph.learner.settings import Settings
from askgraph.plan import Question
from askgraph.plan.chance import SPOT_CHECK
from askgraph.web import questions
from askgraph.web.desk import Desk
from askgraph.web.questions import Agenda, Thinker
from askgraph.workbench.export import answer_rows
from askgraph.workbench.project import Project
from askgraph.workbench.report import history, progress
from askgraph.workbench.source import Source
from tests.helpers.projects import make, make_old


def truth(place):
    return "left" if place < 20 else "right"


class Mail:
    """The end of a pipe that keeps what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(message)

    def poll(self, wait):
        return False

    @property
    def agenda(self):
        return [value for _, name, value in self.sent if name == "agenda"][-1]

    @property
    def checks(self):
        """The spot checks on the agenda and among what follows, and what is predicted for each."""
        asked = [*self.agenda.questions, *self.agenda.follows.values()]
        return {one.node: one.predicted for one in asked if one and one.by == SPOT_CHECK}


class Quiet:
    """A thinker that has said one thing and nothing else."""

    status, picture = "ready", None

    def __init__(self, agenda):
        self.agenda = agenda

    def notify(self, people):
        pass


def test_a_new_project_checks_one_question_in_eight(tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text("x,y\n" + "\n".join(f"{k},{k % 3}" for k in range(30)))
    Project.create(tmp_path / "usual.ask", Source(table, features=["x", "y"]))
    Project.create(tmp_path / "none.ask", Source(table, features=["x", "y"]), settings=Settings.of())
    for name, every in (("usual", 8), ("none", 0)):
        with Project.open(tmp_path / f"{name}.ask") as project:
            assert project.learner.plan.options()["spot_checks"] == every


def test_what_was_predicted_is_carried_marked_logged_and_told_again(tmp_path):
    path = make(tmp_path / "p.ask", n=40, classes=("left", "right"), spot_checks=3)
    seen = {}
    with Project.open(path, write=True) as project:
        mail = Mail()
        thinker = Thinker(project, mail)
        for number in range(18):
            thinker._think()
            desk = Desk(project, Quiet(mail.agenda))
            asked = desk.ask("ann")["question"]
            place = project.items.place(asked["item"]["id"])
            assert (asked["by"] == SPOT_CHECK) == (number % 3 == 2) == (place in mail.checks)
            if asked["by"] == SPOT_CHECK:
                seen[place] = mail.checks[place]
                assert mail.checks[place] == project.learner.predict([place])[0]
            desk.answer("ann", asked["item"]["id"], "label", truth(place), 1.0, f"key{number}")
        assert {a.item: a.predicted for a in project.answers.log.values() if a.predicted} == seen
        checks = project.learner.judge.spot_checks
        assert {check.node: check.predicted for check in checks} == seen
        said = progress(project, project.predictions())["checks"]
        right = sum(truth(place) == label for place, label in seen.items())
        assert said == {"count": 6, "right": right, "before": right, "off": None}
    with Project.open(path) as again:  # told at once
        assert sorted(again.learner.judge.spot_checks) == sorted(checks)
        rows = {again.items.place(row["id"]): row["predicted before"] for row in answer_rows(again)}
        assert {place: label for place, label in rows.items() if label} == seen
        assert {
            again.items.place(line["item"]): line["predicted"] for line in history(again, 99) if line["predicted"]
        } == seen


def test_questions_asked_together_hold_the_same_checks(tmp_path, monkeypatch):
    monkeypatch.setattr(questions, "MAX_JOINT_SECONDS", inf)  # a busy machine may need longer for a question
    path = make(tmp_path / "p.ask", n=40, classes=("left", "right"), spot_checks=4)
    with Project.open(path, write=True) as project:
        project.say_all("ann", [("i0", "label", "left"), ("i39", "label", "right")])
        mail = Mail()
        thinker = Thinker(project, mail)
        thinker._think()
        assert mail.checks == {}
        assert thinker._extend_queue()
        assert list(mail.checks) == [project.ask(2)[1]]


def test_a_check_that_follows_an_answer_is_known_before_it(tmp_path):
    path = make(tmp_path / "p.ask", n=40, classes=("left", "right"), spot_checks=4)
    with Project.open(path, write=True) as project:
        project.say_all("ann", [("i0", "label", "left"), ("i39", "label", "right")])
        mail = Mail()
        thinker = Thinker(project, mail)
        thinker._think()
        assert thinker._prefetch()
        (follows,) = {one.node for one in mail.agenda.follows.values()}  # a random draw does not depend on the answer
        assert mail.checks == {follows: project.learner.predict([follows])[0]}
        first = mail.agenda.questions[0].node
        project.say("ann", f"i{first}", "label", truth(first))
        assert project.ask() == [follows]


def test_questions_of_a_project_in_python_are_checks_too(tmp_path):
    path = make(tmp_path / "p.ask", n=40, classes=("left", "right"), spot_checks=3)
    with Project.open(path, write=True) as project:
        for number in range(9):
            (asked,) = project.questions()
            expected = project.learner.predict([asked.node])[0] if number % 3 == 2 else None
            assert project.say("ann", asked, "label", truth(asked.node)).predicted == expected
        assert len(project.learner.judge.spot_checks) == 3


def test_an_item_that_is_set_aside_is_no_check_and_an_undone_one_neither(tmp_path):
    path = make(tmp_path / "p.ask", n=40, classes=("left", "right"))
    with Project.open(path, write=True) as project:
        checks = [Question(3, SPOT_CHECK, "left"), Question(4, SPOT_CHECK, "right")]
        desk = Desk(project, Quiet(Agenda(0, checks, {})))
        assert desk.ask("ann")["question"]["by"] == SPOT_CHECK
        desk.answer("ann", "i3", "cannot", None, None, "a")
        assert desk.ask("ann")["question"]["by"] == SPOT_CHECK
        with pytest.raises(ag.LabelError):
            desk.answer("ann", "i4", "label", "", None, "b")
        desk.answer("ann", "i4", "label", "left", None, "c")
        assert [a.predicted for a in project.answers.log.values()] == [None, "right"]
        assert [check.right for check in project.learner.judge.spot_checks] == [False]
        project.undo("ann")
        assert project.answers.predicted(4) is None
        assert project.learner.judge.spot_checks == []


def test_a_file_without_the_column_is_read_and_gets_it_when_written(tmp_path, monkeypatch):
    path = make_old(tmp_path / "old.ask", monkeypatch)
    with Project.open(path) as project:
        assert project.answers.log == {}
    with Project.open(path, write=True) as project:
        project.say("ann", "i1", "label", "a", predicted="b")
    with Project.open(path) as project:
        assert [a.predicted for a in project.answers.log.values()] == ["b"]
