"""Rows that repeat: neighbors are distinct rows, copies are tied, and tables without copies are joined as ever."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image

import askgraph as ag
from askgraph.graph import copies, neighbors
from askgraph.graph.build import graph_from_pairs, unit_rows
from askgraph.graph.copies import find_copies
from askgraph.graph.neighbors import find_neighbors
from askgraph.graph.pairs import edge_weights
from askgraph.graph.texts import text_rows


def survey(rng, n=600, questions=4):
    """Return answers to questions of three choices, and one 0/1 column per choice."""
    answers = rng.integers(0, 3, (n, questions))
    return answers, np.eye(3)[answers].reshape(n, 3 * questions)


def texts(rng):
    """Return 150 texts of nine words, no two of them alike."""
    words = [a + b + c for a in "bdgkt" for b in "aeiou" for c in "lmns"]
    return [" ".join(rng.choice(words, 9)) for _ in range(150)]


def same_as(rows):
    """Return for each row the first row that equals it, by comparing all pairs."""
    return (rows[:, None] == rows).all(axis=2).argmax(axis=1)


def neighbor_counts(graph):
    return np.diff(graph.weights.indptr)


@pytest.mark.parametrize("kind", ["dense", "sparse", "columns first"])
@pytest.mark.parametrize("hashed", ["well", "badly", "not at all"])
def test_copies_are_the_rows_that_are_equal_number_by_number_whatever_their_hashes(kind, hashed, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.integers(-1, 2, (200, 4)) * rng.choice([1.0, -0.0, 0.1], (200, 4))
    if hashed != "well":
        plain = copies._hashes
        monkeypatch.setattr(copies, "_hashes", lambda X: plain(X) % np.uint64(3 if hashed == "badly" else 1))
    found = find_copies({"dense": X, "sparse": sp.csr_array(X), "columns first": np.asfortranarray(X)}[kind])
    assert (found.first[found.of] == same_as(X)).all()
    assert (np.diff(found.first) > 0).all()


def test_sparse_rows_are_copies_whatever_the_order_of_their_entries_and_their_zeros():
    rows = sp.csr_array(
        (np.array([1.0, 2.0, 2.0, 0.0, 1.0, 1.0, -0.0]), np.array([0, 3, 3, 1, 0, 0, 2]), np.array([0, 2, 5, 7])),
        shape=(3, 4),
    )
    assert find_copies(rows).of.tolist() == [0, 0, 1]


def test_few_rows_share_a_hash_where_numbers_are_small_and_whole():
    X = np.stack(np.meshgrid(*[np.arange(11.0)] * 4), axis=-1).reshape(-1, 4)
    assert np.unique(copies._hashes(X)).size == len(X)
    assert np.unique(copies._hashes(sp.csr_array(X))).size == len(X)


def joined_as_ever(rows, k, metric, bandwidth, approximate):
    """Return the weights of a graph of rows none of which repeats, without a look for copies."""
    rows = rows if metric == "euclidean" else unit_rows(rows)
    i, j, d, _ = find_neighbors(rows, min(k, rows.shape[0] - 1), approximate)
    weights = edge_weights(i, j, d if metric == "euclidean" else d**2 / 2, bandwidth)
    return graph_from_pairs(rows.shape[0], i, j, weights).weights


@pytest.mark.parametrize("bandwidth", ["self-tuning", 1.5, None], ids=str)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("kind", ["few columns", "many columns", "sparse", "texts", "many texts", "lists"])
def test_tables_without_copies_are_joined_bit_for_bit_as_ever(kind, metric, bandwidth, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3 if kind == "few columns" else 16))
    if kind == "sparse":
        X = sp.random_array((150, 40), density=0.3, rng=rng, format="csr")
    if "texts" in kind:
        X = text_rows(texts(rng))
    if kind == "many texts":
        monkeypatch.setattr(neighbors, "SPARSE_UP_TO", 100)
    approximate = True if kind == "lists" else None
    graph = ag.nearest_neighbors(X, 6, metric, bandwidth, approximate=approximate)
    plain = joined_as_ever(X, 6, metric, bandwidth, approximate)
    for part in ("indptr", "indices", "data"):
        assert getattr(graph.weights, part).tobytes() == getattr(plain, part).tobytes()
    assert not any("repeat" in note for note in graph.notes)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("bandwidth", ["self-tuning", 1.0, None], ids=str)
def test_every_row_of_a_survey_is_joined_to_rows_that_differ(metric, bandwidth):
    answers, X = survey(np.random.default_rng(0))
    graph = ag.nearest_neighbors(X, 10, metric, bandwidth)
    assert graph.components().max() == 0
    patterns = answers @ [27, 9, 3, 1]
    edges = graph.weights.tocoo()
    assert np.isin(np.arange(81), patterns[edges.row[patterns[edges.row] != patterns[edges.col]]]).all()
    assert f"{100 * (600 - 81) / 600:.3g}% of the rows repeat" in " ".join(graph.notes)


def test_weights_between_copies_of_neighbors_are_those_of_the_distinct_rows():
    answers, X = survey(np.random.default_rng(0))
    _, first, of = np.unique(answers, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # in the order of rows, by which ties of distances are broken
    plain, number = ag.nearest_neighbors(X[first[order]]).weights.toarray(), np.argsort(order)[of.ravel()]
    edges = ag.nearest_neighbors(X).weights.tocoo()
    a, b = number[edges.row], number[edges.col]
    np.testing.assert_array_equal(edges.data, np.where(a == b, 1.0, plain[a, b]))
    joined = np.zeros_like(plain, dtype=bool)
    joined[a, b] = True
    assert (joined | np.eye(81, dtype=bool) == (plain > 0) | np.eye(81, dtype=bool)).all()


def test_one_answer_given_by_most_makes_no_hub_and_few_edges():
    X = survey(np.random.default_rng(0), 4000)[1]
    X[:3000] = X[0]
    graph = ag.nearest_neighbors(X)
    distinct = np.unique(X, axis=0, return_index=True)[1]
    assert (
        neighbor_counts(graph).max() <= 2 * np.log2(4000) + 3 * neighbor_counts(ag.nearest_neighbors(X[distinct])).max()
    )
    assert graph.n_edges <= 4000 * (np.log2(4000) + 3 * 10)


@pytest.mark.parametrize("approximate", [None, False, True])
def test_every_search_looks_among_distinct_rows(approximate, monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_UP_TO", 100)
    monkeypatch.setattr(neighbors, "EXACT_WORK", 0)
    rows = np.random.default_rng(2).normal(size=(300, 12))
    of = np.random.default_rng(3).permutation(np.repeat(np.arange(300), 20))
    graph = ag.nearest_neighbors(rows[of], 5, approximate=approximate)
    edges = graph.weights.tocoo()
    reached = np.unique(of[edges.row] * 300 + of[edges.col])
    apart = reached[reached // 300 != reached % 300]
    assert np.bincount(apart // 300, minlength=300).min() >= 5
    assert any("approximate" in note for note in graph.notes) == (approximate is not False)
    assert any("95% of the rows repeat" in note for note in graph.notes)


def test_many_texts_are_searched_among_distinct_ones(monkeypatch):
    monkeypatch.setattr(neighbors, "SPARSE_UP_TO", 100)
    once = texts(np.random.default_rng(5))
    some, all_three = ag.nearest_texts(once, 4), ag.nearest_texts(once * 3, 4)
    assert all_three.components().max() == some.components().max() == 0
    first = all_three.weights[:150][:, :150].toarray() + all_three.weights[:150][:, 150:300].toarray()
    first += all_three.weights[:150][:, 300:].toarray()
    assert ((first > 0) | np.eye(150, dtype=bool) >= (some.weights.toarray() > 0)).mean() > 0.99
    assert any("66.7% of the rows repeat" in note for note in all_three.notes)


def test_by_cosine_multiples_of_a_row_are_copies_and_rows_of_zeros_too():
    X = np.array([[1.0, 2.0], [3.0, 6.0], [0.0, 0.0], [7.0, 14.0], [2.0, 1.0], [0.0, 0.0], [5.0, 5.0]])
    for table in (X, sp.csr_array(X)):
        assert find_copies(unit_rows(table)).of.tolist() == [0, 0, 1, 0, 2, 1, 3]
        assert ag.nearest_neighbors(table, 1, "cosine").weights.toarray()[0, [1, 3]].tolist() == [1.0, 1.0]


def test_copies_of_pictures_are_tied_wherever_they_stand(tmp_path):
    rng = np.random.default_rng(0)
    pictures = [Image.fromarray(rng.integers(0, 256, (40, 30, 3), dtype=np.uint8)) for _ in range(9)]
    places = rng.permutation(np.repeat(np.arange(9), 15))
    graph = ag.nearest_pictures([pictures[k] for k in places], k=3)
    assert any(f"{100 * 126 / 135:.3g}% of the rows repeat" in note for note in graph.notes)
    assert graph.components().max() == 0


def test_rows_that_are_all_the_same_are_tied_and_nothing_else():
    for table in (np.ones((50, 3)), sp.csr_array(np.ones((50, 3))), np.zeros((50, 20))):
        for metric in ("euclidean", "cosine"):
            graph = ag.nearest_neighbors(table, metric=metric)
            assert graph.components().max() == 0
            assert set(graph.weights.data) == {1.0}
            assert set(neighbor_counts(graph)) == {10}  # 1, 2, 4, 8 and 16 places on, either way
            assert "k=10 came down to 0: there is 1 distinct point" in graph.notes


def test_fewer_distinct_rows_than_neighbors_are_all_neighbors():
    graph = ag.nearest_neighbors(np.repeat([[0.0], [1.0], [3.0]], 4, axis=0))
    assert graph.components().max() == 0
    assert "k=10 came down to 2: there are 3 distinct points" in graph.notes


def test_a_label_of_one_copy_is_the_answer_of_all():
    answers, X = survey(np.random.default_rng(0))
    learner = ag.Learner(ag.nearest_neighbors(X), rng=0)
    patterns = answers @ [27, 9, 3, 1]
    low, high = (np.flatnonzero(patterns == pattern) for pattern in (0, 80))
    learner.tell_all({int(low[0]): "low", int(high[-1]): "high"})
    assert set(learner.predict()[low]) == {"low"}
    assert set(learner.predict()[high]) == {"high"}


def test_the_order_of_rows_hardly_matters():
    rng = np.random.default_rng(0)
    answers, X = survey(rng)
    X *= 1 + rng.random(12)  # so that no two distances are equal by design
    told = {int(row): int(answers[row].sum() > 4) for row in rng.choice(600, 60, replace=False)}
    order = rng.permutation(600)
    plain, moved = ag.Learner(ag.nearest_neighbors(X), rng=0), ag.Learner(ag.nearest_neighbors(X[order]), rng=0)
    plain.tell_all(told)
    moved.tell_all({int(np.flatnonzero(order == row)[0]): label for row, label in told.items()})
    assert np.abs(plain.probabilities()[order] - moved.probabilities()).mean() < 0.02
    assert (plain.predict()[order] == moved.predict()).mean() > 0.98
