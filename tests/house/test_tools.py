"""The tools for developers do what they say."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tools import same_answers


def test_versions_that_say_the_same_are_equal_and_a_changed_number_or_question_is_found(tmp_path, capsys):
    for name in ("ours", "theirs"):
        same_answers.record(tmp_path / name, ["vm communities", "estimator, linear=False"])
    ours, theirs = (pickle.loads((tmp_path / name).read_bytes()) for name in ("ours", "theirs"))
    assert len(ours) == 2
    assert same_answers.compare(ours, theirs) == 0
    ours["vm communities"][0] = ("question 0", ["another"])
    assert same_answers.compare(ours, theirs) == 1
    assert "vm communities: question 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array([0.5, 1.0]), np.array([0.5, 1.0 + 1e-11])),
        (np.zeros(2), np.zeros(3)),
        ([1.0, "a"], [1.0, "b"]),
        ([1.0], [1.0, 2.0]),
        (0.1, 0.1 + 1e-9),
        (None, "enough"),
    ],
)
def test_what_differs_is_said(one, other):
    assert same_answers.differ(one, other, same_answers.CLOSE)
    assert same_answers.differ(one, one, same_answers.CLOSE) is None
