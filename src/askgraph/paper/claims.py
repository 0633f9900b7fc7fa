"""All claims of the paper by number."""

from askgraph.paper import real, synthetic
from askgraph.paper.claim import DEFINED

__all__ = ["CLAIMS", "real", "synthetic"]
CLAIMS = dict(sorted(DEFINED.items()))  # the two modules have defined them
