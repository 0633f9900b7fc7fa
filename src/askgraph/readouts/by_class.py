"""The likeliest classes of each row, from probabilities of a few classes at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field
from askgraph.readouts.readout import Readout
from askgraph.readouts.view import ByBlock, View
from askgraph.types import AnyArray, Array, IntArray


def best_classes(field: Field, readout: Readout, top: int) -> tuple[IntArray, Array]:
    """Return the ``top`` likeliest classes of each row, the likeliest first, and their probabilities by this readout."""
    view = View.of(field) if readout.whole else View.in_parts(field, top)
    return leaders(view, readout.read(view), top)


def first_highest(view: View, source: ByBlock) -> tuple[IntArray, Array]:
    """Return the class with the highest value of each row, and that value; of equal values (within 1e-9) the first one."""
    space = view.field.space
    decided, highest = space.zeros(dtype=np.int64), space.zeros() - np.inf
    for block in view.blocks:
        p = source(block)
        here, classes = p.max(axis=1), space.asarray(block.classes)
        decided = np.where(here > highest + coding.TIE, classes[coding.decide(p)], decided)
        highest = np.maximum(highest, here)
    return decided, highest


def leaders(view: View, source: ByBlock, top: int) -> tuple[IntArray, Array]:
    """Return the best classes of each row, the best first, and their values; ties go to the class that was named first."""
    space = view.field.space
    found, best = space.zeros(top, dtype=np.int64), space.zeros(top) - 1.0
    for block in view.blocks:
        p = source(block)
        rows = np.flatnonzero(p.max(axis=1) >= best[:, -1] - coding.TIE)
        new = np.broadcast_to(space.asarray(block.classes), (len(rows), block.classes.size))
        every = np.concatenate([found[rows], new], axis=1)
        places, best[rows] = ranked(np.concatenate([best[rows], p[rows]], axis=1), top, space.asarray)
        found[rows] = np.take_along_axis(every, places, axis=1)
    return found, best


def ranked(p: Array, top: int, asarray: Callable[[AnyArray], AnyArray] = np.asarray) -> tuple[IntArray, Array]:
    """Return where the ``top`` highest values of each row are, the highest first, and these values; ties go to the first."""
    columns, places, values = asarray(np.arange(p.shape[1])), [], []
    for _ in range(top):
        at = coding.decide(p)[:, None]
        places.append(at)
        values.append(np.take_along_axis(p, at, axis=1))
        p = np.where(columns == at, -np.inf, p)
    return np.concatenate(places, axis=1), np.concatenate(values, axis=1)
