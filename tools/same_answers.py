"""Compare this version with another one: the same questions, and the same numbers.

    python tools/same_answers.py --against v0.2.0
    python tools/same_answers.py --against HEAD~3 "influence iterative" project

Both versions run the cases below in this environment, the other one from a worktree under build/versions. Questions, classes and
sentences must be equal; numbers may differ by 1e-12, and by 1e-8 where the engine is iterative. What differs is listed, and the
exit status is 1. Nothing is kept: what a processor computes is compared with what the same processor computes.
"""

from __future__ import annotations

import argparse
import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
CLOSE, CLOSE_ITERATIVE = 1e-12, 1e-8
BUDGET = 40  # labels of a learner
CHANGES = 12  # labels after which some are changed
LOOKS = (1, 4, 8, 20, 40)  # labels after which everything is read
Said = Iterator[tuple[str, Any]]  # what was read, by a name that says when


# Graphs with the classes of their nodes


def communities() -> tuple[Any, list[str]]:
    """Three communities."""
    import askgraph as ag

    graph, classes = ag.communities((60, 50, 40), mean_degree=8, rng=3)
    return graph, [f"class {c}" for c in classes]


def hubs() -> tuple[Any, list[str]]:
    """Two communities, and ten nodes that are joined to a third of all others."""
    import askgraph as ag

    rng, n = np.random.default_rng(5), 160
    side = np.arange(n) % 2
    i, j = np.triu_indices(n, 1)
    near = rng.random(i.size) < np.where(side[i] == side[j], 0.06, 0.008)
    far = ((i < 10) | (j < 10)) & (rng.random(i.size) < 0.3)
    kept = near | far
    edges = zip(i[kept].tolist(), j[kept].tolist(), rng.uniform(0.5, 2, kept.sum()).tolist(), strict=True)
    return ag.Graph.from_edges(list(edges)), ["left" if s else "right" for s in side]


def components() -> tuple[Any, list[str]]:
    """One large community and forty pairs of nodes beside it."""
    import scipy.sparse as sp

    import askgraph as ag

    graph, classes = ag.communities((70, 60), mean_degree=7, rng=1)
    pair = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    whole = sp.block_diag([graph.weights, *[pair] * 40], format="csr")
    return ag.Graph(whole), [f"class {c}" for c in [*classes, *np.repeat(np.arange(40) % 2, 2)]]


def digits(n: int = 300) -> tuple[Any, list[str]]:
    """Pictures of digits, each joined to its eight nearest."""
    from sklearn.datasets import load_digits

    import askgraph as ag

    X, y = load_digits(return_X_y=True)
    return ag.nearest_neighbors(X[:n], 8), [str(c) for c in y[:n]]


def many_classes() -> tuple[Any, list[str]]:
    """Sixty communities."""
    import askgraph as ag

    graph, classes = ag.communities((12,) * 60, mean_degree=8, rng=2)
    return graph, [f"class {c:02}" for c in classes]


def features_of(classes: list[str]) -> np.ndarray:
    """Twelve numbers per node that say its class to some extent."""
    rng, names = np.random.default_rng(11), sorted(set(classes))
    centers = rng.normal(size=(len(names), 12))
    return np.array([centers[names.index(c)] for c in classes]) + rng.normal(size=(len(classes), 12))


# What is done with a learner


def walk(make: Callable[[], tuple[Any, list[str]]], together: int = 1, budget: int = BUDGET, **options: Any) -> Said:
    """Ask and tell, change some answers on the way, and read everything now and then."""
    import askgraph as ag

    graph, classes = make()
    learner = ag.Learner(graph, rng=7, **options)
    told = 0
    while told < budget and (nodes := learner.ask(together)):
        yield f"question {told}", [str(node) for node in nodes]
        for node in nodes:
            learner.tell(node, classes[int(node)])
            told += 1
        if told == CHANGES:
            yield from change(learner, classes)
        if told in LOOKS:
            yield from read(learner, f"after {told}")
    yield from saved(learner)


def change(learner: Any, classes: list[str]) -> Said:
    """Take back, change and set aside answers."""
    first, second, third = list(learner.labels)[:3]
    learner.undo()
    learner.relabel(first, classes[int(second)])
    learner.retract(third)
    learner.skip(third)
    yield "after changes", sorted(map(str, learner.labels))
    yield from read(learner, "after changes")


def read(learner: Any, when: str) -> Said:
    """Read all that a learner says."""
    yield f"{when}: probabilities", learner.probabilities()
    yield f"{when}: predictions", [str(label) for label in learner.predict()]
    yield f"{when}: best two", learner.predict(top=min(2, len(learner.classes)))[1]
    yield f"{when}: scores", learner.scores()
    yield f"{when}: alternatives", [str(node) for node in learner.alternatives(5)]
    yield f"{when}: audit", [str(node) for node in learner.audit(4)]
    yield f"{when}: error", list(map(plain, learner.expected_error()))
    yield f"{when}: labels needed", list(learner.labels_needed(0.1))
    yield f"{when}: enough", learner.enough(0.2)
    yield f"{when}: advice", learner.advice()
    yield f"{when}: suspects", [list(map(plain, one)) for one in learner.suspects(every=True)]
    yield f"{when}: spot checks", [list(map(plain, one)) for one in learner.spot_checks]
    name = learner.classes[0]
    yield f"{when}: likeliest", [str(node) for node in learner.likeliest(name, 3)]
    yield f"{when}: left to find", list(map(plain, learner.left_to_find(name)))
    group = learner.group(8)
    yield f"{when}: group", None if group is None else list(map(plain, group))


def saved(learner: Any) -> Said:
    """Save a learner and go on with what is read from the file."""
    import askgraph as ag

    with tempfile.TemporaryDirectory() as folder:
        for state in (False, True):
            learner.save(f"{folder}/work.npz", state=state)
            again = ag.Learner.load(f"{folder}/work.npz")
            yield f"saved, state={state}: question", str(again.ask())
            yield f"saved, state={state}: probabilities", again.probabilities()


def several_graphs() -> tuple[Any, list[str]]:
    """Two graphs over the same nodes."""
    import askgraph as ag

    graph, classes = communities()
    other, _ = ag.communities((60, 50, 40), mean_degree=4, rng=9)
    return {"first": graph, "second": other}, classes


def with_suggestions(make: Callable[[], tuple[Any, list[str]]] = communities, **options: Any) -> Said:
    """Two models suggest labels, one of which is often wrong."""
    import askgraph as ag

    graph, classes = make()
    learner, rng = ag.Learner(graph, rng=7, **options), np.random.default_rng(4)
    names = sorted(set(classes))
    for node in range(0, len(classes), 2):
        learner.suggest(node, classes[node], "good", 0.9)
        learner.suggest(node, names[rng.integers(len(names))], "poor", float(rng.random()))
    for told in range(25):
        node = learner.ask()
        yield f"question {told}", str(node)
        learner.tell(node, classes[int(node)])
        if told in (5, 15, 24):
            yield from read(learner, f"after {told}")
            yield f"after {told}: sources", [list(map(plain, one)) for one in learner.sources]
            yield f"after {told}: suspect suggestions", [list(map(plain, s)) for s in learner.suspect_suggestions(9)]


def noisy() -> Said:
    """Labels with noise of their own, and items that several people labeled."""
    import askgraph as ag

    graph, classes = communities()
    learner = ag.Learner(graph, rng=7, noise=0.3)
    for told in range(20):
        node = learner.ask()
        yield f"question {told}", str(node)
        learner.tell(node, classes[int(node)], noise=(None, 0.0, 1.0)[told % 3])
    yield from read(learner, "after 20")


def ahead() -> Said:
    """What is computed while a person thinks."""
    import askgraph as ag

    graph, classes = communities()
    learner = ag.Learner(graph, rng=7, spot_checks=4)
    for told in range(15):
        node = learner.ask()
        learner.prefetch()
        while learner.prefetching:
            time.sleep(0.001)
        yield f"next questions {told}", sorted(map(str, learner.next_questions.items()))
        learner.tell(node, classes[int(node)])


def query_strategy() -> Said:
    """Questions that scikit-activeml asks for."""
    from sklearn.datasets import load_digits

    from askgraph.clients.activeml import GraphQueryStrategy

    X, y = load_digits(return_X_y=True)
    X, y, known = X[:300], y[:300].astype(float), np.full(300, np.nan)
    strategy = GraphQueryStrategy(random_state=3)
    for told in range(20):
        chosen, scores = strategy.query(X, known, return_utilities=True)
        yield f"question {told}", chosen.tolist()
        yield f"utilities {told}", scores
        known[chosen] = y[chosen]


def estimator(**options: Any) -> Said:
    """Fit the classifier of scikit-learn's kind, and predict rows it has not seen."""
    from sklearn.datasets import load_digits

    import askgraph as ag

    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400].astype(float)
    y[40:] = np.nan
    fitted = ag.GraphClassifier(**options).fit(X, y)
    yield "transduction", [str(label) for label in fitted.transduction_]
    yield "probabilities", fitted.predict_proba(X[380:] + 0.5)


def project() -> Said:
    """Three people label a table of numbers, disagree, change classes, set items aside and take answers back."""
    from sklearn.datasets import load_iris

    import askgraph as ag

    X, y = load_iris(return_X_y=True)
    names = ["setosa", "versicolor", "virginica"]
    rng, people = np.random.default_rng(8), ("ann", "bob", "cy")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "iris.csv")
        rows = "".join(f"i{k},{','.join(map(str, row))}\n" for k, row in enumerate(X))
        table.write_text(f"id,a,b,c,d\n{rows}")
        ag.Project.create(Path(folder, "iris.ask"), source(table), names, overlap=2)
        with ag.Project.open(Path(folder, "iris.ask"), write=True) as opened:
            log = opened.log if hasattr(opened, "log") else opened  # of an earlier version
            for step in range(45):
                place, predicted = next_question(opened)
                yield f"question {step}", place
                if place is None:
                    break
                right = names[y[place]] if rng.random() < 0.9 else names[int(rng.integers(3))]
                opened.say(people[step % 3], f"i{place}", "label", right, predicted=predicted)
                if step == 12:
                    opened.undo("ann")
                    log.change("bob", "rename", "setosa", "silky")
                    names[0] = "silky"
                if step == 20:
                    log.change("cy", "find", "virginica")
                if step in (5, 15, 25, 44):
                    found = opened.predictions()
                    yield f"after {step}: probabilities", found.probabilities
                    yield f"after {step}: classes", list(found.classes)
                    yield f"after {step}: decided", decided(found)
                    yield f"after {step}: alternatives", alternatives(opened, 4)
                    yield f"after {step}: error", list(map(plain, opened.learner.expected_error()))


def decided(found: Any) -> list[str]:
    """The class of each item; an earlier version says its place among the classes."""
    return list(found.labels) if hasattr(found, "labels") else [found.classes[k] for k in found.decided]


def next_question(opened: Any) -> tuple[int | None, str | None]:
    """The place that a project asks for, and what it predicts there if it is a spot check; by its ways of any version."""
    if not hasattr(opened, "questions"):
        return next(iter(opened.ask(1)), None), None  # it remembers what it predicted
    question = next(iter(opened.questions(1)), None)
    return (None, None) if question is None else (question.node, question.predicted)


def alternatives(opened: Any, n: int) -> list[int]:
    """The places that several people are asked for at once."""
    if not hasattr(opened, "questions"):
        return list(opened.alternatives(n))
    return [question.node for question in opened.questions(n, at_once=True)]


def source(table: Path) -> Any:
    """The source of a project, wherever this version has it."""
    try:
        from askgraph.workbench.source import Source
    except ImportError:
        from askgraph.workbench.items import Source
    return Source(table, features=["a", "b", "c", "d"])


def plain(value: Any) -> Any:
    """A part of a result as text or numbers."""
    if isinstance(value, bool | int | float | np.number | np.bool_ | None):
        return value if value is None else float(value)
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return str(value)


SAMPLERS = (
    "tv",
    "msd",
    "klg",
    "vm",
    "sigma",
    "influence",
    "unc",
    "fl",
    "kl",
    "eer",
    "tsa",
    "mc",
    "mcvopt",
    "dial",
    "pwll",
    "random",
)


def cases() -> dict[str, Callable[[], Said]]:
    """All cases by name; those whose name says iterative are compared to 1e-8."""
    found: dict[str, Callable[[], Said]] = {}

    def add(name: str, made: Callable[..., Said], *args: Any, **options: Any) -> None:
        found[name] = lambda: made(*args, **options)

    for sampler in SAMPLERS:
        add(f"{sampler} communities", walk, communities, utility=sampler)
    for engine in ("direct", "iterative"):
        for sampler in ("tv", "msd", "influence", "vm", "tsa"):
            add(f"{sampler} {engine}", walk, communities, utility=sampler, engine=engine)
        add(f"hubs {engine}", walk, hubs, engine=engine)
    for rule in ("discount", "skip", "ask"):
        add(f"hubs {rule}", walk, hubs, hubs=rule)
        add(f"tv hubs {rule}", walk, hubs, utility="tv", hubs=rule)
    for readout in ("map", "mass", "tempered", "consensus", "reweighted"):
        add(f"readout {readout}", walk, hubs, readout=readout)
        add(f"readout {readout}, digits", walk, digits, readout=readout)
    for rule in ("wait", "ask"):
        add(f"small components {rule}", walk, components, small_components=rule)
    for n in (2, 5):
        add(f"spot checks every {n}", walk, communities, spot_checks=n)
    for form in ("derived", "means"):
        for sampler in ("tv", "msd"):
            add(f"{sampler} {form}", walk, digits, utility=sampler, form=form)
    for how in ("sequence", "local"):
        add(f"batches {how}", walk, digits, together=4, utility="tv", batch=how)
    add("explore", walk, communities, explore="sqrt")
    add("no doubt", walk, communities, utility="tv", doubt=None)
    add(
        "class shares",
        walk,
        communities,
        utility="tv",
        classes=[f"class {c}" for c in range(3)],
        class_shares=(0.5, 0.3, 0.2),
    )
    add("first by utility", walk, communities, first="utility")
    add("max-min", walk, communities, utility="eer", expect="min")
    add("many classes", walk, many_classes, budget=70)
    add("many classes, tv", walk, many_classes, utility="tv", budget=70, readout="consensus")
    add("tuned ridge", walk, communities, tune=True)
    add("several graphs", walk, several_graphs, tune=True)
    for engine in ("dense", "iterative"):
        add(f"features {engine}", walk, communities, features=features_of(communities()[1]), engine=engine)
    add("features alone", walk, lambda: (None, communities()[1]), features=features_of(communities()[1]))
    add("features and spot checks", walk, hubs, features=features_of(hubs()[1]), spot_checks=4)
    add("suggestions", with_suggestions)
    add("suggestions beside hubs", with_suggestions, hubs)
    add("suggestions, hubs asked", with_suggestions, hubs="ask", readout="consensus")
    add("noise", noisy)
    add("questions computed ahead", ahead)
    for linear in (False, True):
        add(f"estimator, linear={linear}", estimator, linear=linear)
    if find_spec("skactiveml"):
        add("scikit-activeml", query_strategy)
    add("project of three people", project)
    return found


def record(file: Path, wanted: list[str]) -> None:
    """Run cases with the version on the path, and write what they say; an error is what a case says, too."""
    warnings.simplefilter("ignore")
    said: dict[str, list[tuple[str, Any]]] = {}
    for name, run in cases().items():
        if wanted and not any(part in name for part in wanted):
            continue
        said[name] = []
        try:
            said[name].extend(run())
        except Exception as error:
            said[name].append(("error", f"{type(error).__name__}: {error}"))
        print(f"{name}: {len(said[name])} results", file=sys.stderr, flush=True)
    file.write_bytes(pickle.dumps(said))


def differ(one: Any, other: Any, close: float) -> str | None:
    """What is different about two results, or None."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.shape != other.shape:
            return f"shapes {one.shape} and {other.shape}"
        if one.dtype.kind != "f":
            return None if np.array_equal(one, other) else "values"
        gap = np.abs(one - other) / np.maximum(1.0, np.abs(one))
        gap = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0.0, gap)
        return None if not gap.size or gap.max() <= close else f"numbers, by up to {gap.max():.1e}"
    if isinstance(one, float) and isinstance(other, float):
        same = one == other or (math.isnan(one) and math.isnan(other)) or abs(one - other) <= close * max(1.0, abs(one))
        return None if same else f"{one!r} and {other!r}"
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return f"{len(one)} and {len(other)} entries"
        return next((found for pair in zip(one, other, strict=True) if (found := differ(*pair, close))), None)
    return None if one == other else f"{one!r} and {other!r}"


def compare(ours: dict[str, Any], theirs: dict[str, Any]) -> int:
    """Print what differs, and return the number of cases that do."""
    wrong = 0
    for name in theirs.keys() | ours.keys():
        close = CLOSE_ITERATIVE if "iterative" in name else CLOSE
        one, other = dict(theirs.get(name, ())), dict(ours.get(name, ()))
        found = [f"only one version says {key!r}" for key in one.keys() ^ other.keys()]
        found += [f"{key}: {how}" for key in one if key in other and (how := differ(one[key], other[key], close))]
        wrong += bool(found)
        for line in found[:5]:
            print(f"{name}: {line}")
    results = sum(map(len, ours.values()))
    print(f"{len(ours)} cases, {results:,} results; {wrong} cases differ")
    return wrong


def worktree(revision: str) -> Path:
    """The sources of another version, in a worktree that is kept for the next comparison."""
    commit = subprocess.check_output(["git", "rev-parse", f"{revision}^{{commit}}"], cwd=ROOT, text=True).strip()
    path = ROOT / "build" / "versions" / commit
    if not path.exists():
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(path), commit], cwd=ROOT, check=True)
    return path


def main() -> None:
    """Compare, or run the cases of one version."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", help="parts of names of cases [default: all]")
    parser.add_argument("--against", default="HEAD", help="the other version: a commit or a tag")
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.record:
        record(chosen.record, chosen.cases)
        return
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for name, root in (("ours", ROOT), ("theirs", worktree(chosen.against))):
            command = [sys.executable, __file__, "--record", f"{folder}/{name}", *chosen.cases]
            running.append(
                subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"})
            )
        if any(process.wait() for process in running):
            sys.exit("one of the versions failed")
        ours, theirs = (pickle.loads(Path(folder, name).read_bytes()) for name in ("ours", "theirs"))
    sys.exit(bool(compare(ours, theirs)))


if __name__ == "__main__":
    main()
