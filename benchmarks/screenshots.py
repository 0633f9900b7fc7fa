"""Pictures of every view of the page, on desktops of 1280 and 2560 px and a phone, at 200 % and 400 %, light and dark.

    python benchmarks/screenshots.py -o shots

The projects are made here: short abstracts on three topics, flowers by their measures, the digits of ``askgraph label --demo``,
and one each whose answers are several classes, steps of a scale and numbers.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page, sync_playwright

from askgraph.kinds.numbers import Numbers
from askgraph.web.demo import make_demo
from askgraph.workbench.project import Project
from askgraph.workbench.restoring import copy_project
from askgraph.workbench.source import Source

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.helpers.chromium import FLAGS, path_of

DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
TWICE: dict[str, Any] = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}  # a desktop at 200 %
FOURFOLD: dict[str, Any] = {"viewport": {"width": 320, "height": 200}, "device_scale_factor": 4}  # and at 400 %
WIDE: dict[str, Any] = {"viewport": {"width": 2560, "height": 1440}}
LOOKS = {
    f"{device}-{scheme}": {**options, "color_scheme": scheme}
    for device, options in (("desk", DESK), ("phone", PHONE), ("twice", TWICE), ("fourfold", FOURFOLD), ("wide", WIDE))
    for scheme in ("light", "dark")
}
RULES = """# Which topic is it?

Go by what was **treated**, not by where the patients were found.

- A stroke counts as *neurology*, unless the paper is about anticoagulation.
- Brain tumors are *oncology*.

If two fit, take the one in the title."""
ABOUT = {
    "cardiology": "Heart and vessels, blood pressure",
    "oncology": "Tumors and their treatment",
    "neurology": "Brain and nerves, headache",
}
TOPICS = {
    "cardiology": (
        ("atrial fibrillation", "heart failure", "hypertension", "coronary stenosis", "aortic valve disease"),
        ("anticoagulation", "a beta blocker", "catheter ablation", "blood pressure control", "stenting"),
        ("left ventricular function", "stroke and bleeding", "systolic pressure", "cardiac death", "exercise capacity"),
    ),
    "oncology": (
        ("metastatic melanoma", "early breast cancer", "small-cell lung cancer", "colorectal tumours", "lymphoma"),
        ("checkpoint inhibition", "adjuvant chemotherapy", "radiotherapy", "a kinase inhibitor", "surgical resection"),
        ("progression-free survival", "tumour response", "recurrence", "overall survival", "toxicity of grade three"),
    ),
    "neurology": (
        ("Parkinson's disease", "migraine", "epilepsy", "multiple sclerosis", "mild cognitive impairment"),
        ("deep brain stimulation", "a monoclonal antibody", "levodopa", "cognitive training", "seizure medication"),
        ("motor scores", "days with headache", "seizure frequency", "relapse rate", "memory tests"),
    ),
}
FRAMES = (
    "We studied {what} in {n} patients. {How} was compared with usual care over {months} months. {Seen} improved in the "
    "treated group ({share} %), and there were few adverse events.",
    "Whether {how} helps people with {what} is not known. In a randomised trial of {n} adults, {seen} did not differ "
    "between groups after {months} months.",
    "{How} is widely used for {what}. This cohort of {n} patients, followed for {months} months, links it to better "
    "{seen}, most of all in those under 60.",
)

PHRASES = {
    "billing": (
        "The invoice is wrong",
        "I was charged twice",
        "Please refund the payment",
        "The VAT number is missing",
    ),
    "login": ("The password is not accepted", "I cannot sign in", "No mail with a code came", "My account is locked"),
    "crash": ("The app closes by itself", "It crashes at start", "The window freezes", "It stops with an error"),
    "wish": ("A dark mode would be nice", "Could you add an export", "I would like more keys", "Please offer Dutch"),
}
POLITE = ("Thank you", "Kind regards", "Please help", "I hope to hear from you soon")
SCALE = ["very bad", "bad", "fair", "good", "very good"]
OPINIONS = (
    ("Awful, never again", "A waste of an evening"),
    ("Below what the price promises", "Loud and slow"),
    ("It was all right", "Neither good nor bad"),
    ("A nice place", "Friendly and quick"),
    ("The best in town", "Outstanding in every way"),
)
VISITS = ("we came on a Friday", "with the children", "after work", "for the second time", "on a rainy day")


def abstracts(path: Path, n: int = 200) -> dict[str, str]:
    """Write a csv of made-up abstracts, and return the topic of each."""
    dice, truth = random.Random(0), {}
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "title", "abstract", "year"])
        for k in range(n):
            topic = list(TOPICS)[k % 3]
            what, how, seen = (dice.choice(words) for words in TOPICS[topic])
            words = {
                "what": what,
                "how": how,
                "How": how[0].upper() + how[1:],
                "seen": seen,
                "Seen": seen[0].upper() + seen[1:],
            }
            numbers = {
                "n": dice.randint(40, 900),
                "months": dice.choice((6, 12, 24, 36)),
                "share": dice.randint(12, 60),
            }
            title = f"{words['How']} in {what}: effects on {seen}"
            truth[f"p{k}"] = topic
            rows.writerow([f"p{k}", title, dice.choice(FRAMES).format(**words, **numbers), dice.randint(2004, 2024)])
    return truth


def text_project(folder: Path) -> tuple[Path, dict[str, str]]:
    truth = abstracts(folder / "abstracts.csv")
    path = folder / "abstracts.ask"
    Project.create(path, Source(folder / "abstracts.csv", text="abstract"), list(TOPICS))
    with Project.open(path, write=True) as project:
        project.log.write_guidelines("mia", RULES)
        for name, sentence in ABOUT.items():
            project.log.change("mia", "describe", name, sentence)
    return path, truth


def flower_project(folder: Path) -> tuple[Path, dict[str, str]]:
    from sklearn.datasets import load_iris

    iris = load_iris()
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    with (folder / "flowers.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(names)
        rows.writerows(iris.data.tolist())
    path = folder / "flowers.ask"
    Project.create(path, Source(folder / "flowers.csv", features=names), iris.target_names.tolist())
    return path, {str(k + 1): str(iris.target_names[c]) for k, c in enumerate(iris.target)}


def digit_project(folder: Path) -> tuple[Path, dict[str, str]]:
    from sklearn.datasets import load_digits

    return make_demo(folder), {str(k): str(digit) for k, digit in enumerate(load_digits().target)}


def ticket_project(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Make a project of tickets that each have any of four classes."""
    dice, truth = random.Random(1), {}
    with (folder / "tickets.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "ticket"])
        for k in range(160):
            about = [name for name in PHRASES if dice.random() < 0.35]
            said = [phrase for name in about for phrase in dice.sample(PHRASES[name], 2)]
            rows.writerow([f"t{k}", ". ".join([*said, dice.choice(POLITE)]) + "."])
            truth[f"t{k}"] = about
    path = folder / "tickets.ask"
    Project.create(path, Source(folder / "tickets.csv", text="ticket"), list(PHRASES), answers="several")
    return path, truth


def review_project(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Make a project of reviews on a scale of five steps, by how many of six things were liked and how much was praised."""
    dice, truth = random.Random(2), {}
    with (folder / "reviews.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "review", "liked", "praise"])
        for k in range(160):
            step = k % len(SCALE)
            liked, praise = step * 1.5 + dice.gauss(0, 0.4), step / 4 + dice.gauss(0, 0.08)
            rows.writerow(
                [f"r{k}", f"{dice.choice(OPINIONS[step])}, {dice.choice(VISITS)}.", f"{liked:.2f}", f"{praise:.2f}"]
            )
            truth[f"r{k}"] = SCALE[step]
    path = folder / "reviews.ask"
    source = Source(folder / "reviews.csv", features=["liked", "praise"])
    Project.create(path, source, SCALE, answers="ordered")
    return path, truth


def flat_project(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Make a project of flats and what they cost."""
    dice, truth = random.Random(3), {}
    with (folder / "flats.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "area", "rooms", "km to the center", "floor"])
        for k in range(160):
            area, far = dice.randint(25, 160), round(dice.uniform(0.3, 15), 1)
            rows.writerow([f"f{k}", area, max(1, round(area / 28)), far, dice.randint(0, 8)])
            truth[f"f{k}"] = float(round(area * (16 - 0.6 * far) * dice.uniform(0.94, 1.06), -1))
    path = folder / "flats.ask"
    source = Source(folder / "flats.csv", features=["area", "rooms", "km to the center"])
    Project.create(path, source, answers=Numbers(link="log", unit="EUR"))
    return path, truth


@contextmanager
def serving(*command: str) -> Iterator[str]:
    """Run a command that serves a page; yield the address of the page."""
    command = (sys.executable, "-m", "askgraph", *command, "--port", "0")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield next(line for line in process.stdout if "The page is at " in line).split("The page is at ")[1].strip()
    finally:
        process.terminate()
        process.communicate()


def label(url: str, truth: dict[str, Any], n: int, who: str = "ann") -> None:
    """Send answers over HTTP, one of them wrong, one "later" and one "cannot"."""
    base, token = url.split("/?token=")

    def post(path: str, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        return json.load(urlopen(Request(f"{base}{path}", json.dumps({"who": who, **body}).encode(), headers)))

    for k in range(n):
        while (asked := post("/api/question"))["question"] is None:
            pass
        id = asked["question"]["item"]["id"]
        said: dict[str, Any] = {"kind": "label", "label": truth[id]}
        if k == 6:
            said["label"] = otherwise(truth, id)
        if k in (9, 14):
            said = {"kind": {9: "later", 14: "cannot"}[k]}
        post("/api/answer", key=str(uuid.uuid4()), item=id, seconds=3.0 + k % 4, **said)
        if k % 3 == 2:
            wait_for_predictions(base, token, who)


def disagree(url: str, truth: dict[str, Any]) -> None:
    """Let a second person answer some items that the first one answered, two of them otherwise."""
    base, token = url.split("/?token=")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    given = json.load(urlopen(Request(f"{base}/api/history?limit=200", headers=headers)))["answers"]
    for k, one in enumerate([one for one in given if one["kind"] == "label"][:6]):
        label = otherwise(truth, one["item"]) if k in (2, 4) else truth[one["item"]]
        said = {"who": "ben", "key": str(uuid.uuid4()), "item": one["item"], "kind": "label", "label": label}
        urlopen(Request(f"{base}/api/answer", json.dumps({**said, "seconds": 4.5}).encode(), headers)).read()
    wait_for_predictions(base, token, "ann")


def otherwise(truth: dict[str, Any], id: str) -> Any:
    """Return an answer that an item does not have."""
    return next(label for label in truth.values() if label != truth[id])


def wait_for_predictions(base: str, token: str, who: str) -> None:
    """Wait until the predictions know all answers, and let the project keep the expected error of now."""

    def get(path: str) -> Any:
        return json.load(urlopen(Request(f"{base}{path}", headers={"Authorization": f"Bearer {token}"})))

    while get("/api/items?limit=1")["lag"]:
        time.sleep(0.1)
    get(f"/api/state?who={who}")


def settled(page: Page) -> None:
    page.wait_for_function("async () => (await (await fetch('/api/items?limit=1')).json()).lag === 0")
    page.wait_for_timeout(700)


def view(name: str, *selectors: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.keyboard.press("Escape")
        page.evaluate(f"location.hash = '{name}'")
        for selector in selectors:
            page.wait_for_selector(selector)
        settled(page)

    return go


def why(page: Page) -> None:
    view("question", ".fresh")(page)
    page.keyboard.press("w")
    page.wait_for_selector(".why section")
    settled(page)


def selected(page: Page) -> None:
    for k in (3, 5, 6):
        page.locator(".items tbody input").nth(k).click()


def asked(page: Page) -> None:
    page.locator(".selection .primary").click()
    page.wait_for_selector("dialog[open]")


def item(page: Page) -> None:
    page.locator(".history .row").first.click()
    page.wait_for_selector("dialog[open]")


def peek(page: Page) -> None:
    box = page.locator("canvas").bounding_box()
    assert box is not None
    for step in range(8):
        page.mouse.click(box["x"] + box["width"] * (0.5 + 0.03 * step), box["y"] + box["height"] * 0.45)
        page.wait_for_timeout(300)
        if page.locator(".peek").is_visible():
            return


def keys(page: Page) -> None:
    view("question", ".fresh")(page)
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")


def new_class(page: Page) -> None:
    view("question", ".fresh")(page)
    page.keyboard.press("n")
    page.keyboard.type("neither")


def find(page: Page) -> None:
    """Begin to find all of a class, a step or the lowest numbers, and show the line above the card."""
    view("progress", ".seek")(page)
    page.locator(".seek button").last.click()
    page.locator("dialog .class, dialog .start-ways button").nth(1).click()
    page.wait_for_function("() => !document.querySelector('dialog[open]')")
    settled(page)
    view("question", ".seeking")(page)


def found(page: Page) -> None:
    view("progress", ".seek")(page)


def end_find(page: Page) -> None:
    page.locator(".seek button").first.click()
    settled(page)


STEPS: dict[str, Callable[[Page], None]] = {
    "question": view("question", ".fresh"),
    "new-class": new_class,
    "keys": keys,
    "why": why,
    "table": view("table", ".items tbody tr"),
    "selected": selected,
    "asked": asked,
    "progress": view("progress", ".panel"),
    "history": view("history", ".history .row"),
    "item": item,
    "map": view("map", ".legend li"),
    "peek": peek,
    "groups": view("groups", ".groups > .soft:not(:empty)"),  # a few labels may make no group
    "review": view("review", ".review .soft:not(:empty)"),
    "guidelines": view("guidelines", ".prose > *"),
    "find": find,
    "found": found,
    "ended": end_find,
}


def shoot(browser: Browser, url: str, name: str, folder: Path, looks: list[str]) -> None:
    """Take pictures of all views of a project."""
    for look in looks:
        context = browser.new_context(**LOOKS[look])
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{url}&who=ann")
        page.wait_for_selector(".fresh")
        if page.locator("dialog[open]").count():
            page.screenshot(path=folder / f"{name}-hello-{look}.png")
            page.keyboard.press("Escape")
        for step, act in STEPS.items():
            act(page)
            page.wait_for_timeout(250)
            page.screenshot(path=folder / f"{name}-{step}-{look}.png")
        context.close()


def select(page: Page) -> None:
    """Draw a line around the upper right of the map."""
    view("map", ".legend li")(page)
    box = page.locator("canvas").bounding_box()
    assert box is not None
    page.keyboard.press("s")
    for k, (x, y) in enumerate(((0.5, 0.08), (0.74, 0.06), (0.78, 0.3), (0.7, 0.48), (0.54, 0.44), (0.5, 0.08))):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=6)
        if k == 0:
            page.mouse.down()
    page.mouse.up()
    page.wait_for_selector(".peek .primary")


def many(page: Page) -> None:
    """Ask what to answer to the items in that line."""
    select(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")


PROJECTS: dict[str, tuple[Callable[[Path], tuple[Path, dict[str, Any]]], int]] = {
    "abstracts": (text_project, 24),
    "flowers": (flower_project, 18),
    "digits": (digit_project, 30),
    "tickets": (ticket_project, 24),
    "reviews": (review_project, 24),
    "flats": (flat_project, 24),
}  # how it is made, and how many answers it gets


def checked(page: Page) -> None:
    """Check the classes of a ticket, and do not send them."""
    view("question", ".fresh")(page)
    ticket = page.locator(".card").inner_text()
    for key, phrases in enumerate(PHRASES.values(), 1):
        if any(phrase in ticket for phrase in phrases):
            page.keyboard.press(str(key))


def far_off(page: Page) -> None:
    """Answer with a number that is far from what was expected."""
    view("question", ".fresh")(page)
    for key in (*"90", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#notices button")


# the pictures of docs/workbench.md, by project: which view, and how it looks
WALK: dict[str, dict[str, tuple[Callable[[Page], None], str]]] = {
    "abstracts": {
        "workbench": (why, "desk-light"),
        "workbench-progress": (view("progress", ".curve"), "desk-light"),
        "workbench-map": (select, "desk-light"),
        "workbench-many": (many, "desk-light"),
        "workbench-guidelines": (view("guidelines", ".class-list li"), "desk-light"),
        "workbench-groups": (view("groups", ".tile"), "desk-light"),
        "workbench-review": (view("review", ".review .fresh"), "desk-light"),
        "workbench-history": (view("history", ".history .row"), "desk-light"),
        "workbench-phone": (view("question", ".fresh"), "phone-dark"),
        "workbench-find": (find, "desk-light"),  # last, as it stays
    },
    "tickets": {"workbench-several": (checked, "desk-light")},
    "reviews": {"workbench-ordered": (view("question", ".fresh"), "desk-light")},
    "flats": {"workbench-numbers": (far_off, "desk-light")},
}


def walk(browser: Browser, url: str, folder: Path, project: str) -> None:
    """Take the pictures of the documentation."""
    for name, (act, look) in WALK.get(project, {}).items():
        context = browser.new_context(**LOOKS[look])
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{url}&who=ann")
        page.wait_for_selector(".fresh")
        page.keyboard.press("Escape")  # the guidelines, which are shown at the start
        act(page)
        page.wait_for_timeout(400)
        page.screenshot(path=folder / f"{name}.png")
        context.close()


def start(browser: Browser, project: Path, table: Path, folder: Path, looks: list[str], name: str = "start") -> None:
    """Take pictures of the page that goes on with a project or takes files, and of the columns to choose."""
    with tempfile.TemporaryDirectory() as temporary, serving("start", temporary, "--no-browser") as url:
        copy_project(project, Path(temporary, project.name))
        for look in looks:
            context = browser.new_context(**LOOKS[look])
            page = context.new_page()
            page.set_default_timeout(120_000)
            page.goto(url)
            page.wait_for_selector(".projects li")
            page.screenshot(path=folder / (f"{name}-drop-{look}.png" if len(looks) > 1 else f"{name}.png"))
            page.locator("input[type=file]").first.set_input_files(table)
            page.locator(".start > .choices .button").click()  # a new project of these rows, which the other has
            page.wait_for_selector(".sample")
            page.wait_for_timeout(400)
            page.screenshot(
                path=folder / (f"{name}-columns-{look}.png" if len(looks) > 1 else f"{name}-columns.png"),
                full_page=True,
            )
            context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("shots"))
    parser.add_argument("--only", choices=PROJECTS)
    parser.add_argument("--looks", default=",".join(LOOKS), help="sizes and colors, separated by commas")
    parser.add_argument(
        "--walk", type=Path, help="write the pictures of docs/workbench.md to that folder, and nothing else"
    )
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    wanted = parser.parse_args()
    if wanted.smoke:
        wanted.only = "flowers"
        wanted.looks = "desk-light"
    wanted.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path_of(), args=FLAGS)
        for name, (make, labels) in PROJECTS.items():
            if (wanted.only or name) != name or (wanted.walk and name not in WALK):
                continue
            folder = Path(temporary, name)
            folder.mkdir()
            path, truth = make(folder)
            with serving("serve", "-p", str(path)) as url:
                label(url, truth, labels)
                disagree(url, truth)
                if wanted.walk:
                    walk(browser, url, wanted.walk, name)
                else:
                    shoot(browser, url, name, wanted.output, wanted.looks.split(","))
                if name == "abstracts":
                    looks, title = (
                        (["desk-light"], "workbench-start") if wanted.walk else (wanted.looks.split(","), "start")
                    )
                    start(browser, path, folder / "abstracts.csv", wanted.walk or wanted.output, looks, title)
        browser.close()


if __name__ == "__main__":
    main()
