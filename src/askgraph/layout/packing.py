"""Pictures of different size side by side in the unit square."""

from __future__ import annotations

import numpy as np

from askgraph.types import AnyArray, Array, IntArray

MARGIN = 0.05  # of a rectangle's shorter side, left free all around
TURNS = np.arange(0, 180, 10) * np.pi / 180
SMALL = 1e-6  # a picture smaller than this is a point


def rectangles(areas: Array) -> Array:
    """Rectangles (x, y, width, height) that fill the unit square, with these shares of its area: halves of halves.

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


def fitted(x: Array, sizes: IntArray, boxes: Array) -> Array:
    """Consecutive pictures of so many points, each turned so that it gets largest, and brought into its box."""
    if not sizes.size:
        return x
    start, which = np.append(0, np.cumsum(sizes))[:-1], np.repeat(np.arange(sizes.size), sizes)
    scales = np.array([_scale(_turned(x, turn), start, boxes) for turn in TURNS])
    x = _turned(x, TURNS[scales.argmax(axis=0)][which])
    middle = (np.minimum.reduceat(x, start) + np.maximum.reduceat(x, start)) / 2
    return np.asarray((x - middle[which]) * scales.max(axis=0)[which, None] + (boxes[:, :2] + boxes[:, 2:] / 2)[which])


def _turned(x: Array, turn: AnyArray) -> Array:
    cos, sin = np.cos(turn), np.sin(turn)
    return np.stack([cos * x[:, 0] - sin * x[:, 1], sin * x[:, 0] + cos * x[:, 1]], axis=1)


def _scale(x: Array, start: IntArray, boxes: Array) -> Array:
    """By what each picture may grow: its box has a margin, and a long box is no reason to be longer than a square one."""
    across = np.maximum.reduceat(x, start) - np.minimum.reduceat(x, start)
    room = boxes[:, 2:] - 2 * MARGIN * boxes[:, 2:].min(axis=1, keepdims=True)
    room = np.minimum(room, np.sqrt(room.prod(axis=1, keepdims=True)))
    return np.asarray((room / np.maximum(across, SMALL)).min(axis=1))


def lattice(n: int, box: Array) -> Array:
    """n points in rows that fill a box.

    >>> lattice(3, np.array([0.0, 0.0, 1.0, 1.0])).tolist()
    [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75]]
    """
    if n == 0:
        return np.empty((0, 2))
    columns = min(n, max(1, int(np.ceil(np.sqrt(n * box[2] / box[3])))))
    rows = -(-n // columns)
    row, column = np.divmod(np.arange(n), columns)
    return np.stack([box[0] + (column + 0.5) / columns * box[2], box[1] + (row + 0.5) / rows * box[3]], axis=1)
