"""How quick the page is in a real browser without a graphics card: python benchmarks/page.py [--part keys|map]

keys: milliseconds from the press of a key until the next question is painted (with its picture), over 100 answers of a person
who thinks for half a second, for texts, for a table of 784 columns and for pictures, and for texts with every other kind of
answers: several classes and numbers are sent with Enter, which is the key that counts. The 150 ms for which a new card takes no
answer are not counted: keys are pressed after them.

map: frames per second while 100,000 points are dragged and magnified, each frame asked for when the last one is done
(requestAnimationFrame), in a window of 1280 × 800, and the milliseconds that drawing one takes.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from measure import machine
from playwright.sync_api import Browser, Page, sync_playwright
from screenshots import FLAGS, abstracts, digit_project, serving

from askgraph.workbench.project import Project
from askgraph.workbench.source import Source

THINKING = 500  # milliseconds
POINTS, FRAMES = 100_000, 200
READY = """async () => { const { ready } = await import("/page/lib/session.js");
  while (!ready()) await new Promise(requestAnimationFrame); }"""
WATCH = """() => {
  window.times = [];
  let pressed = null;
  let last = document.querySelector(".card .fresh");
  addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
  new MutationObserver(async () => {
    const fresh = document.querySelector(".card .fresh");
    if (!fresh || fresh === last || pressed === null) return;
    const start = pressed;
    [last, pressed] = [fresh, null];
    await fresh.querySelector("img")?.decode().catch(() => {});
    requestAnimationFrame(() => {
      const painted = new MessageChannel();
      painted.port1.onmessage = () => window.times.push(performance.now() - start);
      painted.port2.postMessage(0);
    });
  }).observe(document.querySelector(".card"), { childList: true, subtree: true });
}"""
MOVE = """async ([n, frames]) => {
  const { painter } = await import("/page/parts/paint.js");
  const canvas = document.createElement("canvas");
  canvas.style.cssText = "position: fixed; inset: 52px 0 0; width: 100%; height: calc(100% - 52px); z-index: 9";
  document.body.append(canvas);
  const places = new Float32Array(2 * n);
  const states = new Uint8Array(4 * n);
  for (let i = 0; i < n; i += 1) {
    const [a, r] = [2 * Math.PI * (i % 9) / 9, Math.sqrt(-2 * Math.log(1 - Math.random()))];
    const b = 2 * Math.PI * Math.random();
    places[2 * i] = 0.5 + 0.33 * Math.cos(a) + 0.05 * r * Math.cos(b);
    places[2 * i + 1] = 0.5 + 0.33 * Math.sin(a) + 0.05 * r * Math.sin(b);
    states.set([i % 9, 0, 255 * Math.random(), i % 1000 ? 0 : 1], 4 * i);
  }
  const paint = painter(canvas);
  const colors = ["#0045b2", "#a33505", "#007850", "#b4568f", "#aa8900", "#3d8fe7", "#5f1d00", "#3a3b42", "#1d6a6a"];
  const looks = colors.map((color, i) => ({ color, shape: i % 8 }));
  const regions = Array.from({ length: 14 }, (_, i) => ({ x: (i % 4) / 4, y: i / 14, items: 9, name: `some, words ${i}` }));
  paint.points(places);
  paint.marks(states, looks, { none: "#808080", ink: "#1d1d20", ground: "#f6f5f2" });
  const drawn = [];
  const begun = performance.now();
  for (let k = 0; k < frames; k += 1) {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    const turn = (2 * Math.PI * k) / frames;
    const eye = { x: 0.5 + 0.2 * Math.cos(turn), y: 0.5 + 0.2 * Math.sin(turn), scale: 1.6 - 0.6 * Math.cos(turn) };
    paint.draw(eye, -1, true, { regions, line: [], panels: [] });
    drawn.push(performance.now() - start);
  }
  const seconds = (performance.now() - begun) / 1000;
  canvas.remove();
  return { frames: frames / seconds, drawn };
}"""
Said = str | float | list[str]
Made = tuple[Path, dict[str, Said]]


def texts(folder: Path) -> Made:
    truth = abstracts(folder / "abstracts.csv", 600)
    Project.create(folder / "p.ask", Source(folder / "abstracts.csv"), sorted(set(truth.values())))
    return folder / "p.ask", dict(truth)


def texts_with(kind: str, said: Callable[[int, int], Said]) -> Callable[[Path], Made]:
    """Return a maker of texts with another kind of answers, which follow from the number of a text and that of its class."""

    def make(folder: Path) -> Made:
        truth = abstracts(folder / "abstracts.csv", 600)
        named = sorted(set(truth.values()))
        classes = [] if kind == "numbers" else [f"step {k}" for k in range(4)] if kind == "ordered" else named
        Project.create(folder / "p.ask", Source(folder / "abstracts.csv"), classes, answers=kind)
        answers = {id: said(k, named.index(name)) for k, (id, name) in enumerate(truth.items())}
        return folder / "p.ask", {
            id: [named[c] for c in one] if isinstance(one, list) else one for id, one in answers.items()
        }

    return make


def numbers(folder: Path) -> Made:
    """Write a table of 784 columns: digits of 8 × 8 pixels, drawn with 28 × 28."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    at = np.arange(28) * 8 // 28
    pixels = digits.images[:1000][:, at][:, :, at].reshape(1000, -1).astype(int)
    with (folder / "pixels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[f"p{k}" for k in range(784)], *pixels.tolist()])
    Project.create(folder / "p.ask", Source(folder / "pixels.csv"), [str(k) for k in range(10)])
    return folder / "p.ask", {str(k + 1): str(digit) for k, digit in enumerate(digits.target[:1000])}


PROJECTS: dict[str, Callable[[Path], Made]] = {
    "texts": texts, "a table of 784 columns": numbers, "pictures": digit_project,
    "texts, several classes": texts_with("several", lambda k, c: sorted({c, 0} if k % 2 else {c})),
    "texts, steps": texts_with("ordered", lambda k, c: f"step {(c + k % 2) % 4}"),
    "texts, numbers": texts_with("numbers", lambda k, c: float(10 * c + k % 7)),
}  # fmt: skip


def pressed(said: Said, of: dict[str, str]) -> list[str]:
    """Return the keys of an answer; ``of`` are those of the classes."""
    if isinstance(said, float):
        return [*f"{said:g}", "Enter"]
    return [of[said]] if isinstance(said, str) else [*(of[name] for name in said), "Enter"]


def keys(page: Page, truth: dict[str, Said], answers: int) -> list[float]:
    """Return the milliseconds from each key to the next question."""
    page.wait_for_selector(".card .fresh")
    page.evaluate(WATCH)
    shown = "import('/page/lib/store.js').then(({ store }) => [store.question.item.id, store.state.classes])"
    for k in range(answers):
        page.evaluate(READY)
        page.wait_for_timeout(THINKING)
        id, classes = page.evaluate(shown)
        for key in pressed(truth[id], {one["name"]: one["key"] for one in classes}):
            page.keyboard.press(key)
        page.wait_for_function("k => window.times.length > k", arg=k)
    found: list[float] = page.evaluate("window.times")
    return found


def measure_keys(browser: Browser, answers: int, names: list[str]) -> None:
    print("| key to next question painted, milliseconds | median | p95 | longest |\n|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            path, truth = PROJECTS[name](Path(folder))
            with serving("label", str(path)) as url:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.goto(f"{url}&who=ann")
                times = keys(page, truth, answers)
                page.close()
        print(f"| {name} | {median(times):.0f} | {np.quantile(times, 0.95):.0f} | {max(times):.0f} |", flush=True)


def measure_map(browser: Browser, points: int, frames: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, _ = texts(Path(folder))
        with serving("label", str(path)) as url:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{url}&who=ann")
            page.wait_for_selector(".card .fresh")
            page.wait_for_timeout(0 if frames < FRAMES else 5000)  # until the first questions are computed
            found = page.evaluate(MOVE, [points, frames])
            page.close()
    drawn = np.array(found["drawn"])
    print(f"map of {points:,} points: {found['frames']:.0f} frames a second; drawing one takes {np.median(drawn):.1f} ms, "
          f"95 % of them at most {np.quantile(drawn, 0.95):.1f} ms")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("keys", "map"))
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    wanted = parser.parse_args()
    print(machine())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        if wanted.part in (None, "keys"):
            answers, names = (2, ["texts", "texts, numbers"]) if wanted.smoke else (wanted.answers, list(PROJECTS))
            measure_keys(browser, answers, names)
        if wanted.part in (None, "map"):
            measure_map(browser, *((2000, 5) if wanted.smoke else (POINTS, FRAMES)))
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
