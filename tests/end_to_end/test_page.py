"""The page as people see it: on a phone, enlarged, by keyboard alone and read aloud. Servers are shared by all tests here."""

from __future__ import annotations

import csv
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

import askgraph
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.browsing import Person, axe, draw_a_line, serious
from tests.helpers.serving import HANGS, ask, serving

pytestmark = [pytest.mark.browser, pytest.mark.server]
CLASSES = ["Administration", "Development", "Games", "Libraries", "Science", "Web and network"]
LONG = "This sentence is one of many in a long description of the package. "
VIEWS = {
    "question": ".card .fresh", "table": ".items tbody tr", "map": ".legend li", "progress": ".panel",
    "groups": ".groups .soft", "review": ".review .card .fresh", "guidelines": ".class-list li", "history": ".row"
}  # fmt: skip
PHONE, TWICE, FOURFOLD = ({"width": w, "height": h} for w, h in ((390, 844), (720, 450), (360, 225)))
OUTSIDE = """selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility()).map(one => {
  const box = one.getBoundingClientRect();
  return [one.textContent.slice(0, 20), box.left, box.right, box.top + scrollY, box.bottom + scrollY];
}).filter(([, left, right, top, bottom]) =>
  left < 0 || right > innerWidth + 0.5 || top < 0 || bottom > document.body.scrollHeight + 1)"""
CUT = """inside => [...document.querySelectorAll(`${inside} .class .name`)].filter(one => {
  const line = document.createRange();
  line.selectNodeContents(one);
  return one.scrollWidth > one.clientWidth || line.getClientRects().length > 1;
}).map(one => one.textContent)"""
IN_SIGHT = """() => { const box = document.querySelector(".frame").getBoundingClientRect();
  return Math.min(innerHeight, box.bottom) - Math.max(0, box.top); }"""


def write_packages(path):
    """Items of three kinds with long and short descriptions, ids of eight letters and more columns of numbers than fit a card."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["package", "description", *(f"p{k}" for k in range(20))])
        for k in range(36):
            numbers = [k % 3 * 5 + ((k * j) % 37) / 53 for j in range(20)]
            text = f"Tools &amp; games no {k}, made for #39;six#39; classes. " + LONG * (12 if k % 2 else 1)
            rows.writerow([f"lib-{k:04d}", text, *numbers])


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A server with six classes, and five answers of ann."""
    folder = tmp_path_factory.mktemp("packages")
    write_packages(folder / "packages.csv")
    features = [f"p{k}" for k in range(20)]
    source = Source(folder / "packages.csv", id="package", features=features)
    Project.create(folder / "packages.ask", source, CLASSES)
    with serving(folder / "packages.ask", "--port", "0") as server, server.client() as client:
        ask(client)
        for k in range(8):
            body = {"key": f"answer-{k}", "who": "ann", "item": f"lib-{k:04d}", "kind": "label", "seconds": 2.0}
            client.post("/api/answer", json={**body, "label": CLASSES[k % 3]}).raise_for_status()
        yield server


def visit(browser, server, view="question", **options):
    ann = Person(browser, server, **options)
    ann.see(VIEWS["question"])
    if view != "question":
        ann.page.evaluate(f"location.hash = '{view}'")
        ann.see(VIEWS[view])
    return ann


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(PHONE, id="phone"),
        pytest.param(TWICE, id="200 %", marks=pytest.mark.long),
        pytest.param(FOURFOLD, id="400 %", marks=pytest.mark.long),
    ],
)
def test_everything_on_the_card_fits(browser, packages, size):
    """T6, T7: nothing is wider than the window, all classes and Undo can be reached, and the text of the item is seen."""
    ann = visit(browser, packages, viewport=size)
    for view in VIEWS:
        ann.page.evaluate(f"location.hash = '{view}'")
        ann.see(VIEWS[view])
        assert ann.page.evaluate("document.documentElement.scrollWidth") <= size["width"], view
    ann.go("question")
    ann.see(VIEWS["question"])
    assert ann.page.evaluate(OUTSIDE, ".class, .others button, .frame, .help, .me") == []
    if size is TWICE:
        ann.page.locator(".opener").click()
    buttons = ann.page.locator(".answers .class, .answers .others button:not(.noting)")
    assert buttons.count() == 12
    for k in range(12):
        buttons.nth(k).scroll_into_view_if_needed()
        expect(buttons.nth(k)).to_be_in_viewport(ratio=0.99)
    ann.page.keyboard.press("Escape")
    ann.page.locator(".passage p").first.scroll_into_view_if_needed()
    assert ann.page.evaluate(IN_SIGHT) >= (60 if size is FOURFOLD else 110)
    if size is not FOURFOLD:
        ann.page.evaluate("scrollTo(0, 0)")
        assert ann.page.evaluate("innerHeight >= document.documentElement.scrollHeight - 1")  # answers and item at once
    ann.close()


def test_six_classes_stand_in_two_rows_of_three_under_the_card(browser, packages):
    ann = visit(browser, packages)
    boxes = [box.bounding_box() for box in ann.page.locator(".answers .class").all()]
    rows = sorted({round(box["y"]) for box in boxes})
    assert [sum(round(box["y"]) == y for box in boxes) for y in rows] == [3, 3]
    frame = ann.page.locator(".frame").bounding_box()
    assert 0 < boxes[0]["y"] - frame["y"] - frame["height"] < 30
    ann.close()


@pytest.mark.long
@pytest.mark.parametrize(
    "names", [("cat", "hen", "cow", "dog"), ("cardiology", "oncology", "neurology"), tuple("0123456789")]
)
def test_the_names_of_classes_are_read_whole_on_every_screen(browser, tmp_path, names):
    """On the card and in the window of an item, also where two or three buttons stand beside each other."""
    write_packages(tmp_path / "packages.csv")
    Project.create(tmp_path / "p.ask", Source(tmp_path / "packages.csv", id="package", features=["p0", "p1"]), names)
    with serving(tmp_path / "p.ask", "--port", "0") as server:
        ann = visit(browser, server)
        ann.press("1")
        for width, height in ((320, 256), (390, 844), (640, 400), (1280, 800), (2560, 1440)):
            ann.page.set_viewport_size({"width": width, "height": height})
            assert ann.page.evaluate(CUT, ".answers") == []
            ann.page.evaluate("location.hash = 'history'")
            ann.see(VIEWS["history"]).first.click()
            ann.see("dialog[open]")
            assert ann.page.evaluate(CUT, "dialog") == []
            ann.page.keyboard.press("Escape")
            ann.page.evaluate("location.hash = 'question'")
            ann.see(VIEWS["question"])
        ann.close()


def test_the_card_has_a_title_paragraphs_and_no_column_of_features(browser, packages):
    """T3, T18: the id is the title where nothing else names items; entities are read; twenty compared numbers are not shown."""
    ann = visit(browser, packages)
    ann.page.evaluate("location.hash = 'table'")
    search = ann.see(".filters input[type=search]")
    search.fill("no 9,")
    expect(ann.page.locator(".items tbody tr")).to_have_count(1)
    ann.page.locator(".items .row").click()
    expect(ann.see("dialog[open] h2")).to_have_text("lib-0009")
    assert ann.page.locator("dialog .passage p").count() > 1
    expect(ann.page.locator("dialog .passage")).to_contain_text("Tools & games no 9, made for 'six' classes.")
    assert ann.page.locator("dialog .facts").count() == 0
    ann.close()


def test_long_texts_fade_until_their_end(browser, packages):
    ann = visit(browser, packages, viewport=TWICE)
    expect(ann.page.locator(".frame")).to_have_class(re.compile("more"))
    ann.page.locator(".card").evaluate("card => card.scrollTo(0, card.scrollHeight)")
    expect(ann.page.locator(".frame")).not_to_have_class(re.compile("more"))
    ann.close()


def test_keys_of_classes_answer_in_the_window_too(browser, packages):
    """T13; and History's and the table's Change mean the same (T5)."""
    ann = visit(browser, packages, "history")
    first = ann.page.locator(".history .row").first
    was = first.locator(".tag").inner_text()
    first.click()
    ann.see("dialog[open]")
    ann.page.keyboard.press("5")
    ann.hear("Saved as Science")
    first.click()
    ann.see("dialog[open]")
    ann.page.keyboard.press(str(CLASSES.index(was) + 1))
    ann.hear(f"Saved as {was}")
    ann.close()


def test_ones_own_name_stays_when_others_come(browser, packages):
    """T19, at 720 px with three people."""
    with packages.client() as client:
        for who in ("bartholomew", "clementine"):
            client.get("/api/state", params={"who": who}).raise_for_status()
    ann = visit(browser, packages, viewport=TWICE)
    expect(ann.page.locator("#people")).to_contain_text(re.compile("bartholomew|2"))
    name = ann.page.locator(".me bdi")
    assert name.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    expect(name).to_be_in_viewport(ratio=0.99)
    ann.close()


def test_who_is_new_is_welcomed_in_a_line_until_the_first_answer(browser, packages):
    eve = Person(browser, packages, "eve")
    strip = eve.see(".welcome")
    assert strip.bounding_box()["height"] < 50
    strip.locator("button").first.click()
    expect(eve.see("dialog[open] .prose li")).to_have_count(3)
    eve.page.keyboard.press("Escape")
    eve.press("2")
    expect(strip).to_be_hidden()
    eve.press("Backspace")
    expect(strip).to_be_visible()
    strip.locator("button").last.click()
    expect(strip).to_be_hidden()
    eve.page.reload()
    eve.see(VIEWS["question"])
    expect(strip).to_be_hidden()
    eve.close()


def field(name, value, kind="text"):
    return {"name": name, "value": value, "kind": kind}


FEW_LINES = "The parcel came late, and one corner was torn open. Nobody has answered my letter so far. " * 3
TEXT = [field("text", FEW_LINES)]
TEXT_AND_ID = [field("doc", "D02556"), field("text", FEW_LINES * 4)]
ROW = [
    *(field(name, "Oranjestad") for name in ("capital", "port", "region")),
    *(field(n, "12.5", "number") for n in "abc"),
]
TWELVE = [*CLASSES, "Databases", "Electronics", "Fonts", "Documentation", "Amateur radio", "Interpreters"]
NOT_WHOLE = """() => {
  const over = [...document.querySelectorAll(".card, .classes")].filter((one) => one.scrollHeight > one.clientHeight + 1);
  const parts = document.querySelectorAll(".card *, .answers button, .welcome");
  const outside = [...parts].filter((one) => one.checkVisibility()).filter((one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect();
    return top < 0 || left < 0 || bottom > innerHeight + 0.5 || right > innerWidth + 0.5;
  });
  return [...over, ...outside].map((one) => `${one.tagName} ${one.className} ${one.textContent}`);
}"""
LINES = """() => {
  const text = document.createRange(), { bottom } = document.querySelector(".card").getBoundingClientRect();
  text.selectNodeContents(document.querySelector(".passage p"));
  const seen = [...text.getClientRects()].filter((line) => line.bottom <= bottom + 0.5);
  return new Set(seen.map((line) => Math.round(line.top))).size;
}"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_first_card_is_whole(browser, packages, language):
    """At 1280 x 800 and on a laptop, with the welcome above it: nothing of the item and of the answers is out of sight."""
    eve = Person(browser, packages, "eve", locale=language)
    eve.see(".welcome")
    for size in ({"width": 1280, "height": 800}, {"width": 1280, "height": 720}):
        eve.page.set_viewport_size(size)
        for item in ({"fields": TEXT}, {"fields": ROW, "name": "Aruba"}):
            for names in (CLASSES[:2], CLASSES, TWELVE):
                eve.show(item, names)
                assert eve.page.evaluate(NOT_WHOLE) == [], (size, len(names))
    eve.close()


@pytest.mark.parametrize("language", ["en", "de"])
def test_five_lines_are_read_at_200_percent_and_the_smaller_buttons_are_in_a_menu(browser, packages, language):
    eve = Person(browser, packages, "eve", locale=language, viewport={"width": 640, "height": 400})
    eve.see(".welcome")
    page, menu = eve.page, eve.page.locator(".answers .others")
    eve.show({"name": "A parcel", "fields": [TEXT_AND_ID[1]]}, CLASSES)
    assert page.evaluate(LINES) >= 5
    expect(menu).to_be_hidden()
    page.locator(".opener").focus()
    page.keyboard.press("Enter")
    expect(menu.locator("button").first).to_be_focused()
    for button in menu.locator("button").all():
        expect(button).to_be_in_viewport(ratio=0.99)
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(page.locator(".opener")).to_be_focused()
    page.locator(".opener").click()
    menu.locator("button").nth(3).click()
    expect(menu).to_be_hidden()
    expect(page.locator(".new-class input")).to_be_focused()
    page.keyboard.press("Escape")
    page.locator(".welcome button").last.click()
    eve.show({"name": "A parcel", "fields": TEXT_AND_ID}, CLASSES)
    assert page.evaluate(LINES) >= 5
    eve.close()


def test_short_fields_take_a_line_each_and_numbers_of_rows_are_not_shown(browser, packages):
    eve = Person(browser, packages, "eve")
    eve.see(VIEWS["question"])
    for numbered in (True, False):
        item = {"name": "A parcel", "numbered": numbered, "fields": TEXT_AND_ID}
        eve.show(item, CLASSES)
        expect(eve.page.locator(".naming")).to_have_text("A parcel" if numbered else "A parcel835")
    label, value = (eve.page.locator(f".facts {part}").bounding_box() for part in ("dt", "dd"))
    assert label["x"] + label["width"] < value["x"]
    assert abs(label["y"] + label["height"] / 2 - value["y"] - value["height"] / 2) < 6
    assert eve.page.locator(".passage").count() == 1
    eve.close()


@pytest.mark.parametrize("width", [390, pytest.param(320, marks=pytest.mark.long)])
def test_the_german_page_is_as_wide_as_a_phone_and_help_language_and_name_are_there(browser, packages, width):
    phone = {"viewport": {"width": width, "height": 844}, "locale": "de", "is_mobile": True, "has_touch": True}
    ann = visit(browser, packages, **phone)
    for view in VIEWS:
        ann.page.evaluate(f"location.hash = '{view}'")
        ann.see(VIEWS[view])
        assert ann.page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width], view
        for button in (".me", ".help"):
            expect(ann.page.locator(button)).to_be_in_viewport(ratio=0.99)
    ann.page.locator(".me").tap()
    expect(ann.see("dialog[open] #who")).to_have_value("ann")
    ann.page.locator("dialog .close").tap()
    ann.page.locator(".help").tap()
    ann.see("dialog[open] .language [lang=en]").tap()
    expect(ann.page.locator("#views a").first).to_have_text("Question")
    ann.close()


NEAR = """async (cases) => {
  const { nearest } = await import("/page/lib/near.js");
  return cases.map(([typed, names]) => nearest(typed, names));
}"""


def test_a_name_is_near_where_a_slip_of_the_keyboard_makes_one_of_the_other(browser, packages):
    names = ["Americas", "Asia", "class 1", "Web and network", "cat", "relevant", "Sports", "Sport"]
    found = {
        "Amerikas": "Americas", "americas": "Americas", "Ame ricas": "Americas", "Amreicas": "Americas",
        "Webb and netwrok": "Web and network",
        "CAT": "cat", "asia": "Asia", "Spotrs": "Sports", "Class1": "class 1",
        "Americas": None, "Africa": None, "class 2": None, "class 11": None, "car": None, "irrelevant": None,
        "not relevant": None, "Games": None, "new Web and network": None,
    }  # fmt: skip
    ann = visit(browser, packages)
    assert ann.page.evaluate(NEAR, [[typed, names] for typed in found]) == list(found.values())
    ann.close()


def test_a_new_class_that_is_close_to_another_is_asked_about_before_it_is_made(browser, tmp_path):
    """On the card, in the window of an item and among the classes; Enter takes the one that is there, Escape goes back."""
    write_packages(tmp_path / "packages.csv")
    Project.create(tmp_path / "p.ask", Source(tmp_path / "packages.csv", id="package", features=["p0"]), ["Americas"])
    with serving(tmp_path / "p.ask", "--port", "0") as server, server.client() as client:

        def classes():
            return {one["name"]: one["count"] for one in client.get("/api/classes").json()["classes"]}

        ann = visit(browser, server)
        page, asked = ann.page, ann.page.locator("dialog[open]", has_text="Did you mean Americas?")
        card = ann.ready()
        page.keyboard.press("n")
        page.keyboard.type("Amerikas")
        page.keyboard.press("Enter")
        expect(asked).to_be_visible()
        page.keyboard.press("1")  # the key of a class is not meant for what is below
        page.keyboard.press("Escape")
        expect(page.locator(".answers .new-class input")).to_be_focused()
        expect(page.locator(".answers .new-class input")).to_have_value("Amerikas")
        assert classes() == {"Americas": 0}
        page.keyboard.press("Enter")
        expect(asked).to_be_visible()
        page.keyboard.press("Enter")
        ann.turned(card)
        assert classes() == {"Americas": 1}
        ann.go("history")
        ann.see(VIEWS["history"]).first.click()
        page.locator("dialog .others button", has_text="New class").click()
        page.keyboard.type("americas ")
        page.keyboard.press("Enter")
        asked.locator("button", has_text="New class americas").click()
        ann.hear("Saved as americas")
        assert classes() == {"Americas": 0, "americas": 1}
        page.evaluate("location.hash = 'guidelines'")
        ann.see(VIEWS["guidelines"])
        page.locator("form input").fill("Amerika s")
        page.keyboard.press("Enter")
        page.locator("dialog[open] .button").click()
        expect(page.locator(".class-list li")).to_have_count(3)
        page.locator("form input").fill("Europe")
        page.keyboard.press("Enter")
        expect(page.locator(".class-list li")).to_have_count(4)
        ann.close()
        assert set(classes()) == {"Americas", "americas", "Amerika s", "Europe"}


def test_the_skip_link_leads_to_the_content(browser, packages):
    ann = visit(browser, packages, "table")
    ann.page.locator("#skip").focus()
    ann.page.keyboard.press("Enter")
    assert ann.page.evaluate("document.activeElement.id") == "main"
    expect(ann.page.locator("[data-view=table]")).to_be_visible()
    ann.close()


def test_the_map_finds_selects_and_labels(browser, packages):
    """Search and doubt dim the rest; a line around all items selects those that are looked for; the table shows the same."""
    ann = visit(browser, packages, "map")
    before = lit(ann.page)
    ann.page.get_by_label("Find on the map").fill("no 1")
    ann.page.wait_for_function("before => !document.querySelector('canvas').toDataURL().startsWith(before)", arg=before)
    draw_around_everything(ann.page, "11 items selected")  # 1 and 10 to 19
    ann.page.get_by_label("Find on the map").fill("")
    ann.page.locator(".peek button", has_text="Show in the table").click()
    rows = ann.page.locator(".items tbody tr")
    expect(rows).to_have_count(36)
    expect(ann.see(".filters .button")).to_contain_text("Selected on the map")
    ann.page.locator(".filters .button").click()
    expect(ann.page.locator(".filters .button")).to_be_hidden()
    ann.page.evaluate("location.hash = 'map'")
    ann.see(VIEWS["map"])
    ann.page.get_by_label("Find on the map").fill("no 35,")
    draw_around_everything(ann.page, "1 item selected")
    ann.page.locator(".peek .primary").click()
    ann.see("dialog .class").nth(CLASSES.index("Games")).click()
    ann.hear("1 item labeled Games")
    with packages.client() as client:
        assert client.get("/api/item", params={"id": "lib-0035"}).json()["label"] == "Games"
        assert client.get("/api/items", params={"inside": "0,0,1,0,1,1,"}).status_code == 200
        assert client.get("/api/items", params={"inside": "0,0,1,0,x,1"}).status_code == 422
        edition = client.get("/api/map").json()["edition"]
        sent = {"key": "a-key-of-its-own", "who": "ann", "places": [99], "label": "Games", "edition": edition}
        assert client.post("/api/confirm/places", json=sent).status_code == 404
        assert client.post("/api/confirm/places", json={**sent, "edition": "of other items"}).status_code == 422
    ann.close()


def lit(page):
    return page.evaluate("document.querySelector('canvas').toDataURL()")


def draw_around_everything(page, said):
    """Draw a line around everything, again until this is said of the selection: the search may still be under way."""
    end = time.monotonic() + HANGS
    page.evaluate("document.activeElement.blur()")
    draw_a_line(page)
    while said not in page.locator(".peek").inner_text():
        assert time.monotonic() < end, page.locator(".peek").inner_text()
        draw_a_line(page)


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "de")])
def test_axe_finds_nothing_serious(browser, packages, scheme, language):
    """T15: every view and the windows, light and dark, in both languages (no color depends on the language)."""
    options = {"color_scheme": scheme, "locale": language, "reduced_motion": "reduce", "bypass_csp": True}
    ann = visit(browser, packages, **options)
    assert ann.page.evaluate("document.documentElement.lang") == language
    axe(ann.page)
    found = {}
    for view, landmark in VIEWS.items():
        ann.page.evaluate(f"location.hash = '{view}'")
        ann.see(landmark)
        found[view] = serious(ann.page)
    ann.page.locator(".history .row").first.click()
    ann.see("dialog[open]")
    found["item"] = serious(ann.page)
    ann.page.keyboard.press("Escape")
    ann.page.keyboard.press("?")
    ann.see("dialog[open]")
    found["help"] = serious(ann.page)
    ann.page.keyboard.press("Escape")
    ann.page.evaluate("location.hash = 'table'")
    ann.see(".items thead input").check()
    ann.page.keyboard.press("Enter")
    ann.see("dialog .as-predicted")
    found["many"] = serious(ann.page)
    ann.page.keyboard.press("Escape")
    ann.page.keyboard.press("w")
    ann.see(".why")
    found["why"] = serious(ann.page)
    ann.page.evaluate("location.hash = 'progress'")
    ann.see(".seek button").click()
    ann.see("dialog .class").first.click()
    expect(ann.page.locator(".seek .tag")).to_have_text(CLASSES[0])
    ann.page.evaluate("location.hash = 'question'")
    ann.see(".seeking")
    found["search"] = serious(ann.page)
    ann.page.locator(".seeking button").click()
    expect(ann.page.locator(".seeking")).to_be_hidden()
    assert {view: faults for view, faults in found.items() if faults} == {}
    ann.page.keyboard.press("w")
    ann.close()


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_that_breathes_can_be_read_at_its_palest(theme):
    """T14: what is said while something is computed has a contrast of 4.5 throughout."""
    style = (Path(askgraph.__file__).parent / "web" / "page" / "style.css").read_text()
    soft, ground = (re.findall(rf"--{name}: (#\w+);", style)[theme] for name in ("soft", "ground"))
    palest = float(re.search(r"@keyframes breathe . 50% . opacity: ([.\d]+);", style)[1])
    seen = [palest * a + (1 - palest) * b for a, b in zip(channels(soft), channels(ground), strict=True)]
    bright, dim = sorted((luminance(seen), luminance(channels(ground))), reverse=True)
    assert (bright + 0.05) / (dim + 0.05) >= 4.5


def channels(color):
    return [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
