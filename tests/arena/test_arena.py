"""The arena: equal terms for all methods, records of what goes wrong, and one page of results."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from typer.testing import CliRunner

from askgraph.arena import contest, page, results, sets
from askgraph.arena.contest import Entry, Limits, answers, budgets, compete, first_node
from askgraph.arena.sets import MADE, TRACKS, ArenaSet, choose_sets
from askgraph.cli import app
from askgraph.errors import FileError, SettingError
from askgraph.graph.toys import grid

ROOT = Path(__file__).parents[2]
LIMITS = Limits(300, 8000)


def small(truth=(0, 1) * 6, closed=(), judged=None):
    truth = np.array(truth)
    held = np.array(closed, dtype=np.int64)
    return ArenaSet("small", grid(2, truth.size // 2), None, truth, held, judged, "1")


def write(folder, name, body):
    (folder / f"{name}.py").write_text(
        textwrap.dedent("""
        class Method:
            def __init__(self, graph, classes):
                self.n, self.told, self.skipped = graph.weights.shape[0], {}, []
            def tell(self, node, label):
                self.told[node] = label
            def skip(self, node):
                self.skipped.append(node)
            def ask(self):
                return min(set(range(self.n)) - set(self.told) - set(self.skipped))
            def predict(self):
                return [self.told.get(k, 0) for k in range(self.n)]
        """)
        + textwrap.dedent(body)
        + "\ndef make(graph, features, classes, seed):\n    return Mine(graph, classes)\n"
    )


def run(folder, monkeypatch, body, one=None, limits=LIMITS, track="graph", seed=0):
    monkeypatch.chdir(folder)
    write(folder, "mine", f"class Mine(Method):\n{textwrap.indent(textwrap.dedent(body), '    ')}")
    return compete(Entry("mine", "mine:make", track, seed), one or small(), limits)


def test_a_method_is_read_at_each_budget(tmp_path, monkeypatch):
    """It gets the first label, asks for all others, and is judged on the nodes without one."""
    record = run(tmp_path, monkeypatch, "pass")
    assert record["status"] == "done"
    assert record["labels"] == [4, 6]  # 2 and 3 per class, and no more than half of 12
    assert record["stated"] == [None, None]
    first = first_node(small(), 0)
    known = [first, *(k for k in range(12) if k != first)][:6]  # it asks for the first nodes
    rest = [k for k in range(12) if k not in known]
    assert record["accuracy"][-1] == pytest.approx(np.mean([small().truth[k] == 0 for k in rest]))
    assert record["seconds"] > 0
    assert 20 < record["megabytes"] < 2000


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def ask(self): return next(iter(self.told))", "asked for node [0-9]+, which is labeled"),
        ("def ask(self): return 99", "asked for node 99, which is not one of the nodes"),
        ("def ask(self): return 1 / 0", "ask: ZeroDivisionError: division by zero"),
        ("def ask(self): import os; os._exit(3)", r"its process ended \(exit code 3\)"),
        ("def ask(self):\n    while True: pass", "took more than 6 seconds"),
        ("def ask(self): self.much = b'x' * 10**9; return 99", "MB of memory, more than 600"),
        ("def predict(self): return [float('nan')] * self.n", "predicted nan; give classes from 0 to 1"),
        ("def predict(self): return [0] * 3", "predicted 3 classes; give one for each of the 12 nodes"),
        ("def predict(self): return [7] * self.n", "predicted 7"),
        ("def tell(self, node, label): raise SystemExit", "tell: SystemExit"),
        ("ask = None", "ask: TypeError"),
    ],
)
def test_what_a_method_does_wrong_is_a_reason(tmp_path, monkeypatch, body, reason):
    seconds = 6 if "while True" in body else 300  # a busy machine takes its time to start a process
    record = run(tmp_path, monkeypatch, body, limits=Limits(seconds, 600))
    assert record["status"] == "failed"
    assert re.search(reason, record["reason"])


@pytest.mark.parametrize("path", ["nowhere:make", "mine:nothing", "mine", ":make"])
def test_a_method_that_is_not_there_is_a_failed_run(tmp_path, monkeypatch, path):
    write(tmp_path, "mine", "Mine = Method")
    monkeypatch.chdir(tmp_path)
    record = compete(Entry("mine", path, "graph", 0), small(), LIMITS)
    assert record["status"] == "failed"
    assert "make: " in record["reason"]


def test_a_method_says_how_wrong_it_expects_to_be(tmp_path, monkeypatch):
    record = run(tmp_path, monkeypatch, "def expected_error(self): return (0.25, 0.1, 0.5)")
    assert record["stated"] == [[0.25, 0.1, 0.5]] * 2
    assert run(tmp_path, monkeypatch, "def expected_error(self): return 0.5")["stated"] == [[0.5]] * 2


def test_the_process_of_a_method_never_gets_the_classes(tmp_path, monkeypatch):
    """It looks for them in all lists and arrays that its process holds, beside its own, and finds them there alone."""
    truth = np.random.default_rng(0).permutation(np.arange(40) % 2)
    body = f"""
    planted = PLANTED
    def predict(self):
        import gc
        import numpy as np
        lists = [x for x in gc.get_objects() if type(x) is list and len(x) == 40]
        held = [x for x in lists if all(type(y) is int for y in x)]
        parts = [y for x in gc.get_objects() if isinstance(x, dict) for y in x.values() if type(y) is np.ndarray]
        held += [y.tolist() for y in parts if y.shape == (40,)]
        words = ["".join(map(str, x)) for x in held]
        if "{"".join(map(str, truth))}" in words:
            raise ValueError("found them")
        return [0] * self.n
    """
    one = small(truth=truth)
    assert run(tmp_path, monkeypatch, body.replace("PLANTED", "None"), one)["status"] == "done"
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    planted = run(tmp_path, monkeypatch, body.replace("PLANTED", str(truth.tolist())), one)
    assert planted["reason"] == "predict: ValueError: found them"  # so it is seen where it is


def test_nodes_that_are_held_back_are_skipped_never_asked_for_and_judged(tmp_path, monkeypatch):
    one = small(truth=[0, 1] * 6, closed=[0, 1, 2, 3], judged=np.array([2, 3]))
    record = run(tmp_path, monkeypatch, "pass", one, track="split")
    assert record["status"] == "done"
    assert record["accuracy"] == [0.5] * len(record["accuracy"])
    forbidden = run(tmp_path, monkeypatch, "def ask(self): return 2", one, track="split")
    assert "which is not one of the nodes that may be asked for" in forbidden["reason"]


def test_wrong_answers_are_as_many_as_the_track_says_and_the_same_each_time():
    one = small(truth=np.arange(5).repeat(2000))
    for name in ("noisy-10", "noisy-20", "noisy-30"):
        wrong = TRACKS[name].wrong
        said = answers(one, wrong, 3)
        assert np.array_equal(said, answers(one, wrong, 3))
        assert (said != one.truth).mean() == pytest.approx(wrong, abs=0.02)
        others = said[(said != one.truth) & (one.truth == 0)]
        assert set(others.tolist()) == {1, 2, 3, 4}
    assert np.array_equal(answers(one, 0.0, 3), one.truth)


def test_budgets_run_from_two_to_twenty_per_class_of_at_most_half_of_the_nodes():
    assert budgets(small(truth=[0, 1, 2, 3] * 100)) == [8, 12, 20, 28, 40, 56, 80]
    assert budgets(small()) == [4, 6]
    assert budgets(small(truth=[0, 1] * 6, closed=[0, 1, 2, 3])) == [4]


@pytest.mark.parametrize("name", list(MADE))
def test_a_made_set_is_the_same_each_time(name):
    """Checksums are in records: they must not depend on the machine or on the day."""
    track = next(track for track, one in TRACKS.items() if name in one.small)
    ((one,), (other,)) = (choose_sets(track, [name], None) for _ in range(2))
    assert one.checksum == other.checksum
    assert set(one.truth.tolist()) == set(range(one.n_classes))
    assert (one.graph is None) == (track == "rows")
    assert (one.features is None) == (track == "graph")
    assert one.closed.size == 0


def test_sets_that_do_not_fit_a_track_are_refused(tmp_path):
    for track, name, said in (
        ("graph", "digits", "not for a track of a graph alone"),
        ("features", "wine graph", "not for a track"),
        ("rows", "three groups", "not for a track"),
        ("split", "papers", "not for a track"),
        ("graph", "unknown", "no such set"),
        ("split", "cora", "--folder"),
        ("sprint", "small", "choose"),
    ):
        with pytest.raises(SettingError, match=said):
            choose_sets(track, [name], None)
    with pytest.raises(SettingError, match="no set comes with askgraph"):
        choose_sets("split", ["small"], None)
    with pytest.raises(FileError, match="no such file"):
        choose_sets("graph", ["gone.npz"], tmp_path)


def save(path, **arrays):
    np.savez(path, **{"edges": np.array([[0, 1], [1, 2], [2, 3]]), "y": np.array([0, 0, 1, 1]), **arrays})
    return path


def test_a_set_is_read_from_a_file_by_what_is_in_it(tmp_path):
    X = csr_array(np.eye(4))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "columns": np.array(4)}
    save(tmp_path / "one.npz", **parts, validation=np.array([0]), test=np.array([3]))
    (one,) = choose_sets("split", ["one.npz"], tmp_path)
    assert one.closed.tolist() == [0, 3]
    assert one.judged.tolist() == [3]
    assert one.graph.n_edges == 3
    assert np.array_equal(one.features.toarray(), np.eye(4))
    (free,) = choose_sets("features", ["one.npz"], tmp_path)
    assert free.closed.size == 0
    assert free.judged is None
    (rows,) = choose_sets("rows", ["one.npz"], tmp_path)
    assert rows.graph is None
    save(tmp_path / "cora.npz", **parts, test=np.array([3]))
    with pytest.raises(FileError, match="not the set as it was published"):
        choose_sets("split", ["cora"], tmp_path)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"y": np.array([0, 2, 2, 0])}, "none is missing"),
        ({"y": np.array([0.5, 1, 1, 0])}, "whole numbers"),
        ({"edges": np.array([[0, 9]])}, "from 0 to 3"),
        ({"edges": np.array([0, 1])}, "pairs"),
    ],
)
def test_a_bad_file_is_refused_with_what_it_lacks(tmp_path, wrong, said):
    save(tmp_path / "bad.npz", **wrong)
    with pytest.raises(FileError, match=said):
        choose_sets("graph", ["bad.npz"], tmp_path)


@pytest.mark.data
@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_published_sets_are_known_by_their_checksum(name):
    folder = Path(os.environ.get("ASKGRAPH_DATA", ROOT.parent / "shared" / "data"), "planetoid")
    if not (folder / f"{name}.npz").exists():
        pytest.skip(f"no {folder / name}.npz here")
    (one,) = choose_sets("split", [name], folder)
    assert one.checksum == sets.PUBLISHED[name]
    assert one.closed.size == 1500
    assert one.judged.size == 1000


def test_the_commands_run_go_on_and_report(tmp_path, monkeypatch):
    """The method of docs/arena.md, as a stranger would hand it in, beside a failing one and the learner."""
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "arena.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len([line for line in block.splitlines() if line.strip()]) <= 25
    (tmp_path / "margin.py").write_text(block)
    write(tmp_path, "broken", "class Mine(Method):\n    def ask(self): raise ValueError('<b>no</b> idea')")
    runner = CliRunner()

    def give(*words):
        done = runner.invoke(app, ["arena", *words])
        assert done.exit_code == 0, done.output
        return done.output

    some = ["--sets", "two squares,wine graph", "--seeds", "2", "-o", "all.jsonl"]
    assert "4 runs added" in give("run", "margin:make", "--name", "margin", *some)
    assert "there already" in give("run", "margin:make", "--name", "margin", *some)
    assert "0 runs added, 4 more failed" in give("run", "broken:make", *some, "--jobs", "2")
    assert "4 runs added" in give("run", "askgraph.arena.methods:learner", "--name", "askgraph", *some)
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    (tmp_path / "cut.jsonl").write_text("\n".join(lines[:3]) + "\n" + lines[3][:40])
    assert "3 of 4 runs are there" in give("run", "margin:make", "--name", "margin", *some[:-1], "cut.jsonl")
    said = give("report", "all.jsonl", "-o", "page.html", "--csv", "table.csv")
    assert "graph: broken:make: rank 3.0, 0.0 %" in said
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = {(row["set"], row["method"]): row for row in csv.DictReader(file)}
    assert len(rows) == 6
    assert (rows["wine graph", "broken:make"]["failed"], rows["wine graph", "margin"]["failed"]) == ("2", "0")
    assert rows["wine graph", "broken:make"]["at 2 a class"] == ""
    assert float(rows["wine graph", "margin"]["at 20 a class"]) > 0.8
    made = (tmp_path / "page.html").read_text()
    assert "&lt;b&gt;no&lt;/b&gt; idea" in made
    assert "<b>no</b>" not in made
    assert "http" not in made.replace("http-equiv", "")  # needs nothing beside itself
    missing = runner.invoke(app, ["arena", "report", "gone.jsonl"])
    assert isinstance(missing.exception, FileError)


def records(scores, name, track="graph"):
    """Runs with one accuracy all along the curve, by set."""
    return [
        {
            "name": name, "track": track, "set": one, "seed": seed, "checksum": one, "classes": 2, "status": "done",
            "reason": None, "labels": [4, 6, 10], "accuracy": [x] * 3, "stated": [[0.1, 0.0, 0.2]] * 3, "seconds": 1.0,
            "megabytes": 90.0,
        }
        for one, x in scores.items()
        for seed in range(2)
    ]  # fmt: skip


def test_tables_rank_methods_and_say_how_sure_that_is():
    some = {"a": 0.9, "b": 0.8, "c": 0.7}
    found = records(some, "good") + records({one: x - 0.1 for one, x in some.items()}, "poor")
    (table,) = results.tables(found)
    good, poor = table.rows
    assert (good.name, good.rank.value, poor.rank.value) == ("good", 1.0, 2.0)
    assert good.mean.value == pytest.approx(0.8)
    assert 0.7 <= good.mean.low < 0.8 < good.mean.high <= 0.9
    assert table.rival == "poor"
    assert table.lead == pytest.approx((0.1, 0.1, 0.1))
    assert good.at == pytest.approx([0.8, 0.8, None, None])
    assert good.stated == pytest.approx(np.mean([0.0, 0.1, 0.2]))
    assert good.held == pytest.approx(2 / 3)  # 0.1 and 0.2 are within 0 to 0.2, 0.3 is not


def test_only_sets_and_seeds_that_all_were_run_on_are_compared():
    found = records({"a": 0.9, "b": 0.1}, "one") + records({"a": 0.5}, "other")[:1]
    (table,) = results.tables(found)
    assert table.sets == ["a"]
    assert table.seeds == 1
    assert table.rows[0].mean == (0.9, None, None)
    assert "On the one set one is ahead of other by 40.0 points" in page.page([table])


def test_the_rival_is_the_method_with_the_next_mean_whatever_its_rank():
    found = records({"a": 0.9, "b": 0.9, "c": 0.9}, "best") + records({"a": 0.8, "b": 0.8, "c": 0.1}, "shaky")
    (table,) = results.tables(found + records({"a": 0.7, "b": 0.7, "c": 0.7}, "steady"))
    assert [row.name for row in table.rows] == ["best", "shaky", "steady"]
    assert (table.rival, table.lead.value) == ("steady", pytest.approx(0.2))


def test_a_summary_is_the_mean_over_the_seeds_of_a_method_on_a_set():
    found = records({"a": 0.25, "b": 0.5}, "one")
    found[1] |= {"accuracy": [0.75] * 3, "seconds": 2.0}
    failed = {"status": "failed", "reason": "no idea", "labels": [], "accuracy": [], "stated": []}
    found[3] |= failed
    one, other = results.summaries(found)
    assert (one["track"], one["set"], one["method"], one["runs"], one["failed"]) == ("graph", "a", "one", 2, 0)
    assert (one["over the curve"], one["deviation of seeds"], one["at 2 a class"], one["at 7 a class"]) == (
        0.5,
        0.25,
        0.5,
        None,
    )
    assert one["CPU seconds, median"] == 1.5
    assert (other["failed"], other["over the curve"], other["at 2 a class"]) == (
        1,
        0.25,
        0.5,
    )  # a run that failed has none right


def test_of_equal_runs_the_last_counts():
    found = records({"a": 0.2}, "one") + records({"a": 0.6}, "one")
    assert results.tables(found)[0].rows[0].mean.value == pytest.approx(0.6)


def test_a_table_without_a_common_set_says_so():
    (table,) = results.tables(records({"a": 0.9}, "one") + records({"b": 0.9}, "other"))
    assert table.rows == []
    assert "No set that all methods were run on" in page.page([table])


def test_records_keep_what_a_page_needs(tmp_path, monkeypatch):
    record = run(tmp_path, monkeypatch, "pass")
    assert json.loads(json.dumps(record)) == record
    assert contest.key(Entry("mine", "mine:make", "graph", 0), small()) == ("mine", "graph", "small", 0, "1")
