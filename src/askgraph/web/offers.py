"""Who is asked what: questions are offered to people in order, and each item is on one screen at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from askgraph.plan import Question
from askgraph.plan.chance import SPOT_CHECK
from askgraph.web.leases import Leases
from askgraph.workbench.project import Project

MAX_LOOKS = 10_000  # items looked at for an open one; where fewer than one in MAX_LOOKS is open, the agenda has enough
# Who asks a question that is not on the agenda: another person was asked too, or read it before and is not to be seen, it was put
# off, it was taken out of a group, all items on the agenda are taken, or the person has opened it or has taken the answer back.
SECOND_OPINION, PUT_OFF, OUT_OF_GROUP = "second opinion", "put off", "out of a group"
SECOND_READING = "second reading"
ANY_OPEN, BY_HAND = "any open", "by hand"


class Offers:
    """The questions that people were asked, and those that each may be asked next."""

    def __init__(self, project: Project, leases: Leases) -> None:
        self._project, self._leases = project, leases
        self._asked: dict[int, Question] = {}  # by the places of their items, until they are answered
        self._odd: dict[int, str] = {}  # items that a person took out of a group, who is asked about them next
        self._shuffled = np.random.default_rng(project.about["seed"]).permutation(project.items.n_items)
        self._looked = 0  # how far open items were searched in that order, which is then gone through again

    def on_screen(self, who: str, holding: str | None) -> Question | None:
        """Return the question on this person's screen if they can still answer it."""
        place = None if holding is None else self._project.store.place(holding)
        if place is None or not can_answer(self._project, who, place):
            return None
        by_hand = Question(place, SECOND_READING if self._project.second.is_due(place, who) else BY_HAND)
        return self._take(who, self._asked.get(place, by_hand))

    def next(self, who: str, planned: Iterable[Question]) -> Question | None:
        """Return the best question that is free; ``planned`` are those of the agenda."""
        for question in self._in_order(who, planned):
            if self._take(who, question):
                return question
        self._leases.release(who)
        return None

    def any_open(self, who: str) -> Question | None:
        """Return a question about a random item that nobody has answered and nobody else holds; None if none is found soon."""
        for _ in range(min(MAX_LOOKS, self._shuffled.size)):
            place = int(self._shuffled[self._looked])
            self._looked = (self._looked + 1) % self._shuffled.size
            if self._project.log.open_at(place) and (question := self._take(who, Question(place, ANY_OPEN))):
                return question
        return None

    def any_left(self, who: str) -> bool:
        """Return whether there is an item that nobody has answered and nobody else holds."""
        answers = self._project.answers
        held = self._leases.of_others(who) - answers.labels.keys() - answers.aside.keys()
        return len(answers.labels) + len(answers.aside) + len(held) < self._project.items.n_items

    def checked(self, place: int) -> str | None:
        """Return what was predicted for an item that was asked for as a spot check; else None."""
        asked = self._asked.get(place)
        return asked.predicted if asked is not None and asked.by == SPOT_CHECK else None

    def close(self, place: int) -> None:
        """Note that a question was answered."""
        self._asked.pop(place, None)

    def set_apart(self, places: Iterable[int], who: str) -> None:
        """Ask a person next about items that they took out of a group, one by one."""
        self._odd |= dict.fromkeys(places, who)

    def out_of_groups(self) -> list[int]:
        """Return the items that are in no group: those that people took out of one and that are still open, or look at."""
        self._odd = {place: who for place, who in self._odd.items() if self._project.log.open_at(place)}
        return [*self._odd, *self._leases.held()]

    def _take(self, who: str, question: Question) -> Question | None:
        """Give a question to a person; return None if somebody else holds its item."""
        if not self._leases.take(who, question.node):
            return None
        self._asked[question.node] = question
        return question

    def _in_order(self, who: str, planned: Iterable[Question]) -> Iterator[Question]:
        """Yield second readings and opinions, items put off and due, odd ones of a group, the agenda, at the end all put off.

        A person who has just read one item for the second time reads another one before the next, while there are others.
        """
        answers, unseen = self._project.answers, self._project.second.due(who)
        last = answers.last(who) if unseen else None
        readings = [Question(place, SECOND_READING) for place in unseen]
        if last is None or last.how != "second":
            yield from (one for one in readings if who not in answers.of(one.node))
        yield from (Question(place, SECOND_OPINION) for place in self._short_of_opinions(who))
        yield from (Question(place, PUT_OFF) for place in answers.due(who))
        odd = [place for place, by in self._odd.items() if by == who and self._project.log.open_at(place)]
        yield from (Question(place, OUT_OF_GROUP) for place in odd)
        yield from (one for one in planned if one.node not in answers.labels and one.node not in answers.aside)
        yield from readings
        if not self.any_left(who):
            yield from (Question(place, PUT_OFF) for place in self._put_off(who))

    def _short_of_opinions(self, who: str) -> list[int]:
        """Return the items that others have answered, and that this person is to answer too."""
        answers, overlap = self._project.answers, self._project.about["overlap"]
        short = answers.short_of(overlap) if overlap > 1 else []
        return [
            place for place in short if who not in answers.of(place) and not self._project.second.is_due(place, who)
        ]

    def _put_off(self, who: str) -> list[int]:
        """Return the items that were put off, those that others put off first."""
        answers = self._project.answers
        later = [place for place, kind in answers.aside.items() if kind == "later"]
        return [*(place for place in later if who not in answers.of(place)), *answers.due(who, all_of_them=True)]


def can_answer(project: Project, who: str, place: int) -> bool:
    """Return whether this person has not answered the item yet, or put it off, and other people's answers do not suffice."""
    given = project.answers.of(place)
    if who in given:
        return given[who].kind == "later"
    if project.second.is_due(place, who):
        return True
    return sum(answer.kind != "later" for answer in given.values()) < project.about["overlap"]
