"""Conjugate gradients: equal to a dense solve whatever the graph, and the same however columns and nodes are arranged."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, diags_array
from scipy.spatial import cKDTree

from askgraph.errors import ConvergenceError, EngineError
from askgraph.linalg import blocked_cg, cg
from askgraph.linalg.cg import Solver
from askgraph.linalg.multigrid import Hierarchy, Level
from askgraph.linalg.plain_cg import PlainSystem

EPS = np.finfo(float).eps


@pytest.fixture(params=[cg.PLAIN_UP_TO, 0], ids=["numpy where it can", "compiled"])
def way(request, monkeypatch):
    """Solve small graphs that mix fast in numpy, and then all graphs by compiled code."""
    monkeypatch.setattr(cg, "PLAIN_UP_TO", request.param)


def precision(W, delta):
    W = csr_array(W)
    return csr_array(diags_array(W.sum(axis=1) + delta) - W)


def pinned(Q, nodes):
    free = np.ones(Q.shape[0])
    free[nodes] = 0
    return csr_array(diags_array(free) @ Q @ diags_array(free) + diags_array(1 - free))


def edges(n, i, j, w=1.0):
    w = np.broadcast_to(w, np.shape(i))
    W = csr_array((w, (i, j)), shape=(n, n))
    return csr_array(W.maximum(W.T))


def neighbors(n, dim=3, k=10, seed=0):
    points = np.random.default_rng(seed).random((n, dim))
    _, near = cKDTree(points).query(points, k + 1)
    return edges(n, np.repeat(np.arange(n), k), near[:, 1:].ravel())


def power_law(n, m=5, seed=0):
    """Each node ties itself to m earlier ends of edges, so degrees attract (Barabási and Albert 1999)."""
    draws = np.random.default_rng(seed).random((n, m))
    ends = np.zeros(2 * n * m, dtype=int)
    for i in range(1, n):
        ends[2 * i * m : 2 * (i + 1) * m : 2] = i
        ends[2 * i * m + 1 : 2 * (i + 1) * m : 2] = ends[(draws[i] * 2 * i * m).astype(int)]
    loop = ends[::2] == ends[1::2]
    return edges(n, ends[::2][~loop], ends[1::2][~loop])


def chain(n):
    return edges(n, np.arange(n - 1), np.arange(1, n))


def star(n):
    return edges(n, np.zeros(n - 1, dtype=int), np.arange(1, n))


def fragments(n):
    """Many components: pairs, chains of up to six, single nodes."""
    i = np.arange(n - 1)
    keep = (i % 7 != 6) & (i % 11 != 3)
    return edges(n, i[keep], i[keep] + 1)


def spread_out(W, orders, seed=0):
    """Weights that span 10^±orders."""
    upper = csr_array(W).tocoo()
    keep = upper.row < upper.col
    w = 10.0 ** np.random.default_rng(seed).uniform(-orders, orders, keep.sum())
    return edges(W.shape[0], upper.row[keep], upper.col[keep], w)


GRAPHS = {
    "neighbors": lambda: neighbors(3000),
    "power law": lambda: power_law(3000),
    "chain": lambda: chain(3000),
    "star": lambda: star(3000),
    "fragments": lambda: fragments(3000),
    "no edges": lambda: csr_array((2000, 2000)),
    "wide weights": lambda: spread_out(neighbors(3000), 6),
}


def residual(Q, x, b):
    """max ‖Qx - b‖ / ‖b‖, less what rounding of x explains; by differences, as Q @ x would round more than x does."""
    C, x, b = Q.tocoo(), x.reshape(len(x), -1), b.reshape(len(b), -1)
    flow = csr_array((-C.data, (C.row, np.arange(C.nnz))), shape=(len(x), C.nnz)) @ (x[C.row] - x[C.col])
    off = np.asarray(Q.sum(axis=1))[:, None] * x + flow - b
    explained = 32 * EPS * (abs(Q) @ abs(x))
    return (np.linalg.norm(np.maximum(abs(off) - explained, 0), axis=0) / np.linalg.norm(b, axis=0)).max()


def sides(n, k, seed=0):
    """Units and noise in turn."""
    rng = np.random.default_rng(seed)
    b = rng.standard_normal((n, k))
    b[:, ::2] = 0
    b[rng.integers(n, size=k), np.arange(k)] = 1
    return b


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 30))
    orders = draw(st.sampled_from([0, 1, 6]))
    W = np.triu(
        (rng.random((n, n)) < draw(st.sampled_from([0.0, 0.1, 0.3, 1.0])))
        * 10.0 ** rng.uniform(-orders, orders, (n, n)),
        1,
    )
    Q = precision(W + W.T, draw(st.sampled_from([1e-6, 0.005, 1.0])))
    return pinned(Q, rng.permutation(n)[: draw(st.integers(0, n // 3))]), sides(n, draw(st.integers(1, 11)), 1)


@pytest.mark.slow
@pytest.mark.parametrize("small", [(10**9, 0), (0, 10**9), (0, 0)], ids=["dense", "numpy", "compiled"])
@settings(deadline=None, max_examples=60)
@given(problem=problems())
def test_a_solve_equals_a_dense_one(small, problem):
    Q, b = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cg, "SMALL", small[0])
        patch.setattr(cg, "PLAIN_UP_TO", small[1])
        x = Solver(Q).solve(b, rtol=1e-12)
    d = 1 / np.sqrt(Q.diagonal())
    A = d[:, None] * Q.toarray() * d
    exact = d[:, None] * np.linalg.solve(A, d[:, None] * b)
    assert residual(Q, x, b) <= 1e-12
    np.testing.assert_allclose(x, exact, rtol=0, atol=(1e-9 + 16 * EPS * np.linalg.cond(A)) * abs(exact).max())


@pytest.mark.slow
@pytest.mark.parametrize("small", [(10**9, 0), (0, 10**9), (0, 0)], ids=["dense", "numpy", "compiled"])
def test_weights_over_twelve_orders_of_magnitude_are_solved_for(small, monkeypatch):
    monkeypatch.setattr(cg, "SMALL", small[0])
    monkeypatch.setattr(cg, "PLAIN_UP_TO", small[1])
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(10, 30))
        W = np.triu((rng.random((n, n)) < 0.1) * 10.0 ** rng.uniform(-6, 6, (n, n)), 1)
        Q, b = pinned(precision(W + W.T, 1.0), rng.permutation(n)[: n // 4]), sides(n, 6, seed)
        assert residual(Q, Solver(Q).solve(b, rtol=1e-12), b) <= 1e-12


LOST = "wide weights", 1e-12  # delta is below the rounding of the weights


@pytest.mark.slow
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("name", "delta"), [(name, delta) for name in GRAPHS for delta in (1e-12, 0.005, 1.0) if (name, delta) != LOST]
)
def test_every_graph_converges(name, delta):
    W = GRAPHS[name]()
    Q, b = precision(W, delta), sides(W.shape[0], 10)
    solver = Solver(Q)
    assert residual(Q, solver.solve(b), b) <= 1e-8
    assert residual(Q, solver.solve(b[:, 1]), b[:, 1]) <= 1e-8
    rough = solver.rough(b.astype(np.float32), 1e-3)
    assert rough.dtype == np.float32
    held = 16 * np.finfo(np.float32).eps * np.linalg.norm(abs(Q) @ abs(rough), axis=0)
    assert (np.linalg.norm(Q @ rough - b, axis=0) <= 1e-3 * np.linalg.norm(b, axis=0) + held).all()


@pytest.mark.parametrize("seed", range(6))
def test_a_delta_below_the_rounding_of_the_weights_is_solved_or_said(seed):
    name, delta = LOST
    order = np.random.default_rng(seed).permutation(3000)
    Q, b = precision(GRAPHS[name]()[order][:, order], delta), sides(3000, 10)
    try:
        assert residual(Q, Solver(Q).solve(b), b) <= 1e-8
    except EngineError as error:
        assert "raise delta" in str(error)  # noqa: PT017 -- an answer and this error are both right


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", GRAPHS)
def test_pinned_nodes_leave_the_solve(name):
    W = GRAPHS[name]()
    nodes = np.random.default_rng(2).permutation(W.shape[0])[:200]
    b = sides(W.shape[0], 5)
    b[nodes] = 0
    Q = pinned(precision(W, 0.005), nodes)
    x = Solver(Q).solve(b)
    assert residual(Q, x, b) <= 1e-8
    np.testing.assert_allclose(x[nodes], 0, atol=1e-12)


@pytest.mark.parametrize("weight", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("n", [200, 2000])
def test_a_small_delta_survives_large_weights(n, weight):
    """G 1 = 1/δ, though deg + δ rounds to deg."""
    solver = Solver(precision(weight * chain(n), 1e-12), excess=np.full(n, 1e-12))
    np.testing.assert_allclose(solver.solve(np.ones((n, 5))), 1e12, rtol=1e-9)


@pytest.mark.slow
def test_a_float32_solve_keeps_the_mean():
    """δ Σx = Σb, which float32 alone would lose."""
    b = np.random.default_rng(0).standard_normal((5000, 8)).astype(np.float32)
    x = Solver(precision(neighbors(5000), 1e-4)).rough(b, 1e-2)
    np.testing.assert_allclose(1e-4 * x.sum(axis=0, dtype=float), b.sum(axis=0, dtype=float), rtol=1e-3)


@pytest.mark.slow
def test_a_long_chain_converges():
    Q, b = precision(chain(100_000), 1e-6), sides(100_000, 1)
    assert residual(Q, Solver(Q).solve(b), b) <= 1e-8


@pytest.mark.slow
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", ["neighbors", "power law", "fragments"])
def test_neither_company_nor_order_matters(name):
    W = GRAPHS[name]()
    Q, b = precision(W, 0.005), sides(W.shape[0], 19)
    solver = Solver(Q)
    together = solver.solve(b)
    apart = np.column_stack([solver.solve(b[:, c]) for c in range(19)])
    in_parts = np.hstack([solver.solve(part) for part in np.split(b, [2, 7, 15], axis=1)])
    order = np.random.default_rng(3).permutation(W.shape[0])
    shuffled = np.empty_like(together)
    shuffled[order] = Solver(csr_array(Q[order][:, order])).solve(b[order])
    for other in (apart, in_parts, shuffled):
        assert (np.linalg.norm(Q @ (together - other), axis=0) <= 2.1e-8 * np.linalg.norm(b, axis=0)).all()


@pytest.mark.parametrize("name", ["neighbors", "power law"])
def test_the_same_input_gives_the_same_bits(name):
    W = GRAPHS[name]()
    Q, b = precision(W, 0.005), sides(W.shape[0], 40)
    first, second = Solver(Q), Solver(Q)
    assert (first.solve(b) == second.solve(b)).all()
    assert (first.rough(b, 1e-2) == second.rough(b, 1e-2)).all()


def test_the_preconditioner_suits_the_graph():
    assert Solver(precision(neighbors(5000), 0.005)).preconditioner == "multilevel"
    assert Solver(precision(power_law(5000), 0.005)).preconditioner == "jacobi"


@pytest.mark.parametrize("n", [500, 3000])
def test_a_start_saves_work_and_shapes_are_kept(n, monkeypatch):
    Q, b = precision(chain(n), 0.005), sides(n, 9)
    solver = Solver(Q)
    x = solver.solve(b)
    b[:, 4] = 0
    assert (solver.solve(b)[:, 4] == 0).all()
    assert solver.solve(b[:, :0]).shape == (n, 0)
    assert solver.solve(b[:, 0]).shape == (n,)
    assert solver.rough(np.asfortranarray(b), 0.1).shape == (n, 9)
    monkeypatch.setattr(cg, "STEPS", 0)
    assert solver.solve(Q @ x, start=x) is not x


def test_what_cannot_be_reached_is_said(monkeypatch):
    b = sides(3000, 5)
    with pytest.raises(EngineError, match="raise delta"):
        Solver(precision(1e12 * chain(3000), 1e-12))
    monkeypatch.setattr(cg, "STEPS", 3)
    with pytest.raises(ConvergenceError, match="raise delta"):
        Solver(precision(chain(3000), 0.005)).solve(b)


@pytest.mark.slow
def test_small_problems_never_load_a_compiler():
    code = (
        "import sys, numpy as np; from scipy.sparse import eye_array; from askgraph.linalg.cg import Solver;"
        "Solver(eye_array(1000, format='csr')).rough(np.ones((1000, 20)), 1e-3); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["neighbors", "power law", "fragments"])
@pytest.mark.parametrize(
    ("scatter", "padding"), [(0, 1), (10**9, 10**9), (10**9, 0)], ids=["scattered", "sliced", "by row"]
)
def test_one_column_in_pieces_is_the_same_column(name, scatter, padding, monkeypatch):
    Q = precision(GRAPHS[name]()[:2997, :2997], 0.005)  # the last slice of eight rows is not whole
    b = sides(Q.shape[0], 1)[:, 0]
    whole = Solver(Q).solve(b, 1e-10)
    monkeypatch.setattr(blocked_cg, "SPLIT_FROM", 0)
    monkeypatch.setattr(blocked_cg, "SCATTER_FROM", scatter)
    monkeypatch.setattr(blocked_cg, "MAX_PADDING", padding)
    monkeypatch.setattr(cg, "PLAIN_UP_TO", 0)
    x = Solver(Q).solve(b, 1e-10)
    np.testing.assert_allclose(x, whole, atol=1e-8 * np.abs(whole).max())
    assert residual(Q, x, b) <= 1e-10
    monkeypatch.setattr(blocked_cg, "n_cores", lambda: 1)
    assert (Solver(Q).solve(b, 1e-10) == x).all()


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("n", [3, 8, 9, 77, 4000])
def test_a_product_by_slices_of_rows_is_the_product_row_by_row(n, spread):
    from askgraph.linalg import cg_kernels as kernels

    rng = np.random.default_rng(n)
    joined = np.triu(rng.random((n, n)) < 5 / n, 1)
    joined[0, 1:] = True  # a hub beside short rows
    weights = joined * (2.0 + spread * rng.random((n, n)))
    fine = Level.of(precision(csr_array(weights + weights.T), 0.1), None)
    system = blocked_cg.System(Hierarchy.constants(fine, *fine.coarser()), True)
    Q, p = system._narrow[0], np.random.default_rng(0).normal(size=(n, 1)).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocked_cg, "MAX_PADDING", np.inf)
        ends, entries = system._sliced
    assert (len(entries.weight) == 1) == (spread == 0 or n < 8)
    pieces = len(ends) - 1
    rows, slices, sums = np.zeros((n, 1), np.float32), np.zeros((n, 1), np.float32), np.zeros((pieces + 1, 4, 1))
    kernels.piece_multiply((0,), Q, p, rows, sums[pieces], np.uint64(0), np.uint64(n))
    for k in range(pieces):
        kernels.piece_sliced((0,), Q, entries, p, slices, sums[k], ends[k], ends[k + 1])
    np.testing.assert_allclose(slices, rows, rtol=1e-5, atol=1e-5 * np.abs(rows).max())
    assert sums[:pieces, 2].sum() == pytest.approx(sums[pieces, 2, 0], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["neighbors", "chain", "wide weights"])
def test_the_correction_of_the_coarse_levels_is_symmetric_and_definite_however_many_there_are(name):
    from askgraph.linalg.cg_kernels import choose_direction_outside

    fine = Level.of(precision(GRAPHS[name](), 0.005), None)
    hierarchy = Hierarchy.multilevel(fine, *fine.coarser(), most=3)
    assert len(hierarchy.levels) >= 4
    system = blocked_cg.System(hierarchy, False)
    _, first, *_ = hierarchy.ordered()[1].levels
    coarse, count = system._narrow[1], np.count_nonzero(first.degree)
    M = np.zeros((count, count))
    for a in range(count):
        work = system._work(np.zeros((len(fine.excess), 1), np.float32), coarse)
        work.low[a], work.sums[0] = 1.0, 1.0
        assert choose_direction_outside((0,), coarse, work, np.zeros(1), 0)
        M[:, a] = work.high[:count, 0]
    np.testing.assert_allclose(M, M.T, atol=1e-4 * np.abs(M).max())
    half = np.linalg.cholesky((np.diag(first.diagonal) - first.weights.toarray())[:count, :count])
    # eigenvalues of the correction times the coarse matrix: 1 where the correction is exact
    *others, constants = np.linalg.eigvalsh(half.T @ M @ half)
    assert others[0] > 0.1
    assert others[-1] < 2
    assert constants < 3  # they are corrected on their own, too


@pytest.mark.slow
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", ["neighbors", "power law", "fragments", "wide weights"])
def test_the_diagonal_converges_with_the_square_of_the_residual(name):
    Q = precision(GRAPHS[name](), 0.005)
    nodes = np.arange(0, 3000, 171)
    b = np.zeros((3000, nodes.size))
    b[nodes, np.arange(nodes.size)] = 1
    exact = Solver(Q).solve(b, 1e-11)[nodes, np.arange(nodes.size)]
    np.testing.assert_allclose(Solver(Q).diagonal(nodes, 1e-2), exact, rtol=2e-3)


def test_the_steps_left_out_of_a_diagonal_are_extrapolated():
    sums = 3.0 + np.cumsum([0.5 ** np.arange(1, 6), 0.25 ** np.arange(1, 6), 0.9 ** np.arange(1, 6)], axis=1).T
    limits = blocked_cg._limit(sums[:0:-1][:4])
    np.testing.assert_allclose(limits[:2], [4.0, 3.0 + 1 / 3])
    assert limits[2] == pytest.approx(sums[-1, 2] + 0.9**5)  # no more than the last step
    assert blocked_cg._limit(np.array([[2.0], [1.0], [0.0], [0.0]]))[0] == 2.0  # two steps tell nothing


FIRST = """
import sys, numpy as np, askgraph as ag
learner = ag.Learner(ag.nearest_neighbors(np.random.default_rng(0).random((2_000, {}))), engine="iterative", rng=0)
for _ in range(3):
    learner.tell(learner.ask(), 0)
print("numba" in sys.modules)
"""
WIDTHS = """
from askgraph.linalg import cg_kernels
print(*{len(one[0]) for one in cg_kernels.iterate.signatures})
"""


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


@pytest.mark.slow
def test_questions_on_a_small_graph_that_mixes_fast_compile_nothing():
    assert run(FIRST.format(30)) == ["False"]


@pytest.mark.slow
def test_a_first_question_drawn_at_random_compiles_nothing_and_probes_compile_one_width_of_blocks():
    asked = FIRST.format(3).replace("range(3)", "range(0)").replace("print", "learner.ask(); print")
    assert run(asked + "learner.field.spread.variance" + WIDTHS) == ["False", str(blocked_cg.WIDTH)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["power law", "complete"])
def test_jacobi_in_numpy_does_what_compiled_jacobi_does(name, monkeypatch):
    W = power_law(3000) if name == "power law" else csr_array(1.0 - np.eye(1600))
    Q, b = precision(W, 0.05), sides(W.shape[0], 11)
    plain = Solver(Q)
    monkeypatch.setattr(cg, "PLAIN_UP_TO", 0)
    compiled = Solver(Q)
    assert isinstance(plain._system, PlainSystem)
    assert not isinstance(compiled._system, PlainSystem)
    x = compiled.solve(b, 1e-11)
    np.testing.assert_allclose(plain.solve(b, 1e-11), x, atol=1e-9 * np.abs(x).max())
    nodes = np.arange(0, 1600, 100)
    np.testing.assert_allclose(plain.diagonal(nodes, 1e-2), compiled.diagonal(nodes, 1e-2), rtol=2e-3)
    np.testing.assert_allclose(
        plain.rough(b, 1e-5, less="own"), compiled.rough(b, 1e-5, less="own"), atol=1e-3 * np.abs(x).max()
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["neighbors", "power law", "fragments"])
@pytest.mark.parametrize("count", [5, 8, 40])
def test_blocks_in_pieces_and_wide_blocks_are_the_same_columns(name, count, monkeypatch):
    Q = precision(GRAPHS[name](), 0.005)
    B, nodes = sides(Q.shape[0], count), np.arange(0, 60 * count, 60)
    monkeypatch.setattr(cg, "PLAIN_UP_TO", 0)
    usual = Solver(Q)
    X, d = usual.rough(B, 1e-4), usual.diagonal(nodes, 1e-3)
    monkeypatch.setattr(blocked_cg, "SPLIT_FROM", 0)
    monkeypatch.setattr(blocked_cg, "WIDE_FROM", 0)
    other = Solver(Q)
    assert (usual.width, other.width) == (blocked_cg.WIDTH, blocked_cg.WIDE)
    found = other.rough(B, 1e-4)
    assert residual(Q, found, B.astype(np.float32)) <= 1.1e-4
    assert np.linalg.norm(found - X) <= 0.02 * np.linalg.norm(X)
    np.testing.assert_allclose(other.diagonal(nodes, 1e-3), d, rtol=1e-4)
    for less in ("own", "near"):
        left = np.zeros_like(found)
        other.rough(B, 1e-4, less=less, out=left)
        np.testing.assert_allclose(left, other._system.less(found, less), atol=1e-4 * np.abs(X).max())
    monkeypatch.setattr(blocked_cg, "n_cores", lambda: 1)
    assert (other.rough(B, 1e-4) == found).all()


@pytest.mark.parametrize("graph", [power_law(2_000), neighbors(2_000), chain(1_700)], ids=["power law", "3-d", "chain"])
def test_steps_are_counted_alike_in_a_block_and_alone(graph, monkeypatch):
    monkeypatch.setattr(cg, "PLAIN_UP_TO", 0)
    system = Solver(precision(graph, 1e-3))._system
    b = np.random.default_rng(1).choice([-1.0, 1.0], (graph.shape[0], 1))
    counted = system.count_steps(b, 1e-3, 200)
    monkeypatch.setattr(blocked_cg, "COUNT_ALONE_FROM", 0)
    monkeypatch.setattr(blocked_cg, "SPLIT_FROM", 0)
    assert abs(system.count_steps(b, 1e-3, 200) - counted) <= 1
    assert system.count_steps(b, 1e-3, 1) == 2
