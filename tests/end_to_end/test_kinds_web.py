"""Answers of every kind over HTTP: asked, told, listed, mapped and exported; what does not fit is refused and not stored."""

from __future__ import annotations

import json

import numpy as np
import pytest

from askgraph.kinds.numbers import Numbers
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.serving import answer, ask, key, serving, until

pytestmark = pytest.mark.server

N = 60
STEPS = ["bad", "fair", "good"]
KINDS = {
    "ordered": ("ordered", STEPS),
    "several": ("several", STEPS),
    "numbers": (Numbers(unit="EUR"), []),
    "classes": ("classes", STEPS),
}
ODD = {
    "classes": [3.5, ["bad"], {"one of": ["bad"]}, {"one of": ["bad", "no such class"]}, "", True],
    "ordered": ["great", 3.5, ["bad"], {"one of": ["bad", "great"]}, {"other": 1}],
    "several": [3.5, {"one of": ["bad", "good"]}, ["a|b"], [""], [["bad"]], [1], True],
    "numbers": ["x", ["1"], {"one of": ["1", "2"]}, True, 1e200, "", [], {"bad": 1}],
}


def truth(kind, id):
    x = int(id[1:]) / N
    if kind == "numbers":
        return round(100 * x, 1)
    if kind == "several":
        return [name for name, has in (("bad", x < 0.5), ("good", x > 0.3)) if has]
    return STEPS[int(3 * x)]


@pytest.fixture(params=list(KINDS))
def served(request, tmp_path):
    rng, lines = np.random.default_rng(0), ["id,x"]
    lines += [f"n{k},{k / N + rng.normal(0, 0.01):.4f}" for k in range(N)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    kind, classes = KINDS[request.param]
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv", features=["x"]), classes, answers=kind)
    with serving(tmp_path / "t.ask") as server, server.client() as client:
        yield request.param, client


def test_a_project_of_each_kind_is_labeled_looked_at_and_exported(served):
    kind, client = served
    state = ask(client)["state"]
    assert state["answers"]["kind"] == kind
    assert state["answers"]["unit"] == ("EUR" if kind == "numbers" else None)
    asked, told = ask(client), {}
    for _ in range(16):
        id = asked["question"]["item"]["id"]
        told[id] = truth(kind, id)
        asked = answer(client, id, told[id])
        asked = asked if asked["question"] else ask(client)
    last = asked["state"]["undo"]
    assert last["label"] == told[last["item"]]

    listed = until(client, "/api/items?limit=1000", lambda said: not said["lag"])["items"]
    assert {one["id"]: one["label"] for one in listed if one["status"] == "labeled"} == told
    assert all(one["label"] is not None for one in listed)
    order = [one["label"] for one in client.get("/api/items?limit=1000&sort=label").json()["items"]]
    if kind == "numbers":
        assert order == sorted(order)
        assert all(one["probability"] is None and one["range"] for one in listed if one["status"] == "predicted")
    elif kind == "ordered":
        assert [STEPS.index(one) for one in order] == sorted(STEPS.index(one) for one in order)
    else:
        good = client.get("/api/items?limit=1000&label=good").json()["items"]
        assert {one["id"] for one in good} == {one["id"] for one in listed if "good" in one["label"]}

    parts = until(client, "/api/map", lambda said: "layout" in said and not said["lag"])
    codes = np.frombuffer(client.get(parts["state"]).content, dtype=[("code", "<u2"), ("sure", "u1"), ("flags", "u1")])
    shown = {one["id"]: one["label"] for one in listed}
    if kind == "several":
        assert [sorted(parts["sets"][code]) for code in codes["code"]] == [sorted(shown[f"n{k}"]) for k in range(N)]
    elif kind == "numbers":
        low, high = parts["scale"]["low"], parts["scale"]["high"]
        values = low + codes["code"] / 65534 * (high - low)
        assert values == pytest.approx([shown[f"n{k}"] for k in range(N)], abs=(high - low) / 65534)
    else:
        assert [parts["classes"][code] for code in codes["code"]] == [shown[f"n{k}"] for k in range(N)]

    for route in ("/api/progress", "/api/review", "/api/suspects", "/api/history", "/api/classes", "/api/item?id=n3"):
        assert client.get(route).status_code == 200, route
    assert client.get("/api/why", params={"id": last["item"]}).status_code == 200
    assert client.get("/api/export?format=jsonl").status_code == 200
    rows = [json.loads(line) for line in client.get("/api/export?format=jsonl").text.splitlines()]
    assert {row["id"]: row["label"] for row in rows if row["source"] == "answered"} == told


def test_what_is_no_answer_of_the_kind_is_refused_at_every_door_and_nothing_is_stored(served):
    kind, client = served
    id = ask(client)["question"]["item"]["id"]
    for label in ODD[kind]:
        one = {"item": id, "kind": "label", "label": label}
        doors = {
            "/api/answer": {"key": key(), "who": "ann", "seconds": 1.0, **one},
            "/api/answers": {
                "key": key(),
                "who": "ann",
                "answers": [{**one, "label": truth(kind, id)}, {**one, "item": "n1"}],
            },
            "/api/confirm": {"key": key(), "who": "ann", "items": [id], "label": label},
        }
        for route, body in doors.items():
            refused = client.post(route, json=body)
            assert refused.status_code == 422, (route, label, refused.text)
            assert refused.json()["error"]
    assert client.get("/api/state?who=ann").json()["seq"] == 0


def test_many_items_get_an_answer_in_one_step_and_numbers_not_as_predicted(served):
    kind, client = served
    asked = ask(client)
    for _ in range(6):
        id = asked["question"]["item"]["id"]
        asked = answer(client, id, truth(kind, id))
        asked = asked if asked["question"] else ask(client)
    until(client, "/api/progress", lambda said: said.get("lag") == 0)
    label = truth(kind, "n7")
    body = {"key": key(), "who": "ann", "items": ["n50", "n51", "n52"], "label": label}
    assert client.post("/api/confirm", json=body).json()["saved"] >= 1
    asked = client.post("/api/confirm", json={**body, "key": key(), "items": ["n40", "n41"], "label": None})
    assert asked.status_code == (422 if kind == "numbers" else 200), asked.text
    undone = client.post("/api/undo", json={"key": key(), "who": "ann"}).json()["undone"]
    assert undone["together"] >= 1
    groups = client.post("/api/group", json={"who": "ann"})
    assert groups.status_code == 200 if kind in ("classes", "ordered") else "no groups" in groups.json()["error"]


def test_a_number_far_off_is_asked_about(served):
    kind, client = served
    if kind != "numbers":
        return
    asked = ask(client)
    for _ in range(14):
        id = asked["question"]["item"]["id"]
        asked = answer(client, id, truth(kind, id))
        assert asked["far"] is None
        asked = asked if asked["question"] else ask(client)
    until(client, "/api/progress", lambda said: said.get("lag") == 0)
    asked = ask(client)
    far = answer(client, asked["question"]["item"]["id"], 5000.0)["far"]
    assert far["said"] == 5000.0
    assert far["low"] < far["high"] < 1000
