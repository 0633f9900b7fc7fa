"""From votes to class probabilities, by several rules; what to ask for is in utilities."""

from __future__ import annotations

from askgraph.readouts.agreement import shares_preferred
from askgraph.readouts.cautious import Cautious, Doubt, doubt
from askgraph.readouts.guesses import WithGuesses, Witness
from askgraph.readouts.names import READOUTS, as_readout
from askgraph.readouts.readout import Readout, ReadoutFunction
from askgraph.readouts.readouts import Consensus, Map, Mass, Reweighted, Tempered, Votes
from askgraph.readouts.view import Block, View

__all__ = [
    "READOUTS",
    "Block",
    "Cautious",
    "Consensus",
    "Doubt",
    "Map",
    "Mass",
    "Readout",
    "ReadoutFunction",
    "Reweighted",
    "Tempered",
    "View",
    "Votes",
    "WithGuesses",
    "Witness",
    "as_readout",
    "doubt",
    "shares_preferred",
]
