"""Notes on items, which are not answers: comments, marks to come back to an item, and reasons for an answer.

They are lines of the log of answers, so they go with their item when it is removed; a line of kind "withdraw" takes one back. None
of them counts as an answer, is taken back as a person's last one, or changes what is predicted.
"""

from __future__ import annotations

import json
from typing import Literal, Protocol
from unicodedata import normalize

from askgraph.errors import LabelError
from askgraph.support.wording import counted
from askgraph.workbench.cells import find_invisible, is_storable
from askgraph.workbench.names import check_name

NoteKind = Literal["comment", "return", "reasons", "withdraw"]
NOTES: tuple[NoteKind, ...] = ("comment", "return", "reasons", "withdraw")
MAX_COMMENT_CHARACTERS = 2000
MAX_COMMENTS = 100  # of one person on one item


class _Line(Protocol):
    """What is read here of a line of the log; see `askgraph.workbench.answers.Answer`."""

    @property
    def seq(self) -> int: ...
    @property
    def key(self) -> str: ...
    @property
    def who(self) -> str: ...
    @property
    def at(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def item(self) -> int: ...
    @property
    def undoes(self) -> int | None: ...
    @property
    def text(self) -> str | None: ...


class Notes:
    """All notes that stand; ``add`` takes the next note of the log, ``take_back`` one that does not stand anymore."""

    def __init__(self) -> None:
        # dicts are ordered: any line leaves them in one step
        self._comments: dict[int, dict[int, _Line]] = {}  # item -> line -> comment
        self._marked: dict[str, dict[int, _Line]] = {}  # who -> item -> the mark
        self._reasons: dict[int, dict[int, _Line]] = {}  # line of an answer -> line -> reasons; the last ones count

    def add(self, note: _Line) -> None:
        """Add the next note."""
        if note.kind == "comment":
            self._comments.setdefault(note.item, {})[note.seq] = note
        elif note.kind == "return":
            self._marked.setdefault(note.who, {})[note.item] = note
        else:
            self._reasons.setdefault(note.undoes or 0, {})[note.seq] = note

    def take_back(self, note: _Line) -> None:
        """Take back a note that was added."""
        if note.kind == "comment":
            del self._comments[note.item][note.seq]
        elif note.kind == "return":
            self._marked[note.who].pop(note.item, None)
        else:
            del self._reasons[note.undoes or 0][note.seq]

    def comments(self, item: int) -> list[_Line]:
        """Return the comments on an item, oldest first."""
        return list(self._comments.get(item, {}).values())

    @property
    def commented(self) -> list[int]:
        """The items that have a comment."""
        return [item for item, lines in self._comments.items() if lines]

    @property
    def reasoned(self) -> bool:
        """Whether somebody gave a reason for an answer."""
        return any(self._reasons.values())

    def mark(self, who: str, item: int) -> _Line | None:
        """Return the line by which a person marked an item to come back to; None where it is not marked."""
        return self._marked.get(who, {}).get(item)

    def marked(self, who: str) -> list[int]:
        """Return the items that a person wants to come back to, those marked first at the top."""
        return list(self._marked.get(who, {}))

    def reasons(self, answer: _Line) -> tuple[str, ...]:
        """Return the reasons that a person gave for an answer."""
        lines = self._reasons.get(answer.seq)
        return reasons_in(next(reversed(lines.values())).text) if lines else ()


def check_comment(text: str) -> str:
    """Return a comment, checked, with its lines and accents as they are stored."""
    if not isinstance(text, str):
        raise LabelError(f"{text!r} ({type(text).__name__}) is not a comment: give text")
    lines = [line.rstrip() for line in normalize("NFC", text).replace("\t", " ").splitlines()]
    whole = "\n".join(lines).strip()
    if not whole or len(whole) > MAX_COMMENT_CHARACTERS or not is_storable(whole):
        raise LabelError(f"a comment of {counted(len(whole), 'character')}: write 1 to {MAX_COMMENT_CHARACTERS:,}")
    if odd := next(filter(None, map(find_invisible, whole.split("\n"))), None):
        raise LabelError(f"a comment that holds {odd}, which nobody sees; leave it out")
    return whole


def check_reason(name: str) -> str:
    """Return the name of a reason, checked as the name of a class is; cells of a table join several by the mark ``|``."""
    if not isinstance(name, str):
        raise LabelError(f"{name!r} ({type(name).__name__}) is not a reason: give its name, as text")
    found = check_name(name, "reason")
    if "|" in found:
        raise LabelError(f"a reason called {found!r}: leave out '|', which joins reasons in tables")
    return found


def reasons_in(text: str | None) -> tuple[str, ...]:
    """Return the reasons that a line of a log holds.

    >>> reasons_in('["wrong population"]'), reasons_in(None), reasons_in("?")
    (('wrong population',), (), ())
    """
    try:
        found = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    return tuple(normalize("NFC", str(one)) for one in found) if isinstance(found, list) else ()
