"""Begin without a command line: a page on which files are dropped, ten rows are seen and columns chosen; a project comes of it.

Nothing leaves the machine, and no path that the browser names is opened: what is dropped comes as bytes, in parts, and lies in a
folder of its own until the project is made. Names of files lose everything that could lead elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from uuid import uuid4

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, Field

from askgraph.errors import AskgraphError, FileError, FullError, LabelError, SettingError
from askgraph.io.pictures import is_picture
from askgraph.io.readers import EDGES, TABLES, read_graph
from askgraph.io.text import TEXT
from askgraph.support.files import safe_name
from askgraph.version import __version__
from askgraph.web.complaints import complain
from askgraph.web.connections import ACCEPTS_AT_ONCE, Connections
from askgraph.web.error_replies import add_error_handlers
from askgraph.web.page_files import add_page
from askgraph.web.security import Guard
from askgraph.web.serve import listen
from askgraph.workbench.columns import Column, look_at_columns
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source, read_columns

LONGEST = 255  # bytes of the name of a file: what lies on this machine already keeps its name
MAX_BYTES, MAX_FILES = 2 * 2**30, 50_000  # of all that is dropped at once
ROWS, COLUMNS, CELL = 10, 50, 200  # rows and columns that are shown, and characters of a cell
READ = {*TABLES, *EDGES, *TEXT, ".npz", ".mtx", ".graphml", ".gml"}  # files that are not pictures
GRAPHS = {".npz", ".mtx", ".graphml", ".gml", ".edges"}  # of these, those that can only be graphs
ENDS = ({"source", "target"}, {"from", "to"})  # columns of an edge list

Name = Annotated[str, Field(min_length=1, max_length=1000)]
ColumnName = Annotated[str, Field(max_length=1000)]


class Part(BaseModel):
    """Where a part of a file belongs: the upload, the name of the file, and how many bytes of it came before."""

    upload: Name
    name: Name
    offset: Annotated[int, Field(ge=0, le=MAX_BYTES)] = 0


class Looking(BaseModel):
    """A request to look at what was dropped."""

    upload: Name


class Making(BaseModel):
    """A request to make a project of what was dropped."""

    upload: Name
    project: Name
    kind: Literal["table", "graph", "pictures"]
    id: ColumnName | None = None
    text: Annotated[list[ColumnName], Field(max_length=10_000)] = []
    features: Annotated[list[ColumnName], Field(max_length=100_000)] = []
    label: ColumnName | None = None
    classes: Annotated[list[ColumnName], Field(max_length=1000)] = []


class Upload:
    """The files of one drop, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.id: str = uuid4().hex
        self.folder: Path = Path(tempfile.mkdtemp(prefix=".askgraph-", dir=folder))
        self.sizes: dict[str, int] = {}

    def write(self, name: str, offset: int, data: bytes) -> None:
        """Add a part to a file; parts come in order."""
        parts = [safe_name(part, LONGEST) for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
        inside = "/".join(parts[-4:])
        if not parts or not (is_picture(inside) or Path(inside).suffix.casefold() in READ or "." not in parts[-1]):
            raise FileError(f"{name[:100]}: a file of this type is not read; drop a table, pictures or an edge list")
        if self.sizes.get(inside, 0) != offset:
            raise LabelError(f"{inside}: a part of it is missing; drop it again")
        if sum(self.sizes.values()) + len(data) > MAX_BYTES or len(self.sizes) >= MAX_FILES:
            limit = f"{MAX_BYTES / 2**30:.0f} GB or {MAX_FILES:,} files"
            raise FullError(f"more than {limit} at once; use askgraph init on the command line")
        path = self.folder / inside
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "ab" if offset else "wb") as file:
                file.write(data)
        except OSError as error:
            raise FullError(f"{inside}: cannot be stored ({error.strerror}); make room and drop it again") from None
        self.sizes[inside] = offset + len(data)

    @property
    def pictures(self) -> bool:
        """Whether pictures were dropped."""
        return any(map(is_picture, self.sizes))

    @property
    def file(self) -> Path:
        """The one file that is not a picture."""
        found = [name for name in self.sizes if not is_picture(name)]
        if len(found) != 1:
            raise SettingError(
                f"{len(found)} files that are not pictures: drop one table, or one edge list, or pictures"
            )
        return self.folder / found[0]

    def drop(self) -> None:
        """Delete the files."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Beginning:
    """What the page begins with: the last drop, and the project that came of it. Files go to ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder: Path = folder.resolve()
        self.upload: Upload | None = None
        self.made: Path | None = None
        self.working: str | None = None
        self.failed: str | None = None

    def begin(self) -> dict[str, Any]:
        """Begin a new drop; the files of the one before are deleted."""
        if self.working:
            raise LabelError("a project is being made; wait until it is there")
        self.close()
        self.upload = Upload(self.folder)
        return {"upload": self.upload.id}

    def find(self, id: str) -> Upload:
        """Return the drop of this name; raise an error if it is not the last one."""
        if self.upload is None or not secrets.compare_digest(self.upload.id.encode(), id.encode("utf-8", "replace")):
            raise LabelError("no such files here anymore; drop them again")
        return self.upload

    def look(self, id: str) -> dict[str, Any]:
        """Return what was dropped: its kind, columns and first rows, and what would be compared."""
        upload = self.find(id)
        if upload.pictures and all(map(is_picture, upload.sizes)):
            names = sorted(upload.sizes)
            name, rows = _common_folder(names) or "pictures", [[one] for one in names[:ROWS]]
            return {"kind": "pictures", "name": name, "count": len(names), "columns": _only("file"), "rows": rows}
        file = upload.file
        if file.suffix.casefold() in GRAPHS:
            return _graph(file)
        table = read_columns(file)
        if any(ends <= {name.casefold() for name in table.header} for ends in ENDS) and len(table.header) <= 3:
            return _graph(file)
        cells = {name: table.cells(name) for name in table.header}
        columns = [one._asdict() for one in look_at_columns(Source(file), table)]
        count = len(cells[table.header[0]])
        rows = [[_short(cells[name][k]) for name in table.header[:COLUMNS]] for k in range(min(ROWS, count))]
        known = {"kind": "table", "name": file.stem, "count": count, "by_pictures": upload.pictures}
        return {**known, "columns": columns, "rows": rows}

    def make(self, said: Making) -> None:
        """Make the project; its name is free afterwards, and the dropped files but pictures are deleted."""
        upload = self.find(said.upload)
        stem = _free_name(self.folder, safe_name(said.project))
        path = self.folder / f"{stem}.ask"
        classes = [name for name in said.classes if name.strip()]
        if said.kind == "graph":
            Project.create(path, Source(graph=upload.file), classes)
        elif said.kind == "table" and not upload.pictures:
            if not said.text and not said.features:
                raise SettingError("no column is marked to compare items by; mark at least one")
            features = None if said.text else said.features or None
            source = Source(
                upload.file, id=said.id or None, features=features, text=said.text or None, label=said.label or None
            )
            Project.create(path, source, classes)
        else:
            self._make_of_pictures(upload, path, said, classes)
        upload.drop()
        self.made = path

    def _make_of_pictures(self, upload: Upload, path: Path, said: Making, classes: list[str]) -> None:
        """Move the pictures to where they stay, and make the project of them, or of the table that names them."""
        inner, home = upload.folder / (_common_folder(list(upload.sizes)) or "."), path.with_suffix("")
        table = None if said.kind == "pictures" else home / upload.file.relative_to(inner)
        inner.rename(home)
        try:
            Project.create(path, Source(table or home, id=said.id or None, label=said.label or None), classes)
        except BaseException:
            home.rename(inner)
            raise
        if table is not None:
            table.unlink()

    def close(self) -> None:
        """Delete what was dropped and not used."""
        if self.upload is not None:
            self.upload.drop()
        self.upload = None


def _graph(file: Path) -> dict[str, Any]:
    graph = read_graph(file)
    rows = [[str(graph.name(k))] for k in range(min(ROWS, graph.n_nodes))]
    return {
        "kind": "graph",
        "name": file.stem,
        "count": graph.n_nodes,
        "columns": _only("node"),
        "rows": rows,
    }


def _only(name: str) -> list[dict[str, Any]]:
    """Return the one column of what is not a table."""
    return [Column(name, "short", None)._asdict()]


def _short(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= CELL else text[: CELL - 1] + "…"


def _common_folder(names: list[str]) -> str | None:
    """Return the folder that all these files lie in, or None."""
    first = {name.split("/")[0] if "/" in name else "" for name in names}
    return (first.pop() or None) if len(first) == 1 else None


def _free_name(folder: Path, stem: str) -> str:
    """Return a name that no project and no folder has yet."""
    k, free = 1, stem
    while os.path.lexists(folder / f"{free}.ask") or os.path.lexists(
        folder / free
    ):  # a link that leads nowhere counts, too
        k += 1
        free = f"{stem} {k}"
    return free


def start_application(beginning: Beginning, done: Any) -> FastAPI:
    """Return the application of the page; ``done`` is called when a project is made."""
    app = FastAPI(title="askgraph", version=__version__, docs_url=None, redoc_url=None)
    add_error_handlers(app)
    add_page(app, "start.html")
    tasks: set[asyncio.Task[None]] = set()

    @app.post("/api/start/begin")
    async def begin() -> dict[str, Any]:
        return await asyncio.to_thread(beginning.begin)

    @app.post("/api/start/part")
    async def part(request: Request, where: Annotated[Part, Query()]) -> dict[str, Any]:
        data = await request.body()
        await asyncio.to_thread(beginning.find(where.upload).write, where.name, where.offset, data)
        return {"received": where.offset + len(data)}

    @app.post("/api/start/look")
    async def look(said: Looking) -> dict[str, Any]:
        return await asyncio.to_thread(beginning.look, said.upload)

    @app.post("/api/start/make")
    async def make(said: Making) -> dict[str, Any]:
        beginning.find(said.upload)
        if beginning.working:
            raise LabelError("a project is being made; wait until it is there")
        beginning.working, beginning.failed = said.project, None
        tasks.add(asyncio.create_task(_make(said)))
        return {"working": True}

    async def _make(said: Making) -> None:
        try:
            await asyncio.to_thread(beginning.make, said)
        except AskgraphError as error:
            beginning.failed = str(error)
        except Exception as error:
            beginning.failed = f"the project could not be made ({type(error).__name__}); try askgraph init"
            complain("making a project", error)
        finally:
            beginning.working = None

    @app.get("/api/start/made")
    async def made() -> dict[str, Any]:
        if beginning.made is not None:
            asyncio.get_running_loop().call_later(0.2, done)  # after this reply
        return {"made": beginning.made is not None, "failed": beginning.failed}

    return app


def begin_here(folder: Path, port: int | None, ready: Any) -> tuple[Path, int, str] | None:
    """Serve the page until a project is made; return its path, the port and the token; None if it was stopped before.

    Only this machine can reach the page. ``ready`` is called with the address to open.
    """
    import uvicorn

    beginning, token = Beginning(folder), secrets.token_urlsafe(32)
    listening = listen("127.0.0.1", port)
    try:
        stop: list[Any] = []
        app = Guard(start_application(beginning, lambda: setattr(stop[0], "should_exit", True)), token)
        config = uvicorn.Config(
            app,
            http=cast(Any, Connections().protocol),
            ws="none",
            backlog=ACCEPTS_AT_ONCE,
            log_level="critical",  # the guard logs what fails
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        stop.append(server)
        number = int(listening.getsockname()[1])
        ready(f"http://127.0.0.1:{number}/?token={token}")
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    finally:
        listening.close()
        beginning.close()
    return None if beginning.made is None else (beginning.made, number, token)
