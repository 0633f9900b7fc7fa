"""The labeling card of notebooks: the project file, the keys and the questions are those of the page."""

from __future__ import annotations

import pytest
from PIL import Image

import askgraph as ag
from askgraph.clients.card import question
from askgraph.workbench.source import Source
from tests.helpers.clients import client


@pytest.fixture
def project(tmp_path):
    rows = "".join(f"f{k},{k % 2 * 9 + k / 10},p{k}.png\n" for k in range(12))
    (tmp_path / "items.csv").write_text("id,width,photo\n" + rows)
    for k in range(12):
        Image.new("RGB", (4, 4), (k, 0, 0)).save(tmp_path / f"p{k}.png")
    source = Source(tmp_path / "items.csv", image="photo", neighbors=3)
    ag.Project.create(tmp_path / "items.ask", source, classes=["wide", "tall"], images=tmp_path)
    return tmp_path / "items.ask"


def test_a_card_shows_the_question_its_picture_and_the_keys_of_the_page(project):
    with ag.Project.open(project, write=True) as opened:
        place = opened.ask()[0]
        shown = question(opened, "me", place)
        assert shown["item"]["id"] == opened.items.item(place).id
        assert shown["item"]["image"].startswith("data:image/png;base64,")
        assert {one["name"]: one["key"] for one in shown["classes"]} == {"wide": "1", "tall": "2"}
        opened.say("me", shown["item"]["id"], "label", "wide")
        assert question(opened, "me", None)["undo"].endswith("is wide")
        assert question(opened, "me", None)["item"] is None


def test_a_picture_outside_its_folder_is_not_sent(project):
    with ag.Project.open(project) as opened:
        opened.about["images"] = str(project.parent / "elsewhere")
        assert question(opened, "me", 0)["item"]["image"] is None


def test_answers_go_to_the_project_file_at_once(project):
    client("anywidget")
    from askgraph.clients.card import LabelingCard

    card = LabelingCard(project, who="ann")
    first = card.shown["item"]["id"]
    card._heard(card, {"kind": "label", "label": "wide", "item": first, "seconds": 1.5})
    second = card.shown["item"]["id"]
    assert second != first
    card._heard(card, {"kind": "later", "item": second})
    with ag.Project.open(project) as seen:
        assert [(a.who, a.kind, a.label, a.seconds) for a in seen.answers.log.values()] == [
            ("ann", "label", "wide", 1.5),
            ("ann", "later", None, None),
        ]
    card._heard(card, {"kind": "undo"})
    assert card.shown["item"]["id"] == second
    turn = card.shown["turn"]
    card._heard(card, {"kind": "label", "label": "", "item": second})
    assert card.shown["note"]
    assert card.shown["turn"] == turn + 1
    with pytest.raises(ag.BusyError):
        LabelingCard(project)
    card.close()
    again = LabelingCard(project)
    assert again.shown["labels"] == 1
    again.close()


def test_the_extra_is_named(monkeypatch):
    import sys

    from askgraph.clients import card

    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(vars(card), "LabelingCard", raising=False)
    with pytest.raises(ag.MissingExtraError, match="notebook"):
        card.LabelingCard  # noqa: B018 -- reading it is the test
