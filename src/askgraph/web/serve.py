"""Start the server: who may come in, where it listens, and the browser that opens."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress

from askgraph.errors import FileError, SettingError
from askgraph.web.app import application
from askgraph.web.desk import Desk
from askgraph.web.leases import Leases
from askgraph.web.security import Guard
from askgraph.web.worker import Worker
from askgraph.workbench.project import Project
from askgraph.workbench.store import Store
from askgraph.workbench.writer_lock import WriterLock

PORT = 8765
LAST = 5  # seconds that requests have to be answered in when the server is told to stop


def serve(
    path: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int | None = None,
    password: str | None = None,
    hosts: Sequence[str] = (),
    lease: float = 120.0,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve a project until it is stopped; ``ready`` is called with the address to open."""
    import uvicorn

    if not _loopback(host) and not password:
        raise SettingError(
            f"--host {host}: others could reach it; give a password with --password, or stay with 127.0.0.1"
        )
    Store.open(path).close()
    listening = _listen(host, port)
    lock = WriterLock(path)
    try:
        lock.take(wait=0.5)
        token = lock.token() or secrets.token_urlsafe(32)  # pages of an earlier server go on with this one
        url = f"http://{_bracketed(_reachable(host))}:{listening.getsockname()[1]}"
        with Store.open(path, write=True) as store:
            worker = Worker(path)
            try:
                desk = Desk(Project(store), worker, Leases(lease))
                names = [*hosts, socket.gethostname(), socket.getfqdn()]
                app = Guard(application(desk), token, names, password)
                config = uvicorn.Config(
                    app,
                    log_level="warning",
                    access_log=False,
                    server_header=False,
                    lifespan="on",
                    timeout_graceful_shutdown=LAST,
                )
                lock.tell(url, token)
                ready(f"{url}/" if password else f"{url}/?token={token}")
                with suppress(KeyboardInterrupt):
                    uvicorn.Server(config).run(sockets=[listening])
            finally:
                worker.stop()
    finally:
        lock.release()
        listening.close()


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket at this port, or at ours or any other when none is named."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in [port] if port is not None else [PORT, 0]:
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # so named, asyncio sends at once
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, wanted))
            listening.listen()  # who comes before the server is up waits for it
            return listening
        except (OSError, OverflowError) as error:
            listening.close()
            reason = getattr(error, "strerror", None) or str(error)
    raise FileError(f"cannot listen at {host}:{port} ({reason}); choose another --port")


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reachable(host: str) -> str:
    return {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
