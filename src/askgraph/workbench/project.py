"""A project file at work: what was said, and the learner that follows it."""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.errors import FileError, LabelError, SettingError
from askgraph.field import coding
from askgraph.graph import Graph
from askgraph.graph.sources import counted, few
from askgraph.learner import Learner
from askgraph.learner.events import declared
from askgraph.learner.settings import Settings
from askgraph.types import Array
from askgraph.workbench.answers import KINDS, OPEN, Answer, Answers, Decision, Kind
from askgraph.workbench.items import Source, read_items, word, writable
from askgraph.workbench.store import RESTORE, Item, Store, sound
from askgraph.workbench.writer_lock import WriterLock

NAME = 200  # characters of a class or a person
TITLE = 80
AT_ONCE = 30  # labels from which telling them together is quicker than one after another
ABOUT = {
    **dict.fromkeys(("project", "uid"), str),
    **dict.fromkeys(("classes", "graph"), list),
    **dict.fromkeys(("fields", "settings"), dict),
    **dict.fromkeys(("seed", "overlap"), int),
}


class Predictions(NamedTuple):
    """For every item by its place: class probabilities, the column of the label that counts or is predicted, the variance."""

    classes: list[str]
    probabilities: Array
    decided: Any
    variance: Array


class Project:
    """Answers and questions of one project file.

    What people said is followed line by line (``refresh``); the learner is made when it is first needed, and follows too.
    """

    def __init__(self, store: Store) -> None:
        self.store, self.about = store, store.about
        if odd := [name for name, kind in ABOUT.items() if not isinstance(self.about.get(name), kind)]:
            raise FileError(f"{store.path}: what it says of {few(odd)} is damaged; {RESTORE}")
        self.answers = Answers(self.about["classes"])
        self._learner: Learner | None = None
        self._waiting: list[tuple[int, Decision, Decision]] = []  # decisions that the learner has not heard of
        self.refresh()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        source: Source,
        classes: Sequence[str] = (),
        images: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        seed: int = 0,
        overlap: int = 1,
    ) -> None:
        """A new project file from a table or a graph."""
        if source.image is not None and images is None:
            raise SettingError(f"column {source.image!r} names images: in which folder are they? give it with --images")
        if overlap < 1:
            raise SettingError(f"overlap={overlap}: every item needs the answer of at least one person")
        chosen, names = _known(settings or Settings()), declared([checked(name, "class") for name in classes])
        items, graph, notes = read_items(source)
        for label in set(items.labels or ()) - {None}:
            checked(str(label), "class")
        about = {
            "project": Path(path).stem,
            "uid": str(uuid.uuid4()),
            "classes": names,
            "fields": items.kinds,
            "images": None if images is None else str(Path(images).absolute()),
            "graph": [*notes, *graph.notes],
            "settings": chosen.to_json(),
            "seed": seed,
            "overlap": overlap,
        }
        Store.create(path, items, graph, about)

    @classmethod
    @contextmanager
    def open(cls, path: str | os.PathLike[str], write: bool = False) -> Iterator[Project]:
        """The project of a file; to write, this is the only one that does."""
        lock = WriterLock(path) if write else None
        if write:
            Store.open(path).close()  # says what is wrong with it, and leaves no lock beside what is no project
        if lock:
            lock.take()
        try:
            with Store.open(path, write) as store:
                yield cls(store)
        finally:
            if lock:
                lock.release()

    def refresh(self) -> int:
        """Hear what was said since; returns how many lines that was."""
        new = self.store.answers(self.answers.seq)
        for answer in new:
            self._hear(answer)
        return len(new)

    def say(
        self,
        who: str,
        item: str,
        kind: Kind,
        label: str | None = None,
        seconds: float | None = None,
        key: str | None = None,
    ) -> Answer:
        """One answer of a person: a label, or that it should be asked later, cannot be told, or is no valid item."""
        return self.say_all(who, [(item, kind, label)], seconds, key)[0]

    def say_all(
        self,
        who: str,
        said: Iterable[tuple[str, Kind, str | None]],
        seconds: float | None = None,
        key: str | None = None,
    ) -> list[Answer]:
        """Many answers of a person, all or none; a key seen before writes nothing and returns what was written then."""
        who, key = checked(who, "person"), checked(key or str(uuid.uuid4()), "key")
        if seconds is not None and not 0 <= seconds < math.inf:
            raise LabelError(f"seconds={seconds}: give how long the answer took, 0 or more, or nothing")
        new = [
            Answer(0, f"{key}:{k}" if k else key, who, "", kind, self.place(item), self._checked(kind, label), seconds)
            for k, (item, kind, label) in enumerate(said)
        ]
        return self._write(new)

    def undo(self, who: str, key: str | None = None) -> Answer | None:
        """Take back this person's last answer that stands; returns it, or None when there is none."""
        who, key = checked(who, "person"), checked(key or str(uuid.uuid4()), "key")
        if (seen := self.store.logged(key)) is None:
            last = self.answers.last(who)
            if last is None:
                return None
            (seen,) = self._write([Answer(0, key, who, "", "undo", last.item, undoes=last.seq)])
        return self.answers.log.get(seen.undoes or 0)

    def place(self, id: str) -> int:
        """Where an item is in the graph."""
        found = self.store.place(word(id) or "")
        if found is None:
            raise LabelError(f"no item {id!r}; ids are those of the table, askgraph ask shows some")
        return found

    def item(self, place: int) -> Item:
        """One item."""
        return self.store.items([place])[0]

    def title(self, item: Item) -> str:
        """A short line that stands for an item: its first text, else its numbers, else its id."""
        kinds = {name: kind for name, kind in self.about["fields"].items() if name in item.fields}
        texts = (str(item.fields[name]) for name, kind in kinds.items() if kind == "text")
        numbers = ", ".join(f"{name} {item.fields[name]}" for name, kind in kinds.items() if kind == "number")
        line = " ".join((next(texts, "") or numbers).split()) or item.id
        return line if len(line) <= TITLE else line[: TITLE - 1] + "…"

    @cached_property
    def n_items(self) -> int:
        """How many items."""
        return self.store.n_items

    @cached_property
    def graph(self) -> Graph:
        """The graph, by the items' places."""
        return self.store.graph()

    @property
    def learner(self) -> Learner:
        """The learner after everything said so far."""
        if self._learner is None:
            self._learner, self._waiting = self._fresh(), []
        if len(self._waiting) > AT_ONCE:
            self._catch_up(self._learner)
        while self._waiting:
            _follow(self._learner, *self._waiting[0])
            self._waiting.pop(0)
        return self._learner

    def _catch_up(self, learner: Learner) -> None:
        """Many labels came at once: told together, they cost as much as a few."""
        first = {item: before for item, before, _ in reversed(self._waiting)}
        told = {
            item: self.answers.labels[item] for item in first if item in self.answers.labels and not first[item].label
        }
        learner.tell_all(told)
        rest = {item: before for item, before in first.items() if item not in told}
        self._waiting = [(item, before, self.answers.decision(item)) for item, before in rest.items()]

    def _fresh(self) -> Learner:
        with sound(self.store.path):
            settings, classes = _known(Settings.from_json(self.about["settings"])), self.answers.declared
        learner = Learner(self.graph, **vars(settings), rng=self.about["seed"], classes=classes)
        if self.answers.labels:
            learner.tell_all(self.answers.labels)
        for item in self.answers.aside:
            learner.skip(item)
        return learner

    def ask(self, n: int = 1) -> list[int]:
        """The places of up to n items to label next; those to be asked later come when nothing else is left."""
        asked = [place for place in self.learner.ask(n) if isinstance(place, int)]
        return asked or [item for item, why in self.answers.aside.items() if why == "later"][:n]

    def open_at(self, place: int) -> bool:
        """Whether nothing counts for this item yet."""
        return self.answers.decision(place) == OPEN

    @property
    def finished(self) -> str | None:
        """Why there is nothing to ask, or None."""
        labels, aside = len(self.answers.labels), self.answers.aside
        if labels + len(aside) < self.n_items or "later" in aside.values():
            return None
        set_aside = f" or set aside ({len(aside)} of them)" if aside else ""
        return f"finished: every item is labeled{set_aside}"

    def alternatives(self, n: int) -> list[int]:
        """The places of up to n items for several people at once."""
        return [place for place in self.learner.alternatives(n) if isinstance(place, int)]

    def predictions(self) -> Predictions:
        """What every item is, as far as we can tell; labels that were given stay as they are."""
        learner, names = self.learner, self.answers.classes  # in the order of the log: the same after a restart
        order = [learner.classes.index(name) for name in names]
        p = learner.probabilities()[:, order] if names else np.empty((self.graph.n_nodes, 0))
        decided = coding.decide(p) if names else np.full(len(p), -1)
        field = learner.field
        return Predictions(names, p, decided, field.prior.gather(field.spread.variance))

    def _hear(self, answer: Answer) -> None:
        before, after = self.answers.add(answer)
        if before != after:
            self._waiting.append((answer.item, before, after))

    def _write(self, new: list[Answer]) -> list[Answer]:
        written = self.store.append(new)
        self.refresh()
        return written

    def _checked(self, kind: str, label: str | None) -> str | None:
        if kind not in KINDS:
            raise LabelError(f"an answer of kind {kind!r}: choose {', '.join(KINDS)}")
        if (kind == "label") != (label is not None):
            raise LabelError(
                f"an answer of kind {kind!r} " + ("needs a label" if kind == "label" else "takes no label")
            )
        return None if label is None else checked(label, "class")


def _follow(learner: Learner, item: int, before: Decision, after: Decision) -> None:
    """Tell the learner that something else counts for an item now."""
    if before.label is not None and after.label is not None:
        learner.relabel(item, after.label)
    elif after.label is not None:
        learner.tell(item, after.label)
    elif (before == OPEN) != (after == OPEN) or before.label is not None:
        if before != OPEN:
            learner.retract(item)
        if after.aside is not None:
            learner.skip(item)


def _known(settings: Settings) -> Settings:
    """Refuse a sampler or a readout that there is not, before a file asks for it."""
    _ = settings.criterion, settings.decide
    return settings


def checked(name: str, what: str) -> str:
    """The name of a class or a person, or a key: one short line."""
    line = " ".join(str(name).split())
    if not line or len(line) > NAME or not writable(line):
        came = f"{line[:20]!r}… of {counted(len(line), 'character')}" if len(line) > 20 else repr(line)
        raise LabelError(f"a {what} called {came}: give a name of 1 to {NAME} characters")
    return line
