"""How alike the items of a project are to some words, by the rows by which texts are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Thread

from askgraph.graph.meaning import find_words
from askgraph.graph.texts import Texts
from askgraph.support.later import remember
from askgraph.support.progress import working
from askgraph.types import Array


class Likeness:
    """How alike texts are to some words; the texts are read when this is first asked for, in a thread.

    Attributes
    ----------
    waits
        Whether who asks waits until the texts are read. A server does not: questions go on meanwhile.
    """

    waits: bool

    def __init__(self, texts: Callable[[], Sequence[str]], by_meaning: bool) -> None:
        self._texts, self._by_meaning, self.waits = texts, by_meaning, True
        self._read: Future[Texts] | None = None
        self._known: dict[str, Array] = {}

    @property
    def reading(self) -> bool:
        """Whether the texts are being read."""
        return self._read is not None and not self._read.done()

    def of(self, words: str) -> Array | None:
        """Return the cosine of each text and some words; None where nobody waits for texts that are not read yet.

        Parameters
        ----------
        words
            A few words, or a sentence.

        Returns
        -------
        array or None
            One number per text, 0 where it has nothing in common with the words.
        """
        read = self._begin()
        if not self.waits and (self.reading or read.exception() is not None):
            return None
        if words not in self._known:
            with working("comparing texts"):
                remember(self._known, words, read.result().cosines(words))
        return self._known[words]

    def _begin(self) -> Future[Texts]:
        """Return what will hold the texts; the first call begins to read them."""
        if self._read is None:
            self._read = Future()
            Thread(target=_read, args=(self._read, self._texts(), self._by_meaning), daemon=True).start()
        return self._read


def _read(found: Future[Texts], texts: Sequence[str], by_meaning: bool) -> None:
    try:
        found.set_result(Texts(texts, find_words() if by_meaning else None))
    except BaseException as error:  # who waits hears of it
        found.set_exception(error)
