"""Every method of a space gives what NumPy gives on arrays in the order of nodes, wherever the rows live."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from askgraph.spaces.local import NumpySpace
from tests.helpers.elsewhere import FarSpace
from tests.helpers.shuffled import ShuffledSpace

N = 30
SPACES = {
    "numpy": NumpySpace(N),
    "far": FarSpace(N),
    "shuffled": ShuffledSpace(np.random.default_rng(1).permutation(N)),
}
over_spaces = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 2))


@over_spaces
def test_arrays_go_there_and_come_back(space):
    assert space.n_nodes == space.n_rows == space.most_rows == N
    np.testing.assert_array_equal(space.gather(space.scatter(X)), X)
    assert space.to_numpy(space.zeros(2)).shape == (N, 2)
    assert space.to_numpy(space.zeros(dtype=bool)).dtype == bool
    rows = np.arange(N)
    np.testing.assert_array_equal(space.rows_of(space.nodes_of(rows)), rows)
    np.testing.assert_array_equal(space.allgather(space.asarray(X[:4])), X[:4])
    np.testing.assert_array_equal(space.to_numpy(space.local_part(X[:4], space.asarray(X[:4]))), X[:4])


@over_spaces
def test_sums_and_maxima_run_over_all_nodes(space):
    np.testing.assert_allclose(space.total(space.scatter(X)), X.sum(axis=0))
    np.testing.assert_allclose(space.inner(space.scatter(X), space.scatter(Y)), X.T @ Y)
    np.testing.assert_array_equal(space.highest(space.scatter(X)), X.max(axis=0))
    assert space.highest(space.scatter(X)[:0, 0]) == -np.inf
    assert space.count(np.arange(7)) == 7
    links = csr_array(RNG.random((4, N)))
    np.testing.assert_allclose(space.to_numpy(space.linked(links, space.scatter(X))), links @ X)


@over_spaces
def test_rows_are_found_by_their_nodes(space):
    x, nodes = space.scatter(X), np.array([5, 2, 29])
    np.testing.assert_array_equal(space.pick(x, nodes), X[nodes])
    np.testing.assert_array_equal(space.pick(x, 7), X[7])
    changed = X.copy()
    changed[nodes] = Y[:3, :1]
    np.testing.assert_array_equal(space.gather(space.put(x, nodes, Y[:3, :1])), changed)
    np.testing.assert_array_equal(space.gather(x), X)
    np.testing.assert_array_equal(np.flatnonzero(space.gather(space.unit(11))), [11])


@over_spaces
def test_choices_are_of_nodes_and_do_not_depend_on_where_rows_live(space):
    scores = X[:, 0].copy()
    scores[[3, 21]] = scores.max() + 1  # a tie
    rows = space.asarray(np.arange(N))
    there = space.scatter(scores)
    found = [space.best(rows, there, np.random.default_rng(seed), 1e-9) for seed in range(20)]
    assert found == [NumpySpace(N).best(np.arange(N), scores, np.random.default_rng(seed), 1e-9) for seed in range(20)]
    assert set(found) == {3, 21}
    drawn = [space.draw(rows, np.random.default_rng(seed)) for seed in range(20)]
    assert drawn == [NumpySpace(N).draw(np.arange(N), np.random.default_rng(seed)) for seed in range(20)]
    np.testing.assert_array_equal(space.top(rows, there, 5), NumpySpace(N).top(np.arange(N), scores, 5))
    sampled = space.to_numpy(space.nodes_of(space.sample(rows, 6)))
    np.testing.assert_array_equal(sampled, np.arange(N)[:: N // 6])
