"""Answers of each kind in a real browser: from a file to its export and back by keys alone, by two people, in two languages."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from askgraph.kinds.numbers import Numbers
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.end_to_end.test_page import CUT
from tests.end_to_end.test_start_page import begin, first_page, use
from tests.helpers.browsing import READY, Person, axe, serious
from tests.helpers.serving import answer, ask, serving, until

pytestmark = [pytest.mark.browser, pytest.mark.server]
N = 48
STEPS = ["bad", "fair", "good"]
TAGS = ["cheap", "early", "new"]
KINDS = {
    "classes": ("classes", STEPS),
    "ordered": ("ordered", STEPS),
    "several": ("several", TAGS),
    "numbers": (Numbers(unit="EUR"), []),
}
PHONE, FOURFOLD, DESK = ({"width": w, "height": h} for w, h in ((390, 844), (320, 256), (1280, 800)))
SHOWN = """() => import("/page/lib/store.js").then(({ store }) => store.question?.item.id ?? null)"""
TURNED = """old => import("/page/lib/store.js").then(({ store }) =>
  !store.sending && store.question !== null && store.question.item.id !== old)"""
AT_REST = """() => [...document.querySelectorAll("main .breathing")].every(one => !one.checkVisibility())"""
WIDER = "document.documentElement.scrollWidth > innerWidth"


def truth(kind, id):
    x = int(id.removeprefix("n"))
    if kind == "numbers":
        return round(20 + 2.5 * x, 1)
    if kind == "several":
        return [name for name, has in zip(TAGS, (x < 20, 12 < x < 30, x > 38), strict=True) if has]
    return STEPS[3 * x // N]


def write_items(path):
    rng, lines = np.random.default_rng(0), ["id,x,note"]
    lines += [f"n{k},{k / N + rng.normal(0, 0.01):.4f},item {k} of them" for k in range(N)]
    path.write_text("\n".join(lines) + "\n")
    return path


def keys_of(kind, answer):
    """The keys of an answer."""
    if kind == "numbers":
        return [*f"{answer}", "Enter"]
    if kind == "several":
        return [*(str(TAGS.index(name) + 1) for name in answer), "Enter"] if answer else ["0"]
    return [str(STEPS.index(answer) + 1)]


def give(page, kind, answer=None):
    """Answer the question that is shown by keys; return its item."""
    page.evaluate(READY)
    id = page.evaluate(SHOWN)
    for key in keys_of(kind, truth(kind, id) if answer is None else answer):
        page.keyboard.press(key)
    page.wait_for_function(TURNED, arg=id)
    page.evaluate(READY)
    return id


def download(page, name):
    """Export by the menu of the table."""
    page.keyboard.press("t")
    page.locator(".menu summary").first.click()
    with page.expect_download() as found:
        page.locator(".menu a", has_text=name).first.click()
    return found.value.path()


def answered(path):
    """The labels that a csv of answers and predictions says were given."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        return {row["id"]: row["label"] for row in csv.DictReader(file) if row["source"] == "answered"}


CELLS = {
    "classes": str,
    "ordered": str,
    "several": lambda answer: "|".join(answer) or "(none)",
    "numbers": str,
}
CHOSEN = {"classes": "One class", "ordered": "A step of a scale", "several": "Several classes", "numbers": "A number"}
NAMED = {"classes": "Classes, separated", "several": "Classes, separated", "ordered": "Steps, the lowest first"}


def choose(page, table, kind):
    """Drop a table, compare by x, and choose what an answer is, by keys."""
    page.locator("input[type=file]").first.set_input_files(table)
    again = page.get_by_role("button", name="Make a new project")
    expect(use(page, "x").or_(again)).to_be_visible()
    if again.is_visible():
        again.click()
    use(page, "x").select_option("compare")
    use(page, "note").select_option("show")
    page.get_by_role("radio", name=CHOSEN[kind]).focus()
    page.keyboard.press("Space")


def add_column(table, said):
    """Write a table beside the one given that has a column "said", too."""
    head, *rows = csv.reader(table.read_text().splitlines())
    path = table.with_name("back.csv")
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*head, "said"], *([*row, said.get(row[0], "")] for row in rows)])
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_from_a_file_to_its_export_and_back_by_the_page_alone(browser, tmp_path, kind):
    """The labels that one project exports are those of the next one, made of the same items with a column of labels."""
    table = write_items(tmp_path / "items.csv")
    with first_page(browser, tmp_path) as page:
        choose(page, table, kind)
        if kind in NAMED:
            page.get_by_label(NAMED[kind]).fill(",".join(KINDS[kind][1]))
        else:
            page.get_by_label("Unit of the numbers").fill("EUR")
        begin(page)
        given = [give(page, kind) for _ in range(12)]
        exported = answered(download(page, "CSV, for a spreadsheet"))
    assert exported == {id: CELLS[kind](truth(kind, id)) for id in given}
    with Project.open(tmp_path / "items.ask") as project:
        labels = dict(project.answers.labels)
        assert getattr(project.answers.kind, "unit", None) == ("EUR" if kind == "numbers" else None)
    back = add_column(table, exported)
    with first_page(browser, tmp_path) as page:
        choose(page, back, kind)
        use(page, "said").select_option("label")
        if kind == "ordered":
            page.get_by_label(NAMED[kind]).fill(",".join(STEPS))
        begin(page)
        expect(page.locator(".sum")).to_contain_text("12 of 48 items labeled")
    with Project.open(tmp_path / "back.ask") as project:
        assert dict(project.answers.labels) == labels


@pytest.fixture(scope="module", params=KINDS)
def served(request, tmp_path_factory):
    """A server on a project of each kind, with answers of ann to twelve items."""
    folder, (kind, classes) = tmp_path_factory.mktemp(request.param), KINDS[request.param]
    source = Source(write_items(folder / "items.csv"), features=["x"])
    Project.create(folder / "items.ask", source, classes, answers=kind, overlap=2)
    with serving(folder / "items.ask", "--port", "0") as server, server.client() as client:
        for _ in range(12):
            id = ask(client)["question"]["item"]["id"]
            answer(client, id, truth(request.param, id))
        until(client, "/api/progress", lambda said: said.get("lag") == 0)
        yield request.param, server


LOADED = re.compile(r"/api/(?!state|events)")
VIEWS = ("question", "groups", "table", "map", "progress", "review", "guidelines", "history")


def visit(browser, server, who):
    """Somebody at the first question, and its item."""
    person = Person(browser, server, who=who)
    person.see(".card .fresh")
    person.page.evaluate(READY)
    return person, person.page.evaluate(SHOWN)


def test_no_view_shows_a_button_without_a_name_before_its_data_are_there(browser, served):
    _, server = served
    ann = Person(browser, server, viewport=DESK, bypass_csp=True)
    ann.see(".card .fresh")
    axe(ann.page)
    ann.page.route(LOADED, lambda route: None)  # nothing that a view loads ever comes
    for view in VIEWS:
        ann.page.evaluate(f"location.hash = '{view}'")
        ann.see(f"[data-view={view}]")
        assert serious(ann.page) == [], view
    ann.close()


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_view_of_each_kind_fits_and_can_be_read_aloud(browser, served, language):
    """On a phone, at 400 % and on a desk in the dark, in both languages."""
    _, server = served
    ann = Person(browser, server, viewport=DESK, locale=language, color_scheme="dark", bypass_csp=True)
    ann.see(".card .fresh")
    axe(ann.page)
    for view in VIEWS:
        ann.page.evaluate(f"location.hash = '{view}'")
        ann.see(f"[data-view={view}]")
        ann.page.wait_for_function(AT_REST)
        for size in (PHONE, FOURFOLD, DESK):
            ann.page.set_viewport_size(size)
            assert not ann.page.evaluate(WIDER), (view, size)
        assert serious(ann.page) == []
        assert "undefined" not in ann.page.locator("main").inner_text()
    ann.close()


def test_two_people_answer_by_keys_and_what_they_disagree_on_is_reviewed(browser, served):
    kind, server = served
    bob, _ = visit(browser, server, "bob")
    other = {"classes": "bad", "ordered": "bad", "several": TAGS, "numbers": 500}[kind]
    given = [give(bob.page, kind) for _ in range(3)]
    differs = give(bob.page, kind, other)
    with server.client() as client:
        said = client.get("/api/item", params={"id": given[0]}).json()["answers"]
        assert {one["who"]: one["label"] for one in said}["bob"] == truth(kind, given[0])
        until(client, "/api/review", lambda found: differs in str(found))
    bob.page.keyboard.press("r")
    bob.see(".review .card .fresh")
    bob.close()


@pytest.mark.parametrize("served", ["numbers"], indirect=True)
def test_a_number_far_off_is_asked_about_and_taken_back(browser, served):
    _, server = served
    cy, _ = visit(browser, server, "cy")
    while cy.page.locator(".opinions").count():  # of an item that others answered no more is expected
        give(cy.page, "numbers")
    id = cy.page.evaluate(SHOWN)
    for key in "91234":
        cy.page.keyboard.press(key)
    cy.page.keyboard.press("Enter")
    cy.hear("You said 91,234 EUR, expected ")
    cy.page.get_by_role("button", name="No, answer again").click()
    cy.page.wait_for_function(f"({SHOWN})().then(id => id === '{id}')")
    with server.client() as client:
        said = client.get("/api/item", params={"id": id}).json()["answers"]
        assert "cy" not in [one["who"] for one in said if not one.get("undone")]
    cy.close()


@pytest.mark.parametrize("served", ["numbers"], indirect=True)
def test_what_is_no_number_is_said_and_nothing_is_sent(browser, served):
    _, server = served
    dan, id = visit(browser, server, "dan")
    for text in ("1,234", "1.2.3", "-", "1-2"):
        dan.page.locator(".control input").fill("")
        dan.page.keyboard.type(text)
        dan.page.keyboard.press("Enter")
        expect(dan.page.locator(".wrong-number")).to_contain_text(f"“{text}” is not read as a number")
        expect(dan.page.locator(".control input")).to_have_value(text)
    dan.page.locator(".control input").fill("")
    dan.page.keyboard.press("Enter")
    dan.hear("Type a number, then Enter.")
    dan.page.keyboard.type("1abc")
    expect(dan.page.locator(".control input")).to_have_value("1")
    dan.page.keyboard.press("Escape")
    assert dan.page.evaluate(SHOWN) == id
    with server.client() as client:
        assert "dan" not in [one["who"] for one in client.get("/api/item", params={"id": id}).json()["answers"]]
    dan.close()


@pytest.mark.parametrize("served", ["numbers"], indirect=True)
def test_a_backspace_too_many_takes_no_answer_back(browser, served):
    _, server = served
    gus, _ = visit(browser, server, "gus")
    given = give(gus.page, "numbers")
    id = gus.page.evaluate(SHOWN)
    for key in ("4", "2", *3 * ["Backspace"], "5", "Enter"):
        gus.page.keyboard.press(key)
    gus.page.wait_for_function(TURNED, arg=id)
    with server.client() as client:
        lines = client.get("/api/history", params={"who": "gus"}).json()["answers"]
        assert [(one["item"], one["undone"]) for one in lines] == [(id, False), (given, False)]
        gus.page.evaluate(READY)
        gus.page.keyboard.press("Backspace")
        gus.page.wait_for_function(f"({SHOWN})().then(shown => shown === '{id}')")
    gus.close()


@pytest.mark.parametrize("served", ["ordered", "several"], indirect=True)
@pytest.mark.parametrize("size", [PHONE, DESK])
def test_no_key_covers_what_it_does_in_the_help(browser, served, size):
    _, server = served
    ann = Person(browser, server, viewport=size, locale="de")
    ann.see(".card .fresh")
    ann.page.evaluate(READY)
    ann.page.keyboard.press("?")
    ann.see("dialog .keys")
    over = "all => all.filter(one => one.getBoundingClientRect().right > one.parentElement.getBoundingClientRect().right + 1)"
    assert ann.page.locator("dialog .keys kbd").evaluate_all(f"all => ({over})(all).map(one => one.textContent)") == []
    ann.close()


@pytest.mark.parametrize("served", ["classes", "ordered"], indirect=True)
def test_shift_marks_one_of_several_classes(browser, served):
    _, server = served
    eve, id = visit(browser, server, "eve")
    eve.page.keyboard.press("Shift+Digit1")
    expect(eve.page.locator(".marks")).to_contain_text("bad or …?")
    eve.page.keyboard.press("Shift+Digit2")
    expect(eve.page.locator(".marks")).to_contain_text("bad or fair")
    eve.page.keyboard.press("Escape")
    expect(eve.page.locator(".marks")).to_be_empty()
    for key in ("Shift+Digit2", "Shift+Digit3", "Enter"):
        eve.page.keyboard.press(key)
    eve.page.wait_for_function(TURNED, arg=id)
    with server.client() as client:
        said = client.get("/api/item", params={"id": id}).json()["answers"]
        assert {one["who"]: one["label"] for one in said}["eve"] == {"one of": ["fair", "good"]}
    eve.close()


@pytest.mark.parametrize("served", ["several"], indirect=True)
def test_checked_classes_are_sent_by_enter_and_none_by_0(browser, served):
    _, server = served
    fay, id = visit(browser, server, "fay")
    checked = fay.page.locator(".control [aria-checked=true]")
    expect(checked).to_have_count(0)
    fay.page.keyboard.press("Enter")
    fay.hear("Choose some classes, or 0")
    fay.page.keyboard.press("1")
    fay.page.keyboard.press("2")
    expect(checked).to_have_count(2)
    fay.page.keyboard.press("0")
    fay.hear("Some classes are checked")
    fay.page.keyboard.press("1")
    expect(checked).to_have_count(1)
    fay.page.keyboard.press("Escape")
    expect(checked).to_have_count(0)
    assert fay.page.evaluate(SHOWN) == id
    fay.page.keyboard.press("0")
    fay.page.wait_for_function(TURNED, arg=id)
    expect(checked).to_have_count(0)
    with server.client() as client:
        said = client.get("/api/item", params={"id": id}).json()["answers"]
        assert {one["who"]: one["label"] for one in said}["fay"] == []
    fay.close()


@pytest.mark.long
@pytest.mark.parametrize(
    "names",
    [("billing", "login", "crash", "wish"), ("cardiology", "oncology", "neurology"), ("Administration", "Games")],
)
def test_the_names_beside_boxes_are_read_whole_on_every_screen(browser, tmp_path, names):
    source = Source(write_items(tmp_path / "items.csv"), features=["x"])
    Project.create(tmp_path / "items.ask", source, names, answers="several")
    with serving(tmp_path / "items.ask", "--port", "0") as server:
        ann = Person(browser, server)
        ann.see(".card .fresh")
        for width, height in ((320, 256), (390, 844), (640, 400), (1280, 800), (2560, 1440)):
            ann.page.set_viewport_size({"width": width, "height": height})
            assert ann.page.evaluate(CUT, ".answers") == [], width
            ann.page.evaluate("""() => import("/page/parts/item.js").then(({ openItem }) => openItem({ id: "n0" }))""")
            ann.see("dialog .class")
            assert ann.page.evaluate(CUT, "dialog") == [], width
            ann.page.keyboard.press("Escape")
        ann.close()
