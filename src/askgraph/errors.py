"""All errors that askgraph raises on purpose, as a tree.

AskgraphError
├── GraphError          the graph or the table it is built from is not usable as given
├── LabelError          a label, a class or a node that does not fit the learner
│   ├── ReusedKeyError      an answer under the key of another answer
│   └── OutdatedError       a text in place of one that its writer has not read
├── SettingError        an option with a value it cannot take
├── FileError           a file that cannot be read or written as asked
│   ├── BusyError           another program is writing to the project
│   ├── FullError           the disk is full
│   └── NewerError          a project made by a newer askgraph
├── EngineError         an engine cannot do what was asked
│   ├── ConvergenceError    a solve did not reach its tolerance
│   └── TooLargeError       an allocation beyond the memory limit, refused before it is tried
└── MissingExtraError   an optional dependency is not installed

Every message says which value or file caused it and what to do about it, in at most 500 characters. What it quotes may come
from anybody: control characters, also those that turn the direction of text, are written out, so that none reaches a terminal.
"""

from __future__ import annotations

import re

MAX_CHARACTERS = 500  # a longer message loses its middle: the beginning says where, the end what to do
END_CHARACTERS = 200
LINE_ENDS = re.compile(r"\s*\n\s*")  # arrays are quoted in many lines; a message is one
CONTROLS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)  # all but the line end, those that turn the direction of text, and halves of characters


def without_controls(text: str) -> str:
    r"""Return text that can be printed: control characters are written out.

    >>> print(without_controls("a\x1b]0;title\x07b"))
    a\x1b]0;title\x07b
    """
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class AskgraphError(Exception):
    """Any error that askgraph raises on purpose."""

    def __init__(self, message: str = "") -> None:
        said = without_controls(LINE_ENDS.sub(" ", message))
        if len(said) > MAX_CHARACTERS:
            said = f"{said[: MAX_CHARACTERS - END_CHARACTERS - 3]} … {said[-END_CHARACTERS:]}"
        super().__init__(said)


class GraphError(AskgraphError, ValueError):
    """The graph, or the table it is built from, is not usable as given."""


class LabelError(AskgraphError, ValueError):
    """A label, a class or a node does not fit the learner."""


class ReusedKeyError(LabelError):
    """An answer came under the key of another answer; it was not saved."""


class OutdatedError(LabelError):
    """A text came in place of one that somebody else wrote meanwhile; it was not saved."""


class SettingError(AskgraphError, ValueError):
    """An option has a value that it cannot take."""


class FileError(AskgraphError, ValueError):
    """A file cannot be read or written as asked."""


class BusyError(FileError):
    """Another program is writing to the project, or the project cannot be written at all."""


class FullError(FileError):
    """The disk is full; no file was left half written."""


class NewerError(FileError):
    """The project was made by a newer askgraph; it was not changed."""


class EngineError(AskgraphError, RuntimeError):
    """An engine cannot do what was asked."""


class ConvergenceError(EngineError):
    """A solve did not reach its tolerance."""


class TooLargeError(EngineError, MemoryError):
    """An allocation beyond the memory limit was refused before it was tried."""


class MissingExtraError(AskgraphError, ImportError):
    """An optional dependency is not installed; the message names the command that installs it."""
