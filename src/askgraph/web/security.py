"""Who may talk to the server, and how: nothing passes without a token, from another site, or at another name."""

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

MAX_BODY = 2**20
SLOW = 10.0  # seconds in which the body of a request must arrive
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
    """A request that does not pass, with the status and the sentence to say so."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status, self.said = status, said


class Guard:
    """Looks at every request before the application does, and at every response before it leaves.

    ``hosts`` are the names the server answers to, without port; addresses in figures are always names of this machine.
    With a ``password`` there is a page to log in; without, only the token opens the door.
    """

    def __init__(self, app: Any, token: str, hosts: Iterable[str] = (), password: str | None = None) -> None:
        self._app, self._password = app, password
        self._hosts = {"localhost", *(host.casefold() for host in hosts)}
        self._sessions = {token}
        self._failed = asyncio.Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        guarded = _with_headers(send)
        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            _check_site(scope, headers)
            if await self._opened(scope, headers, receive, guarded):
                body = await _body(receive, headers)
                await self._app(scope, _again(body, receive), guarded)
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

    async def _opened(self, scope: Any, headers: Headers, receive: Any, send: Any) -> bool:
        """Whether the request may pass; one that brings the token or the password is answered here."""
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        given, who = (asked.get(name, [""])[0] for name in ("token", "who"))
        if scope["path"] == "/" and given:
            if not self._known(given):
                raise Refused(401, "this link is not valid any more; open the one that askgraph printed last")
            await _enter(scope, send, given, f"/?{urlencode({'who': who})}" if who else "/")
            return False
        if self._password is not None and scope["path"] == "/login":
            await self._log_in(scope, headers, receive, send)
            return False
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._known(bearer) or any(self._known(value) for value in _cookies(scope, headers)):
            return True
        if self._password is not None and scope["path"] == "/":
            await respond(send, 303, b"", location="/login")
            return False
        raise Refused(401, "no token: open the address that askgraph printed")

    def _known(self, given: str) -> bool:
        return any(hmac.compare_digest(given.encode(), one.encode()) for one in self._sessions)

    async def _log_in(self, scope: Any, headers: Headers, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            await respond(send, 200, LOGIN.encode(), content_type=HTML)
            return
        fields = parse_qs((await _body(receive, headers)).decode("utf-8", "replace"))
        given = fields.get("password", [""])[0]
        async with self._failed:  # one guess at a time, and each wrong one costs a second
            if not hmac.compare_digest(given.encode(), (self._password or "").encode()):
                await asyncio.sleep(1)
                said = LOGIN.replace("<form", "<p role='alert'>That is not the password.</p>\n<form")
                await respond(send, 401, said.encode(), content_type=HTML)
                return
        session = secrets.token_urlsafe(32)
        self._sessions.add(session)
        await _enter(scope, send, session)


def plain_page(inside: str) -> str:
    """A page for those who are not in."""
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
    """A whole response."""
    listed = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode())]
    listed += [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})


async def _enter(scope: Any, send: Any, session: str, to: str = "/") -> None:
    cookie = (
        f"{_cookie(scope)}={session}; HttpOnly; SameSite=Lax; Path=/; Max-Age=31536000"  # a link in a mail opens too
    )
    await respond(send, 303, b"", location=to, set_cookie=cookie)


def _check_site(scope: Any, headers: Headers) -> None:
    """Nothing that another site makes a browser do."""
    site = headers.get("sec-fetch-site", "none")
    opening = scope["method"] == "GET" and scope["path"] == "/"
    if site not in ("same-origin", "none") and not opening:
        raise Refused(403, "this came from another site")
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        raise Refused(403, "this came from another site")


def _host(header: str) -> str | None:
    """The name in a Host header, without its port."""
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


def _cookie(scope: Any) -> str:
    """The name of our cookie: browsers give the cookies of one port to all others, and each may have a server."""
    return f"{COOKIE}-{(scope.get('server') or ('', 0))[1]}"


def _cookies(scope: Any, headers: Headers) -> list[str]:
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return [value for name, _, value in pairs if name == _cookie(scope)]


async def _body(receive: Any, headers: Headers) -> bytes:
    """The whole body, if it is neither too long nor too slow."""
    said = headers.get("content-length", "0")
    if said.isdecimal() and int(said) > MAX_BODY:
        raise Refused(413, f"that is more than {MAX_BODY // 1024} KB; send less at a time")
    try:
        async with asyncio.timeout(SLOW):
            return await _received(receive)
    except TimeoutError:
        raise Refused(408, "the request did not arrive in time; send it again") from None


async def _received(receive: Any) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the connection was closed")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            raise Refused(413, f"that is more than {MAX_BODY // 1024} KB; send less at a time")
        if not message.get("more_body"):
            return b"".join(parts)


def _again(body: bytes, receive: Any) -> Any:
    """Hand on a body that was read already."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Any:
        return waiting.pop() if waiting else await receive()

    return next_message


def _with_headers(send: Any) -> Any:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            for name, value in ALWAYS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sent
