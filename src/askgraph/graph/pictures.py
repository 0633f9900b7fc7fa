"""Pictures as rows of numbers, by their edges, their light and their colors."""

from __future__ import annotations

import numpy as np

from askgraph.types import AnyArray, Array

PARTS = 3  # of a row, each of unit length: edges, light and colors
SIDE = 32  # pixels: every picture is compared at this width and height
CELL, DIRECTIONS = 4, 9  # pixels of a cell each way, and the directions of its histogram from 0 to 180 degrees
FAINT = 0.1  # edges of a block are divided by their length plus this, so that noise in flat areas counts for little
LIGHT_SIDE = 16  # pixels of the small gray picture each way
LEVELS = 4  # of red, of green and of blue, in the histogram of colors


def describe_pictures(rgb: AnyArray) -> AnyArray:
    """Return one row per picture of 32 × 32 × 3 bytes: three parts of unit length, so that a cosine is the mean of three.

    The parts are histograms of the directions of edges (as in HOG), a gray picture of 16 × 16 about its mean, and a
    histogram of colors.

    >>> describe_pictures(np.zeros((5, 32, 32, 3), np.uint8)).shape
    (5, 2084)
    """
    gray = rgb @ np.array([0.299, 0.587, 0.114]) / 255
    light = gray.reshape(-1, LIGHT_SIDE, SIDE // LIGHT_SIDE, LIGHT_SIDE, SIDE // LIGHT_SIDE).mean(axis=(2, 4))
    light -= light.mean(axis=(1, 2), keepdims=True)
    parts = _edges(gray), light, np.sqrt(_colors(rgb))
    return np.concatenate([_unit(part.reshape(len(rgb), -1)) for part in parts], axis=1).astype(np.float32)


def _edges(gray: Array) -> Array:
    """Return histograms of the directions of edges in cells of 4 × 4 pixels, each block of 2 × 2 cells of about unit length."""
    down, right = np.gradient(gray, axis=(1, 2))
    angle = np.mod(np.arctan2(down, right), np.pi) * (DIRECTIONS / np.pi)
    lower = np.floor(angle).astype(int)
    cells, share, strength = SIDE // CELL, angle - lower, np.hypot(down, right)
    cell = (np.arange(SIDE) // CELL)[:, None] * cells + np.arange(SIDE) // CELL
    sizes = len(gray), cells * cells * DIRECTIONS
    found = np.zeros(sizes)
    for direction, part in ((lower, 1 - share), (lower + 1, share)):
        found += _histograms(cell * DIRECTIONS + direction % DIRECTIONS, strength * part, sizes)
    grid = found.reshape(-1, cells, cells, DIRECTIONS)
    blocks = np.concatenate([grid[:, :-1, :-1], grid[:, 1:, :-1], grid[:, :-1, 1:], grid[:, 1:, 1:]], axis=-1)
    return np.asarray(blocks / (np.linalg.norm(blocks, axis=-1, keepdims=True) + FAINT))


def _colors(rgb: AnyArray) -> Array:
    """Count the pixels of each of 4 × 4 × 4 colors."""
    level = rgb.astype(int) * LEVELS // 256
    color = (level[..., 0] * LEVELS + level[..., 1]) * LEVELS + level[..., 2]
    return _histograms(color, np.ones(color.shape), (len(rgb), LEVELS**3))


def _histograms(bins: AnyArray, weights: Array, sizes: tuple[int, int]) -> Array:
    """Return the sum of weights in each bin, one row per picture; sizes are the numbers of pictures and of bins."""
    at = bins + sizes[1] * np.arange(sizes[0])[:, None, None]
    return np.bincount(at.ravel(), weights.ravel(), sizes[0] * sizes[1]).astype(np.float64).reshape(sizes)


def _unit(part: Array) -> Array:
    """Return rows of unit length; of zeros for a flat picture, which has neither edges nor light and dark."""
    length = np.linalg.norm(part, axis=1, keepdims=True)
    return np.divide(part, length, out=np.zeros_like(part), where=length > 1e-9)
