"""A real server on a small project, for tests: a process of its own, spoken to over HTTP."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import numpy as np

from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from askgraph.workbench.writer_lock import WriterLock
from tests.helpers.processes import start

HANGS = 300.0  # seconds after which a wait counts as one without end: a busy machine may need many of them
NO_CERTIFICATES = {"verify": False}  # for plain HTTP: reading all certificates takes 0.08 s of work per client
CENTERS = {"north": (0.0, 8.0), "east": (8.0, 0.0), "west": (-8.0, 0.0)}


def truth(id):
    return list(CENTERS)[int(id.removeprefix("n")) % 3]


def write_table(path, n=60, seed=0, first=0):
    """Points around three centres, from the one numbered ``first`` on; ids tell the class, features and text do too."""
    rng = np.random.default_rng(seed)
    lines = ["id,x,y,note"]
    for k in range(n):
        x, y = np.add(CENTERS[truth(f"n{k}")], rng.normal(size=2))
        lines.append(f"n{k},{x:.4f},{y:.4f},point {k} of the sample")
    Path(path).write_text("\n".join([lines[0], *lines[1 + first :]]) + "\n")


def make_project(folder, n=60, **settings):
    table, path = Path(folder, "points.csv"), Path(folder, "points.ask")
    write_table(table, n)
    Project.create(path, Source(table, features=["x", "y"]), list(CENTERS), **settings)
    return path


class Server:
    """A running ``askgraph serve``; ``kill`` is -9."""

    def __init__(self, path, *options, env=None):
        self.path = Path(path)
        self._options, self._env = options, {**os.environ, **(env or {})}
        self.start()

    def start(self, port=None):
        """Start the server, at this port if one is named."""
        words = ["serve", "-p", str(self.path), *self._options, *(["--port", str(port)] if port else [])]
        self.process = start(words, env=self._env)
        lines = []
        while "The page is at " not in (line := self.process.stdout.readline()):
            lines.append(line)
            assert line, f"the server ended: {''.join(lines)}"
        self.url = line.split("The page is at ")[1].strip()
        self.base = self.url.split("/?")[0].rstrip("/")
        self.port = int(self.base.rsplit(":", 1)[1])
        _, _, token = self.url.partition("?token=")
        self.token = token or WriterLock(self.path).server().token

    def client(self, **options):
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.base, headers=headers, timeout=HANGS, **NO_CERTIFICATES, **options)

    def kill(self):
        self.process.kill()
        self._closed()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self._closed()

    def _closed(self):
        self.said = self.process.communicate(timeout=HANGS)[0]  # all that it wrote after its address


def thinker(server):
    """The number of the process of a server's thinker."""
    listed = ["ps", "-ww", "-o", "pid,comm,args", "--ppid", str(server.process.pid)]
    lines = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    (found,) = (int(line.split()[0]) for line in lines if "spawn_main" in line)
    return found


@contextmanager
def starting(folder):
    """A running ``askgraph start``: its process, and the address of the page on which files are dropped."""
    words = ["start", str(folder), "--no-browser", "--who", "ann", "--port", "0"]
    process = start(words)
    try:
        while "The page is at " not in (line := process.stdout.readline()):
            assert line, "the page did not start"
        yield process, line.split("The page is at ")[1].strip()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@contextmanager
def serving(path, *options, env=None):
    server = Server(path, *options, env=env)
    try:
        yield server
    finally:
        server.stop()


def key():
    return str(uuid.uuid4())


def ask(client, who="ann", holding=None, seconds=HANGS):
    """The next question, waited for."""
    end = time.monotonic() + seconds
    while True:
        asked = client.post("/api/question", json={"who": who, "holding": holding}).raise_for_status().json()
        if asked["question"] or asked["finished"]:
            return asked
        assert time.monotonic() < end, asked


def answer(client, item, label=None, who="ann", kind="label", **more):
    body = {"key": key(), "who": who, "item": item, "kind": kind, "label": label, "seconds": 1.0, **more}
    return client.post("/api/answer", json=body).raise_for_status().json()


def until(client, path, true, seconds=HANGS):
    """What a route says once it says this."""
    end = time.monotonic() + seconds
    while True:
        said = client.get(path).raise_for_status().json()
        if true(said):
            return said
        assert time.monotonic() < end, said
        time.sleep(0.05)


class Soaked(NamedTuple):
    """What many requests did to a server: megabytes and open files after some of them and after all, and the largest log."""

    requests: int
    megabytes: tuple[float, float]
    files: tuple[int, int]
    log: int

    def __str__(self):
        before, after = self.megabytes
        grown = f"{before:.0f} to {after:.0f} MB ({after / before - 1:+.1%})"
        return f"{self.requests:,} requests: {grown}, open files {self.files[0]} to {self.files[1]}, log at most {self.log:,} bytes"


def soaked(server, rounds, warm):
    """Label, take back, look around, again and again; the first rounds are for warming up."""
    pid, largest, requests, marks = server.process.pid, 0, 0, []
    with server.client() as client:
        ask(client)
        for k in range(rounds):
            id = f"n{k % 50}"
            answer(client, id, truth(id))
            client.post("/api/undo", json={"key": key(), "who": "ann"}).raise_for_status()
            for path in (
                "/api/state?who=ann",
                f"/api/item?id={id}",
                "/api/history?limit=20",
                "/api/items?limit=20",
                "/",
            ):
                client.get(path).raise_for_status()
            requests += 7
            largest = max(largest, Path(f"{server.path}-wal").stat().st_size)
            if k in (warm, rounds - 1):
                marks.append((_megabytes(pid), len(os.listdir(f"/proc/{pid}/fd"))))
    (before, files), (after, files_after) = marks
    return Soaked(requests, (before, after), (files, files_after), largest)


def _megabytes(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
