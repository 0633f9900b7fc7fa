"""Points -> Graph, against the definitions; toy graphs with known answers."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import askgraph as ag
from askgraph.errors import GraphError, SettingError
from askgraph.graph import build
from askgraph.graph.copies import find_copies

quick = settings(deadline=None, max_examples=30)
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 6))
DISTANCES = np.linalg.norm(X[:, None] - X[None], axis=2)
COSINES = (X @ X.T) / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(X, axis=1))
NEAREST = ag.nearest_neighbors(X)
points = arrays(float, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.integers(-2, 2).map(float))


def by_definition(D, k, bandwidth):
    """The nearest-neighbour graph, a pair at a time; no two distances may tie."""
    n, W = len(D), np.zeros(D.shape)
    near = [np.argsort(np.where(np.arange(n) == i, np.inf, D[i]))[:k] for i in range(n)]
    reach = [D[i, near[i]].max() for i in range(n)]
    for i, j in [(i, j) for i in range(n) for j in range(n) if j in near[i] or i in near[j]]:
        square = {None: np.inf, "self-tuning": reach[i] * reach[j] / 4, 1.7: 1.7**2}[bandwidth]
        W[i, j] = np.exp(-(D[i, j] ** 2) / square)
    return W


@pytest.mark.parametrize("bandwidth", ["self-tuning", 1.7, None])
@pytest.mark.parametrize(("metric", "D"), [("euclidean", DISTANCES), ("cosine", 1 - COSINES)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame, pl.DataFrame])
def test_nearest_neighbors_by_definition(form, metric, D, bandwidth):
    graph = ag.nearest_neighbors(form(X), k=5, metric=metric, bandwidth=bandwidth)
    assert np.allclose(graph.weights.toarray(), by_definition(D, 5, bandwidth), rtol=1e-10, atol=1e-14)
    assert (graph.names, graph.notes) == (None, ())


@given(points, st.integers(1, 4), st.sampled_from(["euclidean", "cosine"]), st.sampled_from(["self-tuning", 0.5, None]))
@quick
def test_copies_ties_and_zero_rows_never_give_nan(table, k, metric, bandwidth):
    graph = ag.nearest_neighbors(table, k=k, metric=metric, bandwidth=bandwidth)
    W = graph.weights.toarray()
    assert ((W >= 0) & (W <= 1)).all()
    assert (W > 0).any(axis=1).all()
    of = find_copies(table if metric == "euclidean" else build.unit_rows(table)).of
    members = of == np.arange(of.max() + 1)[:, None]
    joined = (members @ (W > 0) @ members.T) & ~np.eye(len(members), dtype=bool)
    assert (joined.sum(axis=1) >= min(k, len(members) - 1)).all()
    zero = ~table.any(axis=1)
    same = np.linalg.norm(table[:, None] - table[None], axis=2) == 0
    assert (W[same & (W > 0)] == 1).all()
    if metric == "cosine" and bandwidth == 0.5:
        assert np.allclose(W[zero][:, ~zero][W[zero][:, ~zero] > 0], np.exp(-4))


def test_a_point_with_many_copies_takes_its_partners_scale():
    graph = ag.nearest_neighbors([[0.0]] * 4 + [[1.0]], k=3)
    assert np.allclose(graph.weights.toarray()[4, :4][graph.weights.toarray()[4, :4] > 0], np.exp(-4))
    assert graph.report().isolated == 0


def test_near_copies_far_from_the_origin_keep_their_distance():
    table = np.r_[1e8 + RANDOM.random((30, 20)) * 1e-3]
    D = np.linalg.norm(table[:, None] - table[None], axis=2)
    W = ag.nearest_neighbors(table, k=3, bandwidth=1e-2).weights.tocoo()
    assert np.allclose(W.data, np.exp(-((D[W.row, W.col] / 1e-2) ** 2)), rtol=1e-12)


def test_few_points_cap_k_and_say_so():
    graph = ag.nearest_neighbors(X[:4], k=10)
    assert graph.n_edges == 6
    assert graph.notes == ("k=10 came down to 3: there are 4 points",)


def test_weights_that_vanish_are_noted():
    graph = ag.nearest_neighbors([[0.0], [1.0], [1e3]], k=1, bandwidth=1.0)
    assert graph.notes == ("dropped 1 zero weight",)


@pytest.mark.parametrize("chunk", [1, 50, 10**6])
def test_all_pairs_by_definition_whatever_the_chunk(chunk, monkeypatch):
    monkeypatch.setattr(build, "PAIRS_PER_BLOCK", chunk)
    for threshold in (0.0, 0.3):
        rbf = np.exp(-((DISTANCES / 2.0) ** 2)) * ~np.eye(40, dtype=bool)
        cut = ag.radial_basis(X, bandwidth=2.0, threshold=threshold)
        assert np.allclose(cut.weights.toarray(), np.where(rbf >= threshold, rbf, 0), rtol=1e-12)
        cosine = np.where(threshold <= COSINES, np.maximum(COSINES, 0), 0) * ~np.eye(40, dtype=bool)
        assert np.allclose(ag.pearson(X, threshold, scale=False).weights.toarray(), cosine, atol=1e-14)
        centred = np.corrcoef(X) * ~np.eye(40, dtype=bool)
        centred = np.where(centred >= threshold, np.maximum(centred, 0), 0)
        assert np.allclose(ag.pearson(X, threshold, True, False).weights.toarray(), centred, atol=1e-14)
    assert np.array_equal(ag.nearest_neighbors(X).weights.data, NEAREST.weights.data)


def test_pearson_scales_as_the_paper_does():
    graph = ag.pearson(X)
    plain = ag.pearson(ag.scale_features(X), scale=False)
    assert np.array_equal(graph.weights.toarray(), plain.weights.toarray())
    assert not np.allclose(graph.weights.toarray(), ag.pearson(X, scale=False).weights.toarray())


def test_rows_without_direction_are_isolated_and_noted():
    zero = ag.pearson([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]], scale=False)
    assert zero.notes == ("1 row without direction: isolated",)
    assert zero.degrees[0] == 0
    constant = ag.pearson([[0.1, 0.1, 0.1], [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]], centered=True, scale=False)
    assert constant.degrees[0] == 0
    nearly = ag.pearson([[0.3, 0.3, 0.1 + 0.2], [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]], centered=True, scale=False)
    assert nearly.degrees[0] == 0
    turned = np.linalg.qr(RANDOM.normal(size=(9, 9)))[0]
    assert ag.pearson(turned, scale=False).n_edges == 0  # right angles, but for roundoff


@given(arrays(float, (6, 3), elements=st.floats(-1e6, 1e6)))
@quick
def test_scaled_columns_reach_both_ends_or_are_zero(table):
    scaled = ag.scale_features(table)
    constant = table.max(axis=0) == table.min(axis=0)
    assert (scaled[:, constant] == 0).all()
    assert (scaled[:, ~constant].min(axis=0) == -1).all()
    assert (scaled[:, ~constant].max(axis=0) == 1).all()
    order = np.argsort(table, axis=0)
    assert (np.diff(np.take_along_axis(scaled, order, axis=0), axis=0) >= 0).all()


def test_names_come_from_the_index():
    frame = pd.DataFrame(X[:5], index=list("abcde"))
    for make in (ag.nearest_neighbors, lambda x, **o: ag.radial_basis(x, 1.0, **o), ag.pearson):
        assert make(frame).names == tuple("abcde")
        assert make(pd.DataFrame(X[:5])).names is None
        assert make(pd.DataFrame(X)[10:15]).names == (10, 11, 12, 13, 14)
        assert make(frame, names=[1, 2, 3, 4, 5]).names == (1, 2, 3, 4, 5)


BAD = {
    "one point": (lambda: ag.nearest_neighbors([[1.0]]), GraphError, "1 point"),
    "no points": (lambda: ag.pearson(np.empty((0, 3))), GraphError, r"\(0, 3\)"),
    "one dimension": (lambda: ag.radial_basis([1.0, 2.0], 1.0), GraphError, r"\(2,\)"),
    "no features": (lambda: ag.nearest_neighbors(np.empty((3, 0))), GraphError, r"\(3, 0\)"),
    "empty frame": (lambda: ag.nearest_neighbors(pd.DataFrame()), GraphError, r"\(0, 0\)"),
    "text": (lambda: ag.nearest_neighbors([["a"], ["b"]]), GraphError, "encode"),
    "text column": (lambda: ag.pearson(pd.DataFrame({"age": [1, 2], "city": ["x", "y"]})), GraphError, "'city'"),
    "polars text": (lambda: ag.pearson(pl.DataFrame({"age": [1, 2], "city": ["x", "y"]})), GraphError, "'city'"),
    "nan": (lambda: ag.pearson(pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, None]})), GraphError, "row 1, column 'b'"),
    "null": (lambda: ag.pearson(pl.DataFrame({"a": [1, None]})), GraphError, "row 1, column 'a' is nan"),
    "inf": (lambda: ag.nearest_neighbors([[1.0, 2.0], [np.inf, 0.0]]), GraphError, "row 1, column 0 is inf"),
    "huge": (lambda: ag.nearest_neighbors([[1.0], [1e200]]), GraphError, r"row 1, column 0 is 1e\+200"),
    "sparse nan": (lambda: ag.nearest_neighbors(sp.csr_array([[0, 1], [np.nan, 0]])), GraphError, "row 1, column 0"),
    "complex": (lambda: ag.scale_features(X * 1j), GraphError, "complex128"),
    "too few names": (lambda: ag.nearest_neighbors(X, names=["a"]), GraphError, "1 name for 40"),
    "index twice": (lambda: ag.pearson(pd.DataFrame(X[:2], index=["a", "a"])), GraphError, "'a' is given twice"),
    "sparse scale": (lambda: ag.nearest_neighbors(sp.csr_array(X), scale=True), SettingError, "scale=False"),
    "k": (lambda: ag.nearest_neighbors(X, k=0), SettingError, "k=0"),
    "k fraction": (lambda: ag.nearest_neighbors(X, k=1.5), SettingError, r"k=1\.5"),
    "metric": (lambda: ag.nearest_neighbors(X, metric="l1"), SettingError, "metric='l1'"),
    "bandwidth": (lambda: ag.nearest_neighbors(X, bandwidth=-1), SettingError, "bandwidth=-1"),
    "bandwidth word": (lambda: ag.nearest_neighbors(X, bandwidth="auto"), SettingError, "'self-tuning' or None"),
    "bandwidth nan": (lambda: ag.radial_basis(X, np.nan), SettingError, "bandwidth=nan"),
    "chain": (lambda: ag.chain(0), SettingError, "n=0"),
    "grid": (lambda: ag.grid(3, 0), SettingError, "columns=0"),
    "sizes": (lambda: ag.communities(()), SettingError, "sizes"),
    "mixing": (lambda: ag.communities(mixing=1.5), SettingError, r"mixing=1\.5"),
    "power law": (lambda: ag.power_law(5, 5), SettingError, "n=5"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_says_what_came_and_what_to_do(case):
    make, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        make()


def test_too_many_weights_are_refused(monkeypatch):
    monkeypatch.setattr(build, "MAX_ENTRIES", 1000)
    with pytest.raises(GraphError, match="over 1,000 weights: raise the threshold"):
        ag.radial_basis(X, bandwidth=1e3)
    assert ag.radial_basis(X, bandwidth=1.0, threshold=0.5).n_edges <= 500


def test_grid_chain_and_star():
    graph = ag.grid(3, 4)
    at = [divmod(i, 4) for i in range(12)]
    expected = [[abs(a - c) + abs(b - d) == 1 for c, d in at] for a, b in at]
    assert np.array_equal(graph.weights.toarray(), expected)
    assert np.array_equal(ag.chain(5).weights.toarray(), ag.grid(1, 5).weights.toarray())
    assert ag.star(5).degrees.tolist() == [4, 1, 1, 1, 1]
    assert ag.chain(1).n_nodes == ag.star(1).n_nodes == ag.grid(1, 1).n_nodes == 1


def test_two_squares_are_the_papers():
    tables = np.array([ag.two_squares(rng)[1].reshape(10, 10) for rng in range(200)])
    fuzzy = np.zeros((10, 10), dtype=bool)
    fuzzy[4, :5] = fuzzy[5, 5:] = True
    square = np.zeros((10, 10), dtype=bool)
    square[1:4, 1:4] = square[6:9, 6:9] = True
    assert (tables[:, square] == 1).all()
    assert (tables[:, ~(square | fuzzy)] == 0).all()
    assert (abs(tables[:, fuzzy].mean(axis=0) - 0.5) < 0.15).all()
    assert np.array_equal(ag.two_squares(3)[1], ag.two_squares(3)[1])
    assert ag.two_squares(0)[0].n_edges == 180


@pytest.mark.parametrize("mixing", [0.0, 0.1, 0.4, 1.0])
def test_communities_mix_as_asked(mixing):
    graph, labels = ag.communities(mixing=mixing, rng=1)
    W, d = graph.weights.tocoo(), np.diff(graph.weights.indptr)
    assert np.bincount(labels).tolist() == [250, 350, 400]
    assert graph.report().components == 1
    assert abs((labels[W.row] != labels[W.col]).mean() - mixing) < 0.02
    assert abs(d.mean() - 10) < 1
    assert d.max() > 40  # the tail of a power law
    assert set(W.data) == {1.0}
    again, _ = ag.communities(mixing=mixing, rng=1)
    assert (again.weights != graph.weights).nnz == 0


@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.floats(0, 1), st.floats(0.1, 20), st.integers(0, 99))
@quick
def test_communities_are_connected_whatever_is_asked(sizes, mixing, degree, seed):
    graph, labels = ag.communities(sizes, mixing, degree, rng=seed)
    assert np.bincount(labels).tolist() == sizes
    assert graph.report().components == 1


def test_power_law_attaches_by_degree():
    graph = ag.power_law(20_000, m=4, rng=0)
    d = np.sort(np.diff(graph.weights.indptr))
    assert graph.n_edges == 4 * (20_000 - 4)
    assert graph.report().components == 1
    assert d[0] >= 1
    share = [(d >= k).mean() for k in (10, 20, 40)]
    expected = [4 * 5 / (k * (k + 1)) for k in (10, 20, 40)]  # P(D ≥ k) = m(m+1)/(k(k+1))
    assert np.allclose(share, expected, rtol=0.15)
    assert (ag.power_law(50, 3, rng=5).weights != ag.power_law(50, 3, rng=5).weights).nnz == 0
    assert ag.power_law(4, 3).n_edges == 3
    assert ag.power_law(30, 1, rng=0).n_edges == 29


def test_importing_build_does_not_import_sklearn():
    code = "import sys, askgraph.graph.build, askgraph.io.readers; print({'sklearn', 'networkx', 'pandas'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
