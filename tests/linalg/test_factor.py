"""The sparse factor against dense and rational arithmetic, on both sides of the size where compiled code takes over."""

from __future__ import annotations

import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, diags_array, random_array
from scipy.spatial import cKDTree

from askgraph.errors import ConvergenceError, EngineError, TooLargeError
from askgraph.linalg import factor
from askgraph.linalg.factor import Factor
from askgraph.linalg.fill import predicted_fill

MANY = 10**9
WAYS = {"dense": (MANY, MANY), "plain": (0, MANY), "compiled": (0, 0)}  # nodes up to which numpy does the work


def choose(patch, way):
    """Compute all factors in one way: a dense one in numpy, a sparse one in numpy, or a compiled one."""
    for name, up_to in zip(("DENSE_UP_TO", "PLAIN_UP_TO"), WAYS[way], strict=True):
        patch.setattr(factor, name, up_to)


def precision(n, i, j, w=1.0, delta=0.005):
    i, j = np.asarray(i, dtype=int), np.asarray(j, dtype=int)
    W = csr_array((np.broadcast_to(w, len(i)), (i, j)), shape=(n, n))
    W = W + W.T
    return csr_array(diags_array(np.asarray(W.sum(axis=1)).ravel() + delta) - W)


def chain(n, **settings):
    return precision(n, np.arange(n - 1), np.arange(1, n), **settings)


def star(n):
    return precision(n, np.zeros(n - 1), np.arange(1, n))


def grid(m, k):
    at = np.arange(m * k).reshape(m, k)
    return precision(m * k, np.r_[at[1:].ravel(), at[:, 1:].ravel()], np.r_[at[:-1].ravel(), at[:, :-1].ravel()])


def neighbors(n, rng, dims=3, k=10):
    X = rng.random((n, dims))
    pairs = cKDTree(X).query(X, k + 1)[1][:, 1:]
    i, j = np.repeat(np.arange(n), k), pairs.ravel()
    i, j = np.unique(np.sort(np.stack([i, j]), axis=0), axis=1)
    return precision(n, i, j, w=rng.uniform(0.1, 3, len(i)))


def scattered(n, rng, density=0.02):
    S = random_array((n, n), density=density, rng=rng).tocoo()
    keep = S.row < S.col
    return precision(n, S.row[keep], S.col[keep], w=S.data[keep] + 0.01)


def pinned(Q, nodes):
    free = np.ones(Q.shape[0])
    free[nodes] = 0
    return csr_array(diags_array(free) @ Q @ diags_array(free) + diags_array(1 - free))


RNG = np.random.default_rng(0)
GRAPHS = {
    "one node": precision(1, [], []),
    "isolated": precision(7, [2], [5]),
    "chain": chain(90),
    "star": star(120),
    "grid": grid(11, 13),
    "neighbors": neighbors(300, RNG),
    "random": scattered(250, RNG),
    "in pieces": scattered(200, RNG, density=0.004),
    "pinned": pinned(neighbors(200, RNG), [0, 17, 101]),
    "complete": precision(60, *np.triu_indices(60, 1)),
    "two hubs": star(400) + pinned(star(400), [0]),
}


def agrees(Q, tolerance=1e-10):
    made, G = Factor(Q), np.linalg.inv(Q.toarray())
    variance, norms = made.diagonals(squares=True)
    assert_allclose(variance, np.diag(G), rtol=tolerance)
    assert_allclose(norms, np.square(G).sum(axis=0), rtol=tolerance)
    assert_allclose(made.diagonals(squares=False)[0], variance, rtol=1e-14)
    assert made.diagonals(squares=False)[1] is None
    B = np.random.default_rng(1).normal(size=(len(G), 3))
    assert_allclose(made.solve(B), G @ B, rtol=0, atol=tolerance * np.abs(G @ B).max())
    assert_allclose(made.solve(B[:, 1]), made.solve(B)[:, 1], rtol=0, atol=tolerance * np.abs(G @ B).max())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GRAPHS)
def test_equals_the_dense_inverse(name, way, monkeypatch):
    choose(monkeypatch, way)
    agrees(GRAPHS[name])


@pytest.mark.slow
@pytest.mark.parametrize("way", ["plain", "compiled"])
def test_equals_the_dense_inverse_where_supernodes_are_many(way, monkeypatch):
    choose(monkeypatch, way)
    agrees(neighbors(1200, RNG))


def test_numpy_and_compiled_code_make_the_same_factor(monkeypatch):
    Q = neighbors(900, np.random.default_rng(3))
    made = {}
    for way in ("plain", "compiled"):
        choose(monkeypatch, way)
        made[way] = Factor(Q)
    plain, compiled = made["plain"], made["compiled"]
    assert plain.fill == pytest.approx(compiled.fill, rel=0.05)  # ties of minimum degree may be broken in another way
    assert_allclose(plain.diagonals(squares=False)[0], compiled.diagonals(squares=False)[0], rtol=1e-13)
    B = np.random.default_rng(4).random((900, 5))
    assert_allclose(plain.solve(B), compiled.solve(B), rtol=1e-12)
    choose(monkeypatch, "compiled")  # what one of them stored, the other goes on with
    again = Factor.restored(Q, plain.arrays())
    assert_allclose(again.solve(B), plain.solve(B), rtol=1e-12)


@st.composite
def small_graphs(draw):
    n = draw(st.integers(1, 7))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    exponents = draw(st.lists(st.floats(-12, 12), min_size=len(edges), max_size=len(edges)))
    return n, edges, [10.0**x for x in exponents], 10.0 ** draw(st.floats(-12, 0))


def exact(n, edges, weights, delta):
    """diag(G) and diag(G²) in rational arithmetic, by Gauss-Jordan."""
    Q = [[Fraction(delta) * (i == j) for j in range(n)] + [Fraction(i == j) for j in range(n)] for i in range(n)]
    for (i, j), w in zip(edges, weights, strict=True):
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            Q[a][b] += sign * Fraction(w)
    for k in range(n):
        Q[k] = [x / Q[k][k] for x in Q[k]]
        for i in set(range(n)) - {k}:
            Q[i] = [x - Q[i][k] * y for x, y in zip(Q[i], Q[k], strict=True)]
    G = [row[n:] for row in Q]
    return [float(G[i][i]) for i in range(n)], [float(sum(x * x for x in row)) for row in G], np.array(G, dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@given(small_graphs())
@settings(max_examples=60, deadline=None)
def test_conditioning_costs_no_digit_when_the_row_sums_are_given(way, graph):
    n, edges, weights, delta = graph
    i, j = np.array(edges, dtype=int).reshape(-1, 2).T
    with pytest.MonkeyPatch.context() as patch:
        choose(patch, way)
        made = Factor(precision(n, i, j, w=weights, delta=delta), excess=np.full(n, delta))
        variance, norms = made.diagonals(squares=True)
        columns = made.solve(np.eye(n))
    expected = exact(*graph)
    assert_allclose(variance, expected[0], rtol=1e-12)
    assert_allclose(norms, expected[1], rtol=1e-12)
    assert_allclose(columns, expected[2], rtol=1e-12)


def test_leaves_an_untidy_matrix_as_it_came():
    Q = neighbors(700, RNG)
    order = np.concatenate([np.arange(b, a, -1) - 1 for a, b in zip(Q.indptr, Q.indptr[1:], strict=False)])
    untidy = csr_array((Q.data[order], Q.indices[order], Q.indptr), Q.shape)
    before = untidy.indices.copy(), untidy.data.copy()
    agrees(untidy)
    assert (untidy.indices == before[0]).all()
    assert (untidy.data == before[1]).all()


def test_a_long_chain_of_wild_weights_and_a_tiny_delta():
    w = 10.0 ** RNG.uniform(-6, 6, 2999)
    made = Factor(chain(3000, w=w, delta=1e-12), excess=np.full(3000, 1e-12))
    assert_allclose(made.solve(np.ones(3000)), 1e12, rtol=1e-9)  # G 1 = 1/δ


@pytest.mark.parametrize("way", WAYS)
def test_refuses_what_has_no_inverse(way, monkeypatch):
    choose(monkeypatch, way)
    with pytest.raises(EngineError, match="delta > 0"):
        Factor(chain(9, delta=0.0))
    with pytest.raises(EngineError, match="at node 4"):
        Factor(diags_array(np.where(np.arange(9) == 4, np.nan, 1.0)))


def test_says_so_when_a_solve_is_off():
    made = Factor(chain(50), excess=np.full(50, 0.01))  # twice the truth: one refinement is not enough
    with pytest.raises(ConvergenceError, match="raise delta"):
        made.solve(np.ones(50))
    with pytest.raises(ConvergenceError, match="nan"):
        Factor(chain(50)).solve(np.where(np.arange(50) < 2, [[np.nan], [np.inf]], 1.0).T)


def test_refines_once_where_that_is_enough():
    Q = chain(50, delta=1.0)
    b = RNG.normal(size=50)
    assert_allclose(Q @ Factor(Q, excess=np.full(50, 1 + 1e-6)).solve(b), b, atol=1e-9)


def test_refuses_to_outgrow_its_limit():
    with pytest.raises(TooLargeError, match="iterative"):
        Factor(grid(40, 40), limit=1000)


def test_a_star_is_not_quadratic_and_fills_nothing():
    made = Factor(star(200_000))
    assert made.fill == pytest.approx(1.0, abs=1e-4)
    assert made.nbytes < 2e7


def test_survives_a_pickle_and_an_empty_right_hand_side():
    made = pickle.loads(pickle.dumps(Factor(grid(30, 30))))
    assert made.solve(np.empty((900, 0))).shape == (900, 0)
    assert_allclose(made.solve(np.ones(900)), 200.0)


@pytest.mark.slow
def test_small_problems_never_load_numba():
    code = """import sys, numpy as np, askgraph.linalg.factor as f, askgraph.linalg.fill as g; from scipy.sparse import csr_array
made = f.Factor(csr_array(np.diag(np.full(500, 2.0)))); made.diagonals(True); made.solve(np.ones(500))
made = f.Factor(csr_array(np.diag(np.full(5000, 2.0)))); made.diagonals(False); made.solve(np.ones(5000))
g.predicted_fill(csr_array(np.diag(np.full(5000, 2.0)))); print('numba' in sys.modules)"""
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        == "False"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "Q", [*GRAPHS.values(), grid(60, 60), neighbors(3000, RNG)], ids=[*GRAPHS, "grid 60", "neighbors 3000"]
)
def test_fill_is_foreseen_within_a_factor_of_two_and_a_half(Q, monkeypatch):
    choose(monkeypatch, "plain")
    assert 1 / 2.5 < predicted_fill(Q) / Factor(Q).fill < 2.5
