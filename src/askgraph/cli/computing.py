"""Let a command compute: by the server that has the project open and knows the result, else by itself.

What a server knows costs a command no learner, and none of the packages that one needs: they are imported here where no server is.
"""

from __future__ import annotations

import json
import sys
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from askgraph.errors import without_controls
from askgraph.support.files import replacing
from askgraph.workbench.server_file import Server
from askgraph.workbench.writer_lock import WriterLock

WAIT_SECONDS = 60  # a server that has said nothing for so long is busy
BLOCK_BYTES = 2**20
MAX_HEAD_BYTES = 2**26  # of what a command prints
NOWHERE = Path()  # of a command that writes no file


def compute(project: Path, name: str, output: Path = NOWHERE, **options: Any) -> dict[str, Any]:
    """Return what a command prints, and write its files: as a server of this project says it, else computed here."""
    if server := WriterLock(project).server():
        try:
            return _ask(server, name, output, options)
        except (OSError, HTTPException, ValueError) as error:
            why = f"askgraph: the server at {server.url} does not say it ({error}), so it is computed here"
            print(without_controls(why), file=sys.stderr)
    from askgraph.workbench.computed import COMPUTED
    from askgraph.workbench.project import Project

    with Project.open(project) as opened:
        return COMPUTED[name](opened, output, **options)


def _ask(server: Server, name: str, output: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Return the reply of a server, whose files are written beside ``output`` under the names that they have there."""
    address = urlsplit(server.url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=WAIT_SECONDS)
    try:
        asked = json.dumps({"name": name, "output": output.name, "options": options})
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        connection.request("POST", "/api/compute", asked.encode(), headers)
        reply = connection.getresponse()
        if reply.status != 200:
            raise ValueError(json.loads(reply.read() or b"{}").get("error", f"status {reply.status}"))
        head = json.loads(reply.readline(MAX_HEAD_BYTES))
        for file, size in head["files"]:
            _write(reply, output.with_name(Path(file).name), size)
        said: dict[str, Any] = head["said"]
        return said
    finally:
        connection.close()


def _write(reply: HTTPResponse, path: Path, size: int) -> None:
    """Write the next bytes of a reply to a file; a reply that ends early leaves the file as it was."""
    with replacing(path) as file:
        while size:
            if not (block := reply.read(min(size, BLOCK_BYTES))):
                raise ValueError("its reply ended early")
            file.write(block)
            size -= len(block)
