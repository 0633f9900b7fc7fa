"""Kinds of answers: how each is checked, asked for, predicted and judged, and when to stop asking."""

from __future__ import annotations

from askgraph.kinds.kind import Kind, Making, Moment
from askgraph.kinds.named import as_kind, kind_of

__all__ = ["Kind", "Making", "Moment", "as_kind", "kind_of"]
