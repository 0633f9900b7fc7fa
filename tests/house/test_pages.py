"""The pages about the source say what the source says: packages and charters, files, equations, promises."""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import askgraph as ag
from askgraph.readouts import READOUTS
from tests.house.test_house import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
PROMISES = (ROOT / "docs" / "promises.md").read_text()
PROMISE = re.compile(r"promises?[ _](\d+(?:(?:, | and )\d+)*)", re.IGNORECASE)


@cache
def texts_of_tests():
    """The text of each file of tests."""
    return {path: path.read_text() for path in sorted((ROOT / "tests").rglob("*.py"))}


@cache
def names_of_tests():
    return {name for text in texts_of_tests().values() for name in re.findall(r"^ *def (test_\w+)", text, re.MULTILINE)}


def rows(page):
    """Return the cells of each table row whose first cell is a number or a name in backticks."""
    found = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in page.splitlines() if line.startswith("| ")
    ]
    return [cells for cells in found if re.fullmatch(r"\d+|`\w+`", cells[0])]


def test_the_table_of_packages_is_the_order_of_imports():
    table = [cells[0].strip("`") for cells in rows(ARCHITECTURE.partition("## The packages")[2])]
    assert table == PACKAGES


def test_the_drawing_read_from_below_is_the_order_of_imports():
    drawing = ARCHITECTURE.partition("```\ncli ")[2].partition("```")[0]
    lines = [line[:25].split() for line in f"cli {drawing}".splitlines()]
    assert [name for names in reversed(lines) for name in names] == PACKAGES


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    for name in re.findall(r"`([\w./]+/[\w.]*)`", page.read_text()):
        places = (ROOT / name, ROOT / "src" / "askgraph" / name)
        if name.startswith(("src/", "tests/", "docs/", "benchmarks/", *(f"{package}/" for package in PACKAGES))):
            assert "YOURS" in name or any(place.exists() for place in places), name


def test_tests_that_a_page_names_exist():
    for page in (ARCHITECTURE, PROMISES):
        named = set(re.findall(r"`(test_\w+)`", page))
        assert named
        assert named <= names_of_tests(), named - names_of_tests()


@pytest.mark.slow
def test_equations_and_charters_on_the_pages_are_those_of_the_source():
    made = make_pages()
    assert made.EQUATIONS_PAGE.read_text() == made.equations_page(), "run python docs/make_pages.py"
    assert made.ARCHITECTURE_PAGE.read_text() == made.architecture_page(), "run python docs/make_pages.py"


@pytest.mark.slow
def test_the_page_of_commands_says_what_their_help_says():
    made = make_pages()
    assert made.COMMANDS_PAGE.read_text() == made.commands_page(), "run python docs/make_pages.py"


@pytest.mark.slow
def test_every_equation_that_is_computed_is_shown_by_a_test():
    made = make_pages()
    found = list(made.citations())
    computed, shown = ({c.equation for c in found if made.column_of(c) == column} for column in ("used", "test"))
    assert {c.equation for c in found} <= set(made.EQUATIONS)
    assert computed <= shown, computed - shown


def make_pages():
    spec = spec_from_file_location("make_pages", ROOT / "docs" / "make_pages.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_promise_is_cited_by_a_test_and_no_other_number_is():
    promised = sorted(
        int(cells[0]) for cells in rows(PROMISES)
    )  # sections group them, and a number stays with its promise
    assert promised == list(range(1, len(promised) + 1))
    texts = [text for path, text in texts_of_tests().items() if path != Path(__file__).resolve()]
    cited = {int(k) for text in texts for found in PROMISE.findall(text) for k in re.findall(r"\d+", found)}
    assert cited == set(promised)
    assert f"**{len(promised)} promises**" in (ROOT / "README.md").read_text()


def test_every_promise_names_the_tests_that_have_its_number():
    listed = {int(cells[0]): set(re.findall(r"`(test_\w+)`", cells[2])) for cells in rows(PROMISES)}
    assert all(listed.values())
    for name in names_of_tests():
        if found := re.match(r"test_promise_(\d+)_", name):
            number = int(found[1])
            assert any(test.startswith(f"test_promise_{number}_") for test in listed[number]), name


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^   (\w+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    assert sorted(listed) == ag.__all__


def public_functions():
    """Yield every public function and every public method of a public class, with its name; of overridden ones, the first."""
    for name in ag.__all__:
        value = getattr(ag, name)
        if inspect.isclass(value):
            for attribute, method in inspect.getmembers(value, inspect.isroutine):
                ours = (getattr(method, "__module__", None) or "").startswith("askgraph")
                bases = [kind for kind in reversed(value.__mro__) if kind.__module__.startswith("askgraph")]
                first = next((kind for kind in bases if attribute in vars(kind)), value)
                if ours and not attribute.startswith("_") and (first is value or first.__name__ not in ag.__all__):
                    yield f"{name}.{attribute}", getattr(first, attribute)
        else:
            yield name, value


INNER = (  # for other parts of the package and for engines: described, without an example each
    "Criterion.",
    "Field.",
    "Graph.arrays",
    "Graph.stored",
    "Guesses.restore",
    "Guesses.to_rows",
    "Guesses.witnesses",
    "Numbers.",
    "Ordered.",
    "Plan.",
    "Project.",
    "Readout.",
    "Rule.",
    "Sampler.",
    "ShardedGraph.",
    "Turn.",
)
SECTION = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)


def lacking(name, function):
    """Yield what the docstring of a function does not have."""
    text, signature = inspect.getdoc(function) or "", inspect.signature(function)
    sections = SECTION.findall(text)
    wanted = {p for p in signature.parameters if p not in ("self", "cls")}
    lines = text.partition("Parameters\n---")[2].partition("\n\n")[0].splitlines()
    heads = [line.partition(" : ")[0] for line in lines if line[:1].strip()]
    described = {word.strip(" *") for head in heads for word in head.split(",")}
    yield from (f"{name}: {parameter} is not described" for parameter in sorted(wanted - described))
    returns = signature.return_annotation not in (None, "None", inspect.Signature.empty) and not text.startswith(
        "Raise"
    )
    if returns and not {"Returns", "Yields"} & set(sections):
        yield f"{name}: no Returns"
    if "Examples" not in sections and not name.startswith(INNER):
        yield f"{name}: no Examples"


def test_public_functions_document_parameters_returns_and_an_example():
    assert [what for name, function in public_functions() for what in lacking(name, function)] == []


def test_the_guide_names_every_readout():
    guide = (ROOT / "docs" / "guide.md").read_text()
    assert all(f"| `{name}` |" in guide for name in READOUTS)
