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

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from askgraph.support.moved import warn_of_old_name as _warn_of_old_name
from askgraph.support.notebook import find_plots as _find_plots
from askgraph.version import __version__

_find_plots(lambda: import_module("askgraph.clients.plots"))  # classes that it draws have methods that draw

# Loaded on first use: importing scikit-learn alone takes a second.
_HOMES = {
    "graph.build": "from_neighbors nearest_neighbors pearson radial_basis scale_features",
    "graph.toys": "chain communities grid power_law star two_squares",
    "plan": "Plan Question Rule Sampler Turn",
    "plan.tune": "Choice",
    "options": "Options",
    "errors": "AskgraphError BusyError ConvergenceError EngineError FileError FullError GraphError LabelError MissingExtraError "
    "NewerError SettingError TooLargeError",
    "estimator": "GraphClassifier GraphRegressor LabeledKFold",
    "graph.combine": "with_features",
    "graph.texts": "nearest_texts search_texts",
    "field": "Field",
    "graph": "Graph",
    "answers.events": "Event SpotCheck",
    "answers.shares": "one_of",
    "answers.sought": "at_least",
    "kinds.numbers": "Numbers",
    "kinds.ordered": "Ordered",
    "learner.steps": "Step",
    "kinds.diagnostics": "Suspect",
    "learner.guesses": "GuessSource Guesses SuspectGuess",
    "learner.judge": "Judge",
    "learner": "Learner",
    "priors": "prior",
    "readouts": "Cautious Consensus Map Mass Readout Reweighted Tempered Votes",
    "io.pictures": "nearest_pictures",
    "io.readers": "read_graph read_labels read_table",
    "distributed.sharded_graph": "ShardedGraph",
    "distributed.read_shards": "read_shards",
    "kinds.stopping": "ErrorEstimate",
    "utilities": "Criterion two_step_approximation",
    "clients.annotations": "annotate",
    "clients.labeling": "Labeling label",
    "workbench.embedding": "embed",
    "workbench.project": "Project",
    "workbench.reading": "OpenProject open_project",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [  # a literal, which type checkers can read
    "AskgraphError",
    "BusyError",
    "Cautious",
    "Choice",
    "Consensus",
    "ConvergenceError",
    "Criterion",
    "EngineError",
    "ErrorEstimate",
    "Event",
    "Field",
    "FileError",
    "FullError",
    "Graph",
    "GraphClassifier",
    "GraphError",
    "GraphRegressor",
    "GuessSource",
    "Guesses",
    "Judge",
    "LabelError",
    "LabeledKFold",
    "Labeling",
    "Learner",
    "Map",
    "Mass",
    "MissingExtraError",
    "NewerError",
    "Numbers",
    "OpenProject",
    "Options",
    "Ordered",
    "Plan",
    "Project",
    "Question",
    "Readout",
    "Reweighted",
    "Rule",
    "Sampler",
    "SettingError",
    "ShardedGraph",
    "SpotCheck",
    "Step",
    "Suspect",
    "SuspectGuess",
    "Tempered",
    "TooLargeError",
    "Turn",
    "Votes",
    "annotate",
    "at_least",
    "chain",
    "communities",
    "embed",
    "from_neighbors",
    "grid",
    "label",
    "nearest_neighbors",
    "nearest_pictures",
    "nearest_texts",
    "one_of",
    "open_project",
    "pearson",
    "power_law",
    "prior",
    "radial_basis",
    "read_graph",
    "read_labels",
    "read_shards",
    "read_table",
    "scale_features",
    "search_texts",
    "star",
    "two_squares",
    "two_step_approximation",
    "with_features",
]

if TYPE_CHECKING:
    from askgraph.answers.events import Event, SpotCheck
    from askgraph.answers.shares import one_of
    from askgraph.answers.sought import at_least
    from askgraph.clients.annotations import annotate
    from askgraph.clients.labeling import Labeling, label
    from askgraph.distributed.read_shards import read_shards
    from askgraph.distributed.sharded_graph import ShardedGraph
    from askgraph.errors import (
        AskgraphError,
        BusyError,
        ConvergenceError,
        EngineError,
        FileError,
        FullError,
        GraphError,
        LabelError,
        MissingExtraError,
        NewerError,
        SettingError,
        TooLargeError,
    )
    from askgraph.estimator import GraphClassifier, GraphRegressor, LabeledKFold
    from askgraph.field import Field
    from askgraph.graph import Graph
    from askgraph.graph.build import from_neighbors, nearest_neighbors, pearson, radial_basis, scale_features
    from askgraph.graph.combine import with_features
    from askgraph.graph.texts import nearest_texts, search_texts
    from askgraph.graph.toys import chain, communities, grid, power_law, star, two_squares
    from askgraph.io.pictures import nearest_pictures
    from askgraph.io.readers import read_graph, read_labels, read_table
    from askgraph.kinds.diagnostics import Suspect
    from askgraph.kinds.numbers import Numbers
    from askgraph.kinds.ordered import Ordered
    from askgraph.kinds.stopping import ErrorEstimate
    from askgraph.learner import Learner
    from askgraph.learner.guesses import Guesses, GuessSource, SuspectGuess
    from askgraph.learner.judge import Judge
    from askgraph.learner.steps import Step
    from askgraph.options import Options
    from askgraph.plan import Plan, Question, Rule, Sampler, Turn
    from askgraph.plan.tune import Choice
    from askgraph.priors import prior
    from askgraph.readouts import Cautious, Consensus, Map, Mass, Readout, Reweighted, Tempered, Votes
    from askgraph.utilities import Criterion, two_step_approximation
    from askgraph.workbench.embedding import embed
    from askgraph.workbench.project import Project
    from askgraph.workbench.reading import OpenProject, open_project

_OLD = {"Error": "ErrorEstimate", "SuggestionSource": "GuessSource", "SuspectSuggestion": "SuspectGuess"}


def __getattr__(name: str) -> Any:
    if name in _OLD:
        _warn_of_old_name(f"askgraph.{name}", f"askgraph.{_OLD[name]}")
        name = _OLD[name]
    if name not in _HOME:
        raise AttributeError(f"module 'askgraph' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return getattr(import_module(f"askgraph.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
