"""The paper's nine datasets -> graphs, features, labels; every count is checked."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from askgraph.errors import FileError, SettingError
from askgraph.graph import Graph
from askgraph.graph.sources import counted
from askgraph.paper.download import File, download, read
from askgraph.types import Array

FOLDER = "ASKGRAPH_DATA"  # the environment variable
# Addresses as published; they could not be tried from the machines this was written on.
LINQS = "https://linqs-data.soe.ucsc.edu/public/lbc"
NEWMAN = "https://websites.umich.edu/~mejn/netdata"  # formerly http://www-personal.umich.edu/~mejn/netdata
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
BLOG = re.compile(r'node \[\s+id (\d+)\s+label "([^"]*)"\s+value (\d+)\s')
LINK = re.compile(r"edge \[\s+source (\d+)\s+target (\d+)\s")
Labels = tuple[str, ...]


class Parts(NamedTuple):
    """What the files of a dataset hold."""

    labels: Labels
    graph: Graph | None = None
    features: Array | None = None


@dataclass(frozen=True)
class Dataset:
    """A dataset of the paper: one label a node or row, the graph if it comes with one, the features if it has any."""

    name: str
    labels: Labels
    graph: Graph | None
    features: Array | None


class Counts(NamedTuple):
    """How many of what a dataset has."""

    rows: int
    classes: int
    features: int | None = None
    edges: int | None = None

    def __str__(self) -> str:
        """The numbers, in words."""
        return ", ".join(f"{k} {what}" for what, k in self._asdict().items() if k is not None)


@dataclass(frozen=True)
class Spec:
    """Where a dataset's files are, how to read them and what must come out."""

    name: str
    sources: tuple[File, ...]
    parse: Callable[..., Parts]
    counts: Counts


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """A dataset by its name, from ``folder``, else the folder ASKGRAPH_DATA names, else downloaded into the cache."""
    if name not in SPECS:
        raise SettingError(f"no dataset {name!r}; the paper has {', '.join(NAMES)}")
    return _load(SPECS[name], folder)


def _load(spec: Spec, folder: str | os.PathLike[str] | None) -> Dataset:
    given = folder or os.environ.get(FOLDER)
    root = Path(given) if given else _cache()
    if given and not root.is_dir():
        raise FileError(f"there is no folder {root}; give that of the datasets, or none to download them")
    if not given:
        download([source for source in spec.sources if source.found(root) is None], root)
    contents = [read(source, root) for source in spec.sources]
    return Dataset(spec.name, *_parsed(spec, contents, root))


def _cache() -> Path:
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return Path(base or Path.home() / ".cache", "askgraph", "data")


def _parsed(spec: Spec, contents: Sequence[bytes], root: Path) -> Parts:
    """What the files hold, if it is what they should hold."""
    expected = f"expected {spec.counts}"
    try:
        parts = spec.parse(*contents)
        found = _counts(parts)
        flaw = f"{found}; {expected}" if found != spec.counts else None
    except (ValueError, LookupError) as error:
        flaw = f"not readable: {error}; {expected}"
    if flaw:
        files = " and ".join(str(source.found(root)) for source in spec.sources)
        addresses = " and ".join(dict.fromkeys(source.address for source in spec.sources))
        raise FileError(f"{files}: {flaw}; replace by what is published at {addresses}")
    return parts


def _counts(parts: Parts) -> Counts:
    features = None if parts.features is None else int(parts.features.shape[1])
    edges = None if parts.graph is None else parts.graph.n_edges
    return Counts(len(parts.labels), len(set(parts.labels)), features, edges)


def _citations(content: bytes, cites: bytes) -> Parts:
    """Papers (id, words as 0 or 1, class) and who cites whom; an id that looks like a number is text all the same."""
    ids, words, labels = zip(*(_paper(line) for line in content.splitlines()), strict=True)
    pairs = [(a, b) for a, b in (line.split() for line in cites.decode().splitlines())]
    return Parts(labels, _simple(pairs, ids), _bits(words))


def _bits(rows: Sequence[bytes]) -> Array:
    """Lines of 0 and 1 between tabs, without splitting them: CiteSeer has 12 million."""
    cells = np.frombuffer(b"\t".join(rows) + b"\t", dtype=np.uint8).reshape(len(rows), -1)
    bits, tabs = cells[:, ::2], cells[:, 1::2]
    if len(set(map(len, rows))) > 1 or not (((bits | 1) == ord("1")).all() and (tabs == ord("\t")).all()):
        raise ValueError("words are 0 or 1 between tabs, as many in each line")
    words: Array = (bits == ord("1")).astype(np.float64)
    return words


def _paper(line: bytes) -> tuple[str, bytes, str]:
    name, _, rest = line.partition(b"\t")
    words, _, label = rest.rpartition(b"\t")
    return name.decode(), words, label.decode()


def _blogs(gml: bytes) -> Parts:
    """Blogs by their addresses, 0 left and 1 right; read without networkx, which refuses its repeated edges."""
    text = gml.decode()
    numbers, names, labels = zip(*BLOG.findall(text), strict=True)
    name = dict(zip(numbers, names, strict=True))
    return Parts(labels, _simple([(name[a], name[b]) for a, b in LINK.findall(text)], names))


def _simple(listed: Sequence[tuple[str, str]], names: Sequence[str]) -> Graph:
    """Every distinct pair of different nodes once, whichever way round; ends that are no node are dropped."""
    known = set(names)
    pairs = sorted({(min(ends), max(ends)) for ends in listed if ends[0] != ends[1] and known.issuperset(ends)})
    return Graph.from_edges(pairs, names).noted(f"kept {counted(len(pairs), 'distinct pair')} of {len(listed)} listed")


def _svmlight(*files: bytes) -> Parts:
    from sklearn.datasets import load_svmlight_files

    loaded = load_svmlight_files([io.BytesIO(file) for file in files])
    labels = tuple(f"{y:g}" for y in np.concatenate(loaded[1::2]))
    return Parts(labels, features=np.vstack([X.toarray() for X in loaded[::2]]))


def _table(
    content: bytes, mark: str | None = None, label: int = -1, header: bool = False, named: bool = False
) -> Parts:
    """Rows of numbers and a class, perhaps under a header, perhaps after a name; ``mark=None`` is white space."""
    rows = [line.split(mark) for line in content.decode().splitlines()[header:]]
    labels = tuple(row.pop(label) for row in rows)
    return Parts(labels, features=np.array([row[named:] for row in rows], dtype=np.float64))


def _at(address: str, *paths: str) -> tuple[File, ...]:
    return tuple(File(path, address, SHA256[path]) for path in paths)


SHA256 = {  # of the unpacked content
    "cora/cora.content": "b8ebed0fd45e53995abafd1b70cf6a9fcc8f86abc5826d69b97fe6ca46e9c8ee",
    "cora/cora.cites": "ec1a372391b7f0f60a6aff0084e8abd8f19f0faa7e1f2441a41c492042d5945e",
    "citeseer/citeseer.content": "de4a3ca98626d77193f27af5c976b981a56080e6273c4e1c05764a95d2143ff8",
    "citeseer/citeseer.cites": "cd9730630eaaa745058c2cd2cce6b9afb79ca71278a479aebec55f4cf5eb7f30",
    "polblogs/polblogs.gml": "bd83e3dd2397a57d2252cc212524c21fee6708663136898d4ace523224bdc632",
    "colon/colon-cancer": "647eb57da9d5df273c8728a19033d80cf09bca70f4d35d1a2de5a281036bf35b",
    "leukemia/leu": "95d1d089712937c6661d3beb218bcb02be5b0f7c17c13cbdbb19787b1fce87f8",
    "ionosphere/ionosphere.data": "46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
    "australian/australian.dat": "3abe5af151afa50b999a9ba21cbc884e80d80a4050b716cf88b34a2e6ecb731c",
    "parkinsons/parkinsons.data": "a36116c2deac07895b79ce97a2f99a1b3720ac4892995ff5c3b9ccb397ed2bc5",
    "ecoli/ecoli.data": "008bd8fbb1d8b34040c3c8c4e987cac2a7ebf116e008b140cc6441be5261ba1d",
}
# leu.t was at hand only as its values, written anew: the bytes of the published file are not certain.
LEU_T = File("leukemia/leu.t", f"{LIBSVM}/leu.t.bz2", sha256=None, lines=34)
PARKINSONS = partial(_table, mark=",", label=17, header=True, named=True)
TABLE = (
    Spec(
        "cora",
        _at(f"{LINQS}/cora.tgz", "cora/cora.content", "cora/cora.cites"),
        _citations,
        Counts(2708, 7, 1433, 5278),
    ),
    Spec(
        "citeseer",
        _at(f"{LINQS}/citeseer.tgz", "citeseer/citeseer.content", "citeseer/citeseer.cites"),
        _citations,
        Counts(3312, 6, 3703, 4536),
    ),
    Spec("polblogs", _at(f"{NEWMAN}/polblogs.zip", "polblogs/polblogs.gml"), _blogs, Counts(1490, 2, edges=16715)),
    Spec("colon", _at(f"{LIBSVM}/colon-cancer.bz2", "colon/colon-cancer"), _svmlight, Counts(62, 2, 2000)),
    Spec("leukemia", (*_at(f"{LIBSVM}/leu.bz2", "leukemia/leu"), LEU_T), _svmlight, Counts(72, 2, 7129)),
    Spec(
        "ionosphere",
        _at(f"{UCI}/ionosphere/ionosphere.data", "ionosphere/ionosphere.data"),
        partial(_table, mark=","),
        Counts(351, 2, 34),
    ),
    Spec(
        "australian",
        _at(f"{UCI}/statlog/australian/australian.dat", "australian/australian.dat"),
        _table,
        Counts(690, 2, 14),
    ),
    Spec(
        "parkinsons",
        _at(f"{UCI}/parkinsons/parkinsons.data", "parkinsons/parkinsons.data"),
        PARKINSONS,
        Counts(195, 2, 22),
    ),
    Spec("ecoli", _at(f"{UCI}/ecoli/ecoli.data", "ecoli/ecoli.data"), partial(_table, named=True), Counts(336, 8, 7)),
)
SPECS = {spec.name: spec for spec in TABLE}
NAMES = tuple(SPECS)
