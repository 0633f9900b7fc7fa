"""A matrix that grows by columns while its older views stay as they were."""

from __future__ import annotations

from threading import Lock

import numpy as np

from askgraph.types import Array

_CLAIMING = Lock()  # one for all: it is held for a moment, and stacks can be pickled


class Stack:
    """Columns of one length, appended: ``push`` returns a new stack and leaves this one valid.

    Stacks that grew from each other share one buffer: the first to append to a given length writes in place, a second
    branch copies. So a loop of t appends costs O(n t), not O(n t²), and a value stays a value.
    """

    def __init__(self, buffer: _Buffer, length: int) -> None:
        self._buffer = buffer
        self._length = length

    @classmethod
    def like(cls, column: Array) -> Stack:
        """Without columns yet; they will be as long as this one, and live where it does."""
        return cls(_Buffer(np.empty_like(column, shape=(0, column.size)), 0), 0)

    @property
    def array(self) -> Array:
        """The columns, (rows, length), as a view."""
        view = self._buffer.data[: self._length].T
        if isinstance(view, np.ndarray):
            view.flags.writeable = False
        return view

    def push(self, column: Array) -> Stack:
        """The same columns and one more."""
        buffer = self._buffer.claimed(self._length)
        buffer.data[self._length] = column
        return Stack(buffer, self._length + 1)

    @classmethod
    def of(cls, columns: Array) -> Stack:
        """A stack that holds a copy of these columns."""
        length = columns.shape[1]
        return cls(_Buffer(columns.T.copy(order="C"), length), length)


class _Buffer:
    def __init__(self, data: Array, used: int) -> None:
        self.data = data
        self.used = used

    def claimed(self, length: int) -> _Buffer:
        """A buffer whose next row after these is the caller's: this one, or a copy where another was first or none is left."""
        with _CLAIMING:
            if self.used == length < len(self.data):
                self.used += 1
                return self
        copy = self.copy(length)
        copy.used += 1
        return copy

    def copy(self, length: int) -> _Buffer:
        data = np.empty_like(self.data, shape=(max(8, length + length // 2), self.data.shape[1]))
        data[:length] = self.data[:length]
        return _Buffer(data, length)
