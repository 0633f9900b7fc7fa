"""The components of a symmetric matrix, read as a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components


def symmetric_components(A: csr_array) -> tuple[int, NDArray[np.int32]]:
    """Return the number of components, and the component of each node, numbered in the order of their first nodes.

    Strong components are the same in a symmetric matrix, and take half the time: SciPy transposes the matrix for others.

    >>> symmetric_components(csr_array([[0, 0, 1], [0, 0, 0], [1, 0, 0]]))
    (2, array([0, 1, 0], dtype=int32))
    """
    count, label = connected_components(A, directed=True, connection="strong")
    if count > 1:
        first = np.unique(label, return_index=True)[1]
        place = np.empty(count, dtype=np.int32)
        place[np.argsort(first)] = np.arange(count, dtype=np.int32)
        label = place[label]
    return count, label
