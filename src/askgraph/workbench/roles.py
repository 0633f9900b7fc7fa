"""The roles of people: a lead's word decides, a labeler answers; where nobody has a role, everybody may do everything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal
from unicodedata import normalize

from askgraph.errors import LabelError
from askgraph.workbench.classes import Change
from askgraph.workbench.names import check_name

Role = Literal["labeler", "lead"]
ROLES: tuple[Role, ...] = ("labeler", "lead")


def with_role(roles: Mapping[str, Role], change: Change) -> dict[str, Role]:
    """Return who has which role after a line of the log of changes; without a value the role is gone.

    >>> with_role({"ann": "lead"}, Change(1, "a", "me", "", 0, "role", "bob", "labeler"))
    {'ann': 'lead', 'bob': 'labeler'}
    """
    kept = {name: role for name, role in roles.items() if name != change.name}
    given = [(change.name or "", role) for role in ROLES if role == change.value]
    return {**kept, **dict(given)}


def named_alike(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is this one but for capitals and forms of letters that look the same; None if there is none.

    >>> named_alike("ANN", ["bob", "Ann"]), named_alike("an", ["ann"])
    ('Ann', None)
    """
    return next((other for other in names if _folded(other) == _folded(name)), None)


def _folded(name: str) -> str:
    return normalize("NFKC", normalize("NFKC", name).casefold())


def check_role(name: str, role: str | None, roles: Mapping[str, Role], people: Iterable[str], reserved: str) -> str:
    """Return the name of a person who is to get a role, or lose it with None; raise an error if that cannot be.

    No two people with a role have names that differ only in capitals, and who has answered is named as they answered.
    """
    name = check_name(name, "person")
    if role is not None and role not in ROLES:
        raise LabelError(f"a role {role!r}: choose {' or '.join(ROLES)}, or none")
    if role is None and name not in roles:
        alike = named_alike(name, roles)
        raise LabelError(f"{name!r} has no role" + (f"; did you mean {alike!r}?" if alike else ""))
    if name == reserved:
        raise LabelError(f"{name!r} stands for labels that came with a file; name a person")
    known = [*roles, *people]
    if name not in known and (alike := named_alike(name, known)) is not None:
        raise LabelError(
            f"{name!r} and {alike!r} would be two people with one name; write {alike!r}, or choose another"
        )
    return name
