"""Every benchmark runs, at its smallest size; whether its figures are good is not asked here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.engines import gpu_missing
from tests.helpers.needs import give_up

FOLDER = Path(__file__).parents[2] / "benchmarks"
MARKS = {
    "gpu": [pytest.mark.gpu],
    "page": [pytest.mark.browser, pytest.mark.server],
    "petsc": [pytest.mark.mpi],
    "screenshots": [pytest.mark.browser, pytest.mark.server],
    "workbench": [pytest.mark.server],
}
BROWSER = "BROWSER", lambda: None if shutil.which("chromium") else "no chromium here"
MISSING = {  # benchmark -> the variable that requires it, and why it cannot run here, or None
    "activeml": ("CLIENTS", lambda: None if find_spec("skactiveml") else "no scikit-activeml here: make test-clients"),
    "gpu": ("GPU", gpu_missing),
    "page": BROWSER,
    "petsc": (
        "PETSC",
        lambda: None if find_spec("petsc4py") and shutil.which("mpiexec") else "no petsc4py here: make test-petsc",
    ),
    "screenshots": BROWSER,
}
SCRIPTS = [path.stem for path in sorted(FOLDER.glob("*.py")) if "__main__" in path.read_text()]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, [])) for name in SCRIPTS])
def test_a_benchmark_runs_at_its_smallest_size(name, tmp_path):
    variable, why = MISSING.get(name, ("", lambda: None))
    if reason := why():
        give_up(variable, reason)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--smoke"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **allowed}, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
