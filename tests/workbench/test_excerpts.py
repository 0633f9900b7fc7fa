"""Lists say what items are compared by: the start of their columns, and what some of them have in common."""

from __future__ import annotations

import numpy as np
import pytest

import askgraph as ag
from askgraph.web.listing import Query, list_items
from askgraph.web.views import group
from askgraph.workbench.excerpts import CHARACTERS
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.projects import make

SUBJECTS = ("server that delivers mail to its users", "puzzle with marbles for two players")


def texts(folder, **settings):
    """Forty notes of two subjects; the word "package" is in all."""
    lines = ["name,note"]
    lines += [f"note {k},A package of number {k}: {SUBJECTS[k % 2]} &amp; others" for k in range(40)]
    (folder / "notes.csv").write_text("\n".join(lines))
    Project.create(folder / "notes.ask", Source(folder / "notes.csv", text=["note"]), ["mail", "games"], **settings)
    return folder / "notes.ask"


def test_a_list_shows_the_start_of_the_texts_compared_and_the_words_that_make_them_alike(tmp_path):
    with Project.open(texts(tmp_path)) as project:
        found = group(project, ("mail", list(range(0, 20, 2)), 0.95))
        first = found["items"][0]
        assert (first["title"], first["named"]) == ("note 0", True)
        assert first["about"] == [
            {"name": "note", "text": "A package of number 0: server that delivers mail to its users & others"}
        ]
        assert {"mail", "server", "delivers", "users"} <= set(found["common"]["words"])
        assert not {"package", "number", "others", "marbles"} & set(found["common"]["words"])


def test_long_texts_are_cut_empty_ones_left_out_and_the_start_of_a_text_is_no_name(tmp_path):
    (tmp_path / "a.csv").write_text("text,more\n" + "word " * 400 + ",\n" + 2 * 'short one,"two\n\nlines"\n')
    Project.create(tmp_path / "a.ask", Source(tmp_path / "a.csv", text=["text", "more"]))
    with Project.open(tmp_path / "a.ask") as project:
        one, two = (project.items.excerpts.of(project.items.item(k)) for k in (0, 1))
        assert [part.name for part in one] == ["text"]
        assert len(one[0].text) <= CHARACTERS
        assert one[0].text.endswith("word…")
        assert [part.text for part in two] == ["short one", "two lines"]
        assert not project.items.is_named(project.items.item(0))


@pytest.mark.slow
def test_numbers_that_lie_close_together_are_what_some_items_have_in_common(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{10 * (k % 2) + rng.normal():.3f},{rng.normal():.3f},{'' if k % 5 else 1}" for k in range(60)]
    (tmp_path / "n.csv").write_text("\n".join(["wide,long,rest", *rows]))
    Project.create(tmp_path / "n.ask", Source(tmp_path / "n.csv", features=["wide", "long"]), ["a", "b"])
    with Project.open(tmp_path / "n.ask", write=True) as project:
        excerpts = project.items.excerpts
        assert [part.name for part in excerpts.of(project.items.item(0))] == ["wide", "long"]
        assert excerpts.common(project.store.items(range(0, 40, 2))).columns == ["wide"]
        assert excerpts.common(project.store.items(range(2))).columns == []  # two items say nothing
        project.say_all("ann", [(str(k + 1), "label", "ab"[k % 2]) for k in range(20)])
        _, rows = list_items(project, None, Query(sort="id"))
        assert rows[0]["common"] == {"words": [], "columns": ["wide"]}
        assert rows[-1]["common"] == {"words": [], "columns": []}  # nothing is predicted yet


def test_a_bare_node_of_a_graph_is_shown_with_its_neighbors(tmp_path):
    (tmp_path / "links.csv").write_text("source,target\nann,bob\nbob,carl\nbob,dora\n")
    Project.create(tmp_path / "links.ask", Source(graph=tmp_path / "links.csv"), ["a", "b"])
    with Project.open(tmp_path / "links.ask") as project:
        bob = project.items.item(project.items.place("bob"))
        (part,) = project.items.excerpts.of(bob)
        assert part.name is None
        assert sorted(part.text.split(", ")) == ["ann", "carl", "dora"]
        assert project.items.is_named(bob)
        assert project.items.excerpts.common(project.store.items(range(4))) == ([], [])


@pytest.mark.parametrize("kind", ["classes", "ordered", "several", "numbers"])
def test_the_table_says_for_every_kind_of_answers_what_items_of_a_class_share(tmp_path, kind):
    classes = () if kind == "numbers" else ("mail", "games")
    lines = ["name,note", *(f"note {k},A package: {SUBJECTS[k % 2]}" for k in range(40))]
    (tmp_path / "notes.csv").write_text("\n".join(lines))
    path = tmp_path / "notes.ask"
    Project.create(path, Source(tmp_path / "notes.csv", text=["note"]), classes, answers=kind)
    answers = {"several": [("mail",), ()], "numbers": [1.0, 2.0]}.get(kind, ["mail", "games"])
    with Project.open(path, write=True) as project:
        project.say_all("ann", [(f"note {k}", "label", answers[k % 2]) for k in range(20)])
        total, rows = list_items(project, None, Query(sort="id"))
        assert total == 40
        words = set(rows[0]["common"]["words"])
        assert ("delivers" in words) == (kind != "numbers")
        assert "package" not in words
        assert rows[1]["common"]["words"] == [] or kind in ("classes", "ordered")


def test_items_of_a_project_of_an_earlier_version_are_shown_too(tmp_path):
    with Project.open(make(tmp_path / "old.ask", n=12, graph=ag.chain(12))) as project:
        item = project.items.item(3)
        assert (project.items.title(item), project.items.is_named(item)) == ("item 3", True)
        assert project.items.excerpts.of(item) == []  # its name says all
