"""Values that do not belong, in every place of the public functions: each must give a sound result or an error of ours.

``python -m tests.helpers.bad_inputs`` tries all of them and prints what escapes.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import askgraph as ag
from askgraph.errors import MAX_CHARACTERS
from askgraph.layout import layout
from askgraph.workbench.source import Source
from tests.helpers.bad_places import more_places
from tests.helpers.projects import make

SECONDS, WALL_SECONDS = 30.0, 900.0  # an input that takes longer, of the processor or by the clock, counts as a hang
LIKE_SCIKIT_LEARN = (
    "GraphClassifier(random_state)",
    "GraphClassifier.fit",
    "GraphClassifier.partial_fit",
    "GraphRegressor",
    "LabeledKFold",
    "GraphQueryStrategy",
)
VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "-1": lambda: -1,
    "0": lambda: 0,
    "2.5": lambda: 2.5,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1e300": lambda: 1e300,
    "1e-300": lambda: 1e-300,
    "10**12": lambda: 10**12,
    "10**400": lambda: 10**400,
    "1j": lambda: 1j,
    "no text": lambda: "",
    "text": lambda: "x",
    "long text": lambda: "x" * 10_000,
    "escape": lambda: "\x1b]0;x\x07",
    "half a character": lambda: "\ud800",
    "bytes": lambda: b"x",
    "no list": list,
    "list": lambda: [1, "x", None],
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "dict": lambda: {"x": 1},
    "set": lambda: {1, 2},
    "object": object,
    "lambda": lambda: lambda *_, **__: math.nan,
    "generator": lambda: iter([(1, 2)]),
    "empty array": lambda: np.array([]),
    "nan array": lambda: np.array([[math.nan, 1.0], [1.0, math.nan]]),
    "array of objects": lambda: np.array([object(), None]),
    "array of times": lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
    "structured array": lambda: np.zeros(2, dtype=[("a", "f8")]),
    "masked array": lambda: np.ma.masked_equal(np.eye(3), 0),
    "three dimensions": lambda: np.zeros((2, 2, 2)),
    "sparse": lambda: sp.csr_array(np.array([[0, math.nan], [1, 0]])),
    "RandomState": lambda: np.random.RandomState(0),
    "decimal": lambda: decimal.Decimal("NaN"),
    "fraction": lambda: fractions.Fraction(1, 3),
    "date": lambda: datetime.date(2020, 1, 1),
    "a path": lambda: Path("no/such/file.csv"),
    "an error": lambda: ValueError("x"),
}


def _X():
    return np.random.default_rng(0).normal(size=(8, 3))


def _told(**settings):
    learner = ag.Learner(ag.grid(3, 4), rng=0, **settings)
    learner.tell_all({0: "a", 11: "b"})
    return learner


def _asked(**settings):
    """Use a learner as people do, so that a bad setting cannot hide."""
    learner = _told(**settings)
    learner.tell(learner.ask(), "a")
    return learner.probabilities()


def _fitted(**settings):
    model = ag.GraphClassifier(random_state=0)
    model.set_params(**settings)
    return model.fit(np.vstack([_X(), _X() + 5]), np.repeat([0, 1], 8)).predict_proba(_X())


def _project(path):
    if not path.exists():
        make(path)
    return path


def _places(folder: Path) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Yield the name of a place, and a function that puts a value there."""
    W = np.array([[0, 1.0], [1, 0]])
    yield "Graph(source)", ag.Graph
    yield "Graph(names)", lambda v: ag.Graph(W, names=v)
    yield "Graph(symmetrize)", lambda v: ag.Graph(W, symmetrize=v)
    yield "Graph.from_edges(edges)", ag.Graph.from_edges
    yield "Graph.from_edges(weight)", lambda v: ag.Graph.from_edges([(0, 1, v), (1, 2, 1.0)])
    yield "Graph.from_edges(end)", lambda v: ag.Graph.from_edges([(0, v), (1, 2)])
    yield "Graph.from_edges(nodes)", lambda v: ag.Graph.from_edges([(0, 1)], nodes=v)
    yield "Graph.index", ag.chain(3).index
    yield "Graph.name", ag.chain(3).name
    yield "Graph.subgraph", ag.chain(3).subgraph
    yield "Graph.load", ag.Graph.load
    yield "Graph.save", lambda v: ag.chain(3).save(_inside(folder, v))
    for key in ("sampler", "doubt", "form", "delta", "readout", "explore", "first", "noise", "expect", "ahead", "batch",
                "tune", "class_shares", "small_components", "hubs", "spot_checks", "engine", "classes"):  # fmt: skip
        yield f"Learner({key})", lambda v, key=key: _asked(**{key: v})
    yield "Learner(graph)", ag.Learner
    yield "Learner(rng)", lambda v: ag.Learner(ag.chain(4), rng=v).ask()
    yield "Learner.load", ag.Learner.load
    yield "Learner.save", lambda v: _told().save(_inside(folder, v))
    for name in ("ask", "question", "predict", "probabilities", "skip", "retract", "tell_all"):
        yield f"Learner.{name}", lambda v, name=name: getattr(_told(), name)(v)
    for name in ("audit", "enough", "labels_needed", "suspects"):
        yield f"Learner.judge.{name}", lambda v, name=name: getattr(_told().judge, name)(v)
    for name in ("plan", "batch"):
        yield f"Learner.question({name})", lambda v, name=name: _told().question(2, **{name: v})
    for name in ("tell", "relabel", "judge.tell_audit"):
        yield f"Learner.{name}(node)", lambda v, name=name: attrgetter(name)(_told())(v, "a")
        yield f"Learner.{name}(label)", lambda v, name=name: _with_label(name, v)
    yield "Learner.tell(noise)", lambda v: _told().tell(3, "a", noise=v)
    yield "Learner.tell(predicted)", lambda v: _told().tell(3, "a", predicted=v)
    yield "Learner.tell_all(predicted)", lambda v: _told().tell_all({3: "a"}, v)
    yield "Learner.run(oracle)", lambda v: list(_told().run(v, 2))
    yield "Learner.run(budget)", lambda v: next(iter(_told().run(lambda _: "a", v)), None)
    yield "nearest_neighbors(X)", lambda v: ag.nearest_neighbors(v, k=1)
    for key in ("k", "metric", "bandwidth", "scale", "names", "approximate"):
        yield f"nearest_neighbors({key})", lambda v, key=key: ag.nearest_neighbors(_X(), **{key: v})
    yield "radial_basis(X)", lambda v: ag.radial_basis(v, 1.0)
    for key in ("bandwidth", "threshold", "scale", "names"):
        yield f"radial_basis({key})", lambda v, key=key: ag.radial_basis(_X(), **{"bandwidth": 1.0, key: v})
    yield "pearson(X)", ag.pearson
    for key in ("threshold", "centered", "scale", "names"):
        yield f"pearson({key})", lambda v, key=key: ag.pearson(_X(), **{key: v})
    yield "scale_features(X)", ag.scale_features
    yield "nearest_texts(texts)", lambda v: ag.nearest_texts(v, k=1)
    yield "nearest_texts(a text)", lambda v: ag.nearest_texts(["some words", v, "more words"], k=1)
    yield "search_texts(texts)", lambda v: ag.search_texts(v, "some words")
    yield "search_texts(query)", lambda v: ag.search_texts(["some words", "more words"], v)
    yield "search_texts(n)", lambda v: ag.search_texts(["some words", "more words"], "words", v)
    yield "nearest_texts(k)", lambda v: ag.nearest_texts(["a b", "b c", "c d"], k=v)
    yield "with_features(graph)", lambda v: ag.with_features(v, _X(), k=2)
    yield "with_features(X)", lambda v: ag.with_features(ag.chain(8), v, k=2)
    for key in ("k", "hops"):
        yield f"with_features({key})", lambda v, key=key: ag.with_features(ag.chain(8), _X(), **{key: v})
    yield "chain", ag.chain
    yield "star", ag.star
    yield "grid(rows)", lambda v: ag.grid(v, 3)
    yield "grid(columns)", lambda v: ag.grid(3, v)
    for key in ("n", "m", "rng"):
        yield f"power_law({key})", lambda v, key=key: ag.power_law(**{"n": 20, key: v})
    for key in ("rng", "border"):
        yield f"two_squares({key})", lambda v, key=key: ag.two_squares(**{key: v})
    for key in ("sizes", "mixing", "mean_degree", "exponent", "rng"):
        yield f"communities({key})", lambda v, key=key: ag.communities(**{"sizes": (20, 20), key: v})
    yield "layout(graph)", layout
    yield "layout(rng)", lambda v: layout(ag.chain(5), v)
    yield "prior(graph)", ag.prior
    for key in ("delta", "engine", "columns"):
        yield f"prior({key})", lambda v, key=key: ag.prior(ag.chain(5), **{key: v})
    yield "two_step_approximation", ag.two_step_approximation
    yield "Tempered(tau)", lambda v: _asked(readout=ag.Tempered(v))
    yield "Mass(prior)", lambda v: _asked(readout=ag.Mass(v))
    for key in ("graph", "k", "metric", "bandwidth", "scale", "delta", "sampler", "doubt", "form", "readout", "engine",
                "random_state"):  # fmt: skip
        yield f"GraphClassifier({key})", lambda v, key=key: _fitted(**{key: v})
    yield "read_graph(path)", ag.read_graph
    yield "read_labels(path)", lambda v: ag.read_labels(v, ag.chain(3))
    table = folder / "t.csv"
    table.write_text("a,b,c\n1,2,x\n3,4,y\n")
    yield "read_table(path)", ag.read_table
    for key in ("features", "label", "id"):
        yield f"read_table({key})", lambda v, key=key: ag.read_table(table, **{"features": ["a"], key: v})
    yield "read_graph(symmetrize)", lambda v: ag.read_graph(_edges(folder), v)
    yield "Project.open", lambda v: ag.Project.open(v).__enter__()
    for key in ("classes", "settings", "seed", "overlap"):
        yield f"Project.create({key})", lambda v, key=key: _created(folder, **{key: v})
    project = _project(folder / "p.ask")
    for name, call in {
        "say(who)": lambda p, v: p.say(v, "i1", "label", "a"),
        "say(item)": lambda p, v: p.say("ann", v, "label", "a"),
        "say(kind)": lambda p, v: p.say("ann", "i1", v, "a"),
        "say(label)": lambda p, v: p.say("ann", "i1", "label", v),
        "say(seconds)": lambda p, v: p.say("ann", "i1", "label", "a", v),
        "say(key)": lambda p, v: p.say("ann", "i1", "label", "a", key=v),
        "say_all": lambda p, v: p.say_all("ann", v),
        "undo(who)": lambda p, v: p.undo(v),
        "ask": lambda p, v: p.ask(v),
        "item": lambda p, v: p.items.item(v),
        "open_at": lambda p, v: p.log.open_at(v),
    }.items():
        yield f"Project.{name}", lambda v, call=call: _in_project(project, call, v)
    yield from more_places(folder)


def _with_label(name, label):
    learner = _told()
    attrgetter(name)(learner)(0 if name == "relabel" else 3, label)
    return learner.probabilities()


def _inside(folder, value):
    """Keep files that are written in the folder."""
    return folder / value if isinstance(value, str | Path) and str(value) else value


def _edges(folder):
    path = folder / "e.csv"
    path.write_text("a,b\n1,2\n")
    return path


def _created(folder, **options):
    path = folder / "new.ask"
    path.unlink(missing_ok=True)
    ag.Project.create(path, Source(graph=_edges(folder)), **options)


def _in_project(path, call, value):
    with ag.Project.open(path, write=True) as project:
        return call(project, value)


class Tried(NamedTuple):
    """What became of one input: "result", "refused", or what escaped."""

    name: str
    outcome: str
    detail: str = ""


def bad_inputs(folder: Path) -> list[tuple[str, Callable[[], Any]]]:
    """Return a name and a call for every place and value."""
    return [
        (f"{place} = {name}", lambda put=put, value=value: put(value()))
        for place, put in _places(folder)
        for name, value in VALUES.items()
    ]


def tried(name: str, call: Callable[[], Any]) -> Tried:
    """Call it with warnings as errors, and look at what comes."""
    for kind, timer, seconds in (
        (signal.SIGPROF, signal.ITIMER_PROF, SECONDS),
        (signal.SIGALRM, signal.ITIMER_REAL, WALL_SECONDS),
    ):
        signal.signal(kind, _give_up)
        signal.setitimer(timer, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = call()
    except ag.AskgraphError as error:
        said = str(error)
        outcome = "refused" if 0 < len(said) <= MAX_CHARACTERS and said.isprintable() else "message"
        return Tried(name, outcome, said)
    except BaseException as error:
        if name.startswith(LIKE_SCIKIT_LEARN) and isinstance(error, ValueError | TypeError):
            return Tried(name, "refused", str(error))  # as scikit-learn's own estimators do
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Tried(
            name, "escaped", f"{type(error).__name__}: {str(error)[:120]} ({where.filename[-40:]}:{where.lineno})"
        )
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return Tried(name, "result" if _is_sound(found) else "wrong", repr(found)[:100])


def _give_up(*_: object) -> None:
    raise TimeoutError("a hang")


def _is_sound(found: Any) -> bool:
    """Return whether a result is one that could be right: a clean graph, probabilities that are probabilities."""
    if isinstance(found, ag.Graph):
        W = found.weights
        return bool(np.isfinite(W.data).all() and (W.data > 0).all() and (W != W.T).nnz == 0)
    if isinstance(found, np.ndarray) and found.dtype.kind == "f":
        return bool(np.isfinite(found).all())
    return True


if __name__ == "__main__":
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, call in bad_inputs(Path(folder)):
            if not name.startswith(tuple(sys.argv[1:]) or ""):
                continue
            one = tried(name, call)
            counts[one.outcome] += 1
            if one.outcome not in ("result", "refused"):
                print(*one, sep=" | ", flush=True)
    print(counts.total(), dict(counts))
