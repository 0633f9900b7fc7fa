"""A server compares items that were left for later, while people label some that are drawn at random."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.browsing import Person, axe, serious
from tests.helpers.serving import answer, ask, serving, until

N = 60
WORDS = ["team match goal coach season", "price market bank shares profit"]
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
FAR = {"stage": "neighbors of 200,000 rows", "share": 0.43, "failed": None}


def make(folder, rows=tuple(f"n{k},{WORDS[k % 2]} {k // 2}" for k in range(N))):
    (folder / "items.csv").write_text("\n".join(["id,text", *rows]) + "\n")
    path = folder / "items.ask"
    Project.create(path, Source(folder / "items.csv", text="text", later="always"), ["sport", "money"])
    return path


def is_compared(client):
    return until(client, "/api/state?who=ann", lambda said: said["comparing"] is None)


@pytest.mark.server
def test_people_label_while_items_are_compared_and_questions_are_chosen_then(tmp_path):
    path, asked_by = make(tmp_path), []
    with serving(path) as server, server.client() as client:
        for k in range(30):
            asked = ask(client)["question"]
            asked_by.append(asked["by"])
            place = int(asked["item"]["id"].removeprefix("n"))
            answer(client, asked["item"]["id"], ["sport", "money"][place % 2])
            if k == 7:
                is_compared(client)
    assert "influence" in asked_by[8:]
    assert list(tmp_path.glob("*.adding")) == []
    with Project.open(path) as project:
        assert project.graph.n_edges > 0
        assert len(project.answers.labels) == len(asked_by)


@pytest.mark.server
def test_a_server_that_was_killed_meanwhile_begins_anew_and_loses_no_answer(tmp_path):
    path = make(tmp_path)
    with serving(path) as server:
        with server.client() as client:
            answer(client, ask(client)["question"]["item"]["id"], "sport")
        server.kill()
        server.start()
        with server.client() as client:
            assert is_compared(client)["labels"] == 1
    with Project.open(path) as project:
        assert project.graph.n_edges > 0


@pytest.mark.server
def test_rows_may_be_added_and_removed_meanwhile(tmp_path):
    path = make(tmp_path)
    with serving(path) as server, server.client() as client:
        client.post("/api/remove", json={"items": ["n0", "n1"]}).raise_for_status()
        is_compared(client)
        assert ask(client)["question"]
    with Project.open(path) as project:
        assert project.graph.n_nodes == N - 2
        assert project.graph.n_edges > 0


@pytest.mark.server
@pytest.mark.browser
def test_the_page_says_why_items_could_not_be_compared_and_goes_on(browser, tmp_path):
    path = make(tmp_path, [f"n{k},{'!?'[k % 2] * 5}" for k in range(N)])
    with serving(path) as server, server.client() as client:
        state = until(client, "/api/state?who=ann", lambda said: said["comparing"]["failed"])
        assert "no words in 'text'" in state["comparing"]["failed"]
        ann = Person(browser, server)
        expect(ann.page.locator(".comparing")).to_contain_text("could not be compared: No words in")
        ann.see(".card .fresh")
        ann.press("1")
        until(client, "/api/state?who=ann", lambda said: said["labels"] > 0)  # copies too


@pytest.mark.server
@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_says_how_far_the_comparison_is(browser, tmp_path, language):
    """On a phone and on a desk, aloud too; until it is done, and once it is."""
    with serving(make(tmp_path)) as server, server.client() as client:
        is_compared(client)
        going = [True]

        def tell(route):
            reply = route.fetch()
            route.fulfill(response=reply, body=json.dumps(in_state({**reply.json()}, FAR if going else None)))

        ann = Person(browser, server, viewport=PHONE, locale=language, bypass_csp=True)
        page = ann.page
        page.route("**/api/state*", tell)
        page.route("**/api/question", tell)
        line = page.locator(".comparing")
        axe(page)
        expect(line).to_be_visible()
        expect(line.locator("progress")).to_have_js_property("value", 0.43)
        expect(line).to_contain_text("200,000" if language == "en" else "200.000")
        for size in (PHONE, DESK):
            page.set_viewport_size(size)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert serious(page) == []
        going.clear()
        expect(line).to_be_hidden()
        expect(page.locator("#aloud")).to_contain_text("compared" if language == "en" else "verglichen")
        page.unroute_all(
            behavior="ignoreErrors"
        )  # a request that is under way when the server ends fails in another test
        ann.context.close()


def in_state(said, comparing):
    """A reply with this in the state that it tells, wherever the state is."""
    said.get("state", said)["comparing"] = comparing
    return said
