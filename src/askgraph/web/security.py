"""Checks of every request: it must bring a token, come from our own page, and use a known host name."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import secrets
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders

MAX_BODY = 2**20  # bytes; a longer request is refused
BODY_SECONDS = 10.0  # a body that has not arrived by then is refused
WRONG_PASSWORD_SECONDS = 1.0  # how long a wrong password takes, to slow down guessing
COOKIE_SECONDS = 31_536_000  # how long a browser stays logged in: one year
COOKIE = "askgraph"
HTML = "text/html; charset=utf-8"
STYLE = (
    ":root { color-scheme: light dark; font: 1.0625rem/1.6 system-ui, sans-serif } "
    "main { max-width: 26rem; margin: 22vh auto; padding: 1.5rem } "
    "input, button { font: inherit; padding: .5rem .8rem; border-radius: .6rem; border: 1px solid; margin-block: .3rem }"
)
POLICY = (
    "default-src 'none'; script-src 'self'; "
    f"style-src 'self' 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
    "img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
ALWAYS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Refused(Exception):
    """A request that is refused, with the HTTP status and the sentence to send."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status, self.said = status, said


class Guard:
    """ASGI middleware that checks every request and adds security headers to every response.

    ``hosts`` are the names that the server answers to, without port; numeric addresses are always allowed.
    With a ``password`` there is a page to log in; without, only the token gives access.
    """

    def __init__(self, app: Any, token: str, hosts: Iterable[str] = (), password: str | None = None) -> None:
        self._app, self._password = app, password
        self._hosts = {"localhost", *(host.casefold() for host in hosts)}
        self._sessions = {token}
        self._guessing = asyncio.Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        guarded = _add_headers(send)
        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            _check_site(scope, headers)
            if await self._is_allowed(scope, headers, receive, guarded):
                body = await _read_body(receive, headers)
                await self._app(scope, _replay(body, receive), guarded)
        except Refused as error:
            if scope["path"] == "/":
                said = plain_page(f"<p role='alert'>{escape(error.said[0].upper() + error.said[1:])}.</p>")
                await respond(guarded, error.status, said.encode(), HTML)
            else:
                await respond(guarded, error.status, json.dumps({"error": error.said}).encode())

    def _check_host(self, headers: Headers) -> None:
        host = _host(headers.get("host", ""))
        if host is None or not (_is_address(host) or host in self._hosts):
            raise Refused(400, "this server does not go by that name; open the address that askgraph printed")

    async def _is_allowed(self, scope: Any, headers: Headers, receive: Any, send: Any) -> bool:
        """Return whether the request may pass; a request to log in is answered here and returns False."""
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        given, who = (asked.get(name, [""])[0] for name in ("token", "who"))
        if scope["path"] == "/" and given:
            if not self._is_token(given):
                raise Refused(401, "this link is not valid anymore; open the one that askgraph printed last")
            await _set_cookie(scope, send, given, f"/?{urlencode({'who': who})}" if who else "/")
            return False
        if self._password is not None and scope["path"] == "/login":
            await self._log_in(scope, headers, receive, send)
            return False
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(bearer) or any(self._is_token(value) for value in _cookies(scope, headers)):
            return True
        if self._password is not None and scope["path"] == "/":
            await respond(send, 303, b"", location="/login")
            return False
        raise Refused(401, "no token: open the address that askgraph printed")

    def _is_token(self, given: str) -> bool:
        return any(hmac.compare_digest(given.encode(), one.encode()) for one in self._sessions)

    async def _log_in(self, scope: Any, headers: Headers, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            await respond(send, 200, LOGIN.encode(), content_type=HTML)
            return
        fields = parse_qs((await _read_body(receive, headers)).decode("utf-8", "replace"))
        given = fields.get("password", [""])[0]
        async with self._guessing:  # one guess at a time
            if not hmac.compare_digest(given.encode(), (self._password or "").encode()):
                await asyncio.sleep(WRONG_PASSWORD_SECONDS)
                said = LOGIN.replace("<form", "<p role='alert'>That is not the password.</p>\n<form")
                await respond(send, 401, said.encode(), content_type=HTML)
                return
        session = secrets.token_urlsafe(32)
        self._sessions.add(session)
        await _set_cookie(scope, send, session)


def plain_page(inside: str) -> str:
    """Return a page for people who are not logged in."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>askgraph</title>
<style>{STYLE}</style></head>
<body><main><h1>askgraph</h1>{inside}</main></body></html>
"""


LOGIN = plain_page("""
<form method="post" action="/login">
<label>Password <input type="password" name="password" autocomplete="current-password" autofocus></label>
<button>Enter</button></form>
""")


async def respond(send: Any, status: int, body: bytes, content_type: str = "application/json", **headers: str) -> None:
    """Send a whole response."""
    listed = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode())]
    listed += [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})


async def _set_cookie(scope: Any, send: Any, session: str, to: str = "/") -> None:
    # SameSite=Lax rather than Strict: a link in an email must work too
    cookie = f"{_cookie_name(scope)}={session}; HttpOnly; SameSite=Lax; Path=/; Max-Age={COOKIE_SECONDS}"
    await respond(send, 303, b"", location=to, set_cookie=cookie)


def _check_site(scope: Any, headers: Headers) -> None:
    """Refuse requests that another site makes a browser send."""
    site = headers.get("sec-fetch-site", "none")
    opening = scope["method"] == "GET" and scope["path"] == "/"
    if site not in ("same-origin", "none") and not opening:
        raise Refused(403, "this request came from another site; open the page of this server instead")
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        raise Refused(403, "this request came from another site; open the page of this server instead")


def _host(header: str) -> str | None:
    """Return the name in a Host header, without its port."""
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
        return True
    except ValueError:
        return False


def _cookie_name(scope: Any) -> str:
    """Return the name of our cookie, with the port: browsers send it to all ports of a host, and each may have a server."""
    return f"{COOKIE}-{(scope.get('server') or ('', 0))[1]}"


def _cookies(scope: Any, headers: Headers) -> list[str]:
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return [value for name, _, value in pairs if name == _cookie_name(scope)]


async def _read_body(receive: Any, headers: Headers) -> bytes:
    """Return the whole body; refuse one that is too long or too slow."""
    said = headers.get("content-length", "0")
    if said.isdecimal() and int(said) > MAX_BODY:
        raise Refused(413, f"the request is longer than {MAX_BODY // 1024} KB; send less at a time")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _receive_all(receive)
    except TimeoutError:
        raise Refused(408, "the request did not arrive in time; send it again") from None


async def _receive_all(receive: Any) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the connection was closed")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            raise Refused(413, f"the request is longer than {MAX_BODY // 1024} KB; send less at a time")
        if not message.get("more_body"):
            return b"".join(parts)


def _replay(body: bytes, receive: Any) -> Any:
    """Return a ``receive`` function that begins with a body that was read already."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Any:
        return waiting.pop() if waiting else await receive()

    return next_message


def _add_headers(send: Any) -> Any:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            for name, value in ALWAYS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sent
