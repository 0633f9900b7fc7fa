"""Whether labeling along a graph suits a table or a graph: what is there, what to improve, settings, speed, what to expect."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import SettingError
from askgraph.graph import Graph
from askgraph.graph.sources import SOURCES, TARGETS
from askgraph.io.readers import TABLES
from askgraph.io.tables import Table
from askgraph.io.text import TEXT, FilePath
from askgraph.learner import Learner
from askgraph.priors.base import HUB
from askgraph.support.label_names import USUAL_LABELS
from askgraph.support.progress import bar, working
from askgraph.support.wording import counted, few
from askgraph.types import IntArray
from askgraph.workbench.items import ONE_CLASS, find_items, make_items, read_labels
from askgraph.workbench.offers import offer_answers
from askgraph.workbench.source import Source, read_columns

GRAPHS = (".npz", ".mtx", ".graphml", ".gml", ".edges")  # files that hold graphs and no tables
BUDGET = 50  # labels that a beginner can be expected to give
MIN_LABELS = 20  # below, a trial on the labels there are would judge by fewer than ten items
SPLITS = 3  # trials with other labels held back, averaged
MARGIN = 0.05  # share of right predictions above that of the commonest class, from which a graph is said to help
MANY_ALONE = 0.2  # share of items without a neighbor, or in small parts, that is too large to leave alone
SMALL_PART = 20  # items, or a tenth of all if that is less: a smaller part of the graph is called small
ABOUT_HUBS = (
    "their labels may mislead about their neighbors, and count for less by default; let spot checks judge predictions"
)
MANY_HUBS = 0.05  # share of items with more than twice the median number of neighbors
UNEQUAL = 100.0  # widest over median range of columns that are not scaled: beyond, the widest decides alone
WIDE = 500  # columns of numbers: beyond, distances say little unless the columns belong together, as pixels do
TIMED = 5  # questions timed
MAX_SECONDS = 60.0  # a trial that would take longer is left out, and said so
SPOT_CHECK = 20  # items drawn at random, as many as a patient person checks


@dataclass(frozen=True)
class Trial:
    """Predictions for items whose labels are known: by labels drawn at random, by chosen questions, and by the commonest class."""

    labels: int
    judged: int
    right: float
    commonest: float
    by_questions: float | None = None

    @property
    def helps(self) -> bool:
        """Whether predictions along the graph beat the commonest class by more than chance."""
        error = 2 * np.sqrt(self.commonest * (1 - self.commonest) / self.judged)
        return self.right - self.commonest > max(MARGIN, float(error))


@dataclass(frozen=True)
class Suitability:
    """What was found of a table or a graph, in plain sentences."""

    verdict: str
    found: list[str]
    improve: list[str]
    settings: list[str]
    speed: str
    expect: list[str]
    experts: str
    homophily: float | None
    trial: Trial | None

    def lines(self) -> list[str]:
        """Return the report, one line each."""
        return [
            self.verdict,
            *(f"found: {line}" for line in self.found),
            *(f"to do: {line}" for line in self.improve),
            *(f"settings: {line}" for line in self.settings),
            f"speed: {self.speed}",
            *(f"expect: {line}" for line in self.expect),
            f"for experts: {self.experts}",
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as a plain dictionary."""
        return asdict(self)


def is_graph_file(path: FilePath, sheet: str | None = None, encoding: str | None = None) -> bool:
    """Return whether a file holds a graph and not a table: by its suffix, or by columns called source and target."""
    kind = Path(path).suffix.casefold()
    if kind in GRAPHS or kind not in (*TEXT, *TABLES) or Path(path).is_dir():
        return kind in GRAPHS
    words = {str(name).casefold() for name in read_columns(path, sheet, encoding).header}
    return bool(words & SOURCES and words & TARGETS)


def examine(source: Source, labels: Mapping[str, str] | None = None) -> Suitability:
    """Read a table or a graph and judge it; ``labels`` are labels by id, beside those in the table's own column."""
    filled, table = find_items(source)
    items, graph, notes = make_items(filled, table)
    places = {id: k for k, id in enumerate(items.ids)}
    known, about = _look_at_labels(filled, table)
    for id, label in (labels or {}).items():
        if id not in places:
            raise SettingError(
                f"there is a label for {id!r}, and no item has that id; name the column of ids with --id"
            )
        known[places[id]] = label
    columns, improve = _look_at_columns(filled, table, notes) if table is not None else ([], [])
    return judge(graph, items.features, known, [*items.notes, *notes, *graph.notes, *columns, *about], improve)


def _look_at_labels(source: Source, table: Table | None) -> tuple[dict[int, str], list[str]]:
    """Return the labels of a table by rows, and what they look like; none where they are no single classes, which are judged."""
    if table is None or not source.labels:
        return {}, []
    offer = offer_answers(table, source.labels)
    about = [] if offer is None else [offer.sentence]
    if offer is not None and offer.answers != "ordered":
        return {}, [*about, f"labels in {few(source.labels)} are not judged here: only one class per item is"]
    labels = read_labels(table, source.labels, ONE_CLASS, ())
    return {k: str(label) for k, label in enumerate(labels) if label is not None}, about


def judge(
    graph: Graph, features: Any, known: Mapping[int, str], notes: Sequence[str], improve: Sequence[str] = ()
) -> Suitability:
    """Judge a graph with the labels there are; ``notes`` say how it was made and ``improve`` what is known to do already."""
    shape, shape_to_do, broken = look_at_shape(graph)
    alike, expected = homophily(graph, known)
    with working("timing questions"):
        learner, setup, question = _timed(graph, features, known)
    trial = _try(graph, features, known, question)
    found = [*notes, *shape, *describe_labels(known, alike, expected)]
    return Suitability(
        verdict=_verdict(trial, broken, len(known), graph.n_nodes),
        found=found,
        improve=[*improve, *shape_to_do, *_advise_on_labels(known, trial)],
        settings=_settings(graph),
        speed=_speed(setup, question),
        expect=[*_expect(trial, known, graph.n_nodes, question), *_spot_check(trial, graph.n_nodes)],
        experts=_for_experts(learner),
        homophily=alike,
        trial=trial,
    )


def _look_at_columns(source: Source, table: Table, notes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return sentences on the columns that items are compared by; the notes on items say which they are not compared by."""
    compared = [*(source.features or ()), *(source.texts or ())]
    found: list[str] = []
    improve: list[str] = []
    if source.label is None and (named := [name for name in compared if name.casefold() in USUAL_LABELS]):
        improve.append(
            f"column {named[0]!r} is compared like the others; if it holds the labels, say --label {named[0]}"
        )
    if source.features:
        numbers = _look_at_numbers(
            table, source.features, scaled=any("scaled (" in note or "[−1" in note for note in notes)
        )
        found, improve = [*found, *numbers[0]], [*improve, *numbers[1]]
    if compared:
        rows = Counter(zip(*(map(str, table.cells(name)) for name in compared), strict=True))
        again = sum(count - 1 for count in rows.values())
        if again:
            found.append(
                f"{counted(again, 'item')} like an earlier one in every compared column: one label serves for all alike"
            )
    return found, improve


def _look_at_numbers(table: Table, names: Sequence[str], scaled: bool) -> tuple[list[str], list[str]]:
    columns = {name: values for name in names if (values := table.floats(name)) is not None}
    ranges = {name: float(np.ptp(values)) for name, values in columns.items()}
    constant = [name for name, width in ranges.items() if width == 0]
    varied = [width for width in ranges.values() if width > 0]
    found, improve = [f"{counted(len(names), 'column')} of numbers"], []
    if varied:
        widest = max(ranges, key=lambda name: ranges[name])
        found[0] += f", ranges {min(varied):.3g} to {max(varied):.3g} (widest: {widest!r})"
        if not scaled and max(varied) > UNEQUAL * float(np.median(varied)):
            improve.append(
                f"column {widest!r} is far wider than the others and decides alone who is alike: --scale unit"
            )
    if constant:
        found.append(f"{few(constant)} the same in every item: no help, no harm")
    if len(names) > WIDE:
        improve.append(
            f"{len(names):,} columns compared one by one: fine for pixels of centered pictures; for other pictures and for texts "
            "give vectors of a model (--vectors, or askgraph embed)"
        )
    return found, improve


def look_at_shape(graph: Graph) -> tuple[list[str], list[str], bool]:
    """Return sentences on parts and hubs, what to do about them, and whether the graph is too much in pieces to be of use."""
    report, n = graph.report(), graph.n_nodes
    sizes = np.bincount(graph.components())
    limit = min(SMALL_PART, n // 10)
    small = int(sizes[(sizes > 1) & (sizes < limit)].sum())
    neighbors = np.diff(graph.weights.indptr)
    hubs = share_of_hubs(graph)
    share = f"{hubs:.1%} of the items have" if hubs else "no item has"
    found = [
        f"{counted(n, 'item')}, {counted(report.edges, 'edge')} that join two, {counted(report.components, 'part')}; "
        f"the largest has {report.largest / n:.0%} of the items",
        f"{share} more than twice the usual {np.median(neighbors):.0f} neighbors (at most {neighbors.max():,})",
    ]
    improve = [f"the graph: {note}" for note in graph.notes if "without direction" in note]
    if report.isolated:
        improve.append(
            f"{counted(report.isolated, 'item')} without a neighbor: nothing can be predicted for them; add edges, "
            "or more columns to compare"
        )
    if small:
        improve.append(f"{counted(small, 'item')} in parts of fewer than {limit}: each part needs a label of its own")
    improve += look_at_degrees(graph)
    return found, improve, (report.isolated + small) / n > MANY_ALONE


def look_at_degrees(graph: Graph) -> list[str]:
    """Return a sentence on hubs where there are many."""
    hubs = share_of_hubs(graph)
    return [f"{hubs:.0%} of the items have far more neighbors than usual: {ABOUT_HUBS}"] if hubs > MANY_HUBS else []


def share_of_hubs(graph: Graph) -> float:
    """Return the share of nodes with more than twice the median number of neighbors, as the learner tells hubs."""
    neighbors = np.diff(graph.weights.indptr)
    return float((neighbors > HUB * max(float(np.median(neighbors)), 1.0)).mean())


def homophily(graph: Graph, known: Mapping[int, str]) -> tuple[float | None, float]:
    """Return the share of edge weight between like labels where both ends are known, and what chance would give."""
    if len(known) < 2:
        return None, 0.0
    classes, codes = _coded(known)
    code = np.full(graph.n_nodes, -1)
    code[list(known)] = codes
    edges = graph.weights.tocoo()
    both = (code[edges.row] >= 0) & (code[edges.col] >= 0)
    weight = edges.data[both]
    if not weight.size:
        return None, 0.0
    shares = np.bincount(codes, minlength=len(classes)) / codes.size
    return float(weight[code[edges.row[both]] == code[edges.col[both]]].sum() / weight.sum()), float((shares**2).sum())


def _coded(known: Mapping[int, str]) -> tuple[list[str], IntArray]:
    classes = sorted(set(known.values()))
    place = {name: k for k, name in enumerate(classes)}
    return classes, np.array([place[name] for name in known.values()])


def describe_labels(known: Mapping[int, str], alike: float | None, expected: float) -> list[str]:
    """Return sentences on the labels there are, given what `homophily` returns."""
    if not known:
        return ["no labels yet"]
    names = [f"{name} ({count})" for name, count in Counter(known.values()).most_common()]
    found = [f"{counted(len(known), 'label')}: {few(names)}"]
    if alike is not None:
        found.append(
            f"of joined items that both have a label, {alike:.0%} have the same one; by chance it would be {expected:.0%}"
        )
    return found


def _advise_on_labels(known: Mapping[int, str], trial: Trial | None) -> list[str]:
    alone = [name for name, count in Counter(known.values()).items() if count == 1]
    found = (
        [f"{few(alone)}: a single label each; give five per class, or merge classes"]
        if alone and len(known) > 1
        else []
    )
    if trial is not None and not trial.helps:
        found.append(
            "neighbors share labels no more often than chance would have it: try other columns, vectors of a model, another graph, "
            "or do without one"
        )
    return found


def _timed(graph: Graph, features: Any, known: Mapping[int, str]) -> tuple[Learner, float, float]:
    """Return a learner with two labels, seconds to make one, and seconds of a question and its answer."""
    started = time.perf_counter()
    learner = Learner(graph, rng=0, features=features, spot_checks=8)
    for k in range(min(2, graph.n_nodes - 1)):
        learner.tell(learner.ask(), f"class {k}")
    setup, seconds = time.perf_counter() - started, []
    for k in range(min(TIMED, graph.n_nodes - 2)):
        started = time.perf_counter()
        learner.tell(learner.ask(), f"class {k % 2}")
        seconds.append(time.perf_counter() - started)
    return learner, setup, float(np.median(seconds)) if seconds else 0.0


def _try(graph: Graph, features: Any, known: Mapping[int, str], question: float) -> Trial | None:
    """Predict known labels from others of them; None if there are too few, of one class, or it would take too long."""
    if len(known) < MIN_LABELS or len(set(known.values())) < 2 or question * BUDGET * (SPLITS + 1) > MAX_SECONDS:
        return None
    given, nodes = min(BUDGET, len(known) // 2), np.array(list(known))
    right, commonest = [], []
    asked = len(known) == graph.n_nodes and given < len(known)
    with bar((SPLITS + asked) * given, "trying on the labels there are") as tick:
        for seed in range(SPLITS):
            chosen = np.random.default_rng(seed).permutation(nodes)
            learner = Learner(graph, rng=seed, features=features)
            learner.tell_all({graph.name(int(node)): known[int(node)] for node in chosen[:given]})
            tick(given)
            right.append(_share_right(learner, known, chosen[given:]))
            commonest.append(_share_of_commonest(known, chosen[:given], chosen[given:]))
        questions = _by_questions(graph, features, known, given, tick) if asked else None
    return Trial(given, nodes.size - given, float(np.mean(right)), float(np.mean(commonest)), questions)


def _by_questions(graph: Graph, features: Any, known: Mapping[int, str], budget: int, tick: Any) -> float:
    learner, told = Learner(graph, rng=0, features=features, spot_checks=8), set()
    for _ in range(budget):
        node = learner.ask()
        place = graph.index(node)
        learner.tell(node, known[place])
        told.add(place)
        tick()
    return _share_right(learner, known, np.array([node for node in known if node not in told]))


def _share_right(learner: Learner, known: Mapping[int, str], nodes: IntArray) -> float:
    predicted = learner.predict()
    return float(np.mean([predicted[node] == known[int(node)] for node in nodes]))


def _share_of_commonest(known: Mapping[int, str], told: IntArray, judged: IntArray) -> float:
    ((name, _),) = Counter(known[int(node)] for node in told).most_common(1)
    return float(np.mean([known[int(node)] == name for node in judged]))


def _verdict(trial: Trial | None, broken: bool, labels: int, n: int) -> str:
    if trial is not None and trial.helps:
        return "does it suit? Yes. Joined items share labels: predictions beat guessing the commonest class by more than chance."
    if trial is not None:
        return "does it suit? Not as it is. Predictions are hardly better than always guessing the commonest class."
    if broken:
        return (
            "does it suit? Hardly, as it is. The items are in many small groups that nothing joins, and a label says nothing about "
            "the other groups."
        )
    if labels >= MIN_LABELS:
        return (
            "does it suit? Nothing speaks against it so far. The labels there are were not tried, as they are all of one "
            "class or it would take over a minute."
        )
    label_some = f"Label {MIN_LABELS} items and run this again." if n >= MIN_LABELS else f"Label all {n}: they are few."
    return f"does it suit? Nothing speaks against it so far. Whether joined items share labels, only labels tell. {label_some}"


def _settings(graph: Graph) -> list[str]:
    crowded = [
        "items with far more neighbors than usual: their labels count for less, and every fourth question goes elsewhere"
    ]
    return [
        "questions: the item is asked for whose answer changes the most predictions",
        "predictions: from labels of joined items; as far as these do not share labels, by how common each class is",
        *(crowded if share_of_hubs(graph) else []),
        "spot checks: every eighth question is drawn at random, so that the share of right predictions is measured, not believed",
    ]


def _for_experts(learner: Learner) -> str:
    """Return the names and figures of the settings, as the guide has them."""
    ridge = f"ridge {learner.field.origin.delta:.3g} (a thousandth of the mean degree)"
    return f"sampler influence, readout cautious, {ridge}, engine {learner.engine}"


def _expect(trial: Trial | None, known: Mapping[int, str], n: int, question: float) -> list[str]:
    if trial is not None:
        how = f"{trial.labels} labels drawn at random predict {trial.right:.0%} of the other {trial.judged:,} known labels right; "
        found = [f"{how}always guessing the commonest class: {trial.commonest:.0%} (means of {SPLITS} draws)"]
        if trial.by_questions is not None:
            found.append(
                f"{trial.labels} chosen questions on these labels: {trial.by_questions:.0%} of the others right"
            )
        return found
    slow = len(known) >= MIN_LABELS and question * BUDGET * (SPLITS + 1) > MAX_SECONDS
    why = (
        "a trial on the labels there are would take over a minute"
        if slow
        else "it depends on whether neighbors share labels"
    )
    return [
        f"of {min(BUDGET, n)} labels: {why}. On the labeled graphs of docs/accuracy.md five labels per class got 86 % right "
        "(development), 76 % (validation) and 71 % (wild graphs)"
    ]


def _spot_check(trial: Trial | None, n: int) -> list[str]:
    if n <= SPOT_CHECK:
        return []
    right = 0.8 if trial is None else min(max(trial.by_questions or trial.right, 0.5), 0.97)
    within = 1.96 * float(np.sqrt(right * (1 - right) / SPOT_CHECK))
    return [
        f"a spot check: {SPOT_CHECK} items drawn at random and labeled tell the share of right predictions to about "
        f"±{within:.0%}; {min(BUDGET, n)} labels hold {min(BUDGET, n) // 8} such items already"
    ]


def _speed(setup: float, question: float) -> str:
    begin = f"{_seconds(setup)} to begin (longer the first time, when code is compiled)"
    return f"{begin}, then {_seconds(question)} for a question and its answer, measured here"


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 1 else f"{max(round(1000 * value), 1)} ms"
