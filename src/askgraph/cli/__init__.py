"""The command line: each command opens, calls and prints; what computes lives in the other packages."""

from __future__ import annotations

from askgraph.cli.app import app, main

__all__ = ["app", "main"]
