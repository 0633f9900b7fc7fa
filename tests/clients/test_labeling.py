"""A frame is labeled on a page and comes back with labels; the page ends with the program that opened it."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from types import SimpleNamespace

import httpx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import askgraph as ag
from askgraph.clients import labeling
from askgraph.workbench.client import open_writer

pytestmark = pytest.mark.server
ROWS = {
    "text": ["late again today", "arrived broken box", "still not here today", "box was broken"] * 5,
    "n": range(20),
}
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    monkeypatch.setattr(labeling, "LOOK_SECONDS", 0.05)
    return tmp_path


@contextmanager
def browser(page, who="ann"):
    with httpx.Client(base_url=page.url, follow_redirects=True, timeout=PATIENCE) as client:
        assert client.get(f"/?{page.query(who)}").status_code == 200
        yield client


def say(client, **labels):
    answers = [{"item": item, "kind": "label", "label": label} for item, label in labels.items()]
    reply = client.post("/api/answers", json={"key": str(uuid.uuid4()), "who": "ann", "answers": answers})
    assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_comes_back_with_what_was_answered_and_is_predicted(here, library):
    frame = library.DataFrame(ROWS)
    with ag.label(frame, classes=["delivery", "quality"], wait=False) as opened:
        with browser(opened.page) as client:
            say(client, **{"1": "delivery", "2": "quality"})
        result = opened.result()
        assert opened.learner.labels == {0: "delivery", 1: "quality"}
    assert list(result.columns) == ["text", "n", "label", "probability", "source"]
    assert list(result["label"])[:2] == ["delivery", "quality"]
    assert set(result["label"]) == {"delivery", "quality"}
    assert list(result["source"]).count("answered") == 2
    assert list(result["text"]) == ROWS["text"]
    assert type(result) is type(frame)
    with ag.label(frame, wait=False) as again:  # another day
        assert len(again.project.answers.labels) == 2
    with pytest.raises(httpx.ConnectError):
        httpx.get(opened.page.url)


def test_an_index_names_the_items_and_columns_of_the_frame_are_kept():
    frame = pd.DataFrame({**ROWS, "label": "old"}, index=[f"c{k}" for k in range(20)])
    with ag.label(frame, classes=["a", "b"], text="text", wait=False) as opened:
        with browser(opened.page) as client:
            say(client, c3="b")
        result = opened.result()
        assert opened.to_pandas().loc["c3", "source"] == "answered"
    assert result.index.tolist() == frame.index.tolist()
    assert result.loc["c3", ["label (given)", "label"]].tolist() == ["old", "b"]


def test_the_code_lets_one_browser_in_and_the_page_stands_in_frames_of_this_machine_only():
    with ag.label(pd.DataFrame(ROWS), classes=["a", "b"], wait=False) as opened:
        address = f"{opened.page.url}/?{opened.page.query('ann')}"
        with browser(opened.page) as client:
            policy = client.get("/").headers["content-security-policy"]
            assert policy.endswith("frame-ancestors http://127.0.0.1:* http://localhost:*")
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
            assert client.get(address).status_code == 200  # the cell is drawn again
        for wrong in (address, address.replace("once=", "once=x"), f"{opened.page.url}/api/me", f"{opened.page.url}/"):
            assert httpx.get(wrong, follow_redirects=True).status_code == 401
        cross = {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}
        assert httpx.post(f"{opened.page.url}/api/undo", headers=cross).status_code == 403


def test_what_a_cell_shows_holds_no_token(monkeypatch):
    shown = []
    monkeypatch.setattr(labeling, "_notebook", lambda: shown.append)
    with ag.label(pd.DataFrame(ROWS), classes=["a", "b"], who="ann b", wait=False) as opened:
        (html,) = shown
        assert opened.page.token not in html
        assert f":{opened.page.port}/?once={opened.page.code}&who=ann+b`" in html


def test_it_waits_until_the_budget_is_spent(here, monkeypatch):
    frame = pd.DataFrame({"x": np.arange(20.0) % 2 * 9 + np.arange(20) / 10})
    left = [("1", "a"), ("6", "b"), ("9", "a")]

    def answer(*_):
        item, label = left.pop(0)
        with open_writer(here / "labels.ask") as writer:
            writer.say("ann", [(item, "label", label)])

    monkeypatch.setattr(labeling, "_show", answer)  # somebody is quicker than the first look
    monkeypatch.setattr(labeling, "time", SimpleNamespace(sleep=answer))
    result = ag.label(frame, classes=["a", "b"], budget=2)
    assert left == [("9", "a")]
    assert (result["source"] == "answered").sum() == 2
    assert result["label"].isin(["a", "b"]).all()


def test_whoever_stops_the_cell_gets_the_frame(monkeypatch):
    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(labeling, "_show", lambda page, who: None)
    monkeypatch.setattr(labeling, "time", SimpleNamespace(sleep=interrupted))
    assert len(ag.label(pd.DataFrame(ROWS), classes=["a", "b"])) == 20


def test_numbers_come_back_as_numbers():
    frame = pd.DataFrame({"x": np.arange(12.0)})
    with ag.label(frame, answers="numbers", wait=False) as opened:
        with browser(opened.page) as client:
            say(client, **{"1": 1.5, "12": 20.0})
        result = opened.result()
    assert result.columns.tolist() == ["x", "label", "low", "high", "source"]
    assert result["label"].dtype == float
    assert (result["low"] <= result["high"]).all()


@pytest.mark.parametrize(
    ("frame", "how", "said"),
    [
        ([1, 2], {}, "a list is not a frame"),
        (pd.DataFrame({"x": [1, 2]}, index=["a", "a"]), {}, "names two rows alike"),
        (pd.DataFrame({"x": [1.0, 2.0]}), {"budget": 0}, "budget"),
        (pd.DataFrame({"x": [1.0, 2.0]}), {"who": " "}, "person"),
        (pd.DataFrame({"x": [1.0, 2.0]}), {"text": "y"}, "y"),
        (pd.DataFrame({"x": [1.0, 2.0]}), {"answers": "colors"}, "colors"),
    ],
)
def test_what_cannot_be_labeled_is_said_and_leaves_nothing(here, frame, how, said):
    with pytest.raises(ag.AskgraphError, match=said):
        ag.label(frame, **how)
    assert list(here.iterdir()) == []


def test_a_project_of_other_rows_is_left_alone(here):
    frame = pd.DataFrame({"x": np.arange(12.0)})
    ag.label(frame, classes=["a", "b"], wait=False).close()
    with pytest.raises(ag.SettingError, match="has other items than this frame: name another file"):
        ag.label(frame[:11])
    with ag.Project.open(here / "labels.ask", write=True), pytest.raises(ag.BusyError):  # somebody else writes to it
        ag.label(frame, wait=False)


def answers(url):
    try:
        return httpx.get(url, timeout=PATIENCE).status_code == 401
    except httpx.TransportError:
        return False


SCRIPT = """
import os, sys
import askgraph as ag, pandas as pd
labeling = ag.label(pd.DataFrame({"x": range(12)}), classes=["a", "b"], wait=False)
print(labeling.page.process.pid, labeling.page.url, flush=True)
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""


def test_the_page_ends_with_a_kernel_that_is_killed(here):
    command = [sys.executable, "-c", "import webbrowser; webbrowser.open = lambda url: True\n" + SCRIPT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as kernel:
        _, url = kernel.stdout.readline().split()
        assert httpx.get(url, timeout=PATIENCE).status_code == 401
        kernel.stdin.write("\n")
        kernel.stdin.flush()
        kernel.wait(PATIENCE)
    until = time.monotonic() + PATIENCE
    while answers(url) and time.monotonic() < until:
        time.sleep(0.2)
    assert not answers(url)
    with ag.Project.open(here / "labels.ask", write=True) as project:  # nobody holds it anymore
        assert project.items.n_items == 12
