"""What a test needs and may not find here: without it the test is skipped, or fails where the environment requires it."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def give_up(what: str, reason: str) -> NoReturn:
    """Skip the test, or fail it where the variable ``ASKGRAPH_<what>`` is "required"."""
    (pytest.fail if os.environ.get(f"ASKGRAPH_{what}") == "required" else pytest.skip)(reason)


def chromium() -> str:
    """Return the path of a browser to test in."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found or give_up("BROWSER", "no chromium here: apt-get install chromium, to test in a real browser")
