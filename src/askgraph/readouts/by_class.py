"""Probabilities of a few classes at a time, so that no array of all nodes and all classes is made.

What a readout computes across the classes of a node is a sum or a maximum, and both are collected block by block. Classes without
a label have no votes, so they are all alike: a few of them stand for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from askgraph.answers import coding
from askgraph.field import Field
from askgraph.types import AnyArray, Array, IntArray


class Block(NamedTuple):
    """Some classes, and how many classes each of them stands for, as a column."""

    classes: list[int]
    repeats: Array


ByClass = Callable[[Block], Array]
"""A function from a block of classes to an array: one row per node of this process, one column per class of the block."""


def blocks_of(field: Field, top: int) -> list[Block]:
    """Return blocks of the classes with labels and of the first ``top`` others, in the order of classes."""
    with_label, without = np.flatnonzero(field.counts), np.flatnonzero(field.counts == 0)
    classes = np.sort(np.concatenate([with_label, without[:top]]))
    repeats = np.ones((classes.size, 1))
    if without.size > top:
        repeats[classes == without[top - 1]] += without.size - top
    parts = coding.parts(field.space.most_rows, classes.size)
    return [Block(classes[part].tolist(), field.space.asarray(repeats[part])) for part in parts]


def row_totals(blocks: Sequence[Block], source: ByClass) -> Array:
    """Return the sum over all classes as a column."""
    total = source(blocks[0]) @ blocks[0].repeats
    for block in blocks[1:]:
        total += source(block) @ block.repeats
    return total


def row_highest(blocks: Sequence[Block], source: ByClass) -> Array:
    """Return the largest value over all classes as a column."""
    highest = source(blocks[0]).max(axis=1, keepdims=True)
    for block in blocks[1:]:
        highest = np.maximum(highest, source(block).max(axis=1, keepdims=True))
    return highest


def blended(field: Field, blocks: Sequence[Block], votes: ByClass, scores: ByClass) -> ByClass:
    """Return H p + (1 − H)/C with p ∝ scores: where no label reaches, all classes are alike."""
    reach, total = np.clip(row_totals(blocks, votes), 0.0, 1.0), row_totals(blocks, scores)
    even = 1 / field.coding.width
    return lambda block: reach * coding.ratio(scores(block), total, even) + (1 - reach) * even


def best_classes(field: Field, readout: Any, top: int) -> tuple[IntArray, Array]:
    """Return the ``top`` likeliest classes of each row, the likeliest first, and their probabilities by this readout.

    A readout with a method ``_by_class`` is read a few classes at a time; any other one makes an array of all classes.
    """
    if hasattr(readout, "_by_class"):
        blocks = blocks_of(field, top)
        return leaders(field, blocks, readout._by_class(field, blocks), top)
    return ranked(readout(field), top, field.space.asarray)


def first_highest(field: Field, blocks: Sequence[Block], source: ByClass) -> tuple[IntArray, Array]:
    """Return the class with the highest value of each row, and that value; of equal values (within 1e-9) the first one."""
    decided, highest = field.space.zeros(dtype=np.int64), field.space.zeros() - np.inf
    for block in blocks:
        p = source(block)
        here, classes = p.max(axis=1), field.space.asarray(np.array(block.classes))
        decided = np.where(here > highest + coding.TIE, classes[coding.decide(p)], decided)
        highest = np.maximum(highest, here)
    return decided, highest


def leaders(field: Field, blocks: Sequence[Block], source: ByClass, top: int) -> tuple[IntArray, Array]:
    """Return the best classes of each row, the best first, and their values; ties go to the class that was named first."""
    space = field.space
    found, best = space.zeros(top, dtype=np.int64), space.zeros(top) - 1.0
    for block in blocks:
        p = source(block)
        rows = np.flatnonzero(p.max(axis=1) >= best[:, -1] - coding.TIE)
        new = space.asarray(np.array(block.classes))
        every = np.concatenate([found[rows], np.broadcast_to(new, (len(rows), len(block.classes)))], axis=1)
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
