"""Libraries that askgraph works beside: skipped where they are not installed, required in make test-clients."""

from __future__ import annotations

import os
import warnings
from importlib import import_module

import pytest

REQUIRED = os.environ.get("ASKGRAPH_CLIENTS") == "required"


def client(name):
    """Import a library, or skip the test that needs it; what the library warns of is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return import_module(name)
        except ImportError as error:
            if REQUIRED:
                raise
            pytest.skip(f"{error}: make test-clients")
