"""What a readout reads, and that an exact answer stands at its node whatever a readout says there."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers import coding
from askgraph.field import Field, Observation
from askgraph.plan.hubs import discount_of
from askgraph.readouts import READOUTS, View, WithGuesses, Witness, as_readout
from askgraph.readouts.by_class import best_classes

HUBS = ag.power_law(60, 3, rng=0)
LABELS = {0: 0, 1: 1, 2: 0, 20: 1, 40: 2}


class Plain(ag.Readout):
    """The votes as they are, block by block; ``read`` notes how many classes were read at a time."""

    def __init__(self):
        self.widths = []

    def by_block(self, view):
        def scores(block):
            self.widths.append(block.classes.size)
            return view.votes(block) + 1e-9

        return view.shares(scores)


def told(discount=None, width=4):
    field = Field.start(ag.prior(HUBS), width, discount=discount)
    for node, label in LABELS.items():
        field = field.observe(node, label)
    return field.observe(50, 3, noise=0.5)


@pytest.mark.parametrize("name", [name for name in READOUTS if name != "reweighted"])
@pytest.mark.parametrize("fold", [False, True])
def test_an_exact_answer_stands_at_its_node_also_that_of_a_hub(name, fold):
    field = told(discount_of(1.0))
    field = field.rebase() if fold else field
    guess = Witness(np.eye(4, 5)[np.ones(60, dtype=int)], np.array([0, 1, 2, 3, -2]))
    for readout in (READOUTS[name], WithGuesses(READOUTS[name], [guess])):
        for p in (readout(field), readout(field.await_answer(30))):
            np.testing.assert_array_equal(p[list(LABELS)], np.eye(4)[list(LABELS.values())])
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
            assert p[50].max() < 1  # this answer has noise
        found, best = best_classes(field, readout, 2)
        assert found[list(LABELS), 0].tolist() == list(LABELS.values())
        assert best[list(LABELS)].tolist() == [[1.0, 0.0]] * len(LABELS)


def test_what_one_readout_gives_another_call_does_not_change():
    field = told()
    first = READOUTS["consensus"](field)
    first[:] = 0.0
    np.testing.assert_allclose(READOUTS["consensus"](field).sum(axis=1), 1.0, atol=1e-12)


def test_a_view_counts_answers_and_sums_votes_of_unlabeled_nodes(monkeypatch):
    field = told(discount_of(1.0))
    view, votes = View.of(field), np.maximum(field.votes[~field.labeled], 0.0)
    assert view.counts.tolist() == [2.0, 2.0, 1.0, 1.0]
    assert (view.weighted_counts <= view.counts).all()
    assert (view.weighted_counts < view.counts).any()
    for bytes_ in (coding.PART_BYTES, 8 * 60):  # all classes at once, and one at a time
        monkeypatch.setattr(coding, "PART_BYTES", bytes_)
        np.testing.assert_allclose(view.masses, [votes.sum(axis=0), votes.max(axis=0)], atol=1e-12)


def test_a_readout_of_ones_own_is_read_a_few_classes_at_a_time(monkeypatch):
    monkeypatch.setattr(coding, "PART_BYTES", 8 * 60 * 3)
    field, plain = told(width=500), Plain()
    found, best = best_classes(field, as_readout(plain), 2)
    assert max(plain.widths) == 3
    np.testing.assert_allclose(best, -np.sort(-Plain()(field), axis=1)[:, :2], atol=1e-12)
    assert found[list(LABELS), 0].tolist() == list(LABELS.values())


class Wrong(ag.Readout):
    def __init__(self, wrong):
        self.wrong = wrong

    def by_block(self, view):
        return lambda block: self.wrong(view.votes(block))


@pytest.mark.parametrize("bytes_", [coding.PART_BYTES, 8 * 60])
def test_a_readout_of_ones_own_is_checked_block_by_block(bytes_, monkeypatch):
    monkeypatch.setattr(coding, "PART_BYTES", bytes_)
    for wrong, says in (
        (lambda votes: votes - 1, "gave a probability of -1"),
        (lambda votes: votes[1:], "for 60 rows"),
        (lambda votes: votes + np.nan, "60 of 60 rows hold NaN"),
        (lambda votes: 0 * votes, "60 of 60 rows do not add up to 1"),
    ):
        with pytest.raises(ag.SettingError, match=f"^readout Wrong: {says}|^readout Wrong: gave .* {says}"):
            best_classes(told(), as_readout(Wrong(wrong)), 2)


def test_a_readout_without_its_method_is_refused():
    with pytest.raises(TypeError, match="by_block"):
        type("Nothing", (ag.Readout,), {})()


OLD = {
    "counts": lambda field: View.of(field).counts,
    "mass": lambda field: View.of(field).masses[0],
    "highest": lambda field: View.of(field).masses[1],
    "clipped_votes": lambda field: np.maximum(field.votes, 0.0),
    "mean": lambda field: coding.means(field.votes),
    "ample": lambda field: field.fresh.value,
    "certain": lambda field: np.isin(np.arange(60), list(LABELS)),
}


@pytest.mark.parametrize("name", OLD)
def test_old_names_of_a_field_say_the_new_ones(name):
    field = told()
    with pytest.warns(FutureWarning, match=rf"^Field\.{name} is called "):
        found = getattr(field, name)
    np.testing.assert_allclose(found, OLD[name](field), atol=1e-12)


def test_old_methods_of_a_field_say_the_new_ones():
    field = told()
    with pytest.warns(FutureWarning, match=r"Map\(\)\(field\)"):
        p = field.probabilities()
    with pytest.warns(FutureWarning, match="standing"):
        votes = field.certain_votes([1, 0])
    np.testing.assert_allclose(p[:40], ag.Map()(field)[:40], atol=1e-12)
    assert votes[[0, 1]].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(AttributeError, match="nothing"):
        _ = field.nothing
    assert Field.given(field.origin, [Observation(0, 1)], 2).held == 1
