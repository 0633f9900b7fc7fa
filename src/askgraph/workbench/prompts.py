"""Requests to a language model, one per item without a label, in the batch format of OpenAI-compatible servers.

Nothing is sent from here. A request holds the guidelines, the classes and what people see of one item, and nothing else: its
``custom_id`` is made of hashes, one of the item and one of the prompt, by which the reply finds its item and a second export knows
what was answered already.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from askgraph.errors import SettingError
from askgraph.io.text import FilePath
from askgraph.workbench.cells import readable
from askgraph.workbench.exchange import write_parts
from askgraph.workbench.export import to_jsonl
from askgraph.workbench.project import Project
from askgraph.workbench.replies import ASKED, hashed, item_hash
from askgraph.workbench.store import Item

ROUTE = "/v1/chat/completions"
BYTES_PER_TOKEN = 4  # of UTF-8: an estimate, right to about a quarter for European languages
TOKENS_PER_MESSAGE = 4  # what a message takes beside its text


class Prompts(NamedTuple):
    """What was written: the number of requests, of items that have an answer to theirs, and about how many tokens."""

    requests: int
    answered: int
    tokens: int


def write_prompts(project: Project, path: FilePath, model: str) -> Prompts:
    """Write a request for each item without a label whose prompt this model has not answered."""
    model = model.strip()
    if not model:
        raise SettingError("which model is asked? name it as its server does, with --model")
    system, known = instructions(project), {(one.item, one.prompt) for one in project.store.guesses()}
    uid = str(project.about["uid"])
    answered, asked, tokens = 0, 0, 0

    def requests() -> Iterator[dict[str, Any]]:
        nonlocal answered, asked, tokens
        for item in project.store.every():
            if item.place in project.answers.labels or project.answers.aside.get(item.place) == "invalid":
                continue
            user = describe(project, item)
            prompt = hashed(model, system, user)[:24]
            if (item.place, prompt) in known:
                answered += 1
                continue
            asked, tokens = asked + 1, tokens + count_tokens(system) + count_tokens(user)
            yield {
                ASKED: f"{item_hash(uid, item.id)}-{prompt}",
                "method": "POST",
                "url": ROUTE,
                "body": {
                    "model": model,
                    "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
                },
            }

    write_parts(Path(path), to_jsonl(requests()))
    return Prompts(asked, answered, tokens)


def instructions(project: Project) -> str:
    """Return what a model is told of every item: the guidelines and the classes."""
    answers = project.answers
    answers.form.kind.check_guesses()
    if not answers.classes:
        raise SettingError("a model needs to know the classes: name them first with askgraph classes add NAME")
    described = [(name, answers.naming.description(name)) for name in answers.classes]
    classes = "\n".join(f"- {name}: {text}" if text else f"- {name}" for name, text in described)
    order = " from the lowest to the highest" if answers.form.ranked else ""
    _, guidelines = project.log.guidelines
    parts = [
        "Say which class the item belongs to.",
        f"Guidelines:\n\n{guidelines.strip()}" if guidelines.strip() else "",
    ]
    end = "Answer with the name of one of these classes, and nothing else."
    return "\n\n".join(part for part in (*parts, f"Classes{order}:\n\n{classes}", end) if part)


def describe(project: Project, item: Item) -> str:
    """Return what people see of an item, a line per column; raise an error where that is a picture alone."""
    shown = project.items.shown
    if not shown:
        raise SettingError("these items have no columns to read: requests hold text, and no pictures")
    cells = [(name, item.fields.get(name)) for name in shown]
    return "\n".join(f"{name}: {readable(str(cell))}" for name, cell in cells if cell is not None)


def count_tokens(text: str) -> int:
    """Return about how many tokens a message takes: one for every four bytes of UTF-8, and four more.

    >>> count_tokens("spam or ham?")
    7
    """
    return TOKENS_PER_MESSAGE - -len(text.encode(errors="replace")) // BYTES_PER_TOKEN
