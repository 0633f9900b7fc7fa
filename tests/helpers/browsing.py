"""A real browser and the people at it, for tests of the page."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.helpers.needs import give_up
from tests.helpers.serving import HANGS, truth

PATIENCE = 1e3 * HANGS  # milliseconds
READY = """async () => { const { ready } = await import("/page/lib/session.js");
  while (!ready()) await new Promise(requestAnimationFrame); }"""
NOTICES = """addEventListener("DOMContentLoaded", () => {
  const line = document.getElementById("notices"), seen = window.seenNotices = [];
  const note = new MutationObserver(() => seen.push(line.textContent));
  if (line) note.observe(line, { childList: true, characterData: true, subtree: true });
});"""
HEARD = """words => { const at = seenNotices.findIndex(one => one.includes(words));
  return at >= 0 && seenNotices.splice(0, at + 1); }"""
SHOW = """async ({ item, names }) => {
  window.fetch = () => new Promise(() => {});  // what is shown stays
  const { store, update } = await import("/page/lib/store.js");
  const classes = names.map((name, k) => ({ name, key: "1234567890ab"[k], count: 0, reasons: [] }));
  const whole = { id: "835", title: "", name: null, numbered: true, image: null, fields: [], ...item };
  const question = { item: whole, opinions: 0, by: "influence", copies: 0, suggested: [], comments: [], marked: false };
  update({ state: { ...store.state, classes, undo: null }, question, turns: store.turns + 1, trail: [] });
  await document.querySelector(".card img")?.decode();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
AXE = Path(__file__).parents[2] / "tools" / "page" / "node_modules" / "axe-core" / "axe.min.js"
expect.set_options(timeout=PATIENCE)


def axe(page):
    """Load axe-core into a page, whose context must have ``bypass_csp``."""
    if not AXE.exists():
        give_up("AXE", "axe-core is not installed; make lint-page installs it")
    page.add_script_tag(path=AXE)


def serious(page):
    """What axe finds that keeps people out, and headings and landmarks out of order."""
    said = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{fault['id']}: {[node['html'][:90] for node in fault['nodes']][:3]}"
        for fault in said["violations"]
        if fault["impact"] in ("serious", "critical") or fault["id"] in ("heading-order", "region", "skip-link")
    ]


def draw_a_line(page):
    """Draw a line around the whole map, which selects what is in it."""
    page.keyboard.press("s")
    box = page.locator("canvas").bounding_box()
    x, y, w, h = box["x"] + 2, box["y"] + 2, box["width"] - 4, box["height"] - 4
    page.mouse.move(x + w / 2, y + h - 1)
    page.mouse.down()
    for corner in ((x, y + h), (x, y + h / 2), (x, y), (x + w / 2, y), (x + w, y), (x + w, y + h), (x + w / 2, y + h)):
        page.mouse.move(*corner)
    page.mouse.up()


class Person:
    """Somebody at a browser of their own, who remembers what they said."""

    def __init__(self, browser, server, who="ann", **options):
        self.who, self.said, self.wrong = who, [], []
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.add_init_script(NOTICES)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("console", self._hear)
        self.fetched = []
        self.page.on("request", lambda request: self.fetched.append(request.url))
        self.page.goto(f"{server.url}&who={who}")

    def _hear(self, message):
        if "Content Security Policy" in message.text:
            self.wrong.append(message.text)

    def see(self, selector):
        found = self.page.locator(selector)
        expect(found.first).to_be_visible()
        return found

    def hear(self, words):
        """Wait for a notice. It may be gone again: a busy machine looks too late at what stays for three seconds."""
        self.page.wait_for_function(HEARD, arg=words)

    def show(self, item, classes):
        """Put an item of any contents on the card, with these classes; the page asks the server for nothing from then on."""
        self.page.evaluate(SHOW, {"item": item, "names": list(classes)})

    @property
    def item(self):
        """The id of the item on the card."""
        return "n" + re.search(r"point (\d+)", self.see(".card .fresh").inner_text())[1]

    @property
    def finished(self):
        return self.page.locator(".card", has_text="All done").count() > 0

    def key_of(self, label):
        return self.page.locator(".classes .class", has_text=label).locator("kbd").inner_text()

    def press(self, key):
        """A key on the question that is shown: not before the page takes it, and the next card is waited for."""
        card = self.ready()
        self.page.keyboard.press(key)
        self.turned(card)

    def ready(self):
        """Wait until the card takes keys: not in the moment in which it comes."""
        card = self.see(".card .fresh").element_handle()
        self.page.evaluate(READY)
        return card

    def turned(self, card):
        new = "old => old !== document.querySelector('.fresh') && !document.querySelector('.card.sending')"
        self.page.wait_for_function(new, arg=card)

    def label(self, label=None):
        item = self.item
        label = label or truth(item)
        self.press(self.key_of(label))
        self.said.append(("label", item, label))
        return item

    def aside(self, kind, key):
        self.said.append((kind, self.item, None))
        self.press(key)

    def undo(self):
        self.press("Backspace")
        self.said.append(("undo", self.item, None))

    def go(self, view):
        key = {"question": "Escape", "table": "t", "map": "m", "progress": "p", "history": "h"}[view]
        self.page.evaluate("document.activeElement.blur()")
        self.page.keyboard.press(key)
        self.see(f"[data-view={view}]")

    def open_and_give(self, opener, label):
        """Another answer to any item, through its window."""
        opener.focus()
        self.page.keyboard.press("Enter")
        self.see("dialog[open]")
        item = self.page.locator("dialog").get_attribute("data-item")
        self.page.locator("dialog .class", has_text=label).focus()
        self.page.keyboard.press("Enter")
        self.said.append(("label", item, label))
        self.hear(f"Saved as {label}")
        return item

    def export(self, words):
        self.page.locator(".menu summary").first.click()
        with self.page.expect_download() as found:
            self.page.locator(".menu a", has_text=words).first.click()
        return found.value.path().read_text(encoding="utf-8-sig")

    def close(self):
        self.context.close()
        assert self.wrong == []
