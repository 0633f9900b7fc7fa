"""What docs/serving.md says: its proxy is started as written there, its service and its container are what the program needs."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from typer.main import get_command

from askgraph.cli import app
from tests.helpers.serving import HANGS, make_project, serving

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serving.md").read_text()
NAME = "labels.example.org"


def block(kind):
    (found,) = re.findall(f"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return found


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def proxied(tmp_path):
    """A server with a password behind the proxy of the page: a client that comes by TLS, and the folder of its project."""
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("no nginx or openssl here: apt install nginx-light openssl")
    for name in ("data", "logs", "body"):
        (tmp_path / name).mkdir()
    certificate, private, port = tmp_path / "c.pem", tmp_path / "c.key", free_port()
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "1",
    ]
    made += ["-keyout", private, "-out", certificate, "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    subprocess.run(made, check=True, capture_output=True)
    path = make_project(tmp_path / "data")
    env = {"ASKGRAPH_PASSWORD": "open sesame"}
    with serving(path, "--port", str(free_port()), "--allow-host", NAME, env=env) as server:
        recipe = block("nginx").replace("listen 443", f"listen 127.0.0.1:{port}").replace("8765", str(server.port))
        recipe = re.sub(r"(ssl_certificate +).*;", rf"\1{certificate};", recipe)
        recipe = re.sub(r"(ssl_certificate_key +).*;", rf"\1{private};", recipe)
        folders = "".join(
            f"{kind}_temp_path {tmp_path}/body;\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (tmp_path / "nginx.conf").write_text(
            f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/logs/error;\n"
            f"events {{}}\nhttp {{\naccess_log {tmp_path}/logs/access;\n{folders}{recipe}}}\n"
        )
        process = subprocess.Popen(["nginx", "-p", tmp_path, "-c", tmp_path / "nginx.conf"], stderr=subprocess.PIPE)
        try:
            end = time.monotonic() + HANGS
            while not listens(port):
                assert process.poll() is None, process.stderr.read()
                assert time.monotonic() < end
                time.sleep(0.02)
            trusted = ssl.create_default_context(cafile=certificate)
            base = f"https://127.0.0.1:{port}"
            with httpx.Client(base_url=base, verify=trusted, headers={"Host": NAME}, timeout=HANGS) as client:
                yield client, server
        finally:
            process.terminate()
            process.communicate(timeout=HANGS)


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.server
def test_the_recipe_for_a_proxy_works(proxied):
    # Promise 29
    client, server = proxied
    extensions = {"sni_hostname": NAME}  # the name in the certificate: nothing resolves it here

    def send(method, path, **options):
        return client.request(method, path, extensions=extensions, **options)

    assert send("GET", "/").headers["location"] == "/login"
    assert send("GET", "/api/state?who=ann").status_code == 401
    assert send("GET", "/", headers={"Host": "evil.example"}).status_code == 400
    own = {"Origin": f"https://{NAME}"}
    assert send("POST", "/login", data={"password": "guess"}, headers=own).status_code == 401
    entered = send("POST", "/login", data={"password": "open sesame"}, headers=own)
    assert entered.status_code == 303
    assert "Secure" in entered.headers["set-cookie"]
    assert "strict-transport-security" in entered.headers
    session = {"Cookie": entered.headers["set-cookie"].split(";")[0], **own}
    body = {"key": "a key of ann's", "who": "ann", "item": "n1", "kind": "label", "label": "east"}
    assert send("POST", "/api/answer", json=body, headers=session).json()["state"]["labels"] == 1
    evil = {**session, "Origin": "https://evil.example"}
    assert send("POST", "/api/undo", json={"key": "another key", "who": "ann"}, headers=evil).status_code == 403
    assert send("POST", "/api/answer", content=b"x" * 2**21, headers=session).status_code == 413
    assert send("GET", "/api/export?format=csv", headers=session).content.count(b"\n") == 61
    # wrong passwords are counted by the address that the proxy names: those of another do not keep this one out
    login = f"{server.base}/login"
    other = {"data": {"password": "open sesame"}, "headers": {"X-Forwarded-For": "192.0.2.7"}}
    with httpx.Client() as guesser:
        tried = (guesser.post(login, **other) for _ in range(300))  # some come back while the others go out
        refused = next(answer for answer in tried if answer.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1
    assert send("POST", "/login", data={"password": "open sesame"}, headers=own).status_code == 303


def options_of(command):
    return {option for parameter in get_command(app).commands[command].params for option in parameter.opts}


def test_the_service_and_the_container_start_what_there_is():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read_string(block("ini"))
    program, command, *words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(program).name == "askgraph"
    assert {word for word in words if word.startswith("-")} <= options_of(command)
    lines = (ROOT / "Containerfile").read_text().splitlines()
    (started,) = (line.removeprefix("CMD ") for line in lines if line.startswith("CMD "))
    command, *words = re.findall('"([^"]+)"', started)
    assert {word for word in words if word.startswith("-")} <= options_of(command)


def test_the_service_file_is_accepted_by_systemd(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here")
    unit = tmp_path / "askgraph.service"
    unit.write_text(re.sub("ExecStart=[^ ]+", "ExecStart=/bin/true", block("ini")))
    checked = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert "askgraph.service" not in checked.stderr, checked.stderr
