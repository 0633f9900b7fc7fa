"""A project lives: rows come in, items go out for good, and everything else stays as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from PIL import Image

import askgraph as ag
from askgraph.errors import BusyError, FileError, LabelError, SettingError
from askgraph.graph import Graph
from askgraph.workbench import growing
from askgraph.workbench.embedding import embed_project, load_model, stored_vectors
from askgraph.workbench.growing import prepare_addition, remove_items, rows_there, take_in
from askgraph.workbench.guesses import Guess
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source, read_columns
from askgraph.workbench.store import Store
from tests.helpers.projects import hurt, make, make_old

N, FIRST = 14, 9
WORDS = [["team", "match", "goal", "coach"], ["price", "market", "bank", "shares"]]


def cells(rng, k):
    words = " ".join(rng.choice(WORDS[k % 2], 8))
    return {"id": f"n{k}", "text": words, "x": f"{rng.normal() + 4 * (k % 2):.3f}", "y": f"{k}", "kind": "ab"[k % 2]}


def write(folder, name, rows):
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    rows = [cells(rng, k) for k in range(N)]
    np.save(tmp_path / "all.npy", (vectors := rng.normal(size=(N, 3)).astype(np.float32)))
    np.save(tmp_path / "first.npy", vectors[:FIRST])
    np.save(tmp_path / "more.npy", vectors[FIRST:])
    write(tmp_path, "edges.csv", [{"source": f"n{k}", "target": f"n{(k + 3) % FIRST}"} for k in range(FIRST)])
    for name, some in (("all.csv", rows), ("first.csv", rows[:FIRST]), ("more.csv", rows[FIRST:])):
        write(tmp_path, name, some)
    return tmp_path


def grow(path, table, graphs=(), vectors=None):
    with Project.open(path) as project:
        found = prepare_addition(project, table, graphs, vectors)
    with Project.open(path, write=True) as project:
        assert take_in(project.store, found.path.name) == found.items
    assert not found.path.exists()
    return found


def same_graph(one, other):
    with Project.open(one) as a, Project.open(other) as b:
        assert a.store.ids() == b.store.ids()
        np.testing.assert_allclose(a.graph.weights.toarray(), b.graph.weights.toarray(), atol=1e-12)
        assert [x.fields for x in a.store.every()] == [x.fields for x in b.store.every()]
        left, right = a.store.features(), b.store.features()
        assert (left is None) == (right is None)
        if left is not None:
            np.testing.assert_allclose(left, right, atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"features": ["x", "y"]},
        {"features": ["x"], "scale": "none", "label": "kind"},
        {"text": ["text"]},
        {"vectors": "x:y"},
        {"text": ["text"], "graph": "edges.csv"},
        {"id": "id", "features": ["x"], "show": ["x", "text"]},
        {"text": ["text"], "features": ["x", "y"], "weights": {"x": 2.0}},
        {"text": ["text"], "vectors": "x:y", "graph": "edges.csv"},
    ],
    ids=str,
)
def test_adding_rows_gives_the_project_of_all_rows(tables, options):
    if "graph" in options:
        options = {**options, "graph": tables / options["graph"]}
    for name in ("first", "all"):
        Project.create(tables / f"{name}.ask", Source(tables / f"{name}.csv", neighbors=3, **options))
    with Project.open(tables / "first.ask", write=True) as project:
        project.say("ann", "n2", "label", "a")
        project.say("bob", "n3", "label", "b")
        project.say("bob", "n4", "later")
        project.undo("bob")
        before = project.store.answers()
    added = grow(tables / "first.ask", tables / "more.csv")
    assert (added.items, added.known) == (N - FIRST, 0)
    same_graph(tables / "first.ask", tables / "all.ask")
    with Project.open(tables / "first.ask", write=True) as project:
        assert project.store.answers()[: len(before)] == before
        if "label" in options:
            assert {project.answers.labels[place] for place in range(FIRST, N)} == {"a", "b"}
        else:
            assert project.store.answers() == before
            project.say("ann", f"n{N - 1}", "label", "b")
        assert len(project.predictions().labels) == N
        assert project.ask() or project.finished


@pytest.mark.parametrize(
    "options",
    [{"features": ["x", "y"]}, {"text": ["text"]}, {"vectors": "x:y"}, {"text": ["text"], "graph": "edges.csv"}],
    ids=str,
)
@pytest.mark.parametrize("copied", ["rows that are there", "each other", "one row alone"])
def test_adding_copies_gives_the_project_of_all_rows(tables, options, copied):
    rng = np.random.default_rng(1)
    rows = [cells(rng, k) for k in range(N)]
    source = {
        "rows that are there": lambda k: k % 4,
        "each other": lambda k: FIRST + k % 2,
        "one row alone": lambda k: 0,
    }
    rows[FIRST + 2 :] = [{**rows[source[copied](k)], "id": f"n{k}"} for k in range(FIRST + 2, N)]
    if copied == "one row alone":
        rows = [{**rows[0], "id": f"n{k}"} for k in range(N)]
    if "graph" in options:
        options = {**options, "graph": tables / options["graph"]}
    for name, some in (("all", rows), ("first", rows[:FIRST]), ("more", rows[FIRST:])):
        write(tables, f"{name}.csv", some)
    for name in ("first", "all"):
        Project.create(tables / f"{name}.ask", Source(tables / f"{name}.csv", neighbors=3, **options))
    added = grow(tables / "first.ask", tables / "more.csv")
    same_graph(tables / "first.ask", tables / "all.ask")
    with Project.open(tables / "first.ask") as a, Project.open(tables / "all.ask") as b:
        assert a.about["graph"] == b.about["graph"] == added.notes
        assert any("% of the rows repeat" in note for note in added.notes)
        assert np.diff(a.graph.weights.indptr).min() > 0


def test_a_project_keeps_the_graph_that_it_was_made_with_where_rows_repeat(tables):
    rows = [{**cells(np.random.default_rng(0), 0), "id": f"n{k}"} for k in range(6)]
    Project.create(tables / "p.ask", Source(write(tables, "copies.csv", rows), features=["x"]))
    stored = Graph.from_edges([(k, k + 1, 0.5) for k in range(5)])
    with Project.open(tables / "p.ask", write=True) as project:
        project.store.rejoin(stored, None, ["by hand"], project.items.columns)
    with Project.open(tables / "p.ask", write=True) as project:
        project.say("ann", "n2", "label", "a")
        assert (project.graph.weights.toarray() == stored.weights.toarray()).all()


def test_vectors_of_a_file(tables):
    for name in ("first", "all"):
        source = Source(tables / f"{name}.csv", vectors=str(tables / f"{name}.npy"), neighbors=3)
        Project.create(tables / f"{name}.ask", source)
    with Project.open(tables / "first.ask") as project:
        with pytest.raises(SettingError, match="--vectors FILE"):
            prepare_addition(project, tables / "more.csv")
        with pytest.raises(SettingError, match="of 2 numbers"):
            prepare_addition(project, tables / "more.csv", vectors="x:y")
    grow(tables / "first.ask", tables / "more.csv", vectors=str(tables / "more.npy"))
    same_graph(tables / "first.ask", tables / "all.ask")


def test_rows_without_ids_go_on_counting(tmp_path):
    (tmp_path / "t.csv").write_text("x\n1\n2\n3\n")
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv", neighbors=1))
    with Project.open(tmp_path / "t.ask", write=True) as project:
        remove_items(project, ["2"])
    (tmp_path / "more.csv").write_text("x\n4\n5\n6\n")
    grow(tmp_path / "t.ask", tmp_path / "more.csv")
    with Project.open(tmp_path / "t.ask") as project:
        assert project.store.ids() == ["1", "3", "4", "5", "6"]


def test_rows_that_are_there_are_left_out(tables):
    Project.create(tables / "p.ask", Source(tables / "first.csv", features=["x"]))
    found = grow(tables / "p.ask", tables / "all.csv")
    assert (found.items, found.known) == (N - FIRST, FIRST)
    with Project.open(tables / "p.ask") as project, pytest.raises(FileError, match=f"all {N} rows are in"):
        prepare_addition(project, tables / "all.csv")


def numbered(folder, name, rows, **source):
    """A project whose ids are row numbers, of rows of text and a number."""
    write(folder, f"{name}.csv", [{"about": about, "size": size, "kind": kind} for about, size, kind in rows])
    Project.create(folder / f"{name}.ask", Source(folder / f"{name}.csv", features=["size"], neighbors=2, **source))
    return folder / f"{name}.ask"


ROWS = [("a cat", "1.5", "x"), ("a dog", "2", "y"), ("a cow", "3", ""), ("a cat", "1.5", "x")]


@pytest.mark.parametrize(
    ("rows", "new"),
    [
        (ROWS, 0),
        ([*ROWS, ("a hen", "4", "")], 1),
        ([*ROWS, ROWS[0], ROWS[0], ROWS[1]], 3),
        ([ROWS[2], ("a hen", "4", ""), ROWS[1]], 1),
        ([(about, size, "another") for about, size, _ in ROWS], 0),
        ([(about, "7", kind) for about, _, kind in ROWS], 4),
    ],
    ids=["the same", "grown", "copies more often", "in another order", "other labels", "other numbers"],
)
def test_rows_that_come_again_are_left_out_where_ids_are_row_numbers(tmp_path, rows, new):
    path = numbered(tmp_path, "t", ROWS, label="kind")
    more = write(tmp_path, "more.csv", [{"about": about, "size": size, "kind": kind} for about, size, kind in rows])
    with Project.open(path) as project:
        assert rows_there(project, read_columns(more)) == len(rows) - new
    if new:
        added = grow(path, more)
        assert (added.items, added.known) == (new, len(rows) - new)
        with Project.open(path) as project:
            assert project.store.ids() == [str(k + 1) for k in range(len(ROWS) + new)]
            assert rows_there(project, read_columns(more)) == len(rows)
    with Project.open(path) as project, pytest.raises(FileError, match=f"all {len(rows)} rows are in .*; --all takes"):
        prepare_addition(project, more)
    with Project.open(path) as project:
        everything = prepare_addition(project, more, every=True)
        assert (everything.items, everything.known) == (len(rows), 0)


def test_a_number_is_the_same_whichever_type_of_file_it_comes_from(tmp_path):
    path = numbered(tmp_path, "t", ROWS)
    more = tmp_path / "more.jsonl"
    more.write_text("".join(f'{{"about": "{a}", "size": {float(s)}, "kind": "{k}"}}\n' for a, s, k in ROWS))
    with Project.open(path) as project:
        assert rows_there(project, read_columns(more)) == len(ROWS)
        hurt(path, "UPDATE items SET fields = replace(fields, '1.5', '1,5')")  # as an earlier version stored it
        project.about["fields"]["size"] = "text"
        assert rows_there(project, read_columns(tmp_path / "t.csv")) == len(ROWS)
        write(tmp_path, "other.csv", [{"about": "a cat", "size": "1.5"}])
        assert rows_there(project, read_columns(tmp_path / "other.csv")) == 0  # a column is missing


def test_rows_with_ids_are_there_if_their_fields_are_equal_too(tables):
    Project.create(tables / "p.ask", Source(tables / "first.csv", features=["x"]))
    rows = [cells(np.random.default_rng(0), k) for k in range(FIRST)]
    with Project.open(tables / "p.ask") as project:
        assert rows_there(project, read_columns(tables / "all.csv")) == FIRST
        assert rows_there(project, read_columns(tables / "more.csv")) == 0
        changed = write(tables, "changed.csv", [{**row, "text": "other"} for row in rows])
        assert rows_there(project, read_columns(changed)) == 0


def test_rows_of_vectors_come_again_if_their_vectors_do(tables):
    rows = [{"kind": "ab"[k % 2], "x": str(k), "y": str(k % 3)} for k in range(N)]
    path = write(tables, "v.csv", rows[:FIRST])
    Project.create(tables / "v.ask", Source(path, vectors="x:y", neighbors=3))
    added = grow(tables / "v.ask", write(tables, "more.csv", rows[FIRST - 2 :]))
    assert (added.items, added.known) == (N - FIRST, 2)
    Project.create(tables / "file.ask", Source(path, vectors=str(tables / "first.npy"), neighbors=3))
    with Project.open(tables / "file.ask") as project:
        assert rows_there(project, read_columns(path)) == 0  # nothing says whether their vectors are the same
    added = grow(tables / "file.ask", write(tables, "all.csv", rows), vectors=str(tables / "all.npy"))
    assert (added.items, added.known) == (N - FIRST, FIRST)


def test_edges_name_rows_by_their_number_so_none_is_left_out_beside_them(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n2,3\n3,4\n")
    write(tmp_path, "t.csv", [{"about": about} for about, *_ in ROWS])
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv", tmp_path / "edges.csv"))
    (tmp_path / "further.csv").write_text("source,target\n4,5\n5,6\n6,7\n7,8\n")
    assert grow(tmp_path / "t.ask", tmp_path / "t.csv", [tmp_path / "further.csv"]).items == len(ROWS)


def test_long_numbers_that_differ_in_their_last_digit_are_different_rows(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    for path, start in ((first, 0), (second, 9)):
        rows = "".join(f"word {k % 3},{1234567890123456000 + start + k}\n" for k in range(9))
        path.write_text("title,tweet\n" + rows)
    Project.create(tmp_path / "p.ask", Source(first, text="title", id=""))
    with Project.open(tmp_path / "p.ask") as project:
        assert rows_there(project, read_columns(first)) == 9
        assert rows_there(project, read_columns(second)) == 0


def test_rows_that_come_again_are_found_in_linear_time(tmp_path, monkeypatch):
    path, reads = numbered(tmp_path, "t", [(f"text {k}", str(k), "x") for k in range(40)]), []
    monkeypatch.setattr(growing, "_same", lambda cell, kind: reads.append(1) or cell)
    with Project.open(path) as project:
        assert rows_there(project, read_columns(tmp_path / "t.csv")) == 40
    assert len(reads) == 2 * 3 * 40


def test_new_pictures_of_the_folder(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(4):
        Image.new("RGB", (8, 8), (60 * k, 0, 0)).save(folder / f"{k}.png")
    Project.create(tmp_path / "p.ask", Source(folder, neighbors=2))
    Image.new("RGB", (8, 8), "blue").save(folder / "new.png")
    found = grow(tmp_path / "p.ask", folder)
    assert (found.items, found.known) == (1, 4)
    with Project.open(tmp_path / "p.ask") as project:
        assert project.items.item(4).image == "new.png"
        with pytest.raises(SettingError, match="put new ones there"):
            prepare_addition(project, tmp_path)


def test_edges_bring_nodes(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "more.csv").write_text("source,target\nc,d\nd,e\n")
    Project.create(tmp_path / "p.ask", Source(graph=tmp_path / "e.csv"))
    assert grow(tmp_path / "p.ask", None, [tmp_path / "more.csv"]).items == 2
    with Project.open(tmp_path / "p.ask") as project:
        assert project.store.ids() == list("abcde")
        assert project.graph.n_edges == 4
        with pytest.raises(SettingError, match="add what"):
            prepare_addition(project, None)


@pytest.mark.parametrize("options", [{"features": ["x"]}, {"text": ["text"]}, {"vectors": "x:y"}], ids=str)
def test_a_model_embeds_what_is_new(tables, monkeypatch, options):
    monkeypatch.setattr("askgraph.workbench.embedding.PART", 4)
    monkeypatch.setattr(
        "askgraph.workbench.embedding.load_model",
        lambda *_, **__: lambda texts: [[len(t), t.count("a"), t.count("e") + 1.0] for t in texts],
    )
    for name in ("first", "all"):
        Project.create(tables / f"{name}.ask", Source(tables / f"{name}.csv", **options))
        with Project.open(tables / f"{name}.ask", write=True) as project:
            embed_project(project, "mine", ["text"])
    grow(tables / "first.ask", tables / "more.csv")
    same_graph(tables / "first.ask", tables / "all.ask")
    with Project.open(tables / "first.ask", write=True) as project:
        monkeypatch.setattr("askgraph.workbench.embedding.load_model", load_model)  # nothing is left to embed
        assert embed_project(project, "mine", ["text"]).shape == (N, 3)
        remove_items(project, ["n0", "n5"])
    with Project.open(tables / "first.ask", write=True) as project:
        assert embed_project(project, "mine", ["text"]).shape == (N - 2, 3)


def test_a_project_that_an_earlier_version_embedded_grows_by_these_vectors_alone(tables, monkeypatch):
    monkeypatch.setattr(
        "askgraph.workbench.embedding.load_model",
        lambda *_, **__: lambda texts: [[len(t), t.count("a"), t.count("e") + 1.0] for t in texts],
    )
    Project.create(tables / "p.ask", Source(tables / "first.csv", text="text"))
    with Project.open(tables / "p.ask", write=True) as project:
        embed_project(project, "mine", ["text"])
        project.store.note("vectors", {"model": "mine", "fields": ["text"]})  # as it was written
    grow(tables / "p.ask", tables / "more.csv")
    with Project.open(tables / "p.ask") as project:
        expected = ag.nearest_neighbors(stored_vectors(project), 10, "cosine").weights.toarray()
        np.testing.assert_allclose(project.graph.weights.toarray(), expected)


def test_an_addition_to_other_items_is_refused_and_nothing_changes(tables):
    Project.create(tables / "p.ask", Source(tables / "first.csv", features=["x"]))
    with Project.open(tables / "p.ask") as project:
        found = prepare_addition(project, tables / "more.csv")
    with Project.open(tables / "p.ask", write=True) as project:
        remove_items(project, ["n0"])
        with pytest.raises(BusyError, match="came or went"):
            take_in(project.store, found.path.name)
        for name in ("../p.ask.a.adding", "p.ask", "other.ask.00.adding", "p.ask.adding", f"x{found.path.name}"):
            with pytest.raises(LabelError, match="no addition"):
                take_in(project.store, name)
        assert project.store.n_items == FIRST - 1


def test_a_project_of_the_version_before_grows(tables, monkeypatch):
    path = make_old(tables / "old.ask", monkeypatch, n=5, labels=["a", None, None, None, "b"])
    write(tables, "new.csv", [{"id": f"m{k}", "text": f"another item with words {k}"} for k in range(2)])
    with (
        Project.open(path) as project,
        pytest.raises(SettingError, match="compared by"),
    ):
        prepare_addition(project, tables / "new.csv")  # its texts are too short to be compared by themselves
    Project.create(tables / "p.ask", Source(tables / "first.csv", text="text"))
    hurt(tables / "p.ask", "DELETE FROM about WHERE name = 'source'")  # as before it was noted
    grow(tables / "p.ask", tables / "more.csv")
    Project.create(tables / "all.ask", Source(tables / "all.csv", text="text"))
    same_graph(tables / "p.ask", tables / "all.ask")


SECRET = "a sentence that nobody may read again"


def bytes_of(folder):
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def test_promise_35_what_is_removed_is_gone(tmp_path):
    """Promise 35: from the items, from the log, and from the bytes of the file."""
    path = make(tmp_path / "p.ask", 40, labels=["a"] + [None] * 39)
    with Project.open(path, write=True) as project:
        project.say("ann", "i3", "label", "b")
        for who in ("ann", SECRET):
            project.say(who, "i7", "label", f"class {SECRET}"[: 60 if who == "ann" else 20])
        project.say("ann", "i9", "label", "b")
        project.say("ann", "i12", "later")
        project.undo("ann")
        project.say("bob", "i39", "label", "a")
        project.log.change("ann", "rename", "b", "beta")
        project.say("ann", "i10", "label", "beta")
        project.store.add_guesses([Guess(7, "gpt", "b"), Guess(8, "gpt", "b")])
        project.store.keep("layout", np.zeros(80))
    hurt(path, "UPDATE items SET fields = ? WHERE place = 7", f'{{"text": "{SECRET}"}}')
    assert SECRET.encode() in bytes_of(tmp_path)
    with Project.open(path, write=True) as project:
        before = project.store.answers()
        gone = remove_items(project, ["i7", "i20"])
    assert (gone.items, gone.lines, gone.elsewhere) == (2, 2, [])
    assert SECRET.encode() not in bytes_of(tmp_path)
    assert b"class a sentence" not in bytes_of(tmp_path)
    with Project.open(path, write=True) as project:
        assert project.store.ids() == [f"i{k}" for k in range(40) if k not in (7, 20)]
        assert project.store.damage() is None
        after = project.store.answers()
        assert [a.seq for a in after] == list(range(1, len(before) - 1))
        kept = [a for a in before if a.item != 7]
        assert [(a.key, a.who, a.at, a.kind, a.label) for a in after] == [
            (a.key, a.who, a.at, a.kind, a.label) for a in kept
        ]
        assert [project.items.item(a.item).id for a in after] == [f"i{a.item}" for a in kept]
        undo = next(a for a in after if a.kind == "undo")
        assert project.answers.log[undo.undoes].kind == "later"
        assert [one.item for one in project.store.guesses()] == [7]
        (change,) = project.store.changes()
        assert change.answers == next(a.seq for a in after if a.label == "beta") - 1
        assert "beta" in project.answers.classes
        assert "b" not in project.answers.classes
        assert len(project.predictions().labels) == 38
        with pytest.raises(KeyError):
            project.store.array("layout")
        project.say("ann", "i8", "label", "beta")
        with pytest.raises(LabelError, match="no item 'i7'"):
            project.say("ann", "i7", "label", "beta")
    for query in ("DELETE FROM answers", "UPDATE answers SET label = 'x'"):  # the log is as closed as before
        with closing(sqlite3.connect(path)) as db, pytest.raises(sqlite3.IntegrityError, match="answers are never"):
            db.execute(query)


def test_a_removal_that_fails_changes_nothing(tmp_path, monkeypatch):
    path = make(tmp_path / "p.ask", 10, labels=["a"] * 10)
    with Project.open(path, write=True) as project:
        before = project.store.answers()
        with pytest.raises(SettingError, match="all items"):
            remove_items(project, [f"i{k}" for k in range(10)])
        with pytest.raises(LabelError, match="no item"):
            remove_items(project, ["i1", "nobody"])
        with monkeypatch.context() as patch:
            patch.setattr(Store, "_close_gaps", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                remove_items(project, ["i1"])
        assert project.store.answers() == before
    with Store.open(path) as store:
        assert store.n_items == 10


def test_copies_that_still_hold_it_are_named(tmp_path):
    path = make(tmp_path / "p.ask", 10)
    for name in ("p.ask.20260101T000000.000000Z.3.backup", "p.ask.20260101T000000.000000Z.old"):
        (tmp_path / name).touch()
    with Project.open(path, write=True) as project:
        assert len(growing.remove_items(project, ["i1"]).elsewhere) == 2


@pytest.mark.parametrize("seed", range(3))
def test_any_walk_of_removals_is_what_a_project_without_them_says(tmp_path, seed):
    """What is left predicts as a project that never had the items, on the graph without them."""
    rng = np.random.default_rng(seed)
    path = make(tmp_path / "p.ask", 20)
    with Project.open(path, write=True) as project:
        for k in rng.choice(20, 9, replace=False):
            project.say("ann", f"i{k}", "label", "ab"[k % 2])
            if rng.random() < 0.3:
                project.undo("ann")
    left = {f"i{k}" for k in range(20)}
    for _ in range(3):
        out = rng.choice(sorted(left), 2, replace=False).tolist()
        left -= set(out)
        with Project.open(path, write=True) as project:
            labels = {project.items.item(place).id: name for place, name in project.answers.labels.items()}
            remove_items(project, out)
        with Project.open(path) as project:
            found = {project.items.item(place).id: name for place, name in project.answers.labels.items()}
            assert found == {id: name for id, name in labels.items() if id not in out}
            assert set(project.store.ids()) == left
            keep = [int(id[1:]) for id in project.store.ids()]
            whole = np.diag(np.ones(19), 1) + np.diag(np.ones(19), -1)
            np.testing.assert_array_equal(project.graph.weights.toarray(), whole[np.ix_(keep, keep)])
