"""One writer a project: a lock beside the file.

SQLite before 3.51.3 can damage a file in WAL mode when two connections write and restart the log at the same moment, so there is
never more than one that writes. The lock is the operating system's: it goes with the process, however that ends. Its file
says nothing and is never written to, since it may have come with the project from anybody.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import time
from pathlib import Path
from typing import BinaryIO

from askgraph.errors import BusyError, FileError
from askgraph.support.files import locked, straight
from askgraph.workbench.whereabouts import VARIABLE, Server, announce, announced

log = logging.getLogger("askgraph")


class WriterLock:
    """Held from ``take`` to ``release``; nothing is deleted, since another may be waiting for the same file."""

    def __init__(self, project: str | os.PathLike[str]) -> None:
        self._project = Path(project).resolve()  # one lock, by whatever name the project is called
        self.path = Path(f"{self._project}.lock")
        self._file: BinaryIO | None = None
        self._said: BinaryIO | None = None

    def take(self, wait: float = 5.0) -> None:
        """Take the lock, or raise an error that says who has it."""
        file = self._opened()
        end = time.monotonic() + wait
        while not locked(file):
            if time.monotonic() > end:
                file.close()
                raise BusyError(f"{self._project}: {self._taken()}")
            time.sleep(0.02)
        self._file = file

    def tell(self, url: str, token: str) -> None:
        """Let this user's other programs know where to send what they have to write."""
        try:
            self._said = announce(self._project, url, token)
        except OSError as error:
            log.warning(
                "cannot note where this server is (%s: %s): commands will not find it, and open pages will not go on with "
                "the next one; set %s to a folder you can write to",
                error.filename,
                error.strerror,
                VARIABLE,
            )

    def release(self) -> None:
        """Let others write."""
        for file in (self._said, self._file):
            if file is not None:
                file.close()
        self._said = self._file = None

    def server(self) -> Server | None:
        """Find the server that holds the lock; None when nobody on this machine serves the project, or it could not say where."""
        found = announced(self._project) if self._held() else None
        return found if found and found.is_here else None

    def token(self) -> str | None:
        """Recall the token of the server before this one, so that its pages go on."""
        found = announced(self._project, running=False)
        return found and found.token

    def _held(self) -> bool:
        try:
            with open(self.path, "r+b", opener=straight) as file:
                return not locked(file, shared=True)  # whoever looks at the same time has not got the lock either
        except OSError:
            return False

    def _taken(self) -> str:
        if server := self.server():
            return f"a server has it open at {server.url}; use that, or stop it"
        if (server := announced(self._project)) is not None:
            return f"a server on {server.host} has it open; use that, or stop it"
        return "another program is writing to it, or serves it; try again when it is done"

    def _opened(self) -> BinaryIO:
        try:
            return open(self.path, "r+b", opener=_plain)
        except OSError as error:
            if kind := _odd(self.path):
                said = f"is {kind}, where an empty file is to be locked; remove it, and try again"
            else:
                said = f"cannot be written ({error.strerror}); a project needs a place to write"
            raise FileError(f"{self.path}: {said}") from None


def _plain(path: str, flags: int) -> int:
    """Open a plain file, made when it is not there, as an ``opener``."""
    opened = straight(path, flags | os.O_CREAT)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return opened


def _odd(path: Path) -> str | None:
    """Name what is there, if it is no plain file."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return None
    named = {stat.S_IFREG: None, stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder"}
    return named.get(stat.S_IFMT(mode), "a pipe or a device")
