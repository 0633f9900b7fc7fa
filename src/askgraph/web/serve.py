"""Start the server of a project and run it until it is stopped."""

from __future__ import annotations

import ipaddress
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from askgraph.errors import FileError, SettingError
from askgraph.web.app import application, remove_old_exports
from askgraph.web.connections import ACCEPTS_AT_ONCE, Connections, Listener
from askgraph.web.desk import Desk
from askgraph.web.leases import Leases
from askgraph.web.security import Guard, Team
from askgraph.web.thinker_process import ThinkerProcess
from askgraph.workbench.backups import BackupPlan, BackupThread
from askgraph.workbench.passwords import Passwords
from askgraph.workbench.project import Project
from askgraph.workbench.store import Store
from askgraph.workbench.writer_lock import WriterLock

if TYPE_CHECKING:
    import uvicorn

PORT = 8765  # tried first when none is named
SHUTDOWN_SECONDS = 5  # requests still running after that are cancelled when the server is stopped
LOCK_SECONDS = 0.5  # how long to wait for another writer before giving up


def serve(
    path: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int | None = None,
    password: str | None = None,
    hosts: Sequence[str] = (),
    lease: float = 120.0,
    ready: Callable[[str], None] = print,
    plan: BackupPlan | None = None,
    token: str | None = None,
    frame_code: str | None = None,
) -> None:
    """Serve a project until the server is stopped; call ``ready`` with the address to open.

    Backups are made by ``plan``; without one, by the plan that the environment sets. ``token`` is that of a page that is open
    already, which goes on with this server. Who brings the ``frame_code`` is let in once, and the page may stand in a frame.
    """
    import uvicorn

    passwords = Passwords(path)
    if not _is_loopback(host) and not password and not passwords.people:
        raise SettingError(
            f"--host {host}: others could reach the server; give a password with --password, or each person one of their own with "
            "askgraph role, or stay with 127.0.0.1"
        )
    Store.open(path).close()
    listening = listen(host, port)
    lock = WriterLock(path)
    try:
        lock.take(wait=LOCK_SECONDS)
        token = token or lock.token() or secrets.token_urlsafe(32)  # open pages of an earlier server work with this one
        url = f"http://{_bracket(_reachable_name(host))}:{listening.getsockname()[1]}"
        remove_old_exports(Path(path))
        with Store.open(path, write=True) as store:
            thinker = ThinkerProcess(path)
            try:
                desk = Desk(Project(store), thinker, Leases(lease))
                names = [*hosts, socket.gethostname(), socket.getfqdn()]
                team = Team(lambda: desk.project.answers.roles, passwords)
                app = Guard(application(desk), token, names, password, team, frame_code)
                config = uvicorn.Config(
                    app,
                    http=cast(Any, Connections().protocol),
                    ws="none",
                    backlog=ACCEPTS_AT_ONCE,
                    log_level="critical",  # what uvicorn logs, anybody could send a million times; the guard logs what fails
                    access_log=False,
                    server_header=False,
                    lifespan="on",
                    timeout_graceful_shutdown=SHUTDOWN_SECONDS,
                )
                server = uvicorn.Server(config)
                with _stopping_in_order(server):
                    lock.tell(url, token)
                    ready(f"{url}/" if password or not _is_loopback(host) else f"{url}/?token={token}")
                    with BackupThread(store, plan or BackupPlan.from_environment()), comparing(desk):
                        server.run(sockets=[listening])
            finally:
                thinker.stop()
    finally:
        lock.release()
        listening.close()


@contextmanager
def comparing(desk: Desk) -> Iterator[None]:
    """Compare the items of a project while the block runs, where that was left for later."""
    if desk.project.items.apart:
        desk.comparison.start()
    try:
        yield
    finally:
        desk.comparison.stop()


@contextmanager
def _stopping_in_order(server: uvicorn.Server) -> Iterator[None]:
    """Make Ctrl-C, and the signal that services are stopped with, end the server in order, also before it runs.

    They raise no exception: one that is raised in a callback, of weak references say, is dropped, and the server would go on.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket at a port; if none is named, at the usual port or any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in [port] if port is not None else [PORT, 0]:
        listening = Listener(
            family, socket.SOCK_STREAM, socket.IPPROTO_TCP
        )  # with the protocol named, asyncio sets TCP_NODELAY
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, wanted))
            listening.listen()  # requests that come before the server is up wait
            return listening
        except (OSError, OverflowError) as error:
            listening.close()
            reason = getattr(error, "strerror", None) or str(error)
    raise FileError(f"cannot listen on {host}:{port} ({reason}); choose another --port")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reachable_name(host: str) -> str:
    return {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)


def _bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host
