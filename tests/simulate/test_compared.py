"""Samplers to compare with: each equals its formula, written plainly."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.errors import SettingError
from askgraph.simulate import Problem, Run, simulate
from askgraph.simulate.compared import COMPARED
from tests.helpers.draws import given, settings
from tests.helpers.engines import ENGINES
from tests.helpers.graphs import problems
from tests.helpers.reference import Reference, eer01


@settings(max_examples=20, deadline=None)
@given(problems(most=7))
def test_eer_on_the_zero_one_field(problem):
    W, delta, _, labels = problem
    labels = [(node, label % 2) for node, label in labels]
    field, plain = ENGINES[0].start(ag.Graph(W), delta, 2), Reference(W, delta, dict(labels), 2)
    for node, label in labels:
        field = field.observe(node, label)
    got = COMPARED["eer01"](field, np.array(plain.U), None)
    np.testing.assert_allclose(got, [eer01(plain, node) for node in plain.U], rtol=1e-9, atol=1e-12)


def test_eer_on_the_zero_one_field_takes_two_classes_and_runs_by_name():
    with pytest.raises(SettingError, match="two classes, not 3"):
        simulate(Problem(ag.chain(4), ["a", "b", "c", "c"]), Run("eer01", 0, 2))
    truth = ["a"] * 3 + ["b"] * 3
    assert len(simulate(Problem(ag.chain(6), truth), Run("eer01", 0, 3, doubt=None))["nodes"]) == 3
