"""A project of every kind of answers does what a learner of that kind does, and its file keeps all of it."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import askgraph as ag
from askgraph.errors import LabelError, SettingError
from askgraph.kinds.several import Several
from askgraph.learner.settings import Settings
from askgraph.web import views
from askgraph.workbench import report
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.growing import prepare_addition, remove_items, take_in
from askgraph.workbench.project import Project
from askgraph.workbench.restoring import copy_project
from askgraph.workbench.source import Source
from tests.helpers.signed import KINDS as SIGNED
from tests.helpers.signed import STEPS

N = 40
KINDS = {**SIGNED, "positive numbers": (ag.Numbers(unit="EUR", link="log"), [])}
every_kind = pytest.mark.parametrize("name", list(KINDS))


def write_table(path, n=N):
    rng = np.random.default_rng(0)
    rows = rng.random((n, 2))
    lines = [f"i{k},{x:.4f},{y:.4f}" for k, (x, y) in enumerate(rows)]
    path.write_text("\n".join(["id,x,y", *lines]) + "\n")
    return rows


def answer_of(name, row):
    x, y = row
    if "numbers" in name:
        return round(float(100 * x + 20 * y + 1), 1)
    if name == "several":
        return tuple(sorted(c for c, has in (("bad", x < 0.4), ("fair", y < 0.5), ("good", x > 0.6)) if has))
    return STEPS[min(int(3 * x), 2)]


def made(folder, name, **options):
    rows = write_table(folder / "t.csv")
    kind, classes = KINDS[name]
    Project.create(folder / "p.ask", Source(folder / "t.csv", features=["x", "y"]), classes, answers=kind, **options)
    return folder / "p.ask", rows


@every_kind
def test_a_project_asks_and_predicts_as_a_learner_of_its_kind(tmp_path, name):
    path, rows = made(tmp_path, name)
    with Project.open(path, write=True) as project:
        told = {}
        for _ in range(12):
            (question,) = project.questions()
            told[question.node] = answer_of(name, rows[question.node])
            project.say("ann", question, "label", told[question.node])
        kind, settings = project.answers.kind, project.about["settings"]
        classes = {} if kind.name in ("ordered", "numbers") else {"classes": STEPS}
        learner = ag.Learner(project.graph, settings["utility"], answers=kind, rng=0, **classes)
        learner.tell_all(told)
        found = project.predictions()
        for item in told:
            assert found.labels[item] == told[item]
        if kind.by_class:
            assert found.labels.tolist() == learner.predict().tolist()
            np.testing.assert_allclose(found.probabilities, learner.probabilities(), rtol=1e-7, atol=1e-9)
        else:
            np.testing.assert_allclose(found.labels.astype(float), learner.predict(), rtol=1e-6)
        if kind.ranged:
            _, low, high = learner.predict(interval=0.9)
            assert np.all(found.low <= found.high) or kind.by_class
            if kind.by_class:
                assert (found.low.tolist(), found.high.tolist()) == (low.tolist(), high.tolist())
    with Project.open(path) as again:
        assert again.answers.labels == told
        now = again.predictions().labels
        if kind.by_class:
            assert now.tolist() == found.labels.tolist()
        else:
            np.testing.assert_allclose(now.astype(float), found.labels.astype(float), rtol=1e-6)


@every_kind
def test_every_report_of_every_kind_is_json(tmp_path, name):
    path, rows = made(tmp_path, name, overlap=2)
    with Project.open(path, write=True) as project:
        assert json.dumps(report.progress(project, project.predictions()), allow_nan=False)
        for k in range(14):
            for who in ("ann", "bob"):
                project.say(who, f"i{k}", "label", answer_of(name, rows[k if who == "ann" else (k + k % 2) % N]))
        project.say("ann", "i20", "cannot")
        found = project.predictions()
        said = report.progress(project, found)
        reports = [
            said, report.goal(project, said), report.suspects(project), report.people(project), report.agreement(project),
            report.care(project), report.classes(project), report.class_changes(project), report.history(project, 50),
            report.explain(project, 3), report.explain(project, 30), report.checkup(project),
            report.review(project, report.suspects(project), report.least_sure(found, np.ones(N, dtype=bool), 5)),
        ]  # fmt: skip
        for one in reports:
            assert json.dumps(one, allow_nan=False)
        assert said["error"]["value"] >= 0
        assert "label that was given" in how_labeled(project)


@every_kind
def test_rows_come_and_go_and_copies_keep_every_kind(tmp_path, name):
    path, rows = made(tmp_path, name)
    with Project.open(path, write=True) as project:
        for k in range(8):
            project.say("ann", f"i{k}", "label", answer_of(name, rows[k]))
        more = tmp_path / "more.csv"
        more.write_text("id,x,y\nnew1,0.5,0.5\nnew2,0.1,0.9\n")
        addition = prepare_addition(project, more)
        take_in(project.store, addition.path.name)
    with Project.open(path, write=True) as project:
        assert project.items.n_items == N + 2
        remove_items(project, ["i0"])
    with Project.open(path) as project:
        kept = {project.items.item(place).id: label for place, label in project.answers.labels.items()}
        assert kept == {f"i{k}": answer_of(name, rows[k]) for k in range(1, 8)}
    copy_project(path, tmp_path / "copy.ask")
    with Project.open(tmp_path / "copy.ask") as copy:
        assert len(copy.answers.labels) == 7
        assert copy.answers.kind.name == KINDS[name][0].name


@every_kind
def test_what_does_not_fit_is_refused_and_nothing_is_stored(tmp_path, name):
    path, _ = made(tmp_path, name)
    odd = {
        "classes": [3.5, ["bad"], {"one of": ["bad"]}],
        "ordered": ["great", 3.5, {"one of": ["bad", "great"]}],
        "several": [3.5, {"one of": ["bad", "good"]}, ["a|b"]],
        "numbers": ["x", ["1"], float("nan"), {"one of": ["1", "2"]}, True],
        "positive numbers": [-1.0, 0, "2"],
    }
    with Project.open(path, write=True) as project:
        for said in odd[name]:
            with pytest.raises(LabelError):
                project.say_all("ann", [("i0", "label", answer_of(name, (0.5, 0.5))), ("i1", "label", said)])
        assert project.store.lines == 0


def test_the_kind_of_answers_stays_and_two_are_not_named(tmp_path):
    path, _ = made(tmp_path, "several")
    with Project.open(path) as project:
        assert project.answers.kind == Several()
    write_table(tmp_path / "t.csv")
    with pytest.raises(SettingError, match="two kinds"):
        Project.create(tmp_path / "q.ask", Source(tmp_path / "t.csv"), settings=Settings.of(), answers="several")


def test_a_merge_lets_an_item_that_has_both_keep_one_and_an_undo_gives_both_back(tmp_path):
    path, _ = made(tmp_path, "several")
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", ["bad", "fair"])
        project.log.change("ann", "merge", "bad", "fair")
        assert project.answers.labels == {0: ("fair",)}
        project.predictions()
        project.log.undo_change("ann")
        assert project.answers.labels == {0: ("bad", "fair")}


def test_no_class_has_the_key_that_says_none_of_these(tmp_path):
    """The tenth class had it, and with that no key at all on the page."""
    names = [f"class {k}" for k in range(1, 12)]
    keys = {}
    for kind in ("classes", "several"):
        (tmp_path / kind).mkdir()
        write_table(tmp_path / kind / "t.csv")
        path = tmp_path / kind / "p.ask"
        Project.create(path, Source(tmp_path / kind / "t.csv", features=["x", "y"]), names, answers=kind)
        with Project.open(path, write=True) as project:
            keys[kind] = "".join(one["key"] for one in report.classes(project))
            if kind == "several":
                assert "0" not in views.classes(project)["keys"]
                with pytest.raises(LabelError, match="the key '0'"):
                    project.log.change("ann", "key", "class 1", "0")
    assert keys == {"classes": "1234567890a", "several": "123456789ab"}


def test_another_order_of_the_steps_is_another_median(tmp_path):
    path, _ = made(tmp_path, "ordered")
    with Project.open(path, write=True) as project:
        for who, step in (("ann", "bad"), ("bob", "fair"), ("cy", "good")):
            project.say(who, "i0", "label", step)
        assert project.answers.labels == {0: "fair"}
        project.log.change("ann", "order", None, json.dumps(["fair", "bad", "good"]))
        assert project.answers.labels == {0: "bad"}
        assert project.answers.kind == ag.Ordered(["fair", "bad", "good"])
        project.log.change("ann", "merge", "good", "bad")
        project.log.change("ann", "merge", "bad", "fair")
        assert project.predictions().labels.tolist() == ["fair"] * N


def test_numbers_have_no_classes_to_change_but_may_be_sought(tmp_path):
    path, rows = made(tmp_path, "numbers")
    with Project.open(path, write=True) as project:
        with pytest.raises(LabelError, match="have no classes"):
            project.log.change("ann", "add", "a")
        for k in range(10):
            project.say("ann", f"i{k}", "label", answer_of("numbers", rows[k]))
        for value in ("highest", "lowest", "60", "at least"):
            if value == "at least":
                with pytest.raises(LabelError):
                    project.log.change("ann", "find", None, value)
                continue
            project.log.change("ann", "find", None, value)
            assert project.questions()
            assert json.dumps(report.progress(project, project.predictions())["find"])
        project.log.change("ann", "find", None)
        assert project.model.sought is None


def test_the_file_of_each_kind_is_not_read_by_an_older_program(tmp_path, monkeypatch):
    from askgraph.errors import NewerError
    from askgraph.workbench import schema

    path, _ = made(tmp_path, "several")
    older = tmp_path / "older.ask"
    shutil.copy(path, older)
    monkeypatch.setattr(schema, "LATEST", schema.LATEST - 1)
    with pytest.raises(NewerError, match="newer askgraph"), Project.open(older):
        pass
