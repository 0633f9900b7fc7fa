"""Where the token is not: in arguments, logs, the browser's history, or beside the project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.helpers.chromium import FLAGS, WITH_WINDOWS
from tests.helpers.needs import chromium
from tests.helpers.serving import HANGS, answer, ask, make_project, serving

pytestmark = [pytest.mark.server, pytest.mark.skipif(os.name != "posix", reason="the browser is a shell script")]
BROWSER = """#!/bin/sh
echo "$@" > {folder}/arguments.part
cat "${{1#file://}}" > {folder}/page
ls -l "${{1#file://}}" > {folder}/listed
mv {folder}/arguments.part {folder}/arguments
"""


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """``askgraph label`` with a browser that notes what it was started with: its output, arguments and page, and the project."""
    browser = tmp_path / "browser"
    browser.write_text(BROWSER.format(folder=tmp_path))
    browser.chmod(0o755)
    (tmp_path / "data").mkdir()
    path = make_project(tmp_path / "data")
    command = [sys.executable, "-m", "askgraph", "label", str(path), "--port", "0", "--who", 'ann "<b>"']
    env = {**os.environ, "BROWSER": str(browser)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as process:
        address = process.stdout.readline()
        while not (tmp_path / "arguments").exists():
            assert process.poll() is None
            time.sleep(0.02)
        try:
            yield tmp_path, re.search("token=([^&]+)", address)[1], path
        finally:
            process.terminate()
            process.communicate(timeout=HANGS)
    assert not list(Path(os.environ["XDG_STATE_HOME"], "askgraph").glob("open-*"))


def test_the_browser_is_let_in_without_the_token_in_its_arguments(opened):
    # Promise 28
    folder, token, path = opened
    assert "open-" in (folder / "arguments").read_text()
    assert token not in (folder / "arguments").read_text()
    assert (folder / "listed").read_text().startswith("-rw-------")
    page = (folder / "page").read_text()
    (action,) = re.findall('action="([^"]+)"', page)
    assert 'value="ann &quot;&lt;b&gt;&quot;"' in page
    form = {"token": token, "who": "ann"}
    elsewhere = {"Origin": "null", "Sec-Fetch-Site": "cross-site"}  # as a browser says of a file
    with httpx.Client() as browser:
        assert browser.post(action, data={**form, "token": "guess"}, headers=elsewhere).status_code == 401
        entered = browser.post(action, data=form, headers=elsewhere)
        assert (entered.status_code, entered.headers["location"]) == (303, "/?who=ann")
        assert token not in str(entered.headers)  # the cookie is a session, which ends
        state = browser.get(f"{action.removesuffix('/enter')}/api/state?who=ann").raise_for_status().json()
        assert state["labels"] == 0
    beside = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert token.encode() not in beside  # nor is it in copies of the folder


@pytest.mark.browser
def test_the_token_is_not_in_the_history_of_a_browser(opened):
    found = chromium(*WITH_WINDOWS)  # the other one keeps no history
    from playwright.sync_api import sync_playwright

    folder, token, _ = opened
    with sync_playwright() as tool:
        options = {"executable_path": found, "args": FLAGS}
        browser = tool.chromium.launch_persistent_context(folder / "profile", **options)
        page = browser.new_page()
        (folder / "page.html").write_text((folder / "page").read_text())
        page.goto((folder / "page.html").as_uri())
        page.wait_for_selector(".card")
        assert token not in page.url
        browser.close()
    history = folder / "profile" / "Default" / "History"
    assert b"127.0.0.1" in history.read_bytes()
    assert token.encode() not in history.read_bytes()


def test_a_password_and_the_token_of_its_server_are_in_no_output(tmp_path):
    env = {"ASKGRAPH_PASSWORD": "open sesame"}
    with serving(make_project(tmp_path), "--port", "0", env=env) as server:
        with server.client() as client:
            ask(client)
            answer(client, "n1", "east")
            httpx.get(f"{server.base}/?token={server.token}x")
            httpx.post(f"{server.base}/login", data={"password": "open sesame"})
        with open(f"/proc/{server.process.pid}/cmdline") as arguments:
            assert "sesame" not in arguments.read()
        server.process.terminate()
        said, _ = server.process.communicate(timeout=HANGS)
    assert server.process.returncode == 0  # stopped as a service is, in order: the log is in the file
    assert not Path(f"{server.path}-wal").exists()
    assert server.token not in said + server.url
    assert "sesame" not in said + server.url
