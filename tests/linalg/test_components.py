"""Components of symmetric matrices."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from askgraph.linalg.components import symmetric_components


@pytest.mark.parametrize("seed", range(100))
def test_components_are_those_of_networkx_in_the_order_of_their_first_nodes(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    ends = rng.integers(n, size=(2, int(rng.integers(0, 2 * n))))  # loops and nodes without neighbors among them
    A = coo_array((np.ones(ends.shape[1]), tuple(ends)), (n, n))
    count, label = symmetric_components(csr_array(A + A.T))
    graph = nx.Graph(list(ends.T))
    graph.add_nodes_from(range(n))
    want = sorted(map(sorted, nx.connected_components(graph)))
    assert [np.flatnonzero(label == c).tolist() for c in range(count)] == want
