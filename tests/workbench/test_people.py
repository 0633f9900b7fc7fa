"""What a team is told of each kind of answers: how far people agree, who errs, what to review, which classes there are."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli.app import app
from askgraph.errors import LabelError
from askgraph.workbench import report
from askgraph.workbench.answers import Agreed
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.project import Project
from tests.helpers.projects import make_of

UNSURE = ag.one_of("bad", "good")
SAID = {  # what ann and bob say of four items, and cy of the first
    "classes": ["bad", "bad", "good", UNSURE], "ordered": ["bad", "bad", "good", UNSURE],
    "several": [("bad",), ("bad", "good"), (), ()], "numbers": [0.0, 10.0, -2.5, 4.0],
}, {
    "classes": ["bad", "good", "good", "bad"], "ordered": ["bad", "good", "good", "bad"],
    "several": [("bad",), ("good",), (), ("fair",)], "numbers": [1.0, 100.0, -2.5, 6.0],
}  # fmt: skip
KINDS = list(SAID[0])


@pytest.fixture
def path(tmp_path, request):
    graph = ag.communities((10, 10), rng=0)[0]
    kind = ag.Numbers(unit="EUR") if request.param == "numbers" else request.param
    path = make_of(tmp_path / "p.ask", kind, 20, graph)
    with Project.open(path, write=True) as project:
        for who, said in zip(("ann", "bob"), SAID, strict=True):
            for k, label in enumerate(said[request.param]):
                project.say(who, f"i{k}", "label", label)
        project.say("ann", "i9", "cannot")
    return path


@pytest.fixture
def project(path):
    with Project.open(path) as project:
        yield project


def of_kinds(**expected):
    """Run a test of each kind of answers, with what is expected of it."""
    return pytest.mark.parametrize(("path", "expected"), list(expected.items()), indirect=["path"], ids=KINDS)


@of_kinds(
    classes=Agreed(3, 2 / 3, None), ordered=Agreed(3, 2 / 3, 2 / 3), several=Agreed(4, 0.5, None), numbers=Agreed(4, None, 1.5)
)  # fmt: skip
def test_how_far_people_agree(project, expected):
    assert project.answers.agreement() == expected
    assert report.people(project)["agreement"] == expected._asdict()


@of_kinds(classes=[1], ordered=[1], several=[1, 3], numbers=[1])
def test_the_items_on_which_people_differ(project, expected):
    told = report.people(project)["disputed"]
    assert sorted(int(one["item"][1:]) for one in told) == expected
    json.dumps(told)
    queue = report.review(project, [], [])["queue"]
    assert sorted(one["item"] for one in queue if one["why"] == "disagree") == [f"i{k}" for k in expected]
    assert {one["why"] for one in queue} == {"disagree", "cannot"}
    json.dumps(queue)


@of_kinds(classes=3, ordered=3, several=4, numbers=4)
def test_agreement_beyond_chance(project, expected):
    told = report.agreement(project)
    (pair,) = told["pairs"]
    assert told["alpha"]["items"] == pair["items"] == expected
    assert [one["class"] for one in told["classes"]] == project.answers.classes
    assert (pair["kappa"] is None) == (not project.answers.kind.by_class)
    json.dumps(told)


@of_kinds(classes="errs", ordered="bias", several="errs", numbers="spread")
def test_care_is_told_of_each_person(project, expected):
    told = report.care(project)
    assert [(row["who"], row["answers"]) for row in told] == [("ann", 5), ("bob", 4)]
    assert all(row[expected] is not None for row in told)
    json.dumps(told)


@of_kinds(
    classes="66.7% of pairs of labels agree", ordered="0.67 steps apart", several="50.0% of pairs",
    numbers="half of the pairs of labels differ by at most 1.5 EUR",
)  # fmt: skip
def test_the_paragraph_on_how_items_were_labeled(project, expected):
    assert expected in how_labeled(project)
    json.dumps(report.checkup(project))


def run(path, *words):
    words = [*words, "--project", str(path)]
    done = CliRunner(env={"COLUMNS": "250"}).invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def refusal(path, *words):
    with pytest.raises(LabelError) as refused:
        run(path, *words)
    return str(refused.value)


@of_kinds(
    classes=("", "name a class"), ordered=("", "name a class"), several=("", "'(none)' for none of them"),
    numbers=("nan", "'nan' is not a number: tell one, such as 3.5 or 3.5 EUR"),
)  # fmt: skip
def test_a_word_that_says_nothing_is_refused_in_words_of_the_kind(path, expected):
    word, sentence = expected
    assert sentence in refusal(path, "tell", "i7", word)


@of_kinds(classes="'bad|good'", ordered="'bad,good' is no step", several="'bad|good'", numbers="is not a number")
def test_classes_joined_by_a_comma_are_refused_with_what_is_meant(path, expected):
    assert expected in refusal(path, "tell", "i7", "bad,good")


@of_kinds(
    classes="NAME seeks all", ordered="NAME seeks all", several="NAME seeks all", numbers="highest, lowest or NUMBER"
)
def test_where_nothing_is_sought_it_says_what_can_be(path, expected):
    assert expected in run(path, "find")


@pytest.mark.parametrize("path", ["numbers"], indirect=True)
def test_large_numbers_are_written_out(path):
    with Project.open(path, write=True) as project:
        for k in range(4, 14):
            project.say("ann", f"i{k}", "label", 1e6 + 5000.0 * k)
    assert "e+" not in run(path, "status") + run(path, "people")
    assert "you said 91,234,567 EUR, expected" in run(path, "tell", "i15", "91234567")


@pytest.mark.slow
@of_kinds(
    classes=("Cohen's kappa", "ann: bad; bob: good", "fair"),
    ordered=("steps above the truth", "ann: bad; bob: good", "fair"),
    several=("missed", "ann: (none); bob: fair", "fair"),
    numbers=("1.5 EUR", "ann: 10 EUR; bob: 100 EUR", "there are no classes"),
)
def test_the_commands_of_a_team_say_answers_in_words(path, expected):
    people, reviewed, classes = expected
    assert people in run(path, "people")
    assert reviewed in run(path, "review")
    assert classes in run(path, "classes")
    for command in ("people", "review", "classes"):
        json.loads(run(path, command, "--json"))


@pytest.mark.slow
@of_kinds(
    classes=["good"], ordered=["good", "at least fair"], several=["good"],
    numbers=["at least 5 EUR", "highest", "lowest", "5"],
)  # fmt: skip
def test_the_command_find_seeks_what_each_kind_has(path, expected):
    for sought in expected:
        text = "at least 5 EUR" if sought == "5" else sought
        assert run(path, "find", sought).startswith(f"{text}: ")
        assert json.loads(run(path, "find", "--json"))["text"] == text
        assert text in run(path, "status")
    assert "nothing is sought" in run(path, "find", "--stop")


def test_spot_checks_of_several_classes_are_a_word_on_who_is_right(tmp_path):
    path = make_of(tmp_path / "p.ask", "several", 60, ag.communities((30, 30), rng=0)[0], classes=["a"])
    rng = np.random.default_rng(0)
    with Project.open(path, write=True) as project:
        for k in range(60):
            truth, wrong = ("a",) * (k < 30), ("a",) * (k >= 30)
            said = wrong if k % 2 and rng.random() < 0.6 else truth
            project.say("eve" if k % 2 else "ann", f"i{k}", "label", said, predicted=truth)
        ann, eve = report.care(project)
        assert ann["compared"] == eve["compared"] == 30
        assert eve["errs"] > ann["errs"]
