"""Tables and graphs -> items: columns found or named, graphs built or given, and bad files in one sentence."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

import askgraph as ag
from askgraph.errors import AskgraphError, FileError, GraphError, LabelError, SettingError
from askgraph.io import tables
from askgraph.io.readers import has_columns
from askgraph.io.tables import Table, check_header
from askgraph.io.text import plain_numbers
from askgraph.workbench import columns, growing
from askgraph.workbench import items as reading
from askgraph.workbench.items import Items, read_items
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source, read_columns
from tests.helpers.complaints import complaint
from tests.helpers.sheets import ods, ods_row, xlsx, xlsx_row

NUMBERS = "id,a,b,kind\n" + "".join(f"r{k},{k % 5},{10 * (k % 2)},{'xy'[k % 2]}\n" for k in range(20))
PROSE = "id,about\n" + "".join(
    f"p{k},{'the cat sat on the warm mat' if k % 2 else 'a ship sails over the cold sea'} {k}\n" for k in range(10)
)


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(folder, name, content, **options):
    return read_items(Source(write(folder, name, content), **options))


def test_numbers_are_compared_scaled(tmp_path):
    items, graph, notes = read(tmp_path, "t.csv", NUMBERS, label="kind", neighbors=3)
    assert items.ids[:2] == ["r0", "r1"]
    assert items.kinds == {"a": "number", "b": "number", "kind": "text"}
    assert items.hidden == ("kind",)
    assert items.labels[:2] == ["x", "y"]
    assert items.row(3) == {"a": "3", "b": "10", "kind": "y"}
    assert notes == ["3 nearest neighbors of each item by 'a', 'b', scaled (--scale none leaves them)"]
    assert items.notes == ("ids are those of 'id'",)
    X = np.array([[k % 5, 10 * (k % 2)] for k in range(20)], dtype=float)
    expected = ag.nearest_neighbors((X - X.mean(axis=0)) / X.std(axis=0), 3)
    np.testing.assert_allclose(graph.weights.toarray(), expected.weights.toarray(), atol=1e-9)


def test_prose_is_compared_by_its_words(tmp_path):
    items, graph, notes = read(tmp_path, "t.csv", PROSE, neighbors=4, meaning="none")
    assert "TF-IDF" in notes[0]
    assert items.kinds == {"about": "text"}
    weights, alike = graph.weights.toarray(), (np.arange(10)[:, None] + np.arange(10)) % 2 == 0
    assert (weights[alike & ~np.eye(10, dtype=bool)] == 1).all()  # numbers aside, these texts are copies
    assert weights[~alike].max() < 0.1


def photos(folder):
    """Twelve pictures, bars upright or lying; those of the first two kinds in folders of their names."""
    y, x = np.mgrid[:24, :24]
    for k in range(12):
        kind = "upright" if k % 2 else "lying"
        path = folder / (kind if k < 4 else "") / f"{k}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.uint8(((x if k % 2 else y) + k // 6) // 4 % 2 * 200)).save(path)
    return folder


def test_a_folder_of_pictures_is_enough(tmp_path):
    folder = photos(tmp_path / "photos")
    items, graph, notes = read_items(Source(folder, label="folder", neighbors=3))
    assert items.ids[0] == "10.png"
    assert items.ids == items.images
    assert items.folder == str(folder)
    assert list(items.fields) == list(items.hidden) == ["folder"]
    labels = dict(zip(items.ids, items.labels, strict=True))
    assert (labels["lying/0.png"], labels["9.png"]) == ("lying", None)
    assert "the edges, light and colors of the pictures in 'file'" in notes[0]
    learner = ag.Learner(graph, rng=0)
    learner.tell_all({k: label for k, label in enumerate(items.labels) if label})
    said = {id.rpartition("/")[2]: label for id, label in zip(items.ids, learner.predict(), strict=True)}
    assert said == {f"{k}.png": "upright" if k % 2 else "lying" for k in range(12)}
    Project.create(tmp_path / "p.ask", Source(folder))
    with Project.open(tmp_path / "p.ask") as project:
        assert project.about["images"] == str(folder)
        assert project.items.title(project.items.item(0)) == "10.png"


def test_a_column_of_file_names_is_enough(tmp_path):
    photos(tmp_path / "photos")
    names = sorted(path.relative_to(tmp_path).as_posix() for path in (tmp_path / "photos").rglob("*.png"))
    content = "width,file\n" + "".join(f"{k},{name}\n" for k, name in enumerate(names))
    items, _, notes = read(tmp_path, "t.csv", content, neighbors=3)
    assert items.images == names
    assert "by 'width'" in notes[0]
    _, graph, notes = read(tmp_path, "t.csv", content, neighbors=3, vectors="file")
    assert "of the pictures in 'file'" in notes[0]
    _, same, _ = read(tmp_path, "u.csv", "file\n" + "".join(f"{name}\n" for name in names), neighbors=3)
    np.testing.assert_array_equal(graph.weights.toarray(), same.weights.toarray())
    gone = "file\n" + "".join(f"{name}\n" for name in [*names, "photos/gone.png"])
    _, graph, notes = read(tmp_path, "v.csv", gone, neighbors=3)
    assert graph.degrees[-1] == 0
    assert any("1 picture without an edge" in note for note in notes)
    short = [name.removeprefix("photos/") for name in names]
    table = write(tmp_path, "w.csv", "file\n" + "".join(f"{name}\n" for name in short))
    with pytest.raises(SettingError, match="what should items be compared by"):
        read_items(Source(table))
    with pytest.raises(SettingError, match=r"none of them .* name their folder with --images"):
        read_items(Source(table, image="file"))
    items, other, _ = read_items(Source(table, image="file", images=tmp_path / "photos", neighbors=3))
    assert items.folder == str(tmp_path / "photos")
    np.testing.assert_array_equal(other.weights.toarray(), same.weights.toarray())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pictures_that_a_table_names_outside_its_folder_are_not_opened(tmp_path, monkeypatch):
    inside, outside, opened = tmp_path / "inside", tmp_path / "outside.png", []
    names = sorted(path.name for path in photos(inside).glob("*.png"))[:4]
    Image.new("RGB", (40, 40), "red").save(outside)
    (inside / "link.png").symlink_to(outside)
    os.mkfifo(inside / "pipe.png")
    read_as_ever = Image.open
    monkeypatch.setattr(Image, "open", lambda path, **how: opened.append(Path(path)) or read_as_ever(path, **how))
    whole = str(inside / names[0])  # a whole path that leads into the folder is fine
    elsewhere = [
        str(outside),
        "../outside.png",
        "link.png",
        "pipe.png",
        str(tmp_path / "gone.png"),
        "x" * 999 + ".png",
    ]
    rows = "file\n" + "".join(f'"{name}"\n' for name in [whole, *names[1:], *elsewhere])
    items, graph, notes = read(inside, "t.csv", rows, neighbors=2)
    assert items.images == [whole, *names[1:], *elsewhere]
    assert (graph.degrees > 0).tolist() == [True] * 4 + [False] * len(elsewhere)
    assert {path.parent for path in opened} == {inside}
    assert {path.name for path in opened} == set(names)
    said = f"6 pictures without an edge, so nothing is predicted there; the first: {str(outside)!r} is not a file in the folder"
    assert said in notes[1]
    assert "--images" in notes[1]
    assert "No such file" not in notes[1]
    gone = "file\n" + "".join(f"{name}\n" for name in [*names, "broken.png"])
    write(inside, "broken.png", "no picture")
    _, _, notes = read(inside, "u.csv", gone, neighbors=2)
    assert "the first: broken.png: not a picture" in notes[1]
    assert str(inside) not in notes[0]


class Counted(str):
    """The name of a column, which counts how often it is looked up or compared."""

    __slots__ = ()
    work = 0

    def __eq__(self, other):
        Counted.work += 1
        return str.__eq__(self, other)

    def __hash__(self):
        Counted.work += 1
        return str.__hash__(self)


def wide_table(n, start=0):
    names = [Counted("id"), *(Counted(f"gene{k}") for k in range(n))]
    cells = {name: [f"{start + row}{k % 7}" for row in range(6)] for k, name in enumerate(names)}
    return Table(names, cells.get, cells.get, cells.__getitem__, lambda k: f"line {k + 2}")


def work_of(folder, monkeypatch, n):
    """How often names of n columns are looked at: by reading, init, add, the page to begin with, and the fields of a card."""
    monkeypatch.setattr(Counted, "work", 0)
    first, more = wide_table(n), wide_table(n, 100)
    check_header("here", first.header)
    has_columns("here", first.header, *first.header)
    path = folder / f"{n}.ask"
    for features, vectors in ((None, None), (first.header[1:], None), (None, f"gene0:gene{n - 1}")):
        monkeypatch.setattr(reading, "read_columns", lambda *_: first)
        path.unlink(missing_ok=True)
        Project.create(path, Source("t.csv", features=features, vectors=vectors))
    path.unlink()
    Project.create(path, Source("t.csv"))
    monkeypatch.setattr(growing, "read_columns", lambda *_: more)
    with Project.open(path, write=True) as project:
        growing.prepare_addition(project, "more.csv")
        project.about["fields"] = {Counted(name): kind for name, kind in project.about["fields"].items()}
        project.about["hidden"] = [Counted(name) for name in project.about["hidden"]]
        project.__dict__.pop("shown", None)
        assert not project.items.shown
    return Counted.work


def test_the_work_of_a_table_grows_as_its_columns_do(tmp_path, monkeypatch):
    once, twice = (work_of(tmp_path, monkeypatch, n) for n in (60, 120))
    assert once > 60
    assert twice < 2.2 * once


def test_several_columns_of_prose_are_compared_together(tmp_path):
    rows = "".join(
        f"p{k},{'cats' if k % 2 else 'ships'} and all about them in one line,a long text of no weight at all {k}\n"
        for k in range(12)
    )
    content = "id,title,body\n" + rows
    _, both, notes = read(tmp_path, "t.csv", content, neighbors=3)
    assert "'title', 'body'" in notes[0]
    _, named, _ = read(tmp_path, "t.csv", content, neighbors=3, text=["title", "body"])
    np.testing.assert_array_equal(both.weights.toarray(), named.weights.toarray())
    _, body, notes = read(tmp_path, "t.csv", content, neighbors=3, text="body")
    assert "of 'body' (" in notes[0]
    assert (body.weights.toarray() != both.weights.toarray()).any()


def test_columns_in_the_same_units_are_left_as_they_are(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (30, 20))
    X[:, 0] = 0  # a pixel in the corner
    content = ",".join(f"x{k}" for k in range(20)) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in X)
    _, graph, notes = read(tmp_path, "t.csv", content, neighbors=3)
    assert "as they are, since their ranges are alike" in notes[0]
    np.testing.assert_allclose(graph.weights.toarray(), ag.nearest_neighbors(X, 3).weights.toarray())
    for scale, expected in (
        ("unit", (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)),
        ("range", ag.scale_features(X)),
        ("none", X),
    ):
        graph = read(tmp_path, "t.csv", content, neighbors=3, scale=scale)[1]
        np.testing.assert_allclose(
            graph.weights.toarray(), ag.nearest_neighbors(expected, 3).weights.toarray(), atol=1e-9
        )
    wide = content.replace("x1,", "dollars,", 1).splitlines()
    wide[1] = ",".join(["0", "100000", *wide[1].split(",")[2:]])
    assert "scaled (" in read(tmp_path, "t.csv", "\n".join(wide) + "\n", neighbors=3)[2][0]


@pytest.mark.parametrize("kind", ["npy", "npz", "list column", "text column", "range"])
def test_vectors_are_compared_by_cosine(tmp_path, kind):
    X = np.random.default_rng(1).normal(size=(25, 4))
    name, content, vectors = "t.csv", "id\n" + "".join(f"r{k}\n" for k in range(25)), None
    if kind == "npy":
        vectors = tmp_path / "v.npy"
        np.save(vectors, X)
    elif kind == "npz":
        vectors = tmp_path / "v.npz"
        np.savez(vectors, X)
    elif kind == "list column":
        name, content, vectors = (
            "t.jsonl",
            "".join(f'{{"id": "r{k}", "v": {row.tolist()}}}\n' for k, row in enumerate(X)),
            "v",
        )
    elif kind == "text column":
        content, vectors = "id,v\n" + "".join(f'r{k},"{row.tolist()}"\n' for k, row in enumerate(X)), "v"
    else:
        rows = "".join(f"r{k},{','.join(map(str, row.tolist()))}\n" for k, row in enumerate(X))
        content, vectors = "id,e0,e1,e2,e3\n" + rows, "e0:e3"
    items, graph, notes = read(tmp_path, name, content, vectors=str(vectors), neighbors=3)
    expected = ag.nearest_neighbors(X, 3, "cosine")
    np.testing.assert_allclose(graph.weights.toarray(), expected.weights.toarray(), atol=1e-12)
    assert items.fields == {}
    assert "4 numbers each (cosine)" in notes[0]


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ("missing.npy", "neither a file nor a column"),
        ("short.npy", "one row of numbers per item"),
        ("two.npz", "2 arrays"),
        ("words", "is not a list of numbers"),
        ("ragged", "is not 2 numbers"),
        ("broken.npy", "broken.npy"),
    ],
)
def test_vectors_that_do_not_fit_are_said(tmp_path, monkeypatch, vectors, said):
    monkeypatch.chdir(tmp_path)
    np.save("short.npy", np.ones((2, 4)))
    np.savez("two.npz", a=np.ones((3, 2)), b=np.ones((3, 2)))
    Path("broken.npy").write_bytes(b"no numbers")
    content = 'id,words,ragged\na,x,"[1, 2]"\nb,y,"[1, 2, 3]"\nc,z,"[1, 2]"\n'
    with pytest.raises(AskgraphError, match=said):
        read(tmp_path, "t.csv", content, vectors=vectors)


def test_a_given_graph_alone_and_together_with_text(tmp_path):
    edges = write(tmp_path, "e.csv", "source,target\np0,p1\np1,p2\n")
    _, graph, notes = read(tmp_path, "t.csv", PROSE, graph=edges)
    assert (graph.n_edges, graph.n_nodes, notes) == (2, 10, ["edges of e.csv"])
    assert graph.weights[0, 1] == 1
    both, notes = read(tmp_path, "t.csv", PROSE, graph=edges, text="about")[1:]
    assert both.n_edges > 2
    assert notes[1].startswith("without the edges of e.csv: they join items that are no more alike")
    alike = write(tmp_path, "alike.csv", "source,target\np0,p2\np1,p3\n")
    every, notes = read(tmp_path, "t.csv", PROSE, graph=[edges, alike], text="about")[1:]
    assert every.weights[0, 2] > both.weights[0, 2]
    assert notes[1].startswith("without the edges of e.csv")
    assert notes[2].startswith("together with the edges of alike.csv, which count for ")
    assert read(tmp_path, "t.csv", PROSE, graph=[edges, alike])[1].n_edges == 4
    alone, graph, notes = read_items(Source(graph=edges))
    assert (alone.ids, graph.n_edges, notes) == (["p0", "p1", "p2"], 2, ["items are the nodes of e.csv"])


def test_ids_are_one_line_of_text_and_found_again(tmp_path):
    """The same spelling in the table, in the graph and in an answer is the same item."""
    edges = write(tmp_path, "e.csv", 'source,target\n"two  words",7\n')
    table = write(tmp_path, "t.csv", 'ID,x\n"two  words",1\n7,2\n007,4\n"Zoë 名前",8\n')
    Project.create(tmp_path / "p.ask", Source(table, edges))
    with Project.open(tmp_path / "p.ask", write=True) as project:
        assert project.store.ids() == ["two words", "7", "007", "Zoë 名前"]
        assert [project.items.place(id) for id in ("two  words", " 7", "007 ", "Zoë 名前")] == [0, 1, 2, 3]
        assert project.graph.weights[0, 1] == 1


def test_without_ids_rows_are_numbered(tmp_path):
    items, _, _ = read(tmp_path, "t.csv", "a,b\n1,2\n3,5\n4,9\n")
    assert items.ids == ["1", "2", "3"]


def test_texts_without_words_are_joined_to_none(tmp_path):
    silent = PROSE + "p10,\np11,\n"
    graph = read(tmp_path, "t.csv", silent, text="about", neighbors=4)[1]
    assert graph.degrees[-2:].tolist() == [0, 0]
    assert (graph.degrees[:-2] > 0).all()
    assert any("2 items without words" in note for note in graph.notes)


def test_gaps_are_filled_and_said(tmp_path):
    _, _, notes = read(tmp_path, "t.csv", "id,a,b\nx,1,\ny,,2\nz,3,4\n")
    assert "2 empty cells filled with the median of the column" in notes


def test_words_for_no_number_are_gaps_too(tmp_path):
    items, _, notes = read(tmp_path, "t.csv", "id,a,b\nx,1,NA\ny,n/a,2\nz,3,4\nv,?,5\n")
    assert "3 empty cells filled with the median of the column" in notes
    assert items.kinds == {"a": "number", "b": "number"}
    assert items.row(0)["b"] == "NA"  # shown as it came


def test_values_are_kept_as_they_came(tmp_path):
    rows = [{"id": k, "x": k * 1.5, "on": k > 1, "tags": ["a", {"b": None}], "t": "ü\n☃"} for k in range(3)]
    items, _, _ = read(tmp_path, "t.jsonl", "".join(json.dumps(row) + "\n" for row in rows), features=["x"])
    assert items.row(1) == {"x": 1.5, "on": False, "tags": '["a", {"b": null}]', "t": "ü\n☃"}
    table = pa.table({"id": [1, 2], "x": [1.0, 2.0], "day": [date(2020, 1, 2), None], "price": [Decimal("1.50"), None]})
    pq.write_table(table, tmp_path / "t.parquet")
    items, _, _ = read_items(Source(tmp_path / "t.parquet", features=["x"]))
    assert items.row(0) == {"x": 1.0, "day": "2020-01-02", "price": "1.50"}
    assert items.row(1) == {"x": 2.0}


def test_huge_and_tiny_numbers_are_scaled(tmp_path):
    for a, b, c in (
        ("1e308", "-1e308", "1.7e308"),
        ("5e-324", "0", "1e-320"),
        ("1e308", "1e-308", "3"),
        ("7", "7", "7"),
    ):
        _, graph, _ = read(tmp_path, "t.csv", f"id,x\np,{a}\nq,{b}\nr,{c}\n")
        assert np.isfinite(graph.weights.data).all()
    huge = "1" + "0" * 400
    said = complaint(lambda: read(tmp_path, "t.jsonl", f'{{"x": {huge}}}\n{{"x": 2}}\n', features=["x"]), "")
    assert "t.jsonl, line 1, column 'x'" in said


@pytest.mark.parametrize(
    ("name", "content", "options", "error", "says"),
    [
        ("t.csv", "", {}, FileError, "empty"),
        ("t.csv", "id,x\n", {}, FileError, "no rows"),
        ("t.csv", "id,x\na,1\na,2\n", {}, FileError, "line 3: the id 'a' is on line 2 already"),
        ("t.csv", "id,x\na b,1\na  b,2\n", {}, FileError, "line 3: the id 'a b' is on line 2 already"),
        ("t.csv", "id,x\na,1\n,2\n", {}, FileError, "line 3: the id is empty"),
        ("t.csv", "id,x\na,1\nb,two\n", {"features": ["x"]}, FileError, "t.csv, line 3, column 'x': 'two'"),
        ("t.csv", "id,x\na,\nb,\n", {"features": ["x"]}, FileError, "t.csv: column 'x' is empty"),
        ("t.csv", "id,x,x\na,1,2\n", {}, FileError, "two columns"),
        ("t.csv", "id,x\na,1\n", {"features": ["y"]}, FileError, "no column 'y'; its columns are 'id', 'x'"),
        ("t.csv", "id,x\na,1\n", {"label": "y"}, FileError, "no column 'y'"),
        ("t.csv", "id,x\na,1\n", {"show": ["y"]}, FileError, "no column 'y'"),
        ("t.csv", "id,x\na,1,3\n", {}, FileError, "line 2"),
        ("t.csv", "id,kind\na,x\nb,y\n", {}, SettingError, "--features or --text, or give --vectors or --graph"),
        ("t.csv", "id,t\na,!!\nb,??\n", {"text": "t"}, SettingError, "no words"),
        ("t.csv", "id,t\na,one\nb,two\n", {"text": "t", "scale": "unit"}, SettingError, "of columns of numbers"),
        ("t.csv", "id,x\na,1\nb,2\n", {"scale": "much"}, SettingError, "none, unit or range"),
        ("t.csv", "id,x\na,1\nb,2\n", {"features": ["x"], "vectors": "x"}, SettingError, "named twice"),
        ("t.csv", "id,x\na,1\nb,2\n", {"features": ["x"], "weights": {"y": 2}}, SettingError, "not compared by it"),
        ("t.csv", "id,x\na,1\nb,2\n", {"features": ["x"], "weights": {"x": 0}}, SettingError, "weight of 'x'=0"),
        ("t.csv", "id,t\na,one\nb,two\n", {"text": "t", "weights": {"t": 2}}, SettingError, "something beside"),
        ("t.csv", "id,x\na,1\n", {}, GraphError, "at least two"),
        ("t.csv", b"id,x\n\x81,1\n", {}, FileError, "line 2: byte 0x81 is not UTF-8"),
        ("t.jsonl", "{}\n{}\n", {"graph": "e.csv"}, FileError, "no column"),
        ("t.jsonl", '{"\\ud800": 1}\n', {}, FileError, "not valid text"),
        ("t.jsonl", "[1]\n", {}, FileError, "line 1"),
        ("t.xlsx", "x", {}, FileError, "save it again as xlsx"),
        ("t.xls", "x", {}, FileError, "save it as xlsx"),
        ("t.parquet", b"PAR1 not at all PAR1", {}, FileError, "t.parquet"),
        ("t.csv", "id,x\na,1\nb,2\n", {"graph": "e.csv"}, LabelError, "column of ids"),
        ("t.csv", "id,x\na,1\nb,2\n", {"graph": "nowhere.csv"}, FileError, "nowhere.csv"),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path, name, content, options, error, says):
    write(tmp_path, "e.csv", "source,target\nx,y\n")
    if "graph" in options:
        options = {**options, "graph": tmp_path / options["graph"]}
    with pytest.raises(error) as raised:
        read(tmp_path, name, content, **options)
    assert says in str(raised.value)


def test_odd_node_names_are_ids_too(tmp_path):
    edges = write(
        tmp_path, "e.jsonl", '{"source": "\\ud800", "target": "b\\u0000"}\n{"source": "c\\n", "target": "b\\u0000"}\n'
    )
    Project.create(tmp_path / "p.ask", Source(graph=edges))
    with Project.open(tmp_path / "p.ask") as project:
        assert [project.items.place(id) for id in project.store.ids()] == [0, 1, 2]
    edges = write(tmp_path, "e.jsonl", '{"source": "a b", "target": "c"}\n{"source": "a  b", "target": "c"}\n')
    assert "already" in complaint(lambda: read_items(Source(graph=edges)), "")


# Promise 12: any bytes, any values

CELLS = st.one_of(
    st.sampled_from(
        ["", "1", "2.5", "-1e308", "1e400", "nan", "inf", "=1+1", '"', '"a', "a\nb", "\0", "\ud800", "ü", "x" * 60]
    ),
    st.text(max_size=6),
    st.integers(-(10**20), 10**20).map(str),
)
HEADERS = st.sampled_from(["id", "ID", "x", "y", "text", "", "1", "label", "\ufeffid"])


def end_to_end(path, folder, **options):
    """A table made into a project and used, or an error of ours, soon."""
    start, project = time.process_time(), folder / "fuzzed.ask"
    project.unlink(missing_ok=True)
    try:
        Project.create(project, Source(path, neighbors=2, **options))
        with Project.open(project, write=True) as opened:
            assert [opened.items.place(id) for id in opened.store.ids()] == list(range(opened.items.n_items))
            opened.say("ann", opened.items.item(0).id, "label", "a")
            opened.predictions()
    except AskgraphError as error:
        return str(error)
    finally:
        assert time.process_time() - start < 5
    return None


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=5),
    st.lists(HEADERS, min_size=1, max_size=3),
    st.sampled_from([".csv", ".tsv", ".txt"]),
    st.sampled_from([",", ";", "\t"]),
)
def test_promise_12_fuzzed_text_tables(tmp_path_factory, rows, header, kind, mark):
    folder = tmp_path_factory.getbasetemp()
    content = "\n".join(mark.join(row) for row in [header, *rows])
    path = write(folder, "fuzz" + kind, content.encode(errors="surrogatepass"))
    for options in ({}, {"label": "label"}, {"text": "text"}, {"features": ["x"]}):
        end_to_end(path, folder, **options)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["\ud800", "\0", 10**400]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.dictionaries(st.sampled_from(["id", "x", "y", "\ud800", ""]), VALUES), max_size=4),
    st.binary(max_size=5),
)
@example([{"id": 1, "x": 10**400}, {"id": 2, "x": 1}], b"")
@example([{"id": "a\0", "x": 1}, {"id": "b", "x": 2}], b"")
def test_promise_12_fuzzed_jsonl(tmp_path_factory, rows, tail):
    folder = tmp_path_factory.getbasetemp()
    content = "".join(json.dumps(row) + "\n" for row in rows).encode() + tail
    path = write(folder, "fuzz.jsonl", content)
    for options in ({}, {"features": ["x"]}, {"text": "x", "id": "id"}, {"label": "y"}):
        end_to_end(path, folder, **options)


def test_promise_12_deep_json_is_an_error_of_ours_or_none(tmp_path):
    for depth in (500, 900, 960, 980, 990, 995, 5000):
        path = write(tmp_path, "t.jsonl", f'{{"x": 1, "y": {"[" * depth}{"]" * depth}}}\n{{"x": 2}}\n')
        end_to_end(path, tmp_path)


COLUMNS = st.sampled_from(
    [
        pa.array([1, 2, None]),
        pa.array([1.5, float("nan"), float("inf")]),
        pa.array(["a", "", None]),
        pa.array([b"\xff", b"", None]),
        pa.array([True, False, None]),
        pa.array([[1], [], None]),
        pa.array([{"a": 1}, None, {"a": None}]),
        pa.array([None, None, None]),
        pa.array([date(2020, 1, 1)] * 3),
        pa.array([Decimal("1.5"), None, Decimal("2")]),
        pa.array([2**63 - 1, -(2**63), 0]),
        pa.array(["x" * 40, "y" * 40, "z z"]).dictionary_encode(),
        pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int64())),
    ]
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["id", "x", "text", "label"]), COLUMNS, max_size=4),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), max_size=3),
)
def test_promise_12_fuzzed_parquet(tmp_path_factory, columns, flips):
    folder = tmp_path_factory.getbasetemp()
    path = folder / "fuzz.parquet"
    pq.write_table(pa.table(columns), path)
    content = bytearray(path.read_bytes())
    for where, mask in flips:
        content[int(where * len(content))] ^= mask
    path.write_bytes(content)
    for options in ({}, {"features": ["x"]}, {"text": "text"}, {"label": "label"}):
        end_to_end(path, folder, **options)


SHEETS = {
    "fuzz.xlsx": (xlsx, "".join(xlsx_row(k, ["ab"[k % 2], k, 2.5, "text"][: k + 1]) for k in range(1, 5)).encode()),
    "fuzz.ods": (ods, "".join(ods_row(["ab"[k % 2], k, None, 2.5, "text"]) for k in range(4)).encode()),
}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(SHEETS)),
    st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from(b'<>/"=&;rctvse019AZ\xff')), min_size=1, max_size=4
    ),
)
def test_promise_12_fuzzed_spreadsheets(tmp_path_factory, name, changes):
    """Their XML is changed before it is packed: no check of sums finds it."""
    folder, (make, rows) = tmp_path_factory.getbasetemp(), SHEETS[name]
    content = bytearray(rows)
    for where, byte in changes:
        content[int(where * len(content))] = byte
    end_to_end(make(folder / name, bytes(content)), folder)


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=300), st.sampled_from([".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".xlsx", ".ods"]))
def test_promise_12_any_bytes(tmp_path_factory, content, kind):
    folder = tmp_path_factory.getbasetemp()
    end_to_end(write(folder, "any" + kind, content), folder)


def test_what_cannot_be_opened_again_is_not_made(tmp_path):
    path = write(tmp_path, "t.csv", NUMBERS)
    from askgraph.learner.settings import Settings

    for options, says in (
        ({"classes": ["a", "a"]}, "twice"),
        ({"classes": ["a", " "]}, "class"),
        ({"settings": Settings.of(doubt=lambda t: 0.5)}, "doubt"),
        ({"overlap": 0}, "overlap"),
    ):
        with pytest.raises(AskgraphError, match=says):
            Project.create(tmp_path / "p.ask", Source(path, label="kind"), **options)
    for options in ({"sampler": "best"}, {"readout": "best"}):
        with pytest.raises(AskgraphError, match="best"):
            Settings.of(**options)
    long = write(tmp_path, "l.csv", f"id,x,kind\na,1,{'y' * 300}\nb,2,z\n")
    with pytest.raises(LabelError, match="300 characters"):
        Project.create(tmp_path / "p.ask", Source(long, label="kind"))
    with pytest.raises(SettingError, match="--images"):
        Project.create(tmp_path / "p.ask", Source(path, image="kind"))
    assert not (tmp_path / "p.ask").exists()


def test_a_column_is_looked_up_once_and_not_in_every_row(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(",".join(f"{k}{row}" for k in ("a", "b", "c")) for row in range(50)) + "\n")
    table, searches = read_columns(path), []

    def note(frame, event, arg):
        searches.extend([arg.__name__] if event == "c_call" and arg.__name__ == "index" else [])

    sys.setprofile(note)  # counts calls: a search of the header in every row is quadratic in the columns
    try:
        assert table.cells("c0")[-1] == "c49"
    finally:
        sys.setprofile(None)
    assert len(searches) <= 1


def test_wide_tables_tell_numbers_from_words_as_narrow_ones_do():
    column = plain_numbers
    assert column(["1", "2.5", "-3e4"]).tolist() == [1, 2.5, -3e4]
    assert column([1, 2.5, "3"]).tolist() == [1, 2.5, 3]
    odd = (["1", "1_000"], ["1", "inf"], ["1", "nan"], ["1", "x"], ["1", None], [True, 1], [10**400, 1])
    assert all(column(cells) is None for cells in odd)


def test_a_wide_table_is_read_into_numbers_once(tmp_path, monkeypatch):
    path = tmp_path / "wide.csv"
    path.write_text("a,b,c\n" + "".join(f"{k},{k * k},{-k}\n" for k in range(1, 9)))
    read, loadtxt = [], np.loadtxt
    monkeypatch.setattr(np, "loadtxt", lambda lines, **options: read.append(1) or loadtxt(lines, **options))
    monkeypatch.setattr(tables, "plain_numbers", lambda cells: pytest.fail("a column was read again"))
    monkeypatch.setattr(columns, "is_numeric", lambda cells: pytest.fail("a column was read again"))
    Project.create(tmp_path / "p.ask", Source(path))
    assert read == [1]


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "x",
        "1_000",
        "inf",
        "nan",
        "NA",
        '"1,5"',
        '"1\n2"',
        '"1""2"',
        "٣",
        "0x1f",
        "1d3",
        " 7 ",
        "#3",
        "1 2",
        "\u20037",
    ],
)
def test_columns_read_together_are_those_read_one_by_one(odd, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b,c,d\n1,2,x,1e-3\n 4 ,{odd},y,.5\n-7,1e400,z,+8.\n", encoding="utf-8")
    table = tables.text_table(path)
    for name in table.header:
        together, alone = table.floats(name), plain_numbers(table.cells(name))
        assert (together is None) == (alone is None), name
        assert together is None or together.tolist() == alone.tolist()


@given(st.lists(st.one_of(st.text(), st.none(), st.integers(), st.booleans()), min_size=1, max_size=4), st.text())
@example(["plain"], '100 % "of" it \\')
@example(["tab\t", "é", "\x7f", "%s"], "%s")
def test_rows_of_text_are_written_as_json_writes_them(cells, name):
    items = Items(["1", "2"], {f"{name}{k}": [cell, "x"] for k, cell in enumerate(cells)})
    rows = (
        {field: value for field, (value, _) in items.fields.items() if value is not None},
        dict.fromkeys(items.fields, "x"),
    )
    assert list(items.json_rows()) == [json.dumps(row, ensure_ascii=False) for row in rows]


def test_items_without_fields_are_written_as_empty_objects():
    assert list(Items(["1", "2"]).json_rows()) == ["{}", "{}"]


def test_numbers_near_the_largest_are_compared_too(tmp_path):
    path = tmp_path / "huge.csv"
    path.write_text(
        "id,a\n" + "".join(f"r{k},{value}\n" for k, value in enumerate(("1.7e308", "1.6e308", "", "-1.5e308")))
    )
    items, graph, _ = read_items(Source(path))
    assert len(items.ids) == graph.n_nodes == 4
