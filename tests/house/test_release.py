"""What a release holds: the package and nothing else in the wheel, what the tests read in the source archive, one set of bounds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

import askgraph as ag

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECIPE = (ROOT / "conda" / "recipe.yaml").read_text()
KINDS = {".py", ".js", ".cu", ".typed", ".json", ".svg", ".html", ".css"}  # files of the package


def contents(builder):
    """The paths that a builder of hatchling would put into its archive."""
    return {file.distribution_path for file in builder(str(ROOT)).recurse_included_files()}


def test_the_wheel_holds_the_package_and_nothing_else():
    found = contents(WheelBuilder)
    source = {path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert found == {path.relative_to(ROOT / "src").as_posix() for path in source}
    assert {Path(name).suffix for name in found} == KINDS
    assert {"askgraph/py.typed", "askgraph/web/page/index.html", "askgraph/paper/tuned.json"} <= found


def test_the_source_archive_holds_what_its_own_tests_read():
    found = contents(SdistBuilder)
    folders = ("src", "tests", "docs", "benchmarks", "conda", ".ci", "tools/page")
    assert {name.split("/")[0] for name in found if "/" in name} == {folder.split("/")[0] for folder in folders}
    for name in (
        "Makefile",
        "Containerfile",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
    ):
        assert name in found
    assert not [
        name for name in found if re.search(r"__pycache__|/_build/|node_modules|docs/(api|gallery)/|\.venv", name)
    ]


def test_the_conda_recipe_has_the_version_and_the_bounds_of_the_package():
    assert f'version: "{ag.__version__}"' in RECIPE
    assert RECIPE.count(f"python {PROJECT['project']['requires-python']}") == 2
    run = re.search(r"  run:\n(.*?)\n\n", RECIPE, re.DOTALL)[1]
    listed = {line.strip("- ").replace(" ", "").replace("matplotlib-base", "matplotlib") for line in run.splitlines()}
    listed -= {f"python{PROJECT['project']['requires-python']}"}
    needed, drawing = (
        set(PROJECT["project"]["dependencies"]),
        set(PROJECT["project"]["optional-dependencies"].get("plot", ())),
    )
    assert needed <= listed <= needed | drawing


def test_commands_offer_completion():
    from typer.testing import CliRunner

    from askgraph.cli import app

    assert "--install-completion" in CliRunner().invoke(app, ["--help"]).output
    typed = {"_ASKGRAPH_COMPLETE": "complete_bash", "COMP_WORDS": "askgraph doctor --lab", "COMP_CWORD": "2"}
    assert CliRunner().invoke(app, [], prog_name="askgraph", env=typed).output.split() == ["--label", "--labels"]
