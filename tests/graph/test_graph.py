"""Graph: any source gives the same checked graph, or an error that says what to do."""

import copy
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

import askgraph as ag
from askgraph.errors import FileError, GraphError, LabelError, MissingExtraError, SettingError
from askgraph.graph import Graph, Report
from tests.helpers.broken import broken_matrices

W = np.array([[0, 1, 0, 0], [1, 0, 2.5, 0], [0, 2.5, 0, 0], [0, 0, 0, 0]])
NAMES = ("ä", 7, ("x", 1), "d")
INDEX = pd.Index(NAMES, tupleize_cols=False)
TRIPLES = [("ä", 7, 1.0), (7, ("x", 1), 2.5)]
quick = settings(deadline=None, max_examples=60)
weights = st.one_of(st.just(0.0), st.floats(1e-12, 1e12))
matrices = st.integers(1, 7).flatmap(lambda n: arrays(float, (n, n), elements=weights)).map(lambda A: np.triu(A, 1))


def networkx_graph(kind=nx.Graph):
    graph = kind()
    graph.add_nodes_from(NAMES)
    graph.add_weighted_edges_from(TRIPLES)
    return graph


FORMS, KINDS = ("csr", "csc", "coo", "dia", "lil", "dok", "bsr"), ("array", "matrix")
SOURCES = {
    "dense": lambda: W,
    "lists": lambda: W.tolist(),
    "float32": lambda: W.astype(np.float32),
    "frame": lambda: pd.DataFrame(W),
    "graph": lambda: Graph(W),
    "networkx": lambda: nx.from_numpy_array(W),
    "integer pairs": lambda: Graph.from_edges([(0, 1, 1.0), (1, 2, 2.5)], nodes=4),
    "integer array": lambda: Graph.from_edges(np.array([[0, 1, 1], [2, 1, 2.5]]), nodes=range(4)),
    **{f"{form}_{kind}": lambda name=f"{form}_{kind}": getattr(sp, name)(W) for form in FORMS for kind in KINDS},
}

NAMED_SOURCES = {
    "networkx": networkx_graph,
    "adjacency frame": lambda: pd.DataFrame(W, index=INDEX, columns=INDEX),
    "triples": lambda: Graph.from_edges(TRIPLES, nodes=NAMES),
    "generator": lambda: Graph.from_edges((row for row in TRIPLES), nodes=iter(NAMES)),
}  # fmt: skip


def assert_checked(graph):
    """What every Graph holds, whatever it came from."""
    A = graph.weights
    assert isinstance(A, sp.csr_array)
    assert A.dtype == np.float64
    assert A.indices.dtype == A.indptr.dtype == np.int32
    assert A.has_canonical_format
    assert (A.data > 0).all()
    assert np.isfinite(A.data).all()
    assert (A.diagonal() == 0).all()
    assert (A != A.T).nnz == 0
    assert graph.names is None or len(graph.names) == graph.n_nodes


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_graph(source):
    graph = Graph(SOURCES[source]())
    assert_checked(graph)
    assert np.array_equal(graph.weights.toarray(), W)
    assert (graph.names, graph.n_nodes, graph.n_edges) == (None, 4, 2)


@pytest.mark.parametrize("source", NAMED_SOURCES)
def test_every_named_source_keeps_its_names(source):
    graph = Graph(NAMED_SOURCES[source]())
    assert np.array_equal(graph.weights.toarray(), W)
    assert graph.names == NAMES
    assert [graph.index(name) for name in NAMES] == [0, 1, 2, 3]
    assert tuple(graph.name(i) for i in range(4)) == NAMES


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_of_edges(frame):
    text = frame({"id": [5, 6], "Source": ["ann", "bob"], "Target": ["bob", "ćy"], "Weight": [1.0, 2.5]})
    assert Graph(text).names == ("ann", "bob", "ćy")
    assert Graph(text).weights[1, 2] == 2.5
    assert "ignored columns: id" in Graph(text).notes
    assert Graph(frame({"a": [0, 1], "b": [1, 2]})).weights.sum() == 4
    assert Graph.from_edges(frame({"a": ["x"], "b": ["y"], "similarity": [3]}), nodes=["y", "x", "z"]).degrees[0] == 3


def test_the_source_is_left_alone():
    source = sp.csr_array(W)
    graph = Graph(source)
    graph.weights.data[:] = 9
    assert np.array_equal(source.toarray(), W)
    dense = W.copy()
    Graph(dense).weights.data[:] = 9
    assert np.array_equal(dense, W)


@given(matrices)
@quick
def test_laws_of_a_symmetric_matrix(upper):
    A = upper + upper.T
    graph = Graph(A)
    assert_checked(graph)
    assert np.array_equal(graph.weights.toarray(), A)
    assert np.allclose(graph.degrees, A.sum(axis=1), rtol=1e-14, atol=0)
    assert np.allclose(graph.laplacian().toarray(), np.diag(A.sum(axis=1)) - A, rtol=1e-14, atol=0)
    parts = [sorted(part) for part in nx.connected_components(nx.from_numpy_array(A))]
    assert sorted(np.flatnonzero(graph.components() == c).tolist() for c in set(graph.components())) == sorted(parts)
    assert graph.report().largest == graph.largest_component().n_nodes == max(map(len, parts))


@given(matrices, st.randoms(use_true_random=False))
@quick
def test_edges_in_any_direction_and_order_give_the_matrix(upper, random):
    i, j = np.nonzero(upper)
    rows = [(a, b, upper[a, b]) if random.random() < 0.5 else (b, a, upper[a, b]) for a, b in zip(i, j, strict=True)]
    random.shuffle(rows)
    graph = Graph.from_edges(rows, nodes=len(upper))
    assert_checked(graph)
    assert np.array_equal(graph.weights.toarray(), upper + upper.T)
    twice = Graph.from_edges(rows + [(b, a, w) for a, b, w in rows], nodes=len(upper))
    assert np.array_equal(twice.weights.toarray(), upper + upper.T)


@given(matrices)
@quick
def test_symmetrize(upper):
    for how, expected in (("mean", upper / 2 + upper.T / 2), ("max", upper + upper.T), ("sum", upper + upper.T)):
        graph = Graph(upper, symmetrize=how)
        assert_checked(graph)
        assert np.array_equal(graph.weights.toarray(), expected)
        assert not upper.any() or any("symmetrized" in note for note in graph.notes)
        again = Graph(graph.weights, symmetrize=how)
        assert np.array_equal(again.weights.toarray(), expected)


@given(matrices)
@quick
def test_networkx_and_back(upper):
    graph = Graph(upper + upper.T, names=[f"n{i}" for i in range(len(upper))])
    back = Graph(graph.to_networkx())
    assert back.names == graph.names
    assert (back.weights != graph.weights).nnz == 0


@given(matrices, st.data())
@quick
def test_subgraph_is_indexing(upper, data):
    A = upper + upper.T
    names = [f"n{i}" for i in range(len(A))]
    index = data.draw(st.lists(st.integers(0, len(A) - 1), min_size=1, unique=True))
    part = Graph(A, names).subgraph([names[i] for i in index])
    assert np.array_equal(part.weights.toarray(), A[np.ix_(index, index)])
    assert part.names == tuple(names[i] for i in index)
    mask = np.isin(np.arange(len(A)), index)
    assert np.array_equal(Graph(A).subgraph(mask).weights.toarray(), A[np.ix_(mask, mask)])


def test_roundoff_is_no_asymmetry_but_more_is():
    rows = np.random.default_rng(0).random((30, 5))
    A = rows @ rows.T
    A[3, 4] *= 1 + 1e-13
    assert_checked(Graph(A))
    assert Graph(A).notes == ("dropped 30 self-loops",)
    assert Graph([[0, 1, 1e-17], [1, 0, 1], [0, 1, 0]]).weights[2, 0] == 5e-18  # what a product leaves at right angles
    A[3, 4] *= 1 + 1e-9
    with pytest.raises(GraphError, match=r"not symmetric: 2 of .* \(3, 4\)"):
        Graph(A)
    with pytest.raises(GraphError, match="not symmetric"):  # tiny beside others, yet no roundoff where it stands
        Graph([[0, 1e12, 0], [1e12, 0, 1e-12], [0, 0, 0]])


def test_tiny_and_huge_weights_survive():
    A = np.array([[0, 1e-12, 0], [1e-12, 0, 1e12], [0, 1e12, 0]])
    assert np.array_equal(Graph(A).weights.toarray(), A)
    assert np.array_equal(
        Graph.from_edges([(0, 1, 1e-300), (1, 2, 1e300)]).weights.data, [1e-300, 1e-300, 1e300, 1e300]
    )


EDGES = {
    "one direction": ([("a", "b", 2)], 2, ()),
    "both, alike": ([("a", "b", 2), ("b", "a", 2)], 2, ("counted once 1 edge listed in both directions",)),
    "both, unlike": ([("a", "b", 2), ("b", "a", 4)], 3, ("took the mean for 1 edge listed in both directions",)),
    "repeated": ([("a", "b", 2), ("a", "b", 2), ("a", "b")], 5, ("added up 2 repeated edges",)),
    "self-loop": ([("a", "b", 2), ("b", "b", 9)], 2, ("dropped 1 self-loop",)),
    "zero weight": ([("a", "b", 2), ("b", "c", 0)], 2, ("dropped 1 zero weight",)),
    "bool weight": ([("a", "b", True)], 1, ()),
    "numpy names": ([(np.str_("a"), np.str_("b"), np.float32(2))], 2, ()),
}


@pytest.mark.parametrize("case", EDGES)
def test_what_an_edge_list_means(case):
    rows, weight, notes = EDGES[case]
    graph = Graph.from_edges(rows)
    assert (graph.weights[0, 1], graph.names[:2], graph.notes) == (weight, ("a", "b"), notes)
    assert all(type(name) is str for name in graph.names)


def test_edge_lists_listed_both_ways_as_asked():
    rows = [("a", "b", 2), ("b", "a", 4), ("b", "c", 1)]
    for how, weight in (("mean", 3), ("max", 4), ("sum", 6)):
        graph = Graph.from_edges(rows, symmetrize=how)
        assert (graph.weights[0, 1], graph.weights[1, 2]) == (weight, 1)


def test_integer_ids_are_indices_only_if_they_fill_the_range():
    assert Graph.from_edges([(2, 0), (0, 1)]).names is None
    assert Graph.from_edges(np.array([[2, 0], [0, 1]], dtype=np.uint64)).names is None
    gaps = Graph.from_edges([(30, 10), (10, 20)])
    assert gaps.names == (10, 20, 30)
    assert "nodes=" in gaps.notes[0]
    assert Graph.from_edges([(1, 2), (2, 3)]).names == (1, 2, 3)
    assert Graph.from_edges([(1, 2), (2, 3)]).notes == ()
    assert Graph.from_edges([(0, 1), (1, 3), (3, 0)]).names == (0, 1, 3)
    assert Graph.from_edges([(True, False)]).names == (True, False)
    assert Graph.from_edges([(2**63, 1)]).names == (2**63, 1)
    assert Graph.from_edges(np.array([[0.0, 1.0, 0.5]])).weights[0, 1] == 0.5
    assert Graph([(0, 1), (1, 2)]).n_nodes == 3  # tuples are edges, lists are rows of a matrix
    assert Graph.from_edges([], nodes=3).report().isolated == 3
    assert Graph.from_edges(np.empty((0, 2), dtype=int), nodes=2).n_edges == 0


def test_directed_input_is_symmetrized_and_says_so():
    directed = Graph(networkx_graph(nx.DiGraph))
    assert np.array_equal(directed.weights.toarray(), W / 2)
    assert directed.notes == ("directed input: symmetrized as (W + W^T)/2",)
    assert np.array_equal(Graph(networkx_graph(nx.DiGraph), symmetrize="max").weights.toarray(), W)
    multi = Graph(nx.MultiGraph([("a", "b"), ("b", "a")]))
    assert (multi.weights[0, 1], multi.notes) == (2, ("added up 1 repeated edge",))


def with_weight(weight):
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=weight)
    return graph


BAD = {
    "no nodes": (lambda: Graph(np.empty((0, 0))), "no nodes"),
    "no edges and no nodes": (lambda: Graph.from_edges([]), "no nodes"),
    "empty networkx": (lambda: Graph(nx.Graph()), "no nodes"),
    "not square": (lambda: Graph(np.ones((2, 3))), r"square.*\(2, 3\).*from_edges"),
    "one dimension": (lambda: Graph([1, 2]), "square"),
    "sparse not square": (lambda: Graph(sp.csr_array((2, 3))), "square"),
    "ragged": (lambda: Graph([[0, 1], [1]]), "not a matrix"),
    "dict": (lambda: Graph({"a": ["b"]}), "a dict is not a graph"),
    "path": (lambda: Graph("graph.csv"), "read_graph"),
    "complex": (lambda: Graph(W * 1j), "complex128"),
    "object": (lambda: Graph(W.astype(object)), "object"),
    "text": (lambda: Graph([["a", "b"], ["b", "a"]]), "from_edges"),
    "masked": (lambda: Graph(np.ma.masked_equal(W, 2.5)), "masked"),
    "asymmetric": (lambda: Graph(np.triu(W)), r"first \(0, 1\) with 1.0 there and 0.0 back; .*symmetrize=\"max\""),
    "negative": (lambda: Graph(-W, names="abcd"), r"\('a', 'b'\) has weight -1.0 \(4 such"),
    "negative loop": (lambda: Graph([[-1.0]]), r"\(0, 0\) has weight -1.0:"),
    "cancelling": (lambda: Graph.from_edges([(0, 1, 2), (0, 1, -2)]), r"\(0, 1\) has weight -2"),
    "nan": (lambda: Graph(np.where(W == 2.5, np.nan, W)), r"\(1, 2\) has weight nan"),
    "inf": (lambda: Graph.from_edges([("a", "b", np.inf)]), r"\('a', 'b'\) has weight inf"),
    "sparse inf": (lambda: Graph(sp.coo_array(([-np.inf], ([0], [1])), shape=(2, 2))), "has weight -inf"),
    "too large": (lambda: Graph.from_edges([("a", "b", 1e308)]), r"\('a', 'b'\) has weight 1e\+308"),
    "text weight": (lambda: Graph(with_weight("heavy")), "'heavy' is not a real number"),
    "no weight": (lambda: Graph(with_weight(None)), "None is not a real number"),
    "mixed weights": (lambda: Graph.from_edges([("a", "b", 1), ("b", "c", "2")]), "'2' is not a real number"),
    "complex weight": (lambda: Graph.from_edges([("a", "b", 1j)]), "1j is not a real number"),
    "too few names": (lambda: Graph(W, names="abc"), "3 names for 4 nodes"),
    "name twice": (lambda: Graph(W, names=["é", "b", "c", "é"]), "'é' is given twice"),
    "name None": (lambda: Graph(W, names=["a", "b", None, "d"]), "node 2 has None"),
    "name nan": (lambda: Graph(W, names=[1, 2, 3, np.nan]), "node 3 has nan"),
    "name list": (lambda: Graph(W, names=[[1], 2, 3, 4]), "hashable"),
    "node twice": (lambda: Graph.from_edges([("a", "b")], nodes=["a", "b", "a"]), "'a' is given twice"),
    "unknown node": (lambda: Graph.from_edges([("a", "b")], nodes=["a"]), "'b', which is not in nodes"),
    "node out of range": (lambda: Graph.from_edges([(0, 5)], nodes=3), "ends at 5"),
    "missing end": (lambda: Graph.from_edges([("a", "b"), ("b", None)]), "edge 1 .*missing"),
    "missing in frame": (lambda: Graph(pd.DataFrame({"a": ["x", None], "b": ["y", "z"]})), "edge 1 .*missing"),
    "null in frame": (lambda: Graph(pl.DataFrame({"a": [1, None], "b": [2, 3]})), "edge 1 .*nan"),
    "unhashable end": (lambda: Graph.from_edges([("a", ["b"])]), "hashable"),
    "text edge": (lambda: Graph.from_edges(["ab"]), r"edge 0 .*'ab'"),
    "long edge": (lambda: Graph.from_edges([(0, 1), (0, 1, 2, 3)]), "edge 1"),
    "set of edges": (lambda: Graph.from_edges({("a", "b")}), "no order"),
    "transposed": (lambda: Graph.from_edges(np.zeros((2, 9), dtype=int)), "transpose"),
    "points as edges": (lambda: Graph.from_edges(np.array([[0.5, 1.0]])), "endpoint 0.5"),
    "vast ids": (lambda: Graph.from_edges(np.array([[2.0**60, 1.0]])), r"endpoint 1.15.*e\+18"),
    "wide frame": (lambda: Graph(pd.DataFrame(np.zeros((5, 4)))), "4 columns"),
    "text in frame": (lambda: Graph(pd.DataFrame({"a": [1], "b": [2], "kind": ["x"]})), "column 'kind' 'x'"),
    "mask": (lambda: Graph(W).subgraph(np.array([True])), "mask"),
    "subgraph twice": (lambda: Graph(W).subgraph([1, 1]), "given twice"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_says_what_came_and_what_to_do(case):
    make, message = BAD[case]
    with pytest.raises(GraphError, match=message):
        make()


def test_settings_are_checked():
    with pytest.raises(SettingError, match="symmetrize='min'"):
        Graph(W, symmetrize="min")


@pytest.mark.parametrize(
    ("names", "wanted", "hint"),
    [
        (["Alice", "Bob"], "alise", "did you mean 'Alice'"),
        ([10, 11], "10", "did you mean 10"),
        (["a", "b"], "zebra", "its nodes are 'a', 'b'"),
        (["a", "b"], ["a"], "no node"),
        (None, 2, "nodes are 0 to 1"),
        (None, -1, "nodes are 0 to 1"),
        (None, True, "nodes are 0 to 1"),
        (None, "0", "nodes are 0 to 1"),
    ],
)
def test_an_unknown_node_gets_a_hint(names, wanted, hint):
    with pytest.raises(LabelError, match=hint):
        Graph([[0, 1], [1, 0]], names).index(wanted)


def test_names_and_indices():
    graph = Graph([[0, 1], [1, 0]])
    assert graph.index(np.int32(1)) == 1
    assert type(graph.index(np.int32(1))) is int
    assert Graph(graph, names=range(2)).names is None
    for index in (-1, 2):
        with pytest.raises(LabelError, match="0 to 1"):
            graph.name(index)


def test_report():
    graph = Graph.from_edges([("a", "b", 2), ("b", "c"), ("d", "d")], nodes="abcde")
    assert graph.report() == Report(5, 2, 3, 3, 2, 0.0, 1.0, 1.2, 3.0, 1.0, 2.0, ("dropped 1 self-loop",))
    text = str(graph.report())
    for part in ("5 nodes, 2 edges, 2 isolated", "3 components, the largest of 3 nodes", "note: dropped 1 self-loop"):
        assert part in text


ODD = {
    "one node": (lambda: Graph([[0]]), 1, 0, 1),
    "one node with a loop": (lambda: Graph([[5.0]]), 1, 0, 1),
    "all isolated": (lambda: Graph(sp.csr_array((4, 4))), 4, 0, 4),
    "two parts": (lambda: Graph.from_edges([(0, 1), (2, 3)]), 4, 2, 2),
    "star": (lambda: Graph.from_edges([(0, i) for i in range(1, 2001)]), 2001, 2000, 1),
    "path": (lambda: Graph(sp.diags_array([np.ones(99_999)] * 2, offsets=[-1, 1])), 100_000, 99_999, 1),
    "complete": (lambda: Graph(np.ones((2000, 2000))), 2000, 1_999_000, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", ODD)
def test_odd_graphs_are_legal(case):
    make, nodes, edges, components = ODD[case]
    graph = make()
    report = graph.report()
    assert (report.nodes, report.edges, report.components) == (nodes, edges, components)
    assert_checked(graph)
    assert all(np.isfinite(value) for value in vars(report).values() if isinstance(value, float))


def test_largest_component_speaks_the_old_indices():
    graph = Graph.from_edges([(0, 1), (2, 3), (3, 4)], nodes=6)
    part = graph.largest_component()
    assert part.names == (2, 3, 4)
    assert part.index(4) == 2
    assert part.notes[-1] == "kept 3 of 6 nodes"
    assert part.largest_component() is part


@given(matrices, st.data())
@settings(deadline=None, max_examples=30)
def test_save_and_load(tmp_path_factory, upper, data):
    path = tmp_path_factory.mktemp("saved") / "graph.npz"
    plain = st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False)
    names = data.draw(
        st.none() | st.lists(plain | st.tuples(plain, plain), min_size=len(upper), max_size=len(upper), unique=True)
    )
    graph = Graph(upper + upper.T, names).noted("ünique")
    graph.save(path)
    back = Graph.load(path)
    assert (back.weights != graph.weights).nnz == 0
    assert back.names == graph.names
    assert list(map(type, back.names or ())) == list(map(type, graph.names or ()))
    assert back.notes == graph.notes
    assert (sp.load_npz(path) != graph.weights).nnz == 0
    assert [p.name for p in path.parent.iterdir()] == ["graph.npz"]


def test_load_reads_what_scipy_saved(tmp_path):
    for form in ("csr", "csc", "coo"):
        sp.save_npz(tmp_path / "w.npz", sp.csr_array(np.triu(W)).asformat(form))
        assert np.array_equal(Graph.load(tmp_path / "w.npz", symmetrize="max").weights.toarray(), W)
    with pytest.raises(FileError, match=r"w.npz: weights are not symmetric"):
        Graph.load(tmp_path / "w.npz")


def test_names_that_json_cannot_hold_are_refused(tmp_path):
    with pytest.raises(FileError, match="frozenset"):
        Graph([[0, 1], [1, 0]], [frozenset("a"), "b"]).save(tmp_path / "g.npz")
    with pytest.raises(FileError, match="cannot be written"):
        Graph([[0]]).save(tmp_path / "no" / "g.npz")
    assert list(tmp_path.iterdir()) == []


def stored(path, **changes):
    """A saved graph with some arrays replaced."""
    A = sp.csr_array(W)
    good = {"format": b"csr", "shape": A.shape, "data": A.data, "indices": A.indices, "indptr": A.indptr}
    np.savez(path, allow_pickle=True, **{k: v for k, v in {**good, **changes}.items() if v is not None})


DAMAGED = {
    "index too large": {"indices": np.array([1, 0, 2, 999_999], dtype=np.int32)},
    "index negative": {"indices": np.array([1, 0, 2, -7], dtype=np.int32)},
    "pointer falls": {"indptr": np.array([0, 3, 1, 4, 4], dtype=np.int32)},
    "pointer far": {"indptr": np.array([0, 10**8, 4, 4, 4], dtype=np.int32)},
    "pointer short": {"indptr": np.array([0, 1], dtype=np.int32)},
    "objects": {"data": np.array([1, 2.5, {}, None], dtype=object)},
    "format": {"format": b"dia"},
    "no format": {"format": None},
    "names": {"names": json.dumps(["a"])},
    "json": {"names": "{"},
    "notes": {"notes": "3"},
    "vast": {"format": b"coo", "row": np.array([0]), "col": np.array([1]), "data": np.ones(1), "shape": (2**40, 2**40)},
    "wide": {
        "format": b"coo",
        "row": np.arange(2),
        "col": np.array([1, 0]),
        "data": np.ones(2),
        "shape": (2**25, 2**25),
    },
    "not square": {"shape": (4, 9)},
    "nan": {"data": np.full(4, np.nan)},
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_are_named(case, tmp_path):
    stored(tmp_path / "bad.npz", **DAMAGED[case])
    with pytest.raises(FileError, match=r"bad\.npz"):
        Graph.load(tmp_path / "bad.npz")


def test_a_file_that_would_unpack_without_end_is_refused(tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("data.npy", "w") as entry,
    ):
        for _ in range(80):
            entry.write(bytes(2**20))
    with pytest.raises(FileError, match="would unpack to"):
        Graph.load(tmp_path / "bomb.npz")


def complaint(make):
    """What a FileError said, if there was one."""
    try:
        make()
    except FileError as error:
        return str(error)


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_no_damage_to_a_saved_graph_escapes(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "fuzz.npz"
    Graph(W, names=["a", "b", "c", "d"]).save(path)
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=8)):
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    said = complaint(lambda: assert_checked(Graph.load(path)))
    assert said is None or "fuzz.npz" in said


def test_a_graph_is_a_value():
    graph = Graph(W)
    with pytest.raises(AttributeError):
        graph.weights = None
    with pytest.raises(ValueError, match="read-only"):
        graph.degrees[0] = 1
    for twin in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert (twin.weights != graph.weights).nnz == 0
    assert graph != Graph(W)
    assert len({graph, graph}) == 1


def test_networkx_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r'pip install "askgraph\[networkx\]"'):
        Graph(W).to_networkx()


@pytest.fixture(scope="module")
def refusals():
    """What was said of each broken matrix, in a process of its own: one that is not refused damages memory, and the process."""
    command = [sys.executable, "-m", "tests.helpers.broken"]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300, check=False
    )
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("name", broken_matrices())
def test_a_broken_sparse_matrix_is_refused_before_any_compiled_loop(refusals, name):
    assert "index arrays" in refusals[name]


@pytest.mark.parametrize("k", [5, 10, 30])
def test_distances_given_as_weights_are_noticed(k):
    X = load_digits().data[:400]
    near = kneighbors_graph(X, k, mode="distance")
    assert any("look like distances" in note for note in Graph(near, symmetrize="max").notes)
    assert any("look like distances" in note for note in Graph(cdist(X, X)).notes)


def test_weights_are_not_taken_for_distances():
    X = load_digits().data[:400]
    knn, links = ag.nearest_neighbors(X, 10).weights, ag.power_law(500, m=5, rng=0).weights
    scale, noise = sp.diags_array(np.diff(links.indptr) ** -0.5), np.random.default_rng(0).random((200, 200))
    for W in (
        knn,
        links,
        scale @ links @ scale,
        noise + noise.T,
        np.exp(-((cdist(X, X) / 30) ** 2)),
        ag.pearson(X).weights,
    ):
        assert not any("distances" in note for note in Graph(W).notes)


def test_a_networkx_weight_of_another_name_is_named():
    (note,) = Graph(nx.Graph([(0, 1, {"label": "a", "similarity": 0.3}), (1, 2, {})])).notes
    assert "'similarity'" in note
    for g in (nx.Graph([(0, 1, {"weight": 2.0, "age": 3})]), nx.Graph([(0, 1, {"kind": "friend"})]), nx.path_graph(3)):
        assert Graph(g).notes == ()


def test_a_table_of_features_leads_to_the_way_to_give_them():
    X = load_digits().data[:40]
    for table in (X, pd.DataFrame(X)):
        for use in (ag.Graph, ag.Learner):
            with pytest.raises(GraphError, match="nearest_neighbors"):
                use(table)
