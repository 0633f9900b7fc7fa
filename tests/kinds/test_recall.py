"""Finding all nodes of a class: the likeliest first, and a range of what is left that holds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import askgraph as ag
from askgraph.errors import LabelError
from askgraph.kinds.recall import Left, left_to_find
from askgraph.workbench.exchange import asreview_rows, ris_lines
from askgraph.workbench.project import Project
from askgraph.workbench.report import class_changes, progress
from tests.helpers.projects import make


def searched(rng, n, wanted, lift, checks=8):
    """Whether answers are in the class and were drawn at random, of a ranking that lifts the class by so much."""
    member = rng.permutation(np.arange(n) < wanted)
    left, answers, drawn = list(range(n)), [], []
    for k in range(int(0.4 * n)):
        random = (k + 1) % checks == 0
        weights = np.ones(len(left)) if random else np.where(member[left], lift, 1.0)
        at = rng.choice(len(left), p=weights / weights.sum())
        answers.append(bool(member[left.pop(at)]))
        drawn.append(random)
    return answers, drawn


def test_a_number_that_nobody_knows_is_not_said():
    assert str(Left(21, 223.0, 0, 1525)) == "21 found, too early to say how many are left (0 to 1,525)"
    assert str(Left(21, 7.0, 2, 12)) == "21 found, about 7 left (2 to 12)"
    assert Left(3, 0.0, 0, 0).known
    assert not Left(0, 1.0, 0, 1).known


@pytest.mark.slow
@pytest.mark.parametrize("lift", [1.0, 3.0, 30.0])
def test_the_range_holds_whenever_one_looks(lift):
    """At 1 the ranking is no better than chance: the worst case for which the range is meant."""
    rng, held, looks = np.random.default_rng(1), 0, 0
    for _ in range(40):
        answers, drawn = searched(rng, 300, 30, lift)
        for m in (20, 60, 120):
            left = left_to_find(answers[:m], drawn[:m], 300, 5.0)
            held += left.low <= 30 - left.found <= left.high
            looks += 1
    assert held >= 0.9 * looks


def test_the_range_narrows_and_knows_the_end():
    yes, no = [True] * 30, [False] * 170
    highs = [left_to_find([*yes, *no[:k]], [False] * (30 + k), 400, 1.0).high for k in (0, 50, 170)]
    assert highs[0] > highs[1] > highs[2]
    assert left_to_find([*yes, *no], [False] * 200, 200, 0.0)[1:] == (0.0, 0, 0)
    assert left_to_find([], [], 50, 7.0)[2:] == (0, 50)
    often = left_to_find([True, False] * 20, [True] * 40, 400, 0.0)
    assert often.low > 0  # half of what was drawn at random is in the class
    assert often.value == often.low


def test_the_likeliest_come_first_and_spot_checks_in_their_turn():
    graph, group = ag.communities((30, 30), rng=0)
    learner = ag.Learner(graph, rng=0, spot_checks=4)
    learner.tell_all({0: "wanted", 30: "other"})
    finding = learner.plan.finding("wanted")
    found = learner.question(12, plan=finding)
    assert len({question.node for question in found}) == 12
    assert [k for k, question in enumerate(found) if question.by == "spot check"] == [1, 5, 9]  # two labels are told
    ranked = [question.node for question in found if question.by == "find"]
    p = learner.probabilities()[:, learner.classes.index("wanted")]
    assert all(p[a] >= p[b] for a, b in itertools.pairwise(ranked))
    assert found == learner.question(12, plan=finding)
    assert (group[ranked] == group[0]).all()
    assert len(learner.question(1000, plan=finding)) == 58
    assert learner.question(plan=learner.plan.finding("nobody")) == learner.question()  # until there is such a class


def test_a_project_seeks_a_class(tmp_path):
    graph, group = ag.communities((30, 30), rng=0)
    path = make(tmp_path / "p.ask", 60, ["relevant", "irrelevant"], graph, spot_checks=8)
    with Project.open(path, write=True) as project:
        for name in ("relevnt", "", "RELEVANT"):
            with pytest.raises(LabelError):
                project.log.change("ann", "find", name)
        with pytest.raises(
            LabelError, match="no class 'relevnt'; there are 'relevant', 'irrelevant'; take one of these"
        ):
            project.log.change("ann", "find", "relevnt")
        assert project.model.sought is None
        project.log.change("ann", "find", "relevant")  # declared, without a label
        assert project.ask()  # of any class, while none of it is known
        project.say("ann", "i0", "label", "relevant")
        project.say("ann", "i59", "label", "irrelevant")
        for _ in range(40):
            (asked,) = project.questions()
            project.say("ann", asked, "label", "relevant" if group[asked.node] == group[0] else "irrelevant")
        assert sum(name == "relevant" for name in project.answers.labels.values()) == 30
        checks = [a for a in project.answers.log.values() if a.predicted is not None]
        assert len(checks) == 5
        said = progress(project, project.predictions())["find"]
        assert (said["class"], said["found"], said["low"]) == ("relevant", 30, 0)
        assert said["recall"][0] == [0, 0]
        assert said["recall"][-1] == [42, 30]
        assert said["last"]["labels"] == 30
        assert said["last"]["found"] == 30 - dict(said["recall"])[12]
        assert said["known"] == (30 + said["high"] <= 2 * 30)
        seq = project.say("ann", "i59", "label", "relevant").seq
        assert progress(project, project.predictions())["find"]["recall"][-1][1] == 31
        assert project.undo("ann").item == project.answers.log[seq].item  # what is taken back was not found
        assert progress(project, project.predictions())["find"]["recall"][-1] == said["recall"][-1]
        project.log.change("ann", "rename", "relevant", "in")
        assert project.model.sought == "in"
        included = [row["included"] for row in asreview_rows(project)]
        assert (included.count(1), included.count(0), included.count(None)) == (30, 12, 18)
        marks = "".join(ris_lines(project, answered=True))
        assert (marks.count("ASReview_relevant"), marks.count("ASReview_irrelevant")) == (30, 12)
    with Project.open(path, write=True) as project:
        assert project.model.sought == "in"
        project.log.change("bob", "find", None)
        assert project.model.sought is None
        assert progress(project, project.predictions())["find"] is None
        project.log.undo_change("bob")  # what ended the search
        assert project.model.sought == "in"
        project.log.undo_change("ann")  # the rename
        assert project.model.sought == "relevant"
        project.log.undo_change("ann")  # the search
        assert project.model.sought is None
        said = [(one["who"], one["what"], one["undone"]) for one in class_changes(project)]
        assert said == [
            ("bob", "finding ended: every item may be asked for", True),
            ("ann", "relevant renamed to in", True),
            ("ann", "finding all of relevant", True),
        ]
        project.log.change("ann", "add", "odd")
        project.log.change("ann", "find", "odd")
        project.log.undo_change(
            "ann", project.answers.naming.standing[0].seq
        )  # the class is gone, the search goes on as usual
        assert project.ask()
        assert progress(project, project.predictions())["find"]["found"] == 0
