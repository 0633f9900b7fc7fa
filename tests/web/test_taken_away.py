"""A running server and its files: a project that is taken away stops acknowledging, backups and imports stop nobody."""

from __future__ import annotations

import os
import threading
import time

import pytest

from askgraph.workbench.backups import list_backups
from askgraph.workbench.restoring import copy_project
from tests.helpers.processes import start
from tests.helpers.projects import log_of
from tests.helpers.serving import answer, key, make_project, serving, truth

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(os.name != "posix", reason="open files can be renamed and removed as POSIX has it"),
]

HANGS = 600.0  # seconds after which a wait counts as one without end


def rename(path):
    path.rename(path.with_name("elsewhere.ask"))


def replace(path):
    """What programs do that keep folders alike on several machines."""
    other = path.with_name("other.ask")
    copy_project(path, other)
    other.replace(path)


def remove(path):
    path.unlink()


@pytest.mark.parametrize("happens", [rename, replace, remove])
def test_a_running_server_acknowledges_nothing_once_its_project_is_taken_away(tmp_path, happens):
    # Promise 31
    path = make_project(tmp_path)
    with serving(path) as server, server.client() as client:
        answer(client, "n0", "north", key="kept before")
        happens(path)
        for name in ("/api/answer", "/api/answers", "/api/undo", "/api/classes", "/api/guidelines", "/api/confirm"):
            refused = client.post(name, json=BODIES[name] | {"key": key(), "who": "ann"})
            assert refused.status_code == 503, (name, refused.text)
            assert "was renamed, replaced or removed while it was open" in refused.json()["error"]
            assert len(refused.json()["error"]) <= 500
        assert client.get("/api/state", params={"who": "ann"}).status_code == 200  # what is known is still shown
    (rescued,) = path.parent.glob("points.ask.*.old")
    assert [a.key for a in log_of(rescued)] == ["kept before"]


BODIES = {
    "/api/answer": {"item": "n1", "kind": "label", "label": "east"},
    "/api/answers": {"answers": [{"item": "n2", "kind": "label", "label": "east"}]},
    "/api/undo": {},
    "/api/classes": {"kind": "add", "name": "south"},
    "/api/guidelines": {"text": "north is up"},
    "/api/confirm": {"items": ["n3"], "label": "west"},
}


def test_a_project_that_is_put_back_under_a_running_server_goes_on(tmp_path):
    path = make_project(tmp_path)
    with serving(path) as server, server.client() as client:
        rename(path)
        body = {"key": "one and the same", "who": "ann", "item": "n0", "kind": "label", "label": "north"}
        assert client.post("/api/answer", json=body).status_code == 503
        path.with_name("elsewhere.ask").rename(path)
        assert client.post("/api/answer", json=body).status_code == 200
    assert [a.key for a in log_of(path)] == ["one and the same"]


def test_backups_are_made_while_people_answer_and_each_is_whole(tmp_path):
    # Promise 30
    path, enough = make_project(tmp_path), threading.Event()
    with serving(path, env={"ASKGRAPH_BACKUP_ANSWERS": "10"}) as server:
        people = [threading.Thread(target=label_until, args=(server, f"person {k}", enough)) for k in range(3)]
        for one in people:
            one.start()
        try:
            eventually(lambda: len(list_backups(path)) > 1)
        finally:
            enough.set()
            for one in people:
                one.join()
    log, made = [a.key for a in log_of(path)], list_backups(path)
    assert len(made) > 1
    for backup in made:
        kept = [a.key for a in log_of(backup.path)]
        assert 0 < backup.lines <= len(kept)  # an answer may come between the count and the copy
        assert kept == log[: len(kept)]  # what had been acknowledged until then, in order


def label_until(server, who, enough):
    with server.client() as client:
        while not enough.wait(0.05):
            answer(client, "n0", "north", who)


def eventually(true):
    end = time.monotonic() + HANGS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.long
def test_a_large_file_of_labels_comes_in_by_parts_while_people_answer(tmp_path):
    n, each = 12_000, 10  # more items than one request may bring
    path, many = make_project(tmp_path, n), tmp_path / "many.csv"
    many.write_text("id,label\n" + "".join(f"n{k},{truth(f'n{k}')}\n" for k in range(100, n)))
    tell = ["tell", "--file", many, "--who", "lab", "-p", path]
    with serving(path) as server, server.client() as client:
        with start(tell) as importing:
            said = 0
            while importing.poll() is None or said < each:
                answer(client, f"n{said % 100}", truth(f"n{said % 100}"), "ann")
                said += 1
            output = importing.stdout.read()
        assert importing.returncode == 0, output
    log = log_of(path)
    assert sum(a.who == "lab" for a in log) == n - 100
    assert sum(a.who == "ann" for a in log) == said
    assert len({a.key for a in log}) == len(log)
