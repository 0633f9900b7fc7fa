"""What the page shows of a project: its items, reports and figures, as JSON; nothing is written here.

A *picture* is what the thinker has predicted last, None before the first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import takewhile
from typing import Any
from urllib.parse import urlencode

import numpy as np

from askgraph.answers.plain import plain_number
from askgraph.plan import Question
from askgraph.web.listing import Columns, Query, columns, list_items
from askgraph.web.map import MapMaker
from askgraph.web.questions import NO_LABEL, Agenda, Picture
from askgraph.web.regions import inside
from askgraph.web.thinker_process import ThinkerProcess
from askgraph.workbench import report
from askgraph.workbench.answers import KINDS, Answer
from askgraph.workbench.cells import readable
from askgraph.workbench.exchange import has_titles
from askgraph.workbench.forms import as_json
from askgraph.workbench.moments import read_moment
from askgraph.workbench.names import check_name
from askgraph.workbench.project import Project
from askgraph.workbench.store import Item

NOT_YET = "the predictions are being computed"
MAX_NEWCOMERS = (
    50  # people without an answer who are named in the state: names cost nothing, so there may be any number
)
PICTURES_AHEAD = 4  # that are fetched before their items are asked for
NO_CODE = 65535  # of an item without a label on the map
UNSURE = 20  # items in the queue for review whose predictions are the least sure
Plain = dict[str, Any]


def state(project: Project, thinker: ThinkerProcess, active: set[str], who: str) -> Plain:
    """Return the figures that the page always shows; ``active`` are the people whose pages are open."""
    answers, last = project.answers, project.answers.last(who)
    people = [
        {"name": name, "answers": n, "active": name in active, "role": answers.roles.get(name)}
        for name, n in answers.people.items()
    ]
    new = sorted(active - answers.people.keys(), key=lambda name: (name != who, name))[:MAX_NEWCOMERS]
    return {
        **_figures(project, answers.seq, answers.changes),
        "lag": lag(project, thinker.agenda),
        "worker": thinker.status,
        "undo": last and _undoable(project, last),
        "find": _search(project, thinker.picture),
        "people": people
        + [{"name": name, "answers": 0, "active": True, "role": answers.roles.get(name)} for name in new],
    }


@lru_cache(maxsize=1)
def _figures(project: Project, seq: int, changes: int) -> Plain:
    """Return the figures that stay the same until a log gets another line."""
    answers = project.answers
    agreed = answers.agreement()
    return {
        **{name: project.about[name] for name in ("project", "uid", "overlap")},
        "seq": seq,
        "items": project.items.n_items,
        "parquet": find_spec("pyarrow") is not None,
        "xlsx": find_spec("xlsxwriter") is not None,
        "ris": has_titles(project),
        "texts": bool(project.items.text_fields),
        "labels": len(answers.labels),
        "aside": len(answers.aside),
        "answers": _kind(project),
        "classes": report.classes(project),
        "agreement": agreed and agreed._asdict(),
        "guidelines": len(answers.guidelines),
        "changes": changes,
    }


def _kind(project: Project) -> Plain:
    """Return the kind of answers, their unit, and whether items are confirmed in groups and models may guess."""
    kind = project.answers.kind
    return {"kind": kind.name, "unit": getattr(kind, "unit", None), "groups": kind.grouped, "guesses": kind.guessed}


def _undoable(project: Project, last: Answer) -> Plain:
    item, label = project.items.item(last.item), as_json(last.label)
    what = last.kind if last.label is None else project.answers.form.text(last.label)
    return {"item": item.id, "title": project.items.title(item), "kind": last.kind, "label": label, "what": what}


def far(project: Project, picture: Picture | None, saved: Answer) -> Plain | None:
    """Return a number that was given and the range it was expected in, if it lies twice as far off as that reaches; else None."""
    place = saved.item
    if picture is None or picture.low is None or picture.high is None or not isinstance(saved.label, float):
        return None
    if picture.seq >= saved.seq or place >= len(picture.low) or picture.codes[place] == NO_LABEL:
        return None
    expected, low, high = (
        float(x) for x in (picture.labels[picture.codes[place]], picture.low[place], picture.high[place])
    )
    ends = report.far_off(expected, low, high, saved.label)
    return ends and {"said": saved.label, "low": ends[0], "high": ends[1]}


def _search(project: Project, picture: Picture | None) -> Plain | None:
    """Return what all items are sought of, and how many are left as last computed; None if nothing is sought."""
    if project.answers.naming.sought is None:
        return None
    name, value = project.answers.naming.sought
    known = picture and picture.progress["find"]
    same = known is not None and (known["class"], known["beside"]) == (name, value)
    text = project.answers.form.sought_text(name, value)
    left = known if known and same and "found" in known else None
    return {"class": name, "value": value, "text": text, "like": project.answers.naming.like, "left": left}


def lag(project: Project, known: Agenda | Picture | None) -> int:
    """Return the number of labels given since an agenda or a picture was computed."""
    since = known.seq if known else 0
    new = takewhile(lambda answer: answer.seq > since, reversed(project.answers.log.values()))
    return sum(answer.kind in ("label", "undo") for answer in new)


def hidden(project: Project, reader: str | None) -> list[int]:
    """Return the items that this person is to read without seeing what another one said; none for nobody."""
    return [] if reader is None else project.second.due(reader)


def without(project: Project, why: Plain, unseen: Collection[int]) -> Plain:
    """Return why an item is asked, without what is said and predicted of others that are to be read unseen."""
    ids = {item.id for item in project.store.items(unseen)}
    blank = {"label": None, "predicted": None, "p": None}
    nodes = [{**one, **blank} if one["item"] in ids else one for one in why["nodes"]]
    return {**why, "nodes": nodes, "voters": [one for one in why["voters"] if one["item"] not in ids]}


def noted(project: Project, place: int, who: str) -> Plain:
    """Return the comments on an item, and whether this person wants to come back to it; no comments before a second reading."""
    unseen = project.second.is_due(place, who)
    return {
        "comments": [] if unseen else report.comments(project, place),
        "marked": project.answers.notes.mark(who, place) is not None,
    }


def question(project: Project, asked: Question, who: str) -> Plain:
    """Return a question: the item, the rule that asks for it, and what others say of it, unless it is to be read unseen."""
    place = asked.node
    unseen = project.second.is_due(place, who)
    return {
        "item": show(project, project.items.item(place)),
        "by": asked.by,
        "opinions": 0 if unseen else sum(name != who for name in project.answers.of(place)),
        "copies": sum(map(project.log.open_at, project.items.copies.get(place, ()))),
        "suggested": [] if unseen else report.suggested(project, place),
        **noted(project, place, who),
    }


def group(project: Project, found: tuple[str, list[int], float] | None) -> Plain | None:
    """Return items that look alike, as the thinker found them, with their label; None if fewer than two are still open."""
    label, places, chance = found or ("", [], 0.0)
    still_open = [place for place in places if project.log.open_at(place)]
    if len(still_open) < 2:
        return None
    items = project.store.items(still_open)
    return {
        "label": project.answers.naming.meant(label),
        "chance": chance,
        "items": [report.item_line(project, item) | report.excerpt(project, item) for item in items],
        "common": project.items.excerpts.common(items)._asdict(),
    }


def looks_ahead(project: Project) -> tuple[int, int]:
    """Return the last line of the log, and to how many answers it should be known what follows before pictures are fetched."""
    answers = project.answers
    told = len(answers.classes) if answers.form.exclusive and project.model.sought is None else 0
    return answers.seq, min(PICTURES_AHEAD, told)


def pictures_ahead(project: Project, agenda: Agenda | None, held: Collection[int]) -> Plain:
    """Return the addresses of pictures that are likely to be shown next, so that a page can fetch them now."""
    questions = (*agenda.follows.values(), *agenda.questions) if agenda else ()
    places = dict.fromkeys(one.node for one in questions if one is not None)
    free = [place for place in places if project.log.open_at(place) and place not in held]
    pictures = [report.image_address(project, item) for item in project.store.items(free[:PICTURES_AHEAD])]
    return {"pictures": [address for address in pictures if address is not None]}


def classes(project: Project) -> Plain:
    """Return the classes, and who changed them when."""
    return {
        "classes": report.classes(project),
        "changes": report.class_changes(project),
        "keys": project.answers.form.keys,
    }


def guidelines(project: Project) -> Plain:
    """Return the guidelines as they are now, and who wrote them when."""
    versions, (version, text) = project.answers.guidelines, project.log.guidelines
    last = versions[-1] if versions else None
    return {"version": version, "text": text, "who": last and last.who, "at": last and last.at}


def history(
    project: Project, limit: int, before: int | None, who: str | None, label: str | None, reader: str | None = None
) -> Plain:
    """Return the newest lines of the log, and whether there are more."""
    lines = report.history(project, limit + 1, before, who, label, reader)
    return {"answers": lines[:limit], "more": len(lines) > limit}


def said_since(project: Project, person: str, since: str) -> Plain:
    """Return how many answers of a person since a time would be taken back, to how many items, and how many can be given back."""
    person = check_name(person, "person")
    found = project.answers.since(person, read_moment(since))
    items = len({answer.item for answer in found})
    return {"answers": len(found), "items": items, "back": len(project.answers.taken_back(person))}


def item(project: Project, picture: Picture | None, place: int, reader: str | None = None) -> Plain:
    """Return one item with all answers to it and its prediction; nothing of these where it is to be read unseen."""
    known, answers = columns(project, picture), project.answers
    if place in hidden(project, reader):
        said: Plain = {"answers": [], "label": None, "status": "unseen", "prediction": None, "decided": None}
        return {"item": show(project, project.items.item(place)), **said, **noted(project, place, reader or "")}
    lines = [a for a in answers.log.values() if a.item == place and a.kind in KINDS]
    label, decision = known.label(place), answers.decision(place)
    predicted = label is not None and decision.label is None
    probability = float(known.sure[place]) if answers.kind.by_class else None
    prediction = {"label": as_json(label), "probability": probability, "range": known.range(place)}
    return {
        "item": show(project, project.items.item(place)),
        "answers": report.describe(project, lines),
        "label": as_json(decision.label),
        "decided": answers.decided_by(place),
        "status": "labeled" if decision.label is not None else decision.aside or ("predicted" if predicted else "open"),
        "prediction": prediction if predicted else None,
        **noted(project, place, reader or ""),
    }


def show(project: Project, item: Item) -> Plain:
    """Return an item as the page shows it."""
    naming, texts = project.items.naming_field, {name: readable(str(value)) for name, value in item.fields.items()}
    kinds = {name: kind for name, kind in project.items.shown.items() if name != naming}
    return {
        "id": item.id,
        "title": project.items.title(item),
        "name": texts.get(naming or ""),
        "numbered": project.items.columns.get("id") is None and item.id.isdecimal(),
        "fields": [{"name": name, "value": texts.get(name, "–"), "kind": kind} for name, kind in kinds.items()],
        "image": report.image_address(project, item),
    }


def progress(
    project: Project,
    picture: Picture | None,
    curve: Sequence[tuple[int, float, float, float]],
    active: set[str],
) -> Plain:
    """Return the report on progress as last computed, with the curve of the expected error and the people."""
    if picture is None:
        return {"waiting": NOT_YET}
    said = report.people(project)
    for one in said["people"]:
        one["active"] = one["name"] in active
    rows = [row for row in curve if row[0] <= picture.progress["labels"]]  # not of what was taken back
    return {
        **picture.progress,
        "lag": lag(project, picture),
        "curve": [dict(zip(("labels", "value", "low", "high"), row, strict=True)) for row in rows],
        "goal": report.goal(project, picture.progress),
        **said,
    }


def suspects(project: Project, picture: Picture | None, reader: str | None = None) -> Plain:
    """Return the labels that look wrong, as last computed."""
    if picture is None:
        return {"waiting": NOT_YET}
    unseen = {item.id for item in project.store.items(hidden(project, reader))}
    return {"suspects": [one for one in picture.suspects if one["item"] not in unseen], "lag": lag(project, picture)}


def review(project: Project, picture: Picture | None, reader: str | None = None, only: str = "") -> Plain:
    """Return the items worth a second look, with the predictions as last computed."""
    if picture is None:
        return {"waiting": NOT_YET}
    known = columns(project, picture)
    sure = np.where(known.are("predicted"), known.sure, np.inf)
    unsure = [int(place) for place in np.argsort(sure, kind="stable")[:UNSURE] if np.isfinite(sure[place])]
    found = report.review(project, picture.suspects, unsure, reader, only)
    for one in found["queue"]:
        place = project.items.place(one["item"])
        one["instead"] = as_json(known.label(place)) if place in unsure else one["instead"]
        one["range"] = known.range(place)
    return {**found, "lag": lag(project, picture)}


def items(project: Project, picture: Picture | None, maker: MapMaker, query: Query) -> Plain:
    """Return one page of the table."""
    if query.inside:
        corners = np.array(query.inside.strip(",").split(","), dtype=np.float64).reshape(-1, 2)
        query = query._replace(among=inside(corners, maker.positions()))
    total, rows = list_items(project, picture, query)
    return {"total": total, "lag": lag(project, picture), "items": rows}


def search(project: Project, text: str) -> Plain:
    """Return the places of the items that contain a text."""
    return {"places": project.items.search(text)}


def map_parts(project: Project, picture: Picture | None, maker: MapMaker, reader: str | None = None) -> Plain:
    """Return the names of the map's regions and the addresses of its data, or what the map waits for."""
    made = maker.made()
    if made is None or picture is None:
        return {"waiting": "the map is being drawn" if picture else NOT_YET}
    seq, known = project.answers.seq, columns(project, picture, hidden(project, reader))
    return {
        "n": project.items.n_items,
        "edition": maker.edition,
        "seq": seq,
        "lag": lag(project, picture),
        "classes": project.answers.classes,
        "sets": _sets(project, known),
        "scale": _scale(project, known),
        "regions": [one._asdict() for one in made.regions],
        "pictures": project.about["images"] is not None,
        "layout": f"/api/map/layout?v={maker.edition}",
        "state": f"/api/map/state?{urlencode({'v': f'{picture.seq}-{seq}', 'reader': reader or ''})}",
    }


def _sets(project: Project, known: Columns) -> list[Any] | None:
    """Return the sets of classes that items have, where they have several."""
    return [as_json(label) for label in known.labels] if project.answers.kind.name == "several" else None


def _scale(project: Project, known: Columns) -> Plain | None:
    """Return the lowest and the highest number of the map, and whether the colors between go by logarithms."""
    if project.answers.kind.by_class or not known.labels:
        return None
    low, high = min(map(plain_number, known.labels)), max(map(plain_number, known.labels))
    return {"low": low, "high": high, "log": getattr(project.answers.kind, "link", "identity") == "log" and low > 0}


def _map_codes(project: Project, known: Columns) -> list[int]:
    """Return what stands for each label on the map; NO_CODE for one of some classes."""
    if scale := _scale(project, known):
        heights = np.array(list(map(plain_number, known.labels)))
        low, high = scale["low"], scale["high"]
        if scale["log"]:
            heights, low, high = np.log(heights), np.log(low), np.log(high)
        share = (heights - low) / (high - low) if high > low else np.zeros(heights.size)
        return np.round(share * (NO_CODE - 1)).astype(int).tolist()
    if not project.answers.form.exclusive:
        return list(range(len(known.labels)))
    place = {name: k for k, name in enumerate(project.answers.classes)}
    return [place.get(str(label), NO_CODE) for label in known.labels]


def map_layout(maker: MapMaker) -> bytes:
    """Return the positions of all items as 32-bit floats."""
    return bytes(maker.positions().astype("<f4").tobytes())


def map_state(project: Project, picture: Picture | None, reader: str | None = None) -> bytes:
    """Return four bytes per item: what its label is (two bytes), how sure that is, flags.

    The first two are the index of a class, or of several classes in ``sets``, or for numbers a height within ``scale``.
    """
    known = columns(project, picture, hidden(project, reader or None))
    rows = np.zeros(known.code.size, dtype=[("label", "<u2"), ("sure", "u1"), ("flags", "u1")])
    codes = np.minimum([*_map_codes(project, known), NO_CODE], NO_CODE)
    rows["label"] = codes[np.minimum(known.code, len(known.labels))]
    rows["sure"] = np.round(255 * known.sure)
    rows["flags"] = known.are("labeled") + 2 * known.are("later", "cannot", "invalid")
    return rows.tobytes()
