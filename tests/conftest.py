"""Settings for all tests: the data folder, the hypothesis profile, the folder where servers note their address, markers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # the laws run without it, see helpers/draws.py
    settings = None

ROOT = Path(__file__).parents[1]

if settings is not None:
    patient = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine is not an error
    settings.register_profile("patient", **patient)
    settings.register_profile("ci", derandomize=True, print_blob=True, **patient)
    settings.load_profile("ci" if os.environ.get("CI") else "patient")

if "PYTEST_XDIST_WORKER" in os.environ:  # as many processes as cores: one thread each, said before numpy is imported
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

nearby = ROOT.parent / "shared" / "data"
if not os.environ.get("ASKGRAPH_DATA") and nearby.is_dir():
    os.environ["ASKGRAPH_DATA"] = str(nearby)  # before test files are imported, which read it


@pytest.fixture(scope="session", autouse=True)
def state_folder():
    """Let servers note their address in a folder of the tests, not in the user's own; child processes inherit it.

    A plain temporary folder: the ranks of an MPI job, a pytest each, would clean up pytest's own under each other.
    """
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_STATE_HOME", "LOCALAPPDATA"):
            patch.setenv(variable, folder)
        yield


def pytest_collection_modifyitems(items):
    """Skip the tests that need datasets where there are none."""
    if os.environ.get("ASKGRAPH_DATA"):
        return
    missing = pytest.mark.skip(reason="set ASKGRAPH_DATA to the folder of the paper's datasets")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(missing)


def pytest_terminal_summary(terminalreporter):
    """Print which tests were skipped for want of datasets, or that none were."""
    outcomes = terminalreporter.stats
    ran = [
        report for found in ("passed", "failed", "skipped") for report in outcomes.get(found, []) if _needs_data(report)
    ]
    skipped = sorted(report.nodeid for report in outcomes.get("skipped", []) if _needs_data(report))
    if ran:
        terminalreporter.write_line(f"data tests skipped: {', '.join(skipped) or 'none'}")


def _needs_data(report):
    return "data" in getattr(report, "keywords", {})
