"""Begin without a command line: a page that goes on with a project of a folder, or makes one of files that are dropped on it.

Nothing leaves the machine, and no path that the browser names is opened: what is dropped comes as bytes, and a project is
named as the page lists it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

from fastapi import FastAPI, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from askgraph.errors import AskgraphError, FileError, FullError, LabelError, SettingError
from askgraph.io.pictures import folder_table
from askgraph.io.readers import EDGES, read_graph
from askgraph.io.spreadsheets import READERS
from askgraph.io.tables import Table
from askgraph.io.text import TEXT
from askgraph.kinds import Kind
from askgraph.support.files import name_odd_file, safe_name
from askgraph.support.progress import watching
from askgraph.support.wording import counted
from askgraph.version import __version__
from askgraph.web.complaints import complain
from askgraph.web.connections import ACCEPTS_AT_ONCE, Connections
from askgraph.web.dropped import MAX_BYTES, Upload
from askgraph.web.entry import session_cookie
from askgraph.web.error_replies import Reply, add_error_handlers
from askgraph.web.page_files import add_page
from askgraph.web.security import Guard
from askgraph.web.serve import listen
from askgraph.workbench.client import open_writer
from askgraph.workbench.columns import Column, look_at_columns
from askgraph.workbench.database import SIDE_FILES, naming_errors, remove_side_files, reporting_damage
from askgraph.workbench.growing import discard, prepare_addition
from askgraph.workbench.new_project import kind_named
from askgraph.workbench.offers import offer_answers
from askgraph.workbench.project import Project
from askgraph.workbench.server_file import Server
from askgraph.workbench.shelf import PROJECT, find_copy, find_project, find_rows, list_projects
from askgraph.workbench.source import Source, read_columns
from askgraph.workbench.writer_lock import WriterLock

ROWS, COLUMNS, CELL = 10, 50, 200  # rows and columns that are shown, and characters of a cell
GRAPHS = {".npz", ".mtx", ".graphml", ".gml", ".edges"}  # files that can only be graphs
NUMBERS = ("number", "boolean")  # kinds of columns that are compared by their values
MOST_OFFERED = 100_000  # rows: of longer tables no kind of answers is offered, as looking would take seconds
LOCK_SECONDS = 0.5  # how long to wait for another writer before giving up
LINKS = (*TEXT, *EDGES, "")  # files that can be edge lists
ENDS = ({"source", "target"}, {"from", "to"})  # columns of an edge list

Name = Annotated[str, Field(min_length=1, max_length=1000)]
ColumnName = Annotated[str, Field(max_length=1000)]


class Part(BaseModel):
    """Where a part of a file belongs: the upload, the name of the file, and how many bytes of it came before."""

    upload: Name
    name: Name
    offset: Annotated[int, Field(ge=0, le=MAX_BYTES)] = 0


class Dropped(BaseModel):
    """A request about what was dropped."""

    upload: Name


class Looking(Dropped):
    """A request to look at what was dropped, and how a table is to be read."""

    sheet: ColumnName | None = None
    encoding: Annotated[str, Field(max_length=40)] | None = None


class Opening(BaseModel):
    """A request to go on with a project of the folder."""

    name: Name


class Adding(Looking):
    """A request to go on with a project, and to add the dropped rows to it that it does not have."""

    name: Name


class Making(Looking):
    """A request to make a project of what was dropped; ``rest`` stands for the columns that the page does not show."""

    project: Name
    kind: Literal["table", "graph", "pictures"]
    id: ColumnName | None = None
    text: Annotated[list[ColumnName], Field(max_length=COLUMNS)] = []
    features: Annotated[list[ColumnName], Field(max_length=COLUMNS)] = []
    rest: bool = True
    label: ColumnName | None = None
    left_out: Annotated[list[ColumnName], Field(max_length=COLUMNS)] = []
    classes: Annotated[list[ColumnName], Field(max_length=1000)] = []
    answers: Literal["classes", "ordered", "several", "numbers"] = "classes"
    unit: Annotated[str, Field(max_length=40)] | None = None
    link: Literal["identity", "log", "auto"] | None = None


class Beginning:
    """What the page begins with: the last drop, and the project that came of it or was chosen. Files go to ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder: Path = folder.resolve()
        self.upload: Upload | None = None
        self.made: Path | None = None
        self.working: str | None = None
        self.failed: str | None = None
        self.stage: tuple[str, float | None] | None = None  # what is being done, and which share of it is
        self._lock = threading.RLock()  # requests come at once, and each needs the drop to stay as it is
        self._rest: list[Column] = []  # columns of the table that the page does not show

    def projects(self) -> list[dict[str, Any]]:
        """Return the projects of the folder, the one that was used last first."""
        found = [one._asdict() for one in list_projects(self.folder)]
        return [{**one, "wrong": one["wrong"] and self._plain(one["wrong"])} for one in found]

    def open(self, name: str) -> Server | None:
        """Choose a project of the folder to go on with; return the server that has it open already, or None."""
        with self._idle(), self._own_names():
            path = self._find_project(name)
            lock = WriterLock(path)
            _check_project(path)
            if server := lock.server():
                return server
            lock.take(wait=LOCK_SECONDS)
            lock.release()
            self.close()
            self.made = path
        return None

    def take(self, id: str) -> str:
        """Put a dropped project into the folder, unless it is there, perhaps with more answers; return its name."""
        with self._idle(), self._own_names():
            path = self.find(id).project
            if path is None:
                raise SettingError("no project (.ask) was dropped; drop one by itself")
            _check_project(path)
            if known := find_copy(self.folder, path):
                return known.name
            known = self.folder / f"{_free_name(self.folder, safe_name(path.stem), [PROJECT])}{PROJECT}"
            with naming_errors(path.name):
                path.chmod(0o600)
                self._keep_pictures_inside(path, known.with_suffix(""))
                remove_side_files(known)
                path.rename(known)
        return known.name

    def _keep_pictures_inside(self, path: Path, home: Path) -> None:
        """Let a project look for its pictures in ``home`` if it names a folder outside: its maker must not choose among all."""
        with reporting_damage(path), Project.open(path) as project:
            named = project.about["images"]
            if named is None or (Path(named).is_absolute() and Path(named).resolve().is_relative_to(self.folder)):
                return
        with Project.open(path, write=True) as project:
            project.store.note("images", str(home))

    def begin(self) -> dict[str, Any]:
        """Begin a new drop; the files of the one before are deleted."""
        try:
            with self._idle():
                self.close()
                self.upload = Upload(self.folder)
                return {"upload": self.upload.id}
        except OSError as error:
            raise FullError(f"the folder cannot be written ({error.strerror}); start askgraph in another one") from None

    def write(self, part: Part, data: bytes) -> None:
        """Add a part to a file of the last drop."""
        with self._idle():
            self.find(part.upload).write(part.name, part.offset, data)

    def find(self, id: str) -> Upload:
        """Return the drop of this name; raise an error if it is not the last one."""
        if self.upload is None or not secrets.compare_digest(self.upload.id.encode(), id.encode("utf-8", "replace")):
            raise LabelError("no such files here anymore; drop them again")
        return self.upload

    def look(self, said: Looking) -> dict[str, Any]:
        """Return what was dropped: its kind, columns and first rows, and what would be compared."""
        with self._idle(), self._own_names():
            upload = self.find(said.upload)
            if upload.project:
                return {"kind": "project"}
            if upload.pictures and len(upload.pictures) == len(upload.sizes):
                return self._look_at_pictures(upload)
            file = upload.file
            if file.suffix.casefold() in GRAPHS:
                return _look_at_graph(file)
            return self._look_at_table(file, said)

    def _look_at_table(self, file: Path, said: Looking) -> dict[str, Any]:
        table = _read_table(file, said)
        ends = {name.casefold() for name in table.header}
        if file.suffix.casefold() in LINKS and len(ends) <= 3 and any(pair <= ends for pair in ENDS):
            return _look_at_graph(file)
        columns = look_at_columns(Source(file), table)
        used = [one for one in columns if one.use not in (None, "compared")]
        shown = {one.name for one in [*used, *(one for one in columns if one not in used)][:COLUMNS]}
        self._rest = [one for one in columns if one.name not in shown]
        columns = [one for one in columns if one.name in shown]
        cells = [table.cells(one.name) for one in columns]
        more = Counter((one.kind, one.use) for one in self._rest)
        return {
            "kind": "table",
            "name": file.stem,
            "count": len(cells[0]) if cells else 0,
            "by_pictures": bool(self.find(said.upload).pictures),
            "columns": [{**one._asdict(), "answers": _offered(table, one)} for one in columns],
            "more": [{"kind": kind, "use": use, "count": n} for (kind, use), n in more.items()],
            "rows": [[_short(cell) for cell in row] for row in zip(*(column[:ROWS] for column in cells), strict=True)],
            "notes": [self._plain(note) for note in table.notes],
            "sheets": table.sheets,
            "sheet": table.sheet,
            "encoding": table.encoding,
            "there": self._there(table, len(cells[0]) if cells else 0),
        }

    def _there(self, table: Table, count: int) -> dict[str, Any] | None:
        """Return the project of the folder that has these rows already, or None."""
        if (found := find_rows(self.folder, table, count)) is None:
            return None
        one, rows = found
        return {"name": one.name, "labels": one.labels, "items": one.items, "rows": rows}

    def _look_at_pictures(self, upload: Upload) -> dict[str, Any]:
        names = sorted(upload.sizes)
        name, rows = upload.common_folder or "pictures", [[one] for one in names[:ROWS]]
        folder = upload.folder / (upload.common_folder or ".")
        there = self._there(folder_table(folder), len(names))
        if there is not None and not _same_pictures(folder, self.folder / there["name"]):
            there = None
        left = f"{counted(upload.left_out, 'file')} left out: neither a picture nor a table"
        seen = {"kind": "pictures", "name": name, "count": len(names), "there": there}
        seen["notes"] = [left] if upload.left_out else []
        return {**seen, "columns": _only("file"), "rows": rows}

    def make(self, said: Making) -> None:
        """Make the project; its name is free afterwards, and the dropped files but pictures are deleted."""
        classes, kind = (
            [name for name in said.classes if name.strip()],
            kind_named(said.answers, said.unit or None, said.link),
        )
        with self._lock, self._own_names(), watching(self._note_stage):
            upload = self.find(said.upload)
            stem = _free_name(self.folder, safe_name(said.project), [PROJECT, ""])
            path = self.folder / f"{stem}{PROJECT}"
            if said.kind == "graph":
                Project.create(path, Source(graph=upload.file), classes, answers=kind)
            elif said.kind == "table" and not upload.pictures:
                Project.create(path, self._source(upload.file, said), classes, answers=kind)
            else:
                self._make_of_pictures(upload, path, said, classes, kind)
            upload.drop()
            self.made = path

    def add(self, said: Adding) -> None:
        """Add the dropped rows that a project of the folder does not have, and go on with it."""
        with self._lock, self._own_names(), watching(self._note_stage):
            file = self.find(said.upload).file
            path = self._find_project(said.name)
            with Project.open(path) as project:
                addition = prepare_addition(project, file, sheet=said.sheet, encoding=said.encoding)
            try:
                with open_writer(path) as writer:
                    writer.add(addition.path)
            finally:
                discard(addition.path)
            self.close()
            self.made = path

    def _source(self, file: Path, said: Making) -> Source:
        """Return the table and what its columns are for, as the page says it."""
        rest = [one for one in self._rest if said.rest and one.use == "compared"]
        text = [*said.text, *(one.name for one in rest if one.kind not in NUMBERS)]
        features = [*said.features, *(one.name for one in rest if one.kind in NUMBERS)]
        if not text and not features:
            raise SettingError("no column is marked to compare items by; mark at least one")
        return Source(
            file, id=said.id or "", features=features or None, text=text or None, label=said.label or None,
            hide=said.left_out, sheet=said.sheet, encoding=said.encoding, later="auto",
        )  # fmt: skip

    def _make_of_pictures(self, upload: Upload, path: Path, said: Making, classes: list[str], kind: Kind) -> None:
        """Move the pictures to where they stay, and make the project of them, or of the table that names them."""
        inner, home = upload.folder / (upload.common_folder or "."), path.with_suffix("")
        table = None if said.kind == "pictures" else home / upload.file.relative_to(inner)
        inner.rename(home)
        source = Source(home, label=said.label or None, later="auto")
        if table is not None:
            source = replace(source, table=table, id=said.id or "", hide=said.left_out)
        try:
            Project.create(path, source, classes, answers=kind)
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

    def _find_project(self, name: str) -> Path:
        if (path := find_project(self.folder, name)) is None:
            raise FileError(f"{name[:100]}: no such project in this folder anymore; load this page again")
        return path

    def check_idle(self) -> None:
        """Raise an error while a project is being made."""
        if self.working:
            raise LabelError("a project is being made; wait until it is there")

    @contextmanager
    def _idle(self) -> Iterator[None]:
        """Let other requests wait while the block runs; raise an error while a project is being made, which takes long."""
        self.check_idle()
        with self._lock:
            self.check_idle()
            yield

    def _note_stage(self, what: str, share: float | None) -> None:
        self.stage = (what, share)

    @contextmanager
    def _own_names(self) -> Iterator[None]:
        """Raise errors that name files as people know them, without the folders they lie in on this machine."""
        try:
            yield
        except AskgraphError as error:
            raise type(error)(self._plain(str(error))) from None

    def _plain(self, text: str) -> str:
        for folder in [*([self.upload.folder] if self.upload else []), self.folder]:
            text = text.replace(f"{folder}{os.sep}", "").replace(str(folder), "this folder")
        return text


def _read_table(file: Path, said: Looking) -> Table:
    """Read a table as the page says; of a spreadsheet, unless a sheet is named, the first that holds rows: covers do not."""
    try:
        return read_columns(file, said.sheet, said.encoding)
    except FileError:
        read = READERS.get(file.suffix.casefold())
        if said.sheet is not None or read is None:
            raise
        for name in read(file, None).names[1:]:
            with suppress(FileError):
                return read_columns(file, name)
        raise


def _check_project(path: Path) -> None:
    """Raise an error for what is not a project that this program reads."""
    with Project.open(path):
        pass


def _same_pictures(folder: Path, path: Path) -> bool:
    """Return whether pictures of a folder are as large as those of the same names of a project: cameras count from 1."""
    with reporting_damage(path), Project.open(path) as project:
        home = Path(project.about["images"] or ".")
        names = [item.id for item in project.store.items(range(min(ROWS, project.items.n_items)))]
    pairs = [(home / name, folder / name) for name in names if (folder / name).exists()]
    try:
        return all(kept.stat().st_size == dropped.stat().st_size for kept, dropped in pairs)
    except OSError:
        return False


def _look_at_graph(file: Path) -> dict[str, Any]:
    graph = read_graph(file)
    rows = [[str(graph.name(k))] for k in range(min(ROWS, graph.n_nodes))]
    return {"kind": "graph", "name": file.stem, "count": graph.n_nodes, "columns": _only("node"), "rows": rows}


def _only(name: str) -> list[dict[str, Any]]:
    """Return the one column of what is not a table."""
    return [Column(name, "short", None)._asdict()]


def _offered(table: Table, column: Column) -> dict[str, Any] | None:
    """Return the kind of answers that a column looks like, should it be named as labels; None for one class per item."""
    if column.use == "id" or len(table.cells(column.name)) > MOST_OFFERED:
        return None
    found = offer_answers(table, [column.name])
    return found and {"kind": found.answers, "classes": found.classes, "why": found.sentence}


def _short(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= CELL else text[: CELL - 1] + "…"


def _free_name(folder: Path, stem: str, endings: list[str]) -> str:
    """Return a name that nothing in the folder has yet, with any of these endings, and where SQLite can keep its files."""
    k, free = 1, stem
    while (
        any(os.path.lexists(folder / f"{free}{end}") for end in endings)  # a link that leads nowhere counts, too
        or any(name_odd_file(folder / f"{free}{PROJECT}{side}") for side in SIDE_FILES)
    ):
        k += 1
        free = f"{stem} {k}"
    return free


def start_application(beginning: Beginning, done: Any) -> FastAPI:
    """Return the application of the page; ``done`` is called when there is a project to go on with."""
    app = FastAPI(title="askgraph", version=__version__, docs_url=None, redoc_url=None, default_response_class=Reply)
    add_error_handlers(app)
    add_page(app, "start.html")
    tasks: set[asyncio.Task[None]] = set()

    @app.get("/api/start/projects")
    async def projects() -> list[dict[str, Any]]:
        return await asyncio.to_thread(beginning.projects)

    @app.post("/api/start/open")
    async def open_project(said: Opening) -> JSONResponse:
        return await asyncio.to_thread(_lead_to, beginning, said.name)

    @app.post("/api/start/take")
    async def take(said: Dropped) -> JSONResponse:
        return await asyncio.to_thread(_lead_to, beginning, await asyncio.to_thread(beginning.take, said.upload))

    @app.post("/api/start/begin")
    async def begin() -> dict[str, Any]:
        return await asyncio.to_thread(beginning.begin)

    @app.post("/api/start/part")
    async def part(request: Request, where: Annotated[Part, Query()]) -> dict[str, Any]:
        data = await request.body()
        await asyncio.to_thread(beginning.write, where, data)
        return {"received": where.offset + len(data)}

    @app.post("/api/start/look")
    async def look(said: Looking) -> dict[str, Any]:
        return await asyncio.to_thread(beginning.look, said)

    @app.post("/api/start/make")
    async def make(said: Making) -> dict[str, Any]:
        return _work(beginning.make, said, said.project)

    @app.post("/api/start/add")
    async def add(said: Adding) -> dict[str, Any]:
        return _work(beginning.add, said, said.name)

    def _work(do: Callable[[Any], None], said: Dropped, name: str) -> dict[str, Any]:
        beginning.find(said.upload)
        beginning.check_idle()
        beginning.working, beginning.failed, beginning.stage = name, None, None
        tasks.add(asyncio.create_task(_doing(do, said)))
        return {"working": True}

    async def _doing(do: Callable[[Any], None], said: Dropped) -> None:
        try:
            await asyncio.to_thread(do, said)
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
        stage, share = beginning.stage or (None, None)
        return {"made": beginning.made is not None, "failed": beginning.failed, "stage": stage, "share": share}

    return app


def _lead_to(beginning: Beginning, name: str) -> JSONResponse:
    """Open a project of the folder; where another server has it, let the browser in there, or say at which address it is."""
    server = beginning.open(name)
    if server is None:
        return Reply({"opening": True})
    if cookie := session_cookie(server):
        return Reply({"port": urlsplit(server.url).port}, headers={"Set-Cookie": cookie})
    return Reply({"at": server.url})


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
