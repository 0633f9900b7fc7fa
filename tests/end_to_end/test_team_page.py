"""What a team does on the page, in a real browser: guidelines, classes, groups, review."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from tests.helpers.browsing import Person
from tests.helpers.serving import answer, make_project, serving, truth

pytestmark = [pytest.mark.browser, pytest.mark.server]
EVIL = """"'><img src=x onerror="window.__hit=1;alert(1)"><script>window.__hit=1</script>"""
RULES = f"# What is what\n\nLook *twice*: {EVIL}\n\n- [away](javascript:alert(1)) {EVIL}\n\n`code` **bold {EVIL}**\n"


def log_of(path):
    with Project.open(path) as project:
        ids = project.store.ids()
        return {ids[a.item]: (a.label, a.how) for a in project.answers.log.values() if project.answers.counts(a)}


def test_a_team_reads_guidelines_mends_classes_confirms_groups_and_reviews(browser, tmp_path):
    path = make_project(tmp_path)
    with Project.open(path, write=True) as project:
        project.log.write_guidelines("boss", RULES)
        project.log.change("boss", "describe", "north", f"Above. {EVIL}")
    with serving(path) as server:
        with server.client() as client:
            for k in range(12):
                answer(client, f"n{k}", "nroth" if k == 0 else truth(f"n{k}"), "bob")
            answer(client, "n3", "west", "cy")
        ann = Person(browser, server)
        page = ann.page

        expect(ann.see("dialog[open] .prose h2").first).to_have_text("What is what")
        page.keyboard.press("Enter")
        expect(page.locator("dialog")).to_have_count(0)
        ann.see(".class .about")
        page.keyboard.press("i")  # a misspelt class is merged in one action, and that can be taken back
        misspelt = ann.see(".class-list li").nth(3)
        misspelt.locator("button", has_text="Merge").click()
        ann.see("dialog .class").filter(has_text="north").click()
        expect(page.locator(".class-list li")).to_have_count(3)
        page.locator(".guidelines .rows button", has_text="Undo").first.click()
        expect(page.locator(".class-list li")).to_have_count(4)
        page.locator(".class-list li").nth(3).locator("button", has_text="Merge").click()
        ann.see("dialog .class").filter(has_text="north").click()
        expect(page.locator(".class-list li")).to_have_count(3)
        page.locator(".class-list input.rename").nth(1).fill("orient")
        page.keyboard.press("Tab")
        expect(page.locator(".guidelines .rows").last).to_contain_text("east renamed to orient")
        page.evaluate("document.activeElement.blur()")

        page.keyboard.press("g")  # one odd item is taken out of a group by keys, the others are confirmed by one
        ann.see(".tile")
        shown = page.locator(".tile").count()
        page.wait_for_timeout(400)  # a new group takes no key at once
        page.keyboard.press("ArrowRight")
        odd = "n" + page.locator(".tile:focus").inner_text().split()[1]
        page.keyboard.press("o")
        expect(page.locator(".tile[aria-pressed=false]")).to_have_count(1)
        page.keyboard.press("Enter")
        ann.hear(f"{shown - 1} items labeled")
        logged = log_of(path)
        assert sum(how == "group" for _, how in logged.values()) == shown - 1
        assert odd not in logged
        page.keyboard.press("Escape")
        ann.aside("invalid", "x")  # the card that was on the screen comes first
        assert ann.item == odd

        page.keyboard.press("r")
        expect(ann.see(".because")).to_contain_text("disagree")
        page.wait_for_timeout(300)
        page.keyboard.press(ann.key_of("north"))
        ann.hear("Saved as north")
        assert log_of(path)["n3"] == ("north", "review")
        assert page.evaluate("window.__hit") is None
        ann.close()
