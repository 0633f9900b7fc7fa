"""Requests whose headers are of every shape, as bytes: no client library would send most of them."""

from __future__ import annotations

import random
import select
import socket
from contextlib import suppress

from tests.helpers.serving import HANGS

HEADERS = (
    "Origin", "Host", "Referer", "Cookie", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host",
    "Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Range", "If-Range", "If-None-Match",
    "If-Modified-Since", "Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Sec-Fetch-Site", "Connection",
    "Upgrade", "Expect", "Date", "User-Agent", "X-HTTP-Method-Override",
)  # fmt: skip
VALUES = (
    b"", b"http://[", b"//[", b"http://a]", b"http://[::1", b"http://[v1.]", b"http://\xe2\x84\x80", b"[", b"]:x",
    b"a:b:c", b"127.0.0.1:99999999", b"127.0.0.1:-1", b"localhost:\xb2", b"\xff\xfe", b"\xe9", b"null", b"*", b"%",
    b"%00", b"=", b";", b";;=;", b'"', b"askgraph-1=\xff.\xff.\xff", b"askgraph-1=" + b"9" * 5000 + b".a.b",
    b"9" * 5000, b"-1", b"+5", b"0x10", b"1e3", b"5, 5", b"bytes=0-", b"bytes=-1", b"bytes=5-2", b"bytes=\xb2-",
    b"bytes=" + b"0-1," * 500, b"bytes=a-b", b"bytes=" + b"9" * 5000 + b"-", b"multipart/form-data",
    b"multipart/form-data; boundary=" + b"x" * 300, b"application/json; charset=nosuch", b"text/html; charset=\"",
    b"application/" + b"x/" * 200, b"for=[::1]:x;by=\"", b"for=" + b"1.1.1.1," * 400, b"chunked", b"gzip, chunked",
    b"websocket", b"upgrade", b"100-continue", b"Bearer ", b"Bearer \xff", b"Basic !!!", b"W/\"",
    b"Thu, 99 Foo 99999 99:99:99", b"{{7*7}}", b"q=\xff;q=2", b"a" * 9000,
)  # fmt: skip
MORE = b"\r\n0\r\n\r\n"  # more than was announced: nobody waits for the rest of a body, and what is left over is not a request
PATHS = (
    "GET /",
    "GET /login",
    "POST /login",
    "POST /enter",
    "GET /page/style.css",
    "GET /openapi.json",
    "GET /nowhere",
)  # of every server


def odd_requests(paths, token, n, seed=0):
    """Yield n requests, each with one to four odd headers; half of them bring the token."""
    draw = random.Random(seed)
    for _ in range(n):
        path, body = draw.choice(paths), draw.choice((b"", b"{}", b"password=a&token=%ff", b"\xff{"))
        given = {"Host": b"localhost", "Content-Length": str(len(body)).encode(), "Connection": b"close"}
        if draw.random() < 0.5:
            given["Authorization"] = f"Bearer {token}".encode()
        given |= {draw.choice(HEADERS): draw.choice(VALUES) for _ in range(draw.randint(1, 4))}
        lines = b"".join(name.encode() + b": " + value + b"\r\n" for name, value in given.items())
        yield f"{path} HTTP/1.1\r\n".encode() + lines + b"\r\n" + body + MORE


def broken_bodies(token):
    """Yield requests in two pieces, the second sent when the first is answered or read: bodies that break off into nonsense."""
    for known in ("", f"Authorization: Bearer {token}\r\n"):
        for rest in (b"zzz\r\n", b"5\r\nabcdefghijk\r\n", b"\0" * 70_000, b"4\r\nabcd\r\n0\r\nbad header\r\n\r\n"):
            lines = f"Host: localhost\r\n{known}Transfer-Encoding: chunked"
            yield f"POST /api/undo HTTP/1.1\r\n{lines}\r\n\r\n".encode(), rest


def reply(port, request, rest=b""):
    """Send bytes and return the head of what comes back; empty where the server ends the connection without a word.

    ``rest`` is sent after a first reply, or a moment later where none comes.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=HANGS) as connection:
        connection.sendall(request)
        if rest:
            select.select([connection], [], [], 0.02)
            with suppress(OSError):
                connection.sendall(rest)
        found = b""
        with suppress(ConnectionResetError):
            while b"\r\n\r\n" not in found and (part := connection.recv(65536)):
                found += part
        return found.partition(b"\r\n\r\n")[0]
