"""What a lead and a labeler see on the page, in a real browser: who logs in how, what is off and why, whose word decides."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from askgraph.workbench.passwords import give_role
from askgraph.workbench.project import Project
from tests.helpers.browsing import Person
from tests.helpers.serving import answer, make_project, serving

pytestmark = [pytest.mark.browser, pytest.mark.server]


class Named(Person):
    """Somebody who logs in by name and password."""

    def __init__(self, browser, server, who, **options):
        super().__init__(browser, SimpleNamespace(url=f"{server.base}/login?"), who, **options)
        self.page.locator("input[name=who]").fill(who)
        self.page.locator("input[name=password]").fill(f"password of {who}")
        self.page.keyboard.press("Enter")
        self.see(".card .fresh")


def test_a_labeler_sees_what_a_lead_may_do_and_why_it_is_off_and_a_lead_decides_and_takes_back(browser, tmp_path):
    path = make_project(tmp_path, overlap=2)
    with Project.open(path, write=True) as project:
        give_role(project, "me", "emil", "labeler", "password of emil")
        give_role(project, "me", "ann", "lead", "password of ann")
    with serving(path, env={"ASKGRAPH_PASSWORD": "open sesame"}) as server:
        with server.client() as client:
            for who, label in (("bob", "east"), ("cy", "west")):
                answer(client, "n1", label, who)
        emil = Named(browser, server, "emil")
        page = emil.page
        expect(page.locator(".me")).to_have_text("emil")
        expect(page.locator("dialog")).to_have_count(0)  # a name is not asked for again
        emil.label("north")
        expect(page.get_by_role("button", name="New class")).to_have_count(0)
        page.keyboard.press("n")
        emil.hear("Only a lead changes classes")
        page.keyboard.press("i")
        expect(emil.see(".leads-only").first).to_contain_text("Only a lead changes classes, guidelines and targets")
        for control in page.locator(".guidelines button, .guidelines input").all():
            expect(control).to_be_disabled()
        page.keyboard.press("p")
        expect(emil.see(".aims .steps button").first).to_be_disabled()
        expect(page.get_by_role("button", name="Choose a class")).to_be_disabled()
        expect(page.get_by_role("button", name="Take back")).to_have_count(0)
        page.locator(".me").click()
        expect(emil.see("dialog")).to_contain_text("You are logged in as emil, who labels.")
        expect(page.locator("dialog a")).to_have_attribute("href", "/login")
        page.keyboard.press("Escape")

        ann = Named(browser, server, "ann")
        with server.client() as client:
            answer(client, "n1", "east", "dora")
            login = {"who": "ann", "password": "password of ann"}
            session = client.post("/login", data=login).headers["set-cookie"].split(";")[0]
            del client.headers["Authorization"]
            client.headers["Cookie"] = session
            answer(client, "n1", "west", "ann")
        ann.go("table")
        ann.page.locator("input[type=search]").fill("point 1 of")
        expect(ann.page.locator("td.status")).to_have_count(1)
        expect(ann.see("td.status")).to_contain_text("decided by lead ann")
        ann.page.locator("td.title button").click()
        expect(ann.see("dialog .standing")).to_contain_text("decided by lead ann")
        ann.page.keyboard.press("Escape")
        ann.page.keyboard.press("p")
        people = ann.see(".panel").filter(has=ann.page.get_by_role("heading", name="People", exact=True))
        expect(people).to_contain_text("emil · labeler")
        expect(people).to_contain_text("the word of ann decides")
        ann.page.get_by_role("button", name="Take back answers of emil").click()
        expect(ann.see("dialog [role=status]")).to_have_text("That is 1 answer to 1 item.")
        ann.page.locator("#since").fill("2999-01-01T00:00")
        expect(ann.see("dialog [role=status]")).to_have_text("This time is still to come.")
        expect(ann.page.locator("dialog .primary")).to_be_disabled()
        ann.page.locator("#since").fill("2020-01-01T00:00")
        expect(ann.page.locator("dialog .primary")).to_be_enabled()
        ann.page.locator("dialog .primary").click()
        ann.hear("1 answer taken back")
        with Project.open(path) as project:
            assert "emil" not in project.answers.people
        ann.page.locator("#notices button", has_text="Undo").click()
        ann.hear("1 answer given back")
        with Project.open(path) as project:
            assert project.answers.people["emil"] == 1
        ann.page.keyboard.press("h")
        expect(ann.see(".history li").first).to_contain_text("given back")
        expect(ann.page.locator(".history li", has_text="as lead")).to_have_count(1)

        with server.client() as client:  # a role that is given anew ends the session, and the page says so
            body = {"key": "a key of mine", "who": "me", "name": "emil", "role": "lead", "password": "another one"}
            client.post("/api/role", json=body).raise_for_status()
        expect(page.locator("#notices a")).to_have_attribute("href", "/login")
        emil.close()
        ann.close()


def test_a_person_alone_sees_nothing_of_roles(browser, tmp_path):
    with serving(make_project(tmp_path)) as server:
        ann = Person(browser, server)
        ann.label()
        ann.page.keyboard.press("p")
        ann.see(".lead-in")
        expect(ann.page.locator(".leads-only")).to_have_count(0)
        expect(ann.page.get_by_role("heading", name="People", exact=True)).to_have_count(0)
        ann.page.keyboard.press("i")
        expect(ann.see(".guidelines button").first).to_be_enabled()
        ann.close()
