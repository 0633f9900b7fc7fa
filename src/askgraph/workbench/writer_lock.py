"""The lock file beside a project: only its holder writes.

SQLite before 3.51.3 can damage a file in WAL mode when two connections write and restart the log at the same moment, so only
one connection may write. The operating system holds the lock and releases it when the process ends, however it ends. The
lock file stays empty: it may have come with the project from anybody, so nothing in it could be trusted.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from askgraph.errors import BusyError, FileError
from askgraph.support.files import name_odd_file, open_no_follow, try_lock
from askgraph.workbench.server_file import VARIABLE, Server, announce, find_server

log: logging.Logger = logging.getLogger("askgraph")
RETRY_SECONDS = 0.02  # between two attempts to take a lock that somebody holds


class WriterLock:
    """A lock held from ``take`` to ``release``; the file is never deleted, since another process may wait for it."""

    path: Path

    def __init__(self, project: str | os.PathLike[str]) -> None:
        self._project = Path(project).resolve()  # one lock per project, also when it is opened through a link
        self.path = Path(f"{self._project}.lock")
        self._file: BinaryIO | None = None
        self._announced: BinaryIO | None = None

    def take(self, wait: float = 5.0) -> None:
        """Take the lock, or raise an error that says who has it."""
        file = self._open()
        end = time.monotonic() + wait
        while not try_lock(file):
            if time.monotonic() > end:
                file.close()
                raise BusyError(f"{self._project}: {self._holder()}")
            time.sleep(RETRY_SECONDS)
        self._file = file

    def tell(self, url: str, token: str) -> None:
        """Tell this user's other programs the address to send answers to."""
        try:
            self._announced = announce(self._project, url, token)
        except OSError as error:
            log.warning(
                "cannot store the address of this server (%s: %s): commands will not find it, and open pages will not go on "
                "with the next server; set %s to a folder you can write to",
                error.filename,
                error.strerror,
                VARIABLE,
            )

    def release(self) -> None:
        """Release the lock, so that others can write."""
        for file in (self._announced, self._file):
            if file is not None:
                file.close()
        self._announced = self._file = None

    def server(self) -> Server | None:
        """Return the server that holds the lock; None if no server on this machine does, or its address is not known."""
        found = find_server(self._project) if self._is_held() else None
        return found if found and found.is_here else None

    def token(self) -> str | None:
        """Return the token of the last server, so that its open pages work with the next one."""
        found = find_server(self._project, running=False)
        return found and found.token

    def _is_held(self) -> bool:
        try:
            with open(self.path, "r+b", opener=open_no_follow) as file:
                return not try_lock(
                    file, shared=True
                )  # shared: two processes that look at the same time both see it free
        except OSError:
            return False

    def _holder(self) -> str:
        if server := self.server():
            return f"a server has it open at {server.url}; use that, or stop it"
        if (server := find_server(self._project)) is not None:
            return f"a server on {server.host} has it open; use that, or stop it"
        return "another program is writing to it or serving it; try again when that is done"

    def _open(self) -> BinaryIO:
        try:
            file = open(self.path, "r+b", opener=_open_plain)  # noqa: SIM115 -- it stays open as long as the lock is held
            if self._is_foreign(os.fstat(file.fileno())):
                file.close()
                raise FileError(
                    f"{self.path}: belongs to another user, who could hold the lock for ever; remove it, and try again"
                )
            return file
        except OSError as error:
            if kind := name_odd_file(self.path):
                said = f"is {kind}, but must be an empty file to lock; remove it, and try again"
            else:
                said = f"cannot be written ({error.strerror}); a project needs a place to write"
            raise FileError(f"{self.path}: {said}") from None

    def _is_foreign(self, found: os.stat_result) -> bool:
        """Return whether a lock file belongs neither to this user nor to the owner of the project."""
        if os.name == "nt":
            return False
        owners = {os.geteuid()}
        with suppress(OSError):  # there is no project yet
            owners.add(self._project.stat().st_uid)
        return found.st_uid not in owners


def _open_plain(path: str, flags: int) -> int:
    """Open a plain file of one name, and make it if needed, as an ``opener`` for ``open``."""
    opened = open_no_follow(path, flags | os.O_CREAT)
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(opened)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return opened
