"""The lock beside a project, which may have come from anybody, and what only this user says of where a server is."""

from __future__ import annotations

import json
import os
import socket

import httpx
import pytest

from askgraph.errors import BusyError, FileError
from askgraph.workbench import server_file
from askgraph.workbench.server_file import find_server
from askgraph.workbench.server_file import server_file as path_of
from askgraph.workbench.writer_lock import WriterLock
from tests.helpers.processes import run
from tests.helpers.projects import log_of, make, say
from tests.helpers.serving import ask, make_project, serving

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and permissions as POSIX has them")
URL, TOKEN, PLANTED = "http://127.0.0.1:1", "t" * 43, "a_token_that_somebody_else_knows_well_enough"
FALSE = {
    "a list": "[1, 2]",
    "a text": '"x"',
    "a number": "5",
    "nothing": "",
    "no JSON": "{token",
    "far too deep": "[" * 100_000,
    "no text": b"\xff\xfe\x00",
    "a token that is a number": '{"url": "http://127.0.0.1:1", "token": 5, "host": "h"}',
    "only a token": json.dumps({"token": TOKEN}),
    "a short token": json.dumps({"url": URL, "token": "t", "host": "h"}),
    "a token of two lines": json.dumps({"url": URL, "token": TOKEN + "\r\nX: y", "host": "h"}),
    "another kind of address": json.dumps({"url": "file:///etc/passwd", "token": TOKEN, "host": "h"}),
    "an address with a path": json.dumps({"url": URL + "/x", "token": TOKEN, "host": "h"}),
}


@pytest.fixture(autouse=True)
def state(tmp_path_factory, monkeypatch):
    """A folder of this user for this test."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv(server_file.VARIABLE, str(folder))
    return folder / "askgraph"


@pytest.fixture
def path(tmp_path):
    return make(tmp_path / "p.ask")


def said(path, content=None, mode=0o600):
    """What a server might have said of itself, by hand."""
    file = path_of(path)
    file.parent.mkdir(exist_ok=True)
    content = json.dumps({"url": URL, "token": TOKEN, "host": socket.gethostname()}) if content is None else content
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    file.chmod(mode)
    return file


@pytest.mark.parametrize("kind", FALSE)
def test_what_lies_in_a_lock_file_is_neither_read_nor_changed(path, kind):
    lock = WriterLock(path)
    content = FALSE[kind] if isinstance(FALSE[kind], bytes) else FALSE[kind].encode()
    lock.path.write_bytes(content)
    say(path, ("i0", "a"))
    lock.take()
    assert (lock.server(), lock.token()) == (None, None)
    lock.tell(URL, TOKEN)
    assert WriterLock(path).server()[:2] == (URL, TOKEN)
    lock.release()
    assert lock.path.read_bytes() == content


@pytest.mark.server
@pytest.mark.parametrize("options", [(), ("--host", "0.0.0.0", "--port", "0")], ids=["here", "with a password"])
def test_a_token_that_came_with_a_project_opens_nothing(tmp_path, options):
    path = make_project(tmp_path)
    WriterLock(path).path.write_text(json.dumps({"url": URL, "token": PLANTED}))
    with serving(path, *options, env={"ASKGRAPH_PASSWORD": "sesame"} if options else None) as server:
        url = f"http://127.0.0.1:{server.base.rsplit(':', 1)[1]}/api/state?who=ann"
        assert httpx.get(url, headers={"Authorization": f"Bearer {PLANTED}"}).status_code == 401
        assert httpx.get(url, headers={"Authorization": f"Bearer {server.token}"}).status_code == 200
        assert server.token != PLANTED


@pytest.mark.parametrize("kind", FALSE)
def test_what_a_server_would_not_say_is_ignored(path, kind):
    said(path, FALSE[kind])
    lock = WriterLock(path)
    lock.take()
    assert (lock.server(), lock.token()) == (None, None)
    lock.release()


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o666])
def test_what_others_could_read_or_write_is_ignored(path, mode):
    said(path)
    assert WriterLock(path).token() == TOKEN
    said(path, mode=mode)
    assert WriterLock(path).token() is None


@posix
def test_what_is_no_plain_file_is_ignored(path, tmp_path):
    file = said(path)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert WriterLock(path).token() is None
    file.unlink()
    os.mkfifo(file, 0o600)
    assert WriterLock(path).token() is None
    file.unlink()
    file.mkdir(mode=0o700)
    assert WriterLock(path).token() is None


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can be two users")
def test_what_another_user_wrote_is_ignored(path):
    os.chown(said(path), 65534, 65534)
    assert WriterLock(path).token() is None


@posix
def test_what_a_server_says_is_for_its_user_only(path, state):
    lock = WriterLock(path)
    lock.take()
    lock.tell(URL, TOKEN)
    assert path_of(path).parent == state
    assert (state.stat().st_mode & 0o777, path_of(path).stat().st_mode & 0o777) == (0o700, 0o600)
    assert json.loads(path_of(path).read_text()) == {"url": URL, "token": TOKEN, "host": socket.gethostname()}
    assert (lock.path.read_bytes(), os.listdir(state)) == (b"", [path_of(path).name])
    lock.release()


def test_a_server_counts_only_while_it_runs_and_holds_the_lock(path):
    lock, other = WriterLock(path), WriterLock(path)
    lock.tell(URL, TOKEN)  # it has lost its lock
    assert other.server() is None
    lock.release()
    other.take()  # somebody else has it
    assert other.server() is None
    other.release()


def test_a_server_of_another_machine_is_named_and_not_spoken_to(path, monkeypatch):
    lock = WriterLock(path)
    lock.take()
    with monkeypatch.context() as patch:
        patch.setattr(socket, "gethostname", lambda: "elsewhere")
        lock.tell(URL, TOKEN)
        assert lock.server()[:2] == (URL, TOKEN)
    assert lock.server() is None
    with pytest.raises(BusyError, match="a server on elsewhere has it open"):
        WriterLock(path).take(wait=0)
    lock.release()


def test_two_projects_have_two_tokens_and_one_by_two_names_has_one(tmp_path):
    first, second = make(tmp_path / "p.ask"), make(tmp_path / "q.ask")
    said(first)
    assert (find_server(first, running=False).token, find_server(second, running=False)) == (TOKEN, None)
    assert WriterLock(tmp_path / "." / "p.ask").token() == TOKEN


@posix
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder"])
def test_a_lock_that_is_no_plain_file_is_refused_and_what_it_leads_to_stays(path, tmp_path, kind):
    lock, victim = WriterLock(path).path, tmp_path / "victim"
    victim.write_text("mine")
    victim.chmod(0o644)
    makers = {
        "link": lambda: lock.symlink_to(victim),
        "dangling": lambda: lock.symlink_to(tmp_path / "nothing"),
        "pipe": lambda: os.mkfifo(lock),
        "folder": lock.mkdir,
    }
    makers[kind]()
    named = {"pipe": "a pipe or a device", "folder": "a folder"}.get(kind, "a link")
    with pytest.raises(FileError, match=rf"p\.ask\.lock: is {named}, .*remove it"):
        say(path, ("i0", "a"))
    assert WriterLock(path).server() is None
    assert (victim.read_text(), victim.stat().st_mode & 0o777) == ("mine", 0o644)
    assert not (tmp_path / "nothing").exists()
    assert log_of(path) == []


@pytest.mark.server
def test_pages_of_an_earlier_server_go_on_and_the_lock_says_nothing(tmp_path):
    path = make_project(tmp_path)
    with serving(path) as first, first.client() as client:
        ask(client)
        assert WriterLock(path).path.read_bytes() == b""
        assert WriterLock(path).server().token == first.token
        first.kill()
        assert WriterLock(path).server() is None
        first.start()
        with first.client() as again:
            again.headers["Authorization"] = client.headers["Authorization"]
            assert again.get("/api/state?who=ann").status_code == 200
    assert WriterLock(path).server() is None


@pytest.mark.server
def test_a_server_that_cannot_say_where_it_is_serves_and_names_the_variable(tmp_path, monkeypatch):
    path, blocked = make_project(tmp_path), tmp_path / "no folder"
    blocked.write_text("")
    monkeypatch.setenv(server_file.VARIABLE, str(blocked))
    with serving(path) as server, server.client() as client:
        ask(client)
        failed = run("tell", "n1", "east", "-p", path)
        assert failed.returncode == 1
        assert "or serving it" in failed.stderr
        assert client.get("/api/item?id=n1").json()["label"] is None


def test_a_folder_that_cannot_be_written_is_named_with_the_variable_to_set(path, tmp_path, monkeypatch, caplog):
    (tmp_path / "no folder").write_text("")
    monkeypatch.setenv(server_file.VARIABLE, str(tmp_path / "no folder"))
    lock = WriterLock(path)
    lock.take()
    lock.tell(URL, TOKEN)
    assert "no folder" in caplog.text
    assert f"set {server_file.VARIABLE} to a folder you can write to" in caplog.text
    assert (lock.server(), lock.token()) == (None, None)
    lock.release()


@pytest.mark.parametrize("named", ["", "not/whole"])
def test_without_a_folder_that_is_named_the_usual_one_counts(monkeypatch, named):
    monkeypatch.setenv(server_file.VARIABLE, named)
    assert server_file.state_folder() == server_file.Path(server_file.DEFAULT_PARENT).expanduser() / "askgraph"


def test_a_user_without_a_home_has_no_folder_and_no_traceback(path, monkeypatch, caplog):
    def nobody(self):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv(server_file.VARIABLE)
    monkeypatch.setattr(server_file.Path, "expanduser", nobody)
    lock = WriterLock(path)
    assert (lock.server(), lock.token()) == (None, None)
    lock.tell(URL, TOKEN)
    assert "home directory" in caplog.text
