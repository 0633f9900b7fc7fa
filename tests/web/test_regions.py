"""Regions of the map are named by their words, and a line around some of them selects what is inside."""

from __future__ import annotations

import numpy as np
import pytest

from askgraph.web.map import Map, framed
from askgraph.web.regions import WHOLE, Region, frame, inside, name_regions

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


def test_a_single_item_far_away_does_not_squeeze_the_others():
    rng = np.random.default_rng(0)
    positions = np.vstack([rng.uniform(0.05, 0.35, (399, 2)), [[1.0, 0.9]]])
    made = framed(Map(positions, [Region(0.2, 0.2, 399, "most"), Region(1.0, 0.9, 1, "far")]))
    others, far = made.positions[:-1], made.positions[-1]
    assert (np.ptp(others, axis=0) > 0.7).all()  # it was 0.3
    assert (far == 1.0).all()  # drawn at the edge, and chosen there
    assert (made.positions >= 0).all()
    assert (made.positions <= 1).all()
    assert inside(np.array([[0.9, 0.9], [1.1, 0.9], [1.1, 1.1], [0.9, 1.1]]), made.positions)[-1]
    ratios = np.ptp(others, axis=0) / np.ptp(positions[:-1], axis=0)
    assert ratios[0] == pytest.approx(ratios[1])  # what is near on one axis is as near on the other
    assert (made.regions[0].x, made.regions[0].y) == pytest.approx(tuple(np.median(others, axis=0)), abs=0.1)
    assert (made.regions[1].x, made.regions[1].y) == (1.0, 1.0)


def test_the_map_stays_as_it_is_without_outliers_for_few_items_and_for_two_clusters():
    rng = np.random.default_rng(0)
    spread = rng.uniform(size=(300, 2))
    clusters = np.vstack([rng.normal(0.1, 0.02, (280, 2)), rng.normal(0.9, 0.02, (20, 2))]).clip(0, 1)
    few = np.vstack([np.full((10, 2), 0.1), [[1.0, 1.0]]])
    for positions in (spread, clusters, few, np.full((50, 2), 0.5), np.empty((0, 2))):
        assert frame(positions) == WHOLE
        made = framed(Map(positions, []))
        assert (made.positions == positions).all()
        assert made.regions == []


def test_regions_of_many_items_have_eight_to_twelve_names():
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in ("alpha", "berry", "cedar", "delta") for b in ("stone", "river", "cloud", "flame")]
    middles = np.stack(np.meshgrid(np.linspace(0.1, 0.9, 4), np.linspace(0.1, 0.9, 4)), axis=-1).reshape(-1, 2)
    places = np.repeat(middles, 100, axis=0) + rng.normal(scale=0.04, size=(1600, 2))
    found = name_regions(places, [f"a {words[k // 100]} with the number {k}" for k in range(1600)])
    assert 8 <= len(found) <= 12


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
