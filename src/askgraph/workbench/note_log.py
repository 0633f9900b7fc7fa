"""Notes on items, saved: comments, marks to come back to an item, reasons for an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from askgraph.errors import LabelError
from askgraph.support.arguments import listed, whole_number
from askgraph.support.wording import few
from askgraph.workbench.answers import Answer, Answers
from askgraph.workbench.names import check_same, signed
from askgraph.workbench.notes import MAX_COMMENTS, check_comment, check_reason, reasons_in
from askgraph.workbench.store import Store
from askgraph.workbench.stored_items import StoredItems


class NoteLog:
    """What people note on items: each note goes to the file first, then ``refresh`` reads it.

    Who sends a note again under the same key, because the reply was lost, gets the line that was written then.
    """

    def __init__(self, store: Store, items: StoredItems, answers: Answers, refresh: Callable[[], object]) -> None:
        self._store, self._items, self._answers, self._refresh = store, items, answers, refresh

    def comment(self, who: str, item: str, text: str, key: str | None = None) -> Answer:
        """Save a comment on an item.

        Parameters
        ----------
        who
            The name of the person.
        item
            The id of the item.
        text
            The comment: plain text of at most 2000 characters.
        key
            A unique text: a comment whose key is in the log already is not saved again.

        Returns
        -------
        Answer
            The line of the log.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import askgraph as ag
        >>> from askgraph.workbench.source import Source
        >>> with TemporaryDirectory() as folder:
        ...     ag.Graph.from_edges([("ann", "bob")]).save(f"{folder}/friends.npz")
        ...     ag.Project.create(f"{folder}/teams.ask", Source(graph=f"{folder}/friends.npz"))
        ...     with ag.Project.open(f"{folder}/teams.ask", write=True) as project:
        ...         said = project.notes.comment("me", "ann", "which Ann?")
        ...         (one,) = project.answers.notes.comments(0)
        >>> one.who, one.text
        ('me', 'which Ann?')
        """
        place, text, who, key = self._items.place(item), check_comment(text), *signed(who, key)
        mine = [one for one in self._answers.notes.comments(place) if one.who == who and one.key != key]
        if len(mine) >= MAX_COMMENTS:
            raise LabelError(f"{who!r} has {MAX_COMMENTS} comments on item {item!r} already; take one back first")
        return self._write(Answer(0, key, who, "", "comment", place, text=text))

    def take_back(self, who: str, seq: int, key: str | None = None) -> Answer:
        """Take back a comment; only its author can.

        Parameters
        ----------
        who
            The name of the person.
        seq
            The line of the comment.
        key
            A unique text: if the comment was taken back under this key already, nothing is saved.

        Returns
        -------
        Answer
            The comment.
        """
        who, key = signed(who, key)
        found = self._answers.log.get(whole_number(seq, "seq", 1))
        if found is None or found.kind != "comment":
            raise LabelError(f"line {seq} of the log is not a comment; askgraph note ITEM lists those on an item")
        if found.who != who:
            raise LabelError(f"the comment of {found.who!r} can be taken back by {found.who!r} alone")
        if found.seq not in self._answers.undone or self._store.logged(key) is not None:
            self._write(Answer(0, key, who, "", "withdraw", found.item, undoes=found.seq))
        return found

    def mark(self, who: str, item: str, on: bool = True, key: str | None = None) -> bool:
        """Mark an item, for oneself, to come back to it, or remove the mark.

        Parameters
        ----------
        who
            The name of the person.
        item
            The id of the item.
        on
            Whether it is to be marked.
        key
            A unique text: a mark whose key is in the log already is not saved again.

        Returns
        -------
        bool
            Whether the item is marked now.
        """
        place, who, key = self._items.place(item), *signed(who, key)
        there = self._answers.notes.mark(who, place)
        if seen := self._store.logged(key):
            check_same(seen, who=who, item=place)
        elif on and there is None:
            self._write(Answer(0, key, who, "", "return", place))
        elif not on and there is not None:
            self._write(Answer(0, key, who, "", "withdraw", place, undoes=there.seq))
        return self._answers.notes.mark(who, place) is not None

    def give_reasons(self, who: str, item: str, reasons: Iterable[str], key: str | None = None) -> tuple[str, ...]:
        """Say why a person's answer to an item is what it is; exact copies that took the answer get the reasons, too.

        Parameters
        ----------
        who
            The name of the person.
        item
            The id of the item, which the person has answered.
        reasons
            Some of those declared for the classes of the answer, in place of those given before; none takes them back.
        key
            A unique text: reasons whose key is in the log already are not saved again.

        Returns
        -------
        tuple of str
            The reasons, in the order in which they are declared.
        """
        place, who, key = self._items.place(item), *signed(who, key)
        if seen := self._store.logged(key):
            return reasons_in(check_same(seen, who=who, kind="reasons", item=place).text)
        answer = self._answers.of(place).get(who)
        if answer is None or answer.label is None:
            raise LabelError(f"{who!r} gave item {item!r} no label that could have a reason; label it first")
        kept = self._check_reasons(answer, [check_reason(one) for one in listed(reasons, "reasons", LabelError)])
        text = json.dumps(kept, ensure_ascii=False)
        lines = [Answer(0, key, who, "", "reasons", place, undoes=answer.seq, text=text)]
        for copy in self._copies(answer):
            lines.append(lines[0]._replace(key=f"{key}:copy{copy.item}", item=copy.item, undoes=copy.seq))
        self._write(*lines)
        return kept

    def _check_reasons(self, answer: Answer, given: list[str]) -> tuple[str, ...]:
        """Return reasons for an answer in their order; raise an error if one is neither declared nor given before."""
        offered = dict.fromkeys([*self._answers.reasons_for(answer.label), *self._answers.notes.reasons(answer)])
        if odd := [one for one in given if one not in offered]:
            advice = f"choose of {few(list(offered))}" if offered else "askgraph classes reasons declares some"
            raise LabelError(f"no reason {odd[0]!r} for this answer: {advice}")
        return tuple(one for one in offered if one in given)

    def _copies(self, answer: Answer) -> list[Answer]:
        """Return the answers that exact copies took from an answer and that still count."""
        lines = self._store.logged_together(answer.key) if answer.how is None else []
        return [line for line in lines if line.how == "copy" and line.seq not in self._answers.undone]

    def _write(self, *notes: Answer) -> Answer:
        written = self._store.append(notes)
        self._refresh()
        return written[0]
