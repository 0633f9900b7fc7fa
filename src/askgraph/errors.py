"""What can go wrong, as a tree.

AskgraphError
├── GraphError          the graph or the table it is built from is not usable as given
├── LabelError          a label, a class or a node that does not fit the learner
├── SettingError        an option with a value it cannot take
├── FileError           a file that cannot be read or written as asked
│   ├── BusyError           another program is writing to the project
│   ├── FullError           there is no room left to write
│   └── NewerError          a project made by a newer askgraph
├── EngineError         an engine cannot do what was asked of it
│   ├── ConvergenceError    a solve did not reach its tolerance
│   └── TooLargeError       an allocation beyond the stated limit, refused before it is tried
└── MissingExtraError   an optional dependency is not installed

Every message says what came and what to do about it.
"""

from __future__ import annotations


class AskgraphError(Exception):
    """Any error that askgraph raises on purpose."""


class GraphError(AskgraphError, ValueError):
    """The graph, or the table it is built from, is not usable as given."""


class LabelError(AskgraphError, ValueError):
    """A label, a class or a node does not fit the learner."""


class SettingError(AskgraphError, ValueError):
    """An option has a value that it cannot take."""


class FileError(AskgraphError, ValueError):
    """A file cannot be read or written as asked."""


class BusyError(FileError):
    """Another program is writing to the project, or it cannot be written at all."""


class FullError(FileError):
    """There is no room left to write; nothing was written by halves."""


class NewerError(FileError):
    """A project made by a newer askgraph; it was left as it is."""


class EngineError(AskgraphError, RuntimeError):
    """An engine cannot do what was asked of it."""


class ConvergenceError(EngineError):
    """A solve did not reach its tolerance."""


class TooLargeError(EngineError, MemoryError):
    """An allocation beyond the stated limit, refused before it is tried."""


class MissingExtraError(AskgraphError, ImportError):
    """An optional dependency is not installed; the message names the command that installs it."""
