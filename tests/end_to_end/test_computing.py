"""Commands beside a running server ask it: the same bytes, nothing computed twice, and computed here where it does not answer."""

from __future__ import annotations

import json
import time
from zipfile import ZipFile

import httpx
import pytest
from typer.testing import CliRunner

from askgraph.cli import computing
from askgraph.cli.app import app
from askgraph.workbench.format_names import FORMAT_NAMES
from askgraph.workbench.project import Project
from tests.helpers.serving import HANGS, make_project, serving, truth

pytestmark = [pytest.mark.server, pytest.mark.slow]
FILES = {
    **{f"labels{end}": ["predict"] for end in (".csv", ".jsonl", ".parquet", ".xlsx", ".json")},
    **{name: ["export", "--for", tool] for tool, name in FORMAT_NAMES.items() if tool not in ("asreview", "ris")},
    "given.txt": ["export", "--for", "fasttext", "--answered"],
    "report.html": ["report"],
    "bericht.html": ["report", "--language", "de"],
}


def run(*words):
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def everything(path, folder):
    """What all commands write and print."""
    folder.mkdir()
    said = {name: run(*words, "-p", str(path), "-o", str(folder / name)).stdout for name, words in FILES.items()}
    said |= {word: run(word, "-p", str(path)).stdout for word in ("status", "review", "sources")}
    said = {name: text.replace(str(folder), "").replace("a server has it open\n", "") for name, text in said.items()}
    return said, {file.name: _content(file) for file in sorted(folder.iterdir())}


def _content(file):
    """The bytes of a file; of a spreadsheet those of its parts, but for the time at which it was written."""
    if file.suffix != ".xlsx":
        return file.read_bytes()
    with ZipFile(file) as parts:
        return {name: parts.read(name) for name in parts.namelist() if name != "docProps/core.xml"}


def test_the_same_bytes_with_and_without_a_server_and_nothing_is_computed_twice(tmp_path, monkeypatch):
    path = make_project(tmp_path)
    with serving(path) as server:
        with Project.open(path) as project:
            ids = project.store.ids()
        for id in ids[:9]:
            run("tell", id, truth(id), "-p", str(path), "--new")
        with server.client() as client:
            client.post("/api/target", json={"key": "x" * 10, "who": "ann", "target": 0.2}).raise_for_status()
        with monkeypatch.context() as patch:
            patch.setattr(Project, "open", lambda *_, **__: pytest.fail("the command computes by itself"))
            beside = everything(path, tmp_path / "beside")
    alone = everything(path, tmp_path / "alone")
    assert beside[0] == alone[0]
    assert beside[1].keys() == alone[1].keys()
    assert [name for name in alone[1] if beside[1][name] != alone[1][name]] == []


def compared(client):
    """What the page lists of sources, once they are compared."""
    until = time.monotonic() + HANGS
    while "waiting" in (found := client.get("/api/sources").raise_for_status().json()):
        assert time.monotonic() < until
        time.sleep(0.2)
    return found


def test_rules_and_suggestions_come_in_beside_a_server(tmp_path):
    path = make_project(tmp_path)
    with Project.open(path) as project:
        ids, (column, *_) = project.store.ids(), project.items.fields
    (tmp_path / "gpt.csv").write_text("item,label\n" + "".join(f"{id},north\n" for id in ids[:5]))
    with serving(path) as server, server.client() as client:
        run("suggest", str(tmp_path / "gpt.csv"), "-p", str(path))
        run("tell", ids[0], "east", "-p", str(path))
        run("rule", f"{column} != nothing", "east", "--new", "-p", str(path))
        found = compared(client)
        assert {one["name"]: one["guesses"] for one in found["sources"]} == {
            "gpt": 5, f"rule: {column} != nothing": len(ids)
        }  # fmt: skip
        assert found["against"] == 1  # what gpt says of the first
        assert json.loads(run("sources", "--json", "-p", str(path)).stdout) == found
        item = client.get("/api/item", params={"id": ids[1]}).raise_for_status().json()
        assert item["status"] != "labeled"
    with Project.open(path) as project:
        assert len(project.learner.guesses.sources) == 2


def test_only_the_token_lets_a_command_ask(tmp_path):
    path = make_project(tmp_path)
    with serving(path) as server:
        wanted = {"name": "status", "output": "", "options": {}}
        for route, body in (("compute", wanted), ("suggest", {"guesses": []}), ("rule", {})):
            assert httpx.post(f"{server.base}/api/{route}", json=body).status_code == 401
            with httpx.Client(base_url=server.base) as page:
                page.get(f"/?token={server.token}")  # a page with a session, as a browser has it
                assert page.post(f"/api/{route}", json=body).status_code == 403
        with server.client() as client:
            assert client.post("/api/compute", json={**wanted, "name": "os"}).status_code == 422
            for output in ("../x.csv", "/tmp/x.csv", "a\\b.csv", "a\0b.csv"):
                assert client.post("/api/compute", json={**wanted, "output": output}).status_code == 422
            head, _, _ = client.post("/api/compute", json=wanted).content.partition(b"\n")
            assert json.loads(head)["files"] == []


def test_a_command_computes_by_itself_where_the_server_does_not_answer(tmp_path, monkeypatch):
    path = make_project(tmp_path)
    with serving(path) as server:
        with monkeypatch.context() as patch:
            patch.setattr(computing, "WAIT_SECONDS", 1e-9)
            done = run("predict", "-p", str(path), "-o", str(tmp_path / "a.csv"))
            assert done.stderr.count("\n") == 1
            assert f"askgraph: the server at {server.base} does not say it (" in done.stderr
            assert "so it is computed here" in done.stderr
        assert not run("predict", "-p", str(path), "-o", str(tmp_path / "b.csv")).stderr
        odd = CliRunner().invoke(app, ["predict", "-p", str(path), "-o", str(tmp_path / "b.doc")])
        assert "cannot write a file of type .doc" in str(odd.exception)
        server.kill()
        run("predict", "-p", str(path), "-o", str(tmp_path / "c.csv"))
    assert len({(tmp_path / f"{name}.csv").read_bytes() for name in "abc"}) == 1
