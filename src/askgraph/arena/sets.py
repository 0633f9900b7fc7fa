"""What methods are compared on: labeled graphs and rows, made by code, from scikit-learn, or read from files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from askgraph.errors import FileError, SettingError
from askgraph.graph import Graph
from askgraph.graph.build import graph_from_pairs, nearest_neighbors
from askgraph.graph.toys import communities, two_squares
from askgraph.support.arguments import one_of
from askgraph.support.npz import load_arrays
from askgraph.support.wording import few
from askgraph.types import IntArray

HELD_BACK = ("validation", "test")  # nodes of published splits that are never asked for
NONE: IntArray = np.empty(0, dtype=np.int64)
WORDS, OWN, LONG = 400, 40, 12  # words of made texts, words that a class prefers, words of each text
PUBLISHED = {  # sets with the split that was published with them, by the SHA-256 of their files
    "cora": "5be61eddd59f43a2b61fcb8ffd8eb3b307829b664fc07c3e42d1ccee4d4c29eb",
    "citeseer": "4032b589a98307676a17bd22b6cc469ac0da19b74afe08e684c2705abd574a43",
}


class ArenaSet(NamedTuple):
    """A graph or rows with the class of every node, from 0.

    ``closed`` nodes are never asked for; predictions are judged on the nodes ``judged``, by default on all without a label.
    """

    name: str
    graph: Graph | None
    features: Any
    truth: IntArray
    closed: IntArray
    judged: IntArray | None
    checksum: str

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.truth.max()) + 1


class Track(NamedTuple):
    """What methods get on a track, which share of the answers is wrong there, and the sets that come with askgraph."""

    about: str
    needs: str
    small: tuple[str, ...]
    wrong: float = 0.0


def _noisy(wrong: float) -> Track:
    return Track(
        f"a graph with features, where {100 * wrong:.0f} % of the answers are wrong", "features", FEATURED, wrong
    )


PLAIN = ("three groups", "eight groups", "unequal groups", "two squares", "digits graph", "wine graph", "tumors graph")
FEATURED = ("papers", "unequal papers", "weak words", "weak edges")
TABLES = ("digits", "wine", "tumors", "iris")
TRACKS: dict[str, Track] = {
    "graph": Track("a graph alone", "graph", PLAIN),
    "features": Track("a graph with features", "features", FEATURED),
    "rows": Track("rows of numbers without a graph", "rows", TABLES),
    "noisy-10": _noisy(0.1),
    "noisy-20": _noisy(0.2),
    "noisy-30": _noisy(0.3),
    "split": Track("a graph with features, judged on the test nodes that were published with it", "split", ()),
}


def choose_sets(track: str, wanted: Sequence[str], folder: Path | None) -> list[ArenaSet]:
    """Return the sets of a track by their names: "small" for those that come with askgraph, names, or files (npz)."""
    known = TRACKS[one_of(track, "track", tuple(TRACKS))]
    names = list(dict.fromkeys(name for one in wanted for name in (known.small if one == "small" else (one,))))
    if not names:
        raise SettingError(
            f"track {track}: no set comes with askgraph; name cora or citeseer and give --folder, or files"
        )
    return [_make(name, known, folder) for name in names]


def _make(name: str, track: Track, folder: Path | None) -> ArenaSet:
    if name in MADE:
        found = MADE[name](name)
    elif name in PUBLISHED or name.endswith(".npz"):
        found = _read(name, folder)
    else:
        raise SettingError(f"{name!r}: no such set; choose small, {few([*MADE, *PUBLISHED])}, or a file (npz)")
    if track.needs == "rows":
        found = found._replace(graph=None)
    lacks = {
        "graph": found.graph is None,
        "rows": found.features is None,
        "features": found.features is None or found.graph is None,
        "split": found.judged is None or found.features is None,
    }
    if lacks[track.needs]:
        raise SettingError(f"{name}: this set is not for a track of {track.about}")
    if track.needs != "split":
        found = found._replace(closed=NONE, judged=None)
    return found._replace(features=None) if track.needs == "graph" else found


def _read(name: str, folder: Path | None) -> ArenaSet:
    """Read a set from a file: ``edges`` (pairs), ``y``, features as csr, and perhaps ``validation`` and ``test`` nodes."""
    if name in PUBLISHED and folder is None:
        raise SettingError(f"{name}: is read from a file; give the folder of {name}.npz with --folder")
    path = Path(name) if folder is None else folder / (f"{name}.npz" if name in PUBLISHED else name)
    if not path.is_file():
        raise FileError(f"{path}: no such file")
    arrays = load_arrays(path)
    if missing := {"edges", "y"} - set(arrays):
        raise FileError(f"{path}: lacks {few(sorted(missing))}; it needs edges (pairs of nodes) and y (classes from 0)")
    truth = _classes(path, arrays["y"])
    edges = np.asarray(arrays["edges"], dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or (edges.size and not 0 <= edges.min() <= edges.max() < truth.size):
        raise FileError(f"{path}: edges must be pairs of nodes from 0 to {truth.size - 1}")
    features = None
    if "indptr" in arrays:
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        features = csr_array(parts, shape=(truth.size, int(arrays["columns"]))).astype(np.float64)
    held: dict[str, IntArray] = {}
    for part in HELD_BACK:
        if part in arrays:
            held[part] = np.asarray(arrays[part], dtype=np.int64)
    graph = graph_from_pairs(truth.size, edges[:, 0], edges[:, 1])
    found = _set(Path(name).stem, graph, features, truth, held)
    if name in PUBLISHED and found.checksum != PUBLISHED[name]:
        raise FileError(f"{path}: not the set as it was published (SHA-256 of its contents {found.checksum[:12]}...)")
    return found


def _classes(path: Path, y: Any) -> IntArray:
    truth = np.asarray(y)
    if (
        truth.ndim != 1
        or truth.dtype.kind not in "iu"
        or truth.size < 2
        or len(np.unique(truth)) != int(truth.max()) + 1
    ):
        raise FileError(f"{path}: y must be one class per node, whole numbers from 0 of which none is missing")
    return truth.astype(np.int64)


def _set(
    name: str, graph: Graph | None, features: Any, truth: Any, held: Mapping[str, IntArray] | None = None
) -> ArenaSet:
    """Return a set; its checksum is that of its contents: classes, edges, features, and nodes that are held back."""
    held, truth = held or {}, np.asarray(truth, dtype=np.int64)
    parts = [truth, *(held[name] for name in sorted(held))]
    parts += [] if graph is None else [np.stack(graph.weights.nonzero()).astype(np.int64)]
    parts += [] if features is None else [csr_array(features).toarray().astype(np.float32)]
    whole = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()
    closed = np.concatenate(list(held.values())) if held else NONE
    return ArenaSet(name, graph, features, truth, closed, held.get("test"), whole)


def _groups(sizes: Sequence[int], mixing: float, degree: float, seed: int) -> Callable[[str], ArenaSet]:
    """Return a maker of a graph of communities, which are the classes; ``mixing`` of each node's edges leave its own."""

    def make(name: str) -> ArenaSet:
        graph, truth = communities(sizes, mixing, degree, rng=seed)
        return _set(name, graph, None, truth)

    return make


def _papers(sizes: Sequence[int], mixing: float, telling: float, seed: int) -> Callable[[str], ArenaSet]:
    """Return a maker of communities whose nodes are short texts: ``telling`` of the words of each are words of its class."""

    def make(name: str) -> ArenaSet:
        graph, truth = communities(sizes, mixing, 6, rng=seed)
        rng = np.random.default_rng(seed)
        own = np.array([rng.permutation(WORDS)[:OWN] for _ in sizes])
        drawn = rng.integers(0, WORDS, (truth.size, LONG))
        of_class = own[truth[:, None], rng.integers(0, OWN, drawn.shape)]
        features = np.zeros((truth.size, WORDS))
        features[np.arange(truth.size)[:, None], np.where(rng.random(drawn.shape) < telling, of_class, drawn)] = 1.0
        return _set(name, graph, features, truth)

    return make


def _squares(name: str) -> ArenaSet:
    graph, truth = two_squares(rng=0)
    return _set(name, graph, None, truth)


def _table(loader: str, joined: bool) -> Callable[[str], ArenaSet]:
    """Return a maker of a table of scikit-learn, each column to mean 0 and deviation 1; ``joined`` by ten nearest neighbors."""

    def make(name: str) -> ArenaSet:
        from sklearn import datasets

        X, y = getattr(datasets, loader)(return_X_y=True)
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        return _set(name, nearest_neighbors(X, 10) if joined else None, None if joined else X, y)

    return make


MADE: dict[str, Callable[[str], ArenaSet]] = {
    "three groups": _groups((250, 350, 400), 0.25, 8, 1),
    "eight groups": _groups((60, 80, 100, 120, 140, 160, 180, 200), 0.3, 10, 2),
    "unequal groups": _groups((40, 80, 160, 320, 640), 0.2, 8, 3),
    "two squares": _squares,
    "digits graph": _table("load_digits", True),
    "wine graph": _table("load_wine", True),
    "tumors graph": _table("load_breast_cancer", True),
    "papers": _papers((200, 200, 200, 200), 0.4, 0.2, 4),
    "unequal papers": _papers((40, 80, 160, 320), 0.4, 0.2, 5),
    "weak words": _papers((150, 200, 250), 0.2, 0.1, 6),
    "weak edges": _papers((200, 250, 300), 0.55, 0.5, 7),
    "digits": _table("load_digits", False),
    "wine": _table("load_wine", False),
    "tumors": _table("load_breast_cancer", False),
    "iris": _table("load_iris", False),
}
