"""Nodes in the plane: the map of a graph and the neighborhood of a node; positions only, no drawing."""

from __future__ import annotations

from askgraph.layout.multilevel import layout

__all__ = ["layout"]
