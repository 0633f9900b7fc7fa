"""Rows of a table or of a matrix as they are compared: by what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from askgraph.errors import SettingError
from askgraph.graph.sources import coordinates


@contextmanager
def within_floats(name: str) -> Iterator[None]:
    """Say of an argument that a number in it is too large for a float."""
    try:
        yield
    except OverflowError:
        raise SettingError(f"{name} has a number that is too large for a float: give smaller numbers") from None


def entries(X: Any) -> csr_array:
    """Return a matrix as its entries that are not zero, each once and in order: equal matrices give equal arrays."""
    W = coordinates(X if issparse(X) else coo_array(X)).tocsr()
    W.sum_duplicates()
    W.eliminate_zeros()
    return W


def equal(A: csr_array, B: csr_array) -> bool:
    """Return whether two matrices have the same entries."""
    same = A.shape == B.shape and np.array_equal(A.indptr, B.indptr)
    return same and np.array_equal(A.indices, B.indices) and np.array_equal(A.data, B.data)


def row_keys(X: Any) -> Iterator[bytes]:
    """Yield the content of each row as bytes; of a row without entries, nothing."""
    if not issparse(X):
        yield from (row.tobytes() for row in X + 0.0)  # -0.0 is 0.0
        return
    for start, stop in pairwise(X.indptr.tolist()):
        yield X.indices[start:stop].astype(np.int64).tobytes() + X.data[start:stop].tobytes()
