"""Neighbours: the tree and the approximate search against all pairs."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
import scipy.sparse as sp

import askgraph as ag
from askgraph.errors import MissingExtraError, SettingError
from askgraph.graph import neighbors as search


def edges(graph):
    ends = graph.weights.tocoo()
    return set(zip(ends.row.tolist(), ends.col.tolist(), strict=True))


def nearest_by_sorting(X, k):
    """Return the k nearest other rows of each row, from a table of all distances."""
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1)[:, :k]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_tree_finds_what_all_pairs_find(metric, monkeypatch):
    X = np.random.default_rng(0).normal(size=(800, 3))
    tree = ag.nearest_neighbors(X, k=7, metric=metric)
    monkeypatch.setattr(search, "FEW_COLUMNS", 2)
    plain = ag.nearest_neighbors(X, k=7, metric=metric)
    np.testing.assert_allclose(tree.weights.toarray(), plain.weights.toarray(), atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 4), (12, 3), (97, 1), (300, 10), (301, 40)])
def test_all_pairs_find_the_nearest_in_order(n, k, sparse, monkeypatch):
    monkeypatch.setattr(search, "PAIRS_PER_BLOCK", 1000)  # several blocks, the last one shorter
    monkeypatch.setattr(search, "ROWS_PER_BLOCK", 2)
    X = np.random.default_rng(n).normal(size=(n, 12)) + 5
    i, j, distances, _ = search.find_neighbors(sp.csr_array(X) if sparse else X, k, None)
    assert (i == np.repeat(np.arange(n), k)).all()
    assert (j.reshape(n, k) == nearest_by_sorting(X, k)).all()
    np.testing.assert_allclose(distances, np.linalg.norm(X[i] - X[j], axis=1))


@pytest.mark.parametrize("kind", ["clusters far apart", "an outlier", "huge", "tiny", "few values"])
def test_all_pairs_are_exact_where_float32_cannot_tell_neighbors_apart(kind):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 12))
    if kind == "clusters far apart":
        X = 1e-3 * X + 1000.0 * (np.arange(400) % 2)[:, None]
    if kind == "an outlier":
        X[7] = 1e9
    if kind == "few values":
        X = np.round(X)
    X *= {"huge": 1e150, "tiny": 1e-150}.get(kind, 1.0)
    i, j, distances, _ = search.find_neighbors(X, 6, None)
    expected = np.take_along_axis(np.linalg.norm(X[:, None] - X, axis=2), nearest_by_sorting(X, 6), axis=1)
    np.testing.assert_allclose(distances.reshape(400, 6), expected, rtol=1e-9)
    np.testing.assert_allclose(distances, np.linalg.norm(X[i] - X[j], axis=1), rtol=1e-12)


def test_all_pairs_join_copies_to_copies():
    X = np.repeat(np.random.default_rng(2).normal(size=(40, 12)), 20, axis=0)
    i, j, distances, _ = search.find_neighbors(X, 5, None)
    assert (i // 20 == j // 20).all()
    assert (i != j).all()
    assert (distances == 0).all()


@pytest.mark.slow
def test_approximate_neighbors_say_how_many_they_found():
    X = np.random.default_rng(1).normal(size=(3000, 24)) + 1e4
    plain, close = (edges(ag.nearest_neighbors(X, k=8, approximate=how)) for how in (False, True))
    assert len(plain & close) / len(plain) > 0.93
    (note,) = [x for x in ag.nearest_neighbors(X, k=8, approximate=True).notes if "approximate" in x]
    assert 0.95 <= float(note.split("%")[0].split()[-1]) / 100 <= 1


def test_copies_do_not_become_their_own_neighbors_in_lists():
    X = np.repeat(np.random.default_rng(2).normal(size=(40, 12)), 20, axis=0)
    graph = ag.nearest_neighbors(X, k=5, approximate=True)
    assert graph.degrees.min() >= 5
    assert graph.weights.diagonal().sum() == 0


def test_large_tables_of_many_columns_are_approximate_where_faiss_is_there(monkeypatch):
    monkeypatch.setattr(search, "EXACT_UP_TO", 100)
    monkeypatch.setattr(search, "EXACT_WORK", 399 * 400 * 16)
    X = np.random.default_rng(3).normal(size=(400, 16))
    assert not ag.nearest_neighbors(X[:399]).notes  # all pairs are compared where that is little work
    assert any("approximate" in note for note in ag.nearest_neighbors(X).notes)
    assert not any("approximate" in note for note in ag.nearest_neighbors(X, approximate=False).notes)


def test_without_faiss_the_search_is_exact_and_says_what_would_help(monkeypatch, caplog):
    true_import = builtins.__import__

    def no_faiss(name, *args, **options):
        if name == "faiss":
            raise ImportError(name)
        return true_import(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", no_faiss)
    monkeypatch.setattr(search, "EXACT_UP_TO", 100)
    monkeypatch.setattr(search, "EXACT_WORK", 0)
    X = np.random.default_rng(4).normal(size=(200, 16))
    ag.nearest_neighbors(X)
    assert "askgraph[ann]" in caplog.text
    with pytest.raises(MissingExtraError, match="faiss"):
        ag.nearest_neighbors(X, approximate=True)


def test_sparse_tables_are_searched_exactly():
    with pytest.raises(SettingError, match="dense"):
        ag.nearest_neighbors(sp.random_array((50, 20), density=0.2, rng=0), approximate=True)
