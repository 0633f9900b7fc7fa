"""What a language model replied to the requests of `askgraph.workbench.prompts`: the output of a batch, read as guesses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from askgraph.errors import FileError
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.support.wording import counted, few
from askgraph.workbench.cells import number, one_line, one_name
from askgraph.workbench.guesses import Guess, first_few

ASKED = "custom_id"  # the column that tells replies from other tables
COLUMNS = (ASKED, "response", "error")
LABELS = ("label", "class", "answer", "category", "classification")  # keys of a reply that holds the class
SCORES = ("score", "confidence", "probability")
FENCED = re.compile(r"^```\w*\s*(.*?)\s*```$", re.DOTALL)
THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
OBJECT = re.compile(r"\{[^{}]*\}")
NAMED = re.compile(rf"^(?:the\s+)?(?:{'|'.join(LABELS)})\s*(?:is\b)?\s*[:=]?\s+", re.IGNORECASE)
MARKS = " \t\r\n\"'`*_.,:;“”„‘’«»()[]"  # around the name of a class
MAX_SAID_CHARACTERS = 40  # of a reply that fits no class


def hashed(*parts: str) -> str:
    """Return a text that stands for others and does not tell them."""
    return sha256(json.dumps(parts).encode()).hexdigest()


def item_hash(uid: str, id: str) -> str:
    """Return what stands for an item of a project in the name of a request."""
    return hashed(uid, id)[:16]


def replies_in(
    path: FilePath,
    table: Table,
    uid: str,
    places: Mapping[str, int],
    classes: Sequence[str],
    meant: Callable[[str], str],
) -> tuple[list[Guess], list[str]]:
    """Return what a model guesses in the output of a batch, and sentences on replies that are left out.

    A reply finds its item by the ``custom_id`` of the request, or by the id of the item itself. ``uid`` is that of the project,
    ``places`` are the places of its items by their ids, and ``meant`` says what a class is called now that was called otherwise.
    Raises an error if no reply fits.
    """
    by_hash = {item_hash(uid, id): place for id, place in places.items()}
    found: dict[tuple[int, str], Guess] = {}
    odd: dict[str, list[str]] = {}
    cells = (table.cells(name) if name in table.header else [None] * len(table.cells(ASKED)) for name in COLUMNS)
    for k, (asked, response, error) in enumerate(zip(*cells, strict=True)):
        item, _, prompt = str(asked).partition("-")
        place, prompt = (by_hash[item], prompt) if item in by_hash and prompt else (places.get(str(asked)), "")
        content, model = _content(response)
        label, score = read_label(content or "", classes, meant)
        where = f"on {table.where(k)}"
        if content is None:
            odd.setdefault("the request failed", []).append(f"{_failure(response, error)} {where}")
        elif place is None:
            odd.setdefault("no item of the project was asked about so", []).append(f"{str(asked)!r} {where}")
        elif label is None:
            said = " ".join(content.split())[:MAX_SAID_CHARACTERS]
            odd.setdefault(f"no class of the project ({few(list(classes))})", []).append(f"{said!r} {where}")
        else:
            source = one_line(model) or Path(path).stem
            found[place, source] = Guess(place, source, label, score, prompt or None)
    name = Path(path).name
    left = [f"{name}: {counted(len(rows), 'line')} left out, {why}: {first_few(rows)}" for why, rows in odd.items()]
    if not found:
        raise FileError(f"{path}: no reply fits. {'. '.join(left)}")
    return list(found.values()), left


def read_label(
    content: str, classes: Sequence[str], meant: Callable[[str], str] = str
) -> tuple[str | None, float | None]:
    """Return the class that a reply names, and how sure it says to be; None for what it does not say.

    >>> read_label('"Spam."', ["spam", "ham"]), read_label('{"label": "ham", "score": 0.8}', ["spam", "ham"])
    (('spam', None), ('ham', 0.8))
    >>> read_label("either spam or ham", ["spam", "ham"])
    (None, None)
    """
    text = THOUGHT.sub("", content).strip()
    text = fenced[1] if (fenced := FENCED.match(text)) else text
    said, score = _of_json(text)
    if said is None and (inside := OBJECT.findall(text)):
        said, score = _of_json(inside[-1])
    text = text if said is None else said
    for form in (text, text.strip(MARKS), NAMED.sub("", text.strip(MARKS)).strip(MARKS)):
        if (name := _class(form, classes, meant)) is not None:
            return name, score
    return None, None


def _of_json(text: str) -> tuple[str | None, float | None]:
    """Return the class and the score that JSON says; None for what is not there."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None, None
    score = None
    if isinstance(said, dict):
        folded = {key.casefold(): value for key, value in said.items()}
        score = next((found for key in SCORES if (found := number(folded.get(key))) is not None), None)
        said = next(
            (folded[key] for key in LABELS if key in folded),
            next(iter(said.values()), None) if len(said) == 1 else None,
        )
    if isinstance(said, list) and len(said) == 1:
        said = said[0]
    label = None if said is None or isinstance(said, bool | dict | list) else str(said)
    return label, score if score is not None and 0 <= score <= 1 else None


def _class(text: str, classes: Sequence[str], meant: Callable[[str], str]) -> str | None:
    """Return the class of a name: as it is, as it was once, or but for upper and lower case if only one is so."""
    name = meant(one_name(text) or "")
    if name in classes:
        return name
    alike = [one for one in classes if one.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def _content(response: Any) -> tuple[str | None, str | None]:
    """Return the text of a reply and the model that gave it; None for a request that failed."""
    try:
        if response.get("status_code", 200) != 200:
            return None, None
        body = response["body"]
        content = body["choices"][0]["message"]["content"]
    except (AttributeError, KeyError, IndexError, TypeError):
        return None, None
    model = body.get("model")
    return (content if isinstance(content, str) else None), (model if isinstance(model, str) else None)


def _failure(response: Any, error: Any) -> str:
    """Return why a request failed, as far as the reply says it."""
    body = response.get("body") if isinstance(response, dict) else None
    inner = body.get("error") if isinstance(body, dict) else None
    for one in (error, inner):
        if isinstance(one, dict) and (said := one.get("message") or one.get("code")):
            return repr(str(said)[:MAX_SAID_CHARACTERS])
    code = response.get("status_code") if isinstance(response, dict) else None
    return f"status {code}" if isinstance(code, int) and code != 200 else "no text in it"
