"""Count what makes the house large: members of its widest classes, files that know of hubs, circles, lines.

    python tools/count_house.py --against v0.2.0

Both versions are counted from their source, in this environment; the other one from a worktree under build/versions.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import Any

from same_answers import ROOT, worktree

WIDE = {
    "Learner": "askgraph.learner",
    "Field": "askgraph.field",
    "Store": "askgraph.workbench.store",
    "Desk": "askgraph.web.desk",
    "Prior": "askgraph.priors.base",
    "Project": "askgraph.workbench.project",
}
ABOUT_HUBS = re.compile(r"\bhub|hub_power|HubRule")
WHERE_HUBS = "field answers readouts plan learner workbench web".split()  # noqa: SIM905 -- it reads as the list it is
LONGEST = 5
Counts = dict[str, Any]


def members(one: type) -> int:
    """The public methods, properties and attributes of a class and its ancestors."""
    named = {name for kind in one.__mro__ for name in getattr(kind, "__annotations__", {})}
    return sum(not name.startswith("_") for name in named | set(dir(one)))


def of_classes() -> Counts:
    """What is asked of the classes themselves; runs with the version on the path."""
    classes = {name: getattr(import_module(home), name) for name, home in WIDE.items()}
    learner = classes["Learner"]
    kinds = [one.kind for one in inspect.signature(learner.__init__).parameters.values()]
    named = sum(kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL) for kind in kinds) - 1
    found: Counts = {"ancestors of Learner": len(learner.__mro__) - 2, "parameters of Learner": named}
    return found | {f"public members of {name}": members(one) for name, one in classes.items()}


def trees(folder: Path) -> dict[Path, ast.Module]:
    """The modules of a folder, parsed."""
    return {path: ast.parse(path.read_text()) for path in sorted(folder.rglob("*.py"))}


def module_of(path: Path, source: Path) -> str:
    """The name of a module by its file."""
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.Module, known: Iterable[str]) -> set[str]:
    """The modules that a module imports or names in a string, wherever in it."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {full if (full := f"{node.module}.{x.name}") in known else node.module for x in node.names}
        elif isinstance(node, ast.Import):
            found |= {x.name for x in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found & set(known)


def of_imports(source: Path) -> Counts:
    """Whether imports run in a circle, how many floors there are, and how many arrows from package to package."""
    modules = {f"askgraph.{module_of(path, source)}": tree for path, tree in trees(source).items()}
    modules.pop("askgraph.__init__", None)
    graph = {
        name: {one for one in imported(tree, modules) if one != name and not name.startswith(f"{one}.")}
        for name, tree in modules.items()
    }
    rooms = {(name.split(".")[1], one.split(".")[1]) for name, some in graph.items() for one in some}
    arrows = {(room, other) for room, other in rooms if room != other}
    return {"circles": circles(graph), "floors": floors(arrows), "arrows between packages": len(arrows)}


def circles(graph: dict[str, set[str]]) -> int:
    """1 where some modules import each other in a circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return 1
    return 0


def floors(arrows: set[tuple[str, str]]) -> int | str:
    """How many packages stand on top of each other at most."""
    below: dict[str, set[str]] = {}
    for room, other in arrows:
        below.setdefault(room, set()).add(other)
    height: dict[str, int] = {}
    try:
        for room in TopologicalSorter(below).static_order():
            height[room] = 1 + max((height[other] for other in below.get(room, ())), default=0)
    except CycleError:
        return "none: a circle"
    return max(height.values())


def of_source(root: Path) -> Counts:
    """What is counted in the text of a version."""
    source, tests = root / "src" / "askgraph", root / "tests"
    lines = {path: path.read_text().count("\n") for path in source.rglob("*.py")}
    hubs = [
        path for room in WHERE_HUBS for path in (source / room).rglob("*.py") if ABOUT_HUBS.search(path.read_text())
    ]
    longest = sorted(lines, key=lines.__getitem__, reverse=True)[:LONGEST]
    return {
        "files that know of hubs": sum(path.name != "embedding.py" for path in hubs),
        "places that spell the options": sum(map(spelled, trees(source).values())),
        "leave-one-outs": sum(map(left_out, trees(source / "field").values())),
        **of_imports(source),
        "lines of code": sum(lines.values()),
        "lines of tests": sum(path.read_text().count("\n") for path in tests.rglob("*.py")),
        "type: ignore": sum(path.read_text().count("type: ignore") for path in lines),
        "longest files": ", ".join(f"{path.relative_to(source)} {lines[path]}" for path in longest),
    }


def spelled(tree: ast.Module) -> int:
    """How many functions, classes and lists of a module spell out options of questions, ``doubt`` and ``form`` among them."""
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
        elif isinstance(node, ast.ClassDef):
            names = {
                one.target.id
                for one in node.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            }
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            names = {one.value for one in node.elts if isinstance(one, ast.Constant)}
        else:
            continue
        found += {"doubt", "form"} <= names
    return found


def left_out(tree: ast.Module) -> int:
    """How many functions of a module return labels left out, alone or with what else they computed."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return sum("LeftOut" in ast.unparse(one.returns) for one in functions if one.returns)


def count(root: Path) -> Counts:
    """Count one version."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{Path(__file__).parent}"}
    command = [sys.executable, "-c", "import json, count_house; print(json.dumps(count_house.of_classes()))"]
    said = subprocess.check_output(command, env=environment, text=True)
    return {**json.loads(said), **of_source(root)}


def main() -> None:
    """Print what is counted, in this version and another one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", default="HEAD", help="the other version: a commit or a tag")
    theirs, ours = count(worktree(parser.parse_args().against)), count(ROOT)
    print("| | before | after |\n|---|---|---|")
    for what, now in ours.items():
        print(f"| {what} | {theirs[what]} | {now} |")


if __name__ == "__main__":
    main()
