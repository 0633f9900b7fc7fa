"""What people see before they confirm: words that make texts alike, classes nobody has seen, keys that came too early."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.browsing import Person, axe, serious
from tests.helpers.serving import answer, ask, serving, until

pytestmark = [pytest.mark.browser, pytest.mark.server]
SUBJECTS = {
    "mail": "A server that delivers letters to mailboxes over imap, with filters",
    "games": "A puzzle with marbles on a board, for two players",
}
FLASHED = """() => { window.flashed = []; new MutationObserver((all) => {
  for (const { target } of all) if (target.classList.contains("swallowed")) flashed.push(getComputedStyle(target));
}).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["class"] }); }"""


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    """Sixty notes of two subjects; nothing is labeled with the third class."""
    folder = tmp_path_factory.mktemp("notes")
    lines = ["name,note", *(f'note-{k},"{list(SUBJECTS.values())[k % 2]}. Number {k}."' for k in range(60))]
    (folder / "notes.csv").write_text("\n".join(lines))
    Project.create(folder / "notes.ask", Source(folder / "notes.csv", text=["note"]), [*SUBJECTS, "web"])
    with serving(folder / "notes.ask") as server, server.client() as client:
        ask(client)
        for k in range(12):
            answer(client, f"note-{k}", list(SUBJECTS)[k % 2])
        until(client, "/api/progress", lambda said: said.get("labels") == 12 and not said["lag"])
        yield server


def visit(browser, server, view, **options):
    ann = Person(browser, server, bypass_csp=True, **options)
    ann.see(".card .fresh")
    ann.page.evaluate(f"location.hash = '{view}'")
    return ann


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
def test_groups_and_table_show_texts_with_the_words_that_make_them_alike(browser, notes, language):
    """W6: a note is not confirmed by its name alone."""
    ann = visit(browser, notes, "groups", locale=language)
    page = ann.page
    tile = ann.see(".tile").first
    expect(tile.locator(".title")).to_have_text(re.compile(r"^note-\d+$"))
    words = {word.lower() for word in tile.locator(".about b").all_inner_texts()}
    assert {"server", "mailboxes", "imap"} <= words or {"puzzle", "marbles", "players"} <= words
    assert not words & {"number", "with"}
    axe(page)
    assert serious(page) == []
    name = tile.locator(".title").inner_text()
    tile.hover()
    page.locator(".look").first.click()
    expect(ann.see("dialog h2")).to_have_text(name)
    expect(page.locator("dialog .passage p")).to_contain_text("Number")
    assert serious(page) == []
    page.keyboard.press("Space")
    expect(page.locator("dialog")).to_have_count(0)

    page.keyboard.press("t")
    about = ann.see(".items tbody .about")
    expect(about.first).to_contain_text(re.compile("server that delivers|puzzle with marbles"))
    assert about.locator("b").count() > 60
    page.keyboard.press("/")
    page.keyboard.type("Board, for tw")
    expect(page.locator(".items .about b").first).to_have_text("board, for tw")
    assert {one.lower() for one in page.locator(".items .about b").all_inner_texts()} == {"board, for tw"}
    page.locator(".filters input[type=search]").fill("(imap [")  # no pattern, but what was typed
    expect(page.locator(".items .empty")).to_be_visible()
    page.locator(".filters input[type=search]").fill("")
    page.locator(".items tbody .row").first.focus()
    page.keyboard.press("Space")
    expect(ann.see("dialog .passage p")).to_contain_text("Number")
    ann.close()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_key_that_comes_too_early_flashes_and_saves_nothing(browser, notes, motion):
    """W24: the guard against double keys says that it swallowed one; nothing moves for whoever wants no motion."""
    ann = visit(browser, notes, "question", reduced_motion=motion)
    page = ann.page
    page.route("**/api/answer", lambda route: route.abort())
    page.evaluate(FLASHED)
    page.evaluate("""async () => { const { hidden } = await import("/page/lib/session.js"); hidden(); }""")
    page.keyboard.press("1")
    page.wait_for_function("flashed.length > 0")
    assert page.evaluate("flashed[0].animationName") == ("none" if motion == "reduce" else "refuse")
    expect(page.locator("#aloud")).to_have_text("Too early: not taken.")
    page.wait_for_function("!document.querySelector('.swallowed')")
    still = "(one) => getComputedStyle(one).transitionDuration.split(', ').every((time) => time === '0s')"
    assert page.locator(".classes .class").first.evaluate(still) == (motion == "reduce")
    with notes.client() as client:
        assert client.get("/api/state?who=ann").json()["labels"] == 12
    ann.close()


def test_progress_says_how_good_it_is_first_names_classes_nobody_has_seen_and_has_exports_in_three_groups(
    browser, notes
):
    """W23, and what is exported where one is done."""
    ann = visit(browser, notes, "progress")
    page = ann.page
    expect(ann.see(".lead-in h1")).to_contain_text(re.compile(r"about \d+ % .*right"))
    groups = page.locator(".exports section")
    expect(groups.locator("h3")).to_have_text(["My table", "Other tools", "Report"])
    expect(groups.locator(".soft")).to_have_count(3)
    with page.expect_download() as found:
        groups.first.locator("a", has_text="CSV, for a spreadsheet").click()
    assert "note-0" in found.value.path().read_text(encoding="utf-8-sig")
    axe(page)
    assert serious(page) == []
    expect(page.locator(".unseen li")).to_have_count(1)
    expect(page.locator(".unseen li")).to_contain_text("No item of web is labeled yet")
    page.locator(".unseen button").click()
    expect(ann.see("dialog h2")).to_have_text("Look for web")
    assert serious(page) == []
    page.keyboard.press("Enter")  # nothing is described yet
    expect(page.locator("dialog")).to_be_visible()
    page.keyboard.type("board")
    page.keyboard.press("Enter")
    ann.hear("Finding all of web")
    expect(ann.see(".seeking")).to_contain_text("Those most like “board” come first")
    page.locator(".seeking button").click()
    expect(page.locator(".seeking")).to_be_hidden()
    ann.close()


def test_a_drag_with_shift_selects_on_the_map_and_a_press_with_shift_does_not(browser, notes):
    ann = visit(browser, notes, "map")
    page = ann.page
    ann.see(".legend li")
    box = page.locator("canvas").bounding_box()
    x, y, w, h = (box[side] for side in ("x", "y", "width", "height"))
    lasso = page.get_by_role("button", name="Select")
    page.keyboard.down("Shift")
    page.mouse.click(x + w / 2, y + h - 3)
    expect(lasso).to_have_attribute("aria-pressed", "false")
    page.mouse.move(x + w / 2, y + h - 2)
    page.mouse.down()
    expect(lasso).to_have_attribute("aria-pressed", "true")
    for corner in (
        (x + 2, y + h - 2),
        (x + 2, y + 2),
        (x + w - 2, y + 2),
        (x + w - 2, y + h - 2),
        (x + w / 2, y + h - 2),
    ):
        page.mouse.move(*corner)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page.locator(".peek .title")).to_have_text("60 items selected")
    expect(lasso).to_have_attribute("aria-pressed", "false")
    ann.close()
