"""Files -> Graph, labels, tables: what is right is read alike from every format, what is wrong is named."""

import csv
import sys
import time

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from askgraph.errors import FileError, MissingExtraError, SettingError
from askgraph.graph import Graph
from askgraph.io import edge_lists, text
from askgraph.io.readers import read_graph, read_labels, read_table
from askgraph.io.tables import text_table
from tests.helpers.complaints import complaint

GRAPH = Graph.from_edges([("ann", "bob", 1), ("bob", "ćy", 2.5)])
SMALL = Graph.from_edges([(0, 1), (1, 2)])


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


EDGES = {
    "header": ("g.csv", "source,target,weight\nann,bob,1\nbob,ćy,2.5\n"),
    "no header": ("g.csv", "ann,bob,1\nbob,ćy,2.5"),
    "windows": ("g.CSV", "\ufeffann,bob,1\r\nbob,ćy,2.5\r\n\r\n"),
    "semicolons": ("g.csv", "from;to;strength\nann;bob;1\nbob;ćy;2.5\n"),
    "quotes": ("g.csv", '"ann","bob",1\n"bob","ćy","2.5"\n'),
    "tabs": ("g.tsv", "ann\tbob\t1\nbob\tćy\t2.5\n"),
    "spaces": ("g.txt", "# a comment\n% another\n\nann bob  1\n bob ćy 2.5 \n"),
    "edges": ("g.edges", "ann,bob,1\nbob,ćy,2.5\n"),
    "gephi": ("g.csv", "Id,Source,Target,Type,Weight\n0,ann,bob,Undirected,1\n1,bob,ćy,Undirected,2.5\n"),
    "weight words": ("g.csv", "a,b,w\nann,bob,1e0\nbob,ćy,+2.5\n"),
}


@pytest.mark.parametrize("case", EDGES)
def test_edge_lists_of_every_kind(case, write):
    graph = read_graph(write(*EDGES[case]))
    assert graph.names == GRAPH.names
    assert np.array_equal(graph.weights.toarray(), GRAPH.weights.toarray())


def test_what_is_passed_over_is_noted(write):
    assert read_graph(write("g.csv", "source,target\na,b\n")).notes == ("read line 1 as a header: source, target",)
    assert read_graph(write("g.txt", "# hi\na b\n")).notes == ("skipped 1 opening line",)
    assert "ignored columns: Id, Type" in read_graph(write(*EDGES["gephi"])).notes
    assert read_graph(write("g.csv", "#a,b\nb,c\n")).names == ("#a", "b", "c")


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("0,1\n1,2\n", None),
        ("from here,to there\n0,1\n1,2\n", None),
        ("10,20\n20,30\n", (10, 20, 30)),
        ("-1,0\n0,5\n", (-1, 0, 5)),
        ("007,7\n7,8\n", ("007", "7", "8")),
        ("1,2\n2,x\n", ("1", "2", "x")),
        ("1.0,2.0\n", ("1.0", "2.0")),
        ("99999999999999999999,1\n", ("99999999999999999999", "1")),
        ("source,target\nsource,b\n", ("source", "b")),
    ],
)
def test_ids_are_text_unless_all_are_integers(content, names, write):
    assert read_graph(write("g.csv", content)).names == names


def test_other_files_hold_the_same_graph(tmp_path, write):
    GRAPH.save(tmp_path / "own.npz")
    sp.save_npz(tmp_path / "scipy.npz", GRAPH.weights)
    nx.write_graphml(GRAPH.to_networkx(), tmp_path / "g.graphml")
    nx.write_gml(GRAPH.to_networkx(), tmp_path / "g.gml")
    for name in ("own.npz", "scipy.npz", "g.graphml", "g.gml"):
        graph = read_graph(tmp_path / name)
        assert np.array_equal(graph.weights.toarray(), GRAPH.weights.toarray())
        assert graph.names == (None if name == "scipy.npz" else GRAPH.names)
    nx.write_graphml(nx.path_graph(4), tmp_path / "ints.graphml")
    assert read_graph(tmp_path / "ints.graphml").names is None


def test_gml_with_repeated_edges_and_without_labels_is_read(write):
    edge = "edge [ source 5 target 7 ]\n"
    graph = read_graph(write("g.gml", f"graph [\ndirected 1\nnode [ id 5 ]\nnode [ id 7 ]\n{edge}{edge}]"))
    assert graph.names == (5, 7)
    assert graph.notes == ("added up 1 repeated edge", "directed input: symmetrized as (W + W^T)/2")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["g.csv", "g.tsv", "g.txt"])
@pytest.mark.parametrize("header", ["", "source{0}target{0}weight\n"])
def test_the_fast_way_reads_what_the_slow_way_reads(name, header, weighted, write, monkeypatch):
    mark, rng = {"g.csv": ",", "g.tsv": "\t", "g.txt": " "}[name], np.random.default_rng(0)
    rows = [(a, b, 0.01 * w)[: 2 + weighted] for a, b, w in rng.integers(-9, 40, (50, 3)).clip((-9, 0, 0)).tolist()]
    head = header.format(mark) if weighted else header.format(mark).replace(mark + "weight", "")
    path = write(name, head + "".join(mark.join(map(str, row)) + "\n" for row in rows))
    slow = read_graph(path)
    monkeypatch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
    assert edge_lists._parse_plain(path) is not None
    fast = read_graph(path)
    assert (fast.names, fast.notes) == (slow.names, slow.notes)
    assert (fast.weights != slow.weights).nnz == 0


@pytest.mark.parametrize(
    "content",
    [
        "007,7\n7,8\n",
        "1,2\n1,x\n",
        "1,2\n1,2,3\n",
        "1,2,nan\n",
        "1,2,-1\n",
        "1.5,2\n",
        "",
        "1\n2\n",
        "é,1\n",
        "9,\n",
        "+5,1\n",
        "-0,1\n",
        "1,2,+3\n",
        "1,\U000bd1c8\n",  # numpy alone reads 774552 here
        "\U000bd1c8Ç,1\n",  # and crashes here
    ],
)
def test_the_parser_of_integers_stands_back(content, write, monkeypatch):
    monkeypatch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
    monkeypatch.setattr(edge_lists, "_parse_names", lambda *_: None)
    assert edge_lists._parse_plain(write("g.csv", content)) is None


BAD_GRAPHS = {
    "empty": ("g.csv", "", "the file is empty"),
    "blank": ("g.csv", "\n \n\n", "the file is empty"),
    "only a header": ("g.csv", "source,target\n", "a header and no edges"),
    "one column": ("g.csv", "a\nb\n", "1 column: give source, target"),
    "five columns": ("g.csv", "a,b,c,d,e\n", "5 columns: give source, target"),
    "ragged": ("g.csv", "a,b\nb,c\nc,d,1\n", "line 3: 3 columns where line 1 has 2"),
    "empty end": ("g.csv", "a,b\n\n,c\n", "line 3: an endpoint is empty"),
    "text weight": ("g.csv", "a,b,1\nb,c,heavy\n", "line 2, weight: 'heavy' is not a finite number"),
    "no weight": ("g.csv", "a,b,1\nb,c,\n", "line 2, weight: '' is not a finite number"),
    "nan weight": ("g.csv", "a,b,1\nb,c,nan\n", "line 2, weight: 'nan' is not a finite number"),
    "inf weight": ("g.csv", "a,b,1\nb,c,1e999\n", "line 2, weight: '1e999' is not a finite number"),
    "underscore": ("g.csv", "a,b,1\nb,c,1_0\n", "line 2, weight: '1_0' is not a finite number"),
    "negative weight": ("g.csv", "a,b,1\nb,c,-2\n", r"line 2: weight -2.0 is negative"),
    "huge weight": ("g.csv", "a,b,1e305\n", r"g.csv: edge \('a', 'b'\) has weight 1e\+305"),
    "damaged": (
        "g.csv",
        "a,b\ncafé,b\n".encode() + b"\xff,b\n",
        "line 3: byte 0xff is not UTF-8 text; save the file as UTF-8",
    ),
    "half": ("g.csv", "a,b\nb,c".encode("utf-16")[:-1], "line 2: .* is not utf-16 text"),
    "binary": ("g.csv", b"a,b\n\x00\x01,c\n", "line 2: binary data"),
    "open quote": ("g.csv", 'a,b\n"b,c\n' + "d,e\n" * 3, "line 5: unexpected end of data"),
    "old line ends": ("g.csv", "a,b\rb,c\r", "line 1: new-line character"),
    "type": ("g.xlsx", "", r"type \.xlsx is not read here; use \.npz"),
    "no type": ("g", "", r"type \(none\) is not read"),
    "npz": ("g.npz", b"PK\x03\x04junk", "not readable as npz"),
    "graphml": ("g.graphml", "<graphml><graph>", "not readable as graphml"),
    "bomb": ("g.graphml", '<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "DOCTYPE"),
    "doctype": ("g.graphml", "<!DOCTYPE graphml><graphml/>", "DOCTYPE"),
    "no graph": ("g.graphml", "<graphml/>", "not readable as graphml"),
    "gml": ("g.gml", "graph [ node [", "not readable as gml"),
    "empty gml": ("g.gml", "graph [ ]", "no nodes"),
}


@pytest.mark.parametrize("case", BAD_GRAPHS)
def test_a_bad_graph_file_is_named_with_its_line(case, write):
    name, content, message = BAD_GRAPHS[case]
    with pytest.raises(FileError, match=message) as caught:
        read_graph(write(name, content))
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["g.csv", "g.npz", "g.gml"])
def test_files_that_cannot_be_opened(name, tmp_path):
    with pytest.raises(FileError, match="No such file"):
        read_graph(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(FileError, match="Is a directory"):
        read_graph(tmp_path / name)


def test_an_endless_line_is_not_read(write, monkeypatch):
    monkeypatch.setattr(text, "MAX_LINE_BYTES", 1000)
    with pytest.raises(FileError, match="line 2: binary data or an endless line"):
        read_graph(write("g.txt", "a b\n" + "x" * 5000))


LABELS = {
    "pairs": ("y.csv", "bob,spam\nann,ham\nćy,spam\n", ["ham", "spam", "spam"]),
    "header": ("y.csv", "node,label\nbob,spam\nann,ham\nćy,spam\n", ["ham", "spam", "spam"]),
    "integers": ("y.tsv", "bob\t1\nann\t0\nćy\t-1\n", [0, 1, -1]),
    "lines": ("y.txt", "ham\nspam\nham\n", ["ham", "spam", "ham"]),
    "lines and header": ("y.csv", "Label\n1\n2\n1\n", [1, 2, 1]),
    "quoted": ("y.csv", '"ham, cooked"\nspam\nham\n', ["ham, cooked", "spam", "ham"]),
    "a class called label": ("y.csv", "label\nspam\nham\n", ["label", "spam", "ham"]),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_of_every_kind(case, write):
    name, content, labels = LABELS[case]
    assert read_labels(write(name, content), GRAPH) == labels


def test_labels_of_nodes_without_names(write):
    assert read_labels(write("y.csv", "2,c\n0,a\n1,b\n"), SMALL) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("array", "labels"),
    [
        (np.array([1, 0, 1]), [1, 0, 1]),
        (np.array([1.0, 0.0, 2.0]), [1, 0, 2]),
        (np.array(["a", "b", "ç"]), ["a", "b", "ç"]),
        (np.array([True, False, True]), [True, False, True]),
    ],
)
def test_labels_from_arrays(array, labels, tmp_path):
    np.save(tmp_path / "y.npy", array)
    np.savez(tmp_path / "y.npz", y=array, other=0)
    np.savez(tmp_path / "one.npz", anything=array)
    for name in ("y.npy", "y.npz", "one.npz"):
        assert read_labels(tmp_path / name, SMALL) == labels


BAD_LABELS = {
    "unknown": ("y.csv", "ann,1\nbob,1\nboby,2\n", "line 3: no node 'boby'.*did you mean 'bob'"),
    "unknown first": ("y.csv", "amm,1\nbob,1\nćy,2\n", "no label for 'ann'"),
    "twice": ("y.csv", "ann,1\nbob,1\nann,2\n", "line 3: 'ann' has a label on line 1 already"),
    "missing": ("y.csv", "ann,1\nbob,1\n", "no label for 'ćy'"),
    "empty label": ("y.csv", "ann,1\nbob,\nćy,2\n", "line 2: column 2 is empty"),
    "too few": ("y.txt", "1\n2\n", "2 labels for 3 nodes"),
    "too many": ("y.txt", "1\n2\n1\n2\n", "4 labels for 3 nodes"),
    "three columns": ("y.csv", "a,b,c\n", "3 columns; give node and label"),
    "empty": ("y.csv", "", "the file is empty"),
    "junk": ("y.npy", b"junk", "not readable as npy"),
    "type": ("y.pkl", b"", r"type \.pkl"),
}


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_named_with_their_line(case, write):
    name, content, message = BAD_LABELS[case]
    with pytest.raises(FileError, match=message) as caught:
        read_labels(write(name, content), GRAPH)
    assert name in str(caught.value)


def test_bad_label_arrays(tmp_path):
    for array, message in [
        (np.array([1, 2]), "2 labels for 3 nodes"),
        (np.array([1.5, 2, 3]), "label 0 is 1.5"),
        (np.array([1, np.nan, 3]), "label 1 is nan"),
        (np.zeros((3, 1)), r"shape \(3, 1\)"),
        (np.array([1, 2, 3j]), "complex128"),
    ]:
        np.save(tmp_path / "y.npy", array)
        with pytest.raises(FileError, match=message):
            read_labels(tmp_path / "y.npy", SMALL)
    np.save(tmp_path / "y.npy", np.array([{}, {}, {}]), allow_pickle=True)
    with pytest.raises(FileError, match="not as objects"):
        read_labels(tmp_path / "y.npy", SMALL)
    np.savez(tmp_path / "y.npz", a=[1, 2, 3], b=[1, 2, 3])
    with pytest.raises(FileError, match="which of 'a', 'b' are the labels"):
        read_labels(tmp_path / "y.npz", SMALL)


def test_names_that_look_alike_as_text(write):
    twins = Graph.from_edges([(1, "1")])
    with pytest.raises(FileError, match="look alike"):
        read_labels(write("y.csv", "1,a\n1,b\n"), twins)


TABLE = "id,width,height,kind\nx1,1,2.5,setosa\nx2,3,-4e1,virginica\n"


def test_tables(write):
    X, labels, names = read_table(write("t.csv", TABLE), label="kind", id="id")
    assert X.tolist() == [[1, 2.5], [3, -40]]
    assert (labels, names) == (["setosa", "virginica"], ["x1", "x2"])
    X, labels, names = read_table(write("t.tsv", TABLE.replace(",", "\t")), features=["height"])
    assert (X.tolist(), labels, names) == ([[2.5], [-40]], None, None)
    X, labels, _ = read_table(write("t.csv", "1,2,a\n3,4,b\n"), label="2")
    assert (X.tolist(), labels) == ([[1, 2], [3, 4]], ["a", "b"])
    X, _, names = read_table(write("t.csv", ",a\n5,1\n6,2\n"), id="0")
    assert (X.tolist(), names) == ([[1], [2]], [5, 6])


def test_npz_tables(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.arange(6).reshape(3, 2), y=["a", "b", "a"], names=[7, 8, 9])
    X, labels, names = read_table(tmp_path / "t.npz")
    assert X.dtype == np.float64
    assert (X.tolist(), labels, names) == ([[0, 1], [2, 3], [4, 5]], ["a", "b", "a"], [7, 8, 9])
    with pytest.raises(SettingError, match="no columns to choose"):
        read_table(tmp_path / "t.npz", label="y")
    for arrays, message in [
        ({"Z": [[1]]}, "no table of numbers X in 'Z'"),
        ({"X": [1, 2]}, "no table of numbers X"),
        ({"X": [["a"]]}, "no table of numbers X"),
        ({"X": [[1, np.nan]]}, r"X\[0, 1\] is nan"),
        ({"X": [[1, 2]], "y": [1, 2]}, "y has 2 entries for 1 rows"),
        ({"X": [[1, 2]], "y": [[1]]}, "labels of shape"),
    ]:
        np.savez(tmp_path / "t.npz", **arrays)
        with pytest.raises(FileError, match=message):
            read_table(tmp_path / "t.npz")


BAD_TABLES = {
    "unknown label": (TABLE, {"label": "species"}, "no column 'species'; its columns are 'id', 'width'"),
    "text feature": (TABLE, {"label": "kind"}, "line 2, column 'id': 'x1' is not a finite number"),
    "no features": ("a,b\nx,y\n", {"label": "a", "id": "b"}, "no feature columns are left"),
    "missing": ("a,b\n1,2\n3,\n", {}, "line 3, column 'b': '' is not a finite number"),
    "nan": ("a,b\n1,2\n3,NaN\n", {}, "line 3, column 'b': 'NaN' is not a finite number"),
    "empty label": ("a,b\n1,x\n3,\n", {"label": "b"}, "line 3: column 2 is empty"),
    "twice": ("a,a\n1,2\n", {}, "two columns are called 'a'"),
    "header only": ("a,b\n", {}, "a header and no rows"),
    "ragged": ("a,b\n1,2\n3\n", {}, "line 3: 1 column where line 1 has 2"),
    "empty": ("", {}, "the file is empty"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_named_with_its_line(case, write):
    content, options, message = BAD_TABLES[case]
    with pytest.raises(FileError, match=message) as caught:
        read_table(write("t.csv", content), **options)
    assert "t.csv" in str(caught.value)


def test_networkx_is_optional(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r'g.gml: .*pip install "askgraph\[networkx\]"'):
        read_graph(write("g.gml", "graph [ ]"))


cells = st.sampled_from(
    ["a", "b", "0", "1", "-1", "1e400", "nan", "", " ", '"', '""', "é", "source", "target", "\x00", "#", "_", "1_0"]
)
texts = st.lists(st.lists(cells | st.text(max_size=3), max_size=4).map(",".join), max_size=6).map("\n".join)
contents = texts.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=60)
SEEDS = {
    "g.graphml": b'<graphml><key id="w" for="edge" attr.name="weight" attr.type="double"/>'
    b'<graph edgedefault="undirected"><node id="a"/><node id="b"/>'
    b'<edge source="a" target="b"><data key="w">2</data></edge></graph></graphml>',
    "g.gml": b'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 weight 2.5 ] ]',
}
READ = {
    "graph": read_graph,
    "labels": lambda path: read_labels(path, SMALL),
    "table": lambda path: read_table(path),
    "label of table": lambda path: read_table(path, label="a"),
}


@pytest.mark.long
@pytest.mark.slow
@given(contents, st.sampled_from([".csv", ".tsv", ".txt"]), st.sampled_from(list(READ)), st.booleans())
@settings(deadline=None, max_examples=400)
def test_no_text_escapes(tmp_path_factory, content, suffix, what, fast):
    # Promise 12
    path = tmp_path_factory.getbasetemp() / f"fuzz{suffix}"
    path.write_bytes(content)
    started = time.process_time()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0 if fast else 2**20)
        assert path.name in complaint(lambda: READ[what](path), path.name)
    assert time.process_time() - started < 5


@pytest.mark.slow
@given(st.sampled_from(list(SEEDS)), st.data())
@settings(deadline=None, max_examples=150)
def test_no_graph_format_escapes(tmp_path_factory, name, data):
    # Promise 12
    path, content = tmp_path_factory.getbasetemp() / name, bytearray(SEEDS[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 6))] = data.draw(
            st.binary(max_size=4) | st.just(bytes(content[:40]))
        )
    path.write_bytes(content)
    assert path.name in complaint(lambda: read_graph(path), path.name)


class TestTextAsPublished:
    """T8: text with tabs whose quotes are part of the text, with and without a suffix, with and without names of columns."""

    LINES = ('ham\t"Go" until', 'spam\t"Free entry, call now', "ham\tOk lar", 'ham\tsaid "no"')

    @pytest.mark.parametrize("name", ["sms.tsv", "SMSSpamCollection"])
    def test_stray_quotes_stay(self, tmp_path, name):
        path = tmp_path / name
        path.write_text("\n".join(self.LINES) + "\n")
        table = text_table(path)
        assert table.header == ["0", "1"]
        assert table.cells("1") == ['"Go" until', '"Free entry, call now', "Ok lar", 'said "no"']
        assert sum("quotes are kept" in note for note in table.notes) == 1
        assert sum("has no suffix" in note for note in table.notes) == (name == "SMSSpamCollection")
        assert sum("line 1 is read as data" in note for note in table.notes) == 1

    def test_a_quote_that_would_swallow_lines_without_an_error(self, tmp_path):
        path = tmp_path / "a.tsv"
        path.write_text('kind\ttext\na\t"one\nb\ttwo"\nc\tthree\n')
        assert text_table(path).cells("text") == ['"one', 'two"', "three"]

    def test_quotes_that_enclose_cells_enclose_them(self, tmp_path):
        path = tmp_path / "b.tsv"
        path.write_text('kind\ttext\na\t"one\tand ""two"""\nb\t"three\nlines"\n')
        table = text_table(path)
        assert table.cells("text") == ['one\tand "two"', "three\nlines"]
        assert table.notes == ()

    def test_a_whole_document_in_a_cell_is_read_and_a_cell_without_end_names_the_limit(self, tmp_path, monkeypatch):
        document = "word, " * 50_000 + "\n" + 'a ""quote""'
        (tmp_path / "d.csv").write_text(f'id,text\n1,"{document}"\n2,short\n')
        assert text_table(tmp_path / "d.csv").cells("text") == [document.replace('""', '"'), "short"]
        before = csv.field_size_limit()
        monkeypatch.setattr(text, "MAX_CELL_CHARACTERS", 1000)
        csv.field_size_limit(1000)
        try:
            with pytest.raises(
                FileError, match=r"d\.csv, line 2: a cell is longer than 1,000 characters; fix the quotes"
            ):
                text_table(tmp_path / "d.csv")
        finally:
            csv.field_size_limit(before)

    def test_broken_commas_are_still_refused(self, tmp_path):
        path = tmp_path / "c.csv"
        path.write_text('kind,text\na,"one" two\n')
        with pytest.raises(FileError, match="fix the quotes"):
            text_table(path)
