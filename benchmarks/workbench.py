"""The page's server under load: the time of an answer and of the next question, for one to twenty people, and at a million items.

python benchmarks/workbench.py                  10,000 items
python benchmarks/workbench.py --items 1000000  the large form
python benchmarks/workbench.py --part crowds    50 people on 3,000 items, 200 people on 20,000
python benchmarks/workbench.py --part stopped   10,000 answers while the thinker is stopped
python benchmarks/workbench.py --part hostile   20 people beside 2,000 hostile connections, with 1,024 open files
python benchmarks/workbench.py --part peer --url http://127.0.0.1:8080 --token TOKEN
    the annotations of 50 people to a Label Studio that runs there (started with LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN=true)
"""

from __future__ import annotations

import argparse
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
from measure import SMOKE, machine

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.helpers.chromium import FLAGS
from tests.helpers.serving import thinker

CLASSES = 5
PEOPLE, ANSWERS, THINK = (20, 20, 2.0) if not SMOKE else (2, 2, 0.0)  # a crowd; answers and seconds of thought of each
CROWDS = (
    ((50, 12, 2.0, 3_000), (200, 4, 5.0, 20_000)) if not SMOKE else ((5, 2, 0.0, 300),)
)  # people, answers, thought, items
STOPPED_ANSWERS = 10_000 if not SMOKE else 20
STRANGER = "127.0.0.2"  # Linux answers on all of 127.0.0.0/8
HOSTILE, OPEN_FILES = (2_000, 1_024) if not SMOKE else (100, 128)
ROUTES = (
    "/",
    "/api/state?who=x",
    "/api/history",
    "/api/item?at=0",
    "/api/progress",
    "/api/suspects",
    "/api/items",
    "/api/map",
)
HEAD = "| ms | answer saved: p50 | p95 | p99 | next question: p50 | p95 | p99 | labels behind |"
CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(path).exists()), None)


def truth(id: str) -> str:
    return f"class {int(id) % CLASSES}"


def dimensions(n: int) -> int:
    return 8 if n <= 100_000 else 3


def features(n: int) -> list[str]:
    return [f"x{k}" for k in range(dimensions(n))]


def write_table(path: Path, n: int) -> None:
    """Write points around five centers, in eight dimensions, or in three for large tables; the id tells the class."""
    rng = np.random.default_rng(0)
    centers = 3 * rng.normal(size=(CLASSES, dimensions(n)))
    X = centers[np.arange(n) % CLASSES] + rng.normal(size=(n, dimensions(n)))
    with path.open("w") as file:
        file.write("id," + ",".join(features(n)) + ",note\n")
        for k, row in enumerate(X.round(4).tolist()):
            file.write(f"{k},{','.join(map(str, row))},item {k}\n")


class Running:
    """``askgraph label`` as a user starts it, and the seconds until its first question."""

    def __init__(self, table: Path, *options: str, errors: Path | None = None) -> None:
        start = time.perf_counter()
        command = [sys.executable, "-m", "askgraph", "label", str(table), "--no-browser", *options]
        with open(errors or os.devnull, "w") as written:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=written if errors else None, text=True
            )
        while "The page is at " not in (line := self.process.stdout.readline()):
            assert line, "the server ended"
        self.url = line.split("The page is at ")[1].strip()
        self.base, token = self.url.split("/?token=")
        self.headers = {"Authorization": f"Bearer {token.split('&')[0]}"}
        with self.client() as client:
            asked(client, "first")
        self.first = time.perf_counter() - start

    def client(self) -> httpx.Client:
        # it speaks HTTP only: without verify=False each client would read all certificates, seconds of work in a crowd
        return httpx.Client(base_url=self.base, headers=self.headers, timeout=600, verify=False)

    def megabytes(self) -> float:
        """Return the peak megabytes of the server and of the processes it started."""
        pids = [self.process.pid, *map(int, _children(self.process.pid))]
        return sum(_peak(pid) for pid in pids) / 1024

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _peak(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def asked(client: httpx.Client, who: str) -> dict:
    while True:
        said = client.post("/api/question", json={"who": who}).json()
        if said["question"]:
            return said


def person(running: Running, who: str, n: int, think: float, out: list, rng: np.random.Generator) -> None:
    """Label n items with pauses to think; note the milliseconds of each answer, and of the wait for each next question."""
    with running.client() as client:
        said = asked(client, who)
        for _ in range(n):
            time.sleep(think * rng.uniform(0.5, 1.5))
            id = said["question"]["item"]["id"]
            body = {
                "key": str(uuid.uuid4()),
                "who": who,
                "item": id,
                "kind": "label",
                "label": truth(id),
                "seconds": think,
            }
            start = time.perf_counter()
            said = client.post("/api/answer", json=body).json()
            saved = time.perf_counter() - start
            if not said["question"]:
                said = asked(client, who)
            out.append((1e3 * saved, 1e3 * (time.perf_counter() - start), said["state"]["lag"], id))


def crowd(running: Running, people: int, n: int, think: float, beside: list[str] = ()) -> list:
    """Let people label at the same time, while commands run beside them."""
    out: list = []
    rngs = [np.random.default_rng(k) for k in range(people)]
    threads = [
        threading.Thread(target=person, args=(running, f"person {k}", n, think, out, rngs[k])) for k in range(people)
    ]
    others = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in beside]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in others:
        assert other.wait() == 0
    return out


def row(name: str, times: list) -> str:
    saved, following, lag = (np.array(column) for column in list(zip(*times, strict=True))[:3])
    figures = [f"{np.percentile(saved, q):.0f}" for q in (50, 95, 99)] + [
        f"{np.percentile(following, q):.0f}" for q in (50, 95, 99)
    ]
    return f"| {name} | {' | '.join(figures)} | {lag.mean():.1f} |"


def page_ready(running: Running) -> float | None:
    """Return the milliseconds from opening the link to a card on the screen."""
    if CHROMIUM is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(running.url)
        page.wait_for_selector(".card dl, .card .passage, .card img", timeout=60_000)
        took = 1e3 * (time.perf_counter() - start)
        browser.close()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000 if not SMOKE else 300)
    parser.add_argument("--labels", type=int, default=60 if not SMOKE else 3, help="that one person gives")
    parser.add_argument("--think", type=float, default=2.0 if not SMOKE else 0.0, help="seconds a person thinks")
    parser.add_argument("--part", choices=["people", "crowds", "stopped", "hostile", "peer"], default="people")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="of a Label Studio")
    parser.add_argument("--token", help="of its user")
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    options = parser.parse_args()
    parts = {"people": people, "crowds": crowds, "stopped": stopped, "hostile": hostile, "peer": peer}
    for part in parts if SMOKE else [options.part]:
        if part != "peer" or options.token:
            parts[part](options)
    print(f"\n{machine()}")


@contextmanager
def labeling(n: int, errors: Path | None = None):
    """Yield a server of n items, and its folder."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "items.csv")
        write_table(table, n)
        running = Running(table, "--features", ",".join(features(n)), "--id", "id", errors=errors)
        try:
            yield running, Path(folder)
        finally:
            running.stop()


def people(options: argparse.Namespace) -> None:
    with labeling(options.items) as (running, folder):
        measure(running, options, folder)


def crowds(_: argparse.Namespace) -> None:
    """Print how long crowds wait, and how many items two of them were asked."""
    print(f"{HEAD} longest wait | asked twice | labels/s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for n_people, answers, think, n in CROWDS:
        with labeling(n) as (running, _folder):
            start = time.perf_counter()
            out = crowd(running, n_people, answers, think)
            rate = len(out) / (time.perf_counter() - start)
        twice = len(out) - len({id for *_, id in out})
        found = row(f"{n_people} people, thinking {think:g} s, {n:,} items", out)
        print(f"{found} {max(wait for _, wait, *_ in out):.0f} | {twice} | {rate:.1f} |", flush=True)


def stopped(_: argparse.Namespace) -> None:
    """Print how long answers take while nobody computes questions, and whether every route answers."""
    with labeling(3_000 if not SMOKE else 300) as (running, _folder), running.client() as client:
        process = thinker(running)
        os.kill(process, signal.SIGSTOP)
        try:
            took = []
            for k in range(STOPPED_ANSWERS):
                id = str(k % 300)
                body = {
                    "key": str(uuid.uuid4()),
                    "who": f"person {k % 7}",
                    "item": id,
                    "kind": "label",
                    "label": truth(id),
                }
                start = time.perf_counter()
                client.post("/api/answer", json=body).raise_for_status()
                took.append(1e3 * (time.perf_counter() - start))
            slowest = max((_timed(client, route), route) for route in ROUTES)
        finally:
            os.kill(process, signal.SIGCONT)
    figures = ", ".join(f"p{q} {np.percentile(took, q):.0f} ms" for q in (50, 95, 99))
    print(
        f"process stopped: {len(took):,} answers saved, {figures}, longest {max(took):.0f} ms; "
        f"every route answers, the slowest ({slowest[1]}) in {slowest[0]:.0f} ms"
    )


def _timed(client: httpx.Client, route: str) -> float:
    start = time.perf_counter()
    client.get(route).raise_for_status()
    return 1e3 * (time.perf_counter() - start)


def hostile(_: argparse.Namespace) -> None:
    """Print how long people wait beside connections that only cost something."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with tempfile.TemporaryDirectory() as folder:
        errors = Path(folder, "errors")
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))
        served = labeling(3_000 if not SMOKE else 300, errors)
        running, _folder = served.__enter__()
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2 * HOSTILE + 500)), hard))
        stop = threading.Event()
        tried: list[int] = []
        thread = threading.Thread(target=besiege, args=(running, stop, tried))
        thread.start()
        out = crowd(running, PEOPLE, ANSWERS, THINK)
        stop.set()
        thread.join()
        served.__exit__(None, None, None)
        said = errors.stat().st_size
    print(
        "| ms | answer saved: p50 | p95 | p99 | next question: p50 | p95 | p99 | labels behind |\n|---|---|---|---|---|---|---|---|"
    )
    print(row(f"{PEOPLE} people beside {HOSTILE:,} hostile connections", out))
    print(f"{sum(tried):,} hostile connections in all, written to stderr: {said:,} bytes")


def besiege(running: Running, stop: threading.Event, tried: list[int]) -> None:
    """Keep many connections open that send half a header, a body without end, nothing, or a wrong token; open lost ones again.

    They come from an address of their own: whoever shares an address with them may lose a connection before its first request.
    """
    host, port = running.base.removeprefix("http://").split(":")
    post = b"POST /enter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n"
    guess = b"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guess\r\n\r\n"
    kinds = (b"GET / HTTP/1.1\r\nHost: loc", post + b"token=", b"", guess)
    with selectors.DefaultSelector() as chosen:
        lost = list(range(HOSTILE))
        while not stop.is_set():
            for k in lost:
                one = socket.create_connection((host, int(port)), timeout=60, source_address=(STRANGER, 0))
                one.sendall(kinds[k % len(kinds)])
                one.setblocking(False)
                chosen.register(one, selectors.EVENT_READ, k)
            tried.append(len(lost))
            lost = []
            stop.wait(1)  # those who were sent away come again after a second
            for event, _ in chosen.select(0):
                try:
                    open_ = bool(event.fileobj.recv(65536))
                except OSError:
                    open_ = False
                if not open_:
                    chosen.unregister(event.fileobj)
                    event.fileobj.close()
                    lost.append(event.data)
        for event in list(chosen.get_map().values()):
            event.fileobj.close()


def peer(options: argparse.Namespace) -> None:
    """Print how long a Label Studio takes to save the annotations of a crowd, each person on items of their own."""
    n_people, answers, think, n = CROWDS[0]
    choices = '<Choices name="c" toName="t"><Choice value="a"/><Choice value="b"/></Choices>'
    config = f'<View><Text name="t" value="$note"/>{choices}</View>'
    headers = {"Authorization": f"Token {options.token}"}
    result = [{"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": ["a"]}}]
    took: list[float] = []
    failed: list[bool] = []

    def annotate(tasks: list[int], rng: np.random.Generator) -> None:
        with httpx.Client(base_url=options.url, headers=headers, timeout=600) as client:
            for task in tasks:
                time.sleep(think * rng.uniform(0.5, 1.5))
                start = time.perf_counter()
                answer = client.post(f"/api/tasks/{task}/annotations/", json={"result": result})
                took.append(1e3 * (time.perf_counter() - start))
                failed.append(answer.is_error)

    with httpx.Client(base_url=options.url, headers=headers, timeout=600) as client:
        made = client.post("/api/projects", json={"title": "load", "label_config": config}).raise_for_status().json()
        tasks = [{"note": f"item {k}"} for k in range(n)]
        client.post(f"/api/projects/{made['id']}/import", json=tasks).raise_for_status()
        listed = client.get("/api/tasks", params={"project": made["id"], "page_size": n}).raise_for_status().json()
        ids = [task["id"] for task in listed["tasks"]]
        threads = [
            threading.Thread(target=annotate, args=(ids[k * answers : (k + 1) * answers], np.random.default_rng(k)))
            for k in range(n_people)
        ]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = len(took) / (time.perf_counter() - start)
        saved = client.get(f"/api/projects/{made['id']}").json()["total_annotations_number"]
    figures = ", ".join(f"p{q} {np.percentile(took, q):.0f} ms" for q in (50, 95, 99))
    print(
        f"Label Studio, {n_people} people thinking {think:g} s, {n:,} items: "
        f"{saved} annotations saved, {sum(failed)} refused (5xx), {figures}, {rate:.1f} labels/s"
    )


def measure(running: Running, options: argparse.Namespace, folder: Path) -> None:
    print(f"{options.items:,} items: from the csv to the first question {running.first:.1f} s")
    if (ready := page_ready(running)) is not None:
        print(f"page ready in {ready:.0f} ms")
    print(f"\n{HEAD}")
    print("|---|---|---|---|---|---|---|---|")
    print(
        row(f"one person, thinking {options.think:g} s", crowd(running, 1, options.labels, options.think)), flush=True
    )
    if options.items <= 100_000:
        print(row("one person, as fast as can be", crowd(running, 1, 200 if not SMOKE else 5, 0.0)), flush=True)
        print(row(f"{PEOPLE} people, thinking {THINK:g} s", crowd(running, PEOPLE, ANSWERS, THINK)), flush=True)
        print(
            row(f"{PEOPLE} people, an import and an export beside", beside(running, folder, options.items)), flush=True
        )
    print(f"\nmemory at its highest, the server and the process beside it: {running.megabytes():,.0f} MB")


def beside(running: Running, folder: Path, n: int) -> list:
    """Let people label while a file of labels is imported and labels are exported."""
    many = folder / "many.csv"
    ids = [str(k) for k in range(max(0, n - 1000), n)]
    many.write_text("id,label\n" + "".join(f"{id},{truth(id)}\n" for id in ids))
    project = str(folder / "items.ask")
    command = [sys.executable, "-m", "askgraph"]
    imported = [*command, "tell", "--file", str(many), "-p", project]
    exported = [*command, "predict", "-p", project, "-o", str(folder / "labels.csv")]
    return crowd(running, PEOPLE, ANSWERS, THINK, [imported, exported])


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    main()
