"""A plan is rules in order over one sampler: whoever asks, however many questions at once, goes through the same rules."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

import askgraph as ag
from askgraph.clients import activeml
from askgraph.options import DEFAULTS, OptionKeywords
from askgraph.plan.rules import OPTION_RULES
from tests.helpers.draws import given, settings, st

GRAPH, TRUTH = ag.communities((30, 30), rng=0)


@dataclass(frozen=True)
class Even(ag.Rule):
    """Ask for nodes of even numbers only, as long as there are any."""

    def narrows(self, turn):
        return turn.rather(turn.rows[turn.nodes % 2 == 0])


@dataclass(frozen=True)
class Apart(ag.Rule):
    """Never ask for two nodes of one third in a row."""

    def narrows(self, turn):
        return turn.rows if turn.last is None else turn.rather(turn.rows[turn.nodes % 3 != turn.last % 3])


@dataclass(frozen=True)
class Wrong(ag.Rule):
    """Return what a rule must not return."""

    rows: Any = None
    questions: Any = ()

    def narrows(self, turn):
        return turn.rows if self.rows is None else self.rows

    def takes(self, turn, n):
        return self.questions


@dataclass(frozen=True)
class Last(ag.Rule):
    """Take every turn, and ask for the last nodes."""

    def takes(self, turn, n):
        return [ag.Question(int(node), "last") for node in turn.nodes[::-1][:n]]


@dataclass(frozen=True)
class Doubted(ag.Rule):
    """Let every label count for less."""

    def reviews(self, field, history, together=False):
        return field.reweighted(doubted)


def doubted(prior, take):
    return take(prior.degrees) + 1.0


OPTIONS = {
    "doubt": st.sampled_from(["sqrt", "inverse", 0.2, None]),
    "class_shares": st.sampled_from([None, (0.25, 0.75)]),
    "form": st.sampled_from(["printed", "derived", "means"]),
    "expect": st.sampled_from(["mean", "min"]),
    "ahead": st.integers(1, 99),
    "explore": st.sampled_from([0.0, 0.3, "sqrt"]),
    "first": st.sampled_from(["random", "utility"]),
    "batch": st.sampled_from(["sequence", "local"]),
    "small_components": st.sampled_from(["wait", "ask"]),
    "hubs": st.sampled_from(["discount", "skip", "ask"]),
    "spot_checks": st.integers(0, 9),
}


def test_every_option_is_in_this_table_and_in_the_docstrings():
    assert OPTIONS.keys() == DEFAULTS.keys()
    assert get_type_hints(OptionKeywords) == get_type_hints(ag.Options)
    strategy = Path(activeml.__file__).read_text()
    for text in (ag.Learner.__doc__, ag.GraphClassifier.__doc__, strategy, ag.Options.__doc__):
        assert [name for name in DEFAULTS if name not in text] == []


def test_every_option_is_of_the_sampler_or_the_batch_or_stands_for_one_rule():
    of_sampler = {one.name for one in fields(ag.Sampler)} - {"by"}
    assert sorted([*of_sampler, "batch", *(row.option for row in OPTION_RULES)]) == sorted(DEFAULTS)


def told(plan, *labels, **options):
    learner = ag.Learner(GRAPH, plan, rng=0, **options)
    for node in (0, 31, *labels):
        learner.tell(node, int(TRUTH[node]))
    return learner


@pytest.mark.parametrize("sampler", ["influence", "tv", "random", "vm"])
@pytest.mark.parametrize("options", [{}, {"spot_checks": 3}, {"hubs": "skip", "first": "utility"}, {"explore": 0.5}])
def test_options_are_a_short_way_to_write_a_plan(sampler, options):
    ways = ((sampler, options), (ag.Plan.of(sampler, **options), {}))
    asked = []
    for how, more in ways:
        learner = ag.Learner(GRAPH, how, rng=3, **more)
        asked.append([step.node for step in learner.run(lambda node: int(TRUTH[node]), budget=12)])
    assert asked[0] == asked[1]


@pytest.mark.parametrize("sampler", ["influence", "random"])
@pytest.mark.parametrize(("n", "batch"), [(None, None), (4, "sequence"), (4, "local"), (4, "now")])
def test_a_rule_of_your_own_holds_however_questions_are_chosen(sampler, n, batch):
    learner = told(ag.Plan.of(sampler, spot_checks=2).with_rule(Even()))
    found = learner.question(n, batch=batch)
    assert all(question.node % 2 == 0 for question in ([found] if n is None else found))
    found = learner.question(n or 1, plan=learner.plan.finding(0), batch=batch)
    assert all(question.node % 2 == 0 for question in found)


@pytest.mark.parametrize("options", [{}, {"spot_checks": 2}, {"explore": 0.5}])
@pytest.mark.parametrize("sampler", ["influence", "random"])
@pytest.mark.parametrize("batch", ["sequence", "local", "now"])
def test_a_rule_of_your_own_sees_every_question_before(sampler, batch, options):
    learner = told(ag.Plan.of(sampler, **options).with_rule(Apart()))
    for plan in (learner.plan, learner.plan.finding(0)):
        nodes = [31, *(question.node for question in learner.question(8, plan=plan, batch=batch))]
        assert len(nodes) == 9
        assert all(one % 3 != other % 3 for one, other in itertools.pairwise(nodes))


def test_what_a_rule_of_your_own_returns_is_checked():
    for wrong, said in (
        (Wrong(rows=[1, 2]), "Wrong.narrows returned a list of length 2: return some of turn.rows"),
        (Wrong(rows=np.ones(58, dtype=bool)), "Wrong.narrows returned an array of shape (58,) and type bool"),
        (Wrong(questions=[5]), "Wrong.takes returned a list of length 1: return a list of askgraph.Question"),
        (Wrong(questions=ag.Question(5, "me")), "Wrong.takes returned a Question of length 3"),
        (Wrong(questions=[ag.Question(31, "me")]), "Wrong.takes asks for node 31, which is no candidate"),
    ):
        with pytest.raises(ag.SettingError) as raised:
            told(ag.Plan.of("influence").with_rule(wrong)).question()
        assert said in str(raised.value)


def test_a_rule_of_your_own_holds_for_what_is_prefetched():
    learner = told(ag.Plan.of("influence").with_rule(Even()))
    ahead = learner.prefetch()
    learner._state.prefetch.wait()
    assert ahead.questions.keys() == {0, 1}
    assert all(question.node % 2 == 0 for question in ahead.questions.values())


def test_a_rule_may_take_a_turn():
    learner = told(ag.Plan.of("influence").with_rule(Last()))
    assert learner.question() == (59, "last", None)
    assert [question.node for question in learner.question(3)] == [59, 58, 57]
    learner.skip(59)
    assert learner.ask() == 58


def test_a_rule_may_change_what_labels_count():
    plain, less = told("influence"), told(ag.Plan.of("influence").with_rule(Doubted()))
    assert less.field.votes[1, 0] < plain.field.votes[1, 0]
    less.undo()
    assert less.field.discount is doubted


def test_a_question_says_who_asks_and_what_was_predicted():
    learner = ag.Learner(GRAPH, rng=0, spot_checks=3)
    assert learner.question().by == "first"
    learner = told("influence", spot_checks=3)
    question = learner.question()
    assert question.by == "spot check"
    assert question.predicted == learner.predict([question.node])[0]
    learner.tell(question, int(TRUTH[question.node]))
    assert learner.judge.spot_checks == [(question.node, question.predicted, int(TRUTH[question.node]))]
    assert learner.question().by == "influence"
    assert learner.question(plan=learner.plan.finding(1)).by == "find"
    assert told("random").question().by == "random"
    assert told("tv", explore=1.0).question().by == "explore"


def test_a_spot_check_is_the_same_whether_a_class_is_sought_or_not():
    learner = told("influence", spot_checks=3)
    assert learner.question().by == "spot check"
    assert learner.question() == learner.question(plan=learner.plan.finding(0))


@settings(max_examples=50, deadline=None)
@given(st.fixed_dictionaries({}, optional=OPTIONS))
def test_a_plan_says_the_options_that_it_was_made_of(options):
    said = ag.Plan.of("tv", **options).options()
    assert said == {**DEFAULTS, "hubs": "ask", **options}
    assert ag.Plan.of("tv", **said) == ag.Plan.of("tv", **options)


def test_what_rules_remember_is_not_shared():
    plan = ag.Plan.of("influence")
    one, other = (ag.Learner(GRAPH, plan, noise=0.0, rng=0) for _ in range(2))
    assert one.plan == other.plan == plan
    assert all(mine is not theirs for mine, theirs in zip(one.plan.rules, other.plan.rules, strict=True))


def test_what_is_no_plan_is_a_sentence(tmp_path):
    for wrong, said in (
        (lambda: ag.Plan.of(ag.Plan.of("tv"), spot_checks=3), "spot_checks beside a plan"),
        (lambda: ag.Plan(rules=("hubs",)), "'hubs' is not a rule"),
        (lambda: ag.Plan("tv"), "'tv' is not a Sampler"),
        (lambda: ag.Plan.of("tv", hub="skip"), "did you mean 'hubs'?"),
        (lambda: ag.Learner(GRAPH, seed=3), "did you mean 'rng'?"),
        (lambda: ag.Learner(GRAPH, spot_check=3), "did you mean 'spot_checks'?"),
        (lambda: ag.GraphClassifier(n_neighbors=3), "did you mean 'k'?"),
        (lambda: told(ag.Plan.of("tv").with_rule(Even())).save(tmp_path / "work.npz"), "Even is a rule of your own"),
        (lambda: told("influence").question(plan=ag.Plan.of("msd")), "msd reads more than this learner keeps"),
        (lambda: told("influence").question(batch="all"), "batch='all'"),
    ):
        with pytest.raises(ag.SettingError, match=None) as raised:
            wrong()
        assert said in str(raised.value)


def test_questions_asked_together_are_different():
    for batch in ("sequence", "local", "now"):
        for learner in (ag.Learner(GRAPH, rng=0), told("influence")):
            nodes = [question.node for question in learner.question(60, batch=batch)]
            assert len(nodes) == len(set(nodes)) == 60 - learner.field.held
            assert not set(nodes) & set(learner.labels)


def test_several_questions_come_in_the_order_of_nodes_where_scores_tie():
    learner = ag.Learner(ag.star(20), lambda field, rows, p: np.ones(rows.size), rng=0, first="utility", hubs="ask")
    assert [question.node for question in learner.question(6, batch="now")] == list(range(6))


def test_what_is_most_like_a_description_is_asked_for_whatever_is_known():
    learner = ag.Learner(ag.chain(9), rng=0, spot_checks=3)
    like = np.array([0.0, 0.3, 0.1, 0.9, 0.2, 0.8, 0.0, 0.7, 0.6])
    for told in ({}, {0: "wanted", 8: "other"}):
        learner.tell_all(told)
        found = learner.question(6, plan=learner.plan.finding("wanted", like))
        asked = [question.node for question in found if question.by == "find"]
        assert [question.by for question in found].count("spot check") == 2
        assert (np.diff(like[asked]) <= 0).all()
    learner = ag.Learner(ag.chain(9), rng=0)
    assert learner.question(plan=learner.plan.finding("wanted", like.tolist())).node == 3
    for wrong in (like[:-1], "words", [None] * 9, np.full(9, np.nan), 0.5):
        with pytest.raises(ag.SettingError, match="one finite number for each of the 9 nodes"):
            learner.question(plan=learner.plan.finding("wanted", wrong))
