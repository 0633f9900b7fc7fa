"""The docs stay true: links lead somewhere, the README's Python and shell run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import askgraph as ag
from askgraph.utilities import SAMPLERS

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "VISION.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_readmes_python_runs():
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    X = np.random.default_rng(0).normal(size=(60, 4))
    seen = {"X": X, "expert": lambda node: "left" if X[node, 0] < 0 else "right"}
    exec(code, seen)
    assert len(seen["labels"]) == 60
    assert seen["probabilities"].shape == (60, 2)
    assert len(seen["batch"]) == 5


def test_the_readmes_commands_exist():
    blocks = re.findall(r"```shell\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("askgraph")]
    assert len(lines) > 7
    for line in lines:
        words = shlex.split(line.partition("#")[0])
        options = {word for word in words if word.startswith("-")}
        out = subprocess.run(
            [sys.executable, "-m", *words[:2], "--help"], capture_output=True, text=True, check=True
        ).stdout
        assert all(option in out for option in options), line


def test_the_guide_names_every_sampler():
    guide = (ROOT / "docs" / "guide.md").read_text()
    assert all(f"| `{name}` |" in guide for name in SAMPLERS)


def test_the_makefile_and_the_package_agree_on_python():
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text()
    assert "(3, 11)" in (ROOT / "Makefile").read_text()
    assert f"## {ag.__version__}" in (ROOT / "CHANGELOG.md").read_text()
