"""Objects of other libraries as plain ones. They are known by the module of their type: nothing is imported here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from askgraph.errors import AskgraphError, GraphError
from askgraph.graph.pairs import distinct_pairs, edge_weights, is_search_result, neighbor_lists
from askgraph.graph.sources import Columns, Raw, from_edges, matrix_entries
from askgraph.types import AnyArray, Array

AS_THEY_ARE = (
    "took distances as they are; squared ones, as of faiss and hnswlib: askgraph.from_neighbors(..., squared=True)"
)


def library(source: object) -> str:
    """Return the name of the library that an object's type comes from.

    >>> library(np.zeros(3)), library("text")
    ('numpy', 'builtins')
    """
    return type(source).__module__.partition(".")[0]


def plain(source: Any) -> Any:
    """Return a table, an array or a sparse matrix of another library as NumPy, SciPy or a frame has it; anything else as it is.

    These are tensors of PyTorch (dense or sparse, on any device, of any type), arrays of CuPy and of whatever speaks DLPack,
    tables of pyarrow, lazy frames of polars, datasets of Hugging Face.
    """
    if isinstance(source, np.ndarray) or sp.issparse(source):
        return source
    with _naming(source):
        return _plain(source, library(source))


@contextmanager
def _naming(source: object) -> Iterator[None]:
    """Raise `GraphError` that names the library for any other error in the block: its objects may hold anything."""
    try:
        yield
    except AskgraphError:
        raise
    except Exception as error:
        kind = f"{library(source)}.{type(source).__name__}"
        raise GraphError(
            f"a {kind} that cannot be read ({error}): give its edges, as askgraph.Graph.from_edges does"
        ) from None


def _plain(source: Any, home: str) -> Any:
    if home == "torch" and hasattr(source, "detach"):
        return _from_torch(source)
    if home in ("cupy", "cupyx") and hasattr(source, "get"):
        return source.get()
    if home == "polars" and hasattr(source, "collect"):
        return source.collect()
    if home == "datasets":
        return _from_dataset(source)
    if home == "pyarrow" and hasattr(source, "column_names"):
        return _from_arrow(source)
    if hasattr(source, "__dlpack__") and hasattr(source, "shape"):
        return _from_dlpack(source)
    return source


def from_graph_object(source: Any) -> Raw | None:
    """Convert a graph of another library, or what a neighbor search returns; return None for anything else."""
    if read := READERS.get(library(source)):
        with _naming(source):
            return read(source)
    if is_search_result(source):
        return _from_search(*source)
    return None


def as_edge_index(source: Any) -> Raw | None:
    """Convert a (2, m) array of node indices, as PyTorch Geometric has them; return None for anything else."""
    if getattr(source, "ndim", 0) != 2 or not isinstance(source, np.ndarray) or source.dtype.kind not in "iu":
        return None
    if source.shape[0] != 2 or source.shape[1] == 2:  # a 2 × 2 table is a matrix
        return None
    raw = _indexed(source[0], source[1], int(source.max(initial=-1)) + 1)
    return raw._replace(notes=(*raw.notes, f"read as an edge_index of {source.shape[1]} edges"))


def coordinates_of(frame: Any) -> Array:
    """Return the points of a GeoDataFrame or GeoSeries, other shapes by their centroids; longitudes and latitudes on a sphere.

    Degrees become points on a sphere of the size of the earth, in meters, so that distances near poles and across the date
    line are right.
    """
    shapes = frame.geometry
    if not (shapes.geom_type == "Point").all():
        shapes = shapes.set_crs(None, allow_override=True).centroid
    xy = np.column_stack([shapes.x, shapes.y])
    if frame.crs is None or not frame.crs.is_geographic:
        return xy
    lon, lat = np.radians(xy).T
    return 6_371_000.0 * np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def _from_torch(tensor: Any) -> Any:
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # NumPy has no such type
        tensor = tensor.float()
    if str(tensor.layout) == "torch.strided":
        return tensor.numpy()
    tensor = tensor.to_sparse_coo().coalesce()
    rows, columns = tensor.indices().numpy()
    return sp.coo_array((tensor.values().numpy(), (rows, columns)), shape=tuple(tensor.shape))


def _from_dlpack(source: Any) -> Any:
    try:
        return np.asarray(np.from_dlpack(source))
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise GraphError(
            f"a {type(source).__name__} that NumPy cannot read ({error}): copy it to the CPU first"
        ) from None


def _from_dataset(source: Any) -> Any:
    if not hasattr(source, "with_format"):
        return source
    if isinstance(source, dict):
        raise GraphError(
            f"a {type(source).__name__} of {', '.join(map(repr, source))}: give one of them, such as dataset['train']"
        )
    return _from_arrow(source.with_format("arrow")[:])


def _from_arrow(table: Any) -> Columns:
    return Columns(list(table.column_names), [_arrow_column(table.column(k)) for k in range(table.num_columns)])


def _arrow_column(column: Any) -> AnyArray:
    """Return a column as an array; one of lists of equal length, such as embeddings, with a column per place."""
    if "list" not in str(column.type):
        values = column.to_numpy()
        return values if values.dtype.kind != "O" else _objects(column.to_pylist())
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    flat = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in chunks]
    lengths = {len(values) / len(chunk) for values, chunk in zip(flat, chunks, strict=True)}
    if len(lengths) != 1 or column.null_count or not next(iter(lengths)).is_integer():
        return _objects(column.to_pylist())
    return np.concatenate(flat).reshape(len(column), -1)


def _objects(values: list[Any]) -> AnyArray:
    return np.fromiter(values, dtype=object, count=len(values))


def _indexed(i: AnyArray, j: AnyArray, n: int, weights: Any = None) -> Raw:
    """Return the entries of edges between the nodes 0 … n − 1."""
    i, j = (np.asarray(side).astype(np.int64) for side in (i, j))
    edges: Any = np.column_stack([i, j])
    if weights is None:
        return from_edges(edges, max(n, 1))
    values = np.asarray(weights, dtype=np.float64).ravel()
    return from_edges(Columns(["source", "target", "weight"], [i, j, values]), max(n, 1))


def _from_pyg(data: Any) -> Raw:
    if hasattr(data, "edge_types"):
        raise GraphError(
            f"a {type(data).__name__} has nodes and edges of several types: give one graph of it, such as data.to_homogeneous()"
        )
    if getattr(data, "edge_index", None) is None or not hasattr(data, "num_nodes"):
        raise GraphError(f"a {type(data).__name__} without one edge_index: give a torch_geometric.data.Data with edges")
    notes, weights = tuple[str, ...](), None
    for name in ("edge_weight", "edge_attr"):
        values = getattr(data, name, None)
        if values is None or weights is not None:
            continue
        if values.numel() == data.num_edges:
            weights, notes = plain(values), (f"weights are {name}",)
        else:
            notes = (f"ignored {name}: {tuple(values.shape)} is no weight per edge",)
    i, j = plain(data.edge_index)
    raw = _indexed(i, j, int(data.num_nodes), weights)
    return raw._replace(notes=(*raw.notes, *notes))


def _from_dgl(graph: Any) -> Raw:
    if not hasattr(graph, "edata") or len(graph.canonical_etypes) != 1:
        raise GraphError("a graph of several kinds of edges: give one of them, such as g[edge_type]")
    i, j = (plain(side) for side in graph.edges())
    name = next((name for name in ("weight", "w") if name in graph.edata), None)
    raw = _indexed(i, j, int(graph.num_nodes()), None if name is None else plain(graph.edata[name]))
    return raw._replace(notes=(*raw.notes, *((f"weights are edata[{name!r}]",) if name else ())))


def _from_igraph(graph: Any) -> Raw:
    if not hasattr(graph, "get_edgelist"):
        raise GraphError(f"a {type(graph).__name__} is not a graph: give an igraph.Graph")
    i, j = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
    raw = _indexed(i, j, graph.vcount(), graph.es["weight"] if graph.is_weighted() else None)
    names = graph.vs["name"] if "name" in graph.vs.attributes() else None
    return raw._replace(names=names, kind="directed" if graph.is_directed() else "edges")


def _from_rustworkx(graph: Any) -> Raw:
    if not hasattr(graph, "weighted_edge_list"):
        raise GraphError(f"a {type(graph).__name__} is not a graph: give a PyGraph or a PyDiGraph")
    at = {index: place for place, index in enumerate(graph.node_indices())}
    triples = list(graph.weighted_edge_list())
    i, j = (np.array([at[edge[side]] for edge in triples], dtype=np.int64) for side in (0, 1))
    numbers = [edge[2] for edge in triples if isinstance(edge[2], Real)]
    weights = numbers if numbers and len(numbers) == len(triples) else None
    named = not any(node is None for node in graph.nodes()) and len(set(map(repr, graph.nodes()))) == len(at)
    raw = _indexed(i, j, len(at), weights)
    odd = (
        ("every edge has weight 1: what edges hold are no numbers",)
        if triples and weights is None and triples[0][2]
        else ()
    )
    raw = raw._replace(names=list(graph.nodes()) if named else None, notes=(*raw.notes, *odd))
    return raw._replace(kind="directed") if hasattr(graph, "predecessors") else raw


def _from_anndata(data: Any) -> Raw:
    if not hasattr(data, "obsp"):
        raise GraphError(f"a {type(data).__name__} is not a graph: give an AnnData with neighbors")
    key = dict(data.uns.get("neighbors", {})).get("connectivities_key", "connectivities")
    if key not in data.obsp:
        raise GraphError(
            f"no obsp[{key!r}] in this AnnData: run scanpy.pp.neighbors(adata) first, or give Graph(adata.obsp[...])"
        )
    return Raw(matrix_entries(data.obsp[key]), data.obs_names)


def _from_usearch(matches: Any) -> Raw:
    if not hasattr(matches, "keys") or not hasattr(matches, "distances"):
        raise GraphError(f"a {type(matches).__name__} is not a graph: give what index.search(X, k) returns")
    return _from_search(matches.distances, np.asarray(matches.keys).astype(np.int64))


def _from_search(one: Any, other: Any) -> Raw:
    n, i, j, d = neighbor_lists(one, other)
    return Raw(distinct_pairs(n, i, j, edge_weights(i, j, d, "self-tuning")), None, "edges", (AS_THEY_ARE,))


READERS: dict[str, Callable[[Any], Raw]] = {
    "torch_geometric": _from_pyg,
    "dgl": _from_dgl,
    "igraph": _from_igraph,
    "rustworkx": _from_rustworkx,
    "anndata": _from_anndata,
    "usearch": _from_usearch,
}
