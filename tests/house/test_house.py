"""The house stays in order: imports go one way, the surface is flat, imports are light, examples in docstrings run."""

from __future__ import annotations

import ast
import doctest
import graphlib
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import askgraph as ag

SOURCE = Path(ag.__file__).parent
PACKAGES = """
support answers linalg graph io distributed spaces priors field utilities layout readouts plan kinds learner
estimator simulate arena workbench web clients paper cli
""".split()  # noqa: SIM905 -- it reads as the order it is: a package imports only from those before it
GROUND = ("errors", "types", "version")  # everybody may use these
ABOVE_SUPPORT = ("options",)  # and light: the help of the commands reads it
ABOVE_LEARNER = ("why", "pools")  # modules of their own, which stand between learner and estimator
_ESTIMATOR = PACKAGES.index("estimator")
ORDER = [*GROUND, PACKAGES[0], *ABOVE_SUPPORT, *PACKAGES[1:_ESTIMATOR], *ABOVE_LEARNER, *PACKAGES[_ESTIMATOR:]]


def module_name(path):
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = sorted(name for path in SOURCE.rglob("*.py") if (name := module_name(path)) != "__init__")
IMPORTERS = {"import_module", "__import__", "find_spec", "resolve_name", "LazyLoader"}


def code_of(name):
    path = SOURCE / (name.replace(".", "/") + ".py")
    return ast.parse((path if path.exists() else SOURCE / name.replace(".", "/") / "__init__.py").read_text())


def imported(tree):
    """The modules of the package that a module imports, wherever in it and however it spells them; "" is the face."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "askgraph":
            package = node.module.removeprefix("askgraph").removeprefix(".")
            for alias in node.names:
                full = f"{package}.{alias.name}".strip(".")
                yield full if full in MODULES else package
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("askgraph").strip(".") for alias in node.names if is_ours(alias.name))
        if (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and is_ours(node.value)
        ):  # tables, import_module
            yield from filter(MODULES.__contains__, [node.value.removeprefix("askgraph").strip(".")])


def is_ours(name):
    return name.split(".")[0] == "askgraph"


def called(node):
    """The name of the function that is called, if this is a call."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", None))


@pytest.mark.parametrize("name", [name for name in MODULES if name != "__main__"])
def test_a_package_imports_only_from_those_before_it(name):
    home = name.split(".")[0]
    for target in imported(code_of(name)):
        there = target.split(".")[0]
        assert target, f"{name} imports the face of the package, which stands above all"
        assert not target or there == home or ORDER.index(there) < ORDER.index(home), f"{name} imports {target}"


@pytest.mark.parametrize(
    "code",
    [
        "from askgraph.learner import Learner",
        "import askgraph.learner.learner",
        "def f():\n    from askgraph import learner",
        "import_module('askgraph.learner')",
        "TABLE = {'Learner': 'askgraph.learner.learner'}",
    ],
)
def test_an_import_is_seen_however_it_is_spelled(code):
    assert any(target.split(".")[0] == "learner" for target in imported(ast.parse(code)))


@pytest.mark.parametrize("name", MODULES)
def test_no_module_imports_another_by_a_name_that_is_put_together(name):
    """Such a name could be that of any module; the face of the package alone does it, by its table of homes."""
    if name == "arena.host":  # imports a user's method by the path that the user gives
        return
    calls = [node for node in ast.walk(code_of(name)) if called(node) in IMPORTERS]
    assert all(isinstance(call.args[0], ast.Constant) for call in calls)


@pytest.mark.slow
def test_modules_import_each_other_in_no_circle():
    tree = {name: {target for target in imported(code_of(name)) if target and target != name} for name in MODULES}
    graphlib.TopologicalSorter({name: tree[name] - faces(name) for name in MODULES}).prepare()


def faces(name):
    """The package itself, which its own modules may take siblings from."""
    return {".".join(name.split(".")[:k]) for k in range(1, name.count(".") + 1)}


def test_every_module_lives_in_a_package_that_says_what_belongs_there():
    alone = {path.stem for path in SOURCE.glob("*.py")}
    assert alone == {"__init__", "__main__", *GROUND, *ABOVE_SUPPORT, *ABOVE_LEARNER}
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} == set(PACKAGES)
    for package in PACKAGES:
        assert importlib.import_module(f"askgraph.{package}").__doc__, package


def test_the_surface_is_flat_sorted_and_real():
    assert ag.__all__ == sorted(ag._HOME)
    assert all(getattr(ag, name).__doc__ for name in ag.__all__)
    assert set(ag.__all__) <= set(dir(ag))
    with pytest.raises(AttributeError, match="sampler"):
        ag.sampler  # noqa: B018 -- reading it is the test


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(f"askgraph.{name}")
    assert doctest.testmod(module).failed == 0


def test_the_first_lines_of_the_package_run():
    assert doctest.testmod(ag).attempted > 0
    assert doctest.testmod(ag).failed == 0


def test_imports_are_light():
    heavy = {"sklearn", "numba", "matplotlib", "pandas", "networkx", "rich"}
    code = f"import sys, askgraph, askgraph.learner; print({heavy!r} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "set()"


def test_no_module_is_left_out_of_the_package():
    found = {name.removeprefix("askgraph.") for _, name, _ in pkgutil.walk_packages([str(SOURCE)], "askgraph.")}
    assert found == set(MODULES)


@pytest.mark.parametrize("script", sorted((SOURCE / "web" / "page").rglob("*.js")), ids=lambda path: path.name)
def test_words_of_the_page_are_in_its_files_of_words(script):
    """No other script has a text that begins with a capital and goes on: those are words that nobody could translate."""
    code = re.sub(r"/\*.*?\*/|//.*", "", script.read_text(), flags=re.DOTALL)
    found = re.findall(r"""["`][A-Z][a-z]+[ .,:;!?][^"`]*["`]""", code)
    assert script.parent.name == "words" or found == []


def test_no_list_of_the_page_does_more_than_filter_when_its_choice_changes():
    """Arrow keys change the choice of a list that has the keyboard: what writes, or leaves the page, waits for Enter or a click.

    A mark says what a column is for on the page alone, and passing over it changes nothing; so do the colors of the map.
    """
    scripts = [*(SOURCE / "web" / "page").rglob("*.js"), *(SOURCE / "clients").glob("*.js")]
    lists = [found for script in scripts for found in re.findall(r'h\("select", \{([^}]*)', script.read_text())]
    listening = [re.search(r"onchange: (.*)", one)[1].strip() for one in lists if "onchange" in one]
    assert listening
    assert {
        one
        for one in listening
        if not re.fullmatch(r"\(\) => (load\(\)|filter\(.*\)|color\(.*\)|this\.mark\(.*\))", one)
    } == set()
    listened = [
        one for script in scripts for one in re.findall(r'(\w+)\.addEventListener\("change"', script.read_text())
    ]
    assert set(listened) == {"dark"}  # the colors of the system


def test_a_name_that_is_not_there_has_a_near_one():
    code = "import askgraph as ag; ag.Leaner"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert "Did you mean: 'Learner'?" in found
