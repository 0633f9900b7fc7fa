"""Graphs: checked symmetric weights and node names, made from matrices, points and objects of other libraries; no files."""

from __future__ import annotations

from askgraph.graph.graph import Graph
from askgraph.graph.report import Report

__all__ = ["Graph", "Report"]
