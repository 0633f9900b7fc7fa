"""Begin without a command line: what is dropped on the page becomes a project, and nothing else on the machine is touched."""

from __future__ import annotations

import asyncio
import csv
import io
import os
import shutil
import sqlite3
import sys
import threading
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest
import xlsxwriter
from PIL import Image

from askgraph.errors import AskgraphError, FileError, FullError, LabelError, NewerError, SettingError
from askgraph.web import dropped as dropping
from askgraph.web.security import Guard
from askgraph.web.start import Adding, Beginning, Looking, Making, Part, start_application
from askgraph.workbench import schema
from askgraph.workbench.exchange import picture_file
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.projects import make
from tests.helpers.serving import serving

KINDS = ("shares of the bank fell at the market", "the team won the match with a goal")
ROWS = [f"n{k},{KINDS[k % 2]},{k},{'ab'[k % 2] if k < 2 else ''}" for k in range(12)]
TABLE = "\n".join(["id,title,size,kind", *ROWS]).encode()
TOO_LATE = ("no project (.ask) was dropped", "no such files here anymore", "0 files that are not pictures", "p.ask: ")


def picture(color):
    file = io.BytesIO()
    Image.new("RGB", (8, 8), color).save(file, "PNG")
    return file.getvalue()


def dropped(folder, **files):
    """A beginning on whose page these files were dropped, and the name of the drop."""
    here = Beginning(folder)
    upload = here.begin()["upload"]
    for name, content in files.items():
        here.upload.write(name, 0, content)
    return here, upload


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_table_is_seen_and_becomes_a_project(tmp_path):
    here, upload = dropped(tmp_path, **{"news.csv": TABLE})
    seen = here.look(Looking(upload=upload))
    assert (seen["kind"], seen["name"], seen["count"], len(seen["rows"])) == ("table", "news", 12, 10)
    assert {one["name"]: (one["kind"], one["use"]) for one in seen["columns"]} == {
        "id": ("short", "id"),
        "title": ("text", "compared"),
        "size": ("number", None),
        "kind": ("short", None),
    }
    here.make(
        Making(upload=upload, project="my news", kind="table", id="id", text=["title"], label="kind", classes=["c"])
    )
    assert names(tmp_path) == ["my news.ask"]  # what was dropped is deleted
    with Project.open(here.made) as project:
        assert project.items.n_items == 12
        assert project.answers.labels == {0: "a", 1: "b"}
        assert "c" in project.answers.classes
        assert project.items.columns["text"] == ["title"]


def test_of_a_wide_table_the_first_columns_are_shown_and_all_are_compared(tmp_path):
    header, row = ",".join(f"gene{k}" for k in range(300)), ",".join("0.5" for _ in range(300))
    here, upload = dropped(tmp_path, **{"wide.csv": f"{header}\n{row}\n{row}\n{row}\n".encode()})
    seen = here.look(Looking(upload=upload))
    assert {len(row) for row in seen["rows"]} == {50}
    assert [one["use"] for one in seen["columns"]] == ["compared"] * 50
    assert seen["more"] == [{"kind": "number", "use": "compared", "count": 250}]
    names = [one["name"] for one in seen["columns"]]
    here.make(Making(upload=upload, project="wide", kind="table", features=names))
    with Project.open(here.made) as project:
        assert len(project.items.columns["features"]) == 300


def test_pictures_stay_beside_the_project(tmp_path):
    (tmp_path / "photos").mkdir()  # a name that is taken is left alone
    files = {f"photos/{'cats/' if k < 2 else ''}{k}.png": picture((40 * k, 0, 0)) for k in range(5)}
    here, upload = dropped(tmp_path, **files)
    assert here.look(Looking(upload=upload)) | {"columns": 0, "rows": 0} == {
        "kind": "pictures", "name": "photos", "count": 5, "there": None, "notes": [], "columns": 0, "rows": 0
    }  # fmt: skip
    here.make(Making(upload=upload, project="photos", kind="pictures", label="folder"))
    assert names(tmp_path) == ["photos", "photos 2", "photos 2.ask"]
    with Project.open(here.made) as project:
        assert sorted(project.store.ids()) == ["2.png", "3.png", "4.png", "cats/0.png", "cats/1.png"]
        assert set(project.answers.labels.values()) == {"cats"}


def test_what_systems_leave_in_a_folder_of_pictures_is_left_out_and_counted(tmp_path):
    files = {f"photos/{k}.png": picture((40 * k, 0, 0)) for k in range(4)}
    here, upload = dropped(tmp_path, **files, **{"photos/Thumbs.db": b"x", "photos/desktop.ini": b"x"})
    seen = here.look(Looking(upload=upload))
    assert (seen["count"], seen["notes"]) == (4, ["2 files left out: neither a picture nor a table"])
    here.make(Making(upload=upload, project="photos", kind="pictures"))
    assert sorted(path.name for path in (tmp_path / "photos").iterdir()) == [f"{k}.png" for k in range(4)]


def test_a_table_of_pictures_and_an_edge_list(tmp_path):
    files = {f"album/p{k}.png": picture((40 * k, 0, 0)) for k in range(4)}
    here, upload = dropped(
        tmp_path, **files, **{"album.csv": b"id,file\n" + b"".join(f"{k},album/p{k}.png\n".encode() for k in range(4))}
    )
    assert here.look(Looking(upload=upload))["kind"] == "table"
    here.make(Making(upload=upload, project="album", kind="table", id="id"))
    with Project.open(here.made) as project:
        assert project.items.item(1).image == "album/p1.png"
    assert names(tmp_path / "album") == ["album"]
    here, upload = dropped(tmp_path, **{"links.csv": b"source,target\na,b\nb,c\n"})
    assert here.look(Looking(upload=upload))["kind"] == "graph"
    here.make(Making(upload=upload, project="links", kind="graph"))
    with Project.open(here.made) as project:
        assert project.store.ids() == ["a", "b", "c"]


def test_what_fails_says_why_and_can_be_tried_again(tmp_path):
    here, upload = dropped(tmp_path, **{"photos/0.png": picture("red")})
    with pytest.raises(AskgraphError):
        here.make(Making(upload=upload, project="p", kind="pictures"))  # one picture has no neighbors
    here.upload.write("photos/1.png", 0, picture("blue"))
    here.upload.write("photos/2.png", 0, picture("navy"))
    here.make(Making(upload=upload, project="p", kind="pictures"))
    assert here.made.exists()
    with pytest.raises(LabelError, match="drop them again"):
        here.look(Looking(upload="another"))
    here, upload = dropped(tmp_path, **{"a.csv": TABLE, "b.csv": TABLE})
    with pytest.raises(SettingError, match="2 files"):
        here.look(Looking(upload=upload))
    here.close()
    assert not list(tmp_path.glob(".askgraph-*"))


LONG = "a survey of everything that was ever said about the price of fish at the harbor " * 3


def test_a_long_name_keeps_its_suffix(tmp_path):
    """Names that a file on this machine can have stay whole, so that a table finds its pictures; others lose their middle."""
    name = LONG[:240]
    here, upload = dropped(tmp_path, **{f"{name}.csv": TABLE})
    seen = here.look(Looking(upload=upload))
    assert (seen["kind"], seen["name"], seen["count"]) == ("table", name, 12)
    here.make(Making(upload=upload, project=seen["name"], kind="table", id="id", text=["title"]))
    assert here.made.suffix == ".ask"
    assert name.startswith(here.made.stem)
    files = {f"album/{name}{k}.png": picture((40 * k, 0, 0)) for k in range(4)}
    rows = "".join(f"{k},album/{name}{k}.png\n" for k in range(4))
    here, upload = dropped(tmp_path, **files, **{"album.csv": b"id,file\n" + rows.encode()})
    here.make(Making(upload=upload, project="album", kind="table", id="id"))
    with Project.open(here.made) as project:
        assert project.items.item(3).image == f"album/{name}3.png"
    here, upload = dropped(tmp_path, **{"魚" * 84 + ".csv": TABLE, LONG * 3 + ".jsonl": b"{}"})
    assert [len(one.encode()) for one in here.upload.sizes] == [
        253,
        254,
    ]  # whole characters, and no space before the dot
    assert [one.rpartition(".")[2] for one in here.upload.sizes] == ["csv", "jsonl"]
    here.close()


def test_no_name_leads_out_of_the_folder(tmp_path, monkeypatch):
    here, _ = dropped(tmp_path)
    for name in (
        "../../evil.csv",
        "/etc/evil.csv",
        "..\\evil.csv",
        "C:\\evil.csv",
        "a/../../../../../evil.csv",
        "x\0.csv",
    ):
        here.upload.write(name, 0, b"x")
    inside = [path for path in here.upload.folder.rglob("*") if path.is_file()]
    assert len(inside) == len(here.upload.sizes)
    assert names(tmp_path) == [here.upload.folder.name]
    assert not (tmp_path.parent / "evil.csv").exists()
    for name in ("run.exe", "page.html", "b.ask-wal"):
        with pytest.raises(FileError, match="not read"):
            here.upload.write(name, 0, b"x")
    with pytest.raises(LabelError, match="missing"):
        here.upload.write("new.csv", 5, b"x")
    monkeypatch.setattr(dropping, "MAX_BYTES", 10)
    with pytest.raises(FullError, match="at once"):
        here.upload.write("large.csv", 0, b"x" * 11)


def test_the_page_is_guarded_as_the_workbench_is(tmp_path):
    """Promise 23, on the page before there is a project."""
    ended = []
    here = Beginning(tmp_path)
    guarded = Guard(start_application(here, lambda: ended.append(True)), "secret")

    async def talk():
        transport = httpx.ASGITransport(guarded)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as stranger:
            for path in ("/", "/page/start.js", "/api/start/made"):
                assert (await stranger.get(path)).status_code == 401
            for path in ("begin", "part?upload=a&name=b.csv", "look", "make"):
                assert (await stranger.post(f"/api/start/{path}", json={})).status_code == 401
        bearer = {"Authorization": "Bearer secret"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=bearer) as client:
            page = await client.get("/")
            assert "start.js" in page.text
            assert "default-src 'none'" in page.headers["content-security-policy"]
            assert (await client.post("/api/start/begin", headers={"Host": "evil.org"})).status_code == 400
            assert (await client.post("/api/start/begin", headers={"Sec-Fetch-Site": "cross-site"})).status_code == 403
            upload = (await client.post("/api/start/begin")).json()["upload"]
            where = {"upload": upload, "name": "news.csv"}
            assert (await client.post("/api/start/part", params=where, content=b"x" * 2**21)).status_code == 413
            for offset, part in ((0, TABLE[:100]), (100, TABLE[100:])):
                sent = await client.post("/api/start/part", params={**where, "offset": offset}, content=part)
                assert sent.json() == {"received": offset + len(part)}
            assert (await client.post("/api/start/look", json={"upload": upload})).json()["count"] == 12
            body = {"upload": upload, "project": "news", "kind": "table", "id": "no such column"}
            await client.post("/api/start/make", json={**body, "id": "id"})
            assert "mark at least one" in (await waited(client))["failed"]
            await client.post("/api/start/make", json={**body, "text": ["title"]})
            assert "no such column" in (await waited(client))["failed"]
            await client.post("/api/start/make", json={**body, "id": "id", "text": ["title"]})
            assert (await waited(client))["made"]
            await asyncio.sleep(0.3)
            assert ended

    asyncio.run(talk())
    assert names(tmp_path) == ["news.ask"]


async def waited(client):
    while True:
        said = (await client.get("/api/start/made")).json()
        if said["made"] or said["failed"]:
            return said
        await asyncio.sleep(0.05)


HOSTILE_NAMES = (
    "../../evil.csv", "/etc/passwd", "..\\..\\evil.csv", "~/evil.csv", "%2e%2e/evil.csv", "a\0b.csv", "\x1b]0;x\x07.csv",
    "=cmd.csv", "-rf.csv", "\u202evsc.exe.csv", "CON.csv", ".", "..", "//", "a.zip", "a.pkl", "a.npy", "x" * 900 + ".csv",
    "\U0001f600" * 100 + ".csv",
)  # fmt: skip


def test_whatever_a_stranger_drops_is_a_sentence_and_stays_in_its_folder(tmp_path):
    """Promises 23 and 24, on the page before there is a project: names, links, folders in the place of files, huge requests."""
    outside, folder = tmp_path / "outside", tmp_path / "here"
    outside.mkdir()
    folder.mkdir()
    (folder / "news.ask").symlink_to(outside / "planted")  # leads nowhere yet
    (folder / "photos").symlink_to(outside / "planted too")
    guarded = Guard(start_application(Beginning(folder), lambda: None), "secret")
    bearer = {"Authorization": "Bearer secret"}

    async def talk():
        transport = httpx.ASGITransport(guarded)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=bearer) as client:

            async def post(path, status, **how):
                said = await client.post(f"/api/start/{path}", **how)
                assert said.status_code in status, (path, how, said.text)
                if said.status_code >= 400:
                    assert 0 < len(said.json()["error"]) <= 500
                    assert said.json()["error"].isprintable()
                return said.json()

            upload = (await post("begin", {200}))["upload"]
            for name in HOSTILE_NAMES:
                where = {"upload": upload, "name": name}
                await post("part", {200, 400, 422, 507}, params=where, content=b"id,x\na,1\n")
            await post("part", {200}, params={"upload": upload, "name": "a.csv"}, content=b"x")
            await post(
                "part", {507}, params={"upload": upload, "name": "a.csv/b.csv"}, content=b"x"
            )  # a file, not a folder
            await post("part", {422}, params={"upload": upload, "name": "b.csv", "offset": 2**60}, content=b"x")
            await post("part", {422}, params={"upload": "other", "name": "b.csv"}, content=b"x")
            await post("look", {400}, json={"upload": upload})
            for body in ({}, [], None, {"upload": 5}, {"upload": "x" * 10_000}, {"upload": upload, "project": "p"}):
                await post("make", {422}, json=body)
            many = {"upload": upload, "project": "p", "kind": "table", "classes": ["x"] * 1001}
            await post("make", {422}, json=many)
            await post("make", {413}, json={**many, "text": ["x" * 1000] * 2000})
            await post(
                "look", {400, 422}, content=b'{"upload": "\\ud800"}', headers={"Content-Type": "application/json"}
            )
            upload = (await post("begin", {200}))["upload"]
            await post("part", {200}, params={"upload": upload, "name": "news.csv"}, content=TABLE)
            for project in ("../../evil", "news", "=cmd()", "\x1b[2J"):
                body = {"upload": upload, "project": project, "kind": "table", "id": "id", "text": ["no such column"]}
                await post("make", {200}, json=body)
                assert "no such column" in (await waited(client))["failed"]
            await post("make", {200}, json={**body, "project": "news", "text": ["title"]})
            assert (await waited(client))["made"]

    asyncio.run(talk())
    assert names(outside) == []
    assert names(tmp_path) == ["here", "outside"]
    assert names(folder) == ["news 2.ask", "news.ask", "photos"]
    assert (folder / "news.ask").is_symlink()


def test_pictures_are_not_moved_over_a_link_that_was_planted(tmp_path):
    outside = tmp_path / "outside"
    (tmp_path / "photos").symlink_to(outside)
    here, upload = dropped(tmp_path, **{f"photos/{k}.png": picture((40 * k, 0, 0)) for k in range(4)})
    here.make(Making(upload=upload, project="photos", kind="pictures"))
    assert names(tmp_path) == ["photos", "photos 2", "photos 2.ask"]
    assert not outside.exists()


def test_a_dropped_project_is_put_into_the_folder_and_never_twice(tmp_path):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir()
    folder.mkdir()
    (folder / "news").mkdir()  # pictures of another project, perhaps: the name of a project is free all the same
    (folder / "news.ask-wal").write_bytes(b"the log of a project that is gone")
    path = make(elsewhere / "news.ask")
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", "a")
    here, upload = dropped(folder, **{"news.ask": path.read_bytes()})
    assert here.look(Looking(upload=upload)) == {"kind": "project"}
    assert here.take(upload) == "news.ask"
    assert names(folder) == [here.upload.folder.name, "news", "news.ask"]
    assert (folder / "news.ask").stat().st_mode & 0o077 == 0
    assert here.open("news.ask") is None
    assert here.made == folder / "news.ask"
    with Project.open(here.made, write=True) as project:
        assert project.answers.labels == {0: "a"}
        project.say("ann", "i1", "label", "b")
    here, upload = dropped(folder, **{"copy of news.ask": path.read_bytes()})
    assert here.take(upload) == "news.ask"  # which went on
    with Project.open(path, write=True) as project:
        project.say("bob", "i5", "label", "c")
    here, upload = dropped(folder, **{"news.ask": path.read_bytes()})
    assert here.take(upload) == "news 2.ask"  # with an answer that the other has not
    assert sorted(path.name for path in folder.glob("*.ask")) == ["news 2.ask", "news.ask"]


def test_what_is_no_project_of_ours_is_refused_by_its_own_name_and_leaves_nothing(tmp_path):
    path = make(tmp_path / "p.ask")
    good = path.read_bytes()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA user_version = 99")
    newer = path.read_bytes()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"PRAGMA user_version = {schema.LATEST}")
        db.execute("CREATE TRIGGER mine AFTER INSERT ON answers BEGIN DELETE FROM items; END")
    hostile = path.read_bytes()
    path.unlink()
    for content, kind, words in (
        (newer, NewerError, "made by a newer askgraph"), (hostile, FileError, "trigger mine"), (good[:5000], FileError, "my own"),
        (b"", FileError, "my own"), (b"SQLite format 3\0" + bytes(5000), FileError, "my own"), (TABLE, FileError, "not a database"),
    ):  # fmt: skip
        here, upload = dropped(tmp_path, **{"my own.ask": content})
        with pytest.raises(kind, match=words) as wrong:
            here.take(upload)
        assert str(wrong.value).startswith("my own.ask: ")
        assert str(tmp_path) not in str(wrong.value)
        assert ".askgraph-" not in str(wrong.value)
        here.close()
        assert names(tmp_path) == []
    here, upload = dropped(tmp_path, **{"p.ask": good, "a.csv": TABLE})
    with pytest.raises(SettingError, match="by itself"):
        here.look(Looking(upload=upload))
    here.close()


@pytest.mark.slow
def test_a_project_whose_bytes_were_changed_is_taken_or_refused_in_a_sentence(tmp_path):
    """Promise 12, for what is dropped."""
    content = bytearray(make(tmp_path / "p.ask", n=3).read_bytes())
    (tmp_path / "p.ask").unlink()
    for k in range(0, len(content), max(1, len(content) // 60)):
        changed = bytes(content[:k]) + bytes([content[k] ^ 0xFF]) + bytes(content[k + 1 :])
        here, upload = dropped(tmp_path, **{"p.ask": changed})
        try:
            here.take(upload)
            list_of = here.projects()
            assert [one["name"] for one in list_of] == ["p.ask"]
            (tmp_path / "p.ask").unlink()
        except AskgraphError as error:
            assert str(error).startswith("p.ask")  # noqa: PT017 -- most are refused, some are read
        here.close()
        assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["../p.ask", "/etc/passwd", "p", "none.ask", "x" * 900, "\0"])
def test_no_path_is_gone_on_with(tmp_path, name):
    folder = tmp_path / "here"
    folder.mkdir()
    make(tmp_path / "p.ask")
    make(folder / "p.ask")
    with pytest.raises(FileError, match="no such project"):
        Beginning(folder).open(name)


@pytest.mark.server
def test_a_project_that_another_server_has_open_is_led_to_without_its_token(tmp_path):
    """Promise 28."""
    path = make(tmp_path / "p.ask", classes=["a", "b"])
    guarded = Guard(start_application(Beginning(tmp_path), lambda: None), "secret")

    async def asked():
        transport, bearer = httpx.ASGITransport(guarded), {"Authorization": "Bearer secret"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=bearer) as client:
            listed = (await client.get("/api/start/projects")).json()
            return listed, await client.post("/api/start/open", json={"name": "p.ask"})

    with serving(path) as server:
        listed, reply = asyncio.run(asked())
        assert [one["is_open"] for one in listed] == [True]
        assert reply.json() == {"port": urlsplit(server.base).port}
        assert server.token not in reply.text + str(reply.headers)
        name, _, session = reply.headers["set-cookie"].partition(";")[0].partition("=")
        with httpx.Client(cookies={name: session}) as browser:
            assert browser.get(f"{server.base}/api/state?who=ann").status_code == 200
            assert browser.post(f"{server.base}/api/remove", json={"items": ["i0"]}).status_code == 403


def wide_table(n):
    rows = [[f"P{k}", f"{KINDS[k % 2]} {k}", k, ("a", "b", "")[k % 3], f"2024-01-{k % 28 + 1:02}"] for k in range(n)]
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["code", "title", "size", "region", "day"], *rows])
    return file.getvalue().encode()


def test_the_same_rows_dropped_again_offer_the_project_that_is_there(tmp_path):
    here, upload = dropped(tmp_path, **{"alt.csv": wide_table(30)})
    assert here.look(Looking(upload=upload))["there"] is None
    here.make(Making(upload=upload, project="alt", kind="table", id="code", text=["title"], left_out=["region"]))
    with Project.open(here.made, write=True) as project:
        project.say("ann", "P1", "label", "sport")
    here, upload = dropped(tmp_path, **{"again.csv": wide_table(30)})
    assert here.look(Looking(upload=upload))["there"] == {"name": "alt.ask", "labels": 1, "items": 30, "rows": 30}
    here, upload = dropped(tmp_path, **{"more.csv": wide_table(36)})
    assert here.look(Looking(upload=upload))["there"] == {"name": "alt.ask", "labels": 1, "items": 30, "rows": 30}
    here.add(Adding(upload=upload, name="alt.ask"))
    assert here.made == tmp_path / "alt.ask"
    with Project.open(here.made) as project:
        assert project.items.n_items == 36
        assert len(project.answers.labels) == 1
    assert here.upload is None


def test_new_rows_are_added_as_the_file_was_read(tmp_path):
    def table(n):
        return "".join(["код;текст\n", *(f"Р{k};{'мяч и гол' if k % 2 else 'банк и рынок'}, {k}\n" for k in range(n))])

    way = {"encoding": "windows-1251"}
    here, upload = dropped(tmp_path, **{"новости.csv": table(12).encode("windows-1251")})
    here.make(Making(upload=upload, project="новости", kind="table", text=["текст"], **way))
    here, upload = dropped(tmp_path, **{"новости.csv": table(14).encode("windows-1251")})
    assert here.look(Looking(upload=upload, **way))["there"]["rows"] == 12
    here.add(Adding(upload=upload, name="новости.ask", **way))
    with Project.open(here.made) as project:
        assert project.items.n_items == 14
        assert project.items.item(13).fields["текст"] == "мяч и гол, 13"


def test_pictures_dropped_again_are_known_by_name_and_size(tmp_path):
    files = {f"photos/{k}.png": picture((40 * k, 0, 0)) for k in range(5)}
    here, upload = dropped(tmp_path, **files)
    here.make(Making(upload=upload, project="photos", kind="pictures"))
    here, upload = dropped(tmp_path, **files)
    assert here.look(Looking(upload=upload))["there"] == {"name": "photos.ask", "labels": 0, "items": 5, "rows": 5}
    here, upload = dropped(tmp_path, **{name: content + b"more" for name, content in files.items()})
    assert here.look(Looking(upload=upload))["there"] is None  # of another camera, which counts from 1 too
    here.close()


def test_a_column_that_is_left_out_is_kept_and_not_shown_and_an_offer_is_taken_only_by_word(tmp_path):
    here, upload = dropped(tmp_path, **{"alt.csv": wide_table(30)})
    seen = {one["name"]: one for one in here.look(Looking(upload=upload))["columns"]}
    assert (seen["code"]["use"], seen["title"]["use"], seen["region"]["offered"]) == ("id", "compared", True)
    assert (seen["region"]["values"], seen["region"]["empty"], seen["day"]["kind"]) == (2, 10, "date")
    chosen = {"upload": upload, "kind": "table", "text": ["title"]}
    for said, shown, labels, first in (
        ({"left_out": ["region"], "id": "code"}, {"title", "size", "day"}, 0, "P0"),
        ({"id": "code"}, {"title", "size", "day", "region"}, 0, "P0"),  # "only show it"
        ({"label": "region", "left_out": ["day"]}, {"code", "title", "size"}, 20, "1"),  # items are numbered
    ):
        here, chosen["upload"] = dropped(tmp_path, **{"alt.csv": wide_table(30)})
        here.make(Making(project="alt", **chosen, **said))
        with Project.open(here.made) as project:
            assert set(project.items.shown) == shown
            assert {
                *project.about["fields"],
                *([project.items.columns["id"]] if project.items.columns["id"] else []),
            } == set(seen)
            assert len(project.answers.labels) == labels
            assert project.items.item(0).id == first


def test_a_sheet_and_an_encoding_can_be_chosen(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "book.xlsx") as book:
        for name in ("first", "second"):
            sheet = book.add_worksheet(name)
            for k, row in enumerate(csv.reader(wide_table(12).decode().splitlines())):
                sheet.write_row(k, 0, [*row, name])
    content = (tmp_path / "book.xlsx").read_bytes()
    (tmp_path / "book.xlsx").unlink()
    here, upload = dropped(tmp_path, **{"book.xlsx": content})
    seen = here.look(Looking(upload=upload))
    assert (seen["sheets"], seen["sheet"], seen["rows"][0][-1]) == (("first", "second"), "first", "first")
    seen = here.look(Looking(upload=upload, sheet="second"))
    assert (seen["sheet"], seen["rows"][0][-1]) == ("second", "second")
    with pytest.raises(SettingError, match=r"^book\.xlsx: no sheet 'third'"):
        here.look(Looking(upload=upload, sheet="third"))
    here.make(Making(upload=upload, project="book", kind="table", text=["title"], sheet="second"))
    with Project.open(here.made) as project:
        assert project.items.item(0).fields["second"] == "second"
    here, upload = dropped(tmp_path, **{"größen.csv": wide_table(12).replace(b"goal", "Größe".encode("cp1252"))})
    seen = here.look(Looking(upload=upload))
    assert (seen["encoding"], "Größe" in seen["notes"][0]) == ("windows-1252", True)
    assert "GrÖße".casefold() not in here.look(Looking(upload=upload, encoding="windows-1251"))["rows"][1][1]
    with pytest.raises(FileError, match=r"^größen\.csv, line 3: "):
        here.look(Looking(upload=upload, encoding="utf-8"))
    here.close()


def test_a_spreadsheet_whose_first_sheets_have_no_rows_is_read_from_the_first_that_has(tmp_path):
    for name, covers in (("one", ["empty", "title"]), ("none", ["empty", "title", "end"])):
        with xlsxwriter.Workbook(tmp_path / f"{name}.xlsx") as book:
            for sheet in covers:
                book.add_worksheet(sheet).write_row(0, 0, ["A survey"] if sheet == "title" else [])
            if name == "one":
                sheet = book.add_worksheet("data")
                for k, row in enumerate(csv.reader(wide_table(12).decode().splitlines())):
                    sheet.write_row(k, 0, row)
        here, upload = dropped(tmp_path, **{"book.xlsx": (tmp_path / f"{name}.xlsx").read_bytes()})
        if name == "one":
            seen = here.look(Looking(upload=upload))
            assert (seen["sheet"], seen["count"], seen["sheets"]) == ("data", 12, ("empty", "title", "data"))
        else:
            with pytest.raises(FileError, match=r"^book\.xlsx: the sheet 'empty' is empty"):
                here.look(Looking(upload=upload))
        here.close()


def test_messages_name_the_own_file_and_no_folder_of_this_machine(tmp_path, monkeypatch):
    for name, content, said in (
        ("pakete.csv", b"", {}), ("pakete.csv", b"a,b\n1\n", {}), ("pakete.jsonl", b"{", {}), ("pakete.json", b"[1]", {}),
        ("pakete.xlsx", b"PK", {}), ("pakete.ris", b"x", {}), ("pakete.parquet", b"PAR1", {}), ("links.edges", b"a\n", {}),
        ("pakete.csv", b"id,t\na,x\na,y\n", {"id": "id", "text": ["t"]}), ("pakete.csv", b"t\n1 \n", {"text": ["x"]}),
    ):  # fmt: skip
        here, upload = dropped(tmp_path, **{f"mein ordner/{name}": content})
        with pytest.raises(AskgraphError) as wrong:
            look_and_make(here, upload, said)
        assert name in str(wrong.value)
        assert str(tmp_path) not in str(wrong.value)
        assert ".askgraph-" not in str(wrong.value)
        here.close()
    files = {f"{k}.png": picture("red") for k in range(2)}
    here, upload = dropped(tmp_path, **files, **{"t.csv": b"id,file\na,x.png\nb,y.png\n"})
    with pytest.raises(AskgraphError) as wrong:
        here.make(Making(upload=upload, project="p", kind="table", id="id"))
    assert str(tmp_path) not in str(wrong.value)
    here.close()
    monkeypatch.setattr("askgraph.web.start.Upload", never_written)
    with pytest.raises(FullError, match="start askgraph in another one"):
        Beginning(tmp_path).begin()


def look_and_make(here, upload, said):
    here.look(Looking(upload=upload))
    here.make(Making(upload=upload, project="p", kind="table", **said))


def never_written(_):
    raise PermissionError(13, "Permission denied")


def test_while_a_project_is_made_the_page_hears_what_is_being_done(tmp_path):
    here, upload = dropped(tmp_path, **{"news.csv": TABLE})
    heard = []
    here._note_stage = lambda what, share: heard.append((what, share))
    here.make(Making(upload=upload, project="news", kind="table", text=["title"]))
    stages = list(dict.fromkeys(what for what, _ in heard if "compiling" not in what))
    assert stages[0] == "reading news.csv"
    assert stages[-1] == "writing 12 items"
    assert "comparing items" in stages


@contextmanager
def speaking(here):
    """The page of a beginning, to which requests are sent; yields a function that sends some of them at once."""

    async def sent(requests):
        transport = httpx.ASGITransport(start_application(here, lambda: None), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await asyncio.gather(
                *(client.post(f"/api/start/{path}", json=body) if body is not None else client.get(f"/api/start/{path}")
                  for path, body in requests)
            )  # fmt: skip

    yield lambda *requests: asyncio.run(sent(requests))
    here.close()


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("a.jsonl", b'{"a": "\\ud800"}\n{"a": "b"}\n', "?"),
        ("a.jsonl", b'{"\\ud800": "a"}\n{"\\ud800": "b"}\n', "a"),
        ("a.gml", b'graph [ node [ id 0 label "&#55296;" ] node [ id 1 label "b" ] edge [ source 0 target 1 ] ]', "?"),
    ],
)
def test_half_a_pair_of_surrogates_is_shown_as_a_question_mark(tmp_path, name, content, shown):
    here, upload = dropped(tmp_path, **{name: content})
    with speaking(here) as send:
        (reply,) = send(("look", {"upload": upload}))
        assert reply.status_code == 200
        assert reply.json()["rows"][0] == [shown]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 there")
def test_a_project_whose_name_is_not_text_is_listed_and_keeps_no_other_from_being_listed(tmp_path):
    path = make(tmp_path / "good.ask")
    shutil.copy(path, os.fsencode(tmp_path) + b"/bad\xff.ask")
    with speaking(Beginning(tmp_path)) as send:
        good, bad = send(("projects", None))[0].json()
        assert (good["name"], good["wrong"]) == ("good.ask", None)
        assert (bad["name"], "rename the file" in bad["wrong"]) == ("bad\\xff.ask", True)
        assert send(("open", {"name": "bad\\xff.ask"}))[0].status_code == 400


@pytest.mark.parametrize("named", ["/", "outside", "here/../outside", "here/link"])
def test_a_dropped_project_shows_no_picture_from_outside_the_folder_of_the_projects(tmp_path, monkeypatch, named):
    folder, outside = tmp_path / "here", tmp_path / "outside"
    for place in (folder, outside, folder / "photos", folder / "mine"):
        place.mkdir()
        (place / "a.png").write_bytes(picture("red"))
        (place / "b.png").write_bytes(picture("blue"))
    (folder / "link").symlink_to(outside)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "photos.ask"
    Project.create(path, Source(outside))
    for images, kept in ((named, "photos"), (str(tmp_path / named), "photos"), (str(folder / "mine"), "mine")):
        with Project.open(path, write=True) as project:
            project.store.note("images", images)
        here, upload = dropped(folder, **{"photos.ask": path.read_bytes()})
        taken = folder / here.take(upload)
        with Project.open(taken) as project:
            assert picture_file(project, project.items.item(0)) == folder / kept / "a.png"
        here.close()
        taken.unlink()
        assert [one for one in names(folder) if ".ask" in one] == []


@pytest.mark.parametrize("images", ["5", "[]", '"/\\u0000"', None])
def test_a_dropped_project_whose_folder_of_pictures_is_damaged_is_refused_in_a_sentence(tmp_path, images):
    path = make(tmp_path / "p.ask")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM about WHERE name = 'images'")
        if images is not None:
            db.execute("INSERT INTO about VALUES ('images', ?)", (images,))
    content = path.read_bytes()
    path.unlink()
    here, upload = dropped(tmp_path, **{"p.ask": content})
    with pytest.raises(FileError, match=r"^p\.ask: damaged"):
        here.take(upload)
    here.close()


def test_a_dropped_project_gets_a_name_beside_which_there_is_room_for_the_files_of_sqlite(tmp_path, monkeypatch):
    path = make(tmp_path / "elsewhere")
    content, folder = path.read_bytes(), tmp_path / "here"
    (folder / "p.ask-wal").mkdir(parents=True)
    (folder / "p 2.ask-shm").symlink_to(tmp_path)
    for name, taken in (
        ("p.ask", "p 3.ask"),
        (f"{'x' * 300}.ask", f"{'x' * 146}.ask"),
        ("魚" * 84 + ".ASK", "魚" * 48 + ".ask"),
    ):
        here, upload = dropped(folder, **{name: content})
        assert here.take(upload) == taken
        assert here.open(taken) is None
        (folder / taken).unlink()
    here, upload = dropped(folder, **{"p.ask": content})
    monkeypatch.setattr("askgraph.web.start.remove_side_files", never_written)
    with pytest.raises(FileError, match=r"^p\.ask: cannot be written \(Permission denied\)"):
        here.take(upload)


def test_requests_that_come_at_once_wait_for_each_other_and_leave_nothing(tmp_path):
    content = make(tmp_path / "p.ask").read_bytes()
    (tmp_path / "p.ask").unlink()
    here = Beginning(tmp_path)
    with speaking(here) as send:
        assert {reply.status_code for reply in send(*[("begin", {})] * 12)} == {200}
        assert names(tmp_path) == [here.upload.folder.name]
        here.upload.write("p.ask", 0, content)
        replies = send(*[("take", {"upload": here.upload.id})] * 6, *[("look", {"upload": here.upload.id})] * 2)
        assert 200 in {reply.status_code for reply in replies[:6]}
        late = [reply.json()["error"] for reply in replies if reply.status_code != 200]
        assert {words for words in late if not words.startswith(TOO_LATE)} == set()
        assert {reply.status_code for reply in send(*[("open", {"name": "p.ask"})] * 6)} == {200}
    assert names(tmp_path) == ["p.ask", "p.ask.lock"]


def test_a_part_that_comes_late_makes_no_folder(tmp_path):
    here, upload = dropped(tmp_path, **{"a.csv": TABLE})
    late, writing = Part(upload=upload, name="b.csv"), here.upload.write
    begun = threading.Thread(target=here.begin)

    def write_late(*said):
        begun.start()
        begun.join(0.1)  # it waits until the part is written
        writing(*said)

    here.upload.write = write_late
    here.write(late, TABLE)
    begun.join()
    assert names(tmp_path) == [here.upload.folder.name]
    with pytest.raises(LabelError, match="drop them again"):
        here.write(late, TABLE)
    here.close()
    assert names(tmp_path) == []
