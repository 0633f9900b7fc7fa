"""The structure of a sparse factor before it is computed, compiled: the elimination tree, its supernodes, and their rows."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import spilu

from askgraph.linalg import supernodes
from askgraph.linalg.fill import find_hubs
from askgraph.linalg.supernodes import Ints, Longs, Tree, inverted, linked, owners, unset
from askgraph.support.jit import jit
from askgraph.types import AnyArray

postorder, link = jit()(supernodes.postorder), jit()(supernodes.link)
find_supernodes = jit()(supernodes.find_supernodes)


@jit()
def etree(indptr: Ints, indices: Ints, order: Ints, place: Ints, parent: Ints, root: Ints) -> None:
    """Write the parent of each column in the elimination tree (Liu 1990), -1 at a root; both outputs are -1 before."""
    for j in range(len(order)):
        for t in range(indptr[order[j]], indptr[order[j] + 1]):
            i = place[indices[t]]
            while i != -1 and i < j:
                up = root[i]
                root[i] = j
                if up == -1:
                    parent[i] = j
                i = up


@jit()
def count_entries(
    indptr: Ints,
    indices: Ints,
    order: Ints,
    place: Ints,
    up: Ints,
    seen: Ints,
    counts: Longs,
    owner: Ints,
    last: Ints,
    end: Longs,
    rows: Ints,
) -> None:
    """Add to ``counts`` the entries of each column of L below the diagonal; list in ``rows`` those of each supernode.

    An empty ``rows`` stays empty. ``owner`` is the supernode of each column; ``end`` is where each list begins, and is moved
    to where it ends. ``seen``, one entry per column, and ``last``, one per supernode, are -1 before.
    """
    for i in range(len(order)):
        seen[i] = i
        for t in range(indptr[order[i]], indptr[order[i] + 1]):
            k = place[indices[t]]
            while k < i and seen[k] != i:
                seen[k] = i
                counts[k] += 1
                if len(rows) and owner[k] != owner[i] and last[owner[k]] != i:
                    last[owner[k]] = i
                    rows[end[owner[k]]] = i
                    end[owner[k]] += 1
                k = up[k]


def analyze(Q: csr_array) -> tuple[Ints, Ints, Longs, Tree]:
    """Return order and place (both in postorder), the entries of each column of L, and the tree.

    Arrays are made here: compiled code takes long to compile where it makes them itself.
    """
    indptr, indices, place = Q.indptr.astype(np.int32), Q.indices.astype(np.int32), _positions(Q)
    n, none, nowhere = len(place), np.empty(0, np.int32), np.empty(0, np.int64)
    parent, rank = unset(n), unset(n)
    etree(indptr, indices, inverted(place), place, parent, unset(n))
    postorder(parent, unset(n + 1), unset(n), rank)
    up = np.where(parent < 0, -1, rank[parent])[inverted(rank)].astype(np.int32)
    place = rank[place]
    order, counts = inverted(place), np.ones(n, np.int64)
    count_entries(indptr, indices, order, place, up, unset(n), counts, none, none, nowhere, none)
    first = np.empty(n + 1, np.int64)
    first = first[: find_supernodes(up, counts, first, np.empty(n, np.int64)) + 1].copy()
    start = np.append(0, np.cumsum(counts[first[1:] - 1] - 1))
    rows, last = np.empty(start[-1], np.int32), unset(len(first) - 1)
    count_entries(indptr, indices, order, place, up, unset(n), counts.copy(), owners(first), last, start.copy(), rows)
    return order, place, counts, link_supernodes(first, start, rows)


def link_supernodes(first: Longs, start: Longs, rows: Ints) -> Tree:
    """Return the tree of the supernodes."""
    return linked(link, first, start, rows)


def _positions(Q: csr_array) -> AnyArray:
    """Return each node's position in a minimum-degree order.

    SuperLU computes it with an incomplete factor, of which nothing is kept.
    """
    hubs = find_hubs(Q)
    core = Q[~hubs][:, ~hubs] if hubs.any() else Q
    place = np.empty(len(hubs), np.int32)
    place[hubs] = np.arange(core.shape[0], len(hubs))
    pattern = csc_array((np.full(core.nnz, -1.0), core.indices, core.indptr), core.shape)
    pattern.setdiag(np.diff(core.indptr) + 1.0)
    lu = spilu(
        pattern,
        drop_tol=1.0,
        fill_factor=1.0,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        panel_size=1,
        options={"SymmetricMode": True},
    )
    place[~hubs] = lu.perm_c
    return place
