"""The PETSc engine over ranks: multigrid beside Jacobi, strong and weak scaling, memory per rank, traffic, and a projection.

    python benchmarks/petsc.py                    # all of it: some twenty minutes on two cores, which must be idle
    python benchmarks/petsc.py solve strong       # parts: read solve blocks strong weak traffic project
    python benchmarks/petsc.py blocks             # columns by eight beside those of iterative, in seconds of CPU
    python benchmarks/petsc.py project --json measured.json   # the projection again, from the figures that --json stored

Run it with a Python that has petsc4py, such as the one that `make test-petsc` makes: .venv-petsc/bin/python.
Graphs: uniform points in the unit cube, each joined to its 10 nearest, unit weights, in 8 shards; δ is the usual one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

K, SHARDS, REPEAT = 10, 8, 5
COLUMNS_AT_ONCE = 16  # two blocks of eight
COLUMNS = {
    "nodes": "{:,}", "ranks": "{}", "read": "{:.1f}", "setup": "{:.2f}", "jacobi": "{:.2f}", "jacobi_steps": "{}",
    "gamg": "{:.3f}", "gamg_steps": "{}", "exact": "{:.3f}", "probe": "{:.3f}", "ask": "{:.2f}", "tell": "{:.2f}",
    "resident": "{:.0f}", "peak": "{:.0f}", "rtol": "{:g}", "iterative": "{:.0f}", "blocks": "{:.0f}", "one by one": "{:.0f}",
    "blocks over iterative": "{:.2f}", "read_cpu": "{:.2f}", "cut": "{:,}",
}  # fmt: skip
UNITS = dict.fromkeys(("read", "read_cpu", "setup", "jacobi", "gamg", "exact", "probe", "ask", "tell"), "s") | {
    "resident": "MB a rank", "peak": "MB a rank", "iterative": "ms", "blocks": "ms", "one by one": "ms",
}  # fmt: skip


def write_shards(folder: Path, n: int) -> None:
    """Write the edges of a nearest-neighbor graph to files, each edge in one direction."""
    from scipy.spatial import cKDTree

    points = np.random.default_rng(0).random((n, 3), dtype=np.float32)
    near = cKDTree(points).query(points, K + 1, workers=-1)[1][:, 1:]
    ends = np.column_stack([np.repeat(np.arange(n), K), near.ravel()])
    ends.sort(axis=1)
    ends = np.unique(ends, axis=0)
    folder.mkdir(parents=True)
    for k, part in enumerate(np.array_split(np.random.default_rng(1).permutation(len(ends)), SHARDS)):
        np.savez(folder / f"{k}.npz", source=ends[part, 0].astype(np.int32), target=ends[part, 1].astype(np.int32))


def run(ranks: int, folder: Path, *parts: str) -> dict:
    """Run a job of this many ranks, and return its figures."""
    always = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    if ranks > (os.cpu_count() or 1):
        always["OMPI_MCA_mpi_yield_when_idle"] = "1"
    command = ["mpiexec", "-n", str(ranks), sys.executable, __file__, "--worker", str(folder), *parts]
    done = subprocess.run(command, env={**os.environ, **always}, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def work(folder: Path, parts: list[str]) -> None:
    """Measure one job."""
    import askgraph as ag
    from askgraph.distributed.ranks import world
    from askgraph.priors.petsc import Petsc
    from askgraph.priors.petsc_solver import petsc
    from askgraph.priors.precision import Precision

    ranks = world()
    found: dict = {"ranks": ranks.size}

    def clock(name: str, task, repeat: int = 1):
        times, made = [], None
        for _ in range(repeat):
            ranks.comm.Barrier()
            start = time.perf_counter()
            made = task()
            ranks.comm.Barrier()
            times.append(time.perf_counter() - start)
        found[name] = statistics.median(times)
        return made

    petsc()  # starts now, not while shards are read, where several ranks need it for the partition
    start = time.process_time()
    graph = clock("read", lambda: ag.read_shards(str(folder)))
    found["read_cpu"] = _most(ranks, time.process_time() - start)
    if "read" in parts:
        cut = int(ranks.sum(np.array(np.count_nonzero(graph.local.indices >= graph.n_rows)))) // 2
        if ranks.first:
            print(json.dumps({**found, "nodes": graph.n_nodes, "cut": cut}))
        return
    prior = Petsc(Precision.of(graph), probes=16)
    b = prior.space.put(prior.space.zeros(1), np.array([graph.n_nodes // 2]), 1.0)
    found["nodes"], found["edges"], found["halo"] = graph.n_nodes, graph.n_edges, _most(ranks, graph.beyond.size)
    found["matrix_entries"] = _most(ranks, graph.local.nnz)
    if "jacobi" in parts:
        jacobi = _forced(prior, "jacobi")
        clock("jacobi", lambda: jacobi.solve(b, 1e-6), 3)
        found["jacobi_steps"] = jacobi._chosen[0].getIterationNumber()
    before = _events(prior)
    clock("setup", prior.prepare)
    prior._ksp.solve(b, 1e-6)
    clock("gamg", lambda: prior._ksp.solve(b, 1e-6), REPEAT)
    found["chosen"], found["gamg_steps"] = prior._ksp.preconditioner, prior._ksp._chosen[0].getIterationNumber()
    found["traffic"] = _traffic(ranks, before, _events(prior), found["gamg_steps"] * (REPEAT + 1))
    if "question" in parts:
        clock("exact", lambda: prior._ksp.solve(b, 3e-9), REPEAT)
        learner = clock("probe", lambda: ag.Learner(graph, "tv", engine=prior, rng=0, classes=[0, 1, 2]))
        found["probe"] /= 16
        asked, told = [], []
        for _ in range(REPEAT):
            node = clock("ask", learner.ask)
            clock("tell", lambda: learner.tell(node, node % 3))  # noqa: B023 -- it is called at once
            asked.append(found["ask"])
            told.append(found["tell"])
        found["ask"], found["tell"] = statistics.median(asked[1:]), statistics.median(told[1:])
    found["resident"] = _most(ranks, _resident()) / 1e6
    found["peak"] = _most(ranks, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1e6
    if ranks.first:
        print(json.dumps(found))


def blocks(n: int) -> list[dict]:
    """Return milliseconds of CPU per column: of iterative, of petsc by blocks, and of petsc one by one, in this process."""
    import askgraph as ag
    from askgraph.priors import Iterative
    from askgraph.priors import petsc as engine
    from askgraph.priors.precision import Precision

    engine.BLOCKS_FROM = 0
    precision = Precision.of(ag.nearest_neighbors(np.random.default_rng(0).random((n, 3)), k=K))
    iterative, petsc = Iterative(precision, probes=16), engine.Petsc(precision, probes=16)
    b = np.random.default_rng(1).normal(size=(n, COLUMNS_AT_ONCE)).astype(np.float32)
    b -= b.mean(axis=0)
    rows_of_b = petsc.space.scatter(b)
    ways = {
        "iterative": lambda rtol: (iterative._solver.rough if rtol >= 1e-4 else iterative._solver.solve)(b, rtol),
        "blocks": lambda rtol: petsc._blocks.solve(rows_of_b, rtol),
        "one by one": lambda rtol: petsc._ksp.solve(rows_of_b, rtol),
    }
    rows = []
    for rtol in (1e-3, 1e-4, 3e-9):
        spent: dict = {name: [] for name in ways}
        for _ in range(REPEAT + 1):
            for name, solve in ways.items():
                start = time.process_time()
                solve(rtol)
                spent[name].append(1e3 * (time.process_time() - start) / COLUMNS_AT_ONCE)
        found = {name: statistics.median(times[1:]) for name, times in spent.items()}
        rows.append({"rtol": rtol, **found, "blocks over iterative": found["blocks"] / found["iterative"]})
    return rows


def _most(ranks, x: float) -> float:
    return float(ranks.max(np.array(float(x))))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _forced(prior, kind: str):
    """Return a solver with this preconditioner, whichever would be chosen."""
    from askgraph.priors.petsc_solver import Ksp

    ksp = Ksp(prior.graph, prior.diagonal, prior.precision.pinned)
    ksp.__dict__["_chosen"] = ksp._made(kind), kind
    return ksp


def _events(prior) -> dict:
    """Return what PETSc has counted so far in solves."""
    from petsc4py import PETSc

    if not PETSc.Log.isActive():
        PETSc.Log.begin()
    return dict(PETSc.Log.Event("KSPSolve").getPerfInfo())


def _traffic(ranks, before: dict, after: dict, steps: int) -> dict:
    """Return messages and bytes per step of conjugate gradients of the rank that sends most, and reductions over all ranks."""
    count = {name: after[name] - before[name] for name in ("numMessages", "messageLength", "numReductions", "flops")}
    return {
        "messages": _most(ranks, count["numMessages"]) / 2 / steps,
        "bytes": _most(ranks, count["messageLength"]) / 2 / steps,
        "reductions": _most(ranks, count["numReductions"]) / steps,
        "flops": _most(ranks, count["flops"]) / steps,
    }


def table(title: str, rows: list[dict], names: list[str]) -> None:
    print(f"\n{title}\n")
    print("| " + " | ".join(f"{name} ({UNITS[name]})" if name in UNITS else name for name in names) + " |")
    print("|" + "---:|" * len(names))
    for row in rows:
        print("| " + " | ".join(COLUMNS[name].format(row[name]) for name in names) + " |")


def traffic_table(rows: list[dict]) -> None:
    print("\nA step of conjugate gradients with multigrid, the busiest rank\n")
    print("| nodes | ranks | rows a rank | halo | messages sent | bytes sent | reductions |\n|" + "---:|" * 7)
    for row in rows:
        t = row["traffic"]
        size = f"{row['nodes']:,} | {row['ranks']} | {row['nodes'] // row['ranks']:,} | {row['halo']:,.0f}"
        print(f"| {size} | {t['messages']:.0f} | {t['bytes']:,.0f} | {t['reductions']:.1f} |")


CORES, BANDWIDTH, LATENCY = (
    32,
    3.1e9,
    10e-6,
)  # per machine: ranks, bytes/s and seconds per message of its network (25 Gbit/s)
NODES, EDGES, PROBES, STEPS = (
    10**8,
    10**9,
    256,
    14,
)  # the graph; probes and steps of a solve to 3e-9 as measured at 10^6
ROUGH, SHORT = 4, 8  # steps of a rough solve, and the number of rough solves per question


def project(every: list[dict]) -> None:
    """Project seconds and memory for 10^8 nodes and 10^9 edges from the figures of this run."""
    big = max((row for row in every if "ask" in row), key=lambda row: (row["nodes"], row["ranks"]))
    entry = big["gamg"] / big["gamg_steps"] / big["matrix_entries"]
    bare, full = (min(rows, key=lambda row: row["ranks"]) for rows in _by_question(every, big["nodes"]))
    small = min((row for row in every if row["nodes"] == big["nodes"]), key=lambda row: row["nodes"] / row["ranks"])
    matrix = (bare["resident"] - small["resident"]) / (big["nodes"] - big["nodes"] / small["ranks"]) * 1e6
    state = (full["resident"] - bare["resident"]) / big["nodes"] * 1e6 - 4 * 16
    surface = max(row["traffic"]["bytes"] / (row["nodes"] / row["ranks"]) ** (2 / 3) for row in every)
    most = {name: max(row["traffic"][name] for row in every) for name in ("messages", "reductions")}
    density = 2 * EDGES / NODES / (2 * big["edges"] / big["nodes"])
    node = matrix * density + state + 4 * PROBES
    print(
        f"\n{entry * 1e9:.1f} ns an entry and step; {matrix:.0f} bytes a node for graph and multigrid, so {matrix * density:.0f} at"
    )
    print(
        f"{density:.2f} times as many entries a node, {state:.0f} for the field, {4 * PROBES} for {PROBES} probes; a step sends"
    )
    print(
        f"{surface:.0f} bytes times rows^(2/3) in {most['messages']:.0f} messages, and reduces {most['reductions']:.1f} times\n"
    )
    print(
        "| machines | memory a machine | a step | of it network | a solve to 3e-9 | a question and its answer | probes, once |"
    )
    print("|" + "---:|" * 7)
    for machines in (16, 32, 64, 128, 256):
        ranks, rows = machines * CORES, NODES / machines
        work = entry * 2 * EDGES / ranks
        net = surface * rows ** (2 / 3) * density / BANDWIDTH
        net += LATENCY * (most["messages"] + most["reductions"] * np.log2(ranks))
        step, memory = work + net, node * rows / 1e9 + CORES * 0.11
        question = step * (STEPS + SHORT * ROUGH)
        cells = f"{memory:.0f} GB | {1e3 * step:.0f} ms | {net / step:.0%} | {step * STEPS:.2f} s | {question:.1f} s"
        print(f"| {machines} | {cells} | {step * PROBES * 7 / 60:.1f} min |")


def _by_question(every: list[dict], n: int) -> tuple[list[dict], list[dict]]:
    same = [row for row in every if row["nodes"] == n]
    return [row for row in same if "ask" not in row], [row for row in same if "ask" in row]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["read", "solve", "blocks", "strong", "weak", "traffic", "project"])
    parser.add_argument("--worker", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path, help="where to keep all that was measured")
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    chosen = parser.parse_args()
    if chosen.smoke:
        chosen.parts = ["solve", "blocks"]
    if chosen.worker:
        work(chosen.worker, chosen.parts)
        return
    every = []
    with tempfile.TemporaryDirectory() as folder:

        def measured(n: int, ranks: int, *parts: str) -> dict:
            if not (Path(folder) / str(n)).exists():
                write_shards(Path(folder) / str(n), n)
            every.append(run(ranks, Path(folder) / str(n), *parts))
            print(json.dumps(every[-1]), file=sys.stderr, flush=True)
            return every[-1]

        if "read" in chosen.parts:
            n = 200_000
            rows = [measured(n, ranks, "read") for ranks in (1, 2)]
            table(f"Reading shards of {n:,} nodes, CPU of the busiest rank", rows, ["ranks", "read", "read_cpu", "cut"])
        if "solve" in chosen.parts:
            n = 200_000 if not chosen.smoke else 2_000
            rows = [measured(n, ranks, "jacobi") for ranks in (1, 2)]
            table(
                f"A solve at 1e-6, {n:,} nodes",
                rows,
                ["ranks", "setup", "gamg", "gamg_steps", "jacobi", "jacobi_steps"],
            )
        if "blocks" in chosen.parts:
            n = 100_000 if not chosen.smoke else 2_000
            rows = blocks(n)
            table(f"CPU per column, {COLUMNS_AT_ONCE} columns, one process, {n:,} nodes", rows, list(rows[0]))
        if "strong" in chosen.parts:
            rows = [measured(chosen.nodes, ranks, "question") for ranks in (1, 2)]
            names = [
                "ranks",
                "read",
                "setup",
                "gamg",
                "gamg_steps",
                "exact",
                "probe",
                "ask",
                "tell",
                "resident",
                "peak",
            ]
            table(f"Strong scaling, {chosen.nodes:,} nodes", rows, names)
            ratios = ", ".join(
                f"{name} {rows[0][name] / rows[1][name]:.2f}" for name in names[1:] if name != "gamg_steps"
            )
            print(f"\nOne rank over two: {ratios}")
            rows = [measured(chosen.nodes, ranks) for ranks in (1, 2, 4, 8)]
            table("Memory a rank (more ranks than cores)", rows, ["ranks", "resident", "peak"])
        if "weak" in chosen.parts:
            rows = [measured(chosen.nodes // 2 * ranks, ranks, "question") for ranks in (1, 2)]
            table(
                "Weak scaling",
                rows,
                ["nodes", "ranks", "setup", "gamg", "gamg_steps", "exact", "probe", "ask", "tell", "resident"],
            )
        if "traffic" in chosen.parts:
            sizes = [(n, ranks) for n in (100_000, 200_000, 400_000) for ranks in (2, 4, 8, 16)]
            traffic_table([measured(n, ranks) for n, ranks in sizes])
    if chosen.json and every:
        chosen.json.write_text(json.dumps(every, indent=1))
    if "project" in chosen.parts:
        project(every or json.loads(chosen.json.read_text()))


if __name__ == "__main__":
    main()
