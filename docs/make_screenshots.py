"""Look at the built site as readers do: every page at desktop and phone width, in light and dark.

    make docs && python docs/make_screenshots.py [FOLDER]

Says which pages are wider than the screen, have a table wider than the page of a desktop, print an error, or ask for anything
beyond the folder of the site, and which searches find another page first than the one that answers; writes pictures of some pages
to FOLDER, and without FOLDER those that the repository keeps: the front page and two more.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).resolve().parent
SITE = DOCS / "_build" / "html"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
KEPT = {
    "index": "site_front.png",
    "gallery/plot_papers": "site_tutorial.png",
    "api/askgraph.Learner": "site_reference.png",
}
LOOKED_AT = [
    *KEPT,
    "is_this_for_me",
    "gallery/index",
    "gallery/plot_samplers",
    "guide",
    "commands",
    "accuracy",
    "changelog",
    "howto/index",
    "benchmarks",
    "measured/every_graph",
    *(f"questions/{name}" for name in ("install", "think", "ask", "sure", "unequal", "copies", "label_spreading")),
]
SEARCHES = {  # what people look for -> the page that answers
    "install": "questions/install",
    "imbalanced": "questions/unequal",
    "rare": "questions/unequal",
    "duplicates": "questions/copies",
    "label errors": "howto/find_wrong_labels",
    "cross-validation": "questions/cross_validation",
    "LabelSpreading": "questions/label_spreading",
    "cite": "questions/cite",
}
WIDE = """  // of each table that is wider than the page: by how much, and its first words
[...document.querySelectorAll(".bd-article table")].filter((table) => table.scrollWidth > table.clientWidth + 1).map((table) =>
  `a table is ${table.scrollWidth - table.clientWidth} pixels wider than the page: ${table.innerText.trim().slice(0, 40)}`)
"""


def pages() -> list[str]:
    """Return all pages of the site, by their paths without the suffix."""
    return sorted(path.relative_to(SITE).with_suffix("").as_posix() for path in SITE.rglob("*.html"))


def opened(browser: Browser, size: str, theme: str) -> tuple[Page, list[str]]:
    """Return a page at a size and in a theme, and the list that its complaints go to."""
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on(
        "request",
        lambda sent: None if sent.url.startswith(("file:", "data:")) else complaints.append(f"asks for {sent.url}"),
    )
    return page, complaints


def complaints_of(browser: Browser, size: str, theme: str, folder: Path | None) -> Iterator[str]:
    """Open every page; yield what is wrong with each, and write pictures of some."""
    page, complaints = opened(browser, size, theme)
    for name in pages():
        complaints.clear()
        page.goto((SITE / f"{name}.html").as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        yield from (f"{name}, {size}, {theme}: {what}" for what in complaints)
        if wide > 0:
            yield f"{name}, {size}, {theme}: {wide} pixels wider than the screen"
        if (size, theme) == ("desktop", "light"):
            yield from (f"{name}: {what}" for what in page.evaluate(WIDE))
        if folder is not None and name in LOOKED_AT:
            page.screenshot(path=folder / f"{name.replace('/', '_')}-{size}-{theme}.png")
        if folder is None and name in KEPT and (size, theme) == ("desktop", "light"):
            page.screenshot(path=DOCS / KEPT[name])


def missed(browser: Browser) -> Iterator[str]:
    """Yield the searches that find another page first."""
    page, _ = opened(browser, "desktop", "light")
    for words, wanted in SEARCHES.items():
        page.goto(f"{(SITE / 'search.html').as_uri()}?{urlencode({'q': words})}")
        page.wait_for_selector("#search-results ul.search li a")
        page.wait_for_function(
            "document.querySelector('#search-results .search-summary')?.textContent.includes('found')"
        )
        found = page.evaluate("document.querySelector('#search-results ul.search li a').getAttribute('href')")
        if not found.startswith(f"{wanted}.html"):
            yield f'a search for "{words}" finds {found} first, not {wanted}'


def main() -> None:
    """Look at the site and exit with 1 if something is wrong."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        options = (
            {"executable_path": chromium}
            if (chromium := os.environ.get("CHROMIUM") or shutil.which("chromium"))
            else {}
        )
        browser = playwright.chromium.launch(**options)
        looks = [(size, theme) for size in SIZES for theme in ("light", "dark")]
        wrong = [what for look in looks for what in complaints_of(browser, *look, folder)]
        wrong += missed(browser)
        browser.close()
    print(
        "\n".join(wrong)
        or f"{len(pages())} pages, each in {len(looks)} looks: none too wide, no error, nothing fetched"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
