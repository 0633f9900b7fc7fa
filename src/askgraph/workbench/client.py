"""Writing to a project: to the file itself, or through the server that has it open."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from askgraph.errors import BusyError, LabelError
from askgraph.workbench.answers import Kind
from askgraph.workbench.project import Project
from askgraph.workbench.writer_lock import WriterLock

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the token is for nobody on the way


class Said(NamedTuple):
    """One answer as it was written."""

    seq: int
    item: str
    kind: str
    label: str | None


class Local:
    """The writer is this program."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def say(self, who: str, said: list[tuple[str, Kind, str | None]]) -> int:
        """Answers of a person, all or none; how many."""
        return len(self._project.say_all(who, said))

    def undo(self, who: str) -> Said | None:
        """Take back a person's last answer."""
        last = self._project.undo(who)
        return last and Said(last.seq, self._project.item(last.item).id, last.kind, last.label)


class Remote:
    """A server has the project open: it writes what we send."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token

    def say(self, who: str, said: list[tuple[str, Kind, str | None]]) -> int:
        """Answers of a person, all or none; how many."""
        answers = [{"item": item, "kind": kind, "label": label} for item, kind, label in said]
        return int(self._post("/api/answers", {"key": str(uuid.uuid4()), "who": who, "answers": answers})["saved"])

    def undo(self, who: str) -> Said | None:
        """Take back a person's last answer."""
        undone = self._post("/api/undo", {"key": str(uuid.uuid4()), "who": who})["undone"]
        return undone and Said(undone["seq"], undone["item"], undone["kind"], undone["label"])

    def _post(self, route: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._url + route, json.dumps(body).encode(), headers)
        try:
            with DIRECT.open(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = json.loads(error.read() or b"{}").get("error", str(error))
            raise (BusyError if error.code >= 500 else LabelError)(said) from None
        except OSError as error:
            raise BusyError(f"the server at {self._url} does not answer ({error}); stop it, or try again") from None


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Local | Remote]:
    """Whoever writes to this project now."""
    if server := WriterLock(path).server():
        yield Remote(server.url, server.token)
    else:
        with Project.open(path, write=True) as project:
            yield Local(project)
