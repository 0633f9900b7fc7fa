"""The server of a page that a notebook or a script shows: it ends with the program that started it.

The page may stand in a frame of a page of this machine, and whoever brings the code, once, is let in: the token, which lets in
again and again, would be saved with the notebook.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from askgraph.errors import AskgraphError, BusyError
from askgraph.web.serve import serve

END_SECONDS = 10.0  # a server that has not ended by then after being told to is killed


class Page(NamedTuple):
    """A page that is served by a process of its own, and the code that lets one browser in."""

    process: subprocess.Popen[str]
    url: str
    token: str
    code: str

    @property
    def port(self) -> int:
        """The port of the page, on this machine."""
        return urlsplit(self.url).port or 0

    def query(self, who: str) -> str:
        """Return the end of the address that lets one browser in, under this name."""
        return urlencode({"once": self.code, "who": who})

    @property
    def runs(self) -> bool:
        """Whether the server has not ended."""
        return self.process.poll() is None

    def close(self) -> None:
        """End the server; what was answered is saved."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def open_page(path: Path) -> Page:
    """Start the server of a project, and wait until it can be reached."""
    code = secrets.token_urlsafe(32)
    process = subprocess.Popen(
        [sys.executable, "-m", "askgraph.web.in_cell", os.fspath(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        start_new_session=True,  # what interrupts the cell does not end the server
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{code}\n")
    process.stdin.flush()
    said = process.stdout.readline().strip()
    url, found, token = said.partition("/?token=")
    page = Page(process, url, token, code)
    if not found:
        page.close()
        raise BusyError(said or "the page could not be served; try askgraph label")
    return page


def main() -> None:
    """Serve the project that the first argument names; say the address, or the error, in one line."""
    code = sys.stdin.readline().strip()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        serve(sys.argv[1], ready=lambda url: print(url, flush=True), frame_code=code, token=secrets.token_urlsafe(32))
    except AskgraphError as error:
        print(error, flush=True)


def _end_with_parent() -> None:
    """Wait until the program that started this one closes its end of the pipe, or ends; then stop in order."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
