"""The browser that tests of the page share."""

from __future__ import annotations

import pytest

from tests.helpers.chromium import FLAGS
from tests.helpers.needs import chromium


@pytest.fixture(scope="package")  # not of the session: while it runs, no other test can run a loop of asyncio
def browser():
    found = chromium()
    # playwright is not in the environments of the engine over MPI and of the lowest versions
    from playwright.sync_api import sync_playwright

    from tests.helpers.browsing import PATIENCE

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=FLAGS, timeout=PATIENCE)
        yield running
        running.close()
