"""The desk: who gets which question, and what people answer and change."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from askgraph.errors import BusyError, FileError, LabelError
from askgraph.plan import Question
from askgraph.web import views
from askgraph.web.comparison import Comparison
from askgraph.web.leases import Leases
from askgraph.web.map import MapMaker
from askgraph.web.offers import Offers
from askgraph.web.questions import Picture
from askgraph.web.thinker_process import ThinkerProcess
from askgraph.web.together import answerable, as_predicted, was_sent
from askgraph.workbench import report
from askgraph.workbench.answers import Answer, How, Kind
from askgraph.workbench.classes import ChangeKind, in_words
from askgraph.workbench.forms import named
from askgraph.workbench.growing import open_addition, places_to_remove, remove_items
from askgraph.workbench.guesses import Guess
from askgraph.workbench.names import check_name
from askgraph.workbench.passwords import give_role
from askgraph.workbench.project import Project

Plain = dict[str, Any]


class Desk:
    """One project and the people who label it. Only one thread may call its methods: it is the one that writes."""

    project: Project
    thinker: ThinkerProcess
    comparison: Comparison
    leases: Leases
    offers: Offers
    map: MapMaker
    alone: bool

    def __init__(self, project: Project, thinker: ThinkerProcess, leases: Leases | None = None) -> None:
        self.thinker, self.leases = thinker, leases or Leases()
        self.comparison = Comparison(project.store.path)
        self.alone = True  # whether one person is at work: a reply waits for a new agenda only then
        self._curved: Picture | None = None  # whose expected error was stored last
        self._take_up(project)

    def _take_up(self, project: Project) -> None:
        """Work on a project, or on the same with other items: places mean other items then."""
        _ = project.items.copies  # found now, so that the first answer does not wait for it
        self.project, self.map, self.offers = project, MapMaker(project), Offers(project, self.leases)

    def add(self, addition: str) -> Plain:
        """Take in new items from a file beside the project; questions go on with those known before until then."""
        with open_addition(self.project.store, addition) as found, self.thinker.away(forget=False):
            added = self.project.store.take_in(found)
            self._take_up(Project(self.project.store))
        return {"added": added}

    def remove(self, ids: list[str]) -> Plain:
        """Delete items for good, with all answers to them."""
        places_to_remove(self.project, ids)  # raises an error before anything stops
        with self.thinker.away(forget=True):
            removed = remove_items(self.project, ids)
            self.leases.release_all()
            self._take_up(Project(self.project.store))
        return removed._asdict()

    def suggest(self, ids: list[str], guesses: list[Guess], last: bool) -> Plain:
        """Store guesses for the items of these ids; after the ``last`` ones they count, and questions go on with those before."""
        places = self.project.items.places(ids)
        self.project.store.add_guesses([one._replace(item=place) for place, one in zip(places, guesses, strict=True)])
        if last:
            with self.thinker.away(forget=False):
                self._take_up(Project(self.project.store))
        return {"stored": len(guesses)}

    def ask(
        self, who: str, holding: str | None = None, after: Answer | None = None, hurry: bool | None = None
    ) -> Plain:
        """Return the next question for a person: the item on the screen if it is still open, else the best free one.

        ``after`` is the answer that the person has just given. When all items on the agenda are taken, somebody in a hurry gets
        any open item; by default, all are in a hurry if they are several, since a new agenda would not be for all of them.
        """
        who = check_name(who, "person")
        self.leases.renew(who)
        question = self.offers.on_screen(who, holding) or self._next(who, after)
        if question is None and (not self.alone if hurry is None else hurry):
            question = self.offers.any_open(who)
        asked: Plain = {"question": None, "finished": None, "waiting": None, "state": self._state(who)}
        if question is not None:
            return {**asked, "question": views.question(self.project, question, who)}
        if finished := self.project.finished:
            return {**asked, "finished": finished}
        if self.offers.any_left(who):
            self._notify()  # one more person waits for questions
        return {**asked, "waiting": self._waiting(who)}

    def answer(
        self,
        who: str,
        item: str,
        kind: Kind,
        label: Any,
        seconds: float | None,
        key: str,
        review: bool = False,
    ) -> Answer:
        """Save an answer, given as JSON says it; ``review`` says that it was given on a second look."""
        place = self.project.items.place(item)
        predicted = self.offers.checked(place) if kind == "label" else None
        unseen = kind != "later" and self.project.second.is_due(place, check_name(who, "person"))
        how: How | None = "review" if review else "second" if unseen else None
        saved = self.project.say(who, item, kind, label, seconds, key, predicted, how)
        self.offers.close(place)
        self._notify()
        return saved

    def far(self, saved: Answer) -> Plain | None:
        """Return a number that lies far outside of the range that was expected, and that range; else None."""
        return views.far(self.project, self.thinker.picture, saved)

    def answer_all(self, who: str, said: list[tuple[str, Kind, Any]], key: str) -> Plain:
        """Save several answers, all or none."""
        saved = self.project.say_all(who, said, key=key)
        self._notify()
        return {"saved": len(saved), "state": self._state(who)}

    def confirm(
        self,
        who: str,
        places: list[int],
        label: Any,
        how: How,
        key: str,
        seconds: float | None = None,
        at_least: float = 0.0,
    ) -> Plain:
        """Label items in one step, which one undo takes back; those that have enough answers already are left out.

        Without a label, each item gets the one that is predicted for it, where that is at least so likely.
        """
        who, key = check_name(who, "person"), check_name(key, "key")
        if label is not None:
            answers = self.project.answers
            label = answers.form.check(label, answers.classes, answers.naming.meant)
        elif not self.project.answers.kind.by_class:
            raise LabelError("numbers are not confirmed as predicted; give the number that these items have")
        if not was_sent(self.project, who, places, label, how, key):
            given = as_predicted(self.project, self.thinker.picture, places, at_least)
            if label is not None:
                given = dict.fromkeys(answerable(self.project, who, places), label)
            said: list[tuple[str, Kind, Any]] = [
                (item.id, "label", given[item.place]) for item in self.project.store.items(given)
            ]
            if said:
                self.project.say_all(who, said, seconds and seconds / len(said), key, how=how)
                self._notify()
        lines = self.project.store.logged_together(key)
        copies = sum(line.how == "copy" for line in lines)
        return {"saved": len(lines) - copies, "copies": copies, "state": self._state(who)}

    def out_of_groups(self) -> list[int]:
        """Return the items that are in no group; raise an error where items are not confirmed in groups."""
        self.project.answers.kind.check_groups()
        if self.project.items.apart:
            raise BusyError("the items are being compared")
        return self.offers.out_of_groups()

    def group(self, who: str, found: tuple[str, list[int], float] | None) -> Plain:
        """Return a group of items that look alike, as the thinker found it, to be confirmed in one step."""
        self.leases.renew(check_name(who, "person"))
        return {"group": views.group(self.project, found), "state": self._state(who)}

    def confirm_group(
        self, who: str, label: str, ids: list[str], odd: list[str], seconds: float | None, key: str
    ) -> Plain:
        """Label a group of items in one step; what was taken out of it is asked next, one by one."""
        places = [self.project.items.place(id) for id in ids]
        if self.project.store.logged(key) is None:
            self.offers.set_apart(map(self.project.items.place, odd), who)
        return self.confirm(who, places, label, "group", key, seconds)

    def undo(self, who: str, key: str, holding: str | None = None) -> Plain:
        """Take back a person's last answer, or all of a step, and ask its item again unless another one is to stay."""
        key = check_name(key, "key")
        undone = self.project.undo(who, key)
        if undone is None:
            return {"undone": None, **self.ask(who)}
        self._notify()
        said = report.describe(self.project, [undone])[0]
        together = len(self.project.store.logged_together(key))
        return {"undone": {**said, "together": together}, **self.ask(who, holding=holding or said["item"])}

    def comment(self, who: str, item: str, text: str, key: str) -> Plain:
        """Save a comment on an item."""
        self.project.notes.comment(who, item, text, key)
        return self._noted(who, item)

    def take_comment_back(self, who: str, seq: int, key: str) -> Plain:
        """Take back a comment of this person."""
        place = self.project.notes.take_back(who, seq, key).item
        return self._noted(who, self.project.items.item(place).id)

    def mark(self, who: str, item: str, on: bool, key: str) -> Plain:
        """Mark an item for this person to come back to it, or remove the mark."""
        self.project.notes.mark(who, item, on, key)
        return self._noted(who, item)

    def give_reasons(self, who: str, item: str, reasons: list[str], key: str) -> Plain:
        """Say why this person's answer to an item is what it is."""
        given = self.project.notes.give_reasons(who, item, reasons, key)
        return {"reasons": list(given), **self._noted(who, item)}

    def _noted(self, who: str, item: str) -> Plain:
        """Return what is noted on an item; questions that were chosen ahead stand, and are told of the new line of the log."""
        self._notify()
        place = self.project.items.place(item)
        return {**views.noted(self.project, place, check_name(who, "person")), "state": self._state(who)}

    def change(
        self, who: str, kind: ChangeKind, name: str | None, value: str | None, key: str, like: str | None = None
    ) -> Plain:
        """Change a class."""
        self.project.log.change(who, kind, name, value, key, like)
        self._notify()
        return {"state": self._state(who)}

    def undo_change(self, who: str, seq: int | None, key: str) -> Plain:
        """Take back a change of classes."""
        undone = self.project.log.undo_change(who, seq, key)
        self._notify()
        return {"undone": undone and in_words(undone), "state": self._state(who)}

    def write_guidelines(self, who: str, text: str, key: str, read: int | None = None) -> Plain:
        """Save a new version of the guidelines, unless there is another one than the writer has read."""
        self.project.log.write_guidelines(who, text, key, read)
        return {"version": self.project.log.guidelines[0], "state": self._state(who)}

    def new_classes(self, labels: Iterable[Any]) -> list[str]:
        """Return the classes that some answers, given as JSON says them, would make."""
        answers = self.project.answers
        classes, naming = answers.classes, answers.naming
        names = [name for label in labels for name in named(answers.form.parse(label, classes))]
        return [name for name in names if naming.meant(name) not in classes]

    def give_role(self, who: str, name: str, role: str | None, password: str | None, key: str) -> Plain:
        """Give a person a role and a password, or take both away; return the name as it is written."""
        return {"name": give_role(self.project, who, name, role, password, key)}

    def undo_since(self, who: str, person: str, since: str, key: str) -> Plain:
        """Take back all answers of a person since a time."""
        taken = self.project.log.undo_since(who, person, since, key)
        self._notify()
        return {"taken": len(taken), "state": self._state(who)}

    def give_back(self, who: str, person: str, key: str) -> Plain:
        """Let the answers count again that were last taken back from a person so."""
        given = self.project.log.give_back(who, person, key)
        self._notify()
        return {"given": len(given), "state": self._state(who)}

    def aim(self, who: str, target: float) -> Plain:
        """Change the share of wrong predictions that people aim at."""
        self.project.target = target
        return {"state": self._state(who)}

    def check_in(self, who: str) -> Plain:
        """Note that a person's page is open, and return the state."""
        self.leases.renew(check_name(who, "person"))
        with suppress(FileError):  # stored at the next request instead
            self.curve()
        return self._state(who)

    def curve(self) -> list[tuple[int, float, float, float]]:
        """Store the latest expected error, and return all of them by number of labels."""
        picture = self.thinker.picture
        if picture and picture is not self._curved and (error := picture.progress["error"]):
            self.project.store.add_to_curve(picture.progress["labels"], error["value"], error["low"], error["high"])
            self._curved = picture
        return self.project.store.curve()

    def _state(self, who: str) -> Plain:
        comparing = self.comparison.state() if self.project.items.apart else None
        return {**views.state(self.project, self.thinker, self.leases.active(), who), "comparing": comparing}

    def _next(self, who: str, after: Answer | None) -> Question | None:
        agenda = self.thinker.agenda
        return self.offers.next(who, agenda.after(after) if agenda else ())

    def _notify(self) -> None:
        people = len(self.leases.active())
        self.alone = people < 2
        self.thinker.notify(max(1, people))

    def _waiting(self, who: str) -> str:
        agenda = self.thinker.agenda
        if agenda is None:
            return "the first question is being computed"
        if self.offers.any_left(who) or views.lag(self.project, agenda):
            return "the next question is being computed"
        return "other people are looking at all items that are left; those come back when they are done"
