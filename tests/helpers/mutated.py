"""Files and matrices with a few bytes or entries changed: each must be read, or refused with an error of ours.

``python -m tests.helpers.mutated matrices SEED COUNT`` tries matrices in this process: what crashes ends it.
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import askgraph as ag
from askgraph.io.annotations import read_annotated
from askgraph.workbench.exchange import FORMATS
from askgraph.workbench.guesses import read_guesses
from askgraph.workbench.report import checkup
from askgraph.workbench.source import Source
from tests.helpers.bad_inputs import Tried, tried
from tests.helpers.projects import make, say
from tests.helpers.sheets import ods, ods_row, xlsx, xlsx_row

STORED = Path(__file__).parents[1] / "data"
SPARSE = ("csr", "csc", "coo", "bsr", "lil", "dia", "dok")
TYPES = ("float64", "float32", "int8", "uint16", "bool", ">f8", "float16", "longdouble")


def seeds(folder: Path) -> dict[str, Callable[[Path], Any]]:
    """Make one sound file of every kind; return what reads it, by its name."""
    W = ag.grid(3, 3).weights
    edges = "source,target,weight\nann,bob,1\nbob,cy,2.5\ncy,di,0.5\n"
    (folder / "e.csv").write_text(edges)
    (folder / "e.tsv").write_text(edges.replace(",", "\t"))
    (folder / "e.txt").write_text("0 1 2\n1 2 0.5\n2 3 1\n")
    (folder / "e.jsonl").write_text(
        '{"source": "a", "target": "b", "weight": 2}\n{"source": "b", "target": "c", "weight": 1}\n'
    )
    (folder / "t.csv").write_text("id,x,y,label\na,1,2,u\nb,3,4,v\nc,5,6,u\n")
    (folder / "g.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.0\n3 2 2.0\n")
    import networkx as nx

    nx.write_graphml(nx.path_graph(4), folder / "g.graphml")
    nx.write_gml(nx.path_graph(4), folder / "g.gml")
    sp.save_npz(folder / "m.npz", sp.csr_array(W))
    ag.grid(3, 3).save(folder / "g.npz")
    np.savez_compressed(folder / "t.npz", X=np.eye(4), y=np.arange(4))
    np.save(folder / "y.npy", np.arange(9))
    import pyarrow
    from pyarrow.parquet import write_table

    write_table(pyarrow.table({"source": ["a", "b"], "target": ["b", "c"]}), folder / "e.parquet")
    _seeds_of_other_tools(folder)
    rows = [[name, k, 2.5 * k] for k, name in enumerate(["a", "b", "c", "d"])]
    xlsx(folder / "t.xlsx", "".join(xlsx_row(k, row) for k, row in enumerate([["id", "x", "y"], *rows], 1)))
    ods(folder / "t.ods", "".join(map(ods_row, [["id", "x", "y"], *rows])))
    (folder / "w.csv").write_bytes("id;Größe;y\na;1,5;2\nb;2,5;ö\nc;1.000,5;3\n".encode("cp1252"))
    for name in ("learner_plain", "learner_probes", "learner_state", "learner_tuned", "learner_features"):
        shutil.copy(STORED / f"{name}.npz", folder)
    make(folder / "p.ask", 12, ["a", "b"])
    say(folder / "p.ask", ("i0", "a"), ("i5", "b"))
    return {
        **dict.fromkeys(("e.csv", "e.tsv", "e.txt", "e.jsonl", "e.parquet", "g.mtx", "g.graphml", "g.gml", "m.npz", "g.npz"),
                        ag.read_graph),
        "t.csv": lambda path: ag.read_table(path, label="label", id="id"),
        "t.npz": ag.read_table,
        "y.npy": lambda path: ag.read_labels(path, ag.grid(3, 3)),
        **dict.fromkeys((f"learner_{k}.npz" for k in ("plain", "probes", "state", "tuned")), _use_learner),
        "p.ask": _use_project,
        **dict.fromkeys(("r.ris", "t.parquet", "t.xlsx", "t.ods", "w.csv"), _use_items),
        **dict.fromkeys(("l.json", "a.json", "s.jsonl", "l.parquet"), lambda path: _use_items(path, text="text")),
        **dict.fromkeys(("l2.json", "a2.json"), read_annotated),
        "said.csv": lambda path: read_guesses(path, {f"i{k}": k for k in range(12)}, ["a", "b"]),
        "v.npz": lambda path: _use_items(folder / "t.csv", vectors=str(path)),
        "p.png": lambda path: ag.nearest_pictures([path, folder / "p.png", folder / "p.png"], k=1),
    }  # fmt: skip


def _seeds_of_other_tools(folder: Path) -> None:
    """Make files of reference managers and of other tools for labeling."""
    record = "TY  - JOUR\nTI  - Words of a title {}\nAU  - Doe, A.\nPY  - 2001\nN1  - ASReview_relevant\nER  -\n\n"
    (folder / "r.ris").write_text("".join(record.format(k) for k in range(5)))
    with ag.Project.open(_labeled(folder / "other.ask")) as project:
        for kind, name in {
            "labelstudio": "l.json",
            "argilla": "a.json",
            "spacy": "s.jsonl",
            "huggingface": "l.parquet",
        }.items():
            FORMATS[kind].write(project, folder / name, False)
    shutil.copy(folder / "l.json", folder / "l2.json")
    shutil.copy(folder / "a.json", folder / "a2.json")
    import pyarrow
    from PIL import Image
    from pyarrow.parquet import write_table

    words = [f"some words of a text that is number {k}" for k in range(6)]
    table = pyarrow.table(
        {"id": list(range(6)), "words": words, "x": np.arange(6.0), "v": [[1.0, float(k)] for k in range(6)]}
    )
    write_table(table, folder / "t.parquet", use_dictionary=["x"], column_encoding={"words": "DELTA_BYTE_ARRAY"})
    (folder / "said.csv").write_text("item,label,score,source\ni0,a,0.9,m\ni1,b,0.2,m\n")
    np.savez_compressed(folder / "v.npz", vectors=np.random.default_rng(0).normal(size=(3, 4)))
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (9, 9, 3), dtype=np.uint8)).save(folder / "p.png")


def _labeled(path: Path) -> Path:
    make(path, 12, ["a", "b"])
    say(path, ("i0", "a"), ("i5", "b"))
    return path


def _use_items(path: Path, **options: Any) -> Any:
    """Make a project of a file, as people do."""
    project = path.with_name(f"{path.name}.ask")
    try:
        ag.Project.create(project, Source(path, neighbors=2, **options))
        return _use_project(project)
    finally:
        project.unlink(missing_ok=True)


def _use_learner(path: Path) -> Any:
    learner = ag.Learner.load(path)
    learner.ask()
    return learner.probabilities()


def _use_project(path: Path) -> Any:
    with ag.Project.open(path) as project:
        checkup(project)
        return project.predictions().probabilities


def changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Return content with bytes flipped, cut, doubled, inserted or overwritten, once to four times."""
    some = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        at, length = int(rng.integers(0, max(len(some), 1))), int(rng.integers(1, 9))
        kind = rng.integers(0, 6)
        if kind == 0 and some:
            some[at % len(some)] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            del some[at : at + length]
        elif kind == 2:
            some[at:at] = rng.bytes(length)
        elif kind == 3:
            some[at : at + length] = rng.bytes(length)
        elif kind == 4:
            some[at:at] = some[at : at + 10 * length]
        else:
            del some[at + 40 * length :]
    return bytes(some)


def mutated_files(folder: Path, count: int, rng: np.random.Generator) -> Iterator[Tried]:
    """Read ``count`` damaged files, each kind as often as the others."""
    readers = seeds(folder)
    whole = {name: (folder / name).read_bytes() for name in readers}
    names = list(readers)
    for k in range(count):
        name = names[k % len(names)]
        path = folder / f"{k}{name}"
        path.write_bytes(changed(whole[name], rng))
        yield tried(f"{k} {name}", lambda path=path, name=name: readers[name](path))
        for beside in folder.glob(f"{k}{name}*"):
            beside.unlink()


def mutated_matrix(rng: np.random.Generator) -> Any:
    """Return a sparse matrix of any format and type with some of its index arrays or values changed."""
    n = int(rng.integers(1, 9))
    dense = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.5), 1)
    values = (dense + dense.T) * 100
    kind = TYPES[rng.integers(len(TYPES))]
    form = SPARSE[rng.integers(len(SPARSE))]
    if kind in ("float16", "longdouble", ">f8"):
        form = "coo" if kind == "longdouble" else form
    try:
        matrix = sp.coo_array(values.astype(kind)).asformat(form).copy()
    except (ValueError, TypeError):  # scipy cannot make this one
        matrix = sp.coo_array(values).asformat(form).copy()
    for name in ("indptr", "indices", "row", "col", "offsets", "data", "coords"):
        part = getattr(matrix, name, None)
        if isinstance(part, np.ndarray) and part.dtype != object and rng.random() < 0.5:
            setattr(matrix, name, _odd(part.copy(), rng))
    return matrix


def _odd(part: Any, rng: np.random.Generator) -> Any:
    kind = rng.integers(0, 5)
    if kind == 0 and part.size:
        part.flat[rng.integers(part.size)] = rng.choice([-1, 0, 1, 100, 127])
    elif kind == 1 and part.dtype.kind in "iu" and part.dtype.itemsize > 2 and part.size:
        part.flat[rng.integers(part.size)] = rng.choice([2**31 - 1, -(2**31), 400_000])
    elif kind == 2:
        part = part[: rng.integers(part.shape[0] + 1)]
    elif kind == 3:
        part = np.concatenate([part, part])
    elif part.dtype.kind == "f" and part.size:
        part.flat[rng.integers(part.size)] = rng.choice([np.nan, np.inf, -1.0])
    return part


def mutated_matrices(count: int, seed: int) -> Iterator[Tried]:
    """Build graphs of so many matrices."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        matrix = mutated_matrix(rng)
        yield tried(f"{k} {matrix.format}", lambda matrix=matrix: ag.Graph(matrix))


def megabytes() -> float:
    """Return the most memory that this process has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def summary(found: Iterator[Tried]) -> Counter[str]:
    """Count outcomes; print what escaped."""
    counts: Counter[str] = Counter()
    for one in found:
        counts[one.outcome] += 1
        if one.outcome not in ("result", "refused"):
            print(*one, sep=" | ", flush=True)
    return counts


if __name__ == "__main__":
    what, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        found = (
            mutated_matrices(count, seed)
            if what == "matrices"
            else mutated_files(Path(folder), count, np.random.default_rng(seed))
        )
        print(dict(summary(found)), f"{megabytes():.0f} MB")
