"""Sparse matrices that must be refused before any compiled loop reads them: ``python -m tests.helpers.broken`` tries each."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import askgraph as ag


def broken_matrices():
    """Sparse matrices of each format whose index arrays do not fit together."""
    W = sp.csr_array(np.array([[0, 1.0, 0], [1, 0, 1], [0, 1, 0]]))
    long, short, down, far, few = (W.copy() for _ in range(5))
    long.indptr = np.array([0, 1, 3, 400_000], dtype=np.int32)
    short.indptr = np.array([0, 1, 3], dtype=np.int32)
    down.indptr = np.array([0, 3, 1, 4], dtype=np.int32)
    far.indices = np.array([1, 0, 9, 1], dtype=np.int32)
    few.data = np.ones(1)
    csc, bsr, coo, lil, dia = (W.asformat(form).copy() for form in ("csc", "bsr", "coo", "lil", "dia"))
    csc.indices = -csc.indices
    bsr.indptr = 1000 * bsr.indptr
    coo.row[0] = 77
    lil.data[0] = [1.0] * 10_000
    dia.offsets = np.arange(5, dtype=np.int32)
    return {"long": long, "short": short, "down": down, "far": far, "few": few} | {
        matrix.format: matrix for matrix in (csc, bsr, coo, lil, dia)
    }


if __name__ == "__main__":
    for name, matrix in broken_matrices().items():
        try:
            ag.Graph(matrix)
        except ag.GraphError as error:
            print(f"{name}: {error}", flush=True)
