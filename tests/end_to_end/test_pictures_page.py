"""Pictures on the page: they are fetched before their card comes, and one that cannot be read says so."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from askgraph.web.demo import png
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.browsing import Person
from tests.helpers.serving import serving

pytestmark = [pytest.mark.browser, pytest.mark.server]
BROKEN = (3, 8, 13, 18)


def make_pictures(folder, n=24):
    """Write a project of dark and light pictures, some of which cannot be read."""
    images = Path(folder, "images")
    images.mkdir()
    table, path = Path(folder, "pictures.csv"), Path(folder, "pictures.ask")
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "image", "light"])
        for k in range(n):
            gray = png(np.full((9, 9), 10 * k))
            (images / f"{k}.png").write_bytes(gray[:40] if k in BROKEN else gray)
            rows.writerow([f"p{k}", f"{k}.png", 10 * k])
    Project.create(path, Source(table, features=["light"], image="image"), ["dark", "light"], images)
    return path


ASKED = "n => performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/api/ahead')).length > n"
SEEN = "() => { const image = document.querySelector('.card img'); return !image || image.complete && image.naturalWidth > 0; }"


def test_pictures_are_there_before_the_key_and_broken_ones_say_so(browser, tmp_path):
    early = []
    with serving(make_pictures(tmp_path)) as server:
        ann = Person(browser, server)
        for k in range(24):
            card = ann.ready()
            id = int(ann.see(".card h2").inner_text().removeprefix("p"))
            ann.page.wait_for_function(SEEN)
            expect(ann.see(".card .picture")).to_have_text("The image cannot be shown." if id in BROKEN else "Enlarge+")
            ann.page.wait_for_function(ASKED, arg=k)
            address = ann.page.evaluate("import('/page/lib/store.js').then(({ store }) => store.question.item.image)")
            answers = [place for place, url in enumerate(ann.fetched) if url.endswith("/api/answer")]
            late = sum(url.endswith(address) for url in ann.fetched[max(answers, default=0) :])
            assert late <= 1
            early.append(late == 0)
            ann.page.keyboard.press(ann.key_of("light" if id > 11 else "dark"))
            if k < 23:
                ann.turned(card)
        expect(ann.page.locator(".card")).to_contain_text("All done")
        ann.close()
    assert sum(early) > 6  # where the ranking takes long, a person is quicker than it


CLASSES = [f"Web and network {k}" for k in range(12)]
SHAPES = {
    "wide": (60, 150),
    "high": (150, 60),
    "square": (90, 90),
    "huge": (3000, 4000),
    "tiny": (9, 9),
    "row": (9, 300),
}
BOXES = """() => [".card", ".card img", ".card h2", ".classes"].map((name) => {
  const one = document.querySelector(name), { x, y, width, height } = one.getBoundingClientRect();
  return { x, y, width, height, over: one.scrollHeight - one.clientHeight, size: getComputedStyle(one).fontSize };
})"""


def draw(route):
    """Send the picture of the shape that is asked for."""
    height, width = SHAPES[Path(route.request.url).stem]
    body = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"><circle r="9"/></svg>'
    route.fulfill(body=body, content_type="image/svg+xml")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A server with pictures, for tests that label none."""
    with serving(make_pictures(tmp_path_factory.mktemp("pictures"))) as server:
        yield server


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "de"])
def test_pictures_fit_the_card_uncropped_with_their_name_small_below(browser, pictures, language):
    """Also the first one, below the welcome, with two and twelve classes, on a laptop and at 200 %."""
    ann = Person(browser, pictures, locale=language)
    ann.page.route("**/images/*.svg", draw)
    ann.see(".welcome")
    for width, height in ((1280, 800), (1280, 720), (640, 400), (390, 844)):
        ann.page.set_viewport_size({"width": width, "height": height})
        for name, (h, w) in SHAPES.items():
            item = {"id": f"{name}.svg", "image": f"/images/{name}.svg", "numbered": False}
            for count in (2, 12) if height >= 720 else (2,):
                ann.show(item, CLASSES[:count])
                card, image, caption, classes = ann.page.evaluate(BOXES)
                what = (width, height, name, count)
                assert card["over"] <= 1, what
                assert classes["over"] <= 1 or width == 390, what
                assert card["y"] <= image["y"], what
                assert image["y"] + image["height"] <= caption["y"] + 1, what
                assert caption["y"] + caption["height"] <= card["y"] + card["height"] <= classes["y"], what
                assert classes["y"] + classes["height"] <= height, what
                assert image["width"] / image["height"] == pytest.approx(w / h, rel=0.03), what
                assert image["width"] <= card["width"], what
                assert image["height"] <= max(h, 0.4 * height, 1) + 1, what
                assert caption["size"] == "13px", what
    ann.page.keyboard.press("+")
    ann.see("dialog[open] .enlarged")
    ann.close()
