"""Write answers to a project: to the file itself, or through the server that has it open."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from askgraph.errors import AskgraphError, BusyError, LabelError
from askgraph.workbench.answers import Kind
from askgraph.workbench.backups import BackupPlan, Backups
from askgraph.workbench.classes import ChangeKind, in_words
from askgraph.workbench.forms import as_json
from askgraph.workbench.growing import Removed, remove_items, take_in
from askgraph.workbench.guesses import Guess
from askgraph.workbench.passwords import give_role
from askgraph.workbench.project import Project
from askgraph.workbench.writer_lock import WriterLock

WITHOUT_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy would see the token
REQUEST_SECONDS = 30  # a server that has not answered by then counts as stopped
LONG_SECONDS = 600  # the same while it stores the graph of a large project anew
ANSWERS_PER_REQUEST, CHARACTERS_PER_REQUEST = (
    2000,
    200_000,
)  # a server takes no larger requests than 10,000 answers and 1 MB


class SavedAnswer(NamedTuple):
    """One answer as it stands in the log, and how many were given in the same step."""

    seq: int
    item: str
    kind: str
    label: Any
    together: int


class LocalWriter:
    """Writes to the file itself."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def say(self, who: str, said: list[tuple[str, Kind, Any]]) -> int:
        """Save answers of a person, all or none; return how many."""
        return len(self._project.say_all(who, said))

    def undo(self, who: str) -> SavedAnswer | None:
        """Take back a person's last answer; return it, or None if there is none."""
        together = len(self._project.answers.last_together(who))
        last = self._project.undo(who)
        return last and SavedAnswer(
            last.seq, self._project.items.item(last.item).id, last.kind, as_json(last.label), together
        )

    def add(self, addition: Path) -> int:
        """Take in an addition to the project; return the number of new items."""
        return take_in(self._project.store, addition.name)

    def remove(self, ids: list[str]) -> Removed:
        """Delete items for good."""
        return remove_items(self._project, ids)

    def change(self, who: str, kind: ChangeKind, name: str | None, value: str | None, like: str | None = None) -> None:
        """Change a class."""
        self._project.log.change(who, kind, name, value, like=like)

    def suggest(self, ids: Sequence[str], guesses: Sequence[Guess]) -> None:
        """Store guesses for the items of these ids."""
        self._project.add_guesses(_placed(self._project, ids, guesses))

    def rule(self, who: str, name: str, value: str, ids: Sequence[str], guesses: Sequence[Guess]) -> None:
        """Make a rule that suggests a class, with what it guesses for the items of these ids."""
        self._project.store.add_guesses(_placed(self._project, ids, guesses))
        self._project.log.change(who, "rule", name, value)

    def undo_change(self, who: str, seq: int | None) -> str | None:
        """Take back a change of classes; return it in words, or None if there is none."""
        undone = self._project.log.undo_change(who, seq)
        return undone and in_words(undone)

    def comment(self, who: str, item: str, text: str) -> None:
        """Save a comment on an item."""
        self._project.notes.comment(who, item, text)

    def take_comment_back(self, who: str, seq: int) -> None:
        """Take back a comment of this person."""
        self._project.notes.take_back(who, seq)

    def mark(self, who: str, item: str, on: bool) -> None:
        """Mark an item for a person to come back to it, or remove the mark."""
        self._project.notes.mark(who, item, on)

    def give_reasons(self, who: str, item: str, reasons: list[str]) -> None:
        """Say why a person's answer to an item is what it is."""
        self._project.notes.give_reasons(who, item, reasons)

    def settle(self, who: str, item: str, label: Any) -> None:
        """Save an answer on a second look, which closes a disagreement."""
        self._project.say(who, item, "label", label, how="review")

    def write_guidelines(self, who: str, text: str) -> int:
        """Save a new version of the guidelines; return its number."""
        self._project.log.write_guidelines(who, text)
        return self._project.log.guidelines[0]

    def undo_since(self, by: str, who: str, since: str) -> int:
        """Take back all answers of a person since a time; return how many."""
        return len(self._project.log.undo_since(by, who, since))

    def give_back(self, by: str, who: str) -> int:
        """Let the answers count again that were last taken back from a person so; return how many."""
        return len(self._project.log.give_back(by, who))

    def give_role(self, by: str, who: str, role: str | None, password: str | None) -> str:
        """Give a person a role and a password, or take both away; return the name as it is written."""
        return give_role(self._project, by, who, role, password)


class RemoteWriter:
    """Sends answers to the server that has the project open."""

    def __init__(self, url: str, token: str, path: str | os.PathLike[str]) -> None:
        self._url, self._token, self._path = url, token, path

    def say(self, who: str, said: list[tuple[str, Kind, Any]]) -> int:
        """Save answers of a person; return how many. Many go in several requests, after all of them are checked here."""
        answers = [{"item": item, "kind": kind, "label": as_json(label)} for item, kind, label in said]
        saved, parts = 0, list(_split(answers))
        if len(parts) > 1:
            with Project.open(self._path) as project:
                project.log.check(said)
        for part in parts:
            try:
                saved += self._post("/api/answers", {"key": str(uuid.uuid4()), "who": who, "answers": part})["saved"]
            except AskgraphError as error:
                if not saved:
                    raise
                raise type(error)(f"{error}; the first {saved} of {len(answers)} answers are saved") from None
        return saved

    def undo(self, who: str) -> SavedAnswer | None:
        """Take back a person's last answer; return it, or None if there is none."""
        undone = self._post("/api/undo", {"key": str(uuid.uuid4()), "who": who})["undone"]
        return undone and SavedAnswer(**{name: undone[name] for name in SavedAnswer._fields})

    def add(self, addition: Path) -> int:
        """Let the server take in an addition to the project; return the number of new items."""
        return int(self._post("/api/add", {"addition": addition.name}, LONG_SECONDS)["added"])

    def remove(self, ids: list[str]) -> Removed:
        """Let the server delete items for good."""
        return Removed(**self._post("/api/remove", {"items": ids}, LONG_SECONDS))

    def change(self, who: str, kind: ChangeKind, name: str | None, value: str | None, like: str | None = None) -> None:
        """Change a class."""
        change = {"kind": kind, "name": name, "value": value, "like": like}
        self._post("/api/classes", {"key": str(uuid.uuid4()), "who": who, **change})

    def suggest(self, ids: Sequence[str], guesses: Sequence[Guess]) -> None:
        """Let the server store guesses for the items of these ids, and then count them."""
        self._send_guesses(ids, guesses)
        self._post("/api/suggest", {"guesses": [], "last": True}, LONG_SECONDS)

    def rule(self, who: str, name: str, value: str, ids: Sequence[str], guesses: Sequence[Guess]) -> None:
        """Let the server make a rule that suggests a class, with what it guesses for the items of these ids."""
        self._send_guesses(ids, guesses)  # they count from the line on that makes the rule
        self._post("/api/rule", {"key": str(uuid.uuid4()), "who": who, "name": name, "value": value})

    def _send_guesses(self, ids: Sequence[str], guesses: Sequence[Guess]) -> None:
        rows = [{**one._asdict(), "item": id} for id, one in zip(ids, guesses, strict=True)]
        for part in _split(rows):
            self._post("/api/suggest", {"guesses": part})

    def undo_change(self, who: str, seq: int | None) -> str | None:
        """Take back a change of classes; return it in words, or None if there is none."""
        undone: str | None = self._post("/api/classes/undo", {"key": str(uuid.uuid4()), "who": who, "seq": seq})[
            "undone"
        ]
        return undone

    def comment(self, who: str, item: str, text: str) -> None:
        """Save a comment on an item."""
        self._send("/api/comment", who, item=item, text=text)

    def take_comment_back(self, who: str, seq: int) -> None:
        """Take back a comment of this person."""
        self._send("/api/comment/undo", who, seq=seq)

    def mark(self, who: str, item: str, on: bool) -> None:
        """Mark an item for a person to come back to it, or remove the mark."""
        self._send("/api/mark", who, item=item, on=on)

    def give_reasons(self, who: str, item: str, reasons: list[str]) -> None:
        """Say why a person's answer to an item is what it is."""
        self._send("/api/reasons", who, item=item, reasons=reasons)

    def settle(self, who: str, item: str, label: Any) -> None:
        """Save an answer on a second look, which closes a disagreement."""
        self._send("/api/answer", who, item=item, kind="label", label=as_json(label), review=True)

    def _send(self, route: str, who: str, **said: Any) -> None:
        self._post(route, {"key": str(uuid.uuid4()), "who": who, **said})

    def write_guidelines(self, who: str, text: str) -> int:
        """Save a new version of the guidelines; return its number."""
        return int(self._post("/api/guidelines", {"key": str(uuid.uuid4()), "who": who, "text": text})["version"])

    def undo_since(self, by: str, who: str, since: str) -> int:
        """Take back all answers of a person since a time; return how many."""
        said = {"key": str(uuid.uuid4()), "who": by, "person": who, "since": since}
        return int(self._post("/api/people/undo", said)["taken"])

    def give_back(self, by: str, who: str) -> int:
        """Let the answers count again that were last taken back from a person so; return how many."""
        return int(self._post("/api/people/back", {"key": str(uuid.uuid4()), "who": by, "person": who})["given"])

    def give_role(self, by: str, who: str, role: str | None, password: str | None) -> str:
        """Give a person a role and a password, or take both away; return the name as it is written."""
        said = {"key": str(uuid.uuid4()), "who": by, "name": who, "role": role, "password": password}
        return str(self._post("/api/role", said)["name"])

    def _post(self, route: str, body: dict[str, Any], seconds: float = REQUEST_SECONDS) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._url + route, json.dumps(body).encode(), headers)
        try:
            with WITHOUT_PROXY.open(request, timeout=seconds) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:  # it holds the connection, which Python 3.14 says is left open
                said = json.loads(error.read() or b"{}").get("error", str(error))
            raise (BusyError if error.code >= 500 else LabelError)(said) from None
        except OSError as error:
            raise BusyError(f"the server at {self._url} does not answer ({error}); stop it, or try again") from None


def _placed(project: Project, ids: Sequence[str], guesses: Sequence[Guess]) -> list[Guess]:
    """Return guesses by the places that the items of these ids have now."""
    places = project.items.places(ids)
    return [one._replace(item=place) for place, one in zip(places, guesses, strict=True)]


def _split(answers: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield answers in parts that a server takes."""
    part: list[dict[str, Any]] = []
    size = 0
    for answer in answers:
        length = len(json.dumps(answer))
        if part and (len(part) == ANSWERS_PER_REQUEST or size + length > CHARACTERS_PER_REQUEST):
            yield part
            part, size = [], 0
        part.append(answer)
        size += length
    yield part


@contextmanager
def open_writer(path: str | os.PathLike[str]) -> Iterator[LocalWriter | RemoteWriter]:
    """Yield the writer of this project: through its server if one runs, else to the file itself."""
    if server := WriterLock(path).server():
        yield RemoteWriter(server.url, server.token, path)
    else:
        plan = BackupPlan.from_environment()
        with Project.open(path, write=True) as project:
            yield LocalWriter(project)
            Backups(project.store, plan).make_if_due(project.store.lines)
