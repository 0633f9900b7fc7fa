"""Engines that cannot form G₀: they solve by iteration and estimate the summaries from random probes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from askgraph.errors import FileError
from askgraph.linalg.blocked_cg import Less
from askgraph.priors.base import Prior, check_residual, check_single
from askgraph.priors.nearby import NOBODY, Alone, Local, Noise
from askgraph.priors.precision import Precision
from askgraph.priors.probed import Probed, Sample, Samples
from askgraph.priors.summaries import Arrays, checked_array
from askgraph.spaces.base import Space
from askgraph.types import Array, IntArray

PILOT_PROBES, MAX_PROBES = 16, 256  # probes of the field: those that say how many are needed, and the most
PROBES_STEP = 8  # probes come in multiples of this
MAX_GROUPS = 512  # of nodes; what is constant on groups is solved for exactly in probes of ‖g‖₂
TARGET_ERROR = 0.027  # relative standard error of an estimated variance; as many probes are made as that takes
ACCURATE = 3e-9  # relative residual of what enters the field: 500 labels leave errors of up to 4e-9 in the votes

Block = Callable[[slice], Any]  # some columns of noise, one row per node of this process


class BlockNoise(Noise, Protocol):
    """Noise that can be made by blocks of columns."""

    def block(self, columns: slice) -> Any:
        """Return some columns of the noise."""
        ...


class ProbedPrior(Prior):
    """Solves by iteration; summaries come from probes and are exact where columns were solved for.

    ``probes`` and ``flat_probes`` are the numbers of probes of the field and of ‖g‖₂ (None: as many as needed); ``sharp`` is
    the largest relative residual that a rough column may be left with, ``probing`` that of a probe.
    """

    probes: int | None
    flat_probes: int | None
    sharp: float
    probing: float
    exact: ClassVar[bool] = False
    tie: ClassVar[float] = 1e-6

    def __init__(
        self,
        precision: Precision,
        space: Space | None,
        probes: int | None,
        flat_probes: int | None,
        sharp: float,
        probing: float,
    ) -> None:
        super().__init__(precision, space)
        check_single(precision, self.name)
        self.probes, self.flat_probes, self.sharp, self.probing = probes, flat_probes, sharp, probing

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, to make the same engine on another precision."""
        return {name: getattr(self, name) for name in ("probes", "flat_probes", "sharp", "probing")}

    def conditioned(self, precision: Precision) -> Self:
        """Return the same engine and settings on another precision."""
        prior = type(self)(precision, **self.settings)
        prior.reason = self.reason
        return prior

    def spread(self, squares: bool) -> Probed:
        """Return summaries from probes of the field and, with ``squares``, of ‖g‖₂."""
        share, influence, noise = self.delta / self.component_sizes, self.influence(), self._field_noise()
        values = self._field_probes(noise, share, influence)
        count = values.shape[1]
        return Probed(
            share=share,
            delta=self.delta,
            field_samples=Samples.of(self.space, values, equal_weights(count), noise, self._local(noise, count)),
            flat_samples=self._norm_samples() if squares else None,
            influence_l1=influence,
            known=self.free == 0,
            known_variance=self.space.zeros(),
            known_squares=self.space.zeros(),
        )

    def _probed_from(self, stored: Arrays, labels: int, noise: Noise, signs: Noise | None) -> Probed:
        """Return the summaries that were saved as arrays, with the noise of their probes, checked."""
        n, alone = self.space.n_rows, self._alone
        nodes = stored.get("field_labeled")  # files of earlier versions have none, and samples X − D⁻¹ξ
        if nodes is not None and not ((checked_array(nodes, (labels,)) >= 0) & (nodes < self.n_nodes)).all():
            raise FileError("labels at nodes that are not there")
        local = alone if nodes is None else self._local(noise, stored["field_weights"].size, nodes.astype(np.int64))
        return Probed(
            share=self.delta / self.component_sizes,
            delta=self.delta,
            field_samples=Samples.from_arrays(stored, "field", n, labels, noise, local),
            flat_samples=None if signs is None else Samples.from_arrays(stored, "flat", n, labels, signs, alone),
            influence_l1=checked_array(stored["influence"], (n,)),
            known=checked_array(stored["known"], (n,)).astype(bool),
            known_variance=checked_array(stored["known_variance"], (n,)),
            known_squares=checked_array(stored["known_squares"], (n,)),
        )

    @property
    def _alone(self) -> Alone:
        return Alone(1 / self.diagonal)

    def _local(self, noise: Any, count: int, nodes: IntArray = NOBODY) -> Local:
        """Return the C of samples X − Cξ, after labels at some nodes."""
        return self._alone

    def _field_probes(self, noise: BlockNoise, share: Array, influence: Array) -> Sample:
        """Return X − Cξ, one column per probe: as many probes as TARGET_ERROR takes, by what a few pilot probes say."""
        if self.probes is not None:
            return self._probes(noise.block, self.probes, "near")
        pilot, local = self._probes(noise.block, PILOT_PROBES, "near"), self._local(noise, PILOT_PROBES)
        needed = self._needed(pilot, local.own + share * (influence - local.sums) ** 2)
        values = self.space.zeros(needed, dtype=np.float32)
        self._probe(noise.block, PILOT_PROBES, values[:, PILOT_PROBES:], "near")
        values[:, :PILOT_PROBES] = pilot  # last: threads touch the memory first, side by side
        return values

    def _needed(self, pilot: Sample, certain: Array) -> int:
        """Return the number of probes that are needed, by the share of each variance that is estimated."""
        square, total = np.einsum("ij,ij->i", pilot, pilot).astype(np.float64) / PILOT_PROBES, self.space.total
        share = float(total((square / (square + certain)) ** 2 * self.free) / max(total(self.free), 1))
        check_residual(0.0 if np.isfinite(share) else np.inf, "probing the covariance")
        needed = -(-2 * share / TARGET_ERROR**2 // PROBES_STEP) * PROBES_STEP
        return int(np.clip(needed, PILOT_PROBES, MAX_PROBES))

    def _probes(self, block: Block, count: int, less: Less = "own") -> Sample:
        values = self.space.zeros(count, dtype=np.float32)
        self._probe(block, 0, values, less)
        return values

    @abstractmethod
    def _probe(self, block: Block, first: int, out: Sample, less: Less) -> None:
        """Fill ``out`` with G of the columns of noise from ``first`` on, less D⁻¹ or, if it has one, C of them."""

    @abstractmethod
    def _field_noise(self) -> BlockNoise:
        """Return noise of covariance Q, less the constant mode of every component."""

    @abstractmethod
    def _norm_samples(self) -> Samples:
        """Return the samples that ‖g‖₂ is estimated from."""


def columns_from(block: Block, first: int) -> Block:
    """Return the same noise, its columns counted from ``first`` on."""
    return lambda columns: block(slice(columns.start + first, columns.stop + first))


def equal_weights(count: int) -> Array:
    """Return weights that make a sum over random probes their mean."""
    return np.full(count, 1 / max(count, 1))
