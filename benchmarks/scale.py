"""Large graphs: seconds, memory and the quality of questions, five kinds of graphs at three sizes, each in its own process.

python benchmarks/scale.py [--kinds 3-d,road] [--sizes 10000,100000] [--utilities tv,msd,influence] [--graph FILE]
                           [--against OTHER/src] [--no-quality]
Records go to --output (a case that is there is not run again), graphs to --cache, a plot to --plot; tables are printed. A
million nodes take about twenty minutes, most of them for the quality; building the graphs comes on top, once. With --against,
the source of another version runs each case in turns with this one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from measure import SMOKE, Meter, in_own_process, machine, write_csv

QUESTIONS, AHEAD = (20, 3) if not SMOKE else (2, 1)  # next questions timed, and how many of them after prefetch
EXACT, LATE = (
    1_024,
    3,
)  # candidates solved for to judge a question; questions judged from LARGEST nodes on, after the others
LARGEST = 500_000
HOW = {"first": "utility", "classes": [0, 1], "delta": 0.005}
DIMENSIONS = {"3-d": 3, "16-d": 16}


def community_sizes(n, rng):
    """Return community sizes between 20 and n/20 nodes, by a power law of exponent 1.5."""
    low, high, sizes = 20**-0.5, max(100, n // 20) ** -0.5, []
    while sum(sizes) < n:
        sizes.append(int((low + rng.random() * (high - low)) ** -2))
    sizes[-1] -= sum(sizes) - n
    return [size for size in sizes if size > 0]


def roads(n, rng):
    """Return the largest component of a grid without 35 % of its edges."""
    import askgraph as ag

    side = round(n**0.5)
    at = np.arange(side * side).reshape(side, side)
    edges = np.vstack([np.c_[at[:, :-1].ravel(), at[:, 1:].ravel()], np.c_[at[:-1].ravel(), at[1:].ravel()]])
    return ag.Graph(
        ag.Graph.from_edges(edges[rng.random(len(edges)) > 0.35], nodes=side * side).largest_component().weights
    )


def built(kind, n):
    import askgraph as ag

    rng = np.random.default_rng(0)
    if kind == "power law":
        return ag.power_law(n, 5, rng=0)
    if kind == "road":
        return roads(n, rng)
    if kind == "community":
        return ag.communities(community_sizes(n, rng), mixing=0.1, mean_degree=10, rng=0)[0]
    X = rng.random((n, 3)) if kind == "3-d" else rng.normal(size=(n, DIMENSIONS[kind]))
    return ag.nearest_neighbors(X, k=10, bandwidth=None)


def build_into(path, kind, n):
    start = time.perf_counter()
    built(kind, n).save(path)
    return time.perf_counter() - start


def labels_of(graph):
    """Return two classes that follow the graph: the sign of noise smoothed over it."""
    W, x = graph.weights, np.random.default_rng(3).standard_normal(graph.n_nodes)
    degrees = np.maximum(graph.degrees, 1e-300)
    for _ in range(50):
        x = (W @ x) / degrees
        x -= x.mean()
    return (x > np.median(x)).astype(int)


def warm(graph, utility, engine):
    """Compile the kernels of this case, on a small graph with the same engine."""
    import askgraph as ag

    small = ag.Graph(graph.weights) if graph.n_nodes <= 20_000 else None
    small = small or ag.nearest_neighbors(np.random.default_rng(0).random((5_000, 3)), k=10, bandwidth=None)
    learner = ag.Learner(small, utility, rng=0, engine=engine, **HOW)
    for _ in range(2):
        learner.tell(learner.ask(), 0)


def case(path, utility, engine, largest, source=None):
    """Measure one kind of graph, one size and one utility, by the source of another version where one is given."""
    if source is not None:
        sys.path.insert(0, str(source))
    import askgraph as ag
    from askgraph.linalg import blocked_cg
    from askgraph.priors import choice
    from askgraph.priors.precision import Precision

    graph, asked = ag.Graph.load(path), engine
    engine = choice(Precision.of(graph, 0.005), engine)[0].name
    usual = {name: getattr(blocked_cg, name) for name in ("SPLIT_FROM", "WIDE_FROM") if hasattr(blocked_cg, name)}
    for sizes in (dict.fromkeys(usual, 0), usual):
        for name, size in sizes.items():
            setattr(blocked_cg, name, size)
        warm(graph, utility, engine)
    labels = labels_of(graph)
    del graph
    meter = Meter()
    graph = ag.Graph.load(path)
    loaded, spent = meter.seconds, time.process_time()
    learner = ag.Learner(graph, utility, rng=0, engine=asked, **HOW)
    setup = meter.seconds - loaded
    node = learner.ask()
    first, times = meter.seconds - loaded, []
    first_cpu, spent = time.process_time() - spent, time.process_time()
    for _ in range(QUESTIONS):
        start = time.perf_counter()
        learner.tell(node, int(labels[node]))
        node = learner.ask()
        times.append(time.perf_counter() - start)
    next_cpu = (time.process_time() - spent) / QUESTIONS
    memory, ahead = meter.megabytes, []
    for _ in range(AHEAD):
        learner.prefetch()
        learner._state.prefetch.wait()
        start = time.perf_counter()
        learner.tell(node, int(labels[node]))
        node = learner.ask()
        ahead.append(time.perf_counter() - start)
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "engine": learner.engine,
        "load": loaded,
        "setup": setup,
        "first": first,
        "next": times,
        "first_cpu": first_cpu,
        "next_cpu": next_cpu,
        "ahead": ahead,
        "megabytes": memory,
        **solving(learner.field.prior),
        "quality": qualities(learner, labels, largest) if largest else [float("nan")],
    }


def solving(prior):
    """Return solves per second, and bytes per second in the step that moves most."""
    n = prior.n_nodes
    if prior.name == "direct":
        b = np.random.default_rng(0).random(n)
        seconds = best(lambda: prior.factor.solve(b))
        moved = 2 * prior.factor.nbytes + 6 * 8 * n
        return {"solves": 1 / seconds, "bandwidth": moved / seconds / 1e9}
    if prior.name != "iterative":
        return {"solves": None, "bandwidth": None}
    nodes = np.random.default_rng(0).choice(n, 16, replace=False)
    seconds = best(lambda: prior._solver.diagonal(nodes, 1e-2))
    return {"solves": 16 / seconds, "bandwidth": iterating(prior._solver)}


def iterating(solver):
    """Return the GB per second of ten steps of two blocks: the matrix, and 11 passes over vectors of float32."""
    from askgraph.linalg import cg_kernels as kernels

    system, width = solver._system, solver.width
    (rows, coarse), n = system._narrow, len(system._place)
    noise = np.random.default_rng(0).standard_normal((n, width)).astype(np.float32)

    def steps(_):
        kernels.iterate((0,) * width, rows, coarse, system._work(noise.copy(), coarse), np.zeros(width), 10)

    with ThreadPoolExecutor(2) as pool:
        seconds = best(lambda: list(pool.map(steps, range(2))))
    moved = 2 * 10 * (8 * int(rows.first[-1]) + 11 * 4 * width * n)
    return moved / seconds / 1e9


def best(function, times=3):
    runs = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        runs.append(time.perf_counter() - start)
    return min(runs)


def stream():
    """Return the GB per second of a = b + c over both cores: the most that memory allows."""
    size = 40_000_000 if not SMOKE else 40_000
    arrays = [np.ones(size // 2) for _ in range(6)]

    def add(k):
        a, b, c = arrays[3 * k : 3 * k + 3]
        np.add(b, c, out=a)

    with ThreadPoolExecutor(2) as pool:
        return 3 * 8 * size / best(lambda: list(pool.map(add, range(2))), 5) / 1e9


def qualities(learner, labels, largest):
    """Return U(chosen) / max U, with the maximum over all nodes up to 20,000, else over the best EXACT by estimate, all solved."""
    import askgraph as ag

    if learner.field.prior.exact:
        return [1.0]
    n, found = learner.graph.n_nodes, []
    if n < largest:  # from the first question on
        engine, utility = learner.field.origin, learner.plan.sampler.by
        learner = ag.Learner(learner.graph, utility, rng=0, engine=engine, **HOW)
    judge = learner.field
    for _ in range(QUESTIONS if n < largest else LATE):
        node = learner.ask()
        late = EXACT // 4 if learner.plan.squares else EXACT  # columns that are kept cost more
        judge = solved(judge, learner.plan.sampler, node, n if n <= 20_000 else EXACT if n < largest else late)
        nodes = np.flatnonzero(judge.spread.known & ~judge.labeled)
        true = learner.plan.sampler.score(judge, nodes)
        found.append(float(true[nodes == node][0] / true.max()))
        learner.tell(node, int(labels[node]))
        judge = judge.observe(node, int(labels[node]))
    return found


def solved(field, sampler, node, count):
    """Return the field with the best ``count`` nodes and this one solved; what was solved before stays so."""
    nodes = np.flatnonzero(~field.labeled)
    best = nodes[np.argsort(-sampler.score(field, nodes))[:count]]
    step = 128 if len(field.votes) < LARGEST else 16
    for at in range(0, len(best), step):
        field = field.sharpen(best[at : at + step])
    return field.sharpen(np.array([node]))


HEADS = (
    "graph | nodes | sampler | engine | set-up | first question | next: median (max) | after prefetch | peak memory | "
    "quality: median (min) | solves/s | GB/s (share of stream)"
)


def table(records, bandwidth):
    print(f"\nStream bandwidth, both cores: {bandwidth:.1f} GB/s. Memory is the peak above imports, graph included.\n")
    print(f"| {HEADS} |\n|{'---|' * 12}")
    for r in sorted(records, key=lambda r: (r["kind"], r["nodes"], r["utility"])):
        exact = r["engine"].startswith(("direct", "dense"))
        quality = "exact" if exact else f"{statistics.median(r['quality']):.3f} ({min(r['quality']):.3f})"
        moved = f"{r['bandwidth']:.1f} ({r['bandwidth'] / bandwidth:.0%})" if r["bandwidth"] else ""
        cells = [
            r["kind"],
            f"{r['nodes']:,}",
            r["utility"],
            r["engine"].partition(":")[0],
            f"{r['setup']:.2f} s",
            f"{r['first']:.2f} s",
            f"{statistics.median(r['next']):.3f} ({max(r['next']):.3f}) s",
            f"{statistics.median(r['ahead']):.4f} s",
            f"{r['megabytes'] / 1e3:.2f} GB",
            quality,
            f"{r['solves']:,.0f}" if r["solves"] else "",
            moved,
        ]
        print(f"| {' | '.join(cells)} |")


NAMES = {
    "16-d": "neighbors in 16 dimensions",
    "3-d": "neighbors in 3 dimensions",
    "community": "communities",
    "road": "road-like",
}
COLUMNS = (
    *("graph", "nodes", "sampler", "engine", "set-up (s)", "first question (s)", "next (s)", "slowest of 20 (s)"),
    *("after prefetch (s)", "memory (GB)", "quality", "worst", "solves per s", "GB/s"),
)
SHOWN = (*COLUMNS[:4], *COLUMNS[5:7], *COLUMNS[8:12])  # what fits on a page


def write_tables(records, folder):
    """Write what docs/measured/large.md shows, and all columns beside it."""
    rows = []
    for r in sorted(records, key=lambda r: (r["kind"], r["nodes"], r["utility"])):
        exact = r["engine"].startswith(("direct", "dense"))
        quality = ("exact",) * 2 if exact else (f"{statistics.median(r['quality']):.3f}", f"{min(r['quality']):.3f}")
        cells = (
            *(NAMES.get(r["kind"], r["kind"]), r["nodes"], r["utility"], r["engine"].partition(":")[0]),
            *(f"{seconds:.2f}" for seconds in (r["setup"], r["first"])),
            *(f"{seconds:.3f}" for seconds in (statistics.median(r["next"]), max(r["next"]))),
            *(f"{statistics.median(r['ahead']):.4f}", f"{r['megabytes'] / 1e3:.2f}", *quality),
            f"{r['solves']:.0f}" if r["solves"] else "",
            f"{r['bandwidth']:.1f}" if r["bandwidth"] else "",
        )
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    write_csv(folder / "scale.csv", COLUMNS, [tuple(row.values()) for row in rows])
    write_csv(folder / "scale_questions.csv", SHOWN, [[row[column] for column in SHOWN] for row in rows])


def exponents(records):
    """Return the exponent of the growth with n: the slope of a line through the logarithms."""
    print("\n| graph | sampler | set-up | next question | memory |\n|---|---|---|---|---|")
    for kind, utility in dict.fromkeys((r["kind"], r["utility"]) for r in records):
        mine = [r for r in records if (r["kind"], r["utility"]) == (kind, utility)]
        if len({r["nodes"] for r in mine}) < 2:
            continue
        n = np.log([r["nodes"] for r in mine])
        slopes = [
            np.polyfit(n, np.log([value(r) for r in mine]), 1)[0]
            for value in (lambda r: r["setup"], lambda r: statistics.median(r["next"]), lambda r: r["megabytes"])
        ]
        print(f"| {kind} | {utility} | " + " | ".join(f"n^{slope:.2f}" for slope in slopes) + " |")


def plot(records, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    kinds = list(dict.fromkeys(r["kind"] for r in records))
    looks = dict(
        zip(kinds, ["o-#0072B2", "s-#D55E00", "^-#009E73", "D-#CC79A7", "v-#E69F00", "*-#000000"], strict=False)
    )
    panels = {
        "first question, s": lambda r: r["first"],
        "next question, s": lambda r: statistics.median(r["next"]),
        "peak memory, GB": lambda r: r["megabytes"] / 1e3,
    }
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), constrained_layout=True)
    for axis, (title, value) in zip(axes, panels.items(), strict=True):
        for kind in kinds:
            mine = sorted((r for r in records if (r["kind"], r["utility"]) == (kind, "tv")), key=lambda r: r["nodes"])
            marker, color = looks[kind].split("-")
            axis.loglog([r["nodes"] for r in mine], [value(r) for r in mine], marker=marker, color=color, label=kind)
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_xlabel("nodes")
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def versions(kind, against):
    """Return what a case is called, and the source it runs from: None for this one."""
    return [(kind, None)] if against is None else [(f"{kind}, before", against.absolute()), (kind, None)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="3-d,16-d,power law,road,community" if not SMOKE else "3-d,road")
    parser.add_argument("--sizes", default="10000,100000,1000000" if not SMOKE else "1600")
    parser.add_argument("--utilities", default="tv,msd,influence" if not SMOKE else "tv")
    parser.add_argument("--engine", default="auto" if not SMOKE else "iterative", help="auto, direct or iterative")
    parser.add_argument("--graph", help="a graph of your own, in any format that askgraph reads")
    parser.add_argument("--cache", type=Path, default=Path("scale-graphs"))
    parser.add_argument("--output", type=Path, default=Path("scale.jsonl"))
    parser.add_argument("--plot", type=Path)
    parser.add_argument(
        "--csv", type=Path, default=Path() if SMOKE else None, help="a folder for the tables of the site"
    )
    parser.add_argument("--against", type=Path, help="the source of another version, to run in turns with this one")
    parser.add_argument("--no-quality", action="store_true", help="times and memory only")
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    options = parser.parse_args()
    largest = 0 if options.no_quality else LARGEST
    options.cache.mkdir(parents=True, exist_ok=True)
    print(f"Machine: {machine()}.", flush=True)
    done = [json.loads(line) for line in options.output.read_text().splitlines()] if options.output.exists() else []
    sizes = [int(size) for size in options.sizes.split(",")]
    wanted = (
        [(kind, n) for n in sizes for kind in options.kinds.split(",")] if not options.graph else [(options.graph, 0)]
    )
    for kind, n in wanted:
        path = options.cache / f"{Path(kind).stem.replace(' ', '-')}-{n}.npz"
        if not path.exists():
            seconds = in_own_process(convert if options.graph else build_into, path, kind, n)
            print(f"{kind}, {n:,} nodes: built in {seconds:.0f} s", flush=True)
        for utility, (name, source) in product(options.utilities.split(","), versions(kind, options.against)):
            if not any(
                (r["kind"], r["size"], r["utility"], r["asked"]) == (name, n, utility, options.engine) for r in done
            ):
                found = in_own_process(case, path, utility, options.engine, largest, source)
                done.append({"kind": name, "size": n, "utility": utility, "asked": options.engine, **found})
                with options.output.open("a") as file:
                    file.write(json.dumps(done[-1]) + "\n")
                cpu = f"CPU s: first {found['first_cpu']:.1f}, next {found['next_cpu']:.3f}"
                print(f"{name}, {n:,}, {utility}: next {statistics.median(found['next']):.3f} s; {cpu}", flush=True)
    table(done, in_own_process(stream))
    exponents(done)
    if options.csv:
        write_tables(done, options.csv)
    if options.plot:
        plot(done, options.plot)


def convert(path, source, _):
    import askgraph as ag

    start = time.perf_counter()
    ag.read_graph(source, symmetrize="max").save(path)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
