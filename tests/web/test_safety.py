"""Who may talk to the server, and what it lets out."""

from __future__ import annotations

import asyncio
import json
import select
import signal
import socket
import subprocess
import sys

import httpx
import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

import askgraph as ag
from askgraph.learner.settings import Settings
from askgraph.web import security
from askgraph.web.app import application
from askgraph.web.complaints import Complaints
from askgraph.web.demo import png
from askgraph.web.headers import POLICY
from askgraph.web.security import MAX_BODY, Guard, respond
from askgraph.workbench.items import Items
from askgraph.workbench.store import Store
from tests.helpers.odd_requests import PATHS, broken_bodies, odd_requests, reply
from tests.helpers.serving import HANGS, NO_CERTIFICATES, ask, key, make_project, serving, starting

pytestmark = pytest.mark.server
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(make_project(tmp_path_factory.mktemp("safe"))) as running:
        with running.client() as client:
            ask(client)
        yield running


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def routes():
    return sorted(
        (method.upper(), path)
        for path, methods in application(_NoDesk()).openapi()["paths"].items()
        for method in methods
    )


class _NoDesk:
    """Enough of a desk to read the description of the routes."""


@pytest.mark.parametrize(
    ("method", "path"), [*routes(), ("GET", "/"), ("GET", "/page/main.js"), ("GET", "/openapi.json")]
)
def test_no_route_without_a_token(server, method, path):
    # Promise 23
    bare = httpx.request(method, server.base + path.replace("{place}", "1"), **NO_CERTIFICATES)
    assert bare.status_code == 401
    assert bare.headers["content-security-policy"] == POLICY
    wrong = httpx.request(method, server.base + path, headers={"Authorization": "Bearer guess"}, **NO_CERTIFICATES)
    assert wrong.status_code == 401


def test_the_link_opens_the_page_and_its_cookie_does_from_then_on(server):
    with httpx.Client(follow_redirects=True) as browser:
        page = browser.get(server.url + "&who=ann")
        assert page.status_code == 200
        assert "token" not in str(page.url)
        cookie = page.history[0].headers["set-cookie"]
        assert {"HttpOnly", "SameSite=Lax"} <= {part.strip() for part in cookie.split(";")}
        assert browser.get(f"{server.base}/api/state?who=ann").status_code == 200
    refused = httpx.get(f"{server.base}/?token=guess")
    assert refused.status_code == 401
    assert "open the one that askgraph printed last" in refused.text
    assert refused.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::1", "localhost.evil.example:80"])
def test_another_name_is_refused(client, host):
    # Promise 23
    assert client.get("/api/state?who=ann", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:1", "[::1]:1"])
def test_names_of_this_machine_are_let_in(client, host):
    assert client.get("/api/state?who=ann", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_nothing_comes_from_another_site(client, method, headers):
    # Promise 23
    path = "/api/undo" if method == "POST" else "/api/history"
    body = {"key": key(), "who": "ann"} if method == "POST" else None
    assert client.request(method, path, json=body, headers=headers).status_code == 403


def test_every_response_has_the_policy(client):
    # Promise 22
    for path in ("/", "/page/style.css", "/api/state?who=ann", "/api/item?id=nobody", "/nowhere", "/images/1"):
        answer = client.get(path)
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_public_address_needs_a_password(tmp_path):
    # Promise 23
    path = make_project(tmp_path)
    command = [sys.executable, "-m", "askgraph", "serve", "-p", str(path), "--host", "0.0.0.0"]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "--password" in refused.stderr


def test_a_password_opens_the_door(tmp_path):
    path = make_project(tmp_path)
    options = ("--host", "0.0.0.0", "--port", "0")
    with serving(path, *options, env={"ASKGRAPH_PASSWORD": "sesame"}) as server:
        port = server.base.rsplit(":", 1)[1]
        base = f"http://127.0.0.1:{port}"
        assert "token" not in server.url
        with httpx.Client(base_url=base, follow_redirects=True) as browser:
            assert browser.get("/").url.path == "/login"
            assert browser.get("/api/state?who=ann").status_code == 401
            assert browser.post("/login", data={"password": "guess"}).status_code == 401
            assert browser.post("/login", data={"password": "sesame"}).url.path == "/"
            assert browser.get("/api/state?who=ann").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/page/../app.py",
        "/page/..%2fapp.py",
        "/page/%2e%2e/app.py",
        "/images/../../etc/passwd",
        "/images/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/page/index.html/../../app.py",
    ],
)
def test_paths_lead_nowhere(server, path):
    """Sent as they are, which no client library would."""
    # Promise 24
    host, port = server.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=HANGS) as raw:
        raw.sendall(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\nConnection: close\r\n\r\n".encode()
        )
        status = raw.recv(100).split()[1]
    assert status in (b"404", b"422")


def test_images_come_from_the_named_folder_only(tmp_path):
    # Promise 24
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "good.png").write_bytes(png(np.zeros((1, 1))))
    (folder / "page.html").write_text(SCRIPT)
    (tmp_path / "secret.png").write_bytes(png(np.ones((1, 1))))
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    named = [
        "good.png",
        "../secret.png",
        str(tmp_path / "secret.png"),
        "link.png",
        "page.html",
        "missing.png",
        None,
        "a\\b.png",
    ]
    path = tmp_path / "pictures.ask"
    items = Items([str(k) for k in range(len(named))], images=named)
    Store.create(path, items, ag.chain(len(named)), about(folder))
    with serving(path) as server, server.client() as client:
        statuses = [client.get(f"/images/{k}").status_code for k in range(len(named))]
    assert statuses == [200] + [404] * (len(named) - 1)


def test_too_much_and_too_slow_are_turned_away(server, client):
    # Promise 21
    big = client.post("/api/answer", content=b"x" * (MAX_BODY + 1))
    assert big.status_code == 413
    head = f"POST /api/undo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n"
    host, port = server.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=HANGS) as slow:
        slow.sendall(f"{head}Content-Length: 50\r\n\r\n{{".encode())
        assert client.get("/api/state?who=ann").status_code == 200
        assert not select.select([slow], [], [], 0)[0]  # served while the slow request still waits
        assert slow.recv(100).split()[1] == b"408"
    with socket.create_connection((host, int(port)), timeout=HANGS) as long:
        long.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        try:
            for _ in range(40):
                long.sendall(piece)
        except OSError:
            pass
        assert long.recv(100).split()[1] == b"413"


def test_odd_text_is_stored_as_it_is_or_refused_in_words(client):
    asked = ask(client)["question"]["item"]["id"]
    for label in (SCRIPT, "'; DROP TABLE answers; --", "=cmd|' /C calc'!A0", "é" * 200):
        body = {"key": key(), "who": SCRIPT, "item": asked, "kind": "label", "label": label}
        saved = client.post("/api/answer", json=body)
        assert saved.status_code == 200
        assert label in [c["name"] for c in saved.json()["state"]["classes"]]
    for label in ("", " ", "x" * 201, "\ud800", "a\0b", "\u202eevil", "spam\u200b"):
        content = json.dumps({"key": key(), "who": "ann", "item": asked, "kind": "label", "label": label})
        refused = client.post("/api/answer", content=content, headers={"Content-Type": "application/json"})
        assert refused.status_code in (400, 422)
        assert refused.json()["error"]
    client.post("/api/undo", json={"key": key(), "who": SCRIPT}).raise_for_status()


@pytest.mark.long
def test_no_request_of_any_shape_makes_the_server_fail(server):
    """Requests drawn from the server's own description, and around it; none may end in a 5xx."""
    # Promise 23
    headers = {"Authorization": f"Bearer {server.token}"}
    schema = schemathesis.openapi.from_url(f"{server.base}/openapi.json", headers=headers)
    tried = 0
    for operation in schema.get_all_operations():

        @settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.ok().as_strategy())
        def check(case):
            nonlocal tried
            tried += 1
            answer = case.call(base_url=server.base, headers=headers)
            assert answer.status_code < 500 or answer.status_code in (503, 507), (answer.status_code, answer.text)
            if answer.status_code >= 400:
                assert 0 < len(answer.json()["error"]) <= 500
                assert answer.json()["error"].isprintable()

        check()
    assert tried > 200


SLOW = ("/api/ahead", "/api/question", "/api/map/layout")  # these wait for what is computed


@pytest.mark.long
def test_no_header_of_any_shape_makes_a_server_fail_or_writes_to_its_log(tmp_path):
    """Promises 23 and 26, with and without the token; the page that begins a project is the other server."""
    paths = [*PATHS, *(f"{method} {path.format(place=0)}" for method, path in routes() if path not in SLOW)]
    with serving(make_project(tmp_path)) as running:
        check_odd_requests(running.port, odd_requests(paths, running.token, 800))
        check_odd_requests(running.port, [b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://[\r\n\r\n"], b"403")
        for begun, rest in broken_bodies(running.token):
            assert reply(running.port, begun, rest)[9:10] in (b"4", b"")
    assert set(running.said.strip().splitlines()) <= {"Stop with Ctrl-C; every answer is saved at once."}
    (tmp_path / "start").mkdir()
    with starting(tmp_path / "start") as (process, url):
        port, token = int(url.split(":")[2].split("/")[0]), url.partition("?token=")[2]
        begin = [f"POST /api/start/{name}" for name in ("begin", "part?upload=a&name=b.csv", "look", "make")]
        check_odd_requests(port, odd_requests([*PATHS, *begin, "GET /api/start/made"], token, 300))
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=HANGS)[0].strip() == ""


def check_odd_requests(port, requests, status=b""):
    for request in requests:
        head = reply(port, request)
        assert head.split()[1].startswith(status), (request, head)
        assert head.split()[1][:1] in b"1234", (request, head)
        assert b"content-security-policy: default-src 'none'" in head.lower() or head.split()[1] == b"100", (
            request,
            head,
        )


class _Odd(Exception):
    """An error that nobody foresaw."""


async def fails_in_the_middle(scope, receive, send):
    if scope["path"] == "/begun":
        await respond(send, 200, b"")
    raise _Odd(f"\x1b[2J of {scope['path']}")


def test_what_nobody_foresaw_is_a_sentence_with_our_headers_and_one_line_of_log_per_minute(caplog, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(security, "complain", Complaints(lambda: now[0]))

    async def talk():
        transport = httpx.ASGITransport(Guard(fails_in_the_middle, "secret"))
        bearer = {"Authorization": "Bearer secret"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=bearer) as client:
            for _ in range(50):
                said = await client.get("/api/state")
                assert (said.status_code, said.headers["content-security-policy"]) == (500, POLICY)
                assert "its log says where" in said.json()["error"]
            assert "its log says where" in (await client.get("/")).text
            assert (await client.get("/begun")).status_code == 200
            now[0] = 61.0
            await client.get("/api/state")

    asyncio.run(talk())
    first, second = caplog.messages
    assert first.startswith("GET /api/state failed: _Odd in test_safety.py, line ")
    assert first.endswith(r"(\x1b[2J of /api/state)")
    assert second.endswith("; 51 more since the line before")


def about(folder):
    return {
        "project": "pictures",
        "uid": "pictures",
        "classes": [],
        "fields": {},
        "images": str(folder),
        "graph": [],
        "settings": Settings.of().to_json(),
        "seed": 0,
        "overlap": 1,
    }


def test_the_guard_knows_only_what_it_was_told():
    guard = Guard(None, "token", ["example.org"])
    assert guard._is_token("token")
    assert not guard._is_token("")
    assert not guard._is_token("toke")
