"""Items compared later: stored at once, labeled at random until then, and then joined as if they had been compared at first."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import askgraph as ag
from askgraph.errors import BusyError, FileError, SettingError
from askgraph.workbench import items
from askgraph.workbench.growing import prepare_addition, prepare_comparison, remove_items, take_in
from askgraph.workbench.project import Project
from askgraph.workbench.rejoining import columns_of, join_again, now_compared
from askgraph.workbench.source import Source

N = 40
WORDS = [["team", "match", "goal", "coach", "season"], ["price", "market", "bank", "shares", "profit"]]


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "items.csv", range(N))


def write(path, places):
    rng = np.random.default_rng(0)
    rows = [(k, " ".join(rng.choice(WORDS[k % 2], 6)), f"{rng.normal() + 4 * (k % 2):.3f}") for k in range(2 * N)]
    path.write_text("id,text,x\n" + "".join(f"n{k},{text},{x}\n" for k, text, x in rows if k in places))
    return path


def make(path, table, classes=("a", "b"), later="always", answers=None, **source):
    Project.create(path, Source(table, later=later, **{"text": "text", **source}), classes, answers=answers)
    return path


def compare(path):
    with Project.open(path) as project:
        found = prepare_comparison(project)
    with Project.open(path, write=True) as project:
        assert take_in(project.store, found.path.name) == 0
    assert not found.path.exists()


def same(one, other):
    with Project.open(one) as first, Project.open(other) as second:
        assert not first.items.apart
        assert (first.graph.weights != second.graph.weights).nnz == 0
        mine, theirs = first.store.features(), second.store.features()
        assert (mine is None) == (theirs is None)
        assert mine is None or np.array_equal(mine, theirs)
        assert {**first.about, "project": "", "uid": ""} == {**second.about, "project": "", "uid": ""}


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"features": ["x"]},
        {"text": None, "features": ["x"]},
        {"features": ["x"], "weights": {"x": 2.0}, "neighbors": 3},
    ],
    ids=["text", "both", "numbers", "weighted"],
)
def test_items_compared_later_are_joined_as_those_compared_at_first(tmp_path, table, source):
    make(tmp_path / "now.ask", table, later="never", **source)
    later = make(tmp_path / "later.ask", table, **source)
    with Project.open(later) as project:
        assert project.items.apart
        assert project.graph.n_edges == 0
        assert "not compared yet" in project.about["graph"][0]
    compare(later)
    same(later, tmp_path / "now.ask")


def test_pictures_are_compared_later_too(tmp_path):
    rng = np.random.default_rng(0)
    (folder := tmp_path / "pictures").mkdir()
    for k in range(12):
        shade = np.full((16, 16, 3), 60 + 120 * (k % 2), np.uint8) + rng.integers(0, 9, (16, 16, 3), dtype=np.uint8)
        Image.fromarray(shade).save(folder / f"p{k}.png")
    for later in ("never", "always"):
        Project.create(tmp_path / f"{later}.ask", Source(folder, later=later), ["a", "b"])
    compare(tmp_path / "always.ask")
    same(tmp_path / "always.ask", tmp_path / "never.ask")


@pytest.mark.parametrize(
    ("kind", "classes", "by"),
    [("classes", ["a", "b"], "spot check"), ("ordered", ["a", "b"], "spot check"), ("several", ["a", "b"], "explore")],
)
def test_until_then_questions_are_drawn_at_random(tmp_path, table, kind, classes, by):
    """They are spot checks where all other labels judge them later, and not where only what was predicted before would."""
    path, said = make(tmp_path / "later.ask", table, classes, answers=kind), {}
    with Project.open(path, write=True) as project:
        for _ in range(12):
            (question,) = project.questions()
            assert question.by == by
            assert question.node not in said
            said[question.node] = "ab"[question.node % 2]
            label = [said[question.node]] if kind == "several" else said[question.node]
            project.say("ann", question, "label", label)
        assert sorted(said) != list(range(12))
    compare(path)
    with Project.open(path) as project:
        assert [place for place in said if project.predictions().labels[place] is None] == []
        checks = project.learner.judge.spot_checks
        assert len(checks) == (0 if by == "explore" else 12)
        if checks:
            error = project.learner.judge.expected_error()
            assert error.measured == 12
            assert project.learner.judge.spot_checks_right > sum(check.right for check in checks)


def test_numbers_are_asked_at_random_until_then(tmp_path, table):
    path = make(tmp_path / "later.ask", table, (), answers="numbers")
    with Project.open(path, write=True) as project:
        assert [one.by for one in project.questions(3)] == ["explore"] * 3
    compare(path)
    with Project.open(path) as project:
        assert project.questions()[0].by != "explore"


def test_a_search_by_words_does_not_wait(tmp_path, table):
    path = make(tmp_path / "later.ask", table)
    with Project.open(path, write=True) as project:
        project.log.change("ann", "find", "a", like="market shares profit")
        (question,) = project.questions()
        assert question.by == "find"
        assert question.node % 2 == 1


def test_rows_that_come_meanwhile_are_compared_with_all_others(tmp_path, table):
    """What was computed without them is of no use then, and is refused."""
    later = make(tmp_path / "later.ask", table)
    now = make(tmp_path / "now.ask", write(tmp_path / "all.csv", range(2 * N)), later="never")
    with Project.open(later) as project:
        early = prepare_comparison(project)
        more = prepare_addition(project, write(tmp_path / "more.csv", range(N, 2 * N)))
    with Project.open(later, write=True) as project:
        assert take_in(project.store, more.path.name) == N
        with pytest.raises(BusyError, match="were compared meanwhile"):
            take_in(project.store, early.path.name)
    assert not early.path.exists()
    same(later, now)


def test_items_that_are_compared_already_are_not_compared_twice(tmp_path, table):
    path = make(tmp_path / "later.ask", table)
    with Project.open(path) as project:
        twice = [prepare_comparison(project) for _ in range(2)]
    with Project.open(path, write=True) as project:
        assert take_in(project.store, twice[0].path.name) == 0
        with pytest.raises(BusyError, match="were compared meanwhile"):
            take_in(project.store, twice[1].path.name)


def test_items_that_go_meanwhile_are_not_compared(tmp_path, table):
    path = make(tmp_path / "later.ask", table)
    with Project.open(path, write=True) as project:
        remove_items(project, ["n0", "n7"])
    with Project.open(path) as project:
        assert project.items.apart
    compare(path)
    with Project.open(path) as project:
        assert project.graph.n_nodes == N - 2
        assert project.graph.n_edges > 0
        assert not project.items.apart


@pytest.mark.parametrize("given", ["vectors", "graph"])
def test_what_is_given_is_not_left_for_later(tmp_path, table, given):
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(N, 3)))
    (tmp_path / "edges.csv").write_text("source,target\nn0,n1\nn1,n2\n")
    source = {"vectors": str(tmp_path / "v.npy")} if given == "vectors" else {"graph": tmp_path / "edges.csv"}
    with pytest.raises(SettingError, match="joined at once"):
        make(tmp_path / "later.ask", table, **source)
    make(tmp_path / "auto.ask", table, later="auto", **source)
    with Project.open(tmp_path / "auto.ask") as project:
        assert not project.items.apart


def test_columns_that_cannot_be_compared_are_refused_at_once(tmp_path, table):
    (tmp_path / "odd.csv").write_text("id,text,x\n1,some words,much\n2,other words,3\n")
    with pytest.raises(FileError, match="much"):
        make(tmp_path / "later.ask", tmp_path / "odd.csv", features=["x"])
    with pytest.raises(SettingError, match="wordllama"):
        make(tmp_path / "later.ask", table, text=None, features=["x"], meaning="wordllama")
    with pytest.raises(SettingError, match="later='soon': choose"):
        Source(table, later="soon")
    assert not (tmp_path / "later.ask").exists()


@pytest.mark.parametrize(("n", "apart"), [(N, True), (N + 1, False)])
def test_many_texts_need_not_be_waited_for(tmp_path, table, monkeypatch, n, apart):
    monkeypatch.setattr(items, "LATER_FROM", n)
    for source, waits in (({}, apart), ({"text": None, "features": ["x"]}, False)):
        path = tmp_path / f"{waits}{len(source)}.ask"
        with Project.open(make(path, table, later="auto", **source)) as project:
            assert project.items.apart == waits


def test_a_model_says_by_what_items_are_compared_now(tmp_path, table):
    """A graph that another comparison brings ends the wait."""
    path = make(tmp_path / "later.ask", table)
    with Project.open(path, write=True) as project:
        columns = columns_of(project)
        joined = join_again(project, columns)
        project.store.rejoin(joined.graph, joined.features, joined.notes, now_compared(columns))
    with Project.open(path) as project:
        assert not project.items.apart
        assert project.questions()[0].by != "spot check"


def test_a_learner_says_how_many_spot_checks_are_right(tmp_path):
    graph = ag.Graph.from_edges([(k, k + 2) for k in range(18)])
    learner = ag.Learner(graph, spot_checks=1, rng=0)
    for _ in range(12):
        question = learner.question()
        learner.tell(question.node, "ab"[question.node % 2], predicted="a")
    assert learner.judge.spot_checks_right > sum(check.right for check in learner.judge.spot_checks)
