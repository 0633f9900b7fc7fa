"""The requests of the page: questions for each person, answers to save, reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import takewhile
from typing import Any

import numpy as np

from askgraph.errors import FileError, LabelError, ReusedKeyError
from askgraph.plan import Question
from askgraph.plan.chance import SPOT_CHECK
from askgraph.web.leases import Leases
from askgraph.web.listing import STATUSES, Query, columns, list_items
from askgraph.web.map import MapMaker
from askgraph.web.questions import NO_CLASS
from askgraph.web.regions import inside
from askgraph.web.thinker_process import ThinkerProcess
from askgraph.workbench import report
from askgraph.workbench.answers import Answer, How, Kind
from askgraph.workbench.cells import readable
from askgraph.workbench.classes import KEYS, ChangeKind, in_words
from askgraph.workbench.exchange import has_titles
from askgraph.workbench.growing import open_addition, places_to_remove, remove_items
from askgraph.workbench.project import Project, check_name
from askgraph.workbench.store import Item

NOT_YET = "the predictions are being computed"
MAX_LOOKS = 10_000  # items looked at for an open one; where fewer than one in MAX_LOOKS is open, the ranking has enough
MAX_NEWCOMERS = (
    50  # people without an answer who are named in the state: names cost nothing, so there may be any number
)
AHEAD = 4  # pictures that are fetched before their items are asked for
CERTAIN = 0.9  # the probability from which on it is offered to confirm only these predictions of many
UNSURE = 20  # items in the queue for review whose predictions are the least sure
# Who asks a question that is not on the agenda: another person was asked too, it was put off, it was taken out of a group, all
# items on the agenda are taken, or the person has opened the item or has taken the answer back.
SECOND_OPINION, PUT_OFF, OUT_OF_GROUP = "second opinion", "put off", "out of a group"
ANY_OPEN, BY_HAND = "any open", "by hand"
Plain = dict[str, Any]


class Desk:
    """One project and the people who label it. Only one thread may call its methods: it is the one that writes."""

    project: Project
    thinker: ThinkerProcess
    alone: bool

    def __init__(self, project: Project, thinker: ThinkerProcess, leases: Leases | None = None) -> None:
        self.thinker, self._leases = thinker, leases or Leases()
        self._begin(project)
        self.alone = True  # whether one person is at work: a reply waits for a new agenda only then

    def _begin(self, project: Project) -> None:
        """Begin with a project, or with one whose items have changed."""
        self.project = project
        self.edition: str = project.store.fingerprint[:16]  # of the items: places mean other ones when some come or go
        _ = project.copies  # found now, so that the first answer does not wait for it
        self._map = MapMaker(project)
        self._counted: tuple[tuple[int, int], Plain] = ((-1, -1), {})
        self._curved = -1
        self._odd: dict[int, str] = {}  # items that a person took out of a group, who is asked about them next
        self._asked: dict[int, Question] = {}  # questions that were asked, by the places of their items
        self._shuffled = np.random.default_rng(project.about["seed"]).permutation(project.n_items)
        self._looked = 0  # how far open items were searched in that order, which is then gone through again

    def add(self, addition: str) -> Plain:
        """Take in new items from a file beside the project; questions go on with those known before until then."""
        with open_addition(self.project.store, addition) as found, self.thinker.away(forget=False):
            added = self.project.store.take_in(found)
            self._change_items()
        return {"added": added}

    def remove(self, ids: list[str]) -> Plain:
        """Delete items for good, with all answers to them."""
        places_to_remove(self.project, ids)  # raises an error before anything stops
        with self.thinker.away(forget=True):
            removed = remove_items(self.project, ids)
            self._leases.release_all()
            self._change_items()
        return removed._asdict()

    def _change_items(self) -> None:
        self._begin(Project(self.project.store))

    def ask(
        self, who: str, holding: str | None = None, after: Answer | None = None, hurry: bool | None = None
    ) -> Plain:
        """Return the next question for a person: the item on the screen if it is still open, else the best free one.

        ``after`` is the answer that the person has just given. When all items on the agenda are taken, somebody in a hurry gets
        any open item; by default, all are in a hurry if they are several, since a new agenda would not be for all of them.
        """
        who = check_name(who, "person")
        self._leases.renew(who)
        question = self._on_screen(who, holding) or self._next(who, after)
        if question is None and (not self.alone if hurry is None else hurry):
            question = self._any_open(who)
        asked: Plain = {"question": None, "finished": None, "waiting": None, "state": self.state(who)}
        if question is not None:
            return {**asked, "question": self._show_question(who, question)}
        if finished := self.project.finished:
            return {**asked, "finished": finished}
        if self._any_left(who):
            self._notify()  # one more person waits for questions
        return {**asked, "waiting": self._waiting(who)}

    def _show_question(self, who: str, question: Question) -> Plain:
        """Return a question as the page shows it: the item, who asks for it, and what others say of it."""
        place = question.node
        return {
            "item": self.show(self.project.item(place)),
            "by": question.by,
            "opinions": sum(name != who for name in self.project.answers.of(place)),
            "copies": sum(map(self.project.open_at, self.project.copies.get(place, ()))),
            "suggested": report.suggested(self.project, place),
        }

    def answer(
        self,
        who: str,
        item: str,
        kind: Kind,
        label: str | None,
        seconds: float | None,
        key: str,
        review: bool = False,
    ) -> Answer:
        """Save an answer; ``review`` says that it was given on a second look."""
        place = self.project.place(item)
        asked = self._asked.get(place)
        predicted = asked.predicted if asked and asked.by == SPOT_CHECK and kind == "label" else None
        saved = self.project.say(who, item, kind, label, seconds, key, predicted, "review" if review else None)
        self._asked.pop(place, None)
        self._notify()
        return saved

    def answer_all(self, who: str, said: list[tuple[str, Kind, str | None]], key: str) -> Plain:
        """Save several answers, all or none."""
        saved = self.project.say_all(who, said, key=key)
        self._notify()
        return {"saved": len(saved), "state": self.state(who)}

    def selection(self, who: str, ids: list[str], places: list[int], edition: str | None) -> Plain:
        """Return what an answer to selected items would do: how many it would label, and how sure their predictions are."""
        chosen = [*map(self.project.place, ids), *(self._drawn(places, edition) if places else ())]
        known, predicted = columns(self.project, self.thinker.picture), self._as_predicted(chosen)
        sure = known.sure[list(predicted)]
        return {
            "selected": len(set(chosen)),
            "new": len(self._answerable(who, chosen)),
            "predicted": {
                "new": len(predicted),
                "right": float(sure.mean()) if predicted else None,
                "classes": [{"label": name, "count": n} for name, n in Counter(predicted.values()).most_common()],
                "certain": {"least": CERTAIN, "new": int((sure >= CERTAIN).sum())},
            },
        }

    def confirm_places(
        self, who: str, places: list[int], label: str | None, key: str, edition: str, at_least: float = 0.0
    ) -> Plain:
        """Label the items at some places, as on a map of this edition of the items, in one step."""
        return self._answer_together(who, self._drawn(places, edition), label, "map", key, at_least=at_least)

    def confirm(self, who: str, ids: list[str], label: str | None, key: str, at_least: float = 0.0) -> Plain:
        """Label items of the table in one step: with the given label, or each as it is predicted."""
        return self._answer_together(
            who, [self.project.place(id) for id in ids], label, "table", key, at_least=at_least
        )

    def _answer_together(
        self,
        who: str,
        places: list[int],
        label: str | None,
        how: How,
        key: str,
        seconds: float | None = None,
        at_least: float = 0.0,
    ) -> Plain:
        """Label items in one step, which one undo takes back; those that have enough answers already are left out.

        Without a label, each item gets the one that is predicted for it, where that is at least so likely.
        """
        who, key, label = check_name(who, "person"), check_name(key, "key"), label and check_name(label, "class")
        if not self._was_sent(who, places, label, how, key):
            given = self._as_predicted(places, at_least)
            if label is not None:
                given = dict.fromkeys(self._answerable(who, places), label)
            said: list[tuple[str, Kind, str | None]] = [
                (item.id, "label", given[item.place]) for item in self.project.store.items(given)
            ]
            if said:
                self.project.say_all(who, said, seconds and seconds / len(said), key, how=how)
                self._notify()
        lines = self.project.store.logged_together(key)
        copies = sum(line.how == "copy" for line in lines)
        return {"saved": len(lines) - copies, "copies": copies, "state": self.state(who)}

    def _was_sent(self, who: str, places: list[int], label: str | None, how: How, key: str) -> bool:
        """Return whether answers to these items were saved under this key; raise an error if it belongs to others."""
        lines, meant = self.project.store.logged_together(key), set(places)
        if any(
            line.who != who
            or label not in (None, line.label)
            or (line.how != "copy" and (line.how != how or line.item not in meant))
            for line in lines
        ):
            raise ReusedKeyError(f"the key {key!r} belongs to other answers, so nothing was saved; use a new key")
        return bool(lines)

    def _answerable(self, who: str, places: list[int]) -> list[int]:
        """Return those of some places that this person would be asked about: an answer to many changes none that was given."""
        return [place for place in dict.fromkeys(places) if self._can_answer(who, place)]

    def _as_predicted(self, places: list[int], at_least: float = 0.0) -> dict[int, str]:
        """Return what is predicted for those of some places that nobody has answered, where that is at least so likely."""
        known = columns(self.project, self.thinker.picture)
        predicted = known.status == STATUSES.index("predicted")
        return {p: known.classes[known.label[p]] for p in places if predicted[p] and known.sure[p] >= at_least}

    def _drawn(self, places: list[int], edition: str | None) -> list[int]:
        """Return places of the map; raise an error if it shows other items than there are."""
        if edition != self.edition:
            raise LabelError("items came or went since this map was drawn; open it again")
        if (odd := max(places)) >= self.project.n_items:
            raise LabelError(f"no item at {odd}; give places below {self.project.n_items}")
        return places

    def looks_ahead(self) -> tuple[int, int]:
        """Return the last line of the log, and to how many answers it should be known what follows before pictures are fetched."""
        answers = self.project.answers
        return answers.seq, min(AHEAD, len(answers.classes)) if self.project.sought is None else 0

    def ahead(self) -> Plain:
        """Return the addresses of pictures that are likely to be shown next, so that a page can fetch them now."""
        agenda, held = self.thinker.agenda, self._leases.held()
        questions = (*agenda.follows.values(), *agenda.questions) if agenda else ()
        places = dict.fromkeys(question.node for question in questions if question is not None)
        free = [place for place in places if self.project.open_at(place) and place not in held]
        pictures = [report.image_address(self.project, item) for item in self.project.store.items(free[:AHEAD])]
        return {"pictures": [address for address in pictures if address is not None]}

    def out_of_groups(self) -> list[int]:
        """Return the items that are in no group: those that people took out of one and that are still open."""
        self._odd = {place: who for place, who in self._odd.items() if self.project.open_at(place)}
        return [*self._odd, *self._leases.held()]

    def group(self, who: str, found: tuple[str, list[int], float] | None) -> Plain:
        """Return a group of items that look alike, as the thinker found it, to be confirmed in one step."""
        self._leases.renew(check_name(who, "person"))
        places = [place for place in found[1] if self.project.open_at(place)] if found else []
        group = None
        if found and len(places) > 1:
            lines = [report.item_line(self.project, item) for item in self.project.store.items(places)]
            label = self.project.answers.naming.meant(found[0])
            group = {"label": label, "chance": found[2], "items": lines}
        return {"group": group, "state": self.state(who)}

    def confirm_group(
        self, who: str, label: str, ids: list[str], odd: list[str], seconds: float | None, key: str
    ) -> Plain:
        """Label a group of items in one step; what was taken out of it is asked next, one by one."""
        places = [self.project.place(id) for id in ids]
        if self.project.store.logged(key) is None:
            self._odd |= {self.project.place(id): who for id in odd}
        return self._answer_together(who, places, label, "group", key, seconds)

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

    def change(self, who: str, kind: ChangeKind, name: str | None, value: str | None, key: str) -> Plain:
        """Change a class."""
        self.project.change(who, kind, name, value, key)
        self._notify()
        return {"state": self.state(who)}

    def undo_change(self, who: str, seq: int | None, key: str) -> Plain:
        """Take back a change of classes."""
        undone = self.project.undo_change(who, seq, key)
        self._notify()
        return {"undone": undone and in_words(undone), "state": self.state(who)}

    def classes(self) -> Plain:
        """Return the classes, and who changed them when."""
        return {"classes": report.classes(self.project), "changes": report.class_changes(self.project), "keys": KEYS}

    def guidelines(self) -> Plain:
        """Return the guidelines as they are now, and who wrote them when."""
        versions, (version, text) = self.project.answers.guidelines, self.project.guidelines
        last = versions[-1] if versions else None
        return {"version": version, "text": text, "who": last and last.who, "at": last and last.at}

    def write_guidelines(self, who: str, text: str, key: str, read: int | None = None) -> Plain:
        """Save a new version of the guidelines, unless there is another one than the writer has read."""
        self.project.write_guidelines(who, text, key, read)
        return {"version": self.project.guidelines[0], "state": self.state(who)}

    def state(self, who: str) -> Plain:
        """Return the figures that the page always shows."""
        answers, last = self.project.answers, self.project.answers.last(who)
        active = self._leases.active()
        counted = self._counts()
        people = [{"name": name, "answers": n, "active": name in active} for name, n in answers.people.items()]
        new = sorted(active - answers.people.keys(), key=lambda name: (name != who, name))[:MAX_NEWCOMERS]
        return {
            **counted,
            "lag": self._lag(self.thinker.agenda),
            "worker": self.thinker.status,
            "undo": last and self._undoable(last),
            "find": self._search(),
            "people": people + [{"name": name, "answers": 0, "active": True} for name in new],
        }

    def check_in(self, who: str) -> Plain:
        """Note that a person's page is open, and return the state."""
        self._leases.renew(check_name(who, "person"))
        with suppress(FileError):  # stored at the next request instead
            self._update_curve()
        return self.state(who)

    def history(self, limit: int, before: int | None, who: str | None, label: str | None) -> Plain:
        """Return the newest lines of the log, and whether there are more."""
        lines = report.history(self.project, limit + 1, before, who, label)
        return {"answers": lines[:limit], "more": len(lines) > limit}

    def item(self, place: int) -> Plain:
        """Return one item with all answers to it and its prediction."""
        item, answers = self.project.item(place), self.project.answers
        known = columns(self.project, self.thinker.picture)
        lines = [a for a in answers.log.values() if a.item == place and a.kind != "undo"]
        code, decision = int(known.label[place]), answers.decision(place)
        guessed = code < len(known.classes) and decision.label is None
        return {
            "item": self.show(item),
            "answers": report.describe(self.project, lines),
            "label": decision.label,
            "status": "labeled"
            if decision.label is not None
            else decision.aside or ("predicted" if guessed else "open"),
            "prediction": {"label": known.classes[code], "probability": float(known.sure[place])} if guessed else None,
        }

    def show(self, item: Item) -> Plain:
        """Return an item as the page shows it."""
        naming, texts = self.project.naming_field, {name: readable(str(value)) for name, value in item.fields.items()}
        kinds = {name: kind for name, kind in self.project.shown.items() if name != naming}
        fields = [{"name": name, "value": texts.get(name, "–"), "kind": kind} for name, kind in kinds.items()]
        image, title = report.image_address(self.project, item), self.project.title(item)
        numbered = self.project.columns.get("id") is None and item.id.isdecimal()
        name = texts.get(naming or "")
        return {"id": item.id, "title": title, "name": name, "numbered": numbered, "fields": fields, "image": image}

    def progress(self) -> Plain:
        """Return the report on progress as last computed, with the curve of the expected error and the people."""
        picture = self.thinker.picture
        if picture is None:
            return {"waiting": NOT_YET}
        active = self._leases.active()
        said = report.people(self.project)
        for one in said["people"]:
            one["active"] = one["name"] in active
        rows = [
            row for row in self._update_curve() if row[0] <= picture.progress["labels"]
        ]  # not of what was taken back
        curve = [dict(zip(("labels", "value", "low", "high"), row, strict=True)) for row in rows]
        goal = report.goal(self.project, picture.progress)
        return {**picture.progress, "lag": self._lag(picture), "curve": curve, "goal": goal, **said}

    def aim(self, who: str, target: float) -> Plain:
        """Change the share of wrong predictions that people aim at."""
        self.project.target = target
        return {"state": self.state(who)}

    def suspects(self) -> Plain:
        """Return the labels that look wrong, as last computed."""
        picture = self.thinker.picture
        return {"waiting": NOT_YET} if picture is None else {"suspects": picture.suspects, "lag": self._lag(picture)}

    def review(self) -> Plain:
        """Return the items worth a second look, with the predictions as last computed."""
        picture = self.thinker.picture
        if picture is None:
            return {"waiting": NOT_YET}
        known = columns(self.project, picture)
        sure = np.where(known.status == STATUSES.index("predicted"), known.sure, np.inf)
        unsure = [int(place) for place in np.argsort(sure, kind="stable")[:UNSURE] if np.isfinite(sure[place])]
        queue = report.review(self.project, picture.suspects, unsure)
        for one in queue:
            code = known.label[place] if (place := self.project.place(one["item"])) in unsure else NO_CLASS
            one["instead"] = known.classes[code] if code < len(known.classes) else one["instead"]
        return {"queue": queue, "lag": self._lag(picture)}

    def items(self, query: Query) -> Plain:
        """Return one page of the table."""
        if query.inside:
            corners = np.array(query.inside.strip(",").split(","), dtype=np.float64).reshape(-1, 2)
            query = query._replace(among=inside(corners, self._map.positions()))
        total, rows = list_items(self.project, self.thinker.picture, query)
        return {"total": total, "lag": self._lag(self.thinker.picture), "items": rows}

    def map(self) -> Plain:
        """Return the addresses of the map's data, or what the map waits for."""
        picture = self.thinker.picture
        made = self._map.made()
        if made is None or picture is None:
            return {"waiting": "the map is being drawn" if picture else NOT_YET}
        seq = self.project.answers.seq
        version = f"{picture.seq}-{seq}"
        known = columns(self.project, picture)
        places = {"layout": f"/api/map/layout?v={self.edition}", "state": f"/api/map/state?v={version}"}
        regions = [one._asdict() for one in made.regions]
        counted = {"n": self.project.n_items, "edition": self.edition, "seq": seq, "lag": self._lag(picture)}
        return {**counted, "classes": known.classes, "regions": regions, **places}

    def search(self, text: str) -> Plain:
        """Return the places of the items that contain a text."""
        return {"places": self.project.search(text)}

    def map_layout(self) -> bytes:
        """Return the positions of all items as 32-bit floats."""
        return bytes(self._map.positions().astype("<f4").tobytes())

    def map_state(self) -> bytes:
        """Return four bytes per item: class (two bytes), probability, flags."""
        known = columns(self.project, self.thinker.picture)
        rows = np.zeros(known.label.size, dtype=[("label", "<u2"), ("sure", "u1"), ("flags", "u1")])
        rows["label"] = np.minimum(known.label, 65535)
        rows["sure"] = np.round(255 * known.sure)
        rows["flags"] = (known.status == 0) + 2 * ((known.status > 1) & (known.status < 5))
        return rows.tobytes()

    def _on_screen(self, who: str, holding: str | None) -> Question | None:
        """Return the question on this person's screen if they can still answer it."""
        place = None if holding is None else self.project.store.place(holding)
        if place is None or not self._can_answer(who, place):
            return None
        return self._take(who, self._asked.get(place, Question(place, BY_HAND)))

    def _take(self, who: str, question: Question) -> Question | None:
        """Give a question to a person; return None if somebody else holds its item."""
        if not self._leases.take(who, question.node):
            return None
        self._asked[question.node] = question
        return question

    def _can_answer(self, who: str, place: int) -> bool:
        """Return whether this person has not answered the item yet, or put it off, and other people's answers do not suffice."""
        given = self.project.answers.of(place)
        if who in given:
            return given[who].kind == "later"
        return sum(answer.kind != "later" for answer in given.values()) < self.project.about["overlap"]

    def _next(self, who: str, after: Answer | None) -> Question | None:
        for question in self._offers(who, after):
            if self._take(who, question):
                return question
        self._leases.release(who)
        return None

    def _any_open(self, who: str) -> Question | None:
        """Return a question about a random item that nobody has answered and nobody else holds; None if none is found soon."""
        for _ in range(min(MAX_LOOKS, self._shuffled.size)):
            place = int(self._shuffled[self._looked])
            self._looked = (self._looked + 1) % self._shuffled.size
            if self.project.open_at(place) and (question := self._take(who, Question(place, ANY_OPEN))):
                return question
        return None

    def _offers(self, who: str, after: Answer | None) -> Iterator[Question]:
        """Yield questions for this person: second opinions, items put off and due, odd ones of a group, then the agenda."""
        answers, overlap = self.project.answers, self.project.about["overlap"]
        if overlap > 1:
            short = (place for place in answers.short_of(overlap) if who not in answers.of(place))
            yield from (Question(place, SECOND_OPINION) for place in short)
        yield from (Question(place, PUT_OFF) for place in answers.due(who))
        odd = [place for place, by in self._odd.items() if by == who and self.project.open_at(place)]
        yield from (Question(place, OUT_OF_GROUP) for place in odd)
        agenda = self.thinker.agenda
        planned = agenda.after(after) if agenda else []
        yield from (one for one in planned if one.node not in answers.labels and one.node not in answers.aside)
        if not self._any_left(who):
            put_off = [place for place, kind in answers.aside.items() if kind == "later"]
            others = (place for place in put_off if who not in answers.of(place))
            yield from (Question(place, PUT_OFF) for place in others)
            yield from (Question(place, PUT_OFF) for place in answers.due(who, all_of_them=True))

    def _any_left(self, who: str) -> bool:
        """Return whether there is an item that nobody has answered and nobody else holds."""
        answers = self.project.answers
        held = self._leases.of_others(who) - answers.labels.keys() - answers.aside.keys()
        return len(answers.labels) + len(answers.aside) + len(held) < self.project.n_items

    def was_prefetched(self, after: Answer) -> bool:
        """Return whether the question that follows this answer was computed before the answer came."""
        return self.thinker.agenda is not None and self.thinker.agenda.foresaw(after)

    def _notify(self) -> None:
        people = len(self._leases.active())
        self.alone = people < 2
        self.thinker.notify(max(1, people))

    def _lag(self, known: Any) -> int:
        """Return the number of labels given since an agenda or a picture was computed."""
        since = known.seq if known else 0
        new = takewhile(lambda answer: answer.seq > since, reversed(self.project.answers.log.values()))
        return sum(answer.kind in ("label", "undo") for answer in new)

    def _waiting(self, who: str) -> str:
        if self.thinker.agenda is None:
            return "the first question is being computed"
        if self._any_left(who) or self._lag(self.thinker.agenda):
            return "the next question is being computed"
        return "other people are looking at all items that are left; those come back when they are done"

    def _counts(self) -> Plain:
        answers = self.project.answers
        if self._counted[0] != (answers.seq, answers.changes):
            agreed, classes = answers.agreement(), report.classes(self.project)
            counted = {name: self.project.about[name] for name in ("project", "uid", "overlap")}
            counted |= {"seq": answers.seq, "items": self.project.n_items}
            counted |= {"parquet": find_spec("pyarrow") is not None, "xlsx": find_spec("xlsxwriter") is not None}
            counted["ris"] = has_titles(self.project)
            counted |= {"labels": len(answers.labels), "aside": len(answers.aside), "classes": classes}
            counted |= {"agreement": agreed and {"items": agreed[0], "share": agreed[1]}}
            counted |= {"guidelines": len(answers.guidelines), "changes": answers.changes}
            self._counted = ((answers.seq, answers.changes), counted)
        return self._counted[1]

    def _undoable(self, last: Answer) -> Plain:
        item = self.project.item(last.item)
        return {"item": item.id, "title": self.project.title(item), "what": last.label or last.kind}

    def _search(self) -> Plain | None:
        """Return the class all of whose items are to be found, and how many are left as last computed; None if there is none."""
        sought, picture = self.project.sought, self.thinker.picture
        if sought is None:
            return None
        known = picture and picture.progress["find"]
        return {"class": sought, "left": known if known and known["class"] == sought else None}

    def _update_curve(self) -> list[tuple[int, float, float, float]]:
        """Store the latest expected error, and return all of them by number of labels."""
        picture = self.thinker.picture
        if picture and picture.seq != self._curved and (error := picture.progress["error"]):
            self.project.store.add_to_curve(picture.progress["labels"], error["value"], error["low"], error["high"])
            self._curved = picture.seq
        return self.project.store.curve()
