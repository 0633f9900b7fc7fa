"""Names that people give: of classes, of themselves, and the keys under which they send answers."""

from __future__ import annotations

import uuid
from typing import Protocol, TypeVar
from unicodedata import normalize

from askgraph.errors import LabelError, ReusedKeyError
from askgraph.support.wording import counted
from askgraph.workbench.cells import find_invisible, is_storable

MAX_NAME_CHARACTERS = 200  # of a class, a person or a key; longer ones are refused


class _Keyed(Protocol):
    @property
    def key(self) -> str: ...


Line = TypeVar("Line", bound=_Keyed)


def check_name(name: str, what: str) -> str:
    """Return the name of a class or a person, or a key, as one line, its accents composed.

    Raises an error if it is empty or too long, or holds a character that nobody sees.
    """
    line = normalize("NFC", " ".join(str(name).split()))
    if not line or len(line) > MAX_NAME_CHARACTERS or not is_storable(line):
        came = f"{line[:20]!r}… of {counted(len(line), 'character')}" if len(line) > 20 else repr(line)
        raise LabelError(f"a {what} called {came}: give a name of 1 to {MAX_NAME_CHARACTERS} characters")
    if odd := find_invisible(line):
        raise LabelError(f"a {what} called {line!r} holds {odd}, which nobody sees; leave it out")
    return line


def signed(who: str, key: str | None) -> tuple[str, str]:
    """Return the name of who says something, and the key under which it is sent: a new one where there is none."""
    return check_name(who, "person"), check_name(str(uuid.uuid4()) if key is None else key, "key")


def check_sentence(text: str, longest: int) -> str:
    """Return a description as one line; raise an error if it is too long."""
    line = " ".join(str(text).split())
    if len(line) > longest or not is_storable(line):
        raise LabelError(f"a description of {counted(len(line), 'character')}: write one sentence of at most {longest}")
    return line


def check_same(seen: Line, **said: object) -> Line:
    """Return the line that a key has in the log; raise an error if somebody else sent it, or if it says something else.

    So an answer that is sent again, since its reply was lost, is saved once, and a key never stands for two answers.
    """
    if any(getattr(seen, name) != value for name, value in said.items()):
        what = type(seen).__name__.lower()
        raise ReusedKeyError(
            f"the key {seen.key!r} belongs to another {what}, so this one was not saved; send it under a new key"
        )
    return seen
