"""Begin without a command line, in a real browser: from files to the first question."""

from __future__ import annotations

import csv
import io
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
import xlsxwriter
from PIL import Image
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
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


def use(page, column):
    """The list in the head of a column."""
    return page.get_by_label(f"What {column} is for", exact=True)


def test_a_table_is_chosen_its_heads_say_what_columns_are_for_and_the_first_question_comes(browser, tmp_path):
    news = write_news(tmp_path / "news.csv")
    with first_page(browser, tmp_path) as page:
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")  # the first thing that a keyboard reaches is the button for files
        chooser.value.set_files(news)
        expect(page.locator(".sample tbody tr")).to_have_count(10)
        expect(page.locator(".sample th .name")).to_have_text(["id", "title", "size", "kind"])
        expect(page.locator(".sample th .soft")).to_have_text(["short text", "text", "numbers", "short text"])
        expect(page.locator(".sample th.end")).to_have_text("End of table")
        expect(page.locator("main")).to_contain_text("The first 10 of 24 items")
        assert [use(page, name).input_value() for name in ("id", "title", "size")] == ["id", "compare", "show"]
        said = page.locator(".summary")
        expect(said).to_contain_text("Compared: title.")
        expect(said).to_contain_text("Not compared: id (name of the item), size (only shown), kind (")
        expect(said).to_contain_text("Items are called by id.")
        use(page, "title").focus()
        page.keyboard.press("ArrowDown")  # over the name of the item, which id has again when it is passed
        expect(said).to_contain_text("Items are called by title.")
        assert use(page, "id").input_value() == "show"
        expect(said).to_contain_text("Nothing is compared yet")
        page.keyboard.press("ArrowDown")
        expect(said).to_contain_text("Items are called by id.")
        use(page, "size").select_option("compare")
        expect(said).to_contain_text("Compared: size.")
        use(page, "title").select_option("compare")
        expect(said).to_contain_text("Compared: title, size.")
        use(page, "kind").select_option("label")
        page.get_by_label("Name of the project").fill("my news")
        page.get_by_label("Classes, separated by commas").fill("weather")
        begin(page)
        expect(page.locator(".classes .class")).to_have_count(3)
        expect(page.locator(".sum")).to_contain_text("2 of 24 items labeled")
    with Project.open(tmp_path / "my news.ask") as project:
        assert project.items.columns["text"] == ["title"]
        assert project.items.columns["features"] == ["size"]
        assert project.items.columns["id"] == "id"
    assert not list(tmp_path.glob(".askgraph-*"))  # what was sent is deleted


def test_what_cannot_be_read_says_so_and_another_file_can_be_dropped(browser, tmp_path):
    rows = "\n".join(f"{KINDS[k % 2]} {k},{k}" for k in range(12))
    with first_page(browser, tmp_path) as page:
        page.evaluate(DROP, [["run.exe", "x"]])
        expect(page.get_by_role("alert")).to_contain_text("run.exe")
        page.evaluate(DROP, [["a.csv", "x,y\n1,2"], ["b.csv", "x,y\n1,2"]])
        expect(page.get_by_role("alert")).to_contain_text("2 files")
        page.evaluate(DROP, [["notes.csv", f"note,size\n{rows}\n"]])
        use(page, "note").select_option("show")
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("alert")).to_contain_text("Nothing is compared yet")
        page.get_by_label("Name of the project").fill("notes I took")
        use(page, "size").select_option("compare")
        page.route("**/api/start/make", lambda route: route.fulfill(status=400, json={"error": "nothing came of it"}))
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("alert")).to_contain_text("Nothing came of it.")
        page.unroute("**/api/start/make")
        assert use(page, "size").input_value() == "compare"  # what was chosen stays
        expect(page.get_by_label("Name of the project")).to_have_value("notes I took")
        page.route("**/api/start/make", lambda route: route.abort())
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("alert")).to_contain_text("The server was stopped.")
        page.unroute("**/api/start/make")
        use(page, "note").select_option("compare")
        begin(page)


def test_the_next_day_a_project_is_gone_on_with_from_the_list_a_file_or_its_rows(browser, tmp_path):
    news, folder = write_news(tmp_path / "news.csv"), tmp_path / "here"
    folder.mkdir()
    Project.create(folder / "alt.ask", Source(news, id="id", text="title", label="kind"))
    (folder / "broken.ask").write_bytes(b"of another program" * 100)
    copy = Path(shutil.copy(folder / "alt.ask", tmp_path / "alt.ask"))
    with first_page(browser, folder) as page:
        rows = page.locator(".projects li")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("2 of 24 items labeled")
        expect(rows.last).to_contain_text("cannot be read as an askgraph project")
        expect(rows.last.get_by_role("button")).to_have_count(0)
        page.locator("input[type=file]").first.set_input_files(news)
        expect(page.locator("main")).to_contain_text("You have 2 labels in alt. Go on with it?")
        page.get_by_role("button", name="Make a new project").click()
        expect(use(page, "title")).to_be_visible()
        page.get_by_role("button", name="Drop something else").click()
        rows.first.get_by_role("button", name="Go on with alt").click()
        expect(page.locator(".card .fresh")).to_be_visible()
        expect(page.locator(".sum")).to_contain_text("2 of 24 items labeled")
        server = page.url
        with first_page(browser, folder) as other:  # a second start, while the project is open at the first
            expect(other.locator(".projects li").first).to_contain_text("open now")
            other.get_by_role("button", name="Go on with alt").click()
            expect(other.locator(".card .fresh")).to_be_visible()
            assert other.url.split("#")[0] == server.split("#")[0]
            assert "token" not in other.url
    with first_page(browser, folder) as page:
        page.locator("input[type=file]").first.set_input_files(copy)
        expect(page.locator(".sum")).to_contain_text("2 of 24 items labeled")
    assert sorted(path.name for path in folder.glob("*.ask")) == ["alt.ask", "broken.ask"]
    with news.open("a") as file:
        file.write(f"n24,{KINDS[0]} at last,24,\n")
    with first_page(browser, folder) as page:
        page.locator("input[type=file]").first.set_input_files(news)
        expect(page.locator("main")).to_contain_text("24 of 25 items are in alt.")
        page.get_by_role("button", name="add the new one").click()
        expect(page.locator(".sum")).to_contain_text("2 of 25 items labeled")


def write_book(path):
    """A workbook of three sheets, the second with a column that is half filled with few values."""
    with xlsxwriter.Workbook(path) as book:
        for name in ("Hinweise", "Pakete", "Rest"):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["code", "Beschreibung", "Größe", "Datum", "region"])
            for k in range(24):
                region = ("Nord", "Süd", "")[k % 3]
                sheet.write_row(k + 1, 0, [f"P{k}", f"{name}: {KINDS[k % 2]} {k}", k, f"2024-03-{k + 1:02}", region])
    return path


def test_sheets_encodings_offers_and_messages_in_german(browser, tmp_path):
    book = write_book(tmp_path / "pakete.xlsx")
    table = "Name;Beschreibung;Größe\n" + "".join(f"P{k};männlich, {KINDS[k % 2]} {k};{k},5\n" for k in range(20))
    (tmp_path / "alt.csv").write_bytes(table.encode("cp1252"))
    (tmp_path / "日本.csv").write_bytes(
        "本文,数\n".encode("shift_jis") + "春はあけぼの。やうやう白くなりゆく山ぎは,1\n".encode("shift_jis") * 9
    )
    (tmp_path / "meine leere.csv").write_bytes(b"")
    with first_page(browser, tmp_path, locale="de") as page:
        chosen = page.locator("input[type=file]").first
        chosen.set_input_files(tmp_path / "meine leere.csv")
        expect(page.get_by_role("alert")).to_have_text(
            "meine leere.csv: Die Datei ist leer; sie braucht mindestens eine Zeile."
        )
        chosen.set_input_files(tmp_path / "日本.csv")
        expect(page.get_by_role("alert")).to_contain_text("日本.csv, Zeile 1: Byte 0x96 ist kein Text in UTF-8")
        page.get_by_label("Lesen als").select_option("shift_jis")
        expect(page.locator(".sample td").first).to_contain_text("春はあけぼの")
        page.get_by_role("button", name="Etwas anderes ablegen").click()
        chosen.set_input_files(tmp_path / "alt.csv")
        expect(page.locator(".reading")).to_contain_text("Als Windows-Text gelesen: Größe, männlich")
        expect(page.locator(".sample tbody")).to_contain_text("männlich")
        page.get_by_label("Lesen als").focus()
        page.get_by_label("Lesen als").select_option("windows-1251")
        expect(page.locator(".sample tbody")).to_contain_text("mдnnlich")
        expect(page.get_by_label("Lesen als")).to_be_focused()
        page.get_by_label("Lesen als").select_option("utf-8")
        expect(page.get_by_role("alert")).to_contain_text("alt.csv, Zeile 1: Byte 0xf6 ist kein Text in")
        page.get_by_role("button", name="Etwas anderes ablegen").click()
        chosen.set_input_files(book)
        page.get_by_label("Blatt").select_option("Pakete")
        expect(page.locator(".sample tbody")).to_contain_text("Pakete: ")
        said = page.locator(".summary")
        expect(said).to_contain_text("Verglichen: Beschreibung.")
        expect(said).to_contain_text("Größe (nur gezeigt), Datum (Datumsangaben), region (siehe die Frage unten)")
        expect(said).to_contain_text("Einträge heißen nach code.")
        offer = page.locator(".offer")
        expect(offer).to_contain_text(
            "region hat 2 Werte und 8 leere Zellen. Sind das Zuordnungen, die Sie schon haben?"
        )
        offer.get_by_role("button", name="Ja, übernehmen").click()
        expect(offer).to_have_count(0)
        page.get_by_role("button", name="Beginnen").click()
        expect(page.locator(".sum")).to_contain_text("16 von 24 Einträgen zugeordnet")
        expect(page.locator(".card")).not_to_contain_text("Nord")
    with Project.open(tmp_path / "pakete.ask") as project:
        assert project.items.columns["id"] == "code"
        assert project.items.item(0).fields["Beschreibung"].startswith("Pakete: ")


SAID = (
    """async (said) => { const { translated } = await import("/page/lib/format.js"); return said.map(translated); }"""
)


def test_sentences_of_the_server_are_matched_by_what_does_not_vary(browser, tmp_path):
    with first_page(browser, tmp_path, locale="de") as page:
        assert page.evaluate(SAID, [
            "a, b: c.csv, line 3: 2 columns where line 1 has 1,234; fix the row",
            "x; y (z).ask: made by a newer askgraph (version 99 of the file, this program knows 6); upgrade with "
            "pip install -U askgraph; the file was left as it is",
            "t.csv, line 2: the id 'line {1}' is on line 1 already; give each item its own id",
            "p.ask: a server has it open at http://127.0.0.1:8765; use that, or stop it",
            "something that nobody foresaw",
            "comparing items",
        ]) == [
            "a, b: c.csv, Zeile 3: 2 Spalten, während Zeile 1 1.234 hat; berichtigen Sie die Zeile.",
            "x; y (z).ask: Mit einem neueren askgraph angelegt (Fassung 99 der Datei, dieses Programm kennt 6); erneuern Sie es "
            "mit pip install -U askgraph. Die Datei blieb, wie sie ist.",
            "t.csv, Zeile 2: Der Name 'line {1}' steht schon in Zeile 1; jeder Eintrag braucht seinen eigenen.",
            "p.ask: Ein Server hat es offen unter http://127.0.0.1:8765; gehen Sie dorthin, oder beenden Sie ihn.",
            "Something that nobody foresaw.",
            "Einträge werden verglichen.",
        ]  # fmt: skip


def test_a_wide_table_shows_fifty_columns_marks_its_end_and_is_scrolled_by_keys(browser, tmp_path):
    header = ",".join(f"gene{k}" for k in range(5000))
    lines = [",".join(str((k * j) % 7 + k / 9) for j in range(5000)) for k in range(1, 13)]
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join([header, *lines]))
    with first_page(browser, tmp_path) as page:
        page.locator("input[type=file]").first.set_input_files(wide)
        expect(page.locator(".sample th")).to_have_count(51)
        expect(page.locator(".sample th.end")).to_have_text("… 4,950 more columns")
        expect(page.locator(".summary")).to_contain_text("gene5 and 4,994 more.")
        frame = page.locator(".sample-frame")
        expect(frame).to_have_class(re.compile("more"))
        page.locator(".sample").focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        expect(frame).to_have_class(re.compile("before"))
        page.locator(".sample").evaluate("one => one.scrollTo(one.scrollWidth, one.scrollHeight)")
        expect(frame).not_to_have_class(re.compile("more"))
        box, head = page.locator(".sample").bounding_box(), page.locator(".sample th.end").bounding_box()
        assert abs(head["y"] - box["y"]) < 3  # the head stays in sight
        page.get_by_label("Compare by 4,950 more columns of numbers too").uncheck()
        expect(page.locator(".summary")).to_contain_text("Not compared: 4,950 more columns.")
        begin(page)
    with Project.open(tmp_path / "wide.ask") as project:
        assert project.items.columns["features"] == header.split(",")[:50]


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
