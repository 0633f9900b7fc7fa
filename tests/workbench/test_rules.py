"""Rules as sources: a regular expression or a condition on a column, measured against people and never taken for an answer."""

from __future__ import annotations

import json
import time

import pytest
from typer.testing import CliRunner

from askgraph.cli.app import app
from askgraph.errors import BusyError, LabelError, SettingError
from askgraph.workbench import report, searching
from askgraph.workbench.classes import Change
from askgraph.workbench.growing import prepare_addition, take_in
from askgraph.workbench.guess_sources import sources
from askgraph.workbench.project import Project
from askgraph.workbench.rules import Rule, fitting, from_json, read_rule, standing_guesses
from askgraph.workbench.source import Source
from tests.helpers.projects import make_of, make_old

ROWS = [
    ("You won a PRIZE today", "DE", "120"),
    ("lunch at noon", "de", "99.5"),
    ("a winner &amp; a prize", "", "100"),
    ("tea", "FR", ""),
]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A project of twelve mails of two classes."""
    monkeypatch.chdir(tmp_path)
    rows = [f"m{k},{text},{country},{price}\n" for k, (text, country, price) in enumerate(ROWS * 3)]
    (tmp_path / "mails.csv").write_text("id,body,country,Price (EUR)\n" + "".join(rows))
    source = Source(tmp_path / "mails.csv", text=["body"], neighbors=2)
    Project.create(tmp_path / "mails.ask", source, classes=["spam", "ham"])
    return tmp_path / "mails.ask"


def run(*words, code=0):
    """What a command prints, with the error that ends it."""
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize(
    ("test", "fits"),
    [
        ("prize|winner", [0, 2]),
        ("^tea$", [3]),
        ("winner & a", [2]),  # as people read it
        ("Price (EUR) > 99.5", [0, 2]),
        ("Price (EUR)>=99.5", [0, 1, 2]),
        ("Price (EUR) == 100.0", [2]),
        ("Price (EUR) == ''", [3]),
        ("Price (EUR) != 100", [0, 1, 3]),
        ("country == DE", [0, 1]),
        ('country != "de"', [2, 3]),
        ("body == tea", [3]),
        ("nothing of it", []),
    ],
)
def test_a_rule_fits_what_it_says(made, test, fits):
    with Project.open(made) as project:
        rule = read_rule(test, project.items)
        assert from_json(rule.to_json()) == rule
        assert fitting(rule, project.items, project.store.every()) == [k + 4 * n for n in range(3) for k in fits]


def test_case_and_columns_count_where_they_are_said(made):
    with Project.open(made) as project:
        items, every = project.items, list(project.store.every())
        assert fitting(read_rule("prize", items, case=True), items, every) == [2, 6, 10]
        assert fitting(read_rule("country == DE", items, case=True), items, every) == [0, 4, 8]
        assert fitting(read_rule("d", items, ["country"]), items, every) == [0, 1, 4, 5, 8, 9]
        assert str(read_rule("price > 1", items, ["country", "body"])) == "price > 1 in country, body"


@pytest.mark.parametrize(
    ("test", "columns", "words"),
    [
        ("", (), "one line"),
        ("x" * 501, (), "1 to 500"),
        ("price > 100", (), "no column called 'price' .columns: 'body'"),
        ("Price (EUR) > cheap", (), "compare with a number"),
        ("country ==", (), "stands for an empty cell"),
        ("x", ["sender"], "no column called 'sender'"),
    ],
)
def test_a_rule_that_says_nothing_is_refused_with_what_to_do(made, test, columns, words):
    with Project.open(made) as project, pytest.raises(SettingError, match=words):
        read_rule(test, project.items, columns)


def test_an_expression_that_never_ends_is_ended_and_a_wrong_one_named(made, monkeypatch):
    monkeypatch.setattr(searching, "SECONDS", 1.0)
    long = "a" * 5000 + "b"
    start = time.monotonic()
    with pytest.raises(searching.TooSlow):
        searching.search("(a+)+$", False, [["fine"], [long]])
    assert time.monotonic() - start < 8
    assert searching.search("a+$", False, [["fine"], [long], ["banana"]]) == [2]
    with pytest.raises(ValueError, match="unterminated"):
        searching.search("(a", False, [])
    assert "is not a regular expression" in _refused("(a")
    (made.parent / "more.csv").write_text(f"id,body,country,Price (EUR)\nm90,{long},DE,1\nm91,a,DE,1\n")
    with Project.open(made, write=True) as project:
        project.log.change("ann", "rule", "spam", Rule("(a+)+$").to_json())
    said = run("add", "more.csv")
    assert "2 items more" in said
    assert "without suggestions of the rule '(a+)+$'" in said


def _refused(test):
    done = CliRunner().invoke(app, ["rule", test, "spam"])
    assert isinstance(done.exception, SettingError)
    return str(done.exception)


def test_texts_are_searched_in_parts_and_only_so_far(monkeypatch):
    monkeypatch.setattr(searching, "BATCH_CHARACTERS", 10)
    monkeypatch.setattr(searching, "MAX_TEXT_CHARACTERS", 8)
    texts = [["one two"], ["three", "two"], [], ["1234567 two"], ["two"]]
    assert searching.search("TWO", False, texts) == [0, 1, 4]


def test_a_rule_is_evidence_measured_and_no_answer(made):
    assert "12 of" not in run("rule", "prize|winner", "spam")
    for item, label in (("m0", "spam"), ("m2", "ham"), ("m1", "ham")):
        run("tell", item, label)
    run("rule", "country == DE", "ham")
    with Project.open(made) as project:
        assert len(project.answers.labels) == 9  # with the exact copies; no more by the rules
        assert report.suggested(project, 2) == [{"label": "spam", "by": "rule: prize|winner"}]
        found = sources(project)
    words, country = found["sources"]
    assert (words["guesses"], words["share"], words["rule"]["class"]) == (6, 0.5, "spam")
    assert (words["compared"], words["agreed"]) == (2, 1)  # not the copies, which nobody looked at
    assert 0 < words["low"] < 0.5 < words["high"] < 1
    assert (country["guesses"], country["compared"], country["agreed"]) == (6, 2, 1)
    assert found["pairs"] == [{"sources": [words["name"], country["name"]], "both": 3, "differ": 3}]
    assert found["against"] == 2
    first = found["items"][0]
    assert (first["item"], first["label"]) == ("m0", "spam")
    assert {one["source"]: one["label"] for one in first["guesses"]} == {words["name"]: "spam", country["name"]: "ham"}
    assert found["between"] == 2
    said = run("sources")
    assert "1 of 2" in said
    assert "prize|winner and country == DE: 3 of 3 items" in said
    assert json.loads(run("sources", "--json"))["sources"] == found["sources"]


def test_a_rule_follows_its_class_new_rows_and_its_undo(made):
    run("rule", "prize", "spam")
    run("classes", "rename", "spam", "junk")
    (made.parent / "more.csv").write_text("id,body,country,Price (EUR)\nn1,no,DE,1\nn2,another prize,DE,1\n")
    run("add", "more.csv")
    with Project.open(made) as project:
        assert report.suggested(project, 13) == [{"label": "junk", "by": "rule: prize"}]
        assert report.suggested(project, 12) == []
        assert len(project.learner.guesses.by_source["rule: prize"]) == 7
    run("classes", "merge", "junk", "ham")
    run("remove", "m0", "--yes")
    with Project.open(made) as project:
        assert {one.label for one in standing_guesses(project.store, project.answers.naming)} == {"ham"}
        assert project.learner.guesses.sources[0].guesses == 6
    assert "taken back: a rule suggests spam" in run("rule", "--remove", "1")
    with Project.open(made) as project:
        assert not project.learner.guesses
        assert report.suggested(project, 12) == []
    assert "nothing suggests labels yet" in run("sources")
    run("rule", "prize", "ham")
    assert "prize" in run("sources")


def test_rules_are_refused_that_cannot_be(made):
    for words, error in (
        (["prize", "spma"], "did you mean 'spam'"),
        (["prize"], "give a rule and its class"),
        (["--remove", "7"], "no rule 7"),
        (["prize", "--remove", "7"], "leave 'prize' out"),
    ):
        done = CliRunner().invoke(app, ["rule", *words])
        assert error in str(done.exception)
    run("rule", "prize", "scam", "--new")
    done = CliRunner().invoke(app, ["rule", "prize", "ham"])
    assert "there is this rule already" in str(done.exception)
    with Project.open(made, write=True) as project:
        assert "scam" in project.answers.classes
        for value in (None, "x", "[]", '{"test": 1}', '{"test":"a","columns":["b"],"sign":"in","case":false}'):
            with pytest.raises(LabelError, match="is not a rule"):
                project.log.change("ann", "rule", "spam", value)
    (made.parent / "odd.csv").write_text("item,label,source\nm1,spam,rule: prize\nm2,spam,gpt\n")
    assert "the names of rules begin with 'rule:'" in run("suggest", "odd.csv")


@pytest.mark.parametrize("answers", ["several", "numbers"])
def test_answers_of_other_kinds_take_no_rules(tmp_path, answers):
    (tmp_path / "t.csv").write_text("id,x\n" + "".join(f"n{k},{k}\n" for k in range(12)))
    classes = [] if answers == "numbers" else ["low", "high"]
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv", neighbors=2), classes=classes, answers=answers)
    done = CliRunner().invoke(app, ["rule", "x > 3", "high", "-p", str(tmp_path / "t.ask")])
    assert "models guess single classes only" in str(done.exception)
    with Project.open(tmp_path / "t.ask", write=True) as project, pytest.raises(SettingError, match="single classes"):
        project.log.change("ann", "rule", "high", Rule("x").to_json())


def test_an_addition_that_does_not_know_a_rule_is_not_taken_in(made):
    (made.parent / "more.csv").write_text("id,body,country,Price (EUR)\nn2,another prize,DE,1\n")
    with Project.open(made, write=True) as project:
        addition = prepare_addition(project, made.parent / "more.csv")
        project.log.change("ann", "rule", "spam", Rule("prize").to_json())
        with pytest.raises(BusyError, match="a rule was made meanwhile"):
            take_in(project.store, addition.path.name)
        assert take_in(project.store, prepare_addition(project, made.parent / "more.csv").path.name) == 1
        assert [one.item for one in project.store.guesses()] == [12]


def test_a_line_that_holds_no_rule_has_no_effect(made):
    run("rule", "prize", "spam")
    with Project.open(made, write=True) as project:
        project.store.append_change(Change(0, "odd", "ann", "", 0, "rule", "spam", "{"))
        project.refresh()
        assert [source.name for source in project.learner.guesses.sources] == ["rule: prize"]


def test_a_project_of_the_first_version_takes_rules(tmp_path, monkeypatch):
    path = make_old(tmp_path / "old.ask", monkeypatch, classes=["a", "b"])
    with Project.open(path) as project:
        assert list(standing_guesses(project.store, project.answers.naming)) == []
    assert "3 (25%)" in run("rule", "item 1", "a", "-p", str(path))


def test_ordered_classes_take_rules(tmp_path):
    path = make_of(tmp_path / "ordered.ask", "ordered")
    run("tell", "i0", "bad", "-p", str(path))
    assert "good" in run("rule", "item [5-9]", "good", "-p", str(path))
    with Project.open(path) as project:
        found = project.predictions()
        assert found.probabilities[7][found.classes.index("good")] > found.probabilities[1][found.classes.index("good")]
