"""A matrix to which columns are appended while older views of it stay valid."""

from __future__ import annotations

from threading import Lock

import numpy as np

from askgraph.types import Array

_CLAIM_LOCK = Lock()  # one for all stacks, so that stacks can be pickled; it is held for a moment only


class ColumnStack:
    """An immutable matrix: ``push`` returns a new stack with one more column and leaves this one as it is.

    Stacks that grew from each other share one buffer: the first to append to a given length writes in place, a second
    branch copies. So a loop of t appends costs O(n t), not O(n t²).
    """

    def __init__(self, buffer: _Buffer, length: int) -> None:
        self._buffer = buffer
        self._length = length

    @classmethod
    def like(cls, column: Array) -> ColumnStack:
        """Return a stack without columns, whose columns will have the length, the type and the device of ``column``."""
        return cls(_Buffer(np.empty_like(column, shape=(0, column.size)), 0), 0)

    @property
    def array(self) -> Array:
        """The columns, of shape (rows, length), as a read-only view."""
        view = self._buffer.data[: self._length].T
        if isinstance(view, np.ndarray):
            view.flags.writeable = False
        return view

    def push(self, column: Array) -> ColumnStack:
        """Return a stack of the same columns and one more."""
        buffer = self._buffer.claim(self._length)
        buffer.data[self._length] = column
        return ColumnStack(buffer, self._length + 1)

    @classmethod
    def of(cls, columns: Array) -> ColumnStack:
        """Return a stack with a copy of some columns."""
        length = columns.shape[1]
        return cls(_Buffer(columns.T.copy(order="C"), length), length)


class _Buffer:
    data: Array
    used: int

    def __init__(self, data: Array, used: int) -> None:
        self.data = data
        self.used = used

    def claim(self, length: int) -> _Buffer:
        """Return a buffer whose row ``length`` the caller may write: this one, or a copy if the row is taken or missing."""
        with _CLAIM_LOCK:
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
