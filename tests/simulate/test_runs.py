"""Simulated runs: the same in any order and number of processes, and what is read of their records."""

from __future__ import annotations

import json

import pytest

import askgraph as ag
from askgraph.simulate import Problem, Run, simulate, simulate_all
from askgraph.simulate.records import labels_needed


def timeless(record):
    return json.dumps({key: value for key, value in record.items() if "seconds" not in key}, sort_keys=True)


@pytest.mark.slow
def test_processes_and_order_change_nothing():
    graph, labels = ag.two_squares(rng=0)
    problem = Problem(graph, labels.tolist())
    runs = [Run("msd", seed, 5) for seed in range(3)]
    serial = [timeless(simulate(problem, one)) for one in runs]
    assert sorted(timeless(x) for x in simulate_all(problem, runs, workers=2)) == sorted(serial)


def test_labels_needed_reads_the_mean_curve():
    records = [{"accuracy": [0.5, 0.7, 0.9]}, {"accuracy": [0.7, 0.9, 0.95, 0.99]}]
    assert labels_needed(records, 0.8) == 2
    assert labels_needed(records, 0.99) is None
