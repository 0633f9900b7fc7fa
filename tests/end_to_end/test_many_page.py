"""Answers to many items, and choices that change the project: asked first, by keyboard, taken back by one press."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.browsing import Person, draw_a_line
from tests.helpers.serving import CENTERS, answer, ask, make_project, serving, truth, until
from tests.helpers.tabbing import tab_to

pytestmark = [pytest.mark.browser, pytest.mark.server]
VIEWS = ["question", "groups", "table", "map", "progress", "review", "guidelines", "history"]
SHOWN = {"table": ".items tbody tr", "map": ".legend li", "progress": ".panel", "guidelines": ".class-list li"}
SETTLED = "new Promise((go) => setTimeout(go, 350))"  # a window takes no key for 300 milliseconds


@pytest.fixture
def points(tmp_path):
    """A server with twelve answers of ann, and its project."""
    path = make_project(tmp_path)
    with serving(path, "--port", "0") as server, server.client() as client:
        ask(client)
        for k in range(12):
            answer(client, f"n{k}", truth(f"n{k}"), "ann", seconds=2.5)
        until(client, "/api/items?limit=1", lambda said: said["lag"] == 0)
        yield server, path


def visit(browser, server):
    ann = Person(browser, server)
    ann.see(".card .fresh")
    return ann


def state_of(path):
    """Everything that the log, the changes and the settings of a project say."""
    with Project.open(path) as project:
        answers = project.answers
        return len(answers.log), answers.changes, project.target, project.model.sought, sorted(answers.labels.items())


def ways_of(path):
    with Project.open(path) as project:
        standing = [a for a in project.answers.log.values() if a.kind != "undo" and a.seq not in project.answers.undone]
        return [a.how for a in standing]


def choose_rows(page, n):
    """Select the first rows of the table by keyboard."""
    tab_to(page, ".items tbody input")
    for k in range(n):
        page.keyboard.press("Space")
        if k < n - 1:
            page.keyboard.press("Tab")
            page.keyboard.press("Tab")
    expect(page.locator(".selection")).to_contain_text(f"{n} selected")


def test_an_arrow_key_on_a_control_of_any_view_changes_nothing(browser, points):
    """Lists only filter what is shown; everything that changes the project waits for Enter or a click."""
    server, path = points
    ann = visit(browser, server)
    page, before, pressed = ann.page, state_of(path), 0
    page.evaluate("window.sameDocument = true")
    for view in VIEWS:
        page.evaluate(f"location.hash = '{view}'")
        ann.see(SHOWN.get(view, f"[data-view={view}]"))
        if view == "table":
            choose_rows(page, 2)
        for control in page.locator("main").locator("select, .selection button, .key, .rows .plain, .aim button").all():
            if control.is_visible() and control.is_enabled():
                control.focus()
                for key in ("ArrowDown", "ArrowUp", "ArrowDown"):
                    page.keyboard.press(key)
                pressed += 1
                page.evaluate("document.activeElement.blur()")
        page.keyboard.press("?")
        for control in ann.see("dialog[open] .language").locator("button, select").all():
            control.focus()
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
    assert pressed > 15
    page.evaluate(SETTLED)
    assert state_of(path) == before
    assert page.evaluate("window.sameDocument")
    ann.close()


def test_many_items_are_answered_by_keyboard_and_one_press_takes_them_back(browser, points):
    server, path = points
    ann = visit(browser, server)
    page, before = ann.page, state_of(path)
    page.keyboard.press("t")
    ann.see(".items tbody tr")
    choose_rows(page, 3)
    page.keyboard.press("Enter")
    expect(ann.see("dialog h2")).to_have_text("Answer 3 items")
    expect(ann.see(".as-predicted")).to_contain_text(re.compile(r"3 items, about \d+ % right: answer all\?"))
    page.keyboard.press("Enter")  # nothing is chosen yet
    page.evaluate(SETTLED)
    assert state_of(path) == before
    page.keyboard.press("2")
    ann.hear("3 items labeled east")
    assert ways_of(path) == [None] * 12 + ["table"] * 3
    page.keyboard.press("Backspace")
    ann.hear("3 answers taken back")
    assert state_of(path)[-1] == before[-1]

    page.keyboard.press("t")
    ann.see(".items tbody tr")
    choose_rows(page, 2)
    page.keyboard.press("Enter")
    tab_to(page, ".as-predicted button:last-child")
    page.keyboard.press("Enter")
    ann.hear("2 predictions confirmed")
    page.locator(".notice button").click()
    ann.hear("2 answers taken back")
    expect(page.locator("[data-view=table]")).to_be_visible()  # the view stays
    assert state_of(path)[-1] == before[-1]
    ann.close()


def test_a_line_on_the_map_asks_first_leaves_out_what_is_labeled_and_is_taken_back_at_once(browser, points):
    server, path = points
    ann = visit(browser, server)
    page, before = ann.page, state_of(path)
    page.keyboard.press("m")
    ann.see(".legend li")
    draw_a_line(page)
    expect(ann.see(".peek")).to_contain_text("60 items selected")
    assert state_of(path) == before
    page.keyboard.press("Enter")
    expect(ann.see("dialog[open]")).to_contain_text("Of the 60 selected, 12 have an answer already and are left out.")
    page.locator(".as-predicted button").last.click()
    ann.hear("48 predictions confirmed")
    assert ways_of(path) == [None] * 12 + ["map"] * 48
    page.locator(".notice button").click()
    ann.hear("48 answers taken back")
    assert state_of(path)[-1] == before[-1]
    ann.close()


def test_classes_keys_searches_and_targets_are_changed_by_keyboard_alone(browser, points):
    server, path = points
    ann = visit(browser, server)
    page = ann.page
    page.keyboard.press("i")
    ann.see(".class-list li")
    tab_to(page, ".class-list .key")
    page.keyboard.press("Enter")
    ann.see("dialog .key-list")
    page.keyboard.press("o")
    expect(page.locator(".class-list .key").first).to_have_text("o")
    page.evaluate("document.activeElement.blur()")
    tab_to(page, ".class-list .key + .plain")
    page.keyboard.press("Enter")
    expect(ann.see("dialog h2")).to_have_text("Merge north into another class")
    tab_to(page, "dialog .class:nth-child(2)")
    page.keyboard.press("Enter")
    expect(page.locator(".class-list li")).to_have_count(2)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("p")
    ann.see(".panel")
    tab_to(page, ".steps button")
    page.keyboard.press("Enter")
    expect(page.locator(".steps [aria-pressed=true]")).to_have_text("80 %")
    tab_to(page, ".seek button")
    page.keyboard.press("Enter")
    ann.see("dialog .class")
    page.keyboard.press(page.locator("dialog .class", has_text="west").locator("kbd").inner_text())
    expect(page.locator(".seek .tag")).to_have_text("west")
    with Project.open(path) as project:
        assert (project.target, project.model.sought) == (0.2, "west")
        assert set(project.answers.classes) == {"east", "west"}
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    tab_to(page, ".language [lang=de]")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    ann.close()


def test_who_saves_guidelines_that_another_has_changed_sees_both_and_loses_nothing(browser, points):
    server, path = points
    ann = visit(browser, server)
    page = ann.page
    page.keyboard.press("i")
    ann.see(".prose .button").click()
    page.locator(".prose textarea").fill("Mine: look twice.")
    page.locator("h1").first.click()  # the keyboard is elsewhere while others change things
    with server.client() as client:
        body = {"key": "a key of bob's", "who": "bob", "text": "Of bob: look once.", "read": 0}
        assert client.post("/api/guidelines", json=body).status_code == 200
        late = {**body, "key": "another key", "text": "of a third"}
        assert client.post("/api/guidelines", json=late).status_code == 409
        assert client.post("/api/guidelines", json=body).status_code == 200  # sent again
    until_seen = "() => import('/page/lib/store.js').then(({ store }) => store.state.guidelines === 1)"
    page.wait_for_function(until_seen)
    expect(page.locator(".prose textarea")).to_have_value("Mine: look twice.")
    page.locator(".prose .primary").click()
    expect(ann.see(".clash")).to_contain_text("bob saved version 1 while you were writing")
    expect(page.locator(".theirs textarea")).to_have_value("Of bob: look once.")
    expect(page.locator(".prose textarea").last).to_have_value("Mine: look twice.")
    page.locator(".prose textarea").last.fill("Ours: look twice, then once.")
    page.locator(".prose .primary").click()
    expect(ann.see(".prose")).to_contain_text("Version 2, ann")
    with Project.open(path) as project:
        assert [one.value for one in project.answers.guidelines] == [
            "Of bob: look once.",
            "Ours: look twice, then once.",
        ]
    ann.close()


def test_an_answer_that_copies_take_offers_to_take_all_of_them_back(browser, tmp_path):
    table = tmp_path / "copies.csv"
    lines = [f"n{k},{k // 3 % 3 * 9},{k // 3},point {k // 3}" for k in range(24)]  # each row comes three times
    table.write_text("id,x,y,note\n" + "\n".join(lines) + "\n")
    path = tmp_path / "copies.ask"
    Project.create(path, Source(table, features=["x", "y"]), list(CENTERS))
    with serving(path) as server:
        ann = visit(browser, server)
        ann.press("1")
        ann.hear("Saved as north, and 2 exact copies")
        assert ways_of(path) == [None, "copy", "copy"]
        ann.page.locator(".notice button").click()
        ann.hear("3 answers taken back")
        assert ways_of(path) == []
        ann.close()
