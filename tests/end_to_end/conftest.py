"""The browser that tests of the page share."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        given_up = pytest.fail if os.environ.get("ASKGRAPH_BROWSER") == "required" else pytest.skip
        given_up("no chromium here; install it (apt-get install chromium) to test the page in a real browser")
    from playwright.sync_api import (
        sync_playwright,
    )  # not in the environments of the engine over MPI and of the lowest versions

    from tests.helpers.browsing import FLAGS, PATIENCE

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=FLAGS, timeout=PATIENCE)
        yield running
        running.close()
