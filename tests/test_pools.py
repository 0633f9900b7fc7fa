"""Runs over pools: executors, and a real Dask cluster of two workers, one of which is killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import askgraph as ag
from askgraph.errors import EngineError, SettingError
from askgraph.pools import Dask, pool_at
from askgraph.simulate import Problem, Run, simulate_all
from askgraph.simulate.records import Records
from tests.helpers.processes import run

pytestmark = pytest.mark.slow
beside_dask = pytest.mark.filterwarnings("default")  # Dask and tornado warn of themselves

TIMES = ("ask_seconds", "tell_seconds")
WHERE = ("python", "machine", "numpy", "scipy")


def problem():
    graph, labels = ag.two_squares(rng=0)
    return Problem(graph, labels.tolist())


def timeless(records):
    kept = [{key: value for key, value in record.items() if key not in (*TIMES, *WHERE)} for record in records]
    return sorted(json.dumps(record, sort_keys=True) for record in kept)


@pytest.fixture(scope="module")
def cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        from distributed import LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as running:
            yield running


@pytest.fixture
def address(cluster):
    return cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_anything_with_map_is_a_pool(kind):
    runs = [Run(sampler, seed, 6) for sampler in ("tv", "msd") for seed in range(3)]
    spawn = multiprocessing.get_context("spawn")
    with ThreadPoolExecutor(1) if kind == "threads" else ProcessPoolExecutor(2, spawn) as pool:
        spread = list(simulate_all(problem(), runs, pool=pool))
    assert timeless(spread) == timeless(simulate_all(problem(), runs))


@beside_dask
def test_a_cluster_makes_the_same_records(address):
    runs = [Run(sampler, seed, 6) for sampler in ("tv", "random") for seed in range(4)]
    with pool_at(address) as pool:
        assert timeless(simulate_all(problem(), runs, pool=pool)) == timeless(simulate_all(problem(), runs))


@beside_dask
def test_what_a_lost_worker_had_is_done_again(address, tmp_path):
    runs = [Run("eer", seed, 20) for seed in range(24)]  # most are still to do when the first one is done
    records, killed = Records(tmp_path / "runs.jsonl"), []
    with pool_at(address) as pool:
        pids = pool._client.run(os.getpid)

        def kill_one(_):
            if not killed:
                killed.append(next(iter(pids.values())))
                os.kill(killed[0], signal.SIGKILL)

        records.fill(problem(), runs, 1, kill_one, pool)
    assert killed
    assert len(records.read()) == 24
    assert timeless(records.read()) == timeless(simulate_all(problem(), runs))


@beside_dask
def test_an_error_of_a_run_is_that_error(address):
    with pool_at(address) as pool, pytest.raises(SettingError, match="no sampler"):
        list(simulate_all(problem(), [Run("nonsense", 0, 5)], pool=pool))


@beside_dask
def test_the_command_goes_on_where_it_was(address, tmp_path):
    graph, labels = ag.two_squares(rng=0)
    edges = graph.weights.tocoo()
    lines = [f"{a},{b}" for a, b in zip(edges.row, edges.col, strict=True) if a < b]
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(lines) + "\n")
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"{k},{y}\n" for k, y in enumerate(labels)))
    command = ["simulate", "edges.csv", "--labels", "labels.csv", "--pool", address]
    command += ["--samplers", "tv", "--budget", "5", "--runs"]
    for n, there in ((2, 0), (5, 2)):
        done = run(*command, n, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"{there} of {n} runs are there already" in done.stdout
    assert len(Records(tmp_path / "runs.jsonl").read()) == 5


@beside_dask
def test_no_scheduler_and_no_address_are_said():
    with pytest.raises(EngineError, match="no Dask scheduler answers there"):
        Dask("dask://127.0.0.1:9")
    with pytest.raises(SettingError, match="dask://"):
        pool_at("127.0.0.1:8786")
