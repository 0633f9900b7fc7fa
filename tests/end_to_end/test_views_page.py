"""History, Groups and Review by keyboard alone, what is said while something is computed, and exact copies."""

from __future__ import annotations

import re
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.browsing import Person
from tests.helpers.serving import CENTERS, answer, ask, make_project, serving, truth, until
from tests.helpers.tabbing import STOPS, tab_to

pytestmark = [pytest.mark.browser, pytest.mark.server]


@contextmanager
def two_people(folder):
    """A server with the answers of two people; ann labels all right, bob says that n3 is west."""
    path = make_project(folder)
    with serving(path, "--port", "0") as server, server.client() as client:
        ask(client)
        for k in range(12):
            answer(client, f"n{k}", truth(f"n{k}"), "ann", seconds=2.5)
        answer(client, "n3", "west", "bob", seconds=31.0)
        until(client, "/api/state?who=ann", lambda said: said["lag"] == 0, 120)
        yield server


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    with two_people(tmp_path_factory.mktemp("points")) as server:
        yield server


@pytest.fixture
def unread(tmp_path):
    """Such a server whose history no other test has written to: tests run in any order."""
    with two_people(tmp_path) as server:
        yield server


GUARDED = "new Promise((go) => setTimeout(go, 300))"  # a new group takes no key for 300 milliseconds


def choose(page, key, value):
    """Press an arrow key until the list that has the keyboard says this."""
    for _ in range(STOPS):
        if page.evaluate("document.activeElement.value") == value:
            return
        page.keyboard.press(key)
    raise AssertionError(f"{value!r} is not among the choices")


def test_history_is_filtered_by_class_and_person_with_keys(browser, unread):
    ann = Person(browser, unread)
    page = ann.page
    ann.see(".card .fresh")
    page.keyboard.press("h")
    rows = page.locator(".history .row")
    expect(rows).to_have_count(13)
    expect(rows.first).to_contain_text("31 s")
    expect(rows.nth(1)).to_contain_text("2.5 s")
    expect(rows.first.locator("time")).to_have_attribute("title", re.compile(r"\d{1,2} \w+ \d{4}, \d\d:\d\d"))
    tab_to(page, ".filters select")
    choose(page, "ArrowDown", "west")
    expect(rows).to_have_count(5)
    page.keyboard.press("Tab")
    choose(page, "ArrowDown", "bob")
    expect(rows).to_have_count(1)
    expect(page.locator(".filters select").first).to_have_value("west")
    tab_to(page, ".history .row")
    page.keyboard.press("Enter")
    ann.see("dialog[open]")
    page.keyboard.press("1")  # the class north, given to n3 by ann a second time
    ann.hear("Saved as north")
    page.keyboard.press("Shift+Tab")
    choose(page, "ArrowUp", "")
    expect(rows).to_have_count(5)
    ann.close()


def test_groups_and_review_work_by_keys_alone(browser, points):
    ann = Person(browser, points)
    page = ann.page
    ann.see(".card .fresh")
    page.keyboard.press("g")
    shown = ann.see(".tile").count()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    tile = page.locator(".tile").nth(1)
    expect(tile).to_be_focused()
    expect(tile.locator(".title")).to_contain_text("of the sample")
    expect(tile.locator(".about b")).to_have_count(2)  # x and y: both lie close together in a group
    page.keyboard.press("Space")
    expect(ann.see("dialog[open] h2")).to_have_text(tile.locator(".title").inner_text())
    expect(page.locator("dialog .facts dt")).to_have_text(["x", "y"])
    page.keyboard.press("Space")
    expect(page.locator("dialog")).to_have_count(0)
    expect(tile).to_be_focused()
    page.keyboard.press("o")
    expect(tile).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".groups .primary")).to_contain_text(f"Confirm {shown - 1} items")
    page.keyboard.press("o")
    expect(page.locator(".groups .primary")).to_contain_text(f"Confirm {shown} items")
    tab_to(page, ".groups .primary")
    page.evaluate(GUARDED)
    page.keyboard.press("Enter")
    ann.hear(f"{shown} items labeled")
    page.keyboard.press("Backspace")  # the whole group is taken back
    expect(page.locator(".sum")).to_contain_text("12 of 60")

    page.keyboard.press("r")
    expect(ann.see(".because")).to_contain_text("disagree")
    left = int(re.search(r"\d+", page.locator(".review .soft").first.inner_text())[0])
    page.keyboard.press("ArrowRight")
    expect(page.locator(".review .soft").first).to_contain_text(f"{left - 1} item")
    tab_to(page, ".review .card")
    tab_to(page, ".review .class")
    tab_to(page, ".review .others button")
    ann.close()


def test_what_is_computed_is_announced_while_one_waits(browser, points):
    """T14: the reasons have a placeholder from the first moment, groups no button yet, and the map counts the seconds."""
    ann = Person(browser, points)
    page = ann.page
    ann.see(".card .fresh")
    held = []
    page.route("**/api/why*", lambda route: held.append(route))
    page.keyboard.press("w")
    expect(page.locator(".why h2")).to_have_text("Why this one")
    expect(page.locator(".why .breathing")).to_have_text("One moment.")
    while held:  # requests that came while one was let go are let go too
        held.pop().continue_()
    page.unroute("**/api/why*")
    expect(page.locator(".why section").first).to_be_visible()
    expect(page.locator(".why .breathing")).to_have_count(0)
    page.keyboard.press("w")

    page.route("**/api/group", lambda route: held.append(route))
    with page.expect_request("**/api/group"):
        page.keyboard.press("g")
    expect(page.locator(".groups h1")).to_have_text("Groups")
    expect(page.locator(".groups button")).to_be_hidden()  # nothing can be confirmed yet
    page.unroute("**/api/group")

    page.route("**/api/map", lambda route: route.fulfill(json={"waiting": "the map is being drawn"}))
    page.keyboard.press("m")
    counted = re.compile(r"^The map is being drawn\. \((\d+) s\)$")
    said = page.get_by_text(counted)
    expect(said).to_be_visible()
    first = said.inner_text()
    expect(page.get_by_text("The map is being drawn.")).not_to_have_text(first)  # it goes on counting
    page.unroute("**/api/map")
    ann.see(".legend li")
    ann.close()


def test_the_card_and_the_history_say_what_an_exact_copy_is(browser, tmp_path):
    table = tmp_path / "copies.csv"
    lines = [f"n{k},{k // 2 % 3 * 9},{k // 2},point {k // 2}" for k in range(24)]  # each row comes twice
    table.write_text("id,x,y,note\n" + "\n".join(lines) + "\n")
    Project.create(tmp_path / "copies.ask", Source(table, features=["x", "y"]), list(CENTERS))
    with serving(tmp_path / "copies.ask") as server:
        ann = Person(browser, server)
        expect(ann.see(".card .opinions")).to_contain_text("1 exact copy gets the same answer: every column")
        ann.press("1")
        ann.go("history")
        expect(ann.see(".history .note").first).to_have_text("exact copy")
        assert "in every column" in ann.page.locator(".history .note").first.get_attribute("title")
        ann.close()
