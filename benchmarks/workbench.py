"""The page's server under load: the time of an answer and of the next question, for one to twenty people, and at a million items.

python benchmarks/workbench.py                  10,000 items
python benchmarks/workbench.py --items 1000000  the large form
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import httpx
import numpy as np
from measure import SMOKE, machine

CLASSES = 5
PEOPLE, ANSWERS, THINK = (20, 20, 2.0) if not SMOKE else (2, 2, 0.0)  # a crowd; answers and seconds of thought of each
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

    def __init__(self, table: Path, *options: str) -> None:
        start = time.perf_counter()
        command = [sys.executable, "-m", "askgraph", "label", str(table), "--no-browser", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        while "The page is at " not in (line := self.process.stdout.readline()):
            assert line, "the server ended"
        self.url = line.split("The page is at ")[1].strip()
        self.base, token = self.url.split("/?token=")
        self.headers = {"Authorization": f"Bearer {token.split('&')[0]}"}
        with self.client() as client:
            asked(client, "first")
        self.first = time.perf_counter() - start

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.base, headers=self.headers, timeout=600)

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
            out.append((1e3 * saved, 1e3 * (time.perf_counter() - start), said["state"]["lag"]))


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
    saved, following, lag = (np.array(column) for column in zip(*times, strict=True))
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
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(running.url)
        page.wait_for_selector(".card dl, .card .passage, .card img", timeout=60_000)
        took = 1e3 * (time.perf_counter() - start)
        browser.close()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000 if not SMOKE else 1_200)
    parser.add_argument("--labels", type=int, default=60 if not SMOKE else 3, help="that one person gives")
    parser.add_argument("--think", type=float, default=2.0 if not SMOKE else 0.0, help="seconds a person thinks")
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "items.csv")
        write_table(table, options.items)
        running = Running(table, "--features", ",".join(features(options.items)), "--id", "id")
        try:
            measure(running, options, Path(folder))
        finally:
            running.stop()
    print(f"\n{machine()}")


def measure(running: Running, options: argparse.Namespace, folder: Path) -> None:
    print(f"{options.items:,} items: from the csv to the first question {running.first:.1f} s")
    if (ready := page_ready(running)) is not None:
        print(f"page ready in {ready:.0f} ms")
    print("\n| ms | answer saved: p50 | p95 | p99 | next question: p50 | p95 | p99 | labels behind |")
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
    ids = [str(k) for k in range(n - 1000, n)]
    many.write_text("id,label\n" + "".join(f"{id},{truth(id)}\n" for id in ids))
    project = str(folder / "items.ask")
    command = [sys.executable, "-m", "askgraph"]
    imported = [*command, "tell", "--file", str(many), "-p", project]
    exported = [*command, "predict", "-p", project, "-o", str(folder / "labels.csv")]
    return crowd(running, PEOPLE, ANSWERS, THINK, [imported, exported])


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    main()
