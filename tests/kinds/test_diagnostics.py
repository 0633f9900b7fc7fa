"""Second opinions, error estimates, audits, advice, stopping, batches."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.utilities import CRITERIA


def blobs(rng, sizes, apart=4.0, columns=2, k=8):
    centers = rng.normal(0, apart, (len(sizes), columns))
    X = np.concatenate([rng.normal(center, 1.0, (n, columns)) for center, n in zip(centers, sizes, strict=True)])
    return ag.nearest_neighbors(X, k=k), np.repeat(np.arange(len(sizes)), sizes)


def digits():
    from sklearn.datasets import load_digits

    data = load_digits()
    return ag.nearest_neighbors(data.data, k=10), data.target


GRAPHS = {
    "digits": digits,
    "communities": lambda: ag.communities((150, 200, 150), rng=1),
    "blobs": lambda: blobs(np.random.default_rng(2), (100, 100, 100, 100), apart=6.0),
    "grid": lambda: (ag.grid(20, 20), (np.arange(400) // 20 >= 10).astype(int)),
}


def taught(graph, truth, count, seed=0, **options):
    learner = ag.Learner(graph, rng=seed, classes=range(int(truth.max()) + 1), **options)
    for _ in learner.run(lambda node: int(truth[node]), count):
        pass
    return learner


PRECISION = {"digits": 0.85, "communities": 0.85, "blobs": 0.9, "grid": 0.6}


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_suspects_find_labels_that_were_flipped(name, record_property):
    graph, truth = GRAPHS[name]()
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        nodes = rng.permutation(graph.n_nodes)[:120]
        flipped = set(nodes[:6].tolist())
        classes = int(truth.max()) + 1
        told = {
            int(i): int((truth[i] + 1 + rng.integers(classes - 1)) % classes if i in flipped else truth[i])
            for i in nodes
        }
        learner = ag.Learner(graph, rng=0, classes=range(classes))
        for node, label in told.items():
            learner.tell(node, label)
        top = learner.judge.suspects(every=True)[: len(flipped)]
        assert all(suspect.label == told[suspect.node] != suspect.instead for suspect in top)
        found.append(len({suspect.node for suspect in top} & flipped) / len(flipped))
    record_property("precision at the number flipped", float(np.mean(found)))
    assert np.mean(found) >= PRECISION[name]


def test_suspects_are_ranked_and_the_same_when_folded_in():
    graph, truth = GRAPHS["blobs"]()
    told = {node: int(truth[node]) for node in range(0, 400, 5)}
    told[0] = 3
    one_by_one, at_once = ag.Learner(graph, rng=0, classes=range(4)), ag.Learner(graph, rng=0, classes=range(4))
    for node, label in told.items():
        one_by_one.tell(node, label)
    at_once.tell_all(told)
    suspects = one_by_one.judge.suspects(every=True)
    assert suspects[0].node == 0
    assert suspects[0].instead == 0
    assert [x.chance for x in suspects] == sorted(x.chance for x in suspects)
    assert [x.node for x in at_once.judge.suspects(every=True)] == [x.node for x in suspects]
    assert [x.node for x in one_by_one.judge.suspects()] == [x.node for x in suspects if x.chance < 0.03] == [0]
    at_once.relabel(0, 0)
    assert 0 not in {x.node for x in at_once.judge.suspects(every=True)}
    assert ag.Learner(graph).judge.suspects() == []


def test_the_error_is_a_share_with_a_range_that_narrows():
    graph, truth = GRAPHS["communities"]()
    learner = ag.Learner(graph, rng=0, classes=[0, 1, 2])
    assert learner.judge.expected_error() == (1.0, 0.0, 1.0, 0, 0, None)
    widths = []
    for step, _ in enumerate(learner.run(lambda node: int(truth[node]), 60)):
        error = learner.judge.expected_error()
        assert 0 <= error.low <= error.value <= error.high <= 1
        if step in (9, 59):
            widths.append(error.high - error.low)
    assert widths[1] < widths[0]
    true = (learner.predict() != truth)[~learner.field.labeled].mean()
    assert error.low <= true <= error.high
    assert abs(error.value - true) < 0.05


def test_all_labeled_means_no_error():
    learner = taught(ag.grid(3, 3), np.arange(9) % 2, 9)
    assert learner.judge.expected_error().value == 0
    assert "every node is labeled" in learner.judge.enough(0.01)


@pytest.mark.parametrize("engine", ["dense", "direct", "iterative"])
def test_wrong_labels_are_named_where_every_node_has_a_label_too(engine):
    graph, truth = GRAPHS["blobs"]()
    said, n = truth.astype(int).copy(), graph.n_nodes
    wrong = np.random.default_rng(0).choice(n - 1, n // 20, replace=False)
    said[wrong] = (said[wrong] + 1) % (said.max() + 1)
    found = {}
    for held in (n - 1, n):
        learner = ag.Learner(graph, rng=0, engine=engine)
        learner.tell_all({node: int(said[node]) for node in range(held)})
        short, every = learner.judge.suspects(), learner.judge.suspects(every=True)
        found[held] = {one.node for one in short}, [one.node for one in every[: wrong.size]]
    assert found[n][0] >= found[n - 1][0]
    assert found[n][0] <= set(wrong.tolist())
    assert len(set(found[n][1]) & set(wrong.tolist())) >= 0.8 * wrong.size


def test_classes_without_a_label_are_part_of_the_expected_error():
    graph, truth = GRAPHS["blobs"]()
    truth, learners = np.minimum(truth, 1), []
    for classes in (2, 3, 5):
        learner = ag.Learner(graph, rng=0, classes=range(classes), readout="consensus")
        learner.tell_all({node: int(truth[node]) for node in (0, 50, 100, 150, 200, 250)})
        learners.append(learner)
    known, one_more, three_more = (learner.judge.expected_error() for learner in learners)
    assert known.value + 0.05 < one_more.value < three_more.value
    assert known.high < one_more.high < three_more.high


def test_where_one_class_was_seen_another_is_expected():
    learner = ag.Learner(ag.grid(8, 8), rng=0)
    learner.tell_all(dict.fromkeys((0, 9, 20, 35), "ham"))
    assert learner.judge.expected_error().value >= 1 / 6


def test_an_audit_is_kept_apart_and_corrects_the_estimate():
    rng = np.random.default_rng(0)
    graph, _ = GRAPHS["blobs"]()
    noise = rng.integers(0, 2, graph.n_nodes)  # labels that have nothing to do with the graph
    learner = taught(graph, noise, 30)
    hopeful, before = learner.judge.expected_error(), learner.probabilities()
    nodes = learner.judge.audit(40)
    assert nodes == learner.judge.audit(40)
    assert len(set(nodes)) == 40
    assert not set(nodes) & set(learner.labels)
    for node in nodes:
        learner.judge.tell_audit(node, int(noise[node]))
    np.testing.assert_array_equal(learner.probabilities(), before)
    sober = learner.judge.expected_error()
    true = (learner.predict() != noise)[~learner.field.labeled].mean()
    assert sober.audited == 40
    assert sober.low <= true <= sober.high
    assert abs(sober.value - true) < abs(hopeful.value - true)
    assert sober.high - sober.low < hopeful.high - hopeful.low
    asked = [learner.ask(5) for _ in range(2)]
    assert asked[0] == asked[1]
    assert not set(asked[0]) & set(nodes)
    assert not set(learner.judge.audit(10)) & set(nodes)


def test_audits_are_saved_undone_and_may_become_labels(tmp_path):
    graph, truth = GRAPHS["blobs"]()
    learner = taught(graph, truth, 12)
    first, second = learner.judge.audit(2)
    learner.judge.tell_audit(first, int(truth[first]))
    learner.judge.tell_audit(second, "a class of its own")
    learner.tell(learner.ask(), 1, noise=0.4)
    for state in (False, True):
        learner.save(tmp_path / "learner.npz", state=state)
        again = ag.Learner.load(tmp_path / "learner.npz")
        assert again.history.log == learner.history.log
        assert again.judge.expected_error() == pytest.approx(learner.judge.expected_error())
        np.testing.assert_allclose(again.probabilities(), learner.probabilities(), atol=1e-12)
    learner.undo()
    assert learner.undo().kind == "audit"
    assert learner.judge.expected_error().audited == 1
    learner.tell(first, int(truth[first]))
    assert learner.judge.expected_error().audited == 0
    with pytest.raises(ag.LabelError, match="only an unlabeled"):
        learner.judge.tell_audit(first, 0)


def test_no_more_labels_are_needed_than_nodes_are_left_to_ask_for():
    learner = ag.Learner(ag.grid(4, 5), rng=0)
    learner.tell_all({0: "a", 19: "b", 4: "a", 15: "b", 1: "b", 18: "a"})
    assert learner.judge.labels_needed(0.001) == (14, 14)
    learner.skip(9)
    learner.judge.tell_audit(10, "a")
    assert learner.judge.labels_needed(0.001) == (12, 12)
    assert learner.judge.labels_needed(0.3)[0] < 12


@pytest.mark.slow
def test_enough_says_why_and_labels_needed_falls():
    graph, truth = GRAPHS["digits"]()
    learner = taught(graph, truth, 20)
    assert learner.judge.enough(0.001) is None
    early = learner.judge.labels_needed(0.02)
    learner = taught(graph, truth, 150)
    late = learner.judge.labels_needed(0.02)
    assert 0 <= late[0] <= late[1] < early[1]
    words = learner.judge.enough(0.2)
    assert words.startswith("enough: the expected error is")
    assert "20.0%" in words
    assert "audit" in words
    with pytest.raises(ag.SettingError, match="target"):
        learner.judge.labels_needed(0)
    with pytest.raises(ag.SettingError, match="target"):
        learner.judge.enough(5)


def test_advice_on_graphs_that_do_not_fit():
    graph, truth = GRAPHS["blobs"]()
    assert taught(graph, truth, 9).judge.advice() == []
    assert taught(graph, truth, 30).judge.advice() == []
    shuffled = np.random.default_rng(1).permutation(truth % 2)
    astray = taught(graph, shuffled, 40, seed=2)
    for node in astray.judge.audit(60):
        astray.judge.tell_audit(node, int(shuffled[node]) if node % 3 else 1 - int(astray.predict([node])[0]))
    assert any("rarely share labels: of 60 audited" in x for x in astray.judge.advice())
    fine = taught(graph, truth, 40)
    for node in fine.judge.audit(60):
        fine.judge.tell_audit(node, int(truth[node]))
    assert fine.judge.advice() == []
    rng = np.random.default_rng(1)  # labels that have nothing to do with the graph, told at random
    dealt = ag.Learner(ag.nearest_neighbors(rng.normal(size=(150, 2)), 10), "random", rng=2)
    for _ in dealt.run(lambda node: "abc"[rng.choice(3, p=(0.5, 0.3, 0.2))], 40):
        pass
    assert any("hardly predicts these labels" in x and "audit" in x for x in dealt.judge.advice())
    own = np.arange(graph.n_nodes) % 80
    assert any("single label" in x for x in taught(graph, own, 40).judge.advice())
    W = np.zeros((60, 60))
    W[:40, :40] = ag.grid(5, 8).weights.toarray()
    apart = ag.Learner(ag.Graph(W), rng=0)
    for node in range(12):
        apart.tell(node, node % 2)
    assert any("20 of 21 components, 20 of 60 items" in x for x in apart.judge.advice())


def test_a_label_of_its_own_noise():
    graph = ag.grid(4, 4)
    learner, plain = ag.Learner(graph, rng=0), ag.Learner(graph, rng=0)
    learner.tell(0, "a", noise=0.5)
    learner.tell(15, "b")
    want = plain.field.observe(0, 0, 0.5).observe(15, 1)
    np.testing.assert_allclose(learner.field.votes, want.votes, atol=1e-12)
    assert learner.field.votes[0, 0] < 1
    with pytest.raises(ag.SettingError, match="noise"):
        learner.tell(3, "a", noise=-1.0)
    assert 3 not in learner.labels


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dense", "iterative"])
def test_a_local_batch_is_made_of_peaks(engine):
    graph, truth = GRAPHS["digits"]()
    learner, one = (taught(graph, truth, 5, batch="local", engine=engine) for _ in range(2))
    batch = learner.ask(8)
    assert batch[0] == one.ask() == learner.ask()
    scores = np.full(graph.n_nodes, -np.inf)
    rest = np.flatnonzero(~learner.field.labeled)
    scores[rest] = CRITERIA["influence"].score(learner.field, rest, 0.0, "printed", "mean")
    W = graph.weights.toarray()
    assert len(set(batch)) == 8
    for node in batch:
        assert scores[node] >= scores[W[node] > 0].max()
    peaks = [i for i in rest if scores[i] >= scores[W[i] > 0].max()]
    assert batch == sorted(peaks, key=lambda i: -scores[i])[:8]
    everything = learner.ask(10_000)
    assert sorted(everything) == rest.tolist()


def test_one_question_does_not_depend_on_how_batches_are_made():
    graph, truth = GRAPHS["blobs"]()
    one, other = (taught(graph, truth, 10, batch=how) for how in ("sequence", "local"))
    assert one.ask() == other.ask()
    with pytest.raises(ag.SettingError, match="batch"):
        ag.Learner(graph, batch="top")
