"""The graphs of a learner, by name: one, several over the same nodes, or one that features make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scipy.sparse import issparse

from askgraph.distributed.sharded_graph import ShardedGraph
from askgraph.errors import GraphError, SettingError
from askgraph.graph import Graph
from askgraph.graph.build import note_labels
from askgraph.priors.features import Features, Kernels, join_features

Join = Callable[[Graph | None, Any], tuple[Graph, Any]]
ALONE = "the graph"  # the name of a graph that was given without one


def named_graphs(given: Any, tune: bool) -> dict[str, Graph]:
    """Return {name: graph} for a graph, or for several over the same nodes."""
    if not isinstance(given, Mapping) or issparse(given):  # a dok matrix is a mapping too
        return {ALONE: _graph(given)}
    if not tune:
        raise SettingError(
            f"{len(given)} graphs by name: give one of them, or tune=True to have one chosen as labels come"
        )
    if not given or not all(isinstance(name, str) for name in given):
        raise GraphError(f"graphs called {list(given)}: give at least one, as {{name: graph}}, its name a text")
    graphs = {name: _graph(graph) for name, graph in given.items()}
    first = next(iter(graphs))
    for name, graph in graphs.items():
        _check_alike(first, graphs[first], name, graph)
    return graphs


def _graph(given: Any) -> Graph:
    return given if isinstance(given, Graph | ShardedGraph) else Graph(given)  # type: ignore[return-value]  # it has what a learner reads


def _check_alike(one: str, a: Graph, other: str, b: Graph) -> None:
    if a.n_nodes != b.n_nodes:
        raise GraphError(f"{one!r} has {a.n_nodes} nodes, {other!r} {b.n_nodes}: give graphs over the same nodes")
    if a.names != b.names:
        at = next(i for i in range(a.n_nodes) if a.name(i) != b.name(i))
        raise GraphError(
            f"node {at} is {a.name(at)!r} in {one!r} and {b.name(at)!r} in {other!r}: give both the same names, in the same order"
        )


def joined_graphs(graph: Any, features: Any, tune: bool, join: Join = join_features) -> tuple[dict[str, Graph], Any]:
    """Return {name: graph} and what ``join`` makes of features, of a graph, of a graph and features, or of features alone."""
    if features is None:
        if graph is None:
            raise SettingError("what joins the nodes? give a graph, features, or both")
        return named_graphs(graph, tune), None
    if isinstance(features, Features | Kernels):
        return named_graphs(graph, tune), features
    given = {} if graph is None else named_graphs(graph, tune)
    if len(given) > 1:
        raise SettingError(f"features and {len(given)} graphs: give one graph beside features")
    joined, linear = join(next(iter(given.values()), None), features)
    return {next(iter(given), ALONE): joined.noted(*note_labels(features))}, linear
