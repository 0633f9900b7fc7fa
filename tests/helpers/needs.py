"""What a test needs and may not find here: without it the test is skipped, or fails where the environment requires it."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

from tests.helpers.chromium import path_of


def give_up(what: str, reason: str) -> NoReturn:
    """Skip the test, or fail it where the variable ``ASKGRAPH_<what>`` is "required"."""
    (pytest.fail if os.environ.get(f"ASKGRAPH_{what}") == "required" else pytest.skip)(reason)


def chromium(*names: str) -> str:
    """Return the path of a browser to test in, one of these if any are named."""
    return path_of(*names) or give_up(
        "BROWSER", "no chromium here: apt-get install chromium, to test in a real browser"
    )
