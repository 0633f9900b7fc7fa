"""One writer a project: a lock beside the file, which also says where the writer's server is.

SQLite before 3.51.3 can damage a file in WAL mode when two connections write and restart the log at the same moment, so there is
never more than one that writes. The lock is the operating system's: it goes with the process, however that ends.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from askgraph.errors import BusyError, FileError

AT = 2**30  # the byte that Windows locks, beyond anything written


class WriterLock:
    """Held from ``take`` to ``release``; nothing is deleted, since another may be waiting for the same file."""

    def __init__(self, project: str | os.PathLike[str]) -> None:
        self.path = Path(f"{Path(project).resolve()}.lock")  # one lock, by whatever name the project is called
        self._file: Any = None
        self.left: dict[str, Any] = {}  # what a server had told that ended without a word

    def take(self, wait: float = 5.0) -> None:
        """The lock, or an error that says who has it."""
        file = self._opened()
        end = time.monotonic() + wait
        while not _locked(file):
            if time.monotonic() > end:
                file.close()
                raise BusyError(f"{self.path.with_suffix('')}: {self._taken()}")
            time.sleep(0.02)
        self._file = file
        self.path.chmod(0o600)  # what it will say lets its reader write
        self.left = _said(file) or {}
        self._write("")

    def _taken(self) -> str:
        if server := self.server():
            return f"a server has it open at {server['url']}; use that, or stop it"
        return "another program is writing to it; try again when it is done"

    def tell(self, **about: Any) -> None:
        """Let others know where to send what they have to write."""
        self._write(json.dumps(about))

    def release(self, **about: Any) -> None:
        """Let others write; what is left here is for the next one."""
        if self._file is not None:
            self._write(json.dumps(about) if about else "")
            self._file.close()
            self._file = None

    def server(self) -> dict[str, Any] | None:
        """Where the server is that holds the lock, or None when nobody serves this project."""
        try:
            with open(self.path, "r+b") as file:
                if _locked(file, shared=True):  # whoever looks at the same time has not got the lock either
                    return None
                said = _said(file)
                return said if said and "url" in said else None
        except OSError:
            return None

    def _opened(self) -> Any:
        try:
            return os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        except OSError as error:
            raise FileError(
                f"{self.path}: cannot be written ({error.strerror}); a project needs a place to write"
            ) from None

    def _write(self, text: str) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(text.encode())
        self._file.flush()


def _said(file: Any) -> dict[str, Any] | None:
    try:
        said: dict[str, Any] | None = json.loads(file.read() or b"null")
        return said
    except ValueError:
        return None


def _locked(file: Any, shared: bool = False) -> bool:
    """Try to lock an open file, where the system can also together with others; it stays locked until it is closed."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(AT)
            getattr(msvcrt, "locking")(file.fileno(), getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009 -- not there elsewhere
            file.seek(0)
        else:
            import fcntl

            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
