"""What a learner shows of itself: a line, a card for notebooks, a frame, pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from askgraph.kinds import Kind
from askgraph.learner.frames import predictions_frame
from askgraph.learner.state import Whole
from askgraph.plan.set_aside import why_finished
from askgraph.support.notebook import card, drawn, tally


class Shown:
    """A line, a card, a frame and pictures, for a learner."""

    def __repr__(self: Whole) -> str:
        labels, classes, kind = self.field.held, len(self.history.classes), self.answers
        said = [f"{labels} labels", f"{classes} classes"] if kind.by_class else [f"{labels} numbers"]
        said += [] if kind.name == "classes" else [f"answers={kind.name!r}"]
        return f"Learner({', '.join([f'{self.graph.n_nodes} nodes', *said])}, engine={self.field.prior.name!r})"

    def to_frame(self, nodes: Sequence[Hashable] | None = None) -> Any:
        """Return what is predicted as a pandas frame, one row per node (``pip install "askgraph[frames]"``).

        The column ``label`` is the prediction: a category, whose categories have their order where classes do; a tuple where
        nodes may have several classes; a number. ``probability`` is that of the label; of several classes, ``probability_CLASS``
        that of each; of numbers, ``low`` and ``high`` are the ends of a range that holds nine in ten answers. ``told`` says which
        labels were told.

        Parameters
        ----------
        nodes : sequence, optional
            Some nodes; by default all, in the order of the graph.

        Returns
        -------
        pandas.DataFrame
            The predictions; the index is the nodes.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.Graph.from_edges([("ann", "bob"), ("bob", "cy")]), rng=0)
        >>> learner.tell_all({"ann": "left", "cy": "right"})
        >>> learner.to_frame()
             label  probability   told
        ann   left          1.0   True
        bob   left          0.5  False
        cy   right          1.0   True
        """
        return predictions_frame(self, nodes)

    def plot(self, axes: Any = None) -> Any:
        """Draw what is predicted where, with matplotlib (``pip install "askgraph[plot]"``).

        A color per class, paler where it is less sure; where nodes may have several classes, that of the likeliest one. Ordered
        classes and numbers have colors from dark to light. Labeled nodes have a ring, the next question is a star.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes, without ticks: only nearness in the picture has a meaning.

        Examples
        --------
        >>> import askgraph as ag
        >>> ag.Learner(ag.chain(5), rng=0).plot()  # doctest: +SKIP
        """
        return drawn("plot_learner", self, axes)

    def plot_curve(self, truth: Mapping[Any, Hashable] | Sequence[Hashable], axes: Any = None) -> Any:
        """Draw how right predictions were after each label told, with matplotlib (``pip install "askgraph[plot]"``).

        That is the share of right predictions; of several classes F1, of ordered classes the mean number of steps off, and of
        numbers the root of the mean squared error.

        Parameters
        ----------
        truth : mapping or sequence
            {node: label} as it really is, or one label per node in the graph's order.
        axes : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes: labels told, and how right predictions were of nodes that were not labeled then.

        Examples
        --------
        >>> import askgraph as ag
        >>> learner = ag.Learner(ag.chain(5), rng=0)
        >>> learner.tell_all({0: "left", 4: "right"})
        >>> learner.plot_curve(["left", "left", "left", "right", "right"])  # doctest: +SKIP
        """
        return drawn("plot_curve", self, truth, axes)

    def _repr_html_(self: Whole) -> str:
        """Return a card for notebooks."""
        field, kind = self.field, self.answers
        rows: dict[str, object] = {"nodes": f"{self.graph.n_nodes:,}", "labels": f"{field.held:,}"}
        if kind.name != "classes":
            rows["answers"] = kind.name
        rows |= (
            {"classes": _tally(self)}
            if kind.by_class
            else {"numbers": _range_of(list(self.history.told.values()), kind)}
        )
        rows["sampler"] = self.plan.sampler.name
        rows["engine"] = field.prior.reason
        finished = why_finished(field, self.history.set_aside)
        return card("Learner", rows | ({"finished": finished} if finished else {}))


def _tally(learner: Whole) -> str:
    """Return the classes, each with its number of labels."""
    told = Counter(name for label in learner.history.told.values() for name in learner.answers.named(label))
    return tally(learner.history.classes, told)


def _range_of(numbers: Sequence[Any], kind: Kind) -> str:
    """Return the lowest and the highest number told, with their unit."""
    if not numbers:
        return "none yet"
    unit = getattr(kind, "unit", None)
    return f"{min(numbers):.4g} to {max(numbers):.4g}{f' {unit}' if unit else ''}"
