"""What the labels say about predictions and about each other: errors, when to stop, which labels look wrong."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable
from dataclasses import replace

from askgraph.answers.events import Event, SpotCheck, checked
from askgraph.errors import LabelError, SettingError
from askgraph.kinds.certificate import Certificate, Sample, certify, to_read
from askgraph.kinds.diagnostics import Suspect
from askgraph.kinds.recall import Left
from askgraph.kinds.stopping import ErrorEstimate, enough, more_labels
from askgraph.learner.state import Whole
from askgraph.plan import Plan, Sampler, Turn
from askgraph.plan.groups import Group, Groups
from askgraph.plan.set_aside import SetAside, open_rows, why_finished
from askgraph.plan.tune import Choice, Tune
from askgraph.support.arguments import flag, listed, real_number, whole_number
from askgraph.support.arguments import share as checked_share
from askgraph.support.turns import in_turn

AUDIT, SAMPLE = 1, 2  # seeds that tell the draw of an audit and of a sample from that of a question
AT_RANDOM = Plan(Sampler("random"), (SetAside(),))


class Judge:
    """What the labels of a learner say about its predictions; ``learner.judge``.

    Examples
    --------
    >>> import askgraph as ag
    >>> learner = ag.Learner(ag.chain(2), rng=0)
    >>> learner.tell_all({0: "left", 1: "right"})
    >>> learner.judge.enough()
    'finished: every node is labeled'
    """

    def __init__(self, learner: Whole) -> None:
        self._learner, self._turn = learner, learner._turn

    @property
    def finished(self) -> str | None:
        """The reason why there is nothing to ask, or None."""
        return why_finished(self._learner.field, self._learner.history.set_aside)

    @in_turn
    def changes(self, node: Hashable) -> float:
        """Return how many predictions of other nodes the answer of a node is expected to change.

        Of several classes, how many of them are added to other nodes or taken away; of numbers, how many ranges become narrower
        by a tenth or more.

        Parameters
        ----------
        node : hashable
            The node.

        Returns
        -------
        float
            The number; 0 for a node that is labeled.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(4), delta=1e-9, readout="map", rng=0)
        >>> learner.tell_all({0: "left", 3: "right"})
        >>> round(learner.judge.changes(1), 3)
        0.667
        """
        learner = self._learner
        return learner.answers.changes(learner._moment, learner.graph.index(node))

    @property
    @in_turn
    def choice(self) -> Choice | None:
        """The graph, ridge or features that the labels spoke for; ``str(choice)`` says why. None before eight labels."""
        history = self._learner.history
        tunes = [rule for rule in self._learner.plan.rules if isinstance(rule, Tune)]
        return tunes[0].choice(history.log, history.declared) if tunes else None

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
        >>> nodes = learner.judge.audit(5)
        >>> len(nodes), nodes == learner.judge.audit(5)
        (5, True)
        """
        return self._drawn(whole_number(n, "n"), AUDIT)

    def _drawn(self, n: int, seed: int) -> list[Hashable]:
        """Return up to n nodes drawn at random from those that are not labeled and not set aside."""
        learner = self._learner
        field, history = learner.field, learner.history
        turn = Turn.of(field, len(history.log), learner.seed, history.set_aside, (), None, seed)
        _, drawn = AT_RANDOM.ask(turn, n, "now")
        return [learner.graph.name(question.node) for question in drawn]

    @in_turn
    def tell_audit(self, node: Hashable, label: Hashable) -> None:
        """Tell the label of a node that :meth:`audit` drew: it predicts nothing, and the expected error counts it.

        Parameters
        ----------
        node : hashable
            The node, which must not be labeled.
        label : hashable
            Its label.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(6), rng=0)
        >>> learner.tell_all({0: "left", 5: "right"})
        >>> for node in learner.judge.audit(2):
        ...     learner.judge.tell_audit(node, "left" if node < 3 else "right")
        >>> learner.judge.expected_error().audited, len(learner.labels)
        (2, 2)
        """
        learner, field = self._learner, self._learner.field
        at, label = learner.graph.index(node), learner.answers.checked(label, learner.history.classes)
        if field.space.pick(field.labeled, at):
            raise LabelError(f"node {node!r} is labeled: only an unlabeled node can be audited")
        learner._publish(field, learner.history.after(Event("audit", at, label)))

    @property
    def spot_checks(self) -> list[SpotCheck]:
        """The spot checks so far, oldest first: nodes drawn at random, what was predicted for them, and their labels."""
        name = self._learner.graph.name
        return [SpotCheck(name(node), *both) for node, both in checked(self._learner.history.log).items()]

    @property
    def spot_checks_right(self) -> int:
        """How many spot checks are predicted right by all other labels, or were by those before them where that is not known."""
        wrong = self.spot_checks_wrong
        return len(wrong) - sum(wrong)

    @property
    def spot_checks_wrong(self) -> list[bool]:
        """Of each of the spot checks, in their order, whether it is predicted wrong: see ``spot_checks_right``."""
        return self._learner.answers.checks_wrong(self._learner._moment)

    @in_turn
    def expected_error(self) -> ErrorEstimate:
        """Return the expected error of the predictions for the unlabeled nodes: for classes, the share that is wrong.

        Of ordered classes it is how many steps a prediction is off, on average; of several classes, 1 − F1; of numbers, the root
        of the mean squared error, in their unit. Labels that were asked for are not a random sample, so without items drawn at
        random the estimate is rough. From eight audited labels on, or eight together with spot checks, the range is what these
        prove.

        Returns
        -------
        ErrorEstimate
            The estimate, a 90 % range, the number of audited labels that were counted, and what the estimate rests on: ``kind``
            is "from the model" or "measured on 9 random items". Prints as one line.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.grid(3, 4), rng=0)
        >>> learner.tell_all({0: "top", 3: "top", 8: "bottom", 11: "bottom"})
        >>> error = learner.judge.expected_error()
        >>> error.low <= error.value <= error.high, error.audited
        (True, 0)
        """
        return self._learner.answers.expected_error(self._learner._moment)

    @in_turn
    def errors_by_class(self) -> dict[Hashable, float]:
        """Return the expected 1 − F1 of each class among the unlabeled nodes: 0 where all that have it are predicted, and no other.

        It rests on the probabilities alone.

        Returns
        -------
        dict
            {class: expected 1 − F1}.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.grid(3, 4), rng=0)
        >>> learner.tell_all({0: "top", 3: "top", 8: "bottom", 11: "bottom"})
        >>> sorted(learner.judge.errors_by_class())
        ['bottom', 'top']
        """
        return self._learner.answers.errors_by_class(self._learner._moment)

    @in_turn
    def labels_needed(self, target: float) -> tuple[int, int]:
        """Return about how many more labels bring the expected error down to a target; a rule of thumb.

        Parameters
        ----------
        target : float
            The expected error to reach, above 0: the share of wrong predictions, or what else :meth:`expected_error` is.

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
        >>> few, many = learner.judge.labels_needed(target=0.05)
        >>> 0 < few <= many <= 8  # of 12 nodes, 4 have a label
        True
        """
        field = self._learner.field
        left = field.space.count(open_rows(field, self._learner.history.set_aside))
        return more_labels(self.expected_error(), field.held, self._target(target), left)

    @in_turn
    def enough(self, target: float | None = None) -> str | None:
        """Return why it is time to stop: the expected error has reached a target, or nothing is left to ask.

        Parameters
        ----------
        target : float, optional
            The expected error to reach: the share of wrong predictions, by default 0.05, or what else :meth:`expected_error`
            is, for which nothing is usual.

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
        >>> learner.judge.enough()
        'finished: every node is labeled'
        """
        wanted = self._target(self._learner.answers.stop_at if target is None else target)
        return self.finished or enough(self.expected_error(), wanted)

    def _target(self, target: float | None) -> float:
        """Return an expected error to reach, checked."""
        kind = self._learner.answers
        if target is None:
            raise SettingError(f"answers={kind.name!r}: say which expected error is good enough, as target=...")
        return real_number(target, "target", 0.0, 1.0 if kind.stop_at else math.inf)

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
        >>> learner.judge.suspects(every=True)[0][:3]
        (2, 'b', 'a')
        """
        learner = self._learner
        found = learner.answers.suspects(learner._moment, flag(every, "every"))
        return [one._replace(node=learner.graph.name(int(one.node))) for one in found]  # type: ignore[call-overload]  # indices

    @in_turn
    def group(self, n: int = 20, without: Collection[Hashable] = ()) -> Group | None:
        """Return nodes that look alike and are predicted alike with a probability of 0.9 or more, to be confirmed together.

        Parameters
        ----------
        n : int
            The number of nodes, at most.
        without : collection of hashable
            Nodes to leave out.

        Returns
        -------
        Group or None
            The nodes and the label predicted for them; None where there are not two such nodes.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.communities((30, 30), rng=0)[0], rng=0)
        >>> learner.tell_all({0: "left", 1: "left", 40: "right", 41: "right"})
        >>> group = learner.judge.group(6)
        >>> for node in group.nodes:
        ...     learner.tell(node, group.label)
        >>> len(learner.labels)
        10
        """
        learner, n, without = self._learner, whole_number(n, "n", 2), listed(without, "without")
        learner.answers.check_groups()
        turn = learner._next_turn(learner.field, learner.history)
        turn = replace(turn, aside={*turn.aside, *(learner.graph.index(node) for node in without)})
        found = Groups(learner.graph, n).takes(turn.narrowed(SetAside().narrows(turn)), n)
        if not found:
            return None
        label, nodes = found[0].predicted, [question.node for question in found]
        chance = float(learner.probabilities()[nodes, turn.classes.index(label)].mean())
        return Group(label, [learner.graph.name(node) for node in nodes], chance)

    @in_turn
    def advice(self) -> list[str]:
        """Return what a person should know about this graph, by the labels so far.

        Returns
        -------
        list of str
            Sentences: that the graph hardly predicts the labels, from 18 labels or ten audited labels on; from ten labels on,
            that many classes have a single label, or that components have no label; from 16 labels on,
            with ``noise="auto"``, that many answers look wrong.

        Examples
        --------
        >>> import askgraph as ag
        >>> graph = ag.Graph.from_edges([*zip(range(10), range(1, 11)), (11, 12)])  # a chain of 11 nodes, and a pair
        >>> learner = ag.Learner(graph, rng=0)
        >>> learner.tell_all({node: "left" if node < 6 else "right" for node in range(11)})
        >>> learner.judge.advice()[0].partition(":")[0]
        '1 of 2 components, 2 of 13 items, have no label'
        """
        return self._learner.answers.advice(self._learner._moment)

    @in_turn
    def left_to_find(self, label: Hashable) -> Left:
        """Return how many nodes of a class are found, and about how many are left.

        Parameters
        ----------
        label : hashable
            The class, or what :meth:`Plan.finding` takes for other answers.

        Returns
        -------
        Left
            The number found, an estimate of those left and a 90 % range. The range rests on this: nodes that were asked for
            were in the class at least as often as nodes drawn at random would have been.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.communities((40, 40), rng=0)[0], rng=0)
        >>> learner.tell_all({0: "wanted", 50: "other"})
        >>> for _ in range(50):
        ...     question = learner.question(plan=learner.plan.finding("wanted"))
        ...     learner.tell(question, "wanted" if question.node < 40 else "other")
        >>> left = learner.judge.left_to_find("wanted")
        >>> left.found, left.low <= left.value <= left.high
        (40, True)
        """
        kind = self._learner.answers
        return kind.left_to_find(self._learner._moment, kind.check_counted(label))

    @in_turn
    def to_read(self, label: Hashable, share: float = 0.95) -> int:
        """Return how many nodes to draw at random so that a share of a class is proven found, if none of them is in it.

        Parameters
        ----------
        label : hashable
            The class, or what :meth:`Plan.finding` takes for other answers.
        share : float
            The share of the class to be proven found.

        Returns
        -------
        int
            The number of nodes; 0 where the share is proven whatever is left, nearly all that are left where nothing is found.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.communities((40, 400), rng=0)[0], rng=0)
        >>> learner.tell_all({node: "wanted" for node in range(40)})
        >>> [learner.judge.to_read("wanted", share) for share in (0.8, 0.9, 0.95)]
        [95, 180, 253]
        """
        found = self._found(self._learner.answers.check_counted(label))
        return to_read(
            sum(found.values()), self._learner.graph.n_nodes - len(self._answered()), checked_share(share, "share")
        )

    @in_turn
    def sample(self, label: Hashable, n: int) -> Sample:
        """Draw nodes at random from what is left, to certify with :meth:`certify` what share of a class is found.

        Choose their number by :meth:`to_read` before any of them is seen, and tell the labels of all of them.

        Parameters
        ----------
        label : hashable
            The class, or what :meth:`Plan.finding` takes for other answers.
        n : int
            The number of nodes.

        Returns
        -------
        Sample
            Its ``nodes``, up to n that are not labeled and not set aside, each as likely as any other, and what was left.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.communities((40, 400), rng=0)[0], rng=0)
        >>> learner.tell_all({node: "wanted" for node in range(40)})
        >>> sample = learner.judge.sample("wanted", 180)
        >>> len(sample.nodes), sample.left
        (180, 400)
        """
        label, answered = self._learner.answers.check_counted(label), frozenset(self._answered())
        nodes = tuple(self._drawn(whole_number(n, "n", 1), SAMPLE))
        return Sample(label, nodes, self._learner.graph.n_nodes - len(answered), answered)

    @in_turn
    def certify(self, sample: Sample) -> Certificate:
        """Return what share of a class is found at least, with 95 % confidence, by a random sample of what was left.

        It is exact (hypergeometric), and proves nothing until the whole sample is told. Other nodes may be told meanwhile.
        Who reads a second sample of a class takes 0.05 off the confidence: it had two chances to mislead.

        Parameters
        ----------
        sample : Sample
            What :meth:`sample` drew.

        Returns
        -------
        Certificate
            The share, the confidence, and what they rest on. Prints as a sentence.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.communities((40, 400), rng=0)[0], rng=0)
        >>> learner.tell_all({node: "wanted" for node in range(40)})
        >>> sample = learner.judge.sample("wanted", learner.judge.to_read("wanted"))
        >>> learner.tell_all({node: "other" for node in sample.nodes})
        >>> certificate = learner.judge.certify(sample)
        >>> print(certificate)  # doctest: +ELLIPSIS
        at least 95% found, with 95% confidence (40 found; 253 items drawn at random of the 400 left were read, ...)
        """
        if not isinstance(sample, Sample):
            raise SettingError(f"{sample!r} is not a sample: give what learner.judge.sample(label, n) drew")
        told = self._found(sample.label)
        return certify(sample, told, self._answered() - told.keys())

    def _found(self, label: Hashable) -> dict[Hashable, bool]:
        """Return whether each labeled node is what is sought."""
        learner = self._learner
        return {
            learner.graph.name(node): learner.answers.is_found(answer, label)
            for node, answer in learner.history.told.items()
        }

    def _answered(self) -> set[Hashable]:
        """Return the nodes that are labeled or set aside."""
        learner = self._learner
        return {learner.graph.name(node) for node in {*learner.history.told, *learner.history.set_aside}}
