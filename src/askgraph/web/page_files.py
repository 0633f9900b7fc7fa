"""The files of the page, as a server sends them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from fastapi import FastAPI, HTTPException
from fastapi.responses import Response


def add_page(app: FastAPI, first: str = "index.html") -> None:
    """Serve the files of the page, read once: no other file can be reached. ``first`` is shown at /."""
    page = dict(_page_files(files("askgraph.web").joinpath("page")))
    kinds = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
    early = "".join(
        f'<link rel="modulepreload" href="/page/{name}">\n'
        for name in sorted(page)
        if name.endswith(".js") and not name.startswith("start")
    )
    # all modules are loaded at once, not each after the one that imports it
    whole = page[first].replace(b"<script", early.encode() + b"<script", 1 if first == "index.html" else 0)

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return Response(whole, media_type="text/html")

    @app.get("/page/{name:path}", include_in_schema=False)
    async def file(name: str) -> Response:
        if name not in page:
            raise HTTPException(404, "no such file")
        return Response(page[name], media_type=kinds.get(Path(name).suffix, "text/plain"))


def _page_files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of every file in a folder and its subfolders."""
    for file in folder.iterdir():
        if file.is_file():
            yield f"{prefix}{file.name}", file.read_bytes()
        else:
            yield from _page_files(file, f"{prefix}{file.name}/")
