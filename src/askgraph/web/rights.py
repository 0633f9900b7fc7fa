"""Who may call which route: one table, and the check that every request passes."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Annotated, Literal, NamedTuple

from fastapi import Depends, HTTPException, Query, Request

Rank = Literal["labeler", "lead", "owner"]  # each may do what those before may
RANKS: tuple[Rank, ...] = ("labeler", "lead", "owner")

RIGHTS: dict[
    tuple[str, str], Rank
] = {  # (method, path) -> the least rank that may call it; a route that is not here, nobody may
    ("GET", "/"): "labeler",
    ("GET", "/page/{name:path}"): "labeler",
    ("GET", "/openapi.json"): "labeler",
    ("GET", "/api/me"): "labeler",
    # to label
    ("POST", "/api/question"): "labeler",
    ("POST", "/api/answer"): "labeler",
    ("POST", "/api/answers"): "labeler",
    ("POST", "/api/selection"): "labeler",
    ("POST", "/api/confirm"): "labeler",
    ("POST", "/api/confirm/places"): "labeler",
    ("POST", "/api/group"): "labeler",
    ("POST", "/api/group/confirm"): "labeler",
    ("POST", "/api/undo"): "labeler",
    ("POST", "/api/comment"): "labeler",
    ("POST", "/api/comment/undo"): "labeler",
    ("POST", "/api/mark"): "labeler",
    ("POST", "/api/reasons"): "labeler",
    ("GET", "/api/ahead"): "labeler",
    # to look
    ("GET", "/api/state"): "labeler",
    ("GET", "/api/classes"): "labeler",
    ("GET", "/api/guidelines"): "labeler",
    ("GET", "/api/history"): "labeler",
    ("GET", "/api/item"): "labeler",
    ("GET", "/api/why"): "labeler",
    ("GET", "/api/progress"): "labeler",
    ("GET", "/api/suspects"): "labeler",
    ("GET", "/api/sources"): "labeler",
    ("GET", "/api/review"): "labeler",
    ("GET", "/api/items"): "labeler",
    ("GET", "/api/map"): "labeler",
    ("GET", "/api/map/search"): "labeler",
    ("GET", "/api/map/layout"): "labeler",
    ("GET", "/api/map/state"): "labeler",
    ("GET", "/api/export"): "labeler",
    ("GET", "/api/report"): "labeler",
    ("GET", "/images/{place}"): "labeler",
    # to lead: what changes the work of everybody
    ("POST", "/api/target"): "lead",
    ("POST", "/api/classes"): "lead",  # to find and to certify, too
    ("POST", "/api/classes/undo"): "lead",
    ("POST", "/api/guidelines"): "lead",
    ("GET", "/api/people/since"): "lead",
    ("POST", "/api/people/undo"): "lead",
    ("POST", "/api/people/back"): "lead",
    # with the token itself, which commands on the serving machine bring
    ("POST", "/api/add"): "owner",
    ("POST", "/api/remove"): "owner",
    ("POST", "/api/role"): "owner",
    ("POST", "/api/suggest"): "owner",
    ("POST", "/api/rule"): "owner",
    ("POST", "/api/compute"): "owner",
}
REFUSALS: dict[Rank, str] = {
    "lead": "only a lead does this, and you are logged in as a labeler; ask a lead of this project",
    "owner": "only a command on the serving machine does this: askgraph add, askgraph remove, askgraph role",
}


class Caller(NamedTuple):
    """Who sends a request: the name that a session stands for, None where the page says it, and what they may do."""

    who: str | None
    rank: Rank


CALLER: ContextVar[Caller] = ContextVar("caller")  # of the request that is being answered; the guard sets it


def speaker(who: str) -> str:
    """Return the name under which a request is answered: that of its session, whatever the request says."""
    return CALLER.get().who or who


async def looks(reader: Annotated[str | None, Query(max_length=200)] = None) -> str | None:
    """Return who looks at something: the name of the session, else the one that the request says, or nobody."""
    return CALLER.get().who or reader


Reader = Annotated[str | None, Depends(looks)]  # what this person is to read unseen is not shown to them


def is_labeler() -> bool:
    """Return whether the request comes from somebody who labels only."""
    return CALLER.get().rank == "labeler"


async def check_rights(request: Request) -> None:
    """Refuse a request whose sender may not call its route."""
    needed = RIGHTS.get((request.method, request.scope["route"].path), "owner")
    if RANKS.index(CALLER.get().rank) < RANKS.index(needed):
        raise HTTPException(403, REFUSALS[needed])
