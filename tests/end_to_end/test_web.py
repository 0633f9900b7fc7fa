"""The server: questions, answers and reports over HTTP, by a real process."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.web.demo import make_demo
from askgraph.workbench.growing import ADDITION
from askgraph.workbench.project import Project
from tests.helpers.processes import run
from tests.helpers.serving import (
    CENTERS,
    answer,
    ask,
    key,
    make_project,
    serving,
    soaked,
    thinker,
    truth,
    until,
    write_table,
)

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for the tests that speak of their own people and items only, whatever others have labeled."""
    with serving(make_project(tmp_path_factory.mktemp("web"))) as running:
        yield running


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


@pytest.fixture
def fresh(tmp_path):
    """A server whose project nobody else has labeled."""
    with serving(make_project(tmp_path)) as running, running.client() as client:
        yield running, client


def command(*words):
    """What a command prints, run in this process: it speaks to the server like one in a process of its own."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def label_some(client, n, who="ann"):
    asked = ask(client, who)
    for _ in range(n):
        id = asked["question"]["item"]["id"]
        answer(client, id, truth(id), who)
        asked = ask(client, who)
    return asked


def test_from_the_first_question_to_every_label(fresh):
    _, client = fresh
    label_some(client, 12)
    until(client, "/api/progress", lambda said: said.get("labels") == 12)
    rows = [json.loads(line) for line in client.get("/api/export", params={"format": "jsonl"}).text.splitlines()]
    assert len(rows) == 60
    assert sum(row["source"] == "answered" for row in rows) == 12
    assert np.mean([row["label"] == truth(row["id"]) for row in rows]) > 0.95


def test_what_is_asked_over_http_is_what_the_learner_asks(fresh):
    server, client = fresh
    label_some(client, 8)  # what ann is asked at once may have been lined up before her last answer
    until(client, "/api/progress", lambda said: said.get("labels") == 8)  # drawn when more questions are lined up
    asked, again = ask(client, "bob"), ask(client, "cat")  # who hold nothing yet
    with Project.open(server.path) as project:
        ids = [item.id for item in project.store.items(project.ask(4))]
    assert asked["question"]["item"]["id"] in ids
    assert again["question"]["item"]["id"] in ids


def test_a_question_says_which_rule_asks_it_and_the_log_what_was_predicted(fresh):
    _, client = fresh
    asked = [ask(client)["question"]]
    for _ in range(7):
        id = asked[-1]["item"]["id"]
        answer(client, id, truth(id))
        until(client, "/api/state?who=ann", lambda state: state["lag"] == 0)
        asked.append(ask(client)["question"])
    assert [one["by"] for one in asked] == ["first", *["influence"] * 6, "spot check"]
    answer(client, asked[-1]["item"]["id"], truth(asked[-1]["item"]["id"]))
    lines = client.get("/api/history").raise_for_status().json()["answers"]
    assert [line["predicted"] is not None for line in lines] == [True, *[False] * 7]


def test_items_come_and_go_while_people_label(fresh, tmp_path):
    server, client = fresh
    asked = label_some(client, 6)
    write_table(tmp_path / "more.csv", 75)
    said = command("add", tmp_path / "more.csv", "-p", server.path)
    assert "15 items more\n  60 of 75 rows were there already and are left out" in said
    assert client.get("/api/state?who=ann").json()["items"] == 75
    on_screen = asked["question"]["item"]["id"]
    assert answer(client, on_screen, truth(on_screen))["question"]  # a known agenda serves until there is a new one
    until(client, "/api/progress", lambda found: found.get("items") == 75)
    answer(client, "n74", truth("n74"))
    gone = [on_screen, "n74", "n70"]
    said = command("remove", *gone, "--yes", "-p", server.path)
    assert "3 items and 2 lines of the log deleted for good" in said
    assert client.get("/api/item", params={"id": "n74"}).status_code == 404
    label_some(client, 3)
    until(client, "/api/progress", lambda found: (found.get("items"), found.get("labels")) == (72, 9))
    rows = [json.loads(line) for line in client.get("/api/export", params={"format": "jsonl"}).text.splitlines()]
    assert len(rows) == 72
    assert not {row["id"] for row in rows} & set(gone)
    assert np.mean([row["label"] == truth(row["id"]) for row in rows]) > 0.9


def test_only_who_has_the_token_itself_changes_items(server):
    with httpx.Client(base_url=server.base, follow_redirects=True) as visitor:
        assert visitor.get(f"/?token={server.token}").status_code == 200
        assert visitor.get("/api/state?who=ann").status_code == 200  # a session
        for path, body in (("/api/remove", {"items": ["n1"]}), ("/api/add", {"addition": "points.ask.00.adding"})):
            assert visitor.post(path, json=body).status_code == 403


def test_what_is_refused_stops_nothing(server, client):
    """The thinker ends only for items that do come or go."""
    ask(client)
    pid = thinker(server)
    old = f"{server.path.name}.00{ADDITION}"
    shutil.copy(server.path, server.path.with_name(old))  # goes with no items: a project is not an addition
    everything = [f"n{k}" for k in range(60)]
    for path, body, status in (
        ("/api/add", {"addition": f"../{old}"}, 422),
        ("/api/add", {"addition": f"{server.path.name}.11{ADDITION}"}, 400),  # no such file
        ("/api/add", {"addition": old}, 503),
        ("/api/remove", {"items": ["nobody"]}, 404),
        ("/api/remove", {"items": everything}, 400),
    ):
        assert client.post(path, json=body).status_code == status, body
    assert thinker(server) == pid
    assert client.get("/api/state?who=ann").json()["worker"] == "ready"
    assert ask(client)["question"]


def test_a_class_that_is_not_there_is_not_sought(fresh):
    server, client = fresh
    body = {"key": key(), "who": "ann", "kind": "find", "name": "nroth", "value": None}
    refused = client.post("/api/classes", json=body)
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("no class 'nroth'; there are 'north', 'east', 'west'")
    done = run("find", "nroth", "-p", server.path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there are 'north', 'east', 'west'" in done.stderr
    assert client.get("/api/state?who=ann").json()["find"] is None


def test_an_answer_sent_again_is_saved_once(server, client):
    id = ask(client, "twice")["question"]["item"]["id"]
    body = {"key": key(), "who": "twice", "item": id, "kind": "label", "label": "north"}
    saved = [client.post("/api/answer", json=body).json()["saved"] for _ in range(3)]
    assert len(set(saved)) == 1
    undo = {"key": key(), "who": "twice"}
    undone = [client.post("/api/undo", json=undo).json()["undone"]["item"] for _ in range(3)]
    assert undone == [id] * 3
    with Project.open(server.path) as project:
        assert len([a for a in project.answers.log.values() if a.who == "twice"]) == 2


def test_undo_brings_the_item_back(client):
    asked = ask(client, "una")
    id, before = asked["question"]["item"]["id"], asked["state"]["labels"]
    state = answer(client, id, "north", "una")["state"]
    assert (state["undo"]["item"], state["labels"]) == (id, before + 1)
    undone = client.post("/api/undo", json={"key": key(), "who": "una"}).json()
    assert undone["undone"]["item"] == undone["question"]["item"]["id"] == id
    assert undone["state"]["labels"] == before
    assert undone["state"]["undo"] is None
    assert client.post("/api/undo", json={"key": key(), "who": "una"}).json()["undone"] is None


def test_later_cannot_and_invalid_are_three_answers(fresh):
    _, client = fresh
    said = {}
    for kind in ("later", "cannot", "invalid"):
        id = ask(client)["question"]["item"]["id"]
        said[id] = kind
        answer(client, id, kind=kind)
    assert {id: client.get("/api/item", params={"id": id}).json()["status"] for id in said} == said
    for _ in range(18):
        id = ask(client)["question"]["item"]["id"]
        assert id not in said
        answer(client, id, truth(id))
    (put_off,) = (id for id, kind in said.items() if kind == "later")
    assert ask(client)["question"]["item"]["id"] == put_off


def test_a_new_class_is_there_at_once(client):
    id = ask(client, "new")["question"]["item"]["id"]
    state = answer(client, id, "south  of\nhere", "new")["state"]
    client.post("/api/undo", json={"key": key(), "who": "new"}).raise_for_status()
    assert [c["name"] for c in state["classes"]] == [*CENTERS, "south of here"]
    assert len({c["key"] for c in state["classes"]}) == 4


def test_everything_labeled_is_finished(tmp_path):
    with serving(make_project(tmp_path, n=5)) as server, server.client() as client:
        for k in range(5):
            asked = answer(client, f"n{k}", truth(f"n{k}"))
        assert asked["finished"].startswith("finished: every item is labeled")
        assert asked["question"] is None


def test_nobody_gets_what_another_holds(fresh):
    """Ten people at once, in threads, on sixty items."""
    # Promise 9
    server, _ = fresh

    def person(name):
        seen = []
        with server.client() as client:
            asked = ask(client, name)
            for _ in range(3):
                id = asked["question"]["item"]["id"]
                seen.append((time.monotonic(), id))
                answer(client, id, truth(id), name)
                asked = ask(client, name)
        return [id for _, id in seen]

    with ThreadPoolExecutor(10) as pool:
        labeled = [id for ids in pool.map(person, [f"person {k}" for k in range(10)]) for id in ids]
    assert len(labeled) == len(set(labeled)) == 30


def test_second_opinions_come_first_and_agreement_is_shown(tmp_path):
    with serving(make_project(tmp_path, overlap=2)) as server, server.client() as client:
        first = ask(client, "ann")["question"]["item"]["id"]
        answer(client, first, "north", "ann")
        asked = ask(client, "bob")
        assert (asked["question"]["item"]["id"], asked["question"]["opinions"]) == (first, 1)
        state = answer(client, first, "east", "bob")["state"]
        assert state["agreement"] == {"items": 1, "share": 0.0, "apart": None}
        said = until(client, "/api/progress", lambda said: said.get("disputed"))
        assert {a["who"]: a["label"] for a in said["disputed"][0]["answers"]} == {"ann": "north", "bob": "east"}


def test_commands_write_through_the_server(server, client):
    line = [sys.executable, "-m", "askgraph", "tell", "n58", "east", "-p", str(server.path), "--who", "cy"]
    assert "saved: 1" in subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert client.get("/api/item", params={"id": "n58"}).json()["label"] == "east"
    assert "taken back: n58 east" in command("undo", "-p", server.path, "--who", "cy")
    assert client.get("/api/item", params={"id": "n58"}).json()["label"] is None
    line[4] = "n99"
    failed = subprocess.run(line, capture_output=True, text=True)
    assert failed.returncode == 1
    assert "no item 'n99'" in failed.stderr


def test_classes_and_guidelines_are_changed_through_the_server(fresh):
    server, client = fresh
    written = ("-p", server.path, "--who", "cy")
    for k in range(9):
        answer(client, f"n{k}", "nroth" if k == 0 else truth(f"n{k}"))
    until(client, "/api/items?limit=60", lambda said: said["lag"] == 0 and said["items"][59]["label"])
    command("classes", "merge", "nroth", "north", *written)
    state = client.get("/api/state?who=ann").json()
    assert [(one["name"], one["count"]) for one in state["classes"]] == [("north", 3), ("east", 3), ("west", 3)]
    rows = client.get("/api/items?limit=60").json()["items"]  # the predictions may be older than the change
    assert {row["label"] for row in rows} == {"north", "east", "west"}
    until(client, "/api/progress", lambda said: len(said["classes"]) == 3)
    assert "nroth merged into north" in command("classes", "undo", *written)
    said = client.get("/api/classes").json()
    assert [one["name"] for one in said["classes"]] == ["north", "east", "west", "nroth"]
    assert [(one["what"], one["undone"]) for one in said["changes"]] == [("nroth merged into north", True)]
    rules = server.path.with_name("rules.md")
    rules.write_text("Look *twice*.")
    assert "version 1" in command("guidelines", rules, *written)
    assert client.get("/api/guidelines").json()["text"] == "Look *twice*."
    assert client.get("/api/state?who=ann").json()["guidelines"] == 1


def test_a_group_is_confirmed_in_one_step_and_odd_ones_are_asked_next(fresh):
    _, client = fresh
    for k in range(9):
        answer(client, f"n{k}", truth(f"n{k}"))
    group = client.post("/api/group", json={"who": "ann"}).json()["group"]
    ids = [one["item"] for one in group["items"]]
    assert {truth(id) for id in ids} == {group["label"]}
    assert group["chance"] >= 0.9
    body = {"key": key(), "who": "ann", "label": group["label"], "items": ids[1:], "odd": ids[:1], "seconds": 4.0}
    for _ in range(2):
        confirmed = client.post("/api/group/confirm", json=body).raise_for_status().json()
        assert confirmed["saved"] == len(ids) - 1
        assert confirmed["state"]["labels"] == 9 + len(ids) - 1
    assert ask(client)["question"]["item"]["id"] == ids[0]
    again = client.post("/api/group", json={"who": "ann"}).json()["group"]
    assert ids[0] not in [one["item"] for one in again["items"]]
    lines = client.get("/api/history", params={"who": "ann", "limit": len(ids) - 1}).json()["answers"]
    assert {line["how"] for line in lines} == {"group"}
    undone = client.post("/api/undo", json={"key": key(), "who": "ann"}).json()
    assert undone["state"]["labels"] == 9


def test_a_killed_server_has_lost_nothing_and_starts_again(fresh):
    server, client = fresh
    label_some(client, 5)
    server.kill()
    start = time.monotonic()
    server.start()
    with server.client() as again:
        asked = ask(again)
        took = time.monotonic() - start
        assert asked["state"]["labels"] == 5
    print(f"ready {took:.1f} s after a kill -9")


def test_a_dead_thinker_is_replaced_and_labels_go_on(fresh):
    # Promise 6
    server, client = fresh
    label_some(client, 6)
    before = until(client, "/api/progress", lambda said: said.get("labels") == 6)
    os.kill(thinker(server), signal.SIGKILL)
    start = time.monotonic()
    id = ask(client)["question"]["item"]["id"]
    assert answer(client, id, truth(id))["state"]["labels"] == 7
    client.post("/api/undo", json={"key": key(), "who": "ann"}).raise_for_status()
    until(client, "/api/state?who=ann", lambda state: state["worker"] == "ready" and state["lag"] == 0)
    took = time.monotonic() - start
    after = until(client, "/api/progress", lambda said: said["lag"] == 0)
    assert after["classes"] == before["classes"]
    assert after["error"]["value"] == pytest.approx(before["error"]["value"], abs=1e-8)
    print(f"questions again {took:.1f} s after the thinker was killed")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux lets us make the disk full for one process")
def test_a_full_disk_is_a_sentence_and_loses_nothing(fresh):
    server, client = fresh
    ask(client)
    answer(client, "n1", "east")
    free = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    full = os.path.getsize(f"{server.path}-wal")
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (full, free[1]))
    body = {"key": key(), "who": "ann", "item": "n2", "kind": "label", "label": "west"}
    refused = client.post("/api/answer", json=body)
    assert refused.status_code == 507
    assert "disk" in refused.json()["error"]
    assert client.get("/api/state?who=ann").json()["labels"] == 1
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, free)
    assert client.post("/api/answer", json=body).json()["state"]["labels"] == 2
    with Project.open(server.path) as project:
        assert project.store.damage() is None
        assert project.answers.labels == {1: "east", 2: "west"}


def test_the_table_searches_filters_sorts_and_pages(client):
    for k in range(9):
        answer(client, f"n{k}", truth(f"n{k}"), "table")
    until(client, "/api/items?limit=1", lambda said: said["lag"] == 0 and said["items"][0]["label"])
    found = client.get("/api/items", params={"search": "point 1"}).json()
    assert {row["id"] for row in found["items"]} == {"n1", *(f"n{k}" for k in range(10, 20))}
    labeled = client.get("/api/items", params={"status": "labeled", "label": "north"}).json()
    assert {row["id"] for row in labeled["items"]} >= {"n0", "n3", "n6"}
    assert all(row["label"] == "north" for row in labeled["items"])
    sure = [row["probability"] for row in client.get("/api/items", params={"sort": "probability"}).json()["items"]]
    assert sure == sorted(sure)
    pages = [client.get("/api/items", params={"offset": k, "limit": 25}).json()["items"] for k in (0, 25, 50)]
    assert [row["id"] for page in pages for row in page] == [f"n{k}" for k in range(60)]
    for sort in ("title", "label", "status"):
        up, down = (
            client.get("/api/items", params={"sort": sort, "order": order}).json()["items"] for order in ("asc", "desc")
        )
        assert [row["id"] for row in up] == [row["id"] for row in down][::-1]


def test_predictions_are_confirmed_at_once(client):
    for k in range(9):
        before = answer(client, f"n{k}", truth(f"n{k}"), "sure")["state"]["labels"]
    until(client, "/api/items?limit=1", lambda said: said["lag"] == 0)
    ids = [f"n{k}" for k in range(20, 30)]
    body = {"key": key(), "who": "sure", "items": ids, "label": None}
    assert client.post("/api/confirm", json=body).json()["saved"] == 10
    assert client.post("/api/confirm", json=body).json()["state"]["labels"] == before + 10
    assert {id: client.get("/api/item", params={"id": id}).json()["label"] for id in ids} == {
        id: truth(id) for id in ids
    }


def test_why_shows_votes_changes_and_neighbours(client):
    for k in range(9):
        answer(client, f"n{k}", truth(f"n{k}"), "why")
    said = until(client, "/api/why?id=n40", lambda said: "waiting" not in said)
    assert said["probabilities"][0]["class"] == truth("n40")
    assert sum(one["p"] for one in said["probabilities"]) == pytest.approx(1)
    assert {vote["label"] for vote in said["voters"][:1]} == {truth("n40")}
    assert [node["item"] for node in said["nodes"] if node["center"]] == ["n40"]
    assert all(0 <= node["x"] <= 1 and 0 <= node["y"] <= 1 for node in said["nodes"])
    assert all(a < len(said["nodes"]) and b < len(said["nodes"]) and 0 < w <= 1 for a, b, w in said["edges"])


def test_a_wrong_label_is_a_suspect(fresh):
    _, client = fresh
    for k in range(30):
        answer(client, f"n{k}", truth(f"n{k}") if k != 13 else "west")
    found = until(client, "/api/suspects", lambda said: said.get("lag") == 0 and said["suspects"])
    assert found["suspects"][0]["item"] == "n13"
    assert found["suspects"][0]["instead"] == truth("n13")


def test_the_map_has_a_place_and_a_state_for_every_item(client):
    answer(client, "n1", "east", "map")
    until(client, "/api/map", lambda said: "waiting" not in said)
    layout = np.frombuffer(client.get("/api/map/layout").content, "<f4").reshape(-1, 2)
    assert layout.shape == (60, 2)
    assert ((layout >= 0) & (layout <= 1)).all()
    state = np.frombuffer(client.get("/api/map/state").content, [("label", "<u2"), ("sure", "u1"), ("flags", "u1")])
    assert state.shape == (60,)
    assert state["flags"][1] == 1


def test_history_shows_everything_newest_first(client):
    answer(client, "n50", "east", "hal")
    answer(client, "n50", "west", "hal")
    lines = client.get("/api/history", params={"who": "hal"}).json()["answers"]
    assert [(line["label"], line["current"]) for line in lines] == [("west", True), ("east", False)]
    older = client.get("/api/history", params={"who": "hal", "before": lines[0]["seq"]}).json()
    assert [line["label"] for line in older["answers"]] == ["east"]


def test_exports_of_every_kind(client):
    answer(client, "n1", "east", "export")
    ask(client, "export")
    kinds = {
        format: client.get("/api/export", params={"format": format})
        for format in ("csv", "parquet", "labelstudio", "answers")
    }
    assert all(got.status_code == 200 and "attachment" in got.headers["content-disposition"] for got in kinds.values())
    assert len(json.loads(kinds["labelstudio"].text)) == 60
    assert kinds["parquet"].content[:4] == b"PAR1"
    assert kinds["csv"].content.startswith(
        b"\xef\xbb\xbfid,x,y,note,label,probability,source"
    )  # marked, for spreadsheets


def test_the_demo_has_a_picture_for_every_digit(tmp_path):
    path = make_demo(tmp_path / "demo")
    with serving(path) as server, server.client() as client:
        item = client.get("/api/item", params={"at": 17}).json()["item"]
        picture = client.get(item["image"])
        assert picture.headers["content-type"] == "image/png"
        assert picture.content[1:4] == b"PNG"
    assert make_demo(tmp_path / "demo") == path


def test_a_page_goes_on_with_the_server_after_one_that_died(tmp_path):
    with serving(make_project(tmp_path)) as server:
        port, token = server.base.rsplit(":", 1)[1], server.token
        server.kill()
        server.start()
        assert server.token == token
        with server.client() as client:
            assert client.get("/api/state?who=ann").status_code == 200  # the address is printed when it can be reached
    with serving(server.path, "--port", port) as again:
        assert again.token == token


def test_of_two_opinions_the_later_counts(client):
    """A label that came with the table, or from another person, can be changed."""
    answer(client, "n57", "east", "import")
    answer(client, "n57", "north", "second")
    assert client.get("/api/item?id=n57").json()["label"] == "north"


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="memory and open files are read from /proc")
def test_promise_21_nothing_grows(tmp_path):
    with serving(make_project(tmp_path)) as server:
        found = soaked(server, 150, 50)
    print(f"promise 21: {found}")
    assert found.megabytes[1] < 1.025 * found.megabytes[0]
    assert found.files[1] <= found.files[0] + 2
    assert found.log < 2**23
