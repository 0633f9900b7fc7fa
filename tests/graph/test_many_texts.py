"""Many texts: what the search by heavy entries, and by cells of what texts mean, finds of the neighbors that all pairs give."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack

import askgraph as ag
from askgraph.graph import neighbors
from askgraph.graph.meaning import centered
from askgraph.graph.texts import text_rows
from askgraph.support import threads

N, K = 400, 5


def sentences(seed=0, n=N):
    """Sentences of words as often as in a language, a third of them variants of others."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array(["".join(rng.choice(list("abcdefghijklmnop"), rng.integers(2, 9))) for _ in range(1500)])
    often = 1 / np.arange(1, 1501)
    some = [list(rng.choice(vocabulary, rng.integers(4, 16), p=often / often.sum())) for _ in range(n)]
    for k in range(0, n, 3):
        some[k] = [*some[(k + 7) % n][1:], str(rng.choice(vocabulary))]
    return [" ".join(words) for words in some]


def meant(seed=0, n=N):
    """Dense rows of length 1 around a few centers."""
    rng = np.random.default_rng(seed)
    return centered(rng.normal(size=(n, 16)) + 2 * rng.normal(size=(9, 16))[rng.integers(9, size=n)])[0]


def some_rows(meaning):
    rows = text_rows(sentences())
    rows = csr_array(hstack([rows, csr_array(meant())], format="csr")) if meaning else rows
    return rows / np.sqrt(3 if meaning else 2)


def pairs(found):
    return found[0] * N + found[1]


@pytest.fixture
def many(monkeypatch):
    """Few texts are searched as many are, and by so little that it must be made more."""
    for name, value in {
        "SPARSE_UP_TO": 10,
        "WORK": 20,
        "CANDIDATES": 3,
        "SHORTLIST": 4,
        "CELL": 40,
        "CELLS": 3,
    }.items():
        monkeypatch.setattr(neighbors, name, value)


@pytest.mark.parametrize("meaning", [False, True])
def test_most_of_the_true_neighbors_are_found_and_the_share_is_told(many, monkeypatch, meaning):
    rows = some_rows(meaning)
    found = neighbors.find_neighbors(rows, K, None)
    monkeypatch.setattr(neighbors, "SPARSE_UP_TO", N)
    exact = neighbors.find_neighbors(rows, K, None)
    assert np.isin(pairs(found), pairs(exact)).mean() >= 0.9
    told = float(found[3][0].split("% of the true ones")[0].split()[-1])
    assert 92 <= told <= 100
    assert ("by all else" in found[3][0]) == meaning
    i, j, distances, _ = found
    assert (i != j).all()
    assert np.unique(pairs(found)).size == i.size
    table = rows.toarray()
    np.testing.assert_allclose(distances, np.linalg.norm(table[i] - table[j], axis=1), atol=1e-14)


@pytest.mark.parametrize("meaning", [False, True])
def test_a_search_of_everything_finds_what_all_pairs_give(monkeypatch, meaning):
    rows = some_rows(meaning)
    exact = neighbors.find_neighbors(rows, K, None)
    for name, value in {"SPARSE_UP_TO": 10, "HEAVIEST": 10_000, "WORK": 10**9, "CANDIDATES": N}.items():
        monkeypatch.setattr(neighbors, name, value)
    found = neighbors.find_neighbors(rows, K, None)
    np.testing.assert_allclose(np.sort(found[2].reshape(N, K)), np.sort(exact[2].reshape(N, K)), atol=1e-6)
    assert "100.0% of the true ones" in found[3][0]


@pytest.mark.parametrize("meaning", [False, True])
def test_the_number_of_threads_does_not_matter(many, monkeypatch, meaning):
    monkeypatch.setattr(neighbors, "ROWS_PER_PART", 30)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(threads, "n_cores", lambda cores=cores: cores)
        found.append(neighbors.find_neighbors(some_rows(meaning), K, None))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_the_order_of_texts_matters_little(many, monkeypatch):
    monkeypatch.setattr(neighbors, "WORK", 2_000)
    monkeypatch.setattr(neighbors, "CANDIDATES", 60)
    some, order = sentences(), np.random.default_rng(1).permutation(N)
    one, other = ag.nearest_texts(some, K), ag.nearest_texts([some[k] for k in order], K)
    moved = csr_array(one.weights.toarray()[np.ix_(order, order)])
    assert ((moved > 0) != (other.weights > 0)).sum() <= 0.01 * one.weights.nnz


def test_empty_texts_and_copies_are_taken_out_before(many):
    some = [*sentences(), None, "!", *sentences()[:50]]
    graph = ag.nearest_texts(some, K)
    assert graph.degrees[[N, N + 1]].tolist() == [0, 0]
    assert all(graph.weights[[k], :][:, [N + 2 + k]].toarray()[0, 0] == 1 for k in range(50))
    assert (np.delete(graph.degrees, [N, N + 1]) > 0).all()


def test_texts_that_are_all_equal_are_tied(many):
    graph = ag.nearest_texts(["the same text"] * 60, K)
    assert graph.components().max() == 0


def test_texts_that_share_hardly_anything_get_neighbors(many):
    graph = ag.nearest_texts([f"{chr(0x4E00 + 2 * k)}{chr(0x4E01 + 2 * k)}" for k in range(60)], K)
    assert (np.diff(graph.weights.indptr) >= K).all()


@pytest.mark.parametrize("size", [1, 7, 60, 1000])
def test_others_in_cells_are_distinct_and_mostly_the_nearest(monkeypatch, size):
    monkeypatch.setattr(neighbors, "CELL", size)
    X = meant().astype(np.float32)
    found = neighbors._search_cells(X, K)
    products = X @ X.T
    np.fill_diagonal(products, -1)
    true = np.argsort(-products, axis=1)[:, :K]
    assert (found != np.arange(N)[:, None]).all()
    assert all(np.unique(row[row >= 0]).size == (row >= 0).sum() for row in found)
    shares = [np.isin(a, b).mean() for a, b in zip(true, found, strict=True)]
    assert np.mean(shares) == 1 if size == 1000 else np.mean(shares) > (0.5 if size > 1 else 0.1)


def test_rows_of_zeros_and_equal_rows_have_cells_too(monkeypatch):
    monkeypatch.setattr(neighbors, "CELL", 4)
    X = np.zeros((30, 3), np.float32)
    X[10:20, 1] = 1
    found = neighbors._search_cells(X, 3)
    assert (found != np.arange(30)[:, None]).all()
