"""Pictures as rows of numbers, by their edges, their light and their colors, and the graph of pictures that are alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from askgraph.errors import GraphError
from askgraph.graph.build import nearest_neighbors, place_nodes
from askgraph.graph.graph import Graph
from askgraph.support.wording import counted
from askgraph.types import AnyArray, Array

SIDE = 32  # pixels: every picture is compared at this width and height
CELL, DIRECTIONS = 4, 9  # pixels of a cell each way, and the directions of its histogram from 0 to 180 degrees
FAINT = 0.1  # edges of a block are divided by their length plus this, so that noise in flat areas counts for little
LIGHT_SIDE = 16  # pixels of the small gray picture each way
LEVELS = 4  # of red, of green and of blue, in the histogram of colors


def picture_row(rgb: AnyArray) -> AnyArray:
    """Return one picture of 32 × 32 × 3 bytes as a row of three parts of unit length, so that a cosine is the mean of three.

    The parts are histograms of the directions of edges (as in HOG), a gray picture of 16 × 16 about its mean, and a
    histogram of colors.

    >>> picture_row(np.zeros((32, 32, 3), np.uint8)).shape
    (2084,)
    """
    gray = rgb @ np.array([0.299, 0.587, 0.114]) / 255
    light = gray.reshape(LIGHT_SIDE, SIDE // LIGHT_SIDE, LIGHT_SIDE, -1).mean(axis=(1, 3)).ravel()
    parts = _edges(gray), light - light.mean(), np.sqrt(_colors(rgb))
    return np.concatenate([_unit(part) for part in parts]).astype(np.float32)


def join_pictures(rows: AnyArray, k: int, names: Iterable[Hashable] | None = None) -> Graph:
    """Join rows of pictures to the k nearest by cosine; a row of zeros, a picture that cannot be read, gets no edge."""
    n, seen = len(rows), np.flatnonzero(rows.any(axis=1))
    if seen.size < 2:
        raise GraphError(f"{counted(seen.size, 'picture')} to compare: neighbors need at least two")
    if seen.size == n:
        return nearest_neighbors(rows, k, "cosine", names=names)
    return place_nodes(nearest_neighbors(rows[seen], k, "cosine"), seen, n, names)


def _edges(gray: Array) -> Array:
    """Return histograms of the directions of edges in cells of 4 × 4 pixels, each block of 2 × 2 cells of about unit length."""
    down, right = np.gradient(gray)
    angle = np.mod(np.arctan2(down, right), np.pi) * (DIRECTIONS / np.pi)
    lower = np.floor(angle).astype(int)
    cells, share = SIDE // CELL, angle - lower
    cell = (np.arange(SIDE) // CELL)[:, None] * cells + np.arange(SIDE) // CELL
    found = np.zeros(cells * cells * DIRECTIONS)
    for direction, part in ((lower, 1 - share), (lower + 1, share)):
        at = (cell * DIRECTIONS + direction % DIRECTIONS).ravel()
        found += np.bincount(at, (np.hypot(down, right) * part).ravel(), found.size)
    grid = found.reshape(cells, cells, DIRECTIONS)
    blocks = np.concatenate([grid[:-1, :-1], grid[1:, :-1], grid[:-1, 1:], grid[1:, 1:]], axis=-1)
    return (blocks / (np.linalg.norm(blocks, axis=-1, keepdims=True) + FAINT)).ravel()


def _colors(rgb: AnyArray) -> Array:
    """Count the pixels of each of 4 × 4 × 4 colors."""
    level = rgb.astype(int) * LEVELS // 256
    color = (level[..., 0] * LEVELS + level[..., 1]) * LEVELS + level[..., 2]
    return np.bincount(color.ravel(), minlength=LEVELS**3).astype(float)


def _unit(part: Array) -> Array:
    length = np.linalg.norm(part)
    return (
        part / length if length > 1e-9 else np.zeros_like(part)
    )  # a flat picture has neither edges nor light and dark
