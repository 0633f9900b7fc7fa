"""An engine whose rows are not node numbers, in one process: what confuses the two fails on it, without MPI."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import askgraph as ag
from askgraph.priors import Dense
from askgraph.priors.base import Prior
from askgraph.spaces.base import Space


class ShuffledSpace(Space):
    """NumPy arrays whose rows are the nodes in another order."""

    def __init__(self, order):
        super().__init__(order.size)
        self.order, self.place = order, np.argsort(order)

    def zeros(self, *more, dtype=float, order="C"):
        return np.zeros((self.n_rows, *more), dtype, order)

    def asarray(self, x):
        return x

    def to_numpy(self, x):
        return x

    def nodes_of(self, rows):
        return self.order[rows]

    def rows_of(self, nodes):
        return self.place[nodes]

    def gather(self, x):
        return x[self.place]

    def scatter(self, x):
        return x[self.order]

    def pick(self, x, node):
        return np.asarray(x[self.place[node]])

    def put(self, x, nodes, values):
        x = x.copy()
        x[self.place[nodes]] = values
        return x

    def linked(self, links, x):
        return links[:, self.order] @ x

    def sample(self, rows, count):
        ordered = rows[np.argsort(self.order[rows])]
        return ordered[:: max(1, rows.size // count)]


class Shuffled(Prior):
    """The dense engine on the nodes in another order."""

    name = "dense"

    def __init__(self, precision, order=None):
        if order is None:  # as it is made, of a graph in the order of nodes
            order = np.random.default_rng(0).permutation(precision.graph.n_nodes)
            W = precision.graph.weights[order][:, order]
            precision = replace(precision, graph=ag.Graph(W))
        super().__init__(precision, ShuffledSpace(order))
        self._dense = Dense(precision)

    @property
    def components(self):
        part = self.precision.graph.components()
        least = np.full(part.max() + 1, self.n_nodes)
        np.minimum.at(least, part, self.space.order)
        return least[part]

    @property
    def folded(self):
        return np.sort(self.space.nodes_of(super().folded))

    def fold(self, nodes, noise):
        return Shuffled(self.precision.folded(self.space.rows_of(nodes), noise), self.space.order)

    def couplings(self, nodes):
        links, own = super().couplings(self.space.rows_of(nodes))
        return links[:, self.space.place], own

    def highest_neighbor(self, x):
        return self._dense.highest_neighbor(x)

    def solve(self, b):
        return self._dense.solve(b)

    def spread(self, squares):
        return self._dense.spread(squares)
