"""What a release holds: the package and nothing else in the wheel, what the tests read in the source archive, one set of bounds."""

from __future__ import annotations

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
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
    folders = ("src", "tests", "docs", "benchmarks", "conda", ".ci", ".github", "joss", "tools/page")
    assert {name.split("/")[0] for name in found if "/" in name} == {folder.split("/")[0] for folder in folders}
    for name in (
        "Makefile",
        "Containerfile",
        "README.md",
        "CHANGELOG.md",
        "CODE_OF_CONDUCT.md",
        "CONTRIBUTING.md",
        "GOVERNANCE.md",
        "LICENSE",
        "release.toml",
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


PAPER, BIB = ((ROOT / "joss" / name).read_text() for name in ("paper.md", "paper.bib"))
SECTIONS = [  # those that JOSS asks for, in this order
    *("Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"),
    *("AI usage disclosure", "Acknowledgements", "References"),
]


def test_the_paper_has_what_joss_asks_for():
    head, body = PAPER.removeprefix("---\n").split("\n---\n", 1)
    assert re.findall(r"^# (.*)$", body, re.MULTILINE) == SECTIONS
    assert 750 <= len(body.split()) <= 1750
    for entry in ("title", "tags", "authors", "affiliations", "date", "bibliography"):
        assert re.search(rf"^{entry}:", head, re.MULTILINE)
    assert re.search(r"^date: \d{1,2} [A-Z][a-z]+ \d{4}$", head, re.MULTILINE)


def test_every_reference_of_the_paper_is_cited_and_every_citation_is_there():
    cited = set(re.findall(r"@(\w+)", PAPER))
    listed = re.findall(r"^@\w+\{(\w+),$", BIB, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert cited == set(listed)


def test_the_figures_of_the_paper_are_those_of_the_pages():
    accuracy, verdicts = ((ROOT / "docs" / name).read_text() for name in ("accuracy.md", "paper.md"))
    for figure in ("0.872", "0.771", "0.685", "0.820", "0.736", "0.549"):
        assert figure in PAPER
        assert figure in accuracy
    counted = "8 hold, 7 hold partly, 1 does not"
    assert counted in " ".join(PAPER.split())
    assert counted in " ".join(verdicts.split())


def test_the_version_is_the_same_everywhere():
    assert f"version: {ag.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"version = {{{ag.__version__}}}" in (ROOT / "docs" / "questions" / "cite.md").read_text()


def test_a_release_names_what_its_owners_have_to_fill_in(tmp_path):
    settings = tomllib.loads((ROOT / "release.toml").read_text())
    page = (ROOT / "docs" / "release.md").read_text()
    assert all(f"`{name}`" in page for name in settings)
    filled = module("filled")
    assert filled.empty({"repository": "", "authors": [], "contact": "x"}) == ["repository", "authors"]
    assert filled.empty({"repository": "https://example.org/askgraph"}) == []


@pytest.mark.parametrize("home", ["", "https://example.org/askgraph/"])
def test_the_links_come_from_one_address(home, tmp_path):
    (tmp_path / "release.toml").write_text(f'repository = "{home}"\n')
    metadata = {}
    module("urls").Links(str(tmp_path), {}).update(metadata)
    assert metadata["urls"].get("Issues", "") == (home and "https://example.org/askgraph/issues")


def test_the_public_runner_runs_what_must_pass():
    assert "- run: .ci/run\n" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()


def module(name):
    """A script of the folder .ci."""
    spec = spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found
