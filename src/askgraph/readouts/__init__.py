"""From votes to class probabilities, by several rules; what to ask for is in utilities."""

from __future__ import annotations

from askgraph.readouts.readouts import READOUTS, Consensus, Map, Mass, Readout, Reweighted, Tempered, as_readout

__all__ = ["READOUTS", "Consensus", "Map", "Mass", "Readout", "Reweighted", "Tempered", "as_readout"]
