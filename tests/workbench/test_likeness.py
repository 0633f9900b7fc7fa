"""Find what words describe: which items are asked for first, what a project keeps of it, and what is refused."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import pytest

import askgraph as ag
from askgraph.errors import LabelError
from askgraph.workbench import schema
from askgraph.workbench.classes import MAX_LIKE_CHARACTERS
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.likeness import Likeness
from askgraph.workbench.project import Project
from askgraph.workbench.report import class_changes, progress
from askgraph.workbench.source import Source
from tests.helpers.projects import make
from tests.helpers.serving import HANGS

TEXTS = {
    "mail": ["an SMTP server", "delivers electronic mail", "a client that reads mail", "a server for mailing lists"],
    "games": ["a puzzle game", "a board game with dice", "an arcade game", "cards to play with", "a quiz game"],
    "sound": ["a synthesizer", "plays music and sound", "a recorder of sound", "drum machine", "mixes sound tracks"],
}
WORDS = "a mail server"


def project_of(folder, answers=None, **settings):
    """A project of the texts, whose ids tell the class."""
    rows = [f"{name}{k},{text},{len(text)}" for name, texts in TEXTS.items() for k, text in enumerate(texts)]
    table, path = folder / "packages.csv", folder / "packages.ask"
    table.write_text("\n".join(["id,description,size", *rows]) + "\n")
    classes = {"numbers": (), "ordered": ["no", "some", "mail"]}.get(answers, ["mail", "other"])
    Project.create(
        path,
        Source(table, id="id", text=["description"], neighbors=3, meaning="none"),
        classes,
        answers=answers,
        **settings,
    )
    return path


@pytest.fixture
def path(tmp_path):
    return project_of(tmp_path)


def label_next(project):
    """Answer the next question; return the id of its item."""
    (asked,) = project.questions()
    id = project.items.item(asked.node).id
    project.say("ann", asked, "label", "mail" if id.startswith("mail") else "other")
    return id


def test_what_is_most_like_the_words_is_asked_for_until_enough_is_known(path):
    with Project.open(path, write=True) as project:
        project.log.change("ann", "find", "mail", like=f"  {WORDS} ")
        assert project.answers.naming.like == WORDS
        ranked = ag.search_texts([text for texts in TEXTS.values() for text in texts], WORDS, names=project.store.ids())
        asked = [label_next(project) for _ in range(4)]
        assert asked == ranked[0][:4]
        assert sum(id.startswith("mail") for id in asked) >= 3
        while len(set(project.answers.labels.values())) < 2:
            label_next(project)
        plan = project.learner.plan.finding("mail")  # the words count no longer
        assert project.questions(3) == project.learner.question(3, plan=plan)


def test_a_project_keeps_the_words_until_the_search_ends_or_is_taken_back(path):
    with Project.open(path, write=True) as project:
        project.log.change("ann", "find", "mail", like=WORDS)
        first = project.ask(5)
    with Project.open(path, write=True) as project:
        assert (project.answers.naming.like, project.ask(5)) == (WORDS, first)
        assert progress(project, project.predictions())["find"]["like"] == WORDS
        project.log.change("ann", "rename", "mail", "post")
        assert (project.model.sought, project.answers.naming.like) == ("post", WORDS)
        project.log.change("bob", "find", "post")  # without words
        assert project.answers.naming.like is None
        project.log.undo_change("bob")
        assert project.answers.naming.like == WORDS
        project.log.change("ann", "find", None)
        assert project.answers.naming.like is None
        said = {(one["what"], one["like"]) for one in class_changes(project)}
        assert (f"finding all of mail, like {WORDS!r}", WORDS) in said
        sent = {"kind": "find", "name": "post", "key": "once and again", "like": WORDS}
        assert project.log.change("ann", **sent) == project.log.change("ann", **sent)
        with pytest.raises(ag.AskgraphError, match="key"):
            project.log.change("ann", **{**sent, "like": "other words"})


def test_words_that_say_nothing_are_refused_or_do_not_count(path, tmp_path):
    with Project.open(path, write=True) as project:
        for bad in ("", "  ", "x" * (MAX_LIKE_CHARACTERS + 1), "\ud800", 7):
            with pytest.raises(LabelError, match="1,000 characters"):
                project.log.change("ann", "find", "mail", like=bad)
        for kind, name in (("find", None), ("add", "news")):
            with pytest.raises(LabelError, match="name it too"):
                project.log.change("ann", kind, name, like=WORDS)
        assert project.model.sought is None
        usual = project.ask(3)
        project.log.change("ann", "find", "mail", like="犬が")  # nothing of it is known
        assert project.ask(3) == usual
    ag.chain(5).save(tmp_path / "graph.npz")
    Project.create(tmp_path / "nodes.ask", Source(graph=tmp_path / "graph.npz"), ["a", "b"])
    with (
        Project.open(tmp_path / "nodes.ask", write=True) as project,
        pytest.raises(LabelError, match="no field of text"),
    ):
        project.log.change("ann", "find", "a", like=WORDS)


@pytest.mark.parametrize(
    ("answers", "sought"),
    [
        ("several", [("mail", None)]),
        ("ordered", [("mail", None), ("some", "at least")]),
        ("numbers", [(None, "highest"), (None, "5")]),
    ],
)
def test_words_help_to_find_answers_of_each_kind(tmp_path, answers, sought):
    with Project.open(project_of(tmp_path, answers), write=True) as project:
        for name, value in sought:
            project.log.change("ann", "find", name, value, like=WORDS)
            best = project.items.likeness.of(WORDS).argsort()[::-1]
            assert project.ask(3) == best[:3].tolist()
        yes, no = {"several": (["mail"], []), "ordered": ("mail", "no"), "numbers": (9.0, 1.0)}[answers]
        for place in best[:6].tolist():
            id = project.items.item(place).id
            project.say("ann", id, "label", yes if id.startswith("mail") else no)
        assert project.model._likeness() is None
        assert next(question.by for question in project.questions(2)) == "find"


@pytest.mark.parametrize("number", [1, schema.LATEST - 1])
def test_a_project_of_an_earlier_version_is_read_and_takes_words(tmp_path, monkeypatch, number):
    with monkeypatch.context() as patch:
        patch.setattr(schema, "LATEST", number)
        path = make(tmp_path / "p.ask", classes=["a", "b"], labels=["a", *[None] * 10, "b"])
        if number > 5:
            with closing(sqlite3.connect(path)) as db:
                add = (
                    "INSERT INTO changes (key, who, at, answers, kind, name) VALUES ('key', 'ann', '', 0, 'find', 'a')"
                )
                db.execute(add)
                db.commit()
    with Project.open(path) as project:  # only read
        assert project.answers.naming.like is None
        assert project.model.sought == ("a" if number > 5 else None)
    with Project.open(path, write=True) as project:
        project.log.change("ann", "find", "b", like="item")
        assert [question.by for question in project.questions()] == ["find"]


def test_texts_are_those_that_items_are_compared_by_else_those_that_are_shown(path, tmp_path):
    with Project.open(path) as project:
        assert project.items.text_fields == ["description"]
    table = tmp_path / "points.csv"
    table.write_text("id,x,note,answer\n" + "".join(f"p{k},{k},point {chr(97 + k)},{'ab'[k % 2]}\n" for k in range(12)))
    Project.create(tmp_path / "points.ask", Source(table, features=["x"], label="answer"))
    with Project.open(tmp_path / "points.ask") as project:
        assert project.items.text_fields == ["note"]  # and no answers
        assert project.items.likeness.of("point h").argmax() == 7


def test_who_does_not_wait_hears_nothing_until_the_texts_are_read():
    likeness = Likeness(lambda: ["red apples", "blue sky"], by_meaning=False)
    likeness.waits = False
    end = time.monotonic() + HANGS
    while (found := likeness.of("apples")) is None:
        assert time.monotonic() < end
    assert not likeness.reading
    assert found.argmax() == 0
    assert likeness.of("apples") is found


def test_texts_that_cannot_be_read_stop_no_questions(monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("askgraph.workbench.likeness.Texts", fail)
    likeness = Likeness(lambda: ["red apples"], by_meaning=False)
    with pytest.raises(MemoryError):
        likeness.of("apples")
    likeness.waits = False
    assert likeness.of("apples") is None


def test_the_paragraph_for_a_paper_says_by_which_words_items_were_sought(path):
    with Project.open(path, write=True) as project:
        project.log.change("ann", "find", "mail", like=WORDS)
        for _ in range(6):
            label_next(project)
        assert f"first those most like the words {WORDS!r}, then the likeliest" in how_labeled(project)
