"""Limits on connections: who opens many, or does not say what they want, is disconnected, and nobody else notices.

A connection is trusted from its first request with a token on, and may then be idle for longer. Those that are not yet
trusted are counted by address. When there are too many, the oldest goes and the new one stays, so that the door is never shut.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from askgraph.web.headers import ALWAYS

HEADER_SECONDS = 10.0  # from the start of a connection, or of its next request, to the end of the headers
IDLE_SECONDS = 65  # that a trusted connection may be idle between two requests: people think; others have 5 seconds
ADDRESS_SHARE = 2  # of all connections, those of one address that are not trusted take at most one in ADDRESS_SHARE
MAX_CONNECTIONS = 2000  # in all; fewer where the system allows fewer open files
FILES_PER_CONNECTION = 2  # of the files that the process may open, connections take at most one in FILES_PER_CONNECTION
ACCEPTS_AT_ONCE = 16  # new connections per turn of the loop: those not yet counted are files, too
WAITING_CONNECTIONS = 2048  # that the system keeps until they are accepted


class Listener(socket.socket):
    """A listening socket with a long queue, however few connections are accepted at once."""

    def listen(self, _backlog: int = WAITING_CONNECTIONS, /) -> None:
        """Listen; asyncio passes the number to accept at once, which is not the length of the queue."""
        super().listen(WAITING_CONNECTIONS)


class Connections:
    """The open connections of a server, oldest first. ``protocol`` makes one, for uvicorn's ``http`` setting."""

    most: int

    def __init__(self, most: int | None = None) -> None:
        self.most = most_connections() if most is None else most
        self._strangers: dict[Connection, str] = {}  # connection -> address
        self._trusted: dict[Connection, None] = {}  # that of the latest request last
        self._by_address: dict[str, dict[Connection, None]] = {}

    def protocol(self, **options: Any) -> Connection:
        """Return the protocol of a new connection."""
        return Connection(self, **options)

    def add(self, connection: Connection, address: str) -> None:
        """Count a new connection, and end the oldest of its address, or of all, where it is one too many."""
        self._strangers[connection] = address
        mine = self._by_address.setdefault(address, {})
        mine[connection] = None
        if len(mine) > self.most // ADDRESS_SHARE:
            self._end(next(iter(mine)))
        elif len(self._strangers) + len(self._trusted) > self.most:
            idle = (one for one in self._trusted if one.is_idle)
            oldest = next(iter(self._strangers))
            self._end(next(idle, connection) if oldest is connection else oldest)

    def trust(self, connection: Connection) -> None:
        """Count a connection no longer among strangers: it has sent a token."""
        if self._forget(connection) or connection in self._trusted:
            self._trusted.pop(connection, None)
            self._trusted[connection] = None

    def discard(self, connection: Connection) -> None:
        """Count a connection no longer: it has ended."""
        self._forget(connection)
        self._trusted.pop(connection, None)

    def _end(self, connection: Connection) -> None:
        self.discard(connection)
        connection.transport.abort()

    def _forget(self, connection: Connection) -> bool:
        address = self._strangers.pop(connection, None)
        if address is None:
            return False
        mine = self._by_address[address]
        del mine[connection]
        if not mine:
            del self._by_address[address]
        return True


class Connection(H11Protocol):
    """One connection: its headers must come in time. The application trusts it by calling ``scope["state"]["trust"]``."""

    def __init__(self, others: Connections, app_state: dict[str, Any], **options: Any) -> None:
        super().__init__(app_state={**app_state, "trust": self._trust}, **options)
        self._others = others
        self._clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # of uvicorn, which narrows it too
        """Start the clock."""
        super().connection_made(transport)
        self._watch()
        self._others.add(self, group_address(self.client[0]) if self.client else "")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        self._others.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request; between two requests, its first byte starts the clock again."""
        super().data_received(data)
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, with our headers; in the middle of another answer, only end the connection."""
        if self.is_idle or not self.cycle.response_started:
            headers = {"content-type": "text/plain", "content-length": len(msg), "connection": "close", **ALWAYS}
            lines = ["HTTP/1.1 400 Bad Request", *(f"{name}: {value}" for name, value in headers.items())]
            self.transport.write("\r\n".join([*lines, "", msg]).encode())
        self.transport.close()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _watch(self) -> None:
        """Let the clock run while headers are to come, and only then; where nothing has come, uvicorn has a clock of its own."""
        if not self.is_idle:
            self._stop_clock()
        elif self._clock is None:
            self._clock = self.loop.call_later(HEADER_SECONDS, self._time_is_up)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _time_is_up(self) -> None:
        self._clock = None
        if self.is_idle:
            self.transport.abort()

    def _trust(self) -> None:
        self.timeout_keep_alive = IDLE_SECONDS
        self._others.trust(self)


def most_connections() -> int:
    """Return how many connections may be open at once, by the number of files that this process may open."""
    try:
        import resource
    except ImportError:  # Windows
        return MAX_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, soft // FILES_PER_CONNECTION)


def group_address(address: str) -> str:
    """Return the address that counts: of IPv6 the network, since who has one address there has 2^64.

    >>> group_address("192.0.2.7"), group_address("2001:db8::7"), group_address("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(cast(ipaddress.IPv6Network, ipaddress.ip_network((int(found), 64), strict=False)))
