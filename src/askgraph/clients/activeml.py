"""Askgraph's samplers as query strategies of scikit-activeml, for a loop that is there already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from askgraph.answers.plain import plain_label
from askgraph.errors import MissingExtraError
from askgraph.estimator import GraphClassifier, GraphRegressor
from askgraph.estimator.rows import within_floats
from askgraph.estimator.targets import UNLABELED, numbers_of
from askgraph.learner import Learner
from askgraph.options import options_of, with_options, with_usual_options
from askgraph.plan import Turn
from askgraph.support.moved import with_new_names
from askgraph.types import AnyArray, Array, BoolArray, IntArray

GRAPH = ("graph", "k", "metric", "bandwidth", "scale", "linear")  # parameters that say what joins the samples
NAMES = ("GraphQueryStrategy", "GraphRegressionStrategy")


def _strategies() -> dict[str, type]:
    """Return the classes by their names; they inherit from one of scikit-activeml's, and are made when first asked for."""
    try:
        from skactiveml.base import SingleAnnotatorPoolQueryStrategy
        from skactiveml.utils import MISSING_LABEL, is_labeled
    except ImportError:
        raise MissingExtraError('scikit-activeml is not installed: pip install "askgraph[activeml]"') from None

    class OnGraph(SingleAnnotatorPoolQueryStrategy):  # type: ignore[misc]  # scikit-activeml has no types
        """What strategies share: ask as a learner would that was told what is known."""

        def query(
            self,
            X: Any,
            y: Any,
            candidates: Any = None,
            batch_size: int = 1,
            return_utilities: bool = False,
            clf: Any = None,
            reg: Any = None,
        ) -> IntArray | tuple[IntArray, Array]:
            """Choose the samples to label next.

            Parameters
            ----------
            X : array
                All samples, one row each, labeled or not.
            y : array
                One label per sample, ``missing_label`` where it is not known.
            candidates : array, optional
                The indices of the samples that may be chosen, or such samples themselves; by default the unlabeled ones.
            batch_size : int
                The number of samples to choose.
            return_utilities : bool
                Whether to return the scores that they were chosen by too.
            clf, reg : estimator, optional
                The model that a loop hands to every strategy; not read, as the field on the graph is the model that asks.

            Returns
            -------
            indices : array of int
                The samples chosen: indices into X, or into ``candidates`` where those are samples.
            utilities : array
                With ``return_utilities``, one row per sample chosen and one score per sample: NaN for those that could not be
                chosen, and 0 where the sample was drawn at random, as the first one is.
            """
            with within_floats("X, y or candidates"):
                checked = self._validate_data(X, y, candidates, batch_size, return_utilities, reset=True)
            X, y, candidates, batch_size, return_utilities = checked
            rows, at = self._transform_candidates(candidates, X, y)
            labeled = is_labeled(y, self.missing_label_)
            told = self._told(y, labeled)
            if at is not None:
                chosen, scores = self._chosen(X, told, labeled, at, batch_size)
            else:
                at, more = _places(X, rows)
                told, labeled = (np.concatenate([x, np.zeros(len(more), x.dtype)]) for x in (told, labeled))
                chosen, scores = self._chosen(np.concatenate([X, more]), told, labeled, at, batch_size)
                chosen, scores = np.array([np.flatnonzero(at == node)[0] for node in chosen]), scores[:, at]
            return (chosen, scores) if return_utilities else chosen

        def _chosen(
            self, X: Array, told: AnyArray, labeled: BoolArray, at: IntArray, batch_size: int
        ) -> tuple[IntArray, Array]:
            """Return the samples chosen, one after another, and the scores of those that each was chosen among."""
            known, at = labeled.copy(), np.unique(at)
            known[at] = False  # a labeled sample that is asked for again counts as if it had no label yet
            how = {name: getattr(self, name) for name in (*GRAPH, "sampler", "delta", "engine")}
            seed = int(self.random_state_.randint(2**31))
            learner = self._learner(X, told, known, {**how, **options_of(self), "random_state": seed})
            plan, field = learner.plan, learner.field
            aside = np.setdiff1d(np.flatnonzero(~known), at).tolist()
            turn = Turn.of(field, field.held, seed, aside, learner.classes)
            chosen, scores = np.empty(min(batch_size, at.size), dtype=np.int64), np.full((batch_size, len(X)), np.nan)
            for k in range(chosen.size):
                nodes = plan.narrowed(turn).nodes
                field, scores[k, nodes] = plan.scores(turn, nodes)
                field, (question,) = plan.ask(replace(turn, field=field))
                if question.by != plan.sampler.name:
                    scores[k, nodes] = 0.0  # drawn at random
                chosen[k] = question.node
                turn = turn.after([question], field.await_answer(question.node))
            return chosen, scores[: chosen.size]

    class GraphQueryStrategy(OnGraph):
        """Ask for the sample whose label is expected to change a Gaussian field on a graph of the samples most.

        All of X makes the graph, labeled or not, so pass the whole pool. Nodes of a batch are chosen one after another, each as
        if those before it were labeled and their answers pending.

        Parameters
        ----------
        sampler : str, Criterion, callable or Plan
            How samples are chosen, as in :class:`askgraph.Learner`.
        graph, k, metric, bandwidth, scale, linear, delta, readout, engine
            As in :class:`askgraph.GraphClassifier`.
        missing_label : scalar, str, None or NaN
            What y has where a label is not known.
        random_state : int, RandomState or None
            The seed.
        doubt, class_shares, form, expect, ahead, explore, first, batch, small_components, hubs, spot_checks
            Options of the plan, as in :class:`askgraph.Learner`.

        Examples
        --------
        >>> from askgraph.clients.activeml import GraphQueryStrategy
        >>> strategy = GraphQueryStrategy(k=2, random_state=0)  # doctest: +SKIP
        >>> strategy.query([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, np.nan, np.nan, np.nan, np.nan])  # doctest: +SKIP
        array([4])
        """

        @with_new_names({"utility": "sampler"})
        @with_options
        def __init__(
            self,
            sampler: Any = "influence",
            graph: str = "neighbors",
            k: int = 10,
            metric: str = "euclidean",
            bandwidth: Any = "self-tuning",
            scale: bool = False,
            linear: bool = False,
            delta: float | None = None,
            readout: Any = "cautious",
            engine: Any = "auto",
            missing_label: Any = MISSING_LABEL,
            random_state: Any = None,
        ) -> None:
            super().__init__(missing_label=missing_label, random_state=random_state)
            self.sampler = sampler
            self.graph = graph
            self.k = k
            self.metric = metric
            self.bandwidth = bandwidth
            self.scale = scale
            self.linear = linear
            self.delta = delta
            self.readout = readout
            self.engine = engine

        def _told(self, y: AnyArray, labeled: BoolArray) -> AnyArray:
            """Return the number of each label's class, so that any label will do, −1 too."""
            codes, seen = np.full(len(y), UNLABELED), dict[Any, int]()
            for at in np.flatnonzero(labeled).tolist():
                codes[at] = seen.setdefault(plain_label(y[at]), len(seen))
            return codes

        def _learner(self, X: Array, told: AnyArray, known: BoolArray, how: dict[str, Any]) -> Learner:
            """Return a learner that was told the classes known."""
            how |= {"readout": self.readout}
            return GraphClassifier(**how).fit(X, np.where(known, told, UNLABELED)).learner_

    class GraphRegressionStrategy(OnGraph):
        """Ask for the sample whose number is expected to teach most about the numbers of all others.

        The numbers known choose how sure a number is, and where one is asked for next depends on the graph and on what is known
        already, not on the numbers themselves. All of X makes the graph, so pass the whole pool.

        Parameters
        ----------
        sampler : str, Criterion, callable or Plan, optional
            How samples are chosen, as in :class:`askgraph.GraphRegressor`.
        graph, k, metric, bandwidth, scale, linear, delta, link, engine
            As in :class:`askgraph.GraphRegressor`.
        missing_label : scalar, None or NaN
            What y has where a number is not known.
        random_state : int, RandomState or None
            The seed.
        doubt, class_shares, form, expect, ahead, explore, first, batch, small_components, hubs, spot_checks
            Options of the plan, as in :class:`askgraph.Learner`.

        Examples
        --------
        >>> from askgraph.clients.activeml import GraphRegressionStrategy
        >>> strategy = GraphRegressionStrategy(k=2, random_state=0)  # doctest: +SKIP
        >>> strategy.query([[0.0], [1.0], [2.0], [3.0], [4.0]], [7.5, np.nan, np.nan, np.nan, np.nan])  # doctest: +SKIP
        array([4])
        """

        @with_usual_options(first="utility")
        def __init__(
            self,
            sampler: Any = None,
            graph: str = "neighbors",
            k: int = 10,
            metric: str = "euclidean",
            bandwidth: Any = "self-tuning",
            scale: bool = False,
            linear: bool = False,
            delta: float | None = None,
            link: str = "identity",
            engine: Any = "auto",
            missing_label: Any = MISSING_LABEL,
            random_state: Any = None,
        ) -> None:
            super().__init__(missing_label=missing_label, random_state=random_state)
            self.sampler = sampler
            self.graph = graph
            self.k = k
            self.metric = metric
            self.bandwidth = bandwidth
            self.scale = scale
            self.linear = linear
            self.delta = delta
            self.link = link
            self.engine = engine

        def _told(self, y: AnyArray, labeled: BoolArray) -> AnyArray:
            """Return the numbers, NaN where they are not known."""
            numbers, known = numbers_of(
                [number if there else None for number, there in zip(y, labeled, strict=True)], len(y)
            )
            return np.where(known, numbers, np.nan)

        def _learner(self, X: Array, told: AnyArray, known: BoolArray, how: dict[str, Any]) -> Learner:
            """Return a learner that was told the numbers known."""
            how |= {"link": self.link}
            return GraphRegressor(**how).fit(X, np.where(known, told, np.nan)).learner_

    made: dict[str, type] = {
        "GraphQueryStrategy": GraphQueryStrategy,
        "GraphRegressionStrategy": GraphRegressionStrategy,
    }
    for name, strategy in made.items():
        strategy.__qualname__ = name
    return made


def _places(X: Array, rows: Array) -> tuple[IntArray, Array]:
    """Return where these samples stand in X, or after it, and those that are not in X."""
    place = {row.tobytes(): at for at, row in enumerate(X)}
    new = [row for row in rows if row.tobytes() not in place]
    place.update({row.tobytes(): len(X) + at for at, row in enumerate(new)})
    return np.array([place[row.tobytes()] for row in rows]), np.array(new).reshape(-1, X.shape[1])


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals().update(_strategies())
    return globals()[name]
