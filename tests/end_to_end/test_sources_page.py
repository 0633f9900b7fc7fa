"""Where suggestions come from, on the page: precision, contradictions, and the items behind them."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect

from tests.helpers.browsing import Person, axe, serious
from tests.helpers.processes import run
from tests.helpers.serving import answer, make_project, serving, truth

WIDEST = "(panel) => Math.max(...[...panel.querySelectorAll('*')].map((one) => one.getBoundingClientRect().right))"
pytestmark = [pytest.mark.browser, pytest.mark.server]


def rule(path, *words):
    done = run("rule", *words, "-p", path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "de")])
def test_sources_are_listed_with_where_they_err(browser, tmp_path, scheme, language):
    path = make_project(tmp_path)
    with serving(path) as server, server.client() as client:
        ann = Person(browser, server, color_scheme=scheme, locale=language, bypass_csp=True)
        page, panel = ann.page, ann.page.locator(".sources")
        ann.go("progress")
        ann.see(".progress h1")
        expect(panel).to_be_hidden()
        for k in range(6):
            answer(client, f"n{k}", truth(f"n{k}"), "bob")
        rule(path, "x > 4", "east")
        rule(path, "point 1", "north")
        expect(panel.locator("tbody tr")).to_have_count(2)  # without a reload
        first = panel.locator("tbody tr").first
        expect(first).to_contain_text("x > 4")
        expect(first.locator(".tag")).to_have_text("east")
        expect(first).to_contain_text("2 of 2 (" if language == "en" else "2 von 2 (")
        expect(panel.locator(".advice li")).to_contain_text("point 1")
        one = panel.locator(".rows .row").first
        expect(one).to_contain_text("point 1 of the sample")  # that people say is east
        for width in (1280, 390, 320):
            page.set_viewport_size({"width": width, "height": 844})
            assert panel.evaluate(WIDEST) <= width
            if folder := os.environ.get("ASKGRAPH_LOOK"):
                panel.scroll_into_view_if_needed()
                page.screenshot(path=f"{folder}/sources-{scheme}-{width}.png", full_page=True)
        one.click()
        expect(ann.see("dialog")).to_contain_text("point 1 of the sample")
        page.keyboard.press("Escape")
        axe(page)
        assert serious(page) == []
        page.evaluate("location.hash = 'guidelines'")
        expect(ann.see(".past-changes")).to_contain_text("A rule suggests" if language == "en" else "Eine Regel")
        ann.close()
