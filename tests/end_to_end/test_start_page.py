"""Begin without a command line, in a real browser: from files to the first question."""

from __future__ import annotations

import csv
import io
from contextlib import contextmanager

import pytest
from PIL import Image
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from tests.helpers.browsing import PATIENCE, axe, serious
from tests.helpers.serving import starting

pytestmark = [pytest.mark.browser, pytest.mark.server]
KINDS = ("shares of the bank fell at the market in London", "the team won the match with a late goal")
EVIL = '<img src=x onerror="window.__hit=1">'
DROP = """async (names) => {
  const data = new DataTransfer();
  for (const [name, text] of names) data.items.add(new File([text], name));
  document.querySelector("h1").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@contextmanager
def first_page(browser, folder, **options):
    """The page on which files are dropped, at a server of its own."""
    with starting(folder) as (_, url):
        context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
        context.set_default_timeout(PATIENCE)
        page, wrong = context.new_page(), []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(url)
        expect(page.locator("h1")).to_be_visible()
        yield page
        assert wrong == []
        assert page.evaluate("window.__hit") is None
        context.close()


def write_news(path):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "title", "size", "kind"])
        rows.writerows(
            [f"n{k}", f"{KINDS[k % 2]}, {k} {EVIL}", k, ("money", "sport", "")[min(k, 2)]] for k in range(24)
        )
    return path


def picture(color):
    file = io.BytesIO()
    Image.new("RGB", (16, 16), color).save(file, "PNG")
    return file.getvalue()


def begin(page):
    """Press Begin, and wait for the first question."""
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".card .fresh")).to_be_visible()


def test_a_table_is_chosen_its_columns_are_marked_and_the_first_question_comes(browser, tmp_path):
    news = write_news(tmp_path / "news.csv")
    with first_page(browser, tmp_path) as page:
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")  # the first thing that a keyboard reaches is the button for files
        chooser.value.set_files(news)
        expect(page.locator(".sample tbody tr")).to_have_count(10)
        expect(page.locator(".sample th")).to_have_text(["id", "title", "size", "kind"])
        expect(page.locator("main")).to_contain_text("The first 10 of 24 items")
        expect(page.get_by_role("checkbox", name="title")).to_be_checked()
        expect(page.get_by_role("checkbox", name="size")).not_to_be_checked()
        page.get_by_label("Name of the project").fill("my news")
        page.get_by_label("Column with labels").select_option("kind")
        page.get_by_label("Classes, separated by commas").fill("weather")
        begin(page)
        expect(page.locator(".classes .class")).to_have_count(3)
        expect(page.locator(".sum")).to_contain_text("2 of 24 items labeled")
    with Project.open(tmp_path / "my news.ask") as project:
        assert project.columns["text"] == ["title"]
        assert project.columns["id"] == "id"
    assert not list(tmp_path.glob(".askgraph-*"))  # what was sent is deleted


def test_what_cannot_be_read_says_so_and_another_file_can_be_dropped(browser, tmp_path):
    rows = "\n".join(f"{KINDS[k % 2]} {k},{k}" for k in range(12))
    with first_page(browser, tmp_path) as page:
        page.evaluate(DROP, [["run.exe", "x"]])
        expect(page.get_by_role("alert")).to_contain_text("run.exe")
        page.evaluate(DROP, [["a.csv", "x,y\n1,2"], ["b.csv", "x,y\n1,2"]])
        expect(page.get_by_role("alert")).to_contain_text("2 files")
        page.evaluate(DROP, [["notes.csv", f"note,size\n{rows}\n"]])
        page.get_by_role("checkbox", name="note").uncheck()
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("alert")).to_contain_text("Mark at least one column")
        page.get_by_label("Name of the project").fill("notes I took")
        page.get_by_label("Column that names each item").select_option("size")
        page.get_by_role("checkbox", name="size").check()
        page.route("**/api/start/make", lambda route: route.fulfill(status=400, json={"error": "nothing came of it"}))
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("alert")).to_contain_text("Nothing came of it.")
        page.unroute("**/api/start/make")
        expect(page.get_by_role("checkbox", name="size")).to_be_checked()  # what was chosen stays
        expect(page.get_by_label("Name of the project")).to_have_value("notes I took")
        page.get_by_role("checkbox", name="note").check()
        begin(page)


def test_a_folder_of_pictures_is_labeled(browser, tmp_path):
    photos = tmp_path / "photos"
    for k in range(9):
        folder = photos / ("cats", "dogs")[k % 2]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{k}.png").write_bytes(picture((25 * k, 90, 255 - 25 * k)))
    made = tmp_path / "made"
    made.mkdir()
    with first_page(browser, made) as page:
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="folder of pictures").click()
        chooser.value.set_files(photos)
        expect(page.locator(".sample canvas[width]")).to_have_count(9)  # they are seen before anything is chosen
        expect(page.get_by_label("Name of the project")).to_have_value("photos")
        page.get_by_label("Classes, separated by commas").fill("cat, dog")
        begin(page)
        expect(page.locator(".card img")).to_be_visible()
    assert len(list((made / "photos").rglob("*.png"))) == 9


def test_an_edge_list_is_labeled(browser, tmp_path):
    edges = tmp_path / "links.csv"
    edges.write_text("source,target\n" + "".join(f"a{k},a{(k + 1) % 14}\n" for k in range(14)))
    with first_page(browser, tmp_path) as page:
        page.locator("input[type=file]").first.set_input_files(edges)
        expect(page.locator("h1")).to_contain_text("A list of links")
        expect(page.locator(".sample tbody tr")).to_have_count(10)
        begin(page)
        expect(page.locator(".card h2")).to_contain_text("a")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(browser, tmp_path, scheme, language):
    news = write_news(tmp_path / "news.csv")
    with first_page(browser, tmp_path, color_scheme=scheme, locale=language, bypass_csp=True) as page:
        axe(page)
        faults = [serious(page)]
        page.locator("input[type=file]").first.set_input_files(news)
        expect(page.locator(".sample tbody tr")).to_have_count(10)
        faults.append(serious(page))
        assert faults == [[], []]
        for width in (390, 320):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
