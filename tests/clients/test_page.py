"""The page of clients names the versions that are tested."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.helpers.clients import REQUIRED

ROWS = [
    line.rpartition(" | ")[2].strip(" |")
    for line in (Path(__file__).parents[2] / "docs" / "clients.md").read_text().splitlines()
    if line.startswith("| ") and "`" in line
]
NAMED = sorted({found for cell in ROWS for found in re.findall(r"(?:^|, )([\w-]+) (\d[\w.]*)", cell)})


@pytest.mark.skipif(not REQUIRED, reason="versions are those of make test-clients")
@pytest.mark.parametrize(("name", "tested"), NAMED)
def test_the_page_names_the_version_that_is_tested(name, tested):
    try:
        assert version(name) == tested
    except PackageNotFoundError:
        pytest.fail(f"{name} is not installed")
