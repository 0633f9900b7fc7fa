"""The project file: the log only grows, a key counts once, and a damaged or hostile file is a named error in little memory."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
import zlib
from contextlib import closing
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askgraph as ag
from askgraph.answers.shares import OneOf
from askgraph.errors import AskgraphError, FileError, NewerError
from askgraph.workbench import report, schema
from askgraph.workbench.exchange import label_studio_tasks
from askgraph.workbench.export import answer_rows, prediction_rows
from askgraph.workbench.forms import from_row, renamed, to_row
from askgraph.workbench.project import Project
from askgraph.workbench.store import Store
from askgraph.workbench.stored_arrays import PART_BYTES
from tests.helpers.projects import answer, hurt, log_of, make, make_of, say

MEGABYTE = 2**20


@pytest.fixture
def path(tmp_path):
    return make(tmp_path / "p.ask")


def test_items_and_graph_come_back_as_they_were(tmp_path):
    graph = ag.Graph(ag.communities((20, 20), mean_degree=5, rng=0)[0].weights * 0.3)
    path = make(tmp_path / "p.ask", 40, graph=graph)
    with Store.open(path) as store:
        assert (store.graph().weights != graph.weights).nnz == 0
        assert store.ids() == [f"i{k}" for k in range(40)]
        assert [item.fields for item in store.items([7, 3])] == [{"text": "item 7"}, {"text": "item 3"}]
        assert [item.place for item in store.every()] == list(range(40))
        assert (store.place("i9"), store.place("nobody")) == (9, None)


def test_arrays_of_many_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("askgraph.workbench.stored_arrays.PART_BYTES", 64)
    graph = ag.grid(9, 9)
    with Store.open(make(tmp_path / "p.ask", 81, graph=graph), write=True) as store:
        assert (store.graph().weights != graph.weights).nnz == 0
        for array in (np.arange(500.0), np.empty(0), np.arange(3, dtype=np.int32)):
            store.keep("layout", array)
            found = store.array("layout", array.size)
            np.testing.assert_array_equal(found, array)
            assert found.dtype == array.dtype
        with pytest.raises(FileError, match="length 3, not 4"):
            store.array("layout", 4)
        with pytest.raises(KeyError):
            store.array("nothing")


def test_search_takes_text_literally(tmp_path):
    with Store.open(make(tmp_path / "p.ask", 25)) as store:
        assert store.search("ITEM 2") == [2, 20, 21, 22, 23, 24]
        assert store.search("i7") == [7]
        for nothing in ("%", "_", "\\", "'", '"', "i%7", "\ud800", "x" * 100_000):
            assert store.search(nothing) == []


def test_the_curve_keeps_one_value_a_number_of_labels(path):
    with Store.open(path, write=True) as store:
        for value in (0.5, 0.4):
            store.add_to_curve(3, value, 0.1, 0.9)
        store.add_to_curve(2, 0.6, 0.1, 0.9)
        assert store.curve() == [(2, 0.6, 0.1, 0.9), (3, 0.4, 0.1, 0.9)]


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM answers",
        "DELETE FROM answers WHERE seq = 1",
        "UPDATE answers SET label = 'b'",
        "UPDATE answers SET seq = 9 WHERE seq = 1",
        "REPLACE INTO answers (seq, key, who, at, kind, item, label) VALUES (1, 'other', 'eve', '', 'label', 0, 'b')",
        "REPLACE INTO answers (key, who, at, kind, item, label) VALUES ('k0', 'eve', '', 'label', 0, 'b')",
        "INSERT INTO answers (seq, key, who, at, kind, item) VALUES (1, 'k', 'eve', '', 'label', 0) "
        "ON CONFLICT (seq) DO UPDATE SET label = 'b'",
    ],
)
def test_promise_8_no_line_of_the_log_is_deleted_or_changed(path, query):
    with Store.open(path, write=True) as store:
        written = store.append([answer("k0"), answer("k1", 1)])
    with pytest.raises(sqlite3.IntegrityError, match="never"):
        hurt(path, query)
    with Store.open(path, write=True) as store:
        with pytest.raises(FileError, match="never"):
            store._execute(query)
        assert store.answers() == written


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 3)), min_size=1, max_size=25), st.randoms())
def test_promise_10_a_key_counts_once(tmp_path_factory, sent, random):
    """Every request one to three times, in any order after its first: stored once, and answered the same each time."""
    path = make(tmp_path_factory.mktemp("keys") / "p.ask")
    first: dict[str, list] = {}
    items = {f"k{k}": item for k, (item, _) in enumerate(sent)}
    with Project.open(path, write=True) as project:
        for k, (_, times) in enumerate(sent):
            keys = [f"k{k}"] * times + random.sample(sorted(first), min(len(first), 1))
            for key in keys:
                said = project.say_all("ann", [(f"i{items[key]}", "label", f"c{key}"), ("i9", "label", "b")], 1.5, key)
                assert first.setdefault(key, said) == said
        assert len(project.answers.log) == 2 * len(sent)
    found = log_of(path)
    assert len(found) == 2 * len(sent)
    assert len({a.key for a in found}) == len(found)


def test_promise_10_an_undo_counts_once(path):
    with Project.open(path, write=True) as project:
        for item in ("i0", "i1", "i2"):
            project.say("ann", item, "label", "a")
        assert [project.undo("ann", "u").item for _ in range(3)] == [2, 2, 2]
        assert list(project.answers.labels) == [0, 1]
        assert project.undo("ann").item == 1


def test_answers_come_all_or_none(path):
    with Project.open(path, write=True) as project:
        for bad in (("nobody", "label", "a"), ("i1", "label", None), ("i1", "guess", None), ("i1", "later", "a")):
            with pytest.raises(ag.LabelError):
                project.say_all("ann", [("i0", "label", "a"), bad])
        with Store.open(path) as other:
            assert other.answers() == []
        with pytest.raises(FileError, match="FOREIGN KEY"):
            project.store.append([answer("k"), answer("l", 999)])
        assert project.store.answers() == []


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "\ud800", "a\0b"])
def test_names_and_keys_are_one_short_line(path, name):
    with Project.open(path, write=True) as project:
        with pytest.raises(ag.LabelError, match="class"):
            project.say("ann", "i0", "label", name)
        with pytest.raises(ag.LabelError, match="person"):
            project.say(name, "i0", "label", "a")
        if name:
            with pytest.raises(ag.LabelError, match="key"):
                project.say("ann", "i0", "label", "a", key=name)
        with pytest.raises(ag.LabelError, match="no item"):
            project.say("ann", name, "label", "a")
        for seconds in (-1, float("inf"), float("nan")):
            with pytest.raises(ag.LabelError, match="seconds"):
                project.say("ann", "i0", "label", "a", seconds)
        project.say("ann", " i0 ", "label", " two\n words ", 0)
        assert project.answers.labels == {0: "two words"}


KEPT = {  # each with what is read again
    "classes": {
        "caf\u00e9": "café",
        "cafe\u0301": "café",  # accents are composed
        '["a", "b"]': '["a", "b"]',
        "3.5": "3.5",
        "🦊 \"x\" 'y'": "🦊 \"x\" 'y'",
        ag.one_of("b", "a"): ag.one_of("a", "b"),
        ag.one_of("cafe\u0301", "a"): ag.one_of("a", "café"),
    },
    "ordered": {"b": "b", ag.one_of("c", "a"): ag.one_of("a", "c")},
    "several": {
        (): (),
        ("a",): ("a",),
        ("ü", "b", "a"): ("a", "b", "ü"),
        ("cafe\u0301", "café"): ("café",),
        frozenset("ab"): ("a", "b"),
    },
    "numbers": {
        0.0: 0.0,
        np.float64(0.1) + 0.2: 0.1 + 0.2,
        np.float32(0.1): float(np.float32(0.1)),
        np.int64(-7): -7.0,
        12345678901234567: 12345678901234567.0,
        1e150: 1e150,
        -1e150: -1e150,
        5e-324: 5e-324,
    },
}


@pytest.mark.parametrize("kind", KEPT)
def test_answers_of_every_kind_and_predictions_before_spot_checks_survive_the_file(tmp_path, kind):
    path, said = make_of(tmp_path / "p.ask", kind, classes=["a", "b", "c"]), list(KEPT[kind].items())
    with Project.open(path, write=True) as project:
        written = [project.say("ann", f"i{k}", "label", given) for k, (given, _) in enumerate(said)]
        checks = [one for one in written if not isinstance(one.label, OneOf)]
        foretold = [one._replace(key=f"check {one.seq}", predicted=one.label) for one in checks]
        foretold += [one._replace(key=f"check {one.seq}", predicted="a") for one in written if one not in checks]
        stored = project.store.append(foretold)
        project.refresh()
        labels = project.answers.labels
    with Project.open(path) as project:
        again = list(project.answers.log.values())
        assert again == written + stored
        assert [one.label for one in again[: len(said)]] == [expected for _, expected in said]
        assert project.answers.labels == labels
        for one in again[: len(said)]:
            assert type(one.label) in (str, tuple, float, OneOf)
        for one, sent in zip(again[len(said) :], foretold, strict=True):
            assert (one.predicted, type(one.predicted)) == (sent.predicted, type(sent.predicted))
        assert project.learner.labels == labels


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
        st.sets(st.text('ab|[,ü"é🦊', min_size=1)).map(lambda names: tuple(sorted(names))),
        st.sets(st.text('ab|[,ü"é🦊', min_size=1), min_size=2).map(lambda names: ag.one_of(*names)),
    )
)
def test_an_answer_in_a_line_is_read_as_it_was_written(label):
    label = renamed(label, lambda name: normalize("NFC", name))
    found = from_row(*to_row(label))
    assert (found, type(found), repr(found)) == (label, type(label), repr(label))  # -0.0 is equal to 0.0


@pytest.mark.parametrize("number", range(1, schema.LATEST))
def test_files_of_all_earlier_versions_open_and_take_the_answers_of_today(tmp_path, monkeypatch, number):
    with monkeypatch.context() as patch:
        patch.setattr(schema, "LATEST", number)
        path = make(tmp_path / "p.ask", classes=["a", "b"], labels=["a", *[None] * 10, "b"])
    with Project.open(path) as project:  # only read
        assert project.answers.kind.name == "classes"
        assert project.learner.labels == {0: "a", 11: "b"}
    with Project.open(path, write=True) as project:
        project.say("ann", "i3", "label", ag.one_of("a", "b"))
        project.log.change("ann", "rename", "b", "c")
    with Project.open(path) as project:
        assert project.answers.labels == {0: "a", 3: ag.one_of("a", "c"), 11: "c"}
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (schema.LATEST,)


def test_a_file_of_a_later_version_is_said_to_be_newer_and_left_as_it_is(path):
    hurt(path, f"PRAGMA user_version = {schema.LATEST + 1}")
    content = path.read_bytes()
    for write in (False, True):
        with pytest.raises(NewerError, match="made by a newer askgraph"), Project.open(path, write=write):
            pass
    assert path.read_bytes() == content


# Damage


def use(path):
    """Everything that reads a project."""
    with Project.open(path) as project:
        project.ask(3)
        for rows in (prediction_rows, answer_rows, label_studio_tasks):
            list(rows(project))
        json.dumps(report.progress(project, project.predictions()))
        for told in (report.people, report.checkup):
            json.dumps(told(project))
        report.history(project, 10)
        project.store.search("item")


def used(path):
    try:
        use(path)
    except AskgraphError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A sound project with a life behind it."""
    path = make(tmp_path_factory.mktemp("sample") / "p.ask", classes=["a", "b"])
    say(path, ("i0", "a"), ("i5", "b"), ("i3", "ü"))
    with Project.open(path, write=True) as project:
        project.say("bob", "i5", "cannot")
        project.say("bob", "i6", "later", seconds=2.5)
        project.undo("ann")
    assert used(path) is None
    return path


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=12))
def test_promise_12_flipped_bytes_are_an_error_of_ours_or_none(sample, tmp_path_factory, flips):
    content = bytearray(sample.read_bytes())
    for where, mask in flips:
        content[int(where * len(content))] ^= mask
    path = tmp_path_factory.getbasetemp() / "flipped.ask"
    path.write_bytes(content)
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    used(path)


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 1))
def test_promise_12_a_file_cut_off_is_an_error_of_ours_or_none(sample, tmp_path_factory, share):
    path = tmp_path_factory.getbasetemp() / "cut.ask"
    content = sample.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    used(path)


DAMAGE = [
    ("DELETE FROM about WHERE name = ?", "classes"),
    ("DELETE FROM about WHERE name = ?", "settings"),
    ("UPDATE about SET value = ? WHERE name = 'classes'", "{"),
    ("UPDATE about SET value = ? WHERE name = 'classes'", '["a", "a"]'),
    ("UPDATE about SET value = ? WHERE name = 'settings'", "3"),
    ("UPDATE about SET value = ? WHERE name = 'settings'", '{"a": 1}'),
    ("UPDATE about SET value = ? WHERE name = 'settings'", '{"readout": {"mass": 3}}'),
    ("UPDATE about SET value = ? WHERE name = 'settings'", '{"readout": "map", "utility": ["tv"]}'),
    ("UPDATE about SET value = ? WHERE name = 'seed'", "-1"),
    ("UPDATE about SET value = ? WHERE name = 'fields'", "[" * 5000),
    ("DELETE FROM arrays WHERE name = ?", "data"),
    ("UPDATE arrays SET data = ? WHERE name = 'indices'", b"no zlib"),
    ("UPDATE arrays SET dtype = ? WHERE name = 'data'", "object"),
    ("UPDATE arrays SET dtype = ? WHERE name = 'data'", "float32"),
    ("UPDATE arrays SET length = ? WHERE name = 'data'", -1),
    ("UPDATE arrays SET length = ? WHERE name = 'data'", 2**62),
    ("UPDATE arrays SET length = ? WHERE name = 'indptr'", 12),
    ("UPDATE items SET fields = ? WHERE place = 3", "["),
    ("UPDATE items SET fields = ? WHERE place = 3", "7"),
    ("UPDATE items SET place = ? WHERE place = 3", 999),
    ("DELETE FROM items WHERE place > ?", -1),
    ("INSERT INTO answers (key, who, at, kind, item, label) VALUES (?, 'a', '', 'label', 77, 'x')", "z"),
    ("INSERT INTO answers (key, who, at, kind, item, label) VALUES (?, 'a', '', 'label', -1, 'x')", "z"),
    ("UPDATE about SET value = json(?) WHERE name = 'overlap'", "null"),
]


@pytest.mark.parametrize(("query", "value"), DAMAGE, ids=[f"{q[:30]} {str(v)[:20]}" for q, v in DAMAGE])
def test_damage_is_named(path, query, value):
    hurt(path, query, value)
    said = used(path)
    assert said
    assert "p.ask" in said or "node" in said or "class" in said or "sampler" in said or "seed" in said


def rewritten(path, name, change):
    """An array of a project, changed."""
    with closing(sqlite3.connect(path)) as db, db:
        ((dtype, data),) = db.execute("SELECT dtype, data FROM arrays WHERE name = ?", (name,)).fetchall()
        array = np.frombuffer(zlib.decompress(data), dtype).copy()
        change(array)
        db.execute("UPDATE arrays SET data = ? WHERE name = ?", (zlib.compress(array.tobytes()), name))


@pytest.mark.parametrize(("name", "at", "value"), [
    *(("indices", 5, value) for value in (2**31 - 1, 12, -1, -(2**31))),
    *(("indptr", 3, value) for value in (2**31 - 1, 0, -5, 23)),
    *(("indptr", 12, value) for value in (2**31 - 1, 0, -5, 21)),
    ("indptr", 0, 1),
    *(("data", 5, value) for value in (np.nan, np.inf, -1.0, 1e308)),
])  # fmt: skip
def test_promise_24_indices_are_not_trusted(path, name, at, value):
    rewritten(path, name, lambda array: array.__setitem__(at, value))
    assert "p.ask" in used(path)


def test_a_graph_that_is_not_symmetric_is_damage(path):
    rewritten(path, "data", lambda array: array.__setitem__(0, 7.0))
    assert "not symmetric" in used(path)


def peak(function):
    """What it says and the memory it took."""
    tracemalloc.start()
    try:
        return function(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_promise_24_bombs_stay_small(path):
    """One part that unpacks to a gigabyte, and a hundred parts of the largest size, on twelve items."""
    with closing(sqlite3.connect(path)) as db, db:
        pump = zlib.compressobj(9)
        first, next_ = (pump.compress(bytes(MEGABYTE)) + pump.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
        db.execute("UPDATE arrays SET data = ? WHERE name = 'data'", (first + 1023 * next_,))
    said, memory = peak(lambda: used(path))
    assert "not of the length" in said
    assert memory < 32 * MEGABYTE
    part = zlib.compress(bytes(PART_BYTES), 1)
    with closing(sqlite3.connect(path)) as db, db:
        rows = [("data", k, "float64", PART_BYTES // 8, part) for k in range(1, 101)]
        db.executemany("INSERT INTO arrays VALUES (?, ?, ?, ?, ?)", rows)
    said, more = peak(lambda: used(path))
    assert "data has length" in said
    assert more < 32 * MEGABYTE
    print(f"promise 24: 1 GB and 3.4 GB unpacked refused within {max(memory, more) / MEGABYTE:.0f} MB")


def test_promise_24_a_graph_beyond_memory_is_refused_before_it_is_read(tmp_path):
    path = make(tmp_path / "p.ask", 12)
    rewritten(path, "indptr", lambda array: array.__setitem__(slice(1, None), 2**31 - 1))
    hurt(path, "UPDATE arrays SET length = ? WHERE name IN ('data', 'indices')", 2**31 - 1)
    said, memory = peak(lambda: used(path))
    assert "GB" in said or "damaged" in said or "does not belong" in said
    assert memory < 32 * MEGABYTE
