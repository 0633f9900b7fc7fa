"""A project file in use: its answers, and the learner that follows them."""

from __future__ import annotations

import os
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np

from askgraph.answers import coding
from askgraph.answers.plain import declared_classes
from askgraph.errors import FileError, LabelError, OutdatedError, ReusedKeyError, SettingError
from askgraph.graph import Graph
from askgraph.io.annotations import Annotated, Annotation, read_annotated
from askgraph.io.text import FilePath
from askgraph.learner import Learner
from askgraph.learner.settings import Settings
from askgraph.plan import Question
from askgraph.plan.chance import SPOT_CHECK
from askgraph.support.arguments import file_path, listed, whole_number
from askgraph.support.notebook import card, tally
from askgraph.support.wording import counted, few, nearest
from askgraph.types import Array
from askgraph.workbench.answers import HOWS, KINDS, OPEN, Answer, Answers, How, Kind
from askgraph.workbench.backup_files import restore_advice
from askgraph.workbench.cells import find_invisible, is_storable, one_line, one_name, readable
from askgraph.workbench.classes import MAX_DESCRIPTION_CHARACTERS, Change, ChangeKind
from askgraph.workbench.columns import is_date, is_name
from askgraph.workbench.database import reporting_damage
from askgraph.workbench.follower import Follower, Untold
from askgraph.workbench.items import MAX_SHOWN_FEATURES, read_items
from askgraph.workbench.source import Source
from askgraph.workbench.store import Item, Store
from askgraph.workbench.suggesting import Suggested, read_suggestions
from askgraph.workbench.writer_lock import WriterLock

MAX_NAME_CHARACTERS = 200  # of a class, a person or a key; longer ones are refused
MAX_GUIDELINES_CHARACTERS = 100_000
MAX_UNKNOWN = 20  # labels that are not classes: more are counted, not named
TARGET_ERROR, MIN_TARGET, MAX_TARGET = 0.05, 0.001, 0.5  # the share of wrong predictions to aim at, and what it may be
NAMING = {
    "title",
    "name",
    "headline",
    "heading",
    "subject",
    "titel",
    "überschrift",
    "betreff",
}  # columns that name items
NAMING_SAMPLE = 100  # items looked at for a column of names
MAX_TITLE_CHARACTERS = 80  # of an item in a list; longer titles are cut
SPOT_CHECKS = 8  # every how many questions one is a spot check, unless the settings of a new project say otherwise
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.Z+-]{0,24}$")  # a time as other tools write it
ABOUT_TYPES: dict[str, type] = {
    **dict.fromkeys(("project", "uid"), str),
    **dict.fromkeys(("classes", "graph", "hidden", "compared"), list),
    **dict.fromkeys(("fields", "settings"), dict),
    **dict.fromkeys(("seed", "overlap"), int),
}


class Predictions(NamedTuple):
    """One row per item: class probabilities, the column of the given or predicted label (−1 for none), the variance."""

    classes: list[str]
    probabilities: Array
    decided: Any
    variance: Array


class Project:
    """The answers and questions of one project file.

    Make a file with :meth:`create` and open it with :meth:`open`. The log of answers is read line by line
    (:meth:`refresh`); the learner is made when it is first needed, and told what changed.

    Attributes
    ----------
    store
        The open file.
    about
        Settings of the project: its name, classes, fields, images, graph, learner settings, seed and overlap.
    answers
        All answers so far, and the labels that count.

    Examples
    --------
    >>> import askgraph as ag
    >>> from askgraph.workbench.source import Source
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ag.Graph.from_edges([("ann", "bob"), ("bob", "cy"), ("cy", "di")]).save(f"{folder}/friends.npz")
    ...     Project.create(f"{folder}/teams.ask", Source(graph=f"{folder}/friends.npz"), classes=["red", "blue"])
    ...     with Project.open(f"{folder}/teams.ask", write=True) as project:
    ...         for name, team in (("ann", "red"), ("di", "blue")):
    ...             answer = project.say("me", name, "label", team)
    ...         predicted = project.predictions()
    >>> [predicted.classes[at] for at in predicted.decided]
    ['red', 'red', 'blue', 'blue']
    """

    store: Store
    about: dict[str, Any]
    answers: Answers

    def __init__(self, store: Store) -> None:
        self.store, self.about = store, store.about
        given = {"hidden": [], "compared": [], **self.about}  # projects of earlier versions do not say these
        if odd := [name for name, kind in ABOUT_TYPES.items() if not isinstance(given.get(name), kind)]:
            raise FileError(f"{store.path}: its entry {few(odd)} is damaged; {restore_advice(store.path)}")
        with reporting_damage(store.path):
            declared_classes(self.about["classes"])  # raises an error for what are not classes
            declared = [normalize("NFC", name) for name in self.about["classes"]]
            self.answers = Answers(declared or self._suggested_classes())
        self._follower = Follower(store, self.about, self.answers)
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
        suggestions: Sequence[FilePath] = (),
    ) -> None:
        """Make a new project file from a table or a graph.

        Parameters
        ----------
        path
            The new file; an existing one is never overwritten.
        source
            Where items come from and what joins them.
        classes
            Classes to declare; others can be added at any time.
        images
            The folder of the images that ``source.image`` names; by default the one that ``source`` says.
        settings
            Settings of the learner.
        seed
            The seed of all random choices.
        overlap
            The number of people who should label each item.
        suggestions
            Files with what models suggest, as in :meth:`suggest`.
        """
        overlap, seed = whole_number(overlap, "overlap", 1), whole_number(seed, "seed")
        if settings is not None and not isinstance(settings, Settings):
            raise SettingError(
                f"a {type(settings).__name__} is not Settings: make them with askgraph.learner.settings.Settings.of"
            )
        chosen, names = (
            settings or Settings.of(spot_checks=SPOT_CHECKS),
            declared_classes([check_name(name, "class") for name in listed(classes, "classes")]),
        )
        items, graph, notes = read_items(source if images is None else replace(source, images=images))
        for label in set(items.labels or ()) - {None}:
            check_name(str(label), "class")
        places, imported = {id: k for k, id in enumerate(items.ids)}, [name for name in items.labels or () if name]
        given = names or sorted(set(imported))
        read = [
            read_suggestions(file_path(file), places, list(map(str, given)), items.columns.get("id"))
            for file in suggestions
        ]
        suggested = [one for found, _ in read for one in found]
        came = _annotations_of(source.table)
        said = [_imported(k, one) for k, one in enumerate(came.answers)]
        suggested += [Suggested(*one) for one in came.guesses]
        about = {
            "project": Path(path).stem,
            "uid": str(uuid.uuid4()),
            "classes": names,
            "fields": items.kinds,
            "hidden": list(items.hidden),
            "compared": list(items.compared),
            "images": items.folder,
            "source": items.columns,
            "read": [*items.notes, *(line for _, left in read for line in left)],
            "graph": [*notes, *graph.notes],
            "settings": chosen.to_json(),
            "seed": seed,
            "overlap": overlap,
        }
        Store.create(path, items, graph, about)
        if suggested or said:
            with cls.open(path, write=True) as project:
                project.store.append(said)
                project.store.suggest(suggested)

    @classmethod
    @contextmanager
    def open(cls, path: str | os.PathLike[str], write: bool = False) -> Iterator[Project]:
        """Open a project file, as a context manager.

        Parameters
        ----------
        path
            The file.
        write
            Open it to save answers. Only one program can at a time; another one gets a ``BusyError``.

        Yields
        ------
        Project
            The project, until the block ends.
        """
        path = file_path(path)
        lock = WriterLock(path) if write else None
        if write:
            Store.open(path).close()  # reports a bad file before a lock file is made beside it
        if lock:
            lock.take()
        try:
            with Store.open(path, write) as store:
                yield cls(store)
        finally:
            if lock:
                lock.release()

    def refresh(self) -> int:
        """Read the answers that were saved since the last call.

        Returns
        -------
        int
            The number of new lines of the log.
        """
        new, changes = self.store.news(self.answers.seq, self.answers.changes)
        for answer in new:
            while changes and changes[0].answers < answer.seq:
                self._change(changes.pop(0))
            self._add(answer)
        for change in changes:
            self._change(change)
        return len(new)

    def say(
        self,
        who: str,
        item: str,
        kind: Kind,
        label: str | None = None,
        seconds: float | None = None,
        key: str | None = None,
        predicted: str | None = None,
        how: How | None = None,
    ) -> Answer:
        """Save one answer of a person.

        Parameters
        ----------
        who
            The name of the person.
        item
            The id of the item.
        kind
            "label", or a reason to set the item aside: "later", "cannot" (tell) or "invalid".
        label
            The label, for an answer of kind "label" only.
        seconds
            How long the answer took.
        key
            A unique text: an answer whose key is in the log already is not saved again.
        predicted
            What was predicted for the item before, where it was drawn at random: a spot check. One that :meth:`ask` of
            this object drew is known as such without it.
        how
            "review" for an answer on a second look.

        Returns
        -------
        Answer
            The line of the log.
        """
        if predicted is None and isinstance(kind, str) and kind == "label":
            predicted = self._foretold(item)
        return self.say_all(who, [(item, kind, label)], seconds, key, predicted, how)[0]

    def say_all(
        self,
        who: str,
        said: Iterable[tuple[str, Kind, str | None]],
        seconds: float | None = None,
        key: str | None = None,
        predicted: str | None = None,
        how: How | None = None,
    ) -> list[Answer]:
        """Save several answers of a person, all or none.

        Exact copies of an item take its answer, each with a line of its own, unless somebody has answered the copy itself.

        Parameters
        ----------
        who
            The name of the person.
        said
            One (item, kind, label) per answer, as in :meth:`say`.
        seconds
            How long each answer took.
        key
            A unique text: answers whose key is in the log already are not saved again.
        predicted
            What was predicted for each item before, where they are spot checks.
        how
            "map", "table" or "group" for answers to many items in one step, which one undo takes back: those selected on the
            map or in the table, or a group that look alike. "review" for a second look.

        Returns
        -------
        list of Answer
            The lines of the log, without those of copies; for a known key, the lines that were written then.
        """
        who, key = check_name(who, "person"), check_name(str(uuid.uuid4()) if key is None else key, "key")
        if seconds is not None and not (isinstance(seconds, int | float | np.number) and 0 <= seconds < 1e9):
            raise LabelError(f"seconds={seconds!r}: give how long the answer took, 0 or more, or leave it out")
        if how is not None and how not in HOWS:
            raise LabelError(f"how={how!r}: choose {', '.join(HOWS)}, or leave it out for answers given one by one")
        new = [
            Answer(0, f"{key}:{k}" if k else key, who, "", kind, place, label, seconds, predicted=predicted, how=how)
            for k, (place, kind, label) in enumerate(self.check(said))
        ]
        copies = [] if self.store.logged(key) else self._copied(new)
        return self._write([*new, *copies])[: len(new)]

    def check(self, said: Iterable[tuple[str, Kind, str | None]]) -> list[tuple[int, Kind, str | None]]:
        """Check answers without saving any; raise an error for all unknown items, else for the first that could not be saved.

        Parameters
        ----------
        said
            One (item, kind, label) per answer, as in :meth:`say`.

        Returns
        -------
        list of tuple
            One (place, kind, label) per answer.
        """
        answers = listed(said, "answers", LabelError)
        if odd := [answer for answer in answers if not isinstance(answer, tuple | list) or len(answer) != 3]:
            raise LabelError(f"{odd[0]!r} is not an answer: give (item, kind, label)")
        places = self._places([item for item, _, _ in answers])
        return [
            (place, kind, self._check_label(kind, label))
            for place, (_, kind, label) in zip(places, answers, strict=True)
        ]

    def check_classes(self, labels: Iterable[str]) -> None:
        """Raise an error that names labels which are not classes, each with the class that it is most like.

        A former name of a class is one of its names. A project without classes takes any label: the first makes a class.

        Parameters
        ----------
        labels
            Names of classes.
        """
        classes, naming = self.answers.classes, self.answers.naming
        names = [self._check_class(label) for label in dict.fromkeys(labels)]
        if odd := [name for name in names if classes and naming.meant(name) not in classes]:
            raise LabelError(_unknown(list(dict.fromkeys(odd)), classes))

    def undo(self, who: str, key: str | None = None) -> Answer | None:
        """Take back the last answer of a person that was not taken back yet, with all that were given in the same step.

        Parameters
        ----------
        who
            The name of the person.
        key
            A unique text: an undo whose key is in the log already is not saved again.

        Returns
        -------
        Answer or None
            The answer that was taken back; None if there is none.
        """
        who, key = check_name(who, "person"), check_name(str(uuid.uuid4()) if key is None else key, "key")
        seen = self.store.logged(key)
        if seen is not None and (seen.kind, seen.who) != ("undo", who):
            raise ReusedKeyError(f"the key {key!r} belongs to another answer, so nothing was taken back; use a new key")
        if seen is None:
            together = self.answers.last_together(who)
            if not together:
                return None
            seen = self._write(
                [
                    Answer(0, f"{key}:{k}" if k else key, who, "", "undo", one.item, undoes=one.seq)
                    for k, one in enumerate(together)
                ]
            )[0]
        return self.answers.log.get(seen.undoes or 0)

    def change(
        self, who: str, kind: ChangeKind, name: str | None = None, value: str | None = None, key: str | None = None
    ) -> Change:
        """Change a class: a line in the log of changes, which :meth:`undo_change` can take back.

        Parameters
        ----------
        who
            The name of the person.
        kind
            "add" a class; "rename" it to ``value``; "merge" it into the class ``value``; "describe" it by the sentence
            ``value``; give it the "key" ``value``, or none; "order" all classes, ``value`` being their names as JSON;
            "find" all of its items, that is, ask for those most likely in it.
        name
            The class. To "find", None asks for every class again; while no item of the class is known, or none of another
            class, questions are chosen as usual.
        value
            What it gets.
        key
            A unique text: a change whose key is in the log already is not made again.

        Returns
        -------
        Change
            The line of the log.
        """
        who, key = check_name(who, "person"), check_name(str(uuid.uuid4()) if key is None else key, "key")
        name = None if name is None else self._check_class(name)
        if not isinstance(kind, str) or not isinstance(value, str | None):
            raise LabelError(f"a change of kind {kind!r} to {value!r}: give both as text")
        if kind in ("rename", "merge"):
            value = self._check_class(value or "")
        elif kind == "order":
            value = normalize("NFC", value or "")
        elif kind == "describe":
            value = check_sentence(value or "", MAX_DESCRIPTION_CHARACTERS)
        if self.store.changed(key) is None:
            self.answers.naming.check(kind, name, value, self.answers.classes)
        return self._write_change(Change(0, key, who, "", 0, kind, name, value))

    def undo_change(self, who: str, seq: int | None = None, key: str | None = None) -> Change | None:
        """Take back a change of classes.

        Parameters
        ----------
        who
            The name of the person who takes it back.
        seq
            The line of the change; by default the last one of this person that was not taken back.
        key
            A unique text: an undo whose key is in the log already is not made again.

        Returns
        -------
        Change or None
            The change that was taken back; None if there is none.
        """
        who, key = check_name(who, "person"), check_name(str(uuid.uuid4()) if key is None else key, "key")
        naming = self.answers.naming
        if (seen := self.store.changed(key)) is not None:
            if (seen.kind, seen.who) != ("undo", who):
                raise ReusedKeyError(f"the key {key!r} belongs to another change; use a new key")
            return naming.log.get(seen.undoes or 0)
        seq = None if seq is None else whole_number(seq, "seq", 1)
        found = naming.last(who) if seq is None else next((c for c in naming.standing if c.seq == seq), None)
        if found is None and seq is not None:
            raise LabelError(f"no change {seq} that could be taken back; askgraph classes history lists them")
        if found is not None:
            self._write_change(Change(0, key, who, "", 0, "undo", undoes=found.seq))
        return found

    def write_guidelines(self, who: str, text: str, key: str | None = None, read: int | None = None) -> Change:
        """Save a new version of the guidelines; those before stay in the log.

        Parameters
        ----------
        who
            The name of the person.
        text
            The guidelines, as Markdown.
        key
            A unique text: a version whose key is in the log already is not saved again.
        read
            The version that was read before writing this one, 0 if there was none: if there is a newer one by now, nothing
            is saved and an ``OutdatedError`` says so. By default the text replaces whatever there is.

        Returns
        -------
        Change
            The line of the log.
        """
        who, key = check_name(who, "person"), check_name(str(uuid.uuid4()) if key is None else key, "key")
        read = None if read is None else whole_number(read, "read", 0)
        if not isinstance(text, str) or not is_storable(text) or len(text) > MAX_GUIDELINES_CHARACTERS:
            raise LabelError(f"guidelines are a text of at most {MAX_GUIDELINES_CHARACTERS:,} characters")
        if read is not None and self.store.changed(key) is None:
            self._check_read(read)
        return self._write_change(Change(0, key, who, "", 0, "guidelines", None, text.replace("\r\n", "\n")))

    def _check_read(self, read: int) -> None:
        """Raise an error if a version of the guidelines is not the last one."""
        versions = self.answers.guidelines
        if read > len(versions):
            raise LabelError(f"version {read} of the guidelines was not read: the last one is {len(versions)}")
        if read < len(versions):
            raise OutdatedError(
                f"{versions[-1].who!r} saved version {len(versions)} of the guidelines after version {read} was read, so this "
                "text was not saved; read the new version, then save yours"
            )

    @property
    def guidelines(self) -> tuple[int, str]:
        """The version of the guidelines, from 1, and their text; 0 and an empty text if there are none."""
        versions = self.answers.guidelines
        return len(versions), (versions[-1].value or "") if versions else ""

    @cached_property
    def copies(self) -> dict[int, list[int]]:
        """The places of the exact copies of each item that has some: the same image and fields, but for those that are unseen.

        Items whose ids are names are never copies: people label them by their names.
        """
        alike = [] if self._ids_are_names else self.store.same(self.unseen)
        return {place: [other for other in same if other != place] for same in alike for place in same}

    def suggest(self, file: FilePath, sheet: str | None = None, encoding: str | None = None) -> list[str]:
        """Add what models suggest; see :meth:`askgraph.Learner.suggest`.

        Parameters
        ----------
        file
            A csv, tsv, xlsx, ods, jsonl or parquet file with the columns item (or id, or the name of the column that the ids of the
            project come from) and label, and perhaps score (from 0 to 1) and source; by default the source is the name of
            the file. While the project has no classes, those suggested become its classes; after that, a row whose label is
            not a class is left out, as is one whose item is unknown. If no row fits, that is an error.
        sheet
            The sheet of a spreadsheet; by default the first.
        encoding
            The encoding of text, such as "windows-1252"; by default it is found out.

        Returns
        -------
        list of str
            One line per source: how many suggestions it has, and how good they are by the labels so far. Then one line per
            reason for which rows were left out.
        """
        places = {id: k for k, id in enumerate(self.store.ids())}
        new, left = read_suggestions(
            file_path(file), places, self.answers.classes, self.columns.get("id"), sheet, encoding
        )
        self.store.suggest(new)
        if not self.answers.classes:
            self.answers = self._follower.answers = Answers(self._suggested_classes())
            self.refresh()
        self._follower.forget()
        return [*(str(source) for source in self.learner.guesses.sources), *left]

    def _suggested_classes(self) -> list[str]:
        return sorted({one.label for one in self.store.suggestions()})

    def _copied(self, new: Sequence[Answer]) -> list[Answer]:
        """Return the answers that exact copies of these items take: those that nobody has answered themselves."""
        taken, found = {answer.item for answer in new}, []
        for answer in new:
            for place in self.copies.get(answer.item, ()) if answer.kind != "later" else ():
                own = [a for a in self.answers.of(place).values() if a.how != "copy" and a.kind != "later"]
                if place not in taken and not own:
                    taken.add(place)
                    key = f"{answer.key}:copy{place}"
                    found.append(answer._replace(key=key, item=place, seconds=None, predicted=None, how="copy"))
        return found

    def place(self, id: str) -> int:
        """Return the place of an item: its row number from 0, which is its node in the graph.

        Parameters
        ----------
        id
            The id of the item.

        Returns
        -------
        int
            The place.
        """
        return self._places([id])[0]

    def _places(self, ids: Sequence[str]) -> list[int]:
        found = [self.store.place(one_line(id) or "") for id in ids]
        if unknown := [id for id, place in zip(ids, found, strict=True) if place is None]:
            raise LabelError(f"no item {few(unknown)}; ids come from the table, and askgraph ask shows some")
        return [place for place in found if place is not None]

    def search(self, text: str) -> list[int]:
        """Find the items that hold a text in their id or in a field, but for fields that are kept for exports alone.

        Parameters
        ----------
        text
            The text; upper and lower case are the same.

        Returns
        -------
        list of int
            The places of the items.
        """
        return self.store.search(text, self.unseen)

    def item(self, place: int) -> Item:
        """Return one item.

        Parameters
        ----------
        place
            The place of the item.

        Returns
        -------
        Item
            The item.
        """
        return self.store.items([whole_number(place, "place", 0, self.n_items - 1)])[0]

    def title(self, item: Item) -> str:
        """Return a short line that stands for an item: its name, else its first text, else its numbers, else its id.

        The id is the name where it comes from a column of names.

        Parameters
        ----------
        item
            The item.

        Returns
        -------
        str
            One line of at most 80 characters.
        """
        kinds = {name: kind for name, kind in self.shown.items() if name in item.fields}
        texts = (
            str(item.fields[name]) for name, kind in kinds.items() if kind == "text" and not is_date(item.fields[name])
        )
        numbers = ", ".join(f"{name} {item.fields[name]}" for name, kind in kinds.items() if kind == "number")
        named = item.id if self.named_by_id else item.fields.get(self.naming_field or "")
        line = " ".join(readable(str(named or next(texts, "") or numbers)).split()) or item.id
        return line if len(line) <= MAX_TITLE_CHARACTERS else line[: MAX_TITLE_CHARACTERS - 1] + "…"

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that items came from: of ids, images and labels, and those they are compared by; {} if not known."""
        found = self.about.get("source")
        return found if isinstance(found, dict) else {}

    @property
    def target(self) -> float:
        """The share of wrong predictions at or below which there are enough labels."""
        given = self.about.get("target", TARGET_ERROR)
        return float(given) if isinstance(given, int | float) and MIN_TARGET <= given <= MAX_TARGET else TARGET_ERROR

    @target.setter
    def target(self, share: float) -> None:
        if not MIN_TARGET <= share <= MAX_TARGET:
            raise SettingError(
                f"a target of {share:g}: give a share of wrong predictions from {MIN_TARGET} to {MAX_TARGET}"
            )
        self.store.note("target", share)
        self.about["target"] = share

    @cached_property
    def shown(self) -> dict[str, str]:
        """The fields that people see, and the kind of each; of a project of an earlier version, not dozens of numbers."""
        fields: dict[str, str] = self.about["fields"]
        numbers = [name for name, kind in fields.items() if kind == "number"]
        hidden = set(self.about.get("hidden", numbers if len(numbers) > MAX_SHOWN_FEATURES else ()))
        return {name: kind for name, kind in fields.items() if name not in hidden}

    @cached_property
    def unseen(self) -> set[str]:
        """The fields that are kept for exports alone: neither shown nor compared, as labels that were there."""
        return set(self.about.get("hidden", ())) - set(self.about.get("compared", ()))

    @cached_property
    def naming_field(self) -> str | None:
        """The field that names the items: one called title, name or the like, else short texts that all differ; or None.

        None too where ids come from a column of names, which the page shows.
        """
        texts = [name for name, kind in self.shown.items() if kind == "text"]
        some = self.store.items(range(min(self.n_items, NAMING_SAMPLE)))
        called = (name for name in texts if name.casefold() in NAMING)
        distinct = (name for name in texts if _are_names([str(item.fields.get(name, "")) for item in some]))
        return next(called, None) or (None if self._ids_are_names else next(distinct, None))

    @property
    def _ids_are_names(self) -> bool:
        column = self.columns.get("id")
        return isinstance(column, str) and is_name(column)

    @property
    def named_by_id(self) -> bool:
        """Whether items are known by their ids, which come from a column of names."""
        return self._ids_are_names and self.naming_field is None

    def _repr_html_(self) -> str:
        """Return a card for notebooks."""
        answers, told = self.answers, Counter(self.answers.labels.values())
        rows: dict[str, object] = {
            "file": self.store.path,
            "items": f"{self.n_items:,}",
            "labels": f"{len(answers.labels):,}",
        }
        rows["classes"] = tally(answers.classes, told)
        rows |= {"set aside": len(answers.aside)} if answers.aside else {}
        rows |= {"answers": tally(answers.people, answers.people)} if answers.people else {}
        return card(f"Project {self.about['project']}", rows | ({"finished": self.finished} if self.finished else {}))

    @cached_property
    def n_items(self) -> int:
        """The number of items."""
        return self.store.n_items

    @property
    def graph(self) -> Graph:
        """The graph over the items; node k is the item at place k."""
        return self._follower.graph

    @property
    def learner(self) -> Learner:
        """The learner, after all answers that were read."""
        return self._follower.learner

    def _foretold(self, item: str) -> str | None:
        """Return what is predicted for an item that the learner here has just asked for as a spot check; else None."""
        learner = self._follower.caught_up
        if learner is None or not learner.classes:
            return None
        (asked,) = self.questions(1) or (None,)
        here = asked is not None and asked.by == SPOT_CHECK and asked.node == self.place(item)
        return None if not here or asked is None or asked.predicted is None else str(asked.predicted)

    def ask(self, n: int = 1) -> list[int]:
        """Choose the items to label next; items put off with "later" come when nothing else is left.

        Parameters
        ----------
        n
            The number of items, chosen to be labeled together.

        Returns
        -------
        list of int
            Up to n places of items.
        """
        asked = [question.node for question in self.questions(whole_number(n, "n", 1))]
        return asked or [item for item, why in self.answers.aside.items() if why == "later"][:n]

    def questions(self, n: int, at_once: bool = False) -> list[Question]:
        """Choose the questions to ask next, each with the rule that asks it and what is predicted.

        Parameters
        ----------
        n
            The number of questions.
        at_once
            Whether they are for several people who label at the same time: one pass over the scores chooses them.

        Returns
        -------
        list of Question
            Up to n questions, by the places of items.
        """
        plan = self.learner.plan.finding(self.sought) if self._searches else None
        return self.learner.question(n, plan=plan, batch="now" if at_once else None)

    def open_at(self, place: int) -> bool:
        """Return whether the item at this place has no label and is not set aside.

        Parameters
        ----------
        place
            The place of the item.

        Returns
        -------
        bool
            True if it has no label and is not set aside.
        """
        return self.answers.decision(whole_number(place, "place", 0, self.n_items - 1)) == OPEN

    def count_answered(self, labels_only: bool = False) -> int:
        """Return the number of items that somebody has answered; not those that are only put off until later.

        Parameters
        ----------
        labels_only
            Count those that somebody gave a label, and not those that nobody could tell.

        Returns
        -------
        int
            The number of items.
        """
        kinds = ("label",) if labels_only else ("label", "cannot", "invalid")
        said = (self.answers.of(place).values() for place in range(self.n_items))
        return sum(any(answer.kind in kinds for answer in answers) for answers in said)

    @property
    def left(self) -> int:
        """The number of items that can still be asked for: without a label, and not set aside but for later."""
        aside = sum(why != "later" for why in self.answers.aside.values())
        return self.n_items - len(self.answers.labels) - aside

    @property
    def finished(self) -> str | None:
        """The sentence that says why there is nothing left to ask; None while there is."""
        aside = self.answers.aside
        if self.left:
            return None
        set_aside = f" or set aside ({len(aside)} of them)" if aside else ""
        return f"finished: every item is labeled{set_aside}"

    def alternatives(self, n: int) -> list[int]:
        """Choose different items for several people who label at the same time.

        Parameters
        ----------
        n
            The number of items.

        Returns
        -------
        list of int
            Up to n places of items.
        """
        return [question.node for question in self.questions(n, at_once=True)]

    @property
    def sought(self) -> str | None:
        """The class all of whose items are to be found, by the name that it has now; None if every class is asked for."""
        return self.answers.naming.sought

    @property
    def _searches(self) -> bool:
        """Whether questions are the likeliest items of the class sought: an item of it and one of another class are known."""
        known = set(self.answers.labels.values()) if self.sought is not None else ()
        return self.sought in known and len(known) > 1

    def predictions(self) -> Predictions:
        """Predict the label of every item; given labels stay as they are.

        Returns
        -------
        Predictions
            Classes, probabilities, decided labels and variances, one row per item.
        """
        learner, names = (
            self.learner,
            self.answers.classes,
        )  # in the order of the log, so that a restart does not change it
        order = [learner.classes.index(name) for name in names]
        p = learner.probabilities()[:, order] if names else np.empty((self.graph.n_nodes, 0))
        decided = coding.decide(p) if names else np.full(len(p), -1)
        field = learner.field
        return Predictions(names, p, decided, field.space.gather(field.spread.variance))

    def _add(self, answer: Answer) -> None:
        before, after = self.answers.add(answer)
        if before != after:
            self._follower.untold.append(Untold(answer.item, before, after))

    def _change(self, change: Change) -> None:
        if self.answers.add_change(change) or change.kind in ("add", "undo", "rename", "merge"):
            self._follower.forget()

    def _write(self, new: list[Answer]) -> list[Answer]:
        written = self.store.append(new)
        self.refresh()
        return written

    def _write_change(self, new: Change) -> Change:
        written = self.store.append_change(new)
        self.refresh()
        return written

    def _check_label(self, kind: str, label: str | None) -> str | None:
        if not isinstance(kind, str) or kind not in KINDS:
            raise LabelError(f"an answer of kind {kind!r}: choose {', '.join(KINDS)}")
        if (kind == "label") != (label is not None):
            raise LabelError(
                f"an answer of kind {kind!r} " + ("needs a label" if kind == "label" else "takes no label")
            )
        return None if label is None else self._check_class(label)

    def _check_class(self, name: str) -> str:
        """Return the name of a class, checked, or as it is if there is such a class, as in projects of earlier versions."""
        try:
            return check_name(name, "class")
        except LabelError:
            if (known := one_name(name)) is not None and known in self.answers.classes:
                return known
            raise


def _annotations_of(table: FilePath | None) -> Annotated:
    """Return the answers and guesses that come with the items of a JSON file; none for other tables."""
    if table is None or Path(table).suffix.casefold() != ".json":
        return Annotated([], [], [])
    return read_annotated(table)


def _imported(k: int, one: Annotation) -> Answer:
    """Return an answer that was given in another tool as a line of the log."""
    kind: Kind = "cannot" if one.label is None else "label"
    label = None if one.label is None else check_name(one.label, "class")
    at = one.at if MOMENT.match(one.at) and is_storable(one.at) else ""
    return Answer(0, f"annotation-{k}", check_name(one.who, "person"), at, kind, one.row, label, one.seconds)


def _unknown(names: Sequence[str], classes: Sequence[str]) -> str:
    """Return the sentence that says which names are not classes, and what may be meant."""
    if len(names) == 1:
        meant = nearest(names[0], classes)
        found = f"; did you mean {meant!r}?" if meant else f" among {few(classes)};"
        return f"no class {names[0]!r}{found} --new makes it a class"
    near = {name: nearest(name, classes) for name in names[:MAX_UNKNOWN]}
    said = [f"{name!r} ({meant}?)" if meant else repr(name) for name, meant in near.items()]
    more = f" and {len(names) - len(said):,} more" if len(names) > len(said) else ""
    return f"no classes {', '.join(said)}{more}; nothing is saved: correct them, or --new makes them classes"


def check_sentence(text: str, longest: int) -> str:
    """Return a description as one line; raise an error if it is too long."""
    line = " ".join(str(text).split())
    if len(line) > longest or not is_storable(line):
        raise LabelError(f"a description of {counted(len(line), 'character')}: write one sentence of at most {longest}")
    return line


def _are_names(texts: list[str]) -> bool:
    """Return whether texts are short, tell items apart, and are neither addresses nor dates."""
    named = bool(texts) and len(set(texts)) == len(texts) and max(map(len, texts)) <= MAX_TITLE_CHARACTERS
    return named and not any("://" in text for text in texts) and not all(map(is_date, texts))


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
