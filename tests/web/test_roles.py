"""Roles where a project is served: who gets in by which password, under which name, and who may call which route."""

from __future__ import annotations

import asyncio
import base64
import threading
import time
from contextlib import ExitStack, contextmanager
from itertools import count
from types import SimpleNamespace

import httpx
import pytest
from fastapi import HTTPException

from askgraph.web import rights, security
from askgraph.web.app import application
from askgraph.web.rights import RIGHTS
from askgraph.web.security import Guard, Sessions, Team
from askgraph.workbench.passwords import Passwords, give_role, new_password
from askgraph.workbench.project import Project
from tests.helpers.serving import HANGS, NO_CERTIFICATES, answer, key, make_project, serving

SECRET = "correct horse battery"


def team(path, **roles):
    """Give people roles and passwords that begin with their names."""
    with Project.open(path, write=True) as project:
        for name, role in roles.items():
            give_role(project, "me", name, role, f"{name} {SECRET}")


class Browser(httpx.Client):
    """A browser that has sent a request before its block begins."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


ADDRESSES = count()


def login(server, who, password=None):
    """A browser at an address of its own, in which somebody has logged in, or not."""
    k = next(ADDRESSES)
    headers = {"X-Forwarded-For": f"10.0.{k // 250}.{k % 250}"}
    browser = Browser(base_url=server.base, timeout=HANGS, headers=headers, **NO_CERTIFICATES)
    said = {"who": who, "password": f"{who} {SECRET}" if password is None else password}
    reply = browser.post("/login", data=said)
    browser.entered, browser.told = reply.status_code, reply.text
    return browser


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = make_project(tmp_path_factory.mktemp("roles"))
    team(path, ann="lead", emil="labeler")
    with serving(path, env={"ASKGRAPH_PASSWORD": "open sesame"}) as server:
        yield server


# The table of rights


class NoDesk:
    thinker = None


def test_every_route_says_who_may_call_it():
    # Promise 39
    routes = sorted(
        (method, route.path) for route in application(NoDesk()).routes for method in route.methods - {"HEAD"}
    )
    assert set(routes) == set(RIGHTS)
    assert len(routes) == len(set(routes))


@pytest.fixture(scope="module")
def people(served):
    with login(served, "emil") as emil, login(served, "ann") as ann:
        yield {"labeler": emil, "lead": ann}


@pytest.mark.server
@pytest.mark.parametrize(("method", "path"), sorted(RIGHTS))
def test_a_labeler_gets_no_route_of_a_lead_and_a_lead_none_of_the_owner(people, method, path):
    # Promise 39
    rank = RIGHTS[method, path]
    for role, browser in people.items():
        said = browser.request(method, path.replace("{place}", "1").replace("{name:path}", "main.js"))
        may = rights.RANKS.index(rank) <= rights.RANKS.index(role)
        assert (said.status_code == 403) != may, (role, said.text)
        if not may:
            assert said.json()["error"] == rights.REFUSALS[rank]


def test_a_route_that_is_not_in_the_table_is_the_owners():
    # Promise 39
    async def ask():
        rights.CALLER.set(rights.Caller("ann", "lead"))
        route = SimpleNamespace(path="/new")
        await rights.check_rights(SimpleNamespace(method="GET", scope={"route": route}))

    with pytest.raises(HTTPException) as refused:
        asyncio.run(ask())
    assert refused.value.status_code == 403


# Names


@pytest.mark.server
def test_who_comes_from_the_session_and_never_from_the_request(served):
    # Promise 39
    with login(served, "emil") as emil, login(served, "ann") as ann:
        assert (emil.entered, ann.entered) == (303, 303)
        assert emil.get("/api/me").json() == {"who": "emil", "rank": "labeler"}
        for who in ("ann", "EMIL", "somebody", "x" * 200):
            said = answer(emil, "n1", "east", who=who)
            assert "emil" in [one["name"] for one in said["state"]["people"]]
            assert emil.post("/api/question", json={"who": who}).status_code == 200
            assert emil.get("/api/state", params={"who": who}).status_code == 200
        answer(ann, "n2", "west", who="emil")
        lines = ann.get("/api/history").json()["answers"]
        assert {(one["item"], one["who"]) for one in lines} == {("n1", "emil"), ("n2", "ann")}
        emil.post("/api/undo", json={"key": key(), "who": "ann"}).raise_for_status()
        taken = ann.get("/api/history", params={"limit": 1}).json()["answers"][0]
        assert (taken["kind"], taken["who"], taken["item"]) == ("undo", "emil", "n1")  # his own, not hers
        people = {one["name"]: one["role"] for one in ann.get("/api/state?who=ann").json()["people"]}
        assert people == {"emil": "labeler", "ann": "lead"}


@pytest.mark.server
def test_a_key_of_another_person_is_refused(served):
    with login(served, "emil") as emil, login(served, "ann") as ann:
        body = {"key": key(), "who": "emil", "item": "n4", "kind": "label", "label": "east"}
        first = emil.post("/api/answer", json=body)
        assert emil.post("/api/answer", json=body).json()["saved"] == first.json()["saved"]  # the reply was lost
        assert ann.post("/api/answer", json=body).status_code == 409


@pytest.mark.server
def test_only_a_lead_adds_a_class_by_an_answer(served):
    with login(served, "emil") as emil, login(served, "ann") as ann:
        routes = {
            "/api/answer": {"item": "n5", "kind": "label", "label": "south"},
            "/api/answers": {"answers": [{"item": "n5", "kind": "label", "label": "south"}]},
            "/api/confirm": {"items": ["n5"], "label": "south"},
            "/api/group/confirm": {"items": ["n5"], "label": "south"},
            "/api/confirm/places": {"edition": "x", "places": [5], "label": "south"},
        }
        for path, body in routes.items():
            said = emil.post(path, json={"key": key(), "who": "emil", **body})
            assert (said.status_code, said.json()["error"][:30]) == (403, "no class 'south': only a lead "), path
        assert "south" not in [one["name"] for one in ann.get("/api/classes").json()["classes"]]
        answer(ann, "n5", "south", who="ann")
        answer(emil, "n6", "south", who="emil")  # it is a class by now


# Passwords


@pytest.mark.server
def test_people_log_in_by_name_and_the_password_of_all_lets_nobody_in(served):
    with httpx.Client(base_url=served.base, **NO_CERTIFICATES) as stranger:
        form = stranger.get("/login").text
        assert 'name="who"' in form
        assert stranger.get("/").headers["location"] == "/login"
        assert stranger.get("/api/me").status_code == 401
    said = {}
    for who, password in [
        ("", "open sesame"), ("ann", "open sesame"), ("ann", ""), ("ann", f"emil {SECRET}"), ("nobody", f"ann {SECRET}"),
        ("ann\u200b", f"ann {SECRET}"), ("\u0430nn", f"ann {SECRET}"), ("ann'; --", "x"),
    ]:  # fmt: skip
        with login(served, who, password) as browser:
            assert browser.entered == 401, who
            assert "set-cookie" not in browser.headers
            said[who, password] = browser.told
    assert len(set(said.values())) == 1  # the same words for an unknown name and a wrong password
    assert "not a name with its password" in said["ann", ""]
    for who in (" ann ", "ANN", "Ann", "\uff41nn"):
        with login(served, who, f"ann {SECRET}") as browser:
            assert browser.entered == 303
            assert browser.get("/api/me").json() == {"who": "ann", "rank": "lead"}


@pytest.mark.server
def test_the_owner_with_the_token_does_as_before(served):
    with served.client() as owner:
        assert owner.get("/api/me").json() == {"who": None, "rank": "owner"}
        answer(owner, "n7", "east", who="somebody")
        assert owner.get("/api/history?limit=1").json()["answers"][0]["who"] == "somebody"
    with httpx.Client(base_url=served.base, follow_redirects=True, **NO_CERTIFICATES) as browser:  # by the link
        browser.get(f"/?token={served.token}").raise_for_status()
        assert browser.get("/api/me").json() == {"who": None, "rank": "lead"}
        added = {"key": key(), "who": "me", "kind": "add", "name": "up"}
        assert browser.post("/api/classes", json=added).status_code == 200
        assert (
            browser.post("/api/role", json={"key": key(), "who": "me", "name": "eve", "role": "lead"}).status_code
            == 403
        )


@pytest.mark.server
def test_a_new_password_ends_the_sessions_of_a_person_alone(tmp_path):
    # Promise 39
    path = make_project(tmp_path)
    team(path, ann="lead", emil="labeler")
    with serving(path) as server, server.client() as owner, ExitStack() as logged_in:
        emil, ann = (logged_in.enter_context(login(server, who)) for who in ("emil", "ann"))

        def give(name, role, password):
            body = {"key": key(), "who": "me", "name": name, "role": role, "password": password}
            return owner.post("/api/role", json=body)

        def state(browser):
            return browser.get("/api/state?who=x").status_code

        assert (state(emil), state(ann)) == (200, 200)
        said = give("emil", "labeler", "another password")
        assert said.json() == {"name": "emil"}
        assert "password" not in said.text
        assert (state(emil), state(ann)) == (401, 200)
        assert logged_in.enter_context(login(server, "emil")).entered == 401
        emil = logged_in.enter_context(login(server, "emil", "another password"))
        assert state(emil) == 200
        assert emil.post("/api/target", json={"key": key(), "who": "emil", "target": 0.1}).status_code == 403
        give("emil", "lead", "a third password").raise_for_status()
        assert state(emil) == 401
        emil = logged_in.enter_context(login(server, "emil", "a third password"))
        assert emil.post("/api/target", json={"key": key(), "who": "emil", "target": 0.1}).status_code == 200
        give("emil", None, None).raise_for_status()
        assert state(emil) == 401
        assert logged_in.enter_context(login(server, "emil", "a third password")).entered == 401
        for name, role, password, words in (
            ("eve", "lead", None, "comes with a password"),
            ("eve", "lead", "short", "give 8 to 200"),
            ("eve", "lead", "x" * 201, "give 8 to 200"),
            ("Ann", "lead", "long enough", "write 'ann'"),
            ("a\u202enn", "lead", "long enough", "nobody sees"),
        ):
            refused = give(name, role, password)
            assert (refused.status_code, words in refused.json()["error"]) == (422, True)
        give("ann", None, None).raise_for_status()
        assert state(ann) == 401


@pytest.mark.server
def test_the_password_of_all_counts_while_nobody_has_a_role(tmp_path):
    with (
        serving(make_project(tmp_path), env={"ASKGRAPH_PASSWORD": "open sesame"}) as server,
        login(server, "", "open sesame") as browser,
        server.client() as owner,
    ):
        assert browser.get("/api/me").json() == {"who": None, "rank": "lead"}
        body = {"key": key(), "who": "me", "name": "ann", "role": "lead", "password": f"ann {SECRET}"}
        owner.post("/api/role", json=body).raise_for_status()
        assert browser.get("/api/me").status_code == 401  # from now on each by name
        assert 'name="who"' in browser.get("/login").text
        owner.post("/api/role", json={"key": key(), "who": "me", "name": "ann"}).raise_for_status()
        assert browser.get("/api/me").json() == {"who": None, "rank": "lead"}


@pytest.mark.server
def test_a_forged_session_is_none(served):
    # Promise 39
    with login(served, "emil") as emil:
        ((name, mine),) = emil.cookies.items()
        until, nonce, whose, signature = mine.split(".")
        other = base64.urlsafe_b64encode(b"ann").decode()
        forged = [
            f"{until}.{nonce}.{other}.{signature}", f"{until}.{nonce}.t.{signature}", f"{until}.{nonce}.p.{signature}",
            f"{until}9.{nonce}.{whose}.{signature}", f"{until}.{nonce}.{whose}.", f"{until}.{nonce}..{signature}",
            f"{until}.{nonce}.{whose}", mine[:-1], mine.upper(), "...", "." * 9, whose, "a" * 3000,
            f"{until}.{nonce}.{base64.urlsafe_b64encode(bytes([255, 254])).decode()}.{signature}",
        ]  # fmt: skip
        for session in forged:
            said = httpx.get(f"{served.base}/api/me", headers={"Cookie": f"{name}={session}"}, **NO_CERTIFICATES)
            assert said.status_code == 401, session
        both = f"{name}={forged[0]}; {name}={mine}"
        said = httpx.get(f"{served.base}/api/me", headers={"Cookie": both}, **NO_CERTIFICATES)
        assert said.json() == {"who": "emil", "rank": "labeler"}


@pytest.mark.server
def test_long_passwords_and_names_cost_no_more_than_others(served):
    for who, password in (
        ("ann", "x" * 10**6),
        ("x" * 10**6, "y"),
        ("a\u0301" * 10**5, "y"),
        ("ann", f"ann {SECRET}\0"),
    ):
        began = time.monotonic()
        with login(served, who, password) as browser:
            assert browser.entered in (401, 413)
        assert time.monotonic() - began < 20


class Slow:
    """Passwords that take their time, and are changed meanwhile."""

    def __init__(self, stamps):
        self.stamps, self.began, self.go_on, self.threads = stamps, threading.Event(), threading.Event(), []

    def stamp(self, who):
        return self.stamps.get(who)

    def fits(self, who, password):
        stamp = self.stamp(who)
        self.threads.append(threading.current_thread())
        self.began.set()
        assert self.go_on.wait(60)
        return stamp


@contextmanager
def guarded(passwords, roles):
    async def app(scope, receive, send):
        await security.respond(send, 200, b"{}")

    guard = Guard(app, "a token of many characters", team=Team(lambda: roles, passwords))
    transport = httpx.ASGITransport(guard)
    yield lambda: httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


@pytest.mark.parametrize(("new", "status"), [({}, 200), ({"ann": "two"}, 401)])
def test_a_password_is_checked_beside_the_loop_and_one_set_meanwhile_ends_the_login(new, status):
    # Promise 39
    slow, roles = Slow({"ann": "one"}), {"ann": "lead"}

    async def talk():
        with guarded(slow, roles) as client:
            async with client() as browser, client() as other:
                login = asyncio.create_task(browser.post("/login", data={"who": "ann", "password": "x"}))
                await asyncio.to_thread(slow.began.wait, 60)
                assert (await other.get("/api/state")).status_code == 401  # answered while the other is being checked
                slow.stamps |= new
                slow.go_on.set()
                entered = await login
                assert entered.status_code == 303
                cookie = entered.headers["set-cookie"].split(";")[0]
                return (await other.get("/api/state", headers={"Cookie": cookie})).status_code

    assert asyncio.run(talk()) == status
    assert threading.main_thread() not in slow.threads


def test_a_role_that_is_taken_while_somebody_logs_in_lets_nobody_in():
    slow, roles = Slow({"ann": "one"}), {"ann": "lead", "bob": "lead"}

    async def talk():
        with guarded(slow, roles) as client:
            async with client() as browser:
                login = asyncio.create_task(browser.post("/login", data={"who": "ann", "password": "x"}))
                await asyncio.to_thread(slow.began.wait, 60)
                del roles["ann"], slow.stamps["ann"]
                slow.go_on.set()
                cookie = (await login).headers["set-cookie"].split(";")[0]
                return (await browser.get("/api/state", headers={"Cookie": cookie})).status_code

    assert asyncio.run(talk()) == 401


def test_sessions_of_people_hold_over_a_restart_and_not_beyond_their_password():
    stamps = {"ann": "1", "\u00e9mil": "2", "x" * 200: "3"}
    sessions = Sessions("token", "password", stamp=stamps.get)
    for who, stamp in dict(stamps).items():
        session = sessions.start_for(who, stamp)
        assert Sessions("token", "another", stamp=stamps.get).read(session)[0] == who  # the next server goes on
        assert Sessions("guess", "password", stamp=stamps.get).read(session) is None
        stamps[who] = "new"
        assert sessions.read(session) is None
        del stamps[who]
        assert sessions.read(session) is None


def test_passwords_are_kept_as_scrypt_makes_them_outside_of_the_project(tmp_path):
    path = make_project(tmp_path)
    team(path, ann="lead", bob="lead")
    kept = Passwords(path)
    assert sorted(kept.people) == ["ann", "bob"]
    assert kept.fits("ann", f"ann {SECRET}") == kept.stamp("ann")
    assert kept.fits("ann", f"bob {SECRET}") is None
    assert kept.fits("cy", f"ann {SECRET}") is None
    assert kept.fits("", "") is None
    assert kept.fits("ann", f"ann {SECRET}" + "x" * 10**6) is None
    file = kept._path
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    assert SECRET not in file.read_text()
    assert kept.stamp("ann")[:32] != kept.stamp("bob")[:32]  # each has a salt
    beside = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert kept.stamp("ann").encode() not in beside
    assert Passwords(tmp_path / "other.ask").people == []
    file.chmod(0o644)  # another user could read or plant it
    assert kept.people == []
    file.chmod(0o600)
    for content in (b"", b"[]", b'{"ann": "x"}', b'{"ann": 1}', b"\xff", b"[" * 10**5):
        file.write_bytes(content)
        assert Passwords(path).people == []
        assert Passwords(path).fits("ann", "x") is None


def test_a_password_that_is_made_can_be_read_out():
    made = {new_password() for _ in range(200)}
    assert len(made) == 200
    assert all(len(one) == 23 and not set(one) & set("il1o0") for one in made)


def test_an_unknown_name_costs_what_a_wrong_password_does(tmp_path, monkeypatch):
    from askgraph.workbench import passwords

    path = make_project(tmp_path)
    team(path, ann="lead")
    kept, made = Passwords(path), []

    def counted(*given, **work):
        made.append(work["n"] * work["p"])
        return scrypt(*given, **work)

    scrypt = passwords.scrypt
    monkeypatch.setattr(passwords, "scrypt", counted)
    for who, password in (("ann", "wrong"), ("nobody", "wrong"), ("", ""), ("ann", "x" * 10**6)):
        assert kept.fits(who, password) is None
    assert made == [passwords.WORK["n"] * passwords.WORK["p"]] * 4


@pytest.mark.server
def test_who_is_logged_in_reads_unseen_and_notes_under_their_own_name(tmp_path):
    path = make_project(tmp_path)
    team(path, ann="lead", emil="labeler")
    with Project.open(path, write=True) as project:
        project.log.change("ann", "second", None, "100%")
        project.say("ann", "n0", "label", "north")
        project.notes.comment("ann", "n0", "my secret")
    with serving(path, env={"ASKGRAPH_PASSWORD": "open sesame"}) as server, ExitStack() as open_:
        emil, ann = (open_.enter_context(login(server, who)) for who in ("emil", "ann"))
        for reader in ({}, {"reader": "ann"}, {"reader": "emil"}):  # whatever a request says
            seen = emil.get("/api/item", params={"id": "n0", **reader}).json()
            assert (seen["status"], seen["label"], seen["comments"]) == ("unseen", None, [])
            assert emil.get("/api/why", params={"id": "n0", **reader}).json() == {"unseen": True}
            assert "secret" not in emil.get("/api/history", params=reader).text
            (row,) = emil.get("/api/items", params={"status": "unseen", **reader}).json()["items"]
            assert (row["id"], row["who"]) == ("n0", [])
        assert ann.get("/api/item", params={"id": "n0", "reader": "emil"}).json()["label"] == "north"
        change = {"key": key(), "who": "ann", "kind": "second", "value": "0"}
        assert emil.post("/api/classes", json=change).status_code == 403
        seq = ann.get("/api/item", params={"id": "n0"}).json()["comments"][0]["seq"]
        refused = emil.post("/api/comment/undo", json={"key": key(), "who": "ann", "seq": seq})
        assert (refused.status_code, "'ann' alone" in refused.text) == (422, True)
        said = {"key": key(), "who": "ann", "item": "n1", "text": "by emil"}
        assert emil.post("/api/comment", json=said).json()["comments"][0]["who"] == "emil"
        answer(emil, "n0", "west", "ann")
        seen = emil.get("/api/item", params={"id": "n0"}).json()
        assert seen["comments"][0]["text"] == "my secret"
        assert {one["who"]: one["how"] for one in seen["answers"]} == {"ann": None, "emil": "second"}
