"""Where the server of a project is, and the token it lets people in by: in this user's own folder, never beside the project.

What lies beside a project may have come with it, from anybody; a token found there would open the server to them.
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

from askgraph.support.files import locked, replacing, straight

VARIABLE = "LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME"  # names the folder that ours is in
USUAL = "~/AppData/Local" if os.name == "nt" else "~/.local/state"
MOST = 10_000  # bytes that are looked at
SHAPES = {"url": re.compile(r"http://[^\s/]+:\d{1,5}"), "token": re.compile(r"[A-Za-z0-9_-]{20,200}")}


class Server(NamedTuple):
    """A server of a project: its address, the token, and the machine it runs on."""

    url: str
    token: str
    host: str

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine: home folders can be shared, addresses like 127.0.0.1 cannot."""
        return self.host == socket.gethostname()


def folder() -> Path:
    """Name the folder of this user that is ours; where the variable is not set to a whole path, the usual one."""
    named = os.environ.get(VARIABLE, "")
    try:
        return Path(named if os.path.isabs(named) else USUAL).expanduser() / "askgraph"
    except RuntimeError as error:
        raise OSError(None, str(error)) from None


def file_of(project: Path) -> Path:
    """Name the file that says where the server of this project is."""
    name = sha256(os.fsencode(os.path.normcase(project.resolve()))).hexdigest()[:32]
    return folder() / f"{name}.json"


def announce(project: Path, url: str, token: str) -> BinaryIO:
    """Say where the server is, to this user only; as long as what is returned is open, it is there."""
    path = file_of(project)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replacing(path, mode=0o600) as file:
        file.write(json.dumps(Server(url, token, socket.gethostname())._asdict()).encode())
    said = open(path, "rb", opener=straight)  # noqa: SIM115 -- it stays open as long as the server runs
    locked(said)
    return said


def announced(project: Path, running: bool = True) -> Server | None:
    """Find what was said of this project's server, if it still runs; what another user could have written counts for nothing."""
    try:
        with open(file_of(project), "rb", opener=straight) as file:
            if not _is_ours(os.fstat(file.fileno())) or (running and locked(file, shared=True)):
                return None
            return _server(file.read(MOST))
    except OSError:
        return None


def _is_ours(found: os.stat_result) -> bool:
    if not stat.S_ISREG(found.st_mode):
        return False
    return os.name == "nt" or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)


def _server(content: bytes) -> Server | None:
    try:
        said: Any = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not all(isinstance(said.get(name), str) for name in Server._fields):
        return None
    fits = all(shape.fullmatch(said[name]) for name, shape in SHAPES.items())
    return Server(said["url"], said["token"], said["host"]) if fits else None
