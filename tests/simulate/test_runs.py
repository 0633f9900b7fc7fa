"""Simulated runs: the same in any order and number of processes, and what is read of their records."""

from __future__ import annotations

import json

import numpy as np
import pytest

import askgraph as ag
from askgraph.simulate import Problem, Run, simulate, simulate_all
from askgraph.simulate.records import labels_needed, run_of


def timeless(record):
    return json.dumps({key: value for key, value in record.items() if "seconds" not in key}, sort_keys=True)


@pytest.mark.slow
def test_processes_and_order_change_nothing():
    graph, labels = ag.two_squares(rng=0)
    problem = Problem(graph, labels.tolist())
    runs = [Run("msd", seed, 5) for seed in range(3)]
    serial = [timeless(simulate(problem, one)) for one in runs]
    assert sorted(timeless(x) for x in simulate_all(problem, runs, workers=2)) == sorted(serial)


def test_a_tie_counts_as_the_share_of_a_guess_and_names_change_nothing():
    # No label reaches the nodes 3 to 6, so that all classes tie there
    graph, truth = ag.Graph.from_edges([(0, 1), (1, 2), (3, 4), (5, 6)]), ["a", "a", "a", "b", "b", "c", "c"]
    for order in (None, ["a", "b", "c"], ["c", "b", "a"]):
        problem = Problem(graph, truth, order)
        run = Run("sigma", 0, 1, readout="map", first="utility")
        assert simulate(problem, run)["accuracy"] == [round((2 + 4 / 3) / 6, 6)]


def test_a_record_says_its_run_and_an_older_record_has_the_defaults_of_what_it_lacks():
    problem = Problem(ag.chain(4), ["a", "a", "b", "b"])
    run = Run("tv", 3, 2, class_shares=[0.9, 0.1], hubs="skip", small_components="ask", spot_checks=2, expect="min")
    record = json.loads(json.dumps(simulate(problem, run)))
    assert run_of(record) == run
    assert hash(run_of(record)) == hash(run)
    old = {"sampler": "tv", "seed": 3, "budget": 2, "doubt": None, "delta": 0.5, "accuracy": record["accuracy"]}
    assert run_of(old) == Run("tv", 3, 2, doubt=None, delta=0.5)


def test_a_run_asks_by_all_options_of_its_plan():
    graph, labels = ag.two_squares(rng=0)
    problem, options = Problem(graph, labels.tolist()), {"spot_checks": 3, "first": "utility", "form": "derived"}
    learner = ag.Learner(graph, "tv", classes=problem.classes, rng=5, **options)
    asked = [step.node for step in learner.run(lambda node: problem.label(graph.index(node)), 9)]
    assert simulate(problem, Run("tv", 5, 9, **options))["nodes"] == [graph.index(node) for node in asked]


def test_labels_needed_reads_the_mean_curve():
    records = [{"accuracy": [0.5, 0.7, 0.9]}, {"accuracy": [0.7, 0.9, 0.95, 0.99]}]
    assert labels_needed(records, 0.8) == 2
    assert labels_needed(records, 0.99) is None


def test_ordered_classes_are_classes_and_what_is_not_one_class_per_node_is_refused():
    graph = ag.chain(8)
    stars = [1.0, 1.0, 1.5, 1.5, 2.0, 2.0, 2.5, 2.5]
    names = [str(label) for label in stars]
    run = Run("influence", 0, 4)
    assert simulate(Problem(graph, stars), run)["accuracy"] == simulate(Problem(graph, names), run)["accuracy"]
    for several in ([["a"], ["b"]] * 4, [{"a"}, set()] * 4, np.eye(8)):
        with pytest.raises(ag.LabelError, match="one class per node"):
            Problem(graph, several)
    with pytest.raises(ag.LabelError, match=r"0\.5 is a number, not a class"):
        Problem(graph, [0.5 + k for k in range(8)])
    assert Problem(graph, list(range(8))).classes == list(range(8))
