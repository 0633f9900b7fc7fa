"""Loading a graph from every kind of file: seconds, and peak memory beside the memory of the graph itself."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.io as sio
import scipy.sparse as sp
from measure import SMOKE, Meter, in_own_process, machine

LINE_BY_LINE = ", line by line"  # with the general parser, as small files are


def write_all(folder: Path, n: int, m: int, named: int) -> dict[str, Path]:
    """Write the same random edges to every kind of file; fewer of them where ids are text, and to jsonl: both are slow to write."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    from askgraph import Graph

    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (m, 2))
    ends[:n, 0] = rng.permutation(n)
    table = pa.table({"source": ends[:, 0], "target": ends[:, 1], "weight": rng.random(m).round(4)})
    words = pa.table(
        {key: pa.array([f"user{i}" for i in ends[:named, k].tolist()]) for k, key in enumerate(("source", "target"))}
    )
    exact = table.set_column(2, "weight", pa.array(rng.random(m)))
    pc.write_csv(table.drop(["weight"]), folder / "ids.csv")
    pc.write_csv(table, folder / "weights.csv")
    pc.write_csv(exact, folder / "exact.csv")
    pc.write_csv(words, folder / "names.csv")
    pc.write_csv(words.slice(0, named // 7), folder / "fewer_names.csv")
    pq.write_table(table, folder / "ids.parquet")
    pq.write_table(words, folder / "names.parquet")
    np.savez(folder / "edges.npz", **{name: table[name].to_numpy() for name in table.column_names})
    with open(folder / "ids.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in table.slice(0, named).to_pylist())
    graph = Graph.from_edges(ends)
    sio.mmwrite(folder / "matrix.mtx", graph.weights, symmetry="symmetric")
    sp.save_npz(folder / "scipy.npz", graph.weights, compressed=False)
    graph.save(folder / "saved.npz")
    np.save(folder / "ends.npy", ends)
    return {
        f"csv, integer ids ({m:,})": folder / "ids.csv",
        f"csv, integer ids and weights of 4 digits ({m:,})": folder / "weights.csv",
        f"csv, integer ids and weights of 17 digits ({m:,})": folder / "exact.csv",
        f"csv, text ids ({named:,})": folder / "names.csv",
        f"csv, text ids ({named // 7:,})": folder / "fewer_names.csv",
        f"csv, text ids ({named // 7:,}){LINE_BY_LINE}": folder / "fewer_names.csv",
        f"jsonl, integer ids and weights ({named:,})": folder / "ids.jsonl",
        f"parquet, integer ids and weights ({m:,})": folder / "ids.parquet",
        f"parquet, text ids ({named:,})": folder / "names.parquet",
        f"npz, arrays source, target, weight ({m:,})": folder / "edges.npz",
        f"mtx, symmetric ({m:,})": folder / "matrix.mtx",
        f"npz of scipy.sparse.save_npz ({m:,})": folder / "scipy.npz",
        f"npz of Graph.save ({m:,})": folder / "saved.npz",
        f"in memory: Graph.from_edges(array) ({m:,})": folder / "ends.npy",
        f"in memory: Graph(csr) ({m:,})": folder / "scipy.npz",
    }


def loaded(path: str, what: str) -> tuple[float, float, float, float]:
    """Return seconds, CPU seconds, peak megabytes above the start, and megabytes of the graph's arrays."""
    from askgraph import Graph, read_graph
    from askgraph.io import edge_lists, edge_parser, name_parser  # noqa: F401 - compiled before the clock runs

    from_memory = what.startswith("in memory")
    if what.endswith(LINE_BY_LINE):
        edge_lists.COMPILED_FILE_BYTES = sys.maxsize
    if from_memory:
        source = np.load(path) if path.endswith(".npy") else sp.load_npz(path)
    meter, started = Meter(), time.process_time()
    if from_memory:
        graph = Graph.from_edges(source) if path.endswith(".npy") else Graph(source)
    else:
        graph = read_graph(path)
    cpu, seconds, peak, W = time.process_time() - started, meter.seconds, meter.megabytes, graph.weights
    return seconds, cpu, peak, sum(part.nbytes for part in (W.data, W.indices, W.indptr)) / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000 if not SMOKE else 200)
    parser.add_argument("--edges", type=int, default=10_000_000 if not SMOKE else 1_000)
    parser.add_argument(
        "--named",
        type=int,
        default=2_000_000 if not SMOKE else 500,
        help="edges of the lists with text ids and of jsonl",
    )
    parser.add_argument("--only", default="", help="lines that have this word, such as text")
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    options = parser.parse_args()
    print(machine(), file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        files = write_all(Path(folder), options.nodes, options.edges, options.named)
        print(
            "| | seconds | CPU seconds | peak memory | the graph's arrays | peak / arrays |\n|---|---|---|---|---|---|"
        )
        for what, path in files.items():
            if options.only not in what:
                continue
            seconds, cpu, peak, final = in_own_process(loaded, str(path), what)
            print(
                f"| {what} | {seconds:.1f} | {cpu:.2f} | {peak:.0f} MB | {final:.0f} MB | {peak / final:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
