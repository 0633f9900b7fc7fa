"""The routes of the server: each calls the desk or a view, on the thread of the desk, and returns the reply."""

from __future__ import annotations

import asyncio
import json
import mimetypes
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, HTTPException, Query
from fastapi import Path as InPath
from fastapi.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.background import BackgroundTask

from askgraph.errors import BusyError, LabelError
from askgraph.types import Array
from askgraph.version import __version__
from askgraph.web import views
from askgraph.web.bodies import (
    MAX_INTEGER,
    Adding,
    Aiming,
    Answering,
    Asking,
    Changing,
    Commenting,
    Computing,
    Confirming,
    ConfirmingGroup,
    ConfirmingPlaces,
    Download,
    Giving,
    Grouping,
    Guiding,
    Id,
    Listing,
    Many,
    Marking,
    Name,
    Reasoning,
    Removing,
    Ruling,
    Selecting,
    Suggesting,
    TakingBack,
    Undoing,
    UndoingChange,
    Who,
    Withdrawing,
)
from askgraph.web.desk import Desk
from askgraph.web.error_replies import add_error_handlers
from askgraph.web.headers import REPORT_POLICY
from askgraph.web.listing import Query as TableQuery
from askgraph.web.page_files import add_page
from askgraph.web.rights import CALLER, Reader, check_rights, is_labeler
from askgraph.web.threads import News, Threads
from askgraph.web.together import selection
from askgraph.workbench.answers import Answer
from askgraph.workbench.computed import COMPUTED
from askgraph.workbench.exchange import FORMATS, picture_file
from askgraph.workbench.guesses import Guess

# How long a reply to an answer waits for an agenda that knows the answer; after that, an older one serves.
ANSWER_WAIT_SECONDS = 0.06
# How long a request for a question waits for a new agenda; after that, any open item is asked. Before the first agenda of
# a server, a person alone is told to ask again instead, after the second time.
QUESTION_WAIT_SECONDS, FIRST_WAIT_SECONDS = 0.5, 2.0
WHY_SECONDS, EXPORT_SECONDS = 30.0, 600.0  # timeouts of requests to the thinker
BLOCK_BYTES = 2**20  # of a file that is sent
IMAGES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".avif"}


def application(desk: Desk) -> FastAPI:
    """Return the server's application for one project."""
    run = Threads()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.news = desk.thinker.news = News()
        yield
        run.close()

    app = FastAPI(
        title="askgraph",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        dependencies=[Depends(check_rights)],
    )
    add_error_handlers(app)
    add_page(app)
    _add_labeling_routes(app, desk, run)
    _add_owner_routes(app, desk, run)
    _add_team_routes(app, desk, run)
    _add_people_routes(app, desk, run)
    _add_report_routes(app, desk, run)
    _add_file_routes(app, desk, run)
    return app


def _add_labeling_routes(app: FastAPI, desk: Desk, run: Threads) -> None:
    @app.post("/api/question")
    async def question(asking: Asking) -> dict[str, Any]:
        known = desk.thinker.agenda
        asked = await run(desk.ask, asking.who, asking.holding)
        if asked["waiting"]:
            seconds = QUESTION_WAIT_SECONDS if known else FIRST_WAIT_SECONDS
            await app.state.news.until(lambda: desk.thinker.agenda is not known, seconds)
            asked = await run(desk.ask, asking.who, asking.holding, None, None if known is None else True)
        return asked

    @app.post("/api/answer")
    async def answer(said: Answering) -> dict[str, Any]:
        given = (said.item, said.kind, said.label, said.seconds, said.key, said.review)
        await _check_classes(desk, run, said.label)
        saved = await run(desk.answer, said.who, *given)
        far = desk.far(saved)  # by the predictions before this answer
        if said.holding is None and desk.alone:
            await app.state.news.until(lambda: _knows(desk, saved), ANSWER_WAIT_SECONDS)
        return {"saved": saved.seq, "far": far, **await run(desk.ask, said.who, said.holding, saved)}

    @app.get("/api/ahead")
    async def ahead() -> dict[str, Any]:
        seq, wanted = await run(lambda: views.looks_ahead(desk.project))
        await app.state.news.until(lambda: _sees_ahead(desk, seq, wanted), FIRST_WAIT_SECONDS)
        return await run(lambda: views.pictures_ahead(desk.project, desk.thinker.agenda, desk.leases.held()))

    @app.post("/api/answers")
    async def answers(said: Many) -> dict[str, Any]:
        await _check_classes(desk, run, *(one.label for one in said.answers))
        return await run(desk.answer_all, said.who, [(one.item, one.kind, one.label) for one in said.answers], said.key)

    @app.post("/api/selection")
    async def select(said: Selecting) -> dict[str, Any]:
        return await run(_select, desk, said)

    @app.post("/api/confirm")
    async def confirm(said: Confirming) -> dict[str, Any]:
        await _check_classes(desk, run, said.label)
        return await run(_confirm, desk, said)

    @app.post("/api/group")
    async def group(asking: Grouping) -> dict[str, Any]:
        try:
            without = await run(desk.out_of_groups)
            found = await _request(desk, "group", without, WHY_SECONDS)
        except BusyError:
            return {"waiting": "the next group is being computed"}
        return await run(desk.group, asking.who, found)

    @app.post("/api/group/confirm")
    async def confirm_group(said: ConfirmingGroup) -> dict[str, Any]:
        await _check_classes(desk, run, said.label)
        return await run(desk.confirm_group, said.who, said.label, said.items, said.odd, said.seconds, said.key)

    @app.post("/api/confirm/places")
    async def confirm_places(said: ConfirmingPlaces) -> dict[str, Any]:
        await _check_classes(desk, run, said.label)
        return await run(_confirm_places, desk, said)

    @app.post("/api/comment")
    async def comment(said: Commenting) -> dict[str, Any]:
        return await run(desk.comment, said.who, said.item, said.text, said.key)

    @app.post("/api/comment/undo")
    async def take_comment_back(said: Withdrawing) -> dict[str, Any]:
        return await run(desk.take_comment_back, said.who, said.seq, said.key)

    @app.post("/api/mark")
    async def mark(said: Marking) -> dict[str, Any]:
        return await run(desk.mark, said.who, said.item, said.on, said.key)

    @app.post("/api/reasons")
    async def give_reasons(said: Reasoning) -> dict[str, Any]:
        return await run(desk.give_reasons, said.who, said.item, said.reasons, said.key)

    @app.post("/api/undo")
    async def undo(said: Undoing) -> dict[str, Any]:
        return await run(desk.undo, said.who, said.key, said.holding)

    @app.post("/api/target")
    async def target(said: Aiming) -> dict[str, Any]:
        return await run(desk.aim, said.who, said.target)


def _add_owner_routes(app: FastAPI, desk: Desk, run: Threads) -> None:
    @app.post("/api/add")
    async def add(said: Adding) -> dict[str, Any]:
        return await run(desk.add, said.addition)

    @app.post("/api/remove")
    async def remove(said: Removing) -> dict[str, Any]:
        return await run(desk.remove, said.items)

    @app.post("/api/suggest")
    async def suggest(said: Suggesting) -> dict[str, Any]:
        given = [Guess(0, one.source, one.label, one.score, one.prompt) for one in said.guesses]
        return await run(desk.suggest, [one.item for one in said.guesses], given, said.last)

    @app.post("/api/compute", response_class=StreamingResponse)
    async def compute(said: Computing) -> StreamingResponse:
        return await _compute(desk, said)

    @app.post("/api/rule")
    async def rule(said: Ruling) -> dict[str, Any]:
        return await run(desk.change, said.who, "rule", said.name, said.value, said.key)

    @app.post("/api/role")
    async def role(said: Giving) -> dict[str, Any]:
        return await run(desk.give_role, said.who, said.name, said.role, said.password, said.key)


def _add_team_routes(app: FastAPI, desk: Desk, run: Threads) -> None:
    @app.get("/api/classes")
    async def classes() -> dict[str, Any]:
        return await run(lambda: views.classes(desk.project))

    @app.post("/api/classes")
    async def change(said: Changing) -> dict[str, Any]:
        return await run(desk.change, said.who, said.kind, said.name, said.value, said.key, said.like)

    @app.post("/api/classes/undo")
    async def undo_change(said: UndoingChange) -> dict[str, Any]:
        return await run(desk.undo_change, said.who, said.seq, said.key)

    @app.get("/api/guidelines")
    async def guidelines() -> dict[str, Any]:
        return await run(lambda: views.guidelines(desk.project))

    @app.post("/api/guidelines")
    async def write_guidelines(said: Guiding) -> dict[str, Any]:
        return await run(desk.write_guidelines, said.who, said.text, said.key, said.read)


def _add_people_routes(app: FastAPI, desk: Desk, run: Threads) -> None:
    @app.get("/api/me")
    async def me() -> dict[str, Any]:
        return CALLER.get()._asdict()

    @app.get("/api/people/since")
    async def since(person: Name, since: Annotated[str, Query(max_length=100)]) -> dict[str, Any]:
        return await run(lambda: views.said_since(desk.project, person, since))

    @app.post("/api/people/undo")
    async def undo_since(said: TakingBack) -> dict[str, Any]:
        return await run(desk.undo_since, said.who, said.person, said.since, said.key)

    @app.post("/api/people/back")
    async def give_back(said: TakingBack) -> dict[str, Any]:
        return await run(desk.give_back, said.who, said.person, said.key)


def _add_report_routes(app: FastAPI, desk: Desk, run: Threads) -> None:
    @app.get("/api/state")
    async def state(who: Who) -> dict[str, Any]:
        return {**await run(desk.check_in, who), "me": CALLER.get()._asdict()}

    @app.get("/api/history")
    async def history(
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
        before: Annotated[int | None, Query(ge=0, le=MAX_INTEGER)] = None,
        who: Annotated[str | None, Query(max_length=200)] = None,
        label: Annotated[str | None, Query(max_length=1000)] = None,
        reader: Reader = None,
    ) -> dict[str, Any]:
        return await run(lambda: views.history(desk.project, limit, before, who or None, label or None, reader))

    @app.get("/api/item")
    async def item(
        id: Id | None = None, at: Annotated[int | None, Query(ge=0, le=MAX_INTEGER)] = None, reader: Reader = None
    ) -> dict[str, Any]:
        return await run(lambda: views.item(desk.project, desk.thinker.picture, _find_place(desk, id, at), reader))

    @app.get("/api/why")
    async def why(id: Id, reader: Reader = None) -> dict[str, Any]:
        place = await run(_find_place, desk, id, None)
        unseen = await run(views.hidden, desk.project, reader)
        if place in unseen:
            return {"unseen": True}
        try:
            found: dict[str, Any] = await _request(desk, "why", place, WHY_SECONDS)
            return await run(views.without, desk.project, found, unseen) if unseen else found
        except BusyError:
            return {"waiting": "the reasons are being computed"}

    @app.get("/api/progress")
    async def progress() -> dict[str, Any]:
        return await run(_progress, desk)

    @app.get("/api/suspects")
    async def suspects(reader: Reader = None) -> dict[str, Any]:
        return await run(lambda: views.suspects(desk.project, desk.thinker.picture, reader))

    @app.get("/api/sources")
    async def sources() -> dict[str, Any]:
        try:
            found: dict[str, Any] = await _request(desk, "sources", None, WHY_SECONDS)
            return found
        except BusyError:
            return {"waiting": "the suggestions are being compared"}

    @app.get("/api/review")
    async def review(
        reader: Reader = None, only: Literal["", "disagree", "return", "suspect", "cannot", "unsure"] = ""
    ) -> dict[str, Any]:
        return await run(lambda: views.review(desk.project, desk.thinker.picture, reader, only))

    @app.get("/api/items")
    async def items(query: Annotated[Listing, Query()], reader: Reader = None) -> dict[str, Any]:
        wanted = TableQuery(**query.model_dump(), reader=reader)
        if wanted.like:
            await run(desk.project.items.check_texts)
            wanted = wanted._replace(likeness=await _likeness(desk, wanted.like))
            if wanted.likeness is None:
                return {"waiting": "the texts are being read"}
        return await run(_list, desk, wanted)


def _add_file_routes(app: FastAPI, desk: Desk, run: Threads) -> None:
    @app.get("/api/map")
    async def map(reader: Reader = None) -> dict[str, Any]:
        return await run(lambda: views.map_parts(desk.project, desk.thinker.picture, desk.map, reader))

    @app.get("/api/map/search")
    async def search(text: Annotated[str, Query(min_length=1, max_length=200)]) -> dict[str, Any]:
        return await run(lambda: views.search(desk.project, text))

    @app.get("/api/map/layout", response_class=Response)
    async def map_layout() -> Response:
        return Response(await run(lambda: views.map_layout(desk.map)), media_type="application/octet-stream")

    @app.get("/api/map/state", response_class=Response)
    async def map_state(reader: Reader = None) -> Response:
        return Response(
            await run(lambda: views.map_state(desk.project, desk.thinker.picture, reader)),
            media_type="application/octet-stream",
        )

    @app.get("/api/export", response_class=FileResponse)
    async def export(format: Download = "csv") -> FileResponse:
        return await _export(desk, format)

    @app.get("/api/report", response_class=HTMLResponse)
    async def report(language: Literal["en", "de"] = "en") -> HTMLResponse:
        made = await _request(desk, "report", language, EXPORT_SECONDS)
        return HTMLResponse(made, headers={"content-security-policy": REPORT_POLICY})

    @app.get("/images/{place}", response_class=FileResponse)
    async def image(place: Annotated[int, InPath(ge=0, le=MAX_INTEGER)]) -> FileResponse:
        found = await run(_find_image, desk, place)
        if found is None:
            raise HTTPException(404, "no such image")
        return FileResponse(found, media_type=mimetypes.guess_type(found.name)[0] or "application/octet-stream")


async def _likeness(desk: Desk, words: str) -> Array | None:
    """Return how alike items are to some words; None while that cannot be said yet."""
    try:
        found: Array | None = await _request(desk, "like", words, WHY_SECONDS)
        return found
    except BusyError:
        return None


async def _request(desk: Desk, name: str, value: Any, seconds: float) -> Any:
    """Return the reply of the thinker to a request; raise an error if it does not come in time."""
    try:
        return await asyncio.wait_for(asyncio.wrap_future(desk.thinker.request(name, value)), seconds)
    except TimeoutError:
        raise BusyError(
            f"the result was not computed within {seconds:.0f} seconds; try again when the server is less busy"
        ) from None
    except asyncio.CancelledError:  # the server is being stopped
        raise BusyError("the server was stopped before the result was computed; start it and try again") from None


def remove_old_exports(project: Path) -> None:
    """Remove what a killed server of this project left in the folder for temporary files."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_export_prefix(project)}*"):
        if os.name == "nt" or folder.lstat().st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)


def _export_prefix(project: Path) -> str:
    return f"askgraph-{sha256(os.fsencode(project.resolve())).hexdigest()[:16]}-"


async def _export(desk: Desk, format: str) -> FileResponse:
    """Return a download, written by the process that has the predictions."""
    name = "how-labeled.md" if format == "how" else FORMATS[format].name if format in FORMATS else f"labels.{format}"
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix=_export_prefix(desk.project.store.path))
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    try:
        await _request(desk, "export", (format, str(Path(folder, name))), EXPORT_SECONDS)
    except BaseException:
        remove()
        raise
    return FileResponse(Path(folder, name), filename=name, background=BackgroundTask(remove))


async def _compute(desk: Desk, said: Computing) -> StreamingResponse:
    """Return what a command prints, as a line of JSON, and behind it the files that it writes."""
    if said.name not in COMPUTED:
        raise LabelError(f"nothing called {said.name!r} is computed here; choose {', '.join(COMPUTED)}")
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix=_export_prefix(desk.project.store.path))
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    try:
        wanted = (said.name, said.options, str(Path(folder, said.output or "none")))
        found = await _request(desk, "compute", wanted, EXPORT_SECONDS)
        files = sorted(Path(folder).iterdir())
        head = json.dumps({"said": json.loads(found), "files": [[file.name, file.stat().st_size] for file in files]})
    except BaseException:
        remove()
        raise
    parts = chain([f"{head}\n".encode()], chain.from_iterable(map(_blocks, files)))
    return StreamingResponse(parts, media_type="application/octet-stream", background=BackgroundTask(remove))


def _blocks(file: Path) -> Iterator[bytes]:
    with open(file, "rb") as opened:
        yield from iter(lambda: opened.read(BLOCK_BYTES), b"")


async def _check_classes(desk: Desk, run: Threads, *labels: Any) -> None:
    """Refuse answers of somebody who labels only if they name a class that is not there: only a lead adds one."""
    if is_labeler() and (new := await run(desk.new_classes, [label for label in labels if label is not None])):
        raise HTTPException(403, f"no class {new[0]!r}: only a lead adds classes, and you are logged in as a labeler")


def _select(desk: Desk, said: Selecting) -> dict[str, Any]:
    places = [*map(desk.project.items.place, said.items), *desk.map.places(said.places, said.edition)]
    return selection(desk.project, desk.thinker.picture, said.who, places)


def _confirm(desk: Desk, said: Confirming) -> dict[str, Any]:
    places = [desk.project.items.place(id) for id in said.items]
    return desk.confirm(said.who, places, said.label, "table", said.key, at_least=said.at_least)


def _confirm_places(desk: Desk, said: ConfirmingPlaces) -> dict[str, Any]:
    places = desk.map.places(said.places, said.edition)
    return desk.confirm(said.who, places, said.label, "map", said.key, at_least=said.at_least)


def _progress(desk: Desk) -> dict[str, Any]:
    return views.progress(desk.project, desk.thinker.picture, desk.curve(), desk.leases.active())


def _list(desk: Desk, query: TableQuery) -> dict[str, Any]:
    return views.items(desk.project, desk.thinker.picture, desk.map, query)


def _find_place(desk: Desk, id: str | None, at: int | None) -> int:
    """Return the place of an item that is named by its id or its place."""
    if id is not None:
        return desk.project.items.place(id)
    if at is None or at >= desk.project.items.n_items:
        raise LabelError(f"no item at {at}; give an id, or a place below {desk.project.items.n_items}")
    return at


def _find_image(desk: Desk, place: int) -> Path | None:
    """Return the file of an item's image, or None if it does not lie in the project's folder of images."""
    if place >= desk.project.items.n_items:
        return None
    found = picture_file(desk.project, desk.project.items.item(place))
    return found if found is not None and found.suffix.casefold() in IMAGES else None


def _sees_ahead(desk: Desk, seq: int, wanted: int) -> bool:
    found = desk.thinker.agenda
    return found is not None and (found.seq > seq or (found.seq == seq and len(found.follows) >= wanted))


def _knows(desk: Desk, saved: Answer) -> bool:
    """Return whether the thinker has said what follows an answer."""
    found = desk.thinker.agenda
    return found is not None and (found.seq >= saved.seq or found.foresaw(saved))
