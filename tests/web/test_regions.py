"""Regions of the map are named by their words, and a line around some of them selects what is inside."""

from __future__ import annotations

import numpy as np
import pytest

from askgraph.web.regions import inside, name_regions

TOPICS = {"heart": (0.2, 0.2), "tumour": (0.8, 0.2), "migraine": (0.5, 0.8)}


def some_items(n, rng):
    topics = [list(TOPICS)[k % 3] for k in range(n)]
    positions = np.array([TOPICS[topic] for topic in topics]) + rng.normal(scale=0.03, size=(n, 2))
    return positions, [
        f"The study of patients with {topic} and of patient number {k}" for k, topic in enumerate(topics)
    ]


def test_a_region_is_named_by_what_is_common_there_and_rare_elsewhere():
    positions, texts = some_items(400, np.random.default_rng(0))
    found = name_regions(positions, texts)
    assert sorted(one.name for one in found) == sorted(TOPICS)
    for one in found:
        assert (one.x, one.y) == pytest.approx(TOPICS[one.name], abs=0.08)
    assert [one.items for one in found] == sorted((one.items for one in found), reverse=True)


def test_there_is_no_name_without_words_or_for_few_items():
    positions, texts = some_items(400, np.random.default_rng(0))
    assert name_regions(positions, [""] * 400) == []
    assert name_regions(positions, ["all the same words"] * 400) == []
    assert name_regions(positions[:20], texts[:20]) == []


def test_inside_a_star_is_what_a_line_of_sight_crosses_an_odd_number_of_times():
    angles = np.linspace(0, 4 * np.pi, 5, endpoint=False)
    star = np.column_stack([np.cos(angles), np.sin(angles)])
    rng = np.random.default_rng(1)
    points = rng.uniform(-1.2, 1.2, size=(300, 2))
    windings = np.array([winding(star, point) for point in points])
    assert (inside(star, points) == (windings % 2 == 1)).all()
    assert 0 < inside(star, points).sum() < 300


def winding(polygon, point):
    """How often a polygon goes around a point, by the sum of angles."""
    ends = polygon - point
    angles = np.arctan2(ends[:, 1], ends[:, 0])
    turns = (np.roll(angles, -1) - angles + np.pi) % (2 * np.pi) - np.pi
    return abs(round(turns.sum() / (2 * np.pi)))
