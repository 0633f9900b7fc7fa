"""Pictures of graphs: what is near in the graph is near in the picture, whatever the graph."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import KDTree

import askgraph as ag
from askgraph.layout import layout
from askgraph.layout.multilevel import ALL_PAIRS_UP_TO
from askgraph.layout.packing import fit_into_boxes, lattice, rectangles
from askgraph.layout.stress import distances, minimize_stress, path_lengths
from tests.helpers.graphs import random_graph

pytestmark = pytest.mark.slow


def digits():
    from sklearn.datasets import load_digits

    data = load_digits()
    return ag.nearest_neighbors(data.data, k=10), data.target


def side_by_side(*graphs, alone=0):
    return ag.Graph(sp.block_diag([g.weights for g in graphs] + [sp.csr_array((1, 1))] * alone, format="csr"))


def same_class(x, truth, k=10):
    """The share of the k nearest in the picture that carry the same class."""
    return (truth[KDTree(x).query(x, k + 1)[1][:, 1:]] == truth[:, None]).mean()


def nearer(graph, x):
    """How many times nearer neighbours are than random pairs of one component, by medians."""
    ends, rng, part = graph.weights.tocoo(), np.random.default_rng(0), graph.components()
    i, j = rng.integers(graph.n_nodes, size=(2, 20_000))
    apart = part[i] == part[j]
    between = np.linalg.norm(x[i] - x[j], axis=1)[apart & (i != j)]
    return np.median(between) / np.median(np.linalg.norm(x[ends.row] - x[ends.col], axis=1))


GRAPHS = {
    "digits": lambda: digits()[0],
    "grid": lambda: ag.grid(40, 30),
    "communities": lambda: ag.communities((300, 400, 300), rng=1)[0],
    "chain": lambda: ag.chain(700),
    "star": lambda: ag.star(700),
    "power law": lambda: ag.power_law(1000, rng=0),
    "small grid": lambda: ag.grid(12, 12),
    "small star": lambda: ag.star(40),
    "small chain": lambda: ag.chain(40),
    "small communities": lambda: ag.communities((100, 80, 120), rng=1)[0],
    "parts": lambda: side_by_side(ag.grid(20, 20), ag.chain(200), ag.star(50), ag.chain(2), alone=30),
    "small parts": lambda: side_by_side(ag.grid(5, 5), ag.chain(9), ag.star(5), ag.chain(2), alone=3),
    "pairs": lambda: side_by_side(*[ag.chain(2)] * 400),
    "no edges": lambda: ag.Graph(np.zeros((50, 50))),
    "one node": lambda: ag.Graph(np.zeros((1, 1))),
    "odd weights": lambda: ag.Graph(random_graph(np.random.default_rng(0), 600, 0.02) ** 40),
    "copies": lambda: ag.nearest_neighbors(np.repeat(np.random.default_rng(0).normal(size=(60, 2)), 10, axis=0), k=6),
    "clique": lambda: ag.Graph(np.ones((600, 600)) - np.eye(600)),
}
NEARER = {"digits": 10, "grid": 10, "communities": 3, "chain": 50, "small grid": 4, "small chain": 6, "parts": 5}
NEARER |= {"small communities": 2.5, "star": 1.1, "power law": 1.3}


@pytest.mark.parametrize("name", GRAPHS)
def test_any_graph_has_a_picture(name, record_property):
    graph = GRAPHS[name]()
    x = layout(graph)
    assert x.shape == (graph.n_nodes, 2)
    assert x.dtype == np.float32
    assert np.isfinite(x).all()
    assert ((x >= 0) & (x <= 1)).all()
    assert len(np.unique(x, axis=0)) >= 0.99 * graph.n_nodes
    np.testing.assert_array_equal(layout(graph), x)
    if name in NEARER:
        record_property("nearer", float(nearer(graph, x)))
        assert nearer(graph, x) > NEARER[name]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([0.0, 0.05, 0.2, 1.0]), st.integers(-150, 100))
def test_odd_graphs(seed, n, density, power):
    W = random_graph(np.random.default_rng(seed), n, density) * 10.0**power
    x = layout(ag.Graph(W), rng=seed)
    assert np.isfinite(x).all()
    assert ((x >= 0) & (x <= 1)).all()
    assert len(np.unique(x, axis=0)) == n
    np.testing.assert_array_equal(layout(ag.Graph(W), rng=seed), x)


@pytest.mark.long
@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 2e-3, 1e-2]))
def test_odd_graphs_of_many_nodes(seed, density):
    rng = np.random.default_rng(seed)
    graph = ag.Graph(random_graph(rng, 2 * ALL_PAIRS_UP_TO, density) ** rng.integers(0, 30))
    x = layout(graph, rng=seed)
    assert np.isfinite(x).all()
    assert ((x >= 0) & (x <= 1)).all()
    np.testing.assert_array_equal(layout(graph, rng=seed), x)


@pytest.mark.slow
def test_classes_are_seen_as_clusters(record_property):
    graph, truth = digits()
    share = same_class(layout(graph), truth)
    record_property("same class among ten", float(share))
    assert share >= 0.95
    assert same_class(layout(graph, rng=7), truth) >= 0.95
    assert same_class(layout(graph), np.random.default_rng(0).permutation(truth)) < 0.2
    some = np.arange(400)
    assert same_class(layout(graph.subgraph(some.tolist())), truth[some]) >= 0.85


@pytest.mark.parametrize("rows", [15, 40])
def test_a_grid_is_laid_flat(rows):
    x = layout(ag.grid(rows, rows)).astype(float)
    row, column = np.divmod(np.arange(rows * rows), rows)
    grid = np.c_[row, column, np.ones(rows * rows)]
    left = x - grid @ np.linalg.lstsq(grid, x, rcond=None)[0]
    assert left.std() < 0.1 * x.std()


def test_components_are_apart():
    graph = GRAPHS["parts"]()
    x, part = layout(graph), graph.components()
    for c in range(4):
        mine, others = x[part == c], x[part != c]
        low, high = mine.min(axis=0), mine.max(axis=0)
        assert not ((others >= low) & (others <= high)).all(axis=1).any()


def test_another_seed_is_another_picture():
    graph = ag.grid(30, 30)
    one, other = layout(graph, rng=1), layout(graph, rng=2)
    assert (one != other).any()
    np.testing.assert_array_equal(layout(graph, np.random.default_rng(1)), one)


@pytest.mark.parametrize("graph", [ag.grid(30, 30), ag.chain(5), ag.Graph(np.zeros((3, 3)))], ids=str)
def test_progress_adds_up(graph):
    ticks = []
    layout(graph, tick=lambda amount=1: ticks.append(amount))
    assert sum(ticks) == pytest.approx(1)


def test_small_graphs_need_no_compiler():
    code = "import sys, askgraph as ag; from askgraph.layout import layout; layout(ag.grid(9, 9)); print('numba' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30))
def test_rectangles_fill_the_square(sizes):
    areas = np.sort(np.array(sizes, dtype=float))[::-1]
    boxes = rectangles(areas)
    np.testing.assert_allclose(boxes[:, 2] * boxes[:, 3], areas / areas.sum(), rtol=1e-9)
    centers = boxes[:, :2] + boxes[:, 2:] / 2
    gap = np.abs(centers[:, None] - centers[None]) - (boxes[:, None, 2:] + boxes[None, :, 2:]) / 2
    assert (gap.max(axis=2) + np.eye(len(sizes)) >= -1e-9).all()


def test_pictures_stay_in_their_boxes():
    rng = np.random.default_rng(0)
    sizes = np.array([50, 20, 5, 2])
    boxes = rectangles(sizes.astype(float))
    x = fit_into_boxes(np.concatenate([rng.normal(0, s, (s, 2)) for s in sizes]), sizes, boxes)
    low, high = np.repeat(boxes[:, :2], sizes, axis=0), np.repeat(boxes[:, :2] + boxes[:, 2:], sizes, axis=0)
    assert ((x > low) & (x < high)).all()
    assert len(np.unique(lattice(7, boxes[0]), axis=0)) == 7


def test_stress_finds_points_in_the_plane_again():
    points = np.random.default_rng(0).normal(size=(40, 2))
    D = distances(points)
    np.testing.assert_allclose(distances(minimize_stress(D)), D, atol=0.05 * D.max())
    assert path_lengths(ag.chain(4).weights)[0, 3] == 3
