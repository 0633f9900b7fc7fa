"""The laws of the field and its utilities, over one table of engines."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.answers.coding import chances, means
from askgraph.utilities import CRITERIA, lookahead
from tests.helpers.draws import given, settings
from tests.helpers.engines import ABROAD, ENGINES, PETSC_BLOCKS, SPARSE, close, here
from tests.helpers.graphs import TOYS, problems, random_graph, random_labels
from tests.helpers.reference import UTILITIES, Reference, score

over_engines = pytest.mark.parametrize("engine", [*ENGINES, *SPARSE, *ABROAD, PETSC_BLOCKS], ids=str)
by_columns = pytest.mark.parametrize(
    "engine", [*ENGINES, *SPARSE, *ABROAD], ids=str
)  # blocks solve otherwise for one column
few = settings(max_examples=25, deadline=None)


def posterior(engine, W, delta, classes, labels, **options):
    field = engine.start(ag.Graph(W), delta, classes, **options)
    for node, label in labels:
        field = field.observe(node, label)
    return field


def same_field(a, b, tolerance):
    close(a.votes, b.votes, tolerance)
    close(a.spread.variance, b.spread.variance, tolerance)
    close(a.spread.influence_l1, b.spread.influence_l1, tolerance)
    close(a.spread.influence_l2, b.spread.influence_l2, tolerance)
    nodes = np.arange(len(a.votes))
    close(a.columns(nodes), b.columns(nodes), tolerance)


def sharp(field):
    return field.sharpen(np.arange(len(field.votes)))


def scores(engine, name, field, alpha=0.0, form="derived", expect="mean", shares=None):
    return CRITERIA[name].score(field, np.flatnonzero(~field.labeled), alpha, form, expect, shares)


@over_engines
@few
@given(problems())
def test_field_is_the_papers(engine, problem):
    # Equations (2), (5), (6), (9) and (10), one label after another
    W, delta, classes, labels = problem
    field, plain = sharp(posterior(engine, W, delta, classes, labels)), Reference(W, delta, dict(labels), classes)
    close(means(field.votes), plain.mu, engine.tolerance)
    close(field.columns(np.arange(len(W))), plain.G, engine.tolerance)
    close(field.spread.variance, np.diag(plain.G), engine.tolerance)
    close(field.spread.influence_l1, plain.G.sum(axis=0), engine.tolerance)
    close(field.spread.influence_l2, np.linalg.norm(plain.G, axis=0), engine.tolerance)
    close(chances(field.votes), plain.chances(), engine.tolerance)


@pytest.mark.slow
@over_engines
@few
@given(problems(most=7))
def test_noisy_field_is_the_papers_with_noise(engine, problem):
    W, delta, classes, labels = problem
    field = sharp(posterior(engine, W, delta, classes, labels, noise=0.3))
    plain = Reference(W, delta, dict(labels), classes, noise=0.3)
    close(field.columns(np.arange(len(W))), plain.G, engine.tolerance)
    close(field.spread.influence_l2, np.linalg.norm(plain.G, axis=0), engine.tolerance)
    same_field(field, sharp(field.rebase()), 10 * engine.tolerance)
    for name in ("tv", "msd", "vm", "sigma", "fl", "kl", "eer", "tsa"):
        want = [score(name, plain, node) for node in plain.U]
        close(scores(engine, name, field), want, engine.tolerance)


@pytest.mark.slow
@over_engines
@pytest.mark.parametrize("name", UTILITIES)
@pytest.mark.parametrize("form", ["derived", "printed"])
@settings(max_examples=8, deadline=None)
@given(problems(most=7))
def test_utility_is_the_papers(engine, name, form, problem):
    # Equations (12), (16), (19)–(22), (24), (27) and (30), with doubt (34), (35) and the least change (33)
    W, delta, classes, labels = problem
    field, plain = sharp(posterior(engine, W, delta, classes, labels)), Reference(W, delta, dict(labels), classes)
    for alpha in (0.0, 0.4, 1.0):
        want = [score(name, plain, node, alpha, form) for node in plain.U]
        close(scores(engine, name, field, alpha, form), want, engine.tolerance)
    want = [score(name, plain, node, expect="min") for node in plain.U]
    close(scores(engine, name, field, expect="min"), want, engine.tolerance)


@over_engines
@few
@given(problems(most=7))
def test_class_shares_and_the_uncertainty_of_means(engine, problem):
    # Doubt (34) with a prior π(y) of one's own, and Σ_c (1 − μ_c²) in (30)
    W, delta, classes, labels = problem
    field, plain = sharp(posterior(engine, W, delta, classes, labels)), Reference(W, delta, dict(labels), classes)
    shares = tuple((np.arange(classes) + 1) / (classes * (classes + 1) / 2))
    for form in ("printed", "means"):
        for name in ("tv", "msd", "klg", "eer"):
            want = [score(name, plain, node, 0.4, form, shares=shares) for node in plain.U]
            close(scores(engine, name, field, 0.4, form, shares=shares), want, engine.tolerance)
    for name in ("tv", "msd"):
        for alpha in (0.0, 0.4):
            want = [score(name, plain, node, alpha, "means") for node in plain.U]
            close(scores(engine, name, field, alpha, "means"), want, engine.tolerance)


@over_engines
@pytest.mark.parametrize("toy", TOYS)
def test_every_utility_on_the_toy_graphs(engine, toy):
    graph = TOYS[toy]()
    W, labels = graph.weights.toarray(), random_labels(np.random.default_rng(1), graph.n_nodes, 3, 4)
    field, plain = sharp(posterior(engine, W, 0.005, 3, labels)), Reference(W, 0.005, dict(labels), 3)
    nodes = np.random.default_rng(2).choice(plain.U, 5, replace=False)
    for name in UTILITIES:
        want = [score(name, plain, node, 0.3) for node in nodes]
        close(CRITERIA[name].score(field, field.space.asarray(nodes), 0.3, "derived", "mean"), want, engine.tolerance)


@over_engines
@few
@given(problems())
def test_order_of_labels_is_irrelevant(engine, problem):
    W, delta, classes, labels = problem
    one, other = (posterior(engine, W, delta, classes, order) for order in (labels, labels[::-1]))
    same_field(sharp(one), sharp(other), 10 * engine.tolerance)


@over_engines
@few
@given(problems())
def test_variance_never_rises_and_labels_are_pinned(engine, problem):
    W, delta, classes, labels = problem
    field = sharp(engine.start(ag.Graph(W), delta, classes))
    for node, label in labels:
        after = field.observe(node, label)
        assert (sharp(after).spread.variance <= field.spread.variance * (1 + engine.tolerance)).all()
        assert after.spread.variance[node] == 0
        close(after.votes[node], np.eye(classes)[label], 1e-12)
        field = sharp(after)
    assert (field.columns(np.arange(len(W))) >= 0).all()


@over_engines
@few
@given(problems())
def test_permuting_nodes_permutes_scores(engine, problem):
    # Promise 17
    W, delta, classes, labels = problem
    order = np.random.default_rng(0).permutation(len(W))
    place = np.argsort(order)
    field = sharp(posterior(engine, W, delta, classes, labels))
    moved = sharp(posterior(engine, W[np.ix_(order, order)], delta, classes, [(place[k], y) for k, y in labels]))
    nodes, lift = here(np.flatnonzero(~field.labeled)), field.space.asarray
    for name in ("tv", "msd", "klg", "unc", "eer", "kl"):
        there = CRITERIA[name].score(field, lift(nodes), 0.3, "printed", "mean")
        close(CRITERIA[name].score(moved, lift(place[nodes]), 0.3, "printed", "mean"), there, engine.tolerance)


@pytest.mark.slow
@over_engines
@few
@given(problems())
def test_swapping_classes_mirrors_the_mean(engine, problem):
    # Promise 17
    W, delta, _, labels = problem
    labels = [(node, label % 2) for node, label in labels]
    field = posterior(engine, W, delta, 2, labels)
    mirrored = posterior(engine, W, delta, 2, [(node, 1 - label) for node, label in labels])
    close(means(mirrored.votes), -means(field.votes), engine.tolerance)
    close(chances(mirrored.votes), chances(field.votes)[:, ::-1], engine.tolerance)


@pytest.mark.slow
@over_engines
@few
@given(problems())
def test_an_isolated_node_changes_nothing(engine, problem):
    # Promise 17
    W, delta, classes, labels = problem
    field = sharp(posterior(engine, W, delta, classes, labels))
    more = sharp(posterior(engine, np.pad(W, (0, 1)), delta, classes, labels))
    close(more.votes[:-1], field.votes, engine.tolerance)
    close(more.spread.variance[:-1], field.spread.variance, engine.tolerance)
    close(ag.Map()(more)[-1], np.full(classes, 1 / classes), 1e-12)


@pytest.mark.slow
@over_engines
@settings(max_examples=12, deadline=None)  # each undoes and changes every label of its problem
@given(problems())
def test_undo_relabel_and_rebase(engine, problem):
    W, delta, classes, labels = problem
    field = posterior(engine, W, delta, classes, labels)
    rebased = field.rebase()
    same_field(sharp(rebased), sharp(field), 10 * engine.tolerance)
    for node, label in labels:
        without = posterior(engine, W, delta, classes, [x for x in labels if x[0] != node])
        for start in (field, rebased):
            same_field(sharp(start.forget(node)), sharp(without), 100 * engine.tolerance)
            same_field(sharp(start.forget(node).observe(node, label)), sharp(field), 100 * engine.tolerance)
        changed = posterior(engine, W, delta, classes, [(k, (y + 1) % classes if k == node else y) for k, y in labels])
        for start in (field, rebased):
            same_field(sharp(start.relabel(node, (label + 1) % classes)), sharp(changed), 100 * engine.tolerance)


@over_engines
def test_the_old_field_is_untouched(engine):
    W = random_graph(np.random.default_rng(0), 12)
    field = posterior(engine, W, 0.01, 3, [(0, 1), (3, 2)])
    votes, V, variance = field.votes.copy(), field.factor.copy(), field.spread.variance.copy()
    branches = [field.observe(5, 0), field.observe(7, 1), field.await_answer(8), field.forget(3), field.relabel(0, 2)]
    assert len({len(branch.observations) for branch in branches}) == 3
    for now, then in ((field.votes, votes), (field.factor, V), (field.spread.variance, variance)):
        np.testing.assert_array_equal(here(now), here(then))
    same_field(
        sharp(branches[0]), sharp(posterior(engine, W, 0.01, 3, [(0, 1), (3, 2), (5, 0)])), 10 * engine.tolerance
    )


@over_engines
@few
@given(problems())
def test_new_classes_at_any_time(engine, problem):
    W, delta, _, labels = problem
    grown = posterior(engine, W, delta, 0, labels)
    declared = posterior(engine, W, delta, grown.coding.width, labels)
    close(grown.votes, declared.votes, engine.tolerance)


@over_engines
def test_doubt_turns_printed_forms_into_their_calm_twins(engine):
    # Equation (35)
    W = random_graph(np.random.default_rng(3), 25)
    field = sharp(posterior(engine, W, 0.01, 2, [(0, 0), (9, 1), (17, 0)]))
    for name, calm in (("msd", "vm"), ("tv", "sigma")):
        close(2 * scores(engine, name, field, 1.0, "printed"), scores(engine, calm, field), engine.tolerance)
        close(
            scores(engine, name, field, 0.0, "printed"), scores(engine, name, field, 0.0, "derived"), engine.tolerance
        )


@by_columns
@pytest.mark.parametrize("name", ["fl", "kl", "eer", "tsa"])
def test_chunks_and_compilation_change_nothing(engine, name, monkeypatch):
    rng = np.random.default_rng(4)
    W = random_graph(rng, 40, 0.15)
    field = sharp(posterior(engine, W, 0.005, 4, random_labels(rng, 40, 4, 6)))
    # the same columns for every chunk: engines that iterate end all columns of a block together, to 1e-10 and not to 1e-12
    columns = field.columns(np.arange(40), rough=1e-3)
    monkeypatch.setattr(ag.Field, "columns", lambda self, nodes, rough=0.0: columns[:, nodes.tolist()])
    plain = scores(engine, name, field, 0.2)
    monkeypatch.setattr(lookahead, "PLAIN_BYTES", 8 * 40 * 3)
    monkeypatch.setattr(lookahead, "CHUNK_BYTES", 8 * 40 * 7)
    close(scores(engine, name, field, 0.2), plain, 1e-12)
    monkeypatch.setattr(lookahead, "COMPILE_FROM", 0)
    close(scores(engine, name, field, 0.2), plain, 1e-10)


@over_engines
@pytest.mark.parametrize("delta", [1e-4, 1e-5, 1e-6, 1e-7])
def test_small_delta_is_rebased_before_digits_are_lost(engine, delta):
    W = random_graph(np.random.default_rng(5), 20, 0.3)
    labels = [(0, 0), (11, 1), (7, 1)]
    field, plain = sharp(posterior(engine, W, delta, 2, labels)), Reference(W, delta, dict(labels), 2)
    close(means(field.votes), plain.mu, max(engine.tolerance, 1e-8))
    close(field.spread.variance, np.diag(plain.G), max(engine.tolerance, 1e-7))
    close(field.spread.influence_l2, np.linalg.norm(plain.G, axis=0), max(engine.tolerance, 1e-7))


@over_engines
@few
@given(problems(most=7))
def test_scores_of_a_learner_are_the_papers(engine, problem):
    # Equations (24), (16) and (22) through Learner.scores: of all nodes and of some, NaN where nothing is to be asked
    W, delta, classes, labels = problem
    plain, graph = Reference(W, delta, dict(labels), classes), ag.Graph(W)
    for name in ("sigma", "vm", "unc", "eer"):
        options = {"doubt": 0.0, "form": "derived", "hubs": "ask", "classes": range(classes), "rng": 0}
        learner = ag.Learner(graph, name, engine=engine.prior(graph, delta), **options)
        for node, label in labels:
            learner.tell(node, label)
        want = np.full(len(W), np.nan)
        want[plain.U] = [score(name, plain, node) for node in plain.U]
        every, some = learner.scores(), np.arange(len(W))[::-2]
        assert isinstance(every, np.ndarray)
        assert np.isnan(every).tolist() == np.isnan(want).tolist()
        close(np.nan_to_num(every), np.nan_to_num(want), 10 * engine.tolerance)
        close(np.nan_to_num(learner.scores(some.tolist())), np.nan_to_num(want[some]), 10 * engine.tolerance)
