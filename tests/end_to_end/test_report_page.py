"""The report in a real browser: opened from Progress, on a phone, and printed on two sheets."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect

from askgraph.web.headers import POLICY, REPORT_POLICY
from askgraph.workbench.project import Project
from askgraph.workbench.report import to_sign
from askgraph.workbench.report_page import MAX_CLASSES, MAX_PEOPLE, page, sheets
from askgraph.workbench.report_words import LANGUAGES
from tests.helpers.browsing import Person, axe, serious
from tests.helpers.projects import make
from tests.helpers.serving import NO_CERTIFICATES, serving, until
from tests.helpers.signed import KINDS, make_signed

pytestmark = [pytest.mark.browser, pytest.mark.server]
EVIL = """"'><img src=x onerror="window.__hit=1"><script>window.__hit=1</script>"""


def shown(browser, path, html, width):
    path.write_text(html)
    view = browser.new_context(viewport={"width": width, "height": 800}, bypass_csp=True).new_page()
    view.goto(path.as_uri())
    return view


def count_sheets(view):
    view.emulate_media(media="print")
    return len(re.findall(rb"/Type\s*/Page\b", view.pdf(prefer_css_page_size=True)))


@pytest.mark.parametrize("name", list(KINDS))
def test_a_report_fits_a_phone_and_prints_on_two_sheets(browser, tmp_path, name):
    with Project.open(make_signed(tmp_path, name)) as project:
        said = to_sign(project)
    for code, language in LANGUAGES.items():
        view = shown(browser, tmp_path / f"{code}.html", page(said, language), 390)
        assert view.evaluate("document.documentElement.scrollWidth") == 390
        if name == "classes":
            axe(view)
            assert serious(view) == []
        assert count_sheets(view) == 2
        view.context.close()


def test_a_report_with_as_much_as_it_lists_prints_on_two_sheets(browser, tmp_path):
    names = [f"a class whose name is rather long, number {k}" for k in range(MAX_CLASSES + 5)]
    path = make(tmp_path / "p.ask", 90, names)
    with Project.open(path, write=True) as project:
        for k in range(6):
            project.log.write_guidelines("the head of the study", "A sentence of the guidelines. " * 100)
            project.say("ann", f"i{k}", "label", names[k])
        for who in range(MAX_PEOPLE + 4):
            for k in range(len(names)):
                item, name = f"i{5 * k + who % 5}", names[(k + who // 9) % len(names)]
                project.say(f"person number {who}", item, "label", name, predicted=name)
        said = to_sign(project)
    for code, language in LANGUAGES.items():
        assert len(sheets(said, language)) == 2
        view = shown(browser, tmp_path / f"{code}.html", page(said, language), 1280)
        assert count_sheets(view) == 2
        view.context.close()


def test_progress_leads_to_the_report_in_the_language_of_the_page(browser, tmp_path):
    # Promise 22
    path = make_signed(tmp_path, "classes")
    with Project.open(path, write=True) as project:
        project.log.change("ann", "rename", "bad", EVIL)
        project.log.write_guidelines("ann", EVIL)
        pin = to_sign(project)["sha256"]
    with serving(path) as server:
        with server.client() as client:
            until(client, "/api/progress", lambda said: "error" in said and not said["lag"])
            assert client.get("/api/progress").headers["content-security-policy"] == POLICY
            found = client.get("/api/report", params={"language": "de"})
            assert found.headers["content-security-policy"] == REPORT_POLICY
            assert found.headers["x-content-type-options"] == "nosniff"
            assert found.headers["cache-control"] == "no-store"
            assert client.get("/api/report", params={"language": "fr"}).status_code == 422
        assert httpx.get(f"{server.base}/api/report", **NO_CERTIFICATES).status_code == 401
        for locale, link, title in (("en-GB", "Report", "Report on labels"), ("de-DE", "Bericht", "Bericht über")):
            ann = Person(browser, server, locale=locale)
            ann.see("dialog[open]")
            ann.page.keyboard.press("Enter")  # the guidelines are read
            expect(ann.page.locator("dialog")).to_have_count(0)
            ann.go("progress")
            with ann.context.expect_page() as opened:
                ann.see(".exports a").filter(has_text=link).first.click()
            view = opened.value
            ann_wrong = []
            view.on("console", lambda message, heard=ann_wrong: heard.append(message.text))
            expect(view.locator("header")).to_contain_text(title)
            expect(view.locator("main")).to_contain_text(pin)
            expect(view.locator("main")).to_contain_text(EVIL)
            assert (
                view.evaluate("getComputedStyle(document.querySelector('.gist')).display") == "grid"
            )  # its style holds
            assert view.evaluate("window.__hit") is None
            assert ann_wrong == []
            ann.close()
