"""Find all of a class, on the page of a running project and by the command beside it."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from tests.helpers.browsing import Person, axe, serious
from tests.helpers.processes import run
from tests.helpers.serving import answer, make_project, serving, truth, until
from tests.helpers.tabbing import tab_to

pytestmark = [pytest.mark.browser, pytest.mark.server]


def command(path, *words):
    """What ``askgraph find`` prints as JSON."""
    done = run("find", *words, "--json", "--who", "cy", "-p", path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_search_begins_and_ends_on_the_page_and_can_be_taken_back(browser, tmp_path):
    path = make_project(tmp_path)
    with serving(path) as server, server.client() as client:
        ann = Person(browser, server)
        page = ann.page
        ann.see(".card .fresh")
        expect(page.locator(".seeking")).to_be_hidden()

        ann.go("progress")
        ann.see(".seek button").click()
        ann.see("dialog .class").filter(has_text="west").click()
        ann.hear("Finding all of west")
        ann.go("question")
        expect(ann.see(".seeking")).to_contain_text("It begins when one item of it")  # no item of it is known
        for k in range(3):
            answer(client, f"n{k}", truth(f"n{k}"), "bob")
        expect(page.locator(".seeking")).to_contain_text("1 found; too early to say how many are left (")
        until(client, "/api/state?who=ann", lambda said: said["lag"] == 0)
        ann.label()  # the card that was there before
        asked = [ann.label() for _ in range(8)]
        assert sum(truth(item) == "west" for item in asked) >= 5  # a third of them by chance, and a spot check or two
        expect(page.locator(".seeking")).to_contain_text("left (")
        for size in ({"width": 390, "height": 844}, {"width": 320, "height": 256}, {"width": 1280, "height": 800}):
            page.set_viewport_size(size)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            page.locator(".seeking button").scroll_into_view_if_needed()
            expect(page.locator(".seeking button")).to_be_in_viewport(ratio=0.99)

        ann.go("progress")
        expect(ann.see(".lead-in h1")).to_contain_text("of “west”")
        expect(page.locator(".seek .tag")).to_have_text("west")
        found = client.get("/api/progress").json()["find"]
        last = found["last"]
        expect(page.locator(".lead-in")).to_contain_text(
            f"{last['found']} of the last {last['labels']} answers were hits"
        )
        expect(page.get_by_role("img", name=f"{found['found']} found after {last['labels']} answers.")).to_be_visible()
        expect(page.locator(".recall .chance")).to_have_count(1 if found["known"] else 0)
        expect(page.locator(".curve .band")).to_have_count(0)  # the expected error of all says nothing of a search
        ann.go("question")
        page.locator(".seeking button").click()
        expect(page.locator(".seeking")).to_be_hidden()
        with Project.open(path) as project:
            assert project.model.sought is None
        page.evaluate("location.hash = 'guidelines'")  # the end of the search is taken back like any change
        page.locator(".guidelines .rows li", has_text="Search ended").locator("button").click()
        expect(page.locator(".guidelines .rows li", has_text="Search ended")).to_contain_text("taken back")
        ann.go("question")
        expect(ann.see(".seeking")).to_contain_text("Finding all of “west”")

        assert command(path, "north")["class"] == "north"  # through the server
        expect(ann.see(".seeking")).to_contain_text("Finding all of “north”")
        assert command(path, "--stop") == {"class": None}
        expect(page.locator(".seeking")).to_be_hidden()
        ann.close()
    with Project.open(path) as project:
        assert [(c.who, c.name) for c in project.answers.naming.log.values() if c.kind == "find"] == [
            ("ann", "west"), ("ann", None), ("cy", "north"), ("cy", None)
        ]  # fmt: skip


def test_a_search_is_certified_on_the_page(browser, tmp_path):
    path = make_project(tmp_path, n=90)
    with Project.open(path, write=True) as project:
        project.log.change("bob", "find", "west")
        project.say_all("bob", [(f"n{k}", "label", truth(f"n{k}")) for k in range(30)])
        project.say_all("bob", [(f"n{k}", "label", "west") for k in range(32, 75, 3)])
    with serving(path) as server, server.client() as client:
        ann = Person(browser, server, bypass_csp=True)
        page = ann.page
        ann.see(".card .fresh")
        ann.go("progress")
        offer = ann.see(".panel").filter(has_text="Certify what is found")
        expect(offer).to_contain_text("Read a random sample of the 45 items left")
        expect(offer).to_contain_text("that is most of what is left: rather read all of it")
        expect(offer.locator("button")).to_have_count(3)
        axe(page)
        assert serious(page) == []
        for size in ({"width": 390, "height": 844}, {"width": 320, "height": 256}, {"width": 1280, "height": 800}):
            page.set_viewport_size(size)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        offer.locator("button", has_text="80 %").press("Enter")
        ann.hear("A random sample of what is left comes next")
        with Project.open(path) as project:
            sampled = [f"n{node}" for node in project.model.sampling.sample().nodes]
        expect(ann.see(".lead-in h1")).to_contain_text(f"0 of {len(sampled)} items of the random sample are read")
        expect(offer).to_be_hidden()

        ann.go("question")
        ann.label()  # the card that was there before
        expect(page.locator(".card .spot-check")).to_contain_text("Random sample")
        assert ann.label() in sampled
        expect(ann.see(".seeking")).to_contain_text("of the random sample are read")
        for id in sampled:  # the others at once, from elsewhere
            with Project.open(path) as project:
                still = project.log.open_at(int(id[1:]))
            if still:
                answer(client, id, truth(id), "bob")
        expect(page.locator(".seeking")).to_contain_text(" of “west” is found, with 95 % confidence")
        ann.go("progress")
        expect(ann.see(".lead-in h1")).to_contain_text(" of “west” is found, with 95 % confidence")
        expect(page.locator(".lead-in .gist").first).to_contain_text(f"{len(sampled)} items drawn at random of the 4")
        eve = Person(browser, server, "eve", locale="de-AT")
        eve.go("progress")
        expect(eve.see(".lead-in h1")).to_contain_text(" von „west“ sind gefunden, mit 95 % Sicherheit")
        eve.page.evaluate("location.hash = 'guidelines'")
        expect(eve.see(".guidelines .rows li").filter(has_text="Zufallsauswahl gezogen")).to_have_count(1)
        eve.close()
        ann.close()


def test_a_description_begins_a_search_and_orders_the_table_by_keyboard_alone(browser, tmp_path):
    path = make_project(tmp_path)
    with serving(path) as server:
        ann = Person(browser, server)
        page = ann.page
        ann.see(".card .fresh")
        ann.go("progress")
        ann.see(".seek button").focus()
        page.keyboard.press("Enter")
        ann.see("dialog .describe")
        tab_to(page, ".describe input")
        page.keyboard.type("a point of the 2nd sample")  # keys of classes are letters here
        tab_to(page, "dialog .class:nth-child(2)")
        page.keyboard.press("Enter")
        ann.hear("Finding all of east")
        ann.go("question")
        expect(ann.see(".seeking")).to_contain_text("Those most like “a point of the 2nd sample” come first")
        with Project.open(path) as project:
            assert (project.model.sought, project.answers.naming.like) == ("east", "a point of the 2nd sample")
        page.evaluate("location.hash = 'guidelines'")
        expect(page.locator(".guidelines .rows li", has_text="Finding all")).to_contain_text(
            "a point of the 2nd sample"
        )

        ann.go("table")
        ann.see(".items tbody tr .row")
        page.keyboard.press("/")
        page.keyboard.type("sample points")
        expect(page.locator(".items .empty")).to_be_visible()  # no item holds these words as they are
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        expect(page.locator(".items tbody .row").first).to_be_visible()
        expect(page.locator(".heading .soft").first).to_contain_text("most like your words")
        for size in ({"width": 390, "height": 844}, {"width": 320, "height": 256}, {"width": 1280, "height": 800}):
            page.set_viewport_size(size)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        page.locator("th.id button").press("Enter")  # another order: what was typed filters again
        expect(page.locator(".items .empty")).to_be_visible()
        expect(page.locator(".filters .check input")).not_to_be_checked()
        ann.close()
