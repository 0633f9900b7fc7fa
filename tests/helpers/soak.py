"""A server for a long time: people label, files come in and go out, programs are stopped and killed, at random.

What people were told is kept apart from the project and compared with it at the end.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import httpx

from askgraph.workbench.project import Project
from tests.helpers.serving import CENTERS, NO_CERTIFICATES, Server, key, make_project, thinker, truth

LOOKS = (
    "/",
    "/api/history?limit=20",
    "/api/items?limit=20&search=point 1",
    "/api/progress",
    "/api/suspects",
    "/api/map",
    "/api/export?format=csv",
    "/api/export?format=labelstudio",
)
HANGS = 900.0  # seconds after the last kill, with a server that runs, after which an unanswered request counts as one without end


class Model:
    """What was acknowledged: one line per key, and what each person could take back, newest last."""

    def __init__(self):
        self.lines: dict[str, tuple] = {}  # key -> who, kind, item, label
        self.told: list[tuple] = []  # who, item, label of files that came in: their keys are not known
        self.standing = defaultdict(list)  # who -> items of answers that were not taken back
        self.given = defaultdict(list)  # item -> answers that were not taken back, as (who, kind, label)

    def say(self, key, who, kind, item, label):
        assert key not in self.lines
        self.lines[key] = (who, kind, item, label)
        self.standing[who].append((item, kind, label))
        self.given[item].append((who, kind, label))

    def undo(self, key, who, item):
        assert key not in self.lines
        last, kind, label = self.standing[who].pop()
        assert item == last, f"{who} took back {item}, not {last}"
        self.lines[key] = (who, "undo", item, None)
        self.given[item].remove((who, kind, label))

    def tell(self, who, items):
        for item in items:
            self.told.append((who, item, truth(item)))
            self.given[item].append((who, "label", truth(item)))


class Watched(NamedTuple):
    """The most that was seen of each: megabytes of the server, of the process beside it, open files, bytes of SQLite's log."""

    server: float = 0.0
    thinker: float = 0.0
    files: int = 0
    log: int = 0


class Soak:
    """One run; ``counts`` says how often each thing was done."""

    def __init__(self, folder, items, people, seed):
        self.folder, self.rng, self.lock = Path(folder), random.Random(seed), threading.RLock()
        self.n = items
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.path = make_project(self.folder, items)
        port = str(random.randrange(20_000, 30_000))  # one that nobody else takes while the server is away
        self.server = Server(self.path, "--port", port, env={"TMPDIR": str(self.temporary)})
        self.people = [f"person {k}" for k in range(people)]
        self.model, self.counts, self.wrong = Model(), Counter(), []
        self.most, self.first, self.said = Watched(), None, ""
        self.over, self.ended, self.longest = threading.Event(), None, 0.0

    def run(self, seconds, pause=(0.05, 0.4), events=(1.0, 6.0)):
        """Let everything happen for some seconds, then stop the server and compare."""
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=self._guarded, args=(self._person, who, pause)) for who in self.people]
        for thread in threads:
            thread.start()
        kinds = (self._import, self._predict, self._restart, self._kill, self._kill_thinker)
        while time.monotonic() < end and not self.wrong:
            self.over.wait(self.rng.uniform(*events))
            self._watch()
            self._guarded(self.rng.choice(kinds))
        self._end()
        for thread in threads:
            thread.join()
        self._restart()  # what a killed server left is removed by the next one
        self.server.process.terminate()
        self._collect()
        return self._compare()

    @contextmanager
    def _client(self):
        headers = {"Authorization": f"Bearer {self.server.token}"}
        with httpx.Client(base_url=self.server.base, headers=headers, timeout=60, **NO_CERTIFICATES) as client:
            yield client

    def _end(self):
        """Let people finish what they have begun; nothing is stopped or killed from here on."""
        self.ended = self.ended or time.monotonic()
        self.over.set()

    def _guarded(self, function, *values):
        try:
            function(*values)
        except Exception as error:
            self.wrong.append(f"{function.__name__}: {error!r}")
            self._end()

    def _person(self, who, pause):
        rng = random.Random(who)
        with self._client() as client:
            while not self.over.is_set():
                kind = rng.choices(("label", "later", "cannot", "undo", "relabel", "look"), (70, 3, 3, 8, 8, 8))[0]
                getattr(self, f"_{'answer' if kind in ('label', 'later', 'cannot') else kind}")(client, rng, who, kind)
                self.counts[kind] += 1
                time.sleep(rng.uniform(*pause))

    def _answer(self, client, rng, who, kind):
        asked = self._post(client, "/api/question", {"who": who})
        if asked["question"] is None:
            return
        self._say(client, who, kind, asked["question"]["item"]["id"], rng)

    def _relabel(self, client, rng, who, _):
        self._say(client, who, "label", f"n{rng.randrange(self.n)}", rng)

    def _say(self, client, who, kind, item, rng):
        label = rng.choice(list(CENTERS)) if kind == "label" else None
        body = {"key": key(), "who": who, "item": item, "kind": kind, "label": label}
        self._post(client, "/api/answer", body)
        with self.lock:
            self.model.say(body["key"], who, kind, item, label)

    def _undo(self, client, _rng, who, _kind):
        body = {"key": key(), "who": who}
        undone = self._post(client, "/api/undo", body)["undone"]
        with self.lock:
            if undone is None:
                assert not self.model.standing[who]
            else:
                self.model.undo(body["key"], who, undone["item"])

    def _look(self, client, rng, _who, _kind):
        path = rng.choice(LOOKS)
        try:
            status = client.get(path).status_code
        except httpx.TransportError:
            return  # the server was killed
        assert status in (200, 503), f"{path}: {status}"

    def _post(self, client, path, body):
        """Send a request until it is answered, as the page does, however long the server is away.

        How long that takes is a figure, for it depends on the machine; only who still waits when nothing happens any more hangs.
        """
        start = time.monotonic()
        while True:
            try:
                answer = client.post(path, json=body)
                if answer.status_code != 503:
                    self.longest = max(self.longest, time.monotonic() - start)
                    return answer.raise_for_status().json()
            except httpx.TransportError:
                self.counts["sent again"] += 1
            assert self.ended is None or time.monotonic() < self.ended + HANGS, f"{path} is not answered"
            time.sleep(0.1)

    def _import(self):
        self.counts["import"] += 1
        who, items = f"lab {self.counts['import']}", self.rng.sample(range(self.n), 50)
        file = self.folder / "results.csv"
        file.write_text("id,label\n" + "".join(f"n{k},{truth(f'n{k}')}\n" for k in items))
        self._command("tell", "--file", str(file), "--who", who)
        with self.lock:
            self.model.tell(who, [f"n{k}" for k in items])

    def _predict(self):
        self.counts["predict"] += 1
        out = self.folder / "labels.csv"
        self._command("predict", "-o", str(out))
        assert out.read_text().count("\n") == self.n + 1

    def _command(self, *words):
        command = [sys.executable, "-m", "askgraph", words[0], "-p", str(self.path), *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
        assert done.returncode == 0, done.stderr

    def _restart(self):
        self.counts["restart"] += 1
        self.server.process.terminate()
        self._again()

    def _kill(self):
        self.counts["kill"] += 1
        self.server.process.kill()
        self._again()

    def _kill_thinker(self):
        self.counts["kill of the process beside"] += 1
        pid = self._thinker()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)

    def _again(self):
        self._collect()
        token = self.server.token
        self.server.start(self.server.port)
        assert self.server.token == token

    def _collect(self):
        """Wait for the end of the server, and keep what it wrote; the process beside it may take a moment longer."""
        process = self.server.process
        process.wait(HANGS)
        os.set_blocking(process.stdout.fileno(), False)
        with suppress(BlockingIOError):
            while some := os.read(process.stdout.fileno(), 65536):
                self.said += some.decode()
        process.stdout.close()

    def _thinker(self):
        try:
            return thinker(self.server)
        except (ValueError, subprocess.CalledProcessError):
            return None  # it is being started

    def _watch(self):
        pid, beside, log = self.server.process.pid, self._thinker(), Path(f"{self.path}-wal")
        now = Watched(
            _megabytes(pid),
            _megabytes(beside) if beside else 0.0,
            len(os.listdir(f"/proc/{pid}/fd")),
            log.stat().st_size if log.exists() else 0,
        )
        self.first = self.first or now
        self.most = Watched(*map(max, self.most, now))

    def _compare(self):
        """Return what is wrong: what the project holds against what was acknowledged."""
        with Project.open(self.path) as project:
            ids = project.store.ids()
            log = [(a.key, a.who, a.kind, ids[a.item], a.label) for a in project.answers.log.values()]
            labels = {ids[item]: label for item, label in project.answers.labels.items()}
            damage = project.store.damage()
        known = {one[0]: one[1:] for one in log if not one[1].startswith("lab ")}
        told = Counter((who, item, label) for _, who, _, item, label in log if who.startswith("lab "))
        found = {
            "lost": len(self.model.lines.keys() - known.keys()),
            "never said": len(known.keys() - self.model.lines.keys()),
            "twice": len(log) - len({one[0] for one in log}),
            "changed": sum(known[key] != line for key, line in self.model.lines.items() if key in known),
            "imported and lost": sum((Counter(self.model.told) - told).values()),
            "imported and never said": sum((told - Counter(self.model.told)).values()),
            "labels that nobody gave": sum(
                label not in [given for _, _, given in self.model.given[item]] for item, label in labels.items()
            ),
            "labels that are missing": sum(
                any(kind == "label" for _, kind, _ in given)
                and all(kind == "label" for _, kind, _ in given)
                and item not in labels
                for item, given in self.model.given.items()
            ),
            "left in the folder for temporary files": sorted(path.name for path in self.temporary.iterdir()),
            "damaged": damage,
        }
        return found

    def __str__(self):
        done = ", ".join(f"{n:,} × {what}" for what, n in self.counts.most_common())
        lines = f"{len(self.model.lines):,} answers and {len(self.model.told):,} imported labels acknowledged"
        first, most = self.first or Watched(), self.most
        return (
            f"{lines}\n{done}\nserver {first.server:.0f} MB at first, {most.server:.0f} MB at most; process beside "
            f"{first.thinker:.0f} and {most.thinker:.0f} MB; open files {first.files} and {most.files}; "
            f"SQLite's log {most.log:,} bytes at most; {len(self.said):,} characters on the terminal; "
            f"{self.longest:.0f} s until an answer came at the longest, with the server killed meanwhile"
        )


def _megabytes(pid):
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0) / 1024


def soak(seconds, items=8000, people=8, seed=0):
    """Run for some seconds; print what happened and return whether everything is as it was said."""
    with tempfile.TemporaryDirectory() as folder:
        run = Soak(folder, items, people, seed)
        try:
            found = run.run(seconds)
        finally:
            if run.server.process.poll() is None:
                run.server.kill()
    print(run)
    print(", ".join(f"{what}: {n}" for what, n in found.items()))
    if run.wrong:
        print("\n".join(run.wrong), run.said, sep="\n")
    bounded = run.most.files < 200 and run.most.log < 2**26 and len(run.said) < 100_000
    return not run.wrong and not any(found.values()) and bounded
