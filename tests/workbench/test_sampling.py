"""Certifying a search in a project: one sample, the same for everybody, and a sentence once all of it is read."""

from __future__ import annotations

import json

import numpy as np
import pytest

import askgraph as ag
from askgraph.errors import AskgraphError, LabelError, SettingError
from askgraph.kinds.certificate import most_in_rest, to_read
from askgraph.workbench.classes import Change
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.growing import prepare_addition, remove_items, take_in
from askgraph.workbench.project import Project
from askgraph.workbench.report import certifying, class_changes
from askgraph.workbench.source import Source
from askgraph.workbench.store import Store
from tests.helpers.projects import make, make_of

GRAPH, GROUP = ag.communities((30, 170), rng=0)


def truth(place):
    return "in" if GROUP[place] == GROUP[0] else "out"


def searched(path, answers=36, overlap=1):
    """A project whose search has found some of the class."""
    make(path, 200, ["in", "out"], GRAPH)
    with Project.open(path, write=True) as project:
        project.log.change("ann", "find", "in")
        for place in (0, 199):
            project.say("ann", f"i{place}", "label", truth(place))
        for _ in range(answers - 2):
            (asked,) = project.questions()
            project.say("ann", asked, "label", truth(asked.node))
    return path


def read_all(project, who=("ann", "bob")):
    """Answer the sample, in turns; return its places."""
    read = []
    while (asked := project.questions()[0]).by == "sample":
        project.say(who[len(read) % len(who)], asked, "label", truth(asked.node))
        read.append(asked.node)
    return read


def test_a_sample_comes_next_survives_a_restart_and_certifies(tmp_path):
    path = searched(tmp_path / "p.ask", answers=28)
    with Project.open(path, write=True) as project:
        found, said = project.model.sampling.found(), certifying(project)
        sizes = {one["share"]: one["read"] for one in said["offers"]}
        assert sizes == {share: to_read(found, 172, share) for share in (0.8, 0.9, 0.95)}
        assert (said["rest"], said["certificate"], said["lost"], said["confidence"]) == (172, None, False, 0.95)
        assert [one["most"] for one in said["offers"]] == [2 * n > 172 for n in sizes.values()]
        drawn = project.log.change("ann", "certify", None, "0.8", key="the key of it")
        assert project.log.change("ann", "certify", None, "0.8", key="the key of it") == drawn
        places = [question.node for question in project.questions(200)[: sizes[0.8]]]
        assert all(project.log.open_at(place) for place in places)
        assert [question.by for question in project.questions(3, at_once=True)] == ["sample"] * 3
        assert certifying(project)["offers"] == []
        project.say("ann", f"i{places[0]}", "later")  # comes again at the end, or when it is due
        project.say("bob", f"i{places[1]}", "label", truth(places[1]))
        assert project.questions()[0].node == places[2]
    with Project.open(path, write=True) as project:
        assert [question.node for question in project.questions(200)[: sizes[0.8] - 2]] == places[2:]
        for place in places[2:]:
            project.say("cy", f"i{place}", "label", truth(place))
        assert project.model.sampling.certificate()[1:3] == (None, None)  # one is put off, so not all are read
        assert project.questions()[0].by != "sample"
        project.say("ann", f"i{places[0]}", "label", truth(places[0]))
        now, hits = project.model.sampling.certificate(), sum(truth(place) == "in" for place in places)
        assert (now.found, now.hits, now.read, now.sample) == (found + hits, hits, sizes[0.8], sizes[0.8])
        assert now.missed == most_in_rest(172, now.sample, hits) - hits
        assert now.share == now.found / (now.found + now.missed)
        assert str(now) in how_labeled(project)
        assert certifying(project)["certified"] == (now.share >= 0.8)
        project.undo("ann")
        assert project.model.sampling.certificate().share is None
    with Project.open(path) as project:
        (line, _) = class_changes(project)
        assert line["what"] == "a random sample drawn, to certify how much is found"


def test_who_labels_other_items_meanwhile_leaves_the_certificate_true(tmp_path):
    with Project.open(searched(tmp_path / "p.ask", answers=20), write=True) as project:
        project.log.change("ann", "certify", None, "0.8")
        sampled = {question.node for question in project.questions(500) if question.by == "sample"}
        others = [place for place in range(200) if project.log.open_at(place) and place not in sampled]
        project.say_all("bob", [(f"i{place}", "label", truth(place)) for place in others[:60]], how="table")
        assert set(read_all(project)) == sampled
        now, in_all = project.model.sampling.certificate(), 30
        assert now.found == sum(label == "in" for label in project.answers.labels.values())
        assert now.share <= now.found / in_all <= 1
        open_ = [place for place in range(200) if project.log.open_at(place)]
        project.say_all("bob", [(f"i{place}", "label", truth(place)) for place in open_])
        assert project.model.sampling.certificate()[:3] == (30, 0, 1.0)


def test_a_second_sample_costs_confidence_and_one_that_nobody_read_does_not(tmp_path):
    with Project.open(searched(tmp_path / "p.ask"), write=True) as project:
        sampling = project.model.sampling
        project.log.change("ann", "certify", None, "0.8")
        with pytest.raises(LabelError, match=r"of \d+ items is being read, 0 so far: read all of it, or take it back"):
            project.log.change("bob", "certify", None, "0.9")
        first = sampling.sample().nodes
        project.log.undo_change("ann")
        assert sampling.sample() is None
        project.log.change("bob", "certify", None, "0.8")
        assert set(sampling.sample().nodes) != set(first)  # another seed
        assert sampling.certificate().confidence == 0.95
        project.say("bob", f"i{sampling.sample().nodes[0]}", "label", "out")
        project.undo("bob")
        project.log.undo_change("bob")
        assert certifying(project)["confidence"] == pytest.approx(0.9)
        project.log.change("bob", "certify", None, "0.8")
        read_all(project)
        assert sampling.certificate().confidence == pytest.approx(0.9)
        assert "90% confidence" in str(sampling.certificate())


def test_a_sample_belongs_to_its_search(tmp_path):
    path = searched(tmp_path / "p.ask")
    with Project.open(path, write=True) as project:
        sampling = project.model.sampling
        project.log.change("ann", "certify", None, "0.9")
        sample = sampling.sample()
        project.log.change("ann", "find", "in")  # the same again
        project.log.change("ann", "rename", "in", "relevant")
        assert sampling.sample() == sample._replace(label="relevant")
        project.log.change("ann", "find", "out")
        assert sampling.sample() is None
        assert project.questions()[0].by != "sample"
        project.log.undo_change("ann")
        assert sampling.sample().nodes == sample.nodes
        project.log.change("ann", "find", None)
        assert sampling.sample() is None
        assert certifying_is_refused(project, "nothing is sought", "0.9")
        project.log.undo_change("ann")
    with Project.open(path) as project:
        assert project.model.sampling.sample().nodes == sample.nodes


def certifying_is_refused(project, why, share):
    with pytest.raises(LabelError, match=why):
        project.log.change("ann", "certify", None, share)
    return True


def test_items_that_come_are_no_part_of_a_sample(tmp_path):
    rows = [f"r{k},{k % 2 * 5 + k / 100}\n" for k in range(60)]
    (tmp_path / "first.csv").write_text("id,x\n" + "".join(rows[:40]))
    (tmp_path / "all.csv").write_text("id,x\n" + "".join(rows))
    path = tmp_path / "p.ask"
    Project.create(path, Source(tmp_path / "first.csv", features=["x"]), ["in", "out"])
    with Project.open(path, write=True) as project:
        project.log.change("ann", "find", "in")
        project.say_all("ann", [(f"r{k}", "label", "in") for k in range(0, 20, 2)])
        project.log.change("ann", "certify", None, "0.8")
        drawn = project.model.sampling.sample()
        added = prepare_addition(project, tmp_path / "all.csv").path.name
    with Project.open(path, write=True) as project:
        assert take_in(project.store, added) == 20
    with Project.open(path, write=True) as project:
        assert project.model.sampling.sample() == drawn
        project.say("ann", "r50", "label", "in")  # a hit among those added says nothing of the rest that was drawn from
        project.say_all("ann", [(f"r{node}", "label", "out") for node in drawn.nodes])
        assert project.model.sampling.certificate().found == 10


def test_items_that_go_end_a_sample(tmp_path):
    path = searched(tmp_path / "p.ask")
    with Project.open(path, write=True) as project:
        project.log.change("ann", "certify", None, "0.8")
        drawn, answered = project.model.sampling.sample(), project.answers.answered()
        open_ = next(place for place in range(200) if place not in answered and place not in drawn.nodes)
        remove_items(project, [f"i{open_}"])
    with Project.open(path, write=True) as project:
        assert project.model.sampling.sample() is None
        assert certifying(project)["lost"]
        assert project.questions()[0].by != "sample"
        project.log.change("ann", "certify", None, "0.8")  # another may be drawn
        assert not certifying(project)["lost"]


def test_every_item_left_is_as_likely_in_a_sample(tmp_path):
    make(tmp_path / "p.ask", 16, ["in", "out"])
    times = np.zeros(16)
    with Project.open(tmp_path / "p.ask", write=True) as project:
        project.log.change("ann", "find", "in")
        for place in (0, 1, 2, 3):
            project.say("ann", f"i{place}", "label", "in")
        for _ in range(150):
            project.log.change("ann", "certify", None, "0.6")
            times[list(project.model.sampling.sample().nodes)] += 1
            project.log.undo_change("ann")
    assert not times[:4].any()
    expected = times.sum() / 12
    assert (
        (times[4:] - expected) ** 2 / expected
    ).sum() < 31.3  # the 0.1 % point of chi squared with 11 degrees of freedom


@pytest.mark.parametrize("share", ["", None, "much", "nan", "0.4", "1", "inf", "-1"])
def test_a_share_that_cannot_be_certified_is_refused(tmp_path, share):
    with Project.open(searched(tmp_path / "p.ask", answers=4), write=True) as project:
        assert certifying_is_refused(project, "give one from 0.5 to 0.99, such as 0.95", share)


def test_a_search_that_has_nothing_to_certify_says_so(tmp_path):
    path = make(tmp_path / "p.ask", 12, ["in", "out"])
    with Project.open(path, write=True) as project:
        assert certifying_is_refused(project, "nothing is sought: begin a search", "0.9")
        project.log.change("ann", "find", "in")
        assert certifying_is_refused(project, "nothing of it is found yet", "0.9")
        assert certifying(project)["offers"] == []
        project.say_all("ann", [(f"i{k}", "label", "in") for k in range(11)])
        assert certifying_is_refused(project, "at least 90% is found already, whatever is left", "0.9")
        assert [one["read"] for one in certifying(project)["offers"]] == [0, 0, 1]
        project.log.change("ann", "certify", None, "0.95")
        assert [question.by for question in project.questions(5)] == ["sample"]


def test_what_other_answers_name_is_certified_too(tmp_path):
    with Project.open(make_of(tmp_path / "n.ask", "numbers", n=40), write=True) as project:
        project.say_all("ann", [(f"i{k}", "label", float(k)) for k in range(12)])
        project.log.change("ann", "find", None, "highest")
        with pytest.raises(SettingError, match="at_least"):
            project.log.change("ann", "certify", None, "0.8")
        project.log.change("ann", "find", None, "6")
        project.log.change("ann", "certify", None, "0.8")
        for question in project.questions(40):
            if question.by == "sample":
                project.say("ann", question, "label", float(question.node < 14))
        now = project.model.sampling.certificate()
        assert (now.found, now.hits, now.read) == (6, 0, now.sample)
    with Project.open(make_of(tmp_path / "s.ask", "several", n=40), write=True) as project:
        project.say_all("ann", [(f"i{k}", "label", ["bad", "good"][: 1 + k % 2]) for k in range(12)])
        project.log.change("ann", "find", "good")
        project.log.change("ann", "certify", None, "0.8")
        assert project.model.sampling.certificate().found == 6


@pytest.mark.parametrize(
    "value",
    ["", "[]", "{", "[" * 9999, '{"items": 1e9}', '{"items": 12, "read": "x"}', '{"items": 12, "read": 3, "rest": ""}'],
)
def test_a_line_that_draws_nothing_sensible_is_no_sample(tmp_path, value):
    path = make(tmp_path / "p.ask", 12, ["in", "out"])
    with Project.open(path, write=True) as project:
        project.log.change("ann", "find", "in")
        project.say("ann", "i0", "label", "in")
    with Store.open(path, write=True) as store:
        store.append_change(Change(0, "a key of its own", "eve", "", 0, "certify", None, value))
    with Project.open(path) as project:
        assert project.model.sampling.sample() is None
        assert certifying(project)["lost"]
        assert project.questions()
        assert json.dumps(class_changes(project))


def test_it_is_refused_by_a_reader(tmp_path):
    with Project.open(searched(tmp_path / "p.ask", answers=4)) as project, pytest.raises(AskgraphError):
        project.log.change("ann", "certify", None, "0.9")
