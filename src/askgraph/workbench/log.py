"""What people say, as lines of the log: checked, saved, read again, and taken back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from unicodedata import normalize

import numpy as np

from askgraph.errors import LabelError, OutdatedError
from askgraph.plan import Question
from askgraph.plan.chance import SPOT_CHECK
from askgraph.support.arguments import listed, whole_number
from askgraph.support.wording import few, nearest
from askgraph.workbench.answers import HOWS, IMPORT, KINDS, OPEN, Answer, Answers, How, Kind
from askgraph.workbench.cells import is_storable
from askgraph.workbench.classes import (
    MAX_DESCRIPTION_CHARACTERS,
    MAX_LIKE_CHARACTERS,
    MAX_REASONS,
    Change,
    ChangeKind,
    read_share,
)
from askgraph.workbench.forms import MARK, Label, class_name, named
from askgraph.workbench.model import Model
from askgraph.workbench.moments import read_moment
from askgraph.workbench.names import check_name, check_same, check_sentence, signed
from askgraph.workbench.notes import check_reason
from askgraph.workbench.roles import check_role
from askgraph.workbench.rules import from_json
from askgraph.workbench.store import Store
from askgraph.workbench.stored_items import StoredItems

MAX_GUIDELINES_CHARACTERS = 100_000
MAX_UNKNOWN = 20  # labels that are not classes: more are counted, not named


class Log:
    """The log of answers and that of changes: what is saved goes to the file, then to ``answers``, then to the model.

    Who sends a line again under the same key, because the reply was lost, gets the line that was written then.
    """

    def __init__(self, store: Store, items: StoredItems, answers: Answers, model: Model) -> None:
        self._store, self._items, self._answers, self._model = store, items, answers, model

    def refresh(self) -> int:
        """Read the lines that were saved since the last call; return the number of new answers."""
        new, changes = self._store.news(self._answers.seq, self._answers.changes)
        for answer in new:
            while changes and changes[0].answers < answer.seq:
                self._add_change(changes.pop(0))
            self._model.hear(answer.item, *self._answers.add(answer))
        for change in changes:
            self._add_change(change)
        return len(new)

    def _add_change(self, change: Change) -> None:
        if self._answers.add_change(change) or change.kind in ("add", "undo", "rename", "merge", "order", "rule"):
            self._model.forget()

    def say(
        self,
        who: str,
        item: str | Question,
        kind: Kind,
        label: Any = None,
        seconds: float | None = None,
        key: str | None = None,
        predicted: Label | None = None,
        how: How | None = None,
    ) -> Answer:
        """Save one answer of a person; see `askgraph.Project.say`."""
        if isinstance(item, Question):
            predicted = item.predicted if item.by == SPOT_CHECK and kind == "label" else None
            item = self._items.item(item.node).id
        return self.say_all(who, [(item, kind, label)], seconds, key, predicted, how)[0]

    def say_all(
        self,
        who: str,
        said: Iterable[tuple[str, Kind, Any]],
        seconds: float | None = None,
        key: str | None = None,
        predicted: Label | None = None,
        how: How | None = None,
    ) -> list[Answer]:
        """Save several answers of a person, all or none; see `askgraph.Project.say_all`."""
        who, key = signed(who, key)
        if seconds is not None and not (isinstance(seconds, int | float | np.number) and 0 <= seconds < 1e9):
            raise LabelError(f"seconds={seconds!r}: give how long the answer took, 0 or more, or leave it out")
        if how is not None and how not in HOWS:
            raise LabelError(f"how={how!r}: choose {', '.join(HOWS)}, or leave it out for answers given one by one")
        new = [
            Answer(0, f"{key}:{k}" if k else key, who, "", kind, place, label, seconds, predicted=predicted, how=how)
            for k, (place, kind, label) in enumerate(self.check(said))
        ]
        copies = [] if self._store.logged(key) else self._copied(new)
        return self._write([*new, *copies])[: len(new)]

    def _copied(self, new: Sequence[Answer]) -> list[Answer]:
        """Return the answers that exact copies of these items take: those that nobody has answered themselves."""
        taken, found = {answer.item for answer in new}, []
        for answer in new:
            for place in self._items.copies.get(answer.item, ()) if answer.kind != "later" else ():
                own = [a for a in self._answers.of(place).values() if a.how != "copy" and a.kind != "later"]
                if place not in taken and not own:
                    taken.add(place)
                    key = f"{answer.key}:copy{place}"
                    found.append(answer._replace(key=key, item=place, seconds=None, predicted=None, how="copy"))
        return found

    def check(self, said: Iterable[tuple[str, Kind, Any]]) -> list[tuple[int, Kind, Label | None]]:
        """Check answers without saving any; raise an error for all unknown items, else for the first that could not be saved.

        Parameters
        ----------
        said
            One (item, kind, label) per answer, as in :meth:`say_all`.

        Returns
        -------
        list of tuple
            One (place, kind, label) per answer.
        """
        answers = listed(said, "answers", LabelError)
        if odd := [answer for answer in answers if not isinstance(answer, tuple | list) or len(answer) != 3]:
            raise LabelError(f"{odd[0]!r} is not an answer: give (item, kind, label)")
        places = self._items.places([item for item, _, _ in answers])
        known = self._answers.classes
        return [
            (place, kind, self._check_label(kind, label, known))
            for place, (_, kind, label) in zip(places, answers, strict=True)
        ]

    def _check_label(self, kind: str, label: Any, known: Sequence[str]) -> Label | None:
        if not isinstance(kind, str) or kind not in KINDS:
            raise LabelError(f"an answer of kind {kind!r}: choose {', '.join(KINDS)}")
        if (kind == "label") != (label is not None):
            raise LabelError(
                f"an answer of kind {kind!r} " + ("needs a label" if kind == "label" else "takes no label")
            )
        if label is None:
            return None
        return self._answers.form.check(label, known, self._answers.naming.meant)

    def read(self, cell: Any) -> Label | None:
        """Return the answer that a cell of a table, or a word of a command, says; None for an empty cell.

        Parameters
        ----------
        cell
            The cell.

        Returns
        -------
        str, tuple of str, float, OneOf or None
            The answer, as :meth:`say` takes it.
        """
        return self._answers.form.read(cell, self._answers.naming.heard)

    def check_classes(self, labels: Iterable[Any]) -> None:
        """Raise an error that names classes which are not there, each with the class that it is most like.

        A former name of a class is one of its names. A project without classes takes any label: the first makes a class.

        Parameters
        ----------
        labels
            Answers, as :meth:`say` takes them.
        """
        classes, naming, form = self._answers.classes, self._answers.naming, self._answers.form
        if form.ranked:  # an answer never makes a step: that is said when it is saved
            return
        names = dict.fromkeys(name for label in dict.fromkeys(labels) for name in named(form.parse(label, classes)))
        if odd := [name for name in names if classes and naming.meant(name) not in classes]:
            raise LabelError(_unknown(list(dict.fromkeys(odd)), classes))

    def undo(self, who: str, key: str | None = None) -> Answer | None:
        """Take back the last answer of a person, with all of the same step; see `askgraph.Project.undo`."""
        who, key = signed(who, key)
        if seen := self._store.logged(key):
            check_same(seen, who=who, kind="undo")
        elif together := self._answers.last_together(who):
            keys = [f"{key}:{k}" if k else key for k in range(len(together))]
            undos = [Answer(0, k, who, "", "undo", a.item, undoes=a.seq) for k, a in zip(keys, together, strict=True)]
            seen = self._write(undos)[0]
        return None if seen is None else self._answers.log.get(seen.undoes or 0)

    def undo_since(self, by: str, who: str, since: str, key: str | None = None) -> list[Answer]:
        """Take back all answers of a person from a time on, in one step; :meth:`give_back` takes that back.

        Parameters
        ----------
        by
            The name of the person who takes them back.
        who
            The name of the person who gave them.
        since
            The time, as `askgraph.workbench.moments.read_moment` takes it.
        key
            A unique text: a step whose key is in the log already is not saved again.

        Returns
        -------
        list of Answer
            The answers that were taken back, those to exact copies too, oldest first.
        """
        who, since = check_name(who, "person"), read_moment(since)
        return self._undo_lines(by, who, lambda: self._answers.since(who, since), key, "since")

    def give_back(self, by: str, who: str, key: str | None = None) -> list[Answer]:
        """Let the answers count again that the last step of :meth:`undo_since` took back from a person.

        Parameters
        ----------
        by
            The name of the person who gives them back.
        who
            The name of the person who gave the answers.
        key
            A unique text: a step whose key is in the log already is not saved again.

        Returns
        -------
        list of Answer
            The answers that count again; none if nothing was taken back so.
        """
        who = check_name(who, "person")
        return self._undo_lines(by, who, lambda: self._answers.taken_back(who), key, "back")

    def _undo_lines(
        self, by: str, who: str, find: Callable[[], list[Answer]], key: str | None, how: How
    ) -> list[Answer]:
        """Take back lines of the log in one step; return the answers of the person that they are or speak of."""
        by, key = signed(by, key)
        log = self._answers.log
        if lines := self._store.logged_together(key):
            check_same(lines[0], who=by, kind="undo", how=how)
            check_same(lines[0]._replace(who=_answer_of(lines[0], log).who), who=who)
        elif found := find():
            keys = [f"{key}:{k}" if k else key for k in range(len(found))]
            lines = self._write(
                [
                    Answer(0, k, by, "", "undo", line.item, undoes=line.seq, how=how)
                    for k, line in zip(keys, found, strict=True)
                ]
            )
        return [_answer_of(line, log) for line in lines]

    def set_role(self, by: str, who: str, role: str | None, key: str | None = None) -> Change:
        """Give a person a role, "labeler" or "lead", or take it away with None; answers keep what they were given as.

        Parameters
        ----------
        by
            The name of the person who says so.
        who
            The name of the person.
        role
            The role.
        key
            A unique text: a change whose key is in the log already is not made again.

        Returns
        -------
        Change
            The line of the log.
        """
        by, key = signed(by, key)
        if self._store.changed(key) is None:
            who = check_role(who, role, self._answers.roles, self._answers.people, IMPORT)
        return self._write_change(Change(0, key, by, "", 0, "role", check_name(who, "person"), role))

    def change(
        self,
        who: str,
        kind: ChangeKind,
        name: str | None = None,
        value: str | None = None,
        key: str | None = None,
        like: str | None = None,
    ) -> Change:
        """Change a class: a line in the log of changes, which :meth:`undo_change` can take back.

        Parameters
        ----------
        who
            The name of the person.
        kind
            "add" a class; "rename" it to ``value``; "merge" it into the class ``value``; "describe" it by the sentence
            ``value``; give it the "key" ``value``, or none; "order" all classes, ``value`` being their names as JSON;
            "find" all of its items, that is, ask for those most likely in it; "certify" what was found, by a random sample of
            what is left, which is asked for next; give it "reasons" that an answer of it can have, ``value`` being their names
            as JSON; let a "second" person read the share ``value`` of what was answered; a "rule", which is ``value`` as JSON,
            guesses the class: its guesses are stored before.
        name
            The class. To "find", None asks for every class again, or says with ``value`` which numbers are sought: "highest",
            "lowest" or the least one; of ordered classes, the ``value`` "at least" adds all above. While nothing that is sought
            is known, or nothing else, questions are chosen as usual.
        value
            What it gets; to "certify", the share of the class to be proven found, such as "0.95".
        key
            A unique text: a change whose key is in the log already is not made again.
        like
            Words that describe what is to be found, such as a sentence: until an item of it and another one are known, those
            most like these words are asked for.

        Returns
        -------
        Change
            The line of the log.
        """
        who, key = signed(who, key)
        if not isinstance(kind, str) or not isinstance(name, str | None) or not isinstance(value, str | None):
            raise LabelError(f"a change of kind {kind!r} of {name!r} to {value!r}: give all as text")
        if kind == "certify":
            return self._draw(who, key, value)
        if kind == "second":
            share = f"{read_share(value or ''):g}"
            return self._write_change(Change(0, key, who, "", 0, kind, None, share))
        if kind == "rule":
            self._answers.form.kind.check_guesses()
            value = from_json(value).to_json()
        if kind == "find" and (name or value):
            self._answers.form.sought(name, value)
        elif kind != "find" and not self._answers.form.kind.by_class:
            raise LabelError(f"answers={self._answers.form.kind.name!r} have no classes that could be changed")
        if name is None and kind in ("add", "rename", "merge", "describe", "key", "reasons", "rule"):
            raise LabelError(f"a change of kind {kind!r}: name the class")
        name = None if name is None else self._class_name(kind, name)
        if kind in ("rename", "merge"):
            value = self._class_name(kind, value or "")
        elif kind == "order":
            value = normalize("NFC", value or "")
        elif kind == "describe":
            value = check_sentence(value or "", MAX_DESCRIPTION_CHARACTERS)
        elif kind == "reasons":
            value = _check_list(value)
        if like is not None:
            like = self._check_like(like, kind == "find" and bool(name or value))
        if self._store.changed(key) is None:
            self._answers.naming.check(kind, name, value, self._answers.classes, self._answers.form.keys)
        return self._write_change(Change(0, key, who, "", 0, kind, name, value, None, like))

    def _draw(self, who: str, key: str, share: str | None) -> Change:
        """Draw a random sample that is large enough to certify a share of what is sought."""
        if seen := self._store.changed(key):
            return check_same(seen, who=who, kind="certify")
        return self._write_change(Change(0, key, who, "", 0, "certify", None, self._model.sampling.draw(share)))

    def _check_like(self, like: str, seeks: bool) -> str:
        """Return words that describe what is sought; raise an error where nothing is, or nothing can be like them."""
        if not seeks:
            raise LabelError("words describe what is to be found: name it too, or leave them out")
        if not isinstance(like, str) or not like.strip() or not is_storable(like) or len(like) > MAX_LIKE_CHARACTERS:
            raise LabelError(
                f"what is to be found is described by 1 to {MAX_LIKE_CHARACTERS:,} characters, such as a sentence"
            )
        self._items.check_texts()
        return like.strip()

    def _class_name(self, kind: ChangeKind, name: str) -> str:
        """Return a name in a change of this kind; a new one must be one that answers can hold."""
        known = self._answers.classes
        return self._answers.form.new_class(name, known) if kind in ("add", "rename") else class_name(name, known)

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
        who, key = signed(who, key)
        naming = self._answers.naming
        if seen := self._store.changed(key):
            return naming.log.get(check_same(seen, who=who, kind="undo").undoes or 0)
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
        who, key = signed(who, key)
        read = None if read is None else whole_number(read, "read", 0)
        if not isinstance(text, str) or not is_storable(text) or len(text) > MAX_GUIDELINES_CHARACTERS:
            raise LabelError(f"guidelines are a text of at most {MAX_GUIDELINES_CHARACTERS:,} characters")
        if read is not None and self._store.changed(key) is None:
            self._check_read(read)
        return self._write_change(Change(0, key, who, "", 0, "guidelines", None, text.replace("\r\n", "\n")))

    def _check_read(self, read: int) -> None:
        """Raise an error if a version of the guidelines is not the last one."""
        versions = self._answers.guidelines
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
        versions = self._answers.guidelines
        return len(versions), (versions[-1].value or "") if versions else ""

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
        return self._answers.decision(whole_number(place, "place", 0, self._items.n_items - 1)) == OPEN

    @property
    def left(self) -> int:
        """The number of items that can still be asked for: without a label, and not set aside but for later."""
        aside = sum(why != "later" for why in self._answers.aside.values())
        return self._items.n_items - len(self._answers.labels) - aside

    @property
    def finished(self) -> str | None:
        """The sentence that says why there is nothing left to ask; None while there is."""
        aside = len(self._answers.aside)
        set_aside = f" or set aside ({aside} of them)" if aside else ""
        return None if self.left else f"finished: every item is labeled{set_aside}"

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
        said = (self._answers.of(place).values() for place in range(self._items.n_items))
        return sum(any(answer.kind in kinds for answer in answers) for answers in said)

    def _write(self, new: list[Answer]) -> list[Answer]:
        written = self._store.append(new)
        self.refresh()
        return written

    def _write_change(self, new: Change) -> Change:
        written = self._store.append_change(new)
        self.refresh()
        return written


def _check_list(value: str | None) -> str:
    """Return a list of reasons as JSON, checked, each once."""
    try:
        found = json.loads(value or "[]")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or len(found) > MAX_REASONS:
        raise LabelError(f"reasons {value!r:.200}: give a list of at most {MAX_REASONS} names as JSON")
    return json.dumps(list(dict.fromkeys(map(check_reason, found))), ensure_ascii=False)


def _answer_of(line: Answer, log: Mapping[int, Answer]) -> Answer:
    """Return the answer that a line of the log takes back or gives back, or is."""
    while line.kind == "undo" and (spoken := log.get(line.undoes or 0)) is not None:
        line = spoken
    return line


def _unknown(names: Sequence[str], classes: Sequence[str]) -> str:
    """Return the sentence that says which names are not classes, and what may be meant."""
    if len(names) == 1:
        meant = _meant(names[0], classes)
        found = f"; did you mean {meant!r}?" if meant else f" among {few(classes)};"
        return f"no class {names[0]!r}{found} --new makes it a class"
    near = {name: _meant(name, classes) for name in names[:MAX_UNKNOWN]}
    said = [f"{name!r} ({meant}?)" if meant else repr(name) for name, meant in near.items()]
    more = f" and {len(names) - len(said):,} more" if len(names) > len(said) else ""
    return f"no classes {', '.join(said)}{more}; nothing is saved: correct them, or --new makes them classes"


def _meant(name: str, classes: Sequence[str]) -> str | None:
    """Return the classes that a name joins by a mark of other tables, joined by ours, else the class that it is most like.

    >>> _meant("bug, login", ["bug", "login"]), _meant("logn", ["bug", "login"])
    ('bug|login', 'login')
    """
    for mark in ",;":
        parts = [part.strip() for part in name.split(mark)]
        if len(parts) > 1 and set(parts) <= set(classes):
            return MARK.join(parts)
    return nearest(name, classes)
