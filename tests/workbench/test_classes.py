"""Classes are renamed, merged, described, ordered and given keys by lines of a log, and every such line can be taken back."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import askgraph as ag
from askgraph.answers.shares import OneOf
from askgraph.cli.app import app
from askgraph.errors import FileError, LabelError, OutdatedError, ReusedKeyError
from askgraph.workbench import report
from askgraph.workbench.answers import Answer, Answers
from askgraph.workbench.classes import Change
from askgraph.workbench.export import answer_rows
from askgraph.workbench.forms import form_of, named
from askgraph.workbench.project import Project
from askgraph.workbench.store import Store
from tests.helpers.plain_model import Line, PlainModel
from tests.helpers.projects import answer, hurt, make, make_of, make_old, say


@pytest.fixture
def path(tmp_path):
    return make(tmp_path / "p.ask", 14, classes=["Sports", "Business"])


def change(path, *given, who="ann"):
    with Project.open(path, write=True) as project:
        project.log.change(who, *given)


def labels(path):
    with Project.open(path) as project:
        assert project.learner.labels == project.answers.labels
        return project.answers.labels


def test_a_misspelt_class_with_ten_labels_is_merged_in_one_action(path):
    say(path, *((f"i{k}", "Sprots") for k in range(10)), ("i10", "Sports"), ("i11", "Business"))
    change(path, "merge", "Sprots", "Sports")
    assert labels(path) == {**dict.fromkeys(range(11), "Sports"), 11: "Business"}
    with Project.open(path, write=True) as project:
        assert project.answers.classes == ["Sports", "Business"]
        project.say("bob", "i12", "label", "Sprots")  # by a page that has not heard of it yet
        assert project.answers.labels[12] == "Sports"
        assert project.log.undo_change("ann").kind == "merge"
        assert project.answers.classes == ["Sports", "Business", "Sprots"]
    assert labels(path) == {**dict.fromkeys((*range(10), 12), "Sprots"), 10: "Sports", 11: "Business"}


def test_names_can_be_swapped_and_a_change_taken_back_leaves_every_answer_where_it_belongs(path):
    say(path, ("i0", "Sports"), ("i1", "Business"))
    for old, new in (("Sports", "x"), ("Business", "Sports"), ("x", "Business")):
        change(path, "rename", old, new)
    say(path, ("i2", "Sports"))
    assert labels(path) == {0: "Business", 1: "Sports", 2: "Sports"}
    with Project.open(path, write=True) as project:
        for seq in (3, 2, 1):
            project.log.undo_change("bob", seq)
        assert project.log.undo_change("bob") is None
        with pytest.raises(LabelError, match="no change 2"):
            project.log.undo_change("bob", 2)
    assert labels(path) == {0: "Sports", 1: "Business", 2: "Business"}


def test_votes_of_merged_classes_count_together(path):
    for who, label in (("ann", "Sports"), ("bob", "Business"), ("cy", "Sprots")):
        say(path, ("i0", label), who=who)
    assert labels(path)[0] == "Sprots"  # three opinions: the last one
    change(path, "merge", "Sprots", "Business")
    assert labels(path)[0] == "Business"
    with Project.open(path) as project:
        assert [row["label"] for row in answer_rows(project)] == ["Sports", "Business", "Business"]


def test_a_step_that_others_are_merged_into_keeps_its_place(tmp_path):
    """And so do the others: what lies between them stays below it."""
    path = make_of(tmp_path / "p.ask", "ordered", classes=["bad", "fair", "good"])
    for who, label in (("ann", "fair"), ("bob", "bad"), ("cy", "fair")):
        say(path, ("i0", label), who=who)
    say(path, ("i9", "good"))
    with Project.open(path, write=True) as project:
        project.log.change("ann", "merge", "bad", "good")
        assert project.answers.classes == ["fair", "good"]
        assert project.predictions().labels[[0, 9]].tolist() == ["fair", "good"]
        project.log.undo_change("ann")
        project.log.change("ann", "order", None, '["good", "bad", "fair"]')
        project.log.change("ann", "merge", "good", "fair")
        assert project.answers.classes == ["bad", "fair"]


def test_another_order_of_steps_has_another_median(tmp_path):
    path = make_of(tmp_path / "p.ask", "ordered", classes=["bad", "fair", "good"])
    for who, label in (("ann", "bad"), ("bob", "fair"), ("cy", "good")):
        say(path, ("i0", label), who=who)
    with Project.open(path, write=True) as project:
        assert project.learner.labels == {0: "fair"}
        project.log.change("ann", "order", None, '["fair", "good", "bad"]')
        assert project.answers.labels == project.learner.labels == {0: "good"}


def test_keys_descriptions_and_order(path):
    for one in (
        ("add", "Science"),
        ("key", "Science", "z"),
        ("describe", "Sports", "  Matches \n and athletes. "),
        ("order", None, json.dumps(["Science", "Sports", "Business"])),
    ):
        change(path, *one)
    with Project.open(path, write=True) as project:
        assert [tuple(row.values()) for row in report.classes(project)] == [
            ("Science", "z", 0, "", []),
            ("Sports", "1", 0, "Matches and athletes.", []),
            ("Business", "2", 0, "", []),
        ]
        project.log.change("ann", "key", "Sports", "z")  # Science gets another one
        assert [row["key"] for row in report.classes(project)] == ["1", "z", "2"]
        project.say("ann", "i3", "label", "Business")
        project.say("ann", "i9", "label", "Science")
        assert project.predictions().classes == ["Science", "Sports", "Business"]
        for bad in (
            ("rename", "Sports", "Business"),
            ("rename", "Nothing", "x"),
            ("merge", "Sports", "Sports"),
            ("merge", "Sports", "Nothing"),
            ("key", "Sports", "s"),
            ("key", "Sports", "12"),
            ("describe", "Sports", "x" * 501),
            ("order", None, '["Sports"]'),
            ("order", None, "no list"),
            ("add", "Sports"),
            ("rename", "Sports", "x" * 201),
            ("undo", "Sports"),
        ):
            with pytest.raises(LabelError):
                project.log.change("ann", *bad)
        assert project.answers.changes == 5


def test_a_change_sent_again_is_made_once(path):
    with Project.open(path, write=True) as project:
        first = project.log.change("ann", "rename", "Sports", "Athletics", key="one")
        assert project.log.change("ann", "rename", "Sports", "Athletics", key="one") == first
        with pytest.raises(ReusedKeyError):
            project.log.change("ann", "rename", "Business", "Trade", key="one")
        assert [project.log.undo_change("ann", key="two").seq for _ in range(2)] == [1, 1]
        assert project.answers.changes == 2


@pytest.mark.parametrize(
    "query", ["DELETE FROM changes", "UPDATE changes SET value = 'x'", "REPLACE INTO changes SELECT * FROM changes"]
)
def test_promise_8_no_line_of_the_log_of_changes_is_deleted_or_changed(path, query):
    change(path, "rename", "Sports", "Athletics")
    with pytest.raises(sqlite3.IntegrityError, match="never"):
        hurt(path, query)


def test_a_gap_in_the_log_of_changes_is_damage(path):
    hurt(path, "INSERT INTO changes (seq, key, who, at, answers, kind) VALUES (2, 'k', 'eve', '', 0, 'add')")
    with pytest.raises(FileError, match="1 changes in lines 2 to 2"), Project.open(path):
        pass


PEOPLE, NAMES = ("ann", "bob", "cy"), ("a", "b", "c", "d")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 5), st.sampled_from(NAMES)),
        st.tuples(st.sampled_from(["rename", "merge", "add"]), *[st.sampled_from(NAMES)] * 2),
        st.tuples(st.just("undo"), st.integers(1, 12), st.none()),
    ),
    max_size=14,
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(STEPS)
def test_what_counts_is_a_fold_over_both_logs_and_undoing_all_changes_gives_the_names_that_were_said(
    tmp_path_factory, steps
):
    path = make(tmp_path_factory.mktemp("fold") / "p.ask", 6, classes=["a", "b"], readout="map")
    with Project.open(path, write=True) as project:
        reader = Project(project.store)  # follows line by line, as the thinker does
        for kind, first, second in steps:
            try:
                if kind == "say":
                    project.say("ann", f"i{first}", "label", second)
                elif kind == "undo":
                    project.log.undo_change("ann", first)
                else:
                    project.log.change("ann", kind, first, None if kind == "add" else second)
            except LabelError:
                continue
            assert reader.refresh() == (kind == "say")
            assert set(project.answers.labels.values()) <= set(project.answers.classes)
        again = Project(project.store)
        for other in (reader, again):
            assert other.answers.labels == project.answers.labels
            assert other.answers.log == project.answers.log
            assert other.answers.classes == project.answers.classes
        assert project.learner.labels == project.answers.labels
        if project.answers.labels:
            np.testing.assert_allclose(again.predictions().probabilities, project.predictions().probabilities)
        renamed = [c for c in project.answers.naming.standing if c.kind == "rename"]
        for one in reversed(project.answers.naming.standing):
            project.log.undo_change("ann", one.seq)
        if not renamed and not any(kind == "rename" for kind, *_ in steps):
            said = {a.item: a.label for a in project.store.answers()}
            assert project.answers.labels == said


def plain(label):
    """An answer as the plain model has it."""
    if isinstance(label, OneOf):
        return ("or", frozenset(label.names))
    return frozenset(label) if isinstance(label, tuple) else label


class Walk:
    """Answers and changes of classes beside a plain model of them, by steps drawn at random.

    Where a change is taken back that is not the last thing that happened, the model takes over what came of it.
    """

    def __init__(self, seed, kind="classes"):
        self.draw, self.kind, declared = random.Random(seed), kind, [] if kind == "numbers" else ["a", "b"]
        self.lines, self.answers = [], Answers(declared, form_of(kind))
        self.model = PlainModel(declared, answers=kind, known=list(declared))

    def seen(self):
        """What people see: labels, classes, descriptions and chosen keys."""
        naming, classes = self.answers.naming, self.answers.classes
        names = set(classes)
        keys, chosen = naming.keys(sorted(names)), names & self.model.keys.keys()
        labels = {item: plain(label) for item, label in self.answers.labels.items()}
        steps = classes if self.kind == "ordered" else None
        return labels, names, {n: naming.description(n) for n in names}, {n: keys[n] for n in chosen}, steps

    def expected(self):
        names, model = self.model.classes, self.model
        keys = {name: key for name, key in model.keys.items() if name in names}
        steps = [name for name in model.order if name in names] if self.kind == "ordered" else None
        return model.labels, names, {name: model.described.get(name, "") for name in names}, keys, steps

    def step(self):
        self.draw.choice(OPERATIONS)(self)

    def say(self):
        who, item, kind = (
            self.draw.choice(PEOPLE),
            self.draw.randrange(5),
            self.draw.choice(["label"] * 6 + ["cannot", "later"]),
        )
        label = self.label() if kind == "label" else None
        if kind == "label" and label is None:
            return
        self.add_line(who, "", kind, item, label)
        self.model.say(who, item, kind, plain(label))

    def label(self):
        """Return an answer, None where no step is known by the name that was drawn."""
        some = self.draw.sample(NAMES, self.draw.randrange(4))
        if self.kind == "numbers":
            return self.draw.choice([0.0, 1.0, 1.5, -7.0])
        if self.kind == "several":
            return tuple(sorted(some))
        if self.kind == "ordered" and any(self.model.meant(name) not in self.model.classes for name in some):
            return None
        return ag.one_of(*some) if len(some) > 1 else some[0] if some else None

    def undo(self):
        who = self.draw.choice(PEOPLE)
        last = self.answers.last(who)
        assert self.model.undo(who) == (last is not None)
        if last is not None:
            self.add_line(who, "", "undo", last.item, undoes=last.seq)

    def change(self):
        if self.kind == "numbers":
            return
        kind = self.draw.choice(["rename", "merge", "add", "describe", "key", "order"])
        name = None if kind == "order" else self.draw.choice(NAMES)
        value = {"describe": f"described in step {len(self.lines)}", "key": self.draw.choice("vyz"), "add": None}
        value = value.get(kind, self.draw.choice(NAMES))
        if kind == "order":
            value = self.draw.sample(self.answers.classes, len(self.answers.classes))
        if self.model.can(kind, name, value):
            self.model.change(kind, name, value)
            self.add_change(kind, name, json.dumps(value) if kind == "order" else value)

    def undo_change(self):
        standing, naming = self.answers.naming.standing, self.answers.naming
        if not standing:
            return
        taken = self.draw.choice(standing[-2:])
        self.add_change("undo", undoes=taken.seq)
        assert {name for label in self.answers.labels.values() for name in named(label)} <= {*self.answers.classes}
        if self.model.before is not None and taken == standing[-1]:
            self.model.undo_change()
            return
        log, undone = self.answers.log.items(), self.answers.undone
        said = [(seq, one) for seq, one in log if one.kind != "undo"]
        lines = [Line(one.who, one.item, one.kind, plain(one.label), seq, seq in undone) for seq, one in said]
        heard = {name for name, bearing in naming._bears.items() if bearing}
        described = {name: naming.description(name) for name in heard}
        became = {name: naming.meant(name) for name in NAMES if name not in heard}
        placed = {naming.name(number) for number in naming._order}
        order = [name for name in self.answers.steps if name in placed]
        self.model = PlainModel(
            naming.declared, lines, described, {}, became, heard, self.answers.seq, None, self.kind, order, naming.every
        )

    def add_line(self, *fields, **more):
        self.lines.append(Answer(self.answers.seq + 1, "", *fields, **more))
        self.answers.add(self.lines[-1])

    def add_change(self, kind, name=None, value=None, undoes=None):
        self.lines.append(Change(self.answers.changes + 1, "", "ann", "", self.answers.seq, kind, name, value, undoes))
        self.answers.add_change(self.lines[-1])


OPERATIONS = (*[Walk.say] * 5, Walk.undo, *[Walk.change] * 5, *[Walk.undo_change] * 2)


@pytest.mark.parametrize("kind", ["classes", "ordered", "several", "numbers"])
def test_after_a_rename_or_a_merge_no_label_has_the_old_name_and_those_that_had_it_have_the_new_one(kind):
    for seed in range(80):
        walk = Walk(seed, kind)
        declared = walk.answers.declared
        for k in range(40):
            walk.step()
            assert walk.seen() == walk.expected(), (seed, k, walk.lines[-3:])
        again = Answers(declared, form_of(kind))
        for line in walk.lines:
            again.add(line) if isinstance(line, Answer) else again.add_change(line)
        assert (again.labels, again.classes) == (walk.answers.labels, walk.answers.classes)


def test_a_class_that_gets_the_name_of_one_that_was_given_up_is_that_class_with_its_description_and_key(path):
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", "Sprots")
        project.undo("ann")
        project.say("ann", "i1", "label", "Football")
        for one in (
            ("describe", "Football", "Eleven a side."),
            ("key", "Football", "q"),
            ("rename", "Football", "Sprots"),
        ):
            project.log.change("ann", *one)
        naming = project.answers.naming
        assert (naming.description("Sprots"), naming.keys(project.answers.classes)["Sprots"]) == ("Eleven a side.", "q")
        project.log.change("ann", "rename", "Sprots", "Soccer")
        assert project.answers.labels == {1: "Soccer"}
        project.log.undo_change("ann")
        project.log.change("ann", "merge", "Sprots", "Sports")
        assert project.answers.labels == {1: "Sports"}


def test_a_log_in_which_a_merge_was_made_twice_since_the_first_one_did_nothing_reads_as_people_meant_it():
    answers = Answers(["a"])
    for line in (
        Answer(1, "", "ann", "", "label", 0, "foo"),
        Answer(2, "", "ann", "", "undo", 0, undoes=1),
        Answer(3, "", "ann", "", "label", 1, "bar"),
    ):
        answers.add(line)
    for seq, one in enumerate((("rename", "bar", "foo"), ("merge", "foo", "a"), ("merge", "foo", "a")), 1):
        answers.add_change(Change(seq, "", "ann", "", 3, *one))
    assert (answers.labels, answers.classes) == ({1: "a"}, ["a"])


def test_a_class_that_gets_its_old_name_back_and_one_that_took_the_name_meanwhile_are_one_class(path):
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", "Sports")
        renamed = project.log.change("ann", "rename", "Sports", "Athletics")
        project.log.change("ann", "add", "Sports")
        project.say("ann", "i1", "label", "Sports")
        project.log.undo_change("ann", renamed.seq)
        assert project.answers.labels == {0: "Sports", 1: "Sports"}
        project.log.change("ann", "merge", "Sports", "Business")
        assert project.answers.labels == {0: "Business", 1: "Business"}
        assert project.answers.classes == ["Business"]


def test_a_project_of_the_version_before_opens_and_its_classes_can_be_changed(tmp_path, monkeypatch):
    old = shutil.copy(Path(__file__).parents[1] / "data" / "project.ask", tmp_path / "old.ask")
    with Project.open(old) as project:  # only read: it has no log of changes yet
        assert (project.answers.changes, project.log.guidelines) == (0, (0, ""))
        first, *_ = project.answers.classes
    change(old, "rename", first, "another name")
    with Project.open(old) as project:
        assert project.answers.classes[0] == "another name"
        assert all(a.how is None for a in project.answers.log.values())
    older = make_old(tmp_path / "older.ask", monkeypatch, classes=["a"])
    change(older, "rename", "a", "b")
    with Project.open(older) as project:
        assert project.answers.classes == ["b"]


def test_guidelines_have_versions_and_answers_know_theirs(path):
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", "Sports")
        project.log.write_guidelines("ann", "# Rules\r\n\r\nBe kind.")
        project.say("ann", "i1", "label", "Sports")
        project.log.write_guidelines("ann", "# Rules\n\nBe kinder.")
        project.say("ann", "i2", "label", "Sports")
        assert project.log.guidelines == (2, "# Rules\n\nBe kinder.")
        assert [row["guidelines"] for row in answer_rows(project)] == [0, 1, 2]
        for bad in ("x" * 100_001, "a\0b", 7):
            with pytest.raises(LabelError, match="guidelines"):
                project.log.write_guidelines("ann", bad)


def test_exact_copies_take_an_answer_at_once_and_give_it_back_with_it(tmp_path):
    path = tmp_path / "p.ask"
    texts = ["same", "other", "same", "same", "", ""]
    (tmp_path / "t.csv").write_text("id,text\n" + "".join(f"i{k},{text}\n" for k, text in enumerate(texts)))
    ag.Graph(ag.chain(6).weights, names=[f"i{k}" for k in range(6)]).save(tmp_path / "g.npz")
    Project.create(path, ag.workbench.source.Source(tmp_path / "t.csv", graph=tmp_path / "g.npz"), ["a", "b"])
    with Project.open(path, write=True) as project:
        said = project.say("ann", "i0", "label", "a", key="first key")
        assert project.say("ann", "i0", "label", "a", key="first key") == said
        assert project.answers.labels == {0: "a", 2: "a", 3: "a"}
        assert [a.how for a in project.answers.log.values()] == [None, "copy", "copy"]
        project.say("ann", "i3", "label", "b")  # what the person says of a copy itself holds
        project.say("ann", "i0", "label", "b")
        project.say("ann", "i2", "label", "a")
        project.say("ann", "i0", "cannot")
        assert project.answers.labels == {2: "a", 3: "b"}
        assert project.undo("ann").item == 0
        assert project.answers.labels == {0: "b", 2: "a", 3: "b"}
        project.say("ann", "i1", "label", "a")
        project.say("ann", "i4", "label", "a")  # nothing to see is not the same thing
        assert 5 not in project.answers.labels


def test_a_copy_that_somebody_answered_itself_keeps_that_answer(tmp_path):
    """Whoever it was; a copy that only took an answer follows the next one, and its undo takes it back as well."""
    table = tmp_path / "t.csv"
    table.write_text("id,x\n" + "".join(f"i{k},{k // 3}\n" for k in range(12)))
    Project.create(tmp_path / "p.ask", ag.workbench.source.Source(table, features=["x"]), ["a", "b"])
    with Project.open(tmp_path / "p.ask", write=True) as project:
        project.say("bob", "i1", "label", "b")  # i0 and i2 are its copies
        assert project.answers.labels == {0: "b", 1: "b", 2: "b"}
        project.say("ann", "i0", "label", "a")
        assert project.answers.labels == {0: "a", 1: "b", 2: "a"}
        project.undo("ann")
        assert project.answers.labels == {0: "b", 1: "b", 2: "b"}
        project.say_all("ann", [("i3", "label", "a"), ("i6", "label", "a")], key="both of them", how="table")
        assert [a.how for a in project.store.logged_together("both of them")] == ["table", "table", *["copy"] * 4]
        project.undo("ann")
        assert project.answers.labels == {0: "b", 1: "b", 2: "b"}
        with pytest.raises(LabelError, match="choose map, table, group"):
            project.say("ann", "i3", "label", "a", how="somehow")


def test_guidelines_in_place_of_a_version_that_was_not_read_are_not_saved(path):
    with Project.open(path, write=True) as project:
        project.log.write_guidelines("ann", "first", "first key", read=0)
        project.log.write_guidelines("bob", "second", "second key", read=1)
        with pytest.raises(OutdatedError, match="'bob' saved version 2 of the guidelines after version 1 was read"):
            project.log.write_guidelines("ann", "third", "third key", read=1)
        with pytest.raises(LabelError, match="version 3 of the guidelines was not read: the last one is 2"):
            project.log.write_guidelines("ann", "third", "third key", read=3)
        assert project.log.guidelines == (2, "second")
        project.log.write_guidelines("bob", "second", "second key", read=1)  # sent again
        assert project.log.guidelines == (2, "second")
        project.log.write_guidelines("ann", "third", "third key", read=2)
        project.log.write_guidelines("cy", "by a command, which has read none")
        assert project.log.guidelines[0] == 4


def test_a_group_is_taken_back_together(path):
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", "Business")
        project.say_all("ann", [(f"i{k}", "label", "Sports") for k in range(1, 8)], how="group")
        project.say_all("ann", [("i8", "label", "Sports"), ("i9", "label", "Sports")])
        assert project.undo("ann").item == 9
        assert project.undo("ann").item == 8
        assert [project.undo("ann", "one key").item for _ in range(2)] == [1, 1]
        assert project.answers.labels == {0: "Business"}
        assert project.undo("ann").item == 0


@pytest.mark.slow
def test_the_commands_for_classes_and_guidelines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make("p.ask", classes=["Sprots", "Sports"])
    (tmp_path / "rules.md").write_text("# Rules\n")

    def run(*words):
        done = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(words), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "no guidelines yet" in run("guidelines")
    assert "version 1" in run("guidelines", "rules.md")
    assert run("guidelines") == "# Rules\n"
    assert "no class was changed" in run("classes", "history")
    run("classes", "describe", "Sports", "Matches, athletes and clubs.")
    run("classes", "merge", "Sprots", "Sports")
    assert "Sprots merged into Sports" in run("classes", "history")
    (row,) = json.loads(run("classes", "--json"))
    described = "Matches, athletes and clubs."
    assert row == {"name": "Sports", "key": "1", "count": 0, "description": described, "reasons": []}
    assert "taken back: Sprots merged into Sports" in run("classes", "undo")
    assert "Sprots" in run("classes")
    run("classes", "key", "Sports", "o")
    run("classes", "order", "Sports,Sprots")
    run("classes", "add", "Science")
    run("classes", "rename", "Science", "Research")
    assert [row["name"] for row in json.loads(run("classes", "--json"))] == ["Sports", "Sprots", "Research"]


def test_the_store_writes_what_it_reads(path):
    with Store.open(path, write=True) as store:
        (written,) = store.append([answer("k0")._replace(how="group")])
        assert store.answers() == [written]
