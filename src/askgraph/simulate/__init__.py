"""Learning curves on graphs whose labels are known: runs, records and their pictures."""

from __future__ import annotations

from askgraph.simulate.runs import Problem, Run, simulate, simulate_all

__all__ = ["Problem", "Run", "simulate", "simulate_all"]
