"""Ways to let this user's browser in without the token in an address.

The arguments of a program, a browser's among them, are there for every user of a machine to read, and addresses stay in the
browser's history. So the browser opens a file that only this user can read, and the file sends the token in the body of a
request. From the page of one server to that of another on this machine not even that is needed: the first asks the second for
a session, and gives the browser its cookie, which holds for every port of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import escape
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from askgraph.support.files import replacing
from askgraph.workbench.server_file import Server, state_folder

SECONDS = 5.0  # a server that has not let a browser in by then counts as stopped

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>askgraph</title></head>
<body onload="document.forms[0].submit()">
<form method="post" action="{url}/enter">
<input type="hidden" name="token" value="{token}"><input type="hidden" name="who" value="{who}">
<button>Open askgraph</button></form>
</body></html>
"""


@contextmanager
def entry_file(url: str, token: str, who: str) -> Iterator[Path]:
    """Yield a file that opens the page of a server, until the block ends; raise OSError where it cannot be written."""
    path = state_folder() / f"open-{urlsplit(url).port}.html"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replacing(path, mode=0o600) as file:
        file.write(PAGE.format(url=escape(url), token=escape(token), who=escape(who)).encode())
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def session_cookie(server: Server) -> str | None:
    """Return the cookie by which a server on this machine lets a browser in; None where it does not, or is not on 127.0.0.1."""
    where = urlsplit(server.url)
    if where.hostname not in ("127.0.0.1", "localhost"):
        return None
    said = {"Content-Type": "application/x-www-form-urlencoded"}
    try:
        with closing(HTTPConnection(where.hostname, where.port, timeout=SECONDS)) as connection:  # uses no proxy
            connection.request("POST", "/enter", urlencode({"token": server.token}), said)
            return connection.getresponse().getheader("set-cookie")
    except (OSError, HTTPException):
        return None
