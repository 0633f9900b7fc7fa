"""Comments, marks, reasons and the second reading on the page, in a real browser and by keys alone."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from tests.helpers.browsing import Person, axe, serious
from tests.helpers.serving import answer, ask, make_project, serving, truth

pytestmark = [pytest.mark.browser, pytest.mark.server]
EVIL = """<img src=x onerror="window.__hit=1"> & "'>"""


@pytest.fixture
def path(tmp_path):
    path = make_project(tmp_path)
    with Project.open(path, write=True) as project:
        for name in ("north", "east", "west"):
            project.log.change("lea", "reasons", name, json.dumps(["wrong place", f"too far {EVIL}"]))
        for k in range(6):
            project.say("bob", f"n{k}", "label", truth(f"n{k}"))
        project.notes.comment("bob", "n1", f"seen twice {EVIL}")
    return path


def log_of(path):
    with Project.open(path) as project:
        ids, answers = project.store.ids(), project.answers
        reasons = {ids[place]: answers.reasons(place) for place in answers.labels if answers.reasons(place)}
        comments = {
            ids[place]: [one.text for one in answers.notes.comments(place)] for place in answers.notes.commented
        }
        return reasons, comments, [ids[place] for place in answers.notes.marked("ann")]


def write(page, text):
    page.keyboard.press(";")
    page.locator("dialog textarea").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("dialog")).to_have_count(0)


def test_a_person_notes_things_by_keys_while_labeling(browser, path):
    with serving(path) as server:
        ann = Person(browser, server, bypass_csp=True)
        page, keys = ann.page, ann.page.keyboard
        ann.ready()
        first = ann.item
        write(page, f"odd one {EVIL}")
        expect(ann.see(".remarks .said")).to_have_text(f"odd one {EVIL}")
        keys.press(":")
        expect(page.locator(".note-buttons [aria-pressed=true]")).to_have_count(1)
        assert ann.item == first  # notes change no card
        ann.label()
        strip = ann.see(".reasons")
        expect(strip.locator(".reason")).to_have_text(["1wrong place", f"2too far {EVIL}"])
        keys.press("-")
        keys.press("2")
        expect(strip.locator("[aria-pressed=true]")).to_have_count(1)
        expect(page.locator("#aloud")).to_contain_text("Reason: too far")
        second = ann.item  # the card stayed
        strip.locator(".reason").first.click()
        expect(strip.locator("[aria-pressed=true]")).to_have_count(2)
        axe(page)
        assert serious(page) == []
        ann.aside("later", "s")
        expect(strip).to_be_hidden()  # by itself, with the next answer
        assert log_of(path) == (
            {first: ["wrong place", f"too far {EVIL}"]},
            {first: [f"odd one {EVIL}"], "n1": [f"seen twice {EVIL}"]},
            [first],
        )
        ann.undo()
        assert ann.item == second
        ann.undo()
        assert ann.item == first  # the answer that reasons and notes came after
        expect(page.locator(".note-buttons [aria-pressed=true]")).to_have_count(1)
        keys.press(";")
        page.locator("dialog li button").click()  # take back
        ann.hear("Comment taken back")
        expect(page.locator("dialog .comments li")).to_have_count(0)
        axe(page)
        assert serious(page) == []
        keys.press("Escape")
        expect(page.locator(".remarks")).to_be_hidden()

        page.keyboard.press("r")  # what one wanted to come back to, gone through
        page.locator(".review .steps button", has_text="To come back to: 1").click()
        expect(ann.see(".because")).to_contain_text("You wanted to come back")
        axe(page)
        assert serious(page) == []
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(200)
        page.keyboard.press(":")
        expect(page.locator(".review .work")).to_be_hidden()
        assert log_of(path) == ({}, {"n1": [f"seen twice {EVIL}"]}, [])

        page.keyboard.press("t")
        page.locator("select[aria-label='Comments and marks']").select_option("comment")
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.locator("tbody tr")).to_contain_text("1 comment")
        page.locator("tbody .row").click()
        expect(ann.see("dialog .remarks .said")).to_have_text(f"seen twice {EVIL}")
        axe(page)
        assert serious(page) == []
        page.keyboard.press("Escape")
        page.keyboard.press("h")
        expect(ann.see(".history .said").last).to_contain_text("seen twice")
        axe(page)
        assert serious(page) == []
        assert not page.evaluate("window.__hit")
        ann.close()


def test_reasons_are_written_with_the_classes_and_counted_on_progress(browser, path):
    with serving(path) as server:
        with server.client() as client:
            body = {"key": "reasons of bob", "who": "bob", "item": "n0", "reasons": ["wrong place"]}
            assert client.post("/api/reasons", json=body).json()["reasons"] == ["wrong place"]
        ann = Person(browser, server, locale="de")
        page = ann.page
        ann.see(".card .fresh")
        page.keyboard.press("i")
        page.get_by_role("button", name="Gründe für north").click()
        page.locator("dialog textarea").fill("wrong place\n\n nowhere \n")
        page.locator("dialog .primary").click()
        expect(page.locator(".past-changes")).to_contain_text("Gründe für north geändert")
        page.keyboard.press("p")
        expect(ann.see(".reason-counts li")).to_contain_text("wrong place")
        with Project.open(path) as project:
            assert project.answers.naming.reasons("north") == ["wrong place", "nowhere"]
        ann.close()


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desk", "phone"])
def test_a_second_person_reads_unseen(browser, path, size):
    with serving(path) as server:
        with server.client() as client:
            change = {"key": "the second reading", "who": "bob", "kind": "second", "value": "100%"}
            assert client.post("/api/classes", json=change).status_code == 200
            assert ask(client, "bob")["question"]["by"] != "second reading"
        ann = Person(
            browser, server, viewport={"width": size[0], "height": size[1]}, bypass_csp=True, color_scheme="dark"
        )
        page = ann.page
        expect(ann.see(".spot-check")).to_contain_text("Second reading")
        item = ann.item
        assert item in {f"n{k}" for k in range(6)}
        page.keyboard.press("w")
        expect(ann.see(".why")).to_contain_text("once you have answered")
        page.keyboard.press("w")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        axe(page)
        assert serious(page) == []
        page.keyboard.press("t")
        page.locator("select[aria-label=Status]").select_option("unseen")
        expect(page.locator("tbody tr")).to_have_count(6)
        expect(page.locator("tbody .label").first).to_have_text("")
        page.keyboard.press("h")
        expect(ann.see(".history .empty")).to_be_visible()
        page.keyboard.press("Escape")
        ann.label("north" if truth(item) != "north" else "west")
        page.keyboard.press("p")
        expect(ann.see(".second .gist")).to_contain_text(
            "1 item read twice, 5 to be read. Both said the same on 0 of 1."
        )
        axe(page)
        assert [fault for fault in serious(page) if "skip-link" not in fault] == []  # views scroll away on a phone
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("r")
        expect(ann.see(".because")).to_contain_text("People disagree")
        assert page.locator(".given .who").all_inner_texts() == ["bob", "ann"]
        ann.close()


def test_who_labels_alone_sees_nothing_of_it(browser, tmp_path):
    with serving(make_project(tmp_path)) as server:
        with server.client() as client:
            for k in range(6):
                answer(client, f"n{k}", truth(f"n{k}"), "ann")
        ann = Person(browser, server)
        page = ann.page
        ann.label()
        expect(page.locator(".reasons")).to_be_hidden()
        page.keyboard.press("p")
        ann.see(".progress .panel")
        assert page.locator(".second, .reason-counts").count() == 0
        page.keyboard.press("r")
        expect(ann.see(".review h1")).to_be_visible()
        expect(page.locator(".review .steps")).to_be_hidden()
        ann.close()
