"""The house stays in order: imports go one way, the surface is flat, imports are light, examples in docstrings run."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import askgraph as ag

SOURCE = Path(ag.__file__).parent
FLOW = """
errors types files room progress compiled smooth stack stress packing layout_kernels archive foreign clean graph
ranks sharded partition settle
text edge_kernels edges tables jsonl parquet readers shards neighbors build features coding rows shard_labels
rank_rows spread probes
priors.base priors.dense priors.elimination priors.takahashi priors.factor priors.direct priors.blocks priors.aggregates
priors.cg_kernels priors.levels priors.system priors.cg priors.noise_kernels priors.noise
priors.iterative priors.device priors.gpu_ahead priors.gpu_cg priors.gpu_noise priors.gpu priors.ksp priors.shard_noise
priors.shard_groups priors.petsc priors layout field state leave_out temper
utilities.closed utilities.kernels utilities.lookahead utilities.later utilities readouts around why
judge stopping settings events choice saved shortlist questions ahead learner pools simulate records draw estimator
workbench workbench.items workbench.whereabouts workbench.lock workbench.schema workbench.old_log workbench.answers workbench.store
workbench.project workbench.restoring workbench.tables workbench.client workbench.report workbench.commands
web web.ranker web.worker web.leases web.listing web.desk web.safety web.app web.serve web.demo web.commands
paper paper.download paper.datasets paper.problems paper.plan paper.run paper.tune paper.symmetry paper.costed paper.costs
paper.evidence paper.claims paper.draw paper.page paper.words paper.report paper.study cli __main__
""".split()  # noqa: SIM905 -- it reads as the flow it is


def module_name(path):
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = sorted(name for path in SOURCE.rglob("*.py") if (name := module_name(path)) != "__init__")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_from_those_above_it(name):
    path = SOURCE / (name.replace(".", "/") + ".py")
    tree = ast.parse((path if path.exists() else SOURCE / name.replace(".", "/") / "__init__.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("askgraph"):
            package = node.module.removeprefix("askgraph").removeprefix(".")
            for alias in node.names:
                full = f"{package}.{alias.name}".strip(".")
                target = full if full in FLOW else package
                assert target == "" or FLOW.index(target) < FLOW.index(name), f"{name} imports {target}"


def test_the_surface_is_flat_sorted_and_real():
    assert ag.__all__ == sorted(ag.__all__)
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
