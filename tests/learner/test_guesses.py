"""Labels that models suggest are evidence: judged by the labels of people, and never in the way of a question."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.readouts import Cautious, View, WithGuesses, Witness
from askgraph.readouts.readouts import Consensus


@pytest.fixture(scope="module")
def communities():
    return ag.communities((70, 60, 50), mixing=0.25, mean_degree=6, rng=2)


def wrong_at_random(truth, share, rng):
    return np.where(rng.random(truth.size) < share, (truth + rng.integers(1, 3, truth.size)) % 3, truth)


def taught(communities, said=None, labels=12, **options):
    """A learner that asked for some labels; suggestions come before them, as in a project."""
    graph, truth = communities
    learner = ag.Learner(graph, rng=1, classes=[0, 1, 2], **options)
    if said is not None:
        learner.guesses.tell_all(dict(enumerate(said.tolist())), "a model")
    for _ in learner.run(lambda node: int(truth[node]), labels):
        pass
    return learner


def right(learner, truth):
    rest = ~learner.field.labeled
    return (learner.predict() == truth)[rest].mean()


def plainly(field, said, classes, passes=2):
    """The formulas of WithGuesses, node by node, for one source that says something of every node."""
    n, C = field.votes.shape
    p, _ = Consensus().steps(field)
    counts = View.of(field).counts
    unseen = [c for c in range(C) if counts[c] == 0]
    shares = {c: 1 / (counts.sum() + C) for c in unseen}
    own = np.zeros((n, C))
    for i in range(n):
        seen = {c: 0.98 * p[i, c] + 0.02 / C for c in range(C) if c not in unseen}
        for c in range(C):
            own[i, c] = shares[c] if c in unseen else (1 - sum(shares.values())) * seen[c] / sum(seen.values())
    told = {x.node: x.said for x in field.observations}
    _, hear = Consensus().steps(field)

    def posterior(T):
        alone = np.array([np.eye(C)[told[i]] if i in told else own[i] * T[:, said[i]] for i in range(n)])
        heard = hear(own, alone / alone.sum(axis=1, keepdims=True))
        q = np.array([np.eye(C)[told[i]] if i in told else heard[i] * T[:, said[i]] for i in range(n)])
        return q / q.sum(axis=1, keepdims=True)

    def count(q):
        N = np.zeros((C, C))
        for i in range(n):
            N[:, said[i]] += 5 * np.eye(C)[told[i]] if i in told else q[i]
        return N

    N = count(posterior(np.ones((C, C))))
    often = (N.sum(axis=0) + 1) / (N.sum() + C)
    chance = sum(N[c].sum() * often[c] for c in range(C)) / N.sum()
    accuracy = np.clip((np.trace(N) / N.sum() - chance) / (1 - chance), 0, 0.99)
    pooled = T = accuracy * np.eye(C) + (1 - accuracy) * often
    for _ in range(passes):
        N = count(posterior(T)) + 2 * C * pooled
        T = N / N.sum(axis=1, keepdims=True)
    return posterior(T)


@pytest.mark.parametrize("labels", [1, 3, 20])
def test_probabilities_equal_the_plain_formulas(communities, labels):
    _, truth = communities
    learner = taught(communities, labels=labels)
    said = wrong_at_random(truth, 0.3, np.random.default_rng(5))
    got = WithGuesses(Cautious(), [Witness(np.eye(3)[said], np.arange(3))])(learner.field)
    np.testing.assert_allclose(got, plainly(learner.field, said, 3), atol=1e-12)


def test_good_suggestions_help_and_bad_ones_are_seen_through(communities):
    _, truth = communities
    rng = np.random.default_rng(0)
    alone = right(taught(communities), truth)
    for said, trusted in (
        (wrong_at_random(truth, 0.3, rng), 0.7),
        (np.where(rng.random(truth.size) < 0.3, (truth + 1) % 3, truth), 0.7),
        ((truth + 1) % 3, 0.0),  # always wrong in the same way: as good as right
    ):
        together = right(taught(communities, said), truth)
        assert together > max(alone, trusted)


def test_a_source_at_chance_changes_next_to_nothing(communities):
    _, truth = communities
    said = np.random.default_rng(3).integers(0, 3, truth.size)
    one, other = taught(communities), taught(communities, said)
    assert (one.predict() != other.predict()).mean() < 0.04
    constant = taught(communities, np.zeros_like(truth))
    assert (one.predict() == constant.predict()).all()


def test_questions_do_not_depend_on_suggestions(communities):
    _, truth = communities
    one, other = taught(communities), taught(communities, (truth + 1) % 3)
    assert [event.node for event in one.history.log] == [event.node for event in other.history.log]
    assert one.ask(4) == other.ask(4)


def test_labels_of_people_stay_whatever_is_suggested(communities):
    _, truth = communities
    learner = taught(communities, (truth + 1) % 3)
    nodes = list(learner.labels)
    assert learner.predict(nodes).tolist() == list(learner.labels.values())
    assert np.allclose(learner.probabilities().sum(axis=1), 1)


def test_suspect_suggestions_are_wrong_more_often_than_others(communities):
    _, truth = communities
    said = wrong_at_random(truth, 0.3, np.random.default_rng(4))
    learner = taught(communities, said)
    suspects = learner.guesses.suspects(30)
    assert len(suspects) == 30
    assert sorted(x.chance for x in suspects) == [x.chance for x in suspects]
    assert not {x.node for x in suspects} & set(learner.labels)
    assert np.mean([said[x.node] != truth[x.node] for x in suspects]) > 2 * np.mean(said != truth)
    (source,) = learner.guesses.sources
    assert source.guesses == truth.size
    assert abs(source.right - 0.7) < 0.1
    assert source.agreed == sum(said[node] == label for node, label in learner.labels.items())


def test_scores_tell_good_suggestions_from_bad_ones(communities):
    """A source that is right where it is sure and guesses elsewhere: with scores it is worth more than without."""
    _, truth = communities
    rng = np.random.default_rng(6)
    sure = rng.random(truth.size) < 0.5
    said = np.where(sure, truth, rng.integers(0, 3, truth.size))
    learners = [taught(communities, labels=6) for _ in range(2)]
    labels = dict(enumerate(said.tolist()))
    learners[0].guesses.tell_all(labels, "a model")
    learners[1].guesses.tell_all(labels, "a model", dict(enumerate(np.where(sure, 0.9, 0.4).tolist())))
    without, with_scores = (learner.probabilities()[np.arange(truth.size), truth].mean() for learner in learners)
    assert with_scores > without + 0.02


def test_a_label_that_is_not_a_class_is_evidence_too(communities):
    _, truth = communities
    learner = taught(communities)
    before = right(learner, truth)
    learner.guesses.tell_all({k: f"kind {c}" for k, c in enumerate(truth.tolist())}, "other words")
    assert right(learner, truth) > before
    assert learner.classes == [0, 1, 2]


def test_without_labels_or_classes_there_are_no_predictions_from_suggestions():
    learner = ag.Learner(ag.chain(4), rng=0)
    learner.guesses.tell(1, "left")
    assert learner.predict().tolist() == [None] * 4
    assert learner.guesses.suspects() == []
    assert np.isnan(learner.guesses.sources[0].right)


@pytest.mark.parametrize("state", [False, True])
def test_a_saved_learner_keeps_its_suggestions(communities, tmp_path, state):
    _, truth = communities
    learner = taught(communities, wrong_at_random(truth, 0.3, np.random.default_rng(7)))
    learner.guesses.tell(3, 1, "another", 0.25)
    learner.save(tmp_path / "learner.npz", state)
    again = ag.Learner.load(tmp_path / "learner.npz")
    np.testing.assert_allclose(again.probabilities(), learner.probabilities(), atol=1e-9)
    assert again.guesses.sources == learner.guesses.sources


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"label": None}, "not a label"),
        ({"score": 1.5}, "from 0"),
        ({"score": float("nan")}, "from 0"),
        ({"score": "sure"}, "from 0"),
        ({"source": ""}, "name who guesses"),
        ({"node": 99}, "99"),
    ],
)
def test_what_is_wrong_with_a_suggestion_is_said_and_nothing_is_kept(wrong, words):
    learner = ag.Learner(ag.chain(4), rng=0)
    with pytest.raises(ag.AskgraphError, match=words):
        learner.guesses.tell(**{"node": 1, "label": "left", **wrong})
    assert learner.guesses.sources == []


def test_an_undo_leaves_suggestions(communities):
    _, truth = communities
    learner = taught(communities, truth)
    learner.undo()
    assert learner.guesses.sources[0].guesses == truth.size


def test_a_source_that_knows_one_class_is_worth_something(communities):
    """A rule that says "0" of most nodes of class 0 and is silent elsewhere: that it is silent tells something too."""
    _, truth = communities
    learner = taught(communities)
    before = right(learner, truth)
    rng = np.random.default_rng(8)
    named = (rng.random(truth.size) < np.where(truth == 0, 0.8, 0.05)).nonzero()[0]
    learner.guesses.tell_all(dict.fromkeys(named.tolist(), 0), "a rule")
    assert right(learner, truth) > before


def test_the_readout_map_reads_a_nodes_own_suggestion_only(communities):
    _, truth = communities
    learner = taught(communities, readout="map")
    p = learner.probabilities()
    learner.guesses.tell_all({node: int(truth[node]) for node in range(0, 180, 2)})
    q = learner.probabilities()
    odd = [node for node in range(1, 180, 2) if node not in learner.labels]
    ratio = q[odd] / (0.98 * p[odd] + 0.02 / 3)  # saying nothing is the same evidence at all these nodes
    np.testing.assert_allclose(
        ratio / ratio.sum(axis=1, keepdims=True), np.tile(ratio[0] / ratio[0].sum(), (len(odd), 1))
    )
