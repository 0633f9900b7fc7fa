"""Which item should I label next, and what are all the others?

>>> import askgraph as ag
>>> graph = ag.chain(5)
>>> learner = ag.Learner(graph, rng=0)
>>> learner.tell(0, "left")
>>> learner.tell(4, "right")
>>> print(*learner.predict())
left left left right right
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Loaded on first use: importing scikit-learn alone takes a second.
_HOMES = {
    "build": "chain communities grid nearest_neighbors pearson power_law radial_basis scale_features star two_squares",
    "choice": "Choice",
    "errors": "AskgraphError BusyError ConvergenceError EngineError FileError FullError GraphError LabelError MissingExtraError "
    "NewerError SettingError TooLargeError",
    "estimator": "GraphClassifier",
    "features": "with_features",
    "field": "Field",
    "graph": "Graph",
    "events": "Event Step",
    "judge": "Suspect",
    "learner": "Learner",
    "priors": "prior",
    "readouts": "Consensus Map Mass Readout Reweighted Tempered",
    "readers": "read_graph read_labels read_table",
    "sharded": "ShardedGraph",
    "shards": "read_shards",
    "stopping": "Error",
    "utilities": "Criterion two_step_approximation",
    "workbench.project": "Project",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from askgraph.build import *
    from askgraph.choice import Choice
    from askgraph.errors import *
    from askgraph.estimator import GraphClassifier
    from askgraph.events import Event, Step
    from askgraph.features import with_features
    from askgraph.field import Field
    from askgraph.graph import Graph
    from askgraph.judge import Suspect
    from askgraph.learner import Learner
    from askgraph.priors import prior
    from askgraph.readers import read_graph, read_labels, read_table
    from askgraph.readouts import Consensus, Map, Mass, Readout, Reweighted, Tempered
    from askgraph.sharded import ShardedGraph
    from askgraph.shards import read_shards
    from askgraph.stopping import Error
    from askgraph.utilities import Criterion, two_step_approximation
    from askgraph.workbench.project import Project


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'askgraph' has no attribute {name!r}")
    return getattr(import_module(f"askgraph.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
