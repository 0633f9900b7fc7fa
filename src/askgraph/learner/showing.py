"""What a learner shows of itself: a line, a card for notebooks, pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from askgraph.learner.state import Whole
from askgraph.plan.set_aside import why_finished
from askgraph.support.notebook import card, drawn, tally


class Shown:
    """A line, a card and pictures, for a learner."""

    def __repr__(self: Whole) -> str:
        labels, classes = self.field.held, len(self.history.classes)
        return (
            f"Learner({self.graph.n_nodes} nodes, {labels} labels, {classes} classes, engine={self.field.prior.name!r})"
        )

    def plot(self, axes: Any = None) -> Any:
        """Draw what is predicted where, with matplotlib (``pip install "askgraph[plot]"``).

        A color per class, paler where it is less sure; labeled nodes have a ring, the next question is a star.

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
        """Draw the share of right predictions after each label told, with matplotlib (``pip install "askgraph[plot]"``).

        Parameters
        ----------
        truth : mapping or sequence
            {node: label} as it really is, or one label per node in the graph's order.
        axes : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes: labels told, and the share of right predictions among nodes that were not labeled then.

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
        field, classes = self.field, self.history.classes
        told = Counter(name for label in self.history.told.values() for name in self.answers.named(label))
        rows: dict[str, object] = {"nodes": f"{self.graph.n_nodes:,}", "labels": f"{field.held:,}"}
        rows["classes"] = tally(classes, told)
        rows["sampler"] = self.plan.sampler.name
        rows["engine"] = field.prior.reason
        finished = why_finished(field, self.history.set_aside)
        return card("Learner", rows | ({"finished": finished} if finished else {}))
