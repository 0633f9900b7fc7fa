"""Objects of other libraries give the graph that plain edges give, and nothing of theirs is imported before they come."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

import askgraph as ag
from tests.helpers.clients import client
from tests.helpers.engines import gpu_missing

EDGES = [(0, 1), (0, 2), (1, 2), (3, 4), (2, 3)]
WEIGHTS = [1.0, 0.5, 2.0, 0.25, 3.0]
TRIPLES = [(i, j, w) for (i, j), w in zip(EDGES, WEIGHTS, strict=True)]
WANT = ag.Graph.from_edges(TRIPLES, nodes=6)  # node 5 has no edge
PLAIN = ag.Graph.from_edges(EDGES, nodes=6)
X = load_digits().data[:300]


def same(graph, want=WANT, names=None):
    assert (graph.weights != want.weights).nnz == 0
    assert graph.names == names
    return graph


class TestPyTorch:
    @pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
    def test_a_sparse_tensor_of_any_layout_is_a_matrix(self):
        torch = client("torch")
        dense = torch.tensor(WANT.weights.toarray())
        for tensor in (dense, dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc(), dense.requires_grad_()):
            same(ag.Graph(tensor))

    def test_half_precision_and_gradients_do_not_matter(self):
        torch = client("torch")
        points = torch.tensor(X, dtype=torch.bfloat16)
        same(ag.nearest_neighbors(points, 5), ag.nearest_neighbors(points.float().numpy(), 5))
        same(ag.nearest_neighbors(torch.nn.Parameter(torch.tensor(X)), 5), ag.nearest_neighbors(X, 5))

    def test_labels_are_plain_values(self):
        torch = client("torch")
        told, learner = torch.tensor([0, 0, 0, 1, 1, 1]), ag.Learner(ag.chain(6), rng=0)
        for node in (0, 1, 5, 4):
            learner.tell(node, told[node])
        assert learner.classes == [0, 1]
        assert learner.probabilities().shape == (6, 2)
        assert ag.GraphClassifier(k=3).fit(X[:6], told).classes_.tolist() == [0, 1]


class TestPyTorchGeometric:
    def test_data_with_weights_and_without(self):
        torch, data = client("torch"), client("torch_geometric.data")
        index = torch.tensor(EDGES).T
        both = torch.cat([index, index.flip(0)], dim=1)
        same(ag.Graph(data.Data(edge_index=index, num_nodes=6)), PLAIN)
        same(ag.Graph(data.Data(edge_index=both, num_nodes=6)), PLAIN)
        weights = torch.tensor(WEIGHTS, dtype=torch.float64)
        weighted = ag.Graph(data.Data(edge_index=index, edge_weight=weights, num_nodes=6))
        assert "weights are edge_weight" in same(weighted).notes
        same(ag.Graph(data.Data(edge_index=index, edge_attr=weights[:, None], num_nodes=6)))
        wide = ag.Graph(data.Data(edge_index=index, edge_attr=torch.ones(5, 3), num_nodes=6))
        assert "ignored edge_attr" in same(wide, PLAIN).notes[0]

    def test_a_graph_without_edges_is_named(self):
        data = client("torch_geometric.data")
        with pytest.raises(ag.GraphError, match="edge_index"):
            ag.Graph(data.Data(num_nodes=3))

    def test_an_edge_index_alone(self):
        torch = client("torch")
        same(ag.Graph(torch.tensor([*EDGES, (5, 5)]).T), PLAIN)


def test_an_edge_index_of_numpy_keeps_its_indices():
    index = np.array([*EDGES, (7, 9)]).T
    graph = ag.Graph(index)
    assert graph.n_nodes == 10
    assert graph.names is None
    assert "edge_index" in graph.notes[-1]
    assert ag.Graph(np.array([[0, 1], [1, 0]])).n_edges == 1  # a 2 × 2 table is a matrix
    with pytest.raises(ag.GraphError, match="square"):
        ag.Graph(index.astype(float))


class DGLGraph:
    """A graph with the methods of DGL's: no release of DGL loads beside the versions of PyTorch that are tested here."""

    canonical_etypes = (("_N", "_E", "_N"),)

    def __init__(self, **edata):
        self.edata = edata

    def edges(self):
        return tuple(np.array(EDGES).T)

    def num_nodes(self):
        return 6


DGLGraph.__module__ = "dgl.heterograph"


def test_dgl():
    same(ag.Graph(DGLGraph()), PLAIN)
    assert "weights are edata['w']" in same(ag.Graph(DGLGraph(w=np.array(WEIGHTS)))).notes


def test_igraph():
    igraph = client("igraph")
    graph = igraph.Graph(n=6, edges=EDGES)
    same(ag.Graph(graph), PLAIN)
    graph.es["weight"] = WEIGHTS
    same(ag.Graph(graph))
    graph.vs["name"] = list("abcdef")
    same(ag.Graph(graph), names=tuple("abcdef"))
    directed = ag.Graph(igraph.Graph(n=6, edges=EDGES, directed=True), symmetrize="max")
    assert "directed" in same(directed, PLAIN).notes[0]


def test_rustworkx():
    rustworkx = client("rustworkx")
    graph = rustworkx.PyGraph()
    graph.add_nodes_from([*"abcdefg"])
    graph.add_edges_from(TRIPLES)
    graph.remove_node(6)
    same(ag.Graph(graph), names=tuple("abcdef"))
    directed = rustworkx.PyDiGraph()
    directed.add_nodes_from([None] * 6)
    directed.add_edges_from(TRIPLES)
    same(ag.Graph(directed, symmetrize="max"))
    holding = rustworkx.PyGraph()
    holding.add_nodes_from([None] * 6)
    holding.add_edges_from([(i, j, {"kind": "friend"}) for i, j in EDGES])
    assert "weight 1" in same(ag.Graph(holding), PLAIN).notes[0]


class TestNeighborSearch:
    """Every search gives the graph of the exact one: these are small enough to be searched exactly."""

    K = 10
    WANT = ag.nearest_neighbors(X, K)

    def alike(self, graph, tolerance=1e-3, share=0.99):
        """Weights agree where both have an edge, and nearly all edges are in both: float32 settles ties otherwise."""
        both = graph.weights.multiply(self.WANT.weights).nnz
        assert both > share * max(graph.weights.nnz, self.WANT.weights.nnz)
        there = graph.weights.astype(bool).multiply(self.WANT.weights) - self.WANT.weights.astype(bool).multiply(
            graph.weights
        )
        assert np.quantile(abs(there).data, 0.95, method="lower") < tolerance if there.nnz else True

    def test_scikit_learn(self):
        found = NearestNeighbors(n_neighbors=self.K + 1).fit(X).kneighbors(X)
        self.alike(ag.from_neighbors(*found))
        self.alike(ag.Graph(found))
        self.alike(ag.Graph(found[::-1]))

    def test_faiss(self):
        faiss = client("faiss")
        index = faiss.IndexFlatL2(X.shape[1])
        index.add(X.astype(np.float32))
        self.alike(ag.from_neighbors(*index.search(X.astype(np.float32), self.K + 1), squared=True))

    def test_hnswlib(self):
        hnswlib = client("hnswlib")
        index = hnswlib.Index(space="l2", dim=X.shape[1])
        index.init_index(max_elements=len(X), random_seed=0)
        index.add_items(X)
        index.set_ef(100)
        indices, distances = index.knn_query(X, self.K + 1)
        self.alike(ag.from_neighbors(distances, indices, squared=True), share=0.97)

    def test_pynndescent(self):
        pynndescent = client("pynndescent")
        indices, distances = pynndescent.NNDescent(X, n_neighbors=self.K + 1, random_state=0).neighbor_graph
        self.alike(ag.from_neighbors(distances, indices), share=0.95)

    def test_usearch(self):
        index_module = client("usearch.index")
        index = index_module.Index(ndim=X.shape[1], metric="l2sq", dtype="f32")
        index.add(np.arange(len(X)), X.astype(np.float32))
        matches = index.search(X.astype(np.float32), self.K + 1, exact=True)
        self.alike(ag.from_neighbors(matches.distances, matches.keys, squared=True))
        assert "squared" in ag.Graph(matches).notes[0]

    def test_none_found_and_names(self):
        d, j = (
            np.array([[0.0, 1.0, 9.0], [0.0, 1.0, 9.0], [0.0, 2.0, 9.0]]),
            np.array([[0, 1, -1], [1, 0, -1], [2, 1, -1]]),
        )
        graph = ag.from_neighbors(d, j, bandwidth=None, names="abc")
        assert graph.n_edges == 2
        assert graph.names == ("a", "b", "c")

    @pytest.mark.parametrize(
        ("d", "j", "word"),
        [
            ([[0.0, 1.0]], [[0, 1]], "indexed"),
            ([[0.9, 0.5, 0.1]] * 4, [[0, 1, 2]] * 4, "fall"),
            ([[0.0, np.nan]] * 2, [[0, 1]] * 2, "finite"),
            ([[0.0, 1.0]] * 2, [[0.0, 1.0]] * 2, "whole"),
            ([0.0, 1.0], [0, 1], "row per point"),
        ],
    )
    def test_what_is_no_search_is_named(self, d, j, word):
        with pytest.raises(ag.GraphError, match=word):
            ag.from_neighbors(d, j)


class TestTables:
    POINTS = np.round(X[:40, 10:14], 2) + np.arange(40)[:, None] / 100

    @pytest.fixture
    def want(self):
        return ag.nearest_neighbors(self.POINTS, 3)

    def test_pyarrow(self, want):
        pa = client("pyarrow")
        same(ag.nearest_neighbors(pa.table({c: self.POINTS[:, k] for k, c in enumerate("abcd")}), 3), want)
        i, j = zip(*EDGES, strict=True)
        table = pa.table({"source": i, "target": j, "weight": WEIGHTS})
        same(ag.Graph.from_edges(table, nodes=6))
        assert ag.Graph(table).n_edges == 5
        words = pa.table({"source": list("ab"), "target": list("bc")})
        assert ag.Graph(words).names == ("a", "b", "c")
        lists = pa.table({"embedding": pa.array(self.POINTS.tolist())})
        same(ag.nearest_neighbors(lists, 3), want)
        fixed = pa.chunked_array(
            [pa.FixedSizeListArray.from_arrays(pa.array(p.ravel()), 4) for p in np.split(self.POINTS, 2)]
        )
        same(ag.nearest_neighbors(pa.table({"embedding": fixed}), 3), want)
        with pytest.raises(ag.GraphError, match="not numeric"):
            ag.nearest_neighbors(pa.table({"text": ["a", "b", "c"]}), 1)
        with pytest.raises(ag.GraphError, match="not numeric"):
            ag.nearest_neighbors(pa.table({"ragged": [[1.0], [1.0, 2.0], [3.0]]}), 1)

    def test_polars(self, want):
        pl = client("polars")
        frame = pl.DataFrame(self.POINTS, schema=list("abcd"))
        same(ag.nearest_neighbors(frame.lazy(), 3), want)
        same(ag.nearest_neighbors(frame.select(pl.concat_list("a", "b", "c", "d")), 3), want)
        edges = pl.DataFrame(TRIPLES, schema=["source", "target", "weight"], orient="row").lazy()
        assert ag.Graph(edges).n_edges == 5

    def test_pandas_column_of_embeddings(self, want):
        pd = client("pandas")
        frame = pd.DataFrame({"embedding": list(self.POINTS)}, index=list(range(5, 45)))
        same(ag.nearest_neighbors(frame, 3), want, names=tuple(range(5, 45)))

    def test_hugging_face(self, want):
        datasets = client("datasets")
        rows = datasets.Dataset.from_dict({"embedding": self.POINTS.tolist(), "text": ["a"] * 40})
        same(ag.nearest_neighbors(rows.select_columns("embedding"), 3), want)
        same(ag.nearest_neighbors(rows["embedding"], 3), want)
        half = rows.select(range(0, 40, 2)).select_columns("embedding")
        same(ag.nearest_neighbors(half, 3), ag.nearest_neighbors(self.POINTS[::2], 3))
        with pytest.raises(ag.GraphError, match="train"):
            ag.nearest_neighbors(datasets.DatasetDict(train=rows), 3)

    def test_geopandas(self):
        geopandas = client("geopandas")
        rng = np.random.default_rng(0)
        xy, names = rng.random((30, 2)) * 1000, tuple(f"s{k}" for k in range(30))
        points = geopandas.GeoDataFrame({"a": range(30)}, geometry=geopandas.points_from_xy(*xy.T), index=list(names))
        same(ag.nearest_neighbors(points, 4), ag.nearest_neighbors(xy, 4), names)
        same(
            ag.nearest_neighbors(points.buffer(5), 4, bandwidth=None),
            ag.nearest_neighbors(xy, 4, bandwidth=None),
            names,
        )
        around = np.column_stack([np.linspace(-179.9, 179.9, 24), np.zeros(24)])  # the equator, across the date line
        globe = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(*around.T), crs="EPSG:4326")
        assert ag.nearest_neighbors(globe, 2).weights[0, 23] > 0


def test_dlpack_of_whatever_library():
    class Held:
        """An array that speaks nothing but DLPack."""

        def __init__(self, values):
            self.values, self.shape = values, values.shape

        def __dlpack__(self, **options):
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    same(ag.nearest_neighbors(Held(X), 5), ag.nearest_neighbors(X, 5))
    same(ag.Graph(Held(WANT.weights.toarray())))


def test_arrays_of_a_gpu_are_copied_here():
    class OnDevice:
        """As CuPy has arrays and sparse matrices: get() copies them to the host."""

        __module__ = "cupy"

        def __init__(self, values):
            self.values = values

        def get(self):
            return self.values

    OnDevice.__module__ = "cupy"
    same(ag.Graph(OnDevice(WANT.weights)))
    same(ag.nearest_neighbors(OnDevice(X), 5), ag.nearest_neighbors(X, 5))


@pytest.mark.gpu
def test_cupy_itself():
    if reason := gpu_missing():
        pytest.skip(reason)
    import cupy
    import cupyx.scipy.sparse as cupyx

    same(ag.Graph(cupyx.csr_matrix(sp.csr_matrix(WANT.weights))))
    same(ag.nearest_neighbors(cupy.asarray(X), 5), ag.nearest_neighbors(X, 5))


@pytest.mark.slow
def test_nothing_is_imported_unless_given():
    """Beyond what scikit-learn imports by itself: it looks for pandas and pyarrow."""
    given = "import sys, numpy as np, sklearn.neighbors; before = set(sys.modules); import askgraph as ag; "
    used = "ag.nearest_neighbors(np.eye(9), 2); ag.Graph([(0, 1)]); print(*(set(sys.modules) - before))"
    loaded = subprocess.run(
        [sys.executable, "-c", given + used], capture_output=True, text=True, check=True
    ).stdout.split()
    others = "torch torch_geometric dgl igraph rustworkx anndata geopandas pyarrow pandas polars datasets skactiveml"
    assert {name for name in others.split() if name in loaded} == set()
