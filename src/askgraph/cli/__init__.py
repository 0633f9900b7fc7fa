"""The commands: open, call, print; whatever computes lives in the other packages."""

from __future__ import annotations

from askgraph.cli.app import app, main

__all__ = ["app", "main"]
