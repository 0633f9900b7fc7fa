"""Promise 32: Names of classes and people: what looks the same is the same, and nothing in them is unseen."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.errors import FileError, LabelError
from askgraph.workbench.answers import Answer
from askgraph.workbench.classes import Change
from askgraph.workbench.exchange import fasttext_lines
from askgraph.workbench.names import check_name
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from askgraph.workbench.store import Store
from tests.helpers.projects import make

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
TURNED, UNSEEN = "\u202emaps", "spam\u200b"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (UNSEEN, r"U\+200B \(ZERO WIDTH SPACE\)"),
        ("\u2060", r"U\+2060 \(WORD JOINER\)"),
        (TURNED, r"U\+202E \(RIGHT-TO-LEFT OVERRIDE\)"),
        ("a\x07b", r"U\+0007 \(a control character\)"),
        ("\x1b[2J", r"U\+001B"),
        ("sp\u200dam", r"U\+200D"),
        ("spam\ufeff", r"U\+FEFF"),
        ("so\u00adft", r"U\+00AD"),
        ("\u3164", r"U\+3164"),
    ],
)
def test_a_name_with_a_character_that_nobody_sees_is_refused_and_the_character_named(tmp_path, name, said):
    for what in ("class", "person"):
        with pytest.raises(LabelError, match=rf"holds {said}.*, which nobody sees") as found:
            check_name(name, what)
        assert str(found.value).isprintable()
    (tmp_path / "t.csv").write_text(f"id,x,kind\n1,2,{name}\n2,3,b\n")
    with pytest.raises(LabelError, match=said):
        Project.create(tmp_path / "p.ask", Source(tmp_path / "t.csv", features=["x"], label="kind"))
    assert not (tmp_path / "p.ask").exists()
    make(tmp_path / "q.ask", 3)
    (tmp_path / "s.csv").write_text(f"id,label\ni0,{name}\n")
    with Project.open(tmp_path / "q.ask", write=True) as project, pytest.raises(FileError, match=said):
        project.suggest(tmp_path / "s.csv")


@pytest.mark.parametrize(
    "name",
    [
        "\u0915\u094d\u200d\u0937",
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "👩‍💻",
        "❤️",
        "日本",
        "a–b",
        "ﬁ",
    ],
)
def test_names_in_every_script_are_taken_as_they_are(name):
    assert check_name(name, "class") == name


def test_a_name_is_the_same_class_and_person_however_its_accents_are_written(tmp_path):
    (tmp_path / "t.csv").write_text(f"id,x,kind\na,1,{DECOMPOSED}\nb,2,{COMPOSED}\nc,3,\nd,4,\ne,5,\n")
    Project.create(tmp_path / "p.ask", Source(tmp_path / "t.csv", features=["x"], label="kind"), ["tea", DECOMPOSED])
    (tmp_path / "s.csv").write_text(f"id,label\ne,{DECOMPOSED}\n")
    with Project.open(tmp_path / "p.ask", write=True) as project:
        project.say(f"Ren{COMPOSED[-1]}", "c", "label", COMPOSED)
        project.say(f"Rene{DECOMPOSED[-1]}", "d", "label", DECOMPOSED)
        project.suggest(tmp_path / "s.csv")
        assert project.answers.classes == ["tea", COMPOSED]
        assert set(project.answers.labels.values()) == {COMPOSED}
        assert project.answers.people == {"import": 2, f"Ren{COMPOSED[-1]}": 2}
        project.log.change("ann", "order", None, f'["{DECOMPOSED}", "tea"]')
        project.log.change("ann", "describe", DECOMPOSED, "hot")
        assert project.answers.naming.description(COMPOSED) == "hot"
        with pytest.raises(LabelError, match="there is a class"):
            project.log.change("ann", "add", DECOMPOSED)
        project.log.change("ann", "rename", "tea", f"th{DECOMPOSED[-2:]}")
        project.log.change("ann", "merge", DECOMPOSED, f"th{COMPOSED[-1]}")
        assert set(project.answers.labels.values()) == {f"th{COMPOSED[-1]}"}


@pytest.fixture
def old(tmp_path):
    """A project with names that an earlier version took: lines that were written then."""
    path = make(tmp_path / "p.ask", 8, classes=["tea", DECOMPOSED])
    with Store.open(path, write=True) as store:
        names = [UNSEEN, TURNED, COMPOSED, DECOMPOSED, "\x1b]0;own\x07"]
        store.append([Answer(0, f"k{k}", name, "", "label", k, name) for k, name in enumerate(names)])
        store.append_change(Change(0, "c", TURNED, "", 0, "rename", "tea", f"th{DECOMPOSED[-2:]}"))
    return path


def test_names_of_the_version_before_open_and_can_be_used_and_changed(old):
    with Project.open(old, write=True) as project:
        assert list(project.answers.labels.values()) == [UNSEEN, TURNED, COMPOSED, COMPOSED, "\x1b]0;own\x07"]
        assert project.answers.classes[:2] == [f"th{COMPOSED[-1]}", COMPOSED]
        assert project.answers.people[COMPOSED] == 2
        project.say("ann", "i5", "label", UNSEEN)  # by a button on the page
        project.log.change("ann", "merge", UNSEEN, COMPOSED)
        project.log.change("ann", "rename", TURNED, "maps")
        assert [project.answers.labels[k] for k in (0, 1, 5)] == [COMPOSED, "maps", COMPOSED]
        with pytest.raises(LabelError, match=r"U\+200B"):
            project.log.change("ann", "rename", "maps", "maps\u200b")


@pytest.mark.slow
def test_no_name_of_the_version_before_turns_text_or_writes_commands_in_a_terminal(old):
    for command in (["classes"], ["history"], ["people"], ["status"], ["classes", "history"], ["history", "--json"]):
        done = CliRunner().invoke(app, [*command, "-p", str(old)], catch_exceptions=False)
        assert done.exit_code == 0
        assert not set(done.output) & set("\u202e\x1b\x07"), command
    done = CliRunner().invoke(app, ["classes", "key", TURNED, "q", "-p", str(old)], catch_exceptions=False)
    assert not set(done.output) & set("\u202e"), done.output


def test_classes_that_differ_by_white_space_stay_apart_for_fasttext(tmp_path):
    path = make(tmp_path / "p.ask", 3, classes=["x y", "x_y", "X Y"])
    with Project.open(path, write=True) as project:
        for k, name in enumerate(["x y", "x_y", "X Y"]):
            project.say("ann", f"i{k}", "label", name)
        assert [line.split()[0] for line in fasttext_lines(project)] == [
            "__label__x_y_2",
            "__label__x_y",
            "__label__X_Y",
        ]
