"""What can be read off a learner: its labels, predictions, error estimates and advice."""

from __future__ import annotations

from abc import ABC
from collections.abc import Hashable, Sequence

import numpy as np

from askgraph.field import Field, coding
from askgraph.graph import Graph
from askgraph.learner.diagnostics import Suspect, advice, doubtful
from askgraph.learner.events import Event
from askgraph.learner.history import History
from askgraph.learner.labels import label_array
from askgraph.learner.questions import candidates, finished
from askgraph.learner.settings import Settings, checked_share
from askgraph.learner.stopping import Error, enough, expected_error, more_labels
from askgraph.readouts import Readout
from askgraph.types import AnyArray, Array, IntArray

AUDIT = 1  # seed that tells the draw of an audit from that of a question


class Predictor(ABC):
    """A field, the history that led to it, and a readout; `Learner` adds the loop that changes them."""

    graph: Graph
    settings: Settings
    seed: int
    _field: Field
    _history: History
    _readout: Readout

    @property
    def field(self) -> Field:
        """The posterior."""
        return self._field

    @property
    def classes(self) -> list[Hashable]:
        """The classes declared, then those seen, in the order of the columns of ``probabilities``."""
        return list(self._history.classes)

    @property
    def labels(self) -> dict[Hashable, Hashable]:
        """The labels told: {node: label}."""
        names = self._history.classes
        return {self.graph.name(x.node): names[x.label] for x in self._field.labels}

    @property
    def log(self) -> list[Event]:
        """Everything told so far that was not undone, oldest first, by node index."""
        return list(self._history.log)

    @property
    def engine(self) -> str:
        """The engine in use and why."""
        return self._field.prior.reason

    @property
    def finished(self) -> str | None:
        """The reason why there is nothing to ask, or None."""
        return finished(self._field, self._history.set_aside)

    def probabilities(self, nodes: Sequence[Hashable] | None = None) -> Array:
        """Return class probabilities: one row per node in the graph's order (or per node given), one column per class."""
        p = self._field.space.gather(self._readout(self._field) if self._history.classes else self._field.votes)
        return p if nodes is None else p[self._indices(nodes)]

    def predict(self, nodes: Sequence[Hashable] | None = None) -> AnyArray:
        """Return the label of every node in the graph's order (or of the nodes given); None while no class is known.

        A tie goes to the class that was named first, in the order of ``classes``. All classes tie at a node that no label
        reaches, such as one without an edge: its label is a guess, and its probabilities are equal.
        """
        p = self.probabilities(nodes)
        if not self._history.classes:
            return np.full(len(p), None, dtype=object)
        return label_array(self._history.classes)[coding.decide(p)]

    def audit(self, n: int = 10) -> list[Hashable]:
        """Draw up to n unlabeled nodes uniformly, to judge predictions by: give their labels to :meth:`tell_audit`."""
        space, rows = self._field.space, candidates(self._field, self._history.set_aside)
        nodes, rng = np.sort(space.allgather(space.nodes_of(rows))), [self.seed, len(self._history.log), AUDIT]
        drawn = np.random.default_rng(rng).choice(nodes, min(n, nodes.size), replace=False)
        return [self.graph.name(int(node)) for node in drawn]

    def expected_error(self) -> Error:
        """Return the expected share of wrong predictions among unlabeled nodes, with a range; audits make it sure."""
        rest = self._field.space.gather(~self._field.labeled)
        return expected_error(self._field, self.probabilities(), rest, self._history.audits)

    def labels_needed(self, target: float) -> tuple[int, int]:
        """Return about how many more labels bring the expected error down to this target, from and to; a rule of thumb."""
        return more_labels(self.expected_error(), self._field.held, checked_share(target, "target"))

    def enough(self, target: float = 0.05) -> str | None:
        """Return why it is time to stop, or None: the expected error is below the target, or nothing is left to ask."""
        return self.finished or enough(self.expected_error(), checked_share(target, "target"))

    def suspects(self) -> list[Suspect]:
        """Return labels that all others contradict, the least likely first: look at these again."""
        found = zip(*(part.tolist() for part in doubtful(self._field)), strict=True)
        name, classes = self.graph.name, self._history.classes
        return [Suspect(name(node), classes[label], classes[other], p) for node, label, other, p in found]

    def advice(self) -> list[str]:
        """Return sentences on this graph: neighbors that disagree, rare classes, components without labels."""
        nodes, told = self._history.audits
        predicted = coding.decide(self.probabilities()[nodes]) if nodes.size and self._history.classes else nodes
        return advice(self._field, predicted, told)

    def _is_labeled(self, node: int) -> bool:
        return bool(self._field.space.pick(self._field.labeled, node))

    def _indices(self, nodes: Sequence[Hashable]) -> IntArray:
        return np.array([self.graph.index(node) for node in nodes], dtype=np.int64)
