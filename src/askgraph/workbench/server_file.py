"""The address and token of the server that has a project open, in a file in this user's own folder.

The file never lies beside the project: whatever lies there may have come with the project from anybody, and whoever
planted a token there could log in to the server.
"""

from __future__ import annotations

import json
import os
import re
import socket
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from askgraph.support.files import open_no_follow, replacing, try_lock

VARIABLE = "LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME"  # the environment variable of the parent folder
DEFAULT_PARENT = "~/AppData/Local" if os.name == "nt" else "~/.local/state"
MAX_FILE_BYTES = 10_000  # no more is read: a real entry has a few hundred
SHAPES = {"url": re.compile(r"http://[^\s/]+:\d{1,5}"), "token": re.compile(r"[A-Za-z0-9_-]{20,200}")}


class Server(NamedTuple):
    """The server of a project: its address, its token, and the machine it runs on."""

    url: str
    token: str
    host: str

    @property
    def is_here(self) -> bool:
        """Whether the server runs on this machine: machines can share a home folder, but not the address 127.0.0.1."""
        return self.host == socket.gethostname()


def state_folder() -> Path:
    """Return askgraph's folder in the folder that the variable names, or in the default one if it names no absolute path."""
    named = os.environ.get(VARIABLE, "")
    try:
        return Path(named if os.path.isabs(named) else DEFAULT_PARENT).expanduser() / "askgraph"
    except RuntimeError as error:
        raise OSError(None, str(error)) from None


def server_file(project: Path) -> Path:
    """Return the path of the file with the address of this project's server."""
    name = sha256(os.fsencode(os.path.normcase(project.resolve()))).hexdigest()[:32]
    return state_folder() / f"{name}.json"


def announce(project: Path, url: str, token: str) -> BinaryIO:
    """Write the address of the server for this user only; return the locked file, which stays open while the server runs."""
    path = server_file(project)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replacing(path, mode=0o600) as file:
        file.write(json.dumps(Server(url, token, socket.gethostname())._asdict()).encode())
    written = open(path, "rb", opener=open_no_follow)  # noqa: SIM115 -- it stays open as long as the server runs
    try_lock(written)
    return written


def find_server(project: Path, running: bool = True) -> Server | None:
    """Return the server of this project, by default only if it still runs; ignore a file that another user could write."""
    try:
        with open(server_file(project), "rb", opener=open_no_follow) as file:
            if not is_ours(os.fstat(file.fileno())) or (running and try_lock(file, shared=True)):
                return None
            return _read_server(file.read(MAX_FILE_BYTES))
    except OSError:
        return None


def is_ours(found: os.stat_result) -> bool:
    """Return whether this is a plain file that no other user could read or write."""
    if not stat.S_ISREG(found.st_mode):
        return False
    return os.name == "nt" or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)


def _read_server(content: bytes) -> Server | None:
    try:
        said: Any = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not all(isinstance(said.get(name), str) for name in Server._fields):
        return None
    fits = all(shape.fullmatch(said[name]) for name, shape in SHAPES.items())
    return Server(said["url"], said["token"], said["host"]) if fits else None
