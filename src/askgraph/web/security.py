"""Checks of every request: it must bring a token, come from our own page, and use a known host name."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import math
import secrets
import time
from collections.abc import Callable, Iterable
from html import escape
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders

from askgraph.web.complaints import complain
from askgraph.web.connections import group_address
from askgraph.web.headers import ALWAYS, STYLE

MAX_BODY = 2**20  # bytes; a longer request is refused
BODY_SECONDS = 10.0  # a body that has not arrived by then is refused
TRY_SECONDS = 1.0  # how long a wrong password takes; after the first few, one address may try once in this time
FIRST_TRIES = 10  # passwords that one address may try at once
MAX_ADDRESSES = 10_000  # whose tries are remembered; beyond that, the one that tried first is forgotten
SESSION_SECONDS = 2_592_000  # how long a browser stays logged in: 30 days
COOKIE = "askgraph"
LOG_IN, ENTER = "/login", "/enter"  # to bring the password, or the token
# only with the token itself, which commands on the serving machine bring
OWNER = ("/api/add", "/api/remove", "/api/suggest", "/api/rule", "/api/compute")
PAGES = ("/", LOG_IN, ENTER)  # what a person sees: an error there is a page, too
HTML = "text/html; charset=utf-8"


class Refused(Exception):
    """A request that is refused, with the HTTP status and the sentence to send."""

    status: int
    said: str
    headers: dict[str, str]

    def __init__(self, status: int, said: str, **headers: str) -> None:
        super().__init__(said)
        self.status, self.said, self.headers = status, said, headers


class Sessions:
    """The logins of browsers. A session is a text that only this server can have signed, and that says when it ends.

    No list is kept, so sessions go on with the next server that has the same token and password, and take no memory.
    """

    def __init__(self, token: str, password: str | None, clock: Callable[[], float] = time.time) -> None:
        self._key = hmac.digest(token.encode(), (password or "").encode(), "sha256")
        self._clock = clock

    def start(self) -> str:
        """Return a new session."""
        said = f"{int(self._clock()) + SESSION_SECONDS}.{secrets.token_urlsafe(16)}"
        return f"{said}.{self._signature(said)}"

    def is_open(self, session: str) -> bool:
        """Return whether this server started a session, and it has not ended."""
        said, _, signature = session.rpartition(".")
        signed = hmac.compare_digest(signature.encode(), self._signature(said).encode())
        return signed and int(said.partition(".")[0]) > self._clock()

    def _signature(self, said: str) -> str:
        return hmac.new(self._key, said.encode(), "sha256").hexdigest()


class PasswordTries:
    """How many passwords each address has tried of late: whoever tries many waits, and nobody else does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._paid: dict[str, float] = {}  # address -> the time up to which its tries are used up, oldest first

    def count(self, address: str) -> None:
        """Count one try of an address; refuse it if there were too many."""
        now, address = self._clock(), group_address(address)
        paid = max(now, self._paid.pop(address, now))
        early = paid - now - (FIRST_TRIES - 1) * TRY_SECONDS
        self._paid[address] = paid if early > 0 else paid + TRY_SECONDS
        if len(self._paid) > MAX_ADDRESSES:
            del self._paid[next(iter(self._paid))]
        if early > 0:
            wait = str(math.ceil(early))
            raise Refused(429, f"too many passwords were tried from your address; wait {wait} s", retry_after=wait)


class Guard:
    """ASGI middleware that checks every request and adds security headers to every response.

    ``hosts`` are the names that the server answers to, without port; numeric addresses are always allowed.
    With a ``password`` there is a page to log in; without, only the token gives access.
    """

    def __init__(self, app: Any, token: str, hosts: Iterable[str] = (), password: str | None = None) -> None:
        self._app, self._password = app, password
        self._hosts = {"localhost", *(host.casefold() for host in hosts)}
        self._token, self._sessions, self._tries = token, Sessions(token, password), PasswordTries()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started: list[bool] = []
        guarded = _add_headers(send, started)
        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            _check_site(scope, headers)
            if await self._is_allowed(scope, headers, receive, guarded):
                body = await _read_body(receive, headers)
                await self._app(scope, _replay(body, receive), guarded)
        except Refused as error:
            await _refuse(scope, guarded, error)
        except Exception as error:  # that nobody foresaw, and the routes neither
            complain(f"{scope['method']} {scope['path']}", error)
            if not started:
                await _refuse(scope, guarded, Refused(500, "the server failed to answer this; its log says where"))
        except asyncio.CancelledError:  # the server is being stopped, and has waited long enough
            if started:
                raise
            await respond(guarded, 503, b'{"error": "the server is being stopped; send this to the next one"}')

    def _check_host(self, headers: Headers) -> None:
        host = _host(headers.get("host", ""))
        if host is None or not (_is_address(host) or host in self._hosts):
            raise Refused(400, "this server does not go by that name; open the address that askgraph printed")

    async def _is_allowed(self, scope: Any, headers: Headers, receive: Any, send: Any) -> bool:
        """Return whether the request may pass; a request to log in is answered here and returns False."""
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        given, who = (asked.get(name, [""])[0] for name in ("token", "who"))
        if scope["path"] == "/" and given:
            await self._enter(scope, send, given, who)
            return False
        if scope["path"] == ENTER and scope["method"] == "POST":
            fields = _fields(await _read_body(receive, headers))
            await self._enter(scope, send, fields("token"), fields("who"))
            return False
        if self._password is not None and scope["path"] == LOG_IN:
            await self._log_in(scope, headers, receive, send)
            return False
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(bearer) or any(self._sessions.is_open(value) for value in _cookies(scope, headers)):
            if scope["path"] in OWNER and not self._is_token(bearer):
                raise Refused(403, "only a command on the serving machine does this, such as askgraph add")
            scope.get("state", {}).get("trust", _ignore)()  # the connection counts among those of people who are let in
            return True
        if self._password is not None and scope["path"] == "/":
            await respond(send, 303, b"", location=LOG_IN)
            return False
        raise Refused(401, "no token: open the address that askgraph printed")

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    async def _enter(self, scope: Any, send: Any, token: str, who: str) -> None:
        """Start a session for whoever has the token."""
        if not self._is_token(token):
            raise Refused(401, "this link is not valid anymore; open the one that askgraph printed last")
        await self._start_session(scope, send, f"/?{urlencode({'who': who})}" if who else "/")

    async def _log_in(self, scope: Any, headers: Headers, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            await respond(send, 200, LOGIN.encode(), content_type=HTML)
            return
        given = _fields(await _read_body(receive, headers))("password")
        self._tries.count((scope.get("client") or ("", 0))[0])
        if hmac.compare_digest(given.encode(), (self._password or "").encode()):
            await self._start_session(scope, send)
            return
        await asyncio.sleep(TRY_SECONDS)
        said = LOGIN.replace("<form", "<p role='alert'>That is not the password.</p>\n<form")
        await respond(send, 401, said.encode(), content_type=HTML)

    async def _start_session(self, scope: Any, send: Any, to: str = "/") -> None:
        # SameSite=Lax rather than Strict: a link in an email must work too
        secure = "; Secure" if scope.get("scheme") == "https" else ""  # as a proxy with TLS says
        flags = f"HttpOnly; SameSite=Lax; Path=/; Max-Age={SESSION_SECONDS}{secure}"
        await respond(
            send, 303, b"", location=to, set_cookie=f"{_cookie_name(scope)}={self._sessions.start()}; {flags}"
        )


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


async def _refuse(scope: Any, send: Any, error: Refused) -> None:
    """Send the sentence of an error: as a page where a person sees it, else as JSON."""
    if scope["path"] in PAGES:
        said = plain_page(f"<p role='alert'>{escape(error.said[0].upper() + error.said[1:])}.</p>")
        await respond(send, error.status, said.encode(), HTML, **error.headers)
    else:
        await respond(send, error.status, json.dumps({"error": error.said}).encode(), **error.headers)


def _check_site(scope: Any, headers: Headers) -> None:
    """Refuse requests that another site makes a browser send."""
    site = headers.get("sec-fetch-site", "none")
    opening = scope["method"] == "GET" and scope["path"] == "/"
    if scope["method"] == "POST" and scope["path"] == ENTER:  # from a file of this user's, with the token in its body
        return
    if site not in ("same-origin", "none") and not opening:
        raise Refused(403, "this request came from another site; open the page of this server instead")
    origin = headers.get("origin")
    if origin is not None and _split(origin).netloc != headers.get("host", ""):
        raise Refused(403, "this request came from another site; open the page of this server instead")


def _fields(body: bytes) -> Callable[[str], str]:
    """Return a function from the name of a field of a form to its value, "" where there is none."""
    found = parse_qs(body.decode("utf-8", "replace"))
    return lambda name: found.get(name, [""])[0]


def _ignore() -> None:
    """Do nothing."""


def _host(header: str) -> str | None:
    """Return the name in a Host header, without its port."""
    return _split(f"//{header}").hostname


def _split(address: str) -> SplitResult:
    """Return the parts of an address; those of an empty one for what is not an address."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


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


def _add_headers(send: Any, started: list[bool]) -> Any:
    """Return a ``send`` function that adds our headers, and notes in ``started`` that a response has begun."""

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            started.append(True)
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            for name, value in {**ALWAYS, "cache-control": "no-store"}.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
