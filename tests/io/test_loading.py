"""Large graphs and typed files: every kind holds the same graph, fast ways equal the slow one, damage is named."""

import itertools
import json
import sys
import zipfile

import numpy as np
import pytest
import scipy.io as sio
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from askgraph.errors import FileError, GraphError, MissingExtraError
from askgraph.graph import Graph, clean
from askgraph.io import edge_lists, edge_parser, name_parser, text
from askgraph.io.readers import read_graph, read_labels, read_table
from askgraph.support import npz
from tests.helpers.complaints import complaint

weights = st.floats(0, 1e12) | st.sampled_from([0.0, 1.0, 0.1, 1e22, 1e23, 5e-324, 1e-300, 123456789.123456789])
integers = st.integers(-3, 12) | st.integers(-(10**17), 10**17)
names = st.text("aé ,\"'#7", min_size=1, max_size=3).map(str.strip).filter(bool)


def same(one, other):
    assert one.names == other.names
    assert (one.weights != other.weights).nnz == 0
    assert one.weights.indices.dtype == other.weights.indices.dtype == np.int32


def columns(rows):
    return dict(zip(("source", "target", "weight"), map(list, zip(*rows, strict=True)), strict=True))


def write_csv(path, rows):
    import csv

    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("source", "target", "weight"), *rows])


def write_jsonl(path, rows):
    keys = ("source", "target", "weight")
    path.write_text("".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows))


def write_parquet(path, rows, **options):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns(rows) if isinstance(rows, list) else rows), path, **options)


def write_npz(path, rows):
    np.savez(path, **{key: np.array(column) for key, column in columns(rows).items()})


WRITE = {"csv": write_csv, "jsonl": write_jsonl, "npz": write_npz, "parquet": write_parquet}


@pytest.mark.slow
@given(st.sampled_from([integers, names]).flatmap(lambda ids: st.lists(st.tuples(ids, ids, weights), min_size=1)))
@settings(deadline=None, max_examples=40)
def test_every_kind_holds_the_same_graph(tmp_path_factory, rows):
    folder = tmp_path_factory.getbasetemp()
    assume(any(not name.lstrip("-").isdigit() for row in rows for name in map(str, row[:2])) or type(rows[0][0]) is int)
    expected = Graph.from_edges(rows)
    for kind, write in WRITE.items():
        write(folder / f"same.{kind}", rows)
        graph = read_graph(folder / f"same.{kind}")
        same(graph, expected)
        assert graph.notes[-len(expected.notes) :] == expected.notes or not expected.notes


WORDS = "0 7 -1 12 007 +5 -0 1_0 1e3 1.0 .5 1. 2e-3 1e22 9007199254740993 0.1234567890123456789 1e400 nan -1 é # x"
SPACED = ["", " ", '"', '"3"', " 4", "5 ", "123456789012345678", "1234567890123456789", "\t", "\r", "0" * 50]
cells = st.sampled_from([*WORDS.split(), *SPACED]) | st.integers(0, 9).map(str) | st.floats(0, 1e250).map(repr)
line = st.lists(cells, min_size=2, max_size=3)


@pytest.mark.long
@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from(["1,2", "3,4", "-5,6", "", " ", "1,2,0.25", "7, 8,1e-7", "1,2,3,4"]) | line.map(",".join),
        max_size=6,
    ),
    st.sampled_from(
        [
            "",
            "source,target\n",
            "a,b\n",
            "a,b,w\n",
            "source,target,x,y\n",
            '"x","weight"\n',
            "\ufeff",
            "# hi\n",
            "\ufeffa,b\n",
        ]
    ),
    st.sampled_from([(".csv", ","), (".txt", " "), (".txt", "\t"), (".tsv", "\t"), (".edges", ";")]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 40),
)
@settings(deadline=None, max_examples=400)
def test_the_compiled_parser_takes_only_what_it_reads_alike(tmp_path_factory, rows, head, kind, end, chunk):
    path = tmp_path_factory.getbasetemp() / f"plain{kind[0]}"
    content = (head + "\n".join(rows)).replace("\n", end).replace(",", kind[1])
    path.write_bytes(content.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
        patch.setattr(edge_lists, "CHUNK_BYTES", chunk)
        raw = edge_lists._parse_plain(path)
    if raw is not None:
        slow = edge_lists._parse_any(path)
        same(Graph(raw), Graph(slow))
        assert raw.notes == slow.notes


NAMES = "ann bob ćy 北京 O'Neil user_17 a-b n.1 #x %y x:y 7 007 -1 source target NaN"
SPACES = [
    " ann",
    "bob ",
    "New York",
    "a\tb",
    "\u00a0ann",
    "bob\u3000",
    "a\u2028b",
    "x\x0b",
    "\x1fx",
    "b\x85",
    "a\rb",
    "\ufeffx",
]
QUOTES = [
    '"ann"',
    '"New York"',
    '" bob "',
    '"a,b"',
    '"say ""hi"""',
    ' "ann"',
    '"ann" ',
    '"ann"x',
    'a"b',
    '"',
    '""',
    '"a\nb"',
]
name_cells = st.sampled_from(NAMES.split()) | st.sampled_from(SPACES + QUOTES) | st.text(max_size=4)


@pytest.mark.long
@pytest.mark.slow
@given(
    st.lists(st.tuples(name_cells, name_cells) | st.sampled_from([("ann", "bob"), ("bob", "ann")]), max_size=8),
    st.sampled_from(["", "source,target{}\n", "a,b{}\n", "# hi\n\n", "\ufeff"]),
    st.sampled_from([(".csv", ","), (".txt", " "), (".tsv", "\t"), (".edges", ";")]),
    st.sampled_from([None, "1", " 2.50 ", "0.1234567890123456789", "1e-7", "heavy"]),
    st.integers(1, 40),
)
@settings(deadline=None, max_examples=300)
def test_names_get_their_numbers_as_the_general_parser_gives_them(tmp_path_factory, rows, head, kind, weight, chunk):
    path = tmp_path_factory.getbasetemp() / f"named{kind[0]}"
    rows = [kind[1].join(row if weight is None else (*row, weight)) for row in rows]
    head = head.format("" if weight is None else ",weight").replace(",", kind[1])
    path.write_bytes((head + "\n".join(rows)).encode("utf-8", "surrogatepass"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
        patch.setattr(edge_lists, "CHUNK_BYTES", chunk)
        raw = edge_lists._parse_plain(path)
    if raw is not None:
        slow = edge_lists._parse_any(path)
        assert list(raw.names) == list(slow.names)
        for fast_part, slow_part in zip(entries(raw), entries(slow), strict=True):
            assert np.array_equal(fast_part, slow_part)
        assert raw.notes == slow.notes


def entries(raw):
    return raw.weights.row, raw.weights.col, raw.weights.data


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.csv", 'source,target\n"ann","New York"\nćy , ann\n\nann,ćy\r\n'),
        ("g.csv", "ann,bob,1\nbob,ann,0.12345678901234567890\n"),
        ("g.csv", "1,2\n2,x\n"),
        ("g.csv", "a,b\n1,2\n2,x\n"),
        ("g.tsv", "ann\tNew York\n"),
        ("g.txt", '# hi\nann  "bob"\n bob\tćy \n'),
    ],
)
def test_usual_lists_of_names_take_the_compiled_parser(name, content, tmp_path, monkeypatch):
    monkeypatch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
    path = tmp_path / name
    path.write_bytes(content.encode())
    same(Graph(edge_lists._parse_plain(path)), Graph(edge_lists._parse_any(path)))


def test_a_table_of_names_grows_with_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
    monkeypatch.setattr(edge_lists, "CHUNK_BYTES", 200)
    monkeypatch.setattr(name_parser.secrets, "randbits", lambda bits: 2**64 - 1)
    ends = np.random.default_rng(0).integers(0, 900, (2000, 2)).tolist()
    path = tmp_path / "g.csv"
    path.write_text("".join(f"node{a},node{b}\n" for a, b in ends))
    fast, slow = edge_lists._parse_plain(path), edge_lists._parse_any(path)
    assert fast.names == slow.names
    assert all(np.array_equal(a, b) for a, b in zip(entries(fast), entries(slow), strict=True))


def test_the_compiled_parser_reads_weights_to_the_last_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.random(500), rng.random(500) * 10.0 ** rng.integers(-300, 300, 500), [5e-324, 1e300]])
    styles = itertools.cycle([repr, "{:.3f}".format, "{:.17e}".format, "{:.5G}".format, "{:.25f}".format])
    words = [style(value) for style, value in zip(styles, values.tolist(), strict=False) if len(style(value)) < 40]
    path = tmp_path / "w.csv"
    path.write_text("".join(f"0,{k + 1},{word}\n" for k, word in enumerate(words)))
    assert edge_lists._parse_plain(path).weights.data.tolist() == [float(word) for word in words]


def test_reading_ticks_by_bytes(tmp_path, monkeypatch):
    ticks = []
    monkeypatch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
    monkeypatch.setattr(edge_lists, "LARGE_FILE_BYTES", 0)
    monkeypatch.setattr(text, "CHUNK_BYTES", 8)
    monkeypatch.setattr(edge_lists, "bar", lambda total, what: Bar(ticks, total, what))
    for content in ("0,1\n1,2\n2,3\n" * 9, "a,b\nb,c\n" * 9, "a,b,+1\nb,c,+2\n" * 9):
        path = tmp_path / "g.csv"
        path.write_text(content)
        ticks.clear()
        read_graph(path)
        last = max(k for k, tick in enumerate(ticks) if tick == (len(content), "reading g.csv"))
        assert sum(ticks[last + 1 :]) == len(content)


class Bar:
    def __init__(self, ticks, *what):
        self.tick = ticks.append
        self.tick(what)

    def __enter__(self):
        return self.tick

    def __exit__(self, *_):
        pass


def test_a_weight_by_its_name_is_no_end(tmp_path):
    (tmp_path / "g.csv").write_text("node,weight\n1,2\n2,3\n")
    assert read_graph(tmp_path / "g.csv").weights.data.tolist() == [1, 1, 1, 1]


BAD_JSONL = {
    "empty": ("", "the file is empty"),
    "not json": ('{"source": 1, "target": 2}\n{"source": 1,\n', "line 2: not JSON"),
    "deep": ("[" * 100_000, "line 1: not JSON"),
    "list": ("[1, 2]", r"line 1: '\[1, 2\]' is not an object"),
    "one key": ('{"source": 1}', "1 column: give source"),
    "missing": ('{"source": 1, "target": 2}\n\n{"source": 1}', "line 3: 'target' is None; give integers"),
    "null": ('{"source": null, "target": 2}', "line 1: 'source' is None; give integers or text"),
    "mixed": ('{"source": 1, "target": 2}\n{"source": "1", "target": 2}', "line 2: 'source' is '1'; give integers"),
    "bool": ('{"source": true, "target": false}', "'source' is True"),
    "blank": ('{"source": "a", "target": ""}', "'target' is ''"),
    "weight": ('{"a": 1, "b": 2, "c": "x"}', "'c' is 'x', not a finite number ≥ 0"),
    "negative": ('{"a": 1, "b": 2, "c": -1}', "'c' is -1, not a finite"),
    "infinite": ('{"a": 1, "b": 2, "c": Infinity}', "'c' is inf"),
    "vast": ('{"a": 1, "b": 2, "c": 1' + "0" * 400 + "}", "not a finite number"),
    "unhashable": ('{"a": [1], "b": 2}', r"'a' is \[1\]"),
}


@pytest.mark.parametrize("case", BAD_JSONL)
def test_bad_jsonl_is_named_with_its_line(case, tmp_path):
    content, message = BAD_JSONL[case]
    (tmp_path / "g.jsonl").write_text(content)
    with pytest.raises(FileError, match=message) as caught:
        read_graph(tmp_path / "g.jsonl")
    assert "g.jsonl" in str(caught.value)


def test_parquet_of_every_type(tmp_path):
    import pyarrow as pa

    expected = Graph.from_edges([("b", "a", 1), ("a", "c", 2.5), ("d", "b", 3)])
    ends = {"Source": ["b", "a", "d"], "Target": ["a", "c", "b"]}
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        table = {key: pa.array(column).cast(kind) for key, column in ends.items()}
        write_parquet(tmp_path / "g.parquet", {"id": [7, 8, 9], **table, "Weight": [1, 2.5, 3]}, row_group_size=1)
        graph = read_graph(tmp_path / "g.parquet")
        same(graph, expected)
        assert graph.notes == ("ignored columns: id",)
    ends = {"a": pa.array([0, 1, 4]), "b": pa.array([1, 4, 0])}
    kinds = [
        {key: column.cast(kind) for key, column in ends.items()} for kind in (pa.int8(), pa.uint64(), pa.float32())
    ]
    for table in (*kinds, {key: column.dictionary_encode() for key, column in ends.items()}):
        write_parquet(tmp_path / "g.parquet", table)
        same(read_graph(tmp_path / "g.parquet"), Graph.from_edges([(0, 1), (1, 4), (4, 0)]))


BAD_PARQUET = {
    "null end": ({"a": [1, None], "b": [2, 3]}, r"row 1 \(counted from 0\): column 'a' is empty"),
    "blank end": ({"a": ["x", "y"], "b": ["z", ""]}, r"row 1 \(counted from 0\): an endpoint is empty"),
    "null weight": ({"a": [1, 2], "b": [2, 3], "w": [1.0, None]}, "row 1 .* column 'w' is empty"),
    "text weight": ({"a": [1], "b": [2], "w": ["1"]}, "column 'w' is of type string; give numbers"),
    "negative weight": ({"a": [5], "b": [7], "w": [-1]}, r"edge \(5, 7\) has weight -1.0"),
    "mixed": ({"a": [1], "b": ["x"]}, "'a' is of type int64 and 'b' is of type string"),
    "bool": ({"a": [True], "b": [False]}, "'a' is of type bool"),
    "fraction": ({"a": [0.5], "b": [1.0]}, "edge 0 .* has endpoint 0.5"),
    "vast": ({"a": np.array([2**64 - 1], dtype=np.uint64), "b": [1]}, "not readable as parquet .*18446744073709551615"),
    "one column": ({"a": [1]}, "1 column: give source"),
    "no rows": (
        {"a": np.array([], dtype=int), "b": np.array([], dtype=int)},
        "0 rows where its header says 0; give at least one",
    ),
}


@pytest.mark.parametrize("case", BAD_PARQUET)
def test_bad_parquet_is_named_with_its_row(case, tmp_path):
    table, message = BAD_PARQUET[case]
    write_parquet(tmp_path / "g.parquet", table)
    with pytest.raises(FileError, match=message) as caught:
        read_graph(tmp_path / "g.parquet")
    assert "g.parquet" in str(caught.value)


def test_parquet_that_would_unpack_without_end_is_refused(tmp_path):
    zeros = np.zeros(2**24, dtype=np.int64)
    write_parquet(tmp_path / "bomb.parquet", {"a": zeros, "b": zeros}, row_group_size=2**24)
    for read in (read_graph, read_table):
        with pytest.raises(FileError, match="would unpack to"):
            read(tmp_path / "bomb.parquet")


def test_pyarrow_is_optional(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r'g.parquet: .*pip install "askgraph\[tables\]"'):
        read_graph(tmp_path / "g.parquet")


@pytest.mark.parametrize("kind", ["jsonl", "mtx", "parquet"])
def test_files_that_cannot_be_opened(kind, tmp_path):
    with pytest.raises(FileError, match=f"g.{kind}: .*(No such file|does not exist)"):
        read_graph(tmp_path / f"g.{kind}")
    (tmp_path / f"g.{kind}").mkdir()
    with pytest.raises(FileError, match=f"g.{kind}"):
        read_graph(tmp_path / f"g.{kind}")


def test_edges_in_npz(tmp_path):
    path = tmp_path / "g.npz"
    expected = Graph.from_edges([(3, 5, 1.0), (5, 9, 2.0)])
    for arrays in (
        {"edges": np.array([[3, 5, 1], [5, 9, 2]])},
        {"source": [3, 5], "target": [5, 9], "weight": [1, 2]},
        {"source": [3.0, 5.0], "target": [5, 9], "weight": [1, 2.0], "other": 1},
    ):
        np.savez(path, **arrays)
        same(read_graph(path), expected)
    for arrays, message in [
        ({"edges": np.zeros((2, 9))}, "transpose"),
        ({"source": [1], "target": [2, 3]}, r"source \(1,\), target \(2,\): give one entry"),
        ({"source": [1], "target": [2], "weight": ["x"]}, "'x' is not a real number"),
        ({"source": [1], "target": [2], "weight": [-1]}, "has weight -1.0"),
        ({"source": [1.5], "target": [2]}, "has endpoint 1.5"),
        ({"X": [1]}, "no graph among 'X'"),
    ]:
        np.savez(path, **arrays)
        with pytest.raises(FileError, match=message):
            read_graph(path)


W = np.array([[0, 1, 0, 0], [1, 0, 2.5, 0], [0, 2.5, 0, 0], [0, 0, 0, 0]])


def test_matrix_market(tmp_path):
    path = tmp_path / "g.mtx"
    for matrix, symmetry in ((sp.coo_array(W), "symmetric"), (sp.coo_array(W), "general"), (W, "general")):
        sio.mmwrite(path, matrix, symmetry=symmetry)
        assert np.array_equal(read_graph(path).weights.toarray(), W)
    sio.mmwrite(path, sp.coo_array(W), field="pattern", symmetry="symmetric")
    assert np.array_equal(read_graph(path).weights.toarray(), W > 0)
    sio.mmwrite(path, sp.coo_array(np.triu(W)), symmetry="general")
    with pytest.raises(FileError, match=r"g.mtx: weights are not symmetric"):
        read_graph(path)
    assert np.array_equal(read_graph(path, symmetrize="max").weights.toarray(), W)
    head = "%%MatrixMarket matrix coordinate real general\n"
    for content, message in [
        ("", "not readable as mtx"),
        (head + "2 2 1\n5 5 1\n", "not readable as mtx"),
        (head + "2 2 1\n1 2 x\n", "not readable as mtx"),
        (head + "2 2 1\n1 2 1\x0f", "not symmetric"),  # scipy alone crashes here
        (head + "2 2 1\n1 2\0 1\n", "binary data"),  # and here
        (head + "2 3 1\n1 2 1\n", "square"),
        (head + "2 2 1\n1 2 -1\n", "weight -1.0"),
        (head + "99999999999 99999999999 1\n1 2 1\n", "is the shape right"),
        (head + "2 2 99999999999\n1 2 1\n", "so small a file"),
        (head.replace("coordinate", "array") + "99999999 99999999\n1\n", "so small a file"),
        (head.replace("real", "complex") + "2 2 1\n1 2 1 1\n", "complex"),
    ]:
        path.write_text(content)
        with pytest.raises(FileError, match=message) as caught:
            read_graph(path)
        assert "g.mtx" in str(caught.value)


TABLE = {"id": ["x1", "x2"], "width": [1, 3], "height": [2.5, -40.0], "kind": ["s", "v"], "k": [1, 0]}


def write_table(path, table):
    if path.suffix == ".parquet":
        write_parquet(path, table)
    else:
        rows = (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


TYPED = ["t.jsonl", "t.parquet"]


@pytest.mark.parametrize("name", TYPED)
def test_tables_and_labels_of_typed_files(name, tmp_path):
    path = write_table(tmp_path / name, TABLE)
    X, labels, ids = read_table(path, features=["width", "height"], label="kind", id="id")
    assert X.tolist() == [[1, 2.5], [3, -40]]
    assert (labels, ids) == (["s", "v"], ["x1", "x2"])
    assert read_table(path, features=["height"], label="k")[1] == [1, 0]
    graph = Graph.from_edges([("ann", "bob")])
    assert read_labels(write_table(path, {"node": ["bob", "ann"], "label": ["1", "2"]}), graph) == ["2", "1"]
    assert read_labels(write_table(path, {"node": [1, 0], "label": [5, 6]}), Graph.from_edges([(0, 1)])) == [6, 5]
    assert read_labels(write_table(path, {"any": [True, False]}), graph) == [True, False]


@pytest.mark.parametrize("name", TYPED)
def test_bad_tables_and_labels_of_typed_files(name, tmp_path):
    path, graph = tmp_path / name, Graph.from_edges([("ann", "bob")])
    one, two = ("line 1", "line 2") if name == "t.jsonl" else (r"row 0 \(counted from 0\)", r"row 1 \(counted from 0\)")
    for table, read, message in [
        (TABLE, lambda: read_table(path, label="species"), "no column 'species'"),
        (
            TABLE,
            lambda: read_table(path, features=["kind"]),
            "'kind' is (of type string; give|'s', not a finite) number",
        ),
        ({"a": [1.0, float("nan")]}, lambda: read_table(path), f"{two}.*'a'.*nan.* not a finite number"),
        ({"a": [1, 2], "y": ["x", None]}, lambda: read_table(path, label="y"), f"{two}.*'y' is"),
        ({"a": [1, 2], "y": ["x", ""]}, lambda: read_table(path, label="y"), f"{two}.*'y' is"),
        ({"a": [1], "y": [0.5]}, lambda: read_table(path, label="y"), "0.5"),
        ({"a": [1], "y": [[1]]}, lambda: read_table(path, label="y"), "t.*"),
        ({"n": ["ann", "bo"], "y": [1, 2]}, lambda: read_labels(path, graph), f"{two}: no node 'bo'"),
        ({"n": ["ann", "ann"], "y": [1, 2]}, lambda: read_labels(path, graph), f"{two}: 'ann' has .*{one}"),
        ({"y": [1, 2, 3]}, lambda: read_labels(path, graph), "3 labels for 2 nodes"),
        ({"a": [1], "b": [1], "c": [1]}, lambda: read_labels(path, graph), "3 columns; give node and label"),
    ]:
        write_table(path, table)
        with pytest.raises(FileError, match=message):
            read()


def seeds(folder):
    rows = [("a", "b", 1.0), ("b", "c", 2.5), ("c", "a", 0.5)]
    for kind in WRITE.keys() - {"csv"}:
        WRITE[kind](folder / f"seed.{kind}", rows)
    sio.mmwrite(folder / "seed.mtx", sp.coo_array(W), symmetry="symmetric")
    return {path.suffix: path.read_bytes() for path in sorted(folder.glob("seed.*"))}


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    return seeds(tmp_path_factory.mktemp("seeds"))


@pytest.mark.slow
@given(st.data())
@settings(deadline=None, max_examples=300)
def test_no_damage_escapes(tmp_path_factory, seeded, data):
    suffix = data.draw(st.sampled_from(list(seeded)))
    path, content = tmp_path_factory.getbasetemp() / f"fuzz{suffix}", bytearray(seeded[suffix])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 6))] = data.draw(st.binary(max_size=4))
        assume(content)
    path.write_bytes(content)
    for read in (read_graph, read_table, lambda path: read_labels(path, Graph.from_edges([(0, 1), (1, 2)]))):
        assert path.name in complaint(lambda read=read: read(path), path.name)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 1.0, 2.0, 0.1, 0.3]))), st.data())
@settings(deadline=None, max_examples=150)
def test_edge_lists_mean_what_they_say(rows, data):
    how = data.draw(st.sampled_from([None, "mean", "max", "sum"]))
    D = np.zeros((6, 6))
    for a, b, w in rows:
        D[a, b] += w * (a != b)
    ways = np.maximum((D > 0).astype(int) + (D.T > 0), 1)
    expected = {"max": np.maximum(D, D.T), "sum": D + D.T}.get(how, (D + D.T) / ways)
    graph = Graph.from_edges(rows, nodes=6, symmetrize=how)
    assert np.allclose(graph.weights.toarray(), expected, rtol=1e-15, atol=0)
    both = np.count_nonzero(np.triu(ways == 2))
    said = sum(int(note.split(" edge")[0].split()[-1]) for note in graph.notes if "both directions" in note)
    assert said == both


def test_a_matrix_and_its_mirror_are_compared_in_blocks(monkeypatch):
    A = np.random.default_rng(0).random((40, 40))
    A = A + A.T
    for change, count in ((0.0, 0), (1e-14, 0), (1e-3, 2)):
        A[30, 31] *= 1 + change
        for block in (1, 100, 2**21):
            monkeypatch.setattr(clean, "ENTRIES_PER_BLOCK", block)
            if count:
                with pytest.raises(GraphError, match=r"2 of 3120 entries differ .* \(30, 31\)"):
                    Graph(A)
            else:
                assert (Graph(A).weights != Graph(A).weights.T).nnz == 0


def test_ids_near_and_far_are_numbered_alike():
    pairs = np.random.default_rng(0).integers(-5, 60, (40, 2))
    near, far = Graph.from_edges(pairs), Graph.from_edges(pairs * 10**9)
    assert [name * 10**9 for name in near.names] == list(far.names)
    assert (near.weights != far.weights).nnz == 0


def ring(n):
    i = np.arange(n)
    return Graph.from_edges(np.column_stack([i, (i + 1) % n, np.linspace(1, 2, n)]))


def is_mapped(array):
    while isinstance(array, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    return isinstance(array, np.memmap)


def test_a_saved_graph_stays_in_its_file(tmp_path):
    path, graph = tmp_path / "g.npz", ring(20_000).noted("hello")
    graph.save(path)
    before = path.read_bytes()
    back = Graph.load(path)
    same(back, graph)
    assert back.notes == graph.notes
    A = back.weights
    assert all(map(is_mapped, (A.data, A.indices, A.indptr)))
    assert all(array.flags.aligned and array.flags.writeable for array in (A.data, A.indices, A.indptr))
    assert back.report() == graph.report()
    back.save(path)  # over the file in use
    assert path.read_bytes() == before
    A.data[:] = 9
    assert path.read_bytes() == before
    same(Graph.load(path), graph)
    with np.load(path) as stored:
        assert np.array_equal(stored["data"], graph.weights.data)


def test_files_of_others_are_copied_and_read_alike(tmp_path, monkeypatch):
    path, graph = tmp_path / "g.npz", ring(20_000)
    for compressed in (True, False):
        sp.save_npz(path, graph.weights, compressed=compressed)
        same(Graph.load(path), graph)
    graph.save(path)
    monkeypatch.setattr(npz, "CAN_MAP", False)
    same(Graph.load(path), graph)
    assert not is_mapped(Graph.load(path).weights.data)


def test_damage_to_a_mapped_file_is_seen(tmp_path):
    path = tmp_path / "g.npz"
    ring(20_000).save(path)
    content = path.read_bytes()
    with zipfile.ZipFile(path) as packed:
        places = [packed.getinfo(f"{name}.npy").header_offset + 5000 for name in ("data", "indices", "indptr")]
    for place in places:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(FileError, match=r"g.npz: .*checksum"):
            Graph.load(path)
    path.write_bytes(content[:-1000])
    with pytest.raises(FileError, match=r"g\.npz"):
        Graph.load(path)


LIES = {
    "index": ("indices", 700, 10**6, "g.npz"),
    "negative index": ("indices", 700, -1, "g.npz"),
    "pointer": ("indptr", 700, 10**7, "g.npz"),
    "order": ("indices", 700, 19_999, "not symmetric"),
    "value": ("data", 700, 1.5, "not symmetric"),
    "high bit": ("data", 700, 2.0**1000, "not symmetric|weight"),
    "sign": ("data", 700, -1.0, "weight -1.0"),
    "nan": ("data", 700, np.nan, "weight nan"),
}


@pytest.mark.parametrize("case", LIES)
def test_a_file_that_lies_is_not_trusted(case, tmp_path):
    key, place, value, message = LIES[case]
    arrays = ring(20_000).arrays()
    arrays[key] = arrays[key].copy()
    arrays[key][place] = value
    npz.save_arrays(tmp_path / "g.npz", **arrays)  # every checksum holds
    with pytest.raises(FileError, match=message):
        Graph.load(tmp_path / "g.npz")


@pytest.mark.parametrize(
    "content", ["source,target,x,y\n1,2,3,4\n", "weight,source,target\n1,2,3\n", "1,2,3,4\n", '"a\n",b\n1,2\n']
)
def test_the_compiled_parser_leaves_other_columns_alone(content, tmp_path, monkeypatch):
    monkeypatch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
    (tmp_path / "g.csv").write_text(content)
    assert edge_lists._parse_plain(tmp_path / "g.csv") is None


def test_a_file_that_grows_as_it_is_read_does_no_harm(tmp_path, monkeypatch):
    monkeypatch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
    chunks = iter([[b"1,2\n"], [b"1,2\n" * 9]])
    monkeypatch.setattr(edge_lists, "_chunks", lambda path, skip: next(chunks))
    assert edge_lists._parse_chunks(tmp_path / "g.csv", ",", 0, 2, edge_parser.parse_edges) is None
