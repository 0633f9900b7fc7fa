"""The thinker stopped, busy or dead: nobody but those who asked it something waits for it."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from concurrent.futures import wait
from contextlib import contextmanager
from multiprocessing import Pipe

import pytest

import askgraph as ag
from askgraph.errors import BusyError
from askgraph.web import thinker_process as module
from askgraph.web.thinker_process import Outbox, ThinkerProcess
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.projects import make, say
from tests.helpers.serving import CENTERS, HANGS, answer, ask, make_project, serving, thinker, until

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(os.name != "posix", reason="processes are stopped by signals"),
]
AGAIN = "predictions are being computed again"


def eventually(true, seconds=HANGS):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def path(tmp_path):
    return make(tmp_path / "p.ask", classes=["a", "b"])


@pytest.fixture
def working(path):
    """A thinker that has chosen questions and predicted, awake at the end."""
    process = ThinkerProcess(path)
    eventually(lambda: process.picture is not None)
    yield process
    process.stop()


def halt(process):
    os.kill(process._process.pid, signal.SIGSTOP)


def go_on(process):
    os.kill(process._process.pid, signal.SIGCONT)


def test_answers_are_saved_while_the_thinker_does_not_read(tmp_path):
    # Promise 19
    with serving(make_project(tmp_path, n=60)) as server, server.client() as client:
        ask(client)
        pid = thinker(server)
        os.kill(pid, signal.SIGSTOP)
        slowest = 0.0
        try:
            for k in range(600):
                start = time.monotonic()
                answer(client, f"n{k % 59}", list(CENTERS)[k % 3], who=("ann", "cy")[k % 2])
                slowest = max(slowest, time.monotonic() - start)
            state = client.get("/api/state?who=bob").raise_for_status().json()
            assert (state["labels"], state["lag"]) == (59, 600)
        finally:
            os.kill(pid, signal.SIGCONT)
        start = time.monotonic()
        until(client, "/api/state?who=bob", lambda said: said["lag"] == 0)
        took = time.monotonic() - start
        held = [client.post("/api/question", json={"who": who}).json()["question"] for who in ("ann", "cy")]
        assert [one["item"]["id"] for one in held if one] == ["n59"]
    print(f"600 answers saved beside a stopped process, the slowest in {slowest:.3f} s; caught up after {took:.1f} s")


def test_a_server_ends_though_its_thinker_was_stopped_and_an_export_waits(tmp_path):
    with serving(make_project(tmp_path)) as server, server.client() as client:
        ask(client)
        os.kill(thinker(server), signal.SIGSTOP)
        host, port = server.base.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=HANGS) as export:
            head = f"Host: localhost\r\nAuthorization: Bearer {server.token}\r\nConnection: close"
            export.sendall(f"GET /api/export HTTP/1.1\r\n{head}\r\n\r\n".encode())
            for item in ("n1", "n2"):  # the server takes requests in order: when these are answered, the export waits
                answer(client, item, "east")
            server.process.send_signal(signal.SIGINT)
            out, _ = server.process.communicate(timeout=HANGS)
            said = b"".join(iter(lambda: export.recv(4096), b"")).decode()
        assert server.process.returncode == 0
        assert "Traceback" not in out
        assert said.split()[1] == "503"
        assert "the server was stopped" in said


def test_nobody_waits_for_a_process_that_does_not_read(working, path):
    halt(working)
    start = time.monotonic()
    for k in range(3000):
        working.notify(k % 7 + 1)
    asked = [working.request("why", 0) for _ in range(module.MAX_REQUESTS + 50)]
    assert time.monotonic() - start < HANGS
    refused = [future for future in asked if future.done()]
    assert len(refused) == 50
    with pytest.raises(BusyError, match="try in a moment"):
        refused[0].result()
    say(path, ("i3", "a"))
    working.notify(2)
    go_on(working)
    done, _ = wait(asked, HANGS)
    assert len(done) == len(asked)
    assert asked[0].result()
    eventually(lambda: working.agenda.seq == 1)


def test_a_request_that_is_given_up_is_not_computed_and_does_no_harm(working, path):
    halt(working)
    asked = [working.request("why", 0) for _ in range(50)]
    assert all(future.cancel() for future in asked)
    assert (len(working._waiting), len(working._outbox._requests)) == (0, 0)
    go_on(working)
    assert working.request("why", 1).result(HANGS)  # answered by a thread that outlived what came for the first
    say(path, ("i3", "a"))
    working.notify(1)
    eventually(lambda: working.agenda.seq == 1)


def test_what_was_asked_of_a_process_that_dies_is_refused_and_the_next_one_hears_the_latest(working, path):
    first = working._process
    halt(working)
    asked = [working.request("why", 0) for _ in range(20)]
    for people in range(1, 400):
        working.notify(people)
    say(path, ("i3", "a"))
    os.kill(first.pid, signal.SIGKILL)
    for future in asked:
        with pytest.raises(BusyError, match=AGAIN):
            future.result(HANGS)
    eventually(lambda: working._process is not first and working.agenda.seq == 1)
    assert working.request("why", 1).result(HANGS)
    assert not working._outbox._unsent
    assert not any(
        thread.name == "askgraph-outbox" for thread in threading.enumerate() if thread is not working._outbox._thread
    )


def test_while_there_is_no_process_requests_are_refused_at_once(working, monkeypatch):
    monkeypatch.setattr(module, "RESTART_SECONDS", (60.0, 60.0))
    os.kill(working._process.pid, signal.SIGKILL)
    eventually(lambda: working.status == "restarting")
    with pytest.raises(BusyError, match=AGAIN):
        working.request("why", 0).result(0)
    working.notify(3)  # for the next one


def test_a_stopped_process_does_not_hold_up_the_end(working):
    halt(working)
    for _ in range(1000):
        working.notify(1)
    start = time.monotonic()
    working.stop()
    assert time.monotonic() - start < module.END_SECONDS + HANGS
    assert working._process.exitcode in (-signal.SIGTERM, -signal.SIGKILL)  # killed, the first of the two is said
    assert not working._thread.is_alive()


def test_of_what_was_heard_only_the_latest_waits():
    here, there = Pipe()
    outbox = Outbox()
    outbox.notify(5)
    outbox.open(here)
    assert there.recv() == (0, "news", 5)
    for people in range(1000):
        outbox.notify(people)
    assert outbox.request(1, "why", 7)
    assert outbox.request(2, "why", 8)
    assert outbox.request(3, "why", 9)
    outbox.drop(2)
    assert there.recv() == (1, "why", 7)
    assert not there.poll(0.1)
    outbox.answered("news")
    assert there.recv() == (0, "news", 999)
    outbox.answered("request")
    assert there.recv() == (3, "why", 9)
    outbox.answered("news")
    assert not there.poll(0.1)
    there.close()
    outbox.close()
    assert not outbox.request(4, "why", 1)


def test_items_can_change_while_a_process_is_being_started(working, monkeypatch):
    """Two commands that add or remove items, one right after the other."""
    starting, release, changed = threading.Event(), threading.Event(), threading.Event()

    @contextmanager
    def slowly():
        starting.set()
        assert release.wait(HANGS)
        yield

    def change():
        with working.away(forget=True):
            changed.set()

    monkeypatch.setattr(module, "_ignoring_ctrl_c", slowly)
    working._process.kill()
    assert starting.wait(HANGS)
    command = threading.Thread(target=change)
    command.start()
    eventually(lambda: not working._may_start.is_set())
    release.set()
    command.join(HANGS)
    assert changed.is_set()
    eventually(lambda: working.agenda is not None)  # the next process is at work


def test_what_words_describe_is_asked_for_once_the_texts_are_read(tmp_path):
    texts = [f"{('a mail server', 'a puzzle game', 'a music player')[k % 3]} called {chr(97 + k)}" for k in range(24)]
    table = tmp_path / "packages.csv"
    table.write_text("id,text\n" + "".join(f"p{k},{text}\n" for k, text in enumerate(texts)))
    Project.create(tmp_path / "p.ask", Source(table, id="id", text=["text"], neighbors=3), ["mail", "other"])
    body = {"who": "ann", "kind": "find", "name": "mail", "value": None, "like": "server for mails"}
    with serving(tmp_path / "p.ask") as server, server.client() as client:
        assert client.get("/api/state?who=ann").json()["texts"]
        for wrong, status in ((" ", 422), ("x" * 1001, 422), ("x" * 20_000, 422)):
            refused = client.post("/api/classes", json={**body, "key": f"key of {len(wrong)}", "like": wrong})
            assert refused.status_code == status, wrong
        found = client.post("/api/classes", json={**body, "key": "key of words"}).json()["state"]["find"]
        assert found["like"] == "server for mails"
        until(client, "/api/items?like=mail&limit=9", lambda said: "waiting" not in said)
        listed = client.get("/api/items", params={"like": "a server for mail", "limit": 8}).json()["items"]
        assert {row["id"] for row in listed} == {f"p{k}" for k in range(0, 24, 3)}
        assert client.get("/api/items", params={"like": "犬が"}).json()["total"] == 0
        assert client.get("/api/items", params={"like": "mail", "status": "labeled"}).json()["total"] == 0
        assert client.get("/api/items", params={"like": "x" * 1001}).status_code == 422
        asked = []
        for _ in range(5):
            id = ask(client)["question"]["item"]["id"]
            asked.append(id)
            answer(client, id, "mail" if int(id[1:]) % 3 == 0 else "other", "ann")
        assert sum(int(id[1:]) % 3 == 0 for id in asked) >= 3  # by chance 1 or 2; the first may have been chosen before
        server.kill()
        server.start()
        with server.client() as again:
            assert again.get("/api/state?who=ann").json()["find"]["like"] == "server for mails"
            assert ask(again)["question"]


def test_items_without_texts_are_like_no_words(tmp_path):
    ag.chain(6).save(tmp_path / "g.npz")
    Project.create(tmp_path / "g.ask", Source(graph=tmp_path / "g.npz"), ["a", "b"])
    body = {"key": "key of words", "who": "ann", "kind": "find", "name": "a", "value": None, "like": "a mail server"}
    with serving(tmp_path / "g.ask") as server, server.client() as client:
        assert not client.get("/api/state?who=ann").json()["texts"]
        for refused in (client.post("/api/classes", json=body), client.get("/api/items?like=mail")):
            assert refused.status_code == 422
            assert "no field of text" in refused.json()["error"]
