"""What a learner shows of itself: a line, a card for notebooks, pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from askgraph.learner.asking import Asker
from askgraph.support.notebook import card, drawn, tally


class Shown(Asker):
    """A learner that can be looked at."""

    def __repr__(self) -> str:
        labels, engine = len(self.labels), self._field.prior.name
        return f"Learner({self.graph.n_nodes} nodes, {labels} labels, {len(self.classes)} classes, engine={engine!r})"

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

    def _repr_html_(self) -> str:
        """Return a card for notebooks."""
        told = Counter(self.labels.values())
        rows: dict[str, object] = {"nodes": f"{self.graph.n_nodes:,}", "labels": f"{len(self.labels):,}"}
        rows["classes"] = tally(self.classes, told)
        utility = self.settings.utility
        rows["sampler"] = utility if isinstance(utility, str) else getattr(utility, "__name__", type(utility).__name__)
        rows["engine"] = self.engine
        rows |= {"finished": self.finished} if self.finished else {}
        return card("Learner", rows)
