"""The labeling card and the page of a frame in JupyterLab, in a real browser: make test-notebook."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

import askgraph as ag
from askgraph.workbench.source import Source
from tests.helpers.chromium import FLAGS, WITH_WINDOWS, path_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.server,
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(os.environ.get("ASKGRAPH_NOTEBOOK") != "required", reason="make test-notebook"),
]
PATIENCE = 300_000  # milliseconds
CARD = "from askgraph.clients.card import LabelingCard\ncard = LabelingCard('items.ask', who='ann')\ncard"
FRAME = """import askgraph as ag, pandas as pd
frame = pd.DataFrame({"width": [k % 2 * 9 + k / 10 for k in range(20)]})
result = ag.label(frame, "frame.ask", classes=["wide", "tall"], budget=3, who="ann")
print("labels:", (result["source"] == "answered").sum(), result["label"].notna().all())
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "items.csv").write_text("id,width\n" + "".join(f"f{k},{k % 2 * 9 + k / 10}\n" for k in range(20)))
    ag.Project.create(tmp_path / "items.ask", Source(tmp_path / "items.csv", neighbors=3), classes=["wide", "tall"])
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    for name, code in (("card", CARD), ("frame", FRAME)):
        cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": [], "execution_count": None, "id": name}
        book = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(book))
    return tmp_path


@pytest.fixture
def lab(folder):
    """A JupyterLab of its own, without a token, on a port of this machine only."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token="]
    homes = {
        name: str(folder / "home") for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    command = [sys.executable, "-m", "jupyter", "lab", *options]
    with (folder / "lab.log").open("w") as log:
        running = subprocess.Popen(command, cwd=folder, env={**os.environ, **homes}, stdout=log, stderr=log)
    try:
        yield wait_for(f"http://127.0.0.1:{port}", running, folder / "lab.log")
    finally:
        running.terminate()
        running.wait(PATIENCE / 1e3)


def wait_for(address, running, log):
    until = time.monotonic() + PATIENCE / 1e3
    while time.monotonic() < until and running.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api", timeout=PATIENCE / 1e3).read()
            return address
        except OSError:
            time.sleep(0.5)
    pytest.fail(log.read_text())


@pytest.fixture
def page():
    from playwright.sync_api import sync_playwright

    found = path_of(*WITH_WINDOWS)
    assert found, "no chromium here: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS, timeout=PATIENCE)
        opened = browser.new_page(viewport={"width": 1200, "height": 800})
        opened.set_default_timeout(PATIENCE)
        yield opened
        browser.close()


def run_first_cell(page, address):
    page.goto(f"{address}?reset")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # what is run before that is lost
    page.locator(".jp-Notebook .jp-InputArea-editor").first.click()
    page.keyboard.press("Shift+Enter")


def test_a_frame_is_labeled_on_the_page_in_a_cell_and_comes_back(lab, folder, page):
    run_first_cell(page, f"{lab}/lab/tree/frame.ipynb")
    frame = page.frame_locator(".jp-OutputArea iframe")
    keys = [frame.locator("button:has(kbd)", has_text=name) for name in ("wide", "tall")]
    keys[0].wait_for()
    with ag.open_project(folder / "frame.ask") as project:
        for k in range(60):  # a click within a moment of the last answer is held back
            if (labeled := len(project.project.answers.labels)) == 3:
                break
            keys[labeled % 2].click()
            page.wait_for_timeout(1000)
            if (where := os.environ.get("ASKGRAPH_SCREENSHOT")) and k == 1:
                page.screenshot(path=where)
    page.get_by_text("labels: 3 True").wait_for()
    saved = (folder / "frame.ipynb").read_text()
    page.keyboard.press("Control+s")
    page.wait_for_timeout(1000)
    with ag.Project.open(folder / "frame.ask") as project:
        assert len(project.answers.labels) == 3
        assert {a.who for a in project.answers.log.values()} == {"ann"}
    assert "token=" not in saved + (folder / "frame.ipynb").read_text()


def test_items_are_labeled_in_jupyterlab_with_the_keys_of_the_page(lab, folder, page):
    run_first_cell(page, f"{lab}/lab/tree/card.ipynb")
    card = page.locator(".askgraph-label")
    card.wait_for()
    title = card.locator(".title")
    card.locator(".item").click()
    asked = []
    for key, labeled in (("1", 1), ("2", 2), ("s", 2), ("c", 2), ("x", 2)):
        asked.append(title.inner_text())
        page.keyboard.press(key)
        page.wait_for_function(
            "was => document.querySelector('.askgraph-label .title').innerText !== was", arg=asked[-1]
        )
        assert f"{labeled} of 20 labeled" in card.locator(".top").inner_text()
    page.keyboard.press("Backspace")
    page.wait_for_function("was => document.querySelector('.askgraph-label .title').innerText === was", arg=asked[-1])
    page.keyboard.press("n")
    page.keyboard.type("round x")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.askgraph-label .top').innerText.includes('3 of 20')")
    page.keyboard.press("?")
    assert "Undo" in card.locator(".keys").inner_text()
    card.get_by_role("button", name="tall").click()
    page.wait_for_function("() => document.querySelector('.askgraph-label .top').innerText.includes('4 of 20')")
    assert page.locator(".jp-Notebook .jp-Cell").first.is_visible()  # x cut no cell
    if where := os.environ.get("ASKGRAPH_SCREENSHOT"):
        page.locator(".jp-Notebook .jp-Cell").first.screenshot(path=where)
    with ag.Project.open(folder / "items.ask") as project:
        said = [(a.kind, a.label) for a in project.answers.log.values()]
        assert {a.who for a in project.answers.log.values()} == {"ann"}
    kept = [("label", "wide"), ("label", "tall"), ("later", None), ("cannot", None), ("invalid", None), ("undo", None)]
    assert said == [*kept, ("label", "round x"), ("label", "tall")]
