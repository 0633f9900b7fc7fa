"""Several classes per node: how votes become probabilities, and where they are cut."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

import askgraph as ag
from askgraph.readouts.each_class import calibrated, thresholds


def told(labels):
    """Return a learner of which classes images of digits have, after this many questions, and all that they have."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    parts = {"even": y % 2 == 0, "big": y > 6, "third": (y % 3 == 0) & (y > 0)}
    truth = [tuple(name for name, has in parts.items() if has[at]) for at in range(300)]
    learner = ag.Learner(ag.nearest_neighbors(X, 8), answers="several", rng=0)
    for _ in learner.run(lambda node: truth[node], labels):
        pass
    return learner, truth


def test_a_vote_for_a_class_never_speaks_against_it():
    for labels in (4, 7, 8, 9):
        learner, truth = told(labels)
        assert calibrated(learner.field).weights[1] > 0
        made = learner.predict()
        both = sum(len(set(a) & set(b)) for a, b in zip(made, truth, strict=True))
        assert 2 * both / sum(len(a) + len(b) for a, b in zip(made, truth, strict=True)) > 0.5


def test_thresholds_cut_the_nodes_at_the_share_of_each_class():
    learner, _ = told(30)
    p, cut = learner.probabilities(), thresholds(learner.field, learner.probabilities())
    rest = [node for node in range(300) if node not in learner.labels]
    has = np.array([[name in made for name in learner.classes] for made in learner.predict(rest)])
    assert ((p[rest] > cut) == has).mean() > 0.95


def test_a_class_without_a_label_is_above_no_threshold():
    learner = ag.Learner(ag.chain(5), answers="several", classes=["a", "b"], rng=0)
    learner.tell_all({0: ["a"], 4: []})
    cut = thresholds(learner.field, learner.probabilities())
    assert cut[1] == np.inf
    assert 0 < cut[0] < 1
