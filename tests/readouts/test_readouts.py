"""Readouts and leave-one-out against their definitions, on many graphs and at the edges."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers.coding import decide
from askgraph.field import Field, Observation
from askgraph.field.leave_one_out import left_out
from askgraph.kinds.changes import expected_changes
from askgraph.readouts import READOUTS, Consensus, Map, Mass, Reweighted, Tempered, View, as_readout
from askgraph.readouts.readouts import zero_of
from askgraph.readouts.temperature import TEMPERATURES, Evidence, tempered_or_plain
from tests.helpers.draws import given, st
from tests.helpers.engines import ENGINES
from tests.helpers.graphs import random_graph, random_labels

CASES = [(seed, classes, noise) for seed in range(3) for classes in (2, 4) for noise in (0.0, 0.3)]


def observed(engine, seed, classes, noise, fold):
    """A field after a dozen labels, some or all of them folded in."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(18, 30))
    labels = random_labels(rng, n, classes, 12)
    field = engine.start(ag.Graph(random_graph(rng, n, 0.2)), 0.05, classes, noise=noise)
    for at, (node, label) in enumerate(labels):
        field = field.observe(node, label, noise if at % 3 else 0.0)  # noisy labels and exact ones
        field = field.rebase() if at + 1 == fold else field
    return field


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, ids=str)
@pytest.mark.parametrize("fold", [0, 5, 12])
@pytest.mark.parametrize(("seed", "classes", "noise"), CASES)
def test_leave_one_out_is_what_a_field_without_the_label_says(engine, fold, seed, classes, noise):
    field = observed(engine, seed, classes, noise, fold)
    left = left_out(field)
    assert sorted(left.nodes.tolist()) == sorted(x.node for x in field.observations)
    rest = ~field.labeled
    for at, node in enumerate(left.nodes.tolist()):
        (gone,) = (x for x in field.observations if x.node == node)
        others = [x for x in field.observations if x.node != node]
        without = Field.given(field.origin, others, classes)
        close = {"atol": 100 * engine.tolerance, "rtol": 100 * engine.tolerance}
        assert left.said[at] == gone.said
        np.testing.assert_allclose(left.votes[at], without.votes[node], **close)
        np.testing.assert_allclose(left.lost[at], (field.votes - without.votes)[rest].sum(axis=0), **close)
        variance = without.variances(np.array([node]))[0] + gone.noise**2
        np.testing.assert_allclose(left.variance[at], variance, **close)


def test_of_many_folded_labels_some_stand_for_all():
    graph, truth = ag.communities((150, 150), rng=0)
    learner = ag.Learner(graph, rng=0)
    learner.tell_all({node: int(truth[node]) for node in range(0, 300, 2)})
    left = left_out(learner.field)
    assert len(left.nodes) == len(set(left.nodes.tolist())) == 64
    assert left.nodes.min() < 10
    assert left.nodes.max() > 290


def test_without_labels_there_is_nothing_to_leave_out():
    left = left_out(ag.Learner(ag.grid(3, 3)).field)
    assert left.nodes.size == left.votes.size == left.variance.size == 0


def much_more(highest):
    """By what the divisor of a class is multiplied whose highest vote is this: 1, unless it is a rounding error."""
    return 1 + (1e-6 / max(highest, 1e-12)) ** 2


def prior_literally(labels, all_labels, classes, mean):
    """The class prior by labels, drawn to the mean votes by a third."""
    return ((labels + 1) / (all_labels + classes)) ** (2 / 3) * max(mean, 1e-9) ** (1 / 3)


def tempered_literally(field, plain=False, pull=0.5, choose=False):
    """The rule as it is written down, in loops."""
    h, unlabeled = np.maximum(field.votes, 0), ~field.labeled
    labels = list(field.observations)
    C, t = field.coding.width, len(labels)
    n = np.array([sum(x.said == c for x in labels) for c in range(C)])
    seen = [c for c in range(C) if n[c]]
    U = [i for i in range(len(h)) if unlabeled[i] and h[i].sum() > 1e-9]
    mean = np.array([max(np.mean([h[i, c] for i in U]), 1e-9) for c in range(C)])
    logs = np.array([[np.log(max(h[i, c], 1e-9)) - np.log(mean[c]) for c in seen] for i in U])
    tau0 = 1.0
    if len(seen) > 1:
        sigma = np.sqrt(((logs - logs.mean(axis=1, keepdims=True)) ** 2).sum() / (len(U) * (len(seen) - 1)))
        tau0 = min(64.0, max(1.0, 2 / sigma)) if sigma > 1e-9 else 1.0
    losses, counted = {}, [x for x in labels if n[x.said] > 1]
    left = [Field.given(field.origin, [x for x in labels if x is not gone], C).votes for gone in counted]
    for tau in TEMPERATURES:
        loss = 0.0
        for gone, without in zip(counted, left, strict=True):
            s = {}
            for c in seen:
                rest = n[c] - (c == gone.said)
                total, here = np.sum([without[i, c] for i in U]), without[gone.node, c]
                m = max(total / len(U), 1e-9) * much_more(max(total / max(mean[c] * len(U), 1.0), here))
                m = 1.0 if plain else m
                q = 1.0 if plain else prior_literally(rest, t - 1, C, total / len(U))
                s[c] = tau * (np.log(max(without[gone.node, c], 0) + 1e-9) - np.log(m)) + np.log(q) if rest else -50
            top = max(s.values())
            share = np.exp(s[gone.said] - top) / sum(np.exp(v - top) for v in s.values())
            loss -= np.log(0.98 * share + 0.02 / C)
        losses[tau] = loss + pull * np.log(tau / tau0) ** 2
    tau = min(losses, key=losses.get) if counted and len(seen) > 1 else tau0
    if choose:
        return tau, losses[tau] if counted and len(seen) > 1 else 0.0
    p = np.zeros_like(h)
    for i in range(len(h)):
        for c in seen:
            divisor = np.exp(np.log(mean[seen]).mean()) if plain else mean[c] * much_more(max(h[U, c]))
            p[i, c] = (1.0 if plain else prior_literally(n[c], t, C, mean[c])) * (h[i, c] / divisor + 1e-6) ** tau
        p[i] /= p[i].sum()
        H = min(max(h[i].sum(), 0), 1)
        p[i] = H * p[i] + (1 - H) / C
    for x in labels:
        p[x.node] = np.eye(C)[x.said]
    return p


def consensus_literally(field):
    by_mass, plain = (tempered_literally(field, how, 0.1, choose=True) for how in (False, True))
    alone = sum(n == 1 for n in np.bincount([x.said for x in field.observations]))
    p = tempered_literally(field, plain[1] + 0.5 * (1 + alone) < by_mass[1], 0.1)
    W = field.origin.precision.graph.weights.toarray()
    heard = np.array([0.1 * p[i] + 0.9 * (W[i] @ p / W[i].sum() if W[i].any() else p[i]) for i in range(len(p))])
    rest = ~field.labeled
    powers = np.exp(np.linspace(np.log(0.25), np.log(32), 20_001))

    def sure(k):  # rises with k
        return (heard[rest] ** k / (heard[rest] ** k).sum(axis=1, keepdims=True)).max(axis=1).mean()

    power = powers[min(bisect_left(powers, p[rest].max(axis=1).mean(), key=sure), len(powers) - 1)]
    result = heard**power / (heard**power).sum(axis=1, keepdims=True)
    for x in field.observations:
        result[x.node] = p[x.node]
    return result


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("classes", [2, 4])
def test_tempered_and_consensus_are_what_is_written_down(seed, classes):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(15, 25))
    density = 0.5 if seed % 2 else 0.12  # sparse ones fall apart, with nodes that no label reaches
    field = ENGINES[0].start(ag.Graph(random_graph(rng, n, density)), 0.05, classes)
    for node, label in random_labels(rng, n, classes, int(rng.integers(1, 9))):
        field = field.observe(node, label)
    np.testing.assert_allclose(Tempered()(field), tempered_literally(field), atol=1e-9)
    np.testing.assert_allclose(Consensus()(field), consensus_literally(field), atol=1e-3)


@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([0.1, 0.3, 0.8]))
def test_the_class_prior_lies_between_the_shares_of_labels_and_of_votes(seed, classes, density):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 20))
    told = [Observation(*label) for label in random_labels(rng, n, classes, int(rng.integers(2, n - 1)))]
    evidence = Evidence.of(Field.given(ag.prior(ag.Graph(random_graph(rng, n, density)), 0.05), told, classes))
    if evidence is None:
        return
    labels, votes = (evidence.counts + 1) / (len(told) + classes), np.maximum(evidence.total / evidence.reached, 1e-9)
    ends = np.log([labels, votes, evidence.by_mass(1.0).prior])
    by_labels, by_votes, found = (x[:, None] - x for x in ends)  # of each class against each other one
    assert (np.minimum(by_labels, by_votes) <= found + 1e-9).all()
    assert (found <= np.maximum(by_labels, by_votes) + 1e-9).all()


def test_a_temperature_of_your_own():
    graph, truth = ag.communities((20, 20), rng=0)
    learner = ag.Learner(graph, rng=0, readout=Tempered(5.0), classes=[0, 1, 2])
    for node in (0, 1, 30):
        learner.tell(node, int(truth[node]))
    h, rest = learner.field.votes, ~learner.field.labeled
    counts, mean = [2, 1] if truth[0] == 0 else [1, 2], h[rest][:, :2].mean(axis=0)
    q = np.array([prior_literally(n, 3, 3, m) for n, m in zip(counts, mean, strict=True)])
    p = q * (h[:, :2] / mean + 1e-6) ** 5
    H = h.sum(axis=1, keepdims=True)
    want = H * p / p.sum(axis=1, keepdims=True) + (1 - H) / 3
    np.testing.assert_allclose(learner.probabilities()[rest][:, :2], want[rest], atol=1e-12)
    with pytest.raises(ag.SettingError, match="positive"):
        Tempered(-1.0)


@pytest.mark.parametrize("readout", [*READOUTS.values(), Mass("frequency"), Tempered(3.0)], ids=str)
@pytest.mark.parametrize("engine", ENGINES, ids=str)
@pytest.mark.slow
class TestEdges:
    def test_probabilities_are_probabilities(self, engine, readout):
        for seed in range(6):
            field = observed(engine, seed, 3, 0.2 * (seed % 2), 5)
            p = readout(field)
            assert p.shape == field.votes.shape
            assert ((p >= 0) & (p <= 1)).all()
            np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-9)

    def test_what_no_label_reaches_stays_uniform(self, engine, readout):
        W = np.zeros((7, 7))
        W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = W[3, 4] = W[4, 3] = 1.0
        field = engine.start(ag.Graph(W), 0.01, 3).observe(0, 2).observe(2, 1)
        p = readout(field)
        np.testing.assert_allclose(p[5:], 1 / 3, atol=1e-9)
        assert decide(readout(field))[[0, 1, 2, 3, 4]].tolist() == [2, 2, 1, 1, 1]

    def test_an_unseen_class_is_never_decided_for(self, engine, readout):
        field = engine.start(ag.grid(4, 4), 0.5, 5).observe(0, 1).observe(15, 3)
        decided = decide(readout(field))
        assert set(decided.tolist()) == {1, 3}
        assert (readout(field)[~field.labeled][:, [0, 2, 4]] > 0).all()

    def test_one_class_one_label_all_labeled_none(self, engine, readout):
        one = engine.start(ag.grid(3, 3), 0.05, 2).observe(4, 1)
        assert (decide(readout(one)) == 1).all()
        every = one
        for node in (0, 1, 2, 3, 5, 6, 7, 8):
            every = every.observe(node, node % 2)
        assert decide(readout(every)).tolist() == [0, 1, 0, 1, 1, 1, 0, 1, 0]
        none = readout(engine.start(ag.grid(3, 3), 0.05, 2))
        np.testing.assert_allclose(none, 0.5)

    def test_labels_are_what_was_told(self, engine, readout):
        field = engine.start(ag.grid(5, 5), 0.05, 2)
        for node, label in ((0, 0), (1, 1), (2, 0), (3, 1), (12, 1)):
            field = field.observe(node, label)
        assert decide(readout(field))[[0, 1, 2, 3, 12]].tolist() == [0, 1, 0, 1, 1]

    def test_the_scale_of_the_weights_changes_nothing(self, engine, readout):
        if isinstance(readout, Reweighted):
            pytest.skip("its least weight and its ridge are absolute, by definition")
        W, labels = random_graph(np.random.default_rng(3), 20, 0.3), random_labels(np.random.default_rng(4), 20, 3, 7)
        fields = [engine.make(ag.priors.base.Precision.of(ag.Graph(W * scale))) for scale in (1.0, 1e3)]
        told = [Observation(node, label) for node, label in labels]
        one, other = (readout(Field.given(prior, told, 3)) for prior in fields)
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_consensus_hears_neighbours_but_stays_as_sure():
    graph, truth = ag.communities((200, 200, 200), mixing=0.4, rng=0)
    learner = ag.Learner(graph, rng=0)
    for step in learner.run(lambda node: int(truth[node]), 12):
        assert step is not None
    rest = ~learner.field.labeled
    plain, heard = (as_readout(name)(learner.field)[rest] for name in ("tempered", "consensus"))
    codes = np.array([learner.classes.index(int(x)) for x in truth])[rest]
    assert (heard.argmax(axis=1) == codes).mean() > (plain.argmax(axis=1) == codes).mean()
    view = View.of(learner.field)
    alone = tempered_or_plain(learner.field).shares(view)(view.blocks[0])[rest]
    assert heard.max(axis=1).mean() == pytest.approx(alone.max(axis=1).mean(), abs=0.05)


def test_a_readout_of_your_own_is_a_function_of_the_field():
    def first(field, votes=None, links=None):
        return np.eye(field.coding.width)[np.zeros(len(field.votes), dtype=int)]

    learner = ag.Learner(ag.chain(4), readout=first, classes=["a", "b"])
    assert learner.predict().tolist() == ["a"] * 4
    with pytest.raises(ag.SettingError, match="consensus"):
        ag.Learner(ag.chain(4), readout="loudest")


def framed(p):
    import pandas as pd  # not in the environment of the engine over MPI, which reads this file too

    return pd.DataFrame(p)


WRONG = {
    "NaN": (lambda p: np.full_like(p, np.nan), r"40 of 40 rows hold NaN or infinity; return a finite number"),
    "below 0": (lambda p: p * 3 - 1, r"gave a probability of -1; return numbers from 0 to 1"),
    "sums": (lambda p: np.full_like(p, 0.9), r"40 of 40 rows do not add up to 1 \(the first: 1\.8\); divide each row"),
    "rows": (
        lambda p: p[1:],
        r"gave an array of shape \(39, 2\) and type float64 for 40 rows and 2 classes; return an",
    ),
    "columns": (lambda p: np.full((len(p), 3), 1 / 3), r"shape \(40, 3\) .* one column per class"),
    "a list": (lambda p: p.tolist(), r"gave a list of length 40 for 40 rows"),
    "a number": (lambda p: 0.5, r"gave an object of type float"),
    "a frame": (framed, r"gave an array of shape \(40, 2\) and type DataFrame"),
    "text": (lambda p: p.astype(str), r"type <U"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_a_readout_of_your_own_gives_is_checked_wherever_it_is_read(wrong):
    spoil, says = WRONG[wrong]
    spoiled = []

    def own(field, votes=None, links=None):
        p = np.eye(field.coding.width)[np.zeros(len(field.votes if votes is None else votes), dtype=int)]
        return spoil(p) if spoiled else p

    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.full(40, -1)
    y[[0, 39]] = 0, 1
    model = ag.GraphClassifier(k=5, readout=own, random_state=0).fit(X, y)
    suggested = ag.Learner(ag.nearest_neighbors(X), readout=own, classes=[0, 1], rng=0)
    suggested.guesses.tell_all({3: 0, 4: 1}, source="a model")
    suggested.tell_all({0: 0, 39: 1})
    learner = model.learner_
    assert learner.predict().tolist() == [0] * 39 + [1]  # a label stands at its node
    np.testing.assert_array_equal(learner.predict(top=1)[1][:, 0], 1)
    spoiled.append(True)
    for read in (
        learner.probabilities,
        learner.predict,
        partial(learner.predict, top=1),
        learner.judge.expected_error,
        lambda: model.predict_proba(np.full((40, 2), 0.123)),
        suggested.predict,
        lambda: expected_changes(learner.field, learner.readout, 7),
    ):
        with pytest.raises(ag.SettingError, match=f"^readout own: .*{says}") as raised:
            read()
        assert len(str(raised.value)) < 200


def test_what_our_own_readouts_give_is_not_checked():
    assert not [name for name, readout in READOUTS.items() if as_readout(name) is not readout]
    assert as_readout(Map()) == Map()


def test_new_rows_are_read_as_their_neighbours_are():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.3, (40, 2)), rng.normal(3, 0.3, (40, 2))])
    y = np.full(80, -1)
    y[[0, 79]] = 0, 1
    for readout in ("cautious", "consensus", "tempered", "mass", "map"):
        model = ag.GraphClassifier(k=5, readout=readout, random_state=0).fit(X, y)
        assert model.predict([[0.1, 0.1], [2.9, 3.2]]).tolist() == [0, 1]
        np.testing.assert_allclose(model.predict_proba(X), model.learner_.probabilities())
        mixed = model.predict_proba([X[3], [0.1, 0.1]])
        np.testing.assert_allclose(mixed[0], model.learner_.probabilities([3])[0])
        np.testing.assert_allclose(mixed.sum(axis=1), 1)
    assert Map() == as_readout("map")


@pytest.mark.parametrize("after", [0.0, -1e-300, -1e300])
def test_a_function_that_is_flat_on_both_sides_takes_few_steps(after):
    calls = []
    found = zero_of(lambda at: calls.append(at) or (1e-300 if at <= 777_777 else after), 2**20)
    assert 777_777 <= found <= 777_778
    assert len(calls) < 45


@pytest.mark.parametrize("guesses", [(), (20, 70), (70, 20), (0, 100)])
def test_where_a_falling_function_crosses_zero(guesses):
    """Between the numbers that trying all finds, on a line between them, with few calls."""
    rng = np.random.default_rng(0)
    for root in [-5.0, 0.0, 0.5, 99.0, 99.5, 120.0, *rng.uniform(0, 100, 30)]:
        values = np.tanh((root - np.arange(101)) / rng.uniform(3, 80))
        calls = []
        found = zero_of(lambda at, values=values, calls=calls: calls.append(at) or float(values[at]), 100, guesses)
        assert found == pytest.approx(np.interp(0.0, -values, np.arange(101)), abs=1e-9)
        assert len(calls) < 20


def test_a_class_that_a_label_screens_from_every_unlabeled_node_has_no_mass():
    W = np.array([[0, 0.7, 0], [0.7, 0, 1], [0, 1, 0]])
    one, both = (ag.Learner(ag.Graph(W), readout="mass", rng=0, hubs="ask") for _ in range(2))
    one.tell(1, "a")
    one.tell(2, "b")
    both.tell_all({1: "a", 2: "b"})
    for learner in (one, both):
        np.testing.assert_allclose(learner.probabilities(), [[0.9992, 0.0008], [1, 0], [0, 1]], atol=5e-5)


@pytest.mark.parametrize("readout", [Mass(), Tempered(1.0)], ids=str)
def test_a_class_fades_with_its_votes_and_is_never_switched_off(readout):
    """From a tie of weight 1 to one of 1e-14, a tenth at a time, no probability jumps."""
    found = []
    for tie in 10 ** np.arange(0, -14, -0.1):
        W = np.diag([1.0, 1.0, tie, 1.0], 1)
        field = ag.Field.given(
            ag.prior(ag.Graph(W + W.T), 0.001), [Observation(2, 0), Observation(0, 0), Observation(4, 1)], 2
        )
        found.append(readout(field))
    assert abs(np.diff(found, axis=0)).max() < 0.1
    assert found[-1][1, 1] < 1e-3


def test_a_consensus_is_as_sure_as_the_probabilities_it_averages():
    graph, truth = ag.communities((20, 24, 16), mean_degree=6, mixing=0.3, rng=1)
    field = ag.Field.given(ag.prior(graph), [Observation(node, int(truth[node])) for node in range(0, 60, 7)], 3)
    rest = ~field.labeled
    own, averaged = Consensus().steps(field)[0], Consensus()(field)
    assert averaged[rest].max(axis=1).mean() == pytest.approx(own[rest].max(axis=1).mean(), abs=1e-10)


def test_rounding_does_not_choose_between_temperatures_that_are_as_good():
    field = ag.Field.given(
        ag.prior(ag.chain(9)), [Observation(0, 0), Observation(2, 0), Observation(8, 1), Observation(6, 1)], 2
    )
    evidence = Evidence.of(field)
    losses = np.full(TEMPERATURES.size, 5.0)
    drawn = losses - 0.1 * np.log(TEMPERATURES / evidence.likely) ** 2
    for off in (-1e-14, 0.0, 1e-14):
        assert evidence.best(drawn + off * np.arange(TEMPERATURES.size), 0.1)[0] == TEMPERATURES[0]
