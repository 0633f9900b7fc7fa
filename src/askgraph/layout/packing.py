"""Packing: pictures of different sizes side by side in the unit square."""

from __future__ import annotations

import numpy as np

from askgraph.types import AnyArray, Array, IntArray

MARGIN = 0.05  # share of a rectangle's shorter side that stays free on all four sides
ANGLES = np.arange(0, 180, 10) * np.pi / 180  # radians; a picture is rotated by the one at which it fits largest
SMALLEST_SIZE = 1e-6  # a picture that is smaller counts as this large: a single point must not be scaled up


def rectangles(areas: Array) -> Array:
    """Return rectangles (x, y, width, height) that fill the unit square in proportion to these areas.

    The square is cut into two parts of about equal area, and each part again, along its longer side.

    >>> rectangles(np.array([2.0, 1.0, 1.0])).tolist()
    [[0.0, 0.0, 0.5, 1.0], [0.5, 0.0, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]
    """
    found, total = np.empty((areas.size, 4)), np.append(0.0, np.cumsum(areas))
    waiting = [(0, areas.size, 0.0, 0.0, 1.0, 1.0)] if areas.size else []
    while waiting:
        low, high, x, y, width, height = waiting.pop()
        if high - low == 1:
            found[low] = x, y, width, height
            continue
        cut = int(np.searchsorted(total[low + 1 : high - 1], (total[low] + total[high]) / 2)) + low + 1
        share = (total[cut] - total[low]) / (total[high] - total[low])
        if width >= height:
            waiting += [(low, cut, x, y, share * width, height)]
            waiting += [(cut, high, x + share * width, y, (1 - share) * width, height)]
        else:
            waiting += [(low, cut, x, y, width, share * height)]
            waiting += [(cut, high, x, y + share * height, width, (1 - share) * height)]
    return found


def fit_into_boxes(x: Array, sizes: IntArray, boxes: Array) -> Array:
    """Rotate, scale and move pictures into their boxes, each as large as it fits; ``sizes`` are the points of each."""
    if not sizes.size:
        return x
    start, which = np.append(0, np.cumsum(sizes))[:-1], np.repeat(np.arange(sizes.size), sizes)
    scales = np.array([_largest_scales(_rotate(x, angle), start, boxes) for angle in ANGLES])
    x = _rotate(x, ANGLES[scales.argmax(axis=0)][which])
    middle = (np.minimum.reduceat(x, start) + np.maximum.reduceat(x, start)) / 2
    return np.asarray((x - middle[which]) * scales.max(axis=0)[which, None] + (boxes[:, :2] + boxes[:, 2:] / 2)[which])


def _rotate(x: Array, angle: AnyArray) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([cos * x[:, 0] - sin * x[:, 1], sin * x[:, 0] + cos * x[:, 1]], axis=1)


def _largest_scales(x: Array, start: IntArray, boxes: Array) -> Array:
    """Return the factor by which each picture fits into its box, less a margin.

    In a long box, a picture gets no longer than in a square box of the same area.
    """
    across = np.maximum.reduceat(x, start) - np.minimum.reduceat(x, start)
    space = boxes[:, 2:] - 2 * MARGIN * boxes[:, 2:].min(axis=1, keepdims=True)
    space = np.minimum(space, np.sqrt(space.prod(axis=1, keepdims=True)))
    return np.asarray((space / np.maximum(across, SMALLEST_SIZE)).min(axis=1))


def lattice(n: int, box: Array) -> Array:
    """Return n points in rows that fill a box.

    >>> lattice(3, np.array([0.0, 0.0, 1.0, 1.0])).tolist()
    [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75]]
    """
    if n == 0:
        return np.empty((0, 2))
    columns = min(n, max(1, int(np.ceil(np.sqrt(n * box[2] / box[3])))))
    rows = -(-n // columns)
    row, column = np.divmod(np.arange(n), columns)
    return np.stack([box[0] + (column + 0.5) / columns * box[2], box[1] + (row + 0.5) / rows * box[3]], axis=1)
