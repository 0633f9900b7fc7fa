"""Checks of every request: it must bring a token, come from our own page, and use a known host name."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import math
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders

from askgraph.web.complaints import complain
from askgraph.web.connections import group_address
from askgraph.web.headers import ALWAYS, FRAMED_POLICY, STYLE
from askgraph.web.rights import CALLER, Caller
from askgraph.workbench.names import MAX_NAME_CHARACTERS
from askgraph.workbench.passwords import Passwords
from askgraph.workbench.roles import Role, named_alike

MAX_BODY = 2**20  # bytes; a longer request is refused
BODY_SECONDS = 10.0  # a body that has not arrived by then is refused
TRY_SECONDS = 1.0  # how long a wrong password takes; after the first few, one address may try once in this time
FIRST_TRIES = 10  # passwords that one address may try at once
MAX_ADDRESSES = 10_000  # whose tries are remembered; beyond that, the one that tried first is forgotten
SESSION_SECONDS = 2_592_000  # how long a browser stays logged in: 30 days
COOKIE = "askgraph"
LOG_IN, ENTER = "/login", "/enter"  # to bring the password, or the token
CHECKS_AT_ONCE = 2  # passwords of people: each takes 16 MB and a part of a second of one core
BY_TOKEN, BY_PASSWORD = "t", "p"  # how a session without a name began
NOT_IT = (
    "That is not the password.",
    "That is not a name with its password.",
)  # where people have no roles, and where they do
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


class Team(NamedTuple):
    """Who logs in by name: the roles of people as they are now, and their passwords."""

    roles: Callable[[], Mapping[str, Role]]
    passwords: Passwords


class Sessions:
    """The logins of browsers. A session is a text that only this server can have signed; it says when it ends and whose it is.

    No list is kept, so sessions go on with the next server that has the same token and password, and take no memory. That of a
    person is signed with the stamp of their password, too: it ends when they get another one, or none.
    """

    def __init__(
        self,
        token: str,
        password: str | None,
        clock: Callable[[], float] = time.time,
        stamp: Callable[[str], str | None] = lambda who: None,
    ) -> None:
        self._token, self._clock, self._stamp = token.encode(), clock, stamp
        self._key = hmac.digest(self._token, (password or "").encode(), "sha256")

    def start(self, how: str = BY_TOKEN) -> str:
        """Return a new session of somebody who has no name."""
        return self._signed(how, self._key)

    def start_for(self, who: str, stamp: str) -> str:
        """Return a new session of a person whose password has this stamp."""
        return self._signed(urlsafe_b64encode(who.encode()).decode(), self._key_of(stamp))

    def read(self, session: str) -> tuple[str | None, str] | None:
        """Return whose session this is, None for nobody by name, and how it began; None for one that is not ours, or has ended."""
        said, _, signature = session.rpartition(".")
        until, _, rest = said.partition(".")
        whose = rest.rpartition(".")[2]
        if whose in (BY_TOKEN, BY_PASSWORD):
            who, key = None, self._key
        else:
            who = _name_in(whose)
            stamp = self._stamp(who)
            key = self._key_of(
                stamp or secrets.token_hex()
            )  # that nobody has: an unknown name takes as long as a known one
        signed = hmac.compare_digest(signature.encode(), _signature(said, key).encode())
        return (who, whose) if signed and int(until) > self._clock() else None

    def _signed(self, whose: str, key: bytes) -> str:
        said = f"{int(self._clock()) + SESSION_SECONDS}.{secrets.token_urlsafe(16)}.{whose}"
        return f"{said}.{_signature(said, key)}"

    def _key_of(self, stamp: str) -> bytes:
        return hmac.digest(self._token, f"person {stamp}".encode(), "sha256")


def _signature(said: str, key: bytes) -> str:
    return hmac.new(key, said.encode(), "sha256").hexdigest()


def _name_in(whose: str) -> str:
    """Return the name that a session says; an empty one, which nobody has, where it says none."""
    try:
        return urlsafe_b64decode(whose.encode()).decode()
    except ValueError:
        return ""


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
    With a ``password`` there is a page to log in; without, only the token gives access. Where people of the ``team`` have roles,
    each logs in with a name and a password of their own, and that one password lets nobody in. A ``frame_code`` lets one browser
    in, once, and lets pages of this machine show this one in a frame.
    """

    def __init__(
        self,
        app: Any,
        token: str,
        hosts: Iterable[str] = (),
        password: str | None = None,
        team: Team | None = None,
        frame_code: str | None = None,
    ) -> None:
        self._app, self._password, self._team = app, password, team
        self._headers = ALWAYS if frame_code is None else {**ALWAYS, "content-security-policy": FRAMED_POLICY}
        self._frame_code = frame_code
        self._hosts = {"localhost", *(host.casefold() for host in hosts)}
        stamp = team.passwords.stamp if team else lambda who: None
        self._token, self._sessions, self._tries = token, Sessions(token, password, stamp=stamp), PasswordTries()
        self._checking = asyncio.Semaphore(CHECKS_AT_ONCE)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started: list[bool] = []
        guarded = _add_headers(send, started, self._headers)
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
        if scope["path"] == "/" and (code := asked.get("once", [""])[0]) and self._caller(scope, headers) is None:
            await self._enter_once(scope, send, code, who)
            return False
        if scope["path"] == ENTER and scope["method"] == "POST":
            fields = _fields(await _read_body(receive, headers))
            await self._enter(scope, send, fields("token"), fields("who"))
            return False
        if self._takes_passwords and scope["path"] == LOG_IN:
            await self._log_in(scope, headers, receive, send)
            return False
        if (caller := self._caller(scope, headers)) is not None:
            CALLER.set(caller)
            scope.get("state", {}).get("trust", _ignore)()  # the connection counts among those of people who are let in
            return True
        if self._takes_passwords and scope["path"] == "/":
            await respond(send, 303, b"", location=LOG_IN)
            return False
        raise Refused(401, "no token: open the address that askgraph printed")

    @property
    def _roles(self) -> Mapping[str, Role]:
        return self._team.roles() if self._team else {}

    @property
    def _takes_passwords(self) -> bool:
        return self._password is not None or bool(self._roles)

    def _caller(self, scope: Any, headers: Headers) -> Caller | None:
        """Return who sends a request: a command with the token, or the first open session; None for nobody who is let in."""
        if self._is_token(headers.get("authorization", "").removeprefix("Bearer ")):
            return Caller(None, "owner")
        found = (self._holder(value) for value in _cookies(scope, headers))
        return next((caller for caller in found if caller is not None), None)

    def _holder(self, session: str) -> Caller | None:
        """Return who has a session, by the roles of this moment: with roles, the password of all lets nobody in."""
        if (read := self._sessions.read(session)) is None:
            return None
        who, how = read
        if who is None:
            return None if how == BY_PASSWORD and self._roles else Caller(None, "lead")
        role = self._roles.get(who)
        return role and Caller(who, role)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    async def _enter(self, scope: Any, send: Any, token: str, who: str) -> None:
        """Start a session for whoever has the token."""
        if not self._is_token(token):
            raise Refused(401, "this link is not valid anymore; open the one that askgraph printed last")
        await self._let_in(scope, send, self._sessions.start(), _front(who))

    async def _enter_once(self, scope: Any, send: Any, code: str, who: str) -> None:
        """Start a session for the first who brings the code."""
        if self._frame_code is None or not hmac.compare_digest(code.encode(), self._frame_code.encode()):
            raise Refused(401, "this page was opened before; run the cell again")
        self._frame_code = None
        await self._let_in(scope, send, self._sessions.start(), _front(who))

    async def _log_in(self, scope: Any, headers: Headers, receive: Any, send: Any) -> None:
        form = login_page(by_name=bool(self._roles))
        if scope["method"] != "POST":
            await respond(send, 200, form.encode(), content_type=HTML)
            return
        given = _fields(await _read_body(receive, headers))
        self._tries.count((scope.get("client") or ("", 0))[0])
        session = await self._session_for(given("who"), given("password"))
        if session is not None:
            await self._let_in(scope, send, session)
            return
        await asyncio.sleep(TRY_SECONDS)
        said = form.replace("<form", f"<p role='alert'>{NOT_IT[bool(self._roles)]}</p>\n<form")
        await respond(send, 401, said.encode(), content_type=HTML)

    async def _session_for(self, who: str, password: str) -> str | None:
        """Return a new session for a password: that of a person where people have roles, else that of all; None if it is wrong."""
        if not (roles := self._roles) or self._team is None:
            fits = self._password is not None and hmac.compare_digest(password.encode(), self._password.encode())
            return self._sessions.start(BY_PASSWORD) if fits else None
        typed = " ".join(who[: MAX_NAME_CHARACTERS + 1].split())
        name = typed if typed in roles else named_alike(typed, roles) or ""
        async with self._checking:
            stamp = await asyncio.to_thread(self._team.passwords.fits, name, password)
        return None if stamp is None else self._sessions.start_for(name, stamp)

    async def _let_in(self, scope: Any, send: Any, session: str, to: str = "/") -> None:
        """Send the cookie of a session, and lead to the page."""
        # SameSite=Lax rather than Strict: a link in an email must work too
        secure = "; Secure" if scope.get("scheme") == "https" else ""  # as a proxy with TLS says
        flags = f"HttpOnly; SameSite=Lax; Path=/; Max-Age={SESSION_SECONDS}{secure}"
        await respond(send, 303, b"", location=to, set_cookie=f"{_cookie_name(scope)}={session}; {flags}")


def _front(who: str) -> str:
    """Return the address of the page, for a person."""
    return f"/?{urlencode({'who': who})}" if who else "/"


def plain_page(inside: str) -> str:
    """Return a page for people who are not logged in."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>askgraph</title>
<style>{STYLE}</style></head>
<body><main><h1>askgraph</h1>{inside}</main></body></html>
"""


def login_page(by_name: bool) -> str:
    """Return the page that asks for the password, and for the name where each person has a password."""
    name = '<label>Name <input name="who" autocomplete="username" autofocus></label>\n' if by_name else ""
    focus = "" if by_name else " autofocus"
    return plain_page(f"""
<form method="post" action="/login">
{name}<label>Password <input type="password" name="password" autocomplete="current-password"{focus}></label>
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


def _add_headers(send: Any, started: list[bool], always: Mapping[str, str]) -> Any:
    """Return a ``send`` function that adds our headers, and notes in ``started`` that a response has begun."""

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            started.append(True)
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            for name, value in {**always, "cache-control": "no-store"}.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
