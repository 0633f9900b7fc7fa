"""Small graphs of known shape: grids, chains, stars, communities, power laws."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from askgraph.graph.build import check_at_least, graph_from_pairs
from askgraph.graph.graph import Graph
from askgraph.support.arguments import generator, listed, one_of, real_number
from askgraph.support.memory import fits
from askgraph.support.progress import Tick, bar, working
from askgraph.types import Array, BoolArray, IntArray

MATCHING_ROUNDS = 20  # attempts to match the edge ends that are left; what is left after them stays unmatched
ATTACHING_ROUNDS = 100  # attempts to replace edges that a node has twice; what is left after them counts once
SHOW_PROGRESS_FROM_NODES = 100_000  # a larger graph takes seconds, and says so
BYTES_PER_EDGE = 100.0  # while a graph is made
Seed = int | np.random.Generator | None


def grid(rows: int, columns: int) -> Graph:
    """Return a grid: each node is joined to the nodes left, right, above and below.

    Parameters
    ----------
    rows, columns : int
        The size of the grid; node (r, c) has index r · columns + c.

    Returns
    -------
    Graph
        The grid.

    Examples
    --------
    >>> grid(10, 10)
    Graph(100 nodes, 180 edges)
    """
    check_at_least("rows", rows, 1)
    check_at_least("columns", columns, 1)
    _check_fits(int(rows) * int(columns))
    at = np.arange(rows * columns).reshape(rows, columns)
    right, down = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
    i, j = (np.concatenate([x.ravel(), y.ravel()]) for x, y in zip(right, down, strict=True))
    return graph_from_pairs(rows * columns, i, j)


def two_squares(rng: Seed = None, border: Literal["row", "ring"] = "row") -> tuple[Graph, IntArray]:
    """Return the paper's 10 × 10 grid: class 1 on two 3 × 3 squares with fuzzy borders, class 0 elsewhere.

    Parameters
    ----------
    rng : int or numpy.random.Generator, optional
        The seed of the border.
    border : {"row", "ring"}
        Where coins decide the class: at five nodes in one row beside each square, or at the sixteen nodes around it. The paper
        says "along the dividing lines", which may mean either.

    Returns
    -------
    graph : Graph
        The grid.
    labels : array of int
        The class of each node.

    Examples
    --------
    >>> graph, labels = two_squares(rng=0)
    >>> labels.reshape(10, 10)[1:4, 1:4].tolist()
    [[1, 1, 1], [1, 1, 1], [1, 1, 1]]
    """
    labels = np.zeros((10, 10), dtype=np.int64)
    labels[1:4, 1:4] = labels[6:9, 6:9] = 1
    fuzzy = np.zeros((10, 10), dtype=bool)
    if one_of(border, "border", ("row", "ring")) == "row":
        fuzzy[4, :5] = fuzzy[5, 5:] = True
    else:
        fuzzy[:5, :5] = fuzzy[5:, 5:] = True
    fuzzy &= labels == 0
    labels[fuzzy] = generator(rng).random(int(fuzzy.sum())) < 0.5
    return grid(10, 10), labels.ravel()


def chain(n: int) -> Graph:
    """Return the nodes 0 … n−1, each joined to the next.

    Parameters
    ----------
    n : int
        The number of nodes.

    Returns
    -------
    Graph
        The chain.

    Examples
    --------
    >>> chain(4).degrees.tolist()
    [1.0, 2.0, 2.0, 1.0]
    """
    check_at_least("n", n, 1)
    _check_fits(n)
    return graph_from_pairs(n, np.arange(n - 1), np.arange(1, n))


def star(n: int) -> Graph:
    """Return node 0 joined to each of the nodes 1 … n−1.

    Parameters
    ----------
    n : int
        The number of nodes.

    Returns
    -------
    Graph
        The star.

    Examples
    --------
    >>> star(4).degrees.tolist()
    [3.0, 1.0, 1.0, 1.0]
    """
    check_at_least("n", n, 1)
    _check_fits(n)
    return graph_from_pairs(n, np.zeros(n - 1, dtype=np.int64), np.arange(1, n))


def communities(
    sizes: Sequence[int] = (250, 350, 400),
    mixing: float = 0.1,
    mean_degree: float = 10,
    exponent: float = 3.0,
    rng: Seed = None,
) -> tuple[Graph, IntArray]:
    r"""Return a connected community graph in the manner of LFR, and the community of each node.

    Edge ends are matched at random, without repeated edges or self-loops; parts that stay apart are joined by a few more
    edges.

    Parameters
    ----------
    sizes : sequence of int
        The number of nodes in each community.
    mixing : float
        The share of each node's edges that leave its community, 0 to 1.
    mean_degree : float
        The mean number of edges per node.
    exponent : float
        Degrees follow a power law :math:`p(d) \propto d^{-\text{exponent}}`, with an exponent above 1.
    rng : int or numpy.random.Generator, optional
        The seed.

    Returns
    -------
    graph : Graph
        The graph.
    labels : array of int
        The community of each node.

    Examples
    --------
    >>> graph, labels = communities((20, 30), rng=0)
    >>> graph.n_nodes, int(graph.components().max()), np.bincount(labels).tolist()
    (50, 0, [20, 30])
    """
    sizes = listed(sizes, "sizes")
    for size in (len(sizes), *sizes):
        check_at_least("sizes", size, 1)
    _check_fits(sum(map(int, sizes)))
    mixing = real_number(mixing, "mixing", 0.0, 1.0)
    mean_degree = real_number(mean_degree, "mean_degree", sys.float_info.min, advice="a number > 0")
    exponent = real_number(exponent, "exponent", 1.01, 1000.0)
    rng, labels = generator(rng), np.repeat(np.arange(len(sizes)), sizes)
    degrees = (1 - rng.random(labels.size)) ** (-1 / (exponent - 1))
    degrees = np.minimum(degrees * mean_degree / degrees.mean(), labels.size - 1)
    shown = labels.size >= SHOW_PROGRESS_FROM_NODES
    with bar(2 * MATCHING_ROUNDS if shown else 0, f"matching the edges of {labels.size:,} nodes") as tick:
        inside = _match_ends(_round_randomly(degrees * (1 - mixing), rng), labels, True, rng, tick)
        outside = _match_ends(_round_randomly(degrees * mixing, rng), labels, False, rng, tick)
    pairs = np.concatenate([inside, outside])
    for group in (labels, np.zeros_like(labels)):  # within communities first, then the components of the whole graph
        pairs = np.concatenate([pairs, _bridges(pairs, group, rng)])
    return graph_from_pairs(labels.size, pairs[:, 0], pairs[:, 1]), labels


def power_law(n: int, m: int = 5, rng: Seed = None) -> Graph:
    """Return a graph grown by preferential attachment (Barabási & Albert 1999).

    Each new node is joined to m older nodes, drawn with probability proportional to their degrees.

    Parameters
    ----------
    n : int
        The number of nodes.
    m : int
        The number of edges that each new node brings.
    rng : int or numpy.random.Generator, optional
        The seed.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> power_law(1000, m=5, rng=0)
    Graph(1000 nodes, 4975 edges)
    """
    check_at_least("m", m, 1)
    check_at_least("n", n, m + 1)
    _check_fits(n * m)
    rng = generator(rng)
    # A star of m edges comes first. Edge e has its ends at places 2e and 2e + 1. A place drawn uniformly among those
    # that are older than an edge's node holds a node drawn by its degree (Batagelj & Brandes 2005).
    edge = np.arange(m, m * (n - m))
    older = 2 * m * (edge // m)
    place = rng.integers(0, older) if edge.size else edge
    with working(f"attaching {n:,} nodes") if n >= SHOW_PROGRESS_FROM_NODES else nullcontext():
        for _ in range(ATTACHING_ROUNDS):
            target = _nodes_at(place, m)
            if not (again := _find_repeats(target, m)).any():
                break
            place[again] = rng.integers(0, older[again])
    hub = np.arange(1, m + 1), np.zeros(m, dtype=np.int64)
    return graph_from_pairs(n, np.concatenate([hub[0], m + edge // m]), np.concatenate([hub[1], target]))


def _match_ends(ends: IntArray, labels: IntArray, within: bool, rng: np.random.Generator, tick: Tick) -> IntArray:
    """Return distinct pairs of nodes, within communities or across; node i is in up to ``ends[i]`` of them."""
    left, pairs = np.repeat(np.arange(labels.size), ends), np.empty((0, 2), dtype=np.int64)
    for _ in range(MATCHING_ROUNDS):
        left = rng.permutation(left)[: left.size // 2 * 2]
        left = left[np.argsort(labels[left], kind="stable")] if within else left
        new = np.sort(left.reshape(-1, 2), axis=1)
        seen = np.concatenate([pairs, new]) @ np.array([labels.size, 1])
        fits = np.isin(np.arange(len(pairs), len(seen)), np.unique(seen, return_index=True)[1])
        fits &= (new[:, 0] != new[:, 1]) & ((labels[new[:, 0]] == labels[new[:, 1]]) == within)
        pairs, left = np.concatenate([pairs, new[fits]]), new[~fits].ravel()
        tick()
    return pairs


def _bridges(pairs: IntArray, group: IntArray, rng: np.random.Generator) -> IntArray:
    """Return, for each group, one edge from every component in it to the largest component in it."""
    n, bridges = group.size, [np.empty((0, 2), dtype=np.int64)]
    part = connected_components(sp.coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n)), directed=False)[1]
    order = rng.permutation(n)
    for g in np.unique(group):
        nodes = order[group[order] == g]
        main = np.bincount(part[nodes]).argmax()
        lone = nodes[np.unique(part[nodes], return_index=True)[1]]
        lone = lone[part[lone] != main]
        bridges.append(np.column_stack([lone, rng.choice(nodes[part[nodes] == main], lone.size)]))
    return np.concatenate(bridges)


def _nodes_at(place: IntArray, m: int) -> IntArray:
    """Return the node at each place: even places hold the newer node of an edge, odd ones point to an older place."""
    at = place.copy()
    while (odd := np.flatnonzero((at % 2 == 1) & (at >= 2 * m))).size:
        at[odd] = place[at[odd] // 2 - m]
    edge = at // 2
    return np.where(at % 2 == 1, 0, np.where(edge < m, edge + 1, m + edge // m))


def _find_repeats(target: IntArray, m: int) -> BoolArray:
    """Return where a new node is joined to an older node that it is joined to already."""
    rows = target.reshape(-1, m)
    order = np.argsort(rows, axis=1, kind="stable")
    ranked = np.take_along_axis(rows, order, axis=1)
    again = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(again, order[:, 1:], ranked[:, 1:] == ranked[:, :-1], axis=1)
    return again.ravel()


def _round_randomly(x: Array, rng: np.random.Generator) -> IntArray:
    """Round numbers up or down at random, so that their means stay."""
    return np.floor(x + rng.random(x.size)).astype(np.int64)


def _check_fits(edges: int) -> None:
    """Raise an error for a graph that memory cannot hold."""
    fits(BYTES_PER_EDGE * edges, f"a graph of about {edges} edges", "make a smaller one")
