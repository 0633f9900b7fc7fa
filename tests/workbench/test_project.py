"""Promises 7, 8 and 18: what counts is a fold over the log, the learner follows it, and the states at the edges have an answer."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import askgraph as ag
from askgraph.answers.coding import means
from askgraph.errors import ReusedKeyError
from askgraph.learner.settings import Settings
from askgraph.workbench import report
from askgraph.workbench.answers import Answer, Answers
from askgraph.workbench.care import Raters, label_noise
from askgraph.workbench.classes import Change, Classes
from askgraph.workbench.exchange import label_studio_tasks
from askgraph.workbench.export import answer_rows, prediction_rows, to_parquet
from askgraph.workbench.items import Items
from askgraph.workbench.model import TELL_TOGETHER_FROM
from askgraph.workbench.project import Project
from askgraph.workbench.store import Store
from tests.helpers.graphs import random_graph
from tests.helpers.projects import log_of, make, say

N = 8
WHO = st.sampled_from(["ann", "bob", "cy"])
ITEMS = st.integers(0, N - 1)
GRAPH = ag.Graph(random_graph(np.random.default_rng(0), N))


# What counts, literally: from the whole list of events, every time


def standing(events):
    taken_back = {e.undoes for e in events if e.kind == "undo"}
    return [e for e in events if e.kind != "undo" and e.seq not in taken_back]


def says(events, item):
    """Who says what of an item: of each person, the last that stands."""
    return {e.who: e for e in standing(events) if e.item == item}


def counts(events, item):
    """("label", name), a reason to leave it, or None: what most people say; of two, a label; of two of those, the newer."""
    said = sorted(says(events, item).values(), reverse=True)
    votes = [(e.kind, e.label) for e in said if e.kind != "later"]
    if not votes:
        return ("later", None) if said else None
    most = Counter(votes).most_common(1)[0][1]
    top = [vote for vote in votes if votes.count(vote) == most]
    return next((vote for vote in top if vote[0] == "label"), top[0])


def doubts(events, classes, labels):
    """The label noise of labels that may be wrong, by what everybody says: {item: noise}."""
    said = {k: {who: e.label for who, e in says(events, k).items() if e.kind == "label"} for k in range(N)}
    names = dict.fromkeys([*classes, *(name for one in said.values() for name in one.values())])
    known = Raters([one for one in said.values() if one], list(names))
    wrong = {item: known.wrongness(said[item], label) for item, label in labels.items()}
    degrees = GRAPH.degrees
    doubted = {
        item: e for item, e in wrong.items() if e > 0 and degrees[item] > 0
    }  # without neighbors a label stands alone
    return {item: label_noise(e, max(len(classes), 2), degrees[item]) for item, e in doubted.items()}


def by_class(project):
    """The mean, its classes in the order of their names."""
    return means(project.learner.field.votes)[:, np.argsort(project.learner.classes)]


class Walk(RuleBasedStateMachine):
    """Three people label, relabel, skip, undo, retry and come back; the log and what follows from it are compared throughout."""

    def __init__(self):
        super().__init__()
        self.stack = ExitStack()
        self.events = []
        self.sent = 0

    @initialize(classes=st.sampled_from([[], ["a", "b"]]))
    def begin(self, classes):
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.path = make(Path(folder) / "p.ask", N, classes, GRAPH, readout="map")  # others make much of roundoff at 0
        self.open()

    def open(self):
        self.opened = ExitStack()
        self.project = self.opened.enter_context(Project.open(self.path, write=True))

    def teardown(self):
        if hasattr(self, "opened"):
            self.opened.close()
        self.stack.close()

    def key(self):
        self.sent += 1
        return f"k{self.sent}"

    @rule(who=WHO, item=ITEMS, label=st.sampled_from("abcd"), times=st.integers(1, 2))
    def label(self, who, item, label, times):
        key = self.key()
        for _ in range(times):
            said = self.project.say(who, f"i{item}", "label", label, key=key)
        assert (said.who, said.item, said.kind, said.label) == (who, item, "label", label)
        self.events.append(said)

    @rule(who=WHO, item=ITEMS, kind=st.sampled_from(["later", "cannot", "invalid"]))
    def skip(self, who, item, kind):
        self.events.append(self.project.say(who, f"i{item}", kind))

    @rule(who=WHO, times=st.integers(1, 2))
    def undo(self, who, times):
        mine = [e for e in standing(self.events) if e.who == who]
        key = self.key()
        for _ in range(times):
            taken = self.project.undo(who, key)
            assert taken == (mine[-1] if mine else None)
            if not mine:
                break
        self.events = list(self.project.store.answers())

    @rule()
    def come_back(self):
        self.opened.close()
        self.open()

    @rule(n=st.integers(1, 3))
    def ask(self, n):
        asked = self.project.ask(n)
        decided = {item: counts(self.events, item) for item in range(N)}
        free = {item for item in range(N) if decided[item] is None}
        later = {item for item in range(N) if decided[item] == ("later", None)}
        assert len(set(asked)) == len(asked) == min(n, len(free or later))
        assert set(asked) <= (free or later)
        assert bool(asked) == (self.project.finished is None)

    @rule()
    def compare_with_a_fresh_learner(self):
        labels = {item: found[1] for item in range(N) if (found := counts(self.events, item)) and found[0] == "label"}
        found = self.project.predictions()
        declared = self.project.about["classes"]
        assert sorted(found.classes) == sorted({*declared, *labels.values()})
        fresh = ag.Learner(GRAPH, rng=0, classes=found.classes, readout="map")
        noise = doubts(self.events, self.project.answers.classes, labels)
        for item, name in labels.items():
            fresh.tell(item, name, noise.get(item))
        np.testing.assert_allclose(found.variance, fresh.field.spread.variance, atol=1e-8)
        if found.classes:
            np.testing.assert_allclose(found.probabilities, fresh.probabilities(), atol=1e-8)
            mean = means(fresh.field.votes)[:, np.argsort(found.classes)]
            np.testing.assert_allclose(by_class(self.project), mean, atol=1e-8)

    @rule()
    def export(self):
        rows = list(prediction_rows(self.project))
        kinds, known = [(counts(self.events, k) or "?")[0] for k in range(N)], bool(self.project.answers.classes)
        assert [row["source"] == "predicted" for row in rows] == [
            known and kind not in ("label", "invalid") for kind in kinds
        ]
        held = [(a.item, a.who) for k in range(N) for a in says(self.events, k).values()]
        assert sorted((row["id"], row["who"]) for row in answer_rows(self.project)) == sorted(
            (f"i{k}", w) for k, w in held
        )
        assert len(list(label_studio_tasks(self.project))) == N

    @invariant()
    def the_log_is_what_was_said(self):
        if not hasattr(self, "project"):
            return
        written = self.project.store.answers()
        assert written == self.events
        assert [e.seq for e in written] == list(range(1, len(written) + 1))
        assert list(self.project.answers.log.values()) == written

    @invariant()
    def what_counts_is_what_the_log_says(self):
        if not hasattr(self, "project"):
            return
        answers = self.project.answers
        for item in range(N):
            found = counts(self.events, item)
            label = found[1] if found and found[0] == "label" else None
            aside = found[0] if found and found[0] != "label" else None
            assert answers.decision(item) == (label, aside)
            assert answers.of(item) == says(self.events, item)
        for who in ("ann", "bob", "cy"):
            mine = [e for e in standing(self.events) if e.who == who]
            assert answers.last(who) == (mine[-1] if mine else None)
            assert answers.people.get(who, 0) == len(mine)


@pytest.mark.slow
def test_promise_8_any_walk_is_what_the_log_says():
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    few = settings(max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=slow)
    run_state_machine_as_test(Walk, settings=few)


def walk(project, rng, steps, n):
    for _ in range(steps):
        who, item, kind = rng.choice(["ann", "bob"]), f"i{rng.integers(n)}", rng.random()
        if kind < 0.7:
            project.say(who, item, "label", "abcd"[rng.integers(4)])
        elif kind < 0.85:
            project.say(who, item, ["later", "cannot", "invalid"][rng.integers(3)])
        else:
            project.undo(who)
        if rng.random() < 0.3:
            project.ask()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dense", "direct"])
@pytest.mark.parametrize("sampler", ["influence", "tv", "msd"])
def test_promise_7_a_replay_asks_the_same(tmp_path, monkeypatch, engine, sampler):
    chosen = ag.prior
    monkeypatch.setattr(
        "askgraph.learner.learner.choose_prior", lambda graph, delta, _, columns: chosen(graph, delta, engine, columns)
    )
    graph = ag.communities((30, 30), mean_degree=5, rng=0)[0]
    path, gap, asked = make(tmp_path / "p.ask", 60, graph=graph, sampler=sampler), 0.0, 0
    with Project.open(path, write=True) as live:
        rng = np.random.default_rng(7)
        for _ in range(5):
            walk(live, rng, 15, 60)
            with Project.open(path) as again:
                assert again.learner.field.prior.name == engine
                assert again.ask(3) == live.ask(3)
                asked += 3
                gap = max(gap, np.abs(by_class(again) - by_class(live)).max())
                assert gap <= 1e-10
    print(f"promise 7, {engine}, {sampler}: {asked} questions the same, |Δμ| ≤ {gap:.0e}")


def test_a_reader_hears_what_is_written_meanwhile(tmp_path):
    path = make(tmp_path / "p.ask")
    with Project.open(path) as reader:
        reader.ask()
        say(path, ("i0", "a"), ("i11", "b"))
        assert reader.refresh() == 2
        assert reader.refresh() == 0
        assert reader.answers.labels == {0: "a", 11: "b"}
        assert reader.predictions().classes == ["a", "b"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_reader_catches_up_on_much_at_once(tmp_path, seed):
    """Labels, other ones, items set aside and taken back: told together they are what they are one after another."""
    path = make(tmp_path / "p.ask", 60, graph=ag.communities((30, 30), mean_degree=5, rng=0)[0])
    rng = np.random.default_rng(seed)
    with Project.open(path, write=True) as live, Project.open(path) as reader:
        for steps in (10, 80, 100):
            walk(live, rng, steps, 60)
            reader.refresh()
            assert len(reader.model._untold) > TELL_TOGETHER_FROM or steps == 10
            assert reader.ask(3) == live.ask(3)
            assert np.abs(by_class(reader) - by_class(live)).max() <= 1e-10
            assert sorted(reader.learner.labels.items()) == sorted(reader.answers.labels.items())


def test_alternatives_are_open_and_different(tmp_path):
    path = make(tmp_path / "p.ask", 60, graph=ag.communities((30, 30), mean_degree=5, rng=0)[0])
    with Project.open(path, write=True) as project:
        assert len({question.node for question in project.questions(10, at_once=True)}) == 10
        walk(project, np.random.default_rng(0), 20, 60)
        found = [question.node for question in project.questions(80, at_once=True)]
        assert len(found) == len(set(found)) == 60 - len(project.answers.labels) - len(project.answers.aside)
        assert all(project.log.open_at(place) for place in found)


def test_classes_come_in_the_same_order_after_a_restart(tmp_path):
    path = make(tmp_path / "p.ask")
    with Project.open(path, write=True) as live:
        for item, label in (("i0", "a"), ("i5", "b"), ("i9", "c"), ("i0", "z")):
            live.say("ann", item, "label", label)
            live.ask()
        with Project.open(path) as again:
            assert live.predictions().classes == again.predictions().classes == ["z", "b", "c"]
            rows = [list(prediction_rows(project)) for project in (live, again)]
    assert [list(row) for row in rows[0]] == [list(row) for row in rows[1]]
    assert [row["label"] for row in rows[0]] == [row["label"] for row in rows[1]]


class Compared(int):
    """A number that counts how often it is compared with others."""

    times = 0

    def __eq__(self, other):
        Compared.times += 1
        return int(self) == other

    __hash__ = int.__hash__


def test_the_work_of_an_undo_does_not_grow_with_the_number_of_answers(monkeypatch):
    monkeypatch.setattr(Compared, "times", 0)
    answers, n = Answers(["a"]), 2000
    for k in range(n):
        answers.add(Answer(Compared(k + 1), f"k{k}", "ann", "", "label", k % (n // 2), "a"))
    for k in range(n):
        answers.add(Answer(Compared(n + k + 1), f"u{k}", "ann", "", "undo", (n - 1 - k) % (n // 2), undoes=n - k))
    assert answers.labels == {}
    assert Compared.times < 20 * n


def test_the_work_of_a_rename_grows_with_the_labels_that_it_renames_and_of_other_changes_not_at_all(monkeypatch):
    answers, looked = Answers(["a", "b"]), []
    for k in range(1000):
        answers.add(Answer(k + 1, f"k{k}", "ann", "", "label", k, "b" if k % 100 else "a"))
    renamed, apply = Answers._renamed, Classes._apply
    monkeypatch.setattr(Answers, "_renamed", lambda self, line: looked.append(line) or renamed(self, line))
    answers.add_change(Change(1, "x", "ann", "", 1000, "rename", "a", "c"))
    assert len(looked) == 10
    monkeypatch.setattr(Classes, "_apply", lambda self, change: looked.append(change) or apply(self, change))
    for k in range(100):
        answers.add_change(Change(k + 2, f"x{k}", "ann", "", 1000, "describe", "b", str(k)))
    assert len(looked) == 10 + 100


def test_an_undo_brings_back_what_the_person_said_before(tmp_path):
    with Project.open(make(tmp_path / "p.ask"), write=True) as project:
        project.say("ann", "i0", "label", "a")
        project.say("ann", "i0", "label", "b")
        project.say("bob", "i0", "cannot")
        assert project.answers.labels == {0: "b"}
        assert project.undo("ann").label == "b"
        assert project.answers.labels == {0: "a"}
        project.undo("ann")
        assert (project.answers.labels, project.answers.aside) == ({}, {0: "cannot"})
        assert project.undo("ann") is None
        project.undo("bob")
        assert (project.answers.aside, project.learner.labels) == ({}, {})
        assert len(project.answers.log) == 6


# Promise 18: the edges


def everything(project):
    """All that a page or a command would want to know."""
    report.progress(project, project.predictions())
    report.people(project)
    report.checkup(project)
    to_parquet(prediction_rows(project))
    list(label_studio_tasks(project))
    p = project.predictions().probabilities
    assert np.isfinite(p).all()
    assert ((p >= 0) & (p <= 1)).all()


EDGES = {
    "zero labels": ([], {}),
    "one class": ([("i0", "label", "a"), ("i3", "label", "a")], {}),
    "one class declared": ([], {"classes": ["a"]}),
    "classes declared, no labels": ([], {"classes": ["a", "b"]}),
    "all skipped": ([(f"i{k}", kind, None) for k, kind in enumerate(["later", "cannot", "invalid"] * 4)], {}),
    "all of no use": ([(f"i{k}", "cannot", None) for k in range(12)], {}),
    "all labeled": ([(f"i{k}", "label", "ab"[k % 2]) for k in range(12)], {}),
    "all but one labeled": ([(f"i{k}", "label", "ab"[k % 2]) for k in range(11)], {}),
    "all labeled, each another class": ([(f"i{k}", "label", f"c{k}") for k in range(12)], {}),
    "one item": ([], {"n": 1, "graph": ag.Graph(np.zeros((1, 1)))}),
    "one item labeled": ([("i0", "label", "a")], {"n": 1, "graph": ag.Graph(np.zeros((1, 1)))}),
    "two items": ([("i0", "label", "a")], {"n": 2}),
    "two items, two classes": ([("i0", "label", "a"), ("i1", "label", "b")], {"n": 2}),
    "no edges": ([("i0", "label", "a"), ("i3", "label", "b")], {"graph": ag.Graph(np.zeros((12, 12)))}),
    "no edges, no labels": ([], {"graph": ag.Graph(np.zeros((12, 12)))}),
}


@pytest.mark.slow
@pytest.mark.parametrize("edge", EDGES)
def test_promise_18_every_state_has_a_question_or_is_finished(tmp_path, edge):
    said, options = EDGES[edge]
    path = make(tmp_path / "p.ask", **options)
    with Project.open(path, write=True) as project:
        for item, kind, label in said:
            project.say("ann", item, kind, label)
        for n in (1, 5):
            asked = project.ask(n)
            assert bool(asked) != bool(project.finished)
        everything(project)
        while said and project.undo("ann"):
            assert project.ask() or project.finished
    with Project.open(path) as again:
        everything(again)
        assert again.ask() or again.judge.finished


def test_finished_says_why(tmp_path):
    with Project.open(make(tmp_path / "p.ask", 3), write=True) as project:
        project.say_all("ann", [("i0", "label", "a"), ("i1", "later", None)])
        project.say("ann", "i2", "invalid")
        assert project.finished is None
        assert project.ask(5) == [1]
        project.say("ann", "i1", "label", "b")
        assert project.finished == "finished: every item is labeled or set aside (1 of them)"


def test_imported_labels_are_the_first_lines_of_the_log(tmp_path):
    path = make(tmp_path / "p.ask", 3, labels=["a", None, "b"])
    assert [(a.who, a.item, a.label) for a in log_of(path)] == [("import", 0, "a"), ("import", 2, "b")]
    with Project.open(path, write=True) as project:
        assert project.predictions().classes == ["a", "b"]
        assert project.undo("ann") is None
        project.say("ann", "i0", "label", "c")
        assert project.answers.labels[0] == "c"  # of two, the newer
        assert report.people(project)["agreement"] == {"items": 1, "share": 0.0, "apart": None}


def test_titles_are_short(tmp_path):
    about = {
        "project": "p", "uid": "p", "classes": [], "fields": {"n": "number", "t": "text"}, "images": None, "graph": [],
        "settings": Settings.of().to_json(), "seed": 0, "overlap": 1,
    }  # fmt: skip
    fields = {"n": [1, 2, 3], "t": ["short", "word " * 50, None]}
    Store.create(tmp_path / "p.ask", Items(["a", "b", "c"], fields), ag.chain(3), about)
    with Project.open(tmp_path / "p.ask") as project:
        titles = [project.items.title(project.items.item(k)) for k in range(3)]
    assert titles[0] == "short"
    assert len(titles[1]) == 80
    assert titles[2] == "n 3"


@pytest.mark.parametrize(
    ("who", "item", "kind", "label"),
    [
        ("ann", "i1", "label", "a"),
        ("ann", "i0", "label", "b"),
        ("bob", "i0", "label", "a"),
        ("ann", "i0", "cannot", None),
    ],
)
def test_an_answer_under_the_key_of_another_is_refused(tmp_path, who, item, kind, label):
    with Project.open(make(tmp_path / "p.ask"), write=True) as project:
        project.say("ann", "i0", "label", "a", key="one key", seconds=1.0)
        project.say("ann", "i0", "label", "a", key="one key", seconds=2.0)  # sent again: the same answer
        with pytest.raises(ReusedKeyError, match="one key"):
            project.say(who, item, kind, label, key="one key")
        with pytest.raises(ReusedKeyError):
            project.say_all(who, [("i5", "label", "a"), (item, kind, label)], key="one key")
        with pytest.raises(ReusedKeyError):
            project.undo("ann", "one key")
        assert len(project.answers.log) == 1


def test_an_answer_under_a_key_within_that_of_many_is_refused(tmp_path):
    with Project.open(make(tmp_path / "p.ask"), write=True) as project:
        project.say_all("ann", [("i0", "label", "a"), ("i1", "label", "b")], key="many")
        with pytest.raises(ReusedKeyError):
            project.say("ann", "i2", "label", "a", key="many:1")
        assert project.undo("ann", "the undo").item == 1
        assert project.undo("ann", "the undo").item == 1  # sent again
        with pytest.raises(ReusedKeyError):
            project.undo("bob", "the undo")


def test_what_is_computed_ahead_ends_with_the_learner(tmp_path):
    path = make(tmp_path / "p.ask", n=40, classes=("left", "right"))
    with Project.open(path, write=True) as project:
        ahead = project.model.prefetch()
        project.model.forget()
        assert not ahead.running
        ahead = project.model.prefetch()
    assert not ahead.running
