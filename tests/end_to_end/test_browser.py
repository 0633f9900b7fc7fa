"""A real browser on a real server: people label by keyboard, and nothing is lost, doubled or run."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Error, expect

from askgraph.web.demo import png
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.browsing import Person
from tests.helpers.serving import answer, make_project, serving, truth

pytestmark = [pytest.mark.browser, pytest.mark.server]
EVIL = """"'><img src=x onerror="window.__hit=1;alert(1)"><script>window.__hit=1</script>{{7*7}}"""


@pytest.fixture(scope="module")
def labeled(tmp_path_factory):
    """A server with some labels, for tests that give none."""
    with serving(make_project(tmp_path_factory.mktemp("labeled"))) as server:
        seed(server)
        yield server


def logged(path, who):
    with Project.open(path) as project:
        ids = project.store.ids()
        return [(a.kind, ids[a.item], a.label) for a in project.answers.log.values() if a.who == who]


def test_enter_accepts_what_a_model_suggests(browser, tmp_path):
    """The card says who suggests what; a focused button still gets its own Enter, and other keys give other labels."""
    path = make_project(tmp_path, n=12)
    guesses = tmp_path / "guesses.csv"
    with guesses.open("w", newline="") as file:
        rows = [[f"n{k}", truth(f"n{k}"), 0.9, EVIL] for k in range(12)]
        csv.writer(file).writerows([["item", "label", "score", "source"], *rows])
    with Project.open(path, write=True) as project:
        project.suggest(guesses)
    with serving(path, "--port", "0") as server:
        ann = Person(browser, server)
        first = ann.item
        expect(ann.page.locator(".suggested")).to_contain_text(f"{EVIL} (90% sure)")
        ann.press("Enter")
        second = ann.item
        other = next(name for name in ("east", "west", "north") if name != truth(second))
        ann.press(ann.key_of(other))
        ann.close()
    assert logged(path, "ann") == [("label", first, truth(first)), ("label", second, other)]


def test_two_people_label_everything_by_keyboard(browser, tmp_path):
    """From the first question to the export; with undo, a reload, the server killed and the network gone in between."""
    path = make_project(tmp_path, n=24)
    with serving(path, "--port", "0") as server:
        ann = Person(browser, server)
        first = ann.label()
        assert ann.page.url == f"{server.base}/"
        ann.undo()
        assert ann.item == first
        ann.label("west" if truth(first) != "west" else "east")
        relabel_through_history(ann, first)
        three_ways_to_set_aside(ann)
        south = a_new_class(ann)
        reload_in_the_middle(ann)
        bob = Person(browser, server, "bob")
        together(ann, bob)
        killed_and_started_again(ann, server)
        offline_for_a_moment(ann)
        to_the_end(ann, bob)
        rows = {row["id"]: row for row in csv.DictReader(ann.export("CSV, for").splitlines())}
        answers = list(csv.DictReader(ann.export("Only what people said").splitlines()))
        for person in (ann, bob):
            person.close()
    assert logged(path, "ann") == ann.said
    assert logged(path, "bob") == bob.said
    aside = {item: kind for kind, item, _ in ann.said if kind in ("cannot", "invalid")}
    assert {item: row["aside"] for item, row in rows.items() if row["aside"]} == aside
    expected = {item: truth(item) for item in rows} | {south: "south"}
    assert {item: row["label"] for item, row in rows.items() if item not in aside} == {
        item: label for item, label in expected.items() if item not in aside
    }
    predicted = {item for item, row in rows.items() if row["source"] == "predicted"}
    assert predicted == {item for item, kind in aside.items() if kind == "cannot"}  # no valid item, no prediction
    assert {row["id"] for row in answers} == set(rows)


def relabel_through_history(ann, first):
    card = ann.item
    ann.go("history")
    changed = ann.open_and_give(ann.see(".history .row").first, truth(first))
    assert changed == first
    expect(ann.page.locator(".history li.past")).to_have_count(3)
    ann.go("question")
    assert ann.item == card


def three_ways_to_set_aside(ann):
    for kind, key in (("later", "s"), ("cannot", "c"), ("invalid", "x")):
        ann.aside(kind, key)


def a_new_class(ann):
    item, card = ann.item, ann.ready()
    ann.page.keyboard.press("n")
    ann.page.keyboard.type("south")
    ann.page.keyboard.press("Enter")
    ann.turned(card)
    ann.said.append(("label", item, "south"))
    assert ann.key_of("south") == "4"
    return item


def reload_in_the_middle(ann):
    ann.label()
    ann.page.reload()
    ann.see(".card .fresh")
    expect(ann.page.locator(".trail .mark")).to_have_count(6)
    expect(ann.page.locator(".sum")).to_contain_text("3 of 24 items labeled")
    ann.label()


def together(ann, bob):
    assert ann.item != bob.item
    bob.label()
    expect(ann.page.locator(".sum")).to_contain_text("5 of 24 items labeled")
    expect(ann.page.locator("#people")).to_contain_text("with bob")
    assert ann.item != bob.item
    ann.label()


def killed_and_started_again(ann, server):
    item, card = ann.item, ann.ready()
    server.kill()
    ann.page.keyboard.press(ann.key_of(truth(item)))
    ann.said.append(("label", item, truth(item)))
    ann.hear("Not saved yet: the server cannot be reached")
    server.start(server.port)
    ann.turned(card)
    expect(ann.page.locator(".notice.wrong")).to_have_count(0)
    ann.label()


def offline_for_a_moment(ann):
    item, card = ann.item, ann.ready()
    ann.context.set_offline(True)
    ann.page.keyboard.press(ann.key_of(truth(item)))
    ann.said.append(("label", item, truth(item)))
    ann.hear("Your answer is kept and sent again")
    ann.context.set_offline(False)
    ann.turned(card)
    ann.label()


def to_the_end(*people):
    """Each labels what there is; who waits for the other one's item waits."""
    while not all(person.finished for person in people):
        for person in people:
            person.page.wait_for_selector(".card .fresh, .card .empty")
            if person.page.locator(".card .fresh").count():
                person.label()


def test_every_view_answers(browser, tmp_path):
    path = make_project(tmp_path, n=60)
    with serving(path) as server:
        seed(server)
        ann = Person(browser, server)
        card = ann.item
        why_this_one(ann)
        progress(ann)
        suspects(ann)
        confirmed = search_and_confirm(ann)
        a_point_of_the_map(ann)
        ann.go("question")
        assert (ann.item == card) == (card not in confirmed)
        ann.close()
    assert logged(path, "ann") == ann.said


def seed(server):
    """Labels of bob, one of them wrong, and the picture that comes of them."""
    with server.client() as client:
        for k in range(14):
            answer(client, f"n{k}", truth(f"n{k}"), "bob")
        answer(client, "n14", "north", "bob")


def why_this_one(ann):
    ann.page.keyboard.press("w")
    panel = ann.see(".why")
    expect(panel).to_contain_text("What it looks like now")
    expect(panel).to_contain_text("Similar items you have labeled")
    assert ann.see(".node").count() > 5
    ann.page.locator(".node.center").hover()
    expect(panel.locator(".caption")).to_contain_text(f"point {ann.item[1:]} of the sample ·")
    ann.page.keyboard.press("w")
    expect(panel).to_be_hidden()


def progress(ann):
    ann.go("progress")
    expect(ann.see("h1")).to_have_text(
        re.compile(r"(You can stop: about \d+ % right|By now about \d+ % of the predictions are right)")
    )
    ann.page.get_by_role("button", name="80 % right").click()
    expect(ann.see("h1")).to_have_text(
        re.compile(r"You can stop: about \d+ % right, at least \d+ % \(from the model, 15 labels")
    )
    expect(ann.see(".page")).to_contain_text("15 of 60 items labeled")
    assert ann.see(".bars.wide li").count() == 3


def suspects(ann):
    ann.go("table")
    folded = ann.see(".suspicion")
    expect(folded).to_contain_text("1 label is worth a second look")
    expect(ann.page.locator(".suspects li")).to_be_hidden()
    folded.locator("summary").click()
    row = ann.see(".suspects li")
    expect(row).to_contain_text("point 14 of the sample")
    row.locator("button", has_text="Change").click()
    ann.see("dialog[open]")
    ann.page.keyboard.press(ann.page.locator("dialog .class", has_text=truth("n14")).locator("kbd").inner_text())
    ann.said.append(("label", "n14", truth("n14")))
    ann.hear(f"Saved as {truth('n14')}")
    expect(folded).to_be_hidden()


def search_and_confirm(ann):
    ann.page.keyboard.press("/")
    ann.page.keyboard.type("point 5")
    rows = ann.page.locator(".items tbody tr")
    expect(rows).to_have_count(11)  # 5 and 50 to 59
    expect(ann.page.locator("th[aria-sort=ascending]")).to_contain_text("How sure")
    ann.page.locator(".filters select").nth(1).select_option("predicted")
    expect(rows).to_have_count(10)
    held = ann.page.locator(".items tbody input")
    held.nth(0).click()
    held.nth(3).click(modifiers=["Shift"])
    ids = rows.locator("td.id").all_inner_texts()[:4]
    labels = rows.locator("td.label").all_inner_texts()[:4]
    expect(ann.page.locator(".selection")).to_contain_text("4 selected")
    ann.page.locator(".selection .primary").click()
    expect(ann.see(".as-predicted")).to_contain_text(re.compile(r"4 items, about \d+ % right: answer all\?"))
    ann.page.locator(".as-predicted button").last.click()
    ann.hear("4 predictions confirmed")
    expect(rows).to_have_count(6)
    ann.said += [("label", item, label) for item, label in zip(ids, labels, strict=True)]
    return ids


def a_point_of_the_map(ann):
    ann.go("map")
    ann.see(".legend li")
    canvas = ann.page.locator("canvas")
    where = "async () => new Float32Array(await (await fetch('/api/map/layout')).arrayBuffer())[0]"
    x0 = ann.page.evaluate(where)
    y0 = ann.page.evaluate(where.replace("[0]", "[1]"))
    box = canvas.bounding_box()
    unit = min(box["width"], box["height"]) * 0.92
    ann.page.mouse.click(
        box["x"] + box["width"] / 2 + (x0 - 0.5) * unit, box["y"] + box["height"] / 2 + (y0 - 0.5) * unit
    )
    expect(ann.see(".peek")).to_contain_text("of the sample")
    ann.page.locator(".peek button").click()
    expect(ann.see("dialog[open]")).to_contain_text("Your answer")
    ann.page.keyboard.press("Escape")
    expect(ann.page.locator("dialog")).to_have_count(0)


def test_dropped_and_repeated_requests_store_each_label_once(browser, tmp_path):
    """Promise 10."""
    path, dice, met = make_project(tmp_path, n=40), random.Random(3), []

    def meddle(route):
        what = dice.choices(("fine", "lost", "reply lost", "twice"), (70, 10, 10, 10))[0]
        met.append(what)
        try:
            if what in ("reply lost", "twice"):
                replies = [route.fetch() for _ in range(1 if what == "reply lost" else 2)]
            if what in ("lost", "reply lost"):
                route.abort()
            elif what == "twice":
                route.fulfill(response=replies[-1])
            else:
                route.continue_()
        except Error:  # the page is closed
            return

    with serving(path) as server:
        ann = Person(browser, server)
        ann.see(".card .fresh")
        ann.page.route(re.compile("/api/(answer|undo|question)"), meddle)
        for _ in range(18):
            ann.label()
        ann.undo()
        ann.label()
        ann.page.unroute_all(behavior="wait")
        ann.close()
    assert set(met) == {"fine", "lost", "reply lost", "twice"}
    assert logged(path, "ann") == ann.said


def evil_project(folder):
    """Payloads as id, name of a field, field, class, label, image and project."""
    images = Path(folder, "images")
    images.mkdir()
    picture = "<img src=x onerror=alert(1)>.png"
    (images / picture).write_bytes(png(np.zeros((2, 2))))
    (images / "run.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    table = Path(folder, "evil.csv")
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "image", "label", f"text {EVIL}", "link", "x"])
        for k in range(12):
            link = ("https://evil.example/a.png", "javascript:alert(1)", "<a href='http://evil.example'>x</a>")[k % 3]
            label = f"{EVIL}{k % 2}" if k < 4 else ""
            rows.writerow([f"{k}{EVIL}", (picture, "run.svg")[k % 2], label, f"{EVIL} of item {k}", link, k])
    path = Path(folder, "<img src=x onerror=alert(1)>.ask")
    source = Source(table, features=["x"], image="image", label="label")
    Project.create(path, source, [EVIL, "javascript:alert(1)"], images, overlap=2)
    return path


def test_no_payload_runs(browser, tmp_path):
    """Promise 22."""
    with serving(evil_project(tmp_path)) as server:
        with server.client() as client:
            for who, label in ((f"bob {EVIL}", EVIL), ("eve", "javascript:alert(1)")):
                answer(client, f"5{EVIL}", label, who)
        ann = Person(browser, server)
        ann.page.locator(".me").click()
        ann.page.locator("#who").fill(EVIL[:60])
        ann.page.keyboard.press("Enter")
        expect(ann.page.locator(".me")).to_have_text(EVIL[:60])
        expect(ann.see(".card .fresh")).to_contain_text("onerror")
        label_with_payloads(ann)
        for view in ("table", "map", "progress", "history", "question"):
            ann.go(view)
            walk[view](ann.page)
        assert ann.page.evaluate("window.__hit") is None
        assert all(url.startswith(server.base) for url in ann.fetched)
        ann.close()


def label_with_payloads(ann):
    card = ann.ready()
    ann.page.keyboard.press("n")
    ann.page.keyboard.type(f"new {EVIL}")
    ann.page.keyboard.press("Enter")
    ann.turned(card)
    ann.press("1")
    ann.press("2")
    ann.page.keyboard.press("w")
    ann.see(".node")
    ann.page.locator(".picture").click()
    expect(ann.page.locator("dialog[open]")).to_contain_text("onerror")
    ann.page.keyboard.press("Escape")
    ann.page.keyboard.press("?")
    expect(ann.page.locator("dialog[open]")).to_contain_text("onerror")
    ann.page.keyboard.press("Escape")


def walk_table(page):
    expect(page.locator(".items tbody tr")).to_have_count(12)
    page.locator(".items .row").first.click()
    expect(page.locator("dialog[open]")).to_contain_text("onerror")
    page.keyboard.press("Escape")
    page.locator(".items thead input").check()
    expect(page.locator(".selection")).to_contain_text("12 selected")
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_contain_text("onerror")
    page.keyboard.press("Escape")


def walk_map(page):
    expect(page.locator(".legend")).to_contain_text("onerror")
    page.locator("canvas").hover()


def walk_progress(page):
    expect(page.locator(".page")).to_contain_text("People disagree on these")


def walk_history(page):
    expect(page.locator(".history .row").first).to_contain_text("onerror")
    page.locator(".history .row").first.click()
    expect(page.locator("dialog[open]")).to_contain_text("onerror")
    page.keyboard.press("Escape")


def walk_question(page):
    links = page.eval_on_selector_all("a", "all => all.map(a => a.getAttribute('href'))")
    assert all(link.startswith(("#", "/")) for link in links)


walk = {name: globals()[f"walk_{name}"] for name in ("table", "map", "progress", "history", "question")}

NAMELESS = """() => [...document.querySelectorAll("a, button, input, select, summary, canvas, img, [role=button]")]
  .filter(one => one.checkVisibility())
  .filter(one => !(one.getAttribute("aria-label") || one.textContent.trim() || one.alt || one.labels?.[0]?.textContent.trim()))
  .map(one => one.outerHTML.slice(0, 120))"""
UNSEEN = """() => { const one = document.activeElement, style = getComputedStyle(one), reach = one.querySelector(".reach");
  if (one === document.body || style.outlineStyle !== "none") return null;
  return reach && getComputedStyle(reach).stroke !== "none" ? null : one.outerHTML.slice(0, 120); }"""


def test_everything_has_a_name_and_a_place(browser, labeled):
    ann = Person(browser, labeled)
    ann.see(".card .fresh")
    ann.page.keyboard.press("w")
    ann.see(".node")
    landmark = {"table": ".items tbody tr", "map": ".legend li", "progress": ".panel", "history": ".row"}
    for view in ("question", *landmark):
        ann.go(view)
        ann.see(landmark.get(view, ".card .fresh"))
        assert ann.page.evaluate(NAMELESS) == []
        for selector in ("body > header", "nav[aria-label]", "main", "main h1"):
            assert ann.page.locator(selector).count() == 1, (view, selector)
        assert ann.page.locator("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").count() == 0
        focus_is_seen(ann.page)
    ann.close()


def focus_is_seen(page):
    for _ in range(25):
        page.keyboard.press("Tab")
        assert page.evaluate(UNSEEN) is None


def test_two_servers_on_one_machine_keep_their_pages(browser, labeled, tmp_path):
    """A browser gives the cookies of one port to all others."""
    with serving(make_project(tmp_path, n=9), "--port", "0") as second:
        ann = Person(browser, labeled)
        ann.see(".card .fresh")
        other = ann.context.new_page()
        other.goto(second.url)
        enter_name(other)
        ann.page.reload()
        ann.see(".card .fresh")
        ann.close()


def enter_name(page, who="dora"):
    """Who has no name yet is asked for it, and then for the first item."""
    page.get_by_label("Your answers are saved under this name.").fill(who)
    page.keyboard.press("Enter")
    expect(page.locator(".card .fresh")).to_be_visible()
    expect(page.locator(".me")).to_have_text(who)


def test_a_link_from_another_site_opens_the_page(browser, labeled):
    page = browser.new_page()
    page.goto(f"data:text/html,<a href='{labeled.url}'>askgraph</a>")
    page.get_by_text("askgraph").click()
    enter_name(page)
    page.close()


def test_a_password_opens_the_page(browser, tmp_path):
    options = ("--host", "0.0.0.0", "--port", "0")
    with serving(make_project(tmp_path, n=9), *options, env={"ASKGRAPH_PASSWORD": "sesame"}) as server:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/")
        for guess in ("guess", "sesame"):
            page.get_by_label("Password").fill(guess)
            page.keyboard.press("Enter")
            if guess == "guess":
                expect(page.get_by_text("That is not the password.")).to_be_visible()
        enter_name(page)
        assert server.url == f"{server.base}/"
        page.close()


SHAPE = """async () => {
  const shape = (one) => typeof one === "object"
    ? Object.fromEntries(Object.entries(one).map(([key, value]) => [key, shape(value)])) : typeof one;
  const all = await Promise.all(["en", "de"].map((name) => import(`/page/words/${name}.js`)));
  return all.map((words) => shape(words.default)); }"""


def test_the_page_speaks_the_language_of_the_browser(browser, labeled):
    """The translation has the same words; the browser's language decides, or the choice in the help."""
    ann = Person(browser, labeled, locale="de-AT")
    english, german = ann.page.evaluate(SHAPE)
    assert (
        english.pop("server").keys() <= german.pop("server").keys()
    )  # most of what the server says is English already
    assert english == german
    expect(ann.page.locator("html")).to_have_attribute("lang", "de")
    expect(ann.see(".sum")).to_contain_text("15 von 60 Einträgen zugeordnet")
    ann.page.keyboard.press("?")
    ann.page.get_by_role("button", name="English").click()
    expect(ann.see(".sum")).to_contain_text("15 of 60 items labeled")
    ann.close()
