r"""The part of a variance that needs no samples, since it follows from the precision near the node.

For any matrix C, with G = Q⁻¹ and X = Gξ, :math:`G = C + C^T - C Q C^T + (I - CQ) G (I - CQ)^T`. Where row i of C is that of
the inverse of Q on some nodes, i among them, this leaves :math:`g_{ii} = c_{ii} + E\,(X - C\xi)_i^2`. An exact label takes its node
out of Q, and a noisy one changes Q there, so rows that had labeled nodes are computed without them: of the other nodes,
Q and QX = ξ are as they were. The row of a labeled node itself is not read, since its variance is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from askgraph.priors.summaries import Arrays
from askgraph.spaces.base import Space
from askgraph.types import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from askgraph.linalg.near import Near, Rows

NOBODY = np.zeros(0, dtype=np.int64)


class Noise(Protocol):
    """The noise ξ that samples are made from."""

    def at(self, node: int, count: int) -> Array:
        """Return ξ at one node, one number per sample."""
        ...

    def arrays(self) -> dict[str, AnyArray]:
        """Return the arrays that make the same noise again."""
        ...


class RowNoise(Noise, Protocol):
    """Noise that can be made again at several nodes at a time."""

    def rows(self, nodes: IntArray, count: int) -> Array:
        """Return ξ at some nodes, one column per sample."""
        ...


class Local(Protocol):
    """C, whose rows near labels change."""

    @property
    def own(self) -> Array:
        """c_ii of each node."""
        ...

    @property
    def sums(self) -> Array:
        """C1."""
        ...

    @property
    def changed(self) -> IntArray:
        """The nodes whose rows of C labels have changed."""
        ...

    @property
    def change(self) -> Array:
        """(C₀ − C)ξ, C₀ as it was before any label: one row per node of ``changed``, one column per sample."""
        ...

    def times_noise(self, space: Space, noise: Any, node: int, count: int) -> Array:
        """Return Cξ at one node, with C as it was before any label."""
        ...

    def labeled(self, node: int, noise: Any, count: int) -> tuple[Local, IntArray]:
        """Return C after a label at this node, and the nodes whose rows changed, which come last in ``changed``."""
        ...

    def forgot(self, at: int, noise: Any, count: int) -> tuple[Local, IntArray]:
        """Return C without one of the labels, and the nodes whose rows changed, which come last in ``changed``."""
        ...

    def arrays(self) -> Arrays:
        """Return what must be saved."""
        ...


@dataclass(frozen=True, eq=False)
class Alone:
    """C = D⁻¹: every neighborhood is a node alone, which labels do not change."""

    own: Array

    changed = NOBODY
    change = np.zeros((0, 0))

    @property
    def sums(self) -> Array:
        """C1."""
        return self.own

    def times_noise(self, space: Space, noise: Noise, node: int, count: int) -> Array:
        """Return D⁻¹ξ at one node."""
        return float(space.pick(self.own, node)) * noise.at(node, count)

    def labeled(self, node: int, noise: Noise, count: int) -> tuple[Alone, IntArray]:
        """Return the same."""
        return self, NOBODY

    def forgot(self, at: int, noise: Noise, count: int) -> tuple[Alone, IntArray]:
        """Return the same."""
        return self, NOBODY

    def arrays(self) -> Arrays:
        """Return nothing: D is known."""
        return {}


@dataclass(frozen=True, eq=False)
class Nearby:
    """C from neighborhoods without labeled nodes."""

    near: Near
    own: Array
    sums: Array
    nodes: IntArray  # labeled
    changed: IntArray
    change: Array

    @classmethod
    def of(cls, near: Near, nodes: IntArray, noise: RowNoise, count: int) -> Nearby:
        """Return C after labels at these nodes."""
        start = cls(near, near.diagonal, near.sums, NOBODY, NOBODY, np.zeros((0, count)))
        around = np.unique(np.concatenate([NOBODY, *map(near.around, nodes.tolist())]))
        return start._with(nodes, around, noise, count)

    def times_noise(self, space: Space, noise: RowNoise, node: int, count: int) -> Array:
        """Return Cξ at one node, with C as it was before any label."""
        return np.asarray(_product(self.near.rows(np.array([node]), NOBODY), noise, count)[0])

    def labeled(self, node: int, noise: RowNoise, count: int) -> tuple[Nearby, IntArray]:
        """Return C after a label at this node, and the nodes whose rows changed, which come last in ``changed``."""
        around = self.near.around(node)
        return self._with(np.append(self.nodes, node), around, noise, count), around

    def forgot(self, at: int, noise: RowNoise, count: int) -> tuple[Nearby, IntArray]:
        """Return C without one of the labels, and the nodes whose rows changed, which come last in ``changed``."""
        around = self.near.around(int(self.nodes[at]))
        return self._with(np.delete(self.nodes, at), around, noise, count), around

    def arrays(self) -> Arrays:
        """Return the labeled nodes: the rest follows."""
        return {"labeled": self.nodes}

    def _with(self, nodes: IntArray, around: IntArray, noise: RowNoise, count: int) -> Nearby:
        """Return C after labels at these nodes, if no rows change but those around."""
        before, after = self.near.rows(around, NOBODY), self.near.rows(around, nodes)
        own, sums = self.own.copy(), self.sums.copy()
        own[around], sums[around] = after.own, after.sums
        others = ~np.isin(self.changed, around)
        change = _product(before, noise, count) - _product(after, noise, count)
        changed, change = np.append(self.changed[others], around), np.vstack([self.change[others], change])
        return Nearby(self.near, own, sums, nodes, changed, change)


def _product(rows: Rows, noise: RowNoise, count: int) -> Array:
    """Return some rows of C, times the noise."""
    nodes, at = np.unique(rows.node.astype(np.int64), return_inverse=True)
    some = csr_array((rows.value, at, rows.first), shape=(rows.size.size, nodes.size))
    return np.asarray(some @ noise.rows(nodes, count))
