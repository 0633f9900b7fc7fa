"""Every package that the source imports is a declared dependency, and every declared dependency is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import askgraph as ag

SOURCE = Path(ag.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = {
    "IPython": "ipython",
    "PIL": "pillow",
    "cupy": "cupy-cuda12x",
    "cupyx": "cupy-cuda12x",
    "faiss": "faiss-cpu",
    "python_calamine": "python-calamine",
    "sentence_transformers": "sentence-transformers",
    "skactiveml": "scikit-activeml",
    "sklearn": "scikit-learn",
    "xlsxwriter": "XlsxWriter",
}
READ = {"wordllama"}  # whose files are read, and which is not imported: it would configure logging
FOR_DEVELOPERS = ("test", "test-clients", "bench", "docs")  # extras that the source itself must not need


def names(requirements):
    return {re.match(r"[\w-]+", requirement).group() for requirement in requirements}


REQUIRED = names(PROJECT["dependencies"])
EXTRAS = {key: names(value) for key, value in PROJECT["optional-dependencies"].items() if key not in FOR_DEVELOPERS}


def imports(statements):
    """Yield the distributions of others that some import statements need."""
    for node in statements:
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for top in (module.split(".")[0] for module in modules):
            if top not in ("", "askgraph") and top not in sys.stdlib_module_names:
                yield DISTRIBUTIONS.get(top, top)


@cache
def trees():
    return {path: ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")}


@pytest.mark.slow
def test_every_import_is_a_declared_dependency_and_every_dependency_is_imported():
    imported = {name for tree in trees().values() for name in imports(ast.walk(tree))}
    assert imported | READ == REQUIRED.union(*EXTRAS.values())


@pytest.mark.slow
def test_a_module_loads_without_any_extra():
    for path, tree in trees().items():
        assert set(imports(tree.body)) <= REQUIRED, path


def test_lower_bounds_are_plain_so_that_the_lowest_versions_can_be_tested():
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+", requirement) for requirement in PROJECT["dependencies"])


def test_the_docs_say_what_each_package_is_for():
    text = (Path(__file__).parents[2] / "docs" / "support.md").read_text()
    _, table = text.split("What each of the 31 packages is for:")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    ours = {name for row in rows for name in row[0].split(", ")}
    brought = {name.strip(" |") for row in rows for name in (row[2].split(", ") if len(row) > 2 else ())} - {""}
    assert ours == REQUIRED
    assert len(ours | brought | {"askgraph"}) == 31
