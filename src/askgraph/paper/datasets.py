"""Read the paper's nine datasets as graphs, features and labels, and check every count."""

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
from askgraph.paper.download import File, download, read
from askgraph.support.wording import counted
from askgraph.types import Array

FOLDER = "ASKGRAPH_DATA"  # the environment variable that names the folder with the datasets
# Addresses as published.
LINQS = "https://linqs-data.soe.ucsc.edu/public/lbc"
NEWMAN = "https://websites.umich.edu/~mejn/netdata"  # formerly http://www-personal.umich.edu/~mejn/netdata
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
BLOG = re.compile(r'node \[\s+id (\d+)\s+label "([^"]*)"\s+value (\d+)\s')
LINK = re.compile(r"edge \[\s+source (\d+)\s+target (\d+)\s")
Labels = tuple[str, ...]


class Parts(NamedTuple):
    """The labels, graph and features that the files of a dataset hold."""

    labels: Labels
    graph: Graph | None = None
    features: Array | None = None


@dataclass(frozen=True)
class Dataset:
    """A dataset of the paper.

    Attributes
    ----------
    name
        Its name.
    labels
        One label per node or row.
    graph
        The graph, if the dataset comes with one.
    features
        One row of features per node, if the dataset has any.
    """

    name: str
    labels: Labels
    graph: Graph | None
    features: Array | None


class Counts(NamedTuple):
    """The numbers of rows, classes, features and edges of a dataset."""

    rows: int
    classes: int
    features: int | None = None
    edges: int | None = None

    def __str__(self) -> str:
        """Return the numbers with their names."""
        return ", ".join(f"{k} {what}" for what, k in self._asdict().items() if k is not None)


@dataclass(frozen=True)
class Spec:
    """The files of a dataset, the function that parses them, and the counts it must find."""

    name: str
    sources: tuple[File, ...]
    parse: Callable[..., Parts]
    counts: Counts


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a dataset of the paper; download it if no folder is given.

    Parameters
    ----------
    name
        cora, citeseer, polblogs, colon, leukemia, ionosphere, australian, parkinsons or ecoli.
    folder
        The folder with the datasets. By default the one that the environment variable ``ASKGRAPH_DATA`` names; if that
        is not set, missing files are downloaded into the user's cache folder.

    Returns
    -------
    Dataset
        Labels, and the graph or the features or both.
    """
    if name not in SPECS:
        raise SettingError(f"no dataset {name!r}; the paper has {', '.join(NAMES)}")
    return _load(SPECS[name], folder)


def _load(spec: Spec, folder: str | os.PathLike[str] | None) -> Dataset:
    given = folder or os.environ.get(FOLDER)
    root = Path(given) if given else _cache_folder()
    if given and not root.is_dir():
        raise FileError(f"there is no folder {root}; give the folder of the datasets, or none to download them")
    if not given:
        download([source for source in spec.sources if source.found(root) is None], root)
    contents = [read(source, root) for source in spec.sources]
    return Dataset(spec.name, *_parse(spec, contents, root))


def _cache_folder() -> Path:
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return Path(base or Path.home() / ".cache", "askgraph", "data")


def _parse(spec: Spec, contents: Sequence[bytes], root: Path) -> Parts:
    """Parse the files of a dataset; raise an error if the counts are not the published ones."""
    expected = f"expected {spec.counts}"
    try:
        parts = spec.parse(*contents)
        found = _count(parts)
        flaw = f"{found}; {expected}" if found != spec.counts else None
    except (ValueError, LookupError) as error:
        flaw = f"cannot be read: {error}; {expected}"
    if flaw:
        files = " and ".join(str(source.found(root)) for source in spec.sources)
        addresses = " and ".join(dict.fromkeys(source.address for source in spec.sources))
        raise FileError(f"{files}: {flaw}; replace by the files published at {addresses}")
    return parts


def _count(parts: Parts) -> Counts:
    features = None if parts.features is None else int(parts.features.shape[1])
    edges = None if parts.graph is None else parts.graph.n_edges
    return Counts(len(parts.labels), len(set(parts.labels)), features, edges)


def _parse_citations(content: bytes, cites: bytes) -> Parts:
    """Parse papers (id, words as 0 or 1, class) and citations; ids stay text even if they look like numbers."""
    ids, words, labels = zip(*(_split_paper(line) for line in content.splitlines()), strict=True)
    pairs = [(a, b) for a, b in (line.split() for line in cites.decode().splitlines())]
    return Parts(labels, _simple_graph(pairs, ids), _parse_bits(words))


def _parse_bits(rows: Sequence[bytes]) -> Array:
    """Parse lines of 0 and 1 between tabs, without splitting the lines: CiteSeer has 12 million cells."""
    cells = np.frombuffer(b"\t".join(rows) + b"\t", dtype=np.uint8).reshape(len(rows), -1)
    bits, tabs = cells[:, ::2], cells[:, 1::2]
    if len(set(map(len, rows))) > 1 or not (((bits | 1) == ord("1")).all() and (tabs == ord("\t")).all()):
        raise ValueError("words must be 0 or 1 between tabs, the same number in each line")
    words: Array = (bits == ord("1")).astype(np.float64)
    return words


def _split_paper(line: bytes) -> tuple[str, bytes, str]:
    name, _, rest = line.partition(b"\t")
    words, _, label = rest.rpartition(b"\t")
    return name.decode(), words, label.decode()


def _parse_blogs(gml: bytes) -> Parts:
    """Parse blogs by their addresses, 0 for left and 1 for right, without networkx, which refuses repeated edges."""
    text = gml.decode()
    numbers, names, labels = zip(*BLOG.findall(text), strict=True)
    name = dict(zip(numbers, names, strict=True))
    return Parts(labels, _simple_graph([(name[a], name[b]) for a, b in LINK.findall(text)], names))


def _simple_graph(listed: Sequence[tuple[str, str]], names: Sequence[str]) -> Graph:
    """Return the graph of all distinct pairs of different nodes; drop pairs with an end that is not a node."""
    known = set(names)
    pairs = sorted({(min(ends), max(ends)) for ends in listed if ends[0] != ends[1] and known.issuperset(ends)})
    return Graph.from_edges(pairs, names).noted(f"kept {counted(len(pairs), 'distinct pair')} of {len(listed)} listed")


def _parse_svmlight(*files: bytes) -> Parts:
    from sklearn.datasets import load_svmlight_files

    loaded = load_svmlight_files([io.BytesIO(file) for file in files])
    labels = tuple(f"{y:g}" for y in np.concatenate(loaded[1::2]))
    return Parts(labels, features=np.vstack([X.toarray() for X in loaded[::2]]))


def _parse_table(
    content: bytes, mark: str | None = None, label: int = -1, header: bool = False, named: bool = False
) -> Parts:
    """Parse rows of numbers and a class, with an optional header and row names; ``mark=None`` splits at white space."""
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
# No sha256 for leu.t: only its values were available, not the bytes of the published file.
LEU_T = File("leukemia/leu.t", f"{LIBSVM}/leu.t.bz2", sha256=None, lines=34)
PARKINSONS = partial(_parse_table, mark=",", label=17, header=True, named=True)
TABLE = (
    Spec(
        "cora",
        _at(f"{LINQS}/cora.tgz", "cora/cora.content", "cora/cora.cites"),
        _parse_citations,
        Counts(2708, 7, 1433, 5278),
    ),
    Spec(
        "citeseer",
        _at(f"{LINQS}/citeseer.tgz", "citeseer/citeseer.content", "citeseer/citeseer.cites"),
        _parse_citations,
        Counts(3312, 6, 3703, 4536),
    ),
    Spec(
        "polblogs", _at(f"{NEWMAN}/polblogs.zip", "polblogs/polblogs.gml"), _parse_blogs, Counts(1490, 2, edges=16715)
    ),
    Spec("colon", _at(f"{LIBSVM}/colon-cancer.bz2", "colon/colon-cancer"), _parse_svmlight, Counts(62, 2, 2000)),
    Spec("leukemia", (*_at(f"{LIBSVM}/leu.bz2", "leukemia/leu"), LEU_T), _parse_svmlight, Counts(72, 2, 7129)),
    Spec(
        "ionosphere",
        _at(f"{UCI}/ionosphere/ionosphere.data", "ionosphere/ionosphere.data"),
        partial(_parse_table, mark=","),
        Counts(351, 2, 34),
    ),
    Spec(
        "australian",
        _at(f"{UCI}/statlog/australian/australian.dat", "australian/australian.dat"),
        _parse_table,
        Counts(690, 2, 14),
    ),
    Spec(
        "parkinsons",
        _at(f"{UCI}/parkinsons/parkinsons.data", "parkinsons/parkinsons.data"),
        PARKINSONS,
        Counts(195, 2, 22),
    ),
    Spec(
        "ecoli",
        _at(f"{UCI}/ecoli/ecoli.data", "ecoli/ecoli.data"),
        partial(_parse_table, named=True),
        Counts(336, 8, 7),
    ),
)
SPECS = {spec.name: spec for spec in TABLE}
NAMES = tuple(SPECS)
