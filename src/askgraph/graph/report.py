"""What a graph looks like, in a few lines."""

from __future__ import annotations

from dataclasses import dataclass

from askgraph.support.wording import counted


@dataclass(frozen=True)
class Report:
    """The size of a graph, its degrees and weights, and notes on what cleaning changed; prints as a few lines."""

    nodes: int
    edges: int
    components: int
    largest: int
    isolated: int
    degree_min: float
    degree_median: float
    degree_mean: float
    degree_max: float
    weight_min: float
    weight_max: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """Return a few lines of text."""
        size = f"{counted(self.nodes, 'node')}, {counted(self.edges, 'edge')}, {self.isolated} isolated"
        parts = f"{counted(self.components, 'component')}, the largest of {counted(self.largest, 'node')}"
        degree = f"degree {self.degree_min:.4g} to {self.degree_max:.4g}"
        middle = f"mean {self.degree_mean:.4g}, median {self.degree_median:.4g}"
        weight = f"weight {self.weight_min:.4g} to {self.weight_max:.4g}"
        return "\n".join([size, parts, f"{degree}, {middle}", weight, *(f"note: {note}" for note in self.notes)])
