"""The paper's datasets: their counts, their formats in the small, and downloads from a server of our own."""

import bz2
import gzip
import hashlib
import io
import tarfile
import threading
import zipfile
from collections import Counter
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from askgraph.errors import FileError, SettingError
from askgraph.paper import download
from askgraph.paper.datasets import NAMES, SPECS, Counts, _load, load

GRAPHS = {  # nodes, edges, isolated, components, class sizes, nodes and edges of the largest component, shares, homophily
    "cora": (2708, 5278, 0, 78, (818, 426, 418, 351, 298, 217, 180), 2485, 5069, 0.302, 0.292, 0.810),
    "citeseer": (3312, 4536, 48, 438, (701, 668, 596, 590, 508, 249), 2110, 3668, 0.212, 0.252, 0.738),
    "polblogs": (1490, 16715, 266, 268, (758, 732), 1222, 16714, 0.509, 0.520, 0.906),
}
TABLES = {  # shape, classes, share of the largest
    "colon": ((62, 2000), {"-1": 40, "1": 22}, 0.645),
    "leukemia": ((72, 7129), {"1": 47, "-1": 25}, 0.653),
    "ionosphere": ((351, 34), {"g": 225, "b": 126}, 0.641),
    "australian": ((690, 14), {"0": 383, "1": 307}, 0.555),
    "parkinsons": ((195, 22), {"1": 147, "0": 48}, 0.754),
    "ecoli": ((336, 7), {"cp": 143, "im": 77, "pp": 52, "imU": 35, "om": 20, "omL": 5, "imL": 2, "imS": 2}, 0.426),
}


def largest_share(labels):
    return max(Counter(labels).values()) / len(labels)


def homophily(graph, labels):
    upper = sp.triu(graph.weights).tocoo()
    return np.mean(np.array(labels)[upper.row] == np.array(labels)[upper.col])


@pytest.mark.data
@pytest.mark.parametrize("name", GRAPHS)
def test_the_graphs_are_those_of_the_paper(name):
    nodes, edges, isolated, components, sizes, lcc_nodes, lcc_edges, share, lcc_share, same = GRAPHS[name]
    data = load(name)
    graph, report, largest = data.graph, data.graph.report(), data.graph.largest_component()
    assert (graph.n_nodes, graph.n_edges, report.isolated, report.components) == (nodes, edges, isolated, components)
    assert (largest.n_nodes, largest.n_edges) == (lcc_nodes, lcc_edges)
    assert set(graph.weights.data) == {1.0}
    assert all(isinstance(node, str) for node in graph.names)
    assert tuple(sorted(Counter(data.labels).values(), reverse=True)) == sizes
    inside = [data.labels[graph.index(node)] for node in largest.names]
    shares = largest_share(data.labels), largest_share(inside), homophily(graph, data.labels)
    assert [round(x, 3) for x in shares] == [share, lcc_share, same]


@pytest.mark.data
@pytest.mark.parametrize(("name", "words", "ones"), [("cora", 1433, 49216), ("citeseer", 3703, 105165)])
def test_the_papers_have_words(name, words, ones):
    data = load(name)
    assert data.features.shape == (len(data.labels), words)
    assert data.features.dtype == np.float64
    assert set(np.unique(data.features)) == {0.0, 1.0}
    assert data.features.sum() == ones


@pytest.mark.data
@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_those_of_the_paper(name):
    shape, classes, share = TABLES[name]
    data = load(name)
    assert data.name == name
    assert data.graph is None
    assert data.features.shape == shape
    assert np.isfinite(data.features).all()
    assert Counter(data.labels) == classes
    assert round(largest_share(data.labels), 3) == share
    constant = np.flatnonzero(np.ptp(data.features, axis=0) == 0).tolist()
    assert constant == ([1] if name == "ionosphere" else [])


def test_every_dataset_is_tested():
    assert tuple(sorted({*GRAPHS, *TABLES})) == tuple(sorted(NAMES))


CONTENT = b"100\t1\t0\t0\tAI\nalpha-97\t0\t1\t1\tDB\n007\t1\t1\t0\tAI\nlone\t0\t0\t0\tIR\n"
CITES = b"100\talpha-97\nalpha-97\t100\n100\talpha-97\n007\t100\n007\t007\nlone\tlone\nlone\tnowhere\ngone\t7\n"
GML = b"""Creator "somebody"
graph [
  directed 1
  node [
    id 1
    label "left.com"
    value 0
    source "a,b"
  ]
  node [
    id 2
    label "right.com/x"
    value 1
    source "a"
  ]
  node [
    id 30
    label "lone.org"
    value 1
    source "a"
  ]
  edge [
    source 1
    target 2
  ]
  edge [
    source 1
    target 2
  ]
  edge [
    source 2
    target 1
  ]
  edge [
    source 2
    target 2
  ]
]
"""
VOICE = ",".join(str(k) for k in range(1, 17)) + ",{}," + ",".join(str(k) for k in range(17, 23))
TINY = {  # what the files hold, and the counts that come out
    "citeseer": ((CONTENT, CITES), Counts(4, 3, 3, 2)),
    "polblogs": ((GML,), Counts(3, 2, edges=1)),
    "colon": ((b"-1.000000  1:2.5 2:1 3:0.5\n1.000000  1:1 2:-3e-1 3:4\n",), Counts(2, 2, 3)),
    "leukemia": ((b"1  1:2.5 2:1\n-1  1:1 2:3\n", b"1.0  1:7 3:9\n"), Counts(3, 2, 3)),
    "ionosphere": ((b"1,0,0.5,g\n0,0,-1,b\n1,0,.25,g\n",), Counts(3, 2, 3)),
    "australian": ((b"1 22.08 3 0\n0 7 4 1\n",), Counts(2, 2, 3)),
    "parkinsons": (
        (f"name,a,...\r\nx_1,{VOICE.format(1)}\r\nx_2,{VOICE.format(0)}\r\n".encode(),),
        Counts(2, 2, 22),
    ),
    "ecoli": ((b"AAT_ECOLI   0.49  0.29   cp\nACEA_ECOLI  0.07  0.40   imU\n",), Counts(2, 2, 2)),
}
EXPECTED = {
    "colon": (("-1", "1"), [[2.5, 1, 0.5], [1, -0.3, 4]]),
    "leukemia": (("1", "-1", "1"), [[2.5, 1, 0], [1, 3, 0], [7, 0, 9]]),
    "ionosphere": (("g", "b", "g"), [[1, 0, 0.5], [0, 0, -1], [1, 0, 0.25]]),
    "australian": (("0", "1"), [[1, 22.08, 3], [0, 7, 4]]),
    "parkinsons": (("1", "0"), [list(range(1, 23))] * 2),
    "ecoli": (("cp", "imU"), [[0.49, 0.29], [0.07, 0.4]]),
}
PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}


def tiny(name, base=None):
    """The same dataset in the small: other content, hashes and counts; perhaps at another address."""
    contents, counts = TINY[name]
    sources = []
    for source, content in zip(SPECS[name].sources, contents, strict=True):
        address = f"{base}/{source.address.rpartition('/')[2]}" if base else source.address
        sources.append(replace(source, sha256=hashlib.sha256(content).hexdigest(), lines=None, address=address))
    return replace(SPECS[name], sources=tuple(sources), counts=counts)


def put(root, name, suffix="", contents=None):
    for source, content in zip(SPECS[name].sources, contents or TINY[name][0], strict=True):
        path = root / f"{source.path}{suffix}"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(PACK[suffix](content))


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("name", EXPECTED)
def test_tables_in_the_small(name, suffix, tmp_path):
    put(tmp_path, name, suffix)
    data = _load(tiny(name), tmp_path)
    labels, features = EXPECTED[name]
    assert data.labels == labels
    assert data.features.tolist() == features
    assert data.graph is None


def test_citations_in_the_small(tmp_path):
    put(tmp_path, "citeseer")
    data = _load(tiny("citeseer"), tmp_path)
    assert data.graph.names == ("100", "alpha-97", "007", "lone")
    assert data.graph.weights.toarray().tolist() == [[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert data.graph.notes == ("kept 2 distinct pairs of 8 listed",)
    assert data.labels == ("AI", "DB", "AI", "IR")
    assert data.features.tolist() == [[1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 0]]


def test_blogs_in_the_small(tmp_path):
    put(tmp_path, "polblogs")
    data = _load(tiny("polblogs"), tmp_path)
    assert data.graph.names == ("left.com", "right.com/x", "lone.org")
    assert data.graph.weights.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert data.labels == ("0", "1", "1")
    assert data.features is None


def test_names_outside_the_paper_are_refused():
    with pytest.raises(SettingError, match="no dataset 'pubmed'; the paper has cora, citeseer, polblogs, colon"):
        load("pubmed")


def test_a_missing_file_is_asked_for(tmp_path, monkeypatch):
    put(tmp_path, "leukemia")
    place = tmp_path / "leukemia" / "leu.t"
    place.unlink()
    with pytest.raises(FileError) as caught:
        _load(tiny("leukemia"), tmp_path)
    address = SPECS["leukemia"].sources[1].address
    assert str(caught.value) == f"no {place} (nor .gz, .bz2); put leu.t, unpacked from {address}, into {place.parent}"
    monkeypatch.setenv("ASKGRAPH_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(FileError, match=r"there is no folder .*elsewhere"):
        load("cora")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(
        FileError, match=r"elsewhere.*put cora\.content, unpacked from https://linqs.*/cora\.tgz, into .*elsewhere"
    ):
        load("cora")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("leukemia", "cora")])
def test_other_content_is_told_by_its_hash(name, tmp_path):
    put(tmp_path, name)
    with pytest.raises(FileError, match=r"not the published file \(its sha256 is \w{64}, not \w{64}\); replace it"):
        load(name, tmp_path)


def test_the_file_without_a_hash_is_told_by_its_lines(tmp_path):
    put(tmp_path, "leukemia")
    spec = tiny("leukemia")
    with pytest.raises(FileError, match=r"leu\.t is not the published file \(it has 1 lines, not 34\)"):
        _load(replace(spec, sources=(spec.sources[0], SPECS["leukemia"].sources[1])), tmp_path)


@pytest.mark.parametrize("field", ["rows", "classes", "features", "edges"])
def test_wrong_counts_are_told(field, tmp_path):
    put(tmp_path, "citeseer")
    spec = tiny("citeseer")
    counts = spec.counts._replace(**{field: 77})
    with pytest.raises(FileError, match=rf"4 rows, 3 classes, 3 features, 2 edges; expected .*77 {field}.*; replace"):
        _load(replace(spec, counts=counts), tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("citeseer", b"a\t1\t2\tAI\n"),
        ("citeseer", b"a\t1\t0\tAI\nb\t1\tAI\n"),
        ("citeseer", b"a\t1\t0\t1\tAI\nb\t1\tAI\nc\t1\t0\tAI\n"),
        ("citeseer", b"a\t1\tAI\na\t1\tAI\n"),
        ("citeseer", b"<html>"),
        ("citeseer", b""),
        ("polblogs", b"graph []"),
        ("polblogs", GML.replace(b"target 1", b"target 9")),
        ("colon", b"<html>no such page</html>\n"),
        ("ionosphere", b"1,2,g\n1,b\n"),
        ("ionosphere", b"\xff\xfe"),
        ("australian", b"\n"),
        ("ecoli", b"AAT high 0.2 cp\n"),
    ],
)
def test_what_cannot_be_read_is_told(name, content, tmp_path):
    contents = (content, *TINY[name][0][1:])
    put(tmp_path, name, contents=contents)
    spec = tiny(name)
    first = replace(spec.sources[0], sha256=hashlib.sha256(content).hexdigest())
    with pytest.raises(FileError, match=r"expected \d+ rows.*; replace by the files published at http"):
        _load(replace(spec, sources=(first, *spec.sources[1:])), tmp_path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_damaged_packing_is_told(suffix, tmp_path):
    put(tmp_path, "colon", suffix)
    path = tmp_path / f"colon/colon-cancer{suffix}"
    for damaged in (path.read_bytes()[:-9], b"no archive"):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=r"colon-cancer\.\w+ is not the published file \(it cannot be read: "):
            _load(tiny("colon"), tmp_path)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server of what ``pages`` holds, and a cache of our own."""
    pages, hits = {}, []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            hits.append(self.path)
            body, length = pages.get(self.path, (b"", None))
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.delenv("ASKGRAPH_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield SimpleNamespace(
            base=f"http://127.0.0.1:{http.server_port}", pages=pages, hits=hits, cache=tmp_path / "askgraph" / "data"
        )
        http.shutdown()
        thread.join()


def tgz(**members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def zipped(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


CITESEER = {"citeseer/README": b"?", "citeseer/citeseer.content": CONTENT, "citeseer/citeseer.cites": CITES}
PAGES = {
    "citeseer": {"/citeseer.tgz": tgz(**CITESEER)},
    "polblogs": {"/polblogs.zip": zipped(**{"polblogs.txt": b"?", "polblogs.gml": GML})},
    "leukemia": {
        f"/{source.name}.bz2": bz2.compress(content)
        for source, content in zip(SPECS["leukemia"].sources, TINY["leukemia"][0], strict=True)
    },
    "ionosphere": {"/ionosphere.data": TINY["ionosphere"][0][0]},
}


def serve(server, name, change=lambda body: (body, None)):
    server.pages.update({path: change(body) for path, body in PAGES[name].items()})
    return tiny(name, server.base)


def left(server):
    return sorted(path.relative_to(server.cache).as_posix() for path in server.cache.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", PAGES)
def test_files_are_downloaded_once(name, server, tmp_path):
    spec = serve(server, name)
    first, second = _load(spec, None), _load(spec, None)
    assert sorted(server.hits) == sorted(PAGES[name])
    assert first.labels == second.labels
    assert len(first.labels) == spec.counts.rows
    assert left(server) == sorted(source.path for source in spec.sources)


def test_a_terminal_shows_a_bar(server, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    _load(serve(server, "ionosphere"), None)
    assert "downloading ionosphere.data" in capsys.readouterr().err


def test_only_what_is_missing_is_downloaded(server):
    put(server.cache, "leukemia", ".gz")
    (server.cache / "leukemia" / "leu.gz").unlink()
    _load(serve(server, "leukemia"), None)
    assert server.hits == ["/leu.bz2"]


def fails(spec, server, reason):
    """The load fails for this reason, says what to do, and leaves nothing behind."""
    first = spec.sources[0]
    with pytest.raises(FileError, match=reason) as caught:
        _load(spec, None)
    for part in (first.address, f"put {first.name}", f"into {(server.cache / first.path).parent}"):
        assert part in str(caught.value)
    assert left(server) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_is_gone_is_told(name, server):
    fails(tiny(name, server.base), server, r"did not give .* \(HTTP Error 404: Not Found\)")


@pytest.mark.parametrize("name", PAGES)
def test_content_of_another_hash_is_not_kept(name, server):
    spec = serve(server, name)
    wrong = replace(spec.sources[0], sha256="0" * 64)
    fails(replace(spec, sources=(wrong, *spec.sources[1:])), server, "its sha256 is .*, not 0000")


@pytest.mark.parametrize("name", PAGES)
def test_a_download_cut_short_is_not_kept(name, server):
    fails(serve(server, name, lambda body: (body[:-5], len(body))), server, "did not give")


@pytest.mark.parametrize("name", PAGES)
def test_damaged_archives_are_not_kept(name, server):
    fails(serve(server, name, lambda body: (body[:-5], None)), server, "did not give")


@pytest.mark.parametrize("name", PAGES)
def test_other_pages_are_not_kept(name, server):
    fails(serve(server, name, lambda body: (b"<html>Sign in</html>", None)), server, "did not give")


@pytest.mark.parametrize("name", PAGES)
def test_what_is_too_large_is_refused(name, server, monkeypatch):
    monkeypatch.setattr(download, "MAX_BYTES", 20)
    fails(serve(server, name), server, "over 20 bytes")


@pytest.mark.parametrize("name", ["citeseer", "polblogs", "leukemia"])
def test_what_unpacks_to_too_much_is_refused(name, server, monkeypatch):
    bomb = {
        "citeseer": tgz(**{"citeseer/citeseer.content": bytes(10**6)}),
        "polblogs": zipped(**{"polblogs.gml": bytes(10**6)}),
        "leukemia": bz2.compress(bytes(10**6)),
    }[name]
    monkeypatch.setattr(download, "MAX_BYTES", 10**5)
    fails(serve(server, name, lambda body: (bomb, None)), server, "over 100000 bytes")


@pytest.mark.parametrize("name", ["citeseer", "polblogs"])
def test_archives_without_the_file_are_told(name, server):
    pack = {"citeseer": tgz, "polblogs": zipped}[name]
    fails(serve(server, name, lambda body: (pack(README=b"?"), None)), server, r"no \S+ in the archive")


def test_no_network_is_told(server):
    fails(tiny("ionosphere", "http://127.0.0.1:9"), server, "did not give ionosphere.data")


def test_a_cache_that_cannot_be_written_is_told(server):
    server.cache.parent.mkdir()
    server.cache.write_text("a file where the folder should be")
    with pytest.raises(FileError, match=r"did not give ionosphere\.data .*put ionosphere\.data into"):
        _load(serve(server, "ionosphere"), None)


def test_a_given_folder_is_never_downloaded_into(server, tmp_path, monkeypatch):
    spec = serve(server, "ionosphere")
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileError, match=r"put ionosphere\.data, unpacked from"):
        _load(spec, tmp_path / "mine")
    monkeypatch.setenv("ASKGRAPH_DATA", str(tmp_path / "mine"))
    with pytest.raises(FileError, match=r"put ionosphere\.data, unpacked from"):
        _load(spec, None)
    assert server.hits == []
