"""What can be read off a learner: its labels, predictions, error estimates and advice."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from askgraph.answers import coding
from askgraph.answers.plain import label_array
from askgraph.errors import LabelError
from askgraph.field import Field, Observation
from askgraph.graph import Graph
from askgraph.learner.diagnostics import SUSPICIOUS, Suspect, advice, doubtful
from askgraph.learner.events import Event, SpotCheck, checked
from askgraph.learner.history import History
from askgraph.learner.questions import candidates, finished
from askgraph.learner.settings import Settings, checked_share
from askgraph.learner.state import Ahead, State
from askgraph.learner.stopping import Error, enough, expected_error, more_labels
from askgraph.learner.suggestions import Suggestions, SuggestionSource, SuspectSuggestion
from askgraph.readouts import Cautious, Readout, shares_preferred, with_suggestions
from askgraph.readouts.by_class import best_classes, ranked
from askgraph.support.arguments import flag, listed, whole_number
from askgraph.support.turns import Turn, in_turn
from askgraph.types import AnyArray, Array, IntArray

AUDIT = 1  # seed that tells the draw of an audit from that of a question


class Predictor(ABC):
    """A field, the history that led to it, and a readout; `Learner` adds the loop that changes them.

    Attributes
    ----------
    graph : Graph
        The graph.
    settings : Settings
        The options of the learner.
    seed : int
        The seed that questions and audits are drawn with.
    """

    graph: Graph
    settings: Settings
    seed: int
    _state: State
    _readout: Readout
    _suggestions: Suggestions
    _turn: Turn

    @property
    def _field(self) -> Field:
        return self._state.field

    @property
    def _history(self) -> History:
        return self._state.history

    @property
    def _questions(self) -> tuple[int, ...]:
        return self._state.questions

    @property
    def _prefetch(self) -> Ahead | None:
        return self._state.prefetch

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
        field, history, *_ = self._state
        return {self.graph.name(x.node): history.classes[x.said] for x in field.known}

    @property
    def log(self) -> list[Event]:
        """Everything told so far that was not undone, oldest first; events call nodes by their indices."""
        return list(self._history.log)

    @property
    def engine(self) -> str:
        """The engine in use, and why it was chosen."""
        return self._field.prior.reason

    @property
    def finished(self) -> str | None:
        """The reason why there is nothing to ask, or None."""
        field, history, *_ = self._state
        return finished(field, history.set_aside)

    @in_turn
    def probabilities(self, nodes: Sequence[Hashable] | None = None) -> Array:
        """Return class probabilities.

        Parameters
        ----------
        nodes : sequence of hashable, optional
            The nodes; by default all, in the graph's order.

        Returns
        -------
        array
            One row per node, one column per class in the order of ``classes``.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), readout="map", rng=0)
        >>> learner.tell_all({0: "left", 4: "right"})
        >>> learner.probabilities([1, 2]).round(2).tolist()
        [[0.75, 0.25], [0.5, 0.5]]
        """
        read = self._read() if self._history.classes else self._field.votes
        p = self._field.space.gather(read)
        if exact := self._certain:
            p = p.copy()
            p[[x.node for x in exact]] = np.eye(p.shape[1])[[x.said for x in exact]]
        return p if nodes is None else p[self._indices(nodes)]

    def _read(self) -> Array:
        """Return the probabilities of all rows: by the readout, and by suggestions where there are any."""
        field, suggested = self._field, self._suggestions
        if not suggested or not field.held:
            return self._readout(field)

        def compute() -> Array:
            return with_suggestions(field, self._readout, suggested.witnesses(self._history.classes, field.space))

        kept: dict[int, Array] = field.once("with suggestions", dict)  # one array: of the last suggestions read
        found = kept.get(suggested.version)
        if found is None:
            found = compute()
            kept.clear()
            kept[suggested.version] = found
        return found.copy()

    @property
    @in_turn
    def sources(self) -> list[SuggestionSource]:
        """Who suggested labels, and how good the suggestions are by the labels so far; see :meth:`Learner.suggest`."""
        told, p = {x.node: self._history.classes[x.said] for x in self._field.known}, self.probabilities()
        return [self._source(name, said, told, p) for name, said in self._suggestions.by_source.items()]

    def _source(self, name: str, said: Mapping[int, Any], told: Mapping[int, Hashable], p: Array) -> SuggestionSource:
        compared = [node for node in said if node in told]
        agreed = sum(said[node][0] == told[node] for node in compared)
        right = float(self._chances(said, p).mean()) if told else math.nan
        return SuggestionSource(name, len(said), len(compared), agreed, right)

    def _chances(self, said: Mapping[int, Any], p: Array) -> Array:
        """Return the probability of each label suggested; 0 for a label that is not a class."""
        place = {label: k for k, label in enumerate(self._history.classes)}
        nodes, codes = np.fromiter(said, np.int64, len(said)), [place.get(label, -1) for label, _ in said.values()]
        return np.column_stack([p, np.zeros(len(p))])[nodes, codes]

    @in_turn
    def suspect_suggestions(self, n: int = 100) -> list[SuspectSuggestion]:
        """Return the suggestions that are most likely wrong, by labels, the graph and all suggestions; look at these first.

        Parameters
        ----------
        n : int
            The number of suggestions.

        Returns
        -------
        list of SuspectSuggestion
            Up to n suggestions for nodes that are not labeled, the least likely first; none before the first label.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.suggest_all({1: "left", 2: "right", 3: "left", 6: "right"}, source="a model")
        >>> learner.tell_all({0: "left", 8: "right"})
        >>> learner.suspect_suggestions(1)[0][:4]
        (2, 'a model', 'right', 'left')
        """
        n = whole_number(n, "n")
        if not self._field.held:
            return []
        p, labeled = self.probabilities(), {x.node for x in self._field.observations}
        likeliest, found = coding.decide(p), []
        for source, said in self._suggestions.by_source.items():
            for (node, (label, _)), chance in zip(said.items(), self._chances(said, p).tolist(), strict=True):
                if node not in labeled:
                    found.append((chance, node, source, label))
        found.sort(key=lambda one: one[:2])
        name, classes = self.graph.name, self._history.classes
        return [
            SuspectSuggestion(name(node), source, label, classes[likeliest[node]], chance)
            for chance, node, source, label in found[:n]
        ]

    @overload
    def predict(self, nodes: Sequence[Hashable] | None = None) -> AnyArray: ...
    @overload
    def predict(self, nodes: Sequence[Hashable] | None = None, *, top: int) -> tuple[AnyArray, Array]: ...
    @in_turn
    def predict(
        self, nodes: Sequence[Hashable] | None = None, *, top: int | None = None
    ) -> AnyArray | tuple[AnyArray, Array]:
        """Predict labels, or the likeliest labels of each node with their probabilities.

        A tie goes to the class that was named first, in the order of ``classes``. All classes tie at a node that no label
        reaches, such as one without an edge: its label is a guess, and its probabilities are equal.

        Parameters
        ----------
        nodes : sequence of hashable, optional
            The nodes; by default all, in the graph's order.
        top : int, optional
            How many labels of each node. Where there are many classes this takes much less memory than ``probabilities``: an
            array of all nodes and all classes is made only for a readout of your own, "reweighted", and suggestions.

        Returns
        -------
        array, or tuple of two arrays
            One label per node; None for every node while no class is known. With ``top``, the labels and their probabilities:
            one row per node, the likeliest first, and fewer than ``top`` columns where there are fewer classes.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(6), readout="map", rng=0)
        >>> learner.tell_all({0: "left", 5: "right", 3: "middle"})
        >>> learner.predict([1, 2]).tolist()
        ['left', 'middle']
        >>> labels, p = learner.predict([1, 2], top=2)
        >>> labels.tolist(), p.round(2).tolist()
        ([['left', 'middle'], ['middle', 'left']], [[0.67, 0.33], [0.67, 0.33]])
        """
        if top is not None:
            return self._best(nodes, whole_number(top, "top", 1))
        p = self.probabilities(nodes)
        if not self._history.classes:
            return np.full(len(p), None, dtype=object)
        return label_array(self._history.classes)[coding.decide(p)]

    def _best(self, nodes: Sequence[Hashable] | None, top: int) -> tuple[AnyArray, Array]:
        """Return the likeliest labels of each node, and their probabilities."""
        field, classes = self._field, self._history.classes
        top = min(top, len(classes))
        if not top:
            found, best = np.zeros((self.graph.n_nodes, 0), np.int64), np.zeros((self.graph.n_nodes, 0))
        elif self._suggestions and field.held:
            found, best = ranked(self.probabilities(), top)
        else:
            found, best = map(field.space.gather, best_classes(field, self._readout, top))
            if exact := self._certain:
                at, labels = [x.node for x in exact], [x.said for x in exact]
                certain = ranked(np.eye(len(classes)), top)
                found[at], best[at] = certain[0][labels], certain[1][labels]
        some = slice(None) if nodes is None else self._indices(nodes)
        return label_array(classes)[found[some]], best[some]

    @property
    def _certain(self) -> list[Observation]:
        """The labels that are certain at their nodes although they count for less: those of hubs, or any with features."""
        field = self._field
        return [x for x in field.known if x.exact] if field.discount is not None or field.origin.noise else []

    @in_turn
    def audit(self, n: int = 10) -> list[Hashable]:
        """Draw unlabeled nodes at random, to judge predictions by; give their labels to :meth:`tell_audit`.

        The same nodes are drawn again until something is told.

        Parameters
        ----------
        n : int
            The number of nodes.

        Returns
        -------
        list of hashable
            Up to n nodes that are not labeled and not set aside, each as likely as any other.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.grid(3, 4), rng=0)
        >>> nodes = learner.audit(5)
        >>> len(nodes), nodes == learner.audit(5)
        (5, True)
        """
        n = whole_number(n, "n")
        space, rows = self._field.space, candidates(self._field, self._history.set_aside)
        nodes, rng = np.sort(space.allgather(space.nodes_of(rows))), [self.seed, len(self._history.log), AUDIT]
        drawn = np.random.default_rng(rng).choice(nodes, min(n, nodes.size), replace=False)
        return [self.graph.name(int(node)) for node in drawn]

    @property
    def spot_checks(self) -> list[SpotCheck]:
        """The spot checks so far, oldest first: nodes drawn at random, what was predicted for them, and their labels."""
        name = self.graph.name
        return [SpotCheck(name(node), *both) for node, both in checked(self._history.log).items()]

    @in_turn
    def expected_error(self) -> Error:
        """Return the expected share of wrong predictions among the unlabeled nodes.

        Labels that were asked for are not a random sample, so without an audit the estimate is rough.

        Returns
        -------
        Error
            The estimate, a 90 % range, and the number of audited labels that were counted; prints as one line.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.grid(3, 4), rng=0)
        >>> learner.tell_all({0: "top", 3: "top", 8: "bottom", 11: "bottom"})
        >>> error = learner.expected_error()
        >>> error.low <= error.value <= error.high, error.audited
        (True, 0)
        """
        rest = self._field.space.gather(~self._field.labeled)
        by_shares = shares_preferred(self._field) if isinstance(self._readout, Cautious) else 0.0
        right = [check.right for check in self.spot_checks]
        return expected_error(self._field, self.probabilities(), rest, self._history.audits, right, by_shares)

    @in_turn
    def labels_needed(self, target: float) -> tuple[int, int]:
        """Return about how many more labels bring the expected error down to a target; a rule of thumb.

        Parameters
        ----------
        target : float
            The share of wrong predictions to reach, above 0 and at most 1.

        Returns
        -------
        tuple of int
            The number of labels if the error falls as 1/t, t the number of labels, and if it falls as 1/√t; never more than
            nodes are left to ask for.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.grid(3, 4), rng=0)
        >>> learner.tell_all({0: "top", 3: "top", 8: "bottom", 11: "bottom"})
        >>> few, many = learner.labels_needed(target=0.05)
        >>> 0 < few <= many <= 8  # of 12 nodes, 4 have a label
        True
        """
        field, history, *_ = self._state
        left = field.space.count(candidates(field, history.set_aside))
        return more_labels(self.expected_error(), field.held, checked_share(target, "target"), left)

    @in_turn
    def enough(self, target: float = 0.05) -> str | None:
        """Return why it is time to stop: the expected error has reached a target, or nothing is left to ask.

        Parameters
        ----------
        target : float
            The share of wrong predictions to reach, from 0 to 1.

        Returns
        -------
        str or None
            A sentence; None while it is not time to stop.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(2), rng=0)
        >>> learner.tell(0, "left")
        >>> learner.tell(1, "right")
        >>> learner.enough()
        'finished: every node is labeled'
        """
        return self.finished or enough(self.expected_error(), checked_share(target, "target"))

    @in_turn
    def suspects(self, every: bool = False) -> list[Suspect]:
        """Return the labels that all other labels contradict; look at these again.

        Parameters
        ----------
        every : bool
            Whether to list every label that another class beats; by default only those where the other labels give another
            class a probability of 0.97 or more. Of labels that are right, that lists about one in a thousand to one in fifty.

        Returns
        -------
        list of Suspect
            The labels that another class beats by what all other labels say, the least likely first.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(9), rng=0)
        >>> learner.tell_all({0: "a", 1: "a", 2: "b", 3: "a", 4: "a", 7: "b", 8: "b"})
        >>> learner.suspects(every=True)[0][:3]
        (2, 'b', 'a')
        """
        least = 0.0 if flag(every, "every") else SUSPICIOUS
        found = zip(*(part.tolist() for part in doubtful(self._field, least)), strict=True)
        name, classes = self.graph.name, self._history.classes
        return [Suspect(name(node), classes[label], classes[other], p) for node, label, other, p in found]

    @in_turn
    def advice(self) -> list[str]:
        """Return what a person should know about this graph, by the labels so far.

        Returns
        -------
        list of str
            Sentences: that the graph hardly predicts the labels, from 18 labels or ten audited labels on; from ten labels on,
            that many classes have a single label, or that components have no label.

        Examples
        --------
        >>> import askgraph as ag
        >>> graph = ag.Graph.from_edges([*zip(range(10), range(1, 11)), (11, 12)])  # a chain of 11 nodes, and a pair
        >>> learner = ag.Learner(graph, rng=0)
        >>> learner.tell_all({node: "left" if node < 6 else "right" for node in range(11)})
        >>> learner.advice()[0].partition(":")[0]
        '1 of 2 components, 2 of 13 items, have no label'
        """
        nodes, told = self._history.audits
        predicted = coding.decide(self.probabilities()[nodes]) if nodes.size and self._history.classes else nodes
        return advice(self._field, predicted, told)

    def _is_labeled(self, node: int) -> bool:
        return bool(self._field.space.pick(self._field.labeled, node))

    def _indices(self, nodes: Sequence[Hashable]) -> IntArray:
        return np.array([self.graph.index(node) for node in listed(nodes, "nodes", LabelError)], dtype=np.int64)
