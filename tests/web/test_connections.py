"""Connections that cost something: those who open them lose them, and nobody else notices."""

from __future__ import annotations

import asyncio
import resource
import socket
from contextlib import ExitStack, asynccontextmanager, contextmanager

import pytest
import uvicorn

from askgraph.errors import BusyError
from askgraph.web import connections as module
from askgraph.web import security
from askgraph.web.connections import Connections, Listener, most_connections
from askgraph.web.security import Guard, PasswordTries, Refused, Sessions
from askgraph.web.threads import Threads
from tests.helpers.serving import HANGS, Server, answer, ask, key, make_project, serving

HALF = b"GET /api/state?who=ann HTTP/1.1\r\nHost: localhost\r\nX-Half: "
WHOLE = b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Fake:
    """A connection that knows whether it was ended."""

    def __init__(self, idle=False):
        self.transport, self.ended, self.is_idle = self, False, idle

    def abort(self):
        self.ended = True


def test_who_opens_many_loses_the_oldest_and_nobody_else_any():
    open_ = Connections(most=6)
    person, many = Fake(), [Fake() for _ in range(10)]
    open_.add(person, "192.0.2.1")
    for one in many:
        open_.add(one, "192.0.2.2")
    assert [one.ended for one in many] == [True] * 7 + [False] * 3
    assert not person.ended


def test_who_has_sent_a_token_is_never_disconnected_for_others():
    open_ = Connections(most=10)
    people, many = [Fake() for _ in range(6)], [Fake() for _ in range(50)]
    for k, one in enumerate(people):
        open_.add(one, f"192.0.2.{k}")
        open_.trust(one)
    for k, one in enumerate(many):
        open_.add(one, f"198.51.100.{k}")
    assert [one.ended for one in many] == [True] * 46 + [False] * 4
    assert not any(one.ended for one in people)
    for one in many[46:]:
        open_.trust(one)
    late = Fake()
    open_.add(late, "192.0.2.1")
    assert late.ended  # all places are taken by people who are being answered
    people[2].is_idle = people[4].is_idle = True
    open_.trust(people[2])  # its latest request is the newer one
    later = Fake()
    open_.add(later, "192.0.2.1")
    assert [one.ended for one in (*people, later)] == [False, False, False, False, True, False, False]
    for one in (*people, *many, late, later):
        open_.discard(one)
    assert (open_._strangers, open_._trusted, open_._by_address) == ({}, {}, {})


def test_connections_leave_half_of_the_files_to_the_rest(few_files):
    assert most_connections() == 128


@pytest.fixture
def few_files():
    with limited_files(256):
        yield


@contextmanager
def limited_files(n):
    """A limit on the files that this process and those started meanwhile may open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (n, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@asynccontextmanager
async def listening(app):
    """A server of an ASGI application in this process; yields its address."""
    with Listener(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, http=Connections().protocol, ws="none", lifespan="off", log_level="error")
        server = uvicorn.Server(config)
        running = asyncio.create_task(server._serve([listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        yield listener.getsockname()
        server.should_exit = True
        await running


async def read_end(reader):
    """What comes until the connection ends, however it ends."""
    got = b""
    try:
        while piece := await asyncio.wait_for(reader.read(1000), HANGS):
            got += piece
    except ConnectionResetError:
        pass
    return got


@pytest.mark.slow
def test_headers_that_do_not_come_in_time_end_the_connection_and_answers_may_take_longer(monkeypatch):
    monkeypatch.setattr(module, "HEADER_SECONDS", 0.3)
    seen = []

    async def slow(scope, receive, send):
        seen.append(scope["path"])
        await asyncio.sleep(3 * module.HEADER_SECONDS if scope["path"] == "/slow" else 0)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def tried():
        async with listening(slow) as (host, port):
            got = []
            for sent in (b"", HALF, WHOLE % b"quick" + HALF, WHOLE % b"slow" + HALF):
                begun = socket.create_connection((host, port))
                begun.sendall(sent)  # it lies there before the server sees the connection, and its clock starts
                reader, writer = await asyncio.open_connection(sock=begun)
                got.append(await read_end(reader))
                writer.close()
            return got

    idle, half, second, late = asyncio.run(tried())
    assert (idle, half) == (b"", b"")
    assert second.startswith(b"HTTP/1.1 200")
    assert late.startswith(b"HTTP/1.1 200")
    assert seen == ["/quick", "/slow"]


@pytest.mark.server
def test_hundreds_of_half_sent_requests_stop_nobody(tmp_path):
    # Promise 26
    path = make_project(tmp_path)
    with limited_files(256):
        server = Server(path)
    with ExitStack() as stack, server.client() as ann:
        ask(ann)
        for k in range(600):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=HANGS))
            half.sendall(HALF if k % 2 else b"")
            if k % 100 == 0:
                answer(ann, f"n{k // 100}", "east")
                with server.client() as bob:  # somebody new, at a door that many stand at
                    answer(bob, f"n{10 + k // 100}", "west", "bob")
        assert ann.get("/api/state?who=ann").json()["labels"] == 12
        server.process.terminate()
        said, _ = server.process.communicate(timeout=HANGS)
    assert len(said) < 1000, said[:2000]


@pytest.mark.server
def test_a_handshake_for_another_protocol_needs_a_token_like_anything(tmp_path):
    with serving(make_project(tmp_path)) as server, server.client() as client:
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "x", "Authorization": ""}
        for _ in range(3):
            assert client.get("/", headers=upgrade).status_code == 401
        body = {"key": key(), "who": "ann", "item": "n1", "kind": "label", "label": "east"}
        assert client.post("/api/answer", json=body).status_code == 200
        for other in ({"item": "n2"}, {"label": "west"}, {"who": "bob"}):
            refused = client.post("/api/answer", json={**body, **other})
            assert refused.status_code == 409
            assert "new key" in refused.json()["error"]
        server.process.terminate()
        said, _ = server.process.communicate(timeout=HANGS)
    assert not said.replace(
        "Stop with Ctrl-C; every answer is saved at once.", ""
    ).strip()  # nothing sent makes the log grow


def test_a_session_ends_and_only_its_server_can_have_started_it(monkeypatch):
    now = [1000.0]
    sessions = Sessions("token", "password", lambda: now[0])
    session = sessions.start()
    assert session != sessions.start()
    assert sessions.read(session) == (None, "t")
    assert Sessions("token", "password", lambda: now[0]).read(session)  # the next server goes on
    assert Sessions("token", "another", lambda: now[0]).read(session) is None
    assert Sessions("guess", "password", lambda: now[0]).read(session) is None
    ends, nonce, how, signature = session.split(".")
    for forged in (
        "",
        ".",
        "..",
        f"{ends}9.{nonce}.{how}.{signature}",
        f"x.{nonce}.{how}.{signature}",
        f"{ends}.{nonce}.p.{signature}",
        f"{ends}.{nonce}.YW5u.{signature}",
        f"{ends}.{nonce}.{signature}",
        f"{ends}.{nonce}.{how}.",
        "é.é.é",
        "é.é.é.é",
    ):
        assert sessions.read(forged) is None
    now[0] += security.SESSION_SECONDS
    assert sessions.read(session) is None


def test_wrong_passwords_cost_the_address_they_come_from():
    now = [0.0]
    tries = PasswordTries(lambda: now[0])
    for _ in range(security.FIRST_TRIES):
        tries.count("192.0.2.1")
    for _ in range(1000):
        with pytest.raises(Refused) as refused:
            tries.count("192.0.2.1")
    assert refused.value.status == 429
    assert refused.value.headers == {"retry_after": "1"}  # trying on makes the wait no longer
    tries.count("192.0.2.2")
    now[0] += 1
    tries.count("192.0.2.1")
    with pytest.raises(Refused):
        tries.count("192.0.2.1")
    for k in range(security.FIRST_TRIES):
        tries.count(f"2001:db8::{k:x}")
    with pytest.raises(Refused):
        tries.count("2001:db8::ffff")  # one network, one who tries
    tries.count("2001:db8:1::1")


def test_the_addresses_remembered_are_bounded(monkeypatch):
    monkeypatch.setattr(security, "MAX_ADDRESSES", 100)
    tries = PasswordTries(lambda: 0.0)
    for k in range(1000):
        tries.count(f"10.0.{k // 250}.{k % 250}")
    assert len(tries._paid) == 100


def test_a_request_that_a_stop_cuts_off_is_told_to_come_again():
    async def cut_off(scope, receive, send):
        raise asyncio.CancelledError

    async def after_the_end(scope, receive, send):
        run = Threads()
        run.close()
        await run(print)

    async def status_of(app):
        sent = []

        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        headers = [(b"host", b"localhost"), (b"authorization", b"Bearer token")]
        scope = {"type": "http", "method": "GET", "path": "/api/state", "query_string": b"", "headers": headers}
        await Guard(app, "token")(scope, receive, send)
        return sent[0]["status"], b"the next one" in sent[1]["body"]

    assert asyncio.run(status_of(cut_off)) == (503, True)
    with pytest.raises(BusyError, match="the next one"):
        asyncio.run(after_the_end(None, None, None))
