"""Promise 4: twenty people label while a file of labels comes in and predictions go out."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.helpers.processes import start
from tests.helpers.serving import HANGS, answer, ask, make_project, serving, truth, until

PEOPLE, EACH = 20, 3


@pytest.mark.server
def test_promise_4_twenty_people_beside_an_import_and_an_export(tmp_path):
    n = 400
    path = make_project(tmp_path, n)
    many = tmp_path / "many.csv"
    many.write_text("id,label\n" + "".join(f"n{k},{truth(f'n{k}')}\n" for k in range(n - 100, n)))
    beside = [
        ["tell", "--file", many, "-p", path],
        ["predict", "-p", path, "-o", tmp_path / "labels.csv"],
    ]
    with serving(path) as server:

        def person(name):
            took = []
            with server.client() as client:
                for _ in range(EACH):
                    id = ask(client, name)["question"]["item"]["id"]
                    sent = time.perf_counter()
                    answer(client, id, truth(id), name)  # raises unless it was saved
                    took.append(time.perf_counter() - sent)
            return took

        running = [start(words) for words in beside]
        with ThreadPoolExecutor(PEOPLE) as pool:
            took = [seconds for each in pool.map(person, [f"person {k}" for k in range(PEOPLE)]) for seconds in each]
        for process in running:
            said, _ = process.communicate(timeout=HANGS)
            assert process.returncode == 0, said
        with server.client() as client:
            until(client, "/api/progress?who=ann", lambda said: said.get("labels", 0) >= 100)
    assert len(took) == PEOPLE * EACH
    assert (tmp_path / "labels.csv").read_text().count("\n") == n + 1
    print(f"promise 4: {len(took)} answers of {PEOPLE} people, p99 {1e3 * np.quantile(took, 0.99):.0f} ms")
