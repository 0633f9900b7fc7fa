"""Names that changed work for one release, and warn with the new name."""

from __future__ import annotations

import pytest

import askgraph as ag
from askgraph.learner.old_names import JUDGED, OLD_NAMES

GRAPH, TRUTH = ag.communities((30, 30), rng=0)


def told():
    learner = ag.Learner(GRAPH, rng=0, spot_checks=4)
    for node in (0, 1, 2, 31, 32):
        learner.tell(node, int(TRUTH[node]))
    return learner


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_of_a_learner_is_found_and_warns(old):
    with pytest.warns(FutureWarning, match=rf"Learner\.{old} is called Learner\..* now"):
        getattr(told(), old)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_old_names_do_what_the_new_ones_do():
    learner = told()
    for name in JUDGED.split():
        now, before = getattr(learner.judge, name), getattr(learner, name)
        assert now.__func__ is before.__func__ if callable(now) else now == before
    assert learner.log == learner.history.log
    assert learner.sources == learner.guesses.sources == []
    assert learner.alternatives(3) == [question.node for question in learner.question(3, batch="now")]
    finding = learner.plan.finding(0)
    assert learner.likeliest(0, 3) == [question.node for question in learner.question(3, plan=finding)]
    assert [learner.is_spot_check(ahead) for ahead in range(4)] == [False, False, True, False]
    learner.prefetch()
    learner._state.prefetch.wait()
    assert not learner.prefetching
    learner.stop_prefetch()
    assert learner._state.prefetch.stopped
    assert learner.next_questions.keys() == {0, 1}
    learner.suggest(40, 0, source="a model")
    assert [str(one) for one in learner.sources] == [str(one) for one in learner.guesses.sources] != []


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_old_keyword_and_the_old_classes_are_the_new_ones():
    assert ag.Learner(GRAPH, utility="tv").plan == ag.Learner(GRAPH, "tv").plan
    assert ag.GraphClassifier(utility="tv").sampler == "tv"
    assert (ag.Error, ag.SuggestionSource) == (ag.ErrorEstimate, ag.GuessSource)
    assert ag.SuspectSuggestion is ag.SuspectGuess


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'Learner' object has no attribute 'foretell'"):
        told().foretell  # noqa: B018 -- reading it is the test
