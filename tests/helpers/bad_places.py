"""More places for values that do not belong: objects of other libraries, suggestions, teams, exchange, what is dropped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import askgraph as ag
from askgraph.clients.plots import curve
from askgraph.io.annotations import read_annotated
from askgraph.web.regions import name_regions
from askgraph.web.start import Beginning, Looking, Making
from askgraph.workbench.exchange import FORMATS, write_folders
from askgraph.workbench.growing import prepare_addition, remove_items
from askgraph.workbench.source import Source
from tests.helpers.projects import make

Places = Iterator[tuple[str, Callable[[Any], Any]]]
DISTANCES, INDICES = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 2.0]]), np.array([[0, 1], [1, 2], [2, 0]])


def more_places(folder: Path) -> Places:
    """Yield the name of a place, and a function that puts a value there."""
    yield from _foreign_objects()
    yield from _learners()
    yield from _estimators()
    yield from _folds()
    if find_spec("skactiveml"):
        yield from _strategies()
    yield from _pages(folder)
    yield from _projects(folder)


def foreign(module: str, **parts: Any) -> Any:
    """Return an object that says that another library made it."""
    made = type("Graph", (), {"__module__": module})()
    for name, part in parts.items():
        setattr(made, name, part)
    return made


class _Sequence(dict[str, Any]):
    """Attributes of vertices or edges, as igraph has them."""

    def attributes(self) -> list[str]:
        return list(self)


def _igraph(**other: Any) -> Any:
    parts = {"get_edgelist": lambda: [(0, 1), (1, 2)], "vcount": lambda: 3, "is_weighted": lambda: True}
    parts |= {"es": _Sequence(weight=[1.0, 2.0]), "vs": _Sequence(name=["a", "b", "c"]), "is_directed": lambda: False}
    return foreign("igraph", **(parts | other))


def _rustworkx(**other: Any) -> Any:
    parts = {"weighted_edge_list": lambda: [(0, 1, 1.0), (1, 2, 2.0)], "node_indices": lambda: [0, 1, 2]}
    return foreign("rustworkx", **(parts | {"nodes": lambda: ["a", "b", "c"]} | other))


def _dgl(**other: Any) -> Any:
    edges = np.array([0, 1]), np.array([1, 2])
    parts = {"edata": {}, "canonical_etypes": [("n", "e", "n")], "edges": lambda: edges, "num_nodes": lambda: 3}
    return foreign("dgl", **(parts | other))


def _pyg(**other: Any) -> Any:
    return foreign("torch_geometric.data", **({"edge_index": np.array([[0, 1], [1, 2]]), "num_nodes": 3} | other))


def _anndata(**other: Any) -> Any:
    import pandas as pd  # not there in the environment of MPI

    parts = {"obsp": {"connectivities": ag.chain(3).weights}, "uns": {}, "obs_names": pd.Index(["a", "b", "c"])}
    return foreign("anndata", **(parts | other))


def _foreign_objects() -> Places:
    import pandas as pd  # not there in the environment of MPI

    yield "Graph(igraph edges)", lambda v: ag.Graph(_igraph(get_edgelist=lambda: v))
    yield "Graph(igraph count)", lambda v: ag.Graph(_igraph(vcount=lambda: v))
    yield "Graph(igraph weights)", lambda v: ag.Graph(_igraph(es=_Sequence(weight=v)))
    yield "Graph(igraph names)", lambda v: ag.Graph(_igraph(vs=_Sequence(name=v)))
    yield "Graph(rustworkx edges)", lambda v: ag.Graph(_rustworkx(weighted_edge_list=lambda: v))
    yield "Graph(rustworkx weight)", lambda v: ag.Graph(_rustworkx(weighted_edge_list=lambda: [(0, 1, v), (1, 2, v)]))
    yield "Graph(rustworkx nodes)", lambda v: ag.Graph(_rustworkx(nodes=lambda: v))
    yield "Graph(dgl edges)", lambda v: ag.Graph(_dgl(edges=lambda: v))
    yield "Graph(dgl count)", lambda v: ag.Graph(_dgl(num_nodes=lambda: v))
    yield "Graph(dgl weights)", lambda v: ag.Graph(_dgl(edata={"w": v}))
    yield "Graph(pyg edges)", lambda v: ag.Graph(_pyg(edge_index=v))
    yield "Graph(pyg count)", lambda v: ag.Graph(_pyg(num_nodes=v))
    yield "Graph(pyg weights)", lambda v: ag.Graph(_pyg(edge_weight=v))
    yield "Graph(anndata matrix)", lambda v: ag.Graph(_anndata(obsp={"connectivities": v}))
    yield "Graph(anndata uns)", lambda v: ag.Graph(_anndata(uns=v))
    yield "Graph(anndata names)", lambda v: ag.Graph(_anndata(obs_names=v))
    yield "Graph(usearch keys)", lambda v: ag.Graph(foreign("usearch", keys=v, distances=DISTANCES))
    yield "Graph(usearch distances)", lambda v: ag.Graph(foreign("usearch", keys=INDICES, distances=v))
    for module in ("igraph", "rustworkx", "dgl", "torch_geometric", "anndata", "usearch", "torch", "pyarrow", "polars"):
        yield f"Graph(bare {module})", lambda v, module=module: ag.Graph(foreign(module, x=v))
    yield "Graph(frame)", lambda v: ag.Graph(pd.DataFrame({"source": [v, 1], "target": [1, 2]}))
    yield "Graph(pair)", lambda v: ag.Graph((DISTANCES, v))
    yield "from_neighbors(distances)", lambda v: ag.from_neighbors(v, INDICES)
    yield "from_neighbors(indices)", lambda v: ag.from_neighbors(DISTANCES, v)
    for key in ("bandwidth", "squared", "names"):
        yield f"from_neighbors({key})", lambda v, key=key: ag.from_neighbors(DISTANCES, INDICES, **{key: v})
    yield "nearest_pictures(pictures)", lambda v: ag.nearest_pictures(v, k=1)
    yield "nearest_pictures(a picture)", lambda v: ag.nearest_pictures([v, v, v], k=1)
    yield "embed(rows)", lambda v: ag.embed(v, lambda rows: np.ones((len(rows), 2)))
    yield "embed(model)", lambda v: ag.embed(["a", "b"], v)
    yield "embed(vectors)", lambda v: ag.embed(["a", "b"], lambda _: v)
    yield "embed(batch_size)", lambda v: ag.embed(["a", "b"], lambda rows: np.ones((len(rows), 2)), v)


def _told(**settings: Any) -> ag.Learner:
    learner = ag.Learner(ag.grid(3, 4), rng=0, **settings)
    learner.tell_all({0: "a", 11: "b"})
    return learner


def _suggested(*given: Any, **options: Any) -> Any:
    learner = _told()
    learner.guesses.tell_all({1: "a", 2: "b", 3: "a"})
    learner.guesses.tell(*given, **options)
    learner.ask()
    return learner.probabilities()


def _suggested_all(*given: Any, **options: Any) -> Any:
    learner = _told()
    learner.guesses.tell_all(*given, **options)
    learner.ask()
    return learner.probabilities()


def _learners() -> Places:
    import pandas as pd  # not there in the environment of MPI

    yield "Learner.scores", lambda v: np.nan_to_num(_told().scores(v))  # labeled nodes have none
    for name in ("judge.left_to_find", "judge.to_read", "judge.certify", "judge.group", "guesses.suspects"):
        yield f"Learner.{name}", lambda v, name=name: attrgetter(name)(_told())(v)
    yield "Learner.judge.to_read(share)", lambda v: _told().judge.to_read("a", v)
    yield "Learner.judge.sample(label)", lambda v: _told().judge.sample(v, 2)
    yield "Learner.judge.sample(n)", lambda v: _told().judge.sample("a", v)
    yield "Plan.finding(label)", lambda v: _told().question(plan=_told().plan.finding(v))
    yield "Plan.finding(like)", lambda v: _told().question(plan=_told().plan.finding("a", v))
    yield "Learner.judge.group(without)", lambda v: _told().judge.group(5, v)
    yield "Learner.save(state)", lambda v: _told().save("no such folder/x.npz", v)
    yield "Learner.tell_all(noise)", lambda v: _told().tell_all({3: "a"}, None, v)
    yield "Learner.tell_all(a noise)", lambda v: _told().tell_all({3: "a"}, None, {3: v})
    yield "Learner.guesses.tell(node)", lambda v: _suggested(v, "a")
    yield "Learner.guesses.tell(label)", lambda v: _suggested(4, v)
    yield "Learner.guesses.tell(source)", lambda v: _suggested(4, "a", v)
    yield "Learner.guesses.tell(score)", lambda v: _suggested(4, "a", "model", v)
    yield "Learner.guesses.tell_all(labels)", _suggested_all
    yield "Learner.guesses.tell_all(source)", lambda v: _suggested_all({4: "a"}, v)
    yield "Learner.guesses.tell_all(scores)", lambda v: _suggested_all({4: "a"}, "model", v)
    yield "Learner.guesses.tell_all(a score)", lambda v: _suggested_all({4: "a"}, "model", {4: v})
    yield "Learner(features)", lambda v: _told(features=v).probabilities()
    yield "Learner(two graphs)", lambda v: ag.Learner({"a": ag.chain(3), "b": v}, tune=True)
    yield "Learner.plot_curve(truth)", lambda v: curve(_told(), v)
    for kind, answers in {"several": [["a"], []], "numbers": [1.0, 2.5], "ordered": [1, 3]}.items():
        yield f"Learner.plot_curve({kind})", lambda v, kind=kind, answers=answers: curve(_of_kind(kind, answers), v)
    yield "annotate(adata)", lambda v: ag.annotate(v, _told())
    yield "annotate(cells)", lambda v: ag.annotate(SimpleNamespace(obs_names=v, obs=pd.DataFrame()), _told())
    yield "annotate(learner)", lambda v: ag.annotate(SimpleNamespace(obs_names=[0, 1], obs=pd.DataFrame()), v)


def _of_kind(kind: str, answers: list[Any]) -> ag.Learner:
    learner = ag.Learner(ag.chain(5), answers=kind, rng=0)
    learner.tell_all(dict(enumerate(answers)))
    return learner


def _estimators() -> Places:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 3)), np.repeat([0, 1, -1, -1], 4)

    def fitted(**settings: Any) -> Any:
        return ag.GraphClassifier(random_state=0, **settings).fit(X, y)

    yield "GraphClassifier.fit(X)", lambda v: ag.GraphClassifier().fit(v, y)
    yield "GraphClassifier.fit(y)", lambda v: ag.GraphClassifier().fit(X, v)
    yield (
        "GraphClassifier.fit(features)",
        lambda v: ag.GraphClassifier(graph="precomputed").fit(ag.grid(4, 4).weights, y, v),
    )
    yield "GraphClassifier.fit(sample_weight)", lambda v: ag.GraphClassifier().fit(X, y, sample_weight=v)
    yield "GraphClassifier.query", lambda v: fitted().query(v)
    yield "GraphClassifier.partial_fit(y)", lambda v: fitted().partial_fit(X, v)
    yield "GraphClassifier.partial_fit(classes)", lambda v: fitted().partial_fit(X, y, v)
    yield "GraphClassifier(linear)", lambda v: fitted(linear=v).predict_proba(X)
    yield "GraphClassifier(answers)", lambda v: fitted(answers=v).predict_proba(X)
    sets = np.where(y[:, None] < 0, -1, np.column_stack([y, 1 - y]))
    yield "GraphClassifier.fit(y, several classes)", lambda v: ag.GraphClassifier().fit(X, [v, *sets[1:].tolist()])
    yield from _regressors(X, np.where(y < 0, np.nan, y + 0.5))


def _regressors(X: Any, y: Any) -> Places:
    def fitted(**settings: Any) -> Any:
        return ag.GraphRegressor(random_state=0, **settings).fit(X, y)

    yield "GraphRegressor.fit(X)", lambda v: ag.GraphRegressor().fit(v, y)
    yield "GraphRegressor.fit(y)", lambda v: ag.GraphRegressor().fit(X, v)
    yield "GraphRegressor.fit(a number)", lambda v: ag.GraphRegressor().fit(X, [v, *y[1:].tolist()])
    yield "GraphRegressor.partial_fit(y)", lambda v: fitted().partial_fit(X, v)
    yield "GraphRegressor.predict", lambda v: fitted().predict(v)
    yield "GraphRegressor.predict(return_std)", lambda v: fitted().predict(X + 0.1, v)
    for key in ("link", "delta", "sampler", "engine", "k", "first"):
        yield f"GraphRegressor({key})", lambda v, key=key: fitted(**{key: v}).predict(X)


def _folds() -> Places:
    X, y = np.zeros((9, 1)), np.array([0, 1, -1, 0, 1, -1, 0, 1, 0])

    def parts(X: Any = X, y: Any = y, **how: Any) -> Any:
        return list(ag.LabeledKFold(**{"n_splits": 2, **how}).split(X, y))

    for key in ("n_splits", "numbers", "shuffle"):
        yield f"LabeledKFold({key})", lambda v, key=key: parts(**{key: v})
    yield "LabeledKFold(random_state)", lambda v: parts(shuffle=True, random_state=v)
    yield "LabeledKFold.split(X)", lambda v: parts(X=v)
    yield "LabeledKFold.split(y)", lambda v: parts(y=v)
    yield "LabeledKFold.split(a label)", lambda v: parts(y=[v, *y[1:].tolist()])
    yield "LabeledKFold.split(a number)", lambda v: parts(y=[v, *y[1:].tolist()], numbers=True)


def _strategies() -> Places:
    from askgraph.clients.activeml import GRAPH, GraphQueryStrategy

    X = np.random.default_rng(0).normal(size=(16, 3))
    y = np.array([0.0, 1.0, 2.0, 0.0] + [np.nan] * 12)

    def asked(value: Any = None, place: str = "", **settings: Any) -> Any:
        strategy = GraphQueryStrategy(k=3, random_state=0).set_params(**settings)
        given = {"X": X, "y": y, "batch_size": 2, "return_utilities": True} | ({place: value} if place else {})
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "'batch_size=.*' is larger than number of candidates"
            )  # theirs, by design
            found = strategy.query(**given)
        return np.nan_to_num(found[1], posinf=np.inf) if isinstance(found, tuple) else found  # labeled rows have none

    more = ("sampler", "delta", "doubt", "form", "readout", "engine", "missing_label", "random_state")
    for key in (*GRAPH, *more):
        yield f"GraphQueryStrategy({key})", lambda v, key=key: asked(**{key: v})
    for key in ("X", "y", "candidates", "batch_size", "return_utilities"):
        yield f"GraphQueryStrategy.query({key})", lambda v, key=key: asked(v, key)


def _pages(folder: Path) -> Places:
    positions = np.random.default_rng(0).normal(size=(50, 2))
    yield "read_annotated", read_annotated
    yield "name_regions(texts)", lambda v: name_regions(positions, [str(v)] * 50)
    yield "Upload.write(name)", lambda v: _dropped(folder, v if isinstance(v, str) else repr(v))
    yield "Upload.write(data)", lambda v: _dropped(folder, "t.csv", v if isinstance(v, bytes) else repr(v).encode())
    for key in ("project", "id", "label"):
        yield f"Making({key})", lambda v, key=key: _begun(folder, **{key: v if isinstance(v, str) else repr(v)})
    for key in ("text", "features", "classes"):
        yield f"Making({key})", lambda v, key=key: _begun(folder, **{key: [v if isinstance(v, str) else repr(v)]})


def _dropped(folder: Path, name: str, data: bytes = b"id,x\na,1\nb,2\n") -> Any:
    here = Beginning(folder)
    try:
        upload = here.begin()["upload"]
        here.upload.write(name, 0, data)
        return here.look(Looking(upload=upload))
    finally:
        here.close()


def _begun(folder: Path, **how: Any) -> None:
    here = Beginning(folder)
    try:
        upload = here.begin()["upload"]
        here.upload.write("t.csv", 0, b"id,x,y\na,1,2\nb,2,3\nc,5,1\nd,6,2\n")
        named = {"id": None, "text": [], "features": [], "label": None, "classes": []}
        here.make(Making.model_construct(upload=upload, kind="table", **({"project": "t"} | named | how)))
    finally:
        here.close()
        if here.made is not None:
            here.made.unlink()


def _projects(folder: Path) -> Places:
    path = folder / "team.ask"
    if not path.exists():
        make(path)
    calls: dict[str, Callable[[ag.Project, Any], Any]] = {
        "change(who)": lambda p, v: p.log.change(v, "add", "new"),
        "change(kind)": lambda p, v: p.log.change("ann", v, "a", "b"),
        "change(name)": lambda p, v: p.log.change("ann", "add", v),
        "change(value)": lambda p, v: p.log.change("ann", "rename", "a", v),
        "change(order)": lambda p, v: p.log.change("ann", "order", None, v),
        "change(key)": lambda p, v: p.log.change("ann", "key", "a", v),
        "undo_change(seq)": lambda p, v: p.log.undo_change("ann", v),
        "write_guidelines": lambda p, v: p.log.write_guidelines("ann", v),
        "suggest": lambda p, v: p.suggest(v),
        "change(find)": lambda p, v: p.log.change("ann", "find", v),
        "change(like)": lambda p, v: p.log.change("ann", "find", "a", like=v),
        "change(certify)": lambda p, v: p.log.change("ann", "certify", None, v),
        "place": lambda p, v: p.items.place(v),
        "alternatives": lambda p, v: p.questions(v, at_once=True),
        "check": lambda p, v: p.log.check(v),
        "remove": lambda p, v: remove_items(p, v),
        "folders": lambda p, v: write_folders(p, _inside(folder, v)),
    }
    for name, call in calls.items():
        yield f"Project.{name}", lambda v, call=call: _in_project(path, call, v)
    yield "Project.change(name), exported", lambda v: _exported(folder, v)
    for key in (
        "table",
        "graph",
        "id",
        "features",
        "text",
        "vectors",
        "label",
        "show",
        "image",
        "neighbors",
        "scale",
        "images",
    ):
        yield f"Source({key})", lambda v, key=key: _created(folder, **{key: v})
    yield "prepare_addition", lambda v: _in_project(path, lambda p, v: prepare_addition(p, v), v)


def _inside(folder: Path, value: Any) -> Any:
    """Keep what is written in the folder."""
    return folder / str(value).strip("/") if isinstance(value, str | Path) and str(value) else value


def _in_project(path: Path, call: Callable[[ag.Project, Any], Any], value: Any) -> Any:
    with ag.Project.open(path, write=True) as project:
        return call(project, value)


def _exported(folder: Path, name: Any) -> None:
    """Export a project that has a class of this name."""
    path = folder / "named.ask"
    path.unlink(missing_ok=True)
    make(path, 12)
    with ag.Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", name)
        project.say("ann", "i1", "label", "other")
        for kind, form in FORMATS.items():
            form.write(project, folder / f"{kind}.out", False)


def _created(folder: Path, **options: Any) -> None:
    table, path = folder / "items.csv", folder / "created.ask"
    table.write_text("id,x,y,words\n" + "".join(f"{k},{k},{k % 3},some words of {k % 2}\n" for k in range(9)))
    path.unlink(missing_ok=True)
    ag.Project.create(path, Source(**({"table": table} | options)))
