"""From the files that people have to labels, and back the next day, by the page alone, on a desk and on a phone.

ASKGRAPH_PHOTOS=folder keeps a picture of each page.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import xlsxwriter
from PIL import Image, ImageDraw
from playwright.sync_api import expect

from askgraph.workbench.project import Project
from tests.helpers.browsing import PATIENCE, READY
from tests.helpers.serving import starting

pytestmark = [pytest.mark.browser, pytest.mark.server, pytest.mark.slow]
WIDTHS = [
    pytest.param({"width": 1280, "height": 800}, id="desk"),
    pytest.param({"width": 390, "height": 844}, id="phone", marks=pytest.mark.long),
]
TOPICS = {
    "Spiel": ["Ein Würfelspiel für zwei Spieler mit Bestenliste", "Rätsel lösen, bis die Zeit abläuft"],
    "Musik": ["Ein Abspielprogramm für Lieder, Hörbücher und Radio", "Noten setzen und Stücke für Klavier üben"],
}
NAMES = ["Anker", "Brücke", "Düne", "Echo", "Fjord", "Gämse", "Hügel", "Insel", "Jahr", "Kübel", "Löwe", "Möwe"]


def german_csv(folder):
    """A table as a German spreadsheet saves it: Windows text, semicolons, decimal commas."""
    lines = ["Name;Beschreibung;Größe (kB);Stand"]
    for k in range(24):
        topic = list(TOPICS)[k % 2]
        text = TOPICS[topic][k // 2 % 2]
        lines.append(f'{NAMES[k // 2]}{k % 2 + 1};"{text}, {k}. Fassung";{k * 37 + 12},5;{k % 28 + 1:02}.03.2024')
    (folder / "Pakete.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
    return folder / "Pakete.csv"


def workbook(folder):
    """A workbook of three sheets, with a column of labels that is half filled."""
    rng = np.random.default_rng(0)
    with xlsxwriter.Workbook(folder / "Befunde.xlsx") as book:
        book.add_worksheet("Lies mich").write_row(0, 0, ["Hinweis", "von"])
        sheet = book.add_worksheet("Befunde")
        book.add_worksheet("alt").write_row(0, 0, ["nichts"])
        sheet.write_row(0, 0, ["Nr", "Puls", "Fieber", "Befund"])
        for k in range(30):
            ill = k % 2
            values = [60 + 40 * ill + int(rng.integers(10)), round(36.5 + 2.5 * ill + k / 50, 2)]
            sheet.write_row(k + 1, 0, [f"B-{k + 1:03}", *values, ("gesund", "krank")[ill] if k < 15 else ""])
    return folder / "Befunde.xlsx"


def pictures(folder):
    """A folder of drawings: disks and squares."""
    made = folder / "Formen"
    made.mkdir()
    for k in range(16):
        picture = Image.new("RGB", (240, 180), "white")
        draw = ImageDraw.Draw(picture)
        where = (40 + 3 * k, 30, 150 + 3 * k, 140)
        color = (40 + 12 * k, 90, 200)
        draw.ellipse(where, fill=color) if k % 2 else draw.rectangle(where, fill=color)
        picture.save(made / f"form{k:02}.png")
    return made


@contextmanager
def morning(browser, folder, size):
    """The page that ``askgraph start`` opens in a folder."""
    with starting(folder) as (_, url):
        context = browser.new_context(viewport=size, locale="de-DE", has_touch=size["width"] < 500)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(url)
        expect(page.locator("h1")).to_be_visible()
        yield page
        context.close()


def photograph(page, name, size):
    """Hold that nothing lies beside the window, and keep a picture of it where that is asked for."""
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    if folder := os.environ.get("ASKGRAPH_PHOTOS"):
        page.screenshot(path=Path(folder, f"{name} {size['width']}.png"))


def label(page, name, before, count):
    """Answer some questions with one class, by its button."""
    for k in range(count):
        asked(page)
        page.locator(".classes .class", has_text=name).first.click()
        expect(page.locator(".sum")).to_contain_text(f"{before + k + 1} von ")


def asked(page):
    """Wait for a question that takes answers: not in the moment in which it comes."""
    expect(page.locator(".card .fresh")).to_be_visible()
    page.evaluate(READY)


def go_on(browser, here, size, name, given):
    """Come back the next day: the project is on the page, with its labels, and goes on."""
    with morning(browser, here, size) as page:
        row = page.locator(".projects li", has_text=name)
        expect(row).to_contain_text(f"{given} von ")
        photograph(page, f"{name}, next day", size)
        row.get_by_role("button").click()
        expect(page.locator(".card .fresh")).to_be_visible()
        expect(page.locator(".sum")).to_contain_text(f"{given} von ")
        label(page, page.locator(".classes .class .name").first.inner_text(), given, 1)


@pytest.mark.parametrize("size", WIDTHS)
def test_a_german_csv_in_windows_text_is_labeled_and_gone_on_with(browser, tmp_path, size):
    here, file = tmp_path / "here", german_csv(tmp_path)
    here.mkdir()
    with morning(browser, here, size) as page:
        page.locator("input[type=file]").first.set_input_files(file)
        expect(page.locator(".reading")).to_contain_text("Windows-Text gelesen: Größe, Würfelspiel")
        expect(page.locator(".summary")).to_contain_text("Verglichen: Beschreibung.")
        expect(page.locator(".summary")).to_contain_text("Größe (kB) (nur gezeigt), Stand (Datumsangaben)")
        expect(page.locator(".summary")).to_contain_text("Einträge heißen nach Name.")
        photograph(page, "Pakete, columns", size)
        page.get_by_label("Klassen, durch Kommas getrennt").fill("Spiel, Musik")
        page.get_by_role("button", name="Beginnen").click()
        asked(page)
        photograph(page, "Pakete, first question", size)
        label(page, "Musik", 0, 3)
        asked(page)
        photograph(page, "Pakete, labeled", size)
    go_on(browser, here, size, "Pakete", 3)
    with Project.open(here / "Pakete.ask") as project:
        assert (len(project.answers.labels), project.about["fields"]["Größe (kB)"]) == (4, "number")
        assert project.items.item(1).fields["Größe (kB)"] == "49.5"


@pytest.mark.parametrize("size", WIDTHS)
def test_a_sheet_of_a_workbook_with_labels_that_are_there_is_labeled_and_gone_on_with(browser, tmp_path, size):
    here, file = tmp_path / "here", workbook(tmp_path)
    here.mkdir()
    with morning(browser, here, size) as page:
        page.locator("input[type=file]").first.set_input_files(file)
        page.get_by_label("Blatt").select_option("Befunde")
        expect(page.locator(".offer")).to_contain_text("Befund hat 2 Werte und 15 leere Zellen.")
        photograph(page, "Befunde, columns", size)
        page.locator(".offer").get_by_role("button", name="Ja, übernehmen").click()
        expect(page.locator(".summary")).to_contain_text("Verglichen: Puls, Fieber.")
        page.get_by_role("button", name="Beginnen").click()
        expect(page.locator(".sum")).to_contain_text("15 von 30 Einträgen zugeordnet")
        expect(page.locator(".classes .class .name")).to_have_text(["gesund", "krank"])
        asked(page)
        photograph(page, "Befunde, first question", size)
        label(page, "krank", 15, 2)
        asked(page)
        photograph(page, "Befunde, labeled", size)
    go_on(browser, here, size, "Befunde", 17)


@pytest.mark.parametrize("size", WIDTHS)
def test_a_folder_of_pictures_is_labeled_and_gone_on_with(browser, tmp_path, size):
    here, folder = tmp_path / "here", pictures(tmp_path)
    here.mkdir()
    with morning(browser, here, size) as page:
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Ordner mit Bildern auswählen").click()
        chooser.value.set_files(folder)
        expect(page.locator(".sample canvas[width]").first).to_be_visible()
        page.get_by_label("Klassen, durch Kommas getrennt").fill("Scheibe, Quadrat")
        photograph(page, "Formen, pictures", size)
        page.get_by_role("button", name="Beginnen").click()
        picture = page.locator(".card img")
        expect(picture).to_be_visible()
        box, card = picture.bounding_box(), page.locator(".card").bounding_box()
        assert card["y"] <= box["y"]
        assert box["y"] + box["height"] <= card["y"] + card["height"] + 1
        asked(page)
        photograph(page, "Formen, first question", size)
        label(page, "Scheibe", 0, 3)
        asked(page)
        photograph(page, "Formen, labeled", size)
    go_on(browser, here, size, "Formen", 3)
