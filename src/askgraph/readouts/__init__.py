"""From votes to class probabilities, by several rules; what to ask for is in utilities."""

from __future__ import annotations

from askgraph.readouts.agreement import shares_preferred
from askgraph.readouts.cautious import Cautious, Doubt, doubt
from askgraph.readouts.names import READOUTS, as_readout
from askgraph.readouts.readouts import Consensus, Map, Mass, Readout, Reweighted, Tempered
from askgraph.readouts.suggested import Witness, with_suggestions

__all__ = [
    "READOUTS",
    "Cautious",
    "Consensus",
    "Doubt",
    "Map",
    "Mass",
    "Readout",
    "Reweighted",
    "Tempered",
    "Witness",
    "as_readout",
    "doubt",
    "shares_preferred",
    "with_suggestions",
]
