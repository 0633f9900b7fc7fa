"""Sparse matrices made of their diagonal and of what is beside it."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from askgraph.types import Array


def with_diagonal(diagonal: Array, W: csr_array) -> csr_array:
    """Return diag(diagonal) − W for a W without a diagonal; a sum of sparse matrices would make one of each term first.

    >>> with_diagonal(np.array([3.0, 4.0]), csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray().tolist()
    [[3.0, -1.0], [-1.0, 4.0]]
    """
    n, W = diagonal.size, W if W.has_sorted_indices else W.sorted_indices()
    nodes = np.arange(n + 1, dtype=np.int32 if n + W.nnz < 2**31 else np.int64)
    row = np.repeat(nodes[:-1], np.diff(W.indptr))
    first, own = W.indptr + nodes, np.ones(n + W.nnz, dtype=bool)
    own[first[:-1] + np.bincount(row[W.indices < row], minlength=n)] = False  # the place of the diagonal
    data, column = np.empty(own.size), np.empty(own.size, dtype=nodes.dtype)
    data[own], column[own] = -W.data, W.indices
    data[~own], column[~own] = diagonal, nodes[:-1]
    return csr_array((data, column, first), shape=W.shape)
