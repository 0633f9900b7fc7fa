"""Four people label, change classes and items, and the server is killed meanwhile: exports are what a model kept apart says.

``ASKGRAPH_LONG=1`` walks 2,000 requests. A kind of step is one function in ``STEPS``.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from contextlib import suppress

import httpx
import pytest

from tests.helpers.plain_model import PlainModel
from tests.helpers.processes import run
from tests.helpers.projects import labels_of
from tests.helpers.serving import CENTERS, HANGS, Server, key, make_project, write_table

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.long]
LONG = os.environ.get("ASKGRAPH_LONG") == "1"
PEOPLE = ("ann", "bob", "cy", "di")
NAMES = (*CENTERS, "a new one", "caf\u00e9")
KILL_SECONDS = 0.03  # a server is killed at most this long after a request was sent


class Walk:
    """A server, the model beside it, and steps drawn at random; each request is sent again after a kill, under its key."""

    def __init__(self, folder, seed, kills):
        self.draw, self.kills, self.killed, self.requests, self.compared = random.Random(seed), kills, 0, 0, 0
        self.folder, self.model = folder, PlainModel(list(CENTERS))
        self.ids, self.next = [f"n{k}" for k in range(30)], 30
        self.server = Server(make_project(folder, 30))

    def send(self, path, **body):
        """Send a request until it is acknowledged; now and then the server is killed while it works on it."""
        self.requests += 1
        if self.draw.random() < self.kills:
            self.kill_while(path, body)
        with self.server.client() as client:
            return client.post(path, json=body)

    def kill_while(self, path, body):
        def send_first():
            with suppress(httpx.HTTPError), self.server.client() as client:
                client.post(path, json=body)

        sending = threading.Thread(target=send_first)
        sending.start()
        time.sleep(self.draw.uniform(0, KILL_SECONDS))
        self.server.kill()
        sending.join(HANGS)
        self.server.start()
        self.killed += 1

    def compare(self):
        """Compare what is exported with the model, by another process than the one that saved it."""
        self.compared += 1
        with self.server.client() as client:
            while (said := client.get("/api/export", params={"format": "jsonl"})).status_code == 503:
                time.sleep(0.1)  # the process that predicts is being started again, or has not heard of new items
            rows = said.raise_for_status().text.splitlines()
            names = {one["name"] for one in client.get("/api/classes").raise_for_status().json()["classes"]}
        given = {row["id"]: row["label"] for row in map(json.loads, rows) if row["source"] == "answered"}
        assert given == labels_of(self.server.path) == self.model.labels
        assert names == self.model.classes
        assert len(rows) == len(self.ids)

    def answer(self):
        who, item = self.draw.choice(PEOPLE), self.draw.choice(self.ids)
        kind = self.draw.choice(["label"] * 7 + ["later", "cannot", "invalid"])
        name = self.draw.choice(NAMES) if kind == "label" else None
        self.send("/api/answer", key=key(), who=who, item=item, kind=kind, label=name).raise_for_status()
        self.model.say(who, item, kind, name)

    def answer_many(self):
        who, name, items = self.draw.choice(PEOPLE), self.draw.choice(NAMES), self.draw.sample(self.ids, 6)
        path, given = self.draw.choice(["/api/confirm", "/api/group/confirm"]), key()
        said = self.send(path, key=given, who=who, items=items, label=name).raise_for_status()
        new = [item for item in items if self.model.may_answer(who, item)]
        assert said.json()["saved"] == len(new)
        self.model.say_all(who, new, "label", name)

    def undo(self):
        who = self.draw.choice(PEOPLE)
        self.send("/api/undo", key=key(), who=who).raise_for_status()
        self.model.undo(who)

    def change(self):
        kind, name = self.draw.choice(["rename", "rename", "merge", "add", "describe"]), self.draw.choice(NAMES)
        value = {"describe": "as it is", "add": None}.get(kind, self.draw.choice(NAMES))
        said = self.send("/api/classes", key=key(), who="ann", kind=kind, name=name, value=value)
        assert said.status_code == (200 if self.model.can(kind, name, value) else 422), said.text
        if self.model.can(kind, name, value):
            self.model.change(kind, name, value)

    def change_and_take_back(self):
        self.change()
        if self.model.before is not None:
            self.send("/api/classes/undo", key=key(), who="ann").raise_for_status()
            self.model.undo_change()

    def remove(self):
        if len(self.ids) > 20:
            item = self.ids.pop(self.draw.randrange(len(self.ids)))
            assert self.send("/api/remove", items=[item]).status_code in (
                200,
                404,
            )  # 404: it was removed before the kill
            self.model.remove(item)

    def add(self):
        write_table(self.folder / "more.csv", self.next + 1, first=self.next)
        done = run("add", str(self.folder / "more.csv"), "-p", str(self.server.path))
        assert done.returncode == 0, done.stderr
        self.ids.append(f"n{self.next}")
        self.next += 1
        self.requests += 1
        self.model.before = None


STEPS = {  # each with how often it is drawn
    Walk.answer: 10,
    Walk.answer_many: 3,
    Walk.undo: 6,
    Walk.change: 10,
    Walk.change_and_take_back: 2,
    Walk.remove: 1,
    Walk.add: 1,
}


@pytest.mark.parametrize("seed", [23])
def test_what_is_exported_is_what_a_model_kept_apart_says_whatever_people_do_and_whenever_the_server_is_killed(
    tmp_path, seed
):
    requests, kills = (2000, 0.02) if LONG else (60, 0.05)
    walk = Walk(tmp_path, seed, kills)
    try:
        while walk.requests < requests:
            for step in walk.draw.choices(list(STEPS), STEPS.values(), k=50 if LONG else 15):
                step(walk)
            walk.compare()
    finally:
        walk.server.stop()
    assert walk.killed
    print(f"{walk.requests} requests, {walk.killed} kills, {walk.compared} comparisons")
