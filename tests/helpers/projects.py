"""Small projects for tests."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import askgraph as ag
from askgraph.kinds.named import as_kind
from askgraph.learner.settings import Settings
from askgraph.workbench import schema
from askgraph.workbench.answers import Answer
from askgraph.workbench.items import Items
from askgraph.workbench.project import Project
from askgraph.workbench.store import Store

NOBODY = 65534


def make(path, n=12, classes=(), graph=None, labels=None, **settings):
    """A project of items i0 … i(n−1), on a chain unless another graph is given."""
    about = {
        "project": Path(path).stem,
        "uid": "a project for tests",
        "classes": list(classes),
        "fields": {"text": "text"},
        "images": None,
        "graph": [],
        "settings": Settings.of(**settings).to_json(),
        "seed": 0,
        "overlap": 1,
    }
    ids = [f"i{k}" for k in range(n)]
    items = Items(ids, {"text": [f"item {k}" for k in range(n)]}, labels=labels)
    Store.create(path, items, ag.chain(n) if graph is None else graph, about)
    return path


def make_of(path, answers, n=12, graph=None, classes=("bad", "fair", "good")):
    """A project of another kind of answers, by its name, or itself."""
    kind = as_kind(answers)
    sampler = kind.usual_sampler(False, lambda: True)
    return make(path, n, classes if kind.by_class else (), graph, sampler=sampler, answers=kind, **kind.usual_options)


def make_old(path, monkeypatch, **options):
    """A project of the first version."""
    with monkeypatch.context() as patch:
        patch.setattr(schema, "LATEST", 1)
        make(path, **options)
    return path


def answer(key, item=0, label="a", who="ann"):
    return Answer(0, key, who, "", "label", item, label)


def log_of(path):
    with Store.open(path) as store:
        return store.answers()


def labels_of(path):
    """The labels that count, by the ids of items."""
    with Project.open(path) as project:
        return {project.items.item(place).id: label for place, label in project.answers.labels.items()}


def hurt(path, query, *values):
    """Change a file as no program of ours would."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(query, values)


def say(path, *said, who="ann"):
    with Project.open(path, write=True) as project:
        project.say_all(who, [(item, "label", label) for item, label in said])


@contextmanager
def a_folder_for_all():
    """A folder that another user can reach."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


@contextmanager
def plain_user():
    """Permission bits do not bind root: be somebody whom they do."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
